package gclog_test

import (
	"testing"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/internal/testing/recordings"
	"github.com/gclog/gclog/parse/clr"
)

// marksOf returns the mark events of a collection, by heap: those between its start and its end,
// except those between the start and end of another collection inside it.
func (p *processEvents) marksOf(d *gclog.GCDetails, gcs []*gclog.GCDetails) map[uint32][]mark {
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

// markTimes returns how long a heap marked from each kind of root, from the times of its events;
// -1: not reported.
func markTimes(start int64, marks []mark) (times [clr.MarkTypes]int64) {
	for t := range times {
		times[t] = -1
	}
	for _, m := range marks {
		m.Type = rootsOf(&m)
		times[m.Type] = max(0, times[m.Type]) + m.at - start
		start = m.at
	}
	return times
}

// rootsOf returns the kind of roots that a mark event is about.
func rootsOf(m *mark) clr.MarkType {
	if m.Type == clr.MarkOverflow {
		return clr.MarkDependentHandles
	}
	return m.Type
}

// TestMarkOverflow: the runtime reports marking because of an overflow only as a part of the scan of
// dependent handles, which the heap's next event reports, with at least the same bytes.
func TestMarkOverflow(t *testing.T) {
	seen := 0
	recordings.ForEach(t, func(t *testing.T, tr recordings.Trace) {
		for _, p := range readEvents(t, recordings.Read(t, tr.Path)) {
			overflow := map[uint32]*mark{}
			for i := range p.marks {
				m := &p.marks[i]
				if last := overflow[m.Heap]; last != nil && (m.Type != clr.MarkDependentHandles || m.Promoted < last.Promoted) {
					t.Errorf("heap %d marked %d bytes from %v at %d, after %d because of an overflow", m.Heap, m.Promoted, m.Type, m.at, last.Promoted)
				}
				delete(overflow, m.Heap)
				if m.Type == clr.MarkOverflow {
					overflow[m.Heap] = m
					seen++
				}
			}
		}
	})
	if seen == 0 {
		t.Error("there is no overflow")
	}
}

// TestMarkTimes compares the mark times of the heaps with the events themselves, in all recordings.
// The runtime reports dependent handles twice: before and after newly finalizable objects.
func TestMarkTimes(t *testing.T) {
	compared, twice := 0, 0
	recordings.ForEach(t, func(t *testing.T, tr recordings.Trace) {
		stream := recordings.Read(t, tr.Path)
		events := readEvents(t, stream)
		for _, o := range reduce(t, stream).recorders {
			p := events[o.process.ID]
			for _, d := range o.gcs {
				if !d.Complete || d.Flaws != 0 || p == nil {
					continue
				}
				heaps := p.marksOf(d, o.gcs)
				for i := range d.Heaps {
					marks := heaps[d.Heaps[i].Heap]
					want, promoted := markTimes(d.Start, marks), uint64(0)
					for kind := range clr.MarkTypes {
						if got := orUnknown(d.MarkTime(i, kind)); got != want[kind] {
							t.Errorf("#%d heap %d %v: %d ns, the events say %d", d.Number, d.Heaps[i].Heap, kind, got, want[kind])
						}
						promoted += d.Heaps[i].MarkPromoted[kind]
					}
					seen := map[clr.MarkType]bool{}
					for _, m := range marks {
						if kind := rootsOf(&m); seen[kind] {
							twice++
						}
						seen[rootsOf(&m)] = true
						if m.Type != clr.MarkOverflow { // the next event contains it
							promoted -= m.Promoted
						}
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
