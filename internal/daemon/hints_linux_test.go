package daemon

import (
	"encoding/binary"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestHints: a socket with the right name is reported, whether created or moved there; other files
// are not.
func TestHints(t *testing.T) {
	dir := t.TempDir()
	made, stop := hints(dir)
	for _, name := range []string{"a", "dotnet", "clr-debug-pipe-1-2-in"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	await := func(what string) {
		t.Helper()
		for deadline := time.Now().Add(30 * time.Second); len(made) == 0; time.Sleep(time.Millisecond) { // the channel is buffered, so nobody need be waiting for it
			if time.Now().After(deadline) {
				t.Fatalf("a socket that was %s is not told", what)
			}
		}
		<-made
	}
	socket := filepath.Join(dir, "dotnet-diagnostic-1-2-socket")
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	await("made")
	aside := filepath.Join(t.TempDir(), "x")
	for _, way := range [][2]string{{socket, aside}, {aside, socket}} { // that the socket disappears is not reported
		if err := os.Rename(way[0], way[1]); err != nil {
			t.Fatal(err)
		}
	}
	await("moved there")
	if n := inotifies(t, true); n == 0 {
		t.Error("there is none of the kernel's")
	}
	stop()
	for deadline := time.Now().Add(30 * time.Second); strings.Contains(stacks(), "/hints_linux.go:"); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("its goroutine does not end")
		}
	}
	for _, none := range []string{filepath.Join(dir, "none"), filepath.Join(dir, "a")} {
		before := inotifies(t, false)
		if made, stop := hints(none); made != nil || inotifies(t, false) != before {
			t.Errorf("%s is watched", none)
		} else {
			stop()
		}
	}
}

func stacks() string {
	b := make([]byte, 1<<20)
	return string(b[:runtime.Stack(b, true)])
}

// inotifies returns how many inotify descriptors this process has. None may be inherited by
// programs that it starts.
func inotifies(t *testing.T, check bool) (n int) {
	t.Helper()
	list, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range list {
		fd, _ := strconv.Atoi(e.Name())
		if to, err := os.Readlink("/proc/self/fd/" + e.Name()); err != nil || to != "anon_inode:inotify" {
			continue
		}
		n++
		if flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); check && (err != nil || flags&unix.FD_CLOEXEC == 0) {
			t.Errorf("a program that is started gets it: %v", err)
		}
	}
	return n
}

// TestSocketMade: a socket is recognized among other events, wherever it is, and so is the loss of
// events.
func TestSocketMade(t *testing.T) {
	event := func(mask uint32, name string, room int) []byte {
		b := make([]byte, 4, unix.SizeofInotifyEvent+room)
		b = binary.NativeEndian.AppendUint32(b, mask)
		b = binary.NativeEndian.AppendUint32(b, 0)
		b = binary.NativeEndian.AppendUint32(b, uint32(room))
		b = append(b, name...)
		return append(b, make([]byte, room-len(name))...)
	}
	socket := event(unix.IN_CREATE, "dotnet-diagnostic-1-2-socket", 32)
	exact := event(unix.IN_CREATE, "dotnet-diagnostic-", 18)
	other, long := event(unix.IN_CREATE, "other", 16), event(unix.IN_CREATE, "other\x00dotnet-diagnostic-1-2-socket", 64)
	lost := event(unix.IN_Q_OVERFLOW, "", 0)
	join := func(list ...[]byte) (b []byte) {
		for _, x := range list {
			b = append(b, x...)
		}
		return b
	}
	for name, c := range map[string]struct {
		events []byte
		want   bool
	}{
		"nothing":         {nil, false},
		"too short":       {make([]byte, 7), false},
		"a socket":        {socket, true},
		"no more room":    {exact, true},
		"another":         {other, false},
		"behind its name": {long, false},
		"second":          {join(other, socket), true},
		"third":           {join(other, long, socket), true},
		"lost":            {lost, true},
		"lost behind":     {join(other, lost), true},
		"first of two":    {join(socket, other), true},
		"cut off":         {socket[:len(socket)-1], false},
		"cut off behind":  {join(other, socket[:20]), false},
		"no name":         {event(unix.IN_CREATE, "", 0), false},
	} {
		if got := socketMade(c.events); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
