package gclog_test

import (
	"reflect"
	"slices"
	"testing"

	"github.com/gclog/gclog/gclog"
)

// kinds returns a record of each kind.
func kinds() []gclog.Record {
	d := func() *gclog.GCDetails {
		return &gclog.GCDetails{
			Number: 5, Start: 50, StartTicks: 500, Pauses: []gclog.PausePart{{Start: 49, Duration: 2}},
			Background: &gclog.BackgroundDetails{MarkStart: 51, Waits: []gclog.AllocWait{{Thread: 7}}},
		}
	}
	return []gclog.Record{
		&gclog.Start{At: 1, Ticks: 10, Providers: "a:1"},
		&gclog.Pause{PausePart: gclog.PausePart{Start: 2, Duration: 3}, Ticks: 20, UsedNumber: 4},
		&gclog.Pause{PausePart: gclog.PausePart{Start: 3, Duration: 3}, Ticks: 30, GC: d()},
		&gclog.Phase{End: true, Start: 1, Time: 4, GC: d()},
		d(),
		&gclog.Suspension{Start: 5, Ticks: 50},
		&gclog.Gap{Time: 6, Ticks: 60, Records: 1},
		&gclog.Stall{Open: gclog.Open{Ticks: 70, Since: 3}, Now: 7},
		&gclog.HeapGrowth{At: 8, Ticks: 80, Snapshots: []gclog.HeapSnapshot{{File: "a"}}, Types: []gclog.TypeGrowth{{Type: "A"}}},
		&gclog.Summary{From: 1, To: 9, Ticks: 90, Tally: gclog.Tally{Pauses: 3}},
		&gclog.End{At: 10, Ticks: 100, Message: "bye", Open: []gclog.Open{{Number: 1}}},
	}
}

// TestSlot: a Slot holds a copy of whatever it was given last, and shares nothing with it that may change.
func TestSlot(t *testing.T) {
	var s gclog.Slot
	for i, r := range slices.Concat(kinds(), kinds()) {
		s.Copy(r)
		at, ticks := s.When()
		if wantAt, wantTicks := r.When(); at != wantAt || ticks != wantTicks || at == 0 || ticks == 0 {
			t.Errorf("record %d: it is at %d, %d, want %d, %d", i, at, ticks, wantAt, wantTicks)
		}
		d := gclog.CollectionOf(r)
		if reflect.TypeOf(s.Record) != reflect.TypeOf(r) || s.Record == r || (d == nil) != (gclog.CollectionOf(s.Record) == nil) {
			t.Errorf("record %d: %T is a copy of %T", i, s.Record, r)
		}
		if d == nil {
			if !reflect.DeepEqual(s.Record, r) {
				t.Errorf("record %d: %+v, want %+v", i, s.Record, r)
			}
			continue
		}
		d.Number, d.Pauses[0].Start, d.Background.Waits[0].Thread = 99, 99, 99
		if c := gclog.CollectionOf(s.Record); c.Number != 5 || c.Pauses[0].Start != 49 || c.Background.MarkStart != 51 || c.Background.Waits[0].Thread != 7 {
			t.Errorf("record %d: the copy has changed: %+v", i, c)
		}
	}
	s.Reset()
	if s.Record != nil || !reflect.DeepEqual(s.End, gclog.End{}) || s.GC.Number != 0 || len(s.GC.Pauses) != 0 {
		t.Errorf("after Reset it is %+v", s)
	}
}

// TestTee: each observer receives each record, in the order of the list.
func TestTee(t *testing.T) {
	for n := range 3 {
		var got []int
		var list []gclog.Observer
		for i := range n {
			list = append(list, func(gclog.Record) { got = append(got, i) })
		}
		out := gclog.Tee(list...)
		out(&gclog.Gap{})
		out(&gclog.Stall{})
		if want := [][]int{nil, {0, 0}, {0, 1, 0, 1}}[n]; !slices.Equal(got, want) {
			t.Errorf("of %d observers were called %v, want %v", n, got, want)
		}
	}
}
