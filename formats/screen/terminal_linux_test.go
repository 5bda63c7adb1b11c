package screen

import (
	"testing"

	"github.com/gclog/gclog/internal/testing/terminal"
)

// TestTerminal: the size is the current one, text is no wider than is easy to read, and a terminal
// that does not know its size is as wide as most.
func TestTerminal(t *testing.T) {
	main, tty, err := terminal.Open(80, 24)
	if err != nil {
		t.Skipf("no pseudo terminal: %v", err)
	}
	defer main.Close()
	defer tty.Close()
	ask := Of(tty)
	for _, c := range []struct{ columns, rows, width, height, text uint16 }{
		{140, 50, 140, 50, 80}, {60, 24, 60, 24, 60}, {0, 0, 80, 0, 80},
	} {
		if err := terminal.Resize(main, c.columns, c.rows); err != nil {
			t.Fatal(err)
		}
		width, height := ask()
		if width != int(c.width) || height != int(c.height) || TextWidth(tty) != int(c.text) {
			t.Errorf("%+v: %d, %d, text %d", c, width, height, TextWidth(tty))
		}
	}
	t.Setenv("NO_COLOR", "")
	t.Setenv("CLICOLOR_FORCE", "")
	for term, want := range map[string]bool{"xterm": true, "dumb": false} {
		if t.Setenv("TERM", term); Colored(tty) != want {
			t.Errorf("TERM=%s: colours %v", term, !want)
		}
	}
}
