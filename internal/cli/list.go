package cli

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/formats/screen"
)

// Lists have one description of their columns for all formats.

// A column is one thing about the rows of a list.
type column[T any] struct {
	screen.Column                 // of the table
	last          bool            // in the table it comes last, as what is long
	text          func(*T) string // in the table; nil: it is not in the table
	csv, json     string          // its names; "": it is not there
	value         func(*T) any    // in csv and JSON; nil: unknown, or nothing
	sparse        bool            // in JSON it is omitted if it is 0 or ""
}

// countColumn is a column of numbers of things.
func countColumn[T any](title, csv, json string, of func(*T) uint64) column[T] {
	return column[T]{
		Column: screen.Column{Title: title, Right: true}, csv: csv, json: json,
		text: func(x *T) string { return strconv.FormatUint(of(x), 10) }, value: func(x *T) any { return of(x) },
	}
}

// sizeColumn is a column of bytes.
func sizeColumn[T any](title, csv, json string, of func(*T) uint64) column[T] {
	c := countColumn(title, csv, json, of)
	c.text = func(x *T) string { return formats.SizeText(int64(of(x))) }
	return c
}

// textColumn is a column of text from other processes.
func textColumn[T any](of screen.Column, name string, text func(*T) string) column[T] {
	return column[T]{
		Column: of, csv: name, json: name,
		text: func(x *T) string { return oneLine(dash(text(x))) }, value: func(x *T) any { return some(text(x)) },
	}
}

// ranked returns the column with its rank.
func (c column[T]) ranked(rank int) column[T] {
	c.Rank = rank
	return c
}

// some returns a value, or nil for one that says nothing.
func some[V comparable](v V) any {
	var nothing V
	if v == nothing {
		return nil
	}
	return v
}

// tableOf returns the rows of a list as a table.
func tableOf[T any](columns []column[T], rows []T) *table {
	columns = shown(columns)
	t := &table{columns: titles(columns)}
	for i := range rows {
		t.add(cells(columns, &rows[i])...)
	}
	return t
}

// shown returns the columns of a table, in its order.
func shown[T any](columns []column[T]) (list []column[T]) {
	for _, last := range []bool{false, true} {
		for _, c := range columns {
			if c.text != nil && c.last == last {
				list = append(list, c)
			}
		}
	}
	return list
}

func titles[T any](columns []column[T]) []screen.Column {
	list := make([]screen.Column, len(columns))
	for i, c := range columns {
		list[i] = c.Column
	}
	return list
}

// cells returns a row of a table.
func cells[T any](columns []column[T], row *T) []string {
	list := make([]string, len(columns))
	for i, c := range columns {
		list[i] = c.text(row)
	}
	return list
}

// printTable prints a list for people.
func printTable[T any](p *program, columns []column[T], rows []T) error {
	width, _ := screen.Size(p.stdout)
	return tableOf(columns, rows).printPlain(p.out, width)
}

// printRows prints a list that is all of the result.
func printRows[T any](p *program, how string, columns []column[T], rows []T) error {
	switch how {
	case "json":
		return p.printJSON(objects(columns, rows))
	case "csv":
		return printCSV(p, columns, rows)
	}
	return printTable(p, columns, rows)
}

// printCSV prints a list as csv.
func printCSV[T any](p *program, columns []column[T], rows []T) error {
	return p.write(func(w io.Writer) error {
		x := formats.NewCSVWriter(w)
		line := func(cell func(c *column[T]) string) {
			var cells []string
			for i := range columns {
				if columns[i].csv != "" {
					cells = append(cells, cell(&columns[i]))
				}
			}
			_ = x.Write(cells)
		}
		line(func(c *column[T]) string { return c.csv })
		for i := range rows {
			line(func(c *column[T]) string { return csvText(c.value(&rows[i])) })
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

// An object is a JSON object, with its members in their order.
type object []member

type member struct {
	name  string
	value any
}

// MarshalJSON implements json.Marshaler.
func (o object) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	e := newEncoder(&b)
	for i, m := range o {
		b.WriteByte("{,"[min(i, 1)])
		if err := e.Encode(m.name); err != nil {
			return nil, err
		}
		b.WriteByte(':')
		if err := e.Encode(m.value); err != nil {
			return nil, err
		}
	}
	if len(o) == 0 {
		b.WriteByte('{')
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// objects returns the rows of a list as JSON.
func objects[T any](columns []column[T], rows []T) []object {
	list := make([]object, len(rows))
	for i := range rows {
		for _, c := range columns {
			if c.json == "" {
				continue
			}
			v := c.value(&rows[i])
			if nothing := v == uint64(0) || v == ""; v != nil && !(nothing && c.sparse) {
				list[i] = append(list[i], member{c.json, v})
			}
		}
	}
	return list
}
