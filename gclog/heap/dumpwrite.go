package heap

import (
	"bufio"
	"cmp"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	bitops "math/bits"
	"runtime"
	"slices"
	"sync"
	"unicode/utf16"
)

// WriteDump writes the Graph as a .gcdump file, which PerfView and Visual Studio open. Those ignore
// the part of the file with what only ReadDump knows of: generations before the collection, the
// identity of types, roots, static fields, and what is missing. The same Graph and DumpInfo make
// the same bytes. Nothing is written if the file would exceed what the format can hold.
func (g *Graph) WriteDump(w io.Writer, info *DumpInfo) error {
	modules := info.Modules
	if modules == nil {
		modules = g.Modules
	}
	return newDumpLayout(g, modules).write(w, info, g.private)
}

// A dumpLayout is the contents of a file: pseudo nodes, with a root at the first, and after them the
// objects of a Graph. Types are those of the Graph, and after them those of the pseudo nodes.
type dumpLayout struct {
	g      *Graph
	types  []nodeType
	typ    []uint32 // index in types by index in Graph.Types
	pseudo []pseudoNode

	kinds      []recordKind // by index in Graph.Types
	parts      []dumpPart
	lens       []uint8 // of the objects' records; longRecord: longer
	total      int64
	blob       int64
	recordsEnd int64 // of the objects in the blob
}

// A recordKind is what the records of a type's objects have in common, in few bytes.
type recordKind struct {
	typ  uint32 // index in dumpLayout.types; 0: the objects have no records
	size int32  // of the type
	len  uint8  // of the index in a record
}

// A dumpPart is a number of objects that are written at once.
type dumpPart struct {
	total    int64 // of their sizes
	at, blob int64 // where their records begin in the blob, and the length of these
}

const partLen = 1 << 15 // objects

// A pseudoNode is a root of the graph, or a group of them.
type pseudoNode struct {
	typ      uint32
	children []uint32 // pseudo nodes
	objects  []Object
}

func newDumpLayout(g *Graph, modules Modules) *dumpLayout {
	l := &dumpLayout{g: g, types: []nodeType{{name: undefined}}, typ: make([]uint32, len(g.Types))}
	for i, t := range g.Types {
		l.typ[i] = uint32(len(l.types))
		l.types = append(l.types, nodeType{name: dumpName(&t), size: -1, module: moduleName(t.Module, modules)})
	}
	l.addRoots()
	return l
}

// dumpName returns the name of a type in a file: for people, so the exact one if it is known.
func dumpName(t *Type) string {
	if t.Name == "" && !t.isNative() {
		return fmt.Sprintf(unknownFormat, t.ID)
	}
	return cmp.Or(t.Exact, t.Name) // without the Layout, which other tools do not know
}

// moduleName returns the path of a module, or what dotnet-gcdump writes instead of one.
func moduleName(id uint64, modules Modules) string {
	if path := modules[id]; path != "" || id == 0 {
		return path
	}
	return fmt.Sprintf(moduleFormat, id)
}

// dotnet-gcdump writes these for types without a name, and for modules without a path.
const (
	unknownFormat = "UNKNOWN 0x%x"
	moduleFormat  = "Module(0x%x)"
)

// addRoots makes the tree of the roots as dotnet-gcdump makes it. Weak roots are not in it.
func (l *dumpLayout) addRoots() {
	g := l.g
	root := l.addPseudo(rootNode)
	statics := l.addChild(root, staticsNode)
	known := map[string]uint32{}
	for _, s := range g.Statics {
		name := staticPrefix + s.name(cmp.Or(s.Declaring, g.Types[s.Type].String())) + "]"
		node, ok := known[name]
		if !ok {
			node = l.addChild(statics, name)
			known[name] = node
		}
		l.pseudo[node].objects = append(l.pseudo[node].objects, s.Object)
	}
	categories := map[string]uint32{localsNode: l.addChild(root, localsNode)}
	others := l.addChild(root, othersNode)
	held := map[string]bool{dependents: len(g.Dependents) > 0}
	for _, r := range g.Roots {
		if r.Strong() {
			held[r.category()] = true
		}
	}
	for _, c := range rootCategories {
		if held[c.name] && c.name != localsNode {
			categories[c.name] = l.addChild(others, c.name)
		}
	}
	for _, r := range g.Roots {
		if r.Strong() {
			node := &l.pseudo[categories[r.category()]]
			node.objects = append(node.objects, r.Object)
		}
	}
	for _, d := range g.Dependents {
		node := &l.pseudo[categories[dependents]]
		node.objects = append(node.objects, d.Value)
	}
	l.addChild(root, comNode)
}

