package attach

import (
	"os"
	"testing"
	"time"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/internal/host"
)

// TestShortageAround: a pause is compared with the last reading before it, and pauses of the same moment
// share what they are compared with.
func TestShortageAround(t *testing.T) {
	const ms = int64(time.Millisecond)
	p := new(host.Host).Inspect(os.Getpid()).Process
	s := newShortages(p.OpenCPU())
	defer s.close()
	s.begin(0)
	for _, c := range []struct {
		name       string
		start, now int64 // of the pause, and of the record; no start: it is not slow
		interval   int64
	}{
		{"the first", 10, 50, 50},
		{"in the same moment", 45, 60, 50},
		{"later", 55, 61, 61},
		{"before everything", -1, 100, 0},
		{"not slow", 0, 1500, 0},
		{"from before the reading", 1400, 1600, 1600},
		{"since the reading", 1550, 1700, 200},
		{"not slow", 0, 2000, 0},
		{"not read again that soon", 1900, 2100, 600},
		{"after a while", 5000, 5100, 3600},
		{"which is the reading for the next", 5200, 5300, 200},
		{"whose clock is 7 s ahead", 12300, 5402, 302},
		{"and before the reading", 11990, 5500, 4000},
	} {
		if c.start == 0 {
			s.pass(c.now * ms)
			continue
		}
		got := s.around(&gclog.PausePart{Start: c.start * ms, Duration: ms}, c.now*ms)
		if got.Interval != c.interval*ms || got.Interval > 0 && got.Processors == 0 || got.Waited > 0 && got.WaitedInterval == 0 {
			t.Errorf("%s: %+v, want an interval of %d ms", c.name, got, c.interval)
		}
	}
}

// TestIncrease: a counter that is unknown, or that has been reset, has grown by nothing.
func TestIncrease(t *testing.T) {
	for _, c := range []struct{ before, after, want int64 }{{1, 3, 2}, {0, 5, 5}, {3, 3, 0}, {3, 2, 0}, {-1, 7, 0}, {7, -1, 0}} {
		if got := increase(c.before, c.after); got != c.want {
			t.Errorf("from %d to %d: %d, want %d", c.before, c.after, got, c.want)
		}
		if got := percentOf(c.before, c.after, 10); got != float64(10*c.want) {
			t.Errorf("from %d to %d in 10: %v %%", c.before, c.after, got)
		}
	}
	if got := percentOf(0, 20, 10); got != 100 {
		t.Errorf("%v %%, want 100 at most", got)
	}
}

// TestSlow: which pauses are looked at.
func TestSlow(t *testing.T) {
	const ms = int64(time.Millisecond)
	for p, want := range map[gclog.PausePart]bool{
		{Duration: 49 * ms}: false, {Duration: 50 * ms}: true, {Duration: 6 * ms, Suspend: 5 * ms}: true,
		{Duration: 6 * ms, Resume: 5 * ms}: true, {Duration: 6 * ms, Suspend: 3 * ms, Resume: 2 * ms}: true,
		{Duration: 6 * ms, Suspend: 3 * ms, Resume: 1 * ms}: false,
	} {
		if slow(&p) != want {
			t.Errorf("%+v: %v", p, !want)
		}
	}
}
