package gclog

import (
	"math"

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

func (b *budgets) forget() { *b = budgets{heaps: b.heaps[:0]} }

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
	b.forget()
	for range n {
		b.heaps = append(b.heaps, heapBudget{})
	}
}

// next fills in the budgets that remained when c started, takes over the budgets that c set, and
// charges what c promoted.
func (b *budgets) next(c *collection, regions bool) {
	n := c.historyCount()
	b.resize(n)
	c.budgets.resize(n)
	for i := range c.Heaps {
		h := &c.Heaps[i]
		switch {
		case !h.HasHistory:
			continue
		case int(h.Heap) >= n: // no such heap: the stream is damaged
			b.forget()
			return
		}
		c.budgets.heaps[h.Heap].use(&h.History, regions)
		b.heaps[h.Heap].next(c, &h.History)
	}
	c.left()
	c.reuse(b.young)
	b.young += c.Generations[Gen0].Allocated
	if c.Collected(Gen0) {
		b.swept, b.young = false, 0
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
	if c.HasReason && c.Reason == clr.ReasonAllocSmall {
		all += max(0, least)
	}
	c.Generations[Gen0].Allocated += sub(uint64(all), young+c.Generations[Gen0].Allocated)
}

// use subtracts what was used before the collection that reported h started. With regions, that
// includes what the collection that set the budget promoted.
func (x *heapBudget) use(h *clr.GCPerHeapHistory, regions bool) {
	for _, g := range allocated {
		y, now := &x[g], &h.Generation[g]
		y.used = max(now.ObjectsBefore()-y.objects, int64(sub(now.SizeBefore, y.size)), 0)
		y.left -= y.used
	}
	for g := range x {
		if regions {
			x[g].left -= int64(x[g].in)
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
