package formats

import (
	"strconv"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/parse/clr"
)

// What the two JDK formats share: the mapping of .NET's collections to those of ParNew and CMS, the
// only Java collectors with the same structure (docs/formats.md):
//
//	gen0, gen1, also foreground   young collection
//	blocking gen2                 full collection
//	background gen2               initial mark, concurrent mark, remark, concurrent sweep
//	gen0 + gen1                   young generation
//	gen2 + LOH + POH              old generation

// A heapKiB is the heap at one moment in KiB. Its sums are computed from rounded parts, because
// readers subtract them from each other.
type heapKiB struct {
	gen [gclog.Generations]int64
}

func (h heapKiB) young() int64 { return h.gen[gclog.Gen0] + h.gen[gclog.Gen1] }
func (h heapKiB) old() int64   { return h.gen[gclog.Gen2] + h.uoh() }
func (h heapKiB) uoh() int64   { return h.gen[gclog.LOH] + h.gen[gclog.POH] }
func (h heapKiB) total() int64 { return h.young() + h.old() }

// capacity is what readers call total or allocated: for the heap, and split between the
// generations, each part at least as large as its contents.
type capacity struct{ young, old, heap int64 }

// A jdk is the state of a JDK formatter.
type jdk struct {
	clock     *clock
	process   gclog.Process
	dotnet    bool // .NET's reasons instead of Java's causes
	last      heapKiB
	known     bool  // last is known
	committed int64 // KiB, last known
	heaps     int   // last known

	background bool        // a background collection is open
	phase      gclog.Phase // the open phase, if inPhase
	phaseGC    uint32      // number of its collection
	inPhase    bool        // a phase is open
	abandoned  bool        // its collection was given up: it ends before the next lines
	before     gclog.Phase // the phase that was open before the current group
	inBefore   bool        // before is set
	newest     int64       // latest time in a line
}

func newJDK(o *Options) jdk {
	return jdk{
		clock: newClock(o.Process.Sync, o.Process.UptimeAtSync), process: o.Process,
		dotnet: o.DotnetCauses, heaps: o.Process.HeapCount,
	}
}

// hold keeps a background collection in one file, because readers combine its parts.
func (j *jdk) hold() bool { return j.background }

func (j *jdk) save() { j.before, j.inBefore = j.phase, j.inPhase }

// A jdkPause is a pause as both formats show it.
type jdkPause struct {
	*gclog.Pause
	n             uint32
	kind          jdkKind
	cause         string
	before, after heapKiB
	cap           capacity
}

type jdkKind uint8

const (
	jdkYoung jdkKind = iota
	jdkFull
	jdkInitialMark
	jdkRemark
)

// mapPause maps a pause, and tracks the state of the heap. ok is false if the pause belongs to no
// collection: such pauses have no line in these formats. A background collection that was running
// when the session started may not have a number yet: it is shown with 0, which the runtime never
// assigns.
func (j *jdk) mapPause(p *gclog.Pause) (x jdkPause, ok bool) {
	d := p.GC
	if d == nil {
		return x, false
	}
	x = jdkPause{Pause: p, n: d.Number}
	if n := d.HeapCount(); n > 0 {
		j.heaps = n
	}
	switch p.Kind {
	case gclog.PauseInitial, gclog.PauseFinal:
		x.kind = jdkInitialMark
		if p.Kind == gclog.PauseFinal {
			x.kind = jdkRemark
		}
		j.background = true
		if d.Known.Has(gclog.GroupCommittedBefore) {
			j.committed = max(j.committed, kib(d.CommittedBefore))
		}
		x.before = j.last
		x.after = j.last
	default:
		x.kind = jdkYoung
		if d.Generation >= gclog.Gen2 {
			x.kind = jdkFull
		}
		x.cause = j.cause(d)
		x.before, x.after = j.sizes(d)
		j.last, j.known = x.after, true
		switch {
		case d.Known.Has(gclog.GroupCommittedAfter):
			j.committed = kib(d.CommittedAfter)
		case d.Known.Has(gclog.GroupCommittedBefore):
			j.committed = kib(d.CommittedBefore)
		}
	}
	x.cap = shareOut(x.before, x.after, j.committed)
	return x, true
}

// sizes returns the heap before and after a blocking collection. Unknown sizes are the last known
// ones.
func (j *jdk) sizes(d *gclog.GCDetails) (before, after heapKiB) {
	before, after = j.last, j.last
	for g := range d.Generations {
		if d.Known.Has(gclog.GroupBefore) {
			before.gen[g] = kib(d.Generations[g].Before)
		}
		if d.Known.Has(gclog.GroupAfter) {
			after.gen[g] = kib(d.Generations[g].After)
		} else if d.Known.Has(gclog.GroupBefore) {
			after.gen[g] = before.gen[g]
		}
	}
	return before, after
}

