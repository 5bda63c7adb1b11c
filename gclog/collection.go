package gclog

import (
	"slices"

	"github.com/gclog/gclog/parse/clr"
)

// A collection is a record that is still being filled in. It is in Reducer.open from gcStart or
// inFlight until complete emits the record; only the Reducer changes it. The program is paused for
// it until restarted or HasEnd is set.
type collection struct {
	GCDetails

	sus       *suspension // suspension that it started in, while that is open; the orphan if unknown
	thread    uint64      // of GCStart
	restarted bool        // background: the program is running again
	sized     bool        // GCHeapStats was seen
	sizedAt   int64       // when GCHeapStats was seen
	settled   bool        // settle has computed the sums over the heaps; it does so once
	reported  int64       // when the last history was reported; 0: none was
	pending   int         // background: number of heap histories still to come

	previousEnd int64 // GCEnd of the collection that started before this one
	hasPrevious bool  // previousEnd is known
	// overtaken: other collections have been accounted for since this one started. overtook holds
	// what they reported as allocated; of gen0 only the first, because only that can include what
	// was allocated before this one started.
	overtaken    bool
	overtook     [Generations]uint64
	startObjects [Generations]int64  // at the last known moment before it started
	startCounted bool                // startObjects is known
	historyAfter [Generations]uint64 // sizes after the collection, from the heap histories
	budgets      budgets             // as of its start
	walked       bool                // the ranges after the collection are being reported
	revisitings  []revisiting
}

// maxOpen limits the number of open collections. Real processes have two or three.
const maxOpen = 16

// isBackground reports whether c runs, or ran, as a background collection.
func (c *collection) isBackground() bool { return c.Kind == KindBackground }

// blockingNow reports whether the program is paused because of c: c has not ended and is not
// running concurrently.
func (c *collection) blockingNow() bool { return !c.Known.Has(GroupEnd) && !c.restarted }

// demoted reports whether a collection that was started as a background one ran as a blocking one:
// it ended before the program resumed, and did not report itself as concurrent.
func (c *collection) demoted() bool {
	return c.Known.Has(GroupEnd) && c.sus != nil && c.End <= c.sus.restart &&
		!(c.Known.Has(GroupGlobal) && c.concurrent())
}

func (c *collection) concurrent() bool { return c.Global.Mechanisms&clr.MechanismConcurrent != 0 }

// current returns the collection that events without a collection number belong to.
func (r *Reducer) current() *collection {
	for _, c := range slices.Backward(r.open) {
		if c.blockingNow() && (c.Type != clr.TypeBackground || c.sus != nil) {
			return c
		}
	}
	return r.openBackground()
}

// openBackground returns the background collection that has not ended, or nil.
func (r *Reducer) openBackground() *collection {
	for _, c := range r.open {
		if c.Type == clr.TypeBackground && c.isBackground() && !c.Known.Has(GroupEnd) {
			return c
		}
	}
	return nil
}

func (r *Reducer) gcTriggered(at Stamp) {
	if r.hasTriggered {
		return
	}
	r.triggered, r.hasTriggered = at, true
	if s := r.suspensionOf(at.Thread); s != nil && s.granted() && r.server == flavourUnknown {
		r.server = flavourWorkstation // the requesting thread does the collection itself
	}
}

