package analysis_test

import (
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/gclog/analysis"
	"github.com/gclog/gclog/parse/clr"
)

const (
	ms  = int64(1e6)
	sec = 1000 * ms
	mb  = uint64(1e6)
)

// collection returns a complete record with nothing but pauses, each a start and a duration.
func collection(number uint32, generation int, kind gclog.Kind, pauses ...[2]int64) *gclog.GCDetails {
	d := &gclog.GCDetails{}
	d.Reset()
	d.Number, d.Generation, d.Kind, d.Complete = number, generation, kind, true
	d.Known |= gclog.GroupNumber | gclog.GroupReason
	for i, p := range pauses {
		part := gclog.PausePart{Start: p[0], Duration: p[1], Suspend: p[1] / 10, HasSuspend: true}
		if kind == gclog.KindBackground {
			part.Kind = gclog.PauseInitial + gclog.PauseKind(i)
		}
		d.Pauses = append(d.Pauses, part)
	}
	last := pauses[len(pauses)-1]
	d.Start, d.End = pauses[0][0]+ms, last[0]+last[1]-ms
	d.Known |= gclog.GroupEnd
	return d
}

// emit passes on the pauses of a record, and then the record.
func emit(s gclog.Observer, d *gclog.GCDetails) {
	for _, p := range d.Pauses {
		s(&gclog.Pause{PausePart: p, GC: d})
	}
	s(d)
}

// story is a session of 100 s: collections at 10, 20, 30 s, a background one at 40 s
// with a gen0 in its first suspension, a demoted one at 60 s, a suspension without a
// collection at 70 s.
func story(s *analysis.Statistics) {
	s.Observe(&gclog.Start{At: 0})
	gen0 := collection(1, 0, gclog.KindBlocking, [2]int64{10 * sec, 10 * ms})
	gen0.Peak, gen0.Generations[gclog.Gen0].After = 100*mb, 40*mb
	gen0.Known |= gclog.GroupAfter
	gen0.PromotedBytes = 5 * mb
	gen0.Known |= gclog.GroupPromoted
	gen0.PinnedObjects, gen0.FinalizationCount, gen0.FinalizationSize = 7, 3, 300
	gen0.Known |= gclog.GroupPinned | gclog.GroupFinalizationCount | gclog.GroupFinalizationSize
	gen0.CommittedBefore = 150 * mb
	gen0.Known |= gclog.GroupCommittedBefore
	gen0.CommittedAfter = 140 * mb
	gen0.Known |= gclog.GroupCommittedAfter
	gen0.Generations[gclog.Gen0].Survived = 9 * mb // without histories it is not the truth
	emit(s.Observe, gen0)

	second := collection(2, 0, gclog.KindBlocking, [2]int64{20 * sec, 30 * ms})
	second.Peak, second.Generations[gclog.Gen0].After = 120*mb, 60*mb
	second.Known |= gclog.GroupAfter
	second.PromotedBytes = 15 * mb
	second.Known |= gclog.GroupPromoted
	second.Allocated = 80 * mb
	second.Known |= gclog.GroupAllocated
	second.SinceLast, second.AllocationRate = 4*sec, 20e6
	second.Known |= gclog.GroupSinceLast
	second.Known |= gclog.GroupHistory
	second.Generations[gclog.Gen0].Survived, second.Generations[gclog.Gen0].SurvivedPins = 20*mb, 5*mb
	second.PinnedObjects = 9
	second.Known |= gclog.GroupPinned
	second.Finalizers.Objects = 70
	second.Known |= gclog.GroupFinalizers
	second.PinEvents, second.PinEventBytes, second.PinPlugs, second.PinPlugBytes = 3, 300, 2, 1200
	second.Global.Mechanisms = clr.MechanismCompaction
	second.Known |= gclog.GroupCompaction
	emit(s.Observe, second)

	gen1 := collection(3, 1, gclog.KindBlocking, [2]int64{30 * sec, 20 * ms})
	gen1.Reason = clr.ReasonInduced
	gen1.AllocationRate = 30e6
	gen1.Known |= gclog.GroupAllocated // what a background collection has reported
	gen1.PinEvents, gen1.PinEventBytes, gen1.PinPlugs = 1, 50, 2
	emit(s.Observe, gen1)

	// One suspension of 50 ms: gen0 has the first 15 ms of it.
	inside := collection(5, 0, gclog.KindBlocking, [2]int64{40 * sec, 15 * ms})
	inside.InsideBGCStart = true
	background := collection(4, 2, gclog.KindBackground, [2]int64{40*sec + 15*ms, 35 * ms}, [2]int64{45 * sec, 5 * ms})
	background.Generations[gclog.Gen2].After = 90 * mb
	background.Known |= gclog.GroupAfter
	emit(s.Observe, inside)
	s.Observe(&gclog.Pause{PausePart: background.Pauses[0], GC: background})
	foreground := collection(6, 0, gclog.KindForeground, [2]int64{42 * sec, 10 * ms})
	foreground.Flaws, foreground.Complete = gclog.FlawLostEvents, false
	s.Observe(&gclog.Gap{Reason: gclog.GapLostEvents, Time: 42 * sec, LostEvents: 17})
	emit(s.Observe, foreground)
	s.Observe(&gclog.Pause{PausePart: background.Pauses[1], GC: background})
	background.End = 50 * sec
	s.Observe(background)

	s.Observe(&gclog.Gap{Reason: gclog.GapMissedGCs, Time: 60 * sec, From: 7, To: 9})
	demoted := collection(10, 2, gclog.KindBlocking, [2]int64{60 * sec, 100 * ms})
	demoted.DemotedBGC, demoted.Reason = true, clr.ReasonInducedAggressive
	emit(s.Observe, demoted)

	s.Observe(&gclog.Pause{PausePart: gclog.PausePart{Kind: gclog.PauseHeapCount, Start: 70 * sec, Duration: 4 * ms}})
	s.Observe(&gclog.Gap{Reason: gclog.GapQueueFull, Time: 90 * sec, Records: 2})
	s.Observe(&gclog.End{At: 100 * sec})
}

