//go:build linux

package live

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gclog/gclog/internal/doctor"
	"github.com/gclog/gclog/internal/host"
	"github.com/gclog/gclog/internal/testing/extent"
	"github.com/gclog/gclog/internal/testing/gcload"
	"github.com/gclog/gclog/internal/testing/program"
	"github.com/gclog/gclog/parse/clr"
)

// TestLiveAbandonedWalk makes programs on .NET 11 and later victims of a reader in Block mode that goes
// away, which gclog recognizes. What looks similar, it does not take for that.
func TestLiveAbandonedWalk(t *testing.T) {
	extent.Long(t)
	found := false
	for _, r := range runtimes(t) {
		if r.Major < 11 { // these know no Block mode
			continue
		}
		found = true
		for _, flavour := range []string{"wks", "svr"} {
			t.Run(r.Name+"/"+flavour, func(t *testing.T) { liveAbandonedWalk(t, r, flavour) })
		}
	}
	if !found {
		t.Skip("no runtime of .NET 11 or later")
	}
}

func liveAbandonedWalk(t *testing.T, r *gcload.Runtime, flavour string) {
	unique := "victim" + strings.ToLower(rand.Text()[:10])
	cmd := exec.Command(r.Program(flavour), "graph", "--scale", "20", "--quiet")
	cmd.Env = append(r.Environment(os.Environ(), flavour), "OTEL_SERVICE_NAME="+unique, "TMPDIR="+program.SocketDir(t))
	if err := r.Unpack(); err != nil {
		t.Fatal(err)
	}
	p, err := gcload.StartCommand(cmd)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Kill()
	if _, err := p.Wait(time.Minute, func(l *gcload.Line) bool { return l.Event == "graph" }); err != nil {
		t.Fatal(err)
	}
	target, err := new(host.Host).Find(t.Context(), p.PID)
	if err != nil {
		t.Fatal(err)
	}
	target.Timeout = time.Minute
	unharmed := func(what string) {
		t.Helper()
		if target.AbandonedWalk(t.Context()) {
			t.Errorf("%s counts as an abandoned walk", what)
		}
	}
	// meanwhile looks until a function has returned.
	meanwhile := func(what string, f func()) {
		t.Helper()
		done := make(chan struct{})
		go func() {
			defer close(done)
			f()
		}()
		for over := false; !over; {
			select {
			case <-done:
				over = true
			default:
			}
			unharmed(what)
		}
	}

	unharmed("an idle program")
	for _, w := range []struct {
		what     string
		bufferMB uint32
		mode     uint32
	}{
		{"a walk in Drop mode", 256, modeDrop},
		{"a walk in Drop mode with a small buffer", 4, modeDrop},
		{"a walk in Block mode", 16, modeBlock},
	} {
		walk := walkOfOther(t, target, w.bufferMB, w.mode)
		meanwhile(w.what, func() { walk.stop(t, target) })
	}

	slow := walkOfOther(t, target, 4, modeBlock)
	slow.read(t, 1<<20)
	for range 20 { // nothing is read meanwhile
		unharmed("a walk in Block mode whose reader waits")
		time.Sleep(50 * time.Millisecond)
	}
	meanwhile("a walk in Block mode whose reader goes on", func() { slow.stop(t, target) })

	gone := walkOfOther(t, target, 4, modeDrop)
	gone.read(t, 100<<10)
	_ = gone.conn.Close()
	meanwhile("a walk in Drop mode whose reader is gone", func() {
		if _, err := target.ProcessInfo(t.Context()); err != nil {
			t.Error(err)
		}
	})

	victim := walkOfOther(t, target, 4, modeBlock)
	victim.read(t, 4<<20) // of some 150 MB
	_ = victim.conn.Close()
	program.Eventually(t, "the victim", func() bool { return target.AbandonedWalk(t.Context()) })
	if report := doctor.Process(t.Context(), new(host.Host), p.PID); report.OK() || !hasCause(report, doctor.AbandonedWalk) {
		t.Errorf("%s: %+v", report.Verdict, report.Findings)
	}
	const message = "is suspended for good by a heap walk whose reader is gone"
	for _, args := range [][]string{{"attach"}, {"gc"}, {"heap", "snapshot"}, {"settings"}} {
		out, err := exec.Command("gclog", append(args, strconv.Itoa(p.PID))...).CombinedOutput()
		if code := exitCode(err); code != 1 || !bytes.Contains(out, []byte(message)) {
			t.Errorf("%q ended with %d and said %s", args, code, out)
		}
	}
	d := program.StartDaemon(t, t.TempDir(), fmt.Sprintf("discovery: {interval: 200ms, include: [{process: %q}]}\noutputs: [{path: gc.json}]\nhttp: {listen: \"\"}\n", unique))
	program.Eventually(t, "the daemon's message", func() bool { return bytes.Contains(d.Log(), []byte(message)) })
	d.Stop(t)

	if err := p.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	program.Eventually(t, "the stop", target.Stopped)
	unharmed("a process that is stopped")
}

