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
	"slices"
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

	mu         sync.Mutex
	peers      map[string]*Peer
	most       int           // peers
	patience   time.Duration // with a stranger
	strangers  []net.Conn    // connections that are no peer's, the oldest first
	turnedAway int
	done       bool
	wg         sync.WaitGroup
}

const (
	advertiseSize  = 34
	advertiseMagic = "ADVR_V1\x00"
	// advertiseTimeout is how long a connection may take to announce itself.
	advertiseTimeout = 5 * time.Second
	maxPeers         = 10_000
	// maxStrangers is how many connections there are at a time that have not announced
	// themselves yet, or were turned away. A runtime does so at once: of too many the
	// oldest is dropped, so that nobody can keep the others out.
	maxStrangers = 256
	// turnAwayTime is how long a runtime waits that is turned away, and may take to answer.
	turnAwayTime = time.Second
)

// Listen makes a diagnostic port at path: of a unix socket, on Windows of a pipe.
func Listen(path string) (*Port, error) {
	l, err := listen(path)
	if err != nil {
		return nil, listenError(path, err)
	}
	p := &Port{listener: l, newPeers: make(chan *Peer, maxPeers), peers: map[string]*Peer{}, most: maxPeers, patience: advertiseTimeout}
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

// Forget drops a runtime that has ended. One that has not would come back as a new one:
// who does not want it leaves it as it is, until it is Gone.
func (p *Port) Forget(peer *Peer) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.remove(peer)
	peer.drop()
}

func (p *Port) remove(peer *Peer) {
	if p.peers[peer.Cookie] == peer {
		delete(p.peers, peer.Cookie)
	}
}

// TurnedAway is how many connections of runtimes were not taken, because there are too
// many peers, or because another process came with the cookie of a peer. They have been
// let go, if they waited.
func (p *Port) TurnedAway() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.turnedAway
}

// Close stops listening and drops all connections that wait.
func (p *Port) Close() error {
	p.mu.Lock()
	p.done = true
	peers := p.peers
	p.peers = map[string]*Peer{}
	for len(p.strangers) > 0 {
		p.dropStranger()
	}
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
		switch {
		case err == nil:
			p.enter(conn)
			greetings.Go(func() { p.greet(conn) })
		case errors.Is(err, net.ErrClosed):
			return
		default: // out of descriptors, most likely
			p.mu.Lock()
			p.dropStranger()
			p.mu.Unlock()
			time.Sleep(10 * time.Millisecond)
		}
	}
}

func (p *Port) enter(conn net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.strangers = append(p.strangers, conn)
	_ = conn.SetDeadline(time.Now().Add(p.patience))
	if p.done || len(p.strangers) > maxStrangers {
		p.dropStranger()
	}
}

func (p *Port) dropStranger() {
	if len(p.strangers) > 0 {
		_ = p.strangers[0].Close()
		p.strangers = p.strangers[1:]
	}
}

func (p *Port) leave(conn net.Conn) {
	if i := slices.Index(p.strangers, conn); i >= 0 {
		p.strangers = slices.Delete(p.strangers, i, i+1)
	}
}

// greet reads the announcement of a runtime and keeps its connection for the
// next command.
func (p *Port) greet(conn net.Conn) {
	cookie, inner, err := readAdvertise(conn)
	switch {
	case err != nil:
	case p.welcome(conn, cookie, inner):
		return
	default:
		turnAway(conn)
	}
	p.mu.Lock()
	p.leave(conn)
	p.mu.Unlock()
	_ = conn.Close()
}

// welcome gives a connection to its peer, who may be a new one. Cookies are no secret:
// who comes with that of a peer must be the same process of the same user. Of a process
// that this pid namespace does not show only the user can be told.
func (p *Port) welcome(conn net.Conn, cookie string, inner int) bool {
	from := callerOf(conn)
	p.mu.Lock()
	defer p.mu.Unlock()
	if !slices.Contains(p.strangers, conn) {
		return true // it was dropped
	}
	peer := p.peers[cookie]
	switch {
	case peer == nil && len(p.peers) < p.most:
		peer = newPeer(p, cookie, inner, from)
		select {
		case p.newPeers <- peer:
		default: // nobody calls Next
			peer = nil
		}
	case peer != nil && peer.from != from:
		peer = nil
	}
	if peer == nil {
		p.turnedAway++
		return false
	}
	p.leave(conn)
	p.peers[cookie] = peer
	peer.keep(conn)
	return true
}

// turnAway lets a runtime go on that waits in its start, if it does. It takes its time:
// the runtime connects anew as soon as it has been told.
func turnAway(conn net.Conn) {
	_ = conn.SetDeadline(time.Now().Add(turnAwayTime))
	if n, err := conn.Read(make([]byte, 1)); n > 0 || !isTimeout(err) {
		return
	}
	_ = conn.SetDeadline(time.Now().Add(turnAwayTime))
	resume, _ := message(setProcess, cmdResumeRuntime, nil)
	_, _ = conn.Write(resume)
	_, _ = readResponse(conn, "ResumeRuntime") // it would not look at what a connection says that is closed
}

func readAdvertise(conn net.Conn) (cookie string, pid int, err error) {
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
