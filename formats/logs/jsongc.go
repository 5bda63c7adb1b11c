package logs

import (
	"math"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/parse/clr"
)

// The fields below dotnet.gc. Most go straight into the record; until settleGC its times are
// nanoseconds since 1970.

// A jsonGC is the fields that are not in the record, or not yet.
type jsonGC struct {
	typeName               []byte
	compacting, compactive bool  // whether it compacted, and whether that is known
	paused, delay          int64 // paused in units of 0.01 %
	hasPaused              bool
	hardLimit              uint64
	memoryRead             int64
	suspended              int64
	forAll                 clr.Condemned
	fromLog, hasForAll     bool
	lostWithin             uint64
	hasLostWithin          bool

	fragmentation, allocated, committed uint64
	hasCommitted                        bool

	mark, sweep       int64 // durations of the concurrent phases
	hasMark, hasSweep bool

	// For suspensions, stalls and gaps.
	kind, gapReason                 []byte
	since, span, suspend, threshold int64
}

func (l *jsonLine) readGC(r *record) {
	s, d := &l.s, &r.gc
	r.gc.Summary = &r.summary
	for s.object(); s.next(); {
		switch string(s.key) {
		case "number":
			d.Number, d.HasNumber = uint32(s.uint(math.MaxUint32)), true
		case "generation":
			d.Generation = int(s.uint(math.MaxUint8))
		case "type":
			l.gc.typeName = s.text()
		case "reason":
			d.Reason, d.HasReason = clr.ParseReason(s.text())
		case "compacting":
			l.gc.compacting, l.gc.compactive = s.bool(), true
		case "demoted_background":
			d.DemotedBGC = s.bool()
		case "inside_background_start":
			d.InsideBGCStart = s.bool()
		case "provisional":
			d.Provisional = s.bool()
		case "heap_dump":
			d.HeapDump = s.bool()
		case "server":
			l.server = gclog.KnownBool(s.bool())
		case "concurrent":
			l.concurrent = gclog.KnownBool(s.bool())
		case "heap_count":
			d.Global.Heaps = int32(s.uint(math.MaxInt32))
		case "mechanisms":
			d.HasGlobal = true
			readSet(s, &d.Global.Mechanisms, clr.ParseMechanism)
		case "pause_mode":
			d.Global.PauseMode, d.Global.HasMemoryLoad = clr.ParsePauseMode(s.text())
		case "pause":
			l.readPauses(d)
		case "trigger":
			l.readTrigger(d)
		case "since_last":
			d.SinceLast, d.HasSinceLast = s.ns(), true
		case "alloc_rate":
			d.AllocationRate = l.readRate()
		case "allocated":
			l.gc.allocated, d.HasAllocated = s.bytes(), true
		case "window":
			d.Window = s.ns()
		case "suspended":
			l.gc.suspended = s.time()
		case "paused":
			l.gc.paused, l.gc.hasPaused = s.pct(), true
		case "heap":
			l.readHeap(d)
		case "gen0":
			l.readGeneration(d, gclog.Gen0)
		case "gen1":
			l.readGeneration(d, gclog.Gen1)
		case "gen2":
			l.readGeneration(d, gclog.Gen2)
		case "loh":
			l.readGeneration(d, gclog.LOH)
		case "poh":
			l.readGeneration(d, gclog.POH)
		case "ticks":
			l.readTicks(d)
		case "memory_load":
			d.Global.MemoryLoad = l.percent()
		case "hard_limit":
			l.gc.hardLimit = s.bytes()
		case "pinned":
			d.PinnedObjects = uint32(s.count(math.MaxUint32))
		case "handles":
			d.Handles = int32(s.count(math.MaxInt32))
		case "sync_blocks":
			d.SyncBlocks = uint32(s.count(math.MaxUint32))
		case "finalization":
			l.readPair(&d.FinalizationCount, &d.FinalizationSize)
		case "pinned_seen":
			l.readPair(&d.PinEvents, &d.PinEventBytes)
		case "pinned_plugs":
			l.readPair(&d.PinPlugs, &d.PinPlugBytes)
		case "finalizers":
			l.readFinalizers(&d.Finalizers)
		case "segments":
			l.readSegments(&d.Segments)
		case "condemned":
			l.readCondemned(d)
		case "free_list_efficiency":
			r.summary.FreeListEfficiency, r.summary.HasEfficiency = s.share(), true
		case "heaps":
			l.readHeaps(&r.summary)
		case "marked_until":
			r.summary.MarkedUntil = s.time()
		case "loh_compaction":
			l.readLargeObjects(d)
		case "timing":
			l.readTiming(d)
		case "mark":
			l.readMarks(r)
		case "imbalance":
			l.readImbalance(r)
		case "background":
			d.Background = &r.background
			l.readBackground(d.Background)
		case "datas":
			l.readDatas(&d.Datas)
		case "dynamic_events":
			l.readDynamic(d)
		case "complete":
			d.Complete = s.bool()
		case "flaws":
			readSet(s, &d.Flaws, gclog.ParseFlaw)
		case "lost_events":
			l.readLost(d)
		case "from_log":
			l.gc.fromLog = s.bool()
		case "settings":
			l.readSettings()
		case "memory_read":
			l.gc.memoryRead = s.time()
		case "suspension":
			l.readSuspension()
		case "gap":
			l.readGap(&r.gap)
		case "stall":
			l.readStall()
		default:
			s.skip()
		}
	}
}

