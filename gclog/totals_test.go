package gclog_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/internal/testing/extent"
	"github.com/gclog/gclog/internal/testing/recordings"
	"github.com/gclog/gclog/internal/testing/totals"
	"github.com/gclog/gclog/parse"
	"github.com/gclog/gclog/parse/clr"
)

// A summer sums up every number passed to an Observer, by the name of its field or method.
type summer struct{ totals.Adder }

// methods adds the results of a record's methods.
func (s *summer) methods(d *gclog.GCDetails) {
	v := reflect.ValueOf(d)
	for i := range v.NumMethod() {
		name, m := v.Type().Method(i).Name, v.Method(i)
		call := func(path string, args ...reflect.Value) {
			for k, out := range answer(m, args) {
				s.Add(fmt.Sprint("GC.", path, "()", k), out)
			}
		}
		switch m.Type().NumIn() {
		case 0:
			if name != "Reset" && name != "Clone" && name != "When" {
				call(name)
			}
		case 1:
			switch m.Type().In(0) {
			case reflect.TypeFor[int]():
				for g := range gclog.Generations {
					call(fmt.Sprint(name, " ", g), reflect.ValueOf(g))
				}
			case reflect.TypeFor[clr.MarkType]():
				for t := range clr.MarkTypes {
					call(fmt.Sprint(name, " ", t), reflect.ValueOf(t))
				}
			}
		case 2:
			for h := range d.Heaps {
				for t := range clr.MarkTypes {
					call(fmt.Sprint(name, " ", t), reflect.ValueOf(h), reflect.ValueOf(t))
				}
			}
		}
	}
}

// answer calls a method. An argument may be a generation or heap number that is out of range: there
// is no answer then.
func answer(m reflect.Value, args []reflect.Value) (out []reflect.Value) {
	defer func() { _ = recover() }()
	return m.Call(args)
}

// Observe takes a record.
func (s *summer) Observe(r gclog.Record) {
	switch r := r.(type) {
	case *gclog.Pause:
		x := *r
		x.GC = s.of(r.GC)
		s.AddAll("Pause", x)
	case *gclog.Phase:
		x := *r
		x.GC = s.of(r.GC)
		s.AddAll("Phase", x)
	case *gclog.Gap:
		s.AddAll("Gap", r)
	case *gclog.Suspension:
		s.AddAll("Suspension", r)
	case *gclog.GCDetails:
		s.AddAll("GC", r)
		s.methods(r)
	}
}

// of returns what represents the record of a pause or phase.
func (*summer) of(d *gclog.GCDetails) *gclog.GCDetails {
	if d == nil {
		return nil
	}
	x := &gclog.GCDetails{}
	x.Number = d.Number
	return x
}

// TestTotals: any change in what is emitted for the recordings of the repository, for the same with
// events missing or out of order, and for random events changes testdata/totals.txt. Other tests
// check what is right; this one ensures that no change goes unnoticed. GCLOG_UPDATE=1 rewrites the
// file.
func TestTotals(t *testing.T) {
	extent.Long(t)
	whole, damaged, wild := totals.Totals{}, totals.Totals{}, totals.Totals{}
	for _, tr := range recordings.Repository(t) {
		stream := recordings.Read(t, tr.Path)
		totalsOf(whole, stream, nil)
		for seed := range uint64(6) {
			totalsOf(damaged, stream, rand.New(rand.NewPCG(seed, 0)))
		}
	}
	for seed := range uint64(300) {
		rnd := rand.New(rand.NewPCG(seed, 2))
		wildStory := &story{Reducer: gclog.NewReducer((&summer{totals.Adder{Totals: wild}}).Observe)}
		wildStory.random(rnd.IntN, 300)
	}
	totals.Hold(t, filepath.Join("testdata", "totals.txt"),
		totals.Part{Title: "recordings", Totals: whole},
		totals.Part{Title: "recordings with losses and disorder", Totals: damaged},
		totals.Part{Title: "random events", Totals: wild})
}

// totalsOf reduces a recording. With rnd some events are lost, with or without a report, and some
// are reordered.
func totalsOf(into totals.Totals, stream []byte, rnd *rand.Rand) {
	r := parse.NewReader(bytes.NewReader(stream), gclog.WantedFinalized)
	var all []*summer
	p := gclog.NewProcesses(func(*gclog.Process) gclog.Observer {
		all = append(all, &summer{totals.Adder{Totals: into}})
		return all[len(all)-1].Observe
	})
	trace, err := r.ReadTrace()
	if err != nil {
		return
	}
	p.Begin(trace)
	var kept *parse.Event
	for r.Scan() {
		e := r.Event()
		switch {
		case e == nil:
			p.Loss(r.Loss())
			continue
		case rnd == nil:
			p.Event(e)
			continue
		}
		switch rnd.IntN(60) {
		case 0:
			p.Loss(&parse.Loss{Thread: e.Thread, Process: e.Process, Events: 1, From: e.Time, To: e.Time, Ticks: e.Ticks})
		case 1:
		case 2:
			x := *e
			x.Payload = bytes.Clone(e.Payload)
			kept = &x
		default:
			p.Event(e)
		}
		if kept != nil && rnd.IntN(5) == 0 {
			p.Event(kept)
			kept = nil
		}
		if rnd.IntN(500) == 0 {
			p.Advance(e.Time + 1)
		}
	}
	p.Finish()
	for i, facts := range p.List() {
		all[i].AddAll("Process", *facts)
	}
}