func (l *dumpLayout) addPseudo(name string) uint32 {
	l.types = append(l.types, nodeType{name: name})
	l.pseudo = append(l.pseudo, pseudoNode{typ: uint32(len(l.types) - 1)})
	return uint32(len(l.pseudo) - 1)
}

func (l *dumpLayout) addChild(parent uint32, name string) uint32 {
	node := l.addPseudo(name)
	l.pseudo[parent].children = append(l.pseudo[parent].children, node)
	return node
}

// measure determines the sizes of types, which are those of their first objects, and that of the
// blob with the records of the nodes.
func (l *dumpLayout) measure() {
	open := make([]bool, len(l.typ)) // types whose first object has not come
	for t := range open {
		open[t] = l.types[l.typ[t]].size < 0
	}
	for o, t := range l.g.typ {
		if open[t] {
			open[t] = false
			l.types[l.typ[t]].size = l.size(Object(o))
		}
	}
	for _, typ := range l.typ {
		l.kinds = append(l.kinds, recordKind{typ: typ, size: l.types[typ].size, len: uint8(cintLen(int32(typ << 1)))})
	}
	l.lens = make([]uint8, l.g.Len())
	l.parts = make([]dumpPart, (l.g.Len()+partLen-1)/partLen)
	parallel(len(l.parts), 1, func(from, to int) {
		for i := from; i < to; i++ {
			l.parts[i] = l.measurePart(l.part(i))
		}
	})
	l.blob = undefinedRecord
	for i := range l.parts {
		p := &l.parts[i]
		l.total += p.total
		p.at, l.blob = l.blob, l.blob+p.blob
	}
	l.recordsEnd = l.blob
	for i := range l.pseudo {
		l.blob += int64(len(l.appendPseudo(nil, uint32(i))))
	}
}

// part returns the objects of a part.
func (l *dumpLayout) part(i int) (from, to Object) {
	return Object(i * partLen), Object(min((i+1)*partLen, l.g.Len()))
}

func (l *dumpLayout) measurePart(from, to Object) (p dumpPart) {
	for o := from; o < to; o++ {
		n := l.recordLen(o)
		l.lens[o] = uint8(min(n, longRecord))
		p.total += int64(l.size(o))
		p.blob += int64(n)
	}
	return p
}

// longRecord in lens stands for all lengths that do not fit.
const longRecord = math.MaxUint8

// fits reports an error if the file would be too large: the format has 31 bits for the length of the
// blob, and 32 for offsets in the file.
func (l *dumpLayout) fits(private int64) error {
	size := l.blob + private + minNodeLen*int64(len(l.pseudo)+l.g.Len())
	for i := range l.types {
		size += minTypeLen + int64(len(l.types[i].name)+len(l.types[i].module))
	}
	if l.blob > math.MaxInt32 || private > math.MaxInt32 || size > math.MaxUint32-maxProperties {
		return fmt.Errorf("the heap is too large for the .gcdump format: %d objects with %d references need a file "+
			"of %d bytes, %d of them for references",
			l.g.Len(), len(l.g.target), size, l.blob)
	}
	return nil
}

// maxProperties is more than the rest of a file needs.
const maxProperties = 64 << 20

// undefinedRecord is the length of the record of all nodes that are not described.
const undefinedRecord = 2

func (l *dumpLayout) size(o Object) int32 { return int32(min(l.g.Size(o), maxNodeSize)) }

