package daemon

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gclog/gclog/internal/control"
	"github.com/gclog/gclog/internal/host"
)

// TestWhileHeld: an address may be in use for a while after a daemon was killed, and for no longer.
func TestWhileHeld(t *testing.T) {
	other := errors.New("no room")
	for _, c := range []struct {
		name     string
		patience time.Duration
		held     time.Duration
		fails    error
		want     error
		takes    time.Duration
	}{
		{"free", heldTime, 0, nil, nil, 0},
		{"held for a moment", heldTime, time.Second, fmt.Errorf("listening: %w", syscall.EADDRINUSE), nil, time.Second},
		{"a control socket", heldTime, time.Second, fmt.Errorf("x: %w", control.ErrInUse), nil, time.Second},
		{"held", heldTime, time.Hour, syscall.EADDRINUSE, syscall.EADDRINUSE, heldTime},
		{"held at a reload", 0, time.Hour, syscall.EADDRINUSE, syscall.EADDRINUSE, 0},
		{"something else", heldTime, time.Second, other, other, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				got, err := whileHeld(c.patience, func() (int, error) {
					if time.Since(began) < c.held {
						return 0, c.fails
					}
					return 7, nil
				})
				if took := time.Since(began); !errors.Is(err, c.want) || (got == 7) != (c.want == nil) || took != c.takes {
					t.Errorf("%d, error %v after %v", got, err, took)
				}
			})
		})
	}
}

// TestFailedStart: a daemon that cannot start logs nothing that it finds.
func TestFailedStart(t *testing.T) {
	d := New(Options{Config: configured(t, "version: 1\nhttp: {listen: \"\"}\ncontrol: {socket: \"/proc/none/ctl.sock\"}\noutputs: [{path: \""+t.TempDir()+"/%p.json\"}]\n")})
	err := d.run(t.Context(), func(ctx context.Context) { <-ctx.Done() })
	if err == nil {
		t.Fatal("it has started")
	}
	d.found(&host.Target{Process: host.Process{PID: 99_999_999}}, nil)
	if len(d.processes) > 0 {
		t.Error("it logs a process")
	}
}
