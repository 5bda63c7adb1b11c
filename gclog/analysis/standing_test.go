package analysis

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gclog/gclog/gclog"
)

// TestStanding holds it against all stretches of a random history, one after the other. Parts are
// nanoseconds here.
func TestStanding(t *testing.T) {
	for seed := range uint64(200) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		var s standing
		s.init(parts, float64(rnd.IntN(60)))
		from := rnd.Int64N(10*parts) - 5*parts
		var ends []part // by the time since from: what stood then, and the pause that ended then
		add := func(start, end int64, d *gclog.GCDetails) {
			s.add(d, start, end)
			for int64(len(ends)) < end-from {
				ends = append(ends, part{})
			}
			for i := start; i < end; i++ {
				ends[i-from].paused = 1
			}
			if d != nil && d.HasNumber {
				ends[end-1-from].longest, ends[end-1-from].number = end-start, d.Number
			}
		}
		at := from
		for n := range 1 + rnd.IntN(100) {
			long := 1 + rnd.Int64N([]int64{5, 50, 2 * parts}[min(2, rnd.IntN(20)/9)])
			var d *gclog.GCDetails
			if k := rnd.IntN(5); k > 0 {
				d = &gclog.GCDetails{}
				d.Number, d.HasNumber = uint32(n), k > 1
			}
			add(at, at+long, d)
			at += long + rnd.Int64N(60)
		}
		s.weigh()
		most, until := int64(0), 0
		for end := range ends {
			sum := int64(0)
			for _, x := range ends[max(0, end+1-parts) : end+1] {
				sum += x.paused
			}
			if sum > most {
				most, until = sum, end+1
			}
		}
		if s.most != most || s.until != from+int64(until) {
			t.Fatalf("seed %d: it stood for %d until %d, want %d until %d", seed, s.most, s.until-from, most, until)
		}
		window := slices.DeleteFunc(slices.Clone(ends[max(0, until-parts):until]), func(x part) bool { return x.longest == 0 })
		slices.SortStableFunc(window, func(a, b part) int { return int(b.longest - a.longest) })
		window = window[:min(len(window), len(s.worst.list))]
		if most <= s.keepOver {
			window = nil
		}
		if s.worst.n != len(window) {
			t.Fatalf("seed %d: %v, want %v", seed, s.worst.numbers(), window)
		}
		for i, x := range window {
			if s.worst.list[i].weight != float64(x.longest) { // of equal ones any may be first
				t.Fatalf("seed %d: %v, want %v", seed, s.worst.list, window)
			}
		}
	}
}

// TestStandingOld: what is told so late that it is in no stretch any more changes nothing.
func TestStandingOld(t *testing.T) {
	d := &gclog.GCDetails{}
	d.Number, d.HasNumber = 7, true
	for _, now := range []int64{5000, -5000} {
		for back := range int64(3 * parts) {
			var s standing
			s.init(parts, 0)
			s.add(nil, now, now+1)
			before := s
			s.add(d, now-back, now-back+1)
			if changed := s != before; changed != (back < parts) {
				t.Fatalf("at %d a pause %d ns before is entered: %v", now, back, changed)
			}
		}
	}
}

// TestStandingOfPart: of the pauses that end in one part the longest is named, of equal ones the first.
func TestStandingOfPart(t *testing.T) {
	for _, c := range []struct {
		first, second int64
		want          uint32
	}{{3, 3, 1}, {3, 2, 1}, {2, 3, 2}} {
		var s standing
		s.init(10*parts, 0)
		for i, took := range []int64{c.first, c.second} {
			d := &gclog.GCDetails{}
			d.Number, d.HasNumber = uint32(i+1), true
			s.add(d, int64(5*i), int64(5*i)+took)
		}
		s.weigh()
		if got := s.worst.numbers(); !slices.Equal(got, []uint32{c.want}) {
			t.Errorf("%+v: %d", c, got)
		}
	}
}
