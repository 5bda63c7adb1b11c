package analysis

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/parse/clr"
)

func pauseRules() []Rule {
	return []Rule{
		{
			Number: 1, ID: "high-pause-share", Severity: Warning,
			Thresholds: []Threshold{
				{Name: "over", Unit: "%", Default: 5},
				{Name: "error", Unit: "%", Default: 10},
				{Name: "window", Unit: "ns", Default: 60e9},
			},
			Basis: BasisMicrosoft, need: needNothing,
			judge: func(l limits) judge {
				j := &highPauseShare{over: l["over"], gravely: l["error"], width: int64(l["window"])}
				j.sliding = newSliding(j.width/600, j.width)
				j.windows[0].unranked = int64(min(j.over, j.gravely) / 100 * float64(j.width))
				return j
			},
		},
		{
			Number: 2, ID: "long-pause", Severity: Warning,
			Thresholds: []Threshold{
				{Name: "over", Unit: "ns", Default: 200e6},
			},
			Basis: BasisPerfView, need: needCollections,
			judge: func(l limits) judge { return &longPause{over: int64(l["over"])} },
		},
		{
			Number: 3, ID: "long-suspension", Severity: Warning,
			Thresholds: []Threshold{
				{Name: "over", Unit: "ns", Default: 10e6},
				{Name: "share", Unit: "%", Default: 50},
				{Name: "of", Unit: "%", Default: 20},
				{Name: "floor", Unit: "ns", Default: 1e6},
			},
			Basis: BasisMicrosoft, need: needCollections,
			judge: func(l limits) judge {
				return &longSuspension{over: int64(l["over"]), share: l["share"], of: l["of"], floor: int64(l["floor"])}
			},
		},
		{
			Number: 29, ID: "long-resume", Severity: Warning,
			Thresholds: []Threshold{
				{Name: "share", Unit: "%", Default: 10},
				{Name: "warning", Unit: "%", Default: 50},
				{Name: "floor", Unit: "ns", Default: 100e6},
			},
			Basis: BasisRuntime, need: needCollections,
			judge: func(l limits) judge {
				return &longResume{share: l["share"], gravely: l["warning"], floor: int64(l["floor"])}
			},
		},
		{
			Number: 4, ID: "random-slow-gc", Severity: Warning,
			Thresholds: []Threshold{
				{Name: "pause", Default: 5},
				{Name: "promoted", Default: 1.5},
				{Name: "floor", Unit: "ns", Default: 10e6},
			},
			Basis: BasisMicrosoft, need: needCollections,
			judge: func(l limits) judge {
				return &randomSlow{pauseTimes: l["pause"], promotedTimes: l["promoted"], floor: int64(l["floor"])}
			},
		},
	}
}

type highPauseShare struct {
	pausesOnly
	sliding
	over, gravely float64
	width         int64
	total         int64
	longest       ranking
}

func (j *highPauseShare) pause(p *gclog.Pause, start, end int64) {
	j.add(start, end, p.GC)
	j.total += end - start
	j.longest.add(p.GC, float64(end-start))
}

// most returns the window with the most pauses.
func (j *highPauseShare) most(s *stretch) (width, from, paused int64, gcs []uint32) {
	width = min(j.width, s.to-s.from)
	if w := &j.worst(s.to)[0]; w.paused >= 0 {
		return width, w.at, w.paused, w.worst.numbers()
	}
	return width, s.to - width, j.total, j.longest.numbers()
}

