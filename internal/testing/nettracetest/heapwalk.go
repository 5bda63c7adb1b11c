package nettracetest

import (
	"bufio"
	"io"
)

// HeapWalk describes a recording of a snapshot whose objects are a list. For each tenth object there
// is a series of objects that moved, a handle, a static field and a dependent handle, which is more
// than a real program has.
type HeapWalk struct {
	Objects int
	Gaps    bool // between the objects that moved: each series is a range of its own
	Late    bool // another thread's range of a generation comes after all objects
}

// IDs of the runtime's events that it contains.
const (
	walkStart      = 1
	walkEnd        = 2
	walkTypes      = 15
	walkRoots      = 16
	walkDependents = 17
	walkObjects    = 18
	walkReferences = 19
	walkMoved      = 22
	walkRange      = 23
	walkStatics    = 38
)

// WriteTo writes the recording. It keeps no more than a block in memory.
func (v HeapWalk) WriteTo(to io.Writer) (total int64, err error) {
	const (
		provider = "Microsoft-Windows-DotNETRuntime"
		typ      = 0x7000_0000_0000
		base     = 0x7f00_0000_0000
		size     = 24
		perEvent = 2000
	)
	w := bufio.NewWriterSize(to, 1<<20)
	var out V4
	flush := func() {
		n, _ := w.Write(out.Take()) // Flush returns the error
		total += int64(n)
	}
	clock := DefaultClock()
	out.Begin(clock)
	for _, id := range []uint32{walkStart, walkEnd, walkTypes, walkRoots, walkDependents, walkObjects, walkReferences, walkMoved, walkRange, walkStatics} {
		out.Metadata(Kind{ID: id, Provider: provider, EventID: id, Version: 2, Level: 4, Keywords: 1})
	}
	ticks := clock.Ticks
	add := func(id uint32, p *Payload) {
		ticks++
		out.Events(Row{Kind: id, Thread: 1, Ticks: ticks, Payload: p.Bytes})
		flush()
	}
	payload := func() *Payload { return &Payload{PointerSize: 8} }
	// bulk writes events with n entries in all.
	bulk := func(id uint32, n int, entry func(p *Payload, i uint64)) {
		for from := 0; from < n; from += perEvent {
			count := min(perEvent, n-from)
			p := payload()
			switch id {
			case walkStatics:
				p.U32(uint32(count)).U64(0).U16(0)
			default:
				p.U32(uint32(from/perEvent), uint32(count)).U16(0)
			}
			for i := range count {
				entry(p, uint64(from+i))
			}
			add(id, p)
		}
	}
	address := func(i uint64) uint64 { return base + i*size }
	tenth := v.Objects / 10
	length := address(uint64(v.Objects)) - base

	add(walkStart, payload().U32(7, 2, 1, 0).U16(0).U64(0))
	ranged := ticks
	addRange := func() {
		p := payload().U8(0).U64(base+length, 2*length, 2*length).U16(0)
		out.Events(Row{Kind: walkRange, Thread: 2, Ticks: ranged, Payload: p.Bytes})
		flush()
	}
	if !v.Late {
		addRange()
	}
	moved := uint64(10 * size)
	if v.Gaps {
		moved -= size
	}
	add(walkTypes, payload().U32(1).U16(0).U64(typ, 0xf000).U32(0x02000001, 0).U8(0x12).Text("My.App.Node").U32(0))
	bulk(walkMoved, tenth, func(p *Payload, i uint64) {
		p.U64(address(20*i)+length, address(10*i), moved)
	})
	bulk(walkObjects, v.Objects, func(p *Payload, i uint64) { p.U64(address(i), size, typ, 1) })
	if v.Late {
		addRange()
	}
	bulk(walkReferences, v.Objects, func(p *Payload, i uint64) { p.U64(address((i + 1) % uint64(v.Objects))).U32(0) })
	bulk(walkRoots, tenth, func(p *Payload, i uint64) { p.U64(address(10 * i)).U8(2).U32(0).U64(i + 1) })
	bulk(walkStatics, tenth, func(p *Payload, i uint64) { p.U64(i*8, address(10*i), typ).U32(0).Text("field") })
	bulk(walkDependents, tenth, func(p *Payload, i uint64) { p.U64(address(10*i), address(10*i+1), i) })
	add(walkEnd, payload().U32(7, 2).U16(0))
	out.End()
	flush()
	return total, w.Flush()
}
