//go:build linux

package live

import (
	"bufio"
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/internal/attach"
	"github.com/gclog/gclog/internal/host"
	"github.com/gclog/gclog/internal/output"
	"github.com/gclog/gclog/internal/testing/extent"
	"github.com/gclog/gclog/internal/testing/gcload"
	"github.com/gclog/gclog/internal/testing/program"
	"github.com/gclog/gclog/parse"
	"github.com/gclog/gclog/parse/clr"
	"github.com/gclog/gclog/session"
)

// TestLiveAttach attaches to each runtime in each flavour and compares everything that gclog writes
// with the program's own account.
func TestLiveAttach(t *testing.T) {
	extent.Long(t)
	for _, c := range cells(t) {
		t.Run(c.String(), func(t *testing.T) { liveAttach(t, c.Runtime, c.flavour) })
	}
}

// tries is the number of attempts at a measurement that a busy machine may disturb. There are many,
// so that a machine on which most are disturbed does not fail the test.
const tries = 12

func liveAttach(t *testing.T, r *gcload.Runtime, flavour string) {
	for range tries {
		if attachUnderLoad(t, r, flavour) || t.Failed() {
			return
		}
	}
	t.Errorf("the collections or pauses are not those that the program counts, %d times over", tries)
}

// attachUnderLoad reports whether there are as many collections as the program says, with pauses as
// long: that is not so if the program lost its processor between the event, or the reading of its
// counters, and the reading of its clock.
func attachUnderLoad(t *testing.T, r *gcload.Runtime, flavour string) bool {
	dir := t.TempDir()
	knobs, args := program.Load(r, flavour)
	p, err := r.Start(program.SocketDir(t), flavour, knobs, append(args, "--wait")...)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Kill()
	path := func(name string) string { return filepath.Join(dir, name) }
	cmd := exec.Command("gclog", "attach", strconv.Itoa(p.PID), "--record", path("gc.nettrace"),
		"-o", path("gc.json"), "-o", path("gc.log"), "-o", path("gc8.log"), "-o", path("gc.csv"),
		"--format", "json", "--format", "unified", "--format", "jdk8", "--format", "csv", "--filecount", "0")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Process.Kill() }()
	program.WaitForFile(t, path("gc.json"), "gc-session-start")

	begin, end := work(t, p)
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil || complains(stderr.String()) {
		t.Fatalf("gclog ended with %v and said %q", err, stderr.String())
	}
	log := readLog(t, path("gc.json"), path("gc.nettrace"))
	equal := log.compareCounters(t, begin, end)
	log.compareCollections(t, p.Lines(), begin, end)
	log.compareFiles(t, path("gc.log"), path("gc8.log"), path("gc.csv"))
	// NativeAOT does not report its flavour, and names its threads from .NET 10 on.
	hidden := r.AOT && r.Major < 10
	if want := map[bool]string{true: "server", false: "workstation"}[p.Ready.Server]; log.flavour() != want && !(hidden && log.flavour() == "unknown") {
		t.Errorf("the log says %s GC, the program %s", log.flavour(), want)
	}
	if log.runtime != p.Ready.Runtime {
		t.Errorf("the log says runtime %s, the program %s", log.runtime, p.Ready.Runtime)
	}
	return equal
}

// work makes the program work between two marks.
func work(t *testing.T, p *gcload.Process) (begin, end *gcload.Line) {
	t.Helper()
	fatal := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	begin, err := p.Mark("a")
	fatal(err)
	_, err = p.Send("start")
	fatal(err)
	n := 0
	_, err = p.Wait(time.Minute, func(l *gcload.Line) bool {
		if l.Event == "gc" {
			n++
		}
		return n >= 25
	})
	fatal(err)
	fatal(p.StandStill())
	end, err = p.Mark("b")
	fatal(err)
	return begin, end
}

// A liveLog is a JSON log with times in ticks of the runtime's clock.
type liveLog struct {
	gcs         []liveGC
	suspensions []livePause
	gaps        []string
	server      *bool
	runtime     string
}

type livePause struct {
	begin, ns int64 // ticks, nanoseconds
	number    uint32
}

