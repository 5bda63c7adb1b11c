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

	"github.com/gclog/gclog/internal/host"
	"github.com/gclog/gclog/internal/testing/child"
	"github.com/gclog/gclog/internal/testing/ipc"
	"github.com/gclog/gclog/internal/testing/syscalls"
	"github.com/gclog/gclog/session"
	"golang.org/x/sys/unix"
)

func init() { roles["stranger"] = helpStranger }

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
		if request := ipc.ReadRequest(conn); request != nil {
			fmt.Printf("%x\n", request[16:18])
			_, _ = conn.Write(ipc.Answer(nil))
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
	cmd := exec.Command(child.PublicCopy(t))
	cmd.Env = child.Environ("stranger", portVariable+"="+path, helloVariable+"="+strings.ReplaceAll(hello, " ", ""))
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
			ipc.Announce(t, path, ipc.First, func(conn net.Conn, _ []byte) bool {
				_, _ = conn.Write(ipc.Answer(nil))
				return false
			})
			peer := next(t, p)
			s := startStranger(t, path, ipc.First, user)
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
			hello := func(n int) string { return strings.ReplaceAll(ipc.First, "eeff", fmt.Sprintf("%04x", n)) }
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
				if peer.UID != tc.second {
					t.Errorf("a process of user %d got a place", peer.UID)
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
				t.Errorf("a process of user %d got one place too many", peer.UID)
			}
		})
	}
}

// TestPortFlood: a process that is suspended during startup is resumed, however many connections
// others make, whether they announce themselves or not.
func TestPortFlood(t *testing.T) {
	for name, hello := range map[string]string{"silent": "", "half": ipc.Magic, "whole": ipc.First} {
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
				startStranger(t, path, ipc.Second, nobody).awaitResumed(t)
			}
		})
	}
}

// TestPeerStart: the process that made a connection is identified by its start time while it runs.
func TestPeerStart(t *testing.T) {
	path := filepath.Join(ipc.ShortDir(t), "socket")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	s := startStranger(t, path, ipc.First, os.Geteuid())
	conn, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	p, err := new(host.Host).Describe(s.pid)
	if err != nil {
		t.Fatal(err)
	}
	self, err := new(host.Host).Describe(os.Getpid())
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
	syscalls.LeavesNothing(t, os.Getpid(), func() { session.PeerStart(conn, s.pid) })
	for errno, want := range map[unix.Errno]uint64{
		unix.EINVAL: 0, unix.ESRCH: 0, // it has ended
		unix.ENOPROTOOPT: p.StartKey, unix.EPERM: p.StartKey, // the kernel does not tell
	} {
		syscalls.Fault{Call: unix.SYS_GETSOCKOPT, Errno: errno, Only: &[2]uint32{2, unix.SO_PEERPIDFD}}.Inject(t, func() {
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

// TestChmodSocket: only a socket of our own without other links gets another mode.
func TestChmodSocket(t *testing.T) {
	dir := ipc.ShortDir(t)
	at := func(name string) string { return filepath.Join(dir, name) }
	for _, name := range []string{"own", "linked", "given"} {
		l, err := net.Listen("unix", at(name))
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		if err := os.Chmod(at(name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(os.Link(at("linked"), at("second")), os.Symlink("own", at("link")), os.WriteFile(at("file"), nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	syscalls.LeavesNothing(t, os.Getpid(), func() {
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
	syscalls.GiveAway(t, at("given"))
	if err := session.ChmodSocket(at("given"), 0o640); err == nil {
		t.Error("that of another user was changed")
	}
}

// TestPortNoFiles: when gclog is out of file descriptors, the oldest of the silent connections
// makes way.
func TestPortNoFiles(t *testing.T) {
	p, path := listenPort(t)
	p.Limit(100, time.Hour)
	oldest := ipc.Advertise(t, path, "")
	ipc.Advertise(t, path, ipc.First)
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
