//go:build linux

package main

import "testing"

// TestInterval: the ranks are those of the tables for the sign test.
func TestInterval(t *testing.T) {
	for n, below := range map[int]int{6: 0, 8: 0, 9: 1, 10: 1, 12: 2, 15: 3, 20: 5, 25: 7, 50: 17} {
		var values []float64
		for i := range n {
			values = append(values, float64(n-1-i))
		}
		low, median, high := interval(values)
		if low != float64(below) || median != float64(n-1)/2 || high != float64(n-1-below) {
			t.Errorf("%d values: %v to %v around %v, want %d values below", n, low, high, median, below)
		}
	}
}

// TestChange: a difference that is present in every round is found however the rounds vary, and a
// disturbed round changes little.
func TestChange(t *testing.T) {
	var rounds []map[string]window
	for i := range 12 {
		speed := 1e9 * float64(1+i%3)
		rounds = append(rounds, map[string]window{
			"":     {seconds: 1, allocated: speed},
			"full": {seconds: 1, allocated: speed * 0.97},
		})
	}
	rounds[4]["full"] = window{seconds: 1, allocated: 1}
	if got, want := change(rounds, "full", window.throughput), "-3.0 (-3.0 to -3.0) %"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got := change(rounds, "full", window.meanPause); got != "-" {
		t.Errorf("no pauses: %s", got)
	}
}
