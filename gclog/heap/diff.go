package heap

import (
	"cmp"
	"slices"
)

// A Growth says how the objects of a type changed from one snapshot to the next ones.
type Growth struct {
	Name   string
	Counts []Count // in each snapshot
}

// Objects returns how many more objects there are in the last snapshot than in the first.
func (g *Growth) Objects() int64 {
	return int64(g.Counts[len(g.Counts)-1].Objects - g.Counts[0].Objects)
}

// Bytes returns how many more bytes they occupy in the last snapshot than in the first.
func (g *Growth) Bytes() int64 { return int64(g.Counts[len(g.Counts)-1].Bytes - g.Counts[0].Bytes) }

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
// their names are: ids differ between processes.
func Compare(snapshots ...*Histogram) []Growth {
	index := map[string]int{}
	var list []Growth
	for i, h := range snapshots {
		for k, c := range h.Counts {
			if c.Objects == 0 {
				continue
			}
			name := h.Types[k].String()
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
		return cmp.Or(cmp.Compare(b.Bytes(), a.Bytes()), cmp.Compare(b.Objects(), a.Objects()), cmp.Compare(a.Name, b.Name))
	})
	return list
}
