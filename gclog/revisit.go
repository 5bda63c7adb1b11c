package gclog

import (
	"slices"

	"github.com/gclog/gclog/parse/clr"
)

// A revisiting is a thread's progress in reporting revisited memory. The thread goes through its
// heap generation by generation and reports a running count after each: with regions, in pauses,
// gen0 and gen1, reported as large objects; then gen2, which completes the small ones. Then the
// count restarts with the large objects, and the count after the pinned ones includes the large
// ones (.NET 5 and later).
type revisiting struct {
	thread uint64
	paused int     // 1 in a pause, otherwise 0
	small  bool    // the small objects are complete
	large  Revisit // large and pinned objects so far
}

func (r *Reducer) bgcRevisit(at Stamp, e *clr.BGCRevisit) {
	c := r.openBackground()
	if c == nil {
		return
	}
	paused := 0
	if r.paused() {
		paused = 1
	}
	i := slices.IndexFunc(c.revisitings, func(v revisiting) bool { return v.thread == at.Thread })
	if i < 0 {
		if len(c.revisitings) >= maxHeaps {
			return
		}
		i = len(c.revisitings)
		c.revisitings = append(c.revisitings, revisiting{thread: at.Thread})
	}
	v := &c.revisitings[i]
	if v.paused != paused {
		*v = revisiting{thread: at.Thread, paused: paused}
	}
	reported := Revisit{Pages: e.Pages, References: e.Objects}
	switch sums := &c.background.Revisited[paused]; {
	case !e.Large:
		v.small, v.large = true, Revisit{}
		sums[0].grow(Revisit{}, reported)
	case v.small:
		sums[1].grow(v.large, reported)
		v.large = reported
	}
}

// grow adds the growth of a count from before to now.
func (v *Revisit) grow(before, now Revisit) {
	v.Pages += max(before.Pages, now.Pages) - before.Pages
	v.References += max(before.References, now.References) - before.References
}