// metrics returns the numbers of a Summary by name, without unknown ones.
func metrics(x *analysis.Summary) map[string]float64 {
	m := map[string]float64{}
	for _, v := range x.Metrics() {
		if v.Known() {
			m[v.Name] = v.Value
		}
	}
	return m
}

func TestStory(t *testing.T) {
	s := analysis.NewStatistics(analysis.StatisticsOptions{Window: analysis.Always()})
	story(s)
	x := s.Summary()
	got := metrics(x)
	for name, want := range map[string]float64{
		"duration":                          69.904e9,
		"duration.unobserved":               30.096e9, // 50 s to 60.1 s, with the pause after, and 70.004 s to 90 s
		"gc.count":                          7,
		"gc.rate":                           6 * 60 / 69.904,
		"gc.induced":                        2,
		"gc.incomplete":                     1,
		"gc.lossy":                          1,
		"gc.foreground":                     1,
		"gc.demoted":                        1,
		"gc.inside":                         1,
		"gc.missed":                         3,
		"gc.compacting":                     1, // the background collection reports that it did not
		"events.lost":                       17,
		"pause.count":                       9,
		"pause.total":                       229e6,
		"pause.share":                       100 * 0.129 / 69.904,
		"pause.p50":                         15e6, // of 4, 5, 10, 10, 15, 20, 30, 35, 100: the 5th
		"pause.max":                         100e6,
		"gen0.count":                        4,
		"gen0.pause.count":                  4,
		"gen0.pause.total":                  65e6,
		"gen0.pause.p50":                    10e6,
		"gen0.pause.max":                    30e6,
		"gen1.count":                        1,
		"gen1.induced":                      1,
		"gen1.pause.max":                    20e6,
		"gen2.count":                        2,
		"gen1.per.gen0":                     0.25,
		"gen2.per.gen1":                     2,
		"pause.share.10s":                   1, // from 60 s on
		"mutator.10ms":                      0,
		"mutator.100ms":                     0,
		"mutator.1s":                        90,
		"mutator.10s":                       99,
		"suspend.max":                       10e6,
		"suspend.p50":                       1.5e6, // of 0.5, 1, 1, 1.5, 2, 3, 3.5, 10
		"between.max":                       10e9,  // 42 s to 60 s has a gap
		"heap.max":                          120e6,
		"heap.last":                         90e6,
		"heap.committed":                    140e6,
		"heap.peak.mean":                    110e6,
		"heap.after.max":                    90e6,
		"heap.after.mean":                   190e6 / 3.0,
		"promoted.total":                    20e6,
		"promoted.mean":                     10e6,
		"alloc.total":                       80e6,
		"alloc.rate":                        80e6 / 20.01, // from the end of the first to that of the third
		"alloc.rate.max":                    30e6,
		"pinned.max":                        9,
		"pinned.share":                      25,
		"finalized.count":                   70,
		"pinned.seen.gcs":                   2,
		"pinned.seen.bytes":                 350,
		"gen0.pinned.seen.gcs":              1,
		"gen0.pinned.seen.bytes":            300,
		"pinned.plugs.gcs":                  2,
		"gen1.pinned.plugs.gcs":             1,
		"pinned.plugs.bytes":                1200, // the other one does not report its bytes
		"pinned.user.share":                 25,
		"finalization.max":                  3,
		"none.pause.max":                    4e6,
		"none.pause.count":                  1,
		"records.dropped":                   2,
		"gen2.blocking.share":               50,
		"heap.committed.max":                150e6,
		"finalization.bytes.max":            300,
		"gen2.blocking.count":               1,
		"gen2.blocking.pause.p50":           100e6,
		"background.count":                  1,
		"background.pause.count":            2,
		"background.pause.max":              35e6,
		"background.collection.pause.max":   40e6, // both
		"background.collection.suspend.max": 4e6,
		"gen0.collection.pause.mean":        55e6 / 3.0, // not of the one with lost events
	} {
		v, known := got[name]
		if !known || math.Abs(v-want) > 1e-9*math.Abs(want) {
			t.Errorf("%s is %v (known: %v), want %v", name, v, known, want)
		}
	}
	if want := []analysis.ReasonCount{{clr.ReasonAllocSmall, 5}, {clr.ReasonInduced, 1}, {clr.ReasonInducedAggressive, 1}}; !reflect.DeepEqual(x.Reasons, want) {
		t.Errorf("reasons are %v, want %v", x.Reasons, want)
	}
	if w := x.WithoutGC; len(w) != 1 || w[0].Kind != gclog.PauseHeapCount || w[0].Pauses.Total.Value != 4e6 {
		t.Errorf("pauses without a collection are %+v", w)
	}
	why := map[string]string{}
	for _, m := range x.Metrics() {
		why[m.Name] = m.Why
	}
	for name, want := range map[string]string{
		"pause.share.1m": "the longest time observed without a gap, 50 s, is shorter than 1 min",
		"gen2.since":     "the time since the latest recorded gen2 collection was not observed completely",
	} {
		if why[name] != want {
			t.Errorf("%s: %q, want %q", name, why[name], want)
		}
	}
	if w := x.Worst[0]; w.At > 60*sec || w.At+w.Length < 60*sec+100*ms {
		t.Errorf("the worst 10 s begin at %d", w.At)
	}
}

