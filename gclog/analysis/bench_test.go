package analysis_test

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/gclog/analysis"
	"github.com/gclog/gclog/internal/testing/extent"
)

// longHistory adds a long history: n gen0 collections, every tenth of them a gen1.
func longHistory(s *analysis.Statistics, n int) {
	d := collection(1, 0, gclog.KindBlocking, [2]int64{0, ms})
	d.Known |= gclog.GroupAfter | gclog.GroupPromoted | gclog.GroupAllocated | gclog.GroupGenerationAllocated | gclog.GroupSinceLast
	d.SinceLast, d.Allocated, d.AllocationRate = 5*ms, 64*mb, 12.8e9
	p := &gclog.Pause{GC: d}
	s.Observe(&gclog.Start{At: 0})
	for i := range n {
		d.Generation = i % 10 / 9
		d.Start = int64(i) * 10 * ms
		d.Pauses[0].Start, d.Pauses[0].Duration = d.Start, ms+int64(i*7919%1000)*1000
		p.PausePart = d.Pauses[0]
		s.Observe(p)
		s.Observe(d)
	}
	s.Observe(&gclog.End{At: int64(n) * 10 * ms})
}

func benchmarkStatistics(b *testing.B, live bool) {
	s := analysis.NewStatistics(analysis.StatisticsOptions{Window: analysis.Always(), Live: live})
	b.ReportAllocs()
	longHistory(s, b.N)
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "collections/s")
}

func BenchmarkStatistics(b *testing.B)     { benchmarkStatistics(b, false) }
func BenchmarkStatisticsLive(b *testing.B) { benchmarkStatistics(b, true) }

// BenchmarkSummary summarizes half a million collections.
func BenchmarkSummary(b *testing.B) {
	s := analysis.NewStatistics(analysis.StatisticsOptions{Window: analysis.Always()})
	longHistory(s, 500_000)
	b.ReportAllocs()
	for b.Loop() {
		s.Summary()
	}
}

// TestAllocations checks that a record allocates nothing: only a page for every 256 pauses is
// added, and nothing live.
func TestAllocations(t *testing.T) {
	for _, live := range []bool{false, true} {
		s := analysis.NewStatistics(analysis.StatisticsOptions{Window: analysis.Always(), Live: live})
		longHistory(s, 10_000)
		d := collection(1, 1, gclog.KindBlocking, [2]int64{200 * sec, ms})
		p := &gclog.Pause{PausePart: d.Pauses[0], GC: d}
		if n := testing.AllocsPerRun(500, func() { s.Observe(p); s.Observe(d) }); n != 0 {
			t.Errorf("live %v: %v allocations for each collection", live, n)
		}
	}
}

// TestMemory checks that half a million collections take 24 bytes each, and nothing live.
func TestMemory(t *testing.T) {
	extent.Long(t)
	for _, x := range []struct {
		live bool
		most uint64
	}{{false, 25 * 500_000}, {true, 300_000}} {
		t.Run(fmt.Sprint("live ", x.live), func(t *testing.T) {
			before := heap()
			s := analysis.NewStatistics(analysis.StatisticsOptions{Window: analysis.Always(), Live: x.live})
			longHistory(s, 500_000)
			if used := heap() - before; used > x.most {
				t.Errorf("%d bytes, want %d at most", used, x.most)
			}
			runtime.KeepAlive(s)
		})
	}
}

// heap returns what is in use after a collection.
func heap() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
