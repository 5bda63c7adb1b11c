package flight

import (
	"slices"
	"sync"
	"time"
)

// A Memory is the memory that all flight recorders share. If it is exhausted, of the processes of the
// user who holds the most of it the one with the most loses its oldest blocks: neither one that floods
// gclog with events nor many of one user can push out what others have sent.
type Memory struct {
	mu        sync.Mutex // guards everything below, and all recorders, rings and recordings
	limit     int64      // bytes
	used      int64      // bytes of all chunks, free ones too, and of metadata
	free      *chunk
	recorders []*Recorder
	users     map[string]*holder
	swept     time.Time // when blocks of idle processes were last removed
}

// NewMemory returns a memory of a size in bytes.
func NewMemory(size int64) *Memory { return &Memory{limit: size, users: map[string]*holder{}} }

// A holder is a user with recorders.
type holder struct {
	held      int64 // bytes
	recorders int   // number of open recorders
}

// Resize changes the size. Less memory is not given back before it is needed.
func (m *Memory) Resize(size int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.limit = size
}

// A chunk is the unit of memory. Streams are kept in lists of chunks.
type chunk struct {
	next *chunk
	refs int // from a ring and recordings; 0: free
	b    [chunkData]byte
}

const (
	chunkSize = 8 << 10 // small, because most processes need little
	chunkData = chunkSize - 16
)

// take returns a chunk for a recorder, or nil if there is none.
func (m *Memory) take(o *Recorder) *chunk {
	if m.free == nil && !m.reserve(o, chunkSize) {
		return nil
	}
	c := m.free
	if c != nil {
		m.free = c.next
	} else {
		c = &chunk{}
		m.used += chunkSize
	}
	c.next, c.refs = nil, 1
	o.hold(chunkSize)
	return c
}

// give returns a reference to a chunk.
func (m *Memory) give(o *Recorder, c *chunk) {
	if c.refs--; c.refs == 0 {
		c.next, m.free = m.free, c
		o.hold(-chunkSize)
	}
}

// reserve makes room for new memory of a recorder, or, if the size is that of a chunk, perhaps a free
// chunk instead. It reports whether that was possible.
func (m *Memory) reserve(o *Recorder, size int64) bool {
	for m.used+size > m.limit {
		switch {
		case m.free != nil && size == chunkSize:
			return true
		case m.free != nil:
			m.free = m.free.next
			m.used -= chunkSize
		case !m.evict(o):
			return false
		}
	}
	return true
}

// evict frees at least one chunk: one of the recorder that holds too much, which may be o itself. It
// reports whether it could. A recorder that holds less than o loses nothing, unless its user holds more
// than that of o.
func (m *Memory) evict(o *Recorder) bool {
	if m.sweep() {
		return true
	}
	for {
		most := o
		for _, x := range m.recorders {
			if x.holdsMore(most) && x.canLose() {
				most = x
			}
		}
		if !most.canLose() {
			return false
		}
		if most.lose() {
			return true
		}
	}
}

// sweepEvery is how often, at most, the processes are checked that send nothing.
const sweepEvery = time.Second

// sweep removes the blocks of idle processes that are too old. It reports whether that freed a chunk.
func (m *Memory) sweep() bool {
	now := time.Now()
	if now.Sub(m.swept) < sweepEvery {
		return false
	}
	m.swept = now
	for _, o := range m.recorders {
		o.expire(now)
	}
	return m.free != nil
}

// add adds a recorder of a user.
func (m *Memory) add(o *Recorder, user string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.recorders = append(m.recorders, o)
	if m.users[user] == nil {
		m.users[user] = &holder{}
	}
	o.userID, o.user = user, m.users[user]
	o.user.recorders++
}

// remove removes a recorder. What its recordings hold until they are written still counts for its user.
func (m *Memory) remove(o *Recorder) {
	m.recorders = slices.DeleteFunc(m.recorders, func(x *Recorder) bool { return x == o })
	o.user.recorders--
	o.hold(0)
}

// A place is a position in a list of chunks.
type place struct {
	c   *chunk
	off int
}

// read copies what follows to p and advances. It never looks at the link of the chunk in which p
// ends.
func (a *place) read(p []byte) {
	for len(p) > 0 {
		if a.off == chunkData {
			a.c, a.off = a.c.next, 0
		}
		n := copy(p, a.c.b[a.off:])
		p, a.off = p[n:], a.off+n
	}
}

// skip advances by n bytes. It calls leave with each chunk that it leaves; nil: nobody is called.
func (a *place) skip(n int, leave func(*chunk)) {
	for n > chunkData-a.off {
		n -= chunkData - a.off
		c := a.c
		a.c, a.off = c.next, 0
		if leave != nil {
			leave(c)
		}
	}
	a.off += n
}
