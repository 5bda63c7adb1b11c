package analysis

import "testing"

// TestPerHour: what begins near 0, or takes no time, has a rate too.
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
		{0, 1e6, hour, 10_000}, // begins at a hundredth of the end
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

// TestQuotient: of nothing there is no share.
func TestQuotient(t *testing.T) {
	for _, c := range []struct{ a, b, want float64 }{{6, 3, 2}, {1, 0.5, 2}, {1, 0, 0}, {0, 0, 0}, {1, -1, 0}, {-4, 2, -2}} {
		if got := quotient(c.a, c.b); got != c.want || percent(c.a, c.b) != 100*c.want {
			t.Errorf("%v / %v: %v, want %v", c.a, c.b, got, c.want)
		}
	}
}
