package formats_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/parse/clr"
)

// known returns a background collection of which everything is known, with a different value for
// each number.
func known() *gclog.GCDetails {
	const ms = int64(time.Millisecond)
	d := &gclog.GCDetails{
		Number: 7, Known: ^gclog.Groups(0), Generation: 2, Type: clr.TypeBackground, Kind: gclog.KindBackground, Reason: clr.ReasonAllocLarge, Complete: true,
		Start: 1000 * ms, End: 1025 * ms, Suspended: 998 * ms, Triggered: 995 * ms, Trigger: 11,
		SinceLast: 400 * ms, AllocationRate: 1234.5, Window: 500 * ms,
		Pauses: []gclog.PausePart{
			{Kind: gclog.PauseInitial, Start: 999 * ms, Duration: 2 * ms, Suspend: 1000, HasSuspend: true, Resume: 100, HasResume: true},
			{Kind: gclog.PauseFinal, Start: 1010 * ms, Duration: 3 * ms, Suspend: 5000, HasSuspend: true, Resume: 200, HasResume: true},
		},
		Timing: [clr.Times]int64{21, 22, 23, 24, 25}, TimingCount: 5,
		GenerationCount: 5, PromotedBytes: 1061, Peak: 1062, CommittedBefore: 1063, CommittedAfter: 1064,
		TickAllocated: [3]uint64{31, 32, 33},
		Handles:       1065, FinalizationCount: 1066, FinalizationSize: 1067,
		PinnedObjects: 1068, SyncBlocks: 1069,
		PinEvents: 41, PinEventBytes: 42, PinPlugs: 43, PinPlugBytes: 168,
		Segments:   gclog.SegmentDetails{Created: 51, Freed: 52, CreatedBytes: 53, FreedBytes: 54, Reserved: 55, Used: 56, Count: 57},
		Finalizers: gclog.FinalizerDetails{Runs: 61, Objects: 62, Longest: 63, Running: 64},
		Memory:     gclog.Memory{Resident: 71, Cgroup: 72, CgroupLimit: 73, At: 1026 * ms},
		Background: &gclog.BackgroundDetails{
			MarkStart: 1001 * ms, MarkEnd: 1009 * ms, SweepStart: 1013 * ms, SweepEnd: 1024 * ms,
			Revisited:    [2][2]gclog.Revisit{{{Pages: 81, References: 82}, {Pages: 83, References: 84}}, {{Pages: 85, References: 86}, {Pages: 87, References: 88}}},
			DrainedMarks: 91, Overflowed: 92, WaitCount: 3, WaitTime: 94, WaitMax: 95,
			Waits: []gclog.AllocWait{{Thread: 96, Start: 1014 * ms, Duration: 97, Reason: 9}, {Thread: 98, Start: 1015 * ms, Duration: 0, Reason: 10}},
		},
		LOHCompactions: []clr.LOHCompact{
			{PlanMicroseconds: 1, RelocateMicroseconds: 5, CompactMicroseconds: 3, TotalRefs: 100},
			{PlanMicroseconds: 4, RelocateMicroseconds: 2, CompactMicroseconds: 6, TotalRefs: 11},
		},
		Dynamic: []gclog.DynamicEvent{{Time: 1016 * ms, Name: "One", Data: []byte{0x1f, 0xa0}}, {Time: 1017 * ms, Name: "Two"}},
		Summary: &gclog.HeapSummary{
			MarkedUntil: 1008 * ms, Gen0Imbalance: 1.5, SurvivedImbalance: 2, FreeListEfficiency: 25, HasEfficiency: true,
			Reasons: []gclog.HeapReasons{
				{Heap: 2, CondemnedGenerations: clr.MakeCondemnedGenerations(0, 2, 1, 3), Condemned: clr.CondemnedHighMemory | clr.CondemnedLowEphemeral, Compact: 1<<31 | 2, Expand: 1<<31 | 8},
				{Heap: 0, CondemnedGenerations: clr.MakeCondemnedGenerations(1, 1, 0, 0)},
				{Heap: 3, CondemnedGenerations: clr.MakeCondemnedGenerations(0, 2, 1, 3), Condemned: clr.CondemnedHighMemory | clr.CondemnedLowEphemeral, Compact: 1<<31 | 2, Expand: 1<<31 | 8},
				{Heap: 1, CondemnedGenerations: clr.MakeCondemnedGenerations(1, 1, 0, 0)},
			},
		},
	}
	for i := range d.Background.Phase {
		d.Background.Phase[i] = 1001*ms + int64(i)
	}
	d.Global.Heaps, d.Global.MemoryLoad, d.Global.HasMemoryLoad, d.Global.PauseMode = 4, 81, true, clr.PauseMode(1)
	d.Global.HasCondemned, d.Global.Condemned = true, clr.CondemnedAvoidUnproductive
	d.Global.Mechanisms = clr.MechanismConcurrent
	for g := range d.Generations {
		n := uint64(g)
		d.Generations[g] = gclog.GenerationDetails{
			Before: 110 + n, After: 120 + n, ObjectsBefore: 200, ObjectsAfter: 140 + n, FreeBefore: 150 + n, Fragmentation: 160 + n, In: 170 + n, Survived: 50 + 10*n, SurvivedPins: 190 + n,
			Budget: 210 + n, BudgetLeft: 220 - 110*int64(n), HasBudgetLeft: true, Promoted: 230 + n, Allocated: 240 + n,
		}
		d.Fragmentation, d.Allocated = d.Fragmentation+160+n, d.Allocated+240+n
	}
	for m := range d.Summary.Marks {
		n := int64(m)
		d.Summary.Marks[m] = gclog.MarkSummary{Longest: 310 + n, Heap: m % 4, HasHeap: true, Promoted: uint64(320 + n), Imbalance: 1.25, Known: true}
	}
	d.Summary.MarkTimes = []gclog.MarkTime{
		{Heap: 0, From: clr.MarkStack, Duration: 310}, {Heap: 7, From: clr.MarkStack, Duration: 0}, {Heap: 0, From: clr.MarkSteal, Duration: 318}, {Heap: 7, From: clr.MarkSteal, Duration: 8},
	}
	d.Datas.Sample = clr.SizeAdaptationSample{StableSize: 401, Gen0BudgetPerHeap: 402, SOHLockMicroseconds: 403, UOHLockMicroseconds: 404}
	d.Known |= gclog.GroupDatasSample
	d.Datas.Tuning = clr.SizeAdaptationTuning{NewHeaps: 5, MinHeaps: 3, MaxHeaps: 8, MedianThroughputCost: 50}
	d.Known |= gclog.GroupDatasTuning
	d.Datas.FullGCTuning = clr.SizeAdaptationFullGCTuning{NewHeaps: 6, MedianGen2Cost: 0}
	d.Known |= gclog.GroupDatasFullGCTuning
	d.Datas.Tuning8 = clr.HeapCountTuning{NewHeaps: 9, MedianThroughputCost: 75}
	d.Known |= gclog.GroupDatasTuning8
	d.Datas.Sample8 = clr.HeapCountSample{LockMicroseconds: 405}
	d.Known |= gclog.GroupDatasSample8
	return d
}

