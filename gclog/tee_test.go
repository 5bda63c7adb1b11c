package gclog_test

import (
	"slices"
	"testing"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/parse/clr"
)

// A noted Observer records each call as a letter.
type noted struct {
	name  string
	calls *[]string
}

func (n noted) note(what string)      { *n.calls = append(*n.calls, n.name+what) }
func (n noted) Pause(*gclog.Pause)    { n.note("P") }
func (n noted) Phase(*gclog.Phase)    { n.note("p") }
func (n noted) GC(d *gclog.GCDetails) { n.note("G") }
func (n noted) Gap(*gclog.Gap)        { n.note("g") }

type notedSuspensions struct{ noted }

func (n notedSuspensions) Suspension(*gclog.Suspension) { n.note("S") }

type notedEvents struct{ noted }

func (n notedEvents) Event(gclog.Stamp, clr.Event, *gclog.GCDetails) { n.note("E") }

func TestTee(t *testing.T) {
	var calls []string
	plain := func(name string) gclog.Observer { return noted{name, &calls} }
	suspensions := func(name string) gclog.Observer { return notedSuspensions{noted{name, &calls}} }
	events := func(name string) gclog.Observer { return notedEvents{noted{name, &calls}} }
	for _, tt := range []struct {
		list                []gclog.Observer
		suspensions, events bool
		want                []string
	}{
		{nil, false, false, nil},
		{[]gclog.Observer{plain("a"), plain("b")}, false, false, []string{"aP", "bP", "aG", "bG"}},
		{[]gclog.Observer{plain("a"), suspensions("b")}, true, false, []string{"aP", "bP", "aG", "bG", "bS"}},
		{[]gclog.Observer{events("a"), plain("b")}, false, true, []string{"aE", "aE", "aE", "aP", "bP", "aG", "bG"}},
		{[]gclog.Observer{events("a"), suspensions("b")}, true, true, []string{"aE", "aE", "aE", "aP", "bP", "aG", "bG", "bS"}},
	} {
		calls = nil
		out := gclog.Tee(tt.list...)
		_, s := out.(gclog.SuspensionObserver)
		_, e := out.(gclog.EventObserver)
		if s != tt.suspensions || e != tt.events {
			t.Errorf("%v: wants suspensions %v and events %v", tt.list, s, e)
		}
		r := gclog.NewReducer(out)
		r.Event(gclog.Stamp{Time: 1, Thread: 1}, &clr.GCSuspendEEBegin{Reason: clr.SuspendForGC})
		r.Event(gclog.Stamp{Time: 2, Thread: 1}, &clr.GCStart{Count: 1})
		r.Event(gclog.Stamp{Time: 3, Thread: 1}, &clr.GCRestartEEEnd{})
		if !slices.Equal(calls, tt.want) {
			t.Errorf("%d observers were told %v, want %v", len(tt.list), calls, tt.want)
		}
	}
	out := gclog.Tee(plain("a"), plain("b"))
	calls = nil
	out.Phase(&gclog.Phase{})
	out.Gap(&gclog.Gap{})
	if want := []string{"ap", "bp", "ag", "bg"}; !slices.Equal(calls, want) {
		t.Errorf("emitted %v, want %v", calls, want)
	}
}
