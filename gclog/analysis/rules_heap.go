package analysis

import (
	"fmt"
	"time"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/parse/clr"
)

func heapRules() []Rule {
	return []Rule{
		{
			Number: 9, ID: "mid-life-crisis", Severity: Warning,
			Thresholds: []Threshold{
				{Name: "gen1-survival", Unit: "%", Default: 50},
				{Name: "in", Unit: "%", Default: 10},
				{Name: "gen2-survival", Unit: "%", Default: 50},
				{Name: "turnover", Default: 5},
				{Name: "of-allocated", Unit: "%", Default: 40},
			},
			Basis: BasisHeuristic, need: needGen2,
			judge: func(l limits) judge {
				return &midLifeCrisis{
					gen1Survival: l["gen1-survival"],
					in:           l["in"],
					gen2Survival: l["gen2-survival"],
					turnover:     l["turnover"],
					ofAllocated:  l["of-allocated"],
				}
			},
		},
		{
			Number: 10, ID: "high-allocation-rate", Severity: Warning,
			Thresholds: []Threshold{
				{Name: "over", Unit: "bytes/s", Default: 1e9},
				{Name: "period", Unit: "ns", Default: 100e6},
				{Name: "survival", Unit: "%", Default: 5},
			},
			Basis: BasisHeuristic, need: needCollections,
			judge: func(l limits) judge {
				return &allocationRate{over: l["over"], period: l["period"], survival: l["survival"]}
			},
		},
		{
			Number: 11, ID: "loh-pressure", Severity: Warning,
			Thresholds: []Threshold{
				{Name: "collections", Unit: "%", Default: 30},
				{Name: "heap", Unit: "%", Default: 50},
				{Name: "floor", Unit: "bytes", Default: 50e6},
			},
			Basis: BasisHeuristic, need: needCollections,
			judge: func(l limits) judge {
				return &lohPressure{collections: l["collections"], heap: l["heap"], floor: l["floor"]}
			},
		},
		{
			Number: 23, ID: "poh-misuse", Severity: Warning,
			Thresholds: []Threshold{
				{Name: "heap", Unit: "%", Default: 20},
				{Name: "fragmentation", Unit: "%", Default: 50},
				{Name: "floor", Unit: "bytes", Default: 10e6},
			},
			Basis: BasisHeuristic, need: needCollections,
			judge: func(l limits) judge {
				return &pohMisuse{heap: l["heap"], fragmentation: l["fragmentation"], floor: l["floor"]}
			},
		},
	}
}

type midLifeCrisis struct {
	gen1Survival, in, gen2Survival, turnover, ofAllocated float64

	volume promotedVolume

	// Since the last gen2 collection.
	survived, objects  float64
	arrived, gen2Sizes float64

	hasSurvival    bool   // the survival in gen2 is reported
	cycles, crises uint64 // gen2 collections that could be judged
	lowest         float64
	worstIn        float64
	arrivedAll     float64
	paused         int64 // by those that show it
	worst          ranking
}

func (j *midLifeCrisis) gc(x *judgedGC) {
	if !x.Known.Has(gclog.GroupHistory) {
		return
	}
	j.volume.add(x)
	if x.Generation == gclog.Gen1 {
		gen1, gen2 := &x.Generations[gclog.Gen1], &x.Generations[gclog.Gen2]
		j.survived += float64(gen1.Survived)
		j.objects += float64(gen1.ObjectsBefore)
		j.arrived += float64(gen2.In)
		j.gen2Sizes += float64(gen2.Before)
	}
	if !x.isGen2 {
		return
	}
	survival, known := x.Survival(gclog.Gen2)
	j.hasSurvival = j.hasSurvival || known
	if known && j.objects > 0 && j.gen2Sizes > 0 {
		j.cycles++
		in := percent(j.arrived, j.gen2Sizes)
		if percent(j.survived, j.objects) > j.gen1Survival && in > j.in && survival < j.gen2Survival {
			if j.crises == 0 || survival < j.lowest {
				j.lowest = survival
			}
			j.crises++
			j.paused += x.pause
			j.worstIn = max(j.worstIn, in)
			j.arrivedAll += j.arrived
			j.worst.add(x.GCDetails, 100-survival)
		}
	}
	j.survived, j.objects, j.arrived, j.gen2Sizes = 0, 0, 0, 0
}

