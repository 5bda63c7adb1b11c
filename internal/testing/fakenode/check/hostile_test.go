//go:build linux

package check_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/gclog/gclog/internal/testing/fakenode"
	"github.com/gclog/gclog/internal/testing/fakenode/check"
)

// memoryMost is the limit in bytes for the resident memory of a daemon, whatever one of its few
// targets does.
const memoryMost = 200 << 20

// TestHostileStream: a target that sends endless data, or announces data that never arrives, costs
// the daemon a limited amount of memory and does not affect other targets.
func TestHostileStream(t *testing.T) {
	for _, c := range []struct {
		name string
		do   func(*fakenode.Runtime)
	}{
		{"endless metadata", func(r *fakenode.Runtime) { r.Metadata(time.Minute) }},
		{"a block of 4 GB", (*fakenode.Runtime).Huge},
		{"one byte a second", func(r *fakenode.Runtime) { r.Trickle(time.Minute) }},
		{"garbage", func(r *fakenode.Runtime) { r.Garble(time.Minute); r.Break() }},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			n := newNode(t, 31)
			bad, good := start(t, n, fakenode.Config{Name: "bad", Rate: 100}), start(t, n, fakenode.Config{Name: "good", Rate: 100})
			d, logs := oversee(t, pids(bad, good))
			waitSent(t, bad, 50)
			c.do(bad)
			waitSent(t, good, 400)
			if peak := peakMemory(t, d.Process.Pid); peak > memoryMost {
				t.Errorf("the daemon took %d MB", peak>>20)
			}
			d.terminate(t)
			bad.Kill()
			checked(t, n, logs, d)
			lists, _ := check.Files(logs)
			reported := false
			for _, name := range lists[bad.Cookie()] {
				b, _ := os.ReadFile(name)
				reported = reported || bytes.Contains(b, []byte(`"reason":"stopped"`))
			}
			if reported != (c.name == "one byte a second") && c.name != "endless metadata" { // of that there is always more
				t.Errorf("a gap says that the daemon has not waited for all: %v", reported)
			}
		})
	}
}

// plainName matches the permitted names of files about a process.
var plainName = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9._-]*$`)

// TestHostileNames: whatever the names of processes and services, files stay in their folder and
// have plain names, and neither the files nor the daemon's own log contain anything that a terminal
// interprets as a command.
func TestHostileNames(t *testing.T) {
	for format, line := range map[string]string{"console": `^\d\d:\d\d:\d\d`, "json": `^{"level":.*}\n$`} {
		t.Run(format, func(t *testing.T) { hostileNames(t, format, regexp.MustCompile(line)) })
	}
}

func hostileNames(t *testing.T, format string, ownLine *regexp.Regexp) {
	t.Parallel()
	n := newNode(t, 32)
	var runtimes []*fakenode.Runtime
	for i, name := range []string{"a\nb", "\x1b[2J\x1b[31mred", "../../etc/passwd", "-rf", ".", "\x9b31m", "%p%n", "a\rb\u202e"} {
		runtimes = append(runtimes, start(t, n, fakenode.Config{Name: name, Rate: 50, Env: []string{"OTEL_SERVICE_NAME=" + name, fmt.Sprintf("OTEL_RESOURCE_ATTRIBUTES=service.version=\x1b[%dm", i)}}))
	}
	d, logs := oversee(t, pids(runtimes...)+"log: {level: debug, format: "+format+"}\n")
	for _, r := range runtimes {
		waitSent(t, r, 20)
		r.Refuse(0x80004005, time.Second)
		r.Break()
	}
	for _, r := range runtimes {
		waitSession(t, r, 1, 5)
		r.Kill()
	}
	d.terminate(t)
	checked(t, n, logs, d)
	list, err := os.ReadDir(logs)
	if err != nil || len(list) < len(runtimes) {
		t.Fatalf("%d files: %v", len(list), err)
	}
	for _, e := range list {
		if !plainName.MatchString(e.Name()) {
			t.Errorf("a file is called %q", e.Name())
		}
		b, err := os.ReadFile(filepath.Join(logs, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		commands(t, e.Name(), b)
	}
	commands(t, "the daemon's log", d.stderr.Bytes())
	if lines := bytes.Count(d.stderr.Bytes(), []byte{'\n'}); lines < len(runtimes) {
		t.Errorf("the daemon says little:\n%s", d.stderr.String())
	}
	for line := range bytes.Lines(d.stderr.Bytes()) {
		if !ownLine.Match(line) {
			t.Errorf("a line of the daemon's log is %q", line)
		}
	}
}

// commands looks for terminal commands.
func commands(t *testing.T, where string, b []byte) {
	t.Helper()
	for _, r := range string(b) {
		if r < ' ' && r != '\n' || r == 0x7f || r >= 0x80 && r < 0xa0 || unicode.Is(unicode.Bidi_Control, r) {
			i := strings.IndexRune(string(b), r)
			t.Errorf("%s has %q: %q", where, r, b[max(0, i-50):min(len(b), i+50)])
			return
		}
	}
}

// TestPlantedSockets: if the path of a process's socket is a symbolic or hard link to the socket of
// another process, the first process is not logged as the second.
func TestPlantedSockets(t *testing.T) {
	for _, c := range []struct {
		name  string
		plant func(from, to string) error
	}{
		{"a link to another socket", os.Symlink},
		{"a socket of another process", os.Link},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			n := newNode(t, 33)
			ofReal, ofFake := socketDir(t), socketDir(t)
			real := start(t, n, fakenode.Config{Name: "orders", Rate: 100, TempDir: ofReal})
			fake := start(t, n, fakenode.Config{Name: "fake", Rate: 100, TempDir: ofFake})
			from, to := glob(t, filepath.Join(ofReal, "dotnet-diagnostic-*")), glob(t, filepath.Join(ofFake, "dotnet-diagnostic-*"))
			if len(from) != 1 || len(to) != 1 {
				t.Fatalf("sockets %v and %v", from, to)
			}
			if err := errors.Join(os.Remove(to[0]), c.plant(from[0], to[0])); err != nil {
				t.Fatal(err)
			}
			d, logs := oversee(t, pids(real, fake))
			waitSent(t, real, 300)
			d.terminate(t)
			checked(t, n, logs, d)
			if list := glob(t, filepath.Join(logs, fmt.Sprintf("*-%d-*", fake.PID()))); len(list) > 0 {
				t.Errorf("it is logged as if it were another one: %v", list)
			}
			if l := real.Ledger(); len(l.Sessions) != 1 || fake.Requests() > 0 {
				t.Errorf("%d sessions, %d requests to the other one", len(l.Sessions), fake.Requests())
			}
		})
	}
}

// socketDir creates a folder with a short name: the length of a socket's path is limited.
func socketDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "node")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}
