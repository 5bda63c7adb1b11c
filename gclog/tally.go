package gclog

// A Tally sums up what an Observer receives, for a summary. The zero value is empty; times are
// nanoseconds, sizes bytes.
type Tally struct {
	NopObserver
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

var _ Observer = (*Tally)(nil)

// Pause adds a pause.
func (t *Tally) Pause(p *Pause) {
	t.Pauses++
	t.PauseTotal += p.Duration
	t.PauseMax = max(t.PauseMax, p.Duration)
}

// GC adds a collection; its pauses are added by Pause.
func (t *Tally) GC(d *GCDetails) {
	if d.Kind == KindBackground {
		t.Background++
	} else {
		t.Collections[max(Gen0, min(d.Generation, Gen2))]++
	}
	if d.HasPromoted {
		t.Promoted += d.PromotedBytes
	}
	if d.HasSizesAfter {
		t.SizeAfter, t.HasSize = d.SizeAfter(), true
	}
}

// Gap adds what a gap reports as missing.
func (t *Tally) Gap(g *Gap) {
	t.LostEvents += g.LostEvents
	t.Missing += g.Records
}

// GCs returns the number of collections of all kinds.
func (t *Tally) GCs() (n uint64) {
	for _, c := range t.Collections {
		n += c
	}
	return n + t.Background
}
