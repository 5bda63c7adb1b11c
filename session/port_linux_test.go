package session_test

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/gclog/gclog/session"
	"golang.org/x/sys/unix"
)

func init() { helpers["stranger"] = helpStranger }

// helpStranger repeatedly announces itself with the bytes in one variable to the port in the other
// one. It answers the commands that it receives, and prints them.
func helpStranger() error {
	hello, err := hex.DecodeString(os.Getenv(helloVariable))
	if err != nil {
		return err
	}
	for {
		conn, err := net.Dial("unix", os.Getenv(portVariable))
		if errors.Is(err, syscall.EAGAIN) { // too many connections wait to be accepted
			continue
		} else if err != nil {
			return err
		}
		_, _ = conn.Write(hello)
		if request := readRequest(conn); request != nil {
			fmt.Printf("%x\n", request[16:18])
			_, _ = conn.Write(answer(nil))
		}
		_ = conn.Close()
	}
}

const (
	portVariable  = "GCLOG_SESSION_PORT"
	helloVariable = "GCLOG_SESSION_HELLO"
	nobody        = 65534
)

// A stranger is another process that announces itself.
type stranger struct {
	pid  int
	says *bufio.Reader
}

func (s stranger) awaitResumed(t *testing.T) {
	t.Helper()
	if line, err := s.says.ReadString('\n'); err != nil || line != "0401\n" {
		t.Errorf("it hears %q, error %v, want to be let go", line, err)
	}
}

// startStranger starts a process of a user that announces itself until the end of the test.
func startStranger(t *testing.T, path, hello string, user int) stranger {
	t.Helper()
	if user != os.Geteuid() && os.Geteuid() != 0 {
		t.Skip("only root can start a process of another user")
	}
	if err := os.Chmod(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(publicCopy(t))
	cmd.Env = helperEnviron("stranger", portVariable+"="+path, helloVariable+"="+strings.ReplaceAll(hello, " ", ""))
	cmd.Dir = "/"
	if user != os.Geteuid() {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(user), Gid: uint32(user)}}
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return stranger{cmd.Process.Pid, bufio.NewReader(out)}
}

// TestPortStranger: another process that sends the cookie of a peer is another peer, whichever user
// it belongs to, and takes nothing away from the first.
func TestPortStranger(t *testing.T) {
	for name, user := range map[string]int{"the same user": os.Geteuid(), "another user": nobody} {
		t.Run(name, func(t *testing.T) {
			p, path := listenPort(t)
			announce(t, path, firstHex, func(conn net.Conn, _ []byte) bool {
				_, _ = conn.Write(answer(nil))
				return false
			})
			peer := next(t, p)
			s := startStranger(t, path, firstHex, user)
			other := next(t, p)
			if peer.PID != os.Getpid() || other.PID != s.pid || other.Cookie != peer.Cookie {
				t.Errorf("peers of the processes %d and %d, want %d and %d", peer.PID, other.PID, os.Getpid(), s.pid)
			}
			for _, x := range []*session.Peer{other, peer} {
				if err := x.Resume(t.Context()); err != nil {
					t.Errorf("process %d: %v", x.PID, err)
				}
			}
			s.awaitResumed(t)
			select {
			case <-peer.Gone():
				t.Error("the first peer is gone")
			default:
			}
		})
	}
}

// TestPortShares: a user who has all places loses up to half of them, one for each peer of another
// user, but none that is held. Root loses none. A runtime without a place is resumed.
func TestPortShares(t *testing.T) {
	const places = 4
	for name, tc := range map[string]struct {
		first, second int // users
		held          int
		want          int // peers of the second
	}{
		"another user":        {nobody, nobody - 1, 0, 2},
		"one place is free":   {nobody, nobody - 1, 3, 1},
		"all places are held": {nobody, nobody - 1, 4, 0},
		"the first is root":   {0, nobody, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			p, path := listenPort(t)
			p.Limit(places, patience)
			hello := func(n int) string { return strings.ReplaceAll(firstHex, "eeff", fmt.Sprintf("%04x", n)) }
			for n := range places {
				startStranger(t, path, hello(n), tc.first)
				if peer := next(t, p); n < tc.held {
					peer.Hold()
				}
			}
			var others []stranger
			for n := range 3 {
				others = append(others, startStranger(t, path, hello(100+n), tc.second))
			}
			for range tc.want {
				peer := next(t, p)
				if target := peer.Target(); target.UID != tc.second {
					t.Errorf("a process of user %d got a place", target.UID)
				}
				peer.Hold()
				go func() { _ = peer.Resume(t.Context()) }()
			}
			for _, s := range others {
				s.awaitResumed(t)
			}
			ctx, cancel := context.WithTimeout(t.Context(), impatience)
			defer cancel()
			if peer, err := p.Next(ctx); err == nil {
				t.Errorf("a process of user %d got one place too many", peer.Target().UID)
			}
		})
	}
}

