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
	"time"

	"github.com/Microsoft/go-winio"
	"github.com/gclog/gclog/session"
	"golang.org/x/sys/windows"
)

const (
	pipeRoot   = `\\.\pipe\`
	pipePrefix = "dotnet-diagnostic-"
	stillAlive = 259 // STILL_ACTIVE
)

var pipePattern = regexp.MustCompile(`^` + pipePrefix + `(\d+)$`)

// Find returns the target with the pid. The name of its pipe is known, so it is found even if pipes
// cannot be listed.
func (h *Host) Find(ctx context.Context, pid int) (*Target, error) {
	p := readProcess(pid)
	if !p.Alive() {
		return nil, refuse(pid, CauseNoSuchProcess, nil, "does not exist")
	}
	if _, err := os.Stat(pipeRoot + p.socket); errors.Is(err, fs.ErrNotExist) {
		return nil, refuse(pid, CauseNotDotnet, nil,
			"has no diagnostics pipe: it is not a .NET process, or was started with DOTNET_EnableDiagnostics=0")
	}
	return p.target(), ctx.Err()
}

// List returns the processes that have a diagnostics pipe.
func (h *Host) List(ctx context.Context) ([]Listed, error) {
	entries, err := os.ReadDir(pipeRoot)
	if err != nil {
		return nil, fmt.Errorf("listing pipes: %w", err)
	}
	var list []Listed
	for _, e := range entries {
		if m := pipePattern.FindStringSubmatch(e.Name()); m != nil {
			pid, _ := strconv.Atoi(m[1])
			list = append(list, Listed{Process: *readProcess(pid)})
		}
	}
	slices.SortFunc(list, func(a, b Listed) int { return a.PID - b.PID })
	return list, ctx.Err()
}

func readProcess(pid int) *Process {
	p := &Process{PID: pid, InnerPID: pid, UID: -1, socket: pipePrefix + strconv.Itoa(pid)}
	h, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION, false, uint32(pid))
	if err != nil {
		return p
	}
	defer windows.CloseHandle(h)
	buf := make([]uint16, 1<<15)
	size := uint32(len(buf))
	if windows.QueryFullProcessImageName(h, 0, &buf[0], &size) == nil {
		p.Executable = windows.UTF16ToString(buf[:size])
		p.Name = filepath.Base(p.Executable)
	}
	var created, exited, kernel, user windows.Filetime
	if windows.GetProcessTimes(h, &created, &exited, &kernel, &user) == nil {
		p.Started = time.Unix(0, created.Nanoseconds())
		p.StartKey = uint64(created.HighDateTime)<<32 | uint64(created.LowDateTime)
	}
	return p
}

func (p *Process) dial(ctx context.Context) (net.Conn, error) {
	conn, err := winio.DialPipeContext(ctx, pipeRoot+p.socket)
	// Between two connections there is no pipe for a moment: the runtime creates it again each
	// time.
	for range 20 {
		if !errors.Is(err, fs.ErrNotExist) || !p.Alive() {
			break
		}
		select {
		case <-time.After(25 * time.Millisecond):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		conn, err = winio.DialPipeContext(ctx, pipeRoot+p.socket)
	}
	switch {
	case err == nil:
		return conn, nil
	case errors.Is(err, fs.ErrNotExist):
		return nil, refuse(p.PID, CauseNoSuchProcess, nil, "has exited")
	case errors.Is(err, fs.ErrPermission):
		return nil, refuse(p.PID, CauseOtherUser, nil,
			"belongs to another user: run gclog as that user or as administrator")
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, winio.ErrTimeout):
		return nil, fmt.Errorf("connecting to process %d: %w", p.PID, session.ErrNoAnswer)
	}
	return nil, refuse(p.PID, CauseNoAccess, err, "cannot be reached over %s", pipeRoot+p.socket)
}

// Alive reports whether the process is still running.
func (p *Process) Alive() bool {
	h, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION, false, uint32(p.PID))
	if err != nil {
		return errors.Is(err, windows.ERROR_ACCESS_DENIED)
	}
	defer windows.CloseHandle(h)
	var code uint32
	return windows.GetExitCodeProcess(h, &code) == nil && code == stillAlive
}
