package cli

import (
	"time"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/formats/logs"
	"github.com/gclog/gclog/gclog"
)

// findEnd reads the inputs for the time of their end, and begins them anew.
func (r *historyReader) findEnd() error {
	f := &endFinder{inputs: &r.inputs}
	r.inputs.quiet = true
	if r.inputs.isLog() {
		_ = r.inputs.logs(f.log, f.over)
	} else {
		_ = r.inputs.recordings(f)
	}
	// What is wrong with them is told when they are read for good.
	r.inputs.quiet = false
	for _, in := range r.inputs.list {
		if err := r.inputs.rewind(in); err != nil {
			return err
		}
	}
	r.part.end = f.newest
	return nil
}

// An endFinder finds the end of what is read: of recordings that of all, of logs that of
// the process that is meant.
type endFinder struct {
	inputs *inputs
	newest time.Time
}

func (f *endFinder) saw(t time.Time) {
	if t.After(f.newest) {
		f.newest = t
	}
}

func (f *endFinder) process(*gclog.Process, int64, int64) gclog.Observer { return nil }
func (f *endFinder) end(at int64, _ []gclog.Open)                        { f.saw(f.inputs.begun().Add(time.Duration(at))) }
func (f *endFinder) over() error                                         { return nil }

func (f *endFinder) log(p *gclog.Process) logs.Observer {
	if !f.inputs.wanted(p) {
		return nil
	}
	return &loggedEnd{f, p}
}

// A loggedEnd finds the end of what a log holds of a process.
type loggedEnd struct {
	f       *endFinder
	process *gclog.Process
}

func (o *loggedEnd) saw(at int64)                 { o.f.saw(o.process.Time(at)) }
func (o *loggedEnd) Start(s *formats.Start)       { o.saw(s.At) }
func (o *loggedEnd) End(e *formats.End)           { o.saw(e.At) }
func (o *loggedEnd) Pause(p *gclog.Pause)         { o.saw(p.Start + p.Duration) }
func (o *loggedEnd) Phase(p *gclog.Phase)         { o.saw(p.Time) }
func (o *loggedEnd) Gap(g *gclog.Gap)             { o.saw(g.Time) }
func (o *loggedEnd) GC(d *gclog.GCDetails)        { o.saw(d.End) }
func (o *loggedEnd) Stall(*gclog.Stall)           {}
func (o *loggedEnd) Suspension(*gclog.Suspension) {}
