package host_test

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	goruntime "runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/gclog/gclog/internal/host"
	"github.com/gclog/gclog/internal/testing/child"
	"github.com/gclog/gclog/internal/testing/ipc"
	"github.com/gclog/gclog/internal/testing/syscalls"
	"github.com/gclog/gclog/session"
	"golang.org/x/sys/unix"
)

// A spec is what a helper process does. It is the value of specVariable.
type spec struct {
	Tmpfs    string            // mounts a tmpfs there, in its mount namespace
	Options  string            // mount options of the tmpfs; "": 64 KB
	ReadOnly bool              // mounts the tmpfs read-only
	Args     []string          // its arguments
	Outcome  int               // watches this process, and prints how it ended when its standard input ends
	Chroot   string            // changes its root
	Dir      string            // directory of its sockets; "": TMPDIR, and /tmp
	Sockets  []string          // with a listener; %p and %k stand for its pid and start time
	Refuse   []string          // sockets without a listener
	Busy     []string          // sockets whose listener accepts no connections
	Accept   []string          // sockets with a thread that waits in the kernel, the first with accept, others with accept4
	Map      string            // file that it maps into memory
	Name     string            // its name in the kernel
	Through  []string          // command that runs it
	Bind     map[string]string // files that it bind-mounts; the keys are the mount points
	Threads  []string          // names of other threads, which wait in a futex forever
	Naps     []string          // names of threads that wait there for some milliseconds at a time
	Spin     string            // name of a thread that never waits
	Find     int               // finds this process, prints the error, and exits
	List     bool              // lists all processes, and exits
	Group    string            // directory of a control group that it joins
	Groups   int               // mounts groups of version 1 or 2 as a container sees them: from its own on
	Write    map[string]string // files that it creates
	Memory   int               // prints what it reads of the memory of this process, and exits
	Take     int               // bytes of memory that it allocates
	Exit     int               // its exit code
	Grow     bool              // at its end it allocates memory until it is killed
}

const specVariable = "GCLOG_SESSION_SPEC"

// exact is a runtime's name for its socket.
const exact = "dotnet-diagnostic-%p-%k-socket"

func init() { roles["process"] = helpProcess }

func helpProcess() error {
	var s spec
	if err := json.Unmarshal([]byte(os.Getenv(specVariable)), &s); err != nil {
		return err
	}
	if s.Find != 0 {
		_, err := new(host.Host).Find(context.Background(), s.Find)
		fmt.Println(err)
		return nil
	}
	if s.Outcome != 0 {
		p, err := new(host.Host).Describe(s.Outcome)
		if err != nil {
			return err
		}
		w := p.Watch()
		w.WithoutPidfd()
		fmt.Println("watching")
		_, _ = io.Copy(io.Discard, os.Stdin)
		fmt.Printf("%+v\n", w.Outcome())
		return nil
	}
	if s.Group != "" {
		if err := os.WriteFile(filepath.Join(s.Group, "cgroup.procs"), []byte("0"), 0); err != nil {
			return err
		}
	}
	if s.List {
		list, err := new(host.Host).List(context.Background())
		for _, l := range list {
			fmt.Println(l.PID, l.Err)
		}
		fmt.Println(len(list), err)
		return nil
	}
	stat, err := os.ReadFile("/proc/self/stat") // before the root is changed
	if err != nil {
		return err
	}
	if s.Tmpfs != "" {
		err := errors.Join(unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""), unix.Mount("none", s.Tmpfs, "tmpfs", 0, cmp.Or(s.Options, "size=64k")))
		if err != nil {
			return fmt.Errorf("mount: %w", err)
		}
	}
	if s.Groups != 0 {
		if err := mountGroups(s.Groups); err != nil {
			return fmt.Errorf("mounting control groups: %w", err)
		}
	}
	for path, text := range s.Write {
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
			return err
		}
	}
	if s.ReadOnly {
		if err := unix.Mount("", s.Tmpfs, "", unix.MS_REMOUNT|unix.MS_RDONLY, ""); err != nil {
			return fmt.Errorf("mount: %w", err)
		}
	}
	for to, from := range s.Bind {
		if err := bind(from, to); err != nil {
			return fmt.Errorf("mounting %s: %w", from, err)
		}
	}
	if s.Name != "" {
		if err := os.WriteFile("/proc/self/comm", []byte(s.Name), 0); err != nil {
			return err
		}
	}
	if s.Take != 0 {
		if err := takeMemory(s.Take); err != nil {
			return err
		}
	}
	if s.Memory != 0 {
		r := new(host.Host).Inspect(s.Memory).OpenMemory()
		defer r.Close()
		fmt.Println(r.Read())
		return nil
	}
	if s.Chroot != "" {
		// allowed: this process is only the stand-in for a program
		if err := errors.Join(unix.Chroot(s.Chroot), os.Chdir("/")); err != nil {
			return fmt.Errorf("chroot: %w", err)
		}
	}
	if s.Map != "" {
		if err := mapFile(s.Map); err != nil {
			return err
		}
	}
	for _, name := range s.Threads {
		if err := nameThread(name, func() { select {} }); err != nil {
			return err
		}
	}
	for _, name := range s.Naps {
		if err := nameThread(name, func() { time.Sleep(5 * time.Millisecond) }); err != nil {
			return err
		}
	}
	if s.Spin != "" {
		go spin(s.Spin)
	}
	closers, err := makeSockets(&s, startKey(stat))
	if err != nil {
		return err
	}
	fmt.Println("ready")
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); { // names of more threads
		if err := nameThread(lines.Text(), func() { select {} }); err != nil {
			return err
		}
		fmt.Println("ready")
	}
	for s.Grow {
		if err := takeMemory(1 << 20); err != nil {
			return err
		}
	}
	for _, c := range closers {
		_ = c.Close()
	}
	os.Exit(s.Exit)
	return nil
}

