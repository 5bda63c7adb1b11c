package gclog

import (
	"io"

	"github.com/gclog/gclog/parse"
)

// A SpanObserver is an Observer that also receives the observed time span, which statistics need.
type SpanObserver interface {
	Observer
	Begin(at int64) // called before all other methods
	End(at int64)   // called after all other methods
}

// Read reads a whole nettrace stream. It calls observe to get an Observer for each process at its
// first event; if observe returns nil, the process is ignored. A SpanObserver receives the span of
// the whole stream, which ends when its session did. If the stream is damaged, everything before the
// damage is passed on before Read returns the error: a *parse.KindError, a *parse.FormatError, or an
// error of r.
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
	x := parse.NewReader(r, Wanted)
	err := p.Drain(x)
	p.Extend(x.Stats().Until)
	p.Finish()
	for _, s := range spans {
		s.End(p.Latest())
	}
	return err
}

// Drain handles everything that r has, up to its end or a timeout, and returns r.Err. It does not
// finish the stream: after a timeout there may be more.
func (p *Processes) Drain(r *parse.Reader) error {
	for r.Scan() {
		p.Take(r)
	}
	return r.Err()
}

// Take handles what r.Scan found, an event or a loss.
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
