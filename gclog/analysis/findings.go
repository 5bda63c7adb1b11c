package analysis

import (
	"fmt"
	"time"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/parse/clr"
)

// Severity is how serious a finding is.
type Severity uint8

// The severities, in rising order.
const (
	Info    Severity = iota + 1 // worth knowing
	Warning                     // worth looking into
	Error                       // the program suffers
)

func (s Severity) String() string { return [...]string{"", "info", "warning", "error"}[s] }

// A Finding is the result of a rule that found a problem. It is plain data and belongs to the
// caller.
type Finding struct {
	Rule     *Rule
	Severity Severity
	Text     string   // a sentence or two with the numbers
	GCs      []uint32 // numbers of collections with the problem, the worst first; at most 10
	Evidence []Fact   // the numbers behind it
	Advice   string   // what to do about it: the Rule's, as far as it applies

	// Explains is what the problem accounts for; SymptomOf the Rule of the finding whose symptom this
	// one is, which comes before it, nil if it has a cause of its own.
	Explains  Explained
	SymptomOf *Rule

	says  string // what a Verdict says of it, without full stop
	cause Cause  // what it is for a Verdict, if the rule decides that itself

	starved bool // processors were short then, as the kernel showed
}

// NotEvaluated is a rule that could not be evaluated.
type NotEvaluated struct {
	Rule *Rule  `json:"rule"`
	Why  string `json:"why"` // in a sentence without full stop
}

// Findings evaluates the rules on the records of one process. Its Observe is an
// Observer, and Event an EventObserver for the types of allocation ticks. It keeps nothing that it is passed, and its
// memory does not grow.
//
// Collections that walked the heap for a snapshot, at the request of a diagnostic tool, count for
// data-quality only.
type Findings struct {
	process *gclog.Process
	rules   []Rule
	limits  []limits
	window  Window
	recent  int64 // findings are about the latest one to two of this; 0: about everything

	hasBegin bool
	now      int64
	unseen   gaps // the latest times that were not observed

	// Findings are about the elder stretch. In a live process the younger one replaces it when that
	// is old enough.
	elder, younger *stretch
	lasting        []*growth // by rule, for the last day; nil for other rules
	listCallers    string    // a command: see Called
	gc             judgedGC
}

// For a live process, findings are about the recent past.
const (
	recently = int64(time.Hour)       // one to two of them
	justNow  = 5 * int64(time.Minute) // likewise
	lastDay  = 24 * int64(time.Hour)  // what rules about growth evaluate
)

// NewFindings returns Findings about a window of the records of a process, with the current
// thresholds. p may be filled in while records arrive.
func NewFindings(p *gclog.Process, t Thresholds, w Window) *Findings {
	return newFindings(p, t, w, 0)
}

// NewLiveFindings returns Findings about the recent past of a process: the last hour or two, or the
// last day for rules about growth.
func NewLiveFindings(p *gclog.Process, t Thresholds) *Findings {
	return newFindings(p, t, Always(), recently)
}

// NewFindingsNow returns Findings about what a process does now: the last five to ten minutes, or the
// last day for rules about growth.
func NewFindingsNow(p *gclog.Process, t Thresholds) *Findings {
	return newFindings(p, t, Always(), justNow)
}

func newFindings(p *gclog.Process, t Thresholds, w Window, recent int64) *Findings {
	f := &Findings{process: p, rules: Rules(), window: w, recent: recent}
	f.lasting = make([]*growth, len(f.rules))
	for i := range f.rules {
		r := &f.rules[i]
		f.limits = append(f.limits, t.of(r))
		if !r.lasting {
			continue
		}
		f.lasting[i] = r.judge(f.limits[i]).(*growth)
		f.lasting[i].live = recent > 0
	}
	return f
}

// mostGaps is how many unobserved stretches of time are kept.
const mostGaps = 1024

// miss records that a time was not observed.
func (f *Findings) miss(m Missing) {
	if m.From < m.To {
		f.unseen.add(m)
		f.unseen = f.unseen[max(0, len(f.unseen)-mostGaps):]
	}
}

// Observe adds a record. The time between two sessions is in no rate.
func (f *Findings) Observe(r gclog.Record) {
	switch r := r.(type) {
	case *gclog.Start:
		if f.hasBegin {
			f.miss(Missing{Window{f.now, r.At}, noSession})
		}
		f.hasBegin = true
		f.advance(r.At)
		f.each(func(s *stretch) {
			s.unbounded = s.unbounded || r.Unbounded
			s.collectionsOnly = s.collectionsOnly || r.CollectionsOnly
		})
	case *gclog.End:
		f.advance(r.At)
	case *gclog.Pause:
		f.pause(r)
	case *gclog.Phase:
		f.advance(r.Time)
	case *gclog.GCDetails:
		f.collection(r)
	case *gclog.Gap:
		f.gap(r)
	case *gclog.Counters:
		f.advance(r.At)
		if f.window.Contains(r.At) {
			f.each(func(s *stretch) { s.waiting.add(r) })
		}
	}
}

