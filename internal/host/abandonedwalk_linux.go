package host

import (
	"bytes"
	"context"
	"math"
	"time"
)

const (
	// abandonedLook is the interval of the looks at the threads of a process.
	abandonedLook = 100 * time.Millisecond
	// abandonedQuiet is how long its threads are looked at, at least. The thread that writes a session's
	// stream otherwise runs every 100 ms.
	abandonedQuiet = time.Second
	// abandonedLimit is how long they are looked at, at most.
	abandonedLimit = time.Minute
	// walkTime is the computing time, in nanoseconds for each byte of private memory, that a collection
	// with a heap walk takes at most: 0.7 for the byte, and 190 for each object of 45 bytes.
	walkTime = 5
)

// AbandonedWalk reports whether the process is suspended for good by a session in Block mode whose
// reader is gone, which is possible from .NET 11 on: docs/protocol.md, Block mode. Only for a process
// that does not answer this is conclusive.
//
// Two threads show it: that of the diagnostics server, which carries out the heap walk and waits for
// space in the session's buffer, and the one that would make it, which waits for a lock that the first
// one holds. Both wait in a futex, with no end. The first one waits there also while the threads of
// server GC do the walk for it, and the other one for as long if its reader is gone, whatever the mode
// of the session is. But then a thread is running, and the walk is over when it has had the time for
// that. If none is, or those that are had the time and it is not, it never will be: a thread of server
// GC that waits for the others may do that without sleeping.
func (p *Process) AbandonedWalk(ctx context.Context) bool {
	w := walkWatch{first: p.lookAtThreads(), need: math.MaxUint64}
	if private := p.PrivateMemory(); private > 0 {
		w.need = walkTime * private
	}
	every := time.NewTicker(abandonedLook)
	defer every.Stop()
	for began, now := time.Now(), w.first; ; now = p.lookAtThreads() {
		if abandoned, known := w.judge(now, time.Since(began)); known {
			return abandoned
		}
		select {
		case <-every.C:
		case <-ctx.Done():
			return false
		}
	}
}

// A walkWatch compares looks at the threads of a process with the first one.
type walkWatch struct {
	first *threadsLook // without what has not stayed as it was; with threads that were seen to run later
	need  uint64       // computing time in ns that a walk of the process takes at most
}

// judge reports whether the walk is abandoned, once that is known.
func (w *walkWatch) judge(now *threadsLook, age time.Duration) (abandoned, known bool) {
	for id, switches := range w.first.parked {
		if again, parked := now.parked[id]; !parked || again != switches {
			delete(w.first.parked, id)
		}
	}
	walking := false
	for id, used := range now.running {
		before, seen := w.first.running[id]
		if !seen {
			w.first.running[id], before = used, used
		}
		walking = walking || used-before < w.need
	}
	switch {
	case len(w.first.parked) < 2 || now.older:
		return false, true
	case !walking && age >= abandonedQuiet:
		return true, true
	}
	return false, age >= abandonedLimit
}

// A threadsLook is what the threads of a process do at a moment, by their ids.
type threadsLook struct {
	parked  map[string]uint64 // threads of EventPipe that wait in a futex: how often they have waited
	running map[string]uint64 // threads that run, or wait for a processor or a disk: their computing time in ns
	older   bool              // the runtime is older than .NET 11
}

func (p *Process) lookAtThreads() *threadsLook {
	l := &threadsLook{parked: map[string]uint64{}, running: map[string]uint64{}}
	_, _ = p.threads(func(t *thread) bool {
		l.older = l.older || t.name == synchronizationThread
		stat, ok := t.stat()
		switch {
		case !ok:
		case stat.busy():
			l.running[t.id] = t.used()
		case stat.state == 'S' && t.name == eventPipeThread:
			if place, err := t.read("wchan"); err == nil && bytes.HasPrefix(place, []byte("futex_")) {
				l.parked[t.id] = t.switches()
			}
		}
		return true
	})
	return l
}

// switches returns how often the thread has given up its processor, or lost it.
func (t *thread) switches() (n uint64) {
	for _, name := range []string{"voluntary_ctxt_switches", "nonvoluntary_ctxt_switches"} {
		for _, count := range t.status(name) {
			n += uint64(count)
		}
	}
	return n
}
