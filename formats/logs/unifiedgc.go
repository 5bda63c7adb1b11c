package logs

import (
	"bytes"
	"math"
	"time"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/parse/clr"
)

// What the lines of a unified log make: records of collections, of which one blocking and
// one background are open at most.

// blocking is a blocking collection in the making.
type blocking struct {
	gclog.GCDetails
	open    bool
	told    bool  // what comes late is left out
	stats   bool  // its DotNet line was read; without one it is left out
	begin   span  // of its pause, if a line reports it
	suspend int64 // how long it took to stop the threads; gclog.Untold
	summary gclog.HeapSummary
}

// background is a background collection in the making.
type background struct {
	gclog.GCDetails
	details gclog.BackgroundDetails
	summary gclog.HeapSummary
	open    bool
	stats   bool  // a DotNet line of it was read
	ended   bool  // its sizes were told: only details follow
	begin   span  // of the pause that is open
	suspend int64 // of the pause that is open, if a line told it; gclog.Untold
	reset   bool  // its last phase has ended

	inPhase bool
	phase   gclog.PhaseKind
	began   span  // the start of the phase
	told    int64 // the same, as it was told
	// sweepEnd may be the end of the log only: it counts when what follows a sweep does.
	sweepEnd    gclog.Phase
	hasSweepEnd bool
}

// head takes what the head of a file says: another number is another process.
func (u *unified) head(facts *gclog.Process) {
	if p := u.process; p == nil || p.ID != 0 && p.ID != facts.ID {
		u.another(facts)
	} else {
		learnHead(p, facts)
	}
	u.headed = true
}

// learnHead takes what a further head of a process says. The number of heaps stays that of
// the start.
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
// process. Where head and lines disagree from the start, that of the head counts.
func (u *unified) meet(pid int64) {
	if pid == 0 || pid == u.pid {
		return
	}
	switch p := u.process; {
	case p == nil || u.pid != 0 || p.ID != 0 && p.ID != pid:
		u.another(&gclog.Process{ID: pid})
	case !u.begun:
		p.ID = pid
	}
	u.pid = pid
}

// another ends what was of the process so far.
func (u *unified) another(p *gclog.Process) {
	u.finish()
	u.life = life{process: p}
}

// at returns when something was. The process begins with the first time. Another one
// does with a head, if it is younger than it was: in a container all have the number 1.
func (u *unified) at(m moment) span {
	u.meet(m.pid)
	if u.begun && (u.headed && u.younger(m) || !u.comparable(m)) {
		facts, pid := *u.process, u.pid
		u.another(&facts)
		u.pid = pid
	}
	u.headed = false
	if !u.begun {
		u.beginLife(m)
	}
	u.newest = m
	if u.base.wallUnit != 0 && m.wallUnit != 0 {
		return cutOff(m.wall-u.base.wall, m.wallUnit)
	}
	return cutOff(m.up-u.base.up, m.upUnit)
}

// younger reports whether a process was younger at m than before. Where the date goes back
// as well it is only that the lines are not in order.
func (u *unified) younger(m moment) bool {
	back := u.newest.up - m.up
	switch {
	case m.upUnit == 0 || u.newest.upUnit == 0:
		return false
	case m.wallUnit == 0 || u.newest.wallUnit == 0:
		return back > int64(time.Minute)
	}
	return back > int64(time.Second) && m.wall-u.newest.wall > int64(time.Second)-back
}

// comparable reports whether times have to do with those before.
func (u *unified) comparable(m moment) bool {
	return u.base.wallUnit != 0 && m.wallUnit != 0 || u.base.upUnit != 0 && m.upUnit != 0
}

func (u *unified) beginLife(m moment) {
	if u.process == nil {
		u.process = &gclog.Process{}
	}
	if m.wallUnit == 0 {
		m.up = 0
	}
	u.base, u.begun = m, true
	u.process.Sync, u.process.UptimeAtSync = time.Unix(0, m.wall).UTC(), time.Duration(m.up)
	if u.beyond = u.count >= maxProcesses; u.beyond {
		return
	}
	u.count++
	u.out = u.observe(u.process)
}

