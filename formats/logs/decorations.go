package logs

import (
	"bytes"
	"math"
	"time"
)

// tags are the tags of a line, as far as they matter.
type tags uint8

const (
	noTags     tags = iota
	gcTag           // [gc]
	ownTags         // other tags that gclog writes in every log
	detailTags      // tags that gclog writes only if they are selected
	otherTags       // tags of Java's lines
)

// decorations are what is in front of a line's text.
type decorations struct {
	moment
	tags tags
	text []byte
}

// A decorator reads decorations. In this order, each in its brackets, there may be: the date in
// local time and in UTC, the uptime, the time and the uptime in milliseconds and nanoseconds, host,
// process, thread, level, tags. Each can be identified by its form, except host and tags: tags that
// are not the GC's matter as little as a host.
type decorator struct {
	calendar calendar
	// What the lines of a pause have in common: the brackets up to the last one that starts with a
	// digit, and their contents.
	begin [512]byte
	size  int
	same  decorations
}

// read returns false for lines without a time.
func (r *decorator) read(b []byte) (d decorations, ok bool) {
	if r.size == 0 || len(b) < r.size || string(b[:r.size]) != string(r.begin[:r.size]) {
		if !r.readBegin(b) {
			return d, false
		}
	}
	d = r.same
	b = b[r.size:]
	for len(b) > 0 && b[0] == '[' {
		end := bytes.IndexByte(b, ']')
		if end < 2 {
			return d, false
		}
		if t := tagsOf(b[1:end]); t != noTags {
			d.tags = t
		}
		b = b[end+1:]
	}
	if len(b) < 2 || b[0] != ' ' {
		return d, false
	}
	d.text = b[1:]
	return d, true
}

// readBegin reads the times, and whatever else starts with a digit. Of two numbers the first is the
// process's: a single one may be the thread's, and the host's name may be a number.
func (r *decorator) readBegin(b []byte) bool {
	r.size = 0
	r.same = decorations{}
	last := int64(0) // number
	rest := b
	for isNumeric(rest) {
		end := bytes.IndexByte(rest, ']')
		if end < 0 {
			return false
		}
		x := rest[1:end]
		if n, tail, ok := number(x); ok && len(tail) == 0 && n <= math.MaxInt64 {
			r.same.pid, last = last, int64(n)
		} else if !r.time(&r.same.moment, x) {
			return false
		}
		rest = rest[end+1:]
		rest = skipName(rest)
	}
	size := len(b) - len(rest)
	if !r.same.known() || size > len(r.begin) {
		return false
	}
	r.size = copy(r.begin[:], b[:size])
	return true
}

// skipName skips the name of a host if numbers follow.
func skipName(b []byte) []byte {
	if len(b) == 0 || b[0] != '[' || isNumeric(b) {
		return b
	}
	if rest := b[bytes.IndexByte(b, ']')+1:]; isNumeric(rest) {
		return rest
	}
	return b
}

// isNumeric reports whether b starts with a bracket followed by a digit.
func isNumeric(b []byte) bool { return len(b) > 1 && b[0] == '[' && b[1]-'0' <= 9 }

// time reads an item that starts with a digit. If it is not a time, it is the name of a host. It
// returns false for times that are out of range.
func (r *decorator) time(m *moment, x []byte) bool {
	if ns, rest, ok := r.calendar.date(x); ok && len(rest) == 0 {
		m.zone = r.calendar.zone
		return m.setWall(ns, dateUnit(x))
	}
	if ns, unit, rest, ok := seconds(x); ok && string(rest) == "s" {
		return m.setUp(ns, unit)
	}
	n, rest, ok := number(x)
	if !ok {
		return true
	}
	unit := int64(1)
	switch string(rest) {
	case "ms":
		unit = int64(time.Millisecond)
	case "ns":
	default:
		return true
	}
	if n > uint64(farthest/unit) {
		return false
	}
	// The time and the uptime look alike. No process is as old as the current time since 1970.
	const oldest = 31 * 365 * 24 * int64(time.Hour)
	ns := int64(n) * unit
	if ns > oldest {
		return m.setWall(ns, unit)
	}
	return m.setUp(ns, unit)
}

// tagsOf returns the kind of the tags in brackets, which may be padded with blanks.
func tagsOf(x []byte) tags {
	for len(x) > 0 && x[len(x)-1] == ' ' {
		x = x[:len(x)-1]
	}
	switch string(x) {
	case "gc":
		return gcTag
	case "gc,start", "gc,heap", "gc,stats", "gc,cpu", "gc,init":
		return ownTags
	case "gc,ergo", "gc,alloc", "gc,ref", "gc,phases", "safepoint":
		return detailTags
	}
	if bytes.HasPrefix(x, []byte("gc,")) || bytes.HasPrefix(x, []byte("safepoint")) {
		return otherTags
	}
	return noTags
}
