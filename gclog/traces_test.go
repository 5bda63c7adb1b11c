package gclog_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/internal/gcload"
	"github.com/gclog/gclog/internal/shared"
	"github.com/gclog/gclog/parse"
	"github.com/gclog/gclog/parse/clr"
)

// A recorder is an Observer that keeps everything.
type recorder struct {
	process *gclog.Process
	gcs     []*gclog.GCDetails
	pauses  []gclog.Pause
	phases  []gclog.Phase
	gaps    []gclog.Gap
	sum     int64
}

func (o *recorder) Pause(p *gclog.Pause) {
	q := *p
	if p.GC != nil {
		q.GC = p.GC.Clone()
	}
	o.pauses = append(o.pauses, q)
	o.sum += p.Duration
}
func (o *recorder) Phase(p *gclog.Phase)  { o.phases = append(o.phases, *p) }
func (o *recorder) GC(d *gclog.GCDetails) { o.gcs = append(o.gcs, d.Clone()) }
func (o *recorder) Gap(g *gclog.Gap)      { o.gaps = append(o.gaps, *g) }

// reduction is what a stream came to.
type reduction struct {
	trace     *parse.Trace
	recorders []*recorder
	processes *gclog.Processes
	starts    int // GCStart events
	err       error
}

func reduce(t testing.TB, stream []byte) *reduction {
	t.Helper()
	x := &reduction{}
	x.processes = gclog.NewProcesses(func(p *gclog.Process) gclog.Observer {
		o := &recorder{process: p}
		x.recorders = append(x.recorders, o)
		return o
	})
	r := parse.NewReader(bytes.NewReader(stream), gclog.Wanted)
	for r.Scan() {
		if x.trace == nil {
			x.trace = r.Trace()
			x.processes.Begin(x.trace)
		}
		if l := r.Loss(); l != nil {
			x.processes.Loss(l)
			continue
		}
		e := r.Event()
		if e.Meta.Provider == clr.RuntimeProvider && e.Meta.EventID == clr.IDGCStart {
			x.starts++
		}
		x.processes.Event(e)
	}
	x.processes.Finish()
	x.err = r.Err()
	return x
}

// TestRecordings holds the records of every recording against the two invariants
// and against the rows of its expected.tsv.
func TestRecordings(t *testing.T) {
	shared.ForEach(t, func(t *testing.T, tr shared.Trace) {
		x := reduce(t, shared.Read(t, tr.Path))
		x.checkInvariants(t)
		x.checkExpected(t, tr.Name, tr.Beside(".expected.tsv"))
		if n := x.processes.DecodeErrors(); n != 0 {
			t.Errorf("%d events could not be decoded", n)
		}
	})
}

// checkInvariants: the pauses add up to the suspensions, and every GCStart
// yields exactly one record.
func (x *reduction) checkInvariants(t *testing.T) {
	records := 0
	for _, o := range x.recorders {
		if want := x.processes.Reducer(o.process).Suspended(); o.sum != want {
			t.Errorf("process %d: the pauses add up to %d ns, the suspensions to %d ns", o.process.ID, o.sum, want)
		}
		inRecords := int64(0)
		for _, d := range o.gcs {
			if d.Flaws&gclog.FlawNoStart == 0 {
				records++
			}
			inRecords += d.Pause()
		}
		for i, p := range o.pauses {
			if p.GC == nil {
				inRecords += p.Duration
			}
			if i > 0 && p.Start < o.pauses[i-1].Start {
				t.Errorf("pause at %d was told after the one at %d", p.Start, o.pauses[i-1].Start)
			}
		}
		if inRecords != o.sum {
			t.Errorf("process %d: records and pauses without one add up to %d ns, the pauses to %d ns", o.process.ID, inRecords, o.sum)
		}
	}
	if records != x.starts {
		t.Errorf("%d GCStart events, %d records", x.starts, records)
	}
}

// lossy are the recordings that lack events.
var lossy = map[string]bool{"stall": true, "v6-wksb": true}

