package analysis

import (
	"slices"
	"strings"
)

// A Metric is one number of a Summary, with a stable name.
type Metric struct {
	Name string
	Help string // a short description
	Number
	// Empty reports that it is unknown because there was nothing of its kind, such as no blocking
	// gen2 collection, or no collection at all.
	Empty bool
}

// Metrics returns the numbers of the Summary, always the same ones in the same order: first those
// of the session, then those of all classes together, then those of each. docs/analysis.md lists
// them.
func (x *Summary) Metrics() []Metric {
	var list []Metric
	idle := x.nothing(ClassAll)
	for _, m := range sessionMetrics() {
		n := m.number(x)
		list = append(list, Metric{m.name, m.help, n.in(m.unit), !n.Known() && idle && !m.ofTime()})
	}
	for _, c := range [...]Class{ClassAll, ClassGen0, ClassGen1, ClassGen2, ClassBackground, ClassNone} {
		for _, m := range classMetrics {
			if c != ClassNone || m.ofPauses() {
				n := m.number(&x.Classes[c])
				nothing := !n.Known() && x.nothing(c)
				list = append(list, Metric{m.of(c), m.about(c), n.in(m.unit), nothing})
			}
		}
	}
	return list
}

// nothing reports whether there was certainly nothing of a class during the session. Some logs may
// omit pauses without a collection.
func (x *Summary) nothing(c Class) bool {
	recorded := !x.Sparse || c != ClassAll && c != ClassNone
	return recorded && x.Duration.Known() && x.Classes[c].Count == 0
}

func count(n uint64) Number { return known(float64(n)) }

// reportedBy returns how many collections report a Quantity, if any do.
func reportedBy(q *Quantity) Number {
	if q.Count == 0 {
		return q.Total
	}
	return count(q.Count)
}

// notHeld is why 0 is unknown in a log that may omit what is counted.
const notHeld = "logs of this format may omit it"

// SparseCount returns a count of the Summary as a number: a Sparse log may omit what is counted, so
// that 0 is unknown.
func (x *Summary) SparseCount(n uint64) Number { return sparseCount(n, x.Sparse) }

// sparseCount returns a count of what a sparse log may omit.
func sparseCount(n uint64, sparse bool) Number {
	if n == 0 && sparse {
		return unknown(notHeld)
	}
	return count(n)
}

// missed returns the number of collections that were not seen at all.
func (x *Summary) missed() Number {
	switch {
	case x.MissedInexact:
		return unknown("the collection numbers start over: how many are missing there is unknown")
	case x.CollectionsOnly && x.Missed > 0:
		return unknown(noNumbers(x.Missed))
	}
	return x.SparseCount(x.Missed)
}

// noNumbers returns why the meaning of missing numbers is unknown.
func noNumbers(n uint64) string {
	return plural(n, "collection number") + are(n) +
		" missing: logs of this format do not report the numbers that no-GC regions used"
}

// unobserved returns how long nothing was observed.
func (x *Summary) unobserved() Number {
	if x.CollectionsOnly && x.Missed > 0 {
		return x.missed()
	}
	return x.SparseCount(uint64(x.Unobserved))
}

// A metric is a number of the whole Summary, or of each class. For classes the name and the help
// are those for all classes together.
type metric[T Summary | Rollup] struct {
	name, unit, help string
	number           func(*T) Number
}

func newMetric[T Summary | Rollup](name, unit, help string, number func(*T) Number) metric[T] {
	return metric[T]{name, unit, help, number}
}

// ofTime reports whether it is about time that also passes without collections.
func (m *metric[T]) ofTime() bool {
	return m.name == "duration" || strings.HasPrefix(m.name, "pause.share") || strings.HasPrefix(m.name, "mutator.")
}

