package parse

import (
	"encoding/binary"
	"math"
)

// A block is an Event block whose rows are being walked. Framing and rows are separate passes: the
// size of a block has been checked before the walk starts.
type block struct {
	b    []byte
	off  int   // offset of the next row in b
	base int64 // offset of b in the stream
	cut  bool  // the stream ended inside this block, so its last row may be incomplete

	compressed bool

	// The state that a compressed row inherits from the row in front of it. It is all zeros at the
	// start of every block.
	metaID  uint32
	seq     uint32
	capture uint64
	thread  uint64
	ticks   int64
	label   uint32
	stack   uint32
	size    uint64

	meta   *Metadata      // of metaID
	writer *captureThread // of capture
	about  *captureThread // of thread (V6)
}

// Flags of a compressed row: which fields its header contains.
const (
	flagMetadata = 0x01
	flagCapture  = 0x02
	flagThread   = 0x04
	flagStack    = 0x08
	flagActivity = 0x10 // V6: label list
	flagRelated  = 0x20 // V6: no bytes
	flagSorted   = 0x40
	flagSize     = 0x80
)

const (
	eventHeaderMin   = 20 // of an Event or Metadata block
	flagCompressed   = 1  // of an Event or Metadata block
	notSorted        = 1 << 31
	uncompressedV6Of = 48 // the size field of an uncompressed row counts this much in addition to the payload
)

// enter starts the walk of an Event block with the content b.
func (r *Reader) enter(b []byte, base int64, cut bool) error {
	if len(b) < eventHeaderMin {
		if cut {
			return nil
		}
		return r.corrupt(base, "Event", "%d bytes, but the header alone has %d", len(b), eventHeaderMin)
	}
	head := int(binary.LittleEndian.Uint16(b))
	if head < eventHeaderMin || head > len(b) {
		if cut {
			return nil
		}
		return r.corrupt(base, "Event", "a header of %d bytes in a block of %d", head, len(b))
	}
	r.block = block{
		b: b, off: head, base: base, cut: cut,
		compressed: binary.LittleEndian.Uint16(b[2:])&flagCompressed != 0,
	}
	r.inBlock = true
	return nil
}

// walk walks the rows of the block until one of them releases rows, or the block ends. The caller
// then delivers the released rows and calls walk again.
func (r *Reader) walk() error {
	k := &r.block
	for k.off < len(k.b) {
		var (
			payload []byte
			sorted  bool
			seq     uint32
			start   = k.off
			last    = k.seq
			before  = k.ticks
		)
		if k.compressed {
			flags := k.b[k.off]
			p, ok := k.header(flags, r.trace.Major)
			if !ok {
				return r.badRow(start)
			}
			payload = p
			sorted = flags&flagSorted != 0
			if k.meta != nil && flags&(flagMetadata|flagCapture|flagThread) == 0 {
				// By far the most frequent row: only time and size differ from the previous one.
				r.stats.Rows++
				r.extend(k.ticks, k.meta.want.Rundown)
				if !k.meta.want.Deliver && !sorted {
					continue
				}
				if r.take(payload, sorted) {
					return nil
				}
				continue
			}
			seq = k.seq
		} else {
			p, ok := k.uncompressed(r.trace.Major)
			if !ok {
				return r.badRow(start)
			}
			payload, sorted, seq = p.payload, p.sorted, p.seq
		}
		r.stats.Rows++
		if k.compressed {
			k.leave(last, before)
		}
		if err := r.resolve(seq, start); err != nil {
			return err
		}
		if k.meta == nil {
			r.stats.UnknownMetadata++
		}
		r.extend(k.ticks, k.meta != nil && k.meta.want.Rundown)
		if r.take(payload, sorted) {
			return nil
		}
	}
	r.leaveBlock()
	return nil
}

// take queues the row if it is wanted, and reports whether rows were released.
func (r *Reader) take(payload []byte, sorted bool) bool {
	k := &r.block
	wanted := k.meta != nil && k.meta.want.Deliver
	if sorted {
		if wanted {
			r.fill(&r.pending)
			r.pending.ticks, r.pending.more, r.pending.sum = k.ticks, 0, 0
			if sum := k.meta.want.Sum; sum != nil {
				r.pending.sum = sum(r.trace, payload)
			}
			r.pendingPayload, r.pendingStack, r.hasPending = payload, r.stacks.of(k.stack), true
		} else if r.sort.waiting == 0 {
			return false
		}
		r.release(k.ticks)
		return true
	}
	if wanted {
		sum := uint64(0)
		if k.meta.want.Sum != nil {
			sum = k.meta.want.Sum(r.trace, payload)
			if w := k.writer.newest(); w != nil && w.meta == k.meta && w.thread == k.thread && w.about == k.about {
				w.more++
				w.sum += sum
				return false
			}
		}
		w := r.sort.add(k.writer, k.ticks)
		w.sum = sum
		r.fill(w)
		r.sort.arena.copy(w, payload, r.stacks.of(k.stack))
	}
	if r.sort.full() {
		r.release(math.MaxInt64)
		return true
	}
	return false
}

// fill copies everything that the block contains about the row to w, except time and payload.
func (r *Reader) fill(w *row) {
	k := &r.block
	w.meta, w.about, w.thread = k.meta, k.about, k.thread
	w.version = int16(k.meta.Version)
	if k.label != 0 {
		if l, ok := r.labels[k.label]; ok {
			w.version = int16(l.version)
		}
	}
}

