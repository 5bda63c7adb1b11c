package attach

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/parse/clr"
	"github.com/gclog/gclog/session"
)

// InduceOptions is what Induce does.
type InduceOptions struct {
	// Sequence is the number that the collection is to bear, which only runtimes on Windows
	// heed; 0: none, and the collection is recognised by what it is.
	Sequence  uint64
	Wait      bool          // for its record; else only for its start
	NativeAOT bool          // the program is one
	Repeat    bool          // ask once more where nothing begins: see AnswersAfterCollecting
	Timeout   time.Duration // until it begins, and then until it ends; what is under way then is waited for
}

// Induced is a collection that was asked for.
type Induced struct {
	Number uint32
	GC     *gclog.GCDetails   // its record; nil without Wait, unless it has ended meanwhile
	Again  []*gclog.GCDetails // of others of its kind that were seen after it
	Sync   time.Time          // the clock of the records
}

// A NotInducedError says that a runtime has taken the request and not collected.
type NotInducedError struct {
	PID       int
	NativeAOT bool
	After     time.Duration
}

func (e *NotInducedError) Error() string {
	if e.NativeAOT {
		return fmt.Sprintf("process %d is a NativeAOT program: its runtime takes the request for a collection and does nothing (none began within %v)", e.PID, e.After)
	}
	return fmt.Sprintf("process %d took the request for a collection, and none began within %v", e.PID, e.After)
}

const (
	// nativeTime is how long a NativeAOT program gets: those that are known never collect,
	// and one that would had nothing to wait for.
	nativeTime = 2 * time.Second
	// resumeTime is how long the threads may take to run again: a runtime answers a request
	// when it has collected, a moment before it tells that they do.
	resumeTime = 50 * time.Millisecond
	// unheardTime is how long after the answer a collection may take to begin until the request is
	// repeated. It had begun before the answer: only its events can be late.
	unheardTime = 2 * time.Second
	// induceMost is how long a request may take while a collection is under way.
	induceMost = 24 * time.Hour
)

// Induce makes a runtime do a full blocking collection. It returns when that has begun,
// or has ended.
//
// A runtime collects when a session with clr.KeywordGCHeapCollect begins and, up to .NET
// 9, again when it ends; from .NET 8 on it answers the request when it has collected, and
// nothing tells meanwhile that it has begun. So there are two sessions. The witness sees
// what happens; the other one asks, and lasts no longer than it must: while it does,
// each session of anybody that begins makes the runtime collect. Neither is left before
// it was answered: that ends a process of .NET Core 3.1 (docs/protocol.md).
//
// A request that comes within some milliseconds of the moment at which a suspended runtime
// is resumed may be answered and lost: that is what InduceOptions.Repeat is for.
func Induce(ctx context.Context, t *session.Target, o InduceOptions) (*Induced, error) {
	w, err := openWitness(ctx, t, o.Sequence)
	if err != nil {
		return nil, err
	}
	defer w.end()
	if err := w.await(ctx, w.traced, o.patience()); err != nil {
		return nil, o.explain(t, w, err)
	}
	a := w.ask(ctx, t, o.Sequence)
	defer func() { a.end(ctx, w) }() // before the witness
	limit := o.limit()
	err = o.see(ctx, t, w, a, limit)
	if errors.Is(err, errLate) && o.Repeat && limit < o.Timeout {
		limit = o.Timeout
		a, err = o.repeat(ctx, t, w, a, limit)
	}
	if errors.Is(err, errLate) {
		return nil, &NotInducedError{PID: t.PID, NativeAOT: o.NativeAOT, After: limit}
	}
	if err == nil && o.Wait {
		err = w.await(ctx, w.recorded, o.Timeout)
	}
	if err != nil {
		return nil, o.explain(t, w, err)
	}
	a.end(ctx, w)
	w.end() // it has told all when it is over
	return &Induced{Number: w.number, GC: w.record, Again: w.again, Sync: w.trace.SyncTime}, nil
}

// patience is how long an answer may take: as long as requests get anyhow, because who
// leaves unanswered ones may do harm.
func (o *InduceOptions) patience() time.Duration { return max(o.Timeout, session.DefaultTimeout) }

// limit is how long a collection may take to begin after the first request was answered.
func (o *InduceOptions) limit() time.Duration {
	switch {
	case o.NativeAOT:
		return min(o.Timeout, nativeTime)
	case o.Repeat:
		return min(o.Timeout, unheardTime)
	}
	return o.Timeout
}

