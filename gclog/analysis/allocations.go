package analysis

import (
	"slices"

	"github.com/gclog/gclog/gclog"
)

// allocations relate what was allocated to the time in which it was: each collection reports the
// allocations since the end of the previous one.
type allocations struct {
	bytes, time float64 // sums of those that no gap can overlap any more
	newest      []allocation
	last        int64 // end of the latest collection
	hasLast     bool
}

// An allocation is what was allocated in a stretch of time.
type allocation struct {
	Window
	bytes float64
}

// lateHoles is after how many collections a gap may still be reported: the numbers in a log reveal
// late that one is missing.
const lateHoles = 1024

func (a *allocations) gc(d *gclog.GCDetails, w Window, h gaps) {
	since, at, has := a.last, ended(d), a.hasLast
	if !has || at > since {
		a.last, a.hasLast = at, true
	}
	switch {
	case !has || !d.Known.Has(gclog.GroupAllocated):
	case at <= since:
		a.within(at, float64(d.Allocated))
	case !h.touch(since, at):
		a.add(allocation{Window{since, at}, float64(d.Allocated)}, w)
	}
}

func (a *allocations) add(x allocation, w Window) {
	if len(a.newest) == 2*lateHoles {
		for _, x := range a.newest[:lateHoles] {
			a.settle(x, w)
		}
		a.newest = slices.Delete(a.newest, 0, lateHoles)
	}
	a.newest = append(a.newest, x)
}

// within adds what a collection reports that ended together with a recorded one, as in a log with
// milliseconds, or before it, as a background collection whose record came late: it was allocated in
// the same stretch of time.
func (a *allocations) within(at int64, bytes float64) {
	for i := len(a.newest) - 1; i >= 0 && at <= a.newest[i].To; i-- {
		if x := &a.newest[i]; x.From < at {
			x.bytes += bytes
			return
		}
	}
}

// miss leaves out what overlaps a time that was not observed: a collection may be missing there.
func (a *allocations) miss(from, to int64) {
	a.newest = slices.DeleteFunc(a.newest, func(x allocation) bool { return x.From < to && x.To > from })
}

// settle adds an allocation to the sums. If w cuts its stretch of time, it counts in proportion to
// the part inside.
func (a *allocations) settle(x allocation, w Window) {
	from, to := w.Clip(x.From, x.To)
	a.bytes += x.bytes * float64(to-from) / float64(x.To-x.From)
	a.time += float64(to - from)
}

// AllocationRate returns the rate of the allocations in a window that collections report which follow
// each other, as in a Summary.
func AllocationRate(list []*gclog.GCDetails, w Window) Number {
	var a allocations
	for _, d := range list {
		a.gc(d, w, nil)
	}
	return rateOf(a.inside(w))
}

func rateOf(bytes, time float64) Number {
	return ratio(1e9*bytes, time, "no collection that reports allocations directly follows another recorded one").
		in("bytes/s")
}

// inside returns what was allocated in w, and in how much of its time.
func (a *allocations) inside(w Window) (bytes, time float64) {
	sum := allocations{bytes: a.bytes, time: a.time}
	for _, x := range a.newest {
		sum.settle(x, w)
	}
	return sum.bytes, sum.time
}
