package parse_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"runtime"
	"runtime/metrics"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/gclog/gclog/internal/testing/extent"
	"github.com/gclog/gclog/internal/testing/nettracetest"
	"github.com/gclog/gclog/internal/testing/recordings"
	"github.com/gclog/gclog/parse"
)

// t0 is the time stamp of the sync point of the streams made here.
var t0 = nettracetest.DefaultClock().Ticks

// read returns what a Reader delivered, in short form: "time/thread" for events, "lost n" for
// losses.
func read(stream []byte, filter func(*parse.Metadata) parse.Want) (got []string, r *parse.Reader) {
	r = parse.NewReader(bytes.NewReader(stream), filter)
	for r.Scan() {
		got = append(got, short(r))
	}
	return got, r
}

func short(r *parse.Reader) string {
	if l := r.Loss(); l != nil {
		if r.Event() != nil {
			return "a loss and an event"
		}
		return fmt.Sprintf("lost %d on %d in %d-%d", l.Events, l.Thread, l.From, l.To)
	}
	e := r.Event()
	return fmt.Sprintf("%d/%d", e.Time, e.Thread)
}

func want(t *testing.T, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func begin() *nettracetest.V4 {
	w := &nettracetest.V4{}
	w.Begin(nettracetest.DefaultClock())
	w.Metadata(
		nettracetest.Kind{ID: 1, Provider: "P", EventID: 10, Version: 2, Level: 4, Keywords: 1},
		nettracetest.Kind{ID: 2, Provider: "aĀ𝄞", EventID: 11, Name: "Näme", Opcode: 7},
	)
	return w
}

func row(thread uint64, at int64, sorted bool) nettracetest.Row {
	return nettracetest.Row{Kind: 1, Thread: thread, Ticks: t0 + at, Sorted: sorted, Payload: []byte{byte(at)}}
}

// TestRecordedCounts: events and losses of recordings whose content is known.
func TestRecordedCounts(t *testing.T) {
	known := map[string][2]int64{
		"stall": {7915, 22704}, "v6-net10-wks-churn": {1434, 0}, "v6-net9-datas-fast": {3259, 0}, "v6-net10-svr-verbose": {35090, 0},
		"v6-wksb": {1505, 88}, "v6-merge-machine": {4896, 0}, "v6-merge-window": {4042, 0}, "v6-net8-wks-cut": {1392, 0},
		"v6-net8-datas-alien": {905, 0}, "v6-merge-kvversion": {1797, 0}, "tick": {120, 0}, "net10-wks-oom": {453, 0},
	}
	cut := map[string]bool{"net10-wks-oom": true, "v6-net8-wks-cut": true}
	recordings.ForEach(t, func(t *testing.T, tr recordings.Trace) {
		r := parse.NewReader(bytes.NewReader(recordings.Read(t, tr.Path)), parse.All)
		var events, lost, last int64
		for r.Scan() {
			if l := r.Loss(); l != nil {
				lost += int64(l.Events)
				continue
			}
			e := r.Event()
			events++
			if e.Ticks < last {
				t.Fatalf("event at %d behind one at %d", e.Ticks, last)
			}
			last = e.Ticks
		}
		if err := r.Err(); cut[tr.Name] != errors.Is(err, io.ErrUnexpectedEOF) || err != nil && !cut[tr.Name] {
			t.Errorf("ended with %v", err)
		}
		s := r.Stats()
		if s.Rows != events || s.Lost != lost || s.Late != 0 || s.UnknownMetadata != 0 {
			t.Errorf("%d events, %d lost, stats %+v", events, lost, s)
		}
		if k, ok := known[tr.Name]; ok && k != [2]int64{events, lost} {
			t.Errorf("%d events and %d lost, want %v", events, lost, k)
		} else if !ok && lost != 0 {
			t.Errorf("%d events lost in a recording without losses", lost)
		}
	})
}

func TestHead(t *testing.T) {
	w := begin()
	w.Events(nettracetest.Row{Kind: 2, Thread: 5, Ticks: t0 + 1, Sorted: true, Payload: []byte("abc"), Activity: true})
	w.End()
	r := parse.NewReader(bytes.NewReader(w.Bytes), parse.All)
	trace, err := r.ReadTrace()
	if err != nil {
		t.Fatal(err)
	}
	if want := time.Date(2024, 1, 15, 10, 0, 0, 0, time.UTC); !trace.SyncTime.Equal(want) || trace.PointerSize != 8 || trace.ProcessID != 4711 {
		t.Errorf("head is %+v", trace)
	}
	if !r.Scan() {
		t.Fatal(r.Err())
	}
	e := r.Event()
	m := e.Meta
	if m.Provider != "aĀ𝄞" || m.Name != "Näme" || m.EventID != 11 || m.Opcode != 7 || string(e.Payload) != "abc" || e.Process != 4711 {
		t.Errorf("event %+v with metadata %+v", e, m)
	}
	if r.Scan() || r.Err() != nil {
		t.Errorf("a second event, or the error %v", r.Err())
	}
}

// TestOrder: a sorted row releases the rows that are older, and only those.
func TestOrder(t *testing.T) {
	for _, uncompressed := range []bool{false, true} {
		w := begin()
		w.Uncompressed = uncompressed
		w.Events(row(1, 10, true), row(1, 40, false), row(1, 50, false), row(2, 20, true), row(2, 45, false), row(3, 30, true))
		w.Events(row(1, 60, true), row(4, 70, true), row(4, 90, false), row(5, 80, true))
		w.End()
		got, r := read(w.Bytes, parse.All)
		want(t, got, "10/1", "20/2", "30/3", "40/1", "45/2", "50/1", "60/1", "70/4", "80/5", "90/4")
		if r.Err() != nil || r.Stats().Late != 0 {
			t.Error(r.Err(), r.Stats())
		}
	}
}

// TestEqualTimes: rows of one thread with the same time stamp stay in order.
func TestEqualTimes(t *testing.T) {
	w := begin()
	a, b := row(1, 10, false), row(1, 10, true)
	a.Payload, b.Payload = []byte("first"), []byte("second")
	w.Events(a, b)
	w.End()
	r := parse.NewReader(bytes.NewReader(w.Bytes), parse.All)
	var got []string
	for r.Scan() {
		got = append(got, string(r.Event().Payload))
	}
	want(t, got, "first", "second")
}

// TestSequencePoint: a sequence point releases everything in front of it.
func TestSequencePoint(t *testing.T) {
	w := begin()
	w.Events(row(1, 40, false), row(2, 20, false))
	w.SequencePoint(t0 + 50)
	w.Events(row(1, 60, false))
	w.End()
	got, _ := read(w.Bytes, parse.All)
	want(t, got, "20/2", "40/1", "60/1")
}

// A slow is a source with a deadline: it returns one piece, then times out once.
type slow struct {
	pieces [][]byte
	quiet  bool
}

func (s *slow) Read(p []byte) (int, error) {
	if s.quiet = !s.quiet; !s.quiet {
		return 0, os.ErrDeadlineExceeded
	}
	if len(s.pieces) == 0 {
		return 0, io.EOF
	}
	n := copy(p, s.pieces[0])
	if s.pieces[0] = s.pieces[0][n:]; len(s.pieces[0]) == 0 {
		s.pieces = s.pieces[1:]
	}
	return n, nil
}

// TestFlush: Flush releases the waiting rows of a silent stream.
func TestFlush(t *testing.T) {
	w := begin()
	w.Events(row(1, 10, true), row(1, 20, false))
	first := len(w.Bytes)
	w.Events(row(2, 30, true), row(2, 40, false))
	second := len(w.Bytes)
	w.End()
	src := &slow{pieces: [][]byte{w.Bytes[:first]}}
	r := parse.NewReader(src, parse.All)
	flushed := func(event string) { // without further bytes from the source
		t.Helper()
		if r.Flush(); !r.Scan() || short(r) != event {
			t.Errorf("Flush gives %s, want %s: %v", short(r), event, r.Err())
		}
	}
	want(t, scanUntilQuiet(t, r), "10/1")
	src.pieces = [][]byte{nil}
	flushed("20/1")
	src.pieces = append(src.pieces, w.Bytes[first:second], nil)
	want(t, append(scanUntilQuiet(t, r), scanUntilQuiet(t, r)...), "30/2")
	flushed("40/2")
	src.pieces = [][]byte{w.Bytes[second:]}
	for r.Err() != nil {
		want(t, scanUntilQuiet(t, r))
	}
	if r.Scan() || r.Err() != nil {
		t.Errorf("ended with %v", r.Err())
	}
}

// TestInterrupted: what the last block implies about the next one.
func TestInterrupted(t *testing.T) {
	full := make([]byte, 60<<10)
	for name, c := range map[string]struct {
		write func(w *nettracetest.V4)
		more  bool
	}{
		"events":   {func(w *nettracetest.V4) { w.Events(row(1, 10, true)) }, false},
		"metadata": {func(w *nettracetest.V4) { w.Metadata(nettracetest.Kind{ID: 9, Provider: "P", EventID: 9}) }, true},
		"a full block": {func(w *nettracetest.V4) {
			r := row(1, 10, true)
			r.Payload = full
			w.Events(r, r)
		}, true},
		"a full block, and the rest": {func(w *nettracetest.V4) {
			r := row(1, 10, true)
			r.Payload = full
			w.Events(r, r)
			w.Events(row(2, 30, true))
		}, false},
		"stacks between metadata and events": {func(w *nettracetest.V4) {
			w.Metadata(nettracetest.Kind{ID: 9, Provider: "P", EventID: 9})
			w.Block("StackBlock", make([]byte, 8)) // the first id and no stacks
		}, true},
	} {
		w := begin()
		c.write(w)
		stream := &slow{pieces: [][]byte{w.Bytes}}
		r := parse.NewReader(stream, parse.All)
		for len(stream.pieces) > 0 {
			scanUntilQuiet(t, r)
		}
		if r.Interrupted() != c.more {
			t.Errorf("%s: %v", name, r.Interrupted())
		}
	}
}

// TestQuietKeeps: waiting rows are unchanged however often Scan finds nothing.
func TestQuietKeeps(t *testing.T) {
	with := func(r nettracetest.Row, payload string) nettracetest.Row { r.Payload = []byte(payload); return r }
	unwanted := row(2, 15, true)
	unwanted.Kind = 2
	w := begin()
	w.Events(with(row(1, 10, false), "first"), with(row(1, 20, false), "second"), unwanted)
	first := len(w.Bytes)
	w.Events(with(row(1, 30, false), "a third that is longer"))
	w.End()
	src := &slow{pieces: [][]byte{w.Bytes[:first]}}
	r := parse.NewReader(src, func(m *parse.Metadata) parse.Want { return parse.Want{Deliver: m.EventID == 10} })
	want(t, scanUntilQuiet(t, r), "10/1")
	src.pieces = [][]byte{nil, nil, nil, w.Bytes[first:]}
	var got []string
	for len(src.pieces) > 0 || r.Err() != nil {
		for r.Scan() {
			got = append(got, string(r.Event().Payload))
		}
	}
	want(t, got, "second", "a third that is longer")
}

// TestUnwantedSorted: an unwanted sorted row still releases older rows, even if it differs from the
// previous row only in its time.
func TestUnwantedSorted(t *testing.T) {
	unwanted := func(at int64, sorted bool) nettracetest.Row { r := row(2, at, sorted); r.Kind = 2; return r }
	wanted := func(m *parse.Metadata) parse.Want { return parse.Want{Deliver: m.EventID == 10} }
	for _, rows := range [][]nettracetest.Row{
		{row(1, 10, false), unwanted(15, true)},
		{row(1, 10, false), unwanted(5, false), unwanted(15, true)},
		{row(1, 10, false), row(1, 20, false), unwanted(5, false), unwanted(6, false), unwanted(15, true), unwanted(16, false)},
	} {
		w := begin()
		w.Events(rows...)
		want(t, scanUntilQuiet(t, parse.NewReader(&slow{pieces: [][]byte{w.Bytes}}, wanted)), "10/1")
	}
}

// TestFlushInsideBlock: in the middle of a block, rows are still to come that may be older than
// those waiting.
func TestFlushInsideBlock(t *testing.T) {
	w := begin()
	w.Events(row(1, 10, true), row(1, 20, false))
	w.Events(row(2, 15, true), row(2, 40, false))
	middle := len(w.Bytes) - 5
	w.End()
	r := parse.NewReader(&slow{pieces: [][]byte{w.Bytes[:middle], w.Bytes[middle:]}}, parse.All)
	want(t, scanUntilQuiet(t, r), "10/1")
	r.Flush()
	want(t, scanUntilQuiet(t, r), "15/2", "20/1", "40/2")
	if s := r.Stats(); s.Late != 0 {
		t.Errorf("%+v", s)
	}
}

// scanUntilQuiet returns what Scan delivers until the source has nothing for now.
func scanUntilQuiet(t *testing.T, r *parse.Reader) (got []string) {
	t.Helper()
	for r.Scan() {
		got = append(got, short(r))
	}
	if err := r.Err(); err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatal(err)
	}
	return got
}

