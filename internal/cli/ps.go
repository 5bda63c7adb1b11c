package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gclog/gclog/formats/screen"
	"github.com/gclog/gclog/internal/attach"
	"github.com/gclog/gclog/internal/doctor"
	"github.com/gclog/gclog/internal/host"
	"github.com/gclog/gclog/session"
	"github.com/urfave/cli/v2"
)

func (p *program) psCommand() *cli.Command {
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
		Flags:  resultFlags(psFormats),
		Action: p.result(psFormats, p.ps),
	}
}

var psFormats = []string{"text", "wide", "json"}

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

func (p *program) ps(c *cli.Context, how string) error {
	if err := noArguments(c); err != nil {
		return err
	}
	list, err := p.host.List(c.Context)
	if err != nil {
		return err
	}
	rows := describeAll(c.Context, list, psPatience)
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
		r.Problem, r.Cause = err.Error(), doctor.CauseOf(err)
		if givenUp && r.Cause == causeNoAnswer {
			r.Problem = fmt.Sprintf("process %d has not answered within %v: it hangs, or it is late; gclog doctor %d waits longer", r.PID, waited, r.PID)
		}
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
		case r.silent:
			can = "silent"
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
