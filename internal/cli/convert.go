package cli

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/internal/output"
	"github.com/gclog/gclog/parse"
	"github.com/klauspost/compress/zstd"
	"github.com/urfave/cli/v2"
)

func (p *program) convertCommand() *cli.Command {
	return &cli.Command{
		Name:      "convert",
		Usage:     "make a log of recordings (.nettrace, also .gz and .zst)",
		ArgsUsage: "FILE...",
		Description: `- is standard input. Several recordings of one process are one log. A recording of
several processes needs --pid, %p in the name of the output, or a format that
can hold them: json, csv.

Examples:
   gclog convert app.nettrace                    lines on the terminal
   gclog convert app.nettrace -o gc.log          for GCViewer
   gclog convert app.nettrace.gz --format csv > gc.csv
   gclog convert machine.nettrace -o gc-%p.log   one log for each process`,
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
	writers     map[int64]*output.Set // by pid
	begin       time.Time             // sync point of the first recording
	newest      map[int64]int64       // time of the newest event, by pid of the recording
	suspensions bool                  // an output wants them
	failed      error                 // an output cannot be opened
	unread      bool                  // nobody takes what is written
	read        atomic.Int64
	gcs         atomic.Int64
}

func (p *program) convert(c *cli.Context) error {
	names := c.Args().Slice()
	if len(names) == 0 {
		return usagef("convert needs a file, or - for standard input")
	}
	specs, err := p.outputs(c, output.Stdout)
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
		return fmt.Sprintf("%s read, %d GCs", size(v.read.Load()), v.gcs.Load())
	})
	defer stop()
	for i, in := range inputs {
		if ferr := v.one(in, i > 0); ferr != nil {
			err = errors.Join(err, fmt.Errorf("%s: %w", in.name, ferr))
		}
		if v.unread {
			break
		}
	}
	err = errors.Join(err, v.finish())
	stop()
	if err != nil {
		return &codedError{exitData, err}
	}
	if v.gcs.Load() == 0 {
		p.ui.sayf("no collection in %s: there was none, or the events of the GC were not recorded", strings.Join(names, ", "))
	}
	return nil
}

// checkOutputs makes sure that an input is not written over.
func (v *conversion) checkOutputs(input string, process *gclog.Process) error {
	for _, s := range v.specs {
		if input != "-" && samePath(input, output.Expand(s.Path, process, v.format.Host)) {
			return usagef("%s is the input and cannot be the output too", input)
		}
	}
	return nil
}

// An input is one recording.
type input struct {
	name   string
	file   io.Closer
	spool  *spool // of what cannot be read twice; nil: it can, or need not
	reader *parse.Reader
	trace  *parse.Trace
	again  func() (io.Reader, error) // reads it from the begin on once more
}

func (in *input) close() {
	if in.file != nil {
		_ = in.file.Close()
	}
	if in.spool != nil {
		in.spool.close()
	}
}

// open opens all recordings, reads their heads, and puts them into the order of
// time.
func (v *conversion) open(names []string) (list []*input, err error) {
	for _, name := range names {
		in, err := v.openOne(name)
		if in != nil {
			list = append(list, in)
		}
		if err != nil {
			return list, err
		}
	}
	slices.SortStableFunc(list, func(a, b *input) int { return a.trace.SyncTime.Compare(b.trace.SyncTime) })
	v.begin = list[0].trace.SyncTime
	return list, nil
}

func (v *conversion) openOne(name string) (*input, error) {
	in := &input{name: name}
	var src io.Reader
	seekable := false
	if name == "-" {
		if isTerminal(v.p.in) {
			return nil, usagef("standard input is a terminal: give a file, or pipe a recording into it")
		}
		in.name, src = "standard input", v.p.in
	} else {
		f, err := os.Open(name)
		if err != nil {
			if path, ok := errors.AsType[*fs.PathError](err); ok {
				err = path.Err // the name is said once
			}
			return nil, usagef("cannot read %s: %w", name, err)
		}
		in.file, src = f, f
		info, err := f.Stat()
		if err == nil && info.IsDir() {
			return in, usagef("cannot read %s: it is a directory", name)
		}
		if seekable = err == nil && info.Mode().IsRegular(); seekable {
			in.again = func() (io.Reader, error) {
				_, err := f.Seek(0, io.SeekStart)
				return f, err
			}
		}
	}
	if !seekable {
		in.spool = &spool{r: src}
		in.again, src = in.spool.again, in.spool
	}
	if err := in.begin(&counter{src, &v.read}); err != nil {
		return in, err
	}
	if in.spool != nil {
		if err := in.spool.keep(v.readsTwice(in)); err != nil {
			return in, &codedError{exitData, err}
		}
	}
	return in, nil
}

// begin reads the head of the recording.
func (in *input) begin(src io.Reader) error {
	unpacked, err := unpack(src)
	if err == nil {
		in.reader = parse.NewReader(unpacked, gclog.Wanted)
		in.trace, err = in.reader.ReadTrace()
	}
	if err != nil {
		return &codedError{exitData, fmt.Errorf("%s: %w", in.name, err)}
	}
	return nil
}

type counter struct {
	r io.Reader
	n *atomic.Int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n.Add(int64(n))
	return n, err
}

