//go:build unix

// Package reserved has addresses for tests that must know one before a program listens on it.
package reserved

import (
	"fmt"
	"testing"

	"golang.org/x/sys/unix"
)

// Address returns a TCP address of this host on which nothing listens. Until the end of the test the
// kernel gives its port to no one who does not ask for it, and a Go program can listen on it.
func Address(t testing.TB) string {
	t.Helper()
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Close(fd) })
	unix.CloseOnExec(fd)
	// Both this socket and the program's have the option, and this one does not listen: then both can
	// have the port.
	if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEADDR, 1); err != nil {
		t.Fatal(err)
	}
	if err := unix.Bind(fd, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		t.Fatal(err)
	}
	address, err := unix.Getsockname(fd)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("127.0.0.1:%d", address.(*unix.SockaddrInet4).Port)
}
