package analysis_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/gclog/analysis"
	"github.com/gclog/gclog/internal/testing/extent"
	"github.com/gclog/gclog/parse/clr"
)

// keeping is an observer that keeps the records too.
type keeping struct {
	*analysis.Peers
	process *gclog.Process
	records []*gclog.GCDetails
}

// Observe takes a record.
func (k *keeping) Observe(r gclog.Record) {
	switch r := r.(type) {
	case *gclog.GCDetails:
		k.Peers.Observe(r)
		k.records = append(k.records, r.Clone())
	default:
		k.Peers.Observe(r)
	}
}

// checkExplanation: the parts add up, and whatever is shown is a number, or says why it is none.
func checkExplanation(t *testing.T, d *gclog.GCDetails, e *analysis.Explanation) {
	t.Helper()
	if len(d.Pauses) > 0 {
		checkParts(t, "the pause", float64(d.Pause()), e.Parts)
	}
	for _, p := range e.Phases {
		checkNumber(t, p.Name, p.Time)
	}
	for _, r := range e.Roots {
		checkNumber(t, r.Name, r.Imbalance)
		if r.Longest.Value < 0 {
			t.Errorf("%s: %v", r.Name, r.Longest)
		}
	}
	for _, s := range e.Sizes {
		for _, n := range []analysis.Number{s.Before, s.After, s.Promoted, s.Survival, s.Free, s.Budget} {
			checkNumber(t, s.Name, n)
		}
	}
	if len(e.What) < 1 || d.Known.Has(gclog.GroupReason) && len(e.Trigger) == 0 || len(e.Generation) == 0 && whyUnknown(e, "why this generation was chosen") == "" || len(e.Result) == 0 && d.Known.Has(gclog.GroupAfter) {
		t.Error("a section is empty")
	}
	for _, list := range [][]analysis.Statement{e.What, e.Trigger, e.Generation, e.Pause, e.Result, e.Comparison} {
		for _, s := range list {
			if s.ID == "" || !strings.HasSuffix(s.Text, ".") || strings.Contains(s.Text, "  ") || strings.Contains(s.Text, "%!") || strings.Contains(s.Text, "NaN") || strings.Contains(s.Text, "Inf") {
				t.Errorf("%s: %q", s.ID, s.Text)
			}
			for _, f := range s.Facts {
				if f.Name == "" || math.IsNaN(f.Value) || math.IsInf(f.Value, 0) || f.Value < 0 && f.Name != "offset" {
					t.Errorf("%s: %+v", s.ID, f)
				}
			}
		}
	}
	seen := map[string]bool{}
	for _, u := range e.Unknown {
		if u.Why == "" || len(u.What) == 0 || seen[u.Why] {
			t.Errorf("unknown: %+v", u)
		}
		seen[u.Why] = true
	}
}

// checkParts: those that are known add up to the whole, to the nanosecond.
func checkParts(t *testing.T, of string, whole float64, parts []analysis.Part) {
	t.Helper()
	sum := 0.0
	for _, p := range parts {
		checkNumber(t, p.Name, p.Time)
		if p.Time.Value < 0 {
			t.Errorf("%s: %v ns", p.Name, p.Time.Value)
		}
		sum += p.Time.Value
		if len(p.Parts) > 0 {
			checkParts(t, p.Name, p.Time.Value, p.Parts)
		}
	}
	if sum != whole {
		t.Errorf("the parts of %s add up to %v ns, it has %v: %+v", of, sum, whole, parts)
	}
}

func checkNumber(t *testing.T, name string, n analysis.Number) {
	t.Helper()
	if math.IsNaN(n.Value) || math.IsInf(n.Value, 0) || !n.Known() && n.Value != 0 {
		t.Errorf("%s: %+v", name, n)
	}
}

// sentences is all that a section says.
func sentences(list []analysis.Statement) string {
	var b strings.Builder
	for _, s := range list {
		fmt.Fprintf(&b, "%s: %s\n", s.ID, s.Text)
	}
	return b.String()
}

// whyUnknown is why something is not known, "" if nothing says so.
func whyUnknown(e *analysis.Explanation, what string) string {
	for _, u := range e.Unknown {
		if slices.Contains(u.What, what) {
			return u.Why
		}
	}
	return ""
}

// blockingRecord is a blocking gen0 of one heap: 10 ms of pause, all of which are told but 0.4.
func blockingRecord(change func(*gclog.GCDetails)) *gclog.GCDetails {
	d := &gclog.GCDetails{}
	d.Reset()
	d.Number, d.Complete = 7, true
	d.Known |= gclog.GroupNumber | gclog.GroupReason | gclog.GroupEnd
	d.Pauses = []gclog.PausePart{{Kind: gclog.PauseBlocking, Start: 100 * ms, Duration: 10 * ms, Suspend: ms, HasSuspend: true, Resume: ms / 2, HasResume: true}}
	d.Suspended, d.Start, d.End = 100*ms, 101*ms+ms/10, 109*ms+3*ms/10
	d.Known |= gclog.GroupGlobal | gclog.GroupCompaction
	d.Global = clr.GCGlobalHeapHistory{Heaps: 1, Mechanisms: clr.MechanismCompaction | clr.MechanismPromotion, PauseMode: clr.PauseModeInteractive, HasMemoryLoad: true, HasCondemned: true}
	d.Timing = [clr.Times]int64{0, 3 * ms, 0, ms / 2, 0, ms, ms, 2*ms + 3*ms/10}
	d.TimingCount = clr.Times
	d.Heaps = []gclog.HeapDetails{{HasHistory: true, History: clr.GCPerHeapHistory{Generations: clr.Generations}}}
	d.Known |= gclog.GroupHistory | gclog.GroupObjects | gclog.GroupFragmentation | gclog.GroupBefore | gclog.GroupAfter | gclog.GroupPromoted
	d.Known |= gclog.GroupGenerationPromoted
	d.GenerationCount = clr.Generations
	d.Generations[gclog.Gen0] = gclog.GenerationDetails{Before: 8e6, After: 1e6, ObjectsBefore: 8e6, ObjectsAfter: 1e6, Survived: 1e6, Promoted: 1e6, Budget: 6e6}
	d.PromotedBytes = 1e6
	d.Handles = 5
	d.Known |= gclog.GroupHandles | gclog.GroupPinned | gclog.GroupSyncBlocks | gclog.GroupFinalizationCount | gclog.GroupFinalizationSize
	if change != nil {
		change(d)
	}
	return d
}

func explain(change func(*gclog.GCDetails)) analysis.Explanation {
	return analysis.Explain(blockingRecord(change), analysis.Context{})
}

// flat are the parts as text: ID=milliseconds, those within others in parentheses.
func flat(parts []analysis.Part) string {
	var list []string
	for _, p := range parts {
		s := fmt.Sprintf("%s=%g", p.ID, p.Time.Value/float64(ms))
		if !p.Time.Known() {
			s = p.ID + "=n/a"
		}
		if len(p.Parts) > 0 {
			s += "(" + flat(p.Parts) + ")"
		}
		list = append(list, s)
	}
	return strings.Join(list, " ")
}

// of10 makes the pause one of 10 ms of which the steps are not told.
func of10(suspend, resume, start, end int64) func(*gclog.GCDetails) {
	return func(d *gclog.GCDetails) {
		d.Pauses[0].Suspend, d.Pauses[0].Resume, d.Start, d.End = suspend, resume, start, end
		d.TimingCount = 0
	}
}

