//go:build unix && !linux

package rotate

import (
	"errors"
	"os"
	"syscall"
)

// LockFile locks a file that is being written, for as long as it is open, and reports whether that
// succeeded. A file system without locks does not prevent writing. Anyone who may read the file can
// hold such a lock too: this system has no better one that belongs to the file itself.
func LockFile(f *os.File) bool {
	return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil
}

// IsInUse reports whether a File, of this or another program, is currently writing a
// file.
func IsInUse(path string) bool {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return false
	}
	defer f.Close()
	return errors.Is(syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB), syscall.EWOULDBLOCK)
}

// reopenable returns the path through which an open file is opened again.
func reopenable(_ *os.File, path string) string { return path }

// keepsOpen: an open file can be renamed, so it may stay open.
const keepsOpen = true
