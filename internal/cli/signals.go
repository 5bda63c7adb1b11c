package cli

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/gclog/gclog/internal/screen"
)

// sameSignal is how long a second signal is taken for the first one, sent to this process
// and to its group.
const sameSignal = 100 * time.Millisecond

// signals makes a context that ends with the first SIGINT or SIGTERM; a second
// one ends gclog at once. SIGHUP goes to reopen, unless it says that the terminal
// is gone: then there is nobody to watch for.
func (p *program) signals(ctx context.Context) (_ context.Context, reopen <-chan struct{}, stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	caught := make(chan os.Signal, 4)
	signal.Notify(caught, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) { // as nohup does
		signal.Notify(caught, syscall.SIGHUP)
	}
	shown := screen.IsTerminal(p.stdout) || p.ui.terminal
	hup := make(chan struct{}, 1)
	done := make(chan struct{})
	go func() {
		asked := time.Time{}
		for {
			select {
			case s := <-caught:
				switch {
				case s == syscall.SIGHUP && !(shown && p.hungUp()):
					select {
					case hup <- struct{}{}:
					default:
					}
				case asked.IsZero():
					asked = time.Now()
					p.ui.interrupted()
					cancel()
				case s != syscall.SIGHUP && time.Since(asked) > sameSignal:
					os.Exit(128 + int(s.(syscall.Signal)))
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

// hungUp reports whether the terminal that gclog was started on is gone.
func (p *program) hungUp() bool { return !screen.IsTerminal(p.stdout) && !screen.IsTerminal(p.ui.w) }
