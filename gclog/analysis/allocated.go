package analysis

import (
	"math"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/parse/clr"
)

// Allocated estimates which types were allocated most, by the allocation ticks that a session of
// the level full has [R 10]: each is a sample of about 100 KB, with the type of the object
// that completed them. It is a gclog.EventObserver, keeps a limited number of types, and must
// not be used by several goroutines at once.
type Allocated struct {
	gclog.NopObserver
	window  Window
	samples typeSample
}

var _ gclog.EventObserver = (*Allocated)(nil)

// An AllocatedType is a type's part in what was allocated.
type AllocatedType struct {
	Type  string
	Share float64 // of the bytes, percent
	// Error is how far Share may be off because few samples were taken, with 95 % confidence, in
	// percentage points.
	Error float64
}

// NewAllocated returns an empty Allocated of a Window.
func NewAllocated(w Window) *Allocated { return &Allocated{window: w} }

// Event takes an allocation tick.
func (a *Allocated) Event(at gclog.Stamp, e clr.Event, _ *gclog.GCDetails) {
	if e, ok := e.(*clr.GCAllocationTick); ok && a.window.Holds(at.Time) {
		a.samples.add(e.TypeID, e.TypeName, float64(e.Amount))
	}
}

// Samples returns how many ticks there were, and how many bytes they stand for.
func (a *Allocated) Samples() (n uint64, bytes float64) { return a.samples.n, a.samples.total }

// Types returns how many types have names.
func (a *Allocated) Types() int { return len(a.samples.most()) }

// Most returns the n types with the largest shares, the largest first.
func (a *Allocated) Most(n int) (list []AllocatedType) {
	s := &a.samples
	if s.total == 0 {
		return nil
	}
	for _, x := range s.most() {
		if len(list) == n {
			break
		}
		share := min(x.amount/s.total, 1) // sums are rounded
		list = append(list, AllocatedType{x.name, 100 * share, 100 * s.sampling(share)})
	}
	return list
}

// sampling is how far a share of the total may be off: the distance to the farther end of its
// Wilson interval, which is not empty where all samples are alike. Samples that stand for
// different amounts count for fewer.
func (s *typeSample) sampling(share float64) float64 {
	const z = 1.96 // 95 %
	n := s.total * s.total / s.squares
	middle := (share + z*z/(2*n)) / (1 + z*z/n)
	half := z / (1 + z*z/n) * math.Sqrt(share*(1-share)/n+z*z/(4*n*n))
	return math.Abs(middle-share) + half
}
