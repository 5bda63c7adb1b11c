package ipc

import (
	"encoding/hex"
	"net"
	"strings"
	"sync"
	"testing"
)

// The first bytes that two runtimes send to a port, in hexadecimal: the magic, the cookie and the pid.
const (
	Magic        = "414456525f563100" // ADVR_V1 and a zero
	First        = Magic + "33221100 5544 7766 8899aabbccddeeff d204000000000000 0000"
	FirstCookie  = "00112233-4455-6677-8899-aabbccddeeff"
	Second       = Magic + "33221100 5544 7766 8899aabbccddee00 0100000000000000 0000"
	SecondCookie = "00112233-4455-6677-8899-aabbccddee00"
)

// Advertise connects to the port like a runtime.
func Advertise(t testing.TB, path, hello string) net.Conn {
	t.Helper()
	conn, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if _, err := conn.Write(Unhex(t, hello)); err != nil {
		t.Fatal(err)
	}
	return conn
}

// A Peer announces itself to a port, passes each command to reply, and reconnects, until the test ends.
// If reply keeps the connection, reply must close it.
type Peer struct {
	mu       sync.Mutex
	conn     net.Conn
	over     bool
	commands []string
}

// Announce starts a Peer.
func Announce(t testing.TB, path, hello string, reply func(conn net.Conn, request []byte) (keep bool)) *Peer {
	t.Helper()
	r := &Peer{}
	first := Unhex(t, hello)
	var group sync.WaitGroup
	group.Go(func() {
		for {
			conn, err := net.Dial("unix", path)
			if err != nil || !r.begin(conn) {
				return
			}
			_, _ = conn.Write(first)
			request := ReadRequest(conn)
			if request == nil {
				_ = conn.Close()
				return
			}
			r.mu.Lock()
			r.commands = append(r.commands, hex.EncodeToString(request[16:18]))
			r.mu.Unlock()
			if !reply(conn, request) {
				_ = conn.Close()
			}
		}
	})
	t.Cleanup(func() {
		r.mu.Lock()
		r.over = true
		if r.conn != nil {
			_ = r.conn.Close()
		}
		r.mu.Unlock()
		group.Wait()
	})
	return r
}

func (r *Peer) begin(conn net.Conn) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.over {
		_ = conn.Close()
		return false
	}
	r.conn = conn
	return true
}

// Seen returns set and number of the commands so far.
func (r *Peer) Seen() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return strings.Join(r.commands, " ")
}
