package doctor

import (
	"context"
	"errors"
	"fmt"
	"io"
	"syscall"
	"time"

	"github.com/gclog/gclog/internal/host"
	"github.com/gclog/gclog/session"
)

// A Problem is the error of a request to a process, with its cause.
type Problem struct {
	Cause string // id of a Cause
	text  string
	err   error
}

func (p *Problem) Error() string { return p.text + ": " + p.err.Error() }

// Unwrap returns the error of the request.
func (p *Problem) Unwrap() error { return p.err }

// AbandonedWalk is the id of the only cause for which waiting for an answer is in vain.
const AbandonedWalk = "abandoned-walk"

// exitTime is how long a process that has closed a connection may take to exit: one that is killed
// loses its connections first.
const exitTime = time.Second

// Explain adds to the error of a request which process it is about, and what is known about that
// process. It looks at a process that does not answer for up to a minute, or until ctx is done. An error
// that it has returned stays as it is.
func Explain(ctx context.Context, t *host.Target, err error) error {
	var problem *Problem
	var server *session.ServerError
	var answer *session.AnswerError
	switch {
	case errors.As(err, &problem):
		return err
	case errors.Is(err, session.ErrNoAnswer):
		return noAnswer(ctx, t, err)
	case errors.As(err, &server):
		return &Problem{refusal(server.Code), fmt.Sprintf("process %d refused the session", t.PID), err}
	case errors.As(err, &answer):
		cause := "no-protocol"
		for _, gone := range []error{io.EOF, io.ErrUnexpectedEOF, syscall.ECONNRESET, syscall.EPIPE} {
			if errors.Is(err, gone) {
				cause = "hang-up"
			}
		}
		if cause == "hang-up" && t.Ends(context.Background(), exitTime) {
			return &host.TargetError{
				PID:    t.PID,
				Cause:  host.CauseNoSuchProcess,
				Kind:   "no-process",
				Detail: "has exited",
			}
		}
		return &Problem{cause, fmt.Sprintf("process %d does not answer like a .NET runtime", t.PID), err}
	}
	return err
}

func noAnswer(ctx context.Context, t *host.Target, err error) error {
	problem := func(cause, format string, args ...any) error {
		return &Problem{cause, fmt.Sprintf("process %d ", t.PID) + fmt.Sprintf(format, args...), err}
	}
	tracer, stopped := t.Tracer(), t.Stopped()
	switch {
	case stopped && tracer != 0:
		return problem("traced", "does not answer: the debugger with pid %d has stopped it; continue it there", tracer)
	case stopped:
		return problem("stopped", "does not answer: it is stopped; resume it with kill -CONT %d", t.PID)
	case t.AbandonedWalk(ctx):
		return problem(AbandonedWalk, "is suspended for good by a heap walk whose reader is gone, as when "+
			"dotnet-gcdump is interrupted; only a restart helps")
	}
	return problem("no-answer", "does not answer: it hangs, or gets no CPU time")
}

// refusal returns the cause of an error that a runtime answered.
func refusal(code uint32) string {
	switch code {
	case session.CodeFail:
		return "sessions-full"
	case session.CodeNotYetAvailable, session.CodeUninitialized:
		return "starting"
	case session.CodeNotSupported:
		return "unsupported"
	case session.CodeUnknownCommand:
		return "unknown-command"
	}
	return "refused"
}

// CauseOf returns the id of the cause of an error that Explain, or package session, returned; "" if
// it has none.
func CauseOf(err error) string {
	var problem *Problem
	var target *host.TargetError
	switch {
	case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE):
		return "too-many-files"
	case errors.As(err, &problem):
		return problem.Cause
	case errors.As(err, &target):
		return target.Kind
	}
	return ""
}
