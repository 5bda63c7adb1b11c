package logs

import (
	"bytes"
	"math"
	"time"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/parse/clr"
)

// A jdk is what the readers of both JDK formats share. It makes records of what
// their lines say: one blocking collection and one background collection are open at
// most.
type jdk struct {
	observe func(*gclog.Process) Observer
	process *gclog.Process
	out     Observer // nil: nobody observes the process
	begun   bool     // observe was asked
	headed  bool     // a head was the last
	base    moment   // the sync point
	newest  moment   // of the lines of the process
	told    int64    // end of what was told last

	blocking   blocking
	background background
	committed  int64 // KiB, as the capacity of the heap told it last; 0: it never did
	stats      bool  // the log has DotNet lines
	index      int64
	counted    uint32 // collections of a log without numbers

	pause gclog.Pause // what is told, so that nothing is allocated
	phase gclog.Phase
}

// blocking is a blocking collection in the making.
type blocking struct {
	gclog.GCDetails
	open, told bool  // told: what comes late is left out
	stats      bool  // it has a DotNet line
	begin      span  // of its pause, if a line told it
	suspend    int64 // how long it took to stop the threads; gclog.Untold
	pools      pools
}

// background is a background collection in the making.
type background struct {
	gclog.GCDetails
	details gclog.BackgroundDetails
	open    bool
	begin   span  // of the pause that is open
	suspend int64 // of the first pause
	running bool  // between the first pause and the end of the sweep
	reset   bool  // its last phase has ended

	inPhase bool
	phase   gclog.PhaseKind
	began   span  // the begin of the phase
	told    int64 // the same, as it was told
	// sweepEnd may be the end of the log only: it counts when what follows a sweep does.
	sweepEnd    gclog.Phase
	hasSweepEnd bool
}

// head takes what the head of a file says: another number is another process.
func (j *jdk) head(facts *gclog.Process) {
	if p := j.process; p == nil || p.ID != 0 && p.ID != facts.ID {
		j.finish()
		*j = jdk{observe: j.observe, process: facts}
	} else {
		learnHead(p, facts)
	}
	j.headed = true
}

// learnHead takes what a further head of a process says. The number of heaps stays that of
// the begin.
func learnHead(p, facts *gclog.Process) {
	sync, uptime, heaps := p.Sync, p.UptimeAtSync, p.HeapCount
	*p = *facts
	p.Sync, p.UptimeAtSync = sync, uptime
	if heaps != 0 {
		p.HeapCount = heaps
	}
}

// at returns when something was. The process begins with the first time. Another one
// does with a head, if it is younger than it was: in a container all have the number 1.
func (j *jdk) at(m moment) span {
	if j.begun && (j.headed && j.younger(m) || !j.comparable(m)) {
		facts := *j.process
		j.finish()
		*j = jdk{observe: j.observe, process: &facts}
	}
	j.headed = false
	if !j.begun {
		j.begin(m)
	}
	j.newest = m
	if j.base.wallUnit != 0 && m.wallUnit != 0 {
		return cutOff(m.wall-j.base.wall, m.wallUnit)
	}
	return cutOff(m.up-j.base.up, m.upUnit)
}

// younger tells whether a process was younger at m than before. Where the date goes back
// as well it is only that the lines are not in order.
func (j *jdk) younger(m moment) bool {
	back := j.newest.up - m.up
	switch {
	case m.upUnit == 0 || j.newest.upUnit == 0:
		return false
	case m.wallUnit == 0 || j.newest.wallUnit == 0:
		return back > int64(time.Minute)
	}
	return back > int64(time.Second) && m.wall-j.newest.wall > int64(time.Second)-back
}

// comparable tells whether times have to do with those before.
func (j *jdk) comparable(m moment) bool {
	return j.base.wallUnit != 0 && m.wallUnit != 0 || j.base.upUnit != 0 && m.upUnit != 0
}

func (j *jdk) begin(m moment) {
	if j.process == nil {
		j.process = &gclog.Process{}
	}
	if m.wallUnit == 0 {
		m.up = 0
	}
	j.base, j.begun = m, true
	j.process.Sync, j.process.UptimeAtSync = time.Unix(0, m.wall).UTC(), time.Duration(m.up)
	j.out = j.observe(j.process)
}

// nobody observes a process.
func nobody(*gclog.Process) Observer { return nil }

