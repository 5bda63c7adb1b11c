package host_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gclog/gclog/internal/host"
	"github.com/gclog/gclog/internal/testing/ipc"
	"github.com/gclog/gclog/internal/testing/syscalls"
	"github.com/gclog/gclog/session"
	"golang.org/x/sys/unix"
)

// listenIn creates a socket of a user in a directory.
func listenIn(t *testing.T, dir, name string, uid int, made time.Time) {
	t.Helper()
	path := filepath.Join(dir, name)
	listenAs(t, path)
	touch(t, path, made)
	if uid == os.Geteuid() {
		return
	}
	if err := os.Lchown(path, uid, uid); err != nil {
		t.Skipf("only root can give a file away: %v", err)
	}
}

// An asker performs a request.
type asker func(*host.Request) (host.Reply, error)

// byAll runs do with requests performed by this process itself, without and with a guard, and by a
// helper. None may leave a file open.
func byAll(t *testing.T, do func(t *testing.T, ask asker)) {
	guarded := func(q *host.Request) (host.Reply, error) { return q.Guarded(mounts(t)) }
	for name, ask := range map[string]asker{
		"itself":                    (*host.Request).Here,
		"guarded":                   guarded,
		"guarded, on an old kernel": withoutOpenat2(t, guarded, unix.ENOSYS),
		"guarded, in a sandbox":     withoutOpenat2(t, guarded, unix.EPERM),
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := ask(&host.Request{Kind: host.WatchDir, Path: t.TempDir()}); host.MayNotAnswerError(err) {
				t.Skip(err)
			}
			syscalls.LeavesNothing(t, os.Getpid(), func() { do(t, ask) })
		})
	}
	t.Run("helper", func(t *testing.T) {
		h, err := host.StartHelper(helperArguments)
		if err != nil {
			t.Fatal(err)
		}
		for _, pid := range []int{os.Getpid(), h.PID()} {
			syscalls.LeavesNothing(t, pid, func() { do(t, h.Ask) })
		}
		if state, err := h.Close(); err != nil || state.ExitCode() != 0 {
			t.Errorf("the helper ends with %v, %v", state, err)
		}
	})
}

// mounts returns the mountinfo of this process.
func mounts(t *testing.T) string {
	t.Helper()
	b, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// withoutOpenat2 returns an asker for which the system call openat2 fails.
func withoutOpenat2(t *testing.T, ask asker, errno unix.Errno) asker {
	return func(q *host.Request) (r host.Reply, err error) {
		syscalls.Fault{Call: unix.SYS_OPENAT2, Errno: errno}.Inject(t, func() { r, err = ask(q) })
		return r, err
	}
}

// TestRequestFindSocket: of the sockets that may belong to a process, the one with its start time
// is chosen, else the newest one that is not older than the process.
func TestRequestFindSocket(t *testing.T) {
	const prefix, other, third = "dotnet-diagnostic-7-", 12345, 54321
	born := time.Unix(1_700_000_000, 500)
	type socket struct {
		name string
		uid  int
		made time.Time
	}
	own, user := os.Geteuid(), other
	if own != 0 { // who cannot make sockets of others asks for its own
		user = own
	}
	for name, tc := range map[string]struct {
		list []socket
		want string
	}{
		"none":                     {nil, ""},
		"its name":                 {[]socket{{prefix + "1-socket", own, born}}, prefix + "1-socket"},
		"its name, and newer ones": {[]socket{{prefix + "1-socket", own, born}, {prefix + "2-socket", own, born.Add(time.Hour)}}, prefix + "1-socket"},
		"its name, older":          {[]socket{{prefix + "1-socket", own, born.Add(-time.Hour)}}, prefix + "1-socket"},
		"as old as the process":    {[]socket{{prefix + "2-socket", own, born}}, prefix + "2-socket"},
		"older":                    {[]socket{{prefix + "2-socket", own, born.Add(-1)}}, ""},
		"the newest": {[]socket{
			{prefix + "2-socket", own, born.Add(time.Second)}, {prefix + "3-socket", own, born.Add(2 * time.Second)}, {prefix + "4-socket", own, born},
		}, prefix + "3-socket"},
		"another process":      {[]socket{{"dotnet-diagnostic-77-1-socket", own, born}}, ""},
		"something else":       {[]socket{{prefix + "1-sock", own, born}, {prefix + "1-socket.old", own, born}, {"x" + prefix + "1-socket", own, born}}, ""},
		"of its user":          {[]socket{{prefix + "1-socket", other, born}}, prefix + "1-socket"},
		"of root":              {[]socket{{prefix + "2-socket", 0, born}}, prefix + "2-socket"},
		"of a third":           {[]socket{{prefix + "1-socket", third, born}}, ""},
		"a newer one, a third": {[]socket{{prefix + "2-socket", other, born}, {prefix + "3-socket", third, born.Add(time.Hour)}}, prefix + "2-socket"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := ipc.ShortDir(t)
			for _, s := range tc.list {
				listenIn(t, dir, s.name, s.uid, s.made)
			}
			byAll(t, func(t *testing.T, ask asker) {
				r, err := ask(&host.Request{
					Kind: host.FindSocket, Path: dir, Name: prefix + "1-socket", Prefix: prefix, Oldest: born.UnixNano(), UID: user,
				})
				if r.Name != tc.want || err != nil || r.FD != -1 {
					t.Errorf("%q, file %d, error %v, want %q", r.Name, r.FD, err, tc.want)
				}
			})
		})
	}
}

