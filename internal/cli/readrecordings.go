package cli

import (
	"errors"
	"fmt"
	"io"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/internal/doctor"
)

// A recordingReader is told what is in recordings.
type recordingReader interface {
	// process is told of each process in each recording, and returns who observes it,
	// nil if nobody does. Times are those of the first recording; shift is the zero of
	// this one, and ticks what its clock says then.
	process(p *gclog.Process, shift, ticks int64) gclog.Observer
	// end is told the time of the newest event of a recording that has been read, and what
	// was open then in the processes that are observed.
	end(at int64, open []gclog.Open)
	// over tells whether the rest is not wanted: by io.EOF, or another error.
	over() error
}

// recordings reads recordings one after the other, and returns what was wrong with them.
func (x *inputs) recordings(to recordingReader) (err error) {
	newest := map[int64]int64{} // time of the newest event, by pid of the recording
	for _, in := range x.list {
		if ferr := x.recording(in, to, newest); ferr != nil {
			err = errors.Join(err, fmt.Errorf("%s: %w", in.name, ferr))
		}
		if to.over() != nil {
			break
		}
	}
	return err
}

// recording reads one of them. What comes before damage is told.
func (x *inputs) recording(in *input, to recordingReader, newest map[int64]int64) error {
	// All recordings have one time axis: that of the first.
	shift := int64(in.trace.SyncTime.Sub(x.begun()))
	if shift < newest[in.trace.ProcessID] {
		return fmt.Errorf("it was recorded at the same time as another one of process %d: take them one by one", in.trace.ProcessID)
	}
	processes := gclog.NewProcesses(func(p *gclog.Process) gclog.Observer {
		return to.process(p, shift, in.trace.SyncTicks)
	})
	r := in.reader
	for r.Scan() {
		if l := r.Loss(); l != nil {
			l.From += shift
			l.To += shift
			processes.Take(r)
			continue
		}
		e := r.Event()
		x.heard = x.heard || doctor.OfGC(e.Meta)
		e.Time += shift
		processes.Take(r)
		if err := to.over(); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
	}
	var open []gclog.Open
	for _, p := range processes.List() {
		if reducer := processes.Reducer(p); reducer != nil {
			open = reducer.AppendOpen(open)
		}
	}
	processes.Finish()
	newest[in.trace.ProcessID] = processes.Newest()
	to.end(processes.Newest(), open)
	return r.Err()
}
