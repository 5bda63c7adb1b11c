package daemon

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gclog/gclog/internal/attach"
	"github.com/gclog/gclog/internal/config"
	"github.com/gclog/gclog/internal/fakeruntime"
	"github.com/gclog/gclog/internal/testing/syscalls"
	"golang.org/x/sys/unix"
)

// times returns when an actor's records with an action were written, since the start.
func (s *stage) times(a *actor, action string) (list []time.Duration) {
	s.t.Helper()
	for _, r := range s.wrote(a) {
		if text(r, "event", "action") != action {
			continue
		}
		at, err := time.Parse(time.RFC3339Nano, text(r, "@timestamp"))
		if err != nil {
			s.t.Fatal(err)
		}
		list = append(list, at.Sub(epoch))
	}
	return list
}

// TestSummaries: every process that has a session writes a summary at each multiple of the
// interval, and one at its end; another interval takes effect when it is read.
func TestSummaries(t *testing.T) {
	play(t, "summary: 30s\n", func(s *stage) {
		quiet, late := s.enter(fakeruntime.Config{}), s.cue(fakeruntime.Config{})
		time.Sleep(40 * time.Second)
		s.find(late)
		time.Sleep(45 * time.Second)
		s.change("summary: 30s", "summary: 1m")
		time.Sleep(time.Minute)
		s.change("summary: 1m", "summary: 0s")
		time.Sleep(5 * time.Minute)
		s.change("summary: 0s", "summary: 5m")
		time.Sleep(4 * time.Minute)
		quiet.exit(t, 0)
		s.do(func() {})
		for _, c := range []struct {
			a    *actor
			want string
		}{
			{quiet, "[30s 1m0s 2m0s 10m0s 11m25s]"},
			{late, "[1m0s 2m0s 10m0s]"},
		} {
			if got := fmt.Sprint(s.times(c.a, "gc-summary")); got != c.want {
				t.Errorf("summaries at %s, want %s", got, c.want)
			}
		}
	})
}

// TestSummaryOfSlowOutput: a process whose outputs lag writes no summaries until they have caught
// up.
func TestSummaryOfSlowOutput(t *testing.T) {
	play(t, "summary: 30s\n", func(s *stage) {
		a := s.enter(fakeruntime.Config{})
		time.Sleep(time.Second)
		goOn := s.stall(a)
		done := 0
		s.do(func() {
			for range 2 * sessionsMost { // more than it has room for
				s.of(a).request(func(*attach.Log) { done++ })
			}
		})
		time.Sleep(10 * time.Minute)
		goOn()
		time.Sleep(25 * time.Second)
		synctest.Wait()
		if got := fmt.Sprint(s.times(a, "gc-summary")); got != "[]" || done != 2*sessionsMost {
			t.Errorf("summaries at %s, %d requests are done", got, done)
		}
		time.Sleep(10 * time.Second)
		if got := fmt.Sprint(s.times(a, "gc-summary")); got != "[10m30s]" {
			t.Errorf("summaries at %s", got)
		}
	})
}

// TestFollowClock: when the clock of the host is set, records have the new time from the next tick
// on; a clock that only drifts is ignored.
func TestFollowClock(t *testing.T) {
	for _, c := range []struct{ set, step time.Duration }{
		{3 * time.Second, 3 * time.Second},
		{-3 * time.Second, -3 * time.Second},
		{200 * time.Millisecond, 200 * time.Millisecond},
		{-200 * time.Millisecond, -200 * time.Millisecond},
		{200*time.Millisecond - 1, 0},
		{1 - 200*time.Millisecond, 0},
	} {
		t.Run(c.set.String(), func(t *testing.T) {
			play(t, "", func(s *stage) {
				a, b := s.enter(fakeruntime.Config{}), s.enter(fakeruntime.Config{})
				time.Sleep(time.Minute + time.Second)
				s.said.take()
				s.do(func() { s.ahead += c.set })
				time.Sleep(time.Minute)
				said := s.said.take()
				if n, want := strings.Count(said, "the host's clock was set"), min(1, int(c.step.Abs())); n != want {
					t.Errorf("it is said %d times: %s", n, said)
				}
				for _, a := range []*actor{a, b} {
					a.exit(t, 0)
					s.do(func() {})
					if at := s.times(a, "gc-session-end"); len(at) != 1 || at[0] != 2*time.Minute+time.Second+c.step {
						t.Errorf("the end is at %v", at)
					}
				}
			})
		})
	}
}

