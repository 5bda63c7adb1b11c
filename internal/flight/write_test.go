package flight

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/internal/nettrace"
	"github.com/gclog/gclog/internal/testing/nettracetest"
	"github.com/gclog/gclog/parse"
)

// traceEvent reads a file as TraceEvent does (EventCache.cs and ThreadCache.cs of PerfView), which is
// stricter than gclog, and returns how many events it says are lost.
func traceEvent(t *testing.T, data []byte) (lost uint32) {
	t.Helper()
	threads, stacks := map[uint64]uint32{}, map[uint32]bool{}
	add := func(id uint64, seq uint32) {
		if _, known := threads[id]; !known {
			threads[id] = seq
		}
	}
	count := func(id uint64, seq uint32) {
		if last := threads[id]; last != 0 {
			if int32(seq-last) < 0 {
				t.Errorf("the number of thread %d goes from %d back to %d", id, last, seq)
			}
			lost += seq - last
		}
	}
	r := parse.NewReader(bytes.NewReader(data), parse.None)
	r.OnBlock(func(b parse.Block) {
		switch b.Kind {
		case parse.BlockEvent:
			rows, thread := 0, uint64(0)
			for w := range b.Rows {
				if rows == 0 || w.Sorted {
					thread = w.Capture
					add(thread, w.Seq-1)
				}
				if thread != w.Capture {
					t.Errorf("the capture thread changes from %d to %d in a row that is not sorted", thread, w.Capture)
				}
				count(thread, w.Seq-1)
				threads[thread] = w.Seq
				rows++
			}
			if rows == 0 {
				t.Error("an event block without rows")
			}
		case parse.BlockStack:
			first, n := uint32(b.Content[0])|uint32(b.Content[1])<<8, uint32(b.Content[4])
			for id := first; id < first+n; id++ {
				if stacks[id] {
					t.Errorf("stack %d is declared twice", id)
				}
				stacks[id] = true
			}
		case parse.BlockSequencePoint:
			clear(stacks)
			eachThread(b.Content, func(x nettrace.Thread, _ []byte) {
				add(x.ID, x.Seq)
				count(x.ID, x.Seq)
				threads[x.ID] = x.Seq
			})
		}
	})
	for r.Scan() {
	}
	if err := r.Err(); err != nil {
		t.Error(err)
	}
	return lost
}

// TestLosses: a file shows what was lost in its time, also of threads that have no earlier event in it,
// and nothing else.
func TestLosses(t *testing.T) {
	var w nettracetest.V4
	clock := nettracetest.DefaultClock()
	w.Begin(clock)
	w.Metadata(nettracetest.Kind{ID: 1, Provider: "P", EventID: 10, Version: 1, Level: 4})
	second := func(n int64) int64 { return clock.Ticks + n*1e9 }
	event := func(thread uint64, at int64) {
		w.Events(nettracetest.Row{Kind: 1, Thread: thread, Ticks: second(at), Sorted: true, Payload: []byte{1}})
	}
	for thread := range uint64(9) {
		event(1+thread, 1)
	}
	w.Lose(5, 7) // before the time
	event(5, 2)
	for i := range int64(20) {
		event(100, 2+i)
	}
	w.SequencePoint(second(21), nettracetest.ThreadSeq{Thread: 100, Seq: 20}, nettracetest.ThreadSeq{Thread: 1, Seq: 1}, nettracetest.ThreadSeq{Thread: 7, Seq: 1})
	w.Lose(1, 3) // seen at its next event
	event(1, 22)
	w.Lose(2, 4) // seen at the sequence point
	w.Lose(1, 2)
	event(3, 23)
	event(1, 23)
	event(8, 23)
	w.SequencePoint(second(24), nettracetest.ThreadSeq{Thread: 100, Seq: 20}, nettracetest.ThreadSeq{Thread: 1, Seq: 8}, nettracetest.ThreadSeq{Thread: 2, Seq: 5},
		nettracetest.ThreadSeq{Thread: 4, Seq: 1}, nettracetest.ThreadSeq{Thread: 8, Seq: 4}, nettracetest.ThreadSeq{Thread: 9, Seq: 1})
	w.Lose(8, 2)
	event(2, 25)
	event(4, 25)
	event(9, 25)
	event(100, 40)
	w.End()

	s := read(t, w.Bytes)
	trigger := Trigger{Time: clock.Time.Add(22 * time.Second), Ticks: second(22), Before: 2 * time.Second, After: 5 * time.Second}
	o := NewMemory(1<<20).NewRecorder("", trigger.Before)
	var file bytes.Buffer
	writeOnly(t, feed(t, s, o.NewRing(), rand.New(rand.NewPCG(1, 2)), trigger), &file)
	got := read(t, file.Bytes())
	var lost []string
	var sum uint32
	for _, x := range got.rows {
		if x.lost > 0 {
			_, text, _ := strings.Cut(x.text, ": ")
			lost, sum = append(lost, text), sum+x.lost
		}
	}
	if want := []string{"3 of thread 1 lost", "2 of thread 1 lost", "2 of thread 8 lost", "4 of thread 2 lost"}; !slices.Equal(lost, want) {
		t.Errorf("%q, want %q", lost, want)
	}
	if a, b := got.between(second(20), second(27)), s.between(second(20), second(27)); !slices.Equal(a, b) {
		t.Errorf("%s", firstDifference(a, b))
	}
	if n := traceEvent(t, file.Bytes()); n != sum {
		t.Errorf("TraceEvent counts %d, want %d", n, sum)
	}
}

