package heap

import (
	"cmp"
	"slices"
)

// A TreeNode is an object of the dominator tree with what it dominates, or several objects of one
// type that are shown as one: siblings, and those below them of the same type, such as the nodes of a
// list.
//
// Retained is the sum of Bytes, of what Below retain, and of what Others do.
type TreeNode struct {
	Type     int    // index in Graph.Types
	Object   Object // the first one; NoObject if there are several that nothing of the same type dominates
	Objects  uint64
	Repeated int    // longest series of objects of this type, each of which dominates the next; at least 1
	Bytes    uint64 // Graph.Space of the objects
	Retained uint64
	Holder   string // what holds an object that only the roots dominate; "" below, and if it differs
	Below    []*TreeNode
	Others   Rest // nodes below that are not in Below
}

// Rest is what a tree leaves out.
type Rest struct {
	Objects  uint64 // without those that they dominate
	Retained uint64 // bytes
}

// TreeLimits limits the size of a tree.
type TreeLimits struct {
	Depth    int    // of nodes below each other, at least 1
	Least    uint64 // bytes that a node retains
	Siblings int    // nodes directly below each, those that retain most; 0: all
	Nodes    int    // nodes in the whole tree, nearest to the roots first; 0: all
}

// fewSiblings is the largest number of large siblings of one type that are shown one by one. Of more
// only those are that retain as much of what all do.
const fewSiblings = 5

// Tree returns the dominator tree: the objects that only the roots dominate, and those below them. If
// from is not nil, the tree begins instead with the objects for which it returns true, and which no
// others of them dominate. What arrays of static fields hold counts as held by the roots.
func (d *Dominators) Tree(p *Paths, from func(Object) bool, limits TreeLimits) *TreeNode {
	t := &treeMaker{d: d, paths: p, tables: d.tables(), children: d.children(), limits: limits}
	root := &TreeNode{Object: NoObject}
	type step struct {
		node  *TreeNode
		below []uint32
		depth int
	}
	todo := []step{{root, t.top(from), 1}}
	for i := 0; i < len(todo); i++ { // those nearest to the roots first
		s := todo[i]
		todo[i].below = nil
		t.groups(s.node, s.below, func(members []uint32) {
			n, below := t.node(members)
			if s.depth == 1 && from == nil {
				n.Holder = t.holder(members)
			}
			s.node.Below = append(s.node.Below, n)
			if s.depth < limits.Depth {
				todo = append(todo, step{n, below, s.depth + 1})
			} else {
				t.leaveOut(n, below)
			}
		})
	}
	for _, n := range root.Below {
		root.Retained += n.Retained
	}
	root.Retained += root.Others.Retained
	return root
}

// A treeMaker makes a tree. Objects are numbered as in Dominators; 0 is the roots.
type treeMaker struct {
	d        *Dominators
	paths    *Paths
	tables   bits
	children adjacency
	limits   TreeLimits
	nodes    int // so far
}

func (t *treeMaker) below(number uint32) []uint32 {
	return t.children.all[t.children.first[number]:t.children.first[number+1]]
}

func (t *treeMaker) typ(number uint32) int { return t.d.graph.Type(t.d.vertex[number-1]) }

// retained returns what an object retains. What the static fields in an array hold is not below it.
func (t *treeMaker) retained(number uint32) uint64 {
	if t.tables.has(Object(number)) {
		return t.d.graph.Space(t.d.vertex[number-1])
	}
	return t.d.retained[number-1]
}

// top returns the objects with which the tree begins.
func (t *treeMaker) top(from func(Object) bool) (list []uint32) {
	if from == nil {
		for _, number := range t.below(0) {
			list = append(list, number)
			if t.tables.has(Object(number)) {
				list = append(list, t.below(number)...)
			}
		}
		return list
	}
	inside := newBits(len(t.d.vertex) + 1)
	for i, above := range t.d.idom {
		number := uint32(i + 1)
		below := inside.has(Object(above)) && !t.tables.has(Object(above))
		if !below && !from(t.d.vertex[i]) {
			continue
		}
		inside.set(Object(number))
		if !below {
			list = append(list, number)
		}
	}
	return list
}

