//go:build linux

package check_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/gclog/gclog/internal/testing/child"
	"github.com/gclog/gclog/internal/testing/extent"
	"github.com/gclog/gclog/internal/testing/fakenode"
)

// TestReusedPIDs: processes repeatedly get the pid of one that has just exited, because a separate
// pid namespace hands out the same few. Each has its own complete log, and no session is requested
// from another process.
func TestReusedPIDs(t *testing.T) {
	t.Parallel()
	if !child.First(t) {
		return
	}
	const first, lastPID = 20000, "/proc/sys/kernel/ns_last_pid"
	choose := func() error { return os.WriteFile(lastPID, []byte(strconv.Itoa(first-1)), 0o600) }
	if err := choose(); err != nil {
		t.Skipf("no pid can be chosen: %v", err)
	}
	n, random := newNode(t, 36), rand.New(rand.NewPCG(36, 0))
	d, logs := oversee(t, fmt.Sprintf("version: 1\ndiscovery: {interval: 100ms, include: [{command_line: %q}]}\n", n.Pattern()))
	used := map[int]int{}
	const enough = 5
	rounds := extent.Pick(15, 30)
	for len(n.Runtimes()) < rounds || most(used) < enough && len(n.Runtimes()) < 100 {
		if err := choose(); err != nil {
			t.Fatal(err)
		}
		r := start(t, n, fakenode.Config{Name: fmt.Sprintf("p%d", random.IntN(9)), Rate: 300, Background: 0.1})
		used[r.PID()]++
		// It exits in every state of being discovered, but not so early that the next process with
		// its pid has the same start time, which the kernel records in hundredths of a second.
		time.Sleep(time.Duration(10+random.IntN(250)) * time.Millisecond)
		if random.IntN(2) == 0 {
			r.Exit(0)
		} else {
			r.Kill()
		}
	}
	last := start(t, n, fakenode.Config{Name: "last", Rate: 100})
	defer func() {
		if t.Failed() {
			t.Log(d.stderr.String())
		}
	}()
	waitSent(t, last, 10)
	d.terminate(t)
	checked(t, n, logs, d)
	var sum total
	sum.add(n)
	t.Logf("a pid was used %d times: %v", most(used), sum)
	if most(used) < enough {
		t.Errorf("pids were not used again: %v", used)
	}
}

// most returns how often the pid that was used most often was used.
func most(used map[int]int) (times int) {
	for _, n := range used {
		times = max(times, n)
	}
	return times
}
