package session

import (
	"net"
	"slices"
	"time"
)

// Limit sets the maximum number of peers, and of strangers, and how long a new connection may be
// silent.
func (p *Port) Limit(peers int, patience time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.half, p.patience = peers, patience
}

// Times sets how long a runtime that is turned away has to wait and how long it may take to answer,
// and how long runtimes that connect from now on may be without a connection.
func (p *Port) Times(away, answer, goneAfter time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.away, p.answer, p.goneAfter = away, answer, goneAfter
}

// Peers returns the number of peers.
func (p *Port) Peers() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.peers)
}

// A Caller is a process that has connected, and its user.
type Caller struct{ PID, UID int }

// CallerOf returns the process at the other end.
func CallerOf(conn net.Conn) Caller { c := callerOf(conn); return Caller{c.pid, c.uid} }

// Surplus returns the index of the caller that must give up its seat, with the oldest caller first,
// or -1 for none.
func Surplus(list ...Caller) int {
	var all seats
	for _, c := range list {
		all = append(all, &seat{from: caller{c.PID, c.UID}})
	}
	return slices.Index(all, all.surplus())
}

// BeginClose takes the first step of Close: from now on every connection is dropped.
func (p *Port) BeginClose() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done = true
}

// Newest returns a function that reports whether the present connection has been replaced, and one
// that does what happens when the time for that has passed.
func (p *Peer) Newest() (replaced func() bool, missing func()) {
	get := func() *connection {
		p.mu.Lock()
		defer p.mu.Unlock()
		return p.newest
	}
	c := get()
	return func() bool { return get() != c }, func() { p.missing(c) }
}
