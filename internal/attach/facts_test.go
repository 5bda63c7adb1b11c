package attach

import (
	"context"
	"errors"
	"net"
	"testing"
	"testing/synctest"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/internal/host"
	"github.com/gclog/gclog/session"
)

// TestSettingsUnanswered: a runtime that accepts the request and sends nothing counts as not
// answering; a caller that gives up gets only its own error.
func TestSettingsUnanswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		target := &host.Target{Client: session.Client{Dial: func(context.Context) (net.Conn, error) {
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

// TestSettingsGivenUp: a session that was started is stopped, even if nobody waits for it any more.
// A runtime whose session is merely abandoned keeps a thread and a buffer for it.
func TestSettingsGivenUp(t *testing.T) {
	answer := append([]byte("DOTNET_IPC_V1\x00\x1c\x00\xff\x00\x00\x00"), make([]byte, 8)...)
	for name, answered := range map[string]int{"before the answer": 0, "in the answer": 20, "behind the answer": len(answer)} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				stopped, left, ended := make(chan struct{}), make(chan struct{}), make(chan string, 1)
				requests := 0
				target := &host.Target{Client: session.Client{Dial: func(context.Context) (net.Conn, error) {
					near, far := net.Pipe()
					request := make([]byte, 1024)
					if requests++; requests == 2 {
						cancel()
						go func() {
							if n, _ := far.Read(request); n > 17 && request[16] == 2 && request[17] == 1 {
								close(stopped)
							}
							_ = far.Close()
						}()
						return near, nil
					}
					go func() {
						_, _ = far.Read(request)
						_, _ = far.Write(answer[:answered])
						if answered < len(answer) {
							cancel()
							synctest.Wait()
							_, _ = far.Write(answer[answered:])
						}
						_, _ = far.Write([]byte("Nettrace"))
						go func() {
							_, _ = far.Read(request)
							close(left)
						}()
						select {
						case <-stopped:
							ended <- "stopped"
						case <-left:
							ended <- "left"
						}
						_ = far.Close()
					}()
					return near, nil
				}}}
				var p gclog.Process
				_ = Settings(ctx, target, &p)
				if how := <-ended; how != "stopped" {
					t.Errorf("the session was %s", how)
				}
			})
		})
	}
}

// TestSettingsSuspended: a runtime that sends nothing may be suspended at startup. Stopping a
// session before its first byte would make the next one crash the runtime, so it is not stopped:
// the connection is closed.
func TestSettingsSuspended(t *testing.T) {
	answer := append([]byte("DOTNET_IPC_V1\x00\x1c\x00\xff\x00\x00\x00"), make([]byte, 8)...)
	synctest.Test(t, func(t *testing.T) {
		requests, left := 0, make(chan struct{})
		target := &host.Target{Client: session.Client{Dial: func(context.Context) (net.Conn, error) {
			near, far := net.Pipe()
			requests++
			go func() {
				request := make([]byte, 1024)
				_, _ = far.Read(request)
				_, _ = far.Write(answer)
				_, _ = far.Read(request)
				close(left)
			}()
			return near, nil
		}}}
		var p gclog.Process
		_ = Settings(t.Context(), target, &p)
		<-left
		if requests != 1 {
			t.Errorf("%d requests, want that for the session only", requests)
		}
	})
}
