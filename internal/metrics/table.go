package metrics

import (
	"slices"
	"strings"
	"unicode"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/parse/clr"
)

func groupName(i int) string {
	if i < len(formats.ReasonGroups) {
		return formats.ReasonGroups[i]
	}
	return "unknown"
}

// table lists all families: those of .NET and OpenTelemetry, those of prometheus-net.DotNetRuntime
// in their place, and gclog's own.
var table = concat(ofDotnet, ofDotNetRuntime, ofGclog)

func concat(parts ...[]Family) (all []*Family) {
	for _, part := range parts {
		for i := range part {
			all = append(all, &part[i])
		}
	}
	return all
}

var ofDotnet = []Family{
	{
		Name: "dotnet.gc.collections", Unit: "{collection}", Kind: Counter, Attributes: []string{generationAttribute},
		Help:   "Garbage collections since gclog attached, by condemned generation.",
		Equals: "number of gc records by generation",
		points: each(collectionSets,
			func(v *View, g int) (float64, bool) { return float64(sum(v.state.collections[g][:])), true }),
	},
	{
		Name: "dotnet.gc.pause.time", Unit: "s", Kind: Counter,
		Help:   "Time that the program was paused for collections, until the runtime began to resume its threads.",
		Equals: "sum of pause.parts[].ns less pause.parts[].resume.ns",
		points: always(func(s *state) float64 { return seconds(s.paused) }),
	},
	{
		Name: "dotnet.gc.pause.duration", Unit: "s", Kind: Histograms,
		Attributes: []string{generationAttribute, pauseTypeAttribute},
		Help:       "Pauses for collections: a background collection has two.", Equals: "pause.parts[].ns",
		points: func(v *View, to Points) {
			for g := range v.state.pauses {
				for t, h := range v.state.pauses[g] {
					to.some(h, pauseSets[g][t])
				}
			}
		},
	},
	{
		Name: "dotnet.gc.heap.total_allocated", Unit: "By", Kind: Counter,
		Help: "Bytes that the program allocated, up to the latest collection.", Equals: "sum of allocated.bytes",
		points: one(func(v *View) (float64, bool) {
			return float64(sum(v.state.allocated[:])), v.state.hasAllocated
		}),
	},
	{
		Name: "dotnet.gc.last_collection.heap.size", Unit: "By", Kind: UpDownCounter,
		Attributes: []string{generationAttribute},
		Help:       "Size of a generation after the latest collection, free space included.",
		Equals:     "gen0.after.bytes to poh.after.bytes",
		points: each(heapSets, func(v *View, g int) (float64, bool) {
			l := &v.state.last
			return float64(l.sizes[g]), l.hasSizes && g < l.generations
		}),
	},
	{
		Name: "dotnet.gc.last_collection.heap.fragmentation.size", Unit: "By", Kind: UpDownCounter,
		Attributes: []string{generationAttribute}, Help: "Free space in a generation after the latest collection.",
		Equals: "gen0.fragmentation.bytes to poh.fragmentation.bytes",
		points: each(heapSets, func(v *View, g int) (float64, bool) {
			l := &v.state.last
			return float64(l.fragmentation[g]), l.hasFragmentation && g < l.generations
		}),
	},
	{
		Name: "dotnet.gc.last_collection.memory.committed_size", Unit: "By", Kind: UpDownCounter,
		Help: "Memory that the GC had committed after the latest collection that reports it, which background " +
			"ones do not.",
		Equals: "heap.committed.bytes",
		points: one(func(v *View) (float64, bool) {
			return float64(v.state.last.committed), v.state.last.hasCommitted
		}),
	},
}

// The names and attributes of prometheus-net.DotNetRuntime.
const (
	oldGeneration = "gc_generation"
	oldReason     = "gc_reason"
	oldType       = "gc_type"
	oldHeap       = "gc_heap"
)

