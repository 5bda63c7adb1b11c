package parse

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestSorter: rows of many threads come out oldest first, those of one time in the order in which
// they came, up to the limit and no further; what is used again holds nothing of what it was.
func TestSorter(t *testing.T) {
	type key struct {
		ticks   int64
		arrival uint64
	}
	for seed := range uint64(200) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		var s sorter
		threads := make([]captureThread, 1+rnd.IntN(60))
		newest := make([]int64, len(threads))
		var waiting []key
		for range 400 {
			if rnd.IntN(8) > 0 {
				i := rnd.IntN(len(threads))
				newest[i] += rnd.Int64N(40)
				w := s.add(&threads[i], newest[i])
				if w.more != 0 {
					t.Fatalf("seed %d: a new row says that %d were folded into it", seed, w.more)
				}
				w.more = 3
				waiting = append(waiting, key{w.ticks, w.arrival})
				continue
			}
			limit := rnd.Int64N(600)
			if rnd.IntN(4) == 0 {
				limit = math.MaxInt64
			}
			slices.SortFunc(waiting, func(a, b key) int {
				if a.ticks != b.ticks {
					return int(a.ticks - b.ticks)
				}
				return int(a.arrival) - int(b.arrival)
			})
			for w := s.next(limit); w != nil; w = s.next(limit) {
				if len(waiting) == 0 || waiting[0] != (key{w.ticks, w.arrival}) || w.ticks > limit {
					t.Fatalf("seed %d: %d:%d comes, waiting are %v, the limit is %d", seed, w.ticks, w.arrival, waiting, limit)
				}
				waiting = waiting[1:]
			}
			if len(waiting) != s.waiting || len(waiting) > 0 && waiting[0].ticks <= limit {
				t.Fatalf("seed %d: %d wait, it says %d; the limit was %d", seed, len(waiting), s.waiting, limit)
			}
		}
	}
}
