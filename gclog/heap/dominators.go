package heap

import "slices"

// Dominators says for each object what keeps it alive alone: its dominator is the nearest object that
// is on every path from the roots to it. Without the dominator it would be garbage. The memory that
// an object retains is its own and that of all objects that it dominates.
//
// Roots are strong roots and static fields; the entries of ConditionalWeakTables are references from
// key to value. Weak roots keep nothing alive.
type Dominators struct {
	graph    *Graph
	vertex   []Object // the reachable objects in the order of a depth-first search
	number   []uint32 // the index in vertex of each object, plus 1; 0: unreachable
	idom     []uint32 // by index in vertex: the index of the dominator plus 1; 0: the roots
	retained []uint64 // bytes, by index in vertex
}

// Reachable reports whether an object is reachable from a root. Objects that are not are frozen
// ones, as a rule.
func (d *Dominators) Reachable(o Object) bool { return d.number[o] > 0 }

// NumReachable returns the number of reachable objects.
func (d *Dominators) NumReachable() int { return len(d.vertex) }

// Dominator returns the dominator of a reachable object, or NoObject if only the roots together keep
// it alive.
func (d *Dominators) Dominator(o Object) Object {
	if n := d.number[o]; n > 0 && d.idom[n-1] > 0 {
		return d.vertex[d.idom[n-1]-1]
	}
	return NoObject
}

// Retained returns how many bytes an object retains: its Space and that of all that it dominates. For
// an unreachable object it is 0.
func (d *Dominators) Retained(o Object) uint64 {
	if n := d.number[o]; n > 0 {
		return d.retained[n-1]
	}
	return 0
}

// All calls f for each reachable object, a dominator before what it dominates, until f returns
// false.
func (d *Dominators) All(f func(Object) bool) {
	for _, o := range d.vertex {
		if !f(o) {
			return
		}
	}
}

// Dominators computes the dominators of all reachable objects, with the algorithm SEMI-NCA
// (Georgiadis: Linear-Time Algorithms for Dominators and Related Problems, 2005). Nothing is
// recursive: lists with millions of elements are usual.
func (g *Graph) Dominators() *Dominators {
	d := &Dominators{graph: g, number: make([]uint32, g.Len())}
	s := newSuccessors(g)
	parent := d.search(s)
	d.idom = dominate(parent, d.edges(s, parent))
	d.retained = make([]uint64, len(d.vertex))
	for i := len(d.vertex) - 1; i >= 0; i-- {
		d.retained[i] += g.Space(d.vertex[i])
		if above := d.idom[i]; above > 0 {
			d.retained[above-1] += d.retained[i]
		}
	}
	return d
}

// successors are the references that keep objects alive: those of the Graph, and from the keys of
// ConditionalWeakTables to their values.
type successors struct {
	g     *Graph
	extra map[Object][]Object // all successors of the objects that have others than their references
	has   bits                // the objects in extra
	roots []Object
}

func newSuccessors(g *Graph) *successors {
	s := &successors{g: g, extra: map[Object][]Object{}, has: newBits(g.Len())}
	for _, r := range g.Roots {
		if r.Strong() {
			s.roots = append(s.roots, r.Object)
		}
	}
	for _, v := range g.Statics {
		s.roots = append(s.roots, v.Object)
	}
	for _, x := range g.Dependents {
		if s.extra[x.Key] == nil {
			s.set(x.Key, slices.Clone(g.References(x.Key)))
		}
		s.extra[x.Key] = append(s.extra[x.Key], x.Value)
	}
	s.cutStatics()
	return s
}

// cutStatics removes the references to the values of static fields from the arrays that hold the
// fields. Otherwise such an array, which says nothing, would dominate what a field holds.
func (s *successors) cutStatics() {
	type slot struct{ table, value Object }
	cut := map[slot]bool{}
	for _, v := range s.g.Statics {
		if table, ok := s.g.containing(v.Slot); ok {
			cut[slot{table, v.Object}] = true
		}
	}
	for table := range s.g.staticTables() {
		s.set(table, slices.DeleteFunc(slices.Clone(s.of(table)), func(o Object) bool { return cut[slot{table, o}] }))
	}
}

// staticTables returns the arrays in which the runtime keeps static fields. A file of another tool
// does not say where the fields are.
func (g *Graph) staticTables() map[Object]bool {
	tables := map[Object]bool{}
	for _, v := range g.Statics {
		if table, ok := g.containing(v.Slot); ok {
			tables[table] = true
		}
	}
	return tables
}

// tables returns the numbers of the arrays of static fields.
func (d *Dominators) tables() bits {
	tables := newBits(len(d.vertex) + 1)
	for table := range d.graph.staticTables() {
		tables.set(Object(d.number[table]))
	}
	return tables
}

func (s *successors) set(o Object, all []Object) {
	s.extra[o] = all
	s.has.set(o)
}

