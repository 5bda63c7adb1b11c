package cli

import (
	"context"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gclog/gclog/formats/screen"
	"github.com/gclog/gclog/internal/attach"
	"github.com/gclog/gclog/internal/doctor"
	"github.com/gclog/gclog/session"
	"github.com/urfave/cli/v2"
)

func (p *program) psCommand() *cli.Command {
	return &cli.Command{
		Name:  "ps",
		Usage: "list the .NET processes, and why gclog cannot attach to some of them",
		Description: `Processes of other users are shown as far as gclog can recognize them. Why gclog cannot
attach to a process is reported on standard error, and in JSON as its problem.

Examples:
   gclog ps
   gclog ps -o wide             with command lines and containers, not truncated
   gclog ps -o json | jq -r '.[].pid'`,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Value: "table", Usage: "`table`, wide or json"},
		},
		Action: p.ps,
	}
}

// A psRow is one process; its JSON form is part of gclog's compatibility promise.
type psRow struct {
	PID         int        `json:"pid"`
	Name        string     `json:"name"`
	User        string     `json:"user,omitempty"`
	Runtime     string     `json:"runtime,omitempty"`
	GC          string     `json:"gc,omitempty"`
	Started     *time.Time `json:"started,omitempty"`
	Container   string     `json:"container,omitempty"`
	CommandLine []string   `json:"command_line,omitempty"`
	Cookie      string     `json:"cookie,omitempty"`
	Problem     string     `json:"problem,omitempty"`
	Cause       string     `json:"cause,omitempty"` // id of the problem in docs/troubleshooting.md

	waits bool // its only problem is that it waits
}

// psTimeout is how long a runtime may take to identify itself: one that hangs must not delay the
// list.
const psTimeout = 2 * time.Second

func (p *program) ps(c *cli.Context) error {
	if err := noArguments(c); err != nil {
		return err
	}
	how := c.String("output")
	if how != "table" && how != "wide" && how != "json" {
		return usagef("--output %s: it must be table, wide or json", how)
	}
	list, err := p.host.List(c.Context)
	if err != nil {
		return err
	}
	rows := describeAll(c.Context, list)
	if how == "json" {
		return p.printIndented(rows)
	}
	if len(rows) == 0 {
		p.ui.say("no process with a .NET runtime was found; only root sees those of other users")
		return nil
	}
	width, _ := screen.Size(p.stdout)
	if err := printTable(p.out, width, rows, how == "wide"); err != nil {
		return err
	}
	for _, r := range rows {
		if r.Problem != "" {
			p.ui.say(r.Problem)
		}
	}
	return nil
}

// describeAll asks all processes concurrently for their identities.
func describeAll(ctx context.Context, list []session.Listed) []psRow {
	rows := make([]psRow, len(list))
	var group sync.WaitGroup
	for i := range list {
		group.Go(func() { rows[i] = describe(ctx, &list[i]) })
	}
	group.Wait()
	return rows
}

// describe asks a process for its identity.
func describe(ctx context.Context, l *session.Listed) psRow {
	r := psRow{
		PID: l.PID, Name: attach.Names(&l.Process)[0], User: l.User, Container: l.ContainerID, CommandLine: l.CommandLine,
	}
	if !l.Started.IsZero() {
		started := l.Started.UTC().Truncate(time.Millisecond)
		r.Started = &started
	}
	if l.Err != nil {
		r.Problem, r.Cause = l.Err.Error(), doctor.CauseOf(l.Err)
		return r
	}
	t := l.Target()
	t.Timeout = psTimeout
	facts, err := attach.Identify(ctx, t)
	var server *session.ServerError
	if err != nil && !errors.As(err, &server) {
		err = doctor.Explain(t, err)
		r.Problem, r.Cause = err.Error(), doctor.CauseOf(err)
	}
	if err == nil {
		err = t.CheckStartup(ctx)
		if r.waits = err != nil; r.waits {
			r.Problem, r.Cause = err.Error(), doctor.CauseOf(err)
		}
	}
	r.Name, r.Runtime, r.Cookie = facts.Name, facts.RuntimeVersion, facts.Cookie
	r.GC = doctor.GC(&facts)
	return r
}

// psColumns are the columns of the list of processes; the last two are only in the wide list.
var psColumns = []screen.Column{
	{Title: "PID", Right: true},
	{Title: "NAME", Width: 12, Cut: true},
	{Title: "USER", Width: 8, Cut: true, Rank: 3},
	{Title: "RUNTIME", Width: 7, Cut: true, Rank: 1},
	{Title: "GC", Width: 11, Cut: true, Rank: 2},
	{Title: "UP", Right: true, Rank: 4},
	{Title: "ATTACH"},
	{Title: "CONTAINER"},
	{Title: "COMMAND"},
}

// printTable prints a line for each process. A wide list is not limited to the width of the
// terminal.
func printTable(w io.Writer, width int, list []psRow, wide bool) error {
	columns := psColumns[:len(psColumns)-2]
	if wide {
		columns, width = psColumns, 0
	}
	var rows [][]string
	for _, r := range list {
		up := "-"
		if r.Started != nil {
			up = elapsed(time.Since(*r.Started))
		}
		can := "yes"
		switch {
		case r.waits:
			can = "later"
		case r.Problem != "":
			can = "no"
		}
		id := r.Container
		row := []string{strconv.Itoa(r.PID), oneLine(r.Name), oneLine(dash(r.User)), oneLine(dash(r.Runtime)), dash(r.GC), up, can, dash(id[:min(len(id), 12)]), oneLine(shorten(strings.Join(r.CommandLine, " "), 200))}
		rows = append(rows, row[:len(columns)])
	}
	return screen.Print(w, width, columns, slices.Values(rows), nil)
}

func dash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
