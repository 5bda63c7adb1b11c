package daemon

import (
	"bytes"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gclog/gclog/internal/config"
	"github.com/gclog/gclog/internal/host"
	"github.com/rs/zerolog"
)

// An entrance is a daemon that admits processes and does nothing with them.
type entrance struct {
	*Daemon
	seen map[int]int // uid by pid
}

func newEntrance(places int) *entrance {
	c := &config.Loaded{Config: *config.Default()}
	c.Discovery.MaxProcesses = places
	e := &entrance{Daemon: New(Options{Config: c, Log: zerolog.New(&bytes.Buffer{})}), seen: map[int]int{}}
	e.discovery.sweeper = newSweeper(time.Hour)
	return e
}

// find has a process of a user found, and reports whether it got a place.
func (e *entrance) find(pid, uid int) bool {
	e.seen[pid] = uid
	k := key{pid: pid, start: 1}
	if e.processes[k] == nil && e.admitted(k, uid, nil) {
		e.processes[k] = e.newProcess(k, &host.Target{Process: host.Process{PID: pid, StartKey: 1, UID: uid, Name: "x"}}, nil)
	}
	return e.processes[k] != nil
}

// end ends a process, and has the processes that were offered its place found again.
func (e *entrance) end(pid int) {
	k := key{pid: pid, start: 1}
	if p := e.processes[k]; p != nil {
		e.forget(p)
	}
	e.gone(k)
	e.findOffered()
}

func (e *entrance) findOffered() {
	e.discovery.sweeper.mu.Lock()
	offered := e.discovery.sweeper.offered
	e.discovery.sweeper.offered = map[key]bool{}
	e.discovery.sweeper.mu.Unlock()
	for k := range offered {
		e.find(k.pid, e.seen[k.pid])
	}
}

// of counts the places of a user.
func (e *entrance) of(uid int) int {
	_, users := e.places()
	return users[uid]
}

// TestAdmission: no process loses its place. A free place goes to a user who has fewer than half of
// them, or to root; to other users if nobody else waits; and among these to the process that has
// waited longest.
func TestAdmission(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const heavy, light = 1000, 2000
		e := newEntrance(6)
		for pid := range 20 {
			if got := e.find(100+pid, heavy); got != (pid < 6) {
				t.Fatalf("process %d of one user alone: admitted %v", pid, got)
			}
			time.Sleep(time.Second)
		}
		if e.find(200, light) || e.find(201, light) || e.of(heavy) != 6 {
			t.Fatal("a process lost its place")
		}
		e.end(100)
		if e.of(light) != 1 {
			t.Errorf("the free place did not go to the user who had none, but %d are of the other", e.of(heavy))
		}
		if e.find(300, heavy) {
			t.Error("a new process of the user who has more than half got a place before others who wait")
		}
		e.end(101)
		e.end(102)
		e.end(103)
		if e.of(light) != 2 || e.of(heavy) != 4 || e.processes[key{pid: 106, start: 1}] == nil || e.processes[key{pid: 107, start: 1}] == nil {
			t.Errorf("where nobody else waits the places go to who waits longest: %d and %d", e.of(light), e.of(heavy))
		}
		for pid := range 6 {
			e.find(400+pid, 0)
		}
		e.end(300)
		for pid := 100; pid < 120; pid++ {
			e.end(pid)
		}
		time.Sleep(offerTime) // those that were offered a place, and have exited, have not taken it
		e.admit()
		e.findOffered()
		if e.of(0) != 4 || e.of(light) != 2 {
			t.Errorf("root has %d places, and the other %d", e.of(0), e.of(light))
		}
		for pid := 400; pid < 406; pid++ {
			e.end(pid)
		}
		e.end(200)
		e.end(201)
		if all, _ := e.places(); all != 0 || len(e.queue.waiters) != 0 || len(e.queue.users) != 0 {
			t.Errorf("all have ended, and %d have places, %d wait", all, len(e.queue.waiters))
		}
	})
}

