package cli

import (
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/gclog/gclog/formats/screen"
)

// A table is text in columns, indented by two blanks.
type table struct {
	columns []screen.Column
	rows    [][]string
}

// newTable returns a table with words in the first column, and numbers in the others.
func newTable(titles ...string) *table {
	t := &table{}
	for i, title := range titles {
		t.columns = append(t.columns, screen.Column{Title: title, Right: i > 0})
	}
	return t
}

func (t *table) add(cells ...string) { t.rows = append(t.rows, cells) }

// printPlain prints the table without the columns that do not fit the width; 0: no terminal.
func (t *table) printPlain(w io.Writer, width int) error {
	return screen.Print(w, width, t.columns, slices.Values(t.rows), nil)
}

// print prints the table with an indent.
func (t *table) print(w io.Writer, width int) {
	const indent = "  "
	var b strings.Builder
	_ = t.printPlain(&b, max(0, width-len(indent)))
	for line := range strings.Lines(b.String()) {
		fmt.Fprint(w, indent+line)
	}
}

// wrapped prints text in indented lines that fit the width. A number and its unit are not
// separated.
func wrapped(w io.Writer, width, indent int, text string) {
	hanging(w, width, indent, strings.Repeat(" ", indent), text)
}

// hanging prints text as wrapped does, with something else in front of the first line.
func hanging(w io.Writer, width, indent int, first, text string) {
	const joint = "\u00a0"
	text = measure.ReplaceAllString(strings.Join(strings.Fields(text), " "), "$1"+joint+"$2")
	if text == "" {
		return
	}
	lines := screen.Wrap(nil, first+text, width, indent)
	fmt.Fprintln(w, strings.ReplaceAll(string(lines), joint, " "))
}

// measure matches a number with its unit.
var measure = regexp.MustCompile(`(\d) ((?:ns|µs|ms|s|min|h|B|KB|MB|GB|TB|%)\b|%)`)
