package logs

import (
	"bytes"
	"slices"
)

// begins are what files begin with that gclog has written, but for those in the ways of
// Java, which isMachine and recognizeUnified know.
var begins = [][]byte{
	[]byte(`{"gclog_file_id":"`),
	[]byte("StartRelativeMSec,Number,Generation,Type,Reason,"),
	[]byte("time             gc "),
}

// BeginSize is how many bytes of a file IsOurs needs to see.
const BeginSize = 8 << 10

// IsOurs tells by its start whether gclog has written a file. It is stricter than
// Recognize, which finds our lines among those of others: here nothing stands before them.
func IsOurs(begin []byte) bool {
	if slices.ContainsFunc(begins, func(head []byte) bool { return bytes.HasPrefix(begin, head) }) {
		return true
	}
	first, rest, _ := bytes.Cut(begin, newline)
	if isMachine(first) {
		return true
	}
	if bytes.HasSuffix(first, []byte("Using Concurrent Mark Sweep")) { // Java writes it too
		h, ok := Recognize(rest)
		return ok && h.Format == "unified"
	}
	_, ok := recognizeUnified(first)
	return ok
}
