//go:build unix && !linux

package session

import "golang.org/x/sys/unix"

// openToAll gives a socket that was just made the mode 0666. It follows no link.
func openToAll(path string) error {
	return unix.Fchmodat(unix.AT_FDCWD, path, 0o666, unix.AT_SYMLINK_NOFOLLOW)
}
