package gclog_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/internal/testing/extent"
	"github.com/gclog/gclog/parse/clr"
)

// A story feeds events to a Reducer, one every microsecond unless told otherwise, and records what
// the Reducer emits, one line each.
type story struct {
	*gclog.Reducer
	now     int64 // microseconds
	emitted []string
	gcs     []*gclog.GCDetails
	gaps    []gclog.Gap
	pauses  int64
	starts  int
}

func newStory() *story {
	s := &story{}
	s.Reducer = gclog.NewReducer(s.Observe)
	return s
}

// Observe takes a record.
func (s *story) Observe(r gclog.Record) {
	switch r := r.(type) {
	case *gclog.Pause:
		s.pauses += r.Duration
		of := "-"
		if r.GC != nil {
			of = fmt.Sprintf("#%d", r.GC.Number)
		}
		line := fmt.Sprintf("%s %s %d+%d", r.Kind, of, r.Start/1000, r.Duration/1000)
		if r.UsedNumber != 0 {
			line += fmt.Sprintf(" uses %d", r.UsedNumber)
		}
		s.emitted = append(s.emitted, line)
	case *gclog.Phase:
		if r.End {
			s.emitted = append(s.emitted, fmt.Sprintf("%s #%d ends %d-%d", r.Kind, r.GC.Number, r.Start/1000, r.Time/1000))
		} else {
			s.emitted = append(s.emitted, fmt.Sprintf("%s #%d begins %d", r.Kind, r.GC.Number, r.Time/1000))
		}
	case *gclog.GCDetails:
		s.gcs = append(s.gcs, r.Clone())
		line := fmt.Sprintf("gc #%d gen%d %s", r.Number, r.Generation, r.Kind)
		if flaws := r.Flaws.Names(nil); len(flaws) > 0 {
			line += " " + strings.Join(flaws, " ")
		}
		s.emitted = append(s.emitted, line)
	case *gclog.Gap:
		s.gaps = append(s.gaps, *r)
		s.emitted = append(s.emitted, fmt.Sprintf("gap %s %d-%d lost %d", r.Reason, r.From, r.To, r.LostEvents))
	}
}

// at moves the clock to a time in microseconds.
func (s *story) at(us int64) *story { s.now = us; return s }

func (s *story) event(thread uint64, e clr.Event) *story {
	s.Event(gclog.Stamp{Time: s.now * 1000, Ticks: s.now * 1000, Thread: thread}, e)
	s.now++
	return s
}

func (s *story) suspend(thread uint64, r clr.SuspendReason) *story {
	return s.event(thread, &clr.GCSuspendEEBegin{Reason: r}).event(thread, &clr.GCSuspendEEEnd{})
}

func (s *story) restart(thread uint64) *story {
	return s.event(thread, &clr.GCRestartEEBegin{}).event(thread, &clr.GCRestartEEEnd{})
}

func (s *story) triggered(thread uint64) *story { return s.event(thread, &clr.GCTriggered{}) }

func (s *story) start(thread uint64, n, gen uint32, typ clr.GCType, reason clr.Reason) *story {
	s.starts++
	return s.event(thread, &clr.GCStart{Count: n, Depth: gen, Type: typ, Reason: reason, HasDepth: true})
}

func (s *story) end(thread uint64, n, gen uint32) *story {
	return s.event(thread, &clr.GCEnd{Count: n, Depth: gen})
}

// finish ends a collection and reports its sizes.
func (s *story) finish(thread uint64, n, gen uint32) *story {
	return s.end(thread, n, gen).event(thread, &clr.GCHeapStats{Size: [5]uint64{1, 2, 3, 4, 5}, Generations: 5})
}

// history reports the global history, and that of each heap.
func (s *story) history(thread uint64, gen uint32, heaps int32, m clr.Mechanisms) *story {
	s.event(thread, &clr.GCGlobalHeapHistory{CondemnedGeneration: gen, Heaps: heaps, Mechanisms: m})
	for h := range heaps {
		s.event(thread, perHeap(uint32(h)))
	}
	return s
}

func perHeap(heap uint32) *clr.GCPerHeapHistory {
	e := &clr.GCPerHeapHistory{Heap: heap, Generations: 5}
	e.Generation[0].SizeBefore, e.Generation[0].PinnedSurvivors = 100, 10
	return e
}

// plain is a complete blocking collection of workstation GC.
func (s *story) plain(thread uint64, n, gen uint32) *story {
	return s.suspend(thread, clr.SuspendForGC).triggered(thread).start(thread, n, gen, clr.TypeBlocking, 0).
		history(thread, gen, 1, clr.MechanismCompaction).finish(thread, n, gen).restart(thread)
}

func (s *story) want(t *testing.T, want ...string) {
	t.Helper()
	if !slices.Equal(s.emitted, want) {
		t.Errorf("emitted\n  %s\nwant\n  %s", strings.Join(s.emitted, "\n  "), strings.Join(want, "\n  "))
	}
	s.invariants(t)
}

// invariants checks that the pauses add up to the suspensions, every start has one record, and no
// time is negative.
func (s *story) invariants(t *testing.T) {
	t.Helper()
	if s.pauses != s.Suspended() {
		t.Errorf("the pauses add up to %d, the suspensions to %d", s.pauses, s.Suspended())
	}
	records := 0
	for _, d := range s.gcs {
		if d.Flaws&gclog.FlawNoStart == 0 {
			records++
		}
		for _, p := range d.Pauses {
			if p.Duration < 0 || p.Suspend < 0 || p.Resume < 0 || !p.HasSuspend && p.Suspend != 0 || !p.HasResume && p.Resume != 0 {
				t.Errorf("#%d has a negative time: %+v", d.Number, p)
			}
		}
		if delay, known := d.TriggerDelay(); d.Duration() < 0 || d.SinceLast < 0 || known != (delay > 0) {
			t.Errorf("#%d has a negative time: %+v", d.Number, d)
		}
		if d.Complete != (d.Flaws == 0) {
			t.Errorf("#%d is complete: %v, with flaws %v", d.Number, d.Complete, d.Flaws.Names(nil))
		}
	}
	for _, g := range s.gaps {
		if g.From > g.To {
			t.Errorf("a gap from #%d to #%d", g.From, g.To)
		}
	}
	if open := len(s.AppendOpen(nil)); open == 0 && records != s.starts {
		t.Errorf("%d starts, %d records", s.starts, records)
	}
}

