//go:build linux

package endure

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/gclog/gclog/internal/testing/evidence"
	"github.com/gclog/gclog/internal/testing/extent"
	"github.com/gclog/gclog/internal/testing/gcload"
	"github.com/gclog/gclog/internal/testing/program"
	"github.com/gclog/gclog/internal/testing/recordings"
	"github.com/gclog/gclog/internal/testing/reserved"
	"golang.org/x/sys/unix"
)

func TestMain(m *testing.M) { program.Main(m) }

// A node is a host of its own, in namespaces: real programs, hostile ones, a daemon that is killed
// now and then, a disk that is full now and then, and a collector that does its work now and then.
type node struct {
	t         *testing.T
	rand      *rand.Rand // of the test's own goroutine
	gclog     string
	dir       string // what others may write is below its t
	hostile   string // folder of hostile processes
	python    string
	collector *collector
	loads     []*gcload.Process
	metrics   string // address
	scrapes   int    // that were answered
	attacks   atomic.Int64

	mu     sync.Mutex
	daemon *exec.Cmd
}

// TestEndure: see docs/reliability.md.
func TestEndure(t *testing.T) {
	length, err := time.ParseDuration(os.Getenv("GCLOG_ENDURE"))
	if err != nil {
		t.Skip("make endure (GCLOG_ENDURE=1h)")
	}
	shared := recordings.Find()
	switch {
	case shared == "":
		t.Skip("no folder of shared recordings: set GCLOG_SHARED to its path")
	case os.Getpid() > 10:
		t.Skip("only in a pid namespace of its own, as make endure runs it: the daemon logs every program that it sees")
	}
	seed := extent.Seed(t)
	t.Logf("for %v, seed %d", length, seed)
	n := &node{
		t: t, rand: rand.New(rand.NewPCG(seed, 0)), gclog: program.Build(t), dir: program.SocketDir(t),
		hostile: filepath.Join(shared, "hostile"), python: program.Python(t), collector: newCollector(t, seed), metrics: reserved.Address(t),
	}
	n.folders()
	evidence.Keep(t, n.dir) // before the disk is unmounted
	n.startLoads()
	n.run(length)
	n.judge()
}

// diskSize is the size of the disk of the logs. What a run of some hours writes fits, unless
// something fills it.
const diskSize = 2 << 30

func (n *node) folders() {
	for _, d := range []string{"t", "disk", "more"} {
		if err := os.Mkdir(filepath.Join(n.dir, d), 0o755); err != nil {
			n.t.Fatal(err)
		}
	}
	if err := errors.Join(os.Chmod(n.dir, 0o755), os.Chmod(filepath.Join(n.dir, "t"), os.ModeSticky|0o777),
		unix.Mount("none", filepath.Join(n.dir, "disk"), "tmpfs", 0, fmt.Sprintf("size=%d", diskSize))); err != nil {
		n.t.Fatal(err)
	}
	n.t.Cleanup(func() { _ = unix.Unmount(filepath.Join(n.dir, "disk"), unix.MNT_DETACH) })
	config := strings.NewReplacer("DIR", n.dir, "URL", n.collector.server.URL, "METRICS", n.metrics).Replace(configuration)
	if err := os.WriteFile(n.path("gclog.yaml"), []byte(config), 0o644); err != nil {
		n.t.Fatal(err)
	}
	program.Must(n.t, n.gclog, "config", "validate", "-c", n.path("gclog.yaml"))
}

func (n *node) path(name ...string) string { return filepath.Join(append([]string{n.dir}, name...)...) }

