package attach

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/internal/host"
	"github.com/gclog/gclog/parse/clr"
	"github.com/gclog/gclog/session"
)

// InduceOptions configures Induce.
type InduceOptions struct {
	// Sequence is the sequence number that the collection is to carry, which only runtimes on
	// Windows honor; 0: none, and the collection is recognized by its kind and reason.
	Sequence uint64
	Wait     bool // for the collection's record; otherwise only for its start
	Repeat   bool // repeat the request if no collection starts: see AnswersAfterCollecting
	// Timeout is for the collection to start, and then for it to end; an operation that is in progress
	// when it is over is still awaited.
	Timeout time.Duration
}

// Induced is a collection that gclog requested.
type Induced struct {
	Number uint32
	GC     *gclog.GCDetails   // its record; nil without Wait, unless it has ended in the meantime
	Again  []*gclog.GCDetails // records of similar collections that were seen after it
	Sync   time.Time          // the clock of the records
}

// A NotInducedError reports that a runtime accepted the request and did not collect.
type NotInducedError struct {
	PID   int
	After time.Duration
}

func (e *NotInducedError) Error() string {
	return fmt.Sprintf("process %d accepted the request for a collection, but none started within %v", e.PID, e.After)
}

const (
	// resumeTime is how long the threads may take to resume: a runtime answers a request once it
	// has collected, a moment before it reports that they have resumed.
	resumeTime = 50 * time.Millisecond
	// unheardTime is how long after the answer a collection may take to start before the request is
	// repeated. It started before the answer: only its events can be late.
	unheardTime = 2 * time.Second
	// induceMost is how long a request may take while a collection is in progress.
	induceMost = 24 * time.Hour
)

// Induce makes a runtime do a full blocking collection. It returns when the collection has started,
// or when it has ended. A runtime that does not collect on request is not asked: see
// host.Target.Permit.
//
// A runtime collects when a session with clr.KeywordGCHeapCollect starts and, up to .NET 9, again
// when it ends. .NET 8 to 10 answer the request only after they have collected, and nothing
// reports in the meantime that the collection has started. So there are two sessions. The witness
// sees what happens; the other one asks, and lasts no longer than it must: while it is open, each
// session that anybody starts makes the runtime collect. Neither session is closed before its
// request was answered: that would kill a process of .NET Core 3.1 (docs/protocol.md).
//
// A request that arrives within some milliseconds of the moment at which a suspended runtime is
// resumed may be answered and lost: InduceOptions.Repeat is for that case.
func Induce(ctx context.Context, t *host.Target, o InduceOptions) (_ *Induced, err error) {
	unshare, err := t.Share(ctx) // the sessions of a heap snapshot would make the runtime collect too
	if err != nil {
		return nil, err
	}
	defer unshare()
	if err := t.Permit(ctx, inducing(o.Sequence)); err != nil {
		return nil, err
	}
	patient := *t
	patient.Timeout = o.patience()
	w, err := openWitness(ctx, patient.StartTracing, o.Sequence)
	if err != nil {
		return nil, err
	}
	defer w.end()
	if err := w.await(ctx, w.traced, o.patience()); err != nil {
		return nil, o.explain(t, w, err)
	}
	release := t.AnnounceGC()
	a := w.ask(ctx, t, o.Sequence)
	defer func() {
		a.end(ctx, w)
		w.end() // not earlier
		if err == nil {
			time.Sleep(time.Until(a.ended.Add(holdAfter)))
		}
		release()
	}()
	limit := o.limit()
	err = o.see(ctx, t, w, a, limit)
	if errors.Is(err, errLate) && o.Repeat && limit < o.Timeout {
		limit = o.Timeout
		a, err = o.repeat(ctx, t, w, a, limit)
	}
	if errors.Is(err, errLate) {
		return nil, &NotInducedError{PID: t.PID, After: limit}
	}
	if err == nil && o.Wait {
		err = w.await(ctx, w.recorded, o.Timeout)
	}
	if err != nil {
		return nil, o.explain(t, w, err)
	}
	a.end(ctx, w)
	w.end() // after this it has reported everything
	return &Induced{Number: w.number, GC: w.record, Again: w.again, Sync: w.trace.SyncTime}, nil
}

// patience is how long an answer may take: at least the usual timeout of requests, because a client
// that abandons unanswered ones may do harm.
func (o *InduceOptions) patience() time.Duration { return max(o.Timeout, session.DefaultTimeout) }

// limit is how long after the answer to the first request a collection may take to start.
func (o *InduceOptions) limit() time.Duration {
	if o.Repeat {
		return min(o.Timeout, unheardTime)
	}
	return o.Timeout
}

