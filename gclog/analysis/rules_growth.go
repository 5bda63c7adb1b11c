package analysis

import (
	"fmt"
	"strconv"

	"github.com/gclog/gclog/gclog"
)

func growthRules() []Rule {
	return []Rule{
		{
			Number: 15, ID: "memory-growth", Severity: Warning,
			Thresholds: []Threshold{
				{Name: "over", Unit: "%/h", Default: 20},
				{Name: "count", Default: 5},
				{Name: "span", Unit: "ns", Default: 600e9},
				{Name: "floor", Unit: "bytes", Default: 10e6},
				{Name: "quick", Unit: "bytes", Default: 100e6},
			},
			Basis: BasisMicrosoft, lasting: true, running: true,
			judge: func(l limits) judge {
				return &growth{
					l: l, what: "gen2 and large objects", unit: "bytes", name: "objects", every: &series{},
					of: func(x *judgedGC) (low, high float64, known bool) {
						g := &x.Generations
						objects := float64(g[gclog.Gen2].ObjectsAfter + g[gclog.LOH].ObjectsAfter)
						return objects, objects, x.Known.Has(gclog.GroupHistory)
					},
					why:    "no gen2 collection reports the surviving objects, which the heap histories contain",
					closer: "gclog gc %s --wait shows what remains after a full collection",
				}
			},
		},
		{
			Number: 22, ID: "handle-leak", Severity: Warning,
			Thresholds: []Threshold{
				{Name: "over", Unit: "%/h", Default: 10},
				{Name: "count", Default: 5},
				{Name: "span", Unit: "ns", Default: 600e9},
				{Name: "floor", Default: 10000},
				{Name: "quick", Default: 20000},
			},
			Basis: BasisHeuristic, lasting: true, running: true,
			judge: func(l limits) judge {
				return &growth{
					l: l, what: "GC handles", name: "handles", end: true, every: &series{},
					of: func(x *judgedGC) (low, high float64, known bool) {
						handles := float64(x.Handles)
						return handles, handles, x.Known.Has(gclog.GroupHandles)
					},
					why:    "no gen2 collection reports the number of handles",
					closer: "gclog gc %s --wait -f json shows how many remain after a full collection",
				}
			},
		},
		{
			Number: 27, ID: "native-growth", Severity: Warning,
			Thresholds: []Threshold{
				{Name: "over", Unit: "%/h", Default: 20},
				{Name: "count", Default: 10},
				{Name: "span", Unit: "ns", Default: 600e9},
				{Name: "floor", Unit: "bytes", Default: 50e6},
				{Name: "quick", Unit: "bytes", Default: 200e6},
			},
			Basis: BasisHeuristic, lasting: true, running: true,
			judge: func(l limits) judge { return nativeGrowth(l) },
		},
	}
}

// leastFit is how well a line must fit to count as growth, and surelyFits how well one must fit for
// a smaller sample than the thresholds require: of three values, each must be larger than the
// previous one.
const (
	leastFit   = 0.5
	surelyFits = 0.75
)

// Factors of growth that count although the sample is small, and that are no coincidence.
const (
	grown      = 1.2
	grownGrave = 1.5
)

// A short series counts if it is a straight line whose rise does not flatten, as that of a cache that
// fills does.
const (
	straightFit   = 0.95
	leastStraight = 4    // values, if every collection has one
	flattened     = 0.4  // of the rise before, in the second half
	kept          = 0.95 // of the bytes in gen2 and LOH must survive a collection of them
)

// growth judges a value after collections that rises.
type growth struct {
	l          limits
	what       string
	name, unit string
	end        bool    // floor is for the value at the end, otherwise for its growth
	young      bool    // all collections may report it, not only gen2
	straight   bool    // nothing but a straight line counts
	every      *series // what all collections report, for a line that gen2 collections do not bend; nil: only gen2 does
	// of returns the value. If only its bounds are known, both must rise.
	of     func(*judgedGC) (low, high float64, known bool)
	why    string // why nothing reports it
	closer string // what shows more if there is too little for a trend; %s is the pid
	now    func() (text string, e []Fact)

	live      bool // it covers the last day, otherwise everything
	reported  uint64
	low, high series
	survival  float64 // of gen2 and LOH, or of the value, in the latest gen2 collection

	survived, before float64 // of gen1
	worst            ranking
}

