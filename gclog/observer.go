package gclog

import "github.com/gclog/gclog/parse/clr"

// A Suspension is one interval during which the runtime suspended all threads of the program, from
// the request until the threads have resumed [R 9, 8, 7, 3].
type Suspension struct {
	Reason     clr.SuspendReason
	Start      int64
	Duration   int64
	Suspend    int64 // of Duration: time to suspend all threads
	HasSuspend bool
	Ticks      int64  // Start in ticks of the stream's clock
	Thread     uint64 // that suspended the others
}

// PauseKind is what the program was paused for.
type PauseKind uint8

// The kinds of pauses. The last four belong to no collection.
const (
	PauseBlocking    PauseKind = iota // a whole blocking collection
	PauseInitial                      // start of a background collection
	PauseFinal                        // end of its concurrent mark phase
	PauseNoGCRegion                   // GC.TryStartNoGCRegion and related calls
	PauseHeapCount                    // DATAS changed the number of heaps
	PauseMemoryLimit                  // GC.RefreshMemoryLimit, on CoreCLR
	PauseUnknown                      //
)

var pauseNames = [...]string{"blocking", "initial", "final", "no-gc-region", "heap-count", "memory-limit", "unknown"}

func (k PauseKind) String() string { return pauseNames[k] }

// A Pause is one interval during which the program was paused for garbage collection: a suspension
// by the runtime with reason 1 or 6, or a collection's part of it. All pauses of a stream add up to
// its suspensions.
type Pause struct {
	PausePart
	Ticks  int64      // Start in ticks of the stream's clock
	Thread uint64     // that suspended the others
	GC     *GCDetails // nil: a pause without a collection. For a background collection: what is known so far
	// CPU is that of the collection, if there is one.
	CPU CPUShortage
	// UsedNumber is the collection number that a pause without a collection used up: the program's
	// own counters count it for all generations. 0: none.
	UsedNumber uint32
}

// PhaseKind is a concurrent phase of a background collection.
type PhaseKind uint8

// The phases.
const (
	PhaseMark PhaseKind = iota
	PhaseSweep
)

var phaseNames = [...]string{"mark", "sweep"}

func (k PhaseKind) String() string { return phaseNames[k] }

// A Phase is the start or the end of a concurrent phase.
type Phase struct {
	Kind  PhaseKind
	End   bool
	Start int64      // when the phase started
	Time  int64      // when this start or end happened
	GC    *GCDetails // what is known so far
}

// GapReason is why something is missing.
type GapReason uint8

// The reasons of gaps.
const (
	GapLostEvents GapReason = iota // the runtime dropped events
	GapMissedGCs                   // collection numbers were skipped without a known cause
	GapReattached                  // a new session started
	GapQueueFull                   // the outputs were too slow: records were dropped
	GapUnwritten                   // the output failed: records were dropped
	GapInternal                    // a defect in gclog: everything passed to it since then is unknown
	GapStopped                     // the session was stopped before everything could be read or written
)

var gapNames = [...]string{
	"lost-events", "missed-gcs", "reattached", "queue-full", "unwritten", "internal-error", "stopped",
}

func (r GapReason) String() string { return gapNames[r] }

// A Gap marks a place where the log is incomplete.
type Gap struct {
	Reason     GapReason
	Time       int64 // when it was noticed
	Ticks      int64
	Since      int64  // the missing data is from after this; 0: unknown, except for lost events
	LostEvents uint64 // 0: unknown
	Thread     uint64 // lost events: the thread that wrote them; 0: several
	// From and To are the numbers of the missing collections; for lost events, of those that were
	// open; for GapQueueFull and later reasons, the smallest and largest whose record was dropped.
	// Both are 0 if there are none; From is never above To.
	From, To uint32
	Records  uint64 // dropped records of all kinds, for GapQueueFull and later reasons
}

// Missed returns how many collections were not seen, according to the numbers in the Gap: 0 if the
// gap has another reason, or if the number is unknown.
func (g *Gap) Missed() uint64 {
	if g.Reason != GapMissedGCs && g.Reason != GapReattached || g.From == 0 || g.From > g.To {
		return 0
	}
	return uint64(g.To-g.From) + 1
}
