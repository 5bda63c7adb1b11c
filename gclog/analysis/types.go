package analysis

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/gclog/gclog/parse/clr"
)

const (
	mostTypes    = 1024 // number of types that a typeSample distinguishes
	longestName  = 128  // UTF-16 characters of a name that are kept: longer names with the same start count as one
	shortName    = 100  // characters of a name in a sentence
	leastPercent = 1    // of the sample, for a type that is worth mentioning
)

// A typeSample sums what events report about types. When there are too many types, the amounts of
// further ones only count in the total.
//
// Amounts are arbitrary numbers in a file, so their sums are floating point, which they cannot
// overflow.
type typeSample struct {
	n       uint64
	total   float64
	squares float64 // sum of the squares of the amounts
	byID    map[uint64]*sampledType
}

type sampledType struct {
	name   string
	amount float64
}

func (s *typeSample) add(id uint64, name clr.UTF16, amount float64) {
	s.n++
	s.total += amount
	s.squares += amount * amount
	x := s.byID[id]
	if x == nil {
		if len(name) == 0 || len(s.byID) >= mostTypes {
			return
		}
		if s.byID == nil {
			s.byID = map[uint64]*sampledType{}
		}
		x = &sampledType{name: typeName(name)}
		s.byID[id] = x
	}
	x.amount += amount
}

// most returns the types by amount, the largest first. A type may have several ids.
func (s *typeSample) most() (list []sampledType) {
	byName := map[string]float64{}
	for _, x := range s.byID {
		byName[x.name] += x.amount
	}
	for name, amount := range byName {
		list = append(list, sampledType{name, amount})
	}
	slices.SortFunc(list, func(a, b sampledType) int {
		return cmp.Or(cmp.Compare(b.amount, a.amount), cmp.Compare(a.name, b.name))
	})
	return list
}

// typeName makes a name from another process fit for a line of text.
func typeName(name clr.UTF16) string {
	kept := strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return '?'
		}
		return r
	}, name[:min(len(name), 2*longestName)].String())
	if len(name) > 2*longestName {
		kept += "…"
	}
	return kept
}

// A typeShare is the share of the sampled bytes that a type has.
type typeShare struct {
	name    string
	percent float64
}

// largest returns the n types with the largest shares.
func (s *typeSample) largest(n int) (list []typeShare) {
	for _, x := range s.most() {
		percent := 100 * x.amount / s.total
		if len(list) == n || s.total == 0 || percent < leastPercent {
			break
		}
		list = append(list, typeShare{x.name, min(percent, 100)}) // sums are rounded
	}
	return list
}

// typesText lists the shares in a sentence that follows another.
func typesText(list []typeShare) string {
	var words []string
	for _, x := range list {
		name := []rune(x.name)
		if len(name) > shortName {
			name = append(name[:shortName], '…')
		}
		words = append(words, fmt.Sprintf("%s %s", valueText(x.percent, "%"), string(name)))
	}
	if len(words) == 0 {
		return ""
	}
	return " Of what was sampled: " + strings.Join(words, ", ") + "."
}
