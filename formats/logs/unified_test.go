package logs_test

import (
	"bytes"
	"cmp"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/formats/fields"
	"github.com/gclog/gclog/formats/logs"
	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/internal/rotate"
	"github.com/gclog/gclog/internal/testing/extent"
	"github.com/gclog/gclog/internal/testing/recordings"
	"github.com/gclog/gclog/parse/clr"
)

// pages is an Output that starts a new file when cut returns true.
type pages struct {
	cut   func(hold bool) bool
	files [][]byte
}

func (p *pages) Write(head formats.Head, group []byte, hold bool) error {
	if len(p.files) == 0 || p.cut != nil && p.cut(hold) {
		p.files = append(p.files, head.Append(nil, len(p.files)+1))
	}
	last := len(p.files) - 1
	p.files[last] = append(p.files[last], group...)
	return nil
}

func (p *pages) text() []byte { return bytes.Join(p.files, nil) }

// unifiedLog keeps what an Observer of one process receives, and writes it.
type unifiedLog struct {
	process gclog.Process
	pauses  []gclog.Pause
	phases  []gclog.Phase
	gcs     []*gclog.GCDetails
	stops   []gclog.Suspension
	out     pages
	w       *formats.Writer
	newest  int64
}

func newUnifiedLog(p *gclog.Process, o formats.Options, cut func(bool) bool) *unifiedLog {
	f, err := formats.Find("unified")
	if err != nil {
		panic(err)
	}
	x := &unifiedLog{process: *p}
	x.out.cut = cut
	o.Process = *p
	x.w = formats.NewWriter(f, &x.out, o)
	return x
}

// Observe takes a record.
func (x *unifiedLog) Observe(r gclog.Record) {
	switch r := r.(type) {
	case *gclog.Start:
		x.w.Observe(r)
	case *gclog.Pause:
		x.w.Observe(r)
		x.newest = max(x.newest, r.Start+r.Duration)
		x.pauses = append(x.pauses, *gclog.CloneRecord(r).(*gclog.Pause))
	case *gclog.Phase:
		x.w.Observe(r)
		x.newest = max(x.newest, r.Time)
		x.phases = append(x.phases, *gclog.CloneRecord(r).(*gclog.Phase))
	case *gclog.GCDetails:
		x.w.Observe(r)
		x.gcs = append(x.gcs, r.Clone())
	case *gclog.Suspension:
		x.w.Observe(r)
		x.newest = max(x.newest, r.Start+r.Duration)
		x.stops = append(x.stops, *r)
	}
}

func (x *unifiedLog) end(at int64) { x.w.Observe(&gclog.End{At: at, Reason: gclog.EndOfLog}) }

// recordUnified converts a recording, as gclog convert does.
func recordUnified(t testing.TB, stream []byte, dotnet bool, cut func(bool) bool) (list []*unifiedLog) {
	t.Helper()
	return recordWith(t, stream, formats.Options{DotnetCauses: dotnet}, cut)
}

func recordWith(t testing.TB, stream []byte, o formats.Options, cut func(bool) bool) (list []*unifiedLog) {
	t.Helper()
	processes := gclog.NewProcesses(func(p *gclog.Process) gclog.Observer {
		x := newUnifiedLog(p, o, cut)
		x.Observe(&gclog.Start{})
		list = append(list, x)
		return x.Observe
	})
	drain(t, stream, processes)
	for _, x := range list {
		x.end(processes.Latest())
	}
	return list
}

// readBack reads the files of a log, and writes them in the same format.
func readBack(t testing.TB, dotnet bool, files ...[]byte) (list []*unifiedLog, skipped []logs.Skipped) {
	t.Helper()
	return readWith(t, formats.Options{DotnetCauses: dotnet}, files...)
}

