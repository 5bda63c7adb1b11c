package session_test

import (
	"context"
	"encoding/hex"
	"errors"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/gclog/gclog/internal/testing/ipc"
	"github.com/gclog/gclog/session"
)

// config returns the configuration of a harmless session.
func config() session.Config {
	return session.Config{BufferMB: 16, Providers: []session.Provider{{Name: "P", Keywords: 1, Level: 4}}}
}

// TestCollectTracingAtOnce: sessions of one client may be started concurrently; the race detector
// checks that.
func TestCollectTracingAtOnce(t *testing.T) {
	c := clientOf(ipc.Serve(t, func(conn net.Conn, request []byte) {
		if request[17] > 0x03 {
			_, _ = conn.Write(ipc.Refusal(ipc.UnknownCommand))
			return
		}
		_, _ = conn.Write(ipc.Answer(ipc.Unhex(t, "efcdab8967452301")))
	}))
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			s, err := c.StartTracing(t.Context(), config())
			if err != nil {
				t.Error(err)
				return
			}
			_ = s.Close()
		})
	}
	group.Wait()
}

// TestCollectTracing: the payload of each of the commands, to the byte, and the command that is
// chosen.
func TestCollectTracing(t *testing.T) {
	cfg := session.Config{
		BufferMB: 0x0102, RundownGC: true,
		Providers: []session.Provider{
			{Name: "Ab", Keywords: 0x8000000000000001, Level: 4, Filter: "k=v", Exclude: []uint32{203, 29}},
			{Name: "\U0001F600", Keywords: 1<<64 - 1, Level: 5, Only: []uint32{1, 35}},
			{Name: "Ab", Keywords: 1, Level: 4},
		},
	}
	const (
		buffer   = "02010000"
		nettrace = "01000000"
		three    = "03000000"
		first    = "0100000000000080 04000000  03000000 4100 6200 0000  04000000 6b00 3d00 7600 0000"
		second   = "ffffffffffffffff 05000000  03000000 3dd8 00de 0000  00000000"
		third    = "0100000000000000 04000000  03000000 4100 6200 0000  00000000"
		// The excluded events: the ids in the list are the unwanted ones.
		excluding = "00 02000000 cb000000 1d000000"
		only      = "01 02000000 01000000 23000000"
		allEvents = "00 00000000"
		noRundown = "00"
		noStacks  = "00"
		rundownGC = "0100000000000000"
		overHere  = "00000000" // the kind of session: events are sent over this connection
	)
	payloads := map[string]string{
		"0206": overHere + buffer + nettrace + rundownGC + noStacks + three + first + excluding + second + only + third + allEvents,
		"0205": buffer + nettrace + rundownGC + noStacks + three + first + second + third,
		"0204": buffer + nettrace + noRundown + noStacks + three + first + second + third,
		"0203": buffer + nettrace + noRundown + three + first + second + third,
	}
	order := []string{"0206", "0205", "0204", "0203"}
	for i, known := range order {
		t.Run(known, func(t *testing.T) {
			r := ipc.Serve(t, func(conn net.Conn, request []byte) {
				if hex.EncodeToString(request[16:18]) != known {
					_, _ = conn.Write(ipc.Refusal(ipc.UnknownCommand))
					return
				}
				_, _ = conn.Write(append(ipc.Answer(ipc.Unhex(t, "efcdab8967452301")), "Nettrace"...))
			})
			c := clientOf(r)
			s, err := c.StartTracing(t.Context(), cfg)
			if err != nil {
				t.Fatal(err)
			}
			b, err := io.ReadAll(s)
			if err != nil || string(b) != "Nettrace" {
				t.Errorf("stream %q, error %v", b, err)
			}
			_ = s.Close()
			if got := r.Commands(); !slices.Equal(got, order[:i+1]) {
				t.Errorf("commands %s, want %s", got, order[:i+1])
			}
			for _, request := range r.Seen() {
				if got, want := request[20:], ipc.Unhex(t, payloads[hex.EncodeToString(request[16:18])]); !slices.Equal(got, want) {
					t.Errorf("%x has the payload\n% x, want\n% x", request[16:18], got, want)
				}
			}
			// The next session does not start with the latest command again.
			s, err = c.StartTracing(t.Context(), cfg)
			if err != nil {
				t.Fatal(err)
			}
			_ = s.Close()
			if got, want := r.Commands(), append(slices.Clone(order[:i+1]), known); !slices.Equal(got, want) {
				t.Errorf("commands %s, want %s", got, want)
			}
		})
	}
}

