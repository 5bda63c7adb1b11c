package heap

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/gclog/gclog/parse"
)

// A dumpReader reads the elements of the container. The first error remains, and what is read after
// it is zero. Memory is only allocated for what the input contains, whatever it says about itself.
type dumpReader struct {
	src  io.Reader
	buf  []byte // of what was read, buf[pos:] is unread
	pos  int
	off  int64  // of the end of buf
	size int64  // of the input; -1: unknown
	part string // the part that is being read, for errors
	err  error

	kept  int64 // bytes of memory that the graph of what was read will take, about
	limit int64 // of kept

	counting bool    // the nodes are skipped
	census   *census // counts the nodes, which are not kept; nil: they are

	classes map[uint32]class    // by label
	modules map[uint32]nodeType // name: path
	units   []uint16
}

func newDumpReader(src io.Reader) *dumpReader {
	return &dumpReader{
		src: src, buf: make([]byte, 0, 1<<16), size: sizeOf(src), part: "the head",
		limit: math.MaxInt64, classes: map[uint32]class{}, modules: map[uint32]nodeType{},
	}
}

// sizeOf returns the number of bytes that a reader will deliver, or -1.
func sizeOf(r io.Reader) int64 {
	switch r := r.(type) {
	case interface{ Len() int }:
		return int64(r.Len())
	case io.Seeker:
		at, err := r.Seek(0, io.SeekCurrent)
		if err != nil {
			return -1
		}
		end, err := r.Seek(0, io.SeekEnd)
		if _, back := r.Seek(at, io.SeekStart); err != nil || back != nil || end < at {
			return -1
		}
		return end - at
	}
	return -1
}

// offset returns that of the next byte.
func (r *dumpReader) offset() int64 { return r.off - int64(len(r.buf)-r.pos) }

func (r *dumpReader) fail(format string, args ...any) {
	r.failed(&FormatError{Offset: r.offset(), Msg: fmt.Sprintf(format, args...)})
}

// cut is for a file that ends too early.
func (r *dumpReader) cut(format string, args ...any) {
	r.failed(&FormatError{Offset: r.offset(), Msg: fmt.Sprintf(format, args...), Err: io.ErrUnexpectedEOF})
}

// failed ends the reading, except for what is in progress: it finds zeros.
func (r *dumpReader) failed(err error) {
	if r.err == nil {
		r.err = err
	}
	r.buf, r.pos = r.buf[:0], 0
}

// need makes n bytes available, or fails. It is for up to 8 bytes.
func (r *dumpReader) need(n int) bool {
	if len(r.buf)-r.pos >= n {
		return true
	}
	return r.fill(n)
}

func (r *dumpReader) fill(n int) bool {
	if r.err != nil {
		return false
	}
	r.buf = r.buf[:copy(r.buf, r.buf[r.pos:])]
	r.pos = 0
	for len(r.buf) < n {
		if err := r.more(); err != nil {
			r.interrupted(err)
			return false
		}
	}
	return true
}

// Approximate memory of the elements of a file until there is a Graph.
const (
	keptOfType       = 64 // and its names
	keptOfNode       = 48
	keptOfReference  = 12
	keptOfRegion     = 24
	keptOfMultiplier = 8
	keptOfPrivate    = 2  // for each byte; what it contains is counted when that is read
	keptOfEntry      = 64 // of a map
)

// ErrTooLarge reports that a file needs more memory than it may take.
var ErrTooLarge = errors.New("it needs more memory than it may take")

// more reads at least a byte into the buffer.
func (r *dumpReader) more() error {
	if r.kept > r.limit {
		return ErrTooLarge
	}
	n, err := io.ReadAtLeast(r.src, r.buf[len(r.buf):cap(r.buf)], 1)
	r.buf = r.buf[:len(r.buf)+n]
	r.off += int64(n)
	return err
}

// interrupted is for an input that ends, or cannot be read, before the file is complete.
func (r *dumpReader) interrupted(err error) {
	r.pos = len(r.buf) // the offset of the error is that of the end
	if errors.Is(err, io.EOF) {
		r.cut("the file ends in %s", r.part)
	} else {
		r.failed(fmt.Errorf("reading the .gcdump file at byte %d: %w", r.off, err))
	}
}

