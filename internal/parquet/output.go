package parquet

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/internal/cause"
	"github.com/gclog/gclog/internal/output"
	"github.com/gclog/gclog/internal/rotate"
	"github.com/gclog/gclog/internal/shares"
)

// OutputOptions are what an Output does.
type OutputOptions struct {
	Options                // Path is "" if there is to be no output
	Interval time.Duration // how often files are completed
	MaxRows  int64         // files are completed earlier if there are that many records
}

// A Host is whom an Output works for.
type Host struct {
	Name  string
	Say   func(warn bool, text string) // receives messages for people
	Guard func(f func())               // calls f, and ends a panic of it; nil: panics are not ended
}

// An Output writes the records of running processes: to a journal as they arrive, and from time to
// time from there to files. No process waits for it. Records that it cannot take, because the disk is
// too slow or full, are counted, and reported as a gap.
type Output struct {
	host Host
	name string // of the host, as part of a file's name

	mu         sync.Mutex
	pending    []byte // entries that are not in the journal yet
	rows       int64  // in the journal and in pending
	generation int    // of the journal: each contains the processes of its rows
	on         bool
	number     int                  // of the last observer
	open       map[string]*observed // processes with a session
	owed       []*observed          // those with records that could not be taken
	room       *shares.Room         // of pending, in bytes

	wake     chan struct{}
	rotate   chan struct{}
	requests chan func()
	ended    chan struct{}

	// The rest belongs to the goroutine run.
	o       OutputOptions
	folder  string
	dir     *os.Root      // nil: there is no output
	file    *os.File      // nil: the journal could not be opened
	size    int64         // of the journal
	writing []byte        // entries that are being written, or could not be
	failing bool          // that was reported
	files   chan struct{} // closed when the files of all complete journals have been written
}

const (
	// maxPending is how many bytes of rows are kept while the disk is slow or full; no process or user
	// has all of them.
	maxPending = 4 << 20
	// gather is how long to wait for more rows before they are written.
	gather = 250 * time.Millisecond
	// retry is how long to wait after a failure.
	retry = 2 * time.Second
	// late is how long after the end of an interval its files are completed: records arrive when
	// their collection has ended.
	late = 10 * time.Second
	// answer is how long a slow disk may delay a change of the configuration.
	answer = 5 * time.Second
)

// NewOutput returns an Output that writes nothing until it is configured. It must be closed.
func NewOutput(host Host) *Output {
	if host.Guard == nil {
		host.Guard = func(f func()) { f() }
	}
	o := &Output{
		host: host, name: output.Expand("%hn", &gclog.Process{}, host.Name), open: map[string]*observed{},
		room: shares.NewRoom(maxPending), wake: make(chan struct{}, 1), rotate: make(chan struct{}, 1),
		requests: make(chan func()), ended: make(chan struct{}),
	}
	go o.run()
	return o
}

// Configure completes the files, and changes where the next ones go. An error means that nothing has
// changed.
func (o *Output) Configure(options OutputOptions) (err error) {
	ctx, cancel := context.WithTimeout(context.Background(), answer)
	defer cancel()
	if !o.do(ctx, func() { err = o.configure(options) }) {
		return &output.PathError{Path: options.Path, Err: errors.New("the disk does not respond")}
	}
	return err
}

// Rotate has the files completed.
func (o *Output) Rotate() { poke(o.rotate) }

