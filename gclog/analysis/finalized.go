package analysis

import (
	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/parse/clr"
)

// Finalized counts finalized objects by their types if the private provider names them, at Verbose
// [P 192]: gclog.WantedFinalized selects these events. It is a gclog.EventObserver, keeps a limited
// number of types, and must not be used by several goroutines at once.
//
// The event of the runtime's provider [R 29] has no name, only the type's address, which would
// require type events.
type Finalized struct {
	gclog.NopObserver
	window  Window
	objects typeSample
}

var _ gclog.EventObserver = (*Finalized)(nil)

// FinalizedType is the number of finalized objects of a type.
type FinalizedType struct {
	Type    string `json:"type"`
	Objects uint64 `json:"objects"`
}

// NewFinalized returns an empty Finalized of a Window.
func NewFinalized(w Window) *Finalized { return &Finalized{window: w} }

// Event counts a finalized object.
func (z *Finalized) Event(at gclog.Stamp, e clr.Event, _ *gclog.GCDetails) {
	if e, ok := e.(*clr.FinalizeObject); ok && len(e.TypeName) > 0 && z.window.Holds(at.Time) {
		z.objects.add(e.TypeID, e.TypeName, 1)
	}
}

// Most returns the n most frequent types, the most frequent first. It is empty if no event names
// them.
func (z *Finalized) Most(n int) []FinalizedType {
	list := []FinalizedType{}
	for _, x := range z.objects.most() {
		list = append(list, FinalizedType{x.name, uint64(x.amount)})
	}
	return list[:min(n, len(list))]
}