// TestGoOn: a process that was stopped and is resumed is asked again at the next tick, whether it
// has a long wait ahead or was given up; one that is still stopped, or never was, is not.
func TestGoOn(t *testing.T) {
	for _, attempts := range []int{maxAttempts - 2, maxAttempts} {
		t.Run(strconv.Itoa(attempts), func(t *testing.T) {
			play(t, "", func(s *stage) {
				goesOn, stays, never := s.cue(fakeruntime.Config{Silent: true}), s.cue(fakeruntime.Config{Silent: true}), s.cue(fakeruntime.Config{Silent: true})
				// One of them has had a session, so that it continues where it was.
				had := s.enter(fakeruntime.Config{})
				stopped := []*actor{goesOn, stays, had}
				for _, a := range stopped {
					if err := a.cmd.Process.Signal(unix.SIGSTOP); err != nil {
						t.Fatal(err)
					}
					a.awaitState(t, "T")
				}
				had.become(t, func(c *fakeruntime.Config) { c.Silent = true })
				all := []*actor{goesOn, stays, never, had}
				for _, a := range all {
					s.find(a)
				}
				since := map[*actor]time.Time{} // since when it has made this many attempts
				for len(since) < len(all) {
					time.Sleep(time.Second)
					for _, a := range all {
						if !since[a].IsZero() || s.shows(a).Attempts < attempts {
							continue
						}
						since[a] = time.Now()
						if a == goesOn || a == had { // the signal takes effect at once, and the runtime answers
							a.become(t, func(c *fakeruntime.Config) { c.Silent = false })
							if err := a.cmd.Process.Signal(unix.SIGCONT); err != nil {
								t.Fatal(err)
							}
							a.awaitState(t, "S")
							time.Sleep(10*time.Second + time.Millisecond)
							if got := s.shows(a); a == had && got.State != "on" || a == goesOn && got.State != "on" && got.State != "" {
								t.Errorf("ten seconds after it goes on it is %s", got.State)
							}
						}
					}
				}
				time.Sleep(time.Minute)
				s.do(func() {
					for a, want := range map[*actor]bool{goesOn: attempts == maxAttempts, stays: false, never: false, had: false} {
						if s.discovery.sweeper.offered[a.key()] != want {
							t.Errorf("found anew is %v, want %v", !want, want)
						}
					}
				})
				if attempts == maxAttempts {
					for _, a := range []*actor{stays, never} {
						s.expect(a, "given-up")
						if n := a.runtime.Requests(); n != maxAttempts {
							t.Errorf("it was asked %d times", n)
						}
					}
				}
			})
		})
	}
}

// awaitState waits until a process is in a state of /proc.
func (a *actor) awaitState(t *testing.T, state string) {
	t.Helper()
	for range 1_000_000 {
		b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", a.target.PID))
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(b), ") "+state+" ") {
			return
		}
	}
	t.Fatalf("it is not %s", state)
}

// TestAnotherChance: a process that was given up gets another chance after an hour: one that had a
// session continues, one that never had one is found again.
func TestAnotherChance(t *testing.T) {
	play(t, "", func(s *stage) {
		never, had := s.enter(fakeruntime.Config{Refuse: 7}), s.enter(fakeruntime.Config{})
		had.become(t, func(c *fakeruntime.Config) { c.Refuse = 7 })
		for s.shows(never).State != "given-up" || s.shows(had).State != "given-up" {
			time.Sleep(time.Minute)
		}
		had.become(t, func(c *fakeruntime.Config) { c.Refuse = 0 })
		time.Sleep(chanceEvery / 2)
		s.do(func() {
			s.of(had).gaveUp, s.of(never).gaveUp = time.Now(), time.Now()
		})
		time.Sleep(chanceEvery - tick - time.Second)
		s.expect(never, "given-up")
		s.expect(had, "given-up")
		time.Sleep(2*tick + time.Second)
		s.expect(never, "")
		s.expect(had, "on")
		s.do(func() {
			if !s.discovery.sweeper.offered[never.key()] || s.discovery.sweeper.offered[had.key()] {
				t.Errorf("found anew are %v", s.discovery.sweeper.offered)
			}
			if p := s.of(had); !p.gaveUp.IsZero() {
				t.Errorf("it counts as given up since %v", p.gaveUp)
			}
		})
	})
}

