package analysis_test

import (
	"testing"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/gclog/analysis"
)

// TestToldLate: a background collection is told behind younger ones. What it knows of its
// begin is not the newest, and it does not say which survivors were pinned.
func TestToldLate(t *testing.T) {
	s := analysis.NewStatistics(analysis.StatisticsOptions{Window: analysis.Always()})
	s.Begin(0)
	young := &gclog.GCDetails{
		Number: 2, Start: 20, End: 30, HasEnd: true, Complete: true, HasHistory: true,
		CommittedBefore: 200, HasCommittedBefore: true, CommittedAfter: 250, HasCommittedAfter: true,
	}
	young.Generations[gclog.Gen0] = gclog.GenerationDetails{Survived: 100, SurvivedPins: 30}
	s.GC(young)
	old := &gclog.GCDetails{
		Number: 1, Generation: gclog.Gen2, Kind: gclog.KindBackground, Start: 10, End: 90, HasEnd: true, Complete: true,
		HasHistory: true, CommittedBefore: 150, HasCommittedBefore: true,
	}
	old.Generations[gclog.Gen2] = gclog.GenerationDetails{Survived: 900}
	s.GC(old)
	s.End(100)
	x := s.Summary()
	if x.Heap.Committed.Value != 250 || x.Heap.MaxCommitted.Value != 250 {
		t.Errorf("committed is %+v, at most %+v", x.Heap.Committed, x.Heap.MaxCommitted)
	}
	if n := x.Classes[analysis.ClassAll].PinnedShare; n.Value != 30 {
		t.Errorf("the pinned share is %+v", n)
	}
	if n := x.Classes[analysis.ClassBackground].PinnedShare; n.Known() {
		t.Errorf("the pinned share of background collections is %v", n.Value)
	}
}
