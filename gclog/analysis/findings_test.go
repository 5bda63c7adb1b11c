package analysis_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/gclog/analysis"
	"github.com/gclog/gclog/internal/spelling"
	"github.com/gclog/gclog/internal/testing/extent"
	"github.com/gclog/gclog/internal/testing/generated"
	"github.com/gclog/gclog/parse/clr"
)

// TestHealthy checks that a healthy program has no findings, and that every rule that can be
// evaluated is.
func TestHealthy(t *testing.T) {
	h := newPast()
	times(40, func(int) {
		h.healthy(30)
		h.run(40*time.Second).background(2*milli, 300*milli, 3*milli, private)
	})
	f := h.end(analysis.WayPeaceful, "").findings(t)
	for _, x := range f.List() {
		t.Errorf("%s: %s", x.Rule.ID, x.Text)
	}
	var unjudged []string
	for _, u := range f.NotEvaluated() {
		unjudged = append(unjudged, u.Rule.ID+": "+u.Why)
	}
	if want := []string{"native-growth: no collection reports both the resident memory of the process and what the GC has committed; live sessions with .NET 8 and later do, and their logs in json and csv", "dependent-handles: no blocking collection reports what it marked, and how long that took", "late-start: no collection reports when it was requested, as server GC does"}; !slices.Equal(unjudged, want) {
		t.Errorf("not judged: %q, want %q", unjudged, want)
	}
}

// TestSample checks that a fact needs no sample. A share does, unless it is too high whatever the
// rest of the sample would be; and so does the result that there is no problem.
func TestSample(t *testing.T) {
	for _, c := range []struct {
		what      string
		h         *past
		rule, why string // "": it is found
	}{
		{"one long pause", newPast().gc(2, 205*milli), "long-pause", ""},
		{"one long suspension", newPast().gc(0, 30*milli, suspended(0, 20*milli)), "long-suspension", ""},
		{"one at high memory load", newPast().gc(2, milli, load(97), condemned(clr.CondemnedFragmentedGen2HighMemory)), "memory-load-gen2", ""},
		{"one in provisional mode", newPast().gc(2, milli, reason(clr.ReasonPMFullGC)), "provisional-mode", ""},
		{"one because of holes", newPast().gc(2, milli, condemned(clr.CondemnedLimitLOHFragmented)), "loh-fragmentation", ""},
		{"one at the limit", newPast().gc(0, milli, func(d *gclog.GCDetails) {
			d.Memory.CgroupLimit, d.CommittedAfter = 400*megabyte, 380*megabyte
			d.Known |= gclog.GroupCommittedAfter
		}), "hard-limit", ""},
		{"one long final pause", newPast().background(milli, milli, 80*milli), "background-behind", "needs 3 complete gen2 collections, saw 1"},
		{"2 long final pauses", newPast().background(milli, milli, 80*milli).background(milli, milli, 80*milli), "background-behind", ""},
		{"3 induced", newPast().gc(2, milli, reason(clr.ReasonInduced)).gc(2, milli, reason(clr.ReasonInduced)).gc(0, milli, reason(clr.ReasonInduced)), "induced-gcs", ""},
		{"2 induced", newPast().gc(2, milli, reason(clr.ReasonInduced)).gc(2, milli, reason(clr.ReasonInduced)), "induced-gcs", "needs 20 complete collections, or 3 of gen2, saw 2 and 2"},
		{"19 that are well", newPast().healthy(19), "long-pause", "needs 20 complete collections, saw 19"},
		{"20 that are well", newPast().healthy(20), "long-pause", "judged"},
		{"nothing", newPast(), "long-pause", "needs 20 complete collections, saw 0"},
		{"a walk", newPast().gc(2, milli, func(d *gclog.GCDetails) { d.HeapDump = true }), "long-pause", "needs 20 complete collections, saw 0 (plus 1 for heap snapshots)"},
		{"2 blocking gen2", newPast().gc(2, milli).gc(2, milli), "blocking-gen2", "needs 3 complete gen2 collections, saw 2"},
		{"3 blocking gen2", newPast().gc(2, milli).gc(2, milli).gc(2, milli), "blocking-gen2", ""},
		{"7 because of large objects", newPast().of(7, 0, milli, reason(clr.ReasonAllocLarge)), "loh-pressure", ""}, // 35 % of 20
		{"6 because of large objects", newPast().of(6, 0, milli, reason(clr.ReasonAllocLarge)), "loh-pressure", "needs 20 complete collections, saw 6"},
		{"5 with many pins", newPast().of(5, 0, milli, func(d *gclog.GCDetails) { d.PinnedObjects = 2000 }), "pinning", ""},
		{"4 with many pins", newPast().of(4, 0, milli, func(d *gclog.GCDetails) { d.PinnedObjects = 2000 }), "pinning", "needs 20 complete collections, saw 4"},
		{"5 with a large object heap", newPast().of(5, 0, milli, generation(gclog.LOH, func(g *gclog.GenerationDetails) { g.After = 400 * megabyte })), "loh-pressure", ""},
		{"4 with a large object heap", newPast().of(4, 0, milli, generation(gclog.LOH, func(g *gclog.GenerationDetails) { g.After = 400 * megabyte })), "loh-pressure", "needs 20 complete collections, saw 4"},
	} {
		x, why := of(c.h.findings(t), c.rule)
		if want := c.why == ""; (x != nil) != want || c.why != "judged" && why != c.why || c.why == "judged" && why != "" {
			t.Errorf("%s: %+v %q, want %q", c.what, x, why, c.why)
		}
	}
}

