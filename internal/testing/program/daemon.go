//go:build linux

package program

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/gclog/gclog/internal/testing/evidence"
)

// A Daemon is a gclog daemon in the background, with its own configuration.
type Daemon struct {
	cmd    *exec.Cmd
	config string
	said   string // path of its log
}

// StartDaemon starts a daemon that uses files in dir. It ends with the test.
func StartDaemon(t testing.TB, dir, config string) *Daemon {
	t.Helper()
	d := &Daemon{config: filepath.Join(dir, "gclog.yaml"), said: filepath.Join(dir, "daemon.err")}
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
	evidence.Keep(t, dir)
	t.Cleanup(func() {
		evidence.End(t, d.cmd)
		if t.Failed() {
			t.Logf("the daemon said:\n%s", d.Log())
		}
	})
	return d
}

func (d *Daemon) configure(t testing.TB, config string) {
	t.Helper()
	if err := os.WriteFile(d.config, []byte(config), 0o644); err != nil {
		t.Fatal(err)
	}
}

// Log returns what the daemon has logged about itself.
func (d *Daemon) Log() []byte {
	b, _ := os.ReadFile(d.said)
	return b
}

// Reload replaces the configuration, and waits until the daemon has read it.
func (d *Daemon) Reload(t testing.TB, config string) {
	t.Helper()
	read := func() int { return bytes.Count(d.Log(), []byte("configuration reloaded")) }
	before := read()
	d.configure(t, config)
	d.signal(t, syscall.SIGHUP)
	Eventually(t, "the configuration to be read", func() bool { return read() > before })
}

func (d *Daemon) signal(t testing.TB, s syscall.Signal) {
	t.Helper()
	if err := d.cmd.Process.Signal(s); err != nil {
		t.Fatal(err)
	}
}

// Stop ends the daemon with SIGTERM.
func (d *Daemon) Stop(t testing.TB) {
	t.Helper()
	d.signal(t, syscall.SIGTERM)
	if err := d.cmd.Wait(); err != nil {
		t.Errorf("the daemon ended with %v", err)
	}
}
