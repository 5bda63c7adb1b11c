package known

import (
	"fmt"
	"testing"
)

// recorder counts the errors of a test.
type recorder struct {
	testing.TB
	errors []string
}

func (r *recorder) Helper()             {}
func (r *recorder) Logf(string, ...any) {}

func (r *recorder) Errorf(format string, args ...any) {
	r.errors = append(r.errors, fmt.Sprintf(format, args...))
}

func TestCheck(t *testing.T) {
	known := Failures{"a #1": "off by one"}
	for _, test := range []struct {
		what, failure string
		errors        int
	}{
		{"a #1", "is 2", 0},
		{"a #1", "", 1}, // a known failure that passes
		{"a #2", "is 2", 1},
		{"a #2", "", 0},
	} {
		r := &recorder{TB: t}
		known.Check(r, test.what, test.failure)
		if len(r.errors) != test.errors {
			t.Errorf("%q fails with %q: errors %q, want %d", test.what, test.failure, r.errors, test.errors)
		}
	}
}
