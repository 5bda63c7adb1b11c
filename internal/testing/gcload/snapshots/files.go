//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"syscall"
	"time"

	"github.com/gclog/gclog/gclog/heap"
)

// A step is what a command or a function took.
type step struct {
	Wall   time.Duration
	CPU    time.Duration
	Memory int64 // 0: not measured
}

// files measures the commands for the files of the last snapshots, and the library. It returns a row
// for each.
func (o *options) files(s size) (rows []string, err error) {
	if err := forget(); err != nil {
		return nil, err
	}
	converted := filepath.Join(o.dir, "converted.gcdump")
	for _, x := range []struct {
		name   string
		memory int64 // limit; 0: none
		args   []string
	}{
		{"stat .nettrace", statMemory, []string{"heap", "stat", o.recording()}},
		{"stat .gcdump", statMemory, []string{"heap", "stat", o.dump()}},
		{"convert", 0, []string{"heap", "convert", o.recording(), "-o", converted}},
		{"retained .nettrace", 0, []string{"heap", "retained", o.recording()}},
		{"retained .gcdump", 0, []string{"heap", "retained", o.dump()}},
	} {
		var steps []step
		for range o.rounds {
			cmd := exec.Command(o.gclog, x.args...)
			began := time.Now()
			if out, err := cmd.CombinedOutput(); err != nil {
				return nil, fmt.Errorf("%v: %w: %s", x.args, err, out)
			}
			steps = append(steps, step{time.Since(began), cpuOf(cmd), memoryOf(cmd)})
			if x.memory > 0 {
				o.limit(s, "heap "+x.name, memoryOf(cmd), x.memory)
			}
		}
		rows = append(rows, row(x.name, steps))
	}
	var objects, references int
	for _, file := range []string{o.recording(), o.dump()} {
		var load, dominators []step
		for range o.rounds {
			l, err := measureLibrary(file)
			if err != nil {
				return nil, err
			}
			objects, references = l.Objects, l.References
			load, dominators = append(load, l.Load), append(dominators, l.Dominators)
		}
		rows = append(rows, row("load "+filepath.Ext(file), load), row("dominators "+filepath.Ext(file), dominators))
	}
	for i := range rows {
		rows[i] = fmt.Sprintf("%10d %10d %s", objects, references, rows[i])
	}
	return rows, nil
}

// row returns the medians of steps as text.
func row(name string, steps []step) string {
	memory := ""
	if mb := median(steps, func(s step) float64 { return float64(s.Memory) }) / (1 << 20); mb > 0 {
		memory = fmt.Sprintf("%.0f MB", mb)
	}
	return fmt.Sprintf("%20s %8.3f %8.3f %8s", name, median(steps, func(s step) float64 { return s.Wall.Seconds() }),
		median(steps, func(s step) float64 { return s.CPU.Seconds() }), memory)
}

// forget makes the peak of this process's memory what it needs now. The peak of a process begins with
// that of the one that starts it, and this one has kept what the load program said.
func forget() error {
	debug.FreeOSMemory()
	return os.WriteFile("/proc/self/clear_refs", []byte("5"), 0)
}

func cpuOf(cmd *exec.Cmd) time.Duration {
	return cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
}

// libraryArg makes this program measure the library, in a process of its own.
const libraryArg = "library"

// measured is what such a process prints.
type measured struct {
	Objects, References int
	Load, Dominators    step // the latter with what each type retains
}

func measureLibrary(file string) (l measured, err error) {
	cmd := exec.Command(os.Args[0], libraryArg, file)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return l, err
	}
	err = json.Unmarshal(out, &l)
	l.Dominators.Memory = memoryOf(cmd)
	return l, err
}

func library(file string) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	read := heap.Read
	if filepath.Ext(file) == ".gcdump" {
		read = func(r io.Reader) (*heap.Graph, error) {
			g, _, err := heap.ReadDump(r)
			return g, err
		}
	}
	var l measured
	var g *heap.Graph
	l.Load = timed(func() { g, err = read(f) })
	if err != nil {
		return err
	}
	l.Dominators = timed(func() { g.Dominators().RetainedByType() })
	l.Objects, l.References = g.Len(), g.NumReferences()
	out, err := json.Marshal(&l)
	if err == nil {
		_, err = os.Stdout.Write(out)
	}
	return err
}

func timed(f func()) step {
	var before, after syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &before)
	began := time.Now()
	f()
	s := step{Wall: time.Since(began)}
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &after)
	s.CPU = time.Duration(after.Utime.Nano() + after.Stime.Nano() - before.Utime.Nano() - before.Stime.Nano())
	return s
}
