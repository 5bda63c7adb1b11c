package analysis

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/parse/clr"
)

// reasonTexts describe why a collection was started, by clr.Reason; for induced ones also what can
// induce them.
var reasonTexts = [...]string{
	clr.ReasonAllocSmall: "Gen0's allocation budget was exceeded by small objects (AllocSmall).",
	clr.ReasonInduced: "Induced by a blocking call (Induced): GC.Collect() or one of its blocking " +
		"overloads, or GC.GetTotalMemory(true), in the program or one of its libraries; or, from outside, by " +
		"a profiler, a heap snapshot (dotnet-gcdump), or a session that requests a collection.",
	clr.ReasonLowMemory: "The operating system reported low memory (LowMemory).",
	clr.ReasonEmpty:     "The runtime gave no reason (Empty).",
	clr.ReasonAllocLarge: "The allocation budget of large or pinned objects was exceeded; the reason does " +
		"not say which (AllocLarge).",
	clr.ReasonOutOfSpaceSOH: "There was no space for a small object, and the heap could not grow immediately " +
		"(OutOfSpaceSOH).",
	clr.ReasonOutOfSpaceLOH: "There was no space for a large object, and the heap could not grow immediately " +
		"(OutOfSpaceLOH).",
	clr.ReasonInducedNotForced: "Induced by a call that did not require it to block (InducedNotForced): " +
		"GC.Collect(generation, mode, blocking: false), or GC.AddMemoryPressure, which induces a collection " +
		"when a lot of unmanaged memory was reported to it.",
	clr.ReasonInternal: "The runtime was stress-testing itself (Internal): GCStress triggers " +
		"collections all the time.",
	clr.ReasonInducedLowMemory: "The operating system reported low memory, and the collection had to block " +
		"(InducedLowMemory).",
	clr.ReasonInducedCompacting: "Induced by a call that requested compaction (InducedCompacting): " +
		"GC.Collect(generation, mode, blocking, compacting: true).",
	clr.ReasonLowMemoryHost: "The program that hosts the runtime reported low memory (LowMemoryHost).",
	clr.ReasonPMFullGC: "Provisional mode (PMFullGC): the preceding gen1 collection, in the same " +
		"suspension, showed that a full collection was needed.",
	clr.ReasonLowMemoryHostBlocking: "The program that hosts the runtime reported low memory, and the collection had " +
		"to block (LowMemoryHostBlocking).",
	clr.ReasonBGCTuningSOH: "Background GC tuning by the memory load (GCBgcTuning) found that gen2 had reached " +
		"its target (BgcTuningSOH).",
	clr.ReasonBGCTuningLOH: "Background GC tuning by the memory load (GCBgcTuning) found that large objects had " +
		"reached their target (BgcTuningLOH).",
	clr.ReasonBGCStepping: "Background GC tuning by the memory load (GCBgcTuning) was in its first steps " +
		"(BgcStepping).",
	clr.ReasonInducedAggressive: "Induced by a call that asked to release as much memory as possible " +
		"(InducedAggressive): GC.Collect(2, GCCollectionMode.Aggressive, true, true).",
}

// dumpTexts describe who requested a heap snapshot, by gclog.Requester.
var dumpTexts = [...]string{
	gclog.RequesterOther: "Induced by a diagnostic tool that took a heap snapshot (Induced), such as dotnet-gcdump, " +
		"dotnet-monitor or PerfView.",
	gclog.RequesterGclog: "Induced by gclog for a heap snapshot (Induced).",
}

