package gclog

import "github.com/gclog/gclog/parse/clr"

// A suspension is the time from a GCSuspendEEBegin to the GCRestartEEEnd of the same thread.
// Suspensions for reasons other than the GC are kept only so that their ends are not mistaken for
// those of others.
//
// It is suspending the threads until suspended is set, in effect until restart is set, and then
// resuming them until GCRestartEEEnd, or until abandon gives it up. Only the Reducer changes it.
type suspension struct {
	thread    uint64
	reason    clr.SuspendReason
	begin     int64         // GCSuspendEEBegin; unknownTime for the orphan
	ticks     int64         // begin in ticks of the stream's clock
	suspended int64         // GCSuspendEEEnd, all threads suspended; unknownTime: not yet, or lost
	restart   int64         // GCRestartEEBegin, threads being resumed; unknownTime: not yet, or lost
	lost      uint64        // events lost during it
	gcs       []*collection // collections in it, in the order of their starts
}

// maxSuspensions limits how many can be open at a time. Real processes have two or three; more
// means that events were lost.
const maxSuspensions = 16

func (s *suspension) forGC() bool {
	return s.reason == clr.SuspendForGC || s.reason == clr.SuspendForGCPrep
}

// isOver reports whether s must have ended before a collection that seems to start in it: events
// were lost in the meantime, and the only collections that start after another one in the same
// suspension are the full collection of provisional mode, a background collection, and any
// collection in the suspension of a background one.
func (s *suspension) isOver(e *clr.GCStart) bool {
	return s.lost > 0 && len(s.gcs) > 0 && e.Reason != clr.ReasonPMFullGC && e.Type != clr.TypeBackground &&
		s.backgroundGC() == nil
}

// stops returns the time from which on nothing can be missing before a collection that starts in s:
// when the suspension for it started. It returns now if that is uncertain.
func (s *suspension) stops(now Stamp) Stamp {
	if s == nil || s.begin == unknownTime || s.lost > 0 || len(s.gcs) > 0 {
		return now
	}
	return Stamp{Time: s.begin, Ticks: s.ticks, Thread: now.Thread}
}

// granted reports whether the threads are suspended because of s.
func (s *suspension) granted() bool { return s.suspended != unknownTime && s.restart == unknownTime }

func (r *Reducer) suspendBegin(at Stamp, reason clr.SuspendReason, count uint32) {
	if old := r.suspensionOf(at.Thread); old != nil {
		r.abandon(old) // its end was lost: a thread has one suspension at a time
	}
	if len(r.suspensions) >= maxSuspensions {
		r.abandon(r.suspensions[0])
	}
	s := r.newSuspension()
	s.thread, s.reason, s.begin, s.ticks = at.Thread, reason, at.Time, at.Ticks
	r.suspensions = append(r.suspensions, s)
	if reason == clr.SuspendForGCPrep {
		c := r.openBackground()
		// With this reason the count is reliable. It is the number of a collection that started before
		// the session, whose other events would report it only when the collection has ended.
		if c != nil && !c.Known.Has(GroupNumber) && count != 0 {
			c.Number = count
			c.Known |= GroupNumber
		}
		if c != nil && c.marking() {
			r.phase(c, PhaseMark, true, at.Time, s)
		}
	}
	if reason == clr.SuspendForGC && r.hasTriggered {
		if r.triggered.Thread != at.Thread {
			r.server, r.gcThread = flavourServer, at.Thread
		}
	}
}

// marking reports whether the concurrent mark phase is in progress.
func (c *collection) marking() bool {
	b := &c.background
	return c.restarted && b.MarkStart != 0 && b.MarkEnd == 0
}

func (r *Reducer) suspendEnd(at Stamp) {
	s := r.suspensionOf(at.Thread)
	if s == nil {
		return
	}
	if s.suspended != unknownTime {
		r.abandon(s) // this ends another suspension, whose start was lost
		return
	}
	s.suspended = at.Time
	if r.orphan != nil {
		r.closeOrphan(FlawNoSuspend | FlawNoRestart)
	}
	// The threads can be suspended for one reason only. A suspension in effect that was never seen
	// to restart has lost its end. One that is restarting may report its end late.
	for i := 0; i < len(r.suspensions); i++ {
		if o := r.suspensions[i]; o != s && o.granted() {
			r.abandon(o)
			i--
		}
	}
}

func (r *Reducer) restartBegin(at Stamp) {
	if s := r.suspensionOf(at.Thread); s != nil {
		s.restart = at.Time
	}
}

