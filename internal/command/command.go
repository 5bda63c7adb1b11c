// Package command runs programs next to gclog: gclog itself, whose memory is then not that of the
// caller, and the commands of rules. What they print is untrusted, and bounded.
package command

import (
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
	// Limits of what is kept of a program's output, in bytes, and of its messages, in lines and
	// characters.
	maxOut      = 16 << 20
	maxLines    = 50
	maxLineSize = 1000
)

// selfEnvironment are the variables that gclog gets from its caller: not those that configure the
// daemon, or limit its memory.
var selfEnvironment = []string{"HOME", "PATH", "SUDO_UID", "TMPDIR", "TZ"}

// Self runs gclog with these arguments and environment variables in a process of its own, and returns
// what it prints. say receives its messages, one line each; the last one, if it fails, is the error
// instead.
//
// When ctx is done the process is interrupted, and has some time to end on its own. If this process
// ends, the kernel sends SIGTERM to it (Linux).
func Self(ctx context.Context, args, environ []string, say func(string)) ([]byte, error) {
	path, err := ownProgram()
	if err != nil {
		return nil, err
	}
	messages, out := &messages{say: say, ofGo: true}, &limited{most: maxOut}
	cmd := exec.CommandContext(ctx, path)
	cmd.Args = append([]string{"gclog"}, args...)
	cmd.Stdout, cmd.Stderr = out, messages
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = selfEnd
	cmd.Env = append(inherited(selfEnvironment), environ...)
	separate(cmd)
	defer tie(cmd)()
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("cannot start gclog %s: %w", args[0], err)
	}
	expendable(cmd.Process.Pid)
	err = cmd.Wait()
	last := messages.end(err != nil)
	switch {
	case err != nil && last != "":
		return nil, errors.New(last)
	case wasKilled(cmd):
		return nil, fmt.Errorf("gclog %s was killed, as the kernel does when memory runs out", args[0])
	case err != nil:
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
