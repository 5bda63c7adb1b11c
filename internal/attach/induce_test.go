package attach

import (
	"testing"

	"github.com/gclog/gclog/parse/clr"
)

// TestWitnessRecognizes: a collection is known by its number where it has one, else by
// what it is.
func TestWitnessRecognizes(t *testing.T) {
	start := func(depth uint32, kind clr.GCType, reason clr.Reason, sequence uint64) *clr.GCStart {
		return &clr.GCStart{Depth: depth, Type: kind, Reason: reason, ClientSequence: sequence, HasDepth: true}
	}
	for _, test := range []struct {
		name     string
		sequence uint64
		start    *clr.GCStart
		want     bool
	}{
		{"as asked for", 0, start(2, clr.TypeBlocking, clr.ReasonInduced, 0), true},
		{"as asked for, with somebody's number", 0, start(2, clr.TypeBlocking, clr.ReasonInduced, 9), true},
		{"gen1", 0, start(1, clr.TypeBlocking, clr.ReasonInduced, 0), false},
		{"in the background", 0, start(2, clr.TypeBackground, clr.ReasonInduced, 0), false},
		{"by allocations", 0, start(2, clr.TypeBlocking, clr.ReasonAllocSmall, 0), false},
		{"not forced", 0, start(2, clr.TypeBlocking, clr.ReasonInducedNotForced, 0), false},
		{"its number", 7, start(2, clr.TypeBlocking, clr.ReasonInduced, 7), true},
		{"another number", 7, start(2, clr.TypeBlocking, clr.ReasonInduced, 8), false},
		{"no number", 7, start(2, clr.TypeBlocking, clr.ReasonInduced, 0), false},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := &witness{sequence: test.sequence}
			if got := w.isIt(test.start); got != test.want {
				t.Errorf("got %v, want %v", got, test.want)
			}
		})
	}
}
