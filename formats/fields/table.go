package fields

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/parse/clr"
)

type (
	gc    = gclog.GCDetails
	value = Value[gc]
)

// Sums, counts and flags come before what they are about; that is the order of json.
var table = concat(identity, pauses, sizes, generation(gclog.Gen0), generation(gclog.Gen1), generation(gclog.Gen2),
	generation(gclog.LOH), generation(gclog.POH), objects, condemned, timing, marks(), background, others,
	shortage(func(d *gc) *gclog.CPUShortage { return &d.CPU }), state)

// All returns the fields in the order of json. The caller must not change them.
func All() []Field { return table }

// Column returns the field of a column of csv; nil if there is none.
func Column(name string) *Field { return ColumnOf(table, name) }

// ColumnOf returns the one of some fields that is in a column of csv; nil if none is. A column without a
// name, such as trailing commas of a spreadsheet make, is none.
func ColumnOf[R any](list []Row[R], name string) *Row[R] {
	i := slices.IndexFunc(list, func(x Row[R]) bool { return name != "" && x.CSV == name })
	if i < 0 {
		return nil
	}
	return &list[i]
}

// Line returns the values of the unified line with this title: those with these names, or all in the
// order of json. It leaves out what takes more than getting and setting a field.
func Line(title string, names ...string) (line []LineValue) {
	for i := range table {
		f := &table[i]
		for place := range strings.SplitSeq(f.Unified, ", ") {
			of, name, _ := strings.Cut(place, " ")
			if of != title || name == "" || f.Set == nil || slices.Contains(coded, place) {
				continue
			}
			at := slices.IndexFunc(line, func(v LineValue) bool { return v.Name == name })
			if at < 0 {
				at, line = len(line), append(line, LineValue{Name: name, Short: slices.Contains(short, place)})
			}
			line[at].Fields = append(line[at].Fields, f)
		}
	}
	if len(names) > 0 {
		line = slices.DeleteFunc(line, func(v LineValue) bool { return !slices.Contains(names, v.Name) })
		slices.SortFunc(line,
			func(a, b LineValue) int { return slices.Index(names, a.Name) - slices.Index(names, b.Name) })
	}
	return line
}

// coded are the places of fields that are one value with others in another way, or end every line.
var coded = []string{
	"DotNet: gen0", "DotNet: gen1", "DotNet: gen2", "DotNet: loh", "DotNet: poh", "DotNet: peak", "DotNet: workers",
}

// short are the lists of which the zeros at the end are left out: g0 says what is known.
var short = []string{"DotNet: g1", "DotNet: g2", "DotNet: g3", "DotNet: g4"}

// A LineValue is a named value in a line. That of several fields is a list, separated by slashes: plain numbers,
// which are bytes and nanoseconds, and nothing for what is unknown.
type LineValue struct {
	Name   string
	Fields []*Field
	Short  bool // zeros at the end of the list are left out
}

func concat[R any](parts ...[]Row[R]) (all []Row[R]) {
	for _, p := range parts {
		all = append(all, p...)
	}
	return all
}

func started(d *gc) bool { return d.Flaws&gclog.FlawNoStart == 0 }
func paused(d *gc) bool  { return len(d.Pauses) > 0 }

var identity = []Field{
	row("number", "Number", "", Number, "R 1", "the number of the collection, counted by the runtime",
		grouped(gclog.GroupNumber, func(d *gc) *uint32 { return &d.Number })),
	row("generation", "Generation", "DotNet:", Number, "R 1", "the condemned generation",
		stored(math.MaxUint8, func(d *gc) (uint64, bool) { return uint64(d.Generation), true },
			func(d *gc, v uint64) { d.Generation = int(v) })),
	row("type", "Kind", "DotNet:", Text, "docs/reduction.md 4",
		"how the collection ran: blocking, background or foreground; with the flaw no-start, blocking also "+
			"means unknown",
		text(func(d *gc) string { return d.Kind.String() })),
	row("", "Type", "", Text, "R 1", "how the collection was started",
		text(func(d *gc) string {
			if !started(d) {
				return ""
			}
			return d.Type.String()
		})),
	row("reason", "Reason", "DotNet: reason", Text, "R 1", "why the collection was started",
		text(func(d *gc) string {
			if !d.Known.Has(gclog.GroupReason) {
				return ""
			}
			return d.Reason.String()
		})),
	row("reason_group", "", "", Text, "R 1", "the group of the reason: allocation, induced, low_memory or other",
		value{}),
	row("compacting", "IsCompacting", "DotNet:", Flag, "R 205", "whether the collection compacted",
		derived(func(d *gc) (uint64, bool) {
			compacting, known := d.Compacting()
			return bit(compacting), known
		})),
	row("demoted_background", "", "DotNet: demoted_background", Flag, "docs/reduction.md 4",
		"the collection was started as a background one, but ran as a blocking one; only if true",
		yes(func(d *gc) *bool { return &d.DemotedBGC })),
	row("inside_background_start", "", "", Flag, "docs/reduction.md 4",
		"the collection ran in the first suspension of a background collection; only if true",
		yes(func(d *gc) *bool { return &d.InsideBGCStart })),
	row("provisional", "Provisional", "DotNet: provisional", Flag, "R 1",
		"the full collection of provisional mode; only if true",
		yes(func(d *gc) *bool { return &d.Provisional })),
	row("heap_dump", "", "", Flag, "docs/reduction.md 4",
		"the collection of a heap snapshot, whose pause includes a walk of the heap; only if true",
		yes(func(d *gc) *bool { return &d.HeapDump })),
	row("heap_dump_by", "HeapDumpBy", "DotNet: heap_dump", Text, "docs/reduction.md 4",
		"who requested the snapshot: gclog, or other; only of the collection of a heap snapshot",
		text(func(d *gc) string {
			if !d.HeapDump {
				return ""
			}
			return d.HeapDumpBy.String()
		})),
	row("server", "", "", Flag, "D 10, D 187", "the process uses server GC", value{}),
	row("concurrent", "", "", Flag, "D 10, D 187", "background collections are enabled", value{}),
	row("heap_count", "HeapCount", "DotNet: workers", Number, "R 205", "the number of heaps",
		stored(math.MaxInt32, func(d *gc) (uint64, bool) { n := d.HeapCount(); return uint64(n), n > 0 },
			func(d *gc, v uint64) { d.Global.Heaps = int32(v) })),
	row("mechanisms[]", "", "", Texts, "R 205", "what the collection did", value{}),
	row("", "Mechanisms", "DotNet: global", Number, "R 205", "mechanisms, a bit for each",
		stored(math.MaxUint32, func(d *gc) (uint64, bool) {
			return uint64(d.Global.Mechanisms), d.Known.Has(gclog.GroupGlobal)
		}, func(d *gc, v uint64) {
			d.Global.Mechanisms = clr.Mechanisms(v)
			d.Known |= gclog.GroupGlobal | gclog.GroupCompaction
		})),
	row("pause_mode", "", "", Text, "R 205", "the latency mode of the GC",
		text(func(d *gc) string {
			if !d.Known.Has(gclog.GroupGlobal) || !d.Global.HasMemoryLoad {
				return ""
			}
			return d.Global.PauseMode.String()
		})),
	row("final_youngest_desired", "", "", Bytes, "R 205",
		"the allocation budget of gen0 that the collection decided on, of each heap; not of background collections",
		positive(func(d *gc) *uint64 { return &d.Global.FinalYoungestDesired })),
}

