// Package jsontext scans JSON without decoding it, for readers of lines on hot paths, and writes
// JSON without characters that act on a terminal.
package jsontext

import "bytes"

// Length returns the length of the string at the start of b including its quotes, or 0 if it does
// not end.
func Length(b []byte) int {
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
