package gclog_test

import (
	"testing"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/parse/clr"
)

// collected returns the record of a blocking collection of generation gen, after the given events.
func collected(t *testing.T, gen uint32, sizes *clr.GCHeapStats, events func(s *story)) *gclog.GCDetails {
	t.Helper()
	s := newStory()
	s.suspend(1, clr.SuspendForGC).start(1, 1, gen, clr.TypeBlocking, 0)
	events(s)
	s.end(1, 1, gen).event(1, sizes).restart(1)
	s.invariants(t)
	if len(s.gcs) != 1 || !s.gcs[0].Complete {
		t.Fatalf("emitted %v", s.emitted)
	}
	return s.gcs[0]
}

// TestUnknownFreeSpace: .NET Core 3.1 reports nothing about the generations above the one that it
// collected; their free space is unchanged, not 0.
func TestUnknownFreeSpace(t *testing.T) {
	d := collected(t, gclog.Gen0, &clr.GCHeapStats{Size: [5]uint64{0, 10, 0, 1000}, Generations: 4}, func(s *story) {
		e := &clr.GCPerHeapHistory{Generations: 4}
		e.Generation[gclog.LOH] = clr.HeapGeneration{SizeBefore: 900, FreeListBefore: 300, FreeObjectsBefore: 20}
		s.event(1, &clr.GCGlobalHeapHistory{Heaps: 1}).event(1, e)
	})
	x := d.Generations[gclog.LOH]
	if x.After != 1000 || x.Fragmentation != 320 || x.ObjectsAfter != 680 {
		t.Errorf("large objects are %+v", x)
	}
}

// TestPinnedPromoted: only the histories report how much of the pinned objects was promoted.
// GCHeapStats always has 0 for it.
func TestPinnedPromoted(t *testing.T) {
	history := func(s *story) {
		e := &clr.GCPerHeapHistory{Generations: 5}
		e.Generation[gclog.POH] = clr.HeapGeneration{PinnedSurvivors: 7}
		s.event(1, &clr.GCGlobalHeapHistory{CondemnedGeneration: 2, Heaps: 1}).event(1, e)
	}
	for _, c := range []struct {
		gen         uint32
		generations int
		events      func(*story)
		total, poh  int64 // -1: unknown
	}{
		{2, 5, func(*story) {}, -1, -1},
		{2, 5, history, 17, 7},
		{1, 5, func(*story) {}, 10, -1}, // not collected
		{2, 4, func(*story) {}, 10, -1}, // there is no such heap
	} {
		d := collected(t, c.gen, &clr.GCHeapStats{Promoted: [5]uint64{4, 3, 2, 1}, Generations: c.generations}, c.events)
		if want := uint64(max(0, c.total)); d.Known.Has(gclog.GroupPromoted) != (c.total >= 0) || d.PromotedBytes != want {
			t.Errorf("%+v: %d (%v) in all", c, d.PromotedBytes, d.Known.Has(gclog.GroupPromoted))
		}
		if poh, known := d.Promoted(gclog.POH); known != (c.poh >= 0) || poh != uint64(max(0, c.poh)) {
			t.Errorf("%+v: %d (%v) of pinned objects", c, poh, known)
		}
		if gen0, known := d.Promoted(gclog.Gen0); !known || gen0 != 4 {
			t.Errorf("%+v: %d (%v) of gen0", c, gen0, known)
		}
	}
}

// TestPromotedWithoutSizes: for a blocking collection only its sizes report what it promoted.
func TestPromotedWithoutSizes(t *testing.T) {
	s := newStory()
	s.suspend(1, clr.SuspendForGC).start(1, 1, 2, clr.TypeBlocking, 0).history(1, 2, 1, 0).end(1, 1, 2).restart(1)
	if d := s.gcs[0]; d.Known.Has(gclog.GroupPromoted) || d.Known.Has(gclog.GroupGenerationPromoted) || !d.Known.Has(gclog.GroupHistory) {
		t.Errorf("promoted %d: %v, of generations: %v", d.PromotedBytes, d.Known.Has(gclog.GroupPromoted), d.Known.Has(gclog.GroupGenerationPromoted))
	}
}

