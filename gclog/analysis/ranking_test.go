package analysis

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestRanking checks that of random weights it contains the ten largest in descending order, each
// number once with its largest weight, and of equal ones those that came first.
func TestRanking(t *testing.T) {
	for seed := range uint64(300) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		numbers, weights := 1+rnd.IntN(30), 1+rnd.IntN(30)
		var r ranking
		var want []ranked
		for range rnd.IntN(100) {
			x := ranked{rnd.Uint32N(uint32(numbers)), float64(rnd.IntN(weights))}
			r.addNumber(x.number, x.weight)
			if i := slices.IndexFunc(want, func(y ranked) bool { return y.number == x.number }); i >= 0 {
				if want[i].weight >= x.weight {
					continue
				}
				want = slices.Delete(want, i, i+1)
			}
			want = append(want, x)
			slices.SortStableFunc(want, func(a, b ranked) int { return int(b.weight - a.weight) })
			want = want[:min(len(want), len(r.list))]
			if !slices.Equal(r.list[:r.n], want) {
				t.Fatalf("seed %d: after %v it has %v, want %v", seed, x, r.list[:r.n], want)
			}
		}
	}
}
