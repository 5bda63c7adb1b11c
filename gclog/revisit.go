package gclog

import (
	"slices"

	"github.com/gclog/gclog/parse/clr"
)

// A revisiting is how far a thread has come with what was written to. It goes through its
// heap generation by generation and tells after each what it has so far: with regions, in
// pauses, gen0 and gen1, as if they were large objects; then gen2, which makes all of the
// small ones. It begins anew with the large objects, and those of the pinned ones are told
// together with them (.NET 5 and up).
type revisiting struct {
	thread uint64
	paused int
	small  bool    // the small objects are done
	large  Revisit // of the large and pinned ones, so far
}

func (r *Reducer) bgcRevisit(at Stamp, e *clr.BGCRevisit) {
	c := r.openBackground()
	if c == nil {
		return
	}
	paused := 0
	if r.standing() {
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
	told := Revisit{Pages: e.Pages, References: e.Objects}
	switch sums := &c.background.Revisited[paused]; {
	case !e.Large:
		v.small, v.large = true, Revisit{}
		sums[0].grow(Revisit{}, told)
	case v.small:
		sums[1].grow(v.large, told)
		v.large = told
	}
}

// grow adds what is more in a count than before.
func (v *Revisit) grow(before, now Revisit) {
	v.Pages += max(before.Pages, now.Pages) - before.Pages
	v.References += max(before.References, now.References) - before.References
}
