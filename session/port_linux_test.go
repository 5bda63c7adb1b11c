package session_test

import (
	"encoding/hex"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/gclog/gclog/session"
)

func init() { helpers["stranger"] = helpStranger }

// helpStranger announces itself with the bytes of the variable, to the port in the
// other one, says what it is told, and answers that.
func helpStranger() error {
	conn, err := net.Dial("unix", os.Getenv(portVariable))
	if err != nil {
		return err
	}
	defer conn.Close()
	hello, err := hex.DecodeString(os.Getenv(helloVariable))
	if err != nil {
		return err
	}
	if _, err := conn.Write(hello); err != nil {
		return err
	}
	if request := readRequest(conn); request != nil {
		fmt.Printf("%x\n", request[16:18])
		_, _ = conn.Write(answer(nil))
	}
	return nil
}

const (
	portVariable  = "GCLOG_SESSION_PORT"
	helloVariable = "GCLOG_SESSION_HELLO"
)

// TestPortStranger: another process is not taken for a peer because it knows its cookie,
// whoever it belongs to. It is only let go.
func TestPortStranger(t *testing.T) {
	const nobody = 65534
	for name, user := range map[string]int{"the same user": os.Geteuid(), "another user": nobody} {
		t.Run(name, func(t *testing.T) {
			if user != os.Geteuid() && os.Geteuid() != 0 {
				t.Skip("only root can start a process of another user")
			}
			p, path := listenPort(t)
			if err := os.Chmod(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			announce(t, path, firstHex, func(conn net.Conn, _ []byte) bool {
				_, _ = conn.Write(answer(nil))
				return false
			})
			peer := next(t, p)
			cmd := exec.Command(publicCopy(t))
			cmd.Env = []string{helperVariable + "=stranger", portVariable + "=" + path, helloVariable + "=" + strings.ReplaceAll(firstHex, " ", "")}
			cmd.Dir = "/"
			if user != os.Geteuid() {
				cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(user), Gid: uint32(user)}}
			}
			out, err := cmd.Output()
			if err != nil || string(out) != "0401\n" {
				t.Errorf("the stranger hears %q, error %v, want to be let go", out, err)
			}
			if n := p.TurnedAway(); n != 1 {
				t.Errorf("%d were turned away", n)
			}
			if err := peer.Resume(t.Context()); err != nil {
				t.Errorf("the peer: %v", err)
			}
			select {
			case <-peer.Gone():
				t.Error("the peer is gone")
			default:
			}
		})
	}
}

// TestPeerUnseen: where this host does not show the process, what has its pid here is
// another one.
func TestPeerUnseen(t *testing.T) {
	for name, pid := range map[string]int{"in another pid namespace": 0, "not to be looked at": 99_999_999} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, path := listenPort(t)
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
			if b, err := target.ReadFile("/proc/version", 100); err == nil {
				t.Errorf("it has read %q", b)
			}
			if !target.IsCoreCLR() || target.GCLibrary() != "" || target.Stopped() || target.Tracer() != 0 {
				t.Errorf("CoreCLR %v, library %q, stopped %v, tracer %d", target.IsCoreCLR(), target.GCLibrary(), target.Stopped(), target.Tracer())
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
