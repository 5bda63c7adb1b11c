package session_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/gclog/gclog/internal/testing/ipc"
	"github.com/gclog/gclog/session"
)

// TestPlan: when a Poller looks at its streams, and whether it listens until then.
func TestPlan(t *testing.T) {
	zero := time.Time{}
	at := func(ms time.Duration) time.Time { return time.Unix(1_800_000_000, 0).Add(ms * time.Millisecond) }
	for name, tc := range map[string]struct {
		now, next time.Time
		arrived   bool
		at        time.Time
		listen    bool
	}{
		"nothing to wait for":             {now: at(30), at: zero, listen: true},
		"nobody waits, something arrived": {now: at(30), arrived: true, at: at(100)},
		"at a multiple":                   {now: at(100), arrived: true, at: at(200)},
		"a Read ends soon":                {now: at(30), next: at(100), at: at(100)},
		"a Read ends sooner":              {now: at(30), next: at(60), at: at(60)},
		"the same, something arrived":     {now: at(30), next: at(60), arrived: true, at: at(60)},
		"a Read ends later":               {now: at(30), next: at(200), at: at(200), listen: true},
		"the same, and something arrived": {now: at(30), next: at(200), arrived: true, at: at(100)},
	} {
		if when, listen := session.Plan(tc.now, tc.next, tc.arrived); !when.Equal(tc.at) || listen != tc.listen {
			t.Errorf("%s: at %v, listen %v; want %v, %v", name, when, listen, tc.at, tc.listen)
		}
	}
}

// TestBusyAfter: a stream that has sent much is read as its data arrives, until it has sent little for
// several times.
func TestBusyAfter(t *testing.T) {
	read := append([]int{99, 100}, make([]int, 15)...)
	read = append(read, 1000)
	read = append(read, make([]int, 17)...)
	for i, busy := range session.BusyAfter(100, read...) {
		if want := i > 0 && i < len(read)-2; busy != want {
			t.Errorf("after %d bytes, the %d. time: %v", read[i], i+1, busy)
		}
	}
}

func newPoller(t *testing.T) *session.Poller {
	t.Helper()
	p, err := session.NewPoller()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	return p
}

// polledStream starts a session with a made-up runtime. What is written to the returned connection
// arrives in the stream.
func polledStream(t *testing.T, p *session.Poller) (*session.Stream, net.Conn) {
	t.Helper()
	s, theirs := socketStream(t)
	s.PollWith(p)
	if !p.Polls(s) {
		t.Fatal("the stream is not polled")
	}
	return s, theirs
}

