package heap

import (
	"context"
	"slices"
	"strings"

	"github.com/gclog/gclog/gclog/heap/ecma335"
)

// Resolve fills in Type.Exact and Type.Events of all types, and Static.Declaring where it is known. A name
// that was known before, and cannot be found, stays. The paths in Modules stay too, and paths that are
// found are added. It returns the number of types whose definition was found.
//
// The symbols of a NativeAOT program (Assemblies.AddSymbols) contain the names of its types, and the
// classes of its static fields. The types of other programs lack their outer classes in the stream: these
// are read from the metadata of the assemblies. An assembly is taken for a module only if the definitions
// of all the module's types agree with it; the paths in Modules only narrow the choice.
//
// Reading ends when ctx does, or at a limit, which Assemblies.Notify receives. Names that were not
// found by then stay as they were.
func (g *Graph) Resolve(ctx context.Context, a *Assemblies) int {
	defer a.begin(ctx)()
	r := a.resolve(g.Types, g.Modules)
	for _, m := range r.native {
		g.holdStatics(m)
	}
	r.declare(g)
	return r.found
}

// Resolve fills in Exact of types and the paths of modules, as Graph.Resolve does. The latter may be
// nil.
func (a *Assemblies) Resolve(ctx context.Context, types []Type, modules Modules) int {
	defer a.begin(ctx)()
	return a.resolve(types, modules).found
}

// A resolver has found the definitions of types.
type resolver struct {
	assemblies *Assemblies
	paths      []string // of all files
	types      []Type
	found      int
	full       map[uint64]string // names with outer classes, by Type.ID
	modules    map[uint64]*moduleTypes
	defined    []definition // of each type
	native     []*nativeModule
}

// A definition is what the metadata says about a type.
type definition struct {
	bases    []string // full names: its own and those of the classes it derives from
	complete bool     // bases end with System.Object
}

// moduleTypes are the types of a module.
type moduleTypes struct {
	types []int
	name  string // of the file; "": unknown
	id    string // id of the build that fits
	source
	several bool // more than one fits
}

func (a *Assemblies) resolve(types []Type, modules Modules) *resolver {
	r := &resolver{
		assemblies: a,
		paths:      slices.Clone(a.paths),
		types:      types,
		modules:    map[uint64]*moduleTypes{},
		defined:    make([]definition, len(types)),
		native:     a.nameNative(types, modules),
	}
	r.full = fullNames(types)
	for i := range types {
		t := &types[i]
		t.Exact = t.exactly() // a .gcdump file has what was known when it was written
		if !t.Defined() {
			continue
		}
		m := r.modules[t.Module]
		if m == nil {
			m = &moduleTypes{}
			if path := modules[t.Module]; path != "" {
				m.name = baseName(path)
				if a.FollowModules && !slices.Contains(r.paths, path) {
					r.paths = append(r.paths, path)
				}
			}
			r.modules[t.Module] = m
		}
		m.types = append(m.types, i)
	}
	a.each(r.paths, r.match)
	if a.reading.stopped() != nil {
		return r // what was not read might fit as well
	}
	for id, m := range r.modules {
		if m.id != "" && !m.several {
			if modules != nil && m.name == "" {
				modules[id] = m.source.name()
			}
			_ = a.read(m.source, func(x *ecma335.Assembly) error { return r.define(m, x) })
		}
	}
	return r
}

// match finds the modules that an assembly may be.
func (r *resolver) match(s source, x *ecma335.Assembly) error {
	id, err := x.ID()
	if err != nil {
		return err
	}
	for _, m := range r.modules {
		if err := r.assemblies.reading.stopped(); err != nil {
			return err
		}
		if m.id == id || m.name != "" && !strings.EqualFold(m.name, s.base()) || !r.fits(m, x) {
			continue
		}
		m.several = m.id != ""
		m.id, m.source = id, s
	}
	return nil
}

// fits reports whether an assembly defines all types of a module. Nested types alone may be enough, if
// they have names that are hardly at the same place in another assembly, or if the stream has one of
// their full names: every compiler calls some of them <>c.
func (r *resolver) fits(m *moduleTypes, x *ecma335.Assembly) bool {
	sure := m.name != ""
	var nested nestedNames
	for _, i := range m.types {
		t := &r.types[i]
		path, err := x.Path(t.Definition)
		if err != nil || !isInstance(t.Name, streamText(path)) {
			return false
		}
		sure = sure || len(path) == 1 || r.full[t.ID] == ecma335.FullName(path)
		nested.add(t.Definition, streamText(path))
	}
	return sure || nested.enough()
}

