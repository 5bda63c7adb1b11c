package logs_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/gclog/gclog/formats/logs"
	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/internal/testing/extent"
	"github.com/gclog/gclog/parse/clr"
)

var headIDs = regexp.MustCompile(`"gclog_file_id":"[0-9a-f]{16}"(.*?"gclog_doc_id":)"[0-9a-f]{32}"`)

// processID matches the pid, which is in each line of formats that may contain several processes.
var processID = regexp.MustCompile(`"pid":\d+|,\d+,[^,]*,[^,]*,(?:blocking|background|foreground),`)

// docID matches the ids of records that are identified by ticks, which json does not contain.
var docID = regexp.MustCompile(`"gclog_doc_id":"[0-9a-f]{32}",("event":\{[^}]*"action":"gc-)`)

// TestJSONAgain: a log that is read and written again is the same.
func TestJSONAgain(t *testing.T) {
	extent.Long(t)
	forEach(t, func(t *testing.T, stream []byte) {
		text, _ := record(t, stream, "json", facts)
		if text == nil {
			t.Skip("no records")
		}
		again, _, skipped := read(t, text)
		if skipped.Count != 0 {
			t.Errorf("lines %v were skipped", skipped.Lines)
		}
		sameLines(t, anonymous(text), anonymous(again))
	})
}

// TestJSONOrder: pauses and phases come in the order in which the events reported them.
func TestJSONOrder(t *testing.T) {
	forEach(t, func(t *testing.T, stream []byte) {
		text, all := record(t, stream, "json", nil)
		if text == nil {
			t.Skip("no records")
		}
		_, back, _ := read(t, text)
		for i, x := range all {
			sameLines(t, []byte(strings.Join(x.order, "\n")), []byte(strings.Join(back[i].order, "\n")))
		}
	})
}

func anonymous(text []byte) []byte {
	return docID.ReplaceAll(headIDs.ReplaceAll(text, nil), []byte("$1"))
}

// sameLines compares the lines of each process in two logs.
func sameLines(t *testing.T, want, got []byte) {
	t.Helper()
	if bytes.Equal(want, got) {
		return
	}
	byProcess := func(text []byte) (list [][]byte) {
		lines := map[string][][]byte{}
		for line := range bytes.SplitSeq(text, []byte{'\n'}) {
			id := string(processID.Find(line))
			lines[id] = append(lines[id], line)
		}
		for _, id := range slices.Sorted(maps.Keys(lines)) {
			list = append(list, lines[id]...)
		}
		return list
	}
	a, b := byProcess(want), byProcess(got)
	if len(a) != len(b) {
		t.Errorf("%d lines, want %d", len(b), len(a))
	}
	wrong := 0
	for i := range min(len(a), len(b)) {
		if !bytes.Equal(a[i], b[i]) {
			n := 0
			for n < min(len(a[i]), len(b[i])) && a[i][n] == b[i][n] {
				n++
			}
			from := max(0, n-80)
			t.Errorf("line %d is\n\t%s\nwant\n\t%s", i+1, b[i][from:min(len(b[i]), n+80)], a[i][from:min(len(a[i]), n+80)])
			if wrong++; wrong == 3 {
				return
			}
		}
	}
}

// TestJSONRecords: each record that is read is the one that was written, in everything that the
// format contains.
func TestJSONRecords(t *testing.T) {
	forEach(t, func(t *testing.T, stream []byte) {
		text, all := record(t, stream, "json", nil)
		if text == nil {
			t.Skip("no records")
		}
		_, back, _ := read(t, text)
		for i, x := range all {
			want, got := x.gcs(), back[i].gcs()
			if len(want) != len(got) {
				t.Fatalf("%d records, want %d", len(got), len(want))
			}
			for j, d := range want {
				sameRecord(t, heldByJSON(d, got[j], back[i].process.Sync.Sub(x.process.Sync).Nanoseconds(), back[i].process.Sync.UnixNano()), got[j])
			}
		}
	})
}

