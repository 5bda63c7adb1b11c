package formats

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"
)

// IsControl reports whether a terminal or an editor acts on a character instead of showing it: a
// control character, a line end, or a change of the writing direction. Such a character is allowed
// in a JSON string. It is written as an escape, because names come from other processes.
func IsControl(r rune) bool {
	return r < 0x20 || r >= 0x7f && r < 0xa0 || r == 0x2028 || r == 0x2029 || unicode.Is(unicode.Bidi_Control, r)
}

// OneLine returns text from another process or host for one line of a terminal: line ends and tabs are
// spaces, what is invalid or a terminal acts on is U+FFFD, and of more than most characters the rest
// is an ellipsis.
func OneLine(s string, most int) string {
	n := 0
	for i := range s {
		if n++; n > most {
			s = s[:i] + "…"
			break
		}
	}
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return ' '
		case IsControl(r):
			return utf8.RuneError
		}
		return r // RuneError for what is invalid
	}, s)
}

const hexDigits = "0123456789abcdef"

// appendEscape appends the escape of a character below U+10000.
func appendEscape(dst []byte, r rune) []byte {
	return append(dst, '\\', 'u', hexDigits[r>>12&15], hexDigits[r>>8&15], hexDigits[r>>4&15], hexDigits[r&15])
}

// A JSONWriter passes on JSON and escapes characters that act. Each Write must contain only complete
// characters; line ends and tabs, which may be between values, are kept.
type JSONWriter struct{ W io.Writer }

// Write implements io.Writer.
func (w JSONWriter) Write(b []byte) (int, error) {
	out, from := b, 0
	for i := 0; i < len(b); {
		r, n := rune(b[i]), 1
		if r >= utf8.RuneSelf {
			r, n = utf8.DecodeRune(b[i:])
		}
		if r >= 0x7f && IsControl(r) {
			if from == 0 {
				out = nil
			}
			out = appendEscape(append(out, b[from:i]...), r)
			from = i + n
		}
		i += n
	}
	if from > 0 {
		out = append(out, b[from:]...)
	}
	if _, err := w.W.Write(out); err != nil {
		return 0, err
	}
	return len(b), nil
}

// NewJSONEncoder returns an encoder that escapes characters that act.
func NewJSONEncoder(w io.Writer) *json.Encoder { return json.NewEncoder(JSONWriter{w}) }

// QuotedLength returns the length of the JSON string at the start of b with its quotes; 0 if it has
// no end. For readers of lines that are hot paths.
func QuotedLength(b []byte) int {
	for i := 1; i < len(b); i++ {
		n := bytes.IndexByte(b[i:], '"')
		if n < 0 {
			return 0
		}
		i += n
		escapes := 0
		for b[i-1-escapes] == '\\' {
			escapes++
		}
		if escapes%2 == 0 {
			return i + 1
		}
	}
	return 0
}
