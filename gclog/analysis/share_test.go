package analysis_test

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/gclog/analysis"
	"github.com/gclog/gclog/internal/testing/extent"
)

// A randomHistory is pauses on a grid: between two points of it the program is paused or runs.
type randomHistory struct {
	grid   int64
	pauses [][2]int64 // start and end, in points
	points int64      // how long the session lasted
}

func newRandomHistory(r *rand.Rand, grid int64, overlap bool) *randomHistory {
	h := &randomHistory{grid: grid, points: 1 + r.Int64N(2000)}
	longest, run := 1+r.Int64N(60), 1+r.Int64N(200)
	at := r.Int64N(run)
	for at < h.points {
		end := min(at+1+r.Int64N(longest), h.points)
		h.pauses = append(h.pauses, [2]int64{at, end})
		if overlap && r.IntN(4) == 0 {
			at += r.Int64N(end - at)
		} else {
			at = end + r.Int64N(run)
		}
	}
	return h
}

// emit passes on the history, shifted to a time: nothing depends on that.
func (h *randomHistory) emit(s *analysis.Statistics, from int64) {
	s.Observe(&gclog.Start{At: from})
	for _, p := range h.pauses {
		s.Observe(&gclog.Pause{PausePart: gclog.PausePart{
			Kind: gclog.PauseUnknown, Start: from + p[0]*h.grid, Duration: (p[1] - p[0]) * h.grid,
		}})
	}
	s.Observe(&gclog.End{At: from + h.points*h.grid})
}

// worst returns the longest pause time in any stretch of a length in [from, to), all in points, by
// trying each of them.
func (h *randomHistory) worst(from, to, length int64) (most int64) {
	stands := make([]bool, h.points)
	for _, p := range h.pauses {
		for i := p[0]; i < p[1]; i++ {
			stands[i] = true
		}
	}
	for begin := from; begin+length <= to; begin++ {
		n := int64(0)
		for _, b := range stands[begin : begin+length] {
			if b {
				n++
			}
		}
		most = max(most, n)
	}
	return most
}

// TestWorst compares the worst windows and the utilization with a search over all stretches. The
// pause time changes its slope only on the grid, so the worst stretch is on it.
func TestWorst(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		grid := []int64{10 * ms, 50 * ms, sec, 2 * sec}[r.IntN(4)]
		h := newRandomHistory(r, grid, r.IntN(2) == 0)
		begin := r.Int64N(1e15) - 5e14
		a, b := r.Int64N(h.points+1), r.Int64N(h.points+1)
		from, to := min(a, b), max(a, b)
		s := analysis.NewStatistics(analysis.StatisticsOptions{Window: analysis.Window{From: begin + from*grid, To: begin + to*grid}})
		h.emit(s, begin)
		x := s.Summary()
		check := func(what string, got analysis.Number, at, length int64, share func(int64) float64) {
			t.Helper()
			if length%grid != 0 {
				return
			}
			if length > (to-from)*grid || from == to {
				if got.Known() {
					t.Errorf("%s of %v is %v, of a history of %v", what, time.Duration(length), got.Value, time.Duration((to-from)*grid))
				}
				return
			}
			want := share(h.worst(from, to, length/grid))
			if !got.Known() || math.Abs(got.Value-want) > 1e-9 {
				t.Errorf("%s of %v is %+v, want %v", what, time.Duration(length), got, want)
			}
			if first := (at - begin) / grid; at < begin+from*grid || at+length > begin+to*grid {
				t.Errorf("%s of %v begins at point %d, out of [%d, %d)", what, time.Duration(length), first, from, to)
			}
		}
		for _, w := range x.Worst {
			check("worst share", w.Percent, w.At, w.Length, func(n int64) float64 { return 100 * float64(n*grid) / float64(w.Length) })
		}
		for _, u := range x.Utilization {
			check("utilization", u.Percent, u.At, u.Length, func(n int64) float64 { return 100 - 100*float64(n*grid)/float64(u.Length) })
		}
	}
}

