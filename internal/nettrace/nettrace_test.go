package nettrace

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/internal/testing/nettracetest"
	"github.com/gclog/gclog/parse"
	"github.com/gclog/gclog/parse/clr"
)

// whole returns a stream with blocks of all kinds.
func whole() []byte {
	var w nettracetest.V4
	clock := nettracetest.DefaultClock()
	w.Begin(clock)
	w.Metadata(nettracetest.Kind{ID: 1, Provider: "P", EventID: 10, Version: 1})
	w.Block("StackBlock", make([]byte, 8))
	for i := range int64(9) { // the sizes of blocks vary, and so does their padding
		w.Events(nettracetest.Row{Kind: 1, Thread: 7, Ticks: clock.Ticks + i, Payload: make([]byte, i)})
	}
	w.SequencePoint(clock.Ticks+30, nettracetest.ThreadSeq{Thread: 7, Seq: 9})
	w.End()
	return w.Bytes
}

// TestCopy: a stream that is written block by block as it was read is the same.
func TestCopy(t *testing.T) {
	stream := whole()
	var b []byte
	r := parse.NewReader(bytes.NewReader(stream), parse.None)
	r.OnBlock(func(x parse.Block) {
		if x.Kind == parse.BlockTrace {
			b = AppendHead(b, x.Content)
			return
		}
		at := len(b) / 2 // an offset as if the first half were written already
		b = append(b[:at:at], AppendBlock(b[at:], int64(at), x.Kind, x.Content)...)
	})
	for r.Scan() {
	}
	if b = AppendEnd(b); !bytes.Equal(b, stream) {
		t.Errorf("%d bytes, want %d", len(b), len(stream))
	}
}

// TestMayBeHead: a head, a part of one, and what is none.
func TestMayBeHead(t *testing.T) {
	head := whole()[:HeadSize]
	for n := range HeadSize + 1 {
		if !MayBeHead(head[:n]) {
			t.Errorf("the first %d bytes cannot begin a head", n)
		}
	}
	for i := range HeadSize {
		b := bytes.Clone(head)
		b[i] ^= 1
		content := i >= HeadSize-1-traceSize && i < HeadSize-1
		if MayBeHead(b) != content {
			t.Errorf("with another byte at %d it may be a head: %v", i, !content)
		}
	}
}

// TestSync: the zero of a clock can be another point in time.
func TestSync(t *testing.T) {
	b := whole()
	zero := time.Date(2026, 11, 24, 23, 59, 58, 987e6, time.FixedZone("", 3600))
	Sync(b[HeadSize-1-traceSize:], zero, 123_456)
	trace, err := parse.NewReader(bytes.NewReader(b), parse.None).ReadTrace()
	if err != nil || !trace.SyncTime.Equal(zero) || trace.SyncTicks != 123_456 || trace.TicksPerSecond != nettracetest.DefaultClock().PerSecond {
		t.Errorf("%+v, %v", trace, err)
	}
}

// TestAppendProcess: what is known of a process is read as it was written, and what follows the head
// can be appended as it is.
func TestAppendProcess(t *testing.T) {
	stream := whole()
	clock := nettracetest.DefaultClock()
	for _, known := range []gclog.Process{
		{},
		{Name: "Zähler 𝄞", RuntimeVersion: "9.0.1-preview.3", Flavor: gclog.FlavorNativeAOT, Server: gclog.No},
		{Name: "orders", Flavor: gclog.FlavorCoreCLR, Server: gclog.Yes, Started: clock.Time.Add(-time.Minute), DiagnosticsThreads: []uint64{4713, 1<<64 - 1}, Snapshot: true},
	} {
		b := append(AppendProcess(bytes.Clone(stream[:HeadSize]), &known), stream[HeadSize:]...)
		events := read(t, b)
		if len(events) != 10 || !strings.HasPrefix(events[0], "gclog 1 of thread 0 at 0:") {
			t.Errorf("%q", events)
		}
		r := parse.NewReader(bytes.NewReader(b), parse.All)
		r.Scan()
		e, err := clr.NewDecoder(8).Decode(r.Event())
		x, ok := e.(*clr.RecordedProcess)
		if err != nil || !ok {
			t.Fatal(e, err)
		}
		if got, want := fmt.Sprint(*x), fmt.Sprint(*recordedProcess(&known)); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// TestAppendThreads: the next event of a thread and a sequence point show what was lost since the
// number of its last event.
func TestAppendThreads(t *testing.T) {
	clock := nettracetest.DefaultClock()
	b := AppendThreads(whole()[:HeadSize], clock.Ticks, []Thread{{7, 100}, {8, 1<<32 - 1}, {9, 5}})
	var w nettracetest.V4
	w.Begin(clock)
	w.Bytes = b
	w.Metadata(nettracetest.Kind{ID: 1, Provider: "P", EventID: 10, Version: 1})
	w.Events(
		nettracetest.Row{Kind: 1, Thread: 7, Seq: 101, Ticks: clock.Ticks + 1, Sorted: true},
		nettracetest.Row{Kind: 1, Thread: 8, Seq: 2, Ticks: clock.Ticks + 2, Sorted: true},
	)
	w.SequencePoint(clock.Ticks+3, nettracetest.ThreadSeq{Thread: 7, Seq: 101}, nettracetest.ThreadSeq{Thread: 9, Seq: 8})
	w.End()
	want := []string{
		"gclog 2 of thread 7 at 0: ", "gclog 2 of thread 8 at 0: ", "gclog 2 of thread 9 at 0: ",
		"P 10 of thread 7 at 1: ", "2 of thread 8 lost at 2", "P 10 of thread 8 at 2: ", "3 of thread 9 lost at 3",
	}
	if got := read(t, w.Bytes); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%q", got)
	}
}

// TestIDs: no runtime gives the ids of our events to its own events: they count from 1, and readers
// have 31 bits for them.
func TestIDs(t *testing.T) {
	for _, id := range []uint32{processID, threadID} {
		if id < 1<<20 || id >= 1<<31 {
			t.Errorf("%d", id)
		}
	}
}

// read returns the events and losses of a stream.
func read(t *testing.T, stream []byte) (list []string) {
	t.Helper()
	r := parse.NewReader(bytes.NewReader(stream), parse.All)
	for r.Scan() {
		if l := r.Loss(); l != nil {
			list = append(list, fmt.Sprintf("%d of thread %d lost at %d", l.Events, l.Thread, l.To))
		} else {
			e := r.Event()
			list = append(list, fmt.Sprintf("%s %d of thread %d at %d: %x", e.Meta.Provider, e.Meta.EventID, e.Thread, e.Time, e.Payload))
		}
	}
	if err := r.Err(); err != nil {
		t.Fatal(err)
	}
	return list
}
