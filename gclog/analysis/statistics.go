package analysis

import (
	"slices"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/parse/clr"
)

// StatisticsOptions configure Statistics.
type StatisticsOptions struct {
	Window Window // Always for the whole session
	// Live bounds the memory for sessions without an end: percentiles come from histograms and are
	// within 1 % or 1 µs, worst stretches are within 100 ms, and mutator utilization is unknown.
	Live bool
}

// Statistics aggregates records. Its Observe is a gclog.Observer: a Start and an End report how long
// each session lasted. An End may also say that the session has lasted until now, for a stream
// gclog.Processes.Latest. The time between two sessions and time in which records are missing are
// unobserved: shares and rates leave them out. Durations, shares and rates are unknown if a Start is
// Unbounded, and whatever depends on all pauses is if it is CollectionsOnly. Summary may be called at any
// time. A Statistics must not be used by several goroutines at once.
type Statistics struct {
	window Window
	span   span
	unseen gaps // in the span
	stops  history
	live   *live // used instead of stops; nil: exact

	classes [Classes]rollup
	reasons [reasons]uint64
	without [gclog.PauseUnknown + 1]tally

	heapMax, committedMax       tally
	memory                      memory
	finalized                   tally // objects, for each collection that reports them
	allocated                   allocations
	last, lastGen2, committed   Number
	committedAt, gen2End        int64
	hasGen2                     bool
	missed, lostEvents, dropped uint64
	missedInexact, lostInexact  bool
	sparse                      bool
	unbounded, collectionsOnly  bool
}

// live is the state of a session without an end, which keeps no pauses.
type live struct {
	pauses           [Classes]histogram
	suspend, between histogram
	sliding          sliding
	first            int64 // when the latest collection's first pause began
	hasFirst         bool
	unobserved       int64 // total of the gaps that are no longer kept
	hidden           hiddenPauses
}

// hiddenPauses sums up the known pauses in unobserved time, and those that end it.
type hiddenPauses struct {
	paused      int64
	collections [Classes]uint64 // by the first of their pauses
}

func (b *hiddenPauses) add(class Class, paused int64, first bool) {
	b.paused += paused
	if first {
		b.collections[class]++
		b.collections[ClassAll]++
	}
}

// A span is how long the sessions lasted, as reported by Start and End or else as far as records
// were seen.
type span struct {
	begin, end int64
	hasBegin   bool // begin was reported by a Start
	seen       bool // anything was seen
}

func (s *span) saw(from, to int64) {
	if !s.seen {
		s.begin, s.end, s.seen = from, to, true
	}
	if !s.hasBegin {
		s.begin = min(s.begin, from)
	}
	s.end = max(s.end, to)
}

// reasons is the number of distinguished reasons; the last stands for unknown ones.
const reasons = int(clr.ReasonInducedAggressive) + 2

// A rollup aggregates the collections of a class for Rollup.
type rollup struct {
	Rollup // its counts

	compacting, compactingKnown uint64
	blocking, reasons, induced  uint64 // reasons: collections with a known reason
	pause, suspend              tally
	dumpPause                   tally
	peak, after                 tally
	promoted, allocated, rate   tally
	pinned                      tally
	survivedPins, survived      float64
	pinsSeen, pinPlugs          tally
	userPinned, notMoved        float64 // of the same collections
	plugs                       uint64  // collections that report pin plugs, with or without a size
	finalization, finalBytes    tally
}

// noCommitted is why the committed memory is unknown.
const noCommitted = "no event reports it (CommittedUsage): runtimes before .NET 8 and the standalone GC of .NET 8 " +
	"and 9 do not send it"

// NewStatistics returns empty Statistics.
func NewStatistics(o StatisticsOptions) *Statistics {
	s := &Statistics{window: o.Window}
	if o.Live {
		s.live = &live{sliding: newSliding(liveSlot, shareLengths[:]...)}
	}
	s.last = unknown("no collection reports the size of the heap")
	s.lastGen2 = unknown("no gen2 collection reports the size of the heap")
	s.committed = unknown(noCommitted)
	s.memory.committed = s.committed
	return s
}

