package heap

import (
	"cmp"
	"iter"
	"slices"
)

// A Detector looks for a known kind of waste or leak.
type Detector string

// The detectors, in the order of Inspect.
const (
	DetectStrings       Detector = "strings"           // by length
	DetectLargeStrings  Detector = "large-strings"     // strings on the large object heap
	DetectSparseArrays  Detector = "sparse-arrays"     // arrays of references with less than half of their elements set
	DetectOverallocated Detector = "overallocated"     // collections with less than half of their capacity used
	DetectCollections   Detector = "collections"       // collections that retain much: caches, as a rule
	DetectHandlers      Detector = "event-handlers"    // events with many subscribers
	DetectClosures      Detector = "closures"          // classes that the compiler generates for lambdas and iterators
	DetectAsync         Detector = "pending-async"     // async methods that have not ended
	DetectTimers        Detector = "timers"            // by what they call
	DetectWeakTables    Detector = "weak-tables"       // entries of ConditionalWeakTables
	DetectFinalizers    Detector = "finalizer-queue"   // objects that wait for their finalizer
	DetectFinalizable   Detector = "finalizable"       // objects of types with a finalizer
	DetectPinned        Detector = "pinned"            // objects that the GC cannot move
	DetectFragmentation Detector = "fragmentation"     // regions that are empty for the most part
	DetectLargeObjects  Detector = "large-objects"     // the large object heap
	DetectBoxed         Detector = "boxed"             // value types as objects
	DetectStatics       Detector = "statics"           // objects in the arrays of static fields that have no name
	DetectDuplicates    Detector = "duplicate-types"   // the same type, loaded several times
	DetectCollectible   Detector = "collectible-types" // types of assemblies that can be unloaded
	DetectCOM           Detector = "com"               // wrappers of COM, on Windows
)

// A Detection is what a Detector found. It is empty if there is nothing to report.
type Detection struct {
	Detector Detector
	Missing  string // what the snapshot lacks for this Detector, as part of a sentence; "": nothing
	// Total counts what was found, also what is not in Rows.
	Total Detail
	Rows  []Detail // the largest first, at most 1000
}

// A Detail is a part of what a Detector found: objects of a type, a single object, or else what Name
// says. Numbers that a Detector does not have are 0.
type Detail struct {
	Name   string // if Type does not say it: a class of lengths, a region, the kind of root
	Type   int    // index in Graph.Types; NoType: objects of several types
	Object Object // NoObject: several
	Start  uint64 // address of a region
	Count
	Retained uint64     // bytes
	Slots    uint64     // elements of arrays, or capacity of collections
	Used     uint64     // used Slots; an estimate for collections
	Waste    uint64     // bytes that are not in use, of Slots or of a region
	Pinned   uint64     // objects in a region that cannot be moved
	Copies   uint64     // how often a type is loaded
	Other    int        // index in Graph.Types of another type, which depends on the Detector: see there; NoType: none
	Holder   string     // what holds the object, or most of the objects
	Chain    *CallChain // set by DetectAsync if the calls have no names
}

// NoType is no index in Graph.Types.
const NoType = -1

// Limits of what is worth reporting, whatever its size.
const (
	manyObjects  = 1000
	mostRows     = 1000
	manyHandlers = 16 // of an event
	manyTimers   = 10
	manyPinned   = 10
	manyAsync    = 100
)

// Inspect runs all detectors. Most of them report what has at least a number of bytes; some count
// objects, and some report everything. Only reachable objects count, except for Fragmentation.
func (d *Dominators) Inspect(p *Paths, least uint64) []Detection {
	x := &inspector{g: d.graph, d: d, p: p, least: least, tables: d.graph.staticTables(), children: d.children()}
	for i := range x.g.Types {
		t := &x.g.Types[i]
		class := t.class()
		x.classes = append(x.classes, class)
		x.parts = append(x.parts, isCollectionPart(class))
		x.detailed = x.detailed || t.Element != 0
		x.named = x.named || t.Name != ""
	}
	x.retained = d.RetainedByType()
	x.counts = make([]Count, len(x.g.Types))
	for o := range d.All {
		x.counts[x.g.Type(o)].add(x.g.Space(o))
	}
	x.held = p.holding()
	detectors := []struct {
		id     Detector
		detect func() Detection
		needs  *bool
	}{
		{DetectStrings, x.strings, &x.named},
		{DetectLargeStrings, x.largeStrings, &x.named},
		{DetectSparseArrays, x.sparseArrays, &x.detailed},
		{DetectOverallocated, x.overallocated, &x.detailed},
		{DetectCollections, x.collections, &x.named},
		{DetectHandlers, x.handlers, &x.detailed},
		{DetectClosures, x.closures, &x.named},
		{DetectAsync, x.async, &x.named},
		{DetectTimers, x.timers, &x.named},
		{DetectWeakTables, x.weakTables, nil},
		{DetectFinalizers, x.finalizers, nil},
		{DetectFinalizable, x.finalizable, &x.detailed},
		{DetectPinned, x.pinned, nil},
		{DetectFragmentation, x.fragmentation, nil},
		{DetectLargeObjects, x.largeObjects, nil},
		{DetectBoxed, x.boxed, &x.detailed},
		{DetectStatics, x.statics, nil},
		{DetectDuplicates, x.duplicates, &x.detailed},
		{DetectCollectible, x.collectible, &x.named},
		{DetectCOM, x.com, nil},
	}
	list := make([]Detection, len(detectors))
	for i, f := range detectors {
		switch {
		case f.needs == &x.named && !x.named:
			list[i].Missing = "the names of types"
		case f.needs == &x.detailed && !x.detailed:
			list[i].Missing = "what kinds of types there are"
		default:
			list[i] = f.detect()
		}
		list[i].Detector = f.id
	}
	return list
}

