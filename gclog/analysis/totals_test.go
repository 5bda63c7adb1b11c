package analysis_test

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/gclog/analysis"
	"github.com/gclog/gclog/internal/shared"
	"github.com/gclog/gclog/internal/totals"
	"github.com/gclog/gclog/parse/clr"
)

// everything observes a process for all that this package says. With rnd it changes some of what
// the records say.
type everything struct {
	facts     *gclog.Process
	rnd       *rand.Rand
	observers []gclog.Observer
	whole     *analysis.Statistics
	live      *analysis.Statistics
	part      *analysis.Statistics
	findings  *analysis.Findings
	standing  *analysis.Findings
	timeline  *analysis.Timeline
	peers     *analysis.Peers
	allocated *analysis.Allocated
	finalized *analysis.Finalized
	records   []*gclog.GCDetails
}

func observeAll(p *gclog.Process, rnd *rand.Rand) *everything {
	o := &everything{
		facts: p, rnd: rnd,
		whole: analysis.NewStatistics(analysis.StatisticsOptions{Window: analysis.Always()}),
		live:  analysis.NewStatistics(analysis.StatisticsOptions{Window: analysis.Always(), Live: true}),
		part:  analysis.NewStatistics(analysis.StatisticsOptions{Window: analysis.Window{From: 1e9, To: 3e9}}),

		findings: analysis.NewFindings(p, analysis.Thresholds{}, analysis.Always()),
		standing: analysis.NewLiveFindings(p, analysis.Thresholds{}),
		timeline: analysis.NewTimeline(analysis.Always()), peers: analysis.NewPeers(),
		allocated: analysis.NewAllocated(analysis.Always()), finalized: analysis.NewFinalized(analysis.Always()),
	}
	o.observers = []gclog.Observer{o.whole, o.live, o.part, o.findings, o.standing, o.timeline, o.peers, o.allocated, o.finalized}
	for _, x := range o.observers {
		if x, ok := x.(interface{ Begin(int64) }); ok {
			x.Begin(0)
		}
	}
	return o
}

func (o *everything) Pause(p *gclog.Pause) {
	x := *p
	if o.rnd != nil {
		x.Duration *= 1 + o.rnd.Int64N(4)
	}
	for _, to := range o.observers {
		to.Pause(&x)
	}
}

func (o *everything) Phase(p *gclog.Phase) {
	for _, to := range o.observers {
		to.Phase(p)
	}
}

func (o *everything) Gap(g *gclog.Gap) {
	for _, to := range o.observers {
		to.Gap(g)
	}
}

func (o *everything) GC(d *gclog.GCDetails) {
	d = d.Clone()
	if o.rnd != nil {
		vary(d, o.rnd)
	}
	o.records = append(o.records, d)
	for _, to := range o.observers {
		to.GC(d)
	}
}

func (o *everything) Event(at gclog.Stamp, e clr.Event, d *gclog.GCDetails) {
	for _, to := range o.observers {
		if to, ok := to.(gclog.EventObserver); ok {
			to.Event(at, e, d)
		}
	}
}

