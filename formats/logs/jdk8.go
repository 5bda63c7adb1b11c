package logs

import (
	"bytes"
	"regexp"
	"time"

	"github.com/gclog/gclog/gclog"
)

// recognizeJDK8 recognizes what gclog writes in the format of JDK 8: headers with .NET, and lines
// of ParNew and CMS without CPU times, which every JVM writes. A JVM's line without any, because the pause
// was short, ends with a blank.
func recognizeJDK8(line []byte) (time.Time, bool) {
	if isMachine(line) {
		return time.Time{}, true
	}
	line, times, _ := bytes.Cut(line, []byte(" [Times: "))
	if len(times) > 0 && (!bytes.HasPrefix(times, []byte("user=0.00 sys=0.00, ")) || bytes.HasSuffix(bytes.TrimRight(times, "\r\n"), []byte(" "))) {
		return time.Time{}, false
	}
	var c calendar
	m, rest, ok := stampOf(line, &c)
	if !ok {
		return time.Time{}, false
	}
	return m.time(), jdk8Text.Match(rest)
}

var jdk8Text = regexp.MustCompile(`^\[(GC \(.*\[(ParNew|1 CMS-initial-mark|1 CMS-remark): |Full GC \(.*\[CMS: |CMS-concurrent-[a-z-]+[:\]])`)

// isMachine reports whether a line is the first of a header:
//
//	OpenJDK 64-Bit Server VM (.NET 10.0.14, process 4711 MyApp) for linux-amd64 …
func isMachine(b []byte) bool {
	b, ok := literal(b, "OpenJDK 64-Bit Server VM (")
	if !ok {
		return false
	}
	b, _, ok = bytes.Cut(b, []byte(") for "))
	return ok && runtimeOf(b, &gclog.Process{})
}

// stampOf reads 2026-11-21T00:30:37.567+0000: 90.267: and the blank after it.
func stampOf(b []byte, c *calendar) (m moment, rest []byte, ok bool) {
	rest = b
	if ns, tail, ok := c.date(b); ok {
		unit := dateUnit(b[:len(b)-len(tail)])
		if tail, ok = literal(tail, ": "); !ok || !m.setWall(ns, unit) {
			return m, b, false
		}
		rest, m.zone = tail, c.zone
	}
	if ns, unit, tail, ok := seconds(rest); ok {
		if tail, ok = literal(tail, ": "); !ok || !m.setUp(ns, unit) {
			return m, b, false
		}
		rest = tail
	}
	return m, rest, m.known()
}
