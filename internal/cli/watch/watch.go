// Package watch looks at a running process for some time, and says what gclog waits for meanwhile.
package watch

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/internal/attach"
	"github.com/gclog/gclog/internal/cli/exit"
	"github.com/gclog/gclog/internal/cli/program"
	"github.com/gclog/gclog/internal/doctor"
	"github.com/gclog/gclog/internal/host"
	"github.com/gclog/gclog/internal/view"
	"github.com/gclog/gclog/session"
)

// A Watch is about a running process: for how long gclog watches it, and what people see meanwhile.
type Watch struct {
	Run      *program.Run
	Config   session.Config
	Duration time.Duration // 0: unlimited
	Until    time.Time     // the end of duration, once it has started
	Progress *attach.Progress
}

// UnlessStopped returns why a session was not begun, or nil if the reason is that gclog was asked
// to stop.
func UnlessStopped(ctx context.Context, err error) error {
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return nil
	}
	return err
}

// End returns when the log is to end. The duration starts with the first call: when the first
// session has begun, or when waiting for the first process begins.
func (w *Watch) End() time.Time {
	if w.Until.IsZero() && w.Duration > 0 {
		w.Until = time.Now().Add(w.Duration)
	}
	return w.Until
}

// Over reports whether that time has come.
func (w *Watch) Over() bool { return !w.Until.IsZero() && !time.Now().Before(w.Until) }

// Line returns the line of progress.
func (w *Watch) Line(since time.Duration) string {
	s := fmt.Sprintf("[%s] %s, %d lost events, %s read", view.Elapsed(since), view.Counted(
		uint64(w.Progress.GCs.Load()), "GC"), w.Progress.Lost.Load(), formats.SizeText(w.Progress.Stream.Load()))
	if n := w.Progress.Output.Load(); n > 0 {
		s += ", " + formats.SizeText(n) + " written"
	}
	return s
}

// SayStarted prints on a terminal what is being watched, and where the log is.
func (w *Watch) SayStarted(process *gclog.Process, where string) {
	if !w.Run.UI.Terminal {
		return
	}
	known := []string{process.Name}
	if process.RuntimeVersion != "" {
		known = append(known, ".NET "+process.RuntimeVersion)
	}
	switch process.Server {
	case gclog.Yes:
		known = append(known, "server GC")
	case gclog.No:
		known = append(known, "workstation GC")
	}
	w.Run.UI.Sayf("watching process %d (%s)%s", process.ID, strings.Join(known, ", "), where)
}

// SayEnded prints how the process ended, if it did.
func (w *Watch) SayEnded(r *attach.Result) {
	if r.End.Reason.OfProcess() {
		w.Run.UI.Sayf("process %d %s", r.Process.ID, r.End.AppendTo(nil))
	}
}

// SayIdle prints that there was no collection of a process, if that is so.
func (w *Watch) SayIdle(pid int64) {
	if w.Progress.GCs.Load() == 0 {
		w.Run.UI.Sayf("no collection of process %d started meanwhile", pid)
	}
}

// UnlessInterrupted replaces an error by one that says that gclog was asked to stop, if it was.
func UnlessInterrupted(ctx context.Context, err error) error {
	if UnlessStopped(ctx, err) == nil {
		return exit.With(exit.Session, errors.New("interrupted before the session had started"))
	}
	return err
}

// Open opens a session with a process, and returns what is known of it.
func (w *Watch) Open(ctx context.Context, t *host.Target) (*attach.Session, *gclog.Process, error) {
	facts, err := Identify(ctx, w.Run, t)
	if err != nil && !session.IsUnknownCommand(err) {
		return nil, nil, doctor.Explain(ctx, t, err)
	}
	defer SayLate(w.Run, t)()
	s, err := attach.Open(ctx, t,
		attach.SessionOptions{Config: w.Config, Progress: w.Progress, Warn: w.Run.UI.Say, Waiting: SayEnding(w.Run, t)})
	if err != nil {
		return nil, nil, doctor.Explain(ctx, t, err)
	}
	return s, &facts, nil
}
