//go:build linux

package deploy

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gclog/gclog/internal/testing/child"
	"github.com/gclog/gclog/internal/testing/fakefuse"
	"github.com/gclog/gclog/internal/testing/gcload"
	"github.com/gclog/gclog/internal/testing/program"
	"github.com/gclog/gclog/internal/testing/reserved"
)

// The daemon of the packages, run the way the unit and the DaemonSet run it.

// A served is a recorded process in the background. It belongs to user 12345, with its own /tmp.
type served struct{ cmd *exec.Cmd }

// serve starts one with the program of the packages.
func serve(t *testing.T, exe string) *served {
	t.Helper()
	program.Needs(t, "unshare", "setpriv")
	if !program.IsRoot() || !program.MountWorks() {
		t.Skip("only root can make processes of other users, with a /tmp of their own")
	}
	private := t.TempDir()
	open(t, private)
	cmd := exec.Command("unshare", "--mount", "sh", "-c",
		"mount -t tmpfs -o mode=1777 none "+private+" && exec setpriv --reuid=12345 --regid=12345 --clear-groups "+exe+" demo --serve --speed 5")
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "TMPDIR=" + private, "OTEL_SERVICE_NAME=orders"}
	child.Start(t, cmd)
	return &served{cmd}
}

// serveAway starts one as root whose /tmp is on a file system that might hang.
func serveAway(t *testing.T, exe string) *served {
	t.Helper()
	fuse := fakefuse.Start(t, t.TempDir(), 1)
	enter := fuse.Enter()
	cmd := exec.Command(enter[0], append(enter[1:], exe, "demo", "--serve", "--speed", "5")...)
	cmd.Env = []string{"TMPDIR=" + fuse.Dir(0), "OTEL_SERVICE_NAME=away"}
	child.Start(t, cmd)
	return &served{cmd}
}

func (s *served) pid() int { return s.cmd.Process.Pid }

// packed returns a copy of the program of the packages, which every user can run.
func packed(t *testing.T) string {
	t.Helper()
	exe := filepath.Join(t.TempDir(), "gclog")
	program.Must(t, "cp", filepath.Join(filepath.Dir(built(t, "SHA256SUMS")), "linux", "amd64", "gclog"), exe)
	open(t, exe)
	return exe
}

// open makes a file of a test accessible to every user.
func open(t *testing.T, path string) {
	t.Helper()
	for ; path != os.TempDir() && path != "/"; path = filepath.Dir(path) {
		if err := os.Chmod(path, 0o755); err != nil {
			t.Fatal(err)
		}
	}
}

// logged reports whether a file that matches the pattern contains a record of an action.
func logged(pattern, action string) bool {
	files, _ := filepath.Glob(pattern)
	return slices.ContainsFunc(files, func(name string) bool {
		b, err := os.ReadFile(name)
		return err == nil && bytes.Contains(b, []byte(`"action":"`+action+`"`))
	})
}

// directives returns the values of a directive of the unit, in order.
func directives(t *testing.T, name string) []string {
	t.Helper()
	return directivesOf(t, "gclog.service", name)
}

// directivesOf does the same for another file of the samples.
func directivesOf(t *testing.T, file, name string) (values []string) {
	t.Helper()
	unit, err := os.ReadFile(filepath.Join("samples", "systemd", file))
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile(`(?m)^`+name+`=(.*)$`).FindAllSubmatch(unit, -1) {
		values = append(values, string(m[1]))
	}
	return values
}

// allowedCalls returns the system calls that the unit allows: those of its lists, and of the lists
// in them, as systemd defines these.
func allowedCalls(t *testing.T) map[string]bool {
	t.Helper()
	allowed := map[string]bool{}
	var set func(name string, to bool)
	set = func(name string, to bool) {
		if !strings.HasPrefix(name, "@") {
			allowed[name] = to
			return
		}
		for line := range strings.Lines(program.Must(t, "systemd-analyze", "syscall-filter", name)) {
			if f := strings.Fields(line); len(f) == 1 && strings.HasPrefix(line, " ") {
				set(f[0], to)
			}
		}
	}
	for _, list := range append([]string{"@default"}, directives(t, "SystemCallFilter")...) {
		names, denied := strings.CutPrefix(list, "~")
		for name := range strings.FieldsSeq(names) {
			set(name, !denied)
		}
	}
	return allowed
}

