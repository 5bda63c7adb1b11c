package gclog

import (
	"slices"

	"github.com/gclog/gclog/parse/clr"
)

func (r *Reducer) marked(at Stamp, e *clr.GCMarkWithType) {
	c := r.current()
	if c == nil || e.Type >= clr.MarkTypes {
		return
	}
	kind, promoted := e.Type, e.Promoted
	if kind == clr.MarkOverflow {
		// The runtime sends it at the end of a scan of dependent handles in which anything was
		// promoted, overflow or not. Their own event follows, and contains these bytes.
		kind, promoted = clr.MarkDependentHandles, 0
	}
	if h := c.heap(e.Heap); h != nil {
		h.MarkTimes[kind] += max(0, at.Time-max(c.Start, h.MarkedUntil))
		h.MarkPromoted[kind] += promoted
		h.Marked |= 1 << kind
		h.MarkedUntil = max(h.MarkedUntil, at.Time)
	}
}

func (r *Reducer) lohCompact(e *clr.GCLOHCompact) {
	c := r.current()
	if c == nil {
		return
	}
	for i := 0; i < e.Count && len(c.LOHCompactions) < maxHeaps; i++ {
		c.LOHCompactions = append(c.LOHCompactions, e.At(i))
	}
}

func (r *Reducer) fitBuckets(e *clr.GCFitBucketInfo) {
	c := r.current()
	if c == nil {
		return
	}
	list := &c.FreeItems
	if e.Kind != 0 {
		list = &c.Plugs
	}
	for i := 0; i < e.Count && len(*list) < maxBuckets; i++ {
		*list = append(*list, e.At(i))
	}
}

// committed records committed memory. The first such event after a GCStart, on its thread, is the
// memory before the collection; another one, before the end of a blocking collection, is the memory
// after it.
func (r *Reducer) committed(at Stamp, e *clr.CommittedUsage) {
	for _, c := range slices.Backward(r.open) {
		later := c.Known.Has(GroupCommittedBefore) || c.Known.Has(GroupEnd)
		if c.thread == at.Thread && !later && c.Flaws&FlawNoStart == 0 {
			c.CommittedBefore = e.Total()
			c.Known |= GroupCommittedBefore
			return
		}
	}
	if c := r.current(); c != nil && c.blockingNow() {
		c.CommittedAfter = e.Total()
		c.Known |= GroupCommittedAfter
	}
}

// datas records the DATAS events, which contain the number of their collection.
func (r *Reducer) datas(e clr.Event) {
	of := func(number uint64) *collection {
		for _, c := range r.open {
			if c.Known.Has(GroupNumber) && uint64(c.Number) == number {
				return c
			}
		}
		return r.current()
	}
	switch e := e.(type) {
	case *clr.SizeAdaptationSample:
		if c := of(e.GCIndex); c != nil {
			c.Datas.Sample = *e
			c.Known |= GroupDatasSample
		}
	case *clr.SizeAdaptationTuning:
		if c := of(e.GCIndex); c != nil {
			c.Datas.Tuning = *e
			c.Known |= GroupDatasTuning
		}
	case *clr.SizeAdaptationFullGCTuning:
		if c := of(e.GCIndex); c != nil {
			c.Datas.FullGCTuning = *e
			c.Known |= GroupDatasFullGCTuning
		}
	case *clr.HeapCountTuning:
		if c := of(e.GCIndex); c != nil {
			c.Datas.Tuning8 = *e
			c.Known |= GroupDatasTuning8
		}
	case *clr.HeapCountSample:
		if c := of(e.GCIndex); c != nil {
			c.Datas.Sample8 = *e
			c.Known |= GroupDatasSample8
		}
	}
}

func (r *Reducer) dynamic(at Stamp, e *clr.GCDynamicEvent) {
	c := r.current()
	if c == nil || len(c.Dynamic) >= maxDynamic {
		return
	}
	c.Dynamic = append(c.Dynamic, DynamicEvent{
		Time: at.Time,
		Name: e.Name[:min(len(e.Name), maxData)].String(),
		Data: append([]byte(nil), e.Data[:min(len(e.Data), maxData)]...),
	})
}

func (r *Reducer) bgcPhase(at Stamp, e *clr.BGCPhaseEvent) {
	c := r.openBackground()
	if c == nil {
		if e.Phase == clr.BGCBegin || r.justEnded(at) {
			return
		}
		c = r.inFlight(at) // the phases of a collection that started before the session
	}
	p := &c.background.Phase[e.Phase]
	switch e.Phase {
	case clr.BGCBegin, clr.BGCFinalPauseBegin, clr.BGCSweepBegin:
		if *p == 0 {
			*p = at.Time // the first heap to start
		}
	default:
		*p = at.Time // the last heap so far
	}
}

// justEnded reports whether a background collection ended on this thread a moment ago: with server
// GC the last phase events come after GCEnd.
func (r *Reducer) justEnded(at Stamp) bool {
	return r.sizes.known && at.Time-r.sizes.at < patience
}

// The wait reasons that mean waiting for a background collection.
const (
	waitFirst = 9
	waitLast  = 11
)

func (r *Reducer) bgcAllocWait(at Stamp, e *clr.BGCAllocWait) {
	if e.Reason < waitFirst || e.Reason > waitLast {
		return
	}
	if e.End {
		r.endAllocWait(at)
		return
	}
	c := r.openBackground()
	if c == nil {
		return
	}
	b := &c.background
	b.WaitCount++
	if len(b.Waits) < maxWaits {
		b.Waits = append(b.Waits, AllocWait{Thread: at.Thread, Start: at.Time, Duration: waits, Reason: e.Reason})
	}
}

// endAllocWait ends a thread's wait for a background collection, which may have ended already.
func (r *Reducer) endAllocWait(at Stamp) {
	for _, c := range r.open {
		b := &c.background
		open := func(w AllocWait) bool { return w.Thread == at.Thread && w.Duration == waits }
		if i := slices.IndexFunc(b.Waits, open); i >= 0 {
			b.waited(&b.Waits[i], at.Time)
			r.completeBackground(c)
			return
		}
	}
}

// waits is the duration of a wait that has not ended.
const waits = -1

// waiting reports whether any thread is waiting.
func (b *BackgroundDetails) waiting() bool {
	return slices.ContainsFunc(b.Waits, func(w AllocWait) bool { return w.Duration == waits })
}

// waited ends the wait w.
func (b *BackgroundDetails) waited(w *AllocWait, end int64) {
	w.Duration = max(0, end-w.Start)
	b.WaitTime += w.Duration
	b.WaitMax = max(b.WaitMax, w.Duration)
}

// endWaits ends the waits of threads that have not reported that they resumed: they waited at least
// until the end of the collection.
func (c *collection) endWaits() {
	if !c.Known.Has(GroupEnd) {
		return
	}
	for i := range c.background.Waits {
		if w := &c.background.Waits[i]; w.Duration == waits {
			c.background.waited(w, c.End)
		}
	}
}