// TestShortShare checks that in a short time the share is that of 5 s with no more pauses.
func TestShortShare(t *testing.T) {
	for _, c := range []struct {
		pauses   int // of 100 ms each
		lasts    time.Duration
		severity analysis.Severity
		why      string
	}{
		{37, 5600 * milli, analysis.Error, ""}, // 66 %
		{7, 1500 * milli, analysis.Error, ""},
		{4, 1500 * milli, analysis.Warning, ""}, // 8 % of 5 s
		{2, 1500 * milli, 0, "needs 5 s without a gap, saw 1.5 s"},
		{2, 5000 * milli, 0, ""},
		{4, 9000 * milli, 0, ""},
	} {
		h := newPast()
		times(c.pauses, func(int) { h.gc(0, 100*milli) })
		f := analysis.NewFindings(&h.process, analysis.Thresholds{}, analysis.Window{From: 0, To: int64(c.lasts)})
		h.now = c.lasts
		h.replay(f)
		x, why := of(f, "high-pause-share")
		if (x != nil) != (c.severity != 0) || x != nil && x.Severity != c.severity || why != c.why {
			t.Errorf("%d pauses in %v: %+v %q", c.pauses, c.lasts, x, why)
		}
	}
}

// TestAbsent checks that a rule reports that its data is missing.
func TestAbsent(t *testing.T) {
	h := newPast()
	h.process = gclog.Process{}
	bare := func(d *gclog.GCDetails) { // as in the JDK flavours
		d.Known &^= gclog.GroupHistory | gclog.GroupObjects | gclog.GroupFragmentation | gclog.GroupAllocated | gclog.GroupPromoted | gclog.GroupGlobal
		d.Global = clr.GCGlobalHeapHistory{}
		d.Known &^= gclog.GroupAfter | gclog.GroupHandles | gclog.GroupPinned
		d.Peak = 0
		d.Known &^= gclog.GroupFinalizationCount | gclog.GroupFinalizationSize | gclog.GroupBefore
		d.Pauses[0].Suspend, d.Pauses[0].HasSuspend = 0, false
	}
	h.healthy(100, bare)
	times(6, func(int) { h.run(time.Second).gc(2, milli, bare) })
	f := h.findings(t)
	for _, x := range f.List() {
		if x.Rule.ID != "blocking-gen2" {
			t.Errorf("%s: %s", x.Rule.ID, x.Text)
		}
	}
	for id, want := range map[string]string{
		"long-suspension":      "no pause reports how long suspending the threads took",
		"random-slow-gc":       "no collection reports what it promoted",
		"dependent-handles":    "no blocking collection reports what it marked, and how long that took",
		"late-start":           "no collection reports when it was requested, as server GC does",
		"heap-count-changes":   "no collection reports the number of heaps",
		"high-allocation-rate": "no collection reports what was allocated, which the heap histories contain",
		"mid-life-crisis":      "no gen2 collection reports the survival of gen2, which logs of the JDK flavours do not contain",
		"poh-misuse":           "no collection reports the size of a pinned object heap, which exists since .NET 5",
		"loh-fragmentation":    "no gen2 collection reports the free space of the large object heap",
		"gen2-fragmentation":   "needs 3 background collections, saw 0 that report the free space in gen2 before them",
		"pinning":              "no collection reports how many pinned objects it found",
		"memory-growth":        "no gen2 collection reports the surviving objects, which the heap histories contain",
		"handle-leak":          "no gen2 collection reports the number of handles",
		"peak-over-after":      "it is unknown whether the process uses server GC",
		"wrong-flavour":        "it is unknown whether the process uses server GC",
		"heap-imbalance":       "no collection reports the number of heaps",
		"finalizer-backlog":    "no collection reports objects retained for finalization or runs of the finalizer thread",
		"hard-limit":           "no limit is known: .NET 9 and later report the hard limit, live sessions the limit of the control group; and no collection reports why its generation was chosen",
		"background-behind":    "no background collection was recorded",
		"time-tuning":          "needs 10 gen1 or gen2 collections, saw 0 that report why their generation was chosen",
		"process-end":          "how the process ended is not recorded: logs of live sessions in json contain it",
		"memory-load-gen2":     "no gen2 collection reports the memory load and why gen2 was chosen",
	} {
		if _, why := of(f, id); why != want {
			t.Errorf("%s: %q, want %q", id, why, want)
		}
	}
}

// TestPartly checks that a rule reports that only a part of its data is there, unless that part
// suffices for a finding.
func TestPartly(t *testing.T) {
	const wait = "no event reports whether allocations waited for background collections (level normal records that); the other checks of the rule found nothing"
	h := newPast()
	times(3, func(int) { h.run(5*time.Second).background(milli, milli, milli) })
	if x, why := of(h.findings(t), "background-behind"); x != nil || why != wait {
		t.Errorf("%+v %q", x, why)
	}
	h.background(milli, milli, 60*milli).background(milli, milli, 60*milli)
	if x, why := of(h.findings(t), "background-behind"); x == nil {
		t.Error(why)
	}
	// A collection without sizes counts. One without its end does not, but its pause does.
	unsized := newPast().healthy(19).gc(0, 300*milli, incomplete(gclog.FlawNoSizes)).gc(0, 400*milli, incomplete(gclog.FlawNoEnd))
	if x, why := of(unsized.findings(t), "long-pause"); x == nil || !slices.Equal(x.GCs, []uint32{21, 20}) {
		t.Errorf("%+v %q", x, why)
	}
}

// TestOurOwn checks that the effects of a diagnostic tool are no findings.
func TestOurOwn(t *testing.T) {
	h := newPast()
	h.run(10 * time.Second).healthy(30)
	times(5, func(int) {
		h.run(10*time.Second).gc(2, 900*milli, reason(clr.ReasonInduced), func(d *gclog.GCDetails) { d.HeapDump = true })
	})
	if list := h.findings(t).List(); len(list) != 0 {
		t.Errorf("found %+v", list)
	}
	h.gc(2, 900*milli, reason(clr.ReasonInduced))
	if x, _ := of(h.findings(t), "long-pause"); x == nil || !strings.HasPrefix(x.Text, "1 of 31 pauses") {
		t.Errorf("found %+v", x)
	}
	// The program induces collections, also when the session has just begun.
	early := newPast()
	early.now = -time.Minute + 200*milli // the session began a minute before 0
	early.gc(2, 900*milli, reason(clr.ReasonInduced))
	early.run(10 * time.Second).healthy(30)
	if x, _ := of(early.findings(t), "long-pause"); x == nil || !slices.Equal(x.GCs, []uint32{1}) {
		t.Errorf("found %+v", x)
	}
}

