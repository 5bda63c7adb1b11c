package command

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/gclog/gclog/internal/rotate"
	"go.uber.org/goleak"
	"golang.org/x/sys/unix"
)

// runAsGclog is what this program does when a test runs it as gclog: what the first argument says.
func runAsGclog(args []string) {
	switch args[0] {
	case "environ":
		for _, e := range os.Environ() {
			fmt.Println(e)
		}
	case "speak":
		fmt.Fprint(os.Stderr, "gclog: one\n\ngclog: two\x1b[2J\nthree")
		fmt.Print("result")
	case "fail":
		fmt.Fprint(os.Stderr, "gclog: it begins\ngclog: it fails\n")
		os.Exit(1)
	case "flood":
		for range 1000 {
			fmt.Fprintln(os.Stderr, strings.Repeat("x", 100_000))
			fmt.Println(strings.Repeat("x", 100_000))
		}
	case "run":
		c := Command{Args: args[1:], Say: func(s string) { fmt.Println(s) }}
		fmt.Println(c.Run(context.Background()))
	case "privileged":
		privilegedRun(args[1], args[2])
	case "parent":
		runAsParent(args[1])
	case "child", "child that sets the signal itself":
		if args[0] != "child" {
			_ = unix.Prctl(unix.PR_SET_PDEATHSIG, 0, 0, 0, 0) // as if the file of this program had capabilities
			EndWithParent(os.Getppid())
		}
		fmt.Fprintf(os.Stderr, "%d\nready\n", os.Getpid())
		time.Sleep(time.Minute) // ended by a signal
	case "exhaust": // what Go allocates is more than it may map
		var used syscall.Rlimit
		_ = syscall.Getrlimit(syscall.RLIMIT_AS, &used)
		used.Cur = 1 << 20
		_ = syscall.Setrlimit(syscall.RLIMIT_AS, &used)
		fmt.Println(len(make([]byte, 1<<30)))
	case "killed":
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	case "headless":
		headless()
	case "debugged": // by its parent, until that does something about it
		runtime.LockOSThread()
		_, _, errno := unix.RawSyscall(unix.SYS_PTRACE, unix.PTRACE_TRACEME, 0, 0)
		fmt.Println(errno, syscall.Exec("/bin/sh", []string{"sh", "-c", "echo goes on; exit 3"}, os.Environ()))
	case "wait":
		fmt.Fprintln(os.Stderr, "ready\nset")
		time.Sleep(time.Minute) // ended by a signal
	}
	os.Exit(0)
}

// headless ends the first thread of this process, which goes on with others.
func headless() {
	for {
		go func() {
			runtime.LockOSThread()
			if unix.Gettid() == os.Getpid() {
				_, _, _ = unix.Syscall(unix.SYS_EXIT, 0, 0, 0)
			}
			select {} // so that the next one has another thread
		}()
		time.Sleep(time.Millisecond)
		if stat, _ := os.ReadFile("/proc/self/stat"); bytes.Contains(stat, []byte(") Z ")) {
			fmt.Printf("%d\nend\n", os.Getpid())
			time.Sleep(time.Minute)
			return
		}
	}
}

func TestMain(m *testing.M) {
	if code, isSupervisor := Supervise(os.Args); isSupervisor {
		os.Exit(code)
	}
	if os.Args[0] == "gclog" {
		runAsGclog(os.Args[1:])
	}
	goleak.VerifyTestMain(m)
}