// TestRequests: what is found and done in a directory.
func TestRequests(t *testing.T) {
	dir := ipc.ShortDir(t)
	at := func(name string) string { return filepath.Join(dir, name) }
	listenAs(t, at("socket"))
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	if err := errors.Join(
		unix.Bind(fd, &unix.SockaddrUnix{Name: at("left")}),
		os.WriteFile(at("file"), []byte("0123456789"), 0o600),
		os.Symlink("socket", at("link")),
		os.Symlink("file", at("link-to-file")),
		os.Symlink(dir, at("here")),
		os.Mkdir(at("folder"), 0o700),
		unix.Mkfifo(at("pipe"), 0o600),
	); err != nil {
		t.Fatal(err)
	}
	type req = host.Request
	byAll(t, func(t *testing.T, ask asker) {
		for _, tc := range []struct {
			q    req
			want string // of the reply
			err  error
			text string // of another error
		}{
			{q: req{Kind: host.DescribeDir, Path: dir, Name: "socket", UID: os.Geteuid()}, want: "starting"},
			{q: req{Kind: host.DescribeDir, Path: dir, Name: "file"}, want: "planted"},
			{q: req{Kind: host.DescribeDir, Path: dir, Name: "link"}, want: "planted"},
			{q: req{Kind: host.DescribeDir, Path: dir, Name: "missing"}},
			{q: req{Kind: host.DescribeDir, Path: at("missing"), Name: "x"}, err: unix.ENOENT},
			{q: req{Kind: host.HasFile, Path: "/proc", Name: "version"}, want: "yes"}, // in another mount
			{q: req{Kind: host.HasFile, Path: "/", Name: "proc"}, want: "yes"},
			{q: req{Kind: host.HasFile, Path: dir, Name: "pipe"}, want: "yes"},
			{q: req{Kind: host.HasFile, Path: dir, Name: "missing"}},
			{q: req{Kind: host.ReadFile, Path: at("file"), Limit: 4}, want: "0123"},
			{q: req{Kind: host.ReadFile, Path: at("file"), Limit: 40}, want: "0123456789"},
			{q: req{Kind: host.ReadFile, Path: at("file")}},
			{q: req{Kind: host.ReadFile, Path: at("link-to-file"), Limit: 2}, want: "01"},
			{q: req{Kind: host.ReadFile, Path: at("here/here/file"), Limit: 2}, want: "01"},
			{q: req{Kind: host.ReadFile, Path: at("missing"), Limit: 2}, err: unix.ENOENT},
			{q: req{Kind: host.ReadFile, Path: at("missing/file"), Limit: 2}, err: unix.ENOENT},
			{q: req{Kind: host.ReadFile, Path: at("folder"), Limit: 2}, text: "is not a regular file"},
			{q: req{Kind: host.ReadFile, Path: at("pipe"), Limit: 2}, text: at("pipe") + " is not a regular file"},
			{q: req{Kind: host.ReadFile, Path: at("file/x"), Limit: 2}, err: unix.ENOTDIR},
			{q: req{Kind: host.Connect, Path: dir, Name: "socket"}, want: "file"},
			{q: req{Kind: host.Connect, Path: at("here"), Name: "socket"}, want: "file"},
			{q: req{Kind: host.Connect, Path: dir, Name: "left"}, err: unix.ECONNREFUSED},
			{q: req{Kind: host.Connect, Path: dir, Name: "link"}, err: unix.ENOTSOCK},
			{q: req{Kind: host.Connect, Path: dir, Name: "file"}, err: unix.ENOTSOCK},
			{q: req{Kind: host.Connect, Path: dir, Name: "missing"}, err: unix.ENOENT},
			{q: req{Kind: host.WatchDir, Path: dir}, want: "file"},
			{q: req{Kind: host.WatchDir, Path: at("missing")}, err: unix.ENOENT},
			{q: req{Kind: host.Program}},
			{q: req{Path: dir}, text: "no such request: 0"},
			{q: req{Kind: 99, Path: dir}, text: "no such request: 99"},
		} {
			r, err := ask(&tc.q)
			got := r.Name + string(r.Data)
			if r.Yes {
				got = "yes"
			}
			if r.FD >= 0 {
				got = "file"
				if flags, err := unix.FcntlInt(uintptr(r.FD), unix.F_GETFD, 0); err != nil || flags&unix.FD_CLOEXEC == 0 {
					t.Errorf("%+v: the flags of the file are %#x, error %v", tc.q, flags, err)
				}
				_ = unix.Close(r.FD)
			}
			ok := err == nil && tc.err == nil && tc.text == ""
			if tc.err != nil {
				ok = errors.Is(err, tc.err)
			} else if tc.text != "" {
				ok = err != nil && strings.Contains(err.Error(), tc.text)
			}
			if got != tc.want || !ok || r.Runtime != host.RuntimeUnknown || r.FD < -1 {
				t.Errorf("%+v: %q, file %d, error %v, want %q, %v%s", tc.q, got, r.FD, err, tc.want, tc.err, tc.text)
			}
		}
	})
}

