package analyse

import (
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"time"

	"github.com/gclog/gclog/formats/screen"
	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/gclog/analysis"
	"github.com/gclog/gclog/internal/cli/assess"
	"github.com/gclog/gclog/internal/cli/exit"
	"github.com/gclog/gclog/internal/cli/flags"
	"github.com/gclog/gclog/internal/cli/program"
	"github.com/gclog/gclog/internal/cli/subject"
	"github.com/gclog/gclog/internal/cli/watch"
	"github.com/gclog/gclog/internal/history"
	"github.com/gclog/gclog/internal/view"
	"github.com/urfave/cli/v2"
)

// A moment is the question of --at, with its answer.
type moment struct {
	h            *history.History
	line         *atTimeline
	verdict      analysis.Verdict // about all that was read
	from, to     int64            // the part of asked about which something is known; if nothing is, all of it
	within       analysis.Window  // the known part of the time around it; if nothing is known, all of it
	in, around   analysis.Overlap // of TIME, and of the time around it
	missing      []analysis.Missing
	damaged      bool            // not everything could be read
	asked        analysis.Window // the time that TIME means
	what         string          // the same, in words
	answer, text string
}

// An atTimeline also keeps background collections and the threads that waited for them.
type atTimeline struct {
	*analysis.Timeline
	background []concurrent
	waits      []wait
}

// A concurrent is a background collection. If its start or end was not observed, it is unbounded on
// that side.
type concurrent struct {
	number     uint32
	start, end int64
}

// A wait is a thread whose allocation waited for a background collection.
type wait struct {
	number uint32
	gclog.AllocWait
}

// Observe takes a record.
func (t *atTimeline) Observe(r gclog.Record) {
	t.Timeline.Observe(r)
	d, ok := r.(*gclog.GCDetails)
	if !ok || d.Kind != gclog.KindBackground {
		return
	}
	x := concurrent{number: d.Number, start: d.PauseStart(), end: d.End}
	if d.Flaws&gclog.FlawNoStart != 0 {
		x.start = math.MinInt64
	}
	if !d.Known.Has(gclog.GroupEnd) {
		x.end = math.MaxInt64
	}
	t.background = append(t.background, x)
	if d.Background != nil {
		for _, w := range d.Background.Waits {
			t.waits = append(t.waits, wait{d.Number, w})
		}
	}
}

func (p *commands) pausesAt(c *cli.Context, asJSON bool) error {
	within := aroundAt
	if c.IsSet("within") {
		var err error
		if within, err = flags.Duration(c, "within"); err != nil {
			return err
		}
	}
	var line *atTimeline
	var a *assess.Assessment
	observe := func(process *gclog.Process, w analysis.Window) (gclog.Observer, gclog.EventObserver) {
		line = &atTimeline{Timeline: analysis.NewTimeline(w)}
		a = assess.New(process, analysis.Thresholds{}, w)
		return gclog.Tee(line.Observe, a.Findings.Observe), nil
	}
	h, err := watch.History(p.Run, c, observe)
	if h == nil {
		return err
	}
	subject.SayEnd(p.Run, h)
	a.Conclude(p.Run, h)
	m := &moment{h: h, line: line, verdict: a.Findings.Verdict(), damaged: err != nil}
	if wrong := m.look(within); wrong != nil {
		return wrong
	}
	if at := &h.Span.At; at.IsClock() && h.End-h.Begin > int64(24*time.Hour) {
		p.UI.Sayf("%s is longer than a day: this is the first %s in it; add a date for another one",
			h.Source(), at.Text)
	}
	return errors.Join(p.Write(func(w io.Writer) error {
		if asJSON {
			return program.NewEncoder(w).Encode(assess.NewJSON(p.Run, h, "gc-pauses-at",
				analysis.Window{From: m.from, To: m.to}, m.json()).With(m.verdict))
		}
		return p.writeMoment(w, m)
	}), err)
}

