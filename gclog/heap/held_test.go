package heap

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gclog/gclog/internal/testing/extent"
	"github.com/gclog/gclog/parse/clr"
)

// TestHeldNodes: what is held comes back, whatever it is, and the memory is bounded.
func TestHeldNodes(t *testing.T) {
	extent.Long(t)
	random := rand.New(rand.NewPCG(1, 2))
	var h heldNodes
	var want []clr.Node
	for {
		n := clr.Node{
			Address: random.Uint64() >> random.IntN(64), Size: random.Uint64() >> random.IntN(64),
			TypeID: uint64(random.Uint32() >> random.IntN(32)), Edges: random.Uint64() >> random.IntN(64),
		}
		if len(want) == 0 {
			n = clr.Node{Address: math.MaxUint64, Size: math.MaxUint64, TypeID: math.MaxUint64, Edges: math.MaxUint64}
		}
		if !h.add(n) {
			break
		}
		want = append(want, n)
	}
	size := 0
	for _, b := range h.blocks {
		size += cap(b)
	}
	if size != heldBlock*heldBlocks || len(want) < size/heldMost {
		t.Errorf("%d objects take %d bytes", len(want), size)
	}
	i := 0
	h.each(func(n clr.Node) {
		if i >= len(want) || n != want[i] {
			t.Fatalf("object %d is %+v", i, n)
		}
		i++
	})
	if i != len(want) {
		t.Errorf("%d of %d objects", i, len(want))
	}
}

// TestOvertaken: more objects than are held are counted in the generations that are known by then.
// If a range or a move is known only later, no generation is.
func TestOvertaken(t *testing.T) {
	extent.Long(t)
	const objects, early, unit = 3 << 19, 1000, uint64(1) << 32 // of which fewer are held than of usual ones
	for _, c := range []struct {
		name  string
		late  func(*notes)
		known bool
	}{
		{"in order", func(*notes) {}, true},
		{"after the collection", func(n *notes) { n.add(20, &clr.GCGenerationRange{Start: 1, Used: 1}) }, true},
		{"of another one", func(n *notes) { n.add(1, &clr.GCGenerationRange{Start: 1, Used: 1}) }, true},
		{"late range", func(n *notes) { n.add(5, &clr.GCGenerationRange{Start: 1, Used: 1}) }, false},
		{"late move", func(n *notes) { n.move(6, clr.MovedRange{}) }, false},
		{"late history", func(n *notes) { n.add(6, &clr.GCGlobalHeapHistory{}) }, false},
		{"another start", func(n *notes) { n.add(3, &clr.GCStart{Count: 2}) }, false},
	} {
		n := &notes{bounded: true}
		w := &walk{counting: true, opened: 10, notes: n}
		w.begin(8)
		for i := range uint64(objects) {
			if i == early { // still in time: the objects are held
				n.add(2, &clr.GCStart{Count: 1})
				n.add(5, &clr.GCGenerationRange{Generation: 2, Start: unit, Used: unit * objects / 2})
			}
			if i == objects-early {
				c.late(n)
			}
			w.count(clr.Node{Address: unit * (i + 1), Size: unit, TypeID: i % 3}, 8)
		}
		w.Start = n.startBefore(w.opened).at
		w.endCount(8)
		var got TypeCount
		for i := range w.counts {
			got.Merge(&w.counts[i])
		}
		want := [UnknownGeneration + 1]Count{UnknownGeneration: {objects, unit * objects}}
		if c.known {
			want = [UnknownGeneration + 1]Count{Gen2: {objects / 2, unit * objects / 2}, Frozen: {objects / 2, unit * objects / 2}}
		}
		if got.Objects != objects || !slices.Equal(got.Generations[:], want[:]) {
			t.Errorf("%s: %+v, want %+v", c.name, got, want)
		}
	}
}
