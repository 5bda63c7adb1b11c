package clr

import (
	"math"
	"math/bits"
	"strconv"
)

// A Reason is the reason for which a collection was started (GCStart.Reason).
type Reason uint32

// The reasons that the runtime defines.
const (
	ReasonAllocSmall            Reason = iota // gen0 budget exceeded
	ReasonInduced                             // GC.Collect
	ReasonLowMemory                           // the system is low on memory
	ReasonEmpty                               //
	ReasonAllocLarge                          // budget for large (or pinned) objects exceeded
	ReasonOutOfSpaceSOH                       // no room for a small object
	ReasonOutOfSpaceLOH                       // no room for a large object
	ReasonInducedNotForced                    // GC.Collect that need not happen at once
	ReasonInternal                            // stress testing
	ReasonInducedLowMemory                    // low memory, blocking
	ReasonInducedCompacting                   // GC.Collect, compacting
	ReasonLowMemoryHost                       // the host reports low memory
	ReasonPMFullGC                            // full collection of provisional mode
	ReasonLowMemoryHostBlocking               // the host reports low memory, blocking
	ReasonBGCTuningSOH                        // servo tuning, small objects
	ReasonBGCTuningLOH                        // servo tuning, large objects
	ReasonBGCStepping                         // servo tuning, stepping
	ReasonInducedAggressive                   // GC.Collect, aggressive
)

var reasonNames = [...]string{
	"AllocSmall", "Induced", "LowMemory", "Empty", "AllocLarge", "OutOfSpaceSOH", "OutOfSpaceLOH",
	"InducedNotForced", "Internal", "InducedLowMemory", "InducedCompacting", "LowMemoryHost", "PMFullGC",
	"LowMemoryHostBlocking", "BgcTuningSOH", "BgcTuningLOH", "BgcStepping", "InducedAggressive",
}

// Known reports whether the reason has a name.
func (r Reason) Known() bool { return int64(r) < int64(len(reasonNames)) }

func (r Reason) String() string { return enumString("Reason", reasonNames[:], uint32(r)) }

// ParseReason returns the reason whose String is name.
func ParseReason(name []byte) (Reason, bool) {
	return parseEnum[Reason]("Reason", reasonNames[:], name)
}

// Induced reports whether the collection was induced.
func (r Reason) Induced() bool {
	switch r {
	case ReasonInduced, ReasonInducedNotForced, ReasonInducedLowMemory, ReasonInducedCompacting,
		ReasonInducedAggressive:
		return true
	}
	return false
}

// A GCType is the way a collection was started (GCStart.Type). A background collection may still be
// carried out as a blocking one.
type GCType uint32

// The types of collections.
const (
	TypeBlocking   GCType = iota // NonConcurrent: no background collection is running
	TypeBackground               // gen2, mostly concurrent with the program
	TypeForeground               // blocking gen0 or gen1 while a background collection runs
)

var typeNames = [...]string{"NonConcurrentGC", "BackgroundGC", "ForegroundGC"}

func (t GCType) String() string { return enumString("Type", typeNames[:], uint32(t)) }

// ParseGCType returns the type whose String is name.
func ParseGCType(name []byte) (GCType, bool) { return parseEnum[GCType]("Type", typeNames[:], name) }

// A SuspendReason is the reason for which the runtime suspends the managed threads
// (GCSuspendEEBegin.Reason).
type SuspendReason uint32

// The reasons for suspensions. Those for a GC are 1 and 6.
const (
	SuspendOther        SuspendReason = 0
	SuspendForGC        SuspendReason = 1
	SuspendForShutdown  SuspendReason = 4
	SuspendForDebugger  SuspendReason = 5
	SuspendForGCPrep    SuspendReason = 6 // second pause of a background collection, among others
	SuspendForDebugger2 SuspendReason = 7
)

var suspendNames = [...]string{
	"Other", "ForGC", "ForAppDomainShutdown", "ForCodePitching", "ForShutdown", "ForDebugger", "ForGCPrep",
	"ForDebuggerSweep", "ForProfiler",
}

func (r SuspendReason) String() string {
	return enumString("SuspendReason", suspendNames[:], uint32(r))
}

