package gclog_test

import (
	"slices"
	"testing"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/internal/testing/recordings"
	"github.com/gclog/gclog/parse/clr"
)

// smallObject is larger than any gen0 object: the last allocation may exceed the budget by that
// much.
const smallObject = 85_000

// TestBudgetUsedUp: if small objects triggered a collection, the fullest heap has used up its gen0
// budget, except for what is left of the few kilobytes that each thread takes at a time. That is
// why the runtime started the collection, so it is true of each one.
func TestBudgetUsedUp(t *testing.T) {
	known, unknown, several := 0, 0, 0
	all := recordings.ForEach(t, func(t *testing.T, tr recordings.Trace) {
		for _, o := range reduce(t, recordings.Read(t, tr.Path)).recorders {
			perHeap := int64(0)
			for _, d := range o.gcs {
				x := &d.Generations[gclog.Gen0]
				if d.Known.Has(gclog.GroupReason) && d.Reason == clr.ReasonAllocSmall && d.Kind != gclog.KindBackground && d.Known.Has(gclog.GroupHistory) {
					switch {
					case !x.HasBudgetLeft:
						unknown++
					case x.BudgetLeft < -smallObject || x.BudgetLeft > max(smallObject, perHeap*3/100):
						t.Errorf("#%d %s has %d of %d of gen0's budget left in the fullest of %d heaps", d.Number, d.Kind, x.BudgetLeft, perHeap, d.HeapCount())
						fallthrough
					default:
						known++
						if d.HeapCount() > 1 {
							several++
						}
					}
				}
				if d.Collected(gclog.Gen0) && d.Known.Has(gclog.GroupHistory) {
					perHeap = int64(x.Budget) / int64(d.HeapCount())
				}
			}
		}
	})
	t.Logf("gen0 is used up in %d collections, %d of them with several heaps; of %d it is not known", known, several, unknown)
	if known == 0 || all && (unknown > known/10 || several == 0) {
		t.Error("that is not known of too many")
	}
}

// TestBudgetVerdict compares what was left of the budgets of older generations with the runtime's
// own verdict, which each heap reports: the oldest generation whose budget was exceeded. With one
// heap they agree in every collection.
func TestBudgetVerdict(t *testing.T) {
	var one, several [2]int // total, and those that agree
	var verdicts [gclog.Gen2 + 1]int
	recordings.ForEach(t, func(t *testing.T, tr recordings.Trace) {
		for _, o := range reduce(t, recordings.Read(t, tr.Path)).recorders {
			for _, d := range o.gcs {
				got, known := verdict(d)
				want := 0
				for i := range d.Heaps {
					steps := d.Heaps[i].History.CondemnedGenerations
					known = known && steps.Initial() == gclog.Gen0
					want = max(want, steps.BudgetExceeded())
				}
				// The last collection of large or pinned objects may not have been seen.
				if !known || want == gclog.Gen2 && !(d.Generations[gclog.LOH].HasBudgetLeft && (d.GenerationCount <= gclog.POH || d.Generations[gclog.POH].HasBudgetLeft)) {
					continue
				}
				verdicts[want]++
				if d.HeapCount() > 1 {
					count(&several, got == want)
					continue
				}
				count(&one, got == want)
				if got != want {
					t.Errorf("#%d %s: the budget of gen%d was used up, by what is left of gen%d: %+v", d.Number, d.Kind, want, got, d.Generations)
				}
			}
		}
	})
	t.Logf("the verdict is the same with one heap in %d of %d collections, with several in %d of %d; %v were of gen0 to gen2", one[1], one[0], several[1], several[0], verdicts)
	if different := several[0] - several[1]; different > 1 {
		t.Errorf("the verdict is the same in %d of %d collections with several heaps", several[1], several[0])
	}
	if slices.Min(verdicts[:]) == 0 {
		t.Errorf("verdicts: %v", verdicts)
	}
}

