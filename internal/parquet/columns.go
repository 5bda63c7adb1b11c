// Package parquet writes the records of many processes as one table in Parquet files, for engines
// such as DuckDB, ClickHouse and Spark. A row is a collection, or another fact that counts collections
// or explains their absence: a suspension without a collection, a stall, a gap, the start or the end
// of a session.
//
// Columns returns the columns. A Recorder is the observer of a process: it encodes each record as a row of
// few hundred bytes, without what is unknown (rows.go). A Sorter brings any number of rows into the
// order of the files, in constant memory, and passes them on to the files (sorter.go, files.go,
// file.go). Convert-like commands feed a Sorter directly; the daemon appends rows to a journal first
// (journal.go, output.go), because a Parquet file is nothing before its end is written.
package parquet

import (
	"math"
	"slices"
	"strings"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/formats/fields"
	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/parse/clr"
)

// Schema is the version of the table: a new minor version adds columns, a new major version changes
// them.
const Schema = "1.1"

// A Type is the type of a column's values.
type Type uint8

// The types. In a row all of them but texts are 64 bits.
const (
	Integer   Type = iota
	Double         // the bits of a float64
	Flag           // 0 or 1
	Timestamp      // nanoseconds since 1970; microseconds in files, because Spark reads no nanoseconds
	Text
	Texts  // a list
	Labels // a map
)

var typeNames = [...]string{"integer", "double", "boolean", "timestamp", "text", "list of text", "map of text"}

func (t Type) String() string { return typeNames[t] }

// A Column is a column of the table.
type Column struct {
	Name string // the path in JSON records without "dotnet.", with _ for each dot
	Type Type
	Unit string // "" if it has none
	Doc  string
	In   string // the records that have it: all, or one of the values of event_action

	signed bool // values may be negative
	// What gets the value: of a process, if all of its rows have the same.
	ofProcess     func(*Process) (v uint64, known bool)
	textOfProcess func(*Process) string
	labels        func(*Process) map[string]string
	// Of a fact; field if the record of a collection has it as it is.
	field func(*gclog.GCDetails) (v uint64, known bool)
	get   func(*fact) (v uint64, known bool)
	text  func(*fact) string
	list  func(*fact, []string) (names []string, known bool)
}

// The actions: what the records are.
const (
	actionGC = iota
	actionStart
	actionEnd
	actionGap
	actionSuspension
	actionStall
	actions
)

// actionNames are the values of event_action, as in JSON records.
var actionNames = [actions]string{"gc", "gc-session-start", "gc-session-end", "gc-gap", "gc-suspension", "gc-stall"}

// A fact is what a row is about.
type fact struct {
	process *Process
	record  gclog.Record
	gc      *gclog.GCDetails // record, if it is that of a collection
	lost    uint64           // events lost since the record of the previous collection

	decision decision
}

func (f *fact) end() *gclog.End     { return f.record.(*gclog.End) }
func (f *fact) gap() *gclog.Gap     { return f.record.(*gclog.Gap) }
func (f *fact) pause() *gclog.Pause { return f.record.(*gclog.Pause) }
func (f *fact) stall() *gclog.Stall { return f.record.(*gclog.Stall) }

// A decision is why the generation of a collection was condemned: it is not computed for each column.
type decision struct {
	of         *gclog.GCDetails
	steps      clr.CondemnedGenerations
	conditions clr.Condemned
	known      bool
}

func (f *fact) condemned() *decision {
	if d := &f.decision; d.of != f.gc {
		d.of = f.gc
		d.steps, d.conditions, d.known = f.gc.Condemned()
	}
	return &f.decision
}

// action returns what the fact is.
func (f *fact) action() int {
	switch f.record.(type) {
	case *gclog.GCDetails:
		return actionGC
	case *gclog.Start:
		return actionStart
	case *gclog.End:
		return actionEnd
	case *gclog.Gap:
		return actionGap
	case *gclog.Pause:
		return actionSuspension
	}
	return actionStall
}

// at returns when it happened, in nanoseconds since the sync point: the same as @timestamp in JSON.
func (f *fact) at() int64 {
	at, _ := f.record.When()
	return at
}

// time returns a time stamp as nanoseconds since 1970.
func (f *fact) time(at int64) uint64 { return uint64(f.process.sync + at) }

// Columns returns the columns of the table, in the order of the files.
func Columns() []Column { return table }

var table = slices.Concat(identity, ofAll(), collections(), ofEnd, ofVerdict(),
	ofRecord(actionGap, 4, fields.Gap(), (*fact).gap),
	ofRecord(actionSuspension, 0, ofSuspension(), (*fact).pause),
	ofRecord(actionStall, 4, fields.Stall(), (*fact).stall))

