package logs

import (
	"bytes"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/parse/clr"
)

const stopped = "Total time for which application threads were stopped: "

// suspensionLine reads how long the program was stopped, whatever the reason. Lines of Java, which
// contain no reason, are skipped:
//
//	0.0056931 seconds, Stopping threads took: 0.0000247 seconds, reason: ForGC
//
// The time to suspend is left out if it is unknown.
func (u *unified) suspensionLine(d *decorations, b []byte) bool {
	lasted, b, ok := stopTime(b)
	if !ok {
		return false
	}
	suspend, hasSuspend := int64(0), false
	if rest, ok := literal(b, ", Stopping threads took: "); ok {
		hasSuspend = true
		if suspend, b, ok = stopTime(rest); !ok || len(b) == 0 {
			return ok
		}
	}
	if b, ok = literal(b, ", reason: "); !ok {
		return false
	}
	reason, ok := clr.ParseSuspendReason(b)
	if !ok {
		return false
	}
	at := u.at(d.moment)
	u.closeEnded()
	u.emitSuspension(gclog.Suspension{Reason: reason, Duration: lasted, Suspend: min(suspend, lasted), HasSuspend: hasSuspend}, at)
	return true
}

// stopTime reads 0.0056931 seconds.
func stopTime(b []byte) (ns int64, rest []byte, ok bool) {
	if ns, rest, ok = duration(b, 9, 1); !ok {
		return 0, b, false
	}
	rest, ok = literal(rest, " seconds")
	return ns, rest, ok
}

// emitSuspension emits a suspension that ended in the span at: at the end of the pause emitted
// last, if possible.
func (u *unified) emitSuspension(s gclog.Suspension, at span) {
	end := at.nearest(u.emittedUntil)
	u.emittedUntil = max(u.emittedUntil, end)
	s.Start = end - s.Duration
	s.Ticks = s.Start
	u.suspension = s
	if u.out != nil {
		u.out.Suspension(&u.suspension)
	}
}

// isSuspension reports whether a line is a suspension with a reason.
func isSuspension(text []byte) (rest []byte, ok bool) {
	rest, ok = literal(text, stopped)
	return rest, ok && bytes.Contains(rest, []byte(", reason: "))
}