// TestGivenUpOnce: the hour of a process that was given up starts then, whatever happens later.
func TestGivenUpOnce(t *testing.T) {
	play(t, "", func(s *stage) {
		a := s.enter(fakeruntime.Config{Refuse: 7})
		for s.shows(a).State != "given-up" {
			time.Sleep(time.Second)
		}
		var since time.Time
		s.do(func() { since = s.of(a).gaveUp })
		if ago := time.Since(since); ago < 0 || ago > time.Second {
			t.Errorf("it was given up %v ago", ago)
		}
		time.Sleep(time.Minute)
		s.find(a)
		s.do(func() {
			if !s.of(a).gaveUp.Equal(since) {
				t.Error("its hour begins anew")
			}
		})
	})
}

// TestRetention: files of processes that have exited are deleted, at most once a minute, and that
// is reported.
func TestRetention(t *testing.T) {
	for _, limit := range []string{"age: 1h", "total: 1000", "total: 1"} {
		t.Run(limit, func(t *testing.T) {
			play(t, "retention: {"+limit+"}\n", func(s *stage) {
				a := s.enter(fakeruntime.Config{})
				left := func(pid int) string {
					name := filepath.Join(s.dir, fmt.Sprintf("%d.json", pid))
					makeFile(t, name, 2000, 2*time.Hour)
					return name
				}
				gone := func(name string) bool {
					synctest.Wait()
					_, err := os.Stat(name)
					return err != nil
				}
				first := left(1)
				time.Sleep(10*time.Second - time.Millisecond)
				if gone(first) {
					t.Error("it is looked for files before the first tick")
				}
				time.Sleep(2 * time.Millisecond)
				if !gone(first) {
					t.Error("it is still there")
				}
				s.says(fmt.Sprintf(`{"level":"info","file":%q,"bytes":2000,"written":"`, first), `"message":"deleted a file of a process that has exited"`)
				second := left(2)
				time.Sleep(cleanEvery - tick)
				if gone(second) {
					t.Error("it is looked for files again at once")
				}
				time.Sleep(tick)
				if !gone(second) {
					t.Error("it is not looked for files again")
				}
				if gone(filepath.Join(s.dir, fmt.Sprintf("%d.json", a.target.PID))) {
					t.Error("the file of a process that is logged is gone")
				}
				third := left(3)
				s.do(func() { s.discovery.swept = false }) // as if the first sweep took long
				time.Sleep(2 * cleanEvery)
				if gone(third) {
					t.Error("files are deleted before it is known which processes have exited")
				}
				s.do(func() { s.discovery.swept, s.cleaner.busy = true, true }) // as if deleting took long
				time.Sleep(2 * cleanEvery)
				if gone(third) {
					t.Error("it is looked for files twice at the same time")
				}
			})
		})
	}
	play(t, "retention: {total: 0}\n", func(s *stage) {
		name := filepath.Join(s.dir, "1.json")
		makeFile(t, name, 40, 10000*time.Hour)
		time.Sleep(time.Hour)
		if _, err := os.Stat(name); err != nil {
			t.Errorf("without a limit: %v", err)
		}
		s.do(func() {
			if !s.cleaner.started.IsZero() {
				t.Error("it looks for files without a limit")
			}
		})
	})
}

