package host_test

import (
	"fmt"
	"os"
	"path/filepath"
	goruntime "runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/gclog/gclog/internal/testing/ipc"
	"golang.org/x/sys/unix"
)

// threadsOf returns those threads of a process of which a file in /proc contains a text.
func threadsOf(t *testing.T, pid int, file, text string) (list []uint64) {
	t.Helper()
	paths, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/%s", pid, file))
	if err != nil || len(paths) == 0 {
		t.Fatal(paths, err)
	}
	for _, path := range paths {
		if b, err := os.ReadFile(path); err == nil && strings.HasPrefix(string(b), text) {
			id, _ := strconv.ParseUint(filepath.Base(filepath.Dir(path)), 10, 64)
			list = append(list, id)
		}
	}
	return list
}

// TestDiagnosticsThreads: .NET 8 and up names the threads of EventPipe.
func TestDiagnosticsThreads(t *testing.T) {
	for _, tc := range []struct {
		threads []string
		want    int
	}{
		{[]string{".NET EventPipe", ".NET Finalizer"}, 1},
		{[]string{".NET Finalizer", ".NET EventPipe", "app", ".NET EventPipe"}, 2},
		{[]string{".NET Finalizer", "NET EventPipe"}, 0},
		{[]string{"app"}, 0},
		{slices.Repeat([]string{".NET EventPipe"}, 140), 128},
	} {
		p := run(t, spec{Sockets: []string{exact}, Threads: tc.threads})
		got, want := find(t, p).DiagnosticsThreads(), threadsOf(t, p.pid, "comm", ".NET EventPipe\n")
		if len(got) != tc.want || len(want) <= 128 && !slices.Equal(slices.Sorted(slices.Values(got)), want) {
			t.Errorf("%q: threads %v, those with the name are %v", tc.threads, got, want)
		}
	}
}

// TestDiagnosticsThreadsInner: in events, threads have the ids that the process itself sees.
func TestDiagnosticsThreadsInner(t *testing.T) {
	p := inNamespaces(t, spec{Name: ".NET EventPipe", Sockets: []string{exact}}, unix.CLONE_NEWPID|unix.CLONE_NEWNS, "TMPDIR="+ipc.ShortDir(t))
	target := find(t, p)
	if target.InnerPID == target.PID {
		t.Fatal("it is in no pid namespace of its own")
	}
	if got := target.DiagnosticsThreads(); !slices.Equal(got, []uint64{uint64(target.InnerPID)}) {
		t.Errorf("threads %v, want %d", got, target.InnerPID)
	}
}

// TestDiagnosticsThreadAccepts: the one of .NET Core 3.1 waits on the diagnostics socket. Others may
// wait on other sockets.
func TestDiagnosticsThreadAccepts(t *testing.T) {
	own, err := os.ReadFile("/proc/self/syscall")
	if err != nil || len(own) == 0 {
		t.Skipf("the system calls of threads cannot be seen: %q, %v", own, err)
	}
	core := filepath.Join(t.TempDir(), "libcoreclr.so")
	if err := os.WriteFile(core, []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	calls := []int{unix.SYS_ACCEPT, unix.SYS_ACCEPT4}
	for _, tc := range []struct {
		accept []string
		busy   []string
		server int // which of accept is the diagnostics socket; -1: none is
	}{
		{[]string{exact}, nil, 0},
		{[]string{exact, "other"}, nil, 0},
		{[]string{"other", exact}, nil, 1},
		{[]string{"other"}, []string{exact}, -1},
		{[]string{"x" + exact}, []string{exact}, -1},
		{nil, []string{exact}, -1},
	} {
		p := run(t, spec{Accept: tc.accept, Busy: tc.busy, Threads: []string{"app"}, Map: core})
		waits := func(i int) []uint64 { return threadsOf(t, p.pid, "syscall", fmt.Sprintf("%d ", calls[i])) }
		waitUntil(t, "the threads", func() bool {
			n := 0
			for i := range tc.accept {
				n += len(waits(i))
			}
			return n == len(tc.accept)
		})
		var want []uint64
		if tc.server >= 0 {
			want = waits(tc.server)
		}
		if got := find(t, p).DiagnosticsThreads(); !slices.Equal(got, want) {
			t.Errorf("%q: threads %v, want %v", tc.accept, got, want)
		}
	}
	// A runtime that names its threads is known by them, and NativeAOT does not walk heaps.
	for _, s := range []spec{
		{Accept: []string{exact}, Threads: []string{".NET Finalizer", ".NET EventPipe"}, Map: core},
		{Accept: []string{exact}, Threads: []string{".NET Finalizer"}, Map: core},
		{Accept: []string{exact}, Threads: []string{"app"}},
	} {
		p := run(t, s)
		waitUntil(t, "the thread", func() bool { return len(threadsOf(t, p.pid, "syscall", fmt.Sprintf("%d ", calls[0]))) == 1 })
		if got, want := find(t, p).DiagnosticsThreads(), threadsOf(t, p.pid, "comm", ".NET EventPipe\n"); !slices.Equal(got, want) {
			t.Errorf("%q: threads %v, those with the name are %v", s.Threads, got, want)
		}
	}
}

// spin occupies a thread with a name.
func spin(name string) {
	goruntime.LockOSThread()
	if err := os.WriteFile("/proc/thread-self/comm", []byte(name), 0); err != nil {
		panic(err)
	}
	for n := 0; ; n++ {
		_ = n
	}
}

// TestIsLate: a request is late if the thread that answers it is runnable. Other threads only count if
// the runtime does not name its threads.
func TestIsLate(t *testing.T) {
	for name, x := range map[string]struct {
		spec
		late bool
	}{
		"the server is runnable":      {spec{Threads: []string{".NET Finalizer"}, Spin: ".NET EventPipe"}, true},
		"the server waits":            {spec{Threads: []string{".NET EventPipe"}, Spin: ".NET Worker"}, false},
		"a thread without a name is":  {spec{Spin: "app"}, true},
		"threads without names wait":  {spec{Threads: []string{"app"}}, false},
		"a name with a parenthesis )": {spec{Spin: "a) S 1 (b"}, true},
	} {
		p := run(t, spec{Sockets: []string{exact}, Threads: x.Threads, Spin: x.Spin})
		target := find(t, p)
		waitUntil(t, fmt.Sprintf("%s: %v", name, x.late), func() bool { return target.IsLate() == x.late })
		if !x.late {
			continue
		}
		if err := unix.Kill(p.pid, unix.SIGSTOP); err != nil {
			t.Fatal(err)
		}
		waitUntil(t, name+": a stopped process is not late", func() bool { return !target.IsLate() })
		if err := unix.Kill(p.pid, unix.SIGCONT); err != nil {
			t.Fatal(err)
		}
	}
}
