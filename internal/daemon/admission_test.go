package daemon

import (
	"bytes"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gclog/gclog/internal/config"
	"github.com/gclog/gclog/session"
	"github.com/rs/zerolog"
)

// An entrance is a daemon that admits processes, which then do nothing.
type entrance struct {
	*Daemon
	seen map[int]int // uid by pid
}

func newEntrance(places int) *entrance {
	c := &config.Loaded{Config: *config.Default()}
	c.Discovery.MaxProcesses = places
	e := &entrance{Daemon: New(Options{Config: c, Log: zerolog.New(&bytes.Buffer{})}), seen: map[int]int{}}
	e.sweeper = newSweeper(time.Hour)
	return e
}

// find has a process of a user found, and tells whether it got a place.
func (e *entrance) find(pid, uid int) bool {
	e.seen[pid] = uid
	k := key{pid: pid, start: 1}
	if e.processes[k] == nil && e.admitted(k, uid, nil) {
		e.processes[k] = e.newProcess(k, &session.Target{Process: session.Process{PID: pid, StartKey: 1, UID: uid, Name: "x"}}, nil)
	}
	return e.processes[k] != nil
}

// end ends a process, and finds again what was offered its place.
func (e *entrance) end(pid int) {
	k := key{pid: pid, start: 1}
	if p := e.processes[k]; p != nil {
		e.forget(p)
	}
	e.gone(k)
	e.findOffered()
}

func (e *entrance) findOffered() {
	e.sweeper.mu.Lock()
	offered := e.sweeper.offered
	e.sweeper.offered = map[key]bool{}
	e.sweeper.mu.Unlock()
	for k := range offered {
		e.find(k.pid, e.seen[k.pid])
	}
}

// of counts the places of a user.
func (e *entrance) of(uid int) int {
	_, users := e.places()
	return users[uid]
}

// TestAdmission: nobody loses a place. One that is free goes to the users who have fewer than half of
// them, or are root; to others where nobody else waits, and to those who wait longest.
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
		time.Sleep(offerTime) // those that were offered a place, and ended, have not taken it
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

// TestAdmissionRefused: a place that was offered and not taken is offered to another one, and later
// to the first again.
func TestAdmissionRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEntrance(1)
		e.find(1, 7)
		e.find(2, 7)
		time.Sleep(time.Second)
		e.find(3, 7)
		delete(e.processes, key{pid: 1, start: 1})
		e.admit()
		if len(e.sweeper.offered) != 1 || !e.sweeper.offered[key{pid: 2, start: 1}] {
			t.Fatalf("offered: %v", e.sweeper.offered)
		}
		clear(e.sweeper.offered) // it cannot be reached any more
		e.admit()
		if len(e.sweeper.offered) != 1 || !e.sweeper.offered[key{pid: 3, start: 1}] {
			t.Fatalf("offered: %v", e.sweeper.offered)
		}
		clear(e.sweeper.offered)
		e.admit()
		if len(e.sweeper.offered) != 0 {
			t.Errorf("offered again at once: %v", e.sweeper.offered)
		}
		time.Sleep(offerTime)
		e.admit()
		if !e.sweeper.offered[key{pid: 2, start: 1}] {
			t.Errorf("offered: %v", e.sweeper.offered)
		}
	})
}
