package gclog_test

import (
	"testing"

	"github.com/gclog/gclog/gclog"
)

// TestTally: a summary is the sum of what was emitted.
func TestTally(t *testing.T) {
	var tally gclog.Tally
	gc := func(kind gclog.Kind, generation int, promoted, after uint64) {
		d := gclog.GCDetails{Kind: kind, Generation: generation, PromotedBytes: promoted}
		d.Known.Set(gclog.GroupPromoted, promoted > 0)
		d.Known.Set(gclog.GroupAfter, after > 0)
		d.Generations[gclog.Gen2].After = after
		tally.Observe(&d)
	}
	pause := func(ns int64) { tally.Observe(&gclog.Pause{PausePart: gclog.PausePart{Duration: ns}}) }
	pause(5)
	gc(gclog.KindBlocking, 0, 10, 100)
	pause(7)
	gc(gclog.KindForeground, 1, 20, 0)
	pause(3)
	pause(4)
	tally.Observe(&gclog.Phase{})
	gc(gclog.KindBackground, 2, 0, 300)
	gc(gclog.KindBlocking, 2, 5, 200)
	gc(gclog.KindBlocking, 255, 0, 0)
	tally.Observe(&gclog.Gap{Reason: gclog.GapLostEvents, LostEvents: 8})
	tally.Observe(&gclog.Gap{Reason: gclog.GapQueueFull, Records: 9})
	tally.Observe(&gclog.Gap{Reason: gclog.GapUnwritten, Records: 1})
	want := gclog.Tally{
		Collections: [3]uint64{1, 1, 2}, Background: 1, Pauses: 4, PauseTotal: 19, PauseMax: 7,
		Promoted: 35, SizeAfter: 200, HasSize: true, LostEvents: 8, Missing: 10,
	}
	if tally != want || tally.GCs() != 5 {
		t.Errorf("%+v with %d collections, want %+v with 5", tally, tally.GCs(), want)
	}
	d := &gclog.GCDetails{}
	if n := testing.AllocsPerRun(10, func() { tally.Observe(d) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
