package gclog_test

import (
	"bytes"
	"reflect"
	"testing"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/internal/testing/recordings"
	"github.com/gclog/gclog/parse"
	"github.com/gclog/gclog/parse/clr"
)

// A stamped is a typed event that is kept.
type stamped struct {
	at gclog.Stamp
	e  clr.Event
}

// typed decodes the events of a recording that the Reducer wants.
func typed(t testing.TB, name string) (list []stamped) {
	for _, tr := range recordings.Repository(t) {
		if tr.Name != name {
			continue
		}
		r := parse.NewReader(bytes.NewReader(recordings.Read(t, tr.Path)), gclog.Wanted)
		var d *clr.Decoder
		for r.Scan() {
			e := r.Event()
			if e == nil {
				continue
			}
			if d == nil {
				d = clr.NewDecoder(r.Trace().PointerSize)
			}
			x, err := d.Decode(e)
			if err != nil {
				t.Fatal(err)
			}
			if _, ok := x.(*clr.GCDynamicEvent); x == nil || ok {
				continue // its name is allocated each time
			}
			keep := reflect.New(reflect.TypeOf(x).Elem())
			keep.Elem().Set(reflect.ValueOf(x).Elem())
			list = append(list, stamped{gclog.Stamp{Time: e.Time, Ticks: e.Ticks, Thread: e.Thread}, keep.Interface().(clr.Event)})
		}
	}
	if len(list) == 0 {
		t.Fatalf("no recording %s", name)
	}
	return list
}

type nobody struct{}

// Observe takes a record.
func (nobody) Observe(gclog.Record) {}

// again feeds the events once more, at later times.
func again(r *gclog.Reducer, list []stamped, round int64) {
	shift := round * (list[len(list)-1].at.Time + 1e9)
	for i := range list {
		at := list[i].at
		at.Time += shift
		r.Event(at, list[i].e)
	}
}

func TestReducerAllocatesNothing(t *testing.T) {
	for _, name := range []string{"net9-wks-attach", "core31-svr-induced", "net10-datas-bgc"} {
		list := typed(t, name)
		r := gclog.NewReducer(nobody{}.Observe)
		again(r, list, 0)
		round := int64(1)
		if n := testing.AllocsPerRun(5, func() { again(r, list, round); round++ }); n > 0 {
			t.Errorf("%s: %.0f allocations for %d events", name, n, len(list))
		}
	}
}

func BenchmarkReduce(b *testing.B) {
	for _, name := range []string{"net9-wks-attach", "core31-svr-induced", "net10-wks-verbose"} {
		list := typed(b, name)
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			r := gclog.NewReducer(nobody{}.Observe)
			round := int64(0)
			for b.Loop() {
				again(r, list, round)
				round++
			}
			b.ReportMetric(float64(len(list))*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mevents/s")
			b.ReportMetric(b.Elapsed().Seconds()*1e9/float64(len(list))/float64(b.N), "ns/event")
		})
	}
}

// BenchmarkStream measures the whole way from bytes to records.
func BenchmarkStream(b *testing.B) {
	for _, tr := range recordings.Repository(b) {
		if tr.Name != "net9-wks-attach" && tr.Name != "net10-wks-verbose" {
			continue
		}
		data := recordings.Read(b, tr.Path)
		b.Run(tr.Name, func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			r := parse.NewReader(nil, gclog.Wanted)
			rows := int64(0)
			for b.Loop() {
				p := gclog.NewProcesses(func(*gclog.Process) gclog.Observer { return nobody{}.Observe })
				r.Reset(bytes.NewReader(data), gclog.Wanted)
				_ = p.Drain(r)
				rows += r.Stats().Rows
			}
			b.ReportMetric(float64(rows)/b.Elapsed().Seconds()/1e6, "Mevents/s")
		})
	}
}
