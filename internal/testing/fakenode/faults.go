//go:build linux

package fakenode

import (
	"slices"
	"time"

	"github.com/gclog/gclog/internal/fakeruntime"
)

// The faults of a Runtime. All take effect at once, and those with a duration end after it.

// SetRate changes the number of collections per second: 1000 is a flood.
func (r *Runtime) SetRate(perSecond float64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := monotonic()
	r.happen(now)
	r.plan.setRate(perSecond, max(now, r.plan.now))
}

// Drop makes every session lose the next events, like a runtime whose buffer is full.
func (r *Runtime) Drop(events int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.happen(monotonic())
	r.drop += events
}

// Stall stops the runtime's answers and writes for a time. Its collections continue.
func (r *Runtime) Stall(d time.Duration) { r.hold(&r.stalled, d) }

// HangStop delays the answer to every StopTracing that arrives within a time until the end of that
// time.
func (r *Runtime) HangStop(d time.Duration) { r.hold(&r.deaf, d) }

// hold sets a channel that is closed after d.
func (r *Runtime) hold(c *chan struct{}, d time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if *c != nil || r.ledger.Ended {
		return
	}
	*c = make(chan struct{})
	time.AfterFunc(d, func() { r.free(c) })
}

func (r *Runtime) free(c *chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if *c != nil {
		close(*c)
		*c = nil
	}
}

// Refuse makes the runtime answer every CollectTracing with an error for a time.
func (r *Runtime) Refuse(code uint32, d time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.refuse, r.refused = code, monotonic()+int64(d)
}

// Garble makes the runtime answer every request with bytes that violate the protocol for a time.
func (r *Runtime) Garble(d time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.garbled = monotonic() + int64(d)
}

// Break ends all streams in the middle of a block.
func (r *Runtime) Break() {
	r.each(func(t *stream) {
		t.half()
		r.breakOff(t)
	})
}

// End ends all streams between two blocks, without the tag that ends a stream.
func (r *Runtime) End() { r.each(r.breakOff) }

func (r *Runtime) breakOff(t *stream) {
	t.write(monotonic())
	r.enter(t)
	r.leaveLocked(t, EndBroken)
}

// Huge makes all streams announce a block of 4 GB, which never comes.
func (r *Runtime) Huge() { r.each((*stream).announce) }

// Trickle makes all streams send one byte per second for a time.
func (r *Runtime) Trickle(d time.Duration) {
	r.each(func(t *stream) { t.trickle = monotonic() + int64(d) })
}

// Metadata makes all streams send endless metadata for a time.
func (r *Runtime) Metadata(d time.Duration) {
	r.each(func(t *stream) { t.metadata = monotonic() + int64(d) })
}

// each calls f for all streams that receive events.
func (r *Runtime) each(f func(*stream)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.happen(monotonic())
	for _, t := range slices.Backward(r.streams) {
		if t.index >= 0 {
			f(t)
		}
	}
}

// meet returns the fault of a request.
func (r *Runtime) meet(command uint16) fakeruntime.Fault {
	const stopTracing = 0x0201
	r.mu.Lock()
	defer r.mu.Unlock()
	now := monotonic()
	f := fakeruntime.Fault{Garbage: now < r.garbled}
	if now < r.refused {
		f.Refuse = r.refuse
	}
	switch {
	case r.frozen != nil:
		f.Wait = r.frozen
	case r.stalled != nil:
		f.Wait = r.stalled
	case command == stopTracing:
		f.Wait = r.deaf
	}
	return f
}