// see waits for the answer and for the start of the collection; it returns errLate if none starts.
func (o *InduceOptions) see(ctx context.Context, t *host.Target, w *witness, a *asking, limit time.Duration) error {
	if err := w.await(ctx, a.answered, o.patience()); errors.Is(err, errLate) {
		return errUnanswered
	} else if err != nil {
		return err
	}
	if _, refused := errors.AsType[*session.ServerError](a.err); refused {
		return a.err
	} else if a.err != nil && t.Ends(ctx, exitTime) {
		return errOver // which of its two sessions reports that first is random
	} else if a.err != nil {
		return a.err
	}
	return w.await(ctx, w.started, limit)
}

// repeat repeats the request. Up to .NET 9 the end of the first request makes the runtime collect
// too.
func (o *InduceOptions) repeat(
	ctx context.Context, t *host.Target, w *witness, a *asking, limit time.Duration,
) (*asking, error) {
	a.end(ctx, w)
	if err := w.await(ctx, w.started, unheardTime); !errors.Is(err, errLate) {
		return a, err
	}
	a = w.ask(ctx, t, o.Sequence)
	return a, o.see(ctx, t, w, a, limit)
}

// explain turns the error that kept the witness from seeing something into one for people.
func (o *InduceOptions) explain(t *host.Target, w *witness, err error) error {
	switch {
	case errors.Is(err, errLate), errors.Is(err, errUnanswered):
		return fmt.Errorf("%w in time (%v)", session.ErrNoAnswer, o.patience())
	case !errors.Is(err, errOver):
		return err
	case t.Ends(context.Background(), exitTime):
		return &host.TargetError{
			PID:    t.PID,
			Cause:  host.CauseNoSuchProcess,
			Kind:   "ended",
			Detail: "exited before its collection ended",
		}
	case w.err != nil && !errors.Is(w.err, io.ErrUnexpectedEOF):
		return w.err
	}
	return fmt.Errorf("%w: the runtime ended the session before the collection", session.ErrNoAnswer)
}

// errUnanswered reports that a request was not answered.
var errUnanswered = errors.New("the request received no answer")

// An asking is the session that makes the runtime collect.
type asking struct {
	answered chan struct{} // closed when the runtime has answered, or never will
	stream   *session.Stream
	err      error
	cancel   context.CancelFunc
	over     chan struct{} // closed when the stream has ended
	once     sync.Once
	ended    time.Time // when the session was ended; zero: there was none
}

// inducing returns what a session is that makes the runtime collect.
func inducing(sequence uint64) *session.Config {
	// Nobody uses its events, but they end the session if gclog is killed: see Settings.
	p := session.Provider{
		Name:     clr.RuntimeProvider,
		Keywords: clr.KeywordGCHeapCollect | clr.KeywordGC,
		Level:    clr.LevelInformational,
	}
	if sequence != 0 {
		p.Filter = fmt.Sprintf("GCSeqNumber=%d", sequence)
	}
	return &session.Config{BufferMB: 1, Providers: []session.Provider{p}}
}

// ask opens the session. It does not wait until it is open.
func (w *witness) ask(ctx context.Context, t *host.Target, sequence uint64) *asking {
	a := &asking{answered: make(chan struct{}), over: make(chan struct{})}
	ctx, a.cancel = context.WithCancel(context.WithoutCancel(ctx)) // end decides when it is canceled
	patient := *t
	patient.Timeout = induceMost
	go func() {
		defer close(a.over)
		a.stream, a.err = patient.StartTracing(ctx, *inducing(sequence))
		close(a.answered)
		if a.err == nil {
			_, _ = io.Copy(io.Discard, a.stream)
		}
	}()
	return a
}

// end ends the session and waits for the collection that may come with that, unless asked is done,
// because then nobody waits any more.
func (a *asking) end(asked context.Context, w *witness) {
	a.once.Do(func() { a.stop(asked, w) })
}

func (a *asking) stop(asked context.Context, w *witness) {
	select {
	case <-a.answered:
	default: // a caller that gives up also waits for the answer, but not for long: session limits that
		a.cancel()
		<-a.answered
	}
	if a.err != nil {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		_ = a.stream.Stop(ctx) // what counts is that the stream ends
	}()
	if err := w.await(asked, a.over, stopTime); err != nil && !errors.Is(err, errLate) {
		select {
		case <-a.over:
		case <-time.After(stopTime): // the process may be stopped forever, for example in a debugger
		}
	}
	_ = a.stream.Close()
	cancel()
	<-stopped
	a.ended = time.Now()
	time.Sleep(resumeTime)
}
