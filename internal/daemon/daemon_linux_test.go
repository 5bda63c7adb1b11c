package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gclog/gclog/internal/config"
	"github.com/gclog/gclog/internal/host"
	"github.com/gclog/gclog/internal/testing/syscalls"
	"github.com/rs/zerolog"
)

// nobody returns a configuration that fits no process at all.
func nobody(t *testing.T, more ...string) *config.Loaded {
	t.Helper()
	c, err := config.Load("", append([]string{"GCLOG_DISCOVERY__INCLUDE__0__PID=0", "GCLOG_CONTROL__SOCKET="}, more...))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func newDaemon(t *testing.T, o Options) *Daemon {
	t.Helper()
	o.Config, o.Log = nobody(t), zerolog.Nop()
	o.Explain = func(_ context.Context, _ *host.Target, err error) error { return err }
	return New(o)
}

// answer returns the answer to a request.
func answer(h http.Handler, method, path string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(method, path, http.NoBody))
	return w
}

// turn runs the loop of a daemon that does only what it is asked to.
func turn(t *testing.T, d *Daemon) {
	t.Helper()
	stop := make(chan struct{})
	t.Cleanup(func() { close(stop) })
	go func() {
		for {
			select {
			case f := <-d.events:
				f()
			case <-stop:
				return
			}
		}
	}()
}

// TestHTTP: what the control socket serves, and the little that a TCP address does.
func TestHTTP(t *testing.T) {
	reloads := 0
	var wrong error
	d := newDaemon(t, Options{Load: func() (*config.Loaded, error) { reloads++; return nobody(t), wrong }})
	d.discovery.sweeper = newSweeper(time.Hour)
	turn(t, d)
	public, private := d.publicHandler(), d.controlHandler()
	for _, x := range []struct {
		handler      http.Handler
		method, path string
		ready        bool
		wrong        error
		status       int
		body         string
	}{
		{private, "GET", "/healthz", false, nil, 200, "gclog is Healthy.\n"},
		{private, "GET", "/readyz", false, nil, 503, "gclog is not ready\n"},
		{private, "GET", "/readyz", true, nil, 200, "gclog is Ready.\n"},
		{private, "POST", "/readyz", true, nil, 405, "Method Not Allowed\n"},
		{private, "GET", "/reload", true, nil, 405, "Method Not Allowed\n"},
		{private, "GET", "/rotate", true, nil, 405, "Method Not Allowed\n"},
		{private, "POST", "/status", true, nil, 405, "Method Not Allowed\n"},
		{private, "POST", "/reload", true, nil, 200, ""},
		{private, "POST", "/reload", true, errors.New("gclog.yaml:1:1: wrong"), 409, "gclog.yaml:1:1: wrong\n"},
		{private, "POST", "/rotate", true, nil, 200, ""},
		{private, "GET", "/", true, nil, 404, "404 page not found\n"},
		{private, "GET", "/debug/pprof/", true, nil, 404, "404 page not found\n"},

		{public, "GET", "/healthz", false, nil, 200, "gclog is Healthy.\n"},
		{public, "GET", "/readyz", false, nil, 503, "gclog is not ready\n"},
		{public, "HEAD", "/readyz", true, nil, 200, "gclog is Ready.\n"},
		{public, "POST", "/healthz", true, nil, 405, "Method Not Allowed\n"},
		{public, "GET", "/status", true, nil, 404, "404 page not found\n"},
		{public, "POST", "/reload", true, nil, 404, "404 page not found\n"},
		{public, "POST", "/rotate", true, nil, 404, "404 page not found\n"},
	} {
		d.ready.Store(x.ready)
		wrong = x.wrong
		if w := answer(x.handler, x.method, x.path); w.Code != x.status || w.Body.String() != x.body {
			t.Errorf("%s %s: %d %q, want %d %q", x.method, x.path, w.Code, w.Body, x.status, x.body)
		}
	}
	if reloads != 2 {
		t.Errorf("the configuration was read %d times, want twice", reloads)
	}
	w := answer(private, "GET", "/status")
	var all Processes
	if err := json.Unmarshal(w.Body.Bytes(), &all); err != nil || all.Processes == nil || all.Unreachable == nil {
		t.Errorf("%v in %s: lists that are empty are no null", err, w.Body)
	}
	if !strings.HasPrefix(w.Body.String(), "{\n  \"processes\"") {
		t.Errorf("it is not indented: %s", w.Body)
	}
	if got := w.Header().Get("Content-Type"); got != "application/json" {
		t.Errorf("it is %s", got)
	}
}

