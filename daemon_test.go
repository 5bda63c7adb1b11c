//go:build linux

package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/gclog/gclog/internal/testing/fakenode"
	"github.com/gclog/gclog/internal/testing/fakenode/check"
)

// A daemonRun is a daemon in the background, with its own configuration.
type daemonRun struct {
	cmd    *exec.Cmd
	config string
	said   string // path of its log
}

// startDaemon starts a daemon that uses files in dir. configure replaces %s in the configuration.
func startDaemon(t *testing.T, dir, config string) *daemonRun {
	t.Helper()
	d := &daemonRun{config: filepath.Join(dir, "gclog.yaml"), said: filepath.Join(dir, "daemon.err")}
	d.configure(t, config)
	said, err := os.Create(d.said)
	if err != nil {
		t.Fatal(err)
	}
	defer said.Close()
	d.cmd = exec.Command("gclog", "daemon", "-c", d.config)
	d.cmd.Dir, d.cmd.Stderr = dir, said
	d.cmd.Env = append(os.Environ(), "GCLOG_CONTROL__SOCKET=") // root has only one: that of another test
	if err := d.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if d.cmd.ProcessState == nil {
			_, _ = d.cmd.Process.Kill(), d.cmd.Wait()
		}
		if t.Failed() {
			t.Logf("the daemon said:\n%s", d.log())
		}
	})
	return d
}

func (d *daemonRun) configure(t *testing.T, config string) {
	t.Helper()
	if err := os.WriteFile(d.config, []byte(config), 0o644); err != nil {
		t.Fatal(err)
	}
}

func (d *daemonRun) log() []byte {
	b, _ := os.ReadFile(d.said)
	return b
}

// reload replaces the configuration, and waits until the daemon has read it.
func (d *daemonRun) reload(t *testing.T, config string) {
	t.Helper()
	read := func() int { return bytes.Count(d.log(), []byte("configuration reloaded")) }
	before := read()
	d.configure(t, config)
	d.signal(t, syscall.SIGHUP)
	eventually(t, "the configuration to be read", func() bool { return read() > before })
}

func (d *daemonRun) signal(t *testing.T, s syscall.Signal) {
	t.Helper()
	if err := d.cmd.Process.Signal(s); err != nil {
		t.Fatal(err)
	}
}

// stop ends the daemon with SIGTERM.
func (d *daemonRun) stop(t *testing.T) {
	t.Helper()
	d.signal(t, syscall.SIGTERM)
	if err := d.cmd.Wait(); err != nil {
		t.Errorf("the daemon ended with %v", err)
	}
}

// TestDaemonLevels: while the requested events change repeatedly under load no collection is lost,
// and none is reported twice.
func TestDaemonLevels(t *testing.T) {
	sockets := socketDir(t)
	n := fakenode.New(sockets, 1)
	defer n.Close()
	var pids []string
	for i := range 3 {
		r, err := n.Start(fakenode.Config{Name: fmt.Sprintf("levels-%d", i), Rate: 60, Background: 0.2, Heaps: 1 + i})
		if err != nil {
			t.Fatal(err)
		}
		pids = append(pids, fmt.Sprintf("{pid: %d}", r.PID()))
	}
	dir := t.TempDir()
	config := func(level, more string) string {
		return fmt.Sprintf("discovery: {interval: 100ms, include: [%s]}\nsession: {level: %s}\noutputs: [{path: %s/logs/%%p.json, filesize: 64K, filecount: 1000}%s]\nhttp: {listen: \"\"}\n",
			strings.Join(pids, ", "), level, dir, more)
	}
	sessions := func(want int, open bool) func() bool {
		return func() bool {
			for _, r := range n.Runtimes() {
				l := r.Ledger()
				if len(l.Sessions) < want || open && r.Sessions() != 1 {
					return false
				}
			}
			return true
		}
	}
	d := startDaemon(t, dir, config("normal", ""))
	eventually(t, "the first sessions", sessions(1, true))
	for i, level := range []string{"full", "light", "normal"} {
		d.reload(t, config(level, ""))
		eventually(t, "the sessions of level "+level, sessions(i+2, true))
	}
	// An output that needs every suspension receives them too.
	d.reload(t, config("normal", fmt.Sprintf(", {xlog: \"safepoint:file=%s/%%p.safe.log\"}", dir)))
	for _, r := range n.Runtimes() {
		waitForFile(t, filepath.Join(dir, fmt.Sprintf("%d.safe.log", r.PID())), "ForGC")
	}
	d.stop(t)
	// Collections that began before the change are reported by the session of the old level, and
	// therefore before foreground collections that began later and ended earlier, during a
	// background collection.
	err := check.Node(n, filepath.Join(dir, "logs"), check.Options{})
	for line := range strings.SplitSeq(fmt.Sprint(err), "\n") {
		if err != nil && !strings.Contains(line, "which is told earlier") && !strings.HasPrefix(line, "process ") {
			t.Error(line)
		}
	}
}
