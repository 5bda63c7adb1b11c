package history

import (
	"errors"
	"strings"
	"testing"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/gclog/analysis"
	"github.com/gclog/gclog/parse/clr"
)

// A listener counts the allocation ticks and the collections that it is passed.
type listener struct {
	ticks, gcs int
}

// Observe takes a record.
func (l *listener) Observe(r gclog.Record) {
	if _, ok := r.(*gclog.GCDetails); ok {
		l.gcs++
	}
}

func (l *listener) event(_ gclog.Stamp, e clr.Event, _ *gclog.GCDetails) {
	if _, ok := e.(*clr.GCAllocationTick); ok {
		l.ticks++
	}
}

// TestEvents: an observer of events receives the events of a recording.
func TestEvents(t *testing.T) {
	in, err := Open([]string{trace("net10-wks-verbose")}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	l := &listener{}
	_, err = in.Read(func(*gclog.Process, analysis.Window) (gclog.Observer, gclog.EventObserver) { return l.Observe, l.event })
	if err != nil || l.ticks == 0 || l.gcs == 0 || in.GCs() != int64(l.gcs) {
		t.Errorf("%d allocation ticks, %d collections, %d counted: %v", l.ticks, l.gcs, in.GCs(), err)
	}
}

// TestMixedInstances: two processes with the same pid at the same time are not two instances of
// one.
func TestMixedInstances(t *testing.T) {
	r := &reader{Source: &Source{Files: []*File{{}}}, observe: func(*gclog.Process, analysis.Window) (gclog.Observer, gclog.EventObserver) {
		return (&listener{}).Observe, nil
	}}
	a, b := &instance{r: r, process: &gclog.Process{ID: 1}}, &instance{r: r, process: &gclog.Process{ID: 1}}
	a.observe(&gclog.Gap{Time: 1})
	b.observe(&gclog.Gap{Time: 2})
	if r.failed != nil || r.stopped {
		t.Fatalf("one after the other: %v", r.failed)
	}
	a.observe(&gclog.Gap{Time: 3})
	_, call := errors.AsType[*CallError](r.failed)
	if !call || !r.stopped || !strings.Contains(r.failed.Error(), "several processes with the pid 1 at the same time") {
		t.Errorf("both at the same time: %v", r.failed)
	}
}
