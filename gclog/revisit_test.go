package gclog_test

import (
	"math"
	"testing"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/parse/clr"
)

const large = true

// revisited reports what a heap's thread has revisited.
func (s *story) revisited(thread uint64, large bool, pages, references uint64) *story {
	return s.event(thread, &clr.BGCRevisit{Pages: pages, Objects: references, Large: large})
}

// TestRevisited: a runtime with regions reports gen0 and gen1 as large objects before the small
// ones that they are part of, and the large ones again with the pinned ones.
func TestRevisited(t *testing.T) {
	s := newStory()
	background(s)
	// Two threads at a time, one of them twice.
	s.revisited(3, !large, 4, 900).revisited(4, !large, 1, 10)
	s.revisited(3, large, 59, 29958).revisited(4, large, 0, 0).revisited(3, large, 59, 29958).revisited(4, large, 7, 70)
	s.revisited(3, !large, 2, 593).revisited(3, large, 29, 14830).revisited(3, large, 30, 14930)
	s.suspend(b, clr.SuspendForGCPrep)
	s.revisited(3, large, 5, 50).revisited(4, large, 100, 1000)
	s.revisited(3, large, 6, 60).revisited(3, !large, 8, 80).revisited(3, large, 0, 0).revisited(3, large, 2, 3)
	s.revisited(4, large, 100, 1000).revisited(4, !large, 100, 1000).revisited(4, large, 20, 30).revisited(4, large, 20, 30)
	s.event(3, &clr.BGCOverflow{}).event(3, &clr.BGCOverflow{Objects: 12, Generation: 2}).event(3, &clr.BGCOverflow{Objects: 3, Large: true, Generation: 3})
	s.restart(b).history(b, 2, 1, clr.MechanismConcurrent).finish(b, 5, 2)
	d := s.gcs[0].Background
	want := [2][2]gclog.Revisit{{{Pages: 7, References: 1503}, {Pages: 59 + 30 + 7, References: 29958 + 14930 + 70}}, {{Pages: 108, References: 1080}, {Pages: 22, References: 33}}}
	if d.Revisited != want {
		t.Errorf("%+v, want %+v", d.Revisited, want)
	}
	if d.Overflowed != 15 {
		t.Errorf("%d objects overflowed, want 15", d.Overflowed)
	}
}

// TestRevisitedWild checks counts that go backwards, and too many threads.
func TestRevisitedWild(t *testing.T) {
	s := newStory()
	background(s)
	s.revisited(3, !large, 0, 0).revisited(3, large, math.MaxUint64, 9).revisited(3, large, 3, 7)
	for thread := range uint64(5000) {
		s.revisited(10+thread, !large, 1, 1)
	}
	s.suspend(b, clr.SuspendForGCPrep).restart(b).history(b, 2, 1, clr.MechanismConcurrent).finish(b, 5, 2)
	want := [2][2]gclog.Revisit{{{Pages: 1023, References: 1023}, {Pages: math.MaxUint64, References: 9}}}
	if got := s.gcs[0].Background.Revisited; got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}
