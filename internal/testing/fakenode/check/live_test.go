//go:build linux

package check_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gclog/gclog/internal/host"
	"github.com/gclog/gclog/internal/testing/extent"
	"github.com/gclog/gclog/internal/testing/fakenode/check"
	"github.com/gclog/gclog/internal/testing/gcload"
	"github.com/gclog/gclog/parse/clr"
	"github.com/gclog/gclog/session"
)

// Faults that only a real runtime has: its buffer, its limits, its threads.

// A load is a real program that collects as fast as it can when told to.
type load struct {
	*gcload.Process
	t *testing.T
}

func startLoad(t *testing.T, flavour string, args ...string) *load {
	t.Helper()
	if testing.Short() {
		t.Skip("takes seconds of both processors")
	}
	r, err := gcload.FromRepository()
	if err != nil {
		t.Skipf("no .NET runtime: %v", err)
	}
	p, err := r.Start(socketDir(t), flavour, []string{"GCgen0size=10000"}, append(args, "--seed", "1", "--wait")...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Kill)
	return &load{p, t}
}

// churn is a load with a ring of survivors, on two heaps.
func churn(t *testing.T) *load {
	t.Helper()
	return startLoad(t, "svr", "churn", "--rate", "2000", "--live", "20", "--threads", "2")
}

// calm is a load that leaves most of the processors to others.
func calm(t *testing.T) *load {
	t.Helper()
	return startLoad(t, "wks", "churn", "--rate", "100", "--live", "1", "--threads", "2")
}

// oversee starts a daemon for the program.
func (p *load) oversee(level string) (*program, string) {
	p.t.Helper()
	return oversee(p.t, fmt.Sprintf("version: 1\ndiscovery: {interval: 100ms, include: [{pid: %d}]}\nsession: {level: %s}\n", p.PID, level))
}

func (p *load) send(command string) {
	p.t.Helper()
	if _, err := p.Send(command); err != nil {
		p.t.Fatal(err)
	}
}

// goOn waits until the program has reported more collections.
func (p *load) goOn(more uint32) {
	p.t.Helper()
	from := uint32(0)
	for _, l := range p.Lines() {
		from = max(from, l.Number())
	}
	if _, err := p.Wait(time.Minute, func(l *gcload.Line) bool { return l.Event == "gc" && l.Number() >= from+more }); err != nil {
		p.t.Fatal(err)
	}
}

// end makes the program exit, and returns how many collections it had.
func (p *load) end() uint32 {
	p.t.Helper()
	p.send("stop")
	last, err := p.Mark("end")
	if err != nil {
		p.t.Fatal(err)
	}
	if err := p.Exit(0); err != nil {
		p.t.Errorf("the program was harmed: %v", err)
	}
	return uint32(last.Gen0)
}

// accounted checks that each collection from the first reported to the last one, which is returned,
// is in one record or in one gap. The collections in a gap of lost events have records, or are in
// another gap.
func accounted(t *testing.T, logs string) (newest uint32, gaps []collection) {
	t.Helper()
	times := map[uint32]int{}
	first := uint32(0)
	for _, g := range collections(t, logs) {
		if g.reason != "" {
			gaps = append(gaps, g)
		}
		for i := g.from; i <= g.to && i > 0 && !g.lost; i++ {
			times[i]++
			newest = max(newest, i)
			if first == 0 {
				first = i
			}
		}
	}
	for i := first; i <= newest; i++ {
		if times[i] != 1 {
			t.Errorf("#%d is told %d times", i, times[i])
		}
	}
	t.Logf("#%d to #%d, %d gaps: %+v", first, newest, len(gaps), gaps[:min(len(gaps), 20)])
	return newest, gaps
}

