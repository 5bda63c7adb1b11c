//go:build linux

package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gclog/gclog/internal/doctor"
	"github.com/gclog/gclog/internal/testing/gcload"
	"github.com/gclog/gclog/session"
)

// tracer is the command tracer of the scripts: a debugger that has stopped a process. It prints
// "ready" and resumes the process when its standard input is closed.
func tracer(args []string) int {
	err := trace(args)
	if err != nil {
		fmt.Fprintln(os.Stderr, "tracer:", err)
		return 1
	}
	return 0
}

func trace(args []string) error {
	if len(args) != 1 {
		return errors.New("usage: tracer PID")
	}
	pid, err := strconv.Atoi(args[0])
	if err != nil {
		return err
	}
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*", pid))
	if err != nil {
		return err
	}
	runtime.LockOSThread() // a debugger is a thread
	for _, name := range threads {
		thread, err := strconv.Atoi(filepath.Base(name))
		if err != nil {
			return err
		}
		if err := syscall.PtraceAttach(thread); err != nil {
			return err
		}
		var status syscall.WaitStatus
		if _, err := syscall.Wait4(thread, &status, syscall.WALL, nil); err != nil {
			return err
		}
	}
	fmt.Println("ready")
	_, _ = io.Copy(io.Discard, os.Stdin)
	return nil // the stopped process resumes when the tracer exits
}

// TestEveryCauseIsMade: for every cause that doctor knows there is a test that produces it and
// expects its id: a script, or a test of package doctor for recordings that nobody has.
func TestEveryCauseIsMade(t *testing.T) {
	scripts, err := filepath.Glob(filepath.Join("testdata", "script", "doctor*.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	tests, err := filepath.Glob(filepath.Join("internal", "doctor", "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	made := map[string]bool{}
	collect := func(files []string, pattern string) {
		id := regexp.MustCompile(pattern)
		for _, name := range files {
			b, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range id.FindAllSubmatch(b, -1) {
				made[string(m[1])] = true
			}
		}
	}
	collect(scripts, `(?m)^(?:\[[^]]*\] )*stdout '.*\\\(([a-z0-9-]+)\\\)\$?'$`)
	collect(tests, `wants\(t, [^"]*"([a-z0-9-]+)"`)
	for _, s := range doctor.Table {
		for _, c := range s.Causes {
			if !made[c.ID] {
				t.Errorf("no test makes the cause %s", c.ID)
			}
			delete(made, c.ID)
		}
	}
	for id := range made {
		t.Errorf("a test makes the cause %s, which is none", id)
	}
}

// TestLiveDoctor checks what doctor reports about real runtimes.
func TestLiveDoctor(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds for each runtime")
	}
	for _, r := range runtimes(t) {
		t.Run(r.Name, func(t *testing.T) { liveDoctor(t, r) })
	}
}

func liveDoctor(t *testing.T, r *gcload.Runtime) {
	dir := socketDir(t)
	p, err := r.Start(dir, "wks", nil, "churn", "--rate", "5", "--seconds", "60")
	if err != nil {
		t.Fatal(err)
	}
	defer p.Kill()
	report := doctor.Process(t.Context(), new(session.Host), p.PID)
	if report.Verdict != "can be attached to" || hasCause(report, "suspended") {
		t.Errorf("%s: %+v", report.Verdict, report.Findings)
	}
	if version := factOf(report, "runtime"); !strings.HasSuffix(version, p.Ready.Runtime) {
		t.Errorf("runtime %s, the program says %s", version, p.Ready.Runtime)
	}
	if old := r.Name == "core31"; hasCause(report, "core31") != old || hasCause(report, "native-aot") != p.Ready.AOT {
		t.Errorf("%+v", report.Findings)
	}
	if strings.Contains(factOf(report, "asked"), "session") {
		liveSessionsFull(t, p.PID)
	}
	if err := os.Remove(factOf(report, "socket")); err != nil {
		t.Fatal(err)
	}
	report = doctor.Process(t.Context(), new(session.Host), p.PID)
	if !hasCause(report, "socket-deleted") {
		t.Errorf("without its socket: %+v", report.Findings)
	}
	if r.Name != "core31" {
		liveSuspended(t, r, dir)
	}
}

// liveSessionsFull opens as many sessions as a runtime supports.
func liveSessionsFull(t *testing.T, pid int) {
	target, err := new(session.Host).Find(t.Context(), pid)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for ; n < 65; n++ {
		s, err := target.StartTracing(t.Context(), session.Config{
			BufferMB: 1, Providers: []session.Provider{{Name: "nothing", Level: 1}},
		})
		if err != nil {
			break
		}
		defer s.Close()
	}
	if report := doctor.Process(t.Context(), new(session.Host), pid); n != 64 || !hasCause(report, "sessions-full") {
		t.Errorf("%d sessions: %+v", n, report.Findings)
	}
}

// liveSuspended starts a runtime that waits for a port on which nobody listens.
func liveSuspended(t *testing.T, r *gcload.Runtime, dir string) {
	port := filepath.Join(dir, "port")
	cmd := exec.Command(r.Program("wks"), "churn")
	cmd.Env = append(r.Environment(os.Environ(), "wks"), "TMPDIR="+dir, "DOTNET_DiagnosticPorts="+port)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}()
	var report *doctor.Report
	for end := time.Now().Add(deadline); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		report = doctor.Process(t.Context(), new(session.Host), cmd.Process.Pid)
		if report.OK() && hasCause(report, "suspended") {
			return
		}
	}
	t.Errorf("%s: %+v", report.Verdict, report.Findings)
}

func hasCause(r *doctor.Report, id string) bool {
	return slices.ContainsFunc(r.Findings, func(f doctor.Finding) bool { return f.Cause.ID == id })
}

func factOf(r *doctor.Report, name string) string {
	for _, f := range r.Facts {
		if f.Name == name {
			return f.Value
		}
	}
	return ""
}
