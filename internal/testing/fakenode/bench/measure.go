//go:build linux

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// A measurement is what a process has used since its start.
type measurement struct {
	at      time.Time
	cpu     time.Duration // of all threads, user and system time
	peak    int64         // peak resident memory, bytes
	wakeUps int64         // of all threads
}

// A usage is what a process used in some time.
type usage struct {
	seconds      float64
	cpu, wakeUps float64 // per second; CPU in per cent of a core
	peak         int64   // bytes
}

// use measures a process for a while.
func use(pid int, duration time.Duration) (usage, error) {
	before, err := measure(pid)
	if err != nil {
		return usage{}, err
	}
	time.Sleep(duration)
	after, err := measure(pid)
	seconds := after.at.Sub(before.at).Seconds()
	return usage{
		seconds: seconds, cpu: 100 * (after.cpu - before.cpu).Seconds() / seconds,
		wakeUps: float64(after.wakeUps-before.wakeUps) / seconds, peak: after.peak,
	}, err
}

func (u usage) String() string {
	return fmt.Sprintf("%9.2f %9.1f %9.1f", u.cpu, float64(u.peak)/1e6, u.wakeUps)
}

func measure(pid int) (m measurement, err error) {
	dir := filepath.Join("/proc", strconv.Itoa(pid))
	m.at = time.Now()
	peak, err := statusField(filepath.Join(dir, "status"), "VmHWM:")
	if err != nil {
		return m, err
	}
	m.peak = peak << 10
	threads, err := filepath.Glob(filepath.Join(dir, "task", "*"))
	if err != nil {
		return m, err
	}
	for _, t := range threads {
		b, err := os.ReadFile(filepath.Join(t, "schedstat"))
		if err != nil {
			return m, err
		}
		ns, err := strconv.ParseInt(strings.Fields(string(b))[0], 10, 64)
		if err != nil {
			return m, err
		}
		m.cpu += time.Duration(ns)
		// A thread is woken up as often as it has gone to sleep voluntarily.
		n, err := statusField(filepath.Join(t, "status"), "voluntary_ctxt_switches:")
		if err != nil {
			return m, err
		}
		m.wakeUps += n
	}
	return m, nil
}

// statusField returns the number in a line of a status file.
func statusField(path, name string) (int64, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(b)) {
		if rest, ok := strings.CutPrefix(line, name); ok {
			return strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
		}
	}
	return 0, fmt.Errorf("%s has no %s", path, name)
}

// ownCPU returns the CPU time of this process.
func ownCPU() time.Duration {
	var r syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &r) // cannot fail
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}
