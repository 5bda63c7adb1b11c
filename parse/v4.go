package parse

import (
	"encoding/binary"
)

// The FastSerialization container of V4 and V5: tagged objects, each "05 05 01", u32 version, u32
// minimum reader version, u32 length of the name, the name, "06", content, "06". A single "01" ends
// the stream.
const (
	tagNull  = 1
	tagBegin = 5
	tagEnd   = 6

	objectHead  = 3 + 4 + 4 + 4 // everything in front of the name
	maxObjName  = 64
	maxTraceV4  = 4 // highest object version that can be read
	maxBlockV4  = 2
	maxBlock    = 16 << 20
	preambleV4  = 12 + 20
	endOfObject = 1
)

func (r *Reader) startV4() error {
	if err := r.require(preambleV4, "", "it ends in the preamble"); err != nil {
		return err
	}
	if string(r.src.unread()[12:preambleV4]) != string(magicFast) {
		return r.corrupt(12, "", "the preamble lacks %q", magicFast)
	}
	r.src.advance(preambleV4)
	r.step = (*Reader).objectV4
	return nil
}

// objectV4 reads the whole next object before it uses any part of it.
func (r *Reader) objectV4() error {
	const noEnd = "it ends without its end tag: the recording was cut off"
	if err := r.require(1, "", noEnd); err != nil {
		return err
	}
	switch tag := r.src.unread()[0]; tag {
	case tagBegin:
	case tagNull:
		if r.trace == nil {
			return r.corrupt(r.src.off, "", "the end of the stream before the Trace object")
		}
		r.src.advance(1)
		return errEndOfStream
	default:
		return r.corrupt(r.src.off, "", "tag %d where an object or the end of the stream must follow", tag)
	}
	if err := r.require(objectHead, "", noEnd); err != nil {
		return err
	}
	b := r.src.unread()
	if b[1] != tagBegin || b[2] != tagNull {
		return r.corrupt(r.src.off, "", "tags % x where an object starts", b[:3])
	}
	version := binary.LittleEndian.Uint32(b[3:])
	nameLen := binary.LittleEndian.Uint32(b[11:])
	if nameLen == 0 || nameLen > maxObjName {
		return r.corrupt(r.src.off+11, "", "an object name of %d bytes", nameLen)
	}
	head := objectHead + int(nameLen) + 1
	if err := r.require(head, "", noEnd); err != nil {
		return err
	}
	b = r.src.unread()
	name := b[objectHead : head-1]
	if b[head-1] != tagEnd {
		return r.corrupt(r.src.off+int64(head)-1, "",
			"tag %d after the name of an object, expected %d", b[head-1], tagEnd)
	}
	if string(name) == "Trace" {
		return r.traceV4(head, version)
	}
	kind := kindV4(name)
	if kind == BlockUnknown {
		return r.corrupt(r.src.off, "", "an object of the unknown kind %q", name)
	}
	if r.trace == nil {
		return r.corrupt(r.src.off, kind.String(), "a block before the Trace object")
	}
	if version > maxBlockV4 {
		return r.corrupt(r.src.off, kind.String(),
			"version %d of the block, the highest known is %d", version, maxBlockV4)
	}
	return r.blockV4(head, kind)
}

func (r *Reader) traceV4(head int, version uint32) error {
	if version > maxTraceV4 {
		return r.corrupt(r.src.off, "Trace", "version %d, the highest known is %d", version, maxTraceV4)
	}
	if r.trace != nil {
		return r.corrupt(r.src.off, "Trace", "a second Trace object")
	}
	size := head + traceV4Size + endOfObject
	if err := r.require(size, "Trace", "it ends inside the Trace object"); err != nil {
		return err
	}
	b := r.src.unread()[:size]
	t, wrong := parseTraceV4(b[head : size-1])
	if wrong != "" {
		return r.corrupt(r.src.off+int64(head), "Trace", "%s", wrong)
	}
	if b[size-1] != tagEnd {
		return r.corrupt(r.src.off+int64(size)-1, "Trace", "tag %d after the object, expected %d", b[size-1], tagEnd)
	}
	r.trace = t
	r.pass(BlockTrace, b[head:size-1], false)
	r.src.advance(size)
	return nil
}

// blockV4 reads a block: u32 size, zero padding up to a multiple of 4 in the stream, content.
func (r *Reader) blockV4(head int, kind BlockKind) error {
	const cut = "it ends inside a block: the recording was cut off"
	if err := r.require(head+4, kind.String(), cut); err != nil {
		return err
	}
	size := binary.LittleEndian.Uint32(r.src.unread()[head:])
	if size > maxBlock {
		return r.corrupt(r.src.off+int64(head), kind.String(), "a block of %d bytes, the limit is %d", size, maxBlock)
	}
	begin := head + 4
	begin += int(-(r.src.off + int64(begin)) & 3)
	total := begin + int(size) + endOfObject
	if err := r.require(total, kind.String(), cut); err != nil {
		return r.salvage(err, begin, kind)
	}
	b := r.src.unread()[:total]
	if b[total-1] != tagEnd {
		return r.corrupt(r.src.off+int64(total)-1, kind.String(),
			"tag %d after the block, expected %d", b[total-1], tagEnd)
	}
	base := r.src.off + int64(begin)
	r.src.advance(total)
	return r.content(b[begin:total-1], base, kind)
}

// salvage delivers the complete rows of an Event block inside which the stream ends. The rows are
// self-delimiting. Then the stream ends with err.
func (r *Reader) salvage(err error, begin int, kind BlockKind) error {
	if isTimeout(err) {
		return err
	}
	b := r.src.unread()
	if kind != BlockEvent || len(b) <= begin {
		return err
	}
	r.step = func(*Reader) error { return err }
	r.pass(kind, b[begin:], true)
	return r.enter(b[begin:], r.src.off+int64(begin), true)
}
