package gclog

import "github.com/gclog/gclog/parse/clr"

// A suspension is the time from a GCSuspendEEBegin to the GCRestartEEEnd of the
// same thread. Those with other reasons than the GC's are kept only so that their
// ends are not taken for the ends of others.
type suspension struct {
	thread  uint64
	reason  clr.SuspendReason
	begin   int64 // unknownTime for the orphan
	ticks   int64
	stood   int64  // GCSuspendEEEnd; unknownTime: not yet, or lost
	restart int64  // GCRestartEEBegin; likewise
	lost    uint64 // events, in it
	gcs     []*collection
}

// maxSuspensions is how many can be begun at a time. Real processes have two or
// three; more is a stream with losses.
const maxSuspensions = 16

func (s *suspension) forGC() bool {
	return s.reason == clr.SuspendForGC || s.reason == clr.SuspendForGCPrep
}

// isOver reports whether s must have ended before a collection that seems to start in it:
// events were lost since, and only the full collection of provisional mode and a background
// one start after another one in the same suspension, or any in that of a background one.
func (s *suspension) isOver(e *clr.GCStart) bool {
	return s.lost > 0 && len(s.gcs) > 0 && e.Reason != clr.ReasonPMFullGC && e.Type != clr.TypeBackground && s.backgroundGC() == nil
}

// stops is since when nothing can be missing before a collection that starts in s: since the
// program was being stopped for it. It is now if that is not sure.
func (s *suspension) stops(now Stamp) Stamp {
	if s == nil || s.begin == unknownTime || s.lost > 0 || len(s.gcs) > 0 {
		return now
	}
	return Stamp{Time: s.begin, Ticks: s.ticks, Thread: now.Thread}
}

// granted reports whether the threads stand because of s.
func (s *suspension) granted() bool { return s.stood != unknownTime && s.restart == unknownTime }

func (r *Reducer) suspendBegin(at Stamp, reason clr.SuspendReason) {
	if old := r.suspensionOf(at.Thread); old != nil {
		r.abandon(old) // its end was lost: a thread has one at a time
	}
	if len(r.suspensions) >= maxSuspensions {
		r.abandon(r.suspensions[0])
	}
	s := r.newSuspension()
	s.thread, s.reason, s.begin, s.ticks = at.Thread, reason, at.Time, at.Ticks
	r.suspensions = append(r.suspensions, s)
	if reason == clr.SuspendForGCPrep {
		if c := r.openBackground(); c != nil && c.marking() {
			r.phase(c, PhaseMark, true, at.Time, s)
		}
	}
	if reason == clr.SuspendForGC && r.hasTriggered {
		if r.triggered.Thread != at.Thread {
			r.server, r.gcThread = flavourServer, at.Thread
		}
	}
}

// marking reports whether the concurrent mark phase goes on.
func (c *collection) marking() bool {
	b := &c.background
	return c.restarted && b.MarkStart != 0 && b.MarkEnd == 0
}

func (r *Reducer) suspendEnd(at Stamp) {
	s := r.suspensionOf(at.Thread)
	if s == nil {
		return
	}
	if s.stood != unknownTime {
		r.abandon(s) // what it ends is another one, whose begin was lost
		return
	}
	s.stood = at.Time
	if r.orphan != nil {
		r.closeOrphan(FlawNoSuspend | FlawNoRestart)
	}
	// The threads can stand for one reason only. A suspension that stands and was
	// never seen to restart has lost its end. One that restarts may tell its end late.
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
		} else if c := r.ended.get(at.Thread); c != nil && c.Flaws&FlawNoStart != 0 && !c.HasGlobal {
			// What ended here without its start was followed by a restart: it was blocking.
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
	r.tellSuspension(s, at)
	r.freeSuspension(s)
	r.tellPhases()
}

