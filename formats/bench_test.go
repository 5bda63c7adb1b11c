package formats_test

import (
	"path/filepath"
	"testing"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/internal/testing/recordings"
)

// benchRecording has background collections with foreground ones inside, and a collection that
// started before the recording.
const benchRecording = "net9-wks-attach"

// A replay records the calls of a recording's Observer, to repeat them.
type replay struct {
	process gclog.Process
	calls   []func(o gclog.Observer)
	records int
}

func (r *replay) Pause(p *gclog.Pause) {
	q := *p
	if p.GC != nil {
		q.GC = p.GC.Clone()
	}
	r.calls = append(r.calls, func(o gclog.Observer) { o.Pause(&q) })
}

func (r *replay) Phase(p *gclog.Phase) {
	q := *p
	q.GC = p.GC.Clone()
	r.calls = append(r.calls, func(o gclog.Observer) { o.Phase(&q) })
}

func (r *replay) GC(d *gclog.GCDetails) {
	e := d.Clone()
	r.records++
	r.calls = append(r.calls, func(o gclog.Observer) { o.GC(e) })
}

func (r *replay) Gap(g *gclog.Gap) {
	h := *g
	r.calls = append(r.calls, func(o gclog.Observer) { o.Gap(&h) })
}

func (r *replay) replayTo(o gclog.Observer) {
	for _, call := range r.calls {
		call(o)
	}
}

func newReplay(t testing.TB) *replay {
	t.Helper()
	r, err := readReplay(recordings.Read(t, filepath.Join(recordings.Root(), "testdata", "traces", benchRecording+".nettrace.gz")))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func readReplay(recording []byte) (r *replay, err error) {
	_, err = read(recording, everything, gclog.NewProcesses(func(p *gclog.Process) gclog.Observer {
		r = &replay{process: *p}
		return r
	}))
	return r, err
}

// A counter is an Output that only counts bytes.
type counter struct{ bytes int64 }

func (c *counter) Write(_ formats.Head, group []byte, _ bool) error {
	c.bytes += int64(len(group))
	return nil
}

// BenchmarkFormat writes the records of a recording in each format.
func BenchmarkFormat(b *testing.B) {
	r := newReplay(b)
	for _, f := range formats.All() {
		b.Run(f.Name, func(b *testing.B) {
			var out counter
			w := formats.NewWriter(f, &out, formats.Options{Process: r.process, Version: "1.0", Session: "bench"})
			r.replayTo(w)
			b.SetBytes(out.bytes)
			b.ReportAllocs()
			for b.Loop() {
				r.replayTo(w)
			}
			b.ReportMetric(float64(b.N*r.records)/b.Elapsed().Seconds(), "records/s")
		})
	}
}

// TestAllocations: once the buffers have grown to their size, a record causes no allocation.
func TestAllocations(t *testing.T) {
	r := newReplay(t)
	r.GC(known()) // it also has what a session of level normal does not contain
	for _, f := range formats.All() {
		t.Run(f.Name, func(t *testing.T) {
			var out counter
			w := formats.NewWriter(f, &out, formats.Options{Process: r.process, Version: "1.0", Session: "bench"})
			if n := testing.AllocsPerRun(5, func() { r.replayTo(w) }); n != 0 {
				t.Errorf("%.2f allocations per record", n/float64(r.records))
			}
			if out.bytes == 0 {
				t.Error("nothing is written")
			}
		})
	}
}
