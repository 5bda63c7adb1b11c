package analysis_test

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/gclog/analysis"
	"github.com/gclog/gclog/internal/testing/recordings"
)

// A steady load is a program whose collections are known: 10 per second, every tenth of them gen1.
type steady struct {
	seconds int
	pause   int64  // median of gen0, nanoseconds; gen1 is 3 times that
	heap    uint64 // after a collection
	blocks  int    // blocking gen2 collections, spread evenly
	seed    uint64
	at      time.Time
}

// sample returns a run of the load.
func (l steady) sample() *analysis.Sample {
	s := analysis.NewSample(analysis.Always())
	s.Sync = l.at
	random := rand.New(rand.NewPCG(l.seed, 1))
	s.Observe(&gclog.Start{At: 0})
	n := 10 * l.seconds
	for i := range n {
		generation, pause := gclog.Gen0, l.pause
		if i%10 == 9 {
			generation, pause = gclog.Gen1, 3*pause
		}
		if l.blocks > 0 && (i*l.blocks)/n != ((i+1)*l.blocks)/n {
			generation = gclog.Gen2
		}
		pause = pause * int64(80+random.IntN(41)) / 100
		d := collection(uint32(i+1), generation, gclog.KindBlocking, [2]int64{int64(i)*sec/10 + ms, pause})
		d.Generations[gclog.Gen2].After = l.heap * uint64(95+random.IntN(11)) / 100
		d.Known |= gclog.GroupAfter
		d.PromotedBytes = mb * uint64(90+random.IntN(21)) / 100
		d.Known |= gclog.GroupPromoted
		d.Allocated = 5 * mb * uint64(95+random.IntN(11)) / 100
		d.Known |= gclog.GroupAllocated
		emit(s.Observe, d)
	}
	s.Observe(&gclog.End{At: int64(l.seconds) * sec})
	return s
}

func compared(c *analysis.Comparison, name string) analysis.Difference {
	i := slices.IndexFunc(c.Differences, func(d analysis.Difference) bool { return d.Name == name })
	return c.Differences[i]
}

func one(l steady) []*analysis.Sample { return []*analysis.Sample{l.sample()} }

// TestCompareNumbers: in each recording the numbers of a comparison are those of the summary.
func TestCompareNumbers(t *testing.T) {
	forEach(t, func(t *testing.T, tr recordings.Trace) {
		var samples []*analysis.Sample
		processes := read(t, recordings.Read(t, tr.Path), func(*gclog.Process) gclog.Observer {
			samples = append(samples, analysis.NewSample(analysis.Always()))
			samples[len(samples)-1].Observe(&gclog.Start{At: 0})
			return samples[len(samples)-1].Observe
		})
		for _, s := range samples {
			s.Observe(&gclog.End{At: processes.Latest()})
			want := map[string]analysis.Metric{}
			for _, m := range s.Summary().Metrics() {
				want[m.Name] = m
			}
			same := []*analysis.Sample{s}
			c := analysis.Compare(same, same)
			for _, d := range c.Differences {
				w := want[d.Name]
				if w.Known() != d.A.Known() || w.Unit != d.A.Unit || d.A != d.B {
					t.Errorf("%s is %+v and %+v, in the summary %+v", d.Name, d.A, d.B, w.Number)
				} else if off := d.A.Value - w.Value; w.Known() && (off > 1e-9*w.Value || off < -1e-9*w.Value) {
					t.Errorf("%s is %v, in the summary %v", d.Name, d.A.Value, w.Value)
				}
				if d.Empty != w.Empty {
					t.Errorf("%s: empty is %v, in the summary %v", d.Name, d.Empty, w.Empty)
				}
				if d.Verdict != analysis.TooLittleData && (d.Verdict != analysis.NoDifference || d.Change.Value != 0 || d.Low.Value >= 0 || d.High.Value <= 0) {
					t.Errorf("%s differs from itself: %+v", d.Name, d)
				}
			}
		}
	})
}

