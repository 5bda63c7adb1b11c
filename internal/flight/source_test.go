package flight

import (
	"bytes"
	"testing"
	"time"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/internal/testing/nettracetest"
	"github.com/gclog/gclog/parse"
	"github.com/gclog/gclog/parse/clr"
)

// began is when the clock of the sources is zero.
var began = time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)

// A source is the stream of a session: its ticks are microseconds since began.
type source struct {
	w    nettracetest.V4 // for the numbers of events
	ring *Ring
}

const perSecond = 1_000_000

// ticks returns a time in seconds in ticks.
func ticks(seconds float64) int64 { return int64(seconds * perSecond) }

// session starts a session at a time in seconds. Its events are of the kind 1; those of the kind 2 end
// collections.
func session(o *Recorder, at float64) *source {
	s := &source{ring: o.NewRing()}
	clock := nettracetest.Clock{Time: began.Add(time.Duration(at * 1e9)), Ticks: ticks(at), PerSecond: perSecond, PointerSize: 8, ProcessID: 7}
	var w nettracetest.V4
	w.Begin(clock)
	w.Metadata(nettracetest.Kind{ID: 1, Provider: "P", EventID: 10, Version: 1, Level: 4})
	w.Metadata(nettracetest.Kind{ID: 2, Provider: clr.RuntimeProvider, EventID: clr.IDGCEnd, Version: 1})
	p := parse.NewReader(bytes.NewReader(w.Bytes), parse.All)
	p.OnBlock(s.ring.Block)
	for p.Scan() {
	}
	return s
}

// block passes on a block.
func (s *source) block(kind parse.BlockKind, content []byte) {
	s.ring.Block(parse.Block{Major: 4, Kind: kind, Content: content})
}

// rows passes on a block with events.
func (s *source) rows(rows ...nettracetest.Row) { s.block(parse.BlockEvent, s.w.Rows(rows...)) }

// event passes on a block with a sorted event of thread 1 at a time in seconds, with a payload of a size.
func (s *source) event(at float64, size int) { s.by(1, at, size) }

func (s *source) by(thread uint64, at float64, size int) {
	r := eventAt(at, size)
	r.Thread = thread
	s.rows(r)
}

// sequencePoint passes on a sequence point.
func (s *source) sequencePoint(at float64, threads ...nettracetest.ThreadSeq) {
	var w nettracetest.V4
	w.SequencePoint(ticks(at), threads...)
	i := bytes.Index(w.Bytes, []byte("SPBlock")) + len("SPBlock") + 1
	i += 4 + -(i+4)&3
	s.block(parse.BlockSequencePoint, w.Bytes[i:len(w.Bytes)-1])
}

// at returns a trigger that begins at a time in seconds and lasts 0.1 s, with 10 s before and 5 s after
// it.
func at(seconds float64) Trigger {
	return Trigger{
		Time: began.Add(time.Duration(seconds * 1e9)), Ticks: ticks(seconds), Duration: 100 * time.Millisecond,
		Before: 10 * time.Second, After: 5 * time.Second,
	}
}

// isDone reports whether a recording is complete.
func isDone(r *Recording) bool {
	select {
	case <-r.Done():
		return true
	default:
		return false
	}
}

// times returns the times of the events in each part of a complete recording, in seconds.
func times(t *testing.T, r *Recording) (list [][]float64) {
	t.Helper()
	if !isDone(r) {
		t.Fatal("the recording is not complete")
	}
	parts, _ := r.Parts()
	for _, p := range parts {
		var file bytes.Buffer
		if _, err := p.Write(&file, &gclog.Process{}); err != nil {
			t.Fatal(err)
		}
		var times []float64
		for _, x := range read(t, file.Bytes()).rows {
			if x.lost > 0 {
				t.Errorf("the file says that %d events are lost", x.lost)
			}
			times = append(times, float64(x.ticks)/perSecond)
		}
		list = append(list, times)
	}
	return list
}

// checkMemory checks that a memory's accounts agree with what it has, and with its limit.
func checkMemory(t *testing.T, m *Memory) {
	t.Helper()
	var free, held int64
	for c := m.free; c != nil; c = c.next {
		if c.refs != 0 {
			t.Fatalf("a free chunk has %d references", c.refs)
		}
		free += chunkSize
	}
	for _, o := range m.recorders {
		held += o.held
		for _, r := range o.rings {
			checkRing(t, r)
		}
	}
	if m.used > m.limit || m.used < free+held {
		t.Fatalf("%d bytes are in use, %d of them free, and %d are held; the limit is %d", m.used, free, held, m.limit)
	}
}

// checkRing checks that a ring consists of as many blocks as it says.
func checkRing(t *testing.T, r *Ring) {
	t.Helper()
	at := r.head
	for range r.blocks {
		h := at.next()
		at.skip(h.size, nil)
	}
	if at != r.tail {
		t.Fatalf("the blocks end at %v, the ring at %v", at, r.tail)
	}
}

// eventAt returns a sorted event of thread 1 at a time in seconds.
func eventAt(seconds float64, size int) nettracetest.Row {
	return nettracetest.Row{Kind: 1, Thread: 1, Ticks: ticks(seconds), Sorted: true, Payload: make([]byte, size)}
}
