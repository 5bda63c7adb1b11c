package heap_test

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"testing"

	"github.com/gclog/gclog/gclog/heap"
	"github.com/gclog/gclog/parse"
	"github.com/gclog/gclog/parse/clr"
)

const small = "testdata/small.nettrace.gz"

// recorded returns the events of a recording that a Builder uses, with their own payloads.
func recorded(t testing.TB, path string) (list []parse.Event, pointerSize int) {
	t.Helper()
	r := parse.NewReader(unpacked(t, path), heap.Wanted)
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
	b := heap.NewBuilder(pointerSize)
	decoder := clr.NewDecoder(pointerSize)
	for i := range list {
		if e, err := decoder.Decode(&list[i]); err == nil {
			b.Event(list[i].Time, e)
		}
	}
	return b.Graph()
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
			if !errors.Is(err, heap.ErrNoWalk) {
				t.Errorf("without GCStart: %v", err)
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
	b, err := io.ReadAll(unpacked(t, small))
	if err != nil {
		t.Fatal(err)
	}
	whole, _ := heap.Read(bytes.NewReader(b))
	complete := 0
	for n := 0; n < len(b); n += 997 {
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
		{"several", slices.Concat(types, walk, walk, walk), 2, 0, true},
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

func FuzzRead(f *testing.F) {
	b, err := io.ReadAll(unpacked(f, small))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Add(b[:len(b)/2])
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