// blank makes d an empty record that keeps the memory of its list.
func blank(d *gclog.GCDetails, n uint32) {
	d.Reset()
	d.Number, d.HasNumber = n, n != 0 // 0: a background collection that began before the session
	d.Sums = true
}

// blockingOf returns the blocking collection with a number; nil if it was told.
func (j *jdk) blockingOf(n uint32, at span) *blocking {
	b := &j.blocking
	if n == b.Number && (b.open || b.told) {
		if b.told {
			return nil
		}
		return b
	}
	j.closeBlocking()
	if bg := &j.background; bg.open && bg.reset && !j.stats {
		j.closeBackground() // nothing more will come of it
	}
	blank(&b.GCDetails, n)
	b.open, b.told, b.stats, b.begin, b.suspend, b.pools = true, false, false, span{}, gclog.Untold, pools{}
	b.Start, b.Suspended = at.from, at.from
	return b
}

// condemn takes generation and cause from what Java calls the pause, where no DotNet
// line tells better.
func (j *jdk) condemn(b *blocking, generation int, cause []byte) {
	if b.stats {
		return
	}
	b.Generation = generation
	b.Reason, b.HasReason = javaReason(cause)
	if generation < gclog.Gen2 && j.background.running {
		b.Kind, b.Type = gclog.KindForeground, clr.TypeForeground
	}
}

// endBlocking tells a blocking collection whose pause has ended.
func (j *jdk) endBlocking(b *blocking, start, duration int64) {
	part := gclog.PausePart{Start: start, Duration: duration, Suspend: min(b.suspend, duration), Resume: gclog.Untold}
	b.Suspended, b.Start = start, start+max(0, part.Suspend)
	b.Pauses = append(b.Pauses, part)
	j.settle(b)
	j.tellPause(&b.GCDetails, part)
	j.tellBlocking()
}

// closeBlocking tells the one that is open though the end of its pause was not told.
func (j *jdk) closeBlocking() {
	if b := &j.blocking; b.open {
		b.Flaws |= gclog.FlawNoEnd | gclog.FlawNoRestart
		j.settle(b)
		j.tellBlocking()
	}
}

func (j *jdk) tellBlocking() {
	j.blocking.open, j.blocking.told = false, true
	j.tellGC(&j.blocking.GCDetails)
}

// settle takes from the pools what nothing else tells.
func (j *jdk) settle(b *blocking) {
	p := &b.pools
	p.divide()
	if !b.HasSizesAfter && (p.hasHeap || p.hasYoung && p.hasOld) {
		b.Pools, b.HasBefore, b.HasSizesAfter = true, true, true
		p.setSizes(&b.GCDetails)
	}
	if !b.HasSizesAfter {
		b.Flaws |= gclog.FlawNoSizes
	}
	j.commit(b)
	b.Complete = b.Flaws == 0
}

// commit takes the committed memory from the capacity of the heap. Without it the
// capacity is what the sizes need at least.
func (j *jdk) commit(b *blocking) {
	p := &b.pools
	switch {
	case b.HasCommittedAfter:
		j.committed = int64(b.CommittedAfter / kibibyte)
		return
	case !p.hasHeap:
		return
	case p.capacity != max(j.committed, p.needed()):
		j.committed = p.capacity
		if b.stats { // which would have told it
			b.CommittedBefore, b.HasCommittedBefore = uint64(j.committed)*kibibyte, true
		}
	}
	if !b.stats && j.committed >= p.heap.after && j.committed > 0 {
		b.CommittedAfter, b.HasCommittedAfter = uint64(j.committed)*kibibyte, true
	}
}

// backgroundOf returns the background collection with a number.
func (j *jdk) backgroundOf(n uint32, at span) *background {
	j.closeBlocking()
	b := &j.background
	if b.open && b.Number == n {
		return b
	}
	j.closeBackground()
	blank(&b.GCDetails, n)
	*b = background{GCDetails: b.GCDetails, open: true, suspend: gclog.Untold}
	b.Background = &b.details
	b.Generation, b.Kind, b.Type = gclog.Gen2, gclog.KindBackground, clr.TypeBackground
	b.Start, b.Suspended = at.from, at.from
	b.Flaws = gclog.FlawNoSuspend
	if n == 0 {
		b.Flaws = gclog.FlawNoStart
	}
	return b
}

