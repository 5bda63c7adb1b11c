package attach

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/internal/host"
	"github.com/gclog/gclog/parse"
	"github.com/gclog/gclog/parse/clr"
	"github.com/gclog/gclog/session"
)

// SnapshotOptions configures Snapshot.
type SnapshotOptions struct {
	BufferMB uint32        // in the target: see SnapshotPlan
	Most     uint64        // bytes of the recording; one that is longer is refused: SnapshotPlan.StreamLimit
	Answer   time.Duration // for the answer of the runtime, which in .NET 8 to 10 comes after the walk; 0: Timeout
	Timeout  time.Duration // for the walk
	// WaitBackground is how long a background collection is waited for. While one is running, the
	// runtime walks its heap at each collection.
	WaitBackground time.Duration
	// DuringBackground takes the snapshot even if one is still running then. Otherwise the error is
	// ErrBackground.
	DuringBackground bool
	StackNames       bool // ask for the names of the methods that hold objects on the stack, which takes longer
	// Patience is how long the end of the walk is waited for when ctx is done; 0: as long as it takes.
	// Then the connection is closed, which ends the session but not the walk.
	Patience time.Duration
	// Spool receives the recording. If it has a method Flush, that is called when everything about the
	// walk has been written.
	Spool    Spool
	Progress *SnapshotProgress
	// Held is called when the target is held, and the function that it returns when it no longer is;
	// nil: none.
	Held func(context.Context) (release func())
}

// A Spool is where the recording of a snapshot goes, an *io.PipeWriter for example.
type Spool interface {
	io.Writer
	// CloseWithError is called when the recording ends, perhaps more than once: the first call counts.
	// With an error there is no snapshot, and nobody needs what was written.
	CloseWithError(err error) error
}

// SnapshotProgress is updated while a snapshot is taken.
type SnapshotProgress struct {
	Phase    atomic.Int32 // a SnapshotPhase
	Received atomic.Int64 // bytes of the recording
}

// A SnapshotPhase is what a snapshot is waiting for.
type SnapshotPhase int32

// The phases.
const (
	SnapshotStarts     SnapshotPhase = iota // the first session has not started yet
	SnapshotBackground                      // a background collection is running
	SnapshotWalks                           // the runtime collects and walks its heap
	SnapshotReads                           // the runtime sends the objects
	SnapshotEnds                            // the session is being ended
)

// A Snapshot is the recording of a heap walk, in the spool.
type Snapshot struct {
	// GCs are the collections that the request has caused, in their order, as the records of a log:
	// the one with the walk, and up to .NET 9 the one at the end of the session.
	GCs []*gclog.GCDetails
	// Background reports that a background collection was still running when the walk was requested.
	Background bool
	// Late reports that the walk was not over in time, so that the connection was closed: that what came
	// is incomplete is no loss.
	Late bool

	hold     *host.Hold
	also     func()        // ends what SnapshotOptions.Held began
	released chan struct{} // closed when the hold has ended
}

// holdAfter is how long a target is held after a snapshot, or a requested collection stays announced:
// gclog's other sessions with it receive the events of the collection within 100 ms, and look whether
// it was a snapshot's.
const holdAfter = 500 * time.Millisecond

// Close returns when the target is no longer held, and other processes of gclog have had the time to
// notice that the collection was a snapshot's.
func (s *Snapshot) Close() { <-s.released }

// endHold ends the hold as soon as holdAfter has passed since the walk.
func (s *Snapshot) endHold(walked time.Time) {
	go func() {
		defer close(s.released)
		time.Sleep(time.Until(walked.Add(holdAfter)))
		s.also()
		s.hold.Release()
	}()
}

// ErrNoWalk reports that a runtime answered the request and sent no heap walk.
var ErrNoWalk = errors.New("the runtime has sent no heap walk")

// ErrBackground reports that a background collection was running all the time.
var ErrBackground = errors.New("a background collection was running all the time")

// A TooLongError reports that a process has sent more than the walk of its heap can take.
type TooLongError struct{ Most uint64 }

func (e *TooLongError) Error() string {
	return fmt.Sprintf("the process has sent more than the %d bytes that its heap walk can take", e.Most)
}