func (x *reduction) checkExpected(t *testing.T, name, path string) {
	lines := strings.Split(strings.TrimSpace(string(shared.Read(t, path))), "\n")
	columns := strings.Split(lines[0], "\t")
	used := map[*gclog.GCDetails]bool{}
	without := map[*recorder]int{}
	for _, line := range lines[1:] {
		row := map[string]string{}
		for i, v := range strings.Split(line, "\t") {
			row[columns[i]] = v
		}
		o := x.of(row["pid"])
		if o == nil {
			t.Fatalf("no process %q", row["pid"])
		}
		if row["count"] == "-" {
			without[o]++
			if !o.hasPauseWithoutGC(millis(row["start_ms"])) {
				t.Errorf("no pause without a collection at %s ms", row["start_ms"])
			}
			continue
		}
		d := o.find(row["count"], used)
		if d == nil {
			t.Errorf("no record of collection %s", row["count"])
			continue
		}
		used[d] = true
		checkRow(t, d, row)
		if !d.Complete && !lossy[name] {
			t.Errorf("#%d is not complete: %v", d.Number, d.Flaws.Names(nil))
		}
	}
	for _, o := range x.recorders {
		for _, d := range o.gcs {
			if !used[d] && d.Flaws&gclog.FlawNoStart == 0 {
				t.Errorf("record of collection %d is too many", d.Number)
			}
		}
		n := 0
		for _, p := range o.pauses {
			if p.GC == nil {
				n++
			}
		}
		if n != without[o] {
			t.Errorf("%d pauses without a collection, want %d", n, without[o])
		}
		if len(o.gaps) > 0 && !lossy[name] {
			t.Errorf("a gap where there is none: %+v", o.gaps)
		}
	}
}

func (x *reduction) of(pid string) *recorder {
	for _, o := range x.recorders {
		if pid == "" || pid == strconv.FormatInt(o.process.ID, 10) {
			return o
		}
	}
	return nil
}

func (o *recorder) hasPauseWithoutGC(start int64) bool {
	for _, p := range o.pauses {
		if p.GC == nil && near(p.Start, start) {
			return true
		}
	}
	return false
}

func (o *recorder) find(number string, used map[*gclog.GCDetails]bool) *gclog.GCDetails {
	for _, d := range o.gcs {
		if !used[d] && strconv.FormatUint(uint64(d.Number), 10) == number {
			return d
		}
	}
	return nil
}

// near allows what the columns of expected.tsv are rounded by.
func near(a, b int64) bool { return a-b <= 1010 && b-a <= 1010 }

func millis(s string) int64 {
	v, _ := strconv.ParseFloat(s, 64)
	return int64(math.Round(v * 1e6))
}

func checkRow(t *testing.T, d *gclog.GCDetails, row map[string]string) {
	t.Helper()
	flag := func(b bool) string {
		if b {
			return "1"
		}
		return "0"
	}
	histories := 0
	for i := range d.Heaps {
		if d.Heaps[i].HasHistory {
			histories++
		}
	}
	for column, got := range map[string]string{
		"gen": strconv.Itoa(d.Generation), "type": fmt.Sprint(uint32(d.Type)), "reason": fmt.Sprint(uint32(d.Reason)),
		"demotedBGC": flag(d.DemotedBGC), "insideBGCStart": flag(d.InsideBGCStart), "provisional": flag(d.Provisional),
		"heaps": strconv.Itoa(d.HeapCount()), "mechanisms": fmt.Sprintf("0x%x", uint32(d.Global.Mechanisms)),
		"perheap": strconv.Itoa(histories), "size_after_bytes": fmt.Sprint(d.SizeAfter()), "promoted_bytes": fmt.Sprint(d.PromotedBytes),
	} {
		if want := row[column]; want != "" && got != want {
			t.Errorf("#%d %s is %s, want %s", d.Number, column, got, want)
		}
	}
	suspend := int64(0)
	if len(d.Pauses) > 0 {
		suspend = d.Pauses[0].Suspend
	}
	for column, got := range map[string]int64{"start_ms": d.Start, "duration_ms": d.Duration(), "suspend_ms": suspend} {
		if want := millis(row[column]); !near(got, want) {
			t.Errorf("#%d %s is %d ns, want %d", d.Number, column, got, want)
		}
	}
	want := strings.Split(row["pauses_ms"], "+")
	if len(want) != len(d.Pauses) {
		t.Errorf("#%d has %d pauses, want %s", d.Number, len(d.Pauses), row["pauses_ms"])
		return
	}
	for i, p := range d.Pauses {
		if !near(p.Duration, millis(want[i])) {
			t.Errorf("#%d pause %d is %d ns, want %s ms", d.Number, i, p.Duration, want[i])
		}
	}
}

// TestTruth holds the records against what the program said about the same
// collections: GC.GetGCMemoryInfo of each, its counters at two marks.
func TestTruth(t *testing.T) {
	shared.ForEach(t, func(t *testing.T, tr shared.Trace) {
		path := tr.Beside(".truth.jsonl.gz")
		if _, err := os.Stat(path); err != nil {
			t.Skip("the program of this recording said nothing")
		}
		x := reduce(t, shared.Read(t, tr.Path))
		if len(x.recorders) != 1 {
			t.Fatalf("%d processes", len(x.recorders))
		}
		checkTruth(t, x, shared.Read(t, path))
	})
}

