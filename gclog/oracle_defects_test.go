package gclog_test

import (
	"fmt"
	"math"
	"slices"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/parse/clr"
)

// A defect is a reason why TraceEvent disagrees with a record. Those with a number are in the
// README of the oracle; 9 and 16 concern sums over collections, 13 and 14 also the lists
// (compareLists), 15 data that TraceEvent does not have, 17 its speed.
type defect struct {
	what    string
	members []string // with or without [element]
	always  bool     // the two differ wherever it affects a collection
	// affects reports whether the defect explains a difference in this collection.
	affects func(r *evidence, p *pair) bool
	// wrong returns evidence that the record is wrong nevertheless, or "".
	wrong func(r *evidence, p *pair) string
}

// expect returns "" if got equals want.
func expect[T comparable](what string, got, want T) string {
	if got == want {
		return ""
	}
	return fmt.Sprintf("%s is %v, want %v", what, got, want)
}

func all(problems ...string) string {
	for _, p := range problems {
		if p != "" {
			return p
		}
	}
	return ""
}

func nanoseconds(ms *float64) int64 {
	if ms == nil {
		return 0
	}
	return int64(math.Round(*ms * 1e6))
}

func bytesOf(mb *float64) int64 { return nanoseconds(mb) }

func ofBackground(r *evidence, p *pair) bool { return p.d.Kind == gclog.KindBackground }

// inside returns the collection in the first suspension of a background one.
func inside(r *evidence, p *pair) *gclog.GCDetails {
	if b := p.after; p.d.Kind == gclog.KindBackground && b != nil && b.InsideBGCStart {
		return b
	}
	return nil
}

// overwritten reports whether d is a foreground collection that has ended and is restarting when a
// background one of workstation GC reports its histories.
func overwritten(r *evidence, d *gclog.GCDetails) bool {
	return !r.server && slices.ContainsFunc(r.events.histories, func(h heapHistories) bool {
		return h.concurrent() && restartedAt(d, h.at)
	})
}

// overwriting reports whether d is such a background collection.
func overwriting(r *evidence, d *gclog.GCDetails) bool {
	return d.Kind == gclog.KindBackground && slices.ContainsFunc(r.o.gcs, func(f *gclog.GCDetails) bool {
		return f.Start > d.Start && f.Start < d.End && overwritten(r, f)
	})
}

// marksAgain reports whether a heap marked from one kind of root more than once, or from dependent
// handles what the runtime reports as an overflow.
func marksAgain(r *evidence, p *pair) bool {
	seen := map[[2]uint32]bool{}
	return slices.ContainsFunc(r.events.marks, func(m mark) bool {
		key := [2]uint32{m.Heap, uint32(rootsOf(&m))}
		again := m.at > p.d.Start && m.at < p.d.End && seen[key]
		seen[key] = seen[key] || m.at > p.d.Start
		return again
	})
}

// summed checks that a record's values from the heap histories match those histories.
func summed(r *evidence, p *pair) string {
	d, history := p.d, r.historiesOf(p.d)
	problem := all(expect("histories", len(history.heaps), int(history.global.Heaps)), expect("heaps", d.HeapCount(), len(history.heaps)), expect("known", d.Known.Has(gclog.GroupHistory) && d.Known.Has(gclog.GroupGlobal), true),
		expect("what is common to the heaps", d.Global, history.global), expect("concurrent", history.concurrent(), d.Kind == gclog.KindBackground))
	list := histories(d)
	if len(list) != len(history.heaps) {
		return all(problem, expect("histories of the record", len(list), len(history.heaps)))
	}
	decided := 0
	for i, h := range slices.Backward(history.heaps) {
		problem = all(problem, expect("history", *list[i], h), expect("generations", d.GenerationCount, h.Generations))
		if h.CondemnedGenerations.Final() == d.Generation {
			decided = i
		}
	}
	for g := range d.Generations {
		problem = all(problem, summedGeneration(r, d, history, g))
	}
	steps, conditions, known := d.Condemned()
	own := &history.heaps[decided]
	return all(problem, expect("reasons known", known, true), expect("steps", steps, own.CondemnedGenerations), expect("conditions", conditions, own.Condemned|history.global.Condemned),
		expect("generation", history.global.CondemnedGeneration, uint32(d.Generation)), timed(d, &history.global), peak(r, p))
}

