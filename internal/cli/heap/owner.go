package heap

import (
	"context"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"github.com/gclog/gclog/internal/cli/exit"
	"github.com/gclog/gclog/internal/command"
	"github.com/gclog/gclog/internal/host"
)

// A heap snapshot that a daemon takes ends with that daemon. The walk of the heap cannot be canceled,
// and no other session should start before it ends; but the next daemon must not wait long for the
// process, and neither should the end of this one.
const (
	// ownedPatience is how long the end of a walk is waited for. Then its connection is closed.
	ownedPatience = 2500 * time.Millisecond
	// ownedTime is how long everything may take. The session of the walk ends before that of the
	// witness, and the runtime has some time to notice.
	ownedTime = 3500 * time.Millisecond
)

// snapshotSignals is signals for a heap snapshot. That of a daemon ends within ownedTime of the first
// signal, which the kernel sends if the daemon ends without one.
func (p *commands) snapshotSignals(ctx context.Context, o *snapshotOptions) (_ context.Context, stop func()) {
	owner, err := strconv.Atoi(os.Getenv(host.OwnerVariable))
	if err != nil {
		ctx, _, stop = p.Signals(ctx)
		return ctx, stop
	}
	o.patience = ownedPatience
	ctx, cancel := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	command.EndWithParent(owner)
	ended := context.AfterFunc(ctx, func() {
		time.Sleep(ownedTime)
		p.UI.Say("interrupted: the snapshot has not ended in time, and its connections are closed")
		os.Exit(exit.Session)
	})
	return ctx, func() { ended(); cancel() }
}
