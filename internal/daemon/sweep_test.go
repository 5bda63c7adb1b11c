package daemon

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gclog/gclog/internal/host"
)

// stranger is added to the pids here: no process of this host has such a pid, not even the test
// itself, which a sweeper skips.
const stranger = 1 << 23

// A fakeHost has fake processes, and notes what a sweeper does with them.
type fakeHost struct {
	*sweeper
	dotnet map[int]bool          // pids that have a runtime
	hangs  map[int]chan struct{} // pids whose inspection hangs

	mu        sync.Mutex
	inspected map[int]int // how often, by pid
	targets   []string
	passed    []string // processes that it had to skip
}

func newHost() *fakeHost {
	h := &fakeHost{sweeper: newSweeper(time.Second), dotnet: map[int]bool{}, hangs: map[int]chan struct{}{}, inspected: map[int]int{}}
	h.inspect = func(number int) *host.Listed {
		pid := number - stranger
		h.mu.Lock()
		h.inspected[pid]++
		h.mu.Unlock()
		if wait := h.hangs[pid]; wait != nil {
			<-wait
		}
		l := &host.Listed{}
		l.PID, l.StartKey = number, uint64(pid)
		if !h.dotnet[pid] {
			l.Err = &host.TargetError{Cause: host.CauseNotDotnet}
		}
		return l
	}
	h.found = func(t *host.Target) { h.targets = append(h.targets, fmt.Sprintf("found %d", t.PID-stranger)) }
	h.gone = func(k key) { h.targets = append(h.targets, fmt.Sprintf("gone %d", k.pid-stranger)) }
	h.swept = func([]*unreachable) {}
	h.failed = func(err error) { h.passed = append(h.passed, err.Error()) }
	return h
}

// see sweeps while these processes exist; the start time of each is its pid.
func (h *fakeHost) see(names map[int]string) {
	var seen []host.Sighting
	for pid, name := range names {
		seen = append(seen, host.Sighting{PID: stranger + pid, StartKey: uint64(pid), Name: name})
	}
	slices.SortFunc(seen, func(a, b host.Sighting) int { return a.PID - b.PID })
	h.sweep(seen)
}

// expect checks what the sweeper has reported since the last call.
func (h *fakeHost) expect(t *testing.T, want ...string) {
	t.Helper()
	if !slices.Equal(h.targets, want) {
		t.Errorf("the sweeper told %q, want %q", h.targets, want)
	}
	h.targets = nil
}

// TestSweepStrangers: a host full of other processes costs next to nothing, and a runtime that
// starts late is still found.
func TestSweepStrangers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost()
		names := map[int]string{}
		for pid := 1; pid <= 100; pid++ {
			names[pid] = "other"
		}
		const hour = 3600
		for range hour {
			h.see(names)
			time.Sleep(time.Second)
		}
		for pid, n := range h.inspected {
			if n > 30 {
				t.Fatalf("process %d was inspected %d times in %d sweeps", pid, n, hour)
			}
		}
		h.expect(t)
		h.dotnet[50] = true
		for range 300 {
			h.see(names)
			time.Sleep(time.Second)
		}
		h.expect(t, "found 50")
		n := h.inspected[50]
		for range hour {
			h.see(names)
			time.Sleep(time.Second)
		}
		if h.inspected[50] != n {
			t.Error("what was found is inspected again")
		}
		h.expect(t)
	})
}

// TestSweepExec: a process that runs another program counts as another one, although it keeps its
// pid and its start time.
func TestSweepExec(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost()
		for range 3600 {
			h.see(map[int]string{7: "sh"})
			time.Sleep(time.Second)
		}
		h.dotnet[7] = true
		h.see(map[int]string{7: "dotnet"})
		h.expect(t, "found 7")
		// A failed attempt has it found again.
		h.again(key{pid: stranger + 7, start: 7})
		h.see(map[int]string{7: "dotnet"})
		h.see(map[int]string{7: "dotnet"})
		h.expect(t, "found 7")
	})
}