// budgets returns the budget that a generation was given until its next collection, and the sum of
// what each heap requested, which TraceEvent mistakes for it.
func (r *evidence) budgets(d *gclog.GCDetails, g int) (set, asked uint64) {
	h := r.historiesOf(d)
	asked = h.asked(g)
	if r.server && g >= gclog.LOH && d.Collected(g) {
		return r.smoothed(h, g), asked
	}
	if perHeap := h.global.FinalYoungestDesired; g == gclog.Gen0 && d.Kind != gclog.KindBackground && perHeap > 0 {
		return perHeap * uint64(len(h.heaps)), asked
	}
	return asked, asked
}

// asked returns the sum of what each heap requested.
func (h *heapHistories) asked(g int) (sum uint64) {
	for i := range h.heaps {
		sum += h.heaps[i].Generation[g].Budget
	}
	return sum
}

// smoothed returns the budget of large or pinned objects in force after a gen2 collection of server
// GC: a third of what its heaps requested, and the rest of what was in force before; 0 if that was
// not seen.
func (r *evidence) smoothed(last *heapHistories, g int) uint64 {
	budget, n := uint64(0), uint64(0)
	for i := range r.events.histories {
		h := &r.events.histories[i]
		if h.global.CondemnedGeneration == gclog.Gen2 {
			n++
			of := min(n, 3) // the runtime's own formula, in whole bytes
			budget = h.asked(g)/of + budget/of*(of-1)
		}
		if h.at == last.at {
			break
		}
	}
	if r.byStart[0].Number != 1 && n < 12 {
		return 0
	}
	return budget
}

func summedGeneration(r *evidence, d *gclog.GCDetails, histories *heapHistories, g int) string {
	var want gclog.GenerationDetails
	var after, objectsBefore, objectsAfter int64
	for i := range histories.heaps {
		x := &histories.heaps[i].Generation[g]
		want.Before += x.SizeBefore
		want.FreeBefore += x.FreeListBefore + x.FreeObjectsBefore
		want.Fragmentation += x.FreeListAfter + x.FreeObjectsAfter
		want.In += x.In
		want.Survived += x.PinnedSurvivors + x.NonPinnedSurvivors
		want.SurvivedPins += x.PinnedSurvivors
		after += int64(x.SizeAfter)
	}
	want.Budget, _ = r.budgets(d, g)
	x := &d.Generations[g]
	if after == 0 && !d.Collected(g) { // .NET Core 3.1
		after = int64(x.After)
	}
	objectsBefore = int64(want.Before) - int64(want.FreeBefore)
	objectsAfter = after - int64(want.Fragmentation)
	percent, known := d.Survival(g)
	problem := expect("survival known", known, d.Collected(g) && objectsBefore > 0 && int64(want.Survived) <= objectsBefore+objectsBefore/50)
	if known && math.Abs(percent*float64(objectsBefore)-100*float64(min(int64(want.Survived), objectsBefore))) > 1 {
		problem = fmt.Sprintf("%v%% of %d is not %d", percent, objectsBefore, want.Survived)
	}
	free, known := d.FragmentationPercent(g)
	problem = all(problem, expect("fragmentation known", known, x.After > 0))
	if known && math.Abs(free*float64(x.After)-100*float64(want.Fragmentation)) > 1 {
		problem = all(problem, fmt.Sprintf("%v%% of %d is not %d", free, x.After, want.Fragmentation))
	}
	return all(problem, expect("before", x.Before, want.Before), expect("free before", x.FreeBefore, want.FreeBefore), expect("free", x.Fragmentation, want.Fragmentation),
		expect("in", x.In, want.In), expect("survived", x.Survived, want.Survived), expect("pinned survivors", x.SurvivedPins, want.SurvivedPins), expect("budget", x.Budget, want.Budget),
		expect("objects before", x.ObjectsBefore, uint64(max(0, objectsBefore))), expect("objects after", x.ObjectsAfter, uint64(max(0, objectsAfter))))
}

// timed checks that the durations in a record are those that the runtime reported for the parts
// that a collection of its kind has.
func timed(d *gclog.GCDetails, history *clr.GCGlobalHeapHistory) string {
	count := history.TimeCount
	switch {
	case history.Mechanisms&clr.MechanismConcurrent != 0:
		count = min(count, clr.TimePlan)
	case history.Mechanisms&clr.MechanismCompaction == 0 || int64(history.Times[clr.TimeCompact])*1000 > d.Duration():
		count = min(count, clr.TimeCompact)
	}
	problem := expect("times", d.TimingCount, count)
	for i := range count {
		problem = all(problem, expect("time", d.Timing[i], int64(history.Times[i])*1000))
	}
	return problem
}

