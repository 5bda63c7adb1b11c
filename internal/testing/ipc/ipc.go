// Package ipc has what tests need of .NET's diagnostics protocol, written independently of package
// session: messages, servers that answer as the test says, and runtimes that connect to a port.
package ipc

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode/utf16"
)

// UnknownCommand is the code with which a runtime refuses a command that it does not know.
const UnknownCommand = 0x80131385

// Unhex decodes hexadecimal digits; blanks and line ends are ignored.
func Unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.Join(strings.Fields(s), ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// Answer returns a message of the runtime: set 0xFF, 0x00 for OK.
func Answer(payload []byte) []byte {
	b := append([]byte("DOTNET_IPC_V1\x00"), 0, 0, 0xff, 0x00, 0, 0)
	binary.LittleEndian.PutUint16(b[14:], uint16(20+len(payload)))
	return append(b, payload...)
}

// Refusal returns an error message of the runtime: set 0xFF, 0xFF, and an HRESULT.
func Refusal(code uint32) []byte {
	b := append([]byte("DOTNET_IPC_V1\x00"), 24, 0, 0xff, 0xff, 0, 0)
	return binary.LittleEndian.AppendUint32(b, code)
}

// Environment returns the answer of a runtime with this environment.
func Environment(variables ...string) []byte {
	body := binary.LittleEndian.AppendUint32(nil, uint32(len(variables)))
	for _, v := range variables {
		units := utf16.Encode([]rune(v + "\x00"))
		body = binary.LittleEndian.AppendUint32(body, uint32(len(units)))
		for _, u := range units {
			body = binary.LittleEndian.AppendUint16(body, u)
		}
	}
	head := binary.LittleEndian.AppendUint32(nil, uint32(len(body)))
	return append(Answer(append(head, 0, 0)), body...)
}

// Send returns a reply that always is the same.
func Send(b []byte) func(net.Conn, []byte) {
	return func(conn net.Conn, _ []byte) { _, _ = conn.Write(b) }
}

// Hang keeps a connection open until the other end closes it.
func Hang(conn net.Conn) { _, _ = io.Copy(io.Discard, conn) }

// ReadRequest reads one message. It returns nil if the message is truncated.
func ReadRequest(conn net.Conn) []byte {
	head := make([]byte, 20)
	if _, err := io.ReadFull(conn, head); err != nil {
		return nil
	}
	size := int(binary.LittleEndian.Uint16(head[14:]))
	if size < len(head) {
		return nil
	}
	b := append(head, make([]byte, size-len(head))...)
	if _, err := io.ReadFull(conn, b[len(head):]); err != nil {
		return nil
	}
	return b
}

// ShortDir creates a directory whose name is short enough for a socket.
func ShortDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "s")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// A Runtime is a server of the protocol in this process. It passes every request to reply, on a
// connection of its own, and then closes the connection.
type Runtime struct {
	reply func(conn net.Conn, request []byte)

	listener net.Listener
	group    sync.WaitGroup

	mu       sync.Mutex
	requests [][]byte
	conns    []net.Conn
}

// Serve starts a runtime, which ends with the test.
func Serve(t testing.TB, reply func(conn net.Conn, request []byte)) *Runtime {
	t.Helper()
	l, err := net.Listen("unix", filepath.Join(ShortDir(t), "s"))
	if err != nil {
		t.Fatal(err)
	}
	r := &Runtime{reply: reply, listener: l}
	r.group.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			r.mu.Lock()
			r.conns = append(r.conns, conn)
			r.mu.Unlock()
			r.group.Go(func() {
				defer conn.Close()
				if request := ReadRequest(conn); request != nil {
					r.mu.Lock()
					r.requests = append(r.requests, request)
					r.mu.Unlock()
					r.reply(conn, request)
				}
			})
		}
	})
	t.Cleanup(r.Close)
	return r
}

// Close ends the runtime.
func (r *Runtime) Close() {
	_ = r.listener.Close()
	r.mu.Lock()
	for _, c := range r.conns {
		_ = c.Close()
	}
	r.mu.Unlock()
	r.group.Wait()
}

// Dial connects to the runtime.
func (r *Runtime) Dial(ctx context.Context) (net.Conn, error) {
	return new(net.Dialer).DialContext(ctx, "unix", r.listener.Addr().String())
}

// Seen returns the requests so far.
func (r *Runtime) Seen() [][]byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.requests)
}

// Commands returns set and number of the requests so far.
func (r *Runtime) Commands() (list []string) {
	for _, b := range r.Seen() {
		list = append(list, hex.EncodeToString(b[16:18]))
	}
	return list
}
