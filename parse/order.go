package parse

import "math"

// Time order.
//
// A runtime buffers per thread and writes one thread after the other, so the file is in order only
// within a capture thread. The threads are merged as follows (docs/protocol.md, "Order"):
//
//  1. Rows wait in the queue of their capture thread.
//  2. No row that follows a row with the sorted flag is older than it. So a sorted row with time T
//     releases every waiting row up to T, the oldest first, and is then delivered itself. A sorted
//     row never waits.
//  3. A sequence point, the end of the stream, Reader.Flush and a full queue release everything.
//
// A row that is older than one already released is still delivered, and counted as late. Only a
// forced release can cause that.

// A row is an event or the report of a loss that waits to be delivered. It is kept small: if all
// events of a stream are wanted, every row moves through a queue.
type row struct {
	ticks   int64
	arrival uint64         // position in the stream; breaks ties between equal times
	loss    *loss          // nil if the row is an event
	meta    *Metadata      // of an event
	about   *captureThread // the thread that the row is about; nil for an event of V4: see thread
	thread  uint64
	chunk   *chunk // where the payload is; nil: in no chunk
	off     uint32 // offset of the payload in chunk.b
	size    uint32 // of the payload
	version int16
	stack   uint16 // size of the stack behind the payload, in units of stackUnit
	more    uint32 // number of rows that were folded into this one
	sum     uint64 // of this row and those folded into it
}

// A loss is a number of events that were lost between a point in time and the time of its row.
type loss struct {
	events uint32
	since  int64 // ticks
}

func (w *row) payload() []byte {
	if w.chunk == nil {
		return nil
	}
	return w.chunk.b[w.off : w.off+w.size : w.off+w.size]
}

func (w *row) addresses() []byte {
	if w.stack == 0 {
		return nil
	}
	at := w.off + w.size
	end := at + uint32(w.stack)*stackUnit
	return w.chunk.b[at:end:end]
}

// A captureThread is a thread that writes events: its queue, and the sequence numbers by which
// losses are detected.
type captureThread struct {
	id          uint64   // V4: OS thread id; V6: thread index
	first, last *segment // the waiting rows, the oldest first; nil if there are none

	lastSeq   uint32 // sequence number of the last event read
	lastTicks int64  // time of that event
	seen      bool   // lastSeq is valid

	// V6: what the Thread block contains about the thread.
	tid     uint64
	process int64
}

func (t *captureThread) waiting() bool { return t.first != nil }

// A segment is a piece of a queue. The queues of all threads share the free segments, so that the
// memory for them does not depend on which threads ever had many waiting rows.
type segment struct {
	next       *segment
	head, tail int // rows[head:tail] are waiting
	rows       [segmentRows]row
}

const segmentRows = 32

// A sorter merges the queues of the capture threads by time.
type sorter struct {
	heap    []*captureThread // threads with a waiting row; the one with the oldest row is first
	free    []*segment
	used    int // segments that are not free
	arena   arena
	waiting int // number of waiting rows
	arrived uint64

	// Losses for which there was no room, combined in one report that names no thread. nil if there
	// were none.
	spill *row
}

func (s *sorter) reset() {
	*s = sorter{free: s.free, arena: arena{free: s.arena.free, freeLarge: s.arena.freeLarge}}
}

// When maxSegments segments are in use, a release is forced. Together with the limit of the arena
// that bounds the memory of the sorter. There is room for everything that a runtime keeps in the 16
// MB that a session requests: after the reader had stalled, 75,000 rows of one thread came before
// the rows of the other.
const maxSegments = 1 << 12 // 11 MB: 131,072 rows of a few threads, or as many threads as segments

func (s *sorter) full() bool { return s.used >= maxSegments || s.arena.full() }

// spillLoss adds a loss to the report of losses for which there is no room.
func (s *sorter) spillLoss(n uint32, since, ticks int64) {
	if s.spill == nil {
		s.spill = &row{about: &captureThread{}, loss: &loss{n, since}, ticks: ticks}
		return
	}
	l := s.spill.loss
	l.events += min(n, math.MaxUint32-l.events)
	l.since = min(l.since, since)
	s.spill.ticks = max(s.spill.ticks, ticks)
}

// spilledLoss removes and returns that report. It returns nil if there is none.
func (s *sorter) spilledLoss() *row {
	w := s.spill
	s.spill = nil
	return w
}

