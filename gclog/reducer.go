package gclog

import (
	"math"

	"github.com/gclog/gclog/parse"
	"github.com/gclog/gclog/parse/clr"
)

// A Stamp says when and where an event happened.
type Stamp struct {
	Time   int64  // nanoseconds since the stream's sync point
	Ticks  int64  // the same in ticks of the stream's clock; used for ids only
	Thread uint64 // OS thread
}

// A Reducer turns the events of one process into records. Its input is typed events in time order,
// from any source. docs/reduction.md has its rules and the evidence for them.
//
// Its state is bounded: a few open collections and suspensions, whatever the stream contains. A
// Reducer must not be used by several goroutines at once.
type Reducer struct {
	// Events receives the events; nil: nothing does.
	Events EventObserver
	// Requested returns what a gclog has requested from the process within the last half second. It is
	// called for collections that may be those of heap snapshots, before they are passed on; nil:
	// nothing is known.
	Requested func() Request

	out     Observer
	process *Process // nil: nothing is known about it

	open        []*collection  // in the order of their starts
	free        []*collection  // memory for reuse
	suspensions []*suspension  // started and not ended
	freeSus     []*suspension  // memory for reuse
	orphan      *suspension    // holds the collections that started with no known suspension
	ended       threadTable    // the collection of the last GCEnd on a thread
	histories   threadTable    // the collection of the last GCGlobalHeapHistory on a thread
	hasHistory  bool           // some collection has reported one: all do
	phases      []waitingPhase // held back until the program resumes

	// Numbers.
	last     uint32 // number of the latest collection
	seen     bool   // last is valid
	first    uint32 // number of the first collection whose start was seen; valid if seen
	consumed uint32 // numbers used up by no-GC regions since last
	index    int64  // number of records emitted

	lastEnd    int64 // GCEnd of the collection with the number last
	hasLastEnd bool  // lastEnd is known

	// The last request, cleared by a collection or by a suspension without one.
	triggered    Stamp
	hasTriggered bool
	server       flavour
	gcThread     uint64 // that suspends the others for server GC

	sizes      sizes
	segments   segments
	finalizers finalizers
	counters   counters
	now        int64 // latest time

	pauseArg      Pause // arguments of the Observer
	phaseArg      Phase
	gapArg        Gap
	suspensionArg Suspension

	blocked int64 // sum of the suspensions with reasons 1 and 6, for tests and checks
}

// flavour is the GC flavor of the process, as far as events have shown it.
type flavour uint8

const (
	flavourUnknown flavour = iota
	flavourWorkstation
	flavourServer
)

// NewReducer returns a Reducer that passes what it finds to out.
func NewReducer(out Observer) *Reducer {
	return &Reducer{out: out, counters: counters{metered: unknownTime}}
}

// SetProcess passes the facts about the process, which may be filled in later, to the Reducer. It
// needs DiagnosticsThreads and Snapshot to recognize collections of heap snapshots in sessions
// without the events of the heap walk, and Flavor to recognize PauseMemoryLimit.
func (r *Reducer) SetProcess(p *Process) { r.process = p }

// Wanted reports whether the Reducer uses a kind of event: it is the filter for parse.NewReader. Of
// pinned objects it only needs the number and total size.
func Wanted(m *parse.Metadata) parse.Want {
	w := parse.Want{Deliver: needed(m)}
	w.Rundown = m.Provider == clr.RundownProvider
	if m.Provider == clr.RuntimeProvider && m.EventID == clr.IDPinObjectAtGCTime {
		w.Sum = clr.PinnedSize
	}
	return w
}

// WantedFinalized is Wanted plus the finalized objects that the private provider names, for an
// EventObserver that counts them. The Reducer does not use them, and there may be tens of
// thousands.
func WantedFinalized(m *parse.Metadata) parse.Want {
	if m.Provider == clr.PrivateProvider && m.EventID == clr.IDPrvFinalizeObject {
		return parse.Want{Deliver: true}
	}
	return Wanted(m)
}

