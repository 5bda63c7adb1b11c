package gclog

import (
	"fmt"
	"slices"

	"github.com/gclog/gclog/parse/clr"
)

// Kind is how a collection ran. It differs from how it was started (GCDetails.Type) if a background
// collection ran as a blocking one.
type Kind uint8

// The kinds of collections.
const (
	KindBlocking   Kind = iota // the program was paused throughout
	KindBackground             // gen2 while the program ran, with two pauses
	KindForeground             // blocking gen0 or gen1 while a background collection ran
)

var kindNames = [...]string{"blocking", "background", "foreground"}

func (k Kind) String() string { return kindNames[k] }

// A Requester is who requested a heap snapshot.
type Requester uint8

// The requesters.
const (
	RequesterOther Requester = iota // a diagnostic tool other than gclog
	RequesterGclog
)

var requesterNames = [...]string{"other", "gclog"}

func (r Requester) String() string { return requesterNames[r] }

// ParseRequester returns the requester with this name, as String returns it.
func ParseRequester(name []byte) (r Requester, ok bool) {
	i := slices.Index(requesterNames[:], string(name))
	return Requester(max(i, 0)), i >= 0
}

// Flaw is a set of reasons why a record is incomplete.
type Flaw uint16

// The flaws. A record with any of them has Complete false.
const (
	FlawNoStart    Flaw = 1 << iota // it started before the session: at most number and generation are known
	FlawNoSuspend                   // the start of its suspension was not seen: no pause
	FlawNoEnd                       // GCEnd was not seen
	FlawNoSizes                     // GCHeapStats was not seen
	FlawNoRestart                   // the end of its suspension was not seen: no pause
	FlawLostEvents                  // the runtime dropped events while the collection, or its suspension, was open
	FlawTime                        // its event times went backwards: the stream is damaged
	FlawNoHeaps                     // a heap's history was not seen: no sums over the heaps
	FlawCutOff                      // the session ended before it did: a session that saw its end has its record
)

var flawNames = [...]string{
	"no-start", "no-suspend", "no-end", "no-sizes", "no-restart", "lost-events", "time", "no-heaps", "cut-off",
}

// Names appends the names of the flaws to dst.
func (f Flaw) Names(dst []string) []string {
	for i, name := range flawNames {
		if f&(1<<i) != 0 {
			dst = append(dst, name)
		}
	}
	return dst
}

// ParseFlaw returns the flaw with this name, as Names returns it.
func ParseFlaw(name []byte) (f Flaw, ok bool) {
	for i, n := range flawNames {
		if string(name) == n {
			return 1 << i, true
		}
	}
	return 0, false
}

// Generations are always indexed in this order; see package clr.
const (
	Gen0        = clr.Gen0
	Gen1        = clr.Gen1
	Gen2        = clr.Gen2
	LOH         = clr.LOH // large objects
	POH         = clr.POH // .NET 5 and later: pinned objects
	Generations = clr.Generations
)

// GenerationName returns a generation's name as it appears in logs.
func GenerationName(g int) string { return generationNames[g] }

var generationNames = [Generations]string{"gen0", "gen1", "gen2", "loh", "poh"}

