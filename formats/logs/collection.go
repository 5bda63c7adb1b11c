package logs

import (
	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/parse/clr"
)

// Functions with which all readers build collections.

// typeOf returns how a collection was started, for logs that only contain how it ran.
func typeOf(k gclog.Kind) clr.GCType {
	return [...]clr.GCType{clr.TypeBlocking, clr.TypeBackground, clr.TypeForeground}[k]
}

// maxPauses is the maximum number of pauses in a record, as in package gclog.
const maxPauses = 64

// addPause adds a pause to a record. Beyond the limit only its duration is kept.
func addPause(d *gclog.GCDetails, part gclog.PausePart) {
	if len(d.Pauses) < maxPauses {
		d.Pauses = append(d.Pauses, part)
	} else {
		d.Pauses[maxPauses-1].Duration += part.Duration
	}
}

// pauseOf returns the first pause of a kind, or nil.
func pauseOf(d *gclog.GCDetails, kind gclog.PauseKind) *gclog.PausePart {
	for i := range d.Pauses {
		if d.Pauses[i].Kind == kind {
			return &d.Pauses[i]
		}
	}
	return nil
}

// settleSizes derives those sizes of the generations that logs leave out: what is in a generation is objects
// and free space.
func settleSizes(d *gclog.GCDetails) {
	if d.Known.Has(gclog.GroupHistory) {
		objects := d.Known.Has(gclog.GroupObjects)
		for g := range d.GenerationCount {
			x := &d.Generations[g]
			if objects {
				x.FreeBefore = less(x.Before, x.ObjectsBefore)
			} else {
				x.ObjectsBefore, x.ObjectsAfter = less(x.Before, x.FreeBefore), less(x.After, x.Fragmentation)
			}
		}
		d.Known |= gclog.GroupObjects
	}
	if d.Known.Has(gclog.GroupGenerationAllocated) && !d.Known.Has(gclog.GroupAllocated) {
		for g := range d.Generations {
			d.Allocated += d.Generations[g].Allocated
		}
		d.Known |= gclog.GroupAllocated
	}
	if d.Known.Has(gclog.GroupBefore) {
		d.Peak = max(d.Peak, d.SizeBefore())
	}
}

func less(a, b uint64) uint64 { return a - min(a, b) }