// TestRundownMethods: the names of methods are requested by keywords, or with a whole rundown where
// there are none.
func TestRundownMethods(t *testing.T) {
	for known, want := range map[string]string{
		"0205": "10000000 01000000 3800000000000000 00 01000000",
		"0204": "10000000 01000000 01 00 01000000",
		"0203": "10000000 01000000 01 01000000",
	} {
		r := ipc.Serve(t, func(conn net.Conn, request []byte) {
			if hex.EncodeToString(request[16:18]) != known {
				_, _ = conn.Write(ipc.Refusal(ipc.UnknownCommand))
				return
			}
			_, _ = conn.Write(ipc.Answer(make([]byte, 8)))
		})
		cfg := config()
		cfg.RundownMethods = true
		s, err := clientOf(r).StartTracing(t.Context(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		_ = s.Close()
		requests := r.Seen()
		if got := requests[len(requests)-1][20:]; !slices.Equal(got[:len(ipc.Unhex(t, want))], ipc.Unhex(t, want)) {
			t.Errorf("%s: payload\n% x, want\n% x", known, got, ipc.Unhex(t, want))
		}
	}
}

// TestStacks: the stacks of events are requested by the commands that know a switch for them.
func TestStacks(t *testing.T) {
	for known, want := range map[string]string{
		"0206": "00000000 10000000 01000000 0000000000000000 01 01000000",
		"0205": "10000000 01000000 0000000000000000 01 01000000",
		"0204": "10000000 01000000 00 01 01000000",
		"0203": "10000000 01000000 00 01000000",
	} {
		r := ipc.Serve(t, func(conn net.Conn, request []byte) {
			if hex.EncodeToString(request[16:18]) != known {
				_, _ = conn.Write(ipc.Refusal(ipc.UnknownCommand))
				return
			}
			_, _ = conn.Write(ipc.Answer(make([]byte, 8)))
		})
		cfg := config()
		cfg.Stacks = true
		s, err := clientOf(r).StartTracing(t.Context(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		_ = s.Close()
		requests := r.Seen()
		got := requests[len(requests)-1][20:]
		if !slices.Equal(got[:len(ipc.Unhex(t, want))], ipc.Unhex(t, want)) {
			t.Errorf("%s: payload\n% x, want\n% x", known, got, ipc.Unhex(t, want))
		}
	}
}

// TestNoRundown: unless requested, nothing is sent at the end of a session.
func TestNoRundown(t *testing.T) {
	r := ipc.Serve(t, ipc.Send(ipc.Answer(make([]byte, 8))))
	s, err := clientOf(r).StartTracing(t.Context(), config())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	want := ipc.Unhex(t, "00000000 10000000 01000000 0000000000000000 00 01000000  0100000000000000 04000000 02000000 5000 0000 00000000 00 00000000")
	if got := r.Seen()[0][20:]; !slices.Equal(got, want) {
		t.Errorf("payload\n% x, want\n% x", got, want)
	}
}

// TestTracingRefused: only after an unknown command an older one is tried.
func TestTracingRefused(t *testing.T) {
	for code, commands := range map[uint32]string{
		ipc.UnknownCommand:       "0206 0205 0204 0203",
		session.CodeFail:         "0206",
		session.CodeNotSupported: "0206",
	} {
		r := ipc.Serve(t, ipc.Send(ipc.Refusal(code)))
		_, err := clientOf(r).StartTracing(t.Context(), config())
		var server *session.ServerError
		if !errors.As(err, &server) || server.Code != code {
			t.Errorf("error %v", err)
		}
		if got := strings.Join(r.Commands(), " "); got != commands {
			t.Errorf("%#x: commands %s, want %s", code, got, commands)
		}
	}
}

func TestTracingWithoutID(t *testing.T) {
	r := ipc.Serve(t, ipc.Send(ipc.Answer([]byte{1, 2, 3})))
	if _, err := clientOf(r).StartTracing(t.Context(), config()); err == nil {
		t.Error("an answer without the id of the session is taken")
	}
}

// TestValidation: a configuration that would make a runtime hang or crash is rejected before
// anything is sent.
func TestValidation(t *testing.T) {
	many := make([]session.Provider, 1001)
	for i := range many {
		many[i] = session.Provider{Name: "P", Level: 1}
	}
	long := strings.Repeat("x", 40_000)
	for name, tc := range map[string]struct {
		change func(*session.Config)
		want   string
	}{
		"no buffer":            {func(c *session.Config) { c.BufferMB = 0 }, "a buffer of 0 MB: it must be 1 to 16384 MB"},
		"a huge buffer":        {func(c *session.Config) { c.BufferMB = 16<<10 + 1 }, "a buffer of 16385 MB"},
		"level 6":              {func(c *session.Config) { c.Providers[0].Level = 6 }, "provider P with level 6: the highest is 5"},
		"any level":            {func(c *session.Config) { c.Providers[0].Level = 1<<32 - 1 }, "the highest is 5"},
		"no providers":         {func(c *session.Config) { c.Providers = nil }, "0 providers: there must be 1 to 1000"},
		"too many providers":   {func(c *session.Config) { c.Providers = many }, "1001 providers"},
		"an empty name":        {func(c *session.Config) { c.Providers = append(c.Providers, session.Provider{Level: 1}) }, "a provider without a name"},
		"too long for a frame": {func(c *session.Config) { c.Providers[0].Filter = long }, "the protocol allows 65535"},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := config()
			tc.change(&cfg)
			c := &session.Client{Dial: func(context.Context) (net.Conn, error) {
				t.Error("it connects to the runtime")
				return nil, net.ErrClosed
			}}
			if _, err := c.StartTracing(t.Context(), cfg); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error %v, want %s", err, tc.want)
			}
		})
	}
	for _, change := range []func(*session.Config){
		func(c *session.Config) { c.BufferMB = 1 },
		func(c *session.Config) { c.BufferMB = 16 << 10 },
		func(c *session.Config) { c.Providers[0].Level = 0 },
		func(c *session.Config) { c.Providers[0].Level = 5 },
		func(c *session.Config) { c.Providers = many[:1000] },
	} {
		cfg := config()
		change(&cfg)
		if err := cfg.Validate(); err != nil {
			t.Error(err)
		}
	}
}

// TestStop: the session's id is sent over a separate connection while the stream is read to its
// end. The runtime answers after it has written everything, which is more than fits into a socket.
func TestStop(t *testing.T) {
	const more = 4 << 20
	stopped, written := make(chan struct{}), make(chan struct{})
	r := ipc.Serve(t, func(conn net.Conn, request []byte) {
		if request[17] != 0x01 {
			_, _ = conn.Write(append(ipc.Answer(ipc.Unhex(t, "efcdab8967452301")), "begin"...))
			<-stopped
			_, _ = conn.Write(make([]byte, more))
			close(written)
			return
		}
		if want := ipc.Unhex(t, magicHex+"1c00 02 01 0000 efcdab8967452301"); !slices.Equal(request, want) {
			t.Errorf("StopTracing is % x, want % x", request, want)
		}
		close(stopped)
		<-written
		_, _ = conn.Write(ipc.Answer(request[20:]))
	})
	s, err := clientOf(r).StartTracing(t.Context(), config())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	stop := make(chan error, 1)
	go func() { stop <- s.Stop(t.Context()) }()
	n, err := io.Copy(io.Discard, s)
	if err != nil || n != int64(len("begin")+more) {
		t.Errorf("%d bytes, error %v", n, err)
	}
	if err := <-stop; err != nil {
		t.Error(err)
	}
}

// TestStopNoAnswer: a runtime that does not answer does not block the caller.
func TestStopNoAnswer(t *testing.T) {
	r := ipc.Serve(t, func(conn net.Conn, request []byte) {
		if request[17] != 0x01 {
			_, _ = conn.Write(append(ipc.Answer(make([]byte, 8)), 'a'))
		}
		ipc.Hang(conn)
	})
	c := clientOf(r)
	s, err := c.StartTracing(t.Context(), config())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	c.Timeout = impatience
	if err := s.Stop(t.Context()); !errors.Is(err, session.ErrNoAnswer) {
		t.Errorf("error %v", err)
	}
}

// TestIdle: silence is an error after which reading can continue. The deadline of the request does
// not end the stream.
func TestIdle(t *testing.T) {
	more := make(chan struct{})
	r := ipc.Serve(t, func(conn net.Conn, _ []byte) {
		_, _ = conn.Write(append(ipc.Answer(make([]byte, 8)), 'a'))
		<-more
		_, _ = conn.Write([]byte{'b'})
	})
	s, err := clientOf(r).StartTracing(t.Context(), config())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	s.IdleTimeout = patience
	b := make([]byte, 8)
	if n, err := s.Read(b); n != 1 || err != nil || b[0] != 'a' {
		t.Fatalf("%q, error %v", b[:n], err)
	}
	s.IdleTimeout = impatience
	for range 2 {
		if n, err := s.Read(b); n != 0 || !session.IsIdle(err) || !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Fatalf("%q, error %v", b[:n], err)
		}
	}
	s.IdleTimeout = patience
	close(more)
	if n, err := s.Read(b); n != 1 || err != nil || b[0] != 'b' {
		t.Fatalf("%q, error %v", b[:n], err)
	}
	if n, err := s.Read(b); n != 0 || !errors.Is(err, io.EOF) || session.IsIdle(err) {
		t.Errorf("%d bytes, error %v", n, err)
	}
}

