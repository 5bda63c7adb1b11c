package gclog

import (
	"fmt"
	"math"
	"slices"

	"github.com/gclog/gclog/parse/clr"
)

// Kind is how a collection was carried out. It differs from how it was started
// (GCDetails.Type) where a background collection ran as a blocking one.
type Kind uint8

// The kinds of collections.
const (
	KindBlocking   Kind = iota // the program stood all the time
	KindBackground             // gen2 while the program ran, with two pauses
	KindForeground             // blocking gen0 or gen1 while a background collection ran
)

var kindNames = [...]string{"blocking", "background", "foreground"}

func (k Kind) String() string { return kindNames[k] }

// Flaw is a set of reasons why a record is not whole.
type Flaw uint16

// The flaws. A record with any of them has Complete false.
const (
	FlawNoStart    Flaw = 1 << iota // it began before the session: number and generation at most
	FlawNoSuspend                   // the start of its suspension was not seen: no pause
	FlawNoEnd                       // GCEnd was not seen
	FlawNoSizes                     // GCHeapStats was not seen
	FlawNoRestart                   // the end of its suspension was not seen: no pause
	FlawLostEvents                  // the runtime dropped events while it, or its suspension, was open
	FlawTime                        // its events say that time went back: the stream is damaged
	FlawNoHeaps                     // the history of some heap was not seen: no sums over the heaps
)

var flawNames = [...]string{"no-start", "no-suspend", "no-end", "no-sizes", "no-restart", "lost-events", "time", "no-heaps"}

// Names appends the names of the flaws to dst.
func (f Flaw) Names(dst []string) []string {
	for i, name := range flawNames {
		if f&(1<<i) != 0 {
			dst = append(dst, name)
		}
	}
	return dst
}

// ParseFlaw returns the flaw that Names names so.
func ParseFlaw(name []byte) (f Flaw, ok bool) {
	for i, n := range flawNames {
		if string(name) == n {
			return 1 << i, true
		}
	}
	return 0, false
}

// Generations are always in this order; see package clr.
const (
	Gen0        = clr.Gen0
	Gen1        = clr.Gen1
	Gen2        = clr.Gen2
	LOH         = clr.LOH // large objects
	POH         = clr.POH // pinned objects, .NET 5 and up
	Generations = clr.Generations
)

// GenerationName names a generation as logs do.
func GenerationName(g int) string { return generationNames[g] }

var generationNames = [Generations]string{"gen0", "gen1", "gen2", "loh", "poh"}