// TestWindow checks the story from 40.03 s, in the first pause of the background collection, to
// 60.04 s, in that of the demoted one.
func TestWindow(t *testing.T) {
	s := analysis.NewStatistics(analysis.StatisticsOptions{Window: analysis.Window{From: 40*sec + 30*ms, To: 60*sec + 40*ms}})
	story(s)
	x := s.Summary()
	got := metrics(x)
	for name, want := range map[string]float64{
		"duration":                           9.97e9,
		"duration.unobserved":                10.04e9,
		"gc.count":                           2, // the foreground one and the demoted one
		"gc.lossy":                           1,
		"events.lost":                        17,
		"gc.missed":                          3,
		"pause.count":                        4,
		"pause.total":                        75e6, // 20 of the first, 10, 5, 40 of the last
		"pause.max":                          40e6,
		"pause.p50":                          10e6,
		"background.pause.total":             25e6,
		"gen2.blocking.pause.p50":            40e6,
		"gen2.blocking.collection.pause.max": 40e6,
		"records.dropped":                    0,
		"suspend.max":                        10e6, // of the demoted one; that of the first lies before
		"suspend.p50":                        1e6,
		"none.pause.count":                   0,
		"pause.share":                        100 * 0.035 / 9.97,
		"gen2.since":                         0, // it has not ended
	} {
		v, known := got[name]
		if !known || math.Abs(v-want) > 1e-9*math.Abs(want) {
			t.Errorf("%s is %v (known: %v), want %v", name, v, known, want)
		}
	}
}

