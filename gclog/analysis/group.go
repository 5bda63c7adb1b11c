package analysis

import (
	"fmt"
	"math"
	"slices"
	"time"
)

// How runs are divided into blocks.
const (
	manyRuns      = 5  // from here on a block is a run
	pausesInBlock = 12 // on average, at least
	leastBlocks   = 8
	mostBlocks    = 24
)

// leastRanks is how many pauses an interval of a percentile extends over on each side, at least.
const leastRanks = 2

// cosines is how many frequencies of a metric's changes are looked at: that of a change between the
// first and the second half of a run, and its multiples. More of them make the intervals narrower, and
// wrong: with all 23 of 24 blocks, 14 of 100 equal pairs are called different (TestSimulated).
const cosines = 5

// A group is all runs of one side of a comparison.
type group struct {
	metrics []map[string]Metric // of each run
	blocks  []block
	whole   bool     // a block is a run
	total   block    // with sorted pauses
	thirds  [3]block // of the runs, or of the only one

	begin, end time.Time // of all runs; zero: unknown
}

// newGroup divides runs into blocks.
func newGroup(runs []*Sample, whole bool) *group {
	g := &group{whole: whole}
	parts := make([]block, len(runs))
	for i, s := range runs {
		g.metrics = append(g.metrics, metricsByName(s.Summary()))
		parts[i] = s.blocks(1)[0]
		g.total.merge(&parts[i])
	}
	g.total.sort()
	g.begin, g.end = spanOf(runs)
	if whole {
		g.blocks = parts
	} else {
		n := float64(min(g.total.count(ClassAll)/pausesInBlock, mostBlocks))
		for i, s := range runs {
			share := quotient(parts[i].sums[sumTime], g.total.sums[sumTime])
			g.blocks = append(g.blocks, s.blocks(max(1, int(math.Round(n*share))))...)
		}
	}
	thirds := parts
	if len(runs) == 1 {
		thirds = runs[0].blocks(3)
	}
	for i := range thirds {
		g.thirds[3*i/len(thirds)].merge(&thirds[i])
	}
	for i := range g.thirds {
		g.thirds[i].sort()
	}
	return g
}

// spanOf returns when the first run began and the last one ended, or zero if that is unknown.
func spanOf(runs []*Sample) (begin, end time.Time) {
	for _, s := range runs {
		if s.Sync.IsZero() || s.unbounded {
			return time.Time{}, time.Time{}
		}
		w := s.Summary().Window
		from, to := s.Sync.Add(time.Duration(w.From)), s.Sync.Add(time.Duration(w.To))
		if begin.IsZero() || from.Before(begin) {
			begin = from
		}
		if to.After(end) {
			end = to
		}
	}
	return begin, end
}

// apart returns how far apart two groups are: 0 if they are about the same time, 1 if they follow
// each other, and also if they are farther apart, or if that is unknown.
func apart(a, b *group) float64 {
	if a.begin.IsZero() || b.begin.IsZero() {
		return 1
	}
	distance := math.Abs(float64(a.begin.Sub(b.begin)+a.end.Sub(b.end)) / 2)
	length := float64(a.end.Sub(a.begin)+b.end.Sub(b.begin)) / 2
	return min(1, quotient(distance, length))
}

func metricsByName(s *Summary) map[string]Metric {
	all := map[string]Metric{}
	for _, m := range s.Metrics() {
		all[m.Name] = m
	}
	return all
}

// number returns a metric of all runs together. It is known if it is for each run, or there was
// nothing of its kind in it.
func (g *group) number(m *comparedMetric) Metric {
	var x Metric
	empty := true
	for _, run := range g.metrics {
		x = run[m.name]
		empty = empty && x.Empty
		if !x.Known() && !x.Empty && x.AtMost == 0 {
			return x
		}
	}
	if v, ok := g.total.value(m); ok && g.total.count(m.class) >= m.leastValues() {
		x.Number = known(v).in(x.Unit)
	}
	x.Empty = empty
	return x
}

// short returns what a group lacks for a metric, "" if it has enough.
func (g *group) short(m *comparedMetric, name string) string {
	n, all, of := g.number(m), g.total.count(ClassAll), g.total.count(m.class)
	has := func(n uint64, what string, least uint64) string {
		return fmt.Sprintf("%s has %s, it takes %d", name, plural(n, what), least)
	}
	if m.permille == ofLongest {
		return "the longest pause is a single value, decided by chance"
	}
	switch least := m.leastPauses(); {
	case !n.Known() && n.AtMost == 0:
		return name + ": " + n.Why
	case all < leastBlocks*pausesInBlock && !g.whole:
		return has(all, "pause", leastBlocks*pausesInBlock)
	case m.permille > 0 && of < least:
		return has(of, "pause", least)
	case m.isMean() && g.total.sums[m.over] < leastMean:
		return has(uint64(g.total.sums[m.over]), "collection", leastMean)
	}
	return ""
}

