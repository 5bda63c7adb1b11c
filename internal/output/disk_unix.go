//go:build unix

package output

import (
	"errors"

	"golang.org/x/sys/unix"
)

// DiskOf returns the file system of a folder. The error is errors.ErrUnsupported if it has no notion
// of space, as /proc.
func DiskOf(dir string) (Disk, error) {
	var st unix.Statfs_t
	var of unix.Stat_t
	if err := errors.Join(unix.Statfs(dir, &st), unix.Stat(dir, &of)); err != nil {
		return Disk{}, err
	}
	if st.Blocks == 0 {
		return Disk{}, errors.ErrUnsupported
	}
	block := uint64(st.Bsize)
	id := uint64(of.Dev) //nolint:unconvert // its type differs between systems
	return Disk{ID: id, Free: st.Bavail * block, Size: st.Blocks * block, Memory: isMemory(&st)}, nil
}
