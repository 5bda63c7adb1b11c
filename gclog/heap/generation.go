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
	moved  []generationRange // where the objects that it has moved are now, by ascending address
}

// move handles a series of objects that has moved. A series was in one generation, and many of a
// generation follow each other now: these become one range.
func (l *layout) move(m clr.MovedRange, from Generation) {
	r := generationRange{start: m.New, end: m.New + m.Length, generation: from}
	switch n := len(l.moved); {
	case r.end <= r.start: // empty, or false
	case n > 0 && l.moved[n-1].end == r.start && l.moved[n-1].generation == r.generation:
		l.moved[n-1].end = r.end
	default:
		l.moved = append(l.moved, r)
	}
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
	from, size uint64 // the part of the heap to which it applies
}

func (s *layoutScan) before(at uint64) Generation {
	if at-s.from >= s.size {
		s.find(at)
	}
	return s.generation
}

// find finds the generation of the object at an address, and how far around the object it applies.
func (s *layoutScan) find(object uint64) {
	below, above := object, math.MaxUint64-object
	s.generation = UnknownGeneration
	if s.layout != nil {
		var in bool
		if s.generation, in, below, above = rangeAt(s.moved, object); !in {
			of, _, under, over := rangeAt(s.ranges, object)
			s.generation, below, above = of, min(below, under), min(above, over)
		}
	}
	s.from, s.size = object-below, below+above
}

// rangeAt returns the generation of the last range that starts at or before an address, if it contains
// the address, and else Frozen. It also returns how far below and above the address that is so.
func rangeAt(list []generationRange, at uint64) (of Generation, in bool, below, above uint64) {
	above = math.MaxUint64 - at
	i, _ := slices.BinarySearchFunc(list, at, func(r generationRange, at uint64) int { return upTo(r.start, at) })
	if i < len(list) {
		above = list[i].start - at
	}
	if i == 0 {
		return Frozen, false, at, above
	}
	if r := &list[i-1]; at < r.end {
		return r.generation, true, at - r.start, min(above, r.end-at)
	}
	return Frozen, false, at - list[i-1].end, above
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