var (
	oldGenerations = []string{"0", "1", "2", "loh", "poh"}
	oldHeapSets    = sets(oldGeneration, oldGenerations...)
	oldTypes       = [...]string{
		gclog.KindBlocking:   "non_concurrent_gc",
		gclog.KindBackground: "background_gc",
		gclog.KindForeground: "foreground_gc",
	}
	oldHeaps      = sets(oldHeap, "soh", "loh")
	oldReasonSets = func() (list [collected][reasons]*Set) {
		for g := range list {
			for r := range list[g] {
				name := "unknown"
				if r < reasons-1 {
					name = snake(clr.Reason(r).String())
				}
				list[g][r] = &Set{[]Attribute{{oldGeneration, oldGenerations[g]}, {oldReason, name}}}
			}
		}
		return list
	}()
	oldTypeSets = func() (list [collected][kinds]*Set) {
		for g := range list {
			for k := range list[g] {
				list[g][k] = &Set{[]Attribute{{oldGeneration, oldGenerations[g]}, {oldType, oldTypes[k]}}}
			}
		}
		return list
	}()
)

var ofDotNetRuntime = []Family{
	{
		prometheus: "dotnet_gc_collection_count_total", old: true, Kind: Counter,
		Attributes: []string{oldGeneration, oldReason},
		Help:       "Garbage collections since gclog attached, by condemned generation and reason.",
		Equals:     "number of gc records by generation and reason",
		points: func(v *View, to Points) {
			for g := range v.state.collections {
				for r, n := range v.state.collections[g] {
					if n > 0 {
						to.Value(float64(n), oldReasonSets[g][r])
					}
				}
			}
		},
	},
	{
		prometheus: "dotnet_gc_collection_seconds", old: true, Unit: "s", Kind: Histograms,
		Attributes: []string{oldGeneration, oldType}, Help: "Collections, from their start to their end.",
		Equals: "event.duration",
		points: func(v *View, to Points) {
			for g := range v.state.durations {
				for k := range v.state.durations[g] {
					to.some(merged(v.state.durations[g][k][:]...), oldTypeSets[g][k])
				}
			}
		},
	},
	{
		prometheus: "dotnet_gc_pause_seconds", old: true, Unit: "s", Kind: Histograms,
		Help: "Pauses for collections: a background collection has two.", Equals: "pause.parts[].ns",
		points: func(v *View, to Points) {
			var all []*Histogram
			for g := range v.state.pauses {
				all = append(all, v.state.pauses[g][:]...)
			}
			to.some(merged(all...), noAttributes)
		},
	},
	{
		prometheus: "dotnet_gc_pause_ratio", old: true, Kind: Gauge,
		Help:   "Share of the time since the collection before the latest one that the program was paused for it.",
		Equals: "paused.pct",
		points: one(func(v *View) (float64, bool) { return v.state.last.pausedPercent / 100, v.state.last.hasPaused }),
	},
	{
		prometheus: "dotnet_gc_allocated_bytes_total", old: true, Kind: Counter, Attributes: []string{oldHeap},
		Help:   "Bytes that the program allocated, up to the latest collection.",
		Equals: "sum of gen0.allocated.bytes (soh); of loh. and poh.allocated.bytes (loh)",
		points: each(oldHeaps, func(v *View, i int) (float64, bool) {
			s := v.state
			if i == 0 {
				return float64(s.allocated[gclog.Gen0]), s.hasAllocated
			}
			return float64(s.allocated[gclog.LOH] + s.allocated[gclog.POH]), s.hasAllocated
		}),
	},
	{
		prometheus: "dotnet_gc_heap_size_bytes", old: true, Kind: Gauge, Attributes: []string{oldGeneration},
		Help:   "Size of a generation after the latest collection, free space included.",
		Equals: "gen0.after.bytes to poh.after.bytes",
		points: each(oldHeapSets, func(v *View, g int) (float64, bool) {
			l := &v.state.last
			return float64(l.sizes[g]), l.hasSizes && g < l.generations
		}),
	},
	{
		prometheus: "dotnet_gc_pinned_objects", old: true, Kind: Gauge,
		Help: "Pinned objects that the latest collection found.", Equals: "pinned.count",
		points: one(func(v *View) (float64, bool) { return float64(v.state.last.pinned), v.state.last.hasPinned }),
	},
	{
		prometheus: "dotnet_gc_finalization_queue_length", old: true, Kind: Gauge,
		Help: "Objects that the latest collection retained for finalization.", Equals: "finalization.count",
		points: one(func(v *View) (float64, bool) {
			return float64(v.state.last.finalization), v.state.last.hasFinalization
		}),
	},
}