// mountGroups mounts the control groups in a namespace of their own, whose root is the group of
// this process.
func mountGroups(version int) error {
	goruntime.LockOSThread() // the namespace is that of a thread
	if err := unix.Unshare(unix.CLONE_NEWCGROUP); err != nil {
		return err
	}
	const dir = "/sys/fs/cgroup"
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return err
	}
	if version == 2 {
		return unix.Mount("none", dir, "cgroup2", 0, "")
	}
	return errors.Join(unix.Mount("none", dir, "tmpfs", 0, ""), os.Mkdir(dir+"/memory", 0o755), unix.Mount("none", dir+"/memory", "cgroup", 0, "memory"))
}

// bind mounts a file over another one, in a private namespace.
func bind(from, to string) error {
	return errors.Join(
		unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""),
		os.MkdirAll(filepath.Dir(from), 0o755), os.WriteFile(from, nil, 0o644), os.WriteFile(to, nil, 0o644),
		unix.Mount(from, to, "", unix.MS_BIND, ""))
}

// takeMemory allocates memory that is never freed.
func takeMemory(size int) error {
	_, err := unix.Mmap(-1, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS|unix.MAP_POPULATE)
	return err
}

// startKey returns field 22 of /proc/PID/stat. Field 2 may contain anything.
func startKey(stat []byte) string {
	return strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))[22-3]
}

func mapFile(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = unix.Mmap(int(f.Fd()), 0, 1, unix.PROT_READ, unix.MAP_PRIVATE)
	return err
}

// nameThread keeps a thread with the given name, which does something again and again.
func nameThread(name string, do func()) error {
	named := make(chan error)
	go func() {
		goruntime.LockOSThread()
		b, err := unix.ByteSliceFromString(name)
		if err == nil {
			err = unix.Prctl(unix.PR_SET_NAME, uintptr(unsafe.Pointer(&b[0])), 0, 0, 0)
		}
		named <- err
		for {
			do()
		}
	}()
	return <-named
}

// makeSockets creates the sockets from inside their directory: its path may be too long for a
// socket.
func makeSockets(s *spec, key string) (closers []io.Closer, err error) {
	dir := s.Dir
	if dir == "" {
		dir = os.TempDir()
	}
	if err := os.Chdir(dir); err != nil { // allowed: this process is only the stand-in for a program
		return nil, err
	}
	fill := strings.NewReplacer("%p", strconv.Itoa(os.Getpid()), "%k", key)
	for _, name := range s.Sockets {
		l, err := net.Listen("unix", fill.Replace(name))
		if err != nil {
			return nil, err
		}
		closers = append(closers, l)
		go func() {
			for {
				conn, err := l.Accept()
				if err != nil {
					return
				}
				go func() {
					if ipc.ReadRequest(conn) != nil {
						_, _ = conn.Write(ipc.Answer(make([]byte, 8)))
					}
					_ = conn.Close()
				}()
			}
		}()
	}
	for _, name := range slices.Concat(s.Refuse, s.Busy, s.Accept) {
		fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			return nil, err
		}
		if err := unix.Bind(fd, &unix.SockaddrUnix{Name: fill.Replace(name)}); err != nil {
			return nil, err
		}
		if !slices.Contains(s.Refuse, name) {
			if err := unix.Listen(fd, 0); err != nil {
				return nil, err
			}
		}
		if i := slices.Index(s.Accept, name); i >= 0 {
			call := []uintptr{unix.SYS_ACCEPT, unix.SYS_ACCEPT4}[min(i, 1)]
			go func() {
				goruntime.LockOSThread()
				for {
					conn, _, _ := unix.Syscall6(call, uintptr(fd), 0, 0, 0, 0, 0)
					_ = unix.Close(int(conn))
				}
			}()
		}
	}
	return closers, nil
}

// A process is a running helper.
type process struct {
	cmd  *exec.Cmd
	hold io.WriteCloser
	says *bufio.Reader
	pid  int // in the test's pid namespace
	dir  string
}

// run starts a helper with a temporary directory of its own, and waits until it is ready. The
// helper ends with the test.
func run(t *testing.T, s spec, env ...string) *process {
	t.Helper()
	dir := ipc.ShortDir(t)
	return runIn(t, s, append([]string{"TMPDIR=" + dir}, env...)...)
}

func runIn(t *testing.T, s spec, env ...string) *process {
	t.Helper()
	p, err := tryRun(t, s, nil, env...)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func tryRun(t *testing.T, s spec, attr *syscall.SysProcAttr, env ...string) (*process, error) {
	t.Helper()
	b, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, s.Args...)
	if s.Through != nil {
		cmd = exec.Command(s.Through[0], append(s.Through[1:], self)...)
	}
	cmd.Env = child.Environ("process", append([]string{specVariable + "=" + string(b)}, env...)...)
	cmd.SysProcAttr = attr
	cmd.Dir = "/"
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	hold, out := child.Pipes(t, cmd)
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	p := &process{cmd: cmd, hold: hold, says: out, pid: cmd.Process.Pid}
	for _, e := range env {
		if dir, ok := strings.CutPrefix(e, "TMPDIR="); ok {
			p.dir = dir
		}
	}
	t.Cleanup(p.end)
	if err := p.awaitReady(); err != nil {
		p.end()
		return nil, fmt.Errorf("%w: %s", err, stderr.Bytes())
	}
	return p, nil
}

func (p *process) awaitReady() error {
	line, err := p.says.ReadString('\n')
	if err == nil && line != "ready\n" {
		err = errors.New("it is not ready")
	}
	if err != nil {
		return fmt.Errorf("the helper says %q: %w", line, err)
	}
	return nil
}