// configuration has every output and every action. The logs of the real programs are never deleted.
const configuration = `version: 1
discovery: {interval: 500ms, listen: [DIR/port.sock]}
control: {socket: DIR/ctl.sock}
outputs:
  - {path: DIR/disk/real/%p.json, filecount: 1000, filesize: 1M, only: [{service: "real-*"}]}
  - {path: DIR/disk/crash/%p-%t.json, filecount: 3, filesize: 1M, only: [{service: "crash-*"}]}
  - {path: DIR/more/%s-%p.log, filecount: 2, filesize: 1M}
  - {path: DIR/more/%s-%p.csv, filecount: 2, filesize: 1M, only: [{service: "real-*"}]}
  - {path: DIR/more/others/%p.json, filecount: 2, filesize: 1M, only: [{user: nobody}]}
retention: {total: 1900M}
parquet: {path: "DIR/more/fleet/%d-%H.parquet", interval: 1m}
http: {listen: METRICS}
metrics: {enabled: true}
otlp: {metrics: true, logs: true, traces: true, endpoint: "URL", interval: 5s, timeout: 2s}
heap: {auto: {enabled: true, cooldown: 1m, directory: DIR/more/heap}}
recorder: {memory: 16M, directory: DIR/more/recordings}
summary: 10s
rules:
  - {name: every, when: "generation == 2", cooldown: 20s, do: [{record: {before: 2s, after: 2s}}, {log: info}]}
  - {name: ends, when: "generation == 2", cooldown: 15s, do: [{exec: {command: [/bin/cat]}}]}
  - {name: hangs, when: "generation == 2", cooldown: 30s, do: [{exec: {command: [/bin/sleep, "100"], timeout: 5s, su: {user: nobody}}}]}
  - {name: hook, when: "generation == 2", cooldown: 5s, do: [{webhook: {url: "URL/hook"}}]}
  - {name: heap, when: "generation == 2", cooldown: 1m, do: [{heap_snapshot: true}]}
  - {name: more, event: gap, cooldown: 1m, do: [{level: {to: full, for: 10s}}]}
  - {name: exits, event: exit, do: [{log: info}]}
`

// startLoads starts one real program of each kind of runtime.
func (n *node) startLoads() {
	n.t.Helper()
	for i, of := range []struct{ runtime, flavour string }{{"net8", "wks"}, {"net9", "svr"}, {"net10", "wks-nc"}, {"net11", "datas"}, {"aot10", "wks"}} {
		r, err := gcload.SharedNamed(of.runtime)
		if err != nil || r == nil {
			n.t.Fatalf("no runtime %s: %v", of.runtime, err)
		}
		if err := r.Unpack(); err != nil {
			n.t.Fatal(err)
		}
		cmd := exec.Command(r.Program(of.flavour), "churn", "--rate", "40", "--live", "10", "--loh", "5", "--threads", "2", "--seed", fmt.Sprint(i), "--quiet")
		cmd.Env = append(r.Environment(os.Environ(), of.flavour, "GCgen0size=1000000"), "TMPDIR="+n.path("t"), "OTEL_SERVICE_NAME=real-"+of.runtime)
		p, err := gcload.StartCommand(cmd)
		if err != nil {
			n.t.Fatal(err)
		}
		n.t.Cleanup(p.Kill)
		n.loads = append(n.loads, p)
	}
}