// TakeSnapshot has a runtime collect and walk its heap, and writes the recording of that to the
// spool. docs/heap.md describes the procedure.
//
// The target is held throughout. There are two sessions: the witness records the collections and
// makes the runtime forget which names of types it has sent, the other one requests the walk. It is
// ended as soon as the walk is over, because while it is open each session that anybody starts makes
// the runtime walk again. If ctx is done meanwhile, TakeSnapshot still ends the sessions in that order
// and returns the error of ctx: closing the connection would not keep the runtime from walking. Only
// after SnapshotOptions.Patience it closes the connections, in the same order.
func TakeSnapshot(ctx context.Context, t *host.Target, o SnapshotOptions) (_ *Snapshot, err error) {
	defer func() { _ = o.Spool.CloseWithError(err) }()
	patient := *t
	patient.Timeout = cmp.Or(o.Answer, o.Timeout)
	s := &Snapshot{also: func() {}, released: make(chan struct{})}
	if s.hold, err = patient.Hold(ctx); err != nil {
		return nil, err
	}
	walked := time.Now().Add(-holdAfter)
	defer func() {
		s.endHold(walked) // after the sessions
		if err != nil {
			s.Close()
		}
	}()
	if o.Held != nil {
		s.also = o.Held(ctx)
	}
	w, err := openWitness(ctx, s.hold.StartTracing, 0)
	if err != nil {
		return nil, err
	}
	defer w.end()
	w.early.Store(true)
	explain := (&InduceOptions{Timeout: session.DefaultTimeout}).explain
	if err := w.await(ctx, w.traced, session.DefaultTimeout); err != nil {
		return nil, explain(t, w, err)
	}
	o.Progress.Phase.Store(int32(SnapshotBackground))
	if s.Background, err = w.awaitBackground(ctx, t, o.WaitBackground); err != nil {
		return nil, err
	}
	if s.Background && !o.DuringBackground {
		return nil, ErrBackground
	}
	o.Progress.Phase.Store(int32(SnapshotWalks))
	facts := recordedFacts(ctx, t)
	facts.Snapshot = true
	w.early.Store(false)
	number, err := s.walk(ctx, t, &o, &facts)
	walked = time.Now()
	if err != nil {
		return nil, err
	}
	if collectsAtEnd(&facts) || !w.hasRecorded(number) {
		time.Sleep(resumeTime)
	}
	w.end() // after this it has reported everything
	s.GCs = requestedWith(cmp.Or(number, w.number), append([]*gclog.GCDetails{w.record}, w.again...))
	return s, nil
}

// requestedWith returns the collection with a number, and those after it that the same thread
// requested: the program's own collections look the same, but for that.
func requestedWith(number uint32, all []*gclog.GCDetails) (list []*gclog.GCDetails) {
	for _, d := range all {
		switch {
		case d == nil:
		case d.Number == number, len(list) > 0 && d.Known.Has(gclog.GroupTrigger) &&
			list[0].Known.Has(gclog.GroupTrigger) && d.Trigger == list[0].Trigger:
			list = append(list, d)
		}
	}
	return list
}

const (
	// backgroundPoll is the interval in which the CPU time of background collections is compared.
	backgroundPoll = 10 * time.Millisecond
	// backgroundQuiet is how many intervals without CPU time, and without a thread that waits for a
	// CPU, mean that none is running: its threads also wait for each other and for collections in the
	// foreground.
	backgroundQuiet = 3
	// backgroundOften is how many it takes where background collections are frequent: the next one
	// may begin before the request arrives.
	backgroundOften = 50
	// backgroundShare is the share of the time that frequent ones take, at least.
	backgroundShare = 0.01
)

// frequent reports whether background collections have been frequent during an age: they took a share
// of the time, and what was left between two of them was on average not longer than gclog waits where
// they are frequent. Between rarer ones, waiting only brings the next one nearer.
func frequent(took, age time.Duration, most int) bool {
	const wait = backgroundOften * backgroundPoll
	return float64(took) > backgroundShare*float64(age) && took+time.Duration(most)*wait >= age
}

