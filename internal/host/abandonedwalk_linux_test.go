package host_test

import (
	"context"
	"math"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/gclog/gclog/internal/host"
)

// TestAbandonedWalk: two threads of EventPipe that wait in a futex forever, whatever the other threads
// do that a runtime has.
func TestAbandonedWalk(t *testing.T) {
	t.Parallel()
	two := []string{".NET EventPipe", ".NET Finalizer", ".NET EventPipe"}
	for _, tc := range []struct {
		name string
		spec spec
		stop bool
		want bool
	}{
		{"workstation", spec{Threads: two}, false, true},
		{"another session", spec{Threads: two, Naps: []string{".NET EventPipe"}}, false, true},
		{"server GC, a thread of which waits without sleeping", spec{Threads: append(slices.Clone(two), ".NET Server GC"), Spin: ".NET Server GC"}, false, true},
		{"a program that wakes up", spec{Threads: two, Naps: []string{"app"}}, false, true},
		{"no session", spec{Threads: two[:2]}, false, false},
		{"an idle session", spec{Threads: two[:2], Naps: two[:1]}, false, false},
		{"a session whose walk is running", spec{Threads: two[1:], Spin: two[0]}, false, false},
		{"threads of the program", spec{Threads: []string{"app", "app", ".NET EventPip"}}, false, false},
		{"NET 10", spec{Threads: append(slices.Clone(two), ".NET SynchManag")}, false, false},
		{"stopped", spec{Threads: two}, true, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			p := run(t, tc.spec)
			found, err := new(host.Host).Describe(p.pid)
			if err != nil {
				t.Fatal(err)
			}
			if tc.stop {
				if err := syscall.Kill(p.pid, syscall.SIGSTOP); err != nil {
					t.Fatal(err)
				}
				defer func() { _ = syscall.Kill(p.pid, syscall.SIGCONT) }()
				waitUntil(t, "the stop", found.Stopped)
			}
			if tc.want { // once its threads wait, which takes a moment
				waitUntil(t, "an abandoned walk", func() bool { return found.AbandonedWalk(t.Context()) })
			} else if found.AbandonedWalk(t.Context()) {
				t.Error("it is taken for an abandoned walk")
			}
		})
	}
}

// TestAbandonedWalkGivenUp: who asks need not wait for the answer.
func TestAbandonedWalkGivenUp(t *testing.T) {
	t.Parallel()
	p := run(t, spec{Threads: []string{".NET EventPipe", ".NET EventPipe"}})
	found, err := new(host.Host).Describe(p.pid)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if found.AbandonedWalk(ctx) {
		t.Error("it was decided without a second look")
	}
}

// TestWalkWatch: how long the threads are looked at depends on those that run.
func TestWalkWatch(t *testing.T) {
	t.Parallel()
	type look struct {
		ms              int
		parked, running map[string]uint64
	}
	parked := func() map[string]uint64 { return map[string]uint64{"1": 5, "2": 7} }
	for _, tc := range []struct {
		name             string
		need             uint64
		looks            []look
		abandoned, known bool
	}{
		{"too soon", 100, []look{{0, parked(), nil}, {999, parked(), nil}}, false, false},
		{"quiet", 100, []look{{0, parked(), nil}, {1000, parked(), nil}}, true, true},
		{"one has moved", 100, []look{{0, parked(), nil}, {100, map[string]uint64{"1": 5, "2": 8}, nil}}, false, true},
		{"one has moved and waits again", 100, []look{{0, map[string]uint64{"1": 5, "2": 7, "3": 1}, nil}, {100, map[string]uint64{"1": 5, "2": 8, "3": 2}, nil}}, false, true},
		{"another session has moved", 100, []look{{0, map[string]uint64{"1": 5, "2": 7, "3": 1}, nil}, {1000, map[string]uint64{"1": 5, "2": 7, "3": 2}, nil}}, true, true},
		{"one runs", 100, []look{{0, map[string]uint64{"1": 5}, map[string]uint64{"2": 1}}}, false, true},
		{"a thread may be walking", 100, []look{{0, parked(), map[string]uint64{"9": 1000}}, {30_000, parked(), map[string]uint64{"9": 1099}}}, false, false},
		{"a thread had the time to walk", 100, []look{{0, parked(), map[string]uint64{"9": 1000}}, {1000, parked(), map[string]uint64{"9": 1100}}}, true, true},
		{"one of two had the time", 100, []look{{0, parked(), map[string]uint64{"8": 0, "9": 0}}, {1000, parked(), map[string]uint64{"8": 50, "9": 100}}}, false, false},
		{"a thread began to run later", 100, []look{{0, parked(), nil}, {900, parked(), map[string]uint64{"9": 1000}}, {1000, parked(), map[string]uint64{"9": 1050}}}, false, false},
		{"a thread that ran waits", 100, []look{{0, parked(), map[string]uint64{"9": 1000}}, {1000, parked(), nil}}, true, true},
		{"the memory is unknown", math.MaxUint64, []look{{0, parked(), map[string]uint64{"9": 0}}, {59_999, parked(), map[string]uint64{"9": 60e9}}}, false, false},
		{"too late", math.MaxUint64, []look{{0, parked(), map[string]uint64{"9": 0}}, {60_000, parked(), map[string]uint64{"9": 60e9}}}, false, true},
	} {
		w := host.NewWalkWatch(tc.need, tc.looks[0].parked, tc.looks[0].running)
		var abandoned, known bool
		for _, l := range tc.looks {
			abandoned, known = w.Judge(l.parked, l.running, time.Duration(l.ms)*time.Millisecond)
		}
		if abandoned != tc.abandoned || known != tc.known {
			t.Errorf("%s: %v, %v, want %v, %v", tc.name, abandoned, known, tc.abandoned, tc.known)
		}
	}
}
