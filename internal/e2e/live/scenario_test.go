//go:build linux

package live

import (
	"bytes"
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gclog/gclog/gclog/analysis"
	"github.com/gclog/gclog/internal/testing/gcload"
	"github.com/gclog/gclog/internal/testing/program"
	"github.com/gclog/gclog/internal/testing/recordings"
)

// A scenario is a program with one known trouble, or none, and the finding that names it.
type scenario struct {
	args       string // of the load program
	flavour    string
	knobs      string // of the runtime
	processors bool   // shows the program four processors, see testdata/processors.c
	alone      bool   // other scenarios would take too much of the processors' time
	calm       bool   // it cannot be seen where the host is too busy, and is skipped there
	watched    time.Duration
	want       string // a rule; "": no warning but those of a busy host

	before func(*testing.T, *gcload.Process)                  // happens before gclog attaches
	during func(context.Context, *testing.T, *gcload.Process) // happens until gclog detaches
}

func scenarios() []scenario {
	const usual = 75 * time.Second
	return []scenario{
		{args: "scenario idle", flavour: "wks", watched: usual},
		{args: "scenario pinning", flavour: "wks", watched: usual, want: "pinning"},
		{args: "scenario finalizers", flavour: "wks", watched: usual, want: "finalizer-backlog"},
		{args: "scenario dependent-handles", flavour: "wks", watched: usual, want: "dependent-handles"},
		{args: "scenario handle-leak --scale 4", flavour: "wks", knobs: "GCgen0size=400000 GCGen0MaxBudget=400000", watched: usual, want: "handle-leak"},
		{args: "scenario native-leak", flavour: "wks", watched: usual, want: "native-growth"},
		{args: "scenario leak --scale 4", flavour: "wks", watched: usual, want: "memory-growth"},
		// A gen0 as small as this one is collected several times a second also if the program gets few
		// of the processors' time: suspensions take long by chance, so that there must be many.
		{args: "scenario busy", flavour: "svr", knobs: "GCgen0size=100000 GCGen0MaxBudget=100000", watched: usual, want: "long-suspension"},
		// The same with threads that come after all others: those that collect in server GC, and those of
		// the load that allocate and collect in workstation GC. There must be so many others that what the
		// host does besides is little.
		{args: "scenario busy --wait", flavour: "svr", knobs: "GCgen0size=100000 GCGen0MaxBudget=100000", watched: usual, want: "late-start", during: hinder(".NET Server GC")},
		{args: "scenario busy --wait", flavour: "wks", knobs: "GCgen0size=100000 GCGen0MaxBudget=100000 PROCESSOR_COUNT=" + strconv.Itoa(4*runtime.NumCPU()), alone: true, watched: usual, want: "long-resume", during: hinder("gcload-scenario")},
		{args: "alloc --rate 100 --threads 1", flavour: "wks", knobs: "GCgen0size=100000 GCGen0MaxBudget=100000", watched: usual / 3, want: "high-allocation-rate"},
		// A gen0 as large as that of a processor with much cache, for a heap that is almost empty.
		{args: "churn --rate 400 --live 1 --threads 2", flavour: "svr", knobs: "GCgen0size=10000000 GCGen0MaxBudget=10000000", watched: usual, want: "peak-over-after"},
		// Nothing survives, so that gen1 is collected when its time has come: ten times, which takes 100 s.
		{args: "alloc --rate 2 --threads 1", flavour: "wks", knobs: "GCgen0size=40000 GCGen0MaxBudget=40000", watched: 2 * usual, want: "time-tuning"},
		// Only server GC lets gen2 get so fragmented, and only with one heap are all regions of gen2 shared
		// by what stays and what goes.
		{args: "churn --rate 3 --live 20 --threads 1", flavour: "svr", knobs: "GCHeapCount=1", watched: usual / 3, want: "gen2-fragmentation", before: fragment, during: fillAndDrop},
		// All that survives hangs on one array, which belongs to one heap.
		{args: "churn --rate 120 --threads 1", flavour: "svr", knobs: "GCHeapCount=4 GCgen0size=1000000 GCGen0MaxBudget=1000000", processors: true, watched: usual, want: "heap-imbalance"},
		// DATAS takes heaps away when pauses take little of the time, which they never do on a busy host.
		{args: "scenario healthy", flavour: "datas", knobs: "GCgen0size=100000 GCGen0MaxBudget=400000", alone: true, calm: true, watched: usual, want: "heap-count-changes", during: comeAndGo},
		{args: "scenario healthy", flavour: "wks", watched: usual, want: "process-end", during: crash},
	}
}