func checkTruth(t *testing.T, x *reduction, lines []byte) {
	o := x.recorders[0]
	byNumber := map[string]*gclog.GCDetails{}
	for _, d := range o.gcs {
		byNumber[strconv.FormatUint(uint64(d.Number), 10)] = d
	}
	var begin, end *gcload.Line
	server := false
	compared := 0
	scanner := bufio.NewScanner(bytes.NewReader(lines))
	scanner.Buffer(nil, 1<<20)
	for scanner.Scan() {
		l := &gcload.Line{}
		if err := json.Unmarshal(scanner.Bytes(), l); err != nil {
			t.Fatal(err)
		}
		switch {
		case l.Event == "ready":
			server = l.Server
			if v := o.process.RuntimeVersion; v != "" && v != l.Runtime {
				t.Errorf("runtime version %s, want %s", v, l.Runtime)
			}
		case l.Event == "mark" && l.Label == "begin":
			begin = l
		case l.Event == "mark" && l.Label == "end" && end == nil:
			end = l
		case l.Event == "gc" && l.Kind != "counters" && !l.Phantom && l.HeapSizeBytes != 0:
			if d := byNumber[string(l.Index)]; d != nil && d.Complete {
				compareTruth(t, d, l, server)
				compared++
			}
		}
	}
	if begin != nil && end != nil { // not where the session began in the middle, or the program died
		compareCounters(t, x, begin, end)
	}
	t.Logf("%d of %d records compared", compared, len(o.gcs))
}

func compareTruth(t *testing.T, d *gclog.GCDetails, l *gcload.Line, server bool) {
	compacting, _ := d.Compacting()
	background := d.Kind == gclog.KindBackground
	check := func(what string, got, want uint64) {
		if got != want {
			t.Errorf("#%d %s is %d, the program says %d", d.Number, what, got, want)
		}
	}
	if d.Generation != l.Generation || background != l.Concurrent || compacting != l.Compacted {
		t.Errorf("#%d is gen%d background=%v compacting=%v, the program says gen%d %v %v",
			d.Number, d.Generation, background, compacting, l.Generation, l.Concurrent, l.Compacted)
	}
	if !d.HasHistory {
		t.Errorf("#%d lacks the histories of its heaps", d.Number)
		return
	}
	for g, want := range l.GenerationInfo {
		got := &d.Generations[g]
		name := gclog.GenerationName(g)
		check(name+" before", got.Before, want.SizeBefore)
		check(name+" fragmentation before", got.FreeBefore, want.FragBefore)
		check(name+" fragmentation after", got.Fragmentation, want.FragAfter)
		// A server background collection with foreground ones inside tells an earlier
		// state to the program than at its end.
		if !(server && background) {
			check(name+" after", got.After, want.SizeAfter)
		}
	}
	if background {
		return // the program shows stale numbers of the young generations
	}
	check("heap size", d.SizeAfter(), l.HeapSizeBytes)
	check("fragmentation", d.Fragmentation(), l.FragmentedBytes)
	check("promoted", d.PromotedBytes, l.PromotedBytes)
	check("pinned objects", uint64(d.PinnedObjects), l.PinnedObjectsCount)
	check("finalization pending", d.FinalizationCount, l.FinalizationPending)
}

// compareCounters: between two marks, the collections are as many as the program
// counts, and the suspensions are 1.00 to 1.12 times the pauses that it counts,
// which begin later and end earlier.
func compareCounters(t *testing.T, x *reduction, begin, end *gcload.Line) {
	o := x.recorders[0]
	from, to := x.trace.Nanoseconds(begin.QPC), x.trace.Nanoseconds(end.QPC)
	var counts [3]int
	var sum int64
	var allocated uint64
	known := true
	for _, d := range o.gcs {
		// A background collection counts when it starts.
		if d.Start < from || d.Start > to || d.Flaws&gclog.FlawNoStart != 0 {
			continue
		}
		for g := 0; g <= d.Generation; g++ {
			counts[g]++
		}
		allocated += d.Allocated()
		known = known && d.HasHistory
	}
	for _, p := range o.pauses {
		if p.Start < from || p.Start > to {
			continue
		}
		sum += p.Duration
		if p.UsedNumber != 0 {
			for g := range counts {
				counts[g]++
			}
		}
	}
	want := [3]int{end.Gen0 - begin.Gen0, end.Gen1 - begin.Gen1, end.Gen2 - begin.Gen2}
	if counts != want {
		t.Errorf("%v collections of gen0, 1, 2 and up between the marks, the program counts %v", counts, want)
	}
	if begin.PauseTotal != nil && end.PauseTotal != nil {
		total := (*end.PauseTotal - *begin.PauseTotal) * 1000
		if ratio := float64(sum) / total; total > 1e6 && (ratio < 0.999 || ratio > 1.12) {
			t.Errorf("suspensions of %d ns, the program counts %.0f: %.3f times", sum, total, ratio)
		}
	}
	if known && end.Allocated > begin.Allocated {
		t.Logf("allocated %.3f of what the program says", float64(allocated)/float64(end.Allocated-begin.Allocated))
	}
}