// TestFactsOfRecords: what the records contain about their process is known, though the header of
// the log was written before them.
func TestFactsOfRecords(t *testing.T) {
	forEach(t, func(t *testing.T, stream []byte) {
		for _, format := range []string{"json", "csv", "unified"} {
			text, written := record(t, stream, format, nil)
			if text == nil {
				t.Skip("no records")
			}
			if format == "unified" && len(written) > 1 {
				continue // it takes one process
			}
			type read struct {
				observed
				facts *gclog.Process
			}
			var all []*read
			h, _ := logs.Recognize(text[:min(len(text), logs.HeadSize)])
			r, err := logs.NewReader(h, func(p *gclog.Process) gclog.Observer {
				x := &read{facts: p}
				all = append(all, x)
				return x.Observe
			})
			if err == nil {
				_, err = r.Read(bytes.NewReader(text))
			}
			if err != nil {
				t.Fatal(err)
			}
			r.Finish()
			for _, x := range all {
				heaps := 0
				for _, d := range x.gcs() {
					if d.Type == clr.TypeBackground && x.facts.Concurrent != gclog.Yes {
						t.Fatalf("%s: whether there are background collections is %v, #%d is one", format, x.facts.Concurrent, d.Number)
					}
					if d.Global.Heaps > 0 {
						heaps = int(d.Global.Heaps)
					}
				}
				if heaps > 0 && x.facts.HeapCount != heaps || heaps > 1 && x.facts.Server != gclog.Yes {
					t.Errorf("%s: %d heaps, server %v; the last collection has %d", format, x.facts.HeapCount, x.facts.Server, heaps)
				}
			}
		}
	})
}

// sameRecord compares the fields of two records.
func sameRecord(t *testing.T, want, got *gclog.GCDetails) {
	t.Helper()
	a, b := reflect.ValueOf(want).Elem(), reflect.ValueOf(got).Elem()
	for i := range a.NumField() {
		f := a.Type().Field(i)
		if !f.IsExported() {
			continue
		}
		x, y := a.Field(i), b.Field(i)
		if x.Kind() == reflect.Slice && x.Len() == 0 && y.Len() == 0 || reflect.DeepEqual(x.Interface(), y.Interface()) {
			continue
		}
		if x.Kind() == reflect.Pointer && !x.IsNil() && !y.IsNil() {
			x, y = x.Elem(), y.Elem()
		}
		t.Errorf("%s of #%d is\n\t%+v\nwant\n\t%+v", f.Name, want.Number, y, x)
	}
}