func (r *Reducer) gcStart(at Stamp, e *clr.GCStart) {
	s := r.activeSuspension()
	r.number(s.stops(at), e.Count)
	if s != nil && s.isOver(e) {
		r.abandon(s)
		s = nil
	}
	r.endStale(e, s)
	for len(r.open) >= maxOpen {
		r.giveUp(r.open[0])
	}
	if e.Type == clr.TypeForeground && r.openBackground() == nil {
		r.inFlight(at) // it started before the session
	}
	c := r.newCollection()
	c.Number, c.Reason = e.Count, e.Reason
	c.Known |= GroupNumber | GroupReason
	c.Generation, c.Type = int(min(e.Depth, 255)), e.Type
	c.ClrInstance = e.ClrInstance
	c.Start, c.StartTicks, c.thread = at.Time, at.Ticks, at.Thread
	c.previousEnd, c.hasPrevious = r.lastEnd, r.hasLastEnd
	c.startObjects, c.startCounted = r.sizes.objects, r.sizes.counted
	r.hasLastEnd = false
	c.Kind = KindBlocking
	switch e.Type {
	case clr.TypeBackground:
		c.Kind = KindBackground
		c.Background = &c.background
	case clr.TypeForeground:
		c.Kind = KindForeground
	}
	if r.hasTriggered {
		c.Triggered, c.Trigger = r.triggered.Time, r.triggered.Thread
		c.Known |= GroupTrigger
		r.hasTriggered = false
	}
	c.Provisional = e.Reason == clr.ReasonPMFullGC && s != nil && len(s.gcs) > 0
	s = r.join(c, s)
	if s.lost > 0 { // this may be a different suspension
		c.LostEvents += s.lost
		c.Flaws |= FlawLostEvents
	}
	if b := s.backgroundGC(); b != nil && !b.Known.Has(GroupEnd) && e.Type != clr.TypeBackground {
		c.InsideBGCStart = true
	}
	c.Finalizers.Running = r.finalizers.running(at)
	c.budgets.copy(&r.sizes.budgets)
	c.Suspended = at.Time
	if s.begin != unknownTime {
		c.Suspended = s.begin
	}
	r.open = append(r.open, c)
}

// join adds c to its suspension s, or to the orphan if s is nil because the suspension was not
// seen.
func (r *Reducer) join(c *collection, s *suspension) *suspension {
	if s == nil {
		if r.orphan == nil {
			r.orphan = r.newSuspension()
		}
		s = r.orphan
		c.Flaws |= FlawNoSuspend
	}
	c.sus = s
	s.gcs = append(s.gcs, c)
	return s
}

// number records the number of a collection that starts. It emits a gap before it unless
// suspensions without a collection account for the missing numbers.
func (r *Reducer) number(at Stamp, n uint32) {
	if r.seen && n != r.last+1 {
		missing := n - r.last - 1
		switch {
		case int32(missing) < 0: // numbers went back: another runtime, or a damaged stream
			r.missed(Gap{Reason: GapMissedGCs, Time: at.Time, Ticks: at.Ticks})
		case missing > r.consumed:
			g := Gap{Reason: GapMissedGCs, Time: at.Time, Ticks: at.Ticks}
			if from := r.last + 1 + r.consumed; from <= n-1 { // else the numbers wrapped around to 0
				g.From, g.To = from, n-1
			}
			r.missed(g)
		}
	}
	if !r.seen {
		r.first = n
	}
	r.last, r.seen, r.consumed = n, true, 0
}

// missed emits a gap for collections that were not seen. The last collection before the gap is not
// the previous collection of the first one after it.
func (r *Reducer) missed(g Gap) {
	// The state that is kept here was seen in spite of the gap.
	r.sizes = sizes{ticks: r.sizes.ticks, hasTick: r.sizes.hasTick, budgets: r.sizes.budgets}
	r.sizes.budgets.forget()
	r.hasLastEnd = false
	for _, c := range r.open {
		c.startCounted = false
		c.budgets.forget()
	}
	r.emitGap(g)
}

// endStale gives up the open collections that must have ended, given that another one starts.
func (r *Reducer) endStale(e *clr.GCStart, s *suspension) {
	if s == nil {
		s = r.orphan // its suspension was not seen
	}
	for i := 0; i < len(r.open); i++ {
		c := r.open[i]
		stale := false
		switch {
		case c.sus != nil && c.sus == s:
			// In the same suspension: an ephemeral collection at the start of a background one, or
			// provisional mode.
			if !c.isBackground() && !c.Known.Has(GroupEnd) {
				c.Flaws |= FlawNoEnd
			}
		case !c.isBackground():
			stale = c.sus == nil || !c.sus.restarting() // its restart was lost
		case c.Known.Has(GroupEnd):
			stale = e.Type == clr.TypeBackground // was waiting for its histories
		default:
			// A background collection still in progress. It has ended if another background
			// collection starts, or a blocking one that does not run inside it.
			stale = e.Type != clr.TypeForeground
		}
		if stale {
			r.giveUp(c)
			i--
		}
	}
}

