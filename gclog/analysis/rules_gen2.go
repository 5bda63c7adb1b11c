package analysis

import (
	"fmt"
	"strings"
	"time"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/parse/clr"
)

func gen2Rules() []Rule {
	return []Rule{
		{
			Number: 5, ID: "induced-gcs", Severity: Warning,
			Thresholds: []Threshold{
				{Name: "rate", Unit: "1/min", Default: 1},
				{Name: "share", Unit: "%", Default: 10},
			},
			Basis: BasisMicrosoft, need: needEither,
			judge: func(l limits) judge { return &inducedGCs{rate: l["rate"], share: l["share"]} },
		},
		{
			Number: 6, ID: "blocking-gen2", Severity: Warning,
			Thresholds: []Threshold{
				{Name: "share", Unit: "%", Default: 50},
			},
			Basis: BasisMicrosoft, need: needGen2,
			judge: func(l limits) judge { return &blockingGen2{share: l["share"]} },
		},
		{
			Number: 7, ID: "memory-load-gen2", Severity: Warning,
			Thresholds: []Threshold{
				{Name: "load", Unit: "%", Default: 90},
			},
			Basis: BasisMicrosoft, need: needGen2,
			judge: func(l limits) judge { return &memoryLoad{load: l["load"]} },
		},
		{
			Number: 8, ID: "too-many-gen2", Severity: Warning,
			Thresholds: []Threshold{
				{Name: "per-gen1", Default: 0.5},
				{Name: "share", Unit: "%", Default: 10},
				{Name: "count", Default: 10},
			},
			Basis: BasisHeuristic, need: needCollections,
			judge: func(l limits) judge {
				return &tooManyGen2{perGen1: l["per-gen1"], share: l["share"], least: l.count()}
			},
		},
		{
			Number: 21, ID: "provisional-mode", Severity: Warning,
			Basis: BasisRuntime, need: needEither,
			judge: func(limits) judge { return &provisionalMode{} },
		},
		{
			Number: 25, ID: "time-tuning", Severity: Info,
			Thresholds: []Threshold{
				{Name: "share", Unit: "%", Default: 50},
				{Name: "count", Default: 10},
			},
			Basis: BasisRuntime, need: needCollections,
			judge: func(l limits) judge { return &timeTuning{share: l["share"], least: l.count()} },
		},
	}
}

// leastInduced is how many induced collections are a habit.
const leastInduced = 3

type inducedGCs struct {
	rate, share float64
	blocking    uint64
	gen2        uint64 // induced collections of gen2
	all         uint64 // induced collections
	reasons     [clr.ReasonInducedAggressive + 1]uint64
	paused      int64
	worst       ranking
}

func (j *inducedGCs) gc(x *judgedGC) {
	if !x.induced {
		return
	}
	j.all++
	j.reasons[x.Reason]++
	j.paused += x.pause
	if !x.background {
		j.blocking++
	}
	if x.isGen2 {
		j.gen2++
	}
	j.worst.add(x.GCDetails, float64(x.pause))
}

// callersText names those that asked for most.
func callersText(list []Caller) string {
	const most = 3
	var all Caller
	for _, c := range list {
		all.Count += c.Count
		all.Paused += c.Paused
	}
	var parts []string
	for _, c := range list[:min(len(list), most)] {
		share := valueText(percent(c.Paused, all.Paused), "%")
		if len(parts) == 0 {
			share += " of these pauses"
		}
		parts = append(parts, fmt.Sprintf("%s (%s)", c.Name, share))
	}
	if n := len(list) - len(parts); n > 0 {
		parts = append(parts, plural(uint64(n), "other"))
	}
	if len(parts) == 0 {
		return ""
	}
	return "Called by " + andList(parts) + "."
}

