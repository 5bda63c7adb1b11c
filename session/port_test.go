//go:build unix

package session_test

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	goruntime "runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gclog/gclog/internal/testing/ipc"
	"github.com/gclog/gclog/session"
	"golang.org/x/sys/unix"
)

// listenPort opens a port, which is closed at the end of the test. Runtimes have a long time to
// reconnect, unless the test changes that with soonGone.
func listenPort(t *testing.T) (*session.Port, string) {
	t.Helper()
	return listenFor(t, session.PortConnections)
}

func listenFor(t *testing.T, connections int) (*session.Port, string) {
	t.Helper()
	path := filepath.Join(ipc.ShortDir(t), "port")
	p, err := session.Listen(path, connections)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	p.Times(impatience, patience, patience)
	return p, path
}

// soonGone makes runtimes that connect from now on gone soon after their last connection.
func soonGone(p *session.Port) { p.Times(impatience, patience, impatience) }

func next(t *testing.T, p *session.Port) *session.Peer {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	peer, err := p.Next(ctx)
	if err != nil {
		t.Fatal(err)
	}
	peer.Timeout = patience
	return peer
}

// waitClosed waits until the other end closes the connection.
func waitClosed(t *testing.T, conn net.Conn, what string) {
	t.Helper()
	_ = conn.SetReadDeadline(time.Now().Add(patience))
	if n, err := conn.Read(make([]byte, 1)); n != 0 || !errors.Is(err, io.EOF) && !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("%s: %d bytes, error %v, want it closed", what, n, err)
	}
}

