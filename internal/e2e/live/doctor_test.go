//go:build linux

package live

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gclog/gclog/internal/doctor"
	"github.com/gclog/gclog/internal/host"
	"github.com/gclog/gclog/internal/testing/extent"
	"github.com/gclog/gclog/internal/testing/gcload"
	"github.com/gclog/gclog/internal/testing/program"
	"github.com/gclog/gclog/session"
)

// TestLiveDoctor checks what doctor reports about real runtimes.
func TestLiveDoctor(t *testing.T) {
	extent.Long(t)
	t.Parallel() // it spends most of its time waiting
	for _, r := range runtimes(t) {
		t.Run(r.Name, func(t *testing.T) {
			t.Parallel()
			liveDoctor(t, r)
		})
	}
}

func liveDoctor(t *testing.T, r *gcload.Runtime) {
	dir := program.SocketDir(t)
	p, err := r.Start(dir, "wks", nil, "churn", "--rate", "5", "--seconds", "60")
	if err != nil {
		t.Fatal(err)
	}
	defer p.Kill()
	var report *doctor.Report
	program.Eventually(t, "an answer in the time that doctor waits", func() bool {
		report = doctor.Process(t.Context(), new(host.Host), p.PID)
		return !hasCause(report, "no-answer") // a loaded machine may let the program wait
	})
	if report.Verdict != "can be attached to" || hasCause(report, "suspended") {
		t.Errorf("%s: %+v", report.Verdict, report.Findings)
	}
	if version := factOf(report, "runtime"); !strings.HasSuffix(version, p.Ready.Runtime) {
		t.Errorf("runtime %s, the program says %s", version, p.Ready.Runtime)
	}
	if old := r.Major < 5; hasCause(report, "core31") != old || hasCause(report, "native-aot") != p.Ready.AOT {
		t.Errorf("%+v", report.Findings)
	}
	if strings.Contains(factOf(report, "asked"), "session") {
		liveSessionsFull(t, p.PID)
	}
	if err := os.Remove(factOf(report, "socket")); err != nil {
		t.Fatal(err)
	}
	report = doctor.Process(t.Context(), new(host.Host), p.PID)
	if !hasCause(report, "socket-deleted") {
		t.Errorf("without its socket: %+v", report.Findings)
	}
	if r.Major >= 5 {
		liveSuspended(t, r, dir)
	}
}

// liveSessionsFull opens as many sessions as a runtime supports.
func liveSessionsFull(t *testing.T, pid int) {
	target, err := new(host.Host).Find(t.Context(), pid)
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
	if report := doctor.Process(t.Context(), new(host.Host), pid); n != 64 || !hasCause(report, "sessions-full") {
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
	for end := time.Now().Add(program.Deadline); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		report = doctor.Process(t.Context(), new(host.Host), cmd.Process.Pid)
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
