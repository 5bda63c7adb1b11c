package gclog

import (
	"io"

	"github.com/gclog/gclog/parse"
)

// Read reads a whole nettrace stream. It calls observe to get an Observer for each process at its
// first event; if observe returns nil, the process is ignored. Each Observer receives a Start and an
// End, which are those of the whole stream. If the stream is damaged, everything before the damage
// is passed on before Read returns the error: a *parse.KindError, a *parse.FormatError, or an error
// of r.
func Read(r io.Reader, observe func(*Process) Observer) error {
	return NewProcesses(observe).Read(r)
}

// Read reads a whole stream, as the function Read does.
func (p *Processes) Read(r io.Reader) error {
	observe := p.observe
	type observed struct {
		process *Process
		out     Observer
	}
	var all []observed
	p.observe = func(of *Process) Observer {
		o := observe(of)
		if o != nil {
			o(&Start{Ticks: p.trace.SyncTicks})
			all = append(all, observed{of, o})
		}
		return o
	}
	x := parse.NewReader(r, Wanted)
	err := p.Drain(x)
	p.Extend(x.Stats().Until)
	p.Finish()
	for _, o := range all {
		o.out(&End{At: p.Latest(), Ticks: p.Latest(), Reason: EndOfRecording, Process: o.process})
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
