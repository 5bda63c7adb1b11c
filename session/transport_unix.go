//go:build unix

package session

import (
	"errors"
	"net"
	"os"
	"syscall"
)

// listen makes a unix socket that everybody may connect to: the runtimes may run
// as other users than gclog. What is left of a listener that has ended is removed.
func listen(path string) (net.Listener, error) {
	l, err := net.Listen("unix", path)
	if errors.Is(err, syscall.EADDRINUSE) {
		if c, derr := net.Dial("unix", path); derr == nil {
			_ = c.Close()
			return nil, err // somebody is there
		}
		if rerr := os.Remove(path); rerr != nil {
			return nil, err
		}
		l, err = net.Listen("unix", path)
	}
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(path, 0o666); err != nil {
		_ = l.Close()
		return nil, err
	}
	return l, nil
}
