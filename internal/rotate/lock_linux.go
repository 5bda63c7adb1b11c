package rotate

import (
	"io"
	"os"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// The lock of a file being written is a write lock of its open file description (F_OFD_SETLK): only
// those who may write the file can hold one. Anyone who may read the file could hold a flock lock,
// and prevent the next gclog from writing it.

// LockFile locks a file that is being written, for as long as it is open, and reports whether that
// succeeded. A file system without locks, or a reader that has locked the file, does not prevent
// writing.
func LockFile(f *os.File) bool {
	lock := unix.Flock_t{Type: unix.F_WRLCK, Whence: io.SeekStart}
	return unix.FcntlFlock(f.Fd(), unix.F_OFD_SETLK, &lock) == nil
}

// IsInUse reports whether a File, of this or another program, is currently writing a
// file.
func IsInUse(path string) bool {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return false
	}
	defer f.Close()
	lock := unix.Flock_t{Type: unix.F_RDLCK, Whence: io.SeekStart} // does not conflict with readers
	return unix.FcntlFlock(f.Fd(), unix.F_OFD_GETLK, &lock) == nil && lock.Type != unix.F_UNLCK
}

// reopenable returns a path through which an open file can be opened again, whatever has taken its
// place by then.
func reopenable(f *os.File, _ string) string { return "/proc/self/fd/" + strconv.Itoa(int(f.Fd())) }

// keepsOpen: an open file can be renamed, so it may stay open.
const keepsOpen = true
