package view

import (
	"strings"

	"github.com/gclog/gclog/formats"
)

// lineMost is how many characters a text from another process may have in a line.
const lineMost = 2000

// OneLine returns text from another process for one line of a terminal: without control characters,
// those that change the direction of writing included, and not endless.
func OneLine(s string) string {
	n := 0
	for i := range s {
		if n++; n > lineMost {
			s = s[:i] + "…"
			break
		}
	}
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return ' '
		case formats.IsControl(r):
			return '\uFFFD'
		}
		return r
	}, s)
}
