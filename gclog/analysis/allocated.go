package analysis

import (
	"math"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/parse/clr"
)

// Allocated estimates which types were allocated most, from the allocation ticks of a session at
// level full [R 10]: each is a sample of about 100 KB, with the type of the object that completed
// them. It is a gclog.EventObserver, keeps a limited number of types, and must not be used by
// several goroutines at once.
type Allocated struct {
	gclog.NopObserver
	window  Window
	samples typeSample
}

var _ gclog.EventObserver = (*Allocated)(nil)

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

// NewAllocated returns an empty Allocated of a Window.
func NewAllocated(w Window) *Allocated { return &Allocated{window: w} }

// Event adds an allocation tick.
func (a *Allocated) Event(at gclog.Stamp, e clr.Event, _ *gclog.GCDetails) {
	if e, ok := e.(*clr.GCAllocationTick); ok && a.window.Holds(at.Time) {
		a.samples.add(e.TypeID, e.TypeName, float64(e.Amount))
	}
}

// Most returns the n types with the largest shares.
func (a *Allocated) Most(n int) AllocatedTypes {
	s := &a.samples
	x := AllocatedTypes{Samples: count(s.n), Sampled: known(s.total).in("bytes"), Types: []AllocatedType{}}
	if s.n == 0 {
		x.Samples = unknown("there are no allocation ticks: recordings of the level full have them, and logs do not")
		x.Sampled = x.Samples
	}
	all := s.most()
	x.Named = len(all)
	for _, t := range all[:min(n, len(all))] {
		if s.total > 0 {
			share := min(t.amount/s.total, 1) // sums are rounded
			x.Types = append(x.Types, AllocatedType{t.name, known(100 * share).in("%"), known(100 * s.sampling(share)).in("%")})
		}
	}
	return x
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
