package gclog_test

import (
	"fmt"
	"math"
	"math/bits"
	"strconv"
	"strings"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/parse/clr"
)

// compare compares the members of a collection that have a counterpart in a record. Arrays are
// compared by element, member[element].
func (c *comparison) compare() {
	c.identity()
	c.times()
	c.marking()
	c.heapStats()
	c.global()
	c.perHeap()
	c.condemned()
	c.sizes()
	c.allocated()
	c.details()
}

// same compares values that both sides know.
func (c *comparison) same(member string, ours, theirs any) {
	c.members++
	if a, b := fmt.Sprint(ours), fmt.Sprint(theirs); a != b {
		c.disagree(member, a, b)
	}
}

// whole compares integers, with theirs in units of scale; nil is unknown.
func (c *comparison) whole(member string, ours int64, known bool, theirs *float64, scale float64) {
	a, b := "unknown", "unknown"
	if known {
		a = strconv.FormatInt(ours, 10)
	}
	if theirs != nil {
		b = strconv.FormatInt(int64(math.Round(*theirs*scale)), 10)
	}
	c.same(member, a, b)
}

// time compares nanoseconds with milliseconds.
func (c *comparison) time(member string, ours int64, known bool, theirs *float64) {
	c.whole(member, ours, known, theirs, 1e6)
}

// size compares bytes with millions of bytes.
func (c *comparison) size(member string, ours uint64, known bool, theirs *float64) {
	c.whole(member, int64(ours), known, theirs, 1e6)
}

// ratio compares values computed from other numbers on both sides, within rounding error.
func (c *comparison) ratio(member string, ours float64, known bool, theirs *float64) {
	c.members++
	switch {
	case !known && theirs == nil:
	case !known:
		c.disagree(member, "unknown", *theirs)
	case theirs == nil:
		c.disagree(member, ours, "unknown")
	case math.Abs(*theirs-ours) > 1e-7*max(1, math.Abs(ours)):
		c.disagree(member, ours, *theirs)
	}
}

func (c *comparison) identity() {
	d, w := c.d, c.w
	c.same("Number", d.Number, w.Number)
	c.same("Type", d.Type, w.Type)
	c.same("Reason", d.Reason, w.Reason)
	c.same("Generation", d.Generation, w.Generation)
	c.same("GCGenerationName", string(d.AppendName(nil)), w.GCGenerationName)
	c.same("IsComplete", d.Complete, w.IsComplete)
	c.whole("HeapCount", int64(d.HeapCount()), d.HeapCount() != 0, w.HeapCount, 1)
	c.whole("GenerationCount", int64(d.GenerationCount), d.GenerationCount != 0, w.GenerationCount, 1)
}

func (c *comparison) times() {
	d, w := c.d, c.w
	c.time("StartRelativeMSec", d.Start, true, w.StartRelativeMSec)
	c.time("DurationMSec", d.Duration(), true, w.DurationMSec)
	c.time("PauseStartRelativeMSec", d.PauseStart(), true, w.PauseStartRelativeMSec)
	c.time("PauseDurationMSec", d.Pause(), true, w.PauseDurationMSec)
	suspend, known := d.Suspend()
	c.time("SuspendDurationMSec", suspend, known, w.SuspendDurationMSec)
	c.time("BGCFinalPauseMSec", d.FinalPause(), true, w.BGCFinalPauseMSec)
	c.time("DurationSinceLastRestartMSec", d.SinceLast, d.Known.Has(gclog.GroupSinceLast), w.DurationSinceLastRestartMSec)
	c.ratio("PauseTimePercentage", d.PausePercent(), d.Window > 0, w.PauseTimePercentage)

	theirs := w.TimingInfo
	if len(theirs) == 0 {
		theirs = make([]*float64, 8)
	}
	compacting, _ := d.Compacting()
	for i, x := range []struct {
		name string
		at   int
		has  bool
	}{
		{"MarkRoot", clr.TimeMarkRoots, true},
		{"MarkShortWeak", clr.TimeMarkShortWeak, true},
		{"MarkScanFinalization", clr.TimeScanFinalization, true},
		{"MarkLongWeak", clr.TimeMarkLongWeak, true},
		{"Plan", clr.TimePlan, true},
		{"Relocate", clr.TimeRelocate, compacting},
		{"Compact", clr.TimeCompact, compacting},
		{"Sweep", clr.TimeSweep, !compacting},
	} {
		c.whole("TimingInfo["+x.name+"]", d.Timing[x.at], x.has && x.at < d.TimingCount, theirs[i], 1e3)
	}
}

