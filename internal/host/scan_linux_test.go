package host_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gclog/gclog/internal/host"
	"github.com/gclog/gclog/internal/testing/child"
)

func scan(t testing.TB, s *host.Scanner) map[int]host.Sighting {
	t.Helper()
	list, err := s.Scan()
	if err != nil {
		t.Fatal(err)
	}
	if !slices.IsSortedFunc(list, func(a, b host.Sighting) int { return a.PID - b.PID }) {
		t.Error("the list is not in order")
	}
	found := map[int]host.Sighting{}
	for _, x := range list {
		found[x.PID] = x
	}
	return found
}

func newScanner(t testing.TB) *host.Scanner {
	t.Helper()
	s, err := host.NewScanner()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// TestScan: processes that start, end, and execute another program.
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

// TestScanNoFiles: running out of file descriptors does not mean that a process has ended.
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

// TestScanUnreadable: a process that cannot be read keeps its previous values; a new one is left
// out.
func TestScanUnreadable(t *testing.T) {
	dir := t.TempDir()
	s, err := host.ScannerOf(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	stat := filepath.Join(dir, "100", "stat")
	text := "100 (app) S 1" + strings.Repeat(" 0", 17) + " 4711 0 0\n"
	readable := func() error { return os.WriteFile(stat, []byte(text), 0o600) }
	app := []host.Sighting{{PID: 100, StartKey: 4711, Name: "app"}}
	for _, step := range []struct {
		name string
		do   func() error
		want []host.Sighting
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

// A fakeProc is a directory that looks like /proc.
type fakeProc string

// stat creates a process, or replaces the one with that pid.
func (dir fakeProc) stat(t *testing.T, pid int, text string) {
	t.Helper()
	path := filepath.Join(string(dir), strconv.Itoa(pid))
	if err := errors.Join(os.MkdirAll(path, 0o700), os.RemoveAll(filepath.Join(path, "stat"))); err != nil {
		t.Fatal(err)
	}
	if text == "" { // it cannot be read
		text = "stat"
		if err := os.Symlink(text, filepath.Join(path, text)); err != nil {
			t.Fatal(err)
		}
	} else if err := os.WriteFile(filepath.Join(path, "stat"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// statText returns a stat with these fields, from the second one on, and the other necessary ones.
func statText(name, state, flags, start string) string {
	return "1 (" + name + ") " + state + " 4 5 6 7 8 " + flags + strings.Repeat(" 2097152", 12) + " " + start + " 23 24\n"
}

// TestScanStat: the fields of a process's stat.
func TestScanStat(t *testing.T) {
	app := host.Sighting{PID: 100, StartKey: 4711, Name: "app"}
	named := func(name string) host.Sighting { return host.Sighting{PID: 100, StartKey: 4711, Name: name} }
	for name, tc := range map[string]struct {
		text string
		want host.Sighting
	}{
		"a process":              {statText("app", "S", "4194304", "4711"), app},
		"all flags but one":      {statText("app", "R", "18446744073707454463", "4711"), app},
		"a thread of the kernel": {statText("app", "S", "2097152", "4711"), host.Sighting{}},
		"one with more flags":    {statText("app", "I", "69238880", "4711"), host.Sighting{}},
		"a zombie":               {statText("app", "Z", "4194304", "4711"), host.Sighting{}},
		"one that is dead":       {statText("app", "X", "4194304", "4711"), host.Sighting{}},
		"one that is stopped":    {statText("app", "T", "4194304", "4711"), app},
		"brackets":               {statText("a) Z 1 (b", "S", "4194304", "4711"), named("a) Z 1 (b")},
		"line ends":              {statText("a\nb", "S", "4194304", "4711"), named("a\nb")},
		"no name":                {statText("", "S", "4194304", "4711"), named("")},
		"22 fields":              {"1 (app) S" + strings.Repeat(" 0", 18) + " 4711", app},
		"22 and a line end":      {"1 (app) S" + strings.Repeat(" 0", 18) + " 4711\n", app},
		"21 fields":              {"1 (app) S" + strings.Repeat(" 0", 17) + " 4711", host.Sighting{}},
		"more blanks":            {"1 (app)  S" + strings.Repeat(" \n0", 18) + "   4711 ", app},
		"brackets that close":    {"1 )app( S" + strings.Repeat(" 0", 18) + " 4711", host.Sighting{}},
		"no brackets":            {"1 app S" + strings.Repeat(" 0", 18) + " 4711", host.Sighting{}},
		"a bracket that opens":   {"1 (app S" + strings.Repeat(" 0", 18) + " 4711", host.Sighting{}},
		"a bracket that closes":  {"1 app) S" + strings.Repeat(" 0", 18) + " 4711", host.Sighting{}},
		"one thread":             {"1 (app) S" + strings.Repeat(" 0", 16) + " 1 0 4711", host.Sighting{PID: 100, StartKey: 4711, Name: "app", OneThread: true}},
		"11 threads":             {"1 (app) S" + strings.Repeat(" 0", 16) + " 11 1 4711", app},
		"a name of the longest":  {statText(strings.Repeat("x", 64), "S", "0", "4711"), named(strings.Repeat("x", 64))},
	} {
		dir := fakeProc(t.TempDir())
		dir.stat(t, 100, tc.text)
		var want []host.Sighting
		if tc.want.PID != 0 {
			want = append(want, tc.want)
		}
		s, err := host.ScannerOf(string(dir))
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if list, err := s.Scan(); err != nil || !slices.Equal(list, want) {
				t.Errorf("%s: %+v, error %v, want %+v", name, list, err, want)
			}
		}
		s.Close()
	}
}

// TestScanNames: a directory whose name is not a number is not a process.
func TestScanNames(t *testing.T) {
	dir := fakeProc(t.TempDir())
	for _, name := range []string{"self", "12a", "a12", "1.2", "-5", "1:", "1/2"} {
		path := filepath.Join(string(dir), name)
		if err := errors.Join(os.MkdirAll(path, 0o700), os.WriteFile(filepath.Join(path, "stat"), []byte(statText("app", "S", "0", "1")), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	for _, pid := range []int{1, 9, 10, 12, 4_194_304} {
		dir.stat(t, pid, statText(strconv.Itoa(pid), "S", "0", strconv.Itoa(pid)))
	}
	s, err := host.ScannerOf(string(dir))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	list, err := s.Scan()
	if err != nil || len(list) != 5 {
		t.Errorf("%+v, error %v", list, err)
	}
	for _, x := range list {
		if x.Name != strconv.Itoa(x.PID) || x.StartKey != uint64(x.PID) {
			t.Errorf("%+v", x)
		}
	}
	s.Close()
	if list, err := s.Scan(); err == nil {
		t.Errorf("of what is closed: %+v", list)
	}
	if s, err := host.ScannerOf(filepath.Join(string(dir), "missing")); err == nil {
		s.Close()
		t.Error("a folder that is not there is taken")
	}
}

// TestNextEntry: an entry is read as the kernel writes it. One that is cut off or has a wrong length
// is no process, and is the last one.
func TestNextEntry(t *testing.T) {
	entry := func(length int, name string) []byte {
		b := append(make([]byte, 16), 0, 0, 4)
		binary.NativeEndian.PutUint16(b[16:], uint16(length))
		return append(b, name...)
	}
	after := []byte("behind")
	for _, tc := range []struct {
		name string
		pid  int
	}{{"7\x00", 7}, {"1234567\x00", 1234567}, {"12\x0034\x00", 12}, {"12", 0}, {"1a\x00", 0}, {"1:\x00", 0}, {"1/\x00", 0}, {"\x00", 0}, {"", 0}} {
		b := entry(19+len(tc.name), tc.name)
		if pid, rest := host.NextEntry(append(b, after...)); pid != tc.pid || !bytes.Equal(rest, after) {
			t.Errorf("%q: process %d, then %q, want %d", tc.name, pid, rest, tc.pid)
		}
		for n := range b {
			if pid, rest := host.NextEntry(b[:n]); pid != 0 || len(rest) != 0 {
				t.Errorf("%q, %d of %d bytes: process %d, then %q", tc.name, n, len(b), pid, rest)
			}
		}
	}
	for length := range 19 {
		if pid, rest := host.NextEntry(entry(length, "7\x00")); pid != 0 || len(rest) != 0 {
			t.Errorf("a length of %d: process %d, then %q", length, pid, rest)
		}
	}
}

// TestScanKernel: a kernel thread is checked again in one of 16 scans.
func TestScanKernel(t *testing.T) {
	dir := fakeProc(t.TempDir())
	s, err := host.ScannerOf(string(dir))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for n := 1; n <= 48; n++ {
		if n%16 == 1 { // its pid is that of a process now
			dir.stat(t, 100, statText("kworker", "I", "69238880", "1"))
		}
		list, err := s.Scan()
		if err != nil {
			t.Fatal(err)
		}
		if seen := len(list) == 1; seen != (n%16 == 0) {
			t.Errorf("scan %d: it is seen: %v", n, seen)
		}
		dir.stat(t, 100, statText("app", "S", "4194304", "4711"))
	}
}

// TestScanKnown: a process that cannot be read is as it was in the previous scan, whichever others
// have started and ended.
func TestScanKnown(t *testing.T) {
	dir := fakeProc(t.TempDir())
	text := func(pid int) string { return statText("app"+strconv.Itoa(pid), "S", "0", strconv.Itoa(10*pid)) }
	pids := ascending(t, string(dir), 5)
	s, err := host.ScannerOf(string(dir))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, step := range []struct{ readable, there, want []int }{ // indices in pids
		{[]int{0, 1, 2, 3, 4}, []int{0, 1, 2, 3, 4}, []int{0, 1, 2, 3, 4}},
		{nil, []int{0, 1, 2, 3, 4}, []int{0, 1, 2, 3, 4}},
		{[]int{2}, []int{1, 2, 4}, []int{1, 2, 4}},
		{[]int{3}, []int{0, 1, 2, 3, 4}, []int{1, 2, 3, 4}},
		{[]int{0}, []int{0, 4}, []int{0, 4}},
		{nil, []int{0, 1, 2, 3, 4}, []int{0, 4}},
		{nil, []int{1, 2}, nil},
		{nil, []int{0, 1, 4}, nil},
	} {
		for i, pid := range pids {
			stat := ""
			if slices.Contains(step.readable, i) {
				stat = text(pid)
			}
			dir.stat(t, pid, stat)
			if !slices.Contains(step.there, i) {
				if err := os.Remove(filepath.Join(string(dir), strconv.Itoa(pid), "stat")); err != nil {
					t.Fatal(err)
				}
			}
		}
		list, err := s.Scan()
		var want []host.Sighting
		for _, i := range step.want {
			want = append(want, host.Sighting{PID: pids[i], StartKey: uint64(10 * pids[i]), Name: "app" + strconv.Itoa(pids[i])})
		}
		if err != nil || !slices.Equal(list, want) {
			t.Errorf("%+v: %+v, error %v, want %+v", step, list, err, want)
		}
	}
}

// ascending creates directories whose names are numbers. The file system lists them in ascending
// order, as the kernel lists processes.
func ascending(t *testing.T, dir string, n int) (pids []int) {
	t.Helper()
	for i := 0; len(pids) < n; i++ {
		pid := 500 + i/2 // upward and downward: some file systems list the newest first
		if i%2 == 1 {
			pid = 499 - i/2
		}
		name := filepath.Join(dir, strconv.Itoa(pid))
		if err := os.Mkdir(name, 0o700); err != nil {
			t.Fatal(err)
		}
		f, err := os.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		names, err := f.Readdirnames(-1)
		_ = f.Close()
		if err != nil {
			t.Fatal(err)
		}
		if slices.IsSorted(names) {
			pids = append(pids, pid)
			slices.Sort(pids)
		} else if err := os.Remove(name); err != nil {
			t.Fatal(err)
		}
		if i == 800 {
			t.Skipf("this file system lists folders in no order: %v", names)
		}
	}
	return pids
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

// TestInspect: one process as in the list, and processes that are not in it.
func TestInspect(t *testing.T) {
	p := run(t, spec{Sockets: []string{exact}})
	l := new(host.Host).Inspect(p.pid)
	if l.Err != nil || !l.Dotnet() || l.PID != p.pid {
		t.Fatalf("%+v", l)
	}
	if err := l.Target().Resume(t.Context()); err != nil {
		t.Error(err)
	}
	l = new(host.Host).Inspect(run(t, spec{}).pid)
	refused(t, l.Err, host.CauseNotDotnet, "is not a .NET process")
	if l.Dotnet() || len(l.CommandLine) == 0 {
		t.Errorf("%+v", l)
	}
	l = new(host.Host).Inspect(run(t, spec{Map: libcoreclr(t, "2.1.30")}).pid)
	refused(t, l.Err, host.CauseTooOld, "3.0 or later")
	if !l.Dotnet() {
		t.Errorf("%+v", l)
	}
	l = new(host.Host).Inspect(99_999_999)
	refused(t, l.Err, host.CauseNoSuchProcess, "does not exist")
	if l.Dotnet() || l.PID != 99_999_999 || l.InnerPID != l.PID || l.UID != -1 {
		t.Errorf("%+v", l)
	}
}

// BenchmarkScan measures the daemon's scan of known processes.
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

// BenchmarkInspect measures the inspection of a new process.
func BenchmarkInspect(b *testing.B) {
	pid, h := os.Getpid(), &host.Host{Helper: helperArguments}
	b.ReportAllocs()
	for b.Loop() {
		h.Inspect(pid)
	}
}

// TestExiting: a process that has been killed and still exists has not removed its socket.
func TestExiting(t *testing.T) {
	cmd := exec.Command("sleep", "600")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if host.Exiting(cmd.Process.Pid) {
		t.Error("a running process has no root folder")
	}
	_ = cmd.Process.Kill()
	for end := time.Now().Add(patience); !host.Exiting(cmd.Process.Pid); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("it was killed, nobody has waited for it, and it has a root folder")
		}
	}
	_ = cmd.Wait()
}
