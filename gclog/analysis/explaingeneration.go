package analysis

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/parse/clr"
)

// conditionTexts describe the conditions that decide the generation, in the order of the bits of
// clr.Condemned.
var conditionTexts = [...]string{
	"a full blocking collection was induced",
	"the heap had to grow, and a full collection was tried first",
	"the memory load was high",
	"the memory load was very high",
	"little space was left for young objects",
	"scanning the card table found few references to young objects, so gen1 was preferred to gen0",
	"gen0 and gen1 were highly fragmented",
	"gen2 was so fragmented that it needed compaction, which only a blocking collection does",
	"gen2 was fragmented and little space was left for young objects",
	"gen2 was fragmented and the memory load was high",
	"gen2 was fragmented and the memory load was very high",
	"gen1 was condemned anyway, and gen2's budget was exceeded",
	"the GC considered it the last attempt before an OutOfMemoryException",
	"gen2 was too small for a background collection to be worthwhile",
	"the induced collection did not have to block",
	"it had to run before a background collection could start",
	"the memory load was high, and more than a tenth of gen2's budget was used",
	"recent full collections had freed little, so another one was considered unproductive",
	"provisional mode: a full collection was induced",
	"provisional mode: large objects were allocated",
	"provisional mode: gen1 is collected first",
	"hard limit: the GC considered it the last attempt before an OutOfMemoryException",
	"hard limit: free space in the large object heap exceeded an eighth of the limit",
	"hard limit: more than an eighth of the limit could be reclaimed from large objects",
	"background GC tuning (GCBgcTuning): the first collection",
	"background GC tuning (GCBgcTuning): a blocking collection was due",
	"background GC tuning (GCBgcTuning): a background collection was due",
	"background GC tuning (GCBgcTuning): the collection was postponed",
	"the runtime was stress-testing itself (GCStress, mixed)",
	"the runtime was stress-testing itself (GCStress)",
	"GC.Collect was called with GCCollectionMode.Aggressive",
}

// conditionText describes one condition.
func conditionText(c clr.Condemned) string {
	i := bits.TrailingZeros32(uint32(c))
	if i >= len(conditionTexts) {
		return "a condition unknown to gclog (" + c.Names(nil)[0] + ")"
	}
	return conditionTexts[i] + " (" + c.Names(nil)[0] + ")"
}

// conditionsText lists the conditions that held.
func conditionsText(c clr.Condemned) string {
	var parts []string
	for i := range 32 {
		if bit := clr.Condemned(1) << i; c&bit != 0 {
			parts = append(parts, conditionText(bit))
		}
	}
	return strings.Join(parts, "; ")
}

// generation describes how the generation was chosen, and why the collection was blocking or not.
func (x *explainer) generation() {
	steps, conditions, known := x.decision()
	switch {
	case !known:
		x.lacks("why this generation was chosen", x.unheard())
	case conditions&clr.CondemnedEphemeralBeforeBackground != 0:
		x.beforeBackground()
		x.conditions(conditions)
	default:
		x.steps(steps)
		x.conditions(conditions)
		x.otherwise(steps, conditions)
		x.heaps()
	}
	x.kind(conditions, known)
	x.load()
}

// decision returns why the generation was chosen, according to the heap that decided. If a heap
// requested more than what was done, that is the one with the highest request.
func (x *explainer) decision() (steps clr.CondemnedGenerations, conditions clr.Condemned, known bool) {
	steps, conditions, known = x.d.Condemned()
	if !known {
		return steps, conditions, known
	}
	most := max(x.d.Generation, steps.Final())
	for i := range x.d.ReportedHeaps() {
		if h, known := x.d.HeapReasons(i); known && h.CondemnedGenerations.Final() > most {
			most = h.CondemnedGenerations.Final()
			steps, conditions = h.CondemnedGenerations, h.Condemned|x.d.Global.Condemned
		}
	}
	return steps, conditions, known
}

