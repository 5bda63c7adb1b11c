package gclog_test

import (
	"math"
	"testing"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/internal/testing/recordings"
)

// TestAllocationRate: the rate is what was allocated from one collection to the next, divided by
// the time that the program ran, whatever background collections and suspensions came in between.
func TestAllocationRate(t *testing.T) {
	known, unknown := 0, 0
	recordings.ForEach(t, func(t *testing.T, tr recordings.Trace) {
		for _, o := range reduce(t, recordings.Read(t, tr.Path)).recorders {
			last, between := int64(0), uint64(0) // end of the previous collection; allocations reported by background ones since then
			for _, d := range o.gcs {
				if d.Kind == gclog.KindBackground {
					between += d.Allocated()
					if d.AllocationRate != 0 {
						t.Errorf("#%d is a background collection with %f B/s", d.Number, d.AllocationRate)
					}
					continue
				}
				if len(d.Pauses) == 0 {
					last, between = 0, 0
					continue
				}
				start := d.Pauses[0].Start
				if d.AllocationRate > 0 {
					known++
					ran := start - last - pausedIn(o.pauses, last, start)
					if want := float64(between+d.Allocated()) * 1e9 / float64(ran); math.Abs(d.AllocationRate-want) > want/1e6 {
						t.Errorf("#%d: %.0f B/s, want %.0f: %d bytes in %d ns", d.Number, d.AllocationRate, want, between+d.Allocated(), ran)
					}
				} else if d.HasAllocated && d.Allocated() > 0 {
					unknown++
				}
				part := &d.Pauses[len(d.Pauses)-1]
				last, between = part.Start+part.Duration, 0
			}
		}
	})
	t.Logf("known of %d, not known of %d that tell what was allocated", known, unknown)
	if known == 0 || unknown > known/20 {
		t.Errorf("known of %d, not known of %d", known, unknown)
	}
}

// pausedIn returns how long the program was paused between two times.
func pausedIn(list []gclog.Pause, from, to int64) (sum int64) {
	for i := range list {
		if p := &list[i]; p.Start >= from && p.Start < to {
			sum += p.Duration
		}
	}
	return sum
}

// TestAllocationRateAcrossGap: there is no rate for a time in which something is missing.
func TestAllocationRateAcrossGap(t *testing.T) {
	s := newStory().at(0).plain(u, 1, 0).at(1000).plain(u, 2, 0).at(2000).plain(u, 4, 0).at(3000).plain(u, 5, 0)
	for _, d := range s.gcs {
		if want := d.Number == 2 || d.Number == 5; d.AllocationRate > 0 != want {
			t.Errorf("#%d: %.0f B/s, %d allocated", d.Number, d.AllocationRate, d.Allocated())
		}
	}
}
