package heap

import (
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
)

// The private part of a .gcdump file has what the format cannot hold: a version, and then what packTypes
// and packObjects pack. Numbers are varints.
const privateVersion = 2

// A packer writes the private part or, if reading is set, reads it: the same functions describe the
// contents for both directions. When writing it only reads the Graph, which others may use. The first
// error of reading remains, and what is read after it is zero.
type packer struct {
	b       []byte // the bytes written, or left to read
	reading bool
	off     int64 // of b in the file
	err     error

	kept  int64 // bytes of memory that the graph of what was read will take, about
	limit int64 // of kept
}

func (p *packer) fail(format string, args ...any) {
	if p.err == nil {
		p.err = &FormatError{Offset: p.off, Msg: "in gclog's own part of the file, " + fmt.Sprintf(format, args...)}
	}
	p.b = nil
}

// keep counts n bytes of memory before they are allocated, and reports whether they may be.
func (p *packer) keep(n int) bool {
	if p.kept += int64(n); p.reading && p.kept > p.limit && p.err == nil {
		p.err, p.b = ErrTooLarge, nil
	}
	return p.err == nil
}

func (p *packer) uvarint(v uint64) uint64 {
	if !p.reading {
		p.b = binary.AppendUvarint(p.b, v)
		return v
	}
	v, n := binary.Uvarint(p.b)
	if n <= 0 {
		p.fail("a number is missing or too large")
		return 0
	}
	p.skip(n)
	return v
}

func (p *packer) skip(n int) { p.b, p.off = p.b[n:], p.off+int64(n) }

// length packs the length of something whose elements need at least a byte each, so that memory is only
// allocated in proportion to the bytes of the file.
func (p *packer) length(n int) int {
	v := p.uvarint(uint64(n))
	if p.reading && v > uint64(len(p.b)) {
		p.fail("%d bytes or more should follow, but %d do", v, len(p.b))
		return 0
	}
	return int(v)
}

func (p *packer) flag(v *bool) {
	n := uint64(0)
	if *v {
		n = 1
	}
	if n = p.uvarint(n); p.reading {
		*v = n != 0
	}
}

func (p *packer) text(s *string) {
	n := p.length(len(*s))
	if !p.reading {
		p.b = append(p.b, *s...)
		return
	}
	if p.keep(n) {
		*s = string(p.b[:n])
		p.skip(n)
	}
}

// skipText reads what text does, and keeps nothing.
func (p *packer) skipText() { p.skip(p.length(0)) }

type integer interface {
	~int | ~int64 | ~uint8 | ~uint32 | ~uint64
}

// number packs numbers.
func number[T integer](p *packer, values ...*T) {
	for _, v := range values {
		n := p.uvarint(uint64(*v))
		if !p.reading {
			continue
		}
		if *v = T(n); uint64(*v) != n {
			p.fail("the number %d is too large", n)
		}
	}
}

// index packs a number that is less than n.
func index[T integer](p *packer, v *T, n int, what string) {
	number(p, v)
	if p.reading && uint64(*v) >= uint64(n) && p.err == nil {
		p.fail("%s is %d, and must be less than %d", what, *v, n)
	}
}

// list packs a list.
func list[T any](p *packer, all *[]T, entry func(i int, v *T)) {
	listUpTo(p, all, math.MaxInt, "%d of %d", entry)
}

// listUpTo packs a list, of which up to most elements are read. The format says so of more.
func listUpTo[T any](p *packer, all *[]T, most int, format string, entry func(i int, v *T)) {
	n := p.length(len(*all))
	if p.reading {
		*all = nil
		if n > most {
			p.fail(format, n, most)
		}
		if n == 0 || !p.keep(n*int(reflect.TypeFor[T]().Size())) {
			return
		}
		*all = make([]T, 0, min(n, chunkLen))
	}
	for i := 0; i < n && p.err == nil; i++ {
		if p.reading {
			var zero T
			*all = append(*all, zero)
		}
		entry(i, &(*all)[i])
	}
}

// private returns the private part of the Graph.
func (g *Graph) private() []byte {
	p := &packer{}
	counts := g.Histogram().Counts
	g.packTypes(p, &counts, nil, true)
	g.packObjects(p)
	return p.b
}

