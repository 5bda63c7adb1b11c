package logs

import "github.com/gclog/gclog/gclog"

// sizes are the sizes before and after a collection, in KiB.
type sizes struct{ before, after int64 }

func (s sizes) set(g *gclog.GenerationDetails) {
	g.Before, g.After = uint64(s.before)*kibibyte, uint64(s.after)*kibibyte
}

const (
	kibibyte = 1024
	maxKiB   = 1 << 50 // sums of sizes fit in 63 bits
)

// size reads a number of KiB followed by K.
func size(b []byte) (kib int64, rest []byte, ok bool) {
	v, rest, ok := number(b)
	if !ok || v >= maxKiB || len(rest) == 0 || rest[0] != 'K' {
		return 0, b, false
	}
	return int64(v), rest[1:], true
}

// pair reads 28672K->3072K.
func pair(b []byte) (s sizes, rest []byte, ok bool) {
	if s.before, rest, ok = size(b); !ok {
		return s, b, false
	}
	if rest, ok = literal(rest, "->"); !ok {
		return s, b, false
	}
	s.after, rest, ok = size(rest)
	return s, rest, ok
}

// bounded reads (73728K).
func bounded(b []byte) (capacity int64, rest []byte, ok bool) {
	if rest, ok = literal(b, "("); !ok {
		return 0, b, false
	}
	if capacity, rest, ok = size(rest); !ok {
		return 0, b, false
	}
	rest, ok = literal(rest, ")")
	return capacity, rest, ok
}

// bounds reads 28672K->3072K(73728K).
func bounds(b []byte) (s sizes, capacity int64, rest []byte, ok bool) {
	if s, rest, ok = pair(b); !ok {
		return s, 0, b, false
	}
	capacity, rest, ok = bounded(rest)
	return s, capacity, rest, ok
}
