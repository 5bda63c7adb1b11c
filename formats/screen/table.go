package screen

import (
	"bytes"
	"io"
	"iter"
	"slices"
	"strings"

	"github.com/clipperhouse/displaywidth"
)

// A Column is one column of a table.
type Column struct {
	Title string
	// Width is what its cells usually need. In a Table a wider cell takes spaces from the columns
	// after it; Print makes columns as wide as their cells, and uses Width as the minimum of
	// columns that may shrink.
	Width int
	Right bool // right-aligned, for numbers
	// Rank orders the columns that are left out if the terminal is too narrow: the highest rank
	// goes first, columns with 0 stay.
	Rank int
	// Cut lets Print shorten its cells, down to Width. Fold, of the last column, lets them continue
	// on lines of their own instead.
	Cut, Fold bool
}

// gap is the number of spaces between two columns.
const gap = 2

// A Table aligns rows that arrive one by one. It must not be used by several goroutines at once.
type Table struct {
	columns []Column
	edges   []int // where each column starts; hidden: it is left out
	next    int   // column of the next cell
	at      int   // width of the row so far
}

const hidden = -1

// NewTable returns a table with all columns.
func NewTable(columns []Column) *Table {
	t := &Table{columns: columns, edges: make([]int, len(columns))}
	t.Fit(0)
	return t
}

// Fit leaves out columns until the table is no wider than width; 0 shows all of them.
func (t *Table) Fit(width int) {
	clear(t.edges)
	for {
		end, last := 0, -1 // last: the column to leave out next
		for i, c := range t.columns {
			if t.edges[i] == hidden {
				continue
			}
			if end > 0 {
				end += gap
			}
			t.edges[i] = end
			end += c.Width
			if c.Rank > 0 && (last < 0 || c.Rank > t.columns[last].Rank) {
				last = i
			}
		}
		if width <= 0 || end <= width || last < 0 {
			return
		}
		t.edges[last] = hidden
	}
}

// Shows reports whether a column is shown.
func (t *Table) Shows(column int) bool { return t.edges[column] != hidden }

// Head appends the titles.
func (t *Table) Head(dst []byte) []byte {
	t.Row()
	for _, c := range t.columns {
		dst = t.Cell(dst, []byte(c.Title))
	}
	return dst
}

// Row starts a row.
func (t *Table) Row() { t.next, t.at = 0, 0 }

// Cell appends the next cell of the row, if its column is shown.
func (t *Table) Cell(dst, cell []byte) []byte {
	i := t.next
	t.next++
	if !t.Shows(i) {
		return dst
	}
	width, edge := displaywidth.Bytes(cell), t.edges[i]
	if t.columns[i].Right {
		edge += t.columns[i].Width - width
	}
	if t.at > 0 {
		edge = max(edge, t.at+1)
	}
	for ; t.at < edge; t.at++ {
		dst = append(dst, ' ')
	}
	t.at += width
	return append(dst, cell...)
}

// Print prints a table whose rows are all known; it iterates over them twice. A column is as wide
// as its widest cell; if the terminal is narrower than that, cells are cut and columns left out. A
// width of 0 means no terminal. style returns the style of a row, by its index; nil: no styles.
func Print(w io.Writer, width int, columns []Column, rows iter.Seq[[]string], style func(row int) Style) error {
	columns = measured(width, columns, rows)
	t := NewTable(columns)
	t.Fit(width)
	last := len(columns) - 1
	out := bytes.TrimRight(t.Head(nil), " ")
	if len(out) > 0 { // some tables need no titles
		out = append(out, '\n')
	}
	number := 0
	for row := range rows {
		t.Row()
		begin := len(out)
		for i, cell := range row {
			if columns[i].Cut {
				cell = Cut(cell, columns[i].Width)
			}
			out = t.Cell(out, []byte(cell))
		}
		line := strings.TrimRight(string(out[begin:]), " ")
		if columns[last].Fold {
			line = string(Wrap(nil, line, width, t.edges[last]))
		}
		if style != nil {
			line = Painter(true)(style(number), line)
		}
		number++
		out = append(append(out[:begin], line...), '\n')
		if _, err := w.Write(out); err != nil {
			return err
		}
		out = out[:0]
	}
	_, err := w.Write(out)
	return err
}

// measured returns columns that are as wide as their cells; of those that may be cut or folded, the
// widest is made narrower until the table fits.
func measured(width int, columns []Column, rows iter.Seq[[]string]) []Column {
	all, total := slices.Clone(columns), -gap
	for i := range all {
		all[i].Width = Width(all[i].Title)
	}
	for row := range rows {
		for i, cell := range row {
			all[i].Width = max(all[i].Width, Width(cell))
		}
	}
	for _, c := range all {
		total += gap + c.Width
	}
	for ; width > 0 && total > width; total-- {
		widest := -1
		for i, c := range all {
			if (c.Cut || c.Fold) && c.Width > columns[i].Width && (widest < 0 || c.Width > all[widest].Width) {
				widest = i
			}
		}
		if widest < 0 {
			break
		}
		all[widest].Width--
	}
	return all
}
