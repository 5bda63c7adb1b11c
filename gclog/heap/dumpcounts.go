package heap

import (
	"errors"
	"io"
	"math"
)

// gclog writes how many objects of each type there are into its own part of a .gcdump file. Otherwise
// the objects would have to be kept until their generations come, at the end of the file.

// ErrUncounted reports that a .gcdump file does not contain how many objects of each type there are:
// gclog did not write it.
var ErrUncounted = errors.New("the file does not contain the counts of its objects")

// ReadDumpHistogram reads the counts of objects in a .gcdump file, in one pass and without a Graph:
// its memory does not depend on the number of objects. Only files of gclog contain counts. For others the
// error is ErrUncounted, and CountDump counts the objects; other errors are those of ReadDump.
// Counts of a sample are not scaled (DumpInfo.Multipliers), and Type.Events are not read.
func ReadDumpHistogram(r io.Reader) (*Histogram, *DumpInfo, error) {
	return ReadDumpHistogramWithin(r, math.MaxInt64)
}

// ReadDumpHistogramWithin is ReadDumpHistogram with the limit of ReadDumpWithin: a file can contain any
// number of types.
func ReadDumpHistogramWithin(r io.Reader, memory int64) (*Histogram, *DumpInfo, error) {
	x := newDumpReader(r)
	x.counting, x.limit = true, memory
	d, err := x.file()
	if err != nil {
		return nil, nil, err
	}
	h, err := d.histogram()
	return h, &d.info, err
}

// histogram returns the counts that gclog has written, and ErrUncounted if it has not.
func (d *dumpFile) histogram() (*Histogram, error) {
	if d.private == nil {
		return nil, ErrUncounted
	}
	g := &Graph{PointerSize: d.pointerSize()}
	counts, err := d.readPrivate(g, false)
	if err != nil {
		return nil, err
	}
	h := &Histogram{
		PointerSize: g.PointerSize,
		Walk:        g.Walk,
		Process:     Process{d.info.ProcessID, d.info.Process},
		Modules:     d.info.Modules,
		Types:       g.Types,
		Counts:      counts,
	}
	h.setLayouts()
	return h, nil
}

// skip skips the nodes.
func (n *nodeGraph) skip(r *dumpReader, c class, nodes int) {
	r.skip(4 * int64(nodes))
	r.part = "the list of records"
	r.skip(int64(r.count(1)))
	if c.minReader >= 1 {
		n.deferredTypes(r)
	}
	r.part = "the list of addresses"
	r.skip(8 * int64(r.count(8)))
	n.end(r)
}