const (
	u = 1 // a thread of the program
	g = 2 // thread 0 of server GC
	h = 3 // another thread of server GC
	b = 4 // the thread of background collections
	f = 5 // another thread of the program
)

func TestBlocking(t *testing.T) {
	s := newStory().at(10)
	s.plain(u, 7, 1)
	s.want(t, "blocking #7 10+9", "gc #7 gen1 blocking")
	d := s.gcs[0]
	if orUnknown(d.Suspend()) != 1000 || d.Pauses[0].Resume != 1000 || d.Suspended != 10_000 || d.SizeAfter() != 15 || !d.Complete || d.SizeBefore() != 100 {
		t.Errorf("%+v", d)
	}
	if compacting, known := d.Compacting(); !compacting || !known {
		t.Error("not compacting")
	}
}

// TestServer: the collection starts on a different thread from the one that suspends, which differs
// from the one that requested it.
func TestServer(t *testing.T) {
	s := newStory().at(0)
	s.triggered(u).at(10).suspend(g, clr.SuspendForGC).start(h, 1, 0, clr.TypeBlocking, 0).history(h, 0, 2, 0).finish(g, 1, 0).restart(g)
	s.want(t, "blocking #1 10+9", "gc #1 gen0 blocking")
	d := s.gcs[0]
	if delay, known := d.TriggerDelay(); delay != 10_000 || !known || d.Trigger != u || d.HeapCount() != 2 || len(d.Heaps) != 2 {
		t.Errorf("%+v", d)
	}
}

// TestWorkstationTrigger: workstation GC reports the request only after the threads are suspended.
func TestWorkstationTrigger(t *testing.T) {
	s := newStory().at(10)
	s.suspend(u, clr.SuspendForGC).triggered(u).start(u, 7, 1, clr.TypeBlocking, 0).finish(u, 7, 1).restart(u)
	d := s.gcs[0]
	if delay, known := d.TriggerDelay(); known || delay != 0 || !d.Known.Has(gclog.GroupTrigger) || d.Trigger != u {
		t.Errorf("a delay of %d (%v): %+v", delay, known, d)
	}
}

// suspensions also records all suspensions.
type suspensions struct {
	*story
	list  []gclog.Suspension
	parts []gclog.PausePart
}

// Observe takes a record.
func (s *suspensions) Observe(r gclog.Record) {
	switch r := r.(type) {
	case *gclog.Suspension:
		s.list = append(s.list, *r)
	case *gclog.Pause:
		s.parts = append(s.parts, r.PausePart)
		s.story.Observe(r)
	default:
		s.story.Observe(r)
	}
}

// TestLostSuspensionEvents: what a lost event of a suspension would have reported is unknown, not
// 0.
func TestLostSuspensionEvents(t *testing.T) {
	for _, c := range []struct {
		name            string
		events          func(s *story)
		suspend, resume int64 // negative: unknown
	}{
		{"collection, restart begins unseen", func(s *story) {
			s.suspend(u, clr.SuspendForGC).start(u, 1, 0, clr.TypeBlocking, 0).finish(u, 1, 0).event(u, &clr.GCRestartEEEnd{})
		}, 1000, -1},
		{"collection, stood unseen", func(s *story) {
			s.event(u, &clr.GCSuspendEEBegin{Reason: clr.SuspendForGC}).start(u, 1, 0, clr.TypeBlocking, 0).finish(u, 1, 0).restart(u)
		}, 1000, 1000}, // they were suspended when it started
		{"pause, stood unseen", func(s *story) {
			s.event(u, &clr.GCSuspendEEBegin{Reason: clr.SuspendForGC}).restart(u)
		}, -1, 1000},
		{"pause, restart begins unseen", func(s *story) {
			s.suspend(u, clr.SuspendForGC).event(u, &clr.GCRestartEEEnd{})
		}, 1000, -1},
	} {
		s := &suspensions{story: &story{}}
		s.Reducer = gclog.NewReducer(s.Observe)
		c.events(s.story)
		s.invariants(t)
		if len(s.parts) != 1 || len(s.list) != 1 {
			t.Fatalf("%s: emitted %v", c.name, s.emitted)
		}
		if p, x := s.parts[0], s.list[0]; orUnknown(p.Suspend, p.HasSuspend) != c.suspend || orUnknown(p.Resume, p.HasResume) != c.resume || orUnknown(x.Suspend, x.HasSuspend) != c.suspend {
			t.Errorf("%s: %+v, suspension %+v", c.name, p, s.list[0])
		}
		for _, d := range s.gcs {
			if p := &d.Pauses[0]; orUnknown(d.Suspend()) != c.suspend || orUnknown(p.Resume, p.HasResume) != c.resume || !d.Complete {
				t.Errorf("%s: %+v, complete: %v", c.name, p, d.Complete)
			}
		}
	}
	// In the final pause of a background collection nothing else says when the threads were
	// suspended.
	s := newStory()
	s.suspend(u, clr.SuspendForGC).start(u, 1, 2, clr.TypeBackground, 0).restart(u)
	s.event(b, &clr.GCSuspendEEBegin{Reason: clr.SuspendForGCPrep}).event(b, &clr.GCRestartEEEnd{})
	s.history(b, 2, 1, clr.MechanismConcurrent).finish(b, 1, 2)
	if d := s.gcs[0]; orUnknown(d.FinalSuspend()) != -1 || d.Pauses[1].HasResume || orUnknown(d.Suspend()) != -1 || d.Pauses[0].Suspend != 1000 {
		t.Errorf("%+v", d.Pauses)
	}
}

// orUnknown returns v, -1 if it is unknown.
func orUnknown(v int64, known bool) int64 {
	if !known {
		return -1
	}
	return v
}

// TestOtherSuspensions: suspensions by the debugger, the profiler and others are not pauses, and do
// not disturb those that are.
func TestOtherSuspensions(t *testing.T) {
	s := newStory().at(0)
	s.suspend(f, clr.SuspendForDebugger).restart(f)
	s.at(10).event(u, &clr.GCSuspendEEBegin{Reason: clr.SuspendForGC})
	s.event(f, &clr.GCSuspendEEBegin{Reason: clr.SuspendOther}) // waits
	s.event(u, &clr.GCSuspendEEEnd{}).start(u, 1, 0, clr.TypeBlocking, 0).finish(u, 1, 0).restart(u)
	s.event(f, &clr.GCSuspendEEEnd{}).restart(f)
	s.want(t, "blocking #1 10+7", "gc #1 gen0 blocking")
}

