package analysis_test

import (
	"math"
	"slices"
	"testing"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/gclog/analysis"
)

// TestAllocationRate checks a program that allocates 50 MB/s, of which less and less is seen.
func TestAllocationRate(t *testing.T) {
	gc := func(number uint32, end int64, megabytes uint64) *gclog.GCDetails {
		d := collection(number, 0, gclog.KindBlocking, [2]int64{end - 100*ms, 100 * ms})
		d.Allocated = megabytes * mb
		d.Known.Set(gclog.GroupAllocated, megabytes > 0)
		return d
	}
	all := func(s session) {
		s.Observe(&gclog.Start{At: 0})
		emit(s.Observe, gc(1, 3*sec, 0))
		for number := uint32(2); number <= 5; number++ {
			emit(s.Observe, gc(number, 4*int64(number)*sec-5*sec, 200))
		}
		s.Observe(&gclog.End{At: 30 * sec})
	}
	missing := &gclog.Gap{Reason: gclog.GapMissedGCs, Since: 7 * sec, Time: 10*sec + 900*ms, From: 3, To: 3}
	for _, c := range []struct {
		name string
		w    analysis.Window
		emit func(s session)
		want string
	}{
		{"all", analysis.Always(), all, ""},
		{"a window that borders cut", analysis.Window{From: 9 * sec, To: 12 * sec}, all, ""},
		{"a window between two collections", analysis.Window{From: 8 * sec, To: 9 * sec}, all, ""},
		{"a hole", analysis.Always(), func(s session) {
			emit(s.Observe, gc(1, 3*sec, 0))
			emit(s.Observe, gc(2, 7*sec, 200))
			s.Observe(missing)
			emit(s.Observe, gc(4, 15*sec, 200))
			emit(s.Observe, gc(5, 19*sec, 200))
		}, ""},
		{"a hole that is reported late", analysis.Always(), func(s session) {
			emit(s.Observe, gc(1, 3*sec, 0))
			emit(s.Observe, gc(2, 7*sec, 200))
			emit(s.Observe, gc(4, 15*sec, 200))
			emit(s.Observe, gc(5, 19*sec, 200))
			s.Observe(missing)
		}, ""},
		{"two that end together", analysis.Always(), func(s session) {
			emit(s.Observe, gc(1, 3*sec, 0))
			emit(s.Observe, gc(2, 7*sec, 50))
			emit(s.Observe, gc(3, 7*sec, 150))
			emit(s.Observe, gc(4, 11*sec, 200))
		}, ""},
		{"a record that comes late", analysis.Always(), func(s session) {
			emit(s.Observe, gc(1, 3*sec, 0))
			emit(s.Observe, gc(3, 15*sec, 500))
			emit(s.Observe, gc(2, 14*sec, 100))
			emit(s.Observe, gc(4, 19*sec, 200))
		}, ""},
		{"a watch with one collection", analysis.Always(), func(s session) {
			s.Observe(&gclog.Start{At: 0})
			emit(s.Observe, gc(1, 3*sec, 0))
			s.Observe(&gclog.End{At: 8 * sec})
		}, "none of the collections reports the allocated bytes, which requires its heap histories and those of the previous collection"},
		{"one collection of a log", analysis.Always(), func(s session) {
			emit(s.Observe, gc(2, 7*sec, 200))
		}, "no collection that reports allocations directly follows another recorded one"},
	} {
		s := analysis.NewStatistics(analysis.StatisticsOptions{Window: c.w})
		c.emit(s)
		sample := analysis.NewSample(c.w)
		c.emit(sample)
		list := analysis.Compare([]*analysis.Sample{sample}, []*analysis.Sample{sample}).Differences
		rate := slices.IndexFunc(list, func(d analysis.Difference) bool { return d.Name == "alloc.rate" })
		if r := list[rate].A; c.want == "" && math.Abs(r.Value-50e6) > 1 {
			t.Errorf("%s: compared is %+v", c.name, r)
		}
		r := s.Summary().AllocationRate
		if r.Why != c.want || c.want == "" && math.Abs(r.Value-50e6) > 1 {
			t.Errorf("%s: %+v", c.name, r)
		}
	}
}

type session interface {
	Observe(gclog.Record)
}

// TestManyAllocations checks that allocations that are no longer kept individually count as well.
func TestManyAllocations(t *testing.T) {
	s := analysis.NewStatistics(analysis.StatisticsOptions{Window: analysis.Always()})
	for number := range 10_000 {
		d := collection(uint32(number), 0, gclog.KindBlocking, [2]int64{int64(number) * sec, 10 * ms})
		d.Allocated = uint64(number) * mb
		d.Known |= gclog.GroupAllocated
		emit(s.Observe, d)
	}
	if r := s.Summary().AllocationRate; math.Abs(r.Value-5000e6) > 1 {
		t.Errorf("%+v", r)
	}
}