// awaitBackground waits until no background collection is running. It reports whether one still was
// when the limit was reached. The events of one that was running before the witness are not there,
// and those of others come late; the threads of one may wait for a CPU.
//
// Where they are frequent, the request would not end: for as long as one follows another, the
// runtime does a lesser collection in its place, walks the heap, and tries again.
func (w *witness) awaitBackground(ctx context.Context, t *host.Target, limit time.Duration) (running bool, err error) {
	was, _, known := t.BackgroundGCTime()
	if !known && !w.behind.Load() {
		return false, nil
	}
	enough := backgroundQuiet
	if most, age := t.BackgroundGCs(); frequent(time.Duration(was), age, most) {
		enough = backgroundOften
	}
	for began, quiet := time.Now(), 0; quiet < enough; {
		select {
		case <-ctx.Done():
			return false, ctx.Err()
		case <-time.After(backgroundPoll):
		}
		now, active, _ := t.BackgroundGCTime()
		if now == was && !active && !w.behind.Load() {
			quiet++
			continue
		}
		was, quiet = now, 0
		if time.Since(began) > limit {
			return true, nil
		}
	}
	return false, nil
}

const (
	// walkKeywords are those of dotnet-gcdump, and the ranges of the generations.
	walkKeywords = clr.KeywordGC | clr.KeywordType | clr.KeywordGCHeapDump | clr.KeywordGCHeapCollect |
		clr.KeywordGCHeapAndType | clr.KeywordGCSurvival
	// walkPause is how long the runtime may send nothing before what has arrived counts as complete.
	// It writes its buffers without a pause, and in these the end of the walk is followed by nothing that
	// would say that no older event comes any more.
	walkPause = 20 * time.Millisecond
	// walkSilence is how long the runtime may send nothing before the walk counts as over.
	walkSilence = 5 * time.Second
	// walkEnd is how long the runtime may take, at least, to send everything, and then to end the
	// session and collect for that.
	walkEnd = time.Minute
)

// walk requests the walk and reads the session. It returns the number of the collection, 0 if that was
// lost. Whoever reads the spool finds out whether the walk is complete.
func (s *Snapshot) walk(
	ctx context.Context, t *host.Target, o *SnapshotOptions, facts *gclog.Process,
) (number uint32, err error) {
	if err := ctx.Err(); err != nil {
		return 0, err // once requested, the walk cannot be canceled
	}
	late, cancel := doneAfter(ctx, o.Patience)
	defer cancel()
	walk := session.Provider{Name: clr.RuntimeProvider, Keywords: walkKeywords, Level: clr.LevelInformational}
	stream, err := s.hold.StartTracing(late, session.Config{
		BufferMB: o.BufferMB, RundownMethods: o.StackNames, Providers: []session.Provider{walk},
	})
	if err != nil {
		o.settle(t, err)
		return 0, o.late(err)
	}
	defer stream.Close()
	o.Progress.Phase.Store(int32(SnapshotReads))
	r := &walkReader{
		stream: stream, flush: func() {}, over: make(chan struct{}), progress: o.Progress, late: late,
		limit: max(walkEnd, o.Timeout), most: o.Most,
	}
	if f, ok := o.Spool.(interface{ Flush() }); ok {
		r.flush = f.Flush
	}
	r.spool = &recorder{w: o.Spool, facts: func() gclog.Process { return *facts }}
	defer context.AfterFunc(ctx, r.ask)()
	defer time.AfterFunc(r.limit, r.ask).Stop() // the end of the walk may be lost, and the program go on
	r.read()
	s.Late = r.expired && !r.walked
	if number, err = r.result(ctx, t); err == nil {
		_ = o.Spool.CloseWithError(nil) // who reads it goes on while the witness ends
	}
	return number, o.late(err)
}