// spanned checks that a record's running time since the previous collection, and the time that its
// pause percentage relates to, match the times of the events.
func spanned(r *evidence, p *pair) string {
	d := p.d
	own, last := r.sizesOf(d)
	end := d.PauseStart()
	if d.Kind == gclog.KindBackground {
		end = own
	}
	want := int64(0)
	if last != 0 {
		want = max(0, end-last)
	}
	problem := all(expect("known since the last", d.Known.Has(gclog.GroupSinceLast), last != 0), expect("since the last", d.SinceLast, want))
	switch {
	case d.Kind != gclog.KindBackground && last != 0:
		want += d.Pause()
	case d.Kind == gclog.KindBackground && p.before != nil && p.before.Known.Has(gclog.GroupEnd) && p.before.End <= d.Start:
		want = d.End - p.before.End
	case d.Kind == gclog.KindBackground:
		want = d.End - d.Start
	}
	return all(problem, expect("window", d.Window, want))
}

// peak checks the largest size of the heap during the collection.
func peak(r *evidence, p *pair) string {
	want := p.d.SizeBefore()
	for _, o := range r.o.gcs {
		if p.d.Kind == gclog.KindBackground && o.Start >= p.d.Start && o.Start < p.d.End {
			want = max(want, o.SizeBefore())
		}
	}
	return expect("peak", p.d.Peak, want)
}

var (
	ofHistories = []string{
		"PerHeapHistories", "TimingInfo", "GenSizeBeforeMB", "HeapSizeBeforeMB", "HeapSizePeakMB", "RatioPeakAfter", "GenFragmentationMB",
		"GenFragmentationPercent", "GenOutMB", "GenBudgetMB", "GenObjSizeAfterMB", "SurvivalPercent",
	}
	ofNone  = append([]string{"GlobalHeapHistory", "GetCondemnedReasons()", "GenerationCount", "GenInMB"}, ofHistories...)
	ofWrong = append([]string{
		"GlobalHeapHistory.FinalYoungestDesired", "GlobalHeapHistory.CondemnedGeneration", "GlobalHeapHistory.GlobalMechanisms",
		"GlobalHeapHistory.Gen0ReductionCount", "GlobalHeapHistory.Reason", "GlobalHeapHistory.Times",
	}, ofHistories...)
	ofPause     = []string{"PauseStartRelativeMSec", "PauseDurationMSec", "PauseTimePercentage"}
	ofPrevious  = []string{"DurationSinceLastRestartMSec", "PauseTimePercentage", "AllocRateMBSec"}
	ofAllocated = []string{"UserAllocated", "AllocedSinceLastGCMB", "AllocRateMBSec"}
)

// afterMissed reports whether the collections immediately before this one were not seen. Numbers
// used up without a collection do not count.
func afterMissed(p *pair) bool {
	return !p.d.Known.Has(gclog.GroupSinceLast) && p.before != nil && p.d.Number > p.before.Number+1
}

