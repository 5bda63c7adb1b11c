package daemon

import (
	"fmt"
	"time"

	"github.com/gclog/gclog/session"
)

// The number of processes that are logged at a time is limited. A process that is logged stays so;
// the others wait. While processes of other users wait, a user other than root gets no more than
// half of the places.

// A queue holds the processes that are beyond the limit.
type queue struct {
	waiters map[key]*waiter
	users   map[int]int // number of waiting processes by user
}

// A waiter is a process that is beyond the limit. Nothing is kept of it that the process could make
// large.
type waiter struct {
	uid     int
	peer    *session.Peer // that connected to a port; nil: the sweeper has found it
	since   time.Time     // when it started to wait, or was last offered a place that it has not taken
	offers  int           // since it was last found
	offered time.Time     // when the sweeper was asked to find it again
}

func newQueue() queue { return queue{map[key]*waiter{}, map[int]int{}} }

func (q *queue) add(k key, w *waiter) {
	q.remove(k)
	q.waiters[k] = w
	q.users[w.uid]++
}

// remove takes a process off the queue and returns it; nil: it was not waiting.
func (q *queue) remove(k key) *waiter {
	w := q.waiters[k]
	if w == nil {
		return nil
	}
	delete(q.waiters, k)
	if q.users[w.uid]--; q.users[w.uid] == 0 {
		delete(q.users, w.uid)
	}
	return w
}

// othersWait reports whether processes of other users wait.
func (q *queue) othersWait(uid int) bool { return len(q.waiters) > q.users[uid] }

// maxOffers is how often a process is offered a place that it does not take.
const maxOffers = 3

// offerTime is how long it may take to find a process again that was offered a place.
const offerTime = 10 * time.Second

// admitted reports whether a process is within the limit. A process that is not is queued.
func (d *Daemon) admitted(k key, uid int, peer *session.Peer) bool {
	w := d.queue.remove(k)
	if d.hasPlace(uid) {
		return true
	}
	d.limiter.warn("limit",
		fmt.Sprintf("more than %d processes (discovery.max_processes = %d): the rest are not logged",
			d.limits.processes, d.config.Discovery.MaxProcesses), nil)
	if w == nil {
		w = &waiter{uid: uid, since: time.Now()}
	}
	w.peer, w.offers, w.offered = peer, 0, time.Time{}
	d.queue.add(k, w)
	return false
}

// hasPlace reports whether there is a place for one more process of a user.
func (d *Daemon) hasPlace(uid int) bool {
	all, users := d.places()
	return all < d.limits.processes && d.mayHave(uid, users[uid])
}

// mayHave reports whether a user with this many places may have one more.
func (d *Daemon) mayHave(uid, places int) bool {
	return uid == 0 || places < max(1, d.limits.processes/2) || !d.queue.othersWait(uid)
}

// places counts the processes that have a session, or may get one, in total and by user.
func (d *Daemon) places() (all int, users map[int]int) {
	users = map[int]int{}
	for _, p := range d.processes {
		if !p.isOut() {
			all++
			users[p.target.Principal()]++
		}
	}
	return all, users
}

// admit has the processes that have waited longest found again, as many as there are places.
func (d *Daemon) admit() {
	if len(d.queue.waiters) == 0 || d.ending.begun {
		return
	}
	all, users := d.places()
	for all < d.limits.processes {
		k, w := d.nextWaiter(users)
		if w == nil {
			return
		}
		// A process that does not come goes to the end of the queue, and after several offers off
		// it.
		w.offered, w.since = time.Now(), time.Now()
		if w.offers++; w.offers > maxOffers {
			d.queue.remove(k)
			d.discovery.sweeper.again(k)
			continue
		}
		all++
		users[w.uid]++
		if w.peer == nil {
			d.discovery.sweeper.again(k)
			d.discovery.sweeper.soon(0)
			continue
		}
		d.findPeer(w.peer)
	}
}

// findPeer looks again at a process that connected to a port.
func (d *Daemon) findPeer(peer *session.Peer) {
	d.aside(peer.PID, func() {
		t := d.o.Processes.TargetOf(peer)
		d.post(func() { d.found(t, peer) })
	})
}

// nextWaiter returns the process that has waited longest among those that may have a place and were
// not offered one recently.
func (d *Daemon) nextWaiter(users map[int]int) (first key, longest *waiter) {
	for k, w := range d.queue.waiters {
		if time.Since(w.offered) < offerTime || !d.mayHave(w.uid, users[w.uid]) {
			continue
		}
		if longest == nil || w.since.Before(longest.since) {
			first, longest = k, w
		}
	}
	return first, longest
}