func (j *growth) gc(x *judgedGC) {
	if !x.isGen2 && !j.young && j.every == nil {
		return
	}
	low, high, known := j.of(x)
	if !known {
		return
	}
	at := max(x.Start, x.End)
	j.all(x, at, low)
	if j.every != nil && !x.isGen2 {
		return
	}
	j.reported++
	j.forget(at)
	j.low.add(at, low)
	j.high.add(at, high)
	j.worst.add(x.GCDetails, low)
}

// all adds what any collection reports to the series of all, and what survived it.
func (j *growth) all(x *judgedGC, at int64, value float64) {
	if x.isGen2 && j.unit == "bytes" {
		j.survival = survivalOf(x)
	}
	switch {
	case j.every == nil:
	case j.unit == "bytes": // what gen0 collections leave in gen1 may be garbage
		if x.Generation == gclog.Gen0 {
			return
		}
		gen1 := &x.Generations[gclog.Gen1]
		if !x.background {
			j.survived += float64(gen1.Survived)
			j.before += float64(gen1.ObjectsBefore)
		}
		j.every.add(at, value+float64(gen1.ObjectsAfter))
	default:
		if _, before := j.every.ends(); x.isGen2 {
			j.survival = value / max(1, before)
		}
		j.every.add(at, value)
	}
}

// kept reports whether what collections found was nearly all alive.
func (j *growth) kept() bool { return j.survival >= kept && j.survived >= kept*j.before }

// survivalOf returns the share of gen2 and LOH that a gen2 collection found alive.
func survivalOf(x *judgedGC) float64 {
	survived, before := 0.0, 0.0
	for _, g := range [...]int{gclog.Gen2, gclog.LOH} {
		survived += float64(x.Generations[g].Survived)
		before += float64(x.Generations[g].ObjectsBefore)
	}
	if before == 0 {
		return 1
	}
	return survived / before
}

// forget drops what a live process reported more than a day before a time.
func (j *growth) forget(now int64) {
	if j.live {
		j.low.forget(now - lastDay)
		j.high.forget(now - lastDay)
		if j.every != nil {
			j.every.forget(now - lastDay)
		}
	}
}

// collections names the collections that report the value.
func (j *growth) collections() string {
	if j.young {
		return "collection"
	}
	return "gen2 collection"
}

func (j *growth) verdict(s *stretch) (f Finding, why string) {
	if j.reported == 0 {
		return f, j.why
	}
	j.forget(s.to)
	low, high := j.low.line(), j.high.line()
	if low.values < j.l["count"] || float64(low.span) < j.l["span"] {
		return j.early(s, &low, &high)
	}
	matters := min(low.end-low.begin, high.end-high.begin)
	if j.end {
		matters = low.end
	}
	if j.low.flattens(flattened) || low.perHour() <= j.l["over"] || low.fit < leastFit || matters <= j.l["floor"] {
		return f, ""
	}
	return j.finding(&low, low.begin, low.end, fmt.Sprintf(": %s", valueText(low.perHour(), "%/h"))), ""
}

