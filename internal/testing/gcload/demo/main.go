// Command demo is "make demo": it starts the repository's .NET runtime under load and attaches
// gclog to it. Where that runtime cannot run it says so and shows gclog demo instead.
package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"

	"github.com/gclog/gclog/internal/testing/gcload"
	"github.com/gclog/gclog/internal/testing/recordings"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: demo PATH-OF-GCLOG")
		os.Exit(3)
	}
	if err := demo(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
}

// work allocates 150 MB/s with survivors in all generations. The gen0 budget of 4 MB makes that
// some 30 collections per second.
var work = []string{
	"churn", "--rate", "150", "--live", "60", "--loh", "10", "--poh", "5", "--pins", "100", "--threads", "2", "--quiet", "--exit-on-eof",
}

func demo(gclog string) error {
	r, err := gcload.FromRepository()
	if err == nil {
		var p *gcload.Process
		if p, err = r.Start("", "small", nil, work...); err == nil {
			err = watch(gclog, p)
			if p.Exit(0) != nil { // a process that exits removes its sockets, one that is killed does not
				p.Kill()
			}
			return err
		}
	}
	fmt.Printf("No real .NET process here (%v), so gclog attaches to a recorded one.\n\n", err)
	return show(exec.Command(gclog, "demo"))
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
	args := []string{"attach", strconv.Itoa(p.PID), "-o", "-", "-o", log, "--format", "text", "--format", "unified", "--duration", "10s", "--filesize", "64K"}
	fmt.Printf("Process %d is a real .NET %s under load. Ten seconds of\n  %s", p.PID, p.Ready.Runtime, gclog)
	for _, a := range args {
		fmt.Print(" ", a)
	}
	fmt.Print("\n\n")
	if err := show(exec.Command(gclog, args...)); err != nil {
		return err
	}
	names, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		return err
	}
	fmt.Println("\nThe log, for GCViewer and other tools that read Java's logs; it was rotated at 64 KB:")
	for _, name := range names {
		info, err := os.Stat(name)
		if err != nil {
			return err
		}
		fmt.Printf("  %7d  %s\n", info.Size(), name)
	}
	return nil
}

func show(cmd *exec.Cmd) error {
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	return cmd.Run()
}
