package flight

import (
	"errors"
	"reflect"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gclog/gclog/internal/testing/nettracetest"
)

// TestCompletes: a recording is complete when a block shows that nothing of its time is still to come.
func TestCompletes(t *testing.T) {
	unsorted := func(at float64) nettracetest.Row {
		r := eventAt(at, 10)
		r.Sorted = false
		return r
	}
	for name, c := range map[string]struct {
		feed func(*source)
		done bool
	}{
		"an event of its time": {func(s *source) { s.event(25, 10) }, false},
		"a later event":        {func(s *source) { s.event(25.2, 10) }, true},
		"a later event that is not sorted, of a block that continues another": {func(s *source) { s.rows(unsorted(25.2), eventAt(25.3, 10)) }, false},
		"a sequence point of its time":                                        {func(s *source) { s.sequencePoint(25) }, false},
		"a later sequence point":                                              {func(s *source) { s.sequencePoint(25.2) }, true},
		"the end of the session":                                              {func(s *source) { s.ring.Close() }, true},
		"the end of the process":                                              {func(s *source) { s.ring.o.Close() }, true},
		"the end of the session while another is open":                        {func(s *source) { session(s.ring.o, 21); s.ring.Close() }, false},
	} {
		o := NewMemory(1<<20).NewRecorder("", 10*time.Second)
		s := session(o, 0)
		for i := range 20 {
			s.event(float64(i), 10)
		}
		r, began := o.Record(at(20))
		if !began || isDone(r) {
			t.Errorf("%s: it has begun: %v, it is complete: %v", name, began, isDone(r))
		}
		c.feed(s)
		if isDone(r) != c.done {
			t.Errorf("%s: complete: %v", name, isDone(r))
		}
	}
}

// TestWindow: a recording has the events from some time before its trigger to some time after it, and
// those of a block that has some of them.
func TestWindow(t *testing.T) {
	o := NewMemory(1<<20).NewRecorder("", 30*time.Second)
	s := session(o, 0)
	for i := range 30 {
		s.event(float64(i), 10)
	}
	s.rows(eventAt(30, 10), eventAt(40, 10))
	r, _ := o.Record(at(20))
	s.event(25, 10) // late
	s.event(26, 10)
	s.event(27, 10)
	want := []float64{10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 25, 26, 27, 28, 29, 30, 40}
	if got := times(t, r); !reflect.DeepEqual(got, [][]float64{want}) {
		t.Errorf("%v", got)
	}
	if missing, exhausted := r.Missing(); missing != 0 || exhausted {
		t.Errorf("%v is missing, %v", missing, exhausted)
	}
}