func poke(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// Close ends the Output. Files that are not complete when ctx is done are completed by the next
// Output.
func (o *Output) Close(ctx context.Context) {
	var files chan struct{}
	if !o.do(ctx, func() {
		_ = o.configure(OutputOptions{}) // there is nothing that could fail
		files = o.files
		close(o.ended)
	}) || files == nil {
		return
	}
	select {
	case <-files:
	case <-ctx.Done():
	}
}

// do has the goroutine call f, and reports whether it has in time.
func (o *Output) do(ctx context.Context, f func()) bool {
	done := make(chan struct{})
	select {
	case o.requests <- func() { defer close(done); f() }:
	case <-o.ended:
		return false
	case <-ctx.Done():
		return false
	}
	select {
	case <-done:
		return true
	case <-ctx.Done():
		return false
	}
}

// run writes what arrives until the Output is closed.
func (o *Output) run() {
	due := time.NewTimer(time.Hour) // when to write what has arrived
	due.Stop()
	waiting := false
	for {
		var end <-chan time.Time
		if o.dir != nil {
			end = time.After(o.untilEnd(time.Now()))
		}
		select {
		case <-o.ended:
			return
		case f := <-o.requests:
			o.host.Guard(f)
		case <-o.wake:
			if !waiting {
				waiting = true
				due.Reset(gather)
			}
		case <-due.C:
			waiting = false
			o.host.Guard(func() {
				if !o.flush() {
					waiting = true
					due.Reset(retry)
				} else if o.full() {
					o.seal()
				}
			})
		case <-o.rotate:
			o.host.Guard(o.seal)
		case <-end:
			o.host.Guard(func() {
				o.seal()
				o.complete() // also what has failed before
			})
		}
	}
}

// untilEnd returns how long it is until files are completed.
func (o *Output) untilEnd(now time.Time) time.Duration {
	grace := min(late, o.o.Interval/6)
	return now.Add(-grace).Truncate(o.o.Interval).Add(o.o.Interval + grace).Sub(now)
}

// full reports whether there are as many records as a file is to have.
func (o *Output) full() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.rows >= o.o.MaxRows
}

func (o *Output) journal() string { return filepath.Join(o.folder, journalName(o.name)) }

// warn reports that a file cannot be written.
func (o *Output) warn(path string, err error, more string) {
	o.host.Say(true, (&output.PathError{Path: path, Err: cause.Of(err)}).Error()+more)
}

// configure opens another journal, if that is in another folder, after it has completed this one.
func (o *Output) configure(options OutputOptions) error {
	folder := ""
	if options.Path != "" {
		folder = output.KnownFolder(options.Path)
	}
	if folder == o.folder {
		if options.Path != o.o.Path {
			o.seal()
		}
		o.o = options
		return nil
	}
	var dir *os.Root
	var file *os.File
	if folder != "" {
		var err error
		if dir, file, err = o.start(&options, folder); err != nil {
			return err
		}
	}
	if o.dir != nil {
		o.seal()
		o.leave()
	}
	o.o, o.folder, o.dir, o.file, o.size, o.writing = options, folder, dir, file, 0, nil
	o.mu.Lock()
	o.room.Empty()
	if o.on, o.pending = dir != nil, nil; !o.on {
		clear(o.open)
		o.owed = nil
	}
	o.renew()
	o.mu.Unlock()
	o.complete()
	return nil
}

// leave closes the journal, and deletes it if it has no rows. It has some if it could not be
// completed.
func (o *Output) leave() {
	if o.file != nil {
		_ = o.file.Close()
	}
	switch lost := o.unwritten(); {
	case o.empty():
		_ = o.dir.Remove(journalName(o.name))
	case lost > 0:
		o.host.Say(true,
			fmt.Sprintf("%s could not be completed: it lacks %s of records, which only the logs have; its files are "+
				"written when gclog writes to this directory again", o.journal(), formats.SizeText(int64(lost))))
	default:
		o.host.Say(true,
			o.journal()+" could not be completed: its files are written when gclog writes to this directory again")
	}
	_ = o.dir.Close()
}

// unwritten returns how many bytes of entries are not in the journal.
func (o *Output) unwritten() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.writing) + len(o.pending)
}

func (o *Output) empty() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.rows == 0
}

