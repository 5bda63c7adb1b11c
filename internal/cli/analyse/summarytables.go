package analyse

import (
	"fmt"
	"slices"

	"github.com/gclog/gclog/formats/screen"
	"github.com/gclog/gclog/gclog/analysis"
	"github.com/gclog/gclog/internal/view"
)

// The tables of a summary: a row for each class of collections, a column for each number.

// classes prints a table with a row for each class that is not empty, and a column for each number
// that is known for any class.
func (t *summaryText) classes(columns []view.ClassColumn, there func(*analysis.Rollup) bool) {
	x := view.Table{Columns: []screen.Column{{}}}
	var known []view.ClassColumn
	for _, c := range columns {
		t.num(c.Title, c.Of(&t.s.Classes[analysis.ClassAll]))
		if t.knows(c, there) {
			known = append(known, c)
			x.Columns = append(x.Columns, screen.Column{Title: c.Title, Right: true, Rank: c.Rank})
		}
	}
	if len(known) == 0 {
		return
	}
	for class := range analysis.Classes {
		r := &t.s.Classes[class]
		switch {
		case class == analysis.ClassAll &&
			!slices.ContainsFunc(known, func(c view.ClassColumn) bool { return c.Of(r).Known() }):
			continue
		case class != analysis.ClassAll && !there(r):
			continue
		}
		row := []string{view.ClassTitle(class)}
		for _, c := range known {
			row = append(row, t.cell(c.Title+" of "+row[0], c.Of(r)))
		}
		x.Add(row...)
	}
	fmt.Fprintln(t)
	x.Print(t, t.wide)
}

// knows reports whether a column contains a number. For a log that cannot contain all pauses, the
// numbers of each class are known, but not those of all classes together.
func (t *summaryText) knows(c view.ClassColumn, there func(*analysis.Rollup) bool) bool {
	return slices.ContainsFunc(t.s.Classes[:], func(r analysis.Rollup) bool { return there(&r) && c.Of(&r).Known() })
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