// TestBudgetOfHeaps: BudgetLeft is that of the heap with the least left. A budget of zero means
// that none was reported.
func TestBudgetOfHeaps(t *testing.T) {
	for _, c := range []struct {
		budgets []uint64 // of gen1 in each heap
		in      uint64   // promoted by the first heap in between
		left    int64
		known   bool
	}{
		{[]uint64{0}, 0, 0, false},
		{[]uint64{1}, 0, 1, true},
		{[]uint64{1000}, 0, 1000, true},
		{[]uint64{1000}, 300, 700, true},
		{[]uint64{1000}, 1300, -300, true},
		{[]uint64{1000, 3000}, 0, 2000, true}, // the runtime makes them equal
		{[]uint64{1000, 3000}, 500, 1500, true},
		{[]uint64{0, 1}, 0, 0, false},
	} {
		s := newStory().at(0)
		collect := func(n, gen uint32, change func(h int, g *clr.HeapGeneration)) {
			s.suspend(u, clr.SuspendForGC).start(u, n, gen, clr.TypeBlocking, 0)
			s.event(u, &clr.GCGlobalHeapHistory{CondemnedGeneration: gen, Heaps: int32(len(c.budgets))})
			for h := range c.budgets {
				e := perHeap(uint32(h))
				change(h, &e.Generation[gclog.Gen1])
				s.event(u, e)
			}
			s.finish(u, n, gen).restart(u)
		}
		collect(1, 1, func(h int, g *clr.HeapGeneration) { g.Budget = c.budgets[h] })
		collect(2, 0, func(h int, g *clr.HeapGeneration) {
			if h == 0 {
				g.In = c.in
			}
		})
		collect(3, 0, func(int, *clr.HeapGeneration) {})
		if x := s.gcs[2].Generations[gclog.Gen1]; x.HasBudgetLeft != c.known || x.BudgetLeft != c.left {
			t.Errorf("%+v: %d is left, %v", c, x.BudgetLeft, x.HasBudgetLeft)
		}
	}
}

// TestBudgetLargeUsedUp: if large or pinned objects triggered a collection, the budget of one of
// the two is used up.
func TestBudgetLargeUsedUp(t *testing.T) {
	seen := 0
	recordings.ForEach(t, func(t *testing.T, tr recordings.Trace) {
		for _, o := range reduce(t, recordings.Read(t, tr.Path)).recorders {
			for _, d := range o.gcs {
				large, pinned := &d.Generations[gclog.LOH], &d.Generations[gclog.POH]
				if d.Reason != clr.ReasonAllocLarge || d.Kind == gclog.KindBackground || !large.HasBudgetLeft || d.GenerationCount > gclog.POH && !pinned.HasBudgetLeft {
					continue
				}
				seen++
				if large.BudgetLeft > 0 && pinned.BudgetLeft >= 0 {
					t.Errorf("#%d has %d left of large objects and %d of pinned ones", d.Number, large.BudgetLeft, pinned.BudgetLeft)
				}
			}
		}
	})
	t.Logf("%d collections", seen)
}

// TestBudgetOfProvisional: the full collection of provisional mode starts with the budgets that the
// gen1 collection in the same suspension has just set, of which regions have used up what that has
// promoted.
func TestBudgetOfProvisional(t *testing.T) {
	seen := 0
	recordings.ForEach(t, func(t *testing.T, tr recordings.Trace) {
		stream := recordings.Read(t, tr.Path)
		events := readEvents(t, stream)
		for _, o := range reduce(t, stream).recorders {
			for _, d := range o.gcs {
				if !d.Provisional || events[o.process.ID] == nil {
					continue
				}
				list := events[o.process.ID].histories
				own := slices.IndexFunc(list, func(h heapHistories) bool { return h.at > d.Start })
				if own < 1 {
					continue
				}
				young, promoted := &list[own-1], uint64(0)
				for i := range young.heaps {
					promoted = max(promoted, young.heaps[i].Generation[gclog.Gen1].In)
				}
				gen1 := young.asked(gclog.Gen1) / uint64(len(young.heaps))
				seen++
				if x := d.Generations[gclog.Gen0]; x.BudgetLeft != int64(young.global.FinalYoungestDesired) {
					t.Errorf("#%d: %d of gen0's budget of %d are left", d.Number, x.BudgetLeft, young.global.FinalYoungestDesired)
				}
				if x := d.Generations[gclog.Gen1]; x.BudgetLeft != int64(gen1)-int64(promoted) {
					t.Errorf("#%d: %d of gen1's budget of %d are left, of which %d were promoted", d.Number, x.BudgetLeft, gen1, promoted)
				}
			}
		}
	})
	if seen == 0 {
		t.Error("there is no such collection")
	}
}

