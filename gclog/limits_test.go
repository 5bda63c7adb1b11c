package gclog_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/internal/testing/extent"
	"github.com/gclog/gclog/parse"
	"github.com/gclog/gclog/parse/clr"
)

// TestListLimits: a record keeps as much as its lists may hold, and counts the rest.
func TestListLimits(t *testing.T) {
	for _, n := range []int{63, 64, 65, 70} {
		s := newStory().at(0)
		background(s)
		for i := range n {
			s.event(uint64(100+i), &clr.BGCAllocWait{Reason: 10})
		}
		for range n {
			s.suspend(g, clr.SuspendForGCPrep).restart(g)
		}
		s.Finish(s.now * 1000)
		d := s.gcs[len(s.gcs)-1]
		if len(d.Background.Waits) != min(n, 64) || d.Background.WaitCount != int64(n) || len(d.Pauses) != min(n+1, 64) {
			t.Errorf("%d: %d waits of %d, %d pauses", n, len(d.Background.Waits), d.Background.WaitCount, len(d.Pauses))
		}
		for i, p := range d.Pauses[1:min(n+1, 63)] { // the last one includes the rest
			if p.Duration != d.Pauses[1].Duration {
				t.Errorf("%d pauses: number %d is %d ns long, the one before it %d", n+1, i+2, p.Duration, d.Pauses[1].Duration)
			}
		}
		if s.invariants(t); d.Pause() != s.Suspended() {
			t.Errorf("%d pauses add up to %d, the suspensions to %d", n+1, d.Pause(), s.Suspended())
		}
	}
	for _, n := range []int{15, 16, 17} {
		s := newStory().suspend(1, clr.SuspendForGC).start(1, 1, 0, 0, 0)
		for i := range n {
			s.event(1, &clr.GCDynamicEvent{Name: clr.UTF16("x\x00"), Data: make([]byte, 1023+i%3)})
		}
		s.finish(1, 1, 0).restart(1)
		d := s.gcs[0]
		if len(d.Dynamic) != min(n, 16) || len(d.Dynamic[0].Data) != 1023 || len(d.Dynamic[1].Data) != 1024 || len(d.Dynamic[2].Data) != 1024 || d.Dynamic[0].Name != "x" {
			t.Errorf("%d dynamic events: %d", n, len(d.Dynamic))
		}
	}
	for _, n := range []uint32{1023, 1024, 1025} {
		s := newStory().suspend(1, clr.SuspendForGC).start(1, 1, 0, 0, 0).event(1, &clr.GCGlobalHeapHistory{Heaps: int32(n)})
		for h := range n {
			s.event(1, perHeap(h))
		}
		s.finish(1, 1, 0).restart(1)
		if d := s.gcs[0]; len(d.Heaps) != int(min(n, 1024)) || !d.Known.Has(gclog.GroupHistory) || d.HeapCount() != int(n) {
			t.Errorf("%d heaps: %d", n, len(d.Heaps))
		}
	}
}

// TestManySegments: for as many segments as are remembered, the size is known when one is freed.
func TestManySegments(t *testing.T) {
	const most = 65536
	s := newStory()
	for i := range uint64(most + 1) {
		s.event(1, &clr.GCCreateSegment{Address: i, Size: 3})
	}
	s.event(1, &clr.GCFreeSegment{Address: most - 1}).event(1, &clr.GCFreeSegment{Address: most})
	s.plain(u, 1, 0)
	if d := s.gcs[0].Segments; d.Created != most+1 || d.CreatedBytes != 3*(most+1) || d.Freed != 2 || d.FreedBytes != 3 {
		t.Errorf("%+v", d)
	}
}