// TestByteByByte: the result does not depend on how the source splits the stream.
func TestByteByByte(t *testing.T) {
	for _, tr := range recordings.Repository(t)[:3] {
		stream := recordings.Read(t, tr.Path)
		whole, _ := read(stream, parse.All)
		r := parse.NewReader(iotest.OneByteReader(bytes.NewReader(stream)), parse.All)
		var got []string
		for r.Scan() {
			got = append(got, short(r))
		}
		if !slices.Equal(got, whole) {
			t.Errorf("%s: other events byte by byte", tr.Name)
		}
	}
}

func TestLoss(t *testing.T) {
	seq := func(r nettracetest.Row, n uint32) nettracetest.Row { r.Seq = n; return r }
	for _, c := range []struct {
		name   string
		stream func(*nettracetest.V4)
		want   []string
	}{
		{"gap within a block", func(w *nettracetest.V4) {
			w.Events(seq(row(1, 10, true), 1), seq(row(1, 20, true), 2), seq(row(1, 30, true), 6))
		}, []string{"10/1", "20/1", "lost 3 on 1 in 20-30", "30/1"}},
		{"gap between blocks", func(w *nettracetest.V4) {
			w.Events(seq(row(1, 10, true), 1))
			w.Events(seq(row(1, 20, true), 3))
		}, []string{"10/1", "lost 1 on 1 in 10-20", "20/1"}},
		{"first seen thread", func(w *nettracetest.V4) { w.Events(seq(row(1, 10, true), 7)) }, []string{"10/1"}},
		{"thread id used again", func(w *nettracetest.V4) {
			w.Events(seq(row(1, 10, true), 9), seq(row(1, 20, true), 1))
		}, []string{"10/1", "20/1"}},
		{"numbers going back", func(w *nettracetest.V4) {
			w.Events(seq(row(1, 10, true), 9), seq(row(1, 20, true), 5))
		}, []string{"10/1", "20/1"}},
		{"only a sequence point knows", func(w *nettracetest.V4) {
			w.Events(seq(row(1, 10, true), 4))
			w.SequencePoint(t0+50, nettracetest.ThreadSeq{Thread: 1, Seq: 6}, nettracetest.ThreadSeq{Thread: 2, Seq: 3})
			w.Events(seq(row(1, 60, true), 7))
		}, []string{"10/1", "lost 2 on 1 in 10-50", "lost 3 on 2 in 50-50", "60/1"}},
		{"after a sequence point that alone knows the thread", func(w *nettracetest.V4) {
			w.Events(seq(row(1, 10, true), 1))
			w.SequencePoint(t0+50, nettracetest.ThreadSeq{Thread: 2, Seq: 3})
			w.Events(seq(row(2, 60, true), 6))
		}, []string{"10/1", "lost 3 on 2 in 50-50", "lost 2 on 2 in 50-60", "60/2"}},
		{"gap among threads in turn", func(w *nettracetest.V4) {
			w.Events(seq(row(1, 10, true), 1), seq(row(2, 20, true), 1), seq(row(1, 30, true), 2), seq(row(2, 40, true), 3))
		}, []string{"10/1", "20/2", "30/1", "lost 1 on 2 in 20-40", "40/2"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := begin()
			c.stream(w)
			w.End()
			got, r := read(w.Bytes, parse.All)
			want(t, got, c.want...)
			if r.Err() != nil {
				t.Error(r.Err())
			}
			// Unwanted rows count too.
			var losses []string
			for _, s := range c.want {
				if strings.HasPrefix(s, "lost") {
					losses = append(losses, s)
				}
			}
			got, _ = read(w.Bytes, parse.None)
			want(t, got, losses...)
		})
	}
}

