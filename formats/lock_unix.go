//go:build unix

package formats

import (
	"errors"
	"os"
	"syscall"
)

// keepLocked locks a file that is being written, for as long as what it returns is open.
// A file system without locks is no reason not to write.
func keepLocked(f *os.File) *os.File {
	if syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != nil {
		_ = f.Close()
		return nil
	}
	return f
}

// IsWritten tells whether a RotatingFile, of this or another program, is writing a file
// now.
func IsWritten(path string) bool {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return false
	}
	defer f.Close()
	return errors.Is(syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB), syscall.EWOULDBLOCK)
}