func (c *comparison) marking() {
	d := c.d
	heaps := 0
	for i := range d.Heaps {
		h := &d.Heaps[i]
		if h.Marked == 0 {
			continue
		}
		heaps++
		w := c.w.PerHeapMarkTimes[strconv.Itoa(int(h.Heap))]
		for t := range clr.MarkTypes {
			element := fmt.Sprintf("[%d %v]", h.Heap, t)
			var took *float64
			promoted := int64(-1)
			if int(t) < len(w.MarkTimes) && w.MarkTimes[t] >= 0 {
				took, promoted = &w.MarkTimes[t], w.MarkPromoted[t]
			}
			ours := int64(-1)
			markTime, known := d.MarkTime(i, t)
			if known {
				ours = int64(h.MarkPromoted[t])
			}
			c.time("PerHeapMarkTimes"+element, markTime, known, took)
			c.same("MarkPromoted"+element, ours, promoted)
		}
	}
	c.same("PerHeapMarkTimes[heaps]", heaps, len(c.w.PerHeapMarkTimes))
}

func (c *comparison) heapStats() {
	d, h := c.d, c.w.HeapStats
	c.same("HeapStats", d.Known.Has(gclog.GroupAfter), h != nil)
	if h == nil {
		return
	}
	c.same("HeapStats.TotalHeapSize", d.SizeAfter(), h.TotalHeapSize)
	c.same("HeapStats.TotalPromoted", d.PromotedBytes, h.TotalPromoted)
	sizes := []int64{h.GenerationSize0, h.GenerationSize1, h.GenerationSize2, h.GenerationSize3, h.GenerationSize4}
	promoted := []int64{h.TotalPromotedSize0, h.TotalPromotedSize1, h.TotalPromotedSize2, h.TotalPromotedSize3, h.TotalPromotedSize4}
	for g := range d.Generations {
		element := "[" + gclog.GenerationName(g) + "]"
		c.same("HeapStats.GenerationSize"+element, d.Generations[g].After, sizes[g])
		c.same("HeapStats.TotalPromotedSize"+element, d.Generations[g].Promoted, promoted[g])
	}
	c.same("HeapStats.FinalizationPromotedSize", int64(d.FinalizationSize), h.FinalizationPromotedSize)
	c.same("HeapStats.FinalizationPromotedCount", int64(d.FinalizationCount), h.FinalizationPromotedCount)
	c.same("HeapStats.PinnedObjectCount", d.PinnedObjects, h.PinnedObjectCount)
	c.same("HeapStats.SinkBlockCount", d.SyncBlocks, h.SinkBlockCount)
	c.same("HeapStats.GCHandleCount", d.Known.Has(gclog.GroupHandles), h.GCHandleCount >= 0)
	c.same("HeapStats.GCHandleCount", d.Handles, max(0, h.GCHandleCount))
}

func (c *comparison) global() {
	g, w := &c.d.Global, c.w.GlobalHeapHistory
	c.same("GlobalHeapHistory", c.d.Known.Has(gclog.GroupGlobal), w != nil)
	if w == nil || !c.d.Known.Has(gclog.GroupGlobal) {
		return
	}
	same := func(member string, ours, theirs any) { c.same("GlobalHeapHistory."+member, ours, theirs) }
	same("FinalYoungestDesired", g.FinalYoungestDesired, w.FinalYoungestDesired)
	same("NumHeaps", g.Heaps, w.NumHeaps)
	same("CondemnedGeneration", g.CondemnedGeneration, w.CondemnedGeneration)
	same("Gen0ReductionCount", g.Gen0Reductions, w.Gen0ReductionCount)
	same("Reason", g.Reason, w.Reason)
	same("GlobalMechanisms", strings.Join(g.Mechanisms.Names(nil), ", "), w.GlobalMechanisms)
	same("PauseMode", g.PauseMode, w.PauseMode)
	same("MemoryPressure", g.MemoryLoad, w.MemoryPressure)
	same("HasMemoryPressure", g.HasMemoryLoad, w.HasMemoryPressure)
	same("HasCondemnReasons0", g.HasCondemned, w.HasCondemnReasons0)
	same("HasCondemnReasons1", g.HasCondemned, w.HasCondemnReasons1)
	if g.HasCondemned && w.HasCondemnReasons1 {
		same("CondemnReasons0", uint32(g.CondemnedGenerations), w.CondemnReasons0)
		same("CondemnReasons1", uint32(g.Condemned), w.CondemnReasons1)
	}
	if r := c.w.GlobalCondemnedReasons; r != nil {
		c.same("GlobalCondemnedReasons", []uint32{uint32(g.CondemnedGenerations), uint32(g.Condemned)}, []uint32{r.EncodedReasons.Reasons, r.EncodedReasons.ReasonsEx})
	}
	var times []int32 // TraceEvent reads them as signed
	for _, v := range g.Times[:g.TimeCount] {
		times = append(times, int32(v))
	}
	same("Times", times, w.Times)
}

