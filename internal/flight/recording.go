package flight

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/parse"
)

// A Trigger is what a recording is made for.
type Trigger struct {
	Time     time.Time // when it began: files have the wall-clock times of the log
	Ticks    int64     // the same in ticks of the stream's clock
	Duration time.Duration

	Before, After time.Duration // times to record before and after it
}

// TriggerFor returns the Trigger for something that a process did from began to ended, in nanoseconds
// since its Sync.
func TriggerFor(p *gclog.Process, began gclog.Stamp, ended int64, before, after time.Duration) Trigger {
	return Trigger{
		Time:     p.Time(began.Time),
		Ticks:    began.Ticks,
		Duration: time.Duration(ended - began.Time),
		Before:   before,
		After:    after,
	}
}

// A Recording is a part of the stream of a process, from some time before a trigger to some time after
// it.
type Recording struct {
	o         *Recorder
	trigger   Trigger
	from, to  int64 // ticks
	protected int64 // older blocks may be given up for newer ones, in ticks
	done      chan struct{}
	timer     *time.Timer
	deadline  time.Time
	most      time.Time // the last deadline that is possible
	arrived   time.Time // when the latest block had arrived at the last deadline

	// The fields below are set when done is closed.
	parts     []*Part
	missing   time.Duration
	exhausted bool
	why       error
}

// Record begins a recording. If one is in progress, it is prolonged and returned instead: it ends
// when the time after the last trigger is over, when no session with the process is left, when the
// memory is exhausted, or after 10 minutes.
func (o *Recorder) Record(t Trigger) (r *Recording, began bool) {
	o.m.mu.Lock()
	defer o.m.mu.Unlock()
	c, now := o.clock(), time.Now()
	from, to := t.Ticks-c.ticks(t.Before), t.Ticks+c.ticks(t.Duration+t.After)
	if r = o.now; r == nil {
		began = true
		r = &Recording{
			o: o, trigger: t, from: from, to: to, protected: max(from, t.Ticks-c.ticks(protected)),
			done: make(chan struct{}), most: now.Add(longest), arrived: now,
		}
		r.timer = time.AfterFunc(time.Duration(math.MaxInt64), r.due)
		o.now = r
	}
	r.to = max(r.to, min(to, r.trigger.Ticks+c.ticks(longest)))
	if d := now.Add(t.After + late); d.After(r.deadline) {
		r.wait(now, d)
	}
	o.ended() // perhaps already
	return r, began
}

// wait sets the deadline.
func (r *Recording) wait(now, deadline time.Time) {
	r.deadline = deadline
	r.timer.Reset(deadline.Sub(now))
}

// clock returns the clock of the process.
func (o *Recorder) clock() (c clock) {
	for _, r := range o.rings {
		if r.trace != nil {
			c = r.clock
		}
	}
	return c
}

// Done is closed when the recording is complete and can be written.
func (r *Recording) Done() <-chan struct{} { return r.done }

// passed completes the recording in progress if a block shows that nothing of its time is still to
// come: no row after one with the sorted flag is older than it, and none after a sequence point.
func (o *Recorder) passed(b *parse.Block) {
	if o.now == nil {
		return
	}
	if b.Kind == parse.BlockSequencePoint {
		if at, _, _ := b.Times(); at > o.now.to {
			o.complete()
		}
		return
	}
	for w := range b.Rows {
		if w.Sorted && w.Ticks > o.now.to {
			o.complete()
		}
		return // a block whose first row is not sorted continues what another one began
	}
}

// due completes the recording when its time is over by the clock of the host, unless the stream is
// late and still arriving.
func (r *Recording) due() {
	r.o.m.mu.Lock()
	defer r.o.m.mu.Unlock()
	if r.o.now != r {
		return
	}
	now := time.Now()
	if r.deadline.After(now) { // it was prolonged meanwhile
		return
	}
	latest := slices.MaxFunc(r.o.rings, func(a, b *Ring) int { return a.arrived.Compare(b.arrived) })
	if latest.arrived.After(r.arrived) && latest.newest <= r.to && now.Before(r.most) {
		r.arrived = latest.arrived
		r.wait(now, now.Add(late))
		return
	}
	r.o.complete()
}

// complete ends the recording in progress and pins its blocks.
func (o *Recorder) complete() {
	r := o.now
	if r == nil {
		return
	}
	o.now = nil
	r.timer.Stop()
	defer close(r.done)
	rings := o.covering(r.from, r.to)
	for i, x := range rings {
		if i == 0 {
			starts := max(x.clock.sync, x.given)
			r.missing, r.exhausted = x.clock.duration(max(0, starts-r.from)), x.given > max(x.clock.sync, r.from)
		}
		r.why = cmp.Or(r.why, x.why)
		if p := x.pin(r.from, r.to); p != nil {
			p.trigger = r.trigger
			r.parts = append(r.parts, p)
		}
	}
	if len(r.parts) == 0 && r.why == nil {
		r.why = errNothing
	}
}

// covering returns the rings whose sessions are needed to cover a time. When one session takes over
// from another, both have the events of some time.
func (o *Recorder) covering(from, to int64) []*Ring {
	list := slices.DeleteFunc(slices.Clone(o.rings), func(r *Ring) bool { return r.trace == nil && r.why == nil })
	for i, r := range slices.Backward(list) {
		if r.clock.sync <= from {
			list = list[i:]
			break
		}
	}
	for i, r := range list {
		if !r.closed || r.newest >= to {
			return list[:i+1]
		}
	}
	return list
}

// Missing returns how much of the time before the trigger is missing, and whether that is because the
// memory was exhausted: otherwise no session has recorded it. Done must be closed.
func (r *Recording) Missing() (d time.Duration, exhausted bool) { return r.missing, r.exhausted }

// Parts returns what can be written: a part for each session, mostly only one. The error says why
// there is none. Done must be closed.
func (r *Recording) Parts() ([]*Part, error) { return r.parts, r.why }

// Release returns the memory of the recording, which can then no longer be written. Done must be
// closed.
func (r *Recording) Release() {
	r.o.m.mu.Lock()
	defer r.o.m.mu.Unlock()
	for _, p := range r.parts {
		p.chunks(func(c *chunk) { r.o.m.give(r.o, c) })
	}
	r.parts = nil
}

// pin returns the blocks of a time; nil if there are none. They stay in memory until the recording is
// released.
func (r *Ring) pin(from, to int64) *Part {
	p := &Part{trace: r.trace, clock: r.clock, metadata: r.metadata, losses: slices.Clone(r.losses)}
	at, first := r.head, 0
	for n := range r.blocks {
		start := at
		h := at.next()
		at.skip(h.size, nil)
		if h.at < from {
			continue
		}
		if p.start.c == nil {
			p.start, first = start, n
		}
		if h.first <= to {
			p.end, p.blocks = at, n-first+1
		}
	}
	if p.blocks == 0 {
		return nil
	}
	p.chunks(func(c *chunk) { c.refs++ })
	return p
}