func (r *Reducer) restartEnd(at Stamp) {
	s := r.suspensionOf(at.Thread)
	if s == nil {
		if r.orphan != nil {
			r.closeOrphan(FlawNoSuspend)
		} else if c := r.ended.get(at.Thread); c != nil && c.Flaws&FlawNoStart != 0 && !c.Known.Has(GroupGlobal) {
			// A collection ended here without a start and was followed by a restart: it was
			// blocking.
			c.Type, c.Kind, c.Background = clr.TypeBlocking, KindBlocking, nil
			c.Flaws |= FlawNoSuspend
			r.complete(c)
		}
		return
	}
	at.Time = s.inOrder(at.Time)
	r.suspensions = without(r.suspensions, s)
	if s.forGC() {
		r.blocked += at.Time - s.begin
		r.share(s, at)
	}
	r.emitSuspension(s, at)
	r.freeSuspension(s)
	r.emitPhases()
}

// inOrder completes the times of s with its end, and returns that. A time earlier than the one
// before it (the stream's time went back) is raised to that, and the records are flagged.
func (s *suspension) inOrder(end int64) int64 {
	last, ordered := s.begin, true
	for _, t := range []*int64{&s.suspended, &s.restart, &end} {
		switch {
		case *t == unknownTime:
			continue
		case *t < last:
			*t, ordered = last, false
		}
		last = *t
	}
	if !ordered {
		for _, c := range s.gcs {
			c.Flaws |= FlawTime
		}
	}
	return end
}

// share divides a suspension among the collections in it, and emits the parts as pauses in time
// order, each record after its last pause.
//
//   - A blocking collection gets all of it. If another blocking one follows (provisional mode), the
//     first gets it up to the start of the second.
//   - A background collection gets what remains after the ephemeral collections that ran in its
//     suspension, whose part is from their GCStart to their GCEnd.
//   - A suspension without a collection is another pause of the background collection, or belongs
//     to none.
func (r *Reducer) share(s *suspension, at Stamp) {
	bgc := s.backgroundGC()
	if bgc == nil && s.reason == clr.SuspendForGCPrep {
		bgc = r.openBackground()
	}
	if len(s.gcs) == 0 && bgc == nil {
		r.pauseWithoutGC(s, at)
		return
	}
	r.emitPhasesOf(s)
	gcs := s.gcs
	start := s.begin
	suspend, hasSuspend := s.suspendTime()
	resume, hasResume := s.resumeTime(at.Time)
	for i, c := range gcs {
		if c == bgc {
			continue
		}
		part := PausePart{Kind: PauseBlocking, Start: start, HasSuspend: true, HasResume: true}
		end := at.Time
		if c.InsideBGCStart && bgc != nil {
			if c.Known.Has(GroupEnd) {
				end = start + (c.End - c.Start)
			}
		} else {
			part.Suspend, part.HasSuspend = suspend, hasSuspend
			suspend, hasSuspend = 0, true
			if i+1 < len(gcs) {
				end = gcs[i+1].Start
			}
		}
		end = min(max(end, start), at.Time)
		part.Duration = end - start
		if bgc == nil && i == len(gcs)-1 {
			part.Resume, part.HasResume = resume, hasResume
		}
		r.pause(c, part, s)
		c.sus = nil
		r.complete(c)
		start = end
	}
	if bgc != nil {
		part := PausePart{
			Start:      start,
			Duration:   at.Time - start,
			Suspend:    suspend,
			HasSuspend: hasSuspend,
			HasResume:  hasResume,
		}
		part.Resume = min(resume, part.Duration)
		r.backgroundPause(bgc, part, s, at)
	}
}

func (r *Reducer) backgroundPause(c *collection, part PausePart, s *suspension, at Stamp) {
	initial := c.sus == s
	switch {
	case initial && c.demoted():
		c.DemotedBGC, c.Kind = true, KindBlocking
		c.Background = nil
		part.Kind = PauseBlocking
		c.sus = nil
		r.pause(c, part, s)
		r.complete(c)
		return
	case initial:
		part.Kind = PauseInitial
		c.sus = nil
		c.restarted = true
		r.pause(c, part, s)
		r.phase(c, PhaseMark, false, at.Time, s)
	default:
		part.Kind = PauseFinal
		r.sizes.budgets.sweep()
		r.pause(c, part, s)
		if c.background.SweepStart == 0 && !c.Known.Has(GroupEnd) {
			r.phase(c, PhaseSweep, false, at.Time, s)
		}
	}
}

