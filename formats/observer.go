package formats

import "github.com/gclog/gclog/gclog"

// An Observer receives everything that a log contains about one process, in its order: the records
// of a running process, of a recording or of a log. A Writer is one. Arguments are valid during the
// call only.
type Observer interface {
	gclog.Observer
	Start(*Start)
	Stall(*gclog.Stall)
	Suspension(*gclog.Suspension)
	HeapGrowth(*HeapGrowth)
	End(*End) // of a session
}

// NopObserver is an Observer that ignores everything. A type that embeds it need only implement the
// methods it uses.
type NopObserver struct {
	gclog.NopObserver
	nopSession
}

// Events returns an Observer that passes to o what a gclog.Observer receives, and ignores the rest.
func Events(o gclog.Observer) Observer {
	return struct {
		gclog.Observer
		nopSession
	}{o, nopSession{}}
}

// nopSession has the methods that a gclog.Observer lacks.
type nopSession struct{}

func (nopSession) Start(*Start)                 {}
func (nopSession) Stall(*gclog.Stall)           {}
func (nopSession) Suspension(*gclog.Suspension) {}
func (nopSession) HeapGrowth(*HeapGrowth)       {}
func (nopSession) End(*End)                     {}

// Tee returns an Observer that passes everything to all of list, in that order.
func Tee(list ...Observer) Observer {
	if len(list) == 1 {
		return list[0]
	}
	return tee(list)
}

type tee []Observer

func (t tee) Start(s *Start) {
	for _, o := range t {
		o.Start(s)
	}
}

func (t tee) Pause(p *gclog.Pause) {
	for _, o := range t {
		o.Pause(p)
	}
}

func (t tee) Phase(p *gclog.Phase) {
	for _, o := range t {
		o.Phase(p)
	}
}

func (t tee) GC(d *gclog.GCDetails) {
	for _, o := range t {
		o.GC(d)
	}
}

func (t tee) Gap(g *gclog.Gap) {
	for _, o := range t {
		o.Gap(g)
	}
}

func (t tee) Stall(s *gclog.Stall) {
	for _, o := range t {
		o.Stall(s)
	}
}

func (t tee) Suspension(s *gclog.Suspension) {
	for _, o := range t {
		o.Suspension(s)
	}
}

func (t tee) HeapGrowth(g *HeapGrowth) {
	for _, o := range t {
		o.HeapGrowth(g)
	}
}

func (t tee) End(e *End) {
	for _, o := range t {
		o.End(e)
	}
}