// readSet reads a list of names of bits. A newer gclog may write further names.
func readSet[T ~uint16 | ~uint32](s *scanner, set *T, parse func([]byte) (T, bool)) {
	for s.list(); s.element(); {
		if bit, ok := parse(s.text()); ok {
			*set |= bit
		}
	}
}

func (l *jsonLine) readPauses(d *gclog.GCDetails) {
	s := &l.s
	for s.object(); s.next(); {
		if string(s.key) != "parts" {
			s.skip() // sums of the parts
			continue
		}
		for s.list(); s.element(); {
			addPause(d, l.readPause())
		}
	}
}

func (l *jsonLine) readPause() (p gclog.PausePart) {
	s := &l.s
	known := false
	p.Suspend, p.Resume = gclog.Untold, gclog.Untold
	for s.object(); s.next(); {
		switch string(s.key) {
		case "start":
			p.Start = s.time()
		case "suspend":
			p.Suspend = s.ns()
		case "resume":
			p.Resume = s.ns()
		case "ns":
			p.Duration = int64(s.uint(maxSpan))
		case "kind":
			p.Kind, known = named(s.text(), gclog.PauseUnknown)
		default:
			s.skip()
		}
	}
	if p.Start == 0 || !known {
		s.fail()
	}
	return p
}

func (l *jsonLine) readTrigger(d *gclog.GCDetails) {
	s := &l.s
	d.HasTrigger = true
	for s.object(); s.next(); {
		switch string(s.key) {
		case "thread":
			d.Trigger = s.uint(math.MaxUint64)
		case "delay":
			l.gc.delay = s.ns()
		default:
			s.skip()
		}
	}
}

func (l *jsonLine) readHeap(d *gclog.GCDetails) {
	s := &l.s
	for s.object(); s.next(); {
		switch string(s.key) {
		case "before":
			_, d.HasBefore = s.bytes(), true
		case "before_estimated":
			d.BeforeEstimated = s.bool()
		case "after":
			_, d.HasSizesAfter = s.bytes(), true
		case "peak":
			d.Peak = s.bytes()
		case "promoted":
			d.PromotedBytes, d.HasPromoted = s.bytes(), true
		case "fragmentation":
			l.gc.fragmentation, d.HasFragmentation = s.bytes(), true
		case "committed":
			l.gc.committed, l.gc.hasCommitted = s.bytes(), true
		case "committed_before":
			d.CommittedBefore, d.HasCommittedBefore = s.bytes(), true
		default:
			s.skip()
		}
	}
}