// heldByJSON returns what a JSON log can contain of d, with times earlier by shift. Inexact values
// are taken from got.
func heldByJSON(d, got *gclog.GCDetails, shift, sync int64) *gclog.GCDetails {
	w := d.Clone()
	started := d.Flaws&gclog.FlawNoStart == 0
	if !started {
		w.Start = d.PauseStart()
	}
	w.Start -= shift
	w.StartTicks = sync + w.Start
	if d.Known.Has(gclog.GroupEnd) {
		w.End -= shift
	}
	for i := range w.Pauses {
		w.Pauses[i].Start -= shift
	}
	for i := range w.Dynamic {
		w.Dynamic[i].Time -= shift
	}
	if w.Memory.At != 0 {
		w.Memory.At -= shift
	}
	if w.Suspended -= shift; d.Suspended == 0 {
		w.Suspended = w.PauseStart()
	}
	if d.AllocationRate < 1 {
		w.AllocationRate = 0
	}
	if d.Known.Has(gclog.GroupTrigger) {
		delay, _ := d.TriggerDelay()
		w.Triggered = w.Suspended - delay
	}
	pinned(w, d)
	w.ClrInstance = 0
	w.Global = clr.GCGlobalHeapHistory{Heaps: int32(d.HeapCount()), Mechanisms: d.Global.Mechanisms, MemoryLoad: d.Global.MemoryLoad, FinalYoungestDesired: d.Global.FinalYoungestDesired}
	if d.Global.HasMemoryLoad {
		w.Global.PauseMode, w.Global.HasMemoryLoad = d.Global.PauseMode, true
	}
	steps, conditions, chosen := d.Condemned()
	w.Global.CondemnedGenerations, w.Global.Condemned, w.Global.HasCondemned = steps, conditions, chosen
	w.Heaps, w.FreeItems, w.Plugs = nil, nil, nil
	w.Summary = &gclog.HeapSummary{Gen0Imbalance: d.Gen0Imbalance(), SurvivedImbalance: d.SurvivedImbalance()}
	if chosen && len(d.Heaps) > 0 {
		w.Global.HasCondemned, w.Global.Condemned = d.Global.HasCondemned, d.Global.Condemned
		w.Summary.Reasons = reasons(d)
	}
	if until := d.MarkedUntil(); until != 0 && d.TimingCount == 0 {
		w.Summary.MarkedUntil = until - shift
	}
	if w.LOHCompactions = nil; len(d.LOHCompactions) > 0 {
		var c clr.LOHCompact
		for _, x := range d.LOHCompactions {
			c.PlanMicroseconds = max(c.PlanMicroseconds, x.PlanMicroseconds)
			c.RelocateMicroseconds = max(c.RelocateMicroseconds, x.RelocateMicroseconds)
			c.CompactMicroseconds = max(c.CompactMicroseconds, x.CompactMicroseconds)
			c.TotalRefs += x.TotalRefs
		}
		w.LOHCompactions = []clr.LOHCompact{c}
	}
	for m := range clr.MarkTypes {
		if mark := d.Mark(m); mark.Known {
			w.Summary.Marks[m] = mark
			if times := d.MarkTimes(nil, m); d.Known.Has(gclog.GroupTicks) && len(times) > 1 {
				w.Summary.MarkTimes = append(w.Summary.MarkTimes, times...)
			}
		}
	}
	if e, known := d.FreeListEfficiency(); known && chosen {
		w.Summary.FreeListEfficiency, w.Summary.HasEfficiency = 100*(e/100), true
	}
	for i := w.TimingCount; i < len(w.Timing); i++ {
		w.Timing[i] = 0
	}
	for g := range w.Generations {
		x := &w.Generations[g]
		if !d.Collected(g) {
			x.Survived, x.SurvivedPins, x.Budget, x.Promoted = 0, 0, 0, 0
		}
		if !d.Known.Has(gclog.GroupAllocated) {
			x.Allocated = 0
		}
	}
	if !d.Known.Has(gclog.GroupBefore) && !d.Known.Has(gclog.GroupAfter) {
		w.Generations, w.GenerationCount = [gclog.Generations]gclog.GenerationDetails{}, 0
		w.Peak, w.PromotedBytes, w.Fragmentation, w.CommittedBefore, w.CommittedAfter = 0, 0, 0, 0, 0
		w.Known &^= gclog.GroupPromoted | gclog.GroupGenerationPromoted | gclog.GroupFragmentation | gclog.GroupCommittedBefore | gclog.GroupCommittedAfter
	}
	if b := w.Background; b != nil {
		for i := range b.Waits {
			b.Waits[i].Start -= shift
		}
		for _, at := range []*int64{&b.MarkStart, &b.MarkEnd, &b.SweepStart, &b.SweepEnd} {
			if *at != 0 {
				*at -= shift
			}
		}
		if b.MarkStart == 0 || b.MarkEnd == 0 {
			b.MarkStart, b.MarkEnd = 0, 0
		}
		if b.SweepStart == 0 || b.SweepEnd == 0 {
			b.SweepStart, b.SweepEnd = 0, 0
		}
		for i := range b.Phase {
			if b.Phase[i] != 0 {
				b.Phase[i] -= shift
			}
		}
	}
	w.Known.Set(gclog.GroupDatasTuning8, d.Known.Has(gclog.GroupDatasTuning8) && !d.Known.Has(gclog.GroupDatasTuning))
	w.Datas = datasInJSON(w.Known, &d.Datas)
	return w
}

// reasons returns the reasons of the heaps, with heaps grouped that have the same ones.
func reasons(d *gclog.GCDetails) (list []gclog.HeapReasons) {
	for _, h := range d.Heaps {
		if !h.HasHistory {
			continue
		}
		x := &h.History
		r := gclog.HeapReasons{Heap: h.Heap, CondemnedGenerations: x.CondemnedGenerations & 255, Condemned: x.Condemned, Compact: x.Compact.Reason(), Expand: x.Expand.Reason()}
		at := len(list)
		for i := range list {
			before := list[i]
			before.Heap = r.Heap
			if before == r {
				at = i + 1
			}
		}
		list = slices.Insert(list, at, r)
	}
	return list
}

