//go:build linux

package main

import (
	"cmp"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
	"time"

	"github.com/gclog/gclog/internal/testing/fakenode"
	"github.com/gclog/gclog/internal/testing/fakenode/check"
	"github.com/gclog/gclog/internal/testing/terminal"
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
	scrapes   time.Duration // how often its metrics are scraped; 0: never
	top       bool          // gclog top watches it, not the daemon
	tables    bool          // it writes Parquet files, too
	least     bool          // the same processes are read by a C program too
}

var loads = []load{
	{name: "no process"},
	{name: "no process, not looked for", sweep: unseen},
	{name: "20 idle ones, not looked for", processes: 20, sweep: unseen},
	{name: "30 processes, 1 GC/s each", processes: 30, rate: 1, least: true},
	{name: "the same as the unit runs it", processes: 30, rate: 1, slack: unitSlack},
	{name: "25 that are silent after each", processes: 25, rate: 0.4, alone: true},
	{name: "500 processes, 10 GC/s each", processes: 500, rate: 10},
	{name: "the same, scraped every 5 s", processes: 500, rate: 10, scrapes: 5 * time.Second},
	{name: "the same, with Parquet files", processes: 500, rate: 10, tables: true},
	{name: "top: 20 processes, 2 GC/s each", processes: 20, rate: 2, top: true},
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
	s := &scraper{}
	if l.scrapes > 0 {
		if s.address, err = freeAddress(); err != nil {
			return err
		}
	}
	start := l.startDaemon
	if l.top {
		start = l.startTop
	}
	d, err := start(n, gclog, dir, logs, s.address)
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
	if l.scrapes > 0 {
		s.start(l.scrapes)
	}
	mine := ownCPU()
	w := watchFiles(n, logs)
	u, err := use(d.pid(), duration)
	if err != nil {
		return err
	}
	mine = ownCPU() - mine
	late := w.stop()
	fmt.Printf("%-30s %s %9.1f %9s %9s %9.2f\n", l.name, u, w.rate(n, u.seconds), millis(late, 0.5), millis(late, 0.99), 100*mine.Seconds()/u.seconds)
	if l.scrapes > 0 {
		if err := s.end(); err != nil {
			return err
		}
	}
	if err := d.stop(); err != nil {
		return err
	}
	if l.processes == 0 || l.top {
		return nil
	}
	if err := check.Node(n, logs, check.Options{}); err != nil || !l.least {
		return err
	}
	return readInC(dir, duration)
}

//go:embed testdata/least.c
var least []byte

// readInC measures a C program that reads the same processes and wakes up every 100 ms.
func readInC(dir string, duration time.Duration) error {
	const name = "a C program that only reads"
	source, program := filepath.Join(dir, "least.c"), filepath.Join(dir, "least")
	if err := os.WriteFile(source, least, 0o600); err != nil {
		return err
	}
	sockets, err := filepath.Glob(filepath.Join(dir, "dotnet-diagnostic-*"))
	if err != nil {
		return err
	}
	compile := exec.Command("cc", "-O2", "-o", program, source)
	if out, err := compile.CombinedOutput(); err != nil {
		fmt.Printf("%-30s not measured: it cannot be compiled: %v %s\n", name, err, out)
		return nil
	}
	cmd := exec.Command(program, append([]string{"100"}, sockets...)...)
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		return err
	}
	defer func() { _, _ = cmd.Process.Kill(), cmd.Wait() }()
	time.Sleep(warmUp)
	u, err := use(cmd.Process.Pid, duration)
	if err != nil {
		return err
	}
	fmt.Printf("%-30s %s\n", name, u)
	return nil
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

// A daemon is a running gclog daemon, or gclog top.
type daemon struct {
	cmd  *exec.Cmd
	done chan error
}

func (l *load) startDaemon(n *fakenode.Node, gclog, dir, logs, metrics string) (*daemon, error) {
	config := filepath.Join(dir, "gclog.yaml")
	tables := ""
	if l.tables {
		tables = filepath.Join(dir, "fleet", "%hn.parquet")
	}
	err := os.WriteFile(config, fmt.Appendf(nil, `version: 1
discovery:
  interval: %v
  include: [{command_line: %q}]
outputs:
  - path: %s/%%n-%%p.json
    filesize: 1G
http: {listen: %q}
metrics: {enabled: %v}
parquet: {path: %q, max_rows: 40000}
log: {level: warn}
`, cmp.Or(l.sweep, sweep), n.Pattern(), logs, metrics, metrics != "", tables), 0o600)
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

// startTop starts gclog top on a terminal of its own.
func (l *load) startTop(n *fakenode.Node, gclog, _, _, _ string) (*daemon, error) {
	main, tty, err := terminal.Open(160, 50)
	if err != nil {
		return nil, err
	}
	defer tty.Close()
	args := []string{"top", "--socket", "none"}
	for _, r := range n.Runtimes() {
		args = append(args, strconv.Itoa(r.PID()))
	}
	d := &daemon{cmd: exec.Command(gclog, args...), done: make(chan error, 1)}
	d.cmd.Stdin, d.cmd.Stdout, d.cmd.Stderr = tty, tty, tty
	d.cmd.Env = append(os.Environ(), "TERM=xterm-256color")
	if err := startWithSlack(d.cmd, l.slack); err != nil {
		return nil, err
	}
	go func() {
		_, _ = io.Copy(io.Discard, main)
		_ = main.Close()
	}()
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