// TestFilter: rows that the filter rejects are not delivered, but still determine the order of the
// rest.
func TestFilter(t *testing.T) {
	w := begin()
	unwanted := row(3, 25, true)
	unwanted.Kind = 2
	w.Events(row(1, 10, true), row(1, 20, false), unwanted, row(1, 40, false))
	rest := len(w.Bytes)
	w.End()
	asked := 0
	got, r := read(w.Bytes, func(m *parse.Metadata) parse.Want { asked++; return parse.Want{Deliver: m.EventID == 10} })
	want(t, got, "10/1", "20/1", "40/1")
	if s := r.Stats(); s.Rows != 4 || asked != 2 {
		t.Errorf("%+v, the filter was asked %d times", s, asked)
	}
	// The sorted row releases the waiting rows although it is unwanted itself: a stream that times
	// out after it has delivered the older row.
	r = parse.NewReader(&slow{pieces: [][]byte{w.Bytes[:rest]}}, func(m *parse.Metadata) parse.Want { return parse.Want{Deliver: m.EventID == 10} })
	got = nil
	for r.Scan() {
		got = append(got, short(r))
	}
	want(t, got, "10/1", "20/1")
}

// TestFold: rows of a kind that allows folding are folded into the first row of their run, and
// never across another row of the same thread.
func TestFold(t *testing.T) {
	w := begin()
	other := func(thread uint64, at int64) nettracetest.Row {
		r := row(thread, at, false)
		r.Kind = 2
		return r
	}
	w.Events(row(1, 1, true), row(1, 2, false), row(1, 3, false), other(1, 4), row(1, 5, false), row(1, 6, false), row(2, 2, true), row(2, 7, false))
	w.Events(row(1, 8, false), row(1, 9, true), row(1, 10, false))
	w.End()
	r := parse.NewReader(bytes.NewReader(w.Bytes), func(m *parse.Metadata) parse.Want {
		if m.EventID == 10 {
			return parse.Want{Deliver: true, Sum: func(_ *parse.Trace, b []byte) uint64 { return uint64(b[0]) }}
		}
		return parse.Want{Deliver: true}
	})
	var got []string
	for r.Scan() {
		e := r.Event()
		got = append(got, fmt.Sprintf("%s+%d=%d", short(r), e.More, e.Sum))
	}
	want(t, got, "1/1+0=1", "2/1+1=5", "2/2+0=2", "4/1+0=0", "5/1+2=19", "7/2+0=7", "9/1+0=9", "10/1+0=10")
	if s := r.Stats(); s.Rows != 11 || s.Late != 0 || r.Err() != nil {
		t.Error(s, r.Err())
	}
}

