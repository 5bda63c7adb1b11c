package host_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	goruntime "runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gclog/gclog/internal/host"
	"github.com/gclog/gclog/internal/testing/child"
	"github.com/gclog/gclog/internal/testing/ipc"
	"github.com/gclog/gclog/internal/testing/syscalls"
	"github.com/gclog/gclog/session"
	"golang.org/x/sys/unix"
)

// TestLeavesNothing: none of the queries about a process leaves a file open, and files that stay
// open for some time are closed in every program that gclog starts.
func TestLeavesNothing(t *testing.T) {
	p := run(t, spec{Sockets: []string{exact}, Threads: []string{".NET Server GC"}})
	file := filepath.Join(p.dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	h := &host.Host{}
	all := func(h *host.Host) {
		target, err := h.Find(t.Context(), p.pid)
		if err != nil {
			t.Fatal(err)
		}
		w, m := target.Watch(), target.OpenMemory()
		_, _, _ = m.Read()
		_, _ = w.SocketLeft()
		_ = w.Outcome()
		_, _ = h.List(t.Context())
		_, _ = h.Describe(p.pid)
		_, _ = h.Find(t.Context(), 99_999_999)
		_ = h.NewFamily("TMPDIR", p.dir).Members()
		_, _ = target.ReadFile(t.Context(), file, 10)
		_, _ = target.ReadFile(t.Context(), file+"-", 10)
		other := target.Process
		other.StartKey++
		_, _ = other.ReadFile(t.Context(), file, 10)
		_, _, _ = target.Runtime(), target.GCLibrary(), target.LibraryVersion()
		_, _, _, _ = target.Startup(), target.Tracer(), target.Stopped(), target.Alive()
		_, _ = target.ServerGCThreads()
		_ = target.SocketDeleted()
		_, _ = target.TempDirTrouble(), target.WhyNoSocket(nil)
		_ = (&host.Process{Name: "app"}).LooksDotnet()
		if err := target.Resume(t.Context()); err != nil {
			t.Error(err)
		}
		s, err := host.NewScanner()
		if err != nil {
			t.Fatal(err)
		}
		_, _ = s.Scan()
		port, err := session.Listen(filepath.Join(p.dir, "port"), 10)
		if err != nil {
			t.Fatal(err)
		}
		conn := ipc.Advertise(t, filepath.Join(p.dir, "port"), ipc.First)
		_ = h.TargetOf(next(t, port))
		checkCloseOnExec(t)
		_ = conn.Close()
		_ = port.Close()
		s.Close()
		w.Close()
		m.Close()
		later, err := os.Open(file) // it has a descriptor number that was closed just now
		if err != nil {
			t.Fatal(err)
		}
		defer later.Close()
		w.Close()
		m.Close()
		s.Close()
		if _, err := later.Stat(); err != nil {
			t.Errorf("a file of others was closed: %v", err)
		}
	}
	syscalls.LeavesNothing(t, os.Getpid(), func() { all(h) })
	withHelper := &host.Host{Helper: helperArguments}
	syscalls.LeavesNothing(t, os.Getpid(), func() { all(withHelper) })
}

// TestNoFiles: when gclog is out of file descriptors it finds out nothing, and draws no wrong
// conclusions.
func TestNoFiles(t *testing.T) {
	p := run(t, spec{Sockets: []string{exact}, Map: libcoreclr(t, "8.0.22"), Threads: []string{".NET Finalizer"}})
	for _, helper := range [][]string{nil, helperArguments} {
		h := &host.Host{Helper: helper}
		target := find(t, p)
		found, err := h.Find(t.Context(), p.pid)
		if err != nil {
			t.Fatal(err)
		}
		family := h.NewFamily("TMPDIR", p.dir)
		if n := family.Count(); n != 1 || len(family.Strangers()) == 0 {
			t.Errorf("%d members, and strangers %v", n, family.Strangers())
		}
		strangers := len(family.Strangers())
		var limit syscall.Rlimit
		if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
			t.Fatal(err)
		}
		none := syscall.Rlimit{Cur: 0, Max: limit.Max}
		if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &none); err != nil {
			t.Fatal(err)
		}
		_, ferr := h.Find(t.Context(), p.pid)
		_, lerr := h.List(t.Context())
		_, derr := h.Describe(p.pid)
		_, serr := host.NewScanner()
		w, m := found.Watch(), found.OpenMemory()
		resident, group, most := m.Read()
		outcome := w.Outcome()
		alive, stopped, tracer, startup := found.Alive(), found.Stopped(), found.Tracer(), found.Startup()
		runtime, deleted, count := found.Runtime(), found.SocketDeleted(), family.Count()
		threads, known := found.ServerGCThreads()
		_, merr := found.Maps("/libcoreclr.so")
		_, rerr := found.ReadFile(t.Context(), "/proc/version", 10)
		dotnet := (&host.Process{PID: p.pid, Name: "app"}).LooksDotnet()
		err = found.Resume(t.Context())
		if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
			t.Fatal(err)
		}
		refused(t, ferr, host.CauseNoAccess, "cannot be inspected: too many open files")
		refused(t, derr, host.CauseNoAccess, "cannot be inspected: too many open files")
		refused(t, err, host.CauseNoAccess, "too many open files")
		for _, err := range []error{lerr, serr, merr, rerr} {
			if !errors.Is(err, unix.EMFILE) {
				t.Errorf("error %v", err)
			}
		}
		if got := len(family.Strangers()); got != strangers {
			t.Errorf("%d strangers are known, and were %d", got, strangers)
		}
		if dotnet {
			t.Error("it is taken for .NET")
		}
		if resident|group|most != 0 || outcome.Known || outcome.OOM {
			t.Errorf("memory %d, %d, %d, outcome %+v", resident, group, most, outcome)
		}
		if !alive || stopped || tracer != 0 || startup != host.StartupUnknown || runtime != host.RuntimeUnknown || deleted || count != 0 || threads != 0 || known {
			t.Errorf("alive %v, stopped %v, tracer %d, startup %v, runtime %v, deleted %v, %d members, threads %d %v", alive, stopped, tracer, startup, runtime, deleted, count, threads, known)
		}
		w.Close()
		m.Close()
		if again := find(t, p); again.StartKey != target.StartKey || again.Startup() != host.StartupFinished || again.Runtime() != host.RuntimeCoreCLR {
			t.Errorf("afterwards: %+v", again.Process)
		}
	}
}