// gcMembers returns the members of dotnet.gc, event and process, by path; for a list, all values in
// turn.
func gcMembers(t *testing.T, d *gclog.GCDetails) map[string]string {
	t.Helper()
	_, records := written(t, "json", formats.Options{Process: someone()}, func(w *formats.Writer) { w.Observe(d) })
	checkRecord(t, "record", []byte(records[0]))
	_, list := members(t, "record", []byte(records[0]))
	all := map[string]string{}
	for _, m := range list {
		path, ok := strings.CutPrefix(m.path, "dotnet.gc.")
		if !ok && !strings.HasPrefix(path, "event.") && !strings.HasPrefix(path, "process.memory") && !strings.HasPrefix(path, "process.cgroup") && path != "message" && path != "log.level" {
			continue
		}
		if before, more := all[path]; more {
			all[path] = before + " " + fmt.Sprint(m.value)
		} else {
			all[path] = fmt.Sprint(m.value)
		}
	}
	return all
}

// ofKnown is what is written for known.
var ofKnown = map[string]string{
	"alloc_rate.bytes_per_s":                         "1234.5",
	"allocated.bytes":                                "1210",
	"background.alloc_waits.count":                   "3",
	"background.alloc_waits.list[].ns":               "97 0",
	"background.alloc_waits.list[].reason":           "9 10",
	"background.alloc_waits.list[].start":            "2026-11-05T10:00:01.014000000Z 2026-11-05T10:00:01.015000000Z",
	"background.alloc_waits.list[].thread":           "96 98",
	"background.alloc_waits.max.ns":                  "95",
	"background.alloc_waits.total.ns":                "94",
	"background.concurrent_mark.ns":                  "8000000",
	"background.concurrent_sweep.ns":                 "11000000",
	"background.drained_marks.count":                 "91",
	"background.mark_overflow_objects.count":         "92",
	"background.phases.begin":                        "2026-11-05T10:00:01.001000000Z",
	"background.phases.final_pause_begin":            "2026-11-05T10:00:01.001000003Z",
	"background.phases.final_pause_end":              "2026-11-05T10:00:01.001000004Z",
	"background.phases.initial_pause_end":            "2026-11-05T10:00:01.001000001Z",
	"background.phases.mark_end":                     "2026-11-05T10:00:01.001000002Z",
	"background.phases.old_sweep_end":                "2026-11-05T10:00:01.001000008Z",
	"background.phases.plan_end":                     "2026-11-05T10:00:01.001000007Z",
	"background.phases.sweep_begin":                  "2026-11-05T10:00:01.001000005Z",
	"background.phases.sweep_end":                    "2026-11-05T10:00:01.001000006Z",
	"background.revisited.concurrent_loh.pages":      "83",
	"background.revisited.concurrent_loh.references": "84",
	"background.revisited.concurrent_soh.pages":      "81",
	"background.revisited.concurrent_soh.references": "82",
	"background.revisited.paused_loh.pages":          "87",
	"background.revisited.paused_loh.references":     "88",
	"background.revisited.paused_soh.pages":          "85",
	"background.revisited.paused_soh.references":     "86",
	"compacting":                            "false",
	"complete":                              "true",
	"concurrent":                            "false",
	"condemned.budget_exceeded":             "1",
	"condemned.final":                       "2",
	"condemned.for_all[]":                   "AvoidUnproductive",
	"condemned.initial":                     "0",
	"condemned.reasons[]":                   "HighMemory LowEphemeral AvoidUnproductive",
	"condemned.time_tuning":                 "3",
	"datas.full_gc_new_heaps":               "6",
	"datas.gen0_budget_per_heap.bytes":      "402",
	"datas.gen2_cost.pct":                   "0.0",
	"datas.lock_wait.ns":                    "405000",
	"datas.max_heaps":                       "8",
	"datas.min_heaps":                       "3",
	"datas.new_heaps":                       "5",
	"datas.soh_lock_wait.ns":                "403000",
	"datas.stable_size.bytes":               "401",
	"datas.throughput_cost.pct":             "0.5",
	"datas.uoh_lock_wait.ns":                "404000",
	"dynamic_events[].data":                 "1fa0 ",
	"dynamic_events[].name":                 "One Two",
	"dynamic_events[].time":                 "2026-11-05T10:00:01.016000000Z 2026-11-05T10:00:01.017000000Z",
	"event.action":                          "gc",
	"event.category[]":                      "process",
	"event.dataset":                         "dotnet.gc",
	"event.duration":                        "25000000",
	"event.end":                             "2026-11-05T10:00:01.025000000Z",
	"event.kind":                            "event",
	"event.module":                          "dotnet",
	"event.sequence":                        "7",
	"event.start":                           "2026-11-05T10:00:01.000000000Z",
	"event.type[]":                          "info",
	"finalization.bytes":                    "1067",
	"finalization.count":                    "1066",
	"finalizers.longest.ns":                 "63",
	"finalizers.objects":                    "62",
	"finalizers.running.ns":                 "64",
	"finalizers.runs":                       "61",
	"free_list_efficiency.pct":              "0.25",
	"gen0.after.bytes":                      "120",
	"gen0.allocated.bytes":                  "240",
	"gen0.before.bytes":                     "110",
	"gen0.budget_left.bytes":                "220",
	"gen0.fragmentation.bytes":              "160",
	"gen0.free_before.bytes":                "150",
	"gen0.in.bytes":                         "170",
	"gen0.obj_after.bytes":                  "140",
	"gen0.obj_before.bytes":                 "200",
	"gen1.after.bytes":                      "121",
	"gen1.before.bytes":                     "111",
	"gen1.budget_left.bytes":                "110",
	"gen1.fragmentation.bytes":              "161",
	"gen1.free_before.bytes":                "151",
	"gen1.in.bytes":                         "171",
	"gen1.obj_after.bytes":                  "141",
	"gen1.obj_before.bytes":                 "200",
	"gen2.after.bytes":                      "122",
	"gen2.before.bytes":                     "112",
	"gen2.budget.bytes":                     "212",
	"gen2.budget_left.bytes":                "0",
	"gen2.fragmentation.bytes":              "162",
	"gen2.free_before.bytes":                "152",
	"gen2.in.bytes":                         "172",
	"gen2.obj_after.bytes":                  "142",
	"gen2.obj_before.bytes":                 "200",
	"gen2.promoted.bytes":                   "232",
	"gen2.survival.pct":                     "0.3500",
	"gen2.survived.bytes":                   "70",
	"gen2.survived_pinned.bytes":            "192",
	"generation":                            "2",
	"handles.count":                         "1065",
	"hard_limit.bytes":                      "1",
	"heap.after.bytes":                      "610",
	"heap.before.bytes":                     "560",
	"heap.committed.bytes":                  "1064",
	"heap.committed_before.bytes":           "1063",
	"heap.fragmentation.bytes":              "810",
	"heap.peak.bytes":                       "1062",
	"heap.promoted.bytes":                   "1061",
	"heap_count":                            "4",
	"heaps[].budget_exceeded":               "1 0",
	"heaps[].compact":                       "HighFragmentation",
	"heaps[].expand":                        "NewSegment",
	"heaps[].final":                         "2 1",
	"heaps[].initial":                       "0 1",
	"heaps[].numbers[]":                     "2 3 0 1",
	"heaps[].reasons[]":                     "HighMemory LowEphemeral",
	"heaps[].time_tuning":                   "3 0",
	"imbalance.gen0":                        "1.5",
	"imbalance.survived":                    "2.0",
	"log.level":                             "info",
	"loh.after.bytes":                       "123",
	"loh.allocated.bytes":                   "243",
	"loh.before.bytes":                      "113",
	"loh.budget.bytes":                      "213",
	"loh.budget_exceeded.bytes":             "110",
	"loh.fragmentation.bytes":               "163",
	"loh.free_before.bytes":                 "153",
	"loh.in.bytes":                          "173",
	"loh.obj_after.bytes":                   "143",
	"loh.obj_before.bytes":                  "200",
	"loh.promoted.bytes":                    "233",
	"loh.survival.pct":                      "0.4000",
	"loh.survived.bytes":                    "80",
	"loh.survived_pinned.bytes":             "193",
	"loh_compaction.compact.ns":             "6000",
	"loh_compaction.plan.ns":                "4000",
	"loh_compaction.references.count":       "111",
	"loh_compaction.relocate.ns":            "5000",
	"mark.background_roots.heap":            "1",
	"mark.background_roots.imbalance":       "1.25",
	"mark.background_roots.longest.ns":      "319",
	"mark.background_roots.promoted.bytes":  "329",
	"mark.dependent_handles.heap":           "2",
	"mark.dependent_handles.imbalance":      "1.25",
	"mark.dependent_handles.longest.ns":     "316",
	"mark.dependent_handles.promoted.bytes": "326",
	"mark.finalizer_queue.heap":             "1",
	"mark.finalizer_queue.imbalance":        "1.25",
	"mark.finalizer_queue.longest.ns":       "311",
	"mark.finalizer_queue.promoted.bytes":   "321",
	"mark.handles.heap":                     "2",
	"mark.handles.imbalance":                "1.25",
	"mark.handles.longest.ns":               "312",
	"mark.handles.promoted.bytes":           "322",
	"mark.new_finalizable.heap":             "3",
	"mark.new_finalizable.imbalance":        "1.25",
	"mark.new_finalizable.longest.ns":       "317",
	"mark.new_finalizable.promoted.bytes":   "327",
	"mark.older_generations.heap":           "3",
	"mark.older_generations.imbalance":      "1.25",
	"mark.older_generations.longest.ns":     "313",
	"mark.older_generations.promoted.bytes": "323",
	"mark.overflow.heap":                    "1",
	"mark.overflow.imbalance":               "1.25",
	"mark.overflow.longest.ns":              "315",
	"mark.overflow.promoted.bytes":          "325",
	"mark.sized_ref.heap":                   "0",
	"mark.sized_ref.imbalance":              "1.25",
	"mark.sized_ref.longest.ns":             "314",
	"mark.sized_ref.promoted.bytes":         "324",
	"mark.stack.heap":                       "0",
	"mark.stack.imbalance":                  "1.25",
	"mark.stack.longest.ns":                 "310",
	"mark.stack.promoted.bytes":             "320",
	"mark.stack.times[].heap":               "0 7",
	"mark.stack.times[].ns":                 "310 0",
	"mark.steal.heap":                       "0",
	"mark.steal.imbalance":                  "1.25",
	"mark.steal.longest.ns":                 "318",
	"mark.steal.promoted.bytes":             "328",
	"mark.steal.times[].heap":               "0 7",
	"mark.steal.times[].ns":                 "318 8",
	"mechanisms[]":                          "Concurrent",
	"memory_load.pct":                       "0.8100",
	"memory_read":                           "2026-11-05T10:00:01.026000000Z",
	"message":                               "GC 7 gen2 background (AllocLarge): pause 5.000 ms, heap 560 B -> 610 B",
	"number":                                "7",
	"pause.count":                           "2",
	"pause.max.ns":                          "3000000",
	"pause.paused.ns":                       "4999700",
	"pause.resume.ns":                       "300",
	"pause.parts[].kind":                    "initial final",
	"pause.parts[].ns":                      "2000000 3000000",
	"pause.parts[].resume.ns":               "100 200",
	"pause.parts[].start":                   "2026-11-05T10:00:00.999000000Z 2026-11-05T10:00:01.010000000Z",
	"pause.parts[].suspend.ns":              "1000 5000",
	"pause.total.ns":                        "5000000",
	"pause_mode":                            "Interactive",
	"paused.pct":                            "0.0100",
	"pinned_plugs.bytes":                    "168",
	"pinned_plugs.count":                    "43",
	"pinned_seen.bytes":                     "42",
	"pinned_seen.count":                     "41",
	"pinned_user.pct":                       "0.2500",
	"poh.after.bytes":                       "124",
	"poh.allocated.bytes":                   "244",
	"poh.before.bytes":                      "114",
	"poh.budget.bytes":                      "214",
	"poh.budget_exceeded.bytes":             "220",
	"poh.fragmentation.bytes":               "164",
	"poh.free_before.bytes":                 "154",
	"poh.in.bytes":                          "174",
	"poh.obj_after.bytes":                   "144",
	"poh.obj_before.bytes":                  "200",
	"poh.promoted.bytes":                    "234",
	"poh.survival.pct":                      "0.4500",
	"poh.survived.bytes":                    "90",
	"poh.survived_pinned.bytes":             "194",
	"process.cgroup.memory.limit.bytes":     "73",
	"process.cgroup.memory.usage.bytes":     "72",
	"process.memory.rss.bytes":              "71",
	"reason":                                "AllocLarge",
	"reason_group":                          "allocation",
	"segments.count":                        "57",
	"segments.created.bytes":                "53",
	"segments.created.count":                "51",
	"segments.freed.bytes":                  "54",
	"segments.freed.count":                  "52",
	"segments.reserved.bytes":               "55",
	"segments.used.bytes":                   "56",
	"server":                                "true",
	"since_last.ns":                         "400000000",
	"suspend.ns":                            "6000",
	"suspended":                             "2026-11-05T10:00:00.998000000Z",
	"sync_blocks.count":                     "1069",
	"ticks.large.bytes":                     "32",
	"ticks.pinned.bytes":                    "33",
	"ticks.small.bytes":                     "31",
	"timing.mark_long_weak.ns":              "25",
	"timing.mark_roots.ns":                  "22",
	"timing.mark_short_weak.ns":             "23",
	"timing.mark_sized_ref.ns":              "21",
	"timing.scan_finalization.ns":           "24",
	"trigger.delay.ns":                      "3000000",
	"trigger.thread":                        "11",
	"type":                                  "background",
	"window.ns":                             "500000000",
}

