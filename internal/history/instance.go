package history

import (
	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/gclog/analysis"
)

// A reader reads the history of one process.
type reader struct {
	*Source
	part      stretch // the part that was asked for
	began     bool    // part.begin is known
	observe   Observe
	subject   *subject         // nil: no process has been chosen yet
	processes []*gclog.Process // all that the files contain, one for each pid
	failed    error
}

// beginAt records when the files start.
func (r *reader) beginAt(p *gclog.Process, at int64) {
	if !r.began {
		r.began, r.part.begin = true, p.Time(at)
		if err := r.part.check(); err != nil {
			r.fail(err)
		}
	}
}

func (r *reader) fail(err error) {
	r.failed = err
	r.Stop(err)
}

// list adds a process to the list, and reports whether it is the one to be passed on.
func (r *reader) list(p *gclog.Process) bool {
	r.processes = addProcess(r.processes, p)
	return r.wanted(p) && (r.subject == nil || r.subject.process.ID == p.ID)
}

// pass starts to pass on a process.
func (r *reader) pass(p *gclog.Process) *subject {
	p.Sync = p.Sync.In(r.part.Zone.location()) // in which all its times are shown
	x := &subject{process: p, window: r.part.window(p), source: r.Source}
	x.to, x.events = r.observe(p, x.window)
	x.numbers.emit = func(g *gclog.Gap) { x.to(g) }
	if r.IsLog() {
		head := &r.Files[0].Log
		x.log.CollectionsOnly = !head.Sessions
		x.log.Unbounded = x.window == analysis.Always() && !(head.Sessions && head.Dated)
	}
	r.subject = x
	return x
}

// empty passes on a process of which the files contain nothing.
func (r *reader) empty() {
	first := r.Files[0]
	p := &gclog.Process{ID: first.Log.ProcessID, Sync: first.begin()}
	if first.Trace != nil {
		p.ID = first.Trace.ProcessID
	}
	r.beginAt(p, 0)
	r.pass(p).begin(0)
	r.subject.end(0, nil)
}

// process returns the observer of what the files contain of a process.
func (r *reader) process(p *gclog.Process) gclog.Observer {
	o := &instance{r: r, process: p}
	if r.IsLog() {
		return o.observe // everything depends on when it starts
	}
	r.beginAt(p, 0)
	if !r.list(p) {
		return nil
	}
	if r.subject == nil {
		r.pass(p)
	}
	o.asked, o.subject = true, r.subject
	return o.observe
}

// events returns what receives the events of a process that is passed on.
func (r *reader) events(*gclog.Process) gclog.EventObserver { return r.subject.events }

// An instance passes on what the files contain of one process instance: containers give all their
// processes the same pid. Of the instances in logs, the one that contains the time of --at is
// passed on, otherwise the last one before the end of the part that was asked for.
type instance struct {
	r       *reader
	process *gclog.Process
	subject *subject // nil: it is not passed on
	asked   bool     // it was decided whether it is passed on
}

// from returns the subject for something that started at begin, or nil if it is not passed on.
func (o *instance) from(begin int64) *subject {
	if !o.asked {
		o.asked = true
		o.ask(begin)
	}
	if o.subject == nil || o.r.failed != nil {
		return nil
	}
	if o.subject != o.r.subject {
		o.r.fail(callf("it contains several processes with the pid %d at the same time: use the log of a single one",
			o.process.ID))
		return nil
	}
	return o.subject
}

// during is from for something that belongs to a session and ended at end.
func (o *instance) during(begin, end int64) *subject {
	x := o.from(begin)
	if x != nil {
		x.begin(begin)
		x.newest = max(x.newest, end)
	}
	return x
}

