package analysis_test

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/gclog/analysis"
	"github.com/gclog/gclog/internal/testing/extent"
	"github.com/gclog/gclog/internal/testing/recordings"
	"github.com/gclog/gclog/internal/testing/totals"
	"github.com/gclog/gclog/parse/clr"
)

// everything observes a process with all types of this package. With rnd it changes some values in
// the records.
type everything struct {
	facts        *gclog.Process
	rnd          *rand.Rand
	observers    []gclog.Observer
	whole        *analysis.Statistics
	live         *analysis.Statistics
	part         *analysis.Statistics
	findings     *analysis.Findings
	liveFindings *analysis.Findings
	timeline     *analysis.Timeline
	peers        *analysis.Peers
	types        *analysis.Types
	records      []*gclog.GCDetails
}

func observeAll(p *gclog.Process, rnd *rand.Rand) *everything {
	o := &everything{
		facts: p, rnd: rnd,
		whole: analysis.NewStatistics(analysis.StatisticsOptions{Window: analysis.Always()}),
		live:  analysis.NewStatistics(analysis.StatisticsOptions{Window: analysis.Always(), Live: true}),
		part:  analysis.NewStatistics(analysis.StatisticsOptions{Window: analysis.Window{From: 1e9, To: 3e9}}),

		findings:     analysis.NewFindings(p, analysis.Thresholds{}, analysis.Always()),
		liveFindings: analysis.NewLiveFindings(p, analysis.Thresholds{}),
		timeline:     analysis.NewTimeline(analysis.Always()), peers: analysis.NewPeers(),
		types: analysis.NewTypes(analysis.Always()),
	}
	o.observers = []gclog.Observer{o.whole.Observe, o.live.Observe, o.part.Observe, o.findings.Observe, o.liveFindings.Observe, o.timeline.Observe, o.peers.Observe}
	return o
}

// Observe takes a record.
func (o *everything) Observe(r gclog.Record) {
	switch x := r.(type) {
	case *gclog.Pause:
		if o.rnd != nil {
			p := *x
			p.Duration *= 1 + o.rnd.Int64N(4)
			r = &p
		}
	case *gclog.GCDetails:
		d := x.Clone()
		if o.rnd != nil {
			vary(d, o.rnd)
		}
		o.records = append(o.records, d)
		r = d
	}
	for _, to := range o.observers {
		to(r)
	}
}

func (o *everything) Ended(e analysis.Ending) {
	o.findings.Ended(e)
	o.liveFindings.Ended(e)
}

func (o *everything) Damaged(why string) {
	o.findings.Damaged(why)
	o.liveFindings.Damaged(why)
}

func (o *everything) Event(at gclog.Stamp, e clr.Event, d *gclog.GCDetails) {
	o.findings.Event(at, e, d)
	o.liveFindings.Event(at, e, d)
	o.types.Event(at, e, d)
}

// leaves are the numbers in a record, or in a part of it, that may be changed.
func leaves(d any) (leaves []reflect.Value) {
	var walk func(v reflect.Value)
	walk = func(v reflect.Value) {
		switch v.Kind() {
		case reflect.Struct:
			for i := range v.NumField() {
				switch f := v.Type().Field(i); f.Name {
				case "Number", "Index", "Start", "End", "Heap", "GenerationCount", "Generations", "Kind", "Type", "Time", "TimeCount":
					if f.Name == "Generations" && v.Field(i).Kind() != reflect.Int {
						walk(v.Field(i))
					}
				default:
					if f.IsExported() {
						walk(v.Field(i))
					}
				}
			}
		case reflect.Array, reflect.Slice:
			if v.Type().Elem().Kind() != reflect.Uint8 {
				for i := range v.Len() {
					walk(v.Index(i))
				}
			}
		case reflect.Pointer:
			if !v.IsNil() {
				walk(v.Elem())
			}
		case reflect.Bool, reflect.Int32, reflect.Int64, reflect.Uint32, reflect.Uint64, reflect.Float64:
			leaves = append(leaves, v)
		}
	}
	walk(reflect.ValueOf(d).Elem())
	return leaves
}

