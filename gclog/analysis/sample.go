package analysis

import (
	"math/bits"
	"slices"
	"time"

	"github.com/gclog/gclog/gclog"
)

// A Sample is the Statistics of one run of a program, with what Compare needs to divide it by time:
// 40 bytes per collection, in addition to the 24 per pause. It is an Observer like Statistics.
type Sample struct {
	*Statistics
	// Sync is when the sync point was, on a clock that all runs share; zero: unknown.
	Sync        time.Time
	collections pages[sampled]
}

// sampled is a collection. Values are negative if they are unknown.
type sampled struct {
	at              int64 // when it began, but not before the session
	since           int64 // from when to its end allocated was allocated
	class           Class
	after, promoted float64
	allocated       float64
	ended           int64
}

// NewSample returns an empty Sample of a window of a run.
func NewSample(w Window) *Sample {
	return &Sample{Statistics: NewStatistics(StatisticsOptions{Window: w})}
}

// Observe adds a record.
func (s *Sample) Observe(r gclog.Record) {
	switch r := r.(type) {
	case *gclog.GCDetails:
		c := sampled{
			class:     ClassOf(r),
			since:     s.allocated.last,
			ended:     ended(r),
			after:     -1,
			promoted:  -1,
			allocated: -1,
		}
		if s.allocated.hasLast && r.Known.Has(gclog.GroupAllocated) {
			if c.allocated = float64(r.Allocated); c.ended <= c.since {
				s.within(&c)
			}
		}
		s.Statistics.Observe(r)
		if r.Known.Has(gclog.GroupAfter) {
			c.after = float64(r.SizeAfter())
		}
		if r.Known.Has(gclog.GroupPromoted) {
			c.promoted = float64(r.PromotedBytes)
		}
		c.at = max(began(r), s.span.begin)
		s.collections.add(c)
	default:
		s.Statistics.Observe(r)
	}
}

// within moves what a collection without a stretch of time reports to the one that covers its end,
// as allocations.within does.
func (s *Sample) within(c *sampled) {
	for i := s.collections.n - 1; i >= 0; i-- {
		x := s.collections.at(i)
		if x.allocated < 0 {
			continue
		}
		if x.since < c.ended && c.ended <= x.ended {
			x.allocated += c.allocated
		}
		if x.since < c.ended {
			break
		}
	}
	c.allocated = -1
}

// The sums of a block, of which metrics are ratios.
const (
	sumTime      = iota // observed, nanoseconds
	sumPaused           // of that
	sumAllocated        // bytes
	sumAllocTime        // in which they were allocated, nanoseconds
	sumAfter            // bytes after collections
	sumAfterGen2        // after those of gen2
	sumPromoted         // bytes
	sumAfters           // how many collections report each of the sizes
	sumAftersGen2
	sumPromotions
	sumClass // collections by class from here on
	sums     = sumClass + int(ClassAll) + 1
)

// A block is a stretch of the observed time of a run: the unit in which Compare draws.
type block struct {
	sums   [sums]float64
	pauses [Classes][]int64 // durations by class
}

// observed maps the times of a run to the time observed until then.
type observed struct {
	parts  []Window
	before []int64 // the length of the parts before each
	length int64
}

func newObserved(parts []Window) (o observed) {
	o.parts = parts
	for _, w := range parts {
		o.before = append(o.before, o.length)
		o.length += w.To - w.From
	}
	return o
}

// at returns how much was observed until a time, and whether the time itself was.
func (o *observed) at(t int64) (offset int64, seen bool) {
	for i, w := range slices.Backward(o.parts) {
		if t >= w.From {
			return o.before[i] + min(t, w.To) - w.From, t < w.To
		}
	}
	return 0, false
}

// blocks divides the observed time of the run into n blocks of equal length.
func (s *Sample) blocks(n int) []block {
	list := make([]block, n)
	s.stops.sort()
	w := Window{}
	w.From, w.To = s.window.Clip(s.span.begin, s.span.end)
	hidden := s.hidden()
	o := newObserved(hidden.between(w))
	if o.length == 0 {
		return list
	}
	of := func(t int64) (*block, bool) {
		offset, seen := o.at(t)
		hi, lo := bits.Mul64(uint64(offset), uint64(n))
		i, _ := bits.Div64(hi, lo, uint64(o.length))
		return &list[min(int(i), n-1)], seen
	}
	for i := range list {
		list[i].sums[sumTime] = float64(o.length) / float64(n)
	}
	for i := range s.stops.n {
		p := s.stops.at(i)
		b, seen := of(p.start)
		for _, c := range [...]Class{p.class(), ClassAll} {
			b.pauses[c] = append(b.pauses[c], p.duration())
		}
		b.sums[sumPaused] += float64(p.duration() - hidden.length(Window{p.start, p.end()}))
		if p.first() && !seen {
			b.sums[sumClass+int(p.class())]--
			b.sums[sumClass+int(ClassAll)]--
		}
	}
	for i := range s.collections.n {
		c := s.collections.at(i)
		from, to := s.window.Clip(c.since, c.ended)
		if c.allocated >= 0 && from < to && !s.unseen.touch(c.since, c.ended) {
			b, _ := of(to)
			b.sums[sumAllocated] += c.allocated * float64(to-from) / float64(c.ended-c.since)
			b.sums[sumAllocTime] += float64(to - from)
		}
		if s.inSession().Contains(c.at) {
			b, _ := of(c.at)
			b.add(c)
		}
	}
	return list
}

// add adds what a collection reports.
func (b *block) add(c *sampled) {
	b.sums[sumClass+int(c.class)]++
	b.sums[sumClass+int(ClassAll)]++
	if c.promoted >= 0 {
		b.sums[sumPromoted] += c.promoted
		b.sums[sumPromotions]++
	}
	if c.after < 0 {
		return
	}
	b.sums[sumAfter] += c.after
	b.sums[sumAfters]++
	if c.class == ClassGen2 || c.class == ClassBackground {
		b.sums[sumAfterGen2] += c.after
		b.sums[sumAftersGen2]++
	}
}

// merge adds another block.
func (b *block) merge(other *block) {
	for i, v := range other.sums {
		b.sums[i] += v
	}
	for c := range b.pauses {
		b.pauses[c] = append(b.pauses[c], other.pauses[c]...)
	}
}

// sort sorts the pauses by duration.
func (b *block) sort() {
	for c := range b.pauses {
		slices.Sort(b.pauses[c])
	}
}

// count returns the number of pauses of a class.
func (b *block) count(c Class) uint64 { return uint64(len(b.pauses[c])) }
