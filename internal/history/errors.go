package history

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gclog/gclog/gclog"
)

// An error of this package that has none of the types below reports that the data is damaged, or
// not of a kind that can be read.

// A CallError reports that names or options are wrong. The data may be fine. It unwraps to the
// cause, for a name to the error of the operating system.
type CallError struct{ err error }

func callf(format string, args ...any) error { return &CallError{fmt.Errorf(format, args...)} }

func (e *CallError) Error() string { return e.err.Error() }
func (e *CallError) Unwrap() error { return errors.Unwrap(e.err) }

// A ProcessError reports that the files do not contain the process that was asked for, or that they
// contain several and none was asked for.
type ProcessError struct {
	Choice                     // the process that was asked for; zero: none
	File      string           // the first one
	Processes []*gclog.Process // processes in the files
}

func (e *ProcessError) Error() string {
	if !e.Asked() {
		return fmt.Sprintf("%s contains %d processes with a .NET runtime", e.File, len(e.Processes))
	}
	pids := e.PIDs()
	if pids == "" || pids == "0" {
		pids = "none with a known pid"
	}
	if e.Name != "" {
		return fmt.Sprintf("it contains no process called %q, only %s", e.Name, pids)
	}
	return fmt.Sprintf("it contains no process %d, only %s", e.PID, pids)
}

// Asked reports whether a process was asked for.
func (e *ProcessError) Asked() bool { return e.PID != 0 || e.Name != "" }

// PIDs lists the processes that the files contain: "27125, 29261".
func (e *ProcessError) PIDs() string {
	var pids []int64
	for _, p := range e.Processes {
		pids = append(pids, p.ID)
	}
	slices.Sort(pids)
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(pids), " ", ", "), "[]")
}

// ErrEmpty reports that a file is empty.
var ErrEmpty = errors.New("it is empty")

// A TextError reports that a file is text, but not a log of gclog.
type TextError struct {
	Head []byte // the first megabyte
}

func (e *TextError) Error() string {
	return "it is neither a recording (.nettrace) nor a log that gclog wrote in the format unified (with DotNet: " +
		"lines), json or csv"
}