// TestAdmissionRefused: a place that was offered and not taken is offered to another process, and
// later to the first again.
func TestAdmissionRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEntrance(1)
		e.find(1, 7)
		e.find(2, 7)
		time.Sleep(time.Second)
		e.find(3, 7)
		delete(e.processes, key{pid: 1, start: 1})
		e.admit()
		if len(e.discovery.sweeper.offered) != 1 || !e.discovery.sweeper.offered[key{pid: 2, start: 1}] {
			t.Fatalf("offered: %v", e.discovery.sweeper.offered)
		}
		clear(e.discovery.sweeper.offered) // it can no longer be reached
		time.Sleep(time.Second)
		e.admit()
		if len(e.discovery.sweeper.offered) != 1 || !e.discovery.sweeper.offered[key{pid: 3, start: 1}] {
			t.Fatalf("offered: %v", e.discovery.sweeper.offered)
		}
		clear(e.discovery.sweeper.offered)
		e.admit()
		if len(e.discovery.sweeper.offered) != 0 {
			t.Errorf("offered again at once: %v", e.discovery.sweeper.offered)
		}
		time.Sleep(8 * time.Second) // 9 s after it was offered the place
		if e.admit(); len(e.discovery.sweeper.offered) != 0 {
			t.Errorf("offered again after 9 seconds: %v", e.discovery.sweeper.offered)
		}
		time.Sleep(time.Second)
		e.admit()
		if len(e.discovery.sweeper.offered) != 1 || !e.discovery.sweeper.offered[key{pid: 2, start: 1}] {
			t.Errorf("offered: %v", e.discovery.sweeper.offered)
		}
	})
}

// TestAdmissionAgain: a process that was given up, or excluded by an earlier configuration, takes a
// place like any other: if there is none it waits. A process that stays excluded takes none.
func TestAdmissionAgain(t *testing.T) {
	e := newEntrance(1)
	e.find(1, 7)
	for pid, state := range map[int]state{2: stateGivenUp, 3: stateExcluded} {
		k := key{pid: pid, start: 1}
		e.seen[pid] = 7
		p := e.newProcess(k, &host.Target{Process: host.Process{PID: pid, StartKey: 1, UID: 7, Name: "x"}}, nil)
		p.sup.state = state
		e.processes[k] = p
		p.replan()
		e.findOffered()
		if e.processes[k] != nil || e.queue.waiters[k] == nil {
			t.Errorf("process %d does not wait for a place", pid)
		}
	}
	ignored := key{pid: 4, start: 1}
	p := e.newProcess(ignored, &host.Target{Process: host.Process{PID: 4, StartKey: 1, UID: 7, Name: "x", Environ: map[string]string{"GCLOG_IGNORE": "1"}}}, nil)
	e.processes[ignored] = p
	p.step(event{kind: eventFound})
	p.replan()
	if e.processes[ignored] != p || p.sup.state != stateExcluded {
		t.Errorf("a process that was started with GCLOG_IGNORE=1 is %v", p.sup.state)
	}
	e.end(1)
	if len(e.processes) != 2 {
		t.Errorf("%d processes are known when a place is free", len(e.processes))
	}
}

// TestAdmissionGhosts: processes that do not come when they are offered a place keep nobody out.
func TestAdmissionGhosts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEntrance(2)
		e.find(1, 7)
		e.find(2, 7)
		for pid := range 20 {
			e.find(100+pid, 7)
		}
		time.Sleep(time.Second)
		e.find(3, 8)
		e.end(1)
		for range 30 {
			for k := range e.discovery.sweeper.offered {
				if k.pid >= 100 {
					delete(e.discovery.sweeper.offered, k)
				}
			}
			e.findOffered()
			if e.processes[key{pid: 3, start: 1}] != nil {
				break
			}
			time.Sleep(offerTime)
			e.admit()
		}
		if e.processes[key{pid: 3, start: 1}] == nil {
			t.Error("it has got no place")
		}
		for range 100 {
			time.Sleep(offerTime)
			e.admit()
			clear(e.discovery.sweeper.offered)
		}
		if n := len(e.queue.waiters); n > 20 {
			t.Errorf("%d wait", n)
		}
	})
}