// beforeBackground describes why a collection in the first suspension of a background one was of
// this generation. The runtime records no steps for it.
func (x *explainer) beforeBackground() {
	d := x.d
	text := "A background collection starts with a collection of the young generations whose budgets were exceeded: " +
		"here gen0 only."
	if d.Generation == gclog.Gen1 {
		text = "A background collection starts with a collection of the young generations whose budgets were " +
			"exceeded: here gen0 and gen1."
		if d.Known.Has(gclog.GroupReason) && d.Reason == clr.ReasonOutOfSpaceSOH {
			text = "A background collection starts with a gen1 collection if there was no space for a small object."
		}
	}
	x.because(&x.e.Generation, "before-background", text, []string{byBackground},
		countFact("dotnet.gc.generation", d.Generation))
}

// steps lists the steps in which the generation was decided.
func (x *explainer) steps(s clr.CondemnedGenerations) {
	facts := []Fact{
		countFact("dotnet.gc.condemned.initial", s.Initial()),
		countFact("dotnet.gc.condemned.budget_exceeded", s.BudgetExceeded()),
		countFact("dotnet.gc.condemned.time_tuning", s.TimeTuning()), countFact("dotnet.gc.condemned.final", s.Final()),
	}
	first, last := fmt.Sprintf("Condemned gen%d", s.Initial()), ""
	switch {
	case s.Final() > s.Initial():
		first, last = first+" first", fmt.Sprintf("; escalated to gen%d", s.Final())
	case s.Final() < s.Initial():
		first, last = first+" first", fmt.Sprintf("; reduced to gen%d", s.Final())
	}
	parts := []string{first}
	switch g := s.BudgetExceeded(); {
	case g > s.Initial():
		by, of := x.exceeded(g)
		parts = append(parts, fmt.Sprintf("gen%d's budget was exceeded%s", g, by))
		facts = append(facts, of...)
	case s.Initial() < gclog.Gen2 && !(s.Initial() == gclog.Gen1 && x.d.Kind == gclog.KindForeground):
		// The runtime stops at the first generation with some budget left, and does not go to gen2
		// during a background collection.
		parts = append(parts, fmt.Sprintf("gen%d's budget was not exceeded", s.Initial()+1))
		facts = append(facts, countFact("budget_left", s.Initial()+1))
	}
	if g := s.TimeTuning(); g > 0 {
		parts = append(parts, fmt.Sprintf("gen%d was due because its last collection was long ago", g))
	}
	x.say(&x.e.Generation, "steps", strings.Join(parts, "; ")+last+".", facts...)
}

// exceeded returns by how much, if known. Large and pinned objects count as gen2.
func (x *explainer) exceeded(g int) (text string, facts []Fact) {
	generations := []int{g}
	if g >= gclog.Gen2 {
		generations = []int{gclog.Gen2, gclog.LOH, gclog.POH}
	}
	var parts []string
	for _, g := range generations {
		if bytes, known := x.d.BudgetExceeded(g); known && bytes > 0 {
			parts = append(parts, fmt.Sprintf("%s by about %s", budgetNames[g], bytesText(bytes)))
			facts = append(facts, bytesFact("dotnet.gc."+gclog.GenerationName(g)+".budget_exceeded", bytes))
		}
	}
	switch {
	case len(parts) > 0 && g < gclog.Gen2:
		return strings.TrimPrefix(parts[0], budgetNames[g]), facts
	case len(parts) > 0:
		return " (" + andList(parts) + ")", facts
	case g >= gclog.Gen2:
		return " (or that of large or pinned objects, which count as gen2)", nil
	}
	return "", nil
}

// conditions lists the conditions that held.
func (x *explainer) conditions(c clr.Condemned) {
	if c == 0 {
		x.say(&x.e.Generation, "conditions", "No other conditions were met.")
		return
	}
	x.because(&x.e.Generation, "conditions", "Conditions met: "+conditionsText(c)+".", c.Names(nil))
}

