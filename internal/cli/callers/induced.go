package callers

import (
	"fmt"
	"io"
	"math"
	"time"

	"github.com/gclog/gclog/formats/screen"
	"github.com/gclog/gclog/gclog/stacks"
	"github.com/gclog/gclog/internal/callers"
	"github.com/gclog/gclog/internal/cli/exit"
	"github.com/gclog/gclog/internal/cli/lists"
	"github.com/gclog/gclog/internal/cli/results"
	"github.com/gclog/gclog/internal/view"
	"github.com/urfave/cli/v2"
)

func (p *commands) inducedCommand() *cli.Command {
	return &cli.Command{
		Name:      "induced",
		Usage:     "list who asks for collections: callers of GC.Collect and the like",
		ArgsUsage: "PID|NAME|FILE...",
		Description: `gclog induced watches a running process for 30 s, or reads a recording with call stacks,
also .gz and .zst; - is standard input. Counted are the collections that the program asked
for, by the method that did: with the generation that was collected, the kind of the
collection, and how long it paused the program. A call that the collection of another
thread serves leaves no event. Several FILEs are recordings of one process, whose names
are put together. docs/alloc.md has an example.

Examples:
   gclog induced 4711                           callers
   gclog induced 4711 --for 10m
   gclog induced app.nettrace --by path         with all that leads to them
   gclog induced app.nettrace -f json | jq '.rows[0]'
   gclog induced app.nettrace -f folded | flamegraph.pl > app.svg`,
		Flags: stackFlags(
			&cli.StringFlag{Name: "by", Value: "caller", Usage: "`WHAT` to count by: caller or path"},
		),
		Action: results.Action(p.Run, stackFormats, p.induced),
	}
}

func (p *commands) induced(c *cli.Context, how string) error {
	l, err := readStackFlags(c, how)
	if err != nil {
		return err
	}
	by := c.String("by")
	if by != "caller" && by != callers.ByPath {
		return exit.Usagef("--by %s: it must be caller or path", by)
	}
	x, err := p.profile(c, false)
	if err != nil {
		return err
	}
	name := x.name
	if x.Requests == 0 {
		if x.Collections > 0 {
			return exit.Dataf(
				"%s has collections, but not who asked for them: record it with gclog record PID --stacks", name)
		}
		return exit.Dataf("%s has no collections", name)
	}
	l.Profile = x.Profile
	rows := l.Calls(by == callers.ByPath)
	if len(rows) > 0 {
		if err := stackless(x); err != nil {
			return err
		}
	}
	p.sayNames(x)
	if isFlame(how) {
		return p.printFlame(c, how, l.CallFlame(name, how == "pprof"))
	}
	shown := lists.Cut(rows, l.top)
	columns := callColumns(by)
	switch how {
	case "csv":
		return lists.PrintCSV(p.Run, columns, shown)
	case "json":
		return p.PrintJSON(newInducedJSON(x, by, rows, lists.Objects(columns, shown)))
	}
	width, _ := screen.Size(p.Unfiltered)
	return p.Write(func(w io.Writer) error {
		all := sumOfCalls(rows)
		if len(rows) == 0 {
			fmt.Fprintf(w, "none of %s in %s was asked for%s\n",
				view.Counted(x.Collections, "collection"), secondsText(x.Duration), l.that())
			return nil
		}
		fmt.Fprintf(w, "%s asked for in %s, which paused the program for %s; %s\n",
			view.Counted(all.Count, "collection"), secondsText(x.Duration), pauseText(all.Paused),
			listOf(len(shown), len(rows), "row"))
		if cost := x.costAfter(); cost != "" {
			fmt.Fprintf(w, "%s\n", cost)
		}
		lists.TableOf(columns, shown).Print(w, width)
		fmt.Fprintln(w, "a call that the collection of another thread served left no event, and is not counted")
		return nil
	})
}

// that describes what --filter chooses.
func (l *stackList) that() string {
	if l.Filter == nil {
		return ""
	}
	return " by what matches --filter " + view.Clean(l.Filter.String())
}

func sumOfCalls(rows []callers.CallRow) (all stacks.Requested) {
	for i := range rows {
		all.Add(rows[i].Requested)
	}
	return all
}

func pauseText(ns int64) string { return fmt.Sprintf("%.1f ms", float64(ns)/1e6) }

// callColumns are the columns of rows by caller or by path.
func callColumns(by string) []lists.Column[callers.CallRow] {
	type row = callers.CallRow
	pause := func(title, name string, of func(r *row) int64) lists.Column[row] {
		known := func(r *row) bool { return r.Timed > 0 }
		return lists.Column[row]{
			Column: screen.Column{Title: title, Right: true}, CSV: name, JSON: name,
			Text: func(r *row) string {
				if !known(r) {
					return "-"
				}
				return pauseText(of(r))
			},
			Value: func(r *row) any {
				if !known(r) {
					return nil
				}
				return of(r)
			},
		}
	}
	caller := lists.Names("caller", "caller", "caller", view.Clean, func(r *row) string { return r.Caller })
	if by == callers.ByPath {
		caller.Text = func(r *row) string { return pathText(r.Path) }
	}
	return []lists.Column[row]{
		lists.Count("count", "count", "count", func(r *row) uint64 { return r.Count }),
		pause("paused", "paused_ns", func(r *row) int64 { return r.Paused }),
		pause("mean", "mean_ns", func(r *row) int64 { return r.Paused / int64(max(1, r.Timed)) }).Ranked(1),
		pause("longest", "longest_ns", func(r *row) int64 { return r.Longest }).Ranked(2),
		{
			Column: screen.Column{Title: "call"}, CSV: "call", JSON: "call",
			Text: func(r *row) string { return r.Call }, Value: func(r *row) any { return r.Call },
		},
		{CSV: "reason", JSON: "reason", Value: func(r *row) any { return r.Reason.String() }},
		{CSV: "generation", JSON: "generation", Value: func(r *row) any {
			if r.Generation < 0 {
				return nil
			}
			return r.Generation
		}},
		caller,
		{CSV: "path", Value: func(r *row) any { return pathText(r.Path) }},
		{JSON: "path", Value: func(r *row) any { return r.Path }},
	}
}

type inducedJSON struct {
	Start       string  `json:"start,omitempty"`
	Duration    float64 `json:"duration_s"`
	Collections uint64  `json:"collections"`
	Requested   uint64  `json:"requested"`
	Paused      int64   `json:"paused_ns"`
	Lost        uint64  `json:"lost"`
	costJSON
	By   string         `json:"by"`
	Rows []lists.Object `json:"rows"`
}

func newInducedJSON(x *subjectProfile, by string, rows []callers.CallRow, list []lists.Object) *inducedJSON {
	all := sumOfCalls(rows)
	return &inducedJSON{
		Start: startJSON(x.Profile), Duration: x.Duration.Seconds(), Collections: x.Collections, Requested: all.Count,
		Paused: all.Paused, Lost: x.Lost, costJSON: newCostJSON(x), By: by, Rows: list,
	}
}

// secondsText is how long a recording is.
func secondsText(d time.Duration) string {
	if d >= 10*time.Minute {
		return d.Round(time.Second).String()
	}
	return fmt.Sprintf("%.1f s", math.Max(0, d.Seconds()))
}
