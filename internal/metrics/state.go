package metrics

import (
	"math"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/gclog/analysis"
	"github.com/gclog/gclog/parse/clr"
)

const (
	collected = gclog.Gen2 + 1                // generations that collections are of
	kinds     = int(gclog.KindForeground) + 1 // of collections
	groups    = 5                             // of reasons: formats.ReasonGroups, and unknown ones
	reasons   = int(clr.ReasonInducedAggressive) + 2
	stalls    = 2
)

// The types of pauses.
const (
	pauseBlocking = iota
	pauseBackground
	pauseTypes
)

// A state is what was counted about one process. Durations are nanoseconds, sizes bytes.
type state struct {
	collections [collected][reasons]uint64 // by generation and reason; the last reason stands for unknown ones
	paused      int64                      // by collections, until the threads were being resumed
	resumed     int64                      // from then until they were
	otherPaused int64                      // without a collection
	allocated   [gclog.Generations]uint64
	promoted    uint64
	incomplete  uint64 // collections
	missed      uint64 // collections that no session has seen
	lost        uint64 // events
	dropped     uint64 // records
	stalls      [stalls]uint64
	ended       gclog.EndReason // how the process ended, if that is OfProcess

	pauses    [collected][pauseTypes]*Histogram
	durations [collected][kinds][groups]*Histogram
	suspends  *Histogram

	cause analysis.Cause // of the verdict about the process; "": there is none

	hasAllocated bool
	last         lastCollection
}

// A lastCollection is what the latest collection that reported a value has reported.
type lastCollection struct {
	at            int64 // in nanoseconds of Unix time; 0: there was none
	generations   int   // that there are
	sizes         [gclog.Generations]uint64
	fragmentation [gclog.Generations]uint64
	committed     uint64
	pinned        uint32
	finalization  uint64
	load          uint32  // percent
	pausedPercent float64 // of the time since the collection before it
	full          uint64  // size of the heap after the latest gen2 collection

	hasSizes, hasFragmentation, hasCommitted, hasPinned, hasFinalization, hasLoad, hasPaused, hasFull bool
}

// observed returns a histogram after adding a duration to it.
func observed(h *Histogram, b *bounds, ns int64) *Histogram {
	if h == nil {
		h = newHistogram(b)
	}
	h.observe(ns)
	return h
}

// gc adds a collection, which ended at a time.
func (s *state) gc(d *gclog.GCDetails, at int64) {
	g := max(gclog.Gen0, min(d.Generation, gclog.Gen2))
	reason, group := reasons-1, groups-1
	if d.Known.Has(gclog.GroupReason) {
		group = groupOf(d.Reason)
		if int64(d.Reason) < int64(reasons-1) {
			reason = int(d.Reason)
		}
	}
	s.collections[g][reason]++
	for i := range d.Pauses {
		p := &d.Pauses[i]
		t := pauseBlocking
		if p.Kind == gclog.PauseInitial || p.Kind == gclog.PauseFinal {
			t = pauseBackground
		}
		s.paused = add(s.paused, p.Paused())
		s.resumed = add(s.resumed, p.Resume)
		s.pauses[g][t] = observed(s.pauses[g][t], &pauseBounds, p.Duration)
		if p.HasSuspend && p.Suspend > 0 { // the second part of a suspension has suspended nothing
			s.suspends = observed(s.suspends, &suspendBounds, p.Suspend)
		}
	}
	if d.Flaws&gclog.FlawNoStart == 0 && d.Known.Has(gclog.GroupEnd) {
		x := &s.durations[g][d.Kind][group]
		*x = observed(*x, &durationBounds, d.Duration())
	}
	if !d.Complete {
		s.incomplete++
	}
	if d.Known.Has(gclog.GroupPromoted) {
		s.promoted = addBytes(s.promoted, d.PromotedBytes)
	}
	if d.Known.Has(gclog.GroupGenerationAllocated) {
		s.hasAllocated = true
		for g := range d.Generations {
			s.allocated[g] = addBytes(s.allocated[g], d.Generations[g].Allocated)
		}
	}
	s.last.gc(d, at)
}

// add and addBytes add to what only grows, whatever a damaged stream contains.
func add(sum, ns int64) int64 {
	if ns = max(0, ns); sum > math.MaxInt64-ns {
		return math.MaxInt64
	}
	return sum + ns
}

func addBytes(sum, n uint64) uint64 {
	if sum > math.MaxUint64-n {
		return math.MaxUint64
	}
	return sum + n
}

func groupOf(r clr.Reason) int {
	name := formats.ReasonGroup(r)
	for i, group := range formats.ReasonGroups {
		if group == name {
			return i
		}
	}
	return groups - 1
}

func (l *lastCollection) gc(d *gclog.GCDetails, at int64) {
	l.at = at
	if d.Known.Has(gclog.GroupAfter) {
		l.hasSizes, l.generations = true, d.GenerationCount
		for g := range d.Generations {
			l.sizes[g] = d.Generations[g].After
		}
		if d.Generation >= gclog.Gen2 {
			l.full, l.hasFull = d.SizeAfter(), true
		}
	}
	if d.Known.Has(gclog.GroupHistory) {
		l.hasFragmentation, l.generations = true, max(l.generations, d.GenerationCount)
		for g := range d.Generations {
			l.fragmentation[g] = d.Generations[g].Fragmentation
		}
	}
	if d.Known.Has(gclog.GroupCommittedAfter) {
		l.committed, l.hasCommitted = d.CommittedAfter, true
	}
	if pinned, known := d.Pinned(); known {
		l.pinned, l.hasPinned = pinned, true
	}
	if d.Known.Has(gclog.GroupFinalizationCount) {
		l.finalization, l.hasFinalization = d.FinalizationCount, true
	}
	if load := d.Global.MemoryLoad; load > 0 {
		l.load, l.hasLoad = load, true
	}
	if d.Window > 0 && len(d.Pauses) > 0 {
		l.pausedPercent, l.hasPaused = d.PausePercent(), true
	}
}

// copyFrom makes s, an earlier copy of src, a copy of it again. They share nothing.
func (s *state) copyFrom(src *state) {
	mine := *s
	*s = *src
	renew := func(to **Histogram, kept, from *Histogram) {
		if from == nil {
			return
		}
		if kept == nil {
			kept = &Histogram{}
		}
		kept.copyFrom(from)
		*to = kept
	}
	for g := range s.pauses {
		for t := range s.pauses[g] {
			renew(&s.pauses[g][t], mine.pauses[g][t], src.pauses[g][t])
		}
	}
	for g := range s.durations {
		for k := range s.durations[g] {
			for r := range s.durations[g][k] {
				renew(&s.durations[g][k][r], mine.durations[g][k][r], src.durations[g][k][r])
			}
		}
	}
	renew(&s.suspends, mine.suspends, src.suspends)
}

// merged returns the sum of histograms, nil if there are none.
func merged(list ...*Histogram) (sum *Histogram) {
	for _, h := range list {
		if h == nil {
			continue
		}
		if sum == nil {
			sum = newHistogram(h.bounds)
		}
		sum.add(h, false)
	}
	return sum
}
