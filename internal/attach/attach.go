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
	"time"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/internal/output"
	"github.com/gclog/gclog/session"
)

const (
	// writeTime is how long the outputs may take for what is left when gclog is asked to
	// stop.
	writeTime = 4 * time.Second
	// skipTime is how long they may then take for the gap that tells what is not written.
	skipTime = time.Second
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
	Until         func() time.Time
	Record        io.Writer       // gets a copy of the raw stream; nil: nobody does
	Reopen        <-chan struct{} // a value makes the files begin anew
	Early, Resume bool            // see SessionOptions
	// Exit returns, when the process has ended, how: for processes whose parent asks.
	Exit    func() (code int, killed, known bool)
	Waiting func() // see SessionOptions
	// Observer is told every record that is written, before it is; nil: nobody is.
	Observer gclog.Observer
	// Begun is told when the session is there and its outputs are open.
	Begun func(*gclog.Process)
	// Progress is kept up to date while the session lasts; nil: nobody looks.
	Progress *Progress
}

// Result is how a session ended.
type Result struct {
	Process gclog.Process
	End     formats.End
	Wrote   []string  // files that have records
	Ended   time.Time // when the stream had
	Err     error     // what went wrong with the stream or the outputs, nil if nothing
}

// Run runs a session until the target ends or ctx is done; the latter ends it in
// good order. An error means that there was none; what goes wrong later is in the
// Result.
func Run(ctx context.Context, o Options) (*Result, error) {
	s, err := Open(ctx, o.Target, SessionOptions{
		Config: o.Config, Suspensions: output.Suspensions(o.Outputs), Count: o.Count, Record: o.Record,
		Early: o.Early, Resume: o.Resume, Exit: o.Exit, Progress: o.Progress, Tell: o.Opener.Tell, Waiting: o.Waiting,
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
		result.End, result.Err = l.Write(s, o.Process, o.Begun)
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
			// Nothing can be done about outputs that do not take what is written.
			defer time.AfterFunc(writeTime, s.Skip).Stop()
			select {
			case <-written:
			case <-time.After(writeTime + skipTime):
				return &Result{Process: gclog.Process{ID: int64(o.Target.PID)}, Err: errors.New("the outputs take nothing any more: what was left to write is lost")}, nil
			}
		}
		break
	}
	if l.set == nil {
		return nil, result.Err
	}
	return &result, nil
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