// TestCloseStream: Close ends a Read that waits, and the runtime notices it.
func TestCloseStream(t *testing.T) {
	left := make(chan struct{})
	r := ipc.Serve(t, func(conn net.Conn, _ []byte) {
		_, _ = conn.Write(ipc.Answer(make([]byte, 8)))
		ipc.Hang(conn)
		close(left)
	})
	s, err := clientOf(r).StartTracing(t.Context(), config())
	if err != nil {
		t.Fatal(err)
	}
	end := make(chan error, 1)
	go func() {
		_, err := s.Read(make([]byte, 1))
		end <- err
	}()
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if err := <-end; !errors.Is(err, io.EOF) {
		t.Errorf("the Read that waited returns %v", err)
	}
	<-left
	s.IdleTimeout = patience
	if _, err := s.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		t.Errorf("a Read of what is closed returns %v", err)
	}
}

// TestReset: for the reader, a target that was killed is a stream that ends, and so is a stream that
// was closed while Read waited.
func TestReset(t *testing.T) {
	for name, end := range map[string]func(conn net.Conn) error{
		"reset": func(net.Conn) error {
			return &net.OpError{Op: "read", Net: "unix", Err: os.NewSyscallError("read", syscall.ECONNRESET)}
		},
		"closed when the deadline has passed": func(conn net.Conn) error {
			_ = conn.Close()
			return os.ErrDeadlineExceeded
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, conn := failing(t, ipc.Answer(make([]byte, 8)))
			conn.fail = func() error { return end(conn.Conn) }
			if n, err := s.Read(make([]byte, 1)); n != 0 || !errors.Is(err, io.EOF) {
				t.Errorf("%d bytes, error %v, want %v", n, err, io.EOF)
			}
		})
	}
}

