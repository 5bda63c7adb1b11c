package flight

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/internal/testing/nettracetest"
	"github.com/gclog/gclog/internal/testing/recordings"
	"github.com/gclog/gclog/parse"
)

// TestKeeps: a ring keeps the events of a time, and those since so long before the oldest collection in
// progress. A trigger may be a little late.
func TestKeeps(t *testing.T) {
	for name, c := range map[string]struct {
		now, open float64
		first     float64
	}{
		"too little":                    {11.5, 0, 0},
		"the latest 10 s":               {30, 0, 18},
		"a collection is in progress":   {30, 25, 13},
		"a collection does not end":     {1000, 25, 388},
		"a collection began just now":   {30, 30, 18},
		"the clock is ahead of a block": {100, 0, 88},
	} {
		o := NewMemory(1<<20).NewRecorder("", 10*time.Second)
		s := session(o, 0)
		for i := range 1001 {
			s.event(float64(i), 10)
		}
		s.ring.Reduced(ticks(c.now), ticks(c.open))
		if got := float64(s.ring.oldest().first) / perSecond; got != c.first {
			t.Errorf("%s: the oldest event is at %v s, want %v s", name, got, c.first)
		}
		checkMemory(t, o.m)
	}
}

// TestKeepsReported: what has just ended is kept until it has been reported, and a collection that began
// meanwhile changes nothing about that.
func TestKeepsReported(t *testing.T) {
	o := NewMemory(1<<20).NewRecorder("", 10*time.Second)
	s := session(o, 0)
	for i := range 200 {
		s.event(float64(i), 10)
	}
	for _, c := range []struct{ now, open, first float64 }{
		{100, 50, 38}, {101, 50, 38}, {102, 101.9, 38}, {103, 0, 38}, {103.1, 103, 91}, {104, 0, 91}, {150, 0, 138},
	} {
		s.ring.Reduced(ticks(c.now), ticks(c.open))
		if got := float64(s.ring.oldest().first) / perSecond; got != c.first {
			t.Errorf("at %v s: the oldest event is at %v s, want %v s", c.now, got, c.first)
		}
	}
}

// TestUntimed: a block without a time is as old as the events before it.
func TestUntimed(t *testing.T) {
	o := NewMemory(1<<20).NewRecorder("", 10*time.Second)
	s := session(o, 0)
	s.event(1, 10)
	s.block(parse.BlockStack, make([]byte, 8))
	s.event(50, 10)
	s.event(2, 10) // late
	s.block(parse.BlockStack, make([]byte, 8))
	s.ring.Reduced(ticks(50), 0)
	if h := s.ring.oldest(); s.ring.blocks != 3 || h.kind != parse.BlockEvent || h.at != ticks(50) {
		t.Errorf("%d blocks, the oldest is %+v", s.ring.blocks, h)
	}
	r, _ := o.Record(at(50))
	s.ring.Close()
	parts, _ := r.Parts()
	if len(parts) != 1 || parts[0].blocks != 3 {
		t.Errorf("%+v", parts)
	}
}

// TestSilentSession: a session that has sent nothing yet does not keep the events of another one.
func TestSilentSession(t *testing.T) {
	o := NewMemory(1<<20).NewRecorder("", 10*time.Second)
	s := session(o, 0)
	o.NewRing()
	for i := range 100 {
		s.event(float64(i), 10)
		s.ring.Reduced(ticks(float64(i)), 0)
	}
	if s.ring.blocks != 13 {
		t.Errorf("%d blocks", s.ring.blocks)
	}
}

// TestManyLosses: the latest losses are remembered, whatever their number.
func TestManyLosses(t *testing.T) {
	r := NewMemory(1<<20).NewRecorder("", time.Second).NewRing()
	for i := range 1000 {
		r.Lost(&parse.Loss{Ticks: int64(i)})
	}
	if n := len(r.losses); n != maxLosses || r.losses[n-1].ticks != 999 {
		t.Errorf("%d losses, the last %+v", n, r.losses[n-1])
	}
}