// pause adds a pause.
func (f *Findings) pause(p *gclog.Pause) {
	f.advance(p.Start)
	f.advance(p.Start + max(0, p.Duration))
	start, end := f.window.Clip(p.Start, p.Start+max(0, p.Duration))
	if start >= end || p.GC != nil && p.GC.HeapDump {
		return
	}
	f.elder.pause(p, start, end)
	if f.younger != nil {
		f.younger.pause(p, start, end)
	}
}

// collection adds a collection.
func (f *Findings) collection(d *gclog.GCDetails) {
	at := began(d)
	f.advance(at)
	f.advance(d.End)
	if !f.window.Contains(at) {
		return
	}
	f.each(func(s *stretch) {
		s.loss.record(d)
		s.latest.see(d)
	})
	// A collection without sizes still has its pauses.
	if d.Flaws&^gclog.FlawNoSizes != 0 {
		return
	}
	if d.HeapDump {
		f.each(func(s *stretch) { s.walks++ })
		return
	}
	f.gc.set(d)
	f.gc.unseen = f.unseen
	f.each(func(s *stretch) { s.gc(&f.gc) })
	for _, j := range f.lasting {
		if j != nil {
			j.gc(&f.gc)
		}
	}
}

// gap adds what is missing.
func (f *Findings) gap(g *gclog.Gap) {
	if m, unobserved := missingOf(g, f.now); unobserved && f.elder != nil {
		f.miss(m)
	}
	f.advance(g.Time)
	if f.window.Contains(g.Time) {
		f.each(func(s *stretch) { s.loss.gap(g) })
	}
}

// Damaged reports that the input cannot be read to its end, with a short reason, and that the rest
// of it would be in the window.
func (f *Findings) Damaged(why string) {
	f.advance(f.now)
	f.each(func(s *stretch) { s.loss.damage = why })
}

// Ended reports how the process ended, or that it had not when the observation did. Without it, that
// is unknown.
func (f *Findings) Ended(e Ending) {
	f.advance(f.now)
	f.each(func(s *stretch) { s.ending = &e })
}

// EndedBy reports how a session ended: with the process, or before it.
func (f *Findings) EndedBy(e *gclog.End) {
	switch {
	case e.Reason.OfProcess():
		f.Ended(endingOf(e))
	case e.Reason == gclog.EndDetached:
		f.Ended(Ending{})
	}
}

// Conclude observes the end of a session, and returns the verdict about it.
func (f *Findings) Conclude(e *gclog.End) Verdict {
	f.Observe(e)
	f.EndedBy(e)
	return f.Verdict()
}

// A Caller is a method that asked for collections.
type Caller struct {
	Name   string
	Count  uint64 // requests
	Paused int64  // by their collections, nanoseconds
}

// Called reports who asked for the collections that the program induced, those that cost most first, and the command
// that lists them. Without it, that is unknown.
func (f *Findings) Called(by []Caller, command string) {
	f.advance(f.now)
	f.listCallers = command
	f.each(func(s *stretch) { s.callers = by })
}

// Event adds the type of an allocation tick. Findings need no other events, and without ticks
// differ only in the types.
func (f *Findings) Event(at gclog.Stamp, e clr.Event, _ *gclog.GCDetails) {
	if tick, ok := e.(*clr.GCAllocationTick); ok && f.elder != nil && f.window.Contains(at.Time) {
		f.each(func(s *stretch) { s.tick(tick) })
	}
}

// List returns the findings so far: how the process ended, then the most severe first, and among those
// of equal severity the one that explains most of the time paused, or of the memory, and then in the
// order of the rules. Symptoms follow their cause. What costs only pauses, and next to none, is Info.
func (f *Findings) List() []Finding {
	list := []Finding{}
	f.eachVerdict(func(r *Rule, v Finding, _ string) {
		if v.Text == "" {
			return
		}
		v.Rule = r
		if v.Severity == 0 {
			v.Severity = r.Severity
			if meaningOf(r.ID).pausing && f.elder.costsLittle(&v) {
				v.Severity = Info
			}
		}
		if v.Advice == "" {
			v.Advice = r.Advice
		}
		if r.running && f.elder.ending.exited() {
			v.Advice = "The process has ended: do this when it runs again. " + v.Advice
		}
		if r.WorkstationAdvice != "" && f.process.Server != gclog.Yes {
			v.Advice += " " + r.WorkstationAdvice
		}
		list = append(list, v)
	})
	return arrange(list)
}