// GCDetails is all that is known about one collection. Times are nanoseconds
// since the stream's sync point, durations nanoseconds, sizes bytes over all
// heaps; what derives from them are methods.
//
// The Reducer owns the record: it is valid during the call of the Observer, and
// Clone keeps it. The events that a field comes from are in brackets, with R and
// P for the runtime and the private provider; docs/events.md describes them.
type GCDetails struct {
	// Identity.
	Number      uint32     // [R 1 Count]
	HasNumber   bool       // false: it began before the session and has not ended
	Index       int64      // position among the records of this Reducer, from 0
	Generation  int        // condemned [R 1 Depth]; it is final
	Type        clr.GCType // as it was started [R 1]
	Kind        Kind       // as it was carried out
	Reason      clr.Reason // [R 1]
	HasReason   bool       // false: FlawNoStart
	ClrInstance uint16

	// DemotedBGC: started as a background collection, but run as a blocking one.
	// That is typical for the first background collection of a process.
	DemotedBGC bool
	// InsideBGCStart: gen0 or gen1 in the first suspension of a background
	// collection. It shares that suspension.
	InsideBGCStart bool
	// Provisional: the full collection of provisional mode, in the same suspension
	// as the gen1 before it [R 1 Reason PMFullGC].
	Provisional bool
	// HeapDump: its pause includes a walk of the heap for a snapshot [R 16].
	HeapDump bool

	Complete   bool
	Flaws      Flaw
	LostEvents uint64 // dropped by the runtime while the collection, or its suspension, was open

	// UserData is the user's: the Reducer leaves it alone. A copy has the same.
	UserData any

	// Memory is that of the process, of live sessions only. It is no event: who reads
	// the stream fills it in.
	Memory Memory

	// Times.
	Start      int64 // [R 1]
	StartTicks int64 // the same in ticks of the stream's clock
	End        int64 // [R 2]; 0 with FlawNoEnd
	HasEnd     bool
	Pauses     []PausePart // in time order; one for a blocking collection [R 9, 8, 7, 3]
	Suspended  int64       // begin of the suspension that it started in, which others may share [R 9]
	Triggered  int64       // when it was asked for [R 35]
	Trigger    uint64      // thread that asked
	HasTrigger bool

	// SinceLast is the time that the program ran since the sizes of the previous
	// collection were told: up to PauseStart, of a background collection up to its
	// own sizes [R 4].
	SinceLast    int64
	HasSinceLast bool

	// AllocationRate is what the program allocated per second that it ran, in bytes, since
	// the last collection that was not a background one let it go on: Allocated of this
	// collection and of the background ones that ended between them, divided by the time
	// without the pauses in it. 0: unknown, as of background collections, whose Allocated
	// is of another stretch of time.
	AllocationRate float64
	// Window is the time that PausePercent refers to.
	Window int64

	// What the collection spent its time on [R 205 Times], by clr.Time constant; the
	// first TimingCount are there. Blocking collections have 7 or 8, background ones 5.
	Timing      [clr.Times]int64
	TimingCount int

	Background *BackgroundDetails // nil but for background collections
	background BackgroundDetails  // what Background points to

	// Sizes.
	Generations [Generations]GenerationDetails
	// GenerationCount is 4 before .NET 5, which has no pinned object heap.
	GenerationCount int
	HasSizesAfter   bool // After of the generations [R 4]
	HasHistory      bool // what comes from the histories of the heaps [R 204]
	// HasObjects and HasFragmentation: these of what comes from the histories. A record
	// that was read from a log may have them without the rest; the free space is that of
	// the whole heap then, and Gen2 has it.
	HasObjects       bool
	HasFragmentation bool
	BeforeEstimated  bool // Before is not the collection's own, but the best guess
	HasBefore        bool
	Peak             uint64 // the largest size while the collection lasted
	HasPromoted      bool   // PromotedBytes
	PromotedBytes    uint64
	// HasGenerationPromoted: Promoted of the generations. Of pinned objects only the
	// histories tell it: without them it is known of the others, and PromotedBytes is not.
	HasGenerationPromoted bool

	CommittedBefore    uint64 // [R 39 CommittedUsage]
	HasCommittedBefore bool
	CommittedAfter     uint64 // blocking collections only
	HasCommittedAfter  bool

	// TickAllocated is what allocation ticks said since the sizes of the previous
	// collection: small, large, pinned [R 10, level full].
	TickAllocated [3]uint64
	HasTicks      bool
	HasAllocated  bool // what was allocated; without HasGenerationAllocated Gen0 has all of it
	// HasGenerationAllocated: Allocated of the generations. A record that was read from a log
	// may have their sum only.
	HasGenerationAllocated bool

	// Global is what all heaps have in common [R 205].
	Global    clr.GCGlobalHeapHistory
	HasGlobal bool
	// HasCompaction: Global reports whether objects were moved together. A record that
	// was read from a log may know that, the number of heaps, why the generation was
	// chosen and the memory load, and nothing else.
	HasCompaction bool
	// Heaps are the heaps that reported, in the order of their reports [R 204, 202].
	Heaps []HeapDetails
	// Summary stands for Heaps in a record that was read from a log; else nil.
	Summary *HeapSummary
	// FromLog: the record was read from a log that may hold less of it than was reported.
	// Logs in JSON hold all that this module makes of a collection.
	FromLog bool

	Segments   SegmentDetails
	Finalizers FinalizerDetails

	// Objects.
	PinnedObjects     uint32 // [R 4]; of a background collection meaningless. math.MaxUint32: unknown
	Handles           int32  // [R 4]; negative: unknown
	SyncBlocks        uint32 // [R 4]; math.MaxUint32: unknown
	FinalizationCount uint64 // objects kept alive to be finalized [R 4]; math.MaxUint64: unknown
	FinalizationSize  uint64 // bytes of them; math.MaxUint64: unknown
	PinEvents         uint64 // pinned objects found, at level full [R 33]
	PinEventBytes     uint64
	PinPlugs          uint64 // stretches that could not be moved [P 199]
	PinPlugBytes      uint64

	// Details that come with some collections only.
	LOHCompactions []clr.LOHCompact // one per heap [R 208]
	FreeItems      []clr.FitBucket  // largest free list items of gen2, in gen1 collections [R 209]
	Plugs          []clr.FitBucket  // plugs of the condemned generation [R 209]
	Datas          DatasDetails
	Dynamic        []DynamicEvent // named events that gclog does not know [R 39]
}

