package cli

import "testing"

// TestCheckSequence: except on Windows the number would be ignored silently.
func TestCheckSequence(t *testing.T) {
	for _, test := range []struct {
		system string
		number uint64
		want   int
	}{
		{"windows", 7, exitOK}, {"windows", 0, exitUsage}, {"linux", 7, exitUnsupported}, {"darwin", 7, exitUnsupported}, {"linux", 0, exitUnsupported},
	} {
		got := exitOK
		if err := checkSequence(test.system, test.number); err != nil {
			got = exitCode(err)
		}
		if got != test.want {
			t.Errorf("%s, %d: exit code %d, want %d", test.system, test.number, got, test.want)
		}
	}
}