// TestTick: work that is rarely due is done at each tick.
func TestTick(t *testing.T) {
	dir, err := os.MkdirTemp("", "gclog-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	l, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: filepath.Join(dir, "n"), Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	t.Setenv("NOTIFY_SOCKET", l.LocalAddr().String())
	status := func() (processes, logged, unreachable, stuck int) { // the latest status sent to systemd
		b := make([]byte, 1<<10)
		for logged < 0 || processes == 0 {
			n, err := l.Read(b)
			if err != nil {
				t.Fatal(err)
			}
			_, _ = fmt.Sscanf(string(b[:n]), "STATUS=%d processes, %d logged, %d not reachable, %d inspections stuck", &processes, &logged, &unreachable, &stuck)
		}
		return processes, logged, unreachable, stuck
	}
	play(t, "", func(s *stage) {
		s.enter(fakeruntime.Config{})
		s.enter(fakeruntime.Config{})
		s.enter(fakeruntime.Config{Silent: true})
		s.do(func() {
			s.discovery.unreachable = make([]Status, 7)
			s.queue.add(key{pid: 1}, &waiter{since: time.Now()})
			s.limiter.warn("x", "it is broken", nil)
			s.limiter.warn("x", "it is broken", nil)
		})
		time.Sleep(tick + time.Millisecond)
		known := 0
		s.do(func() {
			known = len(s.processes)
			if w := s.queue.remove(key{pid: 1}); w == nil || w.offers != 1 {
				t.Errorf("who waits for a place waits as %+v", w)
			}
		})
		if processes, logged, unreachable, stuck := status(); processes != known+7 || logged != 2 || unreachable != 7 || stuck != 0 {
			t.Errorf("systemd is told of %d processes (%d are known), %d logged, %d not reachable, %d stuck", processes, known, logged, unreachable, stuck)
		}
		_ = l.Close() // it has room for a few messages only
		s.said.take()
		time.Sleep(limitPeriod)
		s.says(`"left_out":1,"message":"it is broken"`)
	})
}

// TestGoOnTimer: an attempt that is made early, because the process was stopped and is resumed,
// replaces the one that was due.
func TestGoOnTimer(t *testing.T) {
	play(t, "", func(s *stage) {
		a := s.cue(fakeruntime.Config{Meet: func(uint16) fakeruntime.Fault { return fakeruntime.Fault{Hangup: true} }})
		if err := a.cmd.Process.Signal(unix.SIGSTOP); err != nil {
			t.Fatal(err)
		}
		a.awaitState(t, "T")
		s.do(func() {
			d := new(doubling)
			*d = doubling(4 * time.Second) // the waits are 8, 16, 32, 60 s and so on
			p := s.newProcess(a.key(), a.target, nil)
			s.processes[a.key()], p.sup.backOff = p, d
			p.step(event{kind: eventFound})
		})
		started := time.Now()
		attempts := func(at time.Duration, want int) {
			t.Helper()
			time.Sleep(time.Until(started.Add(at)))
			if n := s.shows(a).Attempts; n != want {
				t.Errorf("after %v there were %d attempts, want %d", at, n, want)
			}
		}
		attempts(25*time.Second, 3)
		attempts(39*time.Second, 3) // the next is due after 56 s
		if err := a.cmd.Process.Signal(unix.SIGCONT); err != nil {
			t.Fatal(err)
		}
		a.awaitState(t, "S")
		attempts(41*time.Second, 4)
		attempts(99*time.Second, 4)
		attempts(101*time.Second, 5)
	})
}

// TestCleanFiles: a file that is inspected or deleted is closed; opening a pipe does not block.
func TestCleanFiles(t *testing.T) {
	dir := t.TempDir()
	for i := range 50 {
		makeFile(t, filepath.Join(dir, fmt.Sprintf("%d.json", i)), 100, time.Hour)
	}
	if err := unix.Mkfifo(filepath.Join(dir, "99.json"), 0o600); err != nil {
		t.Fatal(err)
	}
	before := syscalls.OpenFiles(t, os.Getpid())
	list := leftFiles([]string{dir + "/%p.json"}, nil)
	if n := syscalls.OpenFiles(t, os.Getpid()); len(list) != 50 || n != before {
		t.Errorf("%d are left, %d files are open, before %d", len(list), n, before)
	}
	deleted := clean(list, config.Retention{Age: time.Minute}, time.Now())
	if n := syscalls.OpenFiles(t, os.Getpid()); len(deleted) != 50 || n != before {
		t.Errorf("%d are deleted, %d files are open, before %d", len(deleted), n, before)
	}
}

// TestCleanExactly: a file that is older than allowed is deleted, one that is exactly as old is
// not.
func TestCleanExactly(t *testing.T) {
	dir := t.TempDir()
	makeFile(t, filepath.Join(dir, "1.json"), 100, time.Hour)
	list := leftFiles([]string{dir + "/%p.json"}, nil)
	at := list[0].written.Add(time.Hour)
	for _, c := range []struct {
		now  time.Time
		want int
	}{{at, 0}, {at.Add(1), 1}} {
		if deleted := clean(list, config.Retention{Age: time.Hour}, c.now); len(deleted) != c.want {
			t.Errorf("%d are deleted, want %d", len(deleted), c.want)
		}
	}
}

// TestStuckLog: stuck looks are reported before all processes.
func TestStuckLog(t *testing.T) {
	e := newEntrance(1)
	var said lines
	e.log = e.log.Output(&said)
	for n, want := range []string{"", `{"level":"warn","stuck_looks":1,"message":"inspecting some processes timed out; they are not logged"}`} {
		if e.logStatus(Processes{StuckLooks: n}); strings.TrimSpace(said.take()) != want {
			t.Errorf("%d are stuck: it does not say %q", n, want)
		}
	}
}