// TestSweepOneThread: a process with one thread is not inspected, and is new when it has another one,
// however old it is. If it was .NET and runs such a program now, it is not reported any longer.
func TestSweepOneThread(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost()
		var unreachables int
		h.swept = func(list []*unreachable) { unreachables = len(list) }
		see := func(name string, oneThread bool) {
			h.sweep([]host.Sighting{{PID: stranger + 7, StartKey: 7, Name: name, OneThread: oneThread}})
		}
		for range 3600 {
			see("dotnet", true)
			time.Sleep(time.Second)
		}
		if n := h.inspected[7]; n != 0 {
			t.Errorf("it was inspected %d times while it had one thread", n)
		}
		see("dotnet", false) // its runtime has no socket yet
		h.dotnet[7] = true
		time.Sleep(time.Millisecond)
		see("dotnet", false)
		h.expect(t, "found 7")

		inspect := h.inspect
		h.inspect = func(pid int) *host.Listed {
			l := inspect(pid)
			l.Err = &host.TargetError{Cause: host.CauseNoSocket}
			return l
		}
		h.again(key{pid: stranger + 7, start: 7})
		see("dotnet", false)
		if unreachables != 1 {
			t.Errorf("%d processes cannot be reached, want 1", unreachables)
		}
		see("sleep", true)
		if unreachables != 0 {
			t.Error("the program before it is still reported")
		}
	})
}

// TestSweepGone: the exit of a process that was found is reported, even if another one has its pid;
// that of others is not.
func TestSweepGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost()
		h.dotnet[7] = true
		h.see(map[int]string{7: "dotnet", 8: "other"})
		h.expect(t, "found 7")
		h.see(nil)
		h.expect(t, "gone 7")
		h.see(map[int]string{7: "dotnet"})
		h.expect(t, "found 7")
		h.sweep([]host.Sighting{{PID: stranger + 7, StartKey: 99, Name: "other"}})
		h.expect(t, "gone 7")
		h.see(nil)
		h.expect(t)
		if len(h.known) != 0 {
			t.Errorf("%d processes are remembered that are gone", len(h.known))
		}
	})
}

// TestSweepLate: processes whose inspection takes long hold up neither the sweep nor the others,
// and are found once they were inspected.
func TestSweepLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost()
		names := map[int]string{}
		for pid := 1; pid <= 20; pid++ {
			names[pid], h.dotnet[pid] = "dotnet", true
		}
		hangs := make(chan struct{})
		for pid := 1; pid < inspectMost; pid++ { // in all slots but one
			h.hangs[pid] = hangs
		}
		begin := time.Now()
		h.see(names)
		if took := time.Since(begin); took > lateTime {
			t.Errorf("the sweep took %v", took)
		}
		if want := 20 - inspectMost + 1; len(h.targets) != want {
			t.Errorf("%d of %d were found: %q", len(h.targets), want, h.targets)
		}
		h.see(names)
		synctest.Wait()
		if h.inspected[1] != 1 {
			t.Errorf("what takes long is inspected %d times at once", h.inspected[1])
		}
		close(hangs)
		synctest.Wait()
		h.see(names)
		if len(h.targets) != 20 {
			t.Errorf("%d of 20 were found at last: %q", len(h.targets), h.targets)
		}
	})
}

// TestSweepManyLate: even many late inspections hold up another one for seconds only, and not
// again.
func TestSweepManyLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost()
		names := map[int]string{}
		hangs := make(chan struct{})
		const many = 3 * inspectMost
		for pid := 1; pid <= many; pid++ {
			names[pid], h.dotnet[pid], h.hangs[pid] = "dotnet", true, hangs
		}
		names[99], h.dotnet[99] = "dotnet", true // the last in the list
		begin := time.Now()
		h.see(names)
		if took := time.Since(begin); took > (many/inspectMost+1)*lateTime { // one more if a slot becomes free just then
			t.Errorf("the sweep took %v", took)
		}
		synctest.Wait()
		names[100], h.dotnet[100] = "dotnet", true
		begin = time.Now()
		h.see(names)
		if took := time.Since(begin); took > 0 {
			t.Errorf("the next sweep took %v", took)
		}
		h.expect(t, "found 99", "found 100") // the next one takes the result that arrives just when the first ends
		close(hangs)
		synctest.Wait()
		h.see(names)
		if len(h.targets) != many {
			t.Errorf("%d of %d were found at last: %q", len(h.targets), many, h.targets)
		}
	})
}