// readPrivate completes a Graph with the private part of the file, and returns the counts of its types.
// Without objects, these have not been read, and what mentions them is left out, and so are the events of types.
func (d *dumpFile) readPrivate(g *Graph, objects bool) (counts []TypeCount, err error) {
	p := &packer{b: d.private, off: d.privateOff, reading: true, kept: d.kept, limit: d.limit}
	g.packTypes(p, &counts, d.nodes.types, objects)
	if objects {
		g.packObjects(p)
		g.Walk.Rootless = g.rootless()
	}
	switch {
	case p.err != nil:
		return nil, p.err
	case objects && len(p.b) > 0:
		p.fail("%d more bytes follow", len(p.b))
		return nil, p.err
	}
	return counts, d.exactTypes(g)
}

// The list of types in the file has a name of each type for people. It is one of these.
const (
	showsNone  = iota // what dotnet-gcdump writes for types without a name
	showsName         // Type.Name
	showsExact        // Type.Exact
	showsEnd
)

// packTypes packs what does not mention objects: the walk, the types and their counts. A name that the file
// has elsewhere is not packed; shown are the types of the file, for reading, of which the first is that of
// the undefined node. Without events, these are not kept.
func (g *Graph) packTypes(p *packer, counts *[]TypeCount, shown []nodeType, events bool) {
	if v := p.uvarint(privateVersion); v != privateVersion && p.err == nil {
		p.err = &KindError{fmt.Sprintf("one of another version of gclog: its private part has version %d, "+
			"and this gclog reads version %d", v, privateVersion)}
		return
	}
	walk := g.Walk
	walk.Rootless = g.rootless()
	walk.pack(p)
	if p.reading {
		g.Walk = walk
	}
	listUpTo(p, &g.Types, max(0, len(shown)-1), "there are %d types, but the file has %d", func(i int, t *Type) {
		number(p, &t.ID, &t.Module)
		number(p, &t.Token, &t.Definition, &t.Flags)
		number(p, &t.Element)
		list(p, &t.Parameters, func(_ int, id *uint64) { number(p, id) })
		list(p, &t.Kinds, func(_ int, kind *uint8) { number(p, kind) })
		if len(t.Kinds) > 0 && len(t.Kinds) != len(t.Parameters) {
			p.fail("a type has %d parameters, and the kinds of %d", len(t.Parameters), len(t.Kinds))
		}
		p.text(&t.Symbol)
		p.events(&t.Events, events)
		shows := t.shows()
		index(p, &shows, showsEnd, "the name of a type")
		if shows == showsExact {
			p.text(&t.Name)
		}
		if !p.reading || i+1 >= len(shown) {
			return
		}
		switch name := shown[i+1].name; shows {
		case showsName:
			t.Name = name
		case showsExact:
			t.Exact = name
		}
	})
	listUpTo(p, counts, len(g.Types), "there are counts of %d types, of %d", func(_ int, c *TypeCount) {
		number(p, &c.RawBytes, &c.References)
		for i := range c.Generations {
			n := &c.Generations[i]
			number(p, &n.Objects, &n.Bytes)
			if p.reading {
				c.Count.merge(*n)
			}
		}
	})
	if len(*counts) != len(g.Types) {
		p.fail("there are counts of %d types, of %d", len(*counts), len(g.Types))
	}
}

// maxEvents is how many events of a type are packed. A class has up to some hundreds, with those of its bases.
const maxEvents = 1 << 12

// events packs the events of a type. What is read is only kept if it should be.
func (p *packer) events(all *[]Event, keep bool) {
	const tooMany = "a type has %d events; up to %d are read"
	if p.reading && !keep {
		n := p.length(0)
		if n > maxEvents {
			p.fail(tooMany, n, maxEvents)
		}
		for ; n > 0 && p.err == nil; n-- {
			p.skipText()
			p.skipText()
		}
		return
	}
	if !p.reading { // the list is that of a Graph that others use
		packed := (*all)[:min(len(*all), maxEvents)]
		all = &packed
	}
	listUpTo(p, all, maxEvents, tooMany, func(_ int, e *Event) {
		p.text(&e.Name)
		p.text(&e.Delegate)
	})
}