func TestUnknownMetadata(t *testing.T) {
	w := begin()
	strange := row(1, 20, true)
	strange.Kind = 99
	w.Events(row(1, 10, true), strange, row(1, 30, true))
	w.End()
	got, r := read(w.Bytes, parse.All)
	want(t, got, "10/1", "30/1")
	if r.Stats().UnknownMetadata != 1 || r.Err() != nil {
		t.Error(r.Stats(), r.Err())
	}
}

// TestForcedRelease: the queue is bounded. It has room for everything that a runtime buffered for
// one thread while nothing was read. Rows that come too late beyond that are delivered and counted.
func TestForcedRelease(t *testing.T) {
	extent.Long(t)
	for _, c := range []struct {
		rows int
		late int64
	}{{100_000, 0}, {200_000, 1}} {
		w := begin()
		var rows []nettracetest.Row
		for i := range c.rows {
			rows = append(rows, row(1, int64(1000+i), false))
		}
		w.Events(rows...)
		w.Events(row(2, 10, false))
		w.End()
		got, r := read(w.Bytes, parse.All)
		if len(got) != c.rows+1 || r.Stats().Late != c.late || r.Err() != nil {
			t.Errorf("%d rows: %d events, %+v, %v", c.rows, len(got), r.Stats(), r.Err())
		}
	}
}

