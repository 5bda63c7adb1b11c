package analysis

import (
	"fmt"

	"github.com/gclog/gclog/gclog"
)

func growthRules() []Rule {
	return []Rule{
		{
			Number: 15, ID: "memory-growth", Title: "What stays in memory grows", Severity: Warning,
			Thresholds: []Threshold{
				{"over", "%/h", 20, "growth in an hour, by a straight line through the sizes"},
				{"count", "", 5, "least number of gen2 collections"},
				{"span", "ns", 600e9, "least time from the first to the last of them"},
				{"floor", "bytes", 10e6, "a smaller growth in that time does not matter"},
			},
			Sample:      " but gen2 collections as the thresholds say",
			Evidence:    "objects in gen2 and the large object heap after each gen2 collection, without free space; least squares",
			Explanation: "What survives gen2 collections again and again is in use, or held by mistake. A straight line that rises, and fits (half of the variation and more), is what a leak looks like; so do a cache that fills and a program that has just started.",
			Advice:      "Compare two heap snapshots, an hour apart, at the same load: dotnet-gcdump collect, or a dump with dotnet-dump (dumpheap -stat, gcroot). Look for static collections, event handlers that are not removed, caches without a limit, timers. handle-leak tells of handles that grow.",
			Basis:       BasisMicrosoft, lasting: true,
			judge: func(l limits) judge {
				return &growth{l: l, what: "gen2 and large objects", unit: "bytes", name: "objects", of: func(x *judgedGC) (float64, bool) {
					objects := x.Generations[gclog.Gen2].ObjectsAfter + x.Generations[gclog.LOH].ObjectsAfter
					return float64(objects), x.HasObjects && !x.Sums && !x.Pools
				}, why: "no gen2 collection tells the objects that remain: that comes with the histories of the heaps"}
			},
		},
		{
			Number: 22, ID: "handle-leak", Title: "The number of GC handles grows", Severity: Warning,
			Thresholds: []Threshold{
				{"over", "%/h", 10, "growth in an hour, by a straight line through the counts"},
				{"count", "", 5, "least number of gen2 collections"},
				{"span", "ns", 600e9, "least time from the first to the last of them"},
				{"floor", "", 10000, "fewer handles at the end of that time do not matter"},
			},
			Sample:      " but gen2 collections as the thresholds say",
			Evidence:    "GC handles after each gen2 collection, when the count is exact; least squares",
			Explanation: "Each handle (strong, weak, pinned, dependent) is looked at by every collection. Handles that are made and not freed slow down all collections, and what they refer to may never be freed.",
			Advice:      "Look for GCHandle.Alloc without Free, for WeakReference and ConditionalWeakTable entries made per request, for timers, and for native libraries with callbacks. In a dump, gchandles of dotnet-dump counts them by kind and type.",
			Basis:       BasisHeuristic, lasting: true,
			judge: func(l limits) judge {
				return &growth{l: l, what: "GC handles", name: "handles", end: true, of: func(x *judgedGC) (float64, bool) {
					return float64(x.Handles), x.HasSizesAfter && x.Handles >= 0
				}, why: "no gen2 collection tells the number of handles"}
			},
		},
	}
}

// leastFit is how well a line must fit to be growth.
const leastFit = 0.5

// growth is a value after gen2 collections that rises.
type growth struct {
	l          limits
	what       string
	name, unit string
	end        bool // floor is of the value at the end, else of its growth
	of         func(*judgedGC) (value float64, known bool)
	why        string // nothing tells it

	live   bool // it looks at the last day, else at all
	told   uint64
	series series
	worst  ranking
}

func (j *growth) gc(x *judgedGC) {
	if !x.isGen2 {
		return
	}
	v, known := j.of(x)
	if !known {
		return
	}
	j.told++
	at := max(x.Start, x.End)
	if j.live {
		j.series.forget(at - lastDay)
	}
	j.series.add(at, v)
	j.worst.add(x.GCDetails, v)
}

func (j *growth) verdict(s *stretch) (f Finding, why string) {
	if j.live {
		j.series.forget(s.to - lastDay)
	}
	l := j.series.line()
	switch {
	case j.told == 0:
		return f, j.why
	case l.values < j.l["count"]:
		return f, fmt.Sprintf("%.0f gen2 collections told it: at least %.0f", l.values, j.l["count"])
	case float64(l.span) < j.l["span"]:
		return f, fmt.Sprintf("the gen2 collections lie within %s: at least %s", durationText(float64(l.span)), durationText(j.l["span"]))
	}
	matters := l.end - l.begin
	if j.end {
		matters = l.end
	}
	if l.perHour() <= j.l["over"] || l.fit < leastFit || matters <= j.l["floor"] {
		return f, ""
	}
	f.Text = fmt.Sprintf("After %.0f gen2 collections in %s, %s rose from %s to %s: %s.",
		l.values, durationText(float64(l.span)), j.what, valueText(l.begin, j.unit), valueText(l.end, j.unit), valueText(l.perHour(), "%/h"))
	f.GCs = j.worst.numbers()
	f.Evidence = []Evidence{
		{"gen2", l.values, ""},
		{"span", float64(l.span), "ns"},
		{j.name + ".begin", l.begin, j.unit},
		{j.name + ".end", l.end, j.unit},
		{"growth", l.perHour(), "%/h"},
		{"fit", l.fit, ""},
	}
	return f, ""
}