func (j *inducedGCs) verdict(s *stretch) (f Finding, why string) {
	rate := float64(j.blocking) / s.minutes()
	often, many := rate >= j.rate, sureShare(j.gen2, s.gen2, leastGen2) > j.share
	switch {
	case j.all < leastInduced || !often && !many:
		return f, ""
	case !many && s.unbounded: // the time is longer than the known part
		return f, noBounds
	}
	per := " (" + valueText(rate, "1/min") + ")"
	evidence := []Fact{{Name: "induced.blocking.rate", Value: rate, Unit: "1/min"}}
	if d := s.duration(); d < int64(time.Minute) { // too short for a rate
		per, evidence = " (in "+timeText(d)+")", []Fact{timeFact("duration", d)}
	}
	if s.unbounded {
		per, evidence = "", nil
	}
	f.Text = fmt.Sprintf(
		"The program induced %d of %s (%d of %d of gen2), %d of them blocking%s; they paused it for %s in total.",
		j.all, plural(s.collections, "collection"), j.gen2, s.gen2, j.blocking, per, timeText(j.paused))
	f.GCs = j.worst.numbers()
	f.Evidence = append([]Fact{
		countFact("collections", s.collections), countFact("induced", j.all),
		countFact("gen2", s.gen2), countFact("induced.gen2", j.gen2),
		countFact("induced.blocking", j.blocking), timeFact("induced.pause.sum", j.paused),
	}, evidence...)
	if s.gen2 > 0 {
		f.Evidence = append(f.Evidence, percentFact("induced.gen2.share", percent(j.gen2, s.gen2)))
	}
	f.Explains.Paused = s.ofPauses(j.paused)
	f.says = fmt.Sprintf("%s of that are %s of GC.Collect", f.Explains.share(), plural(j.all, "call"))
	if text := callersText(s.callers); text != "" {
		f.Text += " " + text
		f.says += ", most of all by " + s.callers[0].Name
		f.Evidence = append(f.Evidence, textFact("caller", s.callers[0].Name),
			countFact("caller.requests", s.callers[0].Count), timeFact("caller.pause.sum", s.callers[0].Paused))
	}
	for r, n := range j.reasons {
		if n > 0 {
			f.Evidence = append(f.Evidence, countFact("reason."+clr.Reason(r).String(), n))
		}
	}
	return f, ""
}

// A causeCount counts the conditions by which generations were chosen, bit by bit.
type causeCount [32]uint64

func (c *causeCount) add(conditions clr.Condemned) {
	for conditions != 0 {
		low := conditions & -conditions
		c[log2(low)]++
		conditions &^= low
	}
}

// any reports whether one of the conditions held.
func (c *causeCount) any(conditions clr.Condemned) bool {
	for i, n := range c {
		if n > 0 && conditions&(1<<i) != 0 {
			return true
		}
	}
	return false
}

func log2(c clr.Condemned) (n int) {
	for ; c > 1; c >>= 1 {
		n++
	}
	return n
}

// evidence appends how often each condition held.
func (c *causeCount) evidence(list []Fact) []Fact {
	for i, n := range c {
		if n > 0 {
			list = append(list, countFact("condition."+clr.Condemned(1 << i).Names(nil)[0], n))
		}
	}
	return list
}

// A blockingCause is why a gen2 collection did not run in the background.
type blockingCause uint8

// A collection has the first of these that applies.
const (
	causeInduced blockingCause = iota
	causeProvisional
	causeLimit
	causeMemory
	causeOff
	causeDemoted
	causeFragmented
	causeSmall
	causeOther
)

// blockingCauses are their names, also of their texts.
var blockingCauses = [...]string{
	causeInduced: "induced", causeProvisional: "provisional", causeLimit: "limit", causeMemory: "memory",
	causeOff: "off", causeDemoted: "demoted", causeFragmented: "fragmented", causeSmall: "small", causeOther: "other",
}

