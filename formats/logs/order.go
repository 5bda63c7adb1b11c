package logs

import (
	"math"
	"slices"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/gclog"
)

// Logs with one record per collection have them in the order in which they were
// complete: that of a background collection comes after those that ran inside it,
// though its first pause was before theirs. An order brings the pauses and phases
// back into the order of time, which is that of the events.
//
// It holds the last records of its process back, and puts the pauses and phases of a
// background collection between the calls that are held, each after what began before
// it. All other calls stay in the order of the log. A background collection with more
// than window others inside begins too late, where the held ones begin.
type order struct {
	pool  *pool
	calls []call // those from next on are held
	next  int
	held  int // records among them
}

// A pool is what the orders of a log have in common.
type pool struct {
	at      *reading
	observe func(*gclog.Process) Observer
	held    int // records, by all orders
	free    []*record

	// What is told is memory of the pool: what an interface is given would be allocated
	// each time.
	pause gclog.Pause
	phase gclog.Phase
}

// window is how many records an order holds, maxHeld all of them together: of real
// logs 16 MB, with the limits of the lists and texts in a record less than 160 MB.
const (
	window  = 256
	maxHeld = 4096
)

// A record is what one line says.
type record struct {
	of    *process
	kind  recordKind
	at    int64 // time, relative to that of the process
	gc    gclog.GCDetails
	pause gclog.Pause // without a collection
	gap   gclog.Gap
	stall gclog.Stall
	start formats.Start
	end   formats.End

	background gclog.BackgroundDetails // gc.Background points to it, if there is one
	summary    gclog.HeapSummary       // the same
}

type recordKind uint8

const (
	recordGC recordKind = iota
	recordPause
	recordGap
	recordStall
	recordStart
	recordEnd
)

// A call is one call of an Observer.
type call struct {
	r    *record
	at   int64 // when began what is told
	kind callKind
	part uint8 // of the pauses
}

type callKind uint8

const (
	callRecord callKind = iota // the record itself: the last call of each
	callPause
	callMarkBegin
	callMarkEnd
	callSweepBegin
	callSweepEnd
)

// record returns an empty record, for put or drop.
func (o *pool) record() *record {
	if n := len(o.free); n > 0 {
		r := o.free[n-1]
		o.free = o.free[:n-1]
		return r
	}
	r := &record{}
	r.reset()
	return r
}

// drop takes back a record that is not put.
func (o *pool) drop(r *record) {
	r.reset()
	o.free = append(o.free, r)
}

// reset makes r empty. It keeps the memory of the lists.
func (r *record) reset() {
	dynamic := r.gc.Dynamic[:0]
	r.gc.Reset()
	r.gc.Dynamic = dynamic
	r.of, r.kind, r.at = nil, 0, 0
	r.pause, r.gap, r.stall = gclog.Pause{}, gclog.Gap{}, gclog.Stall{}
	r.start, r.end = formats.Start{}, formats.End{}
	r.background, r.summary = gclog.BackgroundDetails{Waits: r.background.Waits[:0]}, gclog.HeapSummary{Reasons: r.summary.Reasons[:0]}
}

// put takes a record that is whole, in the order of the log.
func (o *order) put(r *record) {
	if r.of.asked && r.of.out == nil {
		o.pool.drop(r)
		return
	}
	at := r.at
	if r.kind == recordGC {
		if before, again := r.of.told.add(&r.gc, r.gc.End, o.pool.at.file); again {
			o.finish()
			if r.of.out != nil {
				o.pool.at.again(r.of.facts.ID, r.gc.Number, before)
			}
			o.pool.drop(r)
			return
		}
		at = o.putParts(r)
	}
	o.calls = append(o.calls, call{r: r, at: at, kind: callRecord})
	o.held++
	o.pool.held++
	for o.held > window || o.held > 0 && o.pool.held > maxHeld {
		o.tellNext()
	}
}

// putParts puts the pauses and phases of a collection, and returns the time that
// its record has in the order.
func (o *order) putParts(r *record) (at int64) {
	d := &r.gc
	if d.Kind == gclog.KindBackground {
		o.putBackground(r)
		return math.MinInt64 // nothing of the next background collection is before it
	}
	at = max(d.Start, d.End)
	for i := range d.Pauses {
		at = d.Pauses[i].Start
		o.calls = append(o.calls, call{r: r, at: at, kind: callPause, part: uint8(i)})
	}
	return at
}

