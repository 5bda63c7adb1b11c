package heap

import (
	"cmp"
	"errors"
	"io"
	"slices"
	"time"

	"github.com/gclog/gclog/gclog/stacks"
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

// ErrStop is the error of a reader whose content is not needed any more, as when it is too long. Read
// then makes no Graph of what has come.
var ErrStop = errors.New("the stream is not read any further")

// A Walk describes the heap walk that a Graph was made of, and what the stream lacks of it.
type Walk struct {
	Collection uint32     // number of the collection; 0: it is unknown
	Depth      uint32     // generation that it collected: below 2, objects may be dead
	Reason     clr.Reason // clr.ReasonInduced, if the walk was asked for
	Start, End int64      // ns since parse.Trace.SyncTime, of the collection, or of the walk if its start is missing
	Others     int        // other walks in the stream

	Lost       uint64 // events that the runtime dropped during the walk
	Gaps       bool   // events of the walk are missing, or their counts contradict each other
	Cut        bool   // the end of the walk is missing, or what a .gcdump file should contain: see Limited and Unrooted
	Limited    bool   // Cut, because the writer of a .gcdump file stopped at its limit of objects
	Unrooted   bool   // Cut, because most of the objects in a .gcdump file of another tool are unreachable
	Rootless   bool   // there are objects, but no root, without which none would be alive
	Objects    uint64 // objects in the walk
	References uint64 // references in these objects
	Unresolved uint64 // references and roots whose object is not in the walk
	NullRoots  uint64 // roots without an object, which are normal
}

// Complete reports whether nothing of the walk is missing. References are only known if it is.
func (w *Walk) Complete() bool { return w.Lost == 0 && !w.Gaps && !w.Cut && !w.Rootless }

// A Builder makes a Graph of the events of a stream. Nothing in a stream can be resolved before the
// collection ends: roots come after the objects, and types after the objects that have them.
type Builder struct {
	pointerSize int
	counting    bool // objects are counted, not stored
	types       map[uint64]*Type
	modules     Modules
	process     Process
	sync        time.Time         // parse.Trace.SyncTime; zero: unknown
	methods     map[uint64]string // names of roots on the stack by MethodDesc; "": unknown; nil until the first

	codes *addressCodes
	room  int64 // bytes of the stream that are expected

	notes     notes         // events about collections, from any thread
	body      *walk         // whose objects come now; nil: none
	waiting   []*walk       // walks that have ended, and whose start has not come
	ended     int64         // when the last collection before the next walk ended
	best      *walk         // the walk to use: the first complete one of a full collection, else the best
	connected chan *locator // receives what Graph starts with, if that began when the walk to use was complete
	seen      int           // walks

	undeclared bool // there were events of unknown kinds, which may have been the walk's
}

// NewBuilder returns a Builder for a process with pointers of 4 or 8 bytes.
func NewBuilder(pointerSize int) *Builder {
	return &Builder{
		pointerSize: pointerSize,
		types:       map[uint64]*Type{},
		modules:     Modules{},
		codes:       newAddressCodes(pointerSize),
	}
}

// count has objects counted, not stored.
func (b *Builder) count() { b.counting, b.notes.bounded = true, true }

// Reserve makes room for the first walk of a stream of a number of bytes. Without it the memory grows
// with the walk, and most of it is copied in the end. What is not used of the room takes addresses,
// but as a rule no memory: one for each byte of the stream, up to 4 GB, which is what a runtime
// buffers at most.
func (b *Builder) Reserve(bytes int64) { b.room = min(max(bytes, 0), 4<<30) }

// Wanted is the filter for parse.NewReader that delivers the events a Builder uses.
func Wanted(m *parse.Metadata) parse.Want {
	switch {
	case m.Provider == clr.RundownProvider:
		switch m.EventID {
		case clr.IDRundownModuleDCStart, clr.IDRundownModuleDCEnd, clr.IDRundownMethodDCEnd:
			return parse.Want{Deliver: true}
		}
		return parse.Want{}
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
		clr.IDGCBulkRootStaticVar, clr.IDGCBulkRootCCW, clr.IDGCBulkRCW, clr.IDGCPerHeapHistory,
		clr.IDGCGlobalHeapHistory, clr.IDModuleLoad:
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

// read passes the events of a stream to a Builder. It returns none if the stream has no head, or is not
// needed.
func read(r io.Reader, counting bool) (*Builder, error) {
	size := sizeOf(r)
	x := parse.NewReader(r, Wanted)
	trace, err := x.ReadTrace()
	if err != nil {
		return nil, err
	}
	b := NewBuilder(trace.PointerSize)
	b.process.ID = int(trace.ProcessID)
	if trace.Dated() {
		b.sync = trace.SyncTime
	}
	if counting {
		b.count()
	}
	b.Reserve(size)
	decoder := clr.NewDecoder(trace.PointerSize)
	for {
		for x.Scan() {
			if !b.Done() {
				b.undeclared = x.Stats().UnknownMetadata > 0
			}
			if l := x.Loss(); l != nil {
				b.Loss(l.To, uint64(l.Events))
				continue
			}
			e := x.Event()
			if typed, err := decoder.Decode(e); err != nil {
				b.Loss(e.Time, 1)
			} else {
				b.Event(e.Time, typed)
			}
		}
		switch err := x.Err(); {
		case errors.Is(err, ErrStop):
			return nil, err
		case !errors.Is(err, ErrPause):
			return b, err
		}
		x.Flush()
	}
}

// Done reports whether the walk is complete. What follows in the stream is not needed, except for
// the types that the walk uses.
func (b *Builder) Done() bool { return b.best != nil && b.best.rank() == perfect }

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
	case *clr.GCGenerationRange, *clr.GCGlobalHeapHistory, *clr.GCPerHeapHistory, *clr.GCBulkMovedRanges:
		if b.concerns(at) {
			b.notes.add(at, e)
		}
	case *clr.GCBulkNode:
		if w := b.walk(at, 2, e.Index); w != nil {
			w.nodes(e, b.pointerSize)
		}
	case *clr.GCBulkEdge:
		if w := b.walk(at, 3, e.Index); w != nil {
			w.edgesOf(e, b.pointerSize)
		}
	case *clr.GCBulkRootEdge:
		if w := b.walk(at, 0, e.Index); w != nil {
			w.rootsOf(e)
		}
	case *clr.GCBulkConditionalEdge:
		if w := b.walk(at, 1, e.Index); w != nil {
			w.dependentsOf(e)
		}
	case *clr.GCBulkRootStaticVar:
		if w := b.walk(at, noIndex, 0); w != nil {
			w.staticsOf(e)
		}
	case *clr.GCBulkRootCCW:
		if w := b.walk(at, noIndex, 0); w != nil {
			for i := range e.Count {
				x := e.At(i)
				w.wrapper(x.Object, true, x.Refs)
			}
		}
	case *clr.GCBulkRCW:
		if w := b.walk(at, noIndex, 0); w != nil {
			for i := range e.Count {
				x := e.At(i)
				w.wrapper(x.Object, false, x.Refs)
			}
		}
	}
}

// Loss handles a number of events that were lost, as was noticed at a time.
func (b *Builder) Loss(at int64, events uint64) {
	if b.concerns(at) {
		b.notes.addLoss(at, events)
	}
}

// concerns reports whether what was written at a time is about a walk that may be used.
func (b *Builder) concerns(at int64) bool {
	return !b.Done() || at >= b.best.Start && at <= b.best.End
}

const noIndex = -1

// walk returns the walk that an event of kind 16 + i is of, which it may begin, or nil if the walk is
// not needed. One thread writes these events, and the end of the collection: they come in order.
func (b *Builder) walk(at int64, i int, index uint32) *walk {
	if b.Done() {
		if i == 2 && index == 0 {
			b.seen++
		}
		return nil
	}
	if w := b.body; w != nil && i != noIndex && index == 0 && w.next[i] > 0 { // the end was lost
		b.cut(at)
	}
	if b.body == nil {
		b.body = b.newWalk(at)
	}
	if i == 2 || i == 3 { // the first objects or references take the memory
		b.body.room, b.room = max(b.body.room, b.room), 0
	}
	return b.body
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
		b.methods[e.ID] = stacks.Readable(e.Namespace.String(), e.Name.String())
	}
}

