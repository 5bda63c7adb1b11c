package heap

import (
	"math"

	"github.com/gclog/gclog/parse/clr"
)

// A walk is what a collection has shown.
type walk struct {
	Walk
	blocking bool
	opened   int64      // when its first event about objects was written
	after    int64      // when the collection before it ended
	from     int64      // events lost from then on may belong to it
	until    int64      // events until then may belong to it: its end, or when the end was found to be missing
	notes    *notes     // of the Builder
	counting bool       // objects are counted, not stored
	held     *heldNodes // nodes that are not counted yet; nil: none are held any more
	counted  *basis     // the knowledge by which they were counted, once too many to be held
	codes    *addressCodes
	places   *places
	room     int64 // bytes of the stream for which memory is allocated at once

	types  typeNumbers
	counts []TypeCount // by number

	address    column[uint64]
	size       column[uint32]
	typ        column[uint32] // numbers
	first      column[uint32]
	target     column[Object] // codes of addresses, until the end
	unencoded  []farReference // references to addresses without a code
	large      map[Object]uint64
	edges      uint64 // edges that were seen; Walk.References counts those of the objects
	rooted     bool   // a root or a static field has come
	roots      []rawRoot
	known      map[rawRoot]bool
	statics    []rawStatic
	dependents []clr.ConditionalEdge
	wrappers   []rawWrapper
	scan       layoutScan // for the objects that are counted

	next [4]uint32 // expected Index of events 16 to 19
}

type rawRoot struct {
	node, id uint64
	kind     clr.RootKind
	flags    RootFlags
}

type rawWrapper struct {
	object     uint64
	callable   bool
	references uint32
}

type rawStatic struct {
	slot, object, typ uint64
	field             string
}

// A farReference is a reference whose address has no code: the one with an index in walk.target.
type farReference struct {
	at      int
	address uint64
}

// index checks the sequence number of an event of kind 16 + i.
func (w *walk) index(i int, index uint32) {
	if index != w.next[i] {
		w.Gaps = true
	}
	w.next[i] = index + 1
}

// begin handles the first event with objects.
func (w *walk) begin(pointerSize int) {
	if w.counting {
		w.held = &heldNodes{}
	} else if w.room > 0 {
		n := int(w.room) / (24 + pointerSize) // the bytes of an object in the stream
		w.address.reserve(n)
		w.size.reserve(n)
		w.typ.reserve(n)
		w.first.reserve(n)
	}
}

func (w *walk) nodes(e *clr.GCBulkNode, pointerSize int) {
	w.index(2, e.Index)
	if w.Objects == 0 {
		w.begin(pointerSize)
	}
	if w.counting {
		for i := range e.Count {
			w.count(e.At(i), pointerSize)
		}
		return
	}
	if w.address.n+e.Count > int(NoObject) {
		w.Gaps = true // more than a Graph can hold
		return
	}
	for i := 0; i < e.Count; {
		address := w.address.grow(e.Count - i)
		size, typ, first := w.size.grow(len(address)), w.typ.grow(len(address)), w.first.grow(len(address))
		for k := range address {
			n := e.At(i)
			address[k] = n.Address
			size[k] = largeSize
			if n.Size < largeSize {
				size[k] = uint32(n.Size)
			} else {
				w.large[Object(w.Objects)] = n.Size
			}
			typ[k] = w.types.of(n.TypeID)
			first[k] = uint32(w.References)
			w.add(n)
			i++
		}
		w.places.add(address, Object(w.address.n-len(address)), w.codes)
	}
	if w.References > math.MaxUint32 {
		w.Gaps = true
	}
}

// add counts an object and its references. More than 32 bits of these are false, and the sum must
// not overflow.
func (w *walk) add(n clr.Node) {
	w.Objects++
	w.References += min(n.Edges, math.MaxUint32)
}

// count counts an object instead of storing it.
func (w *walk) count(n clr.Node, pointerSize int) {
	w.add(n)
	n.TypeID = uint64(w.types.of(n.TypeID))
	if w.held != nil {
		if w.held.add(n) {
			return
		}
		w.countEarly(pointerSize)
	}
	w.countOne(n, pointerSize)
}