// putBackground puts the parts of a background collection where they belong. Of
// what begins at the same time, the mark phase begins after the first pause and
// ends before the next one; the sweep phase begins after that.
func (o *order) putBackground(r *record) {
	pauses := func(initial bool) {
		for i := range r.gc.Pauses {
			if p := &r.gc.Pauses[i]; initial == (p.Kind == gclog.PauseInitial) {
				o.insert(call{r: r, at: p.Start, kind: callPause, part: uint8(i)})
			}
		}
	}
	phase := func(begin, end callKind, from, to int64) {
		if from != 0 && to != 0 {
			o.insert(call{r: r, at: from, kind: begin})
			o.insert(call{r: r, at: to, kind: end})
		}
	}
	pauses(true)
	if b := r.gc.Background; b != nil {
		phase(callMarkBegin, callMarkEnd, b.MarkStart, b.MarkEnd)
	}
	pauses(false)
	if b := r.gc.Background; b != nil {
		phase(callSweepBegin, callSweepEnd, b.SweepStart, b.SweepEnd)
	}
}

// insert puts a call after the last one that is not later.
func (o *order) insert(c call) {
	i := len(o.calls)
	for i > o.next && o.calls[i-1].at > c.at {
		i--
	}
	o.calls = slices.Insert(o.calls, i, c)
}

// finish tells all that is held.
func (o *order) finish() {
	for o.held > 0 {
		o.tellNext()
	}
}

func (o *order) tellNext() {
	c := o.calls[o.next]
	o.next++
	if out := c.r.of.observer(o.pool.observe); out != nil {
		o.pool.tell(out, c)
	}
	if c.kind == callRecord {
		o.held--
		o.pool.held--
		o.pool.drop(c.r)
	}
	if o.next >= 4*window { // most of what is held was moved before
		o.calls = o.calls[:copy(o.calls, o.calls[o.next:])]
		o.next = 0
	}
}

func (o *pool) tell(out Observer, c call) {
	r := c.r
	b := r.gc.Background
	r.gc.StartTicks = r.of.ticks(r.gc.Start)
	switch c.kind {
	case callPause:
		part := r.gc.Pauses[c.part]
		o.pause = gclog.Pause{PausePart: part, Ticks: r.of.ticks(part.Start), GC: &r.gc}
		out.Pause(&o.pause)
	case callMarkBegin:
		o.tellPhase(out, gclog.Phase{Kind: gclog.PhaseMark, Start: b.MarkStart, Time: b.MarkStart, GC: &r.gc})
	case callMarkEnd:
		o.tellPhase(out, gclog.Phase{Kind: gclog.PhaseMark, End: true, Start: b.MarkStart, Time: b.MarkEnd, GC: &r.gc})
	case callSweepBegin:
		o.tellPhase(out, gclog.Phase{Kind: gclog.PhaseSweep, Start: b.SweepStart, Time: b.SweepStart, GC: &r.gc})
	case callSweepEnd:
		o.tellPhase(out, gclog.Phase{Kind: gclog.PhaseSweep, End: true, Start: b.SweepStart, Time: b.SweepEnd, GC: &r.gc})
	case callRecord:
		r.tell(out)
	}
}

func (o *pool) tellPhase(out Observer, p gclog.Phase) {
	o.phase = p
	out.Phase(&o.phase)
}

func (r *record) tell(out Observer) {
	switch r.kind {
	case recordGC:
		r.gc.Index = r.of.records
		r.of.records++
		conclude(&r.of.facts, &r.gc)
		out.GC(&r.gc)
	case recordPause:
		out.Pause(&r.pause)
	case recordGap:
		out.Gap(&r.gap)
	case recordStall:
		out.Stall(&r.stall)
	case recordStart:
		out.Start(&r.start)
	case recordEnd:
		if r.end.Process != nil {
			r.of.facts.Learn(r.end.Process)
			r.end.Process = &r.of.facts
		}
		out.End(&r.end)
	}
}
