package heap_test

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gclog/gclog/gclog/heap"
	"github.com/gclog/gclog/internal/testing/extent"
	"github.com/gclog/gclog/internal/testing/nettracetest"
	"github.com/gclog/gclog/parse"
	"github.com/gclog/gclog/parse/clr"
)

const small = "testdata/small.nettrace.gz"

// recorded returns the events of a recording that a Builder uses, with their own payloads.
func recorded(t testing.TB, path string) (list []parse.Event, pointerSize int) {
	t.Helper()
	return eventsOf(t, unpacked(t, path))
}

func eventsOf(t testing.TB, stream io.Reader) (list []parse.Event, pointerSize int) {
	t.Helper()
	r := parse.NewReader(stream, heap.Wanted)
	for r.Scan() {
		e := r.Event()
		if e == nil {
			t.Fatal("a loss")
		}
		e.Payload = bytes.Clone(e.Payload)
		list = append(list, *e)
	}
	return list, r.Trace().PointerSize
}

// build passes events to a Builder.
func build(list []parse.Event, pointerSize int) (*heap.Graph, error) {
	return pass(list, heap.NewBuilder(pointerSize), pointerSize).Graph()
}

func pass(list []parse.Event, b *heap.Builder, pointerSize int) *heap.Builder {
	decoder := clr.NewDecoder(pointerSize)
	for i := range list {
		if e, err := decoder.Decode(&list[i]); err == nil {
			b.Event(list[i].Time, e)
		}
	}
	return b
}

// TestLate: with server GC, several threads write what the collection was, where the generations were
// and what it moved. Of these events, any may come after the objects, or after the end of the
// collection: the result is the same.
func TestLate(t *testing.T) {
	heap.RareGC(t)
	random := rand.New(rand.NewPCG(5, 6))
	try := func(t *testing.T, name string, tries int, list []parse.Event, pointerSize int) {
		want, err := build(list, pointerSize)
		if err != nil {
			t.Fatal(name, err)
		}
		for range tries {
			late := lateEvents(list, random)
			got, err := build(late, pointerSize)
			if err != nil {
				t.Fatal(name, err)
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("%s: %+v, want %+v", name, got.Walk, want.Walk)
			}
			counts, err := pass(late, heap.NewCounter(pointerSize), pointerSize).Counts()
			if err != nil {
				t.Fatal(name, err)
			}
			types := len(counts.Types) // without those that only static fields have
			if !slices.Equal(counts.Counts, want.Histogram().Counts[:types]) {
				t.Errorf("%s: counting says something else", name)
			}
		}
	}
	tinyList, pointerSize := eventsOf(t, bytes.NewReader(tiny(8)))
	try(t, "tiny", 20, tinyList, pointerSize)
	smallList, pointerSize := recorded(t, small)
	try(t, small, 3, smallList, pointerSize)
	t.Run("captures", func(t *testing.T) {
		for _, path := range captures(t, "*.nettrace.gz") {
			list, pointerSize := recorded(t, path)
			try(t, path, 5, list, pointerSize)
		}
	})
}

