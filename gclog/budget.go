package gclog

// budgets is what is left of the budgets of the generations, as far as it can be followed
// from outside: a collection sets the budget of what it collected, and the program's
// allocations and the promotions of younger collections use it up.
type budgets [Generations]struct {
	left  int64
	known bool
}

// begin remembers what was left when c started. What is promoted and allocated until it
// settles may be another collection's doing.
func (b *budgets) begin(c *collection) { c.budgets = *b }

// left fills in what was left when c started. What was allocated before a background
// collection is what there was at its start beyond what was there at the last known moment:
// what it has counted as allocated is also what came while it ran. Large and pinned objects
// before it hold some of those that came while it began to mark.
func (c *collection) left() {
	for g := range c.Generations {
		x, y := &c.Generations[g], &c.budgets[g]
		used := uint64(0)
		switch {
		case x.HasBudgetLeft: // another collection has told
			continue
		case g == Gen1, g == Gen2:
		case !c.startCounted:
			continue
		case c.isBackground():
			used = grown(c.startObjects[g], int64(x.ObjectsBefore))
		default:
			used = x.Allocated
		}
		if x.HasBudgetLeft = y.known; y.known {
			x.BudgetLeft = y.left - int64(used)
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

// next takes over the budgets that c has set, and charges what it moved up and what was
// allocated before it.
func (b *budgets) next(c *collection) {
	for g := range b {
		x, y := &c.Generations[g], &b[g]
		switch {
		case c.Collected(g):
			y.left, y.known = int64(x.Budget), x.Budget > 0
		case g == Gen1, g == Gen2:
			if !c.isBackground() {
				y.left -= int64(x.In)
			}
		default:
			y.left -= int64(x.Allocated)
			y.known = y.known && c.HasAllocated
		}
	}
}
