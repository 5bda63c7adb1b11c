package shares

import (
	"fmt"
	"testing"
)

// TestFlood: whoever takes all that there is leaves room for others, with any number of processes.
func TestFlood(t *testing.T) {
	const most = 10_000
	for _, processes := range []int{1, 2, 100} {
		r := NewRoom(most)
		var flood []*Share
		for range processes {
			flood = append(flood, r.Of("65534"))
		}
		fill := func() {
			for more := true; more; {
				more = false
				for _, s := range flood {
					more = s.Take(10) || more
				}
			}
		}
		fill()
		if alone := r.Used(); alone < most*7/10 || alone > most*8/10 {
			t.Errorf("%d processes of a user have %d of %d", processes, alone, most)
		}
		other := r.Of("1000")
		for range 100 {
			if !other.Take(10) {
				t.Fatalf("with %d processes that flood, another one got %d", processes, other.used)
			}
			fill()
		}
		other.Give(1000)
		if other.used != 0 || r.Used() > most {
			t.Errorf("%d, %d of %d", other.used, r.Used(), most)
		}
		r.Empty()
		if r.Used() != 0 || !flood[0].Take(most/2) {
			t.Error("an empty room has no room")
		}
	}
}

// TestSameUser: of the processes of one user, none is left without room by another.
func TestSameUser(t *testing.T) {
	r := NewRoom(1000)
	a, b := r.Of(""), r.Of("")
	for a.Take(1) {
	}
	a.Give(100) // sent
	if !b.Take(10) {
		t.Error("the other process has no share")
	}
}

// TestManyUsers: their number has a limit.
func TestManyUsers(t *testing.T) {
	r := NewRoom(1000)
	for i := range 3 * mostUsers {
		r.Of(fmt.Sprint(i)).Take(0)
	}
	if len(r.users) > mostUsers+1 {
		t.Errorf("%d users", len(r.users))
	}
}
