package analysis_test

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/gclog/analysis"
	"github.com/gclog/gclog/internal/testing/generated"
	"github.com/gclog/gclog/parse/clr"
)

// A told is a history with the verdict about it.
type told struct {
	cause   analysis.Cause
	gc      analysis.Answer
	history func(*past)
	says    string // a part of the text
}

// resides sets the memory of the process and of the GC, in MB.
func resides(rss, committed, cgroup, limit uint64) change {
	return func(d *gclog.GCDetails) {
		d.Memory = gclog.Memory{Resident: rss * megabyte, Cgroup: cgroup * megabyte, CgroupLimit: limit * megabyte, At: d.End}
		d.CommittedAfter = committed * megabyte
		d.Known |= gclog.GroupCommittedAfter
	}
}

// survives makes everything survive gen2, of which there are so many MB.
func survives(mb uint64) change {
	return func(d *gclog.GCDetails) {
		g := &d.Generations[gclog.Gen2]
		g.ObjectsBefore, g.ObjectsAfter, g.Survived = mb*megabyte, mb*megabyte, mb*megabyte
		l := &d.Generations[gclog.LOH]
		l.ObjectsBefore, l.ObjectsAfter, l.Survived = megabyte, megabyte, megabyte
	}
}

// verdicts has an example of each cause that records of collections can show. The first of a cause is that of
// the documentation.
var verdicts = []told{
	{analysis.CauseNone, analysis.AnswerNo, func(h *past) { h.healthy(240) }, "The GC is not the reason: paused "},
	{analysis.CauseNone, analysis.AnswerNo, func(h *past) { h.run(time.Hour) }, "no collection in 1 h 1 min"},
	{analysis.CauseNone, analysis.AnswerNo, func(h *past) { h.healthy(24).gc(2, 800*milli).run(2 * time.Hour) }, "longest 800 ms"},
	{analysis.CauseKilled, analysis.AnswerYes, func(h *past) {
		for _, mb := range []uint64{60, 120, 180, 240} {
			h.run(20*time.Second).gc(2, 5*milli, survives(mb), resides(290, 281, 299, 300))
		}
		h.end(analysis.WayOOMKilled, "was killed by the kernel because memory ran out (SIGKILL)")
	}, "of which GC heap 281 MB; gen2 and large objects rose from 61 MB to 241 MB in 60 s in a straight line"},
	{analysis.CauseKilled, analysis.AnswerNo, func(h *past) {
		h.healthy(40, resides(290, 81, 299, 300)).end(analysis.WayOOMKilled, "was killed by the kernel because memory ran out (SIGKILL)")
	}, ""},
	{analysis.CauseKilled, analysis.AnswerUnknown, func(h *past) { h.healthy(40).end(analysis.WayKilled, "was killed (SIGKILL)") }, "SIGKILL"},
	{analysis.CauseOutOfMemory, analysis.AnswerYes, func(h *past) {
		h.healthy(40).of(2, 2, 50*milli, condemned(clr.CondemnedLimitBeforeOOM), resides(250, 225, 0, 0)).end(analysis.WayAborted, "aborted (SIGABRT), as the runtime does after an exception that nobody handles")
	}, "after 2 collections that the GC considered the last attempt"},
	{analysis.CauseCrash, analysis.AnswerNo, func(h *past) { h.healthy(40).end(analysis.WayCrashed, "crashed (SIGSEGV)") }, "SIGSEGV"},
	{analysis.CauseCrash, analysis.AnswerNo, func(h *past) {
		h.healthy(40).end(analysis.WayAborted, "aborted (SIGABRT), as the runtime does after an exception that nobody handles")
	}, "nothing shows that memory ran out"},
	{analysis.CauseManagedLeak, analysis.AnswerYes, func(h *past) {
		for _, mb := range []uint64{7, 14, 26, 50, 93} { // a collection each time that it has doubled
			h.run(time.Duration(mb)*time.Second).gc(2, 5*milli, survives(mb))
		}
	}, "The heap leaks: gen2 and large objects rose from 8 MB to 94 MB in"},
	{analysis.CauseNone, analysis.AnswerNo, func(h *past) { // it fills up
		for _, mb := range []uint64{20, 60, 75, 80, 82} {
			h.run(20*time.Second).gc(2, 5*milli, survives(mb))
		}
	}, ""},
	{analysis.CauseNone, analysis.AnswerNo, func(h *past) { // as above, but much of gen2 dies
		for _, mb := range []uint64{7, 14, 26, 50, 93} {
			h.run(time.Duration(mb)*time.Second).gc(2, 5*milli, survives(mb), generation(gclog.Gen2, func(g *gclog.GenerationDetails) { g.Survived /= 2 }))
		}
	}, ""},
	{analysis.CauseNativeMemory, analysis.AnswerNo, func(h *past) {
		for i := range uint64(12) {
			h.run(2*time.Second).gc(0, milli, resides(500+20*i, 350, 0, 0))
		}
	}, "The GC heap is not the reason: resident memory beyond what the GC had committed rose from 150 MB to 370 MB"},
	{analysis.CauseHandleLeak, analysis.AnswerYes, func(h *past) {
		for i := range 20 {
			h.run(time.Second).gc(i/12%2*2, milli, func(d *gclog.GCDetails) { d.Handles = int32(5000 + 6000*i) })
		}
	}, "Handles leak: GC handles rose from 5000 to 119000"},
	{analysis.CauseInduced, analysis.AnswerYes, func(h *past) {
		h.healthy(20).of(9, 2, 300*milli, reason(clr.ReasonInduced))
	}, "99.3 % of that are 9 calls of GC.Collect"},
	{analysis.CauseLargeObjects, analysis.AnswerYes, func(h *past) {
		h.healthy(20).of(60, 2, 40*milli, reason(clr.ReasonAllocLarge))
	}, "60 collections because of large objects"},
	{analysis.CauseLOHFragmentation, analysis.AnswerYes, func(h *past) {
		h.healthy(20).of(3, 2, 4*milli, generation(gclog.LOH, func(g *gclog.GenerationDetails) { g.After, g.Fragmentation = 400*megabyte, 180*megabyte }))
	}, "The large object heap is fragmented: up to 180 MB (45 % of it)"},
	{analysis.CausePinning, analysis.AnswerYes, func(h *past) {
		h.of(60, 0, 40*milli, func(d *gclog.GCDetails) { d.PinnedObjects = 6022 })
	}, "60 collections hindered by up to 6022 pinned objects"},
	{analysis.CauseMidLife, analysis.AnswerYes, func(h *past) {
		for range 4 {
			h.of(10, 1, 50*milli, toGen2(12, 4, 95)).gc(2, 5*milli, alive(15))
		}
	}, "484 MB was promoted into gen2, where 15 MB live, and died there"},
	{analysis.CauseSurvival, analysis.AnswerYes, func(h *past) {
		h.of(80, 0, 50*milli, generation(0, func(g *gclog.GenerationDetails) { g.Survived = 9 * megabyte }))
	}, "100 % of that are gen0 and gen1 collections that 45 % of gen0 survived"},
	{analysis.CauseFinalizers, analysis.AnswerYes, func(h *past) {
		h.healthy(20).gc(0, milli, func(d *gclog.GCDetails) {
			d.Finalizers, d.FinalizationCount = gclog.FinalizerDetails{Running: int64(28 * time.Second)}, 5480
			d.Known |= gclog.GroupFinalizers
		})
	}, "one run has lasted 28 s, and up to 5480 objects were added to the queue in one collection"},
	{analysis.CauseDependentHandles, analysis.AnswerYes, func(h *past) {
		h.of(60, 0, 50*milli, dependent(44*milli))
	}, "88 % of that scanned dependent handles"},
	{analysis.CauseHeapLimit, analysis.AnswerYes, func(h *past) {
		h.process.Limits.HardLimit = 100 * megabyte
		h.healthy(20, resides(120, 90, 0, 0)).of(40, 2, 40*milli, condemned(clr.CondemnedLimitLOHReclaim), resides(120, 98, 0, 0))
	}, "the GC had committed up to 98 MB, 98 % of the hard limit of the heap (100 MB)"},
	{analysis.CauseContainerLimit, analysis.AnswerYes, func(h *past) {
		h.healthy(20).of(40, 2, 40*milli, load(97), condemned(clr.CondemnedHighMemory))
	}, "the memory load was up to 97 %"},
	{analysis.CauseContainerLimit, analysis.AnswerYes, func(h *past) {
		h.process.HasLimits = false
		h.healthy(20).of(40, 0, milli, resides(280, 270, 290, 300))
	}, "90 % of the memory limit of the control group (300 MB)"},
	{analysis.CauseSmallBudget, analysis.AnswerYes, func(h *past) {
		times(3000, func(int) { h.run(12*milli).gc(0, 2*milli) })
	}, "one every 34 ms, although 10 % of gen0 survived them"},
	{analysis.CauseCPU, analysis.AnswerNo, func(h *past) {
		h.of(60, 0, 60*milli, suspended(0, 52*milli), short(gclog.CPUShortage{Throttled: 40 * ms, Pressure: 45}))
	}, "The processors are the reason, not the GC: 86.7 % of the time paused went into suspending the threads while its control group was " +
		"throttled for 2.4 s and processors were waited for 45 % of the time (PSI); paused "},
	{analysis.CauseCPU, analysis.AnswerNo, func(h *past) { // the machine hides it
		h.of(60, 0, 60*milli, suspended(0, 52*milli))
	}, "The processors are the reason, not the GC: 86.7 % of the time paused went into suspending the threads; paused "},
	{analysis.CauseThreadPool, analysis.AnswerNo, func(h *past) { h.healthy(20).counted(8, 3000, 0) }, "Not the GC: the thread pool's queue grew to 24000 work items; paused "},
	{analysis.CauseThreadPool, analysis.AnswerNo, func(h *past) { h.healthy(20).counted(1, 500, 0).counted(1, 450, 0).counted(1, 400, 0) }, "the thread pool's queue has had up to 500 work items; paused "},
	{analysis.CauseLocks, analysis.AnswerNo, func(h *past) { h.healthy(20).counted(8, 0, 40) }, "Not the GC: threads waited 2 min 40 s for locks (4 per second, 500 ms each); paused "},
	{analysis.CauseSmallBudget, analysis.AnswerYes, func(h *past) { // the GC comes first
		times(3000, func(int) { h.run(12*milli).gc(0, 2*milli) })
		h.counted(8, 3000, 0)
	}, "survived them"},
	{analysis.CauseNone, analysis.AnswerNo, func(h *past) { // for a moment, and for short
		h.healthy(20).counted(1, 5000, 0).counted(8, 0, 8)
	}, "The GC is not the reason: paused "},
	{analysis.CauseNone, analysis.AnswerNo, func(h *past) { h.healthy(20).counted(2, 5000, 0) }, "The GC is not the reason: paused "},
	{analysis.CauseUnknown, analysis.AnswerUnknown, nil, ""},
}

