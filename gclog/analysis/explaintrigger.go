package analysis

import (
	"fmt"
	"strings"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/parse/clr"
)

// reasonTexts describe why a collection was started, by clr.Reason; for induced ones also what can
// induce them.
var reasonTexts = [...]string{
	clr.ReasonAllocSmall:            "Gen0's allocation budget was exceeded by small objects (AllocSmall).",
	clr.ReasonInduced:               "Somebody asked for it and waited (Induced): GC.Collect() or one of its overloads that block, GC.GetTotalMemory(true), in the program or in a library of it; or from outside a profiler, a heap snapshot (dotnet-gcdump), or a session that asks for a collection.",
	clr.ReasonLowMemory:             "The operating system said that memory is short (LowMemory).",
	clr.ReasonEmpty:                 "The runtime gave no reason (Empty).",
	clr.ReasonAllocLarge:            "The allocation budget of large objects was exceeded, or that of pinned ones, which the reason does not tell apart (AllocLarge).",
	clr.ReasonOutOfSpaceSOH:         "There was no room for a small object, and the heap could not grow at once (OutOfSpaceSOH).",
	clr.ReasonOutOfSpaceLOH:         "There was no room for a large object, and the heap could not grow at once (OutOfSpaceLOH).",
	clr.ReasonInducedNotForced:      "Somebody asked for it without the need to wait (InducedNotForced): GC.Collect(generation, mode, blocking: false), or GC.AddMemoryPressure, which does that when much unmanaged memory was announced.",
	clr.ReasonInternal:              "The runtime was testing itself (Internal): GCStress asks for collections all the time.",
	clr.ReasonInducedLowMemory:      "The operating system said that memory is short, and the collection had to block (InducedLowMemory).",
	clr.ReasonInducedCompacting:     "Somebody asked for it, and for compaction (InducedCompacting): GC.Collect(generation, mode, blocking, compacting: true).",
	clr.ReasonLowMemoryHost:         "The program that hosts the runtime said that memory is short (LowMemoryHost).",
	clr.ReasonPMFullGC:              "Provisional mode (PMFullGC): the gen1 before it, in the same suspension, showed that a full collection was needed.",
	clr.ReasonLowMemoryHostBlocking: "The program that hosts the runtime said that memory is short, and the collection had to block (LowMemoryHostBlocking).",
	clr.ReasonBGCTuningSOH:          "The tuning of background collections by the memory load (GCBgcTuning) found that gen2 had reached its goal (BgcTuningSOH).",
	clr.ReasonBGCTuningLOH:          "The tuning of background collections by the memory load (GCBgcTuning) found that large objects had reached their goal (BgcTuningLOH).",
	clr.ReasonBGCStepping:           "The tuning of background collections by the memory load (GCBgcTuning) was in its first steps (BgcStepping).",
	clr.ReasonInducedAggressive:     "Somebody asked to give back as much memory as possible (InducedAggressive): GC.Collect(2, GCCollectionMode.Aggressive, true, true).",
}

// trigger describes what triggered the collection.
func (x *explainer) trigger() {
	d := x.d
	switch {
	case !d.HasReason:
		x.lacks("why it was started", x.whyUnknown("it began before the session"))
	case !d.Reason.Known():
		x.because(&x.e.Trigger, "reason", "The runtime gave a reason that gclog has no name for: "+d.Reason.String()+".", []string{d.Reason.String()})
	case d.InsideBGCStart:
		x.because(&x.e.Trigger, "reason", reasonTexts[d.Reason]+" That is the reason of the background collection that it precedes.", []string{d.Reason.String()})
	default:
		x.because(&x.e.Trigger, "reason", reasonTexts[d.Reason], []string{d.Reason.String()})
	}
	x.thread()
	x.budget()
	x.allocation()
	x.usedNumbers()
}

