package logs

import (
	"bytes"
	"regexp"
	"time"
)

// recognizeJDK8 recognizes what gclog writes in the format of JDK 8: headers with .NET, and lines
// of ParNew and CMS without CPU times, which every JVM writes. A JVM's line without any, because the pause
// was short, ends with a blank.
func recognizeJDK8(line []byte) (time.Time, bool) {
	if isMachine(line) {
		return time.Time{}, true
	}
	line, times, _ := bytes.Cut(line, []byte(" [Times: "))
	ours := bytes.HasPrefix(times, []byte("user=0.00 sys=0.00, ")) &&
		!bytes.HasSuffix(bytes.TrimRight(times, "\r\n"), []byte(" "))
	if len(times) > 0 && !ours {
		return time.Time{}, false
	}
	return time.Time{}, jdk8Text.Match(line)
}

// jdk8Text is a line with its date and its uptime.
var jdk8Text = regexp.MustCompile(`^\d{4}-\d\d-\d\dT[\d:.]+[+-]\d{4}: \d+\.\d+: \[` +
	`(GC \(.*\[(ParNew|1 CMS-initial-mark|1 CMS-remark): |Full GC \(.*\[CMS: |CMS-concurrent-[a-z-]+[:\]])`)

// isMachine reports whether a line is the first of a header:
//
//	OpenJDK 64-Bit Server VM (.NET 10.0.14, process 4711 MyApp) for linux-amd64 …
func isMachine(b []byte) bool {
	b, ok := literal(b, "OpenJDK 64-Bit Server VM (.NET")
	return ok && bytes.Contains(b, []byte(", process ")) && bytes.Contains(b, []byte(") for "))
}
