package rules

import (
	"math"
	"strings"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/formats/fields"
	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/gclog/analysis"
	"github.com/gclog/gclog/internal/condition"
	"github.com/gclog/gclog/parse/clr"
)

// The names of fields are their paths in JSON records, below dotnet.gc if they are there, without
// the unit. The total of a pause is just pause.

var makers = [...]func() []field{OnGC: ofCollection, OnPause: ofPause, OnStall: ofStall, OnGap: ofGap, OnFinding: ofFinding, OnExit: ofExit}

func numeric(name, unit, about string, get func(*event) (float64, bool)) field {
	return field{Field: condition.Field{Name: name, Unit: unit}, about: about, number: get}
}

func flag(name, about string, get func(*event) (set, known bool)) field {
	f := numeric(name, "", about, func(e *event) (float64, bool) {
		set, known := get(e)
		if set {
			return 1, known
		}
		return 0, known
	})
	f.Type = condition.Flag
	return f
}

func textual(name, about string, values []string, get func(*event) string) field {
	return field{Field: condition.Field{Name: name, Type: condition.Text, Values: values}, about: about, text: get}
}

// ofCollection returns the fields of a collection: those of the table of formats/fields that have a
// single value, and some that depend on the process too.
func ofCollection() (list []field) {
	for _, f := range fields.All() {
		name := f.JSON
		if special, ok := outsideGC[f.CSV]; ok {
			name = special
		}
		if name == "" || strings.ContainsAny(name, "[*") {
			continue
		}
		if x, ok := fromTable(strings.TrimSuffix(name, ".bytes_per_s"), &f); ok {
			list = append(list, x)
			if x.Name == "pause.total" {
				x.Name = "pause"
				list = append([]field{x}, list...)
			}
		}
	}
	return append(list,
		textual("reason_group", "the group of the reason", formats.ReasonGroups, func(e *event) string {
			if !e.gc.Known.Has(gclog.GroupReason) {
				return ""
			}
			return formats.ReasonGroup(e.gc.Reason)
		}),
		flag("server", "the process uses server GC", func(e *event) (set, known bool) {
			return e.process.Server == gclog.Yes, e.process.Server != gclog.Unknown
		}),
		flag("concurrent", "background collections are enabled", func(e *event) (set, known bool) {
			return e.process.Concurrent == gclog.Yes, e.process.Concurrent != gclog.Unknown
		}),
		numeric("hard_limit", "bytes", "the limit of the heap", func(e *event) (float64, bool) {
			n := e.process.Limits.HardLimit
			return float64(n), e.process.HasLimits && n > 0
		}),
	)
}

// outsideGC are the fields whose JSON path is not below dotnet.gc, by their columns.
var outsideGC = map[string]string{
	"DurationInMilliSeconds": "event.duration",
	"Resident":               "process.memory.rss",
	"CgroupMemory":           "process.cgroup.memory.usage",
	"CgroupLimit":            "process.cgroup.memory.limit",
}

// unitsOf are the units of conditions, of those fields that can be compared.
var unitsOf = map[fields.Unit]string{
	fields.Number: "", fields.Signed: "", fields.Count: "", fields.Ratio: "", fields.Flag: "",
	fields.Bytes: "bytes", fields.PlainBytes: "bytes", fields.Nanoseconds: "ns", fields.PlainNanoseconds: "ns",
	fields.WholePercent: "%", fields.Percent: "%", fields.ExactPercent: "%",
}

// fromTable returns a field of the table, if it has a single value that can be compared.
func fromTable(name string, f *fields.Field) (x field, ok bool) {
	if f.Text != nil {
		get := f.Text
		return textual(name, f.Doc, textValues[name], func(e *event) string { return get(e.gc) }), true
	}
	unit, ok := unitsOf[f.Unit]
	if !ok || f.Get == nil {
		return x, false
	}
	if name == "alloc_rate" {
		unit = "bytes/s"
	}
	get := f.Get
	number := func(e *event) (float64, bool) {
		v, known := get(e.gc)
		return float64(v), known
	}
	switch f.Unit {
	case fields.Percent, fields.ExactPercent, fields.Ratio:
		number = func(e *event) (float64, bool) {
			v, known := get(e.gc)
			return math.Float64frombits(v), known
		}
	}
	x = numeric(name, unit, f.Doc, number)
	if f.Unit == fields.Flag {
		x = flag(name, f.Doc, func(e *event) (set, known bool) {
			v, known := get(e.gc)
			return v != 0 && known, known || v != 0 // logs contain some flags only if they are set
		})
	}
	return x, true
}

// textValues are the values of texts, where there are only these.
var textValues = map[string][]string{
	"type":         names(gclog.KindBlocking, gclog.KindBackground, gclog.KindForeground),
	"reason":       reasons(),
	"heap_dump_by": names(gclog.RequesterOther, gclog.RequesterGclog),
}

func names[T interface{ String() string }](list ...T) (all []string) {
	for _, x := range list {
		all = append(all, x.String())
	}
	return all
}

func reasons() (all []string) {
	for r := clr.Reason(0); r.Known(); r++ {
		all = append(all, r.String())
	}
	return all
}