// thread reports the thread that triggered it, and the time until the suspension began.
func (x *explainer) thread() {
	d := x.d
	switch {
	case d.InsideBGCStart && !d.HasTrigger:
		x.because(&x.e.Trigger, "thread", "Nobody asked for it by itself: the background collection whose suspension it shares was asked for.", []string{byBackground})
		return
	case d.Provisional && !d.HasTrigger:
		x.because(&x.e.Trigger, "thread", "Nobody asked for it by itself: the gen1 whose suspension it shares was asked for.", []string{byProvisional})
		return
	case !d.HasTrigger:
		x.lacks("who asked for it", x.whyUnknown("its request was not seen (GCTriggered)"))
		return
	}
	thread := countFact("dotnet.gc.trigger.thread", d.Trigger)
	delay, known := d.TriggerDelay()
	if !known {
		x.say(&x.e.Trigger, "thread", fmt.Sprintf("Thread %d asked for it.", d.Trigger), thread)
		x.lacks("the time from the request to the suspension", "workstation GC tells of a request only when the threads stand already")
		return
	}
	x.say(&x.e.Trigger, "thread", fmt.Sprintf("Thread %d asked for it, %s before the runtime began to stop the threads.", d.Trigger, timeText(delay)),
		thread, timeFact("dotnet.gc.trigger.delay", delay))
}

// budgetNames are the names of the budgets for allocations and promotions.
var budgetNames = [gclog.Generations]string{"gen0", "gen1", "gen2", "large objects", "pinned objects"}

// budget reports by how much budgets were exceeded. gclog tracks them from outside, so the numbers
// are estimates.
func (x *explainer) budget() {
	d := x.d
	var parts, later []string
	var facts []Fact
	blamed, known := false, false // for the generations in the reason
	for g := range d.Generations {
		y := &d.Generations[g]
		blames := allocates(d.Reason, g) && (g < d.GenerationCount || y.HasBudgetLeft)
		blamed, known = blamed || blames, known || blames && y.HasBudgetLeft
		if !y.HasBudgetLeft {
			continue
		}
		bytes, _ := d.BudgetExceeded(g)
		fact := bytesFact("dotnet.gc."+gclog.GenerationName(g)+".budget_left", y.BudgetLeft)
		if bytes > 0 {
			fact = bytesFact("dotnet.gc."+gclog.GenerationName(g)+".budget_exceeded", bytes)
		}
		facts = append(facts, fact)
		switch {
		case bytes > 0 && x.unasked(g):
			later = append(later, fmt.Sprintf(" Gen%d had exceeded its budget by about %s, which counts only where gen%d has exceeded its own too.", g, bytesText(bytes), g-1))
		case bytes > 0:
			parts = append(parts, fmt.Sprintf("%s had exceeded %s by about %s", budgetNames[g], ownBudget(g), bytesText(bytes)))
		case blames:
			parts = append(parts, fmt.Sprintf("%s had about %s left", budgetNames[g], bytesText(uint64(y.BudgetLeft))))
		}
	}
	if blamed && !known || len(facts) == 0 {
		x.lacks("by how much a budget was exceeded", x.whyUnknown("the collection that set it was not seen, or a background collection that swept, a no-GC region or another number of heaps has changed it since"))
	}
	if len(facts) == 0 || len(parts) == 0 && blamed && !known {
		return
	}
	text := "Budgets (estimated): "
	if d.HeapCount() > 1 {
		text = "Budgets (estimated, of the heap with least left): "
	}
	switch {
	case len(parts) > 0:
		text += strings.Join(parts, "; ") + "."
	case len(later) > 0:
		text += "none was exceeded that would call for it."
	default:
		text += "none was exceeded."
	}
	x.say(&x.e.Trigger, "budget", text+strings.Join(later, ""), facts...)
}

// ownBudget refers to a budget after its name.
func ownBudget(g int) string {
	if g >= gclog.LOH {
		return "their budget"
	}
	return "its budget"
}

// unasked reports whether the budget of a generation above the condemned one is irrelevant: the
// runtime stops at the youngest with some budget left, except that a gen1 for another reason
// considers the budget of gen2.
func (x *explainer) unasked(g int) bool {
	if g != gclog.Gen1 && g != gclog.Gen2 || x.d.Generation >= g {
		return false
	}
	if g == gclog.Gen2 && x.anyConditions()&clr.CondemnedMaxGenerationBudget != 0 {
		return false
	}
	younger := &x.d.Generations[g-1]
	return younger.HasBudgetLeft && younger.BudgetLeft > 0
}

