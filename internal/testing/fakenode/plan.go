//go:build linux

package fakenode

import (
	"math/rand/v2"
	"time"

	"github.com/gclog/gclog/parse/clr"
)

// An event is an event of the runtime. The plan decides what its payload contains besides the
// number.
type event struct {
	at     int64
	thread uint64
	id     uint32 // of its kind
	number uint32 // of its collection
	gen    uint8
	kind   Kind
	heap   uint8
	reason clr.SuspendReason
	first  bool // of its collection
	last   bool
}

// Threads of a runtime, named by their tasks.
const (
	threadUser  = 100 // and 101
	threadGC    = 110 // server GC: suspends, restarts
	threadHeap  = 111 // server GC: collects
	threadGCBkg = 120 // runs background collections
)

// A plan makes up what the collector does, event by event in time order.
type plan struct {
	random     *rand.Rand
	rate       float64 // collections per second; 0: none
	exact      bool    // collections come at equal intervals
	background float64 // share of the turns in which a background collection begins
	heaps      int     // more than one: server GC
	number     uint32  // of the last collection planned
	due        int64   // when the next collection begins
	now        int64   // of the last event planned
	events     []event
	next       int // index of the next event to return
}

// until returns the events up to now that were not returned yet. They are valid until the next
// call.
func (p *plan) until(now int64) []event {
	p.events = p.events[:copy(p.events, p.events[p.next:])]
	p.next = 0
	for p.rate > 0 && p.due <= now {
		p.turn()
	}
	for p.next < len(p.events) && p.events[p.next].at <= now {
		p.next++
	}
	return p.events[:p.next]
}

// shift moves the planned events into the future, because the process was stopped.
func (p *plan) shift(by int64) {
	p.due += by
	p.now += by
	for i := p.next; i < len(p.events); i++ {
		p.events[i].at += by
	}
}

// setRate changes the rate from now on.
func (p *plan) setRate(rate float64, now int64) {
	p.rate, p.due = rate, now
	if rate > 0 {
		p.due += int64(p.random.Float64() * float64(p.interval()))
	}
}

func (p *plan) interval() time.Duration { return time.Duration(float64(time.Second) / p.rate) }

// turn plans a blocking collection, or a background one and the foreground ones during it.
func (p *plan) turn() {
	p.now = max(p.now+1000, p.due)
	gap := p.interval()
	inside := 0
	if p.random.Float64() < p.background {
		inside = p.random.IntN(4)
		p.concurrent(inside, gap)
	} else {
		p.stopTheWorld(Blocking, gap)
	}
	for range inside + 1 {
		if p.exact {
			p.due += int64(gap)
		} else {
			p.due += int64(p.random.ExpFloat64() * float64(gap))
		}
	}
}

// pass advances the time by a random duration of at most most.
func (p *plan) pass(most time.Duration) { p.now += 1 + p.random.Int64N(max(int64(most), 1)) }

func (p *plan) add(thread uint64, e event) {
	e.thread, e.at = thread, p.now
	p.events = append(p.events, e)
	p.pass(5 * time.Microsecond)
}

// suspend begins a suspension and returns its thread and the thread that does the work.
func (p *plan) suspend(g event) (gc, work uint64) {
	user := threadUser + p.random.Uint64N(2)
	gc, work = user, user
	g.first, g.reason = true, clr.SuspendForGC
	if p.heaps > 1 {
		gc, work = threadGC, threadHeap
		g.id = clr.IDGCTriggered
		p.add(user, g)
		g.first = false
	}
	g.id = clr.IDGCSuspendEEBegin
	p.add(gc, g)
	g.first, g.id = false, clr.IDGCSuspendEEEnd
	p.add(gc, g)
	if p.heaps <= 1 {
		g.id = clr.IDGCTriggered
		p.add(gc, g)
	}
	g.id = clr.IDGCStart
	p.add(work, g)
	return gc, work
}

// restart ends a suspension; last: it is the last event of the collection.
func (p *plan) restart(thread uint64, g event, last bool) {
	g.id = clr.IDGCRestartEEBegin
	p.add(thread, g)
	g.id, g.last = clr.IDGCRestartEEEnd, last
	p.add(thread, g)
}

func (p *plan) histories(thread uint64, g event, last bool) {
	g.id = clr.IDGCGlobalHeapHistory
	p.add(thread, g)
	g.id = clr.IDGCPerHeapHistory
	for h := range p.heaps {
		g.heap, g.last = uint8(h), last && h == p.heaps-1
		p.add(thread, g)
	}
}

func (p *plan) finish(thread uint64, g event, last bool) {
	g.id = clr.IDGCEnd
	p.add(thread, g)
	g.id, g.last = clr.IDGCHeapStats, last
	p.add(thread, g)
}

// begin returns the event from which those of the next collection are derived.
func (p *plan) begin(kind Kind) event {
	p.number++
	g := event{number: p.number, kind: kind, gen: uint8(p.random.IntN(2))}
	switch {
	case kind == Background:
		g.gen = 2
	case kind == Blocking && p.random.IntN(20) == 0:
		g.gen = 2
	}
	return g
}

// stopTheWorld plans a collection during which the program is paused.
func (p *plan) stopTheWorld(kind Kind, gap time.Duration) {
	g := p.begin(kind)
	gc, work := p.suspend(g)
	p.pass(min(gap/5, 20*time.Millisecond))
	p.histories(work, g, false)
	p.finish(gc, g, false)
	p.restart(gc, g, true)
}

// concurrent plans a background collection with inside foreground ones during it.
func (p *plan) concurrent(inside int, gap time.Duration) {
	g := p.begin(Background)
	gc, _ := p.suspend(g)
	p.restart(gc, g, false)
	final := p.random.IntN(inside + 1) // that many come before its second pause
	for i := range inside + 1 {
		p.pass(gap / 2)
		if i == final {
			prep := g
			prep.id, prep.reason = clr.IDGCSuspendEEBegin, clr.SuspendForGCPrep
			p.add(threadGCBkg, prep)
			prep.id = clr.IDGCSuspendEEEnd
			p.add(threadGCBkg, prep)
			p.pass(gap / 10)
			p.restart(threadGCBkg, g, false)
			p.pass(gap / 10)
		}
		if i < inside {
			p.stopTheWorld(Foreground, gap)
		}
	}
	if p.heaps > 1 { // with server GC these come after the sizes
		p.finish(threadGCBkg, g, false)
		p.histories(threadGCBkg, g, true)
		return
	}
	p.histories(threadGCBkg, g, false)
	p.finish(threadGCBkg, g, true)
}
