package gclog_test

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/internal/testing/recordings"
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

// Observe takes a record.
func (o *recorder) Observe(r gclog.Record) {
	switch r := r.(type) {
	case *gclog.Pause:
		q := *r
		if r.GC != nil {
			q.GC = r.GC.Clone()
		}
		o.pauses = append(o.pauses, q)
		o.sum += r.Duration
	case *gclog.Phase:
		o.phases = append(o.phases, *r)
	case *gclog.GCDetails:
		o.gcs = append(o.gcs, r.Clone())
	case *gclog.Gap:
		o.gaps = append(o.gaps, *r)
	}
}

// reduction is the result of reducing a stream.
type reduction struct {
	trace     *parse.Trace
	recorders []*recorder
	processes *gclog.Processes
	starts    int // GCStart events
	err       error
}

func reduce(t testing.TB, stream []byte) *reduction {
	t.Helper()
	var list []*recorder
	x := reduceInto(t, stream, func(p *gclog.Process) gclog.Observer {
		o := &recorder{process: p}
		list = append(list, o)
		return o.Observe
	})
	x.recorders = list
	return x
}

func reduceInto(t testing.TB, stream []byte, observe func(*gclog.Process) gclog.Observer, events ...gclog.EventObserver) *reduction {
	t.Helper()
	x := &reduction{processes: gclog.NewProcesses(observe)}
	for _, to := range events {
		x.processes.Events = func(*gclog.Process) gclog.EventObserver { return to }
	}
	r := parse.NewReader(bytes.NewReader(stream), gclog.Wanted)
	for r.Scan() {
		x.processes.Take(r)
		if e := r.Event(); e != nil && e.Meta.Provider == clr.RuntimeProvider && e.Meta.EventID == clr.IDGCStart {
			x.starts++
		}
	}
	x.processes.Finish()
	x.trace, x.err = r.Trace(), r.Err()
	return x
}

// TestRecordings checks the records of every recording against the two invariants and against the
// rows of its expected.tsv.
func TestRecordings(t *testing.T) {
	recordings.ForEach(t, func(t *testing.T, tr recordings.Trace) {
		x := reduce(t, recordings.Read(t, tr.Path))
		x.checkInvariants(t)
		x.checkExpected(t, tr.Name, tr.Beside(".expected.tsv"))
		if n := x.processes.DecodeErrors(); n != 0 {
			t.Errorf("%d events could not be decoded", n)
		}
	})
}

// checkInvariants checks that the pauses add up to the suspensions, and that every GCStart yields
// exactly one record.
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
				t.Errorf("pause at %d was reported after the one at %d", p.Start, o.pauses[i-1].Start)
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

// lossy are the recordings in which events are missing.
var lossy = map[string]bool{"stall": true, "v6-wksb": true}

func (x *reduction) checkExpected(t *testing.T, name, path string) {
	lines := strings.Split(strings.TrimSpace(string(recordings.Read(t, path))), "\n")
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

// near allows for the rounding of the columns in expected.tsv.
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
		if column == "promoted_bytes" && !d.Known.Has(gclog.GroupPromoted) {
			continue // the runtime's sum leaves out what no history reported
		}
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