func (l *jsonLine) readGeneration(d *gclog.GCDetails, g int) {
	s, x := &l.s, &d.Generations[g]
	d.GenerationCount = max(d.GenerationCount, g+1)
	for s.object(); s.next(); {
		switch string(s.key) {
		case "before":
			x.Before = s.bytes()
		case "after":
			x.After = s.bytes()
		case "obj_before":
			x.ObjectsBefore, d.HasObjects = s.bytes(), true
		case "obj_after":
			x.ObjectsAfter = s.bytes()
		case "free_before":
			x.FreeBefore, d.HasHistory = s.bytes(), true
		case "fragmentation":
			x.Fragmentation, d.HasHistory = s.bytes(), true
		case "in":
			x.In = s.bytes()
		case "survived":
			x.Survived = s.bytes()
		case "survived_pinned":
			x.SurvivedPins = s.bytes()
		case "budget":
			x.Budget = s.bytes()
		case "budget_left":
			x.BudgetLeft, x.HasBudgetLeft = int64(min(s.bytes(), math.MaxInt64)), true
		case "budget_exceeded":
			x.BudgetLeft, x.HasBudgetLeft = -int64(min(s.bytes(), math.MaxInt64)), true
		case "promoted":
			x.Promoted, d.HasGenerationPromoted = s.bytes(), true
		case "allocated":
			x.Allocated, d.HasGenerationAllocated = s.bytes(), true
		default:
			s.skip()
		}
	}
}

func (l *jsonLine) readTicks(d *gclog.GCDetails) {
	s := &l.s
	d.HasTicks = true
	for s.object(); s.next(); {
		switch string(s.key) {
		case "small":
			d.TickAllocated[clr.AllocationSmall] = s.bytes()
		case "large":
			d.TickAllocated[clr.AllocationLarge] = s.bytes()
		case "pinned":
			d.TickAllocated[clr.AllocationPinned] = s.bytes()
		default:
			s.skip()
		}
	}
}

func (l *jsonLine) readPair(count, bytes *uint64) {
	s := &l.s
	for s.object(); s.next(); {
		switch string(s.key) {
		case "count":
			*count = s.uint(math.MaxUint64)
		case "bytes":
			*bytes = s.uint(math.MaxUint64)
		default:
			s.skip()
		}
	}
}

func (l *jsonLine) readRate() (perSecond float64) {
	s := &l.s
	for s.object(); s.next(); {
		if string(s.key) == "bytes_per_s" {
			perSecond = s.ratio()
		} else {
			s.skip()
		}
	}
	return perSecond
}

func (l *jsonLine) readFinalizers(f *gclog.FinalizerDetails) {
	s := &l.s
	for s.object(); s.next(); {
		switch string(s.key) {
		case "runs":
			f.Runs, f.Known = uint32(s.uint(math.MaxUint32)), true
		case "objects":
			f.Objects = s.uint(math.MaxUint64)
		case "longest":
			f.Longest, f.HasLongest = s.ns(), true
		case "running":
			f.Running = s.ns()
		default:
			s.skip()
		}
	}
}

func (l *jsonLine) readSegments(x *gclog.SegmentDetails) {
	s := &l.s
	of := func(count *uint32, bytes *uint64) {
		n := uint64(0)
		l.readPair(&n, bytes)
		*count, x.Known = uint32(min(n, math.MaxUint32)), true
	}
	for s.object(); s.next(); {
		switch string(s.key) {
		case "created":
			of(&x.Created, &x.CreatedBytes)
		case "freed":
			of(&x.Freed, &x.FreedBytes)
		case "count":
			x.Count = uint32(s.uint(math.MaxUint32))
		case "reserved":
			x.Reserved, x.HasReserved = s.bytes(), true
		case "used":
			x.Used = s.bytes()
		default:
			s.skip()
		}
	}
}

func (l *jsonLine) readCondemned(d *gclog.GCDetails) {
	s, g := &l.s, &d.Global
	g.HasCondemned = true
	var initial, final, budget, tuning int
	for s.object(); s.next(); {
		switch string(s.key) {
		case "initial":
			initial = int(s.uint(3))
		case "final":
			final = int(s.uint(3))
		case "budget_exceeded":
			budget = int(s.uint(3))
		case "time_tuning":
			tuning = int(s.uint(3))
		case "reasons":
			readSet(s, &g.Condemned, clr.ParseCondemned)
		case "for_all":
			l.gc.hasForAll = true
			readSet(s, &l.gc.forAll, clr.ParseCondemned)
		default:
			s.skip()
		}
	}
	g.CondemnedGenerations = clr.MakeCondemnedGenerations(initial, final, budget, tuning)
}

// maxHeaps is the maximum number of heaps in a record, as in package gclog.
const maxHeaps = 1024

