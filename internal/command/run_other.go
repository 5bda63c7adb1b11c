//go:build !linux

package command

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os/exec"
)

// Supervise is for Linux only.
func Supervise([]string) (code int, isSupervisor bool) { return 0, false }

// run runs the command, and kills it when ctx is done.
func (c *Command) run(ctx context.Context, out *messages) error {
	if c.As != nil {
		if err := c.As.Check(); err != nil {
			return err
		}
	}
	cmd := exec.CommandContext(ctx, c.Args[0], c.Args[1:]...)
	cmd.Env = append(inherited(append(commandEnvironment, ownEnvironment...)), c.Environ...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(c.Input), out, out
	cmd.WaitDelay = leftTime
	err := cmd.Run()
	if errors.Is(err, exec.ErrWaitDelay) {
		return errKept
	}
	// Texts of these errors have the command again.
	if search, ok := errors.AsType[*exec.Error](err); ok {
		return search.Err
	}
	if start, ok := errors.AsType[*fs.PathError](err); ok {
		return start.Err
	}
	return err
}
