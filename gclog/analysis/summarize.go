package analysis

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/parse/clr"
)

const minute = 60e9

// noBounds is why values that depend on the observed time are unknown.
const noBounds = "logs of this format do not record when the observation started and ended"

// Summary returns the statistics so far.
func (s *Statistics) Summary() *Summary {
	x := &Summary{
		Missed: s.missed, MissedInexact: s.missedInexact, LostEvents: s.lostEvents, LostInexact: s.lostInexact,
		Dropped: s.dropped, Sparse: s.sparse, CollectionsOnly: s.collectionsOnly,
		Heap: Heap{Last: s.last, LastGen2: s.lastGen2, Committed: s.committed},
	}
	x.Window.From, x.Window.To = s.window.Clip(s.span.begin, s.span.end)
	s.stops.sort()
	var hidden hiddenPauses
	x.Unobserved, hidden = s.unobserved(x.Window)
	length := x.Window.To - x.Window.From
	x.Duration = known(float64(length - x.Unobserved)).in("ns")
	switch {
	case s.unbounded:
		x.Duration = unknown(noBounds)
	case length <= 0:
		x.Duration = unknown("no part of the session is in this window")
	case length <= x.Unobserved:
		x.Duration = unknown("nothing of this window was observed")
	}
	for c := range Classes {
		x.Classes[c] = s.classes[c].report(c)
		x.Classes[c].PerMinute = x.per(float64(s.classes[c].Count-min(s.classes[c].Count, hidden.collections[c])),
			minute).in("1/min")
		x.Classes[c].sparse = s.sparse
	}
	s.distributions(x)
	s.shares(x, hidden.paused)
	x.Reasons = s.reasonCounts()
	for kind := range s.without {
		if t := &s.without[kind]; t.n > 0 {
			x.WithoutGC = append(x.WithoutGC, WithoutGC{gclog.PauseKind(kind), t.quantity("").in("ns")})
		}
	}

	count := func(c Class) float64 { return float64(x.Classes[c].Count) }
	gen2 := count(ClassGen2) + count(ClassBackground)
	x.Gen1PerGen0 = ratio(count(ClassGen1), count(ClassGen0), "no gen0 collections")
	x.Gen2PerGen1 = ratio(gen2, count(ClassGen1), "no gen1 collections")
	x.BlockingGen2 = ratio(100*count(ClassGen2), gen2, "no gen2 collections").in("%")
	x.SinceLastGen2 = unknown("no gen2 collections")
	switch {
	case s.hasGen2 && s.unbounded:
		x.SinceLastGen2 = x.Duration
	case s.hasGen2 && s.unseen.touch(s.gen2End, x.Window.To):
		x.SinceLastGen2 = unknown("the time since the latest recorded gen2 collection was not observed completely")
	case s.hasGen2:
		x.SinceLastGen2 = known(float64(max(0, x.Window.To-s.gen2End))).in("ns")
	}
	x.Finalized = s.finalized.quantity("no collection reports the finalizers that ran").Total
	x.Heap.Max = s.heapMax.quantity("no collection reports the size of the heap").Max.in("bytes")
	x.Heap.MaxCommitted = s.committedMax.quantity(s.committed.Why).Max.in("bytes")
	x.Heap.MeanGen2 = meanGen2(&x.Classes[ClassGen2].After, &x.Classes[ClassBackground].After)
	x.Memory = s.memory.report()
	s.allocation(x)
	return x
}

// meanGen2 returns the mean size after blocking and background gen2 collections.
func meanGen2(blocking, background *Quantity) Number {
	n := blocking.Count + background.Count
	if n == 0 {
		return unknown("no gen2 collection reports the size of the heap")
	}
	return known((blocking.Total.Value + background.Total.Value) / float64(n)).in("bytes")
}

// allocation fills in the allocations in the Window and their rate.
func (s *Statistics) allocation(x *Summary) {
	bytes, time := s.allocated.inside(s.window)
	x.AllocationRate = rateOf(bytes, time)
	if x.CollectionsOnly && x.Missed > 0 && x.AllocationRate.Known() {
		x.AllocationRate = x.missed()
	}
	if total := x.Classes[ClassAll].Allocated.Total; !x.AllocationRate.Known() && !total.Known() {
		x.AllocationRate = total
	}
	x.Allocated, x.AllocationTime = x.AllocationRate, x.AllocationRate
	if x.AllocationRate.Known() {
		x.Allocated, x.AllocationTime = known(bytes).in("bytes"), known(time).in("ns")
	}
}

