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
	recent  [recentWindows]recentWindow
}

// A recentWindow is an entry of a cache with one place for each window.
type recentWindow struct {
	window uint64 // plus 1; 0: none
	code   uint32 // of its start
}

const (
	unitBits   = 3
	unit       = 1 << unitBits // of addresses
	placeBits  = 19
	windowBits = unitBits + placeBits
	maxWindows = 1<<(32-placeBits) - 1 // the last one would contain noCode

	recentWindows = 1024

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
	if r := &x.recent[at>>windowBits%recentWindows]; r.window == at>>windowBits+1 && at%unit == 0 {
		return r.code | uint32(at)<<(32-windowBits)>>(32-placeBits)
	}
	return x.recall(at)
}

// recall returns the code of a scaled address whose window is not in the cache, or noCode.
func (x *addressCodes) recall(at uint64) uint32 {
	if at%unit != 0 {
		return noCode
	}
	window := at >> windowBits
	slot, ok := x.slots[window]
	if !ok {
		if len(x.windows) == maxWindows {
			return noCode
		}
		slot = uint32(len(x.windows))
		x.slots[window] = slot
		x.windows = append(x.windows, window)
	}
	x.recent[window%recentWindows] = recentWindow{window + 1, slot << placeBits}
	return slot<<placeBits | uint32(at)<<(32-windowBits)>>(32-placeBits)
}

// address returns the address that has a code.
func (x *addressCodes) address(code uint32) uint64 {
	return (x.windows[code>>placeBits]<<windowBits | uint64(code)<<(64-placeBits)>>(64-windowBits)) >> (x.scale & 1)
}

// places finds objects by the codes of their addresses, in a time that does not depend on their
// number. A page of 4 KB in which objects begin has 8 words. A word has a bit for each place at which
// an object begins; these objects follow each other in the walk.
type places struct {
	pages [][]uint32 // by slot and page: number of the page plus 1; 0: none
	words column[placeWord]
	full  int // windows with pages

	last uint64      // address of the last object
	page []placeWord // the page with the last object; nil: none
	next Object      // the one after it
	none bool        // the objects cannot be found like this: see add
}

type placeWord struct {
	low, high uint32 // the bits
	object    Object // the object of the lowest bit
}

const (
	wordBits     = 6 // of a code: the place in a word
	pageBits     = wordBits + 3
	pageWords    = 1 << (pageBits - wordBits)
	windowPages  = 1 << (placeBits - pageBits)
	sparseFactor = 4 // pages for each object: more would need much more memory than the objects
)

// add adds the next objects of a walk, with the numbers from first on. It gives up if the objects of a
// word do not follow each other, or if the objects are too scattered. The index finds objects in any
// case, more slowly, and those whose address has no code.
func (p *places) add(address []uint64, first Object, codes *addressCodes) {
	const pageBytes, wordBytes = unitBits + pageBits, unitBits + wordBits
	for i, at := range address {
		at <<= codes.scale & 1
		if at>>pageBytes != p.last>>pageBytes || p.page == nil {
			p.page = p.enter(address[i], first+Object(i), codes)
		}
		if p.page == nil || at%unit != 0 {
			continue
		}
		w := &p.page[at>>wordBytes%pageWords]
		set, bit := w.bits(), at>>unitBits%(1<<wordBits)
		switch o := first + Object(i); {
		case set == 0:
			w.object = o
		case at>>wordBytes != p.last>>wordBytes || set>>bit != 0 || o != p.next:
			*p = places{none: true}
			return
		}
		set |= 1 << bit
		w.low, w.high = uint32(set), uint32(set>>32)
		p.last, p.next = at, first+Object(i)+1
	}
}

// enter returns the words of the page that an object begins in, or nil.
func (p *places) enter(at uint64, o Object, codes *addressCodes) []placeWord {
	code := codes.of(at)
	if code == noCode || p.none {
		return nil
	}
	slot := code >> placeBits
	for int(slot) >= len(p.pages) {
		p.pages = append(p.pages, nil)
	}
	if p.pages[slot] == nil {
		if p.full++; p.full*windowPages > sparseFactor*int(o)+1<<20 {
			*p = places{none: true}
			return nil
		}
		p.pages[slot] = make([]uint32, windowPages)
	}
	page := &p.pages[slot][code>>pageBits%windowPages]
	if *page == 0 {
		*page = uint32(p.words.n/pageWords) + 1
		return p.words.grow(pageWords)
	}
	return p.words.chunks[(*page-1)/(chunkLen/pageWords)][(*page-1)%(chunkLen/pageWords)*pageWords:][:pageWords]
}

func (w *placeWord) bits() uint64 { return uint64(w.high)<<32 | uint64(w.low) }

// find returns the object whose address has a code, or NoObject.
func (p *places) find(code uint32) Object {
	slot := code >> placeBits
	if int(slot) >= len(p.pages) || p.pages[slot] == nil {
		return NoObject
	}
	page := p.pages[slot][code>>pageBits%windowPages]
	if page == 0 {
		return NoObject
	}
	w := p.words.at(int(page-1)*pageWords + int(code>>wordBits%pageWords))
	set, bit := w.bits(), code%(1<<wordBits)
	if set>>bit&1 == 0 {
		return NoObject
	}
	return w.object + Object(bitops.OnesCount64(set&(1<<bit-1)))
}