// Columns that rows have besides those below: the writer of files fills them in.
const (
	columnTime   = 0
	columnAction = 1
	columnID     = 2
)

const all = "all"

var identity = []Column{
	{
		Name: "timestamp", Type: Timestamp, Unit: "UTC", In: all,
		Doc: "when the pause started; for other records, when it happened",
	},
	{
		Name: "event_action", Type: Text, In: all,
		Doc: "what the record is: gc, gc-suspension (without a collection), gc-stall, gc-gap, gc-session-start, " +
			"gc-session-end",
	},
	{Name: "gclog_doc_id", Type: Text, In: all, Doc: "identifies the fact: equal in each file that has it"},
}

// notOfProcess are the facts that are no columns: others have the same, or the record of each
// collection has them.
var notOfProcess = []string{
	"host.hostname", "orchestrator.type", "orchestrator.resource.type",
	fields.Settings + "server", fields.Settings + "concurrent", fields.Settings + "hard_limit",
}

// ofAll returns the columns about the process.
func ofAll() (list []Column) {
	for _, f := range fields.Process() {
		if slices.Contains(notOfProcess, f.JSON) {
			continue
		}
		c := column(strings.TrimPrefix(f.JSON, "dotnet."), f.Unit, f.Doc, all)
		switch {
		case f.JSON == "service.name":
			c.Doc += "; without one, the name of the process"
			c.textOfProcess = (*Process).service
		case f.Text != nil:
			c.textOfProcess = func(p *Process) string { return f.Text(&p.Process) }
		default:
			c.ofProcess = factOf(&f)
		}
		list = append(list, c)
	}
	return append(list, Column{
		Name:   "labels",
		Type:   Labels,
		In:     all,
		Doc:    "labels of the configuration",
		labels: func(p *Process) map[string]string { return p.Labels },
	})
}

// factOf returns what gets the value of a column from a fact about the process.
func factOf(f *fields.Fact) func(*Process) (uint64, bool) {
	get, convert := f.Get, converters[f.Unit]
	if convert == nil {
		return func(p *Process) (uint64, bool) { return get(&p.Process) }
	}
	return func(p *Process) (uint64, bool) {
		v, known := get(&p.Process)
		return convert(v), known
	}
}

// setting is factOf for a setting of the garbage collector.
func setting(name string) func(*Process) (uint64, bool) {
	return factOf(&fields.Process()[fields.FactAt(fields.Settings+name)])
}

// ofProcess are the fields of a collection that are the same for all of a process.
var ofProcess = map[string]func(*Process) (uint64, bool){
	"server":     setting("server"),
	"concurrent": setting("concurrent"),
	"hard_limit": func(p *Process) (uint64, bool) { return p.Limits.HardLimit, p.HasLimits && p.Limits.HardLimit > 0 },
}

// special are the fields that the table of fields only describes.
var special = map[string]Column{
	"reason_group": {text: func(f *fact) string {
		if !f.gc.Known.Has(gclog.GroupReason) {
			return ""
		}
		return formats.ReasonGroup(f.gc.Reason)
	}},
	"mechanisms[]": {list: func(f *fact, names []string) ([]string, bool) {
		return f.gc.Global.Mechanisms.Names(names), f.gc.Known.Has(gclog.GroupGlobal)
	}},
	"flaws[]": {list: func(f *fact, names []string) ([]string, bool) {
		return f.gc.Flaws.Names(names), f.gc.Flaws != 0
	}},
	"condemned.reasons[]": {list: func(f *fact, names []string) ([]string, bool) {
		d := f.condemned()
		return d.conditions.Names(names), d.known
	}},
	"condemned.initial":         {get: condemned(clr.CondemnedGenerations.Initial)},
	"condemned.final":           {get: condemned(clr.CondemnedGenerations.Final)},
	"condemned.budget_exceeded": {get: condemned(clr.CondemnedGenerations.BudgetExceeded)},
	"condemned.time_tuning":     {get: condemned(clr.CondemnedGenerations.TimeTuning)},
	"loh_compaction.plan":       {get: slowest(func(c *clr.LOHCompact) uint32 { return c.PlanMicroseconds })},
	"loh_compaction.relocate":   {get: slowest(func(c *clr.LOHCompact) uint32 { return c.RelocateMicroseconds })},
	"loh_compaction.compact":    {get: slowest(func(c *clr.LOHCompact) uint32 { return c.CompactMicroseconds })},
	"loh_compaction.references": {get: func(f *fact) (sum uint64, known bool) {
		for i := range f.gc.LOHCompactions {
			sum += f.gc.LOHCompactions[i].TotalRefs
		}
		return sum, len(f.gc.LOHCompactions) > 0
	}},
	"lost_events.count": {get: func(f *fact) (uint64, bool) { return f.lost, f.lost > 0 }},
	"lost_events.within": {get: func(f *fact) (uint64, bool) {
		return f.gc.LostEvents, f.gc.LostEvents != f.lost && f.gc.Flaws&gclog.FlawLostEvents != 0
	}},
}

