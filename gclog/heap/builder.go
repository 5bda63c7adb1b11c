package heap

import (
	"cmp"
	"errors"
	"io"
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/gclog/gclog/parse"
	"github.com/gclog/gclog/parse/clr"
)

// ErrNoWalk reports that a stream contains no heap walk.
var ErrNoWalk = errors.New("the stream contains no heap walk")

// A Walk describes the heap walk that a Graph was made of, and what the stream lacks of it.
type Walk struct {
	Collection uint32     // number of the collection
	Depth      uint32     // generation that it collected: below 2, objects may be dead
	Reason     clr.Reason // clr.ReasonInduced, if the walk was asked for
	Start, End int64      // of the collection, in nanoseconds since parse.Trace.SyncTime
	Others     int        // other walks in the stream

	Lost       uint64 // events that the runtime dropped during the walk
	Gaps       bool   // events of the walk are missing, or their counts contradict each other
	Cut        bool   // the stream ends before the collection does
	Objects    uint64 // that the walk contains
	References uint64 // that these objects have
	Unresolved uint64 // references and roots whose object is not in the walk
	NullRoots  uint64 // roots without an object, which are normal
}

// Complete reports whether nothing of the walk is missing. References are only known if it is.
func (w *Walk) Complete() bool { return w.Lost == 0 && !w.Gaps && !w.Cut }

// A Builder makes a Graph of the events of a stream. Nothing in a stream can be resolved before the
// collection ends: roots come after the objects, and types after the objects that have them.
type Builder struct {
	pointerSize int
	counting    bool // objects are counted, not stored
	types       map[uint64]*Type
	modules     Modules
	process     Process
	methods     map[uint64]string // of roots on the stack, by MethodDesc; "": its name has not come. nil until the first method

	gc   *walk // of the collection that is running, once it has begun
	best *walk // the walk to use: the first complete one of a full collection, else the best
	seen int   // walks
}

// A walk is what a collection has shown.
type walk struct {
	Walk
	blocking bool
	analyzed bool // the collection's own events have come: ranges that follow are those after it

	counts  map[uint64]*TypeCount // by type id; nil: objects are stored
	counted []uint64              // its keys in the order of the walk

	address column[uint64]
	size    column[uint32]
	typ     column[uint64] // ids
	first   column[uint32]
	target  column[uint64] // addresses
	large   map[Object]uint64
	edges   uint64 // that were seen; Walk.References are those that the objects have

	roots      []rawRoot
	known      map[rawRoot]bool
	statics    []rawStatic
	dependents []clr.ConditionalEdge
	before     []generationRange // ranges before the collection
	after      []generationRange // and after it
	moved      []clr.MovedRange
	sorted     *layout // of these; nil until the first object

	next [4]uint32 // expected Index of events 16 to 19
}

type rawRoot struct {
	node, id uint64
	kind     clr.RootKind
	flags    RootFlags
}

type rawStatic struct {
	slot, object, typ uint64
	field             string
}

// NewBuilder returns a Builder for a process with pointers of 4 or 8 bytes.
func NewBuilder(pointerSize int) *Builder {
	return &Builder{pointerSize: pointerSize, types: map[uint64]*Type{}, modules: Modules{}}
}

// Wanted is the filter for parse.NewReader that delivers the events a Builder uses.
func Wanted(m *parse.Metadata) parse.Want {
	switch {
	case m.Provider == clr.RundownProvider:
		return parse.Want{Deliver: m.EventID == clr.IDRundownModuleDCStart || m.EventID == clr.IDRundownModuleDCEnd || m.EventID == clr.IDRundownMethodDCEnd}
	case m.Provider == clr.EventPipeProvider:
		return parse.Want{Deliver: m.EventID == clr.IDProcessInfo}
	case m.Provider == clr.RecordingProvider:
		return parse.Want{Deliver: m.EventID == clr.IDRecordedProcess}
	case m.Provider != clr.RuntimeProvider:
		return parse.Want{}
	}
	switch m.EventID {
	case clr.IDGCStart, clr.IDGCEnd, clr.IDBulkType, clr.IDGCBulkRootEdge, clr.IDGCBulkRootConditionalEdge,
		clr.IDGCBulkNode, clr.IDGCBulkEdge, clr.IDGCBulkMovedRanges, clr.IDGCGenerationRange,
		clr.IDGCBulkRootStaticVar, clr.IDGCPerHeapHistory, clr.IDGCGlobalHeapHistory, clr.IDModuleLoad:
		return parse.Want{Deliver: true}
	}
	return parse.Want{}
}

