package heap

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/internal/attach"
	"github.com/gclog/gclog/internal/cli/exit"
	"github.com/gclog/gclog/internal/cli/program"
	"github.com/gclog/gclog/internal/fakeruntime"
	"github.com/gclog/gclog/internal/host"
	"github.com/gclog/gclog/internal/testing/nettracetest"
	"github.com/gclog/gclog/parse/clr"
	"github.com/gclog/gclog/session"
	"golang.org/x/sys/unix"
)

// endlessWalk sends a heap walk that does not end, until nobody reads it.
func endlessWalk(s *fakeruntime.Session) string {
	var w nettracetest.V4
	clock := nettracetest.DefaultClock()
	w.Begin(clock)
	for _, id := range []uint32{clr.IDGCStart, clr.IDGCBulkNode} {
		w.Metadata(nettracetest.Kind{ID: id, Provider: clr.RuntimeProvider, EventID: id, Version: 2, Level: clr.LevelInformational, Keywords: clr.KeywordGC})
	}
	_, err := s.Conn.Write(w.Take())
	if s.ID == 1 { // the witness
		<-s.Stopped
		w.End()
		_, _ = s.Conn.Write(w.Take())
		return "is over"
	}
	w.Events(nettracetest.Row{Kind: clr.IDGCStart, Thread: 1, Ticks: clock.Ticks, Payload: (&nettracetest.Payload{}).U32(7, 2, 1, 0).U16(0).U64(0).Bytes})
	const count = 1500
	objects := make([]byte, 10+32*count)
	binary.LittleEndian.PutUint32(objects[4:], count)
	for i := uint32(0); err == nil; i++ {
		binary.LittleEndian.PutUint32(objects, i)
		w.Events(nettracetest.Row{Kind: clr.IDGCBulkNode, Thread: 1, Ticks: clock.Ticks, Payload: objects})
		_, err = s.Conn.Write(w.Take())
	}
	return "was cut"
}

// snapshotStage returns a program whose messages go to said, and this process as a target with a fake
// runtime.
func snapshotStage(t *testing.T, c fakeruntime.Config, said io.Writer) (*commands, *host.Target) {
	t.Helper()
	socket := filepath.Join(t.TempDir(), "s")
	var err error
	if c.Listener, err = net.Listen("unix", socket); err != nil {
		t.Fatal(err)
	}
	r, err := fakeruntime.Start(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() })
	self, err := new(host.Host).Describe(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	target := &host.Target{Process: host.Process{PID: self.PID, StartKey: self.StartKey}, Client: session.Client{Dial: func(ctx context.Context) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", socket)
	}}}
	return &commands{&program.Run{Unfiltered: io.Discard, Out: program.NewPrinter(io.Discard), UI: &program.UI{W: said}, Host: &host.Host{}}}, target
}

// TestSnapshotBounded: a snapshot of a process whose heap walk does not end is refused with a sentence
// and the exit code of bad data, and leaves nothing behind.
func TestSnapshotBounded(t *testing.T) {
	const most = spoolPieces*spoolPiece + 4<<20
	dir, temporary := t.TempDir(), t.TempDir()
	t.Setenv("TMPDIR", temporary)
	var said strings.Builder
	p, target := snapshotStage(t, fakeruntime.Config{Version: "11.0.1", Trace: endlessWalk}, &said)
	plan := attach.PlanSnapshot(target, &gclog.Process{}, nil)
	plan.Need, plan.BufferMB, plan.StreamLimit = 1, 1, most
	s := &plannedSnapshot{target: target, plan: plan, o: snapshotOptions{force: true, timeout: session.DefaultTimeout}}
	out := filepath.Join(dir, "x.gcdump")
	err := p.snapshotFile(t.Context(), s, out, false)
	want := fmt.Sprintf("refused: process %d has sent more than 21.0 MB, and a walk of its heap cannot take that", target.PID)
	if err == nil || !strings.HasPrefix(err.Error(), want) || exit.Code(err) != exit.Data {
		t.Errorf("%v with exit code %d, want %q", err, exit.Code(err), want)
	}
	for folder, want := range map[string]int{dir: 0, temporary: 0} {
		if left, err := os.ReadDir(folder); err != nil || len(left) != want {
			t.Errorf("left: %v, %v", left, err)
		}
	}
}

// TestLimitOwn: what the kernel refuses beyond a limit is an error, not the end, and afterwards
// everything is as before.
func TestLimitOwn(t *testing.T) {
	resources := []int{unix.RLIMIT_AS, unix.RLIMIT_CPU, unix.RLIMIT_FSIZE}
	limits := func() (list []uint64) {
		for _, r := range resources {
			var l unix.Rlimit
			if err := unix.Getrlimit(r, &l); err != nil {
				t.Fatal(err)
			}
			list = append(list, l.Cur)
		}
		score, err := os.ReadFile("/proc/self/oom_score_adj")
		if err != nil {
			t.Fatal(err)
		}
		return append(list, uint64(len(score))) // "0" or "1000"
	}
	before := limits()
	const most = 1 << 30
	_, release := limitOwn(1<<40, most, time.Hour)
	during := limits()
	for i := range during[1:3] {
		if during[1+i] >= before[1+i] {
			t.Errorf("limit %d is %d, was %d", resources[1+i], during[1+i], before[1+i])
		}
	}
	f, err := os.Create(filepath.Join(t.TempDir(), "x"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteAt([]byte{1}, int64(during[2])); !errors.Is(err, syscall.EFBIG) {
		t.Errorf("a byte at %d: %v", during[2], err)
	}
	release()
	for i, l := range limits() {
		if l != before[i] {
			t.Errorf("limit %d is %d, was %d", i, l, before[i])
		}
	}
}