// Memory is how much memory a process and its control group have, in bytes; 0 is
// unknown.
type Memory struct {
	Resident    uint64 // of the process, in physical memory
	Cgroup      uint64 // of all processes of its control group, with its page cache
	CgroupLimit uint64 // that the group may have
	At          int64  // when this was read, nanoseconds since the sync point; 0: unknown
}

// Known reports whether anything is known.
func (m *Memory) Known() bool { return m.Resident|m.Cgroup|m.CgroupLimit != 0 }

// A PausePart is one time that the program stood for a collection.
type PausePart struct {
	Kind     PauseKind
	Start    int64
	Duration int64
	Suspend  int64 // of Duration, until all threads stood; 0 in a shared suspension but for its first part
	Resume   int64 // of Duration, since they were let go
	// Both may be Untold: their events were lost, or the log that the record was read from
	// does not tell them.
}

// Untold is a part of a pause that is not known.
const Untold = -1

// GenerationDetails is one generation, all heaps together. Which fields are
// there is told by the flags of GCDetails.
type GenerationDetails struct {
	Before        uint64 // [R 204 SizeBefore]
	After         uint64 // free space included [R 4]
	ObjectsBefore uint64 // without free space [R 204]
	ObjectsAfter  uint64
	FreeBefore    uint64
	Fragmentation uint64 // free space after
	In            uint64 // came from the generation below
	Survived      uint64 // of the collected ones
	SurvivedPins  uint64 // of Survived, pinned
	// Budget is what may be allocated in the generation, or promoted into it, until its next
	// collection, all heaps together: each has an equal share, and the first to use it up asks
	// for a collection. Valid up to the condemned generation. 0: unknown. Of gen0 it is what the
	// runtime decided [R 205], of others what the heaps asked for [R 204].
	Budget uint64
	// BudgetLeft is what was left of the budget when the collection began, in the heap that had
	// least: its share of what the last collection of the generation set, less what was allocated
	// in it, or promoted into it, since then. Negative: exceeded by so much. The runtime's own
	// count is in no event: it is an estimate, and unknown where something else moved the budget.
	BudgetLeft    int64
	HasBudgetLeft bool
	Promoted      uint64 // [R 4]; pinned objects [R 204]
	Allocated     uint64 // by the program since the previous collection: gen0, LOH and POH
}

// SegmentDetails are the stretches of memory that the heap is made of: regions since
// .NET 7, segments before. .NET Core 3.1 and the standalone GC of segments tell nothing.
type SegmentDetails struct {
	Known          bool   // Created to FreedBytes: the session has seen such an event
	Created, Freed uint32 // since the sizes of the previous collection were told [R 5, 6]
	CreatedBytes   uint64
	FreedBytes     uint64 // of those that the session saw created
	// Reserved is the address space of all of them after the collection, and Used what
	// objects take of it, free space between them included [R 23, keyword 0x400000].
	Reserved, Used uint64
	Count          uint32
	HasReserved    bool
}

// FinalizerDetails are the runs of the finalizer thread since the sizes of the previous
// collection were told.
type FinalizerDetails struct {
	Known   bool   // the session has seen such an event
	Runs    uint32 // that have ended [R 13, 14]
	Objects uint64 // that were finalized in them
	Longest int64  // of the runs, nanoseconds
	// HasLongest says that the starts of all of them were seen, and no events were lost meanwhile.
	HasLongest bool
	Running    int64 // for so long a run went on when the collection began; 0: none did
}

// HeapDetails is one heap.
type HeapDetails struct {
	History    clr.GCPerHeapHistory // [R 204]
	HasHistory bool
	Heap       uint32
	// MarkTimes are how long the heap took to mark from each kind of root, by clr.MarkType, in
	// nanoseconds: the time since the event before it of the heap, for the first since GCStart, all
	// together where the runtime marks from a kind more than once. Of those in Marked [R 202].
	MarkTimes    [clr.MarkTypes]int64
	MarkPromoted [clr.MarkTypes]uint64
	Marked       uint16 // a bit for each kind that was reported: 1<<clr.MarkType
	MarkedUntil  int64  // when the last was done, in nanoseconds since the stream's sync point; 0: none was reported
}

