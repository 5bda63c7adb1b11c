//go:build linux

package live

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/gclog/gclog/internal/config"
	"github.com/gclog/gclog/internal/daemon"
	"github.com/gclog/gclog/internal/host"
	"github.com/gclog/gclog/internal/testing/extent"
	"github.com/gclog/gclog/internal/testing/gcload"
	"github.com/gclog/gclog/internal/testing/program"
	"github.com/rs/zerolog"
)

// TestLiveHeapAuto: while a program leaks, the daemon takes heap snapshots of it, keeps the latest,
// and reports the types that leak. Nothing happens while the heap stays as it is.
func TestLiveHeapAuto(t *testing.T) {
	extent.Long(t)
	t.Parallel() // it spends most of its time waiting
	for _, r := range runtimes(t) {
		t.Run(r.Name, func(t *testing.T) {
			t.Parallel()
			liveHeapAuto(t, r)
		})
	}
}

// A growthRecord is a record of a heap that grows.
type growthRecord struct {
	Event  struct{ Action string }
	Dotnet struct {
		Heap struct {
			Snapshots []struct{ File string }
			Growth    []growthOfType
		}
	}
}

type growthOfType struct {
	Type      string
	Objects   int
	Diff      int  `json:"objects_diff"`
	EveryTime bool `json:"grew_every_time"`
}

func liveHeapAuto(t *testing.T, r *gcload.Runtime) {
	const leaked = 20000 // each time; with an array of 1000 bytes each
	p, err := r.Start(program.SocketDir(t), "wks", nil, "idle", "--quiet")
	if err != nil {
		t.Fatal(err)
	}
	defer p.Kill()
	dir := t.TempDir()
	said, socket := runDaemonFor(t, dir, p.PID)
	log := filepath.Join(dir, "a.json")
	program.WaitForFile(t, log, "gc-session-start")
	send := func(commands ...string) {
		t.Helper()
		for _, c := range commands {
			if _, err := p.Send(c); err != nil {
				t.Fatal(err)
			}
		}
	}
	const collect = "gc 2 forced true true"
	// grow leaks, and has the program collect until something happens: it may take several collections
	// until all that leaks is in gen2, and those of a snapshot do not count.
	grow := func(what string, happens func() bool) {
		t.Helper()
		send(fmt.Sprintf("leak %d", leaked))
		program.Eventually(t, what, func() bool {
			send(collect)
			return happens()
		})
	}
	files := func() (list []string) {
		list, _ = filepath.Glob(filepath.Join(dir, "heap", fmt.Sprintf("*-%d-*.gcdump", p.PID)))
		return list
	}
	grown := func() (list []growthRecord) {
		b, _ := os.ReadFile(log)
		for line := range bytes.Lines(b) {
			var r growthRecord
			if json.Unmarshal(line, &r) == nil && r.Event.Action == "gc-heap-growth" {
				list = append(list, r)
			}
		}
		return list
	}
	send(collect, collect, collect)
	if p.Ready.AOT && r.Major < 10 { // its heap cannot be walked
		send(fmt.Sprintf("leak %d", leaked), collect, collect, collect)
		if list := files(); len(list) != 0 || strings.Contains(said.String(), "heap") {
			t.Errorf("%q\n%s", list, said)
		}
		return
	}
	grow("the first snapshot", func() bool { return strings.Contains(said.String(), ".gcdump: ") })
	first := files()[0]
	for i := range 2 {
		grow("another snapshot", func() bool { return len(grown()) > i })
	}
	if info, err := os.Stat(files()[0]); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("%v, %v", info, err)
	}
	if list := files(); len(list) != 2 || slices.Contains(list, first) {
		t.Errorf("%q are kept, want 2 without %s", list, first)
	}
	list := grown()
	last := &list[len(list)-1].Dotnet.Heap
	item := slices.IndexFunc(last.Growth, func(g growthOfType) bool { return strings.HasSuffix(g.Type, "LeakedItem") })
	if item < 0 {
		t.Fatalf("no LeakedItem in %+v", last)
	}
	if g := last.Growth[item]; g.Diff != 2*leaked || g.Objects != 3*leaked || !g.EveryTime || len(last.Snapshots) != 3 {
		t.Errorf("%+v in %d snapshots", g, len(last.Snapshots))
	}
	if !strings.Contains(said.String(), "since the first heap snapshot ") {
		t.Errorf("the daemon says\n%s", said)
	}
	want := fmt.Sprintf(`process %d: heap snapshot at .*: %s`, p.PID, regexp.QuoteMeta(files()[1]))
	if out, err := exec.Command("gclog", "ctl", "status", "--socket", socket).CombinedOutput(); err != nil || !regexp.MustCompile(want).Match(out) {
		t.Errorf("gclog ctl status: %v: %s, want %s", err, out, want)
	}
	if err := p.Exit(0); err != nil {
		t.Error(err)
	}
}

// A saidLog is the daemon's own log.
type saidLog struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *saidLog) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(b)
}

func (s *saidLog) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// runDaemonFor runs a daemon in this process that logs one process to a.json, with a cooldown shorter
// than a configuration may have. It returns the daemon's log and its control socket.
func runDaemonFor(t *testing.T, dir string, pid int) (said *saidLog, socket string) {
	t.Helper()
	socket = filepath.Join(program.SocketDir(t), "ctl")
	file := filepath.Join(dir, "gclog.yaml")
	text := fmt.Sprintf("discovery: {interval: 200ms, include: [{pid: %d}]}\noutputs: [{path: %s/a.json}]\ncontrol: {socket: %s}\nheap: {auto: {enabled: true, growth: 5%%, collections: 2, keep: 2}}\n", pid, dir, socket)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	load := func() (*config.Loaded, error) { return config.Load(file, nil) }
	loaded, err := load()
	if err != nil {
		t.Fatal(err)
	}
	loaded.Heap.Auto.Cooldown = 1
	said = &saidLog{}
	d := daemon.New(daemon.Options{
		Config: loaded, Load: load, Log: zerolog.New(said), Version: "test", Session: "test", Processes: &host.Host{},
		Environ: []string{"GOCOVERDIR=" + os.Getenv("GOCOVERDIR"), "GORACE=" + os.Getenv("GORACE")},
		Explain: func(_ context.Context, _ *host.Target, err error) error { return err },
	})
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- d.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if t.Failed() {
			t.Logf("the daemon said:\n%s", said)
		}
	})
	return said, socket
}
