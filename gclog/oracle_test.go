package gclog_test

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/internal/testing/recordings"
)

// TestOracle compares every record of every recording with what TraceEvent, the library behind
// PerfView, makes of the same collection. Both must agree, unless one of the defects explains why
// they do not, and other evidence shows that the record is right.
func TestOracle(t *testing.T) {
	used := make([]map[string]int, len(defects)) // how many collections each defect explains, by member
	for i := range used {
		used[i] = map[string]int{}
	}
	known, compared := 0, 0
	for _, folder := range []string{"traces", "heap-traces"} {
		for _, tr := range recordings.Traces(t, folder) {
			if _, err := os.Stat(oraclePath(t, tr.Name)); errors.Is(err, fs.ErrNotExist) {
				continue
			}
			known++
			t.Run(tr.Name, func(t *testing.T) {
				compareOracle(t, tr, used)
				compared++
			})
		}
	}
	for i, x := range defects {
		t.Logf("%5d collections: %s", used[i][""], x.what)
		for _, member := range append([]string{""}, x.members...) {
			if used[i][member] == 0 && compared == known { // not if -run selected only some
				t.Errorf("nothing shows this defect: %s: %s", x.what, member)
			}
		}
	}
}

func oraclePath(t *testing.T, name string) string {
	return filepath.Join(recordings.Dir(t), "oracle", name+".gcs.json.gz")
}

func readOracle(t *testing.T, name string) *oracleFile {
	f := &oracleFile{}
	if err := json.Unmarshal(recordings.Read(t, oraclePath(t, name)), f); err != nil {
		t.Fatal(err)
	}
	return f
}

// originals maps recordings, by process, to those that they were made from. TraceEvent cannot read
// the derived ones, reads them in part, or takes them for events of version 0: their collections
// are compared with its result for the originals.
var originals = map[string]map[int64]string{
	"v6-net8-datas-alien": {27875: "net8-datas-churn"},
	"v6-net8-wks-cut":     {27622: "net8-wks-churn"},
	"v6-merge-kvversion":  {27125: "core31-wks-churn", 29261: "net10-datas-churn"},
}

func compareOracle(t *testing.T, tr recordings.Trace, used []map[string]int) {
	stream := recordings.Read(t, tr.Path)
	x := reduce(t, stream)
	file := readOracle(t, tr.Name)
	compareLists(t, x, file, tr.Name)
	processes := file.Processes
	for pid, name := range originals[tr.Name] {
		original := readOracle(t, name).Processes
		if len(original) != 1 {
			t.Fatalf("%d processes in %s", len(original), name)
		}
		original[0].PID = pid
		processes = append(slices.DeleteFunc(processes, func(p *oracleProcess) bool { return p.PID == pid }), original...)
	}
	events := readEvents(t, stream)
	for _, w := range processes {
		o := x.ofProcess(w.PID)
		if o == nil {
			if len(w.GCs) > 0 {
				t.Errorf("nothing is known of process %d", w.PID)
			}
			continue
		}
		c := &comparison{t: t, r: newEvidence(tr.Name, o, events[w.PID], file.Trace.Exception != nil), used: used}
		c.process(w)
	}
}

func (x *reduction) ofProcess(pid int64) *recorder {
	for _, o := range x.recorders {
		if o.process.ID == pid {
			return o
		}
	}
	return nil
}

// compareLists checks that each collection TraceEvent knows has a record, and vice versa, except
// where TraceEvent stops at the end of the stream (13) and where the session started during a
// background collection (14).
func compareLists(t *testing.T, x *reduction, file *oracleFile, name string) {
	cut := file.Trace.Exception != nil
	for _, o := range x.recorders {
		var theirs, ours []uint32
		for _, w := range file.Processes {
			for _, g := range w.GCs {
				if w.PID == o.process.ID {
					theirs = append(theirs, g.Number)
				}
			}
		}
		for _, d := range o.gcs {
			if d.Flaws&gclog.FlawNoStart == 0 {
				ours = append(ours, d.Number)
			}
		}
		slices.Sort(theirs)
		slices.Sort(ours)
		if cut {
			if len(ours) < len(theirs) {
				t.Errorf("%s: %d records, TraceEvent has %d", name, len(ours), len(theirs))
			}
			ours = ours[:min(len(ours), len(theirs))]
		}
		if !slices.Equal(ours, theirs) {
			t.Errorf("process %d: records of %v, TraceEvent has %v", o.process.ID, ours, theirs)
		}
	}
}

// evidence is what the defects are judged by.
type evidence struct {
	name    string
	cut     bool // TraceEvent stopped before the end
	o       *recorder
	byStart []*gclog.GCDetails
	server  bool
	events  *processEvents
}

func newEvidence(name string, o *recorder, events *processEvents, cut bool) *evidence {
	r := &evidence{name: name, o: o, events: events, cut: cut, byStart: slices.Clone(o.gcs)}
	slices.SortStableFunc(r.byStart, func(a, b *gclog.GCDetails) int { return int(a.Start - b.Start) })
	r.server = o.process.Server == gclog.Yes
	return r
}

