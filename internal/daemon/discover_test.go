package daemon

import (
	"testing"
	"time"

	"github.com/gclog/gclog/internal/host"
)

// TestInspectedAgain: a process is inspected less often the older it is; one that is .NET and
// cannot be reached is inspected more often than others, and one that was found is not inspected
// again.
func TestInspectedAgain(t *testing.T) {
	other := &host.TargetError{Cause: host.CauseNotDotnet}
	unreachable := &host.TargetError{Cause: host.CauseNoSocket}
	for _, tc := range []struct {
		age  time.Duration
		err  *host.TargetError
		wait time.Duration
	}{
		{0, other, 0},
		{4 * time.Second, other, 2 * time.Second},
		{time.Minute, other, 30 * time.Second},
		{time.Hour, other, 5 * time.Minute},
		{0, unreachable, 0},
		{time.Minute, unreachable, 30 * time.Second},
		{time.Hour, unreachable, time.Minute},
	} {
		var found *host.Target
		s := newSweeper(time.Second)
		s.found = func(t *host.Target) { found = t }
		now := time.Now()
		k := &sighted{Sighting: host.Sighting{PID: 7, StartKey: 1}, since: now.Add(-tc.age)}
		l := &host.Listed{Err: tc.err}
		l.PID, l.StartKey = k.PID, k.StartKey
		s.known[k.PID] = k
		s.inspected(k, l, now)
		if wait := k.next.Sub(now); wait != tc.wait || k.target || found != nil {
			t.Errorf("age %v, %v: again after %v, want %v", tc.age, tc.err, wait, tc.wait)
		}
		if listed := tc.err == unreachable; (k.unreachable != nil) != listed {
			t.Errorf("%v: listed is %v", tc.err, k.unreachable)
		}
		l.Err = nil
		s.inspected(k, l, now)
		if !k.target || found == nil || k.unreachable != nil {
			t.Errorf("age %v: it is not found when it can be reached", tc.age)
		}
	}
}
