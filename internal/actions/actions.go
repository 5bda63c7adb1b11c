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
)

// A Call is what an action learns about a firing. It is plain data.
type Call struct {
	Rule    string
	Time    time.Time
	Text    string // what happened, for people
	PID     int64
	Process string
	Service string
	Host    string
	Record  []byte // what happened as a JSON object: rules.Firing.Record
}

// NewCall returns the call for a firing on a host.
func NewCall(f *rules.Firing, host string) *Call {
	p := f.Process
	return &Call{Rule: f.Rule.Name, Time: f.Time, Text: f.Text(), PID: p.ID, Process: p.Name, Service: p.Service, Host: host, Record: f.Record()}
}

// An Action is what is done about a firing.
type Action interface {
	// Do does it, and returns why it could not be done.
	Do(ctx context.Context, c *Call) error
}

// maxWaiting is how many calls wait for an action. Each has at most some 100 KB.
const maxWaiting = 100

// A Worker does one action for one call after the other.
type Worker struct {
	action Action
	failed func(*Call, error)
	queue  chan *Call
	stop   context.CancelFunc
	done   chan struct{}
	counts struct{ done, failed, dropped atomic.Int64 }
	mu     sync.Mutex
	closed bool // nothing more can be offered
}

// Counts are how often an action was done, has failed, and was left out because too many calls were
// waiting.
type Counts struct{ Done, Failed, Dropped int64 }

// Start starts a worker. failed receives what could not be done.
func Start(a Action, failed func(*Call, error)) *Worker {
	ctx, stop := context.WithCancel(context.Background())
	w := &Worker{action: a, failed: failed, queue: make(chan *Call, maxWaiting), stop: stop, done: make(chan struct{})}
	go w.work(ctx)
	return w
}

func (w *Worker) work(ctx context.Context) {
	defer close(w.done)
	for c := range w.queue {
		if err := w.action.Do(ctx, c); err != nil {
			w.counts.failed.Add(1)
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
	if !w.closed {
		select {
		case w.queue <- c:
			return true
		default:
		}
	}
	w.counts.dropped.Add(1)
	return false
}

// Counts returns the counts so far.
func (w *Worker) Counts() Counts {
	return Counts{w.counts.done.Load(), w.counts.failed.Load(), w.counts.dropped.Load()}
}

// endTime is how long an action may take to end when there is no time left: a command is killed, and
// what it has started may keep its output open for some time. A command that waits for a disk cannot
// even be killed.
const endTime = 3 * time.Second

// Close ends the worker. What is waiting is still done until ctx is done; what is not done by then
// fails. An action that does not end then is left.
func (w *Worker) Close(ctx context.Context) {
	w.mu.Lock()
	w.closed = true
	close(w.queue)
	w.mu.Unlock()
	select {
	case <-w.done:
	case <-ctx.Done():
		w.stop()
		select {
		case <-w.done:
		case <-time.After(endTime):
		}
	}
	w.stop()
}
