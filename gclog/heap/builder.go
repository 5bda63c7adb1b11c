package heap

import (
	"cmp"
	"errors"
	"io"
	"math"

	"github.com/gclog/gclog/parse"
	"github.com/gclog/gclog/parse/clr"
)

// ErrNoWalk reports that a stream contains no heap walk.
var ErrNoWalk = errors.New("the stream contains no heap walk")

// ErrPause is returned by a reader of a stream when everything about the walk has come, and the rest
// takes a while. Read makes use of what has come, and reads on.
var ErrPause error = pauseError{}

type pauseError struct{}

func (pauseError) Error() string { return "the stream pauses" }

// Timeout tells parse.Reader that the stream goes on.
func (pauseError) Timeout() bool { return true }

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

	codes *addressCodes
	room  int64 // bytes of the stream that are expected

	gc    *walk         // of the collection that is running, once it has begun
	best  *walk         // the walk to use: the first complete one of a full collection, else the best
	early chan *locator // receives what Graph starts with, if that began when the walk to use was complete
	late  uint64        // events of the walk to use whose loss was noticed after its end
	seen  int           // walks
	later bool          // a collection has begun since the walk to use, and it has no walk yet

	undeclared bool // there were events of unknown kinds, which may have been the walk's
}

// NewBuilder returns a Builder for a process with pointers of 4 or 8 bytes.
func NewBuilder(pointerSize int) *Builder {
	return &Builder{pointerSize: pointerSize, types: map[uint64]*Type{}, modules: Modules{}, codes: newAddressCodes(pointerSize)}
}

// Reserve makes room for the first walk of a stream of a number of bytes. Without it the memory grows
// with the walk, and most of it is copied in the end. What is not used of the room takes addresses,
// but as a rule no memory: one for each byte of the stream, up to 4 GB, which is what a runtime
// buffers at most.
func (b *Builder) Reserve(bytes int64) { b.room = min(max(bytes, 0), 4<<30) }

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
		clr.IDGCBulkRootStaticVar, clr.IDGCBulkRootCCW, clr.IDGCBulkRCW, clr.IDGCPerHeapHistory, clr.IDGCGlobalHeapHistory, clr.IDModuleLoad:
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
	size := sizeOf(r)
	x := parse.NewReader(r, Wanted)
	trace, err := x.ReadTrace()
	if err != nil {
		return nil, err
	}
	b := NewBuilder(trace.PointerSize)
	b.process.ID = int(trace.ProcessID)
	b.counting = counting
	b.Reserve(size)
	decoder := clr.NewDecoder(trace.PointerSize)
	for {
		for x.Scan() {
			if !b.Done() {
				b.undeclared = x.Stats().UnknownMetadata > 0
			}
			if l := x.Loss(); l != nil {
				b.lost(l.To, uint64(l.Events))
				continue
			}
			e := x.Event()
			if typed, err := decoder.Decode(e); err != nil {
				b.lost(e.Time, 1)
			} else {
				b.Event(e.Time, typed)
			}
		}
		if !errors.Is(x.Err(), ErrPause) {
			return b, x.Err()
		}
		if !counting { // objects are counted in the generations that events of other threads say
			x.Flush()
		}
	}
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

// lost handles events that were lost until a time.
func (b *Builder) lost(at int64, events uint64) {
	if b.isLate(at) {
		b.late += events
	} else {
		b.Loss(events)
	}
}

