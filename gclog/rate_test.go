package gclog_test

import (
	"math"
	"slices"
	"testing"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/internal/testing/recordings"
	"github.com/gclog/gclog/parse"
	"github.com/gclog/gclog/parse/clr"
)

// TestAllocationRate: the rate is what was allocated from one collection to the next, divided by
// the time that the program ran, whatever background collections and suspensions came in between.
// By the events it runs from the start of each GCRestartEE to the next suspension for the collector.
func TestAllocationRate(t *testing.T) {
	known, unknown := 0, 0
	recordings.ForEach(t, func(t *testing.T, tr recordings.Trace) {
		stream := recordings.Read(t, tr.Path)
		stops := stopsOf(t, stream)
		for _, o := range reduce(t, stream).recorders {
			list := stops[o.process.ID]
			last, between := int64(0), uint64(0) // when the program ran again after the previous collection; allocations reported by background ones since then
			for _, d := range o.gcs {
				if d.Kind == gclog.KindBackground {
					between += d.Allocated
					if d.AllocationRate != 0 {
						t.Errorf("#%d is a background collection with %f B/s", d.Number, d.AllocationRate)
					}
					continue
				}
				own := slices.IndexFunc(list, func(s stop) bool { return s.from <= d.Start && d.Start <= s.to })
				if own < 0 {
					last, between = 0, 0
					continue
				}
				if d.AllocationRate > 0 {
					known++
					ran := list[own].from - last
					for _, s := range list[:own] {
						if s.from >= last {
							ran -= s.to - s.from
						}
					}
					if want := float64(between+d.Allocated) * 1e9 / float64(ran); math.Abs(d.AllocationRate-want) > want/1e6 {
						t.Errorf("#%d: %.0f B/s, want %.0f: %d bytes in %d ns", d.Number, d.AllocationRate, want, between+d.Allocated, ran)
					}
				} else if d.Known.Has(gclog.GroupAllocated) && d.Allocated > 0 {
					unknown++
				}
				last, between = list[own].to, 0
			}
		}
	})
	t.Logf("known of %d, not known of %d that tell what was allocated", known, unknown)
	if known == 0 || unknown > known/20 {
		t.Errorf("known of %d, not known of %d", known, unknown)
	}
}

// A stop is a suspension for the collector: from GCSuspendEEBegin until the threads begin to resume
// (GCRestartEEBegin).
type stop struct{ from, to int64 }

// stopsOf reads the stops of each process in order, by thread, because all events of a stop come
// from one.
func stopsOf(t *testing.T, stream []byte) map[int64][]stop {
	type thread struct {
		process int64
		id      uint64
	}
	began, stops := map[thread]int64{}, map[int64][]stop{}
	decodeAll(t, stream, func(m *parse.Metadata) bool {
		return m.Provider == clr.RuntimeProvider && (m.EventID == clr.IDGCSuspendEEBegin || m.EventID == clr.IDGCRestartEEBegin)
	}, func(e *parse.Event, typed clr.Event) {
		of := thread{e.Process, e.Thread}
		if s, ok := typed.(*clr.GCSuspendEEBegin); ok {
			if delete(began, of); s.Reason == clr.SuspendForGC || s.Reason == clr.SuspendForGCPrep {
				began[of] = e.Time
			}
		} else if from, ok := began[of]; ok {
			delete(began, of)
			stops[e.Process] = append(stops[e.Process], stop{from, e.Time})
		}
	})
	return stops
}

// TestAllocationRateAcrossGap: there is no rate for a time in which something is missing.
func TestAllocationRateAcrossGap(t *testing.T) {
	s := newStory().at(0).plain(u, 1, 0).at(1000).plain(u, 2, 0).at(2000).plain(u, 4, 0).at(3000).plain(u, 5, 0)
	for _, d := range s.gcs {
		if want := d.Number == 2 || d.Number == 5; d.AllocationRate > 0 != want {
			t.Errorf("#%d: %.0f B/s, %d allocated", d.Number, d.AllocationRate, d.Allocated)
		}
	}
}
