//go:build linux

package main

import (
	"fmt"
	"math"
	"slices"
)

// minRounds is the lowest number of rounds that gives an interval at the required confidence.
const (
	minRounds  = 6
	confidence = 0.95
)

// change returns by how many per cent a figure differs from the figure without gclog in the same
// round: the median of the rounds, and its confidence interval at 95 %.
func change(rounds []map[string]window, level string, figure func(window) float64) string {
	var percent []float64
	for _, round := range rounds {
		percent = append(percent, 100*(figure(round[level])/figure(round[""])-1))
	}
	if slices.ContainsFunc(percent, math.IsNaN) {
		return "-"
	}
	low, median, high := interval(percent)
	return fmt.Sprintf("%+.1f (%+.1f to %+.1f) %%", median, low, high)
}

// interval returns the median of at least minRounds values, and its confidence interval: each value
// is as likely to be above the true median as below it, so the number of values below it has a
// binomial distribution. Nothing else is assumed; a disturbed round counts like any other.
func interval(values []float64) (low, median, high float64) {
	v := slices.Sorted(slices.Values(values))
	n := len(v)
	median = (v[(n-1)/2] + v[n/2]) / 2
	skip := -1
	for p, outside := math.Pow(0.5, float64(n)), 0.0; ; skip++ {
		outside += 2 * p
		if outside > 1-confidence {
			break
		}
		p *= float64(n-skip-1) / float64(skip+2)
	}
	return v[skip], median, v[n-1-skip]
}
