package analysis

import (
	"fmt"
	"math"
	"slices"
)

// A comparedMetric is a metric that Compare compares: a ratio of two sums, or a percentile of
// pauses. Of all of them less is better.
type comparedMetric struct {
	name     string
	of, over int     // sums
	scale    float64 // of their ratio
	class    Class   // of the pauses
	permille int     // of the pauses; 0: it is a ratio
}

// What a metric takes to be compared.
const (
	leastAbove  = 5   // pauses beyond a percentile
	leastKind   = 20  // pauses of a kind, for their median
	leastMean   = 8   // values of a mean
	leastEvents = 10  // of a rate, in A and B together
	leastEvent  = 0.5 // none count as this many, so that they have a logarithm
)

// comparedMetrics are chosen so that no two say the same: each further one makes all intervals
// wider.
func comparedMetrics() []comparedMetric {
	list := []comparedMetric{{name: "pause.share", of: sumPaused, over: sumTime, scale: 100, class: ClassAll}}
	for _, p := range [...]int{500, 900, 950, 990} {
		list = append(list, comparedMetric{name: fmt.Sprintf("pause.p%d", p/10), class: ClassAll, permille: p})
	}
	kinds := [...]Class{ClassGen0, ClassGen1, ClassGen2, ClassBackground}
	for _, c := range kinds {
		list = append(list, comparedMetric{name: c.String() + ".pause.p50", class: c, permille: 500})
	}
	rate := func(name string, c Class) comparedMetric {
		return comparedMetric{name: name, of: sumClass + int(c), over: sumTime, scale: minute, class: c}
	}
	list = append(list, rate("gc.rate", ClassAll))
	for _, c := range kinds {
		list = append(list, rate(c.String()+".rate", c))
	}
	return append(list,
		comparedMetric{name: "alloc.rate", of: sumAllocated, over: sumAllocTime, scale: 1e9, class: ClassAll},
		comparedMetric{name: "heap.after.mean", of: sumAfter, over: sumAfters, scale: 1, class: ClassAll},
		comparedMetric{name: "heap.after.gen2.mean", of: sumAfterGen2, over: sumAftersGen2, scale: 1, class: ClassAll},
		comparedMetric{name: "promoted.mean", of: sumPromoted, over: sumPromotions, scale: 1, class: ClassAll},
		comparedMetric{name: "pause.max", class: ClassAll, permille: ofLongest},
	)
}

// ofLongest is the permille of the longest pause. It is listed, but never judged: nothing is known of
// how much it varies.
const ofLongest = 1000

// ComparedMetrics returns the metrics that Compare compares, in its order, without values.
func ComparedMetrics() (list []Metric) {
	all := NewStatistics(StatisticsOptions{Window: Always()}).Summary().Metrics()
	for _, m := range comparedMetrics() {
		i := slices.IndexFunc(all, func(x Metric) bool { return x.Name == m.name })
		list = append(list, Metric{Name: m.name, Help: all[i].Help, Number: Number{Unit: all[i].Unit}})
	}
	return list
}

// isRate reports whether the metric is a number of events over time.
func (m *comparedMetric) isRate() bool { return m.permille == 0 && m.of >= sumClass }

// isMean reports whether the metric is a mean of values of collections.
func (m *comparedMetric) isMean() bool { return m.permille == 0 && m.over >= sumAfters }

// leastValues returns how many pauses a percentile takes to be known.
func (m *comparedMetric) leastValues() uint64 {
	if m.permille == 0 || m.permille == ofLongest {
		return 0
	}
	return leastValues(m.permille)
}

// leastPauses returns how many pauses a percentile takes to be compared.
func (m *comparedMetric) leastPauses() uint64 {
	if m.class != ClassAll {
		return leastKind
	}
	return uint64(leastAbove * 1000 / (1000 - m.permille))
}

// log returns the logarithm of a value of a block.
func (m *comparedMetric) log(value float64, b *block) float64 {
	if m.permille > 0 {
		return math.Log(max(1, value))
	}
	return m.logOf(b.sums[m.of], b.sums[m.over])
}

// logOf returns the logarithm of a ratio.
func (m *comparedMetric) logOf(of, over float64) float64 {
	least := 1.0
	if m.isRate() {
		least = leastEvent
	}
	return math.Log(max(of, least) / over)
}

// value returns the metric of a block with sorted pauses, if it has any.
func (b *block) value(m *comparedMetric) (v float64, ok bool) {
	if m.permille == 0 {
		return m.scale * quotient(b.sums[m.of], b.sums[m.over]), b.sums[m.over] > 0
	}
	all := b.pauses[m.class]
	if len(all) == 0 {
		return 0, false
	}
	return float64(all[rank(uint64(len(all)), m.permille)-1]), true
}
