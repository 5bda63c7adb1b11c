package attach

import (
	"context"
	"errors"
	"net"
	"testing"
	"testing/synctest"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/session"
)

// TestSettingsUnanswered: a runtime that takes the request and says nothing does not
// answer; a caller that gives up is told nothing else than that.
func TestSettingsUnanswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		target := &session.Target{Client: session.Client{Dial: func(context.Context) (net.Conn, error) {
			near, far := net.Pipe()
			go func() {
				b := make([]byte, 1024)
				for {
					if _, err := far.Read(b); err != nil {
						return
					}
				}
			}()
			return near, nil
		}}}
		var p gclog.Process
		if err := Settings(t.Context(), target, &p); !errors.Is(err, session.ErrNoAnswer) {
			t.Errorf("%v, want %v", err, session.ErrNoAnswer)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := Settings(ctx, target, &p); !errors.Is(err, context.Canceled) {
			t.Errorf("%v, want %v", err, context.Canceled)
		}
	})
}
