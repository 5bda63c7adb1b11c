package analysis

import (
	"math"
	"testing"
)

// TestStudentQuantile compares quantiles with those of printed tables.
func TestStudentQuantile(t *testing.T) {
	for _, test := range []struct{ above, freedom, want float64 }{
		{0.025, 1e9, 1.95996}, {0.025, 30, 2.04227}, {0.025, 10, 2.22814}, {0.005, 7, 3.49948}, {0.001, 23, 3.48496}, {0.0005, 10, 4.58689},
	} {
		if got := studentQuantile(test.above, test.freedom); math.Abs(got-test.want) > 0.002*test.want {
			t.Errorf("the quantile of %v with %v degrees of freedom is %v, want %v", test.above, test.freedom, got, test.want)
		}
	}
}

// TestPoisson compares limits with those of printed tables (Garwood).
func TestPoisson(t *testing.T) {
	for _, test := range []struct{ events, low, high float64 }{{5, 1.62349, 11.6683}, {10, 4.79539, 18.3904}, {0, 0, 3.68888}} {
		below, above := poisson(test.events, 0.025)
		low, high := max(test.events, leastEvent)*math.Exp(-below), max(test.events, leastEvent)*math.Exp(above)
		if math.Abs(low-test.low) > 0.05 || math.Abs(high-test.high) > 0.05 {
			t.Errorf("%v events: %v to %v, want %v to %v", test.events, low, high, test.low, test.high)
		}
	}
}
