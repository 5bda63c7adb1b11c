package analysis

import (
	"slices"

	"github.com/gclog/gclog/gclog"
)

// Peers keeps what is needed to compare a collection with others: generation and kind, pause and
// promoted bytes, 16 bytes per collection. Its Observe is a gclog.Observer; the zero value is not ready for
// use.
type Peers struct {
	by         map[peer]*peers
	used       map[uint32]bool // numbers that no-GC regions used up
	foreground []foreground
	datas      bool // the number of heaps is adapted dynamically
}

// Collections are compared with those of the same generation and kind.
type peer struct {
	generation int
	kind       gclog.Kind
}

type peers struct {
	pauses   []int64
	promoted []int64
}

type foreground struct{ start, pause int64 }

// maxUsed is how many numbers of no-GC regions are kept.
const maxUsed = 1 << 16

// NewPeers returns an empty Peers.
func NewPeers() *Peers { return &Peers{by: map[peer]*peers{}, used: map[uint32]bool{}} }

// Observe adds a record.
func (p *Peers) Observe(r gclog.Record) {
	switch r := r.(type) {
	case *gclog.GCDetails:
		p.datas = p.datas || adapted(r)
		if r.Kind == gclog.KindForeground {
			p.foreground = append(p.foreground, foreground{r.Start, r.Pause()})
		}
		if !pauseSeen(r) || r.HeapDump {
			return
		}
		key := peer{r.Generation, r.Kind}
		of := p.by[key]
		if of == nil {
			of = &peers{}
			p.by[key] = of
		}
		of.pauses = append(of.pauses, r.Pause())
		if r.Known.Has(gclog.GroupPromoted) {
			of.promoted = append(of.promoted, int64(r.PromotedBytes))
		}
	case *gclog.Pause:
		if r.GC == nil && r.UsedNumber != 0 && len(p.used) < maxUsed {
			p.used[r.UsedNumber] = true
		}
	}
}

// adapted reports whether DATAS adapts the number of heaps.
func adapted(d *gclog.GCDetails) bool { return d.Known&gclog.GroupsDatas != 0 }

// pauseSeen reports whether the pause of a collection was seen completely.
func pauseSeen(d *gclog.GCDetails) bool {
	const hides = gclog.FlawNoStart | gclog.FlawNoSuspend | gclog.FlawNoRestart | gclog.FlawNoEnd | gclog.FlawTime
	return len(d.Pauses) > 0 && d.Flaws&hides == 0
}

// Used reports whether a no-GC region used a number up.
func (p *Peers) Used(number uint32) bool { return p.used[number] }

// usedBefore returns the numbers right before one that no-GC regions used up.
func (p *Peers) usedBefore(number uint32) (list []uint32) {
	for n := number - 1; p.used[n]; n-- {
		list = append(list, n)
	}
	slices.Reverse(list)
	return list
}

// foregrounds returns how many foreground collections began during a background one, and the sum of
// their pauses.
func (p *Peers) foregrounds(d *gclog.GCDetails) (n int, pause int64) {
	for _, f := range p.foreground {
		if f.start >= d.Start && f.start < d.End {
			n++
			pause += f.pause
		}
	}
	return n, pause
}

// of returns the collections of the same kind as d, including d.
func (p *Peers) of(d *gclog.GCDetails) *peers {
	if of := p.by[peer{d.Generation, d.Kind}]; of != nil {
		return of
	}
	return &peers{}
}
