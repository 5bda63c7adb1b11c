package stacks

import (
	"math"

	"github.com/gclog/gclog/parse/clr"
)

// An Estimate is what was allocated, estimated from the events that were.
type Estimate struct {
	Events  uint64
	Bytes   float64
	Objects float64 // a rough estimate; NaN or infinite: unknown, as in .NET Core 3.1

	sampled  float64 // part of Bytes that is not known exactly
	variance float64 // of Bytes, if the estimate were small compared with all
}

// Add adds another estimate, of other events.
func (e *Estimate) Add(o Estimate) {
	e.Events += o.Events
	e.Bytes += o.Bytes
	e.Objects += o.Objects
	e.sampled += o.sampled
	e.variance += o.variance
}

// Enough reports whether there are enough events to say anything.
func (e *Estimate) Enough() bool { return e.Events >= leastEvents }

const leastEvents = 4

// Unseen is what may have been allocated without enough events to say anything, in bytes: in 95 of 100 cases it is
// less.
const Unseen = leastEvents * tickStep

// deviations is the half width of an interval of 95 %, in standard deviations.
const deviations = 2

// tickBias is by how much ticks may report too much: also what objects did not fit into.
const tickBias = 0.007

// Margin returns half the width of the 95 % interval of e.Bytes. e is a part of p.Total.
func (p *Profile) Margin(e Estimate) float64 {
	m := p.random(e)
	if p.unwatched > 0 && p.Total.Bytes > 0 {
		m = math.Hypot(m, deviations*math.Sqrt(p.unwatched)*e.Bytes/p.Total.Bytes)
	}
	if p.Source == Ticks {
		m += e.sampled * tickBias
	}
	return m
}

// random returns the part of the margin that more events would make smaller.
func (p *Profile) random(e Estimate) float64 {
	v := e.variance
	if p.Source == Ticks && p.Total.sampled > 0 { // their number is known, so that a large part is known well
		v *= max(0, 1-e.sampled/p.Total.sampled)
	}
	return deviations * math.Sqrt(v*max(1, p.dispersion))
}

// Share returns the part that e is of p.Total, with half the width of its 95 % interval.
func (p *Profile) Share(e Estimate) (share, margin float64) {
	if p.Total.Bytes <= 0 {
		return 0, 0
	}
	share = e.Bytes / p.Total.Bytes
	if p.Source == Ticks {
		return share, p.random(e)/p.Total.Bytes + share*tickBias
	}
	rest := max(0, p.Total.variance-e.variance)
	v := (1-share)*(1-share)*e.variance + share*share*rest
	return share, deviations * math.Sqrt(v*max(1, p.dispersion)) / p.Total.Bytes
}

// tickStep is what is allocated between two ticks, and what a sample stands for, in bytes. An object
// that is larger has a tick of its own.
const tickStep = 102_400

// A stratum has ticks that share a threshold: those of a heap and of a kind.
type stratum struct {
	kind    clr.AllocationKind
	span    int
	sampled bool
	equal   uint64  // events that weigh the same
	rest    float64 // bytes that these stand for together
}

// A cell has the events of some kind in a stratum. Ticks get their weights when all are known.
type cell struct {
	equal     uint64  // events that weigh as much as all others of the stratum
	perObject float64 // sum of 1/size over their objects; infinite: a size is unknown

	own      uint64  // events with a weight of their own
	bytes    float64 // sum of these weights
	exact    float64 // part of it that has no error
	squares  float64 // sum of the squares of the weights in that part
	variance float64
	objects  float64
}

// tickWeight reports whether a tick has a weight of its own, and returns that weight. An object larger than the
// threshold always has a tick. .NET Core 3.1 does not report the size of the object, 0.
func tickWeight(kind clr.AllocationKind, amount, size uint64) (weight uint64, own bool) {
	if size > 0 {
		return size, size > tickStep
	}
	return amount, kind != clr.AllocationSmall
}

// tick adds an AllocationTick to what its stratum has.
func (s *stratum) tick(amount, size uint64) {
	weight, own := tickWeight(s.kind, amount, size)
	if !own {
		s.equal++
		s.rest += float64(amount)
	} else if amount > weight {
		s.rest += float64(amount - weight)
	}
}

// tick adds an AllocationTick.
func (c *cell) tick(kind clr.AllocationKind, amount, size uint64) {
	weight, own := tickWeight(kind, amount, size)
	w := float64(weight)
	switch {
	case !own:
		c.equal++
		c.perObject += 1 / float64(size)
	case size > 0:
		c.own++
		c.bytes += w
		c.exact += w
		c.squares += w * w
		c.objects++
	default:
		c.own++
		c.bytes += w
		c.variance += w * w
		c.objects = math.NaN()
	}
}

// sample adds an AllocationSampled. Each byte is sampled with a probability of 1/tickStep.
func (c *cell) sample(size uint64) {
	if size == 0 {
		return
	}
	q := -math.Expm1(-float64(size) / tickStep)
	w := float64(size) / q
	c.own++
	c.bytes += w
	c.variance += w * w * (1 - q)
	c.objects += 1 / q
}

// estimate returns what the events stand for, each of them as often as the stretch says: at times, nobody watched.
func (c *cell) estimate(s *stratum, stretch float64) Estimate {
	e := Estimate{
		Events: c.own + c.equal, Bytes: c.bytes, Objects: c.objects, sampled: c.bytes - c.exact,
		variance: c.variance,
	}
	if c.equal > 0 {
		w := s.rest / float64(s.equal)
		part := w * float64(c.equal)
		e.Bytes += part
		e.sampled += part
		e.variance += w * part
		e.Objects += w * c.perObject // infinite if a size is 0
	}
	if stretch > 1 {
		e.variance = stretch*stretch*e.variance + stretch*(stretch-1)*c.squares
		e.sampled = stretch * (e.sampled + c.exact)
		e.Bytes *= stretch
		e.Objects *= stretch
	}
	return e
}