// GCDetails is everything known about one collection. Times are nanoseconds since the stream's sync
// point, durations are nanoseconds, and sizes are bytes summed over all heaps; derived values are
// methods.
//
// The Reducer owns the record: it is valid during the call of the Observer; use Clone to keep it.
// The events that a field comes from are in brackets, with R for the runtime provider and P for the
// private provider; docs/events.md describes them.
type GCDetails struct {
	// Known is which groups of fields are known. Fields that are in no group are always known, or
	// their zero value means that they are not.
	Known Groups

	// Identity.
	Number      uint32     // [R 1 Count]
	Index       int64      // position among this Reducer's records, from 0
	Generation  int        // condemned [R 1 Depth]; this is final
	Type        clr.GCType // as it was started [R 1]
	Kind        Kind       // as it ran
	Reason      clr.Reason // [R 1]
	ClrInstance uint16

	// DemotedBGC: started as a background collection, but ran as a blocking one. That is typical of
	// the first background collection of a process.
	DemotedBGC bool
	// InsideBGCStart: a gen0 or gen1 collection in the first suspension of a background collection.
	// It shares that suspension.
	InsideBGCStart bool
	// Provisional: the full collection of provisional mode, in the same suspension as the gen1
	// collection before it [R 1 Reason PMFullGC].
	Provisional bool
	// HeapDump: the collection is that of a heap snapshot, and its pause includes a walk of the heap
	// [R 16, or docs/reduction.md 4].
	HeapDump bool
	// HeapDumpBy is who requested the snapshot, if HeapDump is set.
	HeapDumpBy Requester

	Complete   bool
	Flaws      Flaw
	LostEvents uint64 // dropped by the runtime while the collection, or its suspension, was open

	// UserData belongs to the user: the Reducer does not touch it. Copies share it.
	UserData any

	// Memory is the memory use of the process; only live sessions have it. It does not come from an
	// event: the reader of the stream fills it in.
	Memory Memory
	// Threads is how many threads the process had when Memory was read; 0: unknown.
	Threads uint32
	// CPU is how short of processors the process was around its latest slow pause; see CPUShortage.
	CPU CPUShortage

	// Times.
	Start      int64       // [R 1]
	StartTicks int64       // the same in ticks of the stream's clock
	End        int64       // [R 2]; 0 with FlawNoEnd
	Pauses     []PausePart // in time order; blocking collections have one [R 9, 8, 7, 3]
	Suspended  int64       // start of the suspension that it started in, which others may share [R 9]
	Triggered  int64       // when it was requested [R 35]
	Trigger    uint64      // thread that requested it

	// SinceLast is the time that the program ran since the sizes of the previous collection were
	// reported: until PauseStart or, for a background collection, until its own sizes [R 4].
	SinceLast int64

	// AllocationRate is how many bytes the program allocated per second of running time since the
	// last non-background collection: Allocated of this collection and of the background collections
	// that ended in between, divided by the time from when the runtime began to resume the threads
	// then until this collection's pause, without what was Paused in between. 0: unknown, as for
	// background collections, whose Allocated covers a different interval.
	AllocationRate float64
	// Window is the time that PausePercent relates to.
	Window int64

	// Timing is where the collection's time went [R 205 Times], by clr.Time constant; only the
	// first TimingCount are set. Blocking collections have 7 or 8, background ones 5.
	Timing      [clr.Times]int64
	TimingCount int

	Background *BackgroundDetails // nil except for background collections
	background BackgroundDetails  // what Background points to

	// Sizes.
	Generations [Generations]GenerationDetails
	// GenerationCount is 4 before .NET 5, which introduced the pinned object heap.
	GenerationCount int
	BeforeEstimated bool   // Before of the generations is the best estimate, not reported by the collection
	Peak            uint64 // the largest size during the collection
	Fragmentation   uint64 // free space after the collection
	PromotedBytes   uint64
	CommittedBefore uint64 // [R 39 CommittedUsage]
	CommittedAfter  uint64
	Allocated       uint64 // by the program since the previous collection
	// TickAllocated is what allocation ticks reported since the sizes of the previous collection:
	// small, large, pinned [R 10, level full].
	TickAllocated [3]uint64

	// Global is what applies to all heaps together [R 205].
	Global clr.GCGlobalHeapHistory
	// Heaps are the heaps that reported, in the order of their reports [R 204, 202].
	Heaps []HeapDetails
	// Summary replaces Heaps in a record read from a log; otherwise nil.
	Summary *HeapSummary
	// FromLog: the record was read from a log, which may contain less than was reported. JSON logs
	// contain everything that this module derives from a collection.
	FromLog bool

	Segments   SegmentDetails
	Finalizers FinalizerDetails

	// Objects.
	PinnedObjects     uint32 // [R 4]; meaningless for a background collection
	Handles           int32  // [R 4]
	SyncBlocks        uint32 // [R 4]
	FinalizationCount uint64 // objects retained for finalization [R 4]
	FinalizationSize  uint64 // their size in bytes [R 4]
	PinEvents         uint64 // pinned objects found, at level full [R 33]
	PinEventBytes     uint64
	PinPlugs          uint64 // ranges that could not be moved [P 199]
	PinPlugBytes      uint64

	// Details that only some collections have.
	LOHCompactions []clr.LOHCompact // one per heap [R 208]
	FreeItems      []clr.FitBucket  // largest free list items of gen2, for gen1 collections [R 209]
	Plugs          []clr.FitBucket  // plugs of the condemned generation [R 209]
	Datas          DatasDetails
	Dynamic        []DynamicEvent // named events unknown to gclog [R 39]
}

// Memory is the memory use of a process and its control group, in bytes; 0 is unknown.
type Memory struct {
	Resident    uint64 // of the process, in physical memory
	Cgroup      uint64 // of all processes in its control group, including the group's page cache
	CgroupLimit uint64 // the control group's memory limit
	At          int64  // when this was read, nanoseconds since the sync point; 0: unknown
}