// learn updates the state of the heap at the end of a record that is not a pause.
func (j *jdk) learn(d *gclog.GCDetails) {
	if n := d.HeapCount(); n > 0 {
		j.heaps = n
	}
	if !d.Known.Has(gclog.GroupAfter) {
		return
	}
	if d.Kind == gclog.KindBackground || d.Flaws&gclog.FlawNoStart != 0 || !j.known {
		for g := range d.Generations {
			j.last.gen[g] = kib(d.Generations[g].After)
		}
		j.known = true
	}
}

// shareOut splits the committed memory between the generations: each gets at least what was in it
// before or after, and young gets a third of the total if that fits.
func shareOut(before, after heapKiB, committed int64) (c capacity) {
	young, old := max(before.young(), after.young()), max(before.old(), after.old())
	c.heap = max(committed, before.total(), after.total(), young+old)
	c.young = max(young, min(c.heap/3, c.heap-old))
	c.old = c.heap - c.young
	return c
}

// cause returns the cause of a collection in words that all readers know, or the runtime's own
// reason, of which some readers accept only letters.
func (j *jdk) cause(d *gclog.GCDetails) string {
	if j.dotnet {
		if !d.Known.Has(gclog.GroupReason) || !d.Reason.Known() {
			return "Other"
		}
		return d.Reason.String()
	}
	switch {
	case d.Known.Has(gclog.GroupReason) && d.Reason.Induced():
		return "System.gc()"
	case d.Generation >= gclog.Gen2 && lowMemory(d.Reason):
		return "Last ditch collection"
	}
	return "Allocation Failure"
}

func lowMemory(r clr.Reason) bool {
	switch r {
	case clr.ReasonLowMemory, clr.ReasonLowMemoryHost, clr.ReasonLowMemoryHostBlocking,
		clr.ReasonOutOfSpaceSOH, clr.ReasonOutOfSpaceLOH:
		return true
	}
	return false
}

// beginPhase and endPhase track which concurrent phase is open. They return false for a phase that
// has no lines.
func (j *jdk) beginPhase(p *gclog.Phase) bool {
	if !p.GC.Known.Has(gclog.GroupNumber) {
		return false
	}
	j.background, j.inPhase, j.abandoned = true, true, false
	j.phase, j.phaseGC = *p, p.GC.Number
	return true
}

func (j *jdk) endPhase(p *gclog.Phase) bool {
	if !j.inPhase || !p.GC.Known.Has(gclog.GroupNumber) || p.Kind != j.phase.Kind || p.GC.Number != j.phaseGC {
		return false
	}
	j.inPhase, j.abandoned = false, false
	return true
}

// abandon records that the open phase has no end of its own, because its collection was given up.
// It is ended before the next lines, when their time is known.
func (j *jdk) abandon() { j.abandoned, j.background = true, true }

// closePhase ends the open phase at the time at, because the log ends there or its collection was
// given up: readers wait for its end.
func (j *jdk) closePhase(at int64) (p gclog.Phase, n uint32, ok bool) {
	if !j.inPhase {
		return p, 0, false
	}
	if j.abandoned {
		j.abandoned, j.background = false, false
	}
	j.inPhase = false
	p = j.phase
	p.End, p.Time = true, max(at, p.Start)
	return p, j.phaseGC, true
}

// appendSizes appends two sizes in KiB and the capacity: 28672K->3072K(73728K).
func appendSizes(dst []byte, before, after, cap int64) []byte {
	dst = strconv.AppendInt(dst, before, 10)
	dst = append(dst, "K->"...)
	return appendSize(dst, after, cap)
}

// appendSize appends 3072K(73728K).
func appendSize(dst []byte, size, cap int64) []byte {
	dst = strconv.AppendInt(dst, size, 10)
	dst = append(dst, "K("...)
	dst = strconv.AppendInt(dst, cap, 10)
	return append(dst, "K)"...)
}

// appendRuntime appends ".NET 10.0.14, process 4711 MyApp".
func (j *jdk) appendRuntime(dst []byte) []byte {
	dst = append(dst, ".NET"...)
	if v := j.process.RuntimeVersion; v != "" {
		dst = append(dst, ' ')
		dst = appendPlain(dst, v)
	}
	dst = append(dst, ", process "...)
	dst = strconv.AppendInt(dst, j.process.ID, 10)
	if n := j.process.Name; n != "" {
		dst = append(dst, ' ')
		dst = appendPlain(dst, n[:min(len(n), maxForeign)])
	}
	return dst
}
