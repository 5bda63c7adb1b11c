package attach

import (
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gclog/gclog/internal/fakeruntime"
	"github.com/gclog/gclog/parse/clr"
	"github.com/gclog/gclog/session"
)

// objects sends an event of a heap walk, with some 10 KB of objects.
func (x *stage) objects(index uint32) {
	const count = 300
	b := append(le32(index, count), x.instance, 0)
	x.event(clr.IDGCBulkNode, append(b, make([]byte, 32*count)...))
}

// A countingSpool is the spool of a snapshot that only counts.
type countingSpool struct {
	mu     sync.Mutex
	bytes  uint64
	ended  bool
	failed error
}

func (s *countingSpool) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.bytes += uint64(len(b))
	return len(b), nil
}

func (s *countingSpool) CloseWithError(err error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.ended {
		s.ended, s.failed = true, err
	}
	return nil
}

// TestSnapshotTooLong: a process that sends more than a walk of its heap can take is refused, and
// nobody keeps what it sends. Its session is ended as that of any process: it is asked to end it, and
// what it still sends is read. If that is as much again, it is no runtime, and its connection is closed.
// What follows a complete walk does no harm.
func TestSnapshotTooLong(t *testing.T) {
	const most = 1 << 20
	for name, c := range map[string]struct {
		walks   bool // it sends a complete walk first
		stops   bool // it ends its session when it is asked to
		refused bool
	}{
		"it ends its session":       {stops: true, refused: true},
		"it does not":               {refused: true},
		"a walk, and then too much": {walks: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var walk *stage
				target := onStage(t, fakeruntime.Config{Version: "11.0.1"}, func(x *stage) {
					if x.ID == 1 {
						x.untilStopped()
						return
					}
					walk = x
					x.suspend(clr.SuspendForGC)
					x.beginFor(clr.ReasonInduced, 1, 2, clr.TypeBlocking, 0)
					x.objects(0)
					if c.walks {
						x.end(1, 2)
						x.resume()
					}
					sent := int64(-1)
					for index := uint32(1); x.sent > sent && !(c.stops && isClosed(x.Stopped)); index++ { // or its connection was closed
						sent = x.sent
						x.objects(index)
						time.Sleep(time.Microsecond) // gclog reads that, and has it stop, before anything else happens
					}
				})
				spool := &countingSpool{}
				s, err := TakeSnapshot(t.Context(), target, SnapshotOptions{BufferMB: 1, Most: most, Timeout: session.DefaultTimeout, Spool: spool, Progress: &SnapshotProgress{}})
				long, refused := errors.AsType[*TooLongError](err)
				if refused != c.refused || !refused && err != nil || refused && long.Most != most {
					t.Fatalf("the error is %v", err)
				}
				if s != nil {
					s.Close()
				}
				if spool.bytes > most+64<<10 || !spool.ended || (spool.failed != nil) != c.refused { // and gclog's own event
					t.Errorf("%d bytes are kept of at most %d; ended: %v, %v", spool.bytes, most, spool.ended, spool.failed)
				}
				if !isClosed(walk.Stopped) {
					t.Error("nobody has asked the process to end its session")
				}
				if cut := walk.sent > most+1<<20; cut == c.stops || walk.sent > 3*most {
					t.Errorf("%d bytes were read", walk.sent)
				}
			})
		})
	}
}