// few sets many numbers of a record to 0 or 1.
func few(d *gclog.GCDetails, rnd *rand.Rand) {
	known := d.Known
	for _, v := range leaves(d) {
		switch v.Kind() {
		case reflect.Int64:
			v.SetInt(rnd.Int64N(2))
		case reflect.Uint32, reflect.Uint64:
			v.SetUint(rnd.Uint64N(2))
		}
	}
	d.Known = known
}

// adapted adds measurements and decisions of DATAS to a record.
func adapted(d *gclog.GCDetails, rnd *rand.Rand) {
	for _, v := range leaves(&d.Datas) {
		switch v.Kind() {
		case reflect.Uint32, reflect.Uint64:
			v.SetUint(rnd.Uint64N(1e6))
		case reflect.Float64:
			v.SetFloat(float64(rnd.IntN(100)))
		}
	}
	for _, g := range []gclog.Groups{gclog.GroupDatasSample, gclog.GroupDatasTuning, gclog.GroupDatasFullGCTuning, gclog.GroupDatasTuning8, gclog.GroupDatasSample8} {
		d.Known.Set(g, rnd.IntN(3) == 0)
	}
	t := &d.Datas.Tuning
	t.MinHeaps, t.NewHeaps, t.MaxHeaps = uint16(rnd.IntN(4)), uint16(rnd.IntN(4)), uint16(rnd.IntN(4))
}

// vary changes a few numbers of a record to other possible values.
func vary(d *gclog.GCDetails, rnd *rand.Rand) {
	all := leaves(d)
	for range 1 + rnd.IntN(12) {
		v := all[rnd.IntN(len(all))]
		factor := []int64{0, 2, 5, 20}[rnd.IntN(4)]
		switch v.Kind() {
		case reflect.Bool:
			v.SetBool(!v.Bool())
		case reflect.Int32, reflect.Int64:
			v.SetInt(min(v.Int()*factor+rnd.Int64N(2), 1<<30))
		case reflect.Uint32, reflect.Uint64:
			if v.Type().Name() != v.Kind().String() { // a mask
				v.SetUint(v.Uint() ^ 1<<rnd.IntN(24))
				continue
			}
			v.SetUint(min(v.Uint()*uint64(factor)+rnd.Uint64N(2), 1<<40) & (1<<(8*v.Type().Size()-1) - 1))
		case reflect.Float64:
			v.SetFloat(v.Float() * float64(factor))
		}
	}
}

// sum adds up everything that is known at the end.
func (o *everything) sum(into totals.Totals, end int64) {
	s := totals.Adder{Totals: into}
	for _, x := range []*analysis.Statistics{o.whole, o.live, o.part} {
		sum := x.Summary()
		s.AddAll("Summary", sum)
		s.AddAll("Metrics", sum.Metrics())
	}
	sumFindings(&s, o.findings)
	sumFindings(&s, o.liveFindings)
	for i, d := range o.records {
		c := analysis.Context{Process: o.facts, HasBegin: true, Peers: o.peers}
		switch i % 5 {
		case 3:
			c.HasBegin, c.Process = false, nil
		case 4:
			c = analysis.Context{Log: []string{"unified", "json", "csv"}[i/5%3], Process: o.facts}
		}
		s.AddAll("Explanation", analysis.Explain(d, c))
	}
	for at := int64(0); at < end; at += end/40 + 1 {
		for _, long := range []int64{1e6, 50e6, end / 10} {
			x := o.timeline.Overlap(at, at+long)
			s.AddAll("Overlap", x)
			s.AddAll("Stops", len(o.timeline.Stops(x)))
			s.AddAll("Numbers", o.timeline.AppendNumbers(nil, x, 3))
			s.AddAll("Missing", o.timeline.Missing(nil, at, at+long))
			before, after := o.timeline.Nearest(at, at+long)
			s.AddAll("Before", before)
			s.AddAll("After", after)
		}
	}
	s.AddAll("Stop", o.timeline.All())
	s.AddAll("Known", o.timeline.Known())
	s.AddAll("Allocated", o.types.Allocated(5))
	s.AddAll("Finalized", o.types.Finalized(5))
}