// HeapSummary is what logs hold of the heaps.
type HeapSummary struct {
	Reasons            []HeapReasons
	Marks              [clr.MarkTypes]MarkSummary
	MarkedUntil        int64   // as that of GCDetails
	Gen0Imbalance      float64 // as Imbalance returns it
	SurvivedImbalance  float64
	FreeListEfficiency float64 // percent
	HasEfficiency      bool
}

// HeapReasons is why one heap wanted its generation, and was compacted or expanded [R 204].
type HeapReasons struct {
	Heap                 uint32
	CondemnedGenerations clr.CondemnedGenerations
	Condemned            clr.Condemned
	Compact, Expand      clr.HeapMechanism
}

// MarkSummary is how marking from one kind of root went in all heaps.
type MarkSummary struct {
	Longest   int64 // nanoseconds of the heap that took longest
	Heap      int   // its number; negative: unknown
	Promoted  uint64
	Imbalance float64 // as MarkImbalance returns it, 0: unknown
	Known     bool
}

// BackgroundDetails is what only background collections have.
type BackgroundDetails struct {
	// The concurrent phases, from the events that every session has: mark is from
	// the first restart to the second suspension, sweep from the second restart to
	// GCEnd. 0: not seen.
	MarkStart, MarkEnd   int64
	SweepStart, SweepEnd int64
	// Phase is when the last heap passed the point (the first for begins), from the
	// private provider; 0: not told [P 11-19].
	Phase [clr.BGCPhases]int64
	// Revisited is what was written to while it was marked, outside of pauses [0]
	// and in them [1], of small [0] and of large and pinned [1] objects [P 21].
	Revisited    [2][2]Revisit
	DrainedMarks uint64 // objects [P 20]
	Overflowed   uint64 // objects gone through again because the mark stack overflowed [P 22]
	Waits        []AllocWait
	WaitCount    int64 // of Waits, those left out too
	WaitTime     int64 // sum
	WaitMax      int64
}

// Revisit counts what had to be visited again.
type Revisit struct {
	Pages      uint64 // that had been written to
	References uint64 // that were followed from there
}

// An AllocWait is a thread that had to wait with an allocation for a background
// collection [P 23, 24], until it ran again: that may be after GCEnd. Where the end of the
// wait was not seen, it is at least until GCEnd.
type AllocWait struct {
	Thread          uint64
	Start, Duration int64
	Reason          uint32 // 9 for a segment, 10 during the sweep, 11 over the limit
}

// DatasDetails are the decisions of dynamic adaptation (DATAS) that fell with a
// collection.
type DatasDetails struct {
	Sample          clr.SizeAdaptationSample
	HasSample       bool
	Tuning          clr.SizeAdaptationTuning
	HasTuning       bool
	FullGCTuning    clr.SizeAdaptationFullGCTuning
	HasFullGCTuning bool
	Tuning8         clr.HeapCountTuning // .NET 8
	HasTuning8      bool
	Sample8         clr.HeapCountSample // .NET 8
	HasSample8      bool
}

// A DynamicEvent is a named event without a known layout.
type DynamicEvent struct {
	Time int64
	Name string
	Data []byte
}

// Limits of the lists in a record, so that no target can make it grow.
const (
	maxHeaps   = 1024 // the runtime's own limit
	maxPauses  = 64
	maxWaits   = 64
	maxBuckets = 64
	maxDynamic = 16
	maxData    = 1024 // bytes of a dynamic event
)

// PauseStart is when the first pause began, Start if none is known.
func (d *GCDetails) PauseStart() int64 {
	if len(d.Pauses) == 0 {
		return d.Start
	}
	return d.Pauses[0].Start
}

// Pause is how long the program stood for the collection in all.
func (d *GCDetails) Pause() (sum int64) {
	for i := range d.Pauses {
		sum += d.Pauses[i].Duration
	}
	return sum
}

// PauseMax is the longest part of Pause.
func (d *GCDetails) PauseMax() (longest int64) {
	for i := range d.Pauses {
		longest = max(longest, d.Pauses[i].Duration)
	}
	return longest
}

// Suspend is how long it took to stop the threads, in all pauses; Untold if that is
// not known of one.
func (d *GCDetails) Suspend() int64 {
	return d.sumPauses(func(p *PausePart) int64 { return p.Suspend })
}

