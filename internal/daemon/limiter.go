package daemon

import (
	"time"

	"github.com/rs/zerolog"
)

// A limiter keeps the daemon's own log from being flooded: of the warnings about one thing, it
// passes the first few of each hour whose text differs from the one before. How many it has
// suppressed is logged with the next one.
type limiter struct {
	log    *zerolog.Logger
	things map[string]*thing
}

type thing struct {
	last   string
	since  time.Time // start of the current hour
	logged int
	left   int
}

const (
	limitPeriod = time.Hour
	limitCount  = 20
	// limitThings is how many things are distinguished in an hour; all others count as one.
	limitThings = 4096
)

// warn writes a warning about a thing. p is the process that it concerns, or nil.
func (l *limiter) warn(about, text string, p *process) { l.say(zerolog.WarnLevel, about, text, p) }

// say is warn with another level.
func (l *limiter) say(level zerolog.Level, about, text string, p *process) {
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
	if t.logged >= limitCount || about != "" && text == t.last {
		t.left++
		return
	}
	e := l.log.WithLevel(level)
	if p != nil {
		e = e.Int("pid", p.target.PID).Str("process", p.name())
	}
	if t.left > 0 {
		e = e.Int("left_out", t.left)
	}
	e.Msg(text)
	t.last, t.left = text, 0
	t.logged++
}

// tick starts a new hour for the things whose hour is over: warnings that were suppressed are
// logged once, and things without any are forgotten.
func (l *limiter) tick(now time.Time) {
	for about, t := range l.things {
		switch {
		case now.Sub(t.since) < limitPeriod:
		case t.left == 0:
			delete(l.things, about)
		default:
			l.log.Warn().Int("left_out", t.left).Msg(t.last)
			t.since, t.logged, t.left = now, 0, 0
		}
	}
}