// TestFindingsWindow checks that pauses are clipped and that collections belong to where they
// start.
func TestFindingsWindow(t *testing.T) {
	h := newPast().healthy(40) // 20.04 s
	h.run(60*milli).gc(0, 400*milli)
	at := int64(20100 * milli)
	for _, c := range []struct {
		window analysis.Window
		want   string
	}{
		{analysis.Window{From: 0, To: at + int64(250*milli)}, "1 of 41 pauses was longer than 200 ms, the longest 250 ms"},
		{analysis.Window{From: 0, To: at + int64(150*milli)}, ""},
		{analysis.Window{From: 0, To: at}, ""},
		{analysis.Window{From: at + int64(150*milli), To: at * 2}, "1 of 1 pause was longer than 200 ms, the longest 250 ms"},
	} {
		f := analysis.NewFindings(&h.process, analysis.Thresholds{}, c.window)
		h.replay(f)
		x, got := of(f, "long-pause")
		if x != nil {
			got = x.Text
		}
		if !strings.HasPrefix(got, c.want) || got != "" && c.want == "" {
			t.Errorf("%v: %q, want %q", c.window, got, c.want)
		}
	}
}

// TestFindingsLive checks that findings about a live process cover the last hour or two, and the
// last day for growth.
func TestFindingsLive(t *testing.T) {
	h := newPast()
	times(48, func(i int) {
		h.run(30*time.Minute).gc(2, milli, generation(2, func(g *gclog.GenerationDetails) { g.ObjectsAfter = uint64(200+60*i) * megabyte }))
	})
	h.healthy(30).gc(0, 300*milli)
	steps := []struct {
		after  time.Duration
		pause  bool
		growth bool
	}{{0, true, true}, {30 * time.Minute, true, true}, {2*time.Hour + time.Minute, false, true}, {25 * time.Hour, false, false}}
	f := analysis.NewLiveFindings(&h.process, analysis.Thresholds{})
	h.replay(f)
	for _, s := range steps {
		end := h.now + s.after
		next := newPast()
		next.now, next.number = end-time.Minute, 1000
		next.healthy(30)
		if s.after > 0 {
			// The program continued, quietly.
			for at := h.now; at < end; at += 10 * time.Minute {
				f.Observe(&gclog.End{At: int64(at)})
			}
			for _, call := range next.calls {
				call(f)
			}
		}
		pause, _ := of(f, "long-pause")
		growth, why := of(f, "memory-growth")
		if (pause != nil) != s.pause || (growth != nil) != s.growth {
			t.Errorf("%v later: long pause %v, growth %v %q", s.after, pause, growth, why)
		}
	}
}

// TestLateLimit checks that the limits of a process may be reported at the end of a session.
func TestLateLimit(t *testing.T) {
	h := newPast().healthy(30)
	h.process.HasLimits = false
	f := h.findings(t)
	if x, why := of(f, "hard-limit"); x != nil || !strings.HasPrefix(why, "no limit is known") {
		t.Errorf("%+v %q", x, why)
	}
	h.process.Limits, h.process.HasLimits = clr.GCSettings{HardLimit: 300 * megabyte}, true
	if x, _ := of(f, "hard-limit"); x == nil {
		t.Error("a limit that is told later is not looked at")
	}
}

// TestLongestTimes checks that the finding contains where the time of the longest pause went, if it
// was a blocking collection.
func TestLongestTimes(t *testing.T) {
	timed := func(count int, compacting bool) change {
		return func(d *gclog.GCDetails) {
			for i := range count {
				d.Timing[i] = int64(i+1) * int64(milli)
			}
			d.TimingCount = count
			d.Known |= gclog.GroupCompaction
			if compacting {
				d.Global.Mechanisms |= clr.MechanismCompaction
			}
		}
	}
	for _, c := range []struct {
		count      int
		compacting bool
		want       string
	}{
		{0, true, ""},
		{7, false, "longest.mark 15 ms longest.plan 6 ms longest.sweep 7 ms"},
		{8, false, "longest.mark 15 ms longest.plan 6 ms longest.sweep 7 ms"}, // .NET 8: the last one is not a time
		{8, true, "longest.mark 15 ms longest.plan 6 ms longest.relocate 7 ms longest.compact 8 ms"},
	} {
		h := newPast().healthy(20, timed(8, true)).gc(2, 500*milli, timed(c.count, c.compacting)).healthy(3, timed(8, true)).gc(1, 250*milli, timed(7, true))
		x, why := of(h.findings(t), "long-pause")
		if x == nil {
			t.Fatal(why)
		}
		var got []string
		for _, e := range x.Evidence[7:] {
			got = append(got, e.Name+" "+factText(&e))
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%d times, compacting %v: %q, want %q", c.count, c.compacting, got, c.want)
		}
	}
}

// TestNoRecords checks that there are no findings without records.
func TestNoRecords(t *testing.T) {
	f := analysis.NewFindings(&gclog.Process{}, analysis.Thresholds{}, analysis.Always())
	if list, unjudged := f.List(), f.NotEvaluated(); len(list) > 0 || len(unjudged) < 20 {
		t.Errorf("%v, not judged: %v", list, unjudged)
	}
}

// TestStops checks that pauses without a collection count like others, and are named by their kind.
func TestStops(t *testing.T) {
	h := newPast().healthy(20).gc(2, 250*milli, suspended(0, 11*milli)).stop(gclog.PauseHeapCount, 300*milli, 12*milli).healthy(5)
	for rule, want := range map[string]string{
		"long-pause":      "2 of 27 pauses were longer than 200 ms, the longest 300 ms: a pause without a collection (heap-count).",
		"long-suspension": "In 2 of 27 pauses, suspending the threads took more than 10 ms, at most 12 ms: a pause without a collection (heap-count).",
	} {
		x, why := of(h.findings(t), rule)
		if x == nil || x.Text != want || !slices.Equal(x.GCs, []uint32{21}) || x.Evidence[len(x.Evidence)-1].Name != "longest.pause.heap-count" {
			t.Errorf("%+v %q, want %q", x, why, want)
		}
	}
}