// checkCloseOnExec checks that no file that is open now is inherited by a program that is started.
func checkCloseOnExec(t *testing.T) {
	t.Helper()
	list, err := os.ReadDir("/proc/self/fdinfo")
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range list {
		b, _ := os.ReadFile("/proc/self/fdinfo/" + d.Name())
		_, rest, _ := strings.Cut(string(b), "flags:")
		flags, _ := strconv.ParseUint(strings.TrimSpace(strings.SplitN(rest, "\n", 2)[0]), 8, 64)
		if fd, _ := strconv.Atoi(d.Name()); fd > 2 && b != nil && flags&unix.O_CLOEXEC == 0 {
			name, _ := os.Readlink("/proc/self/fd/" + d.Name())
			if !strings.HasPrefix(name, "/proc/") && !strings.HasPrefix(name, "/sys/") && !strings.HasPrefix(name, "socket:") {
				continue // the test inherited it
			}
			t.Errorf("file %d stays open in programs that are started: %s", fd, name)
		}
	}
}

// TestTempDirTrouble: what may have kept a runtime from creating its socket, or what happened to
// the socket.
func TestTempDirTrouble(t *testing.T) {
	dotnet := func() spec { return spec{Map: libcoreclr(t, "8.0.22")} }
	check := func(t *testing.T, p *process, kind, words string) {
		t.Helper()
		l := new(host.Host).Inspect(p.pid)
		refused(t, l.Err, host.CauseNoSocket, words)
		var target *host.TargetError
		if errors.As(l.Err, &target) && target.Kind != kind || !l.Dotnet() {
			t.Errorf("kind %s, want %s; .NET: %v", target.Kind, kind, l.Dotnet())
		}
	}
	t.Run("deleted", func(t *testing.T) {
		s := dotnet()
		s.Sockets = []string{exact}
		p := run(t, s)
		target := find(t, p)
		if err := os.Remove(p.socket(t, "")); err != nil {
			t.Fatal(err)
		}
		if !target.SocketDeleted() {
			t.Error("the kernel does not tell")
		}
		check(t, p, "socket-deleted", "the socket was deleted while the process was running")
	})
	t.Run("one like it was deleted", func(t *testing.T) {
		s := dotnet()
		s.Sockets, s.Refuse = []string{"x" + exact, exact + "x"}, []string{exact}
		p := run(t, s)
		for _, name := range []string{"x" + filepath.Base(p.socket(t, "")), filepath.Base(p.socket(t, "")) + "x", filepath.Base(p.socket(t, ""))} {
			if err := os.Remove(filepath.Join(p.dir, name)); err != nil {
				t.Fatal(err)
			}
		}
		check(t, p, "no-socket", "the socket was deleted, or the runtime is still starting")
	})
	t.Run("planted", func(t *testing.T) {
		p := run(t, dotnet())
		if err := os.WriteFile(p.socket(t, ""), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		check(t, p, "planted-link", "is a link or a regular file, which gclog does not follow")
	})
	for name, tc := range map[string]struct {
		options     string
		readOnly    bool
		fill        int
		kind, words string
	}{
		"read-only":     {"size=64k", true, 0, "tmpdir-readonly", "the directory is read-only"},
		"one page":      {fmt.Sprint("size=", os.Getpagesize()), false, 1, "tmpdir-full", "the directory is full"},
		"one file":      {"size=64k,nr_inodes=1", false, 0, "tmpdir-full", "the directory is full"},
		"full":          {"size=64k", false, 64 << 10, "tmpdir-full", "the directory is full"},
		"too many":      {"size=64k,nr_inodes=2", false, 1, "tmpdir-full", "the directory is full"},
		"without limit": {"size=0,nr_inodes=0", false, 1, "no-socket", "the socket was deleted, or the runtime is still starting"},
		"room":          {"size=64k,nr_inodes=3", false, 60 << 10, "no-socket", "the socket was deleted, or the runtime is still starting"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := ipc.ShortDir(t)
			s := dotnet()
			s.Tmpfs, s.Options, s.ReadOnly = dir, tc.options, tc.readOnly
			if tc.fill > 0 {
				s.Write = map[string]string{filepath.Join(dir, "file"): strings.Repeat("x", tc.fill)}
			}
			check(t, inNamespaces(t, s, unix.CLONE_NEWNS, "TMPDIR="+dir), tc.kind, tc.words)
		})
	}
	t.Run("long", func(t *testing.T) {
		p := run(t, spec{Sockets: []string{exact}})
		target := find(t, p)
		room := 107 - len("/"+filepath.Base(target.Socket())) // size of sun_path less the terminating zero
		for length, want := range map[int]string{room: "no-socket", room + 1: "tmpdir-long"} {
			target.UseTempDir("/" + strings.Repeat("d", length-1))
			if got := target.TempDirTrouble(); got != want && !(want == "no-socket" && got == "socket-deleted") {
				t.Errorf("a folder of %d bytes: %s, want %s", length, got, want)
			}
		}
	})
}

