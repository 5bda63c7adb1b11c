package rules

import (
	"math"
	"slices"
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

var makers = [...]func() []field{
	OnGC:      ofCollection,
	OnPause:   ofPause,
	OnStall:   ofStall,
	OnGap:     ofGap,
	OnFinding: ofFinding,
	OnExit:    ofExit,
}

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
		ofGC := func(e *event) *gclog.GCDetails { return e.gc }
		if x, ok := fromTable(strings.TrimSuffix(name, ".bytes_per_s"), &f, ofGC); ok {
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
func fromTable[R any](name string, f *fields.Row[R], of func(*event) *R) (x field, ok bool) {
	if f.Text != nil {
		values, get := f.Values, f.Text
		if values == nil {
			values = textValues[name]
		}
		return textual(name, f.Doc, values, func(e *event) string { return get(of(e)) }), true
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
		v, known := get(of(e))
		return float64(v), known
	}
	switch f.Unit {
	case fields.Percent, fields.ExactPercent, fields.Ratio:
		number = func(e *event) (float64, bool) {
			v, known := get(of(e))
			return math.Float64frombits(v), known
		}
	}
	x = numeric(name, unit, f.Doc, number)
	if f.Unit == fields.Flag {
		x = flag(name, f.Doc, func(e *event) (set, known bool) {
			v, known := get(of(e))
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

// pick returns the fields of a record with these paths.
func pick[R any](list []fields.Row[R], of func(*event) *R, paths ...string) (all []field) {
	for _, path := range paths {
		f := list[slices.IndexFunc(list, func(f fields.Row[R]) bool { return f.JSON == path })]
		f.Doc, _, _ = strings.Cut(f.Doc, ":") // names follow, which the field has as its values
		x, _ := fromTable(strings.TrimSuffix(path, ".ns"), &f, of)
		all = append(all, x)
	}
	return all
}

func ofPause() []field {
	collection := func(e *event) *gclog.GCDetails {
		if e.gc == nil {
			return &gclog.GCDetails{}
		}
		return e.gc
	}
	return []field{
		numeric("pause", "ns", "how long the program was paused",
			func(e *event) (float64, bool) { return float64(e.pause().Duration), true }),
		numeric("suspend", "ns", "of it, the time to suspend all threads",
			func(e *event) (float64, bool) { return float64(e.pause().Suspend), e.pause().HasSuspend }),
		numeric("resume", "ns", "of it, the time to resume them",
			func(e *event) (float64, bool) { return float64(e.pause().Resume), e.pause().HasResume }),
		textual("kind", "what the program was paused for; the last four are not of a collection",
			names(gclog.PauseBlocking, gclog.PauseInitial, gclog.PauseFinal, gclog.PauseNoGCRegion,
				gclog.PauseHeapCount,
				gclog.PauseMemoryLimit, gclog.PauseUnknown),
			func(e *event) string { return e.pause().Kind.String() }),
		numeric("number", "", "the number of the collection", func(e *event) (float64, bool) {
			d := collection(e)
			return float64(d.Number), d.Known.Has(gclog.GroupNumber)
		}),
		numeric("generation", "", "its generation", func(e *event) (float64, bool) {
			d := collection(e)
			return float64(d.Generation), d.Known.Has(gclog.GroupNumber)
		}),
		textual("type", "how it runs: blocking, background or foreground", textValues["type"], func(e *event) string {
			if e.gc == nil {
				return ""
			}
			return e.gc.Kind.String()
		}),
		textual("reason", "why it was started", textValues["reason"], func(e *event) string {
			if !collection(e).Known.Has(gclog.GroupReason) {
				return ""
			}
			return e.gc.Reason.String()
		}),
	}
}

func ofStall() []field {
	return pick(fields.Stall(), (*event).stall, "stall.ns", "stall.threshold", "stall.kind", "number", "generation",
		"type", "reason")
}

func ofGap() []field {
	return pick(fields.Gap(), (*event).gap, "gap.reason", "gap.lost_events", "gap.records", "gap.from", "gap.to")
}

func ofFinding() []field {
	var ids []string
	for _, r := range analysis.Rules() {
		ids = append(ids, r.ID)
	}
	return []field{
		textual("rule", "the rule of the finding (docs/findings.md)", ids,
			func(e *event) string { return e.finding.Rule.ID }),
		textual("severity", "how serious it is", names(analysis.Info, analysis.Warning, analysis.Error),
			func(e *event) string { return e.finding.Severity.String() }),
	}
}

func ofExit() []field {
	return []field{
		textual("event.reason", "how the process ended", names(gclog.EndsOfProcess[:]...),
			func(e *event) string { return e.end().Reason.String() }),
		numeric("process.exit_code", "", "its exit code",
			func(e *event) (float64, bool) { return float64(e.end().ExitCode), e.end().HasCode }),
		numeric("process.exit_signal", "", "the signal that ended it",
			func(e *event) (float64, bool) { return float64(e.end().Signal), e.end().Signal != 0 }),
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
