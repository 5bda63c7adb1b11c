package formats

import (
	"io"
	"os"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// The lock of a file that is written is a write lock of its open file description (F_OFD_SETLK):
// only who may write the file can hold one. A lock of the kind that flock makes could be held by
// everybody who may read it, and would keep the next gclog from writing it.

// lockFile locks a file that is being written, for as long as it is open, and reports whether that
// was possible. A file system without locks, or a reader that has locked the file, is no reason not
// to write.
func lockFile(f *os.File) bool {
	lock := unix.Flock_t{Type: unix.F_WRLCK, Whence: io.SeekStart}
	return unix.FcntlFlock(f.Fd(), unix.F_OFD_SETLK, &lock) == nil
}

// IsWritten reports whether a RotatingFile, of this or another program, is writing a file
// now.
func IsWritten(path string) bool {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return false
	}
	defer f.Close()
	lock := unix.Flock_t{Type: unix.F_RDLCK, Whence: io.SeekStart} // readers do not conflict with it
	return unix.FcntlFlock(f.Fd(), unix.F_OFD_GETLK, &lock) == nil && lock.Type != unix.F_UNLCK
}

// reopenable returns the path by which an open file can be opened once more, whatever is in its
// place by then.
func reopenable(f *os.File, _ string) string { return "/proc/self/fd/" + strconv.Itoa(int(f.Fd())) }

// keepsOpen: a file that is open can be renamed.
const keepsOpen = true
