package heap

import (
	"bytes"
	"cmp"
	"math"
	"slices"

	"github.com/gclog/gclog/parse/clr"
)

// notes are what any thread may have written about a collection: its start, where the generations
// were, and what has moved. Only the time says which collection a note is about, not its place in the
// stream: with server GC, one thread is written out after the other.
type notes struct {
	starts    []startNote
	ranges    []rangeNote
	histories []historyNote
	moves     []moveNote
	losses    []lossNote

	bounded bool // the memory is limited, because objects are counted
	full    bool // something was left out
	moved   int  // bytes of moves
	left    int  // notes that were left when others were forgotten

	series   []clr.MovedRange // reused
	contents []byte
}

type startNote struct {
	at int64
	clr.GCStart
}

// A historyNote says when the heaps were analyzed: later ranges are those after the collection.
type historyNote struct {
	at        int64
	compacted bool // the collection moves objects
}

type rangeNote struct {
	at int64
	generationRange
}

// A moveNote is an event about objects that have moved, in a fifth of its size.
type moveNote struct {
	at     int64
	series []byte
}

type lossNote struct {
	at     int64 // when it was noticed
	events uint64
}

// The limits of notes that are bounded. What is more is left out, and then no generation is known.
const (
	mostNotes  = 1 << 16
	mostMoves  = 4 << 20 // bytes, some 600,000 series
	mostRanges = 1 << 17 // that are made of these, 3 MB
)

// mostStarts is how many starts are kept at least, always the latest ones: each end looks through them.
const mostStarts = 512

// room reports whether there is room for one more note.
func (n *notes) room(used, most int) bool {
	if n.bounded && used >= most {
		n.full = true
		return false
	}
	return true
}

// add adds what an event says.
func (n *notes) add(at int64, e clr.Event) {
	switch e := e.(type) {
	case *clr.GCStart:
		if len(n.starts) == 2*mostStarts {
			n.starts = slices.Delete(n.starts, 0, mostStarts)
		}
		n.starts = append(n.starts, startNote{at, *e})
	case *clr.GCGenerationRange:
		r := generationRange{start: e.Start, end: e.Start + e.Used, generation: Generation(e.Generation)}
		if e.Used > 0 && r.end >= r.start && r.generation <= POH && n.room(len(n.ranges), mostNotes) {
			n.ranges = append(n.ranges, rangeNote{at, r})
		}
	case *clr.GCGlobalHeapHistory:
		n.history(historyNote{at, e.Mechanisms&clr.MechanismCompaction != 0})
	case *clr.GCPerHeapHistory:
		n.history(historyNote{at: at})
	case *clr.GCBulkMovedRanges:
		n.series = n.series[:0]
		for i := range e.Count {
			n.series = append(n.series, e.At(i))
		}
		n.move(at, n.series...)
	}
}

func (n *notes) history(h historyNote) {
	if n.room(len(n.histories), mostNotes) {
		n.histories = append(n.histories, h)
	}
}

func (n *notes) move(at int64, list ...clr.MovedRange) {
	if !n.room(n.moved, mostMoves) || !n.room(len(n.moves), mostNotes) {
		return
	}
	var from, to uint64 // where the last series ended
	b := n.contents[:0]
	for _, m := range list {
		b = appendVarints(b, m.Old-from, m.New-to, m.Length)
		from, to = m.Old+m.Length, m.New+m.Length
	}
	n.moves = append(n.moves, moveNote{at, bytes.Clone(b)})
	n.moved += len(b)
	n.contents = b
}

// each calls f with each series.
func (m *moveNote) each(f func(clr.MovedRange)) {
	var from, to uint64
	for b := m.series; len(b) > 0; {
		s := clr.MovedRange{Old: from + takeVarint(&b), New: to + takeVarint(&b), Length: takeVarint(&b)}
		f(s)
		from, to = s.Old+s.Length, s.New+s.Length
	}
}

// addLoss notes a loss. Of too many, the last ones are taken together.
func (n *notes) addLoss(at int64, events uint64) {
	if last := len(n.losses) - 1; last >= mostNotes-1 {
		n.losses[last] = lossNote{at, n.losses[last].events + events}
		return
	}
	n.losses = append(n.losses, lossNote{at, events})
}

// lost returns the events whose loss was noticed in a time.
func (n *notes) lost(from, to int64) (events uint64) {
	for _, l := range n.losses {
		if l.at >= from && l.at <= to {
			events += l.events
		}
	}
	return events
}

// startOf returns the start of the collection with a number, or nil. Those of background collections
// do not count.
func (n *notes) startOf(number uint32) *startNote {
	return n.latest(func(s *startNote) bool { return s.Count == number })
}

