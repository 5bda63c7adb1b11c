package formats

import (
	"encoding/hex"
	"math"
	"strconv"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/parse/clr"
)

// The fields of a collection's JSON record.

func (j *jsonFormat) gc(dst []byte, d *gclog.GCDetails, lost uint64) []byte {
	at := d.PauseStart()
	number := uint64(d.Number)
	if !d.HasNumber {
		number = uint64(d.StartTicks)
	}
	o := j.begin(dst, at, !d.Complete || d.PauseMax() >= j.longPause(), func(b []byte) []byte { return appendMessage(b, d) }, "gc", number)
	j.event(&o, "event", "gc")
	started := d.Flaws&gclog.FlawNoStart == 0
	if started {
		j.time(&o, "start", d.Start)
	}
	if d.HasEnd {
		j.time(&o, "end", d.End)
	}
	if started && d.HasEnd {
		o.int("duration", d.Duration())
	}
	if d.HasNumber {
		o.uint("sequence", uint64(d.Number))
	}
	o.close()
	j.openProcess(&o, at)
	appendMemory(&o, &d.Memory)
	j.closeProcess(&o)
	o.open("gc")
	j.identity(&o, d)
	j.pauses(&o, d)
	j.sizes(&o, d)
	j.objects(&o, d)
	j.why(&o, d)
	j.times(&o, d)
	j.background(&o, d)
	j.largeObjects(&o, d)
	j.datas(&o, d)
	j.dynamic(&o, d)
	if d.Memory.Known() && d.Memory.At != 0 {
		j.time(&o, "memory_read", d.Memory.At)
	}
	o.bool("complete", d.Complete)
	if d.Flaws != 0 {
		j.names = d.Flaws.Names(j.names[:0])
		o.strings("flaws", j.names)
	}
	if lost > 0 || d.LostEvents > 0 && d.Flaws&gclog.FlawLostEvents != 0 {
		o.open("lost_events")
		o.uint("count", lost)
		if d.LostEvents != lost && d.Flaws&gclog.FlawLostEvents != 0 {
			o.uint("within", d.LostEvents)
		}
		o.close()
	}
	if d.FromLog {
		o.bool("from_log", true)
	}
	o.close()
	o.close()
	return j.rest(&o)
}

// appendMemory appends the memory of the process and its control group.
func appendMemory(o *object, m *gclog.Memory) {
	if m.Resident > 0 {
		o.open("memory")
		o.bytes("rss", m.Resident)
		o.close()
	}
	if m.Cgroup|m.CgroupLimit == 0 {
		return
	}
	o.open("cgroup")
	o.open("memory")
	if m.Cgroup > 0 {
		o.bytes("usage", m.Cgroup)
	}
	if m.CgroupLimit > 0 {
		o.bytes("limit", m.CgroupLimit)
	}
	o.close()
	o.close()
}

// appendMessage appends one human-readable line, of words that need no escaping.
func appendMessage(b []byte, d *gclog.GCDetails) []byte {
	b = append(b, "GC"...)
	if d.HasNumber {
		b = append(b, ' ')
		b = strconv.AppendUint(b, uint64(d.Number), 10)
	}
	b = append(b, " gen"...)
	b = strconv.AppendInt(b, int64(d.Generation), 10)
	if d.KindKnown() {
		b = append(b, ' ')
		b = append(b, d.Kind.String()...)
	}
	if d.HasReason {
		b = append(b, " ("...)
		b = append(b, d.Reason.String()...)
		b = append(b, ')')
	}
	if len(d.Pauses) > 0 {
		b = append(b, ": pause "...)
		b = appendMillis(b, d.Pause())
		b = append(b, " ms"...)
	}
	if d.HasBefore && d.HasSizesAfter {
		b = append(b, ", heap "...)
		b = appendBytes(b, d.SizeBefore())
		b = append(b, " -> "...)
		b = appendBytes(b, d.SizeAfter())
	}
	return b
}

func (j *jsonFormat) identity(o *object, d *gclog.GCDetails) {
	if d.HasNumber {
		o.uint("number", uint64(d.Number))
	}
	o.int("generation", int64(d.Generation))
	o.text("type", d.Kind.String())
	if d.HasReason {
		o.text("reason", d.Reason.String())
		o.text("reason_group", reasonGroup(d.Reason))
	}
	if compacting, known := d.Compacting(); known {
		o.bool("compacting", compacting)
	}
	if d.DemotedBGC {
		o.bool("demoted_background", true)
	}
	if d.InsideBGCStart {
		o.bool("inside_background_start", true)
	}
	if d.Provisional {
		o.bool("provisional", true)
	}
	if d.HeapDump {
		o.bool("heap_dump", true)
	}
	j.flavour(o)
	if n := d.HeapCount(); n > 0 {
		o.int("heap_count", int64(n))
	}
	if d.HasGlobal {
		j.names = d.Global.Mechanisms.Names(j.names[:0])
		o.strings("mechanisms", j.names)
		if d.Global.HasMemoryLoad {
			o.text("pause_mode", d.Global.PauseMode.String())
		}
	}
}

