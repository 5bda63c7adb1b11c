package formats

import (
	"strconv"

	"github.com/gclog/gclog/gclog"
)

// What json and text say in the same words.

// appendGap appends the sentence about what is missing.
func appendGap(b []byte, g *gclog.Gap) []byte {
	switch {
	case g.Reason == gclog.GapLostEvents:
		b = appendCount(b, g.LostEvents, " event is missing", " events are missing")
		return append(b, ": the runtime dropped them because its buffer was full, or the stream is damaged"...)
	case g.Reason == gclog.GapQueueFull:
		b = append(b, "the outputs were too slow: "...)
		return appendCount(b, g.Records, " record is missing", " records are missing")
	case g.Reason == gclog.GapUnwritten:
		b = append(b, "the output could not be written: "...)
		return appendCount(b, g.Records, " record is missing", " records are missing")
	case g.Reason == gclog.GapReattached:
		return append(b, "a new session began"...)
	case g.To == 0:
		return append(b, "the numbers of the collections go back"...)
	case g.From == g.To:
		b = append(b, "collection "...)
		b = strconv.AppendUint(b, uint64(g.To), 10)
		return append(b, " is missing"...)
	}
	b = append(b, "collections "...)
	b = strconv.AppendUint(b, uint64(g.From), 10)
	b = append(b, " to "...)
	b = strconv.AppendUint(b, uint64(g.To), 10)
	return append(b, " are missing"...)
}

// suspensionKind is what a suspension without a collection was for. What looks
// like a new memory limit is not told by NativeAOT, which suspends in the same way
// to answer GC.GetTotalAllocatedBytes.
func suspensionKind(p *gclog.Pause, process *gclog.Process) string {
	if p.Kind == gclog.PauseMemoryLimit && process.Flavor == gclog.FlavorNativeAOT {
		return gclog.PauseUnknown.String()
	}
	return p.Kind.String()
}

func appendCount(b []byte, n uint64, one, many string) []byte {
	b = strconv.AppendUint(b, n, 10)
	if n == 1 {
		return append(b, one...)
	}
	return append(b, many...)
}

// appendStall says for people what has not ended for how long.
func appendStall(dst []byte, s *gclog.Stall) []byte {
	if s.Kind == gclog.OpenSuspension {
		dst = append(dst, "the program has been suspended for "...)
	} else {
		dst = append(dst, "a collection has been going on for "...)
	}
	return append(appendFixed(dst, s.Now-s.Since, 9, 1), " s"...)
}
