package attach

import (
	"io"

	"github.com/gclog/gclog/formats"
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
	l.begin(w)
	l.taps = append(l.taps, tap{w, to})
}

// passToTaps passes something to the taps, and forgets those that take no more.
func (l *Log) passToTaps(f func(formats.Observer)) {
	rest := l.taps[:0]
	for _, t := range l.taps {
		if f(t.w); t.w.Err() == nil {
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
