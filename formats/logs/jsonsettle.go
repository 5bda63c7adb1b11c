package logs

import (
	"math"

	"github.com/gclog/gclog/formats/fields"
	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/parse/clr"
)

// What is derived from the fields of a collection once all of them are known, because members in
// JSON are unordered.

// settleGC completes the record of a collection after its line was read, with times since
// Process.Sync. It returns false for one without a type.
func (l *jsonLine) settleGC(r *record) (ok bool) {
	d := &r.GC
	if d.Kind, ok = named(l.gc.typeName, gclog.KindForeground); !ok {
		return false
	}
	d.Type = typeOf(d.Kind)
	if d.DemotedBGC {
		d.Type = clr.TypeBackground
	}
	if d.Flaws&gclog.FlawLostEvents == 0 {
		d.LostEvents = 0 // they were lost before the collection
	}
	if l.gc.hasLostWithin {
		d.LostEvents = l.gc.lostWithin
	}
	if l.gc.hasForAll {
		d.Global.Condemned = l.gc.forAll
	} else if len(r.summary.Reasons) > 0 {
		d.Global.HasCondemned, d.Global.Condemned = false, 0
	}
	d.FromLog = d.FromLog || l.older
	l.settleTimes(r)
	l.settleSizes(d)
	d.Known.Set(gclog.GroupCompaction,
		d.Known.Has(gclog.GroupGlobal) || l.gc.compactive && d.Kind != gclog.KindBackground)
	if l.gc.compacting {
		d.Global.Mechanisms |= clr.MechanismCompaction
	}
	return true
}

func (l *jsonLine) settleTimes(r *record) {
	d, sync := &r.GC, r.of.sync
	d.Start = r.at
	if l.hasBegin {
		d.Start = l.begin - sync
	}
	if d.Known.Has(gclog.GroupEnd) {
		d.End = l.end - sync
	}
	for i := range d.Pauses {
		d.Pauses[i].Start -= sync
	}
	for i := range d.Dynamic {
		d.Dynamic[i].Time -= sync
	}
	d.Suspended = d.PauseStart()
	for _, t := range l.times {
		t.field.Set(d, uint64(t.at-sync))
	}
	if d.Known.Has(gclog.GroupTrigger) {
		d.Triggered = d.Suspended - l.gc.delay
	}
	if d.Background != nil {
		l.settleBackground(d, sync)
	}
	l.settleWindow(d)
}

// settleBackground computes the times of the concurrent phases, of which the log contains the
// durations. Mark starts when the program first resumes, and ends when it is suspended for the
// final pause, or with the collection if there was none. Sweep ends with the collection.
func (l *jsonLine) settleBackground(d *gclog.GCDetails, sync int64) {
	b := d.Background
	for i := range b.Waits {
		b.Waits[i].Start -= sync
	}
	first := pauseOf(d, gclog.PauseInitial)
	final := pauseOf(d, gclog.PauseFinal)
	switch {
	case !l.gc.hasMark:
	case first != nil:
		b.MarkStart = first.Start + first.Duration
		b.MarkEnd = b.MarkStart + l.gc.mark
		if final != nil { // values from a log with milliseconds may overlap
			b.MarkEnd = max(b.MarkStart, min(b.MarkEnd, final.Start))
		}
	case final != nil:
		b.MarkStart, b.MarkEnd = final.Start-l.gc.mark, final.Start
	case d.Known.Has(gclog.GroupEnd):
		b.MarkStart, b.MarkEnd = d.End-l.gc.mark, d.End
	}
	if l.gc.hasSweep && d.Known.Has(gclog.GroupEnd) {
		b.SweepStart, b.SweepEnd = d.End-l.gc.sweep, d.End
		if final != nil {
			b.SweepStart = min(max(b.SweepStart, final.Start+final.Duration), b.SweepEnd)
		}
	}
}

// settleWindow computes the time that PausePercent relates to. For background collections the log
// only has the percentage: the window is chosen to match it.
func (l *jsonLine) settleWindow(d *gclog.GCDetails) {
	const whole = 100 * 100 // units of the percentage
	switch {
	case !l.gc.hasPaused, d.Window > 0:
	case d.Known.Has(gclog.GroupSinceLast) && d.Kind != gclog.KindBackground:
		d.Window = d.SinceLast + d.Pause()
	case l.gc.paused > 0:
		d.Window = int64(math.Round(float64(d.Pause()) * whole / float64(l.gc.paused)))
	default: // less than half a unit
		d.Window = int64(min(float64(d.Pause())*2*whole+1, fields.MaxSpan))
	}
}

// settleSizes determines which of the sizes are known.
func (l *jsonLine) settleSizes(d *gclog.GCDetails) {
	// Background collections only report the size before, which was heap.committed up to version 1.1.
	if l.gc.hasCommitted && (!d.Known.Has(gclog.GroupCommittedBefore) || d.Kind != gclog.KindBackground) {
		d.CommittedAfter = l.gc.committed
		d.Known |= gclog.GroupCommittedAfter
	}
}