func needed(m *parse.Metadata) bool {
	switch m.Provider {
	case clr.RuntimeProvider:
		switch m.EventID {
		case clr.IDGCStart, clr.IDGCEnd, clr.IDGCRestartEEEnd, clr.IDGCHeapStats, clr.IDGCRestartEEBegin,
			clr.IDGCSuspendEEEnd, clr.IDGCSuspendEEBegin, clr.IDGCAllocationTick, clr.IDGCBulkRootEdge,
			clr.IDPinObjectAtGCTime, clr.IDGCTriggered, clr.IDGCDynamicEvent, clr.IDRuntimeInformation,
			clr.IDGCCreateSegment, clr.IDGCFreeSegment, clr.IDGCGenerationRange, clr.IDGCFinalizersBegin,
			clr.IDGCFinalizersEnd,
			clr.IDGCMarkWithType, clr.IDGCPerHeapHistory, clr.IDGCGlobalHeapHistory, clr.IDGCLOHCompact,
			clr.IDGCFitBucketInfo, clr.IDContentionStop:
			return true
		}
	case clr.PrivateProvider:
		switch m.EventID {
		case clr.IDPrvGCSettings, clr.IDPrvBGCBegin, clr.IDPrvBGC1stNonConEnd, clr.IDPrvBGC1stConEnd,
			clr.IDPrvBGC2ndNonConBegin, clr.IDPrvBGC2ndNonConEnd, clr.IDPrvBGC2ndConBegin, clr.IDPrvBGC2ndConEnd,
			clr.IDPrvBGCPlanEnd, clr.IDPrvBGCSweepEnd, clr.IDPrvBGCDrainMark, clr.IDPrvBGCRevisit,
			clr.IDPrvBGCOverflow, clr.IDPrvBGCAllocWaitBegin, clr.IDPrvBGCAllocWaitEnd, clr.IDPrvPinPlugAtGCTime:
			return true
		}
	case clr.RecordingProvider:
		return m.EventID == clr.IDRecordedProcess
	case clr.MetricsProvider:
		return clr.Name(m.Provider, m.EventID) != ""
	case clr.RundownProvider:
		return m.EventID == clr.IDRundownGCSettings || m.EventID == clr.IDRundownRuntimeInformation
	}
	return clr.IsEventCounter(m)
}

// Event handles the next event. Events that the Reducer does not use are ignored.
func (r *Reducer) Event(at Stamp, e clr.Event) {
	r.advance(at.Time)
	if r.Events == nil {
		r.reduce(at, e)
		return
	}
	r.observed(at, e)
}

