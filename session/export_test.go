package session

import (
	"net"
	"slices"
	"time"
)

// Limit sets how many peers there may be, and as many strangers, and how long who connects may be
// silent.
func (p *Port) Limit(peers int, patience time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.half, p.patience = peers, patience
}

// Peers is how many there are.
func (p *Port) Peers() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.peers)
}

// A Caller is who has connected: a process and its user.
type Caller struct{ PID, UID int }

// CallerOf is who is at the other end.
func CallerOf(conn net.Conn) Caller { c := callerOf(conn); return Caller{c.pid, c.uid} }

// Surplus is which of those who have connected, the oldest first, is to go; -1: none.
func Surplus(list ...Caller) int {
	var all seats
	for _, c := range list {
		all = append(all, &seat{from: caller{c.PID, c.UID}})
	}
	return slices.Index(all, all.surplus())
}

// ProgramRuntime is what is known of a program before there is a process that runs it.
var ProgramRuntime = programRuntime
