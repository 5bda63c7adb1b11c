package formats

import (
	"strconv"
	"time"
)

// A prefix is the part of a line in front of its level. Most lines of a group have the same one.
type prefix struct {
	text   []byte
	at     int64
	thread uint64
}

// decorate appends the decorations in front of a line: each decorator in brackets, followed by a
// blank.
func (u *unified) decorate(dst []byte, at int64, set TagSet, level Level) []byte {
	if u.sel.Decorators == 0 {
		return dst
	}
	if p := &u.prefix; len(p.text) == 0 || p.at != at || p.thread != u.thread {
		p.text, p.at, p.thread = p.text[:0], at, u.thread
		for x := range DecLevel {
			if u.sel.Decorators.Has(x) {
				p.text = append(p.text, '[')
				p.text = u.decoration(p.text, x, at)
				p.text = append(p.text, ']')
			}
		}
	}
	dst = append(dst, u.prefix.text...)
	if u.sel.Decorators.Has(DecLevel) {
		dst = append(dst, '[')
		dst = append(dst, LevelNames[level]...)
		dst = append(dst, ']')
	}
	if u.sel.Decorators.Has(DecTags) {
		dst = append(dst, '[')
		dst = append(dst, tagSetNames[set]...)
		dst = append(dst, ']')
	}
	return append(dst, ' ')
}

func (u *unified) decoration(dst []byte, x Decorator, at int64) []byte {
	switch x {
	case DecTime:
		return u.clock.appendLocal(dst, at)
	case DecUTCTime:
		dst = u.clock.appendClock(dst, at, 3)
		return append(dst, "+0000"...)
	case DecUptime:
		dst = u.clock.appendUptime(dst, at)
		return append(dst, 's')
	case DecTimeMillis:
		dst = strconv.AppendInt(dst, (u.clock.sync+at)/int64(time.Millisecond), 10)
		return append(dst, "ms"...)
	case DecUptimeMillis:
		dst = strconv.AppendInt(dst, max(0, u.clock.uptime+at)/int64(time.Millisecond), 10)
		return append(dst, "ms"...)
	case DecTimeNanos:
		dst = strconv.AppendInt(dst, u.clock.sync+at, 10)
		return append(dst, "ns"...)
	case DecUptimeNanos:
		dst = strconv.AppendInt(dst, max(0, u.clock.uptime+at), 10)
		return append(dst, "ns"...)
	case DecHostname:
		if u.host == "" {
			return append(dst, "unknown"...)
		}
		return appendPlain(dst, u.host)
	case DecPID:
		return strconv.AppendInt(dst, u.process.ID, 10)
	default: // DecTID
		return strconv.AppendUint(dst, u.thread, 10)
	}
}

// appendLocal appends the local date and time with three decimals and the zone, as
// 2006-01-02T15:04:05.000+0100.
func (c *clock) appendLocal(dst []byte, at int64) []byte {
	_, zone := time.Unix(0, c.sync+at).Zone()
	dst = c.appendClock(dst, at+int64(zone)*nsPerSecond, 3)
	sign := byte('+')
	if zone < 0 {
		sign, zone = '-', -zone
	}
	dst = append(dst, sign)
	dst = appendPadded(dst, int64(zone/3600), 2)
	return appendPadded(dst, int64(zone/60%60), 2)
}