func background(s *story) *story {
	return s.suspend(u, clr.SuspendForGC).triggered(u).start(u, 5, 2, clr.TypeBackground, clr.ReasonAllocLarge).restart(u)
}

func TestBackground(t *testing.T) {
	s := newStory().at(0)
	background(s)
	s.at(100).suspend(f, clr.SuspendForGC).triggered(f).start(f, 6, 1, clr.TypeForeground, 0).history(f, 1, 1, 0).finish(f, 6, 1).restart(f)
	s.at(200).suspend(b, clr.SuspendForGCPrep).restart(b)
	s.at(300).history(b, 2, 1, clr.MechanismConcurrent).finish(b, 5, 2)
	s.want(t,
		"initial #5 0+5", "mark #5 begins 5",
		"blocking #6 100+9", "gc #6 gen1 foreground",
		"mark #5 ends 5-200", "final #5 200+3", "sweep #5 begins 203",
		"sweep #5 ends 203-302", "gc #5 gen2 background")
	d := s.gcs[1]
	if d.Pause() != 8_000 || d.PauseMax() != 5_000 || d.FinalPause() != 3_000 || len(d.Pauses) != 2 || d.Duration() != 299_000 {
		t.Errorf("%+v", d)
	}
	if x := d.Background; x == nil || x.MarkStart != 5_000 || x.SweepEnd != 302_000 {
		t.Errorf("%+v", d.Background)
	}
	if s.gcs[0].Background != nil {
		t.Error("a foreground collection has background details")
	}
}

// TestServerBackground: its histories come after its sizes, even while another collection is
// running.
func TestServerBackground(t *testing.T) {
	s := newStory().at(0)
	s.triggered(u).suspend(g, clr.SuspendForGC).start(h, 5, 2, clr.TypeBackground, 0).restart(g)
	s.at(100).suspend(b, clr.SuspendForGCPrep).restart(b)
	s.at(200).finish(b, 5, 2)
	s.event(g, &clr.GCSuspendEEBegin{Reason: clr.SuspendForGC})
	s.history(b, 2, 2, clr.MechanismConcurrent)
	s.want(t, "initial #5 1+4", "mark #5 begins 5", "mark #5 ends 5-100", "final #5 100+3", "sweep #5 begins 103", "sweep #5 ends 103-200", "gc #5 gen2 background")
	if d := s.gcs[0]; len(d.Heaps) != 2 || !d.Known.Has(gclog.GroupGlobal) || !d.Complete {
		t.Errorf("%+v", d)
	}
}

// TestServerBackgroundWithoutHistories: the record does not wait for them forever.
func TestServerBackgroundWithoutHistories(t *testing.T) {
	s := newStory().at(0)
	background(s)
	s.at(100).suspend(b, clr.SuspendForGCPrep).restart(b).at(200).finish(b, 5, 2)
	if len(s.gcs) != 0 {
		t.Fatal("emitted before its histories")
	}
	s.Advance(400e6)
	if len(s.gcs) != 0 {
		t.Fatal("emitted before half a second")
	}
	s.Advance(800e6)
	if len(s.gcs) != 1 || !s.gcs[0].Complete {
		t.Errorf("%v", s.emitted)
	}
}

// TestHeapsMissing: if some heaps did not report their history, the sum is not that of the whole
// heap.
func TestHeapsMissing(t *testing.T) {
	s := newStory().at(0)
	s.suspend(g, clr.SuspendForGC).start(h, 1, 0, clr.TypeBlocking, 0)
	s.event(h, &clr.GCGlobalHeapHistory{Heaps: 2}).event(h, perHeap(0)).finish(g, 1, 0).restart(g)
	s.at(100).triggered(u).suspend(g, clr.SuspendForGC).start(h, 5, 2, clr.TypeBackground, 0).restart(g)
	s.at(200).suspend(b, clr.SuspendForGCPrep).restart(b)
	s.at(300).finish(b, 5, 2).event(b, &clr.GCGlobalHeapHistory{CondemnedGeneration: 2, Heaps: 2, Mechanisms: clr.MechanismConcurrent}).event(b, perHeap(1))
	s.at(400).suspend(g, clr.SuspendForGC).start(h, 6, 1, clr.TypeBlocking, 0).event(h, &clr.GCGlobalHeapHistory{CondemnedGeneration: 1, Heaps: 2}).finish(g, 6, 1).restart(g)
	s.at(500).suspend(g, clr.SuspendForGC).start(h, 7, 1, clr.TypeBlocking, 0).event(h, &clr.GCGlobalHeapHistory{CondemnedGeneration: 1, Heaps: 3})
	for heap := range uint32(2) {
		e := perHeap(heap)
		e.CondemnedGenerations, e.FreeListAllocated = 1<<3, 10
		s.event(h, e)
	}
	s.finish(g, 7, 1).restart(g)
	s.Finish(900e3)
	if len(s.gcs) != 4 {
		t.Fatalf("%v", s.emitted)
	}
	for i, d := range s.gcs {
		if d.Flaws != gclog.FlawNoHeaps || d.Complete || d.Known.Has(gclog.GroupHistory) || len(d.Heaps) != []int{1, 0, 2, 1}[i] {
			t.Errorf("#%d: %v, complete %v, with a history %v, %d heaps", d.Number, d.Flaws.Names(nil), d.Complete, d.Known.Has(gclog.GroupHistory), len(d.Heaps))
		}
		_, _, condemned := d.Condemned()
		_, efficiency := d.FreeListEfficiency()
		if condemned || efficiency || d.Imbalance(func(*gclog.HeapDetails) uint64 { return 1 }) != 0 {
			t.Errorf("#%d tells what only all heaps together know", d.Number)
		}
		if x := d.Generations[0]; d.Known.Has(gclog.GroupBefore) && !d.BeforeEstimated || x.Survived != 0 || x.After != 1 {
			t.Errorf("#%d: %+v", d.Number, x)
		}
	}
}

