package heap

import "io"

// A Count is a number of objects and the bytes that they occupy.
type Count struct {
	Objects uint64
	Bytes   uint64 // Graph.Space of all
}

func (c *Count) add(space uint64) {
	c.Objects++
	c.Bytes += space
}

func (c *Count) merge(other Count) {
	c.Objects += other.Objects
	c.Bytes += other.Bytes
}

// A TypeCount says how many objects of a type there are.
type TypeCount struct {
	Count
	RawBytes    uint64 // Graph.Size of all
	References  uint64 // references in them
	Generations [UnknownGeneration + 1]Count
}

// A Histogram counts the objects of a heap by type, reachable or not.
type Histogram struct {
	PointerSize int
	Walk        Walk
	Process     Process
	Modules     Modules // by Type.Module
	Types       []Type
	Counts      []TypeCount // by index in Types
	// Unreachable counts the objects that no root keeps alive: Graph.Unreachable. nil: unknown.
	Unreachable *Count
}

// Histogram counts the objects of each type.
func (g *Graph) Histogram() *Histogram {
	h := &Histogram{
		PointerSize: g.PointerSize,
		Walk:        g.Walk,
		Process:     g.Process,
		Modules:     g.Modules,
		Types:       g.Types,
		Counts:      make([]TypeCount, len(g.Types)),
	}
	for i := range g.address {
		o := Object(i)
		h.Counts[g.typ[i]].add(g.Size(o), g.PointerSize, uint64(g.first[i+1]-g.first[i]), g.Generation(o))
	}
	return h
}

func (c *TypeCount) add(size uint64, pointerSize int, references uint64, of Generation) {
	space := aligned(size, pointerSize)
	c.Count.add(space)
	c.RawBytes += size
	c.References += references
	c.Generations[of].add(space)
}

// Merge adds another count.
func (c *TypeCount) Merge(other *TypeCount) {
	c.Count.merge(other.Count)
	c.RawBytes += other.RawBytes
	c.References += other.References
	for i, n := range other.Generations {
		c.Generations[i].merge(n)
	}
}

// Scale multiplies the counts of each type by a number: those of a sample become estimates for the
// whole heap (DumpInfo.Multipliers).
func (h *Histogram) Scale(by []float32) {
	for i := range min(len(by), len(h.Counts)) {
		scale := func(n *uint64) { *n = uint64(float64(*n)*float64(by[i]) + 0.5) }
		c := &h.Counts[i]
		for _, n := range []*uint64{&c.Objects, &c.Bytes, &c.RawBytes, &c.References} {
			scale(n)
		}
		for g := range c.Generations {
			scale(&c.Generations[g].Objects)
			scale(&c.Generations[g].Bytes)
		}
	}
}

// Total returns the count of all types.
func (h *Histogram) Total() (all TypeCount) {
	for i := range h.Counts {
		all.Merge(&h.Counts[i])
	}
	return all
}

// aligned rounds a size up to the pointer size, which is a power of two.
func aligned(size uint64, pointerSize int) uint64 {
	unit := uint64(pointerSize)
	return (size + unit - 1) &^ (unit - 1)
}

// ReadHistogram counts the objects of the first complete heap walk in a nettrace stream, in one pass
// and without a Graph: its memory does not depend on the number of objects. Its errors are those of
// Read.
func ReadHistogram(r io.Reader) (*Histogram, error) {
	b, err := read(r, true)
	if b == nil {
		return nil, err
	}
	h, none := b.histogram()
	if err == nil {
		err = none
	}
	return h, err
}

// histogram returns what a Builder that counts has counted, or ErrNoWalk.
func (b *Builder) histogram() (*Histogram, error) {
	w := b.result()
	if w == nil {
		return nil, ErrNoWalk
	}
	h := &Histogram{
		PointerSize: b.pointerSize, Walk: w.Walk, Process: b.process, Modules: b.modules,
		Types: b.newTypeTable(w).types, Counts: w.counts,
	}
	h.setLayouts()
	return h, nil
}
