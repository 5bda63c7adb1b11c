package parquet

import (
	"errors"
	"time"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/internal/cause"
	"github.com/gclog/gclog/internal/output"
	"github.com/gclog/gclog/internal/rotate"
)

// Options are where a Table goes.
type Options struct {
	Path    string         // with the places of output.TablePlaces
	Rotate  rotate.Options // rights, and the mode of files
	Version string         // of gclog
	// Part goes in front of the end of the names of incomplete files.
	Part string
	// Check returns an error for a file that must not be written; nil: all may be.
	Check func(path string) error
	// Stamp is part of the names of files, so that they are different from earlier ones; zero: it is
	// not, and earlier ones are replaced. Files with a stamp are many and small, and do not say what
	// their columns are, only the units.
	Stamp time.Time
}

// stampedSpans is how many spans of time the records of a process may be in if the files have a stamp:
// more than the hours that a journal covers, unless a process sends false times.
const stampedSpans = 200

// A Table collects the records of any number of processes, and writes them to files.
type Table struct {
	o      Options
	sorter *Sorter
	err    error
}

// NewTable returns a Table. It must be finished or discarded.
func NewTable(o Options) *Table {
	t := &Table{o: o}
	path := func(p *Process) string { return output.Expand(o.Path, &p.Process, p.Host) }
	t.sorter = newSorter(path, output.Span(o.Path), t.o.temporary)
	if !o.Stamp.IsZero() {
		t.sorter.mostSpans = stampedSpans
	}
	return t
}

// Observe returns the observer of a process. failed is called with the error when a record could not
// be stored: then no file can be written any more.
func (t *Table) Observe(p *gclog.Process, host string, failed func(error)) gclog.Observer {
	return t.sorter.Recorder(p, host, func(err error) {
		if t.err == nil {
			t.err = pathError(t.o.Path, err)
			failed(t.err)
		}
	}).Observe
}

// Rows returns how many records there are.
func (t *Table) Rows() int64 { return t.sorter.Rows() }

// Processes returns how many processes the records are from.
func (t *Table) Processes() int { return len(t.sorter.processes) }

// Finish writes the files and returns them. If that fails, no file has changed, unless one of several
// could not be renamed.
func (t *Table) Finish() ([]File, error) {
	defer t.Discard()
	if t.err != nil {
		return nil, t.err
	}
	f := files{o: &t.o, span: output.Span(t.o.Path)}
	err := t.sorter.each(f.add)
	if err == nil {
		var done []File
		if done, err = f.commit(); err == nil {
			return done, nil
		}
	}
	if errors.Is(err, errFailed) {
		err = f.end()
	}
	f.discard()
	if no, ok := errors.AsType[refusal](err); ok {
		return nil, no.error
	}
	return nil, pathError(t.o.Path, err)
}

// Discard removes the temporary files of a Table that is not needed any more.
func (t *Table) Discard() { t.sorter.close() }

func pathError(path string, err error) error {
	if _, ok := errors.AsType[*output.PathError](err); ok {
		return err
	}
	return &output.PathError{Path: path, Err: cause.Of(err)}
}
