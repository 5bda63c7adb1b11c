package daemon

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gclog/gclog/internal/config"
	"github.com/gclog/gclog/internal/control"
	"github.com/rs/zerolog"
	"golang.org/x/sys/unix"
)

// serving returns a daemon whose loop runs, and that listens as configured.
func serving(t *testing.T, c *config.Loaded) (*Daemon, *lines) {
	t.Helper()
	var said lines
	d := newDaemon(t, Options{})
	d.config, d.log = c, zerolog.New(&said)
	d.discovery.sweeper = newSweeper(time.Hour)
	turn(t, d)
	t.Cleanup(func() {
		var all sync.WaitGroup
		for _, x := range d.parts {
			x.settle(t.Context(), &all)
		}
		all.Wait()
	})
	if err := apply(t, d, c); err != nil {
		t.Fatal(err)
	}
	return d, &said
}

// apply has a daemon apply a configuration.
func apply(t *testing.T, d *Daemon, c *config.Loaded) (err error) {
	t.Helper()
	if !d.ask(t.Context(), func() { err = d.apply(c) }) {
		t.Fatal("the loop does not turn")
	}
	return err
}

// healthy reports whether gclog answers at an address, by TCP or at a socket.
func healthy(t *testing.T, network, address string) bool {
	t.Helper()
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, address)
	}}}
	r, err := client.Get("http://gclog" + control.PathHealth)
	if err != nil {
		return false
	}
	defer r.Body.Close()
	b, err := io.ReadAll(r.Body)
	return err == nil && r.StatusCode == 200 && string(b) == "gclog is Healthy.\n"
}

// refuses waits until nothing listens at an address.
func refuses(t *testing.T, network, address string) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); healthy(t, network, address); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("gclog still answers at %s", address)
		}
	}
}

// listens returns a configuration with addresses to listen on.
func listens(t *testing.T, http, socket string, ports ...string) *config.Loaded {
	t.Helper()
	c := nobody(t)
	c.HTTP.Listen, c.Control.Socket, c.Discovery.Listen = http, socket, ports
	return c
}

// TestApplyListen: a new configuration has the daemon listen elsewhere; if one address fails
// everything stays as it was, and the previous listeners answer.
func TestApplyListen(t *testing.T) {
	dir := shortDir(t)
	path := func(name string) string { return filepath.Join(dir, name) }
	d, _ := serving(t, listens(t, "127.0.0.1:0", path("c1"), path("p1")))
	first := d.servers.tcp.address
	before := listens(t, first, path("c1"), path("p1"))
	d.config, d.servers.address = before, first
	stays := func(ports ...string) {
		t.Helper()
		if d.servers.tcp.address != first || !healthy(t, "tcp", first) || !healthy(t, "unix", path("c1")) || len(d.ports.byPath) != 1 || d.ports.byPath[path("p1")] == nil || d.config != before {
			t.Errorf("it listens at %v, at %v and at %v", d.servers.tcp, d.servers.control, d.ports.byPath)
		}
	}
	_, port, _ := net.SplitHostPort(first)
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	listener := d.servers.tcp.listener
	if err := apply(t, d, listens(t, taken.Addr().String(), "", path("p1"))); err == nil || d.servers.tcp.listener != listener {
		t.Errorf("an address that is taken interrupts the one before: %v", err)
	}
	for what, c := range map[string]*config.Loaded{
		"a port in no folder":         listens(t, "127.0.0.1:0", path("c2"), path("none/p2")),
		"an address that is taken":    listens(t, taken.Addr().String(), path("c2"), path("p2")),
		"no address of this host":     listens(t, "192.0.2.1:"+port, path("c2"), path("p2")),
		"a socket that is no socket":  listens(t, "127.0.0.1:0", "/dev/null/c2", path("p2")),
		"no socket, the same address": listens(t, first, "/dev/null/c2", path("p2")),
	} {
		if err := apply(t, d, c); err == nil {
			t.Errorf("%s: no error", what)
		} else if strings.Contains(what, "address") && !strings.HasPrefix(what, "no socket") && !strings.HasPrefix(err.Error(), "http.listen: ") {
			t.Errorf("%s: %v", what, err)
		}
		stays()
	}
	// All addresses of this host instead of one, at the same port, and back.
	for _, address := range []string{":" + port, "127.0.0.1:" + port} {
		if err := apply(t, d, listens(t, address, path("c1"), path("p1"))); err != nil {
			t.Error(err)
		}
		if !healthy(t, "tcp", "127.0.0.1:"+port) || !healthy(t, "unix", path("c1")) {
			t.Errorf("nobody answers at %s", address)
		}
	}
	kept, err := net.Dial("tcp", "127.0.0.1:"+port)
	if err != nil {
		t.Fatal(err)
	}
	defer kept.Close()
	const request, answer = "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n", "gclog is Healthy.\n"
	_, _ = io.WriteString(kept, request)
	for said := ""; !strings.HasSuffix(said, answer); {
		b := make([]byte, 1000)
		n, err := kept.Read(b)
		if err != nil {
			t.Fatal(err)
		}
		said += string(b[:n])
	}
	if err := apply(t, d, listens(t, "127.0.0.1:0", path("c2"), path("p2"))); err != nil {
		t.Fatal(err)
	}
	_ = kept.SetDeadline(time.Now().Add(time.Minute))
	if n, err := kept.Read(make([]byte, 1)); n != 0 || !errors.Is(err, io.EOF) {
		t.Errorf("a connection without a request is kept: %v", err)
	}
	refuses(t, "tcp", "127.0.0.1:"+port)
	refuses(t, "unix", path("c1"))
	if !healthy(t, "tcp", d.servers.tcp.address) || !healthy(t, "unix", path("c2")) || len(d.ports.byPath) != 1 || d.ports.byPath[path("p2")] == nil {
		t.Errorf("it listens at %v, at %v and at %v", d.servers.tcp, d.servers.control, d.ports.byPath)
	}
	last := d.servers.tcp.address
	if err := apply(t, d, listens(t, "", "")); err != nil {
		t.Fatal(err)
	}
	refuses(t, "tcp", last)
	refuses(t, "unix", path("c2"))
	if d.servers.tcp != nil || d.servers.control != nil || len(d.ports.byPath) != 0 {
		t.Errorf("it listens at %v, at %v and at %v", d.servers.tcp, d.servers.control, d.ports.byPath)
	}
}