func condemned(part func(clr.CondemnedGenerations) int) func(*fact) (uint64, bool) {
	return func(f *fact) (uint64, bool) {
		d := f.condemned()
		return uint64(part(d.steps)), d.known
	}
}

func slowest(part func(*clr.LOHCompact) uint32) func(*fact) (uint64, bool) {
	return func(f *fact) (longest uint64, known bool) {
		for i := range f.gc.LOHCompactions {
			longest = max(longest, uint64(part(&f.gc.LOHCompactions[i]))*1000)
		}
		return longest, len(f.gc.LOHCompactions) > 0
	}
}

// A unit is how the values of a unit of the table of fields are in a column.
type unit struct {
	name string
	kind Type
	tail string // the last part of the column's name
}

var units = map[fields.Unit]unit{
	fields.Number: {}, fields.Signed: {}, fields.Date: {name: "UTC", kind: Timestamp}, fields.Count: {tail: "_count"},
	fields.Bytes: {"bytes", Integer, "_bytes"}, fields.PlainBytes: {name: "bytes"},
	fields.Nanoseconds: {"ns", Integer, "_ns"}, fields.PlainNanoseconds: {name: "ns"},
	fields.Time: {name: "UTC", kind: Timestamp}, fields.WholePercent: {"1", Double, "_pct"},
	fields.Percent: {"1", Double, "_pct"}, fields.ExactPercent: {"1", Double, "_pct"}, fields.Ratio: {kind: Double},
	fields.Flag: {kind: Flag}, fields.Text: {kind: Text}, fields.Texts: {kind: Texts},
}

// converters turn the values of units of the table of fields into those of columns, where these differ.
var converters = map[fields.Unit]func(uint64) uint64{
	fields.WholePercent: func(v uint64) uint64 { return math.Float64bits(float64(v) / 100) },
	fields.Percent: func(v uint64) uint64 { // with four decimals, as in JSON
		return math.Float64bits(math.Round(math.Float64frombits(v)*100) / 1e4)
	},
	fields.ExactPercent:     func(v uint64) uint64 { return math.Float64bits(math.Float64frombits(v) / 100) },
	fields.Nanoseconds:      span,
	fields.PlainNanoseconds: span,
}

func span(v uint64) uint64 { return uint64(max(0, int64(v))) }

// collections returns the columns of collections: the fields of JSON records that have a single
// value, and the lists of names that do not depend on the number of heaps or pauses.
func collections() (list []Column) {
	gc := actionNames[actionGC]
	list = append(list, Column{
		Name: "event_start", Type: Timestamp, Unit: "UTC", In: gc, Doc: "the start of the collection",
		get: func(f *fact) (uint64, bool) { return f.time(f.gc.Start), f.gc.Flaws&gclog.FlawNoStart == 0 },
	})
	list = append(list, Column{
		Name: "event_end", Type: Timestamp, Unit: "UTC", In: gc, Doc: "its end",
		get: func(f *fact) (uint64, bool) { return f.time(f.gc.End), f.gc.Known.Has(gclog.GroupEnd) },
	})
	list = append(list, Column{
		Name: "event_duration", Type: Integer, Unit: "ns", In: gc,
		Doc: "from its start to its end: for a background collection that is not its pause",
		get: func(f *fact) (uint64, bool) {
			return uint64(f.gc.Duration()), f.gc.Flaws&gclog.FlawNoStart == 0 && f.gc.Known.Has(gclog.GroupEnd)
		},
	})
	for _, field := range fields.All() {
		name, isList := strings.CutSuffix(field.JSON, "[]")
		get, isSpecial := special[field.JSON]
		of := ofProcess[field.JSON]
		if name == "" || strings.ContainsAny(name, "[*") || isList && !isSpecial {
			continue
		}
		c := column("gc_"+name, field.Unit, field.Doc, gc)
		switch {
		case of != nil:
			c.ofProcess, c.In = of, all
		case isSpecial:
			c.get, c.text, c.list = get.get, get.text, get.list
		case field.Text != nil:
			c.text = func(f *fact) string { return field.Text(f.gc) }
		case field.Unit == fields.Time || converters[field.Unit] != nil:
			c.get = value(&field, func(f *fact) *gclog.GCDetails { return f.gc })
		default:
			c.field = field.Get
		}
		list = append(list, c)
	}
	memory := func(name, doc string, get func(*gclog.Memory) uint64) {
		list = append(list, Column{Name: name, Unit: "bytes", Doc: doc, In: gc, get: func(f *fact) (uint64, bool) {
			v := get(&f.gc.Memory)
			return v, v > 0
		}})
	}
	memory("process_memory_rss_bytes", "the physical memory of the process",
		func(m *gclog.Memory) uint64 { return m.Resident })
	memory("process_cgroup_memory_usage_bytes", "the memory of its control group, page cache included",
		func(m *gclog.Memory) uint64 { return m.Cgroup })
	memory("process_cgroup_memory_limit_bytes", "the limit of the control group",
		func(m *gclog.Memory) uint64 { return m.CgroupLimit })
	return list
}