// ParseSuspendReason returns the reason whose String is name.
func ParseSuspendReason(name []byte) (SuspendReason, bool) {
	return parseEnum[SuspendReason]("SuspendReason", suspendNames[:], name)
}

// A MarkType is the kind of roots from which objects were marked (GCMarkWithType.Type).
type MarkType uint32

// The kinds of roots.
const (
	MarkStack MarkType = iota
	MarkFinalizerQueue
	MarkHandles
	MarkOlderGenerations
	MarkSizedRef
	MarkOverflow
	MarkDependentHandles
	MarkNewFinalizable
	MarkSteal
	MarkBackgroundRoots
	MarkTypes // how many there are
)

var markNames = [...]string{
	"Stack", "FinalizerQueue", "Handles", "OlderGenerations", "SizedRef", "Overflow", "DependentHandles",
	"NewFinalizable", "Steal", "BackgroundRoots",
}

// MarshalText implements encoding.TextMarshaler.
func (t MarkType) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

func (t MarkType) String() string { return enumString("MarkType", markNames[:], uint32(t)) }

// A SegmentType is the kind of objects in a segment or region (GCCreateSegment.Type).
type SegmentType uint32

// The kinds of segments.
const (
	SegmentSmallObjects SegmentType = iota
	SegmentLargeObjects
	SegmentReadOnly
	SegmentPinnedObjects
)

var segmentNames = [...]string{"SmallObjectHeap", "LargeObjectHeap", "ReadOnlyHeap", "PinnedObjectHeap"}

func (t SegmentType) String() string { return enumString("SegmentType", segmentNames[:], uint32(t)) }

// An AllocationKind is the heap on which an object was allocated.
type AllocationKind uint32

// The heaps on which programs allocate.
const (
	AllocationSmall AllocationKind = iota
	AllocationLarge
	AllocationPinned
)

var allocationNames = [...]string{"Small", "Large", "Pinned"}

func (k AllocationKind) String() string {
	return enumString("AllocationKind", allocationNames[:], uint32(k))
}

// A HandleKind is the kind of a GC handle.
type HandleKind uint32

var handleNames = [...]string{
	"WeakShort", "WeakLong", "Strong", "Pinned", "Variable", "RefCounted", "Dependent", "AsyncPinned", "SizedRef",
}

func (k HandleKind) String() string { return enumString("HandleKind", handleNames[:], uint32(k)) }

// A RootKind is the place of a root of the heap graph (GCBulkRootEdge).
type RootKind uint8

var rootNames = [...]string{"Stack", "Finalizer", "Handle", "Older", "SizedRef", "Overflow"}

func (k RootKind) String() string { return enumString("RootKind", rootNames[:], uint32(k)) }

// A PauseMode is GCSettings.LatencyMode at the time of a collection.
type PauseMode uint32

// The modes.
const (
	PauseModeBatch               PauseMode = iota // no background collections
	PauseModeInteractive                          //
	PauseModeLowLatency                           // also no full ones, as long as there is enough memory
	PauseModeSustainedLowLatency                  // no blocking full collections
	PauseModeNoGC                                 //
)

var pauseModeNames = [...]string{"Batch", "Interactive", "LowLatency", "SustainedLowLatency", "NoGC"}

func (m PauseMode) String() string { return enumString("PauseMode", pauseModeNames[:], uint32(m)) }

// ParsePauseMode returns the mode that String names so.
func ParsePauseMode(name []byte) (PauseMode, bool) {
	return parseEnum[PauseMode]("PauseMode", pauseModeNames[:], name)
}

// Mechanisms are the bits of GCGlobalHeapHistory.Mechanisms.
type Mechanisms uint32

// Flags of what a collection did.
const (
	MechanismConcurrent  Mechanisms = 1 << iota // it was a background collection
	MechanismCompaction                         // it compacted
	MechanismPromotion                          // survivors were promoted to the next generation
	MechanismDemotion                           // some were demoted because of pins
	MechanismCardBundles                        //
	MechanismElevation                          // gen1 carried out as gen2, or the reverse
)

var mechanismNames = [...]string{"Concurrent", "Compaction", "Promotion", "Demotion", "CardBundles", "Elevation"}

