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
//
// Its connection is idle between keep and take, and in use after take. The Peer is gone once gone
// is closed: by missing or by Port.dismiss, under the port's lock. mu guards idle and newest; where
// both locks are needed, the port's is taken first.
type Peer struct {
	Client
	Cookie string // GUID of the runtime instance
	PID    int    // in this host's pid namespace; 0 if unknown
	Inner  int    // in the runtime's own pid namespace
	UID    int    // of its process; -1 if unknown

	port *Port
	id   identity
	wait time.Duration // how long it may be without a connection
	held bool          // guarded by the port's lock: the peer keeps its place

	mu     sync.Mutex
	idle   *connection
	newest *connection   // the latest connection: idle, or taken
	fresh  chan struct{} // holds a value after idle was set
	gone   chan struct{}
}

// goneAfter is how long a runtime may be without a connection before it is considered gone. A
// runtime reconnects at once, and retries at least every 500 ms.
const goneAfter = 2 * time.Second

// newPeer is called with the port's lock.
func newPeer(port *Port, id identity, inner int) *Peer {
	p := &Peer{
		Cookie: id.cookie, PID: id.pid, Inner: inner, UID: id.uid,
		port: port, id: id, wait: port.goneAfter, fresh: make(chan struct{}, 1), gone: make(chan struct{}),
	}
	p.Dial = p.take
	return p
}

// MayBe reports whether the process with the Peer's pid may be that of the runtime, if it started at
// startKey, in the kernel's own unit: another process may have got the pid since.
func (p *Peer) MayBe(startKey uint64) bool {
	return p.id.start == unknownStart || p.id.start == startKey
}

// Gone returns a channel that is closed when the runtime is gone and the Port has forgotten it.
// That happens goneAfter (2 s) after the runtime's last connection ended without a new one. It also
// happens when the port gives the runtime's place to another one, but never while the place is
// held.
func (p *Peer) Gone() <-chan struct{} { return p.gone }

// Hold keeps the runtime's place at the port: the port does not give it to another runtime.
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

// keep makes conn the connection for the next command. An older unused connection is dead, because
// a runtime has one at a time.
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

// drop closes the idle connection.
func (p *Peer) drop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.idle != nil {
		_ = p.idle.Close()
	}
	p.idle, p.newest = nil, nil
}

// take returns the connection for the next command. If there is none it waits until the runtime has
// reconnected or is gone.
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
			return nil, fmt.Errorf("process %d is no longer connected to the port", p.Inner)
		case <-ctx.Done():
			return nil, fmt.Errorf("waiting for process %d to connect: %w", p.Inner, ctx.Err())
		}
	}
}

// ended records that the runtime has ended a connection. If it was the latest one, another must
// follow soon.
func (p *Peer) ended(c *connection) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.newest != c { // no timer for each connection that a hostile process makes
		return
	}
	time.AfterFunc(p.wait, func() { p.missing(c) })
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

// A connection is a connection from a runtime. It is watched until it is taken.
type connection struct {
	net.Conn
	peer    *Peer
	watched chan struct{} // closed when the watch has ended
	broken  bool          // valid after that
}

// watch waits for the end of the connection. A runtime sends nothing before it is asked, so data is
// treated like the end.
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
	_ = c.SetReadDeadline(time.Now())
	<-c.watched
	_ = c.SetReadDeadline(time.Time{})
	return !c.broken
}

// CloseRead lets the caller read what has arrived, like Stream.CloseRead.
func (c *connection) CloseRead() error { return closeRead(c.Conn) }

// Read reads from the connection and records its end.
func (c *connection) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	return n, c.note(err)
}

// Write writes to the connection and records its end.
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
