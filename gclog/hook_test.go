package gclog_test

import (
	"slices"
	"testing"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/internal/testing/recordings"
	"github.com/gclog/gclog/parse/clr"
)

// A hooked Observer records, in each record, the events it received for that collection.
type hooked struct {
	recorder
	t *testing.T
}

type shown struct {
	starts, ends, sizes, globals, heaps, marks, restarts int
}

func (o *hooked) event(at gclog.Stamp, e clr.Event, d *gclog.GCDetails) {
	if start, ok := e.(*clr.GCStart); ok {
		if d == nil || d.Number != start.Count || d.UserData != nil {
			o.t.Errorf("GCStart %d is shown with %+v", start.Count, d)
			return
		}
		d.UserData = &shown{}
	}
	if d == nil {
		return
	}
	x, ok := d.UserData.(*shown)
	if !ok { // it started before the session
		x = &shown{}
		d.UserData = x
	}
	switch e := e.(type) {
	case *clr.GCStart:
		x.starts++
	case *clr.GCEnd:
		x.ends++
		if d.Number != e.Count || !d.Known.Has(gclog.GroupEnd) || d.End != at.Time {
			o.t.Errorf("GCEnd %d is shown with #%d, which ended at %d, not %d", e.Count, d.Number, d.End, at.Time)
		}
	case *clr.GCHeapStats:
		x.sizes++
	case *clr.GCGlobalHeapHistory:
		x.globals++
	case *clr.GCPerHeapHistory:
		x.heaps++
	case *clr.GCMarkWithType:
		x.marks++
	case *clr.GCRestartEEEnd:
		x.restarts++
	}
}

// TestEventHook: the events that the hook saw for a collection are those its record was made of,
// and its user data comes back with the record.
func TestEventHook(t *testing.T) {
	recordings.ForEach(t, func(t *testing.T, tr recordings.Trace) {
		if lossy[tr.Name] {
			t.Skip("it lacks events")
		}
		o := &hooked{t: t}
		reduceInto(t, recordings.Read(t, tr.Path), func(p *gclog.Process) gclog.Observer { return o.Observe }, o.event)
		for _, d := range o.gcs {
			x, ok := d.UserData.(*shown)
			if !ok {
				t.Errorf("#%d has lost its user data", d.Number)
				continue
			}
			if !d.Complete {
				continue
			}
			heaps := 0
			for i := range d.Heaps {
				if d.Heaps[i].HasHistory {
					heaps++
				}
			}
			if x.starts != 1 || x.ends != 1 || x.sizes != 1 || x.globals > 1 || d.Known.Has(gclog.GroupGlobal) != (x.globals == 1) || x.heaps != heaps {
				t.Errorf("#%d was shown %+v, its record has global=%v and %d heaps", d.Number, *x, d.Known.Has(gclog.GroupGlobal), heaps)
			}
			if !d.InsideBGCStart && !d.Provisional && d.Pause() > 0 && x.restarts == 0 && !followedInSuspension(o.gcs, d) {
				t.Errorf("#%d was shown no restart", d.Number)
			}
		}
	})
}

// TestEventsOf checks which collection each event is passed on with, by number; 0 is none.
func TestEventsOf(t *testing.T) {
	o := &ofStory{story: newStory()}
	o.Reducer = gclog.NewReducer(o.Observe)
	o.Events = o.shown
	s := o.story.at(0)
	want := func(what string, numbers ...uint32) {
		t.Helper()
		if !slices.Equal(o.numbers, numbers) {
			t.Errorf("%s: shown with %v, want %v", what, o.numbers, numbers)
		}
		o.numbers = nil
	}
	s.suspend(u, clr.SuspendForGC).triggered(u).event(u, &clr.GCAllocationTick{})
	want("suspension for a collection", 0, 0, 0, 0)
	s.start(u, 5, 2, clr.TypeBackground, 0).event(u, &clr.GCMarkWithType{})
	want("first suspension of a background collection", 5, 5)
	s.start(u, 6, 0, clr.TypeBlocking, 0).event(u, &clr.GCMarkWithType{}).event(u, &clr.BGCPhaseEvent{}).event(u, &clr.GCCreateSegment{})
	want("gen0 in it", 6, 6, 5, 0)
	s.end(u, 6, 0).event(u, &clr.GCHeapStats{}).event(u, &clr.GCGlobalHeapHistory{Heaps: 1}).event(u, perHeap(0)).restart(u)
	want("end of the gen0", 6, 6, 6, 6, 6, 6)
	s.event(u, &clr.GCHeapStats{}).event(u, perHeap(0)).event(u, &clr.GCFreeSegment{}).event(u, &clr.GCFinalizersBegin{}).event(u, &clr.GCFinalizersEnd{})
	want("behind it", 0, 0, 0, 0, 0)
	s.event(b, &clr.BGCRevisit{}).event(b, &clr.BGCDrainMark{}).event(b, &clr.BGCOverflow{}).event(f, &clr.BGCAllocWait{Reason: 10}).event(b, &clr.GCMarkWithType{})
	want("while it runs", 5, 5, 5, 5, 5)
	s.suspend(f, clr.SuspendForGC).restart(f)
	want("another suspension, without a collection", 0, 0, 0, 0)
	s.suspend(f, clr.SuspendForDebugger).restart(f).event(f, &clr.GCRestartEEEnd{})
	want("suspension for something else, and what ends none", 0, 0, 0, 0, 0)
	s.suspend(b, clr.SuspendForGCPrep).restart(b)
	want("its second suspension", 0, 5, 5, 5)
	s.end(b, 5, 2).event(b, &clr.GCHeapStats{}).event(b, &clr.BGCPhaseEvent{}).event(b, &clr.GCMarkWithType{})
	want("its end", 5, 5, 0, 0)
	s.suspend(b, clr.SuspendForGCPrep).restart(b)
	want("a suspension of that kind without a background collection", 0, 0, 0, 0)
}

// ofStory records the numbers of the collections that events are passed on with.
type ofStory struct {
	*story
	numbers []uint32
}

func (s *ofStory) shown(_ gclog.Stamp, _ clr.Event, d *gclog.GCDetails) {
	n := uint32(0)
	if d != nil {
		n = d.Number
	}
	s.numbers = append(s.numbers, n)
}

// followedInSuspension reports whether another collection came in the suspension of d: the restart
// event is then passed on with that one.
func followedInSuspension(list []*gclog.GCDetails, d *gclog.GCDetails) bool {
	for _, o := range list {
		if o.Number == d.Number+1 && (o.Provisional || o.InsideBGCStart) {
			return true
		}
	}
	return false
}
