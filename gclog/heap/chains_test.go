package heap

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"testing"
)

// owns returns what is at the end of each path of branches, by holders and types. It fails if the
// counts do not add up.
func owns(t *testing.T, g *Graph, list []*Branch) map[string]Count {
	t.Helper()
	all := map[string]Count{}
	var add func(above string, list []*Branch) Count
	add = func(above string, list []*Branch) (sum Count) {
		for i, b := range list {
			path := above + "/" + b.Holder + ":" + g.Types[b.Type].Name
			if _, ok := all[path]; ok {
				t.Fatalf("%s twice", path)
			}
			all[path] = b.Own
			below := add(path, b.Below)
			below.merge(b.Own)
			if below != b.Targets || i > 0 && b.Targets.Bytes > list[i-1].Targets.Bytes {
				t.Fatalf("%s: %+v, want %+v", path, b.Targets, below)
			}
			if b.Own.Objects == 0 {
				delete(all, path)
			}
			sum.merge(below)
		}
		return sum
	}
	add("", list)
	return all
}

// TestChains holds the chains against the definition: the types of an object's dominators, one
// after the other.
func TestChains(t *testing.T) {
	rnd := rand.New(rand.NewPCG(7, 8))
	for round := range 1000 {
		n := 1 + rnd.IntN(40)
		references := make([][]Object, n)
		for range rnd.IntN(1 + 2*n) {
			from := rnd.IntN(n)
			references[from] = append(references[from], Object(rnd.IntN(n)))
		}
		roots := []Object{Object(rnd.IntN(n)), Object(rnd.IntN(n))}
		g := makeGraph(references, roots...)
		g.Types = []Type{{Name: "A"}, {Name: "B"}, {Name: "C"}}
		for o := range g.typ {
			g.typ[o] = uint32(rnd.IntN(3))
		}
		g.Statics = []Static{{Object: Object(rnd.IntN(n)), Field: "S"}}
		d := g.Dominators()
		want := map[string]Count{}
		for o := range Object(n) {
			chain, first := "", o
			for x := o; x != NoObject; x = d.Dominator(x) {
				if above := d.Dominator(x); above == NoObject || g.Type(above) != g.Type(x) {
					chain = ":" + g.Types[g.Type(x)].Name + chain
					if above != NoObject {
						chain = "/" + chain
					}
				}
				first = x
			}
			holder := SeveralRoots
			switch {
			case !d.Reachable(o):
				holder = NoRoot
			case first == g.Statics[0].Object:
				holder = "static S"
			case first == roots[0] || first == roots[1]:
				holder = "strong handle"
			}
			key := "/" + holder + chain
			c := want[key]
			c.add(g.Space(o))
			want[key] = c
		}
		list := d.Chains(n)
		if got := owns(t, g, list); !maps.Equal(got, want) {
			t.Fatalf("round %d: %v, want %v", round, got, want)
		}
		retained := make([]uint64, len(g.Types))
		var add func(list []*Branch, above map[int]bool)
		add = func(list []*Branch, above map[int]bool) {
			for _, b := range list {
				within := maps.Clone(above)
				if within[b.Type] = true; !above[b.Type] && b.Holder != NoRoot {
					retained[b.Type] += b.Targets.Bytes
				}
				add(b.Below, within)
			}
		}
		add(list, map[int]bool{})
		for i, want := range d.RetainedByType() {
			if retained[i] != want {
				t.Fatalf("round %d: %s retains %d, want %d", round, g.Types[i].Name, retained[i], want)
			}
		}
	}
}

// TestDeepChains: a chain of alternating types has few branches, and each type its own objects.
func TestDeepChains(t *testing.T) {
	const n, deepest = 100_000, 5
	references := make([][]Object, n)
	for i := range n - 1 {
		references[i] = []Object{Object(i + 1)}
	}
	g := makeGraph(references, 0)
	g.Types = []Type{{Name: "A"}, {Name: "B"}}
	for o := range g.typ {
		g.typ[o] = uint32(o / 2 % 2)
	}
	got := owns(t, g, g.Dominators().Chains(deepest))
	const five = "/strong handle:A/:B/:A/:B/:A"
	want := map[string]Count{five + "/...:A": {n/2 - 6, 8 * (n/2 - 6)}, five + "/...:B": {n/2 - 4, 8 * (n/2 - 4)}}
	for _, path := range []string{five, five[:len(five)-3], five[:len(five)-6], five[:len(five)-9], five[:len(five)-12]} {
		want[path] = Count{2, 16}
	}
	if !maps.Equal(got, want) {
		t.Error(fmt.Sprint(got), "want", want)
	}
}