func (j *highPauseShare) verdict(s *stretch) (Finding, string) {
	width, from, most, gcs := j.most(s)
	if s.unbounded && width < j.width {
		return Finding{}, noBounds
	}
	least := min(leastTime, j.width)
	sure := percent(most, max(width, least))
	if sure <= j.over && sure <= j.gravely {
		seen := int64(0)
		for _, w := range s.unseen.between(Window{s.from, s.to}) {
			seen = max(seen, w.To-w.From)
		}
		if seen < least {
			return Finding{},
				fmt.Sprintf("needs %s without a gap, saw %s", durationText(float64(least)), durationText(float64(seen)))
		}
		return Finding{}, ""
	}
	share := percent(most, width)
	atLeast := ""
	if s.collectionsOnly || s.unseen.touch(from, from+width) {
		atLeast = "at least "
	}
	f := Finding{
		Text: fmt.Sprintf("The program was paused for %s%s of the time in the %s from %s: %s of pauses.",
			atLeast, valueText(share, "%"), durationText(float64(width)), s.time(from), durationText(float64(most))),
		GCs: gcs,
		Evidence: []Fact{
			percentFact("pause.share.max", share), timeFact("window", width),
			timeFact("window.from", from), timeFact("pause.sum", most),
		},
	}
	// If something was not observed, some of the pauses belong to that.
	if !s.unbounded && !s.collectionsOnly && !s.unseen.touch(s.from, s.to) {
		f.Evidence = append(f.Evidence, percentFact("pause.share", percent(j.total, s.duration())))
	}
	if sure > j.gravely {
		f.Severity = Error
	}
	f.Explains.Paused = 1
	return f, ""
}

// A subject describes a pause, or the collection that it belongs to, in a sentence.
type subject struct {
	number         uint32
	hasNumber, has bool
	class          Class
	reason         clr.Reason
	hasReason      bool
	pause          gclog.PauseKind // if there is no collection
}

func subjectOf(p *gclog.Pause) subject {
	d := p.GC
	if d == nil {
		return subject{pause: p.Kind}
	}
	return subject{
		number: d.Number, hasNumber: d.Known.Has(gclog.GroupNumber), has: true,
		class: ClassOf(d), reason: d.Reason, hasReason: d.Known.Has(gclog.GroupReason),
	}
}

var subjectNames = [Classes]string{"gen0", "gen1", "blocking gen2", "background gen2", "", ""}

func (x *subject) String() string {
	if !x.has {
		return "a pause without a collection (" + x.pause.String() + ")"
	}
	name := subjectNames[x.class] + " collection"
	if x.hasNumber {
		name = fmt.Sprintf("%s %d", name, x.number)
	}
	if x.hasReason {
		name += " (" + x.reason.String() + ")"
	}
	return name
}

// evidence returns the same as facts; words count 1.
func (x *subject) evidence() (list []Fact) {
	if !x.has {
		return []Fact{countFact("longest.pause."+x.pause.String(), 1)}
	}
	if x.hasNumber {
		list = append(list, countFact("longest.gc", x.number))
	}
	list = append(list, countFact("longest.class."+x.class.String(), 1))
	if x.hasReason {
		list = append(list, countFact("longest.reason."+x.reason.String(), 1))
	}
	return list
}

type longPause struct {
	over        int64
	pauses      uint64
	long        uint64
	sum         int64 // of the long ones
	starved     int64 // of the sum, when processors were short
	worst       ranking
	max         int64
	longest     subject
	longestTime [clr.Times]int64
	timing      int // number of known times
	compacting  bool
}

func (j *longPause) pause(p *gclog.Pause, start, end int64) {
	j.pauses++
	took := end - start
	if took > j.over {
		j.long++
		j.sum += took
		if shortageOf(cpuOf(p)).any() {
			j.starved += took
		}
		j.worst.add(p.GC, float64(took))
	}
	if took <= j.max {
		return
	}
	j.max, j.timing = took, 0
	j.longest = subjectOf(p)
}

func (j *longPause) gc(x *judgedGC) {
	if x.Known.Has(gclog.GroupNumber) && j.longest.has && j.longest.number == x.Number && !x.background {
		j.longestTime, j.timing = x.Timing, x.TimingCount
		j.compacting, _ = x.Compacting()
	}
}

