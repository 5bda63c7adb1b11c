package heap

import (
	"cmp"
	mathbits "math/bits"
	"slices"
)

// A RootPath is what holds objects from outside of the heap, with a shortest path from there. Holders
// with the same name that hold objects of the same type are one.
type RootPath struct {
	Holder  Holder // the holder at the start of Path
	Path    []Step // to the nearest of the objects
	Targets Count  // all of the objects that are reachable from here, on any path
}

// MaxRoots is the number of roots that Roots returns. It counts what they reach, a batch of them at a
// time.
const (
	MaxRoots  = 4 * rootBatch
	rootBatch = 64 // bits of a uint64
)

// Roots returns everything that keeps a set of objects alive, those first that reach most of them, and
// of these the ones with the shortest paths. (Merge only counts an object where the nearest root is.)
// The second result is the number of all roots: at most MaxRoots are in the list, those with the
// shortest paths.
func (p *Paths) Roots(targets func(Object) bool) (list []RootPath, all int) {
	r := newRootSearch(p, targets)
	groups := r.groups()
	all = len(groups)
	groups = groups[:min(all, MaxRoots)]
	list = make([]RootPath, len(groups))
	for i, x := range groups {
		list[i] = RootPath{Holder: p.holders[x.holder], Path: p.graph.steps(r.path(p.holders[x.holder].Object()))}
	}
	for first := 0; first < len(groups); first += rootBatch {
		for o, mask := range r.reach(groups[first:min(len(groups), first+rootBatch)]) {
			for ; mask != 0 && targets(Object(o)); mask &= mask - 1 {
				list[first+mathbits.TrailingZeros64(mask)].Targets.add(p.graph.Space(Object(o)))
			}
		}
	}
	slices.SortStableFunc(list, func(a, b RootPath) int { return cmp.Compare(b.Targets.Bytes, a.Targets.Bytes) })
	return list, all
}

// steps returns a path by the types on it.
func (g *Graph) steps(path []Object) (list []Step) {
	for i, o := range path {
		if t := g.Type(o); i > 0 && list[len(list)-1].Type == t {
			list[len(list)-1].Repeated++
		} else {
			list = append(list, Step{Type: t, Object: o, Repeated: 1})
		}
	}
	return list
}

// A rootSearch finds the shortest paths from all roots to the nearest of a set of objects, in one
// search that begins at these.
type rootSearch struct {
	paths  *Paths
	s      *successors
	next   []Object // the object after each on its path; the object itself for one of the set; NoObject: leads to none
	order  []Object // objects that lead to a target, by the length of their paths
	levels []int    // the index in order of the first object with a path of each length
}

func newRootSearch(p *Paths, targets func(Object) bool) *rootSearch {
	g := p.graph
	r := &rootSearch{paths: p, s: newSuccessors(g), next: slices.Repeat([]Object{NoObject}, g.Len())}
	for _, o := range p.order {
		if targets(o) {
			r.next[o] = o
			r.order = append(r.order, o)
		}
	}
	before := r.predecessors()
	for i := 0; i < len(r.order); {
		r.levels = append(r.levels, i)
		for end := len(r.order); i < end; i++ {
			to := r.order[i]
			for _, o := range before.all[before.first[to]:before.first[to+1]] {
				if r.next[o] == NoObject {
					r.next[o] = to
					r.order = append(r.order, Object(o))
				}
			}
		}
	}
	return r
}

// predecessors returns the reachable predecessors of each object.
func (r *rootSearch) predecessors() adjacency {
	n := len(r.next)
	p := adjacency{first: make([]uint32, n+2)}
	for _, o := range r.paths.order {
		for _, to := range r.s.of(o) {
			p.first[to+2]++
		}
	}
	for i := 2; i < len(p.first); i++ {
		p.first[i] += p.first[i-1]
	}
	p.all = make([]uint32, p.first[n+1])
	for _, o := range r.paths.order {
		for _, to := range r.s.of(o) {
			at := &p.first[to+1]
			p.all[*at] = uint32(o)
			*at++
		}
	}
	return p
}

// A rootGroup is a number of holders that are one RootPath.
type rootGroup struct {
	holder  int // index in Paths.holders of the one with the shortest path
	objects []Object
}

// groups returns the groups of holders that lead to one of the objects, those with the shortest paths
// first.
func (r *rootSearch) groups() (list []rootGroup) {
	type key struct {
		name string
		typ  int
	}
	p := r.paths
	holders := map[Object][]int{}
	held := newBits(len(r.next))
	for i, h := range p.holders {
		if o := h.Object(); r.next[o] != NoObject {
			holders[o] = append(holders[o], i)
			held.set(o)
		}
	}
	index := map[key]int{}
	for level, begin := range r.levels {
		end := len(r.order)
		if level+1 < len(r.levels) {
			end = r.levels[level+1]
		}
		var here []int
		for _, o := range r.order[begin:end] {
			if held.has(o) {
				here = append(here, holders[o]...)
			}
		}
		slices.Sort(here)
		for _, i := range here {
			h := p.holders[i]
			k := key{h.String(), p.graph.Type(h.Object())}
			at, ok := index[k]
			if !ok {
				at = len(list)
				index[k] = at
				list = append(list, rootGroup{holder: i})
			}
			list[at].objects = append(list[at].objects, h.Object())
		}
	}
	return list
}

// path returns the shortest path from an object to one of the set.
func (r *rootSearch) path(o Object) []Object {
	path := []Object{o}
	for r.next[o] != o {
		o = r.next[o]
		path = append(path, o)
	}
	return path
}

// reach returns for each object the groups that it is reachable from: bit i stands for groups[i]. It
// follows all of them at once, and only where that leads to one of the set.
func (r *rootSearch) reach(groups []rootGroup) []uint64 {
	masks := make([]uint64, len(r.next))
	queued := newBits(len(r.next))
	var now, then []Object
	mark := func(o Object, mask uint64) {
		if masks[o]|mask == masks[o] {
			return
		}
		masks[o] |= mask
		if !queued.has(o) {
			queued.set(o)
			then = append(then, o)
		}
	}
	for i, x := range groups {
		for _, o := range x.objects {
			mark(o, 1<<i)
		}
	}
	for len(then) > 0 {
		now, then = then, now[:0]
		for _, o := range now {
			queued.clear(o)
			for _, to := range r.s.of(o) {
				if r.next[to] != NoObject {
					mark(to, masks[o])
				}
			}
		}
	}
	return masks
}
