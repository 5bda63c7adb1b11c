package analysis_test

import (
	"cmp"
	"encoding/json"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/gclog/analysis"
	"github.com/gclog/gclog/internal/testing/recordings"
	"github.com/gclog/gclog/parse/clr"
)

// rollup is TraceEvent's result for the complete collections of a generation.
type rollup struct {
	Count                  float64
	NumInduced             float64
	TotalPauseTimeMSec     float64
	MaxPauseDurationMSec   float64
	MaxSuspendDurationMSec float64
	TotalSizePeakMB        float64
	MaxSizePeakMB          float64
	TotalSizeAfterMB       float64
	TotalPromotedMB        float64
}

// collected is TraceEvent's result for a collection.
type collected struct {
	Number              uint32
	Generation          int
	Reason              string
	IsComplete          bool
	PauseDurationMSec   *float64
	SuspendDurationMSec *float64
	HeapSizePeakMB      *float64
	HeapSizeAfterMB     *float64
	PromotedMB          *float64
	PerHeapHistories    []struct{}
}

type oracleProcess struct {
	PID         int64
	Generations []rollup
	GCs         []*collected
}

// values are what a rollup sums up, in our units; none of a collection that is not complete.
func (w *collected) values() map[string]float64 {
	if w == nil || !w.IsComplete {
		return nil
	}
	v := map[string]float64{"number": 1}
	if w.Reason == "Induced" || w.Reason == "InducedNotForced" {
		v["induced"] = 1
	}
	for what, p := range map[string]*float64{
		"pause": w.PauseDurationMSec, "suspend": w.SuspendDurationMSec, "peak": w.HeapSizePeakMB, "after": w.HeapSizeAfterMB, "promoted": w.PromotedMB,
	} {
		if p != nil {
			v[what] = *p * 1e6 // milliseconds and millions of bytes
		}
	}
	return v
}

// An excuse is why TraceEvent's result for a collection differs from the record. The defects are
// those in README.md of the oracle. Whether it is so is decided by the record and by what else
// TraceEvent says of the collection.
type excuse struct {
	why    string
	what   []string
	always bool // they must differ
	holds  func(c *pair) bool
}

// A pair is a record and TraceEvent's result for the same collection.
type pair struct {
	x    *entry
	next *entry     // in the order of their starts
	w    *collected // nil: it has none
	cut  bool       // TraceEvent did not read all of the recording
}

var excuses = []excuse{
	{
		why: "1: a background collection that was carried out as a blocking one has only the suspension", what: []string{"pause"}, always: true,
		holds: func(c *pair) bool { return c.x.DemotedBGC },
	},
	{
		why: "2: a collection in the first suspension of a background one has all of it", what: []string{"pause"}, always: true,
		holds: func(c *pair) bool { return c.x.InsideBGCStart },
	},
	{
		why: "2: and the background one has none of it", what: []string{"pause"}, always: true,
		holds: func(c *pair) bool {
			return c.x.Kind == gclog.KindBackground && c.next != nil && c.next.InsideBGCStart
		},
	},
	{
		why: "3: the one before a full one of provisional mode has no pause", what: []string{"pause"}, always: true,
		holds: func(c *pair) bool { return c.next != nil && c.next.Provisional },
	},
	{
		why: "4, 5: the histories of a background collection are dropped, or added to those of a foreground one", what: []string{"peak"},
		holds: func(c *pair) bool {
			return c.x.Kind != gclog.KindBlocking && c.w != nil && len(c.w.PerHeapHistories) != c.x.HeapCount()
		},
	},
	{
		why: "9: only two reasons are induced", what: []string{"induced"}, always: true,
		holds: func(c *pair) bool {
			return c.x.Reason.Induced() && !c.x.HeapDump && c.x.Reason != clr.ReasonInduced && c.x.Reason != clr.ReasonInducedNotForced
		},
	},
	{
		why: "that of a heap snapshot is not the program's", what: []string{"induced"},
		holds: func(c *pair) bool { return c.x.HeapDump },
	},
	{
		why: "13: what follows the last sequence point is missing", what: []string{"number", "pause", "suspend", "peak", "after", "promoted"},
		holds: func(c *pair) bool { return c.cut && (c.w == nil || !c.w.IsComplete) },
	},
	{
		why: "14: a collection that was under way at the begin is missing", what: []string{"number", "peak", "after", "promoted"},
		holds: func(c *pair) bool { return c.w == nil && c.x.Flaws&gclog.FlawNoStart != 0 },
	},
	{
		why: "our pauses leave out collections with losses", what: []string{"pause", "suspend"}, always: true,
		holds: func(c *pair) bool { return c.x.Flaws&gclog.FlawLostEvents != 0 },
	},
	{
		why: "the runtime reports what earlier collections promoted with a background one", what: []string{"promoted"},
		holds: func(c *pair) bool { return c.x.Kind == gclog.KindBackground },
	},
	{
		why: "the runtime does not report pinned objects as promoted", what: []string{"promoted"}, always: true,
		holds: func(c *pair) bool {
			return c.x.Known.Has(gclog.GroupHistory) && c.x.Kind != gclog.KindBackground && c.x.Collected(gclog.POH) && c.x.Generations[gclog.POH].Survived > 0
		},
	},
}

