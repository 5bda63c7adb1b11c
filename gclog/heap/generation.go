package heap

import (
	"cmp"
	"math"
	"slices"

	"github.com/gclog/gclog/parse/clr"
)

// A Generation is where an object is.
type Generation uint8

// The generations. UnknownGeneration is that of a snapshot without ranges of generations.
const (
	Gen0 Generation = iota
	Gen1
	Gen2
	LOH    // large object heap
	POH    // pinned object heap
	Frozen // outside of the heap's generations: string literals and other objects that are never collected
	UnknownGeneration
)

var generationNames = [...]string{"gen0", "gen1", "gen2", "loh", "poh", "frozen", "unknown"}

func (g Generation) String() string { return generationNames[g] }

// A generationRange is the part of a region or segment that is in use (GCGenerationRange).
type generationRange struct {
	start, end uint64
	generation Generation
}

// A layout is where the generations were before a collection, and what moved in it. The collection
// itself promotes what survives, so that the generations after it say little.
type layout struct {
	ranges []generationRange // before the collection, by ascending address
	moved  []clr.MovedRange  // by ascending new address
}

// layout returns the layout, or nil if the stream does not contain the ranges of generations.
func (w *walk) layout() *layout {
	if len(w.before) == 0 {
		return nil
	}
	sortRanges(w.before)
	slices.SortFunc(w.moved, func(a, b clr.MovedRange) int { return cmp.Compare(a.New, b.New) })
	return &layout{ranges: w.before, moved: w.moved}
}

func sortRanges(list []generationRange) {
	slices.SortFunc(list, func(a, b generationRange) int { return cmp.Compare(a.start, b.start) })
}

// before returns the generation before the collection of the object that is at an address after it.
func (l *layout) before(at uint64) Generation {
	s := layoutScan{layout: l}
	return s.before(at)
}

// A layoutScan finds the generations of objects quickly if their addresses ascend, as they do within
// a region: for the objects near the last one it is the same.
type layoutScan struct {
	*layout
	generation Generation
	from, size uint64 // of the part of the heap to which it applies
}

func (s *layoutScan) before(at uint64) Generation {
	if at-s.from >= s.size {
		s.find(at)
	}
	return s.generation
}

// find finds the generation of the object at an address, and how far around the object it applies.
func (s *layoutScan) find(object uint64) {
	at, below, above := object, object, math.MaxUint64-object
	s.generation = UnknownGeneration
	if s.layout != nil {
		i, _ := slices.BinarySearchFunc(s.moved, at, func(m clr.MovedRange, at uint64) int { return upTo(m.New, at) })
		if i < len(s.moved) {
			above = s.moved[i].New - at
		}
		if i > 0 {
			m := &s.moved[i-1]
			if below = at - m.New; below < m.Length {
				at = m.Old + below
				above = min(above, m.Length-below, math.MaxUint64-at)
			} else {
				below -= m.Length
			}
		}
		s.generation = Frozen
		i, _ = slices.BinarySearchFunc(s.ranges, at, func(r generationRange, at uint64) int { return upTo(r.start, at) })
		if i < len(s.ranges) {
			above = min(above, s.ranges[i].start-at)
		}
		switch {
		case i == 0:
			below = min(below, at)
		case at < s.ranges[i-1].end:
			r := &s.ranges[i-1]
			s.generation = r.generation
			below, above = min(below, at-r.start), min(above, r.end-at)
		default:
			below = min(below, at-s.ranges[i-1].end)
		}
	}
	s.from, s.size = object-below, below+above
}

// ages returns the generations before the collection of the objects at some addresses, or nil if l
// is nil.
func (l *layout) ages(address []uint64) []Generation {
	if l == nil {
		return nil
	}
	list := make([]Generation, len(address))
	parallel(len(address), chunkLen, func(from, to int) {
		s := layoutScan{layout: l}
		for o := from; o < to; o++ {
			list[o] = s.before(address[o])
		}
	})
	return list
}

// upTo makes a binary search find the first element that starts after an address.
func upTo(start, at uint64) int {
	if start <= at {
		return -1
	}
	return 1
}