// TestWhyNoSocket: the reason why a socket could not be searched for takes precedence over other
// causes.
func TestWhyNoSocket(t *testing.T) {
	dotnet := find(t, run(t, spec{Sockets: []string{exact}, Map: libcoreclr(t, "8.0.22")}))
	other := find(t, run(t, spec{Sockets: []string{exact}}))
	gone := find(t, run(t, spec{Sockets: []string{exact}}))
	gone.StartKey--
	deleted := find(t, run(t, spec{Sockets: []string{exact}}))
	if err := os.Remove(deleted.Socket()); err != nil {
		t.Fatal(err)
	}
	plain := &host.Target{Process: new(host.Host).Inspect(run(t, spec{}).pid).Process}
	other.Started = time.Now() // the others took some time
	stuck := func(t *host.Target) error {
		return &host.TargetError{PID: t.PID, Cause: host.CauseStuck, Detail: "is stuck"}
	}
	for _, tc := range []struct {
		target  *host.Target
		failure error
		cause   host.Cause
		kind    string
		words   string
		dotnet  bool // it is listed
	}{
		{gone, nil, host.CauseNoSuchProcess, "no-process", "has exited", false},
		{gone, unix.EACCES, host.CauseNoSuchProcess, "no-process", "has exited", false},
		{dotnet, unix.EACCES, host.CauseNoAccess, "no-ptrace", "does not let gclog see its files", false},
		{dotnet, unix.EPERM, host.CauseNoAccess, "no-ptrace", "does not let gclog see its files", false},
		{dotnet, unix.EMFILE, host.CauseNoAccess, "no-access", "gclog has reached its limit of open files", false},
		{dotnet, unix.ENFILE, host.CauseNoAccess, "no-access", "gclog has reached its limit of open files", false},
		{dotnet, unix.ENOENT, host.CauseNoSocket, "tmpdir-missing", "its temporary directory " + filepath.Dir(dotnet.Socket()) + " cannot be used: no such file", true},
		{dotnet, stuck(dotnet), host.CauseStuck, "", "is stuck", true},
		{deleted, stuck(deleted), host.CauseStuck, "", "is stuck", true},
		{plain, stuck(plain), host.CauseStuck, "", "is stuck", false},
		{other, unix.ENOENT, host.CauseNotDotnet, "not-dotnet", "or it is still starting", false},
	} {
		l := &host.Listed{Process: tc.target.Process}
		l.Err = l.WhyNoSocket(tc.failure)
		err := l.Err
		refused(t, err, tc.cause, tc.words)
		if target, ok := errors.AsType[*host.TargetError](err); !ok || target.Kind != tc.kind || target.PID != tc.target.PID {
			t.Errorf("%v: %+v, want the kind %s", tc.failure, err, tc.kind)
		}
		if l.Dotnet() != tc.dotnet {
			t.Errorf("%v: it is listed: %v", err, !tc.dotnet)
		}
	}
	for age, starting := range map[time.Duration]bool{4001 * time.Millisecond: true, 5 * time.Second: false} {
		old := other.Process
		old.Started = time.Now().Add(-age)
		if err := old.WhyNoSocket(nil); err == nil || strings.Contains(err.Error(), "still starting") != starting {
			t.Errorf("one that has run for %v: %v", age, err)
		}
	}
}

