package logs_test

import (
	"bytes"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/formats/logs"
	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/internal/testing/recordings"
	"github.com/gclog/gclog/parse"
)

// A memory is an Output that keeps everything in one file.
type memory struct{ text []byte }

func (m *memory) Write(head formats.Head, group []byte, _ bool) error {
	if m.text == nil {
		m.text = head.Append(nil, 1)
	}
	m.text = append(m.text, group...)
	return nil
}

// An observed is what the Observer of one process received, in order.
type observed struct {
	process gclog.Process
	calls   []any    // *gclog.Pause, *gclog.Phase, *gclog.GCDetails, *gclog.Gap, *gclog.Stall, *gclog.HeapGrowth, *gclog.Start, *gclog.End
	order   []string // the calls in short, without those that a log of collections does not contain
	w       *formats.Writer
}

func (x *observed) note(format string, args ...any) {
	x.order = append(x.order, fmt.Sprintf(format, args...))
}

// of returns the name of a collection.
func of(d *gclog.GCDetails) string {
	if !d.Known.Has(gclog.GroupNumber) {
		return "#?"
	}
	return fmt.Sprintf("#%d", d.Number)
}

// date formats a time stamp independently of the log's clock.
func (x *observed) date(at int64) string {
	return x.process.Time(at).Truncate(10 * time.Microsecond).Format("05.00000")
}

// Observe takes a record.
func (x *observed) Observe(r gclog.Record) {
	switch r := r.(type) {
	case *gclog.Pause:
		q := *r
		x.calls = append(x.calls, &q)
		if r.GC != nil {
			x.note("%s pause of %s at %s", r.Kind, of(r.GC), x.date(r.Start))
		} else {
			x.note("%s pause at %s", r.Kind, x.date(r.Start))
		}
		if x.w != nil {
			x.w.Observe(r)
		}
	case *gclog.Phase:
		q := *r
		x.calls = append(x.calls, &q)
		x.note("%s of %s, end %v at %s", r.Kind, of(r.GC), r.End, x.date(r.Time))
		if x.w != nil {
			x.w.Observe(r)
		}
	case *gclog.GCDetails:
		x.calls = append(x.calls, r.Clone())
		x.note("gc %s", of(r))
		if x.w != nil {
			x.w.Observe(r)
		}
	case *gclog.Gap:
		h := *r
		x.calls = append(x.calls, &h)
		if x.w != nil {
			x.w.Observe(r)
		}
	case *gclog.Stall:
		t := *r
		x.calls = append(x.calls, &t)
		if x.w != nil {
			x.w.Observe(r)
		}
	case *gclog.HeapGrowth:
		h := *r
		x.calls = append(x.calls, &h)
		if x.w != nil {
			x.w.Observe(r)
		}
	case *gclog.Counters:
		x.calls = append(x.calls, gclog.CloneRecord(r))
		if x.w != nil {
			x.w.Observe(r)
		}
	case *gclog.Suspension:
		t := *r
		x.calls = append(x.calls, &t)
		if x.w != nil {
			x.w.Observe(r)
		}
	case *gclog.Start:
		t := *r
		x.calls = append(x.calls, &t)
		if x.w != nil {
			x.w.Observe(r)
		}
	case *gclog.End:
		f := *r
		x.calls = append(x.calls, &f)
		if x.w != nil {
			x.w.Observe(r)
		}
	}
}

// gcs returns the records of collections.
func (x *observed) gcs() (list []*gclog.GCDetails) {
	for _, c := range x.calls {
		if d, ok := c.(*gclog.GCDetails); ok {
			list = append(list, d)
		}
	}
	return list
}

// facts adds to a process in a recording what a live session would know.
func facts(p *gclog.Process) {
	p.Name, p.Executable, p.Service = "Shop \"1\"\n\u2028é😀", "/usr/bin/dotnet", "shop"
	p.Cookie = "5d2b7c1e-9a40-4f83-b6de-" + string(rune('a'+p.ID%26))
	p.Started = p.Sync.Add(-90*time.Second - 123456789)
	p.UptimeAtSync = p.Sync.Sub(p.Started)
	p.Host, p.StartKey = "shop-1", 1<<53+1+uint64(p.ID)
	p.OS, p.Architecture, p.RuntimeVersion, p.Flavor = "Linux", "x64", "10.0.14", gclog.FlavorCoreCLR
}