// TestSelf: what runs is this program, with its own environment; its messages are passed on
// without what a terminal acts on, and its last one is the error instead if it fails.
func TestSelf(t *testing.T) {
	t.Setenv("GOMEMLIMIT", "1MiB")
	t.Setenv("GCLOG_SESSION__LEVEL", "full")
	t.Setenv("TMPDIR", t.TempDir())
	run := func(ctx context.Context, what string) (string, []string, error) {
		var said []string
		out, err := Self(ctx, []string{what}, []string{"GCLOG_CONTROL__SOCKET=/run/x"}, func(s string) { said = append(said, s) })
		return string(out), said, err
	}
	out, _, err := run(t.Context(), "environ")
	if err != nil || !strings.Contains(out, "GCLOG_CONTROL__SOCKET=/run/x\n") || !strings.Contains(out, "TMPDIR="+os.Getenv("TMPDIR")+"\n") || strings.Contains(out, "GOMEMLIMIT") || strings.Contains(out, "GCLOG_SESSION") {
		t.Errorf("%v: %s", err, out)
	}
	if out, said, err := run(t.Context(), "speak"); err != nil || out != "result" || !slices.Equal(said, []string{"one", "two\uFFFD[2J", "three"}) {
		t.Errorf("%q, %q, %v", out, said, err)
	}
	if _, said, err := run(t.Context(), "fail"); err == nil || err.Error() != "it fails" || !slices.Equal(said, []string{"it begins"}) {
		t.Errorf("%q, %v", said, err)
	}
	if testing.Short() { // the race detector itself needs more memory than that
		t.Log("not tested: gclog that has no more memory")
	} else if _, said, err := run(t.Context(), "exhaust"); err == nil || !strings.HasPrefix(err.Error(), "fatal error: ") || !strings.Contains(err.Error(), "memory") || len(said) > 2 {
		t.Errorf("%q, %v", said, err)
	}
	if _, _, err := run(t.Context(), "killed"); err == nil || err.Error() != "gclog killed was killed, as the kernel does when memory runs out" {
		t.Errorf("the error is %v", err)
	}
	_, said, err := run(t.Context(), "flood")
	if err == nil || !strings.Contains(err.Error(), "printed more than") || len(said) != maxLines || len([]rune(said[0])) != maxLineSize+1 {
		t.Errorf("%d lines, %v", len(said), err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	_, err = Self(ctx, []string{"wait"}, nil, func(string) { cancel() })
	if err == nil {
		t.Error("it has ended well")
	}
	if _, _, err := run(ctx, "speak"); !errors.Is(err, context.Canceled) {
		t.Errorf("%v: started although nobody waits for it", err)
	}
}

// A late context reaches its deadline when a test says so.
type late struct {
	context.Context
	done chan struct{}
}

func (c late) Done() <-chan struct{} { return c.done }

func (c late) Err() error {
	select {
	case <-c.done:
		return context.DeadlineExceeded
	default:
		return nil
	}
}

// runShell runs a script as a command of a rule, and returns the lines that it prints. One that hangs
// is out of time when its first line is passed on, which a second one causes.
func runShell(t *testing.T, c Command, script string, hangs bool) (lines []string, err error) {
	t.Helper()
	ctx := late{t.Context(), make(chan struct{})}
	end := sync.OnceFunc(func() { close(ctx.done) })
	defer end()
	c.Args = []string{"sh", "-c", script}
	c.Say = func(s string) {
		if lines = append(lines, s); hangs {
			end()
		}
	}
	err = c.Run(ctx)
	return lines, err
}

func TestRun(t *testing.T) {
	t.Setenv("GCLOG_SECRET", "x")
	for name, c := range map[string]struct {
		script string
		hangs  bool // after its first line
		lines  []string
		err    string
	}{
		"reads the record":      {script: "cat; echo; echo to stderr >&2", lines: []string{`{"a":1}`, "to stderr"}},
		"has an environment":    {script: `echo "$GCLOG_RULE"; echo "${GCLOG_SECRET-none}"; test -n "$PATH"`, lines: []string{"long", "none"}},
		"does not read":         {script: "exec <&-; echo done", lines: []string{"done"}},
		"fails":                 {script: "echo no; exit 3", lines: []string{"no"}, err: "exit status 3"},
		"hangs":                 {script: "echo before; echo after; sleep 60", hangs: true, lines: []string{"before", "after"}, err: "did not end in time, and was killed"},
		"leaves a child":        {script: "sleep 60 & echo left; exit 3", lines: []string{"left"}, err: "exit status 3; it has left something running, which was killed: sleep (pid "},
		"leaves a session":      {script: "setsid -f sleep 60 >/dev/null 2>&1; echo left", lines: []string{"left"}, err: "it has left something running, which was killed: sleep (pid "},
		"ends, and hangs":       {script: `setsid -f sh -c 'while test -e /proc/$0; do sleep 0.01; done; echo before; echo after; exec sleep 60' $$`, hangs: true, lines: []string{"before", "after"}, err: "did not end in time, and was killed"},
		"stops":                 {script: "echo before; echo after; kill -STOP $$", hangs: true, lines: []string{"before", "after"}, err: "did not end in time, and was killed"},
		"prints no text":        {script: `printf '\377\376\0\a\r\n'`, lines: []string{"\uFFFD\uFFFD\uFFFD\uFFFD"}},
		"prints too much":       {script: "yes", err: "it has printed more than 1.0 MB"},
		"prints for a terminal": {script: `printf 'a\033[2Jb\n'`, lines: []string{"a\uFFFD[2Jb"}},
		"is ended by a signal":  {script: "kill -9 $$", err: "signal: killed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			lines, err := runShell(t, Command{Environ: []string{"GCLOG_RULE=long"}, Input: []byte(`{"a":1}`)}, c.script, c.hangs)
			if c.lines != nil && !slices.Equal(lines, c.lines) {
				t.Errorf("it printed %q", lines)
			}
			if c.err == "" && err != nil || c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) {
				t.Errorf("%v, want %q", err, c.err)
			}
			if len(lines) > maxLines {
				t.Errorf("%d lines", len(lines))
			}
		})
	}
	// What a command has started is killed with it, also what has left its session and its parent.
	lines, err := runShell(t, Command{}, `setsid -f sh -c 'trap "" TERM; sh -c "echo \$PPID \$\$; echo after; exec sleep 60"; true'; exec sleep 60`, true)
	if err == nil || len(lines) != 2 {
		t.Fatalf("%q, %v", lines, err)
	}
	for pid := range strings.FieldsSeq(lines[0]) {
		if isRunning(pid) {
			t.Errorf("process %s is still running", pid)
		}
	}
	if err := (&Command{Args: []string{"/no/such/program"}, Say: func(string) {}}).Run(t.Context()); err == nil || err.Error() != "no such file or directory" {
		t.Errorf("%v", err)
	}
}