func TestExplainParts(t *testing.T) {
	tests := []struct {
		name   string
		change func(*gclog.GCDetails)
		want   string
	}{
		{"compacting", nil, "suspend=1 prepare=0.1 mark=3.5(mark_roots=3 mark_short_weak=0 scan_finalization=0.5 mark_long_weak=0) plan=1 relocate=1 compact=2.3 untold=0.4 finish=0.2 resume=0.5"},
		{"sweeping", func(d *gclog.GCDetails) {
			d.Global.Mechanisms = clr.MechanismPromotion
			d.TimingCount = clr.TimeCompact
		}, "suspend=1 prepare=0.1 mark=3.5(mark_roots=3 mark_short_weak=0 scan_finalization=0.5 mark_long_weak=0) plan=1 sweep=1 untold=2.7 finish=0.2 resume=0.5"},
		{"compaction of .NET 8", func(d *gclog.GCDetails) { d.TimingCount = clr.TimeCompact }, "suspend=1 prepare=0.1 mark=3.5(mark_roots=3 mark_short_weak=0 scan_finalization=0.5 mark_long_weak=0) plan=1 relocate=1 compact=n/a untold=2.7 finish=0.2 resume=0.5"},
		{"without steps", func(d *gclog.GCDetails) {
			d.TimingCount = 0
			marked(&d.Heaps[0], clr.MarkStack, ms)
			marked(&d.Heaps[0], clr.MarkHandles, 2*ms)
			d.Heaps[0].MarkedUntil = d.Start + 3*ms
		}, "suspend=1 prepare=0.1 mark=3 steps=n/a untold=5.2 finish=0.2 resume=0.5"},
		{"in the suspension of a background one", func(d *gclog.GCDetails) {
			d.InsideBGCStart = true
			d.Pauses[0] = gclog.PausePart{Kind: gclog.PauseBlocking, Start: 100 * ms, Duration: d.End - d.Start, HasSuspend: true, HasResume: true}
		}, "mark=3.5(mark_roots=3 mark_short_weak=0 scan_finalization=0.5 mark_long_weak=0) plan=1 relocate=1 compact=2.3 untold=0.4"},
		{"of a log", func(d *gclog.GCDetails) {
			d.Pauses[0].Suspend, d.Pauses[0].Resume, d.TimingCount, d.Heaps = 0, 0, 0, nil
			d.Known &^= gclog.GroupGlobal
			d.Pauses[0].HasSuspend, d.Pauses[0].HasResume = false, false
		}, "suspend=n/a steps=n/a untold=10 resume=n/a"},
		{"suspended all the time", of10(10*ms, 0, 110*ms, 110*ms), "suspend=10 prepare=0 steps=n/a"},
		{"suspended for longer", of10(10*ms+1, 0, 101*ms, 101*ms), "suspend=n/a steps=n/a untold=10"},
		{"prepared all the time", of10(2*ms, 0, 110*ms, 110*ms), "suspend=2 prepare=8 steps=n/a"},
		{"resumed all the time", of10(2*ms, 8*ms, 102*ms, 102*ms), "suspend=2 prepare=0 steps=n/a finish=0 resume=8"},
		{"resumed for longer", of10(2*ms, 8*ms+1, 102*ms, 102*ms), "suspend=2 prepare=0 steps=n/a untold=8"},
		{"ended as it began", of10(2*ms, 3*ms, 102*ms, 102*ms), "suspend=2 prepare=0 steps=n/a finish=5 resume=3"},
		{"ended before it began", of10(2*ms, 3*ms, 103*ms, 102*ms), "suspend=2 prepare=1 steps=n/a untold=4 resume=3"},
		{"ended as the threads were let go", of10(2*ms, 3*ms, 103*ms, 107*ms), "suspend=2 prepare=1 steps=n/a untold=4 finish=0 resume=3"},
		{"ended behind that", of10(2*ms, 3*ms, 103*ms, 107*ms+1), "suspend=2 prepare=1 steps=n/a untold=4 resume=3"},
		{"times beyond the pause", func(d *gclog.GCDetails) {
			d.Start, d.End = math.MaxInt64, math.MinInt64
			d.Pauses[0].Suspend, d.Pauses[0].Resume = math.MaxInt64, math.MaxInt64
			for i := range d.Timing {
				d.Timing[i] = math.MaxInt64
			}
		}, "suspend=n/a mark=n/a plan=n/a relocate=n/a compact=n/a untold=10"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := blockingRecord(tt.change)
			e := analysis.Explain(d, analysis.Context{})
			if got := flat(e.Parts); got != tt.want {
				t.Errorf("the parts are\n%s\nwant\n%s", got, tt.want)
			}
			checkParts(t, "the pause", float64(d.Pause()), e.Parts)
		})
	}
}

// asBackground makes a record one of a background collection with an ephemeral one in its
// first suspension.
func asBackground(d *gclog.GCDetails) {
	d.Generation, d.Type, d.Kind = gclog.Gen2, clr.TypeBackground, gclog.KindBackground
	d.Background = &gclog.BackgroundDetails{MarkStart: 104 * ms, MarkEnd: 120 * ms, SweepStart: 123 * ms, SweepEnd: 150 * ms}
	d.Background.Phase[clr.BGCBegin], d.Background.Phase[clr.BGCInitialPauseEnd] = 103*ms, 103*ms+ms/2
	d.Pauses = []gclog.PausePart{
		{Kind: gclog.PauseInitial, Start: 102 * ms, Duration: 2 * ms, Suspend: ms / 2, HasSuspend: true, Resume: ms / 4, HasResume: true},
		{Kind: gclog.PauseFinal, Start: 120 * ms, Duration: 3 * ms, Suspend: ms / 2, HasSuspend: true, Resume: ms / 2, HasResume: true},
	}
	d.Suspended, d.Start, d.End = 100*ms, 100*ms+3*ms/4, 150*ms
	d.Timing, d.TimingCount = [clr.Times]int64{0, ms, 0, ms / 4, 0}, clr.TimePlan
	d.Global.Mechanisms = clr.MechanismConcurrent
}

func TestExplainPartsOfBackgroundCollection(t *testing.T) {
	d := blockingRecord(asBackground)
	e := analysis.Explain(d, analysis.Context{})
	want := "initial=2(suspend=0.5 prepare=0.25 initial_mark=0.5 untold=0.5 resume=0.25) " +
		"final=3(suspend=0.5 mark=1.25(mark_roots=1 mark_short_weak=0 scan_finalization=0.25 mark_long_weak=0) untold=0.75 resume=0.5)"
	if got := flat(e.Parts); got != want {
		t.Errorf("the parts are\n%s\nwant\n%s", got, want)
	}
	if got, want := flat(e.Phases), "concurrent_mark=16 concurrent_sweep=27"; got != want {
		t.Errorf("while the program ran: %s, want %s", got, want)
	}
	d.Background.Phase = [clr.BGCPhases]int64{}
	d.Background.SweepStart = 0
	e = analysis.Explain(d, analysis.Context{})
	if got, want := flat(e.Phases), "concurrent_mark=16 concurrent_sweep=n/a"; got != want {
		t.Errorf("without a sweep: %s, want %s", got, want)
	}
	if !strings.Contains(flat(e.Parts), "initial_mark=n/a untold=1 ") {
		t.Errorf("without the private provider: %s", flat(e.Parts))
	}
}

