package heap

import (
	"cmp"
	"slices"
)

// A Suspect is a place where memory accumulates: an object that retains much while each object below
// it retains little, a structure of objects of one type such as a list, or many objects of one type
// that only the roots together keep alive.
type Suspect struct {
	// Object is where the memory accumulates: a single object, or the first one of a structure. It is
	// NoObject for many objects that no single one dominates.
	Object  Object
	Type    int    // index in Graph.Types: that of Object, or of the many
	Objects uint64 // objects of this type: 1, the structure, or the many
	// Retained is what Object retains, or the many objects; Own is that without what other suspects
	// retain that Object dominates. In bytes.
	Retained, Own uint64
	Cause         Cause

	// Holder is what holds the first object of Path, and Path the types from there to Object, on one of
	// the shortest paths. The paths to many objects may differ: Path is then the part that at least 70 %
	// of them have in common, and empty if there is none. Via counts them, or else those of Holder.
	Holder Holder
	Path   []Step
	Via    uint64
	// Dominated reports whether all paths to Object begin with the first object of Path.
	Dominated bool

	// Below is what accumulates: the objects that Object dominates directly, by type, those that retain
	// most first, without those that contain other suspects. Those of a structure, or the many, come
	// with what they dominate.
	Below []Below
}

// A Step is a series of objects of one type on a path.
type Step struct {
	Type     int    // index in Graph.Types
	Object   Object // the first one; NoObject if paths were merged
	Repeated int    // objects in the series, at least 1
}

// Below counts objects of a type.
type Below struct {
	Type     int // index in Graph.Types
	Objects  uint64
	Retained uint64 // bytes; of the objects of a structure, or of the many, only their own
}

// MaxSuspects is the number of suspects that are found: the path to each takes time in proportion to
// the heap.
const MaxSuspects = 100

// Suspects returns the places where at least a number of bytes accumulate, the largest first, up to
// MaxSuspects. Their Own are disjoint parts of the heap.
func (d *Dominators) Suspects(p *Paths, least uint64) []Suspect {
	s := newSuspicion(d, max(least, 1))
	s.single()
	s.many()
	s.keepLargest()
	for i := range s.list {
		if x := &s.list[i]; x.Object == NoObject {
			s.commonPath(p, x)
		} else {
			s.path(p, x)
		}
	}
	s.below()
	for i := range s.list {
		s.list[i].Cause = d.graph.cause(&s.list[i])
	}
	return s.list
}

// A suspicion is the search for suspects. Objects are numbered as in Dominators; 0 is the roots.
type suspicion struct {
	d      *Dominators
	least  uint64
	tables bits   // numbers of the arrays of static fields: what they dominate counts as held by the roots
	joined bits   // numbers of objects that are in the same structure as their dominators
	large  []part // the objects that retain at least least, dominators first
	equals bits   // numbers of those among them that count as part of what accumulates at their dominator
	list   []Suspect
}

// A part is an object that retains at least the bytes of a suspect.
type part struct {
	number uint32
	above  int    // index of its dominator; -1: the roots
	below  int    // parts of which it is the dominator
	head   int    // index of the first object of the structure that it is in
	own    uint64 // bytes that it retains, and no part below it does
	next   uint64 // of these, the bytes that the next object of the structure retains, such as a list node
}

// alone returns what accumulates at the object, and not further down in the same structure.
func (x *part) alone() uint64 { return x.own - x.next }

// fewEquals is the number of objects of one type that are not suspects of their own, but together
// what accumulates at their dominator.
const fewEquals = 4

// A structure is a set of objects in which a type recurs within this number of dominators: the nodes
// of a list, or directories and the arrays that hold their subdirectories.
const period = 4

func newSuspicion(d *Dominators, least uint64) *suspicion {
	n := len(d.vertex) + 1
	s := &suspicion{d: d, least: least, tables: d.tables(), joined: newBits(n), equals: newBits(n)}
	for number := 1; number < n; number++ {
		s.join(uint32(number))
	}
	return s
}

