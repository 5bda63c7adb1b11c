package daemon

import (
	"testing"
	"time"
)

// TestUntilSummary: summaries are due at multiples of the interval, and a timer that fires a little
// early causes none twice.
func TestUntilSummary(t *testing.T) {
	noon := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		after, every, want time.Duration // since noon
	}{
		{0, 30 * time.Second, 30 * time.Second},
		{time.Millisecond, 30 * time.Second, 30 * time.Second},
		{11 * time.Second, 30 * time.Second, 30 * time.Second},
		{30*time.Second - time.Millisecond, 30 * time.Second, time.Minute},
		{30*time.Second + 20*time.Millisecond, 30 * time.Second, time.Minute},
		{7 * time.Minute, 5 * time.Minute, 10 * time.Minute},
		{7 * time.Minute, 24 * time.Hour, 12 * time.Hour},
	} {
		if got := c.after + untilSummary(noon.Add(c.after), c.every); got != c.want {
			t.Errorf("%v after noon, every %v: the next is %v after noon, want %v", c.after, c.every, got, c.want)
		}
	}
}
