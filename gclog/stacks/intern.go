package stacks

import "math"

// Limits of the distinct stacks that are kept.
const (
	maxStacks     = 100_000
	maxAddresses  = 64 << 20 // bytes of all stacks
	fullAddresses = 32 << 20 // from here on only the inner frames of new stacks are kept
	innerFrames   = 32

	maxFreedPages = 1 << 16
	pageBits      = 12
)

// Stacks that are not what an event had.
const (
	noStack    = 0 // the event had none
	otherStack = 1 // there was no room
	ownStacks  = 2 // the first that is
)

// A rawStack is a distinct stack of addresses.
type rawStack struct {
	addresses string // as they are in the stream
	first     int64  // time of its first event
	checked   int64  // up to then no code at its addresses has changed
	cut       bool   // the outer frames are missing
}

// An interner numbers distinct stacks.
type interner struct {
	pointerSize int
	list        []rawStack // from ownStacks on
	index       map[string]uint32
	size        int // bytes of addresses

	freed      map[uint64]int64 // by page in which code has been freed: when it changed last
	lastChange int64
}

func newInterner(pointerSize int) *interner {
	return &interner{
		pointerSize: pointerSize, index: map[string]uint32{}, freed: map[uint64]int64{}, lastChange: math.MinInt64,
	}
}

// number returns the number of a stack at a time.
func (x *interner) number(addresses []byte, at int64) uint32 {
	if len(addresses) == 0 {
		return noStack
	}
	if i, ok := x.known(addresses, at); ok {
		return i
	}
	cut := false
	if inner := innerFrames * x.pointerSize; x.size >= fullAddresses && len(addresses) > inner {
		addresses, cut = addresses[:inner], true
		if i, ok := x.known(addresses, at); ok {
			return i
		}
	}
	if len(x.list) >= maxStacks || x.size+len(addresses) > maxAddresses {
		return otherStack
	}
	s := rawStack{string(addresses), at, at, cut}
	x.size += len(addresses)
	x.list = append(x.list, s)
	i := uint32(len(x.list)-1) + ownStacks
	x.index[s.addresses] = i
	return i
}

// known returns the number of a stack that has been seen, unless its code has changed since.
func (x *interner) known(addresses []byte, at int64) (uint32, bool) {
	i, ok := x.index[string(addresses)]
	return i, ok && !x.reused(i, at)
}

// change notes that the code in a range has been freed, or is new where other code has been freed.
func (x *interner) change(start, size uint64, at int64, freed bool) {
	if len(x.freed) == 0 && !freed {
		return
	}
	for page := range pages(start, size) {
		if _, ok := x.freed[page]; ok || freed && len(x.freed) < maxFreedPages {
			x.freed[page], x.lastChange = at, at
		}
	}
}

// pages iterates over the pages of a range, at most 16 of them.
func pages(start, size uint64) func(func(uint64) bool) {
	return func(yield func(uint64) bool) {
		last := (start + size - 1) >> pageBits
		for page, n := start>>pageBits, 0; page <= last && n < 16; page, n = page+1, n+1 {
			if !yield(page) {
				return
			}
		}
	}
}

// reused reports whether other code may have come to the addresses of a stack since its first event.
func (x *interner) reused(i uint32, at int64) bool {
	s := &x.list[i-ownStacks]
	if s.checked >= x.lastChange {
		return false
	}
	s.checked = at
	for address := range addresses(s.addresses, x.pointerSize) {
		if t, ok := x.freed[address>>pageBits]; ok && t > s.first {
			return true
		}
	}
	return false
}

// addresses iterates over the addresses of a stack, the innermost frame first.
func addresses(s string, size int) func(func(uint64) bool) {
	return func(yield func(uint64) bool) {
		for ; len(s) >= size; s = s[size:] {
			v := uint64(0)
			for i := size - 1; i >= 0; i-- {
				v = v<<8 | uint64(s[i])
			}
			if !yield(v) {
				return
			}
		}
	}
}
