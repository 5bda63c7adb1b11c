package cli

import (
	"encoding/json"
	"math"
	"testing"
)

// TestValueJSON: a number that JSON cannot represent does not invalidate the document.
func TestValueJSON(t *testing.T) {
	for _, unit := range []string{"ns", "bytes", "bytes/s", "1/min", "%", "%/h", ""} {
		for _, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), math.MaxFloat64, -math.MaxFloat64, 0} {
			x := valueJSON(v, unit)
			if _, err := json.Marshal(x); err != nil {
				t.Errorf("%v in %q: %v", v, unit, err)
			}
			_, isUnknown := x["unknown"]
			if finite := math.Abs(v) <= math.MaxFloat64; isUnknown == finite {
				t.Errorf("%v in %q is %v", v, unit, x)
			}
		}
	}
}
