//go:build unix

package control

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"github.com/gclog/gclog/session"
)

const socketName = "ctl.sock"

// usual is where the socket of this user is: in the directory for what runs now, which systemd gives
// services in RUNTIME_DIRECTORY and people in XDG_RUNTIME_DIR.
func usual() string {
	run := "/run"
	if runtime.GOOS != "linux" {
		run = "/var/run"
	}
	if os.Geteuid() == 0 {
		return filepath.Join(run, "gclog", socketName)
	}
	if dir, _, _ := strings.Cut(os.Getenv("RUNTIME_DIRECTORY"), ":"); dir != "" {
		return filepath.Join(dir, socketName)
	}
	if dir := os.Getenv("XDG_RUNTIME_DIR"); dir != "" {
		return filepath.Join(dir, "gclog", socketName)
	}
	return filepath.Join(os.TempDir(), "gclog-"+strconv.Itoa(os.Geteuid()), socketName)
}

// listen makes a socket of mode 0600. What is left of a daemon that was killed is removed.
func listen(path string) (net.Listener, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, bare(err)
	}
	l, err := session.ListenUnix(path, 0o600)
	return l, bare(err)
}

// bare is the cause of an error of a file or socket.
func bare(err error) error {
	if call, ok := errors.AsType[*os.SyscallError](err); ok {
		return call.Err
	}
	if path, ok := errors.AsType[*fs.PathError](err); ok {
		return path.Err
	}
	return err
}

func connect(ctx context.Context, path string) (net.Conn, error) {
	return new(net.Dialer).DialContext(ctx, "unix", path)
}

func isRoot() bool { return os.Geteuid() == 0 }

// isTrusted tells whether root or our own user is at the other end.
func isTrusted(conn net.Conn) bool {
	_, uid, err := session.PeerProcess(conn)
	return err == nil && (uid == 0 || uid == os.Geteuid())
}
