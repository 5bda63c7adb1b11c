package formats_test

import (
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gclog/gclog/formats"
	table "github.com/gclog/gclog/formats/fields"
	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/internal/testing/generated"
	"github.com/gclog/gclog/parse/clr"
)

// inKiB returns a collection of which everything in the unified format is known.
func inKiB() *gclog.GCDetails {
	d := known()
	d.PromotedBytes, d.Peak, d.CommittedBefore, d.CommittedAfter = 1061<<10, 1062<<10, 1063<<10, 1064<<10
	d.FinalizationSize, d.AllocationRate = 1067<<10, 1234<<10
	for i := range d.TickAllocated {
		d.TickAllocated[i] <<= 10
	}
	d.Fragmentation, d.Allocated = d.Fragmentation<<10, d.Allocated<<10
	for g := range d.Generations {
		x := &d.Generations[g]
		x.Before, x.After, x.Fragmentation, x.Budget, x.Allocated = x.Before<<10, x.After<<10, x.Fragmentation<<10, x.Budget<<10, x.Allocated<<10
	}
	for m := range d.Summary.Marks {
		d.Summary.Marks[m].Longest *= 1000
		d.Summary.Marks[m].Promoted <<= 10
	}
	for i := range d.TimingCount {
		d.Timing[i] *= 1000
	}
	return d
}

// noReferences makes the numbers of pinned objects, handles and others unknown.
func noReferences(d *gclog.GCDetails) {
	d.Known &^= gclog.GroupPinned | gclog.GroupHandles | gclog.GroupSyncBlocks | gclog.GroupFinalizationCount | gclog.GroupFinalizationSize
}

// blockingInKiB returns the same for a blocking collection with one pause.
func blockingInKiB(number uint32, generation int, at int64) *gclog.GCDetails {
	d := inKiB()
	d.Number, d.Generation, d.Kind, d.Type, d.Background = number, generation, gclog.KindBlocking, clr.TypeBlocking, nil
	d.Pauses = []gclog.PausePart{{Start: at, Duration: 10_500_000 * int64(generation), Suspend: 1000, HasSuspend: true, Resume: 100, HasResume: true}}
	return d
}

func allLines() *formats.Selection {
	s := formats.Selection{Decorators: formats.Of(formats.DecUptime, formats.DecLevel, formats.DecTags)}
	s.Select(nil, true, formats.LevelTrace)
	return &s
}

// writeStory writes a young, a background and a full collection, of which everything is known, and
// what belongs to no collection.
func writeStory(w *formats.Writer) {
	const ms = int64(time.Millisecond)
	young, background, full := blockingInKiB(6, 1, 900*ms), inKiB(), blockingInKiB(8, 2, 1100*ms)
	w.Observe(&gclog.Start{At: 5 * ms})
	w.Observe(&gclog.Pause{PausePart: young.Pauses[0], GC: young})
	w.Observe(young)
	w.Observe(&gclog.Pause{PausePart: background.Pauses[0], GC: background})
	w.Observe(&gclog.Phase{Kind: gclog.PhaseMark, Start: 1001 * ms, Time: 1001 * ms, GC: background})
	w.Observe(&gclog.Phase{Kind: gclog.PhaseMark, Start: 1001 * ms, Time: 1009 * ms, End: true, GC: background})
	w.Observe(&gclog.Pause{PausePart: background.Pauses[1], GC: background})
	w.Observe(&gclog.Phase{Kind: gclog.PhaseSweep, Start: 1013 * ms, Time: 1013 * ms, GC: background})
	w.Observe(&gclog.Phase{Kind: gclog.PhaseSweep, Start: 1013 * ms, Time: 1024 * ms, End: true, GC: background})
	w.Observe(background)
	w.Observe(&gclog.Pause{PausePart: full.Pauses[0], GC: full})
	w.Observe(full)
	w.Observe(&gclog.Suspension{Start: 1100 * ms, Duration: 41 * ms, Suspend: 1000, HasSuspend: true, Reason: 1})
	w.Observe(&gclog.Suspension{Start: 1200 * ms, Duration: 41 * ms, Reason: 1})
	w.Observe(&gclog.Pause{PausePart: gclog.PausePart{Kind: gclog.PauseNoGCRegion, Start: 1300 * ms, Duration: 5 * ms, Suspend: 6000, HasSuspend: true}, UsedNumber: 9})
	w.Observe(&gclog.Pause{PausePart: gclog.PausePart{Kind: gclog.PauseUnknown, Start: 1400 * ms, Duration: 7 * ms}})
	w.Observe(&gclog.End{At: 2000 * ms, Reason: gclog.EndDetached})
}

