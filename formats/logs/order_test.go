package logs

import (
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/gclog/gclog/gclog"
)

// A script records the calls.
type script []string

func (s *script) note(format string, args ...any) { *s = append(*s, fmt.Sprintf(format, args...)) }

// Observe takes a record.
func (s *script) Observe(r gclog.Record) {
	switch r := r.(type) {
	case *gclog.Pause:
		if r.GC == nil {
			s.note("%d %s", r.Start, r.Kind)
		} else {
			s.note("%d %s of %d", r.Start, r.Kind, r.GC.Number)
		}
	case *gclog.Phase:
		s.note("%d %s of %d, end %v", r.Time, r.Kind, r.GC.Number, r.End)
	case *gclog.GCDetails:
		s.note("gc %d, index %d", r.Number, r.Index)
	case *gclog.Gap:
		s.note("%d gap", r.Time)
	case *gclog.HeapGrowth:
		s.note("%d growth", r.At)
	case *gclog.Stall:
		s.note("%d stall", r.Now)
	case *gclog.Suspension:
		s.note("%d suspension", r.Start)
	case *gclog.Start:
		s.note("%d start", r.At)
	case *gclog.End:
		s.note("%d end", r.At)
	}
}

// A director adds records to an order.
type director struct {
	processes
	p      *process
	script script
}

func newDirector() *director {
	d := &director{}
	d.at = &reading{}
	d.observe = func(*gclog.Process) gclog.Observer { return d.script.Observe }
	d.p = d.find([]byte("one"))
	return d
}

func (d *director) gc(number uint32, kind gclog.Kind, parts ...gclog.PausePart) *record {
	r := d.record()
	r.of, r.Record = d.p, &r.GC
	r.GC.Number, r.GC.Kind = number, kind
	r.GC.Pauses = append(r.GC.Pauses, parts...)
	r.GC.Start = parts[0].Start
	return r
}

func (d *director) background(number uint32, from int64) {
	r := d.gc(number, gclog.KindBackground,
		gclog.PausePart{Kind: gclog.PauseInitial, Start: from, Duration: 10},
		gclog.PausePart{Kind: gclog.PauseFinal, Start: from + 500, Duration: 10})
	r.GC.Background = &r.background
	r.background = gclog.BackgroundDetails{MarkStart: from + 10, MarkEnd: from + 500, SweepStart: from + 510, SweepEnd: from + 900}
	d.p.order.put(r)
}

func (d *director) foreground(number uint32, at int64) {
	d.p.order.put(d.gc(number, gclog.KindForeground, gclog.PausePart{Start: at, Duration: 10}))
}

func (d *director) suspension(at int64) {
	r := d.record()
	r.of, r.Record, r.at = d.p, &r.Pause, at
	r.Pause.Start, r.Pause.Kind = at, gclog.PauseUnknown
	d.p.order.put(r)
}

// TestOrder: the parts of a background collection are placed at their times, everything else is in
// the order of the log.
func TestOrder(t *testing.T) {
	d := newDirector()
	d.foreground(1, 50)
	d.suspension(140)
	d.foreground(3, 495) // the mark phase ends while the program is paused for this one
	d.foreground(4, 700)
	d.background(2, 100)
	d.foreground(6, 1000)
	d.background(5, 950)
	d.finish()
	want := script{
		"50 blocking of 1", "gc 1, index 0",
		"100 initial of 2", "110 mark of 2, end false", "140 unknown",
		"495 blocking of 3", "gc 3, index 1",
		"600 mark of 2, end true", "600 final of 2", "610 sweep of 2, end false",
		"700 blocking of 4", "gc 4, index 2",
		"1000 sweep of 2, end true", "gc 2, index 3",
		"950 initial of 5", "960 mark of 5, end false", "1000 blocking of 6", "gc 6, index 4",
		"1450 mark of 5, end true", "1450 final of 5", "1460 sweep of 5, end false", "1850 sweep of 5, end true", "gc 5, index 5",
	}
	if !slices.Equal(d.script, want) {
		t.Errorf("it is\n\t%q\nwant\n\t%q", d.script, want)
	}
}

// TestOrderWindow: the number of held records is bounded, and nothing is lost or emitted twice.
func TestOrderWindow(t *testing.T) {
	d := newDirector()
	const inside = 3 * window
	for i := range inside {
		d.foreground(uint32(i+2), int64(i+200))
		if d.held > window || len(d.free)+d.held > window+1 {
			t.Fatalf("%d records are held, %d are free", d.held, len(d.free))
		}
	}
	d.background(1, 100)
	d.finish()
	if want := 2*inside + 7; len(d.script) != want {
		t.Errorf("%d calls, want %d", len(d.script), want)
	}
	if i := slices.Index(d.script, "100 initial of 1"); i != 2*(inside-window) {
		t.Errorf("the background collection begins with call %d", i)
	}
	if o := &d.p.order; len(o.calls)-o.next != 0 || cap(o.calls) > 64*window {
		t.Errorf("%d calls are left, %d have room", len(o.calls)-o.next, cap(o.calls))
	}
}

// TestOrderOfMany: other processes, even unobserved ones, do not reduce a process's window; the
// total is bounded.
func TestOrderOfMany(t *testing.T) {
	d := newDirector()
	observed := d.p
	d.observe = func(p *gclog.Process) gclog.Observer {
		if p != &observed.facts {
			return nil
		}
		return d.script.Observe
	}
	for i := range 8 * maxHeld {
		d.p = d.find(fmt.Append(nil, "other ", i%60))
		d.foreground(uint32(i), int64(i))
		if i%100 == 99 {
			d.p = observed
			d.foreground(uint32(i), int64(i))
		}
		if d.held > maxHeld {
			t.Fatalf("%d are held", d.held)
		}
	}
	d.p = observed
	from := int64(8*maxHeld - 3_000) // thirty of its own records before the end
	d.background(1<<30, from)
	d.finish()
	i := slices.Index(d.script, fmt.Sprintf("%d initial of %d", from, 1<<30))
	if i < 0 || d.held != 0 || d.script[i-1] != fmt.Sprintf("gc %d, index %d", from-from%100-1, from/100-1) {
		t.Errorf("%d are held; %q", d.held, d.script[max(0, i-3):max(0, i)])
	}
}

// TestReset: a used record is like a new one after reset.
func TestReset(t *testing.T) {
	var o pool
	r := o.record()
	r.GC.Pauses = append(r.GC.Pauses, gclog.PausePart{})
	r.GC.Background, r.GC.Summary, r.GC.Handles = &r.background, &r.summary, 5
	r.background.WaitCount, r.summary.HasEfficiency, r.Pause.Start = 1, true, 1
	o.drop(r)
	used, fresh := o.record(), (&pool{}).record()
	used.GC.Pauses = nil
	if !reflect.DeepEqual(used, fresh) {
		t.Errorf("it is %+v", used)
	}
}
