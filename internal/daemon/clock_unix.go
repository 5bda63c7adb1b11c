//go:build unix

package daemon

import (
	"time"

	"golang.org/x/sys/unix"
)

// clockOffset returns how far the wall clock is ahead of the clock that is never set.
func clockOffset() time.Duration { return time.Duration(time.Now().UnixNano()) - monotonic() }

// monotonic returns the time of CLOCK_MONOTONIC.
func monotonic() time.Duration {
	var t unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &t)
	return time.Duration(t.Nano())
}
