package session

import (
	"bytes"
	"fmt"
	"os"
)

// Plan returns when a Poller looks at its streams, and whether it listens until then.
var Plan = plan

// BusyAfter returns which waits of a Poller's stream end when data arrives, if so many bytes were read
// before each and much of them is much.
func BusyAfter(much int, read ...int) (busy []bool) {
	c := &polledConn{much: much}
	for _, n := range read {
		c.got += n
		busy = append(busy, c.isBusy())
	}
	return busy
}

// Polls reports whether the Poller waits for a stream.
func (p *Poller) Polls(s *Stream) bool {
	_, ok := s.conn.(*polledConn)
	return ok && s.polled
}

// Rests reports whether the Poller waits for nothing but data: all streams are read, and no Read is
// to return after a time.
func (p *Poller) Rests() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.conns {
		if !c.waiting || !c.due.IsZero() {
			return false
		}
	}
	return p.at.IsZero()
}

// RefuseStreams makes the kernel refuse streams, as if the user had too many watches, until accept is
// called.
func (p *Poller) RefuseStreams() (accept func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	outer := p.outer
	p.outer = noFile
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.outer = outer
	}
}

// Watched returns how many descriptors of streams the kernel watches for the Poller.
func (p *Poller) Watched() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	b, _ := os.ReadFile(fmt.Sprintf("/proc/self/fdinfo/%d", p.inner))
	return bytes.Count(b, []byte("tfd:"))
}

// ChmodSocket changes the mode of a socket.
var ChmodSocket = chmodSocket

// PeerStart returns the start time of the process that made a connection, or 0 if it has ended.
var PeerStart = peerStart
