package rules

import (
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/gclog/analysis"
	"github.com/gclog/gclog/internal/condition"
)

// An Engine evaluates rules on the records of one process, of one session after the other. It has an
// Observer, and must be used by one goroutine at a time.
//
// The collections of heap snapshots do not count: a rule that takes one would cause itself.
type Engine struct {
	// Live: the records are those of a running process. Their times may be false, so a cooldown is one
	// of gclog's own clock as well.
	Live bool

	fire   func(*Firing)
	format formats.Options // of the records of firings, without the process
	states [OnExit + 1][]*state
	values values

	sessions int  // the number of the current one
	exited   bool // two sessions see the same exit when one is taking over from the other

	findings *analysis.Findings // of the session; nil: no rule is about them
	judged   int64              // when they were last evaluated, in nanoseconds of Unix time
	found    map[string]found
}

// A found is what was last found by a rule for findings.
type found struct {
	severity analysis.Severity
	session  int
	at       int64 // nanoseconds of Unix time
}

const (
	// findEvery is how often findings are evaluated, at most: it takes some 100 µs.
	findEvery = int64(5 * time.Second)
	// foundFor is how long a finding of an earlier session is not new in the next one, which has to
	// observe the process for a while before it finds the same.
	foundFor = int64(time.Hour)
)

// NewEngine returns an Engine that calls fire when a rule fires. The Firing is valid during the call.
func NewEngine(rules []*Rule, format formats.Options, fire func(*Firing)) *Engine {
	e := &Engine{fire: fire, format: format, found: map[string]found{}}
	e.values.host = format.Host
	for _, r := range rules {
		e.states[r.On] = append(e.states[r.On], &state{Rule: r})
	}
	return e
}

// Observe returns the Observer of a process. It must be called before the first record, and
// again when what is known of the process changes: then p may be another one.
func (e *Engine) Observe(p *gclog.Process) gclog.Observer {
	e.values.process = p
	return e.take
}

// take evaluates the rules that a record is for.
func (e *Engine) take(r gclog.Record) {
	if e.findings != nil {
		switch r.(type) {
		case *gclog.GCDetails, *gclog.Pause, *gclog.Gap:
			e.findings.Observe(r)
		}
	}
	switch r := r.(type) {
	case *gclog.Start:
		e.sessions++
		if len(e.states[OnFinding]) > 0 {
			e.findings = analysis.NewLiveFindings(e.values.process, analysis.Thresholds{})
			e.findings.Observe(r)
		}
	case *gclog.GCDetails:
		if r.HeapDump {
			return
		}
		at := r.End
		if n := len(r.Pauses); n > 0 {
			at = max(at, r.Pauses[n-1].Start+r.Pauses[n-1].Duration)
		}
		began := gclog.Stamp{Time: r.Start, Ticks: r.StartTicks}
		e.step(OnGC, at, event{record: r, gc: r, began: began})
		e.find(at, began)
	case *gclog.Pause:
		if r.GC == nil || !r.GC.HeapDump {
			e.step(OnPause, r.Start+r.Duration,
				event{record: r, gc: r.GC, began: gclog.Stamp{Time: r.Start, Ticks: r.Ticks}})
		}
	case *gclog.Stall:
		e.step(OnStall, r.Now, event{record: r, began: gclog.Stamp{Time: r.Since, Ticks: r.Ticks}})
	case *gclog.Gap:
		e.step(OnGap, r.Time, event{record: r, began: gclog.Stamp{Time: r.Time, Ticks: r.Ticks}})
	case *gclog.End:
		e.judged = 0
		e.find(r.At, gclog.Stamp{Time: r.At, Ticks: r.Ticks})
		if r.Reason.OfProcess() && !e.exited {
			e.exited = true
			e.step(OnExit, r.At, event{record: r, began: gclog.Stamp{Time: r.At, Ticks: r.Ticks}})
		}
	}
}

