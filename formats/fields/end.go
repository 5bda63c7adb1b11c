package fields

import (
	"math"

	"github.com/gclog/gclog/gclog"
)

// End returns the fields of the end of a session that say how the process ended. Their paths are those in the
// record. The caller must not change them.
func End() []Row[gclog.End] { return end }

var end = []Row[gclog.End]{
	{
		JSON: "event.reason", CSV: "EndReason", Unified: "DotNet: reason", Unit: Text,
		Doc:   "why the session ended: exited, killed, oom-killed, detached and others",
		Value: enum(gclog.EndOfRecording, func(e *gclog.End) *gclog.EndReason { return &e.Reason }),
	},
	{
		JSON: "process.exit_code", CSV: "ExitCode", Unified: "DotNet: exit_code", Unit: Signed,
		Doc: "the exit code of the process",
		Value: Value[gclog.End]{
			Get: func(e *gclog.End) (uint64, bool) { return uint64(e.ExitCode), e.HasCode },
			Set: func(e *gclog.End, v uint64) { e.ExitCode, e.HasCode = int(int64(v)), true },
			Max: math.MaxUint32,
		},
	},
	{
		JSON: "process.exit_signal", CSV: "ExitSignal", Unified: "DotNet: exit_signal", Unit: Number,
		Doc: "the signal that killed it", Value: positive(func(e *gclog.End) *int { return &e.Signal }),
	},
}
