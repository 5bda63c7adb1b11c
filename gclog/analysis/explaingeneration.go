package analysis

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/parse/clr"
)

// conditionTexts say what the conditions mean that decide about the generation, in the
// order of the bits of clr.Condemned.
var conditionTexts = [...]string{
	"a full blocking collection was asked for",
	"the heap had to grow, and a full collection was tried first",
	"memory was short: the memory load was high",
	"memory was very short: the memory load was very high",
	"little room was left for young objects",
	"looking through older objects for references to young ones found few of them, so that a gen1 was better than another gen0 (card table)",
	"free space between the objects of gen0 and gen1 was large",
	"gen2 was so fragmented that it should be compacted, which only a blocking collection does",
	"gen2 was fragmented and little room was left for young objects",
	"gen2 was fragmented while memory was short",
	"gen2 was fragmented while memory was very short",
	"it was to be a gen1 anyway, and the budget of gen2 was used up",
	"the GC took it for the last try before an OutOfMemoryException",
	"gen2 was too small for a background collection to pay",
	"the collection that was asked for need not block",
	"it had to come before a background collection could begin",
	"the memory load was high, and more than a tenth of the budget of gen2 was used up",
	"the last full collections had freed little, so that a full one was avoided",
	"provisional mode: a full collection was asked for",
	"provisional mode: large objects were allocated",
	"provisional mode: gen1 goes first",
	"hard limit: the GC took it for the last try before an OutOfMemoryException",
	"hard limit: free space between large objects was more than an eighth of the limit",
	"hard limit: more than an eighth of the limit could be had back from large objects",
	"tuning of background collections (GCBgcTuning): the first one",
	"tuning of background collections (GCBgcTuning): a blocking one was due",
	"tuning of background collections (GCBgcTuning): a background one was due",
	"tuning of background collections (GCBgcTuning): put off",
	"the runtime was testing itself (GCStress, mixed)",
	"the runtime was testing itself (GCStress)",
	"GC.Collect was called with GCCollectionMode.Aggressive",
}

// conditionText says what one condition means, of one bit.
func conditionText(c clr.Condemned) string {
	i := bits.TrailingZeros32(uint32(c))
	if i >= len(conditionTexts) {
		return "a condition that gclog has no words for (" + c.Names(nil)[0] + ")"
	}
	return conditionTexts[i] + " (" + c.Names(nil)[0] + ")"
}

// conditionsText lists what held.
func conditionsText(c clr.Condemned) string {
	var parts []string
	for i := range 32 {
		if bit := clr.Condemned(1) << i; c&bit != 0 {
			parts = append(parts, conditionText(bit))
		}
	}
	return strings.Join(parts, "; ")
}

// generation says how the generation was chosen, and why the collection was blocking or
// not.
func (x *explainer) generation() {
	steps, conditions, known := x.decision()
	if known {
		x.steps(steps)
		x.conditions(conditions)
		x.otherwise(steps, conditions)
		x.heaps()
	} else {
		x.lacks("why this generation was chosen", x.unheard())
	}
	x.kind(conditions)
	x.load()
}

// decision is why the generation was chosen, from the heap that decided. Where no heap
// wanted just what was done, that is the one that wanted most.
func (x *explainer) decision() (steps clr.CondemnedGenerations, conditions clr.Condemned, known bool) {
	steps, conditions, known = x.d.Condemned()
	if !known || steps.Final() == x.d.Generation {
		return steps, conditions, known
	}
	for i := range x.d.Heaps {
		if h := &x.d.Heaps[i]; h.HasHistory && h.History.CondemnedGenerations.Final() > steps.Final() {
			steps, conditions = h.History.CondemnedGenerations, h.History.Condemned|x.d.Global.Condemned
		}
	}
	return steps, conditions, known
}

// steps says in which steps the generation was arrived at.
func (x *explainer) steps(s clr.CondemnedGenerations) {
	var parts []string
	parts = append(parts, fmt.Sprintf("It set out as gen%d", s.Initial()))
	switch g := s.BudgetExceeded(); {
	case g > s.Initial():
		parts = append(parts, fmt.Sprintf("the budget of gen%d was exceeded%s", g, x.exceeded(g)))
	case s.Initial() < gclog.Gen2 && !(s.Initial() == gclog.Gen1 && x.d.Kind == gclog.KindForeground):
		// The runtime goes no further than the first that has some left, and beside a
		// background collection not to gen2.
		parts = append(parts, fmt.Sprintf("the budget of gen%d was not used up", s.Initial()+1))
	}
	if g := s.TimeTuning(); g > 0 {
		parts = append(parts, fmt.Sprintf("gen%d was due, because its last collection was long ago", g))
	}
	text := strings.Join(parts, "; ")
	x.say(&x.e.Generation, "steps", fmt.Sprintf("%s; it ended as gen%d.", text, s.Final()),
		Fact{"dotnet.gc.condemned.initial", float64(s.Initial()), ""}, Fact{"dotnet.gc.condemned.budget_exceeded", float64(s.BudgetExceeded()), ""},
		Fact{"dotnet.gc.condemned.time_tuning", float64(s.TimeTuning()), ""}, Fact{"dotnet.gc.condemned.final", float64(s.Final()), ""})
}

