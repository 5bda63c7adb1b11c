package gclog_test

import (
	"testing"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/internal/shared"
	"github.com/gclog/gclog/parse/clr"
)

// A hooked Observer notes on each record what it was shown of its collection.
type hooked struct {
	recorder
	t *testing.T
}

type shown struct {
	starts, ends, sizes, globals, heaps, marks, restarts int
}

func (o *hooked) Event(at gclog.Stamp, e clr.Event, d *gclog.GCDetails) {
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
	if !ok { // it began before the session
		x = &shown{}
		d.UserData = x
	}
	switch e := e.(type) {
	case *clr.GCStart:
		x.starts++
	case *clr.GCEnd:
		x.ends++
		if d.Number != e.Count || !d.HasEnd || d.End != at.Time {
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

// TestEventHook: what the hook saw of a collection is what its record was made of, and its
// user data come back with the record.
func TestEventHook(t *testing.T) {
	shared.ForEach(t, func(t *testing.T, tr shared.Trace) {
		if lossy[tr.Name] {
			t.Skip("it lacks events")
		}
		o := &hooked{t: t}
		reduceInto(t, shared.Read(t, tr.Path), func(p *gclog.Process) gclog.Observer { return o })
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
			if x.starts != 1 || x.ends != 1 || x.sizes != 1 || x.globals > 1 || d.HasGlobal != (x.globals == 1) || x.heaps != heaps {
				t.Errorf("#%d was shown %+v, its record has global=%v and %d heaps", d.Number, *x, d.HasGlobal, heaps)
			}
			if !d.InsideBGCStart && !d.Provisional && d.Pause() > 0 && x.restarts == 0 && !followedInSuspension(o.gcs, d) {
				t.Errorf("#%d was shown no restart", d.Number)
			}
		}
	})
}

// followedInSuspension tells whether another collection came in the suspension of d: its
// restart is shown with that one.
func followedInSuspension(list []*gclog.GCDetails, d *gclog.GCDetails) bool {
	for _, o := range list {
		if o.Number == d.Number+1 && (o.Provisional || o.InsideBGCStart) {
			return true
		}
	}
	return false
}