// TestPortFlood: a process that is suspended during startup is resumed, however many connections
// others make, whether they announce themselves or not.
func TestPortFlood(t *testing.T) {
	for name, hello := range map[string]string{"silent": "", "half": advertiseHex, "whole": firstHex} {
		t.Run(name, func(t *testing.T) {
			p, path := listenPort(t)
			p.Limit(32, patience)
			flood := make([]chan error, 0)
			end := make(chan struct{})
			t.Cleanup(func() {
				close(end)
				for _, f := range flood {
					<-f
				}
			})
			for range 4 {
				done := make(chan error, 1)
				flood = append(flood, done)
				go func() {
					defer close(done)
					b, _ := hex.DecodeString(strings.ReplaceAll(hello, " ", ""))
					for n := 0; ; n++ {
						select {
						case <-end:
							return
						default:
						}
						conn, err := net.Dial("unix", path)
						if err != nil {
							return
						}
						defer conn.Close()
						if len(b) > 16 {
							binary.LittleEndian.PutUint32(b[20:], uint32(n))
						}
						_, _ = conn.Write(b)
						if n > 5000 {
							return
						}
					}
				}()
			}
			ctx, cancel := context.WithCancel(t.Context())
			var group sync.WaitGroup
			defer group.Wait()
			defer cancel()
			group.Go(func() {
				for {
					peer, err := p.Next(ctx)
					if err != nil {
						return
					}
					group.Go(func() { _ = peer.Resume(ctx) })
				}
			})
			for range 10 {
				startStranger(t, path, secondHex, nobody).awaitResumed(t)
			}
		})
	}
}