// readHeaps reads the heaps' reasons, with heaps grouped that have the same ones.
func (l *jsonLine) readHeaps(x *gclog.HeapSummary) {
	s := &l.s
	for s.list(); s.element(); {
		first := len(x.Reasons)
		var r gclog.HeapReasons
		var initial, final, budget, tuning int
		for s.object(); s.next(); {
			switch string(s.key) {
			case "numbers":
				for s.list(); s.element(); {
					if heap := uint32(s.uint(math.MaxUint32)); len(x.Reasons) < maxHeaps {
						x.Reasons = append(x.Reasons, gclog.HeapReasons{Heap: heap})
					}
				}
			case "initial":
				initial = int(s.uint(3))
			case "final":
				final = int(s.uint(3))
			case "budget_exceeded":
				budget = int(s.uint(3))
			case "time_tuning":
				tuning = int(s.uint(3))
			case "reasons":
				readSet(s, &r.Condemned, clr.ParseCondemned)
			case "compact":
				r.Compact, _ = clr.ParseCompactReason(s.text())
			case "expand":
				r.Expand, _ = clr.ParseExpandReason(s.text())
			default:
				s.skip()
			}
		}
		r.CondemnedGenerations = clr.MakeCondemnedGenerations(initial, final, budget, tuning)
		for i := first; i < len(x.Reasons); i++ {
			r.Heap = x.Reasons[i].Heap
			x.Reasons[i] = r
		}
	}
}

// readLargeObjects reads the cost of compacting large objects.
func (l *jsonLine) readLargeObjects(d *gclog.GCDetails) {
	s := &l.s
	var c clr.LOHCompact
	micros := func() uint32 { return uint32(s.unit(`{"ns":`, math.MaxUint32*1000) / 1000) }
	for s.object(); s.next(); {
		switch string(s.key) {
		case "plan":
			c.PlanMicroseconds = micros()
		case "relocate":
			c.RelocateMicroseconds = micros()
		case "compact":
			c.CompactMicroseconds = micros()
		case "references":
			c.TotalRefs = s.count(math.MaxUint64)
		default:
			s.skip()
		}
	}
	d.LOHCompactions = append(d.LOHCompactions[:0], c)
}

// readLost reads how many events were lost since the previous record, and how many of them while
// the collection was open: all of them, unless stated otherwise.
func (l *jsonLine) readLost(d *gclog.GCDetails) {
	s := &l.s
	for s.object(); s.next(); {
		switch string(s.key) {
		case "count":
			d.LostEvents = s.uint(math.MaxUint64)
		case "within":
			l.gc.lostWithin, l.gc.hasLostWithin = s.uint(math.MaxUint64), true
		default:
			s.skip()
		}
	}
}

func (l *jsonLine) readTiming(d *gclog.GCDetails) {
	s := &l.s
	for s.object(); s.next(); {
		if i, known := timing(s.key); known {
			d.Timing[i] = s.ns()
			d.TimingCount = max(d.TimingCount, i+1)
		} else {
			s.skip()
		}
	}
}

func (l *jsonLine) readMarks(r *record) {
	s := &l.s
	for s.object(); s.next(); {
		if t, known := markType(s.key); known {
			l.readMark(&r.summary.Marks[t])
		} else {
			s.skip()
		}
	}
}

func (l *jsonLine) readMark(m *gclog.MarkSummary) {
	s := &l.s
	m.Known, m.Heap = true, -1
	for s.object(); s.next(); {
		switch string(s.key) {
		case "longest":
			m.Longest = s.ns()
		case "promoted":
			m.Promoted = s.bytes()
		case "heap":
			m.Heap = int(s.uint(math.MaxInt32))
		case "imbalance":
			m.Imbalance = s.ratio()
		default:
			s.skip()
		}
	}
}

func (l *jsonLine) readImbalance(r *record) {
	s := &l.s
	for s.object(); s.next(); {
		switch string(s.key) {
		case "gen0":
			r.summary.Gen0Imbalance = s.ratio()
		case "survived":
			r.summary.SurvivedImbalance = s.ratio()
		default:
			s.skip()
		}
	}
}

func (l *jsonLine) readBackground(b *gclog.BackgroundDetails) {
	s := &l.s
	for s.object(); s.next(); {
		switch string(s.key) {
		case "concurrent_mark":
			l.gc.mark, l.gc.hasMark = s.ns(), true
		case "concurrent_sweep":
			l.gc.sweep, l.gc.hasSweep = s.ns(), true
		case "phases":
			l.readPhases(b)
		case "revisited":
			l.readRevisited(b)
		case "drained_marks":
			b.DrainedMarks = s.count(math.MaxUint64)
		case "mark_overflow_objects":
			b.Overflowed = s.count(math.MaxUint64)
		case "alloc_waits":
			l.readWaits(b)
		default:
			s.skip()
		}
	}
}

