package stacks

import (
	"bytes"
	"math"
	"sync"
	"testing"
	"time"

	"github.com/gclog/gclog/parse/clr"
)

// window returns a recording of a length with ticks of a type, which ends with a sequence point.
func window(length time.Duration, typ string, ticks int) *bytes.Reader {
	s := newStream(1, 8)
	for range ticks {
		s.tick(typ, 102_400, 100, 0x1010)
	}
	s.SequencePoint(s.ticks + length.Nanoseconds() - int64(ticks)*1000)
	s.End()
	return bytes.NewReader(s.Bytes)
}

// TestWindows: windows stand for the time between them, those of different times for what they say; an empty one
// counts, and names are read at the same time.
func TestWindows(t *testing.T) {
	b := NewBuilder()
	names := newStream(1, 8)
	names.method(kindRundown, "M", 0x1000, 0x100)
	names.End()
	var group sync.WaitGroup
	group.Go(func() {
		if err := b.ReadNames(bytes.NewReader(names.Bytes)); err != nil {
			t.Error(err)
		}
	})
	read := func(length time.Duration, typ string, ticks int) {
		if err := b.ReadWindow(window(length, typ, ticks)); err != nil {
			t.Error(err)
		}
	}
	read(time.Second, "A", 100)
	b.StandFor(time.Second) // all of it was watched
	read(time.Second, "B", 30)
	read(time.Second, "B", 0)
	b.StandFor(20 * time.Second)
	b.StandFor(time.Second) // nobody has watched
	group.Wait()
	p := b.Profile()
	if p.Duration.Round(time.Second) != 22*time.Second || p.Watched.Round(time.Second) != 3*time.Second {
		t.Errorf("%v, of which %v were watched", p.Duration, p.Watched)
	}
	bytesOf, margins := map[string]float64{}, map[string]float64{}
	for _, a := range p.Allocations {
		bytesOf[p.Types[a.Type]], margins[p.Types[a.Type]] = a.Bytes/102_400, math.Sqrt(a.variance)/102_400
		if name := p.Frames[p.AllocatedIn(a.Stack)].Name; name != "M" {
			t.Errorf("the frame is %q", name)
		}
	}
	near := func(what string, got, want float64) {
		if math.Abs(got/want-1) > 1e-3 {
			t.Errorf("%s: %.2f, want %.2f", what, got, want)
		}
	}
	near("A", bytesOf["A"], 100)
	near("B", bytesOf["B"], 30*10.5)
	near("the deviation of A", margins["A"], math.Sqrt(100))
	near("the deviation of B", margins["B"], 10.5*math.Sqrt(30))
	if got := b.Progress(); got.Events != 130 || got.Watched.Round(time.Second) != 3*time.Second || got.Methods != 1 || got.Dry {
		t.Errorf("progress %+v", got)
	}
}

// TestWindowsOfLarge: a large object always has an event, but not while nobody watches.
func TestWindowsOfLarge(t *testing.T) {
	b := NewBuilder()
	s := newStream(1, 8)
	s.tick("L", 1_000_000, 1_000_000, 0x1010)
	s.SequencePoint(s.ticks + int64(time.Second))
	s.End()
	if err := b.ReadWindow(bytes.NewReader(s.Bytes)); err != nil {
		t.Fatal(err)
	}
	b.StandFor(4 * time.Second)
	a := b.Profile().Allocations[0]
	if want := math.Sqrt(12) * 1_000_000; math.Abs(a.Bytes/4_000_000-1) > 1e-3 || math.Abs(math.Sqrt(a.variance)/want-1) > 1e-3 {
		t.Errorf("%.0f bytes, deviation %.0f", a.Bytes, math.Sqrt(a.variance))
	}
}

// TestDryWindow: a window in which allocations are no longer reported ends with the last one that was.
func TestDryWindow(t *testing.T) {
	b := NewBuilder()
	s := newStream(1, 8)
	for range 10 {
		s.tick("A", 102_400, 100, 0x1010)
	}
	for n := range uint32(12) {
		s.ticks += int64(time.Second)
		s.event(kindStart, payload().U32(n+1, 0, uint32(clr.ReasonAllocSmall), 0).U16(0).U64(0))
	}
	s.SequencePoint(s.ticks + 1)
	s.End()
	if err := b.ReadWindow(bytes.NewReader(s.Bytes)); err != nil {
		t.Fatal(err)
	}
	if p := b.Profile(); p.Watched > time.Second || p.Gaps != 1 {
		t.Errorf("%v were watched, %d gaps", p.Watched, p.Gaps)
	}
}