// unobserved returns how much of a Window was not observed, including the pause after each gap, and
// the known pauses in that time.
func (s *Statistics) unobserved(w Window) (sum int64, known hiddenPauses) {
	if l := s.live; l != nil {
		return l.unobserved + s.unseen.length(w), l.hidden
	}
	all := s.hidden()
	if len(all) == 0 {
		return 0, known
	}
	for i := range s.stops.n {
		stop := s.stops.at(i)
		known.paused += all.length(Window{stop.start, stop.end()})
		if stop.first() && all.touch(stop.start, stop.start+1) {
			known.collections[stop.class()]++
			known.collections[ClassAll]++
		}
	}
	return all.length(w), known
}

// hidden returns the time that was not observed, including the pause after each gap.
func (s *Statistics) hidden() (all gaps) {
	for _, h := range s.unseen {
		part := gaps{h}
		if i := s.stops.after(h.To); i > 0 {
			stop := s.stops.at(i - 1)
			part.extend(stop.start, stop.end())
		}
		all.add(part[0])
	}
	return all
}

// per returns n per so many nanoseconds of observed time.
func (x *Summary) per(n, nanoseconds float64) Number {
	if !x.Duration.Known() {
		return x.Duration
	}
	return known(n * nanoseconds / x.Duration.Value)
}

// report returns the Rollup of a class, without its distribution of pauses and its rate.
func (r *rollup) report(c Class) Rollup {
	x := r.Rollup
	why := func(lacks string) string {
		if r.Count == 0 {
			return "no " + c.collections()
		}
		return fmt.Sprintf("none of the %s reports %s", c.collections(), lacks)
	}
	x.Compacting = known(float64(r.compacting))
	if r.blocking > 0 && r.compactingKnown == 0 {
		x.Compacting = unknown(why("whether it compacted"))
	}
	x.Induced = known(float64(r.induced))
	if r.Count > 0 && r.reasons == 0 {
		x.Induced = unknown(why("why it was started"))
	}
	x.Pause = r.pause.quantity(why("all of its pauses")).in("ns")
	x.HeapDumpPause = r.dumpPause.quantity(noDumps(r.HeapDumps)).in("ns")
	x.Suspend = r.suspend.quantity(why("the time to suspend the threads")).in("ns")
	x.Peak = r.peak.quantity(why("the size of the heap before it")).in("bytes")
	x.After = r.after.quantity(why("the size of the heap after it")).in("bytes")
	x.Promoted = r.promoted.quantity(why("the promoted bytes")).in("bytes")
	x.Allocated = r.allocated.quantity(
		why("the allocated bytes, which requires its heap histories and those of the previous collection")).in("bytes")
	x.AllocationRate = r.rate.quantity(why("the allocated bytes and in what time")).in("bytes/s")
	x.PinnedObjects = r.pinned.quantity(why("the number of pinned objects"))
	x.PinnedShare = ratio(100*r.survivedPins, r.survived, why("how much of the survivors was pinned")).in("%")
	x.PinsSeen = r.pinsSeen.quantity(why("individual pinned objects; level full does, if there are any")).in("bytes")
	x.PinPlugs = r.pinPlugs.quantity(why("the size of the memory that could not be moved")).in("bytes")
	x.PlugsReported = unknown(
		why("pieces of memory that could not be moved; the private provider at level Verbose does, if there are any"))
	if r.plugs > 0 {
		x.PlugsReported = count(r.plugs)
	}
	x.UserPinned = ratio(100*r.userPinned, r.notMoved, why("both pinned objects and memory that could not be moved")).
		in("%")
	x.Finalization = r.finalization.quantity(why("the number of objects retained for finalization"))
	x.FinalizationBytes = r.finalBytes.quantity(why("the size of the objects retained for finalization")).in("bytes")
	return x
}

// noDumps returns why the pauses for n heap snapshots are unknown.
func noDumps(n uint64) string {
	if n == 0 {
		return "no heap snapshots"
	}
	return "no collection for a heap snapshot reports all of its pauses"
}

// noPauses returns why a class has no distribution of pauses.
func (x *Summary) noPauses(c Class) string {
	switch {
	case x.Classes[c].Count > 0:
		return fmt.Sprintf("none of the %s reports a pause", c.collections())
	case c == ClassNone && x.Sparse:
		return notHeld
	}
	return "no " + c.pauses()
}

