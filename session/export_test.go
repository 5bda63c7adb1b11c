package session

import "time"

// Limit sets how many peers there may be, and as many strangers, and how long who connects may be
// silent.
func (p *Port) Limit(peers int, patience time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.half, p.patience = peers, patience
}

// What a process may have at a port.
const (
	ProcessPeers     = processPeers
	ProcessStrangers = processStrangers
)

// ProgramRuntime is what is known of a program before there is a process that runs it.
var ProgramRuntime = programRuntime