// TestDialError: the error for a process that cannot be connected to.
func TestDialError(t *testing.T) {
	p := run(t, spec{Sockets: []string{exact}})
	target := find(t, p)
	own := &host.TargetError{PID: 1, Cause: host.CauseStuck}
	for _, err := range []error{context.DeadlineExceeded, os.ErrDeadlineExceeded, unix.EAGAIN} {
		if got := target.DialError(err); !errors.Is(got, session.ErrNoAnswer) || !strings.Contains(got.Error(), fmt.Sprintf("connecting to process %d", p.pid)) {
			t.Errorf("%v: %v", err, got)
		}
	}
	for _, err := range []error{own, context.Canceled} {
		if got := target.DialError(err); got != err { //nolint:errorlint // the error itself, not wrapped
			t.Errorf("%v: %v", err, got)
		}
	}
	for _, tc := range []struct {
		err   error
		cause host.Cause
		kind  string
		words string
	}{
		{unix.ECONNREFUSED, host.CauseStaleSocket, "stale-socket", "has a socket that no process listens on, left over from another process: " + target.Socket()},
		{unix.ENOTSOCK, host.CauseNoSocket, "planted-link", "no longer has a socket at " + target.Socket()},
		{unix.ENOENT, host.CauseNoSocket, "socket-deleted", "has removed its diagnostics socket"},
		{unix.EACCES, host.CauseOtherUser, "other-user", fmt.Sprintf("belongs to user %s (uid %d), gclog runs as uid %d and may not connect", target.User, target.UID, os.Geteuid())},
		{unix.EIO, host.CauseNoAccess, "no-access", "cannot be reached over " + target.Socket() + ": input/output error"},
	} {
		err := target.DialError(tc.err)
		refused(t, err, tc.cause, tc.words)
		if target, ok := errors.AsType[*host.TargetError](err); !ok || target.Kind != tc.kind {
			t.Errorf("%v: %+v, want the kind %s", tc.err, err, tc.kind)
		}
	}
	target.StartKey--
	refused(t, target.DialError(unix.EIO), host.CauseNoSuchProcess, "has exited")
}

