package host_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gclog/gclog/internal/host"
	"github.com/gclog/gclog/internal/testing/child"
	"github.com/gclog/gclog/internal/testing/fakefuse"
	"github.com/gclog/gclog/internal/testing/ipc"
	"github.com/gclog/gclog/internal/testing/syscalls"
	"golang.org/x/sys/unix"
)

// helperArguments make the test binary run as the helper of a Host.
var helperArguments = []string{"host.test", "look"}

// deafArguments make it a helper that does not even notice the end of its connection.
var deafArguments = []string{"host.test", "deaf"}

// startedByTest runs what a test has started the test binary for, if one has.
func startedByTest() {
	fakefuse.Main()
	if len(os.Args) == 2 && os.Args[1] == deafArguments[1] {
		time.Sleep(2 * patience)
		os.Exit(0)
	}
	if len(os.Args) == 2 && os.Args[1] == helperArguments[1] {
		if err := host.ServeHelper(); err != nil {
			os.Exit(1)
		}
		os.Exit(0)
	}
}

// TestHostMounts: a later mount is seen.
func TestHostMounts(t *testing.T) {
	if !child.First(t) {
		return
	}
	h, dir := &host.Host{}, t.TempDir()
	seen := func() bool { return slices.Contains(h.MountPoints(), dir) }
	for range 3 {
		if seen() {
			t.Error("it is mounted too early")
		}
		if err := unix.Mount("gclog", dir, "tmpfs", 0, ""); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Millisecond) // Go's poller is idle now, but must not take the notification
		if !seen() {
			t.Error("what was mounted is not seen")
		}
		if err := unix.Unmount(dir, 0); err != nil {
			t.Fatal(err)
		}
	}
}

// TestHostMountsUnreadable: mounts that cannot be read are unknown, and are read again.
func TestHostMountsUnreadable(t *testing.T) {
	h := new(host.Host)
	want := h.MountPoints()
	syscalls.LeavesNothing(t, os.Getpid(), func() {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		_ = w.Close() // so that something has changed
		fresh := new(host.Host)
		fresh.ReadMountsFrom(r)
		if got := fresh.MountPoints(); got != nil {
			t.Errorf("the mounts are %q", got)
		}
		if r.Fd() != ^uintptr(0) {
			t.Error("the file is left open")
		}
	})
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	_ = w.Close()
	h.ReadMountsFrom(r)
	if got := h.MountPoints(); got != nil {
		t.Errorf("the mounts are %q", got)
	}
	if got := h.MountPoints(); !slices.Equal(got, want) || len(got) == 0 {
		t.Errorf("afterwards: the mounts are %q, want %q", got, want)
	}
}

// TestMountsAreOurs: mounts that a user namespace of its own allowed a process to make are not ours,
// and neither are those that cannot be read.
func TestMountsAreOurs(t *testing.T) {
	if !host.MountsAreOurs(os.Getpid()) {
		t.Error("our own are not ours")
	}
	syscalls.LeavesNothing(t, os.Getpid(), func() {
		if host.MountsAreOurs(99_999_999) {
			t.Error("those of no process are ours")
		}
	})
	p := inNamespaces(t, spec{}, unix.CLONE_NEWUSER|unix.CLONE_NEWNS)
	syscalls.LeavesNothing(t, os.Getpid(), func() {
		if host.MountsAreOurs(p.pid) {
			t.Error("those in another user namespace are ours")
		}
	})
}

// onFUSE runs a process whose temporary directory is on a file system of the server.
func onFUSE(t *testing.T, s *fakefuse.Server, tmp string, uid int) *process {
	t.Helper()
	through := append(s.Enter(), "setpriv", "--reuid="+strconv.Itoa(uid), "--clear-groups", "--")
	return runIn(t, spec{Sockets: []string{exact}, Through: through}, "TMPDIR="+tmp)
}

