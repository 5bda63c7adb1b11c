package record

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/gclog/gclog/internal/attach"
	"github.com/gclog/gclog/internal/cause"
	"github.com/gclog/gclog/internal/cli/exit"
	"github.com/gclog/gclog/internal/cli/flags"
	"github.com/gclog/gclog/internal/cli/outfile"
	"github.com/gclog/gclog/internal/cli/subject"
	"github.com/gclog/gclog/internal/host"
	"github.com/gclog/gclog/internal/output"
	"github.com/gclog/gclog/session"
	"github.com/urfave/cli/v2"
)

func (p *commands) runCommand() *cli.Command {
	return &cli.Command{
		Name:      "run",
		Usage:     "run a program and log it and all it starts, from the first GC on",
		ArgsUsage: "-- COMMAND [ARGUMENTS]",
		Description: `The program keeps its standard input, output and error; gclog passes signals on to it
and ends with its exit code. The first .NET process is logged to the given file,
each further one to a file of its own with the pid in the name.

Examples:
   gclog run -- dotnet app.dll                    into gc-PID.log
   gclog run -o gc.log -- ./app --its-own-flag
   gclog run -o gc.json --level full -- dotnet test
   gclog run -Xlog:gc*,safepoint:file=gc.log -- dotnet app.dll`,
		Flags: flags.Join(outputFlags(), rotationFlags(defaultFileCount), sessionFlags(), onFlags(), []cli.Flag{
			&cli.BoolFlag{
				Name:     "suspend",
				Category: flags.RecordingGroup,
				Usage: "suspend each .NET process at startup until its session is open: no event is missed, but " +
					"the process waits forever if gclog is killed meanwhile",
			},
			&cli.StringFlag{
				Name:     "record",
				Category: flags.RecordingGroup,
				Usage:    "also write the raw stream to `FILE` (.nettrace)",
			},
			&cli.Int64Flag{
				Name:        "count",
				Category:    flags.EndingGroup,
				Usage:       "stop logging a process after `N` collections",
				DefaultText: "unlimited",
			},
			flags.Length(flags.EndingGroup, "stop logging after `TIME`; the program keeps running", "", ""),
		}),
		Action: p.run,
	}
}

// Exit codes of run when the command was not run, like those of shells and env.
const (
	exitCannotRun = 126
	exitNotFound  = 127
)

const portsVariable = "DOTNET_DiagnosticPorts"

// A Tree is a program that gclog runs, and everything that it starts.
type Tree struct {
	logger *Logger
	port   *session.Port
	path   string // of the port's socket
	Child  *exec.Cmd

	suspend bool
	Exited  chan struct{} // closed when the child has exited
	State   *os.ProcessState

	mu     sync.Mutex
	named  bool         // a process already has the log without a pid in its name
	Known  map[int]bool // processes that have a session, or need none
	missed []int        // processes that exited before they had a session
	Failed error
	group  sync.WaitGroup
}

// NewTree returns a tree without a child, which w will log.
func NewTree(w *Logger) *Tree {
	return &Tree{logger: w, Exited: make(chan struct{}), Known: map[int]bool{}}
}

func (p *commands) run(c *cli.Context) error {
	if !c.Args().Present() {
		return exit.Usagef("run needs a command: gclog run -- dotnet app.dll")
	}
	w, err := p.logOptions(c, "gc-%p.log")
	if err != nil {
		return err
	}
	for _, o := range w.Outputs {
		if o.Path == output.Stdout {
			return exit.Usagef("standard output belongs to the command: write the log to a file with -o or " +
				"-Xlog:gc*:file=gc.log, or with -Xlog:gc*:stderr to standard error")
		}
	}
	return p.runTree(c, w)
}

