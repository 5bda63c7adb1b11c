package fields

import (
	"math"
	"slices"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/parse/clr"
)

// The fields of records other than collections, in the order of json. Readers take the number of a
// suspension and what a stall has of its collection from the fields of a collection, which have the
// same names: here they are derived.

// Gap returns the fields of a gap in the order of json. The caller must not change them.
func Gap() []Row[gclog.Gap] { return gap }

// Suspension returns the fields of a pause without a collection, as Gap does.
func Suspension() []Row[gclog.Pause] { return suspension }

// Stall returns the fields of a stall, as Gap does.
func Stall() []Row[gclog.Stall] { return stall }

// Verdict returns the fields of the verdict at the end of a session. Their paths are those in the record.
func Verdict() []Row[gclog.End] { return verdict }

func entry[R any](json string, unit Unit, doc string, v Value[R]) Row[R] {
	return Row[R]{JSON: json, Unit: unit, Doc: doc, Value: v}
}

func numbered(g *gclog.Gap) bool { return g.To != 0 }

var gap = []Row[gclog.Gap]{
	entry("gap.from", Number, "the first collection that is missing, or that events are missing from",
		when(numbered, func(g *gclog.Gap) *uint32 { return &g.From })),
	entry("gap.to", Number, "the last one", when(numbered, func(g *gclog.Gap) *uint32 { return &g.To })),
	entry("gap.lost_events", Count, "events that the runtime dropped",
		positive(func(g *gclog.Gap) *uint64 { return &g.LostEvents })),
	entry("gap.records", Count, "records that gclog could not write",
		positive(func(g *gclog.Gap) *uint64 { return &g.Records })),
	entry("gap.reason", Text,
		"why records are missing: lost-events, missed-gcs, reattached, queue-full, unwritten, internal-error, stopped",
		enum(gclog.GapStopped, func(g *gclog.Gap) *gclog.GapReason { return &g.Reason })),
}

var suspension = slices.Concat([]Row[gclog.Pause]{
	entry("number", Number, "the number of a collection that it used up",
		derived(func(p *gclog.Pause) (uint64, bool) { return uint64(p.UsedNumber), p.UsedNumber != 0 })),
	entry("suspension.kind", Text, "what the suspension was for: no-gc-region, heap-count, memory-limit, unknown",
		enum(gclog.PauseUnknown, func(p *gclog.Pause) *gclog.PauseKind { return &p.Kind })),
	entry("suspension.ns", PlainNanoseconds, "how long the program was paused",
		always(func(p *gclog.Pause) *int64 { return &p.Duration })),
	entry("suspension.suspend", Nanoseconds, "of it, the time to suspend all threads", Value[gclog.Pause]{
		Get: func(p *gclog.Pause) (uint64, bool) { return uint64(p.Suspend), p.HasSuspend },
		Set: func(p *gclog.Pause, v uint64) { p.Suspend, p.HasSuspend = int64(v), true },
		Max: MaxSpan,
	}),
}, asDerived(shortage(func(p *gclog.Pause) *gclog.CPUShortage { return &p.CPU })))

// asDerived returns fields that readers do not set: they do those of a collection.
func asDerived[R any](list []Row[R]) []Row[R] {
	for i := range list {
		list[i].Set = nil
	}
	return list
}