// exceeded says by how much, where that is known. Large and pinned objects count as gen2.
func (x *explainer) exceeded(g int) string {
	generations := []int{g}
	if g >= gclog.Gen2 {
		generations = []int{gclog.Gen2, gclog.LOH, gclog.POH}
	}
	var parts []string
	for _, g := range generations {
		if bytes, known := x.d.BudgetExceeded(g); known && bytes > 0 {
			parts = append(parts, fmt.Sprintf("%s by about %s", budgetNames[g], bytesText(bytes)))
		}
	}
	switch {
	case len(parts) > 0:
		return " (" + andList(parts) + ")"
	case g >= gclog.Gen2:
		return " (or that of large or pinned objects, which go with it)"
	}
	return ""
}

// conditions says which conditions held.
func (x *explainer) conditions(c clr.Condemned) {
	if c == 0 {
		x.say(&x.e.Generation, "conditions", "No other condition held.")
		return
	}
	x.say(&x.e.Generation, "conditions", "Conditions that held: "+conditionsText(c)+".")
}

// otherwise says why the generation is not the one that the heaps wanted.
func (x *explainer) otherwise(s clr.CondemnedGenerations, c clr.Condemned) {
	d := x.d
	wanted := max(s.Final(), s.BudgetExceeded())
	text := ""
	switch {
	case wanted > d.Generation && d.Kind == gclog.KindForeground:
		text = fmt.Sprintf("gen%d would have been due, but a background collection was running: beside it there is no more than gen1.", wanted)
	case wanted > d.Generation && c&clr.CondemnedAvoidUnproductive != 0:
		text = fmt.Sprintf("gen%d would have been due, but it was left at gen%d for that reason.", wanted, d.Generation)
	case wanted > d.Generation && d.Global.Mechanisms&clr.MechanismElevation != 0:
		text = fmt.Sprintf("gen%d would have been due, but the last ones had freed little, and gen%d was done instead (Elevation).", wanted, d.Generation)
	case wanted > d.Generation && d.Global.HasMemoryLoad && d.Global.PauseMode == clr.PauseModeLowLatency:
		text = fmt.Sprintf("gen%d would have been due, but GCSettings.LatencyMode was LowLatency, which puts full collections off as long as memory lasts.", wanted)
	case wanted > d.Generation:
		text = fmt.Sprintf("gen%d would have been due; why it was gen%d is told by no event.", wanted, d.Generation)
	case s.Final() < d.Generation && d.Provisional:
		text = fmt.Sprintf("The heaps asked for gen%d; provisional mode made it gen%d.", s.Final(), d.Generation)
	case s.Final() < d.Generation:
		text = fmt.Sprintf("The heaps asked for gen%d; why it became gen%d is told by no event.", s.Final(), d.Generation)
	default:
		return
	}
	x.say(&x.e.Generation, "instead", text)
}

// heaps says what each heap wanted where they differ.
func (x *explainer) heaps() {
	type wish struct {
		steps      clr.CondemnedGenerations
		conditions clr.Condemned
	}
	var order []wish
	by := map[wish][]uint32{}
	for i := range x.d.Heaps {
		h := &x.d.Heaps[i]
		if !h.HasHistory {
			continue
		}
		w := wish{h.History.CondemnedGenerations, h.History.Condemned}
		if by[w] == nil {
			order = append(order, w)
		}
		by[w] = append(by[w], h.Heap)
	}
	if len(order) < 2 {
		return
	}
	text := "The heaps did not want the same, and the highest wish counts: "
	if !slices.ContainsFunc(order, func(w wish) bool { return w.steps.Final() != order[0].steps.Final() }) {
		text = "The heaps wanted the same for different reasons: "
	}
	var parts []string
	for _, w := range order {
		heaps := by[w]
		part := "heap "
		if len(heaps) > 1 {
			part = "heaps "
		}
		part += fmt.Sprintf("%s gen%d", numbersText(heaps), w.steps.Final())
		if b := w.steps.BudgetExceeded(); b > w.steps.Initial() {
			part += fmt.Sprintf(" (budget of gen%d exceeded)", b)
		}
		if names := w.conditions.Names(nil); len(names) > 0 {
			part += " (" + strings.Join(names, ", ") + ")"
		}
		parts = append(parts, part)
	}
	x.say(&x.e.Generation, "heaps", text+strings.Join(parts, "; ")+".")
}

