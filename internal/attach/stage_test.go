package attach

import (
	"bytes"
	"encoding/binary"
	"errors"
	"net"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/internal/fakeruntime"
	"github.com/gclog/gclog/internal/host"
	"github.com/gclog/gclog/internal/output"
	"github.com/gclog/gclog/internal/testing/nettracetest"
	"github.com/gclog/gclog/parse/clr"
	"github.com/gclog/gclog/session"
)

// A stage is a session of a fake runtime: a test has it send events, each with the time of the
// clock.
type stage struct {
	*fakeruntime.Session
	w        nettracetest.V4
	sync     time.Time  // when the stream starts
	ticks    int64      // at sync
	sent     int64      // bytes
	unsorted bool       // events arrive in buffers, as those of other threads do
	instance byte       // of the runtime
	closed   bool       // the connection is closed
	kind     clr.GCType // of collect: foreground while a background collection is in progress
}

// The metadata ids of the events at the end of a session.
const (
	rundownKind = 1000 + iota // the GC's settings
	infoKind                  // what the runtime is
)

// onStage returns a runtime in memory that has play send the events of each session. The session
// ends when play returns. c.Trace precedes the head of the stream.
func onStage(t *testing.T, c fakeruntime.Config, play func(*stage)) *host.Target {
	t.Helper()
	before := c.Trace
	c.Trace = func(s *fakeruntime.Session) string {
		x := &stage{Session: s, sync: time.Now()}
		if before != nil {
			before(s)
		}
		clock := nettracetest.DefaultClock()
		clock.Time, clock.PerSecond = x.sync, 1e7 // a tick is 100 ns
		clock.Ticks += x.sync.UnixNano() / 100
		x.ticks = clock.Ticks
		x.w.Begin(clock)
		for id, version := range map[uint32]uint32{
			clr.IDGCStart: 2, clr.IDGCEnd: 1, clr.IDGCHeapStats: 2, clr.IDGCSuspendEEBegin: 1, clr.IDGCSuspendEEEnd: 1,
			clr.IDGCRestartEEBegin: 1, clr.IDGCRestartEEEnd: 1, clr.IDGCGlobalHeapHistory: 4, clr.IDGCTriggered: 1, clr.IDGCBulkNode: 0,
		} {
			x.w.Metadata(nettracetest.Kind{ID: id, Provider: clr.RuntimeProvider, EventID: id, Version: version, Level: clr.LevelInformational, Keywords: clr.KeywordGC})
		}
		for id, event := range map[uint32]uint32{rundownKind: clr.IDRundownGCSettings, infoKind: clr.IDRundownRuntimeInformation} {
			x.w.Metadata(nettracetest.Kind{ID: id, Provider: clr.RundownProvider, EventID: event, Level: clr.LevelInformational, Keywords: clr.KeywordGC})
		}
		x.send()
		play(x)
		x.w.End()
		x.send()
		return "is over"
	}
	return start(t, c)
}

// start starts a runtime in memory.
func start(t *testing.T, c fakeruntime.Config) *host.Target {
	t.Helper()
	l := pipes()
	c.Listener = l
	r, err := fakeruntime.Start(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() })
	return &host.Target{Client: session.Client{Dial: l.dial}, Process: alive(t)}
}