// TestControlTaken: if another daemon has the default socket there is none, which is reported, and
// the previous one is closed; if it has a configured one that is an error, and the previous one
// stays.
func TestControlTaken(t *testing.T) {
	dir := shortDir(t)
	withOwnRun(t, dir, func() {
		taken, err := control.Listen(control.Path(control.Auto))
		if err != nil {
			t.Error(err)
			return
		}
		defer taken.Close()
		before := filepath.Join(dir, "c1")
		d, said := serving(t, listens(t, "", before))
		if err := d.servers.administer(taken.Addr().String()); !errors.Is(err, control.ErrInUse) || !strings.HasPrefix(err.Error(), "control.socket: ") {
			t.Errorf("error %v", err)
		}
		if !healthy(t, "unix", before) {
			t.Error("the one before does not answer")
		}
		if err := d.servers.administer(control.Auto); err != nil || d.servers.control != nil {
			t.Errorf("%v, %v", d.servers.control, err)
		}
		if text := said.take(); !strings.Contains(text, "no control socket, so gclog ctl and gclog health cannot reach this daemon: ") {
			t.Errorf("it says %s", text)
		}
		refuses(t, "unix", before)
	})
}

// withOwnRun calls f where nothing else uses the default control socket: for root in a /run of its
// own.
func withOwnRun(t *testing.T, dir string, f func()) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Setenv("RUNTIME_DIRECTORY", dir)
		f()
		return
	}
	failed := make(chan error)
	go func() {
		var err error
		defer func() { failed <- err }()
		runtime.LockOSThread() // the thread ends with the goroutine
		err = unix.Unshare(unix.CLONE_NEWNS)
		if err == nil {
			err = unix.Mount("none", "/", "", unix.MS_REC|unix.MS_PRIVATE, "")
		}
		if err == nil {
			err = unix.Mount("none", "/run", "tmpfs", 0, "")
		}
		if err == nil {
			f()
		}
	}()
	if err := <-failed; err != nil {
		t.Skipf("there can be no /run of our own: %v", err)
	}
}

// TestReloadAnswer: a client that requests a reload which moves the socket still gets its answer at
// the old one.
func TestReloadAnswer(t *testing.T) {
	dir := shortDir(t)
	d, _ := serving(t, listens(t, "", filepath.Join(dir, "c1")))
	d.o.Load = func() (*config.Loaded, error) { return listens(t, "", filepath.Join(dir, "c2")), nil }
	client := http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", filepath.Join(dir, "c1"))
	}}}
	r, err := client.Post("http://gclog"+control.PathReload, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	_ = r.Body.Close()
	if r.StatusCode != 200 || !healthy(t, "unix", filepath.Join(dir, "c2")) {
		t.Errorf("it is answered with %s", r.Status)
	}
}