func (l *jsonLine) readPhases(b *gclog.BackgroundDetails) {
	s := &l.s
	for s.object(); s.next(); {
		if p, known := bgcPhase(s.key); known {
			b.Phase[p] = s.time()
		} else {
			s.skip()
		}
	}
}

func bgcPhase(name []byte) (clr.BGCPhase, bool) {
	switch string(name) {
	case "begin":
		return clr.BGCBegin, true
	case "initial_pause_end":
		return clr.BGCInitialPauseEnd, true
	case "mark_end":
		return clr.BGCConcurrentMarkEnd, true
	case "final_pause_begin":
		return clr.BGCFinalPauseBegin, true
	case "final_pause_end":
		return clr.BGCFinalPauseEnd, true
	case "sweep_begin":
		return clr.BGCSweepBegin, true
	case "sweep_end":
		return clr.BGCSweepEnd, true
	case "plan_end":
		return clr.BGCPlanEnd, true
	case "old_sweep_end":
		return clr.BGCOldSweepEnd, true
	}
	return 0, false
}

func (l *jsonLine) readRevisited(b *gclog.BackgroundDetails) {
	s := &l.s
	for s.object(); s.next(); {
		switch string(s.key) {
		case "concurrent_soh":
			l.readRevisit(&b.Revisited[0][0])
		case "concurrent_loh":
			l.readRevisit(&b.Revisited[0][1])
		case "paused_soh":
			l.readRevisit(&b.Revisited[1][0])
		case "paused_loh":
			l.readRevisit(&b.Revisited[1][1])
		default:
			s.skip()
		}
	}
}

func (l *jsonLine) readRevisit(v *gclog.Revisit) {
	s := &l.s
	for s.object(); s.next(); {
		switch string(s.key) {
		case "pages":
			v.Pages = s.uint(math.MaxUint64)
		case "references":
			v.References = s.uint(math.MaxUint64)
		default:
			s.skip()
		}
	}
}

func (l *jsonLine) readWaits(b *gclog.BackgroundDetails) {
	s := &l.s
	for s.object(); s.next(); {
		switch string(s.key) {
		case "count":
			b.WaitCount = int64(s.uint(math.MaxInt64))
		case "total":
			b.WaitTime = s.ns()
		case "max":
			b.WaitMax = s.ns()
		case "list":
			for s.list(); s.element(); {
				l.readWait(b)
			}
		default:
			s.skip()
		}
	}
}

// maxWaits is the maximum number of waits in a record, as in package gclog.
const maxWaits = 64

func (l *jsonLine) readWait(b *gclog.BackgroundDetails) {
	s := &l.s
	var w gclog.AllocWait
	for s.object(); s.next(); {
		switch string(s.key) {
		case "start":
			w.Start = s.time()
		case "ns":
			w.Duration = int64(s.uint(maxSpan))
		case "thread":
			w.Thread = s.uint(math.MaxUint64)
		case "reason":
			w.Reason = uint32(s.uint(math.MaxUint32))
		default:
			s.skip()
		}
	}
	if len(b.Waits) < maxWaits {
		b.Waits = append(b.Waits, w)
	}
}

