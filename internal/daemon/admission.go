package daemon

import (
	"fmt"
	"time"

	"github.com/gclog/gclog/session"
)

// At most so many processes are logged at a time. What is logged stays; the others wait, and where
// they belong to several users, one other than root gets no more than half of the places.

// A queue holds the processes that are beyond the limit.
type queue struct {
	waiters map[key]*waiter
	users   map[int]int // how many wait of each
}

// A waiter is a process that is beyond the limit. Nothing is kept of it that it could make large.
type waiter struct {
	uid     int
	peer    *session.Peer // that came by a port; nil: the sweeper has found it
	since   time.Time
	offered time.Time // when it was told to be found again
}

func newQueue() queue { return queue{map[key]*waiter{}, map[int]int{}} }

func (q *queue) add(k key, w *waiter) {
	q.remove(k)
	q.waiters[k] = w
	q.users[w.uid]++
}

// remove takes a process off the queue, and returns it; nil: it did not wait.
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

// othersWait tells whether processes of others than a user do.
func (q *queue) othersWait(uid int) bool { return len(q.waiters) > q.users[uid] }

// offerTime is how long it may take until a process is found again that there is a place for.
const offerTime = 10 * time.Second

// admitted tells whether a process is within the limit. One that is not waits.
func (d *Daemon) admitted(k key, uid int, peer *session.Peer) bool {
	all, users := d.places()
	w := d.queue.remove(k)
	if all < d.limits.processes && d.mayHave(uid, users[uid]) {
		return true
	}
	d.limiter.warn("limit", fmt.Sprintf("there are more processes than the limit of %d (discovery.max_processes = %d): the others are not logged", d.limits.processes, d.config.Discovery.MaxProcesses), nil)
	if w == nil {
		w = &waiter{uid: uid, since: time.Now()}
	}
	w.peer, w.offered = peer, time.Time{}
	d.queue.add(k, w)
	return false
}

// mayHave tells whether a user who has some places may have one more.
func (d *Daemon) mayHave(uid, places int) bool {
	return uid == 0 || places < max(1, d.limits.processes/2) || !d.queue.othersWait(uid)
}

// places counts the processes that have a session, or may get one, and those of each user.
func (d *Daemon) places() (all int, users map[int]int) {
	users = map[int]int{}
	for _, p := range d.processes {
		if p.sup.state != stateExcluded && p.sup.state != stateGivenUp {
			all++
			users[p.target.UID]++
		}
	}
	return all, users
}

// admit has those who wait longest found again, as many as there are places.
func (d *Daemon) admit() {
	if len(d.queue.waiters) == 0 || d.stopping {
		return
	}
	all, users := d.places()
	for all < d.limits.processes {
		k, w := d.nextWaiter(users)
		if w == nil {
			return
		}
		w.offered = time.Now()
		all++
		users[w.uid]++
		if w.peer == nil {
			d.sweeper.again(k)
			d.sweeper.soon(0)
			continue
		}
		go func() {
			t := w.peer.Target()
			d.post(func() { d.found(t, w.peer) })
		}()
	}
}

// nextWaiter returns who has waited longest of those who may have a place, and has not been offered
// one lately.
func (d *Daemon) nextWaiter(users map[int]int) (first key, longest *waiter) {
	for k, w := range d.queue.waiters {
		if time.Since(w.offered) >= offerTime && d.mayHave(w.uid, users[w.uid]) && (longest == nil || w.since.Before(longest.since)) {
			first, longest = k, w
		}
	}
	return first, longest
}