func whyBlocking(x *judgedGC) blockingCause {
	has := func(c clr.Condemned) bool { return x.conditions&c != 0 }
	switch {
	case x.induced:
		return causeInduced
	case x.Provisional, x.Known.Has(gclog.GroupReason) && x.Reason == clr.ReasonPMFullGC, has(provisional):
		return causeProvisional
	case has(nearLimit):
		return causeLimit
	case blockedByMemory(x), x.Known.Has(gclog.GroupReason) &&
		(x.Reason == clr.ReasonInducedLowMemory || x.Reason == clr.ReasonLowMemoryHostBlocking):
		return causeMemory
	case x.Global.HasMemoryLoad && x.Global.PauseMode == clr.PauseModeBatch:
		return causeOff
	case x.DemotedBGC:
		return causeDemoted
	case has(clr.CondemnedTooSmallForBackground):
		return causeSmall
	case has(clr.CondemnedFragmentedGen2 | clr.CondemnedFragmentedGen1ToGen2):
		return causeFragmented
	}
	return causeOther
}

type blockingGen2 struct {
	share      float64
	blocking   uint64
	all        uint64
	paused     int64
	max        int64
	causes     [len(blockingCauses)]uint64
	conditions causeCount
	worst      ranking
}

func (j *blockingGen2) gc(x *judgedGC) {
	if !x.isGen2 {
		return
	}
	j.all++
	if x.background {
		return
	}
	j.blocking++
	j.paused += x.pause
	j.max = max(j.max, x.pause)
	j.causes[whyBlocking(x)]++
	j.conditions.add(x.conditions)
	j.worst.add(x.GCDetails, float64(x.pause))
}

func (j *blockingGen2) verdict(s *stretch) (f Finding, why string) {
	share := percent(j.blocking, j.all)
	if j.blocking < leastGen2 || share <= j.share {
		return f, ""
	}
	counts := j.causes
	if s.process.Concurrent == gclog.No {
		counts[causeOff], counts[causeOther] = counts[causeOff]+counts[causeOther], 0
	}
	f.Evidence = []Fact{
		countFact("gen2", j.all), countFact("gen2.blocking", j.blocking), percentFact("gen2.blocking.share", share),
	}
	var causes, advice []string
	for i, n := range counts {
		if name := blockingCauses[i]; n > 0 {
			causes = append(causes, fmt.Sprintf("%d %s", n, ruleText("blocking-gen2", name)))
			advice = append(advice, ruleText("blocking-gen2", name+"/advice"))
			f.Evidence = append(f.Evidence, countFact("gen2.blocking."+name, n))
		}
	}
	f.Text = fmt.Sprintf("%d of %s (%s) were blocking, the longest pause %s: %s.",
		j.blocking, plural(j.all, "gen2 collection"), valueText(share, "%"), timeText(j.max), andList(causes))
	f.Advice, f.Explains.Paused = strings.Join(advice, " "), s.ofPauses(j.paused)
	f.GCs = j.worst.numbers()
	f.Evidence = j.conditions.evidence(append(f.Evidence, timeFact("gen2.blocking.pause.sum", j.paused),
		timeFact("gen2.blocking.pause.max", j.max)))
	return f, ""
}

// The conditions caused by a high memory load. AlmostMaxAlloc is not among those that block: it
// makes gen2 collections run early, in the background if possible.
const (
	blocksByMemory = clr.CondemnedHighMemory | clr.CondemnedVeryHighMemory | clr.CondemnedFragmentedGen2HighMemory |
		clr.CondemnedFragmentedGen2VeryHighMemory
	shortOfMemory = blocksByMemory | clr.CondemnedAlmostMaxAlloc
)

// blockedByMemory reports whether a collection blocks because of the memory load.
// TooSmallForBackground is only set for collections that need not block.
func blockedByMemory(x *judgedGC) bool {
	return !x.background && x.conditions&blocksByMemory != 0 && x.conditions&clr.CondemnedTooSmallForBackground == 0
}