// TestCompare: differences of known size are found, with the right sign, and within their intervals.
func TestCompare(t *testing.T) {
	base := steady{seconds: 60, pause: 2 * ms, heap: 100 * mb, seed: 1}
	slow, large, more := base, base, base
	slow.pause, slow.seed = base.pause*12/10, 2
	large.heap, large.seed = base.heap*3/2, 3
	more.blocks, more.seed = 40, 4
	for _, test := range []struct {
		name    string
		b       steady
		change  map[string]float64 // what must be found, in percent
		nothing []string
	}{
		{"the same", steady{60, base.pause, base.heap, 0, 9, time.Time{}}, nil, []string{"pause.share", "pause.p50", "pause.p99", "gc.rate", "heap.after.mean", "alloc.rate", "promoted.mean"}},
		{"longer pauses", slow, map[string]float64{"pause.share": 20, "pause.p50": 20, "gen0.pause.p50": 20}, []string{"gc.rate", "heap.after.mean", "alloc.rate"}},
		{"a larger heap", large, map[string]float64{"heap.after.mean": 50}, []string{"pause.p50", "gc.rate"}},
		{"gen2 collections", more, map[string]float64{"gen2.blocking.rate": 7900}, []string{"gc.rate", "heap.after.mean"}},
	} {
		c := analysis.Compare(one(base), one(test.b))
		for name, want := range test.change {
			d := compared(c, name)
			if d.Verdict != analysis.Worse || d.Low.Value > want || d.High.Value < want || d.Low.Value > d.Change.Value || d.High.Value < d.Change.Value {
				t.Errorf("%s: %s changes by %v (%v to %v), %v; it should be %v worse", test.name, name, d.Change.Text(), d.Low.Text(), d.High.Text(), d.Verdict, want)
			}
			if back := compared(analysis.Compare(one(test.b), one(base)), name); back.Verdict != analysis.Better {
				t.Errorf("%s: %s the other way round is %v", test.name, name, back.Verdict)
			}
		}
		for _, name := range test.nothing {
			if d := compared(c, name); d.Verdict != analysis.NoDifference {
				t.Errorf("%s: %s is %v: %+v", test.name, name, d.Verdict, d)
			}
		}
		if c.Differs() != (test.change != nil) {
			t.Errorf("%s: Differs is %v", test.name, c.Differs())
		}
		if again := analysis.Compare(one(base), one(test.b)); !reflect.DeepEqual(c, again) {
			t.Errorf("%s: the same samples have another result", test.name)
		}
	}
}

// TestCompareLittle: metrics with too little data have a reason.
func TestCompareLittle(t *testing.T) {
	base := steady{seconds: 60, pause: 2 * ms, heap: 100 * mb, seed: 1}
	short, shorter := base, base
	short.seconds, shorter.seconds = 40, 9
	c := analysis.Compare(one(base), one(short))
	if d := compared(c, "pause.p99"); d.Verdict != analysis.TooLittleData || d.Why != "B has 400 pauses, it takes 500" || d.Change.Known() {
		t.Errorf("p99 of 400 pauses: %+v", d)
	}
	if d := compared(c, "pause.p95"); d.Verdict != analysis.NoDifference {
		t.Errorf("p95 of 400 pauses: %+v", d)
	}
	if d := compared(c, "pause.max"); d.Verdict != analysis.TooLittleData || !d.A.Known() || !d.B.Known() {
		t.Errorf("the longest pause: %+v", d)
	}
	if d := compared(c, "background.rate"); d.Why != "needs 10 collections, saw 0" || d.Empty {
		t.Errorf("no background collections: %+v", d)
	}
	if d := compared(c, "background.pause.p50"); !d.Empty || d.Verdict != analysis.TooLittleData {
		t.Errorf("no background pauses: %+v", d)
	}
	for _, d := range analysis.Compare(one(shorter), one(base)).Differences {
		if d.Verdict != analysis.TooLittleData || d.Why == "" {
			t.Errorf("%s of 90 pauses: %+v", d.Name, d)
		}
	}
}

