package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gclog/gclog/formats/screen"
	"github.com/gclog/gclog/gclog/analysis"
)

// The tables of a summary: a row for each class of collections, a column for each number.

// A classColumn is a number of the classes. If the table is too wide, the columns with the highest
// ranks are left out first.
type classColumn struct {
	head string
	rank int
	of   func(*analysis.Rollup) analysis.Number
}

func countOf(n uint64) analysis.Number { return analysis.Number{Value: float64(n)} }

var pauseColumns = []classColumn{
	{"pauses", 0, (*analysis.Rollup).PauseCount},
	{"total", 3, func(r *analysis.Rollup) analysis.Number { return r.Pauses.Total }},
	{"mean", 6, func(r *analysis.Rollup) analysis.Number { return r.Pauses.Mean }},
	{"p50", 2, func(r *analysis.Rollup) analysis.Number { return r.Pauses.P50 }},
	{"p90", 4, func(r *analysis.Rollup) analysis.Number { return r.Pauses.P90 }},
	{"p95", 7, func(r *analysis.Rollup) analysis.Number { return r.Pauses.P95 }},
	{"p99", 1, func(r *analysis.Rollup) analysis.Number { return r.Pauses.P99 }},
	{"p99.9", 5, func(r *analysis.Rollup) analysis.Number { return r.Pauses.P999 }},
	{"longest", 0, func(r *analysis.Rollup) analysis.Number { return r.Pauses.Max }},
}

var collectionColumns = []classColumn{
	{"GCs", 0, func(r *analysis.Rollup) analysis.Number { return countOf(r.Count) }},
	{"per minute", 2, func(r *analysis.Rollup) analysis.Number {
		n := r.PerMinute
		n.Unit = "" // it is in the title
		return n
	}},
	{"induced", 1, func(r *analysis.Rollup) analysis.Number { return r.Induced }},
	{"compacting", 3, func(r *analysis.Rollup) analysis.Number { return r.Compacting }},
	{"mean pause", 4, func(r *analysis.Rollup) analysis.Number { return r.Pause.Mean }},
	{"max pause", 0, func(r *analysis.Rollup) analysis.Number { return r.Pause.Max }},
	{"max suspend", 5, func(r *analysis.Rollup) analysis.Number { return r.Suspend.Max }},
	{"max pinned", 6, func(r *analysis.Rollup) analysis.Number { return r.PinnedObjects.Max }},
}

var sizeColumns = []classColumn{
	{"max peak", 0, func(r *analysis.Rollup) analysis.Number { return r.Peak.Max }},
	{"mean after", 3, func(r *analysis.Rollup) analysis.Number { return r.After.Mean }},
	{"max after", 0, func(r *analysis.Rollup) analysis.Number { return r.After.Max }},
	{"promoted", 2, func(r *analysis.Rollup) analysis.Number { return r.Promoted.Total }},
	{"allocated", 1, func(r *analysis.Rollup) analysis.Number { return r.Allocated.Total }},
	{"max rate", 4, func(r *analysis.Rollup) analysis.Number { return r.AllocationRate.Max }},
}

// classes prints a table with a row for each class that is not empty, and a column for each number
// that is known for any class.
func (t *summaryText) classes(columns []classColumn, there func(*analysis.Rollup) bool) {
	x := table{columns: []screen.Column{{}}}
	var known []classColumn
	for _, c := range columns {
		t.num(c.head, c.of(&t.s.Classes[analysis.ClassAll]))
		if t.knows(c, there) {
			known = append(known, c)
			x.columns = append(x.columns, screen.Column{Title: c.head, Right: true, Rank: c.rank})
		}
	}
	if len(known) == 0 {
		return
	}
	for class := range analysis.Classes {
		r := &t.s.Classes[class]
		switch {
		case class == analysis.ClassAll && !slices.ContainsFunc(known, func(c classColumn) bool { return c.of(r).Known() }):
			continue
		case class != analysis.ClassAll && !there(r):
			continue
		}
		row := []string{strings.ReplaceAll(class.String(), ".", " ")}
		if class == analysis.ClassNone {
			row[0] = "without a GC"
		}
		for _, c := range known {
			row = append(row, t.cell(c.head+" of "+row[0], c.of(r)))
		}
		x.add(row...)
	}
	fmt.Fprintln(t)
	x.print(t, t.wide)
}

// knows reports whether a column contains a number. For a log that cannot contain all pauses, the
// numbers of each class are known, but not those of all classes together.
func (t *summaryText) knows(c classColumn, there func(*analysis.Rollup) bool) bool {
	return slices.ContainsFunc(t.s.Classes[:], func(r analysis.Rollup) bool { return there(&r) && c.of(&r).Known() })
}

// cell formats a number in a table: a dash if there are too few values for a percentile.
func (t *summaryText) cell(name string, n analysis.Number) string {
	if !n.Known() && n.AtMost > 0 {
		return "-"
	}
	return t.num(name, n)
}

func hasPauses(r *analysis.Rollup) bool { return r.Pauses.Count > 0 || r.Count > 0 }

func hasGCs(r *analysis.Rollup) bool { return r.Count > 0 }
