package logs_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/formats/logs"
	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/parse/clr"
)

// allLines is -Xlog:gc*=debug,safepoint.
func allLines() formats.Options {
	s := formats.Selection{Decorators: formats.Of(formats.DecUTCTime, formats.DecUptime, formats.DecLevel, formats.DecTags)}
	s.Select([]string{"gc"}, true, formats.LevelDebug)
	s.Select([]string{"safepoint"}, false, formats.LevelInfo)
	return formats.Options{Selection: &s}
}

var oneHeapLine = regexp.MustCompile(`(?m)^.*\[gc,heap\] GC\(\d+\) +Heap \d.*\n`)

// TestDetailLines: the lines that -Xlog adds are restored, except those of single heaps. The
// allocation rate is computed from rounded numbers, and is unknown below 1 KiB.
func TestDetailLines(t *testing.T) {
	forEachRecording(t, func(t *testing.T, stream []byte) {
		for _, x := range recordWith(t, stream, allLines(), nil) {
			text := x.out.text()
			if len(text) == 0 {
				continue
			}
			y := oneWith(t, allLines(), text)
			want := oneHeapLine.ReplaceAllString(string(text), "")
			got := string(y.out.text())
			sameLog(t, sameRates(t, want, got), got)
			sameRecords(t, x, y)
			sameDetails(t, x, y)
		}
	})
}

var rate = regexp.MustCompile(`allocated=(\d+)K,.* rate_per_second=(\d+)K, since_last=([\d.]+)ms`)

// sameRates returns want with the rates of got, where these are close enough.
func sameRates(t *testing.T, want, got string) string {
	t.Helper()
	a, b := strings.SplitAfter(want, "\n"), strings.SplitAfter(got, "\n")
	for i := range min(len(a), len(b)) {
		x, y := rate.FindStringSubmatchIndex(a[i]), rate.FindStringSubmatch(b[i])
		if x != nil && y == nil && a[i][x[2]:x[3]] == "0" {
			a[i] = strings.Replace(a[i], " rate_per_second="+a[i][x[4]:x[5]]+"K,", "", 1)
		}
		if x == nil || y == nil {
			continue
		}
		u, _ := strconv.ParseFloat(a[i][x[4]:x[5]], 64)
		v, _ := strconv.ParseFloat(y[2], 64)
		kib, _ := strconv.ParseFloat(y[1], 64)
		ms, _ := strconv.ParseFloat(y[3], 64)
		if off := u/v - 1; u != v && (off > 2/kib+0.001/ms || -off > 2/kib+0.001/ms) {
			t.Errorf("line %d: a rate of %sK, want\n%s", i+1, y[2], a[i])
		}
		a[i] = a[i][:x[4]] + y[2] + a[i][x[5]:]
	}
	return strings.Join(a, "")
}