// TestJDKStory: the story in all lines of the JDK formats. Each number in testdata/golden/story.* is
// one of known.
func TestJDKStory(t *testing.T) {
	p := someone()
	p.Limits.HardLimit, p.Limits.LOHThreshold, p.Limits.PhysicalMemoryConfig = 1<<20, 2<<20, 3<<20
	p.Limits.Gen0MinBudget, p.Limits.Gen0MaxBudget, p.Limits.HighMemoryPercent = 4<<20, 5<<20, 90
	for _, format := range []string{"unified", "jdk8"} {
		head, records := written(t, format, formats.Options{Process: p, Selection: allLines()}, writeStory)
		generated.File(t, filepath.Join("testdata", "golden", "story."+format), head+"\n"+strings.Join(records, "\n")+"\n")
	}
}

// TestSelectedStory: without the lines of one tag set, or with fewer of them, all others are the
// same.
func TestSelectedStory(t *testing.T) {
	story := func(s *formats.Selection) []string {
		s.Decorators = formats.Of(formats.DecLevel, formats.DecTags) // the header has the time of the first line after it
		head, records := written(t, "unified", formats.Options{Process: someone(), Selection: s}, writeStory)
		return append(strings.Split(head, "\n"), records...)
	}
	whole := story(allLines())
	for set, name := range formats.TagSets() {
		for _, level := range []formats.Level{formats.LevelOff, formats.LevelInfo, formats.LevelDebug} {
			s := allLines()
			s.Levels[set] = level
			tags := "][" + strings.ReplaceAll(name, "+", ",")
			want := slices.DeleteFunc(slices.Clone(whole), func(line string) bool {
				decorations, _, _ := strings.Cut(line, "] ")
				return strings.HasSuffix(strings.TrimRight(decorations, " "), tags) &&
					(level == formats.LevelOff || level == formats.LevelInfo && strings.Contains(decorations, "[debug"))
			})
			if got := story(s); !slices.Equal(got, want) {
				t.Errorf("%s=%s: %s", name, formats.LevelNames[level], generated.Difference(strings.Join(got, "\n"), strings.Join(want, "\n")))
			}
		}
	}
}

// TestVMArguments: the header has what is known of the runtime and its GC.
func TestVMArguments(t *testing.T) {
	for want, p := range map[string]gclog.Process{
		".NET, process 4711, GC workers unknown":                                  {},
		".NET 9.0.1, process 4711, Workstation GC, concurrent, 1 GC workers":      {RuntimeVersion: "9.0.1", Server: gclog.No, Concurrent: gclog.Yes, HeapCount: 1},
		".NET, process 4711, Server GC, non-concurrent, x.so, GC workers unknown": {Server: gclog.Yes, Concurrent: gclog.No, GCLibrary: "x.so"},
	} {
		p.ID = 4711
		x := blockingInKiB(8, 1, 1e9)
		x.Global.Heaps = 0
		head, _ := written(t, "unified", formats.Options{Process: p, Selection: allLines()}, func(w *formats.Writer) { w.Observe(&gclog.Pause{PausePart: x.Pauses[0], GC: x}) })
		_, got, _ := strings.Cut(head, "VM Arguments: ")
		if got, _, _ = strings.Cut(got, "\n"); got != want {
			t.Errorf("the arguments are %q, want %q", got, want)
		}
	}
}

var oneField = regexp.MustCompile(`([a-z0-9_]+)=([^,]*)`)

// fieldsOf returns the fields of a collection's gclog-specific lines, keyed by the title of the
// line and the name, without the lists in the DotNet line, which TestRoundTrip of package logs reads.
func fieldsOf(t *testing.T, d *gclog.GCDetails) map[string]string {
	t.Helper()
	_, records := written(t, "unified", formats.Options{Process: gclog.Process{}, Selection: allLines()}, func(w *formats.Writer) {
		if d.Kind != gclog.KindBackground {
			w.Observe(&gclog.Pause{PausePart: d.Pauses[0], GC: d})
		}
		w.Observe(d)
	})
	lists := map[string]bool{}
	for _, v := range table.Line("DotNet:") {
		lists[v.Name] = len(v.Fields) > 1
	}
	all := map[string]string{}
	for _, line := range records {
		_, text, ours := strings.Cut(line, ")         ")
		title, list, titled := strings.Cut(text, ": ")
		if !ours || !titled {
			continue
		}
		for _, f := range oneField.FindAllStringSubmatch(list, -1) {
			if title != "DotNet" || !lists[f[1]] {
				all[title+" "+f[1]] = f[2]
			}
		}
	}
	return all
}