// TestMissing: if a session began within the time, or the memory did not suffice, it is said what is
// missing.
func TestMissing(t *testing.T) {
	for name, c := range map[string]struct {
		memory    int64
		size      int
		missing   time.Duration
		exhausted bool
		first     float64
	}{
		"the session began":     {1 << 20, 10, 2 * time.Second, false, 12},
		"the memory is limited": {80 << 10, 20_000, 7 * time.Second, true, 18},
	} {
		o := NewMemory(c.memory).NewRecorder("", 10*time.Second)
		s := session(o, 12)
		for i := range 9 {
			s.event(float64(12+i), c.size)
		}
		r, _ := o.Record(at(20))
		s.ring.Close()
		if missing, exhausted := r.Missing(); missing != c.missing || exhausted != c.exhausted {
			t.Errorf("%s: %v is missing, %v", name, missing, exhausted)
		}
		if got := times(t, r); len(got) != 1 || got[0][0] != c.first {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// TestSilence: in a silent stream, or in one that has passed the end of a recording with events that
// are not sorted, the clock of the host completes it.
func TestSilence(t *testing.T) {
	for name, feed := range map[string]func(*source){
		"nothing": func(*source) {},
		"events that are not sorted": func(s *source) {
			r := eventAt(26, 10)
			r.Sorted = false
			s.rows(r)
		},
		"a trigger with less time after it": func(s *source) {
			x := at(20)
			x.After = time.Second
			s.ring.o.Record(x)
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			o := NewMemory(1<<20).NewRecorder("", 10*time.Second)
			s := session(o, 0)
			s.event(20, 10)
			start := time.Now()
			r, _ := o.Record(at(20))
			time.Sleep(time.Second)
			feed(s)
			<-r.Done()
			if took := time.Since(start); took != 5*time.Second+late {
				t.Errorf("%s: it took %v", name, took)
			}
		})
	}
}

// TestLate: a stream that arrives late is waited for, but not forever.
func TestLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, c := range []struct {
			step float64 // the time of the stream that passes each 0.4 s
			most time.Duration
		}{{0.1, 21500 * time.Millisecond}, {0.0001, longest + time.Second}} {
			o := NewMemory(1<<20).NewRecorder("", 10*time.Second)
			s := session(o, 0)
			s.event(20, 10)
			start := time.Now()
			r, _ := o.Record(at(20))
			for now := 20.0; !isDone(r); now += c.step {
				time.Sleep(400 * time.Millisecond)
				s.event(now, 10)
			}
			if took := time.Since(start); took < c.most-time.Second || took > c.most {
				t.Errorf("it took %v, want %v", took, c.most)
			}
		}
	})
}

// TestProlonged: further triggers prolong a recording, up to 10 minutes.
func TestProlonged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := NewMemory(1<<20).NewRecorder("", 10*time.Second)
		s := session(o, 0)
		s.event(20, 10)
		r, _ := o.Record(at(20))
		for _, x := range []float64{22, 24} {
			time.Sleep(2 * time.Second)
			s.event(x, 10)
			if again, began := o.Record(at(x)); again != r || began {
				t.Errorf("another recording, begun: %v", began)
			}
			o.Record(at(x - 1))
		}
		time.Sleep(5 * time.Second)
		s.event(29, 10)
		if isDone(r) {
			t.Error("it is complete too early")
		}
		s.event(29.2, 10)
		if got := times(t, r); !reflect.DeepEqual(got, [][]float64{{20, 22, 24, 29}}) {
			t.Errorf("%v", got)
		}
		next, began := o.Record(at(30))
		if next == r || !began {
			t.Error("a complete recording was prolonged")
		}
		for i := 31.0; !isDone(next) && i < 1000; i++ {
			o.Record(at(i))
			s.event(i, 10)
		}
		if all := times(t, next); len(all) != 1 || all[0][0] != 20 || all[0][len(all[0])-1] != 630 {
			t.Errorf("%v", all)
		}
	})
}

// TestExhausted: if the memory does not suffice, first what was long before the trigger is given up,
// and then what would come after it, but not what the recording is made for.
func TestExhausted(t *testing.T) {
	o := NewMemory(200<<10).NewRecorder("", 10*time.Second)
	s := session(o, 0)
	now := 10.0
	for ; now < 20; now += 0.25 {
		s.event(now, 10_000)
	}
	r, _ := o.Record(at(20))
	for ; !isDone(r); now += 0.25 {
		s.event(now, 10_000)
		checkMemory(t, o.m)
	}
	got := times(t, r)
	if len(got) != 1 || got[0][0] != 19 || now < 22 || now > 24.5 {
		t.Errorf("%v, until %v", got, now)
	}
	// What is pinned stays, whatever comes, and what comes is not recorded meanwhile.
	for range 100 {
		now += 0.25
		s.event(now, 10_000)
		checkMemory(t, o.m)
	}
	if again := times(t, r); !reflect.DeepEqual(got, again) {
		t.Errorf("%v has become %v", got, again)
	}
	if s.ring.blocks != 0 {
		t.Errorf("%d blocks are kept", s.ring.blocks)
	}
	r.Release()
	s.event(now, 10_000)
	if s.ring.blocks != 1 || o.held > 3*chunkSize {
		t.Errorf("%d blocks are kept, %d bytes are held", s.ring.blocks, o.held)
	}
}

