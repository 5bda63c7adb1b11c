package cli

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// A table is text in columns: the first is words, the others are numbers.
type table struct{ rows [][]string }

func (t *table) add(cells ...string) { t.rows = append(t.rows, cells) }

// print prints the rows, each behind two blanks.
func (t *table) print(w io.Writer) {
	var widths []int
	for _, row := range t.rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	for _, row := range t.rows {
		var b strings.Builder
		for i, cell := range row {
			pad := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
			if i == 0 {
				b.WriteString("  " + cell + pad)
			} else {
				b.WriteString("  " + pad + cell)
			}
		}
		fmt.Fprintln(w, strings.TrimRight(b.String(), " "))
	}
}

// textWidth is how wide text for people is at most.
const textWidth = 100

// wrapped prints text in lines of at most textWidth, each behind so many blanks.
func wrapped(w io.Writer, indent int, text string) {
	line, length := "", 0
	for word := range strings.FieldsSeq(text) {
		n := utf8.RuneCountInString(word)
		if length > 0 && indent+length+1+n > textWidth {
			fmt.Fprintln(w, strings.Repeat(" ", indent)+line)
			line, length = "", 0
		}
		if length > 0 {
			line, length = line+" ", length+1
		}
		line, length = line+word, length+n
	}
	if length > 0 {
		fmt.Fprintln(w, strings.Repeat(" ", indent)+line)
	}
}
