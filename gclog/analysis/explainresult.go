package analysis

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/parse/clr"
)

// A Size is the effect of a collection on one generation. Sizes are bytes over all heaps, including
// free space.
type Size struct {
	Name      string `json:"generation"`
	Collected bool   `json:"collected"`
	Before    Number `json:"before"`
	After     Number `json:"after"`
	Free      Number `json:"fragmentation"` // space between objects, after the collection
	Promoted  Number `json:"promoted"`
	Survival  Number `json:"survival"` // percent of the objects
	Budget    Number `json:"budget"`   // the budget that it set for allocations or promotions
}

// result describes what the collection achieved.
func (x *explainer) result() {
	x.heap()
	x.objects()
	x.sizes()
	x.compaction()
	x.mechanisms()
	x.datas()
	x.pins()
	x.finalization()
	x.memory()
	x.others()
}

// heap reports the sizes of the whole heap.
func (x *explainer) heap() {
	d := x.d
	if d.Known.Has(gclog.GroupAfter) && d.Known.Has(gclog.GroupBefore) {
		before, after := d.SizeBefore(), d.SizeAfter()
		text := fmt.Sprintf("The heap was %s before and %s after it", bytesText(before), bytesText(after))
		facts := []Fact{bytesFact("dotnet.gc.heap.before", before), bytesFact("dotnet.gc.heap.after", after)}
		switch {
		case after < before:
			less := 100 * float64(before-after) / float64(before)
			text += fmt.Sprintf(": %s less (%s)", bytesText(before-after), valueText(less, "%"))
			facts = append(facts, bytesFact("heap.less", before-after), percentFact("heap.less_pct", less))
		case after > before:
			text += fmt.Sprintf(": %s more", bytesText(after-before))
			facts = append(facts, bytesFact("heap.more", after-before))
		}
		if d.BeforeEstimated {
			text += "; the size before is estimated from the sizes after the previous collection"
		}
		x.say(&x.e.Result, "heap", text+".", facts...)
	} else if d.Known.Has(gclog.GroupAfter) {
		x.say(&x.e.Result, "heap", "The heap was "+bytesText(d.SizeAfter())+" after it.",
			bytesFact("dotnet.gc.heap.after", d.SizeAfter()))
	}
	if ratio, known := d.PeakRatio(); known && d.Kind == gclog.KindBackground && ratio > 1 {
		x.say(&x.e.Result, "peak", fmt.Sprintf("While it ran, the heap was up to %s.", bytesText(d.Peak)),
			bytesFact("dotnet.gc.heap.peak", d.Peak))
	}
	switch {
	case d.Known.Has(gclog.GroupCommittedBefore) && d.Known.Has(gclog.GroupCommittedAfter):
		x.say(&x.e.Result, "committed", fmt.Sprintf("The runtime had committed %s for the heap before and %s after it.",
			bytesText(d.CommittedBefore), bytesText(d.CommittedAfter)),
			bytesFact("dotnet.gc.heap.committed_before", d.CommittedBefore),
			bytesFact("dotnet.gc.heap.committed", d.CommittedAfter))
	case d.Known.Has(gclog.GroupCommittedBefore):
		x.say(&x.e.Result, "committed",
			fmt.Sprintf("The runtime had committed %s for the heap when it started.", bytesText(d.CommittedBefore)),
			bytesFact("dotnet.gc.heap.committed_before", d.CommittedBefore))
	case d.Known.Has(gclog.GroupCommittedAfter):
		x.say(&x.e.Result, "committed",
			fmt.Sprintf("The runtime had committed %s for the heap after it.", bytesText(d.CommittedAfter)),
			bytesFact("dotnet.gc.heap.committed", d.CommittedAfter))
	default:
		x.lacks("committed memory", x.whyUnknown(noCommitted))
	}
}