// nobody observes a process.
func nobody(*gclog.Process) Observer { return nil }

// once notes a collection whose pause, the first of a background one, ended then. What was
// told before ends the telling.
func (u *unified) once(d *gclog.GCDetails, end int64) {
	if u.out == nil {
		return
	}
	if before, again := u.tally.add(d, end, u.reading.file); again {
		u.reading.again(u.process.ID, d.Number, before)
		u.out = nil
	}
}

// blank makes d an empty record that keeps the memory of its list.
func blank(d *gclog.GCDetails, n uint32) {
	d.Reset()
	d.Number, d.HasNumber = n, n != 0 // 0: a background collection that began before the session
	d.FromLog = true
}

// blockingOf returns the blocking collection with a number; nil if it was told.
func (u *unified) blockingOf(n uint32, at span) *blocking {
	b := &u.blocking
	if n == b.Number && (b.open || b.told) {
		if b.told {
			return nil
		}
		return b
	}
	u.closeBlocking()
	blank(&b.GCDetails, n)
	b.open, b.told, b.stats, b.begin, b.suspend = true, false, false, span{}, gclog.Untold
	b.Start, b.Suspended = at.from, at.from
	return b
}

// endBlocking tells a blocking collection whose pause has ended.
func (u *unified) endBlocking(b *blocking, start, duration int64) {
	if !b.stats {
		u.leaveOut(b)
		return
	}
	part := gclog.PausePart{Start: start, Duration: duration, Suspend: min(b.suspend, duration), Resume: gclog.Untold}
	b.Suspended, b.Start = start, start+max(0, part.Suspend)
	u.once(&b.GCDetails, start+duration)
	b.Pauses = append(b.Pauses, part)
	if b.HasSinceLast {
		b.Window = b.SinceLast + duration
	}
	u.settle(b)
	u.tellPause(&b.GCDetails, part)
	u.tellBlocking()
}

// leaveOut passes over a collection without its DotNet line: what it was would be a guess. Its
// number is missing then.
func (u *unified) leaveOut(b *blocking) {
	b.open, b.told = false, true
	u.reading.plain = true
}

// closeBlocking tells the one that is open though the end of its pause was not told.
func (u *unified) closeBlocking() {
	b := &u.blocking
	switch {
	case !b.open:
	case !b.stats:
		u.leaveOut(b)
	default:
		b.Flaws |= gclog.FlawNoEnd | gclog.FlawNoRestart
		u.settle(b)
		u.tellBlocking()
	}
}

func (u *unified) tellBlocking() {
	u.blocking.open, u.blocking.told = false, true
	u.tellGC(&u.blocking.GCDetails)
}

// settle finds what follows from all lines of a blocking collection.
func (u *unified) settle(b *blocking) {
	if !b.HasSizesAfter {
		b.Flaws |= gclog.FlawNoSizes
	}
	switch {
	case b.HasCommittedAfter:
		u.committed = int64(b.CommittedAfter / kibibyte)
	case b.HasCommittedBefore:
		u.committed = int64(b.CommittedBefore / kibibyte)
	}
	b.Complete = b.Flaws == 0
}

