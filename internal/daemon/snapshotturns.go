package daemon

import (
	"slices"
	"time"

	"github.com/gclog/gclog/internal/config"
)

// snapshotTurns decides when which heap snapshot is taken. A snapshot takes memory and disk space, and
// how long it takes is up to its process. So there are few places, each user has places of its own,
// and whoever finds them taken waits: never for a process of root, and for one of another user only
// while userPlaces users have one each. None of a process is taken before its cooldown is over. It
// reads no clock.
type snapshotTurns struct {
	running []*snapshotTurn
	waiting []*snapshotTurn // in the order in which they were asked for
}

const (
	// rootPlaces is how many snapshots of root's processes are taken at a time, userPlaces how many of
	// other users' processes: one for each user.
	rootPlaces = 2
	userPlaces = 6
	// mostWaiting is how many processes of a user may wait.
	mostWaiting = 16
)

// A snapshotTurn is a heap snapshot that is being taken, or waits for that.
type snapshotTurn struct {
	of    *heapWatch
	uid   int
	since time.Time            // when it was asked for
	begin func(*snapshotTurn)  // takes it
	drop  func(because string) // it is not taken
}

// A heapWatch is what is known about the heap of a process.
type heapWatch struct {
	trend heapTrend
	next  time.Time // when the cooldown is over
}

// collected handles a full collection that has left this many bytes. It reports whether a snapshot is
// due. If it cannot be taken now, it still is after the next full collection.
func (s *snapshotTurns) collected(now time.Time, w *heapWatch, bytes uint64, o *config.HeapAuto) (due bool) {
	if turnOf(s.running, w) != nil {
		return false // it belongs to the snapshot
	}
	grown := w.trend.add(bytes, o)
	return grown && turnOf(s.waiting, w) == nil && !now.Before(w.next)
}

// turnOf returns the turn of a process in a list; nil: it has none.
func turnOf(list []*snapshotTurn, w *heapWatch) *snapshotTurn {
	if i := slices.IndexFunc(list, func(t *snapshotTurn) bool { return t.of == w }); i >= 0 {
		return list[i]
	}
	return nil
}

// ask asks for a turn of a process that has none. It begins at once if there is a place; otherwise it
// waits, unless too many do. It reports which.
func (s *snapshotTurns) ask(t *snapshotTurn) (begun, waits bool) {
	switch {
	case s.hasPlace(t.uid):
		s.running = append(s.running, t)
		t.begin(t)
		return true, false
	case countOf(s.waiting, t.uid) < mostWaiting:
		s.waiting = append(s.waiting, t)
		return false, true
	}
	return false, false
}

// hasPlace reports whether a snapshot of a process of this user can be taken now.
func (s *snapshotTurns) hasPlace(uid int) bool {
	own, root := countOf(s.running, uid), countOf(s.running, 0)
	if uid == 0 {
		return own < rootPlaces
	}
	return own == 0 && len(s.running)-root < userPlaces
}

func countOf(list []*snapshotTurn, uid int) (n int) {
	for _, t := range list {
		if t.uid == uid {
			n++
		}
	}
	return n
}

// end notes that the snapshot of a process was taken, or could not be. Another one of the process is
// possible from next on. Those that waited for the place begin.
func (s *snapshotTurns) end(w *heapWatch, taken bool, next time.Time) {
	if taken {
		w.trend.reset()
	}
	w.next = next
	if t := turnOf(s.running, w); t != nil {
		own := func(x *snapshotTurn) bool { return x.uid == t.uid }
		others := slices.DeleteFunc(slices.Clone(s.waiting), own)
		owns := slices.DeleteFunc(s.waiting, func(x *snapshotTurn) bool { return !own(x) })
		s.waiting = append(others, owns...) // other users come first
	}
	s.running = without(s.running, w)
	s.proceed()
}

// proceed begins those that wait and have a place now.
func (s *snapshotTurns) proceed() {
	for i := 0; i < len(s.waiting); {
		t := s.waiting[i]
		if !s.hasPlace(t.uid) {
			i++
			continue
		}
		s.waiting = slices.Delete(s.waiting, i, i+1)
		s.running = append(s.running, t)
		t.begin(t)
		i = 0 // it may have ended at once
	}
}

// leave drops the turn of a process that waits, because it has exited.
func (s *snapshotTurns) leave(w *heapWatch, because string) {
	if t := turnOf(s.waiting, w); t != nil {
		s.waiting = without(s.waiting, w)
		t.drop(because)
	}
}

// close drops all that wait.
func (s *snapshotTurns) close(because string) {
	waiting := s.waiting
	s.waiting = nil
	for _, t := range waiting {
		t.drop(because)
	}
}

func without(list []*snapshotTurn, w *heapWatch) []*snapshotTurn {
	return slices.DeleteFunc(list, func(t *snapshotTurn) bool { return t.of == w })
}