// start opens the journal in a folder. One that is there already was left by a gclog that was killed.
func (o *Output) start(options *OutputOptions, folder string) (dir *os.Root, file *os.File, err error) {
	dir, err = options.Rotate.OpenFolder(folder)
	if err != nil {
		return nil, nil, &output.PathError{Path: folder, Err: cause.Of(err)}
	}
	name := journalName(o.name)
	path := filepath.Join(folder, name)
	if info, statErr := dir.Lstat(name); statErr == nil {
		if rotate.IsInUse(path) {
			err = errors.New("another gclog is writing to it: give each daemon a directory of its own")
		} else {
			err = dir.Rename(name, sealedName(o.name, unusedTime(dir, o.name, info.ModTime())))
		}
	}
	if err == nil {
		file, err = openJournal(dir, name)
	}
	if err != nil {
		_ = dir.Close()
		return nil, nil, &output.PathError{Path: path, Err: cause.Of(err)}
	}
	return dir, file, nil
}

// flush writes what has arrived to the journal, and reports whether it could.
func (o *Output) flush() bool {
	if o.dir == nil {
		return true
	}
	err := o.write(o.writing)
	if err == nil {
		o.mu.Lock()
		o.writing, o.pending = o.pending, o.writing[:0]
		o.room.Empty()
		o.mu.Unlock()
		err = o.write(o.writing)
	}
	switch {
	case err != nil:
		if !o.failing {
			o.failing = true
			o.warn(o.journal(), err, "; records for Parquet files wait, and are dropped when there are too many")
		}
		return false
	case o.failing:
		o.failing = false
		o.host.Say(true, o.journal()+" is writable again")
	}
	o.writing = o.writing[:0]
	o.settle()
	return true
}

// write appends entries to the journal, or nothing.
func (o *Output) write(entries []byte) (err error) {
	if o.file == nil {
		if o.file, err = openJournal(o.dir, journalName(o.name)); err != nil {
			return err
		}
		o.size = 0
	}
	end := int64(len(journalMagic)) + o.size
	if _, err := o.file.WriteAt(entries, end); err != nil {
		_ = o.file.Truncate(end)
		return err
	}
	o.size += int64(len(entries))
	return nil
}

// seal completes the journal, and starts another one. Its files are written meanwhile.
func (o *Output) seal() {
	if o.dir == nil || !o.flush() || o.empty() {
		return // after a failure it is tried again
	}
	// Records that arrive from now on may belong to the next journal, which needs the processes.
	o.mu.Lock()
	o.writing, o.pending = o.pending, nil
	o.room.Empty()
	rows := o.rows
	o.renew()
	o.mu.Unlock()
	name, sealed := journalName(o.name), sealedName(o.name, unusedTime(o.dir, o.name, time.Now()))
	err := o.write(o.writing)
	if err == nil {
		o.writing = o.writing[:0]
		err = o.write(appendEnd(nil))
	}
	if err == nil {
		err = errors.Join(o.file.Sync(), o.file.Close()) // some systems rename no open file
		if err = errors.Join(err, o.dir.Rename(name, sealed)); err != nil {
			o.file, _ = o.dir.OpenFile(name, os.O_RDWR, 0)
			o.size -= int64(len(appendEnd(nil)))
		}
	}
	if err != nil {
		o.mu.Lock()
		o.rows += rows
		o.mu.Unlock()
		o.warn(o.journal(), err, "; it is tried again")
		return
	}
	o.file, o.size = nil, 0 // flush opens the next one
	_ = o.flush()
	o.complete()
}

// complete writes the files of all complete journals, one after the other.
func (o *Output) complete() {
	before, done := o.files, make(chan struct{})
	o.files = done
	options, folder := o.o.Options, o.folder
	var names []string
	if folder != "" {
		names = sealedJournals(folder, o.name)
	}
	go func() {
		defer close(done)
		if before != nil {
			<-before
		}
		o.host.Guard(func() {
			for _, name := range names {
				o.convert(options, folder, name)
			}
		})
	}()
}

