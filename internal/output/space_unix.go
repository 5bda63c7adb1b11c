//go:build unix

package output

import "golang.org/x/sys/unix"

// FreeSpace returns how many bytes the file system of a folder has left for this user.
func FreeSpace(dir string) (bytes uint64, err error) {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return 0, err
	}
	return st.Bavail * uint64(st.Bsize), nil
}