// trigger describes what triggered the collection.
func (x *explainer) trigger() {
	d := x.d
	switch {
	case !d.Known.Has(gclog.GroupReason):
		x.lacks("why it was started", x.whyUnknown("it started before the session"))
	case !d.Reason.Known():
		x.because(&x.e.Trigger, "reason", "The runtime gave a reason unknown to gclog: "+d.Reason.String()+".",
			[]string{d.Reason.String()})
	case d.HeapDump && d.Reason == clr.ReasonInduced:
		x.because(&x.e.Trigger, "reason", dumpTexts[d.HeapDumpBy], []string{d.Reason.String()})
	case d.InsideBGCStart:
		x.because(&x.e.Trigger, "reason", reasonTexts[d.Reason]+
			" This is the reason for the background collection that it precedes.", []string{d.Reason.String()})
	default:
		x.because(&x.e.Trigger, "reason", reasonTexts[d.Reason], []string{d.Reason.String()})
	}
	x.request()
	x.thread()
	x.budget()
	x.allocation()
	x.usedNumbers()
}

// Induced reports whether a program induced a collection, as far as its record shows.
func Induced(d *gclog.GCDetails) bool {
	return d.Known.Has(gclog.GroupReason) && d.Reason.Induced() && !d.HeapDump
}

// mostOuter is how many of the methods that led to a request are in its sentence.
const mostOuter = 4

// request reports which method asked for it.
func (x *explainer) request() {
	r := x.c.Request
	switch {
	case !Induced(x.d):
		return
	case r == nil || len(r.Path) == 0:
		if x.c.NoRequest != "" {
			x.lacks("which method asked for it", x.c.NoRequest)
		}
		return
	}
	inner := len(r.Path) - 1
	text := fmt.Sprintf("%s called %s.", r.Path[inner], cmp.Or(r.Call, "the GC"))
	if inner > 0 {
		var outer []string
		for i := inner - 1; i >= 0 && len(outer) < mostOuter; i-- {
			outer = append(outer, r.Path[i])
		}
		text = strings.TrimSuffix(text, ".") + ", called by " + strings.Join(outer, ", by ")
		if n := inner - len(outer); n > 0 {
			text += fmt.Sprintf(", and %s further out", plural(uint64(n), "method"))
		}
		text += "."
	}
	x.say(&x.e.Trigger, "caller", text, textFact("caller", r.Path[inner]), textFact("call", r.Call),
		textFact("path", strings.Join(r.Path, ";")))
}