var (
	commandDone  = regexp.MustCompile(`"action": ?"exec",\s*"done"`)
	tracedCall   = regexp.MustCompile(`(?m)^\d+ +(\w+)\(`)
	tracedSocket = regexp.MustCompile(`(?m)^\d+ +socket\((AF_\w+)`)
	tracedOpen   = regexp.MustCompile(`(?m)^\d+ +(?:openat|openat2)\((?:AT_FDCWD|\d+)<([^>]*)>, "([^"]*)", (?:\{flags=)?([A-Z_|]+)`)
	tracedFile   = regexp.MustCompile(` = (\d+)<([^>]*)>$`)
	// A call that was interrupted by calls of another thread: its start and its end.
	tracedBegin  = regexp.MustCompile(`^(\d+) .* <unfinished \.\.\.>$`)
	tracedEnd    = regexp.MustCompile(`^(\d+) +<\.\.\. \w+ resumed>`)
	tracedChange = regexp.MustCompile(`(?m)^\d+ +(?:mkdirat|unlinkat|renameat|renameat2|fchmodat|fchownat|linkat|symlinkat)\((?:AT_FDCWD|\d+)<([^>]*)>, "([^"]*)"`)
)

// TestDeployHardening runs the daemon with everything that it does, and compares every system call,
// socket family and file that it writes with what the unit allows, and with the drop-in for su.
func TestDeployHardening(t *testing.T) {
	program.Needs(t, "strace", "systemd-analyze")
	if !program.StraceWorks() {
		t.Skip("strace does not work here")
	}
	exe := packed(t)
	target := serve(t, exe)
	away := serveAway(t, exe)
	dir := t.TempDir()
	logs, run, trace := filepath.Join(dir, "log"), filepath.Join(dir, "run"), filepath.Join(dir, "trace")
	theirs, err := os.MkdirTemp("", "su") // no folder above it belongs to another user
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(theirs) })
	if err := os.Chown(theirs, program.Nobody, program.Nobody); err != nil {
		t.Fatal(err)
	}
	for _, d := range []string{logs, run} {
		if err := os.Mkdir(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	config, address, socket := filepath.Join(dir, "gclog.yaml"), reserved.Address(t), filepath.Join(run, "ctl.sock")
	if err := os.WriteFile(config, fmt.Appendf(nil, `version: 1
discovery: {interval: 100ms, include: [{pid: %d}, {pid: %d}], listen: [%s/diag.sock]}
outputs:
  - {path: %s/%%s-%%p.json, filesize: 16K, filecount: 2}
  - {xlog: "gc*:file=%s/%%p.gc.log"}
  - {path: %s/%%p.json, su: {user: %d}, filesize: 16K, filecount: 2}
retention: {total: 32K}
control: {socket: "%s"}
http: {listen: "%s"}
rules: [{name: a, when: number >= 0, cooldown: 1h, do: [{exec: {command: ["true"], su: {user: %[7]d}}}]}]
`, target.pid(), away.pid(), run, logs, logs, theirs, program.Nobody, socket, address), 0o644); err != nil {
		t.Fatal(err)
	}
	notify, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: filepath.Join(dir, "notify"), Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer notify.Close()

	daemon := exec.Command("strace", "-D", "-f", "-y", "-o", trace, exe, "daemon", "-c", config)
	daemon.Env = []string{"PATH=" + os.Getenv("PATH"), "NOTIFY_SOCKET=" + filepath.Join(dir, "notify"), "WATCHDOG_USEC=1000000"}
	var said bytes.Buffer
	daemon.Stderr = &said
	defer func() {
		if t.Failed() {
			t.Logf("the daemon said: %s", &said)
		}
	}()
	if err := daemon.Start(); err != nil {
		t.Fatal(err)
	}
	ended := false
	defer func() {
		if !ended {
			_, _ = daemon.Process.Kill(), daemon.Wait()
		}
	}()
	// await waits for a message to systemd.
	await := func(what string) {
		t.Helper()
		message := make([]byte, 1<<10)
		for {
			if err := notify.SetReadDeadline(time.Now().Add(program.Deadline)); err != nil {
				t.Fatal(err)
			}
			n, err := notify.Read(message)
			if err != nil {
				t.Fatalf("systemd was not told %s: %v; the daemon said: %s", what, err, &said)
			}
			if slices.Contains(strings.Split(string(message[:n]), "\n"), what) {
				return
			}
		}
	}
	signal := func(s syscall.Signal) {
		t.Helper()
		if err := daemon.Process.Signal(s); err != nil {
			t.Fatal(err)
		}
	}
	await("READY=1")
	await("WATCHDOG=1")
	all := filepath.Join(logs, "orders-*.json")
	program.Eventually(t, "a record of a collection", func() bool { return logged(all, "gc") })
	program.Eventually(t, "a record of the process that a helper connects to", func() bool { return logged(filepath.Join(logs, "away-*.json"), "gc") })
	program.Must(t, exe, "health", "--socket", socket)
	program.Eventually(t, "a command", func() bool {
		out, _ := exec.Command(exe, "ctl", "status", "-f", "json", "--socket", socket).Output() // it may be slow under strace
		return commandDone.Match(out)
	})
	signal(syscall.SIGUSR1)
	signal(syscall.SIGUSR2)
	signal(syscall.SIGHUP)
	await("RELOADING=1")
	await("READY=1")
	if err := target.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	program.Eventually(t, "the end of the session", func() bool { return logged(all, "gc-session-end") })
	signal(syscall.SIGTERM)
	await("STOPPING=1")
	ended = true
	if err := daemon.Wait(); err != nil {
		t.Errorf("the daemon ended with %v: %s", err, &said)
	}

	var traced []byte
	program.Eventually(t, "the end of the trace", func() bool {
		traced, err = os.ReadFile(trace)
		return err == nil && regexp.MustCompile(fmt.Sprintf(`(?m)^%d +\+\+\+ exited`, daemon.Process.Pid)).Match(traced)
	})
	allowed, calls := allowedCalls(t), map[string]bool{}
	for name := range strings.FieldsSeq(strings.Join(directivesOf(t, "gclog-su.conf", "SystemCallFilter"), " ")) {
		if allowed[name] && name != "setfsgid" {
			t.Errorf("%s needs no drop-in", name)
		}
		allowed[name] = true
	}
	for _, m := range tracedCall.FindAllSubmatch(traced, -1) {
		if name := string(m[1]); !calls[name] {
			calls[name] = true
			if !allowed[name] {
				t.Errorf("the daemon calls %s, which the unit does not allow", name)
			}
		}
	}
	for _, name := range []string{"execve", "connect", "openat", "renameat", "inotify_add_watch", "setfsuid", "setresuid", "setuid"} {
		if !calls[name] {
			t.Errorf("the daemon did not call %s: this is not all that it does", name)
		}
	}
	families := strings.Fields(strings.Join(directives(t, "RestrictAddressFamilies"), " "))
	for _, m := range tracedSocket.FindAllSubmatch(traced, -1) {
		if !slices.Contains(families, string(m[1])) {
			t.Errorf("the daemon makes a socket of %s, which the unit does not allow", m[1])
		}
	}
	mayWrite := func(at, name string) bool {
		path := name
		if !filepath.IsAbs(path) {
			path = filepath.Join(at, path)
		}
		if filepath.Base(path) == "oom_score_adj" && strings.HasPrefix(path, "/proc/") { // ProtectSystem leaves /proc alone
			return true
		}
		return strings.HasPrefix(path, theirs+"/") || strings.HasPrefix(path, logs+"/") || path == logs || strings.HasPrefix(path, run+"/") || path == "/dev/null"
	}
	wrote := 0
	files := map[string]string{} // by path of the descriptor
	for _, line := range wholeCalls(traced) {
		if m := tracedFile.FindStringSubmatch(line); m != nil {
			files["/proc/self/fd/"+m[1]] = m[2]
		}
		if m := tracedOpen.FindStringSubmatch(line); m != nil {
			name := cmp.Or(files[m[2]], m[2])
			if opened := tracedFile.FindStringSubmatch(line); opened != nil {
				name = opened[2] // also if the name is a descriptor
			}
			if flags := m[3]; strings.Contains(flags, "O_WRONLY") || strings.Contains(flags, "O_RDWR") || strings.Contains(flags, "O_CREAT") {
				if wrote++; !mayWrite(m[1], name) {
					t.Errorf("the daemon opens %s for writing, which the unit does not allow: %s", m[2], line)
				}
			}
		}
		if m := tracedChange.FindStringSubmatch(line); m != nil && !mayWrite(m[1], cmp.Or(files[m[2]], m[2])) {
			t.Errorf("the daemon changes %s, which the unit does not allow: %s", m[2], line)
		}
	}
	if wrote == 0 {
		t.Error("the daemon wrote nothing")
	}
}

// wholeCalls returns the lines of a trace, each with a complete call.
func wholeCalls(traced []byte) (calls []string) {
	started := map[string]string{} // by thread
	for line := range strings.Lines(string(traced)) {
		line = strings.TrimSuffix(line, "\n")
		if m := tracedBegin.FindStringSubmatch(line); m != nil {
			started[m[1]] = strings.TrimSuffix(line, " <unfinished ...>")
			continue
		}
		if m := tracedEnd.FindStringSubmatch(line); m != nil {
			line = started[m[1]] + strings.TrimPrefix(line, m[0])
			delete(started, m[1])
		}
		calls = append(calls, line)
	}
	for _, line := range started {
		calls = append(calls, line)
	}
	return calls
}

// The capabilities of the unit and of the DaemonSet.
const (
	capDACOverride = 1
	capSysPtrace   = 19
)

// TestDeployCapabilities: with the two capabilities, and with no fewer, gclog can attach to a
// process of another user that has its own /tmp, without being root.
func TestDeployCapabilities(t *testing.T) {
	exe := packed(t)
	target := serve(t, exe)
	for _, x := range []struct {
		capabilities []uintptr
		reached      bool
	}{
		{nil, false}, {[]uintptr{capDACOverride}, false}, {[]uintptr{capSysPtrace}, false}, {[]uintptr{capDACOverride, capSysPtrace}, true},
	} {
		ps := exec.Command(exe, "ps", "-f", "json")
		ps.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: program.Nobody, Gid: program.Nobody}, AmbientCaps: x.capabilities}
		out, err := ps.Output()
		if err != nil {
			t.Fatal(err)
		}
		var list []struct {
			PID     int    `json:"pid"`
			Runtime string `json:"runtime"`
		}
		if err := json.Unmarshal(out, &list); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		reached := false
		for _, p := range list {
			reached = reached || p.PID == target.pid() && p.Runtime != ""
		}
		if reached != x.reached {
			t.Errorf("capabilities %v: reached is %v: %s", x.capabilities, reached, out)
		}
	}
}

