package callers

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/formats/screen"
	"github.com/gclog/gclog/gclog/stacks"
	"github.com/gclog/gclog/internal/callers"
	"github.com/gclog/gclog/internal/cli/assess"
	"github.com/gclog/gclog/internal/cli/exit"
	"github.com/gclog/gclog/internal/cli/flags"
	"github.com/gclog/gclog/internal/cli/lists"
	"github.com/gclog/gclog/internal/cli/results"
	"github.com/gclog/gclog/internal/view"
	"github.com/urfave/cli/v2"
)

func (p *commands) allocCommand() *cli.Command {
	return &cli.Command{
		Name:      "alloc",
		Usage:     "list who allocates: types, methods, call paths, threads",
		ArgsUsage: "PID|NAME|FILE...",
		Description: `gclog alloc watches a running process for 30 s, or reads a recording with call stacks, also
.gz and .zst; - is standard input. What was allocated is estimated from the events of the
runtime, one for each 100 KB: each share has the interval that contains the true one in 95
of 100 cases. A row with fewer than four events says so. Several FILEs are recordings of
one process, whose names are put together. docs/alloc.md has an example.

Each event takes the process some CPU time. If all of them would take more than 2 % of what
it uses, gclog watches it only at times, and scales up. With --continuous it takes all.

Examples:
   gclog alloc 4711                                  the types with the most bytes
   gclog alloc 4711 --for 2m --by method             the methods that allocate them
   gclog alloc app.nettrace --by path --min 5%       as a tree of calls
   gclog alloc app.nettrace --by path --filter Cart  the paths through a class
   gclog alloc app.nettrace --large                  only large objects
   gclog alloc --diff before.nettrace after.nettrace what has changed, as rates
   gclog alloc app.nettrace -o app.pb.gz             for go tool pprof
   gclog alloc app.nettrace -f folded | flamegraph.pl > app.svg`,
		Flags: stackFlags(
			&cli.StringFlag{Name: "by", Value: "type", Usage: "`WHAT` to count by: type, method, path or thread"},
			&cli.StringFlag{
				Name:  "min",
				Usage: "list only what has at least `SIZE`: bytes (K, M, G), or a share of the whole (1%)",
			},
			&cli.BoolFlag{
				Name:  diffFlag,
				Usage: "compare two recordings: what each allocates per second, what has changed most first",
			},
			&cli.BoolFlag{
				Name: continuousFlag, Category: flags.TimeGroup,
				Usage: "watch a running process all the time, although that takes more than 2 % of its CPU time",
			},
			&cli.BoolFlag{Name: "large", Usage: "count only objects on the large object heap"},
		),
		Action: results.Action(p.Run, stackFormats, p.alloc),
	}
}

func (p *commands) alloc(c *cli.Context, how string) error {
	l, err := readStackFlags(c, how)
	if err != nil {
		return err
	}
	by := c.String("by")
	if !slices.Contains([]string{callers.ByType, callers.ByMethod, callers.ByPath, callers.ByThread}, by) {
		return exit.Usagef("--by %s: it must be type, method, path or thread", by)
	}
	if l.Large = c.Bool("large"); l.Large && by == callers.ByThread {
		return exit.Usagef("--large: threads are counted with objects of all sizes")
	}
	var atLeast lists.Least
	if err := atLeast.Read(c); err != nil {
		return err
	}
	if c.Bool(diffFlag) {
		return p.allocDiff(c, how, l, by, atLeast)
	}
	x, err := p.profile(c, true)
	if err != nil {
		return err
	}
	name := x.name
	if err := p.checkAllocations(x, by, isFlame(how)); err != nil {
		return err
	}
	l.Profile = x.Profile
	if isFlame(how) {
		return p.printFlame(c, how, l.Flame(name, how == "pprof"))
	}
	atLeast.MinOf(uint64(max(0, x.Total.Bytes)))
	rows := l.Rows(by)
	rows = slices.DeleteFunc(rows, func(r callers.Row) bool { return uint64(r.Bytes) < atLeast.Min })
	shown := lists.Cut(rows, l.top)
	columns := l.columns(by)
	switch how {
	case "csv":
		return lists.PrintCSV(p.Run, columns, shown)
	case "json":
		return p.PrintJSON(l.json(x, by, lists.Objects(columns, shown)))
	}
	width, _ := screen.Size(p.Unfiltered)
	return p.Write(func(w io.Writer) error {
		fmt.Fprintf(w, "%s\n", l.head(by, len(shown), len(rows)))
		if cost := x.costAfter(); cost != "" {
			fmt.Fprintf(w, "%s\n", cost)
		}
		if by == callers.ByPath {
			l.tree(w, rows, atLeast.Min)
			return nil
		}
		if len(rows) > 0 {
			lists.TableOf(columns, shown).Print(w, width)
		}
		return nil
	})
}

