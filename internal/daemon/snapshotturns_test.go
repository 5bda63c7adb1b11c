package daemon

import (
	"testing"
	"time"

	"github.com/gclog/gclog/internal/config"
)

// TestSnapshotTurns: one snapshot is taken at a time, and none of a process before its cooldown is
// over.
func TestSnapshotTurns(t *testing.T) {
	o := config.HeapAuto{Growth: 20, Collections: 2, Cooldown: time.Hour}
	now := time.Unix(1e9, 0)
	var turns snapshotTurns
	var a, b heapWatch
	grow := func(w *heapWatch, mb ...uint64) (due bool) {
		for _, x := range mb {
			due = turns.collected(now, w, x<<20, &o)
		}
		return due
	}
	if grow(&a, 100, 100, 150) || !grow(&a, 150) || grow(&b, 100, 100, 150) || !grow(&b, 150) {
		t.Fatal("both have grown")
	}
	turns.begin(&a)
	if grow(&b, 150) {
		t.Error("two at a time")
	}
	if grow(&a, 1000, 1000, 1000) {
		t.Error("its own collections count")
	}
	turns.end(true, now.Add(o.Cooldown))
	if !grow(&b, 150) {
		t.Error("the turn of b does not come")
	}
	turns.begin(&b)
	turns.end(false, now.Add(o.Cooldown)) // it could not be taken
	if grow(&b, 150) || grow(&a, 190, 190) {
		t.Error("in the cooldown")
	}
	now = now.Add(o.Cooldown)
	if !grow(&b, 150) {
		t.Error("b has still grown, and there is no snapshot of that")
	}
	if !grow(&a, 190) {
		t.Error("a has grown since its snapshot")
	}
	if grow(&a, 150) {
		t.Error("a has not grown any more")
	}
}
