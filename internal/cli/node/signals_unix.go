//go:build unix

package node

import (
	"os"
	"os/signal"
	"syscall"
)

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