// join adds an object to the structure of a dominator of the same type, and what is between them.
func (s *suspicion) join(number uint32) {
	above := number
	for range period {
		if above = s.above(above); above == 0 {
			return
		}
		if s.typ(above) == s.typ(number) {
			break
		}
	}
	if s.typ(above) == s.typ(number) {
		for at := number; at != above; at = s.above(at) {
			s.joined.set(Object(at))
		}
	}
}

// above returns the number of what dominates an object.
func (s *suspicion) above(number uint32) uint32 {
	if above := s.d.idom[number-1]; !s.tables.has(Object(above)) {
		return above
	}
	return 0
}

func (s *suspicion) object(number uint32) Object { return s.d.vertex[number-1] }

func (s *suspicion) typ(number uint32) int { return s.d.graph.Type(s.object(number)) }

// among reports whether an object counts as one of many: only the roots dominate it.
func (s *suspicion) among(number uint32) bool {
	return s.above(number) == 0 && s.d.retained[number-1] < s.least && !s.tables.has(Object(number))
}

// add adds a suspect, without its path and what is below it.
func (s *suspicion) add(x Suspect) {
	if s.list = append(s.list, x); len(s.list) == 2*MaxSuspects {
		s.keepLargest()
	}
}

func (s *suspicion) keepLargest() {
	slices.SortStableFunc(s.list, func(a, b Suspect) int { return cmp.Compare(b.Own, a.Own) })
	s.list = s.list[:min(len(s.list), MaxSuspects)]
}

// commonShare is the share that makes one thing stand for the whole.
const commonShare = 0.7

// single finds the suspects that are objects, and structures. A structure is one if none of its
// objects alone accounts for it: each node of a list retains nearly as much as the one before.
func (s *suspicion) single() {
	s.findLarge()
	// By the index of the first object of a structure:
	own := make([]uint64, len(s.large))
	best := make([]int, len(s.large)) // the part with the most of that
	for i, x := range s.large {
		own[x.head] += x.own
		if i == x.head || x.alone() > s.large[best[x.head]].alone() {
			best[x.head] = i
		}
	}
	for i, total := range own {
		if total < s.least {
			continue // also those that are not the first
		}
		at, x := s.large[best[i]], Suspect{Objects: 1}
		x.Own = at.own
		if at.alone() < s.least || float64(at.alone()) < commonShare*float64(total) {
			at, x = s.large[i], Suspect{Own: total} // its objects are still to be counted
		}
		x.Object, x.Type, x.Retained = s.object(at.number), s.typ(at.number), s.d.retained[at.number-1]
		s.add(x)
	}
}

// findLarge lists the objects that retain enough for a suspect.
func (s *suspicion) findLarge() {
	index := make([]int32, len(s.d.vertex)+1) // in large, by number
	index[0] = -1
	large := 0
	for _, retained := range s.d.retained {
		if retained >= s.least {
			large++
		}
	}
	s.large = make([]part, 0, large)
	for i, retained := range s.d.retained {
		number := uint32(i + 1)
		above := index[s.above(number)]
		index[number] = -1
		switch {
		case s.tables.has(Object(number)):
		case retained >= s.least:
			index[number] = int32(len(s.large))
			s.large = append(s.large, part{number: number, above: int(above), head: len(s.large)})
			if above >= 0 {
				s.large[above].below++
			}
		case above >= 0 && s.joined.has(Object(number)):
			s.large[above].next = max(s.large[above].next, retained)
		}
	}
	type siblings struct{ above, typ int }
	count := map[siblings]int{}
	for _, x := range s.large {
		if x.above >= 0 && s.large[x.above].below >= fewEquals {
			count[siblings{x.above, s.typ(x.number)}]++
		}
	}
	for i := range s.large {
		x := &s.large[i]
		retained := s.d.retained[x.number-1]
		if x.above < 0 {
			x.own = retained
			continue
		}
		above := &s.large[x.above]
		if s.equals.has(Object(above.number)) || count[siblings{x.above, s.typ(x.number)}] >= fewEquals {
			s.equals.set(Object(x.number))
			continue
		}
		x.own = retained
		above.own -= retained
		if s.joined.has(Object(x.number)) {
			x.head = above.head
		}
	}
}