// Read reads a nettrace stream and returns the Graph of its first complete heap walk. If there is
// none, the Graph is what is known of an incomplete one: its Walk says what is missing. The error is
// ErrNoWalk, or why the stream could not be read. With a *parse.FormatError there may be a Graph as
// well, of what precedes the damage.
func Read(r io.Reader) (*Graph, error) {
	b, err := read(r, false)
	if b == nil {
		return nil, err
	}
	g, none := b.Graph()
	if err == nil {
		err = none
	}
	return g, err
}

// read passes the events of a stream to a Builder. It returns none if the stream has no head.
func read(r io.Reader, counting bool) (*Builder, error) {
	x := parse.NewReader(r, Wanted)
	trace, err := x.ReadTrace()
	if err != nil {
		return nil, err
	}
	b := NewBuilder(trace.PointerSize)
	b.process.ID = int(trace.ProcessID)
	b.counting = counting
	decoder := clr.NewDecoder(trace.PointerSize)
	for x.Scan() {
		if l := x.Loss(); l != nil {
			b.Loss(uint64(l.Events))
			continue
		}
		e := x.Event()
		if typed, err := decoder.Decode(e); err != nil {
			b.Loss(1)
		} else {
			b.Event(e.Time, typed)
		}
	}
	return b, x.Err()
}

// Done reports whether the walk is complete. What follows in the stream is not needed, except for
// the types that the walk uses.
func (b *Builder) Done() bool { return b.best != nil && b.best.rank() == perfect }

// Loss handles a number of events that were lost.
func (b *Builder) Loss(events uint64) {
	if b.gc != nil {
		b.gc.Lost += events
	}
}

// Event handles the next event; at is its time.
func (b *Builder) Event(at int64, e clr.Event) {
	switch e := e.(type) {
	case *clr.BulkType:
		b.addTypes(e)
	case *clr.Module:
		if path := e.ILPath.String(); path != "" {
			b.modules[e.ID] = path
		}
	case *clr.RecordedProcess:
		b.process.Name = e.Name.String()
	case *clr.ProcessInfo:
		b.process.Name = cmp.Or(b.process.Name, programOf(e.CommandLine.String()))
	case *clr.Method:
		b.method(e)
	case *clr.GCStart:
		b.start(at, e)
	case *clr.GCEnd:
		b.end(at, e)
	}
	if b.gc == nil {
		return
	}
	switch e := e.(type) {
	case *clr.GCGlobalHeapHistory, *clr.GCPerHeapHistory:
		b.gc.analyzed = true
	case *clr.GCBulkNode:
		b.gc.nodes(e, b.pointerSize)
	case *clr.GCBulkEdge:
		b.gc.edgesOf(e)
	case *clr.GCBulkRootEdge:
		b.gc.rootsOf(e)
	case *clr.GCBulkRootStaticVar:
		b.gc.staticsOf(e)
	case *clr.GCBulkConditionalEdge:
		b.gc.index(1, e.Index)
		for i := range e.Count {
			b.gc.dependents = append(b.gc.dependents, e.At(i))
		}
	case *clr.GCGenerationRange:
		b.gc.rangeOf(e)
	case *clr.GCBulkMovedRanges:
		for i := range e.Count {
			b.gc.moved = append(b.gc.moved, e.At(i))
		}
	}
}

// addTypes keeps the declarations of types, the newest for each id: an address may be used again
// after an assembly was unloaded.
func (b *Builder) addTypes(e *clr.BulkType) {
	var t clr.Type
	for e.Next(&t) {
		parameters := make([]uint64, t.NumParameters)
		for i := range parameters {
			parameters[i] = t.Parameter(i)
		}
		b.types[t.ID] = &Type{
			ID: t.ID, Module: t.Module, Token: t.NameID, Flags: t.Flags, Element: t.ElementType,
			Parameters: parameters, Name: t.Name.String(),
		}
	}
}

// method handles a method. They come after the walk; only those that hold an object are kept.
func (b *Builder) method(e *clr.Method) {
	if b.best == nil || b.counting {
		return
	}
	if b.methods == nil {
		b.methods = map[uint64]string{}
		for i := range b.best.roots {
			if r := &b.best.roots[i]; r.kind == RootStack && r.id != 0 {
				b.methods[r.id] = ""
			}
		}
	}
	if _, holds := b.methods[e.ID]; holds {
		b.methods[e.ID] = e.Namespace.String() + "." + e.Name.String()
	}
}

// start begins a collection. That of a background collection, in which others run, is not a walk's.
func (b *Builder) start(at int64, e *clr.GCStart) {
	b.gc = nil
	if b.Done() || e.Type == clr.TypeBackground {
		return
	}
	b.gc = &walk{
		Walk:     Walk{Collection: e.Count, Depth: e.Depth, Reason: e.Reason, Start: at},
		blocking: e.Type == clr.TypeBlocking, large: map[Object]uint64{}, known: map[rawRoot]bool{},
	}
	if b.counting {
		b.gc.counts = map[uint64]*TypeCount{}
	}
}

