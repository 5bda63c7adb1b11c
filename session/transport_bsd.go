//go:build unix && !linux

package session

import (
	"io/fs"

	"golang.org/x/sys/unix"
)

// chmodSocket changes the mode of a socket that was just created. It follows no link.
func chmodSocket(path string, mode fs.FileMode) error {
	return unix.Fchmodat(unix.AT_FDCWD, path, uint32(mode.Perm()), unix.AT_SYMLINK_NOFOLLOW)
}
