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

// A Port is a diagnostic port: a socket to which runtimes connect early in their startup if their
// environment contains DOTNET_DiagnosticPorts=<path>. .NET 5 and up do so.
//
// A runtime announces itself on each connection, accepts one command on it, and then reconnects.
//
// Every user of the host may connect. Half of the connections are for known runtimes, the other
// half for those that have not announced themselves yet or wait to be resumed. The user with the
// most of them makes way first, so that nobody can keep the runtimes of others out.
//
// A connection is in strangers until it has announced itself and welcome gives it to its Peer in
// peers. mu guards the fields below it, and Peer.held.
type Port struct {
	listener net.Listener
	newPeers chan *Peer

	mu        sync.Mutex
	peers     map[identity]*Peer
	half      int           // half of the connections
	patience  time.Duration // how long a stranger may take to announce itself
	away      time.Duration // how long a runtime that is turned away has to wait
	answer    time.Duration // how long it may take to answer then
	goneAfter time.Duration // see Peer.Gone
	strangers seats         // connections that do not belong to a peer
	rejected  int
	done      bool
	wg        sync.WaitGroup
}

// An identity distinguishes a runtime from others. Cookies are not secret, so a cookie only counts
// together with the process that sent it; for processes that this host does not show, together with
// their user.
type identity struct {
	caller
	start  uint64 // of the process, in the kernel's own unit
	cookie string
}

const (
	advertiseSize  = 34
	advertiseMagic = "ADVR_V1\x00"
	// advertiseTimeout is the time a connection has to announce itself.
	advertiseTimeout = 5 * time.Second
	// PortConnections is the maximum number of connections of a port.
	PortConnections = 20_000
	// processPeers is the maximum number of runtimes in a process: it has one, plus possibly that
	// of a library compiled ahead of time.
	processPeers = 4
	// processStrangers is the maximum number of connections from one process that do not belong to
	// a peer.
	processStrangers = 16
	// turnAwayTime is how long a runtime that is turned away has to wait, and how long it may take
	// to answer.
	turnAwayTime = 500 * time.Millisecond
	// strangerTime is the minimum time a connection has to announce itself before it makes way for
	// another one, which waits in the kernel until then.
	strangerTime = 20 * time.Millisecond
)

// Listen creates a diagnostic port at path: a unix socket, or a pipe on Windows. connections limits
// the number of connections that wait at the port at a time.
func Listen(path string, connections int) (*Port, error) {
	l, err := listen(path)
	if err != nil {
		return nil, listenError(path, err)
	}
	half := max(1, min(connections, PortConnections)/2)
	p := &Port{
		listener: l, newPeers: make(chan *Peer, half), peers: map[identity]*Peer{}, half: half,
		patience: advertiseTimeout, away: turnAwayTime, answer: turnAwayTime, goneAfter: goneAfter,
	}
	p.wg.Go(p.accept)
	return p, nil
}

// listenError returns an error that states once what is wrong, and what to do.
func listenError(path string, err error) error {
	if call, ok := errors.AsType[*os.SyscallError](err); ok {
		err = call.Err
	}
	hint := ""
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		hint = ": another program listens there, or it is not a socket"
	case errors.Is(err, fs.ErrNotExist):
		hint = ": its directory must exist"
	}
	return fmt.Errorf("listening on %s: %w%s", path, err, hint)
}

// Next returns the next runtime that has not been returned before.
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

// Forget drops a runtime that has ended and closes its Gone channel. Do not call it for a runtime
// that is still running: it would come back as a new one. To ignore such a runtime, leave it alone
// until it is Gone.
func (p *Port) Forget(peer *Peer) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if peer.port == p && !peer.isGone() {
		p.dismiss(peer)
	}
}

func (p *Port) remove(peer *Peer) {
	if p.peers[peer.id] == peer {
		delete(p.peers, peer.id)
	}
}

// Rejected returns the number of connections from runtimes that were rejected because there were
// too many. The runtimes have been resumed if they were suspended.
func (p *Port) Rejected() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.rejected
}

// Close stops listening and drops all waiting connections.
func (p *Port) Close() error {
	p.mu.Lock()
	p.done = true
	peers := p.peers
	p.peers = map[identity]*Peer{}
	for _, x := range p.strangers {
		_ = x.Close()
	}
	p.strangers = nil
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
			x := &seat{Conn: conn, from: callerOf(conn), since: time.Now()}
			p.enter(x)
			greetings.Go(func() { p.greet(x) })
		case errors.Is(err, net.ErrClosed):
			return
		default: // probably out of descriptors
			p.mu.Lock()
			p.drop(p.strangers.surplus())
			p.mu.Unlock()
			time.Sleep(10 * time.Millisecond)
		}
	}
}

