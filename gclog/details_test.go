package gclog_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/parse/clr"
)

func TestParseFlaw(t *testing.T) {
	for i := range 8 {
		f := gclog.Flaw(1) << i
		if got, ok := gclog.ParseFlaw([]byte(f.Names(nil)[0])); !ok || got != f {
			t.Errorf("%v is read as %v", f.Names(nil), got.Names(nil))
		}
	}
	if _, ok := gclog.ParseFlaw([]byte("none")); ok {
		t.Error("what is no flaw is read as one")
	}
}

func TestUserPinned(t *testing.T) {
	for _, x := range []struct {
		objects, plugs uint64
		percent        float64
		known          bool
	}{
		{300, 1200, 25, true},
		{300, 300, 100, true},
		{300, 0, 0, false},
		{0, 1200, 0, false},
		{1200, 300, 0, false}, // large objects are in no plug
	} {
		d := gclog.GCDetails{PinEventBytes: x.objects, PinPlugBytes: x.plugs}
		if percent, known := d.UserPinned(); percent != x.percent || known != x.known {
			t.Errorf("%d of %d bytes are %v %%, known %v", x.objects, x.plugs, percent, known)
		}
	}
}

// TestClone: a copy of a record made by a reader is complete, and shares nothing.
func TestClone(t *testing.T) {
	made := func() *gclog.GCDetails {
		return &gclog.GCDetails{
			Pauses:     []gclog.PausePart{{Start: 1}},
			Background: &gclog.BackgroundDetails{MarkStart: 2, Waits: []gclog.AllocWait{{Start: 3}}},
			Summary:    &gclog.HeapSummary{Gen0Imbalance: 4},
			Dynamic:    []gclog.DynamicEvent{{Name: "a", Data: []byte{5}}},
		}
	}
	d := made()
	c := d.Clone()
	again := c.Clone()
	d.Pauses[0].Start, d.Background.MarkStart, d.Background.Waits[0].Start, d.Summary.Gen0Imbalance, d.Dynamic[0].Data[0] = 0, 0, 0, 0, 0
	for _, x := range []*gclog.GCDetails{c, again} {
		want := made()
		if !reflect.DeepEqual(x.Background, want.Background) || !reflect.DeepEqual(x.Pauses, want.Pauses) ||
			!reflect.DeepEqual(x.Summary, want.Summary) || !reflect.DeepEqual(x.Dynamic, want.Dynamic) {
			t.Errorf("the copy is %+v with %+v", x, x.Background)
		}
	}
	c.Background.Waits[0].Start = 0
	if again.Background.Waits[0].Start != 3 {
		t.Error("a copy of the copy shares its lists")
	}
}

