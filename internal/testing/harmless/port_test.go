//go:build linux

package harmless

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"sync"
	"time"
)

// A port is a diagnostic port of another tool.
type port struct {
	listener net.Listener
	// idle are the connections of the runtime that have had no request yet: it opens another one as
	// soon as the last one gets a request.
	idle   chan net.Conn
	closed chan struct{}
	once   sync.Once
}

// atPort returns a tool that listens at path.
func atPort(path string) (*tool, error) {
	l, err := net.Listen("unix", path)
	if err != nil {
		return nil, err
	}
	p := &port{listener: l, idle: make(chan net.Conn, 100), closed: make(chan struct{})}
	go p.accept()
	return &tool{connect: p.next, port: p}, nil
}

func (p *port) accept() {
	const advertiseSize = 34
	for {
		conn, err := p.listener.Accept()
		if err != nil {
			return
		}
		advertise := make([]byte, advertiseSize)
		if _, err := io.ReadFull(conn, advertise); err != nil || !bytes.HasPrefix(advertise, []byte("ADVR_V1\x00")) {
			conn.Close()
			continue
		}
		p.idle <- conn
	}
}

func (p *port) next() (net.Conn, error) {
	select {
	case conn := <-p.idle:
		return conn, nil
	case <-p.closed:
		return nil, net.ErrClosed
	case <-time.After(answerTime):
		return nil, fmt.Errorf("it has not connected to a port: %w", errSilent)
	}
}

func (p *port) close() {
	p.once.Do(func() {
		close(p.closed)
		p.listener.Close()
	})
	for {
		select {
		case conn := <-p.idle:
			conn.Close()
		default:
			return
		}
	}
}
