package heap

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/gclog/gclog/internal/testing/extent"
)

// treeText returns a tree as text: each node with its objects, bytes and what it retains.
func treeText(g *Graph, n *TreeNode) string {
	var lines []string
	var write func(depth int, n *TreeNode)
	write = func(depth int, n *TreeNode) {
		name := strings.Repeat(" ", depth) + g.Types[n.Type].String()
		if n.Holder != "" {
			name = n.Holder + ": " + name
		}
		lines = append(lines, fmt.Sprintf("%s %dx%d %d/%d", name, n.Objects, n.Repeated, n.Bytes, n.Retained))
		for _, b := range n.Below {
			write(depth+1, b)
		}
		if n.Others.Objects > 0 {
			lines = append(lines, fmt.Sprintf("%s ... %d %d", strings.Repeat(" ", depth), n.Others.Objects, n.Others.Retained))
		}
	}
	for _, b := range n.Below {
		write(0, b)
	}
	if n.Others.Objects > 0 {
		lines = append(lines, fmt.Sprintf("... %d %d", n.Others.Objects, n.Others.Retained))
	}
	return strings.Join(lines, "\n")
}

func compareTree(t *testing.T, s *sketch, from string, limits TreeLimits, want ...string) {
	t.Helper()
	g := s.graph()
	var is func(Object) bool
	if from != "" {
		is = func(o Object) bool { return g.Types[g.Type(o)].Name == from }
	}
	if got := treeText(g, g.Dominators().Tree(g.Paths(), is, limits)); got != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", got, strings.Join(want, "\n"))
	}
}

func TestTree(t *testing.T) {
	s := newSketch()
	cache := s.object("Cache", 24)
	s.static("Shop", cache)
	for _, session := range s.objects(100, "Session", 40, s.object("Session[]", 824, cache)) {
		s.object("byte[]", 400, session)
	}
	s.object("byte[]", 5000, s.objects(1, "Session", 40, 1)[0]) // one that is large
	head := s.object("Node", 32)
	s.handle(head)
	for node, i := head, 0; i < 9; i++ {
		s.object("Leaf", 24, node)
		node = s.object("Node", 32, node)
	}
	s.objects(4, "Small", 24, cache)
	all := TreeLimits{Depth: 100, Least: 1000}
	compareTree(t, s, "", all,
		"static Shop: Cache 1x1 24/49984",
		" Session[] 1x1 824/49864",
		"  Session 100x1 4000/44000",
		"   byte[] 100x1 40000/40000",
		"  Session 1x1 40/5040",
		"   byte[] 1x1 5000/5000",
		" ... 4 96",
		"... 1 536")
	all.Least = 0
	compareTree(t, s, "Node", all, "Node 10x10 320/536", " Leaf 9x1 216/216")
	compareTree(t, s, "Session", TreeLimits{Depth: 1, Least: 1000}, "Session 100x1 4000/44000", " ... 100 40000", "Session 1x1 40/5040", " ... 1 5000")
	compareTree(t, s, "", TreeLimits{Depth: 100, Siblings: 1},
		"static Shop: Cache 1x1 24/49984",
		" Session[] 1x1 824/49864",
		"  Session 101x1 4040/49040",
		"   byte[] 101x1 45000/45000",
		" ... 4 96",
		"... 1 536")
	for range 6 {
		s.object("Small", 24, cache)
	}
	compareTree(t, s, "", TreeLimits{Depth: 2}, // few siblings are nodes of their own
		"static Shop: Cache 1x1 24/50128",
		" Session[] 1x1 824/49864",
		"  ... 101 49040",
		" Small 10x1 240/240",
		"strong handle: Node 10x10 320/536",
		" Leaf 9x1 216/216")
	compareTree(t, s, "Small", TreeLimits{Depth: 1, Least: 25}, "Small 10x1 240/240")
	compareTree(t, s, "", TreeLimits{Depth: 100, Nodes: 3}, // those nearest to the roots
		"static Shop: Cache 1x1 24/50128",
		" Session[] 1x1 824/49864",
		"  ... 101 49040",
		" ... 10 240",
		"strong handle: Node 10x10 320/536",
		" ... 9 216")
	compareTree(t, s, "Nothing", all)
}

// TestTreeOfStatics: what an array of static fields holds without a name counts as held by the roots.
func TestTreeOfStatics(t *testing.T) {
	s := newSketch()
	table := s.object("System.Object[]", 8184)
	s.root(Root{Object: table, Kind: RootHandle, Flags: RootPinned})
	s.static("Name", s.object("Named", 24, table))
	s.g.Statics[0].Slot = 0x1010
	s.object("Leaf", 32, s.object("Unnamed", 40, table))
	compareTree(t, s, "", TreeLimits{Depth: 9},
		"statics table: System.Object[] 1x1 8184/8184", "statics table: Unnamed 1x1 40/72", " Leaf 1x1 32/32", "static Name: Named 1x1 24/24")
	compareTree(t, s, "System.Object[]", TreeLimits{Depth: 9}, "System.Object[] 1x1 8184/8184")
	compareTree(t, s, "Unnamed", TreeLimits{Depth: 9}, "Unnamed 1x1 40/72", " Leaf 1x1 32/32")
}