// TestClipped checks that pauses in a window are those of the history, cut at its borders, and that
// percentiles are their nearest ranks.
func TestClipped(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 300 {
		h := newRandomHistory(r, ms, false)
		a, b := r.Int64N(h.points+1), r.Int64N(h.points+1)
		from, to := min(a, b), max(a, b)+1
		s := analysis.NewStatistics(analysis.StatisticsOptions{Window: analysis.Window{From: from * ms, To: to * ms}})
		h.emit(s, 0)
		var inside []float64
		sum := 0.0
		for _, p := range h.pauses {
			if n := min(p[1], to) - max(p[0], from); n > 0 {
				inside = append(inside, float64(n*ms))
				sum += float64(n * ms)
			}
		}
		slices.Sort(inside)
		x := s.Summary()
		d := x.Classes[analysis.ClassAll].Pauses
		if d.Count != uint64(len(inside)) || d.Total.Value != sum {
			t.Fatalf("%d pauses of %v ns in [%d, %d), want %d of %v", d.Count, d.Total.Value, from, to, len(inside), sum)
		}
		if d.Count == 0 {
			continue
		}
		for p, got := range map[float64]analysis.Number{50: d.P50, 90: d.P90, 95: d.P95, 99: d.P99, 99.9: d.P999, 100: d.Max} {
			// Of 6 values none can be a p99.9.
			if few := p > 50 && p < 100 && float64(len(inside)) < 100/(100-p)-1e-9; few != !got.Known() {
				t.Errorf("percentile %v of %d values is %+v", p, len(inside), got)
			}
			if !got.Known() {
				if got.AtMost != d.Max.Value {
					t.Errorf("percentile %v of %v is at most %v", p, inside, got.AtMost)
				}
				continue
			}
			// The smallest value that at least p of 100 values do not exceed.
			for _, want := range inside {
				if n := float64(countUpTo(inside, want)); 100*n >= p*float64(len(inside))-1e-9 {
					if got.Value != want {
						t.Errorf("percentile %v of %v is %v, want %v", p, inside, got.Value, want)
					}
					break
				}
			}
		}
		if want := 100 * sum / x.Duration.Value; math.Abs(x.Share.Value-want) > 1e-9 {
			t.Errorf("the share is %v, want %v", x.Share.Value, want)
		}
	}
}

// TestFewValues checks that a percentile requires a value above it, for files and live.
func TestFewValues(t *testing.T) {
	least := map[string]int{"p50": 1, "p90": 10, "p95": 20, "p99": 100, "p99.9": 1000, "mean": 1, "max": 1}
	for _, n := range []int{1, 6, 9, 10, 19, 20, 99, 100, 999, 1000} {
		for _, live := range []bool{false, true} {
			s := analysis.NewStatistics(analysis.StatisticsOptions{Window: analysis.Always(), Live: live})
			s.Observe(&gclog.Start{At: 0})
			for i := range n + 1 { // so that there are n times between two of them
				emit(s.Observe, collection(uint32(i+1), 0, gclog.KindBlocking, [2]int64{int64(i+1) * sec, int64(i+1) * ms}))
			}
			for _, m := range s.Summary().Metrics() {
				if what, ok := strings.CutPrefix(m.Name, "between."); ok && m.Known() != (n >= least[what]) {
					t.Errorf("%s of %d values, live %v: %+v", m.Name, n, live, m.Number)
				}
			}
		}
	}
}

func countUpTo(sorted []float64, v float64) (n int) {
	for _, x := range sorted {
		if x <= v {
			n++
		}
	}
	return n
}

// TestLive checks that histograms are right within their digits, and worst windows within a slot.
func TestLive(t *testing.T) {
	extent.Long(t)
	r := rand.New(rand.NewPCG(5, 6))
	for range 20 {
		var exact, live [2]*analysis.Statistics
		for i, window := range []analysis.Window{analysis.Always(), {From: 50 * sec, To: 800 * sec}} {
			exact[i] = analysis.NewStatistics(analysis.StatisticsOptions{Window: window})
			live[i] = analysis.NewStatistics(analysis.StatisticsOptions{Window: window, Live: true})
		}
		all := slices.Concat(exact[:], live[:])
		begin := r.Int64N(1e12)
		at := begin
		for _, s := range all {
			s.Observe(&gclog.Start{At: begin})
		}
		scale, gap := math.Exp(r.Float64()*10), math.Exp(r.Float64()*12)
		for range r.IntN(3000) {
			took := int64(1e3 * scale * math.Exp(r.NormFloat64()))
			kind := gclog.KindBlocking
			d := collection(1, r.IntN(3), kind, [2]int64{at, took})
			for _, s := range all {
				emit(s.Observe, d)
				if r.IntN(1000) == 0 {
					s.Summary() // may be called at any time
				}
			}
			at += took + int64(1e3*gap*math.Exp(r.NormFloat64()))
		}
		at += r.Int64N(20 * sec)
		for _, s := range all {
			s.Observe(&gclog.End{At: at})
		}
		for i := range exact {
			want, got := exact[i].Summary(), live[i].Summary()
			compareLive(t, want, got)
		}
	}
}

func compareLive(t *testing.T, want, got *analysis.Summary) {
	t.Helper()
	if d := got.Classes[analysis.ClassAll].Pauses; d.P999.Value > d.Max.Value {
		t.Errorf("p99.9 is %v, and the longest %v", d.P999, d.Max)
	}
	worst := map[string]int64{}
	for _, w := range want.Worst {
		worst[fmt.Sprint("pause.share.", map[int64]string{10 * sec: "10s", 60 * sec: "1m", 300 * sec: "5m"}[w.Length])] = w.Length
	}
	right := want.Metrics()
	for i, m := range got.Metrics() {
		w := right[i]
		if length := worst[m.Name]; length > 0 {
			// A stretch at the border of the history may be a slot too short.
			if !m.Known() || !w.Known() {
				if m.Known() {
					t.Errorf("%s is %v live, and unknown: %s", m.Name, m.Value, w.Why)
				}
				continue
			}
			if slot := 100 * 1e8 / float64(length); m.Value > w.Value+1e-9 || m.Value < w.Value-slot {
				t.Errorf("%s is %v live, and %v", m.Name, m.Value, w.Value)
			}
			continue
		}
		if m.Unit == "%" && !m.Known() { // no utilization
			continue
		}
		if m.Known() != w.Known() || math.Abs(m.Value-w.Value) > max(0.01*w.Value, 1e3) {
			t.Errorf("%s is %+v live, and %+v", m.Name, m.Number, w.Number)
		}
	}
}