// mechanism returns the index of the reason that TraceEvent shows, 1024 for none.
func mechanism(m clr.HeapMechanism) int {
	if !m.Done() {
		return 1024
	}
	return bits.Len32(uint32(m)&^(1<<31)) - 1
}

func (c *comparison) perHeap() {
	histories := histories(c.d)
	c.same("PerHeapHistories", len(histories), len(c.w.PerHeapHistories))
	if len(histories) != len(c.w.PerHeapHistories) {
		return
	}
	same := func(member string, ours, theirs any) { c.same("PerHeapHistories."+member, ours, theirs) }
	for i := range c.w.PerHeapHistories {
		h, w := histories[i], &c.w.PerHeapHistories[i]
		same("HeapIndex", h.Heap, i)
		same("FreeListAllocated", h.FreeListAllocated, w.FreeListAllocated)
		same("FreeListRejected", h.FreeListRejected, w.FreeListRejected)
		same("EndOfSegAllocated", h.EndOfSegmentAllocated, w.EndOfSegAllocated)
		same("CondemnedAllocated", h.CondemnedAllocated, w.CondemnedAllocated)
		same("PinnedAllocated", h.PinnedAllocated, w.PinnedAllocated)
		same("PinnedAllocatedAdvance", h.PinnedAllocatedAdvance, w.PinnedAllocatedAdvance)
		same("RunningFreeListEfficiency", h.RunningFreeListEfficiency, w.RunningFreeListEfficiency)
		same("CondemnReasons0", uint32(h.CondemnedGenerations), w.CondemnReasons0)
		same("CondemnReasons1", uint32(h.Condemned), w.CondemnReasons1)
		same("CompactMechanisms", mechanism(h.Compact), w.CompactMechanisms)
		same("ExpandMechanisms", mechanism(h.Expand), w.ExpandMechanisms)
		same("ExtraGen0Commit", h.ExtraGen0Commit, w.ExtraGen0Commit)
		same("GenData", h.Generations, len(w.GenData))
		for g := range min(h.Generations, len(w.GenData)) {
			same("GenData["+gclog.GenerationName(g)+"]", oracleGenerationOf(&h.Generation[g]), w.GenData[g])
		}
		if i < len(c.w.PerHeapCondemnedReasons) {
			r := c.w.PerHeapCondemnedReasons[i].EncodedReasons
			c.same("PerHeapCondemnedReasons", []uint32{uint32(h.CondemnedGenerations), uint32(h.Condemned)}, []uint32{r.Reasons, r.ReasonsEx})
		}
	}
}

// histories returns the heap histories of a record, by heap number.
func histories(d *gclog.GCDetails) (list []*clr.GCPerHeapHistory) {
	for n := range uint32(len(d.Heaps)) {
		for i := range d.Heaps {
			if h := &d.Heaps[i]; h.HasHistory && h.Heap == n {
				list = append(list, &h.History)
			}
		}
	}
	return list
}

func oracleGenerationOf(g *clr.HeapGeneration) oracleGeneration {
	w := oracleGeneration{
		SizeBefore: int64(g.SizeBefore), FreeListSpaceBefore: int64(g.FreeListBefore), FreeObjSpaceBefore: int64(g.FreeObjectsBefore),
		SizeAfter: int64(g.SizeAfter), FreeListSpaceAfter: int64(g.FreeListAfter), FreeObjSpaceAfter: int64(g.FreeObjectsAfter),
		ObjSpaceBefore: g.ObjectsBefore(), ObjSizeAfter: g.ObjectsAfter(), Fragmentation: int64(g.Fragmentation()),
		In: int64(g.In), Out: int64(g.Survivors()), Budget: int64(g.Budget),
		PinnedSurv: int64(g.PinnedSurvivors), NonePinnedSurv: int64(g.NonPinnedSurvivors),
	}
	if w.ObjSpaceBefore != 0 {
		w.SurvRate = 100 * w.Out / w.ObjSpaceBefore
	}
	return w
}