// writeTo makes x write what it receives.
func (x *observed) writeTo(format string, out formats.Output, p *gclog.Process) {
	f, err := formats.Find(format)
	if err != nil {
		panic(err)
	}
	x.process = *p
	x.w = formats.NewWriter(f, out, formats.Options{Process: *p, Version: "1.0", Session: "test"})
}

// record converts a recording to a format, and returns what was emitted.
func record(t testing.TB, stream []byte, format string, know func(*gclog.Process)) (text []byte, all []*observed) {
	t.Helper()
	var out memory
	processes := gclog.NewProcesses(func(p *gclog.Process) gclog.Observer {
		x := &observed{}
		q := *p
		if know != nil {
			know(&q)
		}
		x.writeTo(format, &out, &q)
		all = append(all, x)
		return x.Observe
	})
	drain(t, stream, processes)
	return out.text, all
}

// drain passes a whole recording, which may be damaged, to a Processes.
func drain(t testing.TB, stream []byte, processes *gclog.Processes) {
	t.Helper()
	if err := processes.Drain(parse.NewReader(bytes.NewReader(stream), gclog.Wanted)); err != nil && len(processes.List()) == 0 {
		t.Fatal(err)
	}
	processes.Finish()
}

// read reads a log, and writes it again in the same format.
func read(t testing.TB, text []byte) (again []byte, all []*observed, skipped logs.Skipped) {
	t.Helper()
	return readAs(t, text, "")
}

// readAs reads a log, and writes it in a format; "" means its own.
func readAs(t testing.TB, text []byte, format string) (written []byte, all []*observed, skipped logs.Skipped) {
	t.Helper()
	h, ok := logs.Recognize(text[:min(len(text), logs.HeadSize)])
	if !ok {
		t.Fatalf("not recognized: %.200s", text)
	}
	if format == "" {
		format = h.Format
	}
	var out memory
	r, err := logs.NewReader(h, func(p *gclog.Process) gclog.Observer {
		x := &observed{}
		x.writeTo(format, &out, p)
		all = append(all, x)
		return x.Observe
	})
	if err != nil {
		t.Fatal(err)
	}
	skipped, err = r.Read(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	r.Finish()
	return out.text, all, skipped
}

// forEach runs a test for each recording; with -short only those in the repository.
func forEach(t *testing.T, run func(t *testing.T, stream []byte)) {
	one := func(t *testing.T, tr recordings.Trace) {
		t.Parallel()
		run(t, recordings.Read(t, tr.Path))
	}
	recordings.ForEach(t, one)
}

// sample returns one of the samples of the repository.
func sample(t testing.TB, name string) []byte {
	t.Helper()
	return recordings.Read(t, filepath.Join(recordings.Root(), "samples", name))
}

// recording returns one of the recordings of the repository.
func recording(t testing.TB, name string) []byte {
	t.Helper()
	return recordings.Read(t, filepath.Join(recordings.Root(), "testdata", "traces", name+".nettrace.gz"))
}

// everything writes what it receives in every format.
type everything []*formats.Writer

func newEverything(p *gclog.Process) (e everything) {
	for _, f := range formats.All() {
		e = append(e, formats.NewWriter(f, &memory{}, formats.Options{Process: *p, Version: "1.0", Session: "test"}))
	}
	return e
}

func (e everything) each(f func(*formats.Writer)) {
	for _, w := range e {
		f(w)
	}
}

// Observe takes a record.
func (e everything) Observe(r gclog.Record) {
	switch r := r.(type) {
	case *gclog.Pause:
		e.each(func(w *formats.Writer) { w.Observe(r) })
	case *gclog.Phase:
		e.each(func(w *formats.Writer) { w.Observe(r) })
	case *gclog.GCDetails:
		e.each(func(w *formats.Writer) { w.Observe(r) })
	case *gclog.Gap:
		e.each(func(w *formats.Writer) { w.Observe(r) })
	case *gclog.Suspension:
		e.each(func(w *formats.Writer) { w.Observe(r) })
	case *gclog.HeapGrowth:
		e.each(func(w *formats.Writer) { w.Observe(r) })
	case *gclog.Stall:
		e.each(func(w *formats.Writer) { w.Observe(r) })
	case *gclog.Start:
		e.each(func(w *formats.Writer) { w.Observe(r) })
	case *gclog.End:
		e.each(func(w *formats.Writer) { w.Observe(r) })
	}
}