// node returns the index of an object's node.
func (l *dumpLayout) node(o Object) int32 { return int32(len(l.pseudo)) + int32(o) }

// recordLen returns the length of what appendRecord appends.
func (l *dumpLayout) recordLen(o Object) int {
	kind := &l.kinds[l.g.typ[o]]
	if kind.typ == 0 {
		return 0
	}
	n := int(kind.len)
	if size := l.size(o); size != kind.size {
		n += cintLen(size)
	}
	targets := l.g.References(o)
	n += cintLen(int32(len(targets)))
	for _, t := range targets {
		n += cintLen(int32(t) - int32(o))
	}
	return n
}

// appendRecord appends the record of an object: type, size if it is not that of the type, and the
// references, relative to its own index. An object of a type that the file does not describe has none.
func (l *dumpLayout) appendRecord(b []byte, o Object) []byte {
	kind := &l.kinds[l.g.typ[o]]
	if kind.typ == 0 {
		return b
	}
	if size := l.size(o); size == kind.size {
		b = appendCint(b, int32(kind.typ<<1))
	} else {
		b = appendCint(b, int32(kind.typ<<1|1))
		b = appendCint(b, size)
	}
	targets := l.g.References(o)
	b = appendCint(b, int32(len(targets)))
	for _, t := range targets {
		b = appendCint(b, int32(t)-int32(o))
	}
	return b
}

func (l *dumpLayout) appendPseudo(b []byte, i uint32) []byte {
	n := &l.pseudo[i]
	b = appendCint(b, int32(n.typ<<1))
	b = appendCint(b, int32(len(n.children)+len(n.objects)))
	for _, child := range n.children {
		b = appendCint(b, int32(child)-int32(i))
	}
	for _, o := range n.objects {
		b = appendCint(b, l.node(o)-int32(i))
	}
	return b
}

// appendCint appends a number as in the blob: two's complement in as few groups of 7 bits as
// possible, the most significant one first, and bit 7 set in all but the last.
func appendCint(b []byte, v int32) []byte {
	if v >= -0x40 && v < 0x40 { // most are
		return append(b, byte(v)&0x7f)
	}
	x := uint64(v) // with the sign in all bits
	groups := x&0x7f | x<<1&0x7f00 | x<<2&0x7f_0000 | x<<3&0x7f00_0000 | x<<4&0x7f_0000_0000 | 0x80_8080_8000
	n := cintLen(v)
	end := len(b) + n
	return binary.BigEndian.AppendUint64(b, groups<<(64-8*n))[:end]
}

// cintLen returns the number of bytes that appendCint appends. One bit is the sign.
func cintLen(v int32) int { return (bitops.Len32(uint32(v^v>>31)) + 7) / 7 }

// A dumpWriter writes the elements of the container. The bufio.Writer keeps the first error.
type dumpWriter struct {
	*bufio.Writer
	off     int64
	classes map[string]int64 // where the classes are
}

func (w *dumpWriter) raw(b []byte) {
	n, _ := w.Write(b)
	w.off += int64(n)
}

func (w *dumpWriter) u8(v uint8) { w.raw(append(w.AvailableBuffer(), v)) }
func (w *dumpWriter) i32(v int32) {
	w.raw(binary.LittleEndian.AppendUint32(w.AvailableBuffer(), uint32(v)))
}

func (w *dumpWriter) i64(v int64) {
	w.raw(binary.LittleEndian.AppendUint64(w.AvailableBuffer(), uint64(v)))
}
func (w *dumpWriter) f32(v float32) { w.i32(int32(math.Float32bits(v))) }

// label writes an offset in the file.
func (w *dumpWriter) label(at int64) { w.i32(int32(uint32(at))) }