// TestOrders: before and after the requested collection, whose objects one thread writes, there are
// others: some of the program, some that are walked, too, and a background collection around them. The
// runtime writes out one thread after the other. Only the order within each thread is certain, and the
// result does not depend on more.
func TestOrders(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	heap.RareGC(t)
	tries := extent.Pick(100, 300)
	if testing.Short() {
		tries = 30
	}
	list, pointerSize := eventsOf(t, bytes.NewReader(tiny(8)))
	start := slices.IndexFunc(list, isKind(clr.IDGCStart))
	end := slices.IndexFunc(list, isKind(clr.IDGCEnd))
	for try := range tries {
		var threads [4][]parse.Event
		add := func(thread int, at int64, number, generation, kind byte, e parse.Event) {
			e.Time += at
			e.Payload = bytes.Clone(e.Payload)
			switch e.Meta.EventID {
			case clr.IDGCStart:
				copy(e.Payload, []byte{number, 0, 0, 0, generation})
				e.Payload[12] = kind
			case clr.IDGCEnd:
				copy(e.Payload, []byte{number, 0, 0, 0, generation})
			case clr.IDGCGenerationRange: // each collection has others
				e.Payload[0] = (e.Payload[0] + number) % 5
			}
			threads[thread] = append(threads[thread], e)
		}
		background := random.IntN(2) == 0
		if background {
			add(3, 0, 1, 2, byte(clr.TypeBackground), list[start])
		}
		for number := byte(2); number < 6; number++ {
			at := int64(number) * 1000
			walked, generation := random.IntN(2) == 0, byte(0)
			if number == 4 { // the requested one
				walked, generation = true, 2
			}
			for i := start; i <= end; i++ {
				switch e := list[i]; e.Meta.EventID {
				case clr.IDGCStart, clr.IDGCGenerationRange, clr.IDGCGlobalHeapHistory:
					add(1, at, number, generation, byte(clr.TypeBlocking), e)
				case clr.IDGCBulkMovedRanges:
					add(2, at, number, generation, 0, e)
				case clr.IDGCEnd, clr.IDBulkType:
					add(0, at, number, generation, 0, e)
				default:
					if walked {
						add(0, at, number, generation, 0, e)
					}
				}
			}
		}
		if background {
			add(3, 5500, 1, 2, 0, list[end])
		}
		sorted := slices.Concat(threads[:]...)
		slices.SortStableFunc(sorted, func(a, b parse.Event) int { return cmp.Compare(a.Time, b.Time) })
		var mixed []parse.Event
		for rest := threads; len(mixed) < len(sorted); {
			i := random.IntN(len(rest))
			n := random.IntN(len(rest[i]) + 1)
			mixed = append(mixed, rest[i][:n]...)
			rest[i] = rest[i][n:]
		}
		want, err := build(sorted, pointerSize)
		if err != nil || !want.Walk.Complete() || want.Walk.Collection != 4 {
			t.Fatalf("%+v, %v", want.Walk, err)
		}
		got, err := build(mixed, pointerSize)
		if err != nil {
			t.Fatalf("try %d: %v", try, err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("try %d: %+v, want %+v", try, got.Walk, want.Walk)
		}
		counts, err := pass(mixed, heap.NewCounter(pointerSize), pointerSize).Counts()
		if err != nil || counts.Walk != want.Walk || !slices.Equal(counts.Counts, want.Histogram().Counts[:len(counts.Counts)]) {
			t.Errorf("try %d: counting: %v, %+v, want %+v", try, err, counts, want.Walk)
		}
	}
}

func isKind(id int) func(parse.Event) bool {
	return func(e parse.Event) bool { return e.Meta.Provider == clr.RuntimeProvider && e.Meta.EventID == id }
}

// lateEvents moves those events of the first walk that another thread may write. They are of two
// threads: their order is kept within each, and the last ones come before the next collection and
// before the rundown, which comes when the session is ended.
func lateEvents(list []parse.Event, random *rand.Rand) []parse.Event {
	nodes := slices.IndexFunc(list, isKind(clr.IDGCBulkNode))
	start := nodes
	for !isKind(clr.IDGCStart)(list[start]) {
		start--
	}
	next := len(list)
	follows := func(e parse.Event) bool { return isKind(clr.IDGCStart)(e) || e.Meta.Provider == clr.RundownProvider }
	if i := slices.IndexFunc(list[nodes:], follows); i >= 0 {
		next = nodes + i
	}
	var rest []parse.Event
	var threads [2][]parse.Event
	for _, e := range list[start:nodes] {
		switch e.Meta.EventID {
		case clr.IDGCStart, clr.IDGCGenerationRange, clr.IDGCGlobalHeapHistory, clr.IDGCPerHeapHistory:
			threads[0] = append(threads[0], e)
		case clr.IDGCBulkMovedRanges:
			threads[1] = append(threads[1], e)
		default:
			rest = append(rest, e)
		}
	}
	rest = append(rest, list[nodes:next]...)
	for _, thread := range threads {
		at := 0
		for _, e := range thread {
			at += random.IntN(len(rest) - at + 1)
			rest = slices.Insert(rest, at, e)
			at++
		}
	}
	return slices.Concat(list[:start], rest, list[next:])
}

// TestMissingEvents removes one event after the other: the result must be incomplete, or lack types.
// Nothing tells the last event with roots from one more that was lost; the sequence numbers of the
// stream do.
func TestMissingEvents(t *testing.T) {
	list, pointerSize := recorded(t, small)
	last := map[int]int{} // index of the last event by id
	for i := range list {
		last[list[i].Meta.EventID] = i
	}
	whole, err := build(list, pointerSize)
	if err != nil || !whole.Walk.Complete() || whole.UnknownTypes() > 0 {
		t.Fatal(err)
	}
	tried := map[int]int{}
	for i := range list {
		id := list[i].Meta.EventID
		g, err := build(slices.Delete(slices.Clone(list), i, i+1), pointerSize)
		tried[id]++
		switch id {
		case clr.IDGCStart:
			if err != nil || g.Walk.Complete() || g.Walk.Collection != whole.Walk.Collection || g.Walk.Depth != 2 || g.Len() != whole.Len() || g.NumReferences() > 0 || g.Generation(0) != heap.UnknownGeneration {
				t.Errorf("without GCStart: %+v, %v", g, err)
			}
		case clr.IDGCBulkNode, clr.IDGCBulkEdge, clr.IDGCEnd:
			if err != nil || g.Walk.Complete() || g.NumReferences() > 0 {
				t.Errorf("without event %d (id %d): %+v, %v", i, id, g.Walk, err)
			}
		case clr.IDGCBulkRootEdge, clr.IDGCBulkRootConditionalEdge:
			if err != nil || g.Walk.Complete() != (last[id] == i) {
				t.Errorf("without event %d (id %d): %+v, %v", i, id, g.Walk, err)
			}
		case clr.IDBulkType:
			if err != nil || !g.Walk.Complete() || g.Len() != whole.Len() {
				t.Errorf("without event %d: %+v, %v", i, g.Walk, err)
			}
		}
	}
	for _, id := range []int{clr.IDGCBulkNode, clr.IDGCBulkEdge, clr.IDGCBulkRootEdge, clr.IDBulkType} {
		if tried[id] == 0 {
			t.Errorf("no event %d", id)
		}
	}
}

// TestTruncated cuts a recording off: what is returned says that it is incomplete, or is the whole
// walk.
func TestTruncated(t *testing.T) {
	extent.Long(t)
	heap.RareGC(t)
	b, err := io.ReadAll(unpacked(t, small))
	if err != nil {
		t.Fatal(err)
	}
	whole, _ := heap.Read(bytes.NewReader(b))
	complete := 0
	for n := 0; n < len(b); n += extent.Pick(1993, 997) {
		g, err := heap.Read(bytes.NewReader(b[:n]))
		switch {
		case err == nil:
			t.Fatalf("%d bytes: no error", n)
		case g == nil:
		case !g.Walk.Complete():
			if g.NumReferences() > 0 || g.Len() > whole.Len() {
				t.Errorf("%d bytes: %d objects with %d references", n, g.Len(), g.NumReferences())
			}
		case g.Len() != whole.Len() || g.NumReferences() != whole.NumReferences():
			t.Errorf("%d bytes: %d objects with %d references", n, g.Len(), g.NumReferences())
		default:
			complete++
		}
	}
	if complete == 0 {
		t.Error("the walk is complete before the stream ends")
	}
}

// TestWalks: of several collections the first full blocking one with a walk counts, and of an
// incomplete and a complete walk the complete one.
func TestWalks(t *testing.T) {
	list, pointerSize := recorded(t, small)
	start := slices.IndexFunc(list, func(e parse.Event) bool { return e.Meta.EventID == clr.IDGCStart })
	end := slices.IndexFunc(list, func(e parse.Event) bool { return e.Meta.EventID == clr.IDGCEnd })
	walk := list[start : end+1]
	of := func(generation, kind byte) []parse.Event { // the walk, by another collection
		again := slices.Clone(walk)
		again[0].Payload = bytes.Clone(again[0].Payload)
		again[0].Payload[4], again[0].Payload[12] = generation, kind
		return again
	}
	without := func(list []parse.Event, id int) []parse.Event {
		return slices.DeleteFunc(slices.Clone(list), func(e parse.Event) bool { return e.Meta.EventID == id })
	}
	program := without(without(walk, clr.IDGCBulkNode), clr.IDGCBulkEdge)
	types := without(list, clr.IDGCStart)[:start]
	for _, c := range []struct {
		name     string
		events   []parse.Event
		depth    uint32
		others   int
		complete bool
	}{
		{"the program's own collection first", slices.Concat(types, program, walk), 2, 0, true},
		{"a lesser one first", slices.Concat(types, of(1, 0), walk), 2, 1, true},
		{"a lesser one only", slices.Concat(types, of(1, 0)), 1, 0, true},
		{"one during a background collection first", slices.Concat(types, of(1, 2), of(0, 2), walk), 2, 2, true},
		{"an incomplete one first", slices.Concat(types, without(walk, clr.IDGCBulkEdge), of(1, 0)), 1, 1, true},
		{"incomplete ones", slices.Concat(types, without(of(1, 0), clr.IDGCBulkEdge), without(walk, clr.IDGCBulkEdge)), 2, 1, false},
		{"several", slices.Concat(types, walk, program, walk, walk, program), 2, 2, true},
	} {
		g, err := build(c.events, pointerSize)
		if err != nil || g.Len() != 7095 || g.Walk.Depth != c.depth || g.Walk.Others != c.others || g.Walk.Complete() != c.complete {
			t.Errorf("%s: %+v, %v", c.name, g.Walk, err)
		}
	}
	if g, err := build(slices.Concat(types, program), pointerSize); !errors.Is(err, heap.ErrNoWalk) {
		t.Errorf("no walk: %v, %v", g, err)
	}
}

// TestEndsMissing: a walk whose start or end is missing takes nothing from the collections before and
// after it, and the walk with more objects is used.
func TestEndsMissing(t *testing.T) {
	list, pointerSize := recorded(t, small)
	at := func(id int) int {
		return slices.IndexFunc(list, func(e parse.Event) bool { return e.Meta.EventID == id })
	}
	whole := list[at(clr.IDGCStart) : at(clr.IDGCEnd)+1]
	types := list[:at(clr.IDGCStart)]
	long := whole[len(whole)-1].Time - whole[0].Time + 1000
	without := func(list []parse.Event, ids ...int) []parse.Event {
		return slices.DeleteFunc(slices.Clone(list), func(e parse.Event) bool { return slices.Contains(ids, e.Meta.EventID) })
	}
	of := func(collection byte, list []parse.Event) []parse.Event { // a later one, by its number
		again := slices.Clone(list)
		for i := range again {
			again[i].Time += long * int64(collection)
			if id := again[i].Meta.EventID; id == clr.IDGCStart || id == clr.IDGCEnd {
				again[i].Payload = append([]byte{collection, 0, 0, 0}, again[i].Payload[4:]...)
			}
		}
		return again
	}
	program := without(whole, clr.IDGCBulkNode, clr.IDGCBulkEdge, clr.IDGCBulkRootEdge)
	short := whole[:at(clr.IDGCBulkNode)-len(types)+1]
	const start, end = clr.IDGCStart, clr.IDGCEnd
	for _, c := range []struct {
		name       string
		events     []parse.Event
		collection uint32
		cut        bool
	}{
		{"both, after another collection", slices.Concat(of(1, program), of(2, without(whole, start, end))), 0, true},
		{"both, between others", slices.Concat(of(1, program), of(2, without(whole, start, end)), of(3, program)), 0, true},
		{"the start, before one that is cut off", slices.Concat(of(1, without(whole, start)), of(2, short)), 1, false},
		{"the start, after one that is cut off", slices.Concat(of(1, short), of(2, without(whole, start))), 2, false},
		{"the end, before others", slices.Concat(of(1, without(whole, end)), of(2, program), of(3, program)), 1, true},
		{"the starts of many", slices.Concat(of(1, without(whole, start)), of(2, without(whole, start)), of(3, without(short, start)), of(4, program)), 1, false},
	} {
		b := pass(slices.Concat(types, c.events), heap.NewBuilder(pointerSize), pointerSize)
		b.Loss(list[0].Time+long*9, 5) // much later
		g, err := b.Graph()
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		w := &g.Walk
		later := c.name != "both, after another collection" // else the stream may have lost the rest of it
		if g.Len() != 7095 || w.Collection != c.collection || w.Cut != c.cut || w.Complete() || later && w.Lost > 0 || g.Generation(0) != heap.UnknownGeneration {
			t.Errorf("%s: %d objects, %v, %+v", c.name, g.Len(), g.Generation(0), *w)
		}
	}
}

// TestFalseCounts: an object that claims references which never come, or an object of a wrong size.
func TestFalseCounts(t *testing.T) {
	list, pointerSize := recorded(t, small)
	node := slices.IndexFunc(list, func(e parse.Event) bool { return e.Meta.EventID == clr.IDGCBulkNode })
	for _, c := range []struct {
		field, value int
		complete     bool
	}{{8, 0xff, true}, {24, 0xff, false}, {31, 0x7f, false}} {
		changed := slices.Clone(list)
		changed[node].Payload = bytes.Clone(changed[node].Payload)
		changed[node].Payload[10+c.field] ^= byte(c.value)
		g, err := build(changed, pointerSize)
		if err != nil || g.Walk.Complete() != c.complete {
			t.Errorf("%+v: %+v, %v", c, g.Walk, err)
		}
	}
}

// tiny returns a recording of a heap with five objects:
//
//	stack of My.App.Main -> a Holder (gen1) -> a large Blob, and twice the Item
//	statics table (pinned handle) -> Item, which is also in the static field Best
//	weak handle -> String, which is frozen
func tiny(pointerSize int) []byte {
	clock := nettracetest.DefaultClock()
	clock.PointerSize = uint32(pointerSize)
	return tinyOf(clock)
}

// tinyOf returns the same by a clock, without the events of some kinds.
func tinyOf(clock nettracetest.Clock, without ...int) []byte {
	pointerSize := int(clock.PointerSize)
	ids := []int{
		clr.IDGCStart, clr.IDGCEnd, clr.IDBulkType, clr.IDGCBulkNode, clr.IDGCBulkEdge, clr.IDGCBulkRootEdge,
		clr.IDGCBulkRootConditionalEdge, clr.IDGCBulkRootStaticVar, clr.IDGCGenerationRange, clr.IDGCBulkMovedRanges, clr.IDGCGlobalHeapHistory,
		clr.IDGCBulkRootCCW, clr.IDGCBulkRCW,
	}
	w := &nettracetest.V4{}
	w.Begin(clock)
	kinds := map[int]uint32{}
	for i, id := range ids {
		kinds[id] = uint32(i + 1)
		w.Metadata(nettracetest.Kind{ID: uint32(i + 1), Provider: clr.RuntimeProvider, EventID: uint32(id), Version: 2, Level: 4, Keywords: 1})
	}
	kinds[clr.IDRundownMethodDCEnd] = uint32(len(ids) + 1)
	w.Metadata(nettracetest.Kind{ID: uint32(len(ids) + 1), Provider: clr.RundownProvider, EventID: clr.IDRundownMethodDCEnd, Version: 1, Level: 4, Keywords: 0x30})
	ticks := clock.Ticks
	add := func(id int, fill func(p *nettracetest.Payload)) {
		if slices.Contains(without, id) {
			return
		}
		p := &nettracetest.Payload{PointerSize: pointerSize}
		fill(p)
		ticks++
		w.Events(nettracetest.Row{Kind: kinds[id], Thread: 1, Ticks: ticks, Sorted: true, Payload: p.Bytes})
	}
	add(clr.IDGCStart, func(p *nettracetest.Payload) { p.U32(7, 2, 1, 0).U16(0).U64(0) })
	ranges := func(all ...[3]uint64) {
		for _, r := range all {
			add(clr.IDGCGenerationRange, func(p *nettracetest.Payload) { p.U8(byte(r[0])).Pointer(r[1]).U64(r[2], r[2]).U16(0) })
		}
	}
	ranges([3]uint64{1, 0x1000, 0x100}, [3]uint64{0, 0x2000, 0x100}, [3]uint64{3, 0x10000, 0x1000}, [3]uint64{4, 0x20000, 0x1000})
	add(clr.IDGCBulkMovedRanges, func(p *nettracetest.Payload) { p.U32(0, 1).U16(0).Pointer(0x2040).Pointer(0x1040).U64(0x20) })
	add(clr.IDGCGlobalHeapHistory, func(p *nettracetest.Payload) { p.U64(0).U32(1, 2, 1, 0).U16(0).U32(0, 0) })
	add(clr.IDBulkType, func(p *nettracetest.Payload) {
		p.U32(4).U16(0)
		for i, name := range []string{"Holder", "Item", "Blob", "System.Object[]"} {
			p.U64(uint64(0x100+i), 0xf000).U32(uint32(0x02000001+i), 0).U8(0x12).Text(name)
			if name == "Holder" {
				p.U32(2).U64(0x101, 0x999)
			} else {
				p.U32(0)
			}
		}
	})
	add(clr.IDGCBulkRootStaticVar, func(p *nettracetest.Payload) {
		p.U32(1).U64(1).U16(0).U64(0x20010, 0x1040, 0x101).U32(0).Text("Best")
	})
	add(clr.IDGCBulkNode, func(p *nettracetest.Payload) {
		p.U32(0, 5).U16(0)
		for _, o := range [][4]uint64{{0x1000, 24, 0x100, 3}, {0x1040, 17, 0x101, 0}, {0x10000, 5 << 30, 0x102, 0}, {0x20000, 0x40, 0x103, 2}, {0x30000, 22, 0x104, 0}} {
			p.Pointer(o[0]).U64(o[1:]...)
		}
	})
	add(clr.IDGCBulkEdge, func(p *nettracetest.Payload) {
		p.U32(0, 5).U16(0)
		for _, to := range []uint64{0x10000, 0x1040, 0x1040, 0x1040, 0x1000} {
			p.Pointer(to).U32(0)
		}
	})
	add(clr.IDGCBulkRootEdge, func(p *nettracetest.Payload) {
		p.U32(0, 5).U16(0)
		p.Pointer(0x1000).U8(0).U32(0).Pointer(0x77)
		p.Pointer(0x1000).U8(0).U32(0).Pointer(0x77) // again
		p.Pointer(0x20000).U8(2).U32(1).Pointer(0x88)
		p.Pointer(0x30000).U8(2).U32(2).Pointer(0x89)
		p.Pointer(0).U8(2).U32(0).Pointer(0x90)
	})
	add(clr.IDGCBulkRootCCW, func(p *nettracetest.Payload) {
		p.U32(2).U16(0)
		p.U64(0x99, 0x1000, 0x100, 0x5000).U32(3, 0, 0)
		p.U64(0x9a, 0, 0x100, 0x5000).U32(1, 0, 0)
	})
	add(clr.IDGCBulkRCW, func(p *nettracetest.Payload) { p.U32(1).U16(0).U64(0x1040, 0x101, 0x6000, 0x7000).U32(2, 0) })
	ranges([3]uint64{1, 0x1000, 0x100}, [3]uint64{3, 0x10000, 0x1000}, [3]uint64{4, 0x20000, 0x1000})
	add(clr.IDGCEnd, func(p *nettracetest.Payload) { p.U32(7, 2).U16(0) })
	for id, name := range map[uint64]string{0x77: "Main", 0x78: "Other", 0x88: "Handle"} {
		add(clr.IDRundownMethodDCEnd, func(p *nettracetest.Payload) {
			p.U64(id, 0xf000, 0x7000).U32(0x10, 0x06000001, 0).Text("My.App").Text(name).Text("void ()").U16(0)
		})
	}
	w.End()
	return w.Bytes
}

// TestTiny reads a heap with every kind of event, in a process with 8 and one with 4 bytes for a
// pointer.
func TestTiny(t *testing.T) {
	for _, pointerSize := range []int{8, 4} {
		g, err := heap.Read(bytes.NewReader(tiny(pointerSize)))
		if err != nil || !g.Walk.Complete() || g.Walk.Collection != 7 || g.Walk.NullRoots != 1 || g.Walk.Unresolved != 0 || g.UnknownTypes() != 1 {
			t.Fatalf("%+v, %v", g, err)
		}
		if !slices.Equal(g.Wrappers, []heap.Wrapper{{Object: 0, Callable: true, References: 3}, {Object: 1, References: 2}}) {
			t.Errorf("wrappers %v", g.Wrappers)
		}
		if kinds := g.Types[0].Kinds; !slices.Equal(kinds, []uint8{0x12, 0}) || g.Types[1].Kinds != nil {
			t.Errorf("kinds of parameters: %v, %v", kinds, g.Types[1].Kinds)
		}
		if len(g.Methods) != 1 { // only what holds objects is kept
			t.Errorf("methods %v", g.Methods)
		}
		space := map[int]string{8: "17/24", 4: "17/20"}[pointerSize]
		last := map[int]string{8: "22/24", 4: "22/24"}[pointerSize]
		want := []string{
			"Holder 0x1000 24/24 gen1 [2 1 1] retains 5368709144 by stack of My.App.Main [0]",
			"Item 0x1040 " + space + " gen0 [] retains " + space[3:] + " by static Best [1]",
			"Blob 0x10000 5368709120/5368709120 loh [] retains 5368709120 by stack of My.App.Main [0 2]",
			"System.Object[] 0x20000 64/64 poh [1 0] retains 64 by statics table [3]",
			"unknown type 0x104 0x30000 " + last + " frozen [] retains 0 by - []",
		}
		if got := described(g); !slices.Equal(got, want) {
			t.Errorf("%d bytes:\n%s\nwant\n%s", pointerSize, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		var b bytes.Buffer
		if err := g.WriteDump(&b, &heap.DumpInfo{}); err != nil {
			t.Fatal(err)
		}
		again, _, err := heap.ReadDump(&b)
		if err != nil || !slices.Equal(described(again), want) || !slices.Equal(again.Wrappers, g.Wrappers) || !maps.Equal(again.Methods, g.Methods) {
			t.Errorf("%d bytes, written and read again:\n%s\nwant\n%s", pointerSize, strings.Join(described(again), "\n"), strings.Join(want, "\n"))
		}
	}
}

// TestTinyLacks: what a recording lacks its Graph and its counts lack, too: the date, and roots, without
// which a heap is not complete.
func TestTinyLacks(t *testing.T) {
	clock := nettracetest.DefaultClock()
	dated, err := heap.Read(bytes.NewReader(tinyOf(clock)))
	if err != nil || dated.Time.Sub(clock.Time).Abs() > time.Second || dated.Walk.Rootless {
		t.Errorf("%v, %+v, %v", dated.Time, dated.Walk, err)
	}
	clock.Time = time.Unix(0, 0)
	file := tinyOf(clock, clr.IDGCBulkRootEdge, clr.IDGCBulkRootStaticVar)
	g, err := heap.Read(bytes.NewReader(file))
	if err != nil || !g.Time.IsZero() || !g.Walk.Rootless || g.Walk.Complete() {
		t.Errorf("%v, %+v, %v", g.Time, g.Walk, err)
	}
	if h, err := heap.ReadHistogram(bytes.NewReader(file)); err != nil || !h.Walk.Rootless || h.Walk.Complete() {
		t.Errorf("%+v, %v", h.Walk, err)
	}
}

// described returns a line for each object.
func described(g *heap.Graph) (list []string) {
	d, p := g.Dominators(), g.Paths()
	for o := range heap.Object(g.Len()) {
		holder, path, _ := p.To(o)
		name := "-"
		if len(path) > 0 {
			name = holder.String()
		}
		list = append(list, fmt.Sprintf("%v 0x%x %d/%d %v %v retains %d by %s %v",
			&g.Types[g.Type(o)], g.Address(o), g.Size(o), g.Space(o), g.Generation(o), g.References(o), d.Retained(o), name, path))
	}
	return list
}

func FuzzRead(f *testing.F) {
	f.Add(tiny(8))
	f.Add(tiny(4))
	f.Fuzz(func(t *testing.T, b []byte) {
		g, err := heap.Read(bytes.NewReader(b))
		if g == nil {
			if err == nil {
				t.Error("neither a graph nor an error")
			}
			return
		}
		h, _ := heap.ReadHistogram(bytes.NewReader(b))
		if total := h.Total(); total.Count != g.Histogram().Total().Count {
			t.Errorf("%+v, not %+v", total, g.Histogram().Total())
		}
		d := g.Dominators()
		p := g.Paths()
		d.Suspects(p, 1)
		d.Tree(p, nil, heap.TreeLimits{Depth: 10, Nodes: 1000})
		if found := d.Inspect(p, 1); found[0].Total.Objects > uint64(g.Len()) {
			t.Errorf("%d strings of %d objects", found[0].Total.Objects, g.Len())
		}
		for o := range heap.Object(g.Len()) {
			if _, _, ok := p.To(o); ok != d.Reachable(o) {
				t.Errorf("object %d: reachable %v", o, ok)
			}
			if at, ok := g.At(g.Address(o)); !ok || g.Address(at) != g.Address(o) {
				t.Errorf("object %d is not at 0x%x", o, g.Address(o))
			}
		}
	})
}
