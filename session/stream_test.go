package session_test

import (
	"context"
	"errors"
	"io"
	"net"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gclog/gclog/internal/testing/ipc"
	"github.com/gclog/gclog/session"
)

// piped starts a session with a made-up runtime, in the fake time of synctest. What is written to
// the returned connection arrives in the stream.
func piped(t *testing.T) (*session.Stream, net.Conn) {
	t.Helper()
	ours, theirs := net.Pipe()
	c := &session.Client{Dial: func(context.Context) (net.Conn, error) { return ours, nil }}
	go func() {
		ipc.ReadRequest(theirs)
		_, _ = theirs.Write(ipc.Answer(make([]byte, 8)))
	}()
	s, err := c.StartTracing(t.Context(), config())
	if err != nil {
		t.Fatal(err)
	}
	return s, theirs
}

// TestSilence: silence ends at a multiple of 50 ms for all streams at once, not before its limit,
// and if a millisecond later there is still nothing.
func TestSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, theirs := piped(t)
		defer theirs.Close()
		defer s.Close()
		began := time.Now()
		at := func() time.Duration { return time.Since(began) }
		silent := func(want time.Duration) {
			t.Helper()
			if n, err := s.Read(make([]byte, 8)); n != 0 || !session.IsIdle(err) || at() != want {
				t.Errorf("%d bytes, error %v after %v, want silence after %v", n, err, at(), want)
			}
		}
		const ms = time.Millisecond
		s.IdleTimeout = 100 * ms
		silent(101 * ms)
		silent(251 * ms)
		time.Sleep(49 * ms) // 300
		silent(401 * ms)
		time.Sleep(49*ms + 1) // a nanosecond after 450
		silent(601 * ms)
	})
	synctest.Test(t, func(t *testing.T) {
		s, theirs := piped(t)
		defer theirs.Close()
		defer s.Close()
		began := time.Now()
		time.AfterFunc(time.Hour, func() { _, _ = theirs.Write([]byte("abc")) })
		if n, err := s.Read(make([]byte, 8)); n != 3 || err != nil || time.Since(began) != time.Hour {
			t.Errorf("without a time: %d bytes, error %v after %v", n, err, time.Since(began))
		}
	})
}

// TestSetPatience: the current silence may have another limit until a byte arrives, or none until the
// reader is woken.
func TestSetPatience(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, theirs := piped(t)
		defer theirs.Close()
		defer s.Close()
		began := time.Now()
		const ms = time.Millisecond
		read := func(what string, want int, after time.Duration) {
			t.Helper()
			since := time.Now()
			n, err := s.Read(make([]byte, 8))
			if n != want || (err == nil) != (want > 0) || err != nil && !session.IsIdle(err) || time.Since(since) != after {
				t.Errorf("%s: %d bytes, error %v after %v; want %d after %v", what, n, err, time.Since(since), want, after)
			}
			time.Sleep(50*ms - time.Since(began)%(50*ms))
		}
		s.IdleTimeout = 100 * ms
		s.SetPatience(400 * ms)
		read("patience", 0, 401*ms)
		read("patience, again", 0, 401*ms)
		time.AfterFunc(200*ms, func() { _, _ = theirs.Write([]byte("a")) })
		read("a byte", 1, 200*ms)
		read("after a byte", 0, 101*ms)
		s.SetPatience(0)
		time.AfterFunc(time.Hour, s.Wake)
		read("forever", 0, time.Hour)
		s.Wake()
		read("woken before", 0, 0)
		time.AfterFunc(time.Hour, s.Wake)
		read("woken once", 0, time.Hour)
	})
}

// TestRequestTime: all steps of a request together have the time of one request. Only a cancelled
// request that starts a session is waited for a second longer.
func TestRequestTime(t *testing.T) {
	start := func(ctx context.Context, c *session.Client) error {
		s, err := c.StartTracing(ctx, config())
		if err == nil {
			_ = s.Close()
		}
		return err
	}
	resume := func(ctx context.Context, c *session.Client) error { return c.Resume(ctx) }
	for name, tc := range map[string]struct {
		ask     func(context.Context, *session.Client) error
		timeout time.Duration // of the client
		given   time.Duration // when the caller cancels; 0: never
		answers time.Duration // when the runtime answers; 0: never
		deaf    bool          // the runtime does not even read the request
		want    error
		after   time.Duration
	}{
		"silence":                   {ask: resume, want: session.ErrNoAnswer, after: 5 * time.Second},
		"silence, less time":        {ask: resume, timeout: time.Second, want: session.ErrNoAnswer, after: time.Second},
		"given up":                  {ask: resume, given: 2 * time.Second, want: context.Canceled, after: 2 * time.Second},
		"an answer":                 {ask: resume, answers: 4 * time.Second, after: 4 * time.Second},
		"a session, silence":        {ask: start, want: session.ErrNoAnswer, after: 6 * time.Second},
		"a session, given up":       {ask: start, given: 2 * time.Second, want: context.Canceled, after: 3 * time.Second},
		"a session, given up early": {ask: start, given: 2 * time.Second, answers: 2*time.Second + 900*time.Millisecond, after: 2*time.Second + 900*time.Millisecond},
		"a session, late":           {ask: start, answers: 5*time.Second + 900*time.Millisecond, after: 5*time.Second + 900*time.Millisecond},
		"nobody reads":              {ask: resume, deaf: true, want: session.ErrNoAnswer, after: 5 * time.Second},
		"an environment": {
			ask:     func(ctx context.Context, c *session.Client) error { _, err := environment(ctx, c); return err },
			answers: time.Second, want: session.ErrNoAnswer, after: 5 * time.Second,
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ours, theirs := net.Pipe()
				defer theirs.Close()
				c := &session.Client{Timeout: tc.timeout, Dial: func(context.Context) (net.Conn, error) { return ours, nil }}
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				if tc.given > 0 {
					time.AfterFunc(tc.given, cancel)
				}
				go func() {
					if tc.deaf {
						return
					}
					request := ipc.ReadRequest(theirs)
					if tc.answers > 0 {
						time.Sleep(tc.answers)
						_, _ = theirs.Write(ipc.Answer([]byte{4, 0, 0, 0, 0, 0, 0, 0}[:4+4*map[byte]int{2: 1}[request[16]]]))
					}
				}()
				since := time.Now()
				if err := tc.ask(ctx, c); !errors.Is(err, tc.want) || time.Since(since) != tc.after {
					t.Errorf("error %v after %v, want %v after %v", err, time.Since(since), tc.want, tc.after)
				}
				if n, err := theirs.Read(make([]byte, 1)); n != 0 || !errors.Is(err, io.EOF) {
					t.Errorf("%d bytes, error %v: the connection was left open", n, err)
				}
			})
		})
	}
}