// text writes a string: the number of its UTF-16 code units, and each of them like a character in
// UTF-8. "" becomes null.
func (w *dumpWriter) text(s string) {
	if s == "" {
		w.i32(-1)
		return
	}
	units := utf16.Encode([]rune(s))
	w.i32(int32(len(units)))
	b := make([]byte, 0, len(s))
	for _, u := range units {
		switch {
		case u < 0x80:
			b = append(b, byte(u))
		case u < 0x800:
			b = append(b, 0xc0|byte(u>>6), 0x80|byte(u&0x3f))
		default:
			b = append(b, 0xe0|byte(u>>12), 0x80|byte(u>>6&0x3f), 0x80|byte(u&0x3f))
		}
	}
	w.raw(b)
}

// begin writes the head of an object. The name of a class is only written once.
func (w *dumpWriter) begin(c class) {
	w.u8(tagObject)
	if at, ok := w.classes[c.name]; ok {
		w.u8(tagLabel)
		w.label(at)
		return
	}
	w.classes[c.name] = w.off
	w.u8(tagObject)
	w.u8(tagNull)
	w.i32(c.version)
	w.i32(c.minReader)
	w.text(c.name)
	w.u8(tagEnd)
}

// write writes the file, with the private part that a function returns; nil: without one.
func (l *dumpLayout) write(out io.Writer, info *DumpInfo, privatePart func() []byte) error {
	var private []byte
	var work sync.WaitGroup
	if privatePart != nil {
		work.Go(func() { private = privatePart() })
	}
	l.measure()
	work.Wait()
	if err := l.fits(int64(len(private))); err != nil {
		return err
	}
	w := &dumpWriter{Writer: bufio.NewWriterSize(out, 1<<18), classes: map[string]int64{}}
	w.text(dumpMagic)
	w.begin(classDump)
	l.writeGraph(w)
	w.u8(l.wide())
	w.f32(cmp.Or(info.CountMultiplier, 1))
	w.f32(cmp.Or(info.SizeMultiplier, 1))
	w.u8(tagNull) // JSHeapInfo
	l.writeSegments(w)
	w.text(info.Log)
	w.i64(ticksOf(l.g.at(info)))
	w.text(info.Machine)
	w.text(cmp.Or(info.Process, l.g.Process.Name))
	w.i32(int32(cmp.Or(info.ProcessID, l.g.Process.ID)))
	w.i64(info.Commit)
	w.i64(info.WorkingSet)
	l.writeMultipliers(w, info.Multipliers)
	w.u8(tagSkip)
	w.i32(0)      // index of the label in the table at the end
	w.u8(tagNull) // InteropInfo
	end := w.off
	w.u8(tagString)
	w.text(cmp.Or(info.Tool, "gclog"))
	if private != nil { // readers skip tagged values that they do not know
		w.u8(tagString)
		w.text(privateMagic)
		w.u8(tagPrivate)
		w.i32(int32(len(private)))
		w.raw(private)
	}
	w.u8(tagEnd)
	w.u8(tagEnd)
	table := w.off
	w.i32(1)
	w.label(end)
	w.label(table)
	w.label(w.off - 4)
	return w.Flush()
}

// wide reports whether pointers have 8 bytes.
func (l *dumpLayout) wide() uint8 {
	if l.g.PointerSize == 4 {
		return 0
	}
	return 1
}

func (l *dumpLayout) writeGraph(w *dumpWriter) {
	w.begin(classGraph)
	w.i64(l.total)
	w.i32(0) // the root
	w.i32(int32(len(l.types)))
	for i := range l.types {
		w.text(l.types[i].name)
		w.i32(l.types[i].size)
		w.text(l.types[i].module)
	}
	objects := Object(l.g.Len())
	w.i32(int32(len(l.pseudo)) + int32(objects))
	var b []byte
	at := l.recordsEnd
	for i := range l.pseudo {
		w.i32(int32(at))
		b = l.appendPseudo(b[:0], uint32(i))
		at += int64(len(b))
	}
	l.writeParts(w, l.appendOffsets)
	w.i32(int32(l.blob))
	w.raw(make([]byte, undefinedRecord))
	l.writeParts(w, l.appendRecords)
	for i := range l.pseudo {
		b = l.appendPseudo(b[:0], uint32(i))
		w.raw(b)
	}
	w.i32(int32(len(l.pseudo)) + int32(objects))
	for range l.pseudo {
		w.i64(0)
	}
	l.writeParts(w, l.appendAddresses)
	w.u8(tagByte)
	w.u8(l.wide())
	w.u8(tagEnd)
}

