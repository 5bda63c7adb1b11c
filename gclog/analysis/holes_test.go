package analysis_test

import (
	"math"
	"strings"
	"testing"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/gclog/analysis"
)

// TestSessions checks that the time between two sessions is in no duration, share or rate, and that
// no stretch overlaps it.
func TestSessions(t *testing.T) {
	for _, live := range []bool{false, true} {
		s := analysis.NewStatistics(analysis.StatisticsOptions{Window: analysis.Always(), Live: live})
		s.Observe(&gclog.Start{At: -5 * sec})
		emit(s.Observe, collection(1, 0, gclog.KindBlocking, [2]int64{0, 100 * ms}))
		emit(s.Observe, collection(2, 0, gclog.KindBlocking, [2]int64{4 * sec, 300 * ms}))
		s.Observe(&gclog.End{At: 5 * sec})
		s.Observe(&gclog.Start{At: 95 * sec})
		emit(s.Observe, collection(3, 0, gclog.KindBlocking, [2]int64{95*sec + 500*ms, 200 * ms}))
		emit(s.Observe, collection(4, 0, gclog.KindBlocking, [2]int64{97 * sec, 200 * ms}))
		s.Observe(&gclog.End{At: 110 * sec})
		x := s.Summary()
		got := metrics(x)
		for name, want := range map[string]float64{
			"duration":            25e9,
			"duration.unobserved": 90e9,
			"pause.share":         100 * 0.8 / 25,
			"pause.share.10s":     4,
			"gc.rate":             4 * 60 / 25.0,
			"between.max":         4e9,
			"gc.missed":           0,
		} {
			v, known := got[name]
			if !known || math.Abs(v-want) > 1e-2*math.Abs(want) {
				t.Errorf("live %v: %s is %v (known: %v), want %v", live, name, v, known, want)
			}
		}
		if _, known := got["pause.share.1m"]; known {
			t.Errorf("live %v: a minute was observed", live)
		}
		if x.Window != (analysis.Window{From: -5 * sec, To: 110 * sec}) {
			t.Errorf("live %v: the window is %v", live, x.Window)
		}
	}
}

// TestHole checks that time with missing records was not observed, and that shares leave out the
// pauses in it and the one that ends it.
func TestHole(t *testing.T) {
	of := func(w analysis.Window) *analysis.Summary {
		s := analysis.NewStatistics(analysis.StatisticsOptions{Window: w})
		s.Observe(&gclog.Start{At: 0})
		emit(s.Observe, collection(1, 0, gclog.KindBlocking, [2]int64{sec, sec}))
		emit(s.Observe, collection(9, 0, gclog.KindBlocking, [2]int64{8 * sec, sec}))
		s.Observe(&gclog.Pause{PausePart: gclog.PausePart{Kind: gclog.PauseHeapCount, Start: 9*sec + 500*ms, Duration: 500 * ms}})
		emit(s.Observe, collection(12, 0, gclog.KindBlocking, [2]int64{11 * sec, sec}))
		s.Observe(&gclog.End{At: 20 * sec})
		s.Observe(&gclog.Gap{Reason: gclog.GapMissedGCs, Since: 2 * sec, Time: 8 * sec, From: 2, To: 8})
		s.Observe(&gclog.Gap{Reason: gclog.GapMissedGCs, Since: 9 * sec, Time: 11 * sec, From: 10, To: 11})
		return s.Summary()
	}
	for _, c := range []struct {
		name                      string
		window                    analysis.Window
		unobserved, paused, share float64
		missed                    uint64
	}{
		{"all", analysis.Always(), 10e9, 3.5e9, 10, 9},
		{"the begin of a hole", analysis.Window{From: 0, To: 4 * sec}, 2e9, 1e9, 50, 7},
		{"behind", analysis.Window{From: 12 * sec, To: 20 * sec}, 0, 0, 0, 0},
		{"in a hole", analysis.Window{From: 3 * sec, To: 4 * sec}, 1e9, 0, math.NaN(), 7},
	} {
		x := of(c.window)
		total := x.Classes[analysis.ClassAll].Pauses.Total
		if float64(x.Unobserved) != c.unobserved || total.Value != c.paused || x.Missed != c.missed {
			t.Errorf("%s: %d ns were not observed, it stood for %v, %d are missing", c.name, x.Unobserved, total, x.Missed)
		}
		if math.IsNaN(c.share) {
			if x.Share.Known() || x.Share.Why != "nothing of this window was observed" {
				t.Errorf("%s: share %+v", c.name, x.Share)
			}
		} else if math.Abs(x.Share.Value-c.share) > 1e-9 {
			t.Errorf("%s: share %+v, want %v", c.name, x.Share, c.share)
		}
	}
}

