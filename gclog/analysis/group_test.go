package analysis

import (
	"slices"
	"testing"
)

// TestHalves: half of the pauses are short and half are long in every block, as those of background
// collections are. Nothing varies, and yet the median may be a short or a long one.
func TestHalves(t *testing.T) {
	const short, long = 100_000, 5_000_000
	g := &group{blocks: make([]block, mostBlocks)}
	for i := range g.blocks {
		b := &g.blocks[i]
		b.pauses[ClassBackground] = slices.Repeat([]int64{short, long}, 10)
		g.total.merge(b)
	}
	g.total.sort()
	all := comparedMetrics()
	m := &all[slices.IndexFunc(all, func(m comparedMetric) bool { return m.name == "background.pause.p50" })]
	if v, _ := g.total.value(m); v != short {
		t.Errorf("the median is %v", v)
	}
	deviation, _ := g.deviation(m)
	e := g.estimate(m, 0.001, 3*deviation)
	if change := changeOf(e.above).Value; change < 4800 || change > 5000 {
		t.Errorf("the median may be %.0f %% larger", change)
	}
}
