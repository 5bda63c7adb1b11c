package heap

import (
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/gclog/gclog/gclog/heap/ecma335"
	"github.com/gclog/gclog/gclog/heap/nativeaot"
)

// The types of a NativeAOT program have no names in the stream, only numbers: the address of each in its
// module. The symbols of the module have the names.

// maxModule is how large a module may be. The number of a type that the program has made while it was
// running is not an address in its module.
const maxModule = 1 << 32

// isNative reports whether the type is one of a NativeAOT program without a name.
func (t *Type) isNative() bool {
	return t.Name == "" && t.Module != 0 && t.ID > t.Module && t.offset() < maxModule && t.Token == uint32(t.offset())
}

// offset returns where a type of a NativeAOT program is in its module.
func (t *Type) offset() uint64 { return t.ID - t.Module }

// number returns what stands for the name of a type of a NativeAOT program: it is the same as long as the
// program is the same build.
func (t *Type) number() string {
	const rankShift, ranks = 8, 0x1f
	if t.Flags&typeArray == 0 || len(t.Parameters) != 1 || t.Parameters[0] < t.Module {
		return fmt.Sprintf("NativeAOT type 0x%x", t.offset())
	}
	rank := max(t.Flags>>rankShift&ranks, 1)
	return fmt.Sprintf("NativeAOT type 0x%x[%s]", t.Parameters[0]-t.Module, strings.Repeat(",", int(rank)-1))
}

// Nameless reports whether types have no names because they are those of a NativeAOT program whose
// symbols were not found.
func Nameless(types []Type) bool {
	return slices.ContainsFunc(types, func(t Type) bool { return t.isNative() })
}

// LacksStackRoots reports whether the snapshot is of a NativeAOT program whose runtime has not sent the
// roots on the stack: .NET 10 does not. What only local variables and thread statics hold counts as
// unreachable then.
func (g *Graph) LacksStackRoots() bool {
	return slices.ContainsFunc(g.Types, func(t Type) bool { return t.isNative() || t.Symbol != "" }) &&
		!slices.ContainsFunc(g.Roots, func(r Root) bool { return r.Kind == RootStack })
}

// AddSymbols adds a file with the symbols of a NativeAOT program, or all of a folder: the program itself,
// or what was taken out of it, whose name ends with .dbg or .debug.
func (a *Assemblies) AddSymbols(name string) error {
	list, err := filesIn(name, ".dbg", ".debug", ".so", "")
	if errors.Is(err, errNoFolder) {
		list, err = []string{name}, nil
	}
	a.symbols = append(a.symbols, list...)
	return err
}

// LookedFor returns the files in which the last Resolve has looked for the symbols of the program: they do
// not exist, or are not those of this build.
func (a *Assemblies) LookedFor() []string { return a.lookedFor }

// A nativeModule is a module of a NativeAOT program.
type nativeModule struct {
	id      uint64
	types   []int           // indexes
	wanted  map[uint64]bool // offsets of types, and of the elements of arrays
	symbols *nativeaot.Symbols
	path    string // of the file with the symbols
	several bool   // another file has other names for the same types
}

// nameNative gives the types of NativeAOT programs their names. It returns the modules whose symbols were
// found.
func (a *Assemblies) nameNative(types []Type, modules Modules) (found []*nativeModule) {
	a.lookedFor = nil
	all := map[uint64]*nativeModule{}
	for i := range types {
		t := &types[i]
		if !t.isNative() {
			continue
		}
		m := all[t.Module]
		if m == nil {
			m = &nativeModule{id: t.Module, wanted: map[uint64]bool{}}
			all[t.Module] = m
		}
		m.types = append(m.types, i)
		m.wanted[t.offset()] = true
		for _, p := range t.Parameters {
			m.wanted[p-t.Module] = true
		}
	}
	if len(all) == 0 {
		return nil
	}
	ids := a.lookInPrograms(types, all)
	for _, file := range a.symbols {
		_, _ = a.lookFor(types, all, openRegular, file, ids)
	}
	for _, id := range slices.Sorted(maps.Keys(all)) {
		m := all[id]
		if m.symbols == nil || m.several || a.reading.stopped() != nil {
			continue
		}
		a.define(m.symbols)
		for _, i := range m.types {
			if a.reading.stopped() == nil {
				m.name(types, i)
			}
		}
		if modules != nil && modules[id] == "" {
			modules[id] = programFile(m.path)
		}
		found = append(found, m)
	}
	return found
}

// define has the assemblies that the program was made of say what its classes are called, if they are
// there: the symbols leave some open.
func (a *Assemblies) define(s *nativeaot.Symbols) {
	const typeDef = 0x02000000
	for _, file := range a.paths {
		if !strings.EqualFold(path.Ext(file), ".dll") {
			continue
		}
		_ = a.read(source{path: file}, func(x *ecma335.Assembly) error {
			for row := 1; row <= x.NumTypes(); row++ {
				if err := a.reading.stopped(); err != nil {
					return err
				}
				classes, err := x.Path(typeDef | uint32(row))
				if err != nil {
					return err
				}
				names := make([]string, len(classes))
				for i := range classes {
					names[i] = ecma335.FullName(classes[i : i+1])
				}
				s.Define(strings.TrimSuffix(baseName(file), path.Ext(file)), names)
			}
			return nil
		})
	}
}

// programFile returns the name of the program of a file with its symbols.
func programFile(symbols string) string {
	return strings.TrimSuffix(strings.TrimSuffix(symbols, ".dbg"), ".debug")
}