// sameDetails compares the contents of the additional lines with what the Reducer emitted.
func sameDetails(t *testing.T, want, got *unifiedLog) {
	t.Helper()
	if len(want.stops) != len(got.stops) {
		t.Fatalf("%d suspensions, want %d", len(got.stops), len(want.stops))
	}
	for i := range want.stops {
		a, b := &want.stops[i], &got.stops[i]
		off := got.process.Time(b.Start).Sub(want.process.Time(a.Start))
		if d := a.Duration - b.Duration; a.Reason != b.Reason || off.Abs() > time.Millisecond+100 || d > 50 || d < -50 {
			t.Fatalf("suspension %d is %+v, want %+v", i, *b, *a)
		}
	}
	numbered := map[uint32]*gclog.GCDetails{}
	for _, d := range want.gcs {
		numbered[d.Number] = d
	}
	for _, d := range got.gcs {
		w := numbered[d.Number]
		if w == nil || !d.HasSizesAfter || w.Flaws != 0 || d.Flaws != 0 {
			continue
		}
		for _, pair := range [][2]any{
			{w.HasAllocated, d.HasAllocated},
			{w.HasSinceLast, d.HasSinceLast},
			{(uint64(w.AllocationRate) + 512) >> 10, uint64(d.AllocationRate) >> 10},
			{w.HasTicks, d.HasTicks},
			{w.TimingCount, d.TimingCount},
			{w.Global.MemoryLoad, d.Global.MemoryLoad},
			{w.HasHandles, d.HasHandles},
			{w.Handles, d.Handles},
			{w.SyncBlocks, d.SyncBlocks},
			{w.FinalizationCount, d.FinalizationCount},
			{w.PinPlugs, d.PinPlugs},
		} {
			if pair[0] != pair[1] {
				t.Errorf("collection %d: %v, want %v, in %+v", d.Number, pair[1], pair[0], d)
			}
		}
		sameCondemned(t, w, d)
		for m := range clr.MarkTypes {
			if a, b := w.Mark(m), d.Mark(m); a.Known != b.Known || a.Longest-b.Longest > 500 || b.Longest-a.Longest > 500 {
				t.Errorf("collection %d: %s is %+v, want %+v", d.Number, m, b, a)
			}
		}
		for g := range gclog.Generations {
			a, b := &w.Generations[g], &d.Generations[g]
			if off := int64(a.Allocated - b.Allocated); w.HasAllocated && d.HasGenerationAllocated && (off > 1024 || off < -1024) {
				t.Errorf("collection %d: allocated %d in %s, want %d", d.Number, b.Allocated, gclog.GenerationName(g), a.Allocated)
			}
			if off := int64(a.Budget - b.Budget); d.Collected(g) && (off > 512 || off < -512) {
				t.Errorf("collection %d: budget of %s is %d, want %d", d.Number, gclog.GenerationName(g), b.Budget, a.Budget)
			}
		}
		if d.Kind != gclog.KindBackground && d.HasSinceLast && (w.Window-d.Window > 2000 || d.Window-w.Window > 2000) {
			t.Errorf("collection %d: window %d, want %d", d.Number, d.Window, w.Window)
		}
	}
}

func sameCondemned(t *testing.T, want, got *gclog.GCDetails) {
	t.Helper()
	steps, conditions, known := want.Condemned()
	s, c, k := got.Condemned()
	if steps != s || conditions != c || known != k {
		t.Errorf("collection %d: condemned %v %v %t, want %v %v %t", got.Number, s, c, k, steps, conditions, known)
	}
}

// TestDetailsInJSON: JSON written from such a log contains what the lines contain, and nothing made
// up.
func TestDetailsInJSON(t *testing.T) {
	x := recordWith(t, recording(t, "net8-datas-induced"), allLines(), nil)[0]
	var out pages
	r, _ := logs.NewReader(logs.Head{Format: "unified"}, func(p *gclog.Process) formats.Observer {
		f, _ := formats.Find("json")
		return everything{formats.NewWriter(f, &out, formats.Options{Process: *p})}
	})
	if _, err := r.Read(bytes.NewReader(x.out.text())); err != nil {
		t.Fatal(err)
	}
	r.Finish()
	counts := map[string]int{}
	for line := range bytes.Lines(out.text()) {
		var record struct{ Dotnet struct{ GC map[string]any } }
		if err := json.Unmarshal(line, &record); err != nil {
			t.Fatal(err)
		}
		for name := range record.Dotnet.GC {
			counts[name]++
		}
	}
	for _, name := range []string{"condemned", "allocated", "handles", "timing", "mark", "since_last", "alloc_rate", "pinned", "memory_load"} {
		if counts[name] == 0 {
			t.Errorf("no %s: %v", name, counts)
		}
	}
	for _, name := range []string{"mechanisms", "pause_mode", "imbalance"} {
		if counts[name] != 0 {
			t.Errorf("%d times %s, which the log has not", counts[name], name)
		}
	}
}

// gen0 is a whole collection; %s is replaced by further lines of it.
const gen0 = "[1.000s][info][gc,start] GC(1)         Pause Young (Allocation Failure)\n%s" +
	"[1.006s][info][gc,stats] GC(1)         DotNet: gen0 blocking, gen0=2568K->2211K, workers=unknown\n" +
	"[1.006s][info][gc] GC(1) Pause Young (Allocation Failure) 2568K->2211K(5260K) 5.701ms\n"