// kind says why it was blocking, foreground or in the background.
func (x *explainer) kind(c clr.Condemned) {
	d := x.d
	switch {
	case d.Kind == gclog.KindBackground:
		x.say(&x.e.Generation, "kind", "It ran in the background, as gen2 does unless something speaks against it: the program stood for its begin and for the end of its mark phase.")
	case d.Kind == gclog.KindForeground:
		x.say(&x.e.Generation, "kind", "It was blocking, as gen0 and gen1 always are, and came while a background collection was running (foreground).")
	case d.Generation < gclog.Gen2:
		x.say(&x.e.Generation, "kind", "It was blocking, as gen0 and gen1 always are.")
	default:
		if why := x.whyBlocking(c | x.anyConditions()); why != "" {
			x.say(&x.e.Generation, "kind", "It was blocking and not in the background, because "+why+".")
			return
		}
		x.lacks("why it was blocking and not in the background", x.untold("no event tells it"))
	}
}

// blockingConditions are those that speak against a background collection.
const blockingConditions = clr.CondemnedInducedFullBlocking | clr.CondemnedFragmentedGen2 | clr.CondemnedFragmentedGen1ToGen2 |
	clr.CondemnedFragmentedGen2HighMemory | clr.CondemnedFragmentedGen2VeryHighMemory | clr.CondemnedExpandHeap |
	clr.CondemnedBeforeOOM | clr.CondemnedTooSmallForBackground | clr.CondemnedLimitBeforeOOM | clr.CondemnedLimitLOHFragmented |
	clr.CondemnedLimitLOHReclaim | clr.CondemnedServoNGC | clr.CondemnedInducedAggressive

// whyBlocking is why a gen2 was not done in the background, "" if nothing tells that.
func (x *explainer) whyBlocking(c clr.Condemned) string {
	d := x.d
	switch p := x.c.Process; {
	case d.Provisional:
		return "the full collections of provisional mode are"
	case d.DemotedBGC:
		return "it was started as a background collection but could not run as one; of the first of a process that is usual"
	case d.HasReason && (d.Reason == clr.ReasonInduced || d.Reason == clr.ReasonInducedCompacting || d.Reason == clr.ReasonInducedAggressive):
		return "it was asked for so (" + d.Reason.String() + ")"
	case c&blockingConditions != 0:
		return conditionsText(c & blockingConditions)
	case d.HasReason && (d.Reason == clr.ReasonInducedLowMemory || d.Reason == clr.ReasonLowMemoryHostBlocking):
		return "memory was short (" + d.Reason.String() + ")"
	case d.Global.HasMemoryLoad && d.Global.PauseMode == clr.PauseModeBatch:
		return "background collections were off (GCSettings.LatencyMode is Batch, as it is with System.GC.Concurrent=false)"
	case d.Global.HasMemoryLoad && d.Global.PauseMode == clr.PauseModeLowLatency:
		return "GCSettings.LatencyMode was LowLatency, which has no background collections"
	case p != nil && p.Concurrent == gclog.No:
		return "background collections are off in this process (System.GC.Concurrent=false)"
	}
	return ""
}

// anyConditions are those that held for any of the heaps.
func (x *explainer) anyConditions() (c clr.Condemned) {
	for i := range x.d.Heaps {
		c |= x.d.Heaps[i].History.Condemned
	}
	return c
}

// load says how full the memory was.
func (x *explainer) load() {
	d := x.d
	if d.Global.MemoryLoad == 0 {
		x.lacks("the memory load", x.untold("the runtime does not tell it of each collection"))
		return
	}
	text := fmt.Sprintf("The memory load was %d %%", d.Global.MemoryLoad)
	facts := []Fact{{"dotnet.gc.memory_load", float64(d.Global.MemoryLoad), "%"}}
	if p := x.c.Process; p != nil && p.HasLimits {
		if h := p.Limits.HighMemoryPercent; h > 0 {
			text += fmt.Sprintf("; the runtime takes it for high from %d %% on", min(h, highestLoad))
		}
		if l := p.Limits.HardLimit; l > 0 {
			text += fmt.Sprintf("; the heap may have %s (hard limit)", bytesText(l))
			facts = append(facts, Fact{"dotnet.gc.hard_limit", float64(l), "bytes"})
		}
	}
	x.say(&x.e.Generation, "memory-load", text+".", facts...)
}
