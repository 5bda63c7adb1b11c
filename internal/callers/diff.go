package callers

import (
	"cmp"
	"math"
	"slices"

	"github.com/gclog/gclog/gclog/stacks"
)

// A Change is what something allocated in two profiles, in bytes per second.
type Change struct {
	Name          string
	Path          []string // by path: its frames, the outermost first
	Before, After Rate
}

// A Rate is how much was allocated per second.
type Rate struct {
	stacks.Estimate
	PerSecond float64
	Margin    float64 // half the width of the 95 % interval of PerSecond
}

// By returns by how much the rate has changed, and how wrong that may be: the two intervals together.
func (c *Change) By() (change, margin float64) {
	return c.After.PerSecond - c.Before.PerSecond, c.Before.Margin + c.After.Margin
}

// Sure reports whether the rate has changed: the intervals have nothing in common.
func (c *Change) Sure() bool {
	change, margin := c.By()
	return math.Abs(change) > margin
}

// rate returns an estimate of the profile as a rate. With too few events, as much may have been allocated as there
// are usually enough events for. Where every object has an event, the recording may have just missed one.
func (v *View) rate(e stacks.Estimate) Rate {
	margin, seconds := v.Profile.Margin(e), v.Profile.Duration.Seconds()
	if !e.Enough() {
		margin = max(margin, stacks.Unseen)
	} else {
		margin = max(margin, e.Bytes/float64(e.Events))
	}
	return Rate{e, e.Bytes / seconds, margin / seconds}
}

// Total returns what was allocated in two profiles. Both must have a duration.
func Total(before, after *View) Change {
	return Change{Before: before.rate(before.Profile.Total), After: after.rate(after.Profile.Total)}
}

// Changes returns what was allocated by each type, method or path in two profiles, what has changed most first.
// Both must have a duration. Paths are best Own: what follows depends on what the runtime has inlined.
func Changes(before, after *View, by string) []Change {
	index := map[string]int{}
	var list []Change
	for i, v := range []*View{before, after} {
		for _, r := range v.Rows(by) {
			at, ok := index[r.Name]
			if !ok {
				at = len(list)
				index[r.Name] = at
				none := stacks.Estimate{}
				list = append(list, Change{r.Name, r.Path, before.rate(none), after.rate(none)})
			}
			if of := v.rate(r.Estimate); i == 0 {
				list[at].Before = of
			} else {
				list[at].After = of
			}
		}
	}
	slices.SortStableFunc(list, func(a, b Change) int {
		x, _ := a.By()
		y, _ := b.By()
		return cmp.Compare(math.Abs(y), math.Abs(x))
	})
	return list
}
