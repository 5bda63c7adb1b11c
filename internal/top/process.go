package top

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/gclog/analysis"
)

// A process is what is known of a process. Its memory is bounded.
type process struct {
	Listed
	facts    gclog.Process
	from     string
	trouble  string // why there can be no records
	failure  string // why the latest source ended
	started  bool   // facts and the clock are known
	over     bool   // the latest source has ended
	exited   bool
	exitedAt time.Time

	now      int64 // its time
	begin    int64 // when its records begin
	gcs      []*gclog.GCDetails
	pauses   []gclog.PausePart
	since    int64            // pauses has all from this time on
	last     *gclog.GCDetails // the latest collection that has ended
	stall    *gclog.Stall
	missing  int // records that are missing because top was too slow
	gaps     int
	findings *analysis.Findings
	cursor   int64 // Index of the selected collection; negative: the latest

	committed *analysis.Number // after the latest collection; nil: not computed since then

	profile *Profiled // who allocates; nil: nobody has asked

	minute  *minute // nil: not computed since the last change
	found   []analysis.Finding
	verdict analysis.Verdict
	foundAt int64 // the time of both
	final   bool  // found is what was found when the source had ended
	total   *analysis.Statistics
}

const (
	// keepGCs and keepPauses are how many records are kept of a process.
	keepGCs    = 200
	keepPauses = 4096
	aMinute    = int64(time.Minute)
	// staleAfter is the age from which numbers are marked as old.
	staleAfter = aMinute
	// judgeEvery is how often findings are evaluated.
	judgeEvery = int64(5 * time.Second)
)

func newProcess(l Listed) *process {
	return &process{Listed: l, trouble: l.Trouble, cursor: -1}
}

// start begins with the records of a source. Those of a source before it are dropped: its clock was
// another one.
func (p *process) start(s Started) {
	p.facts, p.from, p.started, p.over, p.failure = s.Process, s.From, true, false, ""
	p.gcs, p.pauses, p.last, p.stall, p.begin, p.since, p.now, p.cursor = nil, nil, nil, nil, s.At, s.At, s.At, -1
	p.committed, p.found, p.foundAt, p.final = nil, nil, s.At-judgeEvery, false
	p.findings = analysis.NewFindingsNow(&p.facts, analysis.Thresholds{})
	p.total = analysis.NewStatistics(analysis.StatisticsOptions{Window: analysis.Always(), Live: true})
	p.findings.Observe(&gclog.Start{At: s.At})
	p.total.Observe(&gclog.Start{At: s.At})
	p.minute = nil
	if s.Process.Name != "" {
		p.Name = s.Process.Name
	}
	if s.Process.Service != "" {
		p.Name = s.Process.Service
	}
}

func (p *process) advance(at int64) {
	if at > p.now {
		p.now, p.minute = at, nil
		p.findings.Observe(&gclog.End{At: at})
		p.total.Observe(&gclog.End{At: at})
	}
}

func (p *process) take(r Records) {
	if !p.started {
		return
	}
	p.missing += r.Dropped
	p.minute = nil
	for _, x := range r.List {
		switch x := x.(type) {
		case *gclog.Pause:
			p.takePause(x)
		case *gclog.GCDetails:
			p.takeGC(x)
		case *gclog.Gap:
			p.gaps++
			p.findings.Observe(x)
			p.total.Observe(x)
		case *gclog.Stall:
			p.stall = x
		}
	}
}

func (p *process) takePause(x *gclog.Pause) {
	if p.stall != nil && (p.stall.Kind == gclog.OpenSuspension || x.GC != nil) && x.Start+x.Duration >= p.stall.Since {
		p.stall = nil
	}
	p.now = max(p.now, x.Start+x.Duration)
	p.findings.Observe(x)
	p.total.Observe(x)
	p.pauses = append(p.pauses, x.PausePart)
	if len(p.pauses) > keepPauses {
		p.pauses = slices.Delete(p.pauses, 0, len(p.pauses)-keepPauses*3/4)
		p.since = p.pauses[0].Start
	}
}

