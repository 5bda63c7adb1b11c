//go:build !linux

package session

import "net"

// A Poller has no effect here: each stream waits for its own data.
type Poller struct{}

// NewPoller returns a Poller. Close it.
func NewPoller() (*Poller, error) { return &Poller{}, nil }

// Close ends the Poller.
func (*Poller) Close() error { return nil }

func (*Poller) take(conn net.Conn) (net.Conn, bool) { return conn, false }