// Names appends the names of the set bits to dst. A bit without a name becomes Mechanism(n).
func (m Mechanisms) Names(dst []string) []string {
	return bitNames(dst, "Mechanism", mechanismNames[:], uint32(m))
}

// ParseMechanism returns the bit that Names calls name.
func ParseMechanism(name []byte) (Mechanisms, bool) {
	return parseBit[Mechanisms]("Mechanism", mechanismNames[:], name)
}

// Condemned contains the reasons for which the generation of a collection was chosen
// (CondemnReasons1): one bit for each condition that held.
type Condemned uint32

// The conditions. Those from CondemnedAvoidUnproductive on are decisions for all heaps together.
const (
	CondemnedInducedFullBlocking Condemned = 1 << iota
	CondemnedExpandHeap
	CondemnedHighMemory
	CondemnedVeryHighMemory
	CondemnedLowEphemeral
	CondemnedLowCardTable
	CondemnedFragmentedEphemeral
	CondemnedFragmentedGen2
	CondemnedFragmentedGen1ToGen2
	CondemnedFragmentedGen2HighMemory
	CondemnedFragmentedGen2VeryHighMemory
	CondemnedMaxGenerationBudget
	CondemnedBeforeOOM
	CondemnedTooSmallForBackground
	CondemnedInducedNotForced
	CondemnedEphemeralBeforeBackground
	CondemnedAlmostMaxAlloc
	CondemnedAvoidUnproductive
	CondemnedPMInducedFull
	CondemnedPMAllocLOH
	CondemnedGen1InPM
	CondemnedLimitBeforeOOM
	CondemnedLimitLOHFragmented
	CondemnedLimitLOHReclaim
	CondemnedServoInitial
	CondemnedServoNGC
	CondemnedServoBGC
	CondemnedServoPostpone
	CondemnedStressMix
	CondemnedStress
	CondemnedInducedAggressive
)

var condemnedNames = [...]string{
	"InducedFullBlocking", "ExpandHeap", "HighMemory", "VeryHighMemory", "LowEphemeral", "LowCardTable",
	"FragmentedEphemeral", "FragmentedGen2", "FragmentedGen1ToGen2", "FragmentedGen2HighMemory",
	"FragmentedGen2VeryHighMemory", "MaxGenerationBudget", "BeforeOOM", "TooSmallForBackground", "InducedNotForced",
	"EphemeralBeforeBackground", "AlmostMaxAlloc", "AvoidUnproductive", "PMInducedFull", "PMAllocLOH", "Gen1InPM",
	"LimitBeforeOOM", "LimitLOHFragmented", "LimitLOHReclaim", "ServoInitial", "ServoNGC", "ServoBGC", "ServoPostpone",
	"StressMix", "Stress", "InducedAggressive",
}

// Names appends the names of the set bits to dst. A bit without a name becomes Condemned(n).
func (c Condemned) Names(dst []string) []string {
	return bitNames(dst, "Condemned", condemnedNames[:], uint32(c))
}

// ParseCondemned returns the bit that Names calls name.
func ParseCondemned(name []byte) (Condemned, bool) {
	return parseBit[Condemned]("Condemned", condemnedNames[:], name)
}

// CondemnedGenerations contains the steps in which a heap chose its condemned generation
// (CondemnReasons0), two bits each.
type CondemnedGenerations uint32

// Initial returns the generation before any condition was checked.
func (g CondemnedGenerations) Initial() int { return int(g & 3) }

// Final returns the generation that this heap chose. The highest choice applies to all heaps.
func (g CondemnedGenerations) Final() int { return int(g >> 2 & 3) }

// BudgetExceeded returns the highest generation whose allocation budget was exceeded.
func (g CondemnedGenerations) BudgetExceeded() int { return int(g >> 4 & 3) }

// TimeTuning returns the generation that was due because of the time since its last collection.
func (g CondemnedGenerations) TimeTuning() int { return int(g >> 6 & 3) }

// MakeCondemnedGenerations is the inverse of the four methods.
func MakeCondemnedGenerations(initial, final, budgetExceeded, timeTuning int) CondemnedGenerations {
	return CondemnedGenerations(initial&3 | final&3<<2 | budgetExceeded&3<<4 | timeTuning&3<<6)
}

