package heap

import (
	"bufio"
	"cmp"
	"encoding/binary"
	"errors"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/gclog/gclog/parse/clr"
)

// WriteTrace writes the Graph as a recording: a .nettrace stream with the events with which a runtime
// describes its heap. Exact names, and the classes that declare static fields, are not in these events:
// Graph.Resolve finds them again. What a file of another tool lacks is made up where the events need
// it: the ids of types. A Graph that lacks references is an error.
func (g *Graph) WriteTrace(w io.Writer, info *DumpInfo) error {
	if !g.Walk.Complete() {
		return errors.New("the walk is incomplete")
	}
	t := &traceWriter{w: bufio.NewWriterSize(w, 1<<20), g: g, types: typeIDs(g)}
	depth, reason := g.Walk.Depth, g.Walk.Reason
	if g.Walk.Collection == 0 { // unknown
		depth, reason = 2, clr.ReasonInduced
	}
	t.begin(info)
	t.event(traceGCStart, t.payload().u32(g.Walk.Collection, depth, uint32(reason), uint32(clr.TypeBlocking)).u16(0).u64(0))
	t.before()
	t.declareTypes()
	t.statics()
	t.objects()
	t.roots()
	t.wrappers()
	for _, r := range g.regions {
		t.generationRange(r)
	}
	t.event(traceGCEnd, t.payload().u32(g.Walk.Collection, depth).u16(0))
	t.rundown(info.Modules)
	_ = t.w.WriteByte(traceNull) // the end of the stream; Flush returns the error
	return t.w.Flush()
}

// typeIDs returns the ids of the types. Those of files of other tools have none.
func typeIDs(g *Graph) []uint64 {
	ids, most := make([]uint64, len(g.Types)), uint64(0)
	for i := range g.Types {
		ids[i] = g.Types[i].ID
		most = max(most, ids[i])
	}
	for i := range ids {
		if ids[i] == 0 {
			most += 8
			ids[i] = most
		}
	}
	return ids
}

// A traceWriter writes a nettrace stream of version 4, with a block for each event.
type traceWriter struct {
	w     *bufio.Writer
	off   int // of what was written
	g     *Graph
	types []uint64 // ids
	seq   uint64   // number and time of the last event
}

// The tags of the container. They are not those of a .gcdump file.
const (
	traceNull  = 1
	traceBegin = 5
	traceEnd   = 6
)

// The metadata ids of the kinds of events.
const (
	traceProcess = iota + 1
	traceGCStart
	traceGCEnd
	traceTypes
	traceRoots
	traceDependents
	traceNodes
	traceEdges
	traceRange
	traceRCW
	traceCCW
	traceStatics
	traceModule
	traceMethod
)

var traceKinds = map[uint64]struct {
	provider string
	id       int
	version  uint32
}{
	traceProcess:    {clr.RecordingProvider, clr.IDRecordedProcess, 1},
	traceGCStart:    {clr.RuntimeProvider, clr.IDGCStart, 2},
	traceGCEnd:      {clr.RuntimeProvider, clr.IDGCEnd, 1},
	traceTypes:      {clr.RuntimeProvider, clr.IDBulkType, 0},
	traceRoots:      {clr.RuntimeProvider, clr.IDGCBulkRootEdge, 0},
	traceDependents: {clr.RuntimeProvider, clr.IDGCBulkRootConditionalEdge, 0},
	traceNodes:      {clr.RuntimeProvider, clr.IDGCBulkNode, 0},
	traceEdges:      {clr.RuntimeProvider, clr.IDGCBulkEdge, 0},
	traceRange:      {clr.RuntimeProvider, clr.IDGCGenerationRange, 0},
	traceRCW:        {clr.RuntimeProvider, clr.IDGCBulkRCW, 0},
	traceCCW:        {clr.RuntimeProvider, clr.IDGCBulkRootCCW, 0},
	traceStatics:    {clr.RuntimeProvider, clr.IDGCBulkRootStaticVar, 0},
	traceModule:     {clr.RundownProvider, clr.IDRundownModuleDCEnd, 1},
	traceMethod:     {clr.RundownProvider, clr.IDRundownMethodDCEnd, 1},
}

