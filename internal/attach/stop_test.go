package attach

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/internal/fakeruntime"
	"github.com/gclog/gclog/internal/host"
	"github.com/gclog/gclog/internal/output"
	"github.com/gclog/gclog/internal/testing/recordings"
	"github.com/gclog/gclog/session"
)

// A gate is closed until it is opened.
type gate struct {
	opened chan struct{}
	once   sync.Once
}

func newGate() *gate { return &gate{opened: make(chan struct{})} }

func (g *gate) open() { g.once.Do(func() { close(g.opened) }) }

// A gatedWriter accepts a few writes, and the others when the gate is open.
type gatedWriter struct {
	io.Writer
	*gate
	first int
}

func (w *gatedWriter) Write(p []byte) (int, error) {
	if w.first--; w.first < 0 {
		<-w.opened
	}
	return w.Writer.Write(p)
}

// A gatedConn lets the stream, except for its head, be read only when the gate is open.
type gatedConn struct {
	*net.UnixConn
	*gate
	head int
}

func (c *gatedConn) Read(p []byte) (int, error) {
	if len(p) > 1000 { // from the stream, not from an answer
		if c.head--; c.head < 0 {
			<-c.opened
		}
		p = p[:min(len(p), 2000)]
	}
	return c.UnixConn.Read(p)
}

func openTo(t *testing.T, target *host.Target, out io.Writer) (*Session, *Log) {
	t.Helper()
	cfg, err := SessionConfig("normal", nil, true)
	if err != nil {
		t.Fatal(err)
	}
	json, err := formats.Find("json")
	if err != nil {
		t.Fatal(err)
	}
	s, err := Open(t.Context(), target, SessionOptions{Config: cfg, Warn: func(string) {}})
	if err != nil {
		t.Fatal(err)
	}
	return s, &Log{
		Opener:  &output.Opener{Stdout: out, Warn: func(string) {}},
		Outputs: []output.Spec{{Path: output.Stdout, Format: json}},
	}
}

// TestSkip: what there is no time to write is reported as a gap with its numbers.
func TestSkip(t *testing.T) {
	_, target := replay(t, nil)
	var out bytes.Buffer
	slow := newGate()
	s, l := openTo(t, target, &gatedWriter{&out, slow, 3})
	written := make(chan error)
	go func() {
		_, err := l.Write(s, &gclog.Process{ID: 1}, nil)
		written <- err
	}()
	s.Ask()
	<-s.Done() // everything is in the queue, or written
	s.Skip()
	slow.open()
	if err := <-written; err != nil {
		t.Error(err)
	}
	log := out.String()
	if n := strings.Count(log, `"action":"gc",`); n > 3 {
		t.Errorf("%d collections were written when there was no time", n)
	}
	if n := strings.Count(log, `"reason":"stopped"`); n != 1 || !strings.Contains(log, "the session was ended before") {
		t.Errorf("%d gaps tell what was not written\n%s", n, log)
	}
	accountFor(t, out.Bytes(), false)
}

// TestCut: what has arrived before a session is cut off is reported, including what is unread in
// the socket, and a gap says that there may have been more.
func TestCut(t *testing.T) {
	sent := newGate()
	_, target := replay(t, sent.open)
	self, err := new(host.Host).Describe(os.Getpid()) // the process continues to run
	if err != nil {
		t.Fatal(err)
	}
	target.Process = *self
	dial, unread := target.Dial, newGate()
	var once sync.Once
	target.Dial = func(ctx context.Context) (net.Conn, error) {
		conn, err := dial(ctx)
		if err == nil {
			once.Do(func() { conn = &gatedConn{conn.(*net.UnixConn), unread, 1} })
		}
		return conn, err
	}
	var out bytes.Buffer
	s, l := openTo(t, target, &out)
	<-s.traced
	<-sent.opened // and is in the socket
	s.Cut()
	unread.open()
	end, err := l.Write(s, &gclog.Process{ID: 1}, nil)
	if err != nil || end.Reason != gclog.EndDetached || end.Message == "" {
		t.Errorf("it ends as %+v: %v", end, err)
	}
	if n := strings.Count(out.String(), `"reason":"stopped"`); n != 1 {
		t.Errorf("%d gaps tell that there may have been more", n)
	}
	accountFor(t, out.Bytes(), false)
}