// The modes of a session's buffer.
const modeDrop, modeBlock = 0, 1

// A walkReader is the reader of a tool that knows nothing of gclog.
type walkReader struct {
	conn net.Conn
	id   [8]byte // of its session
}

// walkOfOther requests a heap walk with CollectTracing6, which gclog never sends: in Block mode the
// runtime waits for its reader.
func walkOfOther(t *testing.T, target *host.Target, bufferMB, mode uint32) *walkReader {
	t.Helper()
	le := binary.LittleEndian
	payload := le.AppendUint32(nil, 0) // over this connection
	payload = le.AppendUint32(payload, bufferMB)
	payload = le.AppendUint32(payload, 1) // nettrace
	payload = le.AppendUint64(payload, 0) // no rundown
	payload = append(payload, 0)          // no stacks
	payload = le.AppendUint32(payload, 1) // provider
	payload = le.AppendUint64(payload, 0x1980001)
	payload = le.AppendUint32(payload, 5)
	payload = le.AppendUint32(payload, uint32(len(clr.RuntimeProvider)+1))
	for _, c := range clr.RuntimeProvider + "\x00" {
		payload = le.AppendUint16(payload, uint16(c))
	}
	payload = le.AppendUint32(payload, 0) // no arguments
	payload = append(payload, 0)          // all events
	payload = le.AppendUint32(payload, 0)
	payload = le.AppendUint32(payload, mode)
	message := append([]byte("DOTNET_IPC_V1\x00"), 0, 0, 2, 7, 0, 0)
	le.PutUint16(message[14:], uint16(len(message)+len(payload)))

	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	conn, err := target.Dial(ctx)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if _, err := conn.Write(append(message, payload...)); err != nil {
		t.Fatal(err)
	}
	var answer [28]byte
	if _, err := io.ReadFull(conn, answer[:]); err != nil || answer[16] != 0xFF || answer[17] != 0 {
		t.Fatalf("the request was answered with % x, %v", answer, err)
	}
	return &walkReader{conn, [8]byte(answer[20:])}
}

// read reads so many bytes.
func (r *walkReader) read(t *testing.T, n int64) {
	t.Helper()
	if _, err := io.CopyN(io.Discard, r.conn, n); err != nil {
		t.Fatal(err)
	}
}

// stop ends the session, for which the runtime waits for the end of the walk, and reads what it sends.
func (r *walkReader) stop(t *testing.T, target *host.Target) {
	read := make(chan error, 1)
	go func() {
		_, err := io.Copy(io.Discard, r.conn)
		read <- err
	}()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	conn, err := target.Dial(ctx)
	if err == nil {
		defer conn.Close()
		_, err = conn.Write(append([]byte("DOTNET_IPC_V1\x00\x1c\x00\x02\x01\x00\x00"), r.id[:]...))
	}
	if err != nil {
		t.Error(err)
		return
	}
	if err := <-read; err != nil {
		t.Error(err)
	}
}
