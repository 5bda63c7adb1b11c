package logs

import (
	"math"
	"time"
)

// duration reads a number of units with decimals, of at most a year.
func duration(b []byte, decimals int, unit int64) (ns int64, rest []byte, ok bool) {
	v, rest, ok := fixed(b, decimals)
	if !ok || v < 0 || v > longest/unit {
		return 0, b, false
	}
	return v * unit, rest, true
}

// farthest is the latest accepted time, longest the longest accepted duration: their sums fit in 63
// bits.
const (
	farthest = 1 << 62
	longest  = 1 << 55
)

// A moment is the time in a line, in nanoseconds, truncated to its unit, and the process it belongs
// to. Unit 0 and pid 0 mean that the line does not contain the value.
type moment struct {
	wall, wallUnit int64 // since 1970
	zone           int64 // of the line's time, east of UTC
	up, upUnit     int64 // since the start of the process
	pid            int64
}

func (m *moment) setWall(ns, unit int64) bool {
	if m.wallUnit == 0 {
		m.wall, m.wallUnit = ns, unit
	}
	return ns >= 0 && ns < farthest
}

func (m *moment) setUp(ns, unit int64) bool {
	if m.upUnit == 0 {
		m.up, m.upUnit = ns, unit
	}
	return ns >= 0 && ns < farthest
}

func (m *moment) known() bool { return m.wallUnit|m.upUnit != 0 }

// time is the time that Recognize returns.
func (m *moment) time() time.Time {
	if m.wallUnit == 0 {
		return time.Unix(0, m.up).UTC()
	}
	if m.zone == 0 {
		return time.Unix(0, m.wall).UTC()
	}
	return time.Unix(0, m.wall).In(time.FixedZone("", int(m.zone/int64(time.Second))))
}

// seconds reads seconds with up to nine decimals. unit is that of the last decimal.
func seconds(b []byte) (ns, unit int64, rest []byte, ok bool) {
	ns, rest, ok = fixed(b, 9)
	if !ok || b[0] == '-' {
		return 0, 0, b, false
	}
	unit = int64(time.Second)
	for i := len(b) - len(rest) - 1; i > 0; i-- {
		if b[i] == '.' {
			return ns, unit, rest, true
		}
		unit /= 10
	}
	return ns, int64(time.Second), rest, true
}

// dateUnit returns the unit of a date's last decimal, of at most nine.
func dateUnit(date []byte) int64 {
	unit := int64(time.Second)
	const seconds = len("2006-01-02T15:04:05")
	if date[seconds] != '.' {
		return unit
	}
	for _, c := range date[seconds+1:] {
		if c -= '0'; c > 9 || unit == 1 {
			break
		}
		unit /= 10
	}
	return unit
}

// A span is when something may have happened: at from or later, but before to.
type span struct{ from, to int64 }

func cutOff(ns, unit int64) span { return span{ns, ns + unit} }

func (s span) known() bool { return s.from != s.to }

// nearest returns the time in s that is nearest to t.
func (s span) nearest(t int64) int64 { return max(s.from, min(t, s.to-1)) }

// after removes the part of s before t, if anything remains.
func (s span) after(t int64) span {
	if t < s.to {
		s.from = max(s.from, t)
	}
	return s
}

func (s span) middle() int64 { return s.from + (s.to-s.from)/2 }

// starts returns when something that lasts for d and ends in s started.
func (s span) starts(d int64) span { return span{s.from - d, s.to - d} }

func (s span) and(t span) span { return span{max(s.from, t.from), min(s.to, t.to)} }

// place computes when a pause that lasted for d started: at the likely time if possible, otherwise
// as early as possible after what came before. That makes no pause too late, so there is room for
// all pauses of the same millisecond.
func (u *unified) place(begin, end span, d, likely int64) (start, duration int64) {
	const slack = int64(time.Microsecond)/2 - 1
	if !begin.known() {
		begin = end.starts(d)
	}
	if possible := begin.and(end.starts(d)).after(u.emittedUntil); likely < possible.from || likely >= possible.to {
		likely = possible.nearest(u.emittedUntil)
	}
	return fit(begin, end, d, slack, likely)
}

const noTime = int64(math.MinInt64)

// fit returns the start and the duration of something that started in begin, ended in end, and
// lasted for d, give or take slack: the start that is nearest to prefer.
func fit(begin, end span, d, slack, prefer int64) (start, duration int64) {
	possible := begin.and(end.starts(d))
	if possible.from < possible.to {
		return possible.nearest(prefer), d
	}
	start = begin.nearest(end.from - d)
	return start, max(0, d-slack, min(end.nearest(start+d)-start, d+slack))
}