// TestNoAllocationsWanted: a window that is only about requests of collections is whole although there are collections
// because of allocations.
func TestNoAllocationsWanted(t *testing.T) {
	b := NewBuilder()
	s := newStream(1, 8)
	for n := range uint32(12) {
		s.ticks += int64(time.Second)
		s.event(kindTriggered, payload().U32(uint32(clr.ReasonInduced)).U16(0))
		s.event(kindStart, payload().U32(n+1, 0, uint32(clr.ReasonAllocSmall), 0).U16(0).U64(0))
	}
	s.SequencePoint(s.ticks + 1)
	s.End()
	if err := b.ReadWindow(bytes.NewReader(s.Bytes)); err != nil {
		t.Fatal(err)
	}
	if p := b.Profile(); p.Watched < 11*time.Second || p.Gaps != 0 {
		t.Errorf("%v were watched, %d gaps", p.Watched, p.Gaps)
	}
}

// TestWindowsDiffer: if windows differ, the total is known as well as their mean.
func TestWindowsDiffer(t *testing.T) {
	b := NewBuilder()
	for _, ticks := range []int{10, 30, 20, 20} {
		if err := b.ReadWindow(window(time.Second, "A", ticks)); err != nil {
			t.Fatal(err)
		}
	}
	b.StandFor(40 * time.Second)
	p := b.Profile()
	// A window has 20 ± 8.2 ticks, their mean ± 4.1, for 40 s.
	mean := math.Sqrt(200. / 3 / 4 * 5 / 3 * 0.9)
	if got, want := p.Margin(p.Total)-p.Total.Bytes*tickBias, 2*mean*40*102_400; math.Abs(got/want-1) > 1e-3 {
		t.Errorf("the total is %.0f ± %.0f, want ± %.0f", p.Total.Bytes, got, want)
	}
}

// TestOneWindow: what a single short window has is known no better than chance allows, and not between its ticks.
func TestOneWindow(t *testing.T) {
	b := NewBuilder()
	if err := b.ReadWindow(window(time.Second, "A", 9)); err != nil {
		t.Fatal(err)
	}
	b.StandFor(10 * time.Second)
	p := b.Profile()
	want := 2 * math.Sqrt(90*9+100./6) * 102_400
	if got := p.Margin(p.Total) - p.Total.Bytes*tickBias; math.Abs(got/want-1) > 1e-2 {
		t.Errorf("the total is %.0f ± %.0f, want ± %.0f", p.Total.Bytes, got, want)
	}
}

// TestDispersion: windows that have either one type or the other say less than their events.
func TestDispersion(t *testing.T) {
	mixed, pure := NewBuilder(), NewBuilder()
	for n := range 8 {
		s := newStream(1, 8)
		for i := range 100 {
			s.tick([]string{"A", "B"}[i%2], 102_400, 100, 0x1010)
		}
		s.SequencePoint(s.ticks + int64(time.Second))
		s.End()
		if err := mixed.ReadWindow(bytes.NewReader(s.Bytes)); err != nil {
			t.Fatal(err)
		}
		if err := pure.ReadWindow(window(time.Second, []string{"A", "B"}[n%2], 100)); err != nil {
			t.Fatal(err)
		}
	}
	for _, b := range []*Builder{mixed, pure} {
		b.StandFor(40 * time.Second)
		p := b.Profile()
		share, margin := p.Share(p.Allocations[0].Estimate)
		want := 2 * math.Sqrt(0.5*0.5/800)
		if b == pure {
			want *= math.Sqrt(1 + (800./7-1)*0.8) // as if each window were a little more than one event
		}
		if margin -= share * tickBias; math.Abs(share-0.5) > 1e-9 || math.Abs(margin/want-1) > 1e-2 {
			t.Errorf("%.3f ± %.4f, want ± %.4f", share, margin, want)
		}
	}
}
