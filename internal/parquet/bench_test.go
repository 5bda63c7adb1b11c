package parquet

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/internal/testing/fleet"
)

// A kept is some collections of a process.
type kept struct {
	process *gclog.Process
	list    []*gclog.GCDetails
}

// Observe takes a record.
func (k *kept) Observe(r gclog.Record) {
	if d, ok := r.(*gclog.GCDetails); ok {
		if len(k.list) < keptMost {
			k.list = append(k.list, d.Clone())
		}
	}
}

const keptMost = 40

// BenchmarkTable measures writing a table: 500 processes with 400 collections each are encoded, sorted
// on disk, compressed and written.
func BenchmarkTable(b *testing.B) {
	shapes, err := fleet.Shapes()
	if err != nil {
		b.Fatal(err)
	}
	var all []*kept
	f := fleet.New(shapes, fleet.Options{Seed: 1, Processes: 500, Duration: time.Hour, Interval: 40 * time.Second})
	f.Play(func(p *gclog.Process) gclog.Observer {
		k := &kept{process: p}
		all = append(all, k)
		return k.Observe
	})
	path := filepath.Join(b.TempDir(), "fleet.parquet")
	rows, size := 0.0, 0.0
	for b.Loop() {
		table := NewTable(Options{Path: path, Version: "1.0"})
		for _, k := range all {
			o := table.Observe(k.process, "", func(err error) { b.Fatal(err) })
			for range 400 / keptMost {
				for _, d := range k.list {
					for i := range d.Pauses {
						d.Pauses[i].Start += int64(time.Hour)
					}
					d.Number += keptMost
					o(d)
				}
			}
		}
		files, err := table.Finish()
		if err != nil {
			b.Fatal(err)
		}
		rows += float64(files[0].Rows)
		size += float64(files[0].Size)
	}
	b.ReportMetric(rows/b.Elapsed().Seconds(), "rows/s")
	b.ReportMetric(size/rows, "B/row")
}

// BenchmarkObserve measures what a collection costs the goroutine that writes the log of a process.
func BenchmarkObserve(b *testing.B) {
	shapes, err := fleet.Shapes()
	if err != nil {
		b.Fatal(err)
	}
	o, _ := started(b, b.TempDir())
	x := o.Observe(testProcess("a", 1), "")
	list := shapes[0]
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		x(list[n%len(list)])
		n++
	}
	closeOutput(b, o)
}
