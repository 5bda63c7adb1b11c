package heap

import (
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/gclog/gclog/parse/clr"
)

// The private part of a .gcdump file has what the format cannot hold: a version, the oldest version
// that a reader must know, and sections. A section is its kind, its length, and that many bytes; there
// is at most one of each kind. Unknown sections are skipped, and so is what follows in a known one.
// Numbers are varints.
const (
	privateVersion   = 1
	privateMinReader = 1
)

// The kinds of sections. Those of empty lists are omitted, except for the types.
const (
	sectionWalk = iota + 1
	sectionTypes
	sectionGenerations
	sectionRoots
	sectionStatics
	sectionDependents
	sectionRegions
	sectionSizes
	sectionNames
	sectionDeclaring
	sectionMethods
	sectionKinds
	sectionWrappers
	sectionCounts
	sectionEvents
	sectionSymbols
)

// A privateWriter packs numbers, most of which are small; a privateReader unpacks them.
type privateWriter []byte

func (w *privateWriter) u(values ...uint64) {
	for _, v := range values {
		*w = binary.AppendUvarint(*w, v)
	}
}

func (w *privateWriter) text(s string) {
	w.u(uint64(len(s)))
	*w = append(*w, s...)
}

func (w *privateWriter) section(kind byte, s privateWriter) {
	*w = append(*w, kind)
	w.u(uint64(len(s)))
	*w = append(*w, s...)
}

// list writes a section with a list.
func list[T any](w *privateWriter, kind byte, all []T, write func(*privateWriter, *T)) {
	if len(all) == 0 {
		return
	}
	var s privateWriter
	s.u(uint64(len(all)))
	for i := range all {
		write(&s, &all[i])
	}
	w.section(kind, s)
}

// private returns the private part of the Graph.
func (g *Graph) private() []byte {
	var w, s privateWriter
	w.u(privateVersion, privateMinReader)
	g.Walk.write(&s)
	w.section(sectionWalk, s)
	list(&w, sectionTypes, g.Types, func(w *privateWriter, t *Type) {
		w.u(t.ID, t.Module, uint64(t.Token), uint64(t.Flags), uint64(t.Element), flag(t.Name != ""), uint64(len(t.Parameters)))
		w.u(t.Parameters...)
	})
	if g.ages != nil {
		w.section(sectionGenerations, runs(g.ages))
	}
	list(&w, sectionRoots, g.Roots, func(w *privateWriter, r *Root) {
		w.u(uint64(r.Object), uint64(r.Kind), uint64(r.Flags), r.ID)
	})
	list(&w, sectionStatics, g.Statics, func(w *privateWriter, s *Static) {
		w.u(s.Slot, uint64(s.Object), uint64(s.Type))
		w.text(s.Field)
	})
	list(&w, sectionDependents, g.Dependents, func(w *privateWriter, d *Dependent) {
		w.u(uint64(d.Key), uint64(d.Value))
	})
	list(&w, sectionRegions, g.regions, func(w *privateWriter, r *generationRange) {
		w.u(r.start, r.end-r.start, uint64(r.generation))
	})
	list(&w, sectionSizes, g.largeObjects(), func(w *privateWriter, o *Object) {
		w.u(uint64(*o), g.Size(*o))
	})
	list(&w, sectionNames, g.Types, func(w *privateWriter, t *Type) {
		w.u(uint64(t.Definition))
		if t.Exact == "" {
			w.text("")
		} else { // which is outside of this part
			w.text(t.Name)
		}
	})
	list(&w, sectionDeclaring, g.Statics, func(w *privateWriter, s *Static) { w.text(s.Declaring) })
	list(&w, sectionMethods, slices.Sorted(maps.Keys(g.Methods)), func(w *privateWriter, id *uint64) {
		w.u(*id)
		w.text(g.Methods[*id])
	})
	list(&w, sectionKinds, g.Types, func(w *privateWriter, t *Type) { w.text(string(t.Kinds)) })
	list(&w, sectionCounts, g.Histogram().Counts, func(w *privateWriter, c *TypeCount) {
		w.u(c.RawBytes, c.References)
		for _, n := range c.Generations {
			w.u(n.Objects, n.Bytes)
		}
	})
	list(&w, sectionEvents, g.typesWithEvents(), func(w *privateWriter, i *int) {
		w.u(uint64(*i), uint64(len(g.Types[*i].Events)))
		for _, e := range g.Types[*i].Events {
			w.text(e.Name)
			w.text(e.Delegate)
		}
	})
	if slices.ContainsFunc(g.Types, func(t Type) bool { return t.Symbol != "" }) {
		list(&w, sectionSymbols, g.Types, func(w *privateWriter, t *Type) { w.text(t.Symbol) })
	}
	list(&w, sectionWrappers, g.Wrappers, func(w *privateWriter, x *Wrapper) {
		w.u(uint64(x.Object), flag(x.Callable), uint64(x.References))
	})
	return w
}