// detailLines returns one line of each kind, starting with its tags.
func detailLines() []string {
	return []string{
		"[gc,ergo] GC(1)         Condemned: initial=gen0, final=gen1, budget_exceeded=gen1, time_tuning=gen0, reasons=LowCardTable+BeforeOOM, gen0_budget=256K, memory_load_percent=15, workers=2",
		"[gc,alloc] GC(1)         Program: allocated=2560K, gen0=2560K, loh=0K, poh=0K, rate_per_second=52345K, since_last=48.902ms, ticks_small=2600K, ticks_large=0K, ticks_pinned=0K, workers=2",
		"[gc,ref] GC(1)         References: pinned=3, handles=120, sync_blocks=2, finalization=5, finalization_size=1K, pinned_plugs=7, workers=2",
		"[gc,phases] GC(1)         Phases: mark_roots=0.512ms, plan=0.101ms, workers=2",
		"[gc,phases] GC(1)         Roots: stack=0.123ms/56K, handles=0.007ms/0K, workers=2",
		"[gc,heap] GC(1)         Heap 0: gen0=2560K->56K, gen1=0K->2K, workers=2",
		"[gc,init]         Settings: hard_limit=204800K, loh_threshold=83K, physical_memory=8388608K, gen0_min_budget=256K, gen0_max_budget=6144K, high_memory_percent=90, workers=2",
		"[safepoint] Total time for which application threads were stopped: 0.0056931 seconds, Stopping threads took: 0.0000247 seconds, reason: ForGC",
	}
}

// TestDamagedDetails: a truncated or damaged line is counted, and has no effect.
func TestDamagedDetails(t *testing.T) {
	for _, text := range detailLines() {
		plain := one(t, false, fmt.Appendf(nil, gen0, ""))
		tags, _, _ := strings.Cut(text, "]")
		line := "[1.006s][info]" + text
		one(t, false, fmt.Appendf(nil, gen0, line+"\n"))
		damaged := map[string]bool{}
		for n := len("[1.006s][info]") + len(tags) + 3; n < len(line); n++ {
			damaged[line[:n]] = true
		}
		for _, m := range digit.FindAllStringIndex(text, -1) {
			damaged["[1.006s][info]"+text[:m[0]]+"x"+text[m[0]+1:]] = true
		}
		for line := range damaged {
			list, skipped := readBack(t, false, fmt.Appendf(nil, gen0, line+"\n"))
			if skipped[0].Count == 0 && !wholeDetail(line) {
				t.Errorf("not skipped: %s", line)
			}
			if skipped[0].Count > 0 {
				same(t, plain, list[0])
			}
			if len(list[0].stops) > 0 {
				t.Errorf("a suspension was read: %s", line)
			}
		}
	}
}

// digit matches a digit of a value, not of a name.
var digit = regexp.MustCompile(`\d[\dKms./]`)

// wholeDetail reports whether a truncated line is still a valid one.
func wholeDetail(line string) bool {
	for _, end := range []string{" GC(1)", " ", "Heap", "Heap ", "seconds"} {
		if strings.HasSuffix(line, end) && !strings.HasSuffix(line, ", ") && !strings.HasSuffix(line, ": ") && !strings.HasSuffix(line, " stopped: 0.0056931 seconds") {
			return true
		}
	}
	return false
}

// TestSettings: the limits of the GC are known at the start of the process, and are kept if a later
// file does not contain them.
func TestSettings(t *testing.T) {
	const settings = "[1.000s][debug][gc,init]         Settings: hard_limit=204800K, loh_threshold=83K, physical_memory=8388608K, gen0_min_budget=256K, gen0_max_budget=6144K, high_memory_percent=90, workers=unknown\n"
	want := clr.GCSettings{HardLimit: 200 << 20, LOHThreshold: 83 << 10, PhysicalMemoryConfig: 8 << 30, Gen0MinBudget: 256 << 10, Gen0MaxBudget: 6 << 20, HighMemoryPercent: 90}
	plain := head("[1.000s]", 7) + pauseLines("[1.000s]", 1)
	for _, files := range [][]string{
		{head("[1.000s]", 7) + settings + pauseLines("[1.000s]", 1), plain},
		{settings + plain},
	} {
		var process *gclog.Process
		r, _ := logs.NewReader(logs.Head{Format: "unified"}, func(p *gclog.Process) formats.Observer {
			process = p
			if !p.HasLimits || p.Limits != want {
				t.Errorf("%+v, want %+v", p.Limits, want)
			}
			return nil
		})
		for _, f := range files {
			if skipped, err := r.Read(strings.NewReader(f)); err != nil || skipped.Count > 0 {
				t.Errorf("%+v, %v", skipped, err)
			}
		}
		if !process.HasLimits || process.ID != 7 {
			t.Errorf("%+v", process)
		}
	}
}