// convert writes the files of a complete journal.
func (o *Output) convert(options Options, folder, name string) {
	files, lost, err := options.convert(folder, name)
	if errors.Is(err, errConverted) {
		return
	}
	if err != nil {
		o.host.Say(true, err.Error()+"; "+filepath.Join(folder, name)+" keeps the records until it is tried again")
		return
	}
	if lost != nil {
		more := ""
		if lost.damaged {
			more = ", and its last record is damaged"
		}
		o.host.Say(true, fmt.Sprintf("%s was left by a gclog that was killed at %s%s: records may be missing at its "+
			"end, of each process that has a gc-gap in the files (%d)",
			filepath.Join(folder, name), lost.at.UTC().Format(time.RFC3339), more, lost.processes))
	}
	for _, f := range files {
		o.host.Say(false, fmt.Sprintf("wrote %s: %d records, %s", f.Path, f.Rows, formats.SizeText(f.Size)))
	}
}

// renew starts another generation of the journal. It contains all processes with a session, so that
// it is known after a crash which they were. The caller has locked o.
func (o *Output) renew() {
	o.generation++
	o.rows = 0
	for _, x := range o.open {
		x.introduce()
	}
}

// settle reports what could not be taken, now that there is room.
func (o *Output) settle() {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, x := range o.owed {
		x.missing.Gaps(gclog.Gap{Reason: gclog.GapUnwritten, Time: x.last, Ticks: x.last},
			func(g *gclog.Gap) { x.gaps.Observe(g) })
		x.missing = gclog.Missing{}
	}
	if len(o.owed) > 0 {
		o.owed = nil
		poke(o.wake)
	}
}

// An observed is the observer of a process.
type observed struct {
	*Recorder
	o          *Output
	key        string
	share      *shares.Share
	number     int
	generation int    // of the journal that contains known
	known      []byte // entry with what is known of the process

	missing gclog.Missing // could not be taken
	last    int64         // time of the latest of them
	gaps    *Recorder     // of what is missing
}

// Observe returns the observer of a process. It never waits for the disk.
func (o *Output) Observe(p *gclog.Process, host string) gclog.Observer {
	process := newProcess(p, host)
	x := &observed{o: o, key: process.key()}
	o.mu.Lock()
	o.number++
	x.number, x.share = o.number, o.room.Of(p.UserID)
	x.known = appendProcess(nil, x.number, process)
	if _, known := o.open[x.key]; known {
		o.open[x.key] = x
	}
	o.mu.Unlock()
	x.Recorder = newRecorder(process, x.put, func() {
		o.mu.Lock()
		x.known, x.generation = appendProcess(nil, x.number, process), 0
		o.mu.Unlock()
	})
	x.gaps = newRecorder(newProcess(p, host), func(r row, _ *fact) { x.add(r) }, nil)
	return x.Observe
}

// put adds a row to the journal, if there is room.
func (x *observed) put(r row, f *fact) {
	o := x.o
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.on {
		return
	}
	if f.action() == actionEnd {
		delete(o.open, x.key)
	} else {
		o.open[x.key] = x
	}
	size := len(r) + entryHead + 16
	if x.generation != o.generation {
		size += len(x.known)
	}
	if !x.share.Take(size) {
		x.miss(f)
		return
	}
	x.add(r)
	poke(o.wake)
}

// miss counts a record that cannot be taken. The caller has locked o.
func (x *observed) miss(f *fact) {
	if x.missing.Records == 0 {
		x.o.owed = append(x.o.owed, x)
	}
	x.missing.Add(f.record)
	x.last = f.at()
}

// add adds a row to the journal. The caller has locked o.
func (x *observed) add(r row) {
	if x.generation != x.o.generation {
		x.introduce()
	}
	x.o.pending = appendRow(x.o.pending, x.number, r)
	x.o.rows++
}

// introduce adds the process to the journal. The caller has locked o.
func (x *observed) introduce() {
	x.generation = x.o.generation
	x.o.pending = append(x.o.pending, x.known...)
}
