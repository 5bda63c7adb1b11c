package logs

import (
	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/parse/clr"
)

// What the readers have in common about a collection.

// typeOf is how a collection was started, where the log tells only how it ran.
func typeOf(k gclog.Kind) clr.GCType {
	return [...]clr.GCType{clr.TypeBlocking, clr.TypeBackground, clr.TypeForeground}[k]
}

// maxPauses is how many pauses a record has at most, as in package gclog.
const maxPauses = 64

// addPause adds a pause to a record. Beyond the limit only its time is kept.
func addPause(d *gclog.GCDetails, part gclog.PausePart) {
	if len(d.Pauses) < maxPauses {
		d.Pauses = append(d.Pauses, part)
	} else {
		d.Pauses[maxPauses-1].Duration += part.Duration
	}
}

// pauseOf returns the first pause of a kind, nil if there is none.
func pauseOf(d *gclog.GCDetails, kind gclog.PauseKind) *gclog.PausePart {
	for i := range d.Pauses {
		if d.Pauses[i].Kind == kind {
			return &d.Pauses[i]
		}
	}
	return nil
}
