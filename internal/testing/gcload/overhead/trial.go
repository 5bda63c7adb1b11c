//go:build linux

package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/gclog/gclog/internal/testing/gcload"
	"golang.org/x/sys/unix"
)

// A window is what happened in an interval: by the program's own account, except for the figures of
// gclog.
type window struct {
	seconds   float64
	allocated float64 // bytes
	cpu       float64 // seconds that the program used
	gcs       float64
	pause     float64 // seconds; 0 on .NET Core 3.1, which does not count them
	gclog     float64 // seconds of CPU that gclog used
	records   float64 // collections that gclog wrote
}

func (w window) plus(x window) window {
	return window{
		w.seconds + x.seconds, w.allocated + x.allocated, w.cpu + x.cpu, w.gcs + x.gcs, w.pause + x.pause, w.gclog + x.gclog, w.records + x.records,
	}
}

func (w window) throughput() float64 { return w.allocated / w.seconds }
func (w window) perCPU() float64     { return w.allocated / w.cpu }
func (w window) meanPause() float64  { return w.pause / w.gcs }

const (
	warmUp   = 3 * time.Second // until the heap is as large as it gets
	settle   = 300 * time.Millisecond
	patience = 30 * time.Second
)

// A trial is a program that allocates as fast as it can.
type trial struct {
	gclog   string
	dir     string
	program *gcload.Process
	marks   int
}

func startTrial(gclog string, r *gcload.Runtime, flavour string) (*trial, error) {
	dir, err := os.MkdirTemp("", "overhead")
	if err != nil {
		return nil, err
	}
	p, err := r.Start(dir, flavour, nil, work...)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	time.Sleep(warmUp)
	return &trial{gclog: gclog, dir: dir, program: p}, nil
}

func (t *trial) end() {
	t.program.Kill()
	_ = os.RemoveAll(t.dir)
}

// run measures a window with gclog at a level, or without it.
func (t *trial) run(level string, length time.Duration) (w window, err error) {
	if level == "" {
		time.Sleep(settle)
		return t.measure(length, nil)
	}
	d, err := t.attach(level)
	if err != nil {
		return w, err
	}
	defer d.kill()
	time.Sleep(settle)
	w, err = t.measure(length, d)
	return w, errors.Join(err, d.stop())
}

func (t *trial) measure(length time.Duration, d *daemon) (w window, err error) {
	began, err := t.count(d)
	if err != nil {
		return w, err
	}
	time.Sleep(length)
	ended, err := t.count(d)
	if err != nil {
		return w, err
	}
	w = ended
	w.seconds -= began.seconds
	w.allocated -= began.allocated
	w.cpu -= began.cpu
	w.gcs -= began.gcs
	w.pause -= began.pause
	w.gclog -= began.gclog
	w.records -= began.records
	// The last records may not have been written yet.
	if w.gcs > 0 && d != nil && w.records < w.gcs/2 {
		return w, fmt.Errorf("gclog wrote %.0f of %.0f collections", w.records, w.gcs)
	}
	return w, nil
}

// count returns the totals so far, since an arbitrary start.
func (t *trial) count(d *daemon) (w window, err error) {
	t.marks++
	m, err := t.program.Mark(strconv.Itoa(t.marks))
	if err != nil {
		return w, err
	}
	w.seconds = time.Duration(m.QPC).Seconds()
	w.allocated, w.gcs = float64(m.Allocated), float64(m.Gen0)
	if m.PauseTotal != nil {
		w.pause = *m.PauseTotal / 1e6
	}
	if w.cpu, err = cpu(t.program.PID); err != nil || d == nil {
		return w, err
	}
	if w.gclog, err = cpu(d.cmd.Process.Pid); err != nil {
		return w, err
	}
	log, err := os.ReadFile(d.log)
	w.records = float64(bytes.Count(log, []byte(`"action":"gc",`)))
	return w, err
}

// cpu returns the CPU time of a process so far, in seconds: the clock that clock_getcpuclockid(3)
// names.
func cpu(pid int) (float64, error) {
	const wholeProcess = 2
	var t unix.Timespec
	err := unix.ClockGettime(int32(^pid<<3|wholeProcess), &t)
	return time.Duration(t.Nano()).Seconds(), err
}

// A daemon is gclog with a session.
type daemon struct {
	cmd *exec.Cmd
	log string
}

// attach starts gclog and waits until it has a session.
func (t *trial) attach(level string) (*daemon, error) {
	d := &daemon{log: filepath.Join(t.dir, "gc.json")}
	if err := os.RemoveAll(d.log); err != nil {
		return nil, err
	}
	config := filepath.Join(t.dir, "gclog.yaml")
	err := os.WriteFile(config, fmt.Appendf(nil, `version: 1
discovery:
  include: [{pid: "%d"}]
session: {level: %s}
outputs:
  - path: %s
    filesize: 1G
http: {listen: ""}
log: {level: warn}
`, t.program.PID, level, d.log), 0o600)
	if err != nil {
		return nil, err
	}
	d.cmd = exec.Command(t.gclog, "daemon", "-c", config)
	d.cmd.Stdout, d.cmd.Stderr = os.Stderr, os.Stderr
	if err := d.cmd.Start(); err != nil {
		return nil, err
	}
	for deadline := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		if log, err := os.ReadFile(d.log); err == nil && bytes.Contains(log, []byte(`"action":"gc-session-start"`)) {
			return d, nil
		}
		if time.Now().After(deadline) {
			d.kill()
			return nil, errors.New("gclog has no session")
		}
	}
}

// stop ends gclog with SIGTERM.
func (d *daemon) stop() error {
	if err := d.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	return d.cmd.Wait()
}

func (d *daemon) kill() {
	if d.cmd.ProcessState == nil {
		_ = d.cmd.Process.Kill()
		_ = d.cmd.Wait()
	}
}
