//go:build linux

package live

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gclog/gclog/internal/host"
	"github.com/gclog/gclog/internal/testing/extent"
	"github.com/gclog/gclog/internal/testing/gcload"
	"github.com/gclog/gclog/internal/testing/program"
	"github.com/gclog/gclog/parse/clr"
	"github.com/gclog/gclog/session"
)

// TestLiveSnapshot takes heap snapshots of each runtime while gclog attach and the daemon log it, and
// while commands of gclog and the daemon are asked to start and end sessions with it. The runtime
// walks its heap once for each snapshot, and the logs lack nothing.
func TestLiveSnapshot(t *testing.T) {
	extent.Long(t)
	t.Parallel() // it spends most of its time waiting
	for _, r := range runtimes(t) {
		if r.AOT { // which walks no heap
			continue
		}
		t.Run(r.Name+"/watched", func(t *testing.T) {
			t.Parallel()
			liveSnapshotWatched(t, r)
		})
		t.Run(r.Name+"/background", func(t *testing.T) {
			t.Parallel()
			liveSnapshotBackground(t, r)
		})
		t.Run(r.Name+"/others", func(t *testing.T) {
			t.Parallel()
			liveSnapshotOthers(t, r)
		})
	}
}

// A snapshotRun is a running gclog heap snapshot.
type snapshotRun struct {
	cmd    *exec.Cmd
	stderr bytes.Buffer
}

func startSnapshot(t *testing.T, pid int, path string, more ...string) *snapshotRun {
	t.Helper()
	s := &snapshotRun{cmd: exec.Command("gclog", append([]string{"heap", "snapshot", strconv.Itoa(pid), "-o", path}, more...)...)}
	s.cmd.Stderr = &s.stderr
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.cmd.Process.Kill() })
	return s
}

// finish returns what the command said, which must end with a code.
func (s *snapshotRun) finish(t *testing.T, code int) string {
	t.Helper()
	if got := exitCode(s.cmd.Wait()); got != code {
		t.Fatalf("gclog heap snapshot ended with %d, want %d: %s", got, code, s.stderr.String())
	}
	return s.stderr.String()
}

// awaitHeld waits until a snapshot holds the target.
func awaitHeld(t *testing.T, target *host.Target) {
	t.Helper()
	program.Eventually(t, "the lock of the snapshot", target.Held)
}

func liveSnapshotWatched(t *testing.T, r *gcload.Runtime) {
	// Without background collections: if one begins after gclog's last look and before its request, the
	// runtime walks its heap at each collection until that one has ended (docs/reliability.md).
	const flavour = "wks-nc"
	knobs, args := program.Load(r, flavour)
	unique := "snap" + strings.ToLower(rand.Text()[:10])
	cmd := exec.Command(r.Program(flavour), append(args, "--rate", "100", "--wait")...)
	cmd.Env = append(r.Environment(os.Environ(), flavour, knobs...), "OTEL_SERVICE_NAME="+unique, "TMPDIR="+program.SocketDir(t))
	p, err := gcload.StartCommand(cmd)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Kill()
	if _, err := p.Send(fmt.Sprintf("leak %d", extent.Pick(200_000, 1_000_000))); err != nil { // the walk takes some time
		t.Fatal(err)
	}
	target, err := new(host.Host).Find(t.Context(), p.PID)
	if err != nil {
		t.Fatal(err)
	}

	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	config := func(level string) string {
		return fmt.Sprintf("discovery: {interval: 200ms, include: [{process: %q}]}\nsession: {level: %s}\noutputs: [{path: %s/daemon.json, filecount: 0}]\nhttp: {listen: \"\"}\n", unique, level, dir)
	}
	d := program.StartDaemon(t, dir, config("normal"))
	attach := func(name string) (stop func()) {
		cmd := exec.Command("gclog", "attach", strconv.Itoa(p.PID), "-o", path(name), "--filecount", "0")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = cmd.Process.Kill() })
		return func() {
			t.Helper()
			_ = cmd.Process.Signal(os.Interrupt)
			if err := cmd.Wait(); err != nil {
				t.Errorf("gclog attach ended with %v", err)
			}
		}
	}
	stopAttach := attach("attach.json")
	program.WaitForFile(t, path("attach.json"), "gc-session-start")
	program.WaitForFile(t, path("daemon.json"), "gc-session-start")
	begin, err := p.Mark("a")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Send("start"); err != nil {
		t.Fatal(err)
	}

	// The second snapshot is refused. A new session begins, another one ends, and the daemon changes
	// its own, all after the walk: otherwise the runtime would walk again.
	stopEarly := attach("early.json")
	program.WaitForFile(t, path("early.json"), "gc-session-start")
	first := startSnapshot(t, p.PID, path("first.gcdump"))
	awaitHeld(t, target)
	// It is stopped until all of them wait: otherwise a busy machine may start them too late.
	if err := first.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	second := startSnapshot(t, p.PID, path("second.gcdump"))
	stopLate := attach("late.json")
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		stopEarly()
	}()
	d.Reload(t, config("full"))
	if said := second.finish(t, 1); !strings.Contains(said, "another gclog is taking (process "+strconv.Itoa(first.cmd.Process.Pid)+")") {
		t.Errorf("the second snapshot said %q", said)
	}
	if err := first.cmd.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	if said := first.finish(t, 0); strings.Contains(said, "has walked its heap") || strings.Contains(said, "more than usual") || strings.Count(said, "has paused the program") != walksOf(r) {
		t.Errorf("the first snapshot said %q", said)
	}
	<-ended
	program.WaitForFile(t, path("late.json"), "gc-session-start")
	stopLate()
	program.Eventually(t, "the other level", func() bool { return len(recordsOf(t, path("daemon.json"), "gc-session-start")) == 2 })
	startSnapshot(t, p.PID, path("third.gcdump")).finish(t, 0)

	if err := p.StandStill(); err != nil {
		t.Fatal(err)
	}
	end, err := p.Mark("b")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"attach.json", "daemon.json"} {
		program.Eventually(t, "the last collection in "+name, func() bool {
			for _, g := range recordsOf(t, path(name), "gc") {
				if g.number == uint32(end.Gen0) {
					return true
				}
			}
			return false
		})
		checkLive(t, &liveProcess{Process: p, name: name, host: p.PID, log: path(name)}, begin, end)
		induced, marked := 0, 0
		for _, g := range recordsOf(t, path(name), "gc") {
			if bytes.Contains(g.line, []byte(`"reason":"Induced`)) {
				induced++
			}
			if bytes.Contains(g.line, []byte(`"heap_dump_by":"gclog"`)) {
				marked++
			}
		}
		if want := 2 * walksOf(r); induced != want || marked != want {
			t.Errorf("%s: %d collections were induced, %d are marked as gclog's snapshots, want %d", name, induced, marked, want)
		}
	}
	stopAttach()
	d.Stop(t)
	for _, name := range []string{"first.gcdump", "third.gcdump"} {
		out, err := exec.Command("gclog", "heap", "stat", path(name), "-f", "json").CombinedOutput()
		if err != nil || !bytes.Contains(out, []byte(`"complete":true`)) {
			t.Errorf("%s: %v, %.200s", name, err, out)
		}
	}
	if _, err := os.Stat(path("second.gcdump")); err == nil {
		t.Error("the refused snapshot has written a file")
	}
}

