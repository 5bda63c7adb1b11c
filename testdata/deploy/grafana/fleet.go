package grafana

import "github.com/grafana/grafana-foundation-sdk/go/prometheus"

const (
	interval = "$__rate_interval"
	pauses   = "dotnet_gc_pause_duration_seconds"
	// Labels of the processes that the variables select.
	selected = `k8s_namespace_name=~"$namespace", service_name=~"$service", instance=~"$instance"`
	// Labels of gclog's own metrics.
	daemons = `instance=~"$instance"`
)

// services are the labels of a service, and how a chart names it.
var (
	services    = []string{"k8s_namespace_name", "service_name"}
	serviceName = "{{service_name}} {{k8s_namespace_name}}"
	// toService leads from a chart to the dashboard of the service.
	toService = []dataLink{{"Processes of this service", "/d/gclog-service?${datasource:queryparam}&${namespace:queryparam}&var-service=${__field.labels.service_name}&${__url_time_range}"}}
)

// worst is for charts: more lines than these nobody can read.
func worst(expr string) string { return "topk(10, " + expr + ")" }

// fleet compares services.
var fleet = board{
	uid: "gclog-fleet", title: ".NET GC: fleet",
	description: "The garbage collections of all .NET processes that gclog logs, by service.",
	variables: []variable{
		{name: "namespace", label: "Namespace", of: "k8s_namespace_name"},
		{name: "service", label: "Service", of: "service_name", within: `k8s_namespace_name=~"$namespace"`},
		{name: "instance", label: "Node", of: "instance", within: `k8s_namespace_name=~"$namespace", service_name=~"$service"`},
	},
	rows: []row{
		{"Overview", []panel{
			{kind: number(), title: "Processes", width: 3, height: 4, unit: "short",
				description: "Processes whose collections are counted.",
				queries:     []query{{of(selected, "count(dotnet_gc_pause_time_seconds_total{})"), ""}}},
			{kind: number(), title: "Services", width: 3, height: 4, unit: "short",
				description: "Services that these processes belong to.",
				queries:     []query{{of(selected, "count("+sumByService("dotnet_gc_pause_time_seconds_total{}")+")"), ""}}},
			{kind: number(), title: "Worst pause share", width: 3, height: 4, unit: "percentunit", warn: 0.05, alarm: 0.1,
				description: "Share of the time that the process that is paused most was paused for collections. Under load 5% or less is normal.",
				queries:     []query{{of(selected, "max(rate(dotnet_gc_pause_time_seconds_total{}["+interval+"]))"), ""}}},
			{kind: number(), title: "p99 pause", width: 3, height: 4, unit: "s", warn: 0.05, alarm: 0.2,
				description: "99% of all pauses are shorter.",
				queries:     []query{{quantile("0.99", pauses, selected, interval), ""}}},
			{kind: number(), title: "Heaps", width: 3, height: 4, unit: "decbytes",
				description: "Sum of the heaps after the latest collection of each process, free space included.",
				queries:     []query{{of(selected, "sum(dotnet_gc_last_collection_heap_size_bytes{})"), ""}}},
			{kind: number(), title: "Allocation", width: 3, height: 4, unit: "Bps",
				description: "Bytes that all programs allocate per second.",
				queries:     []query{{of(selected, "sum(rate("+allocated+"["+interval+"]))"), ""}}},
			{kind: number(), title: "Highest memory load", width: 3, height: 4, unit: "percentunit", warn: 0.8, alarm: 0.9,
				description: "Share of the memory of a host or container that was in use at the latest collection, where it is highest.",
				queries:     []query{{of(selected, "max(gclog_gc_memory_load_ratio{})"), ""}}},
			{kind: number(), title: "Events lost", width: 3, height: 4, unit: "short", warn: 1,
				description: "Events that runtimes dropped during the time range: some numbers are too small.",
				queries:     []query{{of(selected, "sum(increase(gclog_events_lost_total{}[$__range]))"), ""}}},
			{kind: rows(), title: "By service", width: 24, height: 10, format: prometheus.PromQueryFormatTable, instant: true,
				description: "Over the time range. Sort by a column; the name of a service leads to its processes.",
				columns: []column{
					{name: "Namespace", label: "k8s_namespace_name"},
					{name: "Service", label: "service_name", links: []dataLink{{"Processes of this service", "/d/gclog-service?${datasource:queryparam}&${namespace:queryparam}&var-service=${__value.text}&${__url_time_range}"}}},
					{name: "Processes", unit: "short"},
					{name: "Paused", unit: "percentunit", warn: 0.05, alarm: 0.1},
					{name: "Paused, worst process", unit: "percentunit", warn: 0.05, alarm: 0.1},
					{name: "p99 pause", unit: "s", warn: 0.05, alarm: 0.2},
					{name: "Longest pause", unit: "s", warn: 0.2, alarm: 1},
					{name: "Collections", unit: "ops"},
					{name: "Heap", unit: "decbytes"},
					{name: "Allocation", unit: "Bps"},
					{name: "Memory load", unit: "percentunit", warn: 0.8, alarm: 0.9},
				},
				queries: []query{
					{of(selected, "count by (k8s_namespace_name, service_name) (dotnet_gc_pause_time_seconds_total{})"), ""},
					{of(selected, "avg by (k8s_namespace_name, service_name) (rate(dotnet_gc_pause_time_seconds_total{}[$__range]))"), ""},
					{of(selected, "max by (k8s_namespace_name, service_name) (rate(dotnet_gc_pause_time_seconds_total{}[$__range]))"), ""},
					{quantile("0.99", pauses, selected, "$__range", services...), ""},
					{quantile("1", pauses, selected, "$__range", services...), ""},
					{of(selected, sumByService("rate(dotnet_gc_collections_total{}[$__range])")), ""},
					{of(selected, sumByService("dotnet_gc_last_collection_heap_size_bytes{}")), ""},
					{of(selected, sumByService("rate("+allocated+"[$__range])")), ""},
					{of(selected, "max by (k8s_namespace_name, service_name) (gclog_gc_memory_load_ratio{})"), ""},
				}},
		}},
		{"Pauses", []panel{
			{kind: lines(), title: "Time paused, worst process of a service", width: 12, height: 8, unit: "percentunit", warn: 0.05, alarm: 0.1, links: toService,
				description: "Share of the time that the process was paused for collections, for the ten services where it is highest.",
				queries:     []query{{worst(of(selected, "max by (k8s_namespace_name, service_name) (rate(dotnet_gc_pause_time_seconds_total{}["+interval+"]))")), serviceName}}},
			{kind: logarithmic(), title: "p99 pause by service", width: 12, height: 8, unit: "s", alarm: 0.2, links: toService,
				description: "99% of the pauses of the service are shorter, for the ten services where they are longest. There is no value while a service has no pauses.",
				queries:     []query{{worst(quantile("0.99", pauses, selected, interval, services...)), serviceName}}},
			{kind: heat(), title: "Pauses", width: 12, height: 8, format: prometheus.PromQueryFormatHeatmap,
				description: "Number of pauses by their duration.",
				queries:     []query{{buckets(pauses, selected), "{{le}}"}}},
			{kind: lines(), title: "Blocking gen2 collections by service", width: 12, height: 8, unit: "cpm", links: toService,
				description: "Per minute, for the ten services with most of them. Each pauses the program while its whole heap is collected.",
				queries:     []query{{worst("60 * (" + count(pauses, selected+`, gc_heap_generation="gen2", gc_pause_type="blocking"`, interval, services...) + ")"), serviceName}}},
		}},
		{"Ends", []panel{
			{kind: stacked(), title: "Killed or crashed, by service", width: 24, height: 6, unit: "short", links: toService,
				description: "Processes that did not exit: oom-killed, aborted, crashed or killed, for the ten services with most of them. There is no value while there are none.",
				queries:     []query{{worst(of(selected+`, reason=~"oom-killed|aborted|crashed|killed"`, sumByService("max_over_time(gclog_process_ended{}["+interval+"])"))), serviceName}}},
		}},
		{"Heap", []panel{
			{kind: stacked(), title: "Heap by service", width: 12, height: 8, unit: "decbytes", links: toService,
				description: "Sum over the processes, after the latest collection of each, free space included, for the ten largest services.",
				queries:     []query{{worst(of(selected, sumByService("dotnet_gc_last_collection_heap_size_bytes{}"))), serviceName}}},
			{kind: lines(), title: "Heap after gen2 collections, largest process of a service", width: 12, height: 8, unit: "decbytes", links: toService,
				description: "What full collections leave: if it keeps rising, the program retains more and more objects.",
				queries:     []query{{worst(of(selected, "max by (k8s_namespace_name, service_name) (gclog_gc_last_full_collection_heap_size_bytes{})")), serviceName}}},
			{kind: lines(), title: "Large object heap by service", width: 8, height: 8, unit: "decbytes", links: toService,
				description: "Sum over the processes, free space included.",
				queries:     []query{{worst(of(selected+`, gc_heap_generation="loh"`, sumByService("dotnet_gc_last_collection_heap_size_bytes{}"))), serviceName}}},
			{kind: lines(), title: "Memory load by service", width: 8, height: 8, unit: "percentunit", warn: 0.8, alarm: 0.9, links: toService,
				description: "Share of the memory of the host or container that was in use at the latest collection, in the process where it is highest.",
				queries:     []query{{worst(of(selected, "max by (k8s_namespace_name, service_name) (gclog_gc_memory_load_ratio{})")), serviceName}}},
			{kind: lines(), title: "Used of the heap's limit by service", width: 8, height: 8, unit: "percentunit", warn: 0.8, alarm: 0.9, links: toService,
				description: "Committed memory as a share of the GC's hard limit, in the process where it is highest. Only processes with a limit, as in containers; runtimes before .NET 8 do not report what is committed.",
				queries:     []query{{worst(of(selected, "max by (k8s_namespace_name, service_name) (dotnet_gc_last_collection_memory_committed_size_bytes{} / gclog_gc_heap_hard_limit_bytes{})")), serviceName}}},
		}},
		{"Allocation", []panel{
			{kind: stacked(), title: "Allocation rate by service", width: 12, height: 8, unit: "Bps", links: toService,
				description: "Bytes that the programs allocate per second, for the ten services that allocate most.",
				queries:     []query{{worst(of(selected, sumByService("rate("+allocated+"["+interval+"])"))), serviceName}}},
			{kind: stacked(), title: "Collections by generation", width: 6, height: 8, unit: "ops",
				description: "Per second, of all processes together. Most should be of gen0.",
				queries:     []query{{of(selected, "sum by (gc_heap_generation) (rate(dotnet_gc_collections_total{}["+interval+"]))"), "{{gc_heap_generation}}"}}},
			{kind: lines(), title: "Induced collections by service", width: 6, height: 8, unit: "cpm", links: toService,
				description: "Collections per minute that programs, libraries or tools requested. There is no value without any.",
				queries:     []query{{worst("60 * (" + count("gclog_gc_duration_seconds", selected+`, gc_reason_group="induced"`, interval, services...) + ")"), serviceName}}},
		}},
		{"gclog", own},
	},
}