// allocates reports whether a reason says that the budget of g was exceeded.
func allocates(r clr.Reason, g int) bool {
	return r == clr.ReasonAllocSmall && g == gclog.Gen0 || r == clr.ReasonAllocLarge && g >= gclog.LOH
}

// allocation reports how fast the program allocated.
func (x *explainer) allocation() {
	d := x.d
	if d.Provisional {
		return // the program has not run since the previous gen1
	}
	if !d.HasAllocated {
		x.lacks("what the program allocated since the previous collection", x.whyUnknown("the previous collection's objects are not known"))
		return
	}
	total := d.Allocated()
	facts := []Fact{bytesFact("dotnet.gc.allocated", total)}
	switch {
	case d.Kind == gclog.KindBackground && total == 0:
		x.say(&x.e.Trigger, "allocation", "What the program allocated until it ended is counted by the collections before and beside it.", facts...)
		return
	case d.Kind == gclog.KindBackground:
		x.say(&x.e.Trigger, "allocation", fmt.Sprintf("Until it ended the program allocated %s that no collection before or beside it has counted.", bytesText(total)), facts...)
		return
	case total == 0 && d.AllocationRate > 0:
		x.because(&x.e.Trigger, "allocation", fmt.Sprintf("What the program allocated before it was counted by a background collection that ended meanwhile: while it ran, %s a second.", sizeText(d.AllocationRate)),
			[]string{byBackground}, append(facts, Fact{Name: "dotnet.gc.alloc_rate", Value: d.AllocationRate, Unit: "bytes/s"})...)
		return
	}
	text := fmt.Sprintf("Since the previous collection the program had allocated %s", bytesText(total))
	if parts, by := x.allocatedBy(); parts != "" {
		text += " (" + parts + ")"
		facts = append(facts, by...)
	}
	switch rate := d.AllocationRate; {
	case rate > 0:
		text += fmt.Sprintf("; while it ran, %s a second", sizeText(rate))
		facts = append(facts, Fact{Name: "dotnet.gc.alloc_rate", Value: rate, Unit: "bytes/s"})
	case d.HasSinceLast && d.SinceLast > 0:
		text += " in " + timeText(d.SinceLast)
		facts = append(facts, timeFact("dotnet.gc.since_last", d.SinceLast))
	case !d.HasSinceLast:
		x.lacks("how fast it allocated", x.whyUnknown("the end of the previous collection was not seen"))
	}
	x.say(&x.e.Trigger, "allocation", text+".", facts...)
}

// allocatedBy reports where it was allocated.
func (x *explainer) allocatedBy() (text string, facts []Fact) {
	d := x.d
	if !d.HasGenerationAllocated {
		return "", nil
	}
	var parts []string
	for _, g := range []int{gclog.Gen0, gclog.LOH, gclog.POH} {
		if n := d.Generations[g].Allocated; n > 0 {
			parts = append(parts, fmt.Sprintf("%s in %s", bytesText(n), budgetNames[g]))
			facts = append(facts, bytesFact("dotnet.gc."+gclog.GenerationName(g)+".allocated", n))
		}
	}
	if len(parts) < 2 {
		return "", nil
	}
	return andList(parts), facts
}

// usedNumbers reports that previous numbers were not collections.
func (x *explainer) usedNumbers() {
	if x.c.Peers == nil || !x.d.HasNumber {
		return
	}
	used := x.c.Peers.usedBefore(x.d.Number)
	if len(used) == 0 {
		return
	}
	what := "Number %s before it was no collection: a no-GC region (GC.TryStartNoGCRegion) used it up."
	if len(used) > 1 {
		what = "Numbers %s before it were no collections: no-GC regions (GC.TryStartNoGCRegion) used them up."
	}
	x.say(&x.e.Trigger, "used-numbers", fmt.Sprintf(what, numbersText(used)), countFact("first", used[0]), countFact("last", used[len(used)-1]))
}
