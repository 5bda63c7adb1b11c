package analysis

import (
	"math"
)

// LeastRuns is how many runs CompareValues takes of each group.
const LeastRuns = 3

// CompareValues compares a number that each run has one of, such as its CPU time, in two groups of
// runs. Less is better unless more is true. A and B are geometric means. The interval contains the
// true change with a probability of 95 %, together with those of as many other comparisons as of
// says, including this one. The values must be greater than 0.
func CompareValues(a, b []float64, of int, more bool) Difference {
	d := Difference{A: geometricMean(a), B: geometricMean(b)}
	for _, values := range [...][]float64{a, b} {
		if n := len(values); n < LeastRuns && d.Why == "" {
			d.Why = needs(LeastRuns, "run", uint64(n))
		}
	}
	if d.Why != "" {
		d.Change, d.Low, d.High = unknown(d.Why), unknown(d.Why), unknown(d.Why)
		return d
	}
	from, squaresA := logMean(a)
	to, squaresB := logMean(b)
	freedom := float64(len(a) + len(b) - 2)
	deviation := math.Sqrt((squaresA + squaresB) / freedom * (1/float64(len(a)) + 1/float64(len(b))))
	tail := (1 - Confidence/100.0) / 2 / float64(of)
	far := max(leastFarOfRuns, studentQuantile(tail, freedom)*deviation)
	d.judge(to-from, far, far)
	if more && d.Verdict >= Better {
		d.Verdict = Better + Worse - d.Verdict
	}
	return d
}

// geometricMean returns the geometric mean, unknown if there are no values.
func geometricMean(values []float64) Number {
	if len(values) == 0 {
		return unknown("no run has it")
	}
	mean, _ := logMean(values)
	return known(math.Exp(mean))
}

// logMean returns the mean of the logarithms, and the sum of their squared deviations from it.
func logMean(values []float64) (mean, squares float64) {
	for _, v := range values {
		mean += math.Log(v) / float64(len(values))
	}
	for _, v := range values {
		squares += (math.Log(v) - mean) * (math.Log(v) - mean)
	}
	return mean, squares
}