// objects reports what survived, and what was garbage.
func (x *explainer) objects() {
	d := x.d
	if d.Known.Has(gclog.GroupPromoted) {
		x.say(&x.e.Result, "promoted", fmt.Sprintf(
			"It found %s of live objects (promoted) in the generations that it collected.", bytesText(d.PromotedBytes)),
			bytesFact("dotnet.gc.heap.promoted", d.PromotedBytes))
	} else if d.Known.Has(gclog.GroupGenerationPromoted) {
		x.lacks("promoted bytes",
			x.whyUnknown("only the heap histories report the pinned objects among them, and none was recorded"))
	} else {
		x.lacks("promoted bytes", x.whyUnknown("its sizes were not recorded (GCHeapStats)"))
	}
	if !d.Known.Has(gclog.GroupHistory) {
		return
	}
	var before, survived uint64
	for g := range d.Generations {
		if d.Collected(g) {
			before += d.Generations[g].ObjectsBefore
			survived += d.Generations[g].Survived
		}
	}
	if before > survived {
		share := 100 * float64(before-survived) / float64(before)
		x.say(&x.e.Result, "garbage", fmt.Sprintf("Of the %s of objects there, %s (%s) was garbage.",
			bytesText(before), bytesText(before-survived), valueText(share, "%")),
			bytesFact("objects.before", before), bytesFact("objects.garbage", before-survived),
			percentFact("objects.garbage_pct", share))
	}
	if percent, known := d.FreeListEfficiency(); known {
		x.say(&x.e.Result, "free-list",
			fmt.Sprintf("Free-list efficiency in gen2: %s of the free space tried for gen1 survivors was used.",
				valueText(percent, "%")),
			percentFact("dotnet.gc.free_list_efficiency", percent))
	}
}

// sizes fills in the table of generations.
func (x *explainer) sizes() {
	d := x.d
	if !d.Known.Has(gclog.GroupAfter) && !d.Known.Has(gclog.GroupBefore) {
		x.lacks("heap sizes", x.whyUnknown("its sizes were not recorded (GCHeapStats)"))
		return
	}
	n := d.GenerationCount
	if n == 0 {
		n = gclog.Generations
	}
	lacks := func(what, why string) Number {
		x.lacks(what, why)
		return unknown(why)
	}
	value := func(ok bool, v float64, what, why string) Number {
		if ok {
			return known(v).in("bytes")
		}
		return lacks(what, why)
	}
	for g := range n {
		y, collected := &d.Generations[g], d.Collected(g)
		s := Size{Name: gclog.GenerationName(g), Collected: collected}
		s.Before = value(d.Known.Has(gclog.GroupBefore), float64(y.Before), "sizes before", x.unheard())
		s.After = value(d.Known.Has(gclog.GroupAfter), float64(y.After), "sizes after",
			x.whyUnknown("its sizes were not recorded (GCHeapStats)"))
		s.Free = value(d.Known.Has(gclog.GroupHistory), float64(y.Fragmentation), "free space of the generations",
			x.unheard())
		if s.Free.Known() && s.After.Known() && y.Fragmentation > y.After {
			s.Free = lacks("free space of "+s.Name,
				"the runtime reported more free space than the generation had"+differentTimes)
		}
		const not = "it was not collected"
		s.Promoted, s.Survival, s.Budget = unknown(not), unknown(not), unknown(not)
		if collected {
			if promoted, ok := d.Promoted(g); ok || !d.Known.Has(gclog.GroupGenerationPromoted) {
				s.Promoted = value(ok, float64(promoted), "promoted bytes of the generations", x.unheard())
			} else {
				s.Promoted = lacks("promoted bytes of pinned objects", x.unheard())
			}
			if y.Budget == 0 && d.Known.Has(gclog.GroupHistory) {
				s.Budget = lacks("the budget of "+s.Name, "the runtime did not report one")
			} else {
				s.Budget = value(y.Budget > 0, float64(y.Budget), "budgets", x.unheard())
			}
			switch percent, ok := d.Survival(g); {
			case ok:
				s.Survival = known(percent).in("%")
			case !d.Known.Has(gclog.GroupHistory):
				s.Survival = lacks("survival", x.unheard())
			case y.ObjectsBefore == 0:
				s.Survival = unknown("it contained no objects")
			default:
				s.Survival = lacks("survival in "+s.Name, "far more survived than the runtime had reported there")
			}
		}
		x.e.Sizes = append(x.e.Sizes, s)
	}
	if d.Known.Has(gclog.GroupFragmentation) && d.Known.Has(gclog.GroupAfter) && d.Fragmentation > d.SizeAfter() {
		// A foreground collection has made the heap smaller since the free space was measured.
		x.lacks("free space of the heap", "the runtime reported more free space than the heap had"+differentTimes)
	} else if d.Known.Has(gclog.GroupFragmentation) && !d.Known.Has(gclog.GroupHistory) {
		x.say(&x.e.Result, "free", bytesText(d.Fragmentation)+" of the heap was free space after it.",
			bytesFact("dotnet.gc.heap.fragmentation", d.Fragmentation))
	} else if d.Known.Has(gclog.GroupFragmentation) && d.Known.Has(gclog.GroupAfter) && d.SizeAfter() > 0 {
		share := 100 * float64(d.Fragmentation) / float64(d.SizeAfter())
		x.say(&x.e.Result, "free", fmt.Sprintf("Free space between objects was %s after it, %s of the heap.",
			bytesText(d.Fragmentation), valueText(share, "%")),
			bytesFact("dotnet.gc.heap.fragmentation", d.Fragmentation), percentFact("fragmentation_pct", share))
	}
}