func (r *dumpReader) u8() uint8 {
	if !r.need(1) {
		return 0
	}
	r.pos++
	return r.buf[r.pos-1]
}

func (r *dumpReader) u32() uint32 {
	if !r.need(4) {
		return 0
	}
	r.pos += 4
	return binary.LittleEndian.Uint32(r.buf[r.pos-4:])
}

func (r *dumpReader) u64() uint64 {
	if !r.need(8) {
		return 0
	}
	r.pos += 8
	return binary.LittleEndian.Uint64(r.buf[r.pos-8:])
}

func (r *dumpReader) i32() int32   { return int32(r.u32()) }
func (r *dumpReader) i64() int64   { return int64(r.u64()) }
func (r *dumpReader) f32() float32 { return math.Float32frombits(r.u32()) }

// cint reads a number as appendCint writes it.
func (r *dumpReader) cint() int32 {
	b := r.u8()
	v := int32(int8(b<<1) >> 1)
	for n := 1; b&0x80 != 0; n++ {
		if n == 5 {
			r.fail("a number in %s has more than 5 bytes", r.part)
			return 0
		}
		b = r.u8()
		v = v<<7 | int32(b&0x7f)
	}
	return v
}

// count reads the length of a list whose elements need at least unit bytes each.
func (r *dumpReader) count(unit int64) int {
	n := r.i32()
	switch rest := r.size - r.offset(); {
	case r.err != nil:
		return 0
	case n < 0:
		r.fail("%s has the length %d", r.part, n)
		return 0
	case r.size >= 0 && int64(n)*unit > rest:
		r.cut("%s has %d elements of at least %d bytes, but only %d bytes follow", r.part, n, unit, rest)
		return 0
	}
	return int(n)
}

// room returns for how many of n elements memory may be allocated at once: all of them only if the
// input is known to be as large.
func (r *dumpReader) room(n int) int {
	if r.size < 0 {
		return min(n, chunkLen)
	}
	return n
}

// skip reads n bytes.
func (r *dumpReader) skip(n int64) {
	for n > 0 && r.need(1) {
		k := min(n, int64(len(r.buf)-r.pos))
		r.pos += int(k)
		n -= k
	}
}

// blob reads n bytes.
func (r *dumpReader) blob(n int) []byte {
	b := make([]byte, 0, r.room(n))
	for len(b) < n && r.need(1) {
		k := min(n-len(b), len(r.buf)-r.pos)
		r.kept += keptOfPrivate * int64(k)
		b = append(b, r.buf[r.pos:r.pos+k]...)
		r.pos += k
	}
	return b
}

// maxText is how long a string may be: dotnet-gcdump's log of a snapshot is the longest.
const maxText = 16 << 20

// text reads a string; null is "".
func (r *dumpReader) text() string {
	n := r.i32()
	switch rest := r.size - r.offset(); {
	case n == -1 || r.err != nil:
		return ""
	case n < 0:
		r.fail("a string in %s has the length %d", r.part, n)
		return ""
	case n > maxText:
		r.fail("a string in %s has %d characters; up to %d are read", r.part, n, maxText)
		return ""
	case r.size >= 0 && int64(n) > rest:
		r.cut("a string in %s has %d characters, but only %d bytes follow", r.part, n, rest)
		return ""
	}
	units := r.units[:0]
	for range n {
		b := r.u8()
		u := uint16(b)
		switch {
		case b >= 0xe0:
			u = uint16(b)<<12 | uint16(r.u8()&0x3f)<<6
			u |= uint16(r.u8() & 0x3f)
		case b >= 0x80:
			u = uint16(b&0x1f)<<6 | uint16(r.u8()&0x3f)
		}
		if r.err != nil {
			return ""
		}
		units = append(units, u)
	}
	r.units = units
	r.kept += int64(n)
	s := make([]byte, 0, n)
	for i := 0; i < len(units); i++ {
		c := rune(units[i])
		if utf16.IsSurrogate(c) {
			next := rune(0)
			if i+1 < len(units) {
				next = rune(units[i+1])
			}
			if c = utf16.DecodeRune(c, next); c != utf8.RuneError {
				i++
			}
		}
		s = utf8.AppendRune(s, c)
	}
	return string(s)
}

