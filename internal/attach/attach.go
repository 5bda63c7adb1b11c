// Package attach runs a live session with one process: it starts the session, reduces its stream,
// and writes the records until the target exits or gclog is asked to stop. The commands that watch
// one process use it, and so does the daemon.
//
// A session has three goroutines. One reads the stream and reduces it; reading has priority over
// everything else, because a runtime drops events that nobody reads. One takes the records from a
// bounded queue and writes them. One waits for the request to stop.
package attach

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/gclog/analysis"
	"github.com/gclog/gclog/internal/flight"
	"github.com/gclog/gclog/internal/host"
	"github.com/gclog/gclog/internal/output"
	"github.com/gclog/gclog/session"
)

const (
	// writeTime is how long the outputs may take to write what is left once gclog is asked to stop.
	writeTime = 4 * time.Second
	// skipTime is how long they may then take to write the gap that reports what was not written.
	skipTime = time.Second
)

// Options configures Run.
type Options struct {
	Target   *host.Target
	Config   session.Config
	Counters Counters       // that the session listens to as well
	Process  *gclog.Process // what Facts returned; nil: found out during the session
	Outputs  []output.Spec
	Opener   *output.Opener
	Format   formats.Options // without the process
	Count    int64           // stop after this many collections; 0: no limit
	// Until is called once the session is open and returns when it must end. nil, or the zero time:
	// never.
	Until  func() time.Time
	Record io.Writer // receives a copy of the raw stream; nil: no copy
	Flight *flight.Recorder
	Reopen <-chan struct{} // a value makes every output start a new file
	// Switch makes another session with the configuration that it receives take over, without a gap.
	// Record has no copy of the other session.
	Switch        <-chan session.Config
	Early, Resume bool // see SessionOptions
	// Exit returns how the process ended, once it has: its exit code, or the signal that killed it. It
	// is for processes that gclog, as their parent, has started.
	Exit    func() (code, signal int, known bool)
	Waiting func() // see SessionOptions
	// Observe returns what receives every record before it is written: see Log.
	Observe func(*gclog.Process) gclog.Observer
	// Started is called when the session is open and so are its outputs.
	Started func(*gclog.Process)
	// Progress is updated throughout the session; nil: not needed.
	Progress *Progress
}

// runtime returns the version of the runtime, "" if it is unknown.
func (o *Options) runtime() string {
	if o.Process == nil {
		return ""
	}
	return o.Process.RuntimeVersion
}

// Result describes how a session ended.
type Result struct {
	Process gclog.Process
	End     gclog.End
	Verdict analysis.Verdict // about the latest session; without a Text if there is none
	Wrote   []string         // files that contain records
	Ended   time.Time        // when the stream ended
	Err     error            // what went wrong with the stream or the outputs, nil if nothing
}

// Run runs a session until the target exits or ctx is done; the latter ends the session in an
// orderly way. An error means that no session was opened; later errors are in the Result.
func Run(ctx context.Context, o Options) (*Result, error) {
	s, err := Open(ctx, o.Target, SessionOptions{
		Config: o.Config, Counters: o.Counters, Runtime: o.runtime(),
		Suspensions: output.Suspensions(o.Outputs), Count: o.Count, Record: o.Record,
		Flight: o.Flight, Early: o.Early, Resume: o.Resume, Exit: o.Exit, Progress: o.Progress, Warn: o.Opener.Warn,
		Waiting: o.Waiting,
	})
	if err != nil {
		return nil, err
	}
	r := &runner{
		o:        &o,
		ctx:      ctx,
		next:     make(chan *Session, maxSessions),
		wrote:    make(chan *Session, maxSessions),
		requests: make(chan func(*Log)),
	}
	if o.Until != nil {
		r.until = o.Until()
	}
	defer r.release()
	written := make(chan struct{})
	go func() {
		defer close(written)
		r.write()
	}()
	r.add(s)
	for done := false; !done; {
		select {
		case <-o.Reopen:
			r.reopen()
		case cfg := <-o.Switch:
			r.change(cfg)
		case s := <-r.wrote:
			done = s == r.latest() // otherwise another one has taken over
		case <-ctx.Done():
			if !r.end() {
				close(r.next)
				return &Result{
					Process: gclog.Process{ID: int64(o.Target.PID)},
					Err:     errors.New("the outputs no longer accept data: the remaining records are lost"),
				}, nil
			}
			done = true
		}
	}
	close(r.next)
	<-written
	if r.failed {
		return nil, r.result.Err
	}
	return &r.result, nil
}