func (s *successors) of(o Object) []Object {
	if s.has.has(o) {
		return s.extra[o]
	}
	return s.g.References(o)
}

// search numbers the reachable objects in the order of a depth-first search. It returns the number
// of the parent of each by number, 0 for the roots; numbers of objects start at 1.
func (d *Dominators) search(s *successors) (parent []uint32) {
	type frame struct {
		number uint32
		left   uint32 // how many of its successors have not been looked at
	}
	var stack []frame // only those that have some left: a long list needs no memory
	d.vertex, parent = make([]Object, 0, d.graph.Len()), make([]uint32, 1, d.graph.Len()+1)
	for _, root := range s.roots {
		number, list := uint32(0), []Object{root}
		for {
			for len(list) > 0 {
				o := list[0]
				list = list[1:]
				if d.number[o] > 0 {
					continue
				}
				d.vertex, parent = append(d.vertex, o), append(parent, number)
				d.number[o] = uint32(len(d.vertex))
				below := s.of(o)
				if len(below) == 0 {
					continue
				}
				if len(list) > 0 {
					stack = append(stack, frame{number, uint32(len(list))})
				}
				number, list = d.number[o], below
			}
			if len(stack) == 0 {
				break
			}
			top := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			number, list = top.number, s.of(d.vertex[top.number-1])
			list = list[len(list)-int(top.left):]
		}
	}
	return parent
}

// edges are the references, by the numbers of the objects. Most come from an object with a smaller
// number. Then nothing but that number matters, and of several only the smallest one.
type edges struct {
	smallest []uint32  // the smallest number that refers to each, 0 for the roots
	larger   adjacency // the larger numbers that refer to each
}

func (d *Dominators) edges(s *successors, parent []uint32) *edges {
	n := len(parent)
	e := &edges{smallest: slices.Clone(parent), larger: adjacency{first: make([]uint32, n+2)}}
	for _, o := range s.roots {
		e.smallest[d.number[o]] = 0
	}
	type edge struct{ from, to uint32 }
	var later column[edge]
	for i, o := range d.vertex {
		from := uint32(i + 1)
		for _, target := range s.of(o) {
			switch to := d.number[target]; {
			case from > to:
				later.add(edge{from, to})
				e.larger.first[to+2]++
			case from < e.smallest[to]:
				e.smallest[to] = from
			}
		}
	}
	for i := 2; i < len(e.larger.first); i++ {
		e.larger.first[i] += e.larger.first[i-1]
	}
	e.larger.all = make([]uint32, later.n)
	for _, chunk := range later.chunks {
		for _, x := range chunk {
			at := &e.larger.first[x.to+1]
			e.larger.all[*at] = x.from
			*at++
		}
	}
	return e
}

// dominate returns the dominators by number, without the number 0.
func dominate(parent []uint32, e *edges) (idom []uint32) {
	n := uint32(len(parent))
	// A forest of the vertices that have been handled. ancestor points towards the root, past what is
	// compressed already; best is the smallest semidominator from the vertex up to its ancestor. They
	// are next to each other because most accesses are cache misses.
	forest := make([]struct{ ancestor, best uint32 }, n)
	for i, above := range parent {
		forest[i].ancestor, forest[i].best = above, uint32(i)
	}
	semi := e.smallest
	var path []uint32
	for w := n - 1; w > 0; w-- {
		for _, v := range e.larger.all[e.larger.first[w]:e.larger.first[w+1]] {
			// Compress the path from v to the first vertex that has not been handled.
			u := v
			for forest[u].ancestor > w {
				path = append(path, u)
				u = forest[u].ancestor
			}
			top := forest[u]
			for _, i := range slices.Backward(path) {
				x := &forest[i]
				top.best = min(top.best, x.best)
				*x = top
			}
			path = path[:0]
			semi[w] = min(semi[w], top.best)
		}
		forest[w].best = semi[w]
	}
	// The dominator is the nearest one above the parent, in the tree of dominators, that is no larger than
	// the semidominator. So that a long list above many vertices is not climbed for each of them, a vertex
	// knows another one that is far above it: climbing k levels takes some log k steps (Myers: An
	// Applicative Random-Access Stack, 1983).
	type climb struct{ far, depth uint32 }
	climbs := make([]climb, n)
	idom = parent
	for w := uint32(1); w < n; w++ {
		above := idom[w]
		for above > semi[w] {
			if far := climbs[above].far; far > semi[w] {
				above = far
			} else {
				above = idom[above]
			}
		}
		x, far := climbs[above], climbs[climbs[above].far]
		climbs[w] = climb{above, x.depth + 1}
		if x.depth-far.depth == far.depth-climbs[far.far].depth {
			climbs[w].far = far.far
		}
		idom[w] = above
	}
	return idom[1:]
}