// TestIdleLate: a Read whose deadline passed before it started, as on a busy host, returns what has
// arrived meanwhile, and does not report silence.
func TestIdleLate(t *testing.T) {
	s, conn := failing(t, append(ipc.Answer(make([]byte, 8)), "Nettrace"...))
	for n := range len("Nettrace") { // one byte at a time: all of them arrive sooner or later
		if n > 0 { // the rest has arrived
			conn.fail = func() error {
				conn.fail = nil
				return os.ErrDeadlineExceeded
			}
		}
		s.IdleTimeout = patience
		if got, err := s.Read(make([]byte, 1)); got != 1 || err != nil {
			t.Fatalf("byte %d: %d, %v", n, got, err)
		}
	}
}

// A failingConn is a connection whose Read returns the error of fail once fail is set.
type failingConn struct {
	net.Conn
	fail func() error
}

func (c *failingConn) Read(p []byte) (int, error) {
	if c.fail != nil {
		return 0, c.fail()
	}
	return c.Conn.Read(p)
}

// failing starts a session of a runtime that sends this and then nothing.
func failing(t *testing.T, sent []byte) (*session.Stream, *failingConn) {
	t.Helper()
	r := ipc.Serve(t, func(conn net.Conn, _ []byte) {
		_, _ = conn.Write(sent)
		ipc.Hang(conn)
	})
	c := clientOf(r)
	dial, conn := c.Dial, &failingConn{}
	c.Dial = func(ctx context.Context) (_ net.Conn, err error) {
		conn.Conn, err = dial(ctx)
		return conn, err
	}
	s, err := c.StartTracing(t.Context(), config())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s, conn
}