func sumFindings(s *totals.Adder, f *analysis.Findings) {
	for _, x := range f.List() {
		s.AddAll("Finding "+x.Rule.ID, struct {
			Severity analysis.Severity
			Text     string
			GCs      []uint32
			Evidence []analysis.Fact
		}{x.Severity, x.Text, x.GCs, x.Evidence})
		for _, e := range x.Evidence {
			s.AddAll("Evidence", e.Name+" "+factText(&e))
		}
	}
	for _, x := range f.NotEvaluated() {
		s.AddAll("Unjudged "+x.Rule.ID, x.Why)
	}
}

// atThresholds sets the thresholds of the rules to, or next to, numbers in the evidence of their
// findings: one step further a rule may find nothing.
func atThresholds(t *testing.T, found []analysis.Finding, rnd *rand.Rand) (moved analysis.Thresholds) {
	t.Helper()
	for _, x := range found {
		for _, threshold := range x.Rule.Thresholds {
			e := x.Evidence[rnd.IntN(len(x.Evidence))]
			if e.Unit != threshold.Unit || e.Value <= 0 {
				continue
			}
			unit := map[string]string{"1/min": "/min", "bytes": "B", "bytes/s": "B/s", "%/h": "%"}
			text := e.Unit
			if u, ok := unit[text]; ok {
				text = u
			}
			if err := moved.Set(x.Rule.ID+"."+threshold.Name, fmt.Sprintf("%f%s", e.Value, text)); err != nil {
				t.Fatal(err)
			}
		}
	}
	return moved
}

// madeUp returns a history of a few collections, or of many, close together or hours apart; some
// begin like a rule case, or a part of one.
func madeUp(rnd *rand.Rand) *past {
	h := newPast()
	if c := ruleCases[rnd.IntN(len(ruleCases))]; rnd.IntN(2) == 0 {
		c.bad(h)
	} else {
		c.good(h)
	}
	if rnd.IntN(2) == 0 {
		h.calls = h.calls[:min(len(h.calls), 1+rnd.IntN(40))]
	}
	if rnd.IntN(3) == 0 {
		return h
	}
	p := &h.process
	p.Server, p.Concurrent, p.HasLimits = gclog.Known(rnd.IntN(3)), gclog.Known(rnd.IntN(3)), rnd.IntN(2) == 0
	p.RuntimeVersion = []string{"", "3.1.32", "7.0.5", "8.0.11", "10.0.1"}[rnd.IntN(5)]
	p.Processors, p.HeapCount = rnd.IntN(5), rnd.IntN(5)
	p.ID, p.Name, p.Service = rnd.Int64N(2), []string{"", "shop"}[rnd.IntN(2)], []string{"", "orders"}[rnd.IntN(2)]
	p.UptimeAtSync = time.Duration(rnd.Int64N(2)) * time.Hour
	p.Limits.HardLimit = []uint64{0, 1, 300 * megabyte, 320 * megabyte}[rnd.IntN(4)]
	p.Limits.HighMemoryPercent = []uint32{0, 1, 40, 90, 100}[rnd.IntN(5)]
	usual := []func(){
		func() { h.healthy(1 + rnd.IntN(30)) },
		func() { h.run(time.Duration(1 << rnd.IntN(43))) },
		func() {
			h.gap(gclog.Gap{Reason: gclog.GapReason(rnd.IntN(7)), Since: int64(h.now) / 2 * rnd.Int64N(2), From: h.number + 1, To: h.number + uint32(rnd.IntN(4))})
		},
		func() { h.calls = append(h.calls, func(to listener) { to.Observe(&gclog.Start{At: int64(h.now)}) }) },
		func() {
			n := rnd.IntN(4)
			h.tick(uint64(n), []string{"A", "B", "System.String", strings.Repeat("x", 100*rnd.IntN(9))}[n], uint64(rnd.IntN(1e6)))
		},
		func() {
			switch rnd.IntN(3) {
			case 0:
				h.start(gclog.Start{CollectionsOnly: true})
			case 1:
				h.start(gclog.Start{Unbounded: true})
			default:
				h.calls = append(h.calls, func(to listener) { to.Damaged("the disk is full") })
			}
		},
	}
	length := func() time.Duration {
		return []time.Duration{1, milli, 30 * milli, 200 * milli, 201 * milli}[rnd.IntN(5)]
	}
	for range 1 + rnd.IntN(40) {
		changes := someChanges(rnd)
		switch k := rnd.IntN(14); {
		case k < len(usual):
			usual[k]()
		case k < 9:
			h.background(length(), length(), length(), changes...)
		default:
			h.run(length()).gc(rnd.IntN(4), length(), changes...)
		}
	}
	return h
}