// A pipeListener is a listener of pipes in memory.
type pipeListener struct {
	conns  chan net.Conn
	closed chan struct{}
}

func pipes() *pipeListener { return &pipeListener{make(chan net.Conn), make(chan struct{})} }

// Accept implements net.Listener.
func (l *pipeListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (l *pipeListener) Close() error { close(l.closed); return nil }

// Addr implements net.Listener.
func (l *pipeListener) Addr() net.Addr { return &net.UnixAddr{Name: "pipes", Net: "unix"} }

func (l *pipeListener) dial(context.Context) (net.Conn, error) {
	ours, theirs := net.Pipe()
	select {
	case l.conns <- theirs:
		return pipeConn{ours}, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// A pipeConn fails as a socket does when it has been closed.
type pipeConn struct{ net.Conn }

func (c pipeConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	return n, asSocket(err)
}

// SetReadDeadline fails when the other end has closed the pipe.
func (c pipeConn) SetReadDeadline(t time.Time) error { return asSocket(c.Conn.SetReadDeadline(t)) }

func asSocket(err error) error {
	if errors.Is(err, io.ErrClosedPipe) {
		return net.ErrClosed
	}
	return err
}

// TestStopAwaitsSnapshot: while a heap snapshot is taken, a session that was asked to end is neither
// ended nor closed, however long that takes.
func TestStopAwaitsSnapshot(t *testing.T) {
	trace := recordings.Read(t, recordings.Root()+"/testdata/traces/net10-datas-bgc.nettrace.gz")
	self, err := new(host.Host).Describe(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		l := pipes()
		r, err := fakeruntime.Start(fakeruntime.Config{Listener: l, Version: "10.0.0", Stream: trace})
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		target := func() *host.Target {
			return &host.Target{Process: *self, Client: session.Client{Dial: l.dial}}
		}
		var out bytes.Buffer
		s, log := openTo(t, target(), &out)
		written := make(chan error)
		go func() {
			_, err := log.Write(s, &gclog.Process{ID: 1}, nil)
			written <- err
		}()
		<-s.traced
		hold, err := target().Hold(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		s.Ask()
		time.Sleep(2 * stopTime)
		if n := r.Sessions(); n != 1 || isClosed(s.done) {
			t.Errorf("%d sessions while a snapshot is taken", n)
		}
		hold.Release()
		if err := <-written; err != nil {
			t.Error(err)
		}
		if s.wait(); !s.whole() {
			t.Error("the runtime has not ended the session")
		}
		accountFor(t, out.Bytes(), false)
	})
}

// TestCutWhileAsking: a runtime that does not answer when it is asked for its settings does not
// keep the records of a session that is cut off from being written.
func TestCutWhileAsking(t *testing.T) {
	trace := recordings.Read(t, recordings.Root()+"/testdata/traces/net10-datas-bgc.nettrace.gz")
	synctest.Test(t, func(t *testing.T) {
		l := pipes()
		never, requests := make(chan struct{}), 0
		r, err := fakeruntime.Start(fakeruntime.Config{Listener: l, Version: "10.0.0", Stream: trace, Meet: func(uint16) fakeruntime.Fault {
			if requests++; requests == 1 {
				return fakeruntime.Fault{} // it starts the session
			}
			return fakeruntime.Fault{Wait: never}
		}})
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			close(never)
			_ = r.Close()
		}()
		target := &host.Target{Process: host.Process{PID: os.Getpid()}, Client: session.Client{Dial: l.dial}}
		var out bytes.Buffer
		s, log := openTo(t, target, &out)
		known := &gclog.Process{ID: 1, Cookie: "c", Flavor: gclog.FlavorCoreCLR, RuntimeVersion: "10.0.0"}
		began := time.Now()
		time.AfterFunc(time.Second, s.Cut)
		if _, err := log.Write(s, known, nil); err != nil {
			t.Error(err)
		}
		if took := time.Since(began); took != time.Second { // of a clock that only advances while everything waits
			t.Errorf("written %v after the session began, and it was cut off after 1 s", took)
		}
		accountFor(t, out.Bytes(), false)
	})
}