// TestEphemeralAtStart: an ephemeral collection shares the first suspension of a background one,
// and gets the part of it that it took.
func TestEphemeralAtStart(t *testing.T) {
	s := newStory().at(0)
	s.suspend(u, clr.SuspendForGC).start(u, 5, 2, clr.TypeBackground, 0).start(u, 6, 0, clr.TypeBlocking, 0).
		history(u, 0, 1, 0).at(50).finish(u, 6, 0).at(60).restart(u)
	s.at(100).suspend(b, clr.SuspendForGCPrep).restart(b).history(b, 2, 1, clr.MechanismConcurrent).finish(b, 5, 2)
	s.want(t,
		"blocking #6 0+47", "gc #6 gen0 blocking", "initial #5 47+14", "mark #5 begins 61",
		"mark #5 ends 61-100", "final #5 100+3", "sweep #5 begins 103", "sweep #5 ends 103-106", "gc #5 gen2 background")
	if d := s.gcs[0]; !d.InsideBGCStart || orUnknown(d.Suspend()) != 0 {
		t.Errorf("%+v", d)
	}
	if d := s.gcs[1]; d.Pauses[0].Suspend != 1000 || d.Suspended != 0 || d.DemotedBGC {
		t.Errorf("%+v", d)
	}
}

func TestProvisional(t *testing.T) {
	s := newStory().at(0)
	s.suspend(u, clr.SuspendForGC).start(u, 1, 1, clr.TypeBlocking, 0).finish(u, 1, 1).
		at(20).start(u, 2, 2, clr.TypeBlocking, clr.ReasonPMFullGC).finish(u, 2, 2).at(40).restart(u)
	s.want(t, "blocking #1 0+20", "gc #1 gen1 blocking", "blocking #2 20+21", "gc #2 gen2 blocking")
	if orUnknown(s.gcs[0].Suspend()) != 1000 || orUnknown(s.gcs[1].Suspend()) != 0 || !s.gcs[1].Provisional || s.gcs[0].Provisional {
		t.Errorf("%+v", s.gcs)
	}
}

func TestDemoted(t *testing.T) {
	s := newStory().at(0)
	s.suspend(u, clr.SuspendForGC).start(u, 1, 2, clr.TypeBackground, 0).history(u, 2, 1, clr.MechanismCompaction).finish(u, 1, 2).restart(u)
	s.want(t, "blocking #1 0+8", "gc #1 gen2 blocking")
	if d := s.gcs[0]; !d.DemotedBGC || d.Type != clr.TypeBackground || d.Background != nil {
		t.Errorf("%+v", d)
	}
}

// TestPhaseInsidePause: a phase that ends while the program is paused for something else is emitted
// when the program resumes, and before the pause that it borders on.
func TestPhaseInsidePause(t *testing.T) {
	s := newStory().at(0)
	background(s)
	s.at(100).suspend(f, clr.SuspendForGC).start(f, 6, 0, clr.TypeForeground, 0)
	s.at(110).event(b, &clr.GCSuspendEEBegin{Reason: clr.SuspendForGCPrep}) // has to wait
	s.at(118).history(f, 0, 1, 0).finish(f, 6, 0).restart(f)
	s.at(130).event(b, &clr.GCSuspendEEEnd{}).restart(b)
	// The sweep ends inside another pause.
	s.at(200).suspend(f, clr.SuspendForGC).start(f, 7, 0, clr.TypeForeground, 0)
	s.at(210).history(b, 2, 1, clr.MechanismConcurrent).finish(b, 5, 2)
	s.at(218).history(f, 0, 1, 0).finish(f, 7, 0).restart(f)
	s.want(t,
		"initial #5 0+5", "mark #5 begins 5",
		"blocking #6 100+23", "gc #6 gen0 foreground", "mark #5 ends 5-110",
		"final #5 110+22", "sweep #5 begins 132",
		"gc #5 gen2 background", "blocking #7 200+23", "gc #7 gen0 foreground", "sweep #5 ends 132-212")
}

// TestNumberInSuspension: the number of a background collection that started before the session is
// known from its last suspension on, not only when it has ended.
func TestNumberInSuspension(t *testing.T) {
	for _, number := range []uint32{5, 0} { // 0: the event has none
		s := newStory().at(0).suspend(f, clr.SuspendForGC).start(f, 6, 0, clr.TypeForeground, 0).history(f, 0, 1, 0).finish(f, 6, 0).restart(f)
		s.at(100).event(b, &clr.GCSuspendEEBegin{Reason: clr.SuspendForGCPrep, Count: number}).event(b, &clr.GCSuspendEEEnd{}).restart(b)
		s.at(200).history(b, 2, 1, clr.MechanismConcurrent).finish(b, 5, 2)
		of := fmt.Sprintf("#%d", number)
		s.want(t, "blocking #6 0+8", "gc #6 gen0 foreground",
			"final "+of+" 100+3", "sweep "+of+" begins 103", "sweep #5 ends 103-202", "gc #5 gen2 background no-start")
	}
}