// A runner is a call of Run. Its sessions follow one another: each takes over from the one before.
type runner struct {
	o        *Options
	ctx      context.Context
	until    time.Time
	sessions []*Session
	stops    []func() bool
	requests chan func(*Log)

	next   chan *Session // to be written
	wrote  chan *Session // was written
	result Result        // what the writer has found out; final when it has ended
	failed bool          // the outputs could not be opened
}

// maxSessions is how many sessions wait to be written: normally the one that takes over.
const maxSessions = 8

// add passes a session to the writer, and ends it when it is time.
func (r *runner) add(s *Session) {
	r.sessions = append(r.sessions, s)
	r.stops = append(r.stops, context.AfterFunc(r.ctx, s.Ask))
	if !r.until.IsZero() {
		r.stops = append(r.stops, time.AfterFunc(time.Until(r.until), s.Ask).Stop)
	}
	r.next <- s
}

func (r *runner) release() {
	for _, stop := range r.stops {
		stop()
	}
}

func (r *runner) latest() *Session { return r.sessions[len(r.sessions)-1] }

// write writes the sessions.
func (r *runner) write() {
	defer close(r.wrote)
	o := r.o
	l := &Log{Outputs: o.Outputs, Opener: o.Opener, Format: o.Format, Requests: r.requests, Observe: o.Observe}
	started := o.Started
	for s := range r.next {
		end, err := l.Write(s, o.Process, started)
		r.result.End, r.result.Err = end, errors.Join(r.result.Err, err)
		r.result.Process, r.result.Verdict, r.result.Ended = l.process, l.verdict, s.ended
		r.failed = l.set == nil
		started = nil
		r.wrote <- s
	}
	if l.set != nil {
		r.result.Wrote = l.set.Files()
		r.result.Err = errors.Join(r.result.Err, l.Err(), l.Close())
	}
}

func (r *runner) reopen() {
	select {
	case r.requests <- (*Log).Reopen:
	case <-r.latest().Done():
	case <-r.ctx.Done():
	}
}

// change starts a session with another configuration, which takes over. If it cannot be started, the
// current one stays.
func (r *runner) change(cfg session.Config) {
	o, before := r.o, r.latest()
	count := o.Count
	if count > 0 {
		count = max(1, count-o.Progress.GCs.Load())
	}
	s, err := r.open(SessionOptions{
		Config: cfg, Counters: o.Counters, Runtime: o.runtime(),
		Suspensions: output.Suspensions(o.Outputs), Count: count, Flight: o.Flight,
		Exit: o.Exit, Progress: o.Progress, Warn: o.Opener.Warn, Waiting: o.Waiting,
	})
	if err != nil {
		o.Opener.Warn("the session stays as it is: " + err.Error())
		return
	}
	go before.HandOver(s)
	r.add(s)
}

// open opens a session, unless a heap snapshot is being taken: then after that.
func (r *runner) open(o SessionOptions) (*Session, error) {
	release, err := r.o.Target.Share(r.ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	return Open(r.ctx, r.o.Target, o)
}

// end ends the sessions when ctx is done. It reports whether the outputs have accepted everything.
func (r *runner) end() bool {
	written := make(chan struct{})
	go func() {
		defer close(written)
		for s := range r.wrote {
			if s == r.latest() {
				return
			}
		}
	}()
	for _, s := range r.sessions {
		s.wait()
		// Nothing can be done about outputs that accept no more data.
		r.stops = append(r.stops, time.AfterFunc(writeTime, s.Skip).Stop)
	}
	select {
	case <-written:
		return true
	case <-time.After(writeTime + skipTime):
		return false
	}
}

// providersText formats providers in dotnet-trace's syntax.
func providersText(list []session.Provider) string {
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
