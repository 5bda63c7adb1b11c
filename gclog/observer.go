package gclog

import "github.com/gclog/gclog/parse/clr"

// An Observer is told what the Reducer finds, in time order. What it is given is
// valid during the call only.
//
// A Pause is told when it ends. The record of a blocking collection follows its
// last Pause; that of a background collection comes when the runtime has told
// its sizes, long after its pauses. A phase that begins or ends while the
// program stands is told after that pause.
type Observer interface {
	Pause(*Pause)  // the program stood for a garbage collection's sake, and runs again
	Phase(*Phase)  // a concurrent phase of a background collection began or ended
	GC(*GCDetails) // a collection's record is final: complete, or given up and marked so
	Gap(*Gap)      // events were lost, or numbers of collections are missing
}

// A SuspensionObserver is an Observer that wants to know every time that the runtime
// stopped the program, for whatever reason.
type SuspensionObserver interface {
	Observer
	Suspension(*Suspension) // has ended; the pauses in it have been told
}

// An EventObserver is an Observer that wants to see the events too, each with the
// collection that it belongs to, nil if it belongs to none. GCStart, GCEnd and
// GCGlobalHeapHistory are shown when the Reducer has taken them: d is what they began or
// told of. All others come before: what they complete has not been told yet.
//
// The event is valid during the call. d is so until its record has been told, and its
// UserData is the observer's.
type EventObserver interface {
	Observer
	Event(at Stamp, e clr.Event, d *GCDetails)
}

// A Suspension is one time that the runtime stopped all threads of the program, from
// the request until they run again [R 9, 8, 7, 3].
type Suspension struct {
	Reason   clr.SuspendReason
	Start    int64
	Duration int64
	Suspend  int64  // of Duration, until all threads stood; Untold if that was lost
	Ticks    int64  // Start in ticks of the stream's clock
	Thread   uint64 // that stopped the others
}

// PauseKind is what the program stood for.
type PauseKind uint8

// The kinds of pauses. The last four belong to no collection.
const (
	PauseBlocking    PauseKind = iota // a whole blocking collection
	PauseInitial                      // begin of a background collection
	PauseFinal                        // end of its concurrent mark phase
	PauseNoGCRegion                   // GC.TryStartNoGCRegion and what belongs to it
	PauseHeapCount                    // DATAS changed the number of heaps
	PauseMemoryLimit                  // GC.RefreshMemoryLimit
	PauseUnknown                      //
)

var pauseNames = [...]string{"blocking", "initial", "final", "no-gc-region", "heap-count", "memory-limit", "unknown"}

func (k PauseKind) String() string { return pauseNames[k] }

// A Pause is one time that the program stood for a garbage collection's sake:
// a suspension of the runtime with reason 1 or 6, or a collection's part of it.
// All pauses of a stream add up to its suspensions.
type Pause struct {
	PausePart
	Ticks  int64      // Start in ticks of the stream's clock
	Thread uint64     // that stopped the others
	GC     *GCDetails // nil: a pause without a collection. Of a background collection what is known so far
	// UsedNumber is the number of a collection that a pause without one used up: the
	// program's counters count it for all generations. 0: none.
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
	Start int64      // when the phase began
	Time  int64      // now: of the start or the end
	GC    *GCDetails // what is known so far
}

// GapReason is why something is missing.
type GapReason uint8

// The reasons.
const (
	GapLostEvents GapReason = iota // the runtime dropped events
	GapMissedGCs                   // numbers of collections were skipped without a cause
	GapReattached                  // a new session began
	GapQueueFull                   // the outputs were too slow: records were dropped
	GapUnwritten                   // the output failed: records were dropped
	GapInternal                    // a defect of gclog: what it was given since is not known
	GapStopped                     // the session was ended before everything could be read or written
)

var gapNames = [...]string{"lost-events", "missed-gcs", "reattached", "queue-full", "unwritten", "internal-error", "stopped"}

func (r GapReason) String() string { return gapNames[r] }

// A Gap says that the log is not whole here.
type Gap struct {
	Reason     GapReason
	Time       int64 // when it was noticed
	Ticks      int64
	Since      int64  // what is missing was after this; 0: not known but for lost events
	LostEvents uint64 // 0: unknown
	Thread     uint64 // lost events: that wrote them; 0: several
	// From and To are the numbers of the collections that are missing; with lost
	// events those that were open, with the reasons from GapQueueFull on the smallest
	// and the largest whose record was dropped. 0 and 0 if none; From is never above To.
	From, To uint32
	Records  uint64 // of all kinds, dropped with the reasons from GapQueueFull on
}

// Missed is how many collections the numbers in a Gap say were not seen: none where the reason is
// another one than that, or where it is not known how many.
func (g *Gap) Missed() uint64 {
	if g.Reason != GapMissedGCs && g.Reason != GapReattached || g.From == 0 || g.From > g.To {
		return 0
	}
	return uint64(g.To-g.From) + 1
}

// NopObserver is an Observer that ignores what it is told. A type that embeds it has the methods
// that it does not need.
type NopObserver struct{}

// Pause implements Observer.
func (NopObserver) Pause(*Pause) {}

// Phase implements Observer.
func (NopObserver) Phase(*Phase) {}

// GC implements Observer.
func (NopObserver) GC(*GCDetails) {}

// Gap implements Observer.
func (NopObserver) Gap(*Gap) {}