func (j *longPause) verdict(s *stretch) (Finding, string) {
	if j.pauses == 0 {
		return Finding{}, "no pause was recorded"
	}
	if j.long == 0 {
		return Finding{}, ""
	}
	verb := "were"
	if j.long == 1 {
		verb = "was"
	}
	f := Finding{
		Text: fmt.Sprintf("%d of %s %s longer than %s, the longest %s: %s.",
			j.long, plural(j.pauses, "pause"), verb, durationText(float64(j.over)), durationText(float64(j.max)),
			&j.longest),
		GCs: j.worst.numbers(),
		Evidence: []Fact{
			countFact("pauses", j.pauses), countFact("pauses.long", j.long), timeFact("pauses.long.over", j.over),
			timeFact("pause.max", j.max),
		},
	}
	f.Explains.Paused = s.ofPauses(j.sum)
	f.starved = 2*j.starved > j.sum
	f.Evidence = append(f.Evidence, j.longest.evidence()...)
	if j.timing > clr.TimePlan {
		var mark int64
		for _, t := range j.longestTime[:clr.TimePlan] {
			mark += t
		}
		f.Evidence = append(f.Evidence, timeFact("longest.mark", mark),
			timeFact("longest.plan", j.longestTime[clr.TimePlan]))
		if j.compacting && j.timing > clr.TimeCompact {
			f.Evidence = append(f.Evidence, timeFact("longest.relocate", j.longestTime[clr.TimeRelocate]),
				timeFact("longest.compact", j.longestTime[clr.TimeCompact]))
		} else if !j.compacting && j.timing > clr.TimeSweep {
			f.Evidence = append(f.Evidence, timeFact("longest.sweep", j.longestTime[clr.TimeSweep]))
		}
	}
	return f, ""
}

type longSuspension struct {
	pausesOnly
	over, floor int64
	share, of   float64
	suspensions uint64 // pauses with a suspension of their own
	long        uint64 // longer than over
	mostly      uint64 // most of the pause
	sum         int64  // of both
	max         int64
	longest     subject
	worst       ranking // of the long ones
	worstMostly ranking
	starvation  starvation // of both
}

func (j *longSuspension) pause(p *gclog.Pause, start, end int64) {
	if p.Suspend <= 0 { // unknown, or part of another pause of the same suspension
		return
	}
	took := min(end, p.Start+p.Suspend) - max(start, p.Start)
	if took <= 0 {
		return
	}
	j.suspensions++
	long := took > j.over
	mostly := took >= j.floor && 100*float64(took) > j.share*float64(end-start)
	if long || mostly {
		j.sum += took
		j.starvation.add(p)
	}
	if long {
		j.long++
		j.worst.add(p.GC, float64(took))
	}
	if mostly {
		j.mostly++
		j.worstMostly.add(p.GC, float64(took))
	}
	if took > j.max {
		j.max, j.longest = took, subjectOf(p)
	}
}

func (j *longSuspension) verdict(s *stretch) (f Finding, why string) {
	if j.suspensions == 0 {
		return f, "no pause reports how long suspending the threads took"
	}
	of := percent(j.mostly, j.suspensions)
	switch {
	case j.long > 0:
		f.Text = fmt.Sprintf("In %d of %s, suspending the threads took more than %s, at most %s: %s.",
			j.long, plural(j.suspensions, "pause"), durationText(float64(j.over)), durationText(float64(j.max)),
			&j.longest)
		f.GCs = j.worst.numbers()
	case sureShare(j.mostly, j.suspensions, leastCollections) >= j.of && j.mostly > 0:
		f.Text = fmt.Sprintf("In %d of %s (%s), suspending the threads took more than %s of the time.",
			j.mostly, plural(j.suspensions, "pause"), valueText(of, "%"), valueText(j.share, "%"))
		f.GCs = j.worstMostly.numbers()
	default:
		return f, ""
	}
	f.Evidence = []Fact{
		countFact("pauses", j.suspensions), countFact("suspensions.long", j.long),
		timeFact("suspensions.long.over", j.over), timeFact("suspension.max", j.max),
		countFact("suspensions.mostly", j.mostly), percentFact("suspensions.most-of-pause", of),
		percentFact("suspensions.mostly.over", j.share),
	}
	f.Evidence = append(f.Evidence, j.longest.evidence()...)
	f.Explains.Paused = s.ofPauses(j.sum)
	f.says = fmt.Sprintf("%s of the time paused went into suspending the threads", f.Explains.share())
	j.starvation.confirm(&f)
	return f, ""
}

