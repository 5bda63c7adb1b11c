package daemon

import (
	"context"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gclog/gclog/internal/attach"
	"github.com/gclog/gclog/session"
)

// A sweeper finds the processes that have a .NET runtime. It looks through /proc again
// and again, because nothing else sees all namespaces; that a socket is made in our
// own temporary directory only makes it look sooner.
//
// A process is inspected when it is new or runs another program, then again and again,
// the more rarely the older it is: a runtime needs time to start, and later it may be
// given what kept it from being reached. What is not .NET hardly ever becomes so.
type sweeper struct {
	inspect func(pid int) *session.Listed

	found func(*session.Target)
	gone  func(key)
	swept func(list []session.Listed) // after each sweep: those that cannot be reached
	// failed is told that a sweep was not possible, or of a process that it had to pass over.
	failed func(error)

	interval time.Duration
	nudge    chan time.Duration // 0: look now; else the new interval

	known map[int]*sighted

	slots   chan struct{}   // one for each inspection that is under way, and does not hang
	hung    int             // inspections that do
	results chan inspection // of them

	mu      sync.Mutex
	offered map[key]bool // to be found anew
}

// An inspection is what inspecting a process brought.
type inspection struct {
	of     *sighted
	listed *session.Listed
}

// A sighted is what the sweeper knows about a process.
type sighted struct {
	session.Sighting
	since   time.Time // when it was first seen running this program
	next    time.Time // when to inspect it again
	target  bool      // it was found
	told    bool      // that it was found, at any time
	busy    bool      // it is being inspected
	hung    bool      // since an earlier sweep
	slot    atomic.Bool
	listed  *session.Listed
	present bool // in this sweep
}

const (
	// unreachableEvery and otherEvery are how often an old process is inspected that is
	// .NET and cannot be reached, and one that is not .NET.
	unreachableEvery = time.Minute
	otherEvery       = 5 * time.Minute
	// inspectMost is how many processes are inspected at once, and inspectTime how long a
	// sweep waits for them: what hangs is left behind.
	inspectMost = 8
	inspectTime = 5 * time.Second
	// nudgeAfter is how long after a hint it is looked: the runtime is just starting.
	nudgeAfter = 50 * time.Millisecond
	// nudgeEvery is how often hints make it look at most.
	nudgeEvery = 300 * time.Millisecond
	// hungMost is how many inspections may hang.
	hungMost = 64
)

func newSweeper(interval time.Duration) *sweeper {
	return &sweeper{
		inspect: session.Inspect, interval: interval, nudge: make(chan time.Duration, 1),
		known: map[int]*sighted{}, offered: map[key]bool{},
		slots: make(chan struct{}, inspectMost), results: make(chan inspection, hungMost+inspectMost),
	}
}

// run sweeps until ctx is done.
func (s *sweeper) run(ctx context.Context, scanner *session.Scanner) {
	defer scanner.Close()
	made, stop := hints(os.TempDir())
	defer stop()
	timer := time.NewTimer(0)
	next, last := time.Now(), time.Time{}
	sooner := func(at time.Time) { // never later: else hints without an end would leave no time
		if at.Before(next) {
			next = at
			timer.Reset(time.Until(at))
		}
	}
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
			if seen, err := scanner.Scan(); err == nil {
				s.sweep(seen)
			} else {
				s.failed(err) // who is gone is not known
			}
			last = time.Now()
			next = last.Add(s.interval)
			timer.Reset(s.interval)
		case d := <-s.nudge:
			if d > 0 {
				s.interval = d
			}
			sooner(time.Now())
		case <-made:
			now := time.Now()
			sooner(later(now.Add(nudgeAfter), last.Add(nudgeEvery)))
		}
	}
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// soon makes the next sweep begin now, with another interval if it is not 0.
func (s *sweeper) soon(interval time.Duration) {
	select {
	case s.nudge <- interval:
	default:
	}
}

// again has a process found once more in the next sweep.
func (s *sweeper) again(k key) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.offered[k] = true
}