// TestVersions: no version in a stream is mistaken for VersionUnknown.
func TestVersions(t *testing.T) {
	for version := range 4 {
		w := &nettracetest.V4{}
		w.Begin(nettracetest.DefaultClock())
		w.Metadata(nettracetest.Kind{ID: 1, Provider: "P", Name: "N", Version: uint32(version)})
		w.Events(row(1, 1, true))
		r := parse.NewReader(bytes.NewReader(w.Bytes), parse.All)
		if !r.Scan() || r.Event().Version != version || version == parse.VersionUnknown {
			t.Errorf("version %d became %d: %v", version, r.Event().Version, r.Err())
		}
	}
}

func TestV6(t *testing.T) {
	start := func() *nettracetest.V6 {
		w := &nettracetest.V6{}
		w.Begin(nettracetest.DefaultClock(), "ProcessId", "77", "HardwareThreadCount", "8", "Unknown", "x")
		w.Metadata(nettracetest.Kind{ID: 1, Provider: "P", EventID: 10, Version: 3, Level: 4}, nettracetest.Kind{ID: 2, Provider: "Q", EventID: 11})
		return w
	}
	t.Run("threads and processes", func(t *testing.T) {
		w := start()
		w.Threads(nettracetest.Thread{Index: 0, Process: 5, ID: 500}, nettracetest.Thread{Index: 1, ID: 600}, nettracetest.Thread{Index: 2, Process: 7})
		w.Events(row(0, 10, true), row(1, 20, true), row(2, 30, true))
		w.End()
		w.Bytes = append(w.Bytes, "what follows the end is not read"...)
		r := parse.NewReader(bytes.NewReader(w.Bytes), parse.All)
		var got []string
		for r.Scan() {
			e := r.Event()
			got = append(got, fmt.Sprintf("%d:%d v%d", e.Process, e.Thread, e.Version))
		}
		want(t, got, "5:500 v3", "77:600 v3", fmt.Sprintf("7:%d v3", uint64(2)|1<<63))
		if r.Err() != nil || r.Trace().Processors != 8 || r.Trace().Major != 6 {
			t.Error(r.Err(), r.Trace())
		}
	})
	t.Run("version unknown", func(t *testing.T) {
		w := start()
		w.Threads(nettracetest.Thread{Index: 1, ID: 1})
		e := row(1, 10, true)
		e.Kind = 2
		w.Events(e)
		w.End()
		r := parse.NewReader(bytes.NewReader(w.Bytes), parse.All)
		if !r.Scan() || r.Event().Version != parse.VersionUnknown {
			t.Errorf("%+v %v", r.Event(), r.Err())
		}
	})
	t.Run("version by label", func(t *testing.T) {
		w := start()
		w.Threads(nettracetest.Thread{Index: 1, ID: 1})
		// Two lists, starting at id 1: a version; an activity id, then a level.
		labels := append([]byte{1, 0, 0, 0, 2, 0, 0, 0}, 10|0x80, 4, 1)
		labels = append(labels, make([]byte, 16)...)
		labels = append(labels, 9|0x80, 5)
		w.Block(nettracetest.BlockLabels, labels)
		a, b := row(1, 10, true), row(1, 20, true)
		a.Labels, b.Labels = 1, 2
		w.Events(a, b)
		w.SequencePoint(t0+25, 0)
		w.Events(a) // its list is no longer valid
		w.End()
		r := parse.NewReader(bytes.NewReader(w.Bytes), parse.All)
		var got []string
		for r.Scan() {
			got = append(got, fmt.Sprint(r.Event().Version))
		}
		want(t, got, "4", "3", "3")
	})
	t.Run("unknown block kinds", func(t *testing.T) {
		w := start()
		w.Block(200, []byte("abc"))
		w.Block(9, nil)
		w.Threads(nettracetest.Thread{Index: 1, ID: 1})
		w.Events(row(1, 10, true))
		w.End()
		got, r := read(w.Bytes, parse.All)
		want(t, got, "10/1")
		if r.Err() != nil {
			t.Error(r.Err())
		}
	})
	t.Run("losses", func(t *testing.T) {
		w := start()
		w.Threads(nettracetest.Thread{Index: 1, ID: 11}, nettracetest.Thread{Index: 2, ID: 22})
		first := row(1, 10, true)
		first.Seq = 3 // two were lost in front of the first
		w.Events(first, row(2, 20, true))
		w.RemoveThreads(nettracetest.ThreadSeq{Thread: 2, Seq: 5})
		w.SequencePoint(t0+30, 1, nettracetest.ThreadSeq{Thread: 1, Seq: 4})
		w.Threads(nettracetest.Thread{Index: 1, ID: 33})
		w.Events(row(1, 40, true))
		w.End()
		got, r := read(w.Bytes, parse.All)
		want(t, got, "lost 2 on 11 in 10-10", "10/11", "20/22", "lost 4 on 22 in 20-20", "lost 1 on 11 in 10-30", "40/33")
		if r.Err() != nil || r.Stats().Lost != 7 {
			t.Error(r.Err(), r.Stats())
		}
	})
	t.Run("undeclared thread", func(t *testing.T) {
		w := start()
		w.Threads(nettracetest.Thread{Index: 1, ID: 11})
		w.Events(row(1, 10, true), row(9, 20, true))
		w.End()
		got, r := read(w.Bytes, parse.All)
		want(t, got, "10/11")
		var f *parse.FormatError
		if !errors.As(r.Err(), &f) || !strings.Contains(f.Msg, "thread index 9") {
			t.Errorf("ended with %v", r.Err())
		}
	})
	t.Run("metadata declared anew", func(t *testing.T) {
		w := start()
		w.Threads(nettracetest.Thread{Index: 1, ID: 11})
		w.Events(row(1, 10, true))
		w.SequencePoint(t0+15, 2)
		w.Metadata(nettracetest.Kind{ID: 1, Provider: "Z", EventID: 99, Version: 1}, nettracetest.Kind{ID: 7, Provider: "P", EventID: 10, Version: 3, Level: 4})
		again := row(1, 30, true)
		again.Kind = 7
		w.Events(row(1, 20, true), again)
		w.End()
		r := parse.NewReader(bytes.NewReader(w.Bytes), parse.All)
		var metas []*parse.Metadata
		for r.Scan() {
			metas = append(metas, r.Event().Meta)
		}
		if r.Err() != nil || len(metas) != 3 || metas[1].Provider != "Z" || metas[2] != metas[0] {
			t.Errorf("%v %v", metas, r.Err())
		}
	})
	t.Run("one queue per writer without sorted rows", func(t *testing.T) {
		w := start()
		w.Threads(nettracetest.Thread{Index: 1, ID: 11}, nettracetest.Thread{Index: 2, ID: 22})
		w.Events(row(1, 10, false), row(1, 30, false))
		w.Events(row(2, 20, false), row(2, 40, false))
		w.SequencePoint(t0+50, 0)
		w.End()
		got, _ := read(w.Bytes, parse.All)
		want(t, got, "10/11", "20/22", "30/11", "40/22")
	})
	t.Run("major version 7", func(t *testing.T) {
		w := start()
		w.Bytes[12] = 7
		_, r := read(w.Bytes, parse.All)
		if _, ok := errors.AsType[*parse.KindError](r.Err()); !ok {
			t.Errorf("ended with %v", r.Err())
		}
	})
}