// vary changes a few numbers of a record to others that it could have had.
func vary(d *gclog.GCDetails, rnd *rand.Rand) {
	var leaves []reflect.Value
	var walk func(v reflect.Value)
	walk = func(v reflect.Value) {
		switch v.Kind() {
		case reflect.Struct:
			for i := range v.NumField() {
				switch f := v.Type().Field(i); f.Name {
				case "Number", "HasNumber", "Index", "Start", "End", "Heap", "GenerationCount", "Generations", "Kind", "Type", "Time", "TimeCount":
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
	for range 1 + rnd.IntN(12) {
		v := leaves[rnd.IntN(len(leaves))]
		factor := []int64{0, 2, 5, 20}[rnd.IntN(4)]
		switch v.Kind() {
		case reflect.Bool:
			v.SetBool(!v.Bool())
		case reflect.Int32, reflect.Int64:
			v.SetInt(min(v.Int()*factor+rnd.Int64N(2), 1<<30))
		case reflect.Uint32, reflect.Uint64:
			v.SetUint(min(v.Uint()*uint64(factor)+rnd.Uint64N(2), 1<<40) & (1<<(8*v.Type().Size()-1) - 1))
		case reflect.Float64:
			v.SetFloat(v.Float() * float64(factor))
		}
	}
}

// tell tells all that is known at the end.
func (o *everything) tell(into totals.Totals, end int64) {
	s := totals.Teller{Totals: into}
	for _, x := range o.observers {
		if x, ok := x.(interface{ End(int64) }); ok {
			x.End(end)
		}
	}
	for _, x := range []*analysis.Statistics{o.whole, o.live, o.part} {
		sum := x.Summary()
		s.Tell("Summary", sum)
		s.Tell("Metrics", sum.Metrics())
	}
	for _, f := range []*analysis.Findings{o.findings, o.standing} {
		for _, x := range f.List() {
			s.Tell("Finding "+x.Rule.ID, struct {
				Severity analysis.Severity
				Text     string
				GCs      []uint32
				Evidence []analysis.Evidence
			}{x.Severity, x.Text, x.GCs, x.Evidence})
			for _, e := range x.Evidence {
				s.Tell("Evidence", e.String())
			}
		}
		for _, x := range f.Unjudged() {
			s.Tell("Unjudged "+x.Rule.ID, x.Why)
		}
	}
	for i, d := range o.records {
		c := analysis.Context{Process: o.facts, HasBegin: true, Peers: o.peers}
		if i%5 == 4 {
			c = analysis.Context{Log: []string{"unified", "json", "csv"}[i%3]}
		}
		s.Tell("Explanation", analysis.Explain(d, c))
		n, pause := o.peers.Foreground(d)
		s.Tell("Foreground", []int64{int64(n), pause})
		s.Tell("UsedBefore", o.peers.UsedBefore(d.Number))
	}
	for at := int64(0); at < end; at += end/40 + 1 {
		for _, long := range []int64{1e6, 50e6, end / 10} {
			x := o.timeline.Overlap(at, at+long)
			s.Tell("Overlap", x)
			s.Tell("Stops", len(o.timeline.Stops(x)))
			s.Tell("Numbers", o.timeline.AppendNumbers(nil, x, 3))
			s.Tell("Missing", o.timeline.Missing(nil, at, at+long))
			before, after := o.timeline.Nearest(at, at+long)
			s.Tell("Before", before)
			s.Tell("After", after)
		}
	}
	s.Tell("Stop", o.timeline.All())
	s.Tell("Known", o.timeline.Known())
	s.Tell("Allocated", o.allocated.Most(5))
	samples, bytes := o.allocated.Samples()
	s.Tell("Samples", fmt.Sprintf("%d %.4g %d", samples, bytes, o.allocated.Types()))
	s.Tell("Finalized", o.finalized.Most(5))
}

// TestTotals: whatever changes in what is said of the recordings of the repository, and of the same
// with other numbers in their records, changes testdata/totals.txt. Other tests say what is right;
// this one is there so that nothing changes unseen. GCLOG_UPDATE=1 writes the file anew.
func TestTotals(t *testing.T) {
	whole, varied := totals.Totals{}, totals.Totals{}
	for _, tr := range shared.Repository(t) {
		stream := shared.Read(t, tr.Path)
		for seed := range uint64(5) {
			into, rnd := varied, rand.New(rand.NewPCG(seed, 7))
			if seed == 0 {
				into, rnd = whole, nil
			}
			var all []*everything
			processes := read(t, stream, func(p *gclog.Process) gclog.Observer {
				all = append(all, observeAll(p, rnd))
				return all[len(all)-1]
			})
			for _, o := range all {
				o.tell(into, processes.Newest())
			}
		}
	}
	totals.Hold(t, filepath.Join("testdata", "totals.txt"),
		totals.Part{Title: "recordings", Totals: whole},
		totals.Part{Title: "recordings whose records have other numbers", Totals: varied})
}
