package rules

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/internal/condition"
	"github.com/gclog/gclog/internal/testing/extent"
	"github.com/gclog/gclog/internal/testing/recordings"
	"github.com/gclog/gclog/parse/clr"
)

// start is when the clock of the tests begins.
var start = time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)

// at returns a time of the tests' clock in seconds.
func at(seconds float64) int64 { return int64(seconds * 1e9) }

// TestSteps: when a rule fires for a condition that is true (t), false (f) or unknown (?) at certain
// seconds.
func TestSteps(t *testing.T) {
	for name, c := range map[string]struct {
		rule  Rule
		truth string
		times []float64
		fires string // at each time: x if it fires
	}{
		"each time":                         {Rule{}, "tftt", []float64{1, 2, 3, 4}, "x.xx"},
		"unknown":                           {Rule{}, "t?t", []float64{1, 2, 3}, "x.x"},
		"cooldown":                          {Rule{Cooldown: 10 * time.Second}, "ttftt", []float64{1, 5, 6, 10, 11}, "x...x"},
		"for":                               {Rule{For: 5 * time.Second}, "ttttt", []float64{1, 3, 6, 7, 20}, "..x.."},
		"for, at once":                      {Rule{For: 5 * time.Second}, "tt", []float64{1, 60}, ".x"},
		"for, interrupted":                  {Rule{For: 5 * time.Second}, "ttfttt", []float64{1, 3, 4, 6, 8, 11}, ".....x"},
		"for, unknown between":              {Rule{For: 5 * time.Second}, "t??t", []float64{1, 3, 5, 6}, "...x"},
		"for, fires again after a false":    {Rule{For: 5 * time.Second}, "ttftt", []float64{1, 6, 7, 8, 13}, ".x..x"},
		"for with every":                    {Rule{For: 5 * time.Second, Every: 10 * time.Second}, "tttttt", []float64{1, 6, 10, 16, 20, 26}, ".x.x.x"},
		"every":                             {Rule{Every: 10 * time.Second}, "tttt", []float64{1, 5, 11, 12}, "x.x."},
		"every begins anew after a false":   {Rule{Every: 10 * time.Second}, "ttft", []float64{1, 5, 6, 7}, "x..x"},
		"every and cooldown":                {Rule{Every: 3 * time.Second, Cooldown: 10 * time.Second}, "tftt", []float64{1, 2, 5, 11}, "x..x"},
		"cooldown, the clock is set back":   {Rule{Cooldown: 10 * time.Second}, "ttttt", []float64{1e6, 5, 14, 15, 16}, "x..x."},
		"for, the clock is set back":        {Rule{For: 5 * time.Second}, "tttt", []float64{1e6, 5, 9, 10}, "...x"},
		"every, the clock is set back":      {Rule{Every: 5 * time.Second}, "tttt", []float64{1e6, 5, 9, 10}, "x..x"},
		"cooldown does not count for a for": {Rule{For: 2 * time.Second, Cooldown: 10 * time.Second}, "ttfttt", []float64{1, 3, 4, 5, 8, 14}, ".x...x"},
	} {
		s := state{Rule: &c.rule}
		var got strings.Builder
		for i, x := range c.truth {
			truth := map[rune]condition.Truth{'t': condition.True, 'f': condition.False, '?': condition.Unknown}[x]
			if s.step(start.UnixNano()+at(c.times[i]), truth, false) {
				got.WriteByte('x')
			} else {
				got.WriteByte('.')
			}
		}
		if got.String() != c.fires {
			t.Errorf("%s: it fires %s, want %s", name, got.String(), c.fires)
		}
	}
}

// TestFalseTimes: a running process that sends false times fires a rule at most twice as often as its
// cooldown allows.
func TestFalseTimes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := state{Rule: &Rule{Cooldown: 10 * time.Minute}}
		fired := 0
		for i := range 3600 {
			when := start.Add(time.Duration(i) * time.Hour)
			if i%2 == 1 {
				when = start.Add(-time.Hour)
			}
			if s.step(when.UnixNano(), condition.True, true) {
				fired++
			}
			time.Sleep(time.Second)
		}
		if fired != 12 {
			t.Errorf("it has fired %d times in an hour", fired)
		}
	})
}

