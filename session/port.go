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
//
// Every user of the host may connect. Half of the connections is for runtimes that are known, the
// other half for those that have not announced themselves yet, or wait to be let go. Whoever has the
// most of them gives way first, so that nobody keeps the runtimes of others out.
type Port struct {
	host     *Host
	listener net.Listener
	newPeers chan *Peer

	mu         sync.Mutex
	peers      map[identity]*Peer
	half       int           // of the connections
	patience   time.Duration // with a stranger
	strangers  seats         // connections that are no peer's
	turnedAway int
	done       bool
	wg         sync.WaitGroup
}

// An identity tells a runtime from others. Cookies are no secret, and count for what the same process
// says only; of processes that this host does not show, of the same user.
type identity struct {
	caller
	start  uint64 // of the process, in the kernel's own unit
	cookie string
}

const (
	advertiseSize  = 34
	advertiseMagic = "ADVR_V1\x00"
	// advertiseTimeout is how long a connection may take to announce itself.
	advertiseTimeout = 5 * time.Second
	// PortConnections is how many connections a port has at most.
	PortConnections = 20_000
	// processPeers is how many runtimes a process can have: it has one, and that of a library
	// that was compiled ahead of time.
	processPeers = 4
	// processStrangers is how many connections of a process there are that are no peer's.
	processStrangers = 16
	// turnAwayTime is how long a runtime waits that is turned away, and may take to answer.
	turnAwayTime = 500 * time.Millisecond
	// strangerTime is how long a connection has at least to announce itself before it makes way
	// for another one, which waits in the kernel meanwhile.
	strangerTime = 20 * time.Millisecond
)

// Listen makes a diagnostic port at path: of a unix socket, on Windows of a pipe. At most so many
// connections wait at it at a time.
func (h *Host) Listen(path string, connections int) (*Port, error) {
	l, err := listen(path)
	if err != nil {
		return nil, listenError(path, err)
	}
	half := max(1, min(connections, PortConnections)/2)
	p := &Port{host: h, listener: l, newPeers: make(chan *Peer, half), peers: map[identity]*Peer{}, half: half, patience: advertiseTimeout}
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

// Forget drops a runtime that has ended, and says that it is Gone. One that has not would come back as a new one:
// who does not want it leaves it as it is, until it is Gone.
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

// TurnedAway is how many connections of runtimes were not taken, because there were too many. They
// have been let go, if they waited.
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
		default: // out of descriptors, most likely
			p.mu.Lock()
			p.drop(p.strangers.surplus())
			p.mu.Unlock()
			time.Sleep(10 * time.Millisecond)
		}
	}
}

// enter gives a seat to a stranger, and takes it from another one where there are too many. It takes
// its time for that, so that who is honest can announce himself, however fast others come.
func (p *Port) enter(x *seat) {
	p.mu.Lock()
	defer p.mu.Unlock()
	_ = x.SetDeadline(x.since.Add(p.patience))
	p.strangers = append(p.strangers, x)
	if p.done {
		p.drop(x)
		return
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

// greet reads the announcement of a runtime and keeps its connection for the
// next command.
func (p *Port) greet(x *seat) {
	id := identity{caller: x.from, start: peerStart(x.Conn, x.from.pid)}
	cookie, inner, err := readAdvertise(x)
	id.cookie = cookie
	switch {
	case err != nil:
	case p.welcome(x, id, inner):
		return
	default:
		turnAway(x)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.drop(x)
}

// welcome gives a connection to its peer, who may be a new one.
func (p *Port) welcome(x *seat, id identity, inner int) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !slices.Contains(p.strangers, x) {
		return true // it was dropped
	}
	peer := p.peers[id]
	if peer == nil && p.makeRoom(x.from) {
		peer = newPeer(p, id, inner)
		select {
		case p.newPeers <- peer:
		default: // nobody calls Next
			peer = nil
		}
	}
	if peer == nil {
		p.turnedAway++
		return false
	}
	p.strangers.remove(x)
	p.peers[id] = peer
	peer.keep(x.Conn)
	return true
}

// makeRoom reports whether there is room for a new peer. Where all places are taken, a user other than
// root who has more than half of them, and more than the one who comes, gives one back that is not
// held.
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

// dismiss takes the place of a peer.
func (p *Port) dismiss(peer *Peer) {
	p.remove(peer)
	peer.drop()
	close(peer.gone)
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
