package analysis

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/parse/clr"
)

// Types estimates which types were allocated most, and counts finalized objects by their types. Its
// Event is a gclog.EventObserver. It keeps a limited number of types, and must not be used by several
// goroutines at once.
//
// Allocation ticks are in sessions at level full [R 10]: each is a sample of about 100 KB, with the
// type of the object that completed them. Finalized objects have names if the private provider is
// enabled at Verbose [P 192]: gclog.WantedFinalized selects these events. The event of the runtime's
// provider [R 29] has only the type's address, which would require type events.
type Types struct {
	window               Window
	allocated, finalized typeSample
}

// NewTypes returns an empty Types of a Window.
func NewTypes(w Window) *Types { return &Types{window: w} }

// Event adds an allocation tick or a finalized object.
func (t *Types) Event(at gclog.Stamp, e clr.Event, _ *gclog.GCDetails) {
	if !t.window.Contains(at.Time) {
		return
	}
	switch e := e.(type) {
	case *clr.GCAllocationTick:
		t.allocated.add(e.TypeID, e.TypeName, float64(e.Amount))
	case *clr.FinalizeObject:
		if len(e.TypeName) > 0 {
			t.finalized.add(e.TypeID, e.TypeName, 1)
		}
	}
}

// AllocatedTypes are the allocated types according to allocation ticks.
type AllocatedTypes struct {
	Samples Number          `json:"samples"` // number of ticks
	Sampled Number          `json:"sampled"` // bytes that the ticks stand for
	Types   []AllocatedType `json:"types"`   // the largest share first
	Named   int             `json:"-"`       // number of named types
}

// An AllocatedType is a type's share of the allocated bytes.
type AllocatedType struct {
	Type  string `json:"type"`
	Share Number `json:"share"` // of the bytes
	// Error is the margin of Share at 95 % confidence, in percentage points.
	Error Number `json:"error"`
}

// Allocated returns the n allocated types with the largest shares.
func (t *Types) Allocated(n int) AllocatedTypes {
	s := &t.allocated
	x := AllocatedTypes{Samples: count(s.n), Sampled: known(s.total).in("bytes"), Types: []AllocatedType{}}
	if s.n == 0 {
		x.Samples = unknown("there are no allocation ticks: only recordings at level full contain them")
		x.Sampled = x.Samples
	}
	all := s.most()
	x.Named = len(all)
	for _, of := range all[:min(n, len(all))] {
		if s.total > 0 {
			share := min(of.amount/s.total, 1) // sums are rounded
			x.Types = append(x.Types,
				AllocatedType{of.name, known(100 * share).in("%"), known(100 * s.sampling(share)).in("%")})
		}
	}
	return x
}

// FinalizedType is the number of finalized objects of a type.
type FinalizedType struct {
	Type    string `json:"type"`
	Objects uint64 `json:"objects"`
}

// Finalized returns the n most frequent types of finalized objects, the most frequent first. It is
// empty if no event names them.
func (t *Types) Finalized(n int) []FinalizedType {
	list := []FinalizedType{}
	for _, x := range t.finalized.most() {
		list = append(list, FinalizedType{x.name, uint64(x.amount)})
	}
	return list[:min(n, len(list))]
}

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
	return " Sampled allocations: " + strings.Join(words, ", ") + "."
}

// sampling returns the margin of a share of the total: the distance to the farther end of its
// Wilson interval, which is not empty if all samples are alike. Samples that stand for different
// amounts count for fewer.
func (s *typeSample) sampling(share float64) float64 {
	const z = 1.96 // 95 %
	n := s.total * s.total / s.squares
	middle := (share + z*z/(2*n)) / (1 + z*z/n)
	half := z / (1 + z*z/n) * math.Sqrt(share*(1-share)/n+z*z/(4*n*n))
	return math.Abs(middle-share) + half
}