// TestSuspensionsWithoutGC: a suspension that no collection explains is a pause of its own, and may
// use up a number.
func TestSuspensionsWithoutGC(t *testing.T) {
	t.Run("no-GC region of workstation GC", func(t *testing.T) {
		s := newStory().at(0)
		s.plain(u, 1, 0).at(100).suspend(u, clr.SuspendForGC).triggered(u).restart(u).at(200).plain(u, 3, 0)
		s.want(t, "blocking #1 0+9", "gc #1 gen0 blocking", "no-gc-region - 100+4 uses 2", "blocking #3 200+9", "gc #3 gen0 blocking")
	})
	t.Run("no-GC region of server GC", func(t *testing.T) {
		s := newStory().at(0)
		s.triggered(u).suspend(g, clr.SuspendForGC).start(h, 1, 0, clr.TypeBlocking, 0).finish(g, 1, 0).restart(g)
		s.at(100).triggered(u).suspend(g, clr.SuspendForGC).restart(g)
		s.at(200).triggered(u).suspend(g, clr.SuspendForGC).start(h, 3, 0, clr.TypeBlocking, 0).finish(g, 3, 0).restart(g)
		s.want(t, "blocking #1 1+6", "gc #1 gen0 blocking", "no-gc-region - 101+3 uses 2", "blocking #3 201+6", "gc #3 gen0 blocking")
	})
	t.Run("memory limit", func(t *testing.T) {
		for flavor, kind := range map[string]string{gclog.FlavorCoreCLR: "memory-limit", gclog.FlavorNativeAOT: "unknown", "": "unknown"} {
			s := newStory().at(0)
			s.SetProcess(&gclog.Process{Flavor: flavor})
			s.plain(u, 1, 0).at(100).suspend(u, clr.SuspendForGC).restart(u).at(200).plain(u, 2, 0)
			s.want(t, "blocking #1 0+9", "gc #1 gen0 blocking", kind+" - 100+3", "blocking #2 200+9", "gc #2 gen0 blocking")
		}
	})
	t.Run("heap count", func(t *testing.T) {
		s := newStory().at(0)
		s.triggered(u).suspend(g, clr.SuspendForGC).start(h, 1, 0, clr.TypeBlocking, 0).finish(g, 1, 0).restart(g)
		s.at(100).suspend(g, clr.SuspendForGCPrep).restart(g).at(200).suspend(f, clr.SuspendForGCPrep).restart(f)
		s.want(t, "blocking #1 1+6", "gc #1 gen0 blocking", "heap-count - 100+3", "no-gc-region - 200+3")
	})
	t.Run("its GCStart was lost", func(t *testing.T) {
		s := newStory().at(0)
		s.plain(u, 1, 0).at(100).suspend(u, clr.SuspendForGC).triggered(u)
		s.Loss(gclog.Stamp{Time: s.now * 1000, Thread: u}, 100_000, 1)
		s.restart(u).at(200).plain(u, 3, 0)
		s.want(t, "blocking #1 0+9", "gc #1 gen0 blocking", "gap lost-events 0-0 lost 1", "unknown - 100+4",
			"gap missed-gcs 2-2 lost 0", "blocking #3 200+9", "gc #3 gen0 blocking")
	})
	t.Run("nothing is known", func(t *testing.T) {
		s := newStory().at(0)
		s.suspend(f, clr.SuspendForGCPrep).restart(f)
		s.want(t, "unknown - 0+3")
	})
}

func TestMissedNumbers(t *testing.T) {
	s := newStory().at(0)
	s.plain(u, 1, 0).at(100).suspend(u, clr.SuspendForGC).triggered(u).restart(u).at(200).plain(u, 6, 0).at(300).plain(u, 2, 0)
	s.want(t, "blocking #1 0+9", "gc #1 gen0 blocking", "no-gc-region - 100+4 uses 2",
		"gap missed-gcs 3-5 lost 0", "blocking #6 200+9", "gc #6 gen0 blocking",
		"gap missed-gcs 0-0 lost 0", "blocking #2 300+9", "gc #2 gen0 blocking")
}

// TestMissedStart: a collection whose start was lost has a record, so it is not in a gap.
func TestMissedStart(t *testing.T) {
	s := newStory().at(0)
	s.plain(u, 1, 0).at(100).suspend(u, clr.SuspendForGC).finish(u, 4, 0).restart(u).at(200).plain(u, 5, 0)
	s.want(t, "blocking #1 0+9", "gc #1 gen0 blocking", "gap missed-gcs 2-3 lost 0", "blocking #4 100+5", "gc #4 gen0 blocking no-start",
		"blocking #5 200+9", "gc #5 gen0 blocking")
}

// TestMissedStarts: if starts were lost, a suspension without a collection may belong to a
// collection of which nothing else was seen. That collection is then in a gap, even if its
// suspension looks like a no-GC region.
func TestMissedStarts(t *testing.T) {
	s := newStory().at(0)
	s.plain(u, 1, 0)
	s.at(100).triggered(u).suspend(u, clr.SuspendForGC).restart(u) // a background collection
	s.at(200).suspend(u, clr.SuspendForGC).finish(u, 3, 0).restart(u).at(300).plain(u, 4, 0)
	s.want(t, "blocking #1 0+9", "gc #1 gen0 blocking", "no-gc-region - 101+3 uses 2", "gap missed-gcs 2-2 lost 0",
		"blocking #3 200+5", "gc #3 gen0 blocking no-start", "blocking #4 300+9", "gc #4 gen0 blocking")
}

// TestSessionBegin checks what was in progress when the session started.
func TestSessionBegin(t *testing.T) {
	for _, c := range []struct {
		name   string
		events func(*story)
		want   []string
	}{
		{"in a blocking collection", func(s *story) { s.finish(u, 44, 1).restart(u) }, []string{"gc #44 gen1 blocking no-start no-suspend"}},
		{"in a blocking gen2", func(s *story) { s.finish(u, 44, 2).restart(u) }, []string{"gc #44 gen2 blocking no-start no-suspend"}},
		{"behind GCEnd", func(s *story) { s.restart(u) }, nil},
		{"between suspension and start", func(s *story) {
			s.start(u, 3, 0, clr.TypeBlocking, 0).finish(u, 3, 0).restart(u).at(100).plain(u, 4, 0)
		}, []string{"gc #3 gen0 blocking no-suspend", "blocking #4 100+9", "gc #4 gen0 blocking"}},
		{"in a background collection, by a foreground one", func(s *story) {
			s.suspend(u, clr.SuspendForGC).start(u, 6, 0, clr.TypeForeground, 0).finish(u, 6, 0).restart(u)
			s.at(100).suspend(b, clr.SuspendForGCPrep).restart(b).history(b, 2, 1, clr.MechanismConcurrent).finish(b, 5, 2)
		}, []string{"blocking #6 0+6", "gc #6 gen0 foreground", "final #0 100+3", "sweep #0 begins 103", "sweep #5 ends 103-106", "gc #5 gen2 background no-start"}},
		{"in a background collection, by its phases", func(s *story) {
			s.event(b, &clr.BGCPhaseEvent{Phase: clr.BGCConcurrentMarkEnd})
			s.at(100).suspend(b, clr.SuspendForGCPrep).restart(b).history(b, 2, 1, clr.MechanismConcurrent).finish(b, 5, 2)
		}, []string{"final #0 100+3", "sweep #0 begins 103", "sweep #5 ends 103-106", "gc #5 gen2 background no-start"}},
		{"in the sweep, by its history", func(s *story) {
			s.history(b, 2, 1, clr.MechanismConcurrent).finish(b, 5, 2)
		}, []string{"gc #5 gen2 background no-start"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newStory().at(0)
			c.events(s)
			s.want(t, c.want...)
		})
	}
}