func (j *midLifeCrisis) verdict(s *stretch) (f Finding, why string) {
	switch {
	case !j.hasSurvival:
		return f, "no gen2 collection reports the survival of gen2, which logs of the JDK flavours do not contain"
	case j.cycles == 0:
		return f, "no gen2 collection that reports the survival of gen2 follows gen1 collections"
	}
	v := &j.volume
	passes := percent(v.in, v.allocated) > j.ofAllocated && percent(v.survived, v.objects) > survivesGen1
	if passes && v.gen2 >= leastGen2 && v.turnover() > j.turnover {
		return v.finding(s), ""
	}
	if j.crises < 2 || 2*j.crises < j.cycles {
		return f, ""
	}
	f.Text = fmt.Sprintf("In %d of %d gen2 collections most of gen2 was dead (survival down to %s), although gen1 "+
		"collections had just promoted %s into it.",
		j.crises, j.cycles, valueText(j.lowest, "%"), sizeText(j.arrivedAll))
	f.Explains.Paused = s.ofPauses(j.paused)
	f.says = fmt.Sprintf("gen1 collections promoted %s into gen2, and %d of %d gen2 collections found most of it dead",
		sizeText(j.arrivedAll), j.crises, j.cycles)
	f.GCs = j.worst.numbers()
	f.Evidence = []Fact{
		countFact("gen2.judged", j.cycles), countFact("gen2.crises", j.crises),
		percentFact("gen2.survival.min", j.lowest), percentFact("gen2.in.per-gen1.max", j.worstIn),
		bytesFact("gen2.in", j.arrivedAll),
	}
	return f, ""
}

// survivesGen1 is the percentage of gen1 that survives if what gets there is on its way to gen2.
const survivesGen1 = 90

// A promotedVolume compares what was promoted into gen2 with what lives there.
type promotedVolume struct {
	in, allocated     float64
	survived, objects float64 // of gen1
	gen2              uint64
	live              float64 // sum after gen2 collections
	paused            int64   // by gen1 and gen2 collections
	worst             ranking
}

func (v *promotedVolume) add(x *judgedGC) {
	if x.Known.Has(gclog.GroupAllocated) {
		v.allocated += float64(x.Generations[gclog.Gen0].Allocated)
	}
	if x.Generation < gclog.Gen1 {
		return
	}
	v.paused += x.pause
	v.worst.add(x.GCDetails, float64(x.Generations[gclog.Gen2].In))
	v.in += float64(x.Generations[gclog.Gen2].In)
	if !x.background {
		v.survived += float64(x.Generations[gclog.Gen1].Survived)
		v.objects += float64(x.Generations[gclog.Gen1].ObjectsBefore)
	}
	if x.isGen2 {
		v.gen2++
		v.live += float64(x.Generations[gclog.Gen2].ObjectsAfter)
	}
}

// mean returns how much lives in gen2, and turnover how many times as much was promoted into it.
func (v *promotedVolume) mean() float64     { return quotient(v.live, float64(v.gen2)) }
func (v *promotedVolume) turnover() float64 { return quotient(v.in, max(1, v.mean())) }

func (v *promotedVolume) finding(s *stretch) (f Finding) {
	of := percent(v.in, v.allocated)
	f.Text = fmt.Sprintf("%s was promoted into gen2 (%s of what was allocated in gen0), where %s were alive after "+
		"its collections on average: the rest died there.",
		sizeText(v.in), valueText(of, "%"), sizeText(v.mean()))
	f.says = fmt.Sprintf("%s was promoted into gen2, where %s live, and died there", sizeText(v.in), sizeText(v.mean()))
	f.Explains.Paused = s.ofPauses(v.paused)
	f.GCs = v.worst.numbers()
	f.Evidence = []Fact{
		bytesFact("gen2.in", v.in), percentFact("gen2.in.of-allocated", of),
		bytesFact("gen2.objects-after.mean", v.mean()), countFact("gen2.turnover", v.turnover()),
		percentFact("gen1.survival", percent(v.survived, v.objects)),
	}
	return f
}

// allocationRate judges one minute after the other. The allocations since the previous collection
// count as evenly distributed: each minute has its part of them.
type allocationRate struct {
	over, period, survival float64

	minute, busiest, churn oneMinute // the current one, the one with the highest rate, and the one with most churn
	longest                int64     // the longest observed part of a minute
	since                  int64     // start of the previous collection
	reported               uint64    // collections that report allocations
	worst                  ranking
	types                  typeSample
}

type oneMinute struct {
	from, length      int64
	allocated         float64
	gen0              uint64
	survived, objects float64
}

func (m *oneMinute) rate() float64 { return 1e9 * quotient(m.allocated, float64(m.length)) }

// sureRate returns the rate that holds however short the minute is.
func (m *oneMinute) sureRate() float64 { return m.allocated * 1e9 / float64(max(leastTime, m.length)) }

func (m *oneMinute) between() float64 { return quotient(float64(m.length), float64(m.gen0)) }

