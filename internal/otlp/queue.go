package otlp

import (
	"bytes"
	"sync"

	"github.com/gclog/gclog/internal/shares"
)

// A queue holds records that wait to be sent, as lines of a JSON log. The goroutines that put them
// never wait: what does not fit, or is more than the share of a process, is dropped and counted.
type queue struct {
	more chan struct{} // receives a value when there is something to take

	mu      sync.Mutex
	room    *shares.Room // bytes that wait or are being sent
	list    []item
	free    [][]byte
	dropped uint64
}

// An item is a record.
type item struct {
	of    *source
	share *shares.Share
	line  []byte
}

const (
	// itemBytes is what an item takes in addition to its line.
	itemBytes = 64
	// freeMost is how many buffers are kept, freeBytes how large they may be: a hostile process can
	// have records of any length.
	freeMost  = 256
	freeBytes = 16 << 10
)

func newQueue(most int) *queue {
	return &queue{more: make(chan struct{}, 1), room: shares.NewRoom(most)}
}

// share returns the share of one more process of a user.
func (q *queue) share(user string) *shares.Share {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.room.Of(user)
}

// put adds the lines of a record, or several, and returns how many were dropped.
func (q *queue) put(of *source, share *shares.Share, lines []byte) (dropped uint64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(lines) > 0 {
		line := lines
		if end := bytes.IndexByte(lines, '\n'); end >= 0 {
			line, lines = lines[:end], lines[end+1:]
		} else {
			lines = nil
		}
		if !share.Take(len(line) + itemBytes) {
			dropped++
			continue
		}
		var b []byte
		if n := len(q.free); n > 0 {
			b, q.free = q.free[n-1][:0], q.free[:n-1]
		}
		q.list = append(q.list, item{of, share, append(b, line...)})
	}
	q.dropped += dropped
	select {
	case q.more <- struct{}{}:
	default:
	}
	return dropped
}

// take returns the oldest items, at most a number of them and of bytes. done must be called with
// them when they were sent, or dropped.
func (q *queue) take(items, size int) []item {
	q.mu.Lock()
	defer q.mu.Unlock()
	n := 0
	for n < len(q.list) && n < items && (n == 0 || size >= len(q.list[n].line)) {
		size -= len(q.list[n].line)
		n++
	}
	list := append([]item(nil), q.list[:n]...)
	rest := copy(q.list, q.list[n:])
	clear(q.list[rest:])
	if q.list = q.list[:rest]; rest == 0 && cap(q.list) > 4*freeMost {
		q.list = nil
	}
	return list
}

// done frees items that were taken.
func (q *queue) done(list []item) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, it := range list {
		it.share.Give(len(it.line) + itemBytes)
		if len(q.free) < freeMost && cap(it.line) <= freeBytes {
			q.free = append(q.free, it.line)
		}
	}
}

// drop frees items that cannot be sent.
func (q *queue) drop(list []item) {
	q.done(list)
	q.mu.Lock()
	defer q.mu.Unlock()
	q.dropped += uint64(len(list))
}

// waiting returns how many items and bytes wait or are being sent, and how many items were dropped.
func (q *queue) waiting() (items, size int, dropped uint64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.list), q.room.Used(), q.dropped
}
