// Package jsontext finds its way in JSON that is not decoded: for readers of lines that
// are hot paths.
package jsontext

import "bytes"

// Length is how long the string at the start of b is with its quotes; 0 if it has no end.
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