// typesWithEvents returns the indexes of the types that have some.
func (g *Graph) typesWithEvents() (list []int) {
	for i := range g.Types {
		if len(g.Types[i].Events) > 0 {
			list = append(list, i)
		}
	}
	return list
}

func flag(v bool) uint64 {
	if v {
		return 1
	}
	return 0
}

func (x *Walk) write(w *privateWriter) {
	w.u(uint64(x.Collection), uint64(x.Depth), uint64(x.Reason), uint64(x.Start), uint64(x.End), uint64(x.Others),
		x.Lost, flag(x.Gaps), flag(x.Cut), x.Objects, x.References, x.Unresolved, x.NullRoots)
}

// runs returns the generations of all objects, as the number of objects that follow each other in
// the same generation. The lowest 3 bits are the generation.
func runs(ages []Generation) (w privateWriter) {
	for from := 0; from < len(ages); {
		to := from + 1
		for to < len(ages) && ages[to] == ages[from] {
			to++
		}
		w.u(uint64(to-from)<<3 | uint64(ages[from]))
		from = to
	}
	return w
}

// largeObjects returns the objects whose size does not fit into the record of a node.
func (g *Graph) largeObjects() (list []Object) {
	for o, size := range g.size {
		if size > maxNodeSize {
			list = append(list, Object(o))
		}
	}
	return list
}

// A privateReader reads the private part. The first error remains.
type privateReader struct {
	b   []byte
	off int64 // of b in the file
	err error
}

func (r *privateReader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = &FormatError{Offset: r.off, Msg: "in gclog's own part of the file, " + fmt.Sprintf(format, args...)}
	}
	r.b = nil
}

func (r *privateReader) take(n uint64) []byte {
	if n > uint64(len(r.b)) {
		r.fail("%d bytes should follow, but %d do", n, len(r.b))
		return nil
	}
	b := r.b[:n]
	r.b, r.off = r.b[n:], r.off+int64(n)
	return b
}

func (r *privateReader) u() uint64 {
	v, n := binary.Uvarint(r.b)
	if n <= 0 {
		r.fail("a number is missing or too large")
		return 0
	}
	r.b, r.off = r.b[n:], r.off+int64(n)
	return v
}

// below reads a number that must be less than a limit.
func (r *privateReader) below(limit uint64, what string) uint64 {
	v := r.u()
	if v >= limit && r.err == nil {
		r.fail("%s is %d, and must be less than %d", what, v, limit)
		return 0
	}
	return v
}

// list calls read for each entry of a list. An entry needs at least a byte, so there are no more
// entries than bytes.
func (r *privateReader) list(read func()) {
	for n := r.below(uint64(len(r.b))+1, "the length of a list"); n > 0 && r.err == nil; n-- {
		read()
	}
}

// object reads an object.
func (r *privateReader) object(g *Graph) Object {
	return Object(r.below(uint64(g.Len()), "an object"))
}

