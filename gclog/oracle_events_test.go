package gclog_test

import (
	"bytes"
	"slices"
	"testing"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/parse"
	"github.com/gclog/gclog/parse/clr"
)

// processEvents is what the events of a process contain, read without the Reducer. Lists of times
// are in order.
type processEvents struct {
	marks     []mark
	revisits  []revisit
	histories []heapHistories
	sizes     []int64 // GCHeapStats
	suspends  []int64 // starts of suspensions
	restarts  []int64 // ends of suspensions
}

type mark struct {
	at int64
	clr.GCMarkWithType
}

type revisit struct {
	at     int64
	thread uint64
	clr.BGCRevisit
}

// heapHistories are the heap histories of one collection.
type heapHistories struct {
	at     int64
	thread uint64
	global clr.GCGlobalHeapHistory
	heaps  []clr.GCPerHeapHistory // in the order of heap numbers
}

func (h *heapHistories) concurrent() bool { return h.global.Mechanisms&clr.MechanismConcurrent != 0 }

func readEvents(t *testing.T, stream []byte) map[int64]*processEvents {
	wanted := []int{
		clr.IDGCMarkWithType, clr.IDGCGlobalHeapHistory, clr.IDGCPerHeapHistory, clr.IDGCHeapStats, clr.IDGCSuspendEEBegin, clr.IDGCRestartEEEnd,
	}
	processes := map[int64]*processEvents{}
	decodeAll(t, stream, func(m *parse.Metadata) bool {
		runtime := m.Provider == clr.RuntimeProvider && slices.Contains(wanted, m.EventID)
		return runtime || m.Provider == clr.PrivateProvider && m.EventID == clr.IDPrvBGCRevisit
	}, func(e *parse.Event, typed clr.Event) {
		p := processes[e.Process]
		if p == nil {
			p = &processEvents{}
			processes[e.Process] = p
		}
		p.add(e, typed)
	})
	return processes
}

// decodeAll decodes the wanted events of a stream.
func decodeAll(t *testing.T, stream []byte, wanted func(*parse.Metadata) bool, add func(*parse.Event, clr.Event)) {
	r := parse.NewReader(bytes.NewReader(stream), func(m *parse.Metadata) parse.Want { return parse.Want{Deliver: wanted(m)} })
	var d *clr.Decoder
	for r.Scan() {
		if d == nil {
			d = clr.NewDecoder(r.Trace().PointerSize)
		}
		e := r.Event()
		if e == nil {
			continue
		}
		typed, err := d.Decode(e)
		if err != nil {
			t.Fatal(err)
		}
		add(e, typed)
	}
}

func (p *processEvents) add(e *parse.Event, typed clr.Event) {
	switch typed := typed.(type) {
	case *clr.GCMarkWithType:
		p.marks = append(p.marks, mark{e.Time, *typed})
	case *clr.BGCRevisit:
		p.revisits = append(p.revisits, revisit{e.Time, e.Thread, *typed})
	case *clr.GCHeapStats:
		p.sizes = append(p.sizes, e.Time)
	case *clr.GCSuspendEEBegin:
		p.suspends = append(p.suspends, e.Time)
	case *clr.GCRestartEEEnd:
		p.restarts = append(p.restarts, e.Time)
	case *clr.GCGlobalHeapHistory:
		p.histories = append(p.histories, heapHistories{at: e.Time, thread: e.Thread, global: *typed})
	case *clr.GCPerHeapHistory:
		for i := len(p.histories) - 1; i >= 0; i-- {
			if h := &p.histories[i]; h.thread == e.Thread {
				at, _ := slices.BinarySearchFunc(h.heaps, typed.Heap, func(x clr.GCPerHeapHistory, n uint32) int { return int(x.Heap) - int(n) })
				h.heaps = slices.Insert(h.heaps, at, *typed)
				break
			}
		}
	}
}

// historiesOf returns those of a collection: for a background one the concurrent ones before the
// next background one starts, otherwise those of its generation before it ends.
func (r *evidence) historiesOf(d *gclog.GCDetails) *heapHistories {
	background := d.Kind == gclog.KindBackground
	for i := range r.events.histories {
		h := &r.events.histories[i]
		if h.at < d.Start || h.concurrent() != background {
			continue
		}
		if background || h.global.CondemnedGeneration == uint32(d.Generation) {
			return h
		}
	}
	return &heapHistories{}
}

// sizesOf returns when the sizes of a collection, and those of the previous one, were reported; 0
// if they were not.
func (r *evidence) sizesOf(d *gclog.GCDetails) (own, before int64) {
	i, _ := slices.BinarySearch(r.events.sizes, d.End)
	if i > 0 {
		before = r.events.sizes[i-1]
	}
	if i < len(r.events.sizes) {
		own = r.events.sizes[i]
	}
	return own, before
}