func reasonGroup(r clr.Reason) string {
	switch {
	case r.Induced():
		return "induced"
	case lowMemory(r):
		return "low_memory"
	case r == clr.ReasonAllocSmall, r == clr.ReasonAllocLarge:
		return "allocation"
	}
	return "other"
}

func (j *jsonFormat) pauses(o *object, d *gclog.GCDetails) {
	if len(d.Pauses) > 0 {
		o.open("pause")
		o.ns("total", d.Pause())
		o.ns("max", d.PauseMax())
		o.int("count", int64(len(d.Pauses)))
		o.openList("parts")
		for i := range d.Pauses {
			p := &d.Pauses[i]
			o.openElement()
			j.time(o, "start", p.Start)
			o.nsIf("suspend", p.Suspend)
			o.nsIf("resume", p.Resume)
			o.int("ns", p.Duration)
			o.text("kind", p.Kind.String())
			o.close()
		}
		o.closeList()
		o.close()
		o.nsIf("suspend", d.Suspend())
	}
	if d.Suspended != 0 && d.Suspended != d.PauseStart() {
		j.time(o, "suspended", d.Suspended)
	}
	if d.HasTrigger {
		o.open("trigger")
		o.uint("thread", d.Trigger)
		if delay, known := d.TriggerDelay(); known {
			o.ns("delay", delay)
		}
		o.close()
	}
	if d.HasSinceLast {
		o.ns("since_last", d.SinceLast)
	}
	if d.HasAllocated {
		o.bytes("allocated", d.Allocated())
		if rate := d.AllocationRate; rate >= 1 {
			o.open("alloc_rate")
			o.ratio("bytes_per_s", rate)
			o.close()
		}
	}
	if d.Window > 0 && len(d.Pauses) > 0 {
		o.pct("paused", d.PausePercent()/100)
	}
	if d.Window > 0 {
		o.ns("window", d.Window)
	}
}

func (j *jsonFormat) sizes(o *object, d *gclog.GCDetails) {
	if d.HasBefore || d.HasSizesAfter {
		o.open("heap")
		if d.HasBefore {
			o.bytes("before", d.SizeBefore())
			if d.BeforeEstimated {
				o.bool("before_estimated", true)
			}
		}
		if d.HasSizesAfter {
			o.bytes("after", d.SizeAfter())
		}
		if d.Peak > 0 {
			o.bytes("peak", d.Peak)
		}
		if d.HasPromoted {
			o.bytes("promoted", d.PromotedBytes)
		}
		if d.HasFragmentation {
			o.bytes("fragmentation", d.Fragmentation())
		}
		if d.HasCommittedAfter {
			o.bytes("committed", d.CommittedAfter)
		} else if d.HasCommittedBefore {
			o.bytes("committed", d.CommittedBefore)
		}
		if d.HasCommittedBefore {
			o.bytes("committed_before", d.CommittedBefore)
		}
		o.close()
	}
	for g := range d.GenerationCount {
		j.generation(o, d, g)
	}
	if d.HasTicks {
		o.open("ticks")
		o.bytes("small", d.TickAllocated[0])
		o.bytes("large", d.TickAllocated[1])
		o.bytes("pinned", d.TickAllocated[2])
		o.close()
	}
}