// order makes the load program do something.
func order(t *testing.T, p *gcload.Process, commands ...string) {
	t.Helper()
	for _, c := range commands {
		if _, err := p.Send(c); err != nil {
			t.Fatal(err)
		}
	}
}

// fragment makes a gen2 of some 300 MB of which only what the load keeps remains, everywhere in it,
// and ends the load.
func fragment(t *testing.T, p *gcload.Process) {
	for range 100 {
		order(t, p, "leak 3000")
		time.Sleep(50 * time.Millisecond)
	}
	const full = "gc 2 forced true true"
	order(t, p, "stop", full, full) // what was in gen0 is in gen2 after two
	inBackground(t, p)              // the first one may become a blocking one, which leaves no free space
	order(t, p, "drop")
	inBackground(t, p)
}

// inBackground makes the program collect gen2 in the background, and waits for the end.
func inBackground(t *testing.T, p *gcload.Process) {
	ended := func() (number int) {
		mark, err := p.Mark(strconv.FormatInt(time.Now().UnixNano(), 10))
		if err != nil {
			t.Fatal(err)
		}
		index := struct{ Background *int }{&number}
		if err := json.Unmarshal(mark.Index, &index); err != nil {
			t.Fatal(err)
		}
		return number
	}
	before := ended()
	order(t, p, "gc 2 forced false false")
	program.Eventually(t, "a background collection to end", func() bool { return ended() > before })
}

// fillAndDrop is a cache that grows old and is dropped: a background collection each time.
func fillAndDrop(ctx context.Context, t *testing.T, p *gcload.Process) {
	for ctx.Err() == nil {
		order(t, p, "leak 15000", "gc 1 forced true false", "gc 1 forced true false", "drop", "gc 1 forced true false")
		time.Sleep(time.Second)
	}
}

// comeAndGo is a load that needs more heaps for a moment, and then so few for so long that DATAS takes
// them away: it looks at some thirty collections first.
func comeAndGo(ctx context.Context, t *testing.T, p *gcload.Process) {
	for ctx.Err() == nil {
		order(t, p, "leak 20000", "leak 20000", "leak 20000", "leak 20000", "leak 20000", "drop")
		time.Sleep(5 * time.Second)
	}
}

// hinder gives the first two threads of a name a low priority, and starts the load.
func hinder(name string) func(context.Context, *testing.T, *gcload.Process) {
	return func(_ context.Context, t *testing.T, p *gcload.Process) {
		files, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/comm", p.PID))
		if err != nil {
			t.Fatal(err)
		}
		var threads []int
		for _, file := range files {
			if b, err := os.ReadFile(file); err != nil || string(b) != name+"\n" {
				continue
			}
			id, err := strconv.Atoi(filepath.Base(filepath.Dir(file)))
			if err != nil {
				t.Fatal(err)
			}
			threads = append(threads, id)
		}
		if len(threads) < 2 {
			t.Fatalf("the program has %d threads %q", len(threads), name)
		}
		slices.Sort(threads)
		for _, id := range threads[:2] {
			if err := syscall.Setpriority(syscall.PRIO_PROCESS, id, 15); err != nil {
				t.Fatal(err)
			}
		}
		order(t, p, "start")
	}
}

// crash makes the program abort.
func crash(_ context.Context, _ *testing.T, p *gcload.Process) {
	_, _ = p.Send("crash") // which has no answer
}

// TestLiveScenarios runs programs with one known trouble each under gclog attach, and compares what
// gclog summary finds. No recording of the tests is long enough for these findings, or has their cause.
func TestLiveScenarios(t *testing.T) {
	if !everyCell() {
		t.Skip("takes minutes: make live runs it")
	}
	r, err := gcload.SharedNamed("net10")
	if r == nil || err != nil {
		t.Skipf("no runtime net10: it is in the folder of shared recordings, set GCLOG_SHARED to its path (%v)", err)
	}
	if err := r.Unpack(); err != nil {
		t.Fatal(err)
	}
	for _, s := range scenarios() {
		t.Run(cmp.Or(s.want, "nothing"), func(t *testing.T) {
			if !s.alone {
				t.Parallel()
			}
			liveScenario(t, r, s)
		})
	}
}

