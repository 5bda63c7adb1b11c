package analysis

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestGaps compares gaps with a list of the points of time, each of which is in one or not.
func TestGaps(t *testing.T) {
	const points = 40
	// runs are the stretches of [from, to) in which all points are as asked for.
	runs := func(hole *[points]bool, as bool, from, to int64) (list []Window) {
		for at := from; at < to; at++ {
			switch n := len(list); {
			case hole[at] != as:
			case n > 0 && list[n-1].To == at:
				list[n-1].To++
			default:
				list = append(list, Window{at, at + 1})
			}
		}
		return list
	}
	for seed := range uint64(200) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		var h gaps
		var hole [points]bool
		for range rnd.IntN(12) {
			from := rnd.Int64N(points)
			to := min(points, from+rnd.Int64N(6)-1)
			if from < to {
				h.add(Missing{Window{from, to}, ""})
			}
			for at := from; at < to; at++ {
				hole[at] = true
			}
			if want := runs(&hole, true, 0, points); !slices.Equal(h.windows(), want) {
				t.Fatalf("seed %d: %v, want %v", seed, h, want)
			}
		}
		for from := range int64(points) {
			for to := from + 1; to < points; to++ {
				var in []Window
				h.in(Window{from, to}, func(from, to int64) { in = append(in, Window{from, to}) })
				if want := runs(&hole, true, from, to); !slices.Equal(in, want) || h.touch(from, to) != (len(want) > 0) {
					t.Fatalf("seed %d: in [%d, %d) of %v: %v, want %v", seed, from, to, h, in, want)
				}
				if got, want := h.between(Window{from, to}), runs(&hole, false, from, to); !slices.Equal(got, want) {
					t.Fatalf("seed %d: between %d and %d of %v: %v, want %v", seed, from, to, h, got, want)
				}
			}
		}
	}
}

func (list gaps) windows() (all []Window) {
	for _, m := range list {
		all = append(all, m.Window)
	}
	return all
}