func socketStream(t *testing.T) (*session.Stream, net.Conn) {
	t.Helper()
	l, err := net.Listen("unix", filepath.Join(t.TempDir(), "s"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	accepted := make(chan net.Conn, 1)
	go func() {
		conn, err := l.Accept()
		if err != nil {
			close(accepted)
			return
		}
		ipc.ReadRequest(conn)
		_, _ = conn.Write(ipc.Answer(make([]byte, 8)))
		accepted <- conn
	}()
	c := &session.Client{Dial: func(context.Context) (net.Conn, error) { return net.Dial("unix", l.Addr().String()) }}
	s, err := c.StartTracing(t.Context(), config())
	if err != nil {
		t.Fatal(err)
	}
	theirs := <-accepted
	if theirs == nil {
		t.Fatal("there is no connection")
	}
	t.Cleanup(func() { _, _ = s.Close(), theirs.Close() })
	return s, theirs
}

// TestPollerReads: everything that many streams send arrives, whatever they send at a time and
// however long they are silent, up to their end.
func TestPollerReads(t *testing.T) {
	p := newPoller(t)
	var all sync.WaitGroup
	for i := range uint64(40) {
		s, theirs := polledStream(t, p)
		s.IdleTimeout = time.Duration(i%3) * 20 * time.Millisecond // 0: none
		sent, received := sha256.New(), sha256.New()
		writer := make(chan struct{})
		go func() {
			defer close(writer)
			defer theirs.Close()
			random := rand.New(rand.NewPCG(1, i))
			for range 10 {
				b := make([]byte, random.IntN(100))
				if random.IntN(4) == 0 {
					b = make([]byte, random.IntN(1<<20)) // does not fit into the socket
				}
				for i := range b {
					b[i] = byte(random.Uint32())
				}
				sent.Write(b)
				if _, err := theirs.Write(b); err != nil {
					t.Error(err)
				}
				time.Sleep(time.Duration(random.IntN(int(50 * time.Millisecond))))
			}
		}()
		all.Go(func() {
			b := make([]byte, 16<<10)
			for {
				n, err := s.Read(b)
				received.Write(b[:n])
				if errors.Is(err, io.EOF) {
					break
				}
				if err != nil && !session.IsIdle(err) {
					t.Error(err)
					return
				}
			}
			<-writer
			if !bytes.Equal(sent.Sum(nil), received.Sum(nil)) {
				t.Errorf("stream %d: something else arrived than was sent", i)
			}
		})
	}
	all.Wait()
}

// TestPollerSilence: Read returns after a silence, at once when it is woken, and again with data.
func TestPollerSilence(t *testing.T) {
	p := newPoller(t)
	s, theirs := polledStream(t, p)
	s.IdleTimeout = time.Millisecond
	silent := func(when string) {
		t.Helper()
		if n, err := s.Read(make([]byte, 8)); n != 0 || !session.IsIdle(err) {
			t.Errorf("%s: %d bytes, error %v", when, n, err)
		}
	}
	sends := func(text string) {
		t.Helper()
		b := make([]byte, 8)
		if n, err := s.Read(b); string(b[:n]) != text || err != nil {
			t.Errorf("%q, error %v, want %q", b[:n], err, text)
		}
	}
	silent("at first")
	silent("again")
	_, _ = theirs.Write([]byte("a"))
	sends("a")
	silent("after a byte")
	s.SetPatience(0)
	wait := func() {
		waitFor(t, p.Rests)
	}
	go func() { wait(); s.Wake() }()
	silent("woken")
	s.Wake()
	silent("woken before")
	s.SetPatience(0)
	go func() { wait(); _, _ = theirs.Write([]byte("b")) }()
	sends("b")
}

// TestPollerNew: the first stream of a Poller need not have an IdleTimeout to be read.
func TestPollerNew(t *testing.T) {
	p := newPoller(t)
	s, theirs := polledStream(t, p)
	time.AfterFunc(patience, func() { _ = s.Close() })
	go func() {
		waitFor(t, p.Rests)
		_, _ = theirs.Write([]byte("a"))
	}()
	if n, err := s.Read(make([]byte, 8)); n != 1 || err != nil {
		t.Errorf("%d bytes, error %v", n, err)
	}
}

// TestPollerFull: a stream that the kernel does not let a Poller wait for leaves nothing behind there,
// and waits itself.
func TestPollerFull(t *testing.T) {
	p := newPoller(t)
	accept := p.RefuseStreams()
	s, theirs := socketStream(t)
	s.PollWith(p)
	if n := p.Watched(); p.Polls(s) || n != 0 {
		t.Errorf("polled: %v, %d descriptors are watched", p.Polls(s), n)
	}
	go func() { _, _ = theirs.Write([]byte("a")) }()
	if n, err := s.Read(make([]byte, 8)); n != 1 || err != nil {
		t.Errorf("%d bytes, error %v", n, err)
	}
	accept()
	if polledStream(t, p); p.Watched() != 1 {
		t.Errorf("%d descriptors are watched", p.Watched())
	}
}

// TestPollerRests: while streams are silent forever, nothing wakes up the program; what one of them
// sends then does not have to wait for a timer.
func TestPollerRests(t *testing.T) {
	p := newPoller(t)
	const streams = 5
	type message struct {
		from int
		text string
		err  error
	}
	messages := make(chan message)
	var theirs []net.Conn
	for i := range streams {
		s, conn := polledStream(t, p)
		theirs = append(theirs, conn)
		s.IdleTimeout = 10 * time.Millisecond
		go func() {
			b := make([]byte, 8)
			for {
				n, err := s.Read(b)
				if session.IsIdle(err) {
					s.SetPatience(0)
					continue
				}
				if err != nil {
					_ = s.Close()
				}
				messages <- message{i, string(b[:n]), err}
				if err != nil {
					return
				}
			}
		}()
	}
	for i := range 2 * streams {
		waitFor(t, p.Rests)
		from, text := i%streams, strconv.Itoa(i)
		_, _ = theirs[from].Write([]byte(text))
		if got := <-messages; got != (message{from, text, nil}) {
			t.Errorf("%+v, want %q from %d", got, text, from)
		}
	}
	for i := range streams { // nor for an end
		waitFor(t, p.Rests)
		theirs[i].Close()
		if got := <-messages; got != (message{i, "", io.EOF}) {
			t.Errorf("%+v, want the end of %d", got, i)
		}
	}
}

// TestPollerCloses: a Read that waits ends with its stream, and with its Poller. What has arrived
// before CloseRead is still read.
func TestPollerCloses(t *testing.T) {
	for name, end := range map[string]func(*session.Poller, *session.Stream){
		"Close":     func(_ *session.Poller, s *session.Stream) { _ = s.Close() },
		"CloseRead": func(_ *session.Poller, s *session.Stream) { _ = s.CloseRead() },
		"Poller":    func(p *session.Poller, _ *session.Stream) { _ = p.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			p := newPoller(t)
			s, theirs := polledStream(t, p)
			ended := make(chan struct{})
			go func() {
				waitFor(t, p.Rests)
				end(p, s)
				close(ended)
			}()
			if n, err := s.Read(make([]byte, 8)); n != 0 || !errors.Is(err, io.EOF) {
				t.Errorf("%d bytes, error %v", n, err)
			}
			<-ended // Read does not wait until the descriptor is closed
			if _, err := theirs.Write([]byte("a")); err == nil {
				t.Error("the other end can still write")
			}
			_ = s.Close()
			if n, err := s.Read(make([]byte, 8)); n != 0 || !errors.Is(err, io.EOF) {
				t.Errorf("after Close: %d bytes, error %v", n, err)
			}
		})
	}
	s, theirs := polledStream(t, newPoller(t))
	_, _ = theirs.Write([]byte("rest"))
	if err := s.CloseRead(); err != nil {
		t.Error(err)
	}
	if b, err := io.ReadAll(s); string(b) != "rest" || err != nil {
		t.Errorf("%q, error %v", b, err)
	}
}

// TestPollerBusy: a runtime that sends much does not wait for its reader. With a look every 100 ms
// this would take minutes.
func TestPollerBusy(t *testing.T) {
	const much = 256 << 20
	s, theirs := polledStream(t, newPoller(t))
	s.IdleTimeout = 100 * time.Millisecond
	go func() {
		defer theirs.Close()
		for b := make([]byte, 1<<20); ; {
			if _, err := theirs.Write(b); err != nil {
				return
			}
		}
	}()
	time.AfterFunc(patience, func() { _ = s.Close() })
	var read int64
	for b := make([]byte, 1<<20); read < much; {
		n, err := s.Read(b)
		read += int64(n)
		if err != nil && !session.IsIdle(err) {
			t.Fatalf("%d of %d bytes in %v", read, much, patience)
		}
	}
}

// TestPollerWithoutFiles: a stream that cannot be polled waits itself.
func TestPollerWithoutFiles(t *testing.T) {
	s, theirs := piped(t)
	defer s.Close()
	s.PollWith(newPoller(t))
	go func() { _, _ = theirs.Write([]byte("a")) }()
	if n, err := s.Read(make([]byte, 8)); n != 1 || err != nil {
		t.Errorf("%d bytes, error %v", n, err)
	}
	p := newPoller(t)
	_ = p.Close()
	s, theirs = socketStream(t)
	s.PollWith(p)
	go func() { _, _ = theirs.Write([]byte("a")) }()
	if n, err := s.Read(make([]byte, 8)); n != 1 || err != nil {
		t.Errorf("%d bytes, error %v, after the poller has been closed", n, err)
	}
}
