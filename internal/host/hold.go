package host

import (
	"context"
	"errors"
	"os"
	"sync/atomic"
	"time"

	"github.com/gclog/gclog/session"
)

// errLocked reports that another process has a lock that excludes this one.
var errLocked = errors.New("locked")

// A Hold keeps all of gclog's processes on this host from starting and ending sessions with a
// target while a heap snapshot of it is taken. Up to .NET 10, each of these makes the runtime
// collect and walk its heap once more as long as the session of a snapshot is open (docs/heap.md,
// The request).
//
// It is a lock on a file of the process in /proc: it ends with the process that has it, and belongs
// to no file system that could be full or read-only. Only root and the user of the target can have
// it. Processes that see different mounts of /proc, such as those of two containers, do not see each
// other's.
//
// Systems other than Linux have no such lock, nor do sandboxes without that file, and only root has it
// for a process that its user may not debug.
type Hold struct {
	target *Target
	lock   *lock
}

// StartTracing starts a session as Target.StartTracing does, but in spite of the Hold.
func (h *Hold) StartTracing(ctx context.Context, cfg session.Config) (*session.Stream, error) {
	if h.target.Startup() == StartupPending {
		return nil, h.target.pending(ctx)
	}
	return h.target.StartFirst(ctx, cfg)
}

// Release ends the Hold.
func (h *Hold) Release() { h.lock.release() }

const (
	// holdTime is how long Hold waits for sessions that are just being started or ended.
	holdTime = 10 * time.Second
	holdPoll = 5 * time.Millisecond
	// ownerPolls is after how many polls to look who holds the target.
	ownerPolls = 20
)

// Hold locks the target. If another process has the lock, the error is a *TargetError with the
// cause CauseSnapshot. Sessions that are just being started or ended are waited for.
func (t *Target) Hold(ctx context.Context) (*Hold, error) {
	limited, cancel := context.WithTimeout(ctx, holdTime)
	defer cancel()
	for {
		l, err := t.flock(holdFile, true)
		switch {
		case err == nil:
			return &Hold{target: t, lock: l}, nil
		case errors.Is(err, os.ErrNotExist), errors.Is(err, os.ErrPermission):
			return &Hold{target: t, lock: &lock{}}, nil // nobody of this user can lock it
		case !errors.Is(err, errLocked):
			return nil, err
		}
		if held := t.heldBy(); held != nil {
			return nil, held
		}
		if !sleep(limited, holdPoll) {
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			return nil, refuse(t.PID, CauseSnapshot, nil,
				"is busy: another gclog has been starting or ending a session with it for %v", holdTime)
		}
	}
}

// Held reports whether a process of gclog holds the target for a heap snapshot.
func (t *Target) Held() bool { return t.heldBy() != nil }

// OwnerVariable is the environment variable of a process that holds targets for its parent, a daemon:
// the pid of that. Such a process ends soon after its parent. If it does not, for example because it
// waits for a disk, its Hold is abandoned.
const OwnerVariable = "GCLOG_HOLDS_FOR"

// abandonedTime is how long an abandoned Hold is respected. The runtime may walk its heap once more
// then, which is better than that nobody watches the process.
const abandonedTime = 5 * time.Second

// isHeld reports whether sessions must wait for the end of a Hold.
func (t *Target) isHeld() bool { return t.Held() && !t.outwaited() }

// outwaited reports whether the target is held by a process that should have ended, and has been for
// long enough.
func (t *Target) outwaited() bool {
	if !t.isAbandoned() {
		atomic.StoreInt64(&t.abandoned, 0)
		return false
	}
	now := time.Now().UnixNano()
	atomic.CompareAndSwapInt64(&t.abandoned, 0, now)
	return now-atomic.LoadInt64(&t.abandoned) >= int64(abandonedTime)
}

// AnnounceGC makes it known to gclog's processes on this host, until release is called, that this one
// makes the runtime collect without taking a heap snapshot: in a log of the process that collection
// may look like that of a snapshot. The announcement is a lock as a Hold is, but excludes nothing.
func (t *Target) AnnounceGC() (release func()) {
	l, err := t.flock(announceFile, false)
	if err != nil {
		return func() {} // as far as other processes can see, it is a snapshot
	}
	return l.release
}

// AnnouncedGC reports whether a process of gclog has announced a collection.
func (t *Target) AnnouncedGC() bool { return t.announced() }

// Share waits until nobody holds the target, and then keeps it from being held until release is
// called. StartTracing and Stream.Stop do so themselves; it is for what must not be interrupted in
// between. For a Hold that is abandoned it waits 5 seconds at most. The error is that of ctx.
func (t *Target) Share(ctx context.Context) (release func(), err error) {
	for n := 0; ; n++ {
		l, err := t.flock(holdFile, false)
		switch {
		case err == nil:
			return l.release, nil
		case !errors.Is(err, errLocked): // it has ended, or nothing of it can be opened
			return func() {}, nil
		case n%ownerPolls == 0 && t.outwaited():
			return func() {}, nil
		}
		if !sleep(ctx, holdPoll) {
			return nil, ctx.Err()
		}
	}
}

// sleep waits. It returns false if ctx is done before.
func sleep(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}
