package analysis

import (
	"fmt"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/parse/clr"
)

// costRules are about what makes collections frequent, late or slow, whatever their cause.
func costRules() []Rule {
	return []Rule{
		{
			Number: 30, ID: "dependent-handles", Severity: Warning,
			Thresholds: []Threshold{
				{Name: "share", Unit: "%", Default: 10},
				{Name: "floor", Unit: "ns", Default: 100e6},
			},
			Basis: BasisHeuristic, need: needCollections,
			judge: func(l limits) judge { return &dependentHandles{share: l["share"], floor: int64(l["floor"])} },
		},
		{
			Number: 31, ID: "late-start", Severity: Warning,
			Thresholds: []Threshold{
				{Name: "over", Unit: "ns", Default: 100e6},
			},
			Basis: BasisHeuristic, need: needCollections,
			judge: func(l limits) judge { return &lateStart{over: int64(l["over"])} },
		},
		{
			Number: 32, ID: "heap-count-changes", Severity: Info,
			Thresholds: []Threshold{
				{Name: "rate", Unit: "1/min", Default: 1},
				{Name: "count", Default: 5},
			},
			Basis: BasisHeuristic, need: needCollections,
			judge: func(l limits) judge { return &heapCountChanges{rate: l["rate"], count: l.count()} },
		},
		{
			Number: 33, ID: "too-many-gen1", Severity: Info,
			Thresholds: []Threshold{
				{Name: "share", Unit: "%", Default: 60},
			},
			Basis: BasisHeuristic, need: needCollections,
			judge: func(l limits) judge { return &tooManyGen1{share: l["share"]} },
		},
		{
			Number: 34, ID: "high-survival", Severity: Warning,
			Thresholds: []Threshold{
				{Name: "over", Unit: "%", Default: 15},
			},
			Basis: BasisHeuristic, need: needCollections,
			judge: func(l limits) judge { return &highSurvival{over: l["over"]} },
		},
		{
			Number: 35, ID: "small-gen0", Severity: Warning,
			Thresholds: []Threshold{
				{Name: "period", Unit: "ns", Default: 100e6},
				{Name: "survival", Unit: "%", Default: 15},
			},
			Basis: BasisHeuristic, need: needCollections,
			judge: func(l limits) judge { return &smallGen0{period: int64(l["period"]), survival: l["survival"]} },
		},
	}
}

type dependentHandles struct {
	share    float64
	floor    int64
	reported uint64
	paused   int64 // by those that report it
	took     int64
	max      int64
	worst    ranking
}

func (j *dependentHandles) gc(x *judgedGC) {
	m := x.Mark(clr.MarkDependentHandles)
	// The runtime reports the kinds of roots from which anything was promoted.
	if x.background || !m.Known && !x.Mark(clr.MarkStack).Known {
		return
	}
	took := min(m.Longest, x.pause)
	j.reported++
	j.paused += x.pause
	j.took += took
	j.max = max(j.max, took)
	j.worst.add(x.GCDetails, float64(took))
}

func (j *dependentHandles) verdict(s *stretch) (f Finding, why string) {
	if j.reported == 0 {
		return f, "no blocking collection reports what it marked, and how long that took"
	}
	share := percent(j.took, j.paused)
	if share <= j.share || j.took <= j.floor {
		return f, ""
	}
	f.Text = fmt.Sprintf(
		"Scanning dependent handles took %s of the %s that %s paused the program for (%s), at most %s in one.",
		durationText(float64(j.took)), durationText(float64(j.paused)), plural(j.reported, "collection"),
		valueText(share, "%"), durationText(float64(j.max)))
	f.GCs = j.worst.numbers()
	f.Explains.Paused = s.ofPauses(j.took)
	f.says = fmt.Sprintf("%s of that scanned dependent handles", f.Explains.share())
	f.Evidence = []Fact{
		countFact("collections", j.reported), timeFact("pause.sum", j.paused), timeFact("dependent.sum", j.took),
		percentFact("dependent.share", share), timeFact("dependent.max", j.max),
	}
	return f, ""
}

type lateStart struct {
	over     int64
	reported uint64
	late     uint64
	sum, max int64 // of the late ones
	worst    ranking
}