// expect reads a tag.
func (r *dumpReader) expect(tag uint8) {
	if got := r.u8(); got != tag && r.err == nil {
		r.pos--
		r.fail("%s should have the tag %d here, not %d", r.part, tag, got)
	}
}

// A slot is where an object may be.
type slot struct {
	class class  // of the object that follows; "": none does
	label uint32 // label of this object, or of an earlier one
}

// slot reads the head of an object, or a reference to one before, or null.
func (r *dumpReader) slot() (s slot) {
	s.label = uint32(r.offset())
	switch tag := r.u8(); tag {
	case tagNull:
		s.label = 0
	case tagLabel:
		s.label = r.u32()
	case tagObject:
		s.class = r.readClass()
	default:
		if r.err == nil {
			r.pos--
			r.fail("%s should have an object here, not the tag %d", r.part, tag)
		}
	}
	return s
}

// readClass reads a class, which is only described once.
func (r *dumpReader) readClass() (c class) {
	at := uint32(r.offset())
	tag := r.u8()
	if tag == tagLabel {
		label := r.u32()
		c, ok := r.classes[label]
		if !ok {
			r.fail("%s refers to a class at byte %d, where there is none", r.part, label)
		}
		return c
	}
	if tag != tagObject && r.err == nil {
		r.pos--
		r.fail("%s should have a class here, not the tag %d", r.part, tag)
	}
	r.expect(tagNull)
	c = class{version: r.i32(), minReader: r.i32()}
	c.name = r.text()
	r.expect(tagEnd)
	r.classes[at] = c
	r.kept += keptOfEntry
	return c
}

// known checks that an object has one of the classes that this package reads.
func (r *dumpReader) known(got, want class) bool {
	switch {
	case r.err != nil:
		return false
	case got.name != want.name:
		r.fail("%s should have an object of class %s, not %q", r.part, want.name, got.name)
	case got.minReader > want.version:
		r.err = &KindError{fmt.Sprintf("a .gcdump file of a later version: %s has version %d, and requires a reader "+
			"of version %d; this one knows version %d",
			got.name, got.version, got.minReader, want.version)}
	default:
		return true
	}
	return false
}

// object reads the head of an object of a class, and reports whether there is one.
func (r *dumpReader) object(want class) bool {
	s := r.slot()
	return s.class.name != "" && r.known(s.class, want)
}

// finish skips what a later version has added to an object, up to its end.
func (r *dumpReader) finish() {
	for r.err == nil && r.skipTagged(r.u8()) {
	}
}

// skipTagged skips a value after its tag, and reports false at the end of the object.
func (r *dumpReader) skipTagged(tag uint8) bool {
	switch tag {
	case tagEnd:
		return false
	case tagByte:
		r.skip(1)
	case tagInt16:
		r.skip(2)
	case tagInt32:
		r.skip(4)
	case tagInt64:
		r.skip(8)
	case tagString:
		r.text()
	case tagPrivate:
		r.skip(int64(r.count(1)))
	case tagSkip:
		r.i32()
		r.skipInterop()
	default:
		if r.err == nil {
			r.pos--
			r.fail("%s should end here, or have a tagged value, not the tag %d", r.part, tag)
		}
	}
	return r.err == nil
}

// ReadDump reads a .gcdump file of gclog, PerfView, dotnet-gcdump or dotnet-monitor. Files of others
// lack what is in gclog's own part of a file: their types have no ids, their objects are in the
// generation that the file says, if it does, and the entries of ConditionalWeakTables are roots. The
// suffixes of dotnet-gcdump, such as "(Bytes > 10K)", are removed from names. The error is a
// *KindError, a *FormatError, or an error of r.
func ReadDump(r io.Reader) (*Graph, *DumpInfo, error) { return ReadDumpWithin(r, math.MaxInt64) }