// TestLiveFlood: a program that allocates as fast as it can, with two heaps, at the most detailed
// level.
func TestLiveFlood(t *testing.T) {
	p := churn(t)
	d, logs := p.oversee("full")
	wait(t, func() int { return len(glob(t, filepath.Join(logs, "*.json"))) }, 1)
	p.send("start")
	p.goOn(10)
	total := p.end()
	d.terminate(t)
	if newest, _ := accounted(t, logs); newest < total {
		t.Errorf("the last collection that is told is #%d, the program had %d", newest, total)
	}
}

// TestLiveStandstill: gclog is stopped, for a minute with GCLOG_SOAK, while a program does more
// than 1000 collections per second, which fill all buffers. The dropped collections are in gaps
// with exact numbers, and the program is not delayed.
func TestLiveStandstill(t *testing.T) {
	p := startLoad(t, "wks", "storm", "--rate", "1000")
	pause := time.Duration(extent.Pick(0, 6)) * time.Second
	if os.Getenv("GCLOG_SOAK") != "" {
		pause = time.Minute
	}
	d, logs := p.oversee("normal")
	marks := 0
	had := func() int {
		marks++
		l, err := p.Mark(fmt.Sprint(marks)) // a unique label
		if err != nil {
			t.Fatal(err)
		}
		return l.Gen0
	}
	wait(t, func() int { return len(glob(t, filepath.Join(logs, "*.json"))) }, 1)
	p.send("start")
	wait(t, had, 500)
	_ = d.Process.Signal(syscall.SIGSTOP)
	// The fault, until the buffers are full.
	for end, full := time.Now().Add(pause), had()+20_000; time.Now().Before(end) || had() < full; {
		wait(t, had, had()+100)
	}
	_ = d.Process.Signal(syscall.SIGCONT)
	// What the program does until gclog has read what was buffered, the runtime may drop, too.
	waitEvery(t, time.Second, func() int { return told(logs) }, had())
	wait(t, had, had()+500)
	total := p.end()
	d.terminate(t)
	newest, gaps := accounted(t, logs)
	if newest < total {
		t.Errorf("the last collection that is told is #%d, the program had %d", newest, total)
	}
	// What the runtime dropped is in a gap of its own, or in the gap of the queue if the queue was
	// full when the drop was noticed.
	if len(gaps) == 0 {
		t.Error("the buffers were not full")
	}
}

var toldNumber = regexp.MustCompile(`"(?:number|to)":(\d+)`)

// told returns the highest number of a collection that logs have so far, while they are being written.
func told(logs string) (newest int) {
	files, _ := filepath.Glob(filepath.Join(logs, "*.json"))
	for _, file := range files {
		b, _ := os.ReadFile(file) // it may be renamed at this moment
		for _, m := range toldNumber.FindAllSubmatch(b, -1) {
			n, _ := strconv.Atoi(string(m[1]))
			newest = max(newest, n)
		}
	}
	return newest
}

// freezer moves a process into a control group that can be frozen, and returns the function that
// freezes and thaws it.
func freezer(t *testing.T, pid int) (freeze func(bool) error) {
	t.Helper()
	for _, c := range []struct{ root, file, frozen, thawed string }{
		{"/sys/fs/cgroup/freezer", "freezer.state", "FROZEN", "THAWED"},
		{"/sys/fs/cgroup", "cgroup.freeze", "1", "0"},
		{"/sys/fs/cgroup/unified", "cgroup.freeze", "1", "0"},
	} {
		dir, err := os.MkdirTemp(c.root, "gclog-test-")
		if err != nil {
			continue
		}
		file := filepath.Join(dir, c.file)
		if _, err := os.Stat(file); err != nil {
			_ = os.Remove(dir)
			continue
		}
		if err := os.WriteFile(filepath.Join(dir, "cgroup.procs"), fmt.Append(nil, pid), 0o600); err != nil {
			t.Skipf("no process can be moved to another control group: %v", err)
		}
		t.Cleanup(func() {
			_ = os.WriteFile(file, []byte(c.thawed), 0o600)
			_ = os.WriteFile(filepath.Join(c.root, "cgroup.procs"), fmt.Append(nil, pid), 0o600)
			_ = os.Remove(dir)
		})
		return func(frozen bool) error {
			if frozen {
				return os.WriteFile(file, []byte(c.frozen), 0o600)
			}
			return os.WriteFile(file, []byte(c.thawed), 0o600)
		}
	}
	t.Skip("no control group can be made: it takes root and a file system of control groups that can be written")
	return nil
}