// unpack undoes gzip and zstd, told by their first bytes.
func unpack(r io.Reader) (io.Reader, error) {
	var head [4]byte
	n, err := io.ReadFull(r, head[:])
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, err
	}
	whole := io.MultiReader(bytes.NewReader(head[:n]), r)
	switch {
	case bytes.HasPrefix(head[:n], []byte{0x1f, 0x8b}):
		z, err := gzip.NewReader(bufio.NewReaderSize(whole, 64<<10))
		if err != nil {
			return nil, fmt.Errorf("unpacking gzip: %w", err)
		}
		return z, nil
	case bytes.Equal(head[:n], []byte{0x28, 0xb5, 0x2f, 0xfd}):
		z, err := zstd.NewReader(whole, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow))
		if err != nil {
			return nil, fmt.Errorf("unpacking zstd: %w", err)
		}
		return &zstdReader{z}, nil
	}
	return whole, nil
}

// maxWindow is how far back a zstd file may refer: what zstd -19 makes.
const maxWindow = 8 << 20

// A zstdReader explains the one error of unpacking that has a way out.
type zstdReader struct{ z *zstd.Decoder }

func (r *zstdReader) Read(p []byte) (int, error) {
	n, err := r.z.Read(p)
	if errors.Is(err, zstd.ErrWindowSizeExceeded) || errors.Is(err, zstd.ErrDecoderSizeExceeded) {
		err = errors.New("it was packed with --long or --ultra, which needs more than 8 MB to unpack: unpack it with zstd -d --long=31 first")
	}
	return n, err
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

// readsTwice tells whether a recording is read for the processes in it first: only
// one of a machine has several.
func (v *conversion) readsTwice(in *input) bool {
	return in.trace.Major >= 6 && (v.pid != 0 || !v.several())
}

// checkProcesses finds out which processes there are where that decides what can
// be written: an output that holds one process must not get a second one.
func (v *conversion) checkProcesses(inputs []*input) error {
	seen := map[int64]bool{}
	var pids []int64
	for _, in := range inputs {
		list := []int64{in.trace.ProcessID}
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
	slices.Sort(pids)
	text := strings.Trim(strings.ReplaceAll(fmt.Sprint(pids), " ", ", "), "[]")
	switch {
	case v.pid != 0 && !seen[v.pid]:
		return noProcessf("no process %d in it: there are %s", v.pid, text)
	case v.pid == 0 && len(pids) > 1 && !v.several():
		return usagef("it holds %d processes with a .NET runtime (%s): choose one with --pid, write one file for each with %%p in the name, or take the format json or csv",
			len(pids), text)
	}
	return nil
}

// processesIn reads a recording of a machine to its end for the processes in it,
// and begins it anew.
func (v *conversion) processesIn(in *input) ([]int64, error) {
	found := gclog.NewProcesses(func(*gclog.Process) gclog.Observer { return nil })
	found.Begin(in.trace)
	for in.reader.Scan() {
		if e := in.reader.Event(); e != nil {
			found.Event(e)
		}
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
	var pids []int64
	for _, x := range found.List() {
		if !slices.Contains(pids, x.ID) {
			pids = append(pids, x.ID)
		}
	}
	slices.SortFunc(pids, cmp.Compare[int64])
	return pids, nil
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
	for _, set := range v.sets() {
		set.Each(func(w *formats.Writer) { w.End(&formats.End{At: processes.Newest(), Reason: formats.EndOfRecording}) })
	}
	return r.Err()
}

func (v *conversion) sets() (list []*output.Set) {
	for _, set := range v.writers {
		list = append(list, set)
	}
	return list
}

// finish writes what is buffered.
func (v *conversion) finish() error {
	var all error
	for _, set := range v.sets() {
		all = errors.Join(all, set.Err(), set.Close())
	}
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
}

func (o *converting) each(f func(*formats.Writer)) {
	if o.set == nil {
		o.set = o.v.writers[o.process.ID] // another instance of the process may have them
	}
	if o.set == nil && o.v.failed == nil {
		for _, name := range o.v.names {
			if o.v.failed = o.v.checkOutputs(name, o.process); o.v.failed != nil {
				return
			}
		}
		options := o.v.format
		options.Process = *o.process
		options.Process.Sync = o.v.begin
		if o.set, o.v.failed = o.v.opener.Open(o.v.specs, options); o.v.failed == nil {
			o.v.writers[o.process.ID] = o.set
		}
	}
	if o.set != nil {
		o.set.Each(f)
		o.v.unread = o.set.Broken()
	}
}

func (o *converting) Pause(p *gclog.Pause) { o.each(func(w *formats.Writer) { w.Pause(p) }) }
func (o *converting) Phase(p *gclog.Phase) { o.each(func(w *formats.Writer) { w.Phase(p) }) }
func (o *converting) Gap(g *gclog.Gap)     { o.each(func(w *formats.Writer) { w.Gap(g) }) }
func (o *converting) Suspension(s *gclog.Suspension) {
	if o.v.suspensions {
		o.each(func(w *formats.Writer) { w.Suspension(s) })
	}
}

func (o *converting) GC(d *gclog.GCDetails) {
	o.v.gcs.Add(1)
	o.each(func(w *formats.Writer) { w.GC(d) })
}
