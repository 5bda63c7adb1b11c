package attach

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
)

// A logLine contains the fields that tests read from a line of a JSON log.
type logLine struct {
	At    time.Time `json:"@timestamp"`
	Event struct {
		Action, Reason string
		Duration       time.Duration
	}
	Process struct{ Name string }
	Host    struct{ Name string }
	Dotnet  struct {
		GC struct {
			Number uint32
			Gap    struct {
				From, To uint32
				Reason   string
			}
			Summary struct {
				Partial     bool
				Collections struct{ Gen0 struct{ Count int } }
				Pause       struct{ Count int }
			}
		}
	}
}

// linesOf returns the lines of a JSON log.
func linesOf(t *testing.T, log []byte) (lines []logLine) {
	t.Helper()
	for line := range bytes.Lines(log) {
		var l logLine
		if err := json.Unmarshal(line, &l); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		lines = append(lines, l)
	}
	return lines
}

// String returns what a line reports in a few words: a collection by its number, the end of a
// session by its reason. It is empty for a header.
func (l *logLine) String() string {
	gc := &l.Dotnet.GC
	switch l.Event.Action {
	case "gc":
		return fmt.Sprint(gc.Number)
	case "gc-gap":
		return fmt.Sprintf("gap %d-%d %s", gc.Gap.From, gc.Gap.To, gc.Gap.Reason)
	case "gc-session-end":
		return l.Event.Reason
	case "gc-log-header":
		return ""
	}
	return strings.TrimPrefix(l.Event.Action, "gc-")
}

// summaryOf returns what the lines of a log report, in a few words.
func summaryOf(t *testing.T, log []byte) string {
	t.Helper()
	var words []string
	for _, l := range linesOf(t, log) {
		if s := l.String(); s != "" {
			words = append(words, s)
		}
	}
	return strings.Join(words, ", ")
}
