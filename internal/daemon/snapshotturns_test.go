package daemon

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/gclog/gclog/internal/config"
)

// TestSnapshotTurns: none of a process is taken before its cooldown is over, and its own collections
// do not count.
func TestSnapshotTurns(t *testing.T) {
	o := config.HeapAuto{Growth: 20, Collections: 2, Cooldown: time.Hour}
	now := time.Unix(1e9, 0)
	var turns snapshotTurns
	var a, b heapWatch
	grow := func(w *heapWatch, mb ...uint64) (due bool) {
		for _, x := range mb {
			due = turns.collected(now, w, x<<20, &o)
		}
		return due
	}
	if grow(&a, 100, 100, 150) || !grow(&a, 150) || grow(&b, 100, 100, 150) || !grow(&b, 150) {
		t.Fatal("both have grown")
	}
	begin := func(*snapshotTurn) {}
	turns.ask(&snapshotTurn{of: &a, uid: 1, begin: begin})
	turns.ask(&snapshotTurn{of: &b, uid: 1, begin: begin})
	if grow(&b, 150) {
		t.Error("one that waits is due again")
	}
	if grow(&a, 1000, 1000, 1000) {
		t.Error("its own collections count")
	}
	turns.end(&a, true, now.Add(o.Cooldown))
	turns.end(&b, false, now.Add(o.Cooldown)) // it could not be taken
	if grow(&b, 150) || grow(&a, 190, 190) {
		t.Error("in the cooldown")
	}
	now = now.Add(o.Cooldown)
	if !grow(&b, 150) {
		t.Error("b has still grown, and there is no snapshot of that")
	}
	if !grow(&a, 190) {
		t.Error("a has grown since its snapshot")
	}
	if grow(&a, 150) {
		t.Error("a has not grown any more")
	}
}

// TestSnapshotPlaces: each user has places, whoever finds them taken waits for the user's own
// snapshots, in order, and everybody is answered.
func TestSnapshotPlaces(t *testing.T) {
	var turns snapshotTurns
	var events []string
	watches := map[string]*heapWatch{}
	ask := func(name string, uid int) string {
		w := &heapWatch{}
		watches[name] = w
		begun, waits := turns.ask(&snapshotTurn{
			of: w, uid: uid,
			begin: func(*snapshotTurn) { events = append(events, name+" begins") },
			drop:  func(because string) { events = append(events, name+": "+because) },
		})
		switch {
		case begun:
			return "begins"
		case waits:
			return "waits"
		}
		return "refused"
	}
	happened := func(want ...string) {
		t.Helper()
		if !slices.Equal(events, want) {
			t.Errorf("%q, want %q", events, want)
		}
		events = nil
	}
	// One user never has more than half of the places, and does not keep others waiting.
	for i, want := range []string{"begins", "waits", "waits"} {
		if got := ask(fmt.Sprint("evil", i), 65534); got != want {
			t.Errorf("number %d of one user %s", i, got)
		}
	}
	for i := range userPlaces - 1 {
		if got := ask(fmt.Sprint("user", i), 1000+i); got != "begins" {
			t.Errorf("user %d %s", i, got)
		}
	}
	for i, want := range []string{"begins", "begins", "waits"} {
		if got := ask(fmt.Sprint("root", i), 0); got != want {
			t.Errorf("number %d of root %s", i, got)
		}
	}
	if got := ask("late", 2000); got != "waits" {
		t.Errorf("one more user than there are places %s", got)
	}
	events = nil
	turns.end(watches["root1"], true, time.Time{})
	happened("root2 begins")
	turns.end(watches["evil0"], true, time.Time{})
	happened("late begins") // although the next one of that user has waited longer
	turns.end(watches["user0"], true, time.Time{})
	happened("evil1 begins")
	for i := 1; i < mostWaiting; i++ {
		if got := ask(fmt.Sprint("more", i), 65534); got != "waits" {
			t.Errorf("%d: %s", i, got)
		}
	}
	if got := ask("too many", 65534); got != "refused" {
		t.Error(got)
	}
	turns.leave(watches["evil2"], "it has exited")
	turns.leave(watches["evil1"], "it is being taken")
	happened("evil2: it has exited")
	// One that ends as soon as it begins lets the next one begin.
	for i := 1; i < mostWaiting; i++ {
		name := fmt.Sprint("more", i)
		turnOf(turns.waiting, watches[name]).begin = func(*snapshotTurn) {
			events = append(events, name)
			turns.end(watches[name], false, time.Time{})
		}
	}
	turns.end(watches["evil1"], true, time.Time{})
	if len(events) != mostWaiting-1 || events[0] != "more1" || len(turns.waiting) != 0 {
		t.Errorf("%q, %d wait", events, len(turns.waiting))
	}
	events = nil
	ask("first", 7)
	ask("second", 7)
	turns.close("gclog is ending")
	happened("first begins", "second: gclog is ending")
}
