package daemon

import (
	"time"

	"github.com/rs/zerolog"
)

// A limiter keeps the daemon's own log from being flooded: of the warnings about one
// thing it lets through the first few of each hour, and one that says something else
// than the last. How many it has left out it tells with the next.
type limiter struct {
	log    *zerolog.Logger
	things map[string]*thing
}

type thing struct {
	last  string
	since time.Time // of the hour
	told  int
	left  int
}

const (
	limitPeriod = time.Hour
	limitCount  = 20
	// limitThings is how many things are told apart in an hour; all others count as one.
	limitThings = 4096
)

// warn writes a warning about a thing. p is the process that it concerns, or nil.
func (l *limiter) warn(about, text string, p *process) {
	if l.things == nil {
		l.things = map[string]*thing{}
	}
	t := l.things[about]
	if t == nil && len(l.things) >= limitThings {
		about = ""
		t = l.things[about]
	}
	if t == nil {
		t = &thing{since: time.Now()}
		l.things[about] = t
	}
	if t.told >= limitCount || about != "" && text == t.last {
		t.left++
		return
	}
	e := l.log.Warn()
	if p != nil {
		e = e.Int("pid", p.target.PID).Str("process", p.name())
	}
	if t.left > 0 {
		e = e.Int("left_out", t.left)
	}
	e.Msg(text)
	t.last, t.left = text, 0
	t.told++
}

// tick begins another hour: what was left out in the last one is told once, and what was
// not said again is forgotten.
func (l *limiter) tick(now time.Time) {
	for about, t := range l.things {
		switch {
		case now.Sub(t.since) < limitPeriod:
		case t.left == 0:
			delete(l.things, about)
		default:
			l.log.Warn().Int("left_out", t.left).Msg(t.last)
			t.since, t.told, t.left = now, 0, 0
		}
	}
}
