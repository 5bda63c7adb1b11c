//go:build linux

package scripts

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gclog/gclog/internal/testing/evidence"
	"github.com/gclog/gclog/internal/testing/extent"
	"github.com/gclog/gclog/internal/testing/program"
	"github.com/gclog/gclog/internal/testing/recordings"
	"github.com/klauspost/compress/zstd"
	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/sys/unix"
)

// Programs are the programs that scripts start, for program.Main.
var Programs = map[string]func(){
	"fakeruntime": func() { os.Exit(fakeRuntime(os.Args[1:])) },
	"portowner":   func() { os.Exit(portOwner(os.Args[1:])) },
	"tracer":      func() { os.Exit(tracer(os.Args[1:])) },
}

// Params returns how testscript runs the scripts of a folder.
func Params(dir string) testscript.Params {
	return testscript.Params{
		Dir:                 dir,
		RequireUniqueNames:  true,
		RequireExplicitExec: true,
		ContinueOnError:     testing.Verbose(), // -v: one run reports all problems
		TestWork:            evidence.On(),     // the folder is kept if the script fails
		Setup:               setUp,
		Condition:           condition,
		Cmds:                commands,
	}
}

var commands = map[string]func(ts *testscript.TestScript, neg bool, args []string){
	"exitcode": cmdExitCode,
	"asnobody": cmdAsNobody,
	"start":    cmdStart,
	"reader":   cmdReader,
	"fake":     cmdFake,
	"finish":   cmdFinish,
	"waitfor":  cmdWaitFor,
	"until":    cmdUntil,
	"signal":   cmdSignal,
	"gone":     cmdGone,
	"gzip":     cmdGzip,
	"gunzip":   cmdGunzip,
	"zstd":     cmdZstd,
	"cut":      cmdCut,
	"damage":   cmdDamage,
	"hour":     cmdHour,
	"count":    cmdCount,
	"files":    cmdFiles,
	"capture":  cmdCapture,
	"http":     cmdHTTP,
	"numbers":  cmdNumbers,
	"table":    cmdTable,
}

func setUp(e *testscript.Env) error {
	if t, ok := e.T().(testing.TB); ok && evidence.On() {
		t.Cleanup(func() { // TestWork leaves them
			_ = os.RemoveAll(e.WorkDir)
			_ = os.Remove(filepath.Dir(e.WorkDir))
		})
		evidence.Keep(t, e.WorkDir)
	}
	traces := filepath.Join(recordings.Root(), "testdata", "traces")
	// A short path, because sockets must have one. testscript's own folder is just as short, but
	// its name begins with a dot.
	tmp := filepath.Join(e.WorkDir, "t")
	if err := os.Mkdir(tmp, 0o755); err != nil {
		return err
	}
	var word [5]byte
	_, _ = rand.Read(word[:])
	e.Setenv("TMPDIR", tmp)
	if os.Getenv("GORACE") == "" {
		e.Setenv("GORACE", "atexit_sleep_ms=0") // otherwise the race detector sleeps for a second at the end of each program
	}
	e.Setenv("GCLOG_CONTROL__SOCKET", "") // scripts run concurrently, and root has only one socket
	e.Setenv("TRACES", traces)
	e.Setenv("EXTENT", map[bool]string{true: "full", false: "usual"}[extent.Full()])
	e.Setenv("HEAPS", filepath.Join(recordings.Root(), "gclog", "heap", "testdata"))
	e.Setenv("STACKS", filepath.Join(recordings.Root(), "gclog", "stacks", "testdata"))
	if strings.HasPrefix(filepath.Base(e.WorkDir), "script-daemon") {
		e.Setenv("GCLOG_SUMMARY", "0s") // otherwise one may come at any time: they are aligned to the clock
	}
	e.Setenv("UNIQUE", hex.EncodeToString(word[:]))
	e.Setenv("MOUNTNS", program.Namespaces("--mount"))
	e.Setenv("PIDNS", program.Namespaces("--mount", "--pid", "--fork", "--kill-child", "--mount-proc"))
	e.Setenv("TIMENS", program.Namespaces("--time", "--boottime", "1000", "--fork", "--kill-child"))
	e.Setenv("NOBODY", "setpriv --reuid=65534 --regid=65534 --clear-groups")
	e.Setenv("FULL", fullDevice(filepath.Join(e.WorkDir, ".tmp", "full")))
	e.Values[runningKey{}] = map[string]*running{}
	if !program.IsRoot() {
		return nil
	}
	// User nobody must be able to run the program and read the files. They are in our own folders,
	// which are closed to other users.
	gclog, err := exec.LookPath("gclog")
	if err != nil {
		return err
	}
	for _, dir := range []string{filepath.Dir(filepath.Dir(gclog)), filepath.Dir(e.WorkDir), e.WorkDir} {
		if err := os.Chmod(dir, 0o755); err != nil {
			return err
		}
	}
	return nil
}

