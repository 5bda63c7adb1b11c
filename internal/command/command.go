// Package command runs programs next to gclog: gclog itself, whose memory is then not that of the
// caller, and the commands of rules. What they print is untrusted, and bounded.
package command

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"time"

	"github.com/gclog/gclog/formats"
)

const (
	// selfEnd is how long gclog may take to end when it was interrupted: it ends its sessions first.
	selfEnd = 2 * time.Minute
	// pipeEnd is how long something that a command has left running may keep its output open.
	pipeEnd = 2 * time.Second
	// What is kept of what a program prints: bytes of its output, and lines and characters of its
	// messages.
	maxOut      = 16 << 20
	maxLines    = 50
	maxLineSize = 1000
	// maxPrinted is how many bytes a command of a rule may print, in all, before it is killed.
	maxPrinted = 1 << 20
)

// selfEnvironment are the variables that gclog gets from its caller: not those that configure the
// daemon, or limit its memory.
var selfEnvironment = []string{"HOME", "PATH", "SUDO_UID", "TMPDIR", "TZ"}

// Self runs gclog with these arguments and environment variables in a process of its own, and returns
// what it prints. say receives its messages, one line each; the last one, if it fails, is the error
// instead.
//
// When ctx is done the process is interrupted, and has some time to end on its own.
func Self(ctx context.Context, args, environ []string, say func(string)) ([]byte, error) {
	path, err := ownProgram()
	if err != nil {
		return nil, err
	}
	messages, out := &messages{say: say}, &limited{most: maxOut}
	cmd := exec.CommandContext(ctx, path)
	cmd.Args = append([]string{"gclog"}, args...)
	cmd.Stdout, cmd.Stderr = out, messages
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = selfEnd
	cmd.Env = append(inherited(selfEnvironment), environ...)
	separate(cmd)
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("cannot start gclog %s: %w", args[0], err)
	}
	expendable(cmd.Process.Pid)
	err = cmd.Wait()
	last := messages.end(err != nil)
	switch {
	case err != nil && last != "":
		return nil, errors.New(last)
	case err != nil: // killed, for example
		return nil, fmt.Errorf("gclog %s: %w", args[0], err)
	case out.over:
		return nil, fmt.Errorf("gclog %s has printed more than %s", args[0], formats.SizeText(maxOut))
	}
	return out.b, nil
}

// inherited returns the variables with these names.
func inherited(names []string) (environ []string) {
	for _, name := range names {
		if value, ok := os.LookupEnv(name); ok {
			environ = append(environ, name+"="+value)
		}
	}
	return environ
}

// A Command is a program that a rule runs.
type Command struct {
	Args    []string         // the program and its arguments; no shell interprets them
	Environ []string         // in addition to PATH and the like
	Input   []byte           // on its standard input
	As      *formats.Account // user that it runs as; nil: gclog's own (Linux)
	Say     func(string)     // receives the lines that it prints
}

// commandEnvironment are the variables that a command gets from gclog: none that may contain a
// secret of gclog's own.
var commandEnvironment = []string{"HOME", "LANG", "PATH", "TMPDIR", "TZ"}

// Run runs the command. When ctx is done, or it prints too much, it is killed with all that it has
// started, as far as that has stayed in its process group.
func (c *Command) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	messages := &messages{say: c.Say, most: maxPrinted, flooded: func() {
		cancel(fmt.Errorf("it has printed more than %s", formats.SizeText(maxPrinted)))
	}}
	cmd := exec.CommandContext(ctx, c.Args[0], c.Args[1:]...)
	cmd.Env = append(inherited(commandEnvironment), c.Environ...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(c.Input), messages, messages
	cmd.Cancel = func() error { return killGroup(cmd) }
	cmd.WaitDelay = pipeEnd
	separate(cmd)
	if err := runAs(cmd, c.As); err != nil {
		return err
	}
	err := cmd.Run()
	messages.end(false)
	switch cause := context.Cause(ctx); {
	case err == nil:
		return nil
	case errors.Is(cause, context.DeadlineExceeded):
		return errors.New("it did not end in time, and was killed")
	case cause != nil:
		return fmt.Errorf("it was killed: %w", cause)
	case errors.Is(err, exec.ErrWaitDelay):
		return errors.New("it has ended, but something that it started keeps its output open")
	}
	return err
}
