//go:build unix

package daemon

import (
	"testing"
	"time"
)

// TestClock: the monotonic clock advances as time does, and with the offset it gives the wall-clock
// time.
func TestClock(t *testing.T) {
	began, at := time.Now(), monotonic()
	offset, now := clockOffset(), monotonic()
	time.Sleep(10 * time.Millisecond)
	if went, took := monotonic()-at, time.Since(began); at <= 0 || went < 9*time.Millisecond || went > took {
		t.Errorf("in %v it went %v, from %v", took, went, at)
	}
	if reported := time.Unix(0, int64(offset+now)); reported.Sub(began).Abs() > time.Since(began) {
		t.Errorf("it tells %v at %v", reported, began)
	}
}
