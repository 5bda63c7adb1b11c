package gclog

import (
	"math"

	"github.com/gclog/gclog/parse/clr"
)

// sizes is what the Reducer remembers about the heap between collections.
type sizes struct {
	after [Generations]uint64 // sizes after the last collection
	known bool                // after is known
	at    int64               // when they were reported

	// Allocation is computed from the sizes of all heaps together: what is there when a collection
	// starts, minus what was there when it was last known.
	objects [Generations]int64  // without free space, at the last known moment
	total   [Generations]uint64 // free space included
	counted bool                // objects and total are known

	ticks   [3]uint64
	hasTick bool

	budgets budgets
	rate    rate
}

// A rate is what was allocated since the last non-background collection, according to the records
// of background collections so far, and in what time. While the threads are being resumed, the
// program counts as running.
type rate struct {
	known     bool  // since is known
	since     int64 // when the threads began to resume after that collection
	paused    int64 // paused time since then
	allocated uint64
}

// pause adds a pause.
func (x *rate) pause(p *Pause) {
	if p.Start >= x.since {
		x.paused += p.Paused()
	}
}

// next sets the allocation rate of a collection and, unless it is a background one, starts over.
func (x *rate) next(c *collection) {
	if c.isBackground() {
		x.allocated += c.Allocated
		return
	}
	n := len(c.Pauses)
	if n == 0 {
		*x = rate{}
		return
	}
	ran := c.Pauses[0].Start - x.since - x.paused
	if x.known && c.Known.Has(GroupAllocated) && ran > 0 {
		// The stream may be damaged, hence the limit.
		c.AllocationRate = min(float64(x.allocated+c.Allocated)*1e9/float64(ran), math.MaxInt64)
	}
	*x = rate{known: true, since: c.Pauses[n-1].Start + c.Pauses[n-1].Paused()}
}

func (s *sizes) tick(e *clr.GCAllocationTick) {
	if int(e.Kind) < len(s.ticks) {
		s.ticks[e.Kind] += e.Amount
		s.hasTick = true
	}
}

// seed remembers sizes that belong to no collection in the stream.
func (s *sizes) seed(at Stamp, e *clr.GCHeapStats) {
	s.after, s.known, s.at = e.Size, true, at.Time
	s.ticks = [3]uint64{}
}

// since fills in what relates to the previous sizes, when the sizes of c are reported.
func (s *sizes) since(c *collection, at Stamp) {
	if s.known {
		from := c.pauseBegin()
		if c.isBackground() && c.restarted { // otherwise the program is paused: c turns out to be a blocking collection
			from = at.Time
		}
		c.SinceLast = max(0, from-s.at)
		c.Known |= GroupSinceLast
	}
	c.TickAllocated = s.ticks
	c.Known.Set(GroupTicks, s.hasTick)
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

// pauseBegin returns when the first pause of c started; its pauses are known only when they have
// ended.
func (c *collection) pauseBegin() int64 {
	switch {
	case len(c.Pauses) > 0:
		return c.Pauses[0].Start
	case c.Provisional, c.sus == nil, c.sus.begin == unknownTime:
		return c.Start
	}
	return c.sus.begin
}

// guessBefore estimates the sizes before a collection that has no heap histories: the sizes after
// the previous collection plus, for young generations, at least what has been allocated since.
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
	c.BeforeEstimated = true
	c.Known |= GroupBefore
}

