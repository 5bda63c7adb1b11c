//go:build unix

package daemon

import (
	"math"

	"golang.org/x/sys/unix"
)

// filesMost returns how many files this process may have open.
func filesMost() uint64 {
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &limit) != nil {
		return math.MaxUint64
	}
	return limit.Cur
}