// Known reports whether any value is known.
func (m *Memory) Known() bool { return m.Resident|m.Cgroup|m.CgroupLimit != 0 }

// A CPUShortage is what the kernel showed of a shortage of processors around a pause that was long, or
// in which threads were slow to suspend or to resume. It does not come from an event: the reader of the
// stream of a live session takes the differences since its reading before the pause. A value is 0 if
// there was none, or if it is unknown: not every kernel shows everything, nor to everybody.
type CPUShortage struct {
	Interval int64 // the time that all but what follows Waited is about, in nanoseconds; 0: nothing was read
	// Pressure is the percentage of the Interval in which any thread of the host waited for a processor,
	// GroupPressure the same for the control group of the process (PSI, "some").
	Pressure, GroupPressure float64
	// Throttled is for how long quotas kept control groups of the process from running, in nanoseconds
	// summed over processors, and Throttles in how many periods of the quota.
	Throttled int64
	Throttles uint32
	// Waited is how long the threads of the process were runnable without a processor in the
	// WaitedInterval, in nanoseconds summed over the threads.
	Waited, WaitedInterval int64
	Runnable               uint32 // threads of the host that ran or waited for a processor at its end
	Processors             uint32 // that the process may use, regardless of quotas
}

// A PausePart is one interval during which the program was paused for a collection.
type PausePart struct {
	Kind     PauseKind
	Start    int64
	Duration int64
	Suspend  int64 // of Duration: time to suspend all threads; in a shared suspension 0 except in the first part
	Resume   int64 // of Duration: time to resume the threads
	// HasSuspend and HasResume: Suspend and Resume are known. They are not if their events were
	// lost, or if the log that the record was read from does not contain them.
	HasSuspend, HasResume bool
}

// Paused returns the part of Duration before the runtime began to resume the threads. From then on
// they run one by one, as soon as they get a processor.
func (p *PausePart) Paused() int64 { return p.Duration - p.Resume }

// GenerationDetails is one generation, summed over all heaps. GCDetails.Known says which fields are
// known.
type GenerationDetails struct {
	Before        uint64 // [R 204 SizeBefore]
	After         uint64 // free space included [R 4]
	ObjectsBefore uint64 // without free space [R 204]
	ObjectsAfter  uint64
	FreeBefore    uint64
	Fragmentation uint64 // free space after
	In            uint64 // promoted from the generation below
	Survived      uint64 // for collected generations
	SurvivedPins  uint64 // of Survived, pinned
	// Budget is how much may be allocated in the generation, or promoted into it, until its next
	// collection, summed over all heaps: each heap has an equal share, and the first to exceed it
	// requests a collection. Valid for generations up to the condemned one. 0: unknown. For gen0 it
	// is what the runtime decided [R 205], for others what the heaps requested [R 204], which server
	// GC smooths for LOH and POH (docs/reduction.md 8).
	Budget uint64
	// BudgetLeft is what remained of the budget when the collection started, in the heap with the
	// smallest remainder: its share of what the generation's last collection set, minus what has
	// been allocated in or promoted into the generation since. Negative: exceeded by that much. No
	// event reports the runtime's own count: this is an estimate, and unknown if something else
	// changed the budget.
	BudgetLeft    int64
	HasBudgetLeft bool
	Promoted      uint64 // [R 4]; for pinned objects [R 204]
	Allocated     uint64 // by the program since the previous collection: gen0, LOH and POH only
}

// SegmentDetails describes the blocks of memory that make up the heap: regions since .NET 7,
// segments before. .NET Core 3.1 and the standalone segments GC report nothing.
type SegmentDetails struct {
	Created, Freed uint32 // since the sizes of the previous collection were reported [R 5, 6]
	CreatedBytes   uint64
	FreedBytes     uint64 // only of those whose creation the session saw
	// Reserved is the address space of all of them after the collection; Used is the part that
	// objects occupy, including free space between them [R 23, keyword 0x400000].
	Reserved, Used uint64
	Count          uint32
}

// FinalizerDetails describes the runs of the finalizer thread since the sizes of the previous
// collection were reported.
type FinalizerDetails struct {
	Runs    uint32 // runs that ended [R 13, 14]
	Objects uint64 // objects finalized in those runs
	Longest int64  // the longest of those runs, in nanoseconds
	Running int64  // how long a run had been in progress when the collection started; 0: none was
}