// TestImpossibleSurvival: no more can survive than was there.
func TestImpossibleSurvival(t *testing.T) {
	for _, c := range []struct {
		before, survived uint64
		percent          float64
		known            bool
	}{{200, 100, 50, true}, {200, 200, 100, true}, {200, 204, 100, true}, {200, 205, 0, false}, {200, 1408, 0, false}, {0, 0, 0, false}} {
		for _, kind := range []gclog.Kind{gclog.KindBlocking, gclog.KindBackground} {
			d := gclog.GCDetails{Generation: gclog.Gen2, Kind: kind, Known: gclog.GroupHistory}
			d.Generations[gclog.Gen2] = gclog.GenerationDetails{ObjectsBefore: c.before, Survived: c.survived}
			if percent, known := d.Survival(gclog.Gen2); percent != c.percent || known != c.known {
				t.Errorf("%d of %d: %v (%v), want %v (%v)", c.survived, c.before, percent, known, c.percent, c.known)
			}
		}
	}
}

// TestImpossibleTime: the duration of a part is unknown if it is longer than the whole collection.
func TestImpossibleTime(t *testing.T) {
	const took = 2000 // µs, with 3 other events
	for last, want := range map[uint32]int{5: clr.Times, took + 3: clr.Times, took + 4: clr.TimeCompact, 2_300_000_000: clr.TimeCompact} {
		d := collected(t, gclog.Gen1, &clr.GCHeapStats{Generations: 5}, func(s *story) {
			s.event(1, &clr.GCGlobalHeapHistory{
				CondemnedGeneration: 1, Heaps: 1, Mechanisms: clr.MechanismCompaction,
				Times: [clr.Times]uint32{1, 1, 1, 1, 1, 1, 1, last}, TimeCount: clr.Times,
			}).event(1, perHeap(0))
			s.at(s.now + took)
		})
		if d.Duration() != (took+3)*1000 {
			t.Errorf("it took %d ns", d.Duration())
		}
		if d.TimingCount != want || d.Timing[clr.TimeRelocate] != 1000 {
			t.Errorf("with a compaction of %d µs %d times are known: %v", last, d.TimingCount, d.Timing)
		}
	}
}

// TestCondemnedHeap: of the heaps that chose the generation, the one with the lowest number gives
// the reason, whichever reported first.
func TestCondemnedHeap(t *testing.T) {
	for _, order := range [][]uint32{{0, 1, 2}, {2, 1, 0}} {
		d := collected(t, gclog.Gen1, &clr.GCHeapStats{Generations: 5}, func(s *story) {
			for _, heap := range order {
				s.event(1, &clr.GCMarkWithType{Heap: heap})
			}
			s.event(1, &clr.GCGlobalHeapHistory{CondemnedGeneration: 1, Heaps: 3})
			for heap, final := range []int{0, 1, 1} {
				s.event(1, &clr.GCPerHeapHistory{
					Heap: uint32(heap), Generations: 5,
					CondemnedGenerations: clr.MakeCondemnedGenerations(0, final, 0, 0), Condemned: 1 << heap,
				})
			}
		})
		if _, conditions, known := d.Condemned(); !known || conditions != 1<<1 {
			t.Errorf("reported in the order %v, it is condemned because of %v", order, conditions.Names(nil))
		}
	}
}

// TestAllocatedWithBackground: a background collection frees objects while the program runs. What
// was allocated before its start is in the record that can know it: in the foreground one as far as
// that saw it, the rest in its own.
func TestAllocatedWithBackground(t *testing.T) {
	heap := func(s *story, thread uint64, gen uint32, m clr.Mechanisms, before, after uint64) {
		e := &clr.GCPerHeapHistory{Generations: 5}
		e.Generation[gclog.Gen0] = clr.HeapGeneration{SizeBefore: 1000, FreeListBefore: 1000 - before, SizeAfter: after}
		s.event(thread, &clr.GCGlobalHeapHistory{CondemnedGeneration: gen, Heaps: 1, Mechanisms: m}).event(thread, e)
	}
	s := newStory()
	s.suspend(1, clr.SuspendForGC).start(1, 1, 0, clr.TypeBlocking, 0)
	heap(s, 1, 0, 0, 500, 100)
	s.finish(1, 1, 0).restart(1)

	s.suspend(1, clr.SuspendForGC).start(1, 2, 2, clr.TypeBackground, 0).restart(1) // at 900
	s.suspend(1, clr.SuspendForGC).start(1, 3, 0, clr.TypeForeground, 0)
	heap(s, 1, 0, 0, 400, 50) // some of the 900 were freed
	s.finish(1, 3, 0).restart(1)
	s.suspend(2, clr.SuspendForGCPrep).restart(2)
	heap(s, 2, 2, clr.MechanismConcurrent, 900, 70)
	s.finish(2, 2, 2)
	s.invariants(t)

	want := map[uint32]uint64{
		3: 400 - 100,
		2: 900 - 100 - 300 + 70 - 50, // before its start, and since the foreground one
	}
	for _, d := range s.gcs {
		if w, ok := want[d.Number]; ok && (!d.Known.Has(gclog.GroupAllocated) || d.Allocated != w) {
			t.Errorf("#%d says that %d bytes were allocated, want %d", d.Number, d.Allocated, w)
		}
	}
	if len(s.gcs) != 3 {
		t.Errorf("emitted %v", s.emitted)
	}
}

