package host_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gclog/gclog/internal/host"
)

// A queue contains the slots of a Host for its helpers, in the fake time of synctest.
type queue struct {
	t     *testing.T
	host  host.Host
	began time.Time
}

func newQueue(t *testing.T) *queue { return &queue{t: t, began: time.Now()} }

// turn takes a slot that is free.
func (q *queue) turn(pid, uid int, device string) *host.Turn {
	q.t.Helper()
	turn, err := q.host.Turn(q.t.Context(), pid, uid, device, true)
	if err != nil {
		q.t.Fatal(err)
	}
	return turn
}

// at waits until the given time since the start.
func (q *queue) at(since time.Duration) { time.Sleep(time.Until(q.began.Add(since))) }

// refused checks that a process gets no slot, and at what time the refusal comes.
func (q *queue) refused(pid, uid int, device string, wait bool, words string, at time.Duration) {
	q.t.Helper()
	_, err := q.host.Turn(q.t.Context(), pid, uid, device, wait)
	refused(q.t, err, host.CauseStuck, words)
	if got := time.Since(q.began); got != at {
		q.t.Errorf("refused after %v, want %v", got, at)
	}
}

// stuck checks the number of helpers that do not answer.
func (q *queue) stuck(want int) {
	q.t.Helper()
	if n, _ := q.host.Stuck(); n != want {
		q.t.Errorf("%d do not answer, want %d", n, want)
	}
}

const (
	noAnswer   = "its file system does not respond (fuse at /point)"
	othersTake = "other inspections of such file systems take long"
)

// TestTurns: how many looks there are at a time, and which look waits how long for which.
func TestTurns(t *testing.T) {
	for name, f := range map[string]func(q *queue){
		"two of a file system, behind one that takes its time": func(q *queue) {
			q.turn(1, 7, "a")
			q.at(60 * time.Millisecond)
			q.turn(2, 7, "a")
			q.turn(3, 7, "b") // another one is free
			q.refused(4, 7, "a", false, othersTake, 100*time.Millisecond)
			q.refused(5, 7, "a", false, othersTake, 100*time.Millisecond)
		},
		"one gives its turn back": func(q *queue) {
			first := q.turn(1, 7, "a")
			q.turn(2, 7, "a")
			time.AfterFunc(50*time.Millisecond, first.End)
			turn, err := q.host.Turn(q.t.Context(), 3, 7, "a", false)
			if err != nil || time.Since(q.began) != 50*time.Millisecond {
				q.t.Errorf("error %v after %v", err, time.Since(q.began))
			}
			turn.End()
			q.turn(4, 7, "a")
		},
		"who may wait does so until the others are stuck": func(q *queue) {
			q.turn(1, 7, "a")
			q.at(time.Second)
			q.turn(2, 7, "a")
			q.at(2 * time.Second)
			q.refused(3, 7, "a", true, noAnswer, 4*time.Second)
			q.stuck(2)
		},
		"who is stuck is not looked at": func(q *queue) {
			turn := q.turn(1, 7, "a")
			q.at(3*time.Second - 1)
			q.stuck(0)
			q.at(3 * time.Second)
			q.stuck(1)
			q.refused(1, 7, "b", true, noAnswer, 3*time.Second)
			q.turn(2, 7, "a") // another process on the file system
			turn.End()
			q.stuck(0)
			q.turn(1, 7, "a")
		},
		"two are stuck of a file system": func(q *queue) {
			q.turn(1, 7, "a")
			q.turn(2, 8, "a")
			q.at(3 * time.Second)
			q.refused(3, 9, "a", true, noAnswer, 3*time.Second)
			q.turn(4, 7, "b")
		},
		"four of a user": func(q *queue) {
			for pid, device := range []string{"a", "b", "c", "d"} {
				q.turn(pid+1, 7, device)
			}
			q.turn(9, 8, "e")
			q.refused(5, 7, "e", false, othersTake, 100*time.Millisecond)
			q.at(3 * time.Second)
			q.refused(5, 7, "e", false, "inspections of 4 other processes of this user are stuck", 3*time.Second)
			q.stuck(5)
		},
		"eight of all": func(q *queue) {
			for pid, device := range []string{"a", "b", "c", "d", "e", "f", "g"} {
				q.turn(pid+1, 0, device)
			}
			q.turn(20, 7, "i")
			q.refused(8, 0, "h", false, othersTake, 100*time.Millisecond)
			q.refused(8, 8, "h", false, othersTake, 100*time.Millisecond)
			q.at(3 * time.Second)
			q.refused(8, 8, "h", false, "inspections of 8 other processes are stuck", 3*time.Second)
			q.stuck(8)
		},
		"the oldest that is not stuck is waited for": func(q *queue) {
			q.turn(1, 7, "a")
			q.at(2900 * time.Millisecond)
			q.turn(2, 7, "a")
			q.at(2950 * time.Millisecond)
			q.refused(3, 7, "a", false, othersTake, 2950*time.Millisecond) // the first one has taken longer
			q.at(3 * time.Second)
			q.refused(4, 7, "a", false, othersTake, 3*time.Second)
			q.turn(5, 7, "b")
		},
		"nobody waits forever, as others come first": func(q *queue) {
			first := q.turn(1, 1, "a")
			q.turn(2, 1, "a")
			q.at(500 * time.Millisecond)
			time.AfterFunc(500*time.Millisecond, func() {
				for pid, device := range []string{"b", "c", "d", "e"} {
					_, _ = q.host.Turn(q.t.Context(), pid+3, 7, device, true)
				}
			})
			time.AfterFunc(time.Second, first.End)
			q.refused(9, 7, "a", true, othersTake, 3500*time.Millisecond)
		},
		"who gives up": func(q *queue) {
			q.turn(1, 7, "a")
			q.turn(2, 7, "a")
			ctx, cancel := context.WithCancel(q.t.Context())
			time.AfterFunc(time.Second, cancel)
			if _, err := q.host.Turn(ctx, 3, 7, "a", true); !errors.Is(err, context.Canceled) || time.Since(q.began) != time.Second {
				q.t.Errorf("error %v after %v", err, time.Since(q.began))
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { f(newQueue(t)) })
		})
	}
}
