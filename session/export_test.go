package session

import "time"

// Limit sets how many peers there may be, and how long who connects may be silent.
func (p *Port) Limit(peers int, patience time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.most, p.patience = peers, patience
}

// MaxStrangers is how many may be silent at a time.
const MaxStrangers = maxStrangers
