// Package attach runs one live session: it starts it, reduces its stream, and
// writes the records, until the target ends or gclog is asked to stop. It is for
// the commands that watch one process, and for the daemon.
//
// Three goroutines share the work. One reads the stream and reduces it; reading
// has priority over everything, because a runtime that nobody reads drops
// events. One takes the records from a bounded queue and writes them. One waits
// for the request to stop.
package attach

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"time"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/internal/output"
	"github.com/gclog/gclog/session"
)

const (
	// idle is how long the stream may be silent before what waits for its place in
	// time is released: the runtime writes every 100 ms what it has.
	idle = 100 * time.Millisecond
	// headTime is how long it may take until the stream begins.
	headTime = 5 * time.Second
	// stopTime is how long the runtime may take to end a session.
	stopTime = 5 * time.Second
	// writeTime is how long the outputs may take for what is left when gclog is
	// asked to stop.
	writeTime = 5 * time.Second
	// exitTime is how long a process may take to go away after its stream ended.
	exitTime = 3 * time.Second
)

// Options is what a session does.
type Options struct {
	Target  *session.Target
	Config  session.Config
	Process *gclog.Process // what Facts found; nil: it is found out while the session is on
	Outputs []output.Spec
	Opener  *output.Opener
	Format  formats.Options // without the process
	Count   int64           // stop after so many collections; 0: do not
	// Until is asked once the session is there: when it shall end. nil, and the zero
	// time: never.
	Until  func() time.Time
	Record io.Writer       // gets a copy of the raw stream; nil: nobody does
	Reopen <-chan struct{} // a value makes the files begin anew
	// Resume lets the process go on, which waits in its start for the session. It is
	// resumed also if there is none.
	Resume bool
	// Exit returns, when the process has ended, how: for processes whose parent asks.
	Exit func() (code int, killed, known bool)
	// Begun is told when the session is there and its outputs are open.
	Begun func(*gclog.Process)
	// Progress is kept up to date while the session lasts; nil: nobody looks.
	Progress *Progress
}

// Progress is what has happened so far. It may be read at any time.
type Progress struct {
	GCs    atomic.Int64
	Lost   atomic.Int64 // events
	Stream atomic.Int64 // bytes read
	Output atomic.Int64 // bytes written
}

// Result is how a session ended.
type Result struct {
	Process gclog.Process
	End     formats.End
	Err     error // what went wrong with the stream or the outputs, nil if nothing
}

// Run runs a session until the target ends or ctx is done; the latter ends it in
// good order. An error means that there was none; what goes wrong later is in the
// Result.
func Run(ctx context.Context, o Options) (*Result, error) {
	if o.Progress == nil {
		o.Progress = &Progress{}
	}
	stream, err := o.Target.StartTracing(ctx, o.Config)
	if o.Resume {
		err = errors.Join(err, o.Target.Resume(context.WithoutCancel(ctx)))
	}
	if err != nil {
		if stream != nil {
			_ = stream.Close()
		}
		return nil, err
	}
	defer stream.Close()
	stream.IdleTimeout = idle
	watch := o.Target.Watch()
	defer watch.Close()

	asked, ask := context.WithCancel(ctx) // done: the session shall end
	defer ask()
	if o.Until != nil {
		if until := o.Until(); !until.IsZero() {
			defer time.AfterFunc(time.Until(until), ask).Stop()
		}
	}
	r := newReader(&o, stream, ask)
	go r.run()
	inOrder := true // the runtime has ended the session when it was asked to
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		select {
		case <-asked.Done():
			inOrder = stop(stream, r.done)
		case <-r.done:
		}
	}()

	process := r.process(o.Process)
	o.Format.Process = process
	set, err := o.Opener.Open(o.Outputs, o.Format)
	if err != nil {
		ask()
		go r.discard()
		<-r.done
		<-stopped
		go func() { _ = r.tee.close() }() // nobody needs the copy
		return nil, err
	}
	if o.Begun != nil {
		o.Begun(&process)
	}
	w := &writer{o: &o, set: set, queue: r.queue, ask: ask, done: make(chan struct{})}
	go w.run(formats.Start{Ticks: r.syncTicks(), Providers: ProvidersText(o.Config.Providers)})
	<-r.done
	<-stopped
	end := r.end(asked.Err() != nil, watch)
	if !inOrder && end.Reason == formats.EndDetached {
		end.Message = fmt.Sprintf("process %d did not end the session within %v: its last events may be missing", o.Target.PID, stopTime)
		o.Opener.Tell(end.Message)
	}
	result := &Result{Process: process, End: end}
	written := make(chan error, 1)
	go func() {
		<-w.done
		w.finish(end)
		o.Progress.Output.Store(set.Bytes())
		written <- errors.Join(w.err(), set.Err(), set.Close(), r.tee.close())
	}()
	select {
	case err = <-written:
	case <-ctx.Done():
		// Nothing can be done about outputs that do not take what is written.
		select {
		case err = <-written:
		case <-time.After(writeTime):
			err = errors.New("the outputs take nothing any more: what was left to write is lost")
		}
	}
	result.Err = errors.Join(r.failure(end.Reason), err)
	return result, nil
}

// stop asks the runtime to end the session and makes sure that the stream ends. It
// tells whether that has come in time.
func stop(stream *session.Stream, done <-chan struct{}) bool {
	ctx, cancel := context.WithTimeout(context.Background(), stopTime)
	defer cancel()
	// Whether it answers does not matter: what counts is that the stream ends.
	_ = stream.Stop(ctx)
	select {
	case <-done:
		return true
	case <-ctx.Done():
		_ = stream.Close()
		return false
	}
}

// ProvidersText writes providers the way dotnet-trace's users do.
func ProvidersText(list []session.Provider) string {
	var all []string
	for _, p := range list {
		s := fmt.Sprintf("%s:0x%x:%d", p.Name, p.Keywords, p.Level)
		if p.Filter != "" {
			s += ":" + p.Filter
		}
		all = append(all, s)
	}
	return strings.Join(all, ",")
}