// someChanges returns changes of a collection that rules and explanations mention.
func someChanges(rnd *rand.Rand) (list []change) {
	all := []func() change{
		func() change { return func(d *gclog.GCDetails) { vary(d, rnd) } },
		func() change { return func(d *gclog.GCDetails) { few(d, rnd) } },
		func() change { return func(d *gclog.GCDetails) { adapted(d, rnd) } },
		func() change { return reason(clr.Reason(rnd.IntN(20))) },
		func() change { return condemned(1 << rnd.IntN(22)) },
		func() change { return load([]uint32{0, 1, 39, 40, 89, 90, 99, 100}[rnd.IntN(8)]) },
		func() change { return promoted(uint64(rnd.IntN(3)) * megabyte) },
		func() change { return foreground },
		func() change { return incomplete(gclog.FlawNoSizes) },
		func() change { return func(d *gclog.GCDetails) { d.Known &^= gclog.GroupAfter } },
		func() change {
			return func(d *gclog.GCDetails) { d.Known &^= gclog.GroupHistory | gclog.GroupGenerationAllocated }
		},
		func() change { return func(d *gclog.GCDetails) { d.FromLog = true } },
		func() change {
			return func(d *gclog.GCDetails) {
				d.LOHCompactions = append(d.LOHCompactions, clr.LOHCompact{PlanMicroseconds: rnd.Uint32N(3), RelocateMicroseconds: rnd.Uint32N(3), CompactMicroseconds: rnd.Uint32N(3), TotalRefs: rnd.Uint64N(3)})
			}
		},
		func() change {
			return func(d *gclog.GCDetails) {
				d.Global.CondemnedGenerations = clr.MakeCondemnedGenerations(rnd.IntN(3), rnd.IntN(3), rnd.IntN(3), rnd.IntN(3))
				d.Global.PauseMode, d.Global.Mechanisms = clr.PauseMode(rnd.IntN(6)), clr.Mechanisms(rnd.Uint32())
				d.Known |= gclog.GroupCompaction
			}
		},
		func() change {
			return func(d *gclog.GCDetails) {
				d.Triggered = d.Start - rnd.Int64N(3)*int64(milli)
				d.Known |= gclog.GroupTrigger
				d.SinceLast, d.AllocationRate = rnd.Int64N(1e9), float64(rnd.IntN(1e9))
				d.Known |= gclog.GroupSinceLast
			}
		},
		func() change { return heaps(uint64(rnd.IntN(3)), uint64(rnd.IntN(9)), uint64(rnd.IntN(9))) },
		func() change { return incomplete(1 << rnd.IntN(8)) },
		func() change { return dueByTime },
		func() change { return func(d *gclog.GCDetails) { d.HeapDump = true } },
		func() change {
			return func(d *gclog.GCDetails) {
				d.Memory = gclog.Memory{Resident: uint64(rnd.IntN(2000)) * megabyte, Cgroup: uint64(rnd.IntN(300)) * megabyte, CgroupLimit: uint64(rnd.IntN(2)) * 320 * megabyte, At: d.End}
			}
		},
		func() change {
			return func(d *gclog.GCDetails) {
				d.CommittedAfter = uint64(rnd.IntN(400)) * megabyte
				d.Known |= gclog.GroupCommittedAfter
			}
		},
		func() change {
			return func(d *gclog.GCDetails) {
				d.Finalizers = gclog.FinalizerDetails{Runs: uint32(rnd.IntN(3)), Objects: uint64(rnd.IntN(3)), Running: rnd.Int64N(2) * 90e9, Longest: rnd.Int64N(2) * 2e9}
				d.Known |= gclog.GroupFinalizers
				d.Known.Set(gclog.GroupLongestFinalizers, rnd.IntN(2) == 0)
				d.FinalizationCount = uint64(rnd.IntN(3)) * 10_000
			}
		},
		func() change {
			return func(d *gclog.GCDetails) {
				if d.Background != nil {
					d.Background.WaitCount, d.Background.WaitMax = rnd.Int64N(2), rnd.Int64N(400e6)
				}
			}
		},
	}
	for range rnd.IntN(5) {
		list = append(list, all[rnd.IntN(len(all))]())
	}
	return list
}