// runOwn returns a command that runs a script in which gclog is this program: see runAsGclog.
func runOwn(t *testing.T) Command {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.Symlink(self, filepath.Join(dir, "gclog")); err != nil {
		t.Fatal(err)
	}
	return Command{Environ: []string{"PATH=" + dir + ":" + os.Getenv("PATH")}}
}

// TestRunHeadless: a process that a command has left is killed although its first thread has ended, so
// that it looks like one that has ended itself.
func TestRunHeadless(t *testing.T) {
	t.Parallel()
	lines, err := runShell(t, runOwn(t), "setsid -f gclog headless; exec sleep 60", true)
	if err == nil || err.Error() != "it did not end in time, and was killed" || len(lines) != 2 {
		t.Fatalf("%q, %v", lines, err)
	}
	if _, err := os.Stat("/proc/" + lines[0]); err == nil {
		t.Error("it is still there")
	}
}

// TestRunExits: a supervisor that takes long to exit after all has ended, as one on a busy host does, is
// waited for. With the race detector it takes as long as is asked for here.
func TestRunExits(t *testing.T) {
	t.Parallel()
	c := Command{Environ: []string{"GORACE=atexit_sleep_ms=4000"}}
	lines, err := runShell(t, c, "echo before; echo after; exec sleep 60", true)
	if err == nil || err.Error() != "it did not end in time, and was killed" {
		t.Errorf("%q, %v", lines, err)
	}
}

// TestRunDebugged: a command that has its parent debug it goes on, and has ended when it has.
func TestRunDebugged(t *testing.T) {
	t.Parallel()
	lines, err := runShell(t, runOwn(t), "exec gclog debugged", false)
	if err == nil || err.Error() != "exit status 3" || !slices.Equal(lines, []string{"goes on"}) {
		t.Errorf("%q, %v", lines, err)
	}
}

// TestRunMemory: the kernel ends a command, and what it has started, before gclog and its supervisor.
func TestRunMemory(t *testing.T) {
	t.Parallel()
	own, err := os.ReadFile("/proc/self/oom_score_adj")
	if err != nil {
		t.Skip(err)
	}
	own = bytes.TrimSpace(own)
	accounts := []*rotate.Account{nil}
	if os.Getuid() == 0 {
		accounts = append(accounts, &rotate.Account{UID: 65534, GID: 65534})
	}
	for _, as := range accounts {
		script := fmt.Sprintf(`cat /proc/self/oom_score_adj
for i in $(seq 3000); do test $(cat /proc/$PPID/oom_score_adj) = %s && break; sleep 0.01; done
cat /proc/$PPID/oom_score_adj`, own)
		lines, err := runShell(t, Command{As: as}, script, false)
		if want := []string{"1000", string(own)}; err != nil || !slices.Equal(lines, want) {
			t.Errorf("as %v: %q, %v, want %q", as, lines, err, want)
		}
	}
}

