package history

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gclog/gclog/gclog"
)

// TestNumbers: gaps are found by the numbers of collections, and reported once.
func TestNumbers(t *testing.T) {
	blocking := func(number uint32, start int64) *gclog.Pause {
		return &gclog.Pause{PausePart: gclog.PausePart{Start: start, Duration: 1}, GC: &gclog.GCDetails{Number: number, Known: gclog.GroupNumber}}
	}
	of := func(kind gclog.PauseKind, number uint32, start int64) *gclog.Pause {
		p := blocking(number, start)
		p.Kind = kind
		return p
	}
	used := func(number uint32, start int64) *gclog.Pause {
		return &gclog.Pause{PausePart: gclog.PausePart{Kind: gclog.PauseNoGCRegion, Start: start, Duration: 1}, UsedNumber: number}
	}
	partly := of(gclog.PauseFinal, 2, 25)
	partly.GC.Flaws = gclog.FlawNoStart
	bare := blocking(5, 50).GC
	bare.Start, bare.End = 50, 51
	for _, x := range []struct {
		name  string
		calls []any // pauses, records, gaps, and times at which a session starts after an earlier one ended
		want  string
	}{
		{"whole", []any{blocking(7, 10), blocking(8, 20)}, ""},
		{"a hole", []any{blocking(7, 10), blocking(8, 20), blocking(12, 30), blocking(13, 40)}, "9-11 in 21-30"},
		{"two holes", []any{blocking(1, 10), blocking(3, 20), blocking(6, 30)}, "2-2 in 11-20, 4-5 in 21-30"},
		{"a background one whose first pause holds another", []any{blocking(4, 10), blocking(6, 20), of(gclog.PauseInitial, 5, 21), of(gclog.PauseFinal, 5, 30), blocking(7, 40)}, ""},
		{"a background one from before", []any{of(gclog.PauseFinal, 2, 10), blocking(9, 20), blocking(10, 30)}, ""},
		{"the end of a background one is no news", []any{of(gclog.PauseInitial, 5, 10), of(gclog.PauseFinal, 5, 20), blocking(7, 30)}, "6-6 in 11-30"},
		{"one of which a part was seen", []any{blocking(1, 10), blocking(4, 20), partly}, "3-3 in 11-20"},
		{"one without pauses", []any{blocking(4, 10), bare, blocking(6, 60)}, ""},
		{"a late background one", []any{blocking(1, 10), blocking(3, 30), of(gclog.PauseInitial, 2, 20)}, ""},
		{"no-GC region", []any{blocking(1, 10), used(2, 20), blocking(3, 30)}, ""},
		{"a gap that is told", []any{blocking(1, 10), &gclog.Gap{Reason: gclog.GapMissedGCs, From: 2, To: 4}, blocking(5, 20), blocking(9, 30), &gclog.Gap{Reason: gclog.GapQueueFull, From: 7, To: 12}}, "6-6 in 21-30"},
		{"between two sessions", []any{blocking(1, 10), [2]int64{15, 20}, blocking(4, 25)}, "2-3 in 15-20"},
		{"between three sessions", []any{blocking(1, 10), [2]int64{15, 20}, [2]int64{22, 24}, blocking(4, 25), blocking(6, 30)}, "2-3 in 15-24, 5-5 in 26-30"},
		{"between two sessions of which one takes over from the other", []any{blocking(1, 10), [2]int64{15, 12}, blocking(4, 25)}, "2-3 in 11-25"},
		{"another process", []any{blocking(8, 10), blocking(1, 20), blocking(2, 30), blocking(4, 40)}, "0-0 in 11-20, 3-3 in 31-40"},
		{"parts of one", []any{blocking(1, 10), blocking(1, 12), blocking(2, 20)}, ""},
	} {
		var got []string
		n := Numbers{emit: func(g *gclog.Gap) {
			got = append(got, fmt.Sprintf("%d-%d in %d-%d", g.From, g.To, g.Since, g.Time))
		}}
		for _, v := range x.calls {
			switch v := v.(type) {
			case *gclog.Pause:
				n.Observe(v)
			case *gclog.GCDetails:
				n.Observe(v)
			case *gclog.Gap:
				n.Observe(v)
			case [2]int64:
				n.begin(v[0], v[1])
			}
		}
		n.Finish()
		if strings.Join(got, ", ") != x.want {
			t.Errorf("%s: %v, want %v", x.name, got, x.want)
		}
	}
}

// TestNumbersInTime: what is missing is not kept forever.
func TestNumbersInTime(t *testing.T) {
	reported := 0
	n := Numbers{emit: func(*gclog.Gap) { reported++ }}
	for i := range uint32(10 * numbersLate) {
		n.next(2*i+1, int64(i), int64(i), true)
	}
	if len(n.jumps) > numbersLate || reported+len(n.jumps) != 10*numbersLate-1 {
		t.Errorf("%d are told, %d are kept", reported, len(n.jumps))
	}
}