// TestWindowInSuspension checks that only the part of a suspension in the window counts.
func TestWindowInSuspension(t *testing.T) {
	d := gclog.GCDetails{Kind: gclog.KindBlocking, Start: 10 * ms, End: 20 * ms, Known: gclog.GroupEnd}
	d.Pauses = []gclog.PausePart{{Kind: gclog.PauseBlocking, Start: 0, Duration: 21 * ms, Suspend: 8 * ms, HasSuspend: true}}
	for from, want := range map[int64]float64{0: 8e6, 5 * ms: 3e6, 9 * ms: 0} {
		s := analysis.NewStatistics(analysis.StatisticsOptions{Window: analysis.Window{From: from, To: sec}})
		s.Observe(&gclog.Start{At: 0})
		s.Observe(&gclog.Pause{PausePart: d.Pauses[0], GC: &d})
		s.Observe(&d)
		s.Observe(&gclog.End{At: sec})
		got := metrics(s.Summary())
		for _, name := range []string{"suspend.max", "collection.suspend.max"} {
			if v, known := got[name]; known != (want > 0) || v != want {
				t.Errorf("from %d: %s is %v (known: %v), want %v", from, name, v, known, want)
			}
		}
	}
}

// TestUnknown checks that an unknown number has a reason, and is never 0.
func TestUnknown(t *testing.T) {
	reasons := func(emitAll func(*analysis.Statistics)) map[string]string {
		s := analysis.NewStatistics(analysis.StatisticsOptions{Window: analysis.Always()})
		emitAll(s)
		why := map[string]string{}
		for _, m := range s.Summary().Metrics() {
			if !m.Known() && m.Value != 0 {
				t.Errorf("%s is unknown, and %v", m.Name, m.Value)
			}
			why[m.Name] = m.Why
		}
		return why
	}
	for _, x := range []struct {
		name string
		emit func(*analysis.Statistics)
		why  map[string]string
	}{
		{"nothing", func(*analysis.Statistics) {}, map[string]string{
			"duration":      "no part of the session is in this window",
			"pause.share":   "no part of the session is in this window",
			"gc.rate":       "no part of the session is in this window",
			"pause.p99":     "no pauses",
			"pause.total":   "",
			"gc.count":      "",
			"gen1.per.gen0": "no gen0 collections",
			"heap.last":     "no collection reports the size of the heap",
		}},
		{"a second without collections", func(s *analysis.Statistics) { s.Observe(&gclog.Start{At: 0}); s.Observe(&gclog.End{At: sec}) }, map[string]string{
			"duration":                "",
			"pause.share":             "",
			"pause.share.10s":         "the observed time, 1 s, is shorter than 10 s",
			"pause.share.5m":          "the observed time, 1 s, is shorter than 5 min",
			"mutator.1s":              "",
			"mutator.10s":             "the observed time, 1 s, is shorter than 10 s",
			"gc.rate":                 "",
			"gen2.since":              "no gen2 collections",
			"gen2.blocking.share":     "no gen2 collections",
			"gen2.blocking.pause.p50": "no blocking gen2 pauses",
			"none.pause.max":          "no pauses without a collection",
			"between.p50":             "fewer than two collections",
			"gen1.heap.after.max":     "no gen1 collections",
			"gen1.gc.compacting":      "",
		}},
		{"records of a poor log", func(s *analysis.Statistics) {
			s.Observe(&gclog.Start{At: 0})
			emit(s.Observe, collection(1, 0, gclog.KindBlocking, [2]int64{sec, ms}))
			s.Observe(&gclog.End{At: 2 * sec})
		}, map[string]string{
			"pause.max":            "",
			"gc.compacting":        "none of the collections reports whether it compacted",
			"gen0.heap.after.max":  "none of the gen0 collections reports the size of the heap after it",
			"heap.max":             "no collection reports the size of the heap",
			"alloc.rate":           "none of the collections reports the allocated bytes, which requires its heap histories and those of the previous collection",
			"promoted.total":       "none of the collections reports the promoted bytes",
			"pinned.share":         "none of the collections reports how much of the survivors was pinned",
			"finalized.count":      "no collection reports the finalizers that ran",
			"pinned.seen.gcs":      "none of the collections reports individual pinned objects; level full does, if there are any",
			"pinned.plugs.gcs":     "none of the collections reports pieces of memory that could not be moved; the private provider at level Verbose does, if there are any",
			"pinned.plugs.bytes":   "none of the collections reports the size of the memory that could not be moved",
			"pinned.user.share":    "none of the collections reports both pinned objects and memory that could not be moved",
			"heap.committed":       "no event reports it (CommittedUsage): runtimes before .NET 8 and the standalone GC of .NET 8 and 9 do not send it",
			"background.pause.max": "no background pauses",
		}},
		{"a log without pauses", func(s *analysis.Statistics) {
			s.Observe(&gclog.Start{At: 0})
			d := collection(1, 0, gclog.KindBlocking, [2]int64{sec, ms})
			d.Pauses, d.Flaws, d.Complete = nil, gclog.FlawNoRestart, false
			s.Observe(d)
			s.Observe(&gclog.End{At: 20 * sec})
		}, map[string]string{
			"pause.total":                "none of the collections reports a pause",
			"pause.share":                "none of the collections reports a pause",
			"pause.share.10s":            "none of the collections reports a pause",
			"mutator.1s":                 "none of the collections reports a pause",
			"gen0.pause.max":             "none of the gen0 collections reports a pause",
			"gen0.collection.pause.mean": "none of the gen0 collections reports all of its pauses",
		}},
		{"losses of unknown size", func(s *analysis.Statistics) {
			s.Observe(&gclog.Gap{Reason: gclog.GapLostEvents})
		}, map[string]string{"events.lost": "events were lost, and the runtime does not report how many"}},
	} {
		t.Run(x.name, func(t *testing.T) {
			got := reasons(x.emit)
			for name, want := range x.why {
				if got[name] != want {
					t.Errorf("%s: %q, want %q", name, got[name], want)
				}
			}
		})
	}
}

