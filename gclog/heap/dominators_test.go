package heap

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gclog/gclog/internal/testing/extent"
)

// randomReferences returns the references of a number of objects, up to three of each on average.
func randomReferences(rnd *rand.Rand, objects int) [][]Object {
	references := make([][]Object, objects)
	for range rnd.IntN(3 * objects) {
		from := rnd.IntN(objects)
		references[from] = append(references[from], Object(rnd.IntN(objects)))
	}
	return references
}

// makeGraph returns a Graph with the given references and roots. All objects have 8 bytes.
func makeGraph(references [][]Object, roots ...Object) *Graph {
	g := &Graph{PointerSize: 8, Types: []Type{{Name: "T"}}}
	for i, list := range references {
		g.address = append(g.address, uint64(0x1000+8*i))
		g.size = append(g.size, 8)
		g.typ = append(g.typ, 0)
		g.first = append(g.first, uint32(len(g.target)))
		g.target = append(g.target, list...)
	}
	g.first = append(g.first, uint32(len(g.target)))
	for _, o := range roots {
		g.Roots = append(g.Roots, Root{Object: o, Kind: RootHandle})
	}
	g.index = newAddressIndex(g.address)
	return g
}

// reachableWithout returns what is reachable from the roots without an object.
func reachableWithout(references [][]Object, roots []Object, removed Object) []bool {
	reached := make([]bool, len(references))
	var todo []Object
	visit := func(o Object) {
		if o != removed && !reached[o] {
			reached[o] = true
			todo = append(todo, o)
		}
	}
	for _, o := range roots {
		visit(o)
	}
	for len(todo) > 0 {
		o := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for _, to := range references[o] {
			visit(to)
		}
	}
	return reached
}

// TestDominators holds dominators and retained sizes against their definition: what becomes
// unreachable when an object is removed.
func TestDominators(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for round := range 3000 {
		n := 1 + rnd.IntN(30)
		references := make([][]Object, n)
		for range rnd.IntN(1 + 3*n) { // with self loops and duplicates
			from := rnd.IntN(n)
			references[from] = append(references[from], Object(rnd.IntN(n)))
		}
		var roots []Object
		for range rnd.IntN(4) {
			roots = append(roots, Object(rnd.IntN(n)))
		}
		d := makeGraph(references, roots...).Dominators()
		all := reachableWithout(references, roots, NoObject)
		dominates := make([][]bool, n) // by dominator and object
		for o := range n {
			without := reachableWithout(references, roots, Object(o))
			dominates[o] = make([]bool, n)
			retained := uint64(0)
			for x := range n {
				if all[o] && all[x] && !without[x] {
					dominates[o][x] = true
					retained += 8
				}
			}
			if got := d.Retained(Object(o)); got != retained || d.Reachable(Object(o)) != all[o] {
				t.Fatalf("round %d: object %d of %v, roots %v: retained %d, want %d, reachable %v", round, o, references, roots, got, retained, d.Reachable(Object(o)))
			}
		}
		for x := range n {
			// The dominator is what all other dominators of x dominate least: it dominates none of them.
			want := NoObject
			for o := range n {
				if o != x && dominates[o][x] && (want == NoObject || dominates[want][o]) {
					want = Object(o)
				}
			}
			if got := d.Dominator(Object(x)); got != want {
				t.Fatalf("round %d: dominator of %d in %v, roots %v: %d, want %d", round, x, references, roots, got, want)
			}
		}
	}
}

// TestLongList: a long list of objects, each of which refers back as well.
func TestLongList(t *testing.T) {
	extent.Long(t)
	smallStack(t)
	const n = longList
	references := make([][]Object, n)
	flat := make([]Object, 0, 2*n)
	for i := range n {
		from := len(flat)
		if i+1 < n {
			flat = append(flat, Object(i+1))
		}
		if i > 0 {
			flat = append(flat, Object(i-1))
		}
		references[i] = flat[from:]
	}
	d := makeGraph(references, 0).Dominators()
	for _, o := range []Object{0, 1, n / 2, n - 1} {
		if got, want := d.Retained(o), 8*(n-uint64(o)); got != want {
			t.Errorf("object %d retains %d bytes, want %d", o, got, want)
		}
	}
}

