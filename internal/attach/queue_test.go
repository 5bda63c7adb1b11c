package attach

import (
	"testing"

	"github.com/gclog/gclog/gclog"
)

// TestQueueFull: what does not fit is counted, and told when there is room again;
// what was put stays as it was.
func TestQueueFull(t *testing.T) {
	for name, heaps := range map[string]int{"few heaps": 1, "many heaps": 500} {
		t.Run(name, func(t *testing.T) {
			q := newQueue()
			d := gclog.GCDetails{Heaps: make([]gclog.HeapDetails, heaps)}
			put := func(n uint32) {
				d.Number = n
				q.GC(&d)
			}
			room := uint32(0)
			for q.dropped.Records == 0 {
				room++
				put(room)
			}
			room--
			if bytes := int(room) * (itemBytes + heaps*heapBytes); room > queueSize || bytes > queueBytes {
				t.Errorf("room for %d records, %d bytes", room, bytes)
			}
			put(room + 2)
			take := func() *item {
				it, _ := q.take()
				q.give(it)
				return it
			}
			few := 1 + gclog.MissingGaps + room/8
			for n := uint32(1); n <= few; n++ {
				if it := take(); it.kind != itemGC || it.details.Number != n {
					t.Fatalf("record %d is %+v", n, it.details.Number)
				}
			}
			put(room + 3) // behind the gap
			for n := few + 1; n <= room; n++ {
				if it := take(); it.kind != itemGC || it.details.Number != n {
					t.Fatalf("record %d is %+v", n, it.details.Number)
				}
			}
			if it := take(); it.kind != itemGap || it.gap.Reason != gclog.GapQueueFull || it.gap.Records != 2 || it.gap.From != room+1 || it.gap.To != room+2 {
				t.Errorf("the gap is %+v", it.gap)
			}
			if it := take(); it.kind != itemGC || it.details.Number != room+3 {
				t.Errorf("the record behind the gap is %+v", it.details.Number)
			}
		})
	}
}

// TestQueueOverloaded: an output that is too slow all the time gets records, and not
// gaps alone.
func TestQueueOverloaded(t *testing.T) {
	q := newQueue()
	d := gclog.GCDetails{}
	for q.dropped.Records == 0 {
		q.GC(&d)
	}
	kinds := map[itemKind]int{}
	for range 100_000 { // two come for each that goes
		q.GC(&d)
		q.GC(&d)
		it, _ := q.take()
		kinds[it.kind]++
		q.give(it)
	}
	if kinds[itemGap] == 0 || kinds[itemGC] < 100*kinds[itemGap] {
		t.Errorf("%d records and %d gaps", kinds[itemGC], kinds[itemGap])
	}
}

// TestQueueNoAllocation: a record that was taken makes room for the next.
func TestQueueNoAllocation(t *testing.T) {
	q := newQueue()
	d := gclog.GCDetails{Heaps: make([]gclog.HeapDetails, 4)}
	turn := func() {
		q.GC(&d)
		it, _ := q.take()
		q.give(it)
	}
	turn()
	if n := testing.AllocsPerRun(100, turn); n != 0 {
		t.Errorf("%v allocations for each record", n)
	}
}