func TestExplainReasons(t *testing.T) {
	seen := map[string]bool{}
	for r := clr.Reason(0); r.Known(); r++ {
		e := explain(func(d *gclog.GCDetails) { d.Reason = r })
		got := e.Trigger[0]
		if got.ID != "reason" || !strings.Contains(got.Text, "("+r.String()+")") || seen[got.Text] {
			t.Errorf("%v: %+v", r, got)
		}
		seen[got.Text] = true
		if asked := strings.HasPrefix(got.Text, "Induced by "); asked != (r.Induced() && r != clr.ReasonInducedLowMemory) {
			t.Errorf("%v: induced by a call: %v", r, asked)
		}
	}
	if len(seen) != 18 {
		t.Errorf("%d reasons", len(seen))
	}
	if e := explain(func(d *gclog.GCDetails) { d.Reason = 42 }); !strings.Contains(e.Trigger[0].Text, "Reason(42)") {
		t.Errorf("%+v", e.Trigger[0])
	}
	if e := explain(func(d *gclog.GCDetails) { d.Known &^= gclog.GroupReason }); whyUnknown(&e, "why it was started") == "" {
		t.Errorf("%+v", e.Trigger)
	}
}

func TestExplainConditions(t *testing.T) {
	seen := map[string]bool{}
	for i := range 32 {
		bit := clr.Condemned(1) << i
		e := explain(func(d *gclog.GCDetails) { d.Heaps[0].History.Condemned = bit })
		got := ""
		for _, s := range e.Generation {
			if s.ID == "conditions" {
				got = s.Text
			}
		}
		if !strings.HasPrefix(got, "Conditions met: ") || !strings.Contains(got, "("+bit.Names(nil)[0]+")") || seen[got] {
			t.Errorf("bit %d: %q", i, got)
		}
		seen[got] = true
	}
	if e := explain(nil); !strings.Contains(sentences(e.Generation), "No other conditions were met.") {
		t.Error(sentences(e.Generation))
	}
}

// TestExplainDecisive: which conditions make a gen2 of a younger one, and which keep it from the
// background.
func TestExplainDecisive(t *testing.T) {
	const (
		raises = 1 << iota
		blocks
	)
	decisive := map[clr.Condemned]int{
		clr.CondemnedInducedFullBlocking: blocks, clr.CondemnedExpandHeap: blocks, clr.CondemnedFragmentedGen2: blocks,
		clr.CondemnedFragmentedGen2HighMemory: blocks, clr.CondemnedFragmentedGen2VeryHighMemory: blocks,
		clr.CondemnedBeforeOOM: blocks, clr.CondemnedTooSmallForBackground: blocks,
		clr.CondemnedPMInducedFull: blocks, clr.CondemnedPMAllocLOH: blocks,
		clr.CondemnedLimitBeforeOOM: raises | blocks, clr.CondemnedLimitLOHFragmented: raises | blocks, clr.CondemnedLimitLOHReclaim: raises | blocks,
		clr.CondemnedServoInitial: raises, clr.CondemnedServoNGC: raises | blocks, clr.CondemnedServoBGC: raises,
		clr.CondemnedStressMix: raises, clr.CondemnedStress: raises,
	}
	for i := range 32 {
		bit := clr.Condemned(1) << i
		if bit == clr.CondemnedEphemeralBeforeBackground {
			continue // of these the runtime notes nothing else
		}
		name := bit.Names(nil)[0]
		for _, extra := range []clr.Condemned{0, clr.CondemnedAvoidUnproductive} {
			e := explain(func(d *gclog.GCDetails) {
				d.Generation, d.Heaps[0].History.CondemnedGenerations = 2, condemnedSteps(0, 0, 0, 0)
				if extra != 0 {
					d.Heaps[0].History.CondemnedGenerations = condemnedSteps(0, 2, 2, 0)
				}
				d.Heaps[0].History.Condemned = bit | extra
			})
			got := sentences(e.Generation)
			want := "The heaps requested gen0; no event reports why it became gen2."
			switch raised := decisive[bit]&raises != 0; {
			case raised && extra != 0:
				want = "It became gen2 instead of gen1 because of " + name + "."
			case raised:
				want = "it became gen2 because of " + name + "."
			case extra != 0:
				want = ""
			}
			if !strings.Contains(got, want) || want == "" && strings.Contains(got, "instead: ") {
				t.Errorf("%s: no %q in\n%s", name, want, got)
			}
			blocked := slices.ContainsFunc(e.Generation, func(s analysis.Statement) bool { return s.ID == "kind" && slices.Contains(s.Causes, name) })
			if want := decisive[bit]&blocks != 0; blocked != want || (whyUnknown(&e, "why it was blocking rather than background") == "") != want {
				t.Errorf("%s kept it from the background: %v\n%s", name, blocked, got)
			}
		}
	}
}

func condemnedSteps(initial, final, budget, tuning int) clr.CondemnedGenerations {
	return clr.MakeCondemnedGenerations(initial, final, budget, tuning)
}

