package analysis

import (
	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/parse/clr"
)

// A Summary contains the statistics of a session, or of a Window of it. It is plain data and
// belongs to the caller.
type Summary struct {
	// Window is the time that the numbers are about: the requested Window, as far as the sessions
	// lasted. Duration is how much of it was observed; shares and rates refer to that. In
	// Unobserved time there was no session, or records are missing; the first pause after missing
	// records is part of it.
	Window     Window
	Duration   Number
	Unobserved int64

	// Classes contains the collections and pauses by class; ClassNone has only pauses.
	Classes [Classes]Rollup
	Reasons []ReasonCount // why collections were started, most frequent first

	Share       Number       // of the time that the program was paused, percent
	Worst       []Share      // the same in the worst 10 s, 1 min and 5 min that were observed completely
	Utilization []Share      // minimum mutator utilization of 10 ms to 10 s
	Between     Distribution // time from one collection's first pause to the next one's
	Suspend     Distribution // time until all threads were suspended
	WithoutGC   []WithoutGC  // pauses without a collection by kind, those that occurred

	Gen1PerGen0   Number // gen1 collections for each gen0
	Gen2PerGen1   Number // gen2 collections, including background ones, for each gen1
	BlockingGen2  Number // share of the gen2 collections that were blocking, percent
	SinceLastGen2 Number // from the end of the last gen2 collection to that of the Window

	Finalized Number // objects whose finalizers ran, up to the latest collection

	Heap   Heap
	Memory Memory
	// AllocationRate is Allocated divided by AllocationTime: the time in the Window between
	// collections that report allocations.
	AllocationRate            Number
	Allocated, AllocationTime Number

	Missed uint64 // collections that were not seen at all
	// MissedInexact reports that Missed is a lower bound: the numbers start over.
	MissedInexact bool
	LostEvents    uint64 // that the runtime dropped
	LostInexact   bool   // LostEvents is a lower bound: some losses do not say how many
	Dropped       uint64 // records that were lost because an output was too slow, or failed

	// Sparse reports that the records come from a log that contains little besides collections
	// (unified, csv). What such a log may lack, and does not report, is not known to be 0.
	Sparse bool
	// CollectionsOnly reports that they come from a log that cannot contain pauses without a
	// collection (csv).
	CollectionsOnly bool
}

// A Rollup contains the statistics of a class of collections. A collection belongs to a Window if
// it starts in it.
type Rollup struct {
	Count     uint64
	PerMinute Number
	Induced   Number // how many were induced, other than for heap snapshots: reasons 1, 7, 9, 10 and 17

	Incomplete     uint64 // a part of them was not seen
	StartedBefore  uint64 // of these, already running when the session began
	Lossy          uint64 // of these, with events lost meanwhile
	Foreground     uint64 // while a background collection ran
	Demoted        uint64 // started as background collection, run as a blocking one
	InsideBGCStart uint64 // in the first suspension of a background collection
	Provisional    uint64 // full collections of provisional mode
	HeapDumps      uint64 // for heap snapshots
	Compacting     Number // how many compacted

	// Pauses are all pauses in the Window, clipped to it. A background collection has two of them.
	Pauses Distribution
	// Pause is the sum of the pauses per collection, Suspend the part of it until all threads were
	// suspended.
	Pause   Quantity
	Suspend Quantity
	// HeapDumpPause is Pause of the collections for heap snapshots, which includes the walk of the
	// heap.
	HeapDumpPause Quantity

	Peak      Quantity // largest size while the collection lasted
	After     Quantity
	Promoted  Quantity
	Allocated Quantity // since the previous collection
	// AllocationRate is the rate in the records, relative to the time that the program ran between
	// collections. Only its mean and its maximum are meaningful.
	AllocationRate Quantity
	PinnedObjects  Quantity
	PinnedShare    Number // percentage of the surviving bytes in collected generations; blocking collections report it
	// PinsSeen is the bytes of the pinned objects that were reported individually, and PinPlugs the
	// bytes of the plugs that could not be moved. Their Count counts the collections that report
	// any; PlugsReported includes those in a log that contains only the number of plugs. UserPinned
	// is the percentage of plugs that were pinned objects, for collections that report both.
	PinsSeen, PinPlugs Quantity
	PlugsReported      Number
	UserPinned         Number
	Finalization       Quantity // objects retained for finalization
	FinalizationBytes  Quantity

	sparse bool // as in the Summary
}

// A ReasonCount is the number of collections with one reason. All reasons unknown to gclog count as
// one: the number after the last known reason.
type ReasonCount struct {
	Reason clr.Reason
	Count  uint64
}

// WithoutGC contains the pauses of one kind without a collection.
type WithoutGC struct {
	Kind   gclog.PauseKind
	Pauses Quantity
}

// Heap is the size of the heap, in bytes.
type Heap struct {
	Max          Number // the largest size that was seen, before or after a collection
	Last         Number // after the latest collection that reports it
	LastGen2     Number // after the latest gen2 collection, background or not
	MeanGen2     Number // mean after gen2 collections, background or not
	Committed    Number // the latest known
	MaxCommitted Number
}

// Memory is the memory of the process and of its control group in bytes, from the latest record
// that reports it. Live sessions and their logs do.
type Memory struct {
	Resident    Number // of the process
	MaxResident Number
	// Committed is what the GC had committed by then, and Other the resident memory beyond that: a
	// lower bound for memory that is not the GC's, because not all committed memory need be
	// resident.
	Committed   Number
	Other       Number
	Cgroup      Number // of the control group, with its page cache
	MaxCgroup   Number
	CgroupLimit Number // limit of the group
	CgroupShare Number // percentage of CgroupLimit
}