// TestTreesOfRandomGraphs: each byte is in one place of the tree, and a node retains what would be
// unreachable without its object.
func TestTreesOfRandomGraphs(t *testing.T) {
	rnd := rand.New(rand.NewPCG(9, 10))
	for round := range 1000 {
		n := 2 + rnd.IntN(60)
		s := newSketch()
		for range n {
			s.object(fmt.Sprint("T", rnd.IntN(8)), 8*(1+rnd.IntN(4)))
		}
		for range n + rnd.IntN(n) {
			from := rnd.IntN(n)
			s.references[from] = append(s.references[from], Object(rnd.IntN(n)))
		}
		var roots []Object
		for range 1 + rnd.IntN(3) {
			roots = append(roots, Object(rnd.IntN(n)))
			s.handle(roots[len(roots)-1])
		}
		g := s.graph()
		all := reachableWithout(s.references, roots, NoObject)
		var reachable Count
		for o := range n {
			if all[o] {
				reachable.add(g.Space(Object(o)))
			}
		}
		d := g.Dominators()
		for _, limits := range []TreeLimits{{Depth: 100}, {Depth: 1 + rnd.IntN(4), Least: uint64(rnd.IntN(100)), Siblings: rnd.IntN(5), Nodes: rnd.IntN(20)}} {
			root := d.Tree(g.Paths(), nil, limits)
			if root.Retained != reachable.Bytes {
				t.Fatalf("round %d: the tree has %d bytes, want %d", round, root.Retained, reachable.Bytes)
			}
			shown, nodes := Count{}, 0
			var check func(depth int, x *TreeNode)
			check = func(depth int, x *TreeNode) {
				below := x.Others.Retained
				for _, b := range x.Below {
					check(depth+1, b)
					below += b.Retained
				}
				if x.Bytes+below != x.Retained {
					t.Fatalf("round %d: %+v retains %d below it", round, x, below)
				}
				if x == root {
					return
				}
				nodes++
				shown.Objects += x.Objects
				shown.Bytes += x.Bytes
				if x.Retained < limits.Least || depth > limits.Depth || limits.Siblings > 0 && len(x.Below) > limits.Siblings {
					t.Fatalf("round %d: %+v at depth %d, limits %+v", round, x, depth, limits)
				}
				if x.Object == NoObject {
					return
				}
				bytes := uint64(0)
				without := reachableWithout(s.references, roots, x.Object)
				for o := range n {
					if all[o] && !without[o] {
						bytes += g.Space(Object(o))
					}
				}
				if x.Retained != bytes {
					t.Fatalf("round %d: %+v, want %d bytes", round, x, bytes)
				}
			}
			check(0, root)
			if limits.Least == 0 && limits.Depth == 100 && shown != reachable {
				t.Fatalf("round %d: the tree shows %+v, want %+v", round, shown, reachable)
			}
			if limits.Nodes > 0 && nodes > limits.Nodes {
				t.Fatalf("round %d: %d nodes, want at most %d", round, nodes, limits.Nodes)
			}
		}
	}
}

// TestTreeOfLongList: nothing is recursive, and a list is one node.
func TestTreeOfLongList(t *testing.T) {
	extent.Long(t)
	smallStack(t)
	const n = longList
	references := make([][]Object, n)
	next := make([]Object, n)
	for i := range n - 1 {
		next[i] = Object(i + 1)
		references[i] = next[i : i+1]
	}
	g := makeGraph(references, 0)
	d, p := g.Dominators(), g.Paths()
	if root := d.Tree(p, nil, TreeLimits{Depth: 10}); len(root.Below) != 1 || root.Below[0].Objects != n || root.Below[0].Repeated != n || len(root.Below[0].Below) > 0 {
		t.Errorf("%+v", root.Below)
	}
	g.Types = slices.Repeat(g.Types, 1000) // a list of all types: as deep as allowed
	for i := range g.typ {
		g.typ[i] = uint32(i % 1000)
	}
	x, depth := d.Tree(p, nil, TreeLimits{Depth: 100}), -1
	for ; len(x.Below) > 0; x = x.Below[0] {
		depth++
	}
	if depth != 99 || x.Others.Objects != 1 || x.Others.Retained != 8*(n-100) {
		t.Errorf("at depth %d: %+v", depth, x)
	}
}