// isRunning reports whether a process exists and is no zombie.
func isRunning(pid string) bool {
	stat, err := os.ReadFile("/proc/" + pid + "/stat")
	return err == nil && !bytes.Contains(stat, []byte(") Z "))
}

// TestRunStopsSupervisor: a command of gclog's own user can stop what has to end it. It is given up
// after a time, and known as long as it is running.
func TestRunStopsSupervisor(t *testing.T) {
	t.Parallel()
	lines, err := runShell(t, Command{}, "kill -STOP $PPID; echo $PPID; echo after; exec sleep 60", true)
	unended, ok := errors.AsType[*UnendedError](err)
	if !ok || len(lines) != 2 || err.Error() != "it could not be ended: its supervisor (pid "+lines[0]+") does not answer" {
		t.Fatalf("%q, %v", lines, err)
	}
	select {
	case <-unended.Ended:
		t.Error("it has ended")
	default:
	}
	pid, err := strconv.Atoi(lines[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	<-unended.Ended
}

// TestRunKilledGclog: a command ends with a gclog that is killed, and so does what it has started.
func TestRunKilledGclog(t *testing.T) {
	t.Parallel()
	cmd := &exec.Cmd{Path: "/proc/self/exe", Args: []string{"gclog", "run", "sh", "-c", `setsid -f sh -c "echo $$ \$\$; echo after; exec sleep 60"; exec sleep 60`}}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err := errors.Join(err, cmd.Process.Kill()); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	pids := strings.Fields(line)
	if len(pids) != 2 {
		t.Fatalf("it has printed %q", line)
	}
	for slices.ContainsFunc(pids, isRunning) {
		time.Sleep(time.Millisecond)
	}
}

// seen is a script that prints what a command may do, and has.
const seen = `echo uid $(id -u) gid $(id -g) groups $(id -G)
grep -E '^(Cap(Inh|Prm|Eff|Amb)|NoNewPrivs):' /proc/self/status
for i in 3 4 5 6 7 8 9; do test -e /proc/$$/fd/$i && echo file $i; done
test $(cut -d' ' -f6 /proc/$$/stat) = $$ && echo its own session
echo $(env | cut -d= -f1 | grep -v '^_$' | sort)
test $(id -u) != 65534 || kill -STOP $PPID 2>/dev/null || echo cannot stop its supervisor
test $(id -u) != 65534 || renice -n 19 -p $PPID >/dev/null 2>&1 || echo cannot slow it down
`

// privilegedRun is what a test runs as gclog: it runs a command as the service does, and prints what
// comes of that.
func privilegedRun(as, refused string) {
	if err := refuse(strings.Fields(refused)); err != nil {
		fmt.Println(err)
	}
	c := Command{Environ: []string{"GCLOG_RULE=x"}}
	if as != "" {
		c.As = &rotate.Account{UID: 65534, GID: 65534}
	}
	if err := unix.Dup2(0, 9); err != nil { // which a program that gclog starts would inherit
		fmt.Println(err)
	}
	script := seen + "echo $$; setsid -f sh -c 'trap \"\" TERM; echo $$; echo end; echo after; exec sleep 60'; exec sleep 60"
	ctx := late{context.Background(), make(chan struct{})}
	var lines []string
	c.Args = []string{"sh", "-c", script}
	c.Say = func(s string) {
		if lines = append(lines, s); s == "end" {
			close(ctx.done)
		}
	}
	err := c.Run(ctx)
	for i, line := range lines {
		if _, notNumber := strconv.Atoi(line); notNumber != nil {
			fmt.Println(line)
		} else if isRunning(line) {
			fmt.Println("left running:", i)
		}
	}
	fmt.Println(err)
}

// refuse makes system calls fail for this thread, and what it starts, as the filter of a service does.
func refuse(names []string) error {
	filter := []unix.SockFilter{{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS}} // the number of the system call
	for _, name := range names {
		call := map[string]uint32{"capset": unix.SYS_CAPSET, "setgroups": unix.SYS_SETGROUPS, "setresuid": unix.SYS_SETRESUID}[name]
		filter = append(filter,
			unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jf: 1, K: call},
			unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)})
	}
	filter = append(filter, unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW})
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	runtime.LockOSThread()
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	return unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&program)), 0, 0)
}