// earlier shifts what a listener is passed to an earlier time.
type earlier struct {
	listener
	by int64
}

// Observe takes a record.
func (e earlier) Observe(r gclog.Record) {
	switch r := r.(type) {
	case *gclog.Start:
		x := *r
		x.At -= e.by
		e.listener.Observe(&x)
	case *gclog.End:
		x := *r
		x.At -= e.by
		e.listener.Observe(&x)
	case *gclog.Pause:
		x := *r
		x.Start -= e.by
		e.listener.Observe(&x)
	case *gclog.GCDetails:
		r = r.Clone()
		r.Start, r.End = r.Start-e.by, r.End-e.by
		for i := range r.Pauses {
			r.Pauses[i].Start -= e.by
		}
		for i := range r.Heaps {
			r.Heaps[i].MarkedUntil -= e.by
		}
		if r.Memory.At != 0 {
			r.Memory.At -= e.by
		}
		e.listener.Observe(r)
	case *gclog.Gap:
		x := *r
		x.Time -= e.by
		if x.Since != 0 {
			x.Since -= e.by
		}
		e.listener.Observe(&x)
	default:
		e.listener.Observe(r)
	}
}

func (e earlier) Ended(x analysis.Ending) {
	x.At -= e.by
	e.listener.Ended(x)
}

func (e earlier) Event(at gclog.Stamp, x clr.Event, d *gclog.GCDetails) {
	at.Time -= e.by
	e.listener.Event(at, x, d)
}

// TestEarlier checks that findings do not depend on the zero of time. Much of a log may be before
// it.
func TestEarlier(t *testing.T) {
	for seed := range uint64(60) {
		h := madeUp(rand.New(rand.NewPCG(seed, 11)))
		f := h.findings(t)
		found, unjudged := f.List(), f.NotEvaluated()
		by := h.now/time.Minute*time.Minute + 2*time.Minute // before 0 to the end
		h.process.Sync = h.process.Sync.Add(by)
		f = analysis.NewFindings(&h.process, analysis.Thresholds{}, analysis.Always())
		h.replay(earlier{f, int64(by)})
		same := func(x, y analysis.Finding) bool {
			return x.Rule.ID == y.Rule.ID && x.Severity == y.Severity && x.Text == y.Text && slices.Equal(x.GCs, y.GCs) &&
				slices.EqualFunc(x.Evidence, y.Evidence, func(x, y analysis.Fact) bool {
					return x == y || strings.HasSuffix(x.Name, ".from") && x.Value-y.Value == float64(by)
				})
		}
		if got := f.List(); !slices.EqualFunc(found, got, same) {
			t.Errorf("seed %d: %v, earlier %v", seed, found, got)
		}
		if got := f.NotEvaluated(); !slices.EqualFunc(unjudged, got, func(x, y analysis.NotEvaluated) bool { return x.Rule.ID == y.Rule.ID && x.Why == y.Why }) {
			t.Errorf("seed %d: not judged: %v, earlier %v", seed, unjudged, got)
		}
	}
}

// TestOwnLoad checks that the high memory load is the limit of the process, unless the threshold is
// set.
func TestOwnLoad(t *testing.T) {
	h := newPast()
	times(3, func(int) { h.gc(2, milli, load(85), condemned(clr.CondemnedHighMemory)) })
	for _, c := range []struct {
		own     uint32
		setting string
		found   bool
	}{{0, "", true}, {80, "", true}, {86, "", false}, {80, "memory-load-gen2.load=88%", false}, {95, "memory-load-gen2.load=84%", true}} {
		h.process.Limits.HighMemoryPercent = c.own
		var settings []string
		if c.setting != "" {
			settings = append(settings, c.setting)
		}
		if x, _ := of(h.findings(t, settings...), "memory-load-gen2"); (x != nil) != c.found {
			t.Errorf("%d %q: %+v", c.own, c.setting, x)
		}
	}
	// The runtime limits it to 99, and reports what it was given.
	h = newPast()
	times(3, func(int) { h.gc(2, milli, load(99), condemned(clr.CondemnedHighMemory)) })
	h.process.Limits.HighMemoryPercent = 128
	if x, why := of(h.findings(t), "memory-load-gen2"); x == nil {
		t.Error(why)
	}
}

// TestMinutes checks that the busiest minute counts; the last one counts although it is not over,
// if it is long enough for a rate.
func TestMinutes(t *testing.T) {
	extent.Long(t)
	churn := generation(0, func(g *gclog.GenerationDetails) { g.Survived = megabyte / 2 })
	every := func(h *past, period, lasts time.Duration) {
		times(int(lasts/period), func(int) { h.run(period-milli).gc(0, milli, churn) })
	}
	three := newPast()
	every(three, 90*milli, time.Minute)
	every(three, 50*milli, time.Minute)
	every(three, 95*milli, 90*time.Second)
	short, tooShort := newPast(), newPast()
	every(short, 50*milli, 20*time.Second)
	every(tooShort, 95*milli, 3*time.Second)
	much := generation(0, func(g *gclog.GenerationDetails) { g.Allocated = 500 * megabyte })
	burst := func(lasts time.Duration) *past {
		h := newPast().healthy(122) // 61 s
		times(int(lasts/(100*milli)), func(int) { h.run(99*milli).gc(0, milli, much) })
		return h
	}
	for _, c := range []struct {
		h         *past
		text, why string
	}{
		{burst(58 * time.Second), "The program allocated 4.9", ""},
		{burst(8 * time.Second), "", ""},
		{three, "There was a gen0 collection every 50 ms in the 60 s from 2026-01-31 14:04:00", ""},
		{short, "There was a gen0 collection every 49.9 ms in the 20 s from", ""},
		{tooShort, "", "needs 5 s of a minute, saw 2.85 s"},
	} {
		x, why := of(c.h.findings(t), "high-allocation-rate")
		if x == nil && c.text != "" || x != nil && !strings.HasPrefix(x.Text, c.text) || why != c.why {
			t.Errorf("%+v %q, want %q %q", x, why, c.text, c.why)
		}
		// Asking on the way changes nothing.
		f := analysis.NewFindings(&c.h.process, analysis.Thresholds{}, analysis.Always())
		for _, call := range c.h.calls {
			call(f)
			f.List()
		}
		f.Observe(&gclog.End{At: int64(c.h.now)})
		if y, _ := of(f, "high-allocation-rate"); (x == nil) != (y == nil) || x != nil && x.Text != y.Text {
			t.Errorf("%+v, asked once %+v", y, x)
		}
	}
}