// TestCompareRuns: differences between runs of the same program are no difference between groups of
// them, which only several runs show.
func TestCompareRuns(t *testing.T) {
	group := func(seed uint64, n int, percent int64) (list []*analysis.Sample) {
		for i := range n {
			// The heap of each run is 20 % larger or smaller, for no reason.
			heap := 100 * mb * uint64(80+(i*17+int(seed)*11)%41) / 100
			list = append(list, steady{20, 2 * ms * percent / 100, heap, 0, seed + uint64(i), time.Time{}}.sample())
		}
		return list
	}
	single := analysis.Compare(group(1, 1, 100), group(2, 1, 100))
	if d := compared(single, "heap.after.mean"); single.WholeRuns || d.Verdict == analysis.NoDifference {
		t.Errorf("two runs with other heaps: %+v", d)
	}
	many := analysis.Compare(group(1, 8, 100), group(2, 8, 130))
	if d := compared(many, "heap.after.mean"); !many.WholeRuns || many.Blocks != [2]int{8, 8} || d.Verdict != analysis.NoDifference {
		t.Errorf("eight runs with other heaps: %+v", d)
	}
	if d := compared(many, "pause.p50"); d.Verdict != analysis.Worse {
		t.Errorf("eight runs with longer pauses: %+v", d)
	}
}

// TestCompareTrend: a trend that continues from A to B is no difference, unless A and B are of the
// same time.
func TestCompareTrend(t *testing.T) {
	growing := func(at time.Time, from, to uint64) []*analysis.Sample {
		s := analysis.NewSample(analysis.Always())
		s.Sync = at
		s.Observe(&gclog.Start{At: 0})
		for i := range uint64(600) {
			d := collection(uint32(i+1), gclog.Gen0, gclog.KindBlocking, [2]int64{int64(i)*sec/10 + ms, ms})
			d.Generations[gclog.Gen2].After = from + (to-from)*i/600
			d.Known |= gclog.GroupAfter
			emit(s.Observe, d)
		}
		s.Observe(&gclog.End{At: 60 * sec})
		return []*analysis.Sample{s}
	}
	morning := time.Date(2026, 1, 1, 8, 0, 0, 0, time.UTC)
	before := growing(morning, 100*mb, 110*mb)
	for _, test := range []struct {
		at   time.Time
		want analysis.Outcome
	}{{morning.Add(time.Minute), analysis.NoDifference}, {time.Time{}, analysis.NoDifference}, {morning, analysis.Worse}} {
		d := compared(analysis.Compare(before, growing(test.at, 111*mb, 122*mb)), "heap.after.mean")
		if d.Verdict != test.want {
			t.Errorf("at %v: %+v, want %v", test.at, d, test.want)
		}
	}
}

// TestCompareValues compares values of runs, for which more or less is better.
func TestCompareValues(t *testing.T) {
	base := []float64{100, 103, 97, 101}
	for _, test := range []struct {
		b    []float64
		more bool
		want analysis.Outcome
	}{
		{[]float64{99, 104, 100}, false, analysis.NoDifference},
		{[]float64{150, 155, 148}, false, analysis.Worse},
		{[]float64{150, 155, 148}, true, analysis.Better},
		{[]float64{70, 68, 71}, true, analysis.Worse},
		{[]float64{100, 300, 150}, false, analysis.NoDifference},
		{[]float64{150, 155}, false, analysis.TooLittleData},
		{nil, false, analysis.TooLittleData},
	} {
		d := analysis.CompareValues(base, test.b, 3, test.more)
		if d.Verdict != test.want || (d.Why == "") != (d.Verdict != analysis.TooLittleData) {
			t.Errorf("%v: %+v, want %v", test.b, d, test.want)
		}
		if d.Verdict != analysis.TooLittleData && (d.Low.Value > d.Change.Value || d.High.Value < d.Change.Value) {
			t.Errorf("%v: %+v", test.b, d)
		}
	}
}