var stall = []Row[gclog.Stall]{
	entry("number", Number, "the number of the collection that is open",
		derived(func(s *gclog.Stall) (uint64, bool) { return uint64(s.Number), s.HasNumber })),
	entry("generation", Number, "its condemned generation",
		derived(func(s *gclog.Stall) (uint64, bool) { return uint64(s.Generation), s.HasNumber })),
	entry("type", Text, "how it runs, as far as that is known: blocking, background or foreground",
		text(func(s *gclog.Stall) string {
			if !s.HasNumber {
				return ""
			}
			return kindOf(s.Type)
		})),
	entry("reason", Text, "why it was started, or the program suspended", text(func(s *gclog.Stall) string {
		if !s.HasReason {
			return ""
		}
		return s.Reason.String()
	})),
	entry("stall.kind", Text, "what has been open for a long time: suspension or gc",
		enum(gclog.OpenGC, func(s *gclog.Stall) *gclog.OpenKind { return &s.Kind })),
	entry("stall.since", Time, "when that started", always(func(s *gclog.Stall) *int64 { return &s.Since })),
	entry("stall.ns", PlainNanoseconds, "how long it has been open",
		derived(func(s *gclog.Stall) (uint64, bool) { return uint64(max(0, s.Now-s.Since)), true })),
	entry("stall.threshold", Nanoseconds, "the threshold that was exceeded, one of 1, 10 and 60 s",
		always(func(s *gclog.Stall) *int64 { return &s.Threshold })),
}

// kindOf returns the kind that a collection was started as.
func kindOf(t clr.GCType) string {
	switch t {
	case clr.TypeBlocking:
		return gclog.KindBlocking.String()
	case clr.TypeBackground:
		return gclog.KindBackground.String()
	case clr.TypeForeground:
		return gclog.KindForeground.String()
	}
	return t.String()
}

var verdict = []Row[gclog.End]{
	entry("verdict.gc", Text, "whether the GC is the reason for a problem: yes, no or unknown",
		judged(func(v *gclog.Verdict) *string { return &v.GC })),
	entry("verdict.cause", Text, "the cause, as in docs/verdict.md: none, killed, managed-leak, induced and others",
		judged(func(v *gclog.Verdict) *string { return &v.Cause })),
	entry("verdict.text", Text, "the verdict in a sentence or two",
		judged(func(v *gclog.Verdict) *string { return &v.Text })),
	entry("verdict.first", Text, "what comes first: a command or a setting",
		judged(func(v *gclog.Verdict) *string { return &v.First })),
	entry("verdict.pause_share", ExactPercent, "the share of the session that the program was paused", judgedNumber(
		func(v *gclog.Verdict) (uint64, bool) { return bits(v.Paused, v.HasPaused) },
		func(v *gclog.Verdict, x uint64) { v.Paused, v.HasPaused = math.Float64frombits(x), true })),
	entry("verdict.explains.pause_share", ExactPercent, "the share of the time paused that the cause accounts for",
		judgedNumber(
			func(v *gclog.Verdict) (uint64, bool) { return bits(v.ExplainsPaused, v.ExplainsPaused > 0) },
			func(v *gclog.Verdict, x uint64) { v.ExplainsPaused = math.Float64frombits(x) })),
	entry("verdict.explains.bytes", Bytes, "the memory that the cause accounts for", judgedNumber(
		func(v *gclog.Verdict) (uint64, bool) { return v.ExplainsBytes, v.ExplainsBytes > 0 },
		func(v *gclog.Verdict, x uint64) { v.ExplainsBytes = x })),
}

// verdictOf returns the verdict of an end, which has one from then on.
func verdictOf(e *gclog.End) *gclog.Verdict {
	if e.Verdict == nil {
		e.Verdict = &gclog.Verdict{}
	}
	return e.Verdict
}

// judged is a text of the verdict.
func judged(at func(*gclog.Verdict) *string) Value[gclog.End] {
	return Value[gclog.End]{
		Text: func(e *gclog.End) string {
			if e.Verdict == nil {
				return ""
			}
			return *at(e.Verdict)
		},
		SetText: func(e *gclog.End, text []byte) bool {
			*at(verdictOf(e)) = string(text)
			return true
		},
	}
}

// judgedNumber is a number of the verdict.
func judgedNumber(get func(*gclog.Verdict) (uint64, bool), set func(*gclog.Verdict, uint64)) Value[gclog.End] {
	return Value[gclog.End]{
		Get: func(e *gclog.End) (uint64, bool) {
			if e.Verdict == nil {
				return 0, false
			}
			return get(e.Verdict)
		},
		Set: func(e *gclog.End, v uint64) { set(verdictOf(e), v) },
		Max: math.MaxUint64,
	}
}
