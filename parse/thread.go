package parse

import (
	"math"
	"slices"
)

// Limits of the thread table. A V4 stream does not report when a thread ends, so the threads that
// have been quiet for longest are forgotten. A V6 stream does report it, so a stream that declares
// more threads than this at a time is rejected.
const (
	maxThreadsV4 = 1 << 16
	maxThreadsV6 = 1 << 18
)

// newThread adds a thread of V4 to the table, which is keyed by OS thread id.
func (r *Reader) newThread(id uint64) *captureThread {
	if len(r.threads) >= maxThreadsV4 {
		r.evict()
	}
	t := &captureThread{id: id, tid: id, process: r.trace.ProcessID}
	r.threads[id] = t
	return t
}

// evict forgets the half of the threads that has been quiet for longest.
func (r *Reader) evict() {
	times := make([]int64, 0, len(r.threads))
	for _, t := range r.threads {
		times = append(times, t.lastTicks)
	}
	slices.Sort(times)
	middle := times[len(times)/2]
	for id, t := range r.threads {
		if t.lastTicks <= middle && !t.waiting() && t != r.block.writer {
			delete(r.threads, id)
		}
	}
	r.evicted = true
}

// lose queues the report that n events of t were lost before ticks.
func (r *Reader) lose(t *captureThread, n uint32, ticks int64) {
	since := t.lastTicks
	if since > ticks || since == math.MinInt64 { // MinInt64: no event has been delivered yet
		since = ticks
	}
	if r.sort.full() {
		r.sort.spillLoss(n, since, ticks)
		return
	}
	w := r.sort.add(t, ticks)
	*w = row{ticks: w.ticks, arrival: w.arrival, loss: &loss{n, since}, about: t}
}

// settle compares the last sequence number read of a thread with the lower bound that the stream
// states. Events missing up to that bound were lost after the last event read.
func (r *Reader) settle(t *captureThread, seq uint32, ticks int64) {
	if n := seq - t.lastSeq; int32(n) > 0 {
		r.lose(t, n, ticks)
		t.lastSeq = seq
	}
	t.seen = true
}

const threadsCut = "the list of threads ends after the end of the block"

// sequencePointV4 handles the content of an SPBlock: a time, then for each thread the number of its
// last event at that time.
func (r *Reader) sequencePointV4(b []byte) string {
	c := cursor{b: b}
	ticks := int64(c.u64())
	n := c.u32()
	if c.bad {
		return threadsCut
	}
	r.extend(ticks, r.rundown)
	for range n {
		id, seq := c.u64(), c.u32()
		if c.bad {
			return threadsCut
		}
		t := r.threads[id]
		if t == nil {
			t = r.newThread(id)
			t.lastTicks = ticks
			if r.evicted {
				t.lastSeq = seq // the thread may have been read and forgotten
			}
		}
		r.settle(t, seq, ticks)
	}
	r.release(math.MaxInt64)
	return ""
}

const (
	flushThreads  = 1
	flushMetadata = 2
)

// sequencePointV6 does the same for V6. It also invalidates the ids of labels and, depending on
// flags, those of threads and metadata.
func (r *Reader) sequencePointV6(b []byte) string {
	c := cursor{b: b}
	ticks := int64(c.u64())
	flags := c.u32()
	n := c.u32()
	if c.bad {
		return threadsCut
	}
	r.extend(ticks, r.rundown)
	for range n {
		index, seq := c.uvarint(), c.uvarint32()
		if c.bad {
			return threadsCut
		}
		if t := r.threads[index]; t != nil {
			r.settle(t, seq, ticks)
		}
	}
	clear(r.labels)
	if flags&flushThreads != 0 {
		clear(r.threads)
	}
	if flags&flushMetadata != 0 {
		r.meta.flush()
	}
	r.release(math.MaxInt64)
	return ""
}

// Kinds of the items of a row of a V6 Thread block.
const (
	threadName     = 1
	threadProcess  = 2
	threadID       = 3
	threadKeyValue = 4

	unknownThread = 1 << 63 // set in a thread index that takes the place of an unknown id
)

// parseThreads reads the rows of a Thread block of V6. An item of an unknown kind has no size, so
// reading of its row ends there.
func (r *Reader) parseThreads(b []byte) string {
	c := cursor{b: b}
	for !c.done() {
		w := cursor{b: c.take(uint64(c.u16()))}
		t := &captureThread{process: r.trace.ProcessID, seen: true}
		t.id = w.uvarint()
		if c.bad || w.bad {
			return "a thread row ends after the end of the block"
		}
		t.tid = t.id | unknownThread
		t.lastTicks = r.newest
	items:
		for !w.done() {
			switch w.u8() {
			case threadName:
				w.utf8()
			case threadProcess:
				if v := w.uvarint(); !w.bad {
					t.process = int64(v)
				}
			case threadID:
				if v := w.uvarint(); !w.bad {
					t.tid = v
				}
			case threadKeyValue:
				w.utf8()
				w.utf8()
			default:
				break items
			}
		}
		if len(r.threads) >= maxThreadsV6 {
			return "more than 262144 threads at a time"
		}
		r.threads[t.id] = t
	}
	return ""
}

// removeThreads reads a RemoveThread block of V6: the indices of threads that have ended, each with
// the number of the thread's last event.
func (r *Reader) removeThreads(b []byte) string {
	c := cursor{b: b}
	for c.rest() > 0 {
		index, seq := c.uvarint(), c.uvarint32()
		if c.bad {
			return threadsCut
		}
		if t := r.threads[index]; t != nil {
			// The latest known time; before the first event that is the start of the stream.
			r.settle(t, seq, max(t.lastTicks, r.newest, r.trace.SyncTicks))
			delete(r.threads, index)
		}
	}
	if r.sort.full() {
		r.release(math.MaxInt64)
	}
	return ""
}