// TestRequestNoRoot: for a root that cannot be entered the kernel's own error is returned.
func TestRequestNoRoot(t *testing.T) {
	for _, q := range []host.Request{{Kind: host.HasFile, Path: "/", Name: "x"}, {Kind: host.ReadFile, Path: "/x"}, {Kind: host.WatchDir, Path: "/"}} {
		if r, err := q.In(t.TempDir()); !errors.Is(err, unix.ENOENT) || r.FD != -1 || r.Yes {
			t.Errorf("%+v: %+v, error %v", q, r, err)
		}
	}
	dir, q := t.TempDir(), &host.Request{Kind: host.Program}
	if r, err := q.In(dir); !errors.Is(err, unix.ENOENT) || r.Runtime != host.RuntimeUnknown {
		t.Errorf("a program: %+v, error %v", r, err)
	}
	if err := os.Mkdir(filepath.Join(dir, "exe"), 0o700); err != nil {
		t.Fatal(err)
	}
	if r, err := q.In(dir); err == nil || err.Error() != "exe is not a regular file" || r.Runtime != host.RuntimeUnknown {
		t.Errorf("a folder in place of a program: %+v, error %v", r, err)
	}
}

// TestRequestGuarded: nothing is touched that is on a file system that may not answer, or in a mount
// that is not known, as one that was mounted just now.
func TestRequestGuarded(t *testing.T) {
	mounts := mounts(t)
	without := func(point string) (rest string) {
		for line := range strings.Lines(mounts) {
			if strings.Fields(line)[4] != point {
				rest += line
			}
		}
		return rest
	}
	hangs := func(point string) string { return "1 1 0:1 / " + point + " rw - fuse x rw\n" }
	syscalls.LeavesNothing(t, os.Getpid(), func() {
		for _, tc := range []struct{ mounts, words string }{
			{mounts + hangs("/proc"), "(fuse at /proc)"},
			{mounts + hangs("/"), "(fuse at /)"},
			{without("/proc"), "(unknown type at an unknown mount point)"},
			{"", "(unknown type at an unknown mount point)"},
		} {
			for _, path := range []string{"/proc/self", "/./proc/", "/proc/../proc"} {
				r, err := (&host.Request{Kind: host.WatchDir, Path: path}).Guarded(tc.mounts)
				if !host.MayNotAnswerError(err) || !strings.Contains(err.Error(), tc.words) || r.FD != -1 {
					t.Errorf("%s: file %d, error %v, want %s", path, r.FD, err, tc.words)
				}
			}
		}
		// A mount that is hidden by others is no reason.
		hidden := &host.Request{Kind: host.WatchDir, Path: "/proc/not there"}
		if r, err := hidden.Guarded(mounts + hangs(`/proc/not\040there`)); hasOpenat2() && !errors.Is(err, unix.ENOENT) || r.FD != -1 {
			t.Errorf("what is not there: file %d, error %v", r.FD, err)
		}
		if r, err := (&host.Request{Kind: host.Program}).Guarded(""); !host.MayNotAnswerError(err) || r.Runtime != host.RuntimeUnknown {
			t.Errorf("a program: %+v, error %v", r, err)
		}
	})
}