var defects = []defect{
	{
		what:    "before the first collection of a stream there is none: it takes the begin of the stream for one",
		members: ofPrevious,
		always:  true,
		affects: func(r *evidence, p *pair) bool { return !p.d.Known.Has(gclog.GroupSinceLast) && !afterMissed(p) },
		wrong: func(r *evidence, p *pair) string {
			return all(expect("the first", p.w == p.first, true), spanned(r, p))
		},
	},
	{
		what:    "where collections were missed, it takes the last one that was seen for the previous one",
		members: append(append([]string{}, ofPrevious...), ofAllocated...),
		always:  true,
		affects: func(r *evidence, p *pair) bool { return afterMissed(p) },
		wrong: func(r *evidence, p *pair) string {
			return all(expect("known since the last", p.d.Known.Has(gclog.GroupSinceLast), false), expect("window", p.d.Window, 0), expect("what was allocated is known", p.d.Known.Has(gclog.GroupAllocated), false))
		},
	},
	{
		what:    "1: a background collection that is carried out as a blocking one has only the time until the threads stood, its name is that of a background one, and its pause counts as time since the last one",
		members: []string{"PauseDurationMSec", "PauseTimePercentage", "GCGenerationName", "DurationSinceLastRestartMSec", "AllocRateMBSec"},
		always:  true,
		affects: func(r *evidence, p *pair) bool { return p.d.DemotedBGC },
		wrong: func(r *evidence, p *pair) string {
			return all(expect("pauses", len(p.d.Pauses), 1), expect("theirs", nanoseconds(p.w.PauseDurationMSec), orUnknown(p.d.Suspend())), covers(r, p.d), spanned(r, p))
		},
	},
	{
		what:    "2: a collection in the first suspension of a background one has all of that from its start",
		members: append([]string{"DurationSinceLastRestartMSec", "AllocRateMBSec"}, ofPause...),
		always:  true,
		affects: func(r *evidence, p *pair) bool { return p.d.InsideBGCStart },
		wrong: func(r *evidence, p *pair) string {
			// Their parts make up the suspension: it ends where TraceEvent has the end of this one.
			b := p.before
			initial := &b.Pauses[0]
			end := nanoseconds(p.w.PauseStartRelativeMSec) + nanoseconds(p.w.PauseDurationMSec)
			return all(expect("pause", p.d.Pause(), p.d.Duration()), expect("begin", p.d.PauseStart(), p.d.Suspended), expect("shared begin", b.Suspended, p.d.Suspended),
				expect("begin of the other part", initial.Start, p.d.PauseStart()+p.d.Pause()), expect("end", initial.Start+initial.Duration, end), spanned(r, p))
		},
	},
	{
		what:    "2: the first pause of a background collection with another one in it is left out but for the time until the threads stood",
		members: ofPause,
		always:  true,
		affects: func(r *evidence, p *pair) bool { return inside(r, p) != nil },
		wrong: func(r *evidence, p *pair) string {
			initial := &p.d.Pauses[0]
			return all(expect("theirs", nanoseconds(p.w.PauseDurationMSec), initial.Suspend+p.d.Pause()-initial.Duration),
				expect("the parts", inside(r, p).Pause()+initial.Duration, initial.Start+initial.Duration-p.d.Suspended), spanned(r, p))
		},
	},
	{
		what:    "3: what a full collection of provisional mode follows in the same suspension has no pause",
		members: []string{"PauseDurationMSec", "PauseTimePercentage"},
		always:  true,
		affects: func(r *evidence, p *pair) bool { return p.after != nil && p.after.Provisional },
		wrong: func(r *evidence, p *pair) string {
			return all(expect("theirs", nanoseconds(p.w.PauseDurationMSec), 0), expect("end", p.d.PauseStart()+p.d.Pause(), p.after.Start),
				expect("begin of the other", p.after.PauseStart(), p.after.Start), expect("begin", slices.Contains(r.events.suspends, p.d.PauseStart()), true), spanned(r, p))
		},
	},
	{
		what:    "11: the number of heaps stays that of the first collection",
		members: []string{"HeapCount"},
		always:  true,
		affects: func(r *evidence, p *pair) bool { return p.d.HeapCount() != p.firstHeaps },
		wrong: func(r *evidence, p *pair) string {
			return all(expect("theirs", int(*p.w.HeapCount), p.firstHeaps), expect("heaps", p.d.HeapCount(), len(histories(p.d))))
		},
	},
	{
		what:    "4: the histories of a background collection of server GC, which come behind its sizes, are dropped",
		members: append([]string{"HeapCount"}, ofNone...),
		always:  true,
		affects: func(r *evidence, p *pair) bool { return r.server && ofBackground(r, p) },
		wrong: func(r *evidence, p *pair) string {
			return all(expect("their histories", p.w.GlobalHeapHistory != nil || len(p.w.PerHeapHistories) > 0, false), summed(r, p))
		},
	},
	{
		what:    "5: the histories of a background collection go to the foreground one that is being restarted",
		members: ofWrong,
		always:  true,
		affects: func(r *evidence, p *pair) bool { return overwritten(r, p.d) },
		wrong: func(r *evidence, p *pair) string {
			return all(expect("their heaps", len(p.w.PerHeapHistories), 2), expect("theirs is concurrent", p.w.GlobalHeapHistory.GlobalMechanisms[:10], "Concurrent"), summed(r, p))
		},
	},
	{
		what:    "5: and the background one has none",
		members: ofNone,
		always:  true,
		affects: func(r *evidence, p *pair) bool { return overwriting(r, p.d) },
		wrong: func(r *evidence, p *pair) string {
			return all(expect("their histories", p.w.GlobalHeapHistory != nil || len(p.w.PerHeapHistories) > 0, false), summed(r, p))
		},
	},
	{
		what:    "and it takes what was allocated until the first collection that tells its objects for known",
		members: ofAllocated,
		always:  true,
		affects: func(r *evidence, p *pair) bool { return !p.d.Known.Has(gclog.GroupAllocated) && !afterMissed(p) },
		wrong: func(r *evidence, p *pair) string {
			return all(expect("the first", p.w == p.first, true), allocatedRight(r, p))
		},
	},
	{
		what:    "7: where ticks stand for what was allocated of pinned objects, they are those of large ones",
		members: []string{"UserAllocated[poh]"},
		affects: func(r *evidence, p *pair) bool {
			// Both sides agree on the tick events themselves.
			large := bytesOf(p.w.AllocTicksMB[clr.AllocationLarge])
			return p.d.Known.Has(gclog.GroupTicks) && large != 0 && bytesOf(p.w.UserAllocated[gclog.POH]) == large && bytesOf(p.w.UserAllocated[gclog.LOH]) == large
		},
		wrong: allocatedRight,
	},
	{
		what:    "6: of one that is carried out as a blocking one what was allocated in gen0 is from ticks, as of a background one",
		members: []string{"UserAllocated[gen0]", "AllocedSinceLastGCMB"},
		always:  true,
		affects: func(r *evidence, p *pair) bool { return p.d.DemotedBGC && p.d.Known.Has(gclog.GroupAllocated) },
		wrong: func(r *evidence, p *pair) string {
			return all(expect("theirs", bytesOf(p.w.UserAllocated[gclog.Gen0]), bytesOf(p.w.AllocTicksMB[clr.AllocationSmall])), allocatedRight(r, p))
		},
	},
	{
		what:    "6: what was allocated is counted from the collection that started before, and from ticks where that has no histories",
		members: ofAllocated,
		affects: func(r *evidence, p *pair) bool {
			return p.before != nil && (besideBackground(r, p) || negative(p.before) || overwritten(r, p.d))
		},
		wrong: allocatedRight,
	},
	{
		what:    "the budget of gen0 is the sum of what the heaps asked for, which the runtime smooths and limits, and DATAS does not go by",
		members: []string{"GenBudgetMB[gen0]"},
		affects: func(r *evidence, p *pair) bool {
			set, asked := r.budgets(p.d, gclog.Gen0)
			return set != asked
		},
		wrong: func(r *evidence, p *pair) string {
			set, asked := r.budgets(p.d, gclog.Gen0)
			return all(expect("theirs", uint64(bytesOf(p.w.GenBudgetMB[gclog.Gen0])), asked), expect("budget", p.d.Generations[gclog.Gen0].Budget, set))
		},
	},
	{
		what:    "the budgets of large and pinned objects are the sum of what the heaps asked for, which server GC smooths",
		members: []string{"GenBudgetMB[loh]", "GenBudgetMB[poh]"},
		affects: func(r *evidence, p *pair) bool { return r.server && p.d.Collected(gclog.LOH) },
		wrong: func(r *evidence, p *pair) (problem string) {
			for _, g := range []int{gclog.LOH, gclog.POH} {
				set, asked := r.budgets(p.d, g)
				problem = all(problem, expect("budget", p.d.Generations[g].Budget, set))
				if w := p.w.GenBudgetMB; len(w) > g && w[g] != nil {
					problem = all(problem, expect("theirs", uint64(bytesOf(w[g])), asked))
				}
			}
			return problem
		},
	},
	{
		what:    "8: IsNotCompacting() is the opposite",
		members: []string{"IsNotCompacting()"},
		always:  true,
		affects: func(r *evidence, p *pair) bool { return p.w.GlobalHeapHistory != nil && !overwritten(r, p.d) },
		wrong: func(r *evidence, p *pair) string {
			compacting, known := p.d.Compacting()
			return all(expect("known", known, true), expect("compacting", compacting, p.d.Global.Mechanisms&clr.MechanismCompaction != 0), expect("theirs", *p.w.NotCompacting, compacting))
		},
	},
	{
		what:    "10: it has no name for the reason of an aggressive collection, nor for its compaction",
		members: []string{"Reason", "GlobalHeapHistory.Reason", "PerHeapHistories.CompactMechanisms"},
		affects: func(r *evidence, p *pair) bool { return p.d.Reason == clr.ReasonInducedAggressive },
		wrong: func(r *evidence, p *pair) string {
			return all(expect("theirs", p.w.Reason, "17"), expect("reason of the histories", p.d.Global.Reason, p.d.Reason), expect("induced", p.d.Reason.Induced(), true))
		},
	},
	{
		what:    "it has no name for elevation",
		members: []string{"GlobalHeapHistory.GlobalMechanisms"},
		always:  true,
		affects: func(r *evidence, p *pair) bool { return p.d.Global.Mechanisms&clr.MechanismElevation != 0 },
		wrong: func(r *evidence, p *pair) string {
			return expect("theirs", p.w.GlobalHeapHistory.GlobalMechanisms, fmt.Sprint(uint32(p.d.Global.Mechanisms)))
		},
	},
	{
		what:    "12: the survival is the mean of the heaps, without their weights, and cut to whole percent; of an empty generation it is 0, and it is told where much more survived than was there",
		members: []string{"SurvivalPercent"},
		affects: func(r *evidence, p *pair) bool { return len(p.w.PerHeapHistories) > 0 },
		wrong: func(r *evidence, p *pair) string {
			for g := range p.d.GenerationCount {
				x := &p.d.Generations[g]
				percent, known := p.d.Survival(g)
				if theirs := p.w.SurvivalPercent[g]; theirs != nil {
					sum := int64(0)
					for i := range p.w.PerHeapHistories {
						sum += p.w.PerHeapHistories[i].GenData[g].SurvRate
					}
					if problem := expect("theirs", int64(*theirs), sum/int64(len(p.w.PerHeapHistories))); problem != "" {
						return problem
					}
				}
				if known && math.Abs(percent*float64(x.ObjectsBefore)-100*float64(min(x.Survived, x.ObjectsBefore))) > 1 || known != (p.d.Collected(g) && x.ObjectsBefore != 0 && x.Survived <= x.ObjectsBefore+x.ObjectsBefore/50) {
					return fmt.Sprintf("%v%% (%v) of %d is not %d", percent, known, x.ObjectsBefore, x.Survived)
				}
			}
			return ""
		},
	},
	{
		what: "13: the end of a stream without its end tag is not read",
		members: slices.Concat([]string{"IsComplete", "PauseDurationMSec", "PerHeapMarkTimes"},
			[]string{"GenSizeBeforeMB", "HeapSizeBeforeMB", "HeapSizePeakMB", "RatioPeakAfter"}),
		always:  true,
		affects: func(r *evidence, p *pair) bool { return r.cut && !p.w.IsComplete },
		wrong: func(r *evidence, p *pair) string {
			return all(expect("complete", p.d.Complete, true), covers(r, p.d), spanned(r, p), summed(r, p))
		},
	},
	{
		what:    "the runtime never tells the survivors among pinned objects as promoted",
		members: []string{"GenPromotedMB[poh]", "HeapStats.TotalPromotedSize[poh]", "HeapStats.TotalPromoted", "PromotedMB"},
		always:  true,
		affects: func(r *evidence, p *pair) bool {
			return p.d.Kind != gclog.KindBackground && p.d.Collected(gclog.POH) && p.d.Generations[gclog.POH].Survived != 0
		},
		wrong: func(r *evidence, p *pair) string {
			x := &p.d.Generations[gclog.POH]
			return all(expect("promoted", x.Promoted, x.Survived), expect("in all", int64(p.d.PromotedBytes-x.Promoted), p.w.HeapStats.TotalPromoted))
		},
	},
	{
		what:    "the runtime tells what earlier collections promoted with a background one",
		members: []string{"GenPromotedMB", "HeapStats.TotalPromotedSize", "HeapStats.TotalPromoted", "PromotedMB"},
		affects: ofBackground,
		wrong: func(r *evidence, p *pair) string {
			sum, problem := uint64(0), ""
			for g := range p.d.Generations {
				want := uint64(0)
				for _, h := range histories(p.d) {
					if g >= gclog.Gen2 {
						want += h.Generation[g].Survivors()
					}
				}
				sum += want
				problem = all(problem, expect("promoted", p.d.Generations[g].Promoted, want))
			}
			h := p.w.HeapStats
			return all(problem, expect("in all", p.d.PromotedBytes, sum),
				expect("their gen2", h.TotalPromotedSize2, int64(p.d.Generations[gclog.Gen2].Promoted)), expect("their large objects", h.TotalPromotedSize3, int64(p.d.Generations[gclog.LOH].Promoted)))
		},
	},
	{
		what: ".NET Core 3.1 tells neither size nor free space of gen2 and large objects after a gen0 collection",
		members: []string{
			"GenFragmentationMB[gen2]", "GenFragmentationPercent[gen2]", "GenObjSizeAfterMB[gen2]",
			"GenFragmentationMB[loh]", "GenFragmentationPercent[loh]", "GenObjSizeAfterMB[loh]",
		},
		affects: func(r *evidence, p *pair) bool {
			return p.d.GenerationCount == gclog.POH && p.d.Generation == gclog.Gen0
		},
		wrong: func(r *evidence, p *pair) string {
			problem := ""
			for _, g := range []int{gclog.Gen2, gclog.LOH} {
				x := &p.d.Generations[g]
				free, objects := x.FreeBefore, x.After-x.Fragmentation
				for _, h := range histories(p.d) {
					problem = all(problem, expect("told", h.Generation[g].SizeAfter+h.Generation[g].Fragmentation(), 0))
				}
				problem = all(problem, expect("free", x.Fragmentation, free), expect("objects", x.ObjectsAfter, objects))
			}
			return problem
		},
	},
	{
		what:    "the objects of a generation can come out below 0 in a heap, as the runtime rounds: a record has 0 then",
		members: []string{"GenObjSizeAfterMB"},
		always:  true,
		affects: func(r *evidence, p *pair) bool { return negative(p.d) && len(p.w.PerHeapHistories) > 0 },
		wrong: func(r *evidence, p *pair) string {
			problem := ""
			for g := range p.d.GenerationCount {
				sum := int64(0)
				for i := range r.historiesOf(p.d).heaps {
					sum += r.historiesOf(p.d).heaps[i].Generation[g].ObjectsAfter()
				}
				problem = all(problem, expect("theirs", bytesOf(p.w.GenObjSizeAfterMB[g]), sum), expect("ours", p.d.Generations[g].ObjectsAfter, uint64(max(0, sum))))
			}
			return problem
		},
	},
	{
		what:    "after a change of the number of heaps the runtime tells garbage as the size of what is to be finalized",
		members: []string{"HeapStats.FinalizationPromotedSize"},
		always:  true,
		affects: func(r *evidence, p *pair) bool {
			return p.d.Known.Has(gclog.GroupAfter) && !p.d.Known.Has(gclog.GroupFinalizationSize)
		},
		wrong: func(r *evidence, p *pair) string {
			return expect("as pattern", uint32(uint64(p.w.HeapStats.FinalizationPromotedSize)>>32)&0xFFFF0000, 0xBAAD0000)
		},
	},
	{
		what:    ".NET 8 with regions tells the time since the machine started as that of the compaction in gen1 and gen2",
		members: []string{"TimingInfo[Compact]"},
		always:  true,
		affects: func(r *evidence, p *pair) bool {
			return p.d.Global.TimeCount == clr.Times && int64(p.d.Global.Times[clr.TimeCompact])*1000 > p.d.Duration()
		},
		wrong: func(r *evidence, p *pair) string {
			// In microseconds of the clock that starts with the machine.
			at := int64(p.d.Global.Times[clr.TimeCompact]) * 1000
			if p.d.StartTicks > at+int64(1e9) || at > p.d.StartTicks+p.d.Duration() {
				return fmt.Sprintf("%d is no time during a collection at %d", at, p.d.StartTicks)
			}
			return expect("times", p.d.TimingCount, clr.TimeCompact)
		},
	},
	{
		what:    "of a kind of root that a heap marks from more than once only the last time counts, and what is before that is another kind's",
		members: []string{"PerHeapMarkTimes"},
		affects: marksAgain,
		wrong: func(r *evidence, p *pair) string {
			heaps := r.events.marksOf(p.d, r.o.gcs)
			for i := range p.d.Heaps {
				times := markTimes(p.d.Start, heaps[p.d.Heaps[i].Heap])
				for t := range clr.MarkTypes {
					if problem := expect(fmt.Sprintf("heap %d %v", i, t), orUnknown(p.d.MarkTime(i, t)), times[t]); problem != "" {
						return problem
					}
				}
			}
			return ""
		},
	},
	{
		what:    "of a kind of root that a heap marks from more than once only the last bytes count",
		members: []string{"MarkPromoted"},
		affects: marksAgain,
		wrong: func(r *evidence, p *pair) string {
			// Summed over all collections, the events match the records.
			var events, records uint64
			for _, m := range r.events.marks {
				if m.Type != clr.MarkOverflow { // the next event contains it
					events += m.Promoted
				}
			}
			for _, d := range r.o.gcs {
				for i := range d.Heaps {
					for _, promoted := range d.Heaps[i].MarkPromoted {
						records += promoted
					}
				}
			}
			return expect("marked in all", records, events)
		},
	},
	{
		what:    "a record says that events were lost while it was open",
		members: []string{"IsComplete"},
		always:  true,
		affects: func(r *evidence, p *pair) bool { return p.d.LostEvents > 0 },
		wrong:   func(r *evidence, p *pair) string { return expect("flaws", p.d.Flaws, gclog.FlawLostEvents) },
	},
	{
		what:    "the runtime tells what was written to in large objects again with pinned ones, and that in gen0 and gen1 as if it were in large ones",
		members: []string{"BGCRevisitInfoArr"},
		affects: func(r *evidence, p *pair) bool {
			sums, own := revisits(r, p.d)
			return sums != own
		},
		wrong: func(r *evidence, p *pair) string {
			sums, own := revisits(r, p.d)
			return all(expect("ours", p.d.Background.Revisited, own), expect("theirs", fmt.Sprint(p.w.BGCRevisitInfoArr), fmt.Sprint(sums)))
		},
	},
	{
		what:    "a background collection's counts of revisited pages go to the foreground one that is being restarted",
		members: []string{"BGCRevisitInfoArr"},
		affects: func(r *evidence, p *pair) bool {
			return slices.ContainsFunc(r.events.revisits, func(e revisit) bool { return restartedAt(p.d, e.at) })
		},
		wrong: func(r *evidence, p *pair) string {
			var sums [2][2]gclog.Revisit
			for i := range r.events.revisits {
				if e := &r.events.revisits[i]; restartedAt(p.d, e.at) {
					e.addTo(&sums, 1)
				}
			}
			return all(expect("ours", p.d.Background == nil, true), expect("theirs", fmt.Sprint(p.w.BGCRevisitInfoArr), fmt.Sprint(sums)))
		},
	},
}