var pauses = []Field{
	row("", "StartRelativeMSec", "", Nanoseconds, "R 1", "the start of the collection, since the start of the session",
		derived(func(d *gc) (uint64, bool) { return uint64(d.Start), started(d) })),
	row("", "StartTime", "", Time, "R 1", "the start of the collection; event.start in json", value{}),
	row("", "DurationInMilliSeconds", "", Nanoseconds, "R 1, R 2",
		"the time from the start of the collection to its end; event.duration in json",
		derived(func(d *gc) (uint64, bool) { return uint64(d.Duration()), started(d) && d.Known.Has(gclog.GroupEnd) })),
	row("pause.total", "PauseDurationInMilliSeconds", "", Nanoseconds, "R 9, R 3",
		"how long the program was paused, in all parts",
		derived(func(d *gc) (uint64, bool) { return uint64(d.Pause()), paused(d) })),
	row("", "PauseStartRelativeMSec", "", Nanoseconds, "R 9",
		"the start of the first pause, since the start of the session",
		derived(func(d *gc) (uint64, bool) { return uint64(d.PauseStart()), paused(d) })),
	row("", "FinalPauseDurationInMilliSeconds", "", Nanoseconds, "R 9, R 3",
		"the last pause of a background collection",
		derived(func(d *gc) (uint64, bool) {
			return uint64(d.FinalPause()), paused(d) && d.Kind == gclog.KindBackground
		})),
	row("", "FinalPauseStartRelativeMSec", "", Nanoseconds, "R 9", "its start, since the start of the session",
		derived(func(d *gc) (uint64, bool) { at, known := d.FinalPauseStart(); return uint64(at), known })),
	row("", "FinalSuspensionDurationInMilliSeconds", "", Nanoseconds, "R 9, R 8",
		"the time to suspend all threads for it",
		derived(func(d *gc) (uint64, bool) { suspend, known := d.FinalSuspend(); return uint64(suspend), known })),
	row("pause.max", "", "", Nanoseconds, "R 9, R 3", "the longest part",
		derived(func(d *gc) (uint64, bool) { return uint64(d.PauseMax()), paused(d) })),
	row("pause.count", "", "", Number, "R 9, R 3", "the number of parts",
		derived(func(d *gc) (uint64, bool) { return uint64(len(d.Pauses)), paused(d) })),
	row("pause.paused", "", "", Nanoseconds, "R 9, R 7",
		"of all parts, the time before the runtime began to resume the threads, which GC.GetTotalPauseDuration counts",
		derived(func(d *gc) (uint64, bool) {
			resume, known := d.Resume()
			return uint64(d.Pause() - resume), known && paused(d)
		})),
	row("pause.resume", "", "", Nanoseconds, "R 7, R 3",
		"of all parts, the time to resume the threads: each runs as soon as it gets a processor",
		derived(func(d *gc) (uint64, bool) { resume, known := d.Resume(); return uint64(resume), known && paused(d) })),
	row("pause.parts[].start", "", "DotNet: at", Time, "R 9", "the start of a part", value{}),
	row("pause.parts[].suspend", "", "DotNet: suspend", Nanoseconds, "R 9, R 8",
		"of it, the time to suspend all threads", value{}),
	row("pause.parts[].resume", "", "DotNet: resume", Nanoseconds, "R 7, R 3",
		"of it, the time to resume them", value{}),
	row("pause.parts[].ns", "", "DotNet: took", PlainNanoseconds, "R 9, R 3", "its duration", value{}),
	row("pause.parts[].kind", "", "DotNet: pause", Text, "", "blocking, initial, final or unknown", value{}),
	row("", "ResumeDurationInMilliSeconds", "", Nanoseconds, "R 7, R 3", "the time to resume the threads, in all parts",
		derived(func(d *gc) (uint64, bool) { resume, known := d.Resume(); return uint64(resume), known && paused(d) })),
	row("", "FinalResumeDurationInMilliSeconds", "", Nanoseconds, "R 7, R 3",
		"the time to resume them after the last pause of a background collection",
		derived(func(d *gc) (uint64, bool) { resume, known := d.FinalResume(); return uint64(resume), known })),
	row("suspend", "SuspensionDurationInMilliSeconds", "", Nanoseconds, "R 9, R 8",
		"the time to suspend all threads, in all parts",
		derived(func(d *gc) (uint64, bool) {
			suspend, known := d.Suspend()
			return uint64(suspend), known && paused(d)
		})),
	row("suspended", "", "", Time, "R 9",
		"the start of the suspension, if that was before the first pause, with another collection in it",
		stored(math.MaxInt64, func(d *gc) (uint64, bool) {
			return uint64(d.Suspended), d.Suspended != 0 && d.Suspended != d.PauseStart()
		},
			func(d *gc, v uint64) { d.Suspended = int64(v) })),
	row("trigger.thread", "", "", Number, "R 35", "the thread that requested the collection",
		grouped(gclog.GroupTrigger, func(d *gc) *uint64 { return &d.Trigger })),
	row("trigger.delay", "", "", Nanoseconds, "R 35", "the time from the request to the suspension; server GC only",
		derived(func(d *gc) (uint64, bool) { delay, known := d.TriggerDelay(); return uint64(delay), known })),
	row("since_last", "", "Program: since_last", Nanoseconds, "docs/reduction.md 9",
		"how long the program ran since the sizes of the previous collection were reported",
		grouped(gclog.GroupSinceLast, func(d *gc) *int64 { return &d.SinceLast })),
	row("allocated", "Allocated", "Program: allocated", Bytes, "docs/reduction.md 8",
		"what the program allocated since the previous collection",
		grouped(gclog.GroupAllocated, func(d *gc) *uint64 { return &d.Allocated })),
	row("alloc_rate.bytes_per_s", "", "Program: rate_per_second", Ratio, "docs/reduction.md 8",
		"what it allocated per second of running time, which includes the time to resume the threads",
		stored(math.MaxUint64, func(d *gc) (uint64, bool) { return bits(d.AllocationRate, d.AllocationRate >= 1) },
			func(d *gc, v uint64) { d.AllocationRate = math.Float64frombits(v) })),
	row("paused", "", "", Percent, "docs/reduction.md 9",
		"the share of window that the program was paused for the collection",
		derived(func(d *gc) (uint64, bool) { return bits(d.PausePercent(), d.Window > 0 && paused(d)) })),
	row("window", "", "", Nanoseconds, "docs/reduction.md 9", "the time that paused refers to",
		positive(func(d *gc) *int64 { return &d.Window })),
}

