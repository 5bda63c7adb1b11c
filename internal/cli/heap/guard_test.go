package heap

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/iotest"

	"github.com/gclog/gclog/gclog/heap"
	"github.com/gclog/gclog/internal/attach"
	"github.com/gclog/gclog/internal/cli/exit"
	"github.com/gclog/gclog/internal/host"
)

// guarded returns a guard of a snapshot, and the memory that gclog takes. It allows 1000 bytes.
func guarded(t *testing.T) (context.Context, *memoryGuard, *atomic.Uint64) {
	t.Helper()
	taken := &atomic.Uint64{}
	ctx, cancel := context.WithCancelCause(t.Context())
	t.Cleanup(func() { cancel(nil) })
	return ctx, &memoryGuard{memory: 1000, pid: 4711, cancel: cancel, own: func() (uint64, uint64) { return 0, taken.Load() }}, taken
}

// TestGuardReads: when gclog takes too much memory, the snapshot is canceled, and nothing more is read
// or written; the error says why. Other errors stay as they are.
func TestGuardReads(t *testing.T) {
	ctx, g, taken := guarded(t)
	r := &guardedReader{Reader: io.LimitReader(zeros{}, 5*guardStep), guard: g}
	w := &guardedWriter{Writer: io.Discard, guard: g}
	if n, err := io.CopyN(io.Discard, r, 2*guardStep); err != nil || g.explain(nil) != nil {
		t.Fatalf("%d bytes, %v", n, err)
	}
	if _, err := w.Write([]byte("x")); err != nil {
		t.Error(err)
	}
	taken.Store(1001)
	n, err := io.Copy(io.Discard, r)
	if !errors.Is(err, heap.ErrStop) || n > guardStep {
		t.Errorf("%d bytes more, %v", n, err)
	}
	why := g.explain(context.Canceled)
	if want := "refused: gclog itself takes more than 1.0 KB of memory for a snapshot of process 4711, and the heap of a process of this size cannot take that"; why == nil || !strings.HasPrefix(why.Error(), want) || exit.Code(why) != exit.Data || !errors.Is(context.Cause(ctx), why) {
		t.Errorf("%v with exit code %d, want %q", why, exit.Code(why), want)
	}
	taken.Store(0)
	if _, err := w.Write([]byte("x")); !errors.Is(err, why) {
		t.Errorf("it is written: %v", err)
	}

	_, g, _ = guarded(t)
	if err := g.explain(io.ErrUnexpectedEOF); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("another error becomes %v", err)
	}
	if err := g.explain(&attach.TooLongError{Most: 2e6}); exit.Code(err) != exit.Data || !strings.HasPrefix(err.Error(), "refused: process 4711 has sent more than 2.0 MB, ") {
		t.Errorf("too much: %v", err)
	}
	for _, err := range []error{heap.ErrPause, io.EOF} { // the end and pauses are no failures
		if _, got := (&guardedReader{Reader: iotest.ErrReader(err), guard: g}).Read(make([]byte, 1)); !errors.Is(got, err) || errors.Is(got, heap.ErrStop) {
			t.Errorf("%v becomes %v", err, got)
		}
	}
	if _, err := (&guardedReader{Reader: iotest.ErrReader(os.ErrClosed), guard: g}).Read(make([]byte, 1)); !errors.Is(err, heap.ErrStop) {
		t.Errorf("a graph is made after %v", err)
	}
}

type zeros struct{}

func (zeros) Read(b []byte) (int, error) { clear(b); return len(b), nil }

// TestGuardExits: what does not end when a limit was reached ends gclog.
func TestGuardExits(t *testing.T) {
	for name, c := range map[string]struct {
		taken   uint64
		signals int
		want    string
	}{
		"memory": {taken: 1501, want: "takes more than 1.0 KB of memory"},
		"time":   {signals: guardOvertime + 1, want: "(RLIMIT_CPU) for a snapshot of process 4711"},
	} {
		ctx, g, taken := guarded(t)
		taken.Store(c.taken)
		done := make(chan struct{})
		var why error
		g.exit = func(err error) {
			why = err
			close(done)
		}
		overtime := make(chan os.Signal)
		go func() {
			for range c.signals {
				overtime <- syscall.SIGTERM
			}
		}()
		g.watch(done, overtime)
		if why == nil || !strings.Contains(why.Error(), c.want) || ctx.Err() == nil {
			t.Errorf("%s: %v, want %q", name, why, c.want)
		}
	}
}

// TestGuardRoom: gclog takes no more than what a container or service leaves it, so that it can say so
// before the kernel ends it.
func TestGuardRoom(t *testing.T) {
	for _, c := range []struct {
		limit uint64
		rooms []host.Room
		want  uint64
		least string
	}{
		{5000, nil, 5000, ""},
		{5000, []host.Room{{Of: "a", Limit: 1 << 40}}, 5000, ""},
		{5000, []host.Room{{Of: "a", Limit: 1 << 40}, {Of: "b", Limit: 3000, Used: 1000}}, 100 + 1800, "b"},
		{5000, []host.Room{{Of: "a", Limit: 10, Used: 20}}, 100, "a"},
	} {
		if got, least := boundBy(c.limit, 100, c.rooms); got != c.want || least != c.least {
			t.Errorf("%+v: %d by %q, want %d by %q", c.rooms, got, least, c.want, c.least)
		}
	}
	_, g, taken := guarded(t)
	g.least = "its control group"
	taken.Store(1001)
	if err := g.check(); err == nil || !strings.HasSuffix(err.Error(), ", and its control group leaves no more") {
		t.Errorf("the error is %v", err)
	}
}