func TestExplainGeneration(t *testing.T) {
	tests := []struct {
		name   string
		change func(*gclog.GCDetails)
		want   []string
	}{
		{"by budget", func(d *gclog.GCDetails) {
			d.Generation = 1
			d.Heaps[0].History.CondemnedGenerations = condemnedSteps(0, 1, 1, 0)
			d.Generations[gclog.Gen1].BudgetLeft, d.Generations[gclog.Gen1].HasBudgetLeft = -300_000, true
		}, []string{"Condemned gen0 first; gen1's budget was exceeded by about 300 KB; escalated to gen1.", "It was blocking, as gen0 and gen1 always are."}},
		{"not by budget", nil, []string{"Condemned gen0; gen1's budget was not exceeded."}},
		{"asked for as gen1", func(d *gclog.GCDetails) {
			d.Generation = 1
			d.Heaps[0].History.CondemnedGenerations = condemnedSteps(1, 1, 1, 0)
		}, []string{"Condemned gen1; gen2's budget was not exceeded."}},
		{"beside a background collection", func(d *gclog.GCDetails) { // nobody looks at the budget of gen2
			d.Generation, d.Kind, d.Type = 1, gclog.KindForeground, clr.TypeForeground
			d.Heaps[0].History.CondemnedGenerations = condemnedSteps(1, 1, 1, 0)
		}, []string{"steps: Condemned gen1."}},
		{"asked for as gen2", func(d *gclog.GCDetails) {
			d.Generation = 2
			d.Heaps[0].History.CondemnedGenerations = condemnedSteps(2, 2, 2, 0)
		}, []string{"steps: Condemned gen2."}},
		{"a gen1 that became a gen2 by its budget", func(d *gclog.GCDetails) {
			d.Generation = 2
			d.Heaps[0].History.CondemnedGenerations, d.Heaps[0].History.Condemned = condemnedSteps(0, 2, 0, 0), clr.CondemnedLowCardTable|clr.CondemnedMaxGenerationBudget
		}, []string{"gen1's budget was not exceeded; escalated to gen2.", "; gen1 was condemned anyway, and gen2's budget was exceeded (MaxGenerationBudget)."}},
		{"high memory load", func(d *gclog.GCDetails) {
			d.Heaps[0].History.Condemned = clr.CondemnedAlmostMaxAlloc
		}, []string{"the memory load was high, and more than a tenth of gen2's budget was used (AlmostMaxAlloc)."}},
		{"by time", func(d *gclog.GCDetails) {
			d.Generation = 1
			d.Heaps[0].History.CondemnedGenerations = condemnedSteps(0, 1, 0, 1)
		}, []string{"gen1 was due because its last collection was long ago"}},
		{"large objects", func(d *gclog.GCDetails) {
			d.Generation = 2
			d.Heaps[0].History.CondemnedGenerations = condemnedSteps(0, 2, 2, 0)
			d.Generations[gclog.LOH].BudgetLeft, d.Generations[gclog.LOH].HasBudgetLeft = -2_000_000, true
		}, []string{"gen2's budget was exceeded (large objects by about 2 MB)"}},
		{"foreground instead of gen2", func(d *gclog.GCDetails) {
			d.Generation, d.Kind, d.Type = 1, gclog.KindForeground, clr.TypeForeground
			d.Heaps[0].History.CondemnedGenerations = condemnedSteps(0, 2, 0, 0)
		}, []string{"Gen2 was due, but a background collection was running", "and ran during a background collection (foreground)"}},
		{"low latency", func(d *gclog.GCDetails) {
			d.Generation, d.Global.PauseMode = 1, clr.PauseModeLowLatency
			d.Heaps[0].History.CondemnedGenerations = condemnedSteps(0, 1, 2, 0)
		}, []string{"Gen2 was due, but GCSettings.LatencyMode was LowLatency"}},
		{"unproductive", func(d *gclog.GCDetails) {
			d.Generation, d.Global.Condemned = 1, clr.CondemnedAvoidUnproductive
			d.Heaps[0].History.CondemnedGenerations = condemnedSteps(0, 2, 2, 0)
		}, []string{"recent full collections had freed little", "Gen2 was due, but recent full collections had freed little, so gen1 was collected instead (AvoidUnproductive)."}},
		{"no one knows", func(d *gclog.GCDetails) { d.Generation = 1 }, []string{"The heaps requested gen0; no event reports why it became gen1."}},
		{"the heap that wants most", func(d *gclog.GCDetails) {
			d.Generation, d.Kind, d.Type = 1, gclog.KindForeground, clr.TypeForeground
			more := d.Heaps[0]
			more.Heap, more.History.CondemnedGenerations, more.History.Condemned = 1, condemnedSteps(0, 2, 0, 0), clr.CondemnedLowCardTable
			d.Heaps = append(d.Heaps, more)
		}, []string{"escalated to gen2", "(LowCardTable).", "heap 0: gen0; heap 1: gen2 (LowCardTable)."}},
		{"not in the background: small", func(d *gclog.GCDetails) {
			d.Generation = 2
			d.Heaps[0].History.CondemnedGenerations, d.Heaps[0].History.Condemned = condemnedSteps(0, 2, 2, 0), clr.CondemnedTooSmallForBackground
		}, []string{"It was blocking rather than background: gen2 was too small for a background collection to be worthwhile (TooSmallForBackground)."}},
		{"not in the background: asked for", func(d *gclog.GCDetails) {
			d.Generation, d.Reason = 2, clr.ReasonInduced
			d.Heaps[0].History.CondemnedGenerations, d.Heaps[0].History.Condemned = condemnedSteps(2, 2, 2, 0), clr.CondemnedInducedFullBlocking
		}, []string{"It was blocking rather than background: a blocking collection was requested (Induced)."}},
		{"asked for as gen1, and small", func(d *gclog.GCDetails) {
			d.Generation, d.Reason = 2, clr.ReasonInduced
			d.Heaps[0].History.CondemnedGenerations, d.Heaps[0].History.Condemned = condemnedSteps(1, 2, 2, 0), clr.CondemnedTooSmallForBackground
		}, []string{"It was blocking rather than background: gen2 was too small for a background collection to be worthwhile (TooSmallForBackground)."}},
		{"small, but never in the background", func(d *gclog.GCDetails) {
			d.Generation, d.Global.PauseMode = 2, clr.PauseModeBatch
			d.Heaps[0].History.CondemnedGenerations, d.Heaps[0].History.Condemned = condemnedSteps(0, 2, 2, 0), clr.CondemnedTooSmallForBackground
		}, []string{"It was blocking rather than background: background collections were disabled"}},
		{"hard limit", func(d *gclog.GCDetails) {
			d.Generation, d.Global.Condemned = 2, clr.CondemnedLimitLOHReclaim
		}, []string{"The heaps requested gen0; it became gen2 because of LimitLOHReclaim.", "It was blocking rather than background: hard limit: more than an eighth of the limit could be reclaimed from large objects (LimitLOHReclaim)."}},
		{"hard limit after all", func(d *gclog.GCDetails) {
			d.Generation, d.Global.Condemned = 2, clr.CondemnedAvoidUnproductive|clr.CondemnedLimitLOHFragmented
			d.Heaps[0].History.CondemnedGenerations = condemnedSteps(0, 2, 2, 0)
		}, []string{"another one was considered unproductive (AvoidUnproductive)", "It became gen2 instead of gen1 because of LimitLOHFragmented."}},
		{"gen1 first", func(d *gclog.GCDetails) {
			d.Generation, d.Global.Condemned = 1, clr.CondemnedGen1InPM
			d.Heaps[0].History.CondemnedGenerations = condemnedSteps(0, 2, 2, 0)
		}, []string{"Gen2 was due, but provisional mode collects gen1 first (Gen1InPM)."}},
		{"asked for in provisional mode", func(d *gclog.GCDetails) {
			d.Generation, d.Global.Condemned = 2, clr.CondemnedPMAllocLOH
			d.Heaps[0].History.CondemnedGenerations = condemnedSteps(0, 2, 2, 0)
		}, []string{"It was blocking rather than background: provisional mode: large objects were allocated (PMAllocLOH)."}},
		{"before a background collection", func(d *gclog.GCDetails) {
			d.Generation, d.InsideBGCStart = 1, true
			d.Heaps[0].History.Condemned = clr.CondemnedEphemeralBeforeBackground
		}, []string{"starts with a collection of the young generations whose budgets were exceeded: here gen0 and gen1.", "Conditions met: it had to run before"}},
		{"fragmented, but in the background", func(d *gclog.GCDetails) {
			asBackground(d)
			d.Global.PauseMode = clr.PauseModeSustainedLowLatency
			d.Heaps[0].History.CondemnedGenerations, d.Heaps[0].History.Condemned = condemnedSteps(0, 2, 2, 0), clr.CondemnedFragmentedGen2
		}, []string{"It ran in the background although gen2 was fragmented, because GCSettings.LatencyMode was SustainedLowLatency"}},
		{"a gen0 although gen1 was due", func(d *gclog.GCDetails) { // nothing is said of gen1 beside a background collection
			d.Kind, d.Type = gclog.KindForeground, clr.TypeForeground
			d.Heaps[0].History.CondemnedGenerations = condemnedSteps(0, 1, 1, 0)
		}, []string{"Gen1 was due; no event reports why gen0 was collected instead."}},
		{"low latency, but asked for", func(d *gclog.GCDetails) {
			d.Generation, d.Reason, d.Global.PauseMode = 1, clr.ReasonInduced, clr.PauseModeLowLatency
			d.Heaps[0].History.CondemnedGenerations = condemnedSteps(1, 2, 2, 0)
		}, []string{"Gen2 was due; no event reports why gen1 was collected instead."}},
		{"a heap that wants more than the others", func(d *gclog.GCDetails) {
			d.Generation, d.Kind, d.Type = 1, gclog.KindForeground, clr.TypeForeground
			d.Heaps[0].History.CondemnedGenerations = condemnedSteps(0, 1, 1, 0)
			more := d.Heaps[0]
			more.Heap, more.History.CondemnedGenerations = 1, condemnedSteps(0, 2, 1, 0)
			d.Heaps = append(d.Heaps, more)
		}, []string{"Gen2 was due, but a background collection was running"}},
		{"not in the background: off", func(d *gclog.GCDetails) { d.Generation, d.Global.PauseMode = 2, clr.PauseModeBatch }, []string{"It was blocking rather than background: background collections were disabled"}},
		{"not in the background: demoted", func(d *gclog.GCDetails) { d.Generation, d.Type, d.DemotedBGC = 2, clr.TypeBackground, true }, []string{"It was blocking rather than background: it was started as a background collection but could not run as one"}},
		{"not in the background: provisional", func(d *gclog.GCDetails) { d.Generation, d.Provisional = 2, true }, []string{"It was blocking rather than background: the full collections of provisional mode always block."}},
		{"background", asBackground, []string{"It ran in the background"}},
		{"memory", func(d *gclog.GCDetails) {
			d.Generation, d.Global.MemoryLoad = 2, 93
			d.Heaps[0].History.CondemnedGenerations, d.Heaps[0].History.Condemned = condemnedSteps(0, 2, 0, 0), clr.CondemnedHighMemory|clr.CondemnedVeryHighMemory
		}, []string{"the memory load was high (HighMemory); the memory load was very high (VeryHighMemory).", "The memory load was 93 %."}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e := explain(tt.change)
			for _, want := range tt.want {
				if got := sentences(e.Generation); !strings.Contains(got, want) {
					t.Errorf("no %q in\n%s", want, got)
				}
			}
		})
	}
	e := explain(func(d *gclog.GCDetails) { d.Generation = 2 })
	if whyUnknown(&e, "why it was blocking rather than background") == "" || whyUnknown(&e, "the memory load") == "" {
		t.Errorf("%+v", e.Unknown)
	}
}

