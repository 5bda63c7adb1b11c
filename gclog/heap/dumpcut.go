package heap

import "strings"

// A .gcdump file of another tool has no place for what it lacks. dotnet-gcdump, and dotnet-monitor with
// the same code, stop at 10,000,000 nodes: the objects that were described by then refer to others, as
// roots do, which are in the list of nodes but not described. dotnet-gcdump says so in the log that it
// keeps in the file. PerfView has another limit. Other causes, such as the events about roots, which
// come last and are the first to be lost, leave most of the objects without a root.

const (
	writersLimit = 10_000_000 // nodes
	writersWords = "max node count"
	perfView     = "PerfView"
)

// limited reports whether the writer of a file stopped at its limit, given how many nodes it mentions
// and does not describe.
func (d *dumpFile) limited(undescribed uint64) bool {
	return strings.Contains(d.info.Log, writersWords) ||
		d.nodes.count >= writersLimit && undescribed > 0 && d.info.Tool != perfView
}

// cutCounts notes that a file of another tool is cut off, as far as its counts show it.
func (d *dumpFile) cutCounts(w *Walk, undescribed uint64) {
	w.Limited = d.limited(undescribed)
	w.Cut = w.Limited
}

// cutGraph notes that a file of another tool is cut off. Frozen objects are unreachable, as a rule, but
// they are not most of a heap. Of a sample it is unknown.
func (d *dumpFile) cutGraph(g *Graph) {
	d.cutCounts(&g.Walk, uint64(d.info.Undefined))
	if g.Walk.Cut || g.Walk.Rootless || d.info.Multipliers != nil {
		return
	}
	var all Count
	for o := range Object(g.Len()) {
		all.add(g.Space(o))
	}
	n := g.Unreachable()
	g.Walk.Unrooted = 2*n.Objects > all.Objects && 2*n.Bytes > all.Bytes
	g.Walk.Cut = g.Walk.Unrooted
}