// fullByMemory reports whether it is a gen2 collection because of the memory load.
func fullByMemory(x *judgedGC) bool {
	return x.conditions&shortOfMemory != 0 &&
		max(x.steps.Initial(), x.steps.BudgetExceeded(), x.steps.TimeTuning()) < gclog.Gen2
}

// memoryLoad counts by load in percent, because the limit may be reported later.
type memoryLoad struct {
	load     float64
	reported uint64
	byLoad   [101]struct {
		gcs, blocked uint64
		paused       int64
	}
	causes causeCount
	worst  ranking
}

// loadDefault is the runtime's own limit unless configured otherwise.
const loadDefault = 90

// highestLoad is the limit that the runtime uses in place of a higher one, whatever it reports.
const highestLoad = 99

func (j *memoryLoad) gc(x *judgedGC) {
	if !x.isGen2 || !x.condemned || !x.Global.HasMemoryLoad {
		return
	}
	j.reported++
	blocked := blockedByMemory(x)
	if !blocked && !fullByMemory(x) {
		return
	}
	load := min(x.Global.MemoryLoad, 100)
	at := &j.byLoad[load]
	at.gcs++
	at.paused += x.pause
	if blocked {
		at.blocked++
	}
	j.causes.add(x.conditions & shortOfMemory)
	j.worst.add(x.GCDetails, float64(load)*1e12+min(float64(x.pause), 1e12-1))
}

func (j *memoryLoad) verdict(s *stretch) (f Finding, why string) {
	if j.reported == 0 {
		return f, "no gen2 collection reports the memory load and why gen2 was chosen"
	}
	limit := j.load
	if limit == loadDefault {
		limit = 0 // the conditions show that it was reached
		if own := s.process.Limits.HighMemoryPercent; s.process.HasLimits && own > 0 {
			limit = float64(min(own, highestLoad))
		}
	}
	var gcs, blocked, most uint64
	var paused int64
	for load, x := range j.byLoad {
		if float64(load) >= limit && x.gcs > 0 {
			gcs, blocked, paused, most = gcs+x.gcs, blocked+x.blocked, paused+x.paused, uint64(load)
		}
	}
	if gcs == 0 {
		return f, ""
	}
	from := "the limit is not reported"
	f.Evidence = []Fact{
		countFact("gen2", gcs), countFact("gen2.blocking", blocked), percentFact("memory.load.max", most),
	}
	if limit > 0 {
		from = valueText(limit, "%") + " is the limit"
		f.Evidence = append(f.Evidence, percentFact("memory.load.limit", limit))
	}
	f.Text = fmt.Sprintf("%s caused by high memory load, up to %d %%, and %d of them blocked because of it; they "+
		"paused the program for %s in total; %s.",
		were(gcs, "gen2 collection"), most, blocked, durationText(float64(paused)), from)
	for _, r := range j.worst.list[:j.worst.n] {
		if r.weight >= limit*1e12 {
			f.GCs = append(f.GCs, r.number)
		}
	}
	f.Explains.Paused = s.ofPauses(paused)
	f.says = fmt.Sprintf("the memory load was up to %d %%, and %s caused by that", most, were(gcs, "gen2 collection"))
	f.Evidence = j.causes.evidence(append(f.Evidence, timeFact("pause.sum", paused)))
	return f, ""
}

type tooManyGen2 struct {
	perGen1, share float64
	least          uint64
	counts         [gclog.Gen2 + 1]uint64
	paused         int64 // by gen2
	worst          ranking
}

func (j *tooManyGen2) gc(x *judgedGC) {
	if x.induced {
		return
	}
	j.counts[max(gclog.Gen0, min(x.Generation, gclog.Gen2))]++
	if x.isGen2 {
		j.paused += x.pause
		j.worst.add(x.GCDetails, float64(x.pause))
	}
}

