//go:build linux

package main

import (
	"fmt"
	"math"
	"slices"
)

// minRounds is how many rounds it takes to say anything at the confidence that is wanted.
const (
	minRounds  = 6
	confidence = 0.95
)

// change says by how many per cent a figure differs from that without gclog in the same
// round: the median of the rounds, and where the true one is at a confidence of 95 %.
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

// interval returns the median of at least minRounds values, and its confidence interval:
// each value is above the true median as likely as below it, so that the number of those
// below has a binomial distribution. Nothing else is taken for granted; a round that
// something else has disturbed counts like any other.
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
