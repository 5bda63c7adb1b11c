//go:build unix && !linux

package output

import "golang.org/x/sys/unix"

// isMemory is for Linux only.
func isMemory(*unix.Statfs_t) bool { return false }
