package analysis_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/gclog/analysis"
)

// short makes a collection one around which processors were short, in a second unless x says otherwise.
func short(x gclog.CPUShortage) func(*gclog.GCDetails) {
	if x.Interval == 0 {
		x.Interval = 1000 * ms
	}
	x.Processors = max(x.Processors, 2)
	return func(d *gclog.GCDetails) { d.CPU = x }
}

// TestShortageConfirmed: findings about waiting threads say what confirms that processors were short,
// and that nothing does. Where nothing was read, they say nothing.
func TestShortageConfirmed(t *testing.T) {
	const denied = " The kernel showed no shortage of processors in 40 of the 40 with a reading."
	for name, c := range map[string]struct {
		x    gclog.CPUShortage
		says string
	}{
		"throttled":                {gclog.CPUShortage{Throttled: 5 * ms}, ": its control group was throttled for 200 ms."},
		"throttled at some time":   {gclog.CPUShortage{Throttled: 5 * ms, Interval: 10_001 * ms}, denied},
		"pressure":                 {gclog.CPUShortage{Pressure: 25}, ": processors were waited for 25 % of the time (PSI)."},
		"pressure in the group":    {gclog.CPUShortage{Pressure: 1, GroupPressure: 60}, ": processors were waited for 60 % of the time (PSI)."},
		"some pressure":            {gclog.CPUShortage{Pressure: 24}, denied},
		"threads that wait":        {gclog.CPUShortage{Waited: 400 * ms, WaitedInterval: 1000 * ms}, ": its threads waited 16 s for one in 40 s."},
		"threads that wait little": {gclog.CPUShortage{Waited: 399 * ms, WaitedInterval: 1000 * ms}, denied},
		"threads of many":          {gclog.CPUShortage{Waited: 700 * ms, WaitedInterval: 1000 * ms, Processors: 4}, denied},
		"nothing":                  {gclog.CPUShortage{Runnable: 9}, denied},
	} {
		t.Run(name, func(t *testing.T) {
			h := newPast()
			h.of(40, 0, 60*milli, suspended(0, 40*milli), short(c.x))
			f := analysis.NewFindings(&h.process, analysis.Thresholds{}, analysis.Always())
			h.replay(f)
			list := f.List()
			i := slices.IndexFunc(list, func(f analysis.Finding) bool { return f.Rule.ID == "long-suspension" })
			if i < 0 || !strings.HasSuffix(list[i].Text, c.says) || c.says != denied && !strings.Contains(list[i].Text, " The kernel confirms a shortage of processors: ") {
				t.Errorf("%+v", list)
			}
		})
	}
}

// TestShortageOfSlow: a collection that was slow while processors were short is named once, below the
// finding about them.
func TestShortageOfSlow(t *testing.T) {
	for name, starved := range map[string]bool{"short": true, "not short": false} {
		t.Run(name, func(t *testing.T) {
			h := newPast()
			x := gclog.CPUShortage{Interval: 1, Pressure: 80}
			h.of(100, 0, 30*milli, suspended(0, 11*milli), short(x))
			if !starved {
				x.Pressure = 5
			}
			h.gc(0, 400*milli, short(x))
			f := analysis.NewFindings(&h.process, analysis.Thresholds{}, analysis.Always())
			h.replay(f)
			for _, x := range f.List() {
				if x.Rule.ID == "random-slow-gc" || x.Rule.ID == "long-pause" {
					if got := x.SymptomOf != nil && x.SymptomOf.ID == "long-suspension"; got != starved {
						t.Errorf("%s is a symptom: %v", x.Rule.ID, got)
					}
				}
			}
			if len(f.List()) < 3 {
				t.Errorf("%+v", f.List())
			}
		})
	}
}

// TestExplainShortage: the explanation says in a sentence what there was around the pause.
func TestExplainShortage(t *testing.T) {
	slow := func(c gclog.CPUShortage, suspend, resume int64) *gclog.GCDetails {
		d := &gclog.GCDetails{Number: 5, Known: gclog.GroupNumber, CPU: c}
		d.Pauses = []gclog.PausePart{{Duration: 40 * ms, Suspend: suspend, Resume: resume, HasSuspend: true, HasResume: true}}
		return d
	}
	x := gclog.CPUShortage{Interval: 800 * ms, Pressure: 45, Throttled: 36 * ms, Waited: 300 * ms, WaitedInterval: 500 * ms, Processors: 1}
	for want, d := range map[string]*gclog.GCDetails{
		"Suspending the threads took 36 ms while processors were short: its control group was throttled for 36 ms in 800 ms, " +
			"processors were waited for 45 % of 800 ms (PSI) and its threads waited 300 ms for one in 500 ms.": slow(x, 36*ms, 0),
		"Resuming the threads took 30 ms while processors were short: processors were waited for 99 % of 1 s (PSI).": slow(gclog.CPUShortage{Interval: 1000 * ms, GroupPressure: 99}, 0, 30*ms),
		"The pause took 40 ms while processors were short: processors were waited for 99 % of 1 s (PSI).":            slow(gclog.CPUShortage{Interval: 1000 * ms, GroupPressure: 99}, 1, 2),
		"": slow(gclog.CPUShortage{Interval: 1000 * ms, Pressure: 3, Waited: ms, WaitedInterval: 1000 * ms, Runnable: 50}, 36*ms, 0),
	} {
		got := ""
		for _, s := range analysis.Explain(d, analysis.Context{}).Pause {
			if s.ID == "processors" {
				got = s.Text
			}
		}
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
