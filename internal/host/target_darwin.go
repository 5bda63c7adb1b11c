package host

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"syscall"
	"time"

	"github.com/gclog/gclog/session"
	"golang.org/x/sys/unix"
)

// socketPattern matches the name of a socket: the pid, then the start time of the process in
// seconds since 1970.
var socketPattern = regexp.MustCompile(`^dotnet-diagnostic-(\d+)-(\d+)-socket$`)

// Find returns the target with the pid. Its socket is searched for where List does.
func (h *Host) Find(ctx context.Context, pid int) (*Target, error) {
	list, err := h.List(ctx)
	if err != nil {
		return nil, err
	}
	for _, l := range list {
		if l.PID == pid {
			return l.Target(), nil
		}
	}
	if err := unix.Kill(pid, 0); errors.Is(err, syscall.ESRCH) || pid <= 0 {
		return nil, refuse(pid, CauseNoSuchProcess, nil, "does not exist")
	} else if errors.Is(err, syscall.EPERM) {
		return nil, refuse(pid, CauseOtherUser, nil, "belongs to another user: run gclog as that user or as root")
	}
	return nil, refuse(pid, CauseNotDotnet, nil, "has no diagnostics socket in %s: it is not a .NET process, it was "+
		"started with DOTNET_EnableDiagnostics=0, or its TMPDIR differs", os.TempDir())
}

// List returns the processes that have a diagnostics socket in this user's temporary directory; as root,
// in that of any user: on this system each has one of their own.
func (h *Host) List(ctx context.Context) ([]Listed, error) {
	byPID := map[int]Listed{}
	for i, dir := range tempDirs("/", os.TempDir(), os.Geteuid()) {
		entries, err := os.ReadDir(dir)
		if err != nil && i == 0 {
			return nil, fmt.Errorf("listing processes: %w", err)
		}
		for _, e := range entries {
			p, ok := socketOf(e.Name())
			// A file for the process in another user's folder is not its socket.
			if !ok || p.StartKey < byPID[p.PID].StartKey || !belongsTo(filepath.Join(dir, e.Name()), p.UID) {
				continue
			}
			p.tempDir = dir
			byPID[p.PID] = Listed{Process: p}
		}
	}
	var list []Listed
	for _, l := range byPID {
		list = append(list, l)
	}
	slices.SortFunc(list, func(a, b Listed) int { return a.PID - b.PID })
	return list, ctx.Err()
}

// belongsTo reports whether a file belongs to a user, if the user is known.
func belongsTo(path string, uid int) bool {
	var s unix.Stat_t
	return uid < 0 || unix.Lstat(path, &s) == nil && int(s.Uid) == uid
}

// socketOf returns the process whose socket has a name, unless it has exited.
func socketOf(name string) (p Process, ok bool) {
	m := socketPattern.FindStringSubmatch(name)
	if m == nil {
		return p, false
	}
	pid, _ := strconv.Atoi(m[1])
	key, _ := strconv.ParseUint(m[2], 10, 64)
	if errors.Is(unix.Kill(pid, 0), syscall.ESRCH) {
		return p, false // left behind by another process
	}
	p = Process{PID: pid, InnerPID: pid, UID: -1, StartKey: key, Started: time.Unix(int64(key), 0), socket: name}
	if k, err := unix.SysctlKinfoProc("kern.proc.pid", pid); err == nil {
		p.Name = unix.ByteSliceToString(k.Proc.P_comm[:])
		p.UID = int(k.Eproc.Ucred.Uid)
	}
	if b, err := unix.SysctlRaw("kern.procargs2", pid); err == nil && len(b) > 4 {
		p.Executable = unix.ByteSliceToString(b[4:]) // after the number of arguments
	}
	return p, true
}

func (p *Process) dial(ctx context.Context) (net.Conn, error) {
	path := filepath.Join(p.tempDir, p.socket)
	conn, err := new(net.Dialer).DialContext(ctx, "unix", path)
	switch {
	case err == nil:
	case errors.Is(err, syscall.ECONNREFUSED):
		return nil, refuse(p.PID, CauseStaleSocket, nil,
			"has a socket that no process listens on, left over from another process: %s", path)
	case errors.Is(err, fs.ErrNotExist):
		return nil, refuse(p.PID, CauseNoSuchProcess, nil, "has exited")
	case errors.Is(err, context.DeadlineExceeded):
		return nil, fmt.Errorf("connecting to process %d: %w", p.PID, session.ErrNoAnswer)
	default:
		return nil, refuse(p.PID, CauseNoAccess, err, "cannot be reached over %s", path)
	}
	if peer, _, err := session.PeerProcess(conn); err == nil && peer != p.PID {
		_ = conn.Close()
		return nil, refuse(p.PID, CauseWrongPeer, nil, "does not listen on %s: process %d does", path, peer)
	}
	return conn, nil
}

// Alive reports whether the process is still running.
func (p *Process) Alive() bool {
	return !errors.Is(unix.Kill(p.PID, 0), syscall.ESRCH)
}
