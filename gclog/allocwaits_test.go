package gclog_test

import (
	"testing"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/internal/testing/recordings"
	"github.com/gclog/gclog/parse"
	"github.com/gclog/gclog/parse/clr"
)

// TestWaitUntilTheEnd: a thread that waited for the end of a background collection reports that
// when it resumes, after the collection's last event. The record waits for that, but no longer than
// for histories.
func TestWaitUntilTheEnd(t *testing.T) {
	collected := func() *story {
		s := newStory()
		s.suspend(1, clr.SuspendForGC).start(1, 1, 2, clr.TypeBackground, 0).restart(1)
		s.suspend(2, clr.SuspendForGCPrep).restart(2)
		s.at(100).event(3, &clr.BGCAllocWait{Reason: 11}).event(4, &clr.BGCAllocWait{Reason: 11})
		return s.at(140).history(2, 2, 1, clr.MechanismConcurrent).at(150).finish(2, 1, 2).at(155).event(4, &clr.BGCAllocWait{Reason: 11, End: true})
	}
	for _, tt := range []struct {
		name string
		end  func(*story)
		want int64 // how long thread 3 waited
	}{
		{"says so", func(s *story) { s.at(160).event(3, &clr.BGCAllocWait{Reason: 11, End: true}) }, 60_000},
		{"other reason", func(s *story) {
			s.at(160).event(3, &clr.BGCAllocWait{Reason: 1, End: true}).at(170).event(3, &clr.BGCAllocWait{Reason: 11, End: true})
		}, 70_000},
		{"never says so", func(s *story) { s.Advance(600_000_000) }, 50_000},
		{"the stream ends", func(s *story) { s.Finish(160_000) }, 50_000},
		{"events are lost", func(s *story) { s.Loss(gclog.Stamp{Time: 160_000}, 154_000, 7) }, 50_000},
		{"the next one begins", func(s *story) {
			s.at(160).suspend(1, clr.SuspendForGC).start(1, 2, 2, clr.TypeBackground, 0)
		}, 50_000},
	} {
		s := collected()
		if len(s.gcs) != 0 {
			t.Fatalf("%s: emitted before the threads run again: %v", tt.name, s.emitted)
		}
		tt.end(s)
		if len(s.gcs) != 1 {
			t.Fatalf("%s: emitted %v", tt.name, s.emitted)
		}
		d := s.gcs[0]
		b := d.Background
		if !d.Complete || b.WaitCount != 2 || b.WaitTime != tt.want+54_000 || b.WaitMax != max(tt.want, 54_000) || b.Waits[0].Duration != tt.want || b.Waits[1].Duration != 54_000 {
			t.Errorf("%s: complete %v, the waits are %+v, %d ns in all, %d at most", tt.name, d.Complete, b.Waits, b.WaitTime, b.WaitMax)
		}
	}
}

// TestAllocWaits compares the waits in the records with the events themselves, which come in pairs
// on one thread, in all recordings.
func TestAllocWaits(t *testing.T) {
	seen, after := 0, 0
	all := recordings.ForEach(t, func(t *testing.T, tr recordings.Trace) {
		stream := recordings.Read(t, tr.Path)
		waits := allocWaits(t, stream)
		for _, o := range reduce(t, stream).recorders {
			for _, d := range o.gcs {
				if d.Kind != gclog.KindBackground || !d.Complete {
					continue
				}
				sum, longest, count := int64(0), int64(0), int64(0)
				for _, w := range waits[o.process.ID] {
					if w.Start < d.Start || w.Start > d.End {
						continue
					}
					sum, longest, count = sum+w.Duration, max(longest, w.Duration), count+1
					if w.Start+w.Duration > d.End {
						after++
					}
				}
				seen += int(count)
				if b := d.Background; b.WaitCount != count || b.WaitTime != sum || b.WaitMax != longest {
					t.Errorf("#%d: %d waits of %d ns, %d at most; the events say %d, %d, %d", d.Number, b.WaitCount, b.WaitTime, b.WaitMax, count, sum, longest)
				}
			}
		}
	})
	if t.Logf("%d waits, %d of them until the collection had ended", seen, after); all && after == 0 {
		t.Error("no thread waited until a collection had ended")
	}
}

// allocWaits returns the waits of large objects that the threads of each process report.
func allocWaits(t *testing.T, stream []byte) map[int64][]gclog.AllocWait {
	list, started := map[int64][]gclog.AllocWait{}, map[[2]uint64]int64{}
	decodeAll(t, stream, func(m *parse.Metadata) bool {
		return m.Provider == clr.PrivateProvider && (m.EventID == clr.IDPrvBGCAllocWaitBegin || m.EventID == clr.IDPrvBGCAllocWaitEnd)
	}, func(e *parse.Event, typed clr.Event) {
		w, ok := typed.(*clr.BGCAllocWait)
		if !ok || w.Reason < 9 || w.Reason > 11 { // small objects wait too (docs/events.md)
			return
		}
		key := [2]uint64{uint64(e.Process), e.Thread}
		if begin, ok := started[key]; ok && w.End {
			list[e.Process] = append(list[e.Process], gclog.AllocWait{Thread: e.Thread, Start: begin, Duration: e.Time - begin})
			delete(started, key)
		} else if !w.End {
			started[key] = e.Time
		}
	})
	return list
}
