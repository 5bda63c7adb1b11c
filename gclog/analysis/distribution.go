package analysis

import (
	"fmt"
	"slices"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// A Distribution is the distribution of durations, in nanoseconds. A percentile above the median is
// known if there are enough values for at least one to be above it: p99 requires 100. Otherwise it
// is at most Max.
type Distribution struct {
	Count                    uint64
	Total                    Number // known, and 0, if there are none
	Mean, Max                Number
	P50, P90, P95, P99, P999 Number
}

// permilles are the percentiles of a Distribution, in its order.
var permilles = [...]int{500, 900, 950, 990, 999}

func (d *Distribution) percentiles() [len(permilles)]*Number {
	return [...]*Number{&d.P50, &d.P90, &d.P95, &d.P99, &d.P999}
}

// distribution returns the distribution of the values in a tally, with percentiles from at.
func (t *tally) distribution(why string, at func(permille int) float64) (d Distribution) {
	d.Count, d.Total = t.n, known(t.sum).in("ns")
	q := t.quantity(why).in("ns")
	d.Mean, d.Max = q.Mean, q.Max
	for i, p := range d.percentiles() {
		switch least := leastValues(permilles[i]); {
		case t.n == 0:
			*p = unknown(why)
		case t.n < least:
			*p = Number{
				Why:    fmt.Sprintf("p%g needs at least %d values", float64(permilles[i])/10, least),
				Unit:   "ns",
				AtMost: t.max,
			}
		default:
			*p = known(at(permilles[i])).in("ns")
		}
	}
	return d
}

// unknownDistribution returns a distribution about which nothing is known.
func unknownDistribution(why string) Distribution {
	var t tally
	d := t.distribution(why, nil)
	d.Total = unknown(why)
	return d
}

// leastValues returns how many values a percentile requires. With fewer, any percentile above the
// median would just be the largest value.
func leastValues(permille int) uint64 {
	if permille <= 500 {
		return 1
	}
	above := 1000 - permille
	return uint64((1000 + above - 1) / above)
}

// rank returns the nearest rank, from 1, of a percentile among n values.
func rank(n uint64, permille int) uint64 { return (n*uint64(permille) + 999) / 1000 }

// nearestRank sorts the values, and returns a function for their percentiles.
func nearestRank(values []int64) func(permille int) float64 {
	slices.Sort(values)
	return func(permille int) float64 { return float64(values[rank(uint64(len(values)), permille)-1]) }
}

// Limits of a histogram in nanoseconds. Longer times count as the limit in percentiles; the largest
// value is kept separately.
const (
	histogramUnit  = 1_000
	histogramLimit = 3600_000_000_000
	// histogramDigits is the number of significant digits: values are within 1 %, or within the
	// unit.
	histogramDigits = 2
)

// A histogram is a tally with percentiles, in 27 KB.
type histogram struct {
	tally
	values *hdrhistogram.Histogram // nil: empty
}

func (h *histogram) add(v int64) {
	h.tally.add(float64(v))
	if h.values == nil {
		h.values = hdrhistogram.New(histogramUnit, histogramLimit, histogramDigits)
	}
	if err := h.values.RecordValue(max(0, min(v, histogramLimit))); err != nil {
		panic(fmt.Sprintf("a histogram does not take a value within its limits: %v", err))
	}
}

// at returns a percentile. The histogram rounds ranks to the nearest number, so the requested
// percentile is that of a whole rank. It returns the largest value that it cannot distinguish from
// the right one, limited to the maximum.
func (h *histogram) at(permille int) float64 {
	percentile := 100 * float64(rank(h.n, permille)) / float64(h.n)
	return min(h.max, float64(h.values.ValueAtPercentile(percentile)))
}
