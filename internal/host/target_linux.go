package host

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

const (
	procRoot = "/proc"
	userHZ   = 100 // the unit of times in /proc, independent of the kernel's own tick
)

// Find returns the target with the given pid in this host's pid namespace. The error is a
// *TargetError, or that of ctx.
func (h *Host) Find(ctx context.Context, pid int) (*Target, error) {
	l := h.inspect(ctx, pid)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if l.Err != nil {
		return nil, l.Err
	}
	return l.Target(), nil
}

// List returns the processes that have a .NET runtime, as far as can be seen. A process that ends
// during the call or cannot be read is left out; it never ends the list.
func (h *Host) List(ctx context.Context) ([]Listed, error) {
	scanner, err := NewScanner()
	if err != nil {
		return nil, err
	}
	defer scanner.Close()
	seen, err := scanner.Scan()
	if err != nil {
		return nil, err
	}
	var list []Listed
	for i := range seen {
		l := h.inspect(ctx, seen[i].PID)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if l.Dotnet() {
			list = append(list, *l)
		}
	}
	slices.SortFunc(list, func(a, b Listed) int { return a.PID - b.PID })
	return list, nil
}

// Inspect returns the entry that List has for a process. The process need not be a .NET process,
// nor exist: Err reports that.
func (h *Host) Inspect(pid int) *Listed { return h.inspect(context.Background(), pid) }

func (h *Host) inspect(ctx context.Context, pid int) *Listed {
	p, err := h.sight(pid)
	if err != nil {
		return &Listed{Process{PID: pid, InnerPID: pid, UID: -1}, err}
	}
	l, err := look(ctx, p, func() (*Listed, error) {
		l := &Listed{Process: *p}
		l.read()
		l.Err = l.locate()
		if l.Dotnet() {
			l.identify()
		}
		return l, nil
	}, keep)
	if err != nil {
		return &Listed{*p, err}
	}
	return l
}

// Dotnet reports whether the process contains a .NET runtime, as far as can be seen.
func (l *Listed) Dotnet() bool {
	var t *TargetError
	if !errors.As(l.Err, &t) {
		return l.Err == nil
	}
	switch t.Cause {
	case CauseNotDotnet, CauseNoSuchProcess, CauseNoAccess:
		return false
	case CauseOtherUser, CauseStuck:
		return l.runtime || l.looksDotnet()
	}
	return true
}

// isHidden reports whether there is a process that /proc does not show: one that we may not signal. If
// there is no /proc, it shows none.
func isHidden(pid int) bool {
	_, err := os.Stat("/proc/self/stat")
	return err == nil && errors.Is(unix.Kill(pid, 0), unix.EPERM)
}

// sight returns what the kernel reports about a process without looking into it.
func (h *Host) sight(pid int) (*Process, error) {
	gone := func(err error) error {
		switch missing := errors.Is(err, fs.ErrNotExist); {
		case missing && isHidden(pid):
			return refuse(pid, CauseNoAccess, nil,
				"exists, but /proc is mounted with hidepid and does not show it to gclog, which runs as uid %d",
				os.Geteuid()).as("hidden")
		case missing, errors.Is(err, syscall.ESRCH):
			return refuse(pid, CauseNoSuchProcess, nil, "does not exist")
		}
		return refuse(pid, CauseNoAccess, err, "cannot be inspected")
	}
	if pid <= 0 {
		return nil, refuse(pid, CauseNoSuchProcess, nil, "does not exist")
	}
	dir, err := openProcess(pid)
	if err != nil {
		return nil, gone(err)
	}
	defer unix.Close(dir)
	stat, err := readStatIn(dir)
	status, unknown := readStatus(dir)
	if err := cmp.Or(err, unknown); err != nil {
		return nil, gone(err)
	}
	if stat.ended() {
		return nil, refuse(pid, CauseNoSuchProcess, nil, "has exited (it is a zombie until its parent waits for it)").
			as("ended")
	}
	if status.process != pid {
		return nil, refuse(pid, CauseNoSuchProcess, nil,
			"does not exist: %d is a thread of process %d", pid, status.process).as("thread")
	}
	p := &Process{
		PID:      pid,
		InnerPID: status.innerPID,
		Name:     string(stat.name),
		StartKey: stat.startKey,
		Started:  startTime(stat.startKey),
		UID:      status.uid,
		User:     userName(status.uid),
		tempDir:  "/tmp",
		host:     h,
	}
	return p, nil
}

// read reads the process's command line, program, environment and control groups from its directory
// in /proc.
func (p *Process) read() {
	dir, _ := p.openProc() // nothing is read of noFile
	defer closeFile(&dir)
	if b, err := readIn(dir, "cmdline", make([]byte, maxArgumentBytes)); err == nil {
		p.CommandLine = readArguments(b)
	}
	path := make([]byte, unix.PathMax)
	if n, err := unix.Readlinkat(dir, "exe", path); err == nil {
		p.Executable = string(path[:n])
	}
	if n, err := unix.Readlinkat(dir, "cwd", path); err == nil {
		p.Directory = string(path[:n])
	}
	if fd, err := openIn(dir, "environ"); err == nil {
		f := os.NewFile(uintptr(fd), "environ")
		defer f.Close()
		var env environment
		env.readTerminated(f)
		p.Environ = env.variables
	}
	if groups, err := readAllIn(dir, "cgroup", maxGroups); err == nil {
		p.identifyByGroups(groups)
	}
	p.maker = namespaceMaker(dir)
	if dir := p.Environ["TMPDIR"]; dir != "" {
		p.tempDir = dir
	}
}

// procPID returns the name of the process's directory in /proc. For a process that this host does
// not show it returns 0, which never exists, because its PID may be that of another process here.
func (p *Process) procPID() int {
	if p.peer != nil {
		return 0
	}
	return p.PID
}

// procPath returns the path of a file in the process's directory in /proc.
func (p *Process) procPath(name string) string {
	return filepath.Join(procRoot, strconv.Itoa(p.procPID()), name)
}

func userName(uid int) string {
	if u, err := user.LookupId(strconv.Itoa(uid)); err == nil {
		return u.Username
	}
	return strconv.Itoa(uid)
}

// Describe returns what is known about a process, with its socket if it has one. gclog need not be
// able to talk to the process.
func (h *Host) Describe(pid int) (*Process, error) {
	p, err := h.sight(pid)
	if err != nil {
		return nil, err
	}
	known, err := look(context.Background(), p, func() (*Process, error) {
		known := *p
		known.read()
		_ = known.locate() // the socket is only needed to see how the process ends
		known.identify()
		return &known, nil
	}, keep)
	if err != nil {
		return p, nil //nolint:nilerr // what is known without a look
	}
	return known, nil
}