// TestStartTracingGivenUp: a cancelled request for a session waits for its answer, because a
// process of .NET Core 3.1 would crash otherwise. If the session has started by then it is
// returned, and can be read and ended like any other.
func TestStartTracingGivenUp(t *testing.T) {
	const more = 4 << 20
	asked, left, stopped := make(chan struct{}), make(chan error, 1), make(chan []byte, 1)
	written := make(chan error, 1)
	r := ipc.Serve(t, func(conn net.Conn, request []byte) {
		if request[17] == 0x01 {
			stopped <- request[20:]
			_ = conn.Close() // only the end of the stream matters
			return
		}
		close(asked)
		// While the client is connected, nothing can be read, and nothing ends.
		_ = conn.SetReadDeadline(time.Now().Add(impatience))
		_, err := conn.Read(make([]byte, 1))
		left <- err
		_, _ = conn.Write(append(ipc.Answer(ipc.Unhex(t, "efcdab8967452301")), "Nettrace"...))
		select {
		case id := <-stopped:
			if want := ipc.Unhex(t, "efcdab8967452301"); !slices.Equal(id, want) {
				t.Errorf("session % x is stopped, want % x", id, want)
			}
			_, err = conn.Write(make([]byte, more))
			written <- err
		case <-time.After(patience):
			written <- errors.New("nobody has stopped the session")
		}
	})
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-asked
		cancel()
	}()
	c := clientOf(r)
	dial := c.Dial
	c.Dial = func(ctx context.Context) (net.Conn, error) {
		conn, err := dial(ctx)
		return patient{conn}, err
	}
	s, err := c.StartTracing(ctx, config())
	if err != nil {
		t.Fatalf("error %v, and a session has begun", err)
	}
	if err := <-left; !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("the connection was left before the answer: %v", err)
	}
	s.Discard(t.Context())
	if err := <-written; err != nil {
		t.Errorf("the session was not ended in good order: %v", err)
	}
}

