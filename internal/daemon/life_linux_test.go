package daemon

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/internal/attach"
	"github.com/gclog/gclog/internal/fakeruntime"
	"github.com/gclog/gclog/internal/host"
	"github.com/rs/zerolog"
)

// TestLife: a process is logged from when it is found until it ends; how it ended is reported, and
// then it is forgotten.
func TestLife(t *testing.T) {
	for _, c := range []struct {
		name string
		end  func(*testing.T, *actor)
		says string
	}{
		{"exits", func(t *testing.T, a *actor) { a.exit(t, 0) }, `{"level":"info","pid":%d,"service":"actor","reason":"exited","exit_code":0,"gcs":142,"message":"process ended"}`},
		{"fails", func(t *testing.T, a *actor) { a.exit(t, 3) }, `{"level":"warn","pid":%d,"service":"actor","reason":"exited","exit_code":3,"gcs":142,"message":"process ended"}`},
		{"killed", func(t *testing.T, a *actor) { a.kill(t) }, `{"level":"warn","pid":%d,"service":"actor","reason":"killed","exit_signal":9,"gcs":142,"message":"process ended"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			play(t, "", func(s *stage) {
				a := s.enter(fakeruntime.Config{})
				s.says(fmt.Sprintf(`{"level":"info","pid":%d,"service":"actor","process":"actor","runtime":"8.0.0","session_level":"normal","message":"session started"}`, a.target.PID))
				time.Sleep(time.Minute)
				if n := a.runtime.Requests(); n != 5 { // who it is, and for a session in the four forms that it may know
					t.Errorf("it was asked %d times", n)
				}
				got := s.shows(a)
				file := filepath.Join(s.dir, fmt.Sprintf("%d.json", a.target.PID))
				info, err := os.Stat(file)
				if err != nil {
					t.Fatal(err)
				}
				if want := (Status{
					PID: a.target.PID, Process: "actor", Service: "actor", Runtime: "8.0.0", EntityID: fmt.Sprintf("0000cefa-0000-0000-0000-%08x0000", a.target.PID),
					User: a.target.User, State: "on", Level: "normal", Since: epoch, GCs: collections, Read: int64(len(recording(t))) - 1,
					Written: info.Size(), LastGC: epoch, LastFull: &attach.FullGC{Time: epoch, Heap: 4_013_240, Blocking: true, Pause: 1_352_117}, Outputs: []string{file},
				}); !sameStatus(got, want) {
					t.Errorf("its status is\n%+v, want\n%+v", got, want)
				}
				p := s.process(a)
				c.end(t, a)
				s.expect(a, "")
				if p.ctx.Err() == nil {
					t.Error("what was asked for it goes on")
				}
				s.says(fmt.Sprintf(c.says, a.target.PID))
				if n := s.actions(a); n["gc"] != collections || n["gc-session-end"] != 1 {
					t.Errorf("it tells %v", n)
				}
			})
		})
	}
}

func sameStatus(a, b Status) bool {
	a.Since, b.Since, a.LastGC, b.LastGC = a.Since.UTC(), b.Since.UTC(), a.LastGC.UTC(), b.LastGC.UTC()
	for _, s := range []*Status{&a, &b} {
		if s.LastFull != nil {
			full := *s.LastFull
			full.Time = full.Time.UTC()
			s.LastFull = &full
		}
	}
	return reflect.DeepEqual(a, b)
}

// TestStatusLog: the status of each process that is not excluded is written to the daemon's own
// log, and how many are excluded.
func TestStatusLog(t *testing.T) {
	play(t, `services: [{match: {pid: "0"}, name: x}]
`, func(s *stage) {
		ignored := s.cue(fakeruntime.Config{}) // usually the first in the list
		on, refusing := s.enter(fakeruntime.Config{}), s.enter(fakeruntime.Config{Refuse: 7})
		ignored.target.Environ = map[string]string{"GCLOG_IGNORE": "1"}
		s.find(ignored)
		s.do(func() {
			all := s.Daemon.status()
			for i, p := range all.Processes {
				if i > 0 && p.PID <= all.Processes[i-1].PID {
					t.Errorf("the pids are not in order: %+v", all.Processes)
				}
			}
			s.discovery.unreachable = []Status{{PID: 9, Process: "b"}, {PID: 5, Process: "a"}}
			if all := s.Daemon.status(); len(all.Unreachable) != 2 || all.Unreachable[0].PID != 5 {
				t.Errorf("unreachable are %+v", all.Unreachable)
			}
		})
		time.Sleep(100 * time.Millisecond)
		s.says()
		s.status <- struct{}{}
		synctest.Wait()
		said := s.said.take()
		if got := s.shows(refusing); got.Level != "" || !got.Since.IsZero() || !got.LastGC.IsZero() || got.Outputs != nil || got.Attempts != 1 {
			t.Errorf("one without a session is %+v", got)
		}
		for _, want := range []string{
			fmt.Sprintf(`"pid":%d,"process":"actor","service":"actor","state":"on","why":"","session_level":"normal","gcs":142,"lost_events":0,"written_bytes":`, on.target.PID),
			fmt.Sprintf(`"pid":%d,"process":"actor","service":"actor","state":"waiting","why":"explained: CollectTracing`, refusing.target.PID),
			`"message":"processes excluded: gclog ctl status lists them"`,
		} {
			if !strings.Contains(said, want) {
				t.Errorf("it does not say %s, but\n%s", want, said)
			}
		}
		if strings.Contains(said, fmt.Sprint(ignored.target.PID)) || strings.Contains(said, "stuck") {
			t.Errorf("it says\n%s", said)
		}
		var excluded struct{ Processes int }
		for line := range strings.Lines(said) {
			if strings.Contains(line, "excluded: ") {
				parse(t, line, &excluded)
			}
		}
		if n := s.count(stateExcluded); excluded.Processes != n || n == 0 {
			t.Errorf("it says %d are excluded, of %d", excluded.Processes, n)
		}
	})
}

