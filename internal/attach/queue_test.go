package attach

import (
	"fmt"
	"slices"
	"testing"

	"github.com/gclog/gclog/gclog"
)

// TestQueueFull: what does not fit is counted, and reported when there is room again; records already
// in the queue do not change.
func TestQueueFull(t *testing.T) {
	for name, heaps := range map[string]int{"few heaps": 1, "many heaps": 500} {
		t.Run(name, func(t *testing.T) {
			q := newQueue()
			d := gclog.GCDetails{Heaps: make([]gclog.HeapDetails, heaps)}
			put := func(n uint32) {
				d.Number = n
				q.put(&d)
			}
			room := uint32(0)
			for q.dropped.Records == 0 {
				room++
				put(room)
			}
			room--
			if bytes := int(room) * (slotBytes + heaps*heapBytes); room > queueSize || bytes > queueBytes {
				t.Errorf("room for %d records, %d bytes", room, bytes)
			}
			put(room + 2)
			take := func() *gclog.Slot {
				it, _ := q.take()
				q.give(it)
				return it
			}
			few := 1 + gclog.MissingGaps + room/8
			for n := uint32(1); n <= few; n++ {
				if it := take(); it.Record != &it.GC || it.GC.Number != n {
					t.Fatalf("record %d is %+v", n, it.GC.Number)
				}
			}
			put(room + 3) // after the gap
			for n := few + 1; n <= room; n++ {
				if it := take(); it.Record != &it.GC || it.GC.Number != n {
					t.Fatalf("record %d is %+v", n, it.GC.Number)
				}
			}
			if it := take(); it.Record != &it.Gap || it.Gap.Reason != gclog.GapQueueFull || it.Gap.Records != 2 || it.Gap.From != room+1 || it.Gap.To != room+2 {
				t.Errorf("the gap is %+v", it.Gap)
			}
			if it := take(); it.Record != &it.GC || it.GC.Number != room+3 {
				t.Errorf("the record behind the gap is %+v", it.GC.Number)
			}
		})
	}
}

// TestQueueOverloaded: an output that is always too slow gets records, and not only gaps.
func TestQueueOverloaded(t *testing.T) {
	q := newQueue()
	d := gclog.GCDetails{}
	for q.dropped.Records == 0 {
		q.put(&d)
	}
	gaps, gcs := 0, 0
	for range 100_000 { // two are put for each that is taken
		q.put(&d)
		q.put(&d)
		it, _ := q.take()
		if it.Record == &it.Gap {
			gaps++
		} else {
			gcs++
		}
		q.give(it)
	}
	if gaps == 0 || gcs < 100*gaps {
		t.Errorf("%d records and %d gaps", gcs, gaps)
	}
}

// TestQueueNoAllocation: a slot that was taken is reused for the next record.
func TestQueueNoAllocation(t *testing.T) {
	q := newQueue()
	d := gclog.GCDetails{Heaps: make([]gclog.HeapDetails, 4)}
	turn := func() {
		q.put(&d)
		it, _ := q.take()
		q.give(it)
	}
	turn()
	if n := testing.AllocsPerRun(100, turn); n != 0 {
		t.Errorf("%v allocations for each record", n)
	}
}

// every puts records of each kind into a queue.
func every(q *queue) {
	d := &gclog.GCDetails{Number: 5, Known: gclog.GroupNumber, Start: 50, StartTicks: 500}
	q.put(&gclog.Pause{PausePart: gclog.PausePart{Start: 50, Duration: 3}, GC: d, Ticks: 501, UsedNumber: 4})
	q.put(&gclog.Pause{PausePart: gclog.PausePart{Start: 51, Duration: 4}, Ticks: 510, UsedNumber: 6})
	q.put(&gclog.Phase{GC: d, Start: 52})
	q.put(&gclog.Suspension{Ticks: 530, Start: 53, Duration: 7})
	q.put(d)
	q.put(&gclog.Gap{Reason: gclog.GapMissedGCs, Ticks: 540, From: 8, To: 9, Records: 2, LostEvents: 3})
	q.put(&gclog.Stall{Open: gclog.Open{Ticks: 550}})
	d.Number, d.StartTicks = 99, 99 // the queue has copies
}

// A watcher is an Observer that notes the records it receives.
type watcher struct{ seen []string }

// Observe takes a record.
func (w *watcher) Observe(r gclog.Record) {
	switch r := r.(type) {
	case *gclog.Pause:
		if r.GC == nil {
			w.seen = append(w.seen, "pause")
		} else {
			w.seen = append(w.seen, fmt.Sprint("pause of ", r.GC.Number))
		}
	case *gclog.Phase:
		w.seen = append(w.seen, fmt.Sprint("phase of ", r.GC.Number))
	case *gclog.GCDetails:
		w.seen = append(w.seen, fmt.Sprint("gc ", r.Number))
	case *gclog.Gap:
		w.seen = append(w.seen, fmt.Sprint("gap ", r.From, "-", r.To))
	}
}

