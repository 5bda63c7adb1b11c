package kibana

import "strings"

// pausedSeconds is computed by Elasticsearch at the time of the query: its sum per second is the
// share of the time that a program was paused.
const pausedSeconds = "gclog_paused_seconds"

// newDataView returns the data view of the records. fields are those of the mapping, whose units
// say how they are shown.
func newDataView(fields []string) savedObject {
	formats := object{}
	for _, name := range fields {
		switch {
		case strings.HasSuffix(name, ".ns") || name == "event.duration":
			formats[name] = object{"id": "duration", "params": object{"inputFormat": "nanoseconds", "outputFormat": "humanizePrecise", "outputPrecision": 1, "useShortSuffix": true, "includeSpaceWithSuffix": true}}
		case strings.HasSuffix(name, ".bytes"):
			formats[name] = object{"id": "bytes"}
		case strings.HasSuffix(name, ".pct"):
			formats[name] = object{"id": "percent", "params": object{"pattern": "0,0.0%"}}
		}
	}
	script := "if (doc.containsKey('dotnet.gc.pause.total.ns') && !doc['dotnet.gc.pause.total.ns'].empty) { emit(doc['dotnet.gc.pause.total.ns'].value / 1e9); }"
	return newObject("index-pattern", dataView, object{
		"title": "logs-dotnet.gc-*", "name": ".NET GC", "timeFieldName": "@timestamp", "fieldFormatMap": text(formats),
		"runtimeFieldMap": text(object{pausedSeconds: object{"type": "double", "script": object{"source": script}}}),
		"fieldAttrs":      "{}", "fields": "[]", "sourceFilters": "[]", "typeMeta": "{}",
	})
}

const gcs = `event.action: "gc"`

var (
	byGeneration = &split{label: "Generation", fields: []string{"dotnet.gc.generation"}, number: true, size: 3}
	byProcess    = &split{label: "Process", fields: []string{"service.name", "host.name", "process.pid"}, size: 10}
)

var charts = []chart{
	{
		id: "gclog-pause-max", title: "Longest pauses by generation", kql: gcs, kind: "line", by: byGeneration,
		description: "The longest pause of each interval; a background collection has two pauses, which count together.",
		metrics:     []metric{{label: "longest pause", operation: "max", field: "dotnet.gc.pause.total.ns"}},
	},
	{
		id: "gclog-pause-p99", title: "p99 pauses by generation", kql: gcs, kind: "line", by: byGeneration,
		description: "99% of the pauses are shorter.",
		metrics:     []metric{{label: "p99 pause", operation: "percentile", field: "dotnet.gc.pause.total.ns"}},
	},
	{
		id: "gclog-paused", title: "Time paused", kql: gcs, kind: "line", by: byProcess,
		description: "Share of the time that a process was paused for collections, for the ten processes where it is highest. Under load 5% or less is normal.",
		metrics:     []metric{{label: "paused", operation: "sum", field: pausedSeconds, per: "s", format: "percent"}},
	},
	{
		id: "gclog-heap", title: "Heap after collections by generation", kql: gcs, kind: "area_stacked",
		description: "Free space included: the average of the collections in each interval. Select one process.",
		metrics: []metric{
			{label: "gen0", operation: "average", field: "dotnet.gc.gen0.after.bytes"},
			{label: "gen1", operation: "average", field: "dotnet.gc.gen1.after.bytes"},
			{label: "gen2", operation: "average", field: "dotnet.gc.gen2.after.bytes"},
			{label: "large objects", operation: "average", field: "dotnet.gc.loh.after.bytes"},
			{label: "pinned objects", operation: "average", field: "dotnet.gc.poh.after.bytes"},
		},
	},
	{
		id: "gclog-allocation", title: "Allocation rate", kql: gcs, kind: "line", by: byProcess,
		description: "Bytes that a process allocates per second, for the ten processes that allocate most.",
		metrics:     []metric{{label: "allocated per second", operation: "sum", field: "dotnet.gc.allocated.bytes", per: "s", format: "bytes"}},
	},
	{
		id: "gclog-reasons", title: "Reasons for collections", kql: gcs, kind: "bar_stacked",
		description: "Number of collections by the reason that the runtime reports.",
		by:          &split{label: "Reason", fields: []string{"dotnet.gc.reason"}, size: 10},
		metrics:     []metric{{label: "collections", operation: "count"}},
	},
	{
		id: "gclog-ends", title: "Processes that ended", kql: `event.action: "gc-session-end" and not event.reason: (detached or stream-error or end-of-recording)`, kind: "bar_stacked",
		description: "By how. Oom-killed: the kernel killed it because memory ran out; aborted: nothing handled an exception.",
		by:          &split{label: "How", fields: []string{"event.reason"}, size: 10},
		metrics:     []metric{{label: "processes", operation: "count"}},
	},
	{
		id: "gclog-losses", title: "Gaps and losses", kql: `event.action: "gc-gap"`, kind: "bar_stacked",
		description: "Gaps by their reason: what is missing in the log. No bar is good.",
		by:          &split{label: "Reason", fields: []string{"dotnet.gc.gap.reason"}, size: 10},
		metrics:     []metric{{label: "gaps", operation: "count"}},
	},
	{
		id: "gclog-lost-events", title: "Lost events and records", kql: `event.action: "gc-gap"`, kind: "bar_stacked",
		description: "Events that runtimes dropped, and records that gclog dropped.",
		metrics: []metric{
			{label: "events", operation: "sum", field: "dotnet.gc.gap.lost_events.count"},
			{label: "records", operation: "sum", field: "dotnet.gc.gap.records.count"},
		},
	},
}

