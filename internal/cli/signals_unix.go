//go:build unix

package cli

import (
	"os"
	"os/signal"
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

// mayWrite returns why files cannot be created in a directory.
func mayWrite(dir string) error { return unix.Access(dir, unix.W_OK|unix.X_OK) }

// daemonSignals catches SIGUSR1, which starts new files, and SIGUSR2, which logs the state.
func daemonSignals() (rotate, status <-chan struct{}, release func()) {
	caught := make(chan os.Signal, 4)
	signal.Notify(caught, syscall.SIGUSR1, syscall.SIGUSR2)
	usr1, usr2, done := make(chan struct{}, 1), make(chan struct{}, 1), make(chan struct{})
	go func() {
		for {
			select {
			case s := <-caught:
				to := usr1
				if s == syscall.SIGUSR2 {
					to = usr2
				}
				select {
				case to <- struct{}{}:
				default:
				}
			case <-done:
				return
			}
		}
	}()
	return usr1, usr2, func() {
		signal.Stop(caught)
		close(done)
	}
}