// fullDevice returns a device that is always full, or "" where there is none.
func fullDevice(path string) string {
	if !program.IsRoot() {
		return "/dev/full"
	}
	if unix.Mknod(path, unix.S_IFCHR|0o666, int(unix.Mkdev(1, 7))) != nil || !isFull(path) {
		return ""
	}
	return path
}

func isFull(path string) bool {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return false
	}
	defer f.Close()
	_, err = f.Write([]byte{0})
	return errors.Is(err, syscall.ENOSPC)
}

var capsWork = program.Works("setpriv", "--reuid=65534", "--clear-groups", "--inh-caps=+sys_ptrace,+sys_admin,+dac_override",
	"--ambient-caps=+sys_ptrace,+sys_admin,+dac_override", "true")

var timensWorks = program.Works("sh", "-c", program.Namespaces("--time", "--boottime", "1000", "--fork")+" true")

func condition(name string) (bool, error) {
	switch name {
	case "root":
		return program.IsRoot(), nil
	case "pid1other":
		var st unix.Stat_t
		err := unix.Stat("/proc/1", &st)
		return err == nil && int(st.Uid) != os.Geteuid(), nil
	case "datalimit": // not in a race build, whose shadow memory counts
		return exec.Command("sh", "-c", "ulimit -d 307200 && exec gclog --version").Run() == nil, nil
	case "mount":
		return program.MountWorks(), nil
	case "pidns":
		return program.PIDNamespaceWorks(), nil
	case "timens":
		return timensWorks(), nil
	case "kthread":
		b, err := os.ReadFile("/proc/2/comm")
		return err == nil && string(b) == "kthreadd\n", nil
	case "caps":
		return capsWork(), nil
	case "ptrace":
		b, err := os.ReadFile("/proc/sys/kernel/yama/ptrace_scope")
		return program.IsRoot() || err != nil || string(b) == "0\n", nil
	case "strace":
		return program.StraceWorks(), nil
	case "full":
		if !program.IsRoot() {
			return isFull("/dev/full"), nil
		}
		dir, err := os.MkdirTemp("", "gclog-")
		if err != nil {
			return false, err
		}
		defer os.RemoveAll(dir)
		return fullDevice(filepath.Join(dir, "full")) != "", nil
	}
	return false, fmt.Errorf("unknown condition %q", name)
}

// need fails the script with the usage of a command unless ok.
func need(ts *testscript.TestScript, ok bool, usage string) {
	if !ok {
		ts.Fatalf("usage: %s", usage)
	}
}

func number(ts *testscript.TestScript, s string) int {
	n, err := strconv.Atoi(s)
	ts.Check(err)
	return n
}

// endedWith returns the exit code of a command as a shell reports it.
func endedWith(ts *testscript.TestScript, err error) int {
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		ts.Fatalf("%v", err)
	}
	if exit == nil {
		return 0
	}
	if status := exit.Sys().(syscall.WaitStatus); status.Signaled() {
		return 128 + int(status.Signal())
	}
	return exit.ExitCode()
}

func cmdExitCode(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, !neg && len(args) > 1, "exitcode N PROGRAM ARGS...")
	want := number(ts, args[0])
	got := endedWith(ts, ts.Exec(args[1], args[2:]...))
	if all := ts.ReadFile("stderr"); waiting.MatchString(all) {
		_, _ = io.WriteString(ts.Stdout(), ts.ReadFile("stdout"))
		_, _ = io.WriteString(ts.Stderr(), waiting.ReplaceAllString(all, ""))
	}
	if got != want {
		ts.Fatalf("it ended with %d, want %d", got, want)
	}
}

// waiting is what gclog says on a host that is too busy to run a fake runtime for a second: no script may
// depend on it.
var waiting = regexp.MustCompile(`(?m)^gclog: waiting for process \d+ to (answer|end the session)\n`)

