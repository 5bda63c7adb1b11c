package cli

import (
	"time"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/internal/output"
)

// A converting passes what the inputs contain of a process to its outputs. A conversion waits for
// the outputs: nothing is dropped.
//
// The outputs of a recording are opened when there is something to write: until then the stream may
// contain facts for the header of a file.
type converting struct {
	v       *conversion
	process *gclog.Process
	set     *output.Set        // nil: not opened
	start   *formats.Start     // of the recording that is being read
	started bool               // start was passed to the outputs
	early   []gclog.Suspension // of a recording, from before the outputs were opened
	newest  int64              // latest time that was passed on
	ended   bool               // another instance of the process has begun
}

func (o *converting) each(at int64, f func(*formats.Writer)) {
	o.newest = max(o.newest, at)
	if o.ended {
		o.v.fail(usagef("it contains several processes with the pid %d at the same time: use the format json or csv", o.process.ID))
	}
	if o.set == nil && o.v.failed == nil {
		o.open()
	}
	if o.v.failed != nil {
		return
	}
	if o.start != nil && !o.started {
		o.started = true
		o.set.Each(func(w *formats.Writer) { w.Start(o.start) })
		for i := range o.early {
			o.set.Each(func(w *formats.Writer) { w.Suspension(&o.early[i]) })
		}
		o.early = nil
	}
	o.set.Each(f)
	if o.set.Broken() { // all outputs have failed or were closed by their readers
		o.v.in.Stop(nil)
	}
}

// open opens the outputs. Log files that were combined may be of several processes, or of several
// instances of one: a log of one process ends where another instance begins.
func (o *converting) open() {
	v := o.v
	if first := v.first; first != nil && !v.several() {
		if first.ID != o.process.ID {
			v.fail(usagef("it contains several processes (%d, %d): choose one with --pid or --name, write one file for each with %%p in the name, or use the format json or csv", first.ID, o.process.ID))
			return
		}
		v.endLogs()
		if err := v.finish(); err != nil {
			v.fail(err)
			return
		}
		v.p.ui.sayf("process %d was restarted at %s: everything before that is in a separate file", first.ID, o.process.Sync.UTC().Format(time.RFC3339))
	}
	if v.in.IsLog() {
		v.first = o.process
	}
	for _, name := range v.names {
		if err := v.checkOutputs(name, o.process); err != nil {
			v.fail(err)
			return
		}
	}
	options := v.format
	options.Process = *o.process
	set, err := v.opener.Open(v.specs, options)
	if err != nil {
		v.fail(err)
		return
	}
	o.set, v.sets = set, append(v.sets, set)
}

func (o *converting) Start(s *formats.Start) {
	if !o.v.in.IsLog() {
		start := *s
		o.start = &start
		return
	}
	o.each(s.At, func(w *formats.Writer) { w.Start(s) })
}

func (o *converting) End(e *formats.End) {
	if o.start == nil || o.started {
		o.each(e.At, func(w *formats.Writer) { w.End(e) })
	}
	o.start, o.started, o.early = nil, false, nil
}

// Gap: what is missing before the first record needs no record.
func (o *converting) Gap(g *gclog.Gap) {
	if o.start == nil || o.set != nil || g.Reason != gclog.GapReattached {
		o.each(g.Time, func(w *formats.Writer) { w.Gap(g) })
	}
}

// Suspension: suspensions before the first record of a recording are kept until it arrives.
func (o *converting) Suspension(s *gclog.Suspension) {
	const most = 64
	switch {
	case !o.v.suspensions:
	case o.start != nil && o.set == nil && len(o.early) < most:
		o.early = append(o.early, *s)
	default:
		o.each(s.Start+s.Duration, func(w *formats.Writer) { w.Suspension(s) })
	}
}

func (o *converting) GC(d *gclog.GCDetails) {
	o.v.gcs.Add(1)
	o.each(d.End, func(w *formats.Writer) { w.GC(d) })
}

func (o *converting) Stall(s *gclog.Stall) { o.each(s.Now, func(w *formats.Writer) { w.Stall(s) }) }

func (o *converting) HeapGrowth(g *formats.HeapGrowth) {
	o.each(g.At, func(w *formats.Writer) { w.HeapGrowth(g) })
}

func (o *converting) Phase(p *gclog.Phase) { o.each(p.Time, func(w *formats.Writer) { w.Phase(p) }) }

func (o *converting) Pause(p *gclog.Pause) {
	o.each(p.Start+p.Duration, func(w *formats.Writer) { w.Pause(p) })
}
