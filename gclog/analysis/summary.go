package analysis

import (
	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/parse/clr"
)

// A Summary is what the records of a session, or of a Window of it, come to. It is
// plain data and belongs to the caller. Durations are nanoseconds, sizes bytes.
type Summary struct {
	// Window is the time that the numbers are about: the Window that was asked for, as
	// far as the sessions lasted. Duration is how much of it was observed: shares and rates
	// refer to that. In what is Unobserved no session was on, or records are missing; the
	// first pause after missing ones belongs to it.
	Window     Window
	Duration   Number
	Unobserved int64

	// Classes has the collections and the pauses by class; ClassNone has pauses only.
	Classes [Classes]Rollup
	Reasons []ReasonCount // why collections were started, most frequent first

	Share       Number       // of the time that the program was paused, percent
	Worst       []Share      // the same in the worst stretches of 10 s, 1 min, 5 min, of those observed whole
	Utilization []Share      // minimum mutator utilization of 10 ms to 10 s
	Between     Distribution // from the start of a collection's first pause to that of the next one's
	Suspend     Distribution // until all threads were suspended
	WithoutGC   []WithoutGC  // pauses without a collection by kind, those that occurred

	Gen1PerGen0   Number // gen1 collections for each gen0
	Gen2PerGen1   Number // gen2 collections, background ones too, for each gen1
	BlockingGen2  Number // share of the gen2 collections that were blocking, percent
	SinceLastGen2 Number // from the end of the last gen2 collection to that of the Window

	Finalized Number // objects whose finalizers ran, up to the newest collection

	Heap   Heap
	Memory Memory
	// AllocationRate is what was Allocated in AllocationTime, in bytes per second: in the part of
	// the Window between collections that tell it.
	AllocationRate            Number
	Allocated, AllocationTime Number

	Missed uint64 // collections of which nothing was seen
	// MissedUnsure: Missed is at least that: numbers begin anew.
	MissedUnsure bool
	LostEvents   uint64 // that the runtime dropped
	LostUnsure   bool   // LostEvents is at least that: some losses do not say how much
	Dropped      uint64 // records that were lost because an output was too slow, or failed

	// Sparse: records come from a log that holds collections and little else (unified,
	// csv). What it may lack, and did not tell, is not known to be 0.
	Sparse bool
	// CollectionsOnly: they come from one that cannot hold pauses without a collection (csv).
	CollectionsOnly bool
}

// A Rollup is what the collections of a class come to. A collection belongs to a
// Window when it starts in it.
type Rollup struct {
	Count     uint64
	PerMinute Number
	Induced   Number // how many somebody asked for: reasons 1, 7, 9, 10 and 17

	Incomplete     uint64 // something of them was not seen
	BeganBefore    uint64 // of them, under way when the session began
	Lossy          uint64 // of them, events were lost while they were open
	Foreground     uint64 // while a background collection ran
	Demoted        uint64 // started as background collection, run as a blocking one
	InsideBGCStart uint64 // in the first suspension of a background collection
	Provisional    uint64 // full collections of provisional mode
	HeapDumps      uint64 // whose pause holds a walk of the heap
	Compacting     Number // how many moved objects together

	// Pauses are all times that the program stood in the Window, clipped to it. A
	// background collection has two of them.
	Pauses Distribution
	// Pause is how long the program stood for a collection in all, Suspend how long of
	// that until all threads stood.
	Pause   Quantity
	Suspend Quantity

	Peak      Quantity // largest size while the collection lasted
	After     Quantity
	Promoted  Quantity
	Allocated Quantity // since the previous collection
	// AllocationRate is that of the records, of the time that the program ran from one
	// collection to the next; only its mean and its maximum mean something.
	AllocationRate Quantity
	PinnedObjects  Quantity
	PinnedShare    Number // of what survived in collected generations, percent of the bytes; blocking collections tell it
	// PinsSeen is the bytes of the pinned objects that were told one by one, and PinPlugs
	// the bytes of the stretches that could not be moved. Their Told is the collections that
	// told any, but of a log that holds the number of stretches only it is PlugsTold.
	// UserPinned is the part of such stretches that pinned objects had, percent, of the
	// collections that told both.
	PinsSeen, PinPlugs Quantity
	PlugsTold          Number
	UserPinned         Number
	Finalization       Quantity // objects kept alive to be finalized
	FinalizationBytes  Quantity

	sparse bool // as that of the Summary
}

// A ReasonCount is how many collections had one reason. All reasons that gclog does not
// know are one, the number after the last that it knows.
type ReasonCount struct {
	Reason clr.Reason
	Count  uint64
}

// WithoutGC is what the pauses of one kind without a collection come to.
type WithoutGC struct {
	Kind   gclog.PauseKind
	Pauses Quantity
}

// Heap is how large the heap was, in bytes.
type Heap struct {
	Max          Number // the largest size that was seen, before or after a collection
	Last         Number // after the newest collection that told it
	LastGen2     Number // after the newest gen2 collection, background or not
	Committed    Number // the newest that was told
	MaxCommitted Number
}

// Memory is what the process and its control group had of the machine's memory, in bytes,
// as the newest record has it that does: those of live sessions, and of their logs.
type Memory struct {
	Resident    Number // of the process
	MaxResident Number
	// Committed is what the GC had committed by then, and Other what is resident beyond it: what is
	// not the GC's is at least that, because not all that is committed need be resident.
	Committed   Number
	Other       Number
	Cgroup      Number // of the control group, with its page cache
	MaxCgroup   Number
	CgroupLimit Number // that the group may have
	CgroupShare Number // Cgroup in CgroupLimit, percent
}
