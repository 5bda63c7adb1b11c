package formats

import (
	"encoding/csv"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/gclog/gclog/formats/screen"
)

// A TextWriter passes on text for people, or for programs that read text. What is invalid or a
// terminal acts on becomes U+FFFD, except for line ends, tabs and, with Styles, gclog's own colors:
// names come from other processes, wherever a text has them. A character may be in several writes.
type TextWriter struct {
	W      io.Writer
	Styles bool

	rest []byte // the start of a character or of a style
}

// Write implements io.Writer.
func (w *TextWriter) Write(b []byte) (int, error) {
	n := len(b)
	if len(w.rest) > 0 {
		b = append(w.rest, b...)
		w.rest = nil
	}
	out, from := b, 0
	put := func(i, length int, s string) {
		if from == 0 {
			out = nil
		}
		out = append(append(out, b[from:i]...), s...)
		from = i + length
	}
	i := 0
	for i < len(b) {
		r, length := rune(b[i]), 1
		if r >= utf8.RuneSelf {
			if !utf8.FullRune(b[i:]) {
				break
			}
			r, length = utf8.DecodeRune(b[i:])
		}
		switch {
		case r == '\x1b' && w.Styles:
			style, whole := screen.StyleAt(b[i:])
			if !whole {
				w.rest = append(w.rest, b[i:]...)
				b = b[:i]
				continue
			}
			if length = len(style); length == 0 {
				length = 1
				put(i, length, replacement)
			}
		case r == utf8.RuneError && length == 1, r != '\n' && r != '\t' && IsControl(r):
			put(i, length, replacement)
		}
		i += length
	}
	if i < len(b) {
		w.rest = append(w.rest, b[i:]...)
		b = b[:i]
	}
	if from > 0 {
		out = append(out, b[from:]...)
	} else {
		out = b
	}
	if len(out) == 0 {
		return n, nil
	}
	if _, err := w.W.Write(out); err != nil {
		return 0, err
	}
	return n, nil
}

const replacement = string(utf8.RuneError)

// A CSVWriter writes rows for programs and spreadsheets. Cells with names of other processes cannot be
// formulas: what a spreadsheet would compute starts with an apostrophe, unless it is a number. Line
// ends and tabs are spaces, and what a terminal acts on is U+FFFD.
type CSVWriter struct{ w *csv.Writer }

// NewCSVWriter returns a CSVWriter.
func NewCSVWriter(w io.Writer) *CSVWriter { return &CSVWriter{csv.NewWriter(w)} }

// Write writes a row.
func (w *CSVWriter) Write(row []string) error {
	cells := make([]string, len(row))
	for i, s := range row {
		cells[i] = csvCell(s)
	}
	return w.w.Write(cells)
}

// Flush writes what is buffered, and returns the first error.
func (w *CSVWriter) Flush() error {
	w.w.Flush()
	return w.w.Error()
}

func csvCell(s string) string {
	s = OneLine(s, len(s))
	if r, _ := utf8.DecodeRuneInString(strings.TrimLeft(s, " ")); !strings.ContainsRune("=+-@＝＋－＠", r) {
		return s
	}
	if _, err := strconv.ParseFloat(s, 64); err == nil {
		return s
	}
	return "'" + s
}
