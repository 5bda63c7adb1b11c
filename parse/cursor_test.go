package parse

import (
	"bytes"
	"encoding/binary"
	"math"
	"testing"
)

// TestCursor: each read consumes its bytes, and none past the end.
func TestCursor(t *testing.T) {
	b := []byte{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}
	for name, c := range map[string]struct {
		size int
		read func(c *cursor) uint64
		want uint64
	}{
		"u8":   {1, func(c *cursor) uint64 { return uint64(c.u8()) }, 1},
		"u16":  {2, func(c *cursor) uint64 { return uint64(c.u16()) }, 0x0201},
		"u32":  {4, func(c *cursor) uint64 { return uint64(c.u32()) }, 0x04030201},
		"u64":  {8, func(c *cursor) uint64 { return c.u64() }, 0x0807060504030201},
		"take": {3, func(c *cursor) uint64 { return uint64(len(c.take(3))) }, 3},
	} {
		whole := cursor{b: b[:c.size]}
		if got := c.read(&whole); got != c.want || whole.bad || whole.off != c.size || whole.rest() != 0 || !whole.done() {
			t.Errorf("%s: %#x, %+v", name, got, whole)
		}
		longer := cursor{b: b}
		if got := c.read(&longer); got != c.want || longer.rest() != len(b)-c.size || longer.done() {
			t.Errorf("%s of more: %#x, %+v", name, got, longer)
		}
		short := cursor{b: b[:c.size-1]}
		if got := c.read(&short); got != 0 || !short.bad || !short.done() {
			t.Errorf("%s of too little: %#x, %+v", name, got, short)
		}
		short.b = b
		if got := c.read(&short); got != 0 || short.off != 0 || short.uvarint() != 0 || short.utf16z() != nil || short.utf8() != nil {
			t.Errorf("%s after a read that failed: %#x, %+v", name, got, short)
		}
	}
	bad := cursor{b: []byte("a\x00\x00\x00"), bad: true}
	if s := bad.utf16z(); s != nil || bad.off != 0 {
		t.Errorf("after a read that failed: a text %q up to %d", s, bad.off)
	}
	huge := cursor{b: b, off: 1}
	if huge.take(math.MaxUint64) != nil || !huge.bad {
		t.Errorf("%+v", huge)
	}
}

func TestVarint(t *testing.T) {
	for _, v := range []uint64{0, 1, 127, 128, 300, 1<<14 - 1, 1 << 14, math.MaxUint32, math.MaxUint32 + 1, 1 << 62, math.MaxUint64} {
		b := binary.AppendUvarint([]byte{99}, v)
		b = append(b, 0xff) // not read
		if got, off := uvarint(b, 1, maxVarint64); got != v || off != len(b)-1 {
			t.Errorf("%d: %d up to %d of % x", v, got, off, b)
		}
		c := cursor{b: b, off: 1}
		if got := c.uvarint(); got != v || c.bad || c.off != len(b)-1 {
			t.Errorf("%d: %d, %+v", v, got, c)
		}
		c = cursor{b: b, off: 1}
		if got := c.uvarint32(); c.bad != (v > math.MaxUint32) || !c.bad && uint64(got) != v || c.bad && got != 0 {
			t.Errorf("%d in 32 bits: %d, %+v", v, got, c)
		}
		for n := 1; n < len(b)-1; n++ {
			if got, off := uvarint(b[:n], 1, maxVarint64); got != 0 || off != -1 {
				t.Errorf("%d cut at %d: %d up to %d", v, n, got, off)
			}
			c := cursor{b: b[:n], off: 1}
			if got := c.uvarint(); got != 0 || !c.bad || c.off != 1 {
				t.Errorf("%d cut at %d: %d, %+v", v, n, got, c)
			}
		}
	}
	// A number has at most limit bytes.
	for _, limit := range []int{maxVarint32, maxVarint64} {
		b := append(bytes.Repeat([]byte{0x80}, limit-1), 1, 1)
		if got, off := uvarint(b, 0, limit); off != limit || got != 1<<(7*(limit-1)) {
			t.Errorf("limit %d: %d up to %d", limit, got, off)
		}
		b = append(bytes.Repeat([]byte{0x80}, limit), 1)
		if got, off := uvarint(b, 0, limit); got != 0 || off != -1 {
			t.Errorf("limit %d: a number of %d bytes: %d up to %d", limit, len(b), got, off)
		}
	}
	for n := range 20 {
		c := cursor{b: append(bytes.Repeat([]byte{0x80}, n), 0)}
		if c.uvarint(); c.bad != (n >= 10) {
			t.Errorf("a number of %d bytes is bad: %v", n+1, c.bad)
		}
	}
}

func TestStrings(t *testing.T) {
	c := cursor{b: []byte("xa\x00b\x00\x00\x00c\x00"), off: 1}
	if s := c.utf16z(); string(s) != "a\x00b\x00" || c.off != 7 {
		t.Errorf("%q, %+v", s, c)
	}
	c = cursor{b: []byte("a\x00\x00b\x00\x00rest")} // zero bytes across a unit boundary do not end it
	if s := c.utf16z(); string(s) != "a\x00\x00b" || c.off != 6 || c.bad {
		t.Errorf("%q, %+v", s, c)
	}
	for _, b := range []string{"", "\x00", "a\x00", "a\x00\x00", "a\x00b\x00c"} {
		c := cursor{b: []byte(b)}
		if s := c.utf16z(); s != nil || !c.bad {
			t.Errorf("%q: %q", b, s)
		}
	}
	c = cursor{b: []byte("\x00\x00")}
	if s := c.utf16z(); len(s) != 0 || c.bad || !c.done() {
		t.Errorf("%q, %+v", s, c)
	}
	c = cursor{b: []byte("\x02abc")}
	if s := c.utf8(); string(s) != "ab" || c.rest() != 1 {
		t.Errorf("%q, %+v", s, c)
	}
}

func TestAppendUTF16(t *testing.T) {
	for _, c := range []struct{ src, want string }{
		{"", ""},
		{"a", ""},
		{"a\x00", "a"},
		{"a\x00b", "a"},
		{"\x00\x01", "Ā"},
		{"\x34\xd8\x1e\xdd", "𝄞"},
		{"\x34\xd8\x1e\xdda\x00", "𝄞a"},
		{"\x34\xd8", "\ufffd"},
		{"\x34\xd8\x1e", "\ufffd"},
		{"\x34\xd8a\x00", "\ufffda"},
		{"\x1e\xdda\x00", "\ufffda"},
		{"\x34\xd8\x34\xd8\x1e\xdd", "\ufffd𝄞"},
	} {
		if got := string(AppendUTF16([]byte("x"), []byte(c.src))); got != "x"+c.want {
			t.Errorf("%q: %q, want %q", c.src, got, "x"+c.want)
		}
	}
}
