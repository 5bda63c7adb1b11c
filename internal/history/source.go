// Package history opens and reads what commands take as input: recordings, logs of gclog, all files
// of a rotated log, and running processes.
//
// Open recognizes files and sorts them by time; Source.Read passes the history of one process in
// them to an observer, with its sessions and with the collections that are missing, and Watch does
// the same for a running process. Source.ReadAll passes on everything that the files contain, of
// all processes. Messages name the flags with which commands accept the options: --pid, --name,
// --since, --until and --local.
package history

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/gclog/gclog/formats/logs"
	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/internal/cause"
	"github.com/gclog/gclog/internal/output"
	"github.com/gclog/gclog/internal/rotate"
	"github.com/gclog/gclog/internal/unpack"
	"github.com/gclog/gclog/parse"
)

// Options configure what is read from files, and how.
type Options struct {
	Choice
	Span Span // the part that Read is to return
	// Single makes Open return a *ProcessError unless there is exactly one process to read. That
	// requires reading files that may contain several processes to their end.
	Single bool
	// Unpacked is how many bytes a packed file may unpack to; 0: unpack.LimitPassed.
	Unpacked int64

	Want func(*parse.Metadata) parse.Want // the events to read from recordings; nil: gclog.Wanted
	// Inspect sees each event and loss of a recording, and reports whether it is used; nil: all are.
	Inspect func(*parse.Reader) bool
	Stdin   io.Reader    // the input named -
	Notify  func(string) // receives messages for people; nil: none
}

// A Choice is the process to read. The zero Choice is the only one, or all with ReadAll.
type Choice struct {
	PID    int64
	Name   string                    // for messages
	Named  func(*gclog.Process) bool // reports whether a process has the name; nil: any
	Newest bool                      // choose the matching process that was started last
}

// A Source is a set of files that were opened to be read once.
type Source struct {
	Files []*File // ordered by time

	o       Options
	events  func(*gclog.Process) gclog.EventObserver // of recordings; nil: nothing receives events
	bytes   atomic.Int64
	gcs     atomic.Int64
	heard   bool // recordings contain events of the GC
	quiet   bool // the files are being read ahead: what is wrong with them is reported later
	stopped bool
	why     error // why reading was stopped
}