func (r *Reducer) reduce(at Stamp, e clr.Event) {
	switch e := e.(type) {
	case *clr.InstrumentValue:
		r.instrument(at, e)
	case *clr.EventCounter:
		r.eventCounter(at, e)
	case *clr.CollectionMark:
		r.collection(at, e)
	case *clr.BeginInstrument:
		if e.Meter.Is(clr.RuntimeCounters) {
			r.counters.metered = at.Time
		}
	case *clr.MetricsFault:
		r.metricsFault(at, e)
	case *clr.ContentionStop:
		r.contention(e)
	case *clr.PinObjectAtGCTime:
		if c := r.current(); c != nil {
			c.PinEvents += 1 + uint64(e.More)
			c.PinEventBytes += e.TotalSize
		}
	case *clr.GCMarkWithType:
		r.marked(at, e)
	case *clr.GCSuspendEEBegin:
		r.suspendBegin(at, e.Reason, e.Count)
	case *clr.GCSuspendEEEnd:
		r.suspendEnd(at)
	case *clr.GCRestartEEBegin:
		r.restartBegin(at)
	case *clr.GCRestartEEEnd:
		r.restartEnd(at)
	case *clr.GCTriggered:
		r.gcTriggered(at)
	case *clr.GCStart:
		r.gcStart(at, e)
	case *clr.GCEnd:
		r.gcEnd(at, e)
	case *clr.GCHeapStats:
		r.heapStats(at, e)
	case *clr.GCGlobalHeapHistory:
		r.globalHistory(at, e)
	case *clr.GCPerHeapHistory:
		r.perHeapHistory(at, e)
	case *clr.GCAllocationTick:
		r.sizes.tick(e)
	case *clr.PinPlugAtGCTime:
		if c := r.current(); c != nil {
			c.PinPlugs++
			c.PinPlugBytes += e.End - e.Start
		}
	case *clr.GCBulkRootEdge:
		if c := r.current(); c != nil {
			c.HeapDump = true
		}
	case *clr.GCCreateSegment:
		r.segments.create(e)
	case *clr.GCFreeSegment:
		r.segments.free(e)
	case *clr.GCGenerationRange:
		r.generationRange(e)
	case *clr.GCFinalizersBegin:
		r.finalizers.begin(at)
	case *clr.GCFinalizersEnd:
		r.finalizers.end(at, e)
	case *clr.GCLOHCompact:
		r.lohCompact(e)
	case *clr.GCFitBucketInfo:
		r.fitBuckets(e)
	case *clr.CommittedUsage:
		r.committed(at, e)
	case *clr.SizeAdaptationSample, *clr.SizeAdaptationTuning, *clr.SizeAdaptationFullGCTuning, *clr.HeapCountTuning,
		*clr.HeapCountSample:
		r.datas(e)
	case *clr.GCDynamicEvent:
		r.dynamic(at, e)
	case *clr.BGCPhaseEvent:
		r.bgcPhase(at, e)
	case *clr.BGCRevisit:
		r.bgcRevisit(at, e)
	case *clr.BGCDrainMark:
		if c := r.openBackground(); c != nil {
			c.background.DrainedMarks += e.Objects
		}
	case *clr.BGCOverflow:
		if c := r.openBackground(); c != nil {
			c.background.Overflowed += e.Objects
		}
	case *clr.BGCAllocWait:
		r.bgcAllocWait(at, e)
	}
}

// Loss handles a report that the runtime dropped n events between the times since and at.Time, in
// nanoseconds since the sync point. Whatever was open in that time is incomplete.
func (r *Reducer) Loss(at Stamp, since int64, n uint64) {
	r.advance(at.Time)
	g := Gap{Reason: GapLostEvents, Time: at.Time, Ticks: at.Ticks, Since: since, LostEvents: n, Thread: at.Thread}
	for _, s := range r.suspensions {
		s.lost += n
	}
	r.finalizers.lose()
	for i := 0; i < len(r.open); i++ {
		c := r.open[i]
		if c.settled { // it has ended and only awaits waiting threads
			r.complete(c)
			i--
			continue
		}
		c.LostEvents += n
		c.Flaws |= FlawLostEvents
		if c.Flaws&FlawNoStart == 0 {
			if g.From == 0 || c.Number < g.From {
				g.From = c.Number
			}
			g.To = max(g.To, c.Number)
		}
	}
	r.emitGap(g)
}

// Advance informs the Reducer that no event happened up to the time now, in nanoseconds since the
// sync point. Live sessions call it when the stream is silent.
func (r *Reducer) Advance(now int64) { r.advance(now) }

// patience is how long, in nanoseconds, a background collection of server GC is kept open for its
// heap histories, which come after its sizes, and for threads that waited for its end.
const patience = 500e6

func (r *Reducer) advance(now int64) {
	if now < r.now {
		return
	}
	r.now = now
	for i := 0; i < len(r.open); i++ {
		if c := r.open[i]; c.sized && c.isBackground() && c.restarted && now-c.sizedAt > patience {
			r.complete(c)
			i--
		}
	}
	if r.counters.waiting && now-r.counters.last > countersSettle {
		r.emitCounters()
	}
}

// First returns the number of the first collection whose start was seen, 0 until there is one. That
// need not be the first one emitted: a background collection is emitted after one that ran in its
// first pause.
func (r *Reducer) First() uint32 { return r.first }