func (m *oneMinute) sureBetween() float64 {
	return quotient(float64(max(leastTime, m.length)), float64(m.gen0))
}

func (m *oneMinute) survival() float64 {
	if m.objects == 0 {
		return 100
	}
	return percent(m.survived, m.objects)
}

func (j *allocationRate) gc(x *judgedGC) {
	allocated := 0.0
	if x.Known.Has(gclog.GroupAllocated) {
		j.reported++
		j.worst.add(x.GCDetails, x.AllocationRate)
		allocated = float64(x.Allocated)
	}
	perTime := quotient(allocated, float64(x.Start-j.since))
	end := j.minute.from + int64(time.Minute)
	first := j.minute.length == 0
	if first || x.Start >= end {
		if !first {
			j.minute.allocated += perTime * float64(max(0, end-j.since))
		}
		j.next(x.Start, x.unseen)
	}
	if !first {
		j.minute.allocated += perTime * float64(max(0, x.Start-max(j.since, j.minute.from)))
	}
	j.since = x.Start
	if x.Generation == gclog.Gen0 {
		j.minute.gen0++
		if x.Known.Has(gclog.GroupHistory) {
			j.minute.survived += float64(x.Generations[gclog.Gen0].Survived)
			j.minute.objects += float64(x.Generations[gclog.Gen0].ObjectsBefore)
		}
	}
}

// tick adds an allocation tick, one per 100 KB or so: the shares of types in them are those in all
// allocations.
func (j *allocationRate) tick(e *clr.GCAllocationTick) {
	j.types.add(e.TypeID, e.TypeName, float64(e.Amount))
}

// next closes the minute and begins the one that contains a time. What was observed after a gap has
// a minute of its own, as it may be short.
func (j *allocationRate) next(at int64, h gaps) {
	if j.minute.length == 0 {
		j.minute = oneMinute{from: at, length: int64(time.Minute)}
		return
	}
	j.close(h)
	from := j.minute.from + (at-j.minute.from)/int64(time.Minute)*int64(time.Minute)
	h.in(Window{j.minute.from + int64(time.Minute), at}, func(_, to int64) { from = to })
	j.minute = oneMinute{from: from, length: int64(time.Minute)}
}

// close judges the observed part of the minute.
func (j *allocationRate) close(h gaps) {
	m := &j.minute
	m.length -= h.length(Window{m.from, m.from + m.length})
	j.longest = max(j.longest, m.length)
	if m.sureRate() > j.busiest.sureRate() {
		j.busiest = *m
	}
	if m.gen0 > 1 && m.survival() < j.survival && (j.churn.gen0 == 0 || m.sureBetween() < j.churn.sureBetween()) {
		j.churn = *m
	}
}

func (j *allocationRate) verdict(s *stretch) (f Finding, why string) {
	if j.reported == 0 {
		return f, "no collection reports what was allocated, which the heap histories contain"
	}
	last := *j // the minute continues in j
	last.minute.length = min(j.minute.length, s.to-j.minute.from)
	last.close(*s.unseen)
	busiest, churn := last.busiest, last.churn
	switch {
	case busiest.sureRate() > j.over:
		f.Text = fmt.Sprintf("The program allocated %s in the %s from %s: %s in total.",
			valueText(busiest.rate(), "bytes/s"), durationText(float64(busiest.length)), s.time(busiest.from),
			sizeText(busiest.allocated))
	case churn.gen0 > 1 && churn.sureBetween() < j.period:
		f.Text = fmt.Sprintf("There was a gen0 collection every %s in the %s from %s, and %s of the objects survived.",
			durationText(churn.between()), durationText(float64(churn.length)), s.time(churn.from),
			valueText(churn.survival(), "%"))
		busiest = churn
	case last.longest < leastTime:
		return f, fmt.Sprintf("needs %s of a minute, saw %s",
			durationText(leastTime), durationText(float64(last.longest)))
	default:
		return f, ""
	}
	f.GCs = j.worst.numbers()
	f.Evidence = []Fact{
		{Name: "allocation.rate", Value: busiest.rate(), Unit: "bytes/s"},
		bytesFact("allocation.sum", busiest.allocated), timeFact("window", busiest.length),
		timeFact("window.from", busiest.from), countFact("gen0.count", busiest.gen0),
		timeFact("gen0.period", busiest.between()),
	}
	if busiest.objects > 0 {
		f.Evidence = append(f.Evidence, percentFact("gen0.survival", busiest.survival()))
	}
	largest := j.types.largest(3)
	f.Text += typesText(largest)
	for _, x := range largest {
		f.Evidence = append(f.Evidence, percentFact("allocation.type "+x.name, x.percent))
	}
	return f, ""
}

