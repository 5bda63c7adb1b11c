package screen

import (
	"strings"

	"github.com/clipperhouse/displaywidth"
)

// Width returns how many columns of a terminal a text takes: a Chinese character takes two, a
// combining accent none. Characters whose width depends on the terminal count as one.
func Width(text string) int { return displaywidth.String(text) }

// Cut shortens a text to a width, and marks that it did with an ellipsis.
func Cut(text string, width int) string {
	if Width(text) <= width {
		return text
	}
	return displaywidth.TruncateString(text, max(width, 1), "…")
}

// Wrap appends a text to dst, broken at spaces where it would become wider than width. Continuation
// lines are indented by indent, or less if a word needs the room. A word that is wider than the
// line stays whole: it may be a path or a command. A width of 0 breaks nothing.
func Wrap(dst []byte, text string, width, indent int) []byte {
	if width <= 0 || Width(text) <= width {
		return append(dst, text...)
	}
	at, hasWord := 0, false // columns used in the current line, and whether it has a word
	for text != "" {
		blanks := len(text) - len(strings.TrimLeft(text, " "))
		word, _, _ := strings.Cut(text[blanks:], " ")
		gap, wide := text[:blanks], Width(word)
		text = text[blanks+len(word):]
		if word == "" {
			break
		}
		if hasWord && at+len(gap)+wide > width {
			dst = append(dst, '\n')
			gap, at = strings.Repeat(" ", max(0, min(indent, width-wide))), 0
		}
		dst = append(dst, gap...)
		dst = append(dst, word...)
		at, hasWord = at+len(gap)+wide, true
	}
	return dst
}