// TestMayHave: root may have all places; other users half of them and at least one, or all if
// nobody else waits.
func TestMayHave(t *testing.T) {
	for _, c := range []struct {
		limit, uid, has int
		others, want    bool
	}{
		{1, 7, 0, true, true},
		{1, 7, 1, true, false},
		{2, 7, 1, true, false},
		{3, 7, 1, true, false},
		{6, 7, 2, true, true},
		{6, 7, 3, true, false},
		{6, 7, 3, false, true},
		{6, 7, 5, false, true},
		{6, 0, 5, true, true},
		{6, 1, 3, true, false},
		{100, 7, 49, true, true},
		{100, 7, 50, true, false},
	} {
		e := newEntrance(5)
		e.limits.processes = c.limit
		e.queue.add(key{pid: 1}, &waiter{uid: c.uid})
		if c.others {
			e.queue.add(key{pid: 2}, &waiter{uid: 9})
		}
		if got := e.mayHave(c.uid, c.has); got != c.want {
			t.Errorf("%+v: it may have one more: %v", c, got)
		}
	}
}

// TestAdmit: free places are offered at once, no more than there are, and to each user as many as
// it may have; the sweeper is asked to sweep at once.
func TestAdmit(t *testing.T) {
	for _, c := range []struct {
		places   int
		offered  string // by user
		stopping bool
	}{
		{2, "1 1", false},
		{3, "1 1", false}, // half of three is one
		{4, "2 1", false},
		{20, "5 1", false},
		{20, "0 0", true},
	} {
		synctest.Test(t, func(t *testing.T) {
			e := newEntrance(c.places)
			e.limits.processes = 0
			for pid := range 5 {
				e.find(100+pid, 7)
				time.Sleep(time.Second)
			}
			e.find(200, 8)
			e.limits.processes, e.ending.begun = c.places, c.stopping
			e.admit()
			users := map[int]int{}
			for k := range e.discovery.sweeper.offered {
				users[e.seen[k.pid]]++
				if users[7] > 0 && c.places < 20 && !e.discovery.sweeper.offered[key{pid: 100, start: 1}] {
					t.Error("who waits longest is not offered one")
				}
			}
			if got := fmt.Sprint(users[7], users[8]); got != c.offered {
				t.Errorf("%d places: offered are %s, want %s", c.places, got, c.offered)
			}
			if n := len(e.discovery.sweeper.nudge); (n == 1) == c.stopping || n == 1 && <-e.discovery.sweeper.nudge != 0 {
				t.Errorf("the sweeper is nudged %d times", n)
			}
		})
	}
}

// TestOffers: a process that does not come is offered a place three times, at most every ten
// seconds, and then no longer waits; the place is offered to the next one at once.
func TestOffers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEntrance(1)
		e.limits.processes = 0
		ghost, k := 1, key{pid: 1, start: 1}
		e.find(ghost, 7)
		e.limits.processes = 1
		for i := range 3 {
			e.admit()
			if w := e.queue.waiters[k]; !e.discovery.sweeper.offered[k] || w == nil || w.offers != i+1 {
				t.Fatalf("offer %d: %+v", i+1, w)
			}
			clear(e.discovery.sweeper.offered)
			time.Sleep(10 * time.Second)
		}
		e.limits.processes = 0
		e.find(2, 7)
		e.limits.processes = 1
		e.admit()
		if e.queue.waiters[k] != nil || !e.discovery.sweeper.offered[k] || !e.discovery.sweeper.offered[key{pid: 2, start: 1}] {
			t.Errorf("offered are %v, there wait %v", e.discovery.sweeper.offered, e.queue.waiters)
		}
		// It has not exited: it waits again, as if it had just come.
		clear(e.discovery.sweeper.offered)
		e.limits.processes = 0
		e.find(ghost, 7)
		if w := e.queue.waiters[k]; w == nil || w.offers != 0 {
			t.Errorf("it waits as %+v", w)
		}
	})
}
