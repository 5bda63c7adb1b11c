package daemon

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gclog/gclog/internal/attach"
	"github.com/gclog/gclog/internal/fakeruntime"
)

// TestStop: the shutdown takes no longer than what it has to wait for, and at most five seconds;
// what is not written in time is reported as a gap, and nothing else is.
func TestStop(t *testing.T) {
	const ms = time.Millisecond
	// busy returns an actor whose outputs are busy for this long after the shutdown starts.
	busy := func(s *stage, d time.Duration) *actor {
		a := s.enter(fakeruntime.Config{Speed: 1})
		time.Sleep(100 * ms)
		const all = time.Minute // until everything is sent
		time.AfterFunc(all+d, s.stall(a))
		time.Sleep(all)
		return a
	}
	for _, c := range []struct {
		name  string
		begin func(*stage) *actor // nil: there is no process
		takes time.Duration
		gcs   int // collections that are reported; -1: none
		gaps  int // because there was no time
		says  string
	}{
		{"nobody", func(*stage) *actor { return nil }, 0, -1, 0, `"message":"gclog daemon stopped: no sessions left"`},
		{"on", func(s *stage) *actor { return s.enter(fakeruntime.Config{}) }, 0, collections, 0, `"processes":1,"message":"ending"`},
		{"silent", func(s *stage) *actor { return s.enter(fakeruntime.Config{Silent: true}) }, time.Second, -1, 0, "no sessions left"},
		{"opening", func(s *stage) *actor {
			return s.enter(fakeruntime.Config{Meet: func(command uint16) fakeruntime.Fault {
				return fakeruntime.Fault{Silent: command>>8 == 2}
			}})
		}, 2 * time.Second, -1, 0, "no sessions left"}, // a process whose session may have started is waited for one more second
		{
			"deaf", func(s *stage) *actor { return s.enter(fakeruntime.Config{Deaf: true}) }, 2 * time.Second, collections, 1,
			` did not end the session in time: its last events may be missing"}`,
		},
		{"waiting", func(s *stage) *actor {
			a := s.enter(fakeruntime.Config{Refuse: 0x80131387})
			time.Sleep(100 * ms)
			return a
		}, 0, -1, 0, "no sessions left"},
		{"busy until it is cut", func(s *stage) *actor { return busy(s, 2499*ms) }, 2499 * ms, collections, 0, "no sessions left"},
		{"busy until it is hurried", func(s *stage) *actor { return busy(s, 2501*ms) }, 2501 * ms, 0, 1, "no sessions left"},
		{
			"busy for long", func(s *stage) *actor { return busy(s, 6*time.Second) }, leaveTime, -1, 0,
			` is complete: its last collections may be missing"}`,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			play(t, "", func(s *stage) {
				a := c.begin(s)
				s.do(func() {})
				s.said.take()
				began := time.Now()
				s.stop()
				<-s.ended
				if took := time.Since(began); took != c.takes || s.err != nil {
					t.Errorf("it took %v, want %v; error %v", took, c.takes, s.err)
				}
				s.says(c.says)
				if s.ready.Load() {
					t.Error("it is still ready")
				}
				if c.gcs < 0 {
					return
				}
				n := s.actions(a)
				if n["gc"] < c.gcs || c.gcs == 0 && n["gc"] > collections/2 || n["gc-gap stopped"] != c.gaps || n["gc-session-end"] != 1 {
					t.Errorf("it tells %v, want %d collections and %d gaps", n, c.gcs, c.gaps)
				}
			})
		})
	}
}

// TestStopFirst: nothing starts after the shutdown has started.
func TestStopFirst(t *testing.T) {
	play(t, "", func(s *stage) {
		silent, late := s.enter(fakeruntime.Config{Silent: true}), s.cue(fakeruntime.Config{})
		s.stop()
		s.find(late)
		s.do(func() {
			if s.of(late) != nil || s.of(silent) == nil {
				t.Errorf("the processes are %v", s.processes)
			}
			s.reportReady()
		})
		if s.sweeps.Load() {
			t.Error("it still sweeps")
		}
		if s.ready.Load() {
			t.Error("it is ready again")
		}
	})
}

// TestHurry: a session that starts when there is no time left is told to hurry too.
func TestHurry(t *testing.T) {
	play(t, "", func(s *stage) {
		before := s.enter(fakeruntime.Config{Deaf: true})
		s.do(func() { s.hasten((*attach.Session).Cut) })
		after := s.enter(fakeruntime.Config{Deaf: true})
		s.do(func() {
			for _, a := range []*actor{before, after} {
				if p := s.of(a); p != nil && len(p.live) > 0 {
					t.Errorf("the process has %d sessions", len(p.live))
				}
			}
		})
	})
}

// TestLoopDefect: a panic in the loop is reported and counted, and the loop continues.
func TestLoopDefect(t *testing.T) {
	play(t, "", func(s *stage) {
		s.traps = 2
		s.do(func() {})
		s.discovery.sweeper.failed(&attach.DefectError{Value: "trap one"})
		s.post(func() { panic("trap two") })
		s.do(func() {
			if n := s.Daemon.status().Defects; n != 2 {
				t.Errorf("%d defects are counted", n)
			}
		})
		synctest.Wait()
		if said := s.said.take(); strings.Count(said, `"stack":"`) != 2 || !strings.Contains(said, "trap one") || !strings.Contains(said, "trap two") || strings.Contains(said, `"pid":`) {
			t.Errorf("it says %s", said)
		}
	})
}