// Open opens files, reads their heads and sorts them by time.
func Open(names []string, o Options) (*Source, error) {
	s := &Source{o: o}
	err := s.open(names)
	switch {
	case err != nil:
	case o.Named != nil, o.Newest:
		err = s.resolve()
	case o.Single:
		err = s.checkSingle()
	}
	if err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

func (s *Source) open(names []string) error {
	for i, name := range names {
		if slices.ContainsFunc(names[:i], func(other string) bool {
			return name == other || name != "-" && other != "-" && output.SamePath(name, other)
		}) {
			return callf("%s is given twice", name)
		}
		f := &File{Name: name}
		s.Files = append(s.Files, f)
		err := s.openFile(f)
		if errors.Is(err, ErrEmpty) && len(names) > 1 {
			s.notifyf("%s is empty", name)
			f.close()
			s.Files = s.Files[:len(s.Files)-1]
			continue
		}
		if err != nil {
			return err
		}
	}
	if len(s.Files) == 0 {
		return errors.New("all files are empty")
	}
	slices.SortStableFunc(s.Files, (*File).compare)
	unnamed := s.Files[0] // a file of an unknown process
	for i, f := range s.Files {
		if err := f.goesWith(s.Files[:i]); err != nil {
			return err
		}
		switch name := f.series().name; {
		case name == "":
		case unnamed.series().name == "":
			unnamed = f
		case unnamed.series().name != name:
			return callf("%s and %s do not say which process they are from: pass them one at a time",
				unnamed.Name, f.Name)
		}
	}
	return nil
}

// openFile opens a file and reads its head.
func (s *Source) openFile(f *File) error {
	var src io.Reader
	if f.Name == "-" && s.o.Stdin != nil {
		f.Name, src = "standard input", s.o.Stdin
	} else {
		file, regular, err := OpenFile(f.Name)
		if err != nil {
			return err
		}
		f.handle, src = file, file
		if regular {
			f.again = func() (io.Reader, error) {
				_, err := file.Seek(0, io.SeekStart)
				return file, err
			}
		}
	}
	if f.again == nil {
		f.spool = &spool{r: src}
		f.again, src = f.spool.again, f.spool
	}
	if err := s.readHead(f, src); err != nil {
		return err
	}
	if f.spool != nil {
		return f.spool.keep(s.o.Span.needsEnd() || s.o.Named != nil || s.o.Newest || s.o.Single && f.several(s.o.PID))
	}
	if f.Trace == nil { // many files are open at once, and none keeps its head
		f.text = nil
		s.bytes.Store(0)
	}
	return nil
}

// OpenFile opens a file for reading, and reports whether it can be read again. An error is a
// *CallError.
func OpenFile(name string) (f *os.File, regular bool, err error) {
	if f, err = os.Open(name); err != nil {
		return nil, false, callf("cannot read %s: %w", name, cause.Of(err))
	}
	info, err := f.Stat()
	if err == nil && info.IsDir() {
		_ = f.Close()
		return nil, false, callf("cannot read %s: it is a directory", name)
	}
	return f, err == nil && info.Mode().IsRegular(), nil
}

// readHead determines what a file is, and reads its head.
func (s *Source) readHead(f *File, src io.Reader) error {
	content, err := unpack.Reader(src, &s.bytes, s.unpacked())
	if err == nil {
		err = f.recognize(content, s.o.Want)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", f.Name, err)
	}
	return nil
}

// unpacked returns how many bytes a packed file may unpack to.
func (s *Source) unpacked() int64 { return cmp.Or(s.o.Unpacked, unpack.LimitPassed) }

// Close closes the files.
func (s *Source) Close() {
	for _, f := range s.Files {
		f.close()
	}
}

// IsLog reports whether the files are logs, not recordings.
func (s *Source) IsLog() bool { return s.Files[0].Trace == nil }

// begin returns when the first file starts: for recordings it is the origin of all times.
func (s *Source) begin() time.Time { return s.Files[0].begin() }

// Length returns how long the recordings last. They must have been read.
func (s *Source) Length() time.Duration {
	length := int64(0)
	for _, f := range s.Files {
		length = max(length, f.until)
	}
	return time.Duration(length)
}

// Heard reports whether what was read of recordings shows that the GC was recorded.
func (s *Source) Heard() bool { return s.heard }

// Bytes returns how much has been read. It may be called while the files are read, and so may GCs.
func (s *Source) Bytes() int64 { return s.bytes.Load() }

// GCs returns how many collections Read has passed on.
func (s *Source) GCs() int64 { return s.gcs.Load() }

// names returns the names of the files, ordered by time.
func (s *Source) names() (list []string) {
	for _, f := range s.Files {
		list = append(list, f.Name)
	}
	return list
}

// NothingText reports that there is no collection in the files, and how to find out why.
func (s *Source) NothingText() string {
	more := ""
	if s.Files[0].handle != nil {
		more = " (see gclog doctor " + s.Files[0].Name + ")"
	}
	return fmt.Sprintf("no collection in %s: none happened, or GC events were not recorded%s",
		strings.Join(s.names(), ", "), more)
}

// ReadAll reads the files to their end and returns what was wrong with them: what precedes damage
// is passed on.
//
// observe is called for each selected process: once for each recording, with the first recording's
// origin of times, and in logs for each process instance. It returns the observer of the process,
// or nil. A recording is one session, of all runtime instances in a process.
func (s *Source) ReadAll(observe func(*gclog.Process) gclog.Observer) error {
	return s.read(s.Files, func(p *gclog.Process) gclog.Observer {
		if !s.wanted(p) {
			return nil
		}
		return observe(p)
	})
}

// Stop ends ReadAll after the record that is being passed on: it then returns why; nil means no
// error.
func (s *Source) Stop(why error) { s.stopped, s.why = true, why }

func (s *Source) read(files []*File, observe func(*gclog.Process) gclog.Observer) error {
	if s.IsLog() {
		return s.readLogs(files, observe)
	}
	return s.readRecordings(files, observe)
}

// readAhead reads files in advance, without messages, and rewinds them. What is wrong with them is
// reported when they are read in earnest.
func (s *Source) readAhead(files []*File, observe func(*gclog.Process) gclog.Observer) error {
	s.quiet = true
	_ = s.read(files, observe)
	s.quiet = false
	for _, f := range files {
		src, err := f.again()
		if err != nil {
			return fmt.Errorf("%s: reading it again: %w", f.Name, err)
		}
		s.bytes.Store(0)
		if err := s.readHead(f, src); err != nil {
			return err
		}
		f.Skipped, f.Torn, f.Err = logs.Skipped{}, false, nil
	}
	return nil
}

// resolve finds the pid of a process that is chosen by its name, or as the newest: that requires reading
// all files to their end.
func (s *Source) resolve() error {
	var all []*gclog.Process
	err := s.readAhead(s.Files, func(p *gclog.Process) gclog.Observer {
		all = addProcess(all, p)
		return gclog.Tee() // what is known of it is completed
	})
	if err != nil {
		return err
	}
	fits := slices.DeleteFunc(slices.Clone(all),
		func(p *gclog.Process) bool { return s.o.Named != nil && !s.o.Named(p) })
	switch {
	case len(fits) == 0 && s.o.Name != "":
		return &ProcessError{Choice: s.o.Choice, File: s.Files[0].Name, Processes: all}
	case len(fits) > 1 && !s.o.Newest:
		return &ProcessError{File: s.Files[0].Name, Processes: fits}
	case len(fits) > 0:
		slices.SortStableFunc(fits, func(a, b *gclog.Process) int { return a.Started.Compare(b.Started) })
		s.o.PID = fits[len(fits)-1].ID
	}
	if s.o.Single {
		return s.choose(all)
	}
	return nil
}

// checkSingle returns an error unless there is exactly one process to read.
func (s *Source) checkSingle() error {
	var all []*gclog.Process
	add := func(p *gclog.Process) gclog.Observer {
		all = addProcess(all, p)
		return nil
	}
	for _, f := range s.Files {
		switch {
		case f.several(s.o.PID):
			if err := s.readAhead([]*File{f}, add); err != nil {
				return err
			}
		case f.Trace != nil:
			add(&gclog.Process{ID: f.Trace.ProcessID})
		case f.Log.ProcessID != 0:
			add(&gclog.Process{ID: f.Log.ProcessID})
		}
	}
	return s.choose(all)
}

// addProcess adds a process to a list with one entry for each pid.
func addProcess(list []*gclog.Process, p *gclog.Process) []*gclog.Process {
	if slices.ContainsFunc(list, func(other *gclog.Process) bool { return other.ID == p.ID }) {
		return list
	}
	return append(list, p)
}

// choose returns an error unless exactly one process is selected and is among all.
func (s *Source) choose(all []*gclog.Process) error {
	if s.o.PID == 0 && len(all) > 1 || s.o.PID != 0 && !slices.ContainsFunc(all, s.wanted) {
		return &ProcessError{s.o.Choice, s.Files[0].Name, all}
	}
	return nil
}

// wanted reports whether a process is selected. If no pid was given, all are.
func (s *Source) wanted(p *gclog.Process) bool { return s.o.PID == 0 || p.ID == s.o.PID }

// notifyf passes on a message about the input, except while reading ahead, so that it is not
// repeated.
func (s *Source) notifyf(format string, args ...any) {
	if !s.quiet && s.o.Notify != nil {
		s.o.Notify(fmt.Sprintf(format, args...))
	}
}

// notifyOlder reports that one file of a rotated log is not the whole log.
func (s *Source) notifyOlder() {
	if len(s.Files) > 1 || s.Files[0].handle == nil {
		return
	}
	name := s.Files[0].Name
	if list := rotate.Archived(name); len(list) > 0 {
		files := "files"
		if len(list) == 1 {
			files = "file"
		}
		s.notifyf("%s has %d older %s in the same directory, such as %s: name all of them to get the whole log",
			name, len(list), files, list[0])
	}
}
