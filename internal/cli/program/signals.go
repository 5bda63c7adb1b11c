package program

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/gclog/gclog/formats/screen"
)

// sameSignal is the time within which a second signal counts as the first, because it was sent to
// this process and to its group.
const sameSignal = 100 * time.Millisecond

// Signals returns a context that ends with the first SIGINT or SIGTERM; a second one ends gclog at
// once. SIGHUP is sent to reopen, unless it means that the terminal was closed: then it ends the
// context too.
func (p *Run) Signals(ctx context.Context) (_ context.Context, reopen <-chan struct{}, stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	caught := make(chan os.Signal, 4)
	signal.Notify(caught, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) { // nohup ignores it
		signal.Notify(caught, syscall.SIGHUP)
	}
	shown := screen.IsTerminal(p.Unfiltered) || p.UI.Terminal
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
					p.UI.interrupted()
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

// hungUp reports whether the terminal on which gclog was started was closed.
func (p *Run) hungUp() bool { return !screen.IsTerminal(p.Unfiltered) && !screen.IsTerminal(p.UI.W) }