// ask decides whether an instance in a log is passed on.
func (o *instance) ask(begin int64) {
	r, t := o.r, o.process.Time(begin)
	r.beginAt(o.process, begin)
	if !r.list(o.process) {
		return
	}
	if r.subject != nil {
		if until, ok := r.part.until(); ok && !t.Before(until) {
			return
		}
		if r.subject.has(&r.part.At) {
			return
		}
		how := ""
		if e := r.subject.ended; e != nil && e.Bad() {
			how = string(e.AppendTo(nil)) + ", and "
		}
		r.notifyf("process %d %swas restarted at %s: everything before that is left out (choose it with --until)",
			o.process.ID, how, r.part.timeText(t))
		r.gcs.Store(0)
	}
	o.subject = r.pass(o.process)
}

// observe takes a record. Stalls, suspensions and the growth of the heap are not part of a history.
func (o *instance) observe(r gclog.Record) {
	switch r := r.(type) {
	case *gclog.Start:
		if x := o.from(r.At); x != nil {
			x.end(x.newest, nil) // of the previous session, if nothing has ended it
			x.begin(r.At)
			x.ended = nil
		}
	case *gclog.End:
		if x := o.during(r.At, r.At); x != nil {
			x.end(r.At, r.Open)
			copied := *r
			x.ended = &copied
		}
	case *gclog.Pause:
		if x := o.during(r.Start, r.Start+r.Duration); x != nil {
			x.pass(r)
		}
	case *gclog.Phase:
		if x := o.during(r.Start, r.Time); x != nil {
			x.pass(r)
		}
	case *gclog.Gap:
		// The gap was noticed during the session, and does not show when the session started: a pause that
		// started earlier may follow.
		if x := o.from(r.Time); x != nil {
			x.newest = max(x.newest, r.Time)
			x.pass(r)
		}
	case *gclog.Counters:
		if x := o.during(r.At, r.At); x != nil {
			x.pass(r)
		}
	case *gclog.GCDetails:
		begin := r.PauseStart()
		if r.Flaws&gclog.FlawNoStart != 0 {
			begin = r.End
		}
		if x := o.during(begin, max(begin, r.End)); x != nil {
			x.source.gcs.Add(1)
			x.pass(r)
		}
	}
}

// A subject is the process whose history is passed on, with the start and end of its sessions and
// the collections that are missing.
type subject struct {
	process   *gclog.Process
	window    analysis.Window
	to        gclog.Observer
	events    gclog.EventObserver // nil: nothing receives events
	log       gclog.Start         // what the log lacks because of its format
	source    *Source
	started   bool       // a session has started
	open      bool       // the session has not ended
	startedAt int64      // when the first session started
	newest    int64      // the latest time that was passed on
	ended     *gclog.End // the end of the last session; nil: not seen
	numbers   Numbers
}

// begin passes on the start of a session, if none is open.
func (x *subject) begin(at int64) {
	if x.open {
		return
	}
	if x.started {
		x.numbers.begin(x.newest, at)
	} else {
		x.started, x.startedAt = true, at
	}
	x.open, x.newest = true, max(at, x.newest)
	start := x.log
	start.At = at
	x.to(&start)
}

// pass passes on a record.
func (x *subject) pass(r gclog.Record) {
	x.numbers.Observe(r)
	x.to(r)
}

// end passes on the end of the session, if one is open, and what was in progress then.
func (x *subject) end(at int64, open []gclog.Open) {
	if !x.open {
		return
	}
	x.open, x.newest = false, max(at, x.newest)
	x.to(&gclog.End{At: x.newest, Open: open})
}

// has reports whether what was passed on contains a moment. A moment that counts from the start or
// the end is in whatever is passed on.
func (x *subject) has(i *Instant) bool {
	if i.kind != instantTime && !i.IsClock() {
		return false
	}
	begin, end := x.process.Time(x.startedAt), x.process.Time(x.newest)
	at, _ := i.at(begin, end)
	return at.Add(i.unit).After(begin) && !at.After(end)
}

// finish passes on what is still open at the end of the input.
func (x *subject) finish() {
	x.numbers.Finish()
	x.end(x.newest, nil)
}
