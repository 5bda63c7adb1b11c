package heap

import (
	"io"
	"slices"
	"strings"
)

// CountDump counts the objects in a .gcdump file of another tool, in one pass and without a Graph: its
// memory does not depend on the number of objects. What is unreachable remains unknown, and so does
// whether that is most of them, as in a file that was cut off: Walk.Unrooted.
//
// The error is ErrUncounted if that is not possible: if the file contains generations, because these
// come after the objects, if it does not show what is an object and what is a root, if gclog wrote it,
// and if it cannot be read. ReadDump says what is wrong with it.
func CountDump(r io.Reader) (*Histogram, *DumpInfo, error) {
	x := newDumpReader(r)
	x.census = &census{}
	d, err := x.file()
	if err != nil || d.private != nil || d.regions != nil || !x.census.drop(d.nodes.types) {
		return nil, nil, ErrUncounted
	}
	return x.census.histogram(d), &d.info, nil
}

// A census counts nodes in the order of their records, while they are read. Which node a record
// describes it does not know: the offsets of all records would take as much memory as the objects.
type census struct {
	counts    []counted // by type
	undefined []uint32  // nodes without a record
	zeros     uint64    // nodes with a record and without an address
	missing   uint64    // nodes with an address and without a record
	rooted    bool      // pseudo nodes refer to objects
	wrong     bool      // the records are not what is expected
}

// A counted is the count of a type. The size of a pointer comes after the nodes.
type counted struct {
	objects, raw, references uint64
	space4, space8           uint64 // rounded up
}

func (c *counted) add(size uint32, references int64) {
	c.objects++
	c.raw += uint64(size)
	c.references += uint64(references)
	c.space4 += aligned(uint64(size), 4)
	c.space8 += aligned(uint64(size), 8)
}

// maxUndefined is how many nodes without a record are remembered.
const maxUndefined = 1 << 20

// read reads the nodes of a graph from the list of offsets on.
func (x *census) read(r *dumpReader, n *nodeGraph, c class, nodes int) {
	x.counts = make([]counted, len(n.types))
	want := x.offsets(r, nodes)
	if got := x.records(r, n); got != want { // something is between the records, or several nodes share one
		x.wrong = true
	}
	if c.minReader >= 1 {
		n.deferredTypes(r)
	}
	x.addresses(r, nodes)
	n.end(r)
}

// offsets reads the offsets of the records, and returns a sum of them.
func (x *census) offsets(r *dumpReader, nodes int) (sum uint64) {
	for i := 0; i < nodes && r.err == nil; i++ {
		switch offset := r.u32(); {
		case offset > 0:
			sum += mix(offset)
		case len(x.undefined) < maxUndefined:
			x.undefined = append(x.undefined, uint32(i))
		default:
			x.wrong = true
		}
	}
	return sum
}

// mix makes a number of an offset. Different sets of offsets have different sums of these.
func mix(offset uint32) uint64 {
	x := uint64(offset) * 0x9e3779b97f4a7c15
	x = (x ^ x>>29) * 0xbf58476d1ce4e5b9
	return x ^ x>>32
}

// records counts the records, which follow each other. It returns the sum of their offsets. The first
// one describes the nodes that have none of their own.
func (x *census) records(r *dumpReader, n *nodeGraph) (sum uint64) {
	r.part = "the list of records"
	length := int64(r.count(1))
	start := r.offset()
	for r.err == nil && r.offset() < start+length {
		at := r.offset() - start
		typ, size, children := n.recordHead(r, uint32(at), start+length)
		for range children {
			r.cint()
		}
		if at == 0 || r.err != nil {
			continue
		}
		sum += mix(uint32(at))
		if typ > 0 || n.types[0].name != undefined {
			x.counts[typ].add(size, children)
		}
	}
	return sum
}

// addresses counts the nodes that have a record and no address.
func (x *census) addresses(r *dumpReader, nodes int) {
	r.part = "the list of addresses"
	if r.count(8) != nodes {
		x.wrong = true
		return
	}
	rest := x.undefined
	for i := 0; i < nodes && r.err == nil; i++ {
		address := r.u64()
		if len(rest) > 0 && int(rest[0]) == i {
			rest = rest[1:]
			if address != 0 {
				x.missing++
			}
		} else if address == 0 {
			x.zeros++
		}
	}
}

// drop removes the types of pseudo nodes, and reports whether it knows which these are. They have no
// address and all objects have one, so the numbers must agree.
func (x *census) drop(types []nodeType) bool {
	pseudos, references := uint64(0), uint64(0)
	for i := range types {
		switch t := &types[i]; {
		case !t.mayBePseudo(), x.counts[i].objects == 0:
		case strings.HasPrefix(t.name, "[]"): // as dotnet-gcdump calls types that the compiler has made
		case t.knownPseudo():
			pseudos += x.counts[i].objects
			references += x.counts[i].references
			x.counts[i] = counted{}
		default:
			return false
		}
	}
	x.rooted = pseudos == 0 || references >= pseudos // all but the first pseudo node are below another one
	return !x.wrong && x.zeros == pseudos
}

// knownPseudo reports whether the type has one of the usual names of pseudo nodes.
func (t *nodeType) knownPseudo() bool {
	switch t.name {
	case rootNode, staticsNode, threadStaticsNode, othersNode:
		return true
	}
	return slices.ContainsFunc(rootCategories, func(c rootCategory) bool { return c.name == t.name }) ||
		slices.ContainsFunc([]string{staticPrefix, threadPrefix, callablePrefix},
			func(s string) bool { return strings.HasPrefix(t.name, s) })
}

// histogram returns the counts by the types of a Graph.
func (x *census) histogram(d *dumpFile) *Histogram {
	g := &Graph{PointerSize: d.pointerSize()}
	used := make([]bool, len(x.counts))
	for i := range x.counts {
		used[i] = x.counts[i].objects > 0
	}
	index := d.types(g, used)
	canonicalize(g.Types)
	h := &Histogram{
		PointerSize: g.PointerSize, Process: Process{d.info.ProcessID, d.info.Process}, Modules: d.info.Modules,
		Types: g.Types, Counts: make([]TypeCount, len(g.Types)),
	}
	for i, n := range x.counts {
		if !used[i] {
			continue
		}
		count := Count{n.objects, n.space8}
		if g.PointerSize == 4 {
			count.Bytes = n.space4
		}
		c := TypeCount{Count: count, RawBytes: n.raw, References: n.references}
		c.Generations[UnknownGeneration] = count
		h.Counts[index[i]].Merge(&c)
		h.Walk.Objects += n.objects
		h.Walk.References += n.references
	}
	h.Walk.Rootless = h.Walk.Objects > 0 && !x.rooted
	d.cutCounts(&h.Walk, x.missing)
	return h
}