// TestRateOfSessions checks that unobserved time of a minute is in no rate.
func TestRateOfSessions(t *testing.T) {
	much := generation(0, func(g *gclog.GenerationDetails) { g.Allocated = 650 * megabyte })
	for _, c := range []struct {
		between, session time.Duration
		text, why        string
	}{
		{time.Hour, 40 * time.Second, "The program allocated 1.3", ""},
		{time.Second, 40 * time.Second, "The program allocated 1.3", ""},
		{time.Hour, 15 * time.Second, "The program allocated 1.3", ""},
		{time.Hour, 8 * time.Second, "The program allocated 1.", ""},
		{time.Hour, 3500 * milli, "", "needs 5 s of a minute, saw 3.5 s"},
	} {
		h := newPast()
		f := analysis.NewFindings(&h.process, analysis.Thresholds{}, analysis.Always())
		for range 3 {
			f.Observe(&gclog.Start{At: int64(h.now)})
			n := len(h.calls)
			times(int(c.session/(500*milli)), func(int) { h.run(499*milli).gc(0, milli, much) })
			for _, call := range h.calls[n:] {
				call(f)
			}
			f.Observe(&gclog.End{At: int64(h.now)})
			h.run(c.between)
		}
		x, why := of(f, "high-allocation-rate")
		if x == nil && c.text != "" || x != nil && (c.text == "" || !strings.HasPrefix(x.Text, c.text)) || why != c.why {
			t.Errorf("%v: %+v %q, want %q %q", c, x, why, c.text, c.why)
		}
	}
}

// TestNoRate checks that for less than a minute the number and the time are reported, not a rate.
func TestNoRate(t *testing.T) {
	h := newPast().run(time.Second)
	times(30, func(int) { h.gc(0, milli, reason(clr.ReasonInduced)) })
	f := analysis.NewFindings(&h.process, analysis.Thresholds{}, analysis.Window{From: 0, To: int64(2200 * milli)})
	h.replay(f)
	x, _ := of(f, "induced-gcs")
	if x == nil || !strings.Contains(x.Text, "30 of them blocking (in 1.03 s); they paused it for") {
		t.Fatalf("%+v", x)
	}
	for _, e := range x.Evidence {
		if e.Unit == "1/min" {
			t.Errorf("evidence: %v", e)
		}
	}
}

