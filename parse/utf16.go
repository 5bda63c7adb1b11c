package parse

import (
	"encoding/binary"
	"unicode/utf16"
	"unicode/utf8"
)

// AppendUTF16 appends the UTF-16LE bytes of src to dst as UTF-8. An unpaired surrogate becomes
// U+FFFD; an odd last byte is ignored.
func AppendUTF16(dst, src []byte) []byte {
	for len(src) >= 2 {
		r := rune(binary.LittleEndian.Uint16(src))
		src = src[2:]
		if utf16.IsSurrogate(r) {
			low := rune(0)
			if len(src) >= 2 {
				low = rune(binary.LittleEndian.Uint16(src))
			}
			if r = utf16.DecodeRune(r, low); r != utf8.RuneError {
				src = src[2:]
			}
		}
		dst = utf8.AppendRune(dst, r)
	}
	return dst
}