// Resume is how long it took to let the threads go on, in all pauses; Untold if that
// is not known of one.
func (d *GCDetails) Resume() int64 {
	return d.sumPauses(func(p *PausePart) int64 { return p.Resume })
}

// sumPauses adds up a part of all pauses; Untold if one does not tell it.
func (d *GCDetails) sumPauses(of func(*PausePart) int64) (sum int64) {
	for i := range d.Pauses {
		v := of(&d.Pauses[i])
		if v < 0 {
			return Untold
		}
		sum += v
	}
	return sum
}

// FinalPause is the last pause of a background collection, 0 of others.
func (d *GCDetails) FinalPause() int64 {
	if p := d.final(); p != nil {
		return p.Duration
	}
	return 0
}

// FinalPauseStart is when that pause began; not known if there is none.
func (d *GCDetails) FinalPauseStart() (at int64, known bool) {
	if p := d.final(); p != nil {
		return p.Start, true
	}
	return 0, false
}

// FinalSuspend is how long it took to stop the threads for that pause, 0 if there is
// none; Untold if that is not known.
func (d *GCDetails) FinalSuspend() int64 {
	if p := d.final(); p != nil {
		return p.Suspend
	}
	return 0
}

func (d *GCDetails) final() *PausePart {
	for i := range slices.Backward(d.Pauses) {
		if d.Pauses[i].Kind == PauseFinal {
			return &d.Pauses[i]
		}
	}
	return nil
}

// Duration is from GCStart to GCEnd; of a background collection its whole life.
func (d *GCDetails) Duration() int64 {
	if !d.HasEnd || d.Flaws&FlawNoStart != 0 {
		return 0
	}
	return d.End - d.Start
}

// TriggerDelay is from the request to the start of the suspension. Not known of
// workstation GC, which says that it was triggered only when the threads stand.
func (d *GCDetails) TriggerDelay() (delay int64, known bool) {
	delay = d.Suspended - d.Triggered
	if !d.HasTrigger || delay <= 0 {
		return 0, false
	}
	return delay, true
}

// PausePercent is the share of Pause in Window, 0 where that is unknown.
func (d *GCDetails) PausePercent() float64 {
	if d.Window <= 0 {
		return 0
	}
	return 100 * float64(d.Pause()) / float64(d.Window)
}

// Compacting reports whether the collection moved objects together, and whether
// that is known.
func (d *GCDetails) Compacting() (compacting, known bool) {
	if d.Kind == KindBackground {
		return false, true
	}
	return d.Global.Mechanisms&clr.MechanismCompaction != 0, d.HasCompaction
}

// SizeBefore is the size of the heap before, free space included.
func (d *GCDetails) SizeBefore() uint64 {
	return d.sum(func(g *GenerationDetails) uint64 { return g.Before })
}

// SizeAfter is the size of the heap after, free space included.
func (d *GCDetails) SizeAfter() uint64 {
	return d.sum(func(g *GenerationDetails) uint64 { return g.After })
}

// Fragmentation is the free space after.
func (d *GCDetails) Fragmentation() uint64 {
	return d.sum(func(g *GenerationDetails) uint64 { return g.Fragmentation })
}

// Allocated is what the program allocated since the previous collection.
func (d *GCDetails) Allocated() uint64 {
	return d.sum(func(g *GenerationDetails) uint64 { return g.Allocated })
}

func (d *GCDetails) sum(of func(*GenerationDetails) uint64) (n uint64) {
	for g := range d.Generations {
		n += of(&d.Generations[g])
	}
	return n
}

// Pinned is PinnedObjects, where that is known and means something.
func (d *GCDetails) Pinned() (objects uint32, known bool) {
	return d.PinnedObjects, d.HasSizesAfter && d.Kind != KindBackground && d.PinnedObjects != math.MaxUint32
}

// UserPinned is how much of what could not be moved were the pinned objects themselves, in
// percent; the rest lay between and beside them, or the GC pinned it. Not known without both
// kinds of events, nor if large objects, which are in no stretch, make it more than all.
func (d *GCDetails) UserPinned() (percent float64, known bool) {
	if d.PinEventBytes == 0 || d.PinEventBytes > d.PinPlugBytes {
		return 0, false
	}
	return 100 * float64(d.PinEventBytes) / float64(d.PinPlugBytes), true
}