// TestRunFails: a daemon that cannot listen where it must does not run, and leaves nothing behind.
func TestRunFails(t *testing.T) {
	dir := shortDir(t)
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	path := filepath.Join(dir, "x")
	for what, c := range map[string]*config.Loaded{
		"port":    listens(t, "", "", filepath.Join(dir, "none", "p")),
		"address": listens(t, taken.Addr().String(), "", path),
		"socket":  listens(t, "", "/dev/null/c", path),
	} {
		d := newDaemon(t, Options{})
		d.config = c
		if err := d.Run(t.Context()); err == nil {
			t.Errorf("%s: no error", what)
		}
		if len(d.ports.byPath) > 0 || d.servers.control != nil || !isClosed(d.stopped) {
			t.Errorf("%s: ports %v are left", what, d.ports.byPath)
		}
	}
	for deadline := time.Now().Add(30 * time.Second); strings.Contains(stacks(), "/discover.go:"); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("it still sweeps")
		}
	}
}

// TestServerLog: errors of a server are written to the daemon's own log, once.
func TestServerLog(t *testing.T) {
	d, said := serving(t, nobody(t))
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := d.newServer(l, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("a trap") }))
	defer s.close()
	if r, err := http.Get("http://" + s.address); err == nil {
		_ = r.Body.Close()
		t.Error("it is answered")
	}
	var text string
	for deadline := time.Now().Add(30 * time.Second); !strings.Contains(text, "a trap"); time.Sleep(time.Millisecond) {
		if text += said.take(); time.Now().After(deadline) {
			t.Fatalf("it says %q", text)
		}
	}
	if !strings.HasPrefix(text, `{"level":"warn","message":"http: http: panic serving `) {
		t.Errorf("it says %s", text)
	}
	n, err := s.http.ErrorLog.Writer().Write([]byte("it is odd\n"))
	d.ask(t.Context(), func() {})
	if text := said.take(); n != len("it is odd\n") || err != nil || text != `{"level":"warn","message":"http: it is odd"}`+"\n" {
		t.Errorf("%d, %v, %q", n, err, text)
	}
}

// TestCrowd: when there are too many connections, the one whose state has not changed for longest
// is closed, but not before it had time to send a request.
func TestCrowd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &crowd{most: 3}
		var ends []net.Conn
		closed := func() (list string) {
			for i, x := range ends {
				_ = x.SetReadDeadline(time.Now().Add(time.Nanosecond))
				if _, err := x.Read(make([]byte, 1)); errors.Is(err, io.EOF) {
					list += fmt.Sprint(i)
				}
			}
			return list
		}
		var conns []net.Conn
		come := func() time.Duration {
			ours, theirs := net.Pipe()
			conns, ends = append(conns, ours), append(ends, theirs)
			began := time.Now()
			c.note(ours, http.StateNew)
			return time.Since(began)
		}
		for range 3 {
			if took := come(); took != 0 {
				t.Errorf("a connection that there is room for waits %v", took)
			}
		}
		time.Sleep(5 * time.Millisecond)
		c.note(conns[0], http.StateActive) // now 1 has been idle longest
		if took := come(); took != 15*time.Millisecond {
			t.Errorf("one that is too many waits %v", took)
		}
		if got := closed(); got != "1" {
			t.Errorf("closed are %q", got)
		}
		time.Sleep(httpPatience)
		if took := come(); took != 0 || closed() != "12" {
			t.Errorf("it waits %v, and closed are %q", took, closed())
		}
		c.note(conns[3], http.StateClosed)
		c.note(conns[4], http.StateHijacked)
		if len(c.conns) != 1 || c.conns[0].Conn != conns[0] {
			t.Errorf("%d are left", len(c.conns))
		}
		for range 2 {
			if come() != 0 {
				t.Error("a connection that there is room for waits")
			}
		}
		// One ends while the next waits: then there is room.
		began := time.Now()
		first, another := conns[0], conns[5]
		time.AfterFunc(httpPatience/2, func() { c.note(another, http.StateClosed) })
		time.AfterFunc(0, func() { c.note(first, http.StateIdle) })
		synctest.Wait()
		time.Sleep(time.Millisecond)
		come()
		if got := closed(); got != "12" || time.Since(began) < httpPatience/2 {
			t.Errorf("closed are %q", got)
		}
		for _, x := range append(conns, ends...) {
			_ = x.Close()
		}
	})
}

