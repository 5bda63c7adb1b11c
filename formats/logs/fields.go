package logs

import (
	"bytes"
	"math"
)

// eachField passes on what the lines that are gclog's own say after their titles:
//
//	name=value, …, workers=2
//
// It is false if read is, or if the list was cut off.
func eachField(b []byte, read func(name, value []byte) bool) bool {
	for {
		field, rest, more := cutComma(b)
		equals := bytes.IndexByte(field, '=')
		if equals < 0 || !read(field[:equals], field[equals+1:]) {
			return false
		}
		if !more {
			return string(field[:equals]) == "workers" // it is the last
		}
		b = rest
	}
}

// cutComma cuts b at its first comma, after which a blank is.
func cutComma(b []byte) (before, after []byte, ok bool) {
	i := bytes.IndexByte(b, ',')
	if i < 0 || i+1 == len(b) || b[i+1] != ' ' {
		return b, nil, false
	}
	return b[:i], b[i+2:], true
}

// readWorkers reads a number of heaps, which may be unknown.
func readWorkers(heaps *int32, b []byte) bool {
	n, rest, ok := number(b)
	if ok && len(rest) == 0 {
		*heaps = int32(min(n, math.MaxInt32))
		return true
	}
	return string(b) == "unknown"
}

// The functions below set what a field says, and nothing if it is damaged.

func readCount[T uint32 | int32 | uint64](v *T, b []byte, most uint64) bool {
	n, rest, ok := number(b)
	if ok = ok && len(rest) == 0 && n <= most; ok {
		*v = T(n)
	}
	return ok
}

func readBytes(v *uint64, b []byte) bool {
	n, rest, ok := size(b)
	if ok = ok && len(rest) == 0; ok {
		*v = uint64(n) * kibibyte
	}
	return ok
}

func readMillis(v *int64, b []byte) bool {
	ns, rest, ok := millis(b)
	if ok = ok && len(rest) == 0; ok {
		*v = ns
	}
	return ok
}