// HeapDetails is one heap.
type HeapDetails struct {
	History    clr.GCPerHeapHistory // [R 204]
	HasHistory bool
	Heap       uint32
	// MarkTimes is how long the heap took to mark from each kind of root, indexed by clr.MarkType,
	// in nanoseconds: the time since the heap's previous mark event, or since GCStart for the
	// first; summed if the runtime marks from a kind more than once. What it reports as mark stack
	// overflow is the time of dependent handles (docs/reduction.md 9). Set for the kinds in Marked [R
	// 202].
	MarkTimes    [clr.MarkTypes]int64
	MarkPromoted [clr.MarkTypes]uint64
	Marked       uint16 // one bit per reported kind: 1<<clr.MarkType
	MarkedUntil  int64  // when the last kind was done, in nanoseconds since the stream's sync point; 0: none reported
}

// HeapSummary is what logs contain about the heaps.
type HeapSummary struct {
	Reasons            []HeapReasons
	Marks              [clr.MarkTypes]MarkSummary
	MarkTimes          []MarkTime // see GCDetails.MarkTimes; logs of level full only
	MarkedUntil        int64      // see GCDetails.MarkedUntil
	Gen0Imbalance      float64    // see GCDetails.Imbalance
	SurvivedImbalance  float64
	FreeListEfficiency float64 // percent
	HasEfficiency      bool
}

// HeapReasons is why one heap chose its generation, and why it was compacted or expanded [R 204].
type HeapReasons struct {
	Heap                 uint32
	CondemnedGenerations clr.CondemnedGenerations
	Condemned            clr.Condemned
	Compact, Expand      clr.HeapMechanism
}

// MarkTime is how long one heap took to mark from one kind of root.
type MarkTime struct {
	Heap     uint32
	From     clr.MarkType
	Duration int64 // nanoseconds
}

// MarkSummary summarizes marking from one kind of root over all heaps.
type MarkSummary struct {
	Longest   int64 // nanoseconds that the slowest heap took
	Heap      int   // its number
	HasHeap   bool
	Promoted  uint64
	Unsized   bool    // Promoted is unknown: some logs have only the times
	Imbalance float64 // as MarkImbalance returns it; 0: unknown
	Known     bool
}

// BackgroundDetails is what only background collections have.
type BackgroundDetails struct {
	// The concurrent phases, from events that every session has: mark is from the first restart to
	// the second suspension, sweep from the second restart to GCEnd. 0: not seen.
	MarkStart, MarkEnd   int64
	SweepStart, SweepEnd int64
	// Phase is when the last heap passed each point (the first heap, for starts), from the private
	// provider; 0: not reported [P 11-19].
	Phase [clr.BGCPhases]int64
	// Revisited counts memory written to while it was being marked, outside pauses [0] and in them
	// [1], for small [0] and for large and pinned [1] objects [P 21].
	Revisited    [2][2]Revisit
	DrainedMarks uint64 // objects [P 20]
	Overflowed   uint64 // objects scanned again because the mark stack overflowed [P 22]
	Waits        []AllocWait
	WaitCount    int64 // number of waits, including those not in Waits
	WaitTime     int64 // sum over all waits
	WaitMax      int64
}

// Revisit counts what had to be revisited.
type Revisit struct {
	Pages      uint64 // pages that had been written to
	References uint64 // references followed from those pages
}

// An AllocWait is a thread whose allocation had to wait for a background collection [P 23, 24],
// until the thread resumed, possibly after GCEnd. If the end of the wait was not seen, the wait
// lasts at least until GCEnd.
type AllocWait struct {
	Thread          uint64
	Start, Duration int64
	Reason          uint32 // 9: for a segment; 10: during the sweep; 11: over the limit
}

// DatasDetails are the decisions of dynamic adaptation (DATAS) made with a collection.
type DatasDetails struct {
	Sample       clr.SizeAdaptationSample
	Tuning       clr.SizeAdaptationTuning
	FullGCTuning clr.SizeAdaptationFullGCTuning
	Tuning8      clr.HeapCountTuning // .NET 8
	Sample8      clr.HeapCountSample // .NET 8
}

// A DynamicEvent is a named event without a known layout.
type DynamicEvent struct {
	Time int64
	Name string
	Data []byte
}

// Limits of the lists in a record, so that no target can make it grow without bound.
const (
	maxHeaps   = 1024 // the runtime's own limit
	maxPauses  = 64
	maxWaits   = 64
	maxBuckets = 64
	maxDynamic = 16
	maxData    = 1024 // bytes of a dynamic event
)

