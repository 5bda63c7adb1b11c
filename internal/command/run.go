package command

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/internal/rotate"
)

const (
	// leftTime is how long what a command has started may run after the command has ended, and how
	// long another process may keep its output open.
	leftTime = 2 * time.Second
	// killTime is how long a command has to end when it was killed: one that waits in the kernel, for
	// a disk for example, does not end before that answers.
	killTime = 2 * time.Second
	// maxPrinted is how many bytes a command of a rule may print, in all, before it is killed.
	maxPrinted = 1 << 20
)

// A Command is a program that a rule runs.
type Command struct {
	Args    []string        // the program and its arguments; no shell interprets them
	Environ []string        // in addition to PATH and the like
	Input   []byte          // on its standard input
	As      *rotate.Account // user that it runs as; nil: gclog's own (Linux)
	Say     func(string)    // receives the lines that it prints
}

// commandEnvironment are the variables that a command gets from gclog: none that may contain a
// secret of gclog's own.
var commandEnvironment = []string{"LANG", "PATH", "TZ"}

// ownEnvironment are those that it gets too if it runs as gclog's own user.
var ownEnvironment = []string{"HOME", "LOGNAME", "TMPDIR", "USER"}

// An UnendedError is the error of a command that could not be ended, and is still running.
type UnendedError struct {
	Reason string
	Ended  <-chan struct{} // closed when it has ended after all
}

func (e *UnendedError) Error() string { return "it could not be ended: " + e.Reason }

// Run runs the command. When ctx is done, or it prints too much, it is killed with all that it has
// started. What is still running after the command itself has ended is killed, too.
func (c *Command) Run(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	messages := &messages{say: c.Say, most: maxPrinted, flooded: func() {
		cancel(fmt.Errorf("it has printed more than %s", formats.SizeText(maxPrinted)))
	}}
	err := c.run(ctx, messages)
	messages.end(false)
	if _, running := errors.AsType[*UnendedError](err); running || err == nil {
		return err
	}
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, context.DeadlineExceeded):
		return errors.New("it did not end in time, and was killed")
	case cause != nil:
		return fmt.Errorf("it was killed: %w", cause)
	}
	return err
}

// errKept is the error of a command whose output a process has that is not the command's.
var errKept = errors.New("it has ended, but another process keeps its output open")