// checkAllocations returns an error if a profile cannot be listed so, and says what it lacks.
func (p *commands) checkAllocations(x *subjectProfile, by string, flame bool) error {
	name := x.name
	switch {
	case x.Source == stacks.None && x.Collections > 0:
		return exit.Dataf("%s has collections, but no allocations: record it with gclog record PID --stacks", name)
	case x.Source == stacks.None:
		return exit.Dataf("%s has no allocations", name)
	case by != callers.ByThread && x.Nameless():
		return exit.Dataf("%s: NativeAOT reports neither types nor call stacks; about %s were allocated in %s",
			name, formats.SizeText(int64(x.Total.Bytes)), secondsText(x.Duration))
	case by != callers.ByThread && by != callers.ByType || flame:
		if err := stackless(x); err != nil {
			return err
		}
	}
	if x.Silent > x.Collections/10 && x.Silent > 2 {
		p.UI.Sayf("%s: %s began although no allocation had been reported since the one before: the sampling of "+
			"another tool, or the filter of the session, has suppressed events",
			name, view.Counted(x.Silent, "collection"))
	}
	p.sayNames(x)
	return nil
}

// head is the first line of the text.
func (l *stackList) head(by string, shown, all int) string {
	x := l.Profile
	about, within := "", ""
	if biased(x) {
		about = "about "
	}
	atTimes := x.Watched > 0 && x.Watched < x.Duration*95/100
	if atTimes {
		within = fmt.Sprintf(" ± %.0f %%", 100*x.Margin(x.Total)/max(1, x.Total.Bytes))
	}
	s := fmt.Sprintf("%s%s%s allocated in %s, %s; from %s",
		about, formats.SizeText(int64(x.Total.Bytes)), within, secondsText(x.Duration),
		callers.RateText(x.Total.Bytes, x.Duration),
		view.Counted(x.Total.Events, strings.TrimSuffix(x.Source.String(), "s")))
	if atTimes {
		s += " in " + secondsText(x.Watched) + " of that"
	}
	if by != callers.ByPath {
		s += "; " + listOf(shown, all, by)
	}
	if biased(x) {
		s += "\n.NET Core 3.1 reports too much, most of all for objects of 1 KB and more: up to 20 %"
	}
	return s
}

// biased reports whether the events do not stand for what was allocated.
func biased(x *stacks.Profile) bool {
	total := x.Total.Objects
	return x.Source == stacks.Ticks && (math.IsNaN(total) || math.IsInf(total, 0))
}