// An estimate is the logarithm of a metric, and how far from it the true value may be.
type estimate struct {
	log, below, above float64
	least             float64 // how much one event more or less changes it
	drift             float64 // among the thirds of the runs, or of the only run
}

// estimate estimates a metric. The true value is farther away than far with a probability of tail at
// each end; for a percentile far is a distance between shares of the pauses, as deviation returns it. A
// percentile is as far away as the percentiles that the limits of its share have among all pauses
// (Woodruff 1952): that is also right where few pauses are about as long. If half of the pauses are
// short and half of them long, as those of background collections are, every block has half of each,
// and nothing but leastRanks says that the median could be either.
func (g *group) estimate(m *comparedMetric, tail, far float64) (e estimate) {
	value, _ := g.total.value(m)
	e.log = m.log(value, &g.total)
	e.below, e.above = far, far
	if m.permille > 0 {
		share, all := float64(m.permille)/1000, g.total.pauses[m.class]
		low, high := wilson(share, far)
		least := leastRanks / float64(len(all))
		e.below = e.log - logOfPercentile(all, min(low, share-least))
		e.above = logOfPercentile(all, max(high, share+least)) - e.log
	}
	if events := g.total.sums[m.of]; m.isRate() {
		e.least = 1 / max(events, leastEvents)
		below, above := poisson(events, tail)
		if events < leastEvents {
			e.below, e.above = max(e.below, below), max(e.above, above)
		}
	}
	var logs [3]float64
	for i := range g.thirds {
		v, ok := g.thirds[i].value(m)
		if !ok {
			return e
		}
		logs[i] = m.log(v, &g.thirds[i])
	}
	e.drift = slices.Max(logs[:]) - slices.Min(logs[:])
	return e
}

// logOfPercentile returns the logarithm of the percentile of sorted pauses that has a share of them
// below it. Beyond the longest pause it is extrapolated: the logarithms of the longest tenth of the
// pauses are taken as exponentially distributed (Hill 1975).
func logOfPercentile(pauses []int64, share float64) float64 {
	n := len(pauses)
	at := func(i int) float64 { return math.Log(max(1, float64(pauses[max(0, min(i, n-1))]))) }
	above := float64(n) * (1 - share) // so many pauses
	if above >= 1 {
		return at(int(math.Ceil(share*float64(n))) - 1)
	}
	longest := (n + 9) / 10
	excess := 0.0
	for i := range longest {
		excess += at(n-1-i) - at(n-1-longest)
	}
	return at(n-1) - excess/float64(longest)*math.Log(above)
}

// deviation returns the standard deviation of the logarithm of a metric, and the degrees of freedom
// of that; for a percentile it is that of the share of the pauses that are not longer than its value.
//
// Neighboring pauses are alike, and so are neighboring blocks: what varies from block to block varies
// by more over a whole run than independent blocks would. The lowest frequencies say by how much
// (equal-weighted cosines; Lazarus, Lewis, Stock and Watson 2018). Whole runs are independent: then all
// frequencies together are the usual variance.
func (g *group) deviation(m *comparedMetric) (deviation, freedom float64) {
	value, _ := g.total.value(m)
	n := len(g.blocks)
	of, over := make([]float64, n), make([]float64, n)
	var sumOf, sumOver float64
	for i := range g.blocks {
		of[i], over[i] = g.blocks[i].ratio(m, value)
		sumOf += of[i]
		sumOver += over[i]
	}
	frequencies := n - 1
	if !g.whole {
		frequencies = min(cosines, frequencies)
	}
	ratio := quotient(sumOf, sumOver)
	squares := 0.0
	for k := 1; k <= frequencies; k++ {
		x := 0.0
		for i := range of {
			x += (of[i] - ratio*over[i]) * math.Cos(math.Pi*float64(k)*(float64(i)+0.5)/float64(n))
		}
		squares += 2 * x * x
	}
	deviation = quotient(math.Sqrt(squares/float64(frequencies)), sumOver)
	if m.permille == 0 {
		deviation = quotient(deviation, ratio)
	}
	return deviation, float64(frequencies)
}

// ratio returns what a metric is the ratio of in a block; for a percentile these are the pauses that
// are not longer than its value, and all pauses.
func (b *block) ratio(m *comparedMetric, value float64) (of, over float64) {
	if m.permille == 0 {
		return b.sums[m.of], b.sums[m.over]
	}
	for _, d := range b.pauses[m.class] {
		if float64(d) <= value {
			of++
		}
	}
	return of, float64(b.count(m.class))
}