// isLate reports whether an event is of the walk to use, although that has ended: what another thread
// has written may come after a pause.
func (b *Builder) isLate(at int64) bool {
	return b.gc == nil && b.best != nil && at >= b.best.Start && at <= b.best.End
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
	switch {
	case b.isLate(at):
		switch e := e.(type) {
		case *clr.GCBulkMovedRanges:
			b.best.moves(e)
		case *clr.GCGenerationRange:
			b.best.rangeOf(at, e)
		}
	case b.gc == nil && !b.Done() && ofWalk(e):
		b.gc = b.newWalk(at)
		b.gc.early = true
	}
	if b.gc == nil {
		if _, walks := e.(*clr.GCBulkNode); walks && b.later {
			b.seen, b.later = b.seen+1, false
		}
		return
	}
	switch e := e.(type) {
	case *clr.GCGlobalHeapHistory, *clr.GCPerHeapHistory:
		b.gc.analyzed = min(b.gc.analyzed, at)
	case *clr.GCBulkNode:
		b.gc.analyzed = min(b.gc.analyzed, at)
		b.gc.nodes(e, b.pointerSize)
	case *clr.GCBulkEdge:
		b.gc.edgesOf(e, b.pointerSize)
	case *clr.GCBulkRootEdge:
		b.gc.rootsOf(e)
	case *clr.GCBulkRootStaticVar:
		b.gc.staticsOf(e)
	case *clr.GCBulkRootCCW:
		for i := range e.Count {
			x := e.At(i)
			b.gc.wrapper(x.Object, true, x.Refs)
		}
	case *clr.GCBulkRCW:
		for i := range e.Count {
			x := e.At(i)
			b.gc.wrapper(x.Object, false, x.Refs)
		}
	case *clr.GCBulkConditionalEdge:
		b.gc.dependentsOf(e)
	case *clr.GCGenerationRange:
		b.gc.rangeOf(at, e)
	case *clr.GCBulkMovedRanges:
		b.gc.moves(e)
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
	if w := b.gc; w != nil && w.early && at <= w.Start && e.Type != clr.TypeBackground && (w.End == 0 || w.Collection == e.Count) {
		w.identify(at, e)
		if w.End != 0 {
			b.finish()
		}
		return
	}
	if b.gc != nil && b.gc.Objects > 0 { // its end was lost
		b.gc.Cut = true
		b.finish()
	}
	b.gc = nil
	b.later = b.Done()
	if b.later || e.Type == clr.TypeBackground {
		return
	}
	b.gc = b.newWalk(at)
	b.gc.identify(at, e)
}

// newWalk returns a walk that begins.
func (b *Builder) newWalk(at int64) *walk {
	w := &walk{
		Walk: Walk{Start: at}, analyzed: math.MaxInt64, counting: b.counting, codes: b.codes, places: &places{},
		large: map[Object]uint64{}, known: map[rawRoot]bool{},
	}
	if b.seen == 0 {
		w.room = b.room
	}
	return w
}

// ofWalk reports whether an event is one of those of a collection that a walk uses. With server GC, they may come
// before the start of the collection, which another thread writes.
func ofWalk(e clr.Event) bool {
	switch e.(type) {
	case *clr.GCBulkNode, *clr.GCBulkEdge, *clr.GCBulkRootEdge, *clr.GCBulkRootStaticVar, *clr.GCBulkRootCCW, *clr.GCBulkRCW, *clr.GCBulkConditionalEdge,
		*clr.GCGlobalHeapHistory, *clr.GCPerHeapHistory, *clr.GCGenerationRange, *clr.GCBulkMovedRanges:
		return true
	}
	return false
}

// identify says which collection a walk is of.
func (w *walk) identify(at int64, e *clr.GCStart) {
	w.Collection, w.Depth, w.Reason, w.Start = e.Count, e.Depth, e.Reason, at
	w.blocking, w.early = e.Type == clr.TypeBlocking, false
}

// end ends a collection. Only a walk makes it one of a snapshot: the program's own collections look
// the same.
func (b *Builder) end(at int64, e *clr.GCEnd) {
	switch w := b.gc; {
	case w == nil:
	case w.early && w.Objects == 0: // it began before the stream
		b.gc = nil
	case w.early: // its start is late
		w.Collection, w.End = e.Count, at
	case e.Count == w.Collection:
		w.End = at
		b.finish()
	}
}

// finish chooses between the walk that ends and the best before it.
func (b *Builder) finish() {
	w := b.gc
	b.gc = nil
	if w == nil || w.Objects == 0 || w.early { // without a start nobody knows what was collected
		return
	}
	b.seen++
	if w.References != w.edges {
		w.Gaps = true
	}
	if b.best != nil && w.rank() <= b.best.rank() {
		return
	}
	b.best, b.late = w, 0
	if b.Done() && !b.counting && !b.undeclared {
		// What follows takes the runtime up to 100 ms: it sleeps before it ends its session.
		b.early = make(chan *locator, 1)
		go func() { b.early <- b.connect(w) }()
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

// result returns the walk to use when the stream has ended, or nil.
func (b *Builder) result() *walk {
	if w := b.gc; w != nil && w.Objects > 0 {
		w.Cut = true
		b.finish()
	}
	if b.best != nil {
		b.best.endCount(b.pointerSize)
		b.best.Lost += b.late
		b.best.Others = b.seen - 1
		b.best.Gaps = b.best.Gaps || b.undeclared
	}
	return b.best
}

// Graph returns the Graph of the walk, or ErrNoWalk. It must be called once, when the stream has
// ended.
func (b *Builder) Graph() (*Graph, error) {
	var l *locator
	if b.early != nil {
		l = <-b.early
	}
	w := b.result()
	if w == nil {
		return nil, ErrNoWalk
	}
	if l == nil {
		l = b.connect(w)
	}
	b.best, b.early = nil, nil
	g := l.g
	g.Walk.Lost, g.Walk.Gaps, g.Walk.Others = w.Lost, w.Gaps, w.Others
	g.Process, g.Modules = b.process, b.modules
	if !w.Complete() { // references carry no source: after a gap nobody knows whose they are
		g.first, g.target = make([]uint32, len(g.address)+1), nil
	}
	g.ages = w.layout().ages(g.address)
	l.resolveStatics(w, b.newTypeTable(w))
	l.resolveRoots(w)
	for id, name := range b.methods {
		if name != "" {
			g.addMethod(id, name)
		}
	}
	g.regions = w.after
	sortRanges(g.regions)
	return g, nil
}

// connect makes a Graph of the objects of a walk and, if it is complete, their references.
func (b *Builder) connect(w *walk) *locator {
	g := &Graph{PointerSize: b.pointerSize, Walk: w.Walk}
	g.address, g.size, g.typ, g.large = w.address.flat(), w.size.flat(), w.typ.flat(), w.large
	g.index = newAddressIndex(g.address)
	l := &locator{g: g, codes: b.codes, places: w.places}
	if w.Complete() {
		w.first.add(uint32(w.References))
		g.first = w.first.flat()
		l.resolveReferences(w)
	}
	return l
}