// Observe adds a record.
func (s *Statistics) Observe(r gclog.Record) {
	switch r := r.(type) {
	case *gclog.Start:
		s.begin(r)
	case *gclog.End:
		s.span.saw(r.At, r.At)
	case *gclog.Phase:
		s.span.saw(r.Time, r.Time)
	case *gclog.Pause:
		s.pause(r)
	case *gclog.GCDetails:
		s.collection(r)
	case *gclog.Gap:
		s.gap(r)
	}
}

// begin takes the start of a session, before anything in it. Nothing was observed between the end of
// the previous session and this start.
func (s *Statistics) begin(r *gclog.Start) {
	if s.span.hasBegin {
		s.miss(Missing{Window{s.span.end, r.At}, noSession})
	} else if s.live != nil {
		s.live.sliding.begin(max(s.window.From, r.At))
	}
	s.span.saw(r.At, r.At)
	s.span.hasBegin = true
	s.unbounded = s.unbounded || r.Unbounded
	s.collectionsOnly = s.collectionsOnly || r.CollectionsOnly
}

// pause adds a pause. If the Window cuts a pause, only the part inside counts.
func (s *Statistics) pause(p *gclog.Pause) {
	s.span.saw(p.Start, p.Start+p.Duration)
	w := s.inSession()
	start, end := w.Clip(p.Start, p.Start+p.Duration)
	inside := w.Contains(p.Start)
	if start == end && !inside {
		return
	}
	class, took := ClassOf(p.GC), end-start
	if class == ClassNone {
		s.without[min(p.Kind, gclog.PauseUnknown)].add(float64(took))
	}
	// A part of a pause that did not suspend the threads itself has 0 here, or the time is unknown.
	suspending, suspended := w.Clip(p.Start, p.Start+p.Suspend)
	suspend := suspended - suspending
	first := inside && p.GC != nil && p.Kind != gclog.PauseFinal
	if l := s.live; l != nil {
		if s.unseen.extend(start, end) {
			l.hidden.add(class, took, first)
		}
		l.add(class, start, took, suspend, first)
		return
	}
	s.stops.add(newStop(start, took, suspend, class, first))
}

// collection adds a collection if it began in the Window; pause adds its pauses.
func (s *Statistics) collection(d *gclog.GCDetails) {
	at := began(d)
	s.span.saw(at, max(at, d.End))
	s.sparse = s.sparse || d.FromLog
	s.allocated.gc(d, s.window, s.unseen)
	at = max(at, s.span.begin) // it was already running when the session began
	w := s.inSession()
	if !w.Contains(at) {
		return
	}
	s.classes[ClassOf(d)].gc(d, w)
	s.classes[ClassAll].gc(d, w)
	if d.Known.Has(gclog.GroupReason) {
		s.reasons[min(d.Reason, clr.Reason(reasons-1))]++
	}
	if d.Known.Has(gclog.GroupFinalizers) {
		s.finalized.add(float64(d.Finalizers.Objects))
	}
	gen2 := d.Generation >= gclog.Gen2
	if gen2 {
		s.gen2End, s.hasGen2 = max(at, ended(d)), true
		s.lastGen2 = unknown("the latest gen2 collection does not report the size of the heap")
	}
	if peak := peak(d); peak > 0 {
		s.heapMax.add(float64(peak))
	}
	if d.Known.Has(gclog.GroupAfter) {
		after := known(float64(d.SizeAfter())).in("bytes")
		s.heapMax.add(after.Value)
		s.last = after
		if gen2 {
			s.lastGen2 = after
		}
	}
	for _, c := range [...]struct {
		bytes uint64
		at    int64
		known bool
	}{{d.CommittedBefore, d.Start, d.Known.Has(gclog.GroupCommittedBefore)}, {d.CommittedAfter, ended(d), d.Known.Has(
		gclog.GroupCommittedAfter)}} {
		if !c.known {
			continue
		}
		s.committedMax.add(float64(c.bytes))
		// The start of a background collection is reported after the younger collections that ran
		// meanwhile.
		if !s.committed.Known() || c.at >= s.committedAt {
			s.committed, s.committedAt = known(float64(c.bytes)).in("bytes"), c.at
		}
	}
	s.memory.add(&d.Memory, s.committed)
}