// everybodys returns a directory that all users can access.
func everybodys(t *testing.T) string {
	t.Helper()
	dir := ipc.ShortDir(t)
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

// hostWithHelpers returns a Host whose helpers have started: that may take longer on a busy machine than
// a look may.
func hostWithHelpers(t *testing.T, n int) *host.Host {
	t.Helper()
	h := &host.Host{Helper: helperArguments}
	if err := h.UseHelpers(n); err != nil {
		t.Fatal(err)
	}
	return h
}

// helped returns a process whose temporary directory is on a file system in dir, and a Host with a helper
// that looks at it.
func helped(t *testing.T, dir string) (fuse *fakefuse.Server, p *process, h *host.Host) {
	t.Helper()
	fuse = fakefuse.Start(t, dir, 1)
	t.Cleanup(fuse.Stop)
	p = onFUSE(t, fuse, fuse.Dir(0), 0)
	t.Cleanup(p.end)
	return fuse, p, hostWithHelpers(t, 1)
}

// TestHelper: where a file system may not answer, a helper looks and connects. A path may contain
// any bytes.
func TestHelper(t *testing.T) {
	fuse, p, h := helped(t, filepath.Join(everybodys(t), "caf\xe9"))
	target, err := h.Find(t.Context(), p.pid)
	if err != nil {
		t.Fatal(err)
	}
	target.Timeout = patience
	if err := target.Resume(t.Context()); err != nil {
		t.Error(err)
	}
	if target.Runtime() == host.RuntimeCoreCLR {
		t.Error("it is told that there is a pipe for debuggers, which is not there")
	}
	if _, err := target.ReadFile(t.Context(), filepath.Join(fuse.Dir(0), "missing"), 5); err == nil || !os.IsNotExist(err) {
		t.Errorf("a file that is not there: error %v", err)
	}
	w := target.Watch()
	defer w.Close()
	if _, known := w.SocketLeft(); known {
		t.Error("a file system that may not answer was asked")
	}
	if n, _ := h.Stuck(); n != 0 {
		t.Errorf("%d looks are stuck", n)
	}
	// It was the helper: with a broken one nothing is found.
	broken := &host.Host{Helper: brokenHelper}
	_, err = broken.Find(t.Context(), p.pid)
	refused(t, err, host.CauseNoAccess, "the helper process for that failed")
	// A socket without a listener, and one that has been removed.
	if err := os.Remove(filepath.Join("/proc", strconv.Itoa(p.pid), "root", p.socket(t, ""))); err != nil {
		t.Fatal(err)
	}
	refused(t, target.Resume(t.Context()), host.CauseNoSocket, "has removed its diagnostics socket")
	_, err = h.Find(t.Context(), p.pid)
	refused(t, err, host.CauseNotDotnet, "is not a .NET process")
}

// TestHelperHangs: file systems that do not answer block some helpers, but neither gclog nor looks
// at other file systems.
func TestHelperHangs(t *testing.T) {
	const mounts = 12
	dir := everybodys(t)
	fuse := fakefuse.Start(t, dir, mounts)
	defer fuse.Stop()
	var list []*process
	for i := range mounts {
		for _, uid := range []int{0, 12345} {
			list = append(list, onFUSE(t, fuse, fuse.Dir(i), uid))
		}
	}
	// The path leads to a file system that answers, and from there into another one.
	link := filepath.Join(dir, "link")
	if err := os.Symlink("../"+filepath.Base(dir)+"/./0", link); err != nil {
		t.Fatal(err)
	}
	list = append(list, onFUSE(t, fuse, link, 0))
	other := run(t, spec{Sockets: []string{exact}})
	fuse.Hang(t)

	h := hostWithHelpers(t, 8)
	inspectAll := func() {
		t.Helper()
		var group sync.WaitGroup
		for _, p := range list {
			group.Go(func() {
				l := h.Inspect(p.pid)
				refused(t, l.Err, host.CauseStuck, "")
				if !l.Dotnet() {
					t.Errorf("process %d is not taken for .NET, whose socket the kernel lists: %v", p.pid, l.Err)
				}
			})
		}
		group.Wait()
	}
	inspectAll()
	first, all := h.Stuck()
	if first == 0 || first > 8 || all {
		t.Errorf("%d looks are stuck, all: %v", first, all)
	}
	// One after the other takes the helpers that are left, and then there is none to wait for.
	for range 3 {
		inspectAll()
	}
	n, all := h.Stuck()
	if n != 8 || all {
		t.Errorf("%d looks are stuck after more attempts, all: %v", n, all)
	}
	if _, err := h.Find(t.Context(), other.pid); err != nil {
		t.Errorf("a process elsewhere: %v", err)
	}
	if state := threadsInKernel(t); state != "" {
		t.Errorf("this process cannot end: %s", state)
	}
	fuse.Stop()
	waitUntil(t, "the helpers to end", func() bool { n, _ := h.Stuck(); return n == 0 })
}

// threadsInKernel lists the threads of this process that wait where no signal reaches them.
func threadsInKernel(t *testing.T) (list string) {
	t.Helper()
	tasks, err := filepath.Glob("/proc/self/task/*/stat")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range tasks {
		b, _ := os.ReadFile(name)
		if _, rest, ok := strings.Cut(string(b), ") "); ok && rest[0] == 'D' {
			list += fmt.Sprintln(string(b))
		}
	}
	return list
}

// TestReadFileOpens: a file that is not regular is not even opened, because that can have side
// effects.
func TestReadFileOpens(t *testing.T) {
	p := run(t, spec{Sockets: []string{exact}})
	target := find(t, p)
	pipe, file := filepath.Join(p.dir, "pipe"), filepath.Join(p.dir, "file")
	if err := unix.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]bool{pipe: false, file: true} {
		watch, err := unix.InotifyInit1(unix.IN_NONBLOCK | unix.IN_CLOEXEC)
		if err != nil {
			t.Fatal(err)
		}
		defer unix.Close(watch)
		if _, err := unix.InotifyAddWatch(watch, path, unix.IN_OPEN); err != nil {
			t.Fatal(err)
		}
		_, err = target.ReadFile(t.Context(), path, 5)
		n, _ := unix.Read(watch, make([]byte, 4096))
		if opened := n > 0; opened != want || (err == nil) != want {
			t.Errorf("%s was opened: %v, error %v", path, opened, err)
		}
	}
}