// thread makes the helper start one more thread.
func (p *process) thread(t *testing.T, name string) {
	t.Helper()
	_, err := io.WriteString(p.hold, name+"\n")
	if err := errors.Join(err, p.awaitReady()); err != nil {
		t.Error(err)
	}
}

// end makes the helper exit normally, so that it removes its sockets.
func (p *process) end() {
	_ = p.hold.Close()
	_ = p.cmd.Wait()
}

func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait()
}

// socket returns the path of a socket in the temporary directory of the helper, named like that of
// a runtime in the helper with the given start time.
func (p *process) socket(t *testing.T, key string) string {
	t.Helper()
	if key == "" {
		stat, err := os.ReadFile("/proc/" + strconv.Itoa(p.pid) + "/stat")
		if err != nil {
			t.Fatal(err)
		}
		key = startKey(stat)
	}
	return filepath.Join(p.dir, "dotnet-diagnostic-"+strconv.Itoa(p.pid)+"-"+key+"-socket")
}

func find(t *testing.T, p *process) *host.Target {
	t.Helper()
	target, err := new(host.Host).Find(t.Context(), p.pid)
	if err != nil {
		t.Fatal(err)
	}
	target.Timeout = patience
	return target
}

// refused checks the error that says why gclog cannot talk to a process.
func refused(t *testing.T, err error, cause host.Cause, words string) {
	t.Helper()
	var target *host.TargetError
	if !errors.As(err, &target) || target.Cause != cause || !strings.Contains(err.Error(), words) {
		t.Errorf("error %v, want cause %d and %q in it", err, cause, words)
	}
}

// listenAs makes this process listen on a socket that is not its own.
func listenAs(t *testing.T, path string) {
	t.Helper()
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
}

func TestFind(t *testing.T) {
	before := time.Now()
	p := run(t, spec{Sockets: []string{exact}}, "OTEL_NAME=value=x", "EMPTY=", "GCLOG_TWO=2")
	target := find(t, p)
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(p.pid) + "/stat")
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if target.PID != p.pid || target.InnerPID != p.pid || strconv.FormatUint(target.StartKey, 10) != startKey(stat) {
		t.Errorf("process %d (%d) with the key %d, want %d with %s", target.PID, target.InnerPID, target.StartKey, p.pid, startKey(stat))
	}
	if name := filepath.Base(self); target.Name != name[:min(15, len(name))] || target.Executable != self || !slices.Equal(target.Process.CommandLine, []string{self}) {
		t.Errorf("%q, %q, %q, want %s", target.Name, target.Executable, target.Process.CommandLine, self)
	}
	if target.UID != os.Geteuid() || target.User == "" {
		t.Errorf("user %d (%s), want %d", target.UID, target.User, os.Geteuid())
	}
	if e := target.Environ; e["OTEL_NAME"] != "value=x" || e["GCLOG_TWO"] != "2" || e["TMPDIR"] != p.dir {
		t.Errorf("environment %v", e)
	}
	// allowed: the kernel counts in hundredths of a second.
	if s := target.Started; s.Before(before.Add(-time.Second)) || s.After(time.Now().Add(time.Second)) {
		t.Errorf("started at %v, want %v", s, before)
	}
	if err := target.Resume(t.Context()); err != nil {
		t.Error(err)
	}
	if !target.Alive() || target.Stopped() {
		t.Error("it is not alive, or stopped")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := new(host.Host).Find(ctx, p.pid); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want %v", err, context.Canceled)
	}
}

