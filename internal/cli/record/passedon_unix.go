//go:build unix

package record

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// passedOn are the signals that run passes to its command.
var passedOn = []os.Signal{
	syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGCONT,
}

// inForeground reports whether the terminal sends its signals to this process, and therefore to its
// children too.
func inForeground() bool {
	tty, err := os.Open("/dev/tty")
	if err != nil {
		return false
	}
	defer tty.Close()
	group, err := unix.IoctlGetInt(int(tty.Fd()), unix.TIOCGPGRP)
	return err == nil && group == unix.Getpgrp()
}
