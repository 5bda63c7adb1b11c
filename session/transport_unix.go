//go:build unix

package session

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"syscall"
)

// listen creates a unix socket that everybody may connect to: the runtimes may run as other users
// than gclog.
func listen(path string) (net.Listener, error) { return ListenUnix(path, 0o666) }

// ListenUnix creates a unix socket with a mode. It removes a socket left behind by a listener that
// has ended. Until the mode is set, the socket has the mode that results from the umask.
func ListenUnix(path string, mode fs.FileMode) (net.Listener, error) {
	l, err := net.Listen("unix", path)
	if errors.Is(err, syscall.EADDRINUSE) && isLeft(path) {
		_ = os.Remove(path) // if this fails, Listen reports why
		l, err = net.Listen("unix", path)
	}
	if err != nil {
		return nil, err
	}
	if err := chmodSocket(path, mode); err != nil {
		_ = l.Close()
		return nil, err
	}
	return l, nil
}

// isLeft reports whether path is the socket of a listener that has ended. One that is only busy
// does not refuse connections.
func isLeft(path string) bool {
	info, err := os.Lstat(path)
	if err != nil || info.Mode().Type() != fs.ModeSocket {
		return false
	}
	conn, err := net.Dial("unix", path)
	if err == nil {
		_ = conn.Close()
	}
	return errors.Is(err, syscall.ECONNREFUSED)
}

func connectionGone(err error) bool {
	return errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}