// see waits for the answer, and for the start of the collection: errLate if there is none.
func (o *InduceOptions) see(ctx context.Context, t *session.Target, w *witness, a *asking, limit time.Duration) error {
	if err := w.await(ctx, a.answered, o.patience()); errors.Is(err, errLate) {
		return errUnanswered
	} else if err != nil {
		return err
	}
	if _, refused := errors.AsType[*session.ServerError](a.err); refused {
		return a.err
	} else if a.err != nil && t.Ends(ctx, exitTime) {
		return errOver // which of its two sessions tells that first is chance
	} else if a.err != nil {
		return a.err
	}
	return w.await(ctx, w.begun, limit)
}

// repeat asks once more. Up to .NET 9 the end of the first request makes the runtime collect too.
func (o *InduceOptions) repeat(ctx context.Context, t *session.Target, w *witness, a *asking, limit time.Duration) (*asking, error) {
	a.end(ctx, w)
	if err := w.await(ctx, w.begun, unheardTime); !errors.Is(err, errLate) {
		return a, err
	}
	a = w.ask(ctx, t, o.Sequence)
	return a, o.see(ctx, t, w, a, limit)
}

// explain makes of what kept the witness from seeing something an error for people.
func (o *InduceOptions) explain(t *session.Target, w *witness, err error) error {
	switch {
	case errors.Is(err, errLate), errors.Is(err, errUnanswered):
		return fmt.Errorf("%w in time (%v)", session.ErrNoAnswer, o.patience())
	case !errors.Is(err, errOver):
		return err
	case t.Ends(context.Background(), exitTime):
		return &session.TargetError{PID: t.PID, Cause: session.CauseNoSuchProcess, Kind: "ended", Detail: "ended before its collection did"}
	case w.err != nil && !errors.Is(w.err, io.ErrUnexpectedEOF):
		return w.err
	}
	return fmt.Errorf("%w: the runtime ended the session before the collection", session.ErrNoAnswer)
}

// errUnanswered is for a request.
var errUnanswered = errors.New("the request was not answered")

// An asking is the session that makes the runtime collect.
type asking struct {
	answered chan struct{} // closed when the runtime has answered, or will not
	stream   *session.Stream
	err      error
	cancel   context.CancelFunc
	over     chan struct{} // closed when the stream has ended
	once     sync.Once
}

// ask opens the session. It does not wait for that.
func (w *witness) ask(ctx context.Context, t *session.Target, sequence uint64) *asking {
	a := &asking{answered: make(chan struct{}), over: make(chan struct{})}
	ctx, a.cancel = context.WithCancel(context.WithoutCancel(ctx)) // end decides
	// Its events are for nobody, but end the session should gclog be killed: see Settings.
	p := session.Provider{Name: clr.RuntimeProvider, Keywords: clr.KeywordGCHeapCollect | clr.KeywordGC, Level: clr.LevelInformational}
	if sequence != 0 {
		p.Filter = fmt.Sprintf("GCSeqNumber=%d", sequence)
	}
	patient := *t
	patient.Timeout = induceMost
	go func() {
		defer close(a.over)
		a.stream, a.err = patient.StartTracing(ctx, session.Config{BufferMB: 1, Providers: []session.Provider{p}})
		close(a.answered)
		if a.err == nil {
			_, _ = io.Copy(io.Discard, a.stream)
		}
	}()
	return a
}

// end ends the session, and waits for the collection that may come with that, unless
// asked says that nobody waits any more.
func (a *asking) end(asked context.Context, w *witness) {
	a.once.Do(func() { a.stop(asked, w) })
}

func (a *asking) stop(asked context.Context, w *witness) {
	select {
	case <-a.answered:
	default: // who gives up waits for the answer too, but not for long: session does
		a.cancel()
		<-a.answered
	}
	if a.err != nil {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		_ = a.stream.Stop(ctx) // what counts is that the stream ends
	}()
	if err := w.await(asked, a.over, stopTime); err != nil && !errors.Is(err, errLate) {
		select {
		case <-a.over:
		case <-time.After(stopTime): // it may stand for ever: in a debugger, say
		}
	}
	_ = a.stream.Close()
	cancel()
	<-stopped
	time.Sleep(resumeTime)
}