// TestExplainUnseenKind: what began before the session is called neither blocking nor anything
// else, unless it was seen to run in the background.
func TestExplainUnseenKind(t *testing.T) {
	const lacking = "whether it was blocking, background or foreground"
	for _, generation := range []int{1, 2} {
		e := explain(func(d *gclog.GCDetails) {
			d.Generation, d.Flaws, d.Complete = generation, gclog.FlawNoStart, false
			d.Known &^= gclog.GroupReason
		})
		if want := fmt.Sprintf("Collection 7: gen%d collection, paused for 10 ms", generation); e.Title != want {
			t.Errorf("%q, want %q", e.Title, want)
		}
		if whyUnknown(&e, lacking) == "" {
			t.Errorf("gen%d: %+v", generation, e.Unknown)
		}
		if said := strings.Contains(sentences(e.Generation), "kind: "); said != (generation == 1) {
			t.Errorf("gen%d: %s", generation, sentences(e.Generation))
		}
	}
	e := explain(func(d *gclog.GCDetails) {
		asBackground(d)
		d.Flaws = gclog.FlawNoStart
	})
	if !strings.HasPrefix(e.Title, "Collection 7: background gen2 collection") || whyUnknown(&e, lacking) != "" {
		t.Errorf("%s: %+v", e.Title, e.Unknown)
	}
}

// TestExplainDATAS: the runtime asks for a gen2 without noting why.
func TestExplainDATAS(t *testing.T) {
	full := func(d *gclog.GCDetails) { d.Generation = gclog.Gen2 }
	peers := analysis.NewPeers()
	for _, want := range []string{"The heaps requested gen0; no event reports why it became gen2.\n", "DATAS requests some gen2 collections itself"} {
		e := analysis.Explain(blockingRecord(full), analysis.Context{Peers: peers})
		if got := sentences(e.Generation); !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
		peers.Observe(blockingRecord(func(d *gclog.GCDetails) { d.Known |= gclog.GroupDatasSample }))
	}
}

// TestExplainHighLoad: of a limit of more than 99 the runtime makes 99.
func TestExplainHighLoad(t *testing.T) {
	d := blockingRecord(func(d *gclog.GCDetails) { d.Global.MemoryLoad = 93 })
	e := analysis.Explain(d, analysis.Context{Process: &gclog.Process{HasLimits: true, Limits: clr.GCSettings{HighMemoryPercent: 128}}})
	if want := "The memory load was 93 %; the runtime considers it high from 99 %."; !strings.Contains(sentences(e.Generation), want) {
		t.Errorf("no %q in\n%s", want, sentences(e.Generation))
	}
}

