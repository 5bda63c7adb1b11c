package heap

import (
	"cmp"
	"math"
	"slices"
)

// A Branch is a step of merged paths: the objects of a type that paths of the same types pass
// through.
type Branch struct {
	Holder   string // what holds the first step; Omitted after steps that were left out; else ""
	Type     int    // index in Graph.Types
	Repeated int    // longest series of objects of this type in the paths, as in a list; at least 1
	Own      Count  // the objects at the end of paths that end here
	Targets  Count  // and of those below
	Below    []*Branch

	holder Holder // the holder of the first step, one of the holders named Holder
}

// Omitted is the Holder of a Branch if steps in front of it were left out.
const Omitted = "..."

// A merger makes the tree of branches, of paths from object to object. The first branch is above all
// others.
type merger struct {
	g        *Graph
	deepest  int // number of steps in a path before some are omitted
	branches []*Branch
	above    []uint32 // by branch: the index of the branch above it
	depth    []int    // by branch: the number of steps up to it
	index    map[branchKey]uint32

	at     []uint32 // index in branches of each object
	series []uint32 // how many objects of its type precede it directly, and itself
}

type branchKey struct {
	above  uint32
	holder string
	typ    int
}

func newMerger(g *Graph) *merger {
	return &merger{
		g:        g,
		deepest:  math.MaxInt,
		branches: []*Branch{{}},
		above:    []uint32{0},
		depth:    []int{0},
		index:    map[branchKey]uint32{},
		at:       make([]uint32, g.Len()),
		series:   make([]uint32, g.Len()),
	}
}

// step adds an object after the one before it on its path, or if that is NoObject, after a holder. A
// series of objects of one type is one step.
func (m *merger) step(o, before Object, holder string) *Branch {
	t := m.g.Type(o)
	m.series[o] = 1
	switch {
	case before == NoObject:
		m.at[o] = m.branch(0, holder, t)
	case m.g.Type(before) == t:
		m.at[o], m.series[o] = m.at[before], m.series[before]+1
	default:
		above, holder := m.at[before], ""
		if m.depth[above] > m.deepest {
			above = m.above[above]
		}
		if m.depth[above] == m.deepest {
			holder = Omitted
		}
		m.at[o] = m.branch(above, holder, t)
	}
	b := m.branches[m.at[o]]
	b.Repeated = max(b.Repeated, int(m.series[o]))
	return b
}

// branch returns the index of a branch below another one.
func (m *merger) branch(above uint32, holder string, typ int) uint32 {
	key := branchKey{above, holder, typ}
	i, ok := m.index[key]
	if !ok {
		i = uint32(len(m.branches))
		m.index[key] = i
		m.branches = append(m.branches, &Branch{Holder: holder, Type: typ})
		m.above = append(m.above, above)
		m.depth = append(m.depth, m.depth[above]+1)
	}
	return i
}

// finish adds up the targets, and orders the branches: those with the most bytes first.
func (m *merger) finish() []*Branch {
	for i := len(m.branches) - 1; i > 0; i-- { // below before above
		b, above := m.branches[i], m.branches[m.above[i]]
		b.Targets.merge(b.Own)
		above.Targets.merge(b.Targets)
		above.Below = append(above.Below, b)
	}
	for _, b := range m.branches {
		slices.Reverse(b.Below)
		slices.SortStableFunc(b.Below, func(a, b *Branch) int { return cmp.Compare(b.Targets.Bytes, a.Targets.Bytes) })
	}
	return m.branches[0].Below
}
