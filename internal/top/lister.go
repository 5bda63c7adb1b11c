package top

import (
	"sync"
	"time"

	"github.com/gclog/gclog/internal/host"
)

const (
	// youngTime is how long a process may take until it is known whether it has a runtime.
	youngTime = 10 * time.Second
	// brokenEvery and otherEvery are how often older processes are inspected: processes with a runtime
	// that cannot be reached, and all others.
	brokenEvery = 10 * time.Second
	otherEvery  = time.Minute
)

// A lister lists the processes with a .NET runtime, again and again. It inspects few of them each
// time: those that are new or run another program, and sometimes the others.
type lister struct {
	mu      sync.Mutex
	scanner *host.Scanner // nil: closed, or not opened yet
	inspect func(pid int) *host.Listed
	known   map[int]*inspected
}

// An inspected process is what is known of it.
type inspected struct {
	host.Sighting
	listed  *host.Listed
	next    time.Time // of the next inspection
	present bool
}

// list lists the processes by pid.
func (l *lister) list(now time.Time) (list []host.Listed, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.scanner == nil {
		if l.scanner, err = host.NewScanner(); err != nil {
			return nil, err
		}
	}
	seen, err := l.scanner.Scan()
	if err != nil {
		return nil, err
	}
	return l.update(seen, now), nil
}

func (l *lister) update(seen []host.Sighting, now time.Time) (list []host.Listed) {
	for _, s := range seen {
		k := l.known[s.PID]
		if k == nil || k.Sighting != s {
			k = &inspected{Sighting: s}
			l.known[s.PID] = k
		}
		k.present = true
		if !now.Before(k.next) {
			k.listed = l.inspect(s.PID)
			k.next = now.Add(inspectAgain(k.listed, now))
		}
		if k.listed.Dotnet() {
			list = append(list, *k.listed)
		}
	}
	for pid, k := range l.known {
		if !k.present {
			delete(l.known, pid)
		}
		k.present = false
	}
	return list
}

// inspectAgain returns after how long a process is inspected again.
func inspectAgain(l *host.Listed, now time.Time) time.Duration {
	switch reachable := l.Dotnet() && l.Err == nil; {
	case !reachable && now.Sub(l.Started) < youngTime:
		return 0
	case !reachable && l.Dotnet():
		return brokenEvery
	}
	return otherEvery
}

func (l *lister) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.scanner != nil {
		l.scanner.Close()
		l.scanner = nil
	}
}