type longResume struct {
	pausesOnly
	share, gravely float64
	floor          int64
	pauses         uint64 // that report it
	paused         int64  // by them
	resuming       int64
	max            int64
	worst          ranking
	starvation     starvation
}

func (j *longResume) pause(p *gclog.Pause, start, end int64) {
	if !p.HasResume {
		return
	}
	j.pauses++
	j.paused += end - start
	took := max(0, end-max(start, p.Start+p.Paused()))
	j.resuming += took
	j.max = max(j.max, took)
	j.worst.add(p.GC, float64(took))
	j.starvation.add(p)
}

func (j *longResume) verdict(s *stretch) (f Finding, why string) {
	if j.pauses == 0 {
		return f, "no pause reports how long resuming the threads took"
	}
	share := percent(j.resuming, j.paused)
	if share <= j.share || j.resuming <= j.floor {
		return f, ""
	}
	f.Text = fmt.Sprintf("Resuming the threads took %s of the %s of %s (%s), at most %s in one: the GC itself paused "+
		"the program for %s.",
		durationText(float64(j.resuming)), durationText(float64(j.paused)), plural(j.pauses, "pause"),
		valueText(share, "%"), durationText(float64(j.max)), durationText(float64(j.paused-j.resuming)))
	f.GCs = j.worst.numbers()
	f.Explains.Paused = s.ofPauses(j.resuming)
	f.says = fmt.Sprintf("%s of the time paused went into resuming the threads", f.Explains.share())
	if share <= j.gravely {
		f.Severity = Info
	}
	f.Evidence = []Fact{
		countFact("pauses", j.pauses), timeFact("pause.sum", j.paused), timeFact("resume.sum", j.resuming),
		percentFact("resume.share", share), timeFact("resume.max", j.max),
		timeFact("pause.until-resume.sum", j.paused-j.resuming),
	}
	j.starvation.confirm(&f)
	return f, ""
}

// randomSlow groups the collections by generation and kind.
type randomSlow struct {
	pauseTimes, promotedTimes float64
	floor                     int64
	reported                  uint64
	kinds                     [gclog.Gen2 + 1][gclog.KindForeground + 1]*sameKind
}

// A sameKind contains what collections of one generation and kind took and promoted: a sample for
// the medians, exact as long as it contains all of them, and the slowest for each band of promoted
// bytes.
type sameKind struct {
	random  *rand.PCG
	n       uint64
	samples []took
	slowest [bands]*[3]work // each in descending order; nil: none
}

// mostSamples is how many samples there are at most.
const mostSamples = 512

type took struct {
	pause    int64
	promoted uint64
}

type work struct {
	number    uint32
	hasNumber bool
	starved   bool // processors were short
	pause     int64
	promoted  uint64
}

func (j *randomSlow) gc(x *judgedGC) {
	if !x.Known.Has(gclog.GroupPromoted) || len(x.Pauses) == 0 {
		return
	}
	j.reported++
	k := &j.kinds[max(gclog.Gen0, min(x.Generation, gclog.Gen2))][x.Kind]
	if *k == nil {
		*k = &sameKind{random: rand.NewPCG(1, 1)} // the same input has the same sample
	}
	(*k).add(work{
		x.Number, x.Known.Has(gclog.GroupNumber), shortageOf(&x.CPU).any(), x.pause, x.PromotedBytes,
	})
}