// readDatas reads the decisions of DATAS. Those of .NET 8 differ from later ones: one lock instead
// of two, and no bounds for the number of heaps.
func (l *jsonLine) readDatas(x *gclog.DatasDetails) {
	s := &l.s
	micros := func(most uint64) uint64 { return s.unit(`{"ns":`, most*1000) / 1000 }
	newHeaps, hasNewHeaps := uint16(0), false
	cost, fullCost := float32(math.NaN()), float32(math.NaN())
	for s.object(); s.next(); {
		switch string(s.key) {
		case "stable_size":
			x.Sample.StableSize, x.HasSample = s.bytes(), true
		case "gen0_budget_per_heap":
			x.Sample.Gen0BudgetPerHeap = uint32(s.unit(`{"bytes":`, math.MaxUint32))
		case "soh_lock_wait":
			x.Sample.SOHLockMicroseconds = uint32(micros(math.MaxUint32))
		case "uoh_lock_wait":
			x.Sample.UOHLockMicroseconds = uint32(micros(math.MaxUint32))
		case "lock_wait":
			x.Sample8.LockMicroseconds, x.HasSample8 = micros(1e12), true
		case "new_heaps":
			newHeaps, hasNewHeaps = uint16(s.uint(math.MaxUint16)), true
		case "min_heaps":
			x.Tuning.MinHeaps, x.HasTuning = uint16(s.uint(math.MaxUint16)), true
		case "max_heaps":
			x.Tuning.MaxHeaps, x.HasTuning = uint16(s.uint(math.MaxUint16)), true
		case "throughput_cost":
			cost = float32(s.share())
		case "full_gc_new_heaps":
			x.FullGCTuning.NewHeaps, x.HasFullGCTuning = uint16(s.uint(math.MaxUint16)), true
		case "gen2_cost":
			fullCost = float32(s.share())
		default:
			s.skip()
		}
	}
	if x.HasTuning {
		x.Tuning.NewHeaps, x.Tuning.MedianThroughputCost = newHeaps, cost
	} else if hasNewHeaps {
		x.HasTuning8 = true
		x.Tuning8.NewHeaps, x.Tuning8.MedianThroughputCost = newHeaps, cost
	}
	if x.HasFullGCTuning {
		x.FullGCTuning.MedianGen2Cost = fullCost
	}
}

// Limits as in package gclog.
const (
	maxDynamic = 16
	maxData    = 1024 // bytes of a dynamic event
)

func (l *jsonLine) readDynamic(d *gclog.GCDetails) {
	s := &l.s
	for s.list(); s.element(); {
		n := len(d.Dynamic)
		switch {
		case n >= maxDynamic:
			s.skip()
			continue
		case n < cap(d.Dynamic): // reuses the memory of an earlier event
			d.Dynamic = d.Dynamic[:n+1]
		default:
			d.Dynamic = append(d.Dynamic, gclog.DynamicEvent{})
		}
		l.readDynamicEvent(&d.Dynamic[n])
	}
}

func (l *jsonLine) readDynamicEvent(e *gclog.DynamicEvent) {
	s := &l.s
	e.Time, e.Data = 0, e.Data[:0]
	var name []byte
	for s.object(); s.next(); {
		switch string(s.key) {
		case "time":
			e.Time = s.time()
		case "name":
			name = s.text()
		case "data":
			e.Data = l.appendHex(e.Data, s.text())
		default:
			s.skip()
		}
	}
	if string(name) != e.Name {
		e.Name = l.names.get(name)
	}
}

func (l *jsonLine) appendHex(dst, digits []byte) []byte {
	for ; len(digits) >= 2 && len(dst) < maxData; digits = digits[2:] {
		high, ok := hexDigit(digits[0])
		low, ok2 := hexDigit(digits[1])
		if !ok || !ok2 {
			l.s.fail()
			break
		}
		dst = append(dst, high<<4|low)
	}
	return dst
}

func (l *jsonLine) readSuspension() {
	s := &l.s
	for s.object(); s.next(); {
		switch string(s.key) {
		case "kind":
			l.gc.kind = s.text()
		case "ns":
			l.gc.span = int64(s.uint(maxSpan))
		case "suspend":
			l.gc.suspend = s.ns()
		default:
			s.skip()
		}
	}
}

func (l *jsonLine) readGap(g *gclog.Gap) {
	s := &l.s
	for s.object(); s.next(); {
		switch string(s.key) {
		case "from":
			g.From = uint32(s.uint(math.MaxUint32))
		case "to":
			g.To = uint32(s.uint(math.MaxUint32))
		case "lost_events":
			g.LostEvents = s.count(math.MaxUint64)
		case "records":
			g.Records = s.count(math.MaxUint64)
		case "reason":
			l.gc.gapReason = s.text()
		default:
			s.skip()
		}
	}
}

func (l *jsonLine) readStall() {
	s := &l.s
	for s.object(); s.next(); {
		switch string(s.key) {
		case "kind":
			l.gc.kind = s.text()
		case "since":
			l.gc.since = s.time()
		case "threshold":
			l.gc.threshold = s.ns()
		default:
			s.skip()
		}
	}
}