// endPause tells a pause of a background collection.
func (j *jdk) endPause(b *background, kind gclog.PauseKind, start, duration int64, heap, capacity int64) {
	part := gclog.PausePart{Kind: kind, Start: start, Duration: duration, Suspend: gclog.Untold, Resume: gclog.Untold}
	b.begin = span{}
	switch {
	case kind == gclog.PauseInitial:
		part.Suspend = min(b.suspend, duration)
		b.Suspended, b.Start = start, start+max(0, part.Suspend)
		b.Flaws &^= gclog.FlawNoSuspend
		b.running = true
	case b.details.MarkEnd == 0: // what it does is not told
		b.running = false
	}
	if capacity > max(heap, j.committed) {
		j.committed = capacity
		b.CommittedBefore, b.HasCommittedBefore = uint64(capacity)*kibibyte, true
	}
	if len(b.Pauses) < maxPauses {
		b.Pauses = append(b.Pauses, part)
	} else {
		b.Pauses[maxPauses-1].Duration += part.Duration // keeps the sum
	}
	j.tellPause(&b.GCDetails, part)
}

// beginPhase takes the begin of a phase. Heads repeat the begin of an open one.
func (j *jdk) beginPhase(b *background, kind gclog.PhaseKind, at span) {
	if b.inPhase && b.phase == kind {
		return
	}
	b.inPhase, b.phase, b.began, b.running = true, kind, at, true
	b.told = at.nearest(max(1, j.told)) // with the end of a pause; 0 is no time of a phase
	if kind == gclog.PhaseMark {
		b.details.MarkStart = b.told
	} else {
		b.details.SweepStart = b.told
	}
	j.tellPhase(b, gclog.Phase{Kind: kind, Start: b.told, Time: b.told})
}

// endPhase takes the end of a phase, which lasted for least to most.
func (j *jdk) endPhase(b *background, kind gclog.PhaseKind, at span, least, most int64) {
	if !b.inPhase || b.phase != kind {
		b.began = span{at.from - most, at.to - least}
		b.told = b.began.middle()
	}
	b.inPhase = false
	at = at.after(j.told)
	start := b.began.and(span{at.from - most, at.to - least}).nearest(b.told)
	end := max(start, at.nearest(start+least))
	p := gclog.Phase{Kind: kind, End: true, Start: start, Time: end}
	if kind == gclog.PhaseSweep {
		b.details.SweepStart = start
		b.sweepEnd, b.hasSweepEnd = p, true
		return
	}
	b.details.MarkStart, b.details.MarkEnd = start, end
	b.running = true
	j.tellPhase(b, p)
}

// has tells whether a phase has begun.
func (b *background) has(kind gclog.PhaseKind) bool {
	if kind == gclog.PhaseMark {
		return b.details.MarkStart != 0
	}
	return b.details.SweepStart != 0
}

// confirm tells the end of the sweep, because the collection has gone on.
func (j *jdk) confirm(b *background) {
	if !b.hasSweepEnd {
		return
	}
	b.hasSweepEnd, b.running, b.reset = false, false, true
	b.details.SweepEnd = b.sweepEnd.Time
	b.End, b.HasEnd = b.sweepEnd.Time, true
	j.tellPhase(b, b.sweepEnd)
}

// closeBackground tells the record of the background collection that is open.
func (j *jdk) closeBackground() {
	b := &j.background
	if !b.open {
		return
	}
	b.open, b.running = false, false
	if !b.HasEnd {
		b.Flaws |= gclog.FlawNoEnd
	}
	if !b.HasSizesAfter {
		b.Flaws |= gclog.FlawNoSizes
	}
	b.Complete = b.Flaws == 0
	j.tellGC(&b.GCDetails)
}

func (j *jdk) finish() {
	j.closeBlocking()
	j.closeBackground()
}

func (j *jdk) tellPause(d *gclog.GCDetails, part gclog.PausePart) {
	j.told = part.Start + part.Duration
	j.pause = gclog.Pause{PausePart: part, Ticks: part.Start, GC: d}
	if j.out != nil {
		j.out.Pause(&j.pause)
	}
}

func (j *jdk) tellPhase(b *background, p gclog.Phase) {
	j.told = p.Time
	j.phase = p
	j.phase.GC = &b.GCDetails
	if j.out != nil {
		j.out.Phase(&j.phase)
	}
}