var lists = []list{
	{
		id: "gclog-longest", title: "The 50 longest pauses", kql: gcs, sortBy: "dotnet.gc.pause.total.ns",
		description: "gclog explain, with the number of the collection, says where the time went.",
		columns: []string{
			"service.name", "host.name", "process.pid", "dotnet.gc.number", "dotnet.gc.generation", "dotnet.gc.type", "dotnet.gc.reason",
			"dotnet.gc.pause.total.ns", "dotnet.gc.suspend.ns", "dotnet.gc.heap.before.bytes", "dotnet.gc.heap.after.bytes", "dotnet.gc.heap.promoted.bytes",
		},
	},
	{
		id: "gclog-events", title: "Stalls, gaps, starts and ends", sortBy: "@timestamp",
		kql:         `event.action: ("gc-stall" or "gc-gap" or "gc-session-start" or "gc-session-end" or "gc-heap-growth")`,
		description: "Everything but collections and summaries.",
		columns:     []string{"log.level", "event.action", "event.reason", "service.name", "host.name", "process.pid", "message"},
	},
}

// objects returns everything that is imported, what is referred to first.
func objects(fields []string) []savedObject {
	all := []savedObject{newDataView(fields)}
	built := map[string]savedObject{}
	for _, c := range charts {
		built[c.id] = c.build()
		all = append(all, built[c.id])
	}
	for _, l := range lists {
		built[l.id] = l.build()
		all = append(all, built[l.id])
	}
	at := func(id string, width, height int) tile { return tile{built[id], width, height} }
	return append(all, newDashboard("gclog-dashboard", ".NET GC", "The garbage collections that gclog records.",
		[]control{{"Namespace", "orchestrator.namespace"}, {"Service", "service.name"}, {"Host", "host.name"}, {"Generation", "dotnet.gc.generation"}},
		[]tile{
			at("gclog-pause-max", 24, 12), at("gclog-pause-p99", 24, 12),
			at("gclog-paused", 24, 12), at("gclog-heap", 24, 12),
			at("gclog-allocation", 24, 12), at("gclog-reasons", 24, 12),
			at("gclog-longest", 48, 18),
			at("gclog-ends", 48, 10),
			at("gclog-losses", 24, 10), at("gclog-lost-events", 24, 10),
			at("gclog-events", 48, 14),
		}))
}