// TestOrder checks the order: by severity, then by rule.
func TestOrder(t *testing.T) {
	h := newPast()
	h.healthy(20)
	times(12, func(int) { h.run(20*time.Second).gc(1, 300*milli, dueByTime) })
	h.gc(2, milli, condemned(clr.CondemnedBeforeOOM))
	h.end(analysis.WayKilled, "was killed by SIGKILL") // the first, although it is a warning
	var got []string
	for _, x := range h.findings(t).List() {
		got = append(got, x.Severity.String()+" "+x.Rule.ID)
	}
	if want := []string{"warning process-end", "error hard-limit", "warning long-pause", "info time-tuning"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestSteady checks that a collection costs no memory once its kind was seen.
func TestSteady(t *testing.T) {
	h := newPast().healthy(20)
	times(3, func(int) { h.background(milli, milli, milli) })
	f := analysis.NewLiveFindings(&h.process, analysis.Thresholds{})
	h.replay(f)
	if n := testing.AllocsPerRun(100, func() {
		for _, call := range h.calls {
			call(f)
		}
	}); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

// TestRandomSample checks that medians of many collections come from a sample, and that slow ones
// are found after collections that are slow for a reason.
func TestRandomSample(t *testing.T) {
	h := newPast()
	times(5000, func(i int) { h.run(10*milli).gc(0, 2*milli) })
	times(50, func(i int) { h.run(10*milli).gc(0, 80*milli, promoted(50*megabyte)) })
	h.gc(0, 30*milli)
	x, why := of(h.findings(t), "random-slow-gc")
	if x == nil || !slices.Equal(x.GCs, []uint32{5051}) || !strings.Contains(x.Text, "15 times the median of its kind (2 ms)") {
		t.Errorf("%+v %q", x, why)
	}
}

// TestShareBound checks that the worst minute is found to within a six-hundredth, wherever it
// begins.
func TestShareBound(t *testing.T) {
	for _, offset := range []time.Duration{0, 33 * milli, 99 * milli} {
		h := newPast().healthy(200).run(offset)
		times(6, func(int) { h.run(9*time.Second).gc(0, time.Second) }) // 6 s in 60 s
		h.healthy(200)
		x, why := of(h.findings(t), "high-pause-share")
		if x == nil {
			t.Fatal(why)
		}
		// One of the healthy pauses a second belongs to the minute too.
		if share := x.Evidence[0].Value; share < 10 || share > 10.4 {
			t.Errorf("offset %v: %v", offset, x)
		}
	}
}

func TestThresholds(t *testing.T) {
	for _, c := range []struct{ name, value, want string }{
		{"long-pause.over", "fast", `long-pause.over: "fast" is not a duration: write a number with a unit, such as 100ms, 1.5s or 10m`},
		{"long-pause.over", "-1s", `long-pause.over: "-1s" is not a duration: write a number with a unit, such as 100ms, 1.5s or 10m`},
		{"loh-pressure.floor", "many", `loh-pressure.floor: "many" is not a size: write a number with B, KB, MB or GB, such as 50MB (KiB, MiB and GiB are 1024 times each other)`},
		{"loh-pressure.heap", "NaN", `loh-pressure.heap: "NaN" is not a percentage: write a number with %, such as 20%`},
		{"induced-gcs.rate", "inf", `induced-gcs.rate: "inf" is not a rate: write a number per minute, such as 5/min`},
		{"random-slow-gc.pause", "", `random-slow-gc.pause: "" is not a number: write one such as 20 or 1.5`},
		{"high-allocation-rate.over", "x/s", `high-allocation-rate.over: "x/s" is not a rate: write a size per second, such as 500MB/s`},
		{"long-pause.ovr", "1s", `there is no threshold "long-pause.ovr", did you mean long-pause.over?: long-pause has long-pause.over`},
		{"provisional-mode.over", "1s", "the rule provisional-mode has no thresholds"},
	} {
		thresholds := analysis.Thresholds{Suggest: spelling.DidYouMean}
		if err := thresholds.Set(c.name, c.value); err == nil || err.Error() != c.want {
			t.Errorf("%s=%s: %v, want %s", c.name, c.value, err, c.want)
		}
	}
	var thresholds analysis.Thresholds // suggests nothing
	err := thresholds.Set("long-pase.over", "1s")
	if err == nil || !strings.HasPrefix(err.Error(), `there is no rule "long-pase": the rules with thresholds are high-pause-share, long-pause,`) {
		t.Errorf("%v", err)
	}
	// Every threshold accepts its own default as it is printed.
	for _, r := range analysis.Rules() {
		for _, x := range r.Thresholds {
			if err := thresholds.Set(r.ID+"."+x.Name, x.Text(x.Default)); err != nil {
				t.Errorf("%s.%s: %v", r.ID, x.Name, err)
			}
			if v, err := analysis.ParseValue(x.Text(x.Default), x.Unit); err != nil || v != x.Default {
				t.Errorf("%s.%s is %v by default, and printed as %v: %v", r.ID, x.Name, x.Default, v, err)
			}
		}
	}
	// A copy does not follow.
	before := thresholds
	if err := thresholds.Set("long-pause.over", "1m"); err != nil {
		t.Fatal(err)
	}
	if reflect.DeepEqual(before, thresholds) {
		t.Error("a copy of thresholds changes with them")
	}
}

// TestRuleTable checks that the rules are complete.
func TestRuleTable(t *testing.T) {
	rules := analysis.Rules()
	if len(rules) != 35 {
		t.Fatalf("%d rules", len(rules))
	}
	ids := map[string]bool{}
	for i, r := range rules {
		if r.Number != i+1 || ids[r.ID] || strings.Trim(r.ID, "abcdefghijklmnopqrstuvwxyz-0123456789") != "" {
			t.Errorf("rule %d is %d %q", i+1, r.Number, r.ID)
		}
		ids[r.ID] = true
		for _, s := range []string{r.Title + ".", r.Explanation, strings.TrimSpace(r.Advice + " " + r.WorkstationAdvice)} {
			if len(s) < 20 || !strings.HasSuffix(s, ".") || regexp.MustCompile(`\brules? \d`).MatchString(s) {
				t.Errorf("%s: %q", r.ID, s)
			}
		}
		if r.Severity == 0 || r.Sample == "" || r.Evidence == "" || r.Basis == "" || r.LiveSpan == "" {
			t.Errorf("%s is not whole: %+v", r.ID, r)
		}
		names := map[string]bool{}
		for _, x := range r.Thresholds {
			if names[x.Name] || x.Help == "" {
				t.Errorf("%s.%s", r.ID, x.Name)
			}
			names[x.Name] = true
		}
	}
}

// TestDocument compares docs/findings.md with the rules.
func TestDocument(t *testing.T) {
	generated.Sections(t, filepath.Join("..", "..", "docs", "findings.md"), map[string]string{"rules": document()})
}

// TestValuesInDocument checks that the examples of threshold values in the document can be set.
func TestValuesInDocument(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "findings.md"))
	if err != nil {
		t.Fatal(err)
	}
	for what, threshold := range map[string]string{
		"durations": "long-pause.over", "sizes": "poh-misuse.floor", "percentages": "high-pause-share.over",
	} {
		list := regexp.MustCompile(what + ` \(([^)]*)\)`).FindStringSubmatch(string(text))
		if list == nil {
			t.Errorf("it does not say what %s look like", what)
			continue
		}
		for _, value := range regexp.MustCompile("`([0-9][^`]*)`").FindAllStringSubmatch(list[1], -1) {
			var set analysis.Thresholds
			if err := set.Set(threshold, value[1]); err != nil {
				t.Error(err)
			}
		}
	}
}

func document() string {
	var b strings.Builder
	b.WriteString("\n| rule | id | finding | severity |\n|---:|---|---|---|\n")
	rules := analysis.Rules()
	for _, r := range rules {
		fmt.Fprintf(&b, "| %d | [%s](#%s) | %s | %s |\n", r.Number, r.ID, r.ID, r.Title, r.Severity)
	}
	for _, r := range rules {
		fmt.Fprintf(&b, "\n<a id=%q></a>\n## %d. %s\n\n`%s`, %s, basis: %s\n\n%s\n\n**What to do.** %s\n\n", r.ID, r.Number, r.Title, r.ID, r.Severity, r.Basis, cell(r.Explanation), cell(strings.TrimSpace(r.Advice+" "+r.WorkstationAdvice)))
		fmt.Fprintf(&b, "*Evaluates:* %s. *Needs:* %s. *In a live session:* %s.\n", cell(r.Evidence), r.Sample, r.LiveSpan)
		if len(r.Thresholds) == 0 {
			b.WriteString("It has no thresholds.\n")
			continue
		}
		b.WriteString("\n| threshold | default | |\n|---|---:|---|\n")
		for _, x := range r.Thresholds {
			fmt.Fprintf(&b, "| `%s.%s` | %s | %s |\n", r.ID, x.Name, x.Text(x.Default), cell(x.Help))
		}
	}
	return b.String()
}

// cell escapes a text for a Markdown table.
func cell(s string) string { return strings.NewReplacer("|", `\|`, "<", `\<`).Replace(s) }

// BenchmarkFindingsMinute measures a minute of a live process with ten collections a second, and
// one evaluation of the findings.
func BenchmarkFindingsMinute(b *testing.B) {
	h := newPast()
	server(h, 8, 8)
	eight := heaps(10, 10, 10, 10, 10, 10, 10, 10)
	all := func(d *gclog.GCDetails) {
		for i := range d.Heaps {
			for m := range clr.MarkTypes {
				marked(&d.Heaps[i], m, 1000)
			}
		}
	}
	for i := range 600 {
		h.run(99*milli).gc(i%10/9, milli, eight, all)
	}
	f := analysis.NewLiveFindings(&h.process, analysis.Thresholds{})
	f.Observe(&gclog.Start{At: 0})
	f.Observe(&gclog.End{At: int64(61 * time.Minute)}) // there are two stretches
	for _, shift := range h.shift {
		shift(int64(61 * time.Minute))
	}
	b.ReportAllocs()
	for b.Loop() {
		for _, call := range h.calls {
			call(f)
		}
		f.List()
		b.StopTimer()
		for _, shift := range h.shift {
			shift(int64(time.Minute))
		}
		b.StartTimer()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N), "ns/minute")
}