// neighbours returns the records before and after d in the order of their starts.
func (r *evidence) neighbours(d *gclog.GCDetails) (before, after *gclog.GCDetails) {
	i := slices.Index(r.byStart, d)
	if i > 0 {
		before = r.byStart[i-1]
	}
	if i+1 < len(r.byStart) {
		after = r.byStart[i+1]
	}
	return before, after
}

// A comparison compares the collections of one process.
type comparison struct {
	t       *testing.T
	r       *evidence
	used    []map[string]int
	members int
	pair
}

// A pair is a record and TraceEvent's result for the same collection.
type pair struct {
	d             *gclog.GCDetails
	w             *oracleGC
	before, after *gclog.GCDetails // in the order of their starts
	first         *oracleGC        // of the process
	firstHeaps    int              // the number of heaps that TraceEvent first saw
	explained     map[int]bool     // defects that explain a difference here
}

func (c *comparison) process(w *oracleProcess) {
	left := slices.Clone(c.r.o.gcs)
	n, dynamic, heaps := 0, 0, 0
	for _, g := range slices.Backward(w.GCs) {
		if g.HeapCount != nil && *g.HeapCount > 0 {
			heaps = int(*g.HeapCount)
		}
	}
	for _, g := range w.GCs {
		i := slices.IndexFunc(left, func(d *gclog.GCDetails) bool { return d.Number == g.Number })
		if i < 0 {
			c.t.Errorf("no record of #%d", g.Number)
			continue
		}
		c.pair = pair{d: left[i], w: g, first: w.GCs[0], firstHeaps: heaps, explained: map[int]bool{}}
		c.before, c.after = c.r.neighbours(c.d)
		left = slices.Delete(left, i, i+1)
		c.compare()
		for i := range c.explained {
			c.used[i][""]++
		}
		for i := range defects {
			if x := &defects[i]; x.always && x.affects(c.r, &c.pair) && !c.explained[i] {
				c.t.Errorf("#%d agrees where it cannot: %s", c.d.Number, x.what)
			}
		}
		dynamic += c.dynamic()
		n++
	}
	c.t.Logf("process %d: %d collections, %d members, %d dynamic events compared", w.PID, n, c.members, dynamic)
	if n != len(w.GCs) || n > 0 && c.members < 80*n {
		c.t.Errorf("compared %d of %d collections, %d members", n, len(w.GCs), c.members)
	}
}

// disagree looks for the defects that explain a difference.
func (c *comparison) disagree(member string, ours, theirs any) {
	for i := range defects {
		x := &defects[i]
		name, _, _ := strings.Cut(member, "[")
		if !slices.Contains(x.members, name) {
			name = member
		}
		if !slices.Contains(x.members, name) || !x.affects(c.r, &c.pair) {
			continue
		}
		c.used[i][name]++
		if !c.explained[i] {
			c.explained[i] = true
			if wrong := x.wrong(c.r, &c.pair); wrong != "" {
				c.t.Errorf("#%d %s: %s: %s (%s)", c.d.Number, c.d.AppendName(nil), x.what, wrong, member)
			}
		}
		return
	}
	c.t.Errorf("#%d %s %s is %v, TraceEvent says %v", c.d.Number, c.d.AppendName(nil), member, ours, theirs)
}

// dynamic compares the events of dynamic adaptation: TraceEvent keeps them as bytes with the
// collection of the moment, a record has those that contain its number.
func (c *comparison) dynamic() (compared int) {
	for _, e := range c.w.DynamicEvents {
		b, err := hex.DecodeString(e.Payload)
		at := map[string]int{
			"SizeAdaptationSample": 2, "SizeAdaptationTuning": 8, "SizeAdaptationFullGCTuning": 4, "HeapCountTuning": 4, "HeapCountSample": 2,
		}[e.Name]
		if err != nil || at == 0 || len(b) < at+8 {
			c.t.Errorf("event %s in #%d: %v", e.Name, c.w.Number, err)
			continue
		}
		number := binary.LittleEndian.Uint64(b[at:])
		i := slices.IndexFunc(c.r.o.gcs, func(d *gclog.GCDetails) bool { return uint64(d.Number) == number })
		if i < 0 {
			c.t.Errorf("event %s of #%d, of which there is no record", e.Name, number)
			continue
		}
		known, x := c.r.o.gcs[i].Known, &c.r.o.gcs[i].Datas
		has, event := false, any(nil)
		switch e.Name {
		case "SizeAdaptationSample":
			has, event = known.Has(gclog.GroupDatasSample), x.Sample
		case "SizeAdaptationTuning":
			has, event = known.Has(gclog.GroupDatasTuning), x.Tuning
		case "SizeAdaptationFullGCTuning":
			has, event = known.Has(gclog.GroupDatasFullGCTuning), x.FullGCTuning
		case "HeapCountTuning":
			has, event = known.Has(gclog.GroupDatasTuning8), x.Tuning8
		case "HeapCountSample":
			has, event = known.Has(gclog.GroupDatasSample8), x.Sample8
		}
		// The fields are in the order of the event, with its version where the structs have the
		// number of the runtime.
		got, err := binary.Append(nil, binary.LittleEndian, event)
		if err != nil || !has || !bytes.Equal(got[2:], b[2:]) {
			c.t.Errorf("event %s of #%d: %v %x, TraceEvent has %x: %v", e.Name, number, has, got, b, err)
		}
		compared++
	}
	return compared
}