var sizes = []Field{
	row("heap.before", "HeapBefore", "", Bytes, "R 204",
		"the size of the heap before the collection, free space included",
		derived(func(d *gc) (uint64, bool) { return d.SizeBefore(), d.Known.Has(gclog.GroupBefore) })),
	row("heap.before_estimated", "", "DotNet: before_estimated", Flag, "",
		"heap.before was not reported, but estimated; only if true",
		yes(func(d *gc) *bool { return &d.BeforeEstimated })),
	row("heap.after", "HeapAfter", "", Bytes, "R 4", "its size after the collection, free space included",
		derived(func(d *gc) (uint64, bool) { return d.SizeAfter(), d.Known.Has(gclog.GroupAfter) })),
	row("heap.peak", "HeapPeak", "DotNet: peak", Bytes, "R 204", "its largest size during the collection",
		positive(func(d *gc) *uint64 { return &d.Peak })),
	row("heap.promoted", "Promoted", "DotNet: promoted", Bytes, "R 4", "what was promoted",
		grouped(gclog.GroupPromoted, func(d *gc) *uint64 { return &d.PromotedBytes })),
	row("heap.fragmentation", "Fragmentation", "DotNet: fragmentation", Bytes, "R 204",
		"the free space after the collection",
		grouped(gclog.GroupFragmentation, func(d *gc) *uint64 { return &d.Fragmentation })),
	row("heap.committed", "CommittedAfter", "DotNet: committed", Bytes, "R 39",
		"the committed memory after the collection; background collections do not report it",
		grouped(gclog.GroupCommittedAfter, func(d *gc) *uint64 { return &d.CommittedAfter })),
	row("heap.committed_before", "CommittedBefore", "DotNet: committed_before", Bytes, "R 39",
		"the committed memory before the collection",
		grouped(gclog.GroupCommittedBefore, func(d *gc) *uint64 { return &d.CommittedBefore })),
}

// columns are the names of the generations in csv.
var columns = [gclog.Generations]string{"Gen0", "Gen1", "Gen2", "LOH", "POH"}

func of(d *gc, g int) *gclog.GenerationDetails { return &d.Generations[g] }
func there(d *gc, g int) bool                  { return g < d.GenerationCount }

// sized is a value that each generation has for which the group is known.
func sized(g int, group gclog.Groups, at func(*gclog.GenerationDetails) *uint64) value {
	return value{
		Get: func(d *gc) (uint64, bool) { return *at(of(d, g)), d.Known.Has(group) && there(d, g) },
		Set: func(d *gc, v uint64) {
			*at(of(d, g)) = v
			d.GenerationCount, d.Known = max(d.GenerationCount, g+1), d.Known|group
		},
		Max: math.MaxUint64,
	}
}

// ofCollected is a value that only generations have that were collected.
func ofCollected(g int, v value) value {
	get := v.Get
	v.Get = func(d *gc) (uint64, bool) {
		if !d.Collected(g) {
			return 0, false
		}
		return get(d)
	}
	return v
}

