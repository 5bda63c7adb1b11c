package daemon

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/gclog/gclog/internal/control"
)

// TestRecordsRefused: records are of processes with a session.
func TestRecordsRefused(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "ctl.sock")
	serving(t, listens(t, "", socket))
	_, err := control.Records(t.Context(), socket, 4711)
	refused, ok := errors.AsType[*control.RefusedError](err)
	if !ok || refused.Text != "the daemon has no session with process 4711" {
		t.Errorf("%v", err)
	}
	_, err = control.Ask(t.Context(), socket, "GET", control.PathRecords+"?pid=x")
	if refused, ok := errors.AsType[*control.RefusedError](err); !ok || refused.Text != "pid must be the number of a process" {
		t.Errorf("%v", err)
	}
}

// TestBacklog: what a client does not take in time is bounded, and then the client is dropped.
func TestBacklog(t *testing.T) {
	b := newBacklog()
	line := make([]byte, recordsMost/4)
	for range 4 {
		if n, err := b.Write(line); n != len(line) || err != nil {
			t.Fatalf("%d, %v", n, err)
		}
	}
	select {
	case <-b.more:
	default:
		t.Error("the client is not woken")
	}
	if _, err := b.Write(line[:1]); !errors.Is(err, errSlow) {
		t.Errorf("a client that takes nothing: %v", err)
	}
	if got := b.take(); len(got) != recordsMost || len(b.take()) != 0 {
		t.Errorf("%d bytes", len(got))
	}
	if _, err := b.Write(line); err != nil {
		t.Errorf("it has room again: %v", err)
	}
	for range 2 {
		if err := b.Close(); err != nil {
			t.Fatal(err)
		}
	}
	<-b.done
	if _, err := b.Write(line); !errors.Is(err, errSlow) {
		t.Errorf("after the end: %v", err)
	}
}