// TestAddresses finds objects by address and by an address within them, whatever the order of the
// objects.
func TestAddresses(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	for round := range 200 {
		n := rnd.IntN(300)
		address := make([]uint64, n)
		next := uint64(0x7000_0000)
		for i := range address {
			switch rnd.IntN(20) {
			case 0:
				next += uint64(rnd.IntN(1 << 30))
			case 1:
				next -= uint64(rnd.IntN(1 << 22)) // runs may overlap
			case 2:
				next += 100_000
			}
			next += uint64(24 + 8*rnd.IntN(40))
			address[i] = next
		}
		if round%2 == 0 {
			slices.Sort(address)
			k := rnd.IntN(n + 1)
			address = slices.Concat(address[k:], address[:k])
		}
		unique := map[uint64]bool{}
		address = slices.DeleteFunc(address, func(a uint64) bool {
			again := unique[a]
			unique[a] = true
			return again
		})
		x := newAddressIndex(address)
		for o, at := range address {
			if got := x.find(address, at); got != Object(o) {
				t.Fatalf("round %d: 0x%x is object %d, want %d", round, at, got, o)
			}
			for _, near := range []uint64{at - 8, at + 8, at + 4096} {
				want, before, after := NoObject, NoObject, NoObject
				for o, a := range address {
					if a == near {
						want = Object(o)
					}
					if a <= near && (before == NoObject || a > address[before]) {
						before = Object(o)
					}
					if a > near && (after == NoObject || a < address[after]) {
						after = Object(o)
					}
				}
				if got := x.find(address, near); got != want {
					t.Fatalf("round %d: 0x%x is object %d, want %d", round, near, got, want)
				}
				if got := x.after(address, near); got != after {
					t.Fatalf("round %d: object %d is after 0x%x, want %d", round, got, near, after)
				}
				if got := x.before(address, near); got != before {
					t.Fatalf("round %d: object %d is at or before 0x%x, want %d", round, got, near, before)
				}
			}
		}
	}
}

// TestNearest: the object that contains an address, else the nearest one.
func TestNearest(t *testing.T) {
	g := makeGraph([][]Object{{}, {}, {}})
	g.address = []uint64{0x8000_0000, 0x1000, 0x1100}
	g.size = []uint32{0x40, 0x80, 0x40}
	g.index = newAddressIndex(g.address)
	for at, want := range map[uint64]Object{
		0: 1, 0x1000: 1, 0x107f: 1, 0x1080: 1, 0x10bf: 1, 0x10c0: 2, 0x1100: 2, 0x113f: 2, 0x2000: 2, 0x4000_0000: 2, 0x7000_0000: 0, 0x8000_0001: 0, 1 << 63: 0,
	} {
		if got, ok := g.Nearest(at); !ok || got != want {
			t.Errorf("0x%x: object %d, %v, want %d", at, got, ok, want)
		}
	}
	if o, ok := makeGraph(nil).Nearest(1); ok {
		t.Error(o)
	}
}

// TestDominatorsOfLists: what hangs at the end of a long list and elsewhere too takes no time that
// grows with the product of both.
func TestDominatorsOfLists(t *testing.T) {
	const n = 200_000 // which would take minutes
	references := make([][]Object, 2*n+1)
	for i := range n - 1 {
		references[i] = []Object{Object(i + 1)}
	}
	for i := range n {
		references[n-1] = append(references[n-1], Object(n+i))
	}
	references[2*n] = references[n-1]
	d := makeGraph(references, 0, 2*n).Dominators()
	for i := range Object(n) {
		if above := d.Dominator(n + i); above != NoObject {
			t.Fatalf("object %d has the dominator %d", n+i, above)
		}
		if above := d.Dominator(i); above != i-1 && i > 0 {
			t.Fatalf("object %d of the list has the dominator %d", i, above)
		}
	}
}