func liveScenario(t *testing.T, r *gcload.Runtime, s scenario) {
	load := exec.Command(r.Program(s.flavour), append(strings.Fields(s.args), "--quiet")...)
	load.Env = append(r.Environment(os.Environ(), s.flavour, strings.Fields(s.knobs)...), "TMPDIR="+program.SocketDir(t))
	load.Dir = t.TempDir() // for a core file
	if s.processors {
		load.Env = append(load.Env, "LD_PRELOAD="+fourProcessors(t))
	}
	p, err := gcload.StartCommand(load)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Kill()
	if s.before != nil {
		s.before(t, p)
	}
	log := filepath.Join(t.TempDir(), "gc.json")
	cmd := exec.CommandContext(t.Context(), "gclog", "attach", strconv.Itoa(p.PID), "--for", s.watched.String(), "-o", log)
	cmd.Stderr = testOutput{t}
	ctx, detached := context.WithCancelCause(t.Context())
	go func() { detached(cmd.Run()) }()
	if s.during != nil {
		program.WaitForFile(t, log, "gc-session-start")
		s.during(ctx, t, p)
	}
	<-ctx.Done()
	if err := context.Cause(ctx); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	got := findingsOf(t, log)
	found := func(rules ...string) bool {
		return slices.ContainsFunc(got, func(f finding) bool { return slices.Contains(rules, f.Rule) })
	}
	switch ofBusyHost := []string{"long-suspension", "long-resume", "late-start"}; {
	case s.want == "":
		got = slices.DeleteFunc(got, func(f finding) bool {
			return f.Severity == "info" || slices.Contains(ofBusyHost, f.Rule)
		})
		if len(got) > 0 {
			t.Errorf("findings %v of a program without trouble", got)
		}
	case found(s.want):
	case s.calm && found(ofBusyHost...):
		t.Skipf("the host is too busy for %s: findings %v", s.want, got)
	default:
		t.Errorf("findings %v, want %s", got, s.want)
	}
}

//go:embed testdata/processors.c
var processors []byte

// fourProcessors compiles the library that shows a program four processors, which server GC needs for
// as many heaps.
func fourProcessors(t *testing.T) string {
	program.Needs(t, "gcc")
	library := filepath.Join(t.TempDir(), "processors.so")
	cmd := exec.Command("gcc", "-shared", "-fPIC", "-x", "c", "-o", library, "-")
	cmd.Stdin = bytes.NewReader(processors)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return library
}

// recorded has a recording of a real program for each rule that no scenario is for.
var recorded = map[string]string{
	"background-behind": "net10-datas-churn",
	"blocking-gen2":     "net10-wks-induced",
	"data-quality":      "stall",
	"hard-limit":        "net10-hardlimit-tight",
	"high-pause-share":  "net10-svr-bgc",
	"high-survival":     "net10-wks-churn",
	"induced-gcs":       "net10-wks-induced",
	"loh-fragmentation": "svrb",
	"loh-pressure":      "svrb",
	"long-pause":        "net11-svr-attach",
	"memory-load-gen2":  "net10-wks-highmem",
	"mid-life-crisis":   "net11-svr-verbose",
	"poh-misuse":        "net9-datas-fast",
	"provisional-mode":  "net10-wks-provisional",
	"random-slow-gc":    "core31-svr-churn",
	"small-gen0":        "net10-datas-fast",
	"too-many-gen1":     "net10-hardlimit-tight",
	"too-many-gen2":     "net10-svr-churn",
	"wrong-flavour":     "net10-svr-rundown",
}

// TestLiveRules: every rule finds something in a real program, because a rule that asks for what a
// runtime never does is wrong. Scenarios show it live, recordings here.
func TestLiveRules(t *testing.T) {
	shared := recordings.Find()
	if !everyCell() || shared == "" {
		t.Skip("make live reads the shared recordings, set GCLOG_SHARED to their path")
	}
	var live []string
	for _, s := range scenarios() {
		live = append(live, s.want)
	}
	for _, r := range analysis.Rules() {
		if slices.Contains(live, r.ID) {
			continue
		}
		files, err := filepath.Glob(filepath.Join(shared, "traces", recorded[r.ID]+".nettrace*"))
		if err != nil || len(files) != 1 {
			t.Errorf("%s: no scenario, and not a recording %q: %v", r.ID, recorded[r.ID], err)
			continue
		}
		if got := findingsOf(t, files[0]); !slices.ContainsFunc(got, func(f finding) bool { return f.Rule == r.ID }) {
			t.Errorf("findings %v in %s, want %s", got, recorded[r.ID], r.ID)
		}
	}
}

type finding struct{ Rule, Severity string }

// findingsOf returns what gclog summary finds in a log.
func findingsOf(t *testing.T, log string) []finding {
	t.Helper()
	cmd := exec.Command("gclog", "summary", "-f", "json", log)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var document struct {
		DotNET struct {
			GC struct {
				Findings []finding
			}
		}
	}
	if err := json.Unmarshal(out, &document); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return document.DotNET.GC.Findings
}
