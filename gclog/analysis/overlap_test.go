package analysis_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/gclog/analysis"
)

// pause passes on a pause of a collection; number 0 is none.
func pause(t *analysis.Timeline, start, end int64, number uint32) {
	p := &gclog.Pause{PausePart: gclog.PausePart{Start: start, Duration: end - start}}
	if number != 0 {
		p.GC = &gclog.GCDetails{Number: number, Known: gclog.GroupNumber, Generation: 1}
	}
	t.Observe(p)
}

func TestOverlap(t *testing.T) {
	line := analysis.NewTimeline(analysis.Always())
	line.Observe(&gclog.Start{At: 0})
	pause(line, 100, 200, 1)
	pause(line, 200, 210, 2)
	pause(line, 400, 500, 0)
	pause(line, 600, 650, 3)
	pause(line, 700, 710, 3) // its second
	line.Observe(&gclog.End{At: 1000})
	for _, x := range []struct {
		from, to, pause int64
		pauses          int
		numbers         []uint32
		outside         bool
	}{
		{0, 100, 0, 0, nil, false},
		{0, 101, 1, 1, []uint32{1}, false},
		{199, 201, 2, 2, []uint32{1, 2}, false},
		{210, 400, 0, 0, nil, false},
		{209, 401, 2, 2, []uint32{2}, false},
		{450, 460, 10, 1, nil, false},
		{450, 450, 0, 1, nil, false},
		{400, 400, 0, 0, nil, false},
		{500, 500, 0, 0, nil, false},
		{0, 1000, 270, 5, []uint32{1, 2, 3}, false},
		{710, 1000, 0, 0, nil, false},
		{-1, 150, 50, 1, []uint32{1}, true},
		{705, 1001, 5, 1, []uint32{3}, true},
	} {
		o := line.Overlap(x.from, x.to)
		numbers := line.AppendNumbers(nil, o, 10)
		if o.Pause != x.pause || o.Pauses != x.pauses || o.Outside != x.outside || o.Gap || !slices.Equal(numbers, x.numbers) {
			t.Errorf("[%d, %d): %+v, numbers %d; want %+v", x.from, x.to, o, numbers, x)
		}
	}
	if got := line.AppendNumbers([]uint32{3}, line.Overlap(0, 1000), 2); !slices.Equal(got, []uint32{3, 1, 2}) {
		t.Errorf("two numbers behind a 3: %d", got)
	}
}

// TestMissingOfGaps checks that what is missing in a gap depends on its reason, and begins where
// the gap says.
func TestMissingOfGaps(t *testing.T) {
	const dropped = "records were dropped"
	for _, c := range []struct {
		gap  gclog.Gap
		from int64
		why  string
	}{
		{gclog.Gap{Reason: gclog.GapLostEvents}, 200, "events were lost"},
		{gclog.Gap{Reason: gclog.GapLostEvents, Since: 150}, 150, "events were lost"},
		{gclog.Gap{Reason: gclog.GapMissedGCs, From: 1, To: 1}, 200, "collection numbers are missing"},
		{gclog.Gap{Reason: gclog.GapMissedGCs}, 200, "the collection numbers start over"},
		{gclog.Gap{Reason: gclog.GapReattached}, 200, "no known session"},
		{gclog.Gap{Reason: gclog.GapQueueFull}, 200, dropped},
		{gclog.Gap{Reason: gclog.GapUnwritten, Since: 250}, 250, dropped},
		{gclog.Gap{Reason: gclog.GapInternal}, 200, dropped},
		{gclog.Gap{Reason: gclog.GapStopped}, 200, dropped},
	} {
		line := analysis.NewTimeline(analysis.Always())
		line.Observe(&gclog.Start{At: 0})
		pause(line, 100, 200, 1)
		c.gap.Time = 300
		line.Observe(&c.gap)
		line.Observe(&gclog.End{At: 400})
		want := []analysis.Missing{{Window: analysis.Window{From: c.from, To: 300}, Why: c.why}}
		if got := line.Missing(nil, 0, 400); !slices.Equal(got, want) {
			t.Errorf("%+v: %+v, want %+v", c.gap, got, want)
		}
	}
}