// end ends a collection. Only a walk makes it one of a snapshot: the program's own collections look
// the same.
func (b *Builder) end(at int64, e *clr.GCEnd) {
	w := b.gc
	if w == nil || e.Count != w.Collection {
		return
	}
	w.End = at
	b.finish()
}

// finish chooses between the walk that ends and the best before it.
func (b *Builder) finish() {
	w := b.gc
	b.gc = nil
	if w == nil || w.Objects == 0 {
		return
	}
	b.seen++
	if w.References != w.edges {
		w.Gaps = true
	}
	if b.best == nil || w.rank() > b.best.rank() {
		b.best = w
	}
}

// perfect is the rank of a complete walk after a full blocking collection.
const perfect = 3

func (w *walk) rank() (n int) {
	if w.Complete() {
		n += 2
	}
	if w.Depth >= 2 && w.blocking {
		n++
	}
	return n
}

// index checks the sequence number of an event of kind 16 + i.
func (w *walk) index(i int, index uint32) {
	if index != w.next[i] {
		w.Gaps = true
	}
	w.next[i] = index + 1
}

func (w *walk) nodes(e *clr.GCBulkNode, pointerSize int) {
	w.index(2, e.Index)
	for i := range e.Count {
		n := e.At(i)
		n.Edges = min(n.Edges, math.MaxUint32) // more is false, and the sum must not overflow
		switch {
		case w.counts != nil:
			w.count(n, pointerSize)
		case w.address.n == int(NoObject) || w.References+n.Edges > math.MaxUint32:
			w.Gaps = true // more than a Graph can hold
			return
		default:
			w.store(n)
		}
		w.Objects++
		w.References += n.Edges
	}
}

func (w *walk) store(n clr.Node) {
	size := uint32(largeSize)
	if n.Size < largeSize {
		size = uint32(n.Size)
	} else {
		w.large[Object(w.address.n)] = n.Size
	}
	w.address.add(n.Address)
	w.size.add(size)
	w.typ.add(n.TypeID)
	w.first.add(uint32(w.References))
}

func (w *walk) edgesOf(e *clr.GCBulkEdge) {
	w.index(3, e.Index)
	w.edges += uint64(e.Count)
	if w.counts != nil {
		return
	}
	for i := range e.Count {
		w.target.add(e.At(i).Target)
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
		r := rawRoot{node: root.Node, id: root.Root, kind: root.Kind, flags: RootFlags(root.Flags)}
		if !w.known[r] {
			w.known[r] = true
			w.roots = append(w.roots, r)
		}
	}
}

func (w *walk) staticsOf(e *clr.GCBulkRootStaticVar) {
	var v clr.StaticVar
	for e.Next(&v) {
		if v.Object != 0 {
			w.statics = append(w.statics, rawStatic{v.Root, v.Object, v.TypeID, v.Field.String()})
		}
	}
}

func (w *walk) rangeOf(e *clr.GCGenerationRange) {
	r := generationRange{start: e.Start, end: e.Start + e.Used, generation: Generation(e.Generation)}
	switch {
	case e.Used == 0 || r.end < r.start || r.generation > POH:
	case w.analyzed || w.Objects > 0:
		w.after = append(w.after, r)
	default:
		w.before = append(w.before, r)
	}
}

// result returns the walk to use when the stream has ended, or nil.
func (b *Builder) result() *walk {
	if w := b.gc; w != nil && w.Objects > 0 {
		w.Cut = true
		b.finish()
	}
	if b.best != nil {
		b.best.Others = b.seen - 1
	}
	return b.best
}

// Graph returns the Graph of the walk, or ErrNoWalk. It must be called once, when the stream has
// ended.
func (b *Builder) Graph() (*Graph, error) {
	w := b.result()
	if w == nil {
		return nil, ErrNoWalk
	}
	b.best = nil
	g := &Graph{PointerSize: b.pointerSize, Walk: w.Walk, Process: b.process, Modules: b.modules}
	g.address, g.size, g.large = w.address.flat(), w.size.flat(), w.large
	g.index = newAddressIndex(g.address)
	b.resolveTypes(g, w)
	if w.Complete() {
		w.first.add(uint32(w.References))
		g.first = w.first.flat()
		g.resolveReferences(&w.target)
	} else { // references carry no source: after a gap nobody knows whose they are
		g.first = make([]uint32, len(g.address)+1)
	}
	g.resolveRoots(w)
	for id, name := range b.methods {
		if name != "" {
			g.addMethod(id, name)
		}
	}
	g.regions = w.after
	sortRanges(g.regions)
	g.ages = w.layout().ages(g.address)
	return g, nil
}

