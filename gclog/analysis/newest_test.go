package analysis_test

import (
	"testing"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/gclog/analysis"
)

// TestReportedLate checks that a background collection is reported after younger ones: its values
// from its start are not the latest, and it does not report pinned survivors.
func TestReportedLate(t *testing.T) {
	s := analysis.NewStatistics(analysis.StatisticsOptions{Window: analysis.Always()})
	s.Observe(&gclog.Start{At: 0})
	young := &gclog.GCDetails{
		Number: 2, Start: 20, End: 30, Known: gclog.GroupEnd | gclog.GroupHistory | gclog.GroupCommittedBefore | gclog.GroupCommittedAfter, Complete: true,
		CommittedBefore: 200, CommittedAfter: 250,
	}
	young.Generations[gclog.Gen0] = gclog.GenerationDetails{Survived: 100, SurvivedPins: 30}
	s.Observe(young)
	old := &gclog.GCDetails{
		Number: 1, Generation: gclog.Gen2, Kind: gclog.KindBackground, Start: 10, End: 90, Known: gclog.GroupEnd | gclog.GroupHistory | gclog.GroupCommittedBefore, Complete: true, CommittedBefore: 150,
	}
	old.Generations[gclog.Gen2] = gclog.GenerationDetails{Survived: 900}
	s.Observe(old)
	s.Observe(&gclog.End{At: 100})
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

// TestNewestOfLogs checks that logs report only the end of background collections.
func TestNewestOfLogs(t *testing.T) {
	s := analysis.NewStatistics(analysis.StatisticsOptions{Window: analysis.Always()})
	s.Observe(&gclog.Start{At: 0})
	size := func(d *gclog.GCDetails, after uint64) *gclog.GCDetails {
		d.Generations[gclog.Gen2].After = after
		d.Known |= gclog.GroupAfter
		d.CommittedAfter = 2 * after
		d.Known |= gclog.GroupCommittedAfter
		return d
	}
	background := func(number uint32, from int64) *gclog.GCDetails {
		return collection(number, 2, gclog.KindBackground, [2]int64{from, sec}, [2]int64{from + 2*sec, sec})
	}
	blocking := func(number uint32, from int64) *gclog.GCDetails {
		d := collection(number, 2, gclog.KindBlocking, [2]int64{from, sec})
		d.End = 0
		d.Known &^= gclog.GroupEnd
		return d
	}
	emit(s.Observe, size(background(1, 10*sec), 100*mb))
	emit(s.Observe, size(blocking(2, 20*sec), 50*mb))
	s.Observe(&gclog.End{At: 30 * sec})
	x := s.Summary()
	if x.Heap.Committed.Value != 100e6 || x.Heap.LastGen2.Value != 50e6 || x.SinceLastGen2.Value != 9e9 {
		t.Errorf("committed %+v, after gen2 %+v, since %+v", x.Heap.Committed, x.Heap.LastGen2, x.SinceLastGen2)
	}
	emit(s.Observe, background(3, 40*sec))
	if n := s.Summary().Heap.LastGen2; n.Known() || n.Why != "the latest gen2 collection does not report the size of the heap" {
		t.Errorf("after a gen2 collection without a size: %+v", n)
	}
}
