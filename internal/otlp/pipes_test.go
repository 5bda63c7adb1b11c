package otlp

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
)

// Servers in memory, whose clients and servers wait for each other as testing/synctest requires it:
// what happens in seconds takes no time.

// pipes is a listener whose connections are pipes.
type pipes struct {
	address     string
	connections chan net.Conn
	closed      chan struct{}
	once        sync.Once
}

var (
	listening sync.Map // *pipes by address
	listeners atomic.Int64
)

// inMemory replaces the listener of a server.
func inMemory(s *httptest.Server) {
	_ = s.Listener.Close()
	l := &pipes{address: fmt.Sprintf("server-%d.test:80", listeners.Add(1)), connections: make(chan net.Conn), closed: make(chan struct{})}
	listening.Store(l.address, l)
	s.Listener = l
}

func (l *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-l.connections:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *pipes) Close() error {
	l.once.Do(func() {
		listening.Delete(l.address)
		close(l.closed)
	})
	return nil
}

func (l *pipes) Addr() net.Addr  { return l }
func (l *pipes) Network() string { return "pipe" }
func (l *pipes) String() string  { return l.address }

// dial connects to a server in memory, or to a real one.
func dial(ctx context.Context, network, address string) (net.Conn, error) {
	v, ok := listening.Load(address)
	if !ok {
		return (&net.Dialer{}).DialContext(ctx, network, address)
	}
	l := v.(*pipes)
	ours, its := net.Pipe()
	select {
	case l.connections <- its:
		return ours, nil
	case <-l.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// dialPipes lets an Exporter reach servers in memory. It has not sent anything yet.
func dialPipes(e *Exporter) {
	for _, c := range e.clients {
		if c != nil {
			c.http.Transport.(*http.Transport).DialContext = dial
		}
	}
}
