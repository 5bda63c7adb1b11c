package analysis

import (
	"math/rand/v2"
	"testing"
)

// TestRecent holds it against all windows of a random history, one after the other.
func TestRecent(t *testing.T) {
	for seed := range uint64(40) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		var r recent
		stood := make([]int64, 3*recentSlots)
		unseen := make([]bool, len(stood))
		at := int64(0)
		end := int64(len(stood)) * slot * int64(1+rnd.IntN(10)) / 10
		for at < end-slot {
			from := at + rnd.Int64N(1<<(20+rnd.IntN(18)))
			to := min(from+1+rnd.Int64N(1<<(10+rnd.IntN(28))), end)
			if from >= to {
				break
			}
			at = to
			if rnd.IntN(30) == 0 {
				r.skip(from, to)
				for i := from / slot; i < (to+slot-1)/slot; i++ {
					unseen[i] = true
				}
				continue
			}
			r.add(from, to)
			for i := from / slot; i <= (to-1)/slot; i++ {
				stood[i] += min(to, (i+1)*slot) - max(from, i*slot)
			}
		}
		r.upTo(end)
		for i, length := range shareLengths {
			n := int(int64(length) / slot)
			worst, first := int64(-1), 0
			for from := 0; int64(from+n) <= end/slot; from++ {
				sum, seen := int64(0), true
				for j := from; j < from+n; j++ {
					sum += stood[j]
					seen = seen && !unseen[j]
				}
				if seen && sum > worst {
					worst, first = sum, from
				}
			}
			w := &r.windows[i]
			if w.full != (worst >= 0) || w.full && (w.worst != worst || w.at != int64(first)) {
				t.Errorf("seed %d: of %v the worst is %d from %d on (%v), want %d from %d on", seed, length, w.worst, w.at, w.full, worst, first)
			}
		}
	}
}

// TestRecentLate: of a stop that is told late, what is in slots that are closed does not count.
func TestRecentLate(t *testing.T) {
	for _, c := range []struct{ start, end, want int64 }{
		{50, 105, 5 * slot / 10},
		{100, 105, 5 * slot / 10},
		{50, 100, 0},
		{50, 99, 0},
		{104, 105, slot / 10},
		{-1000, 105, 5 * slot / 10},
	} {
		var r recent
		r.upTo(10 * slot)
		r.add(c.start*slot/10, c.end*slot/10)
		if got := r.stood[10]; got != c.want || r.now != 10 {
			t.Errorf("from %d to %d: %d stood in slot %d, want %d", c.start, c.end, got, r.now, c.want)
		}
	}
}

// TestRecentFar: time may go on by any step, and what was before a long one is in no window after it.
func TestRecentFar(t *testing.T) {
	for _, step := range []int64{int64(recentSlots), int64(len(recent{}.stood)) + 5, latest/slot - 20} {
		var r recent
		r.add(5*slot, 6*slot)
		r.upTo((10 + step) * slot)
		r.add((10+step)*slot, (11+step)*slot)
		r.upTo((11 + step) * slot)
		if w := &r.windows[len(r.windows)-1]; !w.full || w.worst != slot || r.now != 11+step {
			t.Errorf("by %d slots: %+v, now %d", step, *w, r.now)
		}
	}
}
