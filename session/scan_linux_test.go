package session_test

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/gclog/gclog/internal/child"
	"github.com/gclog/gclog/session"
)

func scan(t testing.TB, s *session.Scanner) map[int]session.Sighting {
	t.Helper()
	list, err := s.Scan()
	if err != nil {
		t.Fatal(err)
	}
	if !slices.IsSortedFunc(list, func(a, b session.Sighting) int { return a.PID - b.PID }) {
		t.Error("the list is not in order")
	}
	found := map[int]session.Sighting{}
	for _, x := range list {
		found[x.PID] = x
	}
	return found
}

func newScanner(t testing.TB) *session.Scanner {
	t.Helper()
	s, err := session.NewScanner()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// TestScan: who comes, who goes, and who runs another program since.
func TestScan(t *testing.T) {
	s := newScanner(t)
	first := scan(t, s)
	if self := first[os.Getpid()]; self.StartKey == 0 || self.Name == "" {
		t.Errorf("this process: %+v", self)
	}
	if pid := kernelThread(); pid != 0 && first[pid].PID != 0 {
		t.Errorf("a thread of the kernel: %+v", first[pid])
	}
	cmd := exec.Command("sh", "-c", "echo; read x; exec sleep 1000")
	in := child.Start(t, cmd)
	pid := cmd.Process.Pid
	waitUntil(t, "the shell", func() bool { return scan(t, s)[pid].Name == "sh" })
	shell := scan(t, s)[pid]
	if first[pid].PID != 0 || shell != scan(t, s)[pid] {
		t.Errorf("%+v, then %+v, then %+v", first[pid], shell, scan(t, s)[pid])
	}
	_, _ = io.WriteString(in, "\n")
	waitUntil(t, "the other program", func() bool { return scan(t, s)[pid].Name == "sleep" })
	if now := scan(t, s)[pid]; now.StartKey != shell.StartKey {
		t.Errorf("start %d, then %d", shell.StartKey, now.StartKey)
	}
	_ = cmd.Process.Kill()
	waitState(t, pid, "Z")
	if x := scan(t, s)[pid]; x.PID != 0 {
		t.Errorf("it has ended: %+v", x)
	}
}

// TestScanNoFiles: that gclog may open no more files says nothing of who is gone.
func TestScanNoFiles(t *testing.T) {
	s := newScanner(t)
	first := scan(t, s)[os.Getpid()]
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	setFiles := func(n uint64) {
		if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: n, Max: limit.Max}); err != nil {
			t.Fatal(err)
		}
	}
	setFiles(0)
	list, err := s.Scan()
	setFiles(limit.Cur)
	if !errors.Is(err, syscall.EMFILE) || !strings.Contains(err.Error(), "process ") || list != nil {
		t.Errorf("%d processes and the error %v", len(list), err)
	}
	if again := scan(t, s)[os.Getpid()]; again != first {
		t.Errorf("this process is %+v, and was %+v", again, first)
	}
}

// TestScanUnreadable: who cannot be looked at is as he was, and who is new then is
// left out.
func TestScanUnreadable(t *testing.T) {
	dir := t.TempDir()
	s, err := session.ScannerOf(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	stat := filepath.Join(dir, "100", "stat")
	text := "100 (app) S 1" + strings.Repeat(" 0", 17) + " 4711 0 0\n"
	readable := func() error { return os.WriteFile(stat, []byte(text), 0o600) }
	app := []session.Sighting{{PID: 100, StartKey: 4711, Name: "app"}}
	for _, step := range []struct {
		name string
		do   func() error
		want []session.Sighting
	}{
		{"new, and a link", func() error { return errors.Join(os.Mkdir(filepath.Dir(stat), 0o700), os.Symlink("stat", stat)) }, nil},
		{"readable", func() error { return errors.Join(os.Remove(stat), readable()) }, app},
		{"a link", func() error { return errors.Join(os.Remove(stat), os.Symlink("stat", stat)) }, app},
		{"a folder", func() error { return errors.Join(os.Remove(stat), os.Mkdir(stat, 0o700)) }, app},
		{"empty", func() error { return errors.Join(os.Remove(stat), os.WriteFile(stat, nil, 0o600)) }, app},
		{"readable again", readable, app},
		{"gone", func() error { return os.RemoveAll(filepath.Dir(stat)) }, nil},
	} {
		if err := step.do(); err != nil {
			t.Fatal(err)
		}
		if list, err := s.Scan(); err != nil || !slices.Equal(list, step.want) {
			t.Errorf("%s: %+v, error %v, want %+v", step.name, list, err, step.want)
		}
	}
}

// TestScanHostileName: a name may look like the rest of a stat.
func TestScanHostileName(t *testing.T) {
	const name = ") Z 0\n1 (2) Z"
	p := run(t, spec{Sockets: []string{exact}, Name: name})
	target := find(t, p)
	if target.Name != name || !target.Alive() || target.Stopped() {
		t.Errorf("name %q, alive %v, stopped %v", target.Name, target.Alive(), target.Stopped())
	}
	if x := scan(t, newScanner(t))[p.pid]; x.Name != name || x.StartKey != target.StartKey {
		t.Errorf("%+v, want the start %d", x, target.StartKey)
	}
}

// TestInspect: one process as in the list, and what is not in it.
func TestInspect(t *testing.T) {
	p := run(t, spec{Sockets: []string{exact}})
	l := new(session.Host).Inspect(p.pid)
	if l.Err != nil || !l.Dotnet() || l.PID != p.pid {
		t.Fatalf("%+v", l)
	}
	if err := l.Target().Resume(t.Context()); err != nil {
		t.Error(err)
	}
	l = new(session.Host).Inspect(run(t, spec{}).pid)
	refused(t, l.Err, session.CauseNotDotnet, "is not a .NET process")
	if l.Dotnet() || len(l.CommandLine) == 0 {
		t.Errorf("%+v", l)
	}
	l = new(session.Host).Inspect(run(t, spec{Map: libcoreclr(t, "2.1.30")}).pid)
	refused(t, l.Err, session.CauseTooOld, "3.0 or later")
	if !l.Dotnet() {
		t.Errorf("%+v", l)
	}
	l = new(session.Host).Inspect(99_999_999)
	refused(t, l.Err, session.CauseNoSuchProcess, "does not exist")
	if l.Dotnet() || l.PID != 99_999_999 {
		t.Errorf("%+v", l)
	}
}

// BenchmarkScan is the daemon's sweep over processes that it knows.
func BenchmarkScan(b *testing.B) {
	s := newScanner(b)
	list, err := s.Scan()
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if list, err = s.Scan(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(list)), "ns/process")
}

// BenchmarkInspect is a process that is new.
func BenchmarkInspect(b *testing.B) {
	pid, h := os.Getpid(), &session.Host{Helper: helperArguments}
	b.ReportAllocs()
	for b.Loop() {
		h.Inspect(pid)
	}
}
