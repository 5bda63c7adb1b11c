package heap

import (
	"cmp"
	"slices"
	"strings"

	"github.com/gclog/gclog/gclog/heap/ecma335"
)

// The events of static fields do not say which class declares them. But they come module by module,
// and within a module in the order of the metadata. So the sequence of the events is aligned with
// the sequences of the fields in the assemblies; alignment.go has the search.

// maxCandidates limits the memory for fields of the same name: there are thousands in real programs.
const maxCandidates = 1 << 20

// declare fills in the classes that declare static fields, where only one is possible.
func (r *resolver) declare(g *Graph) {
	byName := map[string][]int{}
	for i := range g.Statics {
		byName[g.Statics[i].Field] = append(byName[g.Statics[i].Field], i)
	}
	x := alignment{len: len(g.Statics)}
	known := r.knownSources()
	var owners []map[uint32]string // of the assemblies of the alignment
	seen := map[string]bool{}
	r.assemblies.each(r.paths, func(s source, m *ecma335.Assembly) error {
		id, err := m.ID()
		if err != nil || seen[id] {
			return err
		}
		seen[id] = true
		if !known.ids[id] && known.names[strings.ToLower(s.base())] {
			return nil // another version
		}
		names := map[uint32]string{}
		for f, err := range m.Statics() {
			if err := cmp.Or(err, r.assemblies.reading.stopped()); err != nil {
				return err
			}
			for _, at := range byName[f.Name] {
				if len(x.candidates) < maxCandidates && r.holds(&f, g.Statics[at].Type) {
					x.candidates = append(x.candidates,
						candidate{at: at, assembly: len(owners), row: f.Row, owner: f.Owner})
					names[f.Owner] = ""
				}
			}
		}
		for owner := range names {
			path, err := m.Path(owner)
			if err != nil {
				return err
			}
			if known.ids[id] {
				names[owner] = ecma335.FullName(path)
			}
		}
		owners = append(owners, names)
		return nil
	})
	if len(x.candidates) == maxCandidates || r.assemblies.reading.stopped() != nil {
		return // with all of them, others might be certain
	}
	for _, c := range x.certain() {
		g.Statics[c.at].Declaring = owners[c.assembly][c.owner]
	}
}

// knownSources are the assemblies that are certain to be modules, by the id of the build and by
// their file names.
func (r *resolver) knownSources() (known struct{ ids, names map[string]bool }) {
	known.ids, known.names = map[string]bool{}, map[string]bool{}
	for _, m := range r.modules {
		if m.id != "" && !m.several {
			known.ids[m.id], known.names[strings.ToLower(m.base())] = true, true
		}
	}
	return known
}

// The element types of objects.
const (
	elementString = 0x0e
	elementValue  = 0x11
	elementClass  = 0x12
	elementArray  = 0x14
	elementObject = 0x1c
	elementVector = 0x1d
)

// holds reports whether a field can refer to an object of a type, as far as that is known.
func (r *resolver) holds(f *ecma335.Field, value int) bool {
	d, element := &r.defined[value], r.types[value].Element
	switch f.Kind {
	case elementObject:
		return true
	case elementString, elementVector, elementArray:
		return element == f.Kind
	case elementValue:
		return element == elementValue && (len(d.bases) == 0 || d.bases[0] == f.Type)
	}
	if !f.Class {
		return true // of interfaces it is unknown who implements them
	}
	if element == elementVector || element == elementArray {
		return f.Type == arrayClass
	}
	return !d.complete || slices.Contains(d.bases, f.Type)
}