// rule returns a rule without times.
func rule(t testing.TB, on Kind, when string) *Rule {
	t.Helper()
	r, err := New(when, on, when, 0, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// fired runs rules on what happens, and returns the texts of those that fire.
func fired(t *testing.T, list []*Rule, happens func(gclog.Observer)) (texts []string) {
	t.Helper()
	e := NewEngine(list, formats.Options{Host: "node"}, func(f *Firing) {
		texts = append(texts, f.Text())
		var record struct {
			Event   struct{ Action string }
			Process struct{ PID int64 }
		}
		if err := json.Unmarshal(f.Record(), &record); err != nil || record.Process.PID != 7 || !strings.HasPrefix(record.Event.Action, "gc") {
			t.Errorf("%s: %v in %s", f.Text(), err, f.Record())
		}
	})
	o := e.Observe(&gclog.Process{ID: 7, Name: "shop", Service: "orders", Sync: start})
	o(&gclog.Start{})
	happens(o)
	return texts
}

func collection(number uint32, pause int64) *gclog.GCDetails {
	return &gclog.GCDetails{
		Number: number, Known: gclog.GroupNumber | gclog.GroupReason | gclog.GroupEnd, Generation: 2, Reason: clr.ReasonInduced, Complete: true,
		Start: at(float64(number)), End: at(float64(number)) + pause,
		Pauses: []gclog.PausePart{{Start: at(float64(number)), Duration: pause}},
	}
}

// TestKinds: each kind of rule fires for its kind of events, and its text has the values.
func TestKinds(t *testing.T) {
	for _, c := range []struct{ when, want string }{
		{"gc: pause > 500ms", "gen2 collection 2: pause 750 ms"},
		{"gc: pause > 500ms && reason == 'Induced' && generation == 2", "gen2 collection 2: pause 750 ms, reason Induced, generation 2"},
		{"gc: pause > 500ms && service.name == 'orders'", "gen2 collection 2: pause 750 ms, service.name orders"},
		{"gc: complete && number > 1 && reason_group in ['induced']", "gen2 collection 2: complete, number 2, reason_group induced"},
		{"gc: !demoted_background && event.duration >= 750ms", "gen2 collection 2: not demoted_background, event.duration 750 ms"},
		{"gc: service.name == 'billing'", ""},
		{"gc: host.name == 'node' && pause > 500ms", "gen2 collection 2: host.name node, pause 750 ms"},
		{"pause: pause > 1s", "pause without a collection (no-gc-region): pause 1.2 s"},
		{"pause: pause > 10ms && kind == 'blocking' && suspend > 1ms", "pause of gen1 collection 3: pause 20 ms, kind blocking, suspend 2 ms"},
		{"stall: stall > 5s", "gen2 collection 4, in progress: stall 12 s"},
		{"stall: stall.kind == 'suspension'", "suspension in progress: stall.kind suspension"},
		{"gap: gap.lost_events > 5", "gap in the log: gap.lost_events 9, gap.reason lost-events"},
		{"gap:", "gap in the log: gap.reason lost-events"},
		{"exit: process.exit_code != 0", "end of the process: exited, exit code 3"},
		{"exit: event.reason == 'oom-killed'", ""},
		{"exit:", "end of the process: exited, exit code 3"},
	} {
		kind, text, _ := strings.Cut(c.when, ":")
		k, err := ParseKind(kind)
		if err != nil {
			t.Fatal(err)
		}
		got := fired(t, []*Rule{rule(t, k, strings.TrimSpace(text))}, func(o gclog.Observer) {
			o(collection(1, 1e6))
			o(collection(2, 750e6))
			o(&gclog.Pause{PausePart: gclog.PausePart{Kind: gclog.PauseNoGCRegion, Start: at(3), Duration: 12e8}})
			o(&gclog.Pause{PausePart: gclog.PausePart{Start: at(4), Duration: 20e6, Suspend: 2e6, HasSuspend: true}, GC: &gclog.GCDetails{Number: 3, Known: gclog.GroupNumber, Generation: 1}})
			o(&gclog.Stall{Open: gclog.Open{Kind: gclog.OpenGC, Since: at(5), Number: 4, HasNumber: true, Generation: 2}, Now: at(17), Threshold: 10e9})
			o(&gclog.Stall{Open: gclog.Open{Kind: gclog.OpenSuspension, Since: at(5)}, Now: at(6), Threshold: 1e9})
			o(&gclog.Gap{Reason: gclog.GapLostEvents, LostEvents: 9, Time: at(18)})
			o(&gclog.End{Reason: gclog.EndExited, ExitCode: 3, HasCode: true, At: at(19)})
			o(&gclog.End{Reason: gclog.EndDetached, At: at(20)})                           // not an exit
			o(&gclog.End{Reason: gclog.EndExited, ExitCode: 3, HasCode: true, At: at(20)}) // that of the session that took over
		})
		if strings.Join(got, "; ") != c.want {
			t.Errorf("%s fires for %q, want %q", c.when, got, c.want)
		}
	}
}

// TestSnapshots: the collections of heap snapshots fire no rule.
func TestSnapshots(t *testing.T) {
	d := collection(1, 750e6)
	d.HeapDump = true
	got := fired(t, []*Rule{rule(t, OnGC, "pause > 1ms"), rule(t, OnPause, "pause > 1ms")}, func(o gclog.Observer) {
		o(&gclog.Pause{PausePart: d.Pauses[0], GC: d})
		o(d)
	})
	if len(got) > 0 {
		t.Errorf("%q", got)
	}
}

// TestNewFindings: a finding fires a rule when it is new, and again when it is more severe.
func TestNewFindings(t *testing.T) {
	got := fired(t, []*Rule{rule(t, OnFinding, "rule == 'high-pause-share'"), rule(t, OnFinding, "severity == 'error' && rule == 'high-pause-share'")}, func(o gclog.Observer) {
		for n := range uint32(600) {
			pause := int64(100e6)
			if n > 300 {
				pause = 900e6
			}
			d := collection(n+1, pause)
			o(&gclog.Pause{PausePart: d.Pauses[0], GC: d})
			o(d)
		}
	})
	if len(got) != 3 || !strings.HasPrefix(got[0], "finding high-pause-share: warning, ") || !strings.HasPrefix(got[1], "finding high-pause-share: error, ") || got[1] != got[2] {
		t.Errorf("%q", got)
	}
}

// TestFindingsClock: findings are still evaluated when the clock was set back.
func TestFindingsClock(t *testing.T) {
	fired := 0
	e := NewEngine([]*Rule{rule(t, OnFinding, "rule == 'high-pause-share'")}, formats.Options{}, func(*Firing) { fired++ })
	p := &gclog.Process{Sync: start}
	o := e.Observe(p)
	o(&gclog.Start{At: at(1)})
	for n := range uint32(600) {
		pause := int64(1e6)
		if n == 300 {
			p.Sync = start.Add(-24 * time.Hour)
			o = e.Observe(p)
		}
		if n >= 300 {
			pause = 500e6
		}
		d := collection(n+1, pause)
		o(&gclog.Pause{PausePart: d.Pauses[0], GC: d})
		o(d)
	}
	if fired == 0 {
		t.Error("nothing was found")
	}
}

// TestFindingsOfSessions: a finding that the session before had is not new in the next one, but it is
// a day later.
func TestFindingsOfSessions(t *testing.T) {
	got := fired(t, []*Rule{rule(t, OnFinding, "rule == 'high-pause-share'")}, func(o gclog.Observer) {
		for n := range uint32(600) {
			late := int64(0)
			switch {
			case n == 200:
				o(&gclog.Start{At: at(float64(n + 1))})
			case n == 400:
				o(&gclog.Start{At: at(float64(n+1)) + 24*int64(time.Hour)})
			}
			if n >= 400 {
				late = 24 * int64(time.Hour)
			}
			d := collection(n+1, 70e6)
			d.Start += late
			d.End += late
			d.Pauses[0].Start += late
			o(&gclog.Pause{PausePart: d.Pauses[0], GC: d})
			o(d)
		}
	})
	if len(got) != 2 {
		t.Errorf("%q", got)
	}
}

func TestErrors(t *testing.T) {
	for name, c := range map[string]struct {
		on         Kind
		when       string
		for_, each time.Duration
		want       string
	}{
		"unknown field":    {OnGC, "paus > 1s", 0, 0, "there is no field paus, did you mean pause? (gclog rules fields gc lists those of collections)"},
		"of another kind":  {OnExit, "pause > 1s", 0, 0, "(gclog rules fields exit lists those of exits)"},
		"no condition":     {OnGC, "", 0, 0, "it would fire at every gc: give it a condition"},
		"for of an exit":   {OnExit, "", time.Second, 0, "for needs a condition that stays true"},
		"every of a gap":   {OnGap, "", 0, time.Second, "every needs a condition that stays true"},
		"an unknown cause": {OnGC, "reason == 'AllocSmal'", 0, 0, "did you mean AllocSmall?"},
	} {
		if _, err := New("r", c.on, c.when, c.for_, c.each, 0); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
	if _, err := ParseKind("pauze"); err == nil || !strings.Contains(err.Error(), "did you mean pause?: it must be gc, pause,") {
		t.Error(err)
	}
}

// lookup finds a field in a JSON record: in dotnet.gc or at the top, with or without its unit.
func lookup(record map[string]any, name string) (value any, found bool) {
	find := func(in any, path []string) (any, bool) {
		for _, p := range path {
			m, ok := in.(map[string]any)
			if !ok {
				return nil, false
			}
			if in, ok = m[p]; !ok {
				return nil, false
			}
		}
		return in, true
	}
	gc, _ := find(record, []string{"dotnet", "gc"})
	for _, in := range []any{gc, record} {
		if v, ok := find(in, strings.Split(name, ".")); ok {
			if m, ok := v.(map[string]any); ok {
				for _, unit := range []string{"ns", "bytes", "count", "pct", "bytes_per_s"} {
					if x, ok := m[unit]; ok {
						return x, true
					}
				}
				continue
			}
			return v, true
		}
	}
	return nil, false
}

// TestFieldsAreThoseOfJSON: in all recordings each field of a collection has the value that the JSON
// record has under its name, and is unknown if that is missing there.
func TestFieldsAreThoseOfJSON(t *testing.T) {
	extent.Long(t)
	format, err := formats.Find("json")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	list := fieldsOf(OnGC)
	check := func(t *testing.T, p *gclog.Process, d *gclog.GCDetails) {
		var out line
		formats.NewWriter(format, &out, formats.Options{Process: *p, Host: "node"}).Observe(d)
		var record map[string]any
		if err := json.Unmarshal(out.b, &record); err != nil {
			t.Fatal(err)
		}
		v := values{fields: list, event: event{process: p, host: "node", gc: d}}
		for i := range list {
			compareWithJSON(t, &v, i, record, seen)
		}
	}
	// What recordings do not have.
	d := collection(1, 1e6)
	d.Memory = gclog.Memory{Resident: 1 << 30, Cgroup: 2 << 30, CgroupLimit: 3 << 30, At: at(1)}
	d.Threads = 20
	d.CPU = gclog.CPUShortage{
		Interval: 1e9, Pressure: 40, GroupPressure: 30, Throttled: 2e8, Throttles: 3, Waited: 3e8, WaitedInterval: 9e8,
		Runnable: 5, Processors: 2,
	}
	d.HeapDump, d.HeapDumpBy, d.FromLog = true, gclog.RequesterGclog, true
	d.BeforeEstimated = true
	d.Known |= gclog.GroupBefore
	d.Kind, d.Background = gclog.KindBackground, &gclog.BackgroundDetails{Overflowed: 5}
	check(t, &gclog.Process{
		ID: 7, Name: "shop", Service: "orders", ServiceVersion: "1.2", ContainerID: "c1", ContainerName: "app", Namespace: "prod", Pod: "orders-1", PodUID: "u1",
		RuntimeVersion: "10.0.1", Flavor: gclog.FlavorCoreCLR, Cookie: "c0", Executable: "/app/shop", StartKey: 9, OS: "Linux", Architecture: "x64",
		HasLimits: true, Limits: clr.GCSettings{HardLimit: 1 << 32}, Server: gclog.Yes, Sync: start,
	}, d)
	all := recordings.ForEach(t, func(t *testing.T, tr recordings.Trace) {
		_ = gclog.Read(bytes.NewReader(recordings.Read(t, tr.Path)), func(p *gclog.Process) gclog.Observer { // some are damaged
			return each(func(d *gclog.GCDetails) { check(t, p, d) }).Observe
		})
	})
	for i := range list {
		if name := list[i].Name; all && !seen[name] {
			t.Errorf("no recording has %s", name)
		}
	}
}

func compareWithJSON(t *testing.T, v *values, i int, record map[string]any, seen map[string]bool) {
	t.Helper()
	f := &v.fields[i]
	name := f.Name
	if name == "pause" {
		name = "pause.total"
	}
	want, found := lookup(record, name)
	if f.Type == condition.Text {
		if got, known := v.Text(i); known != found || known && got != want {
			t.Errorf("%s is %q (%v), in JSON %v", f.Name, got, known, want)
		}
	} else {
		got, known := v.Number(i)
		number := 0.0
		switch x := want.(type) {
		case float64:
			number = x
			if f.Unit == "%" {
				number *= 100
			}
		case bool:
			if x {
				number = 1
			}
		}
		// A flag that is only written if it is set is known otherwise, too.
		if missing := !found && f.Type == condition.Flag && got == 0; !missing && (known != found || known && math.Abs(got-number) > 1e-6*max(1, math.Abs(number)) && math.Abs(got-number) > 0.0051) { // shares have four decimals
			t.Errorf("%s is %v (%v), in JSON %v (%v)", f.Name, got, known, want, found)
		}
	}
	seen[f.Name] = seen[f.Name] || found
}

// each is an Observer that passes collections on.
type each func(*gclog.GCDetails)

// Observe takes a record.
func (f each) Observe(r gclog.Record) {
	if d, ok := r.(*gclog.GCDetails); ok {
		f(d)
	}
}

// hundred returns 100 rules, none of which fires.
func hundred(t testing.TB) (list []*Rule) {
	for i := range 100 {
		when := []string{
			"pause > 10s && generation == 2", "heap.after > 90% * hard_limit || gen2.fragmentation > 50GB",
			"reason in ['Induced', 'InducedLowMemory'] && pause > 20s", "suspend > 1s || loh.after > 100GB && generation == 2",
		}[i%4]
		list = append(list, rule(t, OnGC, when))
	}
	return list
}

// TestEngineAllocatesNothing: rules that do not fire cost no memory.
func TestEngineAllocatesNothing(t *testing.T) {
	e := NewEngine(hundred(t), formats.Options{}, func(*Firing) { t.Error("it fires") })
	o := e.Observe(&gclog.Process{Sync: start})
	d := collection(1, 1e6)
	o(d)
	if n := testing.AllocsPerRun(100, func() { o(d) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

// BenchmarkRules measures 100 rules: at 5,000 collections a second they may take 30 µs each.
func BenchmarkRules(b *testing.B) {
	e := NewEngine(hundred(b), formats.Options{}, func(*Firing) {})
	o := e.Observe(&gclog.Process{Sync: start})
	d := collection(1, 1e6)
	b.ReportAllocs()
	for b.Loop() {
		o(d)
	}
}