// TestSafepointsOnly: such lines are sufficient to recognize a log, and are read.
func TestSafepointsOnly(t *testing.T) {
	const line = "[2026-11-21T00:30:37.567+0000][info][safepoint] Total time for which application threads were stopped: 0.0056931 seconds, Stopping threads took: 0.0000247 seconds, reason: ForProfiler\n"
	head, ok := logs.Recognize([]byte(line))
	if !ok || head.Format != "unified" || !head.Dated {
		t.Errorf("recognized as %+v, %t", head, ok)
	}
	x := one(t, false, []byte(line+line))
	if len(x.stops) != 2 || x.stops[0].Reason.String() != "ForProfiler" || x.stops[0].Duration != 5693100 || x.stops[0].Suspend != 24700 {
		t.Errorf("%+v", x.stops)
	}
	const short = "[2026-11-21T00:30:37.567+0000][info][safepoint] Total time for which application threads were stopped: 0.0056931 seconds, reason: ForProfiler\n"
	if x := one(t, false, []byte(short)); len(x.stops) != 1 || x.stops[0].Duration != 5693100 || x.stops[0].HasSuspend {
		t.Errorf("without the time to stop: %+v", x.stops)
	}
	if _, ok := logs.Recognize([]byte(strings.ReplaceAll(line, ", reason: ForProfiler", ""))); ok {
		t.Error("a line of Java is recognized")
	}
}

// TestDetailSelections: any selection of levels and lines results in records, one for each
// collection, and none for a collection of unknown kind.
func TestDetailSelections(t *testing.T) {
	x := recordWith(t, recording(t, "v6-wksb"), allLines(), nil)[0]
	text := x.out.text()
	own := []string{"gc", "gc,start", "gc,heap", "gc,stats"}
	for set := range 1 << len(own) {
		tags := []string{"gc,ergo", "gc,alloc", "gc,ref", "gc,phases", "safepoint"}
		for i, k := range own {
			if set&(1<<i) != 0 {
				tags = append(tags, k)
			}
		}
		var lines []byte
		for line := range bytes.Lines(text) {
			for _, tag := range tags {
				if bytes.Contains(line, []byte("]["+tag+"] ")) {
					lines = append(lines, line...)
				}
			}
		}
		if !slices.Contains(tags, "gc,stats") {
			if err := readError(t, lines); err == nil {
				t.Errorf("%s are read", tags)
			}
			continue
		}
		got := one(t, false, lines)
		kinds, allocated := map[uint32]gclog.Kind{}, map[uint32]bool{}
		for _, d := range x.gcs {
			kinds[d.Number], allocated[d.Number] = d.Kind, d.HasAllocated
		}
		seen := map[uint32]bool{}
		for _, d := range got.gcs {
			if background := d.Kind == gclog.KindBackground; seen[d.Number] || background != (kinds[d.Number] == gclog.KindBackground) {
				t.Errorf("%s: collection %d is %s", tags, d.Number, d.Kind)
			}
			seen[d.Number] = true
			if d.HasAllocated != allocated[d.Number] && d.Flaws == 0 {
				t.Errorf("%s: collection %d has no details", tags, d.Number)
			}
		}
		if len(got.stops) != len(x.stops) {
			t.Errorf("%s: %d suspensions, want %d", tags, len(got.stops), len(x.stops))
		}
	}
}
