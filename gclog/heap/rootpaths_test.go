package heap

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gclog/gclog/internal/testing/extent"
)

// TestRoots holds the roots of sets of objects against their definition: what is reachable from each
// alone, and that no path from it is shorter.
func TestRoots(t *testing.T) {
	rnd := rand.New(rand.NewPCG(11, 12))
	for round := range 1000 {
		n := 1 + rnd.IntN(30)
		references := randomReferences(rnd, n)
		g := makeGraph(references)
		for i := range rnd.IntN(6) {
			for range 1 + rnd.IntN(2) { // some fields of the same name
				g.Statics = append(g.Statics, Static{Object: Object(rnd.IntN(n)), Field: fmt.Sprint("F", i)})
			}
		}
		wanted := make([]bool, n)
		for range 1 + rnd.IntN(3) {
			wanted[rnd.IntN(n)] = true
		}
		list, all := g.Paths().Roots(func(o Object) bool { return wanted[o] })
		type root struct {
			length  int
			objects uint64
		}
		want := map[string]root{}
		for i := range 6 {
			field, reached := fmt.Sprint("F", i), make([]bool, n)
			var level []Object
			for _, s := range g.Statics {
				if s.Field == field {
					level = append(level, s.Object)
				}
			}
			x := root{}
			for length := 1; len(level) > 0; length++ {
				var below []Object
				for _, o := range level {
					if reached[o] {
						continue
					}
					reached[o] = true
					below = append(below, references[o]...)
					if wanted[o] {
						x.objects++
						if x.length == 0 {
							x.length = length
						}
					}
				}
				level = below
			}
			if x.objects > 0 {
				want["static "+field] = x
			}
		}
		if all != len(want) || len(list) != all {
			t.Fatalf("round %d: %d roots of %d, want %v", round, len(list), all, want)
		}
		before := root{0, uint64(n)}
		for _, r := range list {
			length := 0
			for _, s := range r.Path {
				length += s.Repeated
			}
			if got := (root{length, r.Targets.Objects}); got != want[r.Holder.String()] || got.objects > before.objects || got.objects == before.objects && length < before.length || r.Targets.Bytes != 8*r.Targets.Objects {
				t.Fatalf("round %d: %s: %+v, want %+v", round, r.Holder, got, want[r.Holder.String()])
			}
			if r.Path[0].Object != r.Holder.Object() {
				t.Fatalf("round %d: the path from %s begins at object %d", round, r.Holder, r.Path[0].Object)
			}
			before = root{length, r.Targets.Objects}
		}
	}
}

// TestRootsOfList: the nodes of a long list are held at many places. Each root reaches those after it.
func TestRootsOfList(t *testing.T) {
	extent.Long(t)
	smallStack(t)
	const n, roots = 1 << 18, MaxRoots + 3
	references := make([][]Object, n)
	flat := make([]Object, n)
	for i := range n - 1 {
		flat[i] = Object(i + 1)
		references[i] = flat[i : i+1]
	}
	g := makeGraph(references)
	for i := range roots {
		g.Statics = append(g.Statics, Static{Object: Object(i * (n / roots)), Field: fmt.Sprint(i)})
	}
	list, all := g.Paths().Roots(func(o Object) bool { return o >= n/2 })
	if all != roots || len(list) != MaxRoots {
		t.Fatalf("%d of %d roots", len(list), all)
	}
	for _, r := range list {
		o := r.Holder.Object()
		if want := uint64(n - max(o, n/2)); r.Targets.Objects != want {
			t.Errorf("object %d leads to %d objects, want %d", o, r.Targets.Objects, want)
		}
	}
	if slices.ContainsFunc(list, func(r RootPath) bool { return r.Holder.Name() == "0" }) {
		t.Error("the longest path is in the list")
	}
}

// TestRootsOfKinds: a static field, a local variable and a handle hold the same object; the path that
// explains most comes first, and handles to objects of the same type are one.
func TestRootsOfKinds(t *testing.T) {
	g := makeGraph([][]Object{{2}, {2}, {3}, {}, {3}}, 4, 0, 1)
	g.Types = []Type{{Name: "A"}, {Name: "B"}, {Name: "T"}, {Name: "System.Object[]"}}
	g.typ = []uint32{0, 0, 1, 2, 3}
	g.Roots[0].Kind, g.Roots[0].ID = RootStack, 7
	g.Methods = map[uint64]string{7: "P.Main"}
	g.Statics = []Static{{Object: 2, Field: "Cache", Declaring: "P"}}
	list, all := g.Paths().Roots(func(o Object) bool { return o == 3 })
	var got []string
	for _, r := range list {
		text := fmt.Sprintf("%s|%s|%s|%d:", r.Holder, r.Holder.Kind(), r.Holder.Name(), r.Targets.Objects)
		for _, s := range r.Path {
			text += " " + g.Types[s.Type].Name
		}
		got = append(got, text)
	}
	want := []string{
		"static P.Cache|static|P.Cache|1: B T",
		"stack of P.Main, or thread statics|stack|P.Main|1: System.Object[] T",
		"strong handle|strong handle||1: A B T",
	}
	if !slices.Equal(got, want) || all != 3 {
		t.Errorf("%d: %q, want %q", all, got, want)
	}
}
