package report

import (
	"strings"

	"github.com/gclog/gclog/formats"
)

// mostText is the length of a name or a command line from a process, in characters.
const mostText = 2000

// clean returns text from a process without characters that change how the text around them is
// shown. Markup needs no care: the page contains text, not HTML.
func clean(s string) string {
	n := 0
	return strings.ToValidUTF8(strings.Map(func(r rune) rune {
		switch n++; {
		case n > mostText:
			return -1
		case n == mostText:
			return '…'
		case r == '\n' || r == '\t':
			return ' '
		case formats.IsControl(r):
			return '\uFFFD'
		}
		return r
	}, s), "\uFFFD")
}