// add appends a row to the queue of t and returns it. ticks and arrival are set; the caller fills
// in the rest.
func (s *sorter) add(t *captureThread, ticks int64) *row {
	first := t.first == nil
	if first || t.last.tail == segmentRows {
		s.extend(t)
	}
	w := &t.last.rows[t.last.tail]
	t.last.tail++
	s.arrived++
	w.ticks, w.arrival = ticks, s.arrived
	w.more, w.loss = 0, nil
	s.waiting++
	if first {
		s.heap = append(s.heap, t)
		s.up(len(s.heap) - 1)
	}
	return w
}

// newest returns the last row in the queue of t, or nil if the queue is empty.
func (t *captureThread) newest() *row {
	if t.last == nil {
		return nil
	}
	return &t.last.rows[t.last.tail-1]
}

// extend adds a segment to the queue of t.
func (s *sorter) extend(t *captureThread) {
	var g *segment
	if n := len(s.free); n > 0 {
		g, s.free = s.free[n-1], s.free[:n-1]
	} else {
		g = &segment{}
	}
	s.used++
	g.next, g.head, g.tail = nil, 0, 0
	if t.first == nil {
		t.first = g
	} else {
		t.last.next = g
	}
	t.last = g
}

// next removes and returns the oldest waiting row if its time is not after limit. Otherwise it
// returns nil. The row is valid until the next call of add.
func (s *sorter) next(limit int64) *row {
	if len(s.heap) == 0 {
		return nil
	}
	t := s.heap[0]
	g := t.first
	w := &g.rows[g.head]
	if w.ticks > limit {
		return nil
	}
	g.head++
	s.waiting--
	last := len(s.heap) - 1
	if g.head == g.tail {
		// A free segment keeps its rows until it is reused, so w stays valid.
		s.free = append(s.free, g)
		s.used--
		if t.first = g.next; t.first == nil {
			t.last = nil
			s.heap[0] = s.heap[last]
			s.heap = s.heap[:last]
		}
	}
	s.down(0)
	return w
}

func (s *sorter) less(i, j int) bool {
	a, b := s.heap[i].first, s.heap[j].first
	x, y := &a.rows[a.head], &b.rows[b.head]
	return x.ticks < y.ticks || x.ticks == y.ticks && x.arrival < y.arrival
}

func (s *sorter) up(i int) {
	for {
		parent := (i - 1) / 2 // the root's parent is the root
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

// An arena holds the payloads of waiting rows in chunks. A chunk is reused after the last row in it
// has been delivered.
type arena struct {
	current   *chunk
	free      []*chunk
	freeLarge []*chunk
	inUse     int // total bytes of all chunks that hold a row
}

type chunk struct {
	b    []byte
	live int // number of rows in it
}

const (
	chunkSize  = 8 << 10
	largeChunk = 64 << 10 // for what does not fit into chunkSize, such as the events of a heap walk
	maxArena   = 8 << 20
)

func (a *arena) full() bool { return a.inUse >= maxArena }

// copy stores a copy of p as the payload of w, and one of its stack.
func (a *arena) copy(w *row, p, stack []byte) {
	w.size, w.stack = uint32(len(p)), uint16(len(stack)/stackUnit)
	size := len(p) + len(stack)
	if size == 0 {
		w.chunk = nil
		return
	}
	c := a.current
	if c == nil || cap(c.b)-len(c.b) < size {
		c = a.newChunk(size)
	}
	w.chunk, w.off = c, uint32(len(c.b))
	c.b = append(append(c.b, p...), stack...)
	c.live++
}

func (a *arena) newChunk(size int) *chunk {
	if old := a.current; old != nil && old.live == 0 {
		a.recycle(old)
	}
	free, room := &a.free, chunkSize
	if size > chunkSize {
		free, room = &a.freeLarge, max(size, largeChunk)
	}
	var c *chunk
	if n := len(*free); n > 0 && room <= largeChunk {
		c = (*free)[n-1]
		*free = (*free)[:n-1]
	} else {
		c = &chunk{b: make([]byte, 0, room)}
	}
	a.current = c
	a.inUse += cap(c.b)
	return c
}

// release releases the payload of a row that has been delivered; c is its chunk, or nil.
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
	switch cap(c.b) {
	case chunkSize:
		a.free = append(a.free, c)
	case largeChunk:
		a.freeLarge = append(a.freeLarge, c)
	}
}