// readPrivate completes a Graph, whose objects have been read, with the private part of the file. If
// counts is not nil, the objects have not been read: only what does not mention them is, and the
// counts of the types. It also returns which types have names; those with another name outside of this
// part have that in the stream. The paths of modules are not in this part.
func (g *Graph) readPrivate(b []byte, off int64, counts *[]TypeCount) (named []bool, err error) {
	r := &privateReader{b: b, off: off}
	version, minReader := r.u(), r.u()
	if minReader > privateVersion {
		return nil, &KindError{fmt.Sprintf("one of a later gclog: its private part has version %d, and this gclog reads version %d", version, privateVersion)}
	}
	var seen [math.MaxUint8 + 1]bool
	for len(r.b) > 0 && r.err == nil {
		kind := r.take(1)[0]
		if seen[kind] {
			r.fail("section %d comes twice", kind)
			break
		}
		seen[kind] = true
		n := r.u()
		s := &privateReader{off: r.off}
		s.b = r.take(n)
		if r.err != nil {
			break
		}
		if counts != nil {
			switch kind {
			case sectionWalk, sectionTypes, sectionNames, sectionKinds, sectionCounts, sectionSymbols:
			default:
				continue
			}
		}
		switch kind {
		case sectionWalk:
			g.Walk.read(s)
		case sectionTypes:
			named = g.readTypes(s)
		case sectionGenerations:
			g.readGenerations(s)
		case sectionRoots:
			s.list(func() {
				g.Roots = append(g.Roots, Root{s.object(g), clr.RootKind(s.below(256, "the kind of a root")), RootFlags(s.below(1<<32, "the flags of a root")), s.u()})
			})
		case sectionStatics:
			s.list(func() {
				v := Static{Slot: s.u(), Object: s.object(g), Type: int(s.below(uint64(len(g.Types)), "a type"))}
				v.Field = string(s.take(s.u()))
				g.Statics = append(g.Statics, v)
			})
		case sectionDependents:
			s.list(func() { g.Dependents = append(g.Dependents, Dependent{s.object(g), s.object(g)}) })
		case sectionRegions:
			s.list(func() {
				v := generationRange{start: s.u()}
				v.end = v.start + s.u()
				v.generation = Generation(s.below(uint64(Frozen), "a generation"))
				if v.end < v.start {
					s.fail("the region at 0x%x is too long", v.start)
				}
				g.regions = append(g.regions, v)
			})
		case sectionSizes:
			s.list(func() { g.setSize(s.object(g), s.u()) })
		case sectionNames:
			next := 0
			s.list(func() {
				definition, name := uint32(s.below(1<<32, "a token")), string(s.take(s.u()))
				if next < len(g.Types) {
					g.Types[next].Definition, g.Types[next].Name = definition, name
				}
				next++
			})
		case sectionSymbols:
			next := 0
			s.list(func() {
				if symbol := string(s.take(s.u())); next < len(g.Types) {
					g.Types[next].Symbol = symbol
				}
				next++
			})
		case sectionKinds:
			next := 0
			s.list(func() {
				if kinds := slices.Clone(s.take(s.u())); next < len(g.Types) && len(kinds) == len(g.Types[next].Parameters) && len(kinds) > 0 {
					g.Types[next].Kinds = kinds
				}
				next++
			})
		case sectionCounts:
			if counts != nil {
				s.list(func() { *counts = append(*counts, s.typeCount()) })
			}
		case sectionWrappers:
			s.list(func() {
				g.Wrappers = append(g.Wrappers, Wrapper{s.object(g), s.u() != 0, uint32(s.below(1<<32, "the references of a COM wrapper"))})
			})
		case sectionEvents:
			s.list(func() {
				i := s.below(uint64(len(g.Types)), "a type")
				s.list(func() {
					if e := (Event{string(s.take(s.u())), string(s.take(s.u()))}); s.err == nil {
						g.Types[i].Events = append(g.Types[i].Events, e)
					}
				})
			})
		case sectionMethods:
			s.list(func() {
				id, name := s.u(), string(s.take(s.u()))
				g.addMethod(id, name)
			})
		case sectionDeclaring:
			next := 0
			s.list(func() {
				class := string(s.take(s.u()))
				if next < len(g.Statics) {
					g.Statics[next].Declaring = class
				}
				next++
			})
		}
		if r.err == nil {
			r.err = s.err
		}
	}
	g.Walk.Rootless = g.Walk.Objects > 0 && !seen[sectionRoots] && !seen[sectionStatics] // which are omitted if they are empty
	return named, r.err
}

func (x *Walk) read(r *privateReader) {
	const most = 1 << 32
	*x = Walk{
		Collection: uint32(r.below(most, "the number of the collection")), Depth: uint32(r.below(most, "its generation")),
		Reason: clr.Reason(r.below(most, "its reason")), Start: int64(r.u()), End: int64(r.u()),
		Others: int(r.below(math.MaxInt32, "the number of walks")), Lost: r.u(), Gaps: r.u() != 0, Cut: r.u() != 0,
		Objects: r.u(), References: r.u(), Unresolved: r.u(), NullRoots: r.u(),
	}
}

func (g *Graph) readTypes(r *privateReader) (named []bool) {
	r.list(func() {
		t := Type{
			ID: r.u(), Module: r.u(), Token: uint32(r.below(1<<32, "a token")), Flags: uint32(r.below(1<<32, "the flags of a type")),
			Element: uint8(r.below(256, "the element type")),
		}
		named = append(named, r.u() != 0)
		t.Parameters = []uint64{}
		r.list(func() { t.Parameters = append(t.Parameters, r.u()) })
		g.Types = append(g.Types, t)
	})
	return named
}

func (g *Graph) readGenerations(r *privateReader) {
	g.ages = make([]Generation, 0, g.Len())
	for len(r.b) > 0 && r.err == nil {
		run := r.u()
		generation, n := Generation(run&7), run>>3
		if generation > UnknownGeneration || n > uint64(g.Len()-len(g.ages)) {
			r.fail("%d objects are in generation %d, of %d objects", n, generation, g.Len())
			return
		}
		for range n {
			g.ages = append(g.ages, generation)
		}
	}
	if len(g.ages) < g.Len() && r.err == nil {
		r.fail("the generations of %d objects are missing", g.Len()-len(g.ages))
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