// TestBudgetWithRegions: with regions, what a collection promotes uses up the budget that it sets.
// A created segment does not show that there are any, unless it is too small for a segment.
func TestBudgetWithRegions(t *testing.T) {
	const budget, in = 5000, 700
	for _, c := range []struct {
		created uint64 // size of a segment or region; 0: none
		first   uint32 // number of the first collection
		facts   gclog.Process
		left    int64 // 0: unknown
	}{
		{4 << 20, 1, gclog.Process{}, budget - in},
		{256 << 20, 1, gclog.Process{}, budget},
		{0, 1, gclog.Process{}, budget}, // regions would have been created
		{0, 9, gclog.Process{}, 0},
		{256 << 20, 9, gclog.Process{}, 0},
		{0, 9, gclog.Process{RuntimeVersion: "10.0.1"}, 0}, // it may have libclrgc
		{0, 9, gclog.Process{RuntimeVersion: "10.0.1", GCLibrary: "libclrgc.so"}, budget},
		{0, 9, gclog.Process{RuntimeVersion: "10.0.1", GCLibrary: "libclrgcexp.so"}, 0},
		{4 << 20, 9, gclog.Process{RuntimeVersion: "10.0.1", GCLibrary: "libclrgcexp.so"}, budget - in},
		{0, 9, gclog.Process{RuntimeVersion: "6.0.1"}, budget},
	} {
		s := newStory().at(0)
		s.SetProcess(&c.facts)
		if c.created > 0 {
			s.event(u, &clr.GCCreateSegment{Size: c.created})
		}
		for n := c.first; n < c.first+2; n++ {
			e := perHeap(0)
			e.Generation[gclog.Gen1] = clr.HeapGeneration{Budget: budget, In: in}
			s.suspend(u, clr.SuspendForGC).start(u, n, 1, clr.TypeBlocking, 0)
			s.event(u, &clr.GCGlobalHeapHistory{CondemnedGeneration: 1, Heaps: 1}).event(u, e).finish(u, n, 1).restart(u)
		}
		if x := s.gcs[1].Generations[gclog.Gen1]; x.HasBudgetLeft != (c.left != 0) || x.BudgetLeft != c.left {
			t.Errorf("%+v: %d is left, %v", c, x.BudgetLeft, x.HasBudgetLeft)
		}
	}
}

// TestBudgetAtSweep: from .NET 9 on, a background collection reports large and pinned objects as of
// its sweep, so what it started with is unknown unless another one in its first suspension knows.
func TestBudgetAtSweep(t *testing.T) {
	for _, c := range []struct {
		version string
		known   bool
	}{{"", false}, {"8.0.3", true}, {"9.0.1", false}, {"11.0.0", false}} {
		s := newStory().at(0)
		s.SetProcess(&gclog.Process{RuntimeVersion: c.version})
		heap := func(m clr.Mechanisms) {
			e := perHeap(0)
			for _, g := range []int{gclog.LOH, gclog.POH} {
				e.Generation[g] = clr.HeapGeneration{Budget: 5000}
			}
			s.event(u, &clr.GCGlobalHeapHistory{CondemnedGeneration: 2, Heaps: 1, Mechanisms: m}).event(u, e)
		}
		s.suspend(u, clr.SuspendForGC).start(u, 1, 2, clr.TypeBlocking, 0)
		heap(0)
		s.finish(u, 1, 2).restart(u)
		s.suspend(u, clr.SuspendForGC).start(u, 2, 2, clr.TypeBackground, 0).restart(u).suspend(u, clr.SuspendForGCPrep).restart(u)
		heap(clr.MechanismConcurrent)
		s.finish(u, 2, 2)
		for _, g := range []int{gclog.LOH, gclog.POH} {
			if x := s.gcs[1].Generations[g]; x.HasBudgetLeft != c.known {
				t.Errorf("version %q: what is left of %s is known: %v", c.version, gclog.GenerationName(g), x.HasBudgetLeft)
			}
		}
	}
}

