package daemon

import (
	"fmt"
	"time"

	"github.com/rs/zerolog"
)

// A limiter keeps the daemon's own log from being flooded: of the warnings about one thing, it
// passes the first few of each hour whose text differs from the one before. How many it has
// suppressed is logged with the next one.
//
// Processes come and go, and each is a thing of its own. So no user's processes can make the warnings
// about those of others, or about the daemon itself, count as one thing.
type limiter struct {
	log    *zerolog.Logger
	things map[string]*thing
	count  map[int]int // of things, by user
	users  int         // sum of count
}

type thing struct {
	user   int  // of the processes that it is about; noUserID: it is about none
	rest   bool // it is what is left of others
	last   string
	since  time.Time // start of the current hour
	logged int
	left   int
}

// noUserID is the user of what is not about a process.
const noUserID = -1

const (
	limitPeriod = time.Hour
	limitCount  = 20
	// limitThings is how many things are distinguished in an hour; all others count as one. limitUsers is
	// how many of them may be about processes, limitUser about those of one user, limitRoot of root.
	limitThings = 4096
	limitUsers  = 3072
	limitUser   = 512
	limitRoot   = 1536
)

// warn writes a warning about a thing. p is the process that it concerns, or nil.
func (l *limiter) warn(about, text string, p *process) { l.say(zerolog.WarnLevel, about, text, p) }

// say is warn with another level.
func (l *limiter) say(level zerolog.Level, about, text string, p *process) {
	if p == nil {
		l.note(level, about, text, noUserID, nil)
		return
	}
	l.note(level, about, text, p.target.Principal(),
		func(e *zerolog.Event) { e.Int("pid", p.target.PID).Str("process", p.name()) })
}

// warnOf is warn for what concerns a process of a user that is not logged.
func (l *limiter) warnOf(user int, about, text string) {
	l.note(zerolog.WarnLevel, about, text, user, nil)
}

func (l *limiter) note(level zerolog.Level, about, text string, user int, fields func(*zerolog.Event)) {
	t := l.thing(about, user)
	if t.logged >= limitCount || !t.rest && text == t.last {
		t.left++
		return
	}
	e := l.log.WithLevel(level)
	if fields != nil {
		fields(e)
	}
	if t.left > 0 {
		e = e.Int("left_out", t.left)
	}
	e.Msg(text)
	t.last, t.left = text, 0
	t.logged++
}

// thing returns the thing that a warning is about, or what is left of others if there are too many.
func (l *limiter) thing(about string, user int) *thing {
	if l.things == nil {
		l.things, l.count = map[string]*thing{}, map[int]int{}
	}
	if t := l.things[about]; t != nil {
		return t
	}
	full := len(l.things) >= limitThings
	if user != noUserID {
		most := limitUser
		if user == 0 {
			most = limitRoot
		}
		full = l.count[user] >= most || l.users >= limitUsers
	}
	if !full {
		return l.add(about, user, false)
	}
	about = "the rest"
	switch {
	case user != noUserID && l.count[user] > 0:
		about += fmt.Sprint(" of ", user)
	case user != noUserID:
		about += " of all users"
	}
	if t := l.things[about]; t != nil {
		return t
	}
	return l.add(about, user, true)
}

func (l *limiter) add(about string, user int, rest bool) *thing {
	t := &thing{user: user, rest: rest, since: time.Now()}
	l.things[about] = t
	if user != noUserID && !rest {
		l.count[user]++
		l.users++
	}
	return t
}

// forget removes a thing.
func (l *limiter) forget(about string, t *thing) {
	delete(l.things, about)
	if t.user == noUserID || t.rest {
		return
	}
	l.users--
	if l.count[t.user]--; l.count[t.user] == 0 {
		delete(l.count, t.user)
	}
}

// tick starts a new hour for the things whose hour is over: warnings that were suppressed are
// logged once, and things without any are forgotten.
func (l *limiter) tick(now time.Time) {
	for about, t := range l.things {
		switch {
		case now.Sub(t.since) < limitPeriod:
		case t.left == 0:
			l.forget(about, t)
		default:
			l.log.Warn().Int("left_out", t.left).Msg(t.last)
			t.since, t.logged, t.left = now, 0, 0
		}
	}
}
