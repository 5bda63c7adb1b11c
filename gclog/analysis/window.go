package analysis

import "math"

// A Window is a stretch of time, [From, To), in nanoseconds since the sync point.
type Window struct{ From, To int64 }

// Always returns the Window that contains all times.
func Always() Window { return Window{math.MinInt64, math.MaxInt64} }

// Contains reports whether a moment is in the Window.
func (w Window) Contains(at int64) bool { return at >= w.From && at < w.To }

// Clip returns the part of [start, end) that is in the Window. If there is none, both results are
// equal.
func (w Window) Clip(start, end int64) (from, to int64) {
	from = max(start, w.From)
	return from, max(from, min(end, w.To))
}