// TestTotals compares totals of all results with testdata/totals.txt: for the recordings of the
// repository, for the same with other numbers in their records, and for random histories. Other
// tests check what is right; this one detects every change. GCLOG_UPDATE=1 rewrites the file.
func TestTotals(t *testing.T) {
	extent.Long(t)
	whole, varied, made := totals.Totals{}, totals.Totals{}, totals.Totals{}
	for _, tr := range recordings.Repository(t) {
		stream := recordings.Read(t, tr.Path)
		for seed := range uint64(5) {
			into, rnd := varied, rand.New(rand.NewPCG(seed, 7))
			if seed == 0 {
				into, rnd = whole, nil
			}
			var all []*everything
			processes := read(t, stream, func(p *gclog.Process) gclog.Observer {
				o := observeAll(p, rnd)
				o.Observe(&gclog.Start{At: 0})
				all = append(all, o)
				return o.Observe
			}, func(*gclog.Process) gclog.EventObserver { return all[len(all)-1].Event })
			for _, o := range all {
				o.Observe(&gclog.End{At: processes.Latest()})
				o.sum(into, processes.Latest())
			}
		}
	}
	for seed := range uint64(120) {
		rnd := rand.New(rand.NewPCG(seed, 8))
		h := madeUp(rnd)
		o := observeAll(&h.process, nil)
		h.replay(o)
		o.sum(made, int64(h.now))
		for range 3 {
			f := analysis.NewFindings(&h.process, atThresholds(t, o.findings.List(), rnd), analysis.Always())
			h.replay(f)
			sumFindings(&totals.Adder{Totals: made}, f)
		}
	}
	wild := totals.Adder{Totals: totals.Totals{}}
	rnd := rand.New(rand.NewPCG(1, 9))
	for range 1000 {
		d, peers := wildRecord(rnd)
		wild.AddAll("Explanation", analysis.Explain(d, analysis.Context{HasBegin: rnd.IntN(2) == 0, Peers: peers}))
	}
	totals.Hold(t, filepath.Join("testdata", "totals.txt"),
		totals.Part{Title: "recordings", Totals: whole},
		totals.Part{Title: "recordings whose records have other numbers", Totals: varied},
		totals.Part{Title: "histories that are made up", Totals: made},
		totals.Part{Title: "records that no runtime would tell", Totals: wild.Totals})
}