// result returns the number of the collection, or why there is no snapshot.
func (r *walkReader) result(ctx context.Context, t *host.Target) (number uint32, err error) {
	switch {
	case r.received > r.most && !r.walked: // what comes after the walk is not needed
		return 0, &TooLongError{r.most}
	case r.failed != nil:
		return 0, &WriteError{r.failed}
	case ctx.Err() != nil:
		return 0, ctx.Err()
	case !r.walked && !r.cut && t.Ends(ctx, exitTime):
		return 0, &host.TargetError{
			PID:    t.PID,
			Cause:  host.CauseNoSuchProcess,
			Kind:   "ended",
			Detail: "exited before its heap was walked",
		}
	case !r.some && r.expired:
		return 0, fmt.Errorf("the heap walk: %w within %v", session.ErrNoAnswer, 2*r.limit)
	case !r.some:
		return 0, ErrNoWalk
	case !r.walked && !r.cut: // its start may be lost
		return max(r.number, r.ended), nil
	}
	return r.number, nil
}

// doneAfter returns a context that is done some time after another one; 0: never.
func doneAfter(ctx context.Context, wait time.Duration) (context.Context, context.CancelFunc) {
	late, cancel := context.WithCancel(context.WithoutCancel(ctx))
	if wait == 0 {
		return late, cancel
	}
	stop := context.AfterFunc(ctx, func() {
		select {
		case <-time.After(wait):
			cancel()
		case <-late.Done():
		}
	})
	return late, func() { stop(); cancel() }
}

// settlePoll is how often a runtime is asked whether it answers again.
const settlePoll = time.Second

// settle waits until a runtime that has not answered in time answers other requests, for as long
// again: its walk goes on, and a session that starts or ends before the end of that would make it
// walk once more.
func (o *SnapshotOptions) settle(t *host.Target, err error) {
	late := time.Now().Add(o.Timeout)
	for errors.Is(err, session.ErrNoAnswer) && t.Alive() && time.Now().Before(late) {
		_, err = t.ProcessInfo(context.Background()) // .NET Core 3.1 does not know the request, which is an answer too
		time.Sleep(settlePoll)
	}
}

// late explains that an answer did not come.
func (o *SnapshotOptions) late(err error) error {
	if errors.Is(err, session.ErrNoAnswer) {
		return fmt.Errorf("%w: it may still be collecting and walking its heap, or cannot stop its threads; a longer "+
			"--timeout waits for that", err)
	}
	return err
}

// A walkReader copies the stream of a walk to the spool, and ends the session when the walk is over.
type walkReader struct {
	stream   *session.Stream
	spool    io.Writer
	flush    func() // the spool
	progress *SnapshotProgress
	once     sync.Once
	over     chan struct{}   // closed when the stream has ended
	stopped  chan struct{}   // closed when the session has been ended; nil: nobody has asked for that
	failed   error           // of the spool
	limit    time.Duration   // for the end of the session
	most     uint64          // bytes that may come
	received uint64          // bytes that have come
	late     context.Context // done when there is no time left for the end of the session
	expired  bool            // it has not ended in time; known when stopped is closed

	number uint32 // of the latest collection; 0: unknown
	open   bool   // it is a full blocking one that was induced, and it is running
	nodes  bool   // there were objects since the last one has ended
	ended  uint32 // the last collection with objects that has ended before its start came
	walked bool   // the requested collection has ended
	cut    bool   // so it has, but the event that says so was lost
	some   bool   // there were objects at all
	since  int    // collections in the foreground that have begun after the last objects
	lost   bool   // events were lost
	last   time.Time
}

// errEndless reports that a runtime does not end its session.
var errEndless = errors.New("the session does not end")

// Read implements io.Reader. What is read is also written to the spool. After an error there, or when
// too much has come, it is still read: a runtime whose stream nobody reads keeps its buffers, and does
// not end the session. What it may have buffered, and what a walk that goes on adds to that, is as much
// again at most; who sends more is no runtime, and is cut off.
func (r *walkReader) Read(b []byte) (int, error) {
	if r.received > 2*r.most {
		_ = r.stream.CloseRead()
		return 0, errEndless
	}
	n, err := r.stream.Read(b)
	if n > 0 {
		r.last = time.Now()
		r.received += uint64(n)
		r.progress.Received.Add(int64(n))
		switch {
		case r.received > r.most:
			r.ask()
		case r.failed == nil:
			if _, r.failed = r.spool.Write(b[:n]); r.failed != nil {
				r.ask()
			}
		}
	}
	return n, err
}