type liveGC struct {
	start        int64 // ticks
	background   bool
	Number       uint32
	Generation   int
	Type         string
	Compacting   bool
	Complete     bool
	Flaws        []string
	Allocated    unit
	Heap         struct{ Before, After, Promoted, Fragmentation unit }
	Gen0         liveGeneration
	Gen1         liveGeneration
	Gen2         liveGeneration
	LOH          liveGeneration
	POH          liveGeneration
	Pinned       unit
	Finalization struct{ Count uint64 }
	HeapCount    int    `json:"heap_count"`
	HeapDumpBy   string `json:"heap_dump_by"`
	Pause        struct {
		Parts []struct {
			Start           time.Time
			NS              int64
			Suspend, Resume unit
		}
	}
}

type unit struct {
	Bytes, Count uint64
	NS           int64
}

type liveGeneration struct {
	Before, After, Fragmentation unit
	FreeBefore                   unit `json:"free_before"`
}

func (d *liveGC) generations() []liveGeneration {
	return []liveGeneration{d.Gen0, d.Gen1, d.Gen2, d.LOH, d.POH}
}

// readLog reads a JSON log; the recording of the same session provides its clock.
func readLog(t *testing.T, path, recording string) *liveLog {
	t.Helper()
	f, err := os.Open(recording)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	trace, err := parse.NewReader(f, parse.None).ReadTrace()
	if err != nil {
		t.Fatal(err)
	}
	ticks := func(at time.Time) int64 { return trace.SyncTicks + at.Sub(trace.SyncTime).Nanoseconds() }
	return parseLog(t, path, ticks)
}

func parseLog(t *testing.T, path string, ticks func(time.Time) int64) *liveLog {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	log := &liveLog{}
	for line := range bytes.Lines(b) {
		var rec struct {
			Event struct {
				Action     string
				Start, End time.Time
				Duration   int64
				Reason     string
			}
			DotNet struct {
				Runtime struct{ Version string }
				GC      json.RawMessage
			}
		}
		if err := json.Unmarshal(line, &rec); err != nil {
			t.Fatalf("%s: %v in %s", path, err, line)
		}
		switch rec.Event.Action {
		case "gc":
			var d liveGC
			if err := json.Unmarshal(rec.DotNet.GC, &d); err != nil {
				t.Fatal(err)
			}
			d.start, d.background = ticks(rec.Event.Start), d.Type == "background"
			log.gcs = append(log.gcs, d)
		case "gc-suspension":
			var d struct{ Number uint32 }
			if err := json.Unmarshal(rec.DotNet.GC, &d); err != nil {
				t.Fatal(err)
			}
			log.suspensions = append(log.suspensions, livePause{ticks(rec.Event.Start), rec.Event.Duration, d.Number})
		case "gc-gap":
			log.gaps = append(log.gaps, string(line))
		case "gc-session-start":
			var d struct{ Settings struct{ Server *bool } }
			if err := json.Unmarshal(rec.DotNet.GC, &d); err != nil {
				t.Fatal(err)
			}
			log.server, log.runtime = d.Settings.Server, rec.DotNet.Runtime.Version
		}
	}
	if len(log.gcs) == 0 {
		t.Fatalf("no collection in %s", path)
	}
	return log
}

func (log *liveLog) flavour() string {
	switch {
	case log.server == nil:
		return "unknown"
	case *log.server:
		return "server"
	}
	return "workstation"
}