func (j *lateStart) gc(x *judgedGC) {
	delay, known := x.TriggerDelay()
	if !known {
		return
	}
	j.reported++
	if delay <= j.over {
		return
	}
	j.late++
	j.sum += delay
	j.max = max(j.max, delay)
	j.worst.add(x.GCDetails, float64(delay))
}

func (j *lateStart) verdict(s *stretch) (f Finding, why string) {
	if j.reported == 0 {
		return f, "no collection reports when it was requested, as server GC does"
	}
	if j.late == 0 {
		return f, ""
	}
	f.Text = fmt.Sprintf("%d of %s started more than %s after the request, at most %s: the threads that requested "+
		"them waited for %s in total before the pauses began.",
		j.late, plural(j.reported, "collection"), durationText(float64(j.over)), durationText(float64(j.max)),
		durationText(float64(j.sum)))
	f.GCs = j.worst.numbers()
	f.Explains.Paused = s.ofPauses(j.sum)
	f.Evidence = []Fact{
		countFact("collections", j.reported), countFact("collections.late", j.late), timeFact("delay.over", j.over),
		timeFact("delay.max", j.max), timeFact("delay.sum", j.sum),
	}
	return f, ""
}

type heapCountChanges struct {
	rate     float64
	count    uint64
	reported uint64
	changes  uint64
	// turns are the changes that take back what the one before had done. DATAS raises the number step
	// by step until it suits the load; only heaps that come and go cost pauses for nothing.
	turns       uint64
	rising      bool // what the latest change did
	last        int
	least, most int
	worst       ranking
}

func (j *heapCountChanges) gc(x *judgedGC) {
	n := x.HeapCount()
	if n == 0 {
		return
	}
	if j.reported == 0 {
		j.least = n
	} else if n != j.last {
		rising := n > j.last
		if j.changes > 0 && rising != j.rising {
			j.turns++
			j.worst.add(x.GCDetails, float64(x.pause))
		}
		j.changes++
		j.rising = rising
	}
	j.reported++
	j.last, j.least, j.most = n, min(j.least, n), max(j.most, n)
}

func (j *heapCountChanges) verdict(s *stretch) (f Finding, why string) {
	rate := float64(j.turns) / s.minutes()
	switch {
	case j.reported == 0:
		return f, "no collection reports the number of heaps"
	case j.turns < j.count || rate < j.rate:
		return f, ""
	case s.unbounded: // the time is longer than the known part
		return f, noBounds
	}
	f.Text = fmt.Sprintf("The number of heaps changed %d times in %s, between %d and %d, and %d of the changes took "+
		"back the one before.",
		j.changes, timeText(s.duration()), j.least, j.most, j.turns)
	f.GCs = j.worst.numbers()
	f.Evidence = []Fact{
		countFact("collections", j.reported), countFact("heaps.changes", j.changes), countFact("heaps.turns", j.turns),
		{Name: "heaps.turns.rate", Value: rate, Unit: "1/min"},
		timeFact("duration", s.duration()), countFact("heaps.min", j.least), countFact("heaps.max", j.most),
	}
	return f, ""
}

type tooManyGen1 struct {
	share  float64
	counts [gclog.Gen1 + 1]uint64
	paused int64 // by gen1
	worst  ranking
}

func (j *tooManyGen1) gc(x *judgedGC) {
	if x.induced || x.isGen2 {
		return
	}
	g := max(gclog.Gen0, min(x.Generation, gclog.Gen1))
	j.counts[g]++
	if g == gclog.Gen1 {
		j.paused += x.pause
		j.worst.add(x.GCDetails, float64(x.pause))
	}
}

func (j *tooManyGen1) verdict(s *stretch) (f Finding, why string) {
	all := j.counts[gclog.Gen0] + j.counts[gclog.Gen1]
	if all < leastCollections {
		return f, needs(leastCollections, "gen0 or gen1 collection", all)
	}
	share := percent(j.counts[gclog.Gen1], all)
	if share <= j.share {
		return f, ""
	}
	f.Text = fmt.Sprintf("Of the collections that were not induced, %d were gen0 and %d gen1 (%s).",
		j.counts[gclog.Gen0], j.counts[gclog.Gen1], valueText(share, "%"))
	f.GCs = j.worst.numbers()
	f.Explains.Paused = s.ofPauses(j.paused)
	f.Evidence = []Fact{
		countFact("gen0", j.counts[gclog.Gen0]), countFact("gen1", j.counts[gclog.Gen1]),
		percentFact("gen1.share", share),
	}
	return f, ""
}