// look finds what happened at the time, and around it.
func (m *moment) look(within time.Duration) error {
	h := m.h
	from, to := h.At()
	if !from.Before(to) {
		return exit.Usagef("--at %s..%s: %s is not before %s",
			h.Span.At.Text, h.Span.AtEnd.Text, history.TimeText(from), history.TimeText(to))
	}
	known := m.line.Known()
	begin, end := h.Process.Time(known.From), h.Process.Time(known.To)
	asked := analysis.Window{From: int64(from.Sub(h.Process.Sync)), To: int64(to.Sub(h.Process.Sync))}
	// Nothing shows that the last pause ended.
	openEnded := asked.From > h.End && m.line.Overlap(asked.From, asked.To).Gap
	beyond := (m.damaged || openEnded) && known.To == h.End && asked.To > h.End
	if !to.After(begin) || from.After(end) && !beyond {
		at := history.TimeText(from.In(h.Process.Sync.Location()))
		return exit.Usagef("--at %s (%s) is outside of the recorded time: that is from %s to %s%s",
			h.Span.At.Text, at, history.TimeText(begin), history.TimeText(end), h.ZoneRule())
	}
	clip := func(w analysis.Window) analysis.Window {
		if from, to := known.Clip(w.From, w.To); from < to {
			return analysis.Window{From: from, To: to}
		}
		return w
	}
	m.within = clip(analysis.Window{From: asked.From - int64(within), To: asked.To + int64(within)})
	in := clip(asked)
	m.from, m.to = in.From, in.To
	m.in = m.line.Overlap(m.from, m.to)
	m.around = m.line.Overlap(m.within.From, m.within.To)
	m.missing = m.line.Missing(nil, m.within.From, m.within.To)
	m.asked, m.what = asked, unitText(to.Sub(from))
	m.answer, m.text = m.say(beyond)
	return nil
}

// unitText returns the name of a length of time.
func unitText(d time.Duration) string {
	switch d {
	case time.Minute:
		return "that minute"
	case time.Second:
		return "that second"
	case time.Millisecond:
		return "that millisecond"
	}
	if d > time.Minute {
		return "those " + about(d.Nanoseconds())
	}
	return "those " + strconv.FormatFloat(float64(d)/1e6, 'f', -1, 64) + " ms"
}

// span formats the time that was asked about.
func (m *moment) span() string {
	from, to := m.h.Process.Time(m.asked.From), m.h.Process.Time(m.asked.To)
	length := to.Sub(from)
	layout := "15:04:05.999999999"
	switch {
	case length == time.Minute:
		layout = "15:04"
	case length == time.Second && from.Equal(from.Truncate(length)):
		layout = "15:04:05"
	case length >= time.Millisecond: // a time given as an offset may have many digits
		layout = "15:04:05.000"
	}
	return "(" + from.Format(layout) + " to " + to.Format(layout+" MST") + ")"
}

// say returns the answer as a sentence. beyond: the time ends after what could be read.
func (m *moment) say(beyond bool) (answer, text string) {
	p := m.h.Process
	stops := m.line.Stops(m.in)
	switch {
	case len(stops) > 0:
		return m.weigh(stops)
	case beyond && m.damaged:
		return "unknown",
			m.unknown("it is truncated or damaged, and could be read only up to %s", clockText(p, m.h.End))
	case m.in.Gap:
		what := m.line.Missing(nil, m.from, m.to)[0]
		if beyond {
			return "unknown", m.unknown("%s from %s on", what.Why, clockText(p, what.From))
		}
		return "unknown", m.unknown("%s between %s and %s", what.Why, clockText(p, what.From), clockText(p, what.To))
	}
	text = "no: not paused in " + m.what + " " + m.span() + "; "
	before, after := m.line.Nearest(m.from, m.to)
	switch {
	case before != nil && m.from-before.End() < before.Duration && m.h.Span.Took == 0:
		// What it delayed may have ended at the time that was asked about.
		text = fmt.Sprintf("no at that moment %s; a pause of %s ms for %s ended %s ms before, and delayed what took "+
			"longer than that (--took)",
			m.span(), millisText(before.Duration), stopText(p, before), millisText(m.from-before.End()))
	case before != nil:
		text += fmt.Sprintf("the pause before it ended %s earlier, %s ms for %s",
			about(m.from-before.End()), millisText(before.Duration), stopText(p, before))
	default:
		text += "there was no pause before it"
	}
	if after != nil {
		text += fmt.Sprintf("; the next began %s later, %s ms for %s",
			about(after.Start-m.from), millisText(after.Duration), stopText(p, after))
	} else {
		text += "; there was none after it"
	}
	return "no", text
}