// TestRefuses: what cannot be recorded is said, and takes no memory.
func TestRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		feed func(*source)
		want error
	}{
		"V6": {func(s *source) {
			s.ring.Block(parse.Block{Major: 6, Kind: parse.BlockTrace, Content: make([]byte, 100)})
			s.event(1, 10)
		}, errFormat},
		"too many kinds": {func(s *source) {
			s.event(1, 10)
			for range 2 * maxMetadata / 1000 {
				s.block(parse.BlockMetadata, make([]byte, 1000))
			}
			s.event(1, 10)
		}, errMetadata},
		"nothing": {func(*source) {}, errNothing},
	} {
		o := NewMemory(64<<20).NewRecorder("", 10*time.Second)
		s := session(o, 0)
		c.feed(s)
		r, _ := o.Record(at(1))
		s.ring.Close()
		if parts, err := r.Parts(); len(parts) > 0 || !errors.Is(err, c.want) {
			t.Errorf("%s: %d parts, %v", name, len(parts), err)
		}
		if o.held > maxMetadata {
			t.Errorf("%s: %d bytes are held", name, o.held)
		}
		checkMemory(t, o.m)
	}
}

// TestHuge: a block that no runtime writes, and one that does not fit, take the blocks before them with
// them: a stream with a hole would look as if events were lost.
func TestHuge(t *testing.T) {
	for _, c := range []struct{ memory, size int }{{64 << 20, maxBlock + 1}, {100 << 10, 200 << 10}} {
		o := NewMemory(int64(c.memory)).NewRecorder("", 10*time.Second)
		s := session(o, 0)
		s.event(1, 10)
		s.event(2, c.size)
		s.event(3, 10)
		checkMemory(t, o.m)
		r, _ := o.Record(at(3))
		s.ring.Close()
		if got, want := times(t, r), [][]float64{{3}}; !reflect.DeepEqual(got, want) {
			t.Errorf("of %v: %v", c, got)
		}
		if missing, exhausted := r.Missing(); missing != 9*time.Second || !exhausted {
			t.Errorf("of %v: %v is missing, %v", c, missing, exhausted)
		}
	}
}

// TestFair: a process that floods gclog with events takes nothing from those that have less.
func TestFair(t *testing.T) {
	const memory = 1 << 20
	m := NewMemory(memory)
	var small []*source
	for range 10 {
		small = append(small, session(m.NewRecorder("", 10*time.Second), 0))
	}
	flood := session(m.NewRecorder("", 10*time.Second), 0)
	other := session(m.NewRecorder("", 10*time.Second), 0)
	for i := range 2000 {
		now := 1 + float64(i)/1000
		flood.event(now, 10_000)
		if i%2 == 0 {
			other.event(now, 5000)
		}
		if i%200 == 0 {
			for _, s := range small {
				s.event(now, 1000)
			}
		}
		checkMemory(t, m)
	}
	for i, s := range small {
		if s.ring.blocks != 10 {
			t.Errorf("process %d has %d blocks", i, s.ring.blocks)
		}
	}
	// The other two have equal shares of the rest.
	if a, b := flood.ring.o.held, other.ring.o.held; a < b-3*chunkSize || a > b+3*chunkSize || a+b < memory*7/10 {
		t.Errorf("they hold %d and %d bytes", a, b)
	}
	// A new process gets its share.
	late := session(m.NewRecorder("", 10*time.Second), 0)
	for i := range 30 {
		late.event(3+float64(i)/1000, 10_000)
	}
	if late.ring.blocks != 30 {
		t.Errorf("the new process has %d blocks", late.ring.blocks)
	}
}

