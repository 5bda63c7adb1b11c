//go:build unix

package control

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"

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
	return filepath.Join(ownFolder(), socketName)
}

// ownFolder is where the socket of a user is who has no directory for what runs now.
func ownFolder() string {
	return filepath.Join(os.TempDir(), "gclog-"+strconv.Itoa(os.Geteuid()))
}

// listen makes a socket of mode 0600. What is left of a daemon that was killed is removed.
func listen(path string) (net.Listener, error) {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, bare(err)
	}
	if dir == ownFolder() { // its name is known to everybody
		if err := checkOwn(dir); err != nil {
			return nil, err
		}
	}
	l, err := session.ListenUnix(path, 0o600)
	return l, bare(err)
}

// checkOwn makes sure that a folder is this user's, and nobody else's.
func checkOwn(dir string) error {
	s, err := os.Lstat(dir)
	if err != nil {
		return bare(err)
	}
	if st, ok := s.Sys().(*syscall.Stat_t); !s.IsDir() || s.Mode().Perm()&0o022 != 0 || !ok || int(st.Uid) != os.Geteuid() {
		return fmt.Errorf("%s is no folder that this user alone may write to", dir)
	}
	return nil
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

// isTrusted reports whether root or our own user is at the other end.
func isTrusted(conn net.Conn) bool {
	_, uid, err := session.PeerProcess(conn)
	return err == nil && (uid == 0 || uid == os.Geteuid())
}