// enter gives a seat to a stranger, and takes one away from another stranger if there are too many.
// It waits until that other one has had strangerTime, so that an honest one can announce itself
// however fast others connect.
func (p *Port) enter(x *seat) {
	p.mu.Lock()
	defer p.mu.Unlock()
	_ = x.SetDeadline(x.since.Add(p.patience))
	p.strangers = append(p.strangers, x)
	if p.done {
		p.drop(x)
	}
	if x.from.seen() && p.strangers.of(x.from) > processStrangers {
		i := slices.IndexFunc(p.strangers, func(y *seat) bool { return y.from == x.from })
		p.drop(p.strangers[i])
	}
	if len(p.strangers) <= p.half {
		return
	}
	wait := strangerTime - time.Since(p.strangers.surplus().since)
	p.mu.Unlock()
	time.Sleep(wait)
	p.mu.Lock()
	if len(p.strangers) > p.half {
		p.drop(p.strangers.surplus())
	}
}

// drop closes the connection of a stranger.
func (p *Port) drop(x *seat) {
	if x != nil && p.strangers.remove(x) {
		_ = x.Close()
	}
}

// greet reads the announcement of a runtime and keeps its connection for the next command.
func (p *Port) greet(x *seat) {
	id := identity{caller: x.from, start: peerStart(x.Conn, x.from.pid)}
	cookie, inner, err := readAdvertise(x)
	id.cookie = cookie
	switch {
	case err != nil:
	case p.welcome(x, id, inner):
		return
	default:
		p.turnAway(x)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.drop(x)
}

// welcome gives a connection to its peer, which may be a new one. It returns false if the runtime
// must be turned away.
func (p *Port) welcome(x *seat, id identity, inner int) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !slices.Contains(p.strangers, x) {
		return true // it was dropped meanwhile
	}
	peer := p.peers[id]
	if peer == nil && p.makeRoom(x.from) {
		peer = newPeer(p, id, inner)
		select {
		case p.newPeers <- peer:
		default: // Next is not being called
			peer = nil
		}
	}
	if peer == nil {
		p.rejected++
		return false
	}
	p.strangers.remove(x)
	p.peers[id] = peer
	peer.keep(x.Conn)
	return true
}

// makeRoom reports whether there is room for a new peer. If all places are taken, it dismisses a
// peer that is not held, of a user other than root who has more than half of the places, and so
// more than the new peer's user.
func (p *Port) makeRoom(from caller) bool {
	users, ofProcess := map[int]int{}, 0
	for id := range p.peers {
		users[id.uid]++
		if from.seen() && id.caller == from {
			ofProcess++
		}
	}
	if ofProcess >= processPeers {
		return false
	}
	if len(p.peers) < p.half {
		return true
	}
	for id, peer := range p.peers {
		if id.uid != 0 && id.uid != from.uid && users[id.uid] > p.half/2 && !peer.held {
			p.dismiss(peer)
			return true
		}
	}
	return false
}

// dismiss takes a peer's place away.
func (p *Port) dismiss(peer *Peer) {
	p.remove(peer)
	peer.drop()
	close(peer.gone)
}

// turnAway resumes a runtime that is suspended during startup. It waits first, because the runtime
// reconnects as soon as it has the answer.
func (p *Port) turnAway(conn net.Conn) {
	p.mu.Lock()
	away, answer := p.away, p.answer
	p.mu.Unlock()
	_ = conn.SetDeadline(time.Now().Add(away))
	if n, err := conn.Read(make([]byte, 1)); n > 0 || !isTimeout(err) {
		return
	}
	_ = conn.SetDeadline(time.Now().Add(answer))
	resume, _ := message(setProcess, cmdResumeRuntime, nil)
	_, _ = conn.Write(resume)
	_, _ = readResponse(conn, "ResumeRuntime") // the runtime would ignore a command on a closed connection
}

func readAdvertise(conn net.Conn) (cookie string, pid int, err error) {
	var b [advertiseSize]byte
	if _, err := io.ReadFull(conn, b[:]); err != nil {
		return "", 0, err
	}
	if string(b[:8]) != advertiseMagic {
		return "", 0, errors.New("not a runtime announcing itself")
	}
	_ = conn.SetDeadline(time.Time{})
	return formatGUID(b[8:24]), int(binary.LittleEndian.Uint64(b[24:])), nil
}