// thread reports the thread that triggered it, and the time until the suspension began.
func (x *explainer) thread() {
	d := x.d
	switch {
	case d.InsideBGCStart && !d.Known.Has(gclog.GroupTrigger):
		x.because(&x.e.Trigger, "thread",
			"It had no trigger of its own: it shares the suspension of the background collection that was triggered.",
			[]string{byBackground})
		return
	case d.Provisional && !d.Known.Has(gclog.GroupTrigger):
		x.because(&x.e.Trigger, "thread",
			"It had no trigger of its own: it shares the suspension of the gen1 collection that was triggered.",
			[]string{byProvisional})
		return
	case !d.Known.Has(gclog.GroupTrigger):
		x.lacks("which thread triggered it", x.whyUnknown("its trigger was not recorded (GCTriggered)"))
		return
	}
	thread := countFact("dotnet.gc.trigger.thread", d.Trigger)
	delay, known := d.TriggerDelay()
	if !known {
		x.say(&x.e.Trigger, "thread", fmt.Sprintf("Thread %d triggered it.", d.Trigger), thread)
		x.lacks("the time from the trigger to the suspension",
			"workstation GC reports the trigger only after the threads are suspended")
		return
	}
	x.say(&x.e.Trigger, "thread", fmt.Sprintf(
		"Thread %d triggered it, %s before the runtime began to suspend the threads.", d.Trigger, timeText(delay)),
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
			later = append(later, fmt.Sprintf(" Gen%d had exceeded its budget by about %s, which counts only if "+
				"gen%d has exceeded its own, too.", g, bytesText(bytes), g-1))
		case bytes > 0:
			parts = append(parts,
				fmt.Sprintf("%s had exceeded %s by about %s", budgetNames[g], ownBudget(g), bytesText(bytes)))
		case blames:
			parts = append(parts, fmt.Sprintf("%s had about %s left", budgetNames[g], bytesText(uint64(y.BudgetLeft))))
		}
	}
	if blamed && !known || len(facts) == 0 {
		x.lacks("by how much a budget was exceeded", x.whyUnknown("the collection that set it was not recorded, or "+
			"it has been changed since by a background sweep, a no-GC region or a different number of heaps"))
	}
	if len(facts) == 0 || len(parts) == 0 && blamed && !known {
		return
	}
	text := "Budgets (estimated): "
	if d.HeapCount() > 1 {
		text = "Budgets (estimated, for the heap with the least left): "
	}
	switch {
	case len(parts) > 0:
		text += strings.Join(parts, "; ") + "."
	case len(later) > 0:
		text += "none that would trigger it was exceeded."
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
	if !d.Known.Has(gclog.GroupAllocated) {
		x.lacks("what the program allocated since the previous collection",
			x.whyUnknown("the previous collection's objects are unknown"))
		return
	}
	total := d.Allocated
	facts := []Fact{bytesFact("dotnet.gc.allocated", total)}
	switch {
	case d.Kind == gclog.KindBackground && total == 0:
		x.say(&x.e.Trigger, "allocation",
			"What the program allocated until it ended was counted by the collections before and during it.", facts...)
		return
	case d.Kind == gclog.KindBackground:
		x.say(&x.e.Trigger, "allocation",
			fmt.Sprintf("Until it ended, the program allocated %s that no collection before or during it counted.",
				bytesText(total)), facts...)
		return
	case total == 0 && d.AllocationRate > 0:
		x.because(&x.e.Trigger, "allocation",
			fmt.Sprintf("What the program had allocated since the previous collection was counted by a background "+
				"collection that ended meanwhile: %s/s while the program ran.", sizeText(d.AllocationRate)),
			[]string{byBackground},
			append(facts, Fact{Name: "dotnet.gc.alloc_rate", Value: d.AllocationRate, Unit: "bytes/s"})...)
		return
	}
	text := fmt.Sprintf("Since the previous collection, the program had allocated %s", bytesText(total))
	if parts, by := x.allocatedBy(); parts != "" {
		text += " (" + parts + ")"
		facts = append(facts, by...)
	}
	switch rate := d.AllocationRate; {
	case rate > 0:
		text += fmt.Sprintf(", at %s/s while it ran", sizeText(rate))
		facts = append(facts, Fact{Name: "dotnet.gc.alloc_rate", Value: rate, Unit: "bytes/s"})
	case d.Known.Has(gclog.GroupSinceLast) && d.SinceLast > 0:
		text += " in " + timeText(d.SinceLast)
		facts = append(facts, timeFact("dotnet.gc.since_last", d.SinceLast))
	case !d.Known.Has(gclog.GroupSinceLast):
		x.lacks("how fast it allocated", x.whyUnknown("the end of the previous collection was not recorded"))
	}
	x.say(&x.e.Trigger, "allocation", text+".", facts...)
}

// allocatedBy reports where it was allocated.
func (x *explainer) allocatedBy() (text string, facts []Fact) {
	d := x.d
	if !d.Known.Has(gclog.GroupGenerationAllocated) {
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
	if x.c.Peers == nil || !x.d.Known.Has(gclog.GroupNumber) {
		return
	}
	used := x.c.Peers.usedBefore(x.d.Number)
	if len(used) == 0 {
		return
	}
	what := "Number %s before it was not a collection: a no-GC region (GC.TryStartNoGCRegion) used that number."
	if len(used) > 1 {
		what = "Numbers %s before it were not collections: no-GC regions (GC.TryStartNoGCRegion) used those numbers."
	}
	x.say(&x.e.Trigger, "used-numbers", fmt.Sprintf(what, numbersText(used)), countFact("first", used[0]),
		countFact("last", used[len(used)-1]))
}
