package attach

import (
	"io"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/gclog"
)

// A tap receives the records of a session as JSON lines, in addition to the outputs of a Log.
type tap struct {
	w  *formats.Writer
	to io.Closer
}

// Tap passes the records of the session from now on to a writer too, as JSON lines that start with
// the facts about the process, and closes it when the session ends, or when a write fails. Writing
// must not wait. Without a session the writer is closed at once.
func (l *Log) Tap(to io.WriteCloser) {
	format, err := formats.Find("json")
	if err != nil || l.set == nil || l.session == nil {
		_ = to.Close()
		return
	}
	w := formats.NewWriter(format, formats.NewStream(to, false), l.format())
	w.Observe(l.start())
	l.taps = append(l.taps, tap{w, to})
}

// passToTaps passes a record to the taps, and forgets those that take no more.
func (l *Log) passToTaps(r gclog.Record) {
	rest := l.taps[:0]
	for _, t := range l.taps {
		if t.w.Observe(r); t.w.Err() == nil {
			rest = append(rest, t)
		} else {
			_ = t.to.Close()
		}
	}
	l.taps = rest
}

// endTaps closes the taps.
func (l *Log) endTaps() {
	for _, t := range l.taps {
		_ = t.to.Close()
	}
	l.taps = nil
}