func (j *jsonFormat) generation(o *object, d *gclog.GCDetails, g int) {
	if !d.HasBefore && !d.HasSizesAfter {
		return
	}
	x := &d.Generations[g]
	o.open(gclog.GenerationName(g))
	if d.HasBefore {
		o.bytes("before", x.Before)
	}
	if d.HasSizesAfter {
		o.bytes("after", x.After)
	}
	if d.HasObjects {
		o.bytes("obj_before", x.ObjectsBefore)
		o.bytes("obj_after", x.ObjectsAfter)
	}
	if d.HasHistory {
		o.bytes("free_before", x.FreeBefore)
		o.bytes("fragmentation", x.Fragmentation)
		o.bytes("in", x.In)
		if d.Collected(g) {
			o.bytes("survived", x.Survived)
			o.bytes("survived_pinned", x.SurvivedPins)
		}
	}
	if d.Collected(g) && x.Budget > 0 {
		o.bytes("budget", x.Budget)
	}
	if exceeded, known := d.BudgetExceeded(g); known && exceeded > 0 {
		o.bytes("budget_exceeded", exceeded)
	} else if known {
		o.bytes("budget_left", uint64(x.BudgetLeft))
	}
	if promoted, known := d.Promoted(g); known {
		o.bytes("promoted", promoted)
	}
	if pct, known := d.Survival(g); known {
		o.pct("survival", pct/100)
	}
	if d.HasGenerationAllocated && g != gclog.Gen1 && g != gclog.Gen2 {
		o.bytes("allocated", x.Allocated)
	}
	o.close()
}

func (j *jsonFormat) objects(o *object, d *gclog.GCDetails) {
	if d.Global.MemoryLoad > 0 {
		o.pct("memory_load", float64(d.Global.MemoryLoad)/100)
	}
	if p := &j.o.Process; p.HasLimits && p.Limits.HardLimit > 0 {
		o.bytes("hard_limit", p.Limits.HardLimit)
	}
	if d.HasSizesAfter {
		if n, known := d.Pinned(); known {
			o.count("pinned", uint64(n))
		}
		if d.Handles >= 0 {
			o.count("handles", uint64(d.Handles))
		}
		if d.SyncBlocks != math.MaxUint32 {
			o.count("sync_blocks", uint64(d.SyncBlocks))
		}
		if d.FinalizationCount != math.MaxUint64 {
			o.open("finalization")
			o.uint("count", d.FinalizationCount)
			if d.FinalizationSize != math.MaxUint64 {
				o.uint("bytes", d.FinalizationSize)
			}
			o.close()
		}
	}
	pair := func(name string, count, bytes uint64) {
		if count > 0 {
			o.open(name)
			o.uint("count", count)
			o.uint("bytes", bytes)
			o.close()
		}
	}
	pair("pinned_seen", d.PinEvents, d.PinEventBytes)
	pair("pinned_plugs", d.PinPlugs, d.PinPlugBytes)
	if percent, known := d.UserPinned(); known {
		o.pct("pinned_user", percent/100)
	}
	if f := &d.Finalizers; f.Known || f.Running > 0 {
		o.open("finalizers")
		if f.Known {
			o.uint("runs", uint64(f.Runs))
			o.uint("objects", f.Objects)
			if f.HasLongest {
				o.ns("longest", f.Longest)
			}
		}
		if f.Running > 0 {
			o.ns("running", f.Running)
		}
		o.close()
	}
	j.segments(o, &d.Segments)
}

func (j *jsonFormat) segments(o *object, s *gclog.SegmentDetails) {
	if !s.Known && !s.HasReserved {
		return
	}
	o.open("segments")
	if s.Known {
		o.open("created")
		o.uint("count", uint64(s.Created))
		o.uint("bytes", s.CreatedBytes)
		o.close()
		o.open("freed")
		o.uint("count", uint64(s.Freed))
		o.uint("bytes", s.FreedBytes)
		o.close()
	}
	if s.HasReserved {
		o.int("count", int64(s.Count))
		o.bytes("reserved", s.Reserved)
		o.bytes("used", s.Used)
	}
	o.close()
}

func (j *jsonFormat) why(o *object, d *gclog.GCDetails) {
	steps, conditions, known := d.Condemned()
	if !known {
		return
	}
	o.open("condemned")
	o.int("initial", int64(steps.Initial()))
	o.int("final", int64(steps.Final()))
	o.int("budget_exceeded", int64(steps.BudgetExceeded()))
	o.int("time_tuning", int64(steps.TimeTuning()))
	j.names = conditions.Names(j.names[:0])
	o.strings("reasons", j.names)
	if d.Global.HasCondemned && d.ReportedHeaps() > 0 {
		j.names = d.Global.Condemned.Names(j.names[:0])
		o.strings("for_all", j.names)
	}
	o.close()
	if percent, known := d.FreeListEfficiency(); known {
		o.share("free_list_efficiency", percent)
	}
	j.heaps(o, d)
}