// TestOtherFiles: files that are not nettrace streams are recognized, and described in one
// sentence.
func TestOtherFiles(t *testing.T) {
	etl := make([]byte, 200)
	etl[0x4a], etl[0x4b] = 2, 0xc0
	fast := func(name string) []byte {
		return append([]byte("\x14\x00\x00\x00!FastSerialization.1\x05\x04\x01\x02\x00\x00\x00\x00\x00\x00\x00"), name...)
	}
	for want, b := range map[string][]byte{
		"an empty file":                {},
		"the first bytes of one":       []byte("Nettr"),
		"unknown data":                 []byte("2024-01-15 some text"),
		"a NetPerf file":               fast("Microsoft.DotNet.Runtime.EventPipeFile"),
		"a log converted by PerfView":  fast("Microsoft.Diagnostics.Tracing.TraceLog"),
		"a heap snapshot":              fast("GCHeapDump"),
		"a Windows ETW log":            etl,
		"a zip archive":                []byte("PK\x03\x04trace.zip"),
		"a Linux perf recording":       []byte("PERFILE2xxxxxxxx"),
		"an LTTng recording":           []byte("\xc1\x1f\xfc\xc1aaaa"),
		"compressed data":              []byte("\x1f\x8b\x08\x00aaaa"),
		"an ELF program or library":    []byte("\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x03\x00"),
		"a Windows program or library": []byte("MZ\x90\x00"),
		"a web page":                   []byte("<!DOCTYPE html><html>"),
		"a script":                     []byte("#!/bin/sh\n"),
	} {
		_, r := read(b, parse.All)
		var k *parse.KindError
		if !errors.As(r.Err(), &k) || !strings.HasPrefix(k.Found, want) {
			t.Errorf("%s: ended with %v", want, r.Err())
		}
		if err := r.Err(); err != nil && strings.Contains(err.Error(), "\n") {
			t.Errorf("more than one line: %v", err)
		}
	}
}

