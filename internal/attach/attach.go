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
	Target  *session.Target
	Config  session.Config
	Process *gclog.Process // what Facts returned; nil: found out during the session
	Outputs []output.Spec
	Opener  *output.Opener
	Format  formats.Options // without the process
	Count   int64           // stop after this many collections; 0: no limit
	// Until is called once the session is open and returns when it must end. nil, or the zero time:
	// never.
	Until         func() time.Time
	Record        io.Writer       // receives a copy of the raw stream; nil: no copy
	Reopen        <-chan struct{} // a value makes every output start a new file
	Early, Resume bool            // see SessionOptions
	// Exit returns how the process ended, once it has. It is for processes that gclog, as their
	// parent, has started.
	Exit    func() (code int, killed, known bool)
	Waiting func() // see SessionOptions
	// Observer receives every record before it is written; nil: none.
	Observer gclog.Observer
	// Started is called when the session is open and so are its outputs.
	Started func(*gclog.Process)
	// Progress is updated throughout the session; nil: not needed.
	Progress *Progress
}

// Result describes how a session ended.
type Result struct {
	Process gclog.Process
	End     formats.End
	Wrote   []string  // files that contain records
	Ended   time.Time // when the stream ended
	Err     error     // what went wrong with the stream or the outputs, nil if nothing
}

// Run runs a session until the target exits or ctx is done; the latter ends the session in an
// orderly way. An error means that no session was opened; later errors are in the Result.
func Run(ctx context.Context, o Options) (*Result, error) {
	s, err := Open(ctx, o.Target, SessionOptions{
		Config: o.Config, Suspensions: output.Suspensions(o.Outputs), Count: o.Count, Record: o.Record,
		Early: o.Early, Resume: o.Resume, Exit: o.Exit, Progress: o.Progress, Warn: o.Opener.Warn, Waiting: o.Waiting,
	})
	if err != nil {
		return nil, err
	}
	defer context.AfterFunc(ctx, s.Ask)()
	if o.Until != nil {
		if until := o.Until(); !until.IsZero() {
			defer time.AfterFunc(time.Until(until), s.Ask).Stop()
		}
	}
	requests := make(chan func(*Log))
	l := &Log{Outputs: o.Outputs, Opener: o.Opener, Format: o.Format, Requests: requests, Observer: o.Observer}
	written := make(chan struct{})
	var result Result
	go func() {
		defer close(written)
		result.End, result.Err = l.Write(s, o.Process, o.Started)
		result.Process, result.Ended = l.process, s.ended
		if l.set != nil {
			result.Wrote = l.set.Files()
			result.Err = errors.Join(result.Err, l.Err(), l.Close())
		}
	}()
	for {
		select {
		case <-o.Reopen:
			select {
			case requests <- (*Log).Reopen:
			case <-s.Done():
			case <-ctx.Done():
			}
			continue
		case <-written:
		case <-ctx.Done():
			s.wait()
			// Nothing can be done about outputs that accept no more data.
			defer time.AfterFunc(writeTime, s.Skip).Stop()
			select {
			case <-written:
			case <-time.After(writeTime + skipTime):
				return &Result{Process: gclog.Process{ID: int64(o.Target.PID)}, Err: errors.New("the outputs no longer accept data: the remaining records are lost")}, nil
			}
		}
		break
	}
	if l.set == nil {
		return nil, result.Err
	}
	return &result, nil
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