// newWalk returns a walk that begins.
func (b *Builder) newWalk(at int64) *walk {
	return &walk{
		opened: at, after: b.ended, notes: &b.notes, counting: b.counting, codes: b.codes, places: &places{},
		large: map[Object]uint64{}, known: map[rawRoot]bool{},
	}
}

// start handles the start of a collection. A walk that has ended may have waited for it.
func (b *Builder) start(at int64, e *clr.GCStart) {
	if !b.concerns(at) {
		return
	}
	b.notes.add(at, e)
	is := func(w *walk) bool { return w.Collection == e.Count && at <= w.opened && e.Type != clr.TypeBackground }
	if i := slices.IndexFunc(b.waiting, is); i >= 0 {
		w := b.waiting[i]
		b.waiting = slices.Delete(b.waiting, i, i+1)
		b.choose(w, &startNote{at, *e})
	}
}

// mostWaiting is how many walks can wait for their starts, and waitingNotes how many notes there may be
// until they have waited too long.
const (
	mostWaiting  = 8
	waitingNotes = 1 << 16
)

// end handles the end of a collection. Only a walk makes it one of a snapshot: the program's own
// collections look the same.
func (b *Builder) end(at int64, e *clr.GCEnd) {
	if b.notes.takeBackground(e.Count) {
		return
	}
	if b.body != nil && at >= b.body.opened {
		if s := b.notes.startOf(e.Count); s != nil && s.at > b.body.opened { // the end of the walk was lost
			b.cut(at)
		} else {
			b.finish(at, e, s)
		}
	}
	b.ended = at
	b.forget(at)
}