// TestHTTPStuck: a loop that does not respond is reported, and no request waits forever.
func TestHTTPStuck(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDaemon(t, Options{Load: func() (*config.Loaded, error) { return config.Load("", nil) }})
		for _, path := range []string{"/healthz", "/status"} {
			began := time.Now()
			if w := answer(d.controlHandler(), "GET", path); w.Code != 503 || w.Body.String() != "gclog does not respond\n" || time.Since(began) != 5*time.Second {
				t.Errorf("%s: %d %s after %v", path, w.Code, w.Body, time.Since(began))
			}
		}
		close(d.stopped)
		if w := answer(d.controlHandler(), "POST", "/reload"); w.Code != 409 || w.Body.String() != "gclog does not respond\n" {
			t.Errorf("reload of a daemon that has ended: %d %s", w.Code, w.Body)
		}
		if w := answer(d.controlHandler(), "POST", "/rotate"); w.Code != 503 || w.Body.String() != "gclog does not respond\n" {
			t.Errorf("rotate of a daemon that has ended: %d %s", w.Code, w.Body)
		}
	})
}

// TestHTTPStorm: however many connections send nothing, or too much, the daemon keeps only a few of
// them open and still answers everybody.
func TestHTTPStorm(t *testing.T) {
	d := newDaemon(t, Options{})
	turn(t, d)
	d.ready.Store(true)
	if err := d.servers.serve("127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	defer d.servers.tcp.close()
	before := syscalls.OpenFiles(t, os.Getpid())
	var held []net.Conn
	defer func() {
		for _, c := range held {
			_ = c.Close()
		}
	}()
	for i := range 500 {
		c, err := net.Dial("tcp", d.servers.tcp.address)
		if err != nil {
			t.Fatal(err)
		}
		held = append(held, c)
		switch i % 3 {
		case 0: // kept open after an answer
			_, _ = c.Write([]byte("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"))
		case 1: // a header without an end
			_, _ = c.Write([]byte("GET /healthz HTTP/1.1\r\nX: " + strings.Repeat("x", 100)))
		default: // a body that never arrives
			_, _ = c.Write([]byte("GET /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: 99999\r\n\r\n"))
		}
	}
	for range 20 {
		answer, err := http.Get("http://" + d.servers.tcp.address + "/readyz")
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		if answer.StatusCode != 200 {
			t.Errorf("it is answered with %d", answer.StatusCode)
		}
	}
	// Our own connections, and those that the server has not closed.
	connections := func() int { return syscalls.OpenFiles(t, os.Getpid()) - before - len(held) }
	for deadline := time.Now().Add(30 * time.Second); connections() > httpMost+8; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("the server has %d connections", connections())
		}
	}
	c, err := net.Dial("tcp", d.servers.tcp.address)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_, _ = c.Write([]byte("GET /healthz HTTP/1.1\r\nHost: x\r\nX: " + strings.Repeat("x", 1<<20) + "\r\n\r\n"))
	b := make([]byte, 100)
	n, _ := io.ReadFull(c, b)
	if !strings.HasPrefix(string(b[:n]), "HTTP/1.1 431 ") {
		t.Errorf("a head of 1 MB is answered with %q", b[:n])
	}
}