// TestUnifiedFields: an unknown fact has no field, a line without fields is not written, and
// nothing else changes.
func TestUnifiedFields(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*gclog.GCDetails)
		gone   []string // fields, or a whole line
		other  map[string]string
	}{
		{"no reason", func(d *gclog.GCDetails) { d.Known &^= gclog.GroupReason }, []string{"DotNet reason"}, nil},
		{"no pinned object heap", func(d *gclog.GCDetails) { d.GenerationCount = 4 }, []string{"DotNet poh", "Condemned poh_budget", "Program poh"}, nil},
		{"nothing promoted", func(d *gclog.GCDetails) { d.Known &^= gclog.GroupPromoted | gclog.GroupFragmentation }, []string{"DotNet promoted", "DotNet fragmentation"}, nil},
		{"nothing committed", func(d *gclog.GCDetails) { d.Known &^= gclog.GroupCommittedBefore | gclog.GroupCommittedAfter }, []string{"DotNet committed", "DotNet committed_before"}, nil},
		{"committed before only", func(d *gclog.GCDetails) { d.Known &^= gclog.GroupCommittedAfter }, []string{"DotNet committed"}, nil},
		{"committed after only", func(d *gclog.GCDetails) { d.Known &^= gclog.GroupCommittedBefore }, []string{"DotNet committed_before"}, nil},
		{"as much committed as before", func(d *gclog.GCDetails) { d.CommittedBefore = d.CommittedAfter }, nil, map[string]string{"DotNet committed_before": "1089536B"}},
		{"pauses that are not sure", func(d *gclog.GCDetails) { d.Flaws = gclog.FlawNoSuspend | gclog.FlawTime | gclog.FlawNoSizes }, nil, map[string]string{"DotNet flaws": "no-suspend+no-sizes+time"}},
		{
			"nothing is known of why", func(d *gclog.GCDetails) { d.Global.HasCondemned, d.Summary.Reasons = false, nil },
			[]string{"Condemned initial", "Condemned final", "Condemned budget_exceeded", "Condemned time_tuning", "Condemned reasons"},
			nil,
		},
		{
			"no conditions", func(d *gclog.GCDetails) { d.Global.Condemned = 0; d.Summary.Reasons = d.Summary.Reasons[1:2] },
			[]string{"Condemned reasons"},
			map[string]string{"Condemned initial": "gen1", "Condemned final": "gen1", "Condemned budget_exceeded": "gen0", "Condemned time_tuning": "gen0"},
		},
		{"no budget", func(d *gclog.GCDetails) { d.Generations[gclog.Gen2].Budget, d.Generations[gclog.LOH].Budget = 0, 1 }, []string{"Condemned gen2_budget"}, map[string]string{"Condemned loh_budget": "0K"}},
		{"no memory load", func(d *gclog.GCDetails) { d.Global.MemoryLoad = 0 }, []string{"Condemned memory_load_percent"}, nil},
		{"little memory load", func(d *gclog.GCDetails) { d.Global.MemoryLoad = 1 }, nil, map[string]string{"Condemned memory_load_percent": "1"}},
		{"no allocation", func(d *gclog.GCDetails) { d.Known &^= gclog.GroupAllocated | gclog.GroupGenerationAllocated }, []string{"Program allocated", "Program gen0", "Program loh", "Program poh"}, nil},
		{"a sum of allocation", func(d *gclog.GCDetails) { d.Known &^= gclog.GroupGenerationAllocated }, []string{"Program gen0", "Program loh", "Program poh"}, nil},
		{"no rate", func(d *gclog.GCDetails) { d.AllocationRate = 0.9 }, []string{"Program rate_per_second"}, nil},
		{"a little rate", func(d *gclog.GCDetails) { d.AllocationRate = 1 }, nil, map[string]string{"Program rate_per_second": "0K"}},
		{"nothing since the last", func(d *gclog.GCDetails) { d.Known &^= gclog.GroupSinceLast }, []string{"Program since_last"}, nil},
		{"no ticks", func(d *gclog.GCDetails) { d.Known &^= gclog.GroupTicks }, []string{"Program ticks_small", "Program ticks_large", "Program ticks_pinned"}, nil},
		{"nothing of the program", func(d *gclog.GCDetails) {
			d.AllocationRate = 0
			d.Known &^= gclog.GroupAllocated | gclog.GroupGenerationAllocated | gclog.GroupSinceLast | gclog.GroupTicks
		}, []string{"Program"}, nil},
		{"no references", func(d *gclog.GCDetails) {
			noReferences(d)
			d.PinPlugs = 0
		}, []string{"References"}, nil},
		{
			"few references", func(d *gclog.GCDetails) {
				d.Handles, d.PinPlugs = 0, 1
				d.Known &^= gclog.GroupFinalizationSize
			},
			[]string{"References finalization_size"},
			map[string]string{"References handles": "0", "References pinned_plugs": "1"},
		},
		{"no times", func(d *gclog.GCDetails) { d.TimingCount = 0 }, []string{"Phases"}, nil},
		{"no marks", func(d *gclog.GCDetails) { d.Summary.Marks = [clr.MarkTypes]gclog.MarkSummary{} }, []string{"Roots"}, nil},
		{"some marks", func(d *gclog.GCDetails) { d.Summary.Marks[clr.MarkHandles].Known = false }, []string{"Roots handles"}, nil},
		{"no peak", func(d *gclog.GCDetails) { d.Peak = 0 }, []string{"DotNet peak"}, nil},
		{"two heaps", func(d *gclog.GCDetails) {
			d.Heaps = make([]gclog.HeapDetails, 3)
			d.Heaps[0].Heap, d.Heaps[0].HasHistory = 2, true
			d.Heaps[2].Heap, d.Heaps[2].HasHistory = 1, true
			for _, i := range []int{0, 2} {
				h := &d.Heaps[i].History
				h.Generations = 4
				for g := range h.Generations {
					h.Generation[g].SizeBefore, h.Generation[g].SizeAfter = uint64(10*i+g)<<10, uint64(10*i+g+5)<<10
				}
				h.Heap = d.Heaps[i].Heap
			}
		}, nil, map[string]string{
			"Heap 1 gen0": "20K->25K", "Heap 1 gen1": "21K->26K", "Heap 1 gen2": "22K->27K", "Heap 1 loh": "23K->28K", "Heap 1 workers": "4",
			"Heap 2 gen0": "0K->5K", "Heap 2 gen1": "1K->6K", "Heap 2 gen2": "2K->7K", "Heap 2 loh": "3K->8K", "Heap 2 workers": "4",
		}},
	} {
		for kind, make := range map[string]func() *gclog.GCDetails{"background": inKiB, "blocking": func() *gclog.GCDetails { return blockingInKiB(8, 2, 1e9) }} {
			t.Run(c.name+" "+kind, func(t *testing.T) {
				want, d := fieldsOf(t, make()), make()
				c.change(d)
				for name := range want {
					if slices.ContainsFunc(c.gone, func(g string) bool { return name == g || strings.HasPrefix(name, g+" ") }) {
						delete(want, name)
					}
				}
				maps.Copy(want, c.other)
				got := fieldsOf(t, d)
				if !maps.Equal(got, want) {
					t.Errorf("got\n%v, want\n%v", got, want)
				}
			})
		}
	}
}