// TestSweepLateGone: a process that has exited before its inspection ended is not found.
func TestSweepLateGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost()
		hangs := make(chan struct{})
		h.dotnet[7], h.hangs[7] = true, hangs
		h.see(map[int]string{7: "dotnet"})
		h.see(nil)
		close(hangs)
		synctest.Wait()
		h.see(nil)
		h.expect(t)
	})
}

// TestSweepUnreachable: the environment of a process that cannot be reached is not kept.
func TestSweepUnreachable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost()
		h.inspect = func(pid int) *host.Listed {
			l := &host.Listed{Err: &host.TargetError{PID: pid, Cause: host.CauseNoSocket, Detail: "has no socket"}}
			l.PID, l.StartKey, l.Name, l.Environ = pid, uint64(pid-stranger), "orders", map[string]string{"SECRET": "a secret value"}
			return l
		}
		var list []*unreachable
		h.swept = func(l []*unreachable) { list = l }
		h.see(map[int]string{7: "dotnet"})
		if len(h.passed) > 0 {
			t.Errorf("told %q", h.passed)
		}
		if len(list) != 1 || list[0].status.Process != "orders" || list[0].status.Why == "" || list[0].start != 7 {
			t.Fatalf("%+v", list)
		}
		if kept := fmt.Sprintf("%+v", *list[0]); strings.Contains(kept, "secret") {
			t.Errorf("it keeps %s", kept)
		}
	})
}

// TestSweepStuck: what gclog cannot find out is reported.
func TestSweepStuck(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost()
		h.inspect = func(pid int) *host.Listed {
			return &host.Listed{Process: host.Process{PID: pid, StartKey: uint64(pid - stranger)}, Err: &host.TargetError{PID: pid - stranger, Cause: host.CauseStuck, Detail: "hangs"}}
		}
		h.see(map[int]string{7: "other"})
		if want := []string{"process 7 hangs"}; !slices.Equal(h.passed, want) {
			t.Errorf("told %q, want %q", h.passed, want)
		}
	})
}

// TestSweepRun: the first sweep starts at once, the next ones at the interval; sooner on request,
// or 50 ms after a hint, but because of hints never within 300 ms of each other.
func TestSweepRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost()
		started := time.Now()
		var at []time.Duration
		h.swept = func([]*unreachable) { at = append(at, time.Since(started)) }
		var broken atomic.Bool
		scan := func() ([]host.Sighting, error) {
			if broken.Load() {
				return nil, errors.New("no more files")
			}
			return nil, nil
		}
		made := make(chan struct{})
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan struct{})
		h.interval = 10 * time.Second
		go func() {
			defer close(ended)
			h.run(ctx, scan, made)
		}()
		const ms = time.Millisecond
		wait := func(until time.Duration) { time.Sleep(until - time.Since(started)) }
		wait(12 * time.Second)
		made <- struct{}{}
		wait(12*time.Second + 40*ms)
		made <- struct{}{} // no later than the first
		wait(12*time.Second + 60*ms)
		made <- struct{}{}
		for range 9 { // endless hints
			time.Sleep(10 * ms)
			made <- struct{}{}
		}
		wait(15 * time.Second)
		h.soon(0)
		wait(26 * time.Second)
		h.soon(2 * time.Second)
		h.soon(0)
		wait(29 * time.Second)
		broken.Store(true)
		wait(31 * time.Second)
		broken.Store(false)
		wait(33 * time.Second)
		made <- struct{}{}
		stop()
		<-ended
		want := []time.Duration{
			0, 10 * time.Second, 12*time.Second + 50*ms, 12*time.Second + 350*ms, 15 * time.Second, 25 * time.Second, 26 * time.Second, 28 * time.Second, 32 * time.Second,
		}
		if !slices.Equal(at, want) {
			t.Errorf("sweeps at %v, want %v", at, want)
		}
		if want := []string{"no more files"}; !slices.Equal(h.passed, want) {
			t.Errorf("told %q, want %q", h.passed, want)
		}
	})
}

