package heap

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gclog/gclog/internal/testing/recordings"
)

// TestPaths: a path is one, and no path is shorter.
func TestPaths(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 6))
	for round := range 1000 {
		n := 1 + rnd.IntN(30)
		references := randomReferences(rnd, n)
		roots := []Object{Object(rnd.IntN(n)), Object(rnd.IntN(n))}
		length := make([]int, n) // of the shortest path, by relaxation
		for i := range length {
			length[i] = n + 1
		}
		for _, o := range roots {
			length[o] = 1
		}
		for range n {
			for from, list := range references {
				for _, to := range list {
					length[to] = min(length[to], length[from]+1)
				}
			}
		}
		g := makeGraph(references, roots...)
		p := g.Paths()
		for o := range n {
			holder, path, ok := p.To(Object(o))
			if ok != (length[o] <= n) || ok && (len(path) != length[o] || path[0] != holder.Object() || path[len(path)-1] != Object(o)) {
				t.Fatalf("round %d: path to %d: %v, %v, want one of %d objects", round, o, path, ok, length[o])
			}
			for i := range len(path) - 1 {
				if !slices.Contains(references[path[i]], path[i+1]) {
					t.Fatalf("round %d: no reference from %d to %d", round, path[i], path[i+1])
				}
			}
		}
		list, unreachable := p.Merge(func(Object) bool { return true })
		var merged Count
		for _, b := range list {
			merged.Objects += b.Targets.Objects
			merged.Bytes += b.Targets.Bytes
		}
		if merged.Objects+unreachable.Objects != uint64(n) || merged.Bytes+unreachable.Bytes != uint64(8*n) {
			t.Fatalf("round %d: %+v and %+v of %d objects", round, merged, unreachable, n)
		}
	}
}

// TestUnreachable: what no root keeps alive after a full collection is frozen, in every recording that
// says so.
func TestUnreachable(t *testing.T) {
	for _, tr := range recordings.Traces(t, "heap-traces") {
		g := graphOf(t, tr.Path)
		if !g.Walk.Complete() || g.ages == nil {
			continue
		}
		_, unreachable := g.Paths().Merge(func(Object) bool { return true })
		if unreachable.Count != g.Unreachable() || unreachable.Generations[Frozen] != unreachable.Count {
			t.Errorf("%s: %+v are unreachable", tr.Name, unreachable)
		}
	}
}

// TestMerge: paths with the same types are one branch, a list is one step, and the branch with the
// most bytes comes first.
func TestMerge(t *testing.T) {
	g := makeGraph([][]Object{{2}, {3}, {4}, {4}, {5, 6}, {7}, {8}, {}, {}, {}}, 0, 1, 7)
	g.Types = []Type{{Name: "A"}, {Name: "List"}, {Name: "Node"}, {Name: "T"}}
	g.typ = []uint32{0, 0, 1, 1, 2, 2, 2, 3, 3, 3}
	g.Statics = []Static{{Object: 0, Field: "Cache"}}
	list, unreachable := g.Paths().Merge(func(o Object) bool { return g.Type(o) == 3 })
	var show func(list []*Branch) string
	show = func(list []*Branch) (s string) {
		for _, b := range list {
			s += fmt.Sprintf("(%s %s x%d %d/%d%s)", b.Holder, g.Types[b.Type].Name, b.Repeated, b.Targets.Objects, b.Targets.Bytes, show(b.Below))
		}
		return s
	}
	want := "(static Cache A x1 1/8( List x1 1/8( Node x2 1/8( T x1 1/8))))(strong handle T x1 1/8)"
	if got := show(list); got != want || unreachable.Count != (Count{1, 8}) {
		t.Errorf("%s, unreachable %+v, want %s", got, unreachable, want)
	}
}
