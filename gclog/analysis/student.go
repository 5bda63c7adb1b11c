package analysis

import "math"

// normalQuantile returns the value that a standard normal variable exceeds with a probability.
func normalQuantile(above float64) float64 { return math.Sqrt2 * math.Erfcinv(2*above) }

// studentQuantile is the same for Student's t with so many degrees of freedom, at least 3. It is
// the expansion of Cornish and Fisher (Abramowitz and Stegun 26.7.5).
func studentQuantile(above, freedom float64) float64 {
	z := normalQuantile(above)
	z2 := z * z
	terms := [...]float64{
		(z2 + 1) / 4,
		((5*z2+16)*z2 + 3) / 96,
		(((3*z2+19)*z2+17)*z2 - 15) / 384,
		((((79*z2+776)*z2+1482)*z2-1920)*z2 - 945) / 92160,
	}
	sum, power := 1.0, 1.0
	for _, t := range terms {
		power /= freedom
		sum += t * power
	}
	return z * sum
}

// poisson returns how far the logarithm of a number of independent events may be from that of the
// number to be expected, with a probability of tail at each end (Byar's approximation). None count
// as leastEvent.
func poisson(events, tail float64) (below, above float64) {
	z := normalQuantile(tail)
	limit := func(n, z float64) float64 { return n * math.Pow(max(0, 1-1/(9*n)+z/(3*math.Sqrt(n))), 3) }
	n := max(events, leastEvent)
	return math.Log(n / max(limit(n, -z), 0.01)), math.Log(limit(events+1, z) / n)
}

// welch returns the quantile of Student's t for the difference of two values with a standard deviation
// and so many degrees of freedom each (Welch 1947).
func welch(above float64, a, freedomA, b, freedomB float64) float64 {
	if a == 0 && b == 0 {
		return 0
	}
	freedom := (a*a + b*b) * (a*a + b*b) / (a*a*a*a/freedomA + b*b*b*b/freedomB)
	return studentQuantile(above, freedom)
}

// wilson returns the limits of a share of p between which the true one is, if they would be p-far and
// p+far by the standard deviation at p (Wilson 1927): they are never beyond 0 and 1.
func wilson(p, far float64) (low, high float64) {
	x := far * far / (p * (1 - p)) // the square of the quantile, divided by the number of independent values
	half := math.Sqrt(far*far + x*x/4)
	return (p + x/2 - half) / (1 + x), (p + x/2 + half) / (1 + x)
}