func (g *Graph) rootless() bool { return g.Walk.Objects > 0 && len(g.Roots)+len(g.Statics) == 0 }

// shows returns what dumpName returns of a type.
func (t *Type) shows() uint8 {
	switch {
	case t.Name == "" && !t.isNative():
		return showsNone
	case t.Exact != "":
		return showsExact
	}
	return showsName
}

func (x *Walk) pack(p *packer) {
	number(p, &x.Collection, &x.Depth)
	number(p, &x.Reason)
	number(p, &x.Start, &x.End)
	number(p, &x.Others)
	number(p, &x.Lost, &x.Objects, &x.References, &x.Unresolved, &x.NullRoots)
	for _, v := range []*bool{&x.Gaps, &x.Cut, &x.Limited, &x.Unrooted, &x.Rootless} {
		p.flag(v)
	}
}

// packObjects packs what is known of objects and roots.
func (g *Graph) packObjects(p *packer) {
	object := func(o *Object) { index(p, o, g.Len(), "an object") }
	g.packGenerations(p)
	type large struct {
		o    Object
		size uint64
	}
	var sizes []large
	if !p.reading {
		for o, size := range g.size {
			if size > maxNodeSize {
				sizes = append(sizes, large{Object(o), g.Size(Object(o))})
			}
		}
	}
	list(p, &sizes, func(_ int, v *large) {
		p.keep(keptOfEntry)
		object(&v.o)
		number(p, &v.size)
	})
	list(p, &g.regions, func(_ int, r *generationRange) {
		number(p, &r.start, &r.end)
		index(p, &r.generation, int(Frozen), "the generation of a region")
		if r.end < r.start {
			p.fail("the region at 0x%x ends before it starts", r.start)
		}
	})
	list(p, &g.Roots, func(_ int, r *Root) {
		object(&r.Object)
		number(p, &r.Kind)
		number(p, &r.Flags)
		number(p, &r.ID)
	})
	list(p, &g.Statics, func(_ int, s *Static) {
		number(p, &s.Slot)
		object(&s.Object)
		index(p, &s.Type, len(g.Types), "a type")
		p.text(&s.Field)
		p.text(&s.Declaring)
	})
	list(p, &g.Dependents, func(_ int, d *Dependent) {
		object(&d.Key)
		object(&d.Value)
	})
	list(p, &g.Wrappers, func(_ int, x *Wrapper) {
		object(&x.Object)
		p.flag(&x.Callable)
		number(p, &x.References)
	})
	ids := slices.Sorted(maps.Keys(g.Methods))
	list(p, &ids, func(_ int, id *uint64) {
		p.keep(keptOfEntry)
		number(p, id)
		name := g.Methods[*id]
		p.text(&name)
		if p.reading {
			g.addMethod(*id, name)
		}
	})
	if p.reading && p.err == nil {
		for _, v := range sizes {
			g.setSize(v.o, v.size)
		}
	}
}

// packGenerations packs the generations of all objects, as the number of objects that follow each other
// in the same generation. The lowest 3 bits are the generation.
func (g *Graph) packGenerations(p *packer) {
	known := g.ages != nil
	p.flag(&known)
	if p.reading && known && p.keep(g.Len()) {
		g.ages = make([]Generation, 0, g.Len())
	}
	for at := 0; known && at < g.Len() && p.err == nil; {
		var run uint64
		if !p.reading {
			n := 1
			for at+n < g.Len() && g.ages[at+n] == g.ages[at] {
				n++
			}
			run = uint64(n)<<3 | uint64(g.ages[at])
		}
		run = p.uvarint(run)
		n, generation := run>>3, Generation(run&7)
		if generation > UnknownGeneration || n > uint64(g.Len()-at) {
			p.fail("%d objects are in generation %d, where %d objects have none", n, generation, g.Len()-at)
			return
		}
		at += int(n)
		if p.reading {
			for range n {
				g.ages = append(g.ages, generation)
			}
		}
	}
}

// setSize sets the size of an object.
func (g *Graph) setSize(o Object, size uint64) {
	if size < largeSize {
		g.size[o] = uint32(size)
		return
	}
	g.size[o] = largeSize
	g.large[o] = size
}