// reasonNames are TraceEvent's names for the conditions. It shows that a collection was induced
// only if that alone determined the generation.
var reasonNames = map[clr.Condemned]string{
	clr.CondemnedExpandHeap: "Expand_Heap", clr.CondemnedLowEphemeral: "Low_Ephemeral", clr.CondemnedLowCardTable: "Internal_Tuning",
	clr.CondemnedFragmentedEphemeral: "Fragmented_Ephemeral", clr.CondemnedFragmentedGen2: "Fragmented_Gen2",
	clr.CondemnedFragmentedGen1ToGen2: "Fragmented_Gen1_To_Gen2", clr.CondemnedFragmentedGen2HighMemory: "Fragmented_Gen2_High_Mem",
	clr.CondemnedFragmentedGen2VeryHighMemory: "Fragmented_Gen2_High_Mem", clr.CondemnedBeforeOOM: "GC_Before_OOM",
	clr.CondemnedTooSmallForBackground: "Too_Small_For_BGC", clr.CondemnedEphemeralBeforeBackground: "Ephemeral_Before_BGC",
	clr.CondemnedAlmostMaxAlloc: "Almost_Max_Alloc",
}

func (c *comparison) condemned() {
	d, w := c.d, c.w
	steps, conditions, known := d.Condemned()
	c.same("GetCondemnedReasons()[known]", known, len(w.PerHeapHistories) > 0)
	if !known || len(w.PerHeapHistories) == 0 || w.CondemnedHeap == nil {
		return
	}
	h := &w.PerHeapHistories[*w.CondemnedHeap]
	own := clr.Condemned(h.CondemnReasons1)
	c.same("FindFirstHighestCondemnedHeap()", []uint32{uint32(steps), uint32(conditions)}, []uint32{h.CondemnReasons0, uint32(own | d.Global.Condemned)})

	ours := map[string]int{}
	budget := steps.BudgetExceeded()
	if conditions&clr.CondemnedMaxGenerationBudget != 0 {
		budget = gclog.Gen2
	}
	if budget == d.Generation {
		ours["Alloc_Exceeded"] = 1
	}
	if steps.TimeTuning() == d.Generation {
		ours["Time_Tuning"] = 1
	}
	if conditions&(clr.CondemnedInducedFullBlocking|clr.CondemnedInducedNotForced) != 0 && steps.Initial() == d.Generation {
		ours["Induced"] = 1
	}
	for bit, name := range reasonNames {
		if conditions&own&bit != 0 { // TraceEvent leaves out decisions made for all heaps
			ours[name] = 1
		}
	}
	c.same("GetCondemnedReasons()", ours, w.CondemnedReasons)
	if w.LowEphemeral != nil {
		c.same("IsLowEphemeral()", conditions&clr.CondemnedLowEphemeral != 0, *w.LowEphemeral)
	}
	if compacting, known := d.Compacting(); known && w.NotCompacting != nil {
		c.same("IsNotCompacting()", !compacting, *w.NotCompacting)
	}
}

func (c *comparison) sizes() {
	d, w := c.d, c.w
	c.size("HeapSizeBeforeMB", d.SizeBefore(), d.Known.Has(gclog.GroupBefore), w.HeapSizeBeforeMB)
	c.size("HeapSizeAfterMB", d.SizeAfter(), d.Known.Has(gclog.GroupAfter), w.HeapSizeAfterMB)
	c.size("HeapSizePeakMB", d.Peak, d.Known.Has(gclog.GroupBefore), w.HeapSizePeakMB)
	c.ratio("RatioPeakAfter", float64(d.Peak)/float64(d.SizeAfter()), d.Known.Has(gclog.GroupBefore) && d.SizeAfter() != 0, w.RatioPeakAfter)
	c.size("PromotedMB", d.PromotedBytes, d.Known.Has(gclog.GroupPromoted), w.PromotedMB)
	at := func(list []*float64, g int) *float64 {
		if g < len(list) {
			return list[g]
		}
		return nil
	}
	for g := range d.GenerationCount {
		x := &d.Generations[g]
		element := "[" + gclog.GenerationName(g) + "]"
		c.size("GenSizeBeforeMB"+element, x.Before, d.Known.Has(gclog.GroupBefore), at(w.GenSizeBeforeMB, g))
		c.size("GenSizeAfterMB"+element, x.After, d.Known.Has(gclog.GroupAfter), at(w.GenSizeAfterMB, g))
		c.size("GenPromotedMB"+element, x.Promoted, d.Known.Has(gclog.GroupGenerationPromoted) && (g != gclog.POH || d.Known.Has(gclog.GroupHistory)), at(w.GenPromotedMB, g))
		c.size("GenFragmentationMB"+element, x.Fragmentation, d.Known.Has(gclog.GroupFragmentation), at(w.GenFragmentationMB, g))
		percent, known := d.FragmentationPercent(g)
		c.ratio("GenFragmentationPercent"+element, percent, known, at(w.GenFragmentationPercent, g))
		c.size("GenInMB"+element, x.In, d.Known.Has(gclog.GroupHistory), at(w.GenInMB, g))
		c.size("GenOutMB"+element, x.Survived, d.Known.Has(gclog.GroupHistory), at(w.GenOutMB, g))
		c.size("GenBudgetMB"+element, x.Budget, d.Known.Has(gclog.GroupHistory), at(w.GenBudgetMB, g))
		c.size("GenObjSizeAfterMB"+element, x.ObjectsAfter, d.Known.Has(gclog.GroupObjects), at(w.GenObjSizeAfterMB, g))
		percent, known = d.Survival(g)
		c.ratio("SurvivalPercent"+element, percent, known, at(w.SurvivalPercent, g))
	}
}

