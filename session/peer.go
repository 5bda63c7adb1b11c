package session

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"
)

// A Peer is a runtime that has connected to a Port.
type Peer struct {
	Client
	Cookie string // GUID of the runtime instance
	PID    int    // as this host sees it; 0 if it cannot tell
	Inner  int    // in the runtime's own pid namespace

	port *Port
	id   identity
	held bool // under the lock of the port: it keeps its place

	mu     sync.Mutex
	idle   *connection
	newest *connection   // the last one that came: idle, or taken
	fresh  chan struct{} // a value when idle was set
	gone   chan struct{}
}

// goneAfter is how long a runtime may be without a connection. It makes the next one at
// once, and tries that at least every 500 ms.
const goneAfter = 2 * time.Second

func newPeer(port *Port, id identity, inner int) *Peer {
	p := &Peer{
		Cookie: id.cookie, PID: id.pid, Inner: inner,
		port: port, id: id, fresh: make(chan struct{}, 1), gone: make(chan struct{}),
	}
	p.Dial = p.take
	return p
}

// Gone is closed when the runtime has ended, two seconds later: its last connection is
// over, and it has made no other. It is closed too when the port gives its place to another one,
// which happens to none that is held. The Port has forgotten it then.
func (p *Peer) Gone() <-chan struct{} { return p.gone }

// Hold keeps the place of the runtime at the port: it makes way for nobody.
func (p *Peer) Hold() {
	p.port.mu.Lock()
	defer p.port.mu.Unlock()
	p.held = true
}

func (p *Peer) isGone() bool {
	select {
	case <-p.gone:
		return true
	default:
		return false
	}
}

// keep makes conn the connection for the next command. An older one that nobody
// used is dead: the runtime has one at a time.
func (p *Peer) keep(conn net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.idle != nil {
		_ = p.idle.Close()
	}
	c := &connection{Conn: conn, peer: p, watched: make(chan struct{})}
	p.idle, p.newest = c, c
	go c.watch()
	select {
	case p.fresh <- struct{}{}:
	default:
	}
}

// drop closes the connection that waits.
func (p *Peer) drop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.idle != nil {
		_ = p.idle.Close()
	}
	p.idle, p.newest = nil, nil
}

// take returns the connection for the next command, or waits until the runtime
// has connected anew, or is gone.
func (p *Peer) take(ctx context.Context) (net.Conn, error) {
	for {
		p.mu.Lock()
		c := p.idle
		p.idle = nil
		p.mu.Unlock()
		if c != nil && c.release() {
			return c, nil
		}
		select {
		case <-p.fresh:
		case <-p.gone:
			return nil, fmt.Errorf("process %d has ended: it makes no connection any more", p.Inner)
		case <-ctx.Done():
			return nil, fmt.Errorf("waiting for process %d to connect: %w", p.Inner, ctx.Err())
		}
	}
}

// ended notes that the runtime has ended a connection. If it was the newest there must
// soon be another.
func (p *Peer) ended(c *connection) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.newest != c {
		return
	}
	time.AfterFunc(goneAfter, func() { p.missing(c) })
}

func (p *Peer) missing(last *connection) {
	p.port.mu.Lock()
	defer p.port.mu.Unlock()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.newest == last && !p.isGone() {
		p.newest = nil
		p.port.remove(p)
		close(p.gone)
	}
}

// A connection is one that a runtime has made. Until it is taken it is watched.
type connection struct {
	net.Conn
	peer    *Peer
	watched chan struct{} // closed when it no longer is
	broken  bool          // valid then
}

// watch waits for the end of the connection. A runtime says nothing before it is asked,
// so that what can be read is no better than the end.
func (c *connection) watch() {
	defer close(c.watched)
	if n, err := c.Conn.Read(make([]byte, 1)); n == 0 && isTimeout(err) {
		return
	}
	c.broken = true
	_ = c.Close()
	c.peer.ended(c)
}

// release ends the watch. It reports whether the connection can be used.
func (c *connection) release() bool {
	_ = c.SetReadDeadline(time.Unix(1, 0))
	<-c.watched
	_ = c.SetReadDeadline(time.Time{})
	return !c.broken
}

// CloseRead lets what has come be read, as Stream.CloseRead does.
func (c *connection) CloseRead() error { return closeRead(c.Conn) }

// Read notes the end of the connection.
func (c *connection) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	return n, c.note(err)
}

// Write notes the end of the connection.
func (c *connection) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	return n, c.note(err)
}

func (c *connection) note(err error) error {
	if err != nil && !isTimeout(err) && !errors.Is(err, net.ErrClosed) {
		c.peer.ended(c)
	}
	return err
}

func isTimeout(err error) bool {
	t, ok := errors.AsType[net.Error](err)
	return ok && t.Timeout()
}
