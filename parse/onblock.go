package parse

import "encoding/binary"

// A Block is a complete block of the stream, as its writer wrote it.
type Block struct {
	Major   int // of the stream's format, as in Trace
	Kind    BlockKind
	Content []byte // without padding and tags; valid until the function that receives it returns
	// Cut: the stream ended inside this Event block, so its last row may be incomplete.
	Cut bool
}

// OnBlock makes the Reader call f with each block, before it reads the block's content: with the
// head of the stream, which is the Trace block, and then with all others in the order of the
// stream. It must be called before the first Scan. Whoever keeps a part of the
// stream needs no framing of its own.
func (r *Reader) OnBlock(f func(Block)) { r.onBlock = f }

// pass passes a block on.
func (r *Reader) pass(kind BlockKind, content []byte, cut bool) {
	if r.onBlock != nil {
		r.onBlock(Block{Major: r.trace.Major, Kind: kind, Content: content, Cut: cut})
	}
}

// Times returns the smallest and the largest time in an Event block, and that of a SequencePoint
// block, in ticks, as the block itself states them. known is false if the block has no time.
func (b *Block) Times() (first, last int64, known bool) {
	switch {
	case b.Kind == BlockEvent && len(b.Content) >= eventHeaderMin:
		return int64(binary.LittleEndian.Uint64(b.Content[4:])), int64(binary.LittleEndian.Uint64(b.Content[12:])), true
	case b.Kind == BlockSequencePoint && len(b.Content) >= 8:
		at := int64(binary.LittleEndian.Uint64(b.Content))
		return at, at, true
	}
	return 0, 0, false
}

// A RowHead is what the head of a row of an Event block contains.
type RowHead struct {
	Metadata uint32 // id
	Capture  uint64 // V4: id of the OS thread that wrote the event; V6: its thread index
	Seq      uint32 // number of the event among those of the thread
	Ticks    int64
	Sorted   bool // no row after this one is older than it
	End      int  // offset in the content of what follows the row
}

// Rows iterates over the rows of an Event block, up to the first that is incomplete.
func (b *Block) Rows(yield func(RowHead) bool) {
	if b.Kind != BlockEvent || len(b.Content) < eventHeaderMin {
		return
	}
	head := int(binary.LittleEndian.Uint16(b.Content))
	if head < eventHeaderMin || head > len(b.Content) {
		return
	}
	k := block{b: b.Content, off: head, compressed: binary.LittleEndian.Uint16(b.Content[2:])&flagCompressed != 0}
	for k.off < len(k.b) {
		ok, sorted := false, false
		if k.compressed {
			flags := k.b[k.off]
			_, ok = k.header(flags, b.Major)
			sorted = flags&flagSorted != 0
		} else {
			var w uncompressedRow
			w, ok = k.uncompressed(b.Major)
			k.seq, sorted = w.seq, w.sorted
		}
		if !ok || !yield(RowHead{k.metaID, k.capture, k.seq, k.ticks, sorted, k.off}) {
			return
		}
	}
}
