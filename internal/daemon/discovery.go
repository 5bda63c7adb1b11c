package daemon

import (
	"errors"
	"fmt"
	"time"

	"github.com/gclog/gclog/internal/attach"
	"github.com/gclog/gclog/internal/host"
	"github.com/gclog/gclog/session"
)

// A discovery is what the daemon knows about finding processes.
type discovery struct {
	sweeper     *sweeper
	swept       bool // all processes have been looked for once
	unreachable []Status
	stuck       int   // stuck looks at processes when that was last reported
	stuckBy     error // the error of the latest of them
}

// discover makes the sweeper, which reports what it finds to the loop.
func (d *Daemon) discover(interval time.Duration) {
	s := newSweeper(interval)
	s.inspect = d.o.Processes.Inspect
	s.found = func(t *host.Target) { d.post(func() { d.found(t, nil) }) }
	s.gone = func(k key) { d.post(func() { d.gone(k) }) }
	s.failed = func(err error) { d.post(func() { d.sayFailed(err) }) }
	s.swept = func(list []*unreachable) { d.post(func() { d.sweepDone(list) }) }
	d.discovery.sweeper = s
}

// found handles a process that the sweeper or a port has found.
func (d *Daemon) found(t *host.Target, peer *session.Peer) {
	k := keyOf(t, peer)
	if d.ending.begun || peer != nil && isClosed(peer.Gone()) {
		return
	}
	if p := d.processes[k]; p != nil {
		if p.peer == nil && peer != nil {
			p.peer = peer
			peer.Hold()
		}
		switch p.sup.state {
		case stateClosing, stateOver:
			d.discovery.sweeper.again(k)
		default:
			p.step(event{kind: eventAlive})
		}
		return
	}
	if d.refused(&t.Process) == "" && !d.admitted(k, t.Principal(), peer) {
		return
	}
	if peer != nil {
		peer.Hold()
	}
	p := d.newProcess(k, t, peer)
	d.processes[k] = p
	p.guard(func() { p.step(event{kind: eventFound}) })
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// keyOf returns the key of a process that connected to a port, or that the sweeper found.
func keyOf(t *host.Target, peer *session.Peer) key {
	if peer != nil && peer.PID == 0 {
		return key{cookie: peer.Cookie, uid: t.UID}
	}
	return key{pid: t.PID, start: t.StartKey}
}

// refused returns why a process must not be logged whatever it answers; "" if that is undecided.
func (d *Daemon) refused(p *host.Process) string {
	s := outside(p)
	return d.config.Refused(&s)
}

// sameRuntime returns another process that claims to have the same runtime instance. No two
// processes can: pid and start time identify a process reliably, even one that was found in two
// ways; only a process that this host does not show is identified by its cookie (keyOf).
func (d *Daemon) sameRuntime(p *process) *process {
	for _, other := range d.processes {
		same := other != p && p.facts.Cookie != "" && other.facts.Cookie == p.facts.Cookie
		if same && other.sup.state != stateExcluded {
			return other
		}
	}
	return nil
}

func (d *Daemon) gone(k key) {
	if w := d.queue.remove(k); w != nil && w.peer != nil {
		d.discovery.sweeper.again(k) // the process may exist all the same
	}
	p := d.processes[k]
	switch {
	case p == nil:
	case p.target.Alive():
		d.discovery.sweeper.again(k) // it was only out of sight
	default:
		p.step(event{kind: eventGone})
	}
}

func (d *Daemon) sweepDone(list []*unreachable) {
	d.discovery.unreachable = nil
	for _, u := range list {
		if d.config.Refused(&u.seen) == "" {
			d.limiter.warnOf(u.uid, fmt.Sprintf("%d/%d", u.status.PID, u.start),
				"cannot reach a .NET process: "+u.status.Why)
			d.discovery.unreachable = append(d.discovery.unreachable, u.status)
		}
	}
	stuck, _ := d.o.Processes.Stuck()
	d.sayStuck(stuck)
	if !d.discovery.swept {
		d.discovery.swept = true
		d.reportReady()
		d.log.Info().Int("processes", len(d.processes)).Int("unreachable", len(d.discovery.unreachable)).Msg("ready")
	}
}

// sayFailed logs that a look at a process, or at all of them, has failed.
func (d *Daemon) sayFailed(err error) {
	if defect, ok := errors.AsType[*attach.DefectError](err); ok {
		d.sayDefect(defect, 0)
		return
	}
	if _, ok := errors.AsType[*host.TargetError](err); ok {
		d.discovery.stuckBy = err // one is logged for all: there may be hundreds for the same reason
		return
	}
	d.limiter.warn(err.Error(), err.Error(), nil)
}

// sayStuck logs when looks at processes have got stuck, or none is stuck any more.
func (d *Daemon) sayStuck(stuck int) {
	switch {
	case stuck > d.discovery.stuck && d.discovery.stuckBy != nil:
		d.limiter.warn("stuck",
			fmt.Sprintf("inspecting %d processes timed out; they are not logged: %v", stuck, d.discovery.stuckBy), nil)
	case stuck == 0 && d.discovery.stuck > 0:
		d.log.Info().Msg("no process inspection is stuck any longer")
	}
	d.discovery.stuck = stuck
}