const differentTimes = ": it measures the two at different times"

// compactTexts are why a heap was compacted, by the names of clr.HeapMechanism.
var compactTexts = map[string]string{
	"LowEphemeral":      "little space was left for young objects",
	"HighFragmentation": "there was a lot of free space between survivors",
	"NoGaps":            "there was no room to leave survivors in place",
	"LOHForced": "GCSettings.LargeObjectHeapCompactionMode or the runtime requested compaction of " +
		"large objects",
	"LastGCBeforeOOM":             "the GC considered it the last attempt before an OutOfMemoryException",
	"InducedCompacting":           "GC.Collect requested compaction",
	"FragmentedGen0":              "gen0 was fragmented",
	"HighMemoryLoad":              "the memory load was high",
	"HighMemoryFragmentation":     "the memory load was high and there was a lot of free space",
	"VeryHighMemoryFragmentation": "the memory load was very high and there was a lot of free space",
	"NoGCMode":                    "a no-GC region was about to start",
	"Aggressive":                  "GC.Collect was called with GCCollectionMode.Aggressive",
	"Compact":                     "the reason was not reported",
}

// expandTexts are how a heap was expanded, likewise.
var expandTexts = map[string]string{
	"ReuseNormal":                "in free space of an existing segment",
	"ReuseBestFit":               "in the best-fitting free spaces of an existing segment",
	"NewSegmentPromoteEphemeral": "in a new segment, and all young objects were promoted",
	"NewSegment":                 "in a new segment",
	"NoMemory":                   "none, because there was no memory for it",
	"NextFullGC":                 "left to the next full collection",
	"Expand":                     "not reported where",
}

// mechanism describes a mechanism.
func mechanism(texts map[string]string, name string) string {
	if text := texts[name]; text != "" {
		return text + " (" + name + ")"
	}
	return name
}

// compaction reports whether the objects were compacted, and why.
func (x *explainer) compaction() {
	d := x.d
	compacting, isKnown := d.Compacting()
	switch {
	case !isKnown:
		x.lacks("whether it compacted", x.unheard())
	case d.Kind == gclog.KindBackground:
		x.because(&x.e.Result, "compaction", "Sweeping: background collections do not move objects.",
			[]string{byBackground}, textFact("dotnet.gc.compacting", "no"))
	case !compacting:
		x.say(&x.e.Result, "compaction", "Sweeping: survivors stayed in place and the gaps became free space.",
			textFact("dotnet.gc.compacting", "no"))
	default:
		x.compacted()
	}
	x.expanded()
	x.largeObjects()
}