// TestQueueKinds: records of every kind leave the queue complete, in order, each with the time at
// which it starts.
func TestQueueKinds(t *testing.T) {
	q := newQueue()
	every(q)
	q.close()
	select {
	case <-q.more:
	default:
		t.Error("there is something to take, and nobody is woken up")
	}
	var w watcher
	var tally gclog.Tally
	var ticks []int64
	var slots []*gclog.Slot
	for {
		it, over := q.take()
		if over {
			break
		}
		if it == nil {
			t.Fatal("the queue is closed and not over")
		}
		w.Observe(it.Record)
		tally.Observe(it.Record)
		ticks, slots = append(ticks, startTicks(it.Record)), append(slots, it)
	}
	if want := []string{"pause of 5", "pause", "phase of 5", "gc 5", "gap 8-9"}; !slices.Equal(w.seen, want) {
		t.Errorf("seen %q, want %q", w.seen, want)
	}
	if want := []int64{500, 510, 500, 530, 500, 540, 550}; !slices.Equal(ticks, want) {
		t.Errorf("they began at %v, want %v", ticks, want)
	}
	if tally.Pauses != 2 || tally.PauseTotal != 7 || tally.GCs() != 1 || tally.LostEvents != 3 || tally.Missing != 2 {
		t.Errorf("they add up to %+v", tally)
	}
	var missing gclog.Missing
	for _, it := range slots {
		missing.Add(it.Record)
	}
	checkMissing(t, &missing)
}

// checkMissing checks that m counts everything that every has put.
func checkMissing(t *testing.T, m *gclog.Missing) {
	t.Helper()
	var gaps []string
	m.Gaps(gclog.Gap{}, func(g *gclog.Gap) { gaps = append(gaps, fmt.Sprintf("%d-%d", g.From, g.To)) })
	if m.Records != 7+2 || m.LostEvents != 3 || !slices.Equal(gaps, []string{"4-6", "8-9"}) {
		t.Errorf("%d records and %d events are missing, of %v", m.Records, m.LostEvents, gaps)
	}
}

// TestQueueFullOfKinds: records of every kind are counted when they do not fit. If nothing
// follows, the gap comes last, at the time of the latest record.
func TestQueueFullOfKinds(t *testing.T) {
	q := newQueue()
	for q.made < queueSize {
		q.put(&gclog.GCDetails{})
	}
	every(q)
	q.close()
	var last []*gclog.Slot
	for {
		it, over := q.take()
		if over {
			break
		}
		if it.Record == &it.Gap {
			last = append(last, it)
		}
	}
	var missing gclog.Missing
	for _, it := range last {
		missing.AddGap(&it.Gap)
		if it.Gap.Reason != gclog.GapQueueFull || it.Gap.Time != 50 || it.Gap.Ticks != 500 {
			t.Errorf("the gap is %+v", it.Gap)
		}
	}
	checkMissing(t, &missing)
}

// TestQueueOfHeaps: the more heaps the records have, the fewer fit.
func TestQueueOfHeaps(t *testing.T) {
	room := func(heaps int, put func(*queue, *gclog.GCDetails)) int {
		q := newQueue()
		for q.dropped.Records == 0 {
			put(q, &gclog.GCDetails{Heaps: make([]gclog.HeapDetails, heaps)})
		}
		return q.made
	}
	for name, put := range map[string]func(*queue, *gclog.GCDetails){
		"records": func(q *queue, d *gclog.GCDetails) { q.put(d) },
		"pauses":  func(q *queue, d *gclog.GCDetails) { q.put(&gclog.Pause{GC: d}) },
		"phases":  func(q *queue, d *gclog.GCDetails) { q.put(&gclog.Phase{GC: d}) },
	} {
		for heaps, want := range map[int]int{0: 4096, 1: 4096, 64: 350, 1000: 23} {
			if got := room(heaps, put); got != want {
				t.Errorf("%s of %d heaps: room for %d, want %d", name, heaps, got, want)
			}
		}
	}
	for name, put := range map[string]func(*queue, *gclog.GCDetails){
		"pauses without a collection": func(q *queue, _ *gclog.GCDetails) { q.put(&gclog.Pause{}) },
		"suspensions":                 func(q *queue, _ *gclog.GCDetails) { q.put(&gclog.Suspension{}) },
		"gaps":                        func(q *queue, _ *gclog.GCDetails) { q.put(&gclog.Gap{}) },
		"stalls":                      func(q *queue, _ *gclog.GCDetails) { q.put(&gclog.Stall{}) },
	} {
		if got := room(0, put); got != 4096 {
			t.Errorf("%s: room for %d, want 4096", name, got)
		}
	}
}

// TestQueueMemory: a queue that is never empty does not grow forever, and reuses its slots.
func TestQueueMemory(t *testing.T) {
	q := newQueue()
	q.put(&gclog.GCDetails{})
	for range 100_000 {
		q.put(&gclog.GCDetails{})
		it, _ := q.take()
		q.give(it)
	}
	if cap(q.slots) > 100 || q.made > 2 {
		t.Errorf("it has room for %d records, and made %d", cap(q.slots), q.made)
	}
}