// TestUnifiedSizes tests a collection's size lines if only some sizes are known: unknown ones keep
// their last value.
func TestUnifiedSizes(t *testing.T) {
	const young, old = "GC(8)         ParNew: ", "GC(8)         CMS: "
	for _, c := range []struct {
		name   string
		d      *gclog.GCDetails
		change func(*gclog.GCDetails)
		want   []string
	}{
		{"a blocking one", blockingInKiB(8, 2, 1e9), func(*gclog.GCDetails) {}, []string{young + "221K->241K(354K)", old + "339K->369K(710K)", "DotNet: gen2 blocking sweeping, reason"}},
		{"no sizes before", blockingInKiB(8, 2, 1e9), func(d *gclog.GCDetails) { d.Known &^= gclog.GroupBefore }, []string{young + "0K->241K(354K)", old + "0K->369K(710K)", "gen1=->123904B"}},
		{"no sizes after", blockingInKiB(8, 2, 1e9), func(d *gclog.GCDetails) { d.Known &^= gclog.GroupAfter }, []string{young + "221K->221K(354K)", old + "339K->339K(710K)", "gen1=113664B->,"}},
		{"no committed memory", blockingInKiB(8, 2, 1e9), func(d *gclog.GCDetails) { d.Known &^= gclog.GroupCommittedAfter | gclog.GroupCommittedBefore }, []string{young + "221K->241K(241K)", old + "339K->369K(369K)"}},
		{"committed before only", blockingInKiB(8, 2, 1e9), func(d *gclog.GCDetails) { d.Known &^= gclog.GroupCommittedAfter }, []string{young + "221K->241K(354K)", old + "339K->369K(709K)"}},
		{"compacting", blockingInKiB(8, 2, 1e9), func(d *gclog.GCDetails) { d.Global.Mechanisms = clr.MechanismCompaction }, []string{"DotNet: gen2 blocking compacting, reason"}},
		{"whether it compacts is not known", blockingInKiB(8, 2, 1e9), func(d *gclog.GCDetails) { d.Known &^= gclog.GroupCompaction }, []string{"DotNet: gen2 blocking, reason"}},
		{"a background one", inKiB(), func(*gclog.GCDetails) {}, []string{"GC(7) Old: 339K->369K(369K)", "gen1=113664B->123904B", "peak=1087488B"}},
		{"sizes before that are a guess", inKiB(), func(d *gclog.GCDetails) { d.BeforeEstimated = true }, []string{"GC(7) Old: 0K->369K(369K)", "gen1=113664B->123904B", "before_estimated=yes"}},
		{"no sizes before the background", inKiB(), func(d *gclog.GCDetails) { d.Known &^= gclog.GroupBefore }, []string{"GC(7) Old: 0K->369K(369K)"}},
		{"a background one without sizes", inKiB(), func(d *gclog.GCDetails) { d.Known &^= gclog.GroupAfter }, []string{"DotNet: gen2 background, reason"}},
		{"a background one that began before", inKiB(), func(d *gclog.GCDetails) { d.Flaws, d.Pauses = gclog.FlawNoStart, nil }, nil},
		{"its last pause was seen", inKiB(), func(d *gclog.GCDetails) { d.Flaws, d.Pauses = gclog.FlawNoStart, d.Pauses[len(d.Pauses)-1:] }, []string{"GC(7) Old: 339K->369K(369K)"}},
	} {
		c.change(c.d)
		_, records := written(t, "unified", formats.Options{}, func(w *formats.Writer) {
			if c.d.Kind != gclog.KindBackground {
				w.Observe(&gclog.Pause{PausePart: c.d.Pauses[0], GC: c.d})
			}
			w.Observe(c.d)
		})
		text := strings.Join(records, "\n")
		for _, want := range c.want {
			if !strings.Contains(text, want) {
				t.Errorf("%s: %q is not in\n%s", c.name, want, text)
			}
		}
		if c.want == nil && text != "" {
			t.Errorf("%s: want no line\n%s", c.name, text)
		}
	}
}

