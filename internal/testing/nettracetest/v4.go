// Package nettracetest writes nettrace streams for tests: well-formed ones of any shape, and, since
// it checks nothing, broken ones too.
package nettracetest

import (
	"encoding/binary"
	"time"
)

// A Kind is the metadata of one kind of event.
type Kind struct {
	ID       uint32 // rows refer to it
	Provider string
	EventID  uint32
	Name     string
	Version  uint32
	Level    uint32
	Keywords uint64
	Opcode   byte // 0: none
}

// A Row is one event.
type Row struct {
	Kind     uint32 // ID of its Kind
	Thread   uint64
	Capture  uint64 // thread that wrote it; 0: the same as Thread
	Seq      uint32 // 0: one more than the last of Capture
	Ticks    int64
	Sorted   bool
	Stack    uint32 // number of the stack: see Stacks
	Labels   uint32 // V6
	Payload  []byte
	Activity bool // V4: with an activity id, whose content does not matter
}

// Clock is the header of a stream.
type Clock struct {
	Time        time.Time
	Ticks       int64
	PerSecond   int64
	PointerSize uint32
	ProcessID   uint32
	Processors  uint32
}

// DefaultClock returns the clock of a 64-bit Linux process.
func DefaultClock() Clock {
	return Clock{
		Time:  time.Date(2024, 1, 15, 10, 0, 0, 0, time.UTC),
		Ticks: 1_000_000_000_000, PerSecond: 1_000_000_000, PointerSize: 8, ProcessID: 4711, Processors: 2,
	}
}

// V4 writes a stream in the V4 container. The zero value is ready to use; Bytes may be truncated,
// patched or appended to at any time.
type V4 struct {
	Bytes        []byte
	Uncompressed bool // rows with fixed headers

	seq   numbers
	taken int     // bytes that Take has removed: blocks are aligned relative to the start of the stream
	size  int     // position of the size of the open EventBlock
	block int     // position of its content
	enc   encoder // for its rows
	times times   // of its rows
}

// Begin writes the preamble and the Trace object.
func (w *V4) Begin(c Clock) {
	w.Bytes = append(w.Bytes, "Nettrace"...)
	w.Bytes = le32(w.Bytes, 20)
	w.Bytes = append(w.Bytes, "!FastSerialization.1"...)
	w.object("Trace", 4)
	w.Bytes = appendClock(w.Bytes, c)
	w.Bytes = le32(w.Bytes, c.PointerSize, c.ProcessID, c.Processors, 0)
	w.Bytes = append(w.Bytes, 6)
}

func appendClock(b []byte, c Clock) []byte {
	t := c.Time.UTC()
	for _, v := range []int{
		t.Year(), int(t.Month()), int(t.Weekday()), t.Day(), t.Hour(), t.Minute(), t.Second(),
		t.Nanosecond() / int(time.Millisecond),
	} {
		b = binary.LittleEndian.AppendUint16(b, uint16(v))
	}
	return le64(b, uint64(c.Ticks), uint64(c.PerSecond))
}

func (w *V4) object(name string, version uint32) {
	w.Bytes = append(w.Bytes, 5, 5, 1)
	w.Bytes = le32(w.Bytes, version, version, uint32(len(name)))
	w.Bytes = append(w.Bytes, name...)
	w.Bytes = append(w.Bytes, 6)
}

// Block writes a block object with any name and content.
func (w *V4) Block(name string, content []byte) {
	w.object(name, 2)
	w.Bytes = le32(w.Bytes, uint32(len(content)))
	w.align()
	w.Bytes = append(w.Bytes, content...)
	w.Bytes = append(w.Bytes, 6)
}

func (w *V4) align() {
	for (w.taken+len(w.Bytes))%4 != 0 {
		w.Bytes = append(w.Bytes, 0)
	}
}

// Open begins an EventBlock. Add writes a row into it, and Close ends it. Writers that must be fast
// use these instead of Events.
func (w *V4) Open() {
	w.object("EventBlock", 2)
	w.size = len(w.Bytes)
	w.Bytes = le32(w.Bytes, 0)
	w.align()
	w.block = len(w.Bytes)
	w.Bytes = le32(w.Bytes, 20|1<<16) // the size of the block's header, and a flag: its rows are compressed
	w.Bytes = le64(w.Bytes, 0, 0)
	w.enc, w.times = encoder{}, times{}
}