// TestLiveStory checks that numbers that need no individual pauses are the same live.
func TestLiveStory(t *testing.T) {
	exact := analysis.NewStatistics(analysis.StatisticsOptions{Window: analysis.Always()})
	live := analysis.NewStatistics(analysis.StatisticsOptions{Window: analysis.Always(), Live: true})
	story(exact)
	story(live)
	want, x := metrics(exact.Summary()), live.Summary()
	for _, m := range x.Metrics() {
		switch {
		case strings.HasPrefix(m.Name, "mutator."):
			if m.Why != "live statistics do not keep pauses; a recording does" {
				t.Errorf("%s: %+v", m.Name, m.Number)
			}
		case m.Known() && math.Abs(m.Value-want[m.Name]) > 0.01*math.Abs(want[m.Name]):
			t.Errorf("%s is %v, want about %v", m.Name, m.Value, want[m.Name])
		case !m.Known() && want[m.Name] != 0:
			t.Errorf("%s: %s", m.Name, m.Why)
		}
	}
}

// TestUnderWay checks that a collection that was running when the session began counts as
// incomplete; its pause counts from the start of the session.
func TestUnderWay(t *testing.T) {
	s := analysis.NewStatistics(analysis.StatisticsOptions{Window: analysis.Always()})
	s.Observe(&gclog.Start{At: 10 * sec})
	d := collection(1, 2, gclog.KindBackground, [2]int64{9*sec + 990*ms, 30 * ms})
	d.Start, d.Flaws, d.Complete = 0, gclog.FlawNoStart, false
	d.Pauses[0].Kind = gclog.PauseFinal
	emit(s.Observe, d)
	s.Observe(&gclog.End{At: 20 * sec})
	x := s.Summary()
	r := x.Classes[analysis.ClassBackground]
	if r.Count != 1 || r.Incomplete != 1 || r.Pauses.Total.Value != 20e6 || r.Pause.Count != 0 || x.Duration.Value != 10e9 {
		t.Errorf("%+v of %+v", r, x.Duration)
	}
}