// TestLiveFrozen: a frozen program keeps its session. Its log continues when the program does, and
// gclog does not wait for the program when it is to exit: then the log says that records may be
// missing.
func TestLiveFrozen(t *testing.T) {
	p := calm(t)
	freeze := freezer(t, p.PID)
	set := func(frozen bool) {
		t.Helper()
		if err := freeze(frozen); err != nil {
			t.Fatal(err)
		}
	}
	d, logs := p.oversee("full")
	wait(t, func() int { return len(glob(t, filepath.Join(logs, "*.json"))) }, 1)
	p.send("start")
	p.goOn(10)
	set(true)
	time.Sleep(time.Second) // the fault
	set(false)
	p.goOn(10)
	set(true)
	d.terminate(t)
	set(false)
	p.goOn(10) // a session that nobody reads does it no harm
	p.end()
	_, gaps := accounted(t, logs)
	if !slices.ContainsFunc(gaps, func(c collection) bool { return c.reason == "stopped" }) {
		t.Errorf("no gap says that gclog has not waited: %+v\n%s", gaps, d.stderr.String())
	}
	lists, err := check.Files(logs)
	if err != nil {
		t.Fatal(err)
	}
	for _, list := range lists {
		if end := lastOf(t, list); !strings.Contains(end, "gc-session-end") {
			t.Errorf("the log ends with %s", end)
		}
	}
}

// TestLiveSessionsFull: a runtime supports 64 sessions, and other clients have them all. gclog says
// so once, retries now and then, and gets a session when one of the others ends.
func TestLiveSessionsFull(t *testing.T) {
	p := calm(t)
	target, err := new(host.Host).Find(t.Context(), p.PID)
	if err != nil {
		t.Fatal(err)
	}
	cfg := session.Config{BufferMB: 1, Providers: []session.Provider{{Name: clr.RuntimeProvider, Keywords: clr.KeywordGC, Level: clr.LevelInformational}}}
	var others []*session.Stream
	for {
		s, err := target.StartTracing(t.Context(), cfg)
		if errors.Is(err, session.ErrNoAnswer) {
			continue // the host is busy
		}
		if err != nil {
			t.Logf("beyond %d sessions: %v", len(others), err)
			break
		}
		if len(others) == 100 {
			t.Skip("the runtime has no limit")
		}
		go func() { _, _ = io.Copy(io.Discard, s) }()
		others = append(others, s)
	}
	stop := func(s *session.Stream) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		_ = s.Stop(ctx) // only the free session matters
	}
	d, logs := p.oversee("full")
	p.send("start")
	time.Sleep(time.Duration(extent.Pick(2, 8)) * time.Second) // attempts follow after 1, 2 and 4 s
	if list := glob(t, filepath.Join(logs, "*.json")); len(list) > 0 {
		t.Errorf("there are logs: %v", list)
	}
	stop(others[0])
	wait(t, func() int { return len(glob(t, filepath.Join(logs, "*.json"))) }, 1)
	p.goOn(20)
	for _, s := range others[1:extent.Pick(8, len(others))] {
		stop(s)
	}
	p.goOn(20)
	total := p.end()
	d.terminate(t)
	if newest, _ := accounted(t, logs); newest < total {
		t.Errorf("the last collection that is told is #%d, the program had %d", newest, total)
	}
	said := d.stderr.String()
	if n := strings.Count(said, "refused the session"); n == 0 || n > 6 {
		t.Errorf("%d times it is said that there is no room\n%s", n, said)
	}
}