// path finds a shortest path to a suspect.
func (s *suspicion) path(p *Paths, x *Suspect) {
	var objects []Object
	x.Holder, objects, _ = p.To(x.Object)
	x.Path = s.d.graph.steps(objects)
	top := s.d.number[x.Object]
	for above := s.d.idom[top-1]; above > 0; above = s.d.idom[top-1] {
		top = above
	}
	x.Via, x.Dominated = 1, s.object(top) == objects[0]
}

// many finds the types of which many objects retain much together, while only the roots dominate
// each of them.
func (s *suspicion) many() {
	counts := make([]Below, len(s.d.graph.Types))
	for i, retained := range s.d.retained {
		if number := uint32(i + 1); s.among(number) {
			c := &counts[s.typ(number)]
			c.Objects++
			c.Retained += retained
		}
	}
	for t, c := range counts {
		if c.Retained >= s.least {
			s.add(Suspect{Object: NoObject, Type: t, Objects: c.Objects, Retained: c.Retained, Own: c.Retained})
		}
	}
}

// commonPath finds what most paths to many objects have in common.
func (s *suspicion) commonPath(p *Paths, x *Suspect) {
	branches, _ := p.Merge(func(o Object) bool {
		number := s.d.number[o]
		return s.d.graph.Type(o) == x.Type && number > 0 && s.among(number)
	})
	for len(branches) > 0 {
		most := slices.MaxFunc(branches,
			func(a, b *Branch) int { return cmp.Compare(a.Targets.Objects, b.Targets.Objects) })
		if len(x.Path) == 0 {
			x.Holder, x.Via = most.holder, most.Targets.Objects
		}
		if float64(most.Targets.Objects) < commonShare*float64(x.Objects) {
			break
		}
		x.Via = most.Targets.Objects
		x.Path = append(x.Path, Step{Type: most.Type, Object: NoObject, Repeated: most.Repeated})
		branches = most.Below
	}
}

// below counts what accumulates at the suspects, and the objects of structures.
func (s *suspicion) below() {
	type key struct{ suspect, typ int }
	counts := map[key]*Below{}
	count := func(suspect int, number uint32, bytes uint64) {
		k := key{suspect, s.typ(number)}
		if counts[k] == nil {
			counts[k] = &Below{Type: k.typ}
		}
		counts[k].Objects++
		counts[k].Retained += bytes
	}
	first, many, structure := map[uint32]int{}, map[int]int{}, make([]bool, len(s.list))
	for i, x := range s.list {
		if x.Object == NoObject {
			many[x.Type] = i
		} else {
			first[s.d.number[x.Object]] = i
			structure[i] = x.Objects == 0
		}
	}
	const none = -1
	of := make([]int32, len(s.d.vertex)+1) // the suspect that an object belongs to, by number
	of[0] = none
	for i, retained := range s.d.retained {
		number := uint32(i + 1)
		above := int(of[s.above(number)])
		of[number] = none
		if at, ok := first[number]; ok {
			of[number] = int32(at)
		} else if at, ok := many[s.typ(number)]; ok && s.among(number) {
			of[number] = int32(at)
			count(at, number, s.d.graph.Space(s.object(number)))
		} else if above != none && structure[above] && s.joined.has(Object(number)) {
			of[number] = int32(above)
		} else if above != none && (retained < s.least || s.equals.has(Object(number))) {
			count(above, number, retained)
		}
		if at := of[number]; at != none && structure[at] {
			if s.typ(number) == s.list[at].Type {
				s.list[at].Objects++
			}
			count(int(at), number, s.d.graph.Space(s.object(number)))
		}
	}
	for k, b := range counts {
		s.list[k.suspect].Below = append(s.list[k.suspect].Below, *b)
	}
	for i := range s.list {
		slices.SortFunc(s.list[i].Below, func(a, b Below) int {
			return cmp.Or(cmp.Compare(b.Retained, a.Retained), cmp.Compare(b.Objects, a.Objects),
				cmp.Compare(a.Type, b.Type))
		})
	}
}