// TestFindInTmp: a runtime that cannot use its TMPDIR uses /tmp.
func TestFindInTmp(t *testing.T) {
	p := runIn(t, spec{Sockets: []string{exact}, Dir: "/tmp"}, "TMPDIR="+filepath.Join(ipc.ShortDir(t), "missing"))
	if err := find(t, p).Resume(t.Context()); err != nil {
		t.Error(err)
	}
	p = runIn(t, spec{Sockets: []string{exact}, Dir: "/tmp"})
	if err := find(t, p).Resume(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestFindExactKey: the socket with the start time of the process is its own, however new others
// are.
func TestFindExactKey(t *testing.T) {
	p := run(t, spec{Sockets: []string{exact}})
	for _, key := range []string{"1", "99999999999"} {
		listenAs(t, p.socket(t, key))
		touch(t, p.socket(t, key), time.Now().Add(time.Hour))
	}
	if err := find(t, p).Resume(t.Context()); err != nil {
		t.Error(err)
	}
}

func touch(t *testing.T, path string, at time.Time) {
	t.Helper()
	if err := os.Chtimes(path, at, at); err != nil {
		t.Fatal(err)
	}
}

// TestFindOtherKey: if the start time in the name differs, as in a time namespace, the newest
// socket of the pid is used, whatever else is in its folder.
func TestFindOtherKey(t *testing.T) {
	p := run(t, spec{Sockets: []string{"dotnet-diagnostic-%p-5-socket"}})
	others := func(when string) { // file systems list names in orders of their own
		for i := range 200 {
			if err := os.WriteFile(filepath.Join(p.dir, fmt.Sprint(when, i)), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	others("before")
	listenAs(t, p.socket(t, "6"))
	others("after")
	touch(t, p.socket(t, "5"), time.Now().Add(time.Minute))
	if err := find(t, p).Resume(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestFindStaleKey: a socket that is older than the process belongs to an earlier one with its pid.
func TestFindStaleKey(t *testing.T) {
	p := run(t, spec{})
	listenAs(t, p.socket(t, "1"))
	touch(t, p.socket(t, "1"), time.Now().Add(-time.Hour))
	_, err := new(host.Host).Find(t.Context(), p.pid)
	refused(t, err, host.CauseNotDotnet, "is not a .NET process")
}

// TestFindNoSocket: a file that only has the name of a socket is ignored.
func TestFindNoSocket(t *testing.T) {
	other := run(t, spec{Sockets: []string{exact}})
	for name, plant := range map[string]func(path string) error{
		"nothing":                    func(string) error { return nil },
		"a file":                     func(path string) error { return os.WriteFile(path, nil, 0o600) },
		"a folder":                   func(path string) error { return os.Mkdir(path, 0o700) },
		"a pipe":                     func(path string) error { return unix.Mkfifo(path, 0o600) },
		"a link to another's socket": func(path string) error { return os.Symlink(other.socket(t, ""), path) },
	} {
		t.Run(name, func(t *testing.T) {
			p := run(t, spec{})
			for _, key := range []string{"", "7"} {
				if err := plant(p.socket(t, key)); err != nil {
					t.Fatal(err)
				}
			}
			_, err := new(host.Host).Find(t.Context(), p.pid)
			refused(t, err, host.CauseNotDotnet, "is not a .NET process")
		})
	}
}

// TestFindWrongPeer: the listener on a socket with the right name must be the intended process.
func TestFindWrongPeer(t *testing.T) {
	t.Run("another's socket under its name", func(t *testing.T) {
		other, p := run(t, spec{Sockets: []string{exact}}), run(t, spec{})
		if err := os.Link(other.socket(t, ""), p.socket(t, "")); err != nil {
			t.Skipf("no hard links to sockets here: %v", err)
		}
		err := find(t, p).Resume(t.Context())
		refused(t, err, host.CauseWrongPeer, fmt.Sprintf("process %d does", other.pid))
	})
	t.Run("another listens", func(t *testing.T) {
		p := run(t, spec{})
		listenAs(t, p.socket(t, ""))
		err := find(t, p).Resume(t.Context())
		refused(t, err, host.CauseWrongPeer, fmt.Sprintf("process %d does", os.Getpid()))
	})
	t.Run("a link in its place since", func(t *testing.T) {
		other, p := run(t, spec{Sockets: []string{exact}}), run(t, spec{Sockets: []string{exact}})
		target := find(t, p)
		path := p.socket(t, "")
		if err := errors.Join(os.Remove(path), os.Symlink(other.socket(t, ""), path)); err != nil {
			t.Fatal(err)
		}
		refused(t, target.Resume(t.Context()), host.CauseNoSocket, "which gclog does not follow")
	})
}

// TestFindLongPath: gclog can use a TMPDIR that is far too long for the name of a socket.
func TestFindLongPath(t *testing.T) {
	dir := filepath.Join(ipc.ShortDir(t), strings.Repeat(strings.Repeat("d", 100)+"/", 10))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	p := runIn(t, spec{Sockets: []string{exact}}, "TMPDIR="+dir)
	if err := find(t, p).Resume(t.Context()); err != nil {
		t.Error(err)
	}
	// A runtime cannot, and then this is the reason.
	p = runIn(t, spec{Map: libcoreclr(t, "8.0.22")}, "TMPDIR="+dir)
	_, err := new(host.Host).Find(t.Context(), p.pid)
	refused(t, err, host.CauseNoSocket, "the path is too long for a socket")
}

// libcoreclr creates a file with the name of a runtime's library.
func libcoreclr(t *testing.T, version string) string {
	t.Helper()
	dir := filepath.Join(ipc.ShortDir(t), "Microsoft.NETCore.App", version)
	path := filepath.Join(dir, "libcoreclr.so")
	if err := errors.Join(os.MkdirAll(dir, 0o755), os.WriteFile(path, []byte("not really"), 0o644)); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestFindCauses(t *testing.T) {
	own := func(content string) string { // of a self-contained program
		path := filepath.Join(ipc.ShortDir(t), "libcoreclr.so")
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	padding := strings.Repeat("x", 64<<10-5)
	missing := filepath.Join(ipc.ShortDir(t), "missing")
	for name, tc := range map[string]struct {
		s     spec
		env   string
		cause host.Cause
		words string
	}{
		"switched off":         {spec{Map: libcoreclr(t, "8.0.22")}, "DOTNET_EnableDiagnostics=0", host.CauseDiagnosticsOff, "was started with DOTNET_EnableDiagnostics=0"},
		"switched off by IPC":  {spec{}, "COMPlus_EnableDiagnostics_IPC=0", host.CauseDiagnosticsOff, "COMPlus_EnableDiagnostics_IPC=0"},
		"switched on":          {spec{}, "DOTNET_EnableDiagnostics=1", host.CauseNotDotnet, "is not a .NET process"},
		"2.1":                  {spec{Map: libcoreclr(t, "2.1.30")}, "A=b", host.CauseTooOld, "gclog requires 3.0 or later"},
		"2.1, self-contained":  {spec{Map: own(padding + "@(#)Version 4.6.30411.01 @BuiltBy: root" + padding)}, "A=b", host.CauseTooOld, "gclog requires 3.0 or later"},
		"3.1, self-contained":  {spec{Map: own("@(#)Version 4.700.20.11803 @Commit: c5d3d75")}, "A=b", host.CauseNoSocket, "the socket was deleted, or the runtime is still starting"},
		"no socket":            {spec{Map: libcoreclr(t, "8.0.22")}, "A=b", host.CauseNoSocket, "the socket was deleted, or the runtime is still starting"},
		"no folder for it":     {spec{Map: libcoreclr(t, "8.0.22"), Dir: "/"}, "TMPDIR=" + missing, host.CauseNoSocket, "its temporary directory " + missing + " cannot be used"},
		"nobody listens on it": {spec{Refuse: []string{exact}}, "A=b", host.CauseStaleSocket, "has a socket that no process listens on"},
	} {
		t.Run(name, func(t *testing.T) {
			p := run(t, tc.s, tc.env)
			target, err := new(host.Host).Find(t.Context(), p.pid)
			if err == nil {
				err = target.Resume(t.Context())
			}
			refused(t, err, tc.cause, tc.words)
			refused(t, err, tc.cause, fmt.Sprintf("process %d ", p.pid))
		})
	}
}

// TestFindMeanwhile: a runtime that creates its socket during the search causes no error.
func TestFindMeanwhile(t *testing.T) {
	p := run(t, spec{Sockets: []string{exact}, Map: libcoreclr(t, "8.0.0")})
	target := find(t, p)
	if err := target.WhyNoSocket(nil); err != nil {
		t.Errorf("it is there: %v", err)
	}
	if kind := target.TempDirTrouble(); kind != "no-socket" {
		t.Errorf("it is there: %s", kind)
	}
}

// TestDialSince: changes after the process was found.
func TestDialSince(t *testing.T) {
	t.Run("its socket is gone", func(t *testing.T) {
		p := run(t, spec{Sockets: []string{exact}})
		target := find(t, p)
		if err := os.Remove(p.socket(t, "")); err != nil {
			t.Fatal(err)
		}
		refused(t, target.Resume(t.Context()), host.CauseNoSocket, "has removed its diagnostics socket")
	})
	t.Run("it has ended", func(t *testing.T) {
		p := run(t, spec{Sockets: []string{exact}})
		target := find(t, p)
		p.end()
		refused(t, target.Resume(t.Context()), host.CauseNoSuchProcess, "has exited")
		if target.Alive() {
			t.Error("it is alive")
		}
	})
	t.Run("its number is another's", func(t *testing.T) {
		p := run(t, spec{Sockets: []string{exact}})
		target := find(t, p)
		target.StartKey-- // so it was that of an earlier process
		refused(t, target.Resume(t.Context()), host.CauseNoSuchProcess, "has exited")
	})
	t.Run("it was killed", func(t *testing.T) {
		p := run(t, spec{Sockets: []string{exact}})
		target := find(t, p)
		p.kill()
		refused(t, target.Resume(t.Context()), host.CauseNoSuchProcess, "has exited")
	})
	t.Run("it takes no connections", func(t *testing.T) {
		p := run(t, spec{Busy: []string{exact}})
		target := find(t, p)
		target.Timeout = impatience
		for { // until its queue is full
			conn, err := net.Dial("unix", p.socket(t, ""))
			if err != nil {
				break
			}
			defer conn.Close()
		}
		if err := target.Resume(t.Context()); !errors.Is(err, session.ErrNoAnswer) {
			t.Errorf("error %v, want one that wraps ErrNoAnswer", err)
		}
	})
}

// TestFindNone: numbers that are not the pid of a process.
func TestFindNone(t *testing.T) {
	for _, pid := range []int{-1, 0, 99_999_999} {
		_, err := new(host.Host).Find(t.Context(), pid)
		refused(t, err, host.CauseNoSuchProcess, fmt.Sprintf("process %d does not exist", pid))
	}
}

// TestProcessors: how many processors a process may use is its affinity, and not that of gclog.
func TestProcessors(t *testing.T) {
	p := run(t, spec{})
	target := &host.Process{PID: p.pid}
	var all, one unix.CPUSet
	if err := unix.SchedGetaffinity(p.pid, &all); err != nil {
		t.Fatal(err)
	}
	if got := target.Processors(); got != all.Count() {
		t.Errorf("%d processors, want %d", got, all.Count())
	}
	for cpu := 0; one.Count() == 0; cpu++ {
		if all.IsSet(cpu) {
			one.Set(cpu)
		}
	}
	if err := unix.SchedSetaffinity(p.pid, &one); err != nil {
		t.Fatal(err)
	}
	if got := target.Processors(); got != 1 {
		t.Errorf("%d processors, want 1", got)
	}
	if got := (&host.Process{}).Processors(); got != 0 {
		t.Errorf("of no process: %d processors", got)
	}
}

func TestFindThread(t *testing.T) {
	p := run(t, spec{Sockets: []string{exact}})
	tasks, err := os.ReadDir("/proc/" + strconv.Itoa(p.pid) + "/task")
	if err != nil {
		t.Fatal(err)
	}
	for _, task := range tasks {
		if tid, _ := strconv.Atoi(task.Name()); tid != p.pid {
			_, err := new(host.Host).Find(t.Context(), tid)
			refused(t, err, host.CauseNoSuchProcess, fmt.Sprintf("%d is a thread of process %d", tid, p.pid))
			return
		}
	}
	t.Fatal("the helper has one thread only")
}

// TestFindZombie: a process that its parent has not reaped.
func TestFindZombie(t *testing.T) {
	cmd := exec.Command("true")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Wait() }()
	waitState(t, cmd.Process.Pid, "Z")
	_, err := new(host.Host).Find(t.Context(), cmd.Process.Pid)
	refused(t, err, host.CauseNoSuchProcess, "has exited")
}

func waitState(t *testing.T, pid int, state string) {
	t.Helper()
	waitUntil(t, "process "+strconv.Itoa(pid)+" to be in state "+state, func() bool {
		b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
		return err == nil && strings.Contains(string(b), "\nState:\t"+state)
	})
}

func waitUntil(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waited %v for %s", patience, what)
		}
	}
}

// kernelThread returns the pid of a kernel thread, or 0 if none is visible, as in a container.
func kernelThread() int {
	dirs, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, name := range dirs {
		b, err := os.ReadFile(name)
		if err != nil {
			continue
		}
		fields := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:]))
		if flags, _ := strconv.ParseUint(fields[9-3], 10, 64); flags&0x200000 != 0 { // PF_KTHREAD
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(name)))
			return pid
		}
	}
	return 0
}

func TestFindKernelThread(t *testing.T) {
	pid := kernelThread()
	if pid == 0 {
		t.Skip("no kernel thread can be seen here")
	}
	_, err := new(host.Host).Find(t.Context(), pid)
	if os.Geteuid() == 0 {
		refused(t, err, host.CauseNotDotnet, "is not a .NET process")
	} else {
		refused(t, err, host.CauseOtherUser, "belongs to user")
	}
	list, err := new(host.Host).List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range list {
		if l.PID == pid {
			t.Errorf("it is in the list: %+v", l)
		}
	}
}

// TestFindOtherUser: the error names the process's user, and what would help.
func TestFindOtherUser(t *testing.T) {
	if os.Geteuid() != 0 {
		var st unix.Stat_t
		if err := unix.Stat("/proc/1", &st); err != nil || int(st.Uid) == os.Geteuid() {
			t.Skip("process 1 is no other user's")
		}
		_, err := new(host.Host).Find(t.Context(), 1)
		refused(t, err, host.CauseOtherUser, fmt.Sprintf("(uid %d), gclog runs as uid %d: run gclog as that user or as root", st.Uid, os.Geteuid()))
		return
	}
	p := run(t, spec{Sockets: []string{exact}})
	out := asNobody(t, spec{Find: p.pid})
	want := fmt.Sprintf("process %d belongs to user root (uid 0), gclog runs as uid 65534: run gclog as that user or as root\n", p.pid)
	if out != want {
		t.Errorf("nobody is told %q, want %q", out, want)
	}
}

// inNamespaces starts a helper in namespaces of its own. That needs root or user namespaces; if
// neither is available the test is skipped with the reason.
func inNamespaces(t *testing.T, s spec, flags uintptr, env ...string) *process {
	t.Helper()
	attr := &syscall.SysProcAttr{Cloneflags: flags}
	if os.Geteuid() != 0 {
		attr.Cloneflags |= unix.CLONE_NEWUSER
		attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}}
		attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}}
	}
	p, err := tryRun(t, s, attr, env...)
	if err != nil {
		if errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.ENOSPC) || strings.Contains(err.Error(), "not permitted") {
			t.Skipf("no namespaces of our own, neither as root nor with user namespaces: %v", err)
		}
		t.Fatal(err)
	}
	return p
}

