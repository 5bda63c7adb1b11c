package attach

import (
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/internal/host"
)

// TestSnapshotLacks: a snapshot is refused if it needs more than 80 % of what is left, and the reason
// is the limit that leaves the least.
func TestSnapshotLacks(t *testing.T) {
	room := func(of string, free uint64) host.Room {
		return host.Room{Of: of, Limit: 10_000, Used: 10_000 - free}
	}
	for _, c := range []struct {
		rooms []host.Room
		want  string
	}{
		{nil, ""},
		{[]host.Room{room("a", 1000)}, ""},
		{[]host.Room{room("a", 999)}, "a"},
		{[]host.Room{room("a", 900), room("b", 5000), room("c", 800)}, "c"},
		{[]host.Room{room("a", 100), room("b", 5000), room("c", 800)}, "a"},
		{[]host.Room{{Of: "a", Limit: 10, Used: 20}}, "a"},
	} {
		got := ""
		if r := (&SnapshotPlan{Need: 800, Rooms: c.rooms}).Lacks(); r != nil {
			got = r.Of
		}
		if got != c.want {
			t.Errorf("%+v: %q, want %q", c.rooms, got, c.want)
		}
	}
}

// TestPlanSnapshot: the last full collection decides, if it is known; otherwise the private memory of
// the process is the upper limit.
func TestPlanSnapshot(t *testing.T) {
	target := &host.Target{Process: alive(t)}
	private := target.PrivateMemory()
	near := func(n, want uint64) bool { return n > want/2 && n < want*2 } // this process goes on
	p := PlanSnapshot(target, &gclog.Process{RuntimeVersion: "9.0.22"}, nil)
	if !near(p.Heap, private) || !near(p.Need, private) || p.Last != nil || !p.Twice || p.BufferMB < bufferLeast || len(p.Rooms) == 0 {
		t.Errorf("without a collection: %+v, %d bytes are private", p, private)
	}
	if p.Shortest <= 0 || p.Longest < 2*p.Shortest || p.Timeout() < 30*time.Second {
		t.Errorf("a pause of %v to %v, a timeout of %v", p.Shortest, p.Longest, p.Timeout())
	}

	if p = PlanSnapshot(target, &gclog.Process{RuntimeVersion: "10.0.1"}, nil); p.Twice {
		t.Error(".NET 10 collects twice")
	}

	const heap, pause = 3 << 30, 500 * time.Millisecond
	last := &FullGC{Heap: heap, Pause: int64(pause), Blocking: true}
	p = planWalk(heap, last)
	if p.Heap != heap || p.Need != heap || p.Last != last || p.BufferMB != bufferLimit {
		t.Errorf("after a collection: %+v", p)
	}
	// 3 GB are 40 to 72 million objects, and the walk of each takes 70 to 190 ns.
	if p.Shortest < pause+2*time.Second || p.Longest > pause+15*time.Second || p.Shortest >= p.Longest {
		t.Errorf("a pause of %v to %v", p.Shortest, p.Longest)
	}
	last.Blocking = false // its pause says nothing of a blocking one
	if b := planWalk(heap, last); b.Shortest == p.Shortest {
		t.Errorf("after a background collection: %v", b.Shortest)
	}
	if huge := (&SnapshotPlan{Heap: 1 << 50, Longest: time.Hour}).Timeout(); huge != 10*time.Minute {
		t.Errorf("a timeout of %v for 1 PB", huge)
	}
}

// TestSnapshotLimits: what a runtime may send depends on the memory that it has, not on what it reports
// of it. A walk of nothing but the smallest objects with a reference stays below the limit, even if
// the runtime has buffered as much before.
func TestSnapshotLimits(t *testing.T) {
	for _, private := range []uint64{1 << 20, 8 << 20, 200 << 20, 1 << 30, 6 << 30, 100 << 30} {
		p := planWalk(private, nil)
		buffer := uint64(p.BufferMB) << 20
		if walk := private / 24 * (32 + 12); p.StreamLimit < min(buffer, walk)+walk || p.StreamLimit > buffer+2*private {
			t.Errorf("%d bytes of memory: a limit of %d", private, p.StreamLimit)
		}
		if liar := planWalk(private, &FullGC{Heap: 1 << 50}); liar.StreamLimit != p.StreamLimit || liar.BufferMB != p.BufferMB || liar.Heap != private || liar.OwnLimit() != p.OwnLimit() || liar.CPULimit() != p.CPULimit() {
			t.Errorf("%d bytes of memory, and it reports 1 PB: %+v", private, liar)
		}
	}
	if p := planWalk(0, nil); p.StreamLimit < p.BufferLimit() {
		t.Errorf("unknown memory: a limit of %d", p.StreamLimit)
	}
}