// TestDescribe: what is known about a process, with its socket or without one, and the result if
// there is no process.
func TestDescribe(t *testing.T) {
	h := new(host.Host)
	p := run(t, spec{Sockets: []string{exact}}, "OTEL_A=b")
	got, err := h.Describe(p.pid)
	if err != nil || got.PID != p.pid || got.Socket() != p.socket(t, "") || got.Environ["OTEL_A"] != "b" || !got.Alive() {
		t.Errorf("%+v, error %v", got, err)
	}
	none := run(t, spec{})
	if got, err := h.Describe(none.pid); err != nil || got.PID != none.pid || got.Socket() != "" || len(got.CommandLine) != 1 {
		t.Errorf("%+v, error %v", got, err)
	}
	if got, err := h.Describe(99_999_999); err == nil {
		t.Errorf("%+v", got)
	} else {
		refused(t, err, host.CauseNoSuchProcess, "does not exist")
	}
	stuck := new(host.Host)
	target, err := stuck.Find(t.Context(), p.pid)
	if err != nil {
		t.Fatal(err)
	}
	stuck.FillLooks()
	w, m := target.Watch(), target.OpenMemory()
	if _, known := w.SocketLeft(); known || w.Outcome().Known {
		t.Errorf("where nothing can be looked at: the socket is known, or %+v", w.Outcome())
	}
	if resident, group, limit := m.Read(); resident|group|limit != 0 {
		t.Errorf("where nothing can be looked at: memory %d, %d, %d", resident, group, limit)
	}
	w.Close()
	m.Close()
	refused(t, stuck.Inspect(p.pid).Err, host.CauseStuck, "is not inspected")
	if _, err := stuck.Find(t.Context(), p.pid); err == nil {
		t.Error("it is found where nothing can be looked at")
	}
	if got, err := stuck.Describe(p.pid); err != nil || got == nil || got.PID != p.pid || got.Name == "" || got.Environ != nil {
		t.Errorf("where nothing can be looked at: %+v, error %v", got, err)
	}
}

// TestTracer: the process that debugs another one.
func TestTracer(t *testing.T) {
	goruntime.LockOSThread() // the tracer is a thread, here not the one with the number of the process
	defer goruntime.UnlockOSThread()
	if unix.Gettid() == os.Getpid() {
		t.Run("another thread", TestTracer)
		return
	}
	cmd := exec.Command("true")
	cmd.SysProcAttr = &syscall.SysProcAttr{Ptrace: true}
	if err := cmd.Start(); err != nil {
		t.Skipf("no process can be debugged here: %v", err)
	}
	defer func() { _, _ = cmd.Process.Kill(), cmd.Wait() }()
	waitState(t, cmd.Process.Pid, "t")
	p, err := new(host.Host).Describe(cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	if p.Tracer() != os.Getpid() || !p.Stopped() || !p.Alive() {
		t.Errorf("process %d debugs it, stopped: %v, alive: %v", p.Tracer(), p.Stopped(), p.Alive())
	}
	if plain := find(t, run(t, spec{Sockets: []string{exact}})); plain.Tracer() != 0 || plain.Stopped() {
		t.Errorf("process %d debugs another one, stopped: %v", plain.Tracer(), plain.Stopped())
	}
}

// TestPeerProcess: only a unix socket shows the process at the other end.
func TestPeerProcess(t *testing.T) {
	path := filepath.Join(ipc.ShortDir(t), "socket")
	listenAs(t, path)
	conn, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	if pid, uid, err := session.PeerProcess(conn); pid != os.Getpid() || uid != os.Geteuid() || err != nil {
		t.Errorf("process %d of user %d, error %v", pid, uid, err)
	}
	_ = conn.Close()
	pipe, end := net.Pipe()
	defer pipe.Close()
	defer end.Close()
	for what, conn := range map[string]net.Conn{"closed": conn, "a pipe": pipe, "none": &net.UnixConn{}} {
		if pid, uid, err := session.PeerProcess(conn); pid != 0 || uid != 0 || err == nil {
			t.Errorf("%s: process %d of user %d, error %v", what, pid, uid, err)
		}
	}
}

// asNobody runs a helper as a user without any rights except the given capabilities.
func asNobody(t *testing.T, s spec, capabilities ...uintptr) string {
	t.Helper()
	b, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(child.PublicCopy(t))
	cmd.Env = child.Environ("process", specVariable+"="+string(b))
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}, AmbientCaps: capabilities}
	return child.Output(t, cmd)
}

