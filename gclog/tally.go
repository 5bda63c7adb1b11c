package gclog

// A Tally sums up what an Observer receives, for a summary. The zero value is empty; times are
// nanoseconds, sizes bytes.
type Tally struct {
	Collections [Gen2 + 1]uint64 // blocking and foreground ones, by generation
	Background  uint64           // collections
	Pauses      uint64           // including those without a collection
	PauseTotal  int64
	PauseMax    int64
	Promoted    uint64 // by the collections that reported it
	SizeAfter   uint64 // of the heap, after the latest collection that reported it
	HasSize     bool
	LostEvents  uint64 // dropped by the runtime
	Missing     uint64 // records dropped because an output was too slow, or failed
}

// Observe adds a record.
func (t *Tally) Observe(r Record) {
	switch r := r.(type) {
	case *Pause:
		t.Pauses++
		t.PauseTotal += r.Duration
		t.PauseMax = max(t.PauseMax, r.Duration)
	case *GCDetails:
		if r.Kind == KindBackground {
			t.Background++
		} else {
			t.Collections[max(Gen0, min(r.Generation, Gen2))]++
		}
		if r.Known.Has(GroupPromoted) {
			t.Promoted += r.PromotedBytes
		}
		if r.Known.Has(GroupAfter) {
			t.SizeAfter, t.HasSize = r.SizeAfter(), true
		}
	case *Gap:
		t.LostEvents += r.LostEvents
		t.Missing += r.Records
	}
}

// GCs returns the number of collections of all kinds.
func (t *Tally) GCs() (n uint64) {
	for _, c := range t.Collections {
		n += c
	}
	return n + t.Background
}