// TestDeployReadOnly runs the daemon as the DaemonSet does: as root with the two capabilities, in a
// root file system that contains the program, /proc and the folder of the logs, and is otherwise
// read-only.
func TestDeployReadOnly(t *testing.T) {
	exe := packed(t)
	target := serve(t, exe)
	root := t.TempDir()
	for _, dir := range []string{"usr/bin", "proc", "var/log/gclog", "etc/gclog", "run/gclog"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	logs, run := t.TempDir(), t.TempDir()
	if err := os.Chmod(run, 0o777); err != nil { // like an emptyDir
		t.Fatal(err)
	}
	program.Must(t, "cp", exe, filepath.Join(root, "usr/bin/gclog"))
	config := fmt.Appendf(nil, "version: 1\ndiscovery: {include: [{pid: %d}]}\noutputs: [{path: /var/log/gclog/%%s-%%p.json}]\n", target.pid())
	if err := os.WriteFile(filepath.Join(root, "etc/gclog/gclog.yaml"), config, 0o644); err != nil {
		t.Fatal(err)
	}
	// chroot itself needs one more capability.
	script := `mount --bind "$ROOT" "$ROOT" && mount --bind "$LOGS" "$ROOT/var/log/gclog" && mount --bind "$RUN" "$ROOT/run/gclog" && mount --bind /proc "$ROOT/proc" &&
		mount -o remount,bind,ro "$ROOT" && exec setpriv --bounding-set=-all,+sys_ptrace,+dac_override,+sys_chroot \
		chroot "$ROOT" /usr/bin/gclog daemon -c /etc/gclog/gclog.yaml`
	daemon := exec.Command("unshare", "--mount", "sh", "-c", script)
	daemon.Env = append(os.Environ(), "ROOT="+root, "LOGS="+logs, "RUN="+run)
	var said bytes.Buffer
	daemon.Stderr = &said
	if err := daemon.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if t.Failed() {
			_, _ = daemon.Process.Kill(), daemon.Wait()
			t.Logf("the daemon said: %s", &said)
		}
	}()
	program.Eventually(t, "a record of a collection", func() bool { return logged(filepath.Join(logs, "orders-*.json"), "gc") })
	health := exec.Command(exe, "health", "--socket", filepath.Join(run, "ctl.sock")) // the probe
	if out, err := health.CombinedOutput(); err != nil {
		t.Errorf("gclog health: %v: %s", err, out)
	}
	if err := daemon.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := daemon.Wait(); err != nil {
		t.Errorf("the daemon ended with %v", err)
	}
	if !logged(filepath.Join(logs, "orders-*.json"), "gc-session-end") {
		t.Error("the session has no end")
	}
	if exec.Command(exe, "health", "--socket", filepath.Join(run, "ctl.sock")).Run() == nil {
		t.Error("gclog health says that a daemon is ready which has ended")
	}
}

