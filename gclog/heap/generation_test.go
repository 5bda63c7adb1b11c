package heap

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gclog/gclog/parse/clr"
)

// TestLayoutScan holds the generations of addresses in any order against the definition: where the
// object was before it moved, and what began last at or before that place, if it extends so far.
func TestLayoutScan(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for round := range 300 {
		size := uint64(1) << (4 + rnd.IntN(12))
		at := func() uint64 { return rnd.Uint64N(size) - size/4 } // some below 0, which are the highest
		l := &layout{}
		for range rnd.IntN(20) {
			start := at()
			l.ranges = append(l.ranges, generationRange{start, max(start, start+rnd.Uint64N(size/4)), Generation(rnd.IntN(5))})
		}
		for range rnd.IntN(20) {
			l.moved = append(l.moved, clr.MovedRange{Old: at(), New: at(), Length: rnd.Uint64N(size / 4)})
		}
		w := &walk{before: l.ranges, moved: l.moved}
		if l = w.layout(); l == nil {
			continue
		}
		scan := layoutScan{layout: l}
		next := at()
		for range 1000 {
			if rnd.IntN(10) == 0 {
				next = at()
			}
			if rnd.IntN(100) == 0 {
				next = math.MaxUint64 - rnd.Uint64N(2)
			}
			want, old := Frozen, next
			for _, m := range l.moved {
				if m.New <= next {
					old = next
					if next-m.New < m.Length {
						old = next - m.New + m.Old
					}
				}
			}
			for _, r := range l.ranges {
				if r.start <= old {
					want = Frozen
					if old < r.end {
						want = r.generation
					}
				}
			}
			if got := scan.before(next); got != want {
				t.Fatalf("round %d: 0x%x is in %v, want %v: %+v", round, next, got, want, l)
			}
			next += rnd.Uint64N(4)
		}
	}
}
