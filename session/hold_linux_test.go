package session_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/gclog/gclog/session"
)

// holdable starts a process with a runtime that answers every request, and finds it twice, as two
// processes of gclog do.
func holdable(t *testing.T) (one, other *session.Target) {
	t.Helper()
	r := serve(t, func(conn net.Conn, request []byte) {
		_, _ = conn.Write(answer([]byte{1, 0, 0, 0, 0, 0, 0, 0}))
		if request[17] != 1 { // a session: its first byte
			_, _ = conn.Write([]byte("N"))
			hang(conn)
		}
	})
	p := run(t, spec{Sockets: []string{exact}, Threads: []string{".NET Finalizer"}})
	one, other = find(t, p), find(t, p)
	one.Client, other.Client = *r.client(), *r.client()
	return one, other
}

// TestHold: only one snapshot at a time, and no session starts or ends meanwhile but its own.
func TestHold(t *testing.T) {
	one, other := holdable(t)
	stream, err := other.StartTracing(t.Context(), config())
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	if _, err := stream.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	if other.Held() {
		t.Error("held by nobody")
	}
	hold, err := one.Hold(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if !other.Held() || !one.Held() {
		t.Error("not held")
	}
	_, err = other.Hold(t.Context())
	refused(t, err, session.CauseSnapshot, fmt.Sprintf("another gclog is taking (process %d)", os.Getpid()))
	own, err := hold.StartTracing(t.Context(), config())
	if err != nil {
		t.Fatal(err)
	}
	defer own.Close()

	given, cancel := context.WithCancel(t.Context())
	cancel()
	if s, err := other.StartTracing(given, config()); !errors.Is(err, context.Canceled) {
		t.Errorf("a session of another: %v, error %v", s, err)
	}
	if err := stream.Stop(given); !errors.Is(err, context.Canceled) {
		t.Errorf("the end of a session: error %v", err)
	}
	refused(t, other.CheckStartup(t.Context()), session.CauseSnapshot, "is the target of a heap snapshot")

	waits := make(chan error)
	for _, wait := range []func() error{
		func() error { return stream.Stop(t.Context()) },
		func() error {
			s, err := other.StartTracing(t.Context(), config())
			if err == nil {
				_ = s.Close()
			}
			return err
		},
		func() error { return other.AwaitStartup(t.Context(), func(error) { hold.Release() }) },
	} {
		go func() { waits <- wait() }()
	}
	for range 3 {
		if err := <-waits; err != nil {
			t.Error(err)
		}
	}
	if other.Held() {
		t.Error("still held")
	}
}

// TestHoldAwaitsSessions: a hold begins when no session is being started.
func TestHoldAwaitsSessions(t *testing.T) {
	one, other := holdable(t)
	dial, asked, goes := other.Dial, make(chan struct{}), make(chan struct{})
	other.Dial = func(ctx context.Context) (net.Conn, error) {
		close(asked)
		<-goes
		return dial(ctx)
	}
	started := make(chan error)
	go func() {
		s, err := other.StartTracing(t.Context(), config())
		if err == nil {
			_ = s.Close()
		}
		started <- err
	}()
	<-asked
	given, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := one.Hold(given); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v while a session is being started", err)
	}
	close(goes)
	if err := <-started; err != nil {
		t.Fatal(err)
	}
	hold, err := one.Hold(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	hold.Release()
}

// TestAnnounceGC: other processes of gclog see that this one requests a collection. That excludes
// neither a snapshot nor sessions.
func TestAnnounceGC(t *testing.T) {
	one, other := holdable(t)
	if other.AnnouncedGC() {
		t.Error("announced by nobody")
	}
	release, again := one.AnnounceGC(), other.AnnounceGC()
	for range 2 {
		if !other.AnnouncedGC() || !one.AnnouncedGC() || other.Held() {
			t.Errorf("announced %v and %v, held %v", one.AnnouncedGC(), other.AnnouncedGC(), other.Held())
		}
		release()
		release = again
	}
	if other.AnnouncedGC() {
		t.Error("still announced")
	}
	release = one.AnnounceGC()
	defer release()
	hold, err := other.Hold(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if !one.Held() || !one.AnnouncedGC() {
		t.Errorf("held %v, announced %v", one.Held(), one.AnnouncedGC())
	}
	hold.Release()
	s, err := other.StartTracing(t.Context(), config())
	if err != nil {
		t.Fatal(err)
	}
	_ = s.Close()
}

// TestHoldOfStranger: a user who could not take a snapshot cannot keep gclog out either.
func TestHoldOfStranger(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can run a process as another user")
	}
	one, _ := holdable(t)
	for user, held := range map[uint32]bool{nobody: false, 0: true} {
		stranger := exec.Command("flock", "--exclusive", fmt.Sprintf("/proc/%d", one.PID), "flock", "--shared", fmt.Sprintf("/proc/%d/task", one.PID), "sh", "-c", "echo; cat")
		stranger.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: user, Gid: user}}
		in, err := stranger.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		out, err := stranger.StdoutPipe()
		if err == nil {
			err = stranger.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		if _, err := out.Read(make([]byte, 1)); err != nil { // it has the lock
			t.Fatal(err)
		}
		if one.Held() != held {
			t.Errorf("held by user %d: %v", user, one.Held())
		}
		if one.AnnouncedGC() != held {
			t.Errorf("a collection announced by user %d: %v", user, one.AnnouncedGC())
		}
		if !held {
			s, err := one.StartTracing(t.Context(), config())
			if err != nil {
				t.Fatal(err)
			}
			_ = s.Close()
			hold, err := one.Hold(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			hold.Release()
		}
		_ = in.Close()
		_ = stranger.Wait()
	}
}