// TestBuckets checks the lists of a collection that arrive in several events.
func TestBuckets(t *testing.T) {
	d := clr.NewDecoder(8)
	decode := func(id int, payload []byte) clr.Event {
		e, err := d.Decode(&parse.Event{Meta: &parse.Metadata{Index: id, Provider: clr.RuntimeProvider, EventID: id}, Payload: payload})
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	for _, n := range []int{31, 32, 33} {
		s := newStory()
		buckets := func(kind byte) clr.Event {
			return decode(clr.IDGCFitBucketInfo, append([]byte{0, 0, kind, 0, 0, 0, 0, 0, 0, 0, 0, 0, byte(n), 0}, make([]byte, 16*n)...))
		}
		s.event(1, buckets(0)) // belongs to no collection
		s.suspend(1, clr.SuspendForGC).start(1, 1, 1, 0, 0)
		s.event(1, buckets(0)).event(1, buckets(0)).event(1, buckets(1))
		s.event(1, decode(clr.IDGCLOHCompact, append([]byte{0, 0, 2, 0}, make([]byte, 64)...)))
		s.finish(1, 1, 1).restart(1)
		if x := s.gcs[0]; len(x.FreeItems) != min(2*n, 64) || len(x.Plugs) != n || len(x.LOHCompactions) != 2 {
			t.Errorf("%d buckets: %d and %d, %d", n, len(x.FreeItems), len(x.Plugs), len(x.LOHCompactions))
		}
	}
}

// TestManyOpen: the number of open collections and suspensions is bounded; the oldest is evicted.
func TestManyOpen(t *testing.T) {
	for n := range uint64(20) {
		s := newStory()
		for i := range n {
			s.event(i+1, &clr.GCSuspendEEBegin{Reason: clr.SuspendForGC})
		}
		open := s.AppendOpen(nil)
		if len(open) != int(min(n, 16)) {
			t.Errorf("%d of %d suspensions are open", len(open), n)
		}
		if n > 16 && open[0].Since != int64(n-16)*1000 {
			t.Errorf("of %d suspensions the oldest is that of %d ns", n, open[0].Since)
		}
	}
}

// TestManyThreads: for eight threads the collection that they last reported about is remembered;
// only the oldest is evicted.
func TestManyThreads(t *testing.T) {
	for _, threads := range []uint32{8, 9, 10, 15} {
		s := newStory()
		for n := uint32(1); n <= threads; n++ {
			s.end(uint64(n), n, 2) // background collections that started before the session
		}
		for n := uint32(1); n <= threads; n++ {
			s.event(uint64(n), &clr.GCHeapStats{Generations: 5})
		}
		s.Finish(s.now * 1000)
		for _, d := range s.gcs {
			if sized := d.Flaws&gclog.FlawNoSizes == 0; sized != (d.Number > threads-8) {
				t.Errorf("%d threads: #%d has sizes: %v", threads, d.Number, sized)
			}
		}
	}
}

// TestWildGeneration: an impossible generation number does not wrap around to a possible one.
func TestWildGeneration(t *testing.T) {
	for _, gen := range []uint32{3, 254, 255, 256, 257, 1<<32 - 1} {
		s := newStory().suspend(u, clr.SuspendForGC).start(u, 1, gen, clr.TypeBlocking, 0).restart(u).end(u, 2, gen)
		s.Finish(s.now * 1000)
		for _, d := range s.gcs {
			if d.Generation != int(min(gen, 255)) {
				t.Errorf("#%d of generation %d is one of %d", d.Number, gen, d.Generation)
			}
		}
		if len(s.gcs) != 2 {
			t.Errorf("generation %d: %d records", gen, len(s.gcs))
		}
	}
}

// TestLatePhases: phase events of server GC that arrive up to half a second after the sizes of
// their collection do not start another one.
func TestLatePhases(t *testing.T) {
	for _, tt := range []struct {
		late int64 // ns
		open bool
	}{{0, false}, {499_999_999, false}, {500_000_000, true}} {
		s := background(newStory().at(0)).suspend(b, clr.SuspendForGCPrep).restart(b).end(b, 5, 2)
		at := s.now * 1000
		s.event(b, &clr.GCHeapStats{Generations: 5}).history(b, 2, 1, clr.MechanismConcurrent)
		if !s.Idle() {
			t.Fatalf("emitted %q", s.emitted)
		}
		s.Event(gclog.Stamp{Time: at + tt.late, Thread: b}, &clr.BGCPhaseEvent{Phase: clr.BGCSweepEnd})
		if open := !s.Idle(); open != tt.open {
			t.Errorf("a phase %d ns behind the sizes: a collection is open: %v", tt.late, open)
		}
	}
}

// TestExpiring: several background collections whose histories do not arrive are emitted at once.
func TestExpiring(t *testing.T) {
	s := newStory()
	for n := uint32(1); n <= 3; n++ {
		// Each started before the session: only its end and sizes are seen.
		s.event(uint64(n), &clr.GCEnd{Count: n, Depth: 2}).event(uint64(n), &clr.GCHeapStats{Generations: 5})
	}
	if len(s.gcs) != 0 {
		t.Fatalf("emitted too early: %q", s.emitted)
	}
	s.Advance(500_000_000)
	if len(s.gcs) != 0 {
		t.Fatalf("emitted too early: %q", s.emitted)
	}
	s.Advance(501_000_000)
	var got []uint32
	for _, d := range s.gcs {
		got = append(got, d.Number)
	}
	if !slices.Equal(got, []uint32{1, 2, 3}) || !s.Idle() {
		t.Errorf("emitted are %v", got)
	}
}

// TestRanges: the memory of a collection is the state after it; reports of the state before it are
// replaced.
func TestRanges(t *testing.T) {
	s := newStory()
	region := func(used, reserved uint64) clr.Event { return &clr.GCGenerationRange{Used: used, Reserved: reserved} }
	s.event(1, region(7, 7)) // belongs to no collection
	s.suspend(1, clr.SuspendForGC).start(1, 1, 0, 0, 0).event(1, region(1000, 2000)).event(1, region(1000, 2000))
	s.history(1, 0, 1, 0).event(1, region(3, 50)).event(1, region(4, 60)).finish(1, 1, 0).restart(1)
	d := s.gcs[0].Segments
	if !s.gcs[0].Known.Has(gclog.GroupReserved) || d.Used != 7 || d.Reserved != 110 || d.Count != 2 {
		t.Errorf("%+v", d)
	}
}

// TestManyProcesses: a stream may have 16,384 processes; those beyond are ignored.
func TestManyProcesses(t *testing.T) {
	extent.Long(t)
	p := gclog.NewProcesses(func(*gclog.Process) gclog.Observer { return nil })
	p.Begin(&parse.Trace{PointerSize: 8, TicksPerSecond: 1e9})
	meta := &parse.Metadata{Provider: clr.RuntimeProvider, EventID: clr.IDGCTriggered}
	const most = 1 << 14
	for id := range int64(most + 2) {
		p.Event(&parse.Event{Meta: meta, Process: id, Payload: make([]byte, 6), Time: id})
		if id%1000 > 1 && id < most-1 { // the list is copied
			continue
		}
		if got := len(p.List()); got != int(min(id+1, most)) {
			t.Fatalf("%d processes of %d", got, id+1)
		}
	}
	if p.Latest() != most+1 || p.Reducer(p.List()[0]) != nil || p.Reducer(&gclog.Process{}) != nil {
		t.Errorf("newest is %d", p.Latest())
	}
}

// TestFacts checks what a stream reports about its process.
func TestFacts(t *testing.T) {
	decode := func(facts func(info, settings, private, history []byte) [][2]any) *gclog.Process {
		p := gclog.NewProcesses(func(*gclog.Process) gclog.Observer { return nil })
		p.Begin(&parse.Trace{PointerSize: 8, TicksPerSecond: 1e9, Processors: 3})
		info := make([]byte, 45)
		for _, e := range facts(info, make([]byte, 50), make([]byte, 20), make([]byte, 28)) {
			key := e[0].([2]any)
			p.Event(&parse.Event{Meta: &parse.Metadata{Index: key[1].(int), Provider: key[0].(string), EventID: key[1].(int)}, Payload: e[1].([]byte)})
		}
		return p.List()[0]
	}
	info := [2]any{clr.RuntimeProvider, clr.IDRuntimeInformation}
	settings := [2]any{clr.RundownProvider, clr.IDRundownGCSettings}
	private := [2]any{clr.PrivateProvider, clr.IDPrvGCSettings}
	history := [2]any{clr.RuntimeProvider, clr.IDGCGlobalHeapHistory}
	version := func(b []byte, major, minor, build byte) []byte { b[4], b[6], b[8] = major, minor, build; return b }
	flags := func(b []byte, low, high byte) []byte { b[20], b[21] = low, high; return b }
	heaps := func(b []byte, n byte) []byte { b[8] = n; return b }
	for name, c := range map[string]struct {
		facts func(i, s, p, h []byte) [][2]any
		want  string
	}{
		"nothing":         {func(i, _, _, _ []byte) [][2]any { return [][2]any{{info, i}} }, " unknown unknown 0 false"},
		"version":         {func(i, _, _, _ []byte) [][2]any { return [][2]any{{info, version(i, 10, 1, 2)}} }, "10.1.2 unknown unknown 0 false"},
		"version 5":       {func(i, _, _, _ []byte) [][2]any { return [][2]any{{info, version(i, 5, 0, 0)}} }, "5.0.0 unknown unknown 0 false"},
		"version of 3.1":  {func(i, _, _, _ []byte) [][2]any { return [][2]any{{info, version(i, 4, 6, 2)}} }, " unknown unknown 0 false"},
		"server":          {func(i, _, _, _ []byte) [][2]any { return [][2]any{{info, flags(i, 0, 0x10)}} }, " yes no 0 false"},
		"concurrent":      {func(i, _, _, _ []byte) [][2]any { return [][2]any{{info, flags(i, 1, 0)}} }, " no yes 0 false"},
		"settings":        {func(_, s, _, _ []byte) [][2]any { return [][2]any{{settings, s}} }, " unknown no 0 true"},
		"settings, bit":   {func(_, s, _, _ []byte) [][2]any { s[44] = 1; return [][2]any{{settings, s}} }, " unknown yes 0 true"},
		"private":         {func(_, _, p, _ []byte) [][2]any { return [][2]any{{private, p}} }, " no unknown 0 false"},
		"private, server": {func(_, _, p, _ []byte) [][2]any { p[16] = 1; return [][2]any{{private, p}} }, " yes unknown 0 false"},
		"no heap":         {func(_, _, _, h []byte) [][2]any { return [][2]any{{history, h}} }, " unknown unknown 0 false"},
		"a heap":          {func(_, _, _, h []byte) [][2]any { return [][2]any{{history, heaps(h, 1)}} }, " unknown unknown 1 false"},
		"two heaps":       {func(_, _, _, h []byte) [][2]any { return [][2]any{{history, heaps(h, 2)}} }, " yes unknown 2 false"},
		"no heap any more": {func(_, _, _, h []byte) [][2]any {
			return [][2]any{{history, heaps(slices.Clone(h), 2)}, {history, h}}
		}, " yes unknown 2 false"},
		"the first counts": {func(i, _, _, _ []byte) [][2]any {
			return [][2]any{{info, version(i, 10, 1, 2)}, {info, version(slices.Clone(i), 11, 0, 0)}}
		}, "10.1.2 unknown unknown 0 false"},
	} {
		p := decode(c.facts)
		if got := fmt.Sprint(p.RuntimeVersion, " ", p.Server, " ", p.Concurrent, " ", p.HeapCount, " ", p.HasLimits); got != c.want || p.Processors != 3 {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// TestWantedKinds: the Reducer uses 23 kinds of events from the runtime provider, 17 private ones
// and two of the rundown, and those recorded by gclog.
func TestWantedKinds(t *testing.T) {
	wanted := func(provider string, filter func(*parse.Metadata) parse.Want) (ids []int) {
		for id := range 1 << 10 {
			if filter(&parse.Metadata{Provider: provider, EventID: id}).Deliver {
				ids = append(ids, id)
			}
		}
		return ids
	}
	for provider, want := range map[string][]int{
		clr.RuntimeProvider: {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 13, 14, 16, 23, 33, 35, 39, 91, 187, 202, 204, 205, 208, 209},
		clr.PrivateProvider: {2, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 199},
		clr.RundownProvider: {10, 187}, clr.RecordingProvider: {clr.IDRecordedProcess},
		clr.MetricsProvider: {2, 3, 4, 5, 6, 7, 9, 12, 13, 14, 15, 16, 17},
		"Other":             nil,
	} {
		if got := wanted(provider, gclog.Wanted); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", provider, got, want)
		}
		if provider == clr.PrivateProvider {
			want = append(slices.Clone(want[:15]), 192, 199)
		}
		if got := wanted(provider, gclog.WantedFinalized); !slices.Equal(got, want) {
			t.Errorf("%s with finalized objects: %v, want %v", provider, got, want)
		}
	}
	for id := range 100 {
		if sums := gclog.Wanted(&parse.Metadata{Provider: clr.RuntimeProvider, EventID: id}).Sum != nil; sums != (id == 33) {
			t.Errorf("event %d is added up: %v", id, sums)
		}
	}
}

// TestNumbersOfRecords checks sums and shares of a hand-made record.
func TestNumbersOfRecords(t *testing.T) {
	two := func(a, b int64) *gclog.GCDetails {
		d := &gclog.GCDetails{Heaps: make([]gclog.HeapDetails, 2)}
		for i, v := range []int64{a, b} {
			h := &d.Heaps[i]
			h.Marked, h.MarkTimes[clr.MarkStack], h.MarkPromoted[clr.MarkStack] = 1<<clr.MarkStack, v, uint64(v)
			h.HasHistory, h.History.Generations = true, 2
			h.History.Generation[0].SizeBefore, h.History.Generation[1].PinnedSurvivors = uint64(v)+10, uint64(v)
			h.History.Generation[0].FreeListBefore = 10
			h.History.Generation[2].PinnedSurvivors = 1000 // of a generation that is not reported
		}
		return d
	}
	d := two(100, 300)
	if ratio, known := d.MarkImbalance(clr.MarkStack); !known || ratio != 1.5 || d.Gen0Imbalance() != 1.5 || d.SurvivedImbalance() != 1.5 {
		t.Errorf("%v %v %v %v", ratio, known, d.Gen0Imbalance(), d.SurvivedImbalance())
	}
	if m := d.Mark(clr.MarkStack); m.Longest != 300 || m.Promoted != 400 || !m.Known || d.Mark(clr.MarkHandles).Known || orUnknown(d.MarkTime(0, clr.MarkHandles)) != -1 {
		t.Errorf("%+v", m)
	}
	if _, known := two(0, 0).MarkImbalance(clr.MarkStack); known || two(0, 0).Gen0Imbalance() != 0 {
		t.Error("nothing is shared, and not equally")
	}
	if _, known := d.MarkImbalance(clr.MarkHandles); known {
		t.Error("of what no heap told something is known")
	}
	one := two(100, 300)
	one.Heaps = one.Heaps[:1]
	if _, known := one.MarkImbalance(clr.MarkStack); known || one.Gen0Imbalance() != 0 || one.HeapCount() != 1 {
		t.Error("one heap shares with itself")
	}
	d.Flaws = gclog.FlawNoHeaps
	if d.Gen0Imbalance() != 0 {
		t.Error("a share of heaps that are not all known")
	}
	d.Summary = &gclog.HeapSummary{Gen0Imbalance: 2, SurvivedImbalance: 3}
	d.Summary.Marks[clr.MarkStack].Longest = 5
	if d.Gen0Imbalance() != 2 || d.SurvivedImbalance() != 3 || d.Mark(clr.MarkStack).Longest != 5 {
		t.Error("the summary of a log is not used")
	}

	d = &gclog.GCDetails{}
	d.Peak = 300
	d.Known |= gclog.GroupAfter
	for after, want := range map[uint64]float64{0: 0, 1: 300, 100: 3} {
		d.Generations[0].After = after
		if ratio, known := d.PeakRatio(); ratio != want || known != (after > 0) {
			t.Errorf("peak 300 after %d: %v %v", after, ratio, known)
		}
	}
	d.Known &^= gclog.GroupAfter
	if _, known := d.PeakRatio(); known {
		t.Error("a ratio to nothing known")
	}
	d.Peak = 0
	d.Known |= gclog.GroupAfter
	if _, known := d.PeakRatio(); known {
		t.Error("a ratio of nothing known")
	}
	d.Generations[0].BudgetLeft, d.Generations[0].HasBudgetLeft, d.Generations[1].BudgetLeft = -5, true, 5
	if n, known := d.BudgetExceeded(0); n != 5 || !known {
		t.Errorf("%d %v", n, known)
	}
	if n, known := d.BudgetExceeded(1); n != 0 || known {
		t.Errorf("%d %v", n, known)
	}
	d.Pauses = []gclog.PausePart{{Kind: gclog.PauseInitial, Start: 5, Duration: 10, Suspend: 1, HasSuspend: true}, {Kind: gclog.PauseFinal, Start: 50, Duration: 20, Suspend: 2, HasSuspend: true}}
	if at, known := d.FinalPauseStart(); at != 50 || !known || d.FinalPause() != 20 || orUnknown(d.FinalSuspend()) != 2 || d.PauseStart() != 5 || d.PauseMax() != 20 {
		t.Errorf("%d %v %d", at, known, d.FinalPause())
	}
	d.Pauses = d.Pauses[:1]
	if _, known := d.FinalPauseStart(); known || orUnknown(d.FinalSuspend()) != -1 {
		t.Error("there is no final pause")
	}
}
