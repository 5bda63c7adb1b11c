package attach

import (
	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/gclog"
)

// A queue stands between the reader of a stream and its outputs: reading never
// waits for writing, because a runtime whose events nobody reads drops them. What
// does not fit is counted, and told as a gap when there is room again.
//
// It is the Observer of the Reducer; one goroutine puts, another takes.
type queue struct {
	full    chan *item
	free    chan *item
	made    int
	dropped uint64 // records since the last gap
	newest  gclog.Stamp
}

// queueSize is how many records wait at most: in all they take at most 16 MB,
// because those of a process with many heaps are fewer. Memory is only taken
// when so many wait.
const (
	queueSize  = 4096
	queueBytes = 16 << 20
	itemBytes  = 3 << 10 // of a record, but for its heaps
	heapBytes  = 700     // of each of them
)

// An item is one record. It is used again, with the memory of its lists.
type item struct {
	kind       itemKind
	pause      gclog.Pause
	phase      gclog.Phase
	suspension gclog.Suspension
	gap        gclog.Gap
	stall      gclog.Stall
	details    gclog.GCDetails
}

type itemKind uint8

const (
	itemPause itemKind = iota
	itemPhase
	itemSuspension
	itemGC
	itemGap
	itemStall
)

func newQueue() *queue {
	return &queue{full: make(chan *item, queueSize), free: make(chan *item, queueSize)}
}

// put enqueues a record of a process with so many heaps; fill copies it into an
// item.
func (q *queue) put(kind itemKind, heaps int, fill func(*item)) {
	if q.dropped > 0 {
		// Not before there is room for more than the gap: else an output that is slow all
		// the time would get nothing but gaps.
		if len(q.free) < 2+q.made/8 {
			q.dropped++
			return
		}
		it := q.item(heaps)
		it.kind, it.gap = itemGap, q.gap()
		q.full <- it
	}
	it := q.item(heaps)
	if it == nil {
		q.dropped++
		return
	}
	it.kind = kind
	fill(it)
	q.full <- it // has room: there are no more items than places
}

// gap reports what was dropped.
func (q *queue) gap() gclog.Gap {
	g := gclog.Gap{Reason: gclog.GapQueueFull, Time: q.newest.Time, Ticks: q.newest.Ticks, Records: q.dropped}
	q.dropped = 0
	return g
}

func (q *queue) item(heaps int) *item {
	select {
	case it := <-q.free:
		return it
	default:
	}
	if q.made >= min(queueSize, queueBytes/(itemBytes+heapBytes*heaps)) {
		return nil
	}
	q.made++
	return &item{}
}

// Pause implements gclog.Observer.
func (q *queue) Pause(p *gclog.Pause) {
	q.newest = gclog.Stamp{Time: p.Start, Ticks: p.Ticks}
	heaps := 0
	if p.GC != nil {
		heaps = len(p.GC.Heaps)
	}
	q.put(itemPause, heaps, func(it *item) {
		it.pause = *p
		if p.GC != nil {
			it.details.CopyFrom(p.GC)
			it.pause.GC = &it.details
		}
	})
}

// Phase implements gclog.Observer.
func (q *queue) Phase(p *gclog.Phase) {
	q.put(itemPhase, len(p.GC.Heaps), func(it *item) {
		it.phase = *p
		it.details.CopyFrom(p.GC)
		it.phase.GC = &it.details
	})
}

// Suspension implements gclog.SuspensionObserver.
func (q *queue) Suspension(s *gclog.Suspension) {
	q.put(itemSuspension, 0, func(it *item) { it.suspension = *s })
}

// GC implements gclog.Observer.
func (q *queue) GC(d *gclog.GCDetails) {
	q.newest = gclog.Stamp{Time: d.Start, Ticks: d.StartTicks}
	q.put(itemGC, len(d.Heaps), func(it *item) { it.details.CopyFrom(d) })
}

// Gap implements gclog.Observer.
func (q *queue) Gap(g *gclog.Gap) {
	q.put(itemGap, 0, func(it *item) { it.gap = *g })
}

func (q *queue) stall(s *gclog.Stall) {
	q.put(itemStall, 0, func(it *item) { it.stall = *s })
}

// deliver writes the item to w.
func (it *item) deliver(w *formats.Writer) {
	switch it.kind {
	case itemPause:
		w.Pause(&it.pause)
	case itemPhase:
		w.Phase(&it.phase)
	case itemSuspension:
		w.Suspension(&it.suspension)
	case itemGC:
		w.GC(&it.details)
	case itemGap:
		w.Gap(&it.gap)
	case itemStall:
		w.Stall(&it.stall)
	}
}
