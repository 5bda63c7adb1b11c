package parse

// Time order.
//
// A runtime buffers per thread and writes one thread after the other, so the
// file is in order within a capture thread only. What brings the threads
// together (docs/protocol.md, "Order"):
//
//  1. Rows wait in a queue of their capture thread.
//  2. No row behind a row with the sorted flag is older than that row. So at a
//     sorted row with time T every waiting row up to T is released, the oldest
//     first, and then the sorted row itself, which never waits.
//  3. A sequence point, the end of the stream, Reader.Flush and a full queue
//     release everything.
//
// What arrives older than a row that was already released (only a forced
// release can cause that) is delivered all the same, and counted as late.

// A row is an event, or the report of a loss, that waits for its turn. It is kept
// small: a stream that is wanted whole moves every row through a queue.
type row struct {
	ticks   int64
	arrival uint64         // breaks ties: the order in the stream
	meta    *Metadata      // nil: a report of lost events
	about   *captureThread // the thread that the event is about; V4: nil, then thread says it
	thread  uint64         // a loss: the ticks since which
	chunk   *chunk         // where the payload lies; nil: in no chunk
	off     uint32         // of the payload in chunk.b
	size    uint32         // of the payload; a loss: the number of events
	version int32
	proc    uint32
}

func (w *row) payload() []byte {
	if w.chunk == nil {
		return nil
	}
	return w.chunk.b[w.off : w.off+w.size : w.off+w.size]
}

// A captureThread is a thread that writes events: its queue and the count of
// its events, by which losses are found.
type captureThread struct {
	id   uint64 // V4: OS thread id; V6: thread index
	rows []row  // rows[head:] wait, the oldest first
	head int

	lastSeq   uint32 // number of the last event seen
	lastTicks int64  // its time
	seen      bool   // lastSeq is valid

	// V6: what the thread block says about the thread.
	tid     uint64
	process int64
}

func (t *captureThread) waiting() bool { return t.head < len(t.rows) }

// push returns a row at the end of the queue, to be filled in, and tells whether
// the queue was empty.
func (t *captureThread) push() (w *row, first bool) {
	first = t.head == len(t.rows)
	if first {
		t.rows, t.head = t.rows[:0], 0
	} else if t.head >= 256 && t.head > len(t.rows)/2 {
		t.rows, t.head = t.rows[:copy(t.rows, t.rows[t.head:])], 0
	}
	if len(t.rows) < cap(t.rows) {
		t.rows = t.rows[:len(t.rows)+1]
	} else {
		t.rows = append(t.rows, row{})
	}
	return &t.rows[len(t.rows)-1], first
}

// keepRows is the largest queue that is kept for reuse when it has run empty.
const keepRows = 4096

// trim frees the memory of a large queue that has run empty.
func (t *captureThread) trim() {
	if cap(t.rows) > keepRows {
		t.rows, t.head = nil, 0
	}
}

// A sorter merges the queues of the capture threads by time.
type sorter struct {
	heap    []*captureThread // threads with a waiting row, by their oldest
	arena   arena
	waiting int // rows
	arrived uint64
}

func (s *sorter) reset() {
	s.heap = s.heap[:0]
	s.waiting, s.arrived = 0, 0
	s.arena.reset()
}

// maxWaiting is how many rows wait before a release is forced; with the limit
// of the arena it bounds the memory of the sorter.
const maxWaiting = 1 << 16

func (s *sorter) full() bool { return s.waiting >= maxWaiting || s.arena.full() }

// add makes a row wait in the queue of t and returns it, to be filled in: ticks
// and arrival are.
func (s *sorter) add(t *captureThread, ticks int64) *row {
	w, first := t.push()
	s.arrived++
	w.ticks, w.arrival = ticks, s.arrived
	s.waiting++
	if first {
		s.heap = append(s.heap, t)
		if len(s.heap) > 1 {
			s.up(len(s.heap) - 1)
		}
	}
	return w
}

// next removes the oldest waiting row if it is not younger than limit, nil if
// there is none. The row is valid until the next add.
func (s *sorter) next(limit int64) *row {
	if len(s.heap) == 0 {
		return nil
	}
	t := s.heap[0]
	w := &t.rows[t.head]
	if w.ticks > limit {
		return nil
	}
	t.head++
	s.waiting--
	last := len(s.heap) - 1
	if t.head == len(t.rows) {
		t.trim()
		s.heap[0] = s.heap[last]
		s.heap[last] = nil
		s.heap = s.heap[:last]
	}
	if last > 0 {
		s.down(0)
	}
	return w
}

func (s *sorter) less(i, j int) bool {
	a, b := s.heap[i], s.heap[j]
	x, y := &a.rows[a.head], &b.rows[b.head]
	if x.ticks != y.ticks {
		return x.ticks < y.ticks
	}
	return x.arrival < y.arrival
}

func (s *sorter) up(i int) {
	for i > 0 {
		parent := (i - 1) / 2
		if !s.less(i, parent) {
			return
		}
		s.heap[i], s.heap[parent] = s.heap[parent], s.heap[i]
		i = parent
	}
}

func (s *sorter) down(i int) {
	for {
		least := i
		for c := 2*i + 1; c <= 2*i+2 && c < len(s.heap); c++ {
			if s.less(c, least) {
				least = c
			}
		}
		if least == i {
			return
		}
		s.heap[i], s.heap[least] = s.heap[least], s.heap[i]
		i = least
	}
}

// An arena holds the payloads of waiting rows in chunks. A chunk is used again
// when the last row in it has been delivered.
type arena struct {
	current *chunk
	free    []*chunk
	inUse   int // bytes of all chunks that hold a row
}

type chunk struct {
	b    []byte
	live int // rows in it
}

const (
	chunkSize = 64 << 10
	maxArena  = 8 << 20
)

func (a *arena) reset() { *a = arena{free: a.free} }

func (a *arena) full() bool { return a.inUse >= maxArena }

// copy keeps p for w.
func (a *arena) copy(w *row, p []byte) {
	w.size = uint32(len(p))
	if len(p) == 0 {
		w.chunk = nil
		return
	}
	c := a.current
	if c == nil || cap(c.b)-len(c.b) < len(p) {
		c = a.newChunk(len(p))
	}
	w.chunk, w.off = c, uint32(len(c.b))
	c.b = append(c.b, p...)
	c.live++
}

func (a *arena) newChunk(size int) *chunk {
	if old := a.current; old != nil && old.live == 0 {
		a.recycle(old)
	}
	var c *chunk
	if n := len(a.free); n > 0 && size <= chunkSize {
		c = a.free[n-1]
		a.free = a.free[:n-1]
	} else {
		c = &chunk{b: make([]byte, 0, max(size, chunkSize))}
	}
	a.current = c
	a.inUse += cap(c.b)
	return c
}

// release gives back the payload of a row that has been delivered.
func (a *arena) release(c *chunk) {
	if c == nil {
		return
	}
	if c.live--; c.live > 0 {
		return
	}
	if c == a.current {
		c.b = c.b[:0]
		return
	}
	a.recycle(c)
}

func (a *arena) recycle(c *chunk) {
	a.inUse -= cap(c.b)
	c.b = c.b[:0]
	if cap(c.b) == chunkSize {
		a.free = append(a.free, c)
	}
}
