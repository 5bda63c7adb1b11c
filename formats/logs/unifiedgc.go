package logs

import (
	"bytes"
	"math"
	"time"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/parse/clr"
)

// What the lines of a unified log result in: records of collections, of which at most one blocking
// and one background one are open.

// blocking is a blocking collection whose record is still being filled in. Before its first line
// open is false; its lines set open, and its end, or the start of another collection, sets done.
type blocking struct {
	gclog.GCDetails
	open       bool
	done       bool  // its record was emitted or left out: later lines are ignored
	stats      bool  // its DotNet line was read; without one the collection is left out
	begin      span  // start of its pause, if a line contains it
	suspend    int64 // time to suspend
	hasSuspend bool
	summary    gclog.HeapSummary
}

// background is a background collection whose record is still being filled in. Its first line sets
// open; emitting its record clears open and ended.
type background struct {
	gclog.GCDetails
	details    gclog.BackgroundDetails
	summary    gclog.HeapSummary
	open       bool
	stats      bool  // one of its DotNet lines was read
	ended      bool  // its sizes were read: only details follow
	begin      span  // start of the open pause
	suspend    int64 // time to suspend in the open pause
	hasSuspend bool
	reset      bool // its last phase has ended

	inPhase      bool            // a phase is open
	phase        gclog.PhaseKind // the open phase
	began        span            // start of the phase
	emittedStart int64           // start of the phase, as emitted
	// sweepEnd may be only the end of the log: it is used when the lines after a sweep follow.
	sweepEnd    gclog.Phase
	hasSweepEnd bool // sweepEnd is set and was not emitted
}

// head handles the contents of a file's header: a different pid means a different process.
func (u *unified) head(facts *gclog.Process) {
	if p := u.process; p == nil || p.ID != 0 && p.ID != facts.ID {
		u.another(facts)
	} else {
		learnHead(p, facts)
	}
	u.headed = true
}

// learnHead handles a further header of a process. The number of heaps stays as at the start.
func learnHead(p, facts *gclog.Process) {
	before := *p
	*p = *facts
	p.Sync, p.UptimeAtSync = before.Sync, before.UptimeAtSync
	p.Limits, p.HasLimits = before.Limits, before.HasLimits
	if before.HeapCount != 0 {
		p.HeapCount = before.HeapCount
	}
}

// meet handles the pid in a line: a different pid means a different process. If header and lines
// disagree from the start, the header counts.
func (u *unified) meet(pid int64) {
	if pid == 0 || pid == u.pid {
		return
	}
	switch p := u.process; {
	case p == nil || u.pid != 0 || p.ID != 0 && p.ID != pid:
		u.another(&gclog.Process{ID: pid})
	case !u.observed:
		p.ID = pid
	}
	u.pid = pid
}

// another ends the current process instance and starts p.
func (u *unified) another(p *gclog.Process) {
	u.finish()
	u.life = life{process: p}
}

// at returns when something happened. The first time starts the process instance. A header starts
// another one if the process is younger than before it: in a container every process has pid 1.
func (u *unified) at(m moment) span {
	u.meet(m.pid)
	if u.observed && (u.headed && u.younger(m) || !u.comparable(m)) {
		facts, pid := *u.process, u.pid
		u.another(&facts)
		u.pid = pid
	}
	u.headed = false
	if !u.observed {
		u.beginLife(m)
	}
	u.newest = m
	if u.base.wallUnit != 0 && m.wallUnit != 0 {
		return cutOff(m.wall-u.base.wall, m.wallUnit)
	}
	return cutOff(m.up-u.base.up, m.upUnit)
}

// younger reports whether the process was younger at m than before. If the date goes back as well,
// the lines are only out of order.
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

// comparable reports whether m can be compared with the earlier times.
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
	u.base, u.observed = m, true
	u.process.Sync, u.process.UptimeAtSync = time.Unix(0, m.wall).UTC(), time.Duration(m.up)
	if u.beyond = u.count >= maxProcesses; u.beyond {
		return
	}
	u.count++
	u.out = u.observe(u.process)
}

