package host_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	goruntime "runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gclog/gclog/internal/host"
	"github.com/gclog/gclog/internal/testing/ipc"
	"github.com/gclog/gclog/session"
)

// TestStartup: the threads of a process show the state of its runtime's startup.
func TestStartup(t *testing.T) {
	for _, tc := range []struct {
		threads []string
		want    host.Startup
	}{
		{nil, host.StartupUnknown},
		{[]string{"NET EventPipe", "app"}, host.StartupUnknown},
		{[]string{".NET EventPipe"}, host.StartupPending}, // all that .NET 11 has
		{[]string{".NET EventPipe", ".NET Tiered JIT"}, host.StartupFinished},
		{[]string{".NET SynchManag", "app"}, host.StartupPending},
		{[]string{".NET EventPipe", ".NET SynchManag"}, host.StartupPending},
		{[]string{".NET EventPipe", ".NET SynchManag", ".NET Finalizer"}, host.StartupFinished},
		{[]string{".NET Finalizer", ".NET EventPipe"}, host.StartupFinished},
		{[]string{".NET Server GC"}, host.StartupFinished},
	} {
		if got := find(t, run(t, spec{Sockets: []string{exact}, Threads: tc.threads})).Startup(); got != tc.want {
			t.Errorf("%q: %v, want %v", tc.threads, got, tc.want)
		}
	}
	p := run(t, spec{Sockets: []string{exact}, Threads: []string{".NET EventPipe"}})
	target := find(t, p)
	p.end()
	if got := target.Startup(); got != host.StartupUnknown {
		t.Errorf("one that has ended: %v", got)
	}
}

// TestServerGCThreads: they can be counted once the finalizer thread exists, which is started after
// them.
func TestServerGCThreads(t *testing.T) {
	for _, tc := range []struct {
		threads []string
		n       int
		known   bool
	}{
		{[]string{".NET EventPipe"}, 0, false},
		{[]string{".NET EventPipe", ".NET Server GC", ".NET Server GC"}, 2, true},
		{[]string{".NET Server GC", ".NET Finalizer", ".NET Server GC", ".NET Server GC"}, 3, true},
		{[]string{".NET Finalizer", "NET Server GC"}, 0, true},
	} {
		target := find(t, run(t, spec{Sockets: []string{exact}, Threads: tc.threads}))
		if n, known := target.ServerGCThreads(); n != tc.n || known != tc.known {
			t.Errorf("%q: %d, known %v; want %d, known %v", tc.threads, n, known, tc.n, tc.known)
		}
	}
}

