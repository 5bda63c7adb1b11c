package host_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gclog/gclog/internal/host"
	"github.com/gclog/gclog/internal/testing/ipc"
	"github.com/gclog/gclog/session"
)

// listenPort opens a port, which is closed at the end of the test.
func listenPort(t *testing.T) (*session.Port, string) {
	t.Helper()
	path := filepath.Join(ipc.ShortDir(t), "port")
	p, err := session.Listen(path, session.PortConnections)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	return p, path
}

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

// TestPeerOfAnother: what this host shows for the pid of a peer is not attributed to the peer if it
// is another process.
func TestPeerOfAnother(t *testing.T) {
	p, path := listenPort(t)
	ipc.Advertise(t, path, ipc.First)
	peer := next(t, p)
	if target := new(host.Host).TargetOf(peer); target.Name == "" || target.PID != os.Getpid() || target.Executable == "" {
		t.Errorf("the process itself: %+v", target.Process)
	}
	peer.PID = run(t, spec{Sockets: []string{exact}}).pid
	if target := new(host.Host).TargetOf(peer); target.Name != "" || target.PID != peer.PID || target.InnerPID != 1234 || target.UID != os.Geteuid() || target.Startup() != host.StartupUnknown {
		t.Errorf("another one: %+v", target.Process)
	}
}

// TestPeerUnseen: if this host does not show the process, the process with its pid here is another
// one.
func TestPeerUnseen(t *testing.T) {
	for name, pid := range map[string]int{"in another pid namespace": 0, "not to be looked at": 99_999_999} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, path := listenPort(t)
			self := fmt.Sprintf("%02x%02x%02x%02x", byte(os.Getpid()), byte(os.Getpid()>>8), byte(os.Getpid()>>16), byte(os.Getpid()>>24))
			conn := ipc.Advertise(t, path, strings.Replace(ipc.First, "d2040000", self, 1))
			peer := next(t, p)
			peer.PID = pid
			target := new(host.Host).TargetOf(peer)
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
			if target.Runtime() != host.RuntimeCoreCLR || target.GCLibrary() != "" || target.Stopped() || target.Tracer() != 0 {
				t.Errorf("a runtime %v, library %q, stopped %v, tracer %d", target.Runtime(), target.GCLibrary(), target.Stopped(), target.Tracer())
			}
			w := target.Watch()
			defer w.Close()
			_ = conn.Close()
			<-peer.Gone()
			if o := w.Outcome(); target.Alive() || o != (host.Outcome{Unseen: true}) {
				t.Errorf("alive %v, %+v", target.Alive(), o)
			}
		})
	}
}

// TestPeerTarget: a runtime that connects is a target, with what the system knows about its
// process.
func TestPeerTarget(t *testing.T) {
	p, path := listenPort(t)
	ipc.Announce(t, path, ipc.First, func(conn net.Conn, _ []byte) bool {
		_, _ = conn.Write(ipc.Answer(nil))
		return false
	})
	target := new(host.Host).TargetOf(next(t, p))
	if target.PID != os.Getpid() || target.InnerPID != os.Getpid() || target.UID != os.Geteuid() || !target.Alive() {
		t.Errorf("process %d (%d) of user %d, want our own", target.PID, target.InnerPID, target.UID)
	}
	if err := target.Resume(t.Context()); err != nil {
		t.Error(err)
	}
}