// compareCounters: between the marks there are as many collections as the program counts, nothing
// is missing, and the suspensions are as long as the program measured, whose measurement starts a
// little later and stops a little earlier. It reports whether numbers and times are equal.
func (log *liveLog) compareCounters(t *testing.T, begin, end *gcload.Line) bool {
	t.Helper()
	if len(log.gaps) > 0 {
		t.Errorf("something is missing: %s", log.gaps)
	}
	var counts [3]int
	var ns, paused int64
	for _, d := range log.gcs {
		if d.start > begin.QPC && d.start < end.QPC {
			for g := 0; g <= d.Generation; g++ {
				counts[g]++
			}
			// A background collection may still be in progress when the log ends.
			if goesOn := d.background && slices.Contains(d.Flaws, "cut-off"); !d.Complete && !goesOn {
				t.Errorf("#%d is not complete: %v", d.Number, d.Flaws)
			}
		}
		for _, p := range d.Pause.Parts {
			ns += p.NS
			paused += p.NS - p.Suspend.NS - p.Resume.NS
		}
	}
	for _, s := range log.suspensions {
		if s.begin > begin.QPC && s.begin < end.QPC {
			ns += s.ns
			if s.number != 0 {
				counts[0], counts[1], counts[2] = counts[0]+1, counts[1]+1, counts[2]+1
			}
		}
	}
	if want := [3]int{end.Gen0 - begin.Gen0, end.Gen1 - begin.Gen1, end.Gen2 - begin.Gen2}; counts != want {
		t.Logf("%v collections of gen0, 1, 2 and up between the marks, the program counts %v", counts, want)
		return false
	}
	if begin.PauseTotal == nil {
		return true // .NET Core 3.1 does not count them
	}
	// The program's measurement starts later and stops earlier: on an idle machine ours is 1.00 to
	// 1.12 times as long. Where threads compete for the processors, suspending and resuming take
	// longer, and a thread may lose its processor between the event and the reading of the clock:
	// once ours was 0.998 times as long.
	total := (*end.PauseTotal - *begin.PauseTotal) * 1000
	t.Logf("%d collections, pauses %.3f times those that the program counts", counts[0], float64(ns)/total)
	if float64(ns) < total*0.98-1e6 || float64(paused) > total*1.12 {
		t.Logf("pauses of %d ns in all, %d without suspending and resuming, the program counts %.0f", ns, paused, total)
		return false
	}
	return true
}

// compareCollections: each collection that the program saw has the same sizes in the log.
func (log *liveLog) compareCollections(t *testing.T, lines []gcload.Line, begin, end *gcload.Line) {
	t.Helper()
	byNumber := map[uint32]*liveGC{}
	for i := range log.gcs {
		byNumber[log.gcs[i].Number] = &log.gcs[i]
	}
	compared := 0
	for i := range lines {
		l := &lines[i]
		if l.Event != "gc" || l.Kind == "counters" || l.Phantom || l.HeapSizeBytes == 0 || l.QPC < begin.QPC || l.QPC > end.QPC {
			continue
		}
		d := byNumber[l.Number()]
		if d == nil {
			t.Errorf("no record of #%d, which the program saw", l.Number())
			continue
		}
		compared++
		same := func(what string, got, want uint64) {
			if got != want {
				t.Errorf("#%d (%s gen%d): %s is %d, the program says %d", d.Number, d.Type, d.Generation, what, got, want)
			}
		}
		if d.Generation != l.Generation || d.background != l.Concurrent || d.Compacting != l.Compacted {
			t.Errorf("#%d: gen%d %s compacting %v, the program says gen%d %v %v", d.Number, d.Generation, d.Type, d.Compacting, l.Generation, l.Concurrent, l.Compacted)
		}
		for g, x := range d.generations() {
			name := gclog.GenerationName(g)
			same(name+" before", x.Before.Bytes, l.GenerationInfo[g].SizeBefore)
			same(name+" free before", x.FreeBefore.Bytes, l.GenerationInfo[g].FragBefore)
			same(name+" free after", x.Fragmentation.Bytes, l.GenerationInfo[g].FragAfter)
			// For a background collection the runtime determines the two sizes one after the other,
			// while the program allocates and promotes.
			if !d.background {
				same(name+" after", x.After.Bytes, l.GenerationInfo[g].SizeAfter)
			}
		}
		if !d.background {
			same("heap after", d.Heap.After.Bytes, l.HeapSizeBytes)
			same("promoted", d.Heap.Promoted.Bytes, l.PromotedBytes)
			same("pinned", d.Pinned.Count, l.PinnedObjectsCount)
			same("finalization", d.Finalization.Count, l.FinalizationPending)
		}
	}
	t.Logf("%d collections compared", compared)
}