// generation returns the fields of a generation.
func generation(g int) []Field {
	name, column := gclog.GenerationName(g), columns[g]
	more := "DotNet: g" + strconv.Itoa(g) // as the runtime numbers them
	list := []Field{
		row(".before", column+"Before", "DotNet: "+name, Bytes, "R 204",
			"its size before the collection, free space included",
			sized(g, gclog.GroupBefore, func(x *gclog.GenerationDetails) *uint64 { return &x.Before })),
		row(".after", column+"Size", "DotNet: "+name, Bytes, "R 4",
			"its size after the collection, free space included",
			sized(g, gclog.GroupAfter, func(x *gclog.GenerationDetails) *uint64 { return &x.After })),
		row(".obj_before", "Obj"+column+"Before", "", Bytes, "R 204", "the objects in it before the collection",
			sized(g, gclog.GroupObjects, func(x *gclog.GenerationDetails) *uint64 { return &x.ObjectsBefore })),
		row(".obj_after", "Obj"+column+"After", "", Bytes, "R 204", "the objects in it after the collection",
			sized(g, gclog.GroupObjects, func(x *gclog.GenerationDetails) *uint64 { return &x.ObjectsAfter })),
		row(".free_before", "", more, Bytes, "R 204", "its free space before the collection",
			sized(g, gclog.GroupHistory, func(x *gclog.GenerationDetails) *uint64 { return &x.FreeBefore })),
		row(".fragmentation", column+"Fragmentation", more, Bytes, "R 204", "its free space after the collection",
			sized(g, gclog.GroupHistory, func(x *gclog.GenerationDetails) *uint64 { return &x.Fragmentation })),
		row(".in", column+"In", more, Bytes, "R 204", "what was promoted into it",
			sized(g, gclog.GroupHistory, func(x *gclog.GenerationDetails) *uint64 { return &x.In })),
		row(".survived", column+"Survived", more, Bytes, "R 204", "what survived in it, if it was collected",
			ofCollected(g,
				sized(g, gclog.GroupHistory, func(x *gclog.GenerationDetails) *uint64 { return &x.Survived }))),
		row(".survived_pinned", column+"SurvivedPinned", more, Bytes, "R 204", "of that, pinned objects",
			ofCollected(g,
				sized(g, gclog.GroupHistory, func(x *gclog.GenerationDetails) *uint64 { return &x.SurvivedPins }))),
		row(".budget", column+"Budget", more+", Condemned: "+name+"_budget", Bytes, "R 204, R 205",
			"its allocation budget until its next collection, of all heaps: docs/reduction.md 8",
			stored(math.MaxUint64, func(d *gc) (uint64, bool) {
				budget := of(d, g).Budget
				return budget, budget > 0 && there(d, g) && d.Collected(g)
			}, func(d *gc, v uint64) { of(d, g).Budget = v })),
		row(".budget_exceeded", "", "", Bytes, "docs/reduction.md 8",
			"by how much the fullest heap had exceeded its budget, an estimate",
			stored(math.MaxInt64, func(d *gc) (uint64, bool) {
				exceeded, known := d.BudgetExceeded(g)
				return exceeded, known && exceeded > 0 && there(d, g)
			}, func(d *gc, v uint64) { of(d, g).BudgetLeft, of(d, g).HasBudgetLeft = -int64(v), true })),
		row(".budget_left", "", "", Bytes, "docs/reduction.md 8",
			"what remained of its budget in the fullest heap, an estimate",
			stored(math.MaxInt64, func(d *gc) (uint64, bool) {
				x := of(d, g)
				return uint64(x.BudgetLeft), x.HasBudgetLeft && x.BudgetLeft >= 0 && there(d, g)
			}, func(d *gc, v uint64) { of(d, g).BudgetLeft, of(d, g).HasBudgetLeft = int64(v), true })),
		row(".promoted", "", "", Bytes, "R 4, R 204", "what was promoted in it, if it was collected",
			stored(math.MaxUint64, func(d *gc) (uint64, bool) {
				promoted, known := d.Promoted(g)
				return promoted, known && there(d, g)
			}, func(d *gc, v uint64) {
				of(d, g).Promoted = v
				d.Known |= gclog.GroupGenerationPromoted
			})),
		row(".survival", "", "", Percent, "R 204", "the share of its objects that survived, by size",
			derived(func(d *gc) (uint64, bool) {
				if !there(d, g) {
					return 0, false
				}
				return bits(d.Survival(g))
			})),
	}
	if g != gclog.Gen1 && g != gclog.Gen2 {
		list = append(list, row(".allocated", column+"Allocated", more+", Program: "+name, Bytes, "docs/reduction.md 8",
			"what the program allocated in it since the previous collection",
			sized(g, gclog.GroupGenerationAllocated, func(x *gclog.GenerationDetails) *uint64 { return &x.Allocated })))
	}
	for i := range list {
		list[i].JSON = name + list[i].JSON
	}
	return list
}

