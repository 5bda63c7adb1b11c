//go:build unix && !linux

package formats

import (
	"errors"
	"os"
	"syscall"
)

// lockFile locks a file that is being written, for as long as it is open, and reports whether that
// was possible. A file system without locks is no reason not to write. Whoever may read the file
// can hold such a lock too: this system has no better one that the file itself could bear.
func lockFile(f *os.File) bool {
	return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil
}

// IsWritten reports whether a RotatingFile, of this or another program, is writing a file
// now.
func IsWritten(path string) bool {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return false
	}
	defer f.Close()
	return errors.Is(syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB), syscall.EWOULDBLOCK)
}

// reopenable returns the path by which an open file is opened once more.
func reopenable(_ *os.File, path string) string { return path }

// keepsOpen: a file that is open can be renamed.
const keepsOpen = true