// header reads the header of a compressed row and returns the row's payload, or false if the row
// does not fit into the block.
func (k *block) header(flags byte, major int) ([]byte, bool) {
	b, off := k.b, k.off+1
	var v uint64
	if flags&(flagMetadata|flagCapture|flagThread|flagStack) == 0 {
		if k.metaID != 0 {
			k.seq++
		}
	} else if off = k.ids(flags, off); off < 0 {
		return nil, false
	}
	switch rest := b[min(off, len(b)):]; {
	case len(rest) > 1 && rest[0] < 0x80:
		k.ticks += int64(rest[0])
		off++
	case len(rest) >= 2 && rest[1] < 0x80:
		k.ticks += int64(rest[0]&0x7f) | int64(rest[1])<<7
		off += 2
	default:
		if v, off = uvarint(b, off, maxVarint64); off < 0 {
			return nil, false
		}
		k.ticks += int64(v) // wraps: a step back in time is written as a number near 2^64
	}
	if flags&(flagActivity|flagRelated) != 0 {
		if major < majorV6 {
			if flags&flagActivity != 0 {
				off += 16
			}
			if flags&flagRelated != 0 {
				off += 16
			}
		} else if flags&flagActivity != 0 {
			if v, off = uvarint(b, off, maxVarint32); off < 0 {
				return nil, false
			}
			k.label = uint32(v)
		}
	}
	if flags&flagSize != 0 {
		if k.size, off = uvarint(b, off, maxVarint32); off < 0 {
			return nil, false
		}
	}
	if off > len(b) || k.size > uint64(len(b)-off) {
		return nil, false
	}
	end := off + int(k.size)
	k.off = end
	return b[off:end:end], true
}

// ids reads the ids in the header of a compressed row, from off on. It returns the offset after
// them, or -1.
func (k *block) ids(flags byte, off int) int {
	b := k.b
	var v uint64
	if flags&flagMetadata != 0 {
		if v, off = uvarint(b, off, maxVarint32); off < 0 {
			return -1
		}
		k.metaID = uint32(v)
	}
	if flags&flagCapture != 0 {
		if v, off = uvarint(b, off, maxVarint32); off < 0 {
			return -1
		}
		k.seq += uint32(v) + 1
		if k.capture, off = uvarint(b, off, maxVarint64); off < 0 {
			return -1
		}
		if _, off = uvarint(b, off, maxVarint32); off < 0 { // processor
			return -1
		}
	} else if k.metaID != 0 {
		k.seq++
	}
	if flags&flagThread != 0 {
		if k.thread, off = uvarint(b, off, maxVarint64); off < 0 {
			return -1
		}
	}
	if flags&flagStack != 0 {
		if v, off = uvarint(b, off, maxVarint32); off < 0 {
			return -1
		}
		k.stack = uint32(v)
	}
	return off
}

type uncompressedRow struct {
	payload []byte
	sorted  bool
	seq     uint32
}

// uncompressed reads a row with a fixed header. No runtime writes such rows.
func (k *block) uncompressed(major int) (w uncompressedRow, ok bool) {
	c := cursor{b: k.b, off: k.off}
	size := uint64(c.u32())
	id := c.u32()
	k.metaID, w.sorted = id&^notSorted, id&notSorted == 0
	w.seq = c.u32()
	k.thread, k.capture = c.u64(), c.u64()
	c.u32() // processor
	k.stack = c.u32()
	k.ticks = int64(c.u64())
	if major < majorV6 {
		c.skip(32)
	} else {
		k.label = c.u32()
	}
	n := uint64(c.u32())
	w.payload = c.take(n)
	if c.bad {
		return w, false
	}
	if major >= majorV6 {
		if size != n+uncompressedV6Of {
			return w, false
		}
	} else if c.rest() > 0 {
		c.skip(uint64(-(c.off - k.off) & 3))
	}
	k.off = c.off
	return w, !c.bad
}

// badRow handles a row at off that does not fit into its block: the block ends there.
func (r *Reader) badRow(off int) error {
	if r.block.cut {
		// The stream ended inside the block and cut its last row off: the next step reports that.
		r.leaveBlock()
		return nil
	}
	return r.corrupt(r.block.base+int64(off), "Event", "a row goes beyond the end of its block")
}

// resolve looks up the metadata and the threads of the row by their ids, and detects losses. seq is
// the row's number among all rows that its thread tried to write.
func (r *Reader) resolve(seq uint32, at int) error {
	k := &r.block
	k.meta = r.meta.lookup(k.metaID)
	if r.trace.Major >= majorV6 && (k.about == nil || k.about.id != k.thread) {
		if k.about = r.threads[k.thread]; k.about == nil {
			return r.corrupt(k.base+int64(at), "Event", "thread index %d was never declared", k.thread)
		}
	}
	if k.writer == nil || k.writer.id != k.capture {
		if k.writer = r.threads[k.capture]; k.writer == nil {
			if r.trace.Major >= majorV6 {
				return r.corrupt(k.base+int64(at), "Event", "thread index %d was never declared", k.capture)
			}
			k.writer = r.newThread(k.capture)
		}
	}
	t := k.writer
	k.seq = seq
	if t.seen && k.metaID != 0 {
		// If a V4 thread counts from 1 again, it is another thread with a reused id.
		n := seq - t.lastSeq - 1
		if int32(n) > 0 && (seq != 1 || r.trace.Major >= majorV6) {
			r.lose(t, n, k.ticks)
		}
	}
	t.seen = true
	t.lastSeq, t.lastTicks = seq, k.ticks
	return nil
}

// leave records the number and time of the last row that was walked, for the thread that wrote it.
func (k *block) leave(seq uint32, ticks int64) {
	if k.writer != nil {
		k.writer.lastSeq, k.writer.lastTicks = seq, ticks
	}
}

func (r *Reader) leaveBlock() {
	if k := &r.block; k.compressed {
		k.leave(k.seq, k.ticks)
	}
	r.inBlock = false
}