// runTree runs the command in the arguments.
func (p *commands) runTree(c *cli.Context, w *Logger) error {
	switch {
	case subject.ByFlag(c):
		return exit.Usagef("choose a process, or a command to run, not both")
	case c.Bool("follow"):
		return exit.Usagef("--follow cannot be used with a command: all processes that it starts are logged")
	}
	command := c.Args().Slice()
	t := NewTree(w)
	t.suspend = c.Bool("suspend")
	unlisten, err := t.Listen()
	if err != nil {
		return err
	}
	defer unlisten()

	defer w.do.close()
	w.End() // the duration starts here
	// Before the command runs: a signal that arrives early is for the command too.
	caught := make(chan os.Signal, 16)
	signal.Notify(caught, passedOn...)
	defer signal.Stop(caught)
	t.Child = exec.Command(command[0], command[1:]...)
	t.Child.Stdin, t.Child.Stdout, t.Child.Stderr = p.In, p.Unfiltered, p.UI.W
	if err := t.Start(os.Environ()); err != nil {
		return err
	}
	// From here on the exit code is the command's.
	p.Code = t.WatchUntilExit(c.Context, caught)
	t.sayMissed()
	switch {
	case t.Failed != nil:
		p.UI.Error(t.Failed)
	case len(t.Known) == 0 && p.UI.Terminal: // otherwise standard error belongs to the command
		p.UI.Sayf("%s did not start a process with a .NET runtime: there is no log", command[0])
	}
	return nil
}

// sayMissed prints which processes have no log, although they had a runtime. That is worth a line also
// where standard error belongs to the command.
func (t *Tree) sayMissed() {
	if len(t.missed) == 0 {
		return
	}
	slices.Sort(t.missed)
	who := fmt.Sprintf("process %d", t.missed[0])
	if n := len(t.missed); n > 1 {
		who += fmt.Sprintf(" and %d more", n-1)
	}
	t.logger.Run.UI.Sayf("%s exited before gclog could open a session: its collections, if any, are in no log "+
		"(--suspend makes each process wait for its session)", who)
}

// Listen opens the port that the runtimes of the tree connect to. The function that it returns
// removes it.
func (t *Tree) Listen() (unlisten func(), err error) {
	dir, err := portDir()
	if err != nil {
		return nil, exit.Usagef("the diagnostic port cannot be created, set TMPDIR: %w", err)
	}
	t.path = filepath.Join(dir, "port")
	if t.port, err = session.Listen(t.path, session.PortConnections); err != nil {
		_ = os.RemoveAll(dir)
		return nil, exit.With(exit.Session, err)
	}
	return func() {
		t.port.Close()
		_ = os.RemoveAll(dir)
	}, nil
}

// portDir creates a folder for the port. Its path is short enough for a socket. Processes of other
// users can access files in it, but not list them.
func portDir() (string, error) {
	base := os.TempDir()
	if len(base) > 60 {
		base = "/tmp"
	}
	dir, err := os.MkdirTemp(base, "gclog-")
	if err != nil {
		return "", err
	}
	return dir, os.Chmod(dir, 0o711)
}

// ports returns the variable for the child: its own ports, followed by ours.
func (t *Tree) ports() string {
	ours := session.Environment(t.path, t.suspend)
	if theirs := os.Getenv(portsVariable); theirs != "" {
		return theirs + ";" + ours
	}
	return ours
}

// Start starts the child with these variables, and that of the ports.
func (t *Tree) Start(env []string) error {
	t.Child.Env = append(env, portsVariable+"="+t.ports())
	if err := t.Child.Start(); err != nil {
		return notStarted(t.Child.Args[0], err)
	}
	return nil
}

func notStarted(name string, err error) error {
	if errors.Is(err, exec.ErrNotFound) {
		return exit.With(exitNotFound, fmt.Errorf("%s: command not found", name))
	}
	code := exitCannotRun
	if errors.Is(err, os.ErrNotExist) {
		code = exitNotFound
	}
	return exit.With(code, fmt.Errorf("cannot run %s: %w", name, cause.Of(err)))
}

