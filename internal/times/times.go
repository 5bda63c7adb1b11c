// Package times reads times and durations as people and logs of requests write them, and without
// allocating: a log has millions.
package times

import (
	"bytes"
	"math"
	"strconv"
	"time"
)

// A Time is what a text says of a time.
type Time struct {
	// Shown is what a clock shows, in nanoseconds since 1970; since midnight if OfDay is set.
	Shown int64
	OfDay bool
	// East is the zone of the clock, in seconds east of UTC. Without Zoned the text has none.
	East  int
	Zoned bool
	// Number is set if the text is a number since 1970.
	Number bool
	// Unit is that of the last digit: a time stands for everything that starts with its digits.
	Unit time.Duration
}

// A form is a way to write times.
type form struct {
	example string
	// fits reports whether a text that is not empty may be of this form, and of no other.
	fits func(b []byte) bool
	read func(b []byte) (t Time, ok bool)
}

// forms are all forms. Each may be in brackets, and the fraction of a second may follow a comma.
var forms = [...]form{
	{"2026-01-31T14:03:22Z", func(b []byte) bool { return len(b) > 10 && b[4] == '-' && b[7] == '-' }, iso},
	{"31/Jan/2026:14:03:22 +0000", func(b []byte) bool { return len(b) > 11 && b[2] == '/' && b[6] == '/' }, common},
	{"14:03:22", func(b []byte) bool { return len(b) > 4 && b[2] == ':' }, ofDay},
	{"1769868202.5", func(b []byte) bool { return true }, sinceEpoch},
}

// Examples returns a time of each form.
func Examples() (list []string) {
	for i := range forms {
		list = append(list, forms[i].example)
	}
	return list
}

// Parse reads a time:
//
//   - RFC 3339, also with a blank instead of the T, without seconds, or without a zone, which may be
//     Z, UTC, +hh:mm or +hhmm;
//   - as nginx and Apache write it;
//   - a time of day, with or without seconds and a zone;
//   - a number since 1970, whose size determines whether it is in seconds, milliseconds, microseconds or
//     nanoseconds.
func Parse(b []byte) (t Time, ok bool) {
	b = bytes.TrimSpace(b)
	if n := len(b); n > 1 && b[0] == '[' && b[n-1] == ']' {
		b = b[1 : n-1]
	}
	for i := range forms {
		if forms[i].fits(b) {
			t, ok = forms[i].read(b)
			return t, ok && t.Shown >= 0
		}
	}
	return t, false
}

// Nanoseconds returns a time that is not one of day in nanoseconds since 1970. Without a zone it is
// taken as UTC. ok is false for one before 1970.
func (t *Time) Nanoseconds() (ns int64, ok bool) {
	ns = t.Shown - int64(t.East)*int64(time.Second)
	return ns, ns >= 0 && !t.OfDay
}

// Zone returns the zone of a time, which is where for one without.
func (t *Time) Zone(where *time.Location) *time.Location {
	if t.Zoned {
		return time.FixedZone("", t.East)
	}
	return where
}

// Moments returns when the clocks of a zone show something, in nanoseconds since 1970: where they are set
// back, and show it twice, both times, otherwise the same moment twice. Where they are set forward over it
// they never do: then it is as long after the change as the time would have been if there were none.
func Moments(shown int64, where *time.Location) (first, again time.Time) {
	east := func(ns int64) int64 {
		_, east := time.Unix(0, ns).In(where).Zone()
		return int64(east) * int64(time.Second)
	}
	const day = int64(24 * time.Hour) // before a change of the clocks, and after it
	before, after := shown-east(shown-day), shown-east(shown+day)
	switch is, later := east(before) == shown-before, east(after) == shown-after; {
	case later && !is:
		before = after
	case !later, after < before:
		after = before
	}
	return time.Unix(0, before).In(where), time.Unix(0, after).In(where)
}

// MomentsOn returns when the clocks of a zone show a time of day on the day of a moment.
func MomentsOn(day time.Time, ofDay int64, where *time.Location) (first, again time.Time) {
	day = day.In(where)
	midnight := time.Date(day.Year(), day.Month(), day.Day(), 0, 0, 0, 0, time.UTC)
	return Moments(midnight.UnixNano()+ofDay, where)
}

// Twice reports whether there is a day, of 2000 to 2100, on which the clocks of a zone show a time of day
// twice.
func Twice(ofDay int64, where *time.Location) bool {
	const day = int64(24 * time.Hour)
	for at := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC).In(where); at.Year() <= 2100; {
		_, end := at.ZoneBounds()
		if end.IsZero() {
			return false
		}
		_, before := end.Add(-1).Zone()
		_, after := end.Zone()
		shown := end.UnixNano() + int64(after)*int64(time.Second) // from here on, again
		if since := ((ofDay-shown)%day + day) % day; since < int64(before-after)*int64(time.Second) {
			return true
		}
		if !end.After(at) { // package time ends a leap year a day early, and finds nothing from there on
			end = at.Add(24 * time.Hour)
		}
		at = end
	}
	return false
}

