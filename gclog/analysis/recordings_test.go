package analysis_test

import (
	"math"
	"slices"
	"testing"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/gclog/analysis"
	"github.com/gclog/gclog/internal/testing/recordings"
)

// TestSum checks that in every recording the pauses add up to the time that the program was
// suspended.
func TestSum(t *testing.T) {
	forEach(t, func(t *testing.T, tr recordings.Trace) {
		all := map[*gclog.Process]*analysis.Statistics{}
		processes := read(t, recordings.Read(t, tr.Path), func(p *gclog.Process) gclog.Observer {
			all[p] = analysis.NewStatistics(analysis.StatisticsOptions{Window: analysis.Always()})
			return all[p].Observe
		})
		for p, s := range all {
			x := s.Summary()
			want := float64(processes.Reducer(p).Suspended())
			if got := x.Classes[analysis.ClassAll].Pauses.Total; got.Value != want {
				t.Errorf("the pauses add up to %+v, the suspensions to %v", got, want)
			}
			sum := 0.0
			for c := range analysis.ClassAll {
				r := &x.Classes[c]
				sum += r.Pauses.Total.Value
				// A pause is of the class of its final record.
				if c != analysis.ClassNone && r.Count > 0 && r.Incomplete == 0 && r.Pause.Total != r.Pauses.Total {
					t.Errorf("%v: the records have pauses of %+v, the pauses are %+v", c, r.Pause.Total, r.Pauses.Total)
				}
			}
			if sum != want {
				t.Errorf("the classes add up to %v, the suspensions to %v", sum, want)
			}
		}
	})
}

// TestParts checks that adjacent windows contain all pauses and all collections of the whole.
func TestParts(t *testing.T) {
	const parts = 7
	forEach(t, func(t *testing.T, tr recordings.Trace) {
		stream := recordings.Read(t, tr.Path)
		end := read(t, stream, func(*gclog.Process) gclog.Observer { return nil }).Latest()
		statistics := map[*gclog.Process][]*analysis.Statistics{}
		read(t, stream, func(p *gclog.Process) gclog.Observer {
			var all several
			for i := range int64(parts + 1) {
				w := analysis.Window{From: i * end / parts, To: (i + 1) * end / parts}
				if i == parts-1 {
					w.To = end + 1 // the last moment is in the last part
				}
				if i == parts {
					w = analysis.Always()
				}
				s := analysis.NewStatistics(analysis.StatisticsOptions{Window: w})
				s.Observe(&gclog.Start{At: 0})
				all = append(all, s)
			}
			statistics[p] = all
			return all.Observe
		})
		for p, all := range statistics {
			var pauses, share, collections, allocated float64
			for _, s := range all[:parts] {
				s.Observe(&gclog.End{At: end})
				x := s.Summary()
				pauses += x.Classes[analysis.ClassAll].Pauses.Total.Value
				share += x.Share.Value * x.Duration.Value
				collections += float64(x.Classes[analysis.ClassAll].Count)
				allocated += x.Classes[analysis.ClassAll].Allocated.Total.Value
			}
			all[parts].Observe(&gclog.End{At: end})
			x := all[parts].Summary()
			whole := &x.Classes[analysis.ClassAll]
			if pauses != whole.Pauses.Total.Value {
				t.Errorf("process %d: the pauses of the parts add up to %v, those of the whole to %v", p.ID, pauses, whole.Pauses.Total.Value)
			}
			if want := x.Share.Value * x.Duration.Value; math.Abs(share-want) > 1e-6*want {
				t.Errorf("process %d: the shares of the parts are %v, that of the whole %v", p.ID, share, want)
			}
			if collections != float64(whole.Count) || math.Abs(allocated-whole.Allocated.Total.Value) > 1 {
				t.Errorf("process %d: the parts have %v collections of %v bytes, the whole %d of %v", p.ID, collections, allocated, whole.Count, whole.Allocated.Total.Value)
			}
		}
	})
}

// several passes the same to several observers.
type several []*analysis.Statistics

// Observe takes a record.
func (all several) Observe(r gclog.Record) {
	switch r := r.(type) {
	case *gclog.Pause:
		for _, s := range all {
			s.Observe(r)
		}
	case *gclog.Phase:
		for _, s := range all {
			s.Observe(r)
		}
	case *gclog.GCDetails:
		for _, s := range all {
			s.Observe(r)
		}
	case *gclog.Gap:
		for _, s := range all {
			s.Observe(r)
		}
	}
}

// TestAllocationAgrees checks that allocation numbers do not contradict each other, in the whole or
// in a window with one collection: the highest rate is that of a record, and the allocation in a time
// is at most what all collections report.
func TestAllocationAgrees(t *testing.T) {
	forEach(t, func(t *testing.T, tr recordings.Trace) {
		stream := recordings.Read(t, tr.Path)
		var windows []analysis.Window
		var rates []float64
		end := read(t, stream, func(*gclog.Process) gclog.Observer { return starts{&windows, &rates}.Observe }).Latest()
		highest := slices.Max(append(rates, 0))
		n := min(len(windows), 200)
		windows, rates = append(windows[:n], analysis.Always()), append(rates[:n], highest)
		var all several
		allocated := 0.0
		read(t, stream, func(*gclog.Process) gclog.Observer {
			for _, w := range windows {
				s := analysis.NewStatistics(analysis.StatisticsOptions{Window: w})
				s.Observe(&gclog.Start{At: 0})
				all = append(all, s)
			}
			return gclog.Tee(all.Observe, allocatedBy{&allocated}.Observe)
		})
		for i, s := range all {
			s.Observe(&gclog.End{At: end})
			x, w := s.Summary(), windows[i%len(windows)]
			rate := x.Classes[analysis.ClassAll].AllocationRate.Max
			if of := rates[i%len(windows)]; len(all) == len(windows) && rate.Value != of || rate.Known() && rate.Value > of {
				t.Errorf("in %v the program allocated at up to %+v, by the records %f", w, rate, of)
			}
			if (x.Allocated.Value > 0) != (x.AllocationRate.Value > 0) || x.AllocationRate.Known() && x.AllocationTime.Value <= 0 {
				t.Errorf("in %v %+v were allocated in %+v, at %+v", w, x.Allocated, x.AllocationTime, x.AllocationRate)
			}
			if x.Allocated.Value > allocated || x.AllocationTime.Value > float64(end) {
				t.Errorf("in %v %v bytes were allocated in %v, the collections tell %v", w, x.Allocated.Value, x.AllocationTime.Value, allocated)
			}
		}
	})
}

// starts records windows that start with a collection, and the rate that it reports.
type starts struct {
	list  *[]analysis.Window
	rates *[]float64
}

// Observe takes a record.
func (s starts) Observe(r gclog.Record) {
	if d, ok := r.(*gclog.GCDetails); ok {
		*s.list = append(*s.list, analysis.Window{From: d.Start, To: d.Start + 1})
		*s.rates = append(*s.rates, d.AllocationRate)
	}
}

// allocatedBy sums the allocations reported by collections.
type allocatedBy struct{ bytes *float64 }

// Observe takes a record.
func (a allocatedBy) Observe(r gclog.Record) {
	if d, ok := r.(*gclog.GCDetails); ok {
		if d.Known.Has(gclog.GroupAllocated) {
			*a.bytes += float64(d.Allocated)
		}
	}
}
