//go:build linux

package reserved

import (
	"errors"
	"net"
	"syscall"
	"testing"
)

func TestAddress(t *testing.T) {
	address := Address(t)
	if conn, err := net.Dial("tcp", address); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Fatalf("%v, error %v, want it refused", conn, err)
	}
	for range 2 { // as a daemon that is started again
		l, err := net.Listen("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		conn, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(conn.Close(), l.Close()); err != nil {
			t.Fatal(err)
		}
	}
}
