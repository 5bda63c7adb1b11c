package attach

import (
	"context"
	"encoding/binary"
	"errors"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gclog/gclog/internal/fakeruntime"
	"github.com/gclog/gclog/internal/nettracetest"
	"github.com/gclog/gclog/parse/clr"
	"github.com/gclog/gclog/session"
)

// TestInduceAtAnEnd: of a background collection that ends as the session begins nothing is
// seen but the end. It is not under way: where nothing is collected, that is not waited for.
func TestInduceAtAnEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pipes := pipes{conns: make(chan net.Conn), closed: make(chan struct{})}
		runtime, err := fakeruntime.Start(fakeruntime.Config{Listener: pipes, PID: 1, Version: "9.0.0", Trace: func(s *fakeruntime.Session) string {
			w := endOfBackground()
			if _, err := s.Conn.Write(w.Take()); err != nil {
				return "left"
			}
			<-s.Stopped
			w.End()
			_, _ = s.Conn.Write(w.Take())
			return "stopped"
		}})
		if err != nil {
			t.Fatal(err)
		}
		defer runtime.Close()
		target := &session.Target{Client: session.Client{Dial: pipes.dial}, Process: session.Process{PID: 1}}
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		_, err = Induce(ctx, target, InduceOptions{Wait: true, NativeAOT: true, Timeout: time.Minute})
		if not, ok := errors.AsType[*NotInducedError](err); !ok || not.After != nativeTime {
			t.Errorf("it says %v", err)
		}
	})
}

// endOfBackground is a stream that begins with the end and the sizes of a collection.
func endOfBackground() *nettracetest.V4 {
	kind := func(id, version uint32) nettracetest.Kind {
		return nettracetest.Kind{ID: id, Provider: clr.RuntimeProvider, EventID: id, Version: version, Level: clr.LevelInformational, Keywords: clr.KeywordGC}
	}
	w := &nettracetest.V4{}
	clock := nettracetest.DefaultClock()
	w.Begin(clock)
	w.Metadata(kind(clr.IDGCEnd, 1), kind(clr.IDGCHeapStats, 2))
	end := binary.LittleEndian.AppendUint32(nil, 7) // its number
	end = binary.LittleEndian.AppendUint32(end, 2)  // its generation
	w.Events(
		nettracetest.Row{Kind: clr.IDGCEnd, Thread: 5, Ticks: clock.Ticks + 1, Sorted: true, Payload: append(end, 0, 0)},
		nettracetest.Row{Kind: clr.IDGCHeapStats, Thread: 5, Ticks: clock.Ticks + 2, Payload: make([]byte, 110)},
	)
	return w
}

// pipes is a listener in memory.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
}

func (p pipes) dial(ctx context.Context) (net.Conn, error) {
	near, far := net.Pipe()
	select {
	case p.conns <- far:
		return near, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

// Accept implements net.Listener.
func (p pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (p pipes) Close() error { close(p.closed); return nil }

// Addr implements net.Listener.
func (p pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipes", Net: "unix"} }

// TestWitnessRecognizes: a collection is known by its number where it has one, else by
// what it is.
func TestWitnessRecognizes(t *testing.T) {
	start := func(depth uint32, kind clr.GCType, reason clr.Reason, sequence uint64) *clr.GCStart {
		return &clr.GCStart{Depth: depth, Type: kind, Reason: reason, ClientSequence: sequence, HasDepth: true}
	}
	for _, test := range []struct {
		name     string
		sequence uint64
		start    *clr.GCStart
		want     bool
	}{
		{"as asked for", 0, start(2, clr.TypeBlocking, clr.ReasonInduced, 0), true},
		{"as asked for, with somebody's number", 0, start(2, clr.TypeBlocking, clr.ReasonInduced, 9), true},
		{"gen1", 0, start(1, clr.TypeBlocking, clr.ReasonInduced, 0), false},
		{"in the background", 0, start(2, clr.TypeBackground, clr.ReasonInduced, 0), false},
		{"by allocations", 0, start(2, clr.TypeBlocking, clr.ReasonAllocSmall, 0), false},
		{"not forced", 0, start(2, clr.TypeBlocking, clr.ReasonInducedNotForced, 0), false},
		{"its number", 7, start(2, clr.TypeBlocking, clr.ReasonInduced, 7), true},
		{"another number", 7, start(2, clr.TypeBlocking, clr.ReasonInduced, 8), false},
		{"no number", 7, start(2, clr.TypeBlocking, clr.ReasonInduced, 0), false},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := &witness{sequence: test.sequence}
			if got := w.isIt(test.start); got != test.want {
				t.Errorf("got %v, want %v", got, test.want)
			}
		})
	}
}
