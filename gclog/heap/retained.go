package heap

// RetainedByType returns how many bytes the objects of each type retain, indexed as Graph.Types:
// the sum of what those retain that no object of the same type dominates. RetainedSet says what they
// retain together, which may be more: what two of them hold and nobody else.
func (d *Dominators) RetainedByType() []uint64 {
	return d.retainedBy(len(d.graph.Types), d.graph.Type)
}

// retainedBy does so for n groups of objects. Objects for which group returns a negative number are
// in none.
func (d *Dominators) retainedBy(n int, group func(Object) int) []uint64 {
	list := make([]uint64, n)
	type level struct {
		vertex uint32
		group  int
	}
	open := make([]uint32, len(list)) // vertices of each group in path
	children := d.children()
	var path []level // from the roots to where the walk of the dominator tree is
	visit := func(v uint32) {
		i := group(d.vertex[v-1])
		if i >= 0 {
			if open[i] == 0 {
				list[i] += d.retained[v-1]
			}
			open[i]++
		}
		path = append(path, level{v, i})
	}
	next := append([]uint32(nil), children.first...)
	for i := children.first[0]; i < children.first[1]; i++ {
		visit(children.all[i])
		for len(path) > 0 {
			top := path[len(path)-1]
			if at := &next[top.vertex]; *at < children.first[top.vertex+1] {
				*at++
				visit(children.all[*at-1])
				continue
			}
			if top.group >= 0 {
				open[top.group]--
			}
			path = path[:len(path)-1]
		}
	}
	return list
}

// An adjacency lists what is next to each number: that of n is all[first[n]:first[n+1]].
type adjacency struct{ first, all []uint32 }

// children returns the vertices that each vertex dominates directly, by number; 0 stands for the
// roots.
func (d *Dominators) children() adjacency {
	c := adjacency{first: make([]uint32, len(d.vertex)+3), all: make([]uint32, len(d.vertex))}
	for _, above := range d.idom {
		c.first[above+2]++
	}
	for i := 2; i < len(c.first); i++ {
		c.first[i] += c.first[i-1]
	}
	for i, above := range d.idom {
		at := &c.first[above+1]
		c.all[*at] = uint32(i + 1)
		*at++
	}
	return c
}

// RetainedSet returns what a set of objects retains together: what would be unreachable without
// them, and they themselves.
func (g *Graph) RetainedSet(of func(Object) bool) Count {
	s := newSuccessors(g)
	all, rest := s.reach(func(Object) bool { return false }), s.reach(of)
	return Count{all.Objects - rest.Objects, all.Bytes - rest.Bytes}
}

// reach counts what is reachable without passing through certain objects.
func (s *successors) reach(without func(Object) bool) (c Count) {
	seen := newBits(s.g.Len())
	todo := append([]Object(nil), s.roots...)
	for len(todo) > 0 {
		o := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if seen.has(o) || without(o) {
			continue
		}
		seen.set(o)
		c.add(s.g.Space(o))
		todo = append(todo, s.of(o)...)
	}
	return c
}
