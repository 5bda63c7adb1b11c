package analysis

import (
	"fmt"
	"math"
	"sort"
	"time"
)

// A Share is the stretch of some length in which the program stood most.
type Share struct {
	Length  int64
	Percent Number
	At      int64 // when it began; valid if Percent is known
}

// A Utilization is the least share of a stretch of some length that the program
// ran: minimum mutator utilization.
type Utilization struct {
	Length  int64
	Percent Number
	At      int64 // when that stretch began; valid if Percent is known
}

// The lengths of the windows.
var (
	shareLengths       = [...]time.Duration{10 * time.Second, time.Minute, 5 * time.Minute}
	utilizationLengths = [...]time.Duration{
		10 * time.Millisecond, 50 * time.Millisecond, 100 * time.Millisecond, time.Second, 10 * time.Second,
	}
)

// A cursor goes through a history and adds up how long the program stood. Stops
// that overlap, as rounded logs have them, count once.
type cursor struct {
	h   *history
	i   int   // the next stop that is not after it wholly
	end int64 // of those before, if there are any
	sum int64 // of those before
}

// around returns the last stop that began until x, nil if there is none.
func (h *history) around(x int64) *stop {
	if i := sort.Search(h.n, func(i int) bool { return h.at(i).start > x }); i > 0 {
		return h.at(i - 1)
	}
	return nil
}

// from returns a cursor that begins with what may reach beyond x.
func (h *history) from(x int64) cursor {
	i := sort.Search(h.n, func(i int) bool { return h.at(i).start >= x })
	return cursor{h: h, i: max(0, i-1), end: math.MinInt64}
}

// upTo returns how long the program stood before x, which must not go back.
func (c *cursor) upTo(x int64) int64 {
	for ; c.i < c.h.n; c.i++ {
		s := c.h.at(c.i)
		start := max(s.start, c.end)
		end := max(start, s.end())
		if end > x {
			return c.sum + max(0, x-start)
		}
		c.sum += end - start
		c.end = end
	}
	return c.sum
}

// worst finds the stretch of a length in one of the parts in which the program stood
// longest; stood is -1 if all are shorter. Only stretches that start with a stop, or with a
// part, need to be looked at: any other can be moved to one of these and loses nothing.
func (h *history) worst(parts []Window, length int64) (stood, at int64) {
	stood = -1
	for _, w := range parts {
		if w.To-w.From < length {
			continue
		}
		lo := h.from(w.From)
		hi := lo
		first := lo.i
		try := func(begin int64) {
			begin = max(w.From, min(begin, w.To-length))
			if n := hi.upTo(begin+length) - lo.upTo(begin); n > stood {
				stood, at = n, begin
			}
		}
		try(w.From)
		for i := first; i < h.n && h.at(i).start < w.To; i++ {
			try(h.at(i).start)
		}
	}
	return stood, at
}

// tooShort is why there is no stretch of a length in a Summary.
func tooShort(x *Summary, parts []Window, length int64) string {
	what, is := "the history", x.Window.To-x.Window.From
	if x.Unobserved > 0 {
		what, is = "what was observed without a gap", 0
		for _, w := range parts {
			is = max(is, w.To-w.From)
		}
	}
	text := fmt.Sprintf("%s of %s is shorter than ", what, durationText(float64(is)))
	if minutes := length / int64(time.Minute); minutes > 0 {
		return text + fmt.Sprintf("%d min", minutes)
	}
	return text + durationText(float64(length))
}

// percent is a share of a whole.
func percent[T int64 | uint64 | float64](part, of T) float64 {
	return quotient(100*float64(part), float64(of))
}

// quotient is how many times a has b, 0 where there is nothing to divide by.
func quotient(a, b float64) float64 {
	if b <= 0 {
		return 0
	}
	return a / b
}
