package gclog

import (
	"math"
	"strings"

	"github.com/gclog/gclog/parse/clr"
)

// budgets estimates what remains of each generation's allocation budget, as far as events allow: a
// collection sets the budgets of the generations it collected; allocations by the program and
// promotions from younger generations use them up.
//
// Each heap has its own budgets. After a collection the runtime makes the budgets of all heaps
// equal, and the first heap to exceed one requests a collection.
type budgets struct {
	heaps []heapBudget // by number

	// swept: since the last gen0 collection a background collection has started to sweep, and
	// nothing else makes gen0's remaining budget unknown. young is the gen0 allocation found since
	// that collection.
	swept bool
	young uint64

	smoothed smoothed
}

// counting is how the runtime counts budgets, as far as that is known.
type counting struct {
	regions Known // what a collection promotes uses up the budget that it sets
	server  bool  // the budgets of LOH and POH are smoothed
	whole   bool  // the session has seen the first collection of the process
	atSweep bool  // a background collection may report LOH and POH as of its sweep
}

// counting returns what applies to a collection.
func (r *Reducer) counting(c *collection) counting {
	var unknown Process
	p := &unknown
	if r.process != nil {
		p = r.process
	}
	x := counting{whole: r.seen && r.first == 1, server: r.server == flavourServer || p.Server == Yes}
	v, old := p.major(), c.GenerationCount <= POH
	x.atSweep = !old && (v == 0 || v >= 9)
	standalone := p.GCLibrary != "" && !strings.Contains(p.GCLibrary, "clrgcexp")
	switch {
	case r.segments.regions:
		x.regions = Yes
	case old, v != 0 && v < 7, standalone, x.whole: // in whole regions for the first objects would have been created
		x.regions = No
	}
	return x
}

// smoothed are the budgets of LOH and POH that server GC has smoothed: after a gen2 collection a third
// of what the heaps requested and two thirds of what was in force before are; of the first two
// collections all and half.
type smoothed struct {
	gen2  uint64 // gen2 collections since the first of the process, of the session, or since one was missed
	lost  bool   // one may have been missed
	total [Generations]uint64
}

// settled is after how many gen2 collections less than 1 % of a budget is from before them.
const settled = 12

// next returns the budget of LOH or POH in force after c, whose heaps requested its Budget, and
// whether it is known.
func (x *smoothed) next(g int, c *collection, how counting) (total uint64, known bool) {
	weight := min(x.gen2, 3)
	x.total[g] = c.Generations[g].Budget/weight + x.total[g]/weight*(weight-1)
	return x.total[g], how.whole && !x.lost || x.gen2 >= settled
}

// A heapBudget holds, for each generation, the state that its latest collection left.
type heapBudget [Generations]struct {
	left    int64  // of the budget, minus what younger collections promoted into the generation
	known   bool   // left is known
	objects int64  // size without free space
	size    uint64 // free space included
	in      uint64 // promoted into the generation by that collection itself
	used    int64  // where the program allocates: the minimum used since then
}

// allocated lists the generations that the program allocates in.
var allocated = [...]int{Gen0, LOH, POH}

func (b *budgets) copy(of *budgets) {
	heaps := append(b.heaps[:0], of.heaps...)
	*b = *of
	b.heaps = heaps
}

func (b *budgets) forget() { *b = budgets{heaps: b.heaps[:0], smoothed: smoothed{lost: true}} }

// sweep records that a background collection is about to sweep: it also turns gen0 objects into
// free space that the program may allocate in, and no event reports that.
func (b *budgets) sweep() {
	b.swept = len(b.heaps) > 0 && (b.swept || b.heaps[0][Gen0].known)
	b.lose()
}

// replace records that a no-GC region has set its own budgets.
func (b *budgets) replace() {
	b.swept = false
	b.lose()
}

// lose marks the remaining budget of every generation that the program allocates in as unknown
// until that generation is collected.
func (b *budgets) lose() {
	for i := range b.heaps {
		for _, g := range allocated {
			b.heaps[i][g].known = false
		}
	}
}

// resize makes room for n heaps. If the number of heaps changed, the runtime has redistributed
// their budgets, and no event reports what each heap got.
func (b *budgets) resize(n int) {
	if len(b.heaps) == n {
		return
	}
	*b = budgets{heaps: b.heaps[:0], smoothed: b.smoothed}
	for range n {
		b.heaps = append(b.heaps, heapBudget{})
	}
}

