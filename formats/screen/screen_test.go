package screen

import (
	"os"
	"slices"
	"strings"
	"testing"
)

func TestWidth(t *testing.T) {
	for text, want := range map[string]int{
		"": 0, "MyApp": 5, "äöü": 3, "注文": 4, "e\u0301": 1, "👩‍👩‍👧": 2, "\uFFFD[2J": 4, "a\u200bb": 2,
	} {
		if got := Width(text); got != want {
			t.Errorf("%q takes %d columns, want %d", text, got, want)
		}
	}
}

func TestCut(t *testing.T) {
	for _, c := range []struct {
		text  string
		width int
		want  string
	}{
		{"MyApp", 5, "MyApp"}, {"MyApps", 5, "MyAp…"}, {"注文処理", 8, "注文処理"}, {"注文処理", 7, "注文処…"}, {"注文処理", 6, "注文…"}, {"ab", 1, "…"}, {"ab", 0, "…"}, {"", 0, ""},
	} {
		if got := Cut(c.text, c.width); got != c.want || Width(got) > max(1, c.width) {
			t.Errorf("%q cut to %d is %q, want %q", c.text, c.width, got, c.want)
		}
	}
}

func TestWrap(t *testing.T) {
	for _, c := range []struct {
		text          string
		width, indent int
		want          string
	}{
		{"one two", 7, 2, "one two"},
		{"one two", 6, 2, "one\n  two"},
		{"one two", 0, 2, "one two"},
		{"one  two   three", 8, 1, "one  two\n three"},
		{"   one two", 7, 3, "   one\n   two"},
		{"a path/that/is/long b", 8, 2, "a\npath/that/is/long\n  b"},
		{"a path/of/ten b", 12, 8, "a\n path/of/ten\n        b"},
		{"注文 処理 x", 5, 0, "注文\n処理\nx"},
		{"trailing blanks      ", 15, 0, "trailing blanks"},
	} {
		if got := string(Wrap([]byte("> "), c.text, c.width, c.indent)); got != "> "+c.want {
			t.Errorf("%q at %d is\n%s\nwant\n%s", c.text, c.width, got, c.want)
		}
	}
}

var columns = []Column{{Title: "PID", Right: true}, {Title: "NAME", Width: 6, Cut: true}, {Title: "USER", Width: 4, Cut: true}, {Title: "UP", Right: true, Rank: 1}}

func TestPrint(t *testing.T) {
	rows := [][]string{{"1", "a", "root", "1 s"}, {"4711", "注文処理システム", "application", "100 s"}}
	for width, want := range map[int]string{
		0: `
 PID  NAME              USER            UP
   1  a                 root           1 s
4711  注文処理システム  application  100 s
`,
		34: `
 PID  NAME       USER           UP
   1  a          root          1 s
4711  注文処理…  applicati…  100 s
`,
		20: `
 PID  NAME    USER
   1  a       root
4711  注文…   app…
`,
		5: `
 PID  NAME    USER
   1  a       root
4711  注文…   app…
`,
	} {
		var b strings.Builder
		if err := Print(&b, width, columns, slices.Values(rows), nil); err != nil {
			t.Fatal(err)
		}
		if got := "\n" + b.String(); got != want {
			t.Errorf("width %d:%s\nwant%s", width, got, want)
		}
		for line := range strings.Lines(b.String()) {
			if n := Width(strings.TrimSuffix(line, "\n")); width >= 20 && n > width {
				t.Errorf("a line of %d at %d: %s", n, width, line)
			}
		}
	}
}

// TestFold: a last column that is too wide continues below itself.
func TestFold(t *testing.T) {
	columns := []Column{{Title: "PID", Right: true}, {Title: "NAME", Width: 3, Cut: true}, {Title: "VERDICT", Width: 8, Fold: true}}
	var b strings.Builder
	if err := Print(&b, 22, columns, slices.Values([][]string{{"7", "abcdef", "does not answer: it is stopped"}, {"12", "a", "fine"}}), nil); err != nil {
		t.Fatal(err)
	}
	if want := `
PID  NAME    VERDICT
  7  abcdef  does not
             answer:
             it is
             stopped
 12  a       fine
`; "\n"+b.String() != want {
		t.Errorf("%s\nwant%s", b.String(), want)
	}
}

// TestRowsKeepTheirPlace: a cell that is too wide moves the next ones only until there is enough
// space.
func TestRowsKeepTheirPlace(t *testing.T) {
	table := NewTable([]Column{{Title: "reason", Width: 6}, {Title: "ms", Width: 6, Right: true}, {Title: "size", Width: 6, Right: true}})
	row := func(cells ...string) string {
		table.Row()
		var dst []byte
		for _, c := range cells {
			dst = table.Cell(dst, []byte(c))
		}
		return string(dst)
	}
	for _, c := range [][]string{
		{"reason      ms    size", "reason", "ms", "size"},
		{"longer.x   1.5   10 MB", "longer.x", "1.5", "10 MB"},
		{"longer.than.that 1.5 10 MB", "longer.than.that", "1.5", "10 MB"},
		{"much.longer 123   9 MB", "much.longer", "123", "9 MB"},
	} {
		if got := row(c[1:]...); got != c[0] {
			t.Errorf("%q, want %q", got, c[0])
		}
	}
}

// TestColored: the user's choice takes precedence over what the terminal can do.
func TestColored(t *testing.T) {
	for _, c := range []struct {
		no, force, term string
		want            bool
	}{
		{"", "", "xterm", false}, {"", "1", "xterm", true}, {"", "0", "xterm", false}, {"1", "1", "xterm", false}, {"", "1", "dumb", true},
	} {
		t.Setenv("NO_COLOR", c.no)
		t.Setenv("CLICOLOR_FORCE", c.force)
		t.Setenv("TERM", c.term)
		if got := Colored(os.Stdin); IsTerminal(os.Stdin) == false && got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

// TestNoTerminal: what is not a terminal has no size, and its text has the usual width.
func TestNoTerminal(t *testing.T) {
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	for _, w := range []any{null, &strings.Builder{}, nil} {
		if width, height := Size(w); width != 0 || height != 0 || Of(w) != nil || TextWidth(w) != 80 {
			t.Errorf("%T: %d, %d", w, width, height)
		}
	}
}
