//go:build linux

package fakenode

import (
	"crypto/rand"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// A Node is a host with processes.
type Node struct {
	dir  string
	mark string // in the command lines of its processes, and of no others
	seed uint64
	stop chan struct{}
	done chan struct{}

	mu       sync.Mutex
	runtimes []*Runtime // all that were ever started, until Forget
	made     int
}

// New returns a Node whose processes have their sockets in dir. All its randomness comes from the
// seed.
func New(dir string, seed uint64) *Node {
	n := &Node{dir: dir, mark: rand.Text(), seed: seed, stop: make(chan struct{}), done: make(chan struct{})}
	go n.flush()
	return n
}

// nodeFlag is the start of the argument that says which node a process belongs to.
const nodeFlag = "--node="

// Pattern returns a pattern that matches the command lines of the node's processes and of no others
// of the machine, such as those of other tests.
func (n *Node) Pattern() string { return "*" + nodeFlag + n.mark + "*" }

// Start starts a process.
func (n *Node) Start(cfg Config) (*Runtime, error) {
	n.mu.Lock()
	n.made++
	instance := n.made
	n.mu.Unlock()
	r, err := startRuntime(n.dir, n.mark, cfg, n.seed+uint64(instance), uint16(instance))
	if err != nil {
		return nil, err
	}
	n.mu.Lock()
	n.runtimes = append(n.runtimes, r)
	n.mu.Unlock()
	return r, nil
}

// Runtimes returns all runtimes that were started, including those that have ended.
func (n *Node) Runtimes() []*Runtime {
	n.mu.Lock()
	defer n.mu.Unlock()
	return append([]*Runtime(nil), n.runtimes...)
}

// Close kills the processes that still run.
func (n *Node) Close() {
	close(n.stop)
	<-n.done
	for _, r := range n.Runtimes() {
		r.Kill()
		r.letGo()
	}
}

// The runtimes write every 100 ms, each in its slot of 10 ms.
const (
	slots    = 10
	slotTime = 10 * time.Millisecond
)

// flush makes all runtimes write. One goroutine does so for all: with one each, 500 of them would
// wake up for every write.
func (n *Node) flush() {
	defer close(n.done)
	ticker := time.NewTicker(slotTime)
	defer ticker.Stop()
	last := monotonic() / int64(slotTime)
	for {
		select {
		case <-ticker.C:
		case <-n.stop:
			return
		}
		list := n.Runtimes()
		now := monotonic()
		slot := now / int64(slotTime)
		last = max(last, slot-slots)
		for ; last < slot; last++ {
			for i := int(last % slots); i < len(list); i += slots {
				list[i].flush(now)
			}
		}
	}
}

// settleTime is how long runtimes may take to notice that a session has ended.
const settleTime = time.Minute

// Settle makes every runtime with a session do a collection, so that it notices a reader that has
// gone away, as real ones do, and returns the pids of those that still have sessions.
func (n *Node) Settle() (open []int) {
	deadline := time.Now().Add(settleTime)
	for _, r := range n.Runtimes() {
		for r.Collect() && r.Sessions() > 0 {
			if time.Now().After(deadline) {
				open = append(open, r.PID())
				break
			}
			time.Sleep(time.Millisecond)
		}
	}
	return open
}

// Kill kills the process: its socket stays, its sessions break off.
func (r *Runtime) Kill() {
	r.mu.Lock()
	r.die()
	r.mu.Unlock()
	r.proc.signal(unix.SIGKILL)
	<-r.ended
}

// Exit makes the process exit normally: its sessions end and its socket is removed.
func (r *Runtime) Exit(code byte) {
	r.mu.Lock()
	now := monotonic()
	r.happen(now)
	r.die()
	for len(r.streams) > 0 {
		t := r.streams[len(r.streams)-1]
		if t.ending == "" && !t.spoilt {
			t.finish()
		}
		t.write(now)
		r.enter(t)
		r.leaveLocked(t, EndExited)
	}
	r.mu.Unlock()
	r.proc.exit(code)
	<-r.ended
}

// Stop stops the process like SIGSTOP: nothing happens in it until Continue.
func (r *Runtime) Stop() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.frozen != nil || r.ledger.Ended {
		return
	}
	now := monotonic()
	r.happen(now)
	r.frozen, r.frozenAt = make(chan struct{}), now
	r.proc.signal(unix.SIGSTOP)
}

// Continue resumes a stopped process.
func (r *Runtime) Continue() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.frozen == nil {
		return
	}
	r.proc.signal(unix.SIGCONT)
	r.plan.shift(monotonic() - r.frozenAt)
	close(r.frozen)
	r.frozen = nil
}

// Collect makes a collection happen and writes it at once. It returns false if that is not
// possible.
func (r *Runtime) Collect() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ledger.Ended || r.frozen != nil {
		return false
	}
	r.plan.now = max(r.plan.now, monotonic())
	r.plan.stopTheWorld(Blocking, time.Millisecond)
	r.plan.due = max(r.plan.due, r.plan.now)
	r.happen(r.plan.now)
	r.write(r.plan.now)
	return true
}