// TestVerdict holds an example of each cause, with which it makes the table of docs/verdict.md.
func TestVerdict(t *testing.T) {
	examples := map[analysis.Cause]string{}
	for i, c := range verdicts {
		h := newPast()
		h.process.ID, h.process.Name = 4711, "orders"
		f := analysis.NewFindings(&h.process, analysis.Thresholds{}, analysis.Always())
		if c.history != nil {
			c.history(h)
			h.replay(f)
		} else { // too little, without the minute before
			h.run(3*time.Second).gc(0, milli).run(5*time.Second).gc(0, milli)
			f.Observe(&gclog.Start{At: 0})
			for _, call := range h.calls {
				call(f)
			}
		}
		v := f.Verdict()
		if v.Cause != c.cause || v.GC != c.gc || !strings.Contains(v.Text, c.says) || !strings.HasSuffix(v.Text, ".") {
			t.Errorf("%d: gc %s, cause %s: %s\nwant gc %s, cause %s: %s", i, v.GC, v.Cause, v.Text, c.gc, c.cause, c.says)
		}
		if examples[v.Cause] == "" {
			examples[v.Cause] = v.Sentence()
		}
	}
	var table, list strings.Builder
	table.WriteString("| cause | what shows it | what comes first |\n|---|---|---|\n")
	for _, c := range analysis.Causes() {
		if examples[c.Cause] == "" {
			t.Errorf("no example of %s", c.Cause)
		}
		first := "nothing"
		if c.First != "" {
			first = fmt.Sprintf("%s: `%s`", c.Purpose, c.First)
		}
		fmt.Fprintf(&table, "| `%s` | %s | %s |\n", c.Cause, c.Shows, first)
		if examples[c.Cause] != "" {
			fmt.Fprintf(&list, "* `%s`: %s\n", c.Cause, examples[c.Cause])
		}
	}
	generated.Sections(t, filepath.Join("..", "..", "docs", "verdict.md"), map[string]string{"causes": table.String(), "examples": list.String()})
}

