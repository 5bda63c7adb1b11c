package heap

import (
	"cmp"
	"slices"
)

// An addressIndex finds objects by their address. The objects of a walk are in ascending runs, one
// or more for each region.
type addressIndex struct {
	runs   []run
	sorted []Object // all objects by address, if the runs overlap, which those of a runtime do not; else nil
}

// A run is a series of objects by ascending address: from first up to the object before end.
type run struct {
	start, last uint64 // addresses of the first and the last object
	first, end  Object
}

// runGap is the most bytes between two objects of a run: what follows in the walk after a larger gap
// may be in another region, and there may be regions between the two.
const runGap = 16 << 10

func newAddressIndex(address []uint64) (x addressIndex) {
	for i := 0; i < len(address); {
		r := run{start: address[i], first: Object(i)}
		for i++; i < len(address) && address[i] > address[i-1] && address[i]-address[i-1] <= runGap; {
			i++
		}
		r.last, r.end = address[i-1], Object(i)
		x.runs = append(x.runs, r)
	}
	slices.SortFunc(x.runs, func(a, b run) int { return cmp.Compare(a.start, b.start) })
	for i := range x.runs {
		if i > 0 && x.runs[i].start <= x.runs[i-1].last {
			return sortedIndex(address)
		}
	}
	return x
}

func sortedIndex(address []uint64) addressIndex {
	sorted := make([]Object, len(address))
	for i := range sorted {
		sorted[i] = Object(i)
	}
	slices.SortStableFunc(sorted, func(a, b Object) int { return cmp.Compare(address[a], address[b]) })
	return addressIndex{sorted: sorted}
}

// search returns where in sorted an address is, or would be.
func (x *addressIndex) search(address []uint64, at uint64) (int, bool) {
	return slices.BinarySearchFunc(x.sorted, at, func(o Object, at uint64) int { return cmp.Compare(address[o], at) })
}

// find returns the object at an address, or NoObject.
func (x *addressIndex) find(address []uint64, at uint64) Object {
	if o := x.before(address, at); o != NoObject && address[o] == at {
		return o
	}
	return NoObject
}

// before returns the last object at or before an address, or NoObject.
func (x *addressIndex) before(address []uint64, at uint64) Object {
	if x.sorted != nil {
		i, ok := x.search(address, at)
		switch {
		case ok:
			return x.sorted[i]
		case i == 0:
			return NoObject
		}
		return x.sorted[i-1]
	}
	i := x.run(at)
	if i < 0 {
		return NoObject
	}
	r := &x.runs[i]
	n, ok := slices.BinarySearch(address[r.first:r.end], at)
	if !ok {
		n-- // at is not before the first
	}
	return r.first + Object(n)
}

// after returns the first object after an address, or NoObject.
func (x *addressIndex) after(address []uint64, at uint64) Object {
	if x.sorted != nil {
		i, ok := x.search(address, at)
		if ok {
			i++
		}
		if i == len(x.sorted) {
			return NoObject
		}
		return x.sorted[i]
	}
	i := x.run(at)
	if i >= 0 && at < x.runs[i].last {
		return x.before(address, at) + 1
	}
	if i+1 == len(x.runs) {
		return NoObject
	}
	return x.runs[i+1].first
}

// run returns the index of the last run that starts at or before an address, or -1.
func (x *addressIndex) run(at uint64) int {
	i, ok := slices.BinarySearchFunc(x.runs, at, func(r run, at uint64) int { return cmp.Compare(r.start, at) })
	if !ok {
		i--
	}
	return i
}
