package cli

import (
	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/gclog"
)

// A loggedLife passes on what a log holds of one life of a process: containers give all
// their processes the same number. Told is the one that has the time of --at, else the
// last one before the end of what is asked for.
type loggedLife struct {
	r       *historyReader
	process *gclog.Process
	told    *teller // nil: it is not told
	asked   bool
}

// teller returns who is told what began then, nil if nobody is.
func (o *loggedLife) teller(begin int64) *teller {
	if !o.asked {
		o.asked = true
		o.ask(begin)
	}
	if o.told == nil || o.r.failed != nil {
		return nil
	}
	if o.told != o.r.told {
		o.r.failed = usagef("it holds several processes with the number %d at the same time: take the log of one of them", o.process.ID)
		return nil
	}
	return o.told
}

// at is the same for what is in a session, and ended then.
func (o *loggedLife) at(begin, end int64) *teller {
	t := o.teller(begin)
	if t != nil {
		t.begin(begin)
		t.newest = max(t.newest, end)
	}
	return t
}

// ask finds out whether it is told.
func (o *loggedLife) ask(begin int64) {
	r, t := o.r, o.process.Time(begin)
	r.begin(t)
	if !r.list(o.process) {
		return
	}
	if r.told != nil {
		if until, ok := r.part.until.at(r.part.begin, r.part.end); ok && !t.Before(until) {
			return
		}
		if r.told.has(&r.part.at) {
			return
		}
		r.p.ui.sayf("process %d was started anew at %s: what came before is left out (--until chooses that)", o.process.ID, r.part.timeText(t))
		r.gcs.Store(0)
	}
	o.told = r.tell(o.process)
}

func (o *loggedLife) Start(s *formats.Start) {
	if t := o.teller(s.At); t != nil {
		t.end(t.newest) // of the session before, if nothing has told it
		t.begin(s.At)
	}
}

func (o *loggedLife) End(e *formats.End) {
	if t := o.at(e.At, e.At); t != nil {
		t.end(e.At)
	}
}

// Break implements logs.BreakObserver: it is as if there were two sessions.
func (o *loggedLife) Break(from, to int64) {
	if t := o.at(from, from); t != nil {
		t.end(from)
		t.begin(to)
	}
}

func (o *loggedLife) Pause(p *gclog.Pause) {
	if t := o.at(p.Start, p.Start+p.Duration); t != nil {
		t.Pause(p)
	}
}

func (o *loggedLife) Phase(p *gclog.Phase) {
	if t := o.at(p.Start, p.Time); t != nil {
		t.Phase(p)
	}
}

// Gap: what it says was noticed when the session was on. It does not tell since when: a
// pause that has begun before may come behind it.
func (o *loggedLife) Gap(g *gclog.Gap) {
	if t := o.teller(g.Time); t != nil {
		t.newest = max(t.newest, g.Time)
		t.Gap(g)
	}
}

func (o *loggedLife) GC(d *gclog.GCDetails) {
	begin := d.PauseStart()
	if d.Flaws&gclog.FlawNoStart != 0 {
		begin = d.End
	}
	if t := o.at(begin, max(begin, d.End)); t != nil {
		t.GC(d)
	}
}

// Stall and Suspension are no part of a history.
func (o *loggedLife) Stall(*gclog.Stall)           {}
func (o *loggedLife) Suspension(*gclog.Suspension) {}