// groups divides objects into those that are nodes, and calls f for the members of each, those that
// retain most first. The others are left out.
func (t *treeMaker) groups(above *TreeNode, list []uint32, f func(members []uint32)) {
	byType := map[int][]uint32{}
	for _, number := range list {
		byType[t.typ(number)] = append(byType[t.typ(number)], number)
	}
	type group struct {
		members  []uint32
		retained uint64
	}
	var groups []group
	add := func(members []uint32) {
		g := group{members: members}
		for _, number := range members {
			g.retained += t.retained(number)
		}
		if len(members) > 0 {
			groups = append(groups, g)
		}
	}
	for _, members := range byType {
		all, count := uint64(0), 0
		for _, number := range members {
			all += t.retained(number)
			if t.retained(number) >= t.limits.Least {
				count++
			}
		}
		large := t.limits.Least
		if count > fewSiblings {
			large = max(large, (all+fewSiblings-1)/fewSiblings)
		}
		var rest []uint32
		for _, number := range members {
			if t.retained(number) >= large {
				add([]uint32{number})
			} else {
				rest = append(rest, number)
			}
		}
		add(rest)
	}
	slices.SortFunc(groups, func(a, b group) int {
		return cmp.Or(cmp.Compare(b.retained, a.retained), cmp.Compare(a.members[0], b.members[0]))
	})
	for i, g := range groups {
		switch l := &t.limits; {
		case g.retained < l.Least, l.Siblings > 0 && i >= l.Siblings, l.Nodes > 0 && t.nodes >= l.Nodes:
			t.leaveOut(above, g.members)
			continue
		}
		t.nodes++
		f(g.members)
	}
}

func (t *treeMaker) leaveOut(above *TreeNode, list []uint32) {
	above.Others.Objects += uint64(len(list))
	for _, number := range list {
		above.Others.Retained += t.retained(number)
	}
}

// node returns the node of some objects of one type, and what is directly below it. Objects of the
// same type below them are part of it, as long as these retain at least half of what those above do:
// lists of millions of objects are usual.
func (t *treeMaker) node(members []uint32) (n *TreeNode, below []uint32) {
	n = &TreeNode{Type: t.typ(members[0]), Object: NoObject}
	if len(members) == 1 {
		n.Object = t.d.vertex[members[0]-1]
	}
	for _, number := range members {
		n.Retained += t.retained(number)
	}
	for level, retained := members, n.Retained; len(level) > 0; {
		var next, others []uint32
		same := uint64(0)
		for _, number := range level {
			n.Objects++
			n.Bytes += t.d.graph.Space(t.d.vertex[number-1])
			if t.tables.has(Object(number)) {
				continue
			}
			for _, b := range t.below(number) {
				if t.typ(b) == n.Type {
					next = append(next, b)
					same += t.retained(b)
				} else {
					others = append(others, b)
				}
			}
		}
		n.Repeated++
		below = append(below, others...)
		if same < retained-same && (n.Repeated < 3 || len(next) > len(level)) { // not the end of a list
			below = append(below, next...)
			break
		}
		level, retained = next, same
	}
	return n, below
}

// holder returns what holds some objects that only the roots dominate, or "" if that differs.
func (t *treeMaker) holder(members []uint32) (name string) {
	for i, number := range members {
		o := t.d.vertex[number-1]
		this := ""
		if h, ok := t.paths.direct(o); ok {
			this = h.String()
		}
		if i > 0 && this != name {
			return ""
		}
		name = this
	}
	return name
}

// direct returns what holds an object, or an array of static fields that refers to it.
func (p *Paths) direct(o Object) (Holder, bool) {
	first := p.from[o]
	if first == NoObject {
		return Holder{}, false
	}
	i, ok := p.holder[first]
	return p.holders[i], ok && (first == o || p.holders[i].Table)
}