// PauseStart returns when the first pause started, or Start if no pause is known.
func (d *GCDetails) PauseStart() int64 {
	if len(d.Pauses) == 0 {
		return d.Start
	}
	return d.Pauses[0].Start
}

// Pause returns how long the program was paused for the collection in total.
func (d *GCDetails) Pause() (sum int64) {
	for i := range d.Pauses {
		sum += d.Pauses[i].Duration
	}
	return sum
}

// PauseMax returns the longest single pause.
func (d *GCDetails) PauseMax() (longest int64) {
	for i := range d.Pauses {
		longest = max(longest, d.Pauses[i].Duration)
	}
	return longest
}

// Suspend returns the time to suspend the threads, summed over all pauses. It is unknown if it is
// unknown for any of them.
func (d *GCDetails) Suspend() (sum int64, known bool) {
	return d.sumOfPauses(func(p *PausePart) (int64, bool) { return p.Suspend, p.HasSuspend })
}

// Resume returns the same for the time to resume the threads.
func (d *GCDetails) Resume() (sum int64, known bool) {
	return d.sumOfPauses(func(p *PausePart) (int64, bool) { return p.Resume, p.HasResume })
}

func (d *GCDetails) sumOfPauses(of func(*PausePart) (v int64, known bool)) (sum int64, known bool) {
	for i := range d.Pauses {
		v, known := of(&d.Pauses[i])
		if !known {
			return 0, false
		}
		sum += v
	}
	return sum, true
}

// FinalPause returns the duration of the last pause of a background collection, 0 for others.
func (d *GCDetails) FinalPause() int64 {
	if p := d.final(); p != nil {
		return p.Duration
	}
	return 0
}

// FinalPauseStart returns when that pause started; known is false if there was none.
func (d *GCDetails) FinalPauseStart() (at int64, known bool) {
	if p := d.final(); p != nil {
		return p.Start, true
	}
	return 0, false
}

// FinalSuspend returns the time to suspend the threads for that pause; known is false if there was
// none.
func (d *GCDetails) FinalSuspend() (suspend int64, known bool) {
	if p := d.final(); p != nil {
		return p.Suspend, p.HasSuspend
	}
	return 0, false
}

// FinalResume returns the time to resume the threads after that pause; known is false if there was
// none.
func (d *GCDetails) FinalResume() (resume int64, known bool) {
	if p := d.final(); p != nil {
		return p.Resume, p.HasResume
	}
	return 0, false
}

func (d *GCDetails) final() *PausePart {
	for i := range slices.Backward(d.Pauses) {
		if d.Pauses[i].Kind == PauseFinal {
			return &d.Pauses[i]
		}
	}
	return nil
}

// Duration returns the time from GCStart to GCEnd; for a background collection that is its whole
// lifetime.
func (d *GCDetails) Duration() int64 {
	if !d.Known.Has(GroupEnd) || d.Flaws&FlawNoStart != 0 {
		return 0
	}
	return d.End - d.Start
}

// TriggerDelay returns the time from the request to the start of the suspension. It is unknown for
// workstation GC, which reports the trigger only after the threads are suspended.
func (d *GCDetails) TriggerDelay() (delay int64, known bool) {
	delay = d.Suspended - d.Triggered
	if !d.Known.Has(GroupTrigger) || delay <= 0 {
		return 0, false
	}
	return delay, true
}

// PausePercent returns Pause as a percentage of Window, 0 if unknown.
func (d *GCDetails) PausePercent() float64 {
	if d.Window <= 0 {
		return 0
	}
	return 100 * float64(d.Pause()) / float64(d.Window)
}

// Compacting reports whether the collection compacted, and whether that is known.
func (d *GCDetails) Compacting() (compacting, known bool) {
	if d.Kind == KindBackground {
		return false, true
	}
	return d.Global.Mechanisms&clr.MechanismCompaction != 0, d.Known.Has(GroupCompaction)
}

// SizeBefore returns the heap size before the collection, free space included.
func (d *GCDetails) SizeBefore() uint64 {
	return d.sum(func(g *GenerationDetails) uint64 { return g.Before })
}

// SizeAfter returns the heap size after the collection, free space included.
func (d *GCDetails) SizeAfter() uint64 {
	return d.sum(func(g *GenerationDetails) uint64 { return g.After })
}

func (d *GCDetails) sum(of func(*GenerationDetails) uint64) (n uint64) {
	for g := range d.Generations {
		n += of(&d.Generations[g])
	}
	return n
}

// Pinned returns PinnedObjects, if it is known and meaningful.
func (d *GCDetails) Pinned() (objects uint32, known bool) {
	return d.PinnedObjects, d.Known.Has(GroupPinned) && d.Kind != KindBackground
}