// A HeapMechanism is CompactMechanisms or ExpandMechanisms of one heap: whether the mechanism was
// used, and the reason.
type HeapMechanism uint32

const mechanismDone = 1 << 31

// Done reports whether the heap used the mechanism.
func (m HeapMechanism) Done() bool { return m&mechanismDone != 0 }

// reason returns the index of the highest bit below mechanismDone, or -1 if none is set.
func (m HeapMechanism) reason() int { return bits.Len32(uint32(m)&^mechanismDone) - 1 }

var compactNames = [...]string{
	"LowEphemeral", "HighFragmentation", "NoGaps", "LOHForced", "LastGCBeforeOOM", "InducedCompacting",
	"FragmentedGen0", "HighMemoryLoad", "HighMemoryFragmentation", "VeryHighMemoryFragmentation", "NoGCMode",
	"Aggressive",
}

// CompactReason returns the name of the reason for which the heap was compacted, or "" if it was
// not.
func (m HeapMechanism) CompactReason() string { return m.name("Compact", compactNames[:]) }

var expandNames = [...]string{
	"ReuseNormal", "ReuseBestFit", "NewSegmentPromoteEphemeral", "NewSegment", "NoMemory", "NextFullGC",
}

// ExpandReason returns the name of the way in which the heap was expanded, or "" if it was not.
func (m HeapMechanism) ExpandReason() string { return m.name("Expand", expandNames[:]) }

// Reason returns m reduced to the one reason that is named.
func (m HeapMechanism) Reason() HeapMechanism {
	switch i := m.reason(); {
	case !m.Done():
		return 0
	case i < 0:
		return mechanismDone
	default:
		return mechanismDone | 1<<i
	}
}

// ParseCompactReason returns the mechanism that CompactReason calls name, with only that reason
// set.
func ParseCompactReason(name []byte) (m HeapMechanism, ok bool) {
	return parseMechanism("Compact", compactNames[:], name)
}

// ParseExpandReason is the same for ExpandReason.
func ParseExpandReason(name []byte) (m HeapMechanism, ok bool) {
	return parseMechanism("Expand", expandNames[:], name)
}

func parseMechanism(kind string, names []string, name []byte) (m HeapMechanism, ok bool) {
	if string(name) == kind {
		return mechanismDone, true
	}
	i, ok := parseEnum[uint32](kind, names, name)
	if !ok || i > 30 {
		return 0, false
	}
	return mechanismDone | 1<<i, true
}

func (m HeapMechanism) name(kind string, names []string) string {
	if !m.Done() {
		return ""
	}
	i := m.reason()
	if i < 0 {
		return kind
	}
	return enumString(kind, names, uint32(i))
}

// enumString returns the name of a value, or kind(value) for one without a name.
func enumString(kind string, names []string, v uint32) string {
	if uint64(v) < uint64(len(names)) && names[v] != "" {
		return names[v]
	}
	return kind + "(" + strconv.FormatUint(uint64(v), 10) + ")"
}

// bitNames appends the names of the set bits, the lowest first.
func bitNames(dst []string, kind string, names []string, set uint32) []string {
	for ; set != 0; set &= set - 1 {
		dst = append(dst, enumString(kind, names, uint32(bits.TrailingZeros32(set))))
	}
	return dst
}

// parseEnum is the inverse of enumString. It does not allocate.
func parseEnum[E ~uint32](kind string, names []string, b []byte) (E, bool) {
	for i, name := range names {
		if string(b) == name {
			return E(i), true
		}
	}
	n := len(kind)
	if len(b) < n+3 || string(b[:n]) != kind || b[n] != '(' || b[len(b)-1] != ')' {
		return 0, false
	}
	v := uint64(0)
	for _, c := range b[n+1 : len(b)-1] {
		v = v*10 + uint64(c-'0')
		if c < '0' || c > '9' || v > math.MaxUint32 {
			return 0, false
		}
	}
	return E(v), true
}

// parseBit is the inverse of bitNames, for one bit.
func parseBit[E ~uint32](kind string, names []string, b []byte) (E, bool) {
	i, ok := parseEnum[uint32](kind, names, b)
	return 1 << i, ok && i < 32
}