var objects = []Field{
	row("ticks.small", "", "Program: ticks_small", Bytes, "R 10, level full",
		"what allocation ticks reported of small objects since the previous sizes",
		grouped(gclog.GroupTicks, func(d *gc) *uint64 { return &d.TickAllocated[clr.AllocationSmall] })),
	row("ticks.large", "", "Program: ticks_large", Bytes, "R 10, level full", "the same for large objects",
		grouped(gclog.GroupTicks, func(d *gc) *uint64 { return &d.TickAllocated[clr.AllocationLarge] })),
	row("ticks.pinned", "", "Program: ticks_pinned", Bytes, "R 10, level full", "the same for the pinned object heap",
		grouped(gclog.GroupTicks, func(d *gc) *uint64 { return &d.TickAllocated[clr.AllocationPinned] })),
	row("memory_load", "MemoryLoadPercent", "DotNet: global, Condemned: memory_load_percent", WholePercent, "R 205",
		"the share of physical memory in use, as the GC sees it",
		positive(func(d *gc) *uint32 { return &d.Global.MemoryLoad })),
	row("hard_limit", "", "Settings: hard_limit", Bytes, "D 10", "the limit of the heap", value{}),
	row("pinned", "PinnedObjects", "DotNet: objects, References: pinned", Count, "R 4",
		"pinned objects that the collection found",
		stored(math.MaxUint32, func(d *gc) (uint64, bool) { n, known := d.Pinned(); return uint64(n), known },
			func(d *gc, v uint64) {
				d.PinnedObjects = uint32(v)
				d.Known |= gclog.GroupPinned
			})),
	row("handles", "Handles", "DotNet: objects, References: handles", Count, "R 4", "GC handles",
		grouped(gclog.GroupHandles, func(d *gc) *int32 { return &d.Handles })),
	row("sync_blocks", "", "References: sync_blocks", Count, "R 4", "sync blocks",
		grouped(gclog.GroupSyncBlocks, func(d *gc) *uint32 { return &d.SyncBlocks })),
	row("finalization.count", "FinalizationCount", "DotNet: objects, References: finalization", Number, "R 4",
		"objects retained for finalization",
		grouped(gclog.GroupFinalizationCount, func(d *gc) *uint64 { return &d.FinalizationCount })),
	row("finalization.bytes", "FinalizationSize", "DotNet: objects, References: finalization_size", PlainBytes, "R 4",
		"their size",
		grouped(gclog.GroupFinalizationSize, func(d *gc) *uint64 { return &d.FinalizationSize })),
	row("pinned_seen.count", "", "", Number, "R 33, level full", "pinned objects found while marking",
		positive(func(d *gc) *uint64 { return &d.PinEvents })),
	row("pinned_seen.bytes", "", "", PlainBytes, "R 33, level full", "their size",
		when(func(d *gc) bool { return d.PinEvents > 0 }, func(d *gc) *uint64 { return &d.PinEventBytes })),
	row("pinned_plugs.count", "", "References: pinned_plugs", Number, "P 199", "ranges that could not be moved",
		positive(func(d *gc) *uint64 { return &d.PinPlugs })),
	row("pinned_plugs.bytes", "", "", PlainBytes, "P 199", "their size",
		when(func(d *gc) bool { return d.PinPlugs > 0 }, func(d *gc) *uint64 { return &d.PinPlugBytes })),
	row("pinned_user", "", "", Percent, "R 33, P 199", "the share of pinned_plugs.bytes that pinned_seen.bytes are",
		derived(func(d *gc) (uint64, bool) { return bits(d.UserPinned()) })),
	row("finalizers.runs", "FinalizerRuns", "DotNet: finalizers", Number, "R 13, R 14",
		"runs of the finalizer thread since the previous sizes",
		grouped(gclog.GroupFinalizers, func(d *gc) *uint32 { return &d.Finalizers.Runs })),
	row("finalizers.objects", "FinalizerObjects", "DotNet: finalizers", Number, "R 13, R 14",
		"objects finalized in them",
		grouped(gclog.GroupFinalizers, func(d *gc) *uint64 { return &d.Finalizers.Objects })),
	row("finalizers.longest", "FinalizerLongestMSec", "DotNet: finalizers", Nanoseconds, "R 13, R 14",
		"the longest of them; unknown if events were lost or the start of a run was not seen",
		stored(MaxSpan, func(d *gc) (uint64, bool) {
			return uint64(d.Finalizers.Longest), d.Known.Has(gclog.GroupFinalizers | gclog.GroupLongestFinalizers)
		}, func(d *gc, v uint64) {
			d.Finalizers.Longest = int64(v)
			d.Known |= gclog.GroupLongestFinalizers
		})),
	row("finalizers.running", "FinalizerRunningMSec", "DotNet: finalizers", Nanoseconds, "R 13, R 14",
		"how long a run had been in progress when the collection started",
		positive(func(d *gc) *int64 { return &d.Finalizers.Running })),
	row("segments.created.count", "", "", Number, "R 5", "regions or segments created since the previous sizes",
		grouped(gclog.GroupSegments, func(d *gc) *uint32 { return &d.Segments.Created })),
	row("segments.created.bytes", "", "", PlainBytes, "R 5", "their size",
		grouped(gclog.GroupSegments, func(d *gc) *uint64 { return &d.Segments.CreatedBytes })),
	row("segments.freed.count", "", "", Number, "R 6", "regions or segments freed since the previous sizes",
		grouped(gclog.GroupSegments, func(d *gc) *uint32 { return &d.Segments.Freed })),
	row("segments.freed.bytes", "", "", PlainBytes, "R 6", "their size, of those whose creation was seen",
		grouped(gclog.GroupSegments, func(d *gc) *uint64 { return &d.Segments.FreedBytes })),
	row("segments.count", "", "", Number, "R 23, keyword 0x400000", "all regions or segments after the collection",
		grouped(gclog.GroupReserved, func(d *gc) *uint32 { return &d.Segments.Count })),
	row("segments.reserved", "", "", Bytes, "R 23, keyword 0x400000", "their address space",
		grouped(gclog.GroupReserved, func(d *gc) *uint64 { return &d.Segments.Reserved })),
	row("segments.used", "", "", Bytes, "R 23, keyword 0x400000",
		"the part of it with objects, free space between them included",
		grouped(gclog.GroupReserved, func(d *gc) *uint64 { return &d.Segments.Used })),
}

var condemned = []Field{
	row("condemned.initial", "", "Condemned: initial", Number, "R 204, R 205", "the generation condemned first",
		value{}),
	row("condemned.final", "", "Condemned: final", Number, "R 204, R 205", "the generation condemned in the end",
		value{}),
	row("condemned.budget_exceeded", "", "Condemned: budget_exceeded", Number, "R 204, R 205",
		"the oldest generation whose budget was exceeded", value{}),
	row("condemned.time_tuning", "", "Condemned: time_tuning", Number, "R 204, R 205",
		"the oldest generation that was due by time", value{}),
	row("condemned.reasons[]", "", "Condemned: reasons", Texts, "R 204, R 205", "why this generation was condemned",
		value{}),
	row("", "CondemnedGenerations", "DotNet: condemned", Number, "R 204, R 205",
		"condemned.initial, final, budget_exceeded and time_tuning, two bits each, the first in the lowest",
		stored(math.MaxUint8, func(d *gc) (uint64, bool) {
			steps, _, known := d.Condemned()
			return uint64(steps & math.MaxUint8), known
		}, func(d *gc, v uint64) {
			d.Global.CondemnedGenerations, d.Global.HasCondemned = clr.CondemnedGenerations(v), true
		})),
	row("", "CondemnedReasons", "DotNet: condemned", Number, "R 204, R 205", "condemned.reasons, a bit for each",
		stored(math.MaxUint32, func(d *gc) (uint64, bool) {
			_, conditions, known := d.Condemned()
			return uint64(conditions), known
		}, func(d *gc, v uint64) { d.Global.Condemned, d.Global.HasCondemned = clr.Condemned(v), true })),
	row("condemned.for_all[]", "", "", Texts, "R 205", "those of reasons that were decided for all heaps together",
		value{}),
	row("free_list_efficiency", "", "", ExactPercent, "R 204",
		"how much of the free space tried for gen1 survivors was used; gen1 collections only",
		stored(math.MaxUint64, func(d *gc) (uint64, bool) {
			percent, known := d.FreeListEfficiency()
			if known {
				_, _, known = d.Condemned()
			}
			return bits(percent, known)
		},
			func(d *gc, v uint64) {
				d.Summary.FreeListEfficiency, d.Summary.HasEfficiency = math.Float64frombits(v), true
			})),
	row("heaps[].numbers[]", "", "", Numbers, "R 204", "the heaps with the same reasons", value{}),
	row("heaps[].initial", "", "", Number, "R 204", "the generation that they wanted to condemn first", value{}),
	row("heaps[].final", "", "", Number, "R 204", "the generation that they wanted to condemn in the end", value{}),
	row("heaps[].budget_exceeded", "", "", Number, "R 204", "the oldest generation whose budget they had exceeded",
		value{}),
	row("heaps[].time_tuning", "", "", Number, "R 204", "the oldest generation that was due by time", value{}),
	row("heaps[].reasons[]", "", "", Texts, "R 204", "why", value{}),
	row("heaps[].compact", "", "", Text, "R 204", "why they were compacted", value{}),
	row("heaps[].expand", "", "", Text, "R 204", "why they were expanded", value{}),
}

