package cli

import (
	"errors"
	"io"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/internal/output"
	"github.com/urfave/cli/v2"
)

func (p *program) convertCommand() *cli.Command {
	return &cli.Command{
		Name:      "convert",
		Usage:     "make a log of recordings (.nettrace) or of other logs, also .gz and .zst",
		ArgsUsage: "FILE...",
		Description: `- is standard input. Several recordings of one process, and the files of a rotated
log, are one log. What holds several processes needs --pid, %p in the name of the
output, or a format that can hold them: json, csv. Logs can be unified, jdk8, json
or csv; what they do not hold is unknown in what is made of them.

Examples:
   gclog convert app.nettrace                    lines on the terminal
   gclog convert app.nettrace -o gc.log          for GCViewer
   gclog convert app.nettrace.gz --format csv > gc.csv
   gclog convert machine.nettrace -o gc-%p.log   one log for each process
   gclog convert gc*.json -o gc.log              a log of another format`,
		Flags: join(outputFlags(), rotationFlags(0), []cli.Flag{
			&cli.Int64Flag{Name: "pid", Usage: "only the process with this `PID`"},
		}),
		Action: p.convert,
	}
}

// A conversion is one run of gclog convert.
type conversion struct {
	p           *program
	specs       []output.Spec
	opener      *output.Opener
	names       []string // of the inputs
	inputs      inputs
	format      formats.Options
	sets        []*output.Set
	writers     map[int64]*output.Set // of recordings, by pid
	sessions    []*converting         // whose outputs have the begin of the recording that is read
	first       *gclog.Process        // of logs: that an output was opened for last
	observers   []*convertingLog
	suspensions bool  // an output wants them
	failed      error // an output cannot be opened
	unread      bool  // nobody takes what is written
	gcs         atomic.Int64
}

func (p *program) convert(c *cli.Context) error {
	names := c.Args().Slice()
	if len(names) == 0 {
		return usagef("convert needs a file, or - for standard input")
	}
	specs, err := p.outputs(c, output.Stdout, "")
	if err != nil {
		return err
	}
	for i := range specs {
		specs[i].Rotate.Buffered = true
	}
	v := &conversion{p: p, specs: specs, suspensions: output.Suspensions(specs), writers: map[int64]*output.Set{}}
	v.inputs.p, v.inputs.pid, v.inputs.twice, v.inputs.converts = p, c.Int64("pid"), v.readsTwice, true
	v.opener = p.opener()
	if v.format, err = p.formatOptions(c); err != nil {
		return err
	}
	v.format.Host = "" // a recording does not tell where it was made
	for _, name := range names {
		if err := v.checkOutputs(name, &gclog.Process{}); err != nil {
			return err
		}
	}
	v.names = names
	defer v.inputs.close()
	if err := v.inputs.open(names); err != nil {
		return err
	}
	if err := v.checkProcesses(); err != nil {
		return err
	}
	stop := v.inputs.watch(&v.gcs)
	defer stop()
	if v.inputs.isLog() {
		err = v.logs()
	} else {
		err = v.inputs.recordings(v)
	}
	written := v.written() || v.first != nil && len(v.observers) > 1
	err = errors.Join(err, v.finish())
	stop()
	if code := (*codedError)(nil); errors.As(err, &code) && code.code == exitUsage {
		return err
	}
	if err != nil {
		return &codedError{exitData, err}
	}
	if v.gcs.Load() == 0 {
		v.inputs.sayNothing()
	} else if !written {
		p.ui.sayf("nothing was written: %s has nothing of what is selected", strings.Join(names, ", "))
	}
	return nil
}

// checkOutputs makes sure that an input is not written over, nor taken for an old file
// of the output, of which only so many are kept.
func (v *conversion) checkOutputs(input string, process *gclog.Process) error {
	if input == "-" {
		return nil
	}
	for _, s := range v.specs {
		path := output.Expand(s.Path, process, v.format.Host)
		if samePath(input, path) {
			return usagef("%s is the input and cannot be the output too", input)
		}
		if s.Rotate.Count > 0 && !output.IsStream(path) && resolved(formats.ArchivedFrom(input)) == resolved(path) {
			return usagef("%s would count as an old file of %s and be deleted: write to another place", input, path)
		}
	}
	return nil
}

// several tells whether the outputs have a place for several processes.
func (v *conversion) several() bool {
	for _, s := range v.specs {
		if !output.PerProcess(s.Path) && !s.Format.ManyProcesses() {
			return false
		}
	}
	return true
}

// readsTwice tells whether an input is read for the processes in it first: a recording
// of a machine and some logs have several. In a log of one process there is another one
// only where files were put together: that is looked for where one is asked for, else
// noticed when it comes.
func (v *conversion) readsTwice(in *input) bool {
	pid := v.inputs.pid
	many := in.trace != nil && in.trace.Major >= 6
	if f, err := formats.Find(in.log.Format); err == nil {
		many = f.ManyProcesses() || pid != 0
	}
	return many && (pid != 0 || !v.several())
}

// checkProcesses finds out which processes there are where that decides what can
// be written: an output that holds one process must not get a second one.
func (v *conversion) checkProcesses() error {
	seen := map[int64]bool{}
	var pids []int64
	for _, in := range v.inputs.list {
		var list []int64
		switch {
		case in.trace != nil:
			list = []int64{in.trace.ProcessID}
		case in.log.ProcessID != 0:
			list = []int64{in.log.ProcessID}
		}
		if v.readsTwice(in) {
			var err error
			if list, err = v.processesIn(in); err != nil {
				return err
			}
		}
		for _, pid := range list {
			if !seen[pid] {
				seen[pid] = true
				pids = append(pids, pid)
			}
		}
	}
	switch pid := v.inputs.pid; {
	case pid != 0 && !seen[pid]:
		return noSuchProcess(pid, pids)
	case pid == 0 && len(pids) > 1 && !v.several():
		return usagef("it holds %d processes with a .NET runtime (%s): choose one with --pid, write one file for each with %%p in the name, or take the format json or csv",
			len(pids), pidText(pids))
	}
	return nil
}