// nestedNames are the names of nested types in a module, at their places.
type nestedNames struct {
	places map[uint32]bool
	made   bool // a person has made one of them: it is that of a class, or has that of a method in it
}

func (n *nestedNames) add(place uint32, name string) {
	method, rest := compilerName(name)
	if rest == "c" && method == "" { // the lambdas of a class: each assembly has it
		return
	}
	if n.places == nil {
		n.places = map[uint32]bool{}
	}
	n.places[place] = true
	n.made = n.made || method != "" || rest == ""
}

// enough reports whether the names are beyond chance: two, and not only those of closures, of which
// small assemblies have similar ones.
func (n *nestedNames) enough() bool { return n.made && len(n.places) > 1 }

// fullNames returns the names, with outer classes, of the types that are arguments of generic types, by
// their ids. Elsewhere the stream leaves out the outer classes.
func fullNames(types []Type) map[uint64]string {
	full := map[uint64]string{}
	for i := range types {
		t := &types[i]
		if len(t.Parameters) == 0 {
			continue
		}
		n, ok := parseStreamName(t.Name, "")
		if !ok || n.suffix != "" || len(n.arguments) != len(t.Parameters) {
			continue
		}
		for k, id := range t.Parameters {
			if n.arguments[k].suffix == "" {
				full[id] = n.arguments[k].text
			}
		}
	}
	return full
}

// streamText returns the name of a type in the stream, without arguments: its namespace is there,
// its outer classes are not.
func streamText(path []ecma335.Type) string {
	return ecma335.FullName(path[len(path)-1:])
}

// isInstance reports whether a name of the stream is that of a type, or of instances or arrays of
// it.
func isInstance(stream, text string) bool {
	rest, ok := strings.CutPrefix(stream, text)
	return ok && (rest == "" || strings.IndexByte("[*&", rest[0]) >= 0)
}

// define fills in the names and events of a module's types.
func (r *resolver) define(m *moduleTypes, x *ecma335.Assembly) error {
	fields, err := x.EventFields()
	if err != nil {
		fields = nil // names matter more
	}
	for _, i := range m.types {
		t := &r.types[i]
		path, err := x.Path(t.Definition)
		if err != nil {
			return err
		}
		names := make([]string, len(path))
		for k := range path {
			names[k] = ecma335.FullName(path[k : k+1])
		}
		t.Exact = exactName(t.Name, names[len(names)-1], names)
		r.found++
		if r.defined[i], err = bases(x, t.Definition, ecma335.FullName(path)); err != nil {
			return err
		}
		if !t.isArray() {
			if t.Events, err = eventsOf(x, t.Definition, fields); err != nil {
				return err
			}
		}
	}
	return nil
}

// eventsOf returns the events of a type and of its base classes, as far as its own assembly defines them.
func eventsOf(x *ecma335.Assembly, token uint32, fields map[uint32][]ecma335.Field) (list []Event, err error) {
	for range mostBases {
		if token == 0 || len(fields) == 0 {
			break
		}
		for _, f := range fields[token] {
			list = append(list, Event{f.Name, withoutArity(f.Type)})
		}
		if _, token, err = x.Base(token); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// withoutArity removes the numbers of type parameters from a name: EventHandler`1.
func withoutArity(name string) string {
	path := splitPath(name)
	for i := range path {
		path[i], _ = splitArity(path[i])
	}
	return strings.Join(path, "+")
}

// mostBases is how many base classes are followed.
const mostBases = 64

// bases follows a type's base classes as far as its own assembly defines them.
func bases(x *ecma335.Assembly, token uint32, name string) (d definition, err error) {
	for len(d.bases) < mostBases && name != "" {
		d.bases = append(d.bases, name)
		if name == objectClass {
			d.complete = true
			break
		}
		if token == 0 {
			break
		}
		if name, token, err = x.Base(token); err != nil {
			return d, err
		}
	}
	return d, nil
}