func (c *comparison) allocated() {
	d, w := c.d, c.w
	for g, v := range w.UserAllocated {
		c.size("UserAllocated["+gclog.GenerationName(g)+"]", d.Generations[g].Allocated, d.Known.Has(gclog.GroupAllocated), v)
	}
	c.size("AllocedSinceLastGCMB", d.Allocated, d.Known.Has(gclog.GroupAllocated), w.AllocedSinceLastGCMB)
	// Theirs divides by a time that need not be the one in which this was allocated; ours is tested
	// by TestAllocationRate.
	c.ratio("AllocRateMBSec", float64(d.Allocated)*1e3/float64(max(1, d.SinceLast)), d.Known.Has(gclog.GroupAllocated) && d.Known.Has(gclog.GroupSinceLast), w.AllocRateMBSec)
	for k, v := range w.AllocTicksMB { // 0 without ticks
		c.size("AllocedSinceLastGCBasedOnAllocTickMB["+clr.AllocationKind(k).String()+"]", d.TickAllocated[k], true, v)
	}
}

func (c *comparison) details() {
	d, w := c.d, c.w
	c.whole("CommittedUsageBefore", int64(d.CommittedBefore), d.Known.Has(gclog.GroupCommittedBefore), w.CommittedUsageBefore.total(), 1)
	c.whole("CommittedUsageAfter", int64(d.CommittedAfter), d.Known.Has(gclog.GroupCommittedAfter), w.CommittedUsageAfter.total(), 1)

	percent, known := d.FreeListEfficiency()
	var theirs *float64
	if w.FreeList.Valid && w.FreeList.FreeListConsumed > 0 {
		v := 100 * float64(w.FreeList.Allocated) / float64(w.FreeList.FreeListConsumed)
		theirs = &v
	}
	c.ratio("FreeList", percent, known, theirs)
	c.same("LOHCompactInfos", d.LOHCompactions, w.LOHCompactInfos)
	c.same("LargestFreeListItemsBuckets", d.FreeItems, w.LargestFreeListItemsBuckets)
	c.same("PlugsInCondemnedBuckets", d.Plugs, w.PlugsInCondemnedBuckets)
	if d.Background == nil {
		c.same("BGCRevisitInfoArr", 0, len(w.BGCRevisitInfoArr))
		c.same("LOHWaitThreads", 0, len(w.LOHWaitThreads))
		return
	}
	if revisited := d.Background.Revisited; w.BGCRevisitInfoArr != nil || revisited != ([2][2]gclog.Revisit{}) {
		c.same("BGCRevisitInfoArr", revisited, w.BGCRevisitInfoArr)
	}
	c.same("LOHWaitThreads", len(d.Background.Waits), len(w.LOHWaitThreads))
	for _, a := range d.Background.Waits {
		b := w.LOHWaitThreads[strconv.FormatUint(a.Thread, 10)]
		took := b.WaitStopRelativeMSec - b.WaitStartRelativeMSec
		c.time("LOHWaitThreads[start]", a.Start, true, &b.WaitStartRelativeMSec)
		c.time("LOHWaitThreads[duration]", a.Duration, true, &took)
	}
}