func datasInJSON(known gclog.Groups, d *gclog.DatasDetails) (w gclog.DatasDetails) {
	cost := func(v float32) float32 {
		if v >= 0 && v <= 1e6 {
			return v
		}
		return float32(math.NaN())
	}
	if known.Has(gclog.GroupDatasSample) {
		w.Sample = clr.SizeAdaptationSample{
			StableSize: d.Sample.StableSize, Gen0BudgetPerHeap: d.Sample.Gen0BudgetPerHeap,
			SOHLockMicroseconds: d.Sample.SOHLockMicroseconds, UOHLockMicroseconds: d.Sample.UOHLockMicroseconds,
		}
	}
	if known.Has(gclog.GroupDatasSample8) {
		w.Sample8.LockMicroseconds = d.Sample8.LockMicroseconds
	}
	if known.Has(gclog.GroupDatasTuning) {
		w.Tuning = clr.SizeAdaptationTuning{
			NewHeaps: d.Tuning.NewHeaps, MinHeaps: d.Tuning.MinHeaps, MaxHeaps: d.Tuning.MaxHeaps,
			MedianThroughputCost: cost(d.Tuning.MedianThroughputCost),
		}
	}
	if known.Has(gclog.GroupDatasTuning8) {
		w.Tuning8 = clr.HeapCountTuning{NewHeaps: d.Tuning8.NewHeaps, MedianThroughputCost: cost(d.Tuning8.MedianThroughputCost)}
	}
	if known.Has(gclog.GroupDatasFullGCTuning) {
		w.FullGCTuning = clr.SizeAdaptationFullGCTuning{NewHeaps: d.FullGCTuning.NewHeaps, MedianGen2Cost: cost(d.FullGCTuning.MedianGen2Cost)}
	}
	return w
}

// TestJSONAnyOrder: a record is the same with its members in any order, with others among them at
// every level, with blanks, and with escapes.
func TestJSONAnyOrder(t *testing.T) {
	text := sample(t, "gc.json")
	_, want, _ := read(t, text)
	random := rand.New(rand.NewPCG(1, 2))
	var shuffled []byte
	for line := range bytes.Lines(text) {
		dec := json.NewDecoder(bytes.NewReader(line))
		dec.UseNumber()
		var v any
		if err := dec.Decode(&v); err != nil {
			t.Fatal(err)
		}
		shuffled = append(appendShuffled(shuffled, v, random), " \r\n"...)
	}
	_, got, skipped := read(t, shuffled)
	if skipped.Count != 0 {
		t.Errorf("lines %v were skipped", skipped.Lines)
	}
	if !reflect.DeepEqual(want[0].process, got[0].process) {
		t.Errorf("the process is\n\t%+v\nwant\n\t%+v", got[0].process, want[0].process)
	}
	sameCalls(t, want[0], got[0])
}

func sameCalls(t *testing.T, want, got *observed) {
	t.Helper()
	if len(want.calls) != len(got.calls) || len(want.calls) == 0 {
		t.Fatalf("%d calls, want %d", len(got.calls), len(want.calls))
	}
	for i, c := range want.calls {
		switch c := c.(type) {
		case *gclog.GCDetails:
			sameRecord(t, c, got.calls[i].(*gclog.GCDetails))
		case *gclog.Pause:
			sameWithoutGC(t, c, got.calls[i])
		case *gclog.Phase:
			sameWithoutGC(t, c, got.calls[i])
		default:
			if !reflect.DeepEqual(c, got.calls[i]) {
				t.Errorf("call %d is %+v, want %+v", i, got.calls[i], c)
			}
		}
	}
}

// sameWithoutGC compares pauses and phases without their records, which are valid during the call
// only.
func sameWithoutGC(t *testing.T, want, got any) {
	t.Helper()
	bare := func(x any) any {
		switch x := x.(type) {
		case *gclog.Pause:
			p := *x
			p.GC = nil
			return p
		case *gclog.Phase:
			p := *x
			p.GC = nil
			return p
		}
		return nil
	}
	if !reflect.DeepEqual(bare(want), bare(got)) {
		t.Errorf("it is %+v, want %+v", bare(got), bare(want))
	}
}

