package gclog

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func TestMissing(t *testing.T) {
	for _, c := range []struct {
		numbers []uint32
		want    string
	}{
		{nil, ""},
		{[]uint32{0, 0}, "0-0 (2)"},
		{[]uint32{5, 6, 0, 7}, "5-7 (4)"},
		{[]uint32{6, 5, 6}, "5-6 (3)"},
		{[]uint32{6, 8, 10, 7, 9}, "6-10 (5)"},
		{[]uint32{5, 9, 1, 7, 8, 6}, "1-1 (6) 5-9 (0)"},
		{[]uint32{8, 9, 3, 10, 12}, "3-3 (5) 8-10 (0) 12-12 (0)"},
		{[]uint32{10, 20, 30, 40, 50, 60}, "10-10 (6) 20-20 (0) 30-30 (0) 40-60 (0)"},
		{[]uint32{138, 135, 143, 144, 150, 140}, "135-135 (6) 138-140 (0) 143-144 (0) 150-150 (0)"},
		{[]uint32{1<<32 - 1, 1, 1<<32 - 2}, "1-1 (3) 4294967294-4294967295 (0)"},
	} {
		var m Missing
		for _, n := range c.numbers {
			m.Add(&GCDetails{Number: n})
		}
		var got []string
		m.Gaps(Gap{Reason: GapUnwritten}, func(g *Gap) {
			if g.Reason != GapUnwritten {
				t.Errorf("reason %v", g.Reason)
			}
			got = append(got, fmt.Sprintf("%d-%d (%d)", g.From, g.To, g.Records))
		})
		if s := strings.Join(got, " "); s != c.want {
			t.Errorf("%v: %s, want %s", c.numbers, s, c.want)
		}
	}
}

// TestMissingGaps: numbers named by other gaps are taken over, in any order, but never numbers that
// no gap can name.
func TestMissingGaps(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for range 2000 {
		var m Missing
		for range random.IntN(30) {
			m.AddGap(&Gap{Reason: GapMissedGCs, From: random.Uint32(), To: random.Uint32(), Records: 1})
		}
		last := Gap{}
		m.Gaps(Gap{}, func(g *Gap) {
			if g.From > g.To || last.To > 0 && g.From <= last.To {
				t.Fatalf("a gap from #%d to #%d after one from #%d to #%d", g.From, g.To, last.From, last.To)
			}
			last = *g
		})
	}
}

// TestMissingRandom: whatever is missing, in any order, each number is in exactly one gap, and no
// other number is unless there were too many runs at a time.
func TestMissingRandom(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		var m Missing
		var numbers []uint32
		runs := 0 // the maximum at a time
		for range 1 + random.IntN(30) {
			n := 1 + random.Uint32N(uint32(2+random.IntN(40)))
			m.Add(&GCDetails{Number: n})
			if i, found := slices.BinarySearch(numbers, n); !found {
				numbers = slices.Insert(numbers, i, n)
			}
			now := 1
			for i := range numbers[1:] {
				if numbers[i+1] > numbers[i]+1 {
					now++
				}
			}
			runs = max(runs, now)
		}
		var emitted []uint32
		gaps := 0
		m.Gaps(Gap{}, func(g *Gap) {
			gaps++
			for n := g.From; n <= g.To; n++ {
				emitted = append(emitted, n)
			}
		})
		if !slices.IsSorted(emitted) || len(slices.Compact(slices.Clone(emitted))) != len(emitted) || gaps > MissingGaps {
			t.Fatalf("%v: %d gaps name %v", numbers, gaps, emitted)
		}
		for _, n := range numbers {
			if !slices.Contains(emitted, n) {
				t.Fatalf("%v: %v lacks %d", numbers, emitted, n)
			}
		}
		if runs <= MissingGaps && len(emitted) != len(numbers) {
			t.Fatalf("%v: %v", numbers, emitted)
		}
	}
}

// TestMissingGap: the contents of a gap that cannot be passed on are reported too.
func TestMissingGap(t *testing.T) {
	var m Missing
	m.Add(&GCDetails{Number: 5})
	m.AddGap(&Gap{Reason: GapMissedGCs, From: 6, To: 8})
	m.Add(&GCDetails{Number: 9})
	m.AddGap(&Gap{Reason: GapLostEvents, From: 10, To: 11, LostEvents: 3}) // both are in progress
	m.AddGap(&Gap{Reason: GapQueueFull, Records: 10, From: 20, To: 22})
	m.AddGap(&Gap{Reason: GapMissedGCs, From: 30, To: 30})
	var got []string
	m.Gaps(Gap{}, func(g *Gap) { got = append(got, fmt.Sprint(g.From, g.To, g.Records, g.LostEvents)) })
	if want := []string{"5 9 12 3", "20 22 0 0", "30 30 0 0"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	for _, c := range []struct {
		from, to uint32
		want     bool
	}{{5, 9, true}, {6, 8, true}, {4, 6, false}, {9, 10, false}, {8, 20, false}, {21, 21, true}} {
		if got := m.Names(&Gap{From: c.from, To: c.to}); got != c.want {
			t.Errorf("it names all from %d to %d: %v", c.from, c.to, got)
		}
	}
}
