package accesslog

import (
	"bytes"
	"math"
	"strconv"
	"time"
)

// times parses the times of a log, and remembers what they show about all of them.
type times struct {
	zoneless int64 // number of times without a zone: they are taken as UTC
	precise  bool  // at least one has a fraction of a second
}

// parse returns a time in nanoseconds since 1970. It accepts RFC 3339, also with a space or without
// a zone, the format of nginx and Apache (02/Jan/2006:15:04:05 +0000), and a number since 1970,
// whose size tells whether it is in seconds, milliseconds, microseconds or nanoseconds.
func (t *times) parse(b []byte) (ns int64, ok bool) {
	b = bytes.TrimSpace(b)
	if n := len(b); n > 1 && b[0] == '[' && b[n-1] == ']' {
		b = b[1 : n-1]
	}
	switch {
	case len(b) > 10 && b[4] == '-' && b[7] == '-':
		ns, ok = t.iso(b)
	case len(b) > 11 && b[2] == '/' && b[6] == '/':
		ns, ok = t.common(b)
	default:
		ns, _, ok = SinceEpoch(b)
	}
	if ok && ns%int64(time.Second) != 0 {
		t.precise = true
	}
	return ns, ok && ns >= 0
}

// iso parses 2006-01-02T15:04:05.
func (t *times) iso(b []byte) (ns int64, ok bool) {
	year, ok1 := digits(b[0:4])
	month, ok2 := digits(b[5:7])
	day, ok3 := digits(b[8:10])
	if c := b[10]; !ok1 || !ok2 || !ok3 || c != 'T' && c != ' ' && c != 't' {
		return 0, false
	}
	return t.clock(year, month, day, b[11:])
}

// common parses 02/Jan/2006:15:04:05.
func (t *times) common(b []byte) (ns int64, ok bool) {
	day, ok1 := digits(b[0:2])
	year, ok2 := digits(b[7:11])
	const months = "JanFebMarAprMayJunJulAugSepOctNovDec"
	month := bytes.Index([]byte(months), b[3:6])
	if !ok1 || !ok2 || month%3 != 0 || len(b) < 12 || b[11] != ':' {
		return 0, false
	}
	return t.clock(year, month/3+1, day, b[12:])
}

// clock parses 15:04:05, followed by a fraction and a zone.
func (t *times) clock(year, month, day int, b []byte) (ns int64, ok bool) {
	if len(b) < 8 || b[2] != ':' || b[5] != ':' {
		return 0, false
	}
	hour, ok1 := digits(b[0:2])
	minute, ok2 := digits(b[3:5])
	second, ok3 := digits(b[6:8])
	if !ok1 || !ok2 || !ok3 || hour > 23 || minute > 59 || second > 60 || !validDate(year, month, day) {
		return 0, false
	}
	b = b[8:]
	if len(b) > 1 && (b[0] == '.' || b[0] == ',') {
		var read int
		if ns, read = fraction(b[1:]); read == 0 {
			return 0, false
		}
		b = b[1+read:]
	}
	zone, ok := t.zone(bytes.TrimLeft(b, " "))
	ns += (daysSince1970(year, month, day)*86400 + int64(hour*3600+minute*60+second-zone)) * int64(time.Second)
	return ns, ok
}

// zone parses Z, +hh:mm, +hhmm or nothing, in seconds.
func (t *times) zone(b []byte) (seconds int, ok bool) {
	switch {
	case len(b) == 0:
		t.zoneless++
		return 0, true
	case string(b) == "Z", string(b) == "z", string(b) == "UTC":
		return 0, true
	case b[0] != '+' && b[0] != '-', len(b) != 5 && len(b) != 6, len(b) == 6 && b[3] != ':':
		return 0, false
	}
	hours, ok1 := digits(b[1:3])
	minutes, ok2 := digits(b[len(b)-2:])
	seconds = hours*3600 + minutes*60
	if b[0] == '-' {
		seconds = -seconds
	}
	return seconds, ok1 && ok2 && hours < 24 && minutes < 60
}

// digits parses a number that consists of digits only.
func digits(b []byte) (v int, ok bool) {
	for _, c := range b {
		if c -= '0'; c > 9 {
			return 0, false
		}
		v = v*10 + int(c)
	}
	return v, true
}

// fraction parses decimals, in billionths; read is the number of digits.
func fraction(b []byte) (v int64, read int) {
	unit := int64(100_000_000)
	for _, c := range b {
		if c -= '0'; c > 9 {
			break
		}
		v += int64(c) * unit
		unit /= 10
		read++
	}
	return v, read
}

func validDate(year, month, day int) bool {
	if year < 1970 || year > 2261 || month < 1 || month > 12 || day < 1 { // 2262 is the last year that nanoseconds can represent
		return false
	}
	last := [...]int{31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31}[month-1]
	if month == 2 && year%4 == 0 && (year%100 != 0 || year%400 == 0) {
		last = 29
	}
	return day <= last
}

// daysSince1970 counts years from March 1, so that the leap day is the last of a year.
func daysSince1970(year, month, day int) int64 {
	if month <= 2 {
		year--
		month += 12
	}
	return int64(365*year + year/4 - year/100 + year/400 + (153*(month-3)+2)/5 + day - 1 - 719468)
}

// SinceEpoch parses a number since 1970: its size tells the unit, a second, millisecond, microsecond
// or nanosecond.
func SinceEpoch(b []byte) (ns int64, unit time.Duration, ok bool) {
	whole, part, rest, ok := decimal(b)
	if !ok {
		return 0, 0, false
	}
	if len(rest) > 0 {
		if rest[0] != 'e' && rest[0] != 'E' {
			return 0, 0, false
		}
		f, err := strconv.ParseFloat(string(b), 64) // such as 1.7e9
		if err != nil || !(f >= 0 && f < math.MaxInt64) {
			return 0, 0, false
		}
		whole, part = int64(f), int64((f-math.Floor(f))*1e9)
	}
	for limit, unit := int64(1e11), int64(time.Second); unit > 1; limit, unit = limit*1000, unit/1000 {
		if whole < limit {
			if whole > math.MaxInt64/unit-1 {
				return 0, 0, false
			}
			return whole*unit + scale(part, unit), time.Duration(unit), true
		}
	}
	return whole, 1, true
}

// decimal parses a number with decimals, without a sign: part is in billionths.
func decimal(b []byte) (whole, part int64, rest []byte, ok bool) {
	i := 0
	for ; i < len(b); i++ {
		c := b[i] - '0'
		if c > 9 {
			break
		}
		if whole > (math.MaxInt64-9)/10 {
			return 0, 0, b, false
		}
		whole = whole*10 + int64(c)
	}
	if i == 0 {
		return 0, 0, b, false
	}
	if i+1 < len(b) && b[i] == '.' {
		var read int
		if part, read = fraction(b[i+1:]); read > 0 {
			i += 1 + read
		}
	}
	return whole, part, b[i:], true
}