// TestDeploySidecar: two containers of a pod share a folder for the socket and one for the logs,
// and nothing else; their users differ, and neither has capabilities. gclog logs the program, a
// real .NET process, from its first collection on.
func TestDeploySidecar(t *testing.T) {
	runtime, err := gcload.FromRepository()
	if err != nil {
		t.Skip(err)
	}
	exe := packed(t)
	program.Needs(t, "unshare", "setpriv")
	if !program.IsRoot() || !program.PIDNamespaceWorks() {
		t.Skip("only root can make containers")
	}
	diag, logs, private, app, run := t.TempDir(), t.TempDir(), t.TempDir(), t.TempDir(), t.TempDir()
	for _, dir := range []string{diag, logs, private, app, run} {
		open(t, dir)
	}
	for _, dir := range []string{diag, logs, run} { // like an emptyDir
		if err := os.Chmod(dir, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	container := func(user, script string) *exec.Cmd {
		return exec.Command("unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "sh", "-c",
			"mount -t tmpfs -o mode=1777 none "+private+" && mount --bind "+filepath.Dir(runtime.Program("small"))+" "+app+
				" && exec setpriv --reuid="+user+" --regid="+user+" --clear-groups --bounding-set=-all "+script)
	}
	gclog := container("65532", exe+" daemon --listen "+diag+"/gclog.sock -o "+logs+"/%s-%p.json")
	gclog.Env = []string{"PATH=" + os.Getenv("PATH"), "TMPDIR=" + private, "GCLOG_CONTROL__SOCKET=" + run + "/ctl.sock"}
	var said bytes.Buffer
	gclog.Stderr = &said
	// A process group, because what unshare has started outlives it: changing the user cancels
	// --kill-child.
	gclog.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	gclog.WaitDelay = program.Deadline
	if err := gclog.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_, _ = syscall.Kill(-gclog.Process.Pid, syscall.SIGKILL), gclog.Wait()
		if t.Failed() {
			t.Logf("the daemon said: %s", &said)
		}
	}()
	program.Eventually(t, "the startup probe", func() bool { return exec.Command(exe, "health", "--socket", run+"/ctl.sock").Run() == nil })

	orders := container("1654", app+"/gcload churn --rate 150 --live 60 --threads 2 --quiet --exit-on-eof")
	orders.Env = runtime.Environment([]string{"PATH=" + os.Getenv("PATH")}, "small")
	orders.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	orders.Env = append(orders.Env, "TMPDIR="+private, "OTEL_SERVICE_NAME=orders", "DOTNET_DiagnosticPorts="+diag+"/gclog.sock,connect,nosuspend")
	p, err := gcload.StartCommand(orders)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = syscall.Kill(-orders.Process.Pid, syscall.SIGKILL) }()
	file := filepath.Join(logs, "orders-1.json")
	program.Eventually(t, "a record of a collection", func() bool { return logged(file, "gc") })
	if err := p.Exit(0); err != nil {
		t.Error(err)
	}
	program.Eventually(t, "the end of the session", func() bool { return logged(file, "gc-session-end") })
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(b) {
		if bytes.Contains(line, []byte(`"action":"gc",`)) {
			if !bytes.Contains(line, []byte(`"gc":{"number":1,`)) || !bytes.Contains(line, []byte(`"service":{"name":"orders"`)) {
				t.Errorf("the first record is not that of the first collection of orders: %s", line)
			}
			break
		}
	}
}
