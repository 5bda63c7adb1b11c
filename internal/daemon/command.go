package daemon

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/gclog/gclog/formats"
)

// A command runs a command of gclog with these arguments and environment variables in a process of
// its own, whose memory is not the daemon's, and returns what it prints. say receives its messages,
// one line each; the last one of a command that fails is the error instead.
//
// When ctx is done the process is interrupted, and has commandEnd to end on its own.
type command func(ctx context.Context, args, environ []string, say func(string)) (out []byte, err error)

const (
	// commandEnd is how long a command may take to end when it was interrupted: it ends its sessions
	// first.
	commandEnd = 2 * time.Minute
	// What is kept of what a command prints: bytes of its output, and lines and characters of its
	// messages.
	commandOut      = 16 << 20
	commandLines    = 50
	commandLineSize = 1000
)

// commandEnvironment are the variables that a command gets from the daemon: not those that configure
// the daemon, or limit its memory.
var commandEnvironment = []string{"HOME", "PATH", "SUDO_UID", "TMPDIR", "TZ"}

// runSelf is the command that runs this program.
func runSelf(ctx context.Context, args, environ []string, say func(string)) ([]byte, error) {
	path, err := ownProgram()
	if err != nil {
		return nil, err
	}
	messages, out := &messages{say: say}, &limited{most: commandOut}
	cmd := exec.CommandContext(ctx, path)
	cmd.Args = append([]string{"gclog"}, args...)
	cmd.Stdout, cmd.Stderr = out, messages
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = commandEnd
	cmd.Env = environ
	for _, name := range commandEnvironment {
		if value, ok := os.LookupEnv(name); ok {
			cmd.Env = append(cmd.Env, name+"="+value)
		}
	}
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
		return nil, fmt.Errorf("gclog %s has printed more than %s", args[0], formats.SizeText(commandOut))
	}
	return out.b, nil
}

// messages passes the lines that are written to it to say, each when the next one is complete: the
// last one may be an error.
type messages struct {
	say   func(string)
	line  []byte // without an end so far
	last  string // the last complete one; "": there is none
	count int    // of those that were passed on
}

// Write implements io.Writer.
func (m *messages) Write(b []byte) (int, error) {
	for line := range bytes.Lines(b) {
		text, complete := bytes.CutSuffix(line, []byte{'\n'})
		if room := 4*commandLineSize - len(m.line); room > 0 {
			m.line = append(m.line, text[:min(len(text), room)]...)
		}
		if complete {
			m.next()
		}
	}
	return len(b), nil
}

// next handles the end of a line.
func (m *messages) next() {
	text := cleanLine(strings.TrimPrefix(string(m.line), "gclog: "))
	m.line = m.line[:0]
	if text == "" {
		return
	}
	m.pass()
	m.last = text
}

// pass passes the last line on.
func (m *messages) pass() {
	if m.last != "" && m.count < commandLines {
		m.count++
		m.say(m.last)
	}
}

// end handles the end of the command, and returns the last line. It is passed on unless the command
// has failed.
func (m *messages) end(failed bool) (last string) {
	m.next()
	if !failed {
		m.pass()
	}
	return m.last
}

// cleanLine returns a line without characters that a terminal acts on, and not too long.
func cleanLine(s string) string {
	runes := []rune(strings.TrimSpace(s))
	for i, r := range runes {
		if formats.IsControl(r) {
			runes[i] = '\uFFFD'
		}
	}
	if len(runes) > commandLineSize {
		runes = append(runes[:commandLineSize], '…')
	}
	return string(runes)
}

// limited keeps the first bytes that are written to it.
type limited struct {
	b    []byte
	most int
	over bool
}

// Write implements io.Writer.
func (l *limited) Write(b []byte) (int, error) {
	if l.over = l.over || len(l.b)+len(b) > l.most; !l.over {
		l.b = append(l.b, b...)
	}
	return len(b), nil
}