// brokenHelper is a helper that does not work. Tests pass with it if the helper is not needed.
var brokenHelper = []string{"host.test", "-test.run=^$"}

// TestHelperChroot: a process that has changed its root is on a file system of the host, which
// answers. With a mount namespace of its own its file system is unknown: then the helper looks.
func TestHelperChroot(t *testing.T) {
	for name, own := range map[string]bool{"mounts of the host": false, "mounts of its own": true} {
		t.Run(name, func(t *testing.T) {
			if os.Geteuid() != 0 {
				t.Skip("only root can change its root")
			}
			s := spec{Chroot: ipc.ShortDir(t), Dir: "/", Sockets: []string{exact}}
			var p *process
			if own {
				p = inNamespaces(t, s, unix.CLONE_NEWNS, "TMPDIR=/")
			} else {
				p = runIn(t, s, "TMPDIR=/")
			}
			h := hostWithHelpers(t, 1)
			syscalls.LeavesNothing(t, os.Getpid(), func() {
				target, err := h.Find(t.Context(), p.pid)
				if err != nil {
					t.Fatal(err)
				}
				if err := target.Resume(t.Context()); err != nil {
					t.Error(err)
				}
			})
			l := (&host.Host{Helper: brokenHelper}).Inspect(p.pid)
			if !own && l.Err != nil {
				t.Errorf("error %v", l.Err)
			} else if own {
				refused(t, l.Err, host.CauseNoAccess, "it is on a file system that may not respond (unknown type at an unknown mount point), and the helper process for that failed")
			}
		})
	}
}

// TestHelperMissing: the error reports that a helper cannot be started.
func TestHelperMissing(t *testing.T) {
	fuse, p, h := helped(t, everybodys(t))
	syscalls.LeavesNothing(t, os.Getpid(), func() {
		target, err := h.Find(t.Context(), p.pid)
		if err != nil {
			t.Fatal(err)
		}
		target.Timeout = patience
		if err := target.Resume(t.Context()); err != nil {
			t.Error(err)
		}
		_, _, _ = target.Runtime(), target.TempDirTrouble(), target.WhyNoSocket(nil)
		_, _ = target.ReadFile(t.Context(), filepath.Join(fuse.Dir(0), "missing"), 5)
		m, c, w := target.OpenMemory(), target.OpenCPU(), target.Watch()
		checkCloseOnExec(t)
		m.Close()
		c.Close()
		w.Close()
	})
	long := &host.Host{Helper: []string{"host.test", strings.Repeat("x", 1<<20)}} // longer than any argument can be
	syscalls.LeavesNothing(t, os.Getpid(), func() {
		refused(t, long.Inspect(p.pid).Err, host.CauseNoAccess, "the helper process for that could not be started")
	})
	if n, _ := long.Stuck(); n != 0 {
		t.Errorf("%d looks are stuck", n)
	}
}