// TestFindMountNamespace: the temporary directory is the one that the process sees.
func TestFindMountNamespace(t *testing.T) {
	dir := ipc.ShortDir(t)
	p := inNamespaces(t, spec{Tmpfs: dir, Sockets: []string{exact}}, unix.CLONE_NEWNS, "TMPDIR="+dir)
	if names, err := os.ReadDir(dir); err != nil || len(names) != 0 {
		t.Fatalf("the folder of this namespace holds %v, error %v", names, err)
	}
	if err := find(t, p).Resume(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestFindTimeNamespace: a process whose clock starts at another time has another start time in its
// socket's name.
func TestFindTimeNamespace(t *testing.T) {
	unshare, err := exec.LookPath("unshare")
	if err != nil {
		t.Skipf("no program to make a time namespace with: %v", err)
	}
	if err := exec.Command(unshare, "--time", "--boottime", "1000000", "true").Run(); err != nil {
		t.Skipf("no time namespaces here: %v", err)
	}
	p := run(t, spec{Through: []string{unshare, "--time", "--boottime", "1000000"}, Sockets: []string{exact}})
	if _, err := os.Stat(p.socket(t, "")); err == nil {
		t.Skip("this kernel changes the time namespace of children only")
	}
	// A newer one that belongs to another process does not matter.
	listenAs(t, p.socket(t, "7"))
	touch(t, p.socket(t, "7"), time.Now().Add(time.Hour))
	syscalls.GiveAway(t, p.socket(t, "7"))
	if err := find(t, p).Resume(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestFindPlanted: a socket of another user does not belong to the process, whatever its name is.
func TestFindPlanted(t *testing.T) {
	p := run(t, spec{Sockets: []string{"dotnet-diagnostic-%p-5-socket"}})
	listenAs(t, p.socket(t, ""))
	syscalls.GiveAway(t, p.socket(t, ""))
	if err := find(t, p).Resume(t.Context()); err != nil {
		t.Errorf("one with the name stands in its way: %v", err)
	}
	p = run(t, spec{})
	listenAs(t, p.socket(t, ""))
	syscalls.GiveAway(t, p.socket(t, ""))
	_, err := new(host.Host).Find(t.Context(), p.pid)
	refused(t, err, host.CauseNotDotnet, "is not a .NET process")
}

// TestFindPIDNamespace: the socket is named after the pid of the process in its own namespace.
func TestFindPIDNamespace(t *testing.T) {
	dir := ipc.ShortDir(t)
	p := inNamespaces(t, spec{Sockets: []string{exact}}, unix.CLONE_NEWPID|unix.CLONE_NEWNS, "TMPDIR="+dir)
	if names, err := filepath.Glob(filepath.Join(dir, "dotnet-diagnostic-1-*-socket")); err != nil || len(names) != 1 {
		t.Fatalf("sockets %v, error %v", names, err)
	}
	target := find(t, p)
	if target.PID != p.pid || target.InnerPID != 1 {
		t.Errorf("process %d is %d inside, want %d and 1", target.PID, target.InnerPID, p.pid)
	}
	if err := target.Resume(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestFindPlantedInNamespaces: a file that only has the name of the socket is not connected to,
// from any namespace.
func TestFindPlantedInNamespaces(t *testing.T) {
	other := run(t, spec{Sockets: []string{exact}})
	planted := func(t *testing.T, plant func(path string) error) *process {
		dir := ipc.ShortDir(t)
		p := inNamespaces(t, spec{}, unix.CLONE_NEWPID|unix.CLONE_NEWNS, "TMPDIR="+dir)
		key := strings.TrimSuffix(p.socket(t, ""), "-socket")
		key = key[strings.LastIndexByte(key, '-')+1:]
		if err := plant(filepath.Join(dir, "dotnet-diagnostic-1-"+key+"-socket")); err != nil {
			t.Fatal(err)
		}
		return p
	}
	t.Run("a link to another's socket", func(t *testing.T) {
		p := planted(t, func(path string) error { return os.Symlink(other.socket(t, ""), path) })
		_, err := new(host.Host).Find(t.Context(), p.pid)
		refused(t, err, host.CauseNotDotnet, "is not a .NET process")
	})
	t.Run("another's socket", func(t *testing.T) {
		p := planted(t, func(path string) error { return os.Link(other.socket(t, ""), path) })
		refused(t, find(t, p).Resume(t.Context()), host.CauseWrongPeer, fmt.Sprintf("process %d does", other.pid))
	})
}

// TestFindRoot: links are followed as the process itself would follow them, never out of its root.
func TestFindRoot(t *testing.T) {
	t.Run("inside", func(t *testing.T) {
		dir := ipc.ShortDir(t)
		if err := errors.Join(os.Mkdir(dir+"/real", 0o755), os.Symlink("/real", dir+"/tmp")); err != nil {
			t.Fatal(err)
		}
		p := inNamespaces(t, spec{Chroot: dir, Dir: "/tmp", Sockets: []string{exact}}, unix.CLONE_NEWNS, "TMPDIR=/tmp")
		if err := find(t, p).Resume(t.Context()); err != nil {
			t.Error(err)
		}
	})
	for name, link := range map[string]func(outside string) string{
		"absolute": func(outside string) string { return outside },
		"upwards":  func(outside string) string { return "../../../../../.." + outside },
	} {
		t.Run("outside, "+name, func(t *testing.T) {
			dir, outside := ipc.ShortDir(t), ipc.ShortDir(t)
			if err := os.Symlink(link(outside), filepath.Join(dir, "tmp")); err != nil {
				t.Fatal(err)
			}
			p := inNamespaces(t, spec{Chroot: dir, Dir: "/"}, unix.CLONE_NEWNS, "TMPDIR=/tmp")
			p.dir = outside
			listenAs(t, p.socket(t, ""))
			target, err := new(host.Host).Find(t.Context(), p.pid)
			if err == nil {
				t.Fatalf("it is found outside of its root: %v", target.Resume(t.Context()))
			}
			refused(t, err, host.CauseNotDotnet, "is not a .NET process")
		})
	}
}

func TestList(t *testing.T) {
	fine := run(t, spec{Sockets: []string{exact}})
	off := run(t, spec{Map: libcoreclr(t, "8.0.22")}, "DOTNET_EnableDiagnostics=0")
	old := run(t, spec{Map: libcoreclr(t, "2.1.30")})
	alien := run(t, spec{})
	list, err := new(host.Host).List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	found := map[int]*host.Listed{}
	for i := range list {
		if i > 0 && list[i].PID <= list[i-1].PID {
			t.Errorf("process %d comes after %d", list[i].PID, list[i-1].PID)
		}
		found[list[i].PID] = &list[i]
	}
	if l := found[fine.pid]; l == nil || l.Err != nil {
		t.Errorf("the one that can be attached to: %+v", l)
	} else if err := l.Target().Resume(t.Context()); err != nil {
		t.Error(err)
	}
	if l := found[off.pid]; l == nil {
		t.Error("one whose diagnostics are switched off is left out")
	} else {
		refused(t, l.Err, host.CauseDiagnosticsOff, "DOTNET_EnableDiagnostics=0")
	}
	if l := found[old.pid]; l == nil {
		t.Error("one that is too old is left out")
	} else {
		refused(t, l.Err, host.CauseTooOld, "3.0 or later")
	}
	if l := found[alien.pid]; l != nil {
		t.Errorf("one that is not .NET is in the list: %+v", l)
	}
	if l := found[os.Getpid()]; l != nil {
		t.Errorf("this process is in the list: %+v", l)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := new(host.Host).List(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want %v", err, context.Canceled)
	}
}

// TestListOfNobody: a user without any rights still gets a list.
func TestListOfNobody(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can become nobody")
	}
	p := run(t, spec{Map: libcoreclr(t, "8.0.22")}, "DOTNET_EnableDiagnostics=0")
	if out := asNobody(t, spec{List: true}); !strings.HasSuffix(out, " <nil>\n") || strings.Contains(out, strconv.Itoa(p.pid)) {
		t.Errorf("%q", out)
	}
}

// TestListMeanwhile: processes that start and end during the list.
func TestListMeanwhile(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for ctx.Err() == nil {
				_ = exec.Command("true").Run()
			}
		})
	}
	p := run(t, spec{Sockets: []string{exact}})
	for range 20 {
		list, err := new(host.Host).List(t.Context())
		if err != nil || !slices.ContainsFunc(list, func(l host.Listed) bool { return l.PID == p.pid }) {
			t.Errorf("%d processes, error %v", len(list), err)
		}
	}
	cancel()
	group.Wait()
}

// TestWatch: a process that exits removes its socket, one that is killed does not.
func TestWatch(t *testing.T) {
	for name, tc := range map[string]struct {
		end  func(*process)
		left bool
	}{"exits": {(*process).end, false}, "killed": {(*process).kill, true}} {
		t.Run(name, func(t *testing.T) {
			p := run(t, spec{Sockets: []string{exact}})
			target := find(t, p)
			w := target.Watch()
			defer w.Close()
			if left, known := w.SocketLeft(); !left || !known {
				t.Errorf("while it runs: %v, known %v", left, known)
			}
			tc.end(p)
			if left, known := w.SocketLeft(); left != tc.left || !known {
				t.Errorf("at its end: %v, known %v, want %v", left, known, tc.left)
			}
			w.Close()
			if _, known := w.SocketLeft(); known {
				t.Error("it is known after Close")
			}
		})
	}
}

func TestStopped(t *testing.T) {
	p := run(t, spec{Sockets: []string{exact}})
	target := find(t, p)
	if err := p.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = p.cmd.Process.Signal(syscall.SIGCONT) }()
	waitState(t, p.pid, "T")
	if !target.Stopped() || !target.Alive() {
		t.Errorf("stopped %v, alive %v", target.Stopped(), target.Alive())
	}
	target.Timeout = impatience
	if err := target.Resume(t.Context()); !errors.Is(err, session.ErrNoAnswer) {
		t.Errorf("error %v", err)
	}
}

// TestLibraries: what is visible of the GC from outside.
func TestLibraries(t *testing.T) {
	plain := find(t, run(t, spec{Sockets: []string{exact}}))
	if n, known := plain.ServerGCThreads(); plain.Runtime() != host.RuntimeNativeAOT || plain.GCLibrary() != "" || n != 0 || known {
		t.Errorf("a runtime %v, a GC %q, threads %v %v", plain.Runtime(), plain.GCLibrary(), n, known)
	}
	core := find(t, run(t, spec{Sockets: []string{exact}, Map: libcoreclr(t, "10.0.1"), Threads: []string{".NET Server GC"}}))
	if n, known := core.ServerGCThreads(); core.Runtime() != host.RuntimeCoreCLR || core.GCLibrary() != "" || n != 1 || !known {
		t.Errorf("a runtime %v, a GC %q, threads %v %v", core.Runtime(), core.GCLibrary(), n, known)
	}
	if got, none := core.LibraryVersion(), plain.LibraryVersion(); got != "10.0.1" || none != "" {
		t.Errorf("versions %q and %q", got, none)
	}
	// In an emulator the keys of the socket and of the pipe are the program's own.
	e := run(t, spec{Sockets: []string{"dotnet-diagnostic-%p-5-socket"}})
	emulated := find(t, e)
	key := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(emulated.Socket()), fmt.Sprintf("dotnet-diagnostic-%d-", emulated.PID)), "-socket")
	if err := os.WriteFile(filepath.Join(e.dir, fmt.Sprintf("clr-debug-pipe-%d-%s-in", emulated.PID, key)), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := emulated.Runtime(); got != host.RuntimeCoreCLR || key == strconv.FormatUint(emulated.StartKey, 10) {
		t.Errorf("emulated, with key %s: a runtime %v", key, got)
	}
	p := run(t, spec{Sockets: []string{exact}})
	debugged := find(t, p)
	pipe := func(pid int, key uint64) string {
		return filepath.Join(p.dir, fmt.Sprintf("clr-debug-pipe-%d-%d-in", pid, key))
	}
	for path, want := range map[string]host.Runtime{
		pipe(debugged.PID, debugged.StartKey+1): host.RuntimeNativeAOT, pipe(debugged.PID, debugged.StartKey): host.RuntimeCoreCLR,
	} {
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if got := debugged.Runtime(); got != want {
			t.Errorf("with %s: a runtime %v, want %v", path, got, want)
		}
		_ = os.Remove(path)
	}
	lib := filepath.Join(ipc.ShortDir(t), "libclrgcexp.so")
	if err := os.WriteFile(lib, []byte("not really"), 0o644); err != nil {
		t.Fatal(err)
	}
	standalone := find(t, run(t, spec{Sockets: []string{exact}, Map: lib}))
	if got := standalone.GCLibrary(); got != "libclrgcexp.so" {
		t.Errorf("a GC %q", got)
	}
}

// TestReadFile: only regular files, and only up to the limit.
func TestReadFile(t *testing.T) {
	p := run(t, spec{Sockets: []string{exact}})
	target := find(t, p)
	file := filepath.Join(p.dir, "file")
	if err := errors.Join(
		os.WriteFile(file, []byte("0123456789"), 0o600),
		os.Symlink(file, filepath.Join(p.dir, "link")),
		unix.Mkfifo(filepath.Join(p.dir, "pipe"), 0o600),
		os.Symlink(p.dir, filepath.Join(p.dir, "dir")),
	); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{file: "01234", filepath.Join(p.dir, "dir", "file"): "01234"} {
		if b, err := target.ReadFile(t.Context(), path, 5); err != nil || string(b) != want {
			t.Errorf("%s: %q, error %v", path, b, err)
		}
	}
	for _, path := range []string{filepath.Join(p.dir, "link"), filepath.Join(p.dir, "pipe"), p.dir, filepath.Join(p.dir, "missing"), "/dev/zero"} {
		if b, err := target.ReadFile(t.Context(), path, 5); err == nil {
			t.Errorf("%s: %q", path, b)
		}
	}
}

// TestFamily: a program and everything it has started, by an inherited variable.
func TestFamily(t *testing.T) {
	dir := ipc.ShortDir(t)
	f := new(host.Host).NewFamily("GCLOG_FAMILY", dir)
	if got := f.Members(); len(got) != 0 {
		t.Errorf("members %v", got)
	}
	member := run(t, spec{Sockets: []string{exact}}, "GCLOG_FAMILY=/other,suspend;"+dir+",nosuspend")
	run(t, spec{Sockets: []string{exact}}, "GCLOG_FAMILY=/other")
	run(t, spec{Sockets: []string{exact}})
	run(t, spec{}, "GCLOG_FAMILY="+dir)
	for range 2 {
		got := f.Members()
		if len(got) != 1 || got[0].PID != member.pid {
			t.Fatalf("members %v, want %d", got, member.pid)
		}
		if err := got[0].Resume(t.Context()); err != nil {
			t.Error(err)
		}
	}
	member.end()
	if got := f.Members(); len(got) != 0 {
		t.Errorf("members %v", got)
	}
}