// compareFiles: the other files of the session contain the same pauses.
func (log *liveLog) compareFiles(t *testing.T, unified, jdk8, table string) {
	t.Helper()
	want, parts := int64(0), 0
	for _, d := range log.gcs {
		for _, p := range d.Pause.Parts {
			want += p.NS
			parts++
		}
	}
	sum := func(path string, pattern *regexp.Regexp, unit float64) (ns int64, n int) {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range pattern.FindAllSubmatch(b, -1) {
			v, _ := strconv.ParseFloat(string(m[1]), 64)
			ns += int64(math.Round(v * unit))
			n++
		}
		return ns, n
	}
	check := func(path string, ns int64, n int, resolution int64) {
		if d := ns - want; n != parts || d > int64(parts)*resolution || d < -int64(parts)*resolution {
			t.Errorf("%s has %d pauses of %d ns, the JSON log %d of %d", filepath.Base(path), n, ns, parts, want)
		}
	}
	ns, n := sum(unified, regexp.MustCompile(`(?m)\[gc\] GC\(\d+\) Pause .* (\d+\.\d{3})ms$`), 1e6)
	check(unified, ns, n, 500)
	ns, n = sum(jdk8, regexp.MustCompile(`(?m)^[^\[]*\[(?:Full )?GC .*, (\d+\.\d{7}) secs\] \[Times: .*\]$`), 1e9)
	check(jdk8, ns, n, 50)
	f, err := os.Open(table)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil || len(rows) != len(log.gcs)+1 {
		t.Fatalf("%d rows in the table, %d records: %v", len(rows)-1, len(log.gcs), err)
	}
	at := slices.Index(rows[0], "PauseDurationInMilliSeconds")
	ns = 0
	for _, row := range rows[1:] {
		v, _ := strconv.ParseFloat(row[at], 64)
		ns += int64(math.Round(v * 1e6))
	}
	check(table, ns, parts, 500)
}

// TestLiveRun: with run the first collection is in the log, the exit code is the program's, and the
// program has its own standard input and output.
func TestLiveRun(t *testing.T) {
	extent.Long(t)
	t.Parallel() // it spends most of its time waiting
	for _, c := range cells(t, "wks", "svr", "hardlimit") {
		t.Run(c.String(), func(t *testing.T) {
			t.Parallel()
			liveRun(t, c.Runtime, c.flavour)
		})
	}
}

func liveRun(t *testing.T, r *gcload.Runtime, flavour string) {
	for range tries {
		if runUnderLoad(t, r, flavour) || t.Failed() {
			return
		}
	}
	t.Errorf("the first collection was missed %d times over", tries)
}

// runUnderLoad reports whether the session existed before the first collection, which the runtime
// does not wait for.
func runUnderLoad(t *testing.T, r *gcload.Runtime, flavour string) bool {
	log := filepath.Join(t.TempDir(), "gc.json")
	knobs, args := program.Load(r, flavour)
	if r.Major < 5 {
		args = append(args, "--wait") // it has no ports: gclog attaches when it finds the process
	}
	cmd := exec.Command("gclog", append([]string{"run", "-o", log, "--", r.Program(flavour)}, args...)...)
	cmd.Env = append(r.Environment(os.Environ(), flavour, knobs...), "TMPDIR="+program.SocketDir(t))
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	p, err := gcload.StartCommand(cmd)
	if err != nil {
		t.Fatal(err, stderr.String())
	}
	defer p.Kill()
	if r.Major < 5 {
		program.WaitForFile(t, log, "gc-session-start")
		if _, err := p.Send("start"); err != nil {
			t.Fatal(err)
		}
	}
	program.WaitForFile(t, log, `"number":10,`)
	if code := exitCode(p.Exit(5)); code != 5 || complains(stderr.String()) {
		t.Errorf("gclog ended with %d and said %q, want 5", code, stderr.String())
	}
	got := parseLog(t, log, func(at time.Time) int64 { return at.UnixNano() })
	caught := slices.ContainsFunc(got.gcs, func(d liveGC) bool { return d.Number == 1 && d.Complete })
	if first := got.gcs[0]; !caught {
		t.Logf("the first record is #%d, complete: %v", first.Number, first.Complete)
	}
	if len(got.gaps) > 0 {
		t.Errorf("gaps: %s", got.gaps)
	}
	b, _ := os.ReadFile(log)
	if last := b[bytes.LastIndexByte(b[:len(b)-1], '\n')+1:]; !bytes.Contains(last, []byte(`"reason":"exited"`)) || !bytes.Contains(last, []byte(`"exit_code":5`)) {
		t.Errorf("the last line is %s", last)
	}
	// The header is right even if the process was queried before its GC was initialized.
	head, _, _ := bytes.Cut(b, []byte("\n"))
	if aot := r.AOT; !aot && !bytes.Contains(head, fmt.Appendf(nil, `"server":%v`, flavour == "svr")) {
		t.Errorf("the head is %s", head)
	}
	if flavour == "hardlimit" && (!r.AOT && r.Major >= 9) && !bytes.Contains(head, []byte(`"hard_limit":{"bytes":100663296}`)) {
		t.Errorf("the head has no limit: %s", head)
	}
	return caught
}