// nobody observes no process.
func nobody(*gclog.Process) formats.Observer { return nil }

// once records a collection whose pause (for a background one the first pause) ended at end. If the
// collection was already emitted, nothing more is emitted.
func (u *unified) once(d *gclog.GCDetails, end int64) {
	if u.out == nil {
		return
	}
	if before, again := u.tally.add(d, end, u.reading.file); again {
		u.reading.again(u.process.ID, d.Number, before)
		u.out = nil
	}
}

// blank makes d an empty record, keeping the memory of its lists.
func blank(d *gclog.GCDetails, n uint32) {
	d.Reset()
	d.Number, d.HasNumber = n, n != 0 // 0: a background collection that started before the session
	d.FromLog = true
}

// blockingOf returns the blocking collection n; nil if it was already emitted or left out.
func (u *unified) blockingOf(n uint32, at span) *blocking {
	b := &u.blocking
	if n == b.Number && (b.open || b.done) {
		if b.done {
			return nil
		}
		return b
	}
	u.closeBlocking()
	blank(&b.GCDetails, n)
	b.open, b.done, b.stats, b.begin, b.suspend, b.hasSuspend = true, false, false, span{}, 0, false
	b.Start, b.Suspended = at.from, at.from
	return b
}

// endBlocking emits a blocking collection whose pause has ended.
func (u *unified) endBlocking(b *blocking, start, duration int64) {
	if !b.stats {
		u.leaveOut(b)
		return
	}
	part := gclog.PausePart{Start: start, Duration: duration, Suspend: min(b.suspend, duration), HasSuspend: b.hasSuspend}
	b.Suspended, b.Start = start, start+part.Suspend
	u.once(&b.GCDetails, start+duration)
	b.Pauses = append(b.Pauses, part)
	if b.HasSinceLast {
		b.Window = b.SinceLast + duration
	}
	u.settle(b)
	u.emitPause(&b.GCDetails, part)
	u.emitBlocking()
}

// leaveOut skips a collection without its DotNet line: its values would be guesses. Its number is
// then missing.
func (u *unified) leaveOut(b *blocking) {
	b.open, b.done = false, true
	u.reading.plain = true
}

// closeBlocking emits the open blocking collection, though the end of its pause was not seen.
func (u *unified) closeBlocking() {
	b := &u.blocking
	switch {
	case !b.open:
	case !b.stats:
		u.leaveOut(b)
	default:
		b.Flaws |= gclog.FlawNoEnd | gclog.FlawNoRestart
		u.settle(b)
		u.emitBlocking()
	}
}

func (u *unified) emitBlocking() {
	u.blocking.open, u.blocking.done = false, true
	u.emitGC(&u.blocking.GCDetails)
}

// settle derives what follows from all lines of a blocking collection.
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

// backgroundOf returns the background collection n.
func (u *unified) backgroundOf(n uint32, at span) *background {
	u.closeBlocking()
	b := &u.background
	if b.open && b.Number == n {
		return b
	}
	u.closeBackground()
	blank(&b.GCDetails, n)
	*b = background{GCDetails: b.GCDetails, open: true}
	b.Background = &b.details
	b.Generation, b.Kind, b.Type = gclog.Gen2, gclog.KindBackground, clr.TypeBackground
	b.Start, b.Suspended = at.from, at.from
	b.Flaws = gclog.FlawNoSuspend
	if n == 0 {
		b.Flaws = gclog.FlawNoStart
	}
	return b
}