// TestMissingFinalPause checks that if the second pause of a background collection was not seen,
// nothing is known from the end of its mark phase until something shows that the program ran.
func TestMissingFinalPause(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(d *gclog.GCDetails)
		later  int64 // a pause that is reported earlier, 0 if there is none
		want   analysis.Window
	}{
		{"its sweep", func(d *gclog.GCDetails) { d.Background.SweepStart = 400 }, 600, analysis.Window{From: 300, To: 400}},
		{"its sweep at once", func(d *gclog.GCDetails) { d.Background.SweepStart = 300 }, 600, analysis.Window{From: 300, To: 300}},
		{"its end", func(d *gclog.GCDetails) {
			d.End = 500
			d.Known |= gclog.GroupEnd
		}, 600, analysis.Window{From: 300, To: 500}},
		{"another pause", func(*gclog.GCDetails) {}, 600, analysis.Window{From: 300, To: 600}},
		{"nothing", func(*gclog.GCDetails) {}, 0, analysis.Window{From: 300, To: 1000}},
	} {
		line := analysis.NewTimeline(analysis.Always())
		line.Observe(&gclog.Start{At: 0})
		if c.later != 0 {
			pause(line, c.later, c.later+10, 2)
		}
		d := &gclog.GCDetails{Number: 1, Known: gclog.GroupNumber, Generation: gclog.Gen2, Kind: gclog.KindBackground, Start: 100}
		d.Background = &gclog.BackgroundDetails{MarkStart: 200, MarkEnd: 300}
		d.Pauses = []gclog.PausePart{{Kind: gclog.PauseInitial, Start: 100, Duration: 100}}
		c.change(d)
		line.Observe(d)
		line.Observe(&gclog.End{At: 1000})
		got := line.Missing(nil, 0, 1000)
		if len(got) != 1 || got[0].Window != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
}

// TestOverlapRandom compares Overlap and Nearest with a search over all pauses.
func TestOverlapRandom(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		line := analysis.NewTimeline(analysis.Always())
		line.Observe(&gclog.Start{At: 0})
		var stops []stop
		at := int64(0)
		for range r.IntN(30) {
			at += r.Int64N(20) // pauses may touch
			end := at + r.Int64N(15)
			stops = append(stops, stop{at, end})
			pause(line, at, end, 1)
			at = end
			if r.IntN(4) == 0 {
				line.Overlap(0, at) // may be called at any time
			}
		}
		line.Observe(&gclog.End{At: at + 20})
		for range 100 {
			from := r.Int64N(at + 20)
			to := from + r.Int64N(at+21-from)
			sum, pauses := int64(0), 0
			var before, after *stop
			for i, s := range stops {
				if s.start < to && s.end > from {
					pauses++
					sum += min(s.end, to) - max(s.start, from)
				} else if s.end <= from {
					before = &stops[i]
				} else if after == nil {
					after = &stops[i]
				}
			}
			if o := line.Overlap(from, to); o.Pause != sum || o.Pauses != pauses || o.Outside || o.Gap {
				t.Fatalf("[%d, %d) of %v: %+v, want %d in %d", from, to, stops, o, sum, pauses)
			}
			gotBefore, gotAfter := line.Nearest(from, to)
			if !same(gotBefore, before) || !same(gotAfter, after) {
				t.Fatalf("nearest of [%d, %d) in %v: %+v and %+v, want %v and %v", from, to, stops, gotBefore, gotAfter, before, after)
			}
		}
	}
}

type stop struct{ start, end int64 }

func same(got *analysis.Stop, want *stop) bool {
	if got == nil || want == nil {
		return got == nil && want == nil
	}
	return got.Start == want.start && got.End() == want.end
}

// TestTimelineDamaged checks that pauses that overlap, or come in a wrong order, count once.
func TestTimelineDamaged(t *testing.T) {
	line := analysis.NewTimeline(analysis.Always())
	line.Observe(&gclog.Start{At: 0})
	pause(line, 100, 200, 1)
	pause(line, 150, 250, 2)
	pause(line, 160, 170, 3)
	if o := line.Overlap(0, 300); o.Pause != 150 || o.Pauses != 3 {
		t.Errorf("%+v, want 150 in 3", o)
	}
	pause(line, 50, 110, 4)
	line.Observe(&gclog.End{At: 300})
	if o := line.Overlap(0, 300); o.Pause != 200 || o.Pauses != 4 {
		t.Errorf("%+v, want 200 in 4", o)
	}
	if o := line.Overlap(105, 205); o.Pause != 100 {
		t.Errorf("%+v, want 100", o)
	}
}