// TestFindingsMemory checks that findings take as much memory as the package comment says, however
// long the history is.
func TestFindingsMemory(t *testing.T) {
	extent.Long(t)
	for _, x := range []struct {
		live  bool
		types int // number of allocated types, with long names
		most  uint64
	}{{false, 0, 200_000}, {true, 0, 330_000}, {false, 8000, 660_000}, {true, 8000, 1_260_000}} {
		h := newPast()
		times(50, func(int) {
			h.healthy(20).gc(0, milli, foreground).gc(2, milli).background(milli, milli, milli)
		})
		for i := range x.types {
			h.tick(uint64(i+1), fmt.Sprint(i, strings.Repeat("\u20ac", 600)), 100_000)
		}
		before := heap()
		f := analysis.NewFindings(&h.process, analysis.Thresholds{}, analysis.Always())
		if x.live {
			f = analysis.NewLiveFindings(&h.process, analysis.Thresholds{})
			f.Observe(&gclog.Start{At: -int64(61 * time.Minute)}) // there are two stretches
		}
		for range 20 {
			h.replay(f)
		}
		if used := heap() - before; used > x.most {
			t.Errorf("live %v, %d types: %d bytes, want %d at most", x.live, x.types, used, x.most)
		}
		runtime.KeepAlive(f)
		runtime.KeepAlive(h)
	}
}

// TestNow: what a process does now is judged by five to ten minutes, also if there was nothing to record for
// long. A leak is found over a longer time.
func TestNow(t *testing.T) {
	h := newPast()
	f := analysis.NewFindingsNow(&h.process, analysis.Thresholds{})
	f.Observe(&gclog.Start{At: 0})
	at := func(now time.Duration) string {
		f.Observe(&gclog.End{At: int64(now)})
		return string(f.Verdict().Cause) + ": " + f.Verdict().Text
	}
	times(30, func(int) { h.run(time.Second).gc(2, 500*milli, reason(clr.ReasonInduced)) })
	for _, call := range h.calls {
		call(f)
	}
	for _, c := range []struct {
		now  time.Duration
		want string
	}{
		{45 * time.Second, "induced: The GC is the reason: paused 33.3 % of 45 s"},
		{299 * time.Second, "induced: The GC is the reason: paused 5.02 % of 4 min 59 s"},
		{300 * time.Second, "induced: "},
		{599 * time.Second, "induced: The GC is the reason: paused 2.5 % of 9 min 59 s"},
		{601 * time.Second, "none: The GC is not the reason: no collection in 5 min 1 s."},
		{3 * time.Hour, "none: The GC is not the reason: no collection in 5 min."},
	} {
		if got := at(c.now); !strings.HasPrefix(got, c.want) {
			t.Errorf("after %v: %s, want %s", c.now, got, c.want)
		}
	}
	_ = h.run(3 * time.Hour)
	n := len(h.calls)
	times(20, func(int) { h.run(500*time.Millisecond).gc(0, 500*milli, reason(clr.ReasonInduced)) })
	for _, call := range h.calls[n:] {
		call(f)
	}
	if v := f.Verdict(); v.Cause != analysis.CauseInduced {
		t.Errorf("after a silence: %+v", v)
	}
}

// TestStretches checks that for a live process at least the last hour is covered, and at most two.
func TestStretches(t *testing.T) {
	for _, c := range []struct {
		pause, look time.Duration
		found       bool
	}{
		{5 * time.Minute, 59 * time.Minute, true},
		{5 * time.Minute, 119 * time.Minute, true},
		{5 * time.Minute, 121 * time.Minute, false},
		{61 * time.Minute, 179 * time.Minute, true},
		{61 * time.Minute, 181 * time.Minute, false},
	} {
		h := newPast()
		f := analysis.NewLiveFindings(&h.process, analysis.Thresholds{})
		f.Observe(&gclog.Start{At: 0})
		for h.now < c.look {
			n := len(h.calls)
			h.run(time.Minute-milli).gc(0, milli)
			if h.now >= c.pause && h.now < c.pause+time.Minute {
				h.gc(0, 300*milli)
			}
			for _, call := range h.calls[n:] {
				call(f)
			}
		}
		if x, why := of(f, "long-pause"); (x != nil) != c.found {
			t.Errorf("a pause at %v is looked for at %v: %+v %q", c.pause, c.look, x, why)
		}
	}
}