// TestRunRights: whatever rights gclog has, a command has only those of its user; and it is ended with
// all that it has started, also by a gclog that is another user.
func TestRunRights(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can give gclog rights, and run a command as another user")
	}
	const own = 65533
	service := []uintptr{unix.CAP_SYS_PTRACE, unix.CAP_DAC_OVERRIDE}
	identities := append(slices.Clone(service), unix.CAP_SETUID, unix.CAP_SETGID)
	none := "CapInh: 0000000000000000\nCapPrm: 0000000000000000\nCapEff: 0000000000000000\nCapAmb: 0000000000000000\nNoNewPrivs: 1\nits own session\n"
	ended := "it did not end in time, and was killed\n"
	for name, c := range map[string]struct {
		uid          uint32
		capabilities []uintptr
		as           string
		refused      string
		want         []string
	}{
		"the service":           {own, service, "", "", []string{"uid 65533 gid 65533 groups 65533\n" + none + "GCLOG_RULE HOME PATH PWD\n", ended}},
		"the service and su":    {own, identities, "su", "", []string{"uid 65534 gid 65534 groups 65534\n" + none, "cannot stop its supervisor\ncannot slow it down\nend\nafter\n" + ended}},
		"the service cannot su": {own, service, "su", "", append(lines(t, "../../samples/systemd/gclog-su.conf"), "it requires root, or the capabilities SETUID and SETGID; in a systemd unit, add ")},
		"a filter":              {own, service, "", "capset", []string{"it requires the system call capset, to give up gclog's capabilities; in a systemd unit, add SystemCallFilter=capset\n"}},
		"a filter and su":       {own, identities, "su", "setgroups setresuid", []string{"it requires the system calls setgroups setresuid; in a systemd unit, add SystemCallFilter=setgroups setresuid\n"}},
		"a filter and no need":  {own, nil, "", "capset setgroups setresuid", []string{none, ended}},
		"root and su":           {0, nil, "su", "", []string{"uid 65534 gid 65534 groups 65534\n" + none, "cannot stop its supervisor\ncannot slow it down\nend\nafter\n" + ended}},
		"root":                  {0, nil, "", "", []string{"uid 0 gid 0 groups 0\n", "NoNewPrivs: 1\nits own session\n"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cmd := &exec.Cmd{Path: "/proc/self/exe", Args: []string{"gclog", "privileged", c.as, c.refused}, Env: []string{"HOME=/", "PATH=" + os.Getenv("PATH"), "GCLOG_SECRET=x"}}
			cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: c.uid, Gid: c.uid}, AmbientCaps: c.capabilities}
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			for _, want := range c.want {
				if !strings.Contains(string(out), want) {
					t.Errorf("%q is not in\n%s", want, out)
				}
			}
			if strings.Contains(string(out), "left running") || strings.Contains(string(out), "file ") {
				t.Errorf("it has too much:\n%s", out)
			}
		})
	}
}

// lines returns the settings of a systemd unit.
func lines(t *testing.T, unit string) (list []string) {
	t.Helper()
	text, err := os.ReadFile(unit)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if strings.Contains(line, "=") && !strings.HasPrefix(line, "#") {
			list = append(list, strings.TrimSpace(line))
		}
	}
	if len(list) < 3 {
		t.Fatalf("%s has %q", unit, list)
	}
	return list
}

// TestIdentity: a supervisor gets the user and all groups.
func TestIdentity(t *testing.T) {
	for _, text := range []string{"-", "65534,65534", "1,2,3,4294967295"} {
		if who, err := parseIdentity(text); err != nil || who.String() != text {
			t.Errorf("%q became %v, %v", text, who, err)
		}
	}
	for _, text := range []string{"", "0", "1,", "1,-1", "a,b"} {
		if who, err := parseIdentity(text); err == nil {
			t.Errorf("%q is %v", text, who)
		}
	}
	who, err := identify(&rotate.Account{UID: 4711, GID: 4712})
	if err != nil || who.String() != "4711,4712" || !slices.Equal(who.environ, []string{"HOME=/"}) {
		t.Errorf("%v, %q, %v", who, who.environ, err)
	}
}