// restartedAt reports whether d is a foreground collection that has ended, while its pause has not.
func restartedAt(d *gclog.GCDetails, at int64) bool {
	return d.Kind == gclog.KindForeground && at > d.End && at < d.PauseStart()+d.Pause()
}

// addTo adds the event to sums, as of a pause (1) or not (0).
func (e *revisit) addTo(sums *[2][2]gclog.Revisit, paused int) {
	large := 0
	if e.Large {
		large = 1
	}
	sums[paused][large].Pages += e.Pages
	sums[paused][large].References += e.Objects
}

// revisits returns the sums of a collection's revisit events: those that TraceEvent takes for its
// own; and with only the last of consecutive large-object events on a thread, and none if they do
// not come after a small-object event of the same phase.
func revisits(r *evidence, d *gclog.GCDetails) (sums, own [2][2]gclog.Revisit) {
	paused := func(e *revisit) int {
		if slices.ContainsFunc(d.Pauses, func(p gclog.PausePart) bool { return e.at >= p.Start && e.at <= p.Start+p.Duration }) {
			return 1
		}
		return 0
	}
	byThread := map[uint64][]*revisit{}
	for i := range r.events.revisits {
		if e := &r.events.revisits[i]; d.Background != nil && e.at >= d.Start && e.at <= d.End {
			byThread[e.thread] = append(byThread[e.thread], e)
		}
	}
	for _, list := range byThread {
		for i, e := range list {
			if !slices.ContainsFunc(r.o.gcs, func(f *gclog.GCDetails) bool { return restartedAt(f, e.at) }) {
				e.addTo(&sums, paused(e))
			}
			if !e.Large {
				e.addTo(&own, paused(e))
				continue
			}
			last := i+1 == len(list) || !list[i+1].Large || paused(list[i+1]) != paused(e)
			first := i
			for first > 0 && list[first].Large {
				first--
			}
			if last && !list[first].Large && paused(list[first]) == paused(e) {
				e.addTo(&own, paused(e))
			}
		}
	}
	return sums, own
}