func TestExplainTrigger(t *testing.T) {
	e := explain(func(d *gclog.GCDetails) {
		d.Triggered, d.Trigger = 98*ms, 4711
		d.Known |= gclog.GroupTrigger
		d.SinceLast, d.AllocationRate = 510*ms, 20e6
		d.Known |= gclog.GroupAllocated | gclog.GroupGenerationAllocated | gclog.GroupSinceLast
		d.Generations[gclog.Gen0].Allocated, d.Generations[gclog.LOH].Allocated, d.Allocated = 9e6, 1e6, 10e6
		d.Generations[gclog.Gen0].BudgetLeft, d.Generations[gclog.Gen0].HasBudgetLeft = -1_200_000, true
	})
	for _, want := range []string{
		"Thread 4711 triggered it, 2 ms before the runtime began to suspend the threads.",
		"Budgets (estimated): gen0 had exceeded its budget by about 1.2 MB.",
		"Since the previous collection, the program had allocated 10 MB (9 MB in gen0 and 1 MB in large objects), at 20 MB/s while it ran.",
	} {
		if got := sentences(e.Trigger); !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	// Workstation GC tells of the request when the threads stand: that is no delay of 0.
	e = explain(func(d *gclog.GCDetails) {
		d.Triggered, d.Trigger = 101*ms, 4711
		d.Known |= gclog.GroupTrigger
	})
	if strings.Contains(sentences(e.Trigger), "before the runtime") || whyUnknown(&e, "the time from the trigger to the suspension") == "" {
		t.Errorf("%s%+v", sentences(e.Trigger), e.Unknown)
	}
	e = explain(nil)
	for _, what := range []string{"which thread triggered it", "by how much a budget was exceeded", "what the program allocated since the previous collection", "how it compares"} {
		if whyUnknown(&e, what) == "" {
			t.Errorf("nothing says that %s is not known: %+v", what, e.Unknown)
		}
	}
}

func TestExplainBalance(t *testing.T) {
	for _, tt := range []struct {
		first, second uint64
		want          string
	}{
		{100, 300, "The server GC heaps were unevenly filled: the fullest gen0 held 1.5 times the mean."},
		{100, 102, "The server GC heaps were evenly filled: the fullest gen0 held 1.01 times the mean."},
	} {
		e := explain(func(d *gclog.GCDetails) {
			d.Heaps = append(d.Heaps, d.Heaps[0])
			d.Heaps[0].History.Generation[gclog.Gen0].SizeBefore = tt.first
			d.Heaps[1].History.Generation[gclog.Gen0].SizeBefore = tt.second
		})
		if got := sentences(e.Pause); !strings.Contains(got, tt.want) {
			t.Errorf("no %q in\n%s", tt.want, got)
		}
	}
}

// TestExplainUnasked: that the budget of gen2 is exceeded does not matter where gen1 has some
// of its own left, but for a gen1 that is made for another reason.
func TestExplainUnasked(t *testing.T) {
	const asks = "which counts only if gen1 has exceeded its own, too"
	budgets := func(conditions clr.Condemned, gen1Left int64) string {
		e := explain(func(d *gclog.GCDetails) {
			d.Generation = 1
			d.Heaps[0].History.Condemned = conditions
			d.Generations[gclog.Gen0].BudgetLeft, d.Generations[gclog.Gen0].HasBudgetLeft = 100, true
			d.Generations[gclog.Gen1].BudgetLeft, d.Generations[gclog.Gen1].HasBudgetLeft = gen1Left, true
			d.Generations[gclog.Gen2].BudgetLeft, d.Generations[gclog.Gen2].HasBudgetLeft = -300_000, true
		})
		return sentences(e.Trigger)
	}
	if got := budgets(clr.CondemnedLowCardTable, 100); !strings.Contains(got, "gen0 had about 100 B left. Gen2 had exceeded its budget by about 300 KB, "+asks) {
		t.Error(got)
	}
	for _, got := range []string{budgets(clr.CondemnedLowCardTable|clr.CondemnedMaxGenerationBudget, 100), budgets(clr.CondemnedLowCardTable, -100)} {
		if strings.Contains(got, asks) || !strings.Contains(got, "gen2 had exceeded its budget by about 300 KB") {
			t.Error(got)
		}
	}
}

// TestExplainBudgetLeft: what is left is that of the fullest heap, and of the generations that
// the reason names.
func TestExplainBudgetLeft(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(*gclog.GCDetails)
		want   string
	}{
		{"one heap", nil, "Budgets (estimated): gen0 had about 50 KB left."},
		{"two heaps", func(d *gclog.GCDetails) { d.Global.Heaps = 2 }, "Budgets (estimated, for the heap with the least left): gen0 had about 50 KB left."},
		{"large objects", func(d *gclog.GCDetails) {
			d.Reason, d.Generations[gclog.LOH].BudgetLeft, d.Generations[gclog.LOH].HasBudgetLeft = clr.ReasonAllocLarge, -9_000, true
		}, "Budgets (estimated): large objects had exceeded their budget by about 9 KB."},
		{"induced", func(d *gclog.GCDetails) { d.Reason = clr.ReasonInduced }, "Budgets (estimated): none was exceeded."},
	} {
		e := explain(func(d *gclog.GCDetails) {
			d.Generations[gclog.Gen0].BudgetLeft, d.Generations[gclog.Gen0].HasBudgetLeft = 50_000, true
			if tt.change != nil {
				tt.change(d)
			}
		})
		if got := sentences(e.Trigger); !strings.Contains(got, tt.want) {
			t.Errorf("%s: %s", tt.name, got)
		}
		if why := whyUnknown(&e, "by how much a budget was exceeded"); why != "" {
			t.Errorf("%s: %s", tt.name, why)
		}
	}
	// A background collection has swept gen0: only what is left of gen1 is known.
	e := explain(func(d *gclog.GCDetails) {
		d.GenerationCount = gclog.Generations
		d.Generations[gclog.Gen1].BudgetLeft, d.Generations[gclog.Gen1].HasBudgetLeft = 50_000, true
	})
	if got := sentences(e.Trigger); strings.Contains(got, "Budgets") || whyUnknown(&e, "by how much a budget was exceeded") == "" {
		t.Errorf("%s%+v", got, e.Unknown)
	}
}

func TestExplainAllocationBesideBackground(t *testing.T) {
	for _, tt := range []struct {
		allocated uint64
		want      string
	}{
		{3_000_000, "Until it ended, the program allocated 3 MB that no collection before or during it counted."},
		{0, "What the program allocated until it ended was counted by the collections before and during it."},
	} {
		e := explain(func(d *gclog.GCDetails) {
			asBackground(d)
			d.Allocated = tt.allocated
			d.Known |= gclog.GroupAllocated
		})
		if got := sentences(e.Trigger); !strings.Contains(got, tt.want) {
			t.Error(got)
		}
	}
}

func TestExplainRevisits(t *testing.T) {
	revisits := func(change func(*gclog.BackgroundDetails)) string {
		e := explain(func(d *gclog.GCDetails) {
			asBackground(d)
			change(d.Background)
		})
		return sentences(e.Pause)
	}
	got := revisits(func(b *gclog.BackgroundDetails) {
		b.Revisited = [2][2]gclog.Revisit{{{Pages: 4, References: 900}, {}}, {{}, {Pages: 1, References: 1}}}
		b.Overflowed = 2
	})
	const want = "revisited: Objects modified during marking were visited again: 4 pages of small objects with 900 references while the program ran and 1 page of large and pinned objects with 1 reference during its pauses. 2 objects were scanned again because the mark stack overflowed.\n"
	if !strings.Contains(got, want) {
		t.Errorf("no %q in\n%s", want, got)
	}
	if got := revisits(func(*gclog.BackgroundDetails) {}); strings.Contains(got, "revisited") {
		t.Error(got)
	}
}

func TestExplainPins(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(*gclog.GCDetails)
		want   string
	}{
		{"none", nil, "pins: 0 pinned objects were found.\n"},
		{"with survivors", func(d *gclog.GCDetails) {
			d.PinnedObjects, d.Generations[gclog.Gen0].SurvivedPins = 1, 40_000
			d.Generations[gclog.Gen1].SurvivedPins, d.Generations[gclog.Gen1].Survived = 7, 7e6 // not collected
		}, "pins: 1 pinned object was found, and 40 KB of the 1 MB that survived could not be moved because of them.\n"},
		{"without a history", func(d *gclog.GCDetails) {
			d.PinnedObjects, d.Generations[gclog.Gen0].SurvivedPins = 2, 40_000
			d.Known &^= gclog.GroupHistory
		}, "pins: 2 pinned objects were found.\n"},
		{"one by one", func(d *gclog.GCDetails) { d.PinEvents, d.PinEventBytes = 1, 64 }, "pins: 0 pinned objects were found; 1 pin was recorded individually (level full), with 64 B.\n"},
		{"pieces", func(d *gclog.GCDetails) { d.PinPlugs, d.PinPlugBytes = 3, 3000 }, "pins: 0 pinned objects were found; 3 pieces of memory (3 KB) could not be moved.\n"},
	} {
		e := explain(tt.change)
		if got := sentences(e.Result); !strings.Contains(got, tt.want) {
			t.Errorf("%s: no %q in\n%s", tt.name, tt.want, got)
		}
	}
	e := explain(asBackground)
	if got := sentences(e.Result); strings.Contains(got, "pins: ") || whyUnknown(&e, "pinned objects") != "background collections do not count them" {
		t.Errorf("a background collection: %s%+v", got, e.Unknown)
	}
}

