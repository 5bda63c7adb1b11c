package actions

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/gclog/gclog/internal/command"
	"github.com/gclog/gclog/internal/rotate"
)

// An Exec runs a command, with the record on its standard input.
type Exec struct {
	Args    []string
	As      *rotate.Account // user that it runs as; nil: gclog's own
	Timeout time.Duration
	Say     func(*Call, string) // receives the lines that it prints

	unended atomic.Int64 // runs that could not be ended
}

// maxUnended is how many runs that could not be ended may be left. Each has a process of some 5 MB.
const maxUnended = 3

// Do implements Action.
func (e *Exec) Do(ctx context.Context, c *Call) error {
	if n := e.unended.Load(); n >= maxUnended {
		return fmt.Errorf("%s: not started: %d earlier ones could not be ended, and are still running", e.Args[0], n)
	}
	ctx, cancel := context.WithTimeout(ctx, e.Timeout)
	defer cancel()
	x := command.Command{
		Args: e.Args, As: e.As, Input: slices.Concat(c.Record, []byte("\n")), // other workers have the record too
		Environ: c.environ(), Say: func(s string) { e.Say(c, s) },
	}
	err := x.Run(ctx)
	if err == nil {
		return nil
	}
	if running, ok := errors.AsType[*command.UnendedError](err); ok {
		e.unended.Add(1)
		go func() {
			<-running.Ended
			e.unended.Add(-1)
		}()
	}
	return fmt.Errorf("%s: %w", e.Args[0], err)
}

// environ describes the call. Names and texts are from the process that it is about, so commands must
// not have a shell interpret them.
func (c *Call) environ() (environ []string) {
	for _, v := range [][2]string{
		{"RULE", c.Rule},
		{"TIME", c.Time.UTC().Format(time.RFC3339Nano)},
		{"TEXT", c.Text},
		{"PID", strconv.FormatInt(c.PID, 10)},
		{"PROCESS", c.Process},
		{"SERVICE", c.Service},
		{"HOST", c.Host},
	} {
		environ = append(environ, "GCLOG_"+v[0]+"="+strings.ReplaceAll(v[1], "\x00", "")) // a NUL would end it
	}
	return environ
}
