package analysis

import (
	"cmp"
	"math"
	"slices"
)

// An Outcome is the result of a comparison of a metric.
type Outcome uint8

// The outcomes. Less is better, for all metrics that are compared.
const (
	TooLittleData Outcome = iota // the difference was not estimated: Difference.Why
	NoDifference                 // chance explains the difference
	Better
	Worse
)

func (v Outcome) String() string {
	return [...]string{"too little data", "no detectable difference", "better", "worse"}[v]
}

// MarshalText returns the words of the outcome.
func (v Outcome) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// A Difference compares a metric of two groups of runs, A and B.
type Difference struct {
	Name, Help string // of the Metric
	A, B       Number // of all runs of a group together
	// Change is (B-A)/A, in percent. The true change is between Low and High; that this is so for
	// all differences of a Comparison has a probability of 95 %. They are unknown if Verdict is
	// TooLittleData.
	Change, Low, High Number
	Verdict           Outcome
	Why               string // why there is too little data, in a sentence without full stop
	// Empty reports that there was nothing of its kind in A and B.
	Empty bool
}

// A Comparison is the result of Compare.
type Comparison struct {
	Differences []Difference // always the same metrics in the same order
	Blocks      [2]int       // the number of blocks of A and B
	BlockTime   [2]Number    // mean length of a block
	WholeRuns   bool         // a block is a run
}

// Differs reports whether any verdict is Better or Worse.
func (c *Comparison) Differs() bool {
	return slices.ContainsFunc(c.Differences, func(d Difference) bool { return d.Verdict >= Better })
}

// Confidence is the probability that all intervals of a Comparison contain the true change, in
// percent.
const Confidence = 95

// Compare compares two groups of runs. It divides each group into blocks of time, and finds out how
// much each metric varies by chance from how it changes from block to block.
//
// From 5 runs in each group, a block is a run; otherwise it is a part of one. A and B may not be
// empty.
func Compare(a, b []*Sample) *Comparison {
	c := &Comparison{WholeRuns: len(a) >= manyRuns && len(b) >= manyRuns}
	groups := [2]*group{newGroup(a, c.WholeRuns), newGroup(b, c.WholeRuns)}
	for i, g := range groups {
		n := len(g.blocks)
		c.Blocks[i], c.BlockTime[i] = n, known(quotient(g.total.sums[sumTime], float64(n))).in("ns")
	}
	metrics := ComparedMetrics()
	for i, m := range comparedMetrics() {
		d := difference(&m, groups, len(metrics)-1) // the longest pause is not judged
		d.Name, d.Help = m.name, metrics[i].Help
		c.Differences = append(c.Differences, d)
	}
	return c
}

const (
	// If B follows A, a difference is not detected unless it is this many times what the metric
	// drifts within A and within B, together: a trend that continues is no difference between them.
	drifts = 1.0
	// leastFar is how far from an estimate the true value may always be, as a share. The pauses of the
	// same program under the same load change by up to 5 % from one minute to the next (docs/compare.md).
	leastFar = 0.05
	// leastFarOfRuns is the same if whole runs are compared, which differ by that already.
	leastFarOfRuns = 0.02
)

// difference compares one of so many metrics. The limits of A and B are combined as MOVER does (Zou
// and Donner 2008).
func difference(m *comparedMetric, groups [2]*group, of int) Difference {
	a, b := groups[0].number(m), groups[1].number(m)
	d := Difference{A: a.Number, B: b.Number, Empty: a.Empty && b.Empty}
	for i, name := range [...]string{"A", "B"} {
		d.Why = cmp.Or(d.Why, groups[i].short(m, name))
	}
	events := groups[0].total.sums[m.of] + groups[1].total.sums[m.of]
	if d.Why == "" && m.isRate() && events < leastEvents {
		d.Why = needs(leastEvents, "collection", uint64(events))
	}
	if d.Why != "" {
		d.Change, d.Low, d.High = unknown(d.Why), unknown(d.Why), unknown(d.Why)
		return d
	}
	tail := (1 - Confidence/100.0) / 2 / float64(of)
	devA, freedomA := groups[0].deviation(m)
	devB, freedomB := groups[1].deviation(m)
	quantile := welch(tail, devA, freedomA, devB, freedomB)
	from, to := groups[0].estimate(m, tail, quantile*devA), groups[1].estimate(m, tail, quantile*devB)
	far := leastFar
	if groups[0].whole {
		far = leastFarOfRuns
	}
	change, least := to.log-from.log,
		max(far, from.least+to.least, drifts*apart(groups[0], groups[1])*(from.drift+to.drift))
	d.judge(change, max(least, math.Hypot(to.below, from.above)), max(least, math.Hypot(to.above, from.below)))
	return d
}

// judge fills in a change, as a difference of logarithms that is known within limits.
func (d *Difference) judge(change, below, above float64) {
	d.Change, d.Low, d.High = changeOf(change), changeOf(change-below), changeOf(change+above)
	switch {
	case change > below:
		d.Verdict = Worse
	case change < -above:
		d.Verdict = Better
	default:
		d.Verdict = NoDifference
	}
}

// changeOf returns a difference of logarithms as a change in percent.
func changeOf(log float64) Number { return known(100 * math.Expm1(log)).in("%") }