// appendShuffled appends v as valid JSON in an unusual form.
func appendShuffled(dst []byte, v any, random *rand.Rand) []byte {
	switch v := v.(type) {
	case map[string]any:
		var members [][]byte
		for name, value := range v {
			m := append(appendEscaped(nil, name, random), " :\t"...)
			members = append(members, appendShuffled(m, value, random))
		}
		members = append(members,
			[]byte(`"agent":{"a":[{"b":"}]\\"},[],{}],"c":null}`), []byte(`"other":-1.5e3`), []byte(`"flag":true`), []byte(`"nothing":null`), []byte(`"":""`))
		slices.SortFunc(members, bytes.Compare) // a map has no order to shuffle
		random.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
		dst = append(dst, '{', ' ')
		dst = append(dst, bytes.Join(members, []byte(" , "))...)
		return append(dst, '}')
	case []any:
		dst = append(dst, "[ "...)
		for i, e := range v {
			if i > 0 {
				dst = append(dst, " ,"...)
			}
			dst = appendShuffled(dst, e, random)
		}
		return append(dst, " ]"...)
	case string:
		return appendEscaped(dst, v, random)
	case json.Number:
		return append(dst, v...)
	default:
		b, _ := json.Marshal(v)
		return append(dst, b...)
	}
}

func appendEscaped(dst []byte, s string, random *rand.Rand) []byte {
	dst = append(dst, '"')
	for _, u := range utf16.Encode([]rune(s)) {
		if u < 0x80 && u != '"' && u != '\\' && u >= ' ' && random.IntN(3) > 0 {
			dst = append(dst, byte(u))
		} else {
			dst = fmt.Appendf(dst, "\\u%04X", u)
		}
	}
	return append(dst, '"')
}

// TestJSONTexts: the texts of a process are restored, whatever they contain.
func TestJSONTexts(t *testing.T) {
	for _, name := range []string{"Shop", `"\/`, "\x00\x1f\n\r\t\b\f\x7f", "é日😀\u2028\u0085", strings.Repeat("\\", 1000), "{}[],:"} {
		p := gclog.Process{ID: 7, Name: name, Executable: "/" + name, Service: name, Cookie: name + "c", Sync: time.Unix(1e9, 5).UTC()}
		var out memory
		x := &observed{}
		x.writeTo("json", &out, &p)
		x.Observe(&gclog.Start{At: 10, Providers: name})
		x.Observe(&gclog.End{At: 20, Reason: gclog.EndExited, ExitCode: -3, HasCode: true, Message: name})
		again, back, skipped := read(t, out.text)
		if len(back) != 1 || skipped.Count != 0 {
			t.Errorf("%q: %d processes, lines %v skipped", name, len(back), skipped.Lines)
			continue
		}
		got := back[0].process
		if got.Name != p.Name || got.Executable != p.Executable || got.Service != p.Service || got.Cookie != p.Cookie || got.ID != 7 {
			t.Errorf("the process is %+v, want %+v", got, p)
		}
		if !got.Sync.Equal(p.Sync.Add(10)) {
			t.Errorf("its clock is %v, want %v", got.Sync, p.Sync.Add(10))
		}
		sameLines(t, anonymous(out.text), anonymous(again))
	}
}

