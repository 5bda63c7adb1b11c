//go:build linux

package fakenode

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/gclog/gclog/internal/fakeruntime"
	"golang.org/x/sys/unix"
)

// Config describes a runtime and what it does.
type Config struct {
	Name       string   // of its program; it may contain anything but NUL
	Version    string   // "": 9.0.0
	Env        []string // NAME=value, in addition to what a process needs here
	Rate       float64  // collections per second; 0: none
	Exact      bool     // they come at equal intervals, not at random ones
	Background float64  // share of background collections, 0 to 1
	Heaps      int      // more than one: server GC
	TempDir    string   // "": that of the Node
}

// A Runtime is a process with a runtime. Its methods are safe for concurrent use.
type Runtime struct {
	cfg     Config
	pid     int
	cookie  string
	proc    *process
	server  *fakeruntime.Runtime
	clients *clients
	ended   chan struct{} // closed when the process has ended

	mu      sync.Mutex
	plan    plan
	streams []*stream
	leaving []*stream // ended streams of which it is not yet known whether everything written was read
	ledger  Ledger
	drop    int // number of events that every session drops next

	frozen   chan struct{} // closed when the process is resumed; nil: it runs
	frozenAt int64
	stalled  chan struct{} // closed when the runtime answers and writes again; nil: it does
	deaf     chan struct{} // closed when StopTracing is answered again; nil: it is
	refuse   uint32
	// Until these times requests are refused, or answered with garbage.
	refused, garbled int64
}

func monotonic() int64 {
	var t unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &t) // cannot fail
	return t.Nano()
}

func startRuntime(dir, mark string, cfg Config, seed uint64, instance uint16) (*Runtime, error) {
	if cfg.Version == "" {
		cfg.Version = "9.0.0"
	}
	if cfg.TempDir == "" {
		cfg.TempDir = dir
	}
	proc, err := startProcess(cfg.TempDir, []string{cfg.Name, nodeFlag + mark}, cfg.Env)
	if err != nil {
		return nil, err
	}
	r := &Runtime{cfg: cfg, proc: proc, pid: proc.cmd.Process.Pid, ended: make(chan struct{})}
	r.clients = &clients{Listener: proc.listener, count: map[int]int{}}
	r.plan = plan{random: rand.New(rand.NewPCG(seed, uint64(instance))), exact: cfg.Exact, background: cfg.Background, heaps: max(cfg.Heaps, 1)}
	r.plan.setRate(cfg.Rate, monotonic())
	r.cookie = fmt.Sprintf("0000cefa-0000-0000-0000-%08x%04x", r.pid, instance)
	r.ledger = Ledger{PID: r.pid, Cookie: r.cookie, Name: cfg.Name}
	r.server, err = fakeruntime.Start(fakeruntime.Config{
		Listener: r.clients, PID: r.pid, Instance: instance, Name: cfg.Name, Version: cfg.Version, Env: cfg.Env, Trace: r.trace, Meet: r.meet,
	})
	if err != nil {
		proc.signal(unix.SIGKILL)
		proc.wait()
		return nil, err
	}
	go func() {
		proc.wait()
		r.over()
	}()
	return r, nil
}

// PID returns the pid of the process.
func (r *Runtime) PID() int { return r.pid }

// Cookie returns the id of the runtime as gclog writes it.
func (r *Runtime) Cookie() string { return r.cookie }

// Sessions returns the number of open sessions.
func (r *Runtime) Sessions() int { return r.server.Sessions() }

// Requests returns the number of requests so far, whoever made them: another gclog on this host may
// have.
func (r *Runtime) Requests() int64 { return r.server.Requests() }

// RequestsOf returns how often a process has connected to the runtime, which is once for each request.
func (r *Runtime) RequestsOf(pid int) int { return r.clients.of(pid) }

// clients is a listener that counts connections by the process that makes them.
type clients struct {
	net.Listener

	mu    sync.Mutex
	count map[int]int
}

func (c *clients) Accept() (net.Conn, error) {
	conn, err := c.Listener.Accept()
	if err != nil {
		return nil, err
	}
	raw, err := conn.(*net.UnixConn).SyscallConn()
	if err != nil {
		return conn, nil //nolint:nilerr // it has been closed: nobody has asked
	}
	_ = raw.Control(func(fd uintptr) {
		if who, err := unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED); err == nil {
			c.mu.Lock()
			c.count[int(who.Pid)]++
			c.mu.Unlock()
		}
	})
	return conn, nil
}

func (c *clients) of(pid int) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.count[pid]
}

// Ledger returns what the runtime has done so far.
func (r *Runtime) Ledger() *Ledger {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, t := range r.streams {
		r.enter(t)
	}
	r.settle()
	return r.ledger.clone()
}

// trace runs a session from its start to its end.
func (r *Runtime) trace(s *fakeruntime.Session) string {
	t, err := r.open(s)
	if err != nil {
		return err.Error()
	}
	select {
	case <-s.Stopped:
		r.close(t)
	case <-s.Over:
		r.leave(t, EndDied)
	case <-t.left:
	}
	return t.ending
}