// TestExplainContradictions: what cannot be is not shown, and said to be unknown.
func TestExplainContradictions(t *testing.T) {
	e := explain(func(d *gclog.GCDetails) {
		g := &d.Generations[gclog.Gen0]
		g.After, g.Fragmentation, g.Survived = 0, 288, g.ObjectsBefore+g.ObjectsBefore/40
	})
	if s := e.Sizes[gclog.Gen0]; s.Free.Known() || s.Survival.Known() || !s.After.Known() {
		t.Errorf("%+v", s)
	}
	if whyUnknown(&e, "free space of gen0") == "" || whyUnknown(&e, "survival in gen0") == "" {
		t.Errorf("%+v", e.Unknown)
	}
	e = explain(func(d *gclog.GCDetails) {
		g := &d.Generations[gclog.Gen0]
		g.Fragmentation, g.Survived = g.After, g.ObjectsBefore
	})
	if s := e.Sizes[gclog.Gen0]; s.Free.Value != 1e6 || s.Survival.Value != 100 {
		t.Errorf("%+v", s)
	}
}

// TestExplainLog: what a log does not hold is the log's fault, and told once.
func TestExplainLog(t *testing.T) {
	d := &gclog.GCDetails{}
	d.Reset()
	d.FromLog = true
	d.Pauses = []gclog.PausePart{{Duration: 3 * ms}}
	e := analysis.Explain(d, analysis.Context{Log: "csv"})
	checkExplanation(t, d, &e)
	for _, what := range []string{"why it was started", "which thread triggered it", "why this generation was chosen", "heap sizes", "whether it compacted", "handles"} {
		if got := whyUnknown(&e, what); got != "the log does not contain it (format csv)" {
			t.Errorf("%s: %q", what, got)
		}
	}
	if got := sentences(e.What) + sentences(e.Trigger) + sentences(e.Generation) + sentences(e.Result); strings.Contains(got, " 0 ") {
		t.Errorf("a 0 for what is not known:\n%s", got)
	}
}

