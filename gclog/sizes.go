package gclog

import "github.com/gclog/gclog/parse/clr"

// sizes is what the Reducer remembers of the heap between collections.
type sizes struct {
	after [Generations]uint64 // sizes after the last collection
	known bool
	at    int64 // when they were told

	// What was allocated is found from the sizes of all heaps together: what is
	// there when a collection starts, less what was there when it was last known.
	objects [Generations]int64  // without free space, at the last known moment
	total   [Generations]uint64 // free space included
	counted bool

	ticks   [3]uint64
	hasTick bool
}

func (s *sizes) tick(e *clr.GCAllocationTick) {
	if int(e.Kind) < len(s.ticks) {
		s.ticks[e.Kind] += e.Amount
		s.hasTick = true
	}
}

// seed remembers sizes that belong to no collection of the stream.
func (s *sizes) seed(at Stamp, e *clr.GCHeapStats) {
	s.after, s.known, s.at = e.Size, true, at.Time
	s.ticks = [3]uint64{}
}

// since fills in what refers to the previous sizes, when those of c are told.
func (s *sizes) since(c *collection, at Stamp) {
	if s.known {
		from := c.pauseBegin()
		if c.isBackground() {
			from = at.Time
		}
		c.SinceLast, c.HasSinceLast = max(0, from-s.at), true
	}
	c.TickAllocated, c.HasTicks = s.ticks, s.hasTick
	s.ticks = [3]uint64{}
	c.guessBefore(s)
	s.after, s.known, s.at = sizesOf(&c.GCDetails), true, at.Time
}

func sizesOf(d *GCDetails) (after [Generations]uint64) {
	for g := range after {
		after[g] = d.Generations[g].After
	}
	return after
}

// pauseBegin is when the first pause of c begins or began; its pauses are only
// known when they end.
func (c *collection) pauseBegin() int64 {
	switch {
	case len(c.Pauses) > 0:
		return c.Pauses[0].Start
	case c.Provisional, c.sus == nil, c.sus.begin == unknownTime:
		return c.Start
	}
	return c.sus.begin
}

// guessBefore is for collections without histories of heaps: the sizes after the
// previous collection, for young generations at least what was allocated since.
func (c *collection) guessBefore(s *sizes) {
	if !s.known {
		return
	}
	for g := range c.Generations {
		c.Generations[g].Before = s.after[g]
	}
	c.Generations[Gen0].Before = max(s.after[Gen0], c.TickAllocated[clr.AllocationSmall])
	for _, g := range []int{LOH, POH} {
		c.Generations[g].Before = max(s.after[g], c.Generations[g].After)
	}
	c.HasBefore, c.BeforeEstimated = true, true
}

// sumHeaps adds up the histories of the heaps.
func (c *collection) sumHeaps() {
	if c.HasHistory {
		var objects [Generations][2]int64
		for g := range c.Generations {
			x := &c.Generations[g]
			after, promoted := x.After, x.Promoted
			*x = GenerationDetails{After: after, Promoted: promoted}
		}
		for i := range c.Heaps {
			h := &c.Heaps[i].History
			for g := range h.Generations {
				x, y := &c.Generations[g], &h.Generation[g]
				x.Before += y.SizeBefore
				x.FreeBefore += y.FreeListBefore + y.FreeObjectsBefore
				c.historyAfter[g] += y.SizeAfter
				x.Fragmentation += y.Fragmentation()
				x.In += y.In
				x.Survived += y.Survivors()
				x.SurvivedPins += y.PinnedSurvivors
				x.Budget += y.Budget
				objects[g][0] += y.ObjectsBefore()
				objects[g][1] += y.ObjectsAfter()
			}
		}
		for g := range c.Generations {
			x := &c.Generations[g]
			if c.historyAfter[g] == 0 && !c.Collected(g) {
				// .NET Core 3.1 leaves out the sizes of what it did not collect.
				c.historyAfter[g] = x.After
				objects[g][1] = int64(x.After) - int64(x.Fragmentation)
			}
			x.ObjectsBefore = uint64(max(0, objects[g][0]))
			x.ObjectsAfter = uint64(max(0, objects[g][1]))
		}
		c.HasBefore, c.BeforeEstimated = true, false
	}
	c.setPromoted()
	c.setTiming()
	c.Peak = max(c.Peak, c.SizeBefore())
}

// setPromoted corrects what GCHeapStats says: the numbers of pinned objects are
// never filled, and those of a background collection belong to earlier ones.
func (c *collection) setPromoted() {
	if !c.sized && !c.HasHistory {
		return
	}
	for _, g := range []int{Gen0, Gen1} {
		if c.isBackground() {
			c.Generations[g].Promoted = 0
		}
	}
	if c.HasHistory {
		if c.Collected(POH) {
			c.Generations[POH].Promoted = c.Generations[POH].Survived
		}
		if c.isBackground() {
			for _, g := range []int{Gen2, LOH} {
				c.Generations[g].Promoted = c.Generations[g].Survived
			}
		}
	}
	c.PromotedBytes, c.HasPromoted = c.promotedTotal(), true
}

// setTiming takes over the times of the parts of a collection.
func (c *collection) setTiming() {
	if !c.HasGlobal {
		return
	}
	n := c.Global.TimeCount
	if compacting, _ := c.Compacting(); !compacting {
		n = min(n, clr.TimeCompact) // .NET 8 fills the time of a compaction that was none
	}
	if c.isBackground() {
		n = min(n, clr.TimePlan)
	}
	for i := range n {
		c.Timing[i] = int64(c.Global.Times[i]) * 1000
	}
	c.TimingCount = n
}

// account finds what the program allocated between the collections and c.
//
// The objects of a kind of heap, over all heaps, at the start of a collection less
// those at the last known moment were allocated. A background collection tells
// its sizes at its end, when foreground ones may have counted what came before
// already; what its heaps grew by since then is its own.
func (s *sizes) account(c *collection) {
	if !c.HasHistory {
		s.counted = false
		return
	}
	c.HasAllocated = s.counted
	for _, g := range []int{Gen0, LOH, POH} {
		x := &c.Generations[g]
		if s.counted {
			if !c.overtaken {
				x.Allocated = uint64(max(0, int64(x.ObjectsBefore)-s.objects[g]))
				s.total[g] = x.Before
			}
			if c.isBackground() {
				x.Allocated += sub(c.historyAfter[g], s.total[g])
			}
		}
		s.objects[g], s.total[g] = int64(x.ObjectsAfter), c.historyAfter[g]
	}
	s.counted = true
}

func sub(a, b uint64) uint64 {
	if b > a {
		return 0
	}
	return a - b
}

// setWindow finds the time that the share of the pause refers to: of a blocking
// collection the time since the previous one and its pause, of a background one
// the time from the end of the previous collection to its own.
func (c *collection) setWindow() {
	switch {
	case !c.isBackground():
		if c.HasSinceLast {
			c.Window = c.SinceLast + c.Pause()
		}
	case c.HasEnd && c.hasPrevious:
		c.Window = c.End - c.previousEnd
	case c.HasEnd:
		c.Window = c.End - c.Start
	}
}
