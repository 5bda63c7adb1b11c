//go:build !linux

package host

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// These are only available on Linux.

type hostState struct{}

// Stuck always returns 0: this system does not show it.
func (h *Host) Stuck() (looks int, all bool) { return 0, false }

// ServeHelper is not needed on this system.
func ServeHelper() error { return errors.New("needed only on Linux") }

// Stopped always returns false: this system does not show it.
func (p *Process) Stopped() bool { return false }

// Tracer always returns 0: this system does not show it.
func (p *Process) Tracer() int { return 0 }

// Socket returns the path of the socket, or the name of the pipe.
func (p *Process) Socket() string { return filepath.Join(p.tempDir, p.socket) }

// SocketDeleted always returns false: this system does not show it.
func (p *Process) SocketDeleted() bool { return false }

// GCLibrary always returns "": this system does not show it.
func (p *Process) GCLibrary() string { return "" }

// ServerGCThreads always returns false: this system does not show it.
func (p *Process) ServerGCThreads() (n int, known bool) { return 0, false }

// Processors is known only on Linux.
func (p *Process) Processors() int { return 0 }

// CPUTime is known only on Linux.
func (p *Process) CPUTime() (d time.Duration, known bool) { return 0, false }

// IsLate always returns false: this system does not show it.
func (p *Process) IsLate() bool { return false }

// DiagnosticsThreads always returns nil: this system does not show them.
func (p *Process) DiagnosticsThreads() []uint64 { return nil }

// AbandonedWalk always returns false: this system does not show it.
func (p *Process) AbandonedWalk(context.Context) bool { return false }

// A Watch does nothing on this system.
type Watch struct{}

// Watch does nothing on this system.
func (p *Process) Watch() *Watch { return &Watch{} }

// SocketLeft always returns false: this system does not show it.
func (w *Watch) SocketLeft() (left, known bool) { return false, false }

// Outcome always returns that the process exited: this system does not show more.
func (w *Watch) Outcome() Outcome { return Outcome{Exited: true} }

// Close does nothing.
func (w *Watch) Close() {}

// A MemoryReader does nothing on this system.
type MemoryReader struct{}

// OpenMemory does nothing on this system.
func (p *Process) OpenMemory() *MemoryReader { return &MemoryReader{} }

// Read always returns 0: this system does not show the memory.
func (r *MemoryReader) Read() (resident, cgroup, limit uint64) { return 0, 0, 0 }

// Close does nothing.
func (r *MemoryReader) Close() {}

// A CPUReader does nothing on this system.
type CPUReader struct{}

// A CPUReading is always unknown on this system.
type CPUReading struct{ Pressure, GroupPressure, Throttled, Throttles int64 }

// OpenCPU does nothing on this system.
func (p *Process) OpenCPU() *CPUReader { return &CPUReader{} }

// Processors always returns 0, unknown.
func (r *CPUReader) Processors() int { return 0 }

// Read returns that nothing is known.
func (r *CPUReader) Read() CPUReading { return CPUReading{-1, -1, -1, -1} }

// Runnable always returns 0, unknown.
func (r *CPUReader) Runnable() int { return 0 }

// Threads always returns 0, unknown.
func (r *CPUReader) Threads() int { return 0 }

// Waited returns that it is unknown.
func (r *CPUReader) Waited() (ns int64, known bool) { return 0, false }

// Close does nothing.
func (r *CPUReader) Close() {}

// Inspect returns the entry that List has for a process. The process need not be a .NET process,
// nor exist: Err reports that.
func (h *Host) Inspect(pid int) *Listed {
	t, err := h.Find(context.Background(), pid)
	if err != nil {
		return &Listed{Process{PID: pid, InnerPID: pid, UID: -1}, err}
	}
	return &Listed{Process: t.Process}
}

// Dotnet reports whether the process contains a .NET runtime, as far as can be seen.
func (l *Listed) Dotnet() bool { return l.Err == nil }

// A Scanner scans the processes repeatedly.
type Scanner struct{ list []Sighting }

// NewScanner returns a Scanner.
func NewScanner() (*Scanner, error) { return &Scanner{}, nil }

// Scan returns the processes that have a .NET runtime, by pid. The list is valid until the next
// Scan.
func (s *Scanner) Scan() ([]Sighting, error) {
	list, err := new(Host).List(context.Background())
	s.list = s.list[:0]
	for _, l := range list {
		s.list = append(s.list, Sighting{PID: l.PID, StartKey: l.StartKey, Name: l.Name})
	}
	return s.list, err
}

// Close does nothing.
func (s *Scanner) Close() {}

// ReadFile reads a regular file, at most limit bytes.
func (p *Process) ReadFile(_ context.Context, path string, limit int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, limit))
}

// Runtime reports which runtime the process uses, if the program itself shows it. Most programs use
// CoreCLR.
func (p *Process) Runtime() Runtime {
	f, err := os.Open(p.Executable)
	if err != nil {
		return RuntimeCoreCLR
	}
	defer f.Close()
	if own := programRuntime(f); own != RuntimeUnknown {
		return own
	}
	return RuntimeCoreCLR
}

// LibraryVersion always returns "": this system does not show it.
func (p *Process) LibraryVersion() string { return "" }

// Startup always returns StartupUnknown on this system.
func (p *Process) Startup() Startup { return StartupUnknown }

// StartedByNow returns Started: this system keeps the time by the clock of then.
func (p *Process) StartedByNow() time.Time { return p.Started }

// Describe returns what is known about a process that gclog can talk to.
func (h *Host) Describe(pid int) (*Process, error) {
	t, err := h.Find(context.Background(), pid)
	if err != nil {
		return nil, err
	}
	return &t.Process, nil
}

// A Family is always empty on this system.
type Family struct{}

// NewFamily returns a family without members.
func (h *Host) NewFamily(name, part string) *Family { return &Family{} }

// Members always returns nil.
func (f *Family) Members() []*Target { return nil }

// Count always returns 0.
func (f *Family) Count() int { return 0 }

// Rooms returns nil: the limits of a process are only known on Linux.
func (p *Process) Rooms() []Room { return nil }

// PrivateMemory returns 0, unknown, on this system.
func (p *Process) PrivateMemory() uint64 { return 0 }

// BackgroundGCTime is only known on Linux.
func (p *Process) BackgroundGCTime() (ns uint64, active, known bool) { return 0, false, false }

// BackgroundGCs is only known on Linux.
func (p *Process) BackgroundGCs() (most int, age time.Duration) { return 0, 0 }

// OpenFile opens a regular file.
func (p *Process) OpenFile(_ context.Context, path string) (*os.File, error) {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(err, fs.ErrInvalid)
	}
	return os.Open(path)
}

// Modules returns the program itself: this system does not list the others.
func (p *Process) Modules(context.Context) []string {
	if p.Executable == "" {
		return nil
	}
	return []string{p.Executable}
}