// ask asks the runtime to end the session. It does not wait for that.
func (r *walkReader) ask() {
	r.once.Do(func() {
		r.progress.Phase.Store(int32(SnapshotEnds))
		r.stopped = make(chan struct{})
		go func() {
			defer close(r.stopped)
			ctx, cancel := context.WithTimeout(r.late, r.limit)
			defer cancel()
			_ = r.stream.Stop(ctx) // what counts is that the stream ends
			select {
			case <-r.over:
			case <-ctx.Done():
				r.expired = r.late.Err() == nil
				_ = r.stream.CloseRead()
			}
		}()
	})
}

// read reads the stream to its end.
func (r *walkReader) read() {
	r.stream.IdleTimeout, r.stream.Prompt = walkPause, true
	r.last = time.Now()
	p := parse.NewReader(r, wantedOfWalk)
	decoder := (*clr.Decoder)(nil)
	for {
		for p.Scan() {
			if p.Loss() != nil {
				r.lost = true
				continue
			}
			if decoder == nil {
				decoder = clr.NewDecoder(p.Trace().PointerSize)
			}
			if !r.event(p.Event(), decoder) {
				continue
			}
			if r.walked {
				r.flush()
			}
			r.ask()
		}
		if !session.IsIdle(p.Err()) {
			break
		}
		p.Flush() // also in the middle of a write: event does not need the order of different threads

		if !r.open && time.Since(r.last) > walkSilence { // .NET Core 3.1 is silent while it marks
			r.ask()
		}
	}
	if p.Err() != nil { // the stream has not ended: the runtime writes the rest before it ends the session
		r.ask()
		r.stream.IdleTimeout = 0
		_, _ = io.Copy(io.Discard, r)
	}
	close(r.over)
	r.ask() // the connection may have ended without the session
	<-r.stopped
}

// wantedOfWalk is the filter of the events that show where the walk begins and ends.
func wantedOfWalk(m *parse.Metadata) parse.Want {
	switch {
	case m.Provider != clr.RuntimeProvider:
		return parse.Want{}
	case m.EventID == clr.IDGCBulkNode: // folded: only that there are some matters
		return parse.Want{Deliver: true, Sum: func(*parse.Trace, []byte) uint64 { return 0 }}
	}
	return parse.Want{Deliver: m.EventID == clr.IDGCStart || m.EventID == clr.IDGCEnd}
}

// event looks at an event, and reports whether it shows that the walk is over. A collection that the
// program has induced itself looks the same: only objects make it that of the walk. A walk of a lesser
// collection, or of a background one, is not what was asked for: the right one follows. One thread
// writes the objects and the end of the collection; its start, which with server GC another one writes,
// may come later.
func (r *walkReader) event(e *parse.Event, decoder *clr.Decoder) (over bool) {
	if e.Meta.EventID == clr.IDGCBulkNode {
		r.nodes, r.some, r.since = true, true, 0
		return false
	}
	typed, err := decoder.Decode(e)
	if err != nil || r.walked || r.cut {
		return false
	}
	switch e := typed.(type) {
	case *clr.GCStart:
		if e.Count < r.number {
			return false // late, and not the last one
		}
		full := isInducedFull(e)
		if r.open && r.nodes {
			r.cut = true
			return true
		}
		if e.Type != clr.TypeBackground {
			r.since++
		}
		r.number, r.open, r.walked = e.Count, full, full && e.Count == r.ended
		if !full && r.some && (r.since > mostUnwalked || r.lost && r.since > 1) {
			r.cut, r.number = true, 0
			return true
		}
	case *clr.GCEnd:
		switch {
		case e.Count < r.number:
			return false
		case e.Count == r.number:
			r.walked, r.open = r.open && r.nodes, false
		case r.nodes:
			r.ended = e.Count
		}
		r.nodes = false
	}
	return r.walked
}

// mostUnwalked is how many collections without objects may follow one with objects while the request is
// being answered: as a rule the runtime walks its heap at each of them, and if events were lost, one
// without objects shows that there are no more to come.
const mostUnwalked = 8
