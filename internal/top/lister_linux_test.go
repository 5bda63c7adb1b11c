package top

import (
	"slices"
	"testing"
	"time"

	"github.com/gclog/gclog/internal/host"
)

// TestLister: a process is inspected when it is new or runs another program, until it is known
// whether it has a runtime, and then rarely; what is listed is what the latest inspection found.
func TestLister(t *testing.T) {
	const reachable, broken, other = 10, 20, 30
	count := map[int]int{}
	var now time.Time
	found := map[int]error{broken: &host.TargetError{Cause: host.CauseNoSocket}, other: &host.TargetError{Cause: host.CauseNotDotnet}}
	l := &lister{known: map[int]*inspected{}, inspect: func(pid int) *host.Listed {
		count[pid]++
		return &host.Listed{Process: host.Process{PID: pid, Started: start}, Err: found[pid]}
	}}
	seen := []host.Sighting{{PID: reachable, StartKey: 1}, {PID: broken, StartKey: 1}, {PID: other, StartKey: 1}}
	for _, step := range []struct {
		name    string
		after   time.Duration
		change  func()
		counts  [3]int // of inspections so far: reachable, broken, other
		visible []int
	}{
		{"new", time.Second, nil, [3]int{1, 1, 1}, []int{reachable, broken}},
		{"young", 2 * time.Second, nil, [3]int{1, 2, 2}, []int{reachable, broken}},
		{"has a runtime now", 4 * time.Second, func() { found[other] = nil }, [3]int{1, 3, 3}, []int{reachable, broken, other}},
		{"old", 20 * time.Second, nil, [3]int{1, 4, 3}, []int{reachable, broken, other}},
		{"soon after", 22 * time.Second, nil, [3]int{1, 4, 3}, []int{reachable, broken, other}},
		{"repaired", 31 * time.Second, func() { found[broken] = nil }, [3]int{1, 5, 3}, []int{reachable, broken, other}},
		{"another program", 32 * time.Second, func() { seen[0].Name = "new" }, [3]int{2, 5, 3}, []int{reachable, broken, other}},
		{"a pid again", 33 * time.Second, func() { seen[1].StartKey = 2 }, [3]int{2, 6, 3}, []int{reachable, broken, other}},
		{"after a minute", 70 * time.Second, nil, [3]int{2, 6, 4}, []int{reachable, broken, other}},
		{"exited", 71 * time.Second, func() { seen = seen[1:] }, [3]int{2, 6, 4}, []int{broken, other}},
	} {
		if step.change != nil {
			step.change()
		}
		now = start.Add(step.after)
		var visible []int
		for _, x := range l.update(seen, now) {
			visible = append(visible, x.PID)
		}
		if got := [3]int{count[reachable], count[broken], count[other]}; got != step.counts || !slices.Equal(visible, step.visible) {
			t.Errorf("%s: inspected %v, listed %v, want %v, %v", step.name, got, visible, step.counts, step.visible)
		}
	}
	if len(l.known) != 2 {
		t.Errorf("%d processes are kept", len(l.known))
	}
}

// TestStarting: a process that is first seen while its runtime starts is watched when it has.
func TestStarting(t *testing.T) {
	r := &runner{
		o: RunOptions{Match: func(*host.Process) bool { return true }, Socket: "a daemon that has not answered yet"},
		m: New(Options{}), targets: map[int]*host.Target{}, ids: map[identity]int{},
	}
	p := host.Process{PID: 10, StartKey: 1}
	r.seen([]host.Listed{{Process: p, Err: &host.TargetError{Cause: host.CauseNoSocket}}})
	if len(r.targets) != 0 || len(r.m.Wanted()) != 0 {
		t.Errorf("%d targets, %v are wanted", len(r.targets), r.m.Wanted())
	}
	r.seen([]host.Listed{{Process: p}})
	if got := r.m.Wanted(); len(got) != 1 || r.targets[got[0]] == nil {
		t.Errorf("%d targets, %v are wanted", len(r.targets), got)
	}
}
