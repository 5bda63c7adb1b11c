package heap

import (
	"bytes"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/internal/attach"
	"github.com/gclog/gclog/internal/cli/exit"
	"github.com/gclog/gclog/internal/fakeruntime"
	"github.com/gclog/gclog/internal/testing/nettracetest"
	"github.com/gclog/gclog/session"
)

// walkingRuntime is a runtime that sends a heap walk, and loses the last part of some.
type walkingRuntime struct {
	objects int
	loses   int // how many of its walks

	mu      sync.Mutex
	walks   int
	buffers []string // of the sessions that request walks
}

// trace runs a session: the odd ones are those of witnesses.
func (w *walkingRuntime) trace(s *fakeruntime.Session) string {
	var head nettracetest.V4
	if s.ID%2 == 1 {
		head.Begin(nettracetest.DefaultClock())
		_, _ = s.Conn.Write(head.Take())
		<-s.Stopped
		head.End()
		_, _ = s.Conn.Write(head.Take())
		return "is over"
	}
	var b bytes.Buffer
	if _, err := (nettracetest.HeapWalk{Objects: w.objects}).WriteTo(&b); err != nil {
		return err.Error()
	}
	w.mu.Lock()
	w.walks++
	lost := w.walks <= w.loses
	w.mu.Unlock()
	if lost {
		b.Truncate(b.Len() / 2)
	}
	_, _ = b.WriteTo(s.Conn)
	return "has walked"
}

var bufferOf = regexp.MustCompile(`buffer=([0-9]+) .*:0x1[9d]80001:`)

// log notes the size of the buffer of each request for a walk.
func (w *walkingRuntime) log(line string) {
	if m := bufferOf.FindStringSubmatch(line); m != nil {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.buffers = append(w.buffers, m[1])
	}
}

// TestSnapshotAgain: after a loss of events a snapshot is taken once more with twice the buffer, if the
// process may have the memory.
func TestSnapshotAgain(t *testing.T) {
	const once, refused = "once more, with a buffer of 2 MB instead of 1 MB", "with twice the buffer they may need 1125.9 TB, but "
	for _, tc := range []struct {
		name    string
		loses   int
		need    uint64
		force   bool
		buffers string
		fails   bool
		says    string
	}{
		{"nothing is lost", 0, 1, false, "[1]", false, ""},
		{"lost once", 1, 1, false, "[1 2]", false, once},
		{"lost always", 9, 1, false, "[1 2]", true, once},
		{"no memory for more", 1, 1 << 50, false, "[1]", true, refused},
		{"no memory, by force", 1, 1 << 50, true, "[1 2]", false, once},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := &walkingRuntime{objects: 20_000, loses: tc.loses}
			var said strings.Builder
			p, target := snapshotStage(t, fakeruntime.Config{Version: "11.0.1", Trace: w.trace, Log: w.log}, &said)
			plan := attach.PlanSnapshot(target, &gclog.Process{}, nil)
			plan.Need, plan.BufferMB = tc.need, 1
			s := &plannedSnapshot{target: target, plan: plan, o: snapshotOptions{force: true, timeout: session.DefaultTimeout}}
			var objects uint64
			err := p.whole(t.Context(), s, func(s *plannedSnapshot) error {
				s.o.force = tc.force
				h, err := p.count(t.Context(), s, &naming{})
				if err == nil {
					objects = h.Total().Objects
				}
				return err
			})
			if (err != nil) != tc.fails || err != nil && (exit.Code(err) != exit.Data || !strings.Contains(err.Error(), " is incomplete: ")) {
				t.Errorf("the error is %v", err)
			}
			if err == nil && objects != uint64(w.objects) {
				t.Errorf("%d objects of %d", objects, w.objects)
			}
			if got := fmt.Sprint(w.buffers); got != tc.buffers {
				t.Errorf("walks with buffers of %s MB, want %s", got, tc.buffers)
			}
			if !strings.Contains(said.String(), tc.says) || tc.says == "" && strings.Contains(said.String(), "lost") {
				t.Errorf("it said %s", said.String())
			}
			if err == nil && s.walked < 32*uint64(w.objects) {
				t.Errorf("the walk is said to have taken %d bytes", s.walked)
			}
		})
	}
}

// TestSnapshotFileAgain: the file is that of the second walk.
func TestSnapshotFileAgain(t *testing.T) {
	w := &walkingRuntime{objects: 20_000, loses: 1}
	var said strings.Builder
	p, target := snapshotStage(t, fakeruntime.Config{Version: "11.0.1", Trace: w.trace}, &said)
	plan := attach.PlanSnapshot(target, &gclog.Process{}, nil)
	plan.Need, plan.BufferMB = 1, 1
	s := &plannedSnapshot{target: target, plan: plan, o: snapshotOptions{timeout: session.DefaultTimeout}}
	path := filepath.Join(t.TempDir(), "x.gcdump")
	if err := p.snapshotFile(t.Context(), s, path, true); err != nil {
		t.Fatal(err)
	}
	if want := path + ": 20000 objects in "; !strings.Contains(said.String(), want) || !strings.Contains(said.String(), "no event of the walk lost") {
		t.Errorf("it said %s, want %s", said.String(), want)
	}
}