type lohPressure struct {
	collections, heap, floor float64
	all, large               uint64 // collections with a reason
	paused                   int64  // by the large ones
	sized                    uint64
	loh, total               float64 // sums of sizes
	byReason, bySize         ranking
}

func (j *lohPressure) gc(x *judgedGC) {
	if x.Known.Has(gclog.GroupReason) {
		j.all++
		if x.Reason == clr.ReasonAllocLarge || x.Reason == clr.ReasonOutOfSpaceLOH {
			j.large++
			j.paused += x.pause
			j.byReason.add(x.GCDetails, float64(x.pause))
		}
	}
	if x.Known.Has(gclog.GroupAfter) {
		loh := float64(x.Generations[gclog.LOH].After)
		j.sized++
		j.loh += loh
		j.total += x.after
		j.bySize.add(x.GCDetails, loh)
	}
}

func (j *lohPressure) verdict(s *stretch) (f Finding, why string) {
	if j.all == 0 && j.sized == 0 {
		return f, "no collection reports its reason or the size of the large object heap"
	}
	share := percent(j.large, j.all)
	size := quotient(j.loh, float64(j.sized))
	heap := percent(j.loh, j.total)
	switch {
	case sureShare(j.large, j.all, leastCollections) > j.collections:
		f.Text = fmt.Sprintf("%d of %s (%s) were caused by large objects",
			j.large, plural(j.all, "collection"), valueText(share, "%"))
		if j.sized > 0 {
			f.Text += fmt.Sprintf(", which take %s of the heap", valueText(heap, "%"))
		}
		f.Text += "."
		f.GCs = j.byReason.numbers()
	case heap > j.heap && size >= j.floor && j.sized >= leastSizes:
		f.Text = fmt.Sprintf("Large objects take %s of the heap, %s on average.", valueText(heap, "%"), sizeText(size))
		f.GCs = j.bySize.numbers()
	default:
		return f, ""
	}
	f.Explains = Explained{Paused: s.ofPauses(j.paused), Bytes: uint64(size), memory: heap / 100}
	f.says = fmt.Sprintf("%s of that are %s because of large objects",
		f.Explains.share(), plural(j.large, "collection"))
	if j.all > 0 {
		f.Evidence = append(f.Evidence, countFact("collections", j.all), countFact("collections.alloc-large", j.large),
			percentFact("collections.alloc-large.share", share))
	}
	if j.sized > 0 {
		f.Evidence = append(f.Evidence, bytesFact("loh.after.mean", size), percentFact("loh.share", heap))
	}
	return f, ""
}

type pohMisuse struct {
	heap, fragmentation, floor float64
	reported                   uint64
	poh, total                 float64
	gen2Poh, gen2Free          float64
	worst                      ranking
}

func (j *pohMisuse) gc(x *judgedGC) {
	if x.GenerationCount <= gclog.POH || !x.Known.Has(gclog.GroupAfter) {
		return
	}
	j.reported++
	poh := &x.Generations[gclog.POH]
	j.poh += float64(poh.After)
	j.total += x.after
	if x.isGen2 && x.fragmented() {
		j.gen2Poh += float64(poh.After)
		j.gen2Free += float64(poh.Fragmentation)
	}
	j.worst.add(x.GCDetails, float64(poh.After))
}

func (j *pohMisuse) verdict(*stretch) (f Finding, why string) {
	if j.reported == 0 {
		return f, "no collection reports the size of a pinned object heap, which exists since .NET 5"
	}
	size := j.poh / float64(j.reported)
	heap := percent(j.poh, j.total)
	free := percent(j.gen2Free, j.gen2Poh)
	switch {
	case j.reported < leastSizes:
		return f, needs(leastSizes, "collection", j.reported) + " that report the size of the pinned object heap"
	case size < j.floor || heap <= j.heap && free <= j.fragmentation && j.gen2Poh > 0:
		return f, ""
	case heap <= j.heap && j.gen2Poh == 0:
		return f, "no gen2 collection reports the free space of the pinned object heap; its size alone is not a finding"
	}
	f.Text = fmt.Sprintf("The pinned object heap takes %s of the heap, %s on average",
		valueText(heap, "%"), sizeText(size))
	f.Explains.Bytes, f.Explains.memory = uint64(size), heap/100
	f.Evidence = []Fact{bytesFact("poh.after.mean", size), percentFact("poh.share", heap)}
	if j.gen2Poh > 0 {
		f.Text += fmt.Sprintf(", and %s of it is free space after gen2 collections", valueText(free, "%"))
		f.Evidence = append(f.Evidence, percentFact("poh.fragmentation", free))
	}
	f.Text += "."
	f.GCs = j.worst.numbers()
	return f, ""
}