// noOtherPauses is why nothing is known about all pauses.
const noOtherPauses = "logs of this format do not contain pauses without a collection"

// distributions fills in the distributions.
func (s *Statistics) distributions(x *Summary) {
	const noSuspend = "no pause reports the time to suspend the threads"
	noBetween := "fewer than two collections"
	if x.Unobserved > 0 {
		noBetween = "no two collections without a gap between them"
	}
	if l := s.live; l != nil {
		for c := range Classes {
			x.Classes[c].Pauses = l.pauses[c].distribution(x.noPauses(c), l.pauses[c].at)
		}
		x.Suspend = l.suspend.distribution(noSuspend, l.suspend.at)
		x.Between = l.between.distribution(noBetween, l.between.at)
	} else {
		values := make([]int64, 0, s.stops.n)
		for c := range Classes {
			x.Classes[c].Pauses = s.stops.distribution(values, x.noPauses(c), func(i *stop) (int64, bool) {
				return i.duration(), c == ClassAll || i.class() == c
			})
		}
		x.Suspend = s.stops.distribution(values, noSuspend,
			func(i *stop) (int64, bool) { return i.suspend, i.suspend > 0 })
		var before *stop
		x.Between = s.stops.distribution(values, noBetween, func(i *stop) (since int64, ok bool) {
			if !i.first() {
				return 0, false
			}
			if before != nil && !s.unseen.touch(before.start, i.start) {
				since, ok = i.start-before.start, true
			}
			before = i
			return since, ok
		})
	}
	if x.CollectionsOnly {
		x.Classes[ClassAll].Pauses, x.Suspend = unknownDistribution(noOtherPauses), unknownDistribution(noOtherPauses)
		if x.Missed > 0 {
			x.Between = unknownDistribution(x.missed().Why)
		}
	}
	// Pauses that are not reported may have occurred.
	for c := range Classes {
		if r := &x.Classes[c]; r.Count > 0 && r.Pauses.Count == 0 && r.Pauses.Total.Known() {
			r.Pauses.Total = unknown(x.noPauses(c))
		}
	}
	if none := &x.Classes[ClassNone].Pauses; s.sparse && none.Count == 0 {
		none.Total = unknown(x.noPauses(ClassNone))
	}
}

// distribution returns the distribution of a value of the stops, where it is known. It reuses the
// memory of values.
func (h *history) distribution(values []int64, why string, value func(*stop) (v int64, known bool)) Distribution {
	var t tally
	values = values[:0]
	for i := range h.n {
		if v, known := value(h.at(i)); known {
			t.add(float64(v))
			values = append(values, v)
		}
	}
	return t.distribution(why, nearestRank(values))
}

// shares fills in which share of the time the program was paused. Worst stretches are searched for
// where all of the time was observed. hidden is the length of the pauses elsewhere.
func (s *Statistics) shares(x *Summary, hidden int64) {
	parts := s.unseen.between(x.Window)
	total := x.Classes[ClassAll].Pauses.Total
	x.Share = total
	if total.Known() {
		x.Share = x.per(100*max(0, total.Value-float64(hidden)), 1).in("%")
	}
	var worst []longest
	if s.live != nil {
		worst = s.live.sliding.worst(x.Window.To)
	} else {
		worst = s.stops.worst(parts)
	}
	for i, length := range allLengths {
		share := Share{Length: int64(length), Percent: total}
		switch {
		case !total.Known():
		case i >= len(worst):
			share.Percent = unknown("live statistics do not keep pauses; a recording does")
		case worst[i].paused < 0:
			share.Percent = unknown(tooShort(x, parts, share.Length))
		default:
			share.Percent, share.At = known(percent(worst[i].paused, share.Length)).in("%"), worst[i].at
		}
		if i < len(shareLengths) {
			x.Worst = append(x.Worst, share)
			continue
		}
		if share.Percent.Known() {
			share.Percent.Value = 100 - share.Percent.Value
		}
		x.Utilization = append(x.Utilization, share)
	}
}

// reasonCounts lists the reasons that occurred, the most frequent first.
func (s *Statistics) reasonCounts() (list []ReasonCount) {
	for r, n := range s.reasons {
		if n > 0 {
			list = append(list, ReasonCount{clr.Reason(r), n})
		}
	}
	slices.SortStableFunc(list, func(a, b ReasonCount) int { return cmp.Compare(b.Count, a.Count) })
	return list
}