// Roots are the names of the kinds of roots.
var Roots = [clr.MarkTypes]string{
	"stack", "finalizer_queue", "handles", "older_generations", "sized_ref", "overflow", "dependent_handles",
	"new_finalizable", "steal", "background_roots",
}

var timing = []Field{
	phase("mark_sized_ref", clr.TimeMarkSizedRef, "marking sized references"),
	phase("mark_roots", clr.TimeMarkRoots, "marking from the roots"),
	phase("mark_short_weak", clr.TimeMarkShortWeak, "clearing short weak references"),
	phase("scan_finalization", clr.TimeScanFinalization, "finding objects to finalize"),
	phase("mark_long_weak", clr.TimeMarkLongWeak, "clearing long weak references"),
	phase("plan", clr.TimePlan, "planning"),
	phase("sweep", clr.TimeSweep, "sweeping"),
	phase("relocate", clr.TimeRelocate, "relocating references, if the collection compacted"),
	phase("compact", clr.TimeCompact, "compacting"),
	row("marked_until", "", "", Time, "R 202", "the end of marking, for runtimes that do not report timing",
		stored(math.MaxInt64, func(d *gc) (uint64, bool) {
			until := d.MarkedUntil()
			return uint64(until), until != 0 && d.TimingCount == 0
		}, func(d *gc, v uint64) { d.Summary.MarkedUntil = int64(v) })),
	row("mark.*.longest", "", "Roots:", Nanoseconds, "R 202",
		"the time that the slowest heap took to mark from a kind of root", value{}),
	row("mark.*.promoted", "", "Roots:", Bytes, "R 202", "what was marked from it, in all heaps", value{}),
	row("mark.*.heap", "", "", Number, "R 202", "the number of the slowest heap", value{}),
	row("mark.*.imbalance", "", "", Ratio, "R 202", "the time of the slowest heap relative to the mean", value{}),
	row("mark.*.times[].heap", "", "", Number, "R 202, level full",
		"the number of a heap; only if several heaps marked from this kind of root", value{}),
	row("mark.*.times[].ns", "", "", PlainNanoseconds, "R 202, level full", "the time that it took", value{}),
	row("imbalance.gen0", "", "", Ratio, "R 204",
		"the most objects that a heap had in gen0, relative to the mean; server GC only",
		stored(math.MaxUint64, func(d *gc) (uint64, bool) { v := d.Gen0Imbalance(); return bits(v, v > 0) },
			func(d *gc, v uint64) { d.Summary.Gen0Imbalance = math.Float64frombits(v) })),
	row("imbalance.survived", "", "", Ratio, "R 204",
		"the most that survived in a heap, relative to the mean; server GC only",
		stored(math.MaxUint64, func(d *gc) (uint64, bool) { v := d.SurvivedImbalance(); return bits(v, v > 0) },
			func(d *gc, v uint64) { d.Summary.SurvivedImbalance = math.Float64frombits(v) })),
}

// marks are the times in lines and columns of their own; json has them in mark.
func marks() (list []Field) {
	for t, name := range Roots {
		column, kind := "Mark", strings.ReplaceAll(name, "_", " ")
		for word := range strings.SplitSeq(name, "_") {
			column += strings.ToUpper(word[:1]) + word[1:]
		}
		list = append(list, row("", column+"MSec", "DotNet: mark", Nanoseconds, "R 202",
			"the time that the slowest heap took to mark from roots of the kind "+kind,
			stored(MaxSpan, func(d *gc) (uint64, bool) {
				m := d.Mark(clr.MarkType(t))
				return uint64(m.Longest), m.Known
			}, func(d *gc, v uint64) {
				if d.Summary == nil {
					d.Summary = &gclog.HeapSummary{}
				}
				d.Summary.Marks[t] = gclog.MarkSummary{Longest: int64(v), Known: true, Unsized: true}
			})))
	}
	return list
}

// phase returns one of the times that a collection reports. One index has two meanings.
func phase(name string, i int, doc string) Field {
	return row("timing."+name, "", "Phases: "+name, Nanoseconds, "R 205", doc, value{
		Get: func(d *gc) (uint64, bool) {
			if i == clr.TimeSweep {
				if compacting, _ := d.Compacting(); compacting != (name == "relocate") {
					return 0, false
				}
			}
			return uint64(d.Timing[i]), i < d.TimingCount
		},
		Set: func(d *gc, v uint64) { d.Timing[i], d.TimingCount = int64(v), max(d.TimingCount, i+1) },
		Max: MaxSpan,
	})
}

// concurrent returns a value that only background collections have.
func concurrent[T integer](known func(*gclog.BackgroundDetails) bool, at func(*gclog.BackgroundDetails) *T) value {
	return when(func(d *gc) bool { return d.Background != nil && known(d.Background) },
		func(d *gc) *T { return at(d.Background) })
}

