package cli

import (
	"time"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/formats/logs"
	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/internal/output"
)

// logs converts logs of gclog.
func (v *conversion) logs() error {
	err := v.inputs.logs(func(p *gclog.Process) logs.Observer {
		if !v.inputs.wanted(p) {
			return nil
		}
		o := &convertingLog{v: v, process: p}
		v.observers = append(v.observers, o)
		return o
	}, v.over)
	if v.failed == nil {
		v.endLogs()
	}
	return err
}

// endLogs ends what has been made of the processes so far.
func (v *conversion) endLogs() {
	for _, o := range v.observers {
		if o.set != nil && !o.ended {
			o.End(&formats.End{At: o.newest, Reason: formats.EndOfLog})
			o.ended = true
		}
	}
}

// processesOfLog reads a log for the processes in it.
func (v *conversion) processesOfLog(in *input) (pids []int64, err error) {
	r, err := logs.NewReader(in.log, func(p *gclog.Process) logs.Observer {
		pids = append(pids, p.ID)
		return nil
	})
	if err != nil {
		return nil, err
	}
	text, err := in.rest(&v.inputs.read)
	if err == nil {
		_, _ = r.Read(text) // what is wrong with it is told when it is converted
		r.Finish()
	}
	return pids, err
}

// convertingLog passes the records of one process on to its outputs.
type convertingLog struct {
	v       *conversion
	process *gclog.Process
	set     *output.Set // nil: not opened
	newest  int64       // time that was told
	ended   bool        // another life of the process has begun
}

func (o *convertingLog) each(at int64, f func(*formats.Writer)) {
	o.newest = max(o.newest, at)
	if o.ended {
		o.v.failed = usagef("it holds several processes with the number %d at the same time: take the format json or csv", o.process.ID)
	}
	if o.v.failed != nil {
		return
	}
	if o.set == nil {
		o.set = o.open()
	}
	o.v.tell(o.set, f)
}

// open opens the outputs. Files that were put together may be of several processes, or
// of several lives of one: a log of one process ends where another life begins.
func (o *convertingLog) open() *output.Set {
	v := o.v
	if first := v.first; first != nil && !v.several() {
		if first.ID != o.process.ID {
			v.failed = usagef("it holds several processes (%d, %d): choose one with --pid, write one file for each with %%p in the name, or take the format json or csv", first.ID, o.process.ID)
			return nil
		}
		v.endLogs()
		if v.failed = v.finish(); v.failed != nil {
			return nil
		}
		v.p.ui.sayf("process %d was started anew at %s: what came before is in a file of its own", first.ID, o.process.Sync.UTC().Format(time.RFC3339))
	}
	v.first = o.process
	return v.openOutputs(*o.process)
}

func (o *convertingLog) Start(s *formats.Start) { o.each(s.At, func(w *formats.Writer) { w.Start(s) }) }

func (o *convertingLog) End(e *formats.End) { o.each(e.At, func(w *formats.Writer) { w.End(e) }) }

func (o *convertingLog) Stall(s *gclog.Stall) { o.each(s.Now, func(w *formats.Writer) { w.Stall(s) }) }

func (o *convertingLog) Gap(g *gclog.Gap) { o.each(g.Time, func(w *formats.Writer) { w.Gap(g) }) }

func (o *convertingLog) Phase(p *gclog.Phase) { o.each(p.Time, func(w *formats.Writer) { w.Phase(p) }) }

func (o *convertingLog) Pause(p *gclog.Pause) {
	o.each(p.Start+p.Duration, func(w *formats.Writer) { w.Pause(p) })
}

func (o *convertingLog) Suspension(s *gclog.Suspension) {
	if o.v.suspensions {
		o.each(s.Start+s.Duration, func(w *formats.Writer) { w.Suspension(s) })
	}
}

func (o *convertingLog) GC(d *gclog.GCDetails) {
	o.v.gcs.Add(1)
	o.each(d.End, func(w *formats.Writer) { w.GC(d) })
}
