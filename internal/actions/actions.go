// Package actions does what rules ask for and what takes time: it runs commands and calls webhooks.
// Each action has a worker with a bounded queue, so that whoever fires rules never waits, and one
// action that hangs holds up no other.
package actions

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gclog/gclog/internal/rules"
	"github.com/gclog/gclog/internal/shares"
)

// A Call is what an action learns about a firing. It is plain data.
type Call struct {
	Rule    string
	Time    time.Time
	Text    string // what happened, for people
	PID     int64
	UserID  string // of the process; "": unknown
	Process string
	Service string
	Host    string
	Record  []byte // what happened as a JSON object: rules.Firing.Record
}

// NewCall returns the call for a firing on a host.
func NewCall(f *rules.Firing, host string) *Call {
	p := f.Process
	return &Call{
		Rule: f.Rule.Name, Time: f.Time, Text: f.Text(), PID: p.ID, UserID: p.UserID, Process: p.Name,
		Service: p.Service, Host: host, Record: f.Record(),
	}
}

// An Action is what is done about a firing.
type Action interface {
	// Do does it, and returns why it could not be done.
	Do(ctx context.Context, c *Call) error
}

// maxWaiting is how many calls wait for an action. Each has at most some 100 KB. At most three quarters of
// the calls are about processes of one user.
const maxWaiting = 100

// A Worker does one action for one call after the other.
type Worker struct {
	action Action
	failed func(*Call, error)
	queue  chan waiting
	room   *shares.Room // of calls in the queue
	stop   context.CancelFunc
	done   chan struct{}
	counts struct{ done, failed, dropped atomic.Int64 }
	last   atomic.Pointer[string] // why the last call that has failed has
	mu     sync.Mutex             // guards room and closed
	closed bool                   // nothing more can be offered
}

// A waiting call has a place in the queue.
type waiting struct {
	*Call
	place *shares.Share
}

// Counts are how often an action was done, has failed, and was left out because too many calls were
// waiting.
type Counts struct{ Done, Failed, Dropped int64 }

// Start starts a worker. failed receives what could not be done.
func Start(a Action, failed func(*Call, error)) *Worker {
	ctx, stop := context.WithCancel(context.Background())
	w := &Worker{
		action: a,
		failed: failed,
		queue:  make(chan waiting, maxWaiting),
		room:   shares.NewRoom(maxWaiting),
		stop:   stop,
		done:   make(chan struct{}),
	}
	go w.work(ctx)
	return w
}

func (w *Worker) work(ctx context.Context) {
	defer close(w.done)
	for x := range w.queue {
		w.mu.Lock()
		x.place.Give(1)
		w.mu.Unlock()
		c := x.Call
		if err := w.action.Do(ctx, c); err != nil {
			w.counts.failed.Add(1)
			text := err.Error()
			w.last.Store(&text)
			w.failed(c, err)
		} else {
			w.counts.done.Add(1)
		}
	}
}

// Offer has the action done for a call as soon as possible. It does not wait; it reports whether
// there was room. A worker that was closed has none.
func (w *Worker) Offer(c *Call) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if place := w.room.Of(c.UserID); !w.closed && place.Take(1) {
		w.queue <- waiting{c, place} // there is room for all who have a place
		return true
	}
	w.counts.dropped.Add(1)
	return false
}

// Counts returns the counts so far.
func (w *Worker) Counts() Counts {
	return Counts{w.counts.done.Load(), w.counts.failed.Load(), w.counts.dropped.Load()}
}

// LastError returns why the last call that has failed has, "" if none has.
func (w *Worker) LastError() string {
	if text := w.last.Load(); text != nil {
		return *text
	}
	return ""
}

// Close ends the worker. What is waiting is still done within a time; what is not done by then fails,
// and the action that is in progress is stopped. Close reports whether it has ended when ctx is done;
// otherwise it is left.
func (w *Worker) Close(ctx context.Context, within time.Duration) (ended bool) {
	w.mu.Lock()
	w.closed = true
	close(w.queue)
	w.mu.Unlock()
	defer w.stop()
	enough := time.NewTimer(within)
	defer enough.Stop()
	select {
	case <-w.done:
		return true
	case <-enough.C:
	case <-ctx.Done():
	}
	w.stop()
	select {
	case <-w.done:
		return true
	case <-ctx.Done():
		return false
	}
}
