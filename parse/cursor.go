package parse

import "encoding/binary"

// A cursor reads little-endian values from untrusted bytes.
//
// It is sticky: after the first read past the end, bad is set and every further read returns zero,
// so a group of reads needs only one check at its end. Apart from the row walk in row.go, its
// methods are the only code of this package that slices by a length from the stream.
type cursor struct {
	b   []byte
	off int
	bad bool
}

func (c *cursor) rest() int { return len(c.b) - c.off }

func (c *cursor) done() bool { return c.bad || c.off == len(c.b) }

// take returns the next n bytes. The comparison is unsigned, so that no length from a stream can
// become a negative int.
func (c *cursor) take(n uint64) []byte {
	if c.bad || n > uint64(c.rest()) {
		c.bad = true
		return nil
	}
	p := c.b[c.off : c.off+int(n)]
	c.off += int(n)
	return p
}

func (c *cursor) skip(n uint64) { c.take(n) }

func (c *cursor) u8() byte {
	if p := c.take(1); p != nil {
		return p[0]
	}
	return 0
}

func (c *cursor) u16() uint16 {
	if p := c.take(2); p != nil {
		return binary.LittleEndian.Uint16(p)
	}
	return 0
}

func (c *cursor) u32() uint32 {
	if p := c.take(4); p != nil {
		return binary.LittleEndian.Uint32(p)
	}
	return 0
}

func (c *cursor) u64() uint64 {
	if p := c.take(8); p != nil {
		return binary.LittleEndian.Uint64(p)
	}
	return 0
}

// uvarint reads a LEB128 number of at most 10 bytes.
func (c *cursor) uvarint() uint64 {
	if c.bad {
		return 0
	}
	v, off := uvarint(c.b, c.off, maxVarint64)
	if off < 0 {
		c.bad = true
		return 0
	}
	c.off = off
	return v
}

// uvarint32 reads a LEB128 number of at most 10 bytes; a value of more than 32 bits makes the
// cursor bad.
func (c *cursor) uvarint32() uint32 {
	v := c.uvarint()
	if v > 1<<32-1 {
		c.bad = true
		return 0
	}
	return uint32(v)
}

// utf16z returns the bytes of a zero-terminated UTF-16LE string, without the terminator.
func (c *cursor) utf16z() []byte {
	if c.bad {
		return nil
	}
	for i := c.off; i+1 < len(c.b); i += 2 {
		if c.b[i] == 0 && c.b[i+1] == 0 {
			p := c.b[c.off:i]
			c.off = i + 2
			return p
		}
	}
	c.bad = true
	return nil
}

// utf8 returns the bytes of a V6 string: its length in bytes as a varint, then UTF-8.
func (c *cursor) utf8() []byte { return c.take(uint64(c.uvarint32())) }

const (
	maxVarint32 = 5
	maxVarint64 = 10
)

// uvarint decodes a LEB128 number of at most limit bytes at b[off:] and returns it with the offset
// after it. It returns 0 and -1 if b ends before the number does, or if the number is longer than
// limit. Bits above the 64th are lost, as in the runtime.
func uvarint(b []byte, off, limit int) (uint64, int) {
	var v uint64
	for i := range limit {
		if uint(off) >= uint(len(b)) {
			return 0, -1
		}
		x := b[off]
		off++
		v |= uint64(x&0x7f) << (7 * uint(i))
		if x < 0x80 {
			return v, off
		}
	}
	return 0, -1
}
