package analysis

import (
	"fmt"
	"slices"
	"time"
)

// A Share is a stretch of some length with the percentage of it in which the program was paused, or
// ran.
type Share struct {
	Length  int64 // nanoseconds
	Percent Number
	At      int64 // when it began; valid if Percent is known
}

// The lengths of the stretches.
var (
	shareLengths       = [...]time.Duration{10 * time.Second, time.Minute, 5 * time.Minute}
	utilizationLengths = [...]time.Duration{
		10 * time.Millisecond, 50 * time.Millisecond, 100 * time.Millisecond, time.Second, 10 * time.Second,
	}
)

// allLengths are the lengths of exact Statistics.
var allLengths = slices.Concat(shareLengths[:], utilizationLengths[:])

// worst returns the worst stretch of each length within one of the parts.
func (h *history) worst(parts []Window) []longest {
	s := newSliding(0, allLengths...)
	for _, w := range parts {
		s.begin(w.From)
		for i := max(0, h.after(w.From-1)-1); i < h.n && h.at(i).start < w.To; i++ {
			from, to := w.Clip(h.at(i).start, h.at(i).end())
			s.add(from, to, nil)
		}
		s.finish(w.To)
	}
	return s.windows
}

// tooShort returns why a Summary has no stretch of a length.
func tooShort(x *Summary, parts []Window, length int64) string {
	what, is := "the observed time", x.Window.To-x.Window.From
	if x.Unobserved > 0 {
		what, is = "the longest time observed without a gap", 0
		for _, w := range parts {
			is = max(is, w.To-w.From)
		}
	}
	text := fmt.Sprintf("%s, %s, is shorter than ", what, durationText(float64(is)))
	if minutes := length / int64(time.Minute); minutes > 0 {
		return text + fmt.Sprintf("%d min", minutes)
	}
	return text + durationText(float64(length))
}

// percent returns the percentage that part has of the whole.
func percent[T int64 | uint64 | float64](part, of T) float64 {
	return quotient(100*float64(part), float64(of))
}

// quotient returns a / b, 0 if there is nothing to divide by.
func quotient(a, b float64) float64 {
	if b <= 0 {
		return 0
	}
	return a / b
}