func sessionMetrics() []metric[Summary] {
	list := []metric[Summary]{
		{"duration", "ns", "total duration of the sessions", func(x *Summary) Number { return x.Duration }},
		newMetric("duration.unobserved", "ns",
			"time without a session or with missing records, which durations, shares and rates exclude",
			(*Summary).unobserved),
		newMetric("pause.share", "%", "share of the time that the program was paused",
			func(x *Summary) Number { return x.Share }),
	}
	for i, length := range [...]string{"10s", "1m", "5m"} {
		list = append(list, metric[Summary]{
			"pause.share." + length, "%", "share of the worst " + length + " that the program was paused",
			func(x *Summary) Number { return x.Worst[i].Percent },
		})
	}
	for i, length := range [...]string{"10ms", "50ms", "100ms", "1s", "10s"} {
		list = append(list, metric[Summary]{
			"mutator." + length, "%",
			"share of the worst " + length + " that the program ran (minimum mutator utilization)",
			func(x *Summary) Number { return x.Utilization[i].Percent },
		})
	}
	list = append(list, spread("suspend", "time until all threads were suspended",
		func(x *Summary) *Distribution { return &x.Suspend })...)
	list = append(list,
		spread("between", "time from the start of a collection's first pause to the start of the next collection's",
			func(x *Summary) *Distribution { return &x.Between })...)
	return append(list, []metric[Summary]{
		newMetric("heap.max", "bytes", "largest heap size observed, before or after a collection",
			func(x *Summary) Number { return x.Heap.Max }),
		{"heap.last", "bytes", "size after the latest collection", func(x *Summary) Number { return x.Heap.Last }},
		newMetric("heap.last.gen2", "bytes", "size after the latest gen2 collection, including background ones",
			func(x *Summary) Number { return x.Heap.LastGen2 }),
		newMetric("heap.after.gen2.mean", "bytes", "size of the heap after a gen2 collection, including "+
			"background ones, mean", func(x *Summary) Number { return x.Heap.MeanGen2 }),
		newMetric("heap.committed", "bytes", "memory committed for the heap, latest",
			func(x *Summary) Number { return x.Heap.Committed }),
		newMetric("heap.committed.max", "bytes", "memory committed for the heap, maximum",
			func(x *Summary) Number { return x.Heap.MaxCommitted }),
		newMetric("memory.rss", "bytes", "resident memory of the process, latest",
			func(x *Summary) Number { return x.Memory.Resident }),
		newMetric("memory.rss.max", "bytes", "resident memory of the process, maximum",
			func(x *Summary) Number { return x.Memory.MaxResident }),
		newMetric("memory.other", "bytes", "resident memory beyond what the GC had committed, latest: native memory, "+
			"stacks, code", func(x *Summary) Number { return x.Memory.Other }),
		newMetric("memory.cgroup", "bytes", "memory of the control group including its page cache, latest",
			func(x *Summary) Number { return x.Memory.Cgroup }),
		newMetric("memory.cgroup.max", "bytes", "memory of the control group including its page cache, maximum",
			func(x *Summary) Number { return x.Memory.MaxCgroup }),
		newMetric("memory.cgroup.limit", "bytes", "memory limit of the control group, latest",
			func(x *Summary) Number { return x.Memory.CgroupLimit }),
		newMetric("memory.cgroup.share", "%", "memory of the control group as a share of its limit, latest",
			func(x *Summary) Number { return x.Memory.CgroupShare }),
		newMetric("alloc.rate", "bytes/s",
			"allocated per second between the collections that report it, pauses included",
			func(x *Summary) Number { return x.AllocationRate }),
		{"gen1.per.gen0", "", "gen1 collections per gen0 collection", func(x *Summary) Number { return x.Gen1PerGen0 }},
		newMetric("gen2.per.gen1", "", "gen2 collections, including background ones, per gen1 collection",
			func(x *Summary) Number { return x.Gen2PerGen1 }),
		{"gen2.count", "", "gen2 collections, including background ones", func(x *Summary) Number {
			return count(x.Classes[ClassGen2].Count + x.Classes[ClassBackground].Count)
		}},
		newMetric("gen2.blocking.share", "%", "share of the gen2 collections that were blocking",
			func(x *Summary) Number { return x.BlockingGen2 }),
		newMetric("gen2.since", "ns", "time since the latest gen2 collection ended",
			func(x *Summary) Number { return x.SinceLastGen2 }),
		newMetric("finalized.count", "", "objects whose finalizers ran, up to the latest collection",
			func(x *Summary) Number { return x.Finalized }),
		{"gc.missed", "", "collections of which nothing was recorded", (*Summary).missed},
		{"events.lost", "", "events that the runtime dropped", func(x *Summary) Number {
			if x.LostInexact {
				return unknown("events were lost, and the runtime does not report how many")
			}
			return x.SparseCount(x.LostEvents)
		}},
		newMetric("records.dropped", "", "records that were lost because an output was too slow or failed",
			func(x *Summary) Number { return x.SparseCount(x.Dropped) }),
	}...)
}