var ofGclog = []Family{
	{
		Name: "gclog.gc.duration", Unit: "s", Kind: Histograms,
		Attributes: []string{generationAttribute, typeAttribute, reasonGroupAttribute},
		Help: "Collections, from their start to their end: the program runs during most of a background " +
			"collection.",
		Equals: "event.duration",
		points: func(v *View, to Points) {
			for g := range v.state.durations {
				for k := range v.state.durations[g] {
					for r, h := range v.state.durations[g][k] {
						to.some(h, durationSets[g][k][r])
					}
				}
			}
		},
	},
	{
		Name: "gclog.gc.suspend", Unit: "s", Kind: Histograms,
		Help: "Time to suspend all threads at the start of a pause.", Equals: "pause.parts[].suspend.ns",
		points: func(v *View, to Points) { to.some(v.state.suspends, noAttributes) },
	},
	{
		Name: "gclog.gc.resume.time", Unit: "s", Kind: Counter,
		Help: "Time to resume all threads at the end of the pauses for collections, which is long if they wait for " +
			"processors.",
		Equals: "sum of pause.parts[].resume.ns", points: always(func(s *state) float64 { return seconds(s.resumed) }),
	},
	{
		Name: "gclog.gc.other_pause.time", Unit: "s", Kind: Counter,
		Help:   "Time that the GC paused the program without a collection.",
		Equals: "sum of suspension.ns of gc-suspension records",
		points: always(func(s *state) float64 { return seconds(s.otherPaused) }),
	},
	{
		Name: "gclog.gc.stalls", Unit: "{stall}", Kind: Counter, Attributes: []string{stallAttribute},
		Help:   "Suspensions and collections that had not ended after 1, 10 and 60 s.",
		Equals: "number of gc-stall records by stall.kind",
		points: each(stallSets, func(v *View, i int) (float64, bool) { return float64(v.state.stalls[i]), true }),
	},
	{
		Name: "gclog.gc.promoted", Unit: "By", Kind: Counter,
		Help: "Bytes that collections promoted.", Equals: "sum of heap.promoted.bytes",
		points: always(func(s *state) float64 { return float64(s.promoted) }),
	},
	{
		Name: "gclog.gc.pinned_objects", Unit: "{object}", Kind: Gauge,
		Help: "Pinned objects that the latest collection found.", Equals: "pinned.count",
		points: one(func(v *View) (float64, bool) { return float64(v.state.last.pinned), v.state.last.hasPinned }),
	},
	{
		Name: "gclog.gc.memory_load", Unit: "1", Kind: Gauge,
		Help: "Share of the physical memory, or of the container's limit, that was in use at the latest " +
			"collection, 0 to 1.",
		Equals: "memory_load.pct",
		points: one(func(v *View) (float64, bool) { return float64(v.state.last.load) / 100, v.state.last.hasLoad }),
	},
	{
		Name: "gclog.gc.last_full_collection.heap.size", Unit: "By", Kind: UpDownCounter,
		Help: "Size of the heap after the latest gen2 collection.", Equals: "heap.after.bytes of generation 2",
		points: one(func(v *View) (float64, bool) { return float64(v.state.last.full), v.state.last.hasFull }),
	},
	{
		Name: "gclog.gc.heap_hard_limit", Unit: "By", Kind: Gauge,
		Help: "Limit of the GC heap.", Equals: "hard_limit.bytes",
		points: one(func(v *View) (float64, bool) {
			return float64(v.Process.Limits.HardLimit), v.Process.HasLimits && v.Process.Limits.HardLimit > 0
		}),
	},
	{
		Name: "gclog.gc.last_timestamp", Unit: "s", Kind: Gauge,
		Help: "When the latest collection ended, in seconds of Unix time.", Equals: "event.end",
		points: one(func(v *View) (float64, bool) { return seconds(v.state.last.at), v.state.last.at != 0 }),
	},
	{
		Name: "gclog.gcs_incomplete", Unit: "{collection}", Kind: Counter,
		Help:   "Collections of which something is unknown, because its events are missing.",
		Equals: "number of gc records whose complete is false",
		points: always(func(s *state) float64 { return float64(s.incomplete) }),
	},
	{
		Name: "gclog.gcs_missed", Unit: "{collection}", Kind: Counter,
		Help:   "Collections that gclog has not seen, by their numbers.",
		Equals: "gap.to - gap.from + 1 of reattached and missed-gcs",
		points: always(func(s *state) float64 { return float64(s.missed) }),
	},
	{
		Name: "gclog.events_lost", Unit: "{event}", Kind: Counter,
		Help: "Events that the runtime dropped.", Equals: "sum of gap.lost_events.count",
		points: always(func(s *state) float64 { return float64(s.lost) }),
	},
	{
		Name: "gclog.records_dropped", Unit: "{record}", Kind: Counter,
		Help: "Records that gclog dropped because its outputs were too slow, or that it had no time to write " +
			"at its end.",
		Equals: "sum of gap.records.count", points: always(func(s *state) float64 { return float64(s.dropped) }),
	},
	{
		Name: "gclog.process.ended", Kind: Gauge, Attributes: []string{endAttribute},
		Help: "1 after the process has ended, by how: exited, killed, oom-killed, aborted, crashed, or ended if " +
			"nobody knows.", Equals: "gc-session-end by event.reason, other than detached and stream-error",
		points: func(v *View, to Points) {
			if i := slices.Index(gclog.EndsOfProcess[:], v.state.ended); i >= 0 {
				to.Value(1, endSets[i])
			}
		},
	},
	{
		Name: "gclog.verdict.info", Kind: Gauge, Attributes: []string{causeAttribute},
		Help: "1, with the cause of the verdict about the last ten minutes, as in docs/verdict.md: a process has one " +
			"series.", Equals: "verdict.cause, of less time",
		points: func(v *View, to Points) {
			if c := v.state.cause; c != "" {
				to.Value(1, &Set{[]Attribute{{causeAttribute, string(c)}}})
			}
		},
	},
	{
		Name: "gclog.process.info", Kind: Gauge,
		Attributes: []string{
			"pid", "entity_id", "service_version", "runtime_version", "runtime_flavor", "gc_mode", "gc_concurrent",
			"container_id",
		},
		Help:   "1, with what is known of the process: join it by the labels that identify the process.",
		Equals: "process, service.version, dotnet.runtime, server, concurrent, container.id",
		points: func(v *View, to Points) { to.Value(1, v.info) },
	},
}

func (to Points) some(h *Histogram, set *Set) {
	if h != nil {
		to.Histogram(h, set)
	}
}

func sum(list []uint64) (n uint64) {
	for _, x := range list {
		n += x
	}
	return n
}

// snake converts a name in camel case.
func snake(s string) string {
	var b strings.Builder
	for i, c := range s {
		if i > 0 && unicode.IsUpper(c) && !unicode.IsUpper(rune(s[i-1])) {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(c))
	}
	return b.String()
}