// TestJSONOthers: records without a collection are restored too.
func TestJSONOthers(t *testing.T) {
	p := gclog.Process{ID: 7, Sync: time.Unix(1e9, 5).UTC(), HasLimits: true, Server: gclog.Yes, Concurrent: gclog.No, HeapCount: 4, GCLibrary: "libclrgc.so"}
	p.Limits = clr.GCSettings{
		HardLimit: 1, LOHThreshold: math.MaxUint64, PhysicalMemoryConfig: 3, Gen0MinBudget: 4, Gen0MaxBudget: 5,
		HighMemoryPercent: 90, Bits: clr.SettingLargePages | clr.SettingNoAffinitize,
	}
	p.Started = p.Sync.Add(-time.Hour)
	p.UptimeAtSync = time.Hour
	p.Service, p.ServiceVersion, p.ContainerID, p.ContainerName = "shop", "1.2", "0123", "api"
	p.Namespace, p.Pod, p.PodUID = "prod", "shop-0", "4f6b"
	p.Labels = map[string]string{"team": "orders \"1\"", "\u2028": "é"}
	var out memory
	x := &observed{}
	x.writeTo("json", &out, &p)
	ticks := func(at int64) int64 { return p.Sync.UnixNano() + at }
	verdicts := map[int]*gclog.Verdict{
		1: {GC: "yes", Cause: "induced", Text: "It is \"that\"\x1b[31m.", First: "gclog induced 'a\nb'", Paused: 12.5, HasPaused: true, ExplainsPaused: 100, ExplainsBytes: math.MaxUint64},
		3: {GC: "unknown", Cause: "unknown", Text: "Too little to say."},
	}
	x.Observe(&gclog.Start{At: 0, Ticks: ticks(0), Providers: "a:1"})
	for i := range 5 {
		at := int64(i) * 100
		x.Observe(&gclog.Pause{PausePart: gclog.PausePart{Kind: gclog.PauseNoGCRegion + gclog.PauseKind(i%4), Start: at, Duration: 50, Suspend: 20, HasSuspend: true}, Ticks: ticks(at), UsedNumber: uint32(i), CPU: gclog.CPUShortage{Interval: int64(i), Throttled: 5}})
		x.Observe(&gclog.Gap{Reason: gclog.GapReason(i), Time: at, Ticks: ticks(at), From: 3, To: 5, LostEvents: uint64(i), Records: uint64(i)})
		s := gclog.Stall{Now: at, Threshold: 1e9}
		s.Ticks, s.Since, s.Kind = ticks(at), at-2e9, gclog.OpenKind(i%2)
		if i%2 == 0 {
			s.Number, s.HasNumber, s.Generation, s.Type, s.Reason, s.HasReason = 5, true, 2, clr.GCType(i), clr.Reason(40+i), true
		}
		x.Observe(&s)
		g := gclog.HeapGrowth{At: at, Ticks: ticks(at)}
		for k := range i {
			g.Snapshots = append(g.Snapshots, gclog.HeapSnapshot{File: "/heap/é\u2028 " + fmt.Sprint(k), Time: p.Sync.Add(time.Duration(k))})
			if k == 2 {
				g.Snapshots[k].Time = time.Time{}
			}
			g.Types = append(g.Types, gclog.TypeGrowth{Type: "A<\x1b\"" + fmt.Sprint(k), Objects: 3, Bytes: math.MaxUint64, ObjectsDiff: -5, BytesDiff: math.MaxInt64 - int64(k), EveryTime: k == 1})
		}
		x.Observe(&g)
		x.Observe(&gclog.End{At: at, Ticks: ticks(at), Reason: gclog.EndReason(i % 5), ExitCode: map[int]int{1: 7}[i], HasCode: i == 1, Signal: map[int]int{2: 15, 3: 9}[i], Verdict: verdicts[i]})
	}
	again, back, skipped := read(t, out.text)
	if skipped.Count != 0 {
		t.Errorf("lines %v were skipped", skipped.Lines)
	}
	sameCalls(t, x, back[0])
	p.ServerFrom = gclog.EvidenceRecorded
	if !reflect.DeepEqual(back[0].process, p) {
		t.Errorf("the process is\n\t%+v\nwant\n\t%+v", back[0].process, p)
	}
	sameLines(t, headIDs.ReplaceAll(out.text, nil), headIDs.ReplaceAll(again, nil))
}

