package heap

import (
	"context"
	"errors"
	"io"
	"os"
	"runtime/debug"
	"sync"
	"time"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/gclog/heap"
	"github.com/gclog/gclog/internal/attach"
	"github.com/gclog/gclog/internal/cli/exit"
	"github.com/gclog/gclog/internal/host"
	"github.com/gclog/gclog/internal/output"
)

// A memoryGuard bounds what gclog itself takes while it takes a snapshot: its input may be a lie of a
// process that nobody has checked. When a limit is reached, the snapshot ends in the usual way, with an
// error: its context is canceled, and what is being read or written fails. What does not end by that
// ends gclog, at one and a half times the memory or some time later; beneath that, the kernel does
// (limitOwn).
type memoryGuard struct {
	memory uint64 // bytes that may be resident
	least  string // what leaves no more: a host.Room; "": that is what a snapshot may take
	pid    int    // of the snapshot's process
	cancel context.CancelCauseFunc
	exit   func(error) // ends gclog
	own    func() (mapped, resident uint64)

	mu  sync.Mutex
	why error // that the snapshot ends; nil: it may go on
}

const (
	// guardInterval is how often a guard looks at the memory while nothing is read or written. Go takes
	// new memory from the kernel at some 2 GB/s at most.
	guardInterval = 50 * time.Millisecond
	// guardOvertime is how many seconds of a processor a snapshot may take to end.
	guardOvertime = 30
	// guardRoom is the share of the memory that gclog has left that a snapshot may take.
	guardRoom = 0.9
	// goReserves is the address space that Go takes in addition to memory that it uses.
	goReserves = 512 << 20
)

// guardSnapshot begins to guard a snapshot. The context is for taking it.
func (p *commands) guardSnapshot(
	ctx context.Context, s *plannedSnapshot,
) (_ context.Context, _ *memoryGuard, release func()) {
	g := &memoryGuard{memory: s.plan.OwnLimit(), pid: s.target.PID, own: ownMemory}
	g.exit = func(err error) {
		p.UI.Error(err)
		os.Exit(exit.Code(err))
	}
	_, resident := g.own()
	g.memory, g.least = boundBy(g.memory+resident, resident, ownRooms(p.Host))
	// The graph is built in memory that is reserved at once, of which untouched parts count for Go, but
	// take none.
	reserved := uint64(s.plan.BufferMB) << 20
	was := debug.SetMemoryLimit(-1)
	debug.SetMemoryLimit(min(was, int64(g.memory+reserved)))
	overtime, unlimit := limitOwn(2*g.memory+reserved+goReserves, s.plan.StreamLimit, s.plan.CPULimit())
	ctx, g.cancel = context.WithCancelCause(ctx)
	done := make(chan struct{})
	var watching sync.WaitGroup
	watching.Go(func() { g.watch(done, overtime) })
	return ctx, g, func() {
		close(done)
		watching.Wait()
		g.cancel(nil)
		unlimit()
		debug.SetMemoryLimit(was)
	}
}

// ownRooms returns what limits the memory of gclog itself: in a container, or as a service, that is not
// what limits the process.
func ownRooms(h *host.Host) []host.Room {
	self, err := h.Describe(os.Getpid())
	if err != nil {
		return nil
	}
	return self.Rooms()
}

// boundBy returns a limit of gclog's memory, or less, and why, if there is not that much.
func boundBy(limit, resident uint64, rooms []host.Room) (_ uint64, least string) {
	for i := range rooms {
		if most := resident + uint64(guardRoom*float64(rooms[i].Free())); most < limit {
			limit, least = most, rooms[i].Of
		}
	}
	return limit, least
}

// watch looks at what gclog takes until done is closed.
func (g *memoryGuard) watch(done <-chan struct{}, overtime <-chan os.Signal) {
	look := time.NewTicker(guardInterval)
	defer look.Stop()
	for seconds := 0; ; {
		select {
		case <-done:
			return
		case <-look.C:
			if g.check() != nil && g.taken() > g.memory+g.memory/2 {
				g.exit(g.err())
			}
		case <-overtime:
			g.end(exit.Dataf("refused: gclog has used up the computing time that it may take (RLIMIT_CPU) for a "+
				"snapshot of process %d, and the heap of a process of this size cannot take that", g.pid))
			if seconds++; seconds > guardOvertime {
				g.exit(g.err())
			}
		}
	}
}

func (g *memoryGuard) taken() uint64 {
	_, resident := g.own()
	return resident
}

// check returns why the snapshot ends, or nil.
func (g *memoryGuard) check() error {
	if g.taken() > g.memory {
		why := "the heap of a process of this size cannot take that"
		if g.least != "" {
			why = g.least + " leaves no more"
		}
		g.end(exit.Dataf("refused: gclog itself takes more than %s of memory for a snapshot of process %d, and %s",
			formats.SizeText(int64(g.memory)), g.pid, why))
	}
	return g.err()
}

// end ends the snapshot.
func (g *memoryGuard) end(why error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.why == nil {
		g.why = why
		g.cancel(why)
	}
}

func (g *memoryGuard) err() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.why
}

// guardStep is how many bytes are read between two looks at the memory.
const guardStep = 1 << 20

// A guardedReader reads the recording of a snapshot. It fails when the snapshot ends, or has failed.
type guardedReader struct {
	io.Reader
	guard *memoryGuard
	ahead int // bytes until the next look
}

// Read implements io.Reader.
func (r *guardedReader) Read(b []byte) (int, error) {
	if r.ahead <= 0 {
		if err := r.guard.check(); err != nil {
			return 0, errors.Join(heap.ErrStop, err)
		}
		r.ahead = guardStep
	}
	n, err := r.Reader.Read(b)
	r.ahead -= n
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, heap.ErrPause) {
		err = errors.Join(heap.ErrStop, err)
	}
	return n, err
}

// Len returns the number of bytes that are expected, -1 if that is unknown.
func (r *guardedReader) Len() int {
	if sized, ok := r.Reader.(interface{ Len() int }); ok {
		return sized.Len()
	}
	return -1
}

// A guardedWriter writes the file of a snapshot. It fails when the snapshot ends, or would take the last
// tenth of the disk.
type guardedWriter struct {
	io.Writer
	guard   *memoryGuard
	reserve output.Reserve
}

// Write implements io.Writer.
func (w *guardedWriter) Write(b []byte) (int, error) {
	if err := errors.Join(w.guard.err(), w.reserve.Take(len(b))); err != nil {
		return 0, err
	}
	return w.Writer.Write(b)
}

// explain returns the error of a snapshot that a guard has ended, or err.
func (g *memoryGuard) explain(err error) error {
	if why := g.err(); why != nil && err != nil {
		return why
	}
	if long, ok := errors.AsType[*attach.TooLongError](err); ok {
		return exit.Dataf("refused: process %d has sent more than %s, and a walk of its heap cannot take that; if "+
			"the process has just grown to several times its size, take the snapshot again",
			g.pid, formats.SizeText(int64(long.Most)))
	}
	return err
}
