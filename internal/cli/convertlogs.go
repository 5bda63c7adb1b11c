package cli

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/formats/logs"
	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/internal/output"
)

// A series is what the files of one log have in common.
type series struct {
	pid  int64
	name string // where the number should be known and is not: files of one name are of one process
}

func (in *input) series() (s series) {
	if in.log.Format == "" {
		return s
	}
	s.pid = in.log.ProcessID
	if f, err := formats.Find(in.log.Format); err == nil && !f.ManyProcesses() && s.pid == 0 {
		s.name = formats.ArchivedFrom(in.name)
	}
	return s
}

// unknownSeries returns inputs of two logs that do not say which process they are of.
func unknownSeries(inputs []*input) (a, b *input) {
	for _, in := range inputs {
		switch name := in.series().name; {
		case name == "":
		case a == nil:
			a = in
		case a.series().name != name:
			return a, in
		}
	}
	return nil, nil
}

// logs converts logs of gclog. The files of one process in one format are one log.
func (v *conversion) logs(inputs []*input) error {
	readers := map[series]*logs.Reader{}
	var order []*logs.Reader
	said := map[string]bool{}
	observe := func(p *gclog.Process) logs.Observer {
		if v.pid != 0 && p.ID != v.pid {
			return nil
		}
		o := &convertingLog{v: v, process: p}
		v.observers = append(v.observers, o)
		return o
	}
	var all error
	for _, in := range inputs {
		key := in.series()
		r := readers[key]
		if r == nil {
			var err error
			if r, err = logs.NewReader(in.log, observe); err != nil {
				return err
			}
			readers[key] = r
			order = append(order, r)
		}
		if !said[in.log.Format] {
			said[in.log.Format] = true
			v.p.ui.sayf("%s: %s", in.name, logs.Lacks(in.log.Format))
			if !in.log.Dated {
				v.p.ui.sayf("%s has no dates: its times count from the begin of 1970", in.name)
			}
		}
		if err := v.log(r, in); err != nil {
			all = errors.Join(all, fmt.Errorf("%s: %w", in.name, err))
		}
		if v.failed != nil {
			return v.failed
		}
		if v.unread {
			break
		}
	}
	for _, r := range order {
		r.Finish()
	}
	v.sayMore(inputs)
	v.endLogs()
	return all
}

// endLogs ends what has been made of the processes so far.
func (v *conversion) endLogs() {
	for _, o := range v.observers {
		if o.set != nil && !o.ended {
			o.End(&formats.End{At: o.newest, Reason: formats.EndOfRecording})
			o.ended = true
		}
	}
}

// log converts one file.
func (v *conversion) log(r *logs.Reader, in *input) error {
	text, err := in.rest(&v.read)
	if err != nil {
		return err
	}
	skipped, err := r.Read(&stoppable{text, v})
	if skipped.Count > 0 {
		var lines []string
		for _, n := range skipped.Lines {
			lines = append(lines, strconv.FormatInt(n, 10))
		}
		more := ""
		if int64(len(lines)) < skipped.Count {
			more = ", ..."
		}
		what := "lines are damaged or none of gclog's and were left out: lines "
		if skipped.Count == 1 {
			what = "line is damaged or none of gclog's and was left out: line "
		}
		v.p.ui.sayf("%s: %d %s%s%s", in.name, skipped.Count, what, strings.Join(lines, ", "), more)
	}
	return err
}

// sayMore says that one file of a rotated log is not all of it.
func (v *conversion) sayMore(inputs []*input) {
	if len(inputs) > 1 || inputs[0].file == nil {
		return
	}
	if list := formats.Archived(inputs[0].name); len(list) > 0 {
		files := "files"
		if len(list) == 1 {
			files = "file"
		}
		v.p.ui.sayf("%s has %d older %s beside it, such as %s: name all to have the whole log", inputs[0].name, len(list), files, list[0])
	}
}

// A stoppable is a text that ends where nobody takes what is made of it.
type stoppable struct {
	r io.Reader
	v *conversion
}

func (s *stoppable) Read(p []byte) (int, error) {
	if s.v.failed != nil || s.v.unread {
		return 0, io.EOF
	}
	return s.r.Read(p)
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
	text, err := in.rest(&v.read)
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