// WatchUntilExit logs the processes of the tree until the child has exited, and returns its exit
// code.
func (t *Tree) WatchUntilExit(ctx context.Context, caught <-chan os.Signal) int {
	logging, stopLogging := context.WithCancel(ctx)
	defer stopLogging()
	accepting, stopAccepting := context.WithCancel(ctx)
	defer stopAccepting()
	t.group.Go(func() { t.accept(accepting, logging) })
	t.group.Go(func() { t.lookForOld(accepting, logging) })
	go func() {
		_ = t.Child.Wait()
		t.State = t.Child.ProcessState
		close(t.Exited)
	}()
	for {
		select {
		case s := <-caught:
			t.passOn(s)
			continue
		case <-t.Exited:
		}
		break
	}
	if t.suspend {
		t.waitForFamily(caught)
	}
	// Processes that the child has left behind continue without a log; the sessions of those that
	// have exited are drained.
	stopAccepting()
	time.AfterFunc(exitGrace, stopLogging)
	t.group.Wait()
	return exitStatus(t.State)
}

// waitForFamily waits until all processes that the child has left behind have exited, or a signal
// arrives: processes that they start wait for this port, and would do so forever.
func (t *Tree) waitForFamily(caught <-chan os.Signal) {
	family := t.logger.Run.Host.NewFamily(portsVariable, t.path)
	announced := false
	for n := family.Count(); n > 0; n = family.Count() {
		if !announced {
			announced = true
			t.logger.Run.UI.Sayf("the command has ended, but processes that it started are still running (%d) and "+
				"may start others that wait for gclog; a signal ends gclog all the same", n)
		}
		select {
		case <-time.After(lookEvery):
		case s := <-caught:
			if s == os.Interrupt || s == syscall.SIGTERM || s == syscall.SIGHUP || s == syscall.SIGQUIT {
				return
			}
		}
	}
}

// exitGrace is how long the last events of a process may take after its exit.
const exitGrace = 500 * time.Millisecond

func exitStatus(s *os.ProcessState) int {
	if status, ok := s.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return 128 + int(status.Signal())
	}
	return s.ExitCode()
}

// accept starts a log for every runtime that connects to the port.
func (t *Tree) accept(accepting, logging context.Context) {
	for {
		peer, err := t.port.Next(accepting)
		if err != nil {
			return
		}
		target := t.logger.Run.Host.TargetOf(peer)
		t.mark(target.PID)
		t.group.Go(func() {
			defer t.port.Forget(peer)
			t.log(logging, target, true)
			waitForEnd(accepting, target)
		})
	}
}

// waitForEnd waits until a process has exited. Until then it connects to the port repeatedly, and
// must not be mistaken for a new one.
func waitForEnd(ctx context.Context, target *host.Target) {
	for target.Alive() {
		select {
		case <-time.After(lookEvery):
		case <-ctx.Done():
			return
		}
	}
}

// lookEveryOld is the interval at which processes without ports are searched for.
const lookEveryOld = 200 * time.Millisecond

// lookForOld starts a log for the processes of the tree whose runtime does not support ports: .NET
// Core 3.1. It is recognized because it does not support ProcessInfo either.
func (t *Tree) lookForOld(accepting, logging context.Context) {
	family := t.logger.Run.Host.NewFamily(portsVariable, t.path)
	for {
		for _, target := range family.Members() {
			if t.isKnown(target.PID) {
				continue
			}
			_, err := target.ProcessInfo(accepting)
			switch {
			case session.IsUnknownCommand(err):
				if t.mark(target.PID) {
					t.group.Go(func() { t.log(logging, target, false) })
				}
			case err == nil:
				t.mark(target.PID) // it will connect to the port
			}
		}
		select {
		case <-time.After(lookEveryOld):
		case <-accepting.Done():
			return
		}
	}
}

// mark records that a process needs no further attention, and reports whether that is new.
func (t *Tree) mark(pid int) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	was := t.Known[pid]
	t.Known[pid] = true
	return !was
}

func (t *Tree) isKnown(pid int) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.Known[pid]
}