// gap adds what is missing if it may have been in the Window. Where records are missing, nothing
// was observed; begin reports times without a session.
func (s *Statistics) gap(g *gclog.Gap) {
	m, unobserved := missingOf(g, s.span.end)
	s.span.saw(g.Time, g.Time)
	if unobserved {
		s.miss(m)
	}
	if from, to := s.window.Clip(m.From, m.To); from == to && (m.From < m.To || !s.window.Contains(m.To)) {
		return
	}
	switch g.Reason {
	case gclog.GapLostEvents:
		s.lostEvents += g.LostEvents
		s.lostInexact = s.lostInexact || g.LostEvents == 0
	case gclog.GapMissedGCs:
		s.missedInexact = s.missedInexact || g.Missed() == 0
	}
	s.missed += g.Missed()
	s.dropped += g.Records
}

// liveSlot is the resolution of the worst stretches of live Statistics, in nanoseconds.
const liveSlot = 100_000_000

// liveGaps is how many unobserved stretches live Statistics keep.
const liveGaps = 16

// miss records that a time was not observed.
func (s *Statistics) miss(m Missing) {
	if m.From >= m.To {
		return
	}
	s.unseen.add(m)
	s.allocated.miss(m.From, m.To)
	l := s.live
	if l == nil {
		return
	}
	w := s.inSession()
	l.hasFirst = false
	if from, to := w.Clip(m.From, m.To); from < to {
		l.sliding.skip(from, to)
	}
	if len(s.unseen) > liveGaps {
		l.unobserved += s.unseen[:1].length(w)
		s.unseen = slices.Delete(s.unseen, 0, 1)
	}
}

// inSession returns the part of the Window that the session has reached.
func (s *Statistics) inSession() Window {
	w := s.window
	w.From = max(w.From, s.span.begin)
	return w
}

// add adds a pause.
func (l *live) add(class Class, start, took, suspend int64, first bool) {
	l.pauses[class].add(took)
	l.pauses[ClassAll].add(took)
	if suspend > 0 {
		l.suspend.add(suspend)
	}
	if first {
		if l.hasFirst {
			l.between.add(max(0, start-l.first))
		}
		l.first, l.hasFirst = start, true
	}
	l.sliding.add(start, start+took, nil)
}

// pauseFlaws are the flaws of a record whose pauses may be incomplete.
const pauseFlaws = gclog.FlawNoStart | gclog.FlawNoSuspend | gclog.FlawNoEnd | gclog.FlawNoRestart |
	gclog.FlawLostEvents | gclog.FlawTime

// began returns when a collection began, as far as that is known.
func began(d *gclog.GCDetails) int64 {
	switch {
	case d.Flaws&gclog.FlawNoStart == 0:
		return d.Start
	case len(d.Pauses) > 0:
		return d.PauseStart()
	}
	return d.End
}

// ended returns when a collection was over, as far as that is known: of blocking collections logs
// contain only the pause.
func ended(d *gclog.GCDetails) int64 {
	at := max(began(d), d.End)
	if n := len(d.Pauses); n > 0 {
		at = max(at, d.Pauses[n-1].Start+d.Pauses[n-1].Duration)
	}
	return at
}

