package view

import (
	"strings"

	"github.com/gclog/gclog/gclog/analysis"
)

// A ClassColumn is a number of the classes of collections. If a table is too wide, the columns with
// the highest ranks are left out first.
type ClassColumn struct {
	Title string
	Rank  int
	Of    func(*analysis.Rollup) analysis.Number
}

// Count returns a number of things.
func Count(n uint64) analysis.Number { return analysis.Number{Value: float64(n)} }

// PauseColumns returns the columns about pauses of each class.
func PauseColumns() []ClassColumn {
	return []ClassColumn{
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
}

// CollectionColumns returns the columns about collections of each class.
func CollectionColumns() []ClassColumn {
	return []ClassColumn{
		{"GCs", 0, func(r *analysis.Rollup) analysis.Number { return Count(r.Count) }},
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
}

// SizeColumns returns the columns about sizes of each class.
func SizeColumns() []ClassColumn {
	return []ClassColumn{
		{"max peak", 0, func(r *analysis.Rollup) analysis.Number { return r.Peak.Max }},
		{"mean after", 3, func(r *analysis.Rollup) analysis.Number { return r.After.Mean }},
		{"max after", 0, func(r *analysis.Rollup) analysis.Number { return r.After.Max }},
		{"promoted", 2, func(r *analysis.Rollup) analysis.Number { return r.Promoted.Total }},
		{"allocated", 1, func(r *analysis.Rollup) analysis.Number { return r.Allocated.Total }},
		{"max rate", 4, func(r *analysis.Rollup) analysis.Number { return r.AllocationRate.Max }},
	}
}

// ClassTitle returns the name of a class at the start of a row, or in a legend.
func ClassTitle(c analysis.Class) string {
	if c == analysis.ClassNone {
		return "without a GC"
	}
	return strings.ReplaceAll(c.String(), ".", " ")
}