// TestLostEvents: whatever is lost, what comes afterwards is right again.
func TestLostEvents(t *testing.T) {
	for _, c := range []struct {
		name   string
		events func(*story)
		want   []string
	}{
		{"GCRestartEEEnd", func(s *story) {
			s.suspend(u, clr.SuspendForGC).start(u, 1, 0, clr.TypeBlocking, 0).finish(u, 1, 0)
		}, []string{"gc #1 gen0 blocking no-restart"}},
		{"GCRestartEEEnd of another thread", func(s *story) {
			s.suspend(f, clr.SuspendForGC).start(f, 1, 0, clr.TypeBlocking, 0).finish(f, 1, 0)
		}, []string{"gc #1 gen0 blocking no-restart"}},
		{"GCEnd and GCHeapStats", func(s *story) {
			s.suspend(u, clr.SuspendForGC).start(u, 1, 0, clr.TypeBlocking, 0).restart(u)
		}, []string{"blocking #1 0+4", "gc #1 gen0 blocking no-end no-sizes"}},
		{"GCHeapStats", func(s *story) {
			s.suspend(u, clr.SuspendForGC).start(u, 1, 0, clr.TypeBlocking, 0).end(u, 1, 0).restart(u)
		}, []string{"blocking #1 0+5", "gc #1 gen0 blocking no-sizes"}},
		{"GCSuspendEEEnd", func(s *story) {
			s.event(u, &clr.GCSuspendEEBegin{Reason: 1}).start(u, 1, 0, clr.TypeBlocking, 0).finish(u, 1, 0).restart(u)
		}, []string{"blocking #1 0+5", "gc #1 gen0 blocking"}},
		{"GCRestartEEBegin", func(s *story) {
			s.suspend(u, clr.SuspendForGC).start(u, 1, 0, clr.TypeBlocking, 0).finish(u, 1, 0).event(u, &clr.GCRestartEEEnd{})
		}, []string{"blocking #1 0+5", "gc #1 gen0 blocking"}},
		{
			"end of a background collection", func(s *story) { background(s) },
			[]string{"initial #5 0+5", "mark #5 begins 5", "gc #5 gen2 background no-end no-sizes", "gap missed-gcs 6-50 lost 0"},
		},
		{"second suspension of a background collection", func(s *story) {
			background(s).at(50).history(b, 2, 1, clr.MechanismConcurrent).finish(b, 5, 2)
		}, []string{"initial #5 0+5", "mark #5 begins 5", "mark #5 ends 5-52", "gc #5 gen2 background", "gap missed-gcs 6-50 lost 0"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newStory().at(0)
			c.events(s)
			next := uint32(2)
			if strings.Contains(c.name, "background") {
				next = 51
			}
			s.at(900).plain(u, next, 0).at(1000).plain(u, next+1, 0)
			// A gap is emitted when the next number arrives, before the collections that this shows
			// to have ended.
			got := slices.Clone(s.emitted)
			slices.Sort(got)
			want := append(slices.Clone(c.want),
				fmt.Sprintf("blocking #%d 900+9", next), fmt.Sprintf("gc #%d gen0 blocking", next),
				fmt.Sprintf("blocking #%d 1000+9", next+1), fmt.Sprintf("gc #%d gen0 blocking", next+1))
			slices.Sort(want)
			if !slices.Equal(got, want) {
				t.Errorf("emitted\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(want, "\n  "))
			}
			s.invariants(t)
		})
	}
}

func TestLoss(t *testing.T) {
	s := newStory().at(0)
	background(s)
	s.Loss(gclog.Stamp{Time: 20_000, Thread: u}, 10_000, 17)
	s.at(30).suspend(f, clr.SuspendForGC).start(f, 6, 0, clr.TypeForeground, 0).finish(f, 6, 0).restart(f)
	s.at(100).suspend(b, clr.SuspendForGCPrep).restart(b).history(b, 2, 1, clr.MechanismConcurrent).finish(b, 5, 2)
	if got := s.emitted[2]; got != "gap lost-events 5-5 lost 17" {
		t.Errorf("emitted %q", got)
	}
	for _, d := range s.gcs {
		if lossy := d.Flaws&gclog.FlawLostEvents != 0; lossy != (d.Number == 5) || lossy && d.LostEvents != 17 {
			t.Errorf("#%d: %v, %d lost", d.Number, d.Flaws.Names(nil), d.LostEvents)
		}
	}
}

// TestTimeGoesBack: a damaged stream causes no negative times, and its records are flagged.
func TestTimeGoesBack(t *testing.T) {
	s := newStory().at(100)
	s.suspend(u, clr.SuspendForGC).start(u, 1, 0, clr.TypeBlocking, 0)
	s.at(50).finish(u, 1, 0).restart(u)
	s.want(t, "blocking #1 100+1", "gc #1 gen0 blocking time")
	s.at(200).plain(u, 2, 0)
	if d := s.gcs[1]; !d.Complete {
		t.Errorf("#2 is not complete either: %v", d.Flaws.Names(nil))
	}
}

// TestOpen: what has started and not ended can be queried, and is reported if it lasts.
func TestOpen(t *testing.T) {
	const begin = int64(5e9)
	s := newStory().at(begin / 1000)
	s.suspend(u, clr.SuspendForGC).start(u, 9, 2, clr.TypeBlocking, clr.ReasonInduced)
	open := s.AppendOpen(nil)
	what := gclog.Open{Number: 9, HasNumber: true, Generation: 2, Reason: clr.ReasonInduced, HasReason: true}
	suspension, collection := what, what
	suspension.Kind, suspension.Since, suspension.Ticks = gclog.OpenSuspension, begin, begin
	collection.Kind, collection.Since, collection.Ticks = gclog.OpenGC, begin+2000, begin+2000
	if !slices.Equal(open, []gclog.Open{suspension, collection}) {
		t.Fatalf("%+v", open)
	}
	if c := s.Current(); c == nil || c.Number != 9 {
		t.Errorf("current is %+v", c)
	}
	var w gclog.StallWatch
	var emitted []string
	check := func(now int64) {
		w.Check(s.Reducer, begin+now, func(x *gclog.Stall) {
			if x.Now != begin+now {
				t.Errorf("emitted at %d as of %d", begin+now, x.Now)
			}
			emitted = append(emitted, fmt.Sprintf("%s #%d > %ds", x.Kind, x.Number, x.Threshold/1e9))
		})
	}
	for _, now := range []int64{1e6, 999e6, 1001e6, 2e9, 9e9, 11e9, 12e9} {
		check(now)
	}
	s.at(begin/1000+20e6).finish(u, 9, 2).restart(u)
	check(70e9)
	want := []string{"suspension #9 > 1s", "gc #9 > 1s", "suspension #9 > 10s", "gc #9 > 10s"}
	if !slices.Equal(emitted, want) {
		t.Errorf("emitted %q, want %q", emitted, want)
	}
	// The next one starts counting anew; one that is found after a minute is reported once.
	s.at(begin/1000+100e6).suspend(u, clr.SuspendForGC)
	emitted = nil
	check(180e9)
	if want := []string{"suspension #0 > 60s"}; !slices.Equal(emitted, want) {
		t.Errorf("emitted %q, want %q", emitted, want)
	}
}

// TestOpenBesideBackground checks which collection an open suspension is attributed to while a
// background one is running, and if the suspension is not for the GC.
func TestOpenBesideBackground(t *testing.T) {
	for _, c := range []struct {
		name   string
		events func(*story)
		want   string
	}{
		{"none", func(*story) {}, "gc #5"},
		{"its own", func(s *story) { s.suspend(b, clr.SuspendForGCPrep) }, "suspension #5, gc #5"},
		{"of another, before it starts", func(s *story) { s.suspend(f, clr.SuspendForGC) }, "suspension, gc #5"},
		{"of another", func(s *story) { s.suspend(f, clr.SuspendForGC).start(f, 6, 0, clr.TypeForeground, 0) }, "suspension #6, gc #5, gc #6"},
		{"of another, behind its end", func(s *story) { s.suspend(f, clr.SuspendForGC).start(f, 6, 0, clr.TypeForeground, 0).finish(f, 6, 0) }, "suspension #6, gc #5"},
		{"of a debugger", func(s *story) { s.suspend(f, clr.SuspendForDebugger) }, "gc #5"},
	} {
		s := background(newStory().at(0)).at(50)
		c.events(s)
		var got []string
		for _, o := range s.AppendOpen(nil) {
			text := o.Kind.String()
			if o.HasNumber {
				text += fmt.Sprint(" #", o.Number)
			}
			got = append(got, text)
		}
		if text := strings.Join(got, ", "); text != c.want {
			t.Errorf("%s: %s, want %s", c.name, text, c.want)
		}
	}
}

// TestStallThresholds: what is open is reported when it is a second, ten seconds and a minute old.
// If several are due at once, only the last is reported.
func TestStallThresholds(t *testing.T) {
	const begin = int64(5e9)
	s := newStory().at(begin/1000).event(u, &clr.GCSuspendEEBegin{Reason: clr.SuspendForGC})
	for after, want := range map[int64]int64{1e9 - 1: 0, 1e9: 1e9, 10e9 - 1: 1e9, 10e9: 10e9, 60e9 - 1: 10e9, 60e9: 60e9, 1e12: 60e9} {
		var emitted []int64
		new(gclog.StallWatch).Check(s.Reducer, begin+after, func(x *gclog.Stall) { emitted = append(emitted, x.Threshold) })
		if len(emitted) > 1 || len(emitted) != int(min(want, 1)) || want > 0 && emitted[0] != want {
			t.Errorf("after %d ns: %d, want %d", after, emitted, want)
		}
	}
}

// TestFinish: at the end of a stream everything that is open is emitted as it is.
func TestFinish(t *testing.T) {
	s := newStory().at(0)
	background(s).at(50).suspend(f, clr.SuspendForGC).start(f, 6, 0, clr.TypeForeground, 0)
	s.Finish(60_000)
	s.want(t, "initial #5 0+5", "mark #5 begins 5", "gc #5 gen2 background no-end no-sizes cut-off", "gc #6 gen0 foreground no-end no-sizes no-restart cut-off")
	if open := s.AppendOpen(nil); len(open) != 0 {
		t.Errorf("%+v", open)
	}
}

// random generates events of all kinds in any order, as a hostile or very lossy stream would
// contain them.
func random(rnd func(int) int, n int) *story {
	s := newStory()
	s.random(rnd, n)
	return s
}

func (s *story) random(rnd func(int) int, n int) {
	for range n {
		thread, number, gen := uint64(rnd(4)), uint32(rnd(6)), uint32(rnd(4))
		number += []uint32{0, 0, 0, 1 << 30, 1 << 31, 1<<32 - 3}[rnd(6)]
		switch rnd(16) {
		case 0, 1:
			s.event(thread, &clr.GCSuspendEEBegin{Reason: []clr.SuspendReason{0, 1, 1, 6, 5}[rnd(5)]})
		case 2, 3:
			s.event(thread, &clr.GCSuspendEEEnd{})
		case 4:
			s.event(thread, &clr.GCRestartEEBegin{})
		case 5, 6:
			s.event(thread, &clr.GCRestartEEEnd{})
		case 7, 8:
			s.start(thread, number, gen, clr.GCType(rnd(4)), clr.Reason(rnd(20)))
		case 9:
			s.end(thread, number, gen)
		case 10:
			s.finish(thread, number, gen)
		case 11:
			heaps := int32(rnd(3))
			s.event(thread, &clr.GCGlobalHeapHistory{CondemnedGeneration: gen, Heaps: heaps, Mechanisms: clr.Mechanisms(rnd(4)), FinalYoungestDesired: uint64(rnd(2) * rnd(1000)), TimeCount: rnd(9)})
			for h := range heaps {
				e := perHeap(uint32(h))
				for g := range e.Generation {
					x := &e.Generation[g]
					x.SizeBefore, x.FreeListBefore, x.SizeAfter, x.FreeListAfter = uint64(rnd(1000)), uint64(rnd(100)), uint64(rnd(1000)), uint64(rnd(100))
					x.In, x.NonPinnedSurvivors, x.Budget = uint64(rnd(300)), uint64(rnd(300)), uint64(rnd(1000))
				}
				s.event(thread, e)
			}
		case 12:
			s.triggered(thread)
		case 13:
			s.event(thread, &clr.BGCPhaseEvent{Phase: clr.BGCPhase(rnd(int(clr.BGCPhases)))})
			s.event(thread, &clr.BGCAllocWait{Reason: 10, End: rnd(2) == 0})
		case 14:
			s.event(thread, other(rnd)).event(thread, &clr.CommittedUsage{InUse: uint64(rnd(100))}).event(thread, &clr.GCMarkWithType{Heap: uint32(rnd(5000)), Type: clr.MarkType(rnd(12))})
		default:
			s.Loss(gclog.Stamp{Time: s.now * 1000, Thread: thread}, 0, uint64(rnd(10)))
		}
		s.now += int64(rnd(1000))
	}
	s.Finish(s.now * 1000)
}

// other returns an event that only adds something to a collection.
func other(rnd func(int) int) clr.Event {
	n, big, flag := uint32(rnd(8)), uint64(rnd(1000)), rnd(2) == 0
	switch rnd(16) {
	case 0:
		return &clr.GCCreateSegment{Address: uint64(n), Size: big}
	case 1:
		return &clr.GCFreeSegment{Address: uint64(n)}
	case 2:
		return &clr.GCGenerationRange{Used: big, Reserved: 2 * big}
	case 3:
		return &clr.GCFinalizersBegin{}
	case 4:
		return &clr.GCFinalizersEnd{Count: n}
	case 5:
		return &clr.GCAllocationTick{Kind: clr.AllocationKind(n % 5), Amount: big}
	case 6:
		return &clr.PinObjectAtGCTime{More: n, Size: big, TotalSize: 3 * big}
	case 7:
		return &clr.PinPlugAtGCTime{Start: big, End: 2 * big}
	case 8:
		return &clr.GCBulkRootEdge{}
	case 9:
		return &clr.BGCRevisit{Pages: big, Objects: 2 * big, Large: flag}
	case 10:
		return &clr.BGCDrainMark{Objects: big}
	case 11:
		return &clr.BGCOverflow{Objects: big}
	case 12:
		return &clr.SizeAdaptationSample{GCIndex: uint64(n), PauseMicroseconds: n}
	case 13:
		return &clr.SizeAdaptationTuning{GCIndex: uint64(n), NewHeaps: uint16(n)}
	case 14:
		return &clr.HeapCountSample{GCIndex: uint64(n), PauseMicroseconds: big}
	}
	return &clr.BGCAllocWait{Reason: 7 + n, End: flag}
}

// TestRandomEvents: whatever events come, the two invariants hold.
func TestRandomEvents(t *testing.T) {
	extent.Long(t)
	for seed := range uint64(extent.Pick(1000, 4000)) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		s := random(rnd.IntN, 300)
		s.invariants(t)
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

// FuzzReducer does the same with histories that the fuzzer finds.
func FuzzReducer(f *testing.F) {
	f.Add([]byte{0, 1, 1, 2, 7, 1, 1, 0, 0, 9, 5, 5})
	f.Add([]byte("suspension, start, end, sizes, restart, and what else there may be"))
	f.Fuzz(func(t *testing.T, b []byte) {
		next := func(n int) int {
			if len(b) == 0 {
				return 0
			}
			v := int(b[0])
			b = b[1:]
			return v % n
		}
		s := random(next, min(len(b)/3, 2000))
		s.invariants(t)
	})
}

// TestCloneOfOthers: a record not made by a Reducer has its own BackgroundDetails.
func TestCloneOfOthers(t *testing.T) {
	b := gclog.BackgroundDetails{MarkStart: 7, Waits: []gclog.AllocWait{{Thread: 1}}}
	d := gclog.GCDetails{Kind: gclog.KindBackground, Background: &b}
	c := d.Clone()
	b.MarkStart, b.Waits[0].Thread = 8, 2
	if c.Background == &b || c.Background.MarkStart != 7 || c.Background.Waits[0].Thread != 1 {
		t.Errorf("%+v", c.Background)
	}
}

// TestLateHistories: histories of server GC that arrive long after their collection was emitted, or
// whose collection ended before the session, do not start another one.
func TestLateHistories(t *testing.T) {
	const bgc = clr.MechanismConcurrent
	s := newStory()
	s.suspend(1, clr.SuspendForGC).start(1, 5, 2, clr.TypeBackground, 0).restart(1)
	s.at(1000).suspend(2, clr.SuspendForGCPrep).restart(2).finish(2, 5, 2)
	s.at(700_000).Advance(s.now * 1000)
	s.history(2, 2, 2, bgc)
	if !s.Idle() {
		t.Errorf("something is open: %+v", s.AppendOpen(nil))
	}
	s.Finish(s.now * 1000)
	if len(s.gcs) != 1 {
		t.Errorf("%d records", len(s.gcs))
	}

	s = newStory()
	if s.history(2, 2, 2, bgc); !s.Idle() {
		t.Errorf("something is open: %+v", s.AppendOpen(nil))
	}
}

// TestFinalizersLost: if events were lost, the finalizer thread is not assumed to be running.
func TestFinalizersLost(t *testing.T) {
	s := newStory()
	s.event(9, &clr.GCFinalizersBegin{})
	s.Loss(gclog.Stamp{Time: s.now * 1000, Thread: 9}, 0, 5)
	s.at(40_000_000).plain(1, 1, 0)
	if d := s.gcs[0]; d.Finalizers.Running != 0 {
		t.Errorf("it is told to run for %d ns", d.Finalizers.Running)
	}
	// Its run ends: the duration is unknown, not 0.
	s.event(9, &clr.GCFinalizersEnd{Count: 3})
	s.event(9, &clr.GCFinalizersBegin{}).event(9, &clr.GCFinalizersEnd{Count: 4})
	s.plain(2, 1, 0)
	if d, f := s.gcs[1], s.gcs[1].Finalizers; f.Runs != 2 || f.Objects != 7 || d.Known.Has(gclog.GroupLongestFinalizers) {
		t.Errorf("%+v", f)
	}
	s.event(9, &clr.GCFinalizersBegin{}).event(9, &clr.GCFinalizersEnd{Count: 1})
	s.plain(3, 1, 0)
	if d, f := s.gcs[2], s.gcs[2].Finalizers; f.Runs != 1 || !d.Known.Has(gclog.GroupLongestFinalizers) || f.Longest == 0 {
		t.Errorf("%+v", f)
	}
	// A run that started before the session ends in it.
	s = newStory()
	s.event(9, &clr.GCFinalizersEnd{Count: 3})
	s.plain(1, 1, 0)
	s.event(9, &clr.GCFinalizersEnd{Count: 3})
	s.plain(2, 1, 0)
	if d, f := s.gcs[1], s.gcs[1].Finalizers; f.Runs != 1 || d.Known.Has(gclog.GroupLongestFinalizers) {
		t.Errorf("%+v", f)
	}
}
