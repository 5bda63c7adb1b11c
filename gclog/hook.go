package gclog

import "github.com/gclog/gclog/parse/clr"

// observed handles an event that the EventObserver receives.
func (r *Reducer) observed(at Stamp, e clr.Event) {
	switch e.(type) {
	case *clr.GCStart:
		r.reduce(at, e)
		r.Events(at, e, &r.open[len(r.open)-1].GCDetails)
	case *clr.GCEnd:
		r.reduce(at, e)
		r.Events(at, e, r.ended.details(at.Thread))
	case *clr.GCGlobalHeapHistory:
		r.reduce(at, e)
		r.Events(at, e, r.histories.details(at.Thread))
	default:
		r.Events(at, e, r.subject(at, e))
		r.reduce(at, e)
	}
}

// subject returns the collection that e belongs to, for an event that the Reducer has not handled
// yet.
func (r *Reducer) subject(at Stamp, e clr.Event) *GCDetails {
	switch e.(type) {
	case *clr.GCHeapStats:
		return r.ended.details(at.Thread)
	case *clr.GCPerHeapHistory:
		return r.histories.details(at.Thread)
	case *clr.GCSuspendEEEnd, *clr.GCRestartEEBegin, *clr.GCRestartEEEnd:
		s := r.suspensionOf(at.Thread)
		switch {
		case s == nil || !s.forGC():
			return nil
		case len(s.gcs) > 0:
			return &s.gcs[len(s.gcs)-1].GCDetails
		case s.reason != clr.SuspendForGCPrep:
			return nil
		}
		return r.background()
	case *clr.GCSuspendEEBegin, *clr.GCTriggered, *clr.GCAllocationTick, *clr.GCCreateSegment, *clr.GCFreeSegment,
		*clr.GCFinalizersBegin, *clr.GCFinalizersEnd:
		return nil // belongs to the program, or to a collection to come
	case *clr.BGCPhaseEvent, *clr.BGCRevisit, *clr.BGCDrainMark, *clr.BGCOverflow, *clr.BGCAllocWait:
		return r.background()
	}
	return r.Current()
}

func (r *Reducer) background() *GCDetails {
	if c := r.openBackground(); c != nil {
		return &c.GCDetails
	}
	return nil
}

// details returns the record of the collection that a thread last reported about.
func (t *threadTable) details(thread uint64) *GCDetails {
	if c := t.get(thread); c != nil {
		return &c.GCDetails
	}
	return nil
}
