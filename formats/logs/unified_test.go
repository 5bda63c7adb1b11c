package logs_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/formats/logs"
	"github.com/gclog/gclog/gclog"
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
	gclog.NopObserver
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

func (x *unifiedLog) Pause(p *gclog.Pause) {
	x.w.Pause(p)
	x.newest = max(x.newest, p.Start+p.Duration)
	q := *p
	if p.GC != nil {
		q.GC = p.GC.Clone()
	}
	x.pauses = append(x.pauses, q)
}

func (x *unifiedLog) Phase(p *gclog.Phase) {
	x.w.Phase(p)
	x.newest = max(x.newest, p.Time)
	q := *p
	q.GC = p.GC.Clone()
	x.phases = append(x.phases, q)
}

func (x *unifiedLog) GC(d *gclog.GCDetails) {
	x.w.GC(d)
	x.gcs = append(x.gcs, d.Clone())
}

func (x *unifiedLog) Suspension(s *gclog.Suspension) {
	x.w.Suspension(s)
	x.newest = max(x.newest, s.Start+s.Duration)
	x.stops = append(x.stops, *s)
}

func (x *unifiedLog) Start(*formats.Start)           {}
func (x *unifiedLog) Stall(*gclog.Stall)             {}
func (x *unifiedLog) HeapGrowth(*formats.HeapGrowth) {}
func (x *unifiedLog) End(*formats.End)               {}

func (x *unifiedLog) end(at int64) { x.w.End(&formats.End{At: at, Reason: formats.EndOfLog}) }

// recordUnified converts a recording, as gclog convert does.
func recordUnified(t testing.TB, stream []byte, dotnet bool, cut func(bool) bool) (list []*unifiedLog) {
	t.Helper()
	return recordWith(t, stream, formats.Options{DotnetCauses: dotnet}, cut)
}

