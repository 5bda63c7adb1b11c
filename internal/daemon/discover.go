package daemon

import (
	"context"
	"errors"
	"os"
	"sync"
	"time"

	"github.com/gclog/gclog/internal/attach"
	"github.com/gclog/gclog/internal/config"
	"github.com/gclog/gclog/internal/host"
)

// A sweeper finds the processes that have a .NET runtime. It scans /proc periodically, because
// nothing else sees all namespaces; a socket created in our own temporary directory only makes it
// scan sooner.
//
// A process is inspected when it is new or runs another program, then repeatedly, less often the
// older it is: a runtime needs time to start, and whatever kept it from being reached may be fixed
// later. A process that is not .NET hardly ever becomes one. Most processes of a host have only one
// thread, so they contain no runtime: they are new when they have another one.
type sweeper struct {
	inspect func(pid int) *host.Listed

	found func(*host.Target)
	gone  func(key)
	swept func([]*unreachable) // called after each sweep
	// failed is called with the error of a sweep that was not possible, or about a process that a
	// sweep had to skip.
	failed func(error)

	interval time.Duration
	nudge    chan time.Duration // 0: sweep now; otherwise the new interval

	known map[int]*sighted

	slots   chan struct{}   // one for each inspection in progress
	results chan inspection // results of inspections

	mu      sync.Mutex
	offered map[key]bool // processes to be found again
}

// An inspection is the result of inspecting a process.
type inspection struct {
	of     *sighted
	listed *host.Listed
}

// A sighted is what the sweeper knows about a process.
type sighted struct {
	host.Sighting
	since       time.Time // when it was first seen running this program with several threads
	next        time.Time // when to inspect it again
	target      bool      // it was passed to found and is not inspected again, unless again asks for it
	wasFound    bool      // it was passed to found at some time
	busy        bool      // it is being inspected
	late        bool      // its inspection was left to a later sweep
	unreachable *unreachable
	present     bool // seen in this sweep
}

// An unreachable is what is kept of a .NET process that cannot be reached: there may be many, and
// for a long time.
type unreachable struct {
	start  uint64
	uid    int
	seen   config.Subject
	status Status
}

const (
	// unreachableEvery and otherEvery are how often an old process is inspected: one that is .NET
	// and cannot be reached, and one that is not .NET.
	unreachableEvery = time.Minute
	otherEvery       = 5 * time.Minute
	// inspectMost is how many processes are inspected at once. One that takes longer than lateTime
	// does not count, and when none was completed for that long a sweep continues with others; a
	// sweep waits for inspectTime at most.
	inspectMost = 8
	inspectTime = 5 * time.Second
	lateTime    = time.Second
	// lateMost is how many inspections may be late: host.Host limits stuck looks to fewer.
	lateMost = 1024
	// nudgeAfter is how long after a hint the sweep starts: the runtime is just starting.
	nudgeAfter = 50 * time.Millisecond
	// nudgeEvery is the minimum interval between sweeps that hints cause.
	nudgeEvery = 300 * time.Millisecond
)

func newSweeper(interval time.Duration) *sweeper {
	return &sweeper{
		interval: interval, nudge: make(chan time.Duration, 1),
		known: map[int]*sighted{}, offered: map[key]bool{},
		slots: make(chan struct{}, inspectMost), results: make(chan inspection, lateMost),
	}
}