// A young sums up the gen0 and gen1 collections that were not induced.
type young struct {
	collections       uint64
	paused            int64
	reported          uint64  // of them, those that report what survived gen0
	survived, objects float64 // of gen0
	promoted          float64
	worst             ranking
}

func (y *young) gc(x *judgedGC) {
	if x.isGen2 || x.induced {
		return
	}
	y.collections++
	y.paused += x.pause
	y.worst.add(x.GCDetails, float64(x.pause))
	if !x.Known.Has(gclog.GroupHistory) {
		return
	}
	y.reported++
	y.survived += float64(x.Generations[gclog.Gen0].Survived)
	y.objects += float64(x.Generations[gclog.Gen0].ObjectsBefore)
	y.promoted += float64(x.PromotedBytes)
}

// verdict returns a Finding without Text if these collections are most of what the program is paused
// for, and that matters.
func (y *young) verdict(s *stretch) (f Finding, why string, matters bool) {
	switch {
	case y.reported == 0:
		return f, "no gen0 or gen1 collection reports what survived gen0", false
	case y.reported < leastCollections:
		return f, needs(leastCollections, "gen0 or gen1 collection", y.reported), false
	}
	f.Explains.Paused = s.ofPauses(y.paused)
	f.GCs = y.worst.numbers()
	f.Evidence = []Fact{
		countFact("gen0-and-gen1", y.collections), timeFact("pause.sum", y.paused),
		percentFact("gen0.survival", percent(y.survived, y.objects)), bytesFact("gen0.survived", y.survived),
		bytesFact("gen0.objects-before.sum", y.objects), bytesFact("promoted.sum", y.promoted),
	}
	return f, "", f.Explains.Paused >= explainsPauses && !s.costsLittle(&f)
}

// highSurvival judges what the young generations cost because much of gen0 survives.
type highSurvival struct {
	young
	over float64
}

func (j *highSurvival) verdict(s *stretch) (Finding, string) {
	f, why, matters := j.young.verdict(s)
	survival := percent(j.survived, j.objects)
	if !matters || survival <= j.over {
		return Finding{}, why
	}
	f.Text = fmt.Sprintf("Of %s of objects in gen0, %s survived (%s): gen0 and gen1 collections marked and promoted "+
		"%s, for which they paused the program for %s.",
		sizeText(j.objects), sizeText(j.survived), valueText(survival, "%"), sizeText(j.promoted), timeText(j.paused))
	f.says = fmt.Sprintf("%s of that are gen0 and gen1 collections that %s of gen0 survived",
		f.Explains.share(), valueText(survival, "%"))
	return f, ""
}

// smallGen0 judges what they cost because there are many, although little survives.
type smallGen0 struct {
	young
	period   int64
	survival float64
}

func (j *smallGen0) verdict(s *stretch) (Finding, string) {
	f, why, matters := j.young.verdict(s)
	survival := percent(j.survived, j.objects)
	period := quotient(float64(max(leastTime, s.duration())), float64(j.collections))
	if !matters || survival > j.survival || period >= float64(j.period) {
		return Finding{}, why
	}
	size := j.objects / float64(j.reported)
	f.Text = fmt.Sprintf("There was a gen0 or gen1 collection every %s, with %s of objects in gen0 on average, of "+
		"which %s survived; they paused the program for %s.",
		durationText(period), sizeText(size), valueText(survival, "%"), timeText(j.paused))
	f.says = fmt.Sprintf("%s of that are gen0 and gen1 collections, one every %s, although %s of gen0 survived them",
		f.Explains.share(), durationText(period), valueText(survival, "%"))
	f.Evidence = append(f.Evidence, timeFact("period", period), bytesFact("gen0.objects-before.mean", size))
	return f, ""
}