// hasOpenat2 reports whether the system call openat2 works here.
func hasOpenat2() bool {
	fd, err := unix.Openat2(unix.AT_FDCWD, "/", &unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC})
	_ = unix.Close(fd)
	return err == nil
}

// TestCheckFile: the mount of a file is one of the process, or of the host.
func TestCheckFile(t *testing.T) {
	f, err := os.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	id, err := host.MountOf(f)
	if err != nil {
		t.Fatal(err)
	}
	line := func(id int, system string) string { return fmt.Sprintf("%d 1 0:1 / /x rw - %s x rw\n", id, system) }
	disk, fuse, other := line(id, "ext4"), line(id, "fuse"), line(id+1, "ext4")
	for _, tc := range []struct {
		mounts, host string
		away         bool
	}{
		{disk, "", false},
		{fuse, "", true},
		{"", disk, false},
		{"", fuse, true},
		{other, disk, false},
		{other, other + fuse, true},
		{fuse, disk, true},
		{disk, fuse, false},
		{other, other, true},
		{"", "", true},
	} {
		if err := host.CheckFile(tc.mounts, tc.host, int(f.Fd())); host.MayNotAnswerError(err) != tc.away || err == nil == tc.away {
			t.Errorf("%q, host %q: error %v", tc.mounts, tc.host, err)
		}
	}
	if err := host.CheckFile(other, "", -1); !errors.Is(err, unix.ENOENT) {
		t.Errorf("no file: error %v", err)
	}
}

// withFewFiles runs do while this process may open n files, including those that are open.
func withFewFiles(t *testing.T, n uint64, do func()) {
	t.Helper()
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	few := unix.Rlimit{Cur: n, Max: limit.Max}
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &few); err != nil {
		t.Fatal(err)
	}
	do()
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
}

