package attach

import (
	"sync"

	"github.com/gclog/gclog/gclog"
)

// A queue is between the reader of a stream and its outputs: reading never waits for writing,
// because a runtime drops events that nobody reads. Records that do not fit are counted, and are
// reported as a gap once there is room again.
//
// One goroutine puts, another takes.
type queue struct {
	more chan struct{} // receives a value when there is something to take, or the queue was closed

	mu      sync.Mutex
	slots   []*gclog.Slot // those that wait, from head on
	head    int           // index in slots of the next one to take
	free    []*gclog.Slot // slots to reuse, put here by give
	made    int           // slots allocated so far, at most queueSize
	closed  bool          // nothing more will be put; set by close
	dropped gclog.Missing // records since the last gap
	values  int           // of the counters in records that wait
	newest  gclog.Stamp   // stamp of the latest pause or collection; only the goroutine that puts sets it
}

// queueSize is the maximum number of waiting records. They take at most 16 MB in total, because a
// process with many heaps gets fewer. Memory is allocated only when that many wait.
const (
	queueSize   = 4096
	queueBytes  = 16 << 20
	slotBytes   = 3 << 10 // of a record, without its heaps
	heapBytes   = 700     // of each heap
	queueValues = 1 << 15 // values of counters that wait: 8 MB with their texts
)

func newQueue() *queue { return &queue{more: make(chan struct{}, 1)} }

// put enqueues a record. It is the Observer of the Reducer.
func (q *queue) put(r gclog.Record) {
	switch r := r.(type) {
	case *gclog.Pause:
		q.newest = gclog.Stamp{Time: r.Start, Ticks: r.Ticks}
	case *gclog.GCDetails:
		q.newest = gclog.Stamp{Time: r.Start, Ticks: r.StartTicks}
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.enqueue(r) {
		q.dropped.Add(r)
	}
}

// enqueue reports whether there was room.
func (q *queue) enqueue(r gclog.Record) bool {
	var heaps int
	if d := gclog.CollectionOf(r); d != nil {
		heaps = len(d.Heaps)
	}
	if q.dropped.Records > 0 {
		// Not before there is room for more than the gap: otherwise an output that is always slow
		// would get nothing but gaps.
		if len(q.free) < 1+gclog.MissingGaps+q.made/8 {
			return false
		}
		q.gaps(func() *gclog.Slot { return q.slot(heaps) })
	}
	counters, _ := r.(*gclog.Counters)
	if counters != nil && q.values+len(counters.Values) > queueValues {
		return false
	}
	s := q.slot(heaps)
	if s == nil {
		return false
	}
	s.Copy(r)
	if counters != nil {
		q.values += len(counters.Values)
	}
	q.push(s)
	q.wake()
	return true
}

func (q *queue) push(s *gclog.Slot) {
	if len(q.slots) == cap(q.slots) && q.head > len(q.slots)/2 {
		n := copy(q.slots, q.slots[q.head:])
		q.slots, q.head = q.slots[:n], 0
	}
	q.slots = append(q.slots, s)
}

// gaps enqueues gaps for the dropped records.
func (q *queue) gaps(newSlot func() *gclog.Slot) {
	g := gclog.Gap{Reason: gclog.GapQueueFull, Time: q.newest.Time, Ticks: q.newest.Ticks}
	q.dropped.Gaps(g, func(g *gclog.Gap) {
		s := newSlot()
		s.Copy(g)
		q.push(s)
	})
	q.dropped = gclog.Missing{}
}

func (q *queue) slot(heaps int) *gclog.Slot {
	if n := len(q.free); n > 0 {
		s := q.free[n-1]
		q.free = q.free[:n-1]
		return s
	}
	if q.made >= min(queueSize, queueBytes/(slotBytes+heapBytes*heaps)) {
		return nil
	}
	q.made++
	return &gclog.Slot{}
}

func (q *queue) wake() {
	select {
	case q.more <- struct{}{}:
	default:
	}
}

// take returns the next record, nil if none waits; over reports that none will come.
func (q *queue) take() (s *gclog.Slot, over bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.head == len(q.slots) {
		q.slots, q.head = q.slots[:0], 0
		return nil, q.closed
	}
	s = q.slots[q.head]
	q.head++
	return s, false
}

// give returns a slot that was taken, so that it can be reused.
func (q *queue) give(s *gclog.Slot) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if s.Record == &s.Counters {
		q.values -= len(s.Counters.Values)
		s.Counters = gclog.Counters{} // few records have that many values
	}
	q.free = append(q.free, s)
}

// close reports that nothing more will be put. The records dropped last become the last ones.
func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.gaps(func() *gclog.Slot { return &gclog.Slot{} })
	q.closed = true
	q.wake()
}
