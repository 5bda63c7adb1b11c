package attach

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/internal/fakeruntime"
	"github.com/gclog/gclog/internal/host"
	"github.com/gclog/gclog/internal/output"
	"github.com/gclog/gclog/internal/testing/recordings"
	"github.com/gclog/gclog/session"
)

// A replay is a fake runtime in this process that sends a recording. sent is called when it has
// been sent; nil: not needed.
func replay(t *testing.T, sent func()) (*fakeruntime.Runtime, *host.Target) {
	t.Helper()
	dir, err := os.MkdirTemp("", "s") // a short path, for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	l, err := net.Listen("unix", filepath.Join(dir, "s"))
	if err != nil {
		t.Fatal(err)
	}
	trace := recordings.Read(t, filepath.Join(recordings.Root(), "testdata", "traces", "net10-datas-bgc.nettrace.gz"))
	r, err := fakeruntime.Start(fakeruntime.Config{Listener: l, Version: "8.0.0", Stream: trace, OnSent: sent})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() })
	return r, &host.Target{Process: host.Process{PID: os.Getpid()}, Client: session.Client{Dial: func(ctx context.Context) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", l.Addr().String())
	}}}
}

// A trap panics at a call.
type trap struct {
	mu   sync.Mutex
	left int
}

func (x *trap) step() {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.left--; x.left == 0 {
		panic("a trap")
	}
}

type trappedConn struct {
	net.Conn
	*trap
}

func (c trappedConn) Read(p []byte) (int, error) {
	if len(p) > 1000 { // from the stream, not from an answer
		c.step()
	}
	return c.Conn.Read(p[:min(len(p), 2000)])
}

type trappedWriter struct {
	io.Writer
	*trap
}

func (w trappedWriter) Write(p []byte) (int, error) {
	w.step()
	return w.Writer.Write(p)
}

// TestDefect: a panic while a stream is read, or while its records are written, ends the session in
// an orderly way: the log reports what is missing, the runtime is asked to end the session, and
// another session can follow.
func TestDefect(t *testing.T) {
	for name, c := range map[string]struct {
		read, write int // the calls that panic
	}{
		"the first read":   {read: 1},
		"a later read":     {read: 8},
		"the first write":  {write: 1},
		"a later write":    {write: 9},
		"two writes":       {write: 9, read: 8},
		"no defect at all": {},
	} {
		t.Run(name, func(t *testing.T) {
			runtime, target := replay(t, nil)
			var out bytes.Buffer
			dial := target.Dial
			reads := &trap{left: c.read}
			target.Dial = func(ctx context.Context) (net.Conn, error) {
				conn, err := dial(ctx)
				return trappedConn{conn, reads}, err
			}
			json, err := formats.Find("json")
			if err != nil {
				t.Fatal(err)
			}
			l := &Log{
				Opener:  &output.Opener{Stdout: trappedWriter{&out, &trap{left: c.write}}, Warn: func(string) {}},
				Outputs: []output.Spec{{Path: output.Stdout, Format: json}},
			}
			for i := range 2 { // sessions
				cfg, err := SessionConfig("normal", nil, true)
				if err != nil {
					t.Fatal(err)
				}
				s, err := Open(t.Context(), target, SessionOptions{Config: cfg, Count: 10, Warn: func(string) {}})
				if err != nil {
					t.Fatal(err)
				}
				_, err = l.Write(s, &gclog.Process{ID: 1}, nil)
				defect, ok := errors.AsType[*DefectError](err)
				if want := i == 0 && c.read+c.write > 0; ok != want {
					t.Errorf("session %d: %v", i, err)
				}
				if ok && !strings.Contains(string(defect.Stack), "defect_test.go") {
					t.Errorf("the stack is\n%s", defect.Stack)
				}
			}
			if err := l.Close(); err != nil {
				t.Error(err)
			}
			if n := runtime.Sessions(); n != 0 {
				t.Errorf("%d sessions are left", n)
			}
			accountFor(t, out.Bytes(), c.read+c.write > 0)
		})
	}
}

// accountFor checks that the sessions of a log start and end, that each collection of the recording
// is in exactly one record or in a gap, and that a defect is reported.
func accountFor(t *testing.T, log []byte, defect bool) {
	t.Helper()
	var actions []string
	reported, failed := map[uint32]int{}, false
	for _, l := range linesOf(t, log) {
		switch gc := &l.Dotnet.GC; l.Event.Action {
		case "gc-gap":
			failed = failed || gc.Gap.Reason == "internal-error"
			for n := gc.Gap.From; n <= gc.Gap.To && n > 0; n++ {
				reported[n]++
			}
		case "gc":
			reported[gc.Number]++
		default:
			actions = append(actions, l.Event.Action)
		}
	}
	for n := uint32(1); n <= 10; n++ {
		if reported[n] == 0 {
			t.Errorf("#%d is in no record and no gap: %v\n%s", n, reported, log)
		}
	}
	if failed != defect {
		t.Errorf("a gap tells of a defect: %v", failed)
	}
	if n := len(actions); n == 0 || actions[n-1] != "gc-session-end" {
		t.Errorf("the log ends with %v", actions)
	}
}