// covers checks that the single pause of a blocking collection is a whole suspension, and contains
// the whole collection.
func covers(r *evidence, d *gclog.GCDetails) string {
	begin, end := d.PauseStart(), d.PauseStart()+d.Pause()
	if begin > d.Start || end < d.End {
		return fmt.Sprintf("the pause at %d of %d is not all of the collection at %d of %d", begin, end-begin, d.Start, d.Duration())
	}
	first, _ := slices.BinarySearch(r.events.restarts, d.End)
	return all(expect("a suspension begins", slices.Contains(r.events.suspends, begin), true),
		expect("the program runs again", first < len(r.events.restarts) && r.events.restarts[first] == end, true))
}

// negative reports whether the objects of a generation come out below 0 in a heap.
func negative(d *gclog.GCDetails) bool {
	for _, h := range histories(d) {
		for g := range h.Generations {
			if h.Generation[g].SizeAfter > 0 || h.Generation[g].Fragmentation() > 0 {
				if h.Generation[g].ObjectsAfter() < 0 {
					return true
				}
			}
		}
	}
	return false
}

// besideBackground reports whether this is a background collection, or one was running at some time
// since the previous collection started: that one is then no measure of what was allocated.
func besideBackground(r *evidence, p *pair) bool {
	return slices.ContainsFunc(r.o.gcs, func(b *gclog.GCDetails) bool {
		return b.Kind == gclog.KindBackground && b.Start <= p.d.Start && (b == p.d || b == p.before || b.End >= p.before.Start)
	})
}
