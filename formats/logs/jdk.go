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
	reading *reading
	without bool // the log has no numbers of collections
	count   int  // of the processes that were begun
	beyond  bool // this one is more than can be told

	process  *gclog.Process
	pid      int64    // of the lines of the process; 0: unknown
	out      Observer // nil: nobody observes the process
	begun    bool     // observe was asked
	headed   bool     // a head was the last
	base     moment   // the sync point
	newest   moment   // of the lines of the process
	newestIn int      // the file that it is in
	told     int64    // end of what was told last

	blocking   blocking
	background background
	committed  int64 // KiB, as the capacity of the heap told it last; 0: it never did
	stats      bool  // the log has DotNet lines
	index      int64
	tally      tally
	counted    uint32 // collections of a log without numbers

	pause      gclog.Pause // what is told, so that nothing is allocated
	phase      gclog.Phase
	suspension gclog.Suspension
}

// blocking is a blocking collection in the making.
type blocking struct {
	gclog.GCDetails
	open, told bool  // told: what comes late is left out
	bare       bool  // only lines of details were read: it may as well be a background one
	stats      bool  // it has a DotNet line
	begin      span  // of its pause, if a line told it
	suspend    int64 // how long it took to stop the threads; gclog.Untold
	pools      pools
	summary    gclog.HeapSummary
}

// background is a background collection in the making.
type background struct {
	gclog.GCDetails
	details gclog.BackgroundDetails
	summary gclog.HeapSummary
	open    bool
	ended   bool  // its sizes were told: only details follow
	begin   span  // of the pause that is open
	suspend int64 // of the pause that is open, if a line told it; gclog.Untold
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
		j.another(facts)
	} else {
		learnHead(p, facts)
	}
	j.headed = true
}

// learnHead takes what a further head of a process says. The number of heaps stays that of
// the begin.
func learnHead(p, facts *gclog.Process) {
	before := *p
	*p = *facts
	p.Sync, p.UptimeAtSync = before.Sync, before.UptimeAtSync
	p.Limits, p.HasLimits = before.Limits, before.HasLimits
	if before.HeapCount != 0 {
		p.HeapCount = before.HeapCount
	}
}

// meet takes the number of the process that a line has: another number is another
// process. Where head and lines disagree from the begin, that of the head counts.
func (j *jdk) meet(pid int64) {
	if pid == 0 || pid == j.pid {
		return
	}
	switch p := j.process; {
	case p == nil || j.pid != 0 || p.ID != 0 && p.ID != pid:
		j.another(&gclog.Process{ID: pid})
	case !j.begun:
		p.ID = pid
	}
	j.pid = pid
}

// another ends what was of the process so far.
func (j *jdk) another(p *gclog.Process) {
	j.finish()
	*j = jdk{observe: j.observe, reading: j.reading, without: j.without, count: j.count, process: p}
}

