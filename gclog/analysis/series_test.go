package analysis

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestSeries checks that no value is lost, however many there are: each counts at its time, and
// what is on a line stays on it.
func TestSeries(t *testing.T) {
	near := func(a, b float64) bool { return math.Abs(a-b) <= 1e-6*max(math.Abs(a), math.Abs(b), 1e-3) }
	for seed := range uint64(100) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		var all, straight series
		var at int64
		var n, times, values, first, last float64
		from := rnd.Int64N(1000)
		slope := rnd.Float64() * 10
		for at = from; n < float64(1+seed*11); at += 1 + rnd.Int64N(1+rnd.Int64N(1e6)) {
			v := float64(rnd.IntN(1000))
			all.add(at, v)
			straight.add(at, 5+slope*float64(at-from))
			if n == 0 {
				first = v
			}
			n, times, values, last = n+1, times+float64(at), values+v, float64(at)
		}
		var weight, sumAt, sumValue float64
		for i, p := range all.points[:all.n] {
			weight, sumAt, sumValue = weight+p.weight, sumAt+p.weight*p.at, sumValue+p.weight*p.value
			if float64(p.first) > p.at+1 || p.at > float64(p.last)+1 || i > 0 && p.first <= all.points[i-1].last {
				t.Fatalf("seed %d: point %d is %+v, behind %+v", seed, i, p, all.points[max(0, i-1)])
			}
		}
		if weight != n || !near(sumAt, times) || !near(sumValue, values) {
			t.Fatalf("seed %d: %v values come to %v at %v, want %v to %v at %v", seed, weight, sumValue, sumAt, n, values, times)
		}
		if n <= 128 && (all.n != int(n) || all.points[0].value != first) || n > 128 && all.n < 48 {
			t.Errorf("seed %d: of %v values there are %d points", seed, n, all.n)
		}
		l := straight.line()
		if l.values != n || l.span != int64(last)-from || !near(l.begin, 5) || !near(l.end, 5+slope*(last-float64(from))) || n > 1 && !near(l.fit, 1) {
			t.Errorf("seed %d: %v values on a line to %v are one of %+v", seed, n, 5+slope*(last-float64(from)), l)
		}
		middle := all.points[all.n/2]
		before := all.n
		if all.forget(middle.last); all.n != before-before/2 || all.points[0] != middle {
			t.Errorf("seed %d: without what was before %+v it begins with %+v", seed, middle, all.points[0])
		}
	}
}

// TestPerHour checks that a line that begins near 0, or takes no time, has a rate too.
func TestPerHour(t *testing.T) {
	const hour = 3600e9
	for _, c := range []struct {
		begin, end float64
		span       int64
		want       float64
	}{
		{100, 150, hour, 50},
		{100, 150, hour / 2, 100},
		{100, 50, hour, -50},
		{0, 50, hour, 5000},
		{1, 51, hour, 5000},
		{0, 1e6, hour, 10_000}, // starts at a hundredth of the end
		{5000, 1e6, hour, 9950},
		{0, 0, hour, 0},
		{7, 7, 0, 0},
		{1, 2, 1, 100 * hour},
	} {
		l := line{begin: c.begin, end: c.end, span: c.span}
		if got := l.perHour(); got != c.want {
			t.Errorf("from %v to %v in %d ns: %v, want %v", c.begin, c.end, c.span, got, c.want)
		}
	}
}

// TestQuotient checks that a share of nothing is 0.
func TestQuotient(t *testing.T) {
	for _, c := range []struct{ a, b, want float64 }{{6, 3, 2}, {1, 0.5, 2}, {1, 0, 0}, {0, 0, 0}, {1, -1, 0}, {-4, 2, -2}} {
		if got := quotient(c.a, c.b); got != c.want || percent(c.a, c.b) != 100*c.want {
			t.Errorf("%v / %v: %v, want %v", c.a, c.b, got, c.want)
		}
	}
}