// identity returns the fields of the collection that something is about, as far as it is known.
func identity(of func(*event) (number uint32, hasNumber bool, generation int, kind string, reason string)) []field {
	return []field{
		numeric("number", "", "the number of the collection", func(e *event) (float64, bool) {
			n, known, _, _, _ := of(e)
			return float64(n), known
		}),
		numeric("generation", "", "its generation", func(e *event) (float64, bool) {
			_, known, g, _, _ := of(e)
			return float64(g), known
		}),
		textual("type", "how it runs: blocking, background or foreground", textValues["type"], func(e *event) string {
			_, _, _, kind, _ := of(e)
			return kind
		}),
		textual("reason", "why it was started", textValues["reason"], func(e *event) string {
			_, _, _, _, reason := of(e)
			return reason
		}),
	}
}

func ofPause() []field {
	return append([]field{
		numeric("pause", "ns", "how long the program was paused", func(e *event) (float64, bool) { return float64(e.pause().Duration), true }),
		numeric("suspend", "ns", "of it, the time to suspend all threads", func(e *event) (float64, bool) { return float64(e.pause().Suspend), e.pause().HasSuspend }),
		numeric("resume", "ns", "of it, the time to resume them", func(e *event) (float64, bool) { return float64(e.pause().Resume), e.pause().HasResume }),
		textual("kind", "what the program was paused for; the last four are not of a collection", names(gclog.PauseBlocking, gclog.PauseInitial, gclog.PauseFinal, gclog.PauseNoGCRegion, gclog.PauseHeapCount, gclog.PauseMemoryLimit, gclog.PauseUnknown),
			func(e *event) string { return e.pause().Kind.String() }),
	}, identity(func(e *event) (uint32, bool, int, string, string) {
		d := e.gc
		if d == nil {
			return 0, false, 0, "", ""
		}
		reason := ""
		if d.Known.Has(gclog.GroupReason) {
			reason = d.Reason.String()
		}
		return d.Number, d.Known.Has(gclog.GroupNumber), d.Generation, d.Kind.String(), reason
	})...)
}

func ofStall() []field {
	return append([]field{
		numeric("stall", "ns", "how long it has been in progress", func(e *event) (float64, bool) {
			return float64(max(0, e.stall().Now-e.stall().Since)), true
		}),
		numeric("stall.threshold", "ns", "the threshold that it exceeded: 1, 10 or 60 s", func(e *event) (float64, bool) { return float64(e.stall().Threshold), true }),
		textual("stall.kind", "what has not ended: the suspension of the program, or a collection", names(gclog.OpenSuspension, gclog.OpenGC),
			func(e *event) string { return e.stall().Kind.String() }),
	}, identity(func(e *event) (uint32, bool, int, string, string) {
		s := e.stall()
		if !s.HasNumber {
			return 0, false, 0, "", ""
		}
		reason := ""
		if s.HasReason {
			reason = s.Reason.String()
		}
		return s.Number, true, s.Generation, formats.GCTypeName(s.Type), reason
	})...)
}

func ofGap() []field {
	return []field{
		textual("gap.reason", "why something is missing", names(gclog.GapLostEvents, gclog.GapMissedGCs, gclog.GapReattached, gclog.GapQueueFull, gclog.GapUnwritten, gclog.GapInternal, gclog.GapStopped),
			func(e *event) string { return e.gap().Reason.String() }),
		numeric("gap.lost_events", "", "how many events the runtime dropped", func(e *event) (float64, bool) { return float64(e.gap().LostEvents), e.gap().LostEvents > 0 }),
		numeric("gap.records", "", "how many records gclog dropped", func(e *event) (float64, bool) { return float64(e.gap().Records), e.gap().Records > 0 }),
		numeric("gap.from", "", "the first collection that is missing", func(e *event) (float64, bool) { return float64(e.gap().From), e.gap().To != 0 }),
		numeric("gap.to", "", "the last one", func(e *event) (float64, bool) { return float64(e.gap().To), e.gap().To != 0 }),
	}
}

func ofFinding() []field {
	var ids []string
	for _, r := range analysis.Rules() {
		ids = append(ids, r.ID)
	}
	return []field{
		textual("rule", "the rule of the finding (docs/findings.md)", ids, func(e *event) string { return e.finding.Rule.ID }),
		textual("severity", "how serious it is", names(analysis.Info, analysis.Warning, analysis.Error), func(e *event) string { return e.finding.Severity.String() }),
	}
}

func ofExit() []field {
	return []field{
		textual("event.reason", "how the process ended", names(gclog.EndsOfProcess[:]...),
			func(e *event) string { return e.end().Reason.String() }),
		numeric("process.exit_code", "", "its exit code", func(e *event) (float64, bool) { return float64(e.end().ExitCode), e.end().HasCode }),
		numeric("process.exit_signal", "", "the signal that ended it", func(e *event) (float64, bool) { return float64(e.end().Signal), e.end().Signal != 0 }),
	}
}

// ofProcess returns the fields that all kinds have.
func ofProcess() (list []field) {
	for _, f := range fields.Process() {
		_, unit := unitsOf[f.Unit]
		switch {
		case strings.HasPrefix(f.JSON, fields.Settings) || f.JSON == "host.name":
		case f.SetText != nil:
			list = append(list, textual(f.JSON, f.Doc, nil, func(e *event) string { return f.Text(e.process) }))
		case unit:
			list = append(list, numeric(f.JSON, "", f.Doc, func(e *event) (float64, bool) {
				v, known := f.Get(e.process)
				return float64(int64(v)), known
			}))
		}
	}
	return append(list, textual("host.name", "the host", nil, func(e *event) string { return e.host }))
}