// spread returns the metrics of a Distribution.
func spread[T Summary | Rollup](name, help string, of func(*T) *Distribution) (list []metric[T]) {
	for _, m := range [...]struct {
		name, help string
		number     func(*Distribution) Number
	}{
		{"mean", "mean", func(d *Distribution) Number { return d.Mean }},
		{"p50", "median", func(d *Distribution) Number { return d.P50 }},
		{"p90", "90th percentile", func(d *Distribution) Number { return d.P90 }},
		{"p95", "95th percentile", func(d *Distribution) Number { return d.P95 }},
		{"p99", "99th percentile", func(d *Distribution) Number { return d.P99 }},
		{"p99.9", "99.9th percentile", func(d *Distribution) Number { return d.P999 }},
		{"max", "longest", func(d *Distribution) Number { return d.Max }},
	} {
		list = append(list,
			metric[T]{name + "." + m.name, "ns", help + ", " + m.help, func(x *T) Number { return m.number(of(x)) }})
	}
	return list
}

// ofPauses reports whether pauses without a collection have it too.
func (m *metric[T]) ofPauses() bool { return strings.HasPrefix(m.name, "pause.") }

// of returns the metric's name for a class: with the class in front of it, or in place of a leading
// "gc".
func (m *metric[T]) of(c Class) string {
	if c == ClassAll {
		return m.name
	}
	return c.String() + "." + strings.TrimPrefix(m.name, "gc.")
}

// about returns the help for a class.
func (m *metric[T]) about(c Class) string {
	if c == ClassAll {
		return m.help
	}
	return m.help + " (" + c.Describe() + ")"
}

// incomplete returns how many collections are incomplete.
func (r *Rollup) incomplete() Number {
	return sparseCount(r.Incomplete, r.sparse)
}

// PauseCount returns the number of pauses.
func (r *Rollup) PauseCount() Number {
	if !r.Pauses.Total.Known() {
		return r.Pauses.Total
	}
	return count(r.Pauses.Count)
}

