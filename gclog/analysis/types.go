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
	mostTypes    = 1024 // that a typeSample tells apart
	longestName  = 128  // UTF-16 characters of a name that are kept: those that start alike are one
	shortName    = 100  // of them that a sentence has
	leastPercent = 1    // of what was sampled, for a type that is worth a word
)

// A typeSample adds up what events tell of types. What comes when there are too many types
// counts, without a name.
//
// Amounts are whatever a file says: their sums are of floating point, which none of them
// can overflow.
type typeSample struct {
	n       uint64
	total   float64
	squares float64 // of the amounts, added up
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

// most returns the types by what they have of the total, those with the most first. A type
// may have several ids.
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

// typeName makes a name from outside fit for a line of text.
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

// A typeShare is the part of what was sampled that objects of a type had.
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

// typesText tells the shares in a sentence, after another one.
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
