package cli

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// signals makes a context that ends with the first SIGINT or SIGTERM; a second
// one ends gclog at once. SIGHUP goes to reopen. A closed standard output is an
// error of writing, and no signal.
func (p *program) signals(ctx context.Context) (_ context.Context, reopen <-chan struct{}, stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	caught := make(chan os.Signal, 4)
	signal.Notify(caught, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGPIPE)
	hup := make(chan struct{}, 1)
	done := make(chan struct{})
	go func() {
		asked := false
		for {
			select {
			case s := <-caught:
				switch s {
				case syscall.SIGPIPE:
				case syscall.SIGHUP:
					select {
					case hup <- struct{}{}:
					default:
					}
				default:
					if asked {
						os.Exit(128 + int(s.(syscall.Signal)))
					}
					asked = true
					cancel()
				}
			case <-done:
				return
			}
		}
	}()
	return ctx, hup, func() {
		signal.Stop(caught)
		close(done)
		cancel()
	}
}
