package heap

import (
	"cmp"
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

// layout returns the layout, or nil if the stream does not contain the ranges of generations. All
// that it needs comes before the first object.
func (w *walk) layout() *layout {
	if w.sorted == nil && len(w.before) > 0 {
		w.sorted = &layout{ranges: w.before, moved: w.moved}
		sortRanges(w.before)
		slices.SortFunc(w.moved, func(a, b clr.MovedRange) int { return cmp.Compare(a.New, b.New) })
	}
	return w.sorted
}

func sortRanges(list []generationRange) {
	slices.SortFunc(list, func(a, b generationRange) int { return cmp.Compare(a.start, b.start) })
}

// before returns the generation before the collection of the object that is at an address after it.
func (l *layout) before(at uint64) Generation {
	if l == nil {
		return UnknownGeneration
	}
	i, _ := slices.BinarySearchFunc(l.moved, at, func(m clr.MovedRange, at uint64) int { return upTo(m.New, at) })
	if i > 0 && at-l.moved[i-1].New < l.moved[i-1].Length {
		at = l.moved[i-1].Old + (at - l.moved[i-1].New)
	}
	i, _ = slices.BinarySearchFunc(l.ranges, at, func(r generationRange, at uint64) int { return upTo(r.start, at) })
	if i > 0 && at < l.ranges[i-1].end {
		return l.ranges[i-1].generation
	}
	return Frozen
}

// ages returns the generations before the collection of the objects at some addresses, or nil if l
// is nil.
func (l *layout) ages(address []uint64) []Generation {
	if l == nil {
		return nil
	}
	list := make([]Generation, len(address))
	for o, at := range address {
		list[o] = l.before(at)
	}
	return list
}

// upTo makes a binary search find the first element that starts after an address.
func upTo(start, at uint64) int {
	if start <= at {
		return -1
	}
	return 1
}
