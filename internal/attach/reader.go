package attach

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/internal/output"
	"github.com/gclog/gclog/parse"
	"github.com/gclog/gclog/session"
)

// A reader reads the stream of a session and reduces it into a queue.
type reader struct {
	o      *Options
	stream *session.Stream
	queue  *queue
	ask    func() // ends the session
	tee    *tee

	suspensions bool // an output wants them all

	traced chan struct{} // closed when trace is there, or never will be
	trace  *parse.Trace
	done   chan struct{} // closed when the stream has ended and all is in the queue
	err    error         // how the stream ended

	processes *gclog.Processes
	began     time.Time // when the head of the stream came
	watch     gclog.StallWatch
	checked   int64
	counted   int64 // records of collections that began in the session
	over      bool  // Count is reached: of what begins later nothing is told
	overAt    int64
}

func newReader(o *Options, stream *session.Stream, ask func()) *reader {
	r := &reader{o: o, stream: stream, queue: newQueue(), ask: ask, traced: make(chan struct{}), done: make(chan struct{})}
	r.suspensions = output.Suspensions(o.Outputs)
	r.tee = newTee(stream, o.Record)
	return r
}

func (r *reader) run() {
	defer close(r.done)
	defer close(r.queue.full)
	p := parse.NewReader(r.tee, gclog.Wanted)
	r.readTrace(p)
	if r.trace == nil {
		return
	}
	var mine *gclog.Process
	r.processes = gclog.NewProcesses(func(x *gclog.Process) gclog.Observer {
		if mine != nil {
			return nil
		}
		mine = x
		return r
	})
	r.processes.Begin(r.trace)
	for {
		for p.Scan() {
			if l := p.Loss(); l != nil {
				r.processes.Loss(l)
				r.o.Progress.Lost.Add(int64(l.Events))
				continue
			}
			e := p.Event()
			r.processes.Event(e)
			if e.Time-r.checked > int64(idle) {
				r.check(p, mine, e.Time)
			}
		}
		if !session.IsIdle(p.Err()) {
			break
		}
		// Silence: what waits is due, and what is open gets older.
		p.Flush()
		r.check(p, mine, time.Since(r.began).Nanoseconds())
	}
	r.err = p.Err()
	r.o.Progress.Stream.Store(p.Stats().Bytes)
	r.processes.Finish()
}

// readTrace reads the head of the stream. Its time of arrival is the zero of the
// stream's clock, give or take a few milliseconds.
func (r *reader) readTrace(p *parse.Reader) {
	defer close(r.traced)
	for {
		trace, err := p.ReadTrace()
		if err == nil {
			r.trace, r.began = trace, time.Now()
			return
		}
		if !session.IsIdle(err) {
			r.err = err
			return
		}
	}
}

// check tells what has been open for long, at the time now of the stream.
func (r *reader) check(p *parse.Reader, mine *gclog.Process, now int64) {
	r.checked = now
	r.o.Progress.Stream.Store(p.Stats().Bytes)
	r.processes.Advance(now)
	if mine != nil {
		r.watch.Check(r.processes.Reducer(mine), now, func(s *gclog.Stall) {
			if !r.over {
				r.queue.stall(s)
			}
		})
	}
}

// wants tells whether something is to be told that began at a time, or belongs to a
// collection that did: when enough collections have been counted, those that are under
// way are still told whole.
func (r *reader) wants(at int64, d *gclog.GCDetails) bool {
	return !r.over || at <= r.overAt || d != nil && d.Start <= r.overAt
}

// Pause implements gclog.Observer.
func (r *reader) Pause(p *gclog.Pause) {
	if r.wants(p.Start, p.GC) {
		r.queue.Pause(p)
	}
}

// Phase implements gclog.Observer.
func (r *reader) Phase(p *gclog.Phase) {
	if r.wants(p.Start, p.GC) {
		r.queue.Phase(p)
	}
}