// TestLeftAlone: a process that must not be logged whatever it answers is sent no requests, and no
// process's environment is kept.
func TestLeftAlone(t *testing.T) {
	play(t, `services: [{match: {pid: "0"}, name: x}]
`, func(s *stage) {
		ignored, other, on := s.cue(fakeruntime.Config{}), s.cue(fakeruntime.Config{}), s.cue(fakeruntime.Config{})
		ignored.target.Environ = map[string]string{"GCLOG_IGNORE": "1"}
		other.target.CommandLine = []string{"another program"}
		on.target.Environ = map[string]string{"OTEL_SERVICE_NAME": "shop"}
		for a, want := range map[*actor]Status{
			ignored: {State: "excluded", Why: "it was started with GCLOG_IGNORE=1"},
			other:   {State: "excluded", Why: "not in discovery.include (" + s.file() + ":2)"},
			on:      {State: "on", Service: "shop"},
		} {
			s.find(a)
			if got := s.shows(a); got.State != want.State || got.Why != want.Why || got.Service != want.Service {
				t.Errorf("it is %+v, want %+v", got, want)
			}
			s.do(func() {
				if x := s.of(a).target; x.Environ != nil || x.CommandLine != nil {
					t.Errorf("it keeps %v and %v", x.Environ, x.CommandLine)
				}
			})
			if n := a.runtime.Requests(); (n == 0) != (a != on) {
				t.Errorf("%s was asked %d times", want.State, n)
			}
		}
	})
}

// TestFoundAgain: a process that is found once more stays as it is, and one that is ending is found
// again after that.
func TestFoundAgain(t *testing.T) {
	play(t, "", func(s *stage) {
		a := s.enter(fakeruntime.Config{Deaf: true})
		s.find(a)
		s.do(func() {
			if len(s.of(a).live) != 1 || s.discovery.sweeper.offered[a.key()] {
				t.Error("it is taken for another one")
			}
			s.gone(a.key())
			if s.of(a).sup.gone || !s.discovery.sweeper.offered[a.key()] {
				t.Error("a process that was out of sight is taken for one that has ended")
			}
			clear(s.discovery.sweeper.offered)
			s.of(a).step(event{kind: eventGone})
		})
		s.find(a)
		time.Sleep(time.Minute)
		s.expect(a, "on")
		s.exclude(true)
		s.expect(a, "closing")
		s.find(a)
		s.do(func() {
			if !s.discovery.sweeper.offered[a.key()] {
				t.Error("it is not found again behind its session")
			}
		})
	})
}

// TestKeptOpen: a process has exited, and another one keeps its end of the connection open: the
// session ends five seconds later.
func TestKeptOpen(t *testing.T) {
	play(t, "", func(s *stage) {
		a := s.enter(fakeruntime.Config{Deaf: true})
		if err := a.cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		a.await(t)
		s.do(func() { s.gone(a.key()) })
		time.Sleep(5*time.Second - time.Millisecond)
		s.expect(a, "on")
		time.Sleep(2 * time.Millisecond)
		s.expect(a, "")
		s.says(`"reason":"killed"`)
	})
}

