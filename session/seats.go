package session

import (
	"cmp"
	"math"
	"net"
	"slices"
	"time"
)

// A seat is the place of a connection that waits at a port: to announce itself, for a command, or
// to be resumed.
type seat struct {
	net.Conn
	from  caller
	since time.Time
}

// A caller is the process that has connected, as this host sees it.
type caller struct {
	pid int // 0: unknown
	uid int // -1: unknown
}

func callerOf(conn net.Conn) caller {
	pid, uid, err := PeerProcess(conn)
	if err != nil {
		return caller{0, -1}
	}
	return caller{pid, uid}
}

// seen reports whether this host shows the process. Processes of one user that it does not show
// cannot be told apart.
func (c caller) seen() bool { return c.pid != 0 }

// unknownStart is the start time of a process if the system does not report it.
const unknownStart = math.MaxUint64

// seats contains the seats of a port that do not belong to a peer, the oldest first.
type seats []*seat

// remove removes a seat from the list and reports whether it was there.
func (s *seats) remove(x *seat) bool {
	i := slices.Index(*s, x)
	if i < 0 {
		return false
	}
	*s = slices.Delete(*s, i, i+1)
	return true
}

// of returns the number of seats of a caller.
func (s seats) of(from caller) (n int) {
	for _, x := range s {
		if x.from == from {
			n++
		}
	}
	return n
}

// surplus returns the seat to give up if there are too many: the oldest one of the process with the
// most seats, of the user with the most seats, other than root if possible.
func (s seats) surplus() *seat {
	users, callers := map[int]int{}, map[caller]int{}
	for _, x := range s {
		users[x.from.uid]++
		callers[x.from]++
	}
	var worst *seat
	for _, x := range s {
		if worst == nil || outweighs(x.from, worst.from, users, callers) {
			worst = x
		}
	}
	return worst
}

// outweighs reports whether a has to make way rather than b.
func outweighs(a, b caller, users map[int]int, callers map[caller]int) bool {
	if (a.uid == 0) != (b.uid == 0) {
		return b.uid == 0
	}
	return cmp.Or(users[a.uid]-users[b.uid], callers[a]-callers[b]) > 0
}