// TestGenerationName: a stream may contain any generation number.
func TestGenerationName(t *testing.T) {
	for want, d := range map[string]*gclog.GCDetails{"gen1": {Generation: 1}, "gen255": {Generation: 255}} {
		if got := d.GenerationName(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestSummaryOfMarks: in a record read from a log an imbalance of 1 is a known value, and 0 is
// unknown.
func TestSummaryOfMarks(t *testing.T) {
	d := &gclog.GCDetails{Summary: &gclog.HeapSummary{}}
	for _, imbalance := range []float64{0, 0.5, 1, 1.5} {
		d.Summary.Marks[clr.MarkStack].Imbalance = imbalance
		if ratio, known := d.MarkImbalance(clr.MarkStack); ratio != imbalance || known != (imbalance != 0) {
			t.Errorf("%v is reported as %v, known %v", imbalance, ratio, known)
		}
	}
}

// TestSummaryOfHeaps: a record with the summary of a log gives the same answers as one with the
// heaps that were summarized.
func TestSummaryOfHeaps(t *testing.T) {
	type answers struct {
		heaps, reported                         int
		reasons                                 []gclog.HeapReasons
		steps                                   clr.CondemnedGenerations
		conditions                              clr.Condemned
		hasReasons, hasEfficiency               bool
		efficiency, gen0Imbalance, survivedMean float64
		marks                                   [clr.MarkTypes]gclog.MarkSummary
		imbalance                               [clr.MarkTypes]float64
		times                                   [clr.MarkTypes][]gclog.MarkTime
		until                                   int64
	}
	ask := func(d *gclog.GCDetails) (a answers) {
		a.heaps, a.reported, a.until = d.HeapCount(), d.ReportedHeaps(), d.MarkedUntil()
		for i := range a.reported {
			r, known := d.HeapReasons(i)
			if !known {
				t.Errorf("heap %d is not known", i)
			}
			a.reasons = append(a.reasons, r)
		}
		a.steps, a.conditions, a.hasReasons = d.Condemned()
		a.efficiency, a.hasEfficiency = d.FreeListEfficiency()
		a.gen0Imbalance, a.survivedMean = d.Gen0Imbalance(), d.SurvivedImbalance()
		for m := range clr.MarkTypes {
			a.marks[m] = d.Mark(m)
			a.imbalance[m], _ = d.MarkImbalance(m)
			a.times[m] = d.MarkTimes(nil, m)
		}
		return a
	}
	for seed := range uint64(100) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		d := &gclog.GCDetails{Generation: rnd.IntN(3), Known: gclog.GroupGlobal}
		d.Global.Heaps = int32(1 + rnd.IntN(5))
		d.Global.HasCondemned, d.Global.Condemned = rnd.IntN(2) == 0, clr.Condemned(1)<<rnd.IntN(20)
		for i := range d.Global.Heaps {
			h := gclog.HeapDetails{Heap: uint32(d.Global.Heaps - i), HasHistory: true}
			h.History.Generations = clr.Generations
			h.History.CondemnedGenerations = clr.MakeCondemnedGenerations(rnd.IntN(3), rnd.IntN(3), rnd.IntN(3), rnd.IntN(3))
			h.History.Condemned = clr.Condemned(1) << rnd.IntN(20)
			h.History.FreeListAllocated, h.History.FreeListRejected = rnd.Uint64N(2), rnd.Uint64N(3)
			for g := range h.History.Generation {
				h.History.Generation[g].SizeBefore, h.History.Generation[g].NonPinnedSurvivors = rnd.Uint64N(9), rnd.Uint64N(9)
			}
			for m := range h.MarkTimes {
				h.MarkTimes[m], h.MarkPromoted[m] = rnd.Int64N(4), rnd.Uint64N(9)
				h.Marked |= uint16(rnd.IntN(2)) << m
			}
			h.MarkedUntil = rnd.Int64N(9)
			d.Heaps = append(d.Heaps, h)
		}
		want := ask(d)
		of := d.Clone()
		of.Heaps = nil
		of.Summary = &gclog.HeapSummary{
			Reasons: want.reasons, Marks: want.marks, MarkedUntil: want.until, Gen0Imbalance: want.gen0Imbalance, SurvivedImbalance: want.survivedMean,
			FreeListEfficiency: want.efficiency, HasEfficiency: want.hasEfficiency, MarkTimes: slices.Concat(want.times[:]...),
		}
		if got := ask(of); !reflect.DeepEqual(got, want) {
			t.Errorf("seed %d: %+v\nwant %+v", seed, got, want)
		}
	}
}

// TestBordersOfDetails checks the boundaries at which an answer becomes known, or changes.
func TestBordersOfDetails(t *testing.T) {
	say := func(v any, known bool) string {
		if !known {
			return "unknown"
		}
		return fmt.Sprint(v)
	}
	for _, c := range []struct {
		what string
		ask  func(d *gclog.GCDetails) string
		want string
	}{
		{"no trigger", func(d *gclog.GCDetails) string { d.Suspended = 5; return say(d.TriggerDelay()) }, "unknown"},
		{"triggered as it stood", func(d *gclog.GCDetails) string {
			d.Triggered, d.Suspended = 5, 5
			d.Known |= gclog.GroupTrigger
			return say(d.TriggerDelay())
		}, "unknown"},
		{"triggered before", func(d *gclog.GCDetails) string {
			d.Triggered, d.Suspended = 4, 5
			d.Known |= gclog.GroupTrigger
			return say(d.TriggerDelay())
		}, "1"},
		{"without an end", func(d *gclog.GCDetails) string { d.Start, d.End = 5, 9; return fmt.Sprint(d.Duration()) }, "0"},
		{"with an end", func(d *gclog.GCDetails) string {
			d.Start, d.End = 5, 9
			d.Known |= gclog.GroupEnd
			return fmt.Sprint(d.Duration())
		}, "4"},
		{"without a begin", func(d *gclog.GCDetails) string {
			d.Start, d.End, d.Flaws = 5, 9, gclog.FlawNoStart
			d.Known |= gclog.GroupEnd
			return fmt.Sprint(d.Duration())
		}, "0"},
		{"no window", func(d *gclog.GCDetails) string {
			d.Pauses = []gclog.PausePart{{Duration: 1}}
			return fmt.Sprint(d.PausePercent())
		}, "0"},
		{"paused all the time", func(d *gclog.GCDetails) string {
			d.Pauses, d.Window = []gclog.PausePart{{Duration: 1}}, 1
			return fmt.Sprint(d.PausePercent())
		}, "100"},
		{"no pins", func(d *gclog.GCDetails) string { d.PinPlugBytes = 5; return say(d.UserPinned()) }, "unknown"},
		{"all pinned by the program", func(d *gclog.GCDetails) string { d.PinPlugBytes, d.PinEventBytes = 5, 5; return say(d.UserPinned()) }, "100"},
		{"more pinned than that", func(d *gclog.GCDetails) string { d.PinPlugBytes, d.PinEventBytes = 5, 6; return say(d.UserPinned()) }, "unknown"},
		{"all survived", survived(100, 100, say), "100"},
		{"a fiftieth more survived", survived(100, 102, say), "100"},
		{"more survived than that", survived(100, 103, say), "unknown"},
		{"none were there", survived(0, 0, say), "unknown"},
		{"a half survived", survived(2, 1, say), "50"},
		{"nothing after it", func(d *gclog.GCDetails) string {
			d.Peak = 5
			d.Known |= gclog.GroupAfter
			return say(d.PeakRatio())
		}, "unknown"},
		{"no peak", func(d *gclog.GCDetails) string {
			d.Generations[0].After = 5
			d.Known |= gclog.GroupAfter
			return say(d.PeakRatio())
		}, "unknown"},
		{"a peak", func(d *gclog.GCDetails) string {
			d.Peak, d.Generations[0].After = 5, 5
			d.Known |= gclog.GroupAfter
			return say(d.PeakRatio())
		}, "1"},
		{"no heaps", func(d *gclog.GCDetails) string { return fmt.Sprint(d.HeapCount()) }, "0"},
		{"heaps with a history", func(d *gclog.GCDetails) string {
			d.Heaps = []gclog.HeapDetails{{HasHistory: true}, {}, {HasHistory: true}}
			return fmt.Sprint(d.HeapCount())
		}, "2"},
		{"a number of heaps", func(d *gclog.GCDetails) string {
			d.Global.Heaps, d.Heaps = 1, []gclog.HeapDetails{{HasHistory: true}, {}, {HasHistory: true}}
			return fmt.Sprint(d.HeapCount())
		}, "1"},
	} {
		if got := c.ask(&gclog.GCDetails{}); got != c.want {
			t.Errorf("%s: %s, want %s", c.what, got, c.want)
		}
	}
}

func survived(of, n uint64, say func(any, bool) string) func(*gclog.GCDetails) string {
	return func(d *gclog.GCDetails) string {
		d.Known |= gclog.GroupHistory
		d.Generations[0].ObjectsBefore, d.Generations[0].Survived = of, n
		percent, known := d.Survival(gclog.Gen0)
		return say(percent, known)
	}
}

// TestMemoryKnown: each size makes Memory known; the time at which it was read does not.
func TestMemoryKnown(t *testing.T) {
	for _, m := range []gclog.Memory{{Resident: 1}, {Cgroup: 1}, {CgroupLimit: 1}, {Resident: 3, Cgroup: 3, CgroupLimit: 3}, {At: 1}, {}} {
		if want := m.Resident+m.Cgroup+m.CgroupLimit > 0; m.Known() != want {
			t.Errorf("%+v is known: %v", m, !want)
		}
	}
}

// TestAppendName: a name has one digit for the generation, and a letter if the collection was
// induced.
func TestAppendName(t *testing.T) {
	for want, d := range map[string]*gclog.GCDetails{
		"0N":  {},
		"2B":  {Generation: 2, Kind: gclog.KindBackground, Known: gclog.GroupReason},
		"1F":  {Generation: 1, Kind: gclog.KindForeground, Reason: clr.ReasonInduced}, // no reason was reported
		"2NI": {Generation: 2, Reason: clr.ReasonInduced, Known: gclog.GroupReason},
		"2Ni": {Generation: 2, Reason: clr.ReasonInducedNotForced, Known: gclog.GroupReason},
		"9N":  {Generation: 255},
	} {
		if got := d.AppendName([]byte("x")); string(got) != "x"+want {
			t.Errorf("%s, want x%s", got, want)
		}
	}
}
