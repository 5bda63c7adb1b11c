package heap

import (
	"cmp"
	"slices"
	"strings"
)

// A Growth says how the objects of a type changed from one snapshot to the next ones.
type Growth struct {
	Name   string  // exact, as far as a snapshot has it
	Counts []Count // in each snapshot
}

// Objects returns how many more objects there are in the last snapshot than in the first.
func (g *Growth) Objects() int64 {
	return int64(g.Counts[len(g.Counts)-1].Objects - g.Counts[0].Objects)
}

// Bytes returns how many more bytes they occupy in the last snapshot than in the first.
func (g *Growth) Bytes() int64 { return int64(g.Counts[len(g.Counts)-1].Bytes - g.Counts[0].Bytes) }

// Slope returns by how many bytes the objects grew from one snapshot to the next: the slope of the
// line that fits all snapshots best (least squares).
func (g *Growth) Slope() float64 {
	middle, above, below := float64(len(g.Counts)-1)/2, 0.0, 0.0
	for i, c := range g.Counts {
		x := float64(i) - middle
		above += x * float64(c.Bytes)
		below += x * x
	}
	if below == 0 {
		return 0
	}
	return above / below
}

// Always reports whether the bytes grew from each snapshot to the next.
func (g *Growth) Always() bool {
	for i := range g.Counts[1:] {
		if g.Counts[i+1].Bytes <= g.Counts[i].Bytes {
			return false
		}
	}
	return true
}

// Compare returns the types of several snapshots, those that grew most first. Types are the same if
// their names are, and their layouts if all snapshots know these: ids differ between processes.
func Compare(snapshots ...*Histogram) []Growth {
	names := commonNames(snapshots)
	layouts := !slices.ContainsFunc(snapshots, func(h *Histogram) bool { return !h.knowsLayouts() })
	index := map[string]int{}
	var list []Growth
	for i, h := range snapshots {
		for k, c := range h.Counts {
			if c.Objects == 0 {
				continue
			}
			name := cmp.Or(h.Types[k].exactly(), h.Types[k].String())
			if common, ok := names[h.Types[k].bare()]; ok {
				name = common
			}
			if layouts {
				name += h.Types[k].layoutText()
			}
			at, ok := index[name]
			if !ok {
				at = len(list)
				index[name] = at
				list = append(list, Growth{Name: name, Counts: make([]Count, len(snapshots))})
			}
			list[at].Counts[i].merge(c.Count)
		}
	}
	slices.SortStableFunc(list, func(a, b Growth) int {
		return cmp.Or(cmp.Compare(b.Bytes(), a.Bytes()), cmp.Compare(b.Objects(), a.Objects()),
			cmp.Compare(a.Name, b.Name))
	})
	return list
}

// SharedClasses returns how many of a program's own classes two snapshots have in common, and how
// many the one with fewer has: those with a namespace that is not one of .NET's. Snapshots of
// different programs share few of them.
func SharedClasses(a, b *Histogram) (shared, of int) {
	x, y := a.ownClasses(), b.ownClasses()
	for class := range x {
		if y[class] {
			shared++
		}
	}
	return shared, min(len(x), len(y))
}

// ownClasses are the outermost classes of the objects that are not of .NET.
func (h *Histogram) ownClasses() map[string]bool {
	own := map[string]bool{}
	for i := range h.Types {
		name := h.Types[i].String()
		if end := strings.IndexAny(name, "`[<+"); end >= 0 {
			name = name[:end]
		}
		if strings.Contains(name, ".") && !OfLibrary(name) && h.Counts[i].Objects > 0 {
			own[name] = true
		}
	}
	return own
}

// commonNames returns, by Type.bare, the names of the types of which one snapshot knows more than
// another: the outer class if assemblies were only found for one of them, or which class has which
// generic arguments if another tool wrote the other one.
func commonNames(snapshots []*Histogram) map[string]string {
	type found struct {
		name            string    // the name from the snapshot that knows most of it
		others          bool      // there is more than one of them
		lowest, highest knowledge // how much the snapshots know of it
	}
	all := map[string]*found{}
	for _, h := range snapshots {
		best := map[string]knowledge{} // in this snapshot
		for i := range h.Types {
			t := &h.Types[i]
			if h.Counts[i].Objects == 0 || t.Name == "" {
				continue
			}
			name, known := t.bare(), t.known()
			best[name] = max(best[name], known)
			x := all[name]
			switch {
			case x == nil:
				all[name] = &found{name: t.exactly(), lowest: nested, highest: known}
			case known > x.highest:
				x.name, x.others, x.highest = t.exactly(), false, known
			case known == x.highest:
				x.others = x.others || x.name != t.exactly()
			}
		}
		for name, known := range best {
			all[name].lowest = min(all[name].lowest, known)
		}
	}
	names := map[string]string{}
	for name, x := range all {
		switch {
		case x.lowest == x.highest:
		case x.others:
			names[name] = exactName(name, "", nil)
		default:
			names[name] = x.name
		}
	}
	return names
}

// knowledge is how much the name of a type says.
type knowledge int

const (
	barely     knowledge = iota // its last class and the generic arguments
	asStreamed                  // and in the arguments, to which class each of theirs belongs
	nested                      // and its outer classes
)

func (t *Type) known() knowledge {
	switch t.exactly() {
	case exactName(t.bare(), "", nil):
		return barely
	case exactName(t.Name, "", nil):
		return asStreamed
	}
	return nested
}

// exactly returns the exact name of a type, as far as it is known; "": not at all.
func (t *Type) exactly() string {
	if t.Exact != "" {
		return t.Exact
	}
	return exactName(t.Name, "", nil)
}

// bare returns what all snapshots know of the name of a type.
func (t *Type) bare() string { return withoutArities(t.Name) }