// value returns what gets the value of a column from a field of a record.
func value[R any](f *fields.Row[R], of func(*fact) *R) func(*fact) (uint64, bool) {
	get, convert := f.Get, converters[f.Unit]
	switch {
	case f.Unit == fields.Time:
		return func(x *fact) (uint64, bool) { v, known := get(of(x)); return x.time(int64(v)), known }
	case convert != nil:
		return func(x *fact) (uint64, bool) { v, known := get(of(x)); return convert(v), known }
	}
	return func(x *fact) (uint64, bool) { return get(of(x)) }
}

var ofEnd = []Column{
	{
		Name: "event_reason", Type: Text, In: "gc-session-end",
		Doc:  "why the session ended: exited, killed, oom-killed, detached and others",
		text: func(f *fact) string { return f.end().Reason.String() },
	},
	{
		Name: "error_message", Type: Text, In: "gc-session-end", Doc: "details of the reason",
		text: func(f *fact) string { return f.end().Message },
	},
	{
		Name: "process_exit_code", signed: true, In: "gc-session-end", Doc: "the exit code of the process",
		get: func(f *fact) (uint64, bool) { return uint64(f.end().ExitCode), f.end().HasCode },
	},
	{
		Name: "process_exit_signal", In: "gc-session-end", Doc: "the signal that killed it",
		get: func(f *fact) (uint64, bool) { return uint64(f.end().Signal), f.end().Signal != 0 },
	},
}

// ofVerdict returns the columns of the verdict at the end of a session.
func ofVerdict() (columns []Column) {
	for _, f := range fields.Verdict() {
		path := strings.TrimSuffix(f.JSON, ".bytes") // the unit's
		columns = append(columns, fieldColumn(path, actionEnd, &f, (*fact).end))
	}
	return columns
}

// ofRecord returns the columns of a record other than a collection: of the fields from first on, which
// are those of its own object, and then of the others.
func ofRecord[R any](action, first int, list []fields.Row[R], of func(*fact) *R) (columns []Column) {
	for _, f := range slices.Concat(list[first:], list[:first]) {
		object, _, _ := strings.Cut(list[len(list)-1].JSON, ".")
		path := "gc_" + object + "_" + strings.TrimPrefix(f.JSON, object+".")
		columns = append(columns, fieldColumn(path, action, &f, of))
	}
	return columns
}

// fieldColumn returns the column of a field of a record.
func fieldColumn[R any](path string, action int, f *fields.Row[R], of func(*fact) *R) Column {
	c := column(path, f.Unit, f.Doc, actionNames[action])
	if f.Text != nil {
		c.text = func(x *fact) string { return f.Text(of(x)) }
	} else {
		c.get = value(f, of)
	}
	return c
}

// ofSuspension returns the fields of a pause without a collection that only it has.
func ofSuspension() []fields.Row[gclog.Pause] {
	return slices.DeleteFunc(slices.Clone(fields.Suspension()),
		func(f fields.Row[gclog.Pause]) bool { return f.Set == nil && f.SetText == nil })
}

// column returns a column of a field.
func column(path string, u fields.Unit, doc, in string) Column {
	x := units[u]
	return Column{
		Name:   strings.ReplaceAll(path, ".", "_") + x.tail,
		Type:   x.kind,
		Unit:   x.name,
		Doc:    doc,
		In:     in,
		signed: u == fields.Signed,
	}
}
