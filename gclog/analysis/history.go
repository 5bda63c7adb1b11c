package analysis

import (
	"cmp"
	"math"
	"slices"
	"sort"
)

// A stop is a pause, in 24 bytes.
type stop struct {
	start   int64
	packed  int64 // duration, and in the lowest bits the class and whether it is the first pause of a collection
	suspend int64 // negative: unknown, or part of another suspension
}

const (
	classBits   = 3
	firstBit    = 1 << classBits
	packedBits  = classBits + 1
	longestStop = math.MaxInt64 >> packedBits // 18 years
)

func newStop(start, duration, suspend int64, class Class, first bool) stop {
	packed := min(duration, longestStop)<<packedBits | int64(class)
	if first {
		packed |= firstBit
	}
	return stop{start, packed, suspend}
}

func (s stop) duration() int64 { return s.packed >> packedBits }
func (s stop) end() int64      { return s.start + s.duration() }
func (s stop) class() Class    { return Class(s.packed & (firstBit - 1)) }
func (s stop) first() bool     { return s.packed&firstBit != 0 }

// A history contains all stops by start.
type history struct {
	pages[stop]
	unsorted bool
}

func (h *history) add(s stop) {
	if h.n > 0 && s.start < h.at(h.n-1).start {
		h.unsorted = true
	}
	h.pages.add(s)
}

// sort puts the stops in order. Only damaged logs need that.
func (h *history) sort() {
	if !h.unsorted {
		return
	}
	all := make([]stop, h.n)
	for i := range all {
		all[i] = *h.at(i)
	}
	slices.SortStableFunc(all, func(a, b stop) int { return cmp.Compare(a.start, b.start) })
	for i := range all {
		*h.at(i) = all[i]
	}
	h.unsorted = false
}

// after returns the number of stops that began until x.
func (h *history) after(x int64) int {
	return sort.Search(h.n, func(i int) bool { return h.at(i).start > x })
}
