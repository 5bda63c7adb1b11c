package heap

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/gclog/gclog/internal/testing/extent"
)

// A sketch is a Graph that is made object by object.
type sketch struct {
	g          *Graph
	types      map[string]int
	references [][]Object
}

func newSketch() *sketch {
	return &sketch{g: &Graph{PointerSize: 8}, types: map[string]int{}}
}

// typ returns the index of the type with an exact name.
func (s *sketch) typ(name string) int {
	i, ok := s.types[name]
	if !ok {
		i = len(s.g.Types)
		s.types[name] = i
		t := Type{ID: uint64(i + 1), Name: name, Exact: name, Element: elementKind(name)}
		if element, ok := strings.CutSuffix(name, "[]"); ok {
			t.Flags, t.Parameters, t.Kinds = typeArray, []uint64{0}, []uint8{elementKind(element)}
		}
		s.g.Types = append(s.g.Types, t)
	}
	return i
}

// elementKind returns the CorElementType of a type. Those that end with Struct, and entries, are value
// types.
func elementKind(name string) uint8 {
	const int32Element = 0x08
	switch {
	case strings.HasSuffix(name, "[]"):
		return elementVector
	case name == "System.String":
		return elementString
	case name == "System.Object":
		return elementObject
	case name == "System.Int32":
		return int32Element
	case strings.HasSuffix(name, "Struct") || strings.HasSuffix(name, "Entry"):
		return elementValue
	}
	return elementClass
}

// object adds an object that others refer to.
func (s *sketch) object(name string, size int, from ...Object) Object {
	o := Object(len(s.references))
	s.references = append(s.references, nil)
	s.g.typ = append(s.g.typ, uint32(s.typ(name)))
	s.g.size = append(s.g.size, uint32(size))
	for _, f := range from {
		s.references[f] = append(s.references[f], o)
	}
	return o
}

// objects adds a number of objects to which one refers.
func (s *sketch) objects(n int, name string, size int, from Object) (list []Object) {
	for range n {
		list = append(list, s.object(name, size, from))
	}
	return list
}

func (s *sketch) static(field string, o Object) {
	s.g.Statics = append(s.g.Statics, Static{Object: o, Type: s.g.Type(o), Field: field})
}

func (s *sketch) root(r Root) { s.g.Roots = append(s.g.Roots, r) }

func (s *sketch) handle(o Object) { s.root(Root{Object: o, Kind: RootHandle, ID: uint64(o) + 1}) }

// graph returns the Graph. The objects follow each other.
func (s *sketch) graph() *Graph {
	g := s.g
	g.address, g.first, g.target, g.large = nil, nil, nil, map[Object]uint64{}
	at := uint64(0x1000)
	for o, list := range s.references {
		g.address = append(g.address, at)
		at += g.Space(Object(o))
		g.first = append(g.first, uint32(len(g.target)))
		g.target = append(g.target, list...)
	}
	g.first = append(g.first, uint32(len(g.target)))
	g.index = newAddressIndex(g.address)
	return g
}

// suspects returns the suspects of a Graph, one a line.
func suspects(g *Graph, least uint64) (list []string) {
	d := g.Dominators()
	for _, x := range d.Suspects(g.Paths(), least) {
		var text strings.Builder
		fmt.Fprintf(&text, "%dx %s %d/%d %s; %s:", x.Objects, &g.Types[x.Type], x.Own, x.Retained, x.Cause, x.Holder)
		for _, step := range x.Path {
			fmt.Fprintf(&text, " %s*%d", &g.Types[step.Type], step.Repeated)
		}
		text.WriteString(";")
		for _, b := range x.Below {
			fmt.Fprintf(&text, " %dx %s %d", b.Objects, &g.Types[b.Type], b.Retained)
		}
		list = append(list, text.String())
	}
	return list
}