// restarting reports whether the program is about to resume: the event that ends the suspension may
// arrive after the start of the next collection.
func (s *suspension) restarting() bool { return s.restart != unknownTime }

// inFlight opens the record of a background collection that started before the session.
func (r *Reducer) inFlight(at Stamp) *collection {
	c := r.newCollection()
	c.Type, c.Kind, c.Generation = clr.TypeBackground, KindBackground, Gen2
	c.Background = &c.background
	c.Start, c.StartTicks, c.thread = at.Time, at.Ticks, at.Thread
	c.Flaws |= FlawNoStart
	c.restarted = true
	r.open = append(r.open, c)
	return c
}

func (r *Reducer) gcEnd(at Stamp, e *clr.GCEnd) {
	c := r.endOf(e)
	if c == nil {
		c = r.endedUnstarted(at, e)
	}
	c.End = at.Time
	c.Known |= GroupEnd
	if c.End < c.Start && c.Flaws&FlawNoStart == 0 {
		c.End = c.Start
		c.Flaws |= FlawTime
	}
	if c.Known.Has(GroupNumber) && c.Number == r.last {
		r.lastEnd, r.hasLastEnd = at.Time, true
	}
	r.ended.put(at.Thread, c)
	if !c.isBackground() || !c.restarted {
		return
	}
	b := &c.background
	switch {
	case b.SweepStart != 0 && b.SweepEnd == 0:
		r.phase(c, PhaseSweep, true, at.Time, nil)
	case b.MarkStart != 0 && b.MarkEnd == 0: // its second suspension was lost
		r.phase(c, PhaseMark, true, at.Time, nil)
	}
}

// endOf returns the open collection that a GCEnd belongs to, or nil.
func (r *Reducer) endOf(e *clr.GCEnd) *collection {
	for _, c := range r.open {
		if c.Known.Has(GroupNumber) && c.Number == e.Count {
			return c
		}
	}
	if e.Depth >= Gen2 {
		for _, c := range r.open {
			if !c.Known.Has(GroupNumber) && !c.Known.Has(GroupEnd) && c.isBackground() {
				c.Number = e.Count
				c.Known |= GroupNumber
				return c
			}
		}
	}
	return nil
}

// endedUnstarted opens the record of a collection of which only the end was seen: it started before
// the session, or its start was lost.
func (r *Reducer) endedUnstarted(at Stamp, e *clr.GCEnd) *collection {
	// The collection gets a record, so no gap may include its number. At the start of a session the
	// number means nothing: a background collection has a lower number than those that ended before
	// it.
	if r.seen && int32(e.Count-r.last) > 0 {
		r.consumed = 0 // a suspension without a GCStart may be a collection, as this one is
		r.number(at, e.Count)
	}
	c := r.inFlight(at)
	c.Number = e.Count
	c.Known |= GroupNumber
	c.Generation = int(min(e.Depth, 255))
	if r.paused() || c.Generation < Gen2 {
		c.Type, c.Kind, c.Background, c.restarted = clr.TypeBlocking, KindBlocking, nil, false
		r.join(c, r.activeSuspension())
	}
	return c
}

// paused reports whether the program is currently paused for the GC.
func (r *Reducer) paused() bool {
	for _, s := range r.suspensions {
		if s.granted() && s.forGC() {
			return true
		}
	}
	return false
}