// unknown returns why there is no answer.
func (m *moment) unknown(format string, args ...any) string {
	return "unknown for " + m.what + " " + m.span() + ": " + fmt.Sprintf(format, args...)
}

// weigh returns how much of the time was paused.
func (m *moment) weigh(stops []analysis.Stop) (answer, text string) {
	p := m.h.Process
	most, longest := int64(-1), &stops[0]
	for i := range stops {
		s := &stops[i]
		if in := min(s.End(), m.to) - max(s.Start, m.from); in > most {
			most, longest = in, s
		}
	}
	length, of := m.to-m.from, m.what
	if m.asked.From < m.from || m.asked.To > m.to {
		of = fmt.Sprintf("the %s that are known of %s", about(length), m.what)
	}
	switch {
	case m.in.Pause >= length:
		answer, text = "yes", "yes: paused for all of "+of
	case m.in.Gap:
		answer, text = "partly", fmt.Sprintf("partly: paused for %s of %s at least", about(m.in.Pause), of)
	default:
		answer, text = "partly", fmt.Sprintf("partly: paused for %s of %s", about(m.in.Pause), of)
	}
	text += " " + m.span()
	if n := len(stops); n > 1 {
		text += fmt.Sprintf(", in %d pauses, the longest", n)
	} else {
		text += ", in a pause"
	}
	return answer, text + fmt.Sprintf(" of %s ms at %s for %s",
		millisText(longest.Duration), clockText(p, longest.Start), stopText(p, longest))
}

// clockText formats the time of day of a timestamp.
func clockText(p *gclog.Process, at int64) string { return p.Time(at).Format("15:04:05.000") }

// about formats a duration in few digits.
func about(ns int64) string {
	switch d := time.Duration(ns); {
	case d < time.Millisecond:
		return millisText(ns) + " ms"
	case d < time.Second:
		return strconv.FormatFloat(float64(ns)/1e6, 'f', 1, 64) + " ms"
	case d < 2*time.Minute:
		return strconv.FormatFloat(d.Seconds(), 'f', 1, 64) + " s"
	default:
		return view.Span(d)
	}
}

// writeMoment writes the answer, and what happened around the time.
func (p *commands) writeMoment(w io.Writer, m *moment) error {
	width, _ := screen.Size(p.Unfiltered)
	process := m.h.Process
	if _, err := fmt.Fprintf(w, "%s\n", screen.Wrap(nil, m.text, width, 2)); err != nil {
		return err
	}
	if err := p.writeStops(w, process, m.line.Stops(m.around)); err != nil {
		return err
	}
	length := m.within.To - m.within.From
	span := fmt.Sprintf("of the %s from %s to %s",
		about(length), history.TimeText(process.Time(m.within.From)), history.TimeText(process.Time(m.within.To)))
	lines := []string{"nothing is known " + span}
	if m.within.From < m.line.Known().To {
		lines[0] = fmt.Sprintf("%s, %s ms, %s %s", view.Counted(uint64(m.around.Pauses), "pause"),
			millisText(m.around.Pause), shareText(m.around.Pause, length), span)
	}
	for _, x := range m.concurrents() {
		lines = append(lines, fmt.Sprintf("%s ran from %s to %s",
			backgroundText(x.number), history.TimeText(process.Time(x.start)), history.TimeText(process.Time(x.end))))
	}
	for _, x := range m.waited() {
		lines = append(lines, fmt.Sprintf("thread %d waited for %s with an allocation, for %s ms from %s",
			x.Thread, backgroundText(x.number), millisText(x.Duration), history.TimeText(process.Time(x.Start))))
	}
	for _, x := range m.missing {
		lines = append(lines, missingText(process, x))
	}
	lines = append(lines, view.OneLine(m.verdict.Sentence()))
	for _, line := range lines {
		if _, err := fmt.Fprintf(w, "%s\n", screen.Wrap(nil, line, width, 2)); err != nil {
			return err
		}
	}
	return nil
}