// TestHeld: no file should start within a background collection, nor before the end of a phase
// whose collection was given up.
func TestHeld(t *testing.T) {
	const ms = int64(time.Millisecond)
	d := inKiB()
	unended := d.Clone()
	unended.Flaws = gclog.FlawNoEnd
	unended.Known &^= gclog.GroupEnd
	phase := func(kind gclog.PhaseKind, end bool) func(w *formats.Writer) {
		return func(w *formats.Writer) {
			w.Observe(&gclog.Phase{Kind: kind, Start: 1001 * ms, Time: 1001 * ms, End: end, GC: d})
		}
	}
	pause := func(i int) func(w *formats.Writer) {
		return func(w *formats.Writer) { w.Observe(&gclog.Pause{PausePart: d.Pauses[i], GC: d}) }
	}
	blocking := func(w *formats.Writer) {
		x := blockingInKiB(8, 1, 1100*ms)
		w.Observe(&gclog.Pause{PausePart: x.Pauses[0], GC: x})
	}
	type step struct {
		write func(w *formats.Writer)
		held  bool
	}
	for name, steps := range map[string][]step{
		"whole": {
			{blocking, false},
			{pause(0), false},
			{phase(gclog.PhaseMark, false), true},
			{phase(gclog.PhaseMark, true), true},
			{blocking, true},
			{pause(1), true},
			{phase(gclog.PhaseSweep, false), true},
			{phase(gclog.PhaseSweep, true), true},
			{func(w *formats.Writer) { w.Observe(d) }, true},
			{blocking, false},
		},
		"from its final pause on": {{pause(1), false}, {blocking, true}, {func(w *formats.Writer) { w.Observe(d) }, true}, {blocking, false}},
		"from a phase on":         {{phase(gclog.PhaseSweep, false), false}, {blocking, true}, {func(w *formats.Writer) { w.Observe(d) }, true}, {blocking, false}},
		"given up":                {{pause(0), false}, {phase(gclog.PhaseMark, false), true}, {func(w *formats.Writer) { w.Observe(unended) }, true}, {blocking, true}, {blocking, false}},
		"given up before another": {
			{pause(0), false},
			{phase(gclog.PhaseMark, false), true},
			{func(w *formats.Writer) { w.Observe(unended) }, true},
			{phase(gclog.PhaseMark, false), true},
			{blocking, true},
			{phase(gclog.PhaseMark, true), true},
			{func(w *formats.Writer) { w.Observe(d) }, true},
			{blocking, false},
		},
		"at its end": {{blocking, false}, {func(w *formats.Writer) { w.Observe(&gclog.End{}) }, true}},
	} {
		for _, format := range []string{"unified", "jdk8"} {
			f, err := formats.Find(format)
			if err != nil {
				t.Fatal(err)
			}
			out := &memory{}
			w := formats.NewWriter(f, out, formats.Options{Process: someone()})
			for i, s := range steps {
				written := w.Written()
				s.write(w)
				if w.Written() > written && out.held != s.held {
					t.Errorf("%s, %s: group %d is held: %v, want %v", format, name, i, out.held, s.held)
				}
			}
		}
	}
}