// reached returns the time at which a background collection reached a point.
func reached(name string, p clr.BGCPhase, doc string) Field {
	return row("background.phases."+name, "", "", Time, "P 11–19", doc,
		concurrent(func(b *gclog.BackgroundDetails) bool { return b.Phase[p] != 0 },
			func(b *gclog.BackgroundDetails) *int64 { return &b.Phase[p] }))
}

// revisited returns the fields about memory that was written to while it was being marked.
func revisited(name string, inPause, large int, doc string) []Field {
	known := func(b *gclog.BackgroundDetails) bool { return b.Revisited != [2][2]gclog.Revisit{} }
	return []Field{
		row("background.revisited."+name+".pages", "", "", Number, "P 21",
			"pages written to while they were being marked: "+doc,
			concurrent(known, func(b *gclog.BackgroundDetails) *uint64 { return &b.Revisited[inPause][large].Pages })),
		row("background.revisited."+name+".references", "", "", Number, "P 21", "references followed from them",
			concurrent(known,
				func(b *gclog.BackgroundDetails) *uint64 { return &b.Revisited[inPause][large].References })),
	}
}

var background = concat([]Field{
	row("background.concurrent_mark", "", "", Nanoseconds, "R 9, R 3, R 2", "concurrent marking",
		lasted(func(b *gclog.BackgroundDetails) (from, to int64) { return b.MarkStart, b.MarkEnd })),
	row("background.concurrent_sweep", "", "", Nanoseconds, "R 9, R 3, R 2", "concurrent sweeping",
		lasted(func(b *gclog.BackgroundDetails) (from, to int64) { return b.SweepStart, b.SweepEnd })),
	reached("begin", clr.BGCBegin, "the start of the collection"),
	reached("initial_pause_end", clr.BGCInitialPauseEnd, "the end of the initial marking"),
	reached("mark_end", clr.BGCConcurrentMarkEnd, "the end of concurrent marking"),
	reached("final_pause_begin", clr.BGCFinalPauseBegin, "the start of the final marking"),
	reached("final_pause_end", clr.BGCFinalPauseEnd, "its end"),
	reached("sweep_begin", clr.BGCSweepBegin, "the start of concurrent sweeping"),
	reached("sweep_end", clr.BGCSweepEnd, "the end of sweeping gen2"),
	reached("plan_end", clr.BGCPlanEnd, "the end of planning"),
	reached("old_sweep_end", clr.BGCOldSweepEnd, "the end of sweeping large objects"),
}, revisited("concurrent_soh", 0, 0, "small objects, concurrently"),
	revisited("concurrent_loh", 0, 1, "large objects, concurrently"),
	revisited("paused_soh", 1, 0, "small objects, in the last pause"),
	revisited("paused_loh", 1, 1, "large objects, in the last pause"),
	[]Field{
		row("background.drained_marks", "", "", Count, "P 20", "objects left to be marked in the last pause",
			concurrent(func(b *gclog.BackgroundDetails) bool { return b.DrainedMarks > 0 },
				func(b *gclog.BackgroundDetails) *uint64 { return &b.DrainedMarks })),
		row("background.mark_overflow_objects", "", "", Count, "P 22",
			"objects scanned again because the mark stack overflowed",
			concurrent(func(b *gclog.BackgroundDetails) bool { return b.Overflowed > 0 },
				func(b *gclog.BackgroundDetails) *uint64 { return &b.Overflowed })),
		row("background.alloc_waits.count", "", "", Number, "P 23, P 24",
			"allocations that had to wait for the collection",
			concurrent(waited, func(b *gclog.BackgroundDetails) *int64 { return &b.WaitCount })),
		row("background.alloc_waits.total", "", "", Nanoseconds, "P 23, P 24", "how long they waited",
			concurrent(waited, func(b *gclog.BackgroundDetails) *int64 { return &b.WaitTime })),
		row("background.alloc_waits.max", "", "", Nanoseconds, "P 23, P 24", "the longest wait",
			concurrent(waited, func(b *gclog.BackgroundDetails) *int64 { return &b.WaitMax })),
		row("background.alloc_waits.list[].start", "", "", Time, "P 23", "the start of a wait; the first 64 are listed",
			value{}),
		row("background.alloc_waits.list[].ns", "", "", PlainNanoseconds, "P 23, P 24", "its duration", value{}),
		row("background.alloc_waits.list[].thread", "", "", Number, "P 23", "the thread that waited", value{}),
		row("background.alloc_waits.list[].reason", "", "", Number, "P 23",
			"9: for a segment, 10: during the sweep, 11: over the limit", value{}),
	})

func waited(b *gclog.BackgroundDetails) bool { return b.WaitCount > 0 }

// lasted is the duration of a concurrent phase.
func lasted(of func(b *gclog.BackgroundDetails) (from, to int64)) value {
	return derived(func(d *gc) (uint64, bool) {
		if d.Background == nil {
			return 0, false
		}
		from, to := of(d.Background)
		return uint64(max(0, to-from)), from != 0 && to != 0
	})
}

// micros is a duration that the record has in microseconds.
func micros(known gclog.Groups, at func(*gc) *uint32) value {
	return value{
		Get: func(d *gc) (uint64, bool) {
			return uint64(*at(d)) * 1000, d.Known.Has(known)
		},
		Set: func(d *gc, v uint64) { *at(d) = uint32(v / 1000) },
		Max: math.MaxUint32 * 1000,
	}
}