// An inspector has what several detectors need.
type inspector struct {
	g        *Graph
	d        *Dominators
	p        *Paths
	least    uint64 // bytes
	tables   map[Object]bool
	children adjacency
	named    bool     // types have names
	detailed bool     // types have element types and flags: not in files of other tools
	classes  []string // of types
	parts    []bool   // types that are parts of collections
	counts   []Count  // of the reachable objects of types
	retained []uint64 // by types
	held     []int32  // what holds each object: index in Paths.holders, or -1
}

// detail returns a Detail of a type.
func (x *inspector) detail(t int) Detail { return Detail{Type: t, Object: NoObject, Other: NoType} }

// ofObject returns the Detail of an object.
func (x *inspector) ofObject(o Object) Detail {
	return Detail{
		Type:     x.g.Type(o),
		Object:   o,
		Count:    Count{1, x.g.Space(o)},
		Retained: x.d.Retained(o),
		Other:    NoType,
		Holder:   x.holder(o),
	}
}

// ofType returns the Detail of all objects of a type.
func (x *inspector) ofType(t int) Detail {
	r := x.detail(t)
	r.Count, r.Retained = x.counts[t], x.retained[t]
	return r
}

// ofTypes returns those of the types for which a function returns true, if these have objects.
func (x *inspector) ofTypes(is func(t int) bool) (rows []Detail) {
	for t := range x.g.Types {
		if x.counts[t].Objects > 0 && is(t) {
			rows = append(rows, x.ofType(t))
		}
	}
	return rows
}

// objects lists the reachable objects of the types for which a function returns true.
func (x *inspector) objects(is func(t int) bool) iter.Seq[Object] {
	of := make([]bool, len(x.g.Types))
	for t := range of {
		of[t] = is(t)
	}
	return func(yield func(Object) bool) {
		for o := range x.d.All {
			if of[x.g.Type(o)] && !yield(o) {
				return
			}
		}
	}
}

// below returns the objects that an object dominates directly, by their numbers.
func (x *inspector) below(number uint32) []uint32 {
	return x.children.all[x.children.first[number]:x.children.first[number+1]]
}

func (x *inspector) holder(o Object) string {
	if i := x.held[o]; i >= 0 {
		return x.p.holders[i].String()
	}
	return ""
}

// report returns a Detection of rows, the largest first by a measure.
func (x *inspector) report(rows []Detail, measure func(*Detail) uint64) (found Detection) {
	found.Total = x.detail(NoType)
	for i := range rows {
		t, r := &found.Total, &rows[i]
		t.Objects += r.Objects
		t.Bytes += r.Bytes
		t.Retained += r.Retained
		t.Slots += r.Slots
		t.Used += r.Used
		t.Waste += r.Waste
		t.Pinned += r.Pinned
		t.Copies += r.Copies
	}
	slices.SortStableFunc(rows, func(a, b Detail) int {
		return cmp.Or(cmp.Compare(measure(&b), measure(&a)), cmp.Compare(b.Objects, a.Objects),
			cmp.Compare(a.Type, b.Type))
	})
	found.Rows = rows[:min(len(rows), mostRows)]
	return found
}

// The measures by which rows are ordered.
func byBytes(r *Detail) uint64    { return r.Bytes }
func byRetained(r *Detail) uint64 { return r.Retained }
func byWaste(r *Detail) uint64    { return r.Waste }
func byObjects(r *Detail) uint64  { return r.Objects }

// when keeps a Detection only if it is worth reporting.
func (d Detection) when(ok bool) Detection {
	if !ok {
		return Detection{Missing: d.Missing}
	}
	return d
}

// A tally counts objects in groups that have a key.
type tally[K comparable] struct {
	rows  []Detail
	index map[K]int
}

// row returns the row of a group; the first time it is what create returns.
func (t *tally[K]) row(key K, create func() Detail) *Detail {
	if t.index == nil {
		t.index = map[K]int{}
	}
	i, ok := t.index[key]
	if !ok {
		i = len(t.rows)
		t.index[key] = i
		t.rows = append(t.rows, create())
	}
	return &t.rows[i]
}

// A mode finds the most frequent value of several.
type mode[K comparable] map[K]uint64

func (m mode[K]) most(less func(a, b K) bool) (best K) {
	n := uint64(0)
	for k, count := range m {
		if count > n || count == n && less(k, best) {
			best, n = k, count
		}
	}
	return best
}

// mostOf returns the most frequent type, or NoType.
func mostOf(m mode[int]) int {
	if len(m) == 0 {
		return NoType
	}
	return m.most(func(a, b int) bool { return a < b })
}

// holding returns by object the index in holders of what holds the first object of its path, or -1.
func (p *Paths) holding() []int32 {
	held := make([]int32, len(p.from))
	for i := range held {
		held[i] = -1
	}
	for _, o := range p.order {
		if p.from[o] == o {
			held[o] = int32(p.holder[o])
		} else {
			held[o] = held[p.from[o]]
		}
	}
	return held
}