// columns are those of the rows.
func (l *stackList) columns(by string) []lists.Column[callers.Row] {
	x := l.Profile
	number := func(name string, of func(e stacks.Estimate) float64) lists.Column[callers.Row] {
		return lists.Column[callers.Row]{CSV: name, JSON: name, Value: func(r *callers.Row) any {
			v := of(r.Estimate)
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return nil
			}
			return math.Round(v*1e6) / 1e6
		}}
	}
	within := func(e stacks.Estimate, sign float64) float64 {
		share, margin := x.Share(e)
		return min(1, max(0, share+sign*margin))
	}
	name := lists.Names(by, by, "name", view.Clean, func(r *callers.Row) string { return r.Name })
	rate := number("bytes_per_second", func(e stacks.Estimate) float64 {
		return callers.PerSecond(e.Bytes, x.Duration)
	})
	rate.Column = screen.Column{Title: "per second", Right: true}
	rate.Text = func(r *callers.Row) string { return callers.RateText(r.Bytes, x.Duration) }
	share := number("share", func(e stacks.Estimate) float64 { return within(e, 0) })
	share.Column = screen.Column{Title: "share", Right: true}
	share.Text = func(r *callers.Row) string { return l.ShareText(r.Estimate) }
	return []lists.Column[callers.Row]{
		name,
		share,
		number("share_low", func(e stacks.Estimate) float64 { return within(e, -1) }),
		number("share_high", func(e stacks.Estimate) float64 { return within(e, 1) }),
		rate,
		lists.Size("bytes", "bytes", "bytes",
			func(r *callers.Row) uint64 { return uint64(math.Round(max(0, r.Bytes))) }).Ranked(1),
		number("bytes_margin", x.Margin),
		number("objects", func(e stacks.Estimate) float64 { return math.Round(e.Objects) }),
		lists.Count("events", "events", "events", func(r *callers.Row) uint64 { return r.Events }).Ranked(2),
	}
}

// tree prints the paths as a tree, without what is small.
func (l *stackList) tree(w io.Writer, rows []callers.Row, least uint64) {
	lines, limit := 0, 3*l.top
	smallest := max(float64(least), l.Profile.Total.Bytes/100)
	tree := callers.Tree(rows, func(n *callers.Node) bool { return n.Bytes > 0 && n.Bytes >= smallest })
	tree.Lines(func(depth int, n *callers.Node) {
		if lines++; l.top > 0 && lines > limit {
			return
		}
		const deepest = 30
		fmt.Fprintf(w, "  %15s  %10s  %s%s\n", l.ShareText(n.Estimate), callers.RateText(n.Bytes, l.Profile.Duration),
			strings.Repeat("  ", min(depth, deepest)), view.Clean(n.Name))
	})
}

type allocJSON struct {
	costJSON
	allocProfile
	By   string         `json:"by"`
	Rows []lists.Object `json:"rows"`
}

// An allocProfile is what a list of allocations is of.
type allocProfile struct {
	Source      string  `json:"source"`
	Start       string  `json:"start,omitempty"`
	Duration    float64 `json:"duration_s"`
	Bytes       uint64  `json:"bytes"`
	BytesMargin uint64  `json:"bytes_margin"`
	Events      uint64  `json:"events"`
	Lost        uint64  `json:"lost"`
	Frames      uint64  `json:"frames"`
	Unnamed     uint64  `json:"frames_without_name"`
}

func (l *stackList) json(x *subjectProfile, by string, rows []lists.Object) *allocJSON {
	return &allocJSON{newCostJSON(x), newAllocProfile(x.Profile), by, rows}
}

func newAllocProfile(x *stacks.Profile) allocProfile {
	return allocProfile{
		Source: x.Source.String(), Start: startJSON(x), Duration: x.Duration.Seconds(),
		Bytes: uint64(max(0, x.Total.Bytes)), BytesMargin: uint64(x.Margin(x.Total)), Events: x.Total.Events,
		Lost: x.Lost, Frames: x.Names.Frames, Unnamed: x.Names.Unnamed,
	}
}

// startJSON is when a profile begins.
func startJSON(x *stacks.Profile) string {
	if x.Start.Year() <= 1970 {
		return ""
	}
	return assess.Time(x.Start)
}

// costJSON is what a profile has cost the process that was watched.
type costJSON struct {
	Watched float64  `json:"watched_s,omitempty"`
	Cost    float64  `json:"cost_cpu_s,omitempty"`
	Share   *float64 `json:"cost_share,omitempty"` // of the CPU time of the process
	Gap     bool     `json:"gap,omitempty"`
}

func newCostJSON(x *subjectProfile) (j costJSON) {
	if x.live == nil {
		return j
	}
	j.Watched, j.Cost, j.Gap = x.Watched.Seconds(), x.live.Cost.Seconds(), x.live.Gap
	if share, known := x.costShare(); known {
		j.Share = &share
	}
	return j
}