// UserPinned returns what percentage of the bytes that could not be moved were the pinned objects
// themselves; the rest was between or next to them, or pinned by the GC. It is unknown without both
// kinds of events, and if large objects, which are in no plug, bring it above 100 %.
func (d *GCDetails) UserPinned() (percent float64, known bool) {
	if d.PinEventBytes == 0 || d.PinEventBytes > d.PinPlugBytes {
		return 0, false
	}
	return 100 * float64(d.PinEventBytes) / float64(d.PinPlugBytes), true
}

// GenerationName returns the name of the condemned generation, whatever number the stream contains:
// the function [GenerationName] has names of existing generations only.
func (d *GCDetails) GenerationName() string {
	return fmt.Sprintf("gen%d", d.Generation)
}

// KindKnown reports whether it was seen how the collection ran. For a collection that started
// before the session this is true only if it was seen to run in the background: a blocking one may
// have been a foreground one, and a gen2 collection may have been of either kind.
func (d *GCDetails) KindKnown() bool { return d.Flaws&FlawNoStart == 0 || d.Kind == KindBackground }

// Collected reports whether the collection collected generation g: all generations up to the
// condemned one and, for gen2, also large and pinned objects. A background collection does not
// collect the young generations.
func (d *GCDetails) Collected(g int) bool {
	if d.Kind == KindBackground {
		return g >= Gen2
	}
	return g <= d.Generation || d.Generation >= Gen2
}

// Survival returns the percentage of the objects in generation g that survived. It is unknown for
// generations that were not collected, for empty ones, and if far more survived than the runtime
// had reported beforehand, as after provisional full collections and in background ones: the two
// numbers are from different moments. Slightly more, as occasionally in gen1, counts as 100 %.
func (d *GCDetails) Survival(g int) (percent float64, known bool) {
	x := &d.Generations[g]
	if !d.Known.Has(GroupHistory) || !d.Collected(g) || x.ObjectsBefore == 0 || x.moreSurvived() {
		return 0, false
	}
	return 100 * float64(min(x.Survived, x.ObjectsBefore)) / float64(x.ObjectsBefore), true
}

// moreSurvived reports whether more survived than is plausible: in recordings the excess is at most
// 1.6 % if everything survived, but from 10 % to many times the size if the two numbers do not
// belong together.
func (x *GenerationDetails) moreSurvived() bool {
	return sub(x.Survived, x.ObjectsBefore) > x.ObjectsBefore/50
}

// Promoted returns how many bytes of generation g were promoted. It is unknown for generations that
// were not collected.
func (d *GCDetails) Promoted(g int) (bytes uint64, known bool) {
	if !d.Known.Has(GroupGenerationPromoted) || !d.Collected(g) || g == POH && !d.Known.Has(GroupHistory) {
		return 0, false
	}
	return d.Generations[g].Promoted, true
}

// FragmentationPercent returns the share of free space in generation g after the collection;
// unknown for an empty generation.
func (d *GCDetails) FragmentationPercent(g int) (percent float64, known bool) {
	x := &d.Generations[g]
	if !d.Known.Has(GroupHistory) || !d.Known.Has(GroupAfter) || x.After == 0 {
		return 0, false
	}
	return 100 * float64(x.Fragmentation) / float64(x.After), true
}

// PeakRatio returns the largest size during the collection relative to the size after it.
func (d *GCDetails) PeakRatio() (ratio float64, known bool) {
	after := d.SizeAfter()
	if d.Peak == 0 || !d.Known.Has(GroupAfter) || after == 0 {
		return 0, false
	}
	return float64(d.Peak) / float64(after), true
}

// BudgetExceeded returns by how many bytes the fullest heap had exceeded its budget for generation
// g when the collection started, 0 if some was left. Like BudgetLeft, it is an estimate.
func (d *GCDetails) BudgetExceeded(g int) (bytes uint64, known bool) {
	x := &d.Generations[g]
	return uint64(max(0, -x.BudgetLeft)), x.HasBudgetLeft
}

// HeapCount returns the number of heaps, 0 if unknown.
func (d *GCDetails) HeapCount() int {
	if n := int(d.Global.Heaps); n > 0 {
		return n
	}
	n := 0
	for i := range d.Heaps {
		if d.Heaps[i].HasHistory {
			n++
		}
	}
	return n
}

// ReportedHeaps returns the number of heaps that reported.
func (d *GCDetails) ReportedHeaps() int {
	if d.Summary != nil {
		return len(d.Summary.Reasons)
	}
	return len(d.Heaps)
}

