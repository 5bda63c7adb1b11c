package view

import (
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/gclog/gclog/formats/screen"
)

// A Table is text in columns, indented by two blanks.
type Table struct {
	Columns []screen.Column
	Rows    [][]string
}

// NewTable returns a table with words in the first column, and numbers in the others.
func NewTable(titles ...string) *Table {
	t := &Table{}
	for i, title := range titles {
		t.Columns = append(t.Columns, screen.Column{Title: title, Right: i > 0})
	}
	return t
}

// Add adds a row.
func (t *Table) Add(cells ...string) { t.Rows = append(t.Rows, cells) }

// PrintPlain prints the table without the columns that do not fit the width; 0: no terminal.
func (t *Table) PrintPlain(w io.Writer, width int) error {
	return screen.Print(w, width, t.Columns, slices.Values(t.Rows), nil)
}

// Print prints the table with an indent.
func (t *Table) Print(w io.Writer, width int) {
	const indent = "  "
	var b strings.Builder
	_ = t.PrintPlain(&b, max(0, width-len(indent)))
	for line := range strings.Lines(b.String()) {
		fmt.Fprint(w, indent+line)
	}
}

// Wrapped prints text in indented lines that fit the width. A number and its unit are not
// separated.
func Wrapped(w io.Writer, width, indent int, text string) {
	Hanging(w, width, indent, strings.Repeat(" ", indent), text)
}

// Hanging prints text as wrapped does, with something else in front of the first line.
func Hanging(w io.Writer, width, indent int, first, text string) {
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