// TestReplaced: a process that runs another program now is forgotten, and found again.
func TestReplaced(t *testing.T) {
	play(t, "", func(s *stage) {
		same, another := s.enter(fakeruntime.Config{}), s.enter(fakeruntime.Config{})
		same.become(t, func(*fakeruntime.Config) {})
		another.become(t, func(c *fakeruntime.Config) { c.Instance++ })
		time.Sleep(10 * time.Second) // the sessions have ended, and the next attempt was made
		s.expect(same, "on")
		s.expect(another, "")
		s.do(func() {
			if s.discovery.sweeper.offered[same.key()] || !s.discovery.sweeper.offered[another.key()] {
				t.Errorf("to be found anew: %v", s.discovery.sweeper.offered)
			}
		})
		s.says("is still running, but its runtime ended the session", "explained: it now runs another program")
	})
}

// TestSameRuntime: two processes that claim to be the same runtime are both logged, and that is
// reported once for each; an excluded one is ignored.
func TestSameRuntime(t *testing.T) {
	play(t, "", func(s *stage) {
		first := s.enter(fakeruntime.Config{})
		s.says()
		second := s.enter(fakeruntime.Config{CookieOf: first.target.PID})
		for _, a := range []*actor{first, second} {
			s.expect(a, "on")
		}
		s.says(fmt.Sprintf(`"pid":%d,"process":"actor","message":"process %[1]d reports the runtime cookie of process %d (%s): one of them reports a false cookie; both are logged"`,
			second.target.PID, first.target.PID, s.shows(first).EntityID))
		s.do(func() { s.of(first).sup.state = stateExcluded; s.of(second).sup.state = stateExcluded })
		s.enter(fakeruntime.Config{CookieOf: first.target.PID})
		if said := s.said.take(); strings.Contains(said, "reports the runtime cookie") {
			t.Errorf("it says %s", said)
		}
		s.do(func() { s.of(first).sup.state = stateOn; s.of(second).sup.state = stateOn })
	})
}

// TestDefects: a panic about a process, wherever it happens, is reported and counted, and that
// process is given up until it gets another chance.
func TestDefects(t *testing.T) {
	for name, c := range map[string]struct {
		trap func(*stage, *actor)
		then string // after the hour
	}{
		"explaining": {func(s *stage, a *actor) {
			s.explain = func(*host.Target, error) { panic("a trap") }
			a.become(s.t, func(c *fakeruntime.Config) { c.Hangup = true })
			s.find(a)
			time.Sleep(time.Second)
		}, ""},
		"in the loop": {func(s *stage, a *actor) {
			s.find(a)
			s.process(a).post(func() { panic("a trap") })
		}, "on"},
		"between two sessions": {func(s *stage, a *actor) {
			s.find(a)
			a.become(s.t, func(c *fakeruntime.Config) { c.Hangup = true })
			time.Sleep(3100 * time.Millisecond) // until it is clear that the process has not exited
			s.expect(a, "waiting")
			s.do(func() { s.of(a).request(func(*attach.Log) { panic("a trap") }) })
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			play(t, "", func(s *stage) {
				s.traps = 1
				a := s.cue(fakeruntime.Config{})
				c.trap(s, a)
				got := s.shows(a)
				if got.State != "given-up" || got.Defects != 1 || got.Why != "a defect of gclog, please report it: a trap" {
					t.Errorf("it is %+v", got)
				}
				s.says(fmt.Sprintf(`"pid":%d,"stack":`, a.target.PID))
				s.do(func() {
					if n := s.Daemon.status().Defects; n != 1 || len(s.of(a).live) > 0 {
						t.Errorf("%d defects are counted, %d sessions are left", n, len(s.of(a).live))
					}
				})
				s.explain = nil
				a.become(t, func(c *fakeruntime.Config) { c.Hangup = false })
				time.Sleep(chanceEvery + tick)
				s.expect(a, c.then)
				s.do(func() {
					if s.discovery.sweeper.offered[a.key()] != (c.then == "") {
						t.Error("it is found anew, or not")
					}
				})
			})
		})
	}
}

