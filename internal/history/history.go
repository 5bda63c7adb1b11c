package history

import (
	"cmp"
	"fmt"
	"time"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/gclog/analysis"
	"github.com/gclog/gclog/internal/attach"
)

// Observe is called with the process whose history is read, and the part that was asked for in its
// times. It returns the observer of the history, which is passed the start and end of each session
// in it, and what receives the events of recordings, or nil. It is called again if a log turns out to
// contain several instances of the process: the last answer counts.
type Observe func(*gclog.Process, analysis.Window) (gclog.Observer, gclog.EventObserver)

// A History is what was passed to an observer.
type History struct {
	Process    *gclog.Process
	Span       Span            // the part that was asked for
	Window     analysis.Window // the same, in the times of the process
	Begin, End int64           // of what was read or observed
	Names      []string        // of the files, ordered by time; nil: the process was running
	Format     string          // of the log; "" for recordings and for a running process
	// Ended is how the process ended; nil: it was running at the end of the part that was asked for, or
	// that is not recorded. Detached reports that it was running.
	Ended    *gclog.End
	Detached bool
	Unheard  bool   // nothing in the recordings shows that the GC was recorded
	Damage   string // why it could not be read to its end; "" if it could
	Skipped  int64  // lines of a log that are damaged or not gclog's

	part stretch
}

// Cut reports whether the part that was asked for may continue after the place where the input is
// damaged.
func (h *History) Cut() bool { return h.Damage != "" && h.Window.To > h.End }

// Source returns the name of what was read, for people.
func (h *History) Source() string {
	switch n := len(h.Names); n {
	case 0:
		return fmt.Sprintf("process %d", h.Process.ID)
	case 1:
		return h.Names[0]
	default:
		return fmt.Sprintf("%s and %d more", h.Names[0], n-1)
	}
}

// At returns the time of interest, and its end. A time includes everything that starts with its
// digits: something that took a while may have ended at any moment of that second, but fractions of
// one are exact.
func (h *History) At() (from, to time.Time) {
	begin, end := h.Process.Time(h.Begin), h.Process.Time(h.End)
	at, _ := h.Span.At.at(begin, end)
	unit := h.Span.At.unit
	switch until := &h.Span.AtEnd; {
	case until.kind == instantClock, until.kind == instantTime:
		return at, until.to(at, begin, end)
	case until.kind != instantOpen:
		to, _ = until.at(begin, end)
		return at, to
	case h.Span.Took == 0:
		return at, at.Add(unit)
	case unit < time.Second:
		unit = 0
	}
	return at.Add(-h.Span.Took), at.Add(unit)
}

// ZoneRule returns how Span.At is interpreted if it was written without a zone, as the end of a
// sentence.
func (h *History) ZoneRule() string { return h.part.zoneRule(&h.Span.At) }

// Read reads the history of one process.
//
// If the files are damaged it returns both a History, of what could be read, and an error.
// Otherwise it returns one of them.
func (s *Source) Read(observe Observe) (*History, error) {
	r := &reader{Source: s, part: stretch{Span: s.o.Span}, observe: observe}
	if r.part.needsEnd() {
		var err error
		if r.part.end, err = s.findEnd(); err != nil && r.part.isFromEnd() {
			return nil, err
		}
	}
	s.events = r.events
	damage := s.read(s.Files, r.process)
	if err := cmp.Or(r.failed, s.choose(r.processes)); err != nil {
		return nil, err
	}
	switch {
	case r.subject == nil && damage != nil:
		return nil, damage
	case r.subject == nil:
		r.empty()
	}
	x := r.subject
	x.finish()
	if err := r.part.outside(x.process.Time(x.newest)); err != nil {
		return nil, err
	}
	h := &History{
		Process: x.process, Span: r.part.Span, Window: x.window, Begin: x.startedAt, End: x.newest,
		Names: s.names(), Format: s.Files[0].Log.Format, Unheard: !s.IsLog() && !s.heard, part: r.part,
	}
	h.ended(x.ended)
	for _, f := range s.Files {
		h.Skipped += f.Skipped.Count
	}
	if damage != nil {
		h.Damage = damage.Error()
	}
	return h, damage
}

// ended records how the last session ended, nil if that is unknown. What is after the part that was
// asked for does not count.
func (h *History) ended(e *gclog.End) {
	switch {
	case e == nil:
	case e.At > h.Window.To:
		h.Detached = true
	case e.Reason.OfProcess():
		h.Ended = e
	default:
		h.Detached = e.Reason == gclog.EndDetached
	}
}

// Watch reads the history of a running process from a session that was started, until the session
// ends; it is expected to last as long as length. known is what was found out about the process.
// Watch always returns a History; a *CallError means that the part that was asked for is not in it.
func Watch(
	s *attach.Session, known *gclog.Process, length time.Duration, asked Span, observe Observe,
) (*History, gclog.End, error) {
	h := &History{Span: asked}
	var wrong error
	var to gclog.Observer
	end, err := s.Observe(known, func(p *gclog.Process) gclog.Observer {
		h.part = stretch{Span: asked, begin: p.Sync, end: p.Sync.Add(length)}
		if wrong = h.part.check(); wrong != nil {
			s.Ask()
		}
		p.Sync = p.Sync.In(asked.Zone.location())
		h.Process, h.Window = p, h.part.window(p)
		to, _ = observe(p, h.Window)
		to(&gclog.Start{})
		return to
	})
	h.End = end.At
	to(&gclog.End{At: end.At})
	h.ended(&end)
	if err != nil {
		h.Damage = err.Error()
	}
	return h, end, cmp.Or(wrong, h.part.outside(h.Process.Time(h.End)), err)
}