// TestGivenUpInDial: a request cancelled while connecting is never sent.
func TestGivenUpInDial(t *testing.T) {
	ours, theirs := net.Pipe()
	ctx, cancel := context.WithCancel(t.Context())
	c := &session.Client{Dial: func(context.Context) (net.Conn, error) {
		cancel()
		return ours, nil
	}}
	asked := make(chan int)
	go func() {
		n, _ := theirs.Read(make([]byte, 1))
		asked <- n
	}()
	if _, err := c.StartTracing(ctx, config()); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if n := <-asked; n != 0 {
		t.Error("the runtime was asked")
	}
}

// TestCloseReadOfOthers: a connection that cannot be closed for reading only is closed.
func TestCloseReadOfOthers(t *testing.T) {
	ours, theirs := net.Pipe()
	c := &session.Client{Dial: func(context.Context) (net.Conn, error) { return ours, nil }}
	go func() {
		ipc.ReadRequest(theirs)
		_, _ = theirs.Write(ipc.Answer(make([]byte, 8)))
	}()
	s, err := c.StartTracing(t.Context(), config())
	if err != nil {
		t.Fatal(err)
	}
	if err := s.CloseRead(); err != nil {
		t.Error(err)
	}
	if n, err := theirs.Read(make([]byte, 1)); n != 0 || !errors.Is(err, io.EOF) {
		t.Errorf("%d bytes, error %v", n, err)
	}
}

// TestDiscard: a session is discarded as soon as the runtime has ended it. A runtime that does not
// end it does not block the caller for longer than a request may take.
func TestDiscard(t *testing.T) {
	for name, tc := range map[string]struct {
		silent  bool          // no byte of the stream arrives
		answers bool          // the runtime answers the request to end the session
		ends    time.Duration // when it then ends the stream; 0: never
		given   time.Duration // when the caller gives up; 0: never
		after   time.Duration // when Discard returns
	}{
		"it ends":                   {answers: true, ends: time.Second, after: time.Second},
		"it is silent":              {silent: true, after: 5 * time.Second},
		"it does not answer":        {after: 5 * time.Second},
		"it ends, but no answer":    {ends: time.Second, after: 5 * time.Second},
		"it answers, and goes on":   {answers: true, after: 5 * time.Second},
		"the caller gives up":       {answers: true, given: 2 * time.Second, after: 2 * time.Second},
		"it is silent, and left so": {silent: true, given: 2 * time.Second, after: 2 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				asked, read := make(chan struct{}), make(chan struct{})
				runtime := func(conn net.Conn) {
					defer conn.Close()
					if request := ipc.ReadRequest(conn); request[17] == 0x01 { // StopTracing
						close(asked)
						if tc.answers {
							_, _ = conn.Write(ipc.Answer(make([]byte, 8)))
						}
						ipc.Hang(conn)
						return
					}
					_, _ = conn.Write(ipc.Answer(make([]byte, 8)))
					if tc.silent {
						ipc.Hang(conn)
						return
					}
					_, _ = conn.Write([]byte("a"))
					<-asked
					if tc.ends == 0 {
						ipc.Hang(conn)
						return
					}
					time.Sleep(tc.ends)
					if _, err := conn.Write(make([]byte, 1<<20)); err != nil {
						t.Errorf("the rest is not read: %v", err)
					}
					close(read)
				}
				var closed []*atomic.Int32 // of each connection
				c := &session.Client{Dial: func(context.Context) (net.Conn, error) {
					ours, theirs := net.Pipe()
					go runtime(theirs)
					closed = append(closed, new(atomic.Int32))
					return countedConn{ours, closed[len(closed)-1]}, nil
				}}
				s, err := c.StartTracing(t.Context(), config())
				if err != nil {
					t.Fatal(err)
				}
				s.IdleTimeout = time.Millisecond // it no longer applies
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				if tc.given > 0 {
					time.AfterFunc(tc.given, cancel)
				}
				since := time.Now()
				s.Wake() // nor does what was asked before
				s.Discard(ctx)
				if took := time.Since(since); took != tc.after {
					t.Errorf("it took %v, want %v", took, tc.after)
				}
				for i, n := range closed {
					if n.Load() == 0 {
						t.Errorf("connection %d was left open", i)
					}
				}
				if tc.ends > 0 {
					<-read
				}
			})
		})
	}
}