// TestCut: of a block in which the stream ended, the file has the complete rows.
func TestCut(t *testing.T) {
	o := NewMemory(1<<20).NewRecorder("", 10*time.Second)
	s := session(o, 0)
	rows := s.w.Rows(eventAt(20, 10), eventAt(21, 10), eventAt(22, 10))
	s.ring.Block(parse.Block{Major: 4, Kind: parse.BlockEvent, Content: rows[:len(rows)-1], Cut: true})
	s.ring.Block(parse.Block{Major: 4, Kind: parse.BlockEvent, Content: rows[:21], Cut: true})
	r, _ := o.Record(at(20))
	s.ring.Close()
	var file bytes.Buffer
	if c := writeOnly(t, r, &file); c.Events != 2 {
		t.Errorf("%+v", c)
	}
	if got := read(t, file.Bytes()); len(got.rows) != 2 {
		t.Errorf("%d rows", len(got.rows))
	}
	traceEvent(t, file.Bytes())
}

// TestProcess: a file says of its process what gclog knew, and its events have the times of the log,
// even if the clock was set since the session began.
func TestProcess(t *testing.T) {
	o := NewMemory(1<<20).NewRecorder("", 10*time.Second)
	s := session(o, 0)
	s.event(20, 10)
	end := eventAt(21.0004, 10)
	end.Kind = 2
	s.rows(end)
	trigger := at(21.0004)
	trigger.Time = trigger.Time.Add(time.Hour + 7*time.Millisecond)
	r, _ := o.Record(trigger)
	s.ring.Close()
	var file bytes.Buffer
	started := began.Add(-time.Minute)
	parts, _ := r.Parts()
	c, err := parts[0].Write(&file, &gclog.Process{Name: "shop", RuntimeVersion: "9.0.1", Server: gclog.Yes, Started: started})
	if err != nil {
		t.Fatal(err)
	}
	first := began.Add(time.Hour + 20*time.Second + 7*time.Millisecond)
	if !c.First.Equal(first) || !c.Last.Equal(trigger.Time) || c.Events != 2 || c.Bytes != int64(file.Len()) {
		t.Errorf("%+v", c)
	}
	got := read(t, file.Bytes())
	if at := got.trace.SyncTime.Add(time.Duration(got.trace.Nanoseconds(got.first))); !at.Equal(first) {
		t.Errorf("its first event is at %v, want %v", at, first)
	}
	ps := gclog.NewProcesses(func(*gclog.Process) gclog.Observer { return nil })
	if err := ps.Drain(parse.NewReader(&file, gclog.Wanted)); err != nil || len(ps.List()) != 1 {
		t.Fatalf("%d processes, %v", len(ps.List()), err)
	}
	if p := ps.List()[0]; p.Name != "shop" || p.RuntimeVersion != "9.0.1" || p.Server != gclog.Yes || !p.Started.Equal(started) || p.UptimeAtSync != p.Sync.Sub(started) {
		t.Errorf("%+v", p)
	}
}