// TestPeerStart: the process that made a connection is identified by its start time while it runs.
func TestPeerStart(t *testing.T) {
	path := filepath.Join(shortDir(t), "socket")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	s := startStranger(t, path, firstHex, os.Geteuid())
	conn, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	p, err := new(session.Host).Describe(s.pid)
	if err != nil {
		t.Fatal(err)
	}
	self, err := new(session.Host).Describe(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	if got := session.PeerStart(conn, s.pid); got != p.StartKey {
		t.Errorf("it started at %d, want %d", got, p.StartKey)
	}
	pipe, end := net.Pipe()
	defer pipe.Close()
	defer end.Close()
	if got := session.PeerStart(pipe, os.Getpid()); got != self.StartKey {
		t.Errorf("by a pipe: it started at %d, want %d", got, self.StartKey)
	}
	if got := session.PeerStart(conn, 99_999_999); got != 0 {
		t.Errorf("of no process: %d", got)
	}
	leavesNothing(t, os.Getpid(), func() { session.PeerStart(conn, s.pid) })
	for errno, want := range map[unix.Errno]uint64{
		unix.EINVAL: 0, unix.ESRCH: 0, // it has ended
		unix.ENOPROTOOPT: p.StartKey, unix.EPERM: p.StartKey, // the kernel does not tell
	} {
		fault{unix.SYS_GETSOCKOPT, errno, &[2]uint32{2, unix.SO_PEERPIDFD}}.inject(t, func() {
			if got := session.PeerStart(conn, s.pid); got != want {
				t.Errorf("with %v: it started at %d, want %d", errno, got, want)
			}
		})
	}
	if err := unix.Kill(s.pid, unix.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if _, err := unix.Wait4(s.pid, nil, 0, nil); err != nil {
		t.Fatal(err)
	}
	if fd, err := peerDescriptor(conn); errors.Is(err, unix.ENOPROTOOPT) {
		t.Skipf("this kernel does not tell: %v", err)
	} else if err == nil {
		_ = unix.Close(fd)
	}
	if got := session.PeerStart(conn, os.Getpid()); got != 0 {
		t.Errorf("another process has got its number: it started at %d", got)
	}
}

func peerDescriptor(conn net.Conn) (fd int, err error) {
	raw, err := conn.(*net.UnixConn).SyscallConn()
	if err != nil {
		return -1, err
	}
	cerr := raw.Control(func(c uintptr) { fd, err = unix.GetsockoptInt(int(c), unix.SOL_SOCKET, unix.SO_PEERPIDFD) })
	return fd, errors.Join(cerr, err)
}

// TestPeerOfAnother: what this host shows for the pid of a peer is not attributed to the peer if it
// is another process.
func TestPeerOfAnother(t *testing.T) {
	p, path := listenPort(t)
	advertise(t, path, firstHex)
	peer := next(t, p)
	if target := peer.Target(); target.Name == "" || target.PID != os.Getpid() || target.Executable == "" {
		t.Errorf("the process itself: %+v", target.Process)
	}
	peer.PID = run(t, spec{Sockets: []string{exact}}).pid
	if target := peer.Target(); target.Name != "" || target.PID != peer.PID || target.InnerPID != 1234 || target.UID != os.Geteuid() || target.Startup() != session.StartupUnknown {
		t.Errorf("another one: %+v", target.Process)
	}
}

// TestChmodSocket: only a socket of our own without other links gets another mode.
func TestChmodSocket(t *testing.T) {
	dir := shortDir(t)
	at := func(name string) string { return filepath.Join(dir, name) }
	for _, name := range []string{"own", "linked", "given"} {
		listenAs(t, at(name))
		if err := os.Chmod(at(name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(os.Link(at("linked"), at("second")), os.Symlink("own", at("link")), os.WriteFile(at("file"), nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	leavesNothing(t, os.Getpid(), func() {
		for name, ok := range map[string]bool{"own": true, "linked": false, "second": false, "link": false, "file": false, "missing": false} {
			err := session.ChmodSocket(at(name), 0o640)
			mode := os.FileMode(0o600)
			if ok {
				mode = 0o640
			}
			if info, lerr := os.Lstat(at(name)); (err == nil) != ok || lerr == nil && info.Mode()&os.ModeSymlink == 0 && info.Mode().Perm() != mode {
				t.Errorf("%s: error %v, %v", name, err, info.Mode())
			}
		}
	})
	giveAway(t, at("given"))
	if err := session.ChmodSocket(at("given"), 0o640); err == nil {
		t.Error("that of another user was changed")
	}
}

// TestPeerUnseen: if this host does not show the process, the process with its pid here is another
// one.
func TestPeerUnseen(t *testing.T) {
	for name, pid := range map[string]int{"in another pid namespace": 0, "not to be looked at": 99_999_999} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, path := listenPort(t)
			soonGone(p)
			self := fmt.Sprintf("%02x%02x%02x%02x", byte(os.Getpid()), byte(os.Getpid()>>8), byte(os.Getpid()>>16), byte(os.Getpid()>>24))
			conn := advertise(t, path, strings.Replace(firstHex, "d2040000", self, 1))
			peer := next(t, p)
			peer.PID = pid
			target := peer.Target()
			want := pid
			if pid == 0 {
				want = os.Getpid()
			}
			if target.PID != want || target.InnerPID != os.Getpid() || !target.Alive() {
				t.Errorf("process %d (%d), alive %v", target.PID, target.InnerPID, target.Alive())
			}
			m := target.OpenMemory()
			defer m.Close()
			if resident, group, limit := m.Read(); resident+group+limit != 0 {
				t.Errorf("memory %d, %d, %d", resident, group, limit)
			}
			if b, err := target.ReadFile(t.Context(), "/proc/version", 100); err == nil {
				t.Errorf("it has read %q", b)
			}
			if target.Runtime() != session.RuntimeCoreCLR || target.GCLibrary() != "" || target.Stopped() || target.Tracer() != 0 {
				t.Errorf("a runtime %v, library %q, stopped %v, tracer %d", target.Runtime(), target.GCLibrary(), target.Stopped(), target.Tracer())
			}
			w := target.Watch()
			defer w.Close()
			_ = conn.Close()
			<-peer.Gone()
			if o := w.Outcome(); target.Alive() || o != (session.Outcome{Unseen: true}) {
				t.Errorf("alive %v, %+v", target.Alive(), o)
			}
		})
	}
}

// TestPortNoFiles: when gclog is out of file descriptors, the oldest of the silent connections
// makes way.
func TestPortNoFiles(t *testing.T) {
	p, path := listenPort(t)
	p.Limit(100, time.Hour)
	oldest := advertise(t, path, "")
	advertise(t, path, firstHex)
	next(t, p)                                                     // so the oldest has been accepted
	startStranger(t, path, strings.Repeat("00", 34), os.Geteuid()) // repeatedly reconnects
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	none := syscall.Rlimit{Cur: 0, Max: limit.Max}
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &none); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit) }()
	waitClosed(t, oldest, "the oldest")
}