// NotEvaluated returns the rules that could not be evaluated so far.
func (f *Findings) NotEvaluated() []NotEvaluated {
	list := []NotEvaluated{}
	f.eachVerdict(func(r *Rule, v Finding, why string) {
		if v.Text == "" && why != "" {
			list = append(list, NotEvaluated{r, why})
		}
	})
	return list
}

func (f *Findings) eachVerdict(with func(r *Rule, v Finding, why string)) {
	if f.elder == nil {
		f.advance(f.now)
	}
	for i := range f.rules {
		r := &f.rules[i]
		j := f.elder.judges[i]
		if r.lasting {
			j = f.lasting[i]
		}
		v, why := j.verdict(f.elder)
		if v.Text == "" {
			if short := f.elder.short(r.need); short != "" {
				why = short
			}
		}
		with(r, v, why)
	}
}

func (f *Findings) each(do func(*stretch)) {
	do(f.elder)
	if f.younger != nil {
		do(f.younger)
	}
}

// advance advances the time, and creates the stretches that this requires.
func (f *Findings) advance(now int64) {
	if f.elder == nil {
		f.now = now
		f.elder = f.newStretch(now)
	}
	f.now = max(f.now, now)
	if f.recent > 0 {
		f.age()
	}
	_, f.elder.to = f.window.Clip(f.elder.from, f.now)
	if f.younger != nil {
		f.younger.to = f.now
	}
}

// age replaces stretches that are too old.
func (f *Findings) age() {
	switch {
	case f.younger == nil && f.now-f.elder.from >= f.recent:
		f.younger = f.newStretch(f.now)
	case f.younger != nil && f.now-f.younger.from >= f.recent:
		f.elder, f.younger = f.younger, f.newStretch(f.now)
	}
	if f.now-f.elder.from >= 2*f.recent { // nothing was recorded for long
		f.elder, f.younger = f.newStretch(f.now-f.recent), f.newStretch(f.now)
	}
}

// A stretch is the time that findings are about, with what happened in it.
type stretch struct {
	process  *gclog.Process
	from, to int64
	unseen   *gaps // in it, and elsewhere

	unbounded, collectionsOnly bool // as Statistics has them

	collections uint64 // complete ones
	gen2        uint64 // of them
	walks       uint64 // collections left out because they walked the heap
	paused      int64
	longest     int64 // pause
	shown       shown // what the data can show
	waiting     waiting
	loss        losses
	latest      latestGC
	ending      *Ending  // nil: unknown
	callers     []Caller // nil: unknown

	judges []judge      // by rule; nil for rules about the last day
	pauses []pauseJudge // of the judges
	ticks  []tickJudge
}

func (f *Findings) newStretch(from int64) *stretch {
	s := &stretch{process: f.process, unseen: &f.unseen, judges: make([]judge, len(f.rules))}
	s.from, _ = f.window.Clip(from, max(from, f.window.To))
	s.to = s.from
	for i := range f.rules {
		r := &f.rules[i]
		if r.lasting {
			continue
		}
		s.judges[i] = r.judge(f.limits[i])
		if p, ok := s.judges[i].(pauseJudge); ok {
			s.pauses = append(s.pauses, p)
		}
		if t, ok := s.judges[i].(tickJudge); ok {
			s.ticks = append(s.ticks, t)
		}
	}
	return s
}

func (s *stretch) tick(e *clr.GCAllocationTick) {
	for _, j := range s.ticks {
		j.tick(e)
	}
}

func (s *stretch) pause(p *gclog.Pause, start, end int64) {
	s.paused += end - start
	s.longest = max(s.longest, end-start)
	for _, j := range s.pauses {
		j.pause(p, start, end)
	}
}

func (s *stretch) gc(x *judgedGC) {
	s.collections++
	s.shown.see(x)
	if x.Generation >= gclog.Gen2 {
		s.gen2++
	}
	for _, j := range s.judges {
		if j != nil {
			j.gc(x)
		}
	}
}

// duration returns how much of the stretch was observed.
func (s *stretch) duration() int64 {
	return max(0, s.to-s.from) - s.unseen.length(Window{s.from, s.to})
}

// minutes returns the duration for rates: a shorter stretch counts as a minute.
func (s *stretch) minutes() float64 { return max(1, float64(s.duration())/float64(time.Minute)) }

// time formats a time stamp, in the zone of the process's Sync.
func (s *stretch) time(at int64) string {
	if !s.process.Dated() {
		return valueText(float64(at), "ns")
	}
	return s.process.Time(at).Format("2006-01-02 15:04:05")
}

// leastCost is the percentage of the time from which pauses are more than a note, and leastPart that of
// the part which a finding explains.
const (
	leastCost = 1
	leastPart = 0.15
)