// early judges a smaller sample than a trend requires: as a leak grows, gen2 collections become
// rare.
func (j *growth) early(s *stretch, low, high *line) (f Finding, why string) {
	if j.every != nil && float64(low.span) < j.l["span"] {
		every, all := *j, j.every.line()
		every.low, every.young, every.every, every.straight = *j.every, true, nil, true
		if j.unit == "bytes" {
			every.what = "gen1, " + j.what
		}
		if f, _ := every.early(s, &all, &all); f.Text != "" && j.kept() {
			return f, ""
		}
	}
	first, last := j.low.ends()
	matters := min(last-first, high.end-high.begin)
	if j.end {
		matters = last
	}
	long := float64(low.span) >= j.l["span"]
	straight := low.fit >= straightFit && last >= grownGrave*first && !j.low.flattens(flattened) &&
		(low.values >= leastStraight || !j.young) && (j.young || j.survival >= kept)
	switch {
	case low.values < leastGen2, low.fit <= surelyFits, matters <= j.l["floor"],
		low.span < leastTime, last < grown*first, j.straight && !straight,
		long && low.perHour() <= j.l["over"],
		!long && !straight && last-first <= j.l["quick"]:
		why = fmt.Sprintf("needs %.0f %ss over %s, saw %.0f over %s",
			j.l["count"], j.collections(), durationText(j.l["span"]), low.values, durationText(float64(low.span)))
		if low.values > 0 {
			why += fmt.Sprintf(": %s, then %s", valueText(first, j.unit), valueText(last, j.unit))
		}
		return f, why
	}
	times := ""
	if first > 0 {
		times = fmt.Sprintf(", %s times as much", digits(last/first))
	}
	pid := "PID"
	if s.process.ID != 0 {
		pid = strconv.FormatInt(s.process.ID, 10)
	}
	little := "; this is too little data for a trend"
	if straight {
		little = ", in a straight line, but in little time"
	}
	if !s.ending.exited() {
		little += ": " + fmt.Sprintf(j.closer, pid)
	}
	f = j.finding(low, first, last, times+little)
	if first > 0 {
		f.Evidence = append(f.Evidence, countFact("growth.times", last/first))
	}
	if last < grownGrave*first {
		f.Severity = Info
	}
	return f, ""
}

func (j *growth) finding(l *line, from, to float64, and string) (f Finding) {
	f.Text = fmt.Sprintf("After %.0f %ss in %s, %s rose from %s to %s%s.",
		l.values, j.collections(), durationText(float64(l.span)), j.what, valueText(from, j.unit),
		valueText(to, j.unit), and)
	f.GCs = j.worst.numbers()
	f.says = fmt.Sprintf("%s rose from %s to %s in %s",
		j.what, valueText(from, j.unit), valueText(to, j.unit), durationText(float64(l.span)))
	if l.fit >= straightFit {
		f.says += " in a straight line"
	}
	f.Explains.memory = max(0, 1-quotient(from, to))
	if j.unit == "bytes" {
		f.Explains.Bytes = uint64(max(0, to-from))
	}
	count := "gen2"
	if j.young {
		count = "collections"
	}
	f.Evidence = []Fact{
		countFact(count, l.values), timeFact("span", l.span),
		{Name: j.name + ".begin", Value: from, Unit: j.unit},
		{Name: j.name + ".end", Value: to, Unit: j.unit},
		{Name: "growth", Value: l.perHour(), Unit: "%/h"},
		countFact("fit", l.fit),
	}
	if j.now != nil {
		text, e := j.now()
		f.Text += text
		f.Evidence = append(f.Evidence, e...)
	}
	return f
}

// nativeGrowth judges resident memory beyond what the GC has committed. Not all committed memory
// need be resident: what is not the GC's is at least the memory beyond that, and at most the memory
// beyond the heap, which the program has touched.
func nativeGrowth(l limits) *growth {
	var resident, committed float64
	var read int64
	return &growth{
		l: l, what: "resident memory beyond what the GC had committed", unit: "bytes", name: "other", young: true,
		of: func(x *judgedGC) (low, high float64, known bool) {
			m := &x.Memory
			again := m.At != 0 && m.At == read // if several arrived together, only the first counts
			if again || m.Resident == 0 || !x.Known.Has(gclog.GroupCommittedAfter|gclog.GroupAfter) {
				return 0, 0, false
			}
			read, resident, committed = m.At, float64(m.Resident), float64(x.CommittedAfter)
			return max(0, resident-committed), max(0, resident-x.after), true
		},
		why: "no collection reports both the resident memory of the process and what the GC has committed; live " +
			"sessions with .NET 8 and later do, and their logs in json and csv",
		closer: "pmap -x %s, now and later, shows what grows",
		now: func() (string, []Fact) {
			return fmt.Sprintf(" RSS was then %s, of which the GC had committed %s.",
					sizeText(resident), sizeText(committed)),
				[]Fact{bytesFact("rss", resident), bytesFact("committed", committed)}
		},
	}
}
