package logs

import (
	"bytes"
	"math"
)

// eachField passes on the contents of gclog-specific lines after their titles:
//
//	name=value, …, workers=2
//
// It returns false if read does, or if the list was truncated.
func eachField(b []byte, read func(name, value []byte) bool) bool {
	for {
		field, rest, more := cutComma(b)
		equals := bytes.IndexByte(field, '=')
		if equals < 0 || !read(field[:equals], field[equals+1:]) {
			return false
		}
		if !more {
			return string(field[:equals]) == "workers" // the last field
		}
		b = rest
	}
}

// cutComma cuts b at its first comma, which must be followed by a blank.
func cutComma(b []byte) (before, after []byte, ok bool) {
	i := bytes.IndexByte(b, ',')
	if i < 0 || i+1 == len(b) || b[i+1] != ' ' {
		return b, nil, false
	}
	return b[:i], b[i+2:], true
}

// readWorkers reads the number of heaps, which may be unknown.
func readWorkers(heaps *int32, b []byte) bool {
	n, rest, ok := number(b)
	if ok && len(rest) == 0 {
		*heaps = int32(min(n, math.MaxInt32))
		return true
	}
	return string(b) == "unknown"
}

// The functions below set a value from a field, and leave it unchanged if the field is damaged.

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
