package accesslog

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
)

// csv is a log whose first line names its columns. A quote at the start of a field opens a quoted
// field if a matching quote ends it; a quoted field may span lines. All other quotes are text: a
// field that lacks its closing quote ends like any other.
type csv struct {
	separator  byte
	columns    int // number of columns
	when, took int // indices of the two columns

	whenText, tookText []byte // of the current row
	fields             int    // number of fields in it
}

// head finds the columns in the first line.
func (c *csv) head(head []byte, o Options) error {
	for _, c.separator = range []byte(",;\t") {
		names := c.names(head)
		c.columns, c.when, c.took = len(names), -1, -1
		for i, name := range names {
			switch {
			case isOurs([]byte(name)):
				return &FormatError{"it has a column " + name + " already: the file has been joined before"}
			case name == o.Time && c.when < 0:
				c.when = i
			case name == o.Duration && c.took < 0:
				c.took = i
			}
		}
		if o.Time == o.Duration {
			c.took = c.when
		}
		if c.when >= 0 && c.took >= 0 {
			return nil
		}
	}
	return c.missing(head, o)
}

// missing returns an error that names the missing column, and the existing ones.
func (c *csv) missing(head []byte, o Options) error {
	c.separator = ','
	for _, s := range []byte(";\t") {
		if bytes.Count(head, []byte{s}) > bytes.Count(head, []byte{c.separator}) {
			c.separator = s
		}
	}
	names := c.names(head)
	name := o.Time
	if slices.Contains(names, name) {
		name = o.Duration
	}
	return &FieldError{Field: name, There: names, csv: true}
}

func (c *csv) row(b []byte, last bool) int {
	if n := endOfLine(b); bytes.IndexByte(b[:n], '"') < 0 {
		return n
	}
	for at := 0; at < len(b); {
		end, open := c.quoted(b, at)
		if open && !last {
			return 0
		}
		if end < 0 {
			end = c.plain(b, at)
		}
		if end == len(b) {
			return 0
		}
		at = end + 1
		if b[end] == '\n' {
			return at
		}
	}
	return 0
}

// field returns where the field that starts at at ends: at its separator, at the end of the line,
// or at len(b).
func (c *csv) field(b []byte, at int) int {
	if end, _ := c.quoted(b, at); end >= 0 {
		return end
	}
	return c.plain(b, at)
}

// quoted returns where the field that starts at at ends if it is quoted, otherwise -1. open means
// that b ends before it is known how the quoted field ends.
func (c *csv) quoted(b []byte, at int) (end int, open bool) {
	if at == len(b) || b[at] != '"' {
		return -1, false
	}
	for at++; ; at++ {
		n := bytes.IndexByte(b[at:], '"')
		if n < 0 {
			return -1, true
		}
		if at += n + 1; at == len(b) || b[at] != '"' {
			break
		}
	}
	for at < len(b) && (b[at] == ' ' || b[at] == '\r') {
		at++
	}
	switch {
	case at == len(b):
		return at, true
	case b[at] == c.separator || b[at] == '\n':
		return at, false
	}
	return -1, false
}

// plain returns where the field that starts at at ends if it is not quoted.
func (c *csv) plain(b []byte, at int) int {
	for ; at < len(b); at++ {
		if b[at] == c.separator || b[at] == '\n' {
			return at
		}
	}
	return at
}

func (c *csv) time() []byte     { return c.whenText }
func (c *csv) duration() []byte { return c.tookText }

func (c *csv) find(row []byte) problem {
	text, _ := cutEnd(row)
	c.whenText, c.tookText, c.fields = nil, nil, 0
	for at := 0; at <= len(text); c.fields++ {
		end := c.field(text, at)
		if c.fields == c.when {
			c.whenText = unquote(text[at:end])
		}
		if c.fields == c.took {
			c.tookText = unquote(text[at:end])
		}
		at = end + 1
	}
	switch {
	case c.fields > c.columns:
		return problemWide
	case len(c.whenText) == 0:
		return problemNoTime
	case len(c.tookText) == 0:
		return problemNoDuration
	case c.fields < c.columns:
		return problemNarrow
	}
	return problemNone
}

// unquote removes the quotes of a field.
func unquote(b []byte) []byte {
	if len(b) > 0 && b[0] == '"' {
		b = bytes.TrimRight(b, " \r")
	}
	if len(b) < 2 || b[0] != '"' || b[len(b)-1] != '"' {
		return b
	}
	b = b[1 : len(b)-1]
	if bytes.IndexByte(b, '"') < 0 {
		return b
	}
	return bytes.ReplaceAll(b, []byte(`""`), []byte(`"`))
}

func (c *csv) add(dst, row []byte, g *pauses) []byte {
	if c.fields > c.columns { // it is unknown which fields belong to the columns
		return append(dst, row...)
	}
	text, end := cutEnd(row)
	dst = append(dst, text...)
	for range c.columns - c.fields + 1 {
		dst = append(dst, c.separator)
	}
	if g != nil {
		dst = appendMillis(dst, g.Pause)
	}
	dst = append(dst, c.separator)
	if g != nil {
		dst = strconv.AppendInt(dst, int64(g.Pauses), 10)
	}
	dst = append(dst, c.separator)
	if g != nil {
		dst = appendNumbers(dst, g.numbers, ' ')
	}
	return append(dst, end...)
}

// addHead appends the first line with the names of the added columns.
func (c *csv) addHead(dst, head []byte) []byte {
	text, end := cutEnd(head)
	dst = append(dst, text...)
	for _, name := range []string{pauseField, countField, numbersField} {
		dst = append(append(dst, c.separator), name...)
	}
	return append(dst, end...)
}

func (c *csv) names(row []byte) (list []string) {
	text, _ := cutEnd(bytes.TrimPrefix(row, byteOrderMark))
	for at := 0; at <= len(text); {
		end := c.field(text, at)
		list = append(list, strings.TrimSpace(string(unquote(text[at:end]))))
		at = end + 1
	}
	return list
}