// originals maps recordings, by process, to those that they were made from. TraceEvent takes every
// event of the former for the first version of its kind, and stops in the other at the cut: their
// collections are compared with its result for the originals.
var originals = map[string]map[int64]string{
	"v6-net8-wks-cut":    {27622: "net8-wks-churn"},
	"v6-merge-kvversion": {27125: "core31-wks-churn", 29261: "net10-datas-churn"},
}

func readOracle(t *testing.T, name string) (list []*oracleProcess, cut bool) {
	var f struct {
		Trace     struct{ Exception *string }
		Processes []*oracleProcess
	}
	if err := json.Unmarshal(recordings.Read(t, filepath.Join(recordings.Dir(t), "oracle", name+".gcs.json.gz")), &f); err != nil {
		t.Fatal(err)
	}
	return f.Processes, f.Trace.Exception != nil
}

// TestTraceEvent compares the rollups of each recording with those of TraceEvent: the collections
// that it sums up must be ours, number by number, unless an excuse holds.
func TestTraceEvent(t *testing.T) {
	traces, compared := recordings.Traces(t, "traces"), 0
	used := map[string]int{}
	for _, tr := range traces {
		t.Run(tr.Name, func(t *testing.T) {
			all, ledgers := map[int64]*analysis.Statistics{}, map[int64]*ledger{}
			read(t, recordings.Read(t, tr.Path), func(p *gclog.Process) gclog.Observer {
				all[p.ID] = analysis.NewStatistics(analysis.StatisticsOptions{Window: analysis.Always()})
				ledgers[p.ID] = &ledger{}
				return gclog.Tee(all[p.ID].Observe, ledgers[p.ID].Observe)
			})
			processes, cut := readOracle(t, tr.Name)
			for _, o := range processes {
				pid, original := o.PID, originals[tr.Name][o.PID]
				if len(all) == 1 && len(processes) == 1 {
					for pid = range all { // a recording of one process need not name it
					}
				}
				if all[pid] == nil {
					t.Fatalf("no process %d", pid)
				}
				if original != "" {
					list, _ := readOracle(t, original)
					o = list[0]
				}
				c := &comparison{t: t, x: all[pid].Summary(), own: ledgers[pid], used: used}
				c.collections(o, cut, original == "")
				for g := range o.Generations {
					c.rollup(g, o, original == "")
				}
			}
			compared++
		})
	}
	for i := range excuses {
		for _, what := range excuses[i].what {
			t.Logf("%5d collections: %s: %s", used[excuses[i].why+what], what, excuses[i].why)
			if used[excuses[i].why+what] == 0 && compared == len(traces) { // not if -run selected only some
				t.Errorf("nothing shows that %s differs: %s", what, excuses[i].why)
			}
		}
	}
}

// A ledger sums the same values from the records, collection by collection: rollups are compared
// with it, whatever TraceEvent's result is.
type ledger struct {
	entries []*entry
	pauses  map[int64][]int64 // by where the collection started
}

type entry struct {
	*gclog.GCDetails
	values map[string]float64
}

// Observe takes a record.
func (l *ledger) Observe(r gclog.Record) {
	switch r := r.(type) {
	case *gclog.Pause:
		if r.GC == nil {
			return
		}
		if l.pauses == nil {
			l.pauses = map[int64][]int64{}
		}
		l.pauses[r.GC.Start] = append(l.pauses[r.GC.Start], r.Duration, max(0, r.Suspend))
	case *gclog.GCDetails:
		e := &entry{r.Clone(), map[string]float64{"number": 1}}
		if r.Known.Has(gclog.GroupReason) && strings.HasPrefix(r.Reason.String(), "Induced") && !r.HeapDump {
			e.values["induced"] = 1
		}
		if list := l.pauses[r.Start]; len(list) > 0 && r.Flaws&^(gclog.FlawNoSizes|gclog.FlawNoHeaps) == 0 {
			for i := 0; i < len(list); i += 2 {
				e.values["pause"] += float64(list[i])
				e.values["suspend"] += float64(list[i+1])
			}
		}
		before, after := uint64(0), uint64(0)
		for i := range r.Generations {
			before, after = before+r.Generations[i].Before, after+r.Generations[i].After
		}
		e.values["peak"] = float64(max(r.Peak, before))
		e.values["after"] = float64(after)
		if r.Known.Has(gclog.GroupPromoted) {
			e.values["promoted"] = float64(r.PromotedBytes)
		}
		l.entries = append(l.entries, e)
	}
}

