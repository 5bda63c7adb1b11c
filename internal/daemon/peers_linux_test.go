package daemon

import (
	"context"
	"encoding/binary"
	"fmt"
	"net"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gclog/gclog/internal/fakeruntime"
	"github.com/gclog/gclog/internal/host"
	"github.com/gclog/gclog/session"
)

// TestKeyOf: a process is identified by its pid and start time, and one that this host does not
// show by its cookie and user.
func TestKeyOf(t *testing.T) {
	target := &host.Target{Process: host.Process{PID: 7, StartKey: 9, UID: 1000}}
	for _, c := range []struct {
		peer *session.Peer
		want key
	}{
		{nil, key{pid: 7, start: 9}},
		{&session.Peer{PID: 7, Cookie: "c"}, key{pid: 7, start: 9}},
		{&session.Peer{Cookie: "c"}, key{cookie: "c", uid: 1000}},
	} {
		if got := keyOf(target, c.peer); got != c.want {
			t.Errorf("%+v: %+v, want %+v", c.peer, got, c.want)
		}
	}
}

// visited returns a daemon that admits processes, with a port that a runtime in this process has
// connected to.
func visited(t *testing.T) (e *entrance, said *lines, x *port, peer *session.Peer) {
	t.Helper()
	e, said = newEntrance(5), &lines{}
	e.log = e.log.Output(said)
	path := filepath.Join(shortDir(t), "p")
	made, err := session.Listen(path, 100)
	if err != nil {
		t.Fatal(err)
	}
	x = &port{Port: made, cancel: func() {}}
	e.ports.byPath[path] = x
	t.Cleanup(func() { e.ports.closeBut(nil) })
	r, err := fakeruntime.Start(fakeruntime.Config{Listener: &pipes{closed: make(chan struct{})}, Version: "8.0.0", Ports: path + ",nosuspend", Stream: recording(t)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() })
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	if peer, err = x.Next(ctx); err != nil {
		t.Fatal(err)
	}
	return e, said, x, peer
}

// TestFoundPeer: a process that the sweeper has found also connects to a port: it is the same
// process, and it keeps its place at the port until it is forgotten. A process that has exited is
// not found.
func TestFoundPeer(t *testing.T) {
	e, _, _, peer := visited(t)
	target := e.o.Processes.TargetOf(peer)
	ignore := func(t *host.Target) *host.Target { // so that it is sent no requests
		x := *t
		x.Environ = map[string]string{"GCLOG_IGNORE": "1"}
		return &x
	}
	e.found(ignore(target), nil)
	k := keyOf(target, peer)
	p := e.processes[k]
	if p == nil || p.peer != nil || len(e.processes) != 1 {
		t.Fatalf("it is %+v", p)
	}
	e.found(ignore(target), peer)
	if e.processes[k] != p || p.peer != peer || len(e.processes) != 1 {
		t.Errorf("it is %+v", p)
	}
	e.found(ignore(target), nil)
	if p.peer != peer {
		t.Error("its peer is forgotten")
	}
	if isClosed(peer.Gone()) {
		t.Error("it is gone at the port")
	}
	e.forget(p)
	if !isClosed(peer.Gone()) || len(e.processes) != 0 {
		t.Error("its port still has it")
	}
	e.found(ignore(target), peer)
	if len(e.processes) != 0 {
		t.Errorf("one that has ended is found: %+v", e.processes)
	}
}

// TestPeerAgain: a process that connected to a port and that this host does not show is found again
// through its port; one that it shows, by the sweeper.
func TestPeerAgain(t *testing.T) {
	e, _, _, peer := visited(t)
	for _, shown := range []bool{true, false} {
		k := key{cookie: peer.Cookie}
		if shown {
			k = key{pid: peer.PID, start: 1}
		}
		p := e.newProcess(k, e.o.Processes.TargetOf(peer), peer)
		e.processes[k] = p
		p.again()
		if e.processes[k] != nil || p.ctx.Err() == nil || e.discovery.sweeper.offered[k] != shown {
			t.Errorf("shown %v: known are %v, to be found anew %v", shown, e.processes, e.discovery.sweeper.offered)
		}
	}
	e.config.Discovery.MaxProcesses = 0
	e.limits.processes = 0 // so that it waits, and is sent no requests
	select {
	case f := <-e.events:
		f()
	case <-time.After(30 * time.Second):
		t.Fatal("it is not found anew")
	}
	if len(e.queue.waiters) != 1 || e.queue.waiters[keyOf(e.o.Processes.TargetOf(peer), peer)].peer != peer {
		t.Errorf("there wait %+v", e.queue.waiters)
	}
	// A process that waits and seems to have exited is looked for once more.
	clear(e.discovery.sweeper.offered)
	e.gone(keyOf(e.o.Processes.TargetOf(peer), peer))
	if len(e.queue.waiters) != 0 || !e.discovery.sweeper.offered[keyOf(e.o.Processes.TargetOf(peer), peer)] {
		t.Errorf("there wait %+v, to be found anew are %v", e.queue.waiters, e.discovery.sweeper.offered)
	}
}

