package attach

import (
	"context"
	"errors"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/parse"
	"github.com/gclog/gclog/parse/clr"
	"github.com/gclog/gclog/session"
)

// A witness is a session that watches for a requested collection.
type witness struct {
	stream   *session.Stream
	sequence uint64       // of the collection; 0: none
	early    atomic.Bool  // nothing is requested yet
	behind   atomic.Bool  // a background collection is running that was seen to start
	under    atomic.Int64 // start of the oldest operation in progress, on the clock of now; nothing: none

	traced   chan struct{} // closed when trace is set
	started  chan struct{} // closed when number is set
	recorded chan struct{} // closed when record is set
	over     chan struct{} // closed when the stream has ended: again and err are final
	once     sync.Once

	headed    time.Time // when the head of the stream arrived
	trace     *parse.Trace
	processes *gclog.Processes
	mine      *gclog.Process // nil before its first event
	open      []gclog.Open
	lost      bool // events were lost
	number    uint32
	record    *gclog.GCDetails
	again     []*gclog.GCDetails
	err       error
}

const (
	// againMost is how many further collections are kept.
	againMost = 16
	// nothing means that nothing is in progress.
	nothing = math.MaxInt64
)

// A starter starts a session.
type starter func(context.Context, session.Config) (*session.Stream, error)

func openWitness(ctx context.Context, start starter, sequence uint64) (*witness, error) {
	cfg, err := SessionConfig("light", nil, true)
	if err != nil {
		return nil, err
	}
	stream, err := start(ctx, cfg)
	if err != nil {
		return nil, err
	}
	w := &witness{
		stream:   stream,
		sequence: sequence,
		traced:   make(chan struct{}),
		started:  make(chan struct{}),
		recorded: make(chan struct{}),
		over:     make(chan struct{}),
	}
	w.processes = onlyProcess(&w.mine, w.observe, gclog.Process{})
	w.processes.Events = func(*gclog.Process) gclog.EventObserver { return w.event }
	w.under.Store(nothing)
	stream.IdleTimeout = idle
	go w.run()
	return w, nil
}

// end ends the session and returns when everything it has seen was reported.
func (w *witness) end() {
	w.once.Do(func() { stop(context.Background(), w.stream, w.over, stopTime, nil) })
	<-w.over
}

func (w *witness) run() {
	defer close(w.over)
	defer func() { leave(context.Background(), w.stream, w.err) }()
	p := parse.NewReader(w.stream, gclog.Wanted)
	if w.trace, w.err = readTrace(p); w.err != nil {
		return
	}
	w.headed = time.Now()
	close(w.traced)
	silence := silence{}
	for {
		for p.Scan() {
			w.processes.Take(p)
			w.lost = w.lost || p.Loss() != nil || w.processes.DecodeErrors() > 0
			w.look()
		}
		if !session.IsIdle(p.Err()) {
			break
		}
		if silence.lasts(p) {
			p.Flush()
		}
	}
	w.err = p.Err() // what is still open gets no record: its end was not seen
}

// now returns the time of the stream's clock, as precisely as it is known. There must be a trace.
func (w *witness) now() int64 { return time.Since(w.headed).Nanoseconds() }

// event takes an event.
func (w *witness) event(_ gclog.Stamp, e clr.Event, _ *gclog.GCDetails) {
	if start, ok := e.(*clr.GCStart); ok && !w.early.Load() && !isClosed(w.started) && w.isIt(start) {
		w.number = start.Count
		close(w.started)
	}
}

// hasRecorded reports whether the record of the collection with a number is complete.
func (w *witness) hasRecorded(number uint32) bool { return isClosed(w.recorded) && w.number == number }

// look notes what is in progress and will end. It leaves out what was not seen to start, because
// that may have ended before the session, and everything once events were lost, because the ends
// may be among them.
func (w *witness) look() {
	oldest, behind := int64(nothing), false
	if w.mine == nil {
		return
	}
	w.open = w.processes.Reducer(w.mine).AppendOpen(w.open[:0])
	for i := range w.open {
		if o := &w.open[i]; !w.lost && (o.Kind == gclog.OpenSuspension || o.HasReason) {
			oldest = min(oldest, o.Since)
			behind = behind || o.Kind == gclog.OpenGC && o.Type == clr.TypeBackground
		}
	}
	w.under.Store(oldest)
	w.behind.Store(behind)
}

// isIt reports whether a collection that starts is the requested one: the first in the session that
// looks like it. Clocks could not distinguish it better from one that the program requests at the
// same moment: on a busy machine the stream's clock is off by milliseconds.
func (w *witness) isIt(e *clr.GCStart) bool {
	if w.sequence != 0 {
		return e.ClientSequence == w.sequence
	}
	return isInducedFull(e)
}

// isInducedFull reports whether a collection is of the kind that a session can request.
func isInducedFull(e *clr.GCStart) bool {
	return e.Depth == gclog.Gen2 && e.Type == clr.TypeBlocking && e.Reason == clr.ReasonInduced
}

// observe takes a record.
func (w *witness) observe(r gclog.Record) {
	d, ok := r.(*gclog.GCDetails)
	switch {
	case !ok || !isClosed(w.started):
	case d.Number == w.number && w.record == nil:
		w.record = d.Clone()
		close(w.recorded)
	case d.Generation == gclog.Gen2 && d.Kind == gclog.KindBlocking && d.Reason == clr.ReasonInduced &&
		len(w.again) < againMost:
		w.again = append(w.again, d.Clone())
	}
}

// Reasons why a witness stops waiting.
var (
	errLate = errors.New("no collection is in progress, and the time is up")
	errOver = errors.New("the stream has ended")
)

// await waits for ready, at most for limit, and then for what is in progress at that moment: a
// collection may take any time. What starts later is not waited for: when one background collection
// follows another there is always one.
func (w *witness) await(ctx context.Context, ready <-chan struct{}, limit time.Duration) error {
	look := time.NewTicker(idle)
	defer look.Stop()
	var over int64 // when the limit was reached, on the clock of now; 0: not yet
	for began := time.Now(); ; {
		select {
		case <-ready:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		case <-w.over:
			return unless(ready, errOver)
		case <-look.C:
			under := w.under.Load()
			if time.Since(began) <= limit {
				continue
			}
			if under != nothing && over == 0 {
				over = w.now()
			}
			if under > over {
				return unless(ready, errLate)
			}
		}
	}
}

// unless returns err, or nil if ready was closed, perhaps at the same moment.
func unless(ready <-chan struct{}, err error) error {
	if isClosed(ready) {
		return nil
	}
	return err
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