// complains reports whether gclog has said more than that it waits for a process, as it does on a busy
// machine.
func complains(said string) bool {
	for line := range strings.Lines(said) {
		if !strings.HasPrefix(line, "gclog: waiting for process ") && !strings.HasPrefix(line, "gclog: jdk8 has nothing ") {
			return true
		}
	}
	return false
}

func exitCode(err error) int {
	if e, ok := errors.AsType[*exec.ExitError](err); ok {
		return e.ExitCode()
	}
	if err != nil {
		return -1
	}
	return 0
}

// TestLiveKilled kills gclog at random moments while it runs a tree of programs, one of which
// starts later. None of them may hang.
func TestLiveKilled(t *testing.T) {
	extent.Long(t)
	t.Parallel() // it spends most of its time waiting
	rounds := extent.Pick(4, 6)
	if everyCell() {
		rounds = 12
	}
	for _, r := range runtimes(t) {
		t.Run(r.Name, func(t *testing.T) {
			if !diesOfLeaving(r) { // such a hang can be told from one at startup
				mayLeave(t, r)
			}
			t.Parallel()
			for i := range rounds {
				moment := time.Duration(i*i) * 7 * time.Millisecond
				killRun(t, r, moment)
			}
		})
	}
}

func killRun(t *testing.T, r *gcload.Runtime, moment time.Duration) {
	dir := program.SocketDir(t)
	exe := r.Program("wks")
	script := fmt.Sprintf(`%[1]s churn --seconds 0.3 --quiet >%[2]s/one & %[1]s idle --seconds 0.2 --quiet >%[2]s/two; wait
%[1]s churn --seconds 0.1 --quiet >%[2]s/three; echo done >%[2]s/done`, exe, dir)
	cmd := exec.Command("gclog", "run", "-o", filepath.Join(dir, "gc.log"), "--", "sh", "-c", script)
	cmd.Env = append(r.Environment(os.Environ(), "wks"), "TMPDIR="+dir)
	cmd.Stdout, cmd.Stderr = io.Discard, io.Discard
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(moment) // the time of the kill varies
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	// A kill before the script has started leaves nothing that could hang.
	deadline := time.Now().Add(30 * time.Second)
	for {
		if _, err := os.Stat(filepath.Join(dir, "done")); err == nil {
			break
		}
		if len(processesWith(dir)) == 0 {
			break
		}
		if time.Now().After(deadline) {
			for _, pid := range processesWith(dir) {
				b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
				if out, err := os.Stat(fmt.Sprintf("/proc/%d/fd/1", pid)); diesOfLeaving(r) && err == nil && out.Size() > 0 {
					t.Logf("gclog killed after %v: process %d had started, and hangs: a defect of NativeAOT (docs/protocol.md)", moment, pid)
				} else {
					t.Errorf("gclog killed after %v: process %d hangs: %q", moment, pid, b)
				}
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// processesWith returns the processes with dir as their temporary directory.
func processesWith(dir string) (list []int) {
	names, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, name := range names {
		b, err := os.ReadFile(name)
		if err != nil || !bytes.Contains(b, []byte("TMPDIR="+dir)) {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(name))); err == nil && alive(pid) {
			list = append(list, pid)
		}
	}
	return list
}

func alive(pid int) bool {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && !bytes.Contains(b, []byte(") Z "))
}

// TestLiveHarmless attaches to all runtimes at once and detaches, 100 times after 20 to warm up (in
// the usual extent 30 times after 10), while they are idle. Neither they nor gclog may retain memory,
// files or threads.
func TestLiveHarmless(t *testing.T) {
	extent.Long(t)
	list := runtimes(t)
	processes := make([]*gcload.Process, len(list))
	for i, r := range list {
		p, err := r.Start(program.SocketDir(t), "wks", nil, "idle", "--quiet")
		if err != nil {
			t.Fatal(err)
		}
		defer p.Kill()
		processes[i] = p
	}
	times := func(n int) {
		t.Helper()
		var all sync.WaitGroup
		for i, p := range processes {
			all.Go(func() {
				for range n {
					if err := attachOnce(p.PID); err != nil {
						t.Errorf("%s: %v", list[i].Name, err)
						return
					}
				}
			})
		}
		all.Wait()
		if t.Failed() {
			t.FailNow()
		}
	}
	times(extent.Pick(10, 20))
	before := make([]measured, len(list))
	for i, p := range processes {
		before[i] = measure(t, p.PID)
	}
	own := measure(t, os.Getpid())
	goroutines := runtime.NumGoroutine()
	rounds := extent.Pick(30, 100)
	grown := func(i int) (problem string) {
		target, after := before[i], measure(t, processes[i].PID)
		before[i] = after
		t.Logf("%s: %+v, then %+v", list[i].Name, target, after)
		limit := int64(1 << 20)
		if list[i].AOT {
			limit += int64(rounds) * 12 << 10 // NativeAOT leaks that much per session
		}
		// A runtime ends idle threads of its pool: fewer are not a problem.
		if after.memory-target.memory > limit || after.files-target.files > 2 || after.threads-target.threads > 1 {
			problem = fmt.Sprintf("%s went from %+v to %+v", list[i].Name, target, after)
		}
		return problem
	}
	// On a busy host a runtime may compile its code again after the first measurement: what is left behind
	// by each session grows once more.
	problems := map[int]string{}
	times(rounds)
	for i := range processes {
		if problem := grown(i); problem != "" {
			problems[i] = problem
		}
	}
	if len(problems) > 0 {
		times(rounds)
	}
	for i, problem := range problems {
		if again := grown(i); again != "" {
			t.Errorf("%s, and %s", problem, again)
		}
	}
	program.Eventually(t, "the files and goroutines of the last sessions are gone", func() bool {
		return measure(t, os.Getpid()).files <= own.files && runtime.NumGoroutine() <= goroutines+2
	})
}

// attachOnce attaches like gclog attach, and detaches when the session is open.
func attachOnce(pid int) error {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	target, err := new(host.Host).Find(ctx, pid)
	if err != nil {
		return err
	}
	target.Timeout = time.Minute
	facts, err := attach.Facts(ctx, target)
	if err != nil && !session.IsUnknownCommand(err) {
		return err
	}
	text, err := formats.Find("text")
	if err != nil {
		return err
	}
	result, err := attach.Run(ctx, attach.Options{
		Target: target, Process: &facts,
		Config: session.Config{BufferMB: 16, Providers: []session.Provider{
			{Name: clr.RuntimeProvider, Keywords: clr.KeywordGC, Level: clr.LevelInformational},
			{Name: clr.PrivateProvider, Keywords: clr.KeywordGC, Level: clr.LevelInformational},
		}},
		Outputs: []output.Spec{{Path: output.Stdout, Format: text}},
		Opener:  &output.Opener{Stdout: io.Discard, Warn: func(string) {}},
		Started: func(*gclog.Process) { cancel() },
	})
	if err != nil {
		return err
	}
	return result.Err
}

type measured struct{ memory, files, threads int64 }

func measure(t *testing.T, pid int) (m measured) {
	t.Helper()
	f, err := os.Open(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		var kb int64
		if n, _ := fmt.Sscanf(s.Text(), "VmRSS: %d kB", &kb); n == 1 {
			m.memory = kb << 10
		}
		_, _ = fmt.Sscanf(s.Text(), "Threads: %d", &m.threads)
	}
	files, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	if err != nil {
		t.Fatal(err)
	}
	m.files = int64(len(files))
	return m
}
