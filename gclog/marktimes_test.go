package gclog_test

import (
	"testing"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/internal/shared"
	"github.com/gclog/gclog/parse/clr"
)

// marksOf are the events about marking of a collection, by heap: those between its start and its end
// that are not between those of another one inside of it.
func (p *told) marksOf(d *gclog.GCDetails, gcs []*gclog.GCDetails) map[uint32][]mark {
	heaps := map[uint32][]mark{}
	within := func(at int64, d *gclog.GCDetails) bool { return d.Start <= at && at <= d.End }
events:
	for _, m := range p.marks {
		if !within(m.at, d) {
			continue
		}
		for _, other := range gcs {
			if other != d && other.Start >= d.Start && other.End <= d.End && within(m.at, other) {
				continue events
			}
		}
		heaps[m.Heap] = append(heaps[m.Heap], m)
	}
	return heaps
}

// markTimes is how long a heap took for each kind, from when its events came; -1: it tells nothing.
func markTimes(start int64, marks []mark) (times [clr.MarkTypes]int64) {
	for t := range times {
		times[t] = -1
	}
	for _, m := range marks {
		times[m.Type] = max(0, times[m.Type]) + m.at - start
		start = m.at
	}
	return times
}

// TestMarkTimes holds how long the heaps marked against the events themselves, in all recordings. The
// runtime reports dependent handles twice: before what is newly finalizable, and after it.
func TestMarkTimes(t *testing.T) {
	compared, twice := 0, 0
	shared.ForEach(t, func(t *testing.T, tr shared.Trace) {
		stream := shared.Read(t, tr.Path)
		told := readTold(t, stream)
		for _, o := range reduce(t, stream).recorders {
			p := told[o.process.ID]
			for _, d := range o.gcs {
				if !d.Complete || d.Flaws != 0 || p == nil {
					continue
				}
				heaps := p.marksOf(d, o.gcs)
				for i := range d.Heaps {
					marks := heaps[d.Heaps[i].Heap]
					want, promoted := markTimes(d.Start, marks), uint64(0)
					for kind := range clr.MarkTypes {
						if got := d.MarkTime(i, kind); got != want[kind] {
							t.Errorf("#%d heap %d %v: %d ns, the events say %d", d.Number, d.Heaps[i].Heap, kind, got, want[kind])
						}
						promoted += d.Heaps[i].MarkPromoted[kind]
					}
					seen := map[clr.MarkType]bool{}
					for _, m := range marks {
						if seen[m.Type] {
							twice++
						}
						seen[m.Type] = true
						promoted -= m.Promoted
					}
					if promoted != 0 {
						t.Errorf("#%d heap %d: %d bytes more than the events say", d.Number, d.Heaps[i].Heap, int64(promoted))
					}
					if len(marks) > 0 && d.Heaps[i].MarkedUntil != marks[len(marks)-1].at {
						t.Errorf("#%d heap %d: marked until %d, the last event is at %d", d.Number, d.Heaps[i].Heap, d.Heaps[i].MarkedUntil, marks[len(marks)-1].at)
					}
					compared += len(marks)
				}
			}
		}
	})
	if compared == 0 || twice == 0 {
		t.Errorf("%d events were compared, %d of a kind that was reported before", compared, twice)
	}
	t.Logf("%d events, %d of a kind that was reported before", compared, twice)
}
