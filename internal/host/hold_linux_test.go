package host_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gclog/gclog/internal/host"
	"github.com/gclog/gclog/internal/testing/child"
	"github.com/gclog/gclog/internal/testing/ipc"
	"github.com/gclog/gclog/session"
)

// holdable starts a process with a runtime that answers every request, and finds it twice, as two
// processes of gclog do.
func holdable(t *testing.T) (one, other *host.Target) {
	t.Helper()
	r := ipc.Serve(t, func(conn net.Conn, request []byte) {
		_, _ = conn.Write(ipc.Answer([]byte{1, 0, 0, 0, 0, 0, 0, 0}))
		if request[17] != 1 { // a session: its first byte
			_, _ = conn.Write([]byte("N"))
			ipc.Hang(conn)
		}
	})
	p := run(t, spec{Sockets: []string{exact}, Threads: []string{".NET Finalizer"}})
	one, other = find(t, p), find(t, p)
	one.Client, other.Client = session.Client{Dial: r.Dial}, session.Client{Dial: r.Dial}
	return one, other
}

// TestHold: only one snapshot at a time, and no session starts or ends meanwhile but its own.
func TestHold(t *testing.T) {
	t.Parallel()
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
	refused(t, err, host.CauseSnapshot, fmt.Sprintf("another gclog is taking (process %d)", os.Getpid()))
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
	refused(t, other.CheckStartup(t.Context()), host.CauseSnapshot, "is the target of a heap snapshot")

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
	given, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond) // allowed: it is held, so its time is up
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

// TestHoldByUsers: root and the user of the process can hold it. Another user can do nothing about
// that.
func TestHoldByUsers(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can run a process as another user")
	}
	const other = nobody - 1
	setpriv, err := exec.LookPath("setpriv")
	if err != nil {
		t.Skipf("no program to change the user with: %v", err)
	}
	dir := everybodys(t)
	if err := os.Chown(dir, nobody, nobody); err != nil {
		t.Fatal(err)
	}
	p := runIn(t, spec{Dir: dir, Sockets: []string{exact}, Threads: []string{".NET Finalizer"}, Through: []string{setpriv, "--reuid=" + strconv.Itoa(nobody), "--clear-groups", "--"}}, "TMPDIR="+dir)
	target := find(t, p)
	for _, user := range []uint32{other, nobody, 0} {
		for _, file := range []string{"personality", "syscall"} {
			holder := exec.Command("flock", "--exclusive", fmt.Sprintf("/proc/%d/%s", target.PID, file), "sh", "-c", "echo; cat")
			holder.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: user, Gid: user}}
			in, err := holder.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			out, err := holder.StdoutPipe()
			if err == nil {
				err = holder.Start()
			}
			if err != nil {
				t.Fatal(err)
			}
			_, err = out.Read(make([]byte, 1)) // it has the lock
			if locked := err == nil; locked != (user != other) {
				t.Errorf("user %d has locked %s: %v", user, file, locked)
			}
			if held := target.Held(); held != (user != other && file == "personality") {
				t.Errorf("held by user %d with %s: %v", user, file, held)
			}
			if announced := target.AnnouncedGC(); announced != (user != other && file == "syscall") {
				t.Errorf("a collection announced by user %d with %s: %v", user, file, announced)
			}
			_ = in.Close()
			_ = holder.Wait()
		}
	}
}

// TestAbandonedHold: a snapshot of a daemon that has ended keeps others waiting for 5 seconds at most;
// that of a daemon that is running, for as long as it takes.
func TestAbandonedHold(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("flock"); err != nil {
		t.Skipf("no program to lock a file with: %v", err)
	}
	target, _ := holdable(t)
	owner := exec.Command("sh", "-c", `exec 3<&0; `+host.OwnerVariable+`=$$ flock --exclusive "$0" sh -c 'echo; cat' <&3 & wait`, fmt.Sprintf("/proc/%d/personality", target.PID))
	child.Start(t, owner)
	longAgo := time.Now().Add(-5 * time.Second)
	target.SetAbandoned(longAgo)
	refused(t, target.CheckStartup(t.Context()), host.CauseSnapshot, "that another gclog is taking (process ")
	_ = owner.Process.Kill()
	_, _ = owner.Process.Wait()                               // the pipe, whose end ends the holder, stays open
	for start := time.Now(); ; time.Sleep(time.Millisecond) { // until the holder has another parent
		target.SetAbandoned(time.Now())
		err := target.CheckStartup(t.Context())
		if strings.Contains(fmt.Sprint(err), "of a daemon that has ended") {
			break
		}
		if time.Since(start) > patience {
			t.Fatal(err)
		}
	}
	target.SetAbandoned(longAgo)
	if err := target.CheckStartup(t.Context()); err != nil {
		t.Error(err)
	}
	s, err := target.StartTracing(t.Context(), config())
	if err != nil {
		t.Fatal(err)
	}
	_ = s.Close()
	if !target.Held() {
		t.Error("it is no longer held")
	}
}
