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
