package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/internal/output"
	"github.com/gclog/gclog/internal/screen"
	"github.com/gclog/gclog/parse"
)

// The inputs of a command are recordings, or files of logs, in the order of time.
type inputs struct {
	p     *program
	pid   int64             // of the process that is meant; 0: all
	twice func(*input) bool // whether an input is read for something first, and then again
	list  []*input
	quiet bool         // they are read for something first: what is wrong with them is told later
	read  atomic.Int64 // bytes
	// skipped counts lines of logs that are damaged or none of gclog's.
	skipped int64
	heard   bool                             // recordings have events of the GC
	want    func(*parse.Metadata) parse.Want // of recordings; nil: gclog.Wanted
	// converts: what a format lacks is told, because nothing else tells it.
	converts bool
}

// open opens all inputs, reads their heads, and puts them into the order of time. close
// is to be called in any case.
func (x *inputs) open(names []string) error {
	for i, name := range names {
		if slices.ContainsFunc(names[:i], func(other string) bool { return name == other || name != "-" && other != "-" && samePath(name, other) }) {
			return usagef("%s is given twice", name)
		}
		in, err := x.openOne(name)
		if errors.Is(err, errEmpty) && len(names) > 1 {
			x.p.ui.sayf("%s is empty", name)
			in.close()
			continue
		}
		if in != nil {
			x.list = append(x.list, in)
		}
		if err != nil {
			return err
		}
	}
	if len(x.list) == 0 {
		return &codedError{exitData, errors.New("all files are empty")}
	}
	slices.SortStableFunc(x.list, (*input).compare)
	for i, in := range x.list {
		if err := in.goesWith(x.list[:i]); err != nil {
			return err
		}
	}
	if a, b := x.unknownSeries(); b != nil {
		return usagef("%s and %s do not say which process they are of: take them one after the other", a.name, b.name)
	}
	return nil
}

// openOne opens an input and reads its head. What it returns with an error is to be
// closed too.
func (x *inputs) openOne(name string) (*input, error) {
	in := &input{name: name, want: x.want}
	var src io.Reader
	seekable := false
	if name == "-" {
		if screen.IsTerminal(x.p.in) {
			return nil, usagef("standard input is a terminal: give a file, or pipe a recording into it")
		}
		in.name, src = "standard input", x.p.in
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
	if err := in.begin(&counter{src, &x.read}); err != nil {
		return in, err
	}
	if in.log.Format != "" && in.spool == nil {
		in.text = nil
		x.read.Store(0)
	}
	if in.spool != nil {
		if err := in.spool.keep(x.twice(in)); err != nil {
			return in, &codedError{exitData, err}
		}
	}
	return in, nil
}

func (x *inputs) close() {
	for _, in := range x.list {
		in.close()
	}
}

// isLog tells whether they are files of logs.
func (x *inputs) isLog() bool { return x.list[0].trace == nil }

// begun is when the first of them began: of recordings it is the zero of all times.
func (x *inputs) begun() time.Time { return x.list[0].begun() }

// unknownSeries returns inputs of two logs that do not say which process they are of.
func (x *inputs) unknownSeries() (a, b *input) {
	for _, in := range x.list {
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

// rewind begins an input anew that was read for something.
func (x *inputs) rewind(in *input) error {
	src, err := in.again()
	if err != nil {
		return &codedError{exitData, fmt.Errorf("%s: reading it again: %w", in.name, err)}
	}
	x.read.Store(0)
	return in.begin(&counter{src, &x.read})
}

// watch shows how far they are read.
func (x *inputs) watch(gcs *atomic.Int64) (stop func()) {
	return x.p.ui.watch(func(time.Duration) string {
		return fmt.Sprintf("%s read, %s", output.SizeText(x.read.Load()), counted(uint64(gcs.Load()), "GC"))
	})
}

// wanted tells whether a process is the one that is meant, or one of all.
func (x *inputs) wanted(p *gclog.Process) bool { return x.pid == 0 || p.ID == x.pid }

// sayf tells people about what is read, but not twice.
func (x *inputs) sayf(format string, args ...any) {
	if !x.quiet {
		x.p.ui.sayf(format, args...)
	}
}

// sayNothing says that there is no collection in them, and how to find out why.
func (x *inputs) sayNothing() {
	var names []string
	for _, in := range x.list {
		names = append(names, in.name)
	}
	more := ""
	if x.list[0].file != nil {
		more = " (gclog doctor " + names[0] + " says more)"
	}
	x.p.ui.sayf("no collection in %s: there was none, or the events of the GC were not recorded%s", strings.Join(names, ", "), more)
}

// noSuchProcess says which processes there are.
func noSuchProcess(pid int64, pids []int64) error {
	text := pidText(pids)
	if text == "" || text == "0" {
		text = "none whose number is known"
	}
	return noProcessf("no process %d in it: there are %s", pid, text)
}

// pidText lists pids.
func pidText(pids []int64) string {
	slices.Sort(pids)
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(pids), " ", ", "), "[]")
}
