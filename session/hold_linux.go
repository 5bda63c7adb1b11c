package session

import (
	"bufio"
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

// errLocked reports that another process has a lock that excludes this one.
var errLocked = errors.New("locked")

// exclude takes the lock that nobody else can have at the same time.
func (p *Process) exclude() (*lock, error) { return p.flock(holdFile, unix.LOCK_EX) }

// attend takes the lock that others can have at the same time.
func (p *Process) attend() (*lock, error) { return p.flock(holdFile, unix.LOCK_SH) }

// announce takes the lock that announces a collection. Several processes can have it.
func (p *Process) announce() (*lock, error) { return p.flock(announceFile, unix.LOCK_SH) }

// announced reports whether a process has announced a collection.
func (p *Process) announced() bool {
	for range p.locks(announceFile) {
		return true
	}
	return false
}

// What is locked, in the directory of the process in /proc: files that only root and the user of the
// process can open, so that nobody else can lock them. Opening these two, unlike others, does not wait
// for the process.
const (
	holdFile     = "personality"
	announceFile = "syscall"
)

func (p *Process) flock(file string, how int) (*lock, error) {
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
	l, err := p.attend()
	if err == nil {
		l.release()
	}
	if !errors.Is(err, errLocked) {
		return nil
	}
	holder := "" // of another PID namespace
	for pid, exclusive := range p.locks(holdFile) {
		if exclusive {
			holder = fmt.Sprintf(" (process %d)", pid)
		}
	}
	return refuse(p.PID, CauseSnapshot, nil, "is the target of a heap snapshot that another gclog is taking%s", holder)
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