// TestFewFiles: however few files gclog may open, what is found out is right, or the error is that
// there are too few.
func TestFewFiles(t *testing.T) {
	p := run(t, spec{Sockets: []string{exact}, Map: libcoreclr(t, "8.0.22"), Threads: []string{".NET Server GC"}})
	file := filepath.Join(p.dir, "file")
	if err := os.WriteFile(file, []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	looking := &host.Host{Helper: helperArguments}
	target, err := looking.Find(t.Context(), p.pid)
	if err != nil {
		t.Fatal(err)
	}
	library, err := target.Maps("/libcoreclr.so")
	if err != nil {
		t.Fatal(err)
	}
	group := folder(t, map[string]string{"memory.current": "100\n", "memory.max": "200\n", "memory.events": "oom_kill 3\n"})
	points := len(looking.MountPoints())
	// found returns no error for what is found, and that there are too few files for what is unknown.
	found := func(what string, got, unknown, want any) error {
		switch got {
		case want:
			return nil
		case unknown:
		default:
			t.Errorf("%s: %v, want %v", what, got, want)
		}
		return unix.EMFILE
	}
	socket := filepath.Base(target.Socket())
	request := func(want string, q host.Request) func() error {
		return func() error {
			r, err := target.Perform(&q)
			got := r.Name + string(r.Data)
			if r.FD >= 0 {
				got = "file"
				_ = unix.Close(r.FD)
			}
			if err == nil && got != want {
				t.Errorf("%+v: %q, want %q", q, got, want)
			} else if err != nil && r.FD != -1 {
				t.Errorf("%+v: file %d, error %v", q, r.FD, err)
			}
			return err
		}
	}
	for what, do := range map[string]func() error{
		"a search":     request(socket, host.Request{Kind: host.FindSocket, Path: p.dir, Name: socket, UID: os.Geteuid()}),
		"a connection": request("file", host.Request{Kind: host.Connect, Path: p.dir, Name: socket}),
		"a folder":     request("file", host.Request{Kind: host.WatchDir, Path: p.dir + "/../" + filepath.Base(p.dir)}),
		"a file":       request("text", host.Request{Kind: host.ReadFile, Path: file, Limit: 10}),
		"a program":    request("", host.Request{Kind: host.Program}),
		"no socket":    request("", host.Request{Kind: host.FindSocket, Path: "/", Name: "x", Prefix: "dotnet-diagnostic-x"}),
		"the root":     request("file", host.Request{Kind: host.WatchDir, Path: "/.."}),
		"a mapping": func() error {
			path, err := target.Maps("/libcoreclr.so")
			if err == nil && path != library || err != nil && path != "" {
				t.Errorf("a mapping: %q, error %v", path, err)
			}
			return err
		},
		"all processes": func() error {
			_, err := new(host.Host).List(t.Context())
			return err
		},
		"the runtime": func() error {
			return found("the runtime", target.Runtime(), host.RuntimeUnknown, host.RuntimeCoreCLR)
		},
		"the startup": func() error {
			return found("the startup", target.Startup(), host.StartupUnknown, host.StartupFinished)
		},
		"its threads": func() error {
			n, known := target.ServerGCThreads()
			return found("server GC threads", [2]any{n, known}, [2]any{0, false}, [2]any{1, true})
		},
		"mounts": func() error {
			return found("mounts", len(new(host.Host).MountPoints()), 0, points)
		},
		"memory": func() error {
			m := target.OpenMemory()
			defer m.Close()
			resident, _, _ := m.Read()
			return found("memory", resident > 0, false, true)
		},
		"processors": func() error {
			r := target.OpenCPU()
			defer r.Close()
			return found("threads", r.Threads() > 0, false, true)
		},
		"a group": func() error {
			usage, limit, kills, known := host.GroupMemory(2, group)
			return errors.Join(found("usage", usage, uint64(0), uint64(100)), found("limit", limit, uint64(0), uint64(200)),
				found("kills", [2]any{kills, known}, [2]any{uint64(0), false}, [2]any{uint64(3), true}))
		},
		"a watch": func() error {
			w := target.Watch()
			defer w.Close()
			left, known := w.SocketLeft()
			return found("the socket", [2]any{left, known}, [2]any{false, false}, [2]any{true, true})
		},
		"a helper": func() error {
			h, err := host.StartHelper(helperArguments)
			if err == nil {
				<-h.Leave()
			}
			return err
		},
		"a process": func() error {
			l := new(host.Host).Inspect(p.pid)
			if t, ok := errors.AsType[*host.TargetError](l.Err); ok && t.Cause == host.CauseNoAccess && strings.Contains(t.Detail, "limit of open files") {
				return unix.EMFILE
			}
			return l.Err
		},
	} {
		syscalls.LeavesNothing(t, os.Getpid(), func() {
			err := error(unix.EMFILE)
			for n := uint64(0); err != nil && n < 1000; n++ {
				withFewFiles(t, n, func() { err = do() })
				if err != nil && !errors.Is(err, unix.EMFILE) {
					t.Errorf("%s with %d files: error %v", what, n, err)
				}
			}
		})
	}
}

// TestFaults: what the kernel refuses is the error, or is unknown.
func TestFaults(t *testing.T) {
	dir := ipc.ShortDir(t)
	listenAs(t, filepath.Join(dir, "socket"))
	file, link := filepath.Join(dir, "file"), filepath.Join(dir, "link")
	if err := errors.Join(os.WriteFile(file, []byte("text"), 0o600), os.Symlink("file", link)); err != nil {
		t.Fatal(err)
	}
	const read = unix.O_NONBLOCK | unix.O_CLOEXEC
	for _, tc := range []struct {
		what  string
		fault syscalls.Fault
		q     host.Request
		err   unix.Errno // 0: the reply is empty
	}{
		{"opening a file", syscalls.Fault{Call: unix.SYS_OPENAT, Errno: unix.EACCES, Only: &[2]uint32{2, read}}, host.Request{Kind: host.ReadFile, Path: file, Limit: 9}, unix.EACCES},
		{"reading a file", syscalls.Fault{Call: unix.SYS_READ, Errno: unix.EIO}, host.Request{Kind: host.ReadFile, Path: file, Limit: 9}, unix.EIO},
		{"opening a program", syscalls.Fault{Call: unix.SYS_OPENAT, Errno: unix.EACCES, Only: &[2]uint32{2, read}}, host.Request{Kind: host.Program}, unix.EACCES},
		{"opening a folder", syscalls.Fault{Call: unix.SYS_OPENAT, Errno: unix.EACCES, Only: &[2]uint32{2, read | unix.O_NOFOLLOW}}, host.Request{Kind: host.FindSocket, Path: dir, Name: "x", Prefix: "s", UID: os.Geteuid()}, unix.EACCES},
		{"reading a folder", syscalls.Fault{Call: unix.SYS_GETDENTS64, Errno: unix.EIO}, host.Request{Kind: host.FindSocket, Path: dir, Name: "x", Prefix: "s", UID: os.Geteuid()}, 0},
		{"reading a link", syscalls.Fault{Call: unix.SYS_READLINKAT, Errno: unix.EACCES}, host.Request{Kind: host.ReadFile, Path: link, Limit: 9}, unix.EACCES},
		{"another descriptor", syscalls.Fault{Call: unix.SYS_FCNTL, Errno: unix.EMFILE, Only: &[2]uint32{1, unix.F_DUPFD_CLOEXEC}}, host.Request{Kind: host.WatchDir, Path: dir}, unix.EMFILE},
		{"a socket", syscalls.Fault{Call: unix.SYS_SOCKET, Errno: unix.ENFILE}, host.Request{Kind: host.Connect, Path: dir, Name: "socket"}, unix.ENFILE},
		{"connecting", syscalls.Fault{Call: unix.SYS_CONNECT, Errno: unix.EAGAIN}, host.Request{Kind: host.Connect, Path: dir, Name: "socket"}, unix.EAGAIN},
		{"the state of a file system", syscalls.Fault{Call: unix.SYS_FSTATFS, Errno: unix.ENOSYS}, host.Request{Kind: host.DescribeDir, Path: dir, Name: "x"}, 0},
	} {
		syscalls.LeavesNothing(t, os.Getpid(), func() {
			tc.fault.Inject(t, func() {
				r, err := tc.q.Here()
				if tc.err == 0 && err != nil || tc.err != 0 && !errors.Is(err, tc.err) || r.Name+string(r.Data) != "" || r.FD != -1 || r.Runtime != host.RuntimeUnknown {
					t.Errorf("%s: %+v, error %v, want %v", tc.what, r, err, tc.err)
				}
			})
		})
	}

	reading := syscalls.Fault{Call: unix.SYS_GETDENTS64, Errno: unix.EIO}
	aot, err := new(host.Host).Describe(startTiny(t, "DotNetRuntimeDebugHeader", 1))
	if err != nil {
		t.Fatal(err)
	}
	s := newScanner(t)
	reading.Inject(t, func() {
		if list, err := s.Scan(); !errors.Is(err, unix.EIO) || list != nil {
			t.Errorf("a scan: %d processes, error %v", len(list), err)
		}
		if list, err := new(host.Host).List(t.Context()); !errors.Is(err, unix.EIO) || list != nil {
			t.Errorf("a list: %d processes, error %v", len(list), err)
		}
		if got := aot.Startup(); got != host.StartupUnknown {
			t.Errorf("without its threads: startup %v", got)
		}
		if n, known := aot.ServerGCThreads(); n != 0 || known {
			t.Errorf("without its threads: %d server GC threads, known %v", n, known)
		}
	})
	syscalls.LeavesNothing(t, os.Getpid(), func() {
		syscalls.Fault{Call: unix.SYS_FCHMODAT, Errno: unix.EPERM}.Inject(t, func() {
			path := filepath.Join(dir, "new")
			if l, err := session.ListenUnix(path, 0o600); !errors.Is(err, unix.EPERM) || l != nil {
				t.Errorf("a socket whose mode cannot be set: %v, error %v", l, err)
			}
			if _, err := os.Lstat(path); !os.IsNotExist(err) {
				t.Errorf("it is left: error %v", err)
			}
		})
	})
}

// TestHelperLeft: a helper that is abandoned ends, whatever it waits for.
func TestHelperLeft(t *testing.T) {
	for _, command := range [][]string{helperArguments, deafArguments} {
		h, err := host.StartHelper(command)
		if err != nil {
			t.Fatal(err)
		}
		select {
		case <-h.Leave():
		case <-time.After(patience):
			t.Errorf("%v does not end", command)
		}
	}
}

// TestHelperIdle: a helper that has been idle for long ends, and the others stay.
func TestHelperIdle(t *testing.T) {
	h := &host.Host{Helper: helperArguments}
	if err := h.UseHelpers(3); err != nil {
		t.Fatal(err)
	}
	for left := h.IdleHelpers(); len(left) > 0; {
		i := len(left) / 2
		h.Retire(i)
		ended := left[i]
		left = slices.Delete(left, i, i+1)
		waitUntil(t, "the helper to end", func() bool { return unix.Kill(ended, 0) != nil })
		if got := h.IdleHelpers(); !slices.Equal(got, left) {
			t.Fatalf("idle are %v, want %v", got, left)
		}
		if err := h.UseHelpers(len(left)); err != nil {
			t.Fatal(err)
		}
		left = h.IdleHelpers()
	}
}

// TestHelperFiles: a message comes with the file that belongs to it, or not at all.
func TestHelperFiles(t *testing.T) {
	syscalls.LeavesNothing(t, os.Getpid(), func() {
		for _, tc := range []struct {
			message any
			file    int
			words   string // of the error
		}{
			{host.Answer{}, -1, ""},
			{host.Answer{HasFD: true}, 0, ""},
			{host.Answer{HasFD: true}, -1, "it sent no file"},
			{host.Answer{}, 0, "it sent no file"},
			{"no answer", 0, "gob: "},
			{func() {}, 0, "gob "},
		} {
			if err := host.AnswerWith(tc.message, tc.file); (err == nil) != (tc.words == "") || err != nil && !strings.Contains(err.Error(), tc.words) {
				t.Errorf("%T with file %d: error %v, want %q", tc.message, tc.file, err, tc.words)
			}
		}
	})
	h, err := host.StartHelper(helperArguments)
	if err != nil {
		t.Fatal(err)
	}
	q := &host.Request{Kind: host.HasFile, Path: "/", Name: "proc"}
	if err := h.AskAbout(q, 1<<20); !errors.Is(err, unix.EBADF) {
		t.Errorf("a folder that is not open: error %v", err)
	}
	if r, err := h.Ask(q); err != nil || !r.Yes {
		t.Errorf("afterwards: %+v, error %v", r, err)
	}
	if _, err := h.Close(); err != nil {
		t.Error(err)
	}
	if _, err := h.Ask(q); !errors.Is(err, net.ErrClosed) {
		t.Errorf("it has ended: error %v", err)
	}
}

// TestReceivedFile: a message brings one file or none.
func TestReceivedFile(t *testing.T) {
	one := unix.UnixRights(7)
	other := bytes.Clone(one)
	binary.NativeEndian.PutUint32(other[unix.SizeofCmsghdr-4:], unix.SCM_CREDENTIALS)
	for what, tc := range map[string]struct {
		rights []byte
		want   int
	}{
		"nothing": {nil, -1}, "one": {one, 7}, "two": {unix.UnixRights(7, 8), -1}, "half a header": {one[:8], -1}, "none": {unix.UnixRights(), -1},
		"another message": {other, -1},
	} {
		if got := host.ReceivedFile(tc.rights); got != tc.want {
			t.Errorf("%s: file %d, want %d", what, got, tc.want)
		}
	}
}

// TestHelperDefect: a helper that panics reports that.
func TestHelperDefect(t *testing.T) {
	if text, file := host.DefectOfHelper(); !strings.HasPrefix(text, "a defect of gclog, please report it: ") || !strings.Contains(text, "request_linux.go") || file {
		t.Errorf("%q, with a file: %v", text, file)
	}
}

// TestHelperEnds: a helper exits when its connection is closed or it receives something invalid,
// but not because of a signal from a terminal.
func TestHelperEnds(t *testing.T) {
	start := func() *host.Helper {
		h, err := host.StartHelper(helperArguments)
		if err != nil {
			t.Fatal(err)
		}
		if r, err := h.Ask(&host.Request{Kind: host.HasFile, Path: "/", Name: "proc"}); err != nil || !r.Yes {
			t.Fatalf("%+v, error %v", r, err)
		}
		return h
	}
	ends := func(h *host.Helper, what string, code int) {
		t.Helper()
		if state, err := h.Close(); err != nil || state.ExitCode() != code {
			t.Errorf("%s: it ends with %v, error %v, want the code %d", what, state, err, code)
		}
	}
	h := start()
	for _, s := range []unix.Signal{unix.SIGINT, unix.SIGTERM, unix.SIGHUP, unix.SIGQUIT} {
		if err := unix.Kill(h.PID(), s); err != nil {
			t.Fatal(err)
		}
	}
	if r, err := h.Ask(&host.Request{Kind: host.HasFile, Path: "/", Name: "proc"}); err != nil || !r.Yes {
		t.Errorf("after signals: %+v, error %v", r, err)
	}
	// A message may arrive in pieces.
	message := (&host.Request{Kind: host.HasFile, Path: "/", Name: "proc"}).Message()
	for _, piece := range [][]byte{message[:1], message[1:9], message[9:]} {
		if _, err := h.Write(piece); err != nil {
			t.Fatal(err)
		}
		waitUntil(t, "the helper to read", func() bool { return h.Unread() == 0 })
	}
	if err := h.Answer(); err != nil {
		t.Error(err)
	}
	ends(h, "closed", 0)
	h = start()
	if _, err := h.Write(message); err != nil {
		t.Fatal(err)
	}
	ends(h, "nobody receives its answer", 1)
	const most = 4 << 20
	for what, b := range map[string][]byte{
		"half a message":    {8, 0, 0, 0, 1, 2, 3},
		"no request":        {3, 0, 0, 0, 1, 2, 3},
		"as much as can be": append(binary.LittleEndian.AppendUint32(nil, most), bytes.Repeat([]byte{0xff}, most)...),
	} {
		h := start()
		if _, err := h.Write(b); err != nil {
			t.Errorf("%s: %v", what, err)
		}
		ends(h, what, 1)
	}
	// The helper does not wait for a message beyond the size limit.
	h = start()
	if _, err := h.Write(binary.LittleEndian.AppendUint32(nil, most+1)); err != nil {
		t.Error(err)
	}
	waitState(t, h.PID(), "Z")
	ends(h, "too much", 1)
	// Started without a connection, it prints that it is for gclog's own use.
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer tcp.Close()
	socket, err := tcp.(*net.TCPListener).File()
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	for what, files := range map[string][]*os.File{"no file": nil, "a pipe": {os.Stderr}, "a socket of another kind": {socket}} {
		cmd := &exec.Cmd{Path: "/proc/self/exe", Args: helperArguments, ExtraFiles: files, Env: os.Environ()}
		if err := cmd.Run(); cmd.ProcessState.ExitCode() != 1 {
			t.Errorf("%s: it ends with %v", what, err)
		}
	}
}