// TestJSONForeign: lines of other programs are counted, with their numbers, and those of a newer
// gclog are skipped.
func TestJSONForeign(t *testing.T) {
	text := sample(t, "gc.json")
	lines := bytes.SplitAfter(text, []byte{'\n'})
	foreign := []string{
		"hello", `{"@timestamp":"2026-11-21T00:30:37.300000000Z","log.level":"info","message":"order 5 is paid"}`, "{", "{}", "[]", "null",
		`{"@timestamp":"2026-11-21T00:30:37.300000000Z","event":{"action":"gc"},"gclog":{"schema":"2.0"}}`,
		`{"@timestamp":"1969-11-21T00:30:37.300000000Z","event":{"action":"gc"},"gclog":{"schema":"1.0"}}`,
		`{"event":{"action":"gc"},"gclog":{"schema":"1.0"}}`,
	}
	var mixed []byte
	for i, f := range foreign {
		mixed = append(append(mixed, lines[i]...), f+"\n"...)
	}
	mixed = append(mixed, bytes.Join(lines[len(foreign):], nil)...)
	mixed = append(mixed, "\n"+`{"@timestamp":"2026-11-21T00:30:37.300000000Z","event":{"action":"gc-news"},"gclog":{"schema":"1.7"}}`+"\n"...)
	_, want, _ := read(t, text)
	_, got, skipped := read(t, mixed)
	sameCalls(t, want[0], got[0])
	if skipped.Count != int64(len(foreign)) || !slices.Equal(skipped.Lines, []int64{2, 4, 6, 8, 10, 12, 14, 16, 18}) {
		t.Errorf("%d were skipped: %v", skipped.Count, skipped.Lines)
	}
}

// TestJSONFull: values that no recording contains are restored too, up to the limits of the lists.
func TestJSONFull(t *testing.T) {
	p := gclog.Process{ID: 7, Sync: time.Unix(1e9, 5).UTC()}
	var out memory
	x := &observed{}
	x.writeTo("json", &out, &p)
	d := &gclog.GCDetails{
		Number: 1, Known: gclog.GroupNumber | gclog.GroupReason | gclog.GroupEnd | gclog.GroupTicks | gclog.GroupTrigger | gclog.GroupsDatas&^gclog.GroupDatasTuning, Generation: 2, Kind: gclog.KindBackground, Type: clr.TypeBackground, Reason: 99,
		Provisional: true, HeapDump: true, HeapDumpBy: gclog.RequesterGclog, Complete: true, Start: 10, End: 5000,
		Window: 1e9, TickAllocated: [3]uint64{1, 2, 3},
		PinEvents: 1, PinEventBytes: 2, PinPlugs: 3, PinPlugBytes: 4, Trigger: math.MaxUint64, Suspended: 5, Triggered: 2,
		Summary: &gclog.HeapSummary{Gen0Imbalance: 1.5, SurvivedImbalance: 2},
		Datas: gclog.DatasDetails{
			Sample8: clr.HeapCountSample{LockMicroseconds: 1e12},
			Sample:  clr.SizeAdaptationSample{StableSize: 1, Gen0BudgetPerHeap: math.MaxUint32, SOHLockMicroseconds: math.MaxUint32, UOHLockMicroseconds: 4},
			Tuning8: clr.HeapCountTuning{NewHeaps: math.MaxUint16, MedianThroughputCost: 12.34}, FullGCTuning: clr.SizeAdaptationFullGCTuning{NewHeaps: 3, MedianGen2Cost: 1.5},
		},
	}
	d.Known |= gclog.GroupGlobal | gclog.GroupCompaction
	d.Global = clr.GCGlobalHeapHistory{
		Mechanisms: 1<<31 | clr.MechanismConcurrent, HasMemoryLoad: true, PauseMode: 77, MemoryLoad: 100, Heaps: math.MaxInt32,
		HasCondemned: true, Condemned: 1<<31 | clr.CondemnedLowCardTable, CondemnedGenerations: 0xe4,
	}
	for m := range clr.MarkTypes {
		d.Summary.Marks[m] = gclog.MarkSummary{Longest: int64(m), HasHeap: true, Promoted: uint64(m), Known: true}
		for heap := range uint32(500) {
			d.Summary.MarkTimes = append(d.Summary.MarkTimes, gclog.MarkTime{Heap: heap, From: m, Duration: int64(m)})
		}
	}
	for i := range 70 {
		kind := gclog.PauseFinal
		if i == 0 {
			kind = gclog.PauseInitial
		}
		d.Pauses = append(d.Pauses, gclog.PausePart{Kind: kind, Start: int64(10 + 20*i), Duration: 10, Suspend: 2, HasSuspend: true, Resume: 1, HasResume: true})
	}
	for i := range 20 {
		d.Dynamic = append(d.Dynamic, gclog.DynamicEvent{Time: int64(i + 1), Name: fmt.Sprint("event ", i), Data: bytes.Repeat([]byte{byte(i), 0xfe}, 600)})
	}
	d.Background = &gclog.BackgroundDetails{
		MarkStart: 20, MarkEnd: 30, SweepStart: 40, SweepEnd: 5000, Overflowed: 5, WaitCount: 6, WaitTime: 7, WaitMax: 4,
		Revisited: [2][2]gclog.Revisit{{{Pages: 1, References: 2}, {Pages: 3, References: 4}}, {{Pages: 5, References: 6}, {Pages: 7, References: 8}}},
	}
	for i := range d.Background.Phase {
		d.Background.Phase[i] = int64(100 + i)
	}
	d.Memory = gclog.Memory{Resident: 1, Cgroup: 2, CgroupLimit: math.MaxUint64, At: 6000}
	d.Threads = 7
	d.CPU = gclog.CPUShortage{
		Interval: 1, Pressure: 45.25, GroupPressure: 100, Throttled: 2, Throttles: 3, Waited: 4, WaitedInterval: 5, Runnable: 6, Processors: math.MaxInt32,
	}
	x.Observe(d)
	again, back, skipped := read(t, out.text)
	if len(back) != 1 || skipped.Count != 0 {
		t.Fatalf("%d processes, lines %v skipped", len(back), skipped.Lines)
	}
	got := back[0].gcs()[0]
	const shift = 10
	want := heldByJSON(d, got, shift, back[0].process.Sync.UnixNano())
	want.Pauses = want.Pauses[:64]
	want.Pauses[63].Duration += 6 * 10 // no time is lost
	want.Summary.MarkTimes = want.Summary.MarkTimes[:4096]
	want.Dynamic = want.Dynamic[:16]
	for i := range want.Dynamic {
		want.Dynamic[i].Data = want.Dynamic[i].Data[:1024]
	}
	sameRecord(t, want, got)
	if len(again) == 0 {
		t.Error("it is not written again")
	}
}