func (j *jdk) tellGC(d *gclog.GCDetails) {
	d.StartTicks = d.Start // the clock of a log has nanoseconds
	d.Index = j.index
	j.index++
	if j.out != nil {
		j.out.GC(d)
	}
}

// javaReason is the reason that a cause stands for: one of .NET's own names, or what
// Java's words are written for.
func javaReason(cause []byte) (r clr.Reason, known bool) {
	switch string(cause) {
	case "Allocation Failure":
		return 0, false
	case "System.gc()":
		return clr.ReasonInduced, true
	case "Last ditch collection":
		return clr.ReasonLowMemory, true
	}
	return clr.ParseReason(cause)
}

// pools are the sizes as JDK logs have them, in KiB.
type pools struct {
	young, old, heap          sizes // gen0 and gen1; gen2, large and pinned objects; all
	hasYoung, hasOld, hasHeap bool
	large                     sizes // of old, large and pinned objects, where that is known
	capacity                  int64 // of the heap
}

// divide finds the pool that is missing, if one is.
func (p *pools) divide() {
	switch {
	case !p.hasHeap || p.hasYoung == p.hasOld:
	case p.hasYoung:
		p.old, p.hasOld = p.heap.without(p.young)
	default:
		p.young, p.hasYoung = p.heap.without(p.old)
	}
}

type sizes struct{ before, after int64 }

// without is what remains without a part of it; ok is false if that is none.
func (s sizes) without(part sizes) (rest sizes, ok bool) {
	rest = sizes{s.before - part.before, s.after - part.after}
	if rest.before < 0 || rest.after < 0 {
		return sizes{}, false
	}
	return rest, true
}

// needed is the capacity that the sizes need at least.
func (p *pools) needed() int64 {
	return max(p.heap.before, p.heap.after, max(p.young.before, p.young.after)+max(p.old.before, p.old.after))
}

func (p *pools) setSizes(d *gclog.GCDetails) {
	if !p.hasYoung || !p.hasOld {
		p.heap.set(&d.Generations[gclog.Gen2])
		return
	}
	p.young.set(&d.Generations[gclog.Gen0])
	if rest, ok := p.old.without(p.large); ok {
		rest.set(&d.Generations[gclog.Gen2])
		p.large.set(&d.Generations[gclog.LOH])
	} else {
		p.old.set(&d.Generations[gclog.Gen2])
	}
}

func (s sizes) set(g *gclog.GenerationDetails) {
	g.Before, g.After = uint64(s.before)*kibibyte, uint64(s.after)*kibibyte
}

const (
	kibibyte = 1024
	maxKiB   = 1 << 50 // sums of sizes stay within 63 bits
)

// size reads a number of KiB with the K behind it.
func size(b []byte) (kib int64, rest []byte, ok bool) {
	v, rest, ok := number(b)
	if !ok || v >= maxKiB || len(rest) == 0 || rest[0] != 'K' {
		return 0, b, false
	}
	return int64(v), rest[1:], true
}

// pair reads 28672K->3072K.
func pair(b []byte) (s sizes, rest []byte, ok bool) {
	if s.before, rest, ok = size(b); !ok {
		return s, b, false
	}
	if rest, ok = literal(rest, "->"); !ok {
		return s, b, false
	}
	s.after, rest, ok = size(rest)
	return s, rest, ok
}

// bounded reads (73728K).
func bounded(b []byte) (capacity int64, rest []byte, ok bool) {
	if rest, ok = literal(b, "("); !ok {
		return 0, b, false
	}
	if capacity, rest, ok = size(rest); !ok {
		return 0, b, false
	}
	rest, ok = literal(rest, ")")
	return capacity, rest, ok
}

// bounds reads 28672K->3072K(73728K).
func bounds(b []byte) (s sizes, capacity int64, rest []byte, ok bool) {
	if s, rest, ok = pair(b); !ok {
		return s, 0, b, false
	}
	capacity, rest, ok = bounded(rest)
	return s, capacity, rest, ok
}

// duration reads a number of units with decimals, of at most a year.
func duration(b []byte, decimals int, unit int64) (ns int64, rest []byte, ok bool) {
	v, rest, ok := fixed(b, decimals)
	if !ok || v < 0 || v > longest/unit {
		return 0, b, false
	}
	return v * unit, rest, true
}

// farthest is the latest time that is taken for one, longest the longest duration:
// sums of them stay within 63 bits.
const (
	farthest = 1 << 62
	longest  = 1 << 55
)