// TestBackgroundGCs: the threads of background collections that wait use no CPU time, and how often they
// have waited limits how many collections they have done.
func TestBackgroundGCs(t *testing.T) {
	if _, _, known := find(t, run(t, spec{Sockets: []string{exact}, Threads: []string{".NET Finalizer"}})).BackgroundGCTime(); known {
		t.Error("a program without such a thread has a time")
	}
	target := find(t, run(t, spec{Sockets: []string{exact}, Threads: []string{".NET Finalizer", ".NET BGC"}}))
	waits := func() bool {
		was, active, known := target.BackgroundGCTime()
		now, _, _ := target.BackgroundGCTime()
		return known && !active && was == now
	}
	for deadline := time.Now().Add(patience); !waits(); { // it has just started
		if time.Now().After(deadline) {
			t.Fatal("a thread that waits counts as active")
		}
	}
	goruntime.LockOSThread() // this thread is running, whatever it does
	defer goruntime.UnlockOSThread()
	name, err := os.ReadFile("/proc/thread-self/comm")
	if err != nil {
		t.Skip(err)
	}
	rename := func(name string) {
		if err := os.WriteFile("/proc/thread-self/comm", []byte(name), 0); err != nil {
			t.Fatal(err)
		}
	}
	rename(".NET BGC")
	defer rename(strings.TrimSpace(string(name)))
	self, err := new(host.Host).Describe(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	if ns, active, known := self.BackgroundGCTime(); ns == 0 || !active || !known {
		t.Errorf("%d ns, active %v, known %v", ns, active, known)
	}
	was, _ := self.BackgroundGCs()
	for range 2 {
		_ = syscall.Nanosleep(&syscall.Timespec{Nsec: 1}, nil)
	}
	now, age := self.BackgroundGCs()
	if now <= was {
		t.Errorf("after it has waited twice, the thread has done %d collections at most, and before %d", now, was)
	}
	if since := time.Since(self.Started); age < 0 || age > since+time.Second {
		t.Errorf("the thread is %v old, the process %v", age, since)
	}
}

// TestStartupNativeAOT: programs made by the native compiler do not name their threads. While
// suspended, they have at most two.
func TestStartupNativeAOT(t *testing.T) {
	for _, tc := range []struct {
		symbol  string
		threads int
		runtime host.Runtime
		want    host.Startup
	}{
		{"DotNetRuntimeDebugHeader", 1, host.RuntimeNativeAOT, host.StartupPending},
		{"DotNetRuntimeDebugHeader", 2, host.RuntimeNativeAOT, host.StartupPending},
		{"DotNetRuntimeDebugHeader", 3, host.RuntimeNativeAOT, host.StartupUnknown},
		{"DotNetRuntimeInfo", 1, host.RuntimeCoreCLR, host.StartupUnknown},
	} {
		p, err := new(host.Host).Describe(startTiny(t, tc.symbol, tc.threads))
		if err != nil {
			t.Fatal(err)
		}
		if p.Runtime() != tc.runtime || p.IsNativeAOT() != (tc.runtime == host.RuntimeNativeAOT) || p.Startup() != tc.want {
			t.Errorf("%s with %d threads: runtime %v, startup %v, want %v, %v", tc.symbol, tc.threads, p.Runtime(), p.Startup(), tc.runtime, tc.want)
		}
	}
}

// startTiny starts a program that exports a symbol and has the given number of threads, all of
// which wait until the end of the test.
func startTiny(t *testing.T, symbol string, threads int) (pid int) {
	t.Helper()
	if goruntime.GOARCH != "amd64" {
		t.Skipf("the program is one for amd64, this is %s", goruntime.GOARCH)
	}
	path := filepath.Join(ipc.ShortDir(t), "tiny")
	if err := os.WriteFile(path, tinyProgram(symbol, threads), 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = cmd.Process.Kill(), cmd.Wait() })
	waitUntil(t, "the threads", func() bool {
		tasks, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", cmd.Process.Pid))
		return err == nil && len(tasks) == threads
	})
	return cmd.Process.Pid
}

// tinyProgram returns an ELF file that the kernel can run. It calls clone for each further thread,
// and each thread calls pause in a loop.
func tinyProgram(symbol string, threads int) []byte {
	code := []byte{
		0xbb, byte(threads - 1), 0, 0, 0, // mov ebx, threads - 1
		0x85, 0xdb, // next: test ebx, ebx
		0x74, 0x1e, // jz wait
		0xb8, 56, 0, 0, 0, // mov eax, clone
		0xbf, 0x00, 0x0f, 0x01, 0x00, // mov edi, CLONE_VM|CLONE_FS|CLONE_FILES|CLONE_SIGHAND|CLONE_THREAD
		0x31, 0xf6, // xor esi, esi: the threads need no stack
		0x31, 0xd2, // xor edx, edx
		0x45, 0x31, 0xd2, // xor r10d, r10d
		0x45, 0x31, 0xc0, // xor r8d, r8d
		0x0f, 0x05, // syscall
		0x85, 0xc0, // test eax, eax
		0x74, 0x04, // jz wait: the new thread
		0xff, 0xcb, // dec ebx
		0xeb, 0xde, // jmp next
		0xb8, 34, 0, 0, 0, // wait: mov eax, pause
		0x0f, 0x05, // syscall
		0xeb, 0xf7, // jmp wait
	}
	const base, dynamic, table = 0x400000, 64 + 2*56, 64 + 2*56 + 2*16
	names := "\x00" + symbol + "\x00"
	b := make([]byte, table, 4096)
	copy(b, "\x7fELF\x02\x01\x01")
	b = append(append(b, names...), code...)
	size := uint64(len(b))
	put := binary.LittleEndian.PutUint64
	put(b[16:], 2|62<<16|1<<32) // executable, for amd64
	put(b[24:], base+table+uint64(len(names)))
	put(b[32:], 64)
	put(b[52:], 64|56<<16|2<<32) // sizes of the header and of the two kinds of entries that follow
	for at, words := range map[int][]uint64{
		64:      {1 | 5<<32, 0, base, base, size, size, 4096}, // the whole file, readable and executable
		64 + 56: {2 | 4<<32, dynamic, base + dynamic, base + dynamic, 32, 32, 8},
		dynamic: {5, base + table, 10, uint64(len(names))},
	} {
		for i, word := range words {
			put(b[at+8*i:], word)
		}
	}
	return b
}