func cmdAsNobody(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, !neg && len(args) > 1 && program.IsRoot(), "asnobody N PROGRAM ARGS...; only as root")
	want := number(ts, args[0])
	cmd := command(ts, nil, args[1:])
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: program.Nobody, Gid: program.Nobody}}
	cmd.Stdout, cmd.Stderr = ts.Stdout(), ts.Stderr()
	if got := endedWith(ts, cmd.Run()); got != want {
		ts.Fatalf("it ended with %d, want %d", got, want)
	}
}

// command returns a command with the environment that is set up here for scripts. more contains
// further variables as KEY=VALUE.
func command(ts *testscript.TestScript, more, args []string) *exec.Cmd {
	path, err := exec.LookPath(args[0])
	ts.Check(err)
	cmd := exec.Command(path, args[1:]...)
	cmd.Args[0] = args[0]
	cmd.Dir = ts.MkAbs(".")
	cmd.Env = []string{}
	for _, name := range []string{"PATH", "HOME", "WORK", "TMPDIR", "TRACES", "HEAPS", "STACKS", "LIB", "GOCOVERDIR", "GORACE"} {
		if v := ts.Getenv(name); v != "" {
			cmd.Env = append(cmd.Env, name+"="+v)
		}
	}
	cmd.Env = append(cmd.Env, "GCLOG_CONTROL__SOCKET="+ts.Getenv("GCLOG_CONTROL__SOCKET"))
	cmd.Env = append(cmd.Env, more...)
	return cmd
}

type runningKey struct{}

// A running is a program in the background.
type running struct {
	cmd   *exec.Cmd
	ended chan struct{}
	err   error    // of Wait; valid once ended is closed
	hold  *os.File // keeps the pipe that it reads open; nil: none
}

func (r *running) wait(ts *testscript.TestScript) {
	select {
	case <-r.ended:
	case <-time.After(program.Deadline):
		ts.Fatalf("%s does not end", strings.Join(r.cmd.Args, " "))
	}
}

func cmdStart(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, !neg, "start VAR [KEY=VALUE...] PROGRAM ARGS...")
	start(ts, args, nil)
}

// cmdReader starts a program that reads a named pipe to its end. It creates the pipe if it does not
// exist. When it returns, the pipe has its reader; finish lets the reader come to the end.
func cmdReader(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, !neg && len(args) == 2, "reader VAR PIPE")
	path := ts.MkAbs(args[1])
	if err := syscall.Mkfifo(path, 0o600); !errors.Is(err, fs.ErrExist) {
		ts.Check(err)
	}
	hold, err := os.OpenFile(path, os.O_RDWR, 0)
	ts.Check(err)
	ts.Defer(func() { _ = hold.Close() })
	in, err := os.Open(path)
	ts.Check(err)
	defer in.Close()
	start(ts, []string{args[0], "cat"}, in).hold = hold
}

// cmdFake starts a fake runtime. It does not outlive this process, because its standard input is
// closed then.
func cmdFake(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, !neg, "fake VAR [KEY=VALUE...] PROGRAM ARGS...")
	in, hold, err := os.Pipe()
	ts.Check(err)
	defer in.Close()
	ts.Defer(func() { _ = hold.Close() })
	r := start(ts, args, in)
	waitUntil(ts, "it to be ready", func() bool {
		select {
		case <-r.ended:
			ts.Fatalf("%s has ended: %v: %s", args[0], r.err, ts.ReadFile(args[0]+".err"))
		default:
		}
		return strings.Contains(ts.ReadFile(args[0]+".out"), "ready\n")
	})
}

func start(ts *testscript.TestScript, args []string, in *os.File) *running {
	const usage = "start|fake VAR [KEY=VALUE...] PROGRAM ARGS..."
	need(ts, len(args) > 1, usage)
	name := args[0]
	args = args[1:]
	var more []string
	for len(args) > 0 && strings.Contains(args[0], "=") {
		more = append(more, args[0])
		args = args[1:]
	}
	need(ts, len(args) > 0, usage)
	r := &running{cmd: command(ts, more, args), ended: make(chan struct{})}
	stdout, err := os.Create(ts.MkAbs(name + ".out"))
	ts.Check(err)
	defer stdout.Close()
	stderr, err := os.Create(ts.MkAbs(name + ".err"))
	ts.Check(err)
	defer stderr.Close()
	r.cmd.Stdout, r.cmd.Stderr = stdout, stderr
	if in != nil {
		r.cmd.Stdin = in
	}
	r.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // so that its children end too
	ts.Check(r.cmd.Start())
	go func() {
		r.err = r.cmd.Wait()
		close(r.ended)
	}()
	ts.Defer(func() {
		if evidence.On() { // whether the script fails is not known yet
			_ = r.cmd.Process.Signal(syscall.SIGQUIT)
			select {
			case <-r.ended:
			case <-time.After(time.Second): // short: what has been stopped does not end
			}
		}
		_ = syscall.Kill(-r.cmd.Process.Pid, syscall.SIGKILL)
		<-r.ended
	})
	ts.Value(runningKey{}).(map[string]*running)[name] = r
	ts.Setenv(name, strconv.Itoa(r.cmd.Process.Pid))
	return r
}