// TestMissedInLogs checks that numbers in a log without no-GC regions do not show what is missing.
func TestMissedInLogs(t *testing.T) {
	s := analysis.NewStatistics(analysis.StatisticsOptions{Window: analysis.Always()})
	d := collection(1, 0, gclog.KindBlocking, [2]int64{sec, sec})
	d.FromLog = true
	s.Observe(&gclog.Start{At: sec, CollectionsOnly: true})
	emit(s.Observe, d)
	s.Observe(&gclog.Gap{Reason: gclog.GapMissedGCs, Since: 2 * sec, Time: 8 * sec, From: 2, To: 4})
	for _, m := range s.Summary().Metrics() {
		if m.Name == "gc.missed" && m.Why != "3 collection numbers are missing: logs of this format do not report the numbers that no-GC regions used" {
			t.Errorf("%+v", m.Number)
		}
	}
}

// TestFindingsOfSessions checks that unobserved time is in the stretch of a finding, and counts
// there as time that the program ran.
func TestFindingsOfSessions(t *testing.T) {
	of := func(pause, lasts, between int64) string {
		f := analysis.NewFindings(&gclog.Process{}, analysis.Thresholds{}, analysis.Always())
		begin := int64(0)
		for number := range uint32(40) {
			f.Observe(&gclog.Start{At: begin})
			emit(f.Observe, collection(number+1, 0, gclog.KindBlocking, [2]int64{begin + lasts/2, pause}))
			f.Observe(&gclog.End{At: begin + lasts})
			begin += lasts + between
		}
		x, why := of(f, "high-pause-share")
		if x != nil {
			why, _, _ = strings.Cut(x.Text, " from ")
		}
		return why
	}
	for _, c := range []struct {
		pause, lasts, between int64
		want                  string
	}{
		{400 * ms, sec, 0, "The program was paused for 40 % of the time in the 40 s"},
		{400 * ms, sec, 3 * sec, "The program was paused for at least 10 % of the time in the 60 s"},
		{100 * ms, sec, 3 * sec, "needs 5 s without a gap, saw 1 s"},
		{100 * ms, 10 * sec, 3 * sec, ""},
	} {
		if got := of(c.pause, c.lasts, c.between); got != c.want {
			t.Errorf("%+v: %q", c, got)
		}
	}
}

// TestShareWithHoles checks that missing collections do not increase the share or rate of the
// others.
func TestShareWithHoles(t *testing.T) {
	for _, live := range []bool{false, true} {
		s := analysis.NewStatistics(analysis.StatisticsOptions{Window: analysis.Always(), Live: live})
		s.Observe(&gclog.Start{At: 0})
		for number := uint32(1); number <= 60; number++ {
			if number%3 == 0 {
				continue
			}
			at := int64(number) * sec
			d := collection(number, 0, gclog.KindBlocking, [2]int64{at - 100*ms, 100 * ms})
			if number%3 == 1 && number > 1 {
				s.Observe(&gclog.Gap{Reason: gclog.GapMissedGCs, Time: d.Start, From: number - 1, To: number - 1})
			}
			emit(s.Observe, d)
		}
		s.Observe(&gclog.End{At: 59 * sec})
		got := metrics(s.Summary())
		for name, want := range map[string]float64{"duration": 21e9, "pause.share": 10, "gc.rate": 60, "gen0.rate": 60, "gc.count": 40, "pause.total": 4e9} {
			if math.Abs(got[name]-want) > 1e-9*want {
				t.Errorf("live %v: %s is %v, want %v", live, name, got[name], want)
			}
		}
	}
}
