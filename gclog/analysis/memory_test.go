package analysis_test

import (
	"strings"
	"testing"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/gclog/analysis"
)

// remembered returns a collection of a live session.
func remembered(number uint32, at int64, m gclog.Memory, committed uint64) *gclog.GCDetails {
	d := collection(number, 0, gclog.KindBlocking, [2]int64{at, 10 * ms})
	d.Memory, d.CommittedAfter = m, committed
	d.Known.Set(gclog.GroupCommittedAfter, committed > 0)
	return d
}

func TestMemoryOfProcess(t *testing.T) {
	s := analysis.NewStatistics(analysis.StatisticsOptions{Window: analysis.Always()})
	s.Observe(&gclog.Start{At: 0})
	if x := s.Summary().Memory; x.Resident.Known() || x.Other.Known() || x.Cgroup.Known() || x.CgroupLimit.Known() || x.CgroupShare.Known() {
		t.Errorf("of nothing: %+v", x)
	}
	emit(s.Observe, remembered(1, 10*sec, gclog.Memory{Resident: 1200 * mb, Cgroup: 1300 * mb, CgroupLimit: 3000 * mb, At: 11 * sec}, 900*mb))
	emit(s.Observe, remembered(2, 20*sec, gclog.Memory{Resident: 980 * mb, Cgroup: 1000 * mb, CgroupLimit: 2000 * mb, At: 21 * sec}, 797*mb))
	emit(s.Observe, remembered(3, 30*sec, gclog.Memory{}, 400*mb)) // from a log: the previous memory remains
	s.Observe(&gclog.End{At: 100 * sec})
	got := metrics(s.Summary())
	for name, want := range map[string]float64{
		"memory.rss": 980e6, "memory.rss.max": 1200e6, "memory.other": 183e6,
		"memory.cgroup": 1000e6, "memory.cgroup.max": 1300e6, "memory.cgroup.limit": 2000e6, "memory.cgroup.share": 50,
		"heap.committed": 400e6,
	} {
		if v, known := got[name]; !known || v != want {
			t.Errorf("%s is %v (known: %v), want %v", name, v, known, want)
		}
	}
	if c := s.Summary().Memory.Committed; c.Value != 797e6 {
		t.Errorf("committed when the memory was read: %+v", c)
	}

	emit(s.Observe, remembered(4, 40*sec, gclog.Memory{Resident: 300 * mb}, 0))
	x := s.Summary().Memory
	if x.Other.Known() || !strings.Contains(x.Other.Why, "committed more than is resident") {
		t.Errorf("300 MB are resident of 400 MB: other %+v", x.Other)
	}
	if x.Cgroup.Known() || x.CgroupShare.Known() || x.CgroupLimit.Known() || x.MaxCgroup.Value != 1300e6 {
		t.Errorf("the newest record has no control group: %+v", x)
	}
}

// TestMemoryWithoutCommitted checks that before .NET 8 it is unknown whose the memory is.
func TestMemoryWithoutCommitted(t *testing.T) {
	s := analysis.NewStatistics(analysis.StatisticsOptions{Window: analysis.Always()})
	s.Observe(&gclog.Start{At: 0})
	emit(s.Observe, remembered(1, 10*sec, gclog.Memory{Resident: 1200 * mb}, 0))
	x := s.Summary().Memory
	if x.Resident.Value != 1200e6 || x.Other.Known() || x.Other.Why != s.Summary().Heap.Committed.Why {
		t.Errorf("%+v", x)
	}
}

// TestMemoryAllCommitted checks that if the GC has committed all resident memory, none of it counts
// as other.
func TestMemoryAllCommitted(t *testing.T) {
	for resident, want := range map[uint64]float64{900: -1, 901: 0, 902: 1} {
		s := analysis.NewStatistics(analysis.StatisticsOptions{Window: analysis.Always()})
		s.Observe(&gclog.Start{At: 0})
		emit(s.Observe, remembered(1, 10*sec, gclog.Memory{Resident: resident}, 901))
		if x := s.Summary().Memory.Other; x.Known() != (want >= 0) || x.Value != max(0, want) {
			t.Errorf("of %d bytes 901 are committed: other %+v", resident, x)
		}
	}
}
