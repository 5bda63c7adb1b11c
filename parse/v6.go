package parse

import "encoding/binary"

// The container of V6: blocks of a u32 (24 bits size, 8 bits kind) and content, with neither tags
// nor padding.

const (
	preambleV6  = 8 + 3*4
	majorV6     = 6
	blockHeadV6 = 4
)

func (r *Reader) startV6() error {
	if err := r.require(preambleV6, "", "it ends in the preamble"); err != nil {
		return err
	}
	b := r.src.unread()
	major, minor := binary.LittleEndian.Uint32(b[12:]), binary.LittleEndian.Uint32(b[16:])
	if major != majorV6 {
		return &KindError{
			Found: "nettrace of major version " + itoa(major) + ", this program reads 4, 5 and 6",
			Hint:  "a newer gclog may read it",
		}
	}
	r.src.advance(preambleV6)
	r.step = func(r *Reader) error { return r.blockV6(int(minor)) }
	return nil
}

func (r *Reader) blockV6(minor int) error {
	if err := r.require(blockHeadV6, "", "it ends without its end block: the recording was cut off"); err != nil {
		return err
	}
	h := binary.LittleEndian.Uint32(r.src.unread())
	size, kind := int(h&0xffffff), kindV6(byte(h>>24))
	if r.trace == nil && kind != BlockTrace {
		return r.corrupt(r.src.off, kind.String(), "a block before the Trace block")
	}
	if kind == BlockEnd {
		r.src.advance(blockHeadV6)
		return errEndOfStream
	}
	err := r.require(blockHeadV6+size, kind.String(), "it ends inside a block: the recording was cut off")
	if err != nil {
		return r.salvage(err, blockHeadV6, kind)
	}
	b := r.src.unread()[blockHeadV6 : blockHeadV6+size]
	base := r.src.off + blockHeadV6
	if kind == BlockTrace {
		if r.trace != nil {
			return r.corrupt(r.src.off, "Trace", "a second Trace block")
		}
		t, wrong := parseTraceV6(b, majorV6, minor)
		if wrong != "" {
			return r.corrupt(base, "Trace", "%s", wrong)
		}
		r.trace = t
		r.pass(kind, b, false)
		r.src.advance(blockHeadV6 + size)
		return nil
	}
	r.src.advance(blockHeadV6 + size)
	return r.content(b, base, kind)
}