// suspended starts a process that looks as if its runtime were suspended during startup.
func suspended(t *testing.T) (*host.Target, *process) {
	t.Helper()
	p := run(t, spec{Sockets: []string{exact}, Threads: []string{".NET EventPipe"}}, "DOTNET_DiagnosticPorts=/tmp/tool")
	return find(t, p), p
}

// TestPending: no session is started before a runtime has been resumed, and the error says what the
// runtime is waiting for.
func TestPending(t *testing.T) {
	for want, tc := range map[string]struct{ env, asked map[string]string }{
		"is waiting for /tmp/tool to resume it": {env: map[string]string{"DOTNET_DiagnosticPorts": "/tmp/tool"}},
		"is waiting for /a and /b to resume it": {env: map[string]string{"DOTNET_DiagnosticPorts": "/a;/b,suspend;/c,nosuspend"}},
		"is waiting for a tool at its default port (COMPlus_DefaultDiagnosticPortSuspend=1) to resume it": {
			env: map[string]string{"COMPlus_DefaultDiagnosticPortSuspend": "1"},
		},
		"is still starting":                  {env: map[string]string{"DOTNET_DiagnosticPorts": "/c,nosuspend"}},
		"is waiting for /asked to resume it": {asked: map[string]string{"DOTNET_DiagnosticPorts": "/asked"}},
		"is waiting for a diagnostic port to resume it (DOTNET_DiagnosticPorts)": {},
	} {
		target, _ := suspended(t)
		target.Environ = tc.env
		r := ipc.Serve(t, func(conn net.Conn, request []byte) {
			if tc.asked != nil && request[17] == 2 {
				_, _ = conn.Write(ipc.Environment("DOTNET_DiagnosticPorts=" + tc.asked["DOTNET_DiagnosticPorts"]))
			}
		})
		target.Client = session.Client{Dial: r.Dial}
		_, err := target.StartTracing(t.Context(), config())
		refused(t, err, host.CauseSuspended, want)
		var refused *host.TargetError
		if kind := map[bool]string{true: "starting", false: "suspended"}[want == "is still starting"]; errors.As(err, &refused) && refused.Kind != kind {
			t.Errorf("%s: kind %s", want, refused.Kind)
		}
	}
}

// TestAwaitStartup: after a second the caller is informed once what the process is waiting for, and
// AwaitStartup returns when the runtime is resumed. Then a session can be started.
func TestAwaitStartup(t *testing.T) {
	t.Parallel()
	target, p := suspended(t)
	began, reported := time.Now(), 0
	err := target.AwaitStartup(t.Context(), func(err error) {
		reported++
		refused(t, err, host.CauseSuspended, "is waiting for /tmp/tool to resume it")
		if took := time.Since(began); took < time.Second {
			t.Errorf("told after %v", took)
		}
		time.AfterFunc(200*time.Millisecond, func() { p.thread(t, ".NET Finalizer") }) // it is polled some more times
	})
	if err != nil || reported != 1 {
		t.Errorf("error %v, told %d times", err, reported)
	}
	if err := target.CheckStartup(t.Context()); err != nil {
		t.Error(err)
	}
	s, err := target.StartTracing(t.Context(), config())
	if err != nil {
		t.Fatal(err)
	}
	_ = s.Close()
}

// TestCheckStartup: a caller that does not wait gets the same information after a second.
func TestCheckStartup(t *testing.T) {
	t.Parallel()
	target, _ := suspended(t)
	refused(t, target.CheckStartup(t.Context()), host.CauseSuspended, "is waiting for /tmp/tool to resume it")
	given, cancel := context.WithCancel(t.Context())
	cancel()
	if err := target.CheckStartup(given); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v of who has given up", err)
	}
	if err := target.AwaitStartup(given, func(err error) { t.Errorf("told %v", err) }); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v of who has given up", err)
	}
	target.StartKey-- // so its pid was that of an earlier process
	err := target.AwaitStartup(t.Context(), func(err error) { t.Errorf("told %v", err) })
	refused(t, err, host.CauseNoSuchProcess, "exited before it was resumed")
	if err := target.CheckStartup(t.Context()); errors.Is(err, context.DeadlineExceeded) || err == nil {
		t.Errorf("error %v", err)
	}
}