// GenerationName names the condemned generation. It is whatever the stream says:
// [GenerationName] has names of real ones only.
func (d *GCDetails) GenerationName() string {
	return fmt.Sprintf("gen%d", d.Generation)
}

// KindKnown reports whether it was seen how the collection was carried out. Of one that began
// before the session that is so only if it was seen to run in the background: a blocking one
// may have been a foreground one, and a gen2 of either kind.
func (d *GCDetails) KindKnown() bool { return d.Flaws&FlawNoStart == 0 || d.Kind == KindBackground }

// Collected reports whether the collection looked at generation g: those up to its
// own, a gen2 also at large and pinned objects. A background collection leaves the
// young generations alone.
func (d *GCDetails) Collected(g int) bool {
	if d.Kind == KindBackground {
		return g >= Gen2
	}
	return g <= d.Generation || d.Generation >= Gen2
}

// Survival is the percentage of the objects of generation g that survived. It is
// not known for generations that were not collected, nor for empty ones, nor where much
// more survived than the runtime had told to be there, as after provisional full
// collections and in background ones: the two numbers are of different moments. A little
// more, which gen1 has now and then, is all.
func (d *GCDetails) Survival(g int) (percent float64, known bool) {
	x := &d.Generations[g]
	if !d.HasHistory || !d.Collected(g) || x.ObjectsBefore == 0 || x.moreSurvived() {
		return 0, false
	}
	return 100 * float64(min(x.Survived, x.ObjectsBefore)) / float64(x.ObjectsBefore), true
}

// moreSurvived reports whether more survived than can be meant: recordings have up to 1.6 %
// too much where all did, and a tenth to many times where the numbers do not belong together.
func (x *GenerationDetails) moreSurvived() bool {
	return sub(x.Survived, x.ObjectsBefore) > x.ObjectsBefore/50
}

// Promoted is what of generation g was promoted. It is not known of generations that were
// not collected.
func (d *GCDetails) Promoted(g int) (bytes uint64, known bool) {
	if !d.HasGenerationPromoted || !d.Collected(g) || g == POH && !d.HasHistory {
		return 0, false
	}
	return d.Generations[g].Promoted, true
}

// FragmentationPercent is the share of free space in generation g after the collection;
// not known of an empty one.
func (d *GCDetails) FragmentationPercent(g int) (percent float64, known bool) {
	x := &d.Generations[g]
	if !d.HasHistory || !d.HasSizesAfter || x.After == 0 {
		return 0, false
	}
	return 100 * float64(x.Fragmentation) / float64(x.After), true
}

// PeakRatio is the largest size while the collection lasted, in terms of the size after.
func (d *GCDetails) PeakRatio() (ratio float64, known bool) {
	after := d.SizeAfter()
	if d.Peak == 0 || !d.HasSizesAfter || after == 0 {
		return 0, false
	}
	return float64(d.Peak) / float64(after), true
}

// BudgetExceeded is by how many bytes the fullest heap had exceeded its budget of generation g
// when the collection began, an estimate as BudgetLeft is; 0 if it had some left.
func (d *GCDetails) BudgetExceeded(g int) (bytes uint64, known bool) {
	x := &d.Generations[g]
	return uint64(max(0, -x.BudgetLeft)), x.HasBudgetLeft
}

// HeapCount is how many heaps there are, 0 if that is unknown.
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

// ReportedHeaps is how many heaps reported.
func (d *GCDetails) ReportedHeaps() int {
	if d.Summary != nil {
		return len(d.Summary.Reasons)
	}
	return len(d.Heaps)
}

// HeapReasons returns what the history of heap i of the ReportedHeaps says; not known of one
// without a history.
func (d *GCDetails) HeapReasons(i int) (r HeapReasons, known bool) {
	if d.Summary != nil {
		return d.Summary.Reasons[i], true
	}
	h := &d.Heaps[i]
	return HeapReasons{h.Heap, h.History.CondemnedGenerations, h.History.Condemned, h.History.Compact.Reason(), h.History.Expand.Reason()}, h.HasHistory
}