// start returns the start of its collection, as far as is known, or nil.
func (w *walk) start() *startNote {
	if s := w.notes.startBefore(w.opened); s != nil && s.at >= w.after {
		return s
	}
	return nil
}

// endCount counts what is held. If the generations of what was counted before are wrong, or something
// is missing, none is known.
func (w *walk) endCount(pointerSize int) {
	if w.held != nil {
		w.countHeld(w.Start, pointerSize)
	}
	if w.Complete() && (w.counted == nil || *w.counted == w.notes.basis(w.Start, w.opened) && !w.notes.full) {
		return
	}
	for i := range w.counts {
		c := &w.counts[i]
		c.Generations = [UnknownGeneration + 1]Count{UnknownGeneration: c.Count}
	}
}

// countEarly counts the objects that are held because there are too many.
func (w *walk) countEarly(pointerSize int) {
	start := int64(never) // unknown
	if s := w.start(); s != nil {
		start = s.at
	}
	known := w.notes.basis(start, w.opened)
	w.counted = &known
	w.countHeld(start, pointerSize)
}

// countHeld counts the objects that are held, given when the collection started.
func (w *walk) countHeld(start int64, pointerSize int) {
	h := w.held
	w.held = nil
	w.counts = make([]TypeCount, len(w.types.ids))
	w.scan = layoutScan{layout: w.notes.layout(start, w.opened)}
	h.each(func(n clr.Node) { w.countOne(n, pointerSize) })
}

// countOne counts an object. Its TypeID is the number of its type.
func (w *walk) countOne(n clr.Node, pointerSize int) {
	if int(n.TypeID) == len(w.counts) {
		w.counts = append(w.counts, TypeCount{})
	}
	w.counts[n.TypeID].add(n.Size, pointerSize, n.Edges, w.scan.before(n.Address))
}

func (w *walk) edgesOf(e *clr.GCBulkEdge, pointerSize int) {
	w.index(3, e.Index)
	w.edges += uint64(e.Count)
	if w.counting {
		return
	}
	if w.room > 0 {
		w.target.reserve(int(w.room) / (4 + pointerSize))
	}
	var address [256]uint64
	for i := 0; i < e.Count; {
		targets := w.target.grow(min(len(address), e.Count-i))
		e.Targets(address[:len(targets)], i)
		for k := range targets {
			code := w.codes.of(address[k])
			if targets[k] = Object(code); code == noCode {
				w.unencoded = append(w.unencoded, farReference{w.target.n - len(targets) + k, address[k]})
			}
		}
		i += len(targets)
	}
}

func (w *walk) rootsOf(e *clr.GCBulkRootEdge) {
	w.index(0, e.Index)
	for i := range e.Count {
		root := e.At(i)
		if root.Node == 0 {
			w.NullRoots++
			continue
		}
		w.rooted = true
		r := rawRoot{node: root.Node, id: root.Root, kind: root.Kind, flags: RootFlags(root.Flags)}
		if !w.counting && !w.known[r] {
			w.known[r] = true
			w.roots = append(w.roots, r)
		}
	}
}

func (w *walk) staticsOf(e *clr.GCBulkRootStaticVar) {
	w.rooted = true
	if w.counting {
		return
	}
	var v clr.StaticVar
	for e.Next(&v) {
		if v.Object != 0 {
			w.statics = append(w.statics, rawStatic{v.Root, v.Object, v.TypeID, v.Field.String()})
		}
	}
}

func (w *walk) dependentsOf(e *clr.GCBulkConditionalEdge) {
	w.index(1, e.Index)
	for i := 0; i < e.Count && !w.counting; i++ {
		w.dependents = append(w.dependents, e.At(i))
	}
}

func (w *walk) wrapper(object uint64, callable bool, references uint32) {
	if !w.counting {
		w.wrappers = append(w.wrappers, rawWrapper{object, callable, references})
	}
}