// Add writes a row into the open block.
func (w *V4) Add(r Row) {
	w.Bytes = w.enc.row(w.Bytes, w.seq.number(r), 4)
	w.times.add(r.Ticks)
}

// Lose advances a thread's sequence number by n events that are not written.
func (w *V4) Lose(thread uint64, n uint32) {
	w.seq.set(thread, w.seq[thread]+n)
}

// Close ends the open block.
func (w *V4) Close() {
	binary.LittleEndian.PutUint32(w.Bytes[w.size:], uint32(len(w.Bytes)-w.block))
	w.times.put(w.Bytes[w.block:])
	w.Bytes = append(w.Bytes, 6)
}

// Take removes what was written so far and returns it. The result is valid until the next write.
func (w *V4) Take() []byte {
	b := w.Bytes
	w.taken += len(b)
	w.Bytes = w.Bytes[:0]
	return b
}

// Metadata writes a MetadataBlock.
func (w *V4) Metadata(kinds ...Kind) {
	enc := encoder{}
	b := blockHeader(true)
	for _, k := range kinds {
		blob := le32(nil, k.ID)
		blob = append(blob, UTF16(k.Provider)...)
		blob = le32(blob, k.EventID)
		blob = append(blob, UTF16(k.Name)...)
		blob = le64(blob, k.Keywords)
		blob = le32(blob, k.Version, k.Level, 0)
		if k.Opcode != 0 {
			blob = le32(blob, 1)
			blob = append(blob, 1, k.Opcode)
		}
		b = enc.row(b, Row{Payload: blob, Seq: 0, Sorted: true}, 4)
	}
	w.Block("MetadataBlock", b)
}

// Events writes an EventBlock.
func (w *V4) Events(rows ...Row) { w.Block("EventBlock", w.Rows(rows...)) }

// Rows returns the content of an EventBlock.
func (w *V4) Rows(rows ...Row) []byte { return w.seq.block(rows, w.Uncompressed, 4) }

// A ThreadSeq is a thread and the number of its last event.
type ThreadSeq struct {
	Thread uint64
	Seq    uint32
}

// SequencePoint writes an SPBlock.
func (w *V4) SequencePoint(ticks int64, threads ...ThreadSeq) {
	b := le64(nil, uint64(ticks))
	b = le32(b, uint32(len(threads)))
	for _, t := range threads {
		b = le64(b, t.Thread)
		b = le32(b, t.Seq)
	}
	w.Block("SPBlock", b)
}

// Stacks returns the content of a StackBlock: stacks of addresses, the innermost frame first, that have
// consecutive numbers.
func Stacks(first uint32, pointerSize int, stacks ...[]uint64) []byte {
	b := le32(nil, first, uint32(len(stacks)))
	for _, s := range stacks {
		b = le32(b, uint32(len(s)*pointerSize))
		for _, address := range s {
			if pointerSize == 4 {
				b = le32(b, uint32(address))
			} else {
				b = le64(b, address)
			}
		}
	}
	return b
}

// End writes the tag that ends the stream.
func (w *V4) End() { w.Bytes = append(w.Bytes, 1) }

// numbers are the sequence numbers of the last events of threads.
type numbers map[uint64]uint32

func (n *numbers) set(thread uint64, seq uint32) {
	if *n == nil {
		*n = numbers{}
	}
	(*n)[thread] = seq
}

// number numbers a row unless it has a number.
func (n *numbers) number(r Row) Row {
	if r.Capture == 0 {
		r.Capture = r.Thread
	}
	if r.Seq == 0 {
		r.Seq = (*n)[r.Capture] + 1
	}
	n.set(r.Capture, r.Seq)
	return r
}

// block numbers rows and returns the content of a block with them.
func (n *numbers) block(rows []Row, fixed bool, major int) []byte {
	b := blockHeader(!fixed)
	enc, t := encoder{}, times{}
	for _, r := range rows {
		r = n.number(r)
		t.add(r.Ticks)
		if fixed {
			b = uncompressed(b, r, major)
		} else {
			b = enc.row(b, r, major)
		}
	}
	t.put(b)
	return b
}

// times are the smallest and the largest time of the rows of a block, which its header contains.
type times struct {
	some        bool
	first, last int64
}