// log writes the log of one process. A process that our port suspends is resumed in any case.
func (t *Tree) log(ctx context.Context, target *host.Target, byPort bool) {
	w := *t.logger // each process has its own counters
	w.Progress = &attach.Progress{}
	early, resume := byPort, byPort && t.suspend
	others := t.otherPorts(target)
	if resume && (w.Over() || len(others) > 0) {
		_ = target.Resume(context.WithoutCancel(ctx))
		resume = false
	}
	if w.Over() {
		return
	}
	if byPort && len(others) > 0 {
		early = false
		if target.AwaitStartup(ctx, func(error) {
			t.logger.Run.UI.Sayf("process %d is waiting for %s to resume it; gclog starts after that",
				target.PID, strings.Join(others, " and "))
		}) != nil { // it has exited, or the command has
			t.miss(target)
			return
		}
	}
	t.mu.Lock()
	if t.named {
		w.furtherProcess(target.PID)
	}
	t.named = true
	t.mu.Unlock()
	result, err := w.oneOfTree(ctx, target, early, resume, t.exitOf(target.PID))
	switch {
	case err == nil:
		err = result.Err
	case ctx.Err() != nil || t.ended(target, err):
		if err = nil; result == nil {
			t.miss(target)
		}
	}
	if err != nil {
		t.mu.Lock()
		t.Failed = errors.Join(t.Failed, err)
		t.mu.Unlock()
	}
}

// miss records that a process exited before it had a session. One that has outlived the command is not
// logged either, but that is documented.
func (t *Tree) miss(target *host.Target) {
	if target.Alive() {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.missed = append(t.missed, target.PID)
}

// otherPorts returns the diagnostic ports, other than ours, that suspend a process at its start: no
// session may begin before they have resumed it, or a tool after them would make it crash.
func (t *Tree) otherPorts(target *host.Target) []string {
	env := target.Environ
	if env == nil { // most likely it has inherited the child's
		env = map[string]string{}
		for _, e := range t.Child.Env {
			name, value, _ := strings.Cut(e, "=")
			env[name] = value
		}
	}
	return slices.DeleteFunc(session.SuspendingPorts(env), func(port string) bool { return port == t.path })
}

// furtherProcess gives a process that is not the first its own files. A device is for one process
// only, unless its format supports several; a recording always is.
func (w *Logger) furtherProcess(pid int) {
	var outputs []output.Spec
	for _, o := range w.Outputs {
		if outfile.IsDevice(o.Path) && !o.Format.ManyProcesses() {
			w.Run.UI.Sayf("%s can contain only one process in this format: process %d is not logged there", o.Path, pid)
			continue
		}
		o.Path = withPID(o.Path, pid)
		outputs = append(outputs, o)
	}
	w.Outputs = outputs
	if outfile.IsDevice(w.record) {
		w.Run.UI.Sayf("%s can contain only one recording: process %d is not recorded", w.record, pid)
		w.record = ""
	} else if w.record != "" {
		w.record = withPID(w.record, pid)
	}
}

// ended reports whether a session failed only because its process has exited.
func (t *Tree) ended(target *host.Target, err error) bool {
	var path *output.PathError
	return !target.Alive() && !errors.As(err, &path) && !errors.Is(err, session.ErrNoAnswer)
}

// exitOf returns a function that returns how a process ended, if the process is the child.
func (t *Tree) exitOf(pid int) func() (int, int, bool) {
	if pid != t.Child.Process.Pid {
		return nil
	}
	return func() (code, signal int, known bool) {
		<-t.Exited
		if status, ok := t.State.Sys().(syscall.WaitStatus); ok && status.Signaled() {
			signal = int(status.Signal())
		}
		return t.State.ExitCode(), signal, true
	}
}

// passOn passes a signal to the child. Signals from the terminal's keys are sent to the child by
// the terminal itself.
func (t *Tree) passOn(s os.Signal) {
	if (s == os.Interrupt || s == syscall.SIGQUIT) && inForeground() {
		return
	}
	_ = t.Child.Process.Signal(s)
}
