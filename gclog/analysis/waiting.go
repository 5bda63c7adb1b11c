package analysis

import (
	"fmt"

	"github.com/gclog/gclog/gclog"
)

// What counters must show for a verdict that the threads wait, and not for the GC.
const (
	leastIntervals = 3   // with counters
	longQueue      = 100 // work items that wait for a thread of the pool
	mostIntervals  = 2.0 / 3
	muchWaiting    = 0.5 // of the time, by all threads together
	longWait       = 1e6 // nanoseconds that a thread waits for a lock, on average
)

// waiting is what threads wait for, as counters show it.
type waiting struct {
	intervals, queued    int // in queued ones the queue of the pool was long
	first, last, highest float64
	watched              int64 // intervals with counters, together
	locks                gclog.LockWaits
}

func (w *waiting) add(c *gclog.Counters) {
	w.watched += max(0, c.Interval)
	w.locks.Count += c.Locks.Count
	w.locks.Total += max(0, c.Locks.Total)
	queue, known := c.Level(gclog.InstrumentQueue)
	if !known {
		return
	}
	if w.intervals == 0 {
		w.first = queue
	}
	w.intervals++
	w.last, w.highest = queue, max(w.highest, queue)
	if queue >= longQueue {
		w.queued++
	}
}

// cause returns what the threads wait for and the numbers that show it, CauseNone if they do not wait.
// paused says how long the program was paused.
func (w *waiting) cause(paused string) (Cause, string) {
	switch {
	case w.intervals >= leastIntervals && float64(w.queued) >= mostIntervals*float64(w.intervals):
		what := "has had up to"
		if w.last > 2*w.first {
			what = "grew to"
		}
		return CauseThreadPool, fmt.Sprintf("Not the GC: the thread pool's queue %s %s; %s.", what,
			plural(uint64(w.highest), "work item"), paused)
	case w.watched > 0 && w.locks.Count > 0 && float64(w.locks.Total) >= muchWaiting*float64(w.watched) &&
		w.locks.Total/int64(w.locks.Count) >= longWait:
		return CauseLocks, fmt.Sprintf("Not the GC: threads waited %s for locks (%s, %s each); %s.",
			timeText(w.locks.Total), digits(float64(w.locks.Count)/(float64(w.watched)/1e9))+" per second",
			timeText(w.locks.Total/int64(w.locks.Count)), paused)
	}
	return CauseNone, ""
}