// sumHeaps sums up the heap histories.
func (c *collection) sumHeaps() {
	if c.Known.Has(GroupHistory) {
		var objects [Generations][2]int64
		for g := range c.Generations {
			x := &c.Generations[g]
			*x = GenerationDetails{
				After:         x.After,
				Promoted:      x.Promoted,
				BudgetLeft:    x.BudgetLeft,
				HasBudgetLeft: x.HasBudgetLeft,
			}
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
		// The histories contain what each heap requested. For gen0 the runtime takes the mean,
		// smooths and limits it, or DATAS decides: the global history has the result, except in
		// 32-bit runtimes.
		if perHeap := c.Global.FinalYoungestDesired; perHeap > 0 && c.Collected(Gen0) {
			c.Generations[Gen0].Budget = perHeap * uint64(c.historyCount())
		}
		for g := range c.Generations {
			x := &c.Generations[g]
			if c.historyAfter[g] == 0 && !c.Collected(g) {
				// .NET Core 3.1 leaves out the size and free space of generations that it did not
				// collect: they are unchanged.
				c.historyAfter[g] = x.After
				if !c.isBackground() {
					x.Fragmentation = min(x.FreeBefore, x.After)
				}
				objects[g][1] = int64(x.After) - int64(x.Fragmentation)
			}
			x.ObjectsBefore = uint64(max(0, objects[g][0]))
			x.ObjectsAfter = uint64(max(0, objects[g][1]))
			c.Fragmentation += x.Fragmentation
		}
		c.Known |= GroupBefore
		c.BeforeEstimated = false
	}
	c.setPromoted()
	c.setTiming()
	c.Peak = max(c.Peak, c.SizeBefore())
}

// setPromoted corrects the values of GCHeapStats: the numbers for pinned objects are never set, and
// those of a background collection belong to earlier collections.
func (c *collection) setPromoted() {
	if !c.sized && (!c.isBackground() || !c.Known.Has(GroupHistory)) {
		return
	}
	c.Known |= GroupGenerationPromoted
	for _, g := range []int{Gen0, Gen1} {
		if c.isBackground() {
			c.Generations[g].Promoted = 0
		}
	}
	if c.Known.Has(GroupHistory) {
		if c.Collected(POH) {
			c.Generations[POH].Promoted = c.Generations[POH].Survived
		}
		if c.isBackground() {
			for _, g := range []int{Gen2, LOH} {
				c.Generations[g].Promoted = c.Generations[g].Survived
			}
		}
	}
	if c.Known.Has(GroupHistory) || c.GenerationCount <= POH || !c.Collected(POH) {
		c.PromotedBytes = c.promotedTotal()
		c.Known |= GroupPromoted
	}
}

// setTiming copies the durations of the parts of a collection.
func (c *collection) setTiming() {
	if !c.Known.Has(GroupGlobal) {
		return
	}
	n := c.Global.TimeCount
	if compacting, _ := c.Compacting(); !compacting {
		n = min(n, clr.TimeCompact)
	}
	// .NET 8 fails to subtract the start of the compaction in gen1 and gen2: the value it reports
	// is the time since the machine started.
	if n > clr.TimeCompact && c.Known.Has(GroupEnd) && int64(c.Global.Times[clr.TimeCompact])*1000 > c.Duration() {
		n = clr.TimeCompact
	}
	if c.isBackground() {
		n = min(n, clr.TimePlan)
	}
	for i := range n {
		c.Timing[i] = int64(c.Global.Times[i]) * 1000
	}
	c.TimingCount = n
}

// account computes what the program allocated between the previous collections and c.
//
// For each kind of heap, the objects at the start of a collection, summed over all heaps, minus
// those at the last known moment, were allocated. A background collection reports both numbers at
// its end. If other collections have already counted what came before its start, only what they did
// not see is attributed to it: it frees objects while the program runs. What was allocated until its
// end is at least what the heaps, or the objects in them, have grown by since then. From .NET 9 on
// the objects before it in LOH and POH include what was allocated until it sweeps these heaps, when
// nothing can be: that is all, so the growth must not count again. Allocation in gen0 during its
// sweep is left to the budgets.
func (s *sizes) account(c *collection, how counting) {
	if !c.Known.Has(GroupHistory) {
		s.counted = false
		s.budgets.forget()
		s.rate = rate{}
		return
	}
	c.Known.Set(GroupAllocated|GroupGenerationAllocated, s.counted)
	for _, g := range allocated {
		x := &c.Generations[g]
		if s.counted {
			switch {
			case !c.overtaken && c.Kind == KindForeground && g != Gen0 && x.FreeBefore == 0:
				// The background collection is sweeping: in .NET Core 3.1 it has detached the free
				// list, so free space looks like objects.
				x.Allocated = sub(x.Before, s.total[g])
			case !c.overtaken:
				x.Allocated = grown(s.objects[g], int64(x.ObjectsBefore))
				s.objects[g], s.total[g] = int64(x.ObjectsBefore), x.Before
			case c.isBackground() && c.startCounted:
				x.Allocated = sub(grown(c.startObjects[g], int64(x.ObjectsBefore)), c.overtook[g])
			}
			if c.isBackground() {
				grew := max(sub(c.historyAfter[g], s.total[g]), grown(s.objects[g], int64(x.ObjectsAfter)))
				if g == Gen0 || !c.overtaken {
					x.Allocated += grew
				} else {
					x.Allocated = max(x.Allocated, grew)
				}
			}
		}
		s.objects[g], s.total[g] = int64(x.ObjectsAfter), c.historyAfter[g]
	}
	s.counted = true
	s.budgets.next(c, how)
	c.Allocated = c.sum(func(g *GenerationDetails) uint64 { return g.Allocated })
	s.rate.next(c)
}

func grown(from, to int64) uint64 { return uint64(max(0, to-from)) }

func sub(a, b uint64) uint64 {
	if b > a {
		return 0
	}
	return a - b
}

// setWindow computes the time that PausePercent relates to: for a blocking collection the time
// since the previous one plus its own pause, for a background one the time from the end of the
// previous collection to its own end.
func (c *collection) setWindow() {
	switch {
	case !c.isBackground():
		if c.Known.Has(GroupSinceLast) {
			c.Window = c.SinceLast + c.Pause()
		}
	case c.Known.Has(GroupEnd) && c.hasPrevious:
		c.Window = c.End - c.previousEnd
	case c.Known.Has(GroupEnd):
		c.Window = c.End - c.Start
	}
}
