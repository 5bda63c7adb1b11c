package callers

import (
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	"github.com/gclog/gclog/formats/screen"
	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/gclog/stacks"
	"github.com/gclog/gclog/internal/callers"
	"github.com/gclog/gclog/internal/cli/exit"
	"github.com/gclog/gclog/internal/cli/lists"
	"github.com/gclog/gclog/internal/view"
	"github.com/urfave/cli/v2"
)

const diffFlag = "diff"

// A recorded is a recording, and what it says of allocations.
type recorded struct {
	name string
	callers.View
}

// allocDiff prints what has changed between two recordings.
func (p *commands) allocDiff(c *cli.Context, how string, l stackList, by string, atLeast lists.Least) error {
	names := c.Args().Slice()
	switch {
	case len(names) != 2:
		return exit.Usagef("gclog alloc --diff compares two recordings: give BEFORE and AFTER, not %s",
			view.Counted(uint64(len(names)), "file"))
	case names[0] == names[1]:
		return exit.Usagef("gclog alloc --diff: %s is given twice", names[0])
	case by == callers.ByThread:
		return exit.Usagef("--diff --by thread: threads of two recordings have nothing in common")
	case isFlame(how):
		return exit.Usagef("--diff writes text, csv or json; for %s, write each recording on its own", how)
	}
	var sides [2]recorded
	for i, name := range names {
		x, err := p.recordings([]string{name})
		if err != nil {
			return err
		}
		if err := p.checkAllocations(x, by, false); err != nil {
			return err
		}
		if x.Duration <= 0 {
			return exit.Dataf("%s does not say how long it took", x.name)
		}
		l.Profile, l.Own = x.Profile, true
		sides[i] = recorded{x.name, l.View}
	}
	before, after := &sides[0], &sides[1]
	notes := differences(before, after)
	rows := callers.Changes(&before.View, &after.View, by)
	least := [2]uint64{leastOf(atLeast, before), leastOf(atLeast, after)}
	rows = slices.DeleteFunc(rows, func(r callers.Change) bool {
		return r.Before.Bytes < float64(least[0]) && r.After.Bytes < float64(least[1])
	})
	unclear := 0
	if how == "text" {
		all := len(rows)
		rows = slices.DeleteFunc(rows, func(r callers.Change) bool { return !r.Before.Enough() && !r.After.Enough() })
		unclear = all - len(rows)
	}
	shown := lists.Cut(rows, l.top)
	columns := changeColumns(by)
	switch how {
	case "csv":
		for _, s := range notes {
			p.UI.Say(s)
		}
		return lists.PrintCSV(p.Run, columns, shown)
	case "json":
		return p.PrintJSON(&diffJSON{
			newAllocProfile(before.Profile), newAllocProfile(after.Profile), notes, by, lists.Objects(columns, shown),
		})
	}
	width, _ := screen.Size(p.Unfiltered)
	return p.Write(func(w io.Writer) error {
		total := callers.Total(&before.View, &after.View)
		sure := 0
		for i := range rows {
			if rows[i].Sure() {
				sure++
			}
		}
		fmt.Fprintf(w, "%s before, %s after; %d of %s changed", rateOf(total.Before.PerSecond),
			rateOf(total.After.PerSecond), sure, view.Counted(uint64(len(rows)), by))
		if len(shown) < len(rows) {
			fmt.Fprintf(w, "; the first %d", len(shown))
		}
		if unclear > 0 {
			fmt.Fprintf(w, "; %d with too few events", unclear)
		}
		fmt.Fprintln(w)
		for _, s := range notes {
			view.Wrapped(w, screen.TextWidth(p.Unfiltered), 0, "Note: "+view.OneLine(s)+".")
		}
		if len(rows) > 0 {
			lists.TableOf(columns, shown).Print(w, width)
		}
		return nil
	})
}

func leastOf(l lists.Least, x *recorded) uint64 {
	l.MinOf(uint64(max(0, x.Profile.Total.Bytes)))
	return l.Min
}

