package heap

import (
	"math"
	bitops "math/bits"
)

// addressCodes replaces addresses by numbers of half their size, so that references need no more
// memory before the objects are known than after. A code is the number of a window of 4 MB, counted
// in the order of their first use, and the place in it. There are codes for 32 GB.
type addressCodes struct {
	scale   uint8 // 1 for pointers of 4 bytes: all addresses are doubled
	slots   map[uint64]uint32
	windows []uint64 // by slot
	recent  [1024]recentWindow
}

// A recentWindow is an entry of a cache with one place for each window.
type recentWindow struct {
	window uint64 // plus 1; 0: none
	slot   uint32
}

const (
	unitBits   = 3 // objects are at multiples of 8 bytes
	placeBits  = 19
	windowBits = unitBits + placeBits
	maxWindows = 1<<(32-placeBits) - 1 // the last one would contain noCode

	// noCode is the code of addresses that have none.
	noCode = math.MaxUint32
)

func newAddressCodes(pointerSize int) *addressCodes {
	x := &addressCodes{slots: map[uint64]uint32{}}
	if pointerSize == 4 {
		x.scale = 1
	}
	return x
}

// of returns the code of an address, or noCode.
func (x *addressCodes) of(at uint64) uint32 {
	at <<= x.scale & 1
	window := at >> windowBits
	r := &x.recent[window%uint64(len(x.recent))]
	if r.window != window+1 && !x.recall(r, window) || at%(1<<unitBits) != 0 {
		return noCode
	}
	return r.slot<<placeBits | uint32(at)<<(32-windowBits)>>(32-placeBits)
}

// recall puts a window into the cache.
func (x *addressCodes) recall(r *recentWindow, window uint64) bool {
	slot, ok := x.slots[window]
	if !ok {
		if len(x.windows) == maxWindows {
			return false
		}
		slot = uint32(len(x.windows))
		x.slots[window] = slot
		x.windows = append(x.windows, window)
	}
	*r = recentWindow{window + 1, slot}
	return true
}

// address returns the address that has a code.
func (x *addressCodes) address(code uint32) uint64 {
	return (x.windows[code>>placeBits]<<windowBits | uint64(code)<<(64-placeBits)>>(64-windowBits)) >> (x.scale & 1)
}

// places finds objects by the codes of their addresses, with one access to memory as a rule. A page
// of 4 KB in which objects begin has 8 words. A word has a bit for each place at which an object
// begins; these objects follow each other in the walk.
type places struct {
	page []uint32 // by code: number of the page plus 1; 0: none
	word []placeWord
}

type placeWord struct {
	low, high uint32 // the bits
	first     Object // the one of the lowest bit
}

const (
	wordBits = 6 // of a code: the place in a word
	pageBits = wordBits + 3
)

// newPlaces returns nil if two objects overlap, if the walk does not follow the addresses, or if the
// objects are so scattered that it would need much more memory than they do. The index finds objects
// in any case, more slowly, and those whose address has no code.
func newPlaces(address []uint64, codes *addressCodes) *places {
	const perWindow = 1 << (placeBits - pageBits)
	p := &places{}
	n, last := uint32(0), uint32(noCode>>pageBits)
	for _, at := range address {
		page := codes.of(at) >> pageBits
		if page == last || page == noCode>>pageBits {
			continue
		}
		last = page
		if int(page) >= len(p.page) {
			all := len(codes.windows) * perWindow
			if all > 4*len(address)+1<<20 {
				return nil
			}
			p.page = append(p.page, make([]uint32, all-len(p.page))...)
		}
		if p.page[page] == 0 {
			n++
			p.page[page] = n
		}
	}
	p.word = make([]placeWord, int(n)<<(pageBits-wordBits))
	for o, at := range address {
		code := codes.of(at)
		if code == noCode {
			continue
		}
		w, bit := p.wordOf(code), code%(1<<wordBits)
		set := w.bits()
		if set == 0 {
			w.first = Object(o)
		}
		if set>>bit != 0 || w.first+Object(bitops.OnesCount64(set)) != Object(o) {
			return nil
		}
		set |= 1 << bit
		w.low, w.high = uint32(set), uint32(set>>32)
	}
	return p
}

func (w *placeWord) bits() uint64 { return uint64(w.high)<<32 | uint64(w.low) }

// wordOf returns the word of a code, or nil.
func (p *places) wordOf(code uint32) *placeWord {
	page := code >> pageBits
	if int(page) >= len(p.page) || p.page[page] == 0 {
		return nil
	}
	return &p.word[(p.page[page]-1)<<(pageBits-wordBits)|code>>wordBits%(1<<(pageBits-wordBits))]
}

// find returns the object whose address has a code, or NoObject.
func (p *places) find(code uint32) Object {
	w := p.wordOf(code)
	if w == nil {
		return NoObject
	}
	set, bit := w.bits(), code%(1<<wordBits)
	if set>>bit&1 == 0 {
		return NoObject
	}
	return w.first + Object(bitops.OnesCount64(set&(1<<bit-1)))
}
