package actions

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/internal/cause"
	"github.com/gclog/gclog/internal/command"
)

// An Exec runs a command, with the record on its standard input.
type Exec struct {
	Args    []string
	As      *formats.Account // user that it runs as; nil: gclog's own
	Timeout time.Duration
	Say     func(*Call, string) // receives the lines that it prints
}

// Do implements Action.
func (e *Exec) Do(ctx context.Context, c *Call) error {
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
	if search, ok := errors.AsType[*exec.Error](err); ok { // whose text has the command again
		err = search.Err
	}
	return fmt.Errorf("%s: %w", e.Args[0], cause.Of(err))
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