// differences says what makes two profiles hard to compare.
func differences(before, after *recorded) (list []string) {
	a, b := before.Profile, after.Profile
	list = []string{}
	if a.Source != b.Source {
		list = append(list, fmt.Sprintf("%s is estimated from %v, %s from %v: their errors differ",
			before.name, a.Source, after.name, b.Source))
	}
	if x, y := runtimeOf(a), runtimeOf(b); x != y {
		list = append(list, fmt.Sprintf("the runtimes differ: %s and %s", x, y))
	}
	if longer := max(a.Duration, b.Duration); float64(longer) > 1.5*float64(min(a.Duration, b.Duration)) {
		list = append(list, fmt.Sprintf("the lengths differ, %s and %s: a part of a program's work may be in one only",
			secondsText(a.Duration), secondsText(b.Duration)))
	}
	for _, x := range []*recorded{before, after} {
		if biased(x.Profile) {
			list = append(list, x.name+" is of .NET Core 3.1, which reports too much, by up to 20 %")
		}
	}
	return list
}

// runtimeOf is the runtime of a profile.
func runtimeOf(x *stacks.Profile) string {
	s := "an unknown version"
	if x.Process.RuntimeVersion != "" {
		s = ".NET " + x.Process.RuntimeVersion
	}
	switch x.Process.Server {
	case gclog.Yes:
		s += " with server GC"
	case gclog.No:
		s += " with workstation GC"
	}
	return s
}

// rateOf is a number of bytes per second.
func rateOf(perSecond float64) string { return callers.RateText(perSecond, time.Second) }

// changeColumns are the columns of changes by type, method or path.
func changeColumns(by string) []lists.Column[callers.Change] {
	type row = callers.Change
	number := func(name string, of func(r *row) float64) lists.Column[row] {
		return lists.Column[row]{CSV: name, JSON: name, Value: func(r *row) any { return math.Round(of(r)) }}
	}
	side := func(title string, of func(r *row) *callers.Rate) []lists.Column[row] {
		rate := number(title+"_bytes_per_second", func(r *row) float64 { return of(r).PerSecond })
		rate.Column = screen.Column{Title: title, Right: true}
		rate.Text = func(r *row) string {
			x := of(r)
			switch {
			case x.Events == 0:
				return "none seen"
			case !x.Enough():
				return "too few to say"
			}
			return fmt.Sprintf("%s ± %.0f %%", rateOf(x.PerSecond), 100*x.Margin/x.PerSecond)
		}
		return []lists.Column[row]{
			rate,
			number(title+"_margin", func(r *row) float64 { return of(r).Margin }),
			{CSV: title + "_events", JSON: title + "_events", Value: func(r *row) any { return of(r).Events }},
		}
	}
	within := func(sign float64) func(r *row) float64 {
		return func(r *row) float64 {
			change, margin := r.By()
			return change + sign*margin
		}
	}
	change := number("change_bytes_per_second", within(0))
	change.Column = screen.Column{Title: "change", Right: true}
	change.Text = func(r *row) string {
		by, _ := r.By()
		switch {
		case !r.Sure():
			return "within error"
		case by < 0:
			return "-" + rateOf(-by)
		}
		return "+" + rateOf(by)
	}
	name := lists.Names(by, by, "name", view.Clean, func(r *row) string { return r.Name })
	if by == callers.ByPath {
		name.Text = func(r *row) string { // the end, which says most, is not what is cut off
			return view.Clean(callers.Outwards(r.Path))
		}
	}
	columns := append([]lists.Column[row]{name}, side("before", func(r *row) *callers.Rate { return &r.Before })...)
	columns = append(columns, side("after", func(r *row) *callers.Rate { return &r.After })...)
	return append(columns, change,
		number("change_low", within(-1)), number("change_high", within(1)),
		lists.Column[row]{CSV: "changed", JSON: "changed", Value: func(r *row) any { return r.Sure() }})
}

type diffJSON struct {
	Before allocProfile   `json:"before"`
	After  allocProfile   `json:"after"`
	Notes  []string       `json:"notes"`
	By     string         `json:"by"`
	Rows   []lists.Object `json:"rows"`
}
