package heap_test

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/gclog/gclog/gclog/heap"
	"github.com/gclog/gclog/internal/testing/nettracetest"
	"github.com/gclog/gclog/parse/clr"
)

// recordedWalk returns a recording of a heap with a number of objects, each with 1.6 references on
// average. Their regions are in any order. The first objects are a list, the others are trees with
// references between them.
func recordedWalk(objects int) []byte {
	const region, types = 4 << 20, 200
	rnd := rand.New(rand.NewPCG(1, uint64(objects)))
	references := make([][]uint32, objects)
	for i := 1; i < objects; i++ {
		parent := i - 1
		if i > objects/20 {
			parent -= rnd.IntN(min(i, 1000))
		}
		references[parent] = append(references[parent], uint32(i))
		if rnd.IntN(5) < 3 {
			other := i + rnd.IntN(1000) - 500
			if rnd.IntN(4) == 0 || other < 0 || other >= objects {
				other = rnd.IntN(objects)
			}
			references[i] = append(references[i], uint32(other))
		}
	}
	address, size, typ := make([]uint64, objects), make([]uint64, objects), make([]uint64, objects)
	regions := rnd.Perm(objects*80/region + 2)
	next, end := uint64(0), uint64(0)
	for i := range objects {
		t := min(rnd.IntN(types), rnd.IntN(types))
		typ[i], size[i] = 0x7000_0000_0000+uint64(t)*0x50, uint64(24+8*(t%16))
		if t == 0 { // strings
			size[i] = 22 + 2*rnd.Uint64N(20)
		}
		if next+size[i] > end {
			next = 0x7f00_0000_0000 + uint64(regions[0])*region
			end = next + region
			regions = regions[1:]
		}
		address[i] = next
		next += (size[i] + 7) &^ 7
	}

	w := &nettracetest.V4{}
	clock := nettracetest.DefaultClock()
	w.Begin(clock)
	ids := []uint32{clr.IDGCStart, clr.IDGCEnd, clr.IDBulkType, clr.IDGCBulkNode, clr.IDGCBulkEdge, clr.IDGCBulkRootEdge, clr.IDGCGenerationRange}
	kind := map[uint32]uint32{}
	for i, id := range ids {
		kind[id] = uint32(i + 1)
		w.Metadata(nettracetest.Kind{ID: kind[id], Provider: clr.RuntimeProvider, EventID: id, Version: 2, Level: 4, Keywords: 1})
	}
	ticks := clock.Ticks
	add := func(id uint32, p *nettracetest.Payload) {
		ticks++
		w.Events(nettracetest.Row{Kind: kind[id], Thread: 1, Ticks: ticks, Payload: p.Bytes})
	}
	payload := func() *nettracetest.Payload { return &nettracetest.Payload{PointerSize: 8} }
	add(clr.IDGCStart, payload().U32(7, 2, 1, 0).U16(0).U64(0))
	for i := range objects*80/region + 2 {
		add(clr.IDGCGenerationRange, payload().U8(2).U64(0x7f00_0000_0000+uint64(i)*region, region, region).U16(0))
	}
	for t := range types {
		add(clr.IDBulkType, payload().U32(1).U16(0).U64(0x7000_0000_0000+uint64(t)*0x50, 0xf000).U32(uint32(0x02000001+t), 0).U8(0x12).Text(fmt.Sprintf("My.App.Type%d", t)).U32(0))
	}
	edges, count, index := payload(), uint32(0), uint32(0)
	flush := func() {
		add(clr.IDGCBulkEdge, &nettracetest.Payload{Bytes: append(payload().U32(index, count).U16(0).Bytes, edges.Bytes...)})
		edges.Bytes, count, index = edges.Bytes[:0], 0, index+1
	}
	const perEvent, edgesPerEvent = 2008, 5354
	for from := 0; from < objects; from += perEvent {
		to := min(from+perEvent, objects)
		p := payload().U32(uint32(from/perEvent), uint32(to-from)).U16(0)
		for i := from; i < to; i++ {
			p.U64(address[i], size[i], typ[i], uint64(len(references[i])))
			for _, r := range references[i] {
				edges.U64(address[r]).U32(0)
				if count++; count == edgesPerEvent {
					flush()
				}
			}
		}
		add(clr.IDGCBulkNode, p)
	}
	flush()
	p := payload().U32(0, 1000).U16(0).U64(address[0]).U8(2).U32(0).U64(1)
	for i := range uint64(999) {
		p.U64(address[rnd.IntN(objects)]).U8(2).U32(0).U64(2 + i)
	}
	add(clr.IDGCBulkRootEdge, p)
	add(clr.IDGCEnd, payload().U32(7, 2).U16(0))
	w.End()
	return w.Bytes
}

// BenchmarkHeap measures the steps of analyzing a snapshot.
func BenchmarkHeap(b *testing.B) {
	objects := 1_000_000
	if testing.Short() {
		objects = 100_000
	}
	stream := recordedWalk(objects)
	g, err := heap.Read(bytes.NewReader(stream))
	if err != nil || g.Len() != objects || !g.Walk.Complete() || g.Walk.Unresolved > 0 {
		b.Fatal(err)
	}
	var dump bytes.Buffer
	if err := g.WriteDump(&dump, &heap.DumpInfo{}); err != nil {
		b.Fatal(err)
	}
	d := g.Dominators()
	for _, c := range []struct {
		name string
		step func() error
	}{
		{"Read", func() error {
			_, err := heap.Read(bytes.NewReader(stream))
			return err
		}},
		{"ReadHistogram", func() error {
			_, err := heap.ReadHistogram(bytes.NewReader(stream))
			return err
		}},
		{"WriteDump", func() error { return g.WriteDump(io.Discard, &heap.DumpInfo{}) }},
		{"ReadDump", func() error {
			_, _, err := heap.ReadDump(bytes.NewReader(dump.Bytes()))
			return err
		}},
		{"Dominators", func() error {
			g.Dominators()
			return nil
		}},
		{"RetainedByType", func() error {
			d.RetainedByType()
			return nil
		}},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := c.step(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(b.Elapsed().Seconds()*1e9/float64(b.N)/float64(objects), "ns/object")
		})
	}
}
