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

// A Reducer turns the events of one process into records. Its input are typed
// events in time order, from wherever they come. docs/reduction.md has its rules
// with what showed them.
//
// Its state is bounded: a few open collections and suspensions, whatever happens
// in the stream. A Reducer must not be used by several goroutines at once.
type Reducer struct {
	out  Observer
	hook EventObserver // out, if it wants the events too

	open        []*collection // in the order of their starts
	free        []*collection
	suspensions []*suspension // begun and not ended
	freeSus     []*suspension
	orphan      *suspension // holds the collections that began while nothing was known to stand
	ended       threadTable // the collection of the last GCEnd on a thread
	histories   threadTable // the collection of the last GCGlobalHeapHistory on a thread
	hasHistory  bool        // some collection has told one: all do
	phases      []waitingPhase

	// Numbers.
	last     uint32 // of the newest collection
	seen     bool   // last is valid
	first    uint32 // number of the first collection, once seen
	consumed uint32 // numbers since then that no-GC regions used up
	index    int64

	lastEnd    int64 // GCEnd of the collection with the number last
	hasLastEnd bool

	// The last request, since the last collection or suspension without one.
	triggered    Stamp
	hasTriggered bool
	server       flavour
	gcThread     uint64 // that stops the others for server GC

	sizes      sizes
	segments   segments
	finalizers finalizers
	now        int64

	pauseTold      Pause // what the Observer is given
	phaseTold      Phase
	gapTold        Gap
	suspensionTold Suspension

	blocked int64 // sum of the suspensions with reason 1 and 6, for tests and checks
}

// flavour is what the events have shown about the process.
type flavour uint8

const (
	flavourUnknown flavour = iota
	flavourWorkstation
	flavourServer
)

// NewReducer returns a Reducer that tells out what it finds.
func NewReducer(out Observer) *Reducer {
	hook, _ := out.(EventObserver)
	return &Reducer{out: out, hook: hook}
}

// Wanted reports whether the Reducer has any use for a kind of event: it is the
// filter for parse.NewReader. Of pinned objects only number and size matter.
func Wanted(m *parse.Metadata) parse.Want {
	w := parse.Want{Deliver: needed(m)}
	if m.Provider == clr.RuntimeProvider && m.EventID == clr.IDPinObjectAtGCTime {
		w.Sum = clr.PinnedSize
	}
	return w
}

// WantedFinalized is Wanted with the finalized objects that the private provider names, for
// an EventObserver that counts them. The Reducer has no use for them, and there may be ten
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
			clr.IDGCCreateSegment, clr.IDGCFreeSegment, clr.IDGCGenerationRange, clr.IDGCFinalizersBegin, clr.IDGCFinalizersEnd,
			clr.IDGCMarkWithType, clr.IDGCPerHeapHistory, clr.IDGCGlobalHeapHistory, clr.IDGCLOHCompact,
			clr.IDGCFitBucketInfo:
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
	case clr.RundownProvider:
		return m.EventID == clr.IDRundownGCSettings || m.EventID == clr.IDRundownRuntimeInformation
	}
	return false
}

// Event takes the next event. Events that the Reducer has no use for are
// ignored.
func (r *Reducer) Event(at Stamp, e clr.Event) {
	r.advance(at.Time)
	if r.hook == nil {
		r.reduce(at, e)
		return
	}
	r.observed(at, e)
}

func (r *Reducer) reduce(at Stamp, e clr.Event) {
	switch e := e.(type) {
	case *clr.PinObjectAtGCTime:
		if c := r.current(); c != nil {
			c.PinEvents += 1 + uint64(e.More)
			c.PinEventBytes += e.TotalSize
		}
	case *clr.GCMarkWithType:
		r.marked(at, e)
	case *clr.GCSuspendEEBegin:
		r.suspendBegin(at, e.Reason)
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
	case *clr.SizeAdaptationSample, *clr.SizeAdaptationTuning, *clr.SizeAdaptationFullGCTuning, *clr.HeapCountTuning, *clr.HeapCountSample:
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

// Loss takes the report that the runtime dropped events: n of them, between the
// times since and now, in nanoseconds since the sync point. What was open in that
// time is not complete.
func (r *Reducer) Loss(at Stamp, since int64, n uint64) {
	r.advance(at.Time)
	g := Gap{Reason: GapLostEvents, Time: at.Time, Ticks: at.Ticks, Since: since, LostEvents: n, Thread: at.Thread}
	for _, s := range r.suspensions {
		s.lost += n
	}
	r.finalizers.lose()
	for i := 0; i < len(r.open); i++ {
		c := r.open[i]
		if c.settled { // it is over, but for threads that waited for it
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
	r.tellGap(g)
}

// Advance tells the Reducer that no event happened up to the time now, in
// nanoseconds since the sync point. A live stream calls it when it is silent.
func (r *Reducer) Advance(now int64) { r.advance(now) }

// patience is how long the histories of a background collection of server GC are
// waited for, which come after its sizes, and threads that waited for its end.
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
}

// First is the number of the first collection whose start was seen, 0 as long as there is
// none. It need not be the first one that is told: a background collection is told after
// one in its first pause.
func (r *Reducer) First() uint32 { return r.first }

// Idle reports whether nothing is under way, so that Advance has nothing to do.
func (r *Reducer) Idle() bool { return len(r.open) == 0 && len(r.suspensions) == 0 }

// Finish tells what is open as it is, because the stream has ended at the time
// now.
func (r *Reducer) Finish(now int64) {
	r.now = max(r.now, now)
	r.suspensions = r.suspensions[:0]
	r.tellPhases()
	for len(r.open) > 0 {
		r.giveUp(r.open[0])
	}
	r.orphan = nil
}

// DecodeError notes that an event could not be decoded: it counts as lost.
func (r *Reducer) DecodeError(at Stamp) { r.Loss(at, at.Time, 1) }

// Open is something that has begun and not ended.
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

// OpenKind is what can be open.
type OpenKind uint8

// A suspension, or a collection.
const (
	OpenSuspension OpenKind = iota
	OpenGC
)

var openNames = [...]string{"suspension", "gc"}

func (k OpenKind) String() string { return openNames[k] }

// AppendOpen appends what is open now to dst: the suspensions for the GC's sake,
// with the collection that they hold, then the collections.
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
		if !c.HasEnd {
			o := Open{Kind: OpenGC, Since: c.Start, Ticks: c.StartTicks}
			o.describe(c)
			dst = append(dst, o)
		}
	}
	return dst
}

func (o *Open) describe(c *collection) {
	o.Number, o.HasNumber = c.Number, c.HasNumber
	o.Generation, o.Type, o.Reason, o.HasReason = c.Generation, c.Type, c.Reason, c.HasReason
}

// Suspended is the sum of all suspensions for the GC's sake that have ended. The
// pauses that the Observer was told add up to it.
func (r *Reducer) Suspended() int64 { return r.blocked }

// Current is the collection that events belong to now: a blocking one that has
// not ended, else the background one, else nil. It is valid until the next event.
func (r *Reducer) Current() *GCDetails {
	if c := r.current(); c != nil {
		return &c.GCDetails
	}
	return nil
}

// threadTable remembers the collection that a thread spoke of last. Few threads
// do, so it is searched from the front; the oldest entry makes room.
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
