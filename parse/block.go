package parse

import (
	"encoding/binary"
	"strconv"
)

// A BlockKind is the kind of a block, in either container.
type BlockKind uint8

// The kinds of blocks. V4 has only Trace, Event, Metadata, SequencePoint and Stack blocks.
const (
	BlockUnknown BlockKind = iota
	BlockEnd
	BlockTrace
	BlockEvent
	BlockMetadata
	BlockSequencePoint
	BlockStack
	BlockThread
	BlockRemoveThread
	BlockLabelList
)

var kindNames = [...]string{
	"unknown", "EndOfStream", "Trace", "Event", "Metadata", "SequencePoint", "Stack", "Thread", "RemoveThread",
	"LabelList",
}

func (k BlockKind) String() string { return kindNames[k] }

func kindV4(name []byte) BlockKind {
	switch string(name) {
	case "EventBlock":
		return BlockEvent
	case "MetadataBlock":
		return BlockMetadata
	case "StackBlock":
		return BlockStack
	case "SPBlock":
		return BlockSequencePoint
	}
	return BlockUnknown
}

// kindsV6 is indexed by the kind byte in the stream. Higher kinds are unknown; their blocks are
// skipped by size.
var kindsV6 = [...]BlockKind{
	BlockEnd, BlockTrace, BlockEvent, BlockMetadata, BlockSequencePoint, BlockStack, BlockThread, BlockRemoveThread,
	BlockLabelList,
}

func kindV6(b byte) BlockKind {
	if int(b) < len(kindsV6) {
		return kindsV6[b]
	}
	return BlockUnknown
}

// fullBlock is the minimum size of a block that counts as full, so that another one is expected to
// follow it. The runtime starts a new block at 100 KB. An event may be as long as 64 KB, but seldom
// is.
const fullBlock = 64 << 10

// content handles a complete block of any kind except Trace.
func (r *Reader) content(b []byte, base int64, kind BlockKind) error {
	r.pass(kind, b, false)
	wrong := ""
	if kind != BlockStack { // a stack block may come between the two
		r.more = kind == BlockMetadata || kind == BlockEvent && len(b) >= fullBlock
	}
	switch kind {
	case BlockEvent:
		return r.enter(b, base, false)
	case BlockMetadata:
		if r.trace.Major >= majorV6 {
			wrong = r.metadataV6(b)
		} else {
			wrong = r.metadataV4(b)
		}
	case BlockSequencePoint:
		r.stacks.end()
		if r.trace.Major >= majorV6 {
			wrong = r.sequencePointV6(b)
		} else {
			wrong = r.sequencePointV4(b)
		}
	case BlockStack:
		wrong = r.parseStacks(b)
	case BlockThread:
		wrong = r.parseThreads(b)
	case BlockRemoveThread:
		wrong = r.removeThreads(b)
	case BlockLabelList:
		wrong = r.parseLabels(b)
	}
	if wrong != "" {
		return r.corrupt(base, kind.String(), "%s", wrong)
	}
	return nil
}

const metadataFull = "it declares more distinct events than the limits of this program allow"

// metadataV4 reads a MetadataBlock. Its rows look like those of an EventBlock, with a metadata blob
// as the payload.
func (r *Reader) metadataV4(b []byte) string {
	if len(b) < eventHeaderMin {
		return "the block is shorter than its header"
	}
	head := int(binary.LittleEndian.Uint16(b))
	if head < eventHeaderMin || head > len(b) {
		return "the block is shorter than its header"
	}
	k := block{b: b, off: head, compressed: binary.LittleEndian.Uint16(b[2:])&flagCompressed != 0}
	for k.off < len(b) {
		var (
			blob []byte
			ok   bool
		)
		if k.compressed {
			blob, ok = k.header(b[k.off], r.trace.Major)
		} else {
			var w uncompressedRow
			w, ok = k.uncompressed(r.trace.Major)
			blob = w.payload
		}
		if !ok {
			return "a row goes beyond the end of its block"
		}
		id, kind, ok := r.meta.parseV4(blob)
		if !ok {
			return "a metadata blob ends in the middle of a field"
		}
		if !r.meta.add(id, kind, r.filter) {
			return metadataFull
		}
	}
	return ""
}

// metadataV6 reads a Metadata block of V6: a header that starts with its own size, then rows that
// each start with their size.
func (r *Reader) metadataV6(b []byte) string {
	c := cursor{b: b}
	c.skip(uint64(c.u16()))
	for c.rest() > 0 {
		w := c.take(uint64(c.u16()))
		if c.bad {
			return "a metadata row goes beyond the end of its block"
		}
		id, kind, ok := r.meta.parseV6(w)
		if !ok {
			return "a metadata row ends in the middle of a field"
		}
		if !r.meta.add(id, kind, r.filter) {
			return metadataFull
		}
	}
	return ""
}

func itoa(v uint32) string { return strconv.FormatUint(uint64(v), 10) }