// TestBuffer: the buffer holds a walk of nothing but the smallest objects with a reference, or of arrays
// of references: 32 bytes for each object and 12 for each reference, and 1 %.
func TestBuffer(t *testing.T) {
	for _, private := range []uint64{1 << 20, 200 << 20, 1 << 30, 2 << 30} {
		buffer := uint64(planWalk(private, nil).BufferMB) << 20
		if smallest := private / 24 * (32 + 12); buffer < smallest+smallest/100 {
			t.Errorf("%d bytes of objects with a reference: a buffer of %d", private, buffer)
		}
		if arrays := private / 8 * 12; buffer < arrays+arrays/100 {
			t.Errorf("%d bytes of references: a buffer of %d", private, buffer)
		}
	}
}

// TestPlanAfter: what the last walk took is known better than what the memory of the process allows.
func TestPlanAfter(t *testing.T) {
	p := planWalk(1<<30, nil)
	buffer, limit := p.BufferMB, p.StreamLimit
	if p.After(100 << 20); p.Need != 150<<20 || p.BufferMB != buffer || p.StreamLimit != limit {
		t.Errorf("after 100 MB: %+v", p)
	}
	p = planWalk(0, nil) // the memory is unknown
	limit = p.StreamLimit
	if p.After(1 << 30); p.Need != 3<<29 || p.BufferMB != 1537 || p.StreamLimit != limit+(1537-bufferLeast)<<20 {
		t.Errorf("after 1 GB, without known memory: %+v", p)
	}
	if p.After(1 << 40); p.BufferMB != bufferLimit {
		t.Errorf("after 1 TB: a buffer of %d MB", p.BufferMB)
	}
}

// TestPlanAgain: after a loss the buffer is twice as large, as long as the runtime can have that, and
// the need is what fills it, or what a walk takes at most.
func TestPlanAgain(t *testing.T) {
	rooms := []host.Room{{Of: "a", Limit: 1}}
	small, large := planWalk(100<<20, nil), planWalk(1<<30, nil)
	for _, c := range []struct {
		first *SnapshotPlan
		mb    uint32
		need  uint64
	}{
		{small, 2 * bufferLeast, 200 << 20},
		{large, 2 * large.BufferMB, 2 << 30},
		{planWalk(0, nil), 2 * bufferLeast, 2 * bufferLeast << 20},
		{planWalk(3<<29, nil), bufferLimit, 3 << 30},
	} {
		before := *c.first
		again := c.first.Again(rooms)
		if again.BufferMB != c.mb || again.Need != c.need || again.StreamLimit-before.StreamLimit != uint64(c.mb-before.BufferMB)<<20 || len(again.Rooms) != 1 {
			t.Errorf("after %+v: %+v", before, again)
		}
		if c.first.BufferMB != before.BufferMB || len(c.first.Rooms) != 0 {
			t.Errorf("the plan has become %+v", c.first)
		}
	}
	if again := planWalk(100<<30, nil).Again(rooms); again != nil {
		t.Errorf("with the largest buffer: %+v", again)
	}
}

// TestAnswersAhead: .NET Core 3.1 and .NET 11 and later answer before they walk.
func TestAnswersAhead(t *testing.T) {
	target := &host.Target{Process: alive(t)}
	for version, want := range map[string]bool{"": false, "3.1.3": true, "8.0.33": false, "10.0.14": false, "11.0.0": true, "12.0.0": true} {
		if p := PlanSnapshot(target, &gclog.Process{RuntimeVersion: version}, nil); p.Ahead != want {
			t.Errorf("%q: %v, want %v", version, p.Ahead, want)
		}
	}
}

// TestSnapshotRefusal: of what cannot walk its heap, or would not stop its threads, none is taken.
func TestSnapshotRefusal(t *testing.T) {
	target := &host.Target{Process: alive(t)}
	if err := SnapshotRefusal(target, &gclog.Process{}); err != nil {
		t.Error(err)
	}
	if err := SnapshotRefusal(target, &gclog.Process{Flavor: gclog.FlavorNativeAOT}); err == nil || !strings.Contains(err.Error(), "is a NativeAOT program of .NET (unknown)") {
		t.Errorf("NativeAOT: %v", err)
	}
	cmd := exec.Command("sleep", "1000")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = cmd.Process.Kill(), cmd.Wait() }()
	if err := cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	stopped := &host.Target{Process: new(host.Host).Inspect(cmd.Process.Pid).Process}
	for end := time.Now().Add(time.Minute); !stopped.Stopped() && time.Now().Before(end); time.Sleep(time.Millisecond) {
	}
	if err := SnapshotRefusal(stopped, &gclog.Process{}); err == nil || !strings.Contains(err.Error(), " is stopped: kill -CONT ") {
		t.Errorf("a process that is stopped: %v", err)
	}
}