// alive returns a process that does not exit during the test.
func alive(t *testing.T) host.Process {
	t.Helper()
	self, err := new(host.Host).Describe(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	return host.Process{PID: self.PID, StartKey: self.StartKey}
}

func (x *stage) send() {
	n, _ := x.Conn.Write(x.w.Take())
	x.sent += int64(n)
}

// close closes the connection.
func (x *stage) close() {
	x.closed = true
	_ = x.Conn.Close()
}

// event sends an event of the thread that collects.
func (x *stage) event(kind uint32, payload []byte) {
	x.eventBy(5, kind, payload)
}

// eventBy sends an event of a thread, with the id of the runtime instance after its payload.
func (x *stage) eventBy(thread uint64, kind uint32, payload []byte) {
	x.w.Open()
	x.w.Add(nettracetest.Row{Kind: kind, Thread: thread, Sorted: !x.unsorted, Ticks: x.ticks + time.Since(x.sync).Nanoseconds()/100, Payload: append(payload, x.instance, 0)})
	x.w.Close()
	x.send()
}

// suspend suspends the threads of the program, which takes a millisecond.
func (x *stage) suspend(reason clr.SuspendReason) {
	x.event(clr.IDGCSuspendEEBegin, le32(uint32(reason), 0))
	time.Sleep(time.Millisecond)
	x.event(clr.IDGCSuspendEEEnd, nil)
}

func (x *stage) resume() {
	x.event(clr.IDGCRestartEEBegin, nil)
	x.event(clr.IDGCRestartEEEnd, nil)
}

func (x *stage) begin(number, generation uint32, kind clr.GCType) {
	x.beginFor(clr.ReasonAllocSmall, number, generation, kind, 0)
}

func (x *stage) beginFor(reason clr.Reason, number, generation uint32, kind clr.GCType, sequence uint64) {
	payload := append(le32(number, generation, uint32(reason), uint32(kind)), x.instance, 0)
	x.event(clr.IDGCStart, binary.LittleEndian.AppendUint64(payload, sequence))
}

func (x *stage) end(number, generation uint32) { x.endBy(5, number, generation) }

func (x *stage) endBy(thread uint64, number, generation uint32) {
	x.eventBy(thread, clr.IDGCEnd, le32(number, generation))
	sizes := make([]byte, 110)
	binary.LittleEndian.PutUint64(sizes, 1<<20)   // gen0
	binary.LittleEndian.PutUint64(sizes[8:], 100) // promoted of it
	x.eventBy(thread, clr.IDGCHeapStats, sizes)
}

// beginBackground and endBackground start and end a background gen2 collection, on its own thread.
func (x *stage) beginBackground(number uint32) {
	x.suspend(clr.SuspendForGC)
	x.begin(number, 2, clr.TypeBackground)
	x.resume()
	x.kind = clr.TypeForeground
}

func (x *stage) endBackground(number uint32) {
	x.endBy(9, number, 2)
	x.kind = clr.TypeBlocking
}

// collect does a gen0 collection with a pause of 3 ms.
func (x *stage) collect(number uint32) {
	x.suspend(clr.SuspendForGC)
	x.begin(number, 0, x.kind)
	time.Sleep(2 * time.Millisecond)
	x.end(number, 0)
	x.resume()
}

// induce does a full blocking collection that was requested, with a pause of 3 ms.
func (x *stage) induce(number uint32) {
	x.induceAs(number, 2, clr.TypeBlocking, clr.ReasonInduced)
}

func (x *stage) induceAs(number, generation uint32, kind clr.GCType, reason clr.Reason) {
	x.suspend(clr.SuspendForGC)
	x.beginFor(reason, number, generation, kind, 0)
	time.Sleep(2 * time.Millisecond)
	x.end(number, generation)
	x.resume()
}

// settings sends the settings of the GC, as a runtime does at the end of a session that asks for
// them.
func (x *stage) settings() {
	b := binary.LittleEndian.AppendUint64(nil, 300<<20) // hard limit
	for _, v := range []uint64{85_000, 1 << 30, 256 << 10, 6 << 20} {
		b = binary.LittleEndian.AppendUint64(b, v)
	}
	x.event(rundownKind, append(b, le32(90, 1)...))
}

// runtimeInfo sends the information about a runtime: 9.0.7, server GC, not concurrent.
func (x *stage) runtimeInfo() {
	b := []byte{0, 0, 0, 0, 9, 0, 0, 0, 7, 0, 0, 0, 9, 0, 0, 0, 7, 0, 0, 0} // the versions of the library and of the runtime
	b = append(b, le32(clr.StartupServerGC)...)
	b = append(b, make([]byte, 1+2+16+2)...)
	x.event(infoKind, b)
}

// untilStopped waits until the session is to end.
func (x *stage) untilStopped() {
	select {
	case <-x.Stopped:
	case <-x.Over:
	}
}

// isOver waits for d and reports whether the session was stopped in the meantime.
func (x *stage) isOver(d time.Duration) bool {
	select {
	case <-x.Stopped:
		return true
	case <-x.Over:
		return true
	case <-time.After(d):
		return false
	}
}

// jsonTo returns a JSON output that writes to out.
func jsonTo(t *testing.T, out *bytes.Buffer) ([]output.Spec, *output.Opener) {
	t.Helper()
	f, err := formats.Find("json")
	if err != nil {
		t.Fatal(err)
	}
	return []output.Spec{{Path: output.Stdout, Format: f}}, &output.Opener{Stdout: out, Warn: func(s string) { t.Error(s) }}
}

// lightOptions returns the options of a session at level light with one output in json.
func lightOptions(t *testing.T, target *host.Target, out *bytes.Buffer) (o Options) {
	t.Helper()
	o.Target, o.Config, o.Process = target, configOf(t, "light"), &gclog.Process{ID: 1}
	o.Outputs, o.Opener = jsonTo(t, out)
	return o
}

func configOf(t *testing.T, level string) session.Config {
	t.Helper()
	cfg, err := SessionConfig(level, nil, true)
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

// A countingConn counts the reads that time out.
type countingConn struct {
	net.Conn
	silences *atomic.Int64
}

func (c countingConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		c.silences.Add(1)
	}
	return n, err
}