func (r *Reducer) heapStats(at Stamp, e *clr.GCHeapStats) {
	c := r.ended.get(at.Thread)
	if c == nil || c.sized {
		r.sizes.seed(at, e)
		r.segments.since(nil)
		r.finalizers.since(nil)
		return
	}
	c.setSizes(e)
	c.sized, c.sizedAt = true, at.Time
	r.sizes.since(c, at)
	r.segments.since(c)
	r.finalizers.since(c)
	r.completeBackground(c)
}

func (r *Reducer) globalHistory(at Stamp, e *clr.GCGlobalHeapHistory) {
	c := r.ownerOfHistory(at, e)
	if c == nil {
		return
	}
	c.Global = *e
	c.Known |= GroupGlobal | GroupCompaction
	c.reported = at.Time
	r.hasHistory = true
	c.pending = c.expectedHeaps() - c.historyCount()
	if e.Heaps > 1 {
		r.server = flavourServer
	}
	r.histories.put(at.Thread, c)
}

// ownerOfHistory returns the collection that a GCGlobalHeapHistory belongs to. The concurrent bit
// distinguishes a background collection from a foreground one that runs during it.
func (r *Reducer) ownerOfHistory(at Stamp, e *clr.GCGlobalHeapHistory) *collection {
	if e.Mechanisms&clr.MechanismConcurrent != 0 {
		if c := r.ended.get(at.Thread); c != nil && c.isBackground() && !c.Known.Has(GroupGlobal) {
			return c
		}
		if c := r.openBackground(); c != nil {
			return c
		}
		if e.Heaps > 1 || r.server == flavourServer {
			return nil // server GC reports it after the end, which was before the session, or long ago
		}
		return r.inFlight(at) // it started before the session
	}
	for _, c := range slices.Backward(r.open) {
		if !c.isBackground() && !c.Known.Has(GroupGlobal) && c.Generation == int(e.CondemnedGeneration) {
			return c
		}
	}
	for _, c := range r.open {
		if c.isBackground() && !c.restarted && !c.Known.Has(GroupGlobal) {
			return c // started as a background collection, but ran as a blocking one: demoted
		}
	}
	return nil
}

// expectedHeaps returns how many heaps report their history, or 0 if that is unknown.
func (c *collection) expectedHeaps() int { return int(min(max(c.Global.Heaps, 0), maxHeaps)) }

func (c *collection) historyCount() (n int) {
	for i := range c.Heaps {
		if c.Heaps[i].HasHistory {
			n++
		}
	}
	return n
}

func (r *Reducer) perHeapHistory(at Stamp, e *clr.GCPerHeapHistory) {
	c := r.histories.get(at.Thread)
	if c == nil {
		return
	}
	h := c.heap(e.Heap)
	if h == nil || h.HasHistory {
		return
	}
	h.History, h.HasHistory = *e, true
	c.reported = at.Time
	c.GenerationCount = max(c.GenerationCount, e.Generations)
	c.pending--
	r.completeBackground(c)
}

// completeBackground emits the record of a background collection when everything that the
// collection itself reports is there. Threads whose allocations waited for its end report that when
// they resume, after its last event: the record waits for them, but the heap sizes are already
// final.
func (r *Reducer) completeBackground(c *collection) {
	if !c.isBackground() || !c.restarted || !c.sized || !c.Known.Has(GroupGlobal) || c.pending > 0 {
		return
	}
	r.settle(c)
	if !c.background.waiting() {
		r.complete(c)
	}
}

// heap returns the details of a heap and adds them if needed; nil beyond the limit.
func (c *collection) heap(number uint32) *HeapDetails {
	for i := range c.Heaps {
		if c.Heaps[i].Heap == number {
			return &c.Heaps[i]
		}
	}
	if len(c.Heaps) >= maxHeaps {
		return nil
	}
	c.Heaps = append(c.Heaps, HeapDetails{Heap: number})
	return &c.Heaps[len(c.Heaps)-1]
}

// readyAtPause reports whether the sums can be computed when the pause is emitted: a blocking
// collection reports everything about itself before its restart.
func (c *collection) readyAtPause() bool { return !c.isBackground() }

