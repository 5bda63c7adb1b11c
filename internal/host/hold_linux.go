package host

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"iter"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// A lock is the open file that is locked; nil: none is.
type lock struct{ file *os.File }

func (l *lock) release() { _ = l.file.Close() }

// announced reports whether a process has announced a collection.
func (p *Process) announced() bool {
	for range p.locks(announceFile) {
		return true
	}
	return false
}

// The files to lock, in the directory of the process in /proc: files that only root and the user of the
// process can open, so that nobody else can lock them. Opening these two, unlike others, does not wait
// for the process.
const (
	holdFile     = "personality"
	announceFile = "syscall"
)

// flock locks a file of the process for this process, alone or together with others.
func (p *Process) flock(file string, alone bool) (*lock, error) {
	how := unix.LOCK_SH
	if alone {
		how = unix.LOCK_EX
	}
	fd, err := p.openLock(file)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(fd, how|unix.LOCK_NB); err != nil {
		_ = unix.Close(fd)
		if errors.Is(err, unix.EWOULDBLOCK) {
			err = errLocked
		}
		return nil, err
	}
	return &lock{os.NewFile(uintptr(fd), "lock")}, nil
}

// openLock opens what is locked.
func (p *Process) openLock(file string) (int, error) {
	if p.peer != nil {
		return noFile, unix.ESRCH // this host does not show the process
	}
	proc, err := p.openProc()
	if err != nil {
		return noFile, err
	}
	defer closeFile(&proc)
	return openIn(proc, file)
}

// heldBy returns an error that names who holds the process, or nil.
func (p *Process) heldBy() *TargetError {
	l, err := p.flock(holdFile, false)
	if err == nil {
		l.release()
	}
	if !errors.Is(err, errLocked) {
		return nil
	}
	switch pid := p.holder(); {
	case pid == 0:
		return refuse(p.PID, CauseSnapshot, nil, "is the target of a heap snapshot that another gclog is taking")
	case isOrphan(pid):
		return refuse(p.PID, CauseSnapshot, nil,
			"is the target of a heap snapshot of a daemon that has ended (process %d): gclog waits %v at most",
			pid, abandonedTime)
	default:
		return refuse(p.PID, CauseSnapshot, nil,
			"is the target of a heap snapshot that another gclog is taking (process %d)", pid)
	}
}

// holder returns the process that holds this one; 0: none does, or one of another PID namespace.
func (p *Process) holder() (holder int) {
	for pid, exclusive := range p.locks(holdFile) {
		if exclusive {
			holder = pid
		}
	}
	return holder
}

// isAbandoned reports whether the process is held on behalf of one that has ended.
func (p *Process) isAbandoned() bool {
	pid := p.holder()
	return pid != 0 && isOrphan(pid)
}

// isOrphan reports whether a process that holds others does so on behalf of a parent that has ended.
// Only root and the user of the process that is held can make gclog believe so.
func isOrphan(pid int) bool {
	dir, err := openProcess(pid)
	if err != nil {
		return false
	}
	defer unix.Close(dir)
	owner := 0
	environ, err := readAllIn(dir, "environ", maxEnvironment)
	for v := range bytes.SplitSeq(environ, []byte{0}) {
		if value, ok := bytes.CutPrefix(v, []byte(OwnerVariable+"=")); ok {
			owner, err = strconv.Atoi(string(value))
		}
	}
	if err != nil || owner == 0 {
		return false
	}
	status, err := readAllIn(dir, "status", maxStatus)
	parents := statusNumbers(status, "PPid")
	if err != nil || len(parents) == 0 {
		return false
	}
	if parents[0] == 0 {
		return true // the parent is in another PID namespace: a child of the owner would show it
	}
	parent, err := openProcess(parents[0])
	if err != nil {
		return false // it has just ended
	}
	defer unix.Close(parent)
	s, err := readStatus(parent)
	return err == nil && s.innerPID != owner
}

// maxLocks is how many locks of the host are looked at.
const maxLocks = 100_000

// locks returns the processes that have locked a file of the process, and whether that excludes
// others.
func (p *Process) locks(file string) iter.Seq2[int, bool] {
	return func(yield func(int, bool) bool) {
		fd, err := p.openLock(file)
		if err != nil {
			return
		}
		defer closeFile(&fd)
		f, err := os.Open(procRoot + "/locks")
		if err != nil {
			return
		}
		defer f.Close()
		st := status(fd)
		id := fmt.Sprintf("%02x:%02x:%d", unix.Major(st.Dev), unix.Minor(st.Dev), st.Ino)
		lines := bufio.NewScanner(f)
		for n := 0; n < maxLocks && lines.Scan(); n++ {
			// 1: FLOCK  ADVISORY  WRITE 4711 00:15:136347 0 EOF
			w := strings.Fields(lines.Text())
			if len(w) < 6 || w[1] != "FLOCK" || w[5] != id {
				continue
			}
			if pid, err := strconv.Atoi(w[4]); err == nil && pid > 0 && !yield(pid, w[3] == "WRITE") {
				return
			}
		}
	}
}