// Suspension implements gclog.SuspensionObserver.
func (r *reader) Suspension(s *gclog.Suspension) {
	if r.suspensions && r.wants(s.Start, nil) {
		r.queue.Suspension(s)
	}
}

// Gap implements gclog.Observer.
func (r *reader) Gap(g *gclog.Gap) {
	if !r.over {
		r.queue.Gap(g)
	}
}

// GC implements gclog.Observer.
func (r *reader) GC(d *gclog.GCDetails) {
	if !r.wants(d.Start, nil) {
		return
	}
	r.queue.GC(d)
	if r.over || d.Flaws&gclog.FlawNoStart != 0 {
		return
	}
	r.counted++
	r.o.Progress.GCs.Store(r.counted)
	if r.o.Count > 0 && r.counted >= r.o.Count {
		r.over, r.overAt = true, r.processes.Newest()
		r.ask()
	}
}

// process completes the facts with what the head of the stream says.
func (r *reader) process(known *gclog.Process) gclog.Process {
	var p gclog.Process
	if known != nil {
		p = *known
	} else {
		p, _ = Facts(context.Background(), r.o.Target)
	}
	select {
	case <-r.traced:
	case <-time.After(headTime):
		r.o.Opener.Tell(fmt.Sprintf("process %d sends nothing yet: if it has just been started it may wait for a diagnostic port (DOTNET_DiagnosticPorts)", r.o.Target.PID))
		<-r.traced
	}
	if r.trace != nil {
		p.Sync = r.trace.SyncTime
		if !p.Started.IsZero() {
			p.UptimeAtSync = max(0, p.Sync.Sub(p.Started))
		}
	} else {
		p.Sync = time.Now().UTC()
	}
	return p
}

func (r *reader) syncTicks() int64 {
	if r.trace == nil {
		return 0
	}
	return r.trace.SyncTicks
}

// discard lets the reader come to its end when nobody writes.
func (r *reader) discard() {
	for it := range r.queue.full {
		r.queue.free <- it
	}
}

// end finds out how the session ended.
func (r *reader) end(asked bool, watch *session.Watch) formats.End {
	e := formats.End{Reason: formats.EndDetached}
	if r.trace != nil {
		e.At = max(time.Since(r.began).Nanoseconds(), r.processes.Newest())
		e.Ticks = r.trace.SyncTicks + e.At // an id, not a time: the clock's unit does not matter
	}
	cut := r.err != nil && errors.Is(r.err, io.ErrUnexpectedEOF)
	switch {
	case asked && r.trace == nil: // nothing has come
	case r.err != nil && !cut:
		e.Reason, e.Message = formats.EndStreamError, r.err.Error()
	case asked && !cut:
	case r.gone():
		e.Reason = formats.EndExited
		if left, known := watch.SocketLeft(); left && known {
			e.Reason = formats.EndKilled
		}
		if r.o.Exit != nil {
			if code, killed, known := r.o.Exit(); known {
				e.Reason = formats.EndExited
				e.ExitCode, e.HasCode = code, !killed
				if killed {
					e.Reason = formats.EndKilled
				}
			}
		}
	case asked: // the target did not end the session in time
	default:
		e.Reason, e.Message = formats.EndStreamError, "the runtime ended the session"
	}
	return e
}

// gone waits until the process has ended; its stream ends a little earlier.
func (r *reader) gone() bool {
	deadline := time.Now().Add(exitTime)
	for r.o.Target.Alive() {
		if time.Now().After(deadline) {
			return false
		}
		time.Sleep(10 * time.Millisecond)
	}
	return true
}

// failure is what was wrong with the stream. That it is cut off where the target
// ended is no error.
func (r *reader) failure(reason formats.EndReason) error {
	if reason != formats.EndStreamError {
		return nil
	}
	if r.err == nil || errors.Is(r.err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("process %d goes on, but its runtime ended the session", r.o.Target.PID)
	}
	return fmt.Errorf("the stream of process %d: %w", r.o.Target.PID, r.err)
}
