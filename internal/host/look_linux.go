package host

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"
	"time"
)

const (
	// lookTime is the maximum time of a look at a process. One that takes longer is stuck.
	lookTime = 5 * time.Second
	// maxStuckOfUser is how many looks at processes of one user may be stuck, maxStuck how many in
	// total. Each stuck look occupies a thread of gclog.
	maxStuckOfUser = 8
	maxStuck       = 256
)

type hostState struct {
	mu      sync.Mutex
	looks   map[*underway]bool
	helpers helpers
	mounts  hostMounts
}

// An underway is a look that has not ended.
type underway struct {
	pid   int
	start uint64
	uid   int
	since time.Time
}

func (u *underway) isOf(p *Process) bool { return u.pid == p.PID && u.start == p.StartKey }

// Stuck returns how many looks at processes have not ended in time, and whether there are so many
// that no process can be looked at.
func (h *Host) Stuck() (looks int, all bool) {
	h.state.mu.Lock()
	defer h.state.mu.Unlock()
	for u := range h.state.looks {
		if time.Since(u.since) >= lookTime {
			looks++
		}
	}
	return looks + h.state.helpers.stuck(), looks >= maxStuck
}

// begin registers a look at a process, unless too many are stuck.
func (h *Host) begin(p *Process) (*underway, error) {
	s := &h.state
	s.mu.Lock()
	defer s.mu.Unlock()
	all, ofUser := 0, 0
	for u := range s.looks {
		if time.Since(u.since) < lookTime {
			continue
		}
		if u.isOf(p) {
			return nil, refuse(p.PID, CauseStuck, nil,
				"cannot be inspected: an earlier inspection has been stuck in the kernel since %s",
				u.since.UTC().Format(time.RFC3339))
		}
		all++
		if u.uid == p.UID {
			ofUser++
		}
	}
	switch {
	case all >= maxStuck:
		return nil, refuse(p.PID, CauseStuck, nil,
			"is not inspected: inspections of %d processes are stuck in the kernel", all)
	case ofUser >= maxStuckOfUser:
		return nil, refuse(p.PID, CauseStuck, nil,
			"is not inspected: inspections of %d other processes of user %s are stuck in the kernel",
			ofUser, userName(p.UID))
	}
	if s.looks == nil {
		s.looks = map[*underway]bool{}
	}
	u := &underway{p.PID, p.StartKey, p.UID, time.Now()}
	s.looks[u] = true
	return u, nil
}

func (h *Host) end(u *underway) {
	h.state.mu.Lock()
	defer h.state.mu.Unlock()
	delete(h.state.looks, u)
}

// A seen is the result of a look.
type seen[T any] struct {
	value T
	err   error
	panic any
}

// look has f look at a process, and waits until f returns, lookTime is over or ctx is done. A later
// result is dropped.
func look[T any](ctx context.Context, p *Process, f func() (T, error), drop func(T)) (T, error) {
	var none T
	h := p.host
	if h == nil { // the process was not found by a Host: it is made up
		return f()
	}
	u, err := h.begin(p)
	if err != nil {
		return none, err
	}
	done, left := make(chan seen[T]), make(chan struct{})
	go func() {
		var s seen[T]
		defer func() {
			if x := recover(); x != nil {
				s.panic = fmt.Sprintf("%v\n%s", x, debug.Stack())
			}
			h.end(u)
			select {
			case done <- s:
			case <-left:
				if s.err == nil && s.panic == nil {
					drop(s.value)
				}
			}
		}()
		s.value, s.err = f()
	}()
	select {
	case s := <-done:
		if s.panic != nil {
			panic(s.panic)
		}
		return s.value, s.err
	case <-ctx.Done():
		close(left)
		return none, ctx.Err()
	case <-time.After(lookTime):
		close(left)
		return none, refuse(p.PID, CauseStuck, nil,
			"could not be inspected within %v: the call is stuck in the kernel, or this machine is very busy", lookTime)
	}
}

// keep is the drop function for results that need no release.
func keep[T any](T) {}