// iso reads 2006-01-02T15:04:05.
func iso(b []byte) (t Time, ok bool) {
	year, ok1 := digits(b[0:4])
	month, ok2 := digits(b[5:7])
	day, ok3 := digits(b[8:10])
	if c := b[10]; !ok1 || !ok2 || !ok3 || c != 'T' && c != ' ' && c != 't' {
		return t, false
	}
	ok = t.date(year, month, day) && t.clock(b[11:])
	return t, ok
}

// common reads 02/Jan/2006:15:04:05.
func common(b []byte) (t Time, ok bool) {
	day, ok1 := digits(b[0:2])
	year, ok2 := digits(b[7:11])
	const months = "JanFebMarAprMayJunJulAugSepOctNovDec"
	month := bytes.Index([]byte(months), b[3:6])
	if !ok1 || !ok2 || month%3 != 0 || len(b) < 12 || b[11] != ':' {
		return t, false
	}
	ok = t.date(year, month/3+1, day) && t.clock(b[12:])
	return t, ok
}

func ofDay(b []byte) (t Time, ok bool) {
	t.OfDay = true
	ok = t.clock(b)
	return t, ok
}

func (t *Time) date(year, month, day int) bool {
	if !validDate(year, month, day) {
		return false
	}
	t.Shown = daysSince1970(year, month, day) * int64(24*time.Hour)
	return true
}

// clock reads 15:04 or 15:04:05, followed by a fraction and a zone.
func (t *Time) clock(b []byte) bool {
	if len(b) < 5 || b[2] != ':' {
		return false
	}
	hour, ok1 := digits(b[0:2])
	minute, ok2 := digits(b[3:5])
	if !ok1 || !ok2 || hour > 23 || minute > 59 {
		return false
	}
	t.Shown += int64(hour*60+minute) * int64(time.Minute)
	t.Unit = time.Minute
	b = b[5:]
	if len(b) > 2 && b[0] == ':' {
		second, ok := digits(b[1:3])
		if !ok || second > 60 { // 60: a leap second
			return false
		}
		t.Shown += int64(second) * int64(time.Second)
		t.Unit = time.Second
		if b = b[3:]; len(b) > 1 && (b[0] == '.' || b[0] == ',') {
			part, read := fraction(b[1:])
			if read == 0 {
				return false
			}
			t.Shown += part
			t.Unit = UnitAfter(time.Second, read)
			b = b[1+read:]
		}
	}
	return t.zone(bytes.TrimLeft(b, " "))
}

// UnitAfter returns the unit of the last of so many decimals, at least a nanosecond.
func UnitAfter(unit time.Duration, decimals int) time.Duration {
	for ; decimals > 0 && unit > 1; decimals-- {
		unit /= 10
	}
	return max(1, unit)
}

// zone reads Z, +hh:mm, +hhmm or nothing.
func (t *Time) zone(b []byte) bool {
	t.Zoned = len(b) > 0
	switch {
	case len(b) == 0, string(b) == "Z", string(b) == "z", string(b) == "UTC":
		return true
	case b[0] != '+' && b[0] != '-', len(b) != 5 && len(b) != 6, len(b) == 6 && b[3] != ':':
		return false
	}
	hours, ok1 := digits(b[1:3])
	minutes, ok2 := digits(b[len(b)-2:])
	t.East = hours*3600 + minutes*60
	if b[0] == '-' {
		t.East = -t.East
	}
	return ok1 && ok2 && hours < 24 && minutes < 60
}

// sinceEpoch reads a number since 1970.
func sinceEpoch(b []byte) (t Time, ok bool) {
	whole, part, rest, ok := decimal(b)
	decimals := 0
	if dot := bytes.IndexByte(b, '.'); dot >= 0 {
		decimals = len(b) - len(rest) - dot - 1
	}
	if ok && len(rest) > 0 {
		f, err := strconv.ParseFloat(string(b), 64) // such as 1.7e9
		if ok = err == nil && rest[0]|' ' == 'e' && f >= 0 && f < math.MaxInt64; ok {
			whole, part, decimals = int64(f), int64((f-math.Floor(f))*1e9), 0
		}
	}
	unit := int64(time.Second)
	for limit := int64(1e11); whole >= limit && unit > 1; limit *= 1000 {
		unit /= 1000
	}
	if !ok || whole > math.MaxInt64/unit-1 {
		return t, false
	}
	return Time{
		Shown:  whole*unit + scale(part, unit),
		Zoned:  true,
		Number: true,
		Unit:   UnitAfter(time.Duration(unit), decimals),
	}, true
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
	// Nanoseconds since 1970 end in 2262.
	if year < 1970 || year > 2261 || month < 1 || month > 12 || day < 1 {
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