// pause adds a part to the record of its collection and emits it.
func (r *Reducer) pause(c *collection, part PausePart, s *suspension) {
	if len(c.Pauses) < maxPauses {
		c.Pauses = append(c.Pauses, part)
	} else {
		c.Pauses[maxPauses-1].Duration += part.Duration // keeps the sum
	}
	if c.readyAtPause() {
		r.settle(c)
	}
	r.emitPause(Pause{PausePart: part, Ticks: s.ticks, Thread: s.thread, GC: &c.GCDetails})
}

// emitPause, emitPhase and emitGap pass on memory of the Reducer: a record would otherwise be
// allocated each time.
func (r *Reducer) emitPause(p Pause) {
	r.sizes.rate.pause(&p)
	r.pauseArg = p
	r.out(&r.pauseArg)
}

func (r *Reducer) emitPhase(p Phase) {
	r.phaseArg = p
	r.out(&r.phaseArg)
}

func (r *Reducer) emitGap(g Gap) {
	r.sizes.rate = rate{}
	r.gapArg = g
	r.out(&r.gapArg)
}

func (r *Reducer) emitSuspension(s *suspension, at Stamp) {
	r.suspensionArg = Suspension{
		Reason:   s.reason,
		Start:    s.begin,
		Duration: at.Time - s.begin,
		Ticks:    s.ticks,
		Thread:   s.thread,
	}
	r.suspensionArg.Suspend, r.suspensionArg.HasSuspend = s.suspendTime()
	r.out(&r.suspensionArg)
}

// pauseWithoutGC emits a suspension that no collection explains.
func (r *Reducer) pauseWithoutGC(s *suspension, at Stamp) {
	kind, used := r.causeWithoutGC(s)
	part := PausePart{Kind: kind, Start: s.begin, Duration: at.Time - s.begin}
	part.Suspend, part.HasSuspend = s.suspendTime()
	part.Resume, part.HasResume = s.resumeTime(at.Time)
	r.emitPause(Pause{PausePart: part, Ticks: s.ticks, Thread: s.thread, UsedNumber: used})
}

// causeWithoutGC returns what a suspension without a collection was for, and the collection number
// that it used up.
//
// A no-GC region requests a collection and uses up a number, though no collection is done;
// refreshing the memory limit does neither. A suspension with reason 6 is a change of the heap
// count if server GC's thread makes it; otherwise a thread of the program registers the callback of
// a no-GC region. If events were lost, there may just as well have been a collection.
//
// NativeAOT suspends as for a new memory limit also to answer GC.GetTotalAllocatedBytes.
func (r *Reducer) causeWithoutGC(s *suspension) (kind PauseKind, used uint32) {
	if s.lost > 0 {
		r.hasTriggered = false
		return PauseUnknown, 0
	}
	if s.reason == clr.SuspendForGC {
		if !r.hasTriggered {
			if r.process == nil || r.process.Flavor != FlavorCoreCLR {
				return PauseUnknown, 0
			}
			return PauseMemoryLimit, 0
		}
		r.hasTriggered = false
		r.consumed++
		r.sizes.budgets.replace()
		if r.seen {
			used = r.last + r.consumed
		}
		return PauseNoGCRegion, used
	}
	switch {
	case r.server == flavourUnknown:
		return PauseUnknown, 0
	case r.server == flavourServer && s.thread == r.gcThread:
		return PauseHeapCount, 0
	}
	return PauseNoGCRegion, 0
}

// suspendTime returns how long it took to suspend the threads. If the event that reports it was
// lost, the start of the first collection is used instead, if there is one.
func (s *suspension) suspendTime() (took int64, known bool) {
	switch {
	case s.suspended != unknownTime:
		return s.suspended - s.begin, true
	case len(s.gcs) > 0:
		return max(0, s.gcs[0].Start-s.begin), true
	}
	return 0, false
}

// resumeTime returns how long it took to resume the threads, unless the start of that was lost.
func (s *suspension) resumeTime(end int64) (took int64, known bool) {
	if s.restart == unknownTime {
		return 0, false
	}
	return end - s.restart, true
}

// backgroundGC returns the collection that started in s as a background one, or nil.
func (s *suspension) backgroundGC() *collection {
	for _, c := range s.gcs {
		if c.Type == clr.TypeBackground {
			return c
		}
	}
	return nil
}