// heaps writes the heaps' reasons, grouping heaps with the same ones: with many heaps most have the
// same.
func (j *jsonFormat) heaps(o *object, d *gclog.GCDetails) {
	same := func(a, b gclog.HeapReasons) bool {
		a.Heap = b.Heap
		return a == b
	}
	opened := false
next:
	for i := range d.ReportedHeaps() {
		r, told := d.HeapReasons(i)
		if !told {
			continue
		}
		for before := range i {
			if x, told := d.HeapReasons(before); told && same(x, r) {
				continue next
			}
		}
		if !opened {
			o.openList("heaps")
			opened = true
		}
		o.openElement()
		o.name("numbers")
		o.b = append(o.b, '[')
		for k := i; k < d.ReportedHeaps(); k++ {
			if x, told := d.HeapReasons(k); told && same(x, r) {
				if k > i {
					o.b = append(o.b, ',')
				}
				o.b = strconv.AppendUint(o.b, uint64(x.Heap), 10)
			}
		}
		o.b = append(o.b, ']')
		steps := r.CondemnedGenerations
		o.int("initial", int64(steps.Initial()))
		o.int("final", int64(steps.Final()))
		o.int("budget_exceeded", int64(steps.BudgetExceeded()))
		o.int("time_tuning", int64(steps.TimeTuning()))
		j.names = r.Condemned.Names(j.names[:0])
		o.strings("reasons", j.names)
		o.textIf("compact", r.Compact.CompactReason())
		o.textIf("expand", r.Expand.ExpandReason())
		o.close()
	}
	if opened {
		o.closeList()
	}
}

var markNames = [clr.MarkTypes]string{
	"stack", "finalizer_queue", "handles", "older_generations", "sized_ref", "overflow", "dependent_handles", "new_finalizable", "steal", "background_roots",
}

var timingNames = [clr.Times]string{"mark_sized_ref", "mark_roots", "mark_short_weak", "scan_finalization", "mark_long_weak", "plan", "sweep", "compact"}

// timingName returns the name of a timing: one index has two meanings.
func timingName(d *gclog.GCDetails, i int) string {
	if compacting, _ := d.Compacting(); compacting && i == clr.TimeRelocate {
		return "relocate"
	}
	return timingNames[i]
}

func (j *jsonFormat) times(o *object, d *gclog.GCDetails) {
	if d.TimingCount > 0 {
		o.open("timing")
		for i := range d.TimingCount {
			o.ns(timingName(d, i), d.Timing[i])
		}
		o.close()
	}
	if until := d.MarkedUntil(); until != 0 && d.TimingCount == 0 {
		j.time(o, "marked_until", until)
	}
	opened := false
	for t := range clr.MarkTypes {
		m := d.Mark(t)
		if !m.Known {
			continue
		}
		if !opened {
			o.open("mark")
			opened = true
		}
		o.open(markNames[t])
		o.ns("longest", m.Longest)
		o.bytes("promoted", m.Promoted)
		if m.Heap >= 0 {
			o.int("heap", int64(m.Heap))
		}
		if m.Imbalance > 0 {
			o.ratio("imbalance", m.Imbalance)
		}
		o.close()
	}
	if opened {
		o.close()
	}
	// How unevenly server GC's heaps were used.
	if gen0, survived := d.Gen0Imbalance(), d.SurvivedImbalance(); gen0 > 0 || survived > 0 {
		o.open("imbalance")
		if gen0 > 0 { // otherwise no heap had young objects, or not all heaps reported
			o.ratio("gen0", gen0)
		}
		if survived > 0 {
			o.ratio("survived", survived)
		}
		o.close()
	}
}

var bgcPhaseNames = [clr.BGCPhases]string{
	"begin", "initial_pause_end", "mark_end", "final_pause_begin", "final_pause_end", "sweep_begin", "sweep_end", "plan_end", "old_sweep_end",
}

func (j *jsonFormat) background(o *object, d *gclog.GCDetails) {
	b := d.Background
	if b == nil {
		return
	}
	o.open("background")
	span := func(name string, from, to int64) {
		if from != 0 && to != 0 {
			o.ns(name, to-from)
		}
	}
	span("concurrent_mark", b.MarkStart, b.MarkEnd)
	span("concurrent_sweep", b.SweepStart, b.SweepEnd)
	opened := false
	for i, at := range b.Phase {
		if at == 0 {
			continue
		}
		if !opened {
			o.open("phases")
			opened = true
		}
		j.time(o, bgcPhaseNames[i], at)
	}
	if opened {
		o.close()
	}
	if b.Revisited != [2][2]gclog.Revisit{} {
		o.open("revisited")
		for paused, when := range [...]string{"concurrent", "paused"} {
			for large, what := range [...]string{"_soh", "_loh"} {
				v := b.Revisited[paused][large]
				o.open(when + what)
				o.uint("pages", v.Pages)
				o.uint("references", v.References)
				o.close()
			}
		}
		o.close()
	}
	if b.DrainedMarks > 0 {
		o.count("drained_marks", b.DrainedMarks)
	}
	if b.Overflowed > 0 {
		o.count("mark_overflow_objects", b.Overflowed)
	}
	if b.WaitCount > 0 {
		o.open("alloc_waits")
		o.int("count", b.WaitCount)
		o.ns("total", b.WaitTime)
		o.ns("max", b.WaitMax)
		j.waits(o, b.Waits)
		o.close()
	}
	o.close()
}

