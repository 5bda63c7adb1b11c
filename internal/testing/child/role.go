package child

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// roleVariable contains what the test binary runs as.
const roleVariable = "GCLOG_TEST_ROLE"

// Main runs the role that the test binary was started for, and exits. It returns if there is none.
func Main(roles map[string]func() error) {
	role := roles[os.Getenv(roleVariable)]
	if role == nil {
		return
	}
	if err := role(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// Environ returns the environment of a test binary that runs as a role. If coverage is measured, that of
// roles counts.
func Environ(role string, more ...string) []string {
	// Otherwise the race detector would sleep for a second at the end of each process.
	env := []string{roleVariable + "=" + role, "GORACE=atexit_sleep_ms=0", "GOCOVERDIR=" + os.Getenv("GOCOVERDIR")}
	return append(env, more...)
}

// Output runs a program to its end and returns its output.
func Output(t testing.TB, cmd *exec.Cmd) string {
	t.Helper()
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v: %s%s", cmd, err, out, stderr.Bytes())
	}
	return string(out)
}

// PublicCopy copies the test binary to a place where every user can run it.
func PublicCopy(t testing.TB) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "s")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	path := filepath.Join(dir, filepath.Base(self))
	if err := errors.Join(os.Chmod(dir, 0o755), os.WriteFile(path, b, 0o755)); err != nil {
		t.Fatal(err)
	}
	return path
}
