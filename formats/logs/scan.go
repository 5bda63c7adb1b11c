package logs

import (
	"math"
	"time"
)

// The functions below read an item at the start of b and return the rest. ok is false if b starts
// with something else.

func literal(b []byte, s string) (rest []byte, ok bool) {
	if len(b) < len(s) || string(b[:len(s)]) != s {
		return b, false
	}
	return b[len(s):], true
}

// number reads a whole number without a sign.
func number(b []byte) (v uint64, rest []byte, ok bool) {
	i := 0
	for ; i < len(b); i++ {
		c := b[i] - '0'
		if c > 9 {
			break
		}
		next := v*10 + uint64(c)
		if v > math.MaxUint64/10 || next < v {
			return 0, b, false
		}
		v = next
	}
	return v, b[i:], i > 0
}

// fixed reads a number with at most digits decimals as an integer in units of 1/10^digits:
// fixed("1.5", 3) is 1500.
func fixed(b []byte, digits int) (v int64, rest []byte, ok bool) {
	negative := len(b) > 0 && b[0] == '-'
	if negative {
		b = b[1:]
	}
	whole, rest, ok := number(b)
	if !ok || whole > math.MaxInt64/1_000_000_000 {
		return 0, b, false
	}
	v = int64(whole)
	left := digits
	if len(rest) > 0 && rest[0] == '.' {
		rest = rest[1:]
		for ; left > 0 && len(rest) > 0 && rest[0]-'0' <= 9; left-- {
			v = v*10 + int64(rest[0]-'0')
			rest = rest[1:]
		}
	}
	for ; left > 0; left-- {
		v *= 10
	}
	if negative {
		v = -v
	}
	return v, rest, true
}

// A calendar reads dates, caching the day: the dates in a log are mostly of the same day.
type calendar struct {
	day  [10]byte // "2006-01-02"
	unix int64    // start of the day in nanoseconds since 1970
}

// date reads 2006-01-02T15:04:05 with up to nine decimals, followed by Z or +hhmm, as nanoseconds
// since 1970.
func (c *calendar) date(b []byte) (ns int64, rest []byte, ok bool) {
	const day, clock = len("2006-01-02"), len("T15:04:05")
	if len(b) < day+clock || b[day] != 'T' || b[day+3] != ':' || b[day+6] != ':' {
		return 0, b, false
	}
	if string(c.day[:]) != string(b[:day]) {
		t, err := time.Parse("2006-01-02", string(b[:day]))
		if err != nil || t.Year() < 1678 || t.Year() > 2261 { // the range of nanoseconds in an int64
			return 0, b, false
		}
		copy(c.day[:], b)
		c.unix = t.UnixNano()
	}
	ns = c.unix
	for i, unit := range [...]int64{int64(time.Hour), int64(time.Minute), int64(time.Second)} {
		tens, ones := b[day+1+3*i]-'0', b[day+2+3*i]-'0'
		if tens > 9 || ones > 9 {
			return 0, b, false
		}
		ns += int64(tens*10+ones) * unit
	}
	rest = b[day+clock:]
	if len(rest) > 0 && rest[0] == '.' {
		rest = rest[1:]
		for unit := int64(time.Second) / 10; unit > 0 && len(rest) > 0 && rest[0]-'0' <= 9; unit /= 10 {
			ns += int64(rest[0]-'0') * unit
			rest = rest[1:]
		}
	}
	if len(rest) > 0 && rest[0] == 'Z' {
		return ns, rest[1:], true
	}
	if len(rest) < 5 || rest[0] != '+' && rest[0] != '-' {
		return 0, b, false
	}
	zone := int64(0)
	for i, unit := range [...]int64{10 * 60, 60, 10, 1} {
		d := rest[1+i] - '0'
		if d > 9 {
			return 0, b, false
		}
		zone += int64(d) * unit * int64(time.Minute)
	}
	if rest[0] == '-' {
		zone = -zone
	}
	return ns - zone, rest[5:], true
}
