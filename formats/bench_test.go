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

// A replay keeps the records of a recording, to repeat them.
type replay struct {
	process gclog.Process
	list    []gclog.Record
	records int
}

// Observe takes a record.
func (r *replay) Observe(x gclog.Record) {
	r.list = append(r.list, gclog.CloneRecord(x))
	if _, ok := x.(*gclog.GCDetails); ok {
		r.records++
	}
}

func (r *replay) replayTo(o gclog.Observer) {
	for _, x := range r.list {
		o(x)
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
		return r.Observe
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
			observe := w.Observe
			r.replayTo(observe)
			b.SetBytes(out.bytes)
			b.ReportAllocs()
			for b.Loop() {
				r.replayTo(observe)
			}
			b.ReportMetric(float64(b.N*r.records)/b.Elapsed().Seconds(), "records/s")
		})
	}
}

// TestAllocations: once the buffers have grown to their size, a record causes no allocation.
func TestAllocations(t *testing.T) {
	r := newReplay(t)
	r.Observe(known()) // it also has what a session of level normal does not contain
	for _, f := range formats.All() {
		t.Run(f.Name, func(t *testing.T) {
			var out counter
			w := formats.NewWriter(f, &out, formats.Options{Process: r.process, Version: "1.0", Session: "bench"})
			observe := w.Observe
			if n := testing.AllocsPerRun(5, func() { r.replayTo(observe) }); n != 0 {
				t.Errorf("%.2f allocations per record", n/float64(r.records))
			}
			if out.bytes == 0 {
				t.Error("nothing is written")
			}
		})
	}
}