// walksOf returns how many collections a snapshot causes: up to .NET 9 the runtime collects once more
// when the session ends.
func walksOf(r *gcload.Runtime) int {
	if r.Major >= 10 {
		return 1
	}
	return 2
}

// liveSnapshotBackground takes snapshots while background collections run one after the other. gclog
// waits until they end, as long as it may. With --force the snapshot is complete in either case, which
// may take minutes on a busy machine: the runtime walks its heap at each collection meanwhile.
func liveSnapshotBackground(t *testing.T, r *gcload.Runtime) {
	p, err := r.Start(program.SocketDir(t), "wks", []string{"GCgen0size=400000"}, "bgc", "--rate", "10", "--live", "10", "--every", "200", "--quiet")
	if err != nil {
		t.Fatal(err)
	}
	defer p.Kill()
	if _, err := p.Wait(time.Minute, func(l *gcload.Line) bool { return l.Event == "built" }); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, wait := range []string{"1ms", "2s"} {
		path := filepath.Join(dir, "a.gcdump")
		said := startSnapshot(t, p.PID, path, "--force", "--wait-bgc", wait, "--timeout", "10m").finish(t, 0)
		t.Logf("--wait-bgc %s: %s", wait, said)
		if out, err := exec.Command("gclog", "heap", "stat", path, "-f", "json").CombinedOutput(); err != nil || !bytes.Contains(out, []byte(`"complete":true`)) {
			t.Errorf("--wait-bgc %s: %v, %.200s", wait, err, out)
		}
	}
}

// liveSnapshotOthers takes snapshots while another tool, which knows no lock, starts sessions. From
// .NET 9 on the runtime then walks its heap again, without events, and gclog says so.
func liveSnapshotOthers(t *testing.T, r *gcload.Runtime) {
	p, err := r.Start(program.SocketDir(t), "wks", nil, "idle", "--quiet")
	if err != nil {
		t.Fatal(err)
	}
	defer p.Kill()
	if _, err := p.Send("leak 300000"); err != nil {
		t.Fatal(err)
	}
	target, err := new(host.Host).Find(t.Context(), p.PID)
	if err != nil {
		t.Fatal(err)
	}
	target.Timeout = time.Minute
	path := filepath.Join(t.TempDir(), "a.gcdump")
	for range tries { // the other one must be in time
		s := startSnapshot(t, p.PID, path)
		awaitHeld(t, target)
		for target.Held() {
			sessionOfOther(t, target)
		}
		said := s.finish(t, 0)
		if out, err := exec.Command("gclog", "heap", "stat", path, "-f", "json").CombinedOutput(); err != nil || !bytes.Contains(out, []byte(`"complete":true`)) {
			t.Errorf("%v, %.200s", err, out)
		}
		if strings.Contains(said, " more than usual: sessions of another tool ") {
			t.Logf("it said %s", said)
			return
		}
	}
	if r.Major >= 9 {
		t.Error("no collection that the other tool caused was reported")
	}
}

// sessionOfOther starts and ends a session as a tool does that knows nothing of gclog.
func sessionOfOther(t *testing.T, target *host.Target) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	s, err := target.Client.StartTracing(ctx, session.Config{BufferMB: 16, Providers: []session.Provider{{Name: clr.RuntimeProvider, Keywords: clr.KeywordGC, Level: clr.LevelInformational}}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	read := make(chan struct{})
	go func() {
		defer close(read)
		b := make([]byte, 1<<16)
		for err := error(nil); err == nil; {
			_, err = s.Read(b)
		}
	}()
	if err := s.Stop(ctx); err != nil {
		t.Fatal(err)
	}
	<-read
}
