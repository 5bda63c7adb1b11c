package gclog

import (
	"math"

	"github.com/gclog/gclog/parse/clr"
)

// budgets is what is left of the budgets of the generations, as far as it can be followed
// from outside: a collection sets the budget of what it collected, and the program's
// allocations and the promotions of younger collections use it up.
//
// Each heap has budgets of its own. The runtime makes those of all heaps equal when it has
// collected, and the first heap that has used one up asks for a collection.
type budgets struct {
	heaps []heapBudget // by number
}

// A heapBudget has, of each generation, what its latest collection left.
type heapBudget [Generations]struct {
	left    int64 // of the budget, less what younger collections moved up into the generation
	known   bool
	objects int64  // size without free space
	size    uint64 // free space included
	in      uint64 // what that collection itself moved up into the generation
}

// allocated are the generations that the program allocates in.
var allocated = [...]int{Gen0, LOH, POH}

func (b *budgets) copy(of *budgets) { b.heaps = append(b.heaps[:0], of.heaps...) }

func (b *budgets) forget() { b.heaps = b.heaps[:0] }

// lose notes that what the program allocates cannot be followed until the next collection:
// a background collection is about to sweep, which makes free space of objects in gen0 too and
// lets the program allocate in it, or a no-GC region has set budgets of its own.
func (b *budgets) lose() {
	for i := range b.heaps {
		for _, g := range allocated {
			b.heaps[i][g].known = false
		}
	}
}

// resize makes room for n heaps. If there were others, the runtime has divided anew what they
// had, and nothing reports what each got.
func (b *budgets) resize(n int) {
	if len(b.heaps) == n {
		return
	}
	b.forget()
	for range n {
		b.heaps = append(b.heaps, heapBudget{})
	}
}

// next fills in what was left when c started, takes over the budgets that c has set, and
// charges what c moved up.
func (b *budgets) next(c *collection, regions bool) {
	n := c.historyCount()
	b.resize(n)
	c.budgets.resize(n)
	for i := range c.Heaps {
		h := &c.Heaps[i]
		switch {
		case !h.HasHistory:
			continue
		case int(h.Heap) >= n: // there is no such heap: the stream is damaged
			b.forget()
			return
		}
		c.budgets.heaps[h.Heap].use(&h.History, regions)
		b.heaps[h.Heap].next(c, &h.History)
	}
	c.left()
}

// use takes off what was used until the collection of h started. With regions that includes
// what the collection that set the budget moved up.
func (x *heapBudget) use(h *clr.GCPerHeapHistory, regions bool) {
	for _, g := range allocated {
		y, now := &x[g], &h.Generation[g]
		y.left -= max(now.ObjectsBefore()-y.objects, int64(sub(now.SizeBefore, y.size)), 0)
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

// left fills in what the heap with the least had left when c started.
func (c *collection) left() {
	for g := range c.Generations {
		x := &c.Generations[g]
		if x.HasBudgetLeft { // another collection of the same suspension has told
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

// shareBudgets takes over what another collection of the same suspension began with.
func (c *collection) shareBudgets(of *collection) {
	for g := range c.Generations {
		x, y := &c.Generations[g], &of.Generations[g]
		x.BudgetLeft, x.HasBudgetLeft = y.BudgetLeft, y.HasBudgetLeft
	}
}