func readWith(t testing.TB, o formats.Options, files ...[]byte) (list []*unifiedLog, skipped []logs.Skipped) {
	t.Helper()
	r, err := logs.NewReader(logs.Head{Format: "unified"}, func(p *gclog.Process) gclog.Observer {
		x := newUnifiedLog(p, o, nil)
		list = append(list, x)
		return x.Observe
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		s, err := r.Read(bytes.NewReader(f))
		if err != nil {
			t.Fatal(err)
		}
		skipped = append(skipped, s)
	}
	r.Finish()
	for _, x := range list {
		x.end(x.newest)
	}
	return list, skipped
}

// one reads a log of one process in which no line is skipped.
func one(t testing.TB, dotnet bool, files ...[]byte) *unifiedLog {
	t.Helper()
	return oneWith(t, formats.Options{DotnetCauses: dotnet}, files...)
}

func oneWith(t testing.TB, o formats.Options, files ...[]byte) *unifiedLog {
	t.Helper()
	list, skipped := readWith(t, o, files...)
	for i, s := range skipped {
		if s.Count > 0 {
			t.Errorf("file %d: %d lines skipped: %d", i, s.Count, s.Lines)
		}
	}
	if len(list) != 1 {
		t.Fatalf("%d processes", len(list))
	}
	return list[0]
}

// forEachRecording runs a test for each recording; with -short only for those in the repository.
func forEachRecording(t *testing.T, run func(t *testing.T, stream []byte)) {
	one := func(t *testing.T, tr recordings.Trace) {
		t.Parallel()
		run(t, recordings.Read(t, tr.Path))
	}
	recordings.ForEach(t, one)
}

// TestRoundTrip: what was read is written with the same bytes, and equals what the Reducer emitted.
func TestRoundTrip(t *testing.T) {
	forEachRecording(t, func(t *testing.T, stream []byte) {
		for _, dotnet := range []bool{false, true} {
			t.Run(fmt.Sprintf("dotnet %t", dotnet), func(t *testing.T) {
				for _, x := range recordUnified(t, stream, dotnet, nil) {
					if text := x.out.text(); len(text) > 0 {
						y := one(t, dotnet, text)
						sameLines(t, workers.ReplaceAll(text, nil), workers.ReplaceAll(y.out.text(), nil))
						sameRecords(t, x, y)
					}
				}
			})
		}
	})
}

// sameRecords compares what was read with what the Reducer emitted.
func sameRecords(t *testing.T, want, got *unifiedLog) {
	t.Helper()
	shift := int64(got.process.Sync.Sub(want.process.Sync))
	if len(want.pauses) != len(got.pauses) {
		t.Fatalf("%d pauses, want %d", len(got.pauses), len(want.pauses))
	}
	for i := range want.pauses {
		p, q := want.pauses[i], got.pauses[i]
		if p.GC == nil {
			p.Resume, p.HasResume = 0, false
		}
		if p.PausePart = heldPause(p.PausePart, shift); p.PausePart != q.PausePart || p.UsedNumber != q.UsedNumber || (p.GC == nil) != (q.GC == nil) {
			t.Fatalf("pause %d is %+v, want %+v", i, q, p)
		}
		if p.GC != nil && p.GC.Known.Has(gclog.GroupNumber) && p.GC.Number != q.GC.Number {
			t.Fatalf("pause %d is of %d, want %d", i, q.GC.Number, p.GC.Number)
		}
	}
	read := map[uint32]*gclog.GCDetails{}
	for _, d := range got.gcs {
		if read[d.Number] != nil {
			t.Fatalf("collection %d is read twice", d.Number)
		}
		read[d.Number] = d
	}
	for _, d := range want.gcs {
		if len(d.Pauses) == 0 {
			continue // it may have no line
		}
		if read[d.Number] == nil {
			t.Fatalf("collection %d is missing", d.Number)
		}
		sameRecord(t, heldByUnified(d, read[d.Number], shift), read[d.Number])
	}
}

// heldPause returns what a log contains of a pause, with a time earlier by shift.
func heldPause(p gclog.PausePart, shift int64) gclog.PausePart {
	p.Start -= shift
	return p
}

// heldByUnified returns what a DotNet line contains of d, with times earlier by shift. The number of
// heaps is that of the last collection that reported it.
func heldByUnified(d, got *gclog.GCDetails, shift int64) *gclog.GCDetails {
	w := &gclog.GCDetails{
		Known:  d.Known & (gclog.GroupNumber | gclog.GroupReason | gclog.GroupEnd | gclog.GroupBefore | gclog.GroupAfter),
		Number: d.Number, Index: got.Index, Generation: d.Generation, Kind: d.Kind,
		Type:   [...]clr.GCType{clr.TypeBlocking, clr.TypeBackground, clr.TypeForeground}[d.Kind],
		Reason: d.Reason, HeapDump: d.HeapDump, HeapDumpBy: d.HeapDumpBy,
		Flaws: d.Flaws, Complete: d.Complete, FromLog: true, Start: d.Start, End: d.End,
	}
	if d.DemotedBGC {
		w.Type = clr.TypeBackground
	}
	w.Global.Heaps = got.Global.Heaps
	if compacting, known := d.Compacting(); known && d.Kind != gclog.KindBackground {
		w.Known |= gclog.GroupCompaction
		if compacting {
			w.Global.Mechanisms = clr.MechanismCompaction
		}
	}
	for _, value := range fields.Line("DotNet:") {
		for _, f := range value.Fields {
			if v, known := f.Get(d); known {
				f.Set(w, v)
			}
		}
	}
	if d.Known.Has(gclog.GroupHistory) {
		w.Known |= gclog.GroupObjects
	}
	if d.Known.Has(gclog.GroupGenerationAllocated) {
		w.Allocated, w.Known = d.Allocated, w.Known|gclog.GroupAllocated
	}
	for _, p := range d.Pauses {
		w.Pauses = append(w.Pauses, heldPause(p, shift))
	}
	w.Suspended = w.PauseStart()
	w.Start -= shift
	if d.Flaws&gclog.FlawNoStart != 0 {
		w.Start = w.Suspended
	}
	w.StartTicks = got.StartTicks
	if d.Known.Has(gclog.GroupEnd) {
		w.End -= shift
	}
	if b := d.Background; b != nil {
		w.Background = &gclog.BackgroundDetails{Waits: got.Background.Waits}
		for i, at := range []int64{b.MarkStart, b.MarkEnd, b.SweepStart, b.SweepEnd} {
			if at != 0 {
				*[]*int64{&w.Background.MarkStart, &w.Background.MarkEnd, &w.Background.SweepStart, &w.Background.SweepEnd}[i] = at - shift
			}
		}
	}
	w.Peak = d.Peak
	if d.Known.Has(gclog.GroupBefore) || d.Known.Has(gclog.GroupAfter) {
		w.GenerationCount = d.GenerationCount
	}
	for g := range w.GenerationCount {
		if d.Known.Has(gclog.GroupBefore) {
			w.Generations[g].Before = d.Generations[g].Before
		}
		if d.Known.Has(gclog.GroupAfter) {
			w.Generations[g].After = d.Generations[g].After
		}
		if x := &w.Generations[g]; d.Known.Has(gclog.GroupHistory) {
			x.ObjectsBefore, x.ObjectsAfter = d.Generations[g].ObjectsBefore, x.After-min(x.After, x.Fragmentation)
		}
	}
	return w
}

// sampleLog returns the log of a recording with background collections.
func sampleLog(t testing.TB, cut func(bool) bool) *unifiedLog {
	t.Helper()
	path := filepath.Join(recordings.Root(), "testdata", "traces", "v6-wksb.nettrace.gz")
	return recordUnified(t, recordings.Read(t, path), false, cut)[0]
}

// same checks that two logs have the same contents.
func same(t *testing.T, want, got *unifiedLog) {
	t.Helper()
	if len(want.pauses) != len(got.pauses) || len(want.phases) != len(got.phases) || len(want.gcs) != len(got.gcs) {
		t.Fatalf("%d pauses, %d phases, %d collections, want %d, %d, %d", len(got.pauses), len(got.phases), len(got.gcs), len(want.pauses), len(want.phases), len(want.gcs))
	}
	for i := range want.pauses {
		if !reflect.DeepEqual(want.pauses[i], got.pauses[i]) {
			t.Fatalf("pause %d: %+v of %+v\nwant %+v of %+v", i, got.pauses[i], got.pauses[i].GC, want.pauses[i], want.pauses[i].GC)
		}
	}
	for i := range want.phases {
		if !reflect.DeepEqual(want.phases[i], got.phases[i]) {
			t.Fatalf("phase %d: %+v, want %+v", i, got.phases[i], want.phases[i])
		}
	}
	for i := range want.gcs {
		if !reflect.DeepEqual(want.gcs[i], got.gcs[i]) {
			t.Fatalf("collection %d: %+v, want %+v", i, got.gcs[i], want.gcs[i])
		}
	}
}

// TestSeries: headers are in the middle of a series, and files may start inside a background
// collection.
func TestSeries(t *testing.T) {
	whole := one(t, false, sampleLog(t, nil).out.text())
	for name, cut := range map[string]func(hold bool) bool{
		"as soon as possible": func(hold bool) bool { return !hold },
		"anywhere":            func(bool) bool { return true },
	} {
		t.Run(name, func(t *testing.T) {
			files := sampleLog(t, cut).out.files
			if len(files) < 10 {
				t.Fatalf("%d files", len(files))
			}
			same(t, whole, one(t, false, files...))
			for _, f := range files { // each on its own, whatever it lacks
				readBack(t, false, f)
			}
		})
	}
	for _, naming := range []rotate.Naming{rotate.NameByTime, rotate.NameByIndex} {
		t.Run(fmt.Sprint("naming ", naming), func(t *testing.T) {
			files := rotated(t, naming)
			if len(files) < 3 {
				t.Fatalf("%d files", len(files))
			}
			same(t, whole, one(t, false, files...))
		})
	}
}

// rotated writes the log to files of 4 KB, and returns them, oldest first.
func rotated(t *testing.T, naming rotate.Naming) (files [][]byte) {
	t.Helper()
	dir := t.TempDir()
	out, err := new(rotate.Files).Open(filepath.Join(dir, "gc.log"), rotate.Options{Count: 1000, Size: 4 << 10, Naming: naming})
	if err != nil {
		t.Fatal(err)
	}
	x := sampleLog(t, func(bool) bool { return true })
	none := formats.Head{Append: func([]byte, int) []byte { return nil }}
	for _, f := range x.out.files {
		if err := out.Write(none, f, false); err != nil {
			t.Fatal(err)
		}
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	archived, err := filepath.Glob(filepath.Join(dir, "gc?*[0-9]*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range append(archived, filepath.Join(dir, "gc.log")) {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, b)
	}
	return files
}

// TestDecorations: with any decorations or none a log has the same contents, whatever the host is called.
func TestDecorations(t *testing.T) {
	want := one(t, false, sampleLog(t, nil).out.text())
	for _, set := range []formats.Decorators{0, formats.Of(formats.DecTags), formats.Of(formats.DecTime, formats.DecHostname, formats.DecPID), 1<<12 - 1} {
		for _, host := range []string{
			"node [1] ", "2026-db-primary-01", "2026-11-21T00:30:37-x", "2026", "1", "12s-db", "2026-11-21",
			"99999999999999999999", "2026-99-99T00:30:37.567+0000", strings.Repeat("h", 253),
		} {
			s := formats.Selection{Decorators: set}
			s.Select([]string{"gc"}, true, formats.LevelTrace)
			s.Select([]string{"safepoint"}, false, formats.LevelInfo)
			x := recordWith(t, recording(t, "v6-wksb"), formats.Options{Selection: &s, Host: host}, nil)[0]
			text := x.out.text()
			if head, ok := logs.Recognize(text[:logs.HeadSize]); !ok || head.Format != "unified" || !head.Dated || head.JavaOnly || head.ProcessID == 0 {
				t.Errorf("%012b on %s is recognized as %+v, %t", set, host, head, ok)
			}
			same(t, want, one(t, false, text))
			if t.Failed() {
				t.Fatalf("with %012b on %s", set, host)
			}
		}
	}
}

var decorated = regexp.MustCompile(`^\[(.*?)\]\[(.*?)s\]\[info\]\[(.*?)\] `)

// only returns the lines with these tags.
func only(text []byte, tags ...string) (lines []byte) {
	for line := range bytes.Lines(text) {
		if m := decorated.FindSubmatch(line); m != nil && slices.Contains(tags, string(m[3])) {
			lines = append(lines, line...)
		}
	}
	return lines
}

// TestSelections: any selection of lines results in records, one for each collection, if it
// includes DotNet lines; otherwise the log is rejected, immediately if its pauses have ends.
func TestSelections(t *testing.T) {
	extent.Long(t)
	x := sampleLog(t, nil)
	kinds := []string{"gc", "gc,start", "gc,heap", "gc,stats", "gc,cpu", "gc,init"}
	for set := 1; set < 1<<len(kinds); set++ {
		var tags []string
		for i, k := range kinds {
			if set&(1<<i) != 0 {
				tags = append(tags, k)
			}
		}
		text := only(x.out.text(), tags...)
		if !slices.Contains(tags, "gc,stats") {
			pauses := slices.Contains(tags, "gc")
			if head, _ := logs.Recognize(text); head.JavaOnly != pauses {
				t.Errorf("%s is recognized as %+v", tags, head)
			}
			if err := readError(t, text); (err != nil) != pauses || pauses && !strings.Contains(err.Error(), "without DotNet: lines") {
				t.Errorf("%s: %v", tags, err)
			}
			continue
		}
		got := one(t, false, text)
		if known := got.process.ID != 0; known != slices.Contains(tags, "gc,init") {
			t.Errorf("%s: the process is %d", tags, got.process.ID)
		}
		seen := map[uint32]bool{}
		for _, d := range got.gcs {
			if seen[d.Number] {
				t.Errorf("%s: collection %d is reported twice", tags, d.Number)
			}
			seen[d.Number] = true
		}
		for _, d := range x.gcs {
			if len(d.Pauses) > 0 && !seen[d.Number] {
				t.Errorf("%s: collection %d is missing", tags, d.Number)
			}
		}
	}
}

// readError reads a unified log whatever its head contains, and returns the error.
func readError(t *testing.T, text []byte) error {
	t.Helper()
	r, err := logs.NewReader(logs.Head{Format: "unified"}, func(*gclog.Process) gclog.Observer { return (&sink{}).Observe })
	if err != nil {
		t.Fatal(err)
	}
	_, err = r.Read(bytes.NewReader(text))
	r.Finish()
	return err
}

// recordLine is the DotNet line of a collection; pauseLine is a line for Java of the same.
func recordLine(n int) string {
	return fmt.Sprintf("[gc,stats] GC(%d)         DotNet: gen0 blocking, reason=AllocSmall, start=2026-11-21T00:30:%02[1]d.000000000Z, end=2026-11-21T00:30:%02[1]d.001000000Z, "+
		"pause=blocking, at=2026-11-21T00:30:%02[1]d.000000000Z, took=5.701000ms, gen0=2568B->2211B, workers=unknown\n", n)
}

func pauseLine(n int) string {
	return fmt.Sprintf("[gc] GC(%d) Pause Young (Allocation Failure) 2568K->2211K(5260K) 5.701ms\n", n)
}

// TestLateDotNetLines: a file is judged as a whole. Whatever comes before the first collection, or
// is cut off from it, a log with DotNet lines is read, and one without is not.
func TestLateDotNetLines(t *testing.T) {
	const stop = "[1.000s][info][safepoint] Total time for which application threads were stopped: 0.1 seconds, reason: Other\n"
	const head = "[gc] Using Concurrent Mark Sweep\n[gc,init] VM Arguments: .NET 10, process 7, GC workers unknown\n[gc,init]         DotNet: process=7, workers=unknown\n"
	long := head + strings.Repeat(stop, 2*logs.HeadSize/len(stop))
	for name, x := range map[string]struct {
		text                  string
		refusedByHead, unread bool
		gcs                   int
	}{
		"nothing but a head":                 {text: head},
		"a pause":                            {text: pauseLine(1), refusedByHead: true, unread: true},
		"a pause and a head":                 {text: head + pauseLine(1), refusedByHead: true, unread: true},
		"a pause after much else":            {text: long + pauseLine(1), unread: true},
		"a background pause":                 {text: head + "[gc] GC(1) Pause Initial Mark 9K->9K(9K) 0.400ms\n"},
		"the begin of a pause":               {text: head + "[2.000s] GC(1) Pause Young (Allocation Failure)\n"},
		"whole pauses after much else":       {text: long + recordLine(1) + pauseLine(1) + recordLine(2) + pauseLine(2), gcs: 2},
		"a cut pause before whole ones":      {text: pauseLine(1) + recordLine(2) + pauseLine(2) + recordLine(3), gcs: 2},
		"one of two without its DotNet line": {text: recordLine(1) + pauseLine(2) + recordLine(3), gcs: 2},
	} {
		h, ok := logs.Recognize([]byte(x.text)[:min(len(x.text), logs.HeadSize)])
		if !ok || h.JavaOnly != x.refusedByHead || (h.Err() != nil) != x.refusedByHead {
			t.Errorf("%s is recognized as %+v, %t", name, h, ok)
		}
		if err := readError(t, []byte(x.text)); (err != nil) != x.unread {
			t.Errorf("%s: %v", name, err)
		} else if err == nil {
			gcs, pauses := 0, 0
			list, _ := readBack(t, false, []byte(x.text))
			for _, got := range list {
				gcs += len(got.gcs)
				pauses += len(got.pauses)
			}
			if gcs != x.gcs || pauses != x.gcs {
				t.Errorf("%s: %d collections, %d pauses, want %d", name, gcs, pauses, x.gcs)
			}
		}
	}
	r, _ := logs.NewReader(logs.Head{Format: "unified"}, func(*gclog.Process) gclog.Observer { return (&sink{}).Observe })
	for i, text := range []string{recordLine(1), pauseLine(2)} { // each file on its own
		if _, err := r.Read(strings.NewReader(text)); (err != nil) != (i == 1) {
			t.Errorf("file %d: %v", i, err)
		}
	}
}

// TestJDK8: any line of such a log is sufficient to recognize it, and it is not read.
func TestJDK8(t *testing.T) {
	x, _ := record(t, recording(t, "v6-wksb"), "jdk8", nil)
	seen := 0
	for line := range bytes.Lines(x) {
		h, ok := logs.Recognize(line)
		if ok && (h.Format != "jdk8" || !h.JavaOnly) {
			t.Errorf("%s is recognized as %+v", line, h)
		}
		if ok {
			seen++
		} else if !bytes.HasPrefix(line, []byte("CommandLine flags: ")) && !bytes.HasPrefix(line, []byte("Memory: ")) {
			t.Errorf("not recognized: %s", line)
		}
		if seen == 0 {
			continue
		}
		if _, ok := logs.Recognize(bytes.Replace(line, []byte("user=0.00"), []byte("user=0.01"), 1)); ok && bytes.Contains(line, []byte("user=")) {
			t.Errorf("a line of Java is recognized: %s", line)
		}
		if _, ok := logs.Recognize(bytes.Replace(line, []byte("\n"), []byte(" \n"), 1)); ok && bytes.Contains(line, []byte("user=")) {
			t.Errorf("a line of Java of a short pause is recognized: %s", line)
		}
	}
	h, _ := logs.Recognize(x)
	if h.ProcessID == 0 {
		t.Errorf("recognized as %+v", h)
	}
	if _, err := logs.NewReader(h, nil); err == nil || !strings.HasPrefix(err.Error(), "it is a jdk8 log, ") {
		t.Error(err)
	}
}

// TestForeignLines: lines of other programs are counted, with their numbers.
func TestForeignLines(t *testing.T) {
	foreign := []string{"hello", "[2026-11-21T00:30:37.567+0000] hello", "[2026-11-21T00:30:37.567+0000][1.000s][info][os,cpu] GC 1", "{}", "2026-11-21T00:30:37.567+0000: 1.000: hello", "[", "[]", "GC(1)", "\x00\xff", "DotNet: ", "GC(1)         DotNet: gen0"}
	x := sampleLog(t, nil)
	whole := one(t, false, x.out.text())
	var text []byte
	var want []int64
	number := int64(0)
	for line := range bytes.Lines(x.out.text()) {
		if i := int(number); i%2 == 0 && i/2 < len(foreign) {
			text = append(text, foreign[i/2]+"\r\n\n"...)
			want = append(want, number+1)
			number += 2
		}
		text = append(text, line...)
		number++
		if number%2 == 1 {
			text = append(text, '\n')
			number++
		}
	}
	list, skipped := readBack(t, false, text)
	if skipped[0].Count != int64(len(want)) || !slices.Equal(skipped[0].Lines, want) || len(list) != 1 {
		t.Fatalf("skipped %+v, want %d", skipped[0], want)
	}
	same(t, whole, list[0])
}

// sentinel must be read correctly after whatever came before.
const sentinel = "        DotNet: process=4000000, workers=unknown\n" +
	"[info][gc,stats] GC(4000000)         DotNet: gen0 blocking, reason=Induced, start=2026-11-22T00:30:37.567000000Z, end=2026-11-22T00:30:37.568000000Z, " +
	"pause=blocking, at=2026-11-22T00:30:37.566999999Z, took=5.701003ms, gen0=2568B->2211B, workers=unknown\n"

func checkSentinel(t *testing.T, text []byte) {
	t.Helper()
	list, _ := readBack(t, false, append(slices.Clip(text), sentinel...))
	x := list[len(list)-1]
	if len(x.pauses) != 1 {
		t.Fatalf("%d pauses behind %q", len(x.pauses), text)
	}
	p := x.pauses[0]
	if p.Duration != 5701003 || p.GC.Reason != clr.ReasonInduced || p.GC.SizeAfter() != 2211 || len(p.GC.Pauses) != 1 {
		t.Fatalf("a pause is read as %+v behind %q", p, text)
	}
}

// TestUndated: a pause that does not say when it was is no pause of 1970: its line is damaged.
func TestUndated(t *testing.T) {
	first := strings.Replace(recordLine(1), "at=2026-11-21T00:30:01.000000000Z, ", "", 1)
	second := strings.Replace(recordLine(1), "gen0=", "pause=blocking, took=1.000000ms, gen0=", 1)
	for _, damaged := range []string{first, second} {
		if damaged == recordLine(1) {
			t.Fatalf("%q is not damaged", damaged)
		}
		list, skipped := readBack(t, false, []byte(recordLine(0)+damaged+recordLine(2)))
		if !slices.Equal(skipped[0].Lines, []int64{2}) || len(list) != 1 || len(list[0].gcs) != 2 {
			t.Errorf("skipped %+v, want line 2: %q", skipped[0], damaged)
		}
	}
}

// TestDamage: changed bytes do not affect other lines.
func TestDamage(t *testing.T) {
	trials := 3000
	if testing.Short() {
		trials = 300
	}
	r := rand.New(rand.NewPCG(1, 2))
	text := sampleLog(t, nil).out.text()
	text = text[:min(len(text), 8<<10)]
	text = text[:bytes.LastIndexByte(text, '\n')+1]
	for range trials {
		damaged := bytes.Clone(text)
		for range 1 + r.IntN(8) {
			if i := r.IntN(len(damaged) - 1); r.IntN(2) == 0 {
				damaged[i] ^= 1 << r.IntN(8)
			} else {
				damaged[i] = "0123456789 \n[](),:=K->s"[r.IntN(23)]
			}
		}
		checkSentinel(t, damaged)
	}
}

// TestUnifiedProcesses: another process in a header means another process, also if only its start is
// another.
func TestUnifiedProcesses(t *testing.T) {
	text := sampleLog(t, nil).out.text()
	other := regexp.MustCompile(`process=\d+`).ReplaceAll(text, []byte("process=77"))
	again := bytes.ReplaceAll(other, []byte("process=77"), []byte("process=77, start_key=1"))
	list, _ := readBack(t, false, text, other, again)
	slices.SortFunc(list, func(a, b *unifiedLog) int { return cmp.Compare(a.process.StartKey, b.process.StartKey) })
	if len(list) != 3 || list[2].process.StartKey != 1 || list[0].process.ID == list[1].process.ID || list[2].process.ID != 77 {
		t.Fatalf("%d processes: %+v", len(list), list[len(list)-1].process)
	}
	same(t, list[0], list[1])
	same(t, list[0], list[2])
}

// TestFacts: what the header of a file contains about the process is read back.
func TestFacts(t *testing.T) {
	started := time.Date(2026, 11, 21, 0, 20, 0, 123456789, time.UTC)
	want := gclog.Process{
		ID: 4711, Name: "My App= x", RuntimeVersion: "10.0.14", GCLibrary: "libclrgc.so", HeapCount: 2, StartKey: 1 << 60,
		Server: gclog.Yes, ServerFrom: gclog.EvidenceRecorded, Concurrent: gclog.No,
		Started: started, Sync: started.Add(time.Hour), UptimeAtSync: time.Hour,
	}
	x := newUnifiedLog(&want, formats.Options{}, nil)
	x.w.Observe(&gclog.Start{})
	pause := gclog.PausePart{Kind: gclog.PauseNoGCRegion, Start: 5, Duration: 7}
	x.w.Observe(&gclog.Pause{PausePart: pause, UsedNumber: 9})
	x.w.Observe(&gclog.End{At: 1e9, Reason: gclog.EndDetached})
	var out memory
	got := &observed{}
	r, _ := logs.NewReader(logs.Head{Format: "unified"}, func(p *gclog.Process) gclog.Observer {
		got.writeTo("unified", &out, p)
		return got.Observe
	})
	if _, err := r.Read(bytes.NewReader(x.out.text())); err != nil {
		t.Fatal(err)
	}
	r.Finish()
	if !reflect.DeepEqual(want, got.process) {
		t.Errorf("%+v, want %+v", got.process, want)
	}
	ticks := want.Sync.UnixNano()
	calls := []any{
		&gclog.Start{Ticks: ticks},
		&gclog.Pause{PausePart: pause, Ticks: ticks + 5, UsedNumber: 9},
		&gclog.End{At: 1e9, Ticks: ticks + 1e9, Reason: gclog.EndDetached},
	}
	if !reflect.DeepEqual(calls, got.calls) {
		t.Errorf("%+v, want %+v", got.calls, calls)
	}
	if !bytes.Equal(out.text, x.out.text()) {
		t.Errorf("written as\n%s, want\n%s", out.text, x.out.text())
	}
}

// TestManyUnifiedProcesses: a log that repeatedly changes its process has no more of them than the limit.
func TestManyUnifiedProcesses(t *testing.T) {
	const most, changes = 10_000, 10_100
	var text []byte
	for i := range changes {
		text = append(fmt.Appendf(text, "DotNet: process=%d, workers=1\n", i), recordLine(1)...)
	}
	var out sink
	count := 0
	r, _ := logs.NewReader(logs.Head{Format: "unified"}, func(*gclog.Process) gclog.Observer {
		count++
		return out.Observe
	})
	skipped, err := r.Read(bytes.NewReader(text))
	r.Finish()
	if err != nil || count != most || out.records != most || skipped.Count != 2*(changes-most) {
		t.Errorf("%d processes, %d records, %d lines skipped, %v", count, out.records, skipped.Count, err)
	}
}

// TestJavaSamples recognizes logs that were written by hand, modelled on real ones, and rejects them:
// what they contain is for Java's tools.
func TestJavaSamples(t *testing.T) {
	dir := filepath.Join(recordings.Dir(t), "java-samples")
	names, err := filepath.Glob(filepath.Join(dir, "jdk8-cms*.log"))
	if err != nil || len(names) < 2 {
		t.Fatal(names, err)
	}
	for _, name := range names {
		if head, ok := logs.Recognize(recordings.Read(t, name)); !ok || !head.JavaOnly || head.Format != "jdk8" {
			t.Errorf("%s is recognized as %+v", name, head)
		}
	}
}

// FuzzUnified: whatever the input, the lines after it are read.
func FuzzUnified(f *testing.F) {
	b := sample(f, "gc.log")
	f.Add(b[:2000])
	for line := range bytes.Lines(b[:min(len(b), 8000)]) {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		logs.Recognize(text)
		if n := len(text); n > 0 && text[n-1] != '\n' {
			text = append(slices.Clip(text), '\n')
		}
		if bytes.Contains(text, []byte("4000000")) {
			return
		}
		checkSentinel(t, text)
	})
}