// inOrder completes the times of s with its end, and returns that. Where the stream
// says that time went back, it stands still instead, and the records say so.
func (s *suspension) inOrder(end int64) int64 {
	last, ordered := s.begin, true
	for _, t := range []*int64{&s.stood, &s.restart, &end} {
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

// share divides a suspension among the collections in it, and tells the parts as
// pauses in time order, each record after its last one.
//
//   - A blocking collection has all of it. Where another blocking one follows
//     (provisional mode), the first has it up to the start of the second.
//   - A background collection has what is left after the ephemeral collections
//     that ran in its suspension, whose part is from their GCStart to their GCEnd.
//   - Without a collection in it, it is a further pause of the background
//     collection, or belongs to none.
func (r *Reducer) share(s *suspension, at Stamp) {
	bgc := s.backgroundGC()
	if bgc == nil && s.reason == clr.SuspendForGCPrep {
		bgc = r.openBackground()
	}
	if len(s.gcs) == 0 && bgc == nil {
		r.pauseWithoutGC(s, at)
		return
	}
	r.tellPhasesOf(s)
	gcs := s.gcs
	start, suspend := s.begin, s.suspendTime()
	for i, c := range gcs {
		if c == bgc {
			continue
		}
		part := PausePart{Kind: PauseBlocking, Start: start}
		end := at.Time
		if c.InsideBGCStart && bgc != nil {
			if c.HasEnd {
				end = start + (c.End - c.Start)
			}
		} else {
			part.Suspend, suspend = suspend, 0
			if i+1 < len(gcs) {
				end = gcs[i+1].Start
			}
		}
		end = min(max(end, start), at.Time)
		part.Duration = end - start
		if bgc == nil && i == len(gcs)-1 {
			part.Resume = s.resumeTime(at.Time)
		}
		r.pause(c, part, s)
		c.sus = nil
		r.complete(c)
		start = end
	}
	if bgc != nil {
		part := PausePart{Start: start, Duration: at.Time - start, Suspend: suspend}
		part.Resume = min(s.resumeTime(at.Time), part.Duration)
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
		if c.background.SweepStart == 0 && !c.HasEnd {
			r.phase(c, PhaseSweep, false, at.Time, s)
		}
	}
}

// pause notes a part in the record of its collection and tells it.
func (r *Reducer) pause(c *collection, part PausePart, s *suspension) {
	if len(c.Pauses) < maxPauses {
		c.Pauses = append(c.Pauses, part)
	} else {
		c.Pauses[maxPauses-1].Duration += part.Duration // keeps the sum
	}
	if c.readyAtPause() {
		r.settle(c)
	}
	r.tellPause(Pause{PausePart: part, Ticks: s.ticks, Thread: s.thread, GC: &c.GCDetails})
}

// tellPause, tellPhase and tellGap pass on memory of the Reducer: what an interface is
// given would be allocated each time.
func (r *Reducer) tellPause(p Pause) {
	r.sizes.rate.pause(&p)
	r.pauseTold = p
	r.out.Pause(&r.pauseTold)
}

func (r *Reducer) tellPhase(p Phase) {
	r.phaseTold = p
	r.out.Phase(&r.phaseTold)
}

func (r *Reducer) tellGap(g Gap) {
	r.sizes.rate = rate{}
	r.gapTold = g
	r.out.Gap(&r.gapTold)
}

func (r *Reducer) tellSuspension(s *suspension, at Stamp) {
	o, ok := r.out.(SuspensionObserver)
	if !ok {
		return
	}
	r.suspensionTold = Suspension{
		Reason: s.reason, Start: s.begin, Duration: at.Time - s.begin, Suspend: s.suspendTime(), Ticks: s.ticks, Thread: s.thread,
	}
	o.Suspension(&r.suspensionTold)
}

// pauseWithoutGC tells a suspension that no collection explains.
func (r *Reducer) pauseWithoutGC(s *suspension, at Stamp) {
	kind, used := r.causeWithoutGC(s)
	r.tellPause(Pause{
		PausePart: PausePart{
			Kind: kind, Start: s.begin, Duration: at.Time - s.begin,
			Suspend: s.suspendTime(), Resume: s.resumeTime(at.Time),
		},
		Ticks: s.ticks, Thread: s.thread, UsedNumber: used,
	})
}

// causeWithoutGC tells what a suspension without a collection was for, and the
// number of a collection that it used up.
//
// A no-GC region asks for a collection and uses up a number, though none is done;
// a refreshed memory limit does neither. A suspension with reason 6 is a change
// of the heap count if the thread of server GC makes it; else the callback of a
// no-GC region is registered, by a thread of the program. Where events were lost it
// may as well have been a collection.
func (r *Reducer) causeWithoutGC(s *suspension) (kind PauseKind, used uint32) {
	if s.lost > 0 {
		r.hasTriggered = false
		return PauseUnknown, 0
	}
	if s.reason == clr.SuspendForGC {
		if !r.hasTriggered {
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

// suspendTime is how long it took to stop the threads, Untold if the event that says so
// was lost: then they stood when a collection started, if there is one.
func (s *suspension) suspendTime() int64 {
	switch {
	case s.stood != unknownTime:
		return s.stood - s.begin
	case len(s.gcs) > 0:
		return max(0, s.gcs[0].Start-s.begin)
	}
	return Untold
}

// resumeTime is how long it took to let the threads go on, Untold if the start of that
// was lost.
func (s *suspension) resumeTime(end int64) int64 {
	if s.restart == unknownTime {
		return Untold
	}
	return end - s.restart
}

// backgroundGC returns the collection that began in s as a background one.
func (s *suspension) backgroundGC() *collection {
	for _, c := range s.gcs {
		if c.Type == clr.TypeBackground {
			return c
		}
	}
	return nil
}

// activeSuspension is the one that a collection which starts now belongs to.
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

// abandon gives up a suspension whose end was lost, and what stood in it.
func (r *Reducer) abandon(s *suspension) {
	r.suspensions = without(r.suspensions, s)
	r.abandonGCs(s)
	r.freeSuspension(s)
	r.tellPhases()
}

func (r *Reducer) abandonGCs(s *suspension) {
	for _, c := range s.gcs {
		c.sus = nil
		c.Flaws |= FlawNoRestart
		if c.Type == clr.TypeBackground && !c.HasEnd {
			c.restarted = true // it goes on while the program runs
			continue
		}
		r.complete(c)
	}
}

// closeOrphan completes the collections whose suspension began before the
// session, or was lost.
func (r *Reducer) closeOrphan(flaw Flaw) {
	s := r.orphan
	r.orphan = nil
	for _, c := range s.gcs {
		c.sus = nil
		c.Flaws |= flaw
		if c.Type == clr.TypeBackground && !c.HasEnd {
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
	*s = suspension{begin: unknownTime, stood: unknownTime, restart: unknownTime, gcs: s.gcs[:0]}
	return s
}

func (r *Reducer) freeSuspension(s *suspension) { r.freeSus = append(r.freeSus, s) }

// phase notes the start or end of a concurrent phase and tells it, or keeps it
// until the program runs again. own is the suspension that the phase borders on.
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
	r.tellPhases()
	r.tellPhase(p)
}

// A waitingPhase waits for the end of the pause that it fell into. The suspension
// that it borders on does not count.
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

// tellPhases tells the phases that waited, as far as no pause is open any more.
func (r *Reducer) tellPhases() {
	n := 0
	for n < len(r.phases) && !r.pausedBy(r.phases[n].own) {
		r.tellPhase(r.phases[n].Phase)
		n++
	}
	r.dropPhases(n)
}

// tellPhasesOf tells all phases up to the last that borders on s: its pause is
// told next.
func (r *Reducer) tellPhasesOf(s *suspension) {
	n := 0
	for i := range r.phases {
		if r.phases[i].own == s {
			n = i + 1
		}
	}
	for i := range n {
		r.tellPhase(r.phases[i].Phase)
	}
	r.dropPhases(n)
}

func (r *Reducer) dropPhases(n int) {
	r.phases = r.phases[:copy(r.phases, r.phases[n:])]
}