func TestTimelineWindow(t *testing.T) {
	line := analysis.NewTimeline(analysis.Window{From: 150, To: 400})
	line.Observe(&gclog.Start{At: 0})
	pause(line, 10, 20, 1)
	pause(line, 100, 200, 2)
	pause(line, 390, 410, 3)
	pause(line, 400, 420, 4)
	line.Observe(&gclog.End{At: 1000})
	if got := line.Known(); got != (analysis.Window{From: 150, To: 400}) {
		t.Errorf("known: %v", got)
	}
	o := line.Overlap(150, 400)
	if numbers := line.AppendNumbers(nil, o, 10); o.Pause != 60 || o.Outside || !slices.Equal(numbers, []uint32{2, 3}) {
		t.Errorf("%+v %d", o, numbers)
	}
	if o := line.Overlap(140, 160); !o.Outside {
		t.Error("a time that begins before the window is not outside of it")
	}
}

func TestTimelineMissing(t *testing.T) {
	for _, x := range []struct {
		name  string
		emit  func(*analysis.Timeline)
		gap   [2]int64 // its ends belong to it
		clear []int64
	}{
		{"lost events", func(l *analysis.Timeline) {
			l.Observe(&gclog.Gap{Reason: gclog.GapLostEvents, Since: 300, Time: 500, LostEvents: 7})
		}, [2]int64{300, 500}, []int64{299, 501}},
		{"lost events, nobody knows since when", func(l *analysis.Timeline) {
			l.Observe(&gclog.Gap{Reason: gclog.GapLostEvents, Time: 500})
		}, [2]int64{200, 500}, []int64{199, 501}},
		{"missing collections", func(l *analysis.Timeline) {
			l.Observe(&gclog.Gap{Reason: gclog.GapMissedGCs, Time: 500, From: 2, To: 3})
		}, [2]int64{200, 500}, []int64{199, 501}},
		{"two sessions", func(l *analysis.Timeline) {
			l.Observe(&gclog.End{At: 300})
			l.Observe(&gclog.Start{At: 400})
		}, [2]int64{300, 400}, []int64{299, 401}},
		{"two gaps that touch, and one between", func(l *analysis.Timeline) {
			for _, g := range [][2]int64{{600, 700}, {300, 400}, {400, 650}} {
				l.Observe(&gclog.Gap{Since: g[0], Time: g[1]})
			}
		}, [2]int64{300, 700}, []int64{299, 701}},
		{"a collection whose suspension was not seen", func(l *analysis.Timeline) {
			l.Observe(&gclog.GCDetails{Flaws: gclog.FlawNoSuspend, Start: 300, End: 350, Known: gclog.GroupEnd})
		}, [2]int64{300, 350}, []int64{299, 351}},
		{"a collection of which only the end was seen", func(l *analysis.Timeline) {
			l.Observe(&gclog.GCDetails{Flaws: gclog.FlawNoSuspend | gclog.FlawNoStart, Start: 350, End: 350, Known: gclog.GroupEnd})
		}, [2]int64{200, 350}, []int64{199, 351}},
		{"a collection whose end was not seen", func(l *analysis.Timeline) {
			l.Observe(&gclog.GCDetails{Flaws: gclog.FlawNoEnd | gclog.FlawNoRestart, Suspended: 300, Start: 310})
			pause(l, 500, 600, 3)
		}, [2]int64{300, 500}, []int64{299, 501}},
		{"one that is told late", func(l *analysis.Timeline) {
			pause(l, 500, 600, 3)
			pause(l, 700, 800, 4)
			l.Observe(&gclog.GCDetails{Flaws: gclog.FlawNoRestart, Start: 300, End: 400, Known: gclog.GroupEnd})
		}, [2]int64{300, 500}, []int64{299, 501}},
		{"two in a row", func(l *analysis.Timeline) {
			l.Observe(&gclog.GCDetails{Flaws: gclog.FlawNoRestart, Start: 300})
			l.Observe(&gclog.GCDetails{Flaws: gclog.FlawNoSuspend, Start: 400, End: 450, Known: gclog.GroupEnd})
		}, [2]int64{300, 450}, []int64{299, 451}},
		{"at the end of a session", func(l *analysis.Timeline) {
			l.Observe(&gclog.GCDetails{Flaws: gclog.FlawNoRestart, Start: 300})
			l.Observe(&gclog.End{At: 400})
			l.Observe(&gclog.Start{At: 500})
		}, [2]int64{300, 500}, []int64{299, 501}},
		{"at the end of all", func(l *analysis.Timeline) {
			l.Observe(&gclog.GCDetails{Flaws: gclog.FlawNoRestart, Start: 300})
		}, [2]int64{300, 1000}, []int64{299}},
		{"a suspension that has not ended", func(l *analysis.Timeline) {
			l.Observe(&gclog.End{Open: []gclog.Open{{Kind: gclog.OpenSuspension, Since: 300}}})
		}, [2]int64{300, 1000}, []int64{299}},
		{"a background collection whose first pause was not seen", func(l *analysis.Timeline) {
			l.Observe(&gclog.GCDetails{Kind: gclog.KindBackground, Flaws: gclog.FlawNoSuspend, Start: 300, Background: &gclog.BackgroundDetails{MarkStart: 350}})
		}, [2]int64{300, 350}, []int64{299, 351}},
		{"one whose second pause was not seen", func(l *analysis.Timeline) {
			l.Observe(&gclog.GCDetails{Kind: gclog.KindBackground, Start: 100, Background: &gclog.BackgroundDetails{MarkStart: 200, MarkEnd: 300, SweepStart: 400}})
		}, [2]int64{300, 400}, []int64{299, 401}},
		{"one whose second pause has no end", func(l *analysis.Timeline) {
			l.Observe(&gclog.GCDetails{Kind: gclog.KindBackground, Flaws: gclog.FlawNoEnd, Start: 100, Background: &gclog.BackgroundDetails{MarkStart: 200, MarkEnd: 300}})
		}, [2]int64{300, 1000}, []int64{299}},
		{"one that is not whole, but all its pauses are", func(l *analysis.Timeline) {
			l.Observe(&gclog.GCDetails{Kind: gclog.KindBackground, Flaws: gclog.FlawNoEnd, Start: 100, Background: &gclog.BackgroundDetails{MarkStart: 200}})
			l.Observe(&gclog.Gap{Since: 600, Time: 700})
		}, [2]int64{600, 700}, []int64{300, 599, 701}},
	} {
		line := analysis.NewTimeline(analysis.Always())
		line.Observe(&gclog.Start{At: 0})
		pause(line, 100, 200, 1)
		x.emit(line)
		line.Observe(&gclog.End{At: 1000})
		for _, at := range []int64{x.gap[0], (x.gap[0] + x.gap[1]) / 2, x.gap[1]} {
			if !line.Overlap(at, at).Gap || !line.Overlap(at-10, at+10).Gap {
				t.Errorf("%s: no gap at %d", x.name, at)
			}
		}
		for _, at := range x.clear {
			if line.Overlap(at, at).Gap {
				t.Errorf("%s: a gap at %d", x.name, at)
			}
		}
		if m := line.Missing(nil, 0, 1000); len(m) != 1 || m[0].From != x.gap[0] || m[0].To != x.gap[1] || m[0].Why == "" {
			t.Errorf("%s: missing is %v", x.name, m)
		}
	}
}