func (j *tooManyGen2) verdict(s *stretch) (f Finding, why string) {
	gen2 := j.counts[gclog.Gen2]
	all := j.counts[0] + j.counts[1] + gen2
	share := percent(gen2, all)
	many := float64(gen2) > j.perGen1*float64(j.counts[1])
	if gen2 < j.least || !many && sureShare(gen2, all, leastCollections) <= j.share {
		return f, ""
	}
	f.Text = fmt.Sprintf("Of the collections that were not induced, %d were gen0, %d gen1 and %d gen2 (%s).",
		j.counts[0], j.counts[1], gen2, valueText(share, "%"))
	f.Explains.Paused = s.ofPauses(j.paused)
	f.GCs = j.worst.numbers()
	f.Evidence = []Fact{
		countFact("gen0", j.counts[0]), countFact("gen1", j.counts[1]), countFact("gen2", gen2),
		percentFact("gen2.share", share),
	}
	if j.counts[1] > 0 {
		f.Evidence = append(f.Evidence, countFact("gen2.per-gen1", float64(gen2)/float64(j.counts[1])))
	}
	return f, ""
}

// provisional are the conditions of provisional mode and of what precedes it.
const provisional = clr.CondemnedAvoidUnproductive | clr.CondemnedPMInducedFull | clr.CondemnedPMAllocLOH |
	clr.CondemnedGen1InPM

type provisionalMode struct {
	reported uint64
	gcs      uint64
	full     uint64 // full collections after a gen1, included in gcs
	paused   int64
	causes   causeCount
	worst    ranking
}

func (j *provisionalMode) gc(x *judgedGC) {
	if x.condemned {
		j.reported++
	}
	full := x.Known.Has(gclog.GroupReason) && x.Reason == clr.ReasonPMFullGC
	if !full && x.conditions&provisional == 0 {
		return
	}
	j.gcs++
	if full {
		j.full++
	}
	j.paused += x.pause
	j.causes.add(x.conditions & provisional)
	j.worst.add(x.GCDetails, float64(x.pause))
}

func (j *provisionalMode) verdict(s *stretch) (f Finding, why string) {
	if j.gcs == 0 && j.reported == 0 {
		return f, "no collection reports why its generation was chosen"
	}
	if j.gcs == 0 {
		return f, ""
	}
	f.Text = fmt.Sprintf("%s followed the rules for full collections that free little, %d of them full collections "+
		"right after a gen1; they paused the program for %s in total.",
		plural(j.gcs, "collection"), j.full, durationText(float64(j.paused)))
	f.GCs = j.worst.numbers()
	f.Explains.Paused = s.ofPauses(j.paused)
	f.says = fmt.Sprintf("%s of the pauses are %s of the mode in which full collections free little",
		f.Explains.share(), plural(j.gcs, "collection"))
	f.Evidence = j.causes.evidence(
		[]Fact{countFact("collections", j.gcs), countFact("reason.PMFullGC", j.full), timeFact("pause.sum", j.paused)})
	return f, ""
}

type timeTuning struct {
	share    float64
	least    uint64
	reported uint64
	byTime   uint64
	worst    ranking
}

func (j *timeTuning) gc(x *judgedGC) {
	if x.Generation < gclog.Gen1 || !x.condemned {
		return
	}
	j.reported++
	if x.steps.TimeTuning() == x.Generation {
		j.byTime++
		j.worst.add(x.GCDetails, float64(x.pause))
	}
}

func (j *timeTuning) verdict(s *stretch) (f Finding, why string) {
	if j.reported < j.least {
		return f, needs(j.least, "gen1 or gen2 collection", j.reported) + " that report why their generation was chosen"
	}
	share := percent(j.byTime, j.reported)
	if share <= j.share {
		return f, ""
	}
	f.Text = fmt.Sprintf("%d of %d gen1 and gen2 collections (%s) were triggered because they were due by time.",
		j.byTime, j.reported, valueText(share, "%"))
	f.GCs = j.worst.numbers()
	f.Evidence = []Fact{
		countFact("gen1-and-gen2", j.reported), countFact("by-time", j.byTime), percentFact("by-time.share", share),
	}
	return f, ""
}
