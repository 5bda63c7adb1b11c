package daemon

import (
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/gclog/gclog/internal/config"
	"github.com/gclog/gclog/internal/control"
	"github.com/gclog/gclog/internal/host"
)

// TestHold: a client holds a process that the daemon logs until it goes away, and no other one.
func TestHold(t *testing.T) {
	d := newDaemon(t, Options{Load: func() (*config.Loaded, error) { return nobody(t), nil }})
	d.discovery.sweeper = newSweeper(time.Hour)
	turn(t, d)
	socket := filepath.Join(t.TempDir(), "ctl")
	if err := d.servers.administer(socket); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.servers.control.close)
	cmd := exec.Command("sleep", "60")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
	about, err := (&host.Host{}).Describe(cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	target := &host.Target{Process: *about}
	k := key{pid: target.PID, start: target.StartKey}
	d.ask(t.Context(), func() { d.processes[k] = &process{d: d, key: k, target: target} })
	defer d.ask(t.Context(), func() { delete(d.processes, k) })

	none, err := control.Hold(t.Context(), socket, target.PID, target.StartKey+1)
	if err != nil {
		t.Fatalf("a process that the daemon does not log: %v", err)
	}
	none()
	release, err := control.Hold(t.Context(), socket, target.PID, target.StartKey)
	if err != nil {
		t.Fatal(err)
	}
	if !target.Held() {
		t.Error("not held")
	}
	release()
	for target.Held() {
		time.Sleep(time.Millisecond)
	}

	// A client with the same /proc has the lock itself.
	own, err := target.Hold(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	release, err = control.Hold(t.Context(), socket, target.PID, target.StartKey)
	if err != nil {
		t.Fatal(err)
	}
	release()
	own.Release()
}
