package live

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gclog/gclog/formats/screen"
	"github.com/gclog/gclog/internal/attach"
	"github.com/gclog/gclog/internal/cli/flags"
	"github.com/gclog/gclog/internal/cli/lists"
	"github.com/gclog/gclog/internal/cli/results"
	"github.com/gclog/gclog/internal/doctor"
	"github.com/gclog/gclog/internal/host"
	"github.com/gclog/gclog/internal/view"
	"github.com/gclog/gclog/session"
	"github.com/urfave/cli/v2"
)

func (p *commands) psCommand() *cli.Command {
	return &cli.Command{
		Name:  "ps",
		Usage: "list the .NET processes, and why some cannot be attached to",
		Description: `Processes of other users are shown as far as gclog can recognize them. Why gclog cannot
attach to a process is reported on standard error, and in JSON as its problem. A process
that has not answered 0.15 s after the others have is listed as silent. Only if it is seen
to wait for a processor or a disk, an answer is awaited for up to 2 s.

Examples:
   gclog ps
   gclog ps -f wide             with command lines and containers, not truncated
   gclog ps -f json | jq -r '.[].pid'`,
		Flags:  results.Flags(psFormats),
		Action: results.Action(p.Run, psFormats, p.ps),
	}
}

var psFormats = []string{"text", "wide", "csv", "json"}

// A psRow is one process.
type psRow struct {
	pid                                        int
	name, user, runtime, gc, container, cookie string
	problem, cause                             string // cause: its id in docs/troubleshooting.md
	started                                    time.Time
	commandLine                                []string

	waits  bool // its only problem is that it waits
	silent bool // it has not answered in time
}

// How long a runtime may take to identify itself. One that hangs must not delay the list, and one that
// gets no processor must not be taken for one that hangs.
const (
	psPatience     = 150 * time.Millisecond // since the last answer of any runtime
	doctorPatience = 2 * time.Second
	psLongest      = 2 * time.Second // for all, if answers still come, or if it is seen that one is late
)

func (p *commands) ps(c *cli.Context, how string) error {
	if err := flags.NoArguments(c); err != nil {
		return err
	}
	list, err := p.Host.List(c.Context)
	if err != nil {
		return err
	}
	rows := describeAll(c.Context, list, psPatience)
	switch how {
	case "json":
		return p.PrintIndented(lists.Objects(psColumns, rows))
	case "csv":
		return lists.PrintCSV(p.Run, psColumns, rows)
	}
	if len(rows) == 0 {
		p.UI.Say("no process with a .NET runtime was found; only root sees those of other users")
		return nil
	}
	columns := psNarrow
	width, _ := screen.Size(p.Unfiltered)
	if how == "wide" { // not limited to the width of the terminal
		columns, width = psColumns, 0
	}
	if err := lists.TableOf(columns, rows).PrintPlain(p.Out, width); err != nil {
		return err
	}
	for _, r := range rows {
		if r.problem != "" {
			p.UI.Say(r.problem)
		}
	}
	return nil
}

// describeAll asks all processes concurrently for their identities, and gives up those that have not
// answered when no other has either for some time.
func describeAll(ctx context.Context, list []host.Listed, patience time.Duration) []psRow {
	rows := make([]psRow, len(list))
	answered := make(chan int, len(list))
	asked := make(map[int]context.CancelFunc, len(list))
	for i := range list {
		asking, giveUp := context.WithCancel(ctx)
		defer giveUp()
		asked[i] = giveUp
		go func() {
			rows[i] = describe(ctx, asking, &list[i])
			answered <- i
		}()
	}
	await(asked, answered, patience, func(i int) bool { return list[i].Err == nil && list[i].Target().IsLate() })
	return rows
}

// await returns when all that were asked have answered, or were given up. The time is counted in steps
// of which gclog has seen each, so it is longer where gclog itself gets no processor: an answer may
// have come meanwhile.
func await(asked map[int]context.CancelFunc, answered <-chan int, patience time.Duration, late func(int) bool) {
	const step, look = 20 * time.Millisecond, 100 * time.Millisecond // look: how often it is seen whether one is late
	every := time.NewTicker(step)
	defer every.Stop()
	waiting, givenUp := len(asked), map[int]bool{}
	for left, all := patience, time.Duration(0); waiting > 0; {
		select {
		case i := <-answered:
			if waiting--; !givenUp[i] {
				delete(asked, i)
				left = patience
			}
			continue
		case <-every.C:
			left, all = left-step, all+step
		}
		over := all >= psLongest
		if !over && left >= 0 { // the first step was a part of one
			continue
		}
		left = look
		for i, giveUp := range asked {
			if over || !late(i) {
				givenUp[i] = true
				delete(asked, i)
				giveUp()
			}
		}
	}
}