func TestExplainComparison(t *testing.T) {
	peers := analysis.NewPeers()
	for i := range 200 {
		peers.Observe(blockingRecord(func(d *gclog.GCDetails) {
			d.Number = uint32(i)
			d.Pauses[0].Duration = int64(i+1) * ms
			d.PromotedBytes = 1e6
		}))
		peers.Observe(blockingRecord(func(d *gclog.GCDetails) { d.Generation, d.Pauses[0].Duration = 1, 9000*ms }))
	}
	peers.Observe(blockingRecord(func(d *gclog.GCDetails) { d.Flaws, d.Pauses[0].Duration = gclog.FlawNoRestart, 5000*ms }))
	peers.Observe(&gclog.Pause{UsedNumber: 30})
	peers.Observe(&gclog.Pause{UsedNumber: 31})
	peers.Observe(&gclog.Pause{UsedNumber: 33})
	d := blockingRecord(func(d *gclog.GCDetails) { d.Number, d.Pauses[0].Duration, d.PromotedBytes = 32, 198*ms, 3e6 })
	e := analysis.Explain(d, analysis.Context{Peers: peers})
	for _, want := range []string{
		"Its pause was the 3rd longest of 200 blocking gen0 collections, 1.98 times their median of 100 ms; their p99 is 198 ms.",
		"It promoted 3 MB, 3 times their median of 1 MB.",
	} {
		if got := sentences(e.Comparison); !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	if got := sentences(e.Trigger); !strings.Contains(got, "Numbers 30 and 31 before it were not collections") {
		t.Error(got)
	}
	if !peers.Used(33) || peers.Used(32) {
		t.Error("the numbers that were used up are not those that were reported")
	}
	alone := blockingRecord(func(d *gclog.GCDetails) { d.Generation = 2 })
	peers.Observe(alone)
	if e := analysis.Explain(alone, analysis.Context{Peers: peers}); whyUnknown(&e, "how it compares") != "it was the only blocking gen2 collection observed" {
		t.Errorf("%+v", e.Unknown)
	}
}

// TestExplainPinnedUnheard: without histories promoted bytes of pinned objects is not
// known, nor is the sum; the other generations tell theirs.
func TestExplainPinnedUnheard(t *testing.T) {
	d := blockingRecord(func(d *gclog.GCDetails) {
		d.Generation = gclog.Gen2
		d.PromotedBytes, d.Heaps = 0, nil
		d.Known &^= gclog.GroupHistory | gclog.GroupObjects | gclog.GroupFragmentation | gclog.GroupPromoted
	})
	e := analysis.Explain(d, analysis.Context{})
	checkExplanation(t, d, &e)
	if gen0, poh := e.Sizes[gclog.Gen0].Promoted, e.Sizes[gclog.POH].Promoted; !gen0.Known() || gen0.Value != 1e6 || poh.Known() {
		t.Errorf("promoted of gen0 %+v, of pinned objects %+v", gen0, poh)
	}
	for _, what := range []string{"promoted bytes", "promoted bytes of pinned objects"} {
		if whyUnknown(&e, what) == "" {
			t.Errorf("it does not say that it lacks %s: %+v", what, e.Unknown)
		}
	}
}

// TestExplainFreeSpace: the free space that a background collection measured can be larger than what
// a foreground collection has left of the heap. It is a share of the heap only if it is not.
func TestExplainFreeSpace(t *testing.T) {
	for _, more := range []uint64{0, 1} {
		d := blockingRecord(nil)
		for g := range d.Generations {
			d.Generations[g].Fragmentation = d.Generations[g].After
		}
		d.Fragmentation = d.SizeAfter() + more
		e := analysis.Explain(d, analysis.Context{})
		said, why := strings.Contains(sentences(e.Result), "Free space between objects"), whyUnknown(&e, "free space of the heap")
		if said != (more == 0) || (why != "") != (more > 0) {
			t.Errorf("%d bytes more than the heap: it says so: %v; unknown because %q", more, said, why)
		}
	}
}

// TestExplainWild: records that no runtime would tell are explained too, and their parts
// add up.
func TestExplainWild(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	records := extent.Pick(5_000, 20_000)
	if testing.Short() {
		records = 2_000
	}
	for range records {
		d, peers := wildRecord(r)
		e := analysis.Explain(d, analysis.Context{HasBegin: r.IntN(2) == 0, Begin: wild(r), Peers: peers})
		checkExplanation(t, d, &e)
		if t.Failed() {
			t.Fatalf("%+v", d)
		}
	}
}

// wild is a number that may be a time, or be no possible one.
func wild(r *rand.Rand) int64 {
	switch r.IntN(4) {
	case 0:
		return 0
	case 1:
		return int64(r.Uint64())
	case 2:
		return math.MaxInt64 - r.Int64N(3)
	}
	return r.Int64N(200) * ms
}

// wildRecord is a record that no runtime would tell, and its peers.
func wildRecord(r *rand.Rand) (*gclog.GCDetails, *analysis.Peers) {
	bit := func() bool { return r.IntN(2) == 0 }
	wild := func() int64 { return wild(r) }
	d := blockingRecord(nil)
	if bit() {
		asBackground(d)
		d.Background.MarkStart, d.Background.MarkEnd, d.Background.SweepStart = wild(), wild(), wild()
		d.Background.WaitCount, d.Background.WaitTime, d.Background.WaitMax = wild()&math.MaxInt64, wild()&math.MaxInt64, wild()&math.MaxInt64
		d.Background.Phase[clr.BGCBegin], d.Background.Phase[clr.BGCInitialPauseEnd] = wild(), wild()
	}
	for i := range d.Pauses {
		p := &d.Pauses[i]
		p.Start, p.Duration, p.Suspend, p.Resume = wild(), wild()&(1<<50-1), wild(), wild()
		p.HasSuspend, p.HasResume = bit(), bit()
	}
	d.Generation, d.Reason, d.Flaws = r.IntN(256), clr.Reason(r.Uint32()>>r.IntN(32)), gclog.Flaw(r.IntN(256))
	d.Known.Set(gclog.GroupTrigger, bit())
	d.Start, d.End, d.Suspended, d.Triggered, d.SinceLast, d.Window = wild(), wild(), wild(), wild(), wild(), wild()
	d.InsideBGCStart, d.Provisional = bit(), bit()
	d.Known.Set(gclog.GroupEnd, bit())
	d.Known.Set(gclog.GroupAllocated, bit())
	d.Known.Set(gclog.GroupSinceLast, bit())
	d.Known.Set(gclog.GroupGenerationAllocated, d.Known.Has(gclog.GroupAllocated))
	for i := range d.Timing {
		d.Timing[i] = wild()
	}
	d.TimingCount = r.IntN(clr.Times + 1)
	h := &d.Heaps[0].History
	h.CondemnedGenerations, h.Condemned = clr.CondemnedGenerations(r.Uint32()), clr.Condemned(r.Uint32())
	h.Compact, h.Expand = clr.HeapMechanism(r.Uint32()), clr.HeapMechanism(r.Uint32())
	marked(&d.Heaps[0], clr.MarkType(r.IntN(int(clr.MarkTypes))), wild())
	d.Heaps[0].MarkedUntil = wild()
	d.Allocated, d.Fragmentation = r.Uint64(), r.Uint64()
	for g := range d.Generations {
		x := &d.Generations[g]
		x.Before, x.After, x.ObjectsBefore, x.Survived, x.Allocated = r.Uint64(), r.Uint64(), r.Uint64(), r.Uint64(), r.Uint64()
		x.BudgetLeft, x.HasBudgetLeft = wild(), bit()
	}
	d.Global.Mechanisms, d.Global.PauseMode, d.Global.MemoryLoad = clr.Mechanisms(r.Uint32()), clr.PauseMode(r.IntN(6)), r.Uint32()
	peers := analysis.NewPeers()
	peers.Observe(d)
	peers.Observe(blockingRecord(nil))
	return d, peers
}

// TestExplainProcess: what is known of the process, in words.
func TestExplainProcess(t *testing.T) {
	for _, tt := range []struct {
		p    gclog.Process
		want string
	}{
		{gclog.Process{}, ""},
		{gclog.Process{UptimeAtSync: time.Hour}, "The process was up for 1h0m0s."},
		{gclog.Process{UptimeAtSync: 1}, "The process was up for 0s."},
		{gclog.Process{ID: 1}, "Process 1."},
		{gclog.Process{ID: 1, Name: "shop", Service: "orders"}, "Process 1 (shop)."},
		{gclog.Process{Service: "orders"}, "Process orders."},
		{gclog.Process{RuntimeVersion: "10.0.1", Server: gclog.No}, ".NET 10.0.1, workstation GC."},
		{gclog.Process{ID: 7, Service: "orders", Server: gclog.Yes, UptimeAtSync: 2 * time.Second}, "Process 7 (orders), server GC, up for 2s."},
	} {
		d := blockingRecord(func(d *gclog.GCDetails) { d.Heaps, d.Global.Heaps = nil, 0 })
		e := analysis.Explain(d, analysis.Context{Process: &tt.p})
		got := ""
		for _, s := range e.What {
			if s.ID == "process" {
				got = s.Text
			}
		}
		if got != tt.want {
			t.Errorf("%+v: %q, want %q", tt.p, got, tt.want)
		}
	}
}

// TestExplainBeforeBackground: what precedes a background collection, and what may be left out beside one.
func TestExplainBeforeBackground(t *testing.T) {
	before := func(d *gclog.GCDetails) { d.Heaps[0].History.Condemned = clr.CondemnedEphemeralBeforeBackground }
	beside := func(d *gclog.GCDetails) {
		d.Kind, d.Heaps[0].History.CondemnedGenerations = gclog.KindForeground, condemnedSteps(0, 1, 1, 0)
	}
	for want, change := range map[string]func(*gclog.GCDetails){
		"budgets were exceeded: here gen0 only.":     before,
		"budgets were exceeded: here gen0 and gen1.": func(d *gclog.GCDetails) { before(d); d.Generation = 1 },
		"starts with a gen1 collection if there was no space for a small object.": func(d *gclog.GCDetails) {
			before(d)
			d.Generation, d.Reason = 1, clr.ReasonOutOfSpaceSOH
		},
		"Gen1 was due; no event reports why gen0 was collected instead.": beside,
		"Gen1 was due, but a background collection was running, and meanwhile DATAS may collect only gen0.": func(d *gclog.GCDetails) {
			beside(d)
			d.Known |= gclog.GroupDatasSample
		},
	} {
		d := blockingRecord(change)
		peers := analysis.NewPeers()
		peers.Observe(d)
		if e := analysis.Explain(d, analysis.Context{Peers: peers}); !strings.Contains(sentences(e.Generation), want) {
			t.Errorf("no %q in\n%s", want, sentences(e.Generation))
		}
	}
}

// TestExplainUsedNumbers: the numbers right before a collection that no-GC regions used up.
func TestExplainUsedNumbers(t *testing.T) {
	for _, tt := range []struct {
		used []uint32 // the collection is the 7th
		want string
	}{
		{[]uint32{5, 8}, ""},
		{[]uint32{6}, "Number 6 before it was not a collection: a no-GC region (GC.TryStartNoGCRegion) used that number."},
		{[]uint32{6, 5, 3}, "Numbers 5 and 6 before it were not collections: no-GC regions (GC.TryStartNoGCRegion) used those numbers."},
	} {
		peers := analysis.NewPeers()
		for _, n := range tt.used {
			peers.Observe(&gclog.Pause{UsedNumber: n})
		}
		d := blockingRecord(nil)
		e := analysis.Explain(d, analysis.Context{Peers: peers})
		got := ""
		for _, s := range e.Trigger {
			if s.ID == "used-numbers" {
				got = s.Text
			}
		}
		if got != tt.want {
			t.Errorf("%v: %q, want %q", tt.used, got, tt.want)
		}
	}
}

// TestExplainFlaws: each reason why a record is not complete has words.
func TestExplainFlaws(t *testing.T) {
	all := gclog.Flaw(math.MaxUint16).Names(nil)
	for i, name := range all {
		e := explain(func(d *gclog.GCDetails) { d.Complete, d.Flaws = false, 1<<i })
		if text := sentences(e.What); !strings.Contains(text, "The record is incomplete: ") || strings.Contains(text, "for an unknown reason") {
			t.Errorf("%s: %s", name, text)
		}
	}
}