func cmdFinish(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, !neg && len(args) == 2, "finish VAR N")
	r := ts.Value(runningKey{}).(map[string]*running)[args[0]]
	need(ts, r != nil, "finish VAR N, after start VAR")
	if r.hold != nil {
		_ = r.hold.Close()
	}
	r.wait(ts)
	_, _ = io.WriteString(ts.Stdout(), ts.ReadFile(args[0]+".out"))
	_, _ = io.WriteString(ts.Stderr(), waiting.ReplaceAllString(ts.ReadFile(args[0]+".err"), ""))
	if got, want := endedWith(ts, r.err), number(ts, args[1]); got != want {
		ts.Fatalf("it ended with %d, want %d", got, want)
	}
}

// waitUntil waits less often the longer it takes: what is asked for may start processes.
func waitUntil(ts *testscript.TestScript, what string, ok func() bool) {
	pause := 5 * time.Millisecond
	for end := time.Now().Add(program.Deadline); !ok(); {
		if time.Now().After(end) {
			ts.Fatalf("waited %v for %s", program.Deadline, what)
		}
		time.Sleep(pause)
		pause = min(pause*5/4, 50*time.Millisecond)
	}
}

func lines(ts *testscript.TestScript, pattern string) *regexp.Regexp {
	re, err := regexp.Compile("(?m)" + pattern)
	ts.Check(err)
	return re
}

func cmdWaitFor(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, !neg && len(args) == 2, "waitfor FILE REGEXP")
	re := lines(ts, args[1])
	var b []byte
	defer func() {
		if !re.Match(b) {
			ts.Logf("[%s]\n%s", args[0], b)
		}
	}()
	var searched fs.FileInfo // what has not changed is not searched again
	waitUntil(ts, args[1]+" in "+args[0], func() bool {
		info, err := os.Stat(ts.MkAbs(args[0]))
		if err != nil || searched != nil && os.SameFile(info, searched) && info.Size() == searched.Size() && info.ModTime().Equal(searched.ModTime()) {
			return false
		}
		searched = info // before it is read: what is written in between is searched later
		b, _ = os.ReadFile(ts.MkAbs(args[0]))
		return re.Match(b)
	})
}

func cmdUntil(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, !neg && len(args) > 0, "until PROGRAM ARGS...")
	waitUntil(ts, strings.Join(args, " "), func() bool { return command(ts, nil, args).Run() == nil })
}

func cmdSignal(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, !neg && len(args) == 2, "signal NAME $PID")
	s := unix.SignalNum("SIG" + args[0])
	need(ts, s != 0, "signal NAME $PID")
	pid := number(ts, args[1])
	ts.Check(syscall.Kill(pid, s))
	if s == unix.SIGSTOP { // its threads stop one after the other, and serve requests until then
		waitUntil(ts, "all threads of "+args[1]+" stopped", func() bool {
			threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
			for _, name := range threads {
				stat, err := os.ReadFile(name)
				if err == nil && !bytes.Contains(stat, []byte(") T ")) {
					return false
				}
			}
			return true
		})
	}
}

func cmdGone(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, !neg && len(args) == 1, "gone $PID")
	pid := number(ts, args[0])
	waitUntil(ts, "the end of process "+args[0], func() bool { return errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) })
}

func pack(ts *testscript.TestScript, args []string, open func(w io.Writer) (io.WriteCloser, error)) {
	need(ts, len(args) == 2, "gzip|zstd FROM TO")
	var b bytes.Buffer
	z, err := open(&b)
	ts.Check(err)
	_, err = z.Write([]byte(ts.ReadFile(args[0])))
	ts.Check(err)
	ts.Check(z.Close())
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), b.Bytes(), 0o644))
}

func cmdGzip(ts *testscript.TestScript, neg bool, args []string) {
	pack(ts, args, func(w io.Writer) (io.WriteCloser, error) { return gzipWriter(w), nil })
}