// TestJSONOfOtherLogs: a record read from a log with only sums is unchanged after it was written to
// json and read again.
func TestJSONOfOtherLogs(t *testing.T) {
	const heapOnly = "\n2000.000,90,0,NonConcurrentGC,AllocSmall,,0.1,1.0,,,,,,,,,,,,,,29336,2026-11-21T00:30:39.300000Z,1.0,blocking,1999.900,,,,5000,4000,5000,,,,,,,,,,,,True,0"
	text := sample(t, "gc.csv")
	header, _, _ := bytes.Cut(text, []byte{'\n'})
	rest := strings.Repeat(",", bytes.Count(header, []byte{','})-strings.Count(heapOnly, ",")) + "\n"
	_, all, skipped := read(t, append(append(text, heapOnly...), rest...))
	if skipped.Count != 0 {
		t.Fatalf("lines %v were skipped", skipped.Lines)
	}
	var out memory
	w := &observed{}
	w.writeTo("json", &out, &all[0].process)
	for _, d := range all[0].gcs() {
		w.Observe(d)
	}
	_, back, _ := read(t, out.text)
	p, q := &all[0].process, &back[0].process
	for i, d := range all[0].gcs() {
		got := back[0].gcs()[i]
		want := heldByJSON(d, got, q.Sync.Sub(p.Sync).Nanoseconds(), q.Sync.UnixNano())
		sameRecord(t, want, got)
	}
}

// TestJSONDerived: what gclog derives from other members may be of any type in a log that something else
// has changed.
func TestJSONDerived(t *testing.T) {
	const line = `{"@timestamp":"2026-11-21T00:00:01.000000000Z","event":{"action":"gc-gap"},"process":{"pid":7},` +
		`"host":{"hostname":%s,"name":"node"},"orchestrator":{"type":%[1]s,"resource":{"type":%[1]s}},` +
		`"dotnet":{"gc":{"gap":{"from":3,"to":4,"reason":"missed-gcs"}}},"gclog":{"schema":"1.2"}}` + "\n"
	for _, value := range []string{`"x"`, `5`, `["a"]`, `{"k8s":1}`, `null`} {
		if _, back, skipped := read(t, fmt.Appendf(nil, line, value)); skipped.Count != 0 || len(back) != 1 || back[0].process.Host != "node" {
			t.Errorf("%s: %d processes, lines %v were skipped", value, len(back), skipped.Lines)
		}
	}
}