// A typeTable is the list of the types that are used, in the order of their first use.
type typeTable struct {
	declared map[uint64]*Type
	types    []Type
	byID     map[uint64]int
	unknown  int // types that the stream does not declare
}

func (b *Builder) newTypeTable() *typeTable {
	return &typeTable{declared: b.types, byID: map[uint64]int{}}
}

// index returns the index in types of a type.
func (t *typeTable) index(id uint64) int {
	i, ok := t.byID[id]
	if !ok {
		known := t.declared[id]
		if known == nil {
			known = &Type{ID: id}
			t.unknown++
		}
		i = len(t.types)
		t.byID[id] = i
		t.types = append(t.types, *known)
		t.types[i].Definition = t.definition(known)
	}
	return i
}

// definition returns the token of a type, and for arrays that of their elements: arrays of arrays
// too. The elements need not have objects.
func (t *typeTable) definition(of *Type) uint32 {
	const rows, depth = 0xffffff, 32
	for range depth {
		if of == nil || of.Token&rows != 0 || len(of.Parameters) != 1 {
			break
		}
		if element := t.declared[of.Parameters[0]]; element == nil || element.Module != of.Module {
			return of.Token
		} else {
			of = element
		}
	}
	return of.Token
}

// resolveTypes finds the types of the objects and of the static fields.
func (b *Builder) resolveTypes(g *Graph, w *walk) {
	t := b.newTypeTable()
	g.typ = make([]uint32, 0, w.typ.n)
	var last uint64
	for i, chunk := range w.typ.chunks {
		for _, id := range chunk {
			if n := len(g.typ); n > 0 && id == last {
				g.typ = append(g.typ, g.typ[n-1]) // objects of a type often follow each other
				continue
			}
			g.typ = append(g.typ, uint32(t.index(id)))
			last = id
		}
		w.typ.chunks[i] = nil
	}
	for _, v := range w.statics {
		if o := g.index.find(g.address, v.object); o != NoObject {
			g.Statics = append(g.Statics, Static{Slot: v.slot, Object: o, Type: t.index(v.typ), Field: v.field})
		} else {
			g.Walk.Unresolved++
		}
	}
	g.Types, g.unknowns = t.types, t.unknown
}

// resolveReferences replaces the addresses of the references by objects.
func (g *Graph) resolveReferences(addresses *column[uint64]) {
	g.target = make([]Object, addresses.n)
	var (
		work       sync.WaitGroup
		unresolved = make([]uint64, len(addresses.chunks))
		at         int
		next       atomic.Int64
	)
	starts := make([]int, len(addresses.chunks))
	for i, chunk := range addresses.chunks {
		starts[i] = at
		at += len(chunk)
	}
	for range runtime.GOMAXPROCS(0) {
		work.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(starts); i = int(next.Add(1)) - 1 {
				targets := g.target[starts[i]:]
				for k, address := range addresses.chunks[i] {
					if targets[k] = g.index.find(g.address, address); targets[k] == NoObject {
						unresolved[i]++
					}
				}
				addresses.chunks[i] = nil
			}
		})
	}
	work.Wait()
	for _, n := range unresolved {
		g.Walk.Unresolved += n
	}
	if g.Walk.Unresolved > 0 {
		g.dropUnresolved()
	}
}

// dropUnresolved removes references to no object.
func (g *Graph) dropUnresolved() {
	kept := uint32(0)
	for o := range g.address {
		from, to := g.first[o], g.first[o+1]
		g.first[o] = kept
		for _, t := range g.target[from:to] {
			if t != NoObject {
				g.target[kept] = t
				kept++
			}
		}
	}
	g.first[len(g.address)] = kept
	g.target = g.target[:kept]
}

// resolveRoots finds the objects of the roots and of the entries of ConditionalWeakTables.
func (g *Graph) resolveRoots(w *walk) {
	for _, r := range w.roots {
		if o := g.index.find(g.address, r.node); o != NoObject {
			g.Roots = append(g.Roots, Root{Object: o, Kind: r.kind, Flags: r.flags, ID: r.id})
		} else {
			g.Walk.Unresolved++
		}
	}
	for _, d := range w.dependents {
		key, value := g.index.find(g.address, d.Key), g.index.find(g.address, d.Value)
		if key != NoObject && value != NoObject {
			g.Dependents = append(g.Dependents, Dependent{key, value})
		} else if d.Key != 0 && d.Value != 0 {
			g.Walk.Unresolved++
		}
	}
	slices.SortFunc(g.Dependents, func(a, b Dependent) int {
		return cmp.Or(cmp.Compare(a.Key, b.Key), cmp.Compare(a.Value, b.Value))
	})
}