// TestDamage: an error names the place, and everything in front of it is delivered.
func TestDamage(t *testing.T) {
	for _, c := range []struct {
		name   string
		damage func(w *nettracetest.V4)
		want   string
	}{
		{"block too large", func(w *nettracetest.V4) {
			at := len(w.Bytes)
			w.Block("EventBlock", nil)
			copy(w.Bytes[at+26:], "\xff\xff\xff\x7f")
		}, "a block of 2147483647 bytes"},
		{"unknown object", func(w *nettracetest.V4) { w.Block("Whatever", []byte("x")) }, `unknown kind "Whatever"`},
		{"wrong tag", func(w *nettracetest.V4) { w.Bytes = append(w.Bytes, 77) }, "tag 77"},
		{"name too long", func(w *nettracetest.V4) { w.Block(strings.Repeat("x", 200), nil) }, "an object name of 200 bytes"},
		{"row too long", func(w *nettracetest.V4) {
			w.Block("EventBlock", append(w.Rows(), 0xc7, 1, 0, 1, 0, 1, 1, 0x80, 0x80, 1))
		}, "a row goes beyond"},
		{"short header", func(w *nettracetest.V4) { w.Block("EventBlock", []byte{1, 2, 3}) }, "3 bytes, but the header alone has 20"},
		{"second head", func(w *nettracetest.V4) {
			var other nettracetest.V4
			other.Begin(nettracetest.DefaultClock())
			w.Bytes = append(w.Bytes, other.Bytes[32:]...)
		}, "a second Trace"},
		{"stacks", func(w *nettracetest.V4) { w.Block("StackBlock", []byte{1, 0, 0, 0, 9, 0, 0, 0, 99}) }, "a stack goes beyond"},
		{"sequence point", func(w *nettracetest.V4) { w.Block("SPBlock", make([]byte, 11)) }, "the list of threads ends"},
		{"metadata", func(w *nettracetest.V4) { w.Block("MetadataBlock", append(w.Rows(), 0x80, 0, 1, 9)) }, "a metadata blob ends"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := begin()
			w.Events(row(1, 10, true), row(1, 20, false))
			at := int64(len(w.Bytes))
			c.damage(w)
			w.End()
			got, r := read(w.Bytes, parse.All)
			want(t, got, "10/1", "20/1")
			var f *parse.FormatError
			if !errors.As(r.Err(), &f) || !strings.Contains(f.Error(), c.want) || f.Offset < at || errors.Is(f, io.ErrUnexpectedEOF) {
				t.Errorf("ended with %v", r.Err())
			}
		})
	}
}

// small returns two recordings for the tests that read them very often.
func small(t testing.TB) map[string][]byte {
	all := map[string][]byte{}
	for _, tr := range recordings.Repository(t) {
		if tr.Name == "net10-datas-bgc" || tr.Name == "v6-net8-datas-alien" {
			all[tr.Name] = recordings.Read(t, tr.Path)
		}
	}
	if len(all) != 2 {
		t.Fatal("the small recordings are missing")
	}
	return all
}

// TestEveryTruncation: a stream truncated anywhere yields a prefix of each thread's events and an
// error that says where. Only the complete stream yields no error. The usual run truncates at one
// position in five, and at all in the beginning, where each byte has a meaning of its own.
func TestEveryTruncation(t *testing.T) {
	extent.Long(t)
	rnd := rand.New(rand.NewPCG(extent.Seed(t), 0))
	streams := small(t)
	for _, name := range slices.Sorted(maps.Keys(streams)) {
		stream := streams[name]
		r := parse.NewReader(nil, parse.All)
		before := 0
		for n := range stream {
			if n > 1000 && n < len(stream)-100 && rnd.IntN(5) > 0 && !extent.Full() {
				continue
			}
			r.Reset(bytes.NewReader(stream[:n]), parse.All)
			events := 0
			for r.Scan() {
				events++
			}
			var kind *parse.KindError
			if !errors.Is(r.Err(), io.ErrUnexpectedEOF) && !errors.As(r.Err(), &kind) {
				// V6 may have data after its end that is not read.
				if r.Err() != nil || name[:2] != "v6" {
					t.Fatalf("%s cut at %d: %v", name, n, r.Err())
				}
			}
			if events < before {
				t.Fatalf("%s cut at %d gives %d events, cut earlier it gave %d", name, n, events, before)
			}
			before = events
		}
	}
}

// TestCorruption: no wrong byte makes the reader panic, hang, or use memory beyond its limits.
func TestCorruption(t *testing.T) {
	extent.Long(t)
	rnd := rand.New(rand.NewPCG(extent.Seed(t), 0))
	streams := small(t)
	for _, name := range slices.Sorted(maps.Keys(streams)) {
		stream := streams[name]
		r := parse.NewReader(nil, parse.All)
		damaged := slices.Clone(stream)
		for range extent.Pick(10_000, 50_000) {
			at, b := rnd.IntN(len(stream)), byte(rnd.Uint32())
			damaged[at] = b
			before := allocated()
			r.Reset(bytes.NewReader(damaged), parse.All)
			rows := 0
			for r.Scan() {
				if rows++; rows > 10*len(stream) {
					t.Fatalf("%s with byte %d = %d does not end", name, at, b)
				}
			}
			if n := allocated() - before; n > 4<<20 {
				t.Fatalf("%s with byte %d = %d takes %d bytes of memory", name, at, b, n)
			}
			damaged[at] = stream[at]
		}
	}
}

// TestPromisedLengths: no memory is allocated merely because a length announces data.
func TestPromisedLengths(t *testing.T) {
	w := begin()
	at := len(w.Bytes)
	w.Block("EventBlock", nil)
	copy(w.Bytes[at+26:], "\x00\x00\xff\x00") // announces 16 MB less 64 KB, none of which follow
	w.Bytes = w.Bytes[:at+30]
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, r := read(w.Bytes, parse.All)
	runtime.ReadMemStats(&after)
	if !errors.Is(r.Err(), io.ErrUnexpectedEOF) {
		t.Errorf("ended with %v", r.Err())
	}
	if n := after.TotalAlloc - before.TotalAlloc; n > 1<<20 {
		t.Errorf("%d bytes allocated for a stream of %d", n, len(w.Bytes))
	}
}