func (k *sameKind) add(w work) {
	k.n++
	if s := (took{w.pause, w.promoted}); k.n <= mostSamples {
		k.samples = append(k.samples, s)
	} else if i := k.random.Uint64() % k.n; i < mostSamples {
		k.samples[i] = s
	}
	slowest := k.slowest[band(w.promoted)]
	if slowest == nil {
		slowest = &[3]work{}
		k.slowest[band(w.promoted)] = slowest
	}
	for i := range slowest {
		if w.pause > slowest[i].pause {
			w, slowest[i] = slowest[i], w
		}
	}
}

// bands is the number of bands; the last contains everything from 2⁴⁴ on.
const bands = 42 * 4

// band returns the band of v: there are four per power of two.
func band(v uint64) int {
	v = min(v, 1<<44-1)
	b := 0
	for v >= 8 {
		v >>= 1
		b++
	}
	return b*4 + int(v&3)
}

// medians sorts scratch, which has room for the samples.
func (k *sameKind) medians(scratch []uint64) (pause int64, promoted uint64) {
	n := len(k.samples)
	scratch = scratch[:n]
	for i := range scratch {
		scratch[i] = uint64(k.samples[i].pause)
	}
	slices.Sort(scratch)
	pause = int64(scratch[n/2])
	for i := range scratch {
		scratch[i] = k.samples[i].promoted
	}
	slices.Sort(scratch)
	return pause, scratch[n/2]
}

func (j *randomSlow) verdict(s *stretch) (f Finding, why string) {
	if j.reported == 0 {
		return f, "no collection reports what it promoted"
	}
	var worst ranking
	var slowest work
	var medianPause int64
	var medianPromoted uint64
	var kindOf gclog.Kind
	var generation int
	most, judged, largest := 0.0, false, uint64(0)
	scratch := make([]uint64, mostSamples)
	for g := range j.kinds {
		for kind, k := range j.kinds[g] {
			if k == nil {
				continue
			}
			largest = max(largest, k.n)
			if k.n < leastCollections {
				continue
			}
			judged = true
			pause, promoted := k.medians(scratch)
			for _, band := range k.slowest {
				if band == nil {
					continue
				}
				for _, w := range band {
					times := float64(w.pause) / float64(max(1, pause))
					more := float64(w.promoted) > j.promotedTimes*float64(promoted)
					if w.pause < j.floor || times <= j.pauseTimes || more {
						continue
					}
					if w.hasNumber {
						worst.addNumber(w.number, times)
					}
					if times > most {
						most, slowest, medianPause, medianPromoted = times, w, pause, promoted
						kindOf, generation = gclog.Kind(kind), g
					}
				}
			}
		}
	}
	if !judged {
		return f, fmt.Sprintf("needs %d collections of one generation and kind, saw %d at most",
			leastCollections, largest)
	}
	if most == 0 {
		return f, ""
	}
	f.Text = fmt.Sprintf("A %s %s collection paused the program for %s, %s times the median of its kind (%s), "+
		"although it promoted %s and the median is %s.",
		kindOf, gclog.GenerationName(generation), durationText(float64(slowest.pause)), digits(most),
		durationText(float64(medianPause)), sizeText(float64(slowest.promoted)), sizeText(float64(medianPromoted)))
	f.GCs = worst.numbers()
	f.Explains.Paused = s.ofPauses(slowest.pause - medianPause)
	if f.starved = slowest.starved; f.starved {
		f.Text += " Processors were short then, as the kernel showed."
	}
	f.Evidence = []Fact{
		timeFact("pause", slowest.pause), countFact("pause.times", most),
		countFact("generation", generation), countFact("kind."+kindOf.String(), 1),
		timeFact("pause.median", medianPause), bytesFact("promoted", slowest.promoted),
		bytesFact("promoted.median", medianPromoted),
	}
	return f, ""
}
