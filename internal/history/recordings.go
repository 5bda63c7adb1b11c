package history

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/parse"
	"github.com/gclog/gclog/parse/clr"
)

// readRecordings reads recordings one after the other.
func (s *Source) readRecordings(files []*File, observe func(*gclog.Process) gclog.Observer) (all error) {
	r := recordingReader{Source: s, observe: observe, newest: map[int64]int64{}, seen: map[int64]bool{}}
	for _, f := range files {
		if f.Err = r.readRecording(f); f.Err != nil {
			all = errors.Join(all, fmt.Errorf("%s: %w", f.Name, f.Err))
		}
		if s.stopped {
			break
		}
	}
	return all
}

// A recordingReader is the state of reading several recordings.
type recordingReader struct {
	*Source
	observe func(*gclog.Process) gclog.Observer
	newest  map[int64]int64 // time of the latest event, by pid of the recording
	seen    map[int64]bool  // pids of the processes that were observed
}

// A recorded is a process in a recording, with its observer.
type recorded struct {
	*gclog.Process
	observer gclog.Observer
	first    bool // it is the first runtime instance in the process
}

// readRecording reads one recording. What precedes damage is passed on.
func (r *recordingReader) readRecording(f *File) error {
	// All recordings share one time axis: that of the first.
	start := int64(f.Trace.SyncTime.Sub(r.begin()))
	shift := start // of its times
	if shift < r.newest[f.Trace.ProcessID] {
		return fmt.Errorf(
			"it was recorded at the same time as another recording of process %d: pass them one at a time",
			f.Trace.ProcessID)
	}
	var list []recorded
	processes := gclog.NewProcesses(func(p *gclog.Process) gclog.Observer {
		p.Sync = r.begin()
		o := r.observe(p)
		if o == nil {
			return nil
		}
		first := !slices.ContainsFunc(list, func(other recorded) bool { return other.ID == p.ID })
		list = append(list, recorded{Process: p, observer: o, first: first})
		if first {
			o(&gclog.Start{At: start, Ticks: f.Trace.SyncTicks})
			if r.seen[p.ID] {
				o(&gclog.Gap{Reason: gclog.GapReattached, Time: start, Ticks: f.Trace.SyncTicks})
			}
		}
		return o
	})
	processes.Events = r.events
	if f.spool == nil {
		defer f.reader.ReadAhead()()
	}
	for first := true; f.reader.Scan(); first = false {
		e, l := f.reader.Event(), f.reader.Loss()
		if first {
			early, err := r.date(f, e, l)
			if err != nil {
				return err
			}
			shift += early
		}
		if e != nil {
			r.heard = r.heard || ofGC(e.Meta)
		}
		if r.o.Inspect != nil && !r.o.Inspect(f.reader) {
			continue
		}
		if l != nil {
			l.From += shift
			l.To += shift
		} else {
			e.Time += shift
		}
		processes.Take(f.reader)
		if r.stopped {
			return r.why
		}
	}
	open := map[int64][]gclog.Open{} // by pid
	for _, x := range list {
		open[x.ID] = processes.Reducer(x.Process).AppendOpen(open[x.ID])
	}
	r.newest[f.Trace.ProcessID] = processes.Latest()
	processes.Extend(f.reader.Stats().Until + shift)
	processes.Finish()
	f.until = processes.Latest()
	for _, x := range list {
		r.seen[x.ID] = true
		if x.first {
			x.observer(&gclog.End{
				At:      f.until,
				Ticks:   f.until,
				Reason:  gclog.EndOfRecording,
				Process: x.Process,
				Open:    open[x.ID],
			})
		}
	}
	return f.reader.Err()
}

// date handles a recording that does not say when it was made, which its head or its first event or
// loss shows. It returns by how much its times are too early.
func (r *recordingReader) date(f *File, e *parse.Event, l *parse.Loss) (early int64, err error) {
	var at int64
	if e != nil {
		at = e.Time
	} else {
		at = l.From
	}
	if at < -int64(time.Second) { // the start of the session is not when the head says that it is
		if len(r.Files) > 1 {
			return 0, errors.New("its events are before its start: pass it alone")
		}
		early = -at
		f.Trace.SyncTime = time.Unix(0, 0).UTC()
	}
	if f.Trace.Dated() {
		return 0, nil
	}
	r.notifyf("%s does not say when it was recorded: its times are counted from the start of 1970", f.Name)
	return early, nil
}

// ofGC reports whether an event shows that the GC was recorded.
func ofGC(m *parse.Metadata) bool {
	switch m.EventID {
	case clr.IDGCStart, clr.IDGCEnd, clr.IDGCSuspendEEBegin, clr.IDGCTriggered, clr.IDGCAllocationTick:
		return m.Provider == clr.RuntimeProvider
	}
	return false
}