// A moment is what a line says of its time, in nanoseconds, cut off to its unit. Unit
// 0: it does not say that.
type moment struct {
	wall, wallUnit int64 // since 1970
	up, upUnit     int64 // since the begin of the process
}

func (m *moment) setWall(ns, unit int64) bool {
	if m.wallUnit == 0 {
		m.wall, m.wallUnit = ns, unit
	}
	return ns >= 0 && ns < farthest
}

func (m *moment) setUp(ns, unit int64) bool {
	if m.upUnit == 0 {
		m.up, m.upUnit = ns, unit
	}
	return ns >= 0 && ns < farthest
}

func (m *moment) known() bool { return m.wallUnit|m.upUnit != 0 }

// time is what Recognize tells.
func (m *moment) time() time.Time {
	if m.wallUnit == 0 {
		return time.Unix(0, m.up).UTC()
	}
	return time.Unix(0, m.wall).UTC()
}

// seconds reads seconds with up to nine decimals. unit is that of the last of them.
func seconds(b []byte) (ns, unit int64, rest []byte, ok bool) {
	ns, rest, ok = fixed(b, 9)
	if !ok || b[0] == '-' {
		return 0, 0, b, false
	}
	unit = int64(time.Second)
	for i := len(b) - len(rest) - 1; i > 0; i-- {
		if b[i] == '.' {
			return ns, unit, rest, true
		}
		unit /= 10
	}
	return ns, int64(time.Second), rest, true
}

// dateUnit is the unit of the last decimal of a date, of at most nine.
func dateUnit(date []byte) int64 {
	unit := int64(time.Second)
	const seconds = len("2006-01-02T15:04:05")
	if date[seconds] != '.' {
		return unit
	}
	for _, c := range date[seconds+1:] {
		if c -= '0'; c > 9 || unit == 1 {
			break
		}
		unit /= 10
	}
	return unit
}

// A span is when something may have been: from from to before to.
type span struct{ from, to int64 }

func cutOff(ns, unit int64) span { return span{ns, ns + unit} }

func (s span) known() bool { return s.from != s.to }

// nearest is the time in s that is nearest to t.
func (s span) nearest(t int64) int64 { return max(s.from, min(t, s.to-1)) }

// after leaves out what is before t, where something remains.
func (s span) after(t int64) span {
	if t < s.to {
		s.from = max(s.from, t)
	}
	return s
}

func (s span) middle() int64 { return s.from + (s.to-s.from)/2 }

// starts is when what lasts for d and ends in s began.
func (s span) starts(d int64) span { return span{s.from - d, s.to - d} }

func (s span) and(t span) span { return span{max(s.from, t.from), min(s.to, t.to)} }

// place finds when a pause began that lasted for d: at the time that is likely, or
// else halfway of what is possible.
func (j *jdk) place(begin, end span, d, likely int64) (start, duration int64) {
	const slack = int64(time.Microsecond)/2 - 1
	if !begin.known() {
		begin = end.starts(d)
	}
	possible := begin.and(end.starts(d)).after(j.told)
	if likely < possible.from || likely >= possible.to {
		likely = possible.middle()
	}
	return fit(begin, end, d, slack, likely)
}

const noTime = int64(math.MinInt64)

// fit finds the begin and the duration of what began in begin, ended in end, and
// lasted for d, give or take slack: the begin that is nearest to prefer.
func fit(begin, end span, d, slack, prefer int64) (start, duration int64) {
	possible := begin.and(end.starts(d))
	if possible.from < possible.to {
		return possible.nearest(prefer), d
	}
	start = begin.nearest(end.from - d)
	return start, max(0, d-slack, min(end.nearest(start+d)-start, d+slack))
}

// runtimeOf reads .NET 10.0.14, process 4711 MyApp.
func runtimeOf(b []byte, p *gclog.Process) bool {
	b, ok := literal(b, ".NET")
	if !ok {
		return false
	}
	version, b, ok := bytes.Cut(b, []byte(", process "))
	if !ok {
		return false
	}
	id, name, ok := number(b)
	if !ok || id > math.MaxInt64 || len(name) > 0 && name[0] != ' ' {
		return false
	}
	p.ID, p.Name, p.RuntimeVersion = int64(id), string(bytes.TrimPrefix(name, space)), string(bytes.TrimPrefix(version, space))
	return true
}

var space = []byte{' '}