// causeNoAnswer is the cause of a process that is not seen to be stopped.
const causeNoAnswer = "no-answer"

// describe asks a process for its identity, until asking is done.
func describe(ctx, asking context.Context, l *host.Listed) psRow {
	r := psRow{
		pid:         l.PID,
		name:        attach.Names(&l.Process)[0],
		user:        l.User,
		container:   l.ContainerID,
		commandLine: l.CommandLine,
	}
	if !l.Started.IsZero() {
		r.started = l.Started.UTC().Truncate(time.Millisecond)
	}
	if l.Err != nil {
		r.problem, r.cause = l.Err.Error(), doctor.CauseOf(l.Err)
		return r
	}
	t := l.Target()
	began := time.Now()
	facts, err := attach.IdentifyWhile(ctx, asking, t)
	waited := time.Since(began).Round(10 * time.Millisecond)
	givenUp := asking.Err() != nil && errors.Is(err, context.Canceled)
	if givenUp {
		err = fmt.Errorf("%w within %v", session.ErrNoAnswer, waited)
	}
	var server *session.ServerError
	if err != nil && !errors.As(err, &server) {
		r.silent = errors.Is(err, session.ErrNoAnswer)
		err = doctor.Explain(asking, t, err)
		r.problem, r.cause = err.Error(), doctor.CauseOf(err)
		if givenUp && r.cause == causeNoAnswer {
			r.problem = fmt.Sprintf("process %d has not answered within %v: it hangs, or it is late; gclog doctor %d "+
				"waits longer", r.pid, waited, r.pid)
		}
	}
	if err == nil {
		err = t.CheckStartup(ctx)
		if r.waits = err != nil; r.waits {
			r.problem, r.cause = err.Error(), doctor.CauseOf(err)
		}
	}
	r.name, r.runtime, r.cookie = facts.Name, facts.RuntimeVersion, facts.Cookie
	r.gc = doctor.GC(&facts)
	return r
}

// psColumns are the columns of the list of processes. JSON is part of gclog's compatibility promise.
var psColumns = slices.Concat(psNarrow, []lists.Column[psRow]{
	{
		Column: screen.Column{Title: "CONTAINER"}, CSV: "container", JSON: "container",
		Text:  func(r *psRow) string { return view.Dash(r.container[:min(len(r.container), 12)]) },
		Value: func(r *psRow) any { return lists.Some(r.container) },
	},
	{
		Column: screen.Column{Title: "COMMAND"}, CSV: "command_line", JSON: "command_line",
		Text: func(r *psRow) string { return view.OneLine(view.Shorten(strings.Join(r.commandLine, " "), 200)) },
		Value: func(r *psRow) any {
			if len(r.commandLine) == 0 {
				return nil
			}
			return r.commandLine
		},
	},
	{CSV: "cookie", JSON: "cookie", Value: func(r *psRow) any { return lists.Some(r.cookie) }},
	{CSV: "problem", JSON: "problem", Value: func(r *psRow) any { return lists.Some(r.problem) }},
	{CSV: "cause", JSON: "cause", Value: func(r *psRow) any { return lists.Some(r.cause) }},
})

// psNarrow are the columns of a list that is not wide.
var psNarrow = []lists.Column[psRow]{
	{
		Column: screen.Column{Title: "PID", Right: true}, CSV: "pid", JSON: "pid",
		Text: func(r *psRow) string { return strconv.Itoa(r.pid) }, Value: func(r *psRow) any { return r.pid },
	},
	lists.Text(screen.Column{Title: "NAME", Width: 12, Cut: true}, "name", func(r *psRow) string { return r.name }),
	lists.Text(screen.Column{Title: "USER", Width: 8, Cut: true, Rank: 3}, "user",
		func(r *psRow) string { return r.user }),
	lists.Text(screen.Column{Title: "RUNTIME", Width: 7, Cut: true, Rank: 1}, "runtime", func(r *psRow) string {
		return r.runtime
	}),
	lists.Text(screen.Column{Title: "GC", Width: 11, Cut: true, Rank: 2}, "gc", func(r *psRow) string { return r.gc }),
	{
		Column: screen.Column{Title: "UP", Right: true, Rank: 4}, CSV: "started", JSON: "started",
		Text: func(r *psRow) string {
			if r.started.IsZero() {
				return "-"
			}
			return view.Elapsed(time.Since(r.started))
		},
		Value: func(r *psRow) any {
			if r.started.IsZero() {
				return nil
			}
			return r.started.Format(time.RFC3339Nano)
		},
	},
	{Column: screen.Column{Title: "ATTACH"}, Text: (*psRow).attachable},
}

// attachable says whether gclog can attach to the process.
func (r *psRow) attachable() string {
	switch {
	case r.waits:
		return "later"
	case r.silent:
		return "silent"
	case r.problem != "":
		return "no"
	}
	return "yes"
}
