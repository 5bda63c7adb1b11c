package times

import (
	"bytes"
	"math/bits"
	"strconv"
	"time"
)

// longest is the longest duration that is accepted: more than a year.
const longest = int64(1) << 55

// ParseDuration parses how long something took, in nanoseconds: a number with a unit (12ms, 1.5s,
// 1m30s), .NET's [d.]hh:mm:ss.fffffff, or a bare number of units.
func ParseDuration(b []byte, unit int64) (ns int64, bare, ok bool) {
	b = bytes.TrimSpace(b)
	whole, part, rest, ok := decimal(b)
	if !ok {
		return 0, false, false
	}
	switch {
	case len(rest) == 0:
		bare = true
	case rest[0] == ':' || rest[0] == '.':
		ns, ok = timeSpan(b)
		return ns, false, ok
	case rest[0] == 'e' || rest[0] == 'E':
		f, err := strconv.ParseFloat(string(b), 64)
		if f *= float64(unit); err != nil || !(f >= 0 && f <= float64(longest)) {
			return 0, false, false
		}
		return int64(f), true, true
	default:
		if unit = unitOf(bytes.TrimLeft(rest, " ")); unit == 0 {
			d, err := time.ParseDuration(string(b))
			return int64(d), false, err == nil && int64(d) <= longest
		}
	}
	if whole > longest/unit {
		return 0, false, false
	}
	return whole*unit + scale(part, unit), bare, true
}

// unitOf returns a unit in nanoseconds, or 0 if it is not one.
func unitOf(b []byte) int64 {
	switch string(b) {
	case "s":
		return int64(time.Second)
	case "ms":
		return int64(time.Millisecond)
	case "us", "µs", "μs":
		return int64(time.Microsecond)
	case "ns":
		return 1
	case "m":
		return int64(time.Minute)
	case "h":
		return int64(time.Hour)
	}
	return 0
}

// scale converts billionths of a unit to nanoseconds.
func scale(part, unit int64) int64 {
	high, low := bits.Mul64(uint64(part), uint64(unit))
	ns, _ := bits.Div64(high, low, 1e9) // part is below 1e9
	return int64(ns)
}

// timeSpan parses [d.]hh:mm:ss[.fffffff].
func timeSpan(b []byte) (ns int64, ok bool) {
	clock := b
	days := 0
	if dot := bytes.IndexByte(b, '.'); dot >= 0 && dot < bytes.IndexByte(b, ':') {
		if days, ok = digits(b[:dot]); !ok || dot == 0 || dot > 3 {
			return 0, false
		}
		clock = b[dot+1:]
	}
	if len(clock) < 8 || clock[2] != ':' || clock[5] != ':' {
		return 0, false
	}
	hours, ok1 := digits(clock[0:2])
	minutes, ok2 := digits(clock[3:5])
	seconds, ok3 := digits(clock[6:8])
	if !ok1 || !ok2 || !ok3 || hours > 23 || minutes > 59 || seconds > 59 || days > 365 {
		return 0, false
	}
	if rest := clock[8:]; len(rest) > 0 {
		read := 0
		if ns, read = fraction(rest[1:]); rest[0] != '.' || read != len(rest)-1 || read == 0 {
			return 0, false
		}
	}
	return ns + int64(((days*24+hours)*60+minutes)*60+seconds)*int64(time.Second), true
}