// run sweeps until ctx is done. A value from made is a hint that a runtime is just starting.
func (s *sweeper) run(ctx context.Context, scan func() ([]host.Sighting, error), made <-chan struct{}) {
	timer := time.NewTimer(0)
	next, last := time.Now(), time.Time{}
	sooner := func(at time.Time) { // never later: otherwise endless hints would postpone sweeps forever
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
			if seen, err := scan(); err == nil {
				s.sweep(seen)
			} else {
				s.failed(err) // which processes have exited is unknown
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

// soon makes the next sweep start now, with another interval if it is not 0.
func (s *sweeper) soon(interval time.Duration) {
	for {
		select {
		case s.nudge <- interval:
			return
		case before := <-s.nudge: // not taken yet
			if interval == 0 {
				interval = before
			}
		}
	}
}

// again has a process found once more in the next sweep.
func (s *sweeper) again(k key) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.offered[k] = true
}

func (s *sweeper) sweep(seen []host.Sighting) {
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
		if k.OneThread || x.OneThread {
			k.since, k.next, k.unreachable = now, now, nil
		}
		k.OneThread = x.OneThread
		if offered[key{pid: k.PID, start: k.StartKey}] {
			k.target, k.next = false, now
		}
		k.present = true
		if !k.busy && !k.target && !k.OneThread && !now.Before(k.next) {
			due = append(due, k)
		}
	}
	s.inspectAll(due, now)
	var list []*unreachable
	for pid, k := range s.known {
		if !k.present {
			delete(s.known, pid)
			s.lost(k)
			continue
		}
		k.present = false
		if k.unreachable != nil {
			list = append(list, k.unreachable)
		}
	}
	s.swept(list)
}

func (s *sweeper) lost(k *sighted) {
	if k.wasFound {
		s.gone(key{pid: k.PID, start: k.StartKey})
	}
}

// inspectAll inspects the processes that are due. An inspection can take long: the sweep continues
// without it, and a later one takes its result. How long it may take, and how many may never end,
// is up to host.Host.
func (s *sweeper) inspectAll(due []*sighted, now time.Time) {
	for range len(s.results) { // of inspections that were late in an earlier sweep
		s.take(<-s.results, now)
	}
	var started []*sighted
	limit, late := time.NewTimer(inspectTime), time.NewTimer(lateTime)
	for waiting := len(due); waiting > 0; {
		slots := s.slots
		if len(due) == 0 {
			slots = nil
		}
		select {
		case slots <- struct{}{}:
			k := due[0]
			due, k.busy = due[1:], true
			started = append(started, k)
			go func() {
				slot := time.AfterFunc(lateTime, func() { <-s.slots }) // a late inspection does not keep others waiting
				var l *host.Listed
				if defect := attach.Contain(func() { l = s.inspect(k.PID) }); defect != nil {
					l = &host.Listed{Process: host.Process{PID: k.PID, StartKey: k.StartKey}, Err: defect}
					s.failed(defect)
				}
				s.results <- inspection{k, l}
				if slot.Stop() {
					<-s.slots
				}
			}()
		case r := <-s.results:
			if !s.take(r, now) {
				waiting--
			}
			late.Reset(lateTime)
		case <-late.C:
			waiting -= leave(started)
			late.Reset(lateTime)
		case <-limit.C:
			leave(started)
			return
		}
	}
}

// take takes the result of an inspection and reports whether it was late.
func (s *sweeper) take(r inspection, now time.Time) (late bool) {
	late, r.of.late = r.of.late, false
	s.inspected(r.of, r.listed, now)
	return late
}

// leave leaves the inspections that are not done to a later sweep, and returns how many they are.
func leave(started []*sighted) (n int) {
	for _, k := range started {
		if k.busy && !k.late {
			k.late = true
			n++
		}
	}
	return n
}

// inspected records the result and when to inspect again.
func (s *sweeper) inspected(k *sighted, l *host.Listed, now time.Time) {
	if s.known[k.PID] != k {
		return // it has exited, or its pid was reused
	}
	k.busy, k.unreachable = false, nil
	wait := min(now.Sub(k.since)/2, otherEvery)
	switch {
	case l.StartKey != k.StartKey || l.Ignored():
	case l.Err == nil:
		k.target, k.wasFound = true, true
		s.found(l.Target())
	default:
		if t, ok := errors.AsType[*host.TargetError](l.Err); ok && t.Cause == host.CauseStuck {
			s.failed(t)
		}
		if l.Dotnet() {
			k.unreachable = &unreachable{l.StartKey, l.Principal(), outside(&l.Process), unreachableStatus(l)}
			wait = min(wait, unreachableEvery)
		}
	}
	k.next = now.Add(wait)
}