// processesIn reads an input to its end for the processes in it, and begins it
// anew.
func (v *conversion) processesIn(in *input) (pids []int64, err error) {
	if in.trace != nil {
		pids = processesOfRecording(in)
	} else if pids, err = v.processesOfLog(in); err != nil {
		return nil, err
	}
	// What is wrong with the stream is told when it is converted.
	return pids, v.inputs.rewind(in)
}

func processesOfRecording(in *input) (pids []int64) {
	found := gclog.NewProcesses(func(*gclog.Process) gclog.Observer { return nil })
	found.Begin(in.trace)
	for in.reader.Scan() {
		if e := in.reader.Event(); e != nil {
			found.Event(e)
		}
	}
	for _, x := range found.List() {
		pids = append(pids, x.ID)
	}
	return pids
}

// over implements recordingReader.
func (v *conversion) over() error {
	if v.failed == nil && v.unread {
		return io.EOF
	}
	return v.failed
}

// process implements recordingReader.
func (v *conversion) process(p *gclog.Process, shift, ticks int64) gclog.Observer {
	if !v.inputs.wanted(p) {
		return nil
	}
	o := &converting{v: v, process: p, set: v.writers[p.ID], start: formats.Start{At: shift, Ticks: ticks}}
	if shift > 0 && o.set != nil {
		o.Gap(&gclog.Gap{Reason: gclog.GapReattached, Time: shift, Ticks: ticks})
	}
	return o
}

// end implements recordingReader: it ends the logs that have been made.
func (v *conversion) end(at int64, _ []gclog.Open) {
	for _, o := range v.sessions {
		end := formats.End{At: at, Ticks: at, Reason: formats.EndOfRecording, Process: o.process}
		o.set.Each(func(w *formats.Writer) { w.End(&end) })
	}
	v.sessions = nil
}

// written tells whether any output was written to.
func (v *conversion) written() bool {
	return slices.ContainsFunc(v.sets, func(s *output.Set) bool { return s.Written() })
}

// finish writes what is buffered.
func (v *conversion) finish() error {
	var all error
	for _, set := range v.sets {
		all = errors.Join(all, set.Err(), set.Close())
	}
	v.sets = nil
	return all
}

// converting passes what the Reducer of a process finds to its outputs. A
// conversion waits for them: a file loses nothing.
//
// They are opened when there is something to write: until then the stream may have
// told facts that belong into the head of a file.
type converting struct {
	v       *conversion
	process *gclog.Process
	set     *output.Set // nil: not opened
	start   formats.Start
	began   bool // the outputs have it
	early   []gclog.Suspension
}

func (o *converting) each(f func(*formats.Writer)) {
	if o.set == nil && o.v.failed == nil {
		o.set = o.v.writers[o.process.ID] // another instance of the process may have them
	}
	if o.set == nil && o.v.failed == nil {
		process := *o.process
		process.Sync = o.v.inputs.begun()
		if o.set = o.v.openOutputs(process); o.set != nil {
			o.v.writers[process.ID] = o.set
		}
		o.begin()
		for i := range o.early {
			o.v.tell(o.set, func(w *formats.Writer) { w.Suspension(&o.early[i]) })
		}
		o.early = nil
	}
	o.begin()
	o.v.tell(o.set, f)
}

// begin tells the outputs when the recording begins, once.
func (o *converting) begin() {
	if o.began || o.set == nil {
		return
	}
	o.began = true
	if !slices.ContainsFunc(o.v.sessions, func(other *converting) bool { return other.set == o.set }) {
		o.v.sessions = append(o.v.sessions, o)
		o.v.tell(o.set, func(w *formats.Writer) { w.Start(&o.start) })
	}
}

// openOutputs opens the outputs for a process; nil: that failed.
func (v *conversion) openOutputs(process gclog.Process) (set *output.Set) {
	for _, name := range v.names {
		if v.failed = v.checkOutputs(name, &process); v.failed != nil {
			return nil
		}
	}
	options := v.format
	options.Process = process
	if set, v.failed = v.opener.Open(v.specs, options); v.failed != nil {
		return nil
	}
	v.sets = append(v.sets, set)
	return set
}

func (v *conversion) tell(set *output.Set, f func(*formats.Writer)) {
	if set != nil {
		set.Each(f)
		v.unread = set.Broken()
	}
}

func (o *converting) Pause(p *gclog.Pause) { o.each(func(w *formats.Writer) { w.Pause(p) }) }
func (o *converting) Phase(p *gclog.Phase) { o.each(func(w *formats.Writer) { w.Phase(p) }) }
func (o *converting) Gap(g *gclog.Gap)     { o.each(func(w *formats.Writer) { w.Gap(g) }) }

// Suspension: those before the first collection wait for it, because the stream has not
// told yet what belongs into the head of a file.
func (o *converting) Suspension(s *gclog.Suspension) {
	const most = 64
	switch {
	case !o.v.suspensions:
	case o.set == nil && len(o.early) < most:
		o.early = append(o.early, *s)
	default:
		o.each(func(w *formats.Writer) { w.Suspension(s) })
	}
}

func (o *converting) GC(d *gclog.GCDetails) {
	o.v.gcs.Add(1)
	o.each(func(w *formats.Writer) { w.GC(d) })
}
