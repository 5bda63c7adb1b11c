package report

import (
	"bytes"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/gclog/analysis"
	"github.com/gclog/gclog/parse/clr"
)

// A world makes collections of a program that does not exist, with the numbers of one that does:
// sizes before are those after plus what was allocated, sums are sums, times are noisy.
type world struct {
	rand   *rand.Rand
	now    int64
	number uint32
	size   [gclog.Generations]uint64
}

func newWorld(seed uint64) *world {
	return &world{rand: rand.New(rand.NewPCG(seed, 1)), now: 1e9, size: [gclog.Generations]uint64{0, 2e6, 40e6, 10e6, 1e5}}
}

// around returns a number between half of n and 1.5 times n.
func (w *world) around(n uint64) uint64 { return n/2 + w.rand.Uint64N(n+1) }

func (w *world) next() *gclog.GCDetails {
	w.number++
	ran := int64(w.around(20e6))
	w.now += ran
	d := &gclog.GCDetails{
		Number: w.number, Known: gclog.GroupNumber | gclog.GroupReason | gclog.GroupAfter | gclog.GroupHistory | gclog.GroupObjects | gclog.GroupFragmentation | gclog.GroupBefore | gclog.GroupPromoted | gclog.GroupGenerationPromoted | gclog.GroupAllocated | gclog.GroupGenerationAllocated | gclog.GroupSinceLast | gclog.GroupCommittedAfter | gclog.GroupCommittedBefore | gclog.GroupPinned | gclog.GroupHandles | gclog.GroupFinalizationCount | gclog.GroupFinalizationSize | gclog.GroupEnd, Complete: true, GenerationCount: gclog.Generations, Reason: clr.ReasonAllocSmall, SinceLast: ran, Window: 2 * ran,
	}
	switch n := w.rand.IntN(100); {
	case n == 0:
		d.Generation, d.Kind = gclog.Gen2, gclog.KindBackground
	case n == 1:
		d.Generation, d.Reason = gclog.Gen2, clr.ReasonInduced
	case n < 20:
		d.Generation = gclog.Gen1
	}
	d.Index = int64(w.number)
	suspend, pause := int64(w.around(30e3)), int64(w.around([...]uint64{2e6, 5e6, 40e6}[d.Generation]))
	if w.rand.IntN(1000) == 0 {
		pause *= 20
	}
	start := w.now
	d.Start, d.End, d.Suspended = start+suspend, start+pause, start
	part := gclog.PausePart{Start: start, Duration: pause, Suspend: suspend, Resume: 20e3, HasSuspend: true, HasResume: true}
	if d.Kind == gclog.KindBackground {
		part.Kind, part.Duration = gclog.PauseInitial, pause/10
		final := part
		final.Kind, final.Start = gclog.PauseFinal, start+pause
		d.Pauses = []gclog.PausePart{part, final}
		d.Background = &gclog.BackgroundDetails{MarkStart: start + pause/10, MarkEnd: start + pause, SweepStart: start + pause + pause/10, SweepEnd: start + 2*pause}
		w.now += pause
		d.End = start + 2*pause
	} else {
		d.Pauses = []gclog.PausePart{part}
	}
	w.now += pause
	for g := range d.Generations {
		x := &d.Generations[g]
		if g == gclog.Gen0 || g > gclog.Gen2 {
			x.Allocated = w.around([...]uint64{6e6, 0, 0, 1e5, 100}[g])
		}
		x.Before = w.size[g] + x.Allocated
		x.ObjectsBefore, x.After = x.Before, x.Before
		if d.Collected(g) {
			x.Survived = x.Before / 100 * w.rand.Uint64N(90)
			x.Promoted, x.After = x.Survived, x.Survived
			if g == gclog.Gen2 {
				x.After = 40e6 + w.rand.Uint64N(1e6)
			}
			x.Budget = w.around(6e6)
			x.BudgetLeft, x.HasBudgetLeft = int64(w.rand.IntN(1e5))-5e4, true
		} else if g > 0 {
			x.After += w.rand.Uint64N(1e5)
		}
		x.Fragmentation = x.After / 10000 * w.rand.Uint64N(3000)
		w.size[g] = x.After
		d.Allocated, d.Fragmentation = d.Allocated+x.Allocated, d.Fragmentation+x.Fragmentation
		d.PromotedBytes += x.Promoted
	}
	d.Peak = d.SizeBefore()
	d.AllocationRate = float64(d.Allocated) / float64(ran) * 1e9
	d.CommittedBefore, d.CommittedAfter = 1e8, 1e8+w.rand.Uint64N(3)*4096
	d.PinnedObjects, d.Handles, d.FinalizationCount, d.FinalizationSize = uint32(w.rand.IntN(20)), int32(900+w.rand.IntN(5)), w.rand.Uint64N(100), w.rand.Uint64N(1e4)
	d.Global.Heaps, d.Global.MemoryLoad = 4, uint32(30+w.rand.IntN(4))
	d.Known |= gclog.GroupGlobal | gclog.GroupCompaction
	d.TimingCount = 8
	for i := range d.TimingCount {
		d.Timing[i] = int64(w.around(uint64(pause / 10)))
	}
	d.Memory = gclog.Memory{Resident: 3e8 + w.rand.Uint64N(4000)*4096, Cgroup: 4e8 + w.rand.Uint64N(4000)*4096, CgroupLimit: 1e9}
	return d
}

// observe passes n collections to what a report needs.
func (w *world) observe(n, rows int) *Input { return w.observed(n, rows, w.next) }

// observed passes n collections that next makes to what a report needs.
func (w *world) observed(n, rows int, next func() *gclog.GCDetails) *Input {
	p := &gclog.Process{ID: 4711, Name: "Shop.Api", RuntimeVersion: "10.0.14", Server: gclog.Yes, Concurrent: gclog.Yes, HeapCount: 4, Sync: time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC)}
	s, f := analysis.NewStatistics(analysis.StatisticsOptions{Window: analysis.Always()}), analysis.NewFindings(p, analysis.Thresholds{}, analysis.Always())
	r := newRecorder(analysis.Always(), f.List, rows)
	for _, o := range []gclog.Observer{s.Observe, f.Observe, r.Observe} {
		o(&gclog.Start{At: 0})
	}
	for range n {
		d := next()
		for _, o := range []gclog.Observer{s.Observe, f.Observe, r.Observe} {
			for i := range d.Pauses {
				o(&gclog.Pause{PausePart: d.Pauses[i], GC: d})
			}
			o(d)
		}
	}
	for _, o := range []gclog.Observer{s.Observe, f.Observe, r.Observe} {
		o(&gclog.End{At: w.now})
	}
	return &Input{
		Source: "gc.json", Command: "gclog explain gc.json", Version: "devel", Facts: []Fact{{"pid", "4711"}}, Process: p,
		Summary: s.Summary(), Findings: f.List(), NotEvaluated: f.NotEvaluated(), Records: r,
	}
}

// BenchmarkPage writes a page of 100,000 collections. With GCLOG_REPORT it writes the page to that
// file, for make report-test.
func BenchmarkPage(b *testing.B) {
	n := 100_000
	if testing.Short() {
		n = 1000
	}
	for b.Loop() {
		var page bytes.Buffer
		if err := New(newWorld(1).observe(n, mostRows)).WriteHTML(&page); err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(page.Len())/1e6, "MB")
		if name := os.Getenv("GCLOG_REPORT"); name != "" {
			if err := os.WriteFile(name, page.Bytes(), 0o644); err != nil {
				b.Fatal(err)
			}
		}
	}
}
