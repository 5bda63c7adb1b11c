package session

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"sync"
	"syscall"
	"time"
)

// A Port is a diagnostic port: a socket that runtimes connect to by themselves,
// as early as in their start, when their environment has
// DOTNET_DiagnosticPorts=<path>. .NET 5 and up do so.
//
// A runtime announces itself on each connection, takes one command on it, and
// then connects anew.
type Port struct {
	listener net.Listener
	newPeers chan *Peer

	mu    sync.Mutex
	peers map[string]*Peer
	done  bool
	wg    sync.WaitGroup
}

// A Peer is a runtime that has connected to a Port.
type Peer struct {
	Client
	Cookie string // GUID of the runtime instance
	PID    int    // as this host sees it; 0 if it cannot tell
	Inner  int    // in the runtime's own pid namespace

	mu    sync.Mutex
	idle  net.Conn
	fresh chan struct{} // a value when idle was set
}

const (
	advertiseSize  = 34
	advertiseMagic = "ADVR_V1\x00"
	// advertiseTimeout is how long a connection may take to announce itself.
	advertiseTimeout = 5 * time.Second
	maxPeers         = 10_000
)

// Listen makes a diagnostic port at path: of a unix socket, on Windows of a pipe.
func Listen(path string) (*Port, error) {
	l, err := listen(path)
	if err != nil {
		return nil, listenError(path, err)
	}
	p := &Port{listener: l, newPeers: make(chan *Peer, maxPeers), peers: map[string]*Peer{}}
	p.wg.Go(p.accept)
	return p, nil
}

// listenError says once what is wrong, and what to do.
func listenError(path string, err error) error {
	if call, ok := errors.AsType[*os.SyscallError](err); ok {
		err = call.Err
	}
	hint := ""
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		hint = ": another program listens there, or it is no socket"
	case errors.Is(err, fs.ErrNotExist):
		hint = ": its directory must exist"
	}
	return fmt.Errorf("listening on %s: %w%s", path, err, hint)
}

// Environment returns the value for DOTNET_DiagnosticPorts that sends runtimes to
// the port at path. With suspend a runtime waits in its start until it is
// resumed, for ever if nobody does; without, it goes on.
func Environment(path string, suspend bool) string {
	if suspend {
		return path + ",suspend"
	}
	return path + ",nosuspend"
}

// Next returns the next runtime that has not been seen before.
func (p *Port) Next(ctx context.Context) (*Peer, error) {
	select {
	case peer, ok := <-p.newPeers:
		if !ok {
			return nil, net.ErrClosed
		}
		return peer, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Forget drops a runtime that has ended.
func (p *Port) Forget(peer *Peer) {
	p.mu.Lock()
	delete(p.peers, peer.Cookie)
	p.mu.Unlock()
	peer.drop()
}

// Close stops listening and drops all connections that wait.
func (p *Port) Close() error {
	p.mu.Lock()
	p.done = true
	peers := p.peers
	p.peers = map[string]*Peer{}
	p.mu.Unlock()
	err := p.listener.Close()
	for _, peer := range peers {
		peer.drop()
	}
	p.wg.Wait()
	return err
}

func (p *Port) accept() {
	defer close(p.newPeers)
	var greetings sync.WaitGroup
	defer greetings.Wait()
	for {
		conn, err := p.listener.Accept()
		if err != nil {
			if errors.Is(err, net.ErrClosed) {
				return
			}
			time.Sleep(10 * time.Millisecond) // out of descriptors, most likely
			continue
		}
		greetings.Go(func() { p.greet(conn) })
	}
}

// greet reads the announcement of a runtime and keeps its connection for the
// next command.
func (p *Port) greet(conn net.Conn) {
	cookie, inner, err := readAdvertise(conn)
	if err != nil {
		_ = conn.Close()
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.done {
		_ = conn.Close()
		return
	}
	peer := p.peers[cookie]
	if peer == nil {
		if len(p.peers) >= maxPeers {
			_ = conn.Close()
			return
		}
		peer = &Peer{Cookie: cookie, Inner: inner, fresh: make(chan struct{}, 1)}
		peer.Dial = peer.take
		if pid, err := peerProcess(conn); err == nil {
			peer.PID = pid
		}
		p.peers[cookie] = peer
		p.newPeers <- peer // has room for all
	}
	peer.keep(conn)
}

func readAdvertise(conn net.Conn) (cookie string, pid int, err error) {
	_ = conn.SetDeadline(time.Now().Add(advertiseTimeout))
	var b [advertiseSize]byte
	if _, err := io.ReadFull(conn, b[:]); err != nil {
		return "", 0, err
	}
	if string(b[:8]) != advertiseMagic {
		return "", 0, errors.New("not a runtime that announces itself")
	}
	_ = conn.SetDeadline(time.Time{})
	return formatGUID(b[8:24]), int(binary.LittleEndian.Uint64(b[24:])), nil
}

// keep makes conn the connection for the next command. An older one that nobody
// used is dead: the runtime has one at a time.
func (p *Peer) keep(conn net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.idle != nil {
		_ = p.idle.Close()
	}
	p.idle = conn
	select {
	case p.fresh <- struct{}{}:
	default:
	}
}

func (p *Peer) drop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.idle != nil {
		_ = p.idle.Close()
		p.idle = nil
	}
}

// take returns the connection for the next command, or waits until the runtime
// has connected anew.
func (p *Peer) take(ctx context.Context) (net.Conn, error) {
	for {
		p.mu.Lock()
		conn := p.idle
		p.idle = nil
		p.mu.Unlock()
		if conn != nil {
			return conn, nil
		}
		select {
		case <-p.fresh:
		case <-ctx.Done():
			return nil, fmt.Errorf("waiting for process %d to connect: %w", p.Inner, ctx.Err())
		}
	}
}
