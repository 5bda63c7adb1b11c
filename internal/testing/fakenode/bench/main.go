//go:build linux

package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
	"time"

	"github.com/gclog/gclog/internal/testing/fakenode"
	"github.com/gclog/gclog/internal/testing/fakenode/check"
	"golang.org/x/sys/unix"
)

// A load is a node that the daemon watches.
type load struct {
	name      string
	processes int
	rate      float64       // collections per second of each process
	alone     bool          // each collection is followed by silence
	sweep     time.Duration // how often the daemon looks for processes; 0: its default
	slack     time.Duration // timer slack of the daemon; 0: the system's default
}

var loads = []load{
	{name: "no process"},
	{name: "no process, not looked for", sweep: unseen},
	{name: "20 idle ones, not looked for", processes: 20, sweep: unseen},
	{name: "30 processes, 1 GC/s each", processes: 30, rate: 1},
	{name: "the same as the unit runs it", processes: 30, rate: 1, slack: unitSlack},
	{name: "25 that are silent after each", processes: 25, rate: 0.4, alone: true},
	{name: "500 processes, 10 GC/s each", processes: 500, rate: 10},
}

const (
	warmUp = 5 * time.Second // excludes what the daemon does only once
	// idleWarmUp: metadata announces events. If a process has sent nothing else, the daemon waits
	// for it for 20 to 30 s, as for one that was interrupted.
	idleWarmUp = 45 * time.Second
	attached   = 2 * time.Minute  // time limit for attaching to all processes
	stopTime   = 30 * time.Second // time limit for stopping
	// unitSlack is TimerSlackNSec in samples/systemd/gclog.service.
	unitSlack = time.Millisecond
	sweep     = 3 * time.Second // the default
	// unseen: the daemon looks for processes when it starts, and not again.
	unseen = 10 * time.Minute
)

func main() {
	fakenode.Main()
	duration := 20 * time.Second
	if len(os.Args) == 3 {
		seconds, err := strconv.Atoi(os.Args[2])
		if err != nil {
			fail(err)
		}
		duration = time.Duration(seconds) * time.Second
	} else if len(os.Args) != 2 {
		fail(errors.New("usage: bench GCLOG [SECONDS]"))
	}
	fmt.Printf("%-30s %9s %9s %9s %9s %9s %9s %9s\n", "", "CPU", "memory", "wake-ups", "records", "p50", "p99", "CPU of")
	fmt.Printf("%-30s %9s %9s %9s %9s %9s %9s %9s\n", "", "% a core", "peak MB", "per s", "per s", "ms", "ms", "the fakes")
	for _, l := range loads {
		if err := l.run(os.Args[1], duration); err != nil {
			fail(fmt.Errorf("%s: %w", l.name, err))
		}
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "bench:", err)
	os.Exit(1)
}

// run starts the node and the daemon, measures for duration, and checks what was written.
func (l *load) run(gclog string, duration time.Duration) (err error) {
	dir, err := os.MkdirTemp("", "bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	n := fakenode.New(dir, 1)
	defer n.Close()
	for i := range l.processes {
		cfg := fakenode.Config{Name: fmt.Sprintf("bench-%03d", i), Rate: l.rate, Background: 0.05}
		if l.alone {
			cfg.Exact, cfg.Background = true, 0
		}
		if _, err := n.Start(cfg); err != nil {
			return err
		}
	}
	logs := filepath.Join(dir, "logs")
	d, err := l.startDaemon(n, gclog, dir, logs)
	if err != nil {
		return err
	}
	defer d.kill()
	if err := waitAttached(n, d); err != nil {
		return err
	}
	if l.rate == 0 {
		time.Sleep(idleWarmUp)
	} else {
		time.Sleep(warmUp)
	}
	before, err := measure(d.pid())
	if err != nil {
		return err
	}
	mine := ownCPU()
	w := watchFiles(n, logs)
	time.Sleep(duration)
	after, err := measure(d.pid())
	if err != nil {
		return err
	}
	mine = ownCPU() - mine
	late := w.stop()
	seconds := after.at.Sub(before.at).Seconds()
	fmt.Printf("%-30s %9.2f %9.1f %9.1f %9.1f %9s %9s %9.2f\n", l.name,
		100*(after.cpu-before.cpu).Seconds()/seconds, float64(after.peak)/1e6, float64(after.wakeUps-before.wakeUps)/seconds,
		w.rate(n, seconds), millis(late, 0.5), millis(late, 0.99), 100*mine.Seconds()/seconds)
	if err := d.stop(); err != nil {
		return err
	}
	if l.processes == 0 {
		return nil
	}
	return check.Node(n, logs, check.Options{})
}

// waitAttached waits until every runtime has a session.
func waitAttached(n *fakenode.Node, d *daemon) error {
	for deadline := time.Now().Add(attached); ; time.Sleep(50 * time.Millisecond) {
		without := 0
		for _, r := range n.Runtimes() {
			if len(r.Ledger().Sessions) == 0 {
				without++
			}
		}
		switch {
		case without == 0:
			return nil
		case d.gone():
			return errors.New("the daemon has ended")
		case time.Now().After(deadline):
			return fmt.Errorf("%d processes have no session", without)
		}
	}
}

// A daemon is a running gclog daemon.
type daemon struct {
	cmd  *exec.Cmd
	done chan error
}

func (l *load) startDaemon(n *fakenode.Node, gclog, dir, logs string) (*daemon, error) {
	config := filepath.Join(dir, "gclog.yaml")
	err := os.WriteFile(config, fmt.Appendf(nil, `version: 1
discovery:
  interval: %v
  include: [{command_line: %q}]
outputs:
  - path: %s/%%n-%%p.json
    filesize: 1G
http: {listen: ""}
log: {level: warn}
`, cmp.Or(l.sweep, sweep), n.Pattern(), logs), 0o600)
	if err != nil {
		return nil, err
	}
	if err := os.Mkdir(logs, 0o700); err != nil {
		return nil, err
	}
	d := &daemon{cmd: exec.Command(gclog, "daemon", "-c", config), done: make(chan error, 1)}
	d.cmd.Stdout, d.cmd.Stderr = os.Stderr, os.Stderr
	if err := startWithSlack(d.cmd, l.slack); err != nil {
		return nil, err
	}
	go func() { d.done <- d.cmd.Wait() }()
	return d, nil
}

// startWithSlack starts a process with a timer slack, which it inherits from the thread that starts
// it.
func startWithSlack(cmd *exec.Cmd, slack time.Duration) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := unix.Prctl(unix.PR_SET_TIMERSLACK, uintptr(slack), 0, 0, 0); err != nil { // 0: the default
		return err
	}
	defer func() { _ = unix.Prctl(unix.PR_SET_TIMERSLACK, 0, 0, 0, 0) }()
	return cmd.Start()
}

func (d *daemon) pid() int { return d.cmd.Process.Pid }

func (d *daemon) gone() bool { return len(d.done) > 0 }

func (d *daemon) kill() { _ = d.cmd.Process.Kill() }

// stop ends the daemon with SIGTERM.
func (d *daemon) stop() error {
	_ = d.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case err := <-d.done:
		return err
	case <-time.After(stopTime):
		return fmt.Errorf("the daemon has not stopped within %v", stopTime)
	}
}
