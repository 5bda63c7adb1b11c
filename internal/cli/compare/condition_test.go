package compare

import (
	"testing"

	"github.com/gclog/gclog/internal/condition"
)

// TestLimitTexts: the values that the line describes are those that pass.
func TestLimitTexts(t *testing.T) {
	says := map[string]func(a, b float64) bool{
		"":          func(a, b float64) bool { return a <= b },
		"below ":    func(a, b float64) bool { return a < b },
		"at least ": func(a, b float64) bool { return a >= b },
		"above ":    func(a, b float64) bool { return a > b },
		"not ":      func(a, b float64) bool { return a != b },
		"exactly ":  func(a, b float64) bool { return a == b },
	}
	for _, operator := range []string{">", ">=", "<", "<=", "==", "!="} {
		passes := says[limitTexts[operator]]
		for _, a := range []float64{1, 2, 3} {
			if passes(a, 2) == condition.Compare(a, operator, 2) {
				t.Errorf("%v%s2 is a failure and fits %q", a, operator, limitTexts[operator])
			}
		}
		delete(says, limitTexts[operator])
	}
	if len(says) > 0 {
		t.Errorf("nothing says %v", says)
	}
}