// TestFindWithCapabilities: without being root, gclog can reach processes of other users with two
// capabilities.
func TestFindWithCapabilities(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give capabilities")
	}
	p := run(t, spec{Sockets: []string{exact}})
	const ptrace, override = unix.CAP_SYS_PTRACE, unix.CAP_DAC_OVERRIDE
	for name, tc := range map[string]struct {
		capabilities []uintptr
		found        bool
	}{
		"none":     {nil, false},
		"both":     {[]uintptr{ptrace, override}, true},
		"ptrace":   {[]uintptr{ptrace}, false},
		"override": {[]uintptr{override}, false},
	} {
		if got := asNobody(t, spec{Find: p.pid}, tc.capabilities...); (got == "<nil>\n") != tc.found || !tc.found && !strings.Contains(got, "belongs to user") {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// TestFindWithoutPtrace: root of a container can look into its own processes, but not into those of
// others, and the error says what is missing.
func TestFindWithoutPtrace(t *testing.T) {
	setpriv, err := exec.LookPath("setpriv")
	if err != nil || os.Geteuid() != 0 {
		t.Skipf("only root can give capabilities up, with a program: %v", err)
	}
	dir := everybodys(t)
	p := runIn(t, spec{Dir: dir, Through: []string{setpriv, "--reuid=" + strconv.Itoa(nobody), "--clear-groups", "--"}}, "TMPDIR="+dir)
	b, err := json.Marshal(spec{Find: p.pid})
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(setpriv, "--bounding-set", "-sys_ptrace,-dac_override", self)
	cmd.Env = child.Environ("process", specVariable+"="+string(b))
	if got := child.Output(t, cmd); !strings.Contains(got, "does not let gclog see its files: that requires the capability SYS_PTRACE") {
		t.Errorf("%q", got)
	}
}

// TestListOfOthers: a user without access to the processes of others gets a list of those that look
// like .NET by what is visible to everybody.
func TestListOfOthers(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can become nobody")
	}
	want := map[string]*process{
		"called dotnet":     run(t, spec{Name: "dotnet"}),
		"a dll":             run(t, spec{Args: []string{"run", "app.dll", "x"}}),
		"its socket in tmp": runIn(t, spec{Sockets: []string{exact}, Dir: "/tmp"}),
	}
	others := map[string]*process{
		"a name like that":     run(t, spec{Name: "dotnet2"}),
		"nothing":              run(t, spec{Args: []string{"app.dllx"}}),
		"its socket elsewhere": run(t, spec{Sockets: []string{exact}}),
	}
	list := asNobody(t, spec{List: true})
	listed := func(p *process) bool {
		return slices.ContainsFunc(strings.Split(list, "\n"), func(line string) bool {
			return strings.HasPrefix(line, strconv.Itoa(p.pid)+" ") && strings.Contains(line, "belongs to user root")
		})
	}
	for name, p := range want {
		if !listed(p) {
			t.Errorf("%s: it is not listed: %s", name, list)
		}
	}
	for name, p := range others {
		if listed(p) {
			t.Errorf("%s: it is listed: %s", name, list)
		}
	}
}

// TestOutcomeForNobody: the kernel does not show how a process ended to a user without the right to
// see it.
func TestOutcomeForNobody(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can become nobody")
	}
	p := run(t, spec{Sockets: []string{exact}, Exit: 3})
	defer p.end()
	b, err := json.Marshal(spec{Outcome: p.pid})
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(child.PublicCopy(t))
	cmd.Env = child.Environ("process", specVariable+"="+string(b))
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var stderr strings.Builder
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	out := bufio.NewReader(stdout)
	watching, _ := out.ReadString('\n')
	_ = p.hold.Close()
	waitState(t, p.pid, "Z")
	_ = in.Close()
	outcome, _ := out.ReadString('\n')
	if err := cmd.Wait(); err != nil || watching != "watching\n" || outcome != "{Known:false Exited:true Code:0 Signal:0 OOM:false Unseen:false}\n" {
		t.Errorf("%q, %q, error %v: %s", watching, outcome, err, stderr.String())
	}
}

