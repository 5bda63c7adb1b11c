package analysis

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/internal/testing/extent"
)

// TestSliding compares the worst stretches of random histories with what a look at every stretch
// finds. Without a slot they are the same, with one they are short of it by less than that.
func TestSliding(t *testing.T) {
	extent.Long(t)
	const points = 3000
	lengths := []int64{30, 200, 1000}
	for seed := range uint64(300) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		slot := []int64{0, 10, 30}[seed%3]
		origin := rnd.Int64N(2*points) - points
		paused, unseen := make([]int64, points), make([]int64, points)
		s := newSliding(slot, lengths...)
		s.begin(origin)
		end := 1 + rnd.Int64N(points)
		for at := int64(0); at < end; {
			from := at + rnd.Int64N(1+rnd.Int64N(100))
			to := min(from+1+rnd.Int64N(1+rnd.Int64N(400)), end)
			if from >= to {
				break
			}
			points := paused
			switch rnd.IntN(20) {
			case 0:
				s.skip(origin+from, origin+to)
				points = unseen
			case 1: // it overlaps what was before it
				from = at
				s.add(origin+at-5, origin+to, nil)
			default:
				s.add(origin+from, origin+to, nil)
			}
			for i := from; i < to; i++ {
				points[i] = 1
			}
			if at = to; rnd.IntN(50) == 0 {
				s.worst(origin + to) // may be asked at any time
			}
		}
		for i, w := range s.worst(origin + end) {
			most := int64(-1)
			for from := int64(0); from+w.length <= end; from++ {
				if !slices.Contains(unseen[from:from+w.length], 1) {
					most = max(most, total(paused[from:from+w.length]))
				}
			}
			if w.paused > most || w.paused < most-max(0, slot-1) || w.length != lengths[i] {
				t.Errorf("seed %d, slot %d: of %d the worst is %d, want %d", seed, slot, w.length, w.paused, most)
			}
			if from := w.at - origin; slot == 0 && most >= 0 && total(paused[from:from+w.length]) != most {
				t.Errorf("seed %d: of %d the worst does not begin at %d", seed, w.length, from)
			}
		}
	}
}

func total(list []int64) (n int64) {
	for _, x := range list {
		n += x
	}
	return n
}

// TestSlidingRanked: of the worst stretch the collections with the longest pauses are named, of those in
// one slot that with the longest, and none where no more is paused than matters.
func TestSlidingRanked(t *testing.T) {
	for _, c := range []struct {
		slot, unranked int64
		pauses         [][3]int64 // start, end, number
		want           []uint32
	}{
		{0, 0, [][3]int64{{0, 10, 1}, {100, 130, 2}, {140, 160, 3}, {170, 175, 0}, {190, 200, 4}}, []uint32{2, 3, 4}},
		{0, 59, [][3]int64{{0, 10, 1}, {100, 130, 2}, {140, 160, 3}, {190, 200, 4}}, []uint32{2, 3, 4}},
		{0, 60, [][3]int64{{0, 10, 1}, {100, 130, 2}, {140, 160, 3}, {190, 200, 4}}, nil},
		{50, 0, [][3]int64{{0, 3, 1}, {5, 8, 2}, {300, 303, 0}}, []uint32{1}},
		{50, 0, [][3]int64{{0, 3, 1}, {5, 7, 2}, {300, 303, 0}}, []uint32{1}},
		{50, 0, [][3]int64{{0, 2, 1}, {5, 8, 2}, {300, 303, 0}}, []uint32{2}},
		{50, 0, [][3]int64{{0, 2, 0}, {5, 6, 2}, {300, 303, 0}}, []uint32{2}},
	} {
		s := newSliding(c.slot*1000, int64(100_000))
		s.windows[0].unranked = c.unranked * 1000
		for _, p := range c.pauses {
			d := &gclog.GCDetails{}
			d.Number = uint32(p[2])
			d.Known.Set(gclog.GroupNumber, p[2] > 0)
			s.add(p[0]*1000, p[1]*1000, d)
		}
		if got := s.worst(400_000)[0].worst.numbers(); !slices.Equal(got, c.want) {
			t.Errorf("%+v: %d", c, got)
		}
	}
}

// TestSlidingMemory: what is kept is bounded by the slots of the longest stretch.
func TestSlidingMemory(t *testing.T) {
	s := newSliding(100, int64(1000), int64(100_000))
	for at := int64(0); at < 10_000_000; at += 20 {
		s.add(at, at+10, nil)
	}
	if n := len(s.starts.list) * pageSize; n > 1000+2*pageSize {
		t.Errorf("it keeps room for %d starts", n)
	}
	for i, w := range s.worst(10_000_000) {
		if w.paused != w.length/2 {
			t.Errorf("%d: %+v", i, w)
		}
	}
}

// TestSlidingFar: a damaged log may hold any time.
func TestSlidingFar(t *testing.T) {
	s := newSliding(100, int64(1000))
	for _, at := range []int64{5, math.MaxInt64 - 20, math.MinInt64, 7, math.MaxInt64} {
		s.add(at, at+10, nil)
		s.skip(at, at+5)
		s.worst(at)
	}
}