// TestHostile checks that no record makes the rules panic or hang.
func TestHostile(t *testing.T) {
	extent.Long(t)
	r := rand.New(rand.NewPCG(7, 7))
	odd := []int64{0, 1, -1, 1e9, -1e9, 3600e9, math.MaxInt64, math.MinInt64, math.MaxInt64 / 2}
	number := func() int64 {
		if r.IntN(3) == 0 {
			return odd[r.IntN(len(odd))]
		}
		return r.Int64N(1e12)
	}
	f := analysis.NewLiveFindings(&gclog.Process{Server: gclog.Yes, RuntimeVersion: "x"}, analysis.Thresholds{})
	whole := analysis.NewFindings(&gclog.Process{}, analysis.Thresholds{}, analysis.Window{From: -5, To: 1e12})
	for i := range 20000 {
		d := &gclog.GCDetails{
			Number: r.Uint32(), Known: gclog.Groups(r.Uint64()), Generation: r.IntN(256), Kind: gclog.Kind(r.IntN(3)), Reason: clr.Reason(r.Uint32N(40)),
			Start: number(), End: number(), GenerationCount: r.IntN(6), PromotedBytes: uint64(number()), Peak: uint64(number()), Handles: int32(r.Uint32()),
			Allocated: uint64(number()), Fragmentation: uint64(number()),
			PinnedObjects: r.Uint32(), FinalizationCount: uint64(number()), TimingCount: r.IntN(clr.Times + 1),
		}
		for g := range d.Generations {
			x := &d.Generations[g]
			*x = gclog.GenerationDetails{
				Before: uint64(number()), After: uint64(number()), ObjectsBefore: uint64(number()), ObjectsAfter: uint64(number()),
				FreeBefore: uint64(number()), Fragmentation: uint64(number()), In: uint64(number()), Survived: uint64(number()), Allocated: uint64(number()),
			}
		}
		d.Global = clr.GCGlobalHeapHistory{Heaps: int32(r.Uint32()), MemoryLoad: r.Uint32(), HasMemoryLoad: true, HasCondemned: true, Condemned: clr.Condemned(r.Uint32()), CondemnedGenerations: clr.CondemnedGenerations(r.Uint32())}
		if d.Kind == gclog.KindBackground && r.IntN(2) == 0 {
			d.Background = &gclog.BackgroundDetails{WaitCount: number(), WaitMax: number()}
		}
		for _, o := range []*analysis.Findings{f, whole} {
			for range r.IntN(3) {
				p := gclog.Pause{PausePart: gclog.PausePart{Start: number(), Duration: number(), Suspend: number(), HasSuspend: true}, GC: d}
				d.Pauses = append(d.Pauses, p.PausePart)
				o.Observe(&p)
			}
			o.Observe(d)
			o.Observe(&gclog.Gap{Reason: gclog.GapReason(r.IntN(5)), Time: number(), From: r.Uint32(), To: r.Uint32()})
			if i%500 == 0 {
				o.List()
				o.NotEvaluated()
			}
		}
	}
}

// TestNoGen1 checks a recording that reports survival and has no gen1 collections.
func TestNoGen1(t *testing.T) {
	h := newPast()
	times(20, func(int) { h.run(time.Second).gc(0, milli).run(time.Second).gc(2, milli) })
	if _, why := of(h.findings(t), "mid-life-crisis"); why != "no gen2 collection that reports the survival of gen2 follows gen1 collections" {
		t.Errorf("why is %q", why)
	}
}

// TestLongSuspensions checks that a pause that is mostly suspension is not among the long
// suspensions.
func TestLongSuspensions(t *testing.T) {
	h := newPast().healthy(40).run(time.Second).gc(0, 8*milli, suspended(0, 7*milli)).run(time.Second).gc(0, 30*milli, suspended(0, 20*milli))
	x, why := of(h.findings(t), "long-suspension")
	if x == nil || !slices.Equal(x.GCs, []uint32{42}) {
		t.Errorf("%+v %s", x, why)
	}
}

// TestNoWindow checks that a stretch without length has no share.
func TestNoWindow(t *testing.T) {
	var thresholds analysis.Thresholds
	for _, value := range []string{"0", "0s", "0.1ns"} {
		if err := thresholds.Set("high-pause-share.window", value); err == nil || !strings.Contains(err.Error(), "greater than 0") {
			t.Errorf("%s: %v", value, err)
		}
	}
}

// TestSuspensionsOfWindow checks that of a pause that began before the window only the part of the
// suspension inside counts, and the pause not at all if no part is.
func TestSuspensionsOfWindow(t *testing.T) {
	for from, want := range map[time.Duration]string{
		0:          "In 2 of 2 pauses, suspending the threads took more than 10 ms, at most 50 ms",
		20 * milli: "In 2 of 2 pauses, suspending the threads took more than 10 ms, at most 30 ms",
		40 * milli: "In 1 of 2 pauses, suspending the threads took more than 10 ms, at most 20 ms",
		50 * milli: "In 1 of 1 pause, suspending the threads took more than 10 ms, at most 20 ms",
		55 * milli: "In 1 of 1 pause, suspending the threads took more than 10 ms, at most 20 ms",
	} {
		h := newPast().gc(0, 100*milli, suspended(0, 50*milli)).run(time.Second).gc(0, 40*milli, suspended(0, 20*milli))
		f := analysis.NewFindings(&h.process, analysis.Thresholds{}, analysis.Window{From: int64(from), To: int64(h.now)})
		h.replay(f)
		if x, why := of(f, "long-suspension"); x == nil || !strings.HasPrefix(x.Text, want) {
			t.Errorf("from %v: %+v %q, want %q", from, x, why, want)
		}
	}
}