// TestWriteFails: what cannot be written is an error.
func TestWriteFails(t *testing.T) {
	o := NewMemory(1<<20).NewRecorder("", 10*time.Second)
	s := session(o, 0)
	s.event(20, 100_000)
	r, _ := o.Record(at(20))
	s.ring.Close()
	parts, _ := r.Parts()
	for _, room := range []int{0, 100, 50_000} {
		if _, err := parts[0].Write(&full{room}, &gclog.Process{}); !errors.Is(err, errFull) {
			t.Errorf("with room for %d bytes: %v", room, err)
		}
	}
}

var errFull = errors.New("full")

// A full is a writer with room for some bytes.
type full struct{ room int }

func (f *full) Write(b []byte) (int, error) {
	if f.room -= len(b); f.room < 0 {
		return 0, errFull
	}
	return len(b), nil
}

// FuzzRing: whatever a process sends, the memory's limit holds, and what is written can be read up to
// where the stream itself is damaged.
func FuzzRing(f *testing.F) {
	o := NewMemory(1<<20).NewRecorder("", time.Second)
	var w nettracetest.V4
	w.Begin(nettracetest.DefaultClock())
	w.Metadata(nettracetest.Kind{ID: 1, Provider: "P", EventID: 10, Version: 1, Level: 4})
	for i := range int64(10) {
		w.Events(nettracetest.Row{Kind: 1, Thread: uint64(1 + i%2), Ticks: nettracetest.DefaultClock().Ticks + i*1e8, Payload: make([]byte, 100)})
	}
	w.SequencePoint(nettracetest.DefaultClock().Ticks+1e9, nettracetest.ThreadSeq{Thread: 1, Seq: 5})
	f.Add(bytes.Clone(w.Bytes), int64(1e9))
	w.Uncompressed = true
	w.Events(nettracetest.Row{Kind: 1, Thread: 1, Ticks: nettracetest.DefaultClock().Ticks + 2e9})
	w.End()
	f.Add(w.Bytes, int64(-1))
	o.Close()
	f.Fuzz(func(t *testing.T, data []byte, at int64) {
		m := NewMemory(64 << 10)
		m.swept = began.AddDate(1000, 0, 0) // what is covered depends on the input alone
		o := m.NewRecorder("", time.Second)
		ring := o.NewRing()
		p := parse.NewReader(bytes.NewReader(data), parse.All)
		p.OnBlock(ring.Block)
		events := int64(0)
		for p.Scan() {
			if l := p.Loss(); l != nil {
				ring.Lost(l)
			} else {
				events++
				ring.Reduced(p.Event().Ticks, at)
			}
			checkMemory(t, m)
		}
		trigger := Trigger{Time: began, Ticks: at, Duration: time.Duration(at), Before: time.Second, After: time.Second}
		if trace := p.Trace(); trace != nil && at == 0 {
			trigger.Ticks = trace.SyncTicks
		}
		r, _ := o.Record(trigger)
		ring.Close()
		checkMemory(t, m)
		parts, _ := r.Parts()
		for _, x := range parts {
			var file bytes.Buffer
			if _, err := x.Write(&file, &gclog.Process{}); err != nil {
				t.Fatal(err)
			}
			again := parse.NewReader(&file, parse.All)
			for again.Scan() {
			}
			if err := again.Err(); err != nil && p.Err() == nil {
				t.Errorf("%v, but the stream is whole", err)
			}
		}
		r.Release()
		o.Close()
		if o.held != 0 {
			t.Errorf("%d bytes are held", o.held)
		}
	})
}