// find evaluates the findings, and the rules about those that are new. began is when the collection
// began after which it does so, or the end of the session.
func (e *Engine) find(at int64, began gclog.Stamp) {
	now := e.values.process.Time(at).UnixNano()
	if e.findings == nil || now >= e.judged && now-e.judged < findEvery { // earlier if the clock was set back
		return
	}
	e.judged = now
	e.findings.Observe(&gclog.End{At: at})
	for _, f := range e.findings.List() {
		before := e.found[f.Rule.ID]
		if f.Severity > before.severity {
			e.step(OnFinding, at, event{finding: &f, began: began})
		}
		if f.Severity >= before.severity || before.session == e.sessions {
			e.found[f.Rule.ID] = found{f.Severity, e.sessions, now}
		}
	}
	maps.DeleteFunc(e.found, func(_ string, f found) bool {
		return f.session == e.sessions && f.at != now || now-f.at > foundFor || f.at > now
	})
}

// step evaluates the rules of a kind.
func (e *Engine) step(k Kind, at int64, x event) {
	if len(e.states[k]) == 0 {
		return
	}
	v := &e.values
	x.process, x.host = v.process, v.host
	v.fields, v.event = fieldsOf(k), x
	now := x.process.Time(at).UnixNano()
	for _, s := range e.states[k] {
		t := condition.True
		if s.When != nil {
			t = s.When.Eval(v)
		}
		if s.step(now, t, e.Live) {
			e.fire(&Firing{
				Rule:    s.Rule,
				At:      at,
				Time:    x.process.Time(at),
				Process: x.process,
				values:  v,
				format:  &e.format,
			})
		}
	}
	v.event = event{process: x.process, host: x.host}
}

// A Firing is that a rule has fired. It is valid during the call that reports it.
type Firing struct {
	Rule    *Rule
	At      int64 // nanoseconds since the sync point
	Time    time.Time
	Process *gclog.Process

	values *values
	format *formats.Options
}

// GC returns the collection that the rule fired for, nil if it was for something else.
func (f *Firing) GC() *gclog.GCDetails { return f.values.gc }

// Began returns when that began for which the rule fired; for a finding, the collection that showed
// it.
func (f *Firing) Began() gclog.Stamp { return f.values.began }

// Subject names what the rule fired for: "gen2 collection 42".
func (f *Firing) Subject() string {
	switch v := f.values; f.Rule.On {
	case OnGC:
		return collectionText(v.gc)
	case OnPause:
		if v.gc == nil {
			return "pause without a collection (" + v.pause().Kind.String() + ")"
		}
		return "pause of " + collectionText(v.gc)
	case OnStall:
		if v.stall().HasNumber {
			return fmt.Sprintf("gen%d collection %d, in progress", v.stall().Generation, v.stall().Number)
		}
		return "suspension in progress"
	case OnGap:
		return "gap in the log"
	case OnFinding:
		return "finding " + v.finding.Rule.ID
	}
	return "end of the process"
}

func collectionText(d *gclog.GCDetails) string {
	if !d.Known.Has(gclog.GroupNumber) {
		return fmt.Sprintf("gen%d collection without a number", d.Generation)
	}
	return fmt.Sprintf("gen%d collection %d", d.Generation, d.Number)
}

// Text says what the rule fired for, and the values that its condition is about.
func (f *Firing) Text() string {
	text := f.Subject()
	var list []string
	if f.Rule.When != nil {
		for _, i := range f.Rule.When.Fields() {
			if s := f.valueText(i); s != "" {
				list = append(list, s)
			}
		}
	}
	switch v := f.values; f.Rule.On {
	case OnFinding:
		list = []string{v.finding.Severity.String(), v.finding.Text}
	case OnExit:
		list = []string{v.end().Reason.String()}
		if v.end().HasCode {
			list = append(list, fmt.Sprintf("exit code %d", v.end().ExitCode))
		}
	case OnGap:
		list = append(list, "gap.reason "+v.gap().Reason.String())
	}
	if len(list) > 0 {
		text += ": " + strings.Join(list, ", ")
	}
	return text
}

// valueText formats a field with its value.
func (f *Firing) valueText(i int) string {
	x := &f.values.fields[i]
	if x.text != nil {
		return strings.TrimSpace(x.Name + " " + x.text(&f.values.event))
	}
	v, known := x.number(&f.values.event)
	switch {
	case !known:
		return ""
	case x.Type == condition.Flag && v == 0:
		return "not " + x.Name
	case x.Type == condition.Flag:
		return x.Name
	}
	return x.Name + " " + analysis.Number{Value: v, Unit: x.Unit}.Text()
}