// endPause emits a pause of a background collection, which is identified by its words.
func (u *unified) endPause(b *background, kind gclog.PauseKind, start, duration int64, heap, capacity int64) {
	part := gclog.PausePart{Kind: kind, Start: start, Duration: duration, Suspend: min(b.suspend, duration), HasSuspend: b.hasSuspend}
	b.begin, b.suspend, b.hasSuspend = span{}, 0, false
	u.reading.plain = u.reading.plain || !b.stats
	if kind == gclog.PauseFinal && b.stats && !b.HasReason && b.Flaws&gclog.FlawNoSuspend != 0 { // only its start has the reason
		b.Flaws = b.Flaws&^gclog.FlawNoSuspend | gclog.FlawNoStart
	}
	if kind == gclog.PauseInitial {
		b.Suspended, b.Start = start, start+part.Suspend
		b.Flaws &^= gclog.FlawNoSuspend
		u.once(&b.GCDetails, start+duration)
	}
	if capacity > max(heap, u.committed) {
		u.committed = capacity
		b.CommittedBefore, b.HasCommittedBefore = uint64(capacity)*kibibyte, true
	}
	addPause(&b.GCDetails, part)
	u.emitPause(&b.GCDetails, part)
}

// beginPhase handles the start of a phase. Headers repeat the start of an open phase.
func (u *unified) beginPhase(b *background, kind gclog.PhaseKind, at span) {
	if b.inPhase && b.phase == kind {
		return
	}
	b.inPhase, b.phase, b.began = true, kind, at
	b.emittedStart = at.nearest(max(1, u.emittedUntil)) // at the end of a pause; 0 is not a valid time of a phase
	if kind == gclog.PhaseMark {
		b.details.MarkStart = b.emittedStart
	} else {
		b.details.SweepStart = b.emittedStart
	}
	u.emitPhase(b, gclog.Phase{Kind: kind, Start: b.emittedStart, Time: b.emittedStart})
}

// endPhase handles the end of a phase that lasted for least to most.
func (u *unified) endPhase(b *background, kind gclog.PhaseKind, at span, least, most int64) {
	if !b.inPhase || b.phase != kind {
		b.began = span{at.from - most, at.to - least}
		b.emittedStart = b.began.middle()
	}
	b.inPhase = false
	at = at.after(u.emittedUntil)
	start := b.began.and(span{at.from - most, at.to - least}).nearest(b.emittedStart)
	end := max(start, at.nearest(start+least))
	p := gclog.Phase{Kind: kind, End: true, Start: start, Time: end}
	if kind == gclog.PhaseSweep {
		b.details.SweepStart = start
		b.sweepEnd, b.hasSweepEnd = p, true
		return
	}
	b.details.MarkStart, b.details.MarkEnd = start, end
	u.emitPhase(b, p)
}

// confirm emits the end of the sweep, because the collection has continued.
func (u *unified) confirm(b *background) {
	if !b.hasSweepEnd {
		return
	}
	b.hasSweepEnd, b.reset = false, true
	b.details.SweepEnd = b.sweepEnd.Time
	b.End, b.HasEnd = b.sweepEnd.Time, true
	u.emitPhase(b, b.sweepEnd)
}

// closeBackground emits the record of the open background collection.
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
	u.emitGC(&b.GCDetails)
}

// closeEnded emits the background collection if nothing more will come for it.
func (u *unified) closeEnded() {
	if u.background.ended {
		u.closeBackground()
	}
}

func (u *unified) finish() {
	u.closeBlocking()
	u.closeBackground()
}

func (u *unified) emitPause(d *gclog.GCDetails, part gclog.PausePart) {
	u.emittedUntil = part.Start + part.Duration
	u.pause = gclog.Pause{PausePart: part, Ticks: part.Start, GC: d}
	if u.out != nil {
		u.out.Pause(&u.pause)
	}
}

func (u *unified) emitPhase(b *background, p gclog.Phase) {
	u.emittedUntil = p.Time
	u.phase = p
	u.phase.GC = &b.GCDetails
	if u.out != nil {
		u.out.Phase(&u.phase)
	}
}

func (u *unified) emitGC(d *gclog.GCDetails) {
	d.StartTicks = d.Start // the clock of a log is in nanoseconds
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
