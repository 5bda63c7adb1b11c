package heap

import (
	"cmp"
	"fmt"
	"slices"
)

// A Holder is what holds an object from outside of the heap: a static field, or a root.
type Holder struct {
	Static *Static
	Root   *Root  // nil for a static field
	Method string // for a root on the stack, the method whose frame holds the object, as text; "": unknown
	// ThreadStatics reports that Root may hold the thread statics of a thread instead: .NET 9 and 10
	// report these in the same way as a local variable of Method.
	ThreadStatics bool
	// Table reports whether Root holds an array of static fields. The objects in it without a name belong
	// to static fields of generic types, or to the runtime.
	Table bool
}

// Paths knows a shortest path from the roots to each reachable object.
type Paths struct {
	graph   *Graph
	holders []Holder
	holder  map[Object]int // index in holders, by the first object of a path
	from    []Object       // each object's predecessor on its path; the first one's is itself; NoObject: unreachable
	order   []Object       // the reachable objects by the length of their paths
}

// Paths searches the shortest paths. Of paths of the same length it prefers those from static
// fields, which have a name, then those from the stack, from handles and from the finalizer queue.
func (g *Graph) Paths() *Paths {
	p := &Paths{graph: g, holder: map[Object]int{}, from: make([]Object, g.Len())}
	for i := range p.from {
		p.from[i] = NoObject
	}
	p.holders = g.holders()
	s := newSuccessors(g)
	for i, h := range p.holders {
		if o := h.Object(); p.from[o] == NoObject {
			p.from[o] = o
			p.holder[o] = i
			p.order = append(p.order, o)
		}
	}
	for i := 0; i < len(p.order); i++ {
		for _, to := range s.of(p.order[i]) {
			if p.from[to] == NoObject {
				p.from[to] = p.order[i]
				p.order = append(p.order, to)
			}
		}
	}
	return p
}

// holders returns the static fields, and then the strong roots, those that explain most first.
func (g *Graph) holders() []Holder {
	var list []Holder
	for i := range g.Statics {
		list = append(list, Holder{Static: &g.Statics[i]})
	}
	statics, tables := len(list), g.staticTables()
	for i := range g.Roots {
		r := &g.Roots[i]
		if !r.Strong() {
			continue
		}
		h := Holder{Root: r, Table: tables[r.Object]}
		if name := g.Methods[r.ID]; r.Kind == RootStack && name != "" {
			h.Method, h.ThreadStatics = name, g.Types[g.Type(r.Object)].Name == ObjectArray
		}
		list = append(list, h)
	}
	slices.SortStableFunc(list[statics:], func(a, b Holder) int { return cmp.Compare(a.rank(), b.rank()) })
	return list
}

// Object returns the object that is held.
func (h Holder) Object() Object {
	if h.Static != nil {
		return h.Static.Object
	}
	return h.Root.Object
}

// rank orders the kinds of roots by how much they explain.
func (h Holder) rank() int {
	switch h.Root.Kind {
	case RootStack:
		return 0
	case RootHandle:
		return 1
	case RootFinalizer:
		return 3
	}
	return 2
}

// Kind returns what kind of holder it is: "static", "stack", "strong handle" and so on.
func (h Holder) Kind() string {
	r := h.Root
	switch {
	case h.Static != nil:
		return "static"
	case h.Table:
		return "statics table"
	case r.Kind == RootStack:
		return "stack"
	case r.Kind == RootFinalizer:
		return "finalizer queue"
	case r.Kind == RootHandle && r.Flags&RootRefCounted != 0:
		return "COM handle"
	case r.Kind == RootHandle && r.Flags&RootPinned != 0:
		return "pinned handle"
	case r.Kind == RootHandle:
		return "strong handle"
	}
	return fmt.Sprintf("root (%v)", r.Kind)
}

// Name returns the name of a static field, with the class that declares it as far as that is known,
// or of a method; "" if there is none.
func (h Holder) Name() string {
	if v := h.Static; v != nil && v.Declaring != "" {
		return v.name(v.Declaring)
	} else if v != nil {
		return v.Field
	}
	return h.Method
}

// String returns what kind of holder it is, and the name of a static field or a method.
func (h Holder) String() string {
	text := h.Kind()
	switch {
	case h.Static != nil && h.Static.Field == "":
		return text + " field of " + h.Name()
	case h.Static != nil:
		return text + " " + h.Name()
	case text != "stack":
		return text
	case h.Method != "":
		text += " of " + h.Method
	}
	if h.ThreadStatics {
		text += ", or thread statics"
	}
	if h.Root.Flags&RootPinned != 0 {
		text += ", pinned"
	}
	return text
}

// To returns a shortest path to an object, from the object that the Holder holds to the object
// itself, or false if it is unreachable.
func (p *Paths) To(o Object) (Holder, []Object, bool) {
	if p.from[o] == NoObject {
		return Holder{}, nil, false
	}
	path := []Object{o}
	for p.from[o] != o {
		o = p.from[o]
		path = append(path, o)
	}
	slices.Reverse(path)
	return p.holders[p.holder[o]], path, true
}

// Merge merges the shortest paths to a set of objects by the types on them, the branches with the
// most bytes first. The second result counts the objects that are unreachable. A series of objects
// of one type is one step.
func (p *Paths) Merge(targets func(Object) bool) (list []*Branch, unreachable TypeCount) {
	needed := newBits(len(p.from)) // the objects on the paths
	for i := range p.from {
		o := Object(i)
		switch {
		case !targets(o):
		case p.from[o] == NoObject:
			unreachable.add(p.graph.Size(o), p.graph.PointerSize, uint64(len(p.graph.References(o))),
				p.graph.Generation(o))
		default:
			for ; !needed.has(o); o = p.from[o] { // what is above has been added before
				needed.set(o)
			}
		}
	}
	m := newMerger(p.graph)
	for _, o := range p.order {
		if !needed.has(o) {
			continue
		}
		var b *Branch
		if p.from[o] == o {
			h := p.holders[p.holder[o]]
			b = m.step(o, NoObject, h.String())
			b.holder = h
		} else {
			b = m.step(o, p.from[o], "")
		}
		if targets(o) {
			b.Own.add(p.graph.Space(o))
		}
	}
	return m.finish(), unreachable
}