// raisingConditions raise the generation to gen2 whatever the heaps requested, in one decision for
// all.
const raisingConditions = clr.CondemnedLimitBeforeOOM | clr.CondemnedLimitLOHFragmented | clr.CondemnedLimitLOHReclaim |
	clr.CondemnedServoInitial | clr.CondemnedServoNGC | clr.CondemnedServoBGC | clr.CondemnedStressMix |
	clr.CondemnedStress

// otherwise describes why the generation is not the one that the heaps requested.
func (x *explainer) otherwise(s clr.CondemnedGenerations, c clr.Condemned) {
	d := x.d
	wanted := max(s.Final(), s.BudgetExceeded())
	facts := []Fact{countFact("wanted", wanted), countFact("dotnet.gc.generation", d.Generation)}
	switch {
	case wanted > d.Generation:
		cause, why := x.lowered(wanted, c)
		text := fmt.Sprintf("Gen%d was due, but %s.", wanted, why)
		if cause == "" {
			x.say(&x.e.Generation, "instead", fmt.Sprintf(
				"Gen%d was due; no event reports why gen%d was collected instead.", wanted, d.Generation), facts...)
			return
		}
		x.because(&x.e.Generation, "instead", text, []string{cause}, facts...)
	case s.Final() < d.Generation:
		facts[0] = countFact("wanted", s.Final())
		text := fmt.Sprintf("The heaps requested gen%d; ", s.Final())
		switch raised := c & raisingConditions; {
		case d.Provisional:
			x.because(&x.e.Generation, "instead", fmt.Sprintf("%sprovisional mode made it gen%d.", text, d.Generation),
				[]string{byProvisional}, facts...)
		case raised != 0 && d.Generation == gclog.Gen2:
			x.because(&x.e.Generation, "instead", fmt.Sprintf("%sit became gen%d because of %s.",
				text, d.Generation, andList(raised.Names(nil))), raised.Names(nil), facts...)
		case d.Generation == gclog.Gen2 && x.c.Peers != nil && x.c.Peers.datas:
			x.because(&x.e.Generation, "instead", text+"no event reports why it became gen2. DATAS requests some "+
				"gen2 collections itself: the first one, and one after each change of the number of heaps.",
				[]string{byDATAS}, facts...)
		default:
			x.say(&x.e.Generation, "instead",
				fmt.Sprintf("%sno event reports why it became gen%d.", text, d.Generation), facts...)
		}
	case c&clr.CondemnedAvoidUnproductive != 0 && c&raisingConditions != 0:
		raised := (c & raisingConditions).Names(nil)
		x.because(&x.e.Generation, "instead",
			fmt.Sprintf("It became gen2 instead of gen1 because of %s.", andList(raised)), raised, facts...)
	}
}

// lowered returns why the generation is younger than the requested one; both results are empty if
// that is unknown.
func (x *explainer) lowered(wanted int, c clr.Condemned) (cause, why string) {
	d := x.d
	switch {
	case d.Kind == gclog.KindForeground && d.Generation == gclog.Gen1:
		return byBackground, "a background collection was running, and meanwhile only gen0 and gen1 can be collected"
	case c&clr.CondemnedAvoidUnproductive != 0 && d.Generation == gclog.Gen1:
		return "AvoidUnproductive",
			"recent full collections had freed little, so gen1 was collected instead (AvoidUnproductive)"
	case c&clr.CondemnedGen1InPM != 0 && d.Generation == gclog.Gen1:
		return "Gen1InPM", "provisional mode collects gen1 first (Gen1InPM)"
	case c&clr.CondemnedServoPostpone != 0:
		return "ServoPostpone", "background GC tuning postponed it (ServoPostpone)"
	case d.Global.Mechanisms&clr.MechanismElevation != 0 && wanted == gclog.Gen2:
		return byElevation, fmt.Sprintf(
			"recent full collections had freed little, so gen%d was collected instead (Elevation)", d.Generation)
	case d.Global.HasMemoryLoad && d.Global.PauseMode == clr.PauseModeLowLatency && wanted == gclog.Gen2 &&
		!(d.Known.Has(gclog.GroupReason) && d.Reason.Induced()):
		return byLowLatency,
			"GCSettings.LatencyMode was LowLatency, which suppresses gen2 collections unless memory is low"
	case d.Kind == gclog.KindForeground && x.c.Peers != nil && x.c.Peers.datas:
		return byDATAS,
			fmt.Sprintf("a background collection was running, and meanwhile DATAS may collect only gen%d", d.Generation)
	}
	return "", ""
}

