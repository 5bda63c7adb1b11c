package program

import (
	"testing"

	"github.com/gclog/gclog/formats/screen"
	"github.com/gclog/gclog/gclog/analysis"
	"github.com/gclog/gclog/internal/view"
)

// TestClean: no character passes that a terminal interprets, or that changes the order in which
// text is shown.
func TestClean(t *testing.T) {
	for text, want := range map[string]string{
		"plain äöü ☃":         "plain äöü ☃",
		"two\nlines\tand":     "two\nlines\tand",
		"\x1b[2Jred\x07":      "\uFFFD[2Jred\uFFFD",
		"\u009b31m":           "\uFFFD31m",
		"a\u202egnp.exe":      "a\uFFFDgnp.exe",
		"\u2066x\u2069\u200f": "\uFFFDx\uFFFD\uFFFD",
	} {
		if got := view.Clean(text); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}

// TestLongPause: a pause is red from the threshold of the finding about long pauses.
func TestLongPause(t *testing.T) {
	for _, r := range analysis.Rules() {
		if r.ID == "long-pause" {
			if over := r.Thresholds[0].Default; over != screen.LongPause {
				t.Errorf("the finding begins at %g ns, the colour at %g ns", over, screen.LongPause)
			}
			return
		}
	}
	t.Error("there is no finding long-pause")
}
