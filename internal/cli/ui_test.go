package cli

import "testing"

// TestClean: nothing that a terminal acts upon, or that puts text in another order than it
// stands, comes through.
func TestClean(t *testing.T) {
	for text, want := range map[string]string{
		"plain äöü ☃":         "plain äöü ☃",
		"two\nlines\tand":     "two\nlines\tand",
		"\x1b[2Jred\x07":      "\uFFFD[2Jred\uFFFD",
		"\u009b31m":           "\uFFFD31m",
		"a\u202egnp.exe":      "a\uFFFDgnp.exe",
		"\u2066x\u2069\u200f": "\uFFFDx\uFFFD\uFFFD",
	} {
		if got := clean(text); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}
