// Command demo is "make demo": it starts the repository's .NET runtime under load, or another one of
// the shared folder by its name, and attaches gclog to it. Where that runtime cannot run it says so and
// shows gclog demo instead.
package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/gclog/gclog/internal/testing/gcload"
	"github.com/gclog/gclog/internal/testing/recordings"
)

func main() {
	if len(os.Args) < 2 || len(os.Args) > 3 {
		fmt.Fprintln(os.Stderr, "usage: demo PATH-OF-GCLOG [RUNTIME]")
		os.Exit(3)
	}
	if err := demo(os.Args[1], os.Args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
}

// work allocates 25 MB/s with survivors in all generations. With a gen0 budget of 4 MB that is about
// a screen of collections in demoTime.
var work = []string{
	"churn", "--rate", "25", "--live", "20", "--loh", "10", "--poh", "5", "--pins", "100", "--threads", "2", "--quiet", "--exit-on-eof",
}

const (
	demoTime   = 6 * time.Second
	settleTime = time.Second // enough for a background collection to end
)

func demo(gclog string, name []string) error {
	r, err := chosen(name)
	if err == nil {
		var p *gcload.Process
		if p, err = r.Start("", "small", nil, work...); err == nil {
			return watch(gclog, p)
		}
	}
	fmt.Printf("No real .NET process here (%v), so gclog attaches to a recorded one.\n\n", err)
	return show(exec.Command(gclog, "demo"))
}

// chosen returns the runtime with a name, or the repository's.
func chosen(name []string) (*gcload.Runtime, error) {
	if len(name) == 0 {
		return gcload.FromRepository()
	}
	r, err := gcload.SharedNamed(name[0])
	if err == nil && r == nil {
		err = fmt.Errorf("the folder of shared recordings has no runtime %s", name[0])
	}
	return r, err
}

func watch(gclog string, p *gcload.Process) error {
	dir := filepath.Join(recordings.Root(), "bin", "demo")
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	log := filepath.Join(dir, "gc.log")
	if wd, err := os.Getwd(); err == nil {
		if short, err := filepath.Rel(wd, log); err == nil {
			log = short
		}
	}
	args := []string{"attach", strconv.Itoa(p.PID), "-o", "-", "-o", log, "--format", "text", "--format", "unified"}
	fmt.Printf("Process %d is a real .NET %s under load:\n  %s %s\n\n", p.PID, p.Ready.Runtime, gclog, strings.Join(args, " "))
	cmd := exec.Command(gclog, args...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if err := cmd.Start(); err != nil {
		p.Kill()
		return err
	}
	time.Sleep(demoTime)
	// The process exits when no collection is in progress, so that the last one is complete. One that
	// exits removes its sockets, one that is killed does not.
	err := p.StandStill()
	time.Sleep(settleTime)
	if err != nil || p.Exit(0) != nil {
		p.Kill()
	}
	if err := cmd.Wait(); err != nil {
		return err
	}
	fmt.Printf(`
The log is for GCViewer and other tools that read Java's logs. Next:
  %[1]s summary %[2]s
  %[1]s report %[2]s -o report.html
  %[1]s top                            your own .NET processes
`, gclog, log)
	return nil
}

func show(cmd *exec.Cmd) error {
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	return cmd.Run()
}