// TestVerdictNames: a process that has ended is named in commands of gclog, unless a shell would understand
// something else.
func TestVerdictNames(t *testing.T) {
	for _, c := range []struct{ name, want string }{{"orders", "orders"}, {"$(reboot)", "PID"}, {"-x", "PID"}, {"1", "PID"}, {"a\nb", "PID"}, {"", "PID"}} {
		h := newPast().healthy(40).end(analysis.WayOOMKilled, "was killed by the kernel because memory ran out (SIGKILL)")
		h.process.ID, h.process.Name = 4711, c.name
		if v := h.findings(t).Verdict(); v.First != "gclog heap watch "+c.want {
			t.Errorf("%q: %q", c.name, v.First)
		}
	}
}

// TestJudged: the end of each session has the verdict about it, unless it has one; the records themselves stay
// as they are.
func TestJudged(t *testing.T) {
	var ends []gclog.End
	p := &gclog.Process{ID: 4711}
	o := analysis.Judged(p, func(r gclog.Record) {
		if end, ok := r.(*gclog.End); ok {
			ends = append(ends, *end)
		}
	})
	crash := &gclog.End{At: 30 * sec, Reason: gclog.EndCrashed, Signal: 11}
	o(&gclog.Start{})
	o(crash)
	o(&gclog.Start{At: 40 * sec})
	o(&gclog.End{At: 60 * sec})
	o(&gclog.End{At: 60 * sec, Verdict: &gclog.Verdict{Cause: "other"}})
	var causes []string
	for _, end := range ends {
		causes = append(causes, end.Verdict.Cause)
	}
	if want := []string{"crash", "none", "other"}; !slices.Equal(causes, want) || crash.Verdict != nil {
		t.Errorf("%q, want %q; %v", causes, want, crash.Verdict)
	}
	if v := ends[1].Verdict; v.GC != "no" || v.Text != "The GC is not the reason: no collection in 20 s." || !v.HasPaused || v.First != "" {
		t.Errorf("%+v", v)
	}
}

