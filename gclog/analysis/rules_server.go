package analysis

import (
	"fmt"
	"strings"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/parse/clr"
)

func serverRules() []Rule {
	return []Rule{
		{
			Number: 16, ID: "peak-over-after", Severity: Warning,
			Thresholds: []Threshold{
				{Name: "over", Default: 3},
				{Name: "floor", Unit: "bytes", Default: 100e6},
			},
			Basis: BasisMicrosoft, need: needCollections,
			judge: func(l limits) judge { return &peakOverAfter{over: l["over"], floor: l["floor"]} },
		},
		{
			Number: 17, ID: "heap-imbalance", Severity: Warning,
			Thresholds: []Threshold{
				{Name: "over", Default: 2},
				{Name: "of", Unit: "%", Default: 20},
				{Name: "floor", Unit: "bytes", Default: 10e6},
				{Name: "mark-floor", Unit: "ns", Default: 1e6},
			},
			Basis: BasisMicrosoft, need: needCollections,
			judge: func(l limits) judge {
				return &heapImbalance{
					over:      l["over"],
					of:        l["of"],
					floor:     l["floor"],
					markFloor: int64(l["mark-floor"]),
				}
			},
		},
		{
			Number: 24, ID: "wrong-flavour", Severity: Warning,
			Thresholds: []Threshold{
				{Name: "processors", Default: 4},
				{Name: "share", Unit: "%", Default: 5},
				{Name: "pause", Unit: "ns", Default: 200e6},
				{Name: "heaps", Default: 16},
				{Name: "heap", Unit: "bytes", Default: 1e9},
			},
			Basis: BasisHeuristic, need: needCollections,
			judge: func(l limits) judge { return &wrongFlavour{l: l} },
		},
	}
}

type peakOverAfter struct {
	over, floor float64
	reported    uint64
	peak, after float64
	budget      float64 // gen0 budget, the largest of all heaps together
	worst       ranking
}

func (j *peakOverAfter) gc(x *judgedGC) {
	r, known := x.PeakRatio()
	if !known {
		return
	}
	j.reported++
	j.peak += float64(x.Peak)
	j.after += x.after
	j.budget = max(j.budget, float64(x.Generations[gclog.Gen0].Budget))
	j.worst.add(x.GCDetails, r)
}

// notServer returns why a rule about server GC is not evaluated, or that it does not apply.
func notServer(p *gclog.Process) (why string, not bool) {
	if p.Server == gclog.Unknown {
		return "it is unknown whether the process uses server GC", true
	}
	return "", p.Server == gclog.No
}

func (j *peakOverAfter) verdict(s *stretch) (f Finding, why string) {
	if why, not := notServer(s.process); not {
		return f, why
	}
	if j.reported == 0 {
		return f, "no collection reports the heap size before it"
	}
	if j.reported < leastSizes {
		return f, needs(leastSizes, "collection", j.reported) + " that report the heap size before them"
	}
	times := quotient(j.peak, j.after)
	peak := j.peak / float64(j.reported)
	if times <= j.over || peak < j.floor {
		return f, ""
	}
	f.Text = fmt.Sprintf("The heap was %s before collections and %s after, on average: %s times as much.",
		sizeText(peak), sizeText(j.after/float64(j.reported)), digits(times))
	f.GCs = j.worst.numbers()
	f.Evidence = []Fact{
		bytesFact("peak.mean", peak), bytesFact("after.mean", j.after/float64(j.reported)),
		countFact("peak.per-after", times),
	}
	if j.budget > 0 {
		f.Evidence = append(f.Evidence, bytesFact("gen0.budget.max", j.budget))
	}
	return f, ""
}

// marksJudged are the kinds of roots that take most of the time.
var marksJudged = [...]clr.MarkType{clr.MarkStack, clr.MarkHandles, clr.MarkOlderGenerations}

type heapImbalance struct {
	over, of, floor float64
	markFloor       int64
	heaps           int // most that were seen
	reported        uint64
	unequal         uint64
	byMarks         uint64 // unequal in marking
	most            float64
	worst           ranking
}

func (j *heapImbalance) gc(x *judgedGC) {
	heaps := x.ReportedHeaps()
	if heaps == 0 {
		heaps = x.HeapCount()
	}
	j.heaps = max(j.heaps, heaps)
	if heaps < 3 {
		return
	}
	filled := 0.0
	if float64(x.Generations[gclog.Gen0].ObjectsBefore) >= j.floor {
		filled = x.Gen0Imbalance()
	}
	marked := 0.0
	for i, r := range x.marks {
		if r > max(marked, j.over) && x.Mark(marksJudged[i]).Longest >= j.markFloor {
			marked = r
		}
	}
	if x.ReportedHeaps() == 0 && filled == 0 {
		return
	}
	j.reported++
	r := max(filled, marked)
	if r <= j.over {
		return
	}
	j.unequal++
	if marked > j.over {
		j.byMarks++
	}
	j.most = max(j.most, r)
	j.worst.add(x.GCDetails, r)
}

