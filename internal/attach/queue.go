package attach

import (
	"sync"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/gclog"
)

// A queue is between the reader of a stream and its outputs: reading never waits for writing,
// because a runtime drops events that nobody reads. Records that do not fit are counted, and are
// reported as a gap once there is room again.
//
// It is the Observer of the Reducer; one goroutine puts, another takes.
type queue struct {
	more chan struct{} // receives a value when there is something to take, or the queue was closed

	mu      sync.Mutex
	items   []*item       // those that wait, from head on
	head    int           // index in items of the next one to take
	free    []*item       // items to reuse, put here by give
	made    int           // items allocated so far, at most queueSize
	closed  bool          // nothing more will be put; set by close
	dropped gclog.Missing // records since the last gap
	newest  gclog.Stamp   // stamp of the latest pause or collection; only the goroutine that puts sets it
}

// queueSize is the maximum number of waiting records. They take at most 16 MB in total, because a
// process with many heaps gets fewer. Memory is allocated only when that many wait.
const (
	queueSize  = 4096
	queueBytes = 16 << 20
	itemBytes  = 3 << 10 // of a record, without its heaps
	heapBytes  = 700     // of each heap
)

// An item is one record. It is reused, with the memory of its lists.
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

// collection returns the collection that an item is about; nil if it is about none.
func (it *item) collection() *gclog.GCDetails {
	switch it.kind {
	case itemPause:
		return it.pause.GC
	case itemPhase, itemGC:
		return &it.details
	}
	return nil
}

// ticks returns when an item started.
func (it *item) ticks() int64 {
	if d := it.collection(); d != nil {
		return d.StartTicks
	}
	switch it.kind {
	case itemPause:
		return it.pause.Ticks
	case itemSuspension:
		return it.suspension.Ticks
	case itemGap:
		return it.gap.Ticks
	default:
		return it.stall.Ticks
	}
}

func newQueue() *queue { return &queue{more: make(chan struct{}, 1)} }

// put enqueues a record. d is the collection that it belongs to, or nil; fill copies everything
// else into the item. number is the collection's number if this is its record, otherwise 0.
func (q *queue) put(kind itemKind, d *gclog.GCDetails, number uint32, fill func(*item)) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.enqueue(kind, d, fill) {
		q.dropped.Add(number)
	}
}

// enqueue reports whether there was room.
func (q *queue) enqueue(kind itemKind, d *gclog.GCDetails, fill func(*item)) bool {
	var heaps int
	if d != nil {
		heaps = len(d.Heaps)
	}
	if q.dropped.Records > 0 {
		// Not before there is room for more than the gap: otherwise an output that is always slow
		// would get nothing but gaps.
		if len(q.free) < 1+gclog.MissingGaps+q.made/8 {
			return false
		}
		q.gaps(func() *item { return q.item(heaps) })
	}
	it := q.item(heaps)
	if it == nil {
		return false
	}
	it.kind = kind
	if d != nil {
		it.details.CopyFrom(d)
	}
	fill(it)
	q.push(it)
	q.wake()
	return true
}

func (q *queue) push(it *item) {
	if len(q.items) == cap(q.items) && q.head > len(q.items)/2 {
		n := copy(q.items, q.items[q.head:])
		q.items, q.head = q.items[:n], 0
	}
	q.items = append(q.items, it)
}

// gaps enqueues gaps for the dropped records.
func (q *queue) gaps(newItem func() *item) {
	g := gclog.Gap{Reason: gclog.GapQueueFull, Time: q.newest.Time, Ticks: q.newest.Ticks}
	q.dropped.Gaps(g, func(g *gclog.Gap) {
		it := newItem()
		it.kind, it.gap = itemGap, *g
		q.push(it)
	})
	q.dropped = gclog.Missing{}
}

func (q *queue) item(heaps int) *item {
	if n := len(q.free); n > 0 {
		it := q.free[n-1]
		q.free = q.free[:n-1]
		return it
	}
	if q.made >= min(queueSize, queueBytes/(itemBytes+heapBytes*heaps)) {
		return nil
	}
	q.made++
	return &item{}
}

func (q *queue) wake() {
	select {
	case q.more <- struct{}{}:
	default:
	}
}

// take returns the next record, nil if none waits; over reports that none will come.
func (q *queue) take() (it *item, over bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.head == len(q.items) {
		q.items, q.head = q.items[:0], 0
		return nil, q.closed
	}
	it = q.items[q.head]
	q.head++
	return it, false
}

// give returns an item that was taken, so that it can be reused.
func (q *queue) give(it *item) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.free = append(q.free, it)
}

// close reports that nothing more will be put. The records dropped last become the last item.
func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.gaps(func() *item { return &item{} })
	q.closed = true
	q.wake()
}

// Pause implements gclog.Observer.
func (q *queue) Pause(p *gclog.Pause) {
	q.newest = gclog.Stamp{Time: p.Start, Ticks: p.Ticks}
	q.put(itemPause, p.GC, p.UsedNumber, func(it *item) {
		it.pause = *p
		if p.GC != nil {
			it.pause.GC = &it.details
		}
	})
}

// Phase implements gclog.Observer.
func (q *queue) Phase(p *gclog.Phase) {
	q.put(itemPhase, p.GC, 0, func(it *item) {
		it.phase = *p
		it.phase.GC = &it.details
	})
}

// Suspension implements gclog.SuspensionObserver.
func (q *queue) Suspension(s *gclog.Suspension) {
	q.put(itemSuspension, nil, 0, func(it *item) { it.suspension = *s })
}

// GC implements gclog.Observer.
func (q *queue) GC(d *gclog.GCDetails) {
	q.newest = gclog.Stamp{Time: d.Start, Ticks: d.StartTicks}
	q.put(itemGC, d, d.Number, func(*item) {})
}

// Gap implements gclog.Observer.
func (q *queue) Gap(g *gclog.Gap) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.enqueue(itemGap, nil, func(it *item) { it.gap = *g }) {
		q.dropped.Add(0)
		q.dropped.AddGap(g) // what it reports is in no other record
	}
}

func (q *queue) stall(s *gclog.Stall) {
	q.put(itemStall, nil, 0, func(it *item) { it.stall = *s })
}

// count adds the item to what is missing.
func (it *item) count(m *gclog.Missing) {
	switch it.kind {
	case itemPause:
		m.Add(it.pause.UsedNumber)
	case itemGC:
		m.Add(it.details.Number)
	case itemGap:
		m.Add(0)
		m.AddGap(&it.gap)
	default:
		m.Add(0)
	}
}

// deliver passes the item on, whatever it is.
func (it *item) deliver(to formats.Observer) {
	switch it.kind {
	case itemSuspension:
		to.Suspension(&it.suspension)
	case itemStall:
		to.Stall(&it.stall)
	default:
		it.observe(to)
	}
}

// A StallObserver is an Observer that is also informed of what has been open for long.
type StallObserver interface {
	gclog.Observer
	Stall(s *gclog.Stall)
}

// observe passes the item to an Observer. Only a StallObserver receives stalls: a stall is not a
// completed event.
func (it *item) observe(to gclog.Observer) {
	switch it.kind {
	case itemPause:
		to.Pause(&it.pause)
	case itemPhase:
		to.Phase(&it.phase)
	case itemGC:
		to.GC(&it.details)
	case itemGap:
		to.Gap(&it.gap)
	case itemStall:
		if o, ok := to.(StallObserver); ok {
			o.Stall(&it.stall)
		}
	case itemSuspension:
	}
}