// costsLittle reports whether what a finding explains of the pauses is next to nothing, even in the
// minute with most pauses.
func (s *stretch) costsLittle(f *Finding) bool {
	for _, j := range s.judges {
		if j, ok := j.(*highPauseShare); ok {
			width, _, paused, _ := j.most(s)
			share := percent(paused, max(width, leastTime))
			return share < leastCost || f.Explains.Paused > 0 && f.Explains.Paused*share < leastPart
		}
	}
	return false
}

// A need is the sample that a rule requires before it reports that there is no problem.
type need uint8

const (
	needNothing need = iota
	needCollections
	needGen2
	needEither // for rules about the causes of gen2 collections
)

// A fact needs no sample, but a share does. If the sample is smaller than this, the missing values
// count as good: a share that is too high nevertheless stays so whatever they would have been.
const (
	leastCollections = 20  // for a share of the collections, or of the pauses
	leastGen2        = 3   // for one of the gen2 collections
	leastSizes       = 5   // for the mean of sizes
	leastTime        = 5e9 // for a share of the time, or a rate, in nanoseconds
)

// ofPauses returns which part of the time paused that is.
func (s *stretch) ofPauses(paused int64) float64 {
	return quotient(float64(paused), float64(s.paused))
}

// sureShare returns the percentage n has of a sample of the least size, or of a larger one.
func sureShare(n, of, least uint64) float64 { return 100 * float64(n) / float64(max(of, least)) }

// short returns what the sample lacks, "" if it is large enough.
func (s *stretch) short(n need) string {
	few := s.collections < leastCollections
	few2 := s.gen2 < leastGen2
	why := ""
	switch {
	case n == needCollections && few:
		why = needs(leastCollections, "complete collection", s.collections)
	case n == needGen2 && few2:
		why = needs(leastGen2, "complete gen2 collection", s.gen2)
	case n == needEither && few && few2:
		why = fmt.Sprintf("needs %d complete collections, or %d of gen2, saw %d and %d",
			leastCollections, leastGen2, s.collections, s.gen2)
	}
	if why != "" && s.walks > 0 {
		why += fmt.Sprintf(" (plus %d for heap snapshots)", s.walks)
	}
	return why
}

// needs formats that there is too little of something.
func needs(least uint64, what string, saw uint64) string {
	return fmt.Sprintf("needs %s, saw %d", plural(least, what), saw)
}

// judgedGC is a complete collection, with values that several rules use.
type judgedGC struct {
	*gclog.GCDetails
	pause      int64
	after      float64 // size of the heap, as SizeAfter
	isGen2     bool
	background bool
	induced    bool // the program induced it
	unseen     gaps

	// Why its generation was chosen.
	steps      clr.CondemnedGenerations
	conditions clr.Condemned
	condemned  bool // both are known

	marks [len(marksJudged)]float64 // MarkImbalance of each kind, 0 if unknown
}

func (x *judgedGC) set(d *gclog.GCDetails) {
	x.GCDetails = d
	x.pause = d.Pause()
	x.after = float64(d.SizeAfter())
	x.isGen2 = d.Generation >= gclog.Gen2
	x.background = d.Kind == gclog.KindBackground
	x.induced = false
	if d.Known.Has(gclog.GroupReason) {
		switch d.Reason {
		case clr.ReasonInduced, clr.ReasonInducedNotForced, clr.ReasonInducedCompacting, clr.ReasonInducedAggressive:
			x.induced = true
		}
	}
	x.steps, x.conditions, x.condemned = d.Condemned()
	x.marks = [len(marksJudged)]float64{}
	if d.ReportedHeaps() > 2 {
		for i, t := range marksJudged {
			x.marks[i], _ = d.MarkImbalance(t)
		}
	}
}

// fragmented reports whether the sizes of the generations and the free space in them are known.
func (x *judgedGC) fragmented() bool {
	return x.Known.Has(gclog.GroupAfter) && x.Known.Has(gclog.GroupHistory)
}

// A judge is the state of one rule. It is passed the complete collections of a stretch in the order
// of their records, keeps little about each, and allocates nothing for them.
type judge interface {
	gc(*judgedGC)
	// verdict returns a Finding with a Text, or why the rule cannot be evaluated; "" if it was
	// evaluated and there is no problem.
	verdict(*stretch) (f Finding, why string)
}

// A pauseJudge also uses the pauses, clipped to the Window.
type pauseJudge interface {
	judge
	pause(p *gclog.Pause, start, end int64)
}

// A tickJudge also uses allocation ticks, if there are any.
type tickJudge interface {
	judge
	tick(*clr.GCAllocationTick)
}

// pausesOnly is for judges that use no collections.
type pausesOnly struct{}

func (pausesOnly) gc(*judgedGC) {}