// Idle reports whether nothing is open, so that Advance has nothing to do.
func (r *Reducer) Idle() bool {
	return len(r.open) == 0 && len(r.suspensions) == 0 && !r.counters.waiting
}

// Finish emits everything that is open in its current state, because the stream ended at the time
// now.
func (r *Reducer) Finish(now int64) {
	r.now = max(r.now, now)
	r.suspensions = r.suspensions[:0]
	r.emitPhases()
	for len(r.open) > 0 {
		c := r.open[0]
		if !c.Known.Has(GroupEnd) {
			c.Flaws |= FlawCutOff
		}
		r.giveUp(c)
	}
	r.orphan = nil
	r.emitCounters()
}

// DecodeError records that an event could not be decoded: it counts as lost.
func (r *Reducer) DecodeError(at Stamp) { r.Loss(at, at.Time, 1) }

// Open is something that has started and not ended.
type Open struct {
	Kind       OpenKind
	Since      int64 // nanoseconds since the sync point
	Ticks      int64 // of Since
	Number     uint32
	HasNumber  bool
	Generation int
	Type       clr.GCType
	Reason     clr.Reason
	HasReason  bool
}

// OpenKind is what kind of thing is open.
type OpenKind uint8

// The kinds of Open.
const (
	OpenSuspension OpenKind = iota
	OpenGC
)

var openNames = [...]string{"suspension", "gc"}

func (k OpenKind) String() string { return openNames[k] }

// AppendOpen appends what is open now to dst: the suspensions for the GC, each with its collection,
// then the collections.
func (r *Reducer) AppendOpen(dst []Open) []Open {
	for _, s := range r.suspensions {
		if !s.forGC() {
			continue
		}
		o := Open{Kind: OpenSuspension, Since: s.begin, Ticks: s.ticks}
		if len(s.gcs) > 0 {
			o.describe(s.gcs[len(s.gcs)-1])
		} else if c := r.openBackground(); c != nil && s.reason == clr.SuspendForGCPrep {
			o.describe(c)
		}
		dst = append(dst, o)
	}
	for _, c := range r.open {
		if !c.Known.Has(GroupEnd) {
			o := Open{Kind: OpenGC, Since: c.Start, Ticks: c.StartTicks}
			o.describe(c)
			dst = append(dst, o)
		}
	}
	return dst
}

func (o *Open) describe(c *collection) {
	o.Number, o.HasNumber = c.Number, c.Known.Has(GroupNumber)
	o.Generation, o.Type, o.Reason, o.HasReason = c.Generation, c.Type, c.Reason, c.Known.Has(GroupReason)
}

// Suspended returns the sum of all suspensions for the GC that have ended. The pauses passed to the
// Observer add up to it.
func (r *Reducer) Suspended() int64 { return r.blocked }

// Current returns the collection that events belong to now: the blocking one that has not ended,
// else the background one, else nil. It is valid until the next event.
func (r *Reducer) Current() *GCDetails {
	if c := r.current(); c != nil {
		return &c.GCDetails
	}
	return nil
}

// threadTable remembers the collection that each thread last reported about. Few threads do, so it
// is searched from the front; the oldest entry is evicted.
type threadTable struct {
	entries [8]struct {
		thread uint64
		c      *collection
	}
	next int
}

func (t *threadTable) put(thread uint64, c *collection) {
	for i := range t.entries {
		if e := &t.entries[i]; e.c != nil && e.thread == thread {
			e.c = c
			return
		}
	}
	for i := range t.entries {
		if t.entries[i].c == nil {
			t.next = i
			break
		}
	}
	e := &t.entries[t.next]
	e.thread, e.c = thread, c
	t.next = (t.next + 1) % len(t.entries)
}

func (t *threadTable) get(thread uint64) *collection {
	for i := range t.entries {
		if e := &t.entries[i]; e.c != nil && e.thread == thread {
			return e.c
		}
	}
	return nil
}

func (t *threadTable) forget(c *collection) {
	for i := range t.entries {
		if t.entries[i].c == c {
			t.entries[i].c = nil
		}
	}
}

const unknownTime = math.MinInt64
