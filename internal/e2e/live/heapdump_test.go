//go:build linux

package live

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gclog/gclog/internal/host"
	"github.com/gclog/gclog/internal/testing/extent"
	"github.com/gclog/gclog/internal/testing/gcload"
	"github.com/gclog/gclog/internal/testing/program"
	"github.com/gclog/gclog/parse"
	"github.com/gclog/gclog/parse/clr"
	"github.com/gclog/gclog/session"
)

// TestLiveHeapDump requests collections of each runtime in every way: by another tool's heap
// snapshot, by one of gclog, by gclog gc, and by the program itself. The log marks exactly those of
// the snapshots, which it cannot see being walked.
func TestLiveHeapDump(t *testing.T) {
	extent.Long(t)
	t.Parallel() // it spends most of its time waiting
	for _, c := range cells(t, "wks", "svr") {
		if !c.AOT { // which walks no heap
			t.Run(c.String(), func(t *testing.T) {
				t.Parallel()
				liveHeapDump(t, c.Runtime, c.flavour)
			})
		}
	}
}

func liveHeapDump(t *testing.T, r *gcload.Runtime, flavour string) {
	p, err := r.Start(program.SocketDir(t), flavour, nil, "idle", "--quiet")
	if err != nil {
		t.Fatal(err)
	}
	defer p.Kill()
	send := func(command string) {
		t.Helper()
		if _, err := p.Send(command); err != nil {
			t.Fatal(err)
		}
	}
	send("leak 100000")
	target, err := new(host.Host).Find(t.Context(), p.PID)
	if err != nil {
		t.Fatal(err)
	}
	target.Timeout = time.Minute

	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	cmd := exec.Command("gclog", "attach", strconv.Itoa(p.PID), "--record", path("gc.nettrace"), "-o", path("gc.json"), "--format", "json")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Process.Kill() }()
	program.WaitForFile(t, path("gc.json"), "gc-session-start")

	gclog := func(args ...string) {
		t.Helper()
		cmd := exec.Command("gclog", args...)
		out, _ := cmd.CombinedOutput()
		const incomplete = 2 // other tests look at the snapshots themselves
		if code := cmd.ProcessState.ExitCode(); code != 0 && code != incomplete {
			t.Fatalf("gclog %v ended with %d: %s", args, code, out)
		}
	}
	compacts, collects := func() { send("gc 2 forced true true") }, func() { send("gc 2 forced true false") }
	steps := []struct {
		name string
		do   func()
		want string // who requested the snapshot
	}{
		{"GC.Collect", collects, ""},
		{"a snapshot of another tool", func() { dumpAsTool(t, target) }, "other"},
		{"GC.Collect, compacting", compacts, ""},
		{"gclog gc", func() { gclog("gc", strconv.Itoa(p.PID), "--wait") }, ""},
		{"gclog heap snapshot", func() { gclog("heap", "snapshot", strconv.Itoa(p.PID), "-o", path("own.gcdump")) }, "gclog"},
		{"GC.Collect at the end", collects, ""},
		{"another snapshot of another tool", func() { dumpAsTool(t, target) }, "other"},
	}
	mark := func(label string) *gcload.Line {
		t.Helper()
		l, err := p.Mark(label)
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	// .NET Core 3.1 enables its events after its stream has begun: on a busy host the record of the first
	// collection may lack its start.
	induced := func() int { return count(path("gc.json"), `"reason":"Induced`) }
	for n := 1; induced() == 0; n++ {
		collects()
		awaitCount(t, path("gc.json"), `"action":"gc",`, n)
	}
	before := induced()
	marks := []*gcload.Line{mark("begin")}
	for _, s := range steps {
		s.do()
		end := mark(s.name)
		marks = append(marks, end)
		// What gclog requests is known for half a second: another tool's collection right before that
		// would be taken for gclog's.
		awaitCount(t, path("gc.json"), `"reason":"Induced`, before+end.Gen2-marks[0].Gen2)
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil || complains(stderr.String()) {
		t.Fatalf("gclog ended with %v and said %q", err, stderr.String())
	}
	gclog("convert", path("gc.nettrace"), "-o", path("converted.json"), "--format", "json")
	live, converted := readLog(t, path("gc.json"), path("gc.nettrace")), readLog(t, path("converted.json"), path("gc.nettrace"))
	for i, s := range steps {
		begin, end := marks[i], marks[i+1]
		collections := end.Gen2 - begin.Gen2
		if collections == 0 {
			t.Errorf("%s: no collection", s.name)
		}
		// What gclog requests is known for half a second: on a starved host it may be collected later.
		late := strings.HasPrefix(s.name, "gclog ") && end.QPC-begin.QPC > int64(time.Second)
		if got := live.requesters(begin, end); !late && strings.Join(got, "") != strings.Repeat(s.want, collections) || len(got) != collections {
			t.Errorf("%s: %d collections, those in the log are by %q, want %q", s.name, collections, got, s.want)
		}
		// A recording does not contain what other processes of gclog requested: on a busy machine a
		// collection without a walk may look like one with a walk.
		want := map[string]string{"other": "other", "gclog": "other"}[s.want]
		if got := converted.requesters(begin, end); s.name != "gclog gc" && strings.Join(got, "") != strings.Repeat(want, collections) {
			t.Errorf("%s: %d collections, those in the recording are by %q, want %q", s.name, collections, got, want)
		}
	}
}

// awaitCount waits until a file contains a text at least n times.
func awaitCount(t *testing.T, path, text string, n int) {
	t.Helper()
	for begin := time.Now(); time.Since(begin) < time.Minute; time.Sleep(5 * time.Millisecond) {
		if count(path, text) >= n {
			return
		}
	}
	t.Fatalf("%s does not have %d times %q within a minute", path, n, text)
}

// count returns how often a file has a text.
func count(path, text string) int {
	b, _ := os.ReadFile(path)
	return bytes.Count(b, []byte(text))
}

// requesters returns who requested the heap snapshots that the collections between two marks are
// for, "" for those that are for none.
func (log *liveLog) requesters(begin, end *gcload.Line) (list []string) {
	for _, d := range log.gcs {
		if d.start > begin.QPC && d.start < end.QPC {
			list = append(list, d.HeapDumpBy)
		}
	}
	return list
}

// dumpAsTool takes a heap snapshot of CoreCLR as tools do that know nothing of gclog.
func dumpAsTool(t *testing.T, target *host.Target) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	s, err := target.Client.StartTracing(ctx, session.Config{BufferMB: 256, Unsafe: true, Providers: []session.Provider{{Name: clr.RuntimeProvider, Keywords: 0x1980001, Level: clr.LevelInformational}}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	s.IdleTimeout = 100 * time.Millisecond
	stopped := make(chan error, 1)
	p := parse.NewReader(s, parse.All)
	for nodes, over := false, false; ; p.Flush() {
		for p.Scan() {
			e := p.Event()
			switch {
			case e == nil || e.Meta.Provider != clr.RuntimeProvider:
			case e.Meta.EventID == clr.IDGCBulkNode:
				nodes = true
			case e.Meta.EventID == clr.IDGCEnd && nodes && !over:
				over = true
				go func() { stopped <- s.Stop(ctx) }()
			}
		}
		if err := p.Err(); !session.IsIdle(err) {
			if err != nil {
				t.Fatal(err)
			}
			break
		}
	}
	if err := <-stopped; err != nil {
		t.Fatal(err)
	}
}