// waits writes the allocation waits that were kept.
func (j *jsonFormat) waits(o *object, waits []gclog.AllocWait) {
	if len(waits) == 0 {
		return
	}
	o.openList("list")
	for i := range waits {
		w := &waits[i]
		o.openElement()
		j.time(o, "start", w.Start)
		o.int("ns", max(0, w.Duration))
		o.uint("thread", w.Thread)
		o.uint("reason", uint64(w.Reason))
		o.close()
	}
	o.closeList()
}

// largeObjects writes the cost of compacting large objects in the slowest heap.
func (j *jsonFormat) largeObjects(o *object, d *gclog.GCDetails) {
	if len(d.LOHCompactions) == 0 {
		return
	}
	var most clr.LOHCompact
	for _, c := range d.LOHCompactions {
		most.PlanMicroseconds = max(most.PlanMicroseconds, c.PlanMicroseconds)
		most.RelocateMicroseconds = max(most.RelocateMicroseconds, c.RelocateMicroseconds)
		most.CompactMicroseconds = max(most.CompactMicroseconds, c.CompactMicroseconds)
		most.TotalRefs += c.TotalRefs
	}
	o.open("loh_compaction")
	o.ns("plan", int64(most.PlanMicroseconds)*1000)
	o.ns("relocate", int64(most.RelocateMicroseconds)*1000)
	o.ns("compact", int64(most.CompactMicroseconds)*1000)
	o.count("references", most.TotalRefs)
	o.close()
}

func (j *jsonFormat) datas(o *object, d *gclog.GCDetails) {
	x := &d.Datas
	if !x.HasSample && !x.HasTuning && !x.HasFullGCTuning && !x.HasTuning8 && !x.HasSample8 {
		return
	}
	o.open("datas")
	if x.HasSample {
		o.bytes("stable_size", x.Sample.StableSize)
		o.bytes("gen0_budget_per_heap", uint64(x.Sample.Gen0BudgetPerHeap))
		o.ns("soh_lock_wait", int64(x.Sample.SOHLockMicroseconds)*1000)
		o.ns("uoh_lock_wait", int64(x.Sample.UOHLockMicroseconds)*1000)
	}
	if x.HasSample8 {
		o.ns("lock_wait", int64(min(x.Sample8.LockMicroseconds, 1e12))*1000)
	}
	if x.HasTuning {
		o.int("new_heaps", int64(x.Tuning.NewHeaps))
		o.int("min_heaps", int64(x.Tuning.MinHeaps))
		o.int("max_heaps", int64(x.Tuning.MaxHeaps))
		j.cost(o, "throughput_cost", x.Tuning.MedianThroughputCost)
	}
	if x.HasTuning8 && !x.HasTuning {
		o.int("new_heaps", int64(x.Tuning8.NewHeaps))
		j.cost(o, "throughput_cost", x.Tuning8.MedianThroughputCost)
	}
	if x.HasFullGCTuning {
		o.int("full_gc_new_heaps", int64(x.FullGCTuning.NewHeaps))
		j.cost(o, "gen2_cost", x.FullGCTuning.MedianGen2Cost)
	}
	o.close()
}

// cost writes the target's percentage as a share, if it is a valid one.
func (j *jsonFormat) cost(o *object, name string, percent float32) {
	if v := float64(percent); v >= 0 && v <= 1e6 {
		o.share(name, v)
	}
}

func (j *jsonFormat) dynamic(o *object, d *gclog.GCDetails) {
	if len(d.Dynamic) == 0 {
		return
	}
	o.openList("dynamic_events")
	for i := range d.Dynamic {
		e := &d.Dynamic[i]
		o.openElement()
		j.time(o, "time", e.Time)
		o.text("name", e.Name)
		o.name("data")
		o.b = append(o.b, '"')
		o.b = hex.AppendEncode(o.b, e.Data)
		o.b = append(o.b, '"')
		o.close()
	}
	o.closeList()
}
