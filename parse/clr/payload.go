package clr

import (
	"encoding/binary"
	"math"

	"github.com/gclog/gclog/parse"
)

// A payload reads the fields of an event one after the other. Like a cursor of package parse it is
// sticky: after the first read past the end, bad is set and every read returns zero.
type payload struct {
	b   []byte
	off int
	ptr int // size of a pointer, 4 or 8
	bad bool

	event *parse.Event // whose payload it is
	outer Instance     // of the dynamic event that contains this one
}

// begin starts reading b. It sets each field on its own because copying a struct takes longer than
// decoding most events.
func (p *payload) begin(b []byte) { p.b, p.off, p.bad = b, 0, false }

func (p *payload) rest() int { return len(p.b) - p.off }

func (p *payload) take(n int) []byte {
	if p.bad || n < 0 || n > p.rest() {
		p.bad = true
		return nil
	}
	b := p.b[p.off : p.off+n]
	p.off += n
	return b
}

func (p *payload) u8() byte {
	if b := p.take(1); b != nil {
		return b[0]
	}
	return 0
}

func (p *payload) u16() uint16 {
	if b := p.take(2); b != nil {
		return binary.LittleEndian.Uint16(b)
	}
	return 0
}

func (p *payload) u32() uint32 {
	if b := p.take(4); b != nil {
		return binary.LittleEndian.Uint32(b)
	}
	return 0
}

func (p *payload) u64() uint64 {
	if b := p.take(8); b != nil {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

func (p *payload) f64() float64 { return math.Float64frombits(p.u64()) }

// pointer reads a pointer-sized field.
func (p *payload) pointer() uint64 {
	if p.ptr == 4 {
		return uint64(p.u32())
	}
	return p.u64()
}

func (p *payload) utf16z() UTF16 {
	if p.bad {
		return nil
	}
	for i := p.off; i+1 < len(p.b); i += 2 {
		if p.b[i] == 0 && p.b[i+1] == 0 {
			s := p.b[p.off:i]
			p.off = i + 2
			return s
		}
	}
	p.bad = true
	return nil
}

// UTF16 is a name as it is in a payload: UTF-16LE without the terminating zero. It comes from the
// target and may contain anything.
type UTF16 []byte

// String returns the name as UTF-8.
func (s UTF16) String() string { return string(parse.AppendUTF16(nil, s)) }

// Is reports whether the name is an ASCII text.
func (s UTF16) Is(text string) bool {
	if len(s) != 2*len(text) {
		return false
	}
	for i := range len(text) {
		if s[2*i] != text[i] || s[2*i+1] != 0 {
			return false
		}
	}
	return true
}

func (p *payload) instance() Instance { return Instance{p.u16()} }

// optionalInstance reads the CLR instance at the end of an event. The event's oldest version does
// not contain it.
func (p *payload) optionalInstance() Instance {
	if p.rest() < 2 {
		return Instance{}
	}
	return p.instance()
}

// items returns the n values of size bytes that follow, or fewer if the payload ends first. That
// only happens if the runtime truncated its own event.
func (p *payload) items(n uint32, size int) (int, []byte) {
	count := min(int64(n), int64(p.rest()/size))
	return int(count), p.take(int(count) * size)
}
