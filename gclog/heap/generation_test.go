package heap

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gclog/gclog/parse/clr"
)

// TestLayoutScan holds the generations of addresses in any order against the definition: what began
// last at or before the address, if it extends so far; and of what moved, what began last where it was.
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
		n := &notes{}
		for _, r := range l.ranges {
			n.ranges = append(n.ranges, rangeNote{1, r})
		}
		for range rnd.IntN(20) {
			n.move(2, clr.MovedRange{Old: at(), New: at(), Length: rnd.Uint64N(size / 4)})
		}
		if l = n.layout(0, 3); l == nil {
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
			want := Frozen
			for _, r := range l.ranges {
				if r.start <= next {
					want = Frozen
					if next < r.end {
						want = r.generation
					}
				}
			}
			before := want
			for _, r := range l.moved {
				if r.start <= next {
					want = before
					if next < r.end {
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

// TestCompactedUnmoved: NativeAOT does not say what a collection has moved, so if it has moved objects, their
// generations are unknown. Without a move, they are where they were.
func TestCompactedUnmoved(t *testing.T) {
	for _, c := range []struct {
		at         int64
		mechanisms clr.Mechanisms
		moves      bool
		known      bool
	}{
		{2, clr.MechanismCompaction | clr.MechanismPromotion, false, false},
		{2, clr.MechanismPromotion, false, true},
		{2, clr.MechanismCompaction, true, true},
		{9, clr.MechanismCompaction, false, true}, // of another collection
	} {
		n := &notes{ranges: []rangeNote{{1, generationRange{0x1000, 0x2000, Gen2}}}}
		n.add(c.at, &clr.GCGlobalHeapHistory{Mechanisms: c.mechanisms})
		if c.moves {
			n.move(2, clr.MovedRange{Old: 0x1100, New: 0x1000, Length: 0x40})
		}
		if l := n.layout(0, 3); (l != nil) != c.known {
			t.Errorf("%+v: %+v", c, l)
		}
	}
}

// TestMoved: objects that moved are in the generation in which they were before, and those that follow
// each other are kept as one range.
func TestMoved(t *testing.T) {
	n := &notes{ranges: []rangeNote{{1, generationRange{0x5000, 0x6000, Gen0}}, {1, generationRange{0x1000, 0x2000, Gen2}}, {1, generationRange{0x3000, 0x4000, Gen1}}}}
	n.move(2, []clr.MovedRange{
		{Old: 0x1100, New: 0x1000, Length: 0x40},
		{Old: 0x1fc0, New: 0x1040, Length: 0x40},
		{Old: 0x3f00, New: 0x1080, Length: 0x100},
		{Old: 0x5000, New: 0x3000, Length: 0x20},
		{Old: 0x5100, New: 0x3020, Length: 0x20},
		{Old: 0x5200, New: 0x3060, Length: 0x20},
		{Old: 0x5300, New: 0x3080},                        // empty
		{Old: 0x5300, New: ^uint64(0) - 15, Length: 0x20}, // false
	}...)
	l := n.layout(0, 3)
	if want := []generationRange{{0x1000, 0x1080, Gen2}, {0x1080, 0x1180, Gen1}, {0x3000, 0x3040, Gen0}, {0x3060, 0x3080, Gen0}}; !slices.Equal(l.moved, want) {
		t.Errorf("%+v, want %+v", l.moved, want)
	}
	for at, want := range map[uint64]Generation{0x1000: Gen2, 0x1080: Gen1, 0x1180: Gen2, 0x303f: Gen0, 0x3040: Gen1, 0x3080: Gen1, 0x5000: Gen0, 0x9000: Frozen} {
		if got := l.before(at); got != want {
			t.Errorf("0x%x: %v, want %v", at, got, want)
		}
	}
}
