package gclog

import "iter"

// A History is an Observer that keeps the latest records of collections, in the order in which they
// were emitted. Its memory is bounded by their number.
type History struct {
	ring []GCDetails
	next int // index into ring
	n    int
}

// NewHistory returns a History of the latest n records.
func NewHistory(n int) *History { return &History{ring: make([]GCDetails, max(1, n))} }

// Observe keeps a copy of the record of a collection.
func (h *History) Observe(r Record) {
	if d, ok := r.(*GCDetails); ok {
		h.ring[h.next].CopyFrom(d)
		h.next = (h.next + 1) % len(h.ring)
		h.n = min(h.n+1, len(h.ring))
	}
}

// Len returns the number of records.
func (h *History) Len() int { return h.n }

// All returns the records, oldest first. They are valid until the next record arrives.
func (h *History) All() iter.Seq[*GCDetails] {
	return func(yield func(*GCDetails) bool) {
		for i := range h.n {
			if !yield(&h.ring[(h.next-h.n+i+len(h.ring))%len(h.ring)]) {
				return
			}
		}
	}
}
