package cli

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
	exitOK          = 0
	exitSession     = 1 // no session: another user's process, not .NET, no socket, no answer
	exitData        = 2 // the data failed: not nettrace, damaged, disk full
	exitUsage       = 3 // the call is wrong: a bad flag, a missing directory, an ambiguous choice
	exitUnsupported = 4 // this system, this runtime or this format cannot do it
	exitInternal    = 5 // a bug in gclog
	exitCheck       = 6 // a condition of check is true, or cannot be evaluated
	exitNoProcess   = 7 // there is no such process
)

// A codedError is an error with an exit code of its own.
type codedError struct {
	code int
	err  error
}

func (e *codedError) Error() string { return e.err.Error() }
func (e *codedError) Unwrap() error { return e.err }

func usagef(format string, args ...any) error {
	return &codedError{exitUsage, fmt.Errorf(format, args...)}
}

func dataf(format string, args ...any) error {
	return &codedError{exitData, fmt.Errorf(format, args...)}
}

func noProcessf(format string, args ...any) error {
	return &codedError{exitNoProcess, fmt.Errorf(format, args...)}
}

// exitCode maps an error to the exit code.
func exitCode(err error) int {
	var coded *codedError
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
		return exitUnsupported
	case errors.As(err, &coded):
		return coded.code
	case errors.As(err, &target):
		switch target.Cause {
		case host.CauseNoSuchProcess:
			return exitNoProcess
		case host.CauseHarm:
			return exitUnsupported
		}
		return exitSession
	case errors.As(err, &server):
		if server.Code == session.CodeUnknownCommand || server.Code == session.CodeNotSupported {
			return exitUnsupported
		}
		return exitSession
	case errors.Is(err, session.ErrNoAnswer), errors.As(err, &answer):
		return exitSession
	case errors.As(err, &path):
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) || errors.Is(err, rotate.ErrInUse) {
			return exitUsage
		}
		return exitData
	case errors.As(err, &kind), errors.As(err, &format), errors.As(err, &recording):
		return exitData
	}
	return exitInternal
}
