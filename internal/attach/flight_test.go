package attach

import (
	"bytes"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/internal/fakeruntime"
	"github.com/gclog/gclog/internal/flight"
	"github.com/gclog/gclog/parse"
)

// A gcList has the numbers of collections.
type gcList struct {
	list []uint32
	gc   func(*gclog.GCDetails) // called with each; nil: nothing is
}

// Observe takes a record.
func (l *gcList) Observe(r gclog.Record) {
	if d, ok := r.(*gclog.GCDetails); ok {
		l.list = append(l.list, d.Number)
		if l.gc != nil {
			l.gc(d)
		}
	}
}

// collectionsIn returns the numbers of the collections in a stream.
func collectionsIn(t *testing.T, stream []byte) []uint32 {
	t.Helper()
	l := &gcList{}
	ps := gclog.NewProcesses(func(*gclog.Process) gclog.Observer { return l.Observe })
	if err := ps.Drain(parse.NewReader(bytes.NewReader(stream), gclog.Wanted)); err != nil {
		t.Fatal(err)
	}
	return l.list
}

// TestFlight: the flight recorder of a session has the collections around one that is recorded, however
// long that one takes, and forgets those before them.
func TestFlight(t *testing.T) {
	for name, c := range map[string]struct {
		play  func(*stage)
		cause uint32 // number of the collection that is recorded
		// want are the numbers of the first and the last one in the file.
		want [2]uint32
	}{
		"a short one": {func(x *stage) {
			for n := uint32(1); !x.isOver(time.Second); n++ {
				x.collect(n)
			}
		}, 20, [2]uint32{16, 21}},
		"a long one": {func(x *stage) {
			for n := uint32(1); n < 10; n++ {
				time.Sleep(time.Second)
				x.collect(n)
			}
			x.beginBackground(10)
			for n := uint32(11); n < 50; n++ {
				time.Sleep(time.Second)
				x.collect(n)
			}
			x.endBackground(10)
			for n := uint32(50); !x.isOver(time.Second); n++ {
				x.collect(n)
			}
		}, 10, [2]uint32{5, 50}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				target := onStage(t, fakeruntime.Config{Version: "8.0.1"}, c.play)
				recorder := flight.NewMemory(16<<20).NewRecorder("", 5*time.Second)
				defer recorder.Close()
				s, err := Open(t.Context(), target, SessionOptions{Config: configOf(t, "light"), Warn: func(s string) { t.Error(s) }, Flight: recorder})
				if err != nil {
					t.Fatal(err)
				}
				var process *gclog.Process
				var recording *flight.Recording
				l := &gcList{gc: func(d *gclog.GCDetails) {
					if d.Number != c.cause {
						return
					}
					recording, _ = recorder.Record(flight.Trigger{
						Time: process.Time(d.Start), Ticks: d.StartTicks, Duration: time.Duration(d.End - d.Start), Before: 5 * time.Second, After: 2 * time.Second,
					})
					go func() {
						<-recording.Done()
						s.Ask()
					}()
				}}
				if _, err := s.Observe(&gclog.Process{ID: 7}, func(p *gclog.Process) gclog.Observer { process = p; return l.Observe }); err != nil {
					t.Fatal(err)
				}
				parts, err := recording.Parts()
				if err != nil || len(parts) != 1 {
					t.Fatalf("%d parts, %v", len(parts), err)
				}
				var file bytes.Buffer
				if _, err := parts[0].Write(&file, process); err != nil {
					t.Fatal(err)
				}
				got := collectionsIn(t, file.Bytes())
				slices.Sort(got)
				var want []uint32
				for n := c.want[0]; n <= c.want[1]; n++ {
					want = append(want, n)
				}
				if !slices.Equal(got, want) {
					t.Errorf("the file has the collections %v, want %v", got, want)
				}
				if n := l.list[len(l.list)-1]; n > c.want[1]+1 {
					t.Errorf("the session went on until %d", n)
				}
			})
		})
	}
}