func (r *Runtime) open(s *fakeruntime.Session) (*stream, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	t, err := newStream(s, r.pid)
	if err != nil {
		return nil, err
	}
	if !s.Rundown {
		// The session does not get what has happened until now.
		r.happen(t.opened)
		t.index = len(r.ledger.Sessions)
		r.ledger.Sessions = append(r.ledger.Sessions, Session{ID: s.ID, Opened: t.opened})
	}
	r.streams = append(r.streams, t)
	t.write(t.opened)
	return t, nil
}

// close ends a session normally. It waits for the reader without holding the lock.
func (r *Runtime) close(t *stream) {
	r.mu.Lock()
	if t.ending == "" {
		r.happen(monotonic())
		t.finish()
	}
	rest := t.pending
	trickle := time.Duration(t.trickle - monotonic())
	r.forget(t)
	r.mu.Unlock()

	select {
	case <-time.After(trickle): // at once unless it trickles
	case <-t.session.Over:
	}
	_ = t.session.Conn.SetWriteDeadline(time.Now().Add(time.Minute))
	n, err := t.session.Conn.Write(rest)

	r.mu.Lock()
	defer r.mu.Unlock()
	t.wrote(n)
	t.reset = t.reset || errors.Is(err, unix.ECONNRESET)
	r.enter(t)
	if err != nil {
		r.leaveLocked(t, EndUnwritten)
		return
	}
	r.leaveLocked(t, EndStopped)
}

// forget removes a stream from those that are written to.
func (r *Runtime) forget(t *stream) {
	for i, o := range r.streams {
		if o == t {
			r.streams = append(r.streams[:i], r.streams[i+1:]...)
			return
		}
	}
}

// leave ends a session.
func (r *Runtime) leave(t *stream, how string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.leaveLocked(t, how)
}

func (r *Runtime) leaveLocked(t *stream, how string) {
	if t.ending != "" {
		return
	}
	r.forget(t)
	t.ending = how
	t.hangUp()
	if t.index >= 0 {
		r.ledger.Sessions[t.index].End = how
		r.leaving = append(r.leaving, t)
		r.settle()
	} else {
		t.free()
	}
	close(t.left)
}

// enter records in the ledger what a stream has sent, and what of that was read.
func (r *Runtime) enter(t *stream) {
	if t.index >= 0 {
		t.enter(&r.ledger.Sessions[t.index])
	}
}

// settle releases the ended streams about which everything is known.
func (r *Runtime) settle() {
	r.leaving = slices.DeleteFunc(r.leaving, func(t *stream) bool {
		r.enter(t)
		if len(t.unread) > 0 {
			return false
		}
		t.free()
		return true
	})
}

// flush is what a runtime does every 100 ms: it writes what has happened.
func (r *Runtime) flush(now int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.settle()
	if r.frozen != nil || r.ledger.Ended {
		return
	}
	r.happen(now)
	if r.stalled == nil {
		r.write(now)
	}
}

func (r *Runtime) write(now int64) {
	for _, t := range slices.Backward(r.streams) {
		r.enter(t) // before there is more to read
		if now < t.metadata && len(t.pending) < maxPending {
			t.flood()
		}
		there := t.write(now)
		r.enter(t)
		if !there {
			r.leaveLocked(t, EndLeft)
		}
	}
}

// happen makes everything happen that is due, and encodes it for the sessions.
func (r *Runtime) happen(now int64) {
	if r.frozen != nil || r.ledger.Ended {
		return
	}
	events := r.plan.until(now)
	if len(events) == 0 {
		return
	}
	for i := range events {
		r.ledger.note(&events[i])
	}
	used := 0
	for _, t := range r.streams {
		if t.index < 0 {
			if t.session.Listens {
				t.add(events, r.plan.heaps, 0)
			}
			continue
		}
		lost := t.add(events, r.plan.heaps, r.drop)
		used = max(used, min(lost, r.drop))
		r.ledger.Sessions[t.index].Lost += uint64(lost)
		for i := range events {
			if e := &events[i]; e.last {
				t.finished(e.number, r.ledger.GCs[e.number-1].First)
			}
		}
	}
	r.drop -= used
}

// letGo releases all streams, even if they are still being read.
func (r *Runtime) letGo() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, t := range r.leaving {
		t.free()
	}
	r.leaving = nil
}

// die records that the process has ended, or is about to.
func (r *Runtime) die() {
	if !r.ledger.Ended {
		r.ledger.Ended, r.ledger.EndedAt = true, monotonic()
	}
}

// over is called when the process has ended for whatever reason.
func (r *Runtime) over() {
	r.mu.Lock()
	r.die()
	r.mu.Unlock()
	r.Continue()
	r.free(&r.stalled)
	r.free(&r.deaf)
	_ = r.server.Close()
	close(r.ended)
}
