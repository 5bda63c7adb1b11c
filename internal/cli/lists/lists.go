// Package lists prints rows of things as a table, as csv and as JSON, from one description of their
// columns.
package lists

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/formats/screen"
	"github.com/gclog/gclog/internal/cli/program"
	"github.com/gclog/gclog/internal/view"
)

// Lists have one description of their columns for all formats.

// A Column is one thing about the rows of a list.
type Column[T any] struct {
	screen.Column                 // of the table
	last          bool            // in the table it comes last, as what is long
	Text          func(*T) string // in the table; nil: it is not in the table
	CSV, JSON     string          // its names; "": it is not there
	Value         func(*T) any    // in csv and JSON; nil: unknown, or nothing
	Sparse        bool            // in JSON it is omitted if it is 0 or ""
}

// Count is a column of numbers of things.
func Count[T any](title, csv, json string, of func(*T) uint64) Column[T] {
	return Column[T]{
		Column: screen.Column{Title: title, Right: true}, CSV: csv, JSON: json,
		Text: func(x *T) string { return strconv.FormatUint(of(x), 10) }, Value: func(x *T) any { return of(x) },
	}
}

// Size is a column of bytes.
func Size[T any](title, csv, json string, of func(*T) uint64) Column[T] {
	c := Count(title, csv, json, of)
	c.Text = func(x *T) string { return formats.SizeText(int64(of(x))) }
	return c
}

// Text is a column of text from other processes.
func Text[T any](of screen.Column, name string, text func(*T) string) Column[T] {
	return Column[T]{
		Column: of,
		CSV:    name,
		JSON:   name,
		Text:   func(x *T) string { return view.OneLine(view.Dash(text(x))) },
		Value:  func(x *T) any { return Some(text(x)) },
	}
}

// Ranked returns the column with its rank.
func (c Column[T]) Ranked(rank int) Column[T] {
	c.Rank = rank
	return c
}

// Some returns a value, or nil for one that says nothing.
func Some[V comparable](v V) any {
	var nothing V
	if v == nothing {
		return nil
	}
	return v
}

// TableOf returns the rows of a list as a table.
func TableOf[T any](columns []Column[T], rows []T) *view.Table {
	columns = Shown(columns)
	t := &view.Table{Columns: Titles(columns)}
	for i := range rows {
		t.Add(Cells(columns, &rows[i])...)
	}
	return t
}

// Shown returns the columns of a table, in its order.
func Shown[T any](columns []Column[T]) (list []Column[T]) {
	for _, last := range []bool{false, true} {
		for _, c := range columns {
			if c.Text != nil && c.last == last {
				list = append(list, c)
			}
		}
	}
	return list
}

// Titles returns the columns of a table.
func Titles[T any](columns []Column[T]) []screen.Column {
	list := make([]screen.Column, len(columns))
	for i, c := range columns {
		list[i] = c.Column
	}
	return list
}

// Cells returns a row of a table.
func Cells[T any](columns []Column[T], row *T) []string {
	list := make([]string, len(columns))
	for i, c := range columns {
		list[i] = c.Text(row)
	}
	return list
}

// PrintTable prints a list for people.
func PrintTable[T any](p *program.Run, columns []Column[T], rows []T) error {
	width, _ := screen.Size(p.Unfiltered)
	return TableOf(columns, rows).PrintPlain(p.Out, width)
}

// Print prints a list that is all of the result.
func Print[T any](p *program.Run, how string, columns []Column[T], rows []T) error {
	switch how {
	case "json":
		return p.PrintJSON(Objects(columns, rows))
	case "csv":
		return PrintCSV(p, columns, rows)
	}
	return PrintTable(p, columns, rows)
}

// PrintCSV prints a list as csv.
func PrintCSV[T any](p *program.Run, columns []Column[T], rows []T) error {
	return p.Write(func(w io.Writer) error {
		x := formats.NewCSVWriter(w)
		line := func(cell func(c *Column[T]) string) {
			var cells []string
			for i := range columns {
				if columns[i].CSV != "" {
					cells = append(cells, cell(&columns[i]))
				}
			}
			_ = x.Write(cells)
		}
		line(func(c *Column[T]) string { return c.CSV })
		for i := range rows {
			line(func(c *Column[T]) string { return csvText(c.Value(&rows[i])) })
		}
		return x.Flush()
	})
}

func csvText(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	case []string:
		return strings.Join(v, " ")
	}
	return fmt.Sprint(v)
}

// An Object is a JSON object, with its members in their order.
type Object []Member

// A Member is one of an Object.
type Member struct {
	Name  string
	Value any
}

// MarshalJSON implements json.Marshaler.
func (o Object) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	e := program.NewEncoder(&b)
	for i, m := range o {
		b.WriteByte("{,"[min(i, 1)])
		if err := e.Encode(m.Name); err != nil {
			return nil, err
		}
		b.WriteByte(':')
		if err := e.Encode(m.Value); err != nil {
			return nil, err
		}
	}
	if len(o) == 0 {
		b.WriteByte('{')
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// Objects returns the rows of a list as JSON.
func Objects[T any](columns []Column[T], rows []T) []Object {
	list := make([]Object, len(rows))
	for i := range rows {
		for _, c := range columns {
			if c.JSON == "" {
				continue
			}
			v := c.Value(&rows[i])
			if nothing := v == uint64(0) || v == ""; v != nil && !(nothing && c.Sparse) {
				list[i] = append(list[i], Member{c.JSON, v})
			}
		}
	}
	return list
}

// Names is a column of the names of types, or of groups of them: as they are in csv and JSON, shown
// in a table.
func Names[T any](title, csv, json string, shown func(string) string, of func(*T) string) Column[T] {
	return Column[T]{
		Column: screen.Column{Title: title, Cut: true, Width: 20}, last: true, CSV: csv, JSON: json,
		Text: func(x *T) string { return shown(of(x)) }, Value: func(x *T) any { return of(x) },
	}
}