// settle computes the sums of a record. It does so once, before the whole record is first passed
// on.
func (r *Reducer) settle(c *collection) {
	if c.settled {
		return
	}
	c.settled = true
	if !c.Known.Has(GroupEnd) {
		c.Flaws |= FlawNoEnd
	}
	if !c.sized {
		c.Flaws |= FlawNoSizes
	}
	whole := c.historyCount() > 0
	missing := r.hasHistory && c.Flaws&(FlawNoStart|FlawNoEnd) == 0
	if c.Known.Has(GroupGlobal) {
		missing = c.historyCount() < c.expectedHeaps()
	}
	if missing {
		c.Flaws |= FlawNoHeaps
		whole = false
	}
	c.Known.Set(GroupHistory|GroupObjects|GroupFragmentation, whole)
	c.Complete = c.Flaws == 0
	r.recognizeDump(c)
	c.sumHeaps()
	c.setWindow()
	r.sizes.account(c, r.counting(c))
	for _, o := range r.open {
		if o != c && o.isBackground() && !o.settled {
			if o.sus != nil && o.sus == c.sus {
				o.shareBudgets(c) // they started with the same heap
			}
			for _, g := range allocated {
				if g != Gen0 || !o.overtaken {
					o.overtook[g] += c.Generations[g].Allocated
				}
			}
			o.overtaken = true
			o.Peak = max(o.Peak, c.SizeBefore())
		}
	}
}

// complete emits the record and removes the collection from the Reducer.
func (r *Reducer) complete(c *collection) {
	if c.sus != nil {
		c.sus.gcs = without(c.sus.gcs, c)
		c.sus = nil
	}
	r.settle(c)
	c.endWaits()
	r.open = without(r.open, c)
	r.ended.forget(c)
	r.histories.forget(c)
	c.Index = r.index
	r.index++
	r.out(&c.GCDetails)
	for i := range r.phases {
		if r.phases[i].GC == &c.GCDetails {
			r.phases[i].GC = c.Clone()
		}
	}
	r.free = append(r.free, c)
}

// giveUp completes a collection that will receive no further events.
func (r *Reducer) giveUp(c *collection) {
	if c.sus != nil {
		c.Flaws |= FlawNoRestart
	}
	r.complete(c)
}

// without removes one from list, in place.
func without[T comparable](list []T, one T) []T {
	return slices.DeleteFunc(list, func(x T) bool { return x == one })
}

func (r *Reducer) newCollection() *collection {
	var c *collection
	if n := len(r.free); n > 0 {
		c, r.free = r.free[n-1], r.free[:n-1]
	} else {
		c = &collection{}
	}
	*c = collection{
		GCDetails:   c.GCDetails,
		revisitings: c.revisitings[:0],
		budgets:     budgets{heaps: c.budgets.heaps[:0]},
	}
	c.GCDetails.Reset()
	return c
}

func (c *collection) setSizes(e *clr.GCHeapStats) {
	c.Known |= GroupAfter | GroupPinned | GroupSyncBlocks | GroupFinalizationCount
	c.GenerationCount = max(c.GenerationCount, e.Generations)
	for g := range e.Size {
		c.Generations[g].After = e.Size[g]
		c.Generations[g].Promoted = e.Promoted[g]
	}
	c.PinnedObjects, c.SyncBlocks, c.FinalizationCount = e.PinnedObjects, e.SyncBlocks, e.FinalizationCount
	if e.Handles >= 0 { // the runtime's count can become negative
		c.Handles = e.Handles
		c.Known |= GroupHandles
	}
	if e.FinalizationSize <= c.SizeAfter()+c.promotedTotal() { // invalid after a change of the heap count
		c.FinalizationSize = e.FinalizationSize
		c.Known |= GroupFinalizationSize
	}
}

func (c *collection) promotedTotal() (n uint64) {
	for g := range c.Generations {
		n += c.Generations[g].Promoted
	}
	return n
}