// TestLiveStretches checks that on a grid of slots the worst windows live are those of a file, also
// if nothing happens for long, or if one pause is longer than all of them.
func TestLiveStretches(t *testing.T) {
	for _, x := range []struct {
		name   string
		pauses [][2]int64 // start and end, in slots of 100 ms
		end    int64
	}{
		{"nothing, too short", nil, 99},
		{"nothing", nil, 100},
		{"too short for a minute", [][2]int64{{7, 9}, {50, 60}}, 599},
		{"a minute", [][2]int64{{7, 9}, {50, 60}}, 600},
		{"silence of 250 s", [][2]int64{{0, 100}, {2600, 2650}}, 4000},
		{"silence of 295 s", [][2]int64{{0, 100}, {3050, 3150}}, 7000},
		{"silence of 305 s", [][2]int64{{0, 100}, {3150, 3250}}, 7000},
		{"silence of a day", [][2]int64{{0, 100}, {864_000, 864_010}}, 865_000},
		{"silence at the end", [][2]int64{{0, 100}}, 5_000},
		{"a pause of 8 minutes", [][2]int64{{10, 20}, {30, 4830}, {4831, 4900}}, 5_000},
		{"a pause of an hour", [][2]int64{{10, 20}, {30, 36_030}, {36_031, 36_100}}, 40_000},
	} {
		t.Run(x.name, func(t *testing.T) {
			h := &randomHistory{grid: 100 * ms, pauses: x.pauses, points: x.end}
			exact := analysis.NewStatistics(analysis.StatisticsOptions{Window: analysis.Always()})
			live := analysis.NewStatistics(analysis.StatisticsOptions{Window: analysis.Always(), Live: true})
			h.emit(exact, 77)
			h.emit(live, 77)
			got := live.Summary().Worst
			for i, want := range exact.Summary().Worst {
				if got[i].Percent.Why != want.Percent.Why || math.Abs(got[i].Percent.Value-want.Percent.Value) > 1e-9 {
					t.Errorf("%v: %+v live, and %+v", time.Duration(want.Length), got[i].Percent, want.Percent)
				}
				if !want.Percent.Known() {
					continue
				}
				first, length := (got[i].At-77)/h.grid, want.Length/h.grid
				if first < 0 || first+length > h.points || h.worst(first, first+length, length) != int64(math.Round(want.Percent.Value*float64(length)/100)) {
					t.Errorf("%v: the stretch from slot %d on is not the worst", time.Duration(want.Length), first)
				}
			}
		})
	}
}

// TestDisorder checks that a damaged log may contain pauses in any order.
func TestDisorder(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	for range 20 {
		h := newRandomHistory(r, 50*ms, false)
		want := analysis.NewStatistics(analysis.StatisticsOptions{Window: analysis.Always()})
		h.emit(want, 0)
		r.Shuffle(len(h.pauses), func(i, j int) { h.pauses[i], h.pauses[j] = h.pauses[j], h.pauses[i] })
		got := analysis.NewStatistics(analysis.StatisticsOptions{Window: analysis.Always()})
		h.emit(got, 0)
		if g, w := metrics(got.Summary()), metrics(want.Summary()); !maps.Equal(g, w) {
			t.Errorf("%v\nin disorder, and\n%v", g, w)
		}
	}
}

// TestWildTimes checks that a damaged log may contain any time: no number matters, but the
// computation ends.
func TestWildTimes(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	wild := func() int64 {
		switch r.IntN(3) {
		case 0:
			return []int64{math.MinInt64, math.MaxInt64, -1, 0, 1}[r.IntN(5)]
		case 1:
			return int64(r.Uint64())
		}
		return r.Int64N(1e12)
	}
	for _, live := range []bool{false, true} {
		for range 200 {
			s := analysis.NewStatistics(analysis.StatisticsOptions{Window: analysis.Always(), Live: live})
			for range r.IntN(20) {
				switch r.IntN(4) {
				case 0:
					s.Observe(&gclog.Start{At: wild()})
				case 1:
					s.Observe(&gclog.End{At: wild()})
				default:
					d := collection(1, r.IntN(5), gclog.KindBlocking, [2]int64{wild(), wild()})
					emit(s.Observe, d)
				}
			}
			s.Summary().Metrics()
		}
	}
}
