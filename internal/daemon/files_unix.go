//go:build unix

package daemon

import "golang.org/x/sys/unix"

// filesMost returns how many files this process may have open.
func filesMost() uint64 {
	var limit unix.Rlimit
	_ = unix.Getrlimit(unix.RLIMIT_NOFILE, &limit) // cannot fail
	return limit.Cur
}
