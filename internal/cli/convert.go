package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

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
	format      formats.Options
	pid         int64
	sets        []*output.Set
	writers     map[int64]*output.Set // of recordings, by pid
	begin       time.Time             // sync point of the first recording
	newest      map[int64]int64       // time of the newest event, by pid of the recording
	first       *gclog.Process        // of logs: that an output was opened for last
	observers   []*convertingLog
	suspensions bool  // an output wants them
	failed      error // an output cannot be opened
	unread      bool  // nobody takes what is written
	read        atomic.Int64
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
	v := &conversion{p: p, specs: specs, suspensions: output.Suspensions(specs), pid: c.Int64("pid"), writers: map[int64]*output.Set{}, newest: map[int64]int64{}}
	v.opener = &output.Opener{Stdout: p.out, Stderr: p.ui.w, Tell: p.ui.say}
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
	inputs, err := v.open(names)
	defer func() {
		for _, in := range inputs {
			in.close()
		}
	}()
	if err != nil {
		return err
	}
	if err := v.checkProcesses(inputs); err != nil {
		return err
	}
	stop := p.ui.watch(func(time.Duration) string {
		return fmt.Sprintf("%s read, %d GCs", output.SizeText(v.read.Load()), v.gcs.Load())
	})
	defer stop()
	if inputs[0].trace == nil {
		err = v.logs(inputs)
	} else {
		err = v.recordings(inputs)
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
		p.ui.sayf("no collection in %s: there was none, or the events of the GC were not recorded", strings.Join(names, ", "))
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

// open opens all inputs, reads their heads, and puts them into the order of time.
func (v *conversion) open(names []string) (list []*input, err error) {
	for i, name := range names {
		if slices.ContainsFunc(names[:i], func(other string) bool { return name == other || name != "-" && other != "-" && samePath(name, other) }) {
			return list, usagef("%s is given twice", name)
		}
		in, err := v.openOne(name)
		if errors.Is(err, errEmpty) && len(names) > 1 {
			v.p.ui.sayf("%s is empty", name)
			in.close()
			continue
		}
		if in != nil {
			list = append(list, in)
		}
		if err != nil {
			return list, err
		}
	}
	if len(list) == 0 {
		return nil, &codedError{exitData, errors.New("all files are empty")}
	}
	slices.SortStableFunc(list, (*input).compare)
	for i, in := range list {
		if err := in.goesWith(list[:i]); err != nil {
			return list, err
		}
	}
	v.begin = list[0].begun()
	return list, nil
}

// goesWith tells whether an input can be converted together with the ones before it.
func (in *input) goesWith(before []*input) error {
	for _, other := range before {
		switch {
		case (in.trace == nil) != (other.trace == nil), in.log.Format != other.log.Format:
			return usagef("%s is %s, %s is %s: convert them one after the other", other.name, other.kind(), in.name, in.kind())
		case in.trace == nil && in.log == other.log && in.sum == other.sum:
			return usagef("%s and %s begin alike: one of them is enough", other.name, in.name)
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
	many := in.trace != nil && in.trace.Major >= 6
	if f, err := formats.Find(in.log.Format); err == nil {
		many = f.ManyProcesses() || v.pid != 0
	}
	return many && (v.pid != 0 || !v.several())
}

// checkProcesses finds out which processes there are where that decides what can
// be written: an output that holds one process must not get a second one.
func (v *conversion) checkProcesses(inputs []*input) error {
	seen := map[int64]bool{}
	var pids []int64
	for _, in := range inputs {
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
	if a, b := unknownSeries(inputs); b != nil {
		return usagef("%s and %s do not say which process they are of: convert them one after the other", a.name, b.name)
	}
	slices.Sort(pids)
	text := strings.Trim(strings.ReplaceAll(fmt.Sprint(pids), " ", ", "), "[]")
	switch {
	case v.pid != 0 && !seen[v.pid]:
		if text == "" || text == "0" {
			text = "none whose number is known"
		}
		return noProcessf("no process %d in it: there are %s", v.pid, text)
	case v.pid == 0 && len(pids) > 1 && !v.several():
		return usagef("it holds %d processes with a .NET runtime (%s): choose one with --pid, write one file for each with %%p in the name, or take the format json or csv",
			len(pids), text)
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
	src, err := in.again()
	if err != nil {
		return nil, &codedError{exitData, fmt.Errorf("%s: reading it again: %w", in.name, err)}
	}
	v.read.Store(0)
	if err := in.begin(&counter{src, &v.read}); err != nil {
		return nil, err
	}
	return pids, nil
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

// recordings converts recordings.
func (v *conversion) recordings(inputs []*input) (err error) {
	for i, in := range inputs {
		if ferr := v.one(in, i > 0); ferr != nil {
			err = errors.Join(err, fmt.Errorf("%s: %w", in.name, ferr))
		}
		if v.unread {
			break
		}
	}
	return err
}

// one converts one recording. What comes before damage is converted.
func (v *conversion) one(in *input, further bool) error {
	// All recordings have one time axis: that of the first.
	shift := int64(in.trace.SyncTime.Sub(v.begin))
	if shift < v.newest[in.trace.ProcessID] {
		return fmt.Errorf("it was recorded at the same time as another one of process %d: convert them one by one", in.trace.ProcessID)
	}
	processes := gclog.NewProcesses(func(p *gclog.Process) gclog.Observer {
		if v.pid != 0 && p.ID != v.pid {
			return nil
		}
		o := &converting{v: v, process: p, set: v.writers[p.ID]}
		if further && o.set != nil {
			o.Gap(&gclog.Gap{Reason: gclog.GapReattached, Time: shift, Ticks: in.trace.SyncTicks})
		}
		return o
	})
	processes.Begin(in.trace)
	r := in.reader
	for r.Scan() {
		if l := r.Loss(); l != nil {
			l.From += shift
			l.To += shift
			processes.Loss(l)
			continue
		}
		e := r.Event()
		e.Time += shift
		processes.Event(e)
		if v.failed != nil {
			return v.failed
		}
		if v.unread {
			return nil
		}
	}
	processes.Finish()
	v.newest[in.trace.ProcessID] = processes.Newest()
	v.end(processes.Newest())
	return r.Err()
}

// end ends the logs that have been made.
func (v *conversion) end(at int64) {
	for _, set := range v.sets {
		set.Each(func(w *formats.Writer) { w.End(&formats.End{At: at, Reason: formats.EndOfRecording}) })
	}
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
	early   []gclog.Suspension
}

func (o *converting) each(f func(*formats.Writer)) {
	if o.set == nil && o.v.failed == nil {
		o.set = o.v.writers[o.process.ID] // another instance of the process may have them
	}
	if o.set == nil && o.v.failed == nil {
		process := *o.process
		process.Sync = o.v.begin
		if o.set = o.v.openOutputs(process); o.set != nil {
			o.v.writers[process.ID] = o.set
		}
		for i := range o.early {
			o.v.tell(o.set, func(w *formats.Writer) { w.Suspension(&o.early[i]) })
		}
		o.early = nil
	}
	o.v.tell(o.set, f)
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
