package record

import (
	"time"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/internal/cli/exit"
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
	start   *gclog.Start       // of the recording that is being read
	started bool               // start was passed to the outputs
	early   []gclog.Suspension // of a recording, from before the outputs were opened
	newest  int64              // latest time that was passed on
	ended   bool               // another instance of the process has begun
}

// write writes a record that had ended at a time.
func (o *converting) write(at int64, r gclog.Record) {
	o.newest = max(o.newest, at)
	if o.ended {
		o.v.fail(exit.Usagef(
			"it contains several processes with the pid %d at the same time: use the format json or csv", o.process.ID))
	}
	if o.set == nil && o.v.failed == nil {
		o.open()
	}
	if o.v.failed != nil {
		return
	}
	if o.start != nil && !o.started {
		o.started = true
		o.set.Each(func(w *formats.Writer) { w.Observe(o.start) })
		for i := range o.early {
			o.set.Each(func(w *formats.Writer) { w.Observe(&o.early[i]) })
		}
		o.early = nil
	}
	o.set.Each(func(w *formats.Writer) { w.Observe(r) })
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
			v.fail(exit.Usagef("it contains several processes (%d, %d): choose one with --pid or --name, write one "+
				"file for each with %%p in the name, or use the format json or csv", first.ID, o.process.ID))
			return
		}
		v.endLogs()
		if err := v.finish(); err != nil {
			v.fail(err)
			return
		}
		v.p.UI.Sayf("process %d was restarted at %s: everything before that is in a separate file",
			first.ID, o.process.Sync.UTC().Format(time.RFC3339))
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

// Observe takes a record.
func (o *converting) Observe(r gclog.Record) {
	at, _ := r.When()
	switch r := r.(type) {
	case *gclog.Start:
		if !o.v.in.IsLog() {
			start := *r
			o.start = &start
			return
		}
	case *gclog.End:
		if o.start == nil || o.started {
			o.write(at, r)
		}
		o.start, o.started, o.early = nil, false, nil
		return
	case *gclog.Gap:
		if o.start != nil && o.set == nil && r.Reason == gclog.GapReattached {
			return // what is missing before the first record needs no record
		}
	case *gclog.Suspension:
		const most = 64
		switch {
		case !o.v.suspensions:
			return
		case o.start != nil && o.set == nil && len(o.early) < most: // kept until the first record arrives
			o.early = append(o.early, *r)
			return
		}
		at += r.Duration
	case *gclog.GCDetails:
		o.v.gcs.Add(1)
		at = r.End
	case *gclog.Pause:
		at += r.Duration
	}
	o.write(at, r)
}