// TestCrowdSources: it is the source with the most connections that loses one.
func TestCrowdSources(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &crowd{most: 4}
		var conns []net.Conn
		come := func(user int64) {
			ours, theirs := net.Pipe()
			t.Cleanup(func() { _, _ = ours.Close(), theirs.Close() })
			conns = append(conns, ours)
			c.note(&client{ours, source{user: user}}, http.StateNew)
			time.Sleep(httpPatience)
		}
		for _, user := range []int64{1, 2, 3, 2} {
			come(user)
		}
		for range 3 {
			come(2)
		}
		var left []int
		for _, x := range c.conns {
			left = append(left, slices.IndexFunc(conns, func(o net.Conn) bool { return x.Conn.(*client).Conn == o }))
		}
		if !slices.Equal(left, []int{0, 2, 5, 6}) {
			t.Errorf("left are %v", left)
		}
	})
}

// TestReadiness: a daemon that finds new processes is ready, and reports how many it cannot look
// at.
func TestReadiness(t *testing.T) {
	for _, c := range []struct {
		ready bool
		stuck int
		all   bool
		text  string
		ok    bool
	}{
		{false, 0, false, "gclog is not ready", false},
		{false, 9, true, "gclog is not ready", false},
		{true, 0, false, "gclog is Ready.", true},
		{true, 1, false, "gclog is Ready.\nInspections of 1 processes are stuck; those processes are not logged.", true},
		{true, 9, true, "gclog is not ready: inspections of 9 processes are stuck, and until they end no new processes are found", false},
	} {
		if text, ok := readiness(c.ready, c.stuck, c.all); text != c.text || ok != c.ok {
			t.Errorf("%+v: %q, %v", c, text, ok)
		}
	}
}

// TestServerLimits: no client keeps a connection for long.
func TestServerLimits(t *testing.T) {
	d, _ := serving(t, listens(t, "127.0.0.1:0", ""))
	s := d.servers.tcp.http
	for what, c := range map[string][2]time.Duration{
		"the head of a request": {s.ReadHeaderTimeout, 10 * time.Second}, "a request": {s.ReadTimeout, 10 * time.Second},
		"an answer": {s.WriteTimeout, 20 * time.Second}, "a pause": {s.IdleTimeout, 10 * time.Second},
	} {
		if c[0] != c[1] {
			t.Errorf("%s may take %v, want %v", what, c[0], c[1])
		}
	}
}

// TestHTTPHead: 8 KB of a request are read, 4 of them by our limit, and no more.
func TestHTTPHead(t *testing.T) {
	d, _ := serving(t, listens(t, "127.0.0.1:0", ""))
	for size, want := range map[int]string{7900: "HTTP/1.1 200 ", 8400: "HTTP/1.1 431 "} {
		c, err := net.Dial("tcp", d.servers.tcp.address)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		const begin, end = "GET /healthz HTTP/1.1\r\nHost: x\r\nX: ", "\r\n\r\n"
		_, _ = io.WriteString(c, begin+strings.Repeat("x", size-len(begin)-len(end))+end)
		b := make([]byte, len(want))
		if _, err := io.ReadFull(c, b); err != nil || string(b) != want {
			t.Errorf("a head of %d bytes is answered with %q, %v", size, b, err)
		}
	}
}

// TestRunListens: a daemon reports where it listens, and does so until its end.
func TestRunListens(t *testing.T) {
	dir := shortDir(t)
	socket, port := filepath.Join(dir, "c"), filepath.Join(dir, "p")
	c := configured(t, fmt.Sprintf(`version: 1
discovery: {interval: 1000h, listen: [%q], include: [{pid: "0"}]}
http: {listen: "127.0.0.1:0"}
control: {socket: %q}
`, port, socket))
	c.Warnings = []string{"that is odd"}
	w := runDaemon(t, c)
	w.await("the begin", func() bool { return w.discovery.swept })
	address := w.servers.tcp.address
	if !healthy(t, "tcp", address) || !healthy(t, "unix", socket) {
		t.Error("it does not answer")
	}
	if _, err := os.Stat(port); err != nil {
		t.Error(err)
	}
	w.stop()
	refuses(t, "tcp", address)
	refuses(t, "unix", socket)
	for _, path := range []string{socket, port} {
		if _, err := os.Lstat(path); err == nil {
			t.Errorf("%s is left", path)
		}
	}
	said := w.said.take()
	for _, want := range []string{
		fmt.Sprintf(`{"level":"info","version":"1","config":%q,"control":%q,"http":%q,"message":"gclog daemon started"}`, c.File, socket, address),
		`{"level":"warn","message":"that is odd"}`,
	} {
		if !strings.Contains(said, want) {
			t.Errorf("it does not say %s, but\n%s", want, said)
		}
	}
}