func cmdZstd(ts *testscript.TestScript, neg bool, args []string) {
	pack(ts, args, func(w io.Writer) (io.WriteCloser, error) { return zstd.NewWriter(w) })
}

func cmdGunzip(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, !neg && len(args) == 2, "gunzip FROM TO")
	b, err := readTrace(ts.MkAbs(args[0]))
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), b, 0o644))
}

func cmdCut(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, !neg && len(args) == 2, "cut FILE N")
	ts.Check(os.Truncate(ts.MkAbs(args[0]), int64(number(ts, args[1]))))
}

func cmdDamage(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, !neg && len(args) == 2, "damage FILE N")
	b := []byte(ts.ReadFile(args[0]))
	b[number(ts, args[1])] ^= 0xff
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), b, 0o644))
}

func cmdHour(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, !neg && len(args) == 2, "hour FILE H[:M[:S]]")
	b := []byte(ts.ReadFile(args[0]))
	// After the name of the object: year, month, day of the week, day, hour, ...
	name := []byte("Trace\x06")
	at := bytes.Index(b, name) + len(name) + 4*2
	for i, part := range strings.Split(args[1], ":") {
		binary.LittleEndian.PutUint16(b[at+2*i:], uint16(number(ts, part)))
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), b, 0o644))
}

func cmdCount(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, !neg && len(args) == 3, "count FILE N REGEXP")
	re := lines(ts, args[2])
	n := 0
	for s := bufio.NewScanner(strings.NewReader(ts.ReadFile(args[0]))); s.Scan(); {
		if re.Match(s.Bytes()) {
			n++
		}
	}
	if want := number(ts, args[1]); n != want {
		ts.Fatalf("%d lines of %s are like %s, want %d", n, args[0], args[2], want)
	}
}

func cmdFiles(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, !neg && len(args) > 0, "files DIR NAME...")
	entries, err := os.ReadDir(ts.MkAbs(args[0]))
	ts.Check(err)
	missing := map[string]bool{}
	for _, name := range args[1:] {
		missing[name] = true
	}
	for _, e := range entries {
		if !missing[e.Name()] {
			content, _ := os.ReadFile(ts.MkAbs(filepath.Join(args[0], e.Name())))
			ts.Fatalf("%s has a file %s: %s", args[0], e.Name(), content[:min(len(content), 2000)])
		}
		delete(missing, e.Name())
	}
	for name := range missing {
		ts.Fatalf("%s has no file %s", args[0], name)
	}
}

func cmdCapture(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, !neg && len(args) == 3, "capture VAR FILE REGEXP")
	cmdWaitFor(ts, false, args[1:])
	m := lines(ts, args[2]).FindStringSubmatch(ts.ReadFile(args[1]))
	need(ts, len(m) > 1, "capture VAR FILE REGEXP, which has a group")
	ts.Setenv(args[0], m[1])
}

func cmdHTTP(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, !neg && len(args) == 3, "http STATUS METHOD URL")
	ctx, cancel := context.WithTimeout(context.Background(), program.Deadline)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, args[1], args[2], http.NoBody)
	ts.Check(err)
	response, err := http.DefaultClient.Do(request)
	ts.Check(err)
	defer response.Body.Close()
	_, err = io.Copy(ts.Stdout(), response.Body)
	ts.Check(err)
	if want := number(ts, args[0]); response.StatusCode != want {
		ts.Fatalf("the answer is %s, want %d", response.Status, want)
	}
}

// collection matches the start of a collection's record, up to its number.
var collection = regexp.MustCompile(`(?m)^.*"action":"gc",.*"number":(\d+),`)

func cmdNumbers(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, !neg && len(args) > 2, "numbers FROM TO FILE...")
	from, to := number(ts, args[0]), number(ts, args[1])
	times := map[int]int{}
	for _, pattern := range args[2:] {
		files, err := filepath.Glob(ts.MkAbs(pattern))
		ts.Check(err)
		for _, file := range files {
			for _, m := range collection.FindAllStringSubmatch(ts.ReadFile(file), -1) {
				times[number(ts, m[1])]++
			}
		}
	}
	for n, count := range times {
		if n < from || n > to || count > 1 {
			ts.Fatalf("collection %d is there %d times", n, count)
		}
	}
	for n := from; n <= to; n++ {
		if times[n] == 0 {
			ts.Fatalf("collection %d is not there", n)
		}
	}
}
