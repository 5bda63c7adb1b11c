package outfile_test

import (
	"strings"
	"testing"
	"time"

	"github.com/gclog/gclog/internal/cli/outfile"
)

// TestRecordingName: whatever a program is called, its recording is a file in the current folder, and no option.
func TestRecordingName(t *testing.T) {
	for _, program := range []string{"app", "../app", "-rf", "a\nb", "%n"} {
		name := outfile.RecordingName(program, time.Time{})
		if strings.ContainsAny(name, "/\\\n%") || strings.HasPrefix(name, "-") {
			t.Errorf("%q: %q", program, name)
		}
	}
}
