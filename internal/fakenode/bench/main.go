//go:build linux

package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/gclog/gclog/internal/fakenode"
	"github.com/gclog/gclog/internal/fakenode/check"
)

// A load is a node that the daemon watches.
type load struct {
	name      string
	processes int
	rate      float64 // collections of each per second
}

var loads = []load{
	{"no process", 0, 0},
	{"1 idle process", 1, 0},
	{"30 processes, 1 GC/s each", 30, 1},
	{"500 processes, 10 GC/s each", 500, 10},
}

const (
	warmUp   = 5 * time.Second  // what the daemon does once is not what it costs
	attached = 2 * time.Minute  // it may take to attach to all
	stopTime = 30 * time.Second // it may take to stop
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
	fmt.Printf("%-28s %9s %9s %9s %9s %9s %9s %9s\n", "", "CPU", "memory", "wake-ups", "records", "p50", "p99", "CPU of")
	fmt.Printf("%-28s %9s %9s %9s %9s %9s %9s %9s\n", "", "% a core", "peak MB", "per s", "per s", "ms", "ms", "the fakes")
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

// run starts the node and the daemon, measures for a time, and checks what was written.
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
		if _, err := n.Start(cfg); err != nil {
			return err
		}
	}
	logs := filepath.Join(dir, "logs")
	d, err := startDaemon(n, gclog, dir, logs)
	if err != nil {
		return err
	}
	defer d.kill()
	if err := waitAttached(n, d); err != nil {
		return err
	}
	time.Sleep(warmUp)
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
	fmt.Printf("%-28s %9.2f %9.1f %9.1f %9.1f %9s %9s %9.2f\n", l.name,
		100*(after.cpu-before.cpu).Seconds()/seconds, float64(after.peak)/1e6, float64(after.switches-before.switches)/seconds,
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

// A daemon is gclog as a process.
type daemon struct {
	cmd  *exec.Cmd
	done chan error
}

func startDaemon(n *fakenode.Node, gclog, dir, logs string) (*daemon, error) {
	config := filepath.Join(dir, "gclog.yaml")
	err := os.WriteFile(config, fmt.Appendf(nil, `version: 1
discovery:
  include: [{command_line: %q}]
outputs:
  - path: %s/%%n-%%p.json
    filesize: 1G
http: {listen: ""}
log: {level: warn}
`, n.Pattern(), logs), 0o600)
	if err != nil {
		return nil, err
	}
	if err := os.Mkdir(logs, 0o700); err != nil {
		return nil, err
	}
	d := &daemon{cmd: exec.Command(gclog, "daemon", "-c", config), done: make(chan error, 1)}
	d.cmd.Stdout, d.cmd.Stderr = os.Stderr, os.Stderr
	if err := d.cmd.Start(); err != nil {
		return nil, err
	}
	go func() { d.done <- d.cmd.Wait() }()
	return d, nil
}

func (d *daemon) pid() int { return d.cmd.Process.Pid }

func (d *daemon) gone() bool { return len(d.done) > 0 }

func (d *daemon) kill() { _ = d.cmd.Process.Kill() }

// stop ends the daemon in good order.
func (d *daemon) stop() error {
	_ = d.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case err := <-d.done:
		return err
	case <-time.After(stopTime):
		return fmt.Errorf("the daemon has not stopped within %v", stopTime)
	}
}