func (s *sweeper) sweep(seen []session.Sighting) {
	s.mu.Lock()
	offered := s.offered
	s.offered = map[key]bool{}
	s.mu.Unlock()
	now := time.Now()
	self := os.Getpid()
	var due []*sighted
	for _, x := range seen {
		if x.PID == self {
			continue
		}
		k := s.known[x.PID]
		switch {
		case k == nil || k.StartKey != x.StartKey:
			if k != nil {
				s.lost(k)
			}
			k = &sighted{Sighting: x, since: now}
			s.known[x.PID] = k
		case k.Name != x.Name: // it runs another program
			k.Name, k.since, k.next = x.Name, now, now
		}
		if offered[key{pid: k.PID, start: k.StartKey}] {
			k.target, k.next = false, now
		}
		k.present = true
		if !k.busy && !k.target && !now.Before(k.next) {
			due = append(due, k)
		}
	}
	s.inspectAll(due, now)
	var unreachable []session.Listed
	for pid, k := range s.known {
		if !k.present {
			delete(s.known, pid)
			s.lost(k)
			continue
		}
		k.present = false
		if k.listed != nil {
			unreachable = append(unreachable, *k.listed)
		}
	}
	s.swept(unreachable)
}

func (s *sweeper) lost(k *sighted) {
	if k.told {
		s.gone(key{pid: k.PID, start: k.StartKey})
	}
}

// inspectAll looks at the processes that are due. Looking at a process can hang, if the
// process does in the kernel: then the sweep goes on without it, and takes what comes of
// it in a later one.
func (s *sweeper) inspectAll(due []*sighted, now time.Time) {
	for range len(s.results) { // of those that hung in an earlier sweep
		s.take(<-s.results, now)
	}
	if s.hung >= hungMost {
		return
	}
	var begun []*sighted
	limit := time.NewTimer(inspectTime)
	defer limit.Stop()
	for waiting := len(due); waiting > 0; {
		slots := s.slots
		if len(due) == 0 {
			slots = nil
		}
		select {
		case slots <- struct{}{}:
			k := due[0]
			due, k.busy = due[1:], true
			k.slot.Store(true)
			begun = append(begun, k)
			go func() {
				var l *session.Listed
				if defect := attach.Contain(func() { l = s.inspect(k.PID) }); defect != nil {
					l = &session.Listed{Process: session.Process{PID: k.PID, StartKey: k.StartKey}, Err: defect}
					s.failed(defect)
				}
				s.release(k)
				s.results <- inspection{k, l}
			}()
		case r := <-s.results:
			if !s.take(r, now) {
				waiting--
			}
		case <-limit.C:
			s.leave(begun)
			return
		}
	}
}

// take takes what came of an inspection, and tells whether that hung in an earlier sweep.
func (s *sweeper) take(r inspection, now time.Time) (hung bool) {
	if hung = r.of.hung; hung {
		s.hung--
		r.of.hung = false
	}
	s.inspected(r.of, r.listed, now)
	return hung
}

// leave gives the slots of those that hang to others.
func (s *sweeper) leave(begun []*sighted) {
	for _, k := range begun {
		if k.busy {
			s.hung++
			k.hung = true
			s.release(k)
			s.failed(fmt.Errorf("process %d (%s) cannot be looked at within %v: it hangs in the kernel, or this machine is very busy", k.PID, k.Name, inspectTime))
		}
	}
}

func (s *sweeper) release(k *sighted) {
	if k.slot.Swap(false) {
		<-s.slots
	}
}

// inspected notes what was found, and when to look again.
func (s *sweeper) inspected(k *sighted, l *session.Listed, now time.Time) {
	k.busy, k.listed = false, nil
	wait := min(now.Sub(k.since)/2, otherEvery)
	switch {
	case l.StartKey != k.StartKey || l.Ignored():
	case l.Err == nil:
		k.target, k.told = true, true
		s.found(l.Target())
	case l.Dotnet():
		k.listed = l
		wait = min(wait, unreachableEvery)
	}
	k.next = now.Add(wait)
}