// heaps lists what each heap requested if they differ.
func (x *explainer) heaps() {
	type wish struct {
		steps      clr.CondemnedGenerations
		conditions clr.Condemned
	}
	var order []wish
	var facts []Fact
	by := map[wish][]uint32{}
	for i := range x.d.ReportedHeaps() {
		h, known := x.d.HeapReasons(i)
		if !known {
			continue
		}
		w := wish{h.CondemnedGenerations, h.Condemned}
		if by[w] == nil {
			order = append(order, w)
		}
		by[w] = append(by[w], h.Heap)
		name := fmt.Sprintf("heap.%d.", h.Heap)
		facts = append(facts, countFact(name+"final", w.steps.Final()))
		if b := w.steps.BudgetExceeded(); b > w.steps.Initial() {
			facts = append(facts, countFact(name+"budget_exceeded", b))
		}
		if w.conditions != 0 {
			facts = append(facts, textFact(name+"conditions", strings.Join(w.conditions.Names(nil), ", ")))
		}
	}
	if len(order) < 2 {
		return
	}
	text := "The heaps requested different generations, and the highest one counts: "
	if !slices.ContainsFunc(order, func(w wish) bool { return w.steps.Final() != order[0].steps.Final() }) {
		text = "The heaps requested the same generation for different reasons: "
	}
	var parts []string
	for _, w := range order {
		heaps := by[w]
		slices.Sort(heaps)
		part := "heap "
		if len(heaps) > 1 {
			part = "heaps "
		}
		part += fmt.Sprintf("%s: gen%d", numbersText(heaps), w.steps.Final())
		if b := w.steps.BudgetExceeded(); b > w.steps.Initial() {
			part += fmt.Sprintf(" (budget of gen%d exceeded)", b)
		}
		if names := w.conditions.Names(nil); len(names) > 0 {
			part += " (" + strings.Join(names, ", ") + ")"
		}
		parts = append(parts, part)
	}
	x.say(&x.e.Generation, "heaps", text+strings.Join(parts, "; ")+".", facts...)
}

// kind describes why it was blocking, foreground or in the background.
func (x *explainer) kind(c clr.Condemned, conditionsKnown bool) {
	d := x.d
	say := func(text string, causes ...string) { x.because(&x.e.Generation, "kind", text, causes) }
	switch {
	case d.Kind == gclog.KindBackground && (c|x.anyConditions())&clr.CondemnedFragmentedGen2 != 0 &&
		d.Global.PauseMode == clr.PauseModeSustainedLowLatency:
		say("It ran in the background although gen2 was fragmented, because GCSettings.LatencyMode was "+
			"SustainedLowLatency: the program was paused only for its start and for the end of its mark phase.",
			bySustained)
	case d.Kind == gclog.KindBackground:
		say("It ran in the background, the default for gen2: the program was paused only for its start and for the "+
			"end of its mark phase.", byDefault)
	case d.Kind == gclog.KindForeground:
		say("It was blocking, as gen0 and gen1 always are, and ran during a background collection (foreground).",
			byYoung, byBackground)
	case d.Generation < gclog.Gen2:
		say("It was blocking, as gen0 and gen1 always are.", byYoung)
	case d.KindKnown():
		if why, causes := x.whyBlocking(c|x.anyConditions(), conditionsKnown); why != "" {
			say("It was blocking rather than background: "+why+".", causes...)
			return
		}
		x.lacks("why it was blocking rather than background", x.whyUnknown("no event reports it"))
	}
}