// TestHelperWaits: a look that was requested explicitly waits for other looks at the file system; a
// look in passing does not.
func TestHelperWaits(t *testing.T) {
	fuse, p, h := helped(t, everybodys(t))
	target, err := h.Find(t.Context(), p.pid)
	if err != nil {
		t.Fatal(err)
	}
	target.Timeout = patience
	mounts, err := os.ReadFile(fmt.Sprintf("/proc/%d/mountinfo", p.pid))
	if err != nil {
		t.Fatal(err)
	}
	device := ""
	for line := range strings.Lines(string(mounts)) {
		if fields := strings.Fields(line); fields[4] == fuse.Dir(0) {
			device = fields[2]
		}
	}
	for what, ask := range map[string]func() error{
		"a request": func() error { return target.Resume(t.Context()) },
		"a file": func() error {
			if _, err := target.ReadFile(t.Context(), filepath.Join(fuse.Dir(0), "missing"), 5); !os.IsNotExist(err) {
				return fmt.Errorf("a file that is not there: %w", err)
			}
			return nil
		},
		"a runtime": func() error {
			if got := target.Runtime(); got != host.RuntimeNativeAOT {
				return fmt.Errorf("runtime %v", got)
			}
			return nil
		},
	} {
		var turns []*host.Turn
		for n := range 2 {
			turn, err := h.Turn(t.Context(), 1_000_000+n, 0, device, true)
			if err != nil {
				t.Fatal(err)
			}
			turns = append(turns, turn)
		}
		refused(t, h.Inspect(p.pid).Err, host.CauseStuck, "other inspections of such file systems take long") // longer than a look in passing waits
		done := make(chan error, 1)
		go func() { done <- ask() }()
		select {
		case err := <-done:
			t.Errorf("%s does not wait: %v", what, err)
		case <-time.After(150 * time.Millisecond):
		}
		for _, turn := range turns {
			turn.End()
		}
		if err := <-done; err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// TestHelperOverlay: a user with a user namespace of their own can mount FUSE below an overlay.
func TestHelperOverlay(t *testing.T) {
	dir := everybodys(t)
	fuse := fakefuse.Start(t, dir, 1)
	defer fuse.Stop()
	room := ipc.ShortDir(t)
	tmp := filepath.Join(room, "merged")
	script := fmt.Sprintf("mount -t tmpfs none %[1]s && cd %[1]s && mkdir upper work merged && mount -t overlay none -o lowerdir=%[2]s,upperdir=%[1]s/upper,workdir=%[1]s/work merged && cp $0 merged/program && exec merged/program", room, fuse.Dir(0))
	through := append(fuse.Enter(), "unshare", "--user", "--map-root-user", "--mount", "--", "sh", "-c", script)
	p, err := tryRun(t, spec{Sockets: []string{exact}, Dir: tmp, Through: through}, nil, "TMPDIR="+tmp, "PATH="+os.Getenv("PATH"))
	if err != nil {
		t.Skipf("no overlay in a user namespace here: %v", err)
	}
	h := hostWithHelpers(t, 1)
	var target *host.Target
	syscalls.LeavesNothing(t, os.Getpid(), func() {
		if target, err = h.Find(t.Context(), p.pid); err != nil {
			t.Fatal(err)
		}
	})
	if got := target.Runtime(); got != host.RuntimeNativeAOT { // as for all with a socket and without the library
		t.Errorf("runtime %v", got)
	}
	broken := &host.Host{Helper: brokenHelper}
	refused(t, broken.Inspect(p.pid).Err, host.CauseNoAccess, "the helper process for that failed")
}

// TestModulesChroot: the paths of a process that has changed its root lead to its files.
func TestModulesChroot(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can change its root")
	}
	root := ipc.ShortDir(t)
	const path, content = "/app/Shop.dll", "metadata"
	if err := errors.Join(os.Mkdir(root+"/app", 0o755), os.WriteFile(root+path, []byte(content), 0o644)); err != nil {
		t.Fatal(err)
	}
	target := find(t, runIn(t, spec{Chroot: root, Dir: "/", Sockets: []string{exact}, Map: path}, "TMPDIR=/"))
	if list := target.Modules(t.Context()); !slices.Contains(list, path) {
		t.Fatalf("%q", list)
	}
	f, err := target.OpenFile(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if got, err := io.ReadAll(f); string(got) != content || err != nil {
		t.Errorf("%q, %v", got, err)
	}
}
