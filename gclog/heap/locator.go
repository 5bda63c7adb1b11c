package heap

import (
	"cmp"
	"slices"
	"sync/atomic"
)

// A locator finds the objects of a walk while its Graph is built.
type locator struct {
	g      *Graph
	codes  *addressCodes
	places *places
}

// find returns the object at an address, or NoObject.
func (l *locator) find(at uint64) Object {
	if code := l.codes.of(at); code != noCode && !l.places.none {
		return l.places.find(code)
	}
	return l.g.index.find(l.g.address, at)
}

// resolveReferences replaces the addresses of the references by objects.
func (l *locator) resolveReferences(w *walk) {
	g := l.g
	g.target = w.target.flat()
	var resolved atomic.Int64
	parallel(len(g.target), chunkLen, func(from, to int) {
		n := 0
		for i, code := range g.target[from:to] {
			o := NoObject
			switch {
			case code == noCode:
			case !l.places.none:
				o = l.places.find(uint32(code))
			default:
				o = g.index.find(g.address, l.codes.address(uint32(code)))
			}
			g.target[from+i] = o
			if o != NoObject {
				n++
			}
		}
		resolved.Add(int64(n))
	})
	for _, x := range w.unencoded {
		if g.target[x.at] = g.index.find(g.address, x.address); g.target[x.at] != NoObject {
			resolved.Add(1)
		}
	}
	if n := len(g.target) - int(resolved.Load()); n > 0 {
		g.Walk.Unresolved += uint64(n)
		g.dropUnresolved()
	}
}

// dropUnresolved removes references to no object.
func (g *Graph) dropUnresolved() {
	kept := uint32(0)
	for o := range g.address {
		from, to := g.first[o], g.first[o+1]
		g.first[o] = kept
		for _, t := range g.target[from:to] {
			if t != NoObject {
				g.target[kept] = t
				kept++
			}
		}
	}
	g.first[len(g.address)] = kept
	g.target = g.target[:kept]
}

// resolveStatics finds the objects of static fields, and the types of objects and static fields.
func (l *locator) resolveStatics(w *walk, t *typeTable) {
	g := l.g
	for _, v := range w.statics {
		if o := l.find(v.object); o != NoObject {
			g.Statics = append(g.Statics, Static{Slot: v.slot, Object: o, Type: t.index(v.typ), Field: v.field})
		} else {
			g.Walk.Unresolved++
		}
	}
	g.Types = t.types
}

// resolveRoots finds the objects of the roots, of the entries of ConditionalWeakTables, and of COM
// wrappers.
func (l *locator) resolveRoots(w *walk) {
	g := l.g
	for _, r := range w.roots {
		if o := l.find(r.node); o != NoObject {
			g.Roots = append(g.Roots, Root{Object: o, Kind: r.kind, Flags: r.flags, ID: r.id})
		} else {
			g.Walk.Unresolved++
		}
	}
	for _, d := range w.dependents {
		key, value := l.find(d.Key), l.find(d.Value)
		if key != NoObject && value != NoObject {
			g.Dependents = append(g.Dependents, Dependent{key, value})
		} else if d.Key != 0 && d.Value != 0 {
			g.Walk.Unresolved++
		}
	}
	for _, x := range w.wrappers {
		if o := l.find(x.object); o != NoObject {
			g.Wrappers = append(g.Wrappers, Wrapper{o, x.callable, x.references})
		} else if x.object != 0 {
			g.Walk.Unresolved++
		}
	}
	slices.SortFunc(g.Dependents, func(a, b Dependent) int {
		return cmp.Or(cmp.Compare(a.Key, b.Key), cmp.Compare(a.Value, b.Value))
	})
}