// TestFamilyCount: members are counted whatever program they run, including new ones and those that
// ran another program before.
func TestFamilyCount(t *testing.T) {
	dir := ipc.ShortDir(t)
	f := new(host.Host).NewFamily("GCLOG_FAMILY", dir)
	for n := range 3 {
		if got := f.Count(); got != n {
			t.Errorf("%d members, want %d", got, n)
		}
		runIn(t, spec{}, "GCLOG_FAMILY="+dir+"/x")
	}
	if got := f.Members(); len(got) != 0 {
		t.Errorf("members %v, which have no socket", got)
	}
	_ = runIn(t, spec{}, "GCLOG_FAMILY=/other", "GCLOG_FAMILY2="+dir)
	if got := f.Count(); got != 3 {
		t.Errorf("%d members, want 3", got)
	}
}

// TestFamilyStrangers: who belongs to others is known, and is forgotten at its end: its number may
// be that of a member then. A young process without an environment may still get one.
func TestFamilyStrangers(t *testing.T) {
	dir := ipc.ShortDir(t)
	f := new(host.Host).NewFamily("GCLOG_FAMILY", dir)
	member, other := runIn(t, spec{}, "GCLOG_FAMILY="+dir), runIn(t, spec{}, "GCLOG_FAMILY=/other")
	young := exec.Command("sleep", "1000")
	young.Env = []string{}
	began := time.Now()
	if err := young.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = young.Process.Kill(), young.Wait() }()
	for range 2 {
		n, left := f.Count(), f.Strangers()[young.Process.Pid] && time.Since(began) < 4*time.Second
		if n != 1 || !f.Strangers()[other.pid] || f.Strangers()[member.pid] || left {
			t.Errorf("%d members; strangers %v, with %d, without %d and %d", n, f.Strangers(), other.pid, member.pid, young.Process.Pid)
		}
	}
	other.end()
	member.end()
	_, known := f.Strangers()[other.pid]
	if n := f.Count(); n != 0 || !known {
		t.Errorf("%d members, the stranger was known: %v", n, known)
	}
	if _, known := f.Strangers()[other.pid]; known {
		t.Error("it has ended, and is a stranger still")
	}
}

// TestLooksDotnet: what is taken for .NET without a look into it.
func TestLooksDotnet(t *testing.T) {
	for _, tc := range []struct {
		name string
		line []string
		want bool
	}{
		{"dotnet", nil, true},
		{"app", []string{"dotnet", "app.dll"}, true},
		{"app", []string{"/a/app.dll", "x"}, true},
		{"app", []string{"app.dll.config"}, false},
		{"java", []string{"java", "-jar", "app.jar"}, false},
		{"dotnet2", nil, false},
		{"", nil, false},
	} {
		p := &host.Process{PID: 99_999_999, Name: tc.name, CommandLine: tc.line}
		if got := p.LooksDotnet(); got != tc.want {
			t.Errorf("%q with %q: %v", tc.name, tc.line, got)
		}
	}
}

// TestEnds: the end of a process is awaited as long as it may take.
func TestEnds(t *testing.T) {
	p := run(t, spec{Sockets: []string{exact}})
	target := find(t, p)
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if target.Ends(t.Context(), 20*time.Millisecond) || target.Ends(cancelled, time.Hour) {
		t.Error("it has not ended")
	}
	time.AfterFunc(50*time.Millisecond, func() { _ = p.cmd.Process.Kill() })
	if !target.Ends(t.Context(), patience) || !target.Ends(t.Context(), 0) || !target.Ends(cancelled, 0) {
		t.Error("it has ended")
	}
}