// TestEndlessMetadata: a stream cannot make the table of metadata grow without limit.
func TestEndlessMetadata(t *testing.T) {
	extent.Long(t)
	w := begin()
	for i := range 100 {
		var kinds []nettracetest.Kind
		for j := range 1000 {
			kinds = append(kinds, nettracetest.Kind{ID: uint32(10 + 1000*i + j), Provider: fmt.Sprintf("P%d-%d", i, j), EventID: 1})
		}
		w.Metadata(kinds...)
	}
	w.End()
	_, r := read(w.Bytes, parse.All)
	var f *parse.FormatError
	if !errors.As(r.Err(), &f) || f.Block != "Metadata" {
		t.Errorf("ended with %v", r.Err())
	}
}

// TestManyThreads: nor the table of threads, and a forgotten thread is not taken for a loss.
func TestManyThreads(t *testing.T) {
	extent.Long(t)
	w := begin()
	for i := range uint64(100_000) {
		w.Events(row(i+1, int64(i), true))
	}
	w.SequencePoint(t0+200_000, nettracetest.ThreadSeq{Thread: 1, Seq: 1}, nettracetest.ThreadSeq{Thread: 99_999, Seq: 1})
	w.End()
	r := parse.NewReader(bytes.NewReader(w.Bytes), parse.All)
	n := 0
	for r.Scan() {
		n++
	}
	if s := r.Stats(); n != 100_000 || s.Lost != 0 || r.Err() != nil {
		t.Errorf("%d events, %+v, %v", n, s, r.Err())
	}
}

// TestNoAllocation: a warm reader allocates nothing per event.
func TestNoAllocation(t *testing.T) {
	stream := synthetic(4<<20, 42)
	src := bytes.NewReader(stream)
	r := parse.NewReader(src, parse.All)
	run := func() {
		src.Reset(stream)
		r.Reset(src, parse.All)
		for r.Scan() {
		}
	}
	run()
	allocs := testing.AllocsPerRun(3, run)
	if rows := float64(r.Stats().Rows); allocs > 100 {
		t.Errorf("%.0f allocations for %.0f events", allocs, rows)
	}
}

func TestNanoseconds(t *testing.T) {
	for _, c := range []struct{ sync, perSecond, ticks, want int64 }{
		{100, 1e9, 350, 250},
		{0, 10_000_000, 15, 1500},
		{0, 3, 1, 333_333_333},
		{1000, 10_000_000, 0, -100_000},
		{0, 24_000_000, 24_000_000*3600 + 12, 3600e9 + 500},
		{0, 1, 1 << 62, 1 << 61},
		{0, 1, -1 << 62, -1 << 61},
		{0, 1e9, 1<<63 - 1, 1 << 61},
		{0, 1e9, -1 << 63, -1 << 61},
		{0, 1 << 60, 1 << 59, 5e8},
	} {
		tr := parse.Trace{SyncTicks: c.sync, TicksPerSecond: c.perSecond}
		if got := tr.Nanoseconds(c.ticks); got != c.want {
			t.Errorf("%d ticks at %d/s since %d: %d ns, want %d", c.ticks, c.perSecond, c.sync, got, c.want)
		}
	}
}

// allocated returns the number of bytes allocated so far.
func allocated() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// heap returns the number of bytes in use.
func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// TestManyLosses: losses are all counted, in bounded memory and time, however many losses and
// threads a stream has.
func TestManyLosses(t *testing.T) {
	extent.Long(t)
	const n = 150_000
	for name, fill := range map[string]func(w *nettracetest.V4){
		"threads that only a sequence point knows": func(w *nettracetest.V4) {
			threads := make([]nettracetest.ThreadSeq, n)
			for i := range threads {
				threads[i] = nettracetest.ThreadSeq{Thread: uint64(i + 1), Seq: 1}
			}
			w.SequencePoint(t0+10, threads...)
		},
		"gaps of one thread": func(w *nettracetest.V4) {
			for i := range n + 1 {
				r := row(1, int64(i), false)
				r.Seq = uint32(2*i + 1)
				w.Events(r)
			}
		},
		"gaps of many threads": func(w *nettracetest.V4) {
			for i := range n + 10_000 {
				r := row(uint64(i%10_000+1), int64(i), false)
				r.Seq = uint32(2*(i/10_000) + 2)
				w.Events(r)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := begin()
			fill(w)
			w.End()
			r := parse.NewReader(bytes.NewReader(w.Bytes), parse.None)
			before, most := heap(), uint64(0)
			for i := 0; r.Scan(); i++ {
				if i%20_000 == 0 {
					most = max(most, heap())
				}
			}
			want := int64(n)
			if strings.Contains(name, "sequence point") {
				want = 1 << 16 // beyond these, the Reader may have forgotten that it had seen a thread
			}
			if got := r.Stats().Lost; got != want || r.Err() != nil {
				t.Errorf("%d events lost, want %d; error %v", got, want, r.Err())
			}
			if most > before && most-before > 40<<20 {
				t.Errorf("%d MB of memory", (most-before)>>20)
			}
		})
	}
}
