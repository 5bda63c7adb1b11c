package logs

import (
	"math"
	"slices"

	"github.com/gclog/gclog/gclog"
)

// An order restores the time order of pauses and phases, which is that of the events. Logs with one
// record per collection contain the records in the order in which they were completed: that of a
// background collection comes after those that ran inside it, though its first pause was before
// theirs.
//
// An order holds back the last records of its process, and inserts the pauses and phases of a
// background collection among the held calls, each after what started before it. All other calls
// stay in the order of the log. A background collection with more than window others inside starts
// too late, at the first held call.
type order struct {
	pool  *pool
	calls []call // calls from next on are held
	next  int
	held  int // number of records held
}

// A pool is what the orders of a log share.
type pool struct {
	at      *reading
	observe func(*gclog.Process) gclog.Observer
	held    int       // number of records held by all orders
	free    []*record // memory for reuse
}

// window is the maximum number of records that an order holds, maxHeld that of all orders together:
// 16 MB for real logs, and less than 450 MB with the limits of the lists and texts in a record.
const (
	window  = 256
	maxHeld = 4096
)

// A record is the contents of one line.
type record struct {
	of *process
	at int64 // time relative to the process's sync point
	gclog.Slot

	background gclog.BackgroundDetails // GC.Background points to it, if there is one
	summary    gclog.HeapSummary       // likewise, for GC.Summary
}

// A call is one call of an Observer.
type call struct {
	r    *record
	at   int64 // when the pause, phase or record started
	kind callKind
	part uint8 // index into the pauses
}

type callKind uint8

const (
	callRecord callKind = iota // the record itself: the last call for each record
	callPause
	callMarkBegin
	callMarkEnd
	callSweepBegin
	callSweepEnd
)

// record returns an empty record, to be passed to put or drop.
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

// drop takes back a record that is not passed to put.
func (o *pool) drop(r *record) {
	r.reset()
	o.free = append(o.free, r)
}

// reset makes r empty, keeping the memory of its lists.
func (r *record) reset() {
	dynamic := r.GC.Dynamic[:0]
	r.Reset()
	r.GC.Dynamic = dynamic
	r.of, r.at = nil, 0
	r.background = gclog.BackgroundDetails{Waits: r.background.Waits[:0]}
	r.summary = gclog.HeapSummary{Reasons: r.summary.Reasons[:0], MarkTimes: r.summary.MarkTimes[:0]}
}

// put accepts a complete record, in the order of the log.
func (o *order) put(r *record) {
	if r.of.asked && r.of.out == nil {
		o.pool.drop(r)
		return
	}
	at := r.at
	if r.Record == &r.GC {
		if before, again := r.of.emitted.add(&r.GC, r.GC.End, o.pool.at.file); again {
			o.finish()
			if r.of.out != nil {
				o.pool.at.again(r.of.facts.ID, r.GC.Number, before)
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
		o.emitNext()
	}
}

// putParts adds the pauses and phases of a collection, and returns the time of its record in the
// order.
func (o *order) putParts(r *record) (at int64) {
	d := &r.GC
	if d.Kind == gclog.KindBackground {
		o.putBackground(r)
		return math.MinInt64 // no part of the next background collection is before it
	}
	at = max(d.Start, d.End)
	for i := range d.Pauses {
		at = d.Pauses[i].Start
		o.calls = append(o.calls, call{r: r, at: at, kind: callPause, part: uint8(i)})
	}
	return at
}

// putBackground inserts the parts of a background collection where they belong. Among parts that
// start at the same time, the mark phase starts after the first pause and ends before the next one;
// the sweep phase starts after that.
func (o *order) putBackground(r *record) {
	pauses := func(initial bool) {
		for i := range r.GC.Pauses {
			if p := &r.GC.Pauses[i]; initial == (p.Kind == gclog.PauseInitial) {
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
	if b := r.GC.Background; b != nil {
		phase(callMarkBegin, callMarkEnd, b.MarkStart, b.MarkEnd)
	}
	pauses(false)
	if b := r.GC.Background; b != nil {
		phase(callSweepBegin, callSweepEnd, b.SweepStart, b.SweepEnd)
	}
}

// insert inserts a call after the last one that is not later.
func (o *order) insert(c call) {
	i := len(o.calls)
	for i > o.next && o.calls[i-1].at > c.at {
		i--
	}
	o.calls = slices.Insert(o.calls, i, c)
}

// finish emits all held calls.
func (o *order) finish() {
	for o.held > 0 {
		o.emitNext()
	}
}

func (o *order) emitNext() {
	c := o.calls[o.next]
	o.next++
	if out := c.r.of.observer(o.pool.observe); out != nil {
		c.r.emitPart(out, c)
	}
	if c.kind == callRecord {
		o.held--
		o.pool.held--
		o.pool.drop(c.r)
	}
	if o.next >= 4*window { // most of the held calls were moved before
		o.calls = o.calls[:copy(o.calls, o.calls[o.next:])]
		o.next = 0
	}
}

// emitPart makes a call, about the record itself or a part of it, which is in the Slot's memory.
func (r *record) emitPart(out gclog.Observer, c call) {
	b := r.GC.Background
	r.GC.StartTicks = r.of.ticks(r.GC.Start)
	switch c.kind {
	case callPause:
		part := r.GC.Pauses[c.part]
		r.Pause = gclog.Pause{PausePart: part, Ticks: r.of.ticks(part.Start), GC: &r.GC}
		out(&r.Pause)
	case callMarkBegin:
		r.emitPhase(out, gclog.Phase{Kind: gclog.PhaseMark, Start: b.MarkStart, Time: b.MarkStart})
	case callMarkEnd:
		r.emitPhase(out, gclog.Phase{Kind: gclog.PhaseMark, End: true, Start: b.MarkStart, Time: b.MarkEnd})
	case callSweepBegin:
		r.emitPhase(out, gclog.Phase{Kind: gclog.PhaseSweep, Start: b.SweepStart, Time: b.SweepStart})
	case callSweepEnd:
		r.emitPhase(out, gclog.Phase{Kind: gclog.PhaseSweep, End: true, Start: b.SweepStart, Time: b.SweepEnd})
	case callRecord:
		r.emit(out)
	}
}

func (r *record) emitPhase(out gclog.Observer, p gclog.Phase) {
	r.Phase, r.Phase.GC = p, &r.GC
	out(&r.Phase)
}

func (r *record) emit(out gclog.Observer) {
	switch r.Record {
	case &r.GC:
		r.GC.Index = r.of.records
		r.of.records++
		conclude(&r.of.facts, &r.GC)
	case &r.End:
		if r.End.Process != nil {
			r.of.facts.Merge(r.End.Process)
			r.End.Process = &r.of.facts
		}
	}
	out(r.Record)
}
