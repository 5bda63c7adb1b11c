package daemon

import (
	"time"

	"github.com/gclog/gclog/internal/config"
)

// snapshotTurns decides when which heap snapshot is taken: one at a time on the host, because each
// takes memory and disk space, and none of a process before its cooldown is over. It reads no clock.
type snapshotTurns struct{ current *heapWatch }

// A heapWatch is what is known about the heap of a process.
type heapWatch struct {
	trend heapTrend
	next  time.Time // when the cooldown is over
}

// collected handles a full collection that has left this many bytes. It reports whether a snapshot is
// due. If it cannot be taken now, it still is after the next full collection.
func (s *snapshotTurns) collected(now time.Time, w *heapWatch, bytes uint64, o *config.HeapAuto) (due bool) {
	if s.current == w {
		return false // it belongs to the snapshot
	}
	grown := w.trend.add(bytes, o)
	return grown && s.current == nil && !now.Before(w.next)
}

// begin notes that a snapshot is being taken.
func (s *snapshotTurns) begin(w *heapWatch) { s.current = w }

// end notes that it was taken, or could not be. Another one of the process is possible from next on.
func (s *snapshotTurns) end(taken bool, next time.Time) {
	if taken {
		s.current.trend.reset()
	}
	s.current.next = next
	s.current = nil
}