func (p *process) takeGC(d *gclog.GCDetails) {
	if s := p.stall; s != nil && (!s.HasNumber || s.Number == d.Number) {
		p.stall = nil
	}
	p.findings.Observe(d)
	p.total.Observe(d)
	p.last = d
	if n := d.HeapCount(); n > 0 { // only collections report it
		p.facts.HeapCount = n
	}
	p.committed = nil
	p.gcs = append(p.gcs, d)
	if len(p.gcs) > keepGCs {
		p.gcs = slices.Delete(p.gcs, 0, len(p.gcs)-keepGCs)
	}
}

func (p *process) end(e Ended) {
	p.over, p.stall = true, nil
	if e.Exited {
		p.exited = true
	}
	if e.End != nil && p.started {
		p.findings.EndedBy(e.End)
	}
	if e.Text != "" {
		p.failure = e.Text
	}
}

// why returns why there are no records, until there are some; "" if that is unknown.
func (p *process) why() string { return cmp.Or(p.trouble, p.failure) }

func (p *process) exit(now time.Time) {
	if p.exitedAt.IsZero() {
		p.exitedAt = now
	}
	p.exited, p.over, p.stall = true, true, nil
}

// A minute is what happened in the last minute.
type minute struct {
	share   analysis.Number // share of the time that the program was paused
	longest analysis.Number // pause
	pauses  int
	rate    analysis.Number // of allocation, between the collections that are kept
}

// recent returns what happened in the last minute.
func (p *process) recent() *minute {
	if p.minute != nil {
		return p.minute
	}
	w := analysis.Window{From: max(p.since, p.now-aMinute), To: p.now}
	m := &minute{
		share:   analysis.Number{Why: "no time"},
		longest: analysis.Number{Why: "no pause"},
		rate:    analysis.AllocationRate(p.gcs, w),
	}
	var paused, longest int64
	for i := range p.pauses {
		x := &p.pauses[i]
		from, to := w.Clip(x.Start, x.Start+x.Duration)
		if x.Start+x.Duration <= w.From || x.Start > w.To {
			continue
		}
		m.pauses++
		paused += to - from
		longest = max(longest, to-from)
	}
	if m.pauses > 0 {
		m.longest = analysis.Number{Value: float64(longest), Unit: "ns"}
	}
	if w.To > w.From {
		m.share = analysis.Number{Value: 100 * float64(paused) / float64(w.To-w.From), Unit: "%"}
	}
	p.minute = m
	return m
}

// commit returns the committed memory after the latest collection.
func (p *process) commit() analysis.Number {
	if p.committed == nil {
		p.committed = &p.total.Summary().Heap.Committed
	}
	return *p.committed
}

// buckets returns the longest pause, in nanoseconds, in each of n parts of the last minute, and the
// longest of all; a part that was not observed is negative.
func (p *process) buckets(n int) (list []float64, most float64) {
	list = make([]float64, n)
	width := aMinute / int64(max(1, n))
	from := p.now - width*int64(n)
	for i := range list {
		if from+width*int64(i+1) <= p.begin {
			list[i] = -1
		}
	}
	for i := range p.pauses {
		x := &p.pauses[i]
		at := (x.Start + x.Duration - 1 - from) / width
		if x.Start+x.Duration > from && at >= 0 && at < int64(n) {
			list[at] = max(list[at], float64(x.Duration))
			most = max(most, float64(x.Duration))
		}
	}
	return list, most
}

// heapSizes returns the size of the heap before and after the latest collections, as a series of at
// most n values, and the largest.
func (p *process) heapSizes(n int) (list []float64, most float64) {
	for _, d := range p.gcs {
		if d.Known.Has(gclog.GroupBefore) {
			list = append(list, float64(d.SizeBefore()))
		}
		if d.Known.Has(gclog.GroupAfter) {
			list = append(list, float64(d.SizeAfter()))
		}
	}
	list = list[max(0, len(list)-n):]
	for _, v := range list {
		most = max(most, v)
	}
	return list, most
}