// TestBudgetOfDatas: dynamic adaptation reports the gen0 budget that it gives each heap.
func TestBudgetOfDatas(t *testing.T) {
	seen := 0
	recordings.ForEach(t, func(t *testing.T, tr recordings.Trace) {
		for _, o := range reduce(t, recordings.Read(t, tr.Path)).recorders {
			for _, d := range o.gcs {
				if !d.Known.Has(gclog.GroupDatasSample) {
					continue
				}
				seen++
				if got, want := d.Generations[gclog.Gen0].Budget, uint64(d.Datas.Sample.Gen0BudgetPerHeap)*uint64(d.HeapCount()); got != want {
					t.Errorf("#%d gives gen0 %d, DATAS says %d for %d heaps", d.Number, got, want, d.HeapCount())
				}
			}
		}
	})
	if t.Logf("%d samples", seen); seen == 0 {
		t.Error("DATAS said nothing")
	}
}

// verdict returns the oldest generation whose budget was exceeded when a collection started, as the
// runtime determines it: from gen1 on it stops at the first that has some left. Large and pinned
// objects count as gen2; while a background collection runs, they are ignored.
func verdict(d *gclog.GCDetails) (generation int, known bool) {
	// What is done just before a background collection starts was decided for the background one.
	if d.Kind == gclog.KindBackground || d.InsideBGCStart || d.Provisional || !d.Known.Has(gclog.GroupHistory) {
		return 0, false
	}
	usedUp := func(g int) bool { return d.Generations[g].HasBudgetLeft && d.Generations[g].BudgetLeft <= 0 }
	beside := d.Kind == gclog.KindForeground
	switch {
	case !beside && (usedUp(gclog.LOH) || usedUp(gclog.POH)):
		return gclog.Gen2, true
	case !usedUp(gclog.Gen1):
		return gclog.Gen0, d.Generations[gclog.Gen1].HasBudgetLeft
	case beside || !usedUp(gclog.Gen2):
		return gclog.Gen1, beside || d.Generations[gclog.Gen2].HasBudgetLeft
	}
	return gclog.Gen2, true
}

// TestBudgetLeftTogether: a background collection and one in its first suspension started with the
// same heap.
func TestBudgetLeftTogether(t *testing.T) {
	pairs := 0
	recordings.ForEach(t, func(t *testing.T, tr recordings.Trace) {
		x := reduce(t, recordings.Read(t, tr.Path))
		for _, o := range x.recorders {
			for i, d := range o.gcs {
				if !d.InsideBGCStart {
					continue
				}
				for _, b := range o.gcs[i:] {
					if b.Kind != gclog.KindBackground || b.Number+1 != d.Number || !b.Complete {
						continue
					}
					for g := range b.Generations {
						young, old := &d.Generations[g], &b.Generations[g]
						if young.HasBudgetLeft != old.HasBudgetLeft || young.BudgetLeft != old.BudgetLeft {
							t.Errorf("#%d %s has %d (%v) left, #%d in its first suspension %d (%v)", b.Number, gclog.GenerationName(g),
								old.BudgetLeft, old.HasBudgetLeft, d.Number, young.BudgetLeft, young.HasBudgetLeft)
						}
						if old.HasBudgetLeft {
							pairs++
						}
					}
				}
			}
		}
	})
	if pairs == 0 {
		t.Error("there are no such collections")
	}
}

func count(of *[2]int, agrees bool) {
	of[0]++
	if agrees {
		of[1]++
	}
}

// TestBudgetDamaged: if a heap number is reported that cannot exist, as one above the number of
// heaps, budgets are unknown until their generation has been collected again.
func TestBudgetDamaged(t *testing.T) {
	s := newStory()
	for n, heap := range []uint32{0, 0, 7, 0, 0} {
		e := perHeap(heap)
		for g := range e.Generation {
			e.Generation[g].Budget = 5000
		}
		number := uint32(n + 1)
		s.suspend(u, clr.SuspendForGC).start(u, number, 2, clr.TypeBlocking, 0)
		s.event(u, &clr.GCGlobalHeapHistory{CondemnedGeneration: 2, Heaps: 1}).event(u, e).finish(u, number, 2).restart(u)
	}
	for i, want := range []bool{false, true, false, false, true} {
		for g, x := range s.gcs[i].Generations {
			if x.HasBudgetLeft != want {
				t.Errorf("#%d: what is left of %s is known: %v", i+1, gclog.GenerationName(g), x.HasBudgetLeft)
			}
		}
	}
}
