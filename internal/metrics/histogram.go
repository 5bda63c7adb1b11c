package metrics

import (
	"math"
	"sort"
)

// A Histogram counts durations in two ways: in a few buckets whose bounds people know (classic), and
// in many that grow by a constant factor (native, or exponential).
type Histogram struct {
	bounds *bounds
	counts [maxBounds + 1]uint64 // by classic bucket; the last is above all bounds
	sum    int64                 // nanoseconds
	zero   uint64                // durations of at most zeroThreshold
	// octaves are the native buckets, each octave from when it is first needed.
	octaves [octaves]*[perOctave]uint64
}

// bounds are the upper bounds of classic buckets, in nanoseconds.
type bounds []int64

const maxBounds = 14

// The bounds of pauses are those that the conventions propose, finer at the low end. Other
// histograms have fewer, because each bucket is a series for each process.
var (
	pauseBounds    = bounds{5e5, 1e6, 25e5, 5e6, 1e7, 25e6, 5e7, 1e8, 25e7, 5e8, 1e9, 25e8, 5e9, 1e10}
	durationBounds = bounds{1e6, 1e7, 1e8, 1e9, 1e10}
	suspendBounds  = bounds{1e5, 1e6, 1e7, 1e8, 1e9}
)

// Seconds returns the bounds in seconds.
func (b bounds) seconds() (list []float64) {
	for _, ns := range b {
		list = append(list, seconds(ns))
	}
	return list
}

func seconds(ns int64) float64 { return float64(ns) / 1e9 }

// The native buckets. Bucket i holds the durations above factor^(i-1) and up to factor^i seconds.
const (
	// Schema is the resolution: the factor is 2^(2^-Schema), about 1.09.
	Schema    = 3
	perOctave = 1 << Schema
	// firstOctave is the binary logarithm of the smallest duration that is not zero, in seconds.
	firstOctave = -20
	octaves     = 30 // up to 2^10 s; longer durations count as that
	// zeroThreshold is the largest duration in the zero bucket, in seconds: 0.95 µs.
	zeroThreshold = 1.0 / (1 << -firstOctave)
)

// fractions are the bounds within an octave, as shares of its upper end: 2^(i/8-1).
var fractions = [perOctave]float64{
	0.5, 0.5452538663326288, 0.5946035575013605, 0.6484197773255048,
	0.7071067811865475, 0.7711054127039704, 0.8408964152537144, 0.9170040432046711,
}

func newHistogram(b *bounds) *Histogram { return &Histogram{bounds: b} }

// observe adds a duration in nanoseconds.
func (h *Histogram) observe(ns int64) {
	ns = max(0, ns)
	h.sum = add(h.sum, ns)
	i := 0
	for i < len(*h.bounds) && ns > (*h.bounds)[i] {
		i++
	}
	h.counts[i]++
	v := seconds(ns)
	if v <= zeroThreshold {
		h.zero++
		return
	}
	octave, within := nativeBucket(v)
	if h.octaves[octave] == nil {
		h.octaves[octave] = new([perOctave]uint64)
	}
	h.octaves[octave][within]++
}

// nativeBucket returns the native bucket of a duration above zeroThreshold.
func nativeBucket(v float64) (octave, within int) {
	fraction, exponent := math.Frexp(v)
	i := sort.SearchFloat64s(fractions[:], fraction) + (exponent-1)*perOctave - 1 // of the bucket's lower bound
	i = min(i-firstOctave*perOctave, octaves*perOctave-1)
	return i / perOctave, i % perOctave
}

// Count returns the number of durations.
func (h *Histogram) Count() (n uint64) {
	for _, c := range h.counts {
		n += c
	}
	return n
}

// Sum returns their sum in seconds.
func (h *Histogram) Sum() float64 { return seconds(h.sum) }

// Zero returns how many are in the zero bucket, and its upper bound in seconds.
func (h *Histogram) Zero() (n uint64, threshold float64) { return h.zero, zeroThreshold }

// Classic calls f with the upper bound of each classic bucket in seconds, and how many durations are
// in it. The last bound is infinite.
func (h *Histogram) Classic(f func(bound float64, n uint64)) {
	for i, b := range *h.bounds {
		f(seconds(b), h.counts[i])
	}
	f(math.Inf(1), h.counts[len(*h.bounds)])
}

// Native calls f with the index of each native bucket that is not empty, in order, and how many
// durations are in it.
func (h *Histogram) Native(f func(index int, n uint64)) {
	for o, octave := range h.octaves {
		if octave == nil {
			continue
		}
		for i, n := range octave {
			if n > 0 {
				f((o+firstOctave)*perOctave+i+1, n)
			}
		}
	}
}

// copyFrom makes h a copy of src.
func (h *Histogram) copyFrom(src *Histogram) {
	mine := h.octaves
	*h = *src
	for i, octave := range src.octaves {
		switch {
		case octave == nil && mine[i] != nil:
			*mine[i] = [perOctave]uint64{}
		case octave != nil:
			if mine[i] == nil {
				mine[i] = new([perOctave]uint64)
			}
			*mine[i] = *octave
		}
	}
	h.octaves = mine
}

// add adds what another histogram with the same bounds has counted, or subtracts it.
func (h *Histogram) add(other *Histogram, subtract bool) {
	sign := func(n uint64) uint64 {
		if subtract {
			return -n
		}
		return n
	}
	for i, n := range other.counts {
		h.counts[i] += sign(n)
	}
	h.sum += int64(sign(uint64(other.sum)))
	h.zero += sign(other.zero)
	for i, octave := range other.octaves {
		if octave == nil {
			continue
		}
		if h.octaves[i] == nil {
			h.octaves[i] = new([perOctave]uint64)
		}
		for j, n := range octave {
			h.octaves[i][j] += sign(n)
		}
	}
}