// peak returns the largest known size before and during the collection, 0 if there is none. A log
// may contain only the size before.
func peak(d *gclog.GCDetails) uint64 {
	if d.Known.Has(gclog.GroupBefore) {
		return max(d.Peak, d.SizeBefore())
	}
	return d.Peak
}

func (r *rollup) gc(d *gclog.GCDetails, w Window) {
	r.Count++
	count := func(n *uint64, that bool) {
		if that {
			*n++
		}
	}
	count(&r.induced, d.Known.Has(gclog.GroupReason) && d.Reason.Induced() && !d.HeapDump)
	count(&r.Incomplete, !d.Complete)
	count(&r.StartedBefore, d.Flaws&gclog.FlawNoStart != 0)
	count(&r.Lossy, d.Flaws&gclog.FlawLostEvents != 0)
	count(&r.Foreground, d.Kind == gclog.KindForeground)
	count(&r.Demoted, d.DemotedBGC)
	count(&r.InsideBGCStart, d.InsideBGCStart)
	count(&r.Provisional, d.Provisional)
	count(&r.HeapDumps, d.HeapDump)
	count(&r.reasons, d.Known.Has(gclog.GroupReason))
	compacting, known := d.Compacting()
	count(&r.compacting, known && compacting)
	blocking := d.Kind != gclog.KindBackground // others never move objects
	count(&r.blocking, blocking)
	count(&r.compactingKnown, blocking && known)

	if d.Flaws&pauseFlaws == 0 && len(d.Pauses) > 0 {
		took, suspend := int64(0), int64(0)
		for i := range d.Pauses {
			p := &d.Pauses[i]
			start, end := w.Clip(p.Start, p.Start+p.Duration)
			took += end - start
			start, end = w.Clip(p.Start, p.Start+p.Suspend)
			suspend += end - start
		}
		r.pause.add(float64(took))
		if d.HeapDump {
			r.dumpPause.add(float64(took))
		}
		if _, known := d.Suspend(); known && suspend > 0 {
			r.suspend.add(float64(suspend))
		}
	}
	if peak := peak(d); peak > 0 {
		r.peak.add(float64(peak))
	}
	if d.Known.Has(gclog.GroupAfter) {
		r.after.add(float64(d.SizeAfter()))
	}
	if d.Known.Has(gclog.GroupPromoted) {
		r.promoted.add(float64(d.PromotedBytes))
	}
	if d.Known.Has(gclog.GroupAllocated) {
		r.allocated.add(float64(d.Allocated))
	}
	if d.AllocationRate > 0 {
		r.rate.add(d.AllocationRate)
	}
	if pinned, known := d.Pinned(); known {
		r.pinned.add(float64(pinned))
	}
	r.pins(d)
	if d.Known.Has(gclog.GroupHistory) && d.Kind != gclog.KindBackground { // which does not report pinned survivors
		for g := range d.Generations {
			if d.Collected(g) {
				r.survivedPins += float64(d.Generations[g].SurvivedPins)
				r.survived += float64(d.Generations[g].Survived)
			}
		}
	}
	if d.Known.Has(gclog.GroupFinalizationCount) {
		r.finalization.add(float64(d.FinalizationCount))
	}
	if d.Known.Has(gclog.GroupFinalizationSize) {
		r.finalBytes.add(float64(d.FinalizationSize))
	}
}

// pins adds pins and plugs that events report individually. That there are none does not mean that
// nothing was pinned: few sessions enable these events.
func (r *rollup) pins(d *gclog.GCDetails) {
	if d.PinEvents > 0 {
		r.pinsSeen.add(float64(d.PinEventBytes))
	}
	if d.PinPlugs > 0 {
		r.plugs++
	}
	if d.PinPlugBytes > 0 { // a log may contain only their number
		r.pinPlugs.add(float64(d.PinPlugBytes))
	}
	if _, known := d.UserPinned(); known {
		r.userPinned += float64(d.PinEventBytes)
		r.notMoved += float64(d.PinPlugBytes)
	}
}