// TestFairToUsers: many processes of one user, each with little, take nothing from another user's that has
// more than each of them.
func TestFairToUsers(t *testing.T) {
	const memory = 1 << 20
	m := NewMemory(memory)
	victim := session(m.NewRecorder("1000", 10*time.Second), 0)
	for i := range 20 {
		victim.event(1+float64(i)/1000, 10_000)
	}
	var flood []*source
	for range 100 {
		flood = append(flood, session(m.NewRecorder("65534", 10*time.Second), 0))
	}
	for i := range 50 {
		for _, s := range flood {
			s.event(2+float64(i)/1000, 5000)
		}
		checkMemory(t, m)
	}
	if victim.ring.blocks != 20 {
		t.Errorf("%d blocks of 20 are left", victim.ring.blocks)
	}
	// It may have half of everything, and memory of processes that have ended counts no more.
	for i := range 40 {
		victim.event(3+float64(i)/1000, 10_000)
	}
	if half := int64(memory / 2); victim.ring.o.held < half-6*chunkSize || victim.ring.o.held > half+6*chunkSize {
		t.Errorf("it holds %d bytes", victim.ring.o.held)
	}
	for _, s := range flood {
		s.ring.o.Close()
	}
	victim.ring.o.Close()
	if len(m.users) > 0 {
		t.Errorf("%d users are left", len(m.users))
	}
}

// TestPinnedMemory: what cannot be taken from the process that holds the most, because it is still to be
// written, is taken from others, and what follows it stays.
func TestPinnedMemory(t *testing.T) {
	m := NewMemory(400 << 10)
	most, other := session(m.NewRecorder("", 10*time.Second), 0), session(m.NewRecorder("", 10*time.Second), 0)
	for i := range 10 {
		most.event(float64(1+i), 20_000)
	}
	r, _ := most.ring.o.Record(Trigger{Ticks: ticks(9.5), Before: 10 * time.Second})
	most.event(11, 20_000)
	if !isDone(r) {
		t.Fatal("the recording is not complete")
	}
	for i := range 100 {
		other.event(float64(1+i), 10_000)
		checkMemory(t, m)
	}
	if most.ring.blocks != 11 || other.ring.blocks < 12 || other.ring.blocks > 20 {
		t.Errorf("%d and %d blocks", most.ring.blocks, other.ring.blocks)
	}
}

// TestIdle: when memory runs out, what an idle process has kept for too long goes first.
func TestIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := NewMemory(200 << 10)
		idle, busy := session(m.NewRecorder("", 10*time.Second), 0), session(m.NewRecorder("", 10*time.Second), 0)
		idle.event(1, 50_000)
		idle.ring.Reduced(ticks(1), 0)
		busy.event(1, 50_000)
		time.Sleep(13 * time.Second)
		if idle.ring.blocks != 1 {
			t.Error("the blocks are gone although there is room")
		}
		for i := range 10 {
			busy.event(14+float64(i)/10, 20_000)
		}
		if idle.ring.blocks != 0 || busy.ring.blocks < 7 {
			t.Errorf("%d and %d blocks", idle.ring.blocks, busy.ring.blocks)
		}
		checkMemory(t, m)
	})
}

// TestRandom: whatever happens, the memory's accounts are right, and the files are whole.
func TestRandom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := seeded(t)
		m := NewMemory(1 << 20)
		type process struct {
			o        *Recorder
			sessions []*source
		}
		var processes []*process
		var recordings []*Recording
		now := 1.0
		for range 20_000 {
			now += r.Float64() / 100
			if len(processes) < 3 || r.IntN(500) == 0 {
				processes = append(processes, &process{o: m.NewRecorder("", time.Second)})
			}
			i := r.IntN(len(processes))
			p := processes[i]
			if len(p.sessions) == 0 || r.IntN(100) == 0 {
				p.sessions = append(p.sessions, session(p.o, now))
			}
			s := p.sessions[r.IntN(len(p.sessions))]
			switch n := r.IntN(100); {
			case n < 80:
				s.by(uint64(1+r.IntN(3)), now-r.Float64()/10, r.IntN(1+r.IntN(30_000)))
			case n < 90:
				s.ring.Reduced(ticks(now), ticks(now-float64(r.IntN(3)))*int64(r.IntN(2)))
			case n < 94:
				x, _ := p.o.Record(Trigger{Time: began, Ticks: ticks(now - 1), Before: time.Second, After: time.Second})
				recordings = append(recordings, x)
			case n < 96:
				time.Sleep(time.Second)
			case n == 96:
				s.ring.Close()
			case n == 97 && len(processes) > 10:
				p.o.Close()
				processes = append(processes[:i], processes[i+1:]...)
			case len(recordings) > 0 && isDone(recordings[0]):
				times(t, recordings[0])
				recordings[0].Release()
				recordings = recordings[1:]
			}
			m.mu.Lock()
			checkMemory(t, m)
			m.mu.Unlock()
		}
		for _, p := range processes {
			p.o.Close()
		}
		for _, x := range recordings {
			times(t, x)
			x.Release()
		}
		free := int64(0)
		for c := m.free; c != nil; c = c.next {
			free += chunkSize
		}
		if m.used != free || len(m.recorders) > 0 {
			t.Errorf("%d bytes are in use, %d free, %d recorders", m.used, free, len(m.recorders))
		}
	})
}