// at returns when something was. The process begins with the first time. Another one
// does with a head, if it is younger than it was: in a container all have the number 1.
func (j *jdk) at(m moment) span {
	j.meet(m.pid)
	if j.begun && (j.headed && j.younger(m) || !j.comparable(m)) {
		facts, pid := *j.process, j.pid
		j.another(&facts)
		j.pid = pid
	}
	goesOn := j.headed && j.begun
	if goesOn && j.without && j.out != nil && j.wasBefore(m) {
		j.again(0, j.newestIn) // without numbers, only the times can tell it
	}
	j.headed = false
	if !j.begun {
		j.begin(m)
	}
	j.newest, j.newestIn = m, j.reading.file
	s := cutOff(m.up-j.base.up, m.upUnit)
	if j.base.wallUnit != 0 && m.wallUnit != 0 {
		s = cutOff(m.wall-j.base.wall, m.wallUnit)
	}
	if out, ok := j.out.(BreakObserver); ok && goesOn && j.without {
		out.Break(j.told, max(j.told, s.from))
	}
	return s
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

// wasBefore tells whether a file goes back to what was told. A damaged line does with one of
// its times only, a clock that was set with its date; rounding is less than a second.
func (j *jdk) wasBefore(m moment) bool {
	back := func(newest, newestUnit, at, unit int64) bool {
		return newestUnit == 0 || unit == 0 || newest-at > int64(time.Second)
	}
	return back(j.newest.wall, j.newest.wallUnit, m.wall, m.wallUnit) && back(j.newest.up, j.newest.upUnit, m.up, m.upUnit)
}

// once notes a collection whose pause, the first of a background one, ended then.
func (j *jdk) once(d *gclog.GCDetails, end int64) {
	if j.out == nil {
		return
	}
	if before, again := j.tally.add(d, end, j.reading.file); again {
		j.again(d.Number, before)
	}
}

// again ends the telling: this was told before.
func (j *jdk) again(number uint32, before int) {
	j.reading.again(j.process.ID, number, before)
	j.out = nil
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
	if j.beyond = j.count >= maxProcesses; j.beyond {
		return
	}
	j.count++
	j.out = j.observe(j.process)
}

// nobody observes a process.
func nobody(*gclog.Process) Observer { return nil }

// blank makes d an empty record that keeps the memory of its list.
func blank(d *gclog.GCDetails, n uint32) {
	d.Reset()
	d.Number, d.HasNumber = n, n != 0 // 0: a background collection that began before the session
	d.Sums, d.FromLog = true, true
}

// blockingOf returns the blocking collection with a number; nil if it was told.
func (j *jdk) blockingOf(n uint32, at span) *blocking {
	b := &j.blocking
	if n == b.Number && (b.open || b.told) {
		if b.told {
			return nil
		}
		b.bare = false
		return b
	}
	j.closeBlocking()
	if bg := &j.background; bg.open && bg.reset && !j.stats {
		j.closeBackground() // nothing more will come of it
	}
	blank(&b.GCDetails, n)
	b.open, b.told, b.bare, b.stats, b.begin, b.suspend, b.pools = true, false, false, false, span{}, gclog.Untold, pools{}
	b.Start, b.Suspended = at.from, at.from
	return b
}

// condemn takes generation and cause from what Java calls the pause, where no DotNet
// line tells better.
func (j *jdk) condemn(b *blocking, generation int, cause []byte) {
	if b.stats {
		return
	}
	b.Generation, b.Young = generation, generation < gclog.Gen2
	b.Reason, b.HasReason = javaReason(cause)
	if generation < gclog.Gen2 && j.background.running {
		b.Kind, b.Type = gclog.KindForeground, clr.TypeForeground
	}
}

// endBlocking tells a blocking collection whose pause has ended.
func (j *jdk) endBlocking(b *blocking, start, duration int64) {
	part := gclog.PausePart{Start: start, Duration: duration, Suspend: min(b.suspend, duration), Resume: gclog.Untold}
	b.Suspended, b.Start = start, start+max(0, part.Suspend)
	j.once(&b.GCDetails, start+duration)
	b.Pauses = append(b.Pauses, part)
	if b.HasSinceLast {
		b.Window = b.SinceLast + duration
	}
	j.settle(b)
	j.tellPause(&b.GCDetails, part)
	j.tellBlocking()
}

// closeBlocking tells the one that is open though the end of its pause was not told.
func (j *jdk) closeBlocking() {
	b := &j.blocking
	switch {
	case !b.open:
	case b.bare:
		b.open = false
	default:
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
		if b.stats && !b.HasCommittedBefore { // which would have told it
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
	part := gclog.PausePart{Kind: kind, Start: start, Duration: duration, Suspend: min(b.suspend, duration), Resume: gclog.Untold}
	b.begin, b.suspend = span{}, gclog.Untold
	switch {
	case kind == gclog.PauseInitial:
		b.Suspended, b.Start = start, start+max(0, part.Suspend)
		b.Flaws &^= gclog.FlawNoSuspend
		b.running = true
		j.once(&b.GCDetails, start+duration)
	case b.details.MarkEnd == 0: // what it does is not told
		b.running = false
	}
	if capacity > max(heap, j.committed) {
		j.committed = capacity
		b.CommittedBefore, b.HasCommittedBefore = uint64(capacity)*kibibyte, true
	}
	addPause(&b.GCDetails, part)
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
	b.open, b.ended, b.running = false, false, false
	if !b.HasEnd {
		b.Flaws |= gclog.FlawNoEnd
	}
	if !b.HasSizesAfter {
		b.Flaws |= gclog.FlawNoSizes
	}
	b.Complete = b.Flaws == 0
	j.tellGC(&b.GCDetails)
}

// closeEnded tells the one of which nothing more will come.
func (j *jdk) closeEnded() {
	if j.background.ended {
		j.closeBackground()
	}
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
		conclude(j.process, d)
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
