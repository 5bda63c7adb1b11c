// Package exit has the exit codes of gclog, and the errors that carry them.
package exit

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/gclog/gclog/formats/logs"
	"github.com/gclog/gclog/internal/attach"
	"github.com/gclog/gclog/internal/host"
	"github.com/gclog/gclog/internal/output"
	"github.com/gclog/gclog/internal/rotate"
	"github.com/gclog/gclog/parse"
	"github.com/gclog/gclog/session"
)

// The exit codes. They are part of gclog's compatibility promise: docs/manual.md.
const (
	OK          = 0
	Session     = 1 // no session: another user's process, not .NET, no socket, no answer
	Data        = 2 // the data failed: not nettrace, damaged, disk full
	Usage       = 3 // the call is wrong: a bad flag, a missing directory, an ambiguous choice
	Unsupported = 4 // this system, this runtime or this format cannot do it
	Internal    = 5 // a bug in gclog
	Check       = 6 // a condition of check is true, or cannot be evaluated
	NoProcess   = 7 // there is no such process
)

// A Error is an error with an exit code of its own.
type Error struct {
	Code int
	Err  error
}

func (e *Error) Error() string { return e.Err.Error() }

// Unwrap returns the error without the code.
func (e *Error) Unwrap() error { return e.Err }

// With returns an error with an exit code.
func With(code int, err error) error { return &Error{code, err} }

// Usagef returns an error of the call.
func Usagef(format string, args ...any) error {
	return With(Usage, fmt.Errorf(format, args...))
}

// Dataf returns an error of the data.
func Dataf(format string, args ...any) error {
	return With(Data, fmt.Errorf(format, args...))
}

// NoProcessf returns the error that there is no such process.
func NoProcessf(format string, args ...any) error {
	return With(NoProcess, fmt.Errorf(format, args...))
}

// Code maps an error to the exit code.
func Code(err error) int {
	var coded *Error
	var target *host.TargetError
	var server *session.ServerError
	var answer *session.AnswerError
	var path *output.PathError
	var kind *parse.KindError
	var format *parse.FormatError
	var recording *attach.WriteError
	var javaOnly *logs.JavaOnlyError
	switch {
	case errors.As(err, &javaOnly):
		return Unsupported
	case errors.As(err, &coded):
		return coded.Code
	case errors.As(err, &target):
		switch target.Cause {
		case host.CauseNoSuchProcess:
			return NoProcess
		case host.CauseHarm:
			return Unsupported
		}
		return Session
	case errors.As(err, &server):
		if server.Code == session.CodeUnknownCommand || server.Code == session.CodeNotSupported {
			return Unsupported
		}
		return Session
	case errors.Is(err, session.ErrNoAnswer), errors.As(err, &answer):
		return Session
	case errors.As(err, &path):
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) || errors.Is(err, rotate.ErrInUse) {
			return Usage
		}
		return Data
	case errors.As(err, &kind), errors.As(err, &format), errors.As(err, &recording):
		return Data
	}
	return Internal
}