// startBefore returns the latest start up to a time, or nil.
func (n *notes) startBefore(at int64) *startNote {
	return n.latest(func(s *startNote) bool { return s.at <= at })
}

func (n *notes) latest(is func(*startNote) bool) (latest *startNote) {
	for i := range n.starts {
		if s := &n.starts[i]; s.Type != clr.TypeBackground && is(s) && (latest == nil || s.at >= latest.at) {
			latest = s
		}
	}
	return latest
}

// takeBackground reports whether a number is that of a background collection, which ends.
func (n *notes) takeBackground(number uint32) bool {
	is := func(s startNote) bool { return s.Count == number && s.Type == clr.TypeBackground }
	if !slices.ContainsFunc(n.starts, is) {
		return false
	}
	n.starts = slices.DeleteFunc(n.starts, is)
	return true
}

func (n *notes) len() int {
	return len(n.starts) + len(n.ranges) + len(n.histories) + len(n.moves) + len(n.losses)
}

// forget removes the notes up to a time, except for those between two others, and the starts of
// background collections that go on. It does nothing before there are many more than were left the last
// time.
func (n *notes) forget(upTo, exceptFrom, exceptTo int64) {
	if n.len() < n.left*2+1000 {
		return
	}
	old := func(at int64) bool { return at <= upTo && (at < exceptFrom || at > exceptTo) }
	n.starts = slices.DeleteFunc(n.starts, func(s startNote) bool { return old(s.at) && s.Type != clr.TypeBackground })
	n.ranges = slices.DeleteFunc(n.ranges, func(r rangeNote) bool { return old(r.at) })
	n.histories = slices.DeleteFunc(n.histories, func(h historyNote) bool { return old(h.at) })
	n.moves = slices.DeleteFunc(n.moves, func(m moveNote) bool { return old(m.at) })
	n.losses = slices.DeleteFunc(n.losses, func(l lossNote) bool { return old(l.at) })
	n.left, n.moved = n.len(), 0
	for _, m := range n.moves {
		n.moved += len(m.series)
	}
}

// analyzed returns when a collection that began at a time was analyzed. Its objects follow.
func (n *notes) analyzed(start, objects int64) int64 {
	for _, h := range n.histories {
		if h.at >= start {
			objects = min(objects, h.at)
		}
	}
	return objects
}

// compacted reports whether a collection has moved objects.
func (n *notes) compacted(start, objects int64) bool {
	return slices.ContainsFunc(n.histories,
		func(h historyNote) bool { return h.compacted && h.at >= start && h.at <= objects })
}

// layout returns where the generations were before a collection, by the times of its start and its
// first object, or nil if that is unknown.
func (n *notes) layout(start, objects int64) *layout {
	analyzed := n.analyzed(start, objects)
	l := &layout{}
	for _, r := range n.ranges {
		if r.at >= start && r.at < analyzed {
			l.ranges = append(l.ranges, r.generationRange)
		}
	}
	if len(l.ranges) == 0 || n.full {
		return nil
	}
	sortRanges(l.ranges)
	moves := slices.DeleteFunc(slices.Clone(n.moves), func(m moveNote) bool { return m.at < start || m.at > objects })
	if len(moves) == 0 && n.compacted(start, objects) {
		return nil // NativeAOT does not say what it has moved
	}
	slices.SortStableFunc(moves, func(a, b moveNote) int { return cmp.Compare(a.at, b.at) })
	were := layoutScan{layout: &layout{ranges: l.ranges}}
	if n.bounded && len(moves) > 0 {
		l.moved = make([]generationRange, 0, mostRanges) // it does not grow by copying
	}
	for i := range moves {
		moves[i].each(func(m clr.MovedRange) {
			if !n.bounded || len(l.moved) < mostRanges {
				l.move(m, were.before(m.Old))
			}
		})
	}
	if n.bounded && len(l.moved) >= mostRanges {
		return nil
	}
	sortRanges(l.moved)
	return l
}

// after returns where the generations were after a collection.
func (n *notes) after(start, objects, end int64) (list []generationRange) {
	analyzed := n.analyzed(start, objects)
	for _, r := range n.ranges {
		if r.at >= analyzed && r.at <= end {
			list = append(list, r.generationRange)
		}
	}
	sortRanges(list)
	return list
}

// A basis is how much was known when objects were counted.
type basis struct {
	start                    int64
	ranges, histories, moves int
}

func (n *notes) basis(start, objects int64) basis {
	b := basis{start: start}
	within := func(at int64) bool { return at >= start && at <= objects }
	for _, r := range n.ranges {
		if within(r.at) {
			b.ranges++
		}
	}
	for _, h := range n.histories {
		if within(h.at) {
			b.histories++
		}
	}
	for _, m := range n.moves {
		if within(m.at) {
			b.moves++
		}
	}
	return b
}

const never = math.MaxInt64