// perHeap groups the heaps by one of their mechanisms, in the order of the heaps. The causes are
// the mechanisms; the facts list the heaps if they differ.
func (x *explainer) perHeap(
	name func(*gclog.HeapReasons) string, texts map[string]string,
) (text string, causes []string, facts []Fact) {
	var order []string
	by := map[string][]uint32{}
	n := 0
	for i := range x.d.ReportedHeaps() {
		h, known := x.d.HeapReasons(i)
		if !known {
			continue
		}
		n++
		reason := name(&h)
		if reason == "" {
			continue
		}
		if by[reason] == nil {
			order = append(order, reason)
		}
		by[reason] = append(by[reason], h.Heap)
	}
	var parts []string
	for _, reason := range order {
		text := mechanism(texts, reason)
		if heaps := by[reason]; len(heaps) < n {
			slices.Sort(heaps)
			text = fmt.Sprintf("heap %s: %s", numbersText(heaps), text)
			for _, h := range heaps {
				facts = append(facts, textFact(fmt.Sprintf("heap.%d", h), reason))
			}
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, "; "), order, facts
}

func (x *explainer) compacted() {
	compacting := textFact("dotnet.gc.compacting", "yes")
	why, causes, facts := x.perHeap(func(h *gclog.HeapReasons) string { return h.Compact.CompactReason() },
		compactTexts)
	if why == "" {
		x.say(&x.e.Result, "compaction", "Compacting: survivors were moved together.", compacting)
		why := "no heap reports the reason"
		if x.d.ReportedHeaps() == 0 {
			why = x.unheard()
		}
		x.lacks("why it compacted", why)
		return
	}
	x.because(&x.e.Result, "compaction", "Compacting: survivors were moved together. Reason: "+why+".", causes,
		append(facts, compacting)...)
}

func (x *explainer) expanded() {
	reason := func(h *gclog.HeapReasons) string { return h.Expand.ExpandReason() }
	if how, causes, facts := x.perHeap(reason, expandTexts); how != "" {
		x.because(&x.e.Result, "expansion", "Space for young objects: "+how+".", causes, facts...)
	}
}

// largeObjects reports how long compacting the large objects took.
func (x *explainer) largeObjects() {
	var plan, relocate, compact, refs uint64
	for _, c := range x.d.LOHCompactions {
		plan = max(plan, uint64(c.PlanMicroseconds))
		relocate = max(relocate, uint64(c.RelocateMicroseconds))
		compact = max(compact, uint64(c.CompactMicroseconds))
		refs += c.TotalRefs
	}
	if plan|relocate|compact|refs == 0 {
		return
	}
	text := fmt.Sprintf("Large objects were compacted too: in the slowest heap, plan took %s, relocate %s "+
		"and compact %s", timeText(int64(plan)*1000), timeText(int64(relocate)*1000), timeText(int64(compact)*1000))
	if refs > 0 {
		text += fmt.Sprintf("; they contained %s", plural(refs, "reference"))
	}
	x.say(&x.e.Result, "loh-compaction", text+".",
		timeFact("loh.plan", plan*1000), timeFact("loh.relocate", relocate*1000), timeFact("loh.compact", compact*1000),
		countFact("loh.references", refs))
}

// mechanisms reports which generation the survivors are in.
func (x *explainer) mechanisms() {
	d := x.d
	if !d.Known.Has(gclog.GroupGlobal) || d.Kind == gclog.KindBackground {
		return
	}
	m := d.Global.Mechanisms
	if m&clr.MechanismPromotion == 0 {
		x.say(&x.e.Result, "promotion", "Survivors stayed in their generation: none was promoted to an older one.")
	}
	if m&clr.MechanismDemotion != 0 {
		x.say(&x.e.Result, "demotion",
			"Some survivors around pinned objects stayed in a younger generation or were moved back to one (Demotion).")
	}
}

// datas reports what dynamic adaptation measured and decided.
func (x *explainer) datas() {
	known, d := x.d.Known, &x.d.Datas
	heaps := func(text, name string, n uint16, cost float64, facts ...Fact) {
		text += " " + plural(uint64(n), "heap")
		facts = append(facts, countFact("dotnet.gc.datas."+name, n))
		if cost >= 0 && cost <= 1e6 {
			text += fmt.Sprintf("; the GC took %s of the time (median)", valueText(cost, "%"))
			facts = append(facts, percentFact("cost.median", cost))
		}
		x.say(&x.e.Result, "datas", text+".", facts...)
	}
	if known.Has(gclog.GroupDatasTuning) {
		text := "DATAS chose the number of heaps"
		var facts []Fact
		// The runtime computes them only when it considers a change, and the cores count as well.
		if t := &d.Tuning; t.MinHeaps > 0 && t.MinHeaps <= t.NewHeaps && t.NewHeaps <= t.MaxHeaps {
			text += fmt.Sprintf(" (%d to %d are right for the long-lived objects)", t.MinHeaps, t.MaxHeaps)
			facts = append(facts, countFact("heaps.min", t.MinHeaps), countFact("heaps.max", t.MaxHeaps))
		}
		heaps(text+":", "new_heaps", d.Tuning.NewHeaps, float64(d.Tuning.MedianThroughputCost), facts...)
	}
	if known.Has(gclog.GroupDatasTuning8) {
		heaps("DATAS chose the number of heaps:", "new_heaps", d.Tuning8.NewHeaps,
			float64(d.Tuning8.MedianThroughputCost))
	}
	if known.Has(gclog.GroupDatasFullGCTuning) {
		heaps("After full collections, DATAS chose the number of heaps:", "full_gc_new_heaps", d.FullGCTuning.NewHeaps,
			float64(d.FullGCTuning.MedianGen2Cost))
	}
	if known.Has(gclog.GroupDatasSample) {
		s := &d.Sample
		x.say(&x.e.Result, "datas-sample",
			fmt.Sprintf("DATAS considers %s of small objects long-lived and set gen0's budget to %s per heap; "+
				"threads had waited %s to allocate small objects and %s to allocate large ones.",
				bytesText(s.StableSize), bytesText(uint64(s.Gen0BudgetPerHeap)),
				timeText(int64(s.SOHLockMicroseconds)*1000), timeText(int64(s.UOHLockMicroseconds)*1000)),
			bytesFact("dotnet.gc.datas.stable_size", s.StableSize),
			bytesFact("dotnet.gc.datas.gen0_budget_per_heap", s.Gen0BudgetPerHeap),
			timeFact("dotnet.gc.datas.soh_lock_wait", int64(s.SOHLockMicroseconds)*1000),
			timeFact("dotnet.gc.datas.uoh_lock_wait", int64(s.UOHLockMicroseconds)*1000))
	}
	if known.Has(gclog.GroupDatasSample8) {
		wait := int64(min(d.Sample8.LockMicroseconds, 1e12)) * 1000
		x.say(&x.e.Result, "datas-sample", "DATAS measured that threads had waited "+timeText(wait)+" to allocate.",
			timeFact("dotnet.gc.datas.lock_wait", wait))
	}
}

// pins reports what could not be moved.
func (x *explainer) pins() {
	d := x.d
	var parts []string
	var facts []Fact
	if n, known := d.Pinned(); known {
		bytes, of := x.pinnedBytes()
		parts = append(parts, plural(uint64(n), "pinned object")+was(uint64(n))+" found"+bytes)
		facts = append(append(facts, countFact("dotnet.gc.pinned", n)), of...)
	} else if d.Kind == gclog.KindBackground {
		x.lacks("pinned objects", "background collections do not count them")
	} else {
		x.lacks("pinned objects", x.whyUnknown("its sizes were not recorded (GCHeapStats)"))
	}
	if d.PinEvents > 0 {
		parts = append(parts, fmt.Sprintf("%s recorded individually (level full), with %s",
			plural(d.PinEvents, "pin")+was(d.PinEvents), bytesText(d.PinEventBytes)))
		facts = append(facts, countFact("dotnet.gc.pinned_seen.count", d.PinEvents),
			bytesFact("dotnet.gc.pinned_seen.bytes", d.PinEventBytes))
	}
	if d.PinPlugs > 0 {
		parts = append(parts, fmt.Sprintf("%s (%s) could not be moved",
			plural(d.PinPlugs, "piece")+" of memory", bytesText(d.PinPlugBytes)))
		facts = append(facts, countFact("dotnet.gc.pinned_plugs.count", d.PinPlugs),
			bytesFact("dotnet.gc.pinned_plugs.bytes", d.PinPlugBytes))
	}
	if len(parts) > 0 {
		x.say(&x.e.Result, "pins", upperFirst(strings.Join(parts, "; "))+".", facts...)
	}
}

// pinnedBytes reports how much of the survivors was not moved: the runtime counts whole plugs, objects
// without a gap between them, in which at least one is pinned.
func (x *explainer) pinnedBytes() (text string, facts []Fact) {
	d := x.d
	if !d.Known.Has(gclog.GroupHistory) {
		return "", nil
	}
	var pins, survived uint64
	for g := range d.Generations {
		if d.Collected(g) {
			pins += d.Generations[g].SurvivedPins
			survived += d.Generations[g].Survived
		}
	}
	if pins == 0 || survived == 0 {
		return "", nil
	}
	return fmt.Sprintf(", and %s of the %s that survived could not be moved because of them",
			bytesText(pins), bytesText(survived)),
		[]Fact{bytesFact("survived_pinned", pins), bytesFact("survived", survived)}
}

// finalization reports what is waiting for its finalizer, and the work of the finalizer thread.
func (x *explainer) finalization() {
	d := x.d
	if d.Known.Has(gclog.GroupFinalizationCount) {
		text := plural(d.FinalizationCount, "object") + was(d.FinalizationCount) + " retained for finalization"
		facts := []Fact{countFact("dotnet.gc.finalization.count", d.FinalizationCount)}
		if d.FinalizationSize > 0 {
			text += ", " + bytesText(d.FinalizationSize) + " with everything reachable from there"
			facts = append(facts, bytesFact("dotnet.gc.finalization.bytes", d.FinalizationSize))
		}
		if d.FinalizationCount == 0 {
			text = "No objects were retained for finalization"
		}
		x.say(&x.e.Result, "finalization", text+".", facts...)
	} else {
		x.lacks("objects retained for finalization", x.whyUnknown("its sizes were not recorded (GCHeapStats)"))
	}
	f := &d.Finalizers
	if f.Runs > 0 {
		text := fmt.Sprintf("Since the previous collection, the finalizer thread finalized %s in %s",
			plural(f.Objects, "object"), plural(uint64(f.Runs), "run"))
		facts := []Fact{
			countFact("dotnet.gc.finalizers.runs", f.Runs), countFact("dotnet.gc.finalizers.objects", f.Objects),
		}
		if d.Known.Has(gclog.GroupLongestFinalizers) {
			text += "; the longest took " + timeText(f.Longest)
			facts = append(facts, timeFact("dotnet.gc.finalizers.longest", f.Longest))
		}
		x.say(&x.e.Result, "finalizers", text+".", facts...)
	}
	if f.Running > 0 {
		x.say(&x.e.Result, "finalizer-running",
			fmt.Sprintf("When it started, the finalizer thread had been running for %s.", timeText(f.Running)),
			timeFact("dotnet.gc.finalizers.running", f.Running))
	}
}

// memory reports the memory of the process and of its control group.
func (x *explainer) memory() {
	m := &x.d.Memory
	var parts []string
	var facts []Fact
	if m.Resident > 0 {
		parts = append(parts, "the process had "+bytesText(m.Resident)+" of resident memory")
		facts = append(facts, bytesFact("process.memory.rss", m.Resident))
	}
	if m.Cgroup > 0 {
		text := "its control group used " + bytesText(m.Cgroup)
		if m.CgroupLimit > 0 {
			text += " of " + bytesText(m.CgroupLimit)
			facts = append(facts, bytesFact("process.cgroup.memory.limit", m.CgroupLimit))
		}
		parts = append(parts, text)
		facts = append(facts, bytesFact("process.cgroup.memory.usage", m.Cgroup))
	}
	if len(parts) > 0 {
		x.say(&x.e.Result, "memory", "After it, "+andList(parts)+".", facts...)
	}
}

// others reports handles, sync blocks and segments.
func (x *explainer) others() {
	d := x.d
	var parts []string
	var facts []Fact
	switch {
	case !d.Known.Has(gclog.GroupAfter):
		x.lacks("handles", x.whyUnknown("its sizes were not recorded (GCHeapStats)"))
	case !d.Known.Has(gclog.GroupHandles):
		x.lacks("handles", x.whyUnknown("the runtime reported a negative number, as it sometimes does"))
	case d.Generation < gclog.Gen2:
		x.lacks("handles", "the runtime counts only those that a collection scans, and only gen2 scans all of them")
	default:
		parts = append(parts, plural(uint64(d.Handles), "handle"))
		facts = append(facts, countFact("dotnet.gc.handles", d.Handles))
	}
	if d.Known.Has(gclog.GroupSyncBlocks) {
		parts = append(parts, plural(uint64(d.SyncBlocks), "sync block"))
		facts = append(facts, countFact("dotnet.gc.sync_blocks", d.SyncBlocks))
	}
	if len(parts) > 0 {
		x.say(&x.e.Result, "handles", "The runtime had "+andList(parts)+" after it.", facts...)
	}
	if s := &d.Segments; d.Known.Has(gclog.GroupSegments) && s.Created+s.Freed > 0 {
		text := fmt.Sprintf("obtained %s of memory from the system (%s) and returned %s",
			plural(uint64(s.Created), "piece"), bytesText(s.CreatedBytes), noneOr(s.Freed))
		if s.Created == 0 {
			text = fmt.Sprintf("returned %s of memory to the system", plural(uint64(s.Freed), "piece"))
		}
		x.say(&x.e.Result, "segments", "Since the previous collection, the heap "+text+".",
			countFact("dotnet.gc.segments.created.count", s.Created),
			bytesFact("dotnet.gc.segments.created.bytes", s.CreatedBytes),
			countFact("dotnet.gc.segments.freed.count", s.Freed))
	}
}