func (t *times) add(ticks int64) {
	if !t.some {
		*t = times{true, ticks, ticks}
	}
	t.first, t.last = min(t.first, ticks), max(t.last, ticks)
}

func (t *times) put(block []byte) {
	binary.LittleEndian.PutUint64(block[4:], uint64(t.first))
	binary.LittleEndian.PutUint64(block[12:], uint64(t.last))
}

func blockHeader(compressed bool) []byte {
	flags := uint16(0)
	if compressed {
		flags = 1
	}
	b := binary.LittleEndian.AppendUint16(nil, 20)
	b = binary.LittleEndian.AppendUint16(b, flags)
	return le64(b, 0, 0)
}

// An encoder contains the state that compressed rows of a block share.
type encoder struct {
	started bool
	kind    uint32
	seq     uint32
	capture uint64
	thread  uint64
	stack   uint32
	ticks   int64
	labels  uint32
	size    int
}

func (e *encoder) row(b []byte, r Row, major int) []byte {
	at := len(b)
	b = append(b, 0)
	var flags byte
	if r.Kind != e.kind || !e.started {
		flags |= 0x01
		b = binary.AppendUvarint(b, uint64(r.Kind))
	}
	if r.Capture != e.capture || r.Seq != e.seq+1 || !e.started {
		flags |= 0x02
		b = binary.AppendUvarint(b, uint64(r.Seq-e.seq-1))
		b = binary.AppendUvarint(b, r.Capture)
		b = binary.AppendUvarint(b, 0xFFFFFFFF)
	}
	if r.Thread != e.thread || !e.started {
		flags |= 0x04
		b = binary.AppendUvarint(b, r.Thread)
	}
	if r.Stack != e.stack {
		flags |= 0x08
		b = binary.AppendUvarint(b, uint64(r.Stack))
	}
	b = binary.AppendUvarint(b, uint64(r.Ticks-e.ticks))
	if r.Activity && major < 6 {
		flags |= 0x10
		b = append(b, make([]byte, 16)...)
	}
	if major >= 6 && r.Labels != e.labels {
		flags |= 0x10
		b = binary.AppendUvarint(b, uint64(r.Labels))
	}
	if r.Sorted {
		flags |= 0x40
	}
	if len(r.Payload) != e.size || !e.started {
		flags |= 0x80
		b = binary.AppendUvarint(b, uint64(len(r.Payload)))
	}
	b[at] = flags
	*e = encoder{
		started: true, kind: r.Kind, seq: r.Seq, capture: r.Capture, thread: r.Thread, stack: r.Stack,
		ticks: r.Ticks, labels: r.Labels, size: len(r.Payload),
	}
	return append(b, r.Payload...)
}

func uncompressed(b []byte, r Row, major int) []byte {
	at := len(b)
	kind := r.Kind
	if !r.Sorted {
		kind |= 1 << 31
	}
	b = le32(b, 0, kind, r.Seq)
	b = le64(b, r.Thread, r.Capture)
	b = le32(b, 0xFFFFFFFF, r.Stack)
	b = le64(b, uint64(r.Ticks))
	if major >= 6 {
		b = le32(b, r.Labels)
	} else {
		b = append(b, make([]byte, 32)...)
	}
	b = le32(b, uint32(len(r.Payload)))
	b = append(b, r.Payload...)
	binary.LittleEndian.PutUint32(b[at:], uint32(len(b)-at-4))
	if major < 6 {
		for len(b)%4 != 0 {
			b = append(b, 0)
		}
	}
	return b
}

// UTF16 returns s as zero-terminated UTF-16LE.
func UTF16(s string) []byte {
	var b []byte
	for _, r := range s {
		if r >= 1<<16 {
			r -= 1 << 16
			b = binary.LittleEndian.AppendUint16(b, uint16(0xD800+r>>10))
			b = binary.LittleEndian.AppendUint16(b, uint16(0xDC00+r&0x3FF))
			continue
		}
		b = binary.LittleEndian.AppendUint16(b, uint16(r))
	}
	return append(b, 0, 0)
}

func le32(b []byte, vs ...uint32) []byte {
	for _, v := range vs {
		b = binary.LittleEndian.AppendUint32(b, v)
	}
	return b
}

func le64(b []byte, vs ...uint64) []byte {
	for _, v := range vs {
		b = binary.LittleEndian.AppendUint64(b, v)
	}
	return b
}
