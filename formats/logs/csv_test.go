package logs_test

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gclog/gclog/formats/fields"
	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/internal/testing/extent"
	"github.com/gclog/gclog/parse/clr"
)

// startTime matches the date of a row. Its microseconds are truncated and those of
// StartRelativeMSec rounded: read back, the last digit may differ.
var startTime = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z`)

// TestCSVAgain: a log that is read and written again is the same.
func TestCSVAgain(t *testing.T) {
	extent.Long(t)
	forEach(t, func(t *testing.T, stream []byte) {
		text, _ := record(t, stream, "csv", nil)
		if text == nil {
			t.Skip("no records")
		}
		again, _, skipped := read(t, text)
		if skipped.Count != 0 {
			t.Errorf("lines %v were skipped", skipped.Lines)
		}
		sameLines(t, startTime.ReplaceAll(text, nil), startTime.ReplaceAll(again, nil))
		if bytes.Count(text, []byte{'\n'}) > 1 && !bytes.Equal(startTime.Find(text)[:23], startTime.Find(again)[:23]) {
			t.Errorf("the first time is %s, want %s", startTime.Find(again), startTime.Find(text))
		}
	})
}

// TestCSVRecords: each record that is read is the one that was written, in everything that the
// format contains.
func TestCSVRecords(t *testing.T) {
	forEach(t, func(t *testing.T, stream []byte) {
		text, all := record(t, stream, "csv", nil)
		if text == nil {
			t.Skip("no records")
		}
		_, back, _ := read(t, text)
		for i, x := range all {
			want, got := x.gcs(), back[i].gcs()
			if len(want) != len(got) {
				t.Fatalf("%d records, want %d", len(got), len(want))
			}
			if off := back[i].process.Sync.Sub(x.process.Sync).Abs(); off > time.Microsecond {
				t.Errorf("its clock is off by %v", off)
			}
			for j, d := range want {
				sameRecord(t, heldByCSV(d, got[j], back[i].process.Sync.UnixNano()), got[j])
			}
		}
	})
}

// heldByCSV returns what a row can contain of d. Inexact values are taken from got.
func heldByCSV(d, got *gclog.GCDetails, sync int64) *gclog.GCDetails {
	started := d.Flaws&gclog.FlawNoStart == 0
	w := &gclog.GCDetails{
		Known: d.Known & gclog.GroupReason,
		Index: d.Index, Type: d.Type, Kind: d.Kind,
		Reason: d.Reason, DemotedBGC: d.DemotedBGC, HeapDump: d.HeapDump, HeapDumpBy: d.HeapDumpBy,
		Start: micros(d.Start), Peak: d.Peak,
	}
	for _, f := range fields.All() {
		if f.CSV == "" || f.Set == nil {
			continue
		}
		v, known := f.Get(d)
		if f.Unit == fields.Nanoseconds {
			v = uint64(micros(int64(v)))
		}
		if known {
			f.Set(w, v)
		}
	}
	if d.Known.Has(gclog.GroupGenerationAllocated) {
		w.Allocated, w.Known = d.Allocated, w.Known|gclog.GroupAllocated
	}
	w.Known.Set(gclog.GroupEnd, started && d.Known.Has(gclog.GroupEnd))
	w.Known.Set(gclog.GroupCompaction, w.Known.Has(gclog.GroupGlobal) || d.Known.Has(gclog.GroupCompaction) && d.Kind != gclog.KindBackground)
	w.Flaws = got.Flaws
	if !started {
		w.Start = got.Start
		w.Type = [...]clr.GCType{clr.TypeBlocking, clr.TypeBackground, clr.TypeForeground}[d.Kind]
	}
	w.StartTicks = sync + w.Start
	if w.Known.Has(gclog.GroupEnd) {
		w.End = w.Start + micros(d.Duration())
	}
	w.FromLog = true
	if d.Known.Has(gclog.GroupBefore) || d.Known.Has(gclog.GroupAfter) {
		w.GenerationCount = d.GenerationCount
	}
	for g := range w.GenerationCount {
		if x := &w.Generations[g]; d.Known.Has(gclog.GroupHistory) {
			x.FreeBefore = x.Before - min(x.Before, x.ObjectsBefore)
		}
	}
	if d.Kind == gclog.KindBackground {
		w.Background = got.Background // tested by TestCSVOrder
	}
	w.Pauses, w.Suspended = pausesInCSV(d), w.Start
	if len(w.Pauses) > 0 {
		w.Suspended = w.Pauses[0].Start
	}
	return w
}

// pinned sets the pinned objects of w to what logs contain of those of d.
func pinned(w, d *gclog.GCDetails) {
	objects, known := d.Pinned()
	w.Known.Set(gclog.GroupPinned, known)
	if w.PinnedObjects = 0; known {
		w.PinnedObjects = objects
	}
}

func pausesInCSV(d *gclog.GCDetails) []gclog.PausePart {
	if len(d.Pauses) == 0 {
		return nil
	}
	first := gclog.PausePart{Kind: d.Pauses[0].Kind, Start: micros(d.PauseStart()), Duration: micros(d.Pause())}
	suspend, known := d.Suspend()
	first.Suspend, first.HasSuspend = micros(suspend), known
	resume, known := d.Resume()
	first.Resume, first.HasResume = micros(resume), known
	at, known := d.FinalPauseStart()
	if first.Kind != gclog.PauseInitial || !known {
		return []gclog.PausePart{first}
	}
	final := gclog.PausePart{Kind: gclog.PauseFinal, Start: micros(at), Duration: micros(d.FinalPause())}
	suspend, known = d.FinalSuspend()
	final.Suspend, final.HasSuspend = micros(suspend), known
	resume, known = d.FinalResume()
	final.Resume, final.HasResume = micros(resume), known
	first.Duration -= final.Duration
	first.Suspend -= final.Suspend
	first.Resume -= final.Resume
	return []gclog.PausePart{first, final}
}

// micros rounds nanoseconds to microseconds.
func micros(ns int64) int64 { return time.Duration(ns).Round(time.Microsecond).Nanoseconds() }

// TestCSVOrder: pauses and phases come in the order in which the events reported them. The phases
// follow from the pauses. A row has the end of a collection as its duration, which is unknown if it
// started before the session, and so is the end of its sweep phase then.
func TestCSVOrder(t *testing.T) {
	date := regexp.MustCompile(` at \S+$`)
	forEach(t, func(t *testing.T, stream []byte) {
		text, all := record(t, stream, "csv", nil)
		if text == nil {
			t.Skip("no records")
		}
		_, back, _ := read(t, text)
		for i, x := range all {
			var want, got []string
			var unswept []string // prefixes of calls that the log cannot contain
			for _, d := range x.gcs() {
				if d.Flaws&gclog.FlawNoStart != 0 {
					unswept = append(unswept, fmt.Sprintf("%s of %s,", gclog.PhaseSweep, of(d)))
				}
			}
			for _, o := range x.order {
				if slices.ContainsFunc(unswept, func(prefix string) bool { return strings.HasPrefix(o, prefix) }) {
					continue
				}
				if _, _, of := strings.Cut(o, " of "); of || strings.HasPrefix(o, "gc ") {
					want = append(want, date.ReplaceAllString(o, ""))
				}
			}
			for _, o := range back[i].order {
				got = append(got, date.ReplaceAllString(o, ""))
			}
			sameLines(t, []byte(strings.Join(want, "\n")), []byte(strings.Join(got, "\n")))
		}
	})
}

// TestCSVColumns: columns are identified by their names.
func TestCSVColumns(t *testing.T) {
	text := sample(t, "gc.csv")
	_, want, _ := read(t, text)
	rows, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(5, 6))
	order := random.Perm(len(rows[0]))
	var shuffled []byte
	for i, row := range rows {
		for _, c := range order {
			shuffled = append(append(shuffled, row[c]...), ',')
		}
		shuffled = fmt.Appendf(shuffled, "\"other, \"\r\n")
		if i == 3 { // concatenated files
			head, _, _ := bytes.Cut(text, []byte{'\n'})
			shuffled = append(append(shuffled[:0:0], shuffled...), head...)
			shuffled = append(shuffled, '\n')
			shuffled = append(shuffled, bytes.Join(bytes.SplitAfter(text, []byte{'\n'})[4:], nil)...)
			break
		}
	}
	shuffled = bytes.Replace(shuffled, []byte("\"other, \"\r\n"), []byte("Other\r\n"), 1)
	_, got, skipped := read(t, shuffled)
	if skipped.Count != 0 {
		t.Errorf("lines %v were skipped", skipped.Lines)
	}
	sameCalls(t, want[0], got[0])
}

// TestCSVUnnamedColumns: columns without a name, such as a spreadsheet adds, contain nothing of ours.
func TestCSVUnnamedColumns(t *testing.T) {
	text := sample(t, "gc.csv")
	_, want, _ := read(t, text)
	var wider []byte
	for line := range bytes.Lines(text) {
		more := ",a note,1.5\n"
		if wider == nil {
			more = ",,\n"
		}
		wider = append(append(wider, bytes.TrimSuffix(line, []byte{'\n'})...), more...)
	}
	_, got, skipped := read(t, wider)
	if len(got) != 1 || skipped.Count != 0 {
		t.Fatalf("%d processes, lines %v skipped", len(got), skipped.Lines)
	}
	sameCalls(t, want[0], got[0])
}

// TestCSVOfOthers: Criteo's GcLog has the first 21 columns. What they do not contain is unknown.
func TestCSVOfOthers(t *testing.T) {
	const columns = 21
	var text []byte
	for line := range bytes.Lines(sample(t, "gc.csv")) {
		if line[0] == ',' || bytes.Contains(line, []byte(",,,,,,,,,,,,,,,,,,,,")) {
			continue // only our columns contain the time of such a collection, and how the process ended
		}
		text = append(append(text, bytes.Join(bytes.Split(line, []byte{','})[:columns], []byte{','})...), '\n')
	}
	_, all, skipped := read(t, text)
	if len(all) != 1 || skipped.Count != 0 {
		t.Fatalf("%d processes, lines %v skipped", len(all), skipped.Lines)
	}
	if p := all[0].process; p.Sync.Unix() != 0 || p.ID != 0 {
		t.Errorf("the process is %+v", p)
	}
	gcs := all[0].gcs()
	for _, d := range gcs {
		if d.Kind != gclog.KindBackground || len(d.Pauses) < 2 {
			continue
		}
		for _, p := range d.Pauses {
			if p.HasSuspend {
				t.Errorf("%d: a pause of it is suspended for %d, where only the sum of both is known", d.Number, p.Suspend)
			}
		}
	}
	d := gcs[0]
	want := &gclog.GCDetails{
		Number: 1, Known: gclog.GroupNumber | gclog.GroupReason | gclog.GroupAfter | gclog.GroupObjects | gclog.GroupBefore | gclog.GroupCompaction, Complete: true, FromLog: true, Start: 237076e3, StartTicks: 237076e3, Suspended: 237068e3,
		Pauses:          []gclog.PausePart{{Start: 237068e3, Duration: 10541e3, Suspend: 8e3, HasSuspend: true}},
		GenerationCount: 4, BeforeEstimated: true,
	}
	want.Global.Mechanisms = clr.MechanismCompaction
	want.Generations[gclog.Gen0] = gclog.GenerationDetails{Before: 2593576, After: 65784, ObjectsBefore: 2593576, ObjectsAfter: 4256}
	want.Generations[gclog.Gen1] = gclog.GenerationDetails{After: 2090200, ObjectsAfter: 2081296}
	want.Generations[gclog.LOH] = gclog.GenerationDetails{Before: 160024, After: 160056, ObjectsBefore: 160024, ObjectsAfter: 160024}
	sameRecord(t, want, d)
}

// TestCSVForeign: lines of other programs are counted, with their numbers.
func TestCSVForeign(t *testing.T) {
	text := sample(t, "gc.csv")
	lines := bytes.SplitAfter(text, []byte{'\n'})
	foreign := []string{"hello", "a,b,c", strings.Repeat(",", 50), "StartRelativeMSec,Number,Number,Generation", string(lines[1][:len(lines[1])-1]) + ",5", strings.Repeat("9,", 50) + "9"}
	var mixed []byte
	for i, f := range foreign {
		mixed = append(append(mixed, lines[i]...), f+"\n"...)
	}
	mixed = append(mixed, bytes.Join(lines[len(foreign):], nil)...)
	_, want, _ := read(t, text)
	_, got, skipped := read(t, mixed)
	sameCalls(t, want[0], got[0])
	if skipped.Count != int64(len(foreign)) || !slices.Equal(skipped.Lines, []int64{2, 4, 6, 8, 10, 12}) {
		t.Errorf("%d were skipped: %v", skipped.Count, skipped.Lines)
	}
}

// TestCSVFlaws: what is missing is detected, though csv does not name it.
func TestCSVFlaws(t *testing.T) {
	const head = "StartRelativeMSec,Number,Generation,PauseDurationInMilliSeconds,Gen0Size,DurationInMilliSeconds,Kind,HeapAfter,Complete,LostEvents,HeapBefore,Gen0Before\n"
	for _, x := range []struct {
		row   string
		flaws gclog.Flaw
	}{
		{"1.000,1,0,2.000,3,4.000,blocking,3,True,0,4,4", 0},
		{",1,0,2.000,3,,blocking,3,False,0,4,4", gclog.FlawNoStart},
		{"1.000,1,0,,3,4.000,blocking,3,False,0,4,4", gclog.FlawNoSuspend},
		{"1.000,1,0,2.000,3,,blocking,3,False,0,4,4", gclog.FlawNoEnd},
		{"1.000,1,0,2.000,,4.000,blocking,,False,0,,", gclog.FlawNoSizes},
		{"1.000,1,0,2.000,3,4.000,blocking,3,False,5,4,4", gclog.FlawLostEvents},
		{"1.000,1,0,2.000,3,4.000,blocking,3,False,0,4,4", gclog.FlawLostEvents},
		{"1.000,1,0,2.000,,4.000,blocking,3,False,0,4,", gclog.FlawNoSizes}, // the heap's sizes alone are not those of the generations
	} {
		_, all, skipped := read(t, []byte(head+x.row+"\n"))
		if skipped.Count != 0 {
			t.Errorf("%s is skipped", x.row)
			continue
		}
		if d := all[0].gcs()[0]; d.Flaws != x.flaws || d.Complete != (x.flaws == 0) || x.flaws == gclog.FlawNoSizes && (d.Known.Has(gclog.GroupAfter) || d.Known.Has(gclog.GroupBefore)) {
			t.Errorf("%s is %+v", x.row, d)
		}
	}
}