func TestPortEnvironment(t *testing.T) {
	if got, want := session.Environment("/run/x", false), "/run/x,nosuspend"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got, want := session.Environment("/run/x", true), "/run/x,suspend"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestPort: a runtime announces itself, accepts one command on the connection, and reconnects for
// the next one. It stays the same peer.
func TestPort(t *testing.T) {
	p, path := listenPort(t)
	if info, err := os.Stat(path); err != nil || info.Mode().Type() != fs.ModeSocket || info.Mode().Perm() != 0o666 {
		t.Errorf("the port is %v, error %v: every user must reach it", info, err)
	}
	streaming := make(chan net.Conn, 1)
	r := ipc.Announce(t, path, ipc.First, func(conn net.Conn, request []byte) bool {
		_, _ = conn.Write(ipc.Answer(make([]byte, 64)))
		if request[16] == 2 {
			streaming <- conn
			return true
		}
		return false
	})
	peer := next(t, p)
	if peer.Cookie != ipc.FirstCookie || peer.Inner != 1234 {
		t.Errorf("peer %s with pid %d, want %s and 1234", peer.Cookie, peer.Inner, ipc.FirstCookie)
	}
	if goruntime.GOOS == "linux" && peer.PID != os.Getpid() {
		t.Errorf("the peer is process %d, want %d", peer.PID, os.Getpid())
	}
	for range 5 {
		if err := peer.Resume(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := peer.ProcessInfo(t.Context()); err != nil {
		t.Error(err)
	}
	s, err := peer.StartTracing(t.Context(), config())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	stream := <-streaming
	defer stream.Close()
	poller, err := session.NewPoller()
	if err != nil {
		t.Fatal(err)
	}
	defer poller.Close()
	s.PollWith(poller)
	_, _ = stream.Write([]byte("Nettrace"))
	s.IdleTimeout = patience
	b := make([]byte, 8)
	if _, err := io.ReadFull(s, b); err != nil || string(b) != "Nettrace" {
		t.Errorf("the stream begins with %q, error %v", b, err)
	}
	if err := peer.Resume(t.Context()); err != nil { // the stream has a connection of its own
		t.Error(err)
	}
	if got := r.Seen(); got != "0401 0401 0401 0401 0401 0408 0206 0401" {
		t.Errorf("commands %s", got)
	}
	// All that was one peer: the next one is another runtime.
	ipc.Advertise(t, path, ipc.Second)
	if peer := next(t, p); peer.Cookie != ipc.SecondCookie || peer.Inner != 1 {
		t.Errorf("peer %s with pid %d, want %s and 1", peer.Cookie, peer.Inner, ipc.SecondCookie)
	}
}

// TestPortTwoRuntimes: each command goes to the intended runtime.
func TestPortTwoRuntimes(t *testing.T) {
	p, path := listenPort(t)
	for _, hello := range []string{ipc.First, ipc.Second} {
		pid := ipc.Unhex(t, hello)[24:32]
		ipc.Announce(t, path, hello, func(conn net.Conn, _ []byte) bool {
			_, _ = conn.Write(ipc.Answer(append(append([]byte{1, 0, 0, 0}, pid...), make([]byte, 16+6*4)...)))
			return false
		})
	}
	peers := []*session.Peer{next(t, p), next(t, p)}
	if peers[0].Cookie == peers[1].Cookie {
		t.Fatalf("both are %s", peers[0].Cookie)
	}
	for range 3 {
		for _, peer := range peers {
			info, err := peer.ProcessInfo(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if info.PID != uint64(peer.Inner) {
				t.Errorf("process %d answers for %d", info.PID, peer.Inner)
			}
		}
	}
}

// TestPortWaits: a command waits until the runtime has reconnected, and gives up if it does not.
func TestPortWaits(t *testing.T) {
	p, path := listenPort(t)
	first := ipc.Advertise(t, path, ipc.First)
	peer := next(t, p)
	done := make(chan error, 1)
	go func() {
		err := peer.Resume(t.Context())
		if err == nil {
			err = peer.Resume(t.Context())
		}
		done <- err
	}()
	if ipc.ReadRequest(first) == nil {
		t.Fatal("no request")
	}
	_, _ = first.Write(ipc.Answer(nil))
	_ = first.Close()
	again := ipc.Advertise(t, path, ipc.First)
	if ipc.ReadRequest(again) == nil {
		t.Fatal("no second request")
	}
	_, _ = again.Write(ipc.Answer(nil))
	_ = again.Close()
	if err := <-done; err != nil {
		t.Error(err)
	}
	peer.Timeout = impatience
	if err := peer.Resume(t.Context()); !errors.Is(err, session.ErrNoAnswer) {
		t.Errorf("the runtime does not come back: error %v, want one that wraps ErrNoAnswer", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := peer.Resume(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want %v", err, context.Canceled)
	}
}

// TestPortNewestConnection: a runtime has one idle connection, so the older one of two is dead.
func TestPortNewestConnection(t *testing.T) {
	p, path := listenPort(t)
	older := ipc.Advertise(t, path, ipc.First)
	peer := next(t, p)
	ipc.Announce(t, path, ipc.First, func(conn net.Conn, _ []byte) bool {
		_, _ = conn.Write(ipc.Answer(nil))
		return false
	})
	waitClosed(t, older, "the older connection")
	if err := peer.Resume(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestPeerCloseRead: what a runtime has sent can be read after CloseRead, even if the connection
// came from a port.
func TestPeerCloseRead(t *testing.T) {
	p, path := listenPort(t)
	const sent = "what has come"
	ipc.Announce(t, path, ipc.First, func(conn net.Conn, _ []byte) bool {
		_, _ = conn.Write(append(ipc.Answer(ipc.Unhex(t, "efcdab8967452301")), sent...))
		return false
	})
	s, err := next(t, p).StartTracing(t.Context(), config())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.CloseRead(); err != nil {
		t.Fatal(err)
	}
	if b, err := io.ReadAll(s); err != nil || string(b) != sent {
		t.Errorf("%q, error %v", b, err)
	}
}

// TestPortGarbage: a connection that does not announce itself is closed, and does no harm.
func TestPortGarbage(t *testing.T) {
	p, path := listenPort(t)
	for name, hello := range map[string]string{
		"another protocol": hex.EncodeToString([]byte("GET / HTTP/1.1\r\nHost: localhost:80\r\n\r\n")),
		"another version":  "414456525f563200" + strings.TrimPrefix(ipc.First, ipc.Magic),
		"zeros":            strings.Repeat("00", 34),
	} {
		waitClosed(t, ipc.Advertise(t, path, hello), name)
	}
	short := ipc.Advertise(t, path, ipc.Magic)
	_ = short.Close()
	ipc.Advertise(t, path, ipc.First)
	if peer := next(t, p); peer.Cookie != ipc.FirstCookie {
		t.Errorf("peer %s", peer.Cookie)
	}
}

// TestPortForget: a runtime that was forgotten is a new one when it comes back.
func TestPortForget(t *testing.T) {
	p, path := listenPort(t)
	conn := ipc.Advertise(t, path, ipc.First)
	peer := next(t, p)
	p.Forget(peer)
	<-peer.Gone()
	p.Forget(peer) // no longer has an effect
	waitClosed(t, conn, "the connection of what was forgotten")
	ipc.Advertise(t, path, ipc.First)
	if again := next(t, p); again == peer || again.Cookie != peer.Cookie {
		t.Errorf("peer %v, want another one with the same cookie", again)
	}
}

// TestPortFull: a runtime that connects when there are too many peers is still resumed.
func TestPortFull(t *testing.T) {
	t.Parallel()
	p, path := listenPort(t)
	p.Limit(1, patience)
	soonGone(p)
	first := ipc.Advertise(t, path, ipc.First)
	peer := next(t, p)
	second := ipc.Advertise(t, path, ipc.Second)
	if request := ipc.ReadRequest(second); request == nil || hex.EncodeToString(request[16:18]) != "0401" {
		t.Fatalf("it hears % x, want to be let go", request)
	}
	// A runtime ignores a command on a connection that is closed before it answers.
	_ = second.SetReadDeadline(time.Now().Add(impatience))
	if n, err := second.Read(make([]byte, 1)); n != 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("before it answers: %d bytes, error %v", n, err)
	}
	_, _ = second.Write(ipc.Answer(nil))
	waitClosed(t, second, "who was turned away")
	waitClosed(t, ipc.Advertise(t, path, ipc.Second+"00"), "who talks too early")
	if n := p.Rejected(); n != 2 {
		t.Errorf("%d were turned away", n)
	}
	_ = first.Close() // there is room again
	<-peer.Gone()
	ipc.Advertise(t, path, ipc.Second)
	if again := next(t, p); again.Cookie != ipc.SecondCookie {
		t.Errorf("peer %s", again.Cookie)
	}
}

// TestPortSilent: silent connections neither keep others out nor keep the port from closing. Each has
// at least 20 ms to announce itself.
func TestPortSilent(t *testing.T) {
	p, path := listenPort(t)
	p.Limit(5, time.Hour)
	began := time.Now()
	oldest := ipc.Advertise(t, path, "")
	var newest net.Conn
	for range 5 {
		newest = ipc.Advertise(t, path, "")
	}
	waitClosed(t, oldest, "the oldest of those that say nothing")
	if took := time.Since(began); took < 20*time.Millisecond {
		t.Errorf("it had %v", took)
	}
	ipc.Advertise(t, path, ipc.First)
	next(t, p)
	_ = p.Close()
	waitClosed(t, newest, "the newest")
}

// TestPortProcess: a process can have only a few runtimes, and a few connections that belong to
// none. It is still resumed.
func TestPortProcess(t *testing.T) {
	p, path := listenPort(t)
	cookie := func(n int) string { return strings.ReplaceAll(ipc.First, "eeff", fmt.Sprintf("%04x", n)) }
	const peers, strangers = 4, 16
	for n := range peers {
		ipc.Advertise(t, path, cookie(n))
		next(t, p)
	}
	more := ipc.Advertise(t, path, cookie(peers))
	if request := ipc.ReadRequest(more); request == nil || hex.EncodeToString(request[16:18]) != "0401" {
		t.Fatalf("it hears % x, want to be let go", request)
	}
	_ = more.Close()
	p.Limit(100, time.Hour)
	oldest := ipc.Advertise(t, path, "")
	for range strangers {
		ipc.Advertise(t, path, "")
	}
	waitClosed(t, oldest, "the oldest of the process")
}

// TestSurplus: the caller with the most seats makes way, root last.
func TestSurplus(t *testing.T) {
	for _, tc := range []struct {
		list []session.Caller
		want int
	}{
		{nil, -1},
		{[]session.Caller{{1, 7}}, 0},
		{[]session.Caller{{1, 7}, {2, 8}}, 0},
		{[]session.Caller{{1, 7}, {2, 8}, {3, 8}}, 1},
		{[]session.Caller{{2, 8}, {1, 7}, {3, 8}}, 0},
		{[]session.Caller{{1, 7}, {2, 8}, {3, 8}, {3, 8}}, 2},
		{[]session.Caller{{3, 8}, {1, 7}, {2, 8}, {3, 8}}, 0},
		{[]session.Caller{{1, 0}, {1, 0}, {1, 0}, {2, 8}}, 3},
		{[]session.Caller{{2, 8}, {1, 0}, {1, 0}}, 0},
		{[]session.Caller{{1, 0}, {2, 0}, {2, 0}}, 1},
		{[]session.Caller{{0, -1}, {0, 7}, {0, 7}}, 1},
		{[]session.Caller{{1, 7}, {1, 7}, {1, 7}, {2, 8}, {3, 8}, {4, 8}, {5, 8}}, 3},
	} {
		if got := session.Surplus(tc.list...); got != tc.want {
			t.Errorf("%v: %d, want %d", tc.list, got, tc.want)
		}
	}
	pipe, end := net.Pipe()
	defer pipe.Close()
	defer end.Close()
	if got, want := session.CallerOf(pipe), (session.Caller{PID: 0, UID: -1}); got != want {
		t.Errorf("who nothing is known of: %+v, want %+v", got, want)
	}
}

// TestPortPlaces: half of the connections are for runtimes, at least one.
func TestPortPlaces(t *testing.T) {
	for connections, want := range map[int]int{-1: 1, 0: 1, 1: 1, 3: 1, 4: 2, 5: 2, 6: 3} {
		t.Run(fmt.Sprint(connections), func(t *testing.T) {
			t.Parallel()
			p, path := listenFor(t, connections)
			for n := range want + 1 {
				conn := ipc.Advertise(t, path, strings.ReplaceAll(ipc.First, "eeff", fmt.Sprintf("%04x", n)))
				if n < want {
					next(t, p)
				} else if request := ipc.ReadRequest(conn); request == nil || p.Rejected() != 1 {
					t.Errorf("%d peers, %d turned away", p.Peers(), p.Rejected())
				}
			}
		})
	}
}

// TestPortNobodyListens: if Next is not called, the number of waiting runtimes is limited.
func TestPortNobodyListens(t *testing.T) {
	t.Parallel()
	p, path := listenFor(t, 2)
	soonGone(p)
	first := ipc.Advertise(t, path, ipc.First)
	waitFor(t, func() bool { return p.Peers() == 1 })
	_ = first.Close()
	waitFor(t, func() bool { return p.Peers() == 0 })
	second := ipc.Advertise(t, path, ipc.Second)
	if request := ipc.ReadRequest(second); request == nil || p.Rejected() != 1 || p.Peers() != 0 {
		t.Errorf("%d turned away, %d peers", p.Rejected(), p.Peers())
	}
}

func waitFor(t *testing.T, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waited %v", patience)
		}
	}
}

// TestPortError: why a port cannot be created, and what to do.
func TestPortError(t *testing.T) {
	_, taken := listenPort(t)
	dir := ipc.ShortDir(t)
	for path, want := range map[string]string{
		taken:                                "listening on " + taken + ": address already in use: another program listens there, or it is not a socket",
		filepath.Join(dir, "none", "port"):   "listening on " + filepath.Join(dir, "none", "port") + ": no such file or directory: its directory must exist",
		filepath.Join(taken, "port"):         "listening on " + filepath.Join(taken, "port") + ": not a directory",
		dir + "/" + strings.Repeat("x", 200): "listening on " + dir + "/" + strings.Repeat("x", 200) + ": invalid argument",
	} {
		if p, err := session.Listen(path, 10); err == nil {
			_ = p.Close()
			t.Errorf("%s: it listens", path)
		} else if !strings.HasPrefix(err.Error(), want[:min(len(want), 120)]) || !strings.HasSuffix(err.Error(), want[max(0, len(want)-30):]) {
			t.Errorf("error %v, want %s", err, want)
		}
	}
}

// TestPeerGone: the end of a runtime is detected by its connection.
func TestPeerGone(t *testing.T) {
	for name, end := range map[string]func(t *testing.T, peer *session.Peer, conn net.Conn){
		"while it waits": func(_ *testing.T, _ *session.Peer, conn net.Conn) { _ = conn.Close() },
		"when it should answer": func(t *testing.T, peer *session.Peer, conn net.Conn) {
			go func() {
				ipc.ReadRequest(conn)
				_ = conn.Close()
			}()
			if err := peer.Resume(t.Context()); err == nil {
				t.Error("there is an answer")
			}
		},
		"with a byte that nobody asked for": func(t *testing.T, _ *session.Peer, conn net.Conn) {
			_, _ = conn.Write([]byte("x"))
			waitClosed(t, conn, "who talks too early")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, path := listenPort(t)
			soonGone(p)
			conn := ipc.Advertise(t, path, ipc.First)
			peer := next(t, p)
			end(t, peer, conn)
			peer.Timeout = time.Hour
			if err := peer.Resume(t.Context()); err == nil || errors.Is(err, session.ErrNoAnswer) {
				t.Errorf("a request to it: %v", err)
			}
			<-peer.Gone()
			p.Forget(peer) // as a caller does that has waited for that
			ipc.Advertise(t, path, ipc.First)
			if again := next(t, p); again == peer || again.Cookie != ipc.FirstCookie {
				t.Errorf("peer %v, want another one with the same cookie", again)
			}
			p.Forget(peer) // another peer than that one
			ipc.Advertise(t, path, ipc.First)
			ipc.Advertise(t, path, ipc.Second)
			if other := next(t, p); other.Cookie != ipc.SecondCookie {
				t.Error("the other one was forgotten")
			}
		})
	}
}

// TestPeerStays: a runtime that reconnects is not gone, nor is one that is stopped with our
// request. A port that is closed reports nothing about its peers.
func TestPeerStays(t *testing.T) {
	t.Parallel()
	p, path := listenPort(t)
	conn := ipc.Advertise(t, path, ipc.First)
	back := next(t, p)
	replaced, missing := back.Newest()
	_ = conn.Close()
	conn = ipc.Advertise(t, path, ipc.First)
	waitFor(t, replaced)
	missing() // what happens if no other connection has come in time

	soonGone(p)
	ipc.Advertise(t, path, ipc.Second)
	stopped := next(t, p)
	stopped.Timeout = impatience
	if err := stopped.Resume(t.Context()); !errors.Is(err, session.ErrNoAnswer) {
		t.Errorf("error %v, want %v", err, session.ErrNoAnswer)
	}

	ended := ipc.Advertise(t, path, strings.ReplaceAll(ipc.Second, "ee00", "ee01"))
	last := next(t, p)
	_ = ended.Close()
	<-last.Gone() // so the others would be gone, too
	for _, peer := range []*session.Peer{back, stopped} {
		select {
		case <-peer.Gone():
			t.Errorf("peer %s is gone", peer.Cookie)
		default:
		}
	}
	go func() {
		ipc.ReadRequest(conn)
		_, _ = conn.Write(ipc.Answer(nil))
	}()
	if err := back.Resume(t.Context()); err != nil {
		t.Error(err)
	}
	_ = p.Close()
	select {
	case <-stopped.Gone():
		t.Error("a peer is gone with the port")
	default:
	}
}

// TestPortClose: everything that waits ends, and the socket is removed.
func TestPortClose(t *testing.T) {
	t.Parallel()
	p, path := listenPort(t)
	silent := ipc.Advertise(t, path, "")
	half := ipc.Advertise(t, path, ipc.Magic)
	idle := ipc.Advertise(t, path, ipc.First)
	next(t, p) // so the others have been accepted too
	end := make(chan error, 1)
	go func() {
		_, err := p.Next(context.Background())
		end <- err
	}()
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	if err := <-end; !errors.Is(err, net.ErrClosed) {
		t.Errorf("Next returns %v, want %v", err, net.ErrClosed)
	}
	waitClosed(t, idle, "the connection that waits for a command")
	waitClosed(t, silent, "the connection that says nothing")
	waitClosed(t, half, "the connection that says half of it")
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the socket is still there: %v", err)
	}
}

// TestPortClosing: who connects while the port is being closed is dropped.
func TestPortClosing(t *testing.T) {
	p, path := listenPort(t)
	p.BeginClose()
	conn, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	waitClosed(t, conn, "who connects late")
}

func TestPortNextCancelled(t *testing.T) {
	p, _ := listenPort(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.Next(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

// TestPeerReconnects: a request waits for a new connection if the runtime has ended its last one.
func TestPeerReconnects(t *testing.T) {
	p, path := listenPort(t)
	conn := ipc.Advertise(t, path, ipc.First)
	peer := next(t, p)
	_, _ = conn.Write([]byte("x"))
	waitClosed(t, conn, "who talks too early")
	answered := make(chan error)
	go func() { answered <- peer.Resume(t.Context()) }()
	again := ipc.Advertise(t, path, ipc.First)
	_ = again.SetDeadline(time.Now().Add(patience))
	ipc.ReadRequest(again)
	_, _ = again.Write(ipc.Answer(make([]byte, 4)))
	if err := <-answered; err != nil {
		t.Error(err)
	}
}

// TestPortStale: a socket left behind by a listener that has ended is replaced.
func TestPortStale(t *testing.T) {
	path := filepath.Join(ipc.ShortDir(t), "port")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	l.(*net.UnixListener).SetUnlinkOnClose(false)
	_ = l.Close()
	p, err := session.Listen(path, session.PortConnections)
	if err != nil {
		t.Fatal(err)
	}
	ipc.Advertise(t, path, ipc.First)
	next(t, p)
	_ = p.Close()
}

// TestPortTaken: a socket with a listener is not replaced, even if the listener is too busy to
// accept another connection.
func TestPortTaken(t *testing.T) {
	t.Run("another port", func(t *testing.T) {
		p, path := listenPort(t)
		if second, err := session.Listen(path, session.PortConnections); err == nil {
			_ = second.Close()
			t.Fatal("there are two listeners")
		} else if !strings.Contains(err.Error(), path) {
			t.Errorf("the error does not name the path: %v", err)
		}
		ipc.Advertise(t, path, ipc.First)
		next(t, p)
	})
	t.Run("busy", func(t *testing.T) {
		path := filepath.Join(ipc.ShortDir(t), "port")
		fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer unix.Close(fd)
		if err := errors.Join(unix.Bind(fd, &unix.SockaddrUnix{Name: path}), unix.Listen(fd, 0)); err != nil {
			t.Fatal(err)
		}
		for { // until the queue is full
			conn, err := net.Dial("unix", path)
			if err != nil {
				break
			}
			defer conn.Close()
		}
		before, err := os.Lstat(path)
		if err != nil {
			t.Fatal(err)
		}
		if p, err := session.Listen(path, session.PortConnections); err == nil {
			_ = p.Close()
			t.Error("there are two listeners")
		}
		if after, err := os.Lstat(path); err != nil || !os.SameFile(before, after) {
			t.Error("the socket of the other listener is gone")
		}
	})
}

// TestPortNoSocket: a file that is not a socket is not removed.
func TestPortNoSocket(t *testing.T) {
	path := filepath.Join(ipc.ShortDir(t), "port")
	want := []byte("somebody needs this")
	if err := os.WriteFile(path, want, 0o600); err != nil {
		t.Fatal(err)
	}
	if p, err := session.Listen(path, session.PortConnections); err == nil {
		_ = p.Close()
		t.Error("it listens on a file")
	}
	if b, err := os.ReadFile(path); err != nil || !slices.Equal(b, want) {
		t.Errorf("the file is %q now, error %v", b, err)
	}
	if p, err := session.Listen(filepath.Join(path, "port"), session.PortConnections); err == nil {
		_ = p.Close()
		t.Error("it listens below a file")
	}
}