// next fills in the budgets that remained when c started, takes over the budgets that c set, and
// charges what c promoted.
func (b *budgets) next(c *collection, how counting) {
	n := c.historyCount()
	b.resize(n)
	if c.Provisional { // the collection before it, in the same suspension, has set budgets
		c.budgets.copy(b)
	}
	c.budgets.resize(n)
	b.smooth(c, how)
	for i := range c.Heaps {
		h := &c.Heaps[i]
		switch {
		case !h.HasHistory:
			continue
		case int(h.Heap) >= n: // no such heap: the stream is damaged
			b.forget()
			return
		}
		c.budgets.heaps[h.Heap].use(c, &h.History, how)
		b.heaps[h.Heap].next(c, &h.History)
	}
	c.left()
	c.reuse(b.young)
	b.young += c.Generations[Gen0].Allocated
	if c.Collected(Gen0) {
		b.swept, b.young = false, 0
	}
}

// smooth replaces the budgets of LOH and POH that the heaps requested by those in force.
func (b *budgets) smooth(c *collection, how counting) {
	if !c.Collected(LOH) {
		return
	}
	b.smoothed.gen2++
	for _, g := range []int{LOH, POH} {
		total, known := b.smoothed.next(g, c, how)
		switch {
		case !how.server:
		case known:
			c.Generations[g].Budget = total
		default:
			c.Generations[g].Budget = 0
		}
	}
}

// reuse adds what was allocated in gen0 while a background collection turned gen0 objects into free
// space, as far as that is known: at least what the heaps have grown by since the last gen0
// collection; and if c was triggered by small-object allocation, the fullest heap has used up its
// budget. young is the part that was already found.
func (c *collection) reuse(young uint64) {
	if !c.budgets.swept || c.isBackground() {
		return
	}
	all, least := int64(0), int64(math.MaxInt64)
	for i := range c.budgets.heaps {
		y := &c.budgets.heaps[i][Gen0]
		all, least = all+y.used, min(least, y.left)
	}
	if c.Known.Has(GroupReason) && c.Reason == clr.ReasonAllocSmall {
		all += max(0, least)
	}
	c.Generations[Gen0].Allocated += sub(uint64(all), young+c.Generations[Gen0].Allocated)
}

// use subtracts what was used before the collection c, which reported h, started. With regions,
// that includes what the collection that set the budget promoted.
func (x *heapBudget) use(c *collection, h *clr.GCPerHeapHistory, how counting) {
	for _, g := range allocated {
		y, now := &x[g], &h.Generation[g]
		y.used = max(now.ObjectsBefore()-y.objects, int64(sub(now.SizeBefore, y.size)), 0)
		y.left -= y.used
		if g != Gen0 && c.isBackground() && how.atSweep {
			y.known = false
		}
	}
	for g := range x {
		switch y := &x[g]; {
		case how.regions == Yes:
			y.left -= int64(y.in)
		case how.regions == Unknown && y.in > 0:
			y.known = false
		}
	}
}

func (x *heapBudget) next(c *collection, h *clr.GCPerHeapHistory) {
	for g := range x {
		y, now := &x[g], &h.Generation[g]
		switch {
		case c.Collected(g):
			budget := c.Generations[g].Budget / uint64(c.historyCount())
			y.left, y.known, y.in = int64(budget), budget > 0, now.In
			y.objects, y.size = now.ObjectsAfter(), now.SizeAfter
		case !c.isBackground() && (g == Gen1 || g == Gen2):
			y.left -= int64(now.In)
		}
	}
}

// left fills in what the heap with the smallest remainder had left when c started.
func (c *collection) left() {
	for g := range c.Generations {
		x := &c.Generations[g]
		if x.HasBudgetLeft { // already set by another collection of the same suspension
			continue
		}
		heaps := c.budgets.heaps
		known, least := len(heaps) > 0, int64(math.MaxInt64)
		for i := range heaps {
			known, least = known && heaps[i][g].known, min(least, heaps[i][g].left)
		}
		if known {
			x.BudgetLeft, x.HasBudgetLeft = least, true
		}
	}
}

// shareBudgets copies the remaining budgets from another collection of the same suspension.
func (c *collection) shareBudgets(of *collection) {
	for g := range c.Generations {
		x, y := &c.Generations[g], &of.Generations[g]
		x.BudgetLeft, x.HasBudgetLeft = y.BudgetLeft, y.HasBudgetLeft
	}
}