func TestTimelineEmpty(t *testing.T) {
	line := analysis.NewTimeline(analysis.Always())
	if o := line.Overlap(0, 10); !o.Outside || o.Pauses != 0 {
		t.Errorf("%+v", o)
	}
	if a, b := line.Nearest(0, 10); a != nil || b != nil {
		t.Errorf("%v %v", a, b)
	}
}

func TestOverlapAllocates(t *testing.T) {
	line := analysis.NewTimeline(analysis.Always())
	line.Observe(&gclog.Start{At: 0})
	for i := range int64(1000) {
		pause(line, i*100, i*100+50, uint32(i+1))
	}
	line.Observe(&gclog.End{At: 1e6})
	numbers := make([]uint32, 0, 100)
	if n := testing.AllocsPerRun(100, func() {
		numbers = line.AppendNumbers(numbers[:0], line.Overlap(5000, 9000), 100)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkOverlap(b *testing.B) {
	line := analysis.NewTimeline(analysis.Always())
	line.Observe(&gclog.Start{At: 0})
	const pauses = 1 << 20
	for i := range int64(pauses) {
		pause(line, i*1000, i*1000+50, uint32(i+1))
	}
	line.Observe(&gclog.End{At: pauses * 1000})
	r := rand.New(rand.NewPCG(1, 2))
	b.ReportAllocs()
	for b.Loop() {
		from := r.Int64N(pauses * 900)
		line.Overlap(from, from+1500)
	}
}