// activeSuspension returns the suspension that a collection starting now belongs to, or nil.
func (r *Reducer) activeSuspension() *suspension {
	var found *suspension
	for _, s := range r.suspensions {
		if !s.forGC() || s.restart != unknownTime {
			continue
		}
		if s.granted() {
			return s
		}
		if found == nil || s.reason == clr.SuspendForGC {
			found = s // its GCSuspendEEEnd was lost
		}
	}
	return found
}

func (r *Reducer) suspensionOf(thread uint64) *suspension {
	for _, s := range r.suspensions {
		if s.thread == thread {
			return s
		}
	}
	return nil
}

// abandon gives up a suspension whose end was lost, and the collections in it.
func (r *Reducer) abandon(s *suspension) {
	r.suspensions = without(r.suspensions, s)
	r.abandonGCs(s)
	r.freeSuspension(s)
	r.emitPhases()
}

func (r *Reducer) abandonGCs(s *suspension) {
	for _, c := range s.gcs {
		c.sus = nil
		c.Flaws |= FlawNoRestart
		if c.Type == clr.TypeBackground && !c.Known.Has(GroupEnd) {
			c.restarted = true // it continues while the program runs
			continue
		}
		r.complete(c)
	}
}

// closeOrphan completes the collections whose suspension started before the session, or was lost.
func (r *Reducer) closeOrphan(flaw Flaw) {
	s := r.orphan
	r.orphan = nil
	for _, c := range s.gcs {
		c.sus = nil
		c.Flaws |= flaw
		if c.Type == clr.TypeBackground && !c.Known.Has(GroupEnd) {
			c.restarted = true
			r.phase(c, PhaseMark, false, r.now, nil)
			continue
		}
		r.complete(c)
	}
	r.freeSuspension(s)
}

func (r *Reducer) newSuspension() *suspension {
	var s *suspension
	if n := len(r.freeSus); n > 0 {
		s, r.freeSus = r.freeSus[n-1], r.freeSus[:n-1]
	} else {
		s = &suspension{}
	}
	*s = suspension{begin: unknownTime, suspended: unknownTime, restart: unknownTime, gcs: s.gcs[:0]}
	return s
}

func (r *Reducer) freeSuspension(s *suspension) { r.freeSus = append(r.freeSus, s) }

// phase records the start or end of a concurrent phase and emits it, or holds it back until the
// program resumes. own is the suspension that the phase borders on.
func (r *Reducer) phase(c *collection, kind PhaseKind, end bool, at int64, own *suspension) {
	b := &c.background
	p := Phase{Kind: kind, End: end, Time: at, Start: at, GC: &c.GCDetails}
	switch {
	case kind == PhaseMark && !end:
		b.MarkStart = at
	case kind == PhaseMark:
		p.Time = max(at, b.MarkStart)
		b.MarkEnd, p.Start = p.Time, b.MarkStart
	case !end:
		b.SweepStart = at
	default:
		p.Time = max(at, b.SweepStart)
		b.SweepEnd, p.Start = p.Time, b.SweepStart
	}
	if r.pausedBy(own) && len(r.phases) < maxPhases {
		r.phases = append(r.phases, waitingPhase{p, own})
		return
	}
	r.emitPhases()
	r.emitPhase(p)
}

// A waitingPhase is held back until the pause that it fell into ends. The suspension that it
// borders on does not count.
type waitingPhase struct {
	Phase
	own *suspension
}

const maxPhases = 8

// pausedBy reports whether a suspension other than own is open.
func (r *Reducer) pausedBy(own *suspension) bool {
	for _, s := range r.suspensions {
		if s != own && s.forGC() {
			return true
		}
	}
	return false
}

// emitPhases emits the phases held back, up to the first that still falls into an open pause.
func (r *Reducer) emitPhases() {
	n := 0
	for n < len(r.phases) && !r.pausedBy(r.phases[n].own) {
		r.emitPhase(r.phases[n].Phase)
		n++
	}
	r.dropPhases(n)
}

// emitPhasesOf emits all phases up to the last that borders on s, whose pause is emitted next.
func (r *Reducer) emitPhasesOf(s *suspension) {
	n := 0
	for i := range r.phases {
		if r.phases[i].own == s {
			n = i + 1
		}
	}
	for i := range n {
		r.emitPhase(r.phases[i].Phase)
	}
	r.dropPhases(n)
}

func (r *Reducer) dropPhases(n int) {
	r.phases = r.phases[:copy(r.phases, r.phases[n:])]
}
