package jsontext

import (
	"encoding/json"
	"io"
	"unicode"
	"unicode/utf8"
)

// Acts reports whether a terminal or an editor acts on a character instead of showing it: a control
// character, a line end, or a change of the writing direction. Such a character is allowed in a
// JSON string. It is written as an escape, because names come from other processes.
func Acts(r rune) bool {
	return r < 0x20 || r >= 0x7f && r < 0xa0 || r == 0x2028 || r == 0x2029 || unicode.Is(unicode.Bidi_Control, r)
}

const hexDigits = "0123456789abcdef"

// AppendEscape appends the escape of a character below U+10000.
func AppendEscape(dst []byte, r rune) []byte {
	return append(dst, '\\', 'u', hexDigits[r>>12&15], hexDigits[r>>8&15], hexDigits[r>>4&15], hexDigits[r&15])
}

// A Writer passes on JSON and escapes characters that act. Each Write must contain only complete
// characters; line ends and tabs, which may be between values, are kept.
type Writer struct{ W io.Writer }

// Write implements io.Writer.
func (w Writer) Write(b []byte) (int, error) {
	out, from := b, 0
	for i := 0; i < len(b); {
		r, n := rune(b[i]), 1
		if r >= utf8.RuneSelf {
			r, n = utf8.DecodeRune(b[i:])
		}
		if r >= 0x7f && Acts(r) {
			if from == 0 {
				out = nil
			}
			out = AppendEscape(append(out, b[from:i]...), r)
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

// NewEncoder returns an encoder that escapes characters that act.
func NewEncoder(w io.Writer) *json.Encoder { return json.NewEncoder(Writer{w}) }