func backgroundText(number uint32) string {
	if number == 0 {
		return "a background collection"
	}
	return "background collection " + numberText(number)
}

func shareText(part, of int64) string {
	if of == 0 {
		return "n/a"
	}
	return strconv.FormatFloat(100*float64(part)/float64(of), 'f', 1, 64) + " %"
}

// concurrents returns the background collections that ran around the time.
func (m *moment) concurrents() (list []concurrent) {
	known := m.line.Known()
	for _, x := range m.line.background {
		if x.start < m.within.To && x.end > m.within.From {
			x.start, x.end = known.Clip(x.start, x.end)
			list = append(list, x)
		}
	}
	return list
}

// waited returns the threads that waited for one of them.
func (m *moment) waited() (list []wait) {
	for _, x := range m.line.waits {
		if x.Start < m.within.To && x.Start+x.Duration > m.within.From {
			list = append(list, x)
		}
	}
	return list
}

// A momentJSON is the answer in JSON; its form is part of gclog's compatibility promise.
type momentJSON struct {
	Answer  string     `json:"answer"` // yes, partly, no or unknown
	Message string     `json:"message"`
	Pause   sumJSON    `json:"pause"` // in the time that was asked about
	Before  *stopJSON  `json:"before,omitempty"`
	After   *stopJSON  `json:"after,omitempty"`
	Around  aroundJSON `json:"around"`
}

type aroundJSON struct {
	Start      string           `json:"start"`
	End        string           `json:"end"`
	Pause      sumJSON          `json:"pause"`
	Pauses     []*stopJSON      `json:"pauses"`
	Background []backgroundJSON `json:"background"`
	Waits      []waitJSON       `json:"alloc_waits"`
	Missing    []missingJSON    `json:"missing"`
}

type sumJSON struct {
	NS    int64   `json:"ns"`
	Count int     `json:"count"`
	Pct   float64 `json:"pct"` // of the time, as a fraction
}

type backgroundJSON struct {
	Number uint32 `json:"number,omitempty"`
	Start  string `json:"start"`
	End    string `json:"end"`
}

type waitJSON struct {
	Number uint32 `json:"number,omitempty"`
	Thread uint64 `json:"thread"`
	Start  string `json:"start"`
	NS     int64  `json:"ns"`
}

type missingJSON struct {
	Start  string `json:"start"`
	End    string `json:"end"`
	Reason string `json:"reason"`
}

func (m *moment) json() *momentJSON {
	p := m.h.Process
	at := func(ns int64) string { return assess.Time(p.Time(ns)) }
	j := &momentJSON{Answer: m.answer, Message: m.text, Pause: sumOf(m.in, m.to-m.from)}
	before, after := m.line.Nearest(m.from, m.to)
	if before != nil {
		j.Before = newStopJSON(p, before)
	}
	if after != nil {
		j.After = newStopJSON(p, after)
	}
	j.Around = aroundJSON{
		Start: at(m.within.From), End: at(m.within.To), Pause: sumOf(m.around, m.within.To-m.within.From),
		Pauses: []*stopJSON{}, Background: []backgroundJSON{}, Waits: []waitJSON{}, Missing: []missingJSON{},
	}
	a := &j.Around
	stops := m.line.Stops(m.around)
	for i := range stops {
		a.Pauses = append(a.Pauses, newStopJSON(p, &stops[i]))
	}
	for _, x := range m.concurrents() {
		a.Background = append(a.Background, backgroundJSON{x.number, at(x.start), at(x.end)})
	}
	for _, x := range m.waited() {
		a.Waits = append(a.Waits, waitJSON{x.number, x.Thread, at(x.Start), x.Duration})
	}
	for _, x := range m.missing {
		a.Missing = append(a.Missing, missingJSON{at(x.From), at(x.To), x.Why})
	}
	return j
}

func sumOf(o analysis.Overlap, of int64) sumJSON {
	sum := sumJSON{NS: o.Pause, Count: o.Pauses}
	if of > 0 {
		sum.Pct = float64(o.Pause) / float64(of)
	}
	return sum
}
