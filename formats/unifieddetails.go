package formats

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/parse/clr"
)

// The lines of the unified format that are written only if -Xlog selects them. All are of the kind
// that every reader of Java's logs skips: nine blanks, a first letter that garbagecat drops, and
// "workers" at the end.

// A pairs writes such a line: its title and its named values.
type pairs struct {
	u     *unified
	whole []byte // without this line
	b     []byte
	comma bool
}

// pairs starts a line about the process, gcPairs one about collection n.
func (u *unified) pairs(dst []byte, at int64, set TagSet, level Level, title string) pairs {
	b := u.stamp(dst, at, set, level)
	return u.titled(dst, append(b, "        "...), title)
}

func (u *unified) gcPairs(dst []byte, at int64, set TagSet, level Level, n uint32, title string) pairs {
	dst = u.opening(dst)
	return u.titled(dst, u.detail(dst, at, set, level, n), title)
}

func (u *unified) titled(whole, b []byte, title string) pairs {
	b = append(b, title...)
	return pairs{u: u, whole: whole, b: append(b, ' ')}
}

// end returns the line, if it has any values.
func (f *pairs) end() []byte {
	if !f.comma {
		return f.whole
	}
	return f.u.workers(f.b)
}

func (f *pairs) name(name string) {
	if f.comma {
		f.b = append(f.b, ", "...)
	}
	f.comma = true
	f.b = append(f.b, name...)
	f.b = append(f.b, '=')
}

func (f *pairs) uint(name string, v uint64, known bool) {
	if known {
		f.name(name)
		f.b = strconv.AppendUint(f.b, v, 10)
	}
}

func (f *pairs) kib(name string, bytes uint64, known bool) {
	if known {
		f.name(name)
		f.b = appendKiB(f.b, bytes)
	}
}

func appendKiB(dst []byte, bytes uint64) []byte {
	dst = strconv.AppendInt(dst, kib(bytes), 10)
	return append(dst, 'K')
}

func (f *pairs) millis(name string, ns int64, known bool) {
	if known {
		f.name(name)
		f.b = appendMillis(f.b, ns)
		f.b = append(f.b, "ms"...)
	}
}

func (f *pairs) generation(name string, g int) {
	f.name(name)
	f.b = append(f.b, gclog.GenerationName(g)...)
}

// details appends the details of a collection besides its sizes.
func (u *unified) details(dst []byte, at int64, n uint32, d *gclog.GCDetails) []byte {
	if u.on(TagErgo, LevelInfo) {
		dst = u.ergo(dst, at, n, d)
	}
	if u.on(TagAlloc, LevelInfo) {
		dst = u.alloc(dst, at, n, d)
	}
	if u.on(TagRef, LevelInfo) {
		dst = u.ref(dst, at, n, d)
	}
	if u.on(TagPhases, LevelInfo) {
		dst = u.timing(dst, at, n, d)
	}
	if u.on(TagPhases, LevelDebug) {
		dst = u.roots(dst, at, n, d)
	}
	if u.on(TagHeap, LevelDebug) {
		dst = u.eachHeap(dst, at, n, d)
	}
	return dst
}

// ergo appends why this generation was condemned, and what it may allocate until its next
// collection.
func (u *unified) ergo(dst []byte, at int64, n uint32, d *gclog.GCDetails) []byte {
	f := u.gcPairs(dst, at, TagErgo, LevelInfo, n, "Condemned:")
	if steps, conditions, known := d.Condemned(); known {
		f.generation("initial", steps.Initial())
		f.generation("final", steps.Final())
		f.generation("budget_exceeded", steps.BudgetExceeded())
		f.generation("time_tuning", steps.TimeTuning())
		if conditions != 0 {
			f.name("reasons")
			u.names = conditions.Names(u.names[:0])
			f.b = appendNames(f.b, u.names)
		}
	}
	for g := range d.GenerationCount {
		f.kib(budgetName[g], d.Generations[g].Budget, d.Generations[g].Budget > 0 && d.Collected(g))
	}
	f.uint("memory_load_percent", uint64(d.Global.MemoryLoad), d.Global.MemoryLoad > 0)
	return f.end()
}

// appendNames appends names as one value.
func appendNames(dst []byte, names []string) []byte {
	for i, name := range names {
		if i > 0 {
			dst = append(dst, '+')
		}
		dst = append(dst, name...)
	}
	return dst
}

var budgetName = [gclog.Generations]string{"gen0_budget", "gen1_budget", "gen2_budget", "loh_budget", "poh_budget"}