// TestDefectWriting: a panic while a session is written ends that session, is reported and counted,
// and the next session continues.
func TestDefectWriting(t *testing.T) {
	play(t, "", func(s *stage) {
		s.traps = 1
		a := s.enter(fakeruntime.Config{})
		s.do(func() { s.of(a).request(func(*attach.Log) { panic("a trap") }) })
		time.Sleep(10 * time.Second)
		if got := s.shows(a); got.State != "on" || got.Defects != 1 {
			t.Errorf("it is %+v", got)
		}
	})
}

// TestDefectOpening: a session that opens after its process was given up because of a panic is
// ended.
func TestDefectOpening(t *testing.T) {
	play(t, "", func(s *stage) {
		s.traps = 1
		wait := make(chan struct{})
		a := s.enter(fakeruntime.Config{Deaf: true, Meet: func(command uint16) (f fakeruntime.Fault) {
			if command>>8 == 2 {
				f.Wait = wait
			}
			return f
		}})
		s.expect(a, "opening")
		s.process(a).post(func() { panic("a trap") })
		close(wait)
		time.Sleep(10 * time.Second)
		s.expect(a, "given-up")
		if said := s.said.take(); strings.Contains(said, "session started") {
			t.Errorf("it says %s", said)
		}
		s.do(func() {
			if n := len(s.of(a).live); n != 0 || a.runtime.Sessions() != 0 {
				t.Errorf("%d sessions are left, %d in the runtime", n, a.runtime.Sessions())
			}
		})
	})
}

// TestSuspended: a process whose runtime is suspended is reported as such, and logged as soon as it
// is resumed; it and the daemon can end in the meantime.
func TestSuspended(t *testing.T) {
	for name, c := range map[string]struct {
		then func(*stage, *actor)
		want string
	}{
		"goes on": {func(s *stage, a *actor) { a.name(s.t, ".NET Finalizer") }, "on"},
		"exits":   {func(s *stage, a *actor) { a.exit(s.t, 0) }, ""},
		"is gone": {func(s *stage, a *actor) { a.exit(s.t, 0); s.do(func() { s.gone(a.key()) }) }, ""},
		"stop":    {func(s *stage, a *actor) { s.stop(); <-s.ended }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			play(t, "", func(s *stage) {
				a := s.cue(fakeruntime.Config{})
				a.name(t, ".NET EventPipe")
				s.find(a)
				s.expect(a, "identifying")
				time.Sleep(3 * time.Second)
				if got := s.shows(a); got.State != "suspended" || !strings.Contains(got.Why, "is still starting") || a.runtime.Requests() != 0 {
					t.Errorf("it is %+v, and was asked %d times", got, a.runtime.Requests())
				}
				s.says(`{"level":"info","pid":`, "is still starting")
				began := time.Now()
				c.then(s, a)
				if name == "stop" {
					if took := time.Since(began); took != 0 {
						t.Errorf("the end took %v", took)
					}
					return
				}
				time.Sleep(3 * time.Second)
				if name == "exits" { // nobody has reported it yet
					s.do(func() { s.gone(a.key()) })
				}
				s.expect(a, c.want)
			})
		})
	}
}

// TestOpenTime: opening a session takes at most ten seconds, and one more for an answer that is on
// its way.
func TestOpenTime(t *testing.T) {
	play(t, "", func(s *stage) {
		a := s.enter(fakeruntime.Config{Delay: 4500 * time.Millisecond}) // it knows the third form of the request
		time.Sleep(4500*time.Millisecond + 11*time.Second - time.Millisecond)
		s.expect(a, "opening")
		time.Sleep(2 * time.Millisecond)
		s.expect(a, "waiting")
	})
}

// TestNoOutput: a process that fits no output is not logged, and that is reported as the reason.
func TestNoOutput(t *testing.T) {
	play(t, "", func(s *stage) {
		a := s.enter(fakeruntime.Config{})
		s.change(`%p.json"`, `%p.json", only: [{service: another}]`)
		if got := s.shows(a); got.State != "excluded" || got.Why != "no output matches it" {
			t.Errorf("it is %+v", got)
		}
	})
}

