package gclog

import "testing"

// TestMissed: the numbers in a gap count as missed collections only if its reason says so.
func TestMissed(t *testing.T) {
	for _, x := range []struct {
		gap  Gap
		want uint64
	}{
		{Gap{Reason: GapMissedGCs, From: 5, To: 7}, 3},
		{Gap{Reason: GapReattached, From: 5, To: 5}, 1},
		{Gap{Reason: GapMissedGCs, From: 1, To: 1<<32 - 1}, 1<<32 - 1},
		{Gap{Reason: GapMissedGCs}, 0}, // the numbers started over
		{Gap{Reason: GapReattached}, 0},
		{Gap{Reason: GapLostEvents, From: 5, To: 7}, 0},
		{Gap{Reason: GapQueueFull, From: 5, To: 7}, 0},
	} {
		if got := x.gap.Missed(); got != x.want {
			t.Errorf("%+v: %d, want %d", x.gap, got, x.want)
		}
	}
}