// TestAllocations: once there is as much as a ring keeps, or a memory is exhausted, nothing is allocated.
func TestAllocations(t *testing.T) {
	for _, exhausted := range []bool{false, true} {
		s := session(NewMemory(1<<20).NewRecorder("", 10*time.Second), 0)
		var blocks []parse.Block
		for range 100 {
			blocks = append(blocks, parse.Block{Major: 4, Kind: parse.BlockEvent, Content: s.w.Rows(eventAt(0, rand.IntN(50_000)))})
		}
		i := 0
		feed := func() {
			b := blocks[i%len(blocks)]
			binary.LittleEndian.PutUint64(b.Content[12:], uint64(ticks(float64(i))))
			s.ring.Block(b)
			if !exhausted {
				s.ring.Reduced(ticks(float64(i)), 0)
			}
			i++
		}
		for range 1000 {
			feed()
		}
		if n := testing.AllocsPerRun(1000, feed); n > 0 || (s.ring.given == math.MinInt64) == exhausted {
			t.Errorf("exhausted %v: %v allocations", exhausted, n)
		}
	}
}

// BenchmarkBlock keeps blocks of sizes that runtimes write, in an exhausted memory.
func BenchmarkBlock(b *testing.B) {
	for _, size := range []int{2000, 20_000, 100_000} {
		b.Run(fmt.Sprintf("%dKB", size/1000), func(b *testing.B) {
			s := session(NewMemory(64<<20).NewRecorder("", 30*time.Second), 0)
			block := parse.Block{Major: 4, Kind: parse.BlockEvent, Content: s.w.Rows(eventAt(1, size))}
			for range (64 << 20) / size {
				s.ring.Block(block)
			}
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for b.Loop() {
				s.ring.Block(block)
			}
		})
	}
}

// BenchmarkReduce reads and reduces a recording as a session does, without and with a flight recorder.
func BenchmarkReduce(b *testing.B) {
	var data []byte
	for _, tr := range recordings.Repository(b) {
		if x := recordings.Read(b, tr.Path); len(x) > len(data) {
			data = x
		}
	}
	for _, records := range []bool{false, true} {
		b.Run(fmt.Sprintf("records=%v", records), func(b *testing.B) {
			o := NewMemory(1<<20).NewRecorder("", 30*time.Second)
			p := parse.NewReader(nil, nil)
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				p.Reset(bytes.NewReader(data), gclog.Wanted)
				ring := o.NewRing()
				if records {
					p.OnBlock(ring.Block)
				}
				ps := gclog.NewProcesses(func(*gclog.Process) gclog.Observer { return (&log{}).Observe })
				if err := ps.Drain(p); err != nil {
					b.Fatal(err)
				}
				ring.Close()
				ring.discard()
				o.rings = nil
			}
		})
	}
}

// BenchmarkWrite writes a recording of 16 MB.
func BenchmarkWrite(b *testing.B) {
	o := NewMemory(64<<20).NewRecorder("", 30*time.Second)
	s := session(o, 0)
	var rows []nettracetest.Row
	for range 1000 {
		rows = append(rows, eventAt(20, 80))
	}
	block := parse.Block{Major: 4, Kind: parse.BlockEvent, Content: s.w.Rows(rows...)}
	for range (16 << 20) / len(block.Content) {
		s.ring.Block(block)
	}
	r, _ := o.Record(at(20))
	o.Close()
	parts, err := r.Parts()
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(16 << 20)
	for b.Loop() {
		if _, err := parts[0].Write(io.Discard, &gclog.Process{}); err != nil {
			b.Fatal(err)
		}
	}
}
