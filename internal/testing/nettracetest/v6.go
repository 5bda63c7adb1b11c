package nettracetest

import "encoding/binary"

// V6 writes a stream in the V6 container. Rows refer to threads by index.
type V6 struct {
	Bytes        []byte
	Uncompressed bool

	seq numbers
}

// Block kinds of V6.
const (
	BlockEnd           = 0
	BlockTrace         = 1
	BlockEvent         = 2
	BlockMetadata      = 3
	BlockSequencePoint = 4
	BlockStack         = 5
	BlockThread        = 6
	BlockRemoveThread  = 7
	BlockLabels        = 8
)

// A Thread declares a thread index.
type Thread struct {
	Index   uint64
	Process uint64 // 0: not written
	ID      uint64 // 0: not written
	Name    string
}

// Begin writes the preamble and the Trace block with the given key-value pairs.
func (w *V6) Begin(c Clock, pairs ...string) {
	w.Bytes = append(w.Bytes, "Nettrace"...)
	w.Bytes = le32(w.Bytes, 0, 6, 0)
	b := appendClock(nil, c)
	b = le32(b, c.PointerSize, uint32(len(pairs)/2))
	for _, s := range pairs {
		b = appendString(b, s)
	}
	w.Block(BlockTrace, b)
}

// Block writes a block of any kind, with any content.
func (w *V6) Block(kind byte, content []byte) {
	w.Bytes = le32(w.Bytes, uint32(len(content))|uint32(kind)<<24)
	w.Bytes = append(w.Bytes, content...)
}

// Metadata writes a Metadata block. A Kind with Version and Level 0 has no optional part.
func (w *V6) Metadata(kinds ...Kind) {
	b := binary.LittleEndian.AppendUint16(nil, 0)
	for _, k := range kinds {
		row := binary.AppendUvarint(nil, uint64(k.ID))
		row = appendString(row, k.Provider)
		row = binary.AppendUvarint(row, uint64(k.EventID))
		row = appendString(row, k.Name)
		row = binary.LittleEndian.AppendUint16(row, 0)
		var opt []byte
		if k.Version != 0 || k.Level != 0 {
			opt = append(opt, 8, byte(k.Level), 9, byte(k.Version), 3)
			opt = le64(opt, k.Keywords)
		}
		row = binary.LittleEndian.AppendUint16(row, uint16(len(opt)))
		row = append(row, opt...)
		b = binary.LittleEndian.AppendUint16(b, uint16(len(row)))
		b = append(b, row...)
	}
	w.Block(BlockMetadata, b)
}

// Threads writes a Thread block.
func (w *V6) Threads(threads ...Thread) {
	var b []byte
	for _, t := range threads {
		row := binary.AppendUvarint(nil, t.Index)
		if t.Name != "" {
			row = appendString(append(row, 1), t.Name)
		}
		if t.Process != 0 {
			row = binary.AppendUvarint(append(row, 2), t.Process)
		}
		if t.ID != 0 {
			row = binary.AppendUvarint(append(row, 3), t.ID)
		}
		b = binary.LittleEndian.AppendUint16(b, uint16(len(row)))
		b = append(b, row...)
	}
	w.Block(BlockThread, b)
}

// RemoveThreads writes a RemoveThread block.
func (w *V6) RemoveThreads(threads ...ThreadSeq) {
	var b []byte
	for _, t := range threads {
		b = binary.AppendUvarint(b, t.Thread)
		b = binary.AppendUvarint(b, uint64(t.Seq))
		delete(w.seq, t.Thread)
	}
	w.Block(BlockRemoveThread, b)
}

// Events writes an Event block.
func (w *V6) Events(rows ...Row) { w.Block(BlockEvent, w.seq.block(rows, w.Uncompressed, 6)) }

// SequencePoint writes a SequencePoint block. Flag 1 flushes threads, flag 2 metadata.
func (w *V6) SequencePoint(ticks int64, flags uint32, threads ...ThreadSeq) {
	b := le64(nil, uint64(ticks))
	b = le32(b, flags, uint32(len(threads)))
	for _, t := range threads {
		b = binary.AppendUvarint(b, t.Thread)
		b = binary.AppendUvarint(b, uint64(t.Seq))
	}
	if flags&1 != 0 {
		clear(w.seq)
	}
	w.Block(BlockSequencePoint, b)
}

// End writes the EndOfStream block.
func (w *V6) End() { w.Block(BlockEnd, nil) }

func appendString(b []byte, s string) []byte {
	b = binary.AppendUvarint(b, uint64(len(s)))
	return append(b, s...)
}
