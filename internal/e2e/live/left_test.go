//go:build linux

package live

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gclog/gclog/internal/host"
	"github.com/gclog/gclog/internal/testing/extent"
	"github.com/gclog/gclog/internal/testing/gcload"
	"github.com/gclog/gclog/internal/testing/program"
	"github.com/gclog/gclog/parse/clr"
	"github.com/gclog/gclog/session"
)

// TestLiveLeft leaves sessions like a gclog that was killed: they are neither read nor stopped. The
// runtime must end them with the next collection: it supports only 64, so those of a daemon that is
// killed repeatedly would lock out all tools.
func TestLiveLeft(t *testing.T) {
	extent.Long(t)
	t.Parallel() // it spends most of its time waiting
	for _, r := range runtimes(t) {
		t.Run(r.Name, func(t *testing.T) {
			t.Parallel()
			mayLeave(t, r)
			p, err := r.Start(program.SocketDir(t), "wks", nil, "idle", "--quiet")
			if err != nil {
				t.Fatal(err)
			}
			defer p.Kill()
			target, err := new(host.Host).Find(context.Background(), p.PID)
			if err != nil {
				t.Fatal(err)
			}
			target.Timeout = time.Minute
			if _, err := p.Send("gc 0 forced true false"); err != nil {
				t.Fatal(err)
			}
			before := sockets(t, p.PID)
			for range 2 {
				if err := leaveSession(target); err != nil {
					t.Fatal(err)
				}
				if _, err := p.Send("gc 0 forced true false"); err != nil {
					t.Fatal(err)
				}
				program.Eventually(t, "the end of the session", func() bool { return sockets(t, p.PID) <= before })
			}
			if err := p.Exit(0); err != nil {
				t.Errorf("the program: %v", err)
			}
		})
	}
}

// mayLeave skips the test if the runtime does not always survive sessions without a reader, whatever
// gclog does (docs/protocol.md).
func mayLeave(t *testing.T, r *gcload.Runtime) {
	t.Helper()
	switch {
	case r.Major < 5:
		t.Skip(".NET Core 3.1 may wait for itself forever when it ends a session that was left")
	case diesOfLeaving(r):
		t.Skip("NativeAOT may crash or hang when it ends a session that was left, 1 in 125 while it collects")
	}
}

// diesOfLeaving reports whether the runtime may crash or hang when it ends a session without a
// reader.
func diesOfLeaving(r *gcload.Runtime) bool { return r.AOT }

// leaveSession opens a session and leaves it as soon as the start of the stream has arrived.
func leaveSession(target *host.Target) error {
	s, err := target.StartTracing(context.Background(), session.Config{
		BufferMB: 1, Providers: []session.Provider{{Name: clr.RuntimeProvider, Keywords: clr.KeywordGC, Level: clr.LevelInformational}},
	})
	if err != nil {
		return err
	}
	defer s.Close()
	_, err = s.Read(make([]byte, 64<<10))
	return err
}

// sockets returns the number of open sockets of a process: one for each session, and others.
func sockets(t *testing.T, pid int) (n int) {
	t.Helper()
	dir := fmt.Sprintf("/proc/%d/fd", pid)
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if to, err := os.Readlink(filepath.Join(dir, e.Name())); err == nil && strings.HasPrefix(to, "socket:") {
			n++
		}
	}
	return n
}
