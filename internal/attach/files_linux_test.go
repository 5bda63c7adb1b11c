package attach

import (
	"bytes"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/internal/fakeruntime"
	"github.com/gclog/gclog/internal/host"
	"github.com/gclog/gclog/internal/testing/syscalls"
)

// TestFilesClosed: whatever looks at a process leaves no files open at its end, and has no more
// open before than it declares.
func TestFilesClosed(t *testing.T) {
	play := func(x *stage) { x.collect(1); x.untilStopped() }
	for name, look := range map[string]func(*testing.T, *host.Target){
		"a log": func(t *testing.T, target *host.Target) {
			var out bytes.Buffer
			s := openOn(t, target, nil)
			specs, opener := jsonTo(t, &out)
			l := &Log{Outputs: specs, Opener: opener}
			time.AfterFunc(time.Second, s.Ask)
			_, err := l.Write(s, &gclog.Process{ID: 1}, nil)
			if err != nil {
				t.Error(err)
			}
		},
		"an observer": func(t *testing.T, target *host.Target) {
			s := openOn(t, target, nil)
			time.AfterFunc(time.Second, s.Ask)
			_, err := s.Observe(&gclog.Process{ID: 1}, func(*gclog.Process) gclog.Observer { return gclog.Tee() })
			if err != nil {
				t.Error(err)
			}
		},
		"nobody":       func(t *testing.T, target *host.Target) { openOn(t, target, nil).discard() },
		"the settings": func(t *testing.T, target *host.Target) { Configuration(t.Context(), target, &gclog.Process{}, true) },
	} {
		t.Run(name, func(t *testing.T) {
			syscalls.LeavesNothing(t, os.Getpid(), func() {
				synctest.Test(t, func(t *testing.T) {
					target := onStage(t, fakeruntime.Config{Version: "8.0.1"}, play)
					target.Environ = map[string]string{}
					look(t, target)
				})
			})
		})
	}
}

// memories is an Observer that keeps the memory of each record.
type memories struct {
	list []gclog.Memory
}

// Observe takes a record.
func (m *memories) Observe(r gclog.Record) {
	if d, ok := r.(*gclog.GCDetails); ok {
		m.list = append(m.list, d.Memory)
	}
}

// TestMemoryOfRecords: records contain the memory of the process at that time, but not that of its
// group if the process cannot be seen: that may belong to other processes.
func TestMemoryOfRecords(t *testing.T) {
	for name, seen := range map[string]bool{"seen": true, "gone": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var m memories
				var out bytes.Buffer
				o := lightOptions(t, onStage(t, fakeruntime.Config{Version: "8.0.1"}, everySecond), &out)
				o.Count, o.Observe = 2, observedBy(m.Observe)
				if !seen {
					o.Target.PID = 1 << 30
				}
				if _, err := Run(t.Context(), o); err != nil {
					t.Error(err)
				}
				for i, got := range m.list {
					at := time.Duration(got.At)
					if !seen && got != (gclog.Memory{}) || seen && (got.Resident < 1<<20 || !about(at, time.Duration(i+1)*time.Second)) {
						t.Errorf("record %d has %+v", i, got)
					}
				}
				if len(m.list) != 2 {
					t.Errorf("%d records", len(m.list))
				}
			})
		})
	}
}