// age returns how long ago the latest collection ended.
func (p *process) age() (ns int64, known bool) {
	if p.last == nil {
		return 0, false
	}
	return max(0, p.now-ended(p.last)), true
}

// ended returns when a collection ended.
func ended(d *gclog.GCDetails) int64 {
	at := max(d.PauseStart(), d.End)
	if n := len(d.Pauses); n > 0 {
		at = max(at, d.Pauses[n-1].Start+d.Pauses[n-1].Duration)
	}
	return at
}

// stale reports whether the numbers are old, or nothing updates them.
func (p *process) stale() bool {
	age, known := p.age()
	return p.over || p.exited || known && age > staleAfter
}

// chosen returns the selected collection, or the latest; nil if there is none.
func (p *process) chosen() *gclog.GCDetails {
	for _, d := range p.gcs {
		if p.cursor >= 0 && d.Index == p.cursor {
			return d
		}
	}
	if len(p.gcs) == 0 {
		return nil
	}
	return p.gcs[len(p.gcs)-1]
}

// move moves the cursor to an older (positive) or newer collection.
func (p *process) move(by int) {
	if len(p.gcs) == 0 {
		return
	}
	at := slices.Index(p.gcs, p.chosen()) - by
	at = max(0, min(at, len(p.gcs)-1))
	if p.cursor = p.gcs[at].Index; at == len(p.gcs)-1 {
		p.cursor = -1
	}
}

// text is what a filter looks at.
func (p *process) text() string {
	return strconv.Itoa(p.PID) + " " + p.Name + " " + p.command()
}

// command returns the command line.
func (p *process) command() string { return cmp.Or(p.CommandLine, p.facts.CommandLine) }

// limit returns what limits the heap: its hard limit, or that of the control group.
func (p *process) limit() uint64 {
	if p.facts.HasLimits && p.facts.Limits.HardLimit > 0 {
		return p.facts.Limits.HardLimit
	}
	if p.last != nil {
		return p.last.Memory.CgroupLimit
	}
	return 0
}

// resident returns the resident memory at the latest collection, 0 if it is unknown.
func (p *process) resident() uint64 {
	if p.last == nil {
		return 0
	}
	return p.last.Memory.Resident
}

// sorts are the orders of the list.
var sorts = []struct {
	name    string
	compare func(a, b *process) int
}{
	{"pid", func(a, b *process) int { return a.PID - b.PID }},
	{"paused", func(a, b *process) int {
		return byNumber(a, b, func(m *minute) analysis.Number { return m.share })
	}},
	{"longest pause", func(a, b *process) int {
		return byNumber(a, b, func(m *minute) analysis.Number { return m.longest })
	}},
	{"allocation rate", func(a, b *process) int {
		return byNumber(a, b, func(m *minute) analysis.Number { return m.rate })
	}},
	{"heap", func(a, b *process) int { return -cmp.Compare(a.heap(), b.heap()) }},
	{"name", func(a, b *process) int { return cmp.Compare(a.Name, b.Name) }},
}

// byNumber orders processes by a number of the last minute, the highest first.
func byNumber(a, b *process, of func(*minute) analysis.Number) int {
	value := func(p *process) float64 {
		if !p.started {
			return -1
		}
		if n := of(p.recent()); n.Known() {
			return n.Value
		}
		return -1
	}
	return -cmp.Compare(value(a), value(b))
}

// heap returns the size of the heap after the latest collection, 0 if it is unknown.
func (p *process) heap() uint64 {
	if p.last == nil || !p.last.Known.Has(gclog.GroupAfter) {
		return 0
	}
	return p.last.SizeAfter()
}