// finish ends a walk, given the start of its collection if that has come.
func (b *Builder) finish(at int64, e *clr.GCEnd, s *startNote) {
	w := b.body
	b.body = nil
	if w.Objects == 0 {
		return
	}
	b.seen++
	w.Collection, w.Depth, w.End, w.until = e.Count, e.Depth, at, at
	if s != nil {
		b.choose(w, s)
		return
	}
	if len(b.waiting) == mostWaiting {
		b.chooseStartless(b.waiting[0])
		b.waiting = slices.Delete(b.waiting, 0, 1)
	}
	b.waiting = append(b.waiting, w)
}

// forget removes the notes up to a time that nothing needs any more.
func (b *Builder) forget(at int64) {
	if b.body != nil || len(b.waiting) > 0 && b.notes.len() < waitingNotes {
		return
	}
	b.dropWaiting()
	from, to := int64(never), int64(never)
	if b.best != nil {
		from, to = b.best.from, b.best.until
	}
	b.notes.forget(at, from, to)
}

// dropWaiting gives up the hope that the starts of walks come.
func (b *Builder) dropWaiting() {
	for _, w := range b.waiting {
		b.chooseStartless(w)
	}
	b.waiting = nil
}

// cut ends a walk whose end does not come, as is noticed at a time.
func (b *Builder) cut(at int64) {
	w := b.body
	b.body = nil
	b.ended = w.opened
	if w.Objects == 0 {
		return
	}
	b.seen++
	w.Cut, w.until = true, at
	if s := w.start(); s != nil {
		w.Collection = s.Count
		b.choose(w, s)
	} else {
		b.chooseStartless(w)
	}
}

// choose chooses between a walk that has ended and the best before it.
func (b *Builder) choose(w *walk, s *startNote) {
	w.Start, w.from, w.Depth, w.Reason, w.blocking = s.at, s.at, s.Depth, s.Reason, s.Type == clr.TypeBlocking
	b.prefer(w)
}

// chooseStartless does so if the start of the collection is missing.
func (b *Builder) chooseStartless(w *walk) {
	w.Start, w.from, w.Gaps = w.opened, w.after, true
	b.prefer(w)
}

func (b *Builder) prefer(w *walk) {
	w.Lost = b.notes.lost(w.from, w.until)
	w.Rootless = !w.rooted
	if w.References != w.edges {
		w.Gaps = true
	}
	if b.best != nil && !w.better(b.best) {
		return
	}
	b.best = w
	if !b.Done() {
		return
	}
	b.waiting = nil
	if !b.counting && !b.undeclared {
		// What follows takes the runtime up to 100 ms: it sleeps before it ends its session.
		b.connected = make(chan *locator, 1)
		go func() { b.connected <- b.connect(w) }()
	}
}

// better reports whether a walk is to be used rather than another one: of those that lack something,
// the one with more objects.
func (w *walk) better(than *walk) bool {
	if !w.Complete() && !than.Complete() && w.Objects != than.Objects {
		return w.Objects > than.Objects
	}
	return w.rank() > than.rank()
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
	if b.body != nil {
		b.cut(never)
	}
	b.dropWaiting()
	w := b.best
	if w == nil {
		return nil
	}
	w.Lost = b.notes.lost(w.from, w.until)
	w.Others = b.seen - 1
	w.Gaps = w.Gaps || b.undeclared
	if w.counting {
		w.endCount(b.pointerSize)
	}
	return w
}

// Graph returns the Graph of the walk, or ErrNoWalk. It must be called once, when the stream has
// ended.
func (b *Builder) Graph() (*Graph, error) {
	var l *locator
	if b.connected != nil {
		l = <-b.connected
	}
	w := b.result()
	if w == nil {
		return nil, ErrNoWalk
	}
	if l == nil {
		l = b.connect(w)
	}
	b.best, b.connected = nil, nil
	g := l.g
	g.Walk.Lost, g.Walk.Gaps, g.Walk.Others = w.Lost, w.Gaps, w.Others
	g.Process, g.Modules = b.process, b.modules
	if !b.sync.IsZero() {
		g.Time = b.sync.Add(time.Duration(max(w.Start, w.End)))
	}
	if w.Complete() {
		g.ages = b.notes.layout(w.Start, w.opened).ages(g.address)
		g.regions = b.notes.after(w.Start, w.opened, w.until)
	} else { // references carry no source: after a gap nobody knows whose they are
		g.first, g.target = make([]uint32, len(g.address)+1), nil
	}
	l.resolveStatics(w, b.newTypeTable(w))
	g.setLayouts()
	l.resolveRoots(w)
	for id, name := range b.methods {
		if name != "" {
			g.addMethod(id, name)
		}
	}
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