// lookInPrograms looks for symbols in the programs that the process runs, and where a debugger looks for
// them. It returns the build ids of the programs.
func (a *Assemblies) lookInPrograms(types []Type, all map[uint64]*nativeModule) map[string]bool {
	ids := map[string]bool{}
	for _, file := range a.paths {
		p, err := a.lookFor(types, all, a.opener(), file, nil)
		if p == nil {
			continue
		}
		ids[p.BuildID] = true
		if !errors.Is(err, nativeaot.ErrNoSymbols) {
			continue
		}
		for _, name := range separateFiles(file, p) {
			found, err := a.lookFor(types, all, a.opener(), name, map[string]bool{p.BuildID: true})
			if found != nil && err == nil {
				break
			}
		}
	}
	delete(ids, "")
	return ids
}

// separateFiles returns the files in which the symbols of a stripped program may be. Paths are Linux
// paths, whatever this system is.
func separateFiles(program string, p *nativeaot.Program) (list []string) {
	dir := path.Dir(program)
	if p.DebugLink != "" {
		link := path.Base(p.DebugLink) // it has no folder
		list = append(list, path.Join(dir, link), path.Join(dir, ".debug", link))
	}
	if len(p.BuildID) > 2 {
		list = append(list, path.Join("/usr/lib/debug/.build-id", p.BuildID[:2], p.BuildID[2:]+".debug"))
	}
	return list
}

// lookFor looks for symbols in a file. If ids are known, the file must have one of them. It returns nil if
// the file is no program; the error says why it has no symbols that are needed.
func (a *Assemblies) lookFor(
	types []Type, all map[uint64]*nativeModule, open opener, file string, ids map[string]bool,
) (*nativeaot.Program, error) {
	if !slices.Contains(a.lookedFor, file) {
		a.lookedFor = append(a.lookedFor, file)
	}
	f, size, err := a.openWith(open, file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	p, err := nativeaot.Open(&boundedReader{f, a.reading}, size)
	switch {
	case errors.Is(err, nativeaot.ErrNoProgram):
		return nil, err
	case err != nil:
		return nil, a.leave(file, err)
	case len(ids) > 0 && p.BuildID != "" && !ids[p.BuildID]:
		return p, errors.New("it belongs to another build of the program")
	}
	wanted := func(offset uint64) bool {
		for _, m := range all {
			if m.wanted[offset] {
				return true
			}
		}
		return false
	}
	s, err := p.Symbols(wanted, baseName(programFile(file)))
	switch {
	case errors.Is(err, nativeaot.ErrNoSymbols):
		return p, err
	case err != nil:
		return p, a.leave(file, err)
	}
	err = errors.New("it has no types at these addresses")
	for _, m := range all {
		if !m.fits(types, p, s) {
			continue
		}
		m.several = m.several || m.symbols != nil && !maps.Equal(m.symbols.Types, s.Types)
		m.symbols, m.path, err = s, file, nil
	}
	return p, err
}

// fits reports whether symbols are those of the module: each of its types is the one that a symbol is for.
func (m *nativeModule) fits(types []Type, p *nativeaot.Program, s *nativeaot.Symbols) bool {
	some := false
	for _, i := range m.types {
		offset := types[i].offset()
		switch {
		case s.Types[offset] != "" || s.Layouts[offset]:
			some = true
		case p.Contains(offset):
			return false
		}
	}
	return some
}

// staticFields is the name of the types of objects that have the static fields of a type.
const staticFields = "<static fields>"

// name gives a type its name, and what NativeAOT does not send about it.
func (m *nativeModule) name(types []Type, i int) {
	t := &types[i]
	symbol := m.symbols.Types[t.offset()]
	switch known, ok := m.symbols.Type(symbol); {
	case symbol == "" && m.symbols.Layouts[t.offset()]:
		t.Exact, t.Element = staticFields, elementClass
	case symbol == "":
		return // made while the program was running
	case !ok:
		t.Exact, t.Element = symbol, elementClass
	default:
		t.Exact, t.Element = known.Exact, known.Element
		if known.Delegate {
			t.Flags |= typeDelegate
		}
	}
	t.Symbol, t.Definition = symbol, 0 // no metadata defines it
	t.Name = bareName(t.Exact)
	if t.Flags&typeArray == 0 {
		return
	}
	t.Element = elementVector
	if strings.HasSuffix(t.Exact, ",]") || strings.HasSuffix(t.Exact, "[*]") {
		t.Element = elementArray
	}
	if len(t.Parameters) != 1 {
		return
	}
	of := m.symbols.Types[t.Parameters[0]-t.Module]
	if known, ok := m.symbols.Type(of); ok {
		t.Kinds = []uint8{known.Element}
		if known.Element == 0 {
			t.Kinds[0] = elementVector
		}
	}
}

// holdStatics adds the static fields of a module. The runtime has an array with an object for each type
// that has static fields with references, in the order of their symbols. Which of its fields is which, no
// symbol says.
func (g *Graph) holdStatics(m *nativeModule) {
	if len(g.Statics) > 0 || !g.Walk.Complete() || len(m.symbols.Statics) == 0 {
		return
	}
	holds := func(o Object) bool {
		t := &g.Types[g.typ[o]]
		return t.Module == m.id && m.symbols.Layouts[t.offset()]
	}
	for table := range Object(g.Len()) {
		all := g.References(table)
		if len(all) != len(m.symbols.Statics) || slices.ContainsFunc(all, func(o Object) bool { return !holds(o) }) {
			continue
		}
		for i, holder := range all {
			class, ok := m.symbols.Name(m.symbols.Statics[i])
			if !ok {
				class = m.symbols.Statics[i]
			}
			for k, value := range g.References(holder) {
				slot := g.Address(holder) + uint64((k+1)*g.PointerSize)
				g.Statics = append(g.Statics, Static{Slot: slot, Object: value, Type: g.Type(value), Declaring: class})
			}
		}
		return
	}
}