// alloc appends what the program allocated since the previous collection.
func (u *unified) alloc(dst []byte, at int64, n uint32, d *gclog.GCDetails) []byte {
	f := u.gcPairs(dst, at, TagAlloc, LevelInfo, n, "Program:")
	f.kib("allocated", d.Allocated(), d.HasAllocated)
	for _, g := range [...]int{gclog.Gen0, gclog.LOH, gclog.POH} {
		f.kib(gclog.GenerationName(g), d.Generations[g].Allocated, d.HasGenerationAllocated && g < d.GenerationCount)
	}
	f.kib("rate_per_second", uint64(d.AllocationRate), d.AllocationRate >= 1)
	f.millis("since_last", d.SinceLast, d.HasSinceLast)
	for i, name := range [...]string{"ticks_small", "ticks_large", "ticks_pinned"} {
		f.kib(name, d.TickAllocated[i], d.HasTicks)
	}
	return f.end()
}

// ref appends what keeps objects alive besides the program's own references.
func (u *unified) ref(dst []byte, at int64, n uint32, d *gclog.GCDetails) []byte {
	f := u.gcPairs(dst, at, TagRef, LevelInfo, n, "References:")
	pinned, known := d.Pinned()
	f.uint("pinned", uint64(pinned), known)
	if d.HasSizesAfter {
		f.uint("handles", uint64(max(0, d.Handles)), d.Handles >= 0)
		f.uint("sync_blocks", uint64(d.SyncBlocks), d.SyncBlocks != math.MaxUint32)
		f.uint("finalization", d.FinalizationCount, d.FinalizationCount != math.MaxUint64)
		f.kib("finalization_size", d.FinalizationSize, d.FinalizationSize != math.MaxUint64)
	}
	f.uint("pinned_plugs", d.PinPlugs, d.PinPlugs > 0)
	return f.end()
}

// timing appends where the collection's time went.
func (u *unified) timing(dst []byte, at int64, n uint32, d *gclog.GCDetails) []byte {
	f := u.gcPairs(dst, at, TagPhases, LevelInfo, n, "Phases:")
	for i := range d.TimingCount {
		f.millis(timingName(d, i), d.Timing[i], true)
	}
	return f.end()
}

// roots appends what was marked from which roots, for the slowest heap.
func (u *unified) roots(dst []byte, at int64, n uint32, d *gclog.GCDetails) []byte {
	f := u.gcPairs(dst, at, TagPhases, LevelDebug, n, "Roots:")
	for t := range clr.MarkTypes {
		if m := d.Mark(t); m.Known {
			f.millis(markNames[t], m.Longest, true)
			f.b = append(f.b, '/')
			f.b = appendKiB(f.b, m.Promoted)
		}
	}
	return f.end()
}

// eachHeap appends the generations of each heap of server GC, which report in any order.
func (u *unified) eachHeap(dst []byte, at int64, n uint32, d *gclog.GCDetails) []byte {
	u.heapOrder = u.heapOrder[:0]
	for i := range d.Heaps {
		if d.Heaps[i].HasHistory {
			u.heapOrder = append(u.heapOrder, i)
		}
	}
	slices.SortFunc(u.heapOrder, func(a, b int) int { return cmp.Compare(d.Heaps[a].Heap, d.Heaps[b].Heap) })
	for _, i := range u.heapOrder {
		h := &d.Heaps[i]
		f := u.gcPairs(dst, at, TagHeap, LevelDebug, n, "Heap")
		f.b = strconv.AppendUint(f.b, uint64(h.Heap), 10)
		f.b = append(f.b, ": "...)
		for g := range h.History.Generations {
			x := &h.History.Generation[g]
			f.kib(gclog.GenerationName(g), x.SizeBefore, true)
			f.b = append(f.b, "->"...)
			f.b = appendKiB(f.b, x.SizeAfter)
		}
		dst = f.end()
	}
	return dst
}

// suspension appends a line of its own, in Java's words, for every suspension, whatever its reason.
func (u *unified) suspension(dst []byte, s *gclog.Suspension) []byte {
	if !u.on(TagSafepoint, LevelInfo) {
		return dst
	}
	u.thread = s.Thread
	dst = u.stamp(u.opening(dst), s.Start+s.Duration, TagSafepoint, LevelInfo)
	dst = append(dst, "Total time for which application threads were stopped: "...)
	dst = appendFixed(dst, s.Duration, 9, 7)
	if s.Suspend >= 0 {
		dst = append(dst, " seconds, Stopping threads took: "...)
		dst = appendFixed(dst, s.Suspend, 9, 7)
	}
	dst = append(dst, " seconds, reason: "...)
	dst = append(dst, s.Reason.String()...)
	return append(dst, '\n')
}