// HeapReasons returns the reasons from the history of heap i of the ReportedHeaps; unknown if that
// heap has no history.
func (d *GCDetails) HeapReasons(i int) (r HeapReasons, known bool) {
	if d.Summary != nil {
		return d.Summary.Reasons[i], true
	}
	h := &d.Heaps[i]
	return HeapReasons{
		h.Heap, h.History.CondemnedGenerations, h.History.Condemned, h.History.Compact.Reason(),
		h.History.Expand.Reason(),
	}, h.HasHistory
}

// Condemned returns why the generation was condemned, from the heap that decided: the one with the
// lowest number among those that chose this generation or, if none did, among all. The bits include
// decisions made for all heaps together.
func (d *GCDetails) Condemned() (steps clr.CondemnedGenerations, conditions clr.Condemned, known bool) {
	var decided HeapReasons
	wanted := func(h *HeapReasons) bool { return h.CondemnedGenerations.Final() == d.Generation }
	for i := range d.ReportedHeaps() {
		h, ok := d.HeapReasons(i)
		switch {
		case !ok, d.Flaws&FlawNoHeaps != 0:
		case !known, wanted(&h) && !wanted(&decided), wanted(&h) == wanted(&decided) && h.Heap < decided.Heap:
			decided, known = h, true
		}
	}
	steps, conditions = decided.CondemnedGenerations, decided.Condemned
	if d.Global.HasCondemned {
		conditions |= d.Global.Condemned
		if !known {
			steps, known = d.Global.CondemnedGenerations, true
		}
	}
	return steps, conditions, known
}

// FreeListEfficiency returns how much of the free list space tried by a gen1 collection was used
// for allocations, in percent; unknown if none was tried.
func (d *GCDetails) FreeListEfficiency() (percent float64, known bool) {
	if d.Summary != nil {
		return d.Summary.FreeListEfficiency, d.Summary.HasEfficiency
	}
	var allocated, rejected uint64
	for i := range d.Heaps {
		allocated += d.Heaps[i].History.FreeListAllocated
		rejected += d.Heaps[i].History.FreeListRejected
	}
	if d.Generation != Gen1 || allocated+rejected == 0 || d.Flaws&FlawNoHeaps != 0 {
		return 0, false
	}
	return 100 * float64(allocated) / float64(allocated+rejected), true
}

// MarkTime returns how long heap i of Heaps took to mark from one kind of root, in
// nanoseconds, if it reported that.
func (d *GCDetails) MarkTime(i int, t clr.MarkType) (took int64, known bool) {
	h := &d.Heaps[i]
	if h.Marked&(1<<t) == 0 || h.MarkTimes[t] < 0 {
		return 0, false
	}
	return h.MarkTimes[t], true
}

// MarkTimes appends to list how long the heaps took to mark from one kind of root, for those that
// reported it.
func (d *GCDetails) MarkTimes(list []MarkTime, t clr.MarkType) []MarkTime {
	if d.Summary != nil {
		for _, x := range d.Summary.MarkTimes {
			if x.From == t {
				list = append(list, x)
			}
		}
		return list
	}
	for i := range d.Heaps {
		if took, known := d.MarkTime(i, t); known {
			list = append(list, MarkTime{d.Heaps[i].Heap, t, took})
		}
	}
	return list
}

// Mark summarizes marking from one kind of root over all heaps.
func (d *GCDetails) Mark(t clr.MarkType) (m MarkSummary) {
	if d.Summary != nil {
		return d.Summary.Marks[t]
	}
	for i := range d.Heaps {
		h := &d.Heaps[i]
		if took, known := d.MarkTime(i, t); known && (!m.Known || took > m.Longest) {
			m.Longest, m.Heap, m.HasHeap, m.Known = took, int(h.Heap), true, true
		}
		m.Promoted += h.MarkPromoted[t]
	}
	m.Imbalance, _ = d.MarkImbalance(t)
	return m
}

// MarkedUntil returns when the last of the heaps that reported marking was done, in nanoseconds
// since the stream's sync point; 0: none reported.
func (d *GCDetails) MarkedUntil() (at int64) {
	if d.Summary != nil {
		return d.Summary.MarkedUntil
	}
	for i := range d.Heaps {
		at = max(at, d.Heaps[i].MarkedUntil)
	}
	return at
}

