//go:build unix

package control

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"

	"github.com/gclog/gclog/internal/cause"
	"github.com/gclog/gclog/session"
)

const socketName = "ctl.sock"

// usual returns the default path of this user's socket: in the directory for runtime files, which
// systemd names in RUNTIME_DIRECTORY for services and in XDG_RUNTIME_DIR for users.
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

// ownFolder returns the directory of the socket of a user who has no directory for runtime files.
func ownFolder() string {
	return filepath.Join(os.TempDir(), "gclog-"+strconv.Itoa(os.Geteuid()))
}

// listen creates a socket of mode 0600. The socket of a daemon that was killed is removed.
func listen(path string) (net.Listener, error) {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, cause.Of(err)
	}
	if dir == ownFolder() { // everybody knows its name
		if err := checkOwn(dir); err != nil {
			return nil, err
		}
	}
	l, err := session.ListenUnix(path, 0o600)
	return l, cause.Of(err)
}

// checkOwn makes sure that a folder belongs to this user, and that nobody else may write to it.
func checkOwn(dir string) error {
	s, err := os.Lstat(dir)
	if err != nil {
		return cause.Of(err)
	}
	st, ok := s.Sys().(*syscall.Stat_t)
	if !s.IsDir() || s.Mode().Perm()&0o022 != 0 || !ok || int(st.Uid) != os.Geteuid() {
		return fmt.Errorf("%s is not a directory that only this user can write to", dir)
	}
	return nil
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