// TestPhaseGivenUp: a phase whose collection was given up ends before the next lines, even before a
// pause without a collection.
func TestPhaseGivenUp(t *testing.T) {
	const ms = int64(time.Millisecond)
	d := inKiB()
	d.Flaws = gclog.FlawNoEnd
	d.Known &^= gclog.GroupEnd
	lines := allLines()
	lines.Decorators = formats.Of(formats.DecTID)
	_, records := written(t, "unified", formats.Options{Process: someone(), Selection: lines}, func(w *formats.Writer) {
		w.Observe(&gclog.Pause{PausePart: d.Pauses[0], Thread: 1, GC: d})
		w.Observe(&gclog.Phase{Kind: gclog.PhaseMark, Start: 1001 * ms, Time: 1001 * ms, GC: d})
		w.Observe(d)
		w.Observe(&gclog.Pause{PausePart: gclog.PausePart{Kind: gclog.PauseNoGCRegion, Start: 1300 * ms, Duration: 5 * ms, Suspend: 6000, HasSuspend: true}, Thread: 4712, UsedNumber: 9})
	})
	text := strings.Join(records, "\n")
	ended, paused := regexp.MustCompile(`Concurrent Mark .*ms`).FindStringIndex(text), regexp.MustCompile(`\[4712\] +DotNet: pause=`).FindStringIndex(text)
	if ended == nil || paused == nil || ended[0] > paused[0] {
		t.Errorf("no end of the phase before the pause:\n%s", text)
	}
}

// TestSettingsLine: the line contains the limits that exist, and is missing if there are none.
func TestSettingsLine(t *testing.T) {
	for _, c := range []struct {
		limits func(l *clr.GCSettings)
		want   string
	}{
		{func(*clr.GCSettings) {}, ""},
		{func(l *clr.GCSettings) { l.HardLimit = 1 }, "hard_limit=0K"},
		{func(l *clr.GCSettings) { l.LOHThreshold = 1 }, "loh_threshold=0K"},
		{func(l *clr.GCSettings) { l.PhysicalMemoryConfig = 1 }, "physical_memory=0K"},
		{func(l *clr.GCSettings) { l.Gen0MinBudget = 1 }, "gen0_min_budget=0K"},
		{func(l *clr.GCSettings) { l.Gen0MaxBudget = 1 }, "gen0_max_budget=0K"},
		{func(l *clr.GCSettings) { l.HighMemoryPercent = 1 }, "high_memory_percent=1"},
	} {
		var p gclog.Process
		p.HasLimits = true
		c.limits(&p.Limits)
		x := blockingInKiB(8, 1, 1e9)
		head, _ := written(t, "unified", formats.Options{Process: p, Selection: allLines()}, func(w *formats.Writer) { w.Observe(&gclog.Pause{PausePart: x.Pauses[0], GC: x}) })
		_, got, _ := strings.Cut(head, "Settings: ")
		if got, _, _ = strings.Cut(got, ", workers="); got != c.want {
			t.Errorf("the settings are %q, want %q", got, c.want)
		}
	}
}
