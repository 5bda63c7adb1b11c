package logs

import (
	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/parse/clr"
)

// The names that the fields of json and unified share.

// timing returns the index of a timing's name: one index has two names.
func timing(name []byte) (i int, known bool) {
	switch string(name) {
	case "mark_sized_ref":
		return clr.TimeMarkSizedRef, true
	case "mark_roots":
		return clr.TimeMarkRoots, true
	case "mark_short_weak":
		return clr.TimeMarkShortWeak, true
	case "scan_finalization":
		return clr.TimeScanFinalization, true
	case "mark_long_weak":
		return clr.TimeMarkLongWeak, true
	case "plan":
		return clr.TimePlan, true
	case "sweep", "relocate":
		return clr.TimeSweep, true
	case "compact":
		return clr.TimeCompact, true
	}
	return 0, false
}

func markType(name []byte) (clr.MarkType, bool) {
	switch string(name) {
	case "stack":
		return clr.MarkStack, true
	case "finalizer_queue":
		return clr.MarkFinalizerQueue, true
	case "handles":
		return clr.MarkHandles, true
	case "older_generations":
		return clr.MarkOlderGenerations, true
	case "sized_ref":
		return clr.MarkSizedRef, true
	case "overflow":
		return clr.MarkOverflow, true
	case "dependent_handles":
		return clr.MarkDependentHandles, true
	case "new_finalizable":
		return clr.MarkNewFinalizable, true
	case "steal":
		return clr.MarkSteal, true
	case "background_roots":
		return clr.MarkBackgroundRoots, true
	}
	return 0, false
}

// generation is the inverse of gclog.GenerationName.
func generation(name []byte) (g int, known bool) {
	for g := range gclog.Generations {
		if gclog.GenerationName(g) == string(name) {
			return g, true
		}
	}
	return 0, false
}