// patient is a connection on which nothing that is waited for comes too late. TestRequestTime has the
// times themselves.
type patient struct{ net.Conn }

func (c patient) SetDeadline(at time.Time) error {
	if at.After(time.Now()) {
		at = at.Add(patience)
	}
	return c.Conn.SetDeadline(at)
}

// TestStopBeforeBegin: a session that has sent nothing is not stopped, in none of the ways of
// ending it: its runtime may be suspended during startup, and the next session would make it crash.
// The connection is closed instead.
func TestStopBeforeBegin(t *testing.T) {
	for name, end := range map[string]func(*session.Stream) error{
		"stop": func(s *session.Stream) error { return s.Stop(context.Background()) },
		"stop in time": func(s *session.Stream) error {
			ctx, cancel := context.WithTimeout(context.Background(), impatience)
			defer cancel()
			return s.Stop(ctx)
		},
		"discard": func(s *session.Stream) error {
			ctx, cancel := context.WithTimeout(context.Background(), impatience)
			defer cancel()
			s.Discard(ctx)
			return context.DeadlineExceeded
		},
	} {
		t.Run(name, func(t *testing.T) {
			ended := make(chan struct{})
			r := ipc.Serve(t, func(conn net.Conn, request []byte) {
				if request[17] == 0x01 {
					t.Error("the session was stopped")
					return
				}
				_, _ = conn.Write(ipc.Answer(make([]byte, 8)))
				ipc.Hang(conn)
				close(ended)
			})
			c := clientOf(r)
			s, err := c.StartTracing(t.Context(), config())
			if err != nil {
				t.Fatal(err)
			}
			c.Timeout = impatience
			if err := end(s); !errors.Is(err, session.ErrNoAnswer) && !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("error %v", err)
			}
			<-ended
		})
	}
}

// TestStopGivenUp: after a cancelled Stop of a session that has sent data, reading can continue.
func TestStopGivenUp(t *testing.T) {
	r := ipc.Serve(t, func(conn net.Conn, request []byte) {
		if request[17] == 0x01 {
			ipc.Hang(conn)
			return
		}
		_, _ = conn.Write(append(ipc.Answer(make([]byte, 8)), strings.Repeat("x", 30)...))
		ipc.Hang(conn)
	})
	s, err := clientOf(r).StartTracing(t.Context(), config())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for range 30 {
		if n, err := s.Read(make([]byte, 1)); n != 1 || err != nil {
			t.Fatalf("%d bytes, error %v", n, err)
		}
		if err := s.Stop(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("error %v", err)
		}
	}
}

// TestStopWhenOver: a session that the runtime has ended needs no Stop.
func TestStopWhenOver(t *testing.T) {
	r := ipc.Serve(t, func(conn net.Conn, request []byte) {
		if request[17] == 0x01 {
			t.Error("the session was stopped")
		}
		_, _ = conn.Write(ipc.Answer(make([]byte, 8)))
	})
	s, err := clientOf(r).StartTracing(t.Context(), config())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		t.Fatalf("error %v", err)
	}
	if err := s.Stop(t.Context()); err != nil {
		t.Errorf("error %v", err)
	}
}

// TestHeapUnsafe: a Client, which does not know the runtime, asks for no walk of its heap.
func TestHeapUnsafe(t *testing.T) {
	r := ipc.Serve(t, ipc.Send(ipc.Answer(make([]byte, 8))))
	cfg := session.Config{BufferMB: 1, Providers: []session.Provider{{Name: "Microsoft-Windows-DotNETRuntime", Keywords: 0x100000}}}
	if _, err := clientOf(r).StartTracing(t.Context(), cfg); err == nil || len(r.Seen()) > 0 {
		t.Errorf("error %v, requests %v", err, r.Commands())
	}
}
