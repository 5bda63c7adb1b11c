package clr

import (
	"slices"
	"testing"
)

// TestPayload: each read consumes its bytes and none past the end, and nothing is read after a
// failure.
func TestPayload(t *testing.T) {
	b := []byte{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}
	for name, c := range map[string]struct {
		size, ptr int
		read      func(p *payload) uint64
		want      uint64
	}{
		"u8":              {1, 8, func(p *payload) uint64 { return uint64(p.u8()) }, 1},
		"u16":             {2, 8, func(p *payload) uint64 { return uint64(p.u16()) }, 0x0201},
		"u32":             {4, 8, func(p *payload) uint64 { return uint64(p.u32()) }, 0x04030201},
		"u64":             {8, 8, func(p *payload) uint64 { return p.u64() }, 0x0807060504030201},
		"a short pointer": {4, 4, func(p *payload) uint64 { return p.pointer() }, 0x04030201},
		"a long pointer":  {8, 8, func(p *payload) uint64 { return p.pointer() }, 0x0807060504030201},
		"some bytes":      {3, 8, func(p *payload) uint64 { return uint64(len(p.take(3))) }, 3},
	} {
		whole := payload{b: b[:c.size], ptr: c.ptr}
		if got := c.read(&whole); got != c.want || whole.bad || whole.rest() != 0 {
			t.Errorf("%s: %#x, %+v", name, got, whole)
		}
		longer := payload{b: b, ptr: c.ptr}
		if got := c.read(&longer); got != c.want || longer.bad || longer.rest() != len(b)-c.size {
			t.Errorf("%s of more: %#x, %+v", name, got, longer)
		}
		short := payload{b: b[:c.size-1], ptr: c.ptr}
		if got := c.read(&short); got != 0 || !short.bad {
			t.Errorf("%s of too little: %#x, %+v", name, got, short)
		}
		short.b = append(slices.Clone(b), 0, 0)
		if got := c.read(&short); got != 0 || short.off != 0 || !short.bad || short.optionalInstance() != (Instance{}) || short.utf16z() != nil {
			t.Errorf("%s after a read that failed: %#x, %+v", name, got, short)
		}
	}
	p := payload{b: b}
	if p.take(0) == nil || p.bad || p.take(-1) != nil || !p.bad || p.off != 0 {
		t.Errorf("nothing, and less: %+v", p)
	}
}

// TestPayloadTexts: a text ends at a zero code unit, which is consumed too.
func TestPayloadTexts(t *testing.T) {
	for _, c := range []struct {
		b, want string
		rest    int // -1: it is not terminated
	}{
		{"a\x00\x00\x00rest", "a\x00", 4},
		{"\x00\x00", "", 0},
		{"\x00a\x00\x00", "\x00a", 0},
		{"a\x00\x00b\x00\x00", "a\x00\x00b", 0},
		{"", "", -1},
		{"\x00", "", -1},
		{"a\x00", "", -1},
		{"a\x00\x00", "", -1},
	} {
		p := payload{b: []byte("x" + c.b), off: 1}
		if got := p.utf16z(); string(got) != c.want || p.bad != (c.rest < 0) || !p.bad && p.rest() != c.rest {
			t.Errorf("%q: %q, %+v", c.b, got, p)
		}
	}
}