// TestPeerOffered: a process that connected to a port and waits is found through that port when
// there is a place.
func TestPeerOffered(t *testing.T) {
	e, _, _, peer := visited(t)
	target := e.o.Processes.TargetOf(peer)
	e.limits.processes = 0
	e.found(target, peer)
	w := e.queue.waiters[keyOf(target, peer)]
	if w == nil || w.peer != peer || w.uid != target.UID {
		t.Fatalf("there waits %+v", w)
	}
	e.limits.processes = 1
	e.admit()
	if len(e.discovery.sweeper.offered) != 0 || w.offers != 1 {
		t.Errorf("the sweeper is to find %v, offers %d", e.discovery.sweeper.offered, w.offers)
	}
	select {
	case f := <-e.events:
		e.limits.processes = 0 // another process was faster
		f()
	case <-time.After(30 * time.Second):
		t.Fatal("it is not found")
	}
	if x := e.queue.waiters[keyOf(target, peer)]; x != w || w.offers != 0 || !w.offered.IsZero() {
		t.Errorf("there waits %+v", x)
	}
	e.ending.begun = true
	e.limits.processes = 1
	e.admit()
	if w.offers != 0 {
		t.Error("a place is offered when the daemon ends")
	}
}

// TestNotLetGo: a process that could not be resumed is reported, once.
func TestNotLetGo(t *testing.T) {
	dir := shortDir(t)
	path := filepath.Join(dir, "p")
	w := runDaemon(t, configured(t, fmt.Sprintf(`version: 1
discovery: {interval: 1000h, listen: [%q], include: [{pid: "0"}]}
control: {socket: ""}
`, path)))
	w.await("the port", func() bool { return w.discovery.swept })
	conn, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	hello := append([]byte("ADVR_V1\x00"), make([]byte, 16)...)
	hello = binary.LittleEndian.AppendUint64(hello, 1)
	if _, err := conn.Write(append(hello, 0, 0)); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Read(make([]byte, 20)); err != nil { // the request
		t.Fatal(err)
	}
	_ = conn.Close()
	var said string
	w.await("that", func() bool {
		said += w.said.take()
		return strings.Contains(said, "cannot resume a process that connected to a diagnostic port: ")
	})
}

// TestHeldPeer: a process that is logged keeps its place at the port, whichever others connect.
func TestHeldPeer(t *testing.T) {
	dir := shortDir(t)
	path := filepath.Join(dir, "p")
	c := configured(t, fmt.Sprintf(`version: 1
discovery: {interval: 1000h, include: [{command_line: "*peer-of-the-test*"}]}
outputs: [{path: "%s/%%p.json"}]
control: {socket: ""}
`, dir))
	w := runDaemon(t, c)
	w.await("the begin", func() bool {
		w.limits.connections = 2 // half of them is for runtimes that are known
		return listen(w.Daemon, path) == nil
	})
	first := startPeer(t, path+",suspend")
	w.await("the first", func() bool { return w.in(first.Process.Pid).State == "on" })
	second := startPeer(t, path+",suspend")
	w.await("another one to be turned away", func() bool { return w.ports.byPath[path].Rejected() > 0 })
	w.await("the first alone", func() bool {
		p := w.of(first.Process.Pid)
		return w.in(second.Process.Pid).State == "" && p != nil && p.peer != nil && !isClosed(p.peer.Gone())
	})
}

// of returns the daemon's process with a pid.
func (w *watched) of(pid int) *process {
	for k, p := range w.processes {
		if k.pid == pid {
			return p
		}
	}
	return nil
}

// TestPeerGone: the exit of a process that connected to a port is noticed through its port if it
// has no session, or waits for a place.
func TestPeerGone(t *testing.T) {
	dir := shortDir(t)
	path := filepath.Join(dir, "p")
	w := runDaemon(t, configured(t, fmt.Sprintf(`version: 1
discovery: {interval: 1000h, listen: [%q], max_processes: 1, include: [{command_line: "*peer-of-the-test*"}], exclude: [{service: excluded}]}
outputs: [{path: "%s/%%p.json"}]
control: {socket: ""}
`, path, dir)))
	w.await("the port", func() bool { return w.discovery.swept })
	t.Setenv("OTEL_SERVICE_NAME", "excluded")
	excluded := startPeer(t, path+",suspend")
	w.await("one that is excluded", func() bool { return w.in(excluded.Process.Pid).State == "excluded" })
	t.Setenv("OTEL_SERVICE_NAME", "")
	first := startPeer(t, path+",suspend")
	w.await("one that is logged", func() bool { return w.in(first.Process.Pid).State == "on" })
	waits := startPeer(t, path+",suspend")
	w.await("one that waits", func() bool { return len(w.queue.waiters) == 1 })
	for _, cmd := range []*exec.Cmd{excluded, waits} {
		_ = cmd.Process.Kill()
		_, _ = cmd.Process.Wait()
	}
	w.await("their ends", func() bool {
		return len(w.queue.waiters) == 0 && w.in(excluded.Process.Pid).State == "" && w.in(first.Process.Pid).State == "on"
	})
}

// TestAsideDefect: a panic about a process is logged and counted, and ends nothing else.
func TestAsideDefect(t *testing.T) {
	e, said := newEntrance(5), &lines{}
	e.log = e.log.Output(said)
	e.aside(4711, func() { panic("it is broken") })
	select {
	case f := <-e.events:
		f()
	case <-time.After(30 * time.Second):
		t.Fatal("the loop is told nothing")
	}
	text := said.take()
	for _, want := range []string{`"pid":4711`, `it is broken`, `"stack":"`} {
		if e.defects != 1 || !strings.Contains(text, want) {
			t.Errorf("%d defects, and %s is missing: %s", e.defects, want, text)
		}
	}
}
