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

// generations returns the generation of each object before the collection, nil if the stream does
// not contain the ranges of generations. The collection itself has promoted what survived, so that
// the generations after it say little: an object is looked up where it was before it moved.
func generations(address []uint64, w *walk) []Generation {
	if len(w.before) == 0 || len(w.after) == 0 {
		return nil
	}
	sortRanges(w.before)
	sortRanges(w.after)
	moved := w.moved.flat()
	slices.SortFunc(moved, func(a, b clr.MovedRange) int { return cmp.Compare(a.New, b.New) })
	list := make([]Generation, len(address))
	for o, at := range address {
		if generationAt(w.after, at) == Frozen {
			list[o] = Frozen
			continue
		}
		i, _ := slices.BinarySearchFunc(moved, at, func(m clr.MovedRange, at uint64) int {
			if m.New <= at {
				return -1
			}
			return 1
		})
		if i > 0 && at-moved[i-1].New < moved[i-1].Length {
			at = moved[i-1].Old + (at - moved[i-1].New)
		}
		list[o] = generationAt(w.before, at)
	}
	return list
}

func sortRanges(list []generationRange) {
	slices.SortFunc(list, func(a, b generationRange) int { return cmp.Compare(a.start, b.start) })
}

// generationAt returns the generation of an address, Frozen if it is in no range.
func generationAt(sorted []generationRange, at uint64) Generation {
	i, _ := slices.BinarySearchFunc(sorted, at, func(r generationRange, at uint64) int {
		if r.start <= at {
			return -1
		}
		return 1
	})
	if i > 0 && at < sorted[i-1].end {
		return sorted[i-1].generation
	}
	return Frozen
}