// backgroundOf returns the background collection with a number.
func (u *unified) backgroundOf(n uint32, at span) *background {
	u.closeBlocking()
	b := &u.background
	if b.open && b.Number == n {
		return b
	}
	u.closeBackground()
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

// endPause tells a pause of a background collection, which is known by its words.
func (u *unified) endPause(b *background, kind gclog.PauseKind, start, duration int64, heap, capacity int64) {
	part := gclog.PausePart{Kind: kind, Start: start, Duration: duration, Suspend: min(b.suspend, duration), Resume: gclog.Untold}
	b.begin, b.suspend = span{}, gclog.Untold
	u.reading.plain = u.reading.plain || !b.stats
	if kind == gclog.PauseInitial {
		b.Suspended, b.Start = start, start+max(0, part.Suspend)
		b.Flaws &^= gclog.FlawNoSuspend
		u.once(&b.GCDetails, start+duration)
	}
	if capacity > max(heap, u.committed) {
		u.committed = capacity
		b.CommittedBefore, b.HasCommittedBefore = uint64(capacity)*kibibyte, true
	}
	addPause(&b.GCDetails, part)
	u.tellPause(&b.GCDetails, part)
}

// beginPhase takes the start of a phase. Heads repeat the start of an open one.
func (u *unified) beginPhase(b *background, kind gclog.PhaseKind, at span) {
	if b.inPhase && b.phase == kind {
		return
	}
	b.inPhase, b.phase, b.began = true, kind, at
	b.told = at.nearest(max(1, u.told)) // with the end of a pause; 0 is no time of a phase
	if kind == gclog.PhaseMark {
		b.details.MarkStart = b.told
	} else {
		b.details.SweepStart = b.told
	}
	u.tellPhase(b, gclog.Phase{Kind: kind, Start: b.told, Time: b.told})
}

// endPhase takes the end of a phase, which lasted for least to most.
func (u *unified) endPhase(b *background, kind gclog.PhaseKind, at span, least, most int64) {
	if !b.inPhase || b.phase != kind {
		b.began = span{at.from - most, at.to - least}
		b.told = b.began.middle()
	}
	b.inPhase = false
	at = at.after(u.told)
	start := b.began.and(span{at.from - most, at.to - least}).nearest(b.told)
	end := max(start, at.nearest(start+least))
	p := gclog.Phase{Kind: kind, End: true, Start: start, Time: end}
	if kind == gclog.PhaseSweep {
		b.details.SweepStart = start
		b.sweepEnd, b.hasSweepEnd = p, true
		return
	}
	b.details.MarkStart, b.details.MarkEnd = start, end
	u.tellPhase(b, p)
}

// confirm tells the end of the sweep, because the collection has gone on.
func (u *unified) confirm(b *background) {
	if !b.hasSweepEnd {
		return
	}
	b.hasSweepEnd, b.reset = false, true
	b.details.SweepEnd = b.sweepEnd.Time
	b.End, b.HasEnd = b.sweepEnd.Time, true
	u.tellPhase(b, b.sweepEnd)
}

// closeBackground tells the record of the background collection that is open.
func (u *unified) closeBackground() {
	b := &u.background
	if !b.open {
		return
	}
	b.open, b.ended = false, false
	if !b.HasEnd {
		b.Flaws |= gclog.FlawNoEnd
	}
	if !b.HasSizesAfter {
		b.Flaws |= gclog.FlawNoSizes
	}
	b.Complete = b.Flaws == 0
	u.tellGC(&b.GCDetails)
}

// closeEnded tells the one of which nothing more will come.
func (u *unified) closeEnded() {
	if u.background.ended {
		u.closeBackground()
	}
}

func (u *unified) finish() {
	u.closeBlocking()
	u.closeBackground()
}

func (u *unified) tellPause(d *gclog.GCDetails, part gclog.PausePart) {
	u.told = part.Start + part.Duration
	u.pause = gclog.Pause{PausePart: part, Ticks: part.Start, GC: d}
	if u.out != nil {
		u.out.Pause(&u.pause)
	}
}

func (u *unified) tellPhase(b *background, p gclog.Phase) {
	u.told = p.Time
	u.phase = p
	u.phase.GC = &b.GCDetails
	if u.out != nil {
		u.out.Phase(&u.phase)
	}
}

func (u *unified) tellGC(d *gclog.GCDetails) {
	d.StartTicks = d.Start // the clock of a log has nanoseconds
	d.Index = u.index
	u.index++
	if u.out != nil {
		conclude(u.process, d)
		u.out.GC(d)
	}
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