var classMetrics = slices.Concat([]metric[Rollup]{
	{"gc.count", "", "collections", func(r *Rollup) Number { return count(r.Count) }},
	{"gc.rate", "1/min", "collections per minute", func(r *Rollup) Number { return r.PerMinute }},
	newMetric("gc.induced", "", "induced collections, without those for heap snapshots",
		func(r *Rollup) Number { return r.Induced }),
	{"gc.incomplete", "", "incomplete collections: some of their events were not recorded", (*Rollup).incomplete},
	newMetric("gc.lossy", "", "collections during which events were lost",
		func(r *Rollup) Number { return sparseCount(r.Lossy, r.sparse) }),
	newMetric("gc.foreground", "", "collections that ran during a background one",
		func(r *Rollup) Number { return sparseCount(r.Foreground, r.sparse) }),
	newMetric("gc.demoted", "", "collections that were started as background ones but ran as blocking ones",
		func(r *Rollup) Number { return sparseCount(r.Demoted, r.sparse) }),
	newMetric("gc.inside", "", "collections that ran in the first suspension of a background one",
		func(r *Rollup) Number { return sparseCount(r.InsideBGCStart, r.sparse) }),
	newMetric("gc.provisional", "", "full collections of provisional mode",
		func(r *Rollup) Number { return sparseCount(r.Provisional, r.sparse) }),
	newMetric("gc.heapdump", "", "collections for heap snapshots, whose pause includes a walk of the heap",
		func(r *Rollup) Number { return sparseCount(r.HeapDumps, r.sparse) }),
	{"gc.compacting", "", "compacting collections", func(r *Rollup) Number { return r.Compacting }},
	{"pause.count", "", "number of pauses", (*Rollup).PauseCount},
	{"pause.total", "ns", "sum of the pauses", func(r *Rollup) Number { return r.Pauses.Total }},
}, spread("pause", "pauses", func(r *Rollup) *Distribution { return &r.Pauses }), []metric[Rollup]{
	newMetric("collection.pause.mean", "ns", "sum of the pauses of one collection, mean",
		func(r *Rollup) Number { return r.Pause.Mean }),
	newMetric("collection.pause.max", "ns", "sum of the pauses of one collection, maximum",
		func(r *Rollup) Number { return r.Pause.Max }),
	newMetric("collection.suspend.max", "ns", "time until all threads were suspended for one collection, maximum",
		func(r *Rollup) Number { return r.Suspend.Max }),
	newMetric("heap.peak.mean", "bytes", "size of the heap before or during a collection, mean",
		func(r *Rollup) Number { return r.Peak.Mean }),
	newMetric("heap.peak.max", "bytes", "size of the heap before or during a collection, maximum",
		func(r *Rollup) Number { return r.Peak.Max }),
	newMetric("heap.after.mean", "bytes", "size of the heap after a collection, mean",
		func(r *Rollup) Number { return r.After.Mean }),
	newMetric("heap.after.max", "bytes", "size of the heap after a collection, maximum",
		func(r *Rollup) Number { return r.After.Max }),
	{"promoted.total", "bytes", "promoted bytes", func(r *Rollup) Number { return r.Promoted.Total }},
	newMetric("promoted.mean", "bytes", "bytes promoted by one collection, mean",
		func(r *Rollup) Number { return r.Promoted.Mean }),
	newMetric("promoted.max", "bytes", "bytes promoted by one collection, maximum",
		func(r *Rollup) Number { return r.Promoted.Max }),
	newMetric("alloc.total", "bytes", "allocated before the collections that report it",
		func(r *Rollup) Number { return r.Allocated.Total }),
	newMetric("alloc.rate.max", "bytes/s", "highest allocation rate between two collections, while the program ran",
		func(r *Rollup) Number { return r.AllocationRate.Max }),
	newMetric("pinned.mean", "", "pinned objects found by one collection, mean",
		func(r *Rollup) Number { return r.PinnedObjects.Mean }),
	newMetric("pinned.max", "", "pinned objects found by one collection, maximum",
		func(r *Rollup) Number { return r.PinnedObjects.Max }),
	newMetric("pinned.share", "%", "share of the surviving bytes that were pinned",
		func(r *Rollup) Number { return r.PinnedShare }),
	newMetric("pinned.seen.gcs", "", "collections that reported pinned objects individually",
		func(r *Rollup) Number { return reportedBy(&r.PinsSeen) }),
	newMetric("pinned.seen.bytes", "bytes", "pinned objects that were reported individually",
		func(r *Rollup) Number { return r.PinsSeen.Total }),
	newMetric("pinned.plugs.gcs", "", "collections that reported pieces of memory that could not be moved",
		func(r *Rollup) Number { return r.PlugsReported }),
	newMetric("pinned.plugs.bytes", "bytes", "pieces of memory that could not be moved",
		func(r *Rollup) Number { return r.PinPlugs.Total }),
	newMetric("pinned.user.share", "%", "share of pinned objects in the memory that could not be moved, where both "+
		"were reported", func(r *Rollup) Number { return r.UserPinned }),
	newMetric("finalization.mean", "", "objects retained for finalization by one collection, mean",
		func(r *Rollup) Number { return r.Finalization.Mean }),
	newMetric("finalization.max", "", "objects retained for finalization by one collection, maximum",
		func(r *Rollup) Number { return r.Finalization.Max }),
	newMetric("finalization.bytes.max", "bytes", "bytes retained for finalization by one collection, maximum",
		func(r *Rollup) Number { return r.FinalizationBytes.Max }),
})