var others = []Field{
	row("loh_compaction.plan", "", "", Nanoseconds, "R 208",
		"planning the compaction of large objects, in the slowest heap", value{}),
	row("loh_compaction.relocate", "", "", Nanoseconds, "R 208", "relocating references to them, in the slowest heap",
		value{}),
	row("loh_compaction.compact", "", "", Nanoseconds, "R 208", "compacting them, in the slowest heap", value{}),
	row("loh_compaction.references", "", "", Count, "R 208", "references to them, in all heaps", value{}),
	row("datas.stable_size", "", "", Bytes, "R 39", "the size of long-lived small objects (.NET 9)",
		grouped(gclog.GroupDatasSample, func(d *gc) *uint64 { return &d.Datas.Sample.StableSize })),
	row("datas.gen0_budget_per_heap", "", "", Bytes, "R 39", "the budget of gen0 of each heap",
		grouped(gclog.GroupDatasSample, func(d *gc) *uint32 { return &d.Datas.Sample.Gen0BudgetPerHeap })),
	row("datas.soh_lock_wait", "", "", Nanoseconds, "R 39", "waiting for the lock of small object allocation",
		micros(gclog.GroupDatasSample, func(d *gc) *uint32 { return &d.Datas.Sample.SOHLockMicroseconds })),
	row("datas.uoh_lock_wait", "", "", Nanoseconds, "R 39",
		"waiting for the lock of large and pinned object allocation",
		micros(gclog.GroupDatasSample, func(d *gc) *uint32 { return &d.Datas.Sample.UOHLockMicroseconds })),
	row("datas.lock_wait", "", "", Nanoseconds, "R 39", "waiting for either lock (.NET 8)",
		stored(1e15, func(d *gc) (uint64, bool) {
			return min(d.Datas.Sample8.LockMicroseconds, 1e12) * 1000, d.Known.Has(gclog.GroupDatasSample8)
		}, func(d *gc, v uint64) {
			d.Datas.Sample8.LockMicroseconds = v / 1000
			d.Known |= gclog.GroupDatasSample8
		})),
	row("datas.new_heaps", "", "", Number, "R 39", "the number of heaps from now on",
		derived(func(d *gc) (uint64, bool) {
			if d.Known.Has(gclog.GroupDatasTuning) {
				return uint64(d.Datas.Tuning.NewHeaps), true
			}
			return uint64(d.Datas.Tuning8.NewHeaps), d.Known.Has(gclog.GroupDatasTuning8)
		})),
	row("datas.min_heaps", "", "", Number, "R 39", "the smallest number of heaps considered",
		grouped(gclog.GroupDatasTuning, func(d *gc) *uint16 { return &d.Datas.Tuning.MinHeaps })),
	row("datas.max_heaps", "", "", Number, "R 39", "the largest number of heaps considered",
		grouped(gclog.GroupDatasTuning, func(d *gc) *uint16 { return &d.Datas.Tuning.MaxHeaps })),
	row("datas.throughput_cost", "", "", ExactPercent, "R 39", "the median throughput cost",
		derived(func(d *gc) (uint64, bool) {
			if d.Known.Has(gclog.GroupDatasTuning) {
				return cost(d.Datas.Tuning.MedianThroughputCost)
			}
			v, valid := cost(d.Datas.Tuning8.MedianThroughputCost)
			return v, valid && d.Known.Has(gclog.GroupDatasTuning8)
		})),
	row("datas.full_gc_new_heaps", "", "", Number, "R 39",
		"the number of heaps from now on, decided after full collections",
		grouped(gclog.GroupDatasFullGCTuning, func(d *gc) *uint16 { return &d.Datas.FullGCTuning.NewHeaps })),
	row("datas.gen2_cost", "", "", ExactPercent, "R 39", "the median cost of gen2 collections",
		derived(func(d *gc) (uint64, bool) {
			v, valid := cost(d.Datas.FullGCTuning.MedianGen2Cost)
			return v, valid && d.Known.Has(gclog.GroupDatasFullGCTuning)
		})),
	row("dynamic_events[].time", "", "", Time, "R 39", "the time of an event that gclog does not know", value{}),
	row("dynamic_events[].name", "", "", Text, "R 39", "its name", value{}),
	row("dynamic_events[].data", "", "", Hex, "R 39", "its data", value{}),
	row("memory_read", "MemoryReadRelativeMSec", "DotNet: memory", Time, "",
		"when process.memory and process.cgroup were read",
		stored(math.MaxInt64,
			func(d *gc) (uint64, bool) { return uint64(d.Memory.At), d.Memory.Known() && d.Memory.At != 0 },
			func(d *gc, v uint64) { d.Memory.At = int64(v) })),
	row("", "Resident", "DotNet: memory", Bytes, "", "the physical memory of the process; process.memory.rss in json",
		positive(func(d *gc) *uint64 { return &d.Memory.Resident })),
	row("", "CgroupMemory", "DotNet: memory", Bytes, "",
		"the memory of its control group, page cache included; process.cgroup.memory.usage in json",
		positive(func(d *gc) *uint64 { return &d.Memory.Cgroup })),
	row("", "CgroupLimit", "DotNet: memory", Bytes, "",
		"the limit of the control group; process.cgroup.memory.limit in json",
		positive(func(d *gc) *uint64 { return &d.Memory.CgroupLimit })),
	row("", "ProcessID", "", Number, "", "the process; process.pid in json", value{}),
	row("threads", "", "", Number, "", "the threads of the process at that time",
		positive(func(d *gc) *uint32 { return &d.Threads })),
}

// state is what is known of the record itself.
var state = []Field{
	row("complete", "Complete", "", Flag, "docs/reduction.md 5", "whether everything about the collection was seen",
		stored(1, func(d *gc) (uint64, bool) { return bit(d.Complete), true },
			func(d *gc, v uint64) { d.Complete = v != 0 })),
	row("flaws[]", "", "DotNet: flaws", Texts, "docs/reduction.md 5", "why the record is not complete", value{}),
	row("lost_events.count", "", "", Number, "docs/reduction.md 5", "events lost since the previous record", value{}),
	row("lost_events.within", "", "", Number, "docs/reduction.md 5",
		"of them, while the collection was open, if that is another number", value{}),
	row("", "LostEvents", "", Number, "docs/reduction.md 5", "events lost while the collection was open",
		stored(math.MaxUint64, func(d *gc) (uint64, bool) { return d.LostEvents, true },
			func(d *gc, v uint64) { d.LostEvents = v })),
	row("from_log", "", "", Flag, "", "the record was read from a log that contains less; only if true",
		yes(func(d *gc) *bool { return &d.FromLog })),
}

// cost returns the runtime's percentage, if it is a valid one.
func cost(percent float32) (v uint64, valid bool) {
	return bits(float64(percent), percent >= 0 && percent <= 1e6)
}