// TestLargeAllocatedWithBackground: up to .NET 8 a background collection reports the large objects at
// its start, from .NET 9 on also those allocated until it sweeps. What collections inside it have
// counted does not count twice.
func TestLargeAllocatedWithBackground(t *testing.T) {
	for _, c := range []struct{ before, after, want uint64 }{
		{900, 300, 0},    // at the start, as the collection in the first suspension saw it
		{900, 1500, 100}, // since the last one inside, the heap has grown
		{1500, 300, 100}, // 900 at the start, 500 seen by those inside
		{1500, 1300, 100},
	} {
		heap := func(s *story, thread uint64, gen uint32, m clr.Mechanisms, before, after uint64) {
			e := &clr.GCPerHeapHistory{Generations: 5}
			for _, g := range []int{gclog.LOH, gclog.POH} {
				e.Generation[g] = clr.HeapGeneration{SizeBefore: before + 10, FreeListBefore: 10, SizeAfter: after}
			}
			s.event(thread, &clr.GCGlobalHeapHistory{CondemnedGeneration: gen, Heaps: 1, Mechanisms: m}).event(thread, e)
		}
		s := newStory()
		s.suspend(1, clr.SuspendForGC).start(1, 1, 0, clr.TypeBlocking, 0)
		heap(s, 1, 0, 0, 500, 500)
		s.finish(1, 1, 0).restart(1)
		s.suspend(1, clr.SuspendForGC).start(1, 2, 2, clr.TypeBackground, 0).start(1, 3, 0, clr.TypeBlocking, 0)
		heap(s, 1, 0, 0, 900, 900)
		s.finish(1, 3, 0).restart(1)
		s.suspend(1, clr.SuspendForGC).start(1, 4, 0, clr.TypeForeground, 0)
		heap(s, 1, 0, 0, 1400, 1400)
		s.finish(1, 4, 0).restart(1)
		s.suspend(2, clr.SuspendForGCPrep).restart(2)
		heap(s, 2, 2, clr.MechanismConcurrent, c.before, c.after)
		s.finish(2, 2, 2)
		s.invariants(t)

		want := map[uint32]uint64{2: c.want, 3: 400, 4: 500}
		for _, d := range s.gcs {
			for _, g := range []int{gclog.LOH, gclog.POH} {
				if w, ok := want[d.Number]; ok && d.Generations[g].Allocated != w {
					t.Errorf("%+v: #%d says that %d bytes were allocated in %s, want %d", c, d.Number, d.Generations[g].Allocated, gclog.GenerationName(g), w)
				}
			}
		}
		if len(s.gcs) != 4 {
			t.Errorf("emitted %v", s.emitted)
		}
	}
}

// TestMissedCollection: if a collection was missed, the one before it is not the previous
// collection of the next one, whose allocations and time are unknown.
func TestMissedCollection(t *testing.T) {
	for _, missed := range []uint32{0, 1} {
		s := newStory()
		for _, n := range []uint32{1, 2, 3 + missed, 4 + missed} {
			e := &clr.GCPerHeapHistory{Generations: 5}
			e.Generation[gclog.Gen0] = clr.HeapGeneration{SizeBefore: 1000, SizeAfter: 100, Budget: 5000}
			s.at(int64(n)*1000).suspend(1, clr.SuspendForGC).start(1, n, 0, clr.TypeBlocking, 0)
			s.event(1, &clr.GCGlobalHeapHistory{Heaps: 1}).event(1, e)
			s.end(1, n, 0).event(1, &clr.GCHeapStats{Size: [5]uint64{100}, Generations: 5}).restart(1)
		}
		for i, d := range s.gcs {
			want := i == 1 || i == 2 && missed == 0 || i == 3
			if d.Known.Has(gclog.GroupSinceLast) != want || d.Known.Has(gclog.GroupAllocated) != want || d.Window > 0 != want || d.Generations[gclog.Gen0].HasBudgetLeft != want || d.AllocationRate > 0 != want {
				t.Errorf("#%d with %d missed before #3: since the last %v, allocated %v, window %d, budget %+v, rate %g",
					d.Number, missed, d.Known.Has(gclog.GroupSinceLast), d.Known.Has(gclog.GroupAllocated), d.Window, d.Generations[gclog.Gen0], d.AllocationRate)
			}
		}
	}
}
