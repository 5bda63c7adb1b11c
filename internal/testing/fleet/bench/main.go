//go:build linux

// Command bench measures how fast, and in how much memory, gclog convert writes a table from the logs
// of a fleet of processes, on Linux:
//
//	go run ./internal/testing/fleet/bench bin/gclog [PROCESSES [COLLECTIONS]]
//
// The rows are sorted and compressed as usual. For comparison, the same logs are converted to csv,
// which is nearly all reading.
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

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/internal/testing/fleet"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	processes, collections := 200, 5000
	if len(args) == 0 {
		return errors.New("give the path of gclog")
	}
	for i, n := range []*int{&processes, &collections} {
		if len(args) > i+1 {
			var err error
			if *n, err = strconv.Atoi(args[i+1]); err != nil || *n < 1 {
				return fmt.Errorf("%s is not a number", args[i+1])
			}
		}
	}
	dir, err := os.MkdirTemp("", "fleet")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	shapes, err := fleet.Shapes()
	if err != nil {
		return err
	}
	const interval = 10 * time.Second
	f := fleet.New(shapes, fleet.Options{Seed: 1, Processes: processes, Duration: time.Duration(collections) * interval, Interval: interval})
	rows, size, err := f.WriteLogs(dir, func(*gclog.Process) gclog.Observer { return gclog.Tee() })
	if err != nil {
		return err
	}
	fmt.Printf("%d collections of %d processes, %.0f MB of JSON, %.0f bytes each\n", rows, processes, float64(size)/1e6, float64(size)/float64(rows))
	logs, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		return err
	}
	out := filepath.Join(dir, "fleet.parquet")
	for _, to := range []string{out, os.DevNull} {
		flags := []string{"convert", "-o", to}
		if to == os.DevNull {
			flags = append(flags, "--format", "csv")
		}
		if err := measure(exec.Command(args[0], append(flags, logs...)...), to, rows); err != nil {
			return err
		}
	}
	info, err := os.Stat(out)
	if err != nil {
		return err
	}
	fmt.Printf("%s: %.0f MB, %.0f bytes per collection\n", filepath.Base(out), float64(info.Size())/1e6, float64(info.Size())/float64(rows))
	return nil
}

// measure runs a command and prints what it took.
func measure(cmd *exec.Cmd, to string, rows int64) error {
	began := time.Now()
	if text, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, text)
	}
	took := time.Since(began)
	usage := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	cpu := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	fmt.Printf("to %-14s %.2f s, %.2f s of CPU, %.0f rows/s, %d MB of memory\n", filepath.Base(to), took.Seconds(), cpu.Seconds(), float64(rows)/took.Seconds(), usage.Maxrss/1000)
	return nil
}
