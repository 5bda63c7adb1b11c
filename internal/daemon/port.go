package daemon

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/gclog/gclog/internal/config"
	"github.com/gclog/gclog/internal/control"
	"github.com/gclog/gclog/session"
)

// A port is a diagnostic port of ours: runtimes that are configured with its path connect to it.
// One that is suspended at startup until then is resumed before anything else is done: no problem
// of gclog may keep a program from running.
type port struct {
	*session.Port
	cancel   context.CancelFunc
	rejected int // number of rejected connections that was last logged
}

// ports are the diagnostic ports of the daemon, by their paths.
type ports struct {
	idle
	d      *Daemon
	byPath map[string]*port
}

func newPorts(d *Daemon) *ports { return &ports{d: d, byPath: map[string]*port{}} }

// prepare implements part: it opens the ports that are not open yet.
func (x *ports) prepare(next *config.Loaded) (change, error) {
	before := slices.Collect(maps.Keys(x.byPath))
	undo := func() { x.closeBut(before) }
	for _, path := range next.Discovery.Listen {
		if x.byPath[path] != nil {
			continue
		}
		opened, err := whileHeld(x.d.patience(), func() (*session.Port, error) {
			return session.Listen(path, x.d.limits.connections)
		})
		if err != nil {
			undo()
			return change{}, err
		}
		ctx, cancel := context.WithCancel(context.Background())
		p := &port{Port: opened, cancel: cancel}
		x.byPath[path] = p
		go x.d.accept(ctx, p)
		x.d.log.Info().Str("path", path).Msg("listening on a diagnostic port")
	}
	return change{func() { x.closeBut(next.Discovery.Listen) }, undo}, nil
}

// forget implements part.
func (x *ports) forget(p *process) {
	if p.peer != nil {
		for _, port := range x.byPath {
			port.Forget(p.peer)
		}
	}
}

// tick implements part: it logs which ports rejected connections.
func (x *ports) tick() {
	for path, p := range x.byPath {
		if n := p.Rejected(); n > p.rejected {
			p.rejected = n
			x.d.limiter.warn("port "+path,
				fmt.Sprintf("%d connections to %s rejected so far: too many from one process, from one user, or in "+
					"total. Runtimes that were waiting there at startup were resumed", n, path), nil)
		}
	}
}

// settle implements part.
func (x *ports) settle(context.Context, *sync.WaitGroup) { x.closeBut(nil) }

// closeBut closes the ports that are not in a list.
func (x *ports) closeBut(paths []string) {
	for path, p := range x.byPath {
		if !slices.Contains(paths, path) {
			delete(x.byPath, path)
			p.cancel()
			_ = p.Close() // its socket is removed with it
		}
	}
}

// heldTime is how long an address may be in use when the daemon starts. A daemon that was killed while it
// started a command leaves its sockets to the command until the kernel runs that, which takes seconds on
// an overloaded host.
const heldTime = 3 * time.Second

// patience returns how long an address may be in use now.
func (d *Daemon) patience() time.Duration {
	if d.started {
		return 0
	}
	return heldTime
}

// whileHeld tries to open something until its address is not in use, for a time.
func whileHeld[T any](patience time.Duration, open func() (T, error)) (T, error) {
	for end := time.Now().Add(patience); ; time.Sleep(heldTime / 30) {
		opened, err := open()
		if !errors.Is(err, syscall.EADDRINUSE) && !errors.Is(err, control.ErrInUse) || !time.Now().Before(end) {
			return opened, err
		}
	}
}

func (d *Daemon) accept(ctx context.Context, p *port) {
	for {
		peer, err := p.Next(ctx)
		if err != nil {
			return
		}
		d.aside(peer.PID, func() { d.welcome(ctx, peer) })
	}
}

// welcome resumes a runtime and watches it until it has exited.
func (d *Daemon) welcome(ctx context.Context, peer *session.Peer) {
	err := peer.Resume(ctx)
	t := d.o.Processes.TargetOf(peer)
	d.post(func() {
		if err != nil {
			d.limiter.warnOf(t.UID, peer.Cookie,
				"cannot resume a process that connected to a diagnostic port: "+err.Error())
		}
		d.found(t, peer)
	})
	select {
	case <-peer.Gone():
		d.post(func() { d.gone(keyOf(t, peer)) })
	case <-ctx.Done():
	}
}