// ReadDumpWithin is ReadDump with a limit: the error is ErrTooLarge if the file would take more than
// about so many bytes of memory. That is found out while it is read. It is for files whose size is
// unknown, as that of packed ones.
func ReadDumpWithin(r io.Reader, memory int64) (*Graph, *DumpInfo, error) {
	x := newDumpReader(r)
	x.limit = memory
	d, err := x.file()
	if err != nil {
		return nil, nil, err
	}
	g, err := d.graph()
	if err != nil {
		return nil, nil, err
	}
	g.Modules, g.Process, g.Time = d.info.Modules, Process{d.info.ProcessID, d.info.Process}, d.info.Time
	return g, &d.info, nil
}

// file reads a file.
func (r *dumpReader) file() (*dumpFile, error) {
	if err := r.start(); err != nil {
		return nil, err
	}
	d := r.dump()
	r.end()
	d.kept, d.limit = r.kept, r.limit
	return d, r.err
}

// start reads the first bytes, and says what the input is if it is something else.
func (r *dumpReader) start() error {
	head := make([]byte, 0, 4+len(dumpMagic))
	head = append(binary.LittleEndian.AppendUint32(head, uint32(len(dumpMagic))), dumpMagic...)
	var err error
	for len(r.buf) < 128 && err == nil { // enough to tell what else it is
		err = r.more()
	}
	switch {
	case bytes.HasPrefix(r.buf, head): // with an error, reading on has the same result
		r.pos = len(head)
		return nil
	case bytes.HasPrefix(head, r.buf):
		r.interrupted(err)
		return r.err
	}
	return kindOf(r.buf)
}

// kindOf says what an input is that is not a .gcdump file.
func kindOf(head []byte) error {
	_, err := parse.NewReader(bytes.NewReader(head), parse.All).ReadTrace()
	if kind, ok := errors.AsType[*parse.KindError](err); ok && kind.Kind != parse.KindGCDump {
		return &KindError{kind.Found}
	}
	return &KindError{"a nettrace recording"}
}

// A dumpFile is the contents of a file.
type dumpFile struct {
	nodes   nodeGraph
	info    DumpInfo
	wide    bool
	sampled []float32 // by type
	regions []generationRange

	private    []byte // nil: none
	privateOff int64

	kept, limit int64 // of the dumpReader
}

// dump reads the entry object.
func (r *dumpReader) dump() *dumpFile {
	d := &dumpFile{}
	s := r.slot()
	switch c := s.class; {
	case r.err != nil:
		return d
	case c.name != classDump.name && c.name != "":
		r.err = &KindError{fmt.Sprintf("a file of Microsoft's FastSerialization with an object of class %q", c.name)}
		return d
	case c.version < oldestDump || c.version == refusedDump:
		r.err = &KindError{fmt.Sprintf("a .gcdump file of version %d; the versions from %d are read, except for %d",
			c.version, oldestDump, refusedDump)}
		return d
	case !r.known(c, classDump):
		return d
	}
	r.part = "the graph"
	graph := r.slot().class
	if !r.known(graph, classGraph) {
		return d
	}
	d.nodes.read(r, graph)
	r.part = "the properties"
	if s.class.version < refusedDump {
		r.oldProperties(d, s.class.version)
	} else {
		r.properties(d)
	}
	return d
}

// oldProperties reads what follows the graph in versions before 8.
func (r *dumpReader) oldProperties(d *dumpFile, version int32) {
	d.wide = d.nodes.wide
	d.info.CountMultiplier, d.info.SizeMultiplier = 1, 1
	r.skip(8 + 8 + 8 + 1) // sizes and numbers of segments and objects
	if version >= 5 {
		r.process(d)
	}
	if version >= 6 {
		r.part = "the list of segments"
		for n := r.count(1); n > 0 && r.err == nil; n-- {
			r.segment()
		}
	}
	if version >= 7 {
		d.wide = r.u8() != 0
	}
	r.finish()
}