// run lets everything happen for some time. In the second half the daemon is not killed any more, so
// that its memory can be judged.
func (n *node) run(length time.Duration) {
	end := time.Now().Add(length)
	half := time.Now().Add(length / 2)
	var others sync.WaitGroup
	for i, do := range []func(*rand.Rand, time.Time){n.hostileOnes, n.hostileOnes, n.hostileOnes, n.crashing, n.fillDisk, n.scrape} {
		r := rand.New(rand.NewPCG(n.rand.Uint64(), uint64(i)))
		others.Go(func() { do(r, end) })
	}
	n.startDaemon()
	for time.Now().Before(half) {
		time.Sleep(time.Until(earlier(half, time.Now().Add(time.Duration(20+n.rand.IntN(60))*time.Second))))
		n.endDaemon([]syscall.Signal{syscall.SIGKILL, syscall.SIGTERM}[n.rand.IntN(2)])
		n.startDaemon()
	}
	memory := n.watchMemory(end)
	others.Wait()
	n.t.Logf("%d lives of the daemon", n.lives())
	n.judgeMemory(memory)
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

func (n *node) startDaemon() {
	said, err := os.OpenFile(n.path("daemon.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		n.t.Fatal(err)
	}
	defer said.Close()
	cmd := exec.Command(n.gclog, "daemon", "-c", n.path("gclog.yaml"))
	cmd.Dir, cmd.Stdout, cmd.Stderr = n.dir, said, said
	cmd.Env = append(os.Environ(), "TMPDIR="+n.path("more"))
	if err := cmd.Start(); err != nil {
		n.t.Fatal(err)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.daemon = cmd
}

func (n *node) endDaemon(s syscall.Signal) {
	n.mu.Lock()
	defer n.mu.Unlock()
	_ = n.daemon.Process.Signal(s)
	err := n.daemon.Wait()
	if s == syscall.SIGTERM && err != nil {
		n.t.Errorf("a daemon that was told to end ended with %v", err)
	}
}

// lives counts the daemons, by their first messages.
func (n *node) lives() int {
	said, _ := os.ReadFile(n.path("daemon.log"))
	if strings.Contains(string(said), "panic") || strings.Contains(string(said), "fatal error") {
		n.t.Error("a daemon has panicked: daemon.log")
	}
	return strings.Count(string(said), "gclog daemon started") + strings.Count(string(said), `"message":"started`)
}

// hostileOnes starts one hostile program of nobody after the other.
func (n *node) hostileOnes(r *rand.Rand, end time.Time) {
	names := n.scenarios()
	for time.Now().Before(end) {
		name := names[r.IntN(len(names))]
		seconds := 10 + r.IntN(20)
		args := []string{
			"--reuid", "65534", "--regid", "65534", "--clear-groups", n.python, filepath.Join(n.hostile, "fake.py"), name,
			"--dir", n.path("t"), "--name", "real-net8", "--seconds", fmt.Sprint(seconds),
		}
		// On a starved host some do not notice that their time is over.
		ctx, cancel := context.WithTimeout(n.t.Context(), time.Duration(seconds)*time.Second+time.Minute)
		cmd := exec.CommandContext(ctx, "setpriv", args...)
		cmd.Dir = n.path("t")
		cmd.Env = append(os.Environ(), "TMPDIR="+n.path("t"), "OTEL_SERVICE_NAME=real-net8")
		if r.IntN(2) == 0 { // its logs are those of a service of its own
			cmd.Env = append(os.Environ(), "TMPDIR="+n.path("t"), "OTEL_SERVICE_NAME="+name)
		}
		if cmd.Run() == nil || ctx.Err() != nil {
			n.attacks.Add(1)
		}
		cancel()
	}
}

// scenarios lists what hostile programs do, but for those that need a file.
func (n *node) scenarios() []string {
	out, err := exec.Command(n.python, filepath.Join(n.hostile, "fake.py"), "list").Output()
	if err != nil {
		n.t.Fatal(err)
	}
	var names []string
	for line := range strings.Lines(string(out)) {
		if f := strings.Fields(line); len(f) > 0 && f[0] != "echo" {
			names = append(names, f[0])
		}
	}
	return names
}

// crashing starts a program each second, which crashes within a second.
func (n *node) crashing(r *rand.Rand, end time.Time) {
	load, err := gcload.FromRepository()
	if err != nil {
		n.t.Error(err)
		return
	}
	second := time.NewTicker(time.Second)
	defer second.Stop()
	for i := 0; time.Now().Before(end); i++ {
		cmd := exec.Command(load.Program("wks"), "churn", "--rate", "20", "--live", "1", "--quiet")
		cmd.Env = append(load.Environment(os.Environ(), "wks", "GCgen0size=100000", "DbgEnableMiniDump=0"), "TMPDIR="+n.path("t"), fmt.Sprintf("OTEL_SERVICE_NAME=crash-%d", i%10))
		if p, err := gcload.StartCommand(cmd); err == nil {
			time.Sleep(time.Duration(r.IntN(800)) * time.Millisecond)
			_ = p.Signal([]syscall.Signal{syscall.SIGKILL, syscall.SIGABRT, syscall.SIGSEGV}[r.IntN(3)])
			p.Kill()
		}
		<-second.C
	}
}

// fillDisk fills the disk of the logs now and then.
func (n *node) fillDisk(r *rand.Rand, end time.Time) {
	ballast := n.path("disk", "ballast")
	defer os.Remove(ballast)
	for time.Now().Before(end.Add(-30 * time.Second)) {
		time.Sleep(time.Duration(20+r.IntN(40)) * time.Second)
		f, err := os.Create(ballast)
		if err != nil {
			continue
		}
		zeros := make([]byte, 1<<20)
		for size := len(zeros); size > 0; {
			if _, err := f.Write(zeros[:size]); err != nil {
				size /= 2
			}
		}
		_ = f.Close()
		time.Sleep(time.Duration(1+r.IntN(8)) * time.Second)
		_ = os.Remove(ballast)
	}
}

// scrape reads the metrics now and then.
func (n *node) scrape(_ *rand.Rand, end time.Time) {
	client := http.Client{Timeout: time.Minute}
	for ; time.Now().Before(end); time.Sleep(2 * time.Second) {
		answer, err := client.Get("http://" + n.metrics + "/metrics")
		if err != nil {
			continue // it was killed
		}
		if _, err := io.Copy(io.Discard, answer.Body); err == nil && answer.StatusCode == http.StatusOK {
			n.scrapes++
		}
		_ = answer.Body.Close()
	}
}

// watchMemory notes what memory the daemon takes, in kB.
func (n *node) watchMemory(end time.Time) (kb []int) {
	for ; time.Now().Before(end); time.Sleep(time.Second) {
		kb = append(kb, residentKB(n.daemon.Process.Pid))
	}
	return kb
}

// residentKB returns the memory of a process, in kB.
func residentKB(pid int) (kb int) {
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	_, rest, _ := strings.Cut(string(b), "VmRSS:")
	_, _ = fmt.Sscan(rest, &kb)
	return kb
}

// judgeMemory: what the daemon takes does not grow.
func (n *node) judgeMemory(kb []int) {
	third := len(kb) / 3
	if third == 0 {
		return
	}
	early, late := slices.Clone(kb[third:2*third]), slices.Clone(kb[2*third:])
	slices.Sort(early)
	slices.Sort(late)
	was, is := early[len(early)/2], late[len(late)/2]
	n.t.Logf("memory: %d MB in the second third of the last life, %d MB in the last; at most %d MB", was>>10, is>>10, slices.Max(kb)>>10)
	if is > was+was/4+16<<10 {
		n.t.Error("the memory of the daemon grows")
	}
}

// judge ends everything in the right order, and checks what was written.
func (n *node) judge() {
	counted := map[int]uint32{}
	for _, p := range n.loads {
		if err := p.StandStill(); err != nil {
			n.t.Errorf("a program was harmed: %v", err)
			continue
		}
		l, err := p.Mark("end")
		if err != nil {
			n.t.Error(err)
			continue
		}
		counted[p.PID] = uint32(l.Gen0)
		if err := p.Exit(0); err != nil {
			n.t.Errorf("a program was harmed: %v", err)
		}
	}
	n.endDaemon(syscall.SIGTERM)
	for pid, last := range counted {
		l, err := readLedger(n.path("disk", "real"), pid)
		if err != nil {
			n.t.Error(err)
			continue
		}
		l.judge(n.t, last)
	}
	crashes, _ := filepath.Glob(n.path("disk", "crash", "*.json"))
	n.t.Logf("%d logs of programs that crashed; the collector received %d requests; %d scrapes; %d hostile programs", len(crashes), n.collector.requests.Load(), n.scrapes, n.attacks.Load())
	if len(crashes) == 0 || n.attacks.Load() == 0 || n.collector.requests.Load() == 0 || n.scrapes == 0 {
		n.t.Error("not everything has happened")
	}
}
