package gclog

import (
	"io"

	"github.com/gclog/gclog/parse"
)

// A SpanObserver is an Observer that wants to know which time was observed, as statistics do.
type SpanObserver interface {
	Observer
	Begin(at int64) // comes before all others
	End(at int64)   // comes after all others
}

// Read reads a whole nettrace stream. It asks observe for an Observer of each process whose first
// event comes; nil ignores the process. A SpanObserver is told that the whole stream was observed.
// What a damaged stream holds before the damage is told before the error is returned, which is a
// *parse.KindError, a *parse.FormatError, or one of r.
func Read(r io.Reader, observe func(*Process) Observer) error {
	var spans []SpanObserver
	p := NewProcesses(func(of *Process) Observer {
		o := observe(of)
		if s, ok := o.(SpanObserver); ok {
			s.Begin(0)
			spans = append(spans, s)
		}
		return o
	})
	err := p.Drain(parse.NewReader(r, Wanted))
	p.Finish()
	for _, s := range spans {
		s.End(p.Newest())
	}
	return err
}

// Drain takes all that r has, up to its end or time-out: it returns r.Err. The stream is not
// finished then: after a time-out there may be more.
func (p *Processes) Drain(r *parse.Reader) error {
	for r.Scan() {
		p.Take(r)
	}
	return r.Err()
}

// Take takes what r.Scan has found, an event or a loss.
func (p *Processes) Take(r *parse.Reader) {
	if p.trace == nil {
		p.Begin(r.Trace())
	}
	if l := r.Loss(); l != nil {
		p.Loss(l)
	} else {
		p.Event(r.Event())
	}
}