func recordWith(t testing.TB, stream []byte, o formats.Options, cut func(bool) bool) (list []*unifiedLog) {
	t.Helper()
	processes := gclog.NewProcesses(func(p *gclog.Process) gclog.Observer {
		x := newUnifiedLog(p, o, cut)
		list = append(list, x)
		return x
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
	r, err := logs.NewReader(logs.Head{Format: "unified"}, func(p *gclog.Process) formats.Observer {
		x := newUnifiedLog(p, o, nil)
		list = append(list, x)
		return x
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

// TestRoundTrip: what was read is written with the same bytes.
func TestRoundTrip(t *testing.T) {
	forEachRecording(t, func(t *testing.T, stream []byte) {
		for _, dotnet := range []bool{false, true} {
			t.Run(fmt.Sprintf("dotnet %t", dotnet), func(t *testing.T) {
				for _, x := range recordUnified(t, stream, dotnet, nil) {
					if text := x.out.text(); len(text) > 0 {
						y := one(t, dotnet, text)
						sameLog(t, string(text), string(y.out.text()))
						sameRecords(t, x, y)
					}
				}
			})
		}
	})
}

// sameLog compares two logs, whose uptimes may differ by a millisecond.
func sameLog(t *testing.T, want, got string) {
	t.Helper()
	a, b := strings.SplitAfter(want, "\n"), strings.SplitAfter(got, "\n")
	if i := unfinishedSweep(a); i >= 0 { // if its end was made up, its time is arbitrary
		a = a[:i]
		b = b[:min(i, len(b))]
	}
	for i := range max(len(a), len(b)) {
		x, y := "", ""
		if i < len(a) {
			x = a[i]
		}
		if i < len(b) {
			y = b[i]
		}
		if x == y {
			continue
		}
		if sameButUptime(x, y) || atRounding(a, b, i) {
			continue
		}
		t.Fatalf("line %d of %d and %d: want\n%sgot\n%s", i+1, len(a), len(b), x, y)
	}
}

var uptime = regexp.MustCompile(`(\]\[|\+0000: )(\d+)\.(\d{3})(s\]|: )`)

func sameButUptime(x, y string) bool {
	if uptime.ReplaceAllString(x, "") != uptime.ReplaceAllString(y, "") {
		return false
	}
	a, b := uptime.FindAllStringSubmatch(x, -1), uptime.FindAllStringSubmatch(y, -1)
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		u, _ := strconv.Atoi(a[i][2] + a[i][3])
		v, _ := strconv.Atoi(b[i][2] + b[i][3])
		if u-v > 1 || v-u > 1 {
			return false
		}
	}
	return true
}

var cpu = regexp.MustCompile(`\[gc,cpu\] .* Real=\d+\.\d\ds\n`)

// atRounding reports whether line i may differ: hundredths of a duration that was rounded to 5 ms
// and 0 µs may be rounded either way.
func atRounding(a, b []string, i int) bool {
	return i > 0 && i < len(b) && cpu.MatchString(a[i]) && cpu.MatchString(b[i]) && strings.HasSuffix(a[i-1], "5.000ms\n")
}

// unfinishedSweep returns the line of a sweep that ends because the log does.
func unfinishedSweep(lines []string) int {
	for i, line := range lines {
		if !strings.Contains(line, "Concurrent Sweep ") && !strings.Contains(line, "[CMS-concurrent-sweep: ") {
			continue
		}
		next := strings.Join(lines[i+1:min(len(lines), i+3)], "")
		if !strings.Contains(next, "Concurrent Reset") && !strings.Contains(next, "reset-start") {
			return i
		}
	}
	return -1
}

// sameRecords compares what was read with what the Reducer emitted.
func sameRecords(t *testing.T, want, got *unifiedLog) {
	t.Helper()
	pauses := want.pauses
	if len(pauses) != len(got.pauses) {
		t.Fatalf("%d pauses, want %d", len(got.pauses), len(pauses))
	}
	same := map[uint32]uint32{} // numbers
	for i := range pauses {
		p, q := &pauses[i], &got.pauses[i]
		start := got.process.Time(q.Start).Sub(want.process.Time(p.Start))
		d := q.Duration - p.Duration
		if p.Kind != q.Kind || start.Abs() > time.Millisecond || d > 1000 || d < -1000 {
			t.Fatalf("pause %d is %+v, want %+v", i, q.PausePart, p.PausePart)
		}
		if p.GC == nil {
			if q.GC != nil || q.UsedNumber != p.UsedNumber {
				t.Fatalf("pause %d without a collection is %+v, want %+v", i, q, p)
			}
			continue
		}
		if q.GC.Number != p.GC.Number {
			t.Fatalf("pause %d is of %d, want %d", i, q.GC.Number, p.GC.Number)
		}
		if p.GC.HasNumber {
			same[p.GC.Number] = q.GC.Number
		}
	}
	gcs := map[uint32]*gclog.GCDetails{}
	for i, d := range got.gcs {
		if gcs[d.Number] != nil {
			t.Fatalf("collection %d is reported twice", d.Number)
		}
		if d.Index != int64(i) || d.Complete != (d.Flaws == 0) {
			t.Errorf("collection %d has index %d, complete %t, flaws %b", d.Number, d.Index, d.Complete, d.Flaws)
		}
		gcs[d.Number] = d
	}
	for _, d := range want.gcs {
		n, ok := same[d.Number]
		if !ok {
			continue // its pause was not seen, or came before it had a number
		}
		e := gcs[n]
		if e == nil {
			t.Fatalf("collection %d is missing", d.Number)
		}
		sameKind(t, d, e)
		sameSizes(t, d, e)
		samePhases(t, want, got, d, e)
	}
}

func sameKind(t *testing.T, want, got *gclog.GCDetails) {
	t.Helper()
	name := fmt.Sprintf("collection %d", want.Number)
	if len(want.Pauses) != len(got.Pauses) {
		t.Errorf("%s: %d pauses, want %d", name, len(got.Pauses), len(want.Pauses))
	}
	if want.Generation != got.Generation || want.Kind != got.Kind || want.HasReason != got.HasReason || want.Reason != got.Reason {
		t.Errorf("%s: %s %s, want %s %s", name, got.AppendName(nil), got.Reason, want.AppendName(nil), want.Reason)
	}
	if want.HeapDump != got.HeapDump || want.HeapDumpBy != got.HeapDumpBy {
		t.Errorf("%s: heap snapshot %v by %v, want %v by %v", name, got.HeapDump, got.HeapDumpBy, want.HeapDump, want.HeapDumpBy)
	}
	a, knownA := want.Compacting()
	b, knownB := got.Compacting()
	if a != b || knownA != knownB {
		t.Errorf("%s: compacting %t, %t, want %t, %t", name, b, knownB, a, knownA)
	}
	c, knownC := want.Suspend()
	e, knownE := got.Suspend()
	if diff := c - e; diff > 1000 || diff < -1000 || knownC != knownE {
		t.Errorf("%s: suspended for %d, %t, want %d, %t", name, e, knownE, c, knownC)
	}
}

func sameSizes(t *testing.T, want, got *gclog.GCDetails) {
	t.Helper()
	near := func(what string, a, b uint64, slack int64) {
		if diff := int64(a - b); diff > slack || diff < -slack {
			t.Errorf("collection %d: %s is %d, want %d", want.Number, what, b, a)
		}
	}
	const kib = 1024
	if want.HasBefore && !want.BeforeEstimated && got.HasBefore {
		near("size before", want.SizeBefore(), got.SizeBefore(), 5*kib)
	}
	if want.HasSizesAfter && got.HasSizesAfter {
		near("size after", want.SizeAfter(), got.SizeAfter(), 5*kib)
	}
	if want.HasSizesAfter && !got.HasSizesAfter {
		t.Errorf("collection %d: no sizes", want.Number)
	}
	for g := range gclog.Generations {
		if want.HasBefore && !want.BeforeEstimated {
			near("before of "+gclog.GenerationName(g), want.Generations[g].Before, got.Generations[g].Before, kib)
		}
		if want.HasSizesAfter {
			near("after of "+gclog.GenerationName(g), want.Generations[g].After, got.Generations[g].After, kib)
		}
	}
	if want.HasSizesAfter {
		near("promoted", want.PromotedBytes, got.PromotedBytes, kib)
		near("fragmentation", want.Fragmentation(), got.Fragmentation(), kib)
		near("committed", want.CommittedAfter, got.CommittedAfter, kib)
	}
}

func samePhases(t *testing.T, want, got *unifiedLog, d, e *gclog.GCDetails) {
	t.Helper()
	if (d.Background == nil) != (e.Background == nil) {
		t.Errorf("collection %d: background %v, want %v", d.Number, e.Background, d.Background)
	}
	if d.Background == nil || d.Flaws != 0 {
		return
	}
	a, b := d.Background, e.Background
	for i, pair := range [][2]int64{{a.MarkStart, b.MarkStart}, {a.MarkEnd, b.MarkEnd}, {a.SweepStart, b.SweepStart}, {a.SweepEnd, b.SweepEnd}} {
		if off := got.process.Time(pair[1]).Sub(want.process.Time(pair[0])); off.Abs() > time.Millisecond || pair[1] == 0 {
			t.Errorf("collection %d: phase time %d is %s off", d.Number, i, off)
		}
	}
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
				one(t, false, f)
			}
		})
	}
	for _, naming := range []formats.Naming{formats.NameByTime, formats.NameByIndex} {
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
func rotated(t *testing.T, naming formats.Naming) (files [][]byte) {
	t.Helper()
	dir := t.TempDir()
	out, err := new(formats.Files).Open(filepath.Join(dir, "gc.log"), formats.RotateOptions{Count: 1000, Size: 4 << 10, Naming: naming})
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

// TestDecorations: with any decorations that include a time, a log has the same contents.
func TestDecorations(t *testing.T) {
	lines := strings.SplitAfter(string(sampleLog(t, nil).out.text()), "\n")[:80]
	want := one(t, false, []byte(strings.Join(lines, "")))
	var parts []line
	for _, l := range lines {
		parts = append(parts, parseLine(t, l))
	}
	const times = 1<<7 - 1
	for set := range 1 << 12 {
		if set&times == 0 {
			continue
		}
		if testing.Short() && set%37 != 0 {
			continue
		}
		var text []byte
		for i := range parts {
			text = parts[i].append(text, set)
		}
		head, ok := logs.Recognize(text)
		if !ok || head.Format != "unified" || head.Dated != (set&0b101011 != 0) {
			t.Fatalf("%012b is recognized as %+v, %t", set, head, ok)
		}
		got := one(t, false, text)
		if len(got.pauses) != len(want.pauses) || len(got.gcs) != len(want.gcs) || len(got.phases) != len(want.phases) {
			t.Fatalf("%012b: %d pauses, %d collections, %d phases", set, len(got.pauses), len(got.gcs), len(got.phases))
		}
		for i := range got.pauses {
			p, q := &want.pauses[i], &got.pauses[i]
			off := (q.Start - got.pauses[0].Start) - (p.Start - want.pauses[0].Start)
			if d := p.Duration - q.Duration; d > 500 || d < -500 || p.Kind != q.Kind || p.GC.Number != q.GC.Number || off > 2e6 || off < -2e6 {
				t.Fatalf("%012b: pause %d is %+v, want %+v", set, i, q.PausePart, p.PausePart)
			}
		}
		if got.process.ID != 4711 && got.process.ID != want.process.ID {
			t.Fatalf("process %d", got.process.ID)
		}
	}
}

var decorated = regexp.MustCompile(`^\[(.*?)\]\[(.*?)s\]\[info\]\[(.*?)\] `)

// A line has all possible decorations.
type line struct {
	decorations []string
	padded      []string // level and tags
	text        string
}

func parseLine(t *testing.T, s string) line {
	m := decorated.FindStringSubmatch(s)
	if m == nil {
		t.Fatalf("%q", s)
	}
	at, err := time.Parse("2006-01-02T15:04:05.000-0700", m[1])
	if err != nil {
		t.Fatal(err)
	}
	seconds, err := strconv.ParseFloat(m[2], 64)
	if err != nil {
		t.Fatal(err)
	}
	up := int64(seconds*1000 + 0.5)
	return line{
		decorations: []string{
			at.In(time.FixedZone("", 3600)).Format("2006-01-02T15:04:05.000-0700"), at.UTC().Format("2006-01-02T15:04:05.000-0700"),
			m[2] + "s", fmt.Sprint(at.UnixMilli(), "ms"), fmt.Sprint(up, "ms"), fmt.Sprint(at.UnixNano(), "ns"), fmt.Sprint(up*1e6, "ns"),
			"shop-7.example", "4711", "4711", "info", m[3],
		},
		padded: []string{"info ", fmt.Sprintf("%-14s", m[3])},
		text:   s[len(m[0]):],
	}
}

// append appends the line with a set of its decorations, in HotSpot's order.
func (l *line) append(dst []byte, set int) []byte {
	for i, d := range l.decorations {
		if set&(1<<i) == 0 {
			continue
		}
		if first := len(l.decorations) - len(l.padded); set%3 == 0 && i >= first {
			d = l.padded[i-first]
		}
		dst = append(dst, '[')
		dst = append(dst, d...)
		dst = append(dst, ']')
	}
	dst = append(dst, ' ')
	return append(dst, l.text...)
}

func TestNoDecorations(t *testing.T) {
	list, skipped := readBack(t, false, []byte("GC(7) Pause Young (Allocation Failure) 67502K->61966K(73096K) 24.295ms\n"))
	if len(list) != 0 || skipped[0].Count != 1 {
		t.Errorf("without times: %d processes, %+v", len(list), skipped)
	}
}

// only returns the lines with these tags.
func only(text []byte, tags ...string) (lines []byte) {
	for line := range bytes.Lines(text) {
		if m := decorated.FindSubmatch(line); m != nil && slices.Contains(tags, string(m[3])) {
			lines = append(lines, line...)
		}
	}
	return lines
}

// TestOneMillisecond: pauses that end in the same millisecond fit in it, though no line contains
// their starts.
func TestOneMillisecond(t *testing.T) {
	log := dotNetLine("[1.000s]", 1) + "[1.000s][info][gc] GC(1) Pause Young (Allocation Failure) 9K->8K(9K) 0.100ms\n" +
		dotNetLine("[2.000s]", 2) + "[2.000s][info][gc] GC(2) Pause Young (Allocation Failure) 9K->8K(9K) 0.300ms\n" +
		"[2.000s][info][gc] GC(3) Pause Initial Mark 9K->9K(9K) 0.400ms\n" +
		dotNetLine("[2.000s]", 4) + "[2.000s][info][gc] GC(4) Pause Young (Allocation Failure) 9K->8K(9K) 0.500ms\n"
	got := one(t, true, []byte(log))
	if len(got.pauses) != 4 {
		t.Fatalf("%d pauses", len(got.pauses))
	}
	for i, p := range got.pauses[1:] {
		if end := got.pauses[i].Start + got.pauses[i].Duration; p.Start < end {
			t.Errorf("pause %d begins %d ns before the end of that before", i+1, end-p.Start)
		}
	}
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
		if set&0b1111 == 0 {
			continue // these lines contain no collection
		}
		if !slices.Contains(tags, "gc,stats") {
			if head, _ := logs.Recognize(text); head.JavaOnly != slices.Contains(tags, "gc") {
				t.Errorf("%s is recognized as %+v", tags, head)
			}
			if err := readError(t, text); err == nil || !strings.Contains(err.Error(), "without DotNet: lines") {
				t.Errorf("%s: %v", tags, err)
			}
			continue
		}
		got := one(t, false, text)
		seen := map[uint32]bool{}
		for _, d := range got.gcs {
			if seen[d.Number] {
				t.Errorf("%s: collection %d is reported twice", tags, d.Number)
			}
			seen[d.Number] = true
		}
		for _, d := range x.gcs {
			if d.Kind != gclog.KindBackground && len(d.Pauses) > 0 && !seen[d.Number] {
				t.Errorf("%s: collection %d is missing", tags, d.Number)
			}
		}
	}
}

// readError reads a unified log whatever its head contains, and returns the error.
func readError(t *testing.T, text []byte) error {
	t.Helper()
	r, err := logs.NewReader(logs.Head{Format: "unified"}, func(*gclog.Process) formats.Observer { return &sink{} })
	if err != nil {
		t.Fatal(err)
	}
	_, err = r.Read(bytes.NewReader(text))
	r.Finish()
	return err
}

// TestLateDotNetLines: a file is judged as a whole. Whatever comes before the first collection, or
// is cut off from it, a log with DotNet lines is read, and one without is not.
func TestLateDotNetLines(t *testing.T) {
	const stop = "[1.000s][info][safepoint] Total time for which application threads were stopped: 0.1 seconds, reason: Other\n"
	long := head("[1.000s]", 7) + strings.Repeat(stop, 2*logs.HeadSize/len(stop))
	plain := strings.Replace(pauseLines("[2.000s]", 1), dotNetLine("[2.000s]", 1), "", 1)
	for name, x := range map[string]struct {
		text                  string
		refusedByHead, unread bool
		gcs                   int
	}{
		"nothing but a head":                 {text: head("[1.000s]", 7)},
		"a pause":                            {text: plain, refusedByHead: true, unread: true},
		"a pause and a head":                 {text: head("[1.000s]", 7) + plain, refusedByHead: true, unread: true},
		"a pause after much else":            {text: long + plain, unread: true},
		"the begin of a pause":               {text: head("[1.000s]", 7) + "[2.000s] GC(1) Pause Young (Allocation Failure)\n"},
		"whole pauses after much else":       {text: long + pauseLines("[2.000s]", 1) + pauseLines("[2.000s]", 2), gcs: 2},
		"a cut pause before whole ones":      {text: plain + pauseLines("[2.000s]", 2) + pauseLines("[2.000s]", 3), gcs: 2},
		"one of two without its DotNet line": {text: pauseLines("[1.000s]", 0) + plain + pauseLines("[2.000s]", 2), gcs: 2},
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
	r, _ := logs.NewReader(logs.Head{Format: "unified"}, func(*gclog.Process) formats.Observer { return &sink{} })
	for i, text := range []string{pauseLines("[1.000s]", 0), plain} { // each file on its own
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
	if h.Time.IsZero() || !h.Dated || h.ProcessID == 0 {
		t.Errorf("recognized as %+v", h)
	}
	if _, err := logs.NewReader(h, nil); err == nil || !strings.HasPrefix(err.Error(), "it is a jdk8 log, ") {
		t.Error(err)
	}
}

// TestMoreLines: lines that other selections add are skipped.
func TestMoreLines(t *testing.T) {
	x := sampleLog(t, nil)
	whole := one(t, false, x.out.text())
	var text []byte
	for line := range bytes.Lines(x.out.text()) {
		stamp := decorated.FindString(string(line))
		stamp = stamp[:strings.Index(stamp, "[info]")]
		text = append(text, line...)
		for _, more := range []string{
			"[debug][gc,ergo] GC(7) whatever", "[debug][gc,heap ] GC(7) Heap before GC", "[info][gc,phases,start] GC(7) Pause Young (x)",
			"[info][safepoint   ] Total time for which application threads were stopped: 0.1000000 seconds, Stopping threads took: 0.0000247 seconds", "[trace][gc,alloc] 1", "[info][gc] something new",
		} {
			text = append(text, stamp+more+"\n"...)
		}
	}
	same(t, whole, one(t, false, text))
}

// TestForeignLines: lines of other programs are counted, with their numbers.
func TestForeignLines(t *testing.T) {
	foreign := []string{"hello", "[2026-11-21T00:30:37.567+0000] hello", "[2026-11-21T00:30:37.567+0000][1.000s][info][os,cpu] GC 1", "{}", "2026-11-21T00:30:37.567+0000: 1.000: hello", "[", "[]", "GC(1)", "\x00\xff"}
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
const sentinel = "[2026-11-22T00:30:37.567+0000][99990.267s][info][gc,start] GC(4000000)         Pause Young (System.gc())\n" +
	"[2026-11-22T00:30:37.573+0000][99990.273s][info][gc,stats] GC(4000000)         DotNet: gen0 blocking, reason=Induced, gen0=2568K->2211K, workers=unknown\n" +
	"[2026-11-22T00:30:37.573+0000][99990.273s][info][gc] GC(4000000) Pause Young (System.gc()) 2568K->2211K(5260K) 5.701ms\n"

func checkSentinel(t *testing.T, text []byte) (skipped logs.Skipped) {
	t.Helper()
	list, all := readBack(t, false, append(slices.Clip(text), sentinel...))
	x := list[len(list)-1]
	if len(x.pauses) == 0 {
		t.Fatalf("no pause behind %q", text)
	}
	p := x.pauses[len(x.pauses)-1]
	if p.Duration != 5701000 || p.GC.Reason != clr.ReasonInduced || p.GC.SizeAfter() != 2211*1024 || len(p.GC.Pauses) != 1 {
		t.Fatalf("a pause is read as %+v behind %q", p, text)
	}
	for _, d := range x.gcs {
		if len(d.Pauses) > 64 {
			t.Fatalf("%d pauses", len(d.Pauses))
		}
	}
	return all[0]
}

// TestCutLines: a line that was cut off anywhere does not affect other lines.
func TestCutLines(t *testing.T) {
	extent.Long(t)
	lines := strings.SplitAfter(string(sampleLog(t, nil).out.text()), "\n")
	kinds := map[string]bool{}
	digits := regexp.MustCompile(`\d+`)
	for i, line := range lines {
		kind := digits.ReplaceAllString(line, "")
		if kinds[kind] {
			continue
		}
		kinds[kind] = true
		before := strings.Join(lines[:i], "")
		for n := 1; n < len(line)-1; n++ {
			skipped := checkSentinel(t, []byte(before+line[:n]+"\n"))
			if skipped.Count != 1 && !maybeWhole(line, line[:n]) {
				t.Errorf("%q is not skipped", line[:n])
			}
		}
	}
}

// maybeWhole reports whether a truncated line may still be a valid one.
func maybeWhole(line, cut string) bool {
	rest := line[len(cut):]
	for _, end := range []string{"[gc,init] ", "workers="} { // a shorter number, or all of it
		if strings.Contains(cut, end) && len(rest) <= 3 {
			return true
		}
	}
	return strings.HasSuffix(cut, "Concurrent Mark") || strings.HasSuffix(cut, "Concurrent Sweep") || strings.HasSuffix(cut, "Concurrent Reset")
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

// TestUnifiedProcesses: a different pid in a header means a different process, and so does a
// process that is younger.
func TestUnifiedProcesses(t *testing.T) {
	text := sampleLog(t, nil).out.text()
	other := regexp.MustCompile(`process \d+`).ReplaceAll(text, []byte("process 77"))
	younger := bytes.ReplaceAll(other, []byte("2026-11-20T"), []byte("2026-11-21T"))
	list, _ := readBack(t, false, text, other, younger)
	if len(list) != 3 || list[1].process.ID != 77 || list[2].process.ID != 77 {
		t.Fatalf("%d processes", len(list))
	}
	same(t, list[0], list[1])
	same(t, list[0], list[2])
	if list[0].process.RuntimeVersion != list[1].process.RuntimeVersion {
		t.Errorf("version %q, want %q", list[1].process.RuntimeVersion, list[0].process.RuntimeVersion)
	}
}

func TestHeads(t *testing.T) {
	for args, want := range map[string]gclog.Process{
		".NET 10.0.14, process 4711 MyApp, Server GC, concurrent, libclrgc.so, 2 GC workers": {
			ID: 4711, Name: "MyApp", RuntimeVersion: "10.0.14", Server: gclog.Yes, Concurrent: gclog.Yes, GCLibrary: "libclrgc.so", HeapCount: 2,
		},
		".NET, process 1, Workstation GC, non-concurrent, GC workers unknown": {ID: 1, Server: gclog.No, Concurrent: gclog.No},
		".NET, process 1 a, b.so, GC workers unknown":                         {ID: 1, Name: "a", GCLibrary: "b.so"},
		".NET, process 1 a.so, GC workers unknown":                            {ID: 1, Name: "a.so"},
		".NET 8, process 1 a, b, concurrent, GC workers unknown":              {ID: 1, Name: "a, b", RuntimeVersion: "8", Concurrent: gclog.Yes},
	} {
		x := one(t, false, []byte("[1.000s][info][gc,init] VM Arguments: "+args+"\n"+pauseLines("[2.000s]", 1)))
		want.Sync = time.Unix(0, 0).UTC()
		if want.Server != gclog.Unknown {
			want.ServerFrom = gclog.EvidenceRecorded
		}
		if !reflect.DeepEqual(want, x.process) {
			t.Errorf("%s: %+v, want %+v", args, x.process, want)
		}
	}
}

// TestJavaSamples reads logs that were written by hand, modelled on real ones. Those in the format
// of JDK 8 are rejected.
func TestJavaSamples(t *testing.T) {
	dir := filepath.Join(recordings.Dir(t), "java-samples")
	for pattern, want := range map[string][2]int{ // pauses, background collections
		"unified-cms-long.log": {15, 2}, "unified-cms.log": {9, 1}, "rotated-unified/gc.log.*": {15, 2},
		"jdk8-cms.log": {}, "jdk8-cms-short.log": {}, "rotated-jdk8/gc.log.*": {},
	} {
		names, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil || len(names) == 0 {
			t.Fatalf("%s: %v", pattern, err)
		}
		jdk8 := strings.Contains(pattern, "jdk8")
		if !jdk8 && len(names) > 1 {
			names = append(names, filepath.Join(dir, "rotated-unified", "gc.log"))
		}
		var files [][]byte
		for _, name := range names {
			files = append(files, recordings.Read(t, name))
		}
		head, ok := logs.Recognize(files[0])
		if !ok || head.JavaOnly != jdk8 || (head.Format == "jdk8") != jdk8 || !head.Dated || head.Time.Year() != 2024 {
			t.Errorf("%s is recognized as %+v", pattern, head)
		}
		if jdk8 {
			continue
		}
		x := one(t, false, files...)
		background := 0
		for _, d := range x.gcs {
			if d.Kind == gclog.KindBackground {
				background++
				if len(d.Pauses) != 2 || d.Background.MarkEnd == 0 || d.Background.SweepEnd == 0 || !d.HasEnd {
					t.Errorf("%s: %+v, %+v", pattern, d, d.Background)
				}
			}
		}
		if len(x.pauses) != want[0] || background != want[1] {
			t.Errorf("%s: %d pauses, %d background collections, want %d", pattern, len(x.pauses), background, want)
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
	for _, line := range detailLines() {
		f.Add([]byte("[1.006s][4711][1][info]" + line + "\n"))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		logs.Recognize(text)
		if n := len(text); n > 0 && text[n-1] != '\n' {
			text = append(slices.Clip(text), '\n')
		}
		if bytes.Contains(text, []byte("GC(4000000)")) {
			return
		}
		checkSentinel(t, text)
	})
}

// TestUnifiedOrder: consecutive events are in the same order when read, except that a pause may
// start within the same millisecond in which the previous one ended.
func TestUnifiedOrder(t *testing.T) {
	forEachRecording(t, func(t *testing.T, stream []byte) {
		for _, x := range recordUnified(t, stream, false, nil) {
			if len(x.out.files) == 0 {
				continue
			}
			y := one(t, false, x.out.text())
			i := 0
			var want, got gclog.Pause
			for _, p := range x.pauses {
				if p.GC == nil {
					continue
				}
				q := y.pauses[i]
				if i > 0 && p.Start >= want.Start+want.Duration && q.Start < got.Start+got.Duration-1e6 {
					t.Errorf("pause %d: %d is before %d", i, q.Start, got.Start+got.Duration)
				}
				want, got = p, q
				i++
			}
		}
	})
}
