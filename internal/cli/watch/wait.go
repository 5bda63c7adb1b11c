package watch

import (
	"context"
	"fmt"
	"time"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/internal/attach"
	"github.com/gclog/gclog/internal/cli/program"
	"github.com/gclog/gclog/internal/cli/subject"
	"github.com/gclog/gclog/internal/doctor"
	"github.com/gclog/gclog/internal/host"
	"github.com/gclog/gclog/session"
)

// Identify asks a process for its identity.
func Identify(ctx context.Context, p *program.Run, t *host.Target) (facts gclog.Process, err error) {
	err = AwaitAnswer(ctx, p, t, func(ctx context.Context) (err error) {
		facts, err = attach.Identify(ctx, t)
		return err
	})
	return facts, err
}

// AwaitAnswer calls ask, which makes requests to a process. If that takes long it prints what it is waiting
// for, and cancels the requests if there will never be an answer.
func AwaitAnswer(ctx context.Context, p *program.Run, t *host.Target, ask func(context.Context) error) error {
	asking, giveUp := context.WithCancelCause(ctx)
	defer giveUp(nil)
	defer time.AfterFunc(lateTime, func() {
		SayWaiting(p, t)
		if why := doctor.Explain(asking, t, session.ErrNoAnswer); doctor.CauseOf(why) == doctor.AbandonedWalk {
			giveUp(why)
		}
	}).Stop()
	err := ask(asking)
	if err != nil && asking.Err() != nil {
		return context.Cause(asking)
	}
	return err
}

// lateTime is how long an answer may take before gclog says that it waits for it.
const lateTime = time.Second

// SayLate prints that a process takes long to answer, unless what it returns is called within a second.
func SayLate(p *program.Run, t *host.Target) (answered func() bool) {
	return time.AfterFunc(lateTime, func() { SayWaiting(p, t) }).Stop
}

// SayWaiting prints that a process takes long to answer.
func SayWaiting(p *program.Run, t *host.Target) {
	p.UI.Sayf("waiting for process %d to answer%s", t.PID, whyLate(t))
}

// SayEnding returns a function that prints that the runtime of a process takes long to end the
// session.
func SayEnding(p *program.Run, t *host.Target) func() {
	return func() {
		p.UI.Sayf("waiting for process %d to end the session%s%s", t.PID, whyLate(t), p.UI.OrInterrupt())
	}
}

// whyLate returns why a process does not answer, if that is known.
func whyLate(t *host.Target) string {
	switch {
	case t.Stopped():
		return fmt.Sprintf(": it is stopped (kill -CONT %d resumes it)", t.PID)
	case t.Held():
		return ": a heap snapshot of it is being taken"
	}
	return ""
}

// Find returns the chosen process as soon as a session may begin with it: see AwaitStartup.
func Find(ctx context.Context, p *program.Run, ch subject.Choice, duration time.Duration) (*host.Target, error) {
	target, err := subject.Find(ctx, p, ch)
	if err == nil {
		err = AwaitStartup(ctx, p, target, duration)
	}
	return target, err
}

// AwaitStartup waits until a session may begin with a process, and prints what it waits for. It
// does not wait longer than duration, if that is not 0.
func AwaitStartup(ctx context.Context, p *program.Run, t *host.Target, duration time.Duration) error {
	limited, cancel := context.WithCancel(ctx)
	if duration > 0 {
		limited, cancel = context.WithTimeout(ctx, duration)
	}
	defer cancel()
	err := t.AwaitStartup(limited, func(err error) { p.UI.Sayf("%v; gclog starts after that", err) })
	if err != nil && limited.Err() != nil && ctx.Err() == nil {
		return t.CheckStartup(ctx)
	}
	return err
}