// TestNotes: what costs only pauses is a warning from 1 % of the time on, and nothing is one in a program that is
// hardly paused and does not grow.
func TestNotes(t *testing.T) {
	induced := func(pause time.Duration) *analysis.Finding {
		h := newPast().healthy(100)
		times(4, func(int) { h.run(10*time.Second).gc(2, pause, reason(clr.ReasonInduced)) })
		f, why := of(h.findings(t), "induced-gcs")
		if f == nil {
			t.Fatal(why)
		}
		return f
	}
	if f := induced(100 * milli); f.Severity != analysis.Info {
		t.Errorf("0.7 %%: %s", f.Severity)
	}
	if f := induced(400 * milli); f.Severity != analysis.Warning || f.Explains.Paused < 0.9 {
		t.Errorf("2.6 %%: %s, %v", f.Severity, f.Explains)
	}
}

// TestSymptoms: symptoms follow their cause and name it, and the cause is the verdict.
func TestSymptoms(t *testing.T) {
	h := newPast().healthy(20).of(60, 2, 60*milli, reason(clr.ReasonAllocLarge))
	list := h.findings(t).List()
	if len(list) == 0 || list[0].Rule.ID != "loh-pressure" || list[0].SymptomOf != nil {
		t.Fatalf("the cause is not first: %+v", list)
	}
	var symptoms []string
	for _, f := range list[1:] {
		if f.SymptomOf == list[0].Rule {
			symptoms = append(symptoms, f.Rule.ID)
		}
	}
	if !slices.Contains(symptoms, "too-many-gen2") || !slices.Contains(symptoms, "high-pause-share") {
		t.Errorf("symptoms are %q", symptoms)
	}
	if !slices.IsSortedFunc(list, func(a, b analysis.Finding) int {
		return cmp.Compare(min(1, len(symptomOf(&a))), min(1, len(symptomOf(&b))))
	}) {
		t.Errorf("symptoms do not follow their cause: %+v", list)
	}
}

func symptomOf(f *analysis.Finding) string {
	if f.SymptomOf == nil {
		return ""
	}
	return f.SymptomOf.ID
}
