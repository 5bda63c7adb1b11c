package grafana

import "github.com/grafana/grafana-foundation-sdk/go/prometheus"

const (
	// Labels of the processes that the variables select.
	ofService = selected + `, k8s_pod_name=~"$pod"`
	// What distinguishes the processes of a service.
	processName = "{{instance}} {{k8s_pod_name}} {{process_pid}}"
	// What is known of processes. Their names have another label if they come by OTLP.
	named = `label_replace(gclog_process_info{}, "process_name", "$1", "process_executable_name", "(.+)")`
)

// service is about the processes of one service.
var service = board{
	uid: "gclog-service", title: ".NET GC: service",
	description: "The garbage collections of the processes of a service.",
	variables: []variable{
		{name: "namespace", label: "Namespace", of: "k8s_namespace_name"},
		{name: "service", label: "Service", of: "service_name", within: `k8s_namespace_name=~"$namespace"`, one: true},
		{name: "instance", label: "Node", of: "instance", within: `k8s_namespace_name=~"$namespace", service_name=~"$service"`},
		{name: "pod", label: "Pod", of: "k8s_pod_name", within: selected},
	},
	rows: []row{
		{"Overview", []panel{
			{kind: number(), title: "Paused, worst process", width: 4, height: 4, unit: "percentunit", warn: 0.05, alarm: 0.1,
				description: "Share of the time that the process was paused for collections. Under load 5% or less is normal.",
				queries:     []query{{of(ofService, "max(rate(dotnet_gc_pause_time_seconds_total{}["+interval+"]))"), ""}}},
			{kind: number(), title: "p99 pause", width: 4, height: 4, unit: "s", warn: 0.05, alarm: 0.2,
				description: "99% of the pauses in the time range are shorter.",
				queries:     []query{{quantile("0.99", pauses, ofService, "$__range"), ""}}},
			{kind: number(), title: "Longest pause", width: 4, height: 4, unit: "s", warn: 0.2, alarm: 1,
				description: "In the time range: the upper bound of the histogram's bucket. gclog pauses has the exact duration.",
				queries:     []query{{quantile("1", pauses, ofService, "$__range"), ""}}},
			{kind: number(), title: "Heap", width: 4, height: 4, unit: "decbytes",
				description: "Sum over the processes, after the latest collection of each, free space included.",
				queries:     []query{{of(ofService, "sum(dotnet_gc_last_collection_heap_size_bytes{})"), ""}}},
			{kind: number(), title: "Allocation", width: 4, height: 4, unit: "Bps",
				description: "Bytes that the processes allocate per second.",
				queries:     []query{{of(ofService, "sum(rate("+allocated+"["+interval+"]))"), ""}}},
			{kind: number(), title: "Latest collection", width: 4, height: 4, unit: "s",
				description: "Time since the end of the latest collection of any of the processes.",
				queries:     []query{{of(ofService, "time() - max(gclog_gc_last_timestamp_seconds{})"), ""}}},
			{kind: rows(), title: "Processes", width: 24, height: 7, format: prometheus.PromQueryFormatTable, instant: true,
				description: "What is known of each process. Columns without values are left out.",
				columns: []column{
					{name: "Node", label: "instance"}, {name: "Namespace", label: "k8s_namespace_name"}, {name: "Pod", label: "k8s_pod_name"}, {name: "Container", label: "container_id"},
					{name: "Process", label: "process_name"}, {name: "PID", label: "pid"}, {name: "Version", label: "service_version"},
					{name: "Runtime", label: "runtime_version"}, {name: "Kind", label: "runtime_flavor"}, {name: "GC", label: "gc_mode"}, {name: "Background GC", label: "gc_concurrent"},
				},
				queries: []query{{of(ofService, named), ""}}},
		}},
		{"Pauses", []panel{
			{kind: lines(), title: "Time paused by process", width: 12, height: 8, unit: "percentunit", warn: 0.05, alarm: 0.1,
				description: "Share of the time that the process was paused for collections.",
				queries:     []query{{of(ofService, "rate(dotnet_gc_pause_time_seconds_total{}["+interval+"])"), processName}}},
			{kind: logarithmic(), title: "Pauses", width: 12, height: 8, unit: "s", alarm: 0.2,
				description: "Half of the pauses are shorter than p50. The longest one is the upper bound of the histogram's bucket.",
				queries: []query{
					{quantile("0.5", pauses, ofService, interval), "p50"},
					{quantile("0.99", pauses, ofService, interval), "p99"},
					{quantile("1", pauses, ofService, interval), "longest"},
				}},
			{kind: heat(), title: "Pauses by duration", width: 12, height: 8, format: prometheus.PromQueryFormatHeatmap,
				description: "Number of pauses by their duration.",
				queries:     []query{{buckets(pauses, ofService), "{{le}}"}}},
			{kind: logarithmic(), title: "p99 pause by generation", width: 12, height: 8, unit: "s", alarm: 0.2,
				description: "A background collection has two short pauses; a blocking gen2 collection pauses the program while its whole heap is collected.",
				queries:     []query{{quantile("0.99", pauses, ofService, interval, "gc_heap_generation", "gc_pause_type"), "{{gc_heap_generation}} {{gc_pause_type}}"}}},
			{kind: stacked(), title: "Pauses per minute by generation", width: 8, height: 8, unit: "cpm",
				description: "Number of pauses; a background collection has two.",
				queries:     []query{{"60 * (" + count(pauses, ofService, interval, "gc_heap_generation", "gc_pause_type") + ")", "{{gc_heap_generation}} {{gc_pause_type}}"}}},
			{kind: logarithmic(), title: "Time to suspend", width: 8, height: 8, unit: "s", warn: 0.001, alarm: 0.01,
				description: "Time to suspend all threads at the start of a pause: far less than 1 ms, unless a thread does not get a processor or runs code without a safe point.",
				queries: []query{
					{quantile("0.5", "gclog_gc_suspend_seconds", ofService, interval), "p50"},
					{quantile("0.99", "gclog_gc_suspend_seconds", ofService, interval), "p99"},
					{quantile("1", "gclog_gc_suspend_seconds", ofService, interval), "longest"},
				}},
			{kind: lines(), title: "Other pauses and stalls", width: 8, height: 8, unit: "short",
				description: "Share of the time that the GC paused the program without a collection, and suspensions and collections that had not ended after 1, 10 and 60 s.",
				queries: []query{
					{of(ofService, "sum(rate(gclog_gc_other_pause_time_seconds_total{}["+interval+"]))"), "paused without a collection"},
					{of(ofService, "sum by (gc_stall_kind) (increase(gclog_gc_stalls_total{}["+interval+"]))"), "stalls: {{gc_stall_kind}}"},
				}},
		}},
		{"Ends", []panel{
			{kind: stacked(), title: "Verdict", width: 12, height: 6, unit: "short",
				description: "Processes by the cause of gclog's verdict about the last ten minutes: docs/verdict.md has the causes, and what comes first.",
				queries:     []query{{of(ofService, "count by (cause) (gclog_verdict_info{})"), "{{cause}}"}}},
			{kind: stacked(), title: "Processes that ended", width: 12, height: 6, unit: "short",
				description: "By how: oom-killed (the kernel killed it because memory ran out), aborted (an exception that nothing handled), crashed, killed, exited. There is no value while none ends.",
				queries:     []query{{of(ofService, "sum by (reason) (max_over_time(gclog_process_ended{}["+interval+"]))"), "{{reason}}"}}},
		}},
		{"Heap", []panel{
			{kind: stacked(), title: "Heap by generation", width: 12, height: 8, unit: "decbytes",
				description: "Sum over the processes, after the latest collection of each, free space included.",
				queries:     []query{{of(ofService, "sum by (gc_heap_generation) (dotnet_gc_last_collection_heap_size_bytes{})"), "{{gc_heap_generation}}"}}},
			{kind: lines(), title: "Heap by process", width: 12, height: 8, unit: "decbytes",
				description: "After the latest collection, free space included.",
				queries:     []query{{of(ofService, "sum by (instance, k8s_pod_name, process_pid) (dotnet_gc_last_collection_heap_size_bytes{})"), processName}}},
			{kind: lines(), title: "Heap after gen2 collections", width: 8, height: 8, unit: "decbytes",
				description: "What full collections leave: if it keeps rising, the program retains more and more objects.",
				queries:     []query{{of(ofService, "gclog_gc_last_full_collection_heap_size_bytes{}"), processName}}},
			{kind: lines(), title: "Committed memory and limit", width: 8, height: 8, unit: "decbytes",
				description: "Memory that the GC of a process has committed, and the lowest hard limit of a heap. There is no value for what the runtime does not report.",
				queries: []query{
					{of(ofService, "dotnet_gc_last_collection_memory_committed_size_bytes{}"), processName},
					{of(ofService, "min(gclog_gc_heap_hard_limit_bytes{})"), "limit"},
				}},
			{kind: lines(), title: "Memory load", width: 8, height: 8, unit: "percentunit", warn: 0.8, alarm: 0.9,
				description: "Share of the memory of the host or container that was in use at the latest collection. When it is high, the GC collects gen2 sooner.",
				queries:     []query{{of(ofService, "gclog_gc_memory_load_ratio{}"), processName}}},
			{kind: lines(), title: "Free space by generation", width: 12, height: 8, unit: "percentunit", warn: 0.5,
				description: "Fragmentation: free space after the latest collection, as a share of the generation.",
				queries:     []query{{of(ofService, "sum by (gc_heap_generation) (dotnet_gc_last_collection_heap_fragmentation_size_bytes{})\n/\nsum by (gc_heap_generation) (dotnet_gc_last_collection_heap_size_bytes{})"), "{{gc_heap_generation}}"}}},
			{kind: lines(), title: "Pinned objects", width: 12, height: 8, unit: "short",
				description: "That the latest collection found.",
				queries:     []query{{of(ofService, "gclog_gc_pinned_objects{}"), processName}}},
		}},
		{"Allocation", []panel{
			{kind: lines(), title: "Allocation rate by process", width: 12, height: 8, unit: "Bps",
				description: "Bytes that the program allocates per second.",
				queries:     []query{{of(ofService, "rate("+allocated+"["+interval+"])"), processName}}},
			{kind: lines(), title: "Allocated and promoted", width: 12, height: 8, unit: "Bps",
				description: "What is promoted has survived a collection: the more, the longer pauses are.",
				queries: []query{
					{of(ofService, "sum(rate("+allocated+"["+interval+"]))"), "allocated"},
					{of(ofService, "sum(rate(gclog_gc_promoted_bytes_total{}["+interval+"]))"), "promoted"},
				}},
			{kind: stacked(), title: "Collections by generation", width: 8, height: 8, unit: "ops",
				description: "Per second. Most should be of gen0.",
				queries:     []query{{of(ofService, "sum by (gc_heap_generation) (rate(dotnet_gc_collections_total{}["+interval+"]))"), "{{gc_heap_generation}}"}}},
			{kind: stacked(), title: "Collections by reason", width: 8, height: 8, unit: "ops",
				description: "Per second: allocation, induced (by the program, a library or a tool), low_memory, other.",
				queries:     []query{{count("gclog_gc_duration_seconds", ofService, interval, "gc_reason_group"), "{{gc_reason_group}}"}}},
			{kind: logarithmic(), title: "p99 duration of collections", width: 8, height: 8, unit: "s",
				description: "From start to end, by type: the program runs during most of a background collection.",
				queries:     []query{{quantile("0.99", "gclog_gc_duration_seconds", ofService, interval, "gc_type"), "{{gc_type}}"}}},
		}},
		{"gclog", []panel{
			{kind: lines(), title: "What is missing", width: 12, height: 7, unit: "short",
				description: "Events that the runtime dropped, collections without all of their events, collections that no session has seen, and records that gclog dropped: numbers on this page are too small by these.",
				queries:     missing(ofService)},
			{kind: lines(), title: "Time since the latest collection", width: 12, height: 7, unit: "s",
				description: "By process. Values on this page are as old as that.",
				queries:     []query{{of(ofService, "time() - gclog_gc_last_timestamp_seconds{}"), processName}}},
		}},
	},
}
