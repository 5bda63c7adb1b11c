package logs

import (
	"bytes"
	"math"
)

// The limits of times and durations: their sums fit in 63 bits.
const (
	farthest = 1 << 62
	longest  = 1 << 55
)

// eachField passes on the values of a line:
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

// The functions below read a value, and leave it unchanged if it is damaged.

// readWorkers reads the number of heaps, which may be unknown.
func readWorkers(heaps *int32, b []byte) bool {
	return readCount(heaps, b, math.MaxInt32) || string(b) == "unknown"
}

func readCount[T uint32 | int32 | uint64](v *T, b []byte, most uint64) bool {
	n, rest, ok := number(b)
	if ok = ok && len(rest) == 0 && n <= most; ok {
		*v = T(n)
	}
	return ok
}

// readMillis reads 0.849000ms.
func readMillis(v *int64, b []byte) bool {
	ns, rest, ok := fixed(b, 6)
	if ok = ok && string(rest) == "ms" && ns >= 0 && ns <= longest; ok {
		*v = ns
	}
	return ok
}

func (u *unified) readTime(v *int64, b []byte) bool {
	ns, ok := u.days.time(b)
	if ok {
		*v = ns
	}
	return ok
}

// size reads 57560B.
func size(b []byte) (v uint64, ok bool) {
	v, rest, ok := number(b)
	return v, ok && string(rest) == "B"
}