// blockingConditions are those that prevent a background collection.
const blockingConditions = clr.CondemnedInducedFullBlocking | clr.CondemnedFragmentedGen2 |
	clr.CondemnedFragmentedGen2HighMemory | clr.CondemnedFragmentedGen2VeryHighMemory | clr.CondemnedExpandHeap |
	clr.CondemnedBeforeOOM | clr.CondemnedTooSmallForBackground | clr.CondemnedPMInducedFull |
	clr.CondemnedPMAllocLOH | clr.CondemnedLimitBeforeOOM | clr.CondemnedLimitLOHFragmented |
	clr.CondemnedLimitLOHReclaim | clr.CondemnedServoNGC

// whyBlocking returns why a gen2 collection did not run in the background, "" if that is unknown.
func (x *explainer) whyBlocking(c clr.Condemned, conditionsKnown bool) (text string, causes []string) {
	d := x.d
	// A collection that was requested for a younger generation and became a gen2 need not block.
	asked := c&clr.CondemnedInducedFullBlocking != 0 || !conditionsKnown
	switch p := x.c.Process; {
	case d.Provisional:
		return "the full collections of provisional mode always block", []string{byProvisional}
	case d.DemotedBGC:
		return "it was started as a background collection but could not run as one, which is common for the first " +
			"one of a process", []string{byDemoted}
	case asked && d.Known.Has(gclog.GroupReason) && (d.Reason == clr.ReasonInduced ||
		d.Reason == clr.ReasonInducedCompacting || d.Reason == clr.ReasonInducedAggressive):
		return "a blocking collection was requested (" + d.Reason.String() + ")", []string{d.Reason.String()}
	case asked && d.Known.Has(gclog.GroupReason) &&
		(d.Reason == clr.ReasonInducedLowMemory || d.Reason == clr.ReasonLowMemoryHostBlocking):
		return "the system was low on memory (" + d.Reason.String() + ")", []string{d.Reason.String()}
	case d.Global.HasMemoryLoad && d.Global.PauseMode == clr.PauseModeBatch:
		return "background collections were disabled (GCSettings.LatencyMode was Batch, as it is with " +
			"System.GC.Concurrent=false)", []string{byBatch}
	case d.Global.HasMemoryLoad && d.Global.PauseMode == clr.PauseModeLowLatency:
		return "GCSettings.LatencyMode was LowLatency, which rules out background collections", []string{byLowLatency}
	case p != nil && p.Concurrent == gclog.No:
		return "background collections are disabled in this process (System.GC.Concurrent=false)",
			[]string{byNoConcurrent}
	case c&blockingConditions != 0:
		return conditionsText(c & blockingConditions), (c & blockingConditions).Names(nil)
	}
	return "", nil
}

// anyConditions returns the conditions that held for any of the heaps.
func (x *explainer) anyConditions() (c clr.Condemned) {
	for i := range x.d.ReportedHeaps() {
		h, _ := x.d.HeapReasons(i)
		c |= h.Condemned
	}
	return c
}

// load reports the memory load.
func (x *explainer) load() {
	d := x.d
	if d.Global.MemoryLoad == 0 {
		x.lacks("the memory load", x.whyUnknown("the runtime does not report it for every collection"))
		return
	}
	text := fmt.Sprintf("The memory load was %d %%", d.Global.MemoryLoad)
	facts := []Fact{percentFact("dotnet.gc.memory_load", float64(d.Global.MemoryLoad))}
	if p := x.c.Process; p != nil && p.HasLimits {
		if h := p.Limits.HighMemoryPercent; h > 0 {
			text += fmt.Sprintf("; the runtime considers it high from %d %%", min(h, highestLoad))
			facts = append(facts, percentFact("dotnet.gc.settings.high_memory", min(h, highestLoad)))
		}
		if l := p.Limits.HardLimit; l > 0 {
			text += fmt.Sprintf("; the heap's hard limit is %s", bytesText(l))
			facts = append(facts, bytesFact("dotnet.gc.hard_limit", l))
		}
	}
	x.say(&x.e.Generation, "memory-load", text+".", facts...)
}