func compareSuspects(t *testing.T, s *sketch, least uint64, want ...string) {
	t.Helper()
	if got := suspects(s.graph(), least); !slices.Equal(got, want) {
		t.Errorf("suspects:\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestSuspects finds in each graph what was made to accumulate, and nothing else.
func TestSuspects(t *testing.T) {
	const dictionary = "System.Collections.Generic.Dictionary<System.String, Shop.Session>"
	t.Run("collection", func(t *testing.T) {
		s := newSketch()
		app := s.object("Shop.App", 24)
		s.static("Instance", app)
		cache := s.object(dictionary, 80, app)
		entries := s.object(dictionary+"+Entry[]", 5000, cache)
		for _, session := range s.objects(100, "Shop.Session", 40, entries) {
			s.object("System.Byte[]", 400, session)
		}
		s.objects(100, "System.String", 56, entries)
		for i := range 9 { // much else
			s.static("Other", s.object(fmt.Sprint("Shop.Other", i), 30_000))
		}
		compareSuspects(t, s, 30_001,
			"1x "+dictionary+"+Entry[] 54600/54600 collection; static Instance: Shop.App*1 "+dictionary+"*1 "+dictionary+"+Entry[]*1; 100x Shop.Session 44000 100x System.String 5600")
	})
	t.Run("two below one", func(t *testing.T) {
		s := newSketch()
		app := s.object("Shop.App", 24)
		s.root(Root{Object: app, Kind: RootStack})
		for _, name := range []string{"Shop.A[]", "Shop.B[]"} {
			s.objects(10, strings.TrimSuffix(name, "[]"), 104, s.object(name, 104, app))
		}
		s.objects(3, "Shop.C", 400, app)
		compareSuspects(t, s, 1000,
			"1x Shop.App 1224/3512 object; stack: Shop.App*1; 3x Shop.C 1200",
			"1x Shop.A[] 1144/1144 array; stack: Shop.App*1 Shop.A[]*1; 10x Shop.A 1040",
			"1x Shop.B[] 1144/1144 array; stack: Shop.App*1 Shop.B[]*1; 10x Shop.B 1040")
	})
	t.Run("list", func(t *testing.T) {
		s := newSketch()
		node := s.object("Node", 32)
		s.static("head", node)
		for range 999 {
			s.object("Leaf", 24, node)
			node = s.object("Node", 32, node)
		}
		compareSuspects(t, s, 5000, "1000x Node 55976/55976 structure; static head: Node*1; 1000x Node 32000 999x Leaf 23976")
	})
	t.Run("list of two types", func(t *testing.T) {
		s := newSketch()
		node := s.object("Box", 24)
		s.static("head", node)
		for range 500 {
			node = s.object("Box", 24, s.object("Node", 32, node))
		}
		compareSuspects(t, s, 2000, "501x Box 28024/28024 structure; static head: Box*1; 500x Node 16000 501x Box 12024")
	})
	t.Run("tree", func(t *testing.T) {
		s := newSketch()
		level := []Object{s.object("Node", 40)}
		s.static("root", level[0])
		for range 8 {
			var next []Object
			for _, o := range level {
				next = append(next, s.objects(2, "Node", 40, o)...)
			}
			level = next
		}
		compareSuspects(t, s, 2000, "511x Node 20440/20440 structure; static root: Node*1; 511x Node 20440")
	})
	t.Run("a list with something large at its end", func(t *testing.T) {
		s := newSketch()
		node := s.object("Node", 24)
		s.static("head", node)
		for range 20 {
			node = s.object("Node", 24, node)
		}
		s.object("System.Byte[]", 10_000, node)
		compareSuspects(t, s, 1000, "1x System.Byte[] 10000/10000 large-object; static head: Node*21 System.Byte[]*1;")
	})
	t.Run("one node of a list has most", func(t *testing.T) {
		s := newSketch()
		second := s.object("Node", 24, s.object("Node", 24))
		s.static("head", 0)
		s.objects(100, "Leaf", 24, second)
		compareSuspects(t, s, 1000, "1x Node 2424/2424 object; static head: Node*2; 100x Leaf 2400")
	})
	t.Run("equals", func(t *testing.T) {
		s := newSketch()
		shards := s.object("Shard[]", 64)
		s.static("shards", shards)
		for _, shard := range s.objects(fewEquals, "Shard", 24, shards) {
			s.objects(50, "Leaf", 24, shard)
		}
		compareSuspects(t, s, 1000, "1x Shard[] 4960/4960 array; static shards: Shard[]*1; 4x Shard 4896")
	})
	t.Run("many with two holders", func(t *testing.T) {
		s := newSketch()
		byName, byDate := s.object("Index", 24), s.object("List", 24)
		s.static("byName", byName)
		s.handle(byDate)
		for range 100 {
			s.object("Data", 100, s.object("Row", 24, byName, byDate))
		}
		s.handle(s.object("Row", 24)) // this one is alone
		compareSuspects(t, s, 1000, "101x Row 12824/12824 shared; static byName: Index*1 Row*1; 100x Data 10400 101x Row 2424")
	})
	t.Run("handles", func(t *testing.T) {
		s := newSketch()
		for range 100 {
			s.handle(s.object("Callback", 24))
		}
		compareSuspects(t, s, 1000, "100x Callback 2400/2400 handles; strong handle: Callback*1; 100x Callback 2400")
	})
	t.Run("nothing in common", func(t *testing.T) {
		s := newSketch()
		for i := range 4 {
			a, b := s.object(fmt.Sprint("A", i), 24), s.object(fmt.Sprint("B", i), 24)
			s.static(fmt.Sprint("a", i), a)
			s.static(fmt.Sprint("b", i), b)
			for range 10 + i {
				s.object("Row", 100, a, b)
			}
		}
		compareSuspects(t, s, 1000, "46x Row 4784/4784 shared; static a3:; 46x Row 4784")
		if x := s.g.Dominators().Suspects(s.g.Paths(), 1000); x[0].Via != 13 {
			t.Errorf("%d of them, want 13", x[0].Via)
		}
	})
	t.Run("static without a name", func(t *testing.T) {
		s := newSketch()
		table := s.object("System.Object[]", 8184)
		s.root(Root{Object: table, Kind: RootHandle, Flags: RootPinned})
		s.static("Name", s.object("Shop.Name", 24, table))
		s.g.Statics[0].Slot = 0x1010 // in the table
		s.objects(100, "Leaf", 24, s.object("Leaf[]", 824, table))
		compareSuspects(t, s, 3000, "1x Leaf[] 3224/3224 array; statics table: System.Object[]*1 Leaf[]*1; 100x Leaf 2400")
	})
	t.Run("nothing", func(t *testing.T) {
		s := newSketch()
		for i := range 20 {
			s.static("x", s.object(fmt.Sprint("T", i), 100))
		}
		compareSuspects(t, s, 300)
		compareSuspects(t, newSketch(), 0)
	})
}

// TestCauses finds the cause by the classes on the path, also if the outer ones are unknown.
func TestCauses(t *testing.T) {
	stack := Root{Kind: RootStack}
	for _, test := range []struct {
		want Cause
		root Root
		path string // what accumulates comes last
	}{
		{CauseFinalizers, Root{Kind: RootFinalizer}, "Shop.File[]|Shop.File"},
		{CauseAsync, stack, "List|Object[]|AsyncStateMachineBox<System.Int32, Shop.Cart+<Load>d__5>"},
		{CauseTimers, stack, "System.Threading.TimerQueueTimer|Shop.State|Leaf"},
		{CauseRegistrations, stack, "System.Threading.CancellationTokenSource|Registrations|CallbackNode|Leaf"},
		{CauseScope, stack, serviceScope + "|System.Collections.Generic.List<System.Object>|System.Object[]|Shop.Db"},
		{CauseObject, stack, serviceScope + "|Shop.Provider|Leaf"},
		{CauseCache, stack, "Microsoft.Extensions.Caching.Memory.MemoryCache|Microsoft.Extensions.Caching.Memory.MemoryCache+CoherentState|System.Collections.Concurrent.ConcurrentDictionary<System.Object, X>|Tables<System.Object, X>|Node<System.Object, X>[]|Leaf"},
		{CauseWeakTable, stack, "System.Runtime.CompilerServices.ConditionalWeakTable<A, B>|Container<A, B>|Leaf"},
		{CauseQueue, stack, "System.Threading.Channels.UnboundedChannel<A>|System.Collections.Concurrent.ConcurrentQueue<A>|System.Collections.Concurrent.ConcurrentQueueSegment<A>|Slot<A>[]|A"},
		{CauseQueue, stack, "System.Collections.Generic.Queue<A>|A[]|A"},
		{CauseCollection, stack, "System.Collections.Generic.List<A>|A[]|A"},
		{CauseCollection, stack, "Shop.Cache|System.Collections.Concurrent.ConcurrentDictionary<A, B>|Tables<A, B>|Node<A, B>[]|Node<A, B>"},
		{CauseArray, stack, "System.Collections.Generic.List<A>|Shop.App|Shop.Part|Shop.Part2|Leaf[]|Leaf"},
		{CauseObject, stack, "Shop.App|Leaf"},
	} {
		s := newSketch()
		names := strings.Split(test.path, "|")
		var above []Object
		for _, name := range names[:len(names)-1] {
			above = []Object{s.object(name, 24, above...)}
		}
		last := above[0]
		s.objects(100, names[len(names)-1], 100, last)
		test.root.Object = 0
		s.root(test.root)
		g := s.graph()
		x := g.Dominators().Suspects(g.Paths(), 5000)
		if len(x) != 1 || x[0].Object != last || x[0].Cause != test.want {
			t.Errorf("%s: %+v, want %s at object %d", test.path, x, test.want, last)
		}
	}
	handlers := newSketch()
	event := handlers.object("Shop.Handler", 64)
	handlers.static("Changed", event)
	handlers.objects(100, "Shop.Handler", 64, handlers.object("System.Object[]", 824, event))
	handlers.g.Types[handlers.typ("Shop.Handler")].Flags = typeDelegate
	compareSuspects(t, handlers, 1000, "1x System.Object[] 7224/7224 event-handlers; static Changed: Shop.Handler*1 System.Object[]*1; 100x Shop.Handler 6400")

	numbers := newSketch() // the array of a collection is not what to change
	numbers.static("ids", numbers.object("System.Collections.Generic.HashSet<System.Int32>", 64))
	numbers.object("System.Collections.Generic.HashSet<System.Int32>+Entry[]", 9000, 0)
	compareSuspects(t, numbers, 1000, "1x System.Collections.Generic.HashSet<System.Int32>+Entry[] 9000/9000 collection; static ids: System.Collections.Generic.HashSet<System.Int32>*1 System.Collections.Generic.HashSet<System.Int32>+Entry[]*1;")
}

// TestSuspectsOfRandomGraphs holds suspects against the definitions: what they retain is what would
// be unreachable without them, they do not overlap, and nothing large is missing.
func TestSuspectsOfRandomGraphs(t *testing.T) {
	extent.Long(t)
	rnd := rand.New(rand.NewPCG(7, 8))
	found, structures, manies := 0, 0, 0
	for round := range 3000 {
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
		retained := func(o Object) (set []Object, bytes uint64) {
			without := reachableWithout(s.references, roots, o)
			for x := range n {
				if all[x] && !without[x] {
					set = append(set, Object(x))
					bytes += g.Space(Object(x))
				}
			}
			return set, bytes
		}
		total := uint64(0)
		for x := range n {
			if all[x] {
				total += g.Space(Object(x))
			}
		}
		least := total/10 + 1
		list := g.Dominators().Suspects(g.Paths(), least)
		own := uint64(0)
		covered := newBits(n)
		for _, x := range list {
			own += x.Own
			below := uint64(0)
			for _, b := range x.Below {
				below += b.Retained
			}
			if x.Own < least || x.Own > x.Retained {
				t.Fatalf("round %d: %+v, at least %d", round, x, least)
			}
			if x.Object == NoObject {
				manies++
				if below != x.Own {
					t.Fatalf("round %d: %d bytes of %d are explained", round, below, x.Own)
				}
				continue
			}
			set, bytes := retained(x.Object)
			if bytes != x.Retained || g.Type(x.Object) != x.Type {
				t.Fatalf("round %d: %+v, want %d bytes", round, x, bytes)
			}
			for _, o := range set {
				covered.set(o)
			}
			if x.Objects == 1 {
				below += g.Space(x.Object)
			} else {
				structures++
			}
			if below != x.Own {
				t.Fatalf("round %d: %d bytes of %d are explained: %+v", round, below, x.Own, x)
			}
		}
		if found += len(list); own > total {
			t.Fatalf("round %d: the suspects have %d bytes of %d", round, own, total)
		}
		for x := range n { // what retains much is a suspect, or above one, or part of one
			if set, bytes := retained(Object(x)); all[x] && bytes >= least && !slices.ContainsFunc(set, covered.has) {
				t.Fatalf("round %d: object %d retains %d bytes, at least %d, and is no suspect: %+v", round, x, bytes, least, list)
			}
		}
	}
	if found < 3000 || structures < 100 || manies < 100 {
		t.Errorf("%d suspects, %d structures, %d of many objects: too few to say much", found, structures, manies)
	}
}

// TestMaxSuspects: the largest are found, however many there are.
func TestMaxSuspects(t *testing.T) {
	s := newSketch()
	for i := range 5 * MaxSuspects { // first larger and larger ones
		s.static("field", s.object(fmt.Sprint("T", i), 1000+8*min(i, 5*MaxSuspects-i)))
	}
	for range 100 { // which no object dominates
		many := s.object("Many", 40)
		s.handle(many)
		s.references[0], s.references[1] = append(s.references[0], many), append(s.references[1], many)
	}
	g := s.graph()
	list := g.Dominators().Suspects(g.Paths(), 100)
	if len(list) != MaxSuspects || list[0].Object != NoObject || list[0].Own != 4000 || len(list[0].Path) != 1 {
		t.Errorf("%d suspects, the first %+v", len(list), list[0])
	}
	for i, x := range list[1:] {
		if want := uint64(1000 + 8*(5*MaxSuspects/2-(i+1)/2)); x.Own != want || len(x.Path) != 1 || x.Holder.Static == nil {
			t.Errorf("suspect %d: %+v, want %d bytes", i+1, x, want)
		}
	}
}

// TestSuspectsOfLongList: nothing is recursive.
func TestSuspectsOfLongList(t *testing.T) {
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
	x := g.Dominators().Suspects(g.Paths(), n)
	if len(x) != 1 || x[0].Objects != n || x[0].Own != 8*n || len(x[0].Path) != 1 {
		t.Errorf("%+v", x)
	}
}
