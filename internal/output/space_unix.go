//go:build unix

package output

import (
	"errors"

	"golang.org/x/sys/unix"
)

// FreeSpace returns how many bytes the file system of a folder has left for this user. The
// error is errors.ErrUnsupported if it has no notion of space, as /proc.
func FreeSpace(dir string) (bytes uint64, err error) {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return 0, err
	}
	if st.Blocks == 0 {
		return 0, errors.ErrUnsupported
	}
	return st.Bavail * uint64(st.Bsize), nil
}