// TestJSONMembers: each fact about a collection has its member, which is missing while the fact is
// unknown; the other members do not change.
func TestJSONMembers(t *testing.T) {
	const ms = int64(time.Millisecond)
	for _, c := range []struct {
		name   string
		change func(*gclog.GCDetails)
		gone   string // members and objects that disappear
		other  map[string]string
	}{
		{"all", func(*gclog.GCDetails) {}, "", nil},

		{"no number", func(d *gclog.GCDetails) { d.Known &^= gclog.GroupNumber }, "number event.sequence", map[string]string{
			"message": "GC gen2 background (AllocLarge): pause 5.000 ms, heap 560 B -> 610 B",
		}},
		{"no reason", func(d *gclog.GCDetails) { d.Known &^= gclog.GroupReason }, "reason reason_group", map[string]string{
			"message": "GC 7 gen2 background: pause 5.000 ms, heap 560 B -> 610 B",
		}},
		{"no start", func(d *gclog.GCDetails) { d.Flaws, d.Complete = gclog.FlawNoStart, false }, "event.start event.duration", map[string]string{
			"flaws[]": "no-start", "complete": "false", "log.level": "warn",
		}},
		{"no end", func(d *gclog.GCDetails) {
			d.Flaws, d.Complete = gclog.FlawNoEnd|gclog.FlawNoSizes, false
			d.Known &^= gclog.GroupEnd
		}, "event.end event.duration", map[string]string{
			"flaws[]": "no-end no-sizes", "complete": "false", "log.level": "warn",
		}},
		{"lost events", func(d *gclog.GCDetails) { d.LostEvents, d.Flaws = 1, gclog.FlawLostEvents }, "", map[string]string{
			"flaws[]": "lost-events", "lost_events.count": "0", "lost_events.within": "1",
		}},
		{"lost events of others", func(d *gclog.GCDetails) { d.LostEvents = 1 }, "", nil},
		{"from a log", func(d *gclog.GCDetails) { d.FromLog = true }, "", map[string]string{"from_log": "true"}},
		{"a long pause", func(d *gclog.GCDetails) { d.Pauses[1].Duration = 200 * ms }, "", map[string]string{
			"log.level": "warn", "message": "GC 7 gen2 background (AllocLarge): pause 202.000 ms, heap 560 B -> 610 B",
			"pause.parts[].ns": "2000000 200000000", "pause.total.ns": "202000000", "pause.max.ns": "200000000", "pause.paused.ns": "201999700", "paused.pct": "0.4040",
		}},
		{"what is reported of few", func(d *gclog.GCDetails) {
			d.DemotedBGC, d.InsideBGCStart, d.Provisional, d.BeforeEstimated = true, true, true, true
		}, "", map[string]string{
			"demoted_background": "true", "inside_background_start": "true", "provisional": "true", "heap.before_estimated": "true",
		}},
		{"a heap snapshot", func(d *gclog.GCDetails) { d.HeapDump = true }, "", map[string]string{
			"heap_dump": "true", "heap_dump_by": "other", "message": "GC 7 gen2 background (AllocLarge) for a heap snapshot: pause 5.000 ms, heap 560 B -> 610 B",
		}},
		{"a heap snapshot of gclog", func(d *gclog.GCDetails) { d.HeapDump, d.HeapDumpBy = true, gclog.RequesterGclog }, "", map[string]string{
			"heap_dump": "true", "heap_dump_by": "gclog", "message": "GC 7 gen2 background (AllocLarge) for a heap snapshot: pause 5.000 ms, heap 560 B -> 610 B",
		}},
		{"balanced young objects", func(d *gclog.GCDetails) { d.Summary.Gen0Imbalance, d.Summary.SurvivedImbalance = 1, 0 }, "imbalance.survived", map[string]string{"imbalance.gen0": "1.0"}},
		{"balanced survivors", func(d *gclog.GCDetails) { d.Summary.Gen0Imbalance, d.Summary.SurvivedImbalance = 0, 1 }, "imbalance.gen0", map[string]string{"imbalance.survived": "1.0"}},
		{"no heap count", func(d *gclog.GCDetails) { d.Global.Heaps = 0 }, "heap_count", nil},
		{"one heap", func(d *gclog.GCDetails) { d.Global.Heaps = 1 }, "", map[string]string{"heap_count": "1"}},
		{"no global history", func(d *gclog.GCDetails) { d.Known &^= gclog.GroupGlobal }, "mechanisms pause_mode", nil},
		{"no pause mode", func(d *gclog.GCDetails) { d.Global.HasMemoryLoad = false }, "pause_mode", nil},

		{"no pause", func(d *gclog.GCDetails) { d.Pauses, d.Suspended = nil, d.Start }, "pause suspend suspended paused", map[string]string{
			"message": "GC 7 gen2 background (AllocLarge), heap 560 B -> 610 B", "trigger.delay.ns": "5000000",
		}},
		{"unknown parts of a pause", func(d *gclog.GCDetails) { d.Pauses[0].HasSuspend, d.Pauses[1].HasResume = false, false }, "suspend", map[string]string{
			"pause.paused.ns": "", "pause.resume.ns": "",
			"pause.parts[].suspend.ns": "5000", "pause.parts[].resume.ns": "100",
		}},
		{"suspended with its pause", func(d *gclog.GCDetails) { d.Suspended = d.Pauses[0].Start }, "suspended", map[string]string{"trigger.delay.ns": "4000000"}},
		{"no suspension", func(d *gclog.GCDetails) { d.Suspended = 0 }, "suspended trigger.delay", nil},
		{"no trigger", func(d *gclog.GCDetails) { d.Known &^= gclog.GroupTrigger }, "trigger", nil},
		{"nothing since the last", func(d *gclog.GCDetails) { d.Known &^= gclog.GroupSinceLast }, "since_last", nil},
		{"nothing allocated", func(d *gclog.GCDetails) { d.Known &^= gclog.GroupAllocated | gclog.GroupGenerationAllocated }, "allocated alloc_rate gen0.allocated loh.allocated poh.allocated", nil},
		{"less than a byte per second", func(d *gclog.GCDetails) { d.AllocationRate = 0.99 }, "alloc_rate", nil},
		{"a byte per second", func(d *gclog.GCDetails) { d.AllocationRate = 1 }, "", map[string]string{"alloc_rate.bytes_per_s": "1.0"}},
		{"no window", func(d *gclog.GCDetails) { d.Window = 0 }, "window paused", nil},
		{"a short window", func(d *gclog.GCDetails) { d.Window = 1 }, "", map[string]string{"window.ns": "1", "paused.pct": "5000000.0000"}},

		{"no sizes before", func(d *gclog.GCDetails) { d.Known &^= gclog.GroupBefore }, "heap.before gen0.before gen1.before gen2.before loh.before poh.before", map[string]string{
			"message": "GC 7 gen2 background (AllocLarge): pause 5.000 ms",
		}},
		{"no sizes after", func(d *gclog.GCDetails) { d.Known &^= gclog.GroupAfter; noReferences(d) }, "heap.after gen0.after gen1.after gen2.after loh.after poh.after handles sync_blocks finalization", map[string]string{
			"message": "GC 7 gen2 background (AllocLarge): pause 5.000 ms",
		}},
		{"no sizes", func(d *gclog.GCDetails) { d.Known &^= gclog.GroupBefore | gclog.GroupAfter; noReferences(d) }, "heap gen0 gen1 gen2 loh poh handles sync_blocks finalization", map[string]string{
			"message": "GC 7 gen2 background (AllocLarge): pause 5.000 ms",
		}},
		{"no pinned object heap", func(d *gclog.GCDetails) { d.GenerationCount = 4 }, "poh", nil},
		{"nothing of the heap", func(d *gclog.GCDetails) {
			d.Peak = 0
			d.Known &^= gclog.GroupPromoted | gclog.GroupFragmentation | gclog.GroupCommittedAfter | gclog.GroupCommittedBefore
		}, "heap.peak heap.promoted heap.fragmentation heap.committed heap.committed_before", nil},
		{"committed before only", func(d *gclog.GCDetails) {
			d.Peak = 1
			d.Known &^= gclog.GroupCommittedAfter
		}, "heap.committed", map[string]string{"heap.committed_before.bytes": "1063", "heap.peak.bytes": "1"}},
		{"no objects", func(d *gclog.GCDetails) { d.Known &^= gclog.GroupObjects }, "gen0.obj_before gen0.obj_after gen1.obj_before gen1.obj_after gen2.obj_before gen2.obj_after loh.obj_before loh.obj_after poh.obj_before poh.obj_after", nil},
		{"no histories", func(d *gclog.GCDetails) { d.Known &^= gclog.GroupHistory }, "gen0.free_before gen0.fragmentation gen0.in gen1.free_before gen1.fragmentation gen1.in" +
			" gen2.free_before gen2.fragmentation gen2.in gen2.survived gen2.survived_pinned gen2.survival" +
			" loh.free_before loh.fragmentation loh.in loh.survived loh.survived_pinned loh.survival poh.free_before poh.fragmentation poh.in poh.survived poh.survived_pinned poh.survival poh.promoted", nil},
		{"no budget", func(d *gclog.GCDetails) { d.Generations[gclog.Gen2].Budget, d.Generations[gclog.LOH].Budget = 0, 1 }, "gen2.budget", map[string]string{"loh.budget.bytes": "1"}},
		{"budgets left and exceeded by a byte", func(d *gclog.GCDetails) {
			d.Generations[gclog.Gen0].HasBudgetLeft, d.Generations[gclog.Gen1].BudgetLeft, d.Generations[gclog.LOH].BudgetLeft = false, 1, -1
		}, "gen0.budget_left", map[string]string{"gen1.budget_left.bytes": "1", "loh.budget_exceeded.bytes": "1"}},
		{"nothing promoted", func(d *gclog.GCDetails) { d.Known &^= gclog.GroupGenerationPromoted }, "gen2.promoted loh.promoted poh.promoted", nil},
		{"a sum of allocation", func(d *gclog.GCDetails) { d.Known &^= gclog.GroupGenerationAllocated }, "gen0.allocated loh.allocated poh.allocated", nil},
		{"no ticks", func(d *gclog.GCDetails) { d.Known &^= gclog.GroupTicks }, "ticks mark.stack.times mark.steal.times", nil},

		{"no memory load", func(d *gclog.GCDetails) { d.Global.MemoryLoad = 0 }, "memory_load", nil},
		{"little memory load", func(d *gclog.GCDetails) { d.Global.MemoryLoad = 1 }, "", map[string]string{"memory_load.pct": "0.0100"}},
		{"no handles", noReferences, "handles sync_blocks finalization", nil},
		{"none of them", func(d *gclog.GCDetails) {
			d.Handles, d.SyncBlocks, d.FinalizationCount = 0, 0, 0
			d.Known &^= gclog.GroupFinalizationSize
		}, "finalization.bytes", map[string]string{
			"handles.count": "0", "sync_blocks.count": "0", "finalization.count": "0",
		}},
		{"no pins", func(d *gclog.GCDetails) { d.PinEvents, d.PinEventBytes, d.PinPlugs, d.PinPlugBytes = 0, 0, 0, 0 }, "pinned_seen pinned_plugs pinned_user", nil},
		{"one pin", func(d *gclog.GCDetails) { d.PinEvents, d.PinEventBytes, d.PinPlugs, d.PinPlugBytes = 1, 1, 1, 1 }, "", map[string]string{
			"pinned_seen.count": "1", "pinned_seen.bytes": "1", "pinned_plugs.count": "1", "pinned_plugs.bytes": "1", "pinned_user.pct": "1.0000",
		}},
		{"no finalizers", func(d *gclog.GCDetails) { d.Known &^= gclog.GroupFinalizers; d.Finalizers.Running = 0 }, "finalizers", nil},
		{"finalizers that run", func(d *gclog.GCDetails) {
			d.Finalizers.Running = 1
			d.Known &^= gclog.GroupFinalizers
		}, "finalizers.runs finalizers.objects finalizers.longest", map[string]string{"finalizers.running.ns": "1"}},
		{"finalizers that have run", func(d *gclog.GCDetails) {
			d.Finalizers.Running = 0
			d.Known &^= gclog.GroupLongestFinalizers
		}, "finalizers.longest finalizers.running", nil},
		{"no segments", func(d *gclog.GCDetails) { d.Known &^= gclog.GroupSegments | gclog.GroupReserved }, "segments", nil},
		{"segments made", func(d *gclog.GCDetails) { d.Known &^= gclog.GroupReserved }, "segments.count segments.reserved segments.used", nil},
		{"segments reserved", func(d *gclog.GCDetails) { d.Known &^= gclog.GroupSegments }, "segments.created segments.freed", nil},

		{"no memory", func(d *gclog.GCDetails) { d.Memory = gclog.Memory{At: 1} }, "process.memory process.cgroup memory_read", nil},
		{"memory of an unknown time", func(d *gclog.GCDetails) { d.Memory = gclog.Memory{Resident: 1, Cgroup: 1, CgroupLimit: 1} }, "memory_read", map[string]string{
			"process.memory.rss.bytes": "1", "process.cgroup.memory.usage.bytes": "1", "process.cgroup.memory.limit.bytes": "1",
		}},
		{"a limit only", func(d *gclog.GCDetails) { d.Memory.Cgroup = 0 }, "process.cgroup.memory.usage", nil},

		{"nothing is known of why", func(d *gclog.GCDetails) { d.Global.HasCondemned, d.Summary.Reasons = false, nil }, "condemned heaps free_list_efficiency", nil},
		{"no heap says why", func(d *gclog.GCDetails) { d.Summary.Reasons = nil }, "condemned.for_all heaps", map[string]string{
			"condemned.final": "0", "condemned.budget_exceeded": "0", "condemned.time_tuning": "0", "condemned.reasons[]": "AvoidUnproductive",
		}},
		{"only heaps say why", func(d *gclog.GCDetails) { d.Global.HasCondemned = false }, "condemned.for_all", map[string]string{"condemned.reasons[]": "HighMemory LowEphemeral"}},
		{"one heap says why", func(d *gclog.GCDetails) { d.Summary.Reasons = d.Summary.Reasons[:1] }, "", map[string]string{
			"heaps[].numbers[]": "2", "heaps[].initial": "0", "heaps[].final": "2", "heaps[].budget_exceeded": "1", "heaps[].time_tuning": "3",
		}},
		{"no free list efficiency", func(d *gclog.GCDetails) { d.Summary.HasEfficiency = false }, "free_list_efficiency", nil},

		{"no times", func(d *gclog.GCDetails) { d.TimingCount = 0 }, "timing", map[string]string{"marked_until": "2026-11-05T10:00:01.008000000Z"}},
		{"no times, no marks", func(d *gclog.GCDetails) {
			d.TimingCount, d.Summary.MarkedUntil, d.Summary.Marks = 0, 0, [clr.MarkTypes]gclog.MarkSummary{}
		}, "timing mark", nil},
		{"one time", func(d *gclog.GCDetails) { d.TimingCount = 1 }, "timing.mark_roots timing.mark_short_weak timing.scan_finalization timing.mark_long_weak", nil},
		{"marks of some", func(d *gclog.GCDetails) {
			d.Summary.Marks[clr.MarkStack].Known, d.Summary.Marks[clr.MarkHandles].HasHeap, d.Summary.Marks[clr.MarkSteal].Imbalance = false, false, 0
		}, "mark.stack mark.handles.heap mark.steal.imbalance", nil},
		{"mark times of one heap", func(d *gclog.GCDetails) { d.Summary.MarkTimes = d.Summary.MarkTimes[:3] }, "mark.steal.times", nil},
		{"no imbalance", func(d *gclog.GCDetails) { d.Summary.Gen0Imbalance, d.Summary.SurvivedImbalance = 0, 0 }, "imbalance", nil},
		{"little imbalance", func(d *gclog.GCDetails) { d.Summary.Gen0Imbalance, d.Summary.SurvivedImbalance = 0.5, 0.5 }, "", map[string]string{
			"imbalance.gen0": "0.5", "imbalance.survived": "0.5",
		}},

		{"nothing of the background", func(d *gclog.GCDetails) { d.Background = nil }, "background", nil},
		{"an unseen mark begin", func(d *gclog.GCDetails) { d.Background.MarkStart, d.Background.SweepEnd = 0, 0 }, "background.concurrent_mark background.concurrent_sweep", nil},
		{"an unseen mark end", func(d *gclog.GCDetails) { d.Background.MarkEnd, d.Background.SweepStart = 0, 0 }, "background.concurrent_mark background.concurrent_sweep", nil},
		{"no private events", func(d *gclog.GCDetails) {
			*d.Background = gclog.BackgroundDetails{MarkStart: 1, MarkEnd: 8*ms + 1, SweepStart: 1, SweepEnd: 11*ms + 1}
		}, "background.phases background.revisited background.drained_marks background.mark_overflow_objects background.alloc_waits", nil},
		{"one of each", func(d *gclog.GCDetails) {
			d.Background.DrainedMarks, d.Background.Overflowed, d.Background.WaitCount, d.Background.Waits, d.Background.Phase[0] = 1, 1, 1, nil, 0
		}, "background.phases.begin background.alloc_waits.list", map[string]string{
			"background.drained_marks.count": "1", "background.mark_overflow_objects.count": "1", "background.alloc_waits.count": "1",
		}},
		{"a wait that ends before it begins", func(d *gclog.GCDetails) { d.Background.Waits[0].Duration = -5 }, "", map[string]string{"background.alloc_waits.list[].ns": "0 0"}},
		{"no large objects", func(d *gclog.GCDetails) { d.LOHCompactions = nil }, "loh_compaction", nil},
		{"no dynamic events", func(d *gclog.GCDetails) { d.Dynamic = nil }, "dynamic_events", nil},

		{"no adaptation", func(d *gclog.GCDetails) { d.Known &^= gclog.GroupsDatas }, "datas", nil},
		{
			"a sample only", func(d *gclog.GCDetails) { d.Known = d.Known&^gclog.GroupsDatas | gclog.GroupDatasSample },
			"datas.lock_wait datas.new_heaps datas.min_heaps datas.max_heaps datas.throughput_cost datas.full_gc_new_heaps datas.gen2_cost", nil,
		},
		{
			"a tuning only", func(d *gclog.GCDetails) { d.Known = d.Known&^gclog.GroupsDatas | gclog.GroupDatasTuning },
			"datas.lock_wait datas.stable_size datas.gen0_budget_per_heap datas.soh_lock_wait datas.uoh_lock_wait datas.full_gc_new_heaps datas.gen2_cost", nil,
		},
		{"a tuning of full collections only", func(d *gclog.GCDetails) {
			d.Known = d.Known&^gclog.GroupsDatas | gclog.GroupDatasFullGCTuning
		}, "datas.lock_wait datas.stable_size datas.gen0_budget_per_heap datas.soh_lock_wait datas.uoh_lock_wait datas.new_heaps datas.min_heaps datas.max_heaps datas.throughput_cost", nil},
		{
			"a tuning of .NET 8 only", func(d *gclog.GCDetails) { d.Known = d.Known&^gclog.GroupsDatas | gclog.GroupDatasTuning8 },
			"datas.lock_wait datas.stable_size datas.gen0_budget_per_heap datas.soh_lock_wait datas.uoh_lock_wait datas.min_heaps datas.max_heaps datas.full_gc_new_heaps datas.gen2_cost",
			map[string]string{"datas.new_heaps": "9", "datas.throughput_cost.pct": "0.75"},
		},
		{
			"a sample of .NET 8 only", func(d *gclog.GCDetails) { d.Known = d.Known&^gclog.GroupsDatas | gclog.GroupDatasSample8 },
			"datas.stable_size datas.gen0_budget_per_heap datas.soh_lock_wait datas.uoh_lock_wait datas.new_heaps datas.min_heaps datas.max_heaps datas.throughput_cost datas.full_gc_new_heaps datas.gen2_cost", nil,
		},
		{"a wait that cannot be", func(d *gclog.GCDetails) { d.Datas.Sample8.LockMicroseconds = math.MaxUint64 }, "", map[string]string{"datas.lock_wait.ns": "1000000000000000"}},
		{"costs that cannot be", func(d *gclog.GCDetails) {
			d.Datas.Tuning.MedianThroughputCost, d.Datas.FullGCTuning.MedianGen2Cost = -1, 1e7
		}, "datas.throughput_cost datas.gen2_cost", nil},
		{"costs that can", func(d *gclog.GCDetails) {
			d.Datas.Tuning.MedianThroughputCost, d.Datas.FullGCTuning.MedianGen2Cost = 0, 1e6
		}, "", map[string]string{"datas.throughput_cost.pct": "0.0", "datas.gen2_cost.pct": "10000.0"}},

		{"a blocking one", func(d *gclog.GCDetails) {
			d.Kind, d.Generation, d.Global.Mechanisms, d.Background = gclog.KindBlocking, 1, clr.MechanismCompaction, nil
		}, "background gen2.budget gen2.survived gen2.survived_pinned gen2.survival gen2.promoted loh.budget loh.survived loh.survived_pinned loh.survival loh.promoted" +
			" poh.budget poh.survived poh.survived_pinned poh.survival poh.promoted", map[string]string{
			"type": "blocking", "generation": "1", "compacting": "true", "mechanisms[]": "Compaction", "pinned.count": "1068", "message": "GC 7 gen1 blocking (AllocLarge): pause 5.000 ms, heap 560 B -> 610 B",
			"gen0.budget.bytes": "210", "gen0.survived.bytes": "50", "gen0.survived_pinned.bytes": "190", "gen0.survival.pct": "0.2500", "gen0.promoted.bytes": "230",
			"gen1.budget.bytes": "211", "gen1.survived.bytes": "60", "gen1.survived_pinned.bytes": "191", "gen1.survival.pct": "0.3000", "gen1.promoted.bytes": "231",
			// The heaps that decided are those that chose this generation.
			"condemned.initial": "1", "condemned.final": "1", "condemned.budget_exceeded": "0", "condemned.time_tuning": "0", "condemned.reasons[]": "AvoidUnproductive",
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := known()
			c.change(d)
			got := gcMembers(t, d)
			gone := strings.Fields(c.gone)
			for path, want := range ofKnown {
				if slices.ContainsFunc(gone, func(g string) bool {
					return path == g || strings.HasPrefix(path, g+".") || strings.HasPrefix(path, g+"[")
				}) {
					want = ""
				}
				if other, ok := c.other[path]; ok {
					want = other
				}
				if v, there := got[path]; v != want || there != (want != "") {
					t.Errorf("%s is %q, want %q", path, v, want)
				}
			}
			for path, v := range got {
				if _, there := ofKnown[path]; !there && c.other[path] != v {
					t.Errorf("%s is %q, want %q", path, v, c.other[path])
				}
			}
			for path, want := range c.other {
				if got[path] != want {
					t.Errorf("%s is %q, want %q", path, got[path], want)
				}
			}
		})
	}
}