func (j *heapImbalance) verdict(s *stretch) (f Finding, why string) {
	switch {
	case j.heaps == 0:
		return f, "no collection reports the number of heaps"
	case j.heaps == 1:
		return f, ""
	case j.heaps == 2:
		return f, "there are only two heaps, so the fuller one cannot exceed twice the mean"
	case sureShare(j.unequal, j.reported, leastCollections) > j.of:
	case j.reported < leastCollections:
		return f, needs(leastCollections, "collection", j.reported) + " that report each heap"
	default:
		return f, ""
	}
	share := percent(j.unequal, j.reported)
	f.Text = fmt.Sprintf("In %d of %s (%s), one of %d heaps had more than %s times the mean, up to %s times; in %d "+
		"of them it was slow in marking.",
		j.unequal, plural(j.reported, "collection"), valueText(share, "%"), j.heaps, digits(j.over), digits(j.most),
		j.byMarks)
	f.GCs = j.worst.numbers()
	f.Evidence = []Fact{
		countFact("collections", j.reported), countFact("collections.unequal", j.unequal),
		countFact("imbalance.over", j.over), countFact("heaps", j.heaps),
		percentFact("collections.unequal.share", share), countFact("imbalance.max", j.most),
		countFact("collections.slow-marking", j.byMarks),
	}
	return f, ""
}

type wrongFlavour struct {
	l         limits
	heaps     int // in the latest collection that reports it
	sized     uint64
	after     float64
	histories uint64
	datas     bool
	gen2Pause int64 // of blocking collections that were not induced
	worst     ranking
	gen2      ranking
}

func (j *wrongFlavour) gc(x *judgedGC) {
	if n := x.HeapCount(); n > 0 {
		j.heaps = n
	}
	if x.Known.Has(gclog.GroupAfter) {
		j.sized++
		j.after += x.after
	}
	if x.ReportedHeaps() > 0 {
		j.histories++
	}
	j.datas = j.datas || adapted(x.GCDetails)
	if x.isGen2 && !x.background && !x.induced {
		j.gen2Pause = max(j.gen2Pause, x.pause)
		j.gen2.add(x.GCDetails, float64(x.pause))
	}
	j.worst.add(x.GCDetails, float64(x.pause))
}

func (j *wrongFlavour) verdict(s *stretch) (f Finding, why string) {
	p := s.process
	if p.Server == gclog.Unknown {
		return f, "it is unknown whether the process uses server GC"
	}
	share, sure := percent(s.paused, s.duration()), percent(s.paused, max(leastTime, s.duration()))
	mean := quotient(j.after, float64(j.sized))
	heaps := j.heaps
	if heaps == 0 {
		heaps = p.HeapCount
	}
	var says []string
	pausing := p.Server == gclog.No && float64(p.Processors) > j.l["processors"] && sure > j.l["share"]
	if pausing && !s.unbounded {
		says = append(says, fmt.Sprintf("workstation GC pauses the program %s of the time on %d processors",
			valueText(share, "%"), p.Processors))
		f.GCs = j.worst.numbers()
	}
	if p.Server == gclog.Yes && p.Processors > 0 && heaps > p.Processors {
		says = append(says, fmt.Sprintf("server GC has %d heaps on %d processors", heaps, p.Processors))
	}
	if p.Concurrent == gclog.No && float64(j.gen2Pause) > j.l["pause"] {
		says = append(says, fmt.Sprintf("background collections are disabled and gen2 collections block for up to %s",
			durationText(float64(j.gen2Pause))))
		f.GCs = j.gen2.numbers()
	}
	if p.Server == gclog.Yes && float64(heaps) > j.l["heaps"] && j.sized >= leastSizes && mean < j.l["heap"] {
		says = append(says, fmt.Sprintf("server GC has %d heaps for a heap of %s", heaps, sizeText(mean)))
	}
	if len(says) == 0 && p.Server == gclog.Yes && p.GCLibrary == "" && !j.datas && mayHaveDatas(p.RuntimeVersion) {
		if j.histories < leastCollections || p.RuntimeVersion == "" {
			return f, "whether DATAS is enabled is unknown (logs do not record it, nor do recordings without the " +
				"runtime version); the other checks of the rule found nothing"
		}
		says = append(says,
			fmt.Sprintf("server GC of .NET %s runs without DATAS, with %d heaps", p.RuntimeVersion, heaps))
		f.Severity = Info
	}
	switch {
	case len(says) > 0:
	case pausing: // the time is longer than the known part
		return f, noBounds
	default:
		return f, ""
	}
	f.Text = strings.ToUpper(says[0][:1]) + strings.Join(says, "; ")[1:] + "."
	if !s.unbounded {
		f.Evidence = []Fact{percentFact("pause.share", share)}
	}
	for _, e := range []Fact{
		timeFact("gen2.blocking.not-induced.pause.max", j.gen2Pause), countFact("heaps", heaps),
		countFact("processors", p.Processors), bytesFact("heap.after.mean", mean),
	} {
		if e.Value > 0 {
			f.Evidence = append(f.Evidence, e)
		}
	}
	return f, ""
}

// mayHaveDatas reports whether DATAS is the default of a version, or that is unknown.
func mayHaveDatas(version string) bool {
	major := gclog.Major(version)
	return major == 0 || major >= 9
}
