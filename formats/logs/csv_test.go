package logs_test

import (
	"bytes"
	"regexp"
	"testing"
)

// startTime is the date of a row. Its microseconds are cut off and those of
// StartRelativeMSec rounded: read back, the last digit may be another one.
var startTime = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z`)

// TestCSVAgain: what is read back and written again is the same log.
func TestCSVAgain(t *testing.T) {
	forEach(t, func(t *testing.T, stream []byte) {
		text, _ := record(t, stream, "csv", nil)
		if text == nil {
			t.Skip("no records")
		}
		again, _, skipped := read(t, text)
		if skipped.Count != 0 {
			t.Errorf("lines %v were skipped", skipped.Lines)
		}
		sameLines(t, startTime.ReplaceAll(text, nil), startTime.ReplaceAll(again, nil))
		if bytes.Count(text, []byte{'\n'}) > 1 && !bytes.Equal(startTime.Find(text)[:23], startTime.Find(again)[:23]) {
			t.Errorf("the first time is %s, want %s", startTime.Find(again), startTime.Find(text))
		}
	})
}