// TestSoon: of several requests before one is taken, the last interval counts.
func TestSoon(t *testing.T) {
	s := newSweeper(time.Second)
	for _, c := range []struct{ ask, want time.Duration }{{0, 0}, {3, 3}, {0, 3}, {5, 5}, {0, 5}} {
		s.soon(c.ask)
		if d := <-s.nudge; d != c.want {
			t.Errorf("asked for %v it is %v, want %v", c.ask, d, c.want)
		} else {
			s.nudge <- d
		}
	}
}

// TestSweepSelf: gclog does not inspect itself.
func TestSweepSelf(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost()
		h.sweep([]host.Sighting{{PID: os.Getpid(), StartKey: 1, Name: "gclog"}, {PID: stranger + 7, StartKey: 7, Name: "other"}})
		if len(h.inspected) != 1 || h.inspected[7] != 1 || len(h.known) != 1 {
			t.Errorf("inspected are %v", h.inspected)
		}
	})
}

// TestSweepDefect: a panic during an inspection is reported, and the others are found.
func TestSweepDefect(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost()
		inspect := h.inspect
		h.inspect = func(pid int) *host.Listed {
			if pid == stranger+7 {
				panic("a trap")
			}
			return inspect(pid)
		}
		h.dotnet[8] = true
		for range 2 { // it is inspected again
			h.see(map[int]string{7: "dotnet", 8: "dotnet"})
			time.Sleep(time.Second)
		}
		h.expect(t, "found 8")
		if want := "a defect of gclog, please report it: a trap"; len(h.passed) != 2 || h.passed[0] != want {
			t.Errorf("told %q", h.passed)
		}
	})
}

// TestSweepLateAgain: a process whose inspection is late is inspected again after that has ended,
// and found once.
func TestSweepLateAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost()
		hangs := make(chan struct{})
		h.dotnet[7], h.hangs[7] = true, hangs
		names := map[int]string{7: "dotnet"}
		began := time.Now()
		h.see(names)
		if took := time.Since(began); took != time.Second {
			t.Errorf("the sweep took %v", took)
		}
		h.expect(t)
		h.see(names)
		if took := time.Since(began); took != time.Second {
			t.Errorf("with the next it took %v", took)
		}
		close(hangs)
		synctest.Wait()
		h.see(names)
		h.expect(t, "found 7")
		h.again(key{pid: stranger + 7, start: 7})
		for range 3 {
			h.see(names)
		}
		h.expect(t, "found 7")
	})
}

// TestSweepAllLate: if every inspection takes long a sweep ends after five seconds, and the rest is
// inspected in the next ones; no more are in progress than slots become free each second.
func TestSweepAllLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost()
		names := map[int]string{}
		hangs := make(chan struct{})
		for pid := 1; pid <= 100; pid++ {
			names[pid], h.dotnet[pid], h.hangs[pid] = "dotnet", true, hangs
		}
		began := time.Now()
		time.AfterFunc(500*time.Millisecond, func() {
			h.mu.Lock()
			defer h.mu.Unlock()
			if n := len(h.inspected); n != 8 {
				t.Errorf("%d are looked at at once", n)
			}
		})
		h.see(names)
		synctest.Wait()
		if took, n := time.Since(began), len(h.inspected); took != 5*time.Second || n < 5*8 || n > 6*8 {
			t.Errorf("the sweep took %v for %d processes", took, n)
		}
		close(hangs)
		synctest.Wait()
		for range 3 {
			h.see(names)
		}
		if len(h.targets) != 100 {
			t.Errorf("%d are found", len(h.targets))
		}
		for pid, n := range h.inspected {
			if n != 1 {
				t.Errorf("process %d was looked at %d times", pid, n)
			}
		}
	})
}

