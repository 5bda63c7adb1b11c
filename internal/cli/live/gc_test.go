package live

import (
	"testing"

	"github.com/gclog/gclog/internal/cli/exit"
)

// TestCheckSequence: except on Windows the number would be ignored silently.
func TestCheckSequence(t *testing.T) {
	for _, test := range []struct {
		system string
		number uint64
		want   int
	}{
		{"windows", 7, exit.OK}, {"windows", 0, exit.Usage}, {"linux", 7, exit.Unsupported}, {"darwin", 7, exit.Unsupported}, {"linux", 0, exit.Unsupported},
	} {
		got := exit.OK
		if err := checkSequence(test.system, test.number); err != nil {
			got = exit.Code(err)
		}
		if got != test.want {
			t.Errorf("%s, %d: exit code %d, want %d", test.system, test.number, got, test.want)
		}
	}
}