// writeParts writes what a function appends for each part. The parts are made on all CPUs, and few of
// them are in memory at a time.
func (l *dumpLayout) writeParts(w *dumpWriter, appendPart func(b []byte, part int) []byte) {
	made := make(chan chan []byte, runtime.GOMAXPROCS(0))
	free := make(chan []byte, cap(made)+2)
	go func() {
		defer close(made)
		for i := range l.parts {
			part := make(chan []byte, 1)
			made <- part
			var b []byte
			select {
			case b = <-free:
			default:
			}
			go func() { part <- appendPart(b[:0], i) }()
		}
	}()
	for part := range made {
		b := <-part
		w.raw(b)
		free <- b
	}
}

// appendOffsets appends those of the records in the blob, 0 for an object without one.
func (l *dumpLayout) appendOffsets(b []byte, part int) []byte {
	at := l.parts[part].at
	from, to := l.part(part)
	b = slices.Grow(b, 4*int(to-from))
	for o := from; o < to; o++ {
		n := int(l.lens[o])
		switch n {
		case 0:
			b = binary.LittleEndian.AppendUint32(b, 0)
			continue
		case longRecord:
			n = l.recordLen(o)
		}
		b = binary.LittleEndian.AppendUint32(b, uint32(at))
		at += int64(n)
	}
	return b
}

func (l *dumpLayout) appendRecords(b []byte, part int) []byte {
	from, to := l.part(part)
	b = slices.Grow(b, int(l.parts[part].blob)+8) // appendCint writes 8 bytes at a time
	for o := from; o < to; o++ {
		b = l.appendRecord(b, o)
	}
	return b
}

func (l *dumpLayout) appendAddresses(b []byte, part int) []byte {
	from, to := l.part(part)
	b = slices.Grow(b, 8*int(to-from))
	for _, address := range l.g.address[from:to] {
		b = binary.LittleEndian.AppendUint64(b, address)
	}
	return b
}

// writeMultipliers writes those of a sampled heap, for all types in the file.
func (l *dumpLayout) writeMultipliers(w *dumpWriter, byType []float32) {
	if len(byType) != len(l.typ) || byType == nil {
		w.i32(0)
		return
	}
	all := slices.Repeat([]float32{1}, len(l.types))
	for i, t := range l.typ {
		all[t] = byType[i]
	}
	w.i32(int32(len(all)))
	for _, v := range all {
		w.f32(v)
	}
}

// writeSegments writes the regions of the heap. PerfView searches the list from its start for each
// object, so neighbours of the same generation become one unless there are objects between them.
func (l *dumpLayout) writeSegments(w *dumpWriter) {
	if len(l.g.regions) == 0 {
		w.u8(tagNull)
		return
	}
	var merged []generationRange
	size := int64(0)
	for _, r := range l.g.regions {
		size += int64(r.end - r.start)
		if n := len(merged); n > 0 {
			last := &merged[n-1]
			if last.generation == r.generation && !l.g.anyBetween(last.end, r.start) {
				last.end = r.end
				continue
			}
		}
		merged = append(merged, r)
	}
	w.begin(classHeap)
	w.i64(size)
	w.i32(int32(len(merged)))
	for _, r := range merged {
		w.begin(classSegment)
		w.i64(int64(r.start))
		w.i64(int64(r.end))
		for g := Gen0; g <= POH; g++ {
			if g == r.generation {
				w.i64(int64(r.end))
			} else {
				w.i64(0)
			}
		}
		w.u8(tagEnd)
	}
	w.u8(tagEnd)
}

// anyBetween reports whether there is an object at or after an address and before another.
func (g *Graph) anyBetween(from, to uint64) bool {
	if from >= to {
		return false
	}
	o := g.index.before(g.address, to-1)
	return o != NoObject && g.address[o] >= from
}