// TestSweepMixed: inspections that are done do not count as late: all others are inspected after
// those that are.
func TestSweepMixed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost()
		names := map[int]string{}
		hangs := make(chan struct{})
		const quick, late, all = 4, 8, 22
		for pid := 1; pid <= all; pid++ {
			names[pid], h.dotnet[pid] = "dotnet", true
			if pid > quick && pid <= quick+late {
				h.hangs[pid] = hangs
			}
		}
		h.see(names)
		if n := len(h.targets); n != all-late {
			t.Errorf("%d are found, want %d", n, all-late)
		}
		close(hangs)
		synctest.Wait()
		h.see(names)
		if n := len(h.targets); n != all {
			t.Errorf("%d are found at last", n)
		}
	})
}

// TestSweepAllGone: the exit of several processes is reported in the same sweep, and one that can
// no longer be reached is listed as unreachable.
func TestSweepAllGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost()
		names := map[int]string{}
		for pid := 1; pid <= 9; pid++ {
			names[pid], h.dotnet[pid] = "dotnet", true
		}
		h.see(names)
		h.targets = nil
		h.see(map[int]string{5: "dotnet"})
		if len(h.targets) != 8 || len(h.known) != 1 {
			t.Errorf("the sweeper told %q, and knows %d", h.targets, len(h.known))
		}
	})
}

// TestSweepOther: a process that is to be ignored is not found, nor is one whose pid was reused in
// the meantime.
func TestSweepOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost()
		h.inspect = func(number int) *host.Listed {
			l := &host.Listed{Process: host.Process{PID: number, StartKey: uint64(number - stranger)}}
			switch l.StartKey {
			case 7:
				l.Environ = map[string]string{"GCLOG_IGNORE": "1"}
			case 8:
				l.StartKey++
			}
			return l
		}
		h.see(map[int]string{7: "dotnet", 8: "dotnet", 9: "dotnet"})
		h.expect(t, "found 9")
	})
}

// TestSweepSlow: a sweep waits for slow inspections as long as some are completed.
func TestSweepSlow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost()
		inspect, names := h.inspect, map[int]string{}
		h.inspect = func(number int) *host.Listed {
			time.Sleep(400 * time.Millisecond)
			return inspect(number)
		}
		for pid := 1; pid <= 4*8; pid++ {
			names[pid], h.dotnet[pid] = "dotnet", true
		}
		began := time.Now()
		h.see(names)
		if took := time.Since(began); len(h.targets) != 4*8 || took != 1600*time.Millisecond {
			t.Errorf("%d are found in %v", len(h.targets), took)
		}
	})
}

// TestSweepLateMeanwhile: results left over from an earlier sweep arrive while a later one waits
// for others: it still waits for those.
func TestSweepLateMeanwhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost()
		names := map[int]string{}
		hangs, slow := make(chan struct{}), make(chan struct{})
		const first, all = 48, 52
		for pid := 1; pid <= all; pid++ {
			names[pid], h.dotnet[pid], h.hangs[pid] = "dotnet", true, hangs
			if pid > first {
				h.hangs[pid] = slow
			}
		}
		later := maps.Clone(names)
		maps.DeleteFunc(names, func(pid int, _ string) bool { return pid > first })
		h.see(names)
		time.AfterFunc(300*time.Millisecond, func() { close(hangs) })
		time.AfterFunc(900*time.Millisecond, func() { close(slow) })
		h.see(later)
		if len(h.targets) != all {
			t.Errorf("%d are found", len(h.targets))
		}
	})
}
