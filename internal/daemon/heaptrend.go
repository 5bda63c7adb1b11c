package daemon

import (
	"slices"

	"github.com/gclog/gclog/internal/config"
)

// A heapTrend decides whether the heap of a process has grown. It receives how many bytes each full
// collection has left, and reads no clock.
//
// The heap has grown when each of the last heap.auto.collections full collections has left more
// than the mark, by heap.auto.growth and by leastGrowth at least. The mark is the most that as many
// collections have left when the process was first seen. So neither a peak counts, nor a heap that
// goes up and down; growth does, however slow it is.
//
// A snapshot raises the mark to what there was then. Before the first one the mark also goes down,
// when that many collections in a row have left less by the same share: a program may need more
// when it starts. After it the mark stays: a size that the heap already had is in a snapshot.
type heapTrend struct {
	mark  uint64 // 0: unknown yet
	taken bool   // there was a snapshot
	last  []uint64
}

// leastGrowth is by how many bytes a heap must grow: small ones are no problem.
const leastGrowth = 10 << 20

// add adds a full collection that has left this many bytes. It reports whether the heap has grown.
func (t *heapTrend) add(bytes uint64, o *config.HeapAuto) (grown bool) {
	t.last = append(t.last, bytes)
	t.last = t.last[max(0, len(t.last)-o.Collections):]
	if len(t.last) < o.Collections {
		return false
	}
	least, most := slices.Min(t.last), slices.Max(t.last)
	above := 1 + float64(o.Growth)/100
	if t.mark == 0 || !t.taken && float64(most)*above < float64(t.mark) {
		t.mark = most
	}
	return float64(least) > float64(t.mark)*above && least >= t.mark+leastGrowth
}

// reset makes what there is now the mark: a snapshot was taken. A rule may ask for one before there
// is anything.
func (t *heapTrend) reset() {
	t.taken = true
	for _, bytes := range t.last {
		t.mark = max(t.mark, bytes)
	}
}