func (r *dumpReader) properties(d *dumpFile) {
	d.wide = r.u8() != 0
	d.info.CountMultiplier, d.info.SizeMultiplier = r.f32(), r.f32()
	r.part = "the JavaScript heap"
	if r.object(classJS) {
		r.finish()
	}
	r.part = "the list of segments"
	if r.object(classHeap) {
		r.i64() // the size of all
		for n := r.count(1); n > 0 && r.err == nil; n-- {
			parts := r.segment()
			d.regions = append(d.regions, parts...)
			r.kept += keptOfRegion * int64(len(parts))
		}
		r.finish()
	}
	r.process(d)
	r.part = "the list of multipliers"
	for n := r.count(4); n > 0 && r.err == nil; n-- {
		d.sampled = append(d.sampled, r.f32())
		r.kept += keptOfMultiplier
	}
	r.part = "the list of tagged values"
	r.tagged(d)
}

// process reads the description of the process.
func (r *dumpReader) process(d *dumpFile) {
	r.part = "the description of the process"
	d.info.Log = r.text()
	d.info.Time = timeOf(r.i64())
	d.info.Machine = r.text()
	d.info.Process = r.text()
	d.info.ProcessID = int(r.i32())
	d.info.Commit = r.i64()
	d.info.WorkingSet = r.i64()
}

// tagged reads what later versions have added. Of values that are not known, one is gclog's own.
func (r *dumpReader) tagged(d *dumpFile) {
	named, own := false, false
	for r.err == nil {
		switch tag := r.u8(); {
		case tag == tagString && !named:
			d.info.Tool, named = r.text(), true
		case tag == tagString:
			own = r.text() == privateMagic
		case tag == tagPrivate && own && d.private == nil:
			r.part = "gclog's own part"
			n := r.count(1)
			d.privateOff = r.offset()
			d.private = r.blob(n)
			r.part = "the list of tagged values"
		case !r.skipTagged(tag):
			return
		}
	}
}

// segment reads a segment. One that contains several generations is returned in parts.
func (r *dumpReader) segment() (parts []generationRange) {
	s := r.slot()
	if s.class.name == "" || !r.known(s.class, classSegment) {
		return nil
	}
	start, end := r.u64(), r.u64()
	var ends [POH + 1]uint64
	for g := range ends {
		if g != int(POH) || s.class.version >= 1 {
			ends[g] = r.u64()
		}
	}
	r.finish()
	for g := int(POH); g >= 0; g-- {
		if to := min(ends[g], end); to > start {
			parts = append(parts, generationRange{start, to, Generation(g)})
			start = to
		}
	}
	return parts
}

// skipInterop skips the objects of COM.
func (r *dumpReader) skipInterop() {
	if !r.object(classInterop) {
		return
	}
	r.part = "the list of COM objects"
	if r.i32() > 0 {
		rcw, ccw, interfaces, modules := int64(r.i32()), int64(r.i32()), int64(r.i32()), int64(r.i32())
		if min(rcw, ccw, interfaces, modules) < 0 {
			r.fail("%s has a negative length", r.part)
		}
		r.skip(rcw*(4+4+8+8+8+4+4) + ccw*(4+4+8+8+4+4) + interfaces*(1+4+4+8+8+8))
		for ; modules > 0 && r.err == nil; modules-- {
			r.skip(8 + 4 + 4)
			r.text()
		}
	}
	r.finish()
	r.part = "the list of tagged values"
}

// end checks what follows the entry object: a table of labels, and the labels that lead to it.
func (r *dumpReader) end() {
	r.part = "the table at the end"
	r.expect(tagEnd)
	table := r.offset()
	for n := r.count(4); n > 0 && r.err == nil; n-- {
		if label := r.u32(); int64(label) > table && r.err == nil {
			r.fail("a label leads to byte %d, but the contents end at byte %d", label, table)
		}
	}
	last := r.offset()
	r.label(table)
	r.label(last)
	if r.err == nil && (r.pos < len(r.buf) || !r.ended()) {
		r.fail("the file should end here")
	}
}

// label reads a label that leads to an offset.
func (r *dumpReader) label(want int64) {
	if label := r.u32(); label != uint32(want) && r.err == nil {
		r.pos -= 4
		r.fail("a label leads to byte %d, not to byte %d", label, want)
	}
}

// ended reports whether nothing is left to read.
func (r *dumpReader) ended() bool {
	n, _ := io.ReadFull(r.src, make([]byte, 1))
	return n == 0
}