// TestOldRuntime: a runtime that cannot report who it is is logged, even in another session.
func TestOldRuntime(t *testing.T) {
	play(t, "", func(s *stage) {
		a := s.cue(fakeruntime.Config{})
		old := func(c *fakeruntime.Config) { c.Version = "" }
		a.become(t, old)
		s.find(a)
		if got := s.shows(a); got.State != "on" || got.EntityID != "" {
			t.Errorf("it is %+v", got)
		}
		a.become(t, old)
		time.Sleep(10 * time.Second)
		s.expect(a, "on")
		another := s.cue(fakeruntime.Config{})
		another.become(t, old)
		s.find(another)
		s.expect(another, "on")
		if said := s.said.take(); strings.Contains(said, "reports the runtime cookie") {
			t.Errorf("it says %s", said)
		}
	})
}

// TestLostOutput: the failure of an output is reported, and the process is still logged.
func TestLostOutput(t *testing.T) {
	play(t, "", func(s *stage) {
		s.change("%p.json", "folder/%p.json")
		a := s.enter(fakeruntime.Config{})
		s.said.take()
		folder := filepath.Join(s.dir, "folder")
		if err := errors.Join(os.RemoveAll(folder), os.WriteFile(folder, nil, 0o600)); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		a.exit(t, 0)
		s.expect(a, "")
		s.says(`{"level":"warn","message":"records are being dropped: `, "process ended")
	})
}

// TestSayEnded: a process that was killed, or has failed, causes a warning.
func TestSayEnded(t *testing.T) {
	e := newEntrance(1)
	var said lines
	e.log = zerolog.New(&said)
	e.find(7, 0)
	p := e.processes[key{pid: 7, start: 1}]
	p.progress.GCs.Store(3)
	for _, c := range []struct {
		end  gclog.End
		want string
	}{
		{gclog.End{Reason: gclog.EndExited, HasCode: true}, `{"level":"info","pid":7,"service":"","reason":"exited","exit_code":0,"gcs":3,"message":"process ended"}`},
		{gclog.End{Reason: gclog.EndExited}, `{"level":"info","pid":7,"service":"","reason":"exited","gcs":3,"message":"process ended"}`},
		{gclog.End{Reason: gclog.EndExited, HasCode: true, ExitCode: 1}, `{"level":"warn","pid":7,"service":"","reason":"exited","exit_code":1,"gcs":3,"message":"process ended"}`},
		{gclog.End{Reason: gclog.EndKilled, Signal: 1}, `{"level":"warn","pid":7,"service":"","reason":"killed","exit_signal":1,"gcs":3,"message":"process ended"}`},
		{gclog.End{Reason: gclog.EndOOMKilled, Signal: 9}, `{"level":"warn","pid":7,"service":"","reason":"oom-killed","exit_signal":9,"gcs":3,"message":"process ended"}`},
		{gclog.End{Reason: gclog.EndUnseen}, `{"level":"info","pid":7,"service":"","reason":"ended","gcs":3,"message":"process ended"}`},
	} {
		p.sayEnded(c.end)
		if got := strings.TrimSpace(said.take()); got != c.want {
			t.Errorf("it says %s, want %s", got, c.want)
		}
	}
}

// TestNoPlace: a process that was given up after it has had a session gets another chance when
// there is a place for it.
func TestNoPlace(t *testing.T) {
	play(t, "", func(s *stage) {
		s.change("interval: 1000h", "interval: 1000h, max_processes: 1")
		a := s.enter(fakeruntime.Config{})
		a.become(t, func(c *fakeruntime.Config) { c.Refuse = 7 })
		for s.shows(a).State != "given-up" {
			time.Sleep(time.Minute)
		}
		a.become(t, func(c *fakeruntime.Config) { c.Refuse = 0 })
		b := s.enter(fakeruntime.Config{})
		s.expect(b, "on")
		s.change("interval: 1000h", "interval: 999h")
		s.expect(a, "given-up")
		b.exit(t, 0)
		s.expect(b, "")
		s.change("interval: 999h", "interval: 1000h")
		s.expect(a, "on")
	})
}

// TestVerdictSuspended: a process whose runtime is suspended is sent no requests, and that is the
// reason why it would not be logged yet.
func TestVerdictSuspended(t *testing.T) {
	play(t, "", func(s *stage) {
		a := s.cue(fakeruntime.Config{})
		a.name(t, ".NET EventPipe")
		began := time.Now()
		v := s.o.verdict(s.t.Context(), &host.Listed{Process: a.target.Process})
		if took := time.Since(began); v.Why != "is still starting" || v.PID != a.target.PID || v.Process != "actor" || v.Level != "" || took != time.Second {
			t.Errorf("after %v it is %+v", took, v)
		}
	})
}
