package heap

import "cmp"

// Texts in front of the first step of a chain of dominators, if that has no Holder.
const (
	SeveralRoots = "several roots" // no root holds the object, but objects that roots hold do
	NoRoot       = "no root"       // the object is unreachable
)

// Chains merges the chains of dominators of all objects by the types in them: a Branch counts the
// objects that are dominated by objects of the same types, its Own those at this step. So Own is
// shallow, and Targets is retained: the sum of the Targets of all branches of a type that are not
// below another one of this type is what RetainedByType says, and all objects of the heap are in one
// branch each.
//
// The Holder of a first step is that of a root which holds the object, a static field if there is
// one, or SeveralRoots or NoRoot. In chains of more than deepest steps, those between the first ones
// and the last one are omitted.
func (d *Dominators) Chains(deepest int) []*Branch {
	g := d.graph
	held := map[Object]string{}
	for _, h := range g.holders() {
		if o := h.Object(); held[o] == "" {
			held[o] = h.String()
		}
	}
	m := newMerger(g)
	m.deepest = deepest
	for o := range d.All {
		m.step(o, d.Dominator(o), cmp.Or(held[o], SeveralRoots)).Own.add(g.Space(o))
	}
	for o := range Object(g.Len()) {
		if !d.Reachable(o) {
			m.step(o, NoObject, NoRoot).Own.add(g.Space(o))
		}
	}
	return m.finish()
}
