package fakeruntime

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"unicode/utf16"
)

// A tracingRequest is the content of a CollectTracing request.
type tracingRequest struct {
	bufferMB, format uint32
	rundown          uint64
	stacks           bool
	providers        []provider
}

type provider struct {
	name, filter string
	keywords     uint64
	level        uint32
	include      bool     // exclude lists the wanted events, not those to leave out
	exclude      []uint32 // ids of events
}

// readTracing reads the payload of a CollectTracing of any version supported here. It is strict: ok
// is false if any bytes remain.
func readTracing(command uint16, payload []byte) (t tracingRequest, ok bool) {
	c := cursor{b: payload}
	if command == 0x0206 && c.u32() != 0 {
		return t, false // not a session over this connection
	}
	t.bufferMB, t.format = c.u32(), c.u32()
	if command < 0x0205 {
		t.rundown = uint64(c.u8())
	} else {
		t.rundown = c.u64()
	}
	if command != 0x0203 {
		t.stacks = c.u8() != 0
	}
	for n := c.u32(); n > 0 && !c.bad; n-- {
		p := provider{keywords: c.u64(), level: c.u32(), name: c.string(), filter: c.string()}
		if command == 0x0206 {
			p.include = c.u8() != 0
			for n := c.u32(); n > 0 && !c.bad; n-- {
				p.exclude = append(p.exclude, c.u32())
			}
		}
		t.providers = append(t.providers, p)
	}
	return t, !c.bad && len(c.b) == 0
}

// listens reports whether a session asks for events.
func (t *tracingRequest) listens() bool {
	return slices.ContainsFunc(t.providers, func(p provider) bool { return p.keywords != 0 })
}

// walks reports whether a session makes the runtime walk its heap.
func (t *tracingRequest) walks() bool {
	const heapCollect = 0x800000
	return slices.ContainsFunc(t.providers, func(p provider) bool { return p.keywords&heapCollect != 0 })
}

// describe formats the payload of a request for the log.
func describe(command uint16, payload []byte) string {
	switch command {
	case 0x0201:
		if len(payload) == 8 {
			return fmt.Sprintf(" stop session %d", binary.LittleEndian.Uint64(payload))
		}
	case 0x0203, 0x0204, 0x0205, 0x0206:
		t, ok := readTracing(command, payload)
		if !ok {
			return fmt.Sprintf(" malformed: % x", payload)
		}
		var s strings.Builder
		fmt.Fprintf(&s, " buffer=%d format=%d rundown=%d stacks=%v", t.bufferMB, t.format, t.rundown, t.stacks)
		for _, p := range t.providers {
			fmt.Fprintf(&s, " %s:0x%x:%d", p.name, p.keywords, p.level)
			if p.filter != "" {
				s.WriteString(":" + p.filter)
			}
			if p.include || len(p.exclude) > 0 {
				fmt.Fprintf(&s, "-%v", p.exclude)
			}
		}
		return s.String()
	}
	return ""
}

// A cursor reads a payload. After the end of the payload it is bad, and reads zeros.
type cursor struct {
	b   []byte
	bad bool
}

func (c *cursor) take(n int) []byte {
	if c.bad || n > len(c.b) {
		c.bad = true
		return make([]byte, min(n, 8))
	}
	p := c.b[:n]
	c.b = c.b[n:]
	return p
}

func (c *cursor) u8() byte    { return c.take(1)[0] }
func (c *cursor) u32() uint32 { return binary.LittleEndian.Uint32(c.take(4)) }
func (c *cursor) u64() uint64 { return binary.LittleEndian.Uint64(c.take(8)) }

// string reads a string as strictly as a runtime does: the last unit must be 0.
func (c *cursor) string() string {
	n := int(c.u32())
	if n == 0 || n > len(c.b)/2 {
		c.bad = c.bad || n != 0
		return ""
	}
	units := make([]uint16, n)
	for i := range units {
		units[i] = binary.LittleEndian.Uint16(c.take(2))
	}
	c.bad = c.bad || units[n-1] != 0
	return string(utf16.Decode(units[:n-1]))
}