func sumByService(expr string) string {
	return "sum by (k8s_namespace_name, service_name) (" + expr + ")"
}

// own are the panels about the health of gclog itself.
var own = []panel{
	{kind: lines(), title: "Sessions", width: 8, height: 7, unit: "short",
		description: "Processes that gclog logs, by node.",
		queries:     []query{{of(daemons, "gclog_sessions{}"), "{{instance}}"}}},
	{kind: stacked(), title: "Processes by state", width: 8, height: 7, unit: "short",
		description: "on: logged. given-up and unreachable: gclog ctl status on the node says why.",
		queries:     []query{{of(daemons, "sum by (state) (gclog_processes{})"), "{{state}}"}}},
	{kind: lines(), title: "Failed attempts to attach", width: 8, height: 7, unit: "short",
		description: "By reason; there is no value before the first one.",
		queries:     []query{{of(daemons, "sum by (instance, reason) (increase(gclog_attach_failures_total{}["+interval+"]))"), "{{reason}} {{instance}}"}}},
	{kind: lines(), title: "What is missing", width: 8, height: 7, unit: "short",
		description: "Events that runtimes dropped, collections without all of their events, collections that no session has seen, records that gclog dropped, and writes that failed.",
		queries: append(missing(selected),
			query{of(daemons, "sum(increase(gclog_write_errors_total{}["+interval+"]))"), "write errors"})},
	{kind: lines(), title: "Problems of gclog", width: 8, height: 7, unit: "short",
		description: "Processes that metrics.max_series leaves out, inspections that do not end, defects, and processes whose last values were not scraped.",
		queries: []query{
			{of(daemons, "sum(gclog_metrics_processes_left_out{})"), "processes left out"},
			{of(daemons, "sum(gclog_inspections_stuck{})"), "inspections stuck"},
			{of(daemons, "sum(increase(gclog_internal_errors_total{}["+interval+"]))"), "defects"},
			{of(daemons, "sum(increase(gclog_metrics_processes_forgotten_total{}["+interval+"]))"), "last values not scraped"},
		}},
	{kind: lines(), title: "Sessions ended", width: 8, height: 7, unit: "short",
		description: "By the reason in the log; there is no value before the first one.",
		queries:     []query{{of(daemons, "sum by (reason) (increase(gclog_sessions_ended_total{}["+interval+"]))"), "{{reason}}"}}},
	{kind: lines(), title: "Written to logs", width: 8, height: 7, unit: "Bps",
		description: "By node.",
		queries:     []query{{of(daemons, "rate(gclog_bytes_written_total{}["+interval+"])"), "{{instance}}"}}},
	{kind: lines(), title: "CPU time of gclog", width: 8, height: 7, unit: "percentunit",
		description: "Share of one processor, by node.",
		queries:     []query{{of(daemons, "rate(gclog_process_cpu_seconds_total{}["+interval+"])"), "{{instance}}"}}},
	{kind: lines(), title: "Memory of gclog", width: 8, height: 7, unit: "decbytes",
		description: "Resident memory, by node.",
		queries:     []query{{of(daemons, "gclog_process_resident_memory_bytes{}"), "{{instance}}"}}},
	{kind: lines(), title: "OpenTelemetry", width: 16, height: 7, unit: "ops",
		description: "Metric points, log records and spans per second that the server has accepted, that it has rejected, and that gclog has dropped. There is no value unless gclog sends something.",
		queries: []query{
			{of(daemons, "sum by (signal) (rate(gclog_otlp_sent_total{}["+interval+"]))"), "{{signal}} sent"},
			{of(daemons, "sum by (signal) (rate(gclog_otlp_rejected_total{}["+interval+"]))"), "{{signal}} rejected"},
			{of(daemons, "sum by (signal) (rate(gclog_otlp_failed_requests_total{}["+interval+"]))"), "{{signal}}, failed requests"},
			{of(daemons, "sum by (signal) (rate(gclog_otlp_dropped_records_total{}["+interval+"]))"), "{{signal}}, records dropped"},
		}},
	{kind: lines(), title: "OpenTelemetry queue", width: 8, height: 7, unit: "decbytes",
		description: "Memory of records that wait or are being sent, by node.",
		queries:     []query{{of(daemons, "sum by (instance) (gclog_otlp_queue_bytes{})"), "{{instance}}"}}},
	{kind: rows(), title: "Versions", width: 24, height: 6, format: prometheus.PromQueryFormatTable, instant: true,
		description: "Of gclog, and on how many nodes.",
		columns:     []column{{name: "Version", label: "version"}, {name: "Go", label: "goversion"}, {name: "Nodes", unit: "short"}},
		queries:     []query{{of(daemons, "count by (version, goversion) (gclog_build_info{})"), ""}}},
}