// comparison is about one process.
type comparison struct {
	t    *testing.T
	x    *analysis.Summary
	own  *ledger
	used map[string]int // excuses
}

// differs reports whether counts, nanoseconds or bytes differ: the oracle's are sums of doubles.
func differs(got, want float64) bool { return math.Abs(got-want) > 1e-9*math.Abs(want)+0.5 }

// collections compares the records with TraceEvent's collections.
func (c *comparison) collections(o *oracleProcess, cut, whole bool) {
	byStart, left := slices.Clone(c.own.entries), slices.Clone(o.GCs)
	slices.SortStableFunc(byStart, func(a, b *entry) int { return cmp.Compare(a.Start, b.Start) })
	for i, x := range byStart {
		p := &pair{x: x, cut: cut}
		if i+1 < len(byStart) {
			p.next = byStart[i+1]
		}
		if at := slices.IndexFunc(left, func(w *collected) bool { return w.Number == x.Number }); at >= 0 {
			p.w = left[at]
			left = slices.Delete(left, at, at+1)
		}
		if p.w != nil && min(x.Generation, gclog.Gen2) != p.w.Generation {
			c.t.Errorf("#%d is gen%d, TraceEvent says gen%d", x.Number, x.Generation, p.w.Generation)
		}
		theirs := p.w.values()
		for _, what := range []string{"number", "induced", "pause", "suspend", "peak", "after", "promoted"} {
			c.value(p, what, x.values[what], theirs[what])
		}
	}
	if whole && len(left) > 0 {
		c.t.Errorf("there are no records of %d collections, as #%d", len(left), left[0].Number)
	}
}

func (c *comparison) value(p *pair, what string, got, want float64) {
	explained := false
	for i := range excuses {
		r := &excuses[i]
		switch {
		case !slices.Contains(r.what, what) || !r.holds(p):
		case differs(got, want):
			c.used[r.why+what]++
			explained = true
		case r.always:
			c.t.Errorf("#%d: %s is %v, which TraceEvent has too, and should not: %s", p.x.Number, what, got, r.why)
		}
	}
	if differs(got, want) && !explained {
		c.t.Errorf("#%d: %s is %v, want %v", p.x.Number, what, got, want)
	}
}

// rollup compares the classes of a generation with the sums of the records, and those of
// TraceEvent with the sums of its collections.
func (c *comparison) rollup(g int, o *oracleProcess, whole bool) {
	classes := []analysis.Class{analysis.Class(g)}
	if g == gclog.Gen2 {
		classes = append(classes, analysis.ClassBackground)
	}
	check := func(what string, want float64, of func(*analysis.Rollup) analysis.Quantity, most bool) {
		c.t.Helper()
		add := func(a, b float64) float64 {
			if most {
				return max(a, b)
			}
			return a + b
		}
		got, records, theirs := 0.0, 0.0, 0.0
		for _, class := range classes {
			if q := of(&c.x.Classes[class]); most {
				got = add(got, q.Max.Value)
			} else {
				got = add(got, q.Total.Value)
			}
		}
		for _, x := range c.own.entries {
			if min(x.Generation, gclog.Gen2) == g {
				records = add(records, x.values[what])
			}
		}
		for _, w := range o.GCs {
			if w.Generation == g {
				theirs = add(theirs, w.values()[what])
			}
		}
		if got != records {
			c.t.Errorf("gen%d: %s is %v, the records come to %v", g, what, got, records)
		}
		if differs(theirs, want) && whole {
			c.t.Errorf("gen%d: %s is %v, TraceEvent's collections come to %v", g, what, want, theirs)
		}
	}
	const unit = 1e6 // milliseconds and millions of bytes
	pause := func(r *analysis.Rollup) analysis.Quantity { return r.Pause }
	peak := func(r *analysis.Rollup) analysis.Quantity { return r.Peak }
	want := &o.Generations[g]
	check("number", want.Count, func(r *analysis.Rollup) analysis.Quantity {
		return analysis.Quantity{Total: analysis.Number{Value: float64(r.Count)}}
	}, false)
	check("induced", want.NumInduced, func(r *analysis.Rollup) analysis.Quantity { return analysis.Quantity{Total: r.Induced} }, false)
	check("pause", want.TotalPauseTimeMSec*unit, pause, false)
	check("pause", want.MaxPauseDurationMSec*unit, pause, true)
	check("suspend", want.MaxSuspendDurationMSec*unit, func(r *analysis.Rollup) analysis.Quantity { return r.Suspend }, true)
	check("peak", want.TotalSizePeakMB*unit, peak, false)
	check("peak", want.MaxSizePeakMB*unit, peak, true)
	check("after", want.TotalSizeAfterMB*unit, func(r *analysis.Rollup) analysis.Quantity { return r.After }, false)
	check("promoted", want.TotalPromotedMB*unit, func(r *analysis.Rollup) analysis.Quantity { return r.Promoted }, false)
}
