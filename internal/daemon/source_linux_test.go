package daemon

import (
	"net"
	"os"
	"testing"
)

// TestSourceUser: the kernel says who has the other end of a connection on this host, also of an
// IPv4 connection to a socket for both.
func TestSourceUser(t *testing.T) {
	for _, c := range []struct{ listen, to string }{{"127.0.0.1:0", "127.0.0.1"}, {"[::1]:0", "::1"}, {"[::]:0", "127.0.0.1"}, {"[::]:0", "::1"}} {
		l, err := net.Listen("tcp", c.listen)
		if err != nil {
			t.Skipf("no IPv6: %v", err)
		}
		defer l.Close()
		_, port, _ := net.SplitHostPort(l.Addr().String())
		theirs, err := net.Dial("tcp", net.JoinHostPort(c.to, port))
		if err != nil {
			t.Fatal(err)
		}
		defer theirs.Close()
		ours, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		defer ours.Close()
		if s := sourceOf(ours.RemoteAddr(), ours.LocalAddr()); s.user != int64(os.Getuid())+1 {
			t.Errorf("%s at %s: %v", c.to, c.listen, s)
		}
	}
}
