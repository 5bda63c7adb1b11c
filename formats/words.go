package formats

import (
	"strconv"

	"github.com/gclog/gclog/gclog"
)

// Words that json and text share.

// appendGap appends the sentence about what is missing.
func appendGap(b []byte, g *gclog.Gap) []byte {
	switch {
	case g.Reason == gclog.GapLostEvents:
		b = appendCount(b, g.LostEvents, " event is missing: the runtime dropped it",
			" events are missing: the runtime dropped them")
		return append(b, " because its buffer was full, or the stream is damaged"...)
	case g.Reason == gclog.GapQueueFull:
		return appendDropped(append(b, "the outputs were too slow: "...), g)
	case g.Reason == gclog.GapUnwritten:
		return appendDropped(append(b, "the output could not be written: "...), g)
	case g.Reason == gclog.GapInternal:
		return appendDropped(append(b, "gclog failed because of a defect: "...), g)
	case g.Reason == gclog.GapStopped:
		b = append(b, "the session was ended before everything could be read or written"...)
		if g.Records == 0 {
			return b // the amount is unknown
		}
		return appendDropped(append(b, ": "...), g)
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

// appendDropped appends how many records were dropped, and between which collections.
func appendDropped(b []byte, g *gclog.Gap) []byte {
	b = appendCount(b, g.Records, " record is missing", " records are missing")
	switch {
	case g.To == 0:
		return b
	case g.From == g.To:
		b = append(b, ", of collection "...)
		return strconv.AppendUint(b, uint64(g.To), 10)
	}
	b = append(b, ", of collections from "...)
	b = strconv.AppendUint(b, uint64(g.From), 10)
	b = append(b, " to "...)
	return strconv.AppendUint(b, uint64(g.To), 10)
}

// appendSummary appends the sentence about what happened in an interval.
func appendSummary(b []byte, s *gclog.Summary) []byte {
	b = append(b, "in "...)
	b = appendFixed(b, s.Span(), 9, 0)
	b = append(b, " s "...)
	if s.Partial {
		b = append(b, "(not a whole interval) "...)
	}
	b = appendCount(b, s.GCs(), " collection", " collections")
	separator := " ("
	count := func(n uint64, what string) {
		if n > 0 {
			b = append(b, separator...)
			b = strconv.AppendUint(b, n, 10)
			b = append(b, ' ')
			b = append(b, what...)
			separator = ", "
		}
	}
	for g, n := range s.Collections {
		count(n, gclog.GenerationName(g))
	}
	count(s.Background, "background")
	if separator != " (" {
		b = append(b, ')')
	}
	b = append(b, ", paused for "...)
	b = appendMillis(b, s.PauseTotal)
	b = append(b, " ms, at most "...)
	b = appendMillis(b, s.PauseMax)
	b = append(b, " ms"...)
	if s.HasSize {
		b = append(b, ", heap "...)
		b = appendBytes(b, s.SizeAfter)
	}
	if s.LostEvents > 0 {
		b = append(b, ", "...)
		b = appendCount(b, s.LostEvents, " event is missing", " events are missing")
	}
	if s.Missing > 0 {
		b = append(b, ", "...)
		b = appendCount(b, s.Missing, " record is missing", " records are missing")
	}
	return b
}

func appendCount(b []byte, n uint64, one, many string) []byte {
	b = strconv.AppendUint(b, n, 10)
	if n == 1 {
		return append(b, one...)
	}
	return append(b, many...)
}

// appendStall appends the sentence about what has been open for how long.
func appendStall(dst []byte, s *gclog.Stall) []byte {
	if s.Kind == gclog.OpenSuspension {
		dst = append(dst, "the program has been suspended for "...)
	} else {
		dst = append(dst, "a collection has been going on for "...)
	}
	return append(appendFixed(dst, s.Now-s.Since, 9, 1), " s"...)
}
