package attach

import (
	"bytes"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/internal/fakeruntime"
	"github.com/gclog/gclog/internal/output"
)

// A witnessed notes what it receives, and panics at its collection number panics.
type witnessed struct {
	process *gclog.Process
	panics  int
	gcs     int
	notes   []string
}

// Observe takes a record.
func (w *witnessed) Observe(r gclog.Record) {
	switch r := r.(type) {
	case *gclog.Start:
		w.notes = append(w.notes, "start")
	case *gclog.GCDetails:
		if w.gcs++; w.gcs == w.panics {
			panic("in the observer")
		}
		w.notes = append(w.notes, "gc")
	case *gclog.End:
		w.notes = append(w.notes, r.Reason.String())
	}
}

// TestLogObserved: an observer receives what the outputs receive, and knows the process. A panic of it
// does not harm the log.
func TestLogObserved(t *testing.T) {
	for name, c := range map[string]struct {
		panics int
		want   string
	}{
		"observes":   {0, "start gc gc gc detached"},
		"is faulty":  {2, "start gc"},
		"is at once": {1, "start"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var out bytes.Buffer
				var warned string
				x := &witnessed{panics: c.panics}
				o := lightOptions(t, onStage(t, fakeruntime.Config{Version: "8.0.1"}, everySecond), &out)
				o.Count, o.Opener.Warn = 3, func(s string) { warned += s }
				o.Observe = func(p *gclog.Process) gclog.Observer {
					x.process = p
					return x.Observe
				}
				if _, err := Run(t.Context(), o); err != nil {
					t.Error(err)
				}
				if got := strings.Join(x.notes, " "); got != c.want {
					t.Errorf("it received %q, want %q", got, c.want)
				}
				if x.process.ID != 1 || x.process.Sync.IsZero() {
					t.Errorf("it knows %+v", x.process)
				}
				if got := summaryOf(t, out.Bytes()); got != "session-start, 1, 2, 3, detached" {
					t.Errorf("the log has %q", got)
				}
				if failed := strings.Contains(warned, "in the observer"); failed != (c.panics > 0) {
					t.Errorf("warned of %q", warned)
				}
			})
		})
	}
}

// observedBy returns an Options.Observe for an observer of events.
func observedBy(o gclog.Observer) func(*gclog.Process) gclog.Observer {
	return func(*gclog.Process) gclog.Observer { return o }
}

// TestLogObserverRenewed: when what is known of the process changes, the observer is asked for again.
func TestLogObserverRenewed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var services []string
		target := onStage(t, fakeruntime.Config{Version: "8.0.1"}, everySecond)
		s, err := Open(t.Context(), target, SessionOptions{Config: configOf(t, "light"), Count: 2, Warn: func(string) {}})
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		outputs, opener := jsonTo(t, &out)
		requests := make(chan func(*Log), 1)
		l := &Log{Outputs: outputs, Opener: opener, Requests: requests, Observe: func(p *gclog.Process) gclog.Observer {
			services = append(services, p.Service)
			return gclog.Tee()
		}}
		requests <- func(l *Log) {
			_ = l.Change([]output.Spec{outputs[0]}, formats.Options{}, &gclog.Process{ID: 1, Service: "b"})
		}
		if _, err := l.Write(s, &gclog.Process{ID: 1, Service: "a"}, nil); err != nil {
			t.Error(err)
		}
		if got := strings.Join(services, " "); got != "a b" {
			t.Errorf("asked for %q", got)
		}
	})
}