// begin writes what precedes the events of the runtime.
func (t *traceWriter) begin(info *DumpInfo) {
	at := t.g.at(info).UTC()
	if at.IsZero() {
		at = time.Unix(0, 0).UTC() // unknown, see parse.Trace.SyncTime
	}
	const preamble = "!FastSerialization.1"
	t.write(append(t.payload().raw("Nettrace").u32(uint32(len(preamble))).b, preamble...))
	t.object("Trace", 4)
	p := t.payload()
	for _, n := range []int{at.Year(), int(at.Month()), int(at.Weekday()), at.Day(), at.Hour(), at.Minute(), at.Second(), at.Nanosecond() / 1e6} {
		p.u16(uint16(n))
	}
	process := Process{cmp.Or(t.g.Process.ID, info.ProcessID), cmp.Or(t.g.Process.Name, info.Process)}
	p.u64(0, uint64(time.Second)) // the clock, and its ticks per second
	t.write(append(p.u32(uint32(t.g.PointerSize), uint32(process.ID), 0, 0).b, traceEnd))
	for _, id := range slices.Sorted(maps.Keys(traceKinds)) {
		k := traceKinds[id]
		p := t.payload().u32(uint32(id)).text(k.provider).u32(uint32(k.id)).text(clr.Name(k.provider, k.id))
		t.block("MetadataBlock", 0, p.u64(0).u32(k.version, clr.LevelInformational, 0))
	}
	recorded := &clr.RecordedProcess{Name: clr.EncodeUTF16(process.Name), Snapshot: true}
	t.event(traceProcess, &tracePayload{b: clr.AppendRecordedProcess(nil, recorded)})
}

func (t *traceWriter) write(b []byte) {
	n, _ := t.w.Write(b) // Flush returns the error
	t.off += n
}

func (t *traceWriter) object(name string, version uint32) {
	t.write(append(t.payload().raw("\x05\x05\x01").u32(version, version, uint32(len(name))).raw(name).b, traceEnd))
}

// block writes a block with a row of a kind, whose metadata id is given; 0 for metadata.
func (t *traceWriter) block(name string, kind uint64, p *tracePayload) {
	const (
		headerSize, compressed              = 20, 1
		hasKind, hasThread, sorted, hasSize = 0x01 | 0x02, 0x04, 0x40, 0x80
		noProcessor                         = 0xffffffff
	)
	row := t.payload().u16(headerSize, compressed).u64(t.seq, t.seq)
	b := append(row.b, hasKind|hasThread|sorted|hasSize)
	number, thread := uint64(0), uint64(0)
	if kind > 0 {
		number, thread = t.seq-1, 1
	}
	for _, n := range []uint64{kind, number, thread, noProcessor, thread, t.seq, uint64(len(p.b))} {
		b = binary.AppendUvarint(b, n)
	}
	t.object(name, 2)
	size := binary.LittleEndian.AppendUint32(nil, uint32(len(b)+len(p.b)))
	t.write(size)
	t.write(make([]byte, -t.off&3)) // aligns the contents
	t.write(b)
	t.write(p.b)
	t.write([]byte{traceEnd})
}

func (t *traceWriter) event(kind uint64, p *tracePayload) {
	t.seq++
	t.block("EventBlock", kind, p)
}

// bulk writes events with n elements of size bytes. The events of a kind are numbered.
func (t *traceWriter) bulk(kind uint64, n, size int, element func(p *tracePayload, i int)) {
	const most = 60_000 // bytes of an event
	each := most / size
	for from := 0; from < n; from += each {
		count := min(each, n-from)
		p := t.payload().u32(uint32(from/each), uint32(count)).u16(0)
		for i := range count {
			element(p, from+i)
		}
		t.event(kind, p)
	}
}

// before writes the layout of the generations before the collection, as if no object had moved since.
func (t *traceWriter) before() {
	g := t.g
	if g.ages == nil {
		return
	}
	var r generationRange
	flush := func() {
		if r.end > r.start {
			t.generationRange(r)
		}
		r = generationRange{}
	}
	for o := range g.index.all {
		age := g.ages[o]
		if age > POH || age != r.generation || r.end == 0 {
			flush()
			r = generationRange{start: g.address[o], generation: age}
		}
		if age <= POH {
			r.end = g.address[o] + g.Space(o)
		}
	}
	flush()
}

func (t *traceWriter) generationRange(r generationRange) {
	t.event(traceRange, t.payload().u8(uint8(r.generation)).pointer(r.start).u64(r.end-r.start, r.end-r.start).u16(0))
}

func (t *traceWriter) declareTypes() {
	declared := map[uint64]bool{}
	for i := range t.g.Types {
		if t.g.Types[i].Name != "" {
			declared[t.types[i]] = true
			t.declare(t.types[i], &t.g.Types[i])
		}
	}
	// The elements of arrays and the generic arguments may be of types that no object has. Only of
	// elements is the definition known.
	for _, arrays := range []bool{true, false} {
		for i := range t.g.Types {
			x := &t.g.Types[i]
			if x.Kinds == nil || arrays != (x.Element == elementArray || x.Element == elementVector) {
				continue
			}
			for k, id := range x.Parameters {
				if declared[id] || x.Kinds[k] == 0 {
					continue
				}
				declared[id] = true
				of := Type{Module: x.Module, Element: x.Kinds[k]}
				if arrays {
					of.Token = x.Definition
				}
				t.declare(id, &of)
			}
		}
	}
}

