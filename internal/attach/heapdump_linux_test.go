package attach

import (
	"bytes"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/internal/fakeruntime"
	"github.com/gclog/gclog/internal/host"
	"github.com/gclog/gclog/parse"
	"github.com/gclog/gclog/parse/clr"
)

// dump does what a runtime does for a heap snapshot, as a session without the keyword of the walk
// sees it: a thread requests a full blocking collection, at the end of which 1 ms passes.
func (x *stage) dump(number uint32, thread uint64) {
	x.eventBy(thread, clr.IDGCTriggered, le32(uint32(clr.ReasonInduced)))
	x.suspend(clr.SuspendForGC)
	x.beginFor(clr.ReasonInduced, number, 2, clr.TypeBlocking, 0)
	x.event(clr.IDGCGlobalHeapHistory, le32(0, 0, 0, 2, 0, uint32(clr.ReasonInduced), 0))
	time.Sleep(time.Millisecond)
	x.end(number, 2)
	x.resume()
}

// A dumpList lists the snapshots in the records that it observes, by number.
type dumpList struct {
	list []string
}

// Observe takes a record.
func (l *dumpList) Observe(r gclog.Record) {
	if d, ok := r.(*gclog.GCDetails); ok {
		by := "no"
		if d.HeapDump {
			by = d.HeapDumpBy.String()
		}
		l.list = append(l.list, by)
	}
}

// TestHeapDumpMarks: a session marks the collections of heap snapshots, with who requested them. In
// a recording of the session they are marked too, as those of any tool: it does not say which were
// requested by gclog.
func TestHeapDumpMarks(t *testing.T) {
	thread(t, ".NET EventPipe")
	thread(t, ".NET Finalizer") // its startup has finished
	synctest.Test(t, func(t *testing.T) {
		self := &host.Target{Process: alive(t)}
		diagnostics := self.DiagnosticsThreads()
		if len(diagnostics) != 1 {
			t.Fatalf("threads %v", diagnostics)
		}
		var recording bytes.Buffer
		target := onStage(t, fakeruntime.Config{Version: "8.0.1"}, func(x *stage) {
			x.dump(1, diagnostics[0])
			x.dump(2, diagnostics[0]+1000) // GC.Collect of a thread of the program
			time.Sleep(time.Second)        // the records are written

			hold, err := self.Hold(t.Context())
			if err != nil {
				t.Error(err)
				return
			}
			x.dump(3, diagnostics[0])
			time.Sleep(time.Second)
			hold.Release()

			release := self.AnnounceGC()
			x.dump(4, diagnostics[0])
			time.Sleep(time.Second)
			release()
			x.dump(5, diagnostics[0])
			x.untilStopped()
		})
		s, err := Open(t.Context(), target, SessionOptions{Config: configOf(t, "light"), Record: &recording, Count: 5})
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		outputs, opener := jsonTo(t, &out)
		var seen dumpList
		l := &Log{Outputs: outputs, Opener: opener, Observe: observedBy(seen.Observe)}
		if _, err := l.Write(s, &gclog.Process{ID: 1}, nil); err != nil {
			t.Error(err)
		}
		if want := []string{"other", "no", "gclog", "no", "other"}; !slices.Equal(seen.list, want) {
			t.Errorf("in the log %v, want %v", seen.list, want)
		}

		var recorded dumpList
		p := gclog.NewProcesses(func(*gclog.Process) gclog.Observer { return recorded.Observe })
		if err := p.Drain(parse.NewReader(&recording, gclog.Wanted)); err != nil {
			t.Error(err)
		}
		if want := []string{"other", "no", "other", "other", "other"}; !slices.Equal(recorded.list, want) {
			t.Errorf("in the recording %v, want %v", recorded.list, want)
		}
	})
}