// TestPinned: a recording stays as it was, and can be written, while its session continues.
func TestPinned(t *testing.T) {
	o := NewMemory(1<<20).NewRecorder("", time.Second)
	s := session(o, 0)
	for i := range 10 {
		s.event(float64(i), 3000)
	}
	s.ring.Reduced(ticks(9), 0)
	r, _ := o.Record(Trigger{Time: began, Ticks: ticks(9), Before: 2 * time.Second})
	s.event(10, 3000)
	want := times(t, r)
	if !reflect.DeepEqual(want, [][]float64{{7, 8, 9}}) {
		t.Errorf("%v", want)
	}
	for i := range 1000 {
		s.event(float64(10+i), 3000)
		s.ring.Reduced(ticks(float64(10+i)), 0)
	}
	if got := times(t, r); !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	held := o.held
	o.Close()
	if got := times(t, r); !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	r.Release()
	if o.held != 0 || held == 0 {
		t.Errorf("%d bytes are held", o.held)
	}
}

// TestSessions: when one session takes over from another, a recording has a part of each, unless one
// of them has seen everything.
func TestSessions(t *testing.T) {
	for name, c := range map[string]struct {
		second, ends float64 // when the second session begins, and the first one ends
		want         [][]float64
	}{
		"both":                           {16, 18, [][]float64{{10, 11, 12, 13, 14, 15, 16, 17}, {16, 17, 18, 19, 20, 21, 22, 23, 24, 25}}},
		"the second began before":        {9, 18, [][]float64{{10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25}}},
		"the first is still open":        {16, 40, [][]float64{{10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25}}},
		"the first ended after that":     {16, 27, [][]float64{{10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25}}},
		"the first ended before":         {12, 9, [][]float64{{12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25}}},
		"the second begins after it all": {26, 24, [][]float64{{10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23}}},
	} {
		o := NewMemory(1<<20).NewRecorder("", 20*time.Second)
		first := session(o, 0)
		var second *source
		var r *Recording
		for i := range 28 {
			now := float64(i)
			if now == c.second {
				second = session(o, now)
			}
			if now == c.ends {
				first.ring.Close()
			}
			if now == 21 {
				r, _ = o.Record(at(20))
			}
			for _, s := range []*source{first, second} {
				if s != nil {
					s.event(now, 10)
					s.ring.Reduced(ticks(now), 0)
				}
			}
		}
		if got := times(t, r); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// TestForgetsSessions: the events of a session that has ended are forgotten when they are too old, and
// with the last one its memory.
func TestForgetsSessions(t *testing.T) {
	o := NewMemory(1<<20).NewRecorder("", 10*time.Second)
	first := session(o, 0)
	first.event(1, 10)
	first.ring.Close()
	second := session(o, 5)
	second.event(6, 10)
	second.ring.Reduced(ticks(12), 0)
	if len(o.rings) != 2 {
		t.Errorf("%d sessions", len(o.rings))
	}
	second.ring.Reduced(ticks(14), 0)
	if len(o.rings) != 1 || o.rings[0] != second.ring {
		t.Errorf("%d sessions", len(o.rings))
	}
	checkMemory(t, o.m)
}

// TestNoSession: a process without a session has no recording; what its last session has seen can be
// recorded.
func TestNoSession(t *testing.T) {
	o := NewMemory(1<<20).NewRecorder("", 10*time.Second)
	r, _ := o.Record(at(1))
	if _, err := r.Parts(); !isDone(r) || !errors.Is(err, errNothing) {
		t.Errorf("%v", err)
	}
	s := session(o, 0)
	s.event(20, 10)
	s.ring.Close()
	r, _ = o.Record(at(21))
	if got := times(t, r); !reflect.DeepEqual(got, [][]float64{{20}}) {
		t.Errorf("%v", got)
	}
}
