//go:build linux

package program

import (
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
)

// Nobody is the user and group id of user nobody.
const Nobody = 65534

// IsRoot reports whether the tests run as root.
func IsRoot() bool { return os.Geteuid() == 0 }

// Namespaces returns the command that runs another command in namespaces of its own. An ordinary
// user also needs a user namespace.
func Namespaces(flags ...string) string {
	words := []string{"unshare"}
	if !IsRoot() {
		words = append(words, "--user", "--map-root-user")
	}
	return strings.Join(append(words, flags...), " ")
}

// Works returns a function that reports whether a command succeeds. The command runs once.
func Works(name string, args ...string) func() bool {
	return sync.OnceValue(func() bool { return exec.Command(name, args...).Run() == nil })
}

// MountWorks reports whether a command may mount in a mount namespace of its own.
var MountWorks = Works("sh", "-c", Namespaces("--mount")+" mount -t tmpfs none /mnt")

// PIDNamespaceWorks reports whether a command may have a pid namespace of its own.
var PIDNamespaceWorks = Works("sh", "-c", Namespaces("--mount", "--pid", "--fork", "--kill-child", "--mount-proc")+" true")

// StraceWorks reports whether strace is installed and may be used.
var StraceWorks = Works("strace", "-o", os.DevNull, "true")

// Needs skips the test where a program is not installed.
func Needs(t testing.TB, programs ...string) {
	t.Helper()
	for _, p := range programs {
		if _, err := exec.LookPath(p); err != nil {
			t.Skipf("%s is not installed", p)
		}
	}
}

// Python returns the path of a Python 3 that other users may run, too: that of a version manager may
// be in a home directory.
func Python(t testing.TB) string {
	t.Helper()
	const ofSystem = "/usr/bin/python3"
	if _, err := os.Stat(ofSystem); err == nil {
		return ofSystem
	}
	Needs(t, "python3")
	path, err := exec.LookPath("python3")
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// Must runs a program that must succeed, and returns what it printed.
func Must(t testing.TB, name string, args ...string) string {
	t.Helper()
	out, err := exec.Command(name, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}

// SocketDir returns a temporary directory with a path that is short enough for sockets, which that
// of t.TempDir is not.
func SocketDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "gclog-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}