// TestNotify: systemd is notified as a unit of Type=notify-reload with a watchdog requires.
func TestNotify(t *testing.T) {
	path := filepath.Join(t.TempDir(), "n")
	if len(path) > 100 {
		t.Skip("the temporary directory has too long a name for a socket")
	}
	l, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	t.Setenv("NOTIFY_SOCKET", path)
	t.Setenv("WATCHDOG_USEC", "100000")
	t.Setenv("WATCHDOG_PID", strconv.Itoa(os.Getpid()))
	// next returns the next message with this prefix.
	next := func(begin string) string {
		t.Helper()
		b := make([]byte, 1<<10)
		if err := l.SetReadDeadline(time.Now().Add(40 * time.Second)); err != nil {
			t.Fatal(err)
		}
		for {
			n, err := l.Read(b)
			if err != nil {
				t.Fatalf("%s does not come: %v", begin, err)
			}
			if strings.HasPrefix(string(b[:n]), begin) {
				return string(b[:n])
			}
		}
	}
	reload := make(chan struct{})
	d := newDaemon(t, Options{Reload: reload, Load: func() (*config.Loaded, error) { return nobody(t), nil }})
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	ended := make(chan error)
	go func() { ended <- d.Run(ctx) }()
	next("READY=1")
	next("WATCHDOG=1")
	next("WATCHDOG=1")
	before := monotonic()
	reload <- struct{}{}
	fields := strings.Split(next("RELOADING=1"), "\n")
	if len(fields) != 2 {
		t.Fatalf("of the reload it is told %q", fields)
	}
	usec, err := strconv.ParseInt(strings.TrimPrefix(fields[1], "MONOTONIC_USEC="), 10, 64)
	if at := time.Duration(usec) * time.Microsecond; err != nil || at < before-time.Microsecond || at > monotonic() {
		t.Errorf("the time of the reload is %s, not between %v and %v", fields[1], before, monotonic())
	}
	next("READY=1")
	cancel()
	next("STOPPING=1")
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// TestNotifyNobody: without systemd there is neither a message nor a watchdog.
func TestNotifyNobody(t *testing.T) {
	t.Setenv("NOTIFY_SOCKET", "")
	t.Setenv("WATCHDOG_USEC", "")
	if newWatchdog() != nil {
		t.Error("there is a watchdog")
	}
	notify(notifyReady)
	t.Setenv("WATCHDOG_USEC", "10000000")
	t.Setenv("WATCHDOG_PID", "")
	synctest.Test(t, func(t *testing.T) { // twice as often as systemd requires
		began, ticks := time.Now(), newWatchdog()
		for i := range 3 {
			<-ticks
			if at := time.Since(began); at != time.Duration(i+1)*5*time.Second {
				t.Errorf("the watchdog ticks after %v", at)
			}
		}
	})
	// The watchdog of another process does not concern this one.
	t.Setenv("WATCHDOG_USEC", "1000")
	t.Setenv("WATCHDOG_PID", strconv.Itoa(os.Getpid()+1))
	if newWatchdog() != nil {
		t.Error("it takes the watchdog of another process for its own")
	}
}

// listen has a daemon open ports.
func listen(d *Daemon, paths ...string) error {
	next := *d.config
	next.Discovery.Listen = paths
	_, err := d.ports.prepare(&next)
	return err
}

// TestPorts: either all configured ports are open, or none of the new ones.
func TestPorts(t *testing.T) {
	dir, err := os.MkdirTemp("", "gclog-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	d := newDaemon(t, Options{})
	defer d.ports.closeBut(nil)
	one, two, bad := filepath.Join(dir, "1"), filepath.Join(dir, "2"), filepath.Join(dir, "none", "3")
	there := func() (list []string) {
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			list = append(list, filepath.Join(dir, e.Name()))
		}
		return list
	}
	if err := listen(d, one); err != nil {
		t.Fatal(err)
	}
	kept := d.ports.byPath[one]
	if err := listen(d, one, two, bad); err == nil {
		t.Error("a port in a folder that is not there")
	}
	if got := there(); !slices.Equal(got, []string{one}) {
		t.Errorf("after an error there are %q", got)
	}
	if err := listen(d, two, one); err != nil {
		t.Fatal(err)
	}
	if d.ports.byPath[one] != kept {
		t.Error("a port that stays was made anew")
	}
	d.ports.closeBut([]string{two})
	if got := there(); !slices.Equal(got, []string{two}) {
		t.Errorf("there are %q, want that which stays", got)
	}
	d.ports.closeBut(nil)
	if got := there(); got != nil {
		t.Errorf("%q are left", got)
	}
}