func (t *traceWriter) declare(id uint64, x *Type) {
	p := t.payload().u32(1).u16(0).u64(id, x.Module).u32(x.Token, x.Flags).u8(x.Element).text(x.Name)
	t.event(traceTypes, p.u32(uint32(len(x.Parameters))).u64(x.Parameters...))
}

func (t *traceWriter) statics() {
	for i := range t.g.Statics {
		s := &t.g.Statics[i]
		p := t.payload().u32(1).u64(0).u16(0).u64(s.Slot, t.g.address[s.Object], t.types[s.Type]).u32(0).text(s.Field)
		t.event(traceStatics, p)
	}
}

func (t *traceWriter) objects() {
	g := t.g
	t.bulk(traceNodes, g.Len(), 8+24, func(p *tracePayload, i int) {
		o := Object(i)
		p.pointer(g.address[o]).u64(g.Size(o), t.types[g.Type(o)], uint64(g.first[o+1]-g.first[o]))
	})
	t.bulk(traceEdges, len(g.target), 8+4, func(p *tracePayload, i int) { p.pointer(g.address[g.target[i]]).u32(0) })
}

func (t *traceWriter) roots() {
	g := t.g
	t.bulk(traceRoots, len(g.Roots), 8+5+8, func(p *tracePayload, i int) {
		r := &g.Roots[i]
		p.pointer(g.address[r.Object]).u8(uint8(r.Kind)).u32(uint32(r.Flags)).pointer(r.ID)
	})
	t.bulk(traceDependents, len(g.Dependents), 3*8, func(p *tracePayload, i int) {
		p.pointer(g.address[g.Dependents[i].Key]).pointer(g.address[g.Dependents[i].Value]).pointer(0)
	})
}

func (t *traceWriter) wrappers() {
	for _, x := range t.g.Wrappers {
		id, typ := t.g.address[x.Object], t.types[t.g.Type(x.Object)]
		if x.Callable {
			t.event(traceCCW, t.payload().u32(1).u16(0).u64(0, id, typ, 0).u32(x.References, 0, 0))
		} else {
			t.event(traceRCW, t.payload().u32(1).u16(0).u64(id, typ, 0, 0).u32(x.References, 0))
		}
	}
}

// rundown writes the paths of modules, and the names of methods.
func (t *traceWriter) rundown(modules Modules) {
	if modules == nil {
		modules = t.g.Modules
	}
	for _, id := range slices.Sorted(maps.Keys(modules)) {
		t.event(traceModule, t.payload().u64(id, 0).u32(0, 0).text(modules[id]).text("").u16(0))
	}
	for _, id := range slices.Sorted(maps.Keys(t.g.Methods)) {
		name := t.g.Methods[id]
		class, method := "", name
		if i := strings.LastIndexByte(name, '.'); i >= 0 {
			class, method = name[:i], name[i+1:]
		}
		p := t.payload().u64(id, 0, 0).u32(0, 0, 0).text(class).text(method).text("").u16(0)
		t.event(traceMethod, p)
	}
}

func (t *traceWriter) payload() *tracePayload { return &tracePayload{pointerSize: t.g.PointerSize} }

// A tracePayload is what is written at once.
type tracePayload struct {
	b           []byte
	pointerSize int
}

func (p *tracePayload) u8(n uint8) *tracePayload {
	p.b = append(p.b, n)
	return p
}

func (p *tracePayload) u16(list ...uint16) *tracePayload {
	for _, n := range list {
		p.b = binary.LittleEndian.AppendUint16(p.b, n)
	}
	return p
}

func (p *tracePayload) u32(list ...uint32) *tracePayload {
	for _, n := range list {
		p.b = binary.LittleEndian.AppendUint32(p.b, n)
	}
	return p
}

func (p *tracePayload) u64(list ...uint64) *tracePayload {
	for _, n := range list {
		p.b = binary.LittleEndian.AppendUint64(p.b, n)
	}
	return p
}

// pointer appends an address of the process.
func (p *tracePayload) pointer(n uint64) *tracePayload {
	if p.pointerSize == 4 {
		return p.u32(uint32(n))
	}
	return p.u64(n)
}

func (p *tracePayload) raw(s string) *tracePayload {
	p.b = append(p.b, s...)
	return p
}

// text appends a string as UTF-16 with a zero at its end.
func (p *tracePayload) text(s string) *tracePayload {
	p.b = append(append(p.b, clr.EncodeUTF16(s)...), 0, 0)
	return p
}
