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

	// swept: a background collection has begun to sweep since the last collection of gen0, and
	// nothing else keeps what is left of gen0 from being known. young is what was found to be
	// allocated in gen0 since that collection.
	swept bool
	young uint64
}

// A heapBudget has, of each generation, what its latest collection left.
type heapBudget [Generations]struct {
	left    int64 // of the budget, less what younger collections moved up into the generation
	known   bool
	objects int64  // size without free space
	size    uint64 // free space included
	in      uint64 // what that collection itself moved up into the generation
	used    int64  // of what the program allocates in: at least so much since then
}

// allocated are the generations that the program allocates in.
var allocated = [...]int{Gen0, LOH, POH}

func (b *budgets) copy(of *budgets) {
	heaps := append(b.heaps[:0], of.heaps...)
	*b = *of
	b.heaps = heaps
}

func (b *budgets) forget() { *b = budgets{heaps: b.heaps[:0]} }

// sweep notes that a background collection is about to sweep: it makes free space of objects in
// gen0 too and lets the program allocate in it, which nothing reports.
func (b *budgets) sweep() {
	b.swept = len(b.heaps) > 0 && (b.swept || b.heaps[0][Gen0].known)
	b.lose()
}

// replace notes that a no-GC region has set budgets of its own.
func (b *budgets) replace() {
	b.swept = false
	b.lose()
}

// lose notes that what is left where the program allocates is unknown until it is collected.
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
	c.reuse(b.young)
	b.young += c.Generations[Gen0].Allocated
	if c.Collected(Gen0) {
		b.swept, b.young = false, 0
	}
}

// reuse adds what was allocated in gen0 while a background collection made free space of its
// objects, as far as it is known: at least what the heaps have grown by since the last collection
// of gen0, and where small objects ask for c the fullest heap has used up its budget. young is what
// was found already.
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

// use takes off what was used until the collection of h started. With regions that includes
// what the collection that set the budget moved up.
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
