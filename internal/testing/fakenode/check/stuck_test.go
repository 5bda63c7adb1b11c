//go:build linux

package check_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gclog/gclog/internal/testing/child"
	"github.com/gclog/gclog/internal/testing/extent"
	"github.com/gclog/gclog/internal/testing/fakefuse"
)

// isOther makes this program a process of another user, which does nothing.
const isOther = "GCLOG_OTHER"

func other() {
	if err := syscall.Setuid(12345); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	for {
		time.Sleep(time.Hour)
	}
}

// recorded runs a recorded process in a temporary directory, and returns its pid.
func recorded(t *testing.T, tmp, service string, through ...string) int {
	t.Helper()
	args := append(through, os.Args[0], "demo", "--serve")
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Env = append(os.Environ(), isGclog+"=1", "TMPDIR="+tmp, "OTEL_SERVICE_NAME="+service)
	child.Start(t, cmd)
	return cmd.Process.Pid
}

// TestStuckFileSystems: processes whose file systems hang delay neither the others nor the exit of
// the daemon, and the daemon reports how many they are. A process whose file system answers is
// logged.
func TestStuckFileSystems(t *testing.T) {
	t.Parallel()
	hanging := extent.Pick(8, 64)
	dir := socketDir(t)
	hung, fine := fakefuse.Start(t, filepath.Join(dir, "h"), hanging), fakefuse.Start(t, filepath.Join(dir, "f"), 1)
	defer fine.Stop()
	defer hung.Stop()
	for i := range hanging {
		enter := hung.Enter()
		cmd := exec.Command(enter[0], append(enter[1:], os.Args[0])...) // with several threads
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), isOther + "=1", "TMPDIR=" + hung.Dir(i)}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _, _ = cmd.Process.Kill(), cmd.Wait() })
	}
	hung.Hang(t)

	service := "stuck" + strconv.Itoa(os.Getpid())
	first := recorded(t, fine.Dir(0), service, fine.Enter()...)
	socket, config := filepath.Join(dir, "ctl.sock"), filepath.Join(dir, "gclog.yaml")
	if err := os.WriteFile(config, fmt.Appendf(nil, `version: 1
discovery: {interval: 100ms, include: [{service: %s}]}
outputs: [{path: "%s/%%p.json"}]
control: {socket: %s}
`, service, dir, socket), 0o600); err != nil {
		t.Fatal(err)
	}
	daemon := gclog(t, "daemon", "-c", config)
	defer func() {
		if t.Failed() {
			_ = daemon.Process.Kill()
			t.Logf("the daemon said: %s", &daemon.stderr)
		}
	}()
	stuck := func() int {
		var status struct {
			Stuck int `json:"stuck_looks"`
		}
		cmd := exec.Command(os.Args[0], "ctl", "status", "-f", "json", "--socket", socket)
		cmd.Env = append(os.Environ(), isGclog+"=1")
		if out, err := cmd.Output(); err == nil {
			_ = json.Unmarshal(out, &status)
		}
		return status.Stuck
	}
	logged := func(pid int) func() int {
		return func() int {
			b, _ := os.ReadFile(filepath.Join(dir, strconv.Itoa(pid)+".json"))
			return strings.Count(string(b), `"action":"gc"`)
		}
	}
	wait(t, logged(first), 1)
	const most = 4 // helpers of one user
	wait(t, stuck, most)
	if n := stuck(); n != most {
		t.Errorf("%d looks are stuck", n)
	}
	wait(t, logged(recorded(t, dir, service)), 1)
	health := exec.Command(os.Args[0], "health", "--socket", socket)
	health.Env = append(os.Environ(), isGclog+"=1")
	if out, err := health.CombinedOutput(); err != nil {
		t.Errorf("the daemon is not ready: %v: %s", err, out)
	}

	_ = daemon.Process.Signal(syscall.SIGTERM)
	ended := make(chan error, 1)
	go func() { ended <- daemon.Wait() }()
	select {
	case err := <-ended:
		if err != nil {
			t.Errorf("%v\n%s", err, &daemon.stderr)
		}
	case <-time.After(2 * time.Minute):
		state, _ := os.ReadFile("/proc/" + strconv.Itoa(daemon.Process.Pid) + "/stat")
		hung.Stop()
		t.Fatalf("the daemon does not end: %s", state)
	}
	if said := daemon.stderr.String(); !strings.Contains(said, "timed out; they are not logged") {
		t.Errorf("the daemon does not tell of stuck looks:\n%s", said)
	}
}
