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
)

// warn writes a warning about a thing. p is the process that it concerns, or nil.
func (l *limiter) warn(about, text string, p *process) {
	if l.things == nil {
		l.things = map[string]*thing{}
	}
	t := l.things[about]
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

// tick forgets what was said more than an hour ago.
func (l *limiter) tick(now time.Time) {
	for about, t := range l.things {
		if now.Sub(t.since) < limitPeriod {
			continue
		}
		if t.left > 0 {
			l.log.Warn().Int("left_out", t.left).Msg(t.last)
		}
		delete(l.things, about)
	}
}
