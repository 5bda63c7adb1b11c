package daemon

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"syscall"
	"time"

	"github.com/gclog/gclog/internal/attach"
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

// listen opens the ports that are not open yet. On an error the new ones are closed again.
func (d *Daemon) listen(paths []string) error {
	var made []string
	for _, path := range paths {
		if d.ports[path] != nil {
			continue
		}
		x, err := whileHeld(d.patience, func() (*session.Port, error) { return session.Listen(path, d.limits.connections) })
		if err != nil {
			for _, path := range made {
				d.closePort(path)
			}
			return err
		}
		ctx, cancel := context.WithCancel(context.Background())
		p := &port{Port: x, cancel: cancel}
		d.ports[path] = p
		made = append(made, path)
		go d.accept(ctx, p)
		d.log.Info().Str("path", path).Msg("listening on a diagnostic port")
	}
	return nil
}

// heldTime is how long an address may be in use when the daemon starts. A daemon that was killed while it
// started a command leaves its sockets to the command until the kernel runs that, which takes seconds on
// an overloaded host.
const heldTime = 3 * time.Second

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
		go func() {
			if defect := attach.Contain(func() { d.welcome(ctx, peer) }); defect != nil {
				d.post(func() { d.sayDefect(defect, peer.PID) })
			}
		}()
	}
}

// welcome resumes a runtime and watches it until it has exited.
func (d *Daemon) welcome(ctx context.Context, peer *session.Peer) {
	err := peer.Resume(ctx)
	t := d.o.Processes.TargetOf(peer)
	d.post(func() {
		if err != nil {
			d.limiter.warnOf(t.UID, peer.Cookie, "cannot resume a process that connected to a diagnostic port: "+err.Error())
		}
		d.found(t, peer)
	})
	select {
	case <-peer.Gone():
		d.post(func() { d.gone(keyOf(t, peer)) })
	case <-ctx.Done():
	}
}

// sayRejected logs which ports rejected connections.
func (d *Daemon) sayRejected() {
	for path, p := range d.ports {
		if n := p.Rejected(); n > p.rejected {
			p.rejected = n
			d.limiter.warn("port "+path, fmt.Sprintf("%d connections to %s rejected so far: too many from one process, from one user, or in total. Runtimes that were waiting there at startup were resumed", n, path), nil)
		}
	}
}

// closePortsBut closes the ports that are not in the list.
func (d *Daemon) closePortsBut(paths []string) {
	for path := range d.ports {
		if !slices.Contains(paths, path) {
			d.closePort(path)
		}
	}
}

func (d *Daemon) closePorts() { d.closePortsBut(nil) }

func (d *Daemon) closePort(path string) {
	p := d.ports[path]
	delete(d.ports, path)
	p.cancel()
	_ = p.Close() // its socket is removed with it
}