// Condemned returns why the generation was chosen, from the heap that decided: of
// those that wanted it, else of all, the one with the lowest number. Decisions for
// all heaps together are in the bits too.
func (d *GCDetails) Condemned() (steps clr.CondemnedGenerations, conditions clr.Condemned, known bool) {
	var decided HeapReasons
	wanted := func(h *HeapReasons) bool { return h.CondemnedGenerations.Final() == d.Generation }
	for i := range d.ReportedHeaps() {
		h, told := d.HeapReasons(i)
		switch {
		case !told, d.Flaws&FlawNoHeaps != 0:
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

// FreeListEfficiency is the share, in percent, of free list space that served
// allocations of a gen1 collection; not known where none was looked at.
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

// MarkTime is how long heap i took to mark from one kind of root, in nanoseconds; -1: not reported.
func (d *GCDetails) MarkTime(i int, t clr.MarkType) int64 {
	h := &d.Heaps[i]
	if h.Marked&(1<<t) == 0 {
		return -1
	}
	return h.MarkTimes[t]
}

// Mark is how marking from one kind of root went in all heaps.
func (d *GCDetails) Mark(t clr.MarkType) (m MarkSummary) {
	if d.Summary != nil {
		return d.Summary.Marks[t]
	}
	m.Heap = -1
	for i := range d.Heaps {
		h := &d.Heaps[i]
		if took := d.MarkTime(i, t); took >= 0 && (!m.Known || took > m.Longest) {
			m.Longest, m.Heap, m.Known = took, int(h.Heap), true
		}
		m.Promoted += h.MarkPromoted[t]
	}
	m.Imbalance, _ = d.MarkImbalance(t)
	return m
}

// MarkedUntil is when the last heap was done with marking, as far as they reported it, in
// nanoseconds since the stream's sync point; 0: none did.
func (d *GCDetails) MarkedUntil() (at int64) {
	if d.Summary != nil {
		return d.Summary.MarkedUntil
	}
	for i := range d.Heaps {
		at = max(at, d.Heaps[i].MarkedUntil)
	}
	return at
}

// MarkImbalance is how much longer the slowest heap marked from one kind of root than all
// did on average: 1 is balanced. Not known with fewer than two heaps that told it.
func (d *GCDetails) MarkImbalance(t clr.MarkType) (ratio float64, known bool) {
	if d.Summary != nil {
		m := &d.Summary.Marks[t]
		return m.Imbalance, m.Imbalance > 0
	}
	var sum, most int64
	n := 0
	for i := range d.Heaps {
		if took := d.MarkTime(i, t); took >= 0 {
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

// Gen0Imbalance is how unequally the heaps of server GC were filled with young
// objects, as Imbalance returns it.
func (d *GCDetails) Gen0Imbalance() float64 {
	if d.Summary != nil {
		return d.Summary.Gen0Imbalance
	}
	return d.Imbalance(func(h *HeapDetails) uint64 { return uint64(max(0, h.History.Generation[Gen0].ObjectsBefore())) })
}

// SurvivedImbalance is the same of what survived.
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

// Imbalance is the largest share of a heap in what of returns, relative to the
// mean: 1 is balanced. 0 is unknown: fewer than two heaps, or nothing to share.
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

// AppendName appends the generation and kind as PerfView writes them: 2B, 1F,
// 0N, with I for induced and i for induced but not forced.
func (d *GCDetails) AppendName(dst []byte) []byte {
	dst = append(dst, byte('0'+min(d.Generation, 9)), "NBF"[d.Kind])
	if d.HasReason {
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

// CopyFrom makes d a copy of src that shares nothing with it, with the memory
// that the lists of d already have.
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
		d.Summary = &summary
	}
	d.Dynamic = nil
	for _, e := range src.Dynamic {
		e.Data = slices.Clone(e.Data)
		d.Dynamic = append(d.Dynamic, e)
	}
}

// Reset makes d a record of which nothing is known, with the memory that its lists
// have.
func (d *GCDetails) Reset() {
	pauses, heaps, compactions, items, plugs := d.Pauses[:0], d.Heaps[:0], d.LOHCompactions[:0], d.FreeItems[:0], d.Plugs[:0]
	waits := d.background.Waits[:0]
	*d = GCDetails{}
	d.Pauses, d.Heaps, d.LOHCompactions, d.FreeItems, d.Plugs = pauses, heaps, compactions, items, plugs
	d.background.Waits = waits
	d.Handles, d.PinnedObjects, d.SyncBlocks = -1, math.MaxUint32, math.MaxUint32
	d.FinalizationCount, d.FinalizationSize = math.MaxUint64, math.MaxUint64
}
