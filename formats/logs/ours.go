package logs

import (
	"bytes"
	"slices"
)

// begins are the starts of files written by gclog, except those in Java's formats, which isMachine
// and recognizeUnified recognize.
var begins = [][]byte{
	[]byte(`{"gclog_file_id":"`),
	[]byte("StartRelativeMSec,Number,Generation,Type,Reason,"),
	[]byte("time             gc "),
}

// BeginSize is how many bytes of a file IsOurs needs.
const BeginSize = 8 << 10

// IsOurs reports from the start of a file whether gclog wrote it. It is stricter than Recognize,
// which finds our lines among others: here nothing may come before them.
func IsOurs(begin []byte) bool {
	if slices.ContainsFunc(begins, func(head []byte) bool { return bytes.HasPrefix(begin, head) }) {
		return true
	}
	first, rest, _ := bytes.Cut(begin, newline)
	if isMachine(first) {
		return true
	}
	if bytes.HasSuffix(first, []byte("Using Concurrent Mark Sweep")) { // Java writes this line too
		h, ok := Recognize(rest)
		return ok && h.Format == "unified"
	}
	_, ok := recognizeUnified(first)
	return ok
}