// MarkImbalance returns the time that the slowest heap took to mark from one kind of root, relative
// to the mean of all heaps: 1 is balanced. It is unknown if fewer than two heaps reported it.
func (d *GCDetails) MarkImbalance(t clr.MarkType) (ratio float64, known bool) {
	if d.Summary != nil {
		m := &d.Summary.Marks[t]
		return m.Imbalance, m.Imbalance > 0
	}
	var sum, most int64
	n := 0
	for i := range d.Heaps {
		if took, known := d.MarkTime(i, t); known {
			sum += took
			most = max(most, took)
			n++
		}
	}
	if n < 2 || sum == 0 {
		return 0, false
	}
	return float64(most) * float64(n) / float64(sum), true
}

// Gen0Imbalance returns how unevenly young objects were distributed over the heaps of server GC, as
// Imbalance defines it.
func (d *GCDetails) Gen0Imbalance() float64 {
	if d.Summary != nil {
		return d.Summary.Gen0Imbalance
	}
	return d.Imbalance(
		func(h *HeapDetails) uint64 { return uint64(max(0, h.History.Generation[Gen0].ObjectsBefore())) })
}

// SurvivedImbalance returns the same for survivors.
func (d *GCDetails) SurvivedImbalance() float64 {
	if d.Summary != nil {
		return d.Summary.SurvivedImbalance
	}
	return d.Imbalance(func(h *HeapDetails) (n uint64) {
		for g := range h.History.Generations {
			n += h.History.Generation[g].Survivors()
		}
		return n
	})
}

// Imbalance returns the largest value that of returns for any heap, relative to the mean: 1 is
// balanced. 0 is unknown: fewer than two heaps, or nothing to distribute.
func (d *GCDetails) Imbalance(of func(*HeapDetails) uint64) float64 {
	var sum, most uint64
	for i := range d.Heaps {
		v := of(&d.Heaps[i])
		sum += v
		most = max(most, v)
	}
	if len(d.Heaps) < 2 || sum == 0 || d.Flaws&FlawNoHeaps != 0 {
		return 0
	}
	return float64(most) * float64(len(d.Heaps)) / float64(sum)
}

// AppendName appends the generation and kind as PerfView writes them: 2B, 1F, 0N, with I for
// induced and i for induced but not forced.
func (d *GCDetails) AppendName(dst []byte) []byte {
	dst = append(dst, byte('0'+min(d.Generation, 9)), "NBF"[d.Kind])
	if d.Known.Has(GroupReason) {
		switch d.Reason {
		case clr.ReasonInduced:
			dst = append(dst, 'I')
		case clr.ReasonInducedNotForced:
			dst = append(dst, 'i')
		}
	}
	return dst
}

// Clone returns a copy that shares nothing with d.
func (d *GCDetails) Clone() *GCDetails {
	c := &GCDetails{}
	c.CopyFrom(d)
	return c
}

// CopyFrom makes d a copy of src that shares nothing with it, reusing the memory of d's lists.
func (d *GCDetails) CopyFrom(src *GCDetails) {
	keep := *d
	*d = *src
	d.Pauses = append(keep.Pauses[:0], src.Pauses...)
	d.Heaps = append(keep.Heaps[:0], src.Heaps...)
	d.LOHCompactions = append(keep.LOHCompactions[:0], src.LOHCompactions...)
	d.FreeItems = append(keep.FreeItems[:0], src.FreeItems...)
	d.Plugs = append(keep.Plugs[:0], src.Plugs...)
	d.background.Waits = keep.background.Waits[:0]
	if src.Background != nil {
		waits := append(d.background.Waits, src.Background.Waits...)
		d.background, d.Background = *src.Background, &d.background
		d.background.Waits = waits
	}
	if src.Summary != nil {
		summary := *src.Summary
		summary.Reasons = slices.Clone(summary.Reasons)
		summary.MarkTimes = slices.Clone(summary.MarkTimes)
		d.Summary = &summary
	}
	d.Dynamic = nil
	for _, e := range src.Dynamic {
		e.Data = slices.Clone(e.Data)
		d.Dynamic = append(d.Dynamic, e)
	}
}

// Reset clears the record, keeping the memory of its lists.
func (d *GCDetails) Reset() {
	pauses, heaps, compactions := d.Pauses[:0], d.Heaps[:0], d.LOHCompactions[:0]
	items, plugs := d.FreeItems[:0], d.Plugs[:0]
	waits := d.background.Waits[:0]
	*d = GCDetails{}
	d.Pauses, d.Heaps, d.LOHCompactions, d.FreeItems, d.Plugs = pauses, heaps, compactions, items, plugs
	d.background.Waits = waits
}
